/* Seconds of a phase of which some paths have changed. */
#include "clock_internal.h"

#include "fab/memory.h"
#include "fab/path_figures.h"

#include <math.h>
#include <string.h>

/* --- a reader ----------------------------------------------------------------------------------------------------- */

fab_status fab_clock_reader_new(const fab_clock *clock, fab_clock_reader **out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_clock_reader *t = NULL;
    FAB_TRY(FAB_NEW(t, 1, err));
    t->clock = clock;
    FAB_TRY(FAB_NEW(t->gone, clock->n_latencies, err));
    t->is_dirty = true;
    *out = t;
    t = NULL;
done:
    fab_clock_reader_free(t);
    return status;
}

void fab_clock_reader_free(fab_clock_reader *t) {
    if (t == NULL) {
        return;
    }
    fab_routes_release(&t->routes);
    FAB_FREE_ALL(t->load, t->handed, t->changed, t->gone, t->gone_list, t->slot, t->candidate, t->part, t->path_bits,
                 t->limit, t->limit_bps, t->finish_s, t->capacity, t->path_first, t->runner, t->path_list, t);
}

/* Loads of the whole fabric again. */
static fab_status restore(fab_clock_reader *t, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_clock *c = t->clock;
    size_t n_links = c->request.fabric->n_links;
    if (t->load == NULL) {
        FAB_TRY(FAB_NEW(t->load, n_links, err));
    }
    if (t->handed == NULL && c->handed != NULL) {
        FAB_TRY(FAB_NEW(t->handed, n_links, err));
    }
    if (t->is_dirty) {
        memcpy(t->load, c->load, n_links * sizeof *t->load);
    }
    if (c->handed != NULL) { /* few fabrics hand over */
        memcpy(t->handed, c->handed, n_links * sizeof *t->handed);
    }
    for (size_t i = 0; i < t->n_changed && !t->is_dirty; i++) {
        t->load[t->changed[i]] = c->load[t->changed[i]];
    }
    t->n_changed = 0;
    t->is_dirty = true; /* until all has gone well */
done:
    return status;
}

/* --- latency ------------------------------------------------------------------------------------------------------ */

static fab_status lose_latency(fab_clock_reader *t, double s, fab_error *err) {
    const fab_clock *c = t->clock;
    uint32_t low = 0;
    uint32_t high = c->n_latencies;
    while (high - low > 1) { /* descending; s is one of them */
        uint32_t middle = low + (high - low) / 2;
        if (c->latency_s[middle] < s) {
            high = middle;
        } else {
            low = middle;
        }
    }
    if (t->gone[low]++ == 0) {
        fab_status status = FAB_GROW(t->gone_list, t->gone_capacity, t->n_gone + 1, err);
        if (status != FAB_OK) {
            t->gone[low] = 0;
            return status;
        }
        t->gone_list[t->n_gone++] = low;
    }
    return FAB_OK;
}

/* Of the slowest path of all in the network; below 0 where there is none. */
static fab_status slowest_path(fab_clock_reader *t, const fab_rerouted *r, bool has_moved, double *out_s,
                               fab_error *err) {
    fab_status status = FAB_OK;
    const fab_clock *c = t->clock;
    const fab_routes *before = c->request.routes;
    double most_s = -1;
    for (uint32_t i = 0; i < r->n_touched; i++) {
        size_t first = before->path_first[r->path[i]];
        size_t n_before = before->path_first[r->path[i] + 1] - first;
        size_t n = r->path_first[i + 1] - r->path_first[i];
        if (c->is_flat && !has_moved && n == n_before) {
            continue;
        }
        double before_s = clock_latency(c->request.fabric, before->link + first, n_before);
        most_s = fmax(most_s, clock_latency(c->request.fabric, r->link + r->path_first[i], n));
        if (before_s >= 0) {
            FAB_TRY(lose_latency(t, before_s, err));
        }
    }
    for (uint32_t i = 0; i < c->n_latencies && c->latency_s[i] > most_s; i++) {
        most_s = t->gone[i] < c->n_with[i] ? c->latency_s[i] : most_s;
    }
    *out_s = most_s;
done:
    for (size_t i = 0; i < t->n_gone; i++) {
        t->gone[t->gone_list[i]] = 0;
    }
    t->n_gone = 0;
    return status;
}

/* --- bounds ------------------------------------------------------------------------------------------------------- */

/* Even flows whose offered rates are in proportion: the fullest link is known already. */
static double read_ratio(const fab_clock *c, const fab_mask *mask, const fab_rerouted *r) {
    double s = fmax(c->inside_s, fmax(r->worst_ratio, 0) * c->s_per_ratio);
    for (uint32_t i = 0; i < mask->n_links; i++) {
        fab_link_kind kind = fab_class_of(c->request.fabric, mask->link[i])->kind;
        if (kind == FAB_LINK_SCALEUP || kind == FAB_LINK_PCIE) {
            s = fmax(s, clock_bits_s(&c->load[mask->link[i]], clock_capacity(c, mask, mask->link[i])));
        }
    }
    return s;
}

static bool is_same(const fab_link_id *a, size_t n_a, const fab_link_id *b, size_t n_b) {
    uint32_t differ = n_a != n_b;
    for (size_t i = 0; differ == 0 && i < n_a; i++) {
        differ = a[i] ^ b[i];
    }
    return differ == 0;
}

static fab_status note_changes(fab_clock_reader *t, const fab_link_id *link, size_t n, fab_error *err) {
    fab_status status = FAB_OK;
    if (t->n_changed + n > t->changed_capacity) {
        FAB_TRY(FAB_GROW(t->changed, t->changed_capacity, t->n_changed + n, err));
    }
    for (size_t i = 0; i < n; i++) {
        t->changed[t->n_changed++] = link[i];
    }
done:
    return status;
}

static fab_status apply_changes(fab_clock_reader *t, const fab_rerouted *r, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_clock *c = t->clock;
    const fab_routes *before = c->request.routes;
    const bool trims = c->handed == NULL;
    for (uint32_t i = 0; i < r->n_touched; i++) {
        uint32_t flow = c->flow_of[r->path[i]];
        const fab_link_id *from = before->link + before->path_first[r->path[i]];
        const fab_link_id *to = r->link + r->path_first[i];
        size_t n_from = before->path_first[r->path[i] + 1] - before->path_first[r->path[i]];
        size_t n_to = r->path_first[i + 1] - r->path_first[i];
        if (is_same(from, n_from, to, n_to)) {
            continue;
        }
        for (; trims && n_from > 0 && n_to > 0 && *from == *to; from++, to++) { /* what both have in common stays */
            n_from--;
            n_to--;
        }
        for (; trims && n_from > 0 && n_to > 0 && from[n_from - 1] == to[n_to - 1]; n_to--) {
            n_from--;
        }
        FAB_TRY(note_changes(t, from, n_from, err));
        FAB_TRY(note_changes(t, to, n_to, err));
        clock_add_path(c, t->load, t->handed, flow, from, n_from, -1);
        clock_add_path(c, t->load, t->handed, flow, to, n_to, 1);
    }
done:
    return status;
}

static fab_status apply_whole(fab_clock_reader *t, const fab_rerouted *r, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_clock *c = t->clock;
    size_t n_links = c->request.fabric->n_links;
    FAB_TRY(clock_assemble(t, r, err));
    memset(t->load, 0, n_links * sizeof *t->load);
    if (t->handed != NULL) {
        memset(t->handed, 0, n_links * sizeof *t->handed);
    }
    for (uint32_t path = 0; path < c->n_paths; path++) {
        size_t first = t->routes.path_first[path];
        clock_add_path(c, t->load, t->handed, c->flow_of[path], t->routes.link + first,
                       t->routes.path_first[path + 1] - first, 1);
    }
done:
    return status;
}

typedef struct bounds {
    double least_s, most_s;
} bounds;

static void consider(const fab_clock_reader *t, const fab_mask *mask, fab_link_id link, bounds *b) {
    double capacity = clock_capacity(t->clock, mask, link);
    double least_s = clock_bits_s(&t->load[link], capacity);
    double most_s = t->clock->is_even ? least_s : clock_shares_s(&t->load[link], capacity);
    b->least_s = least_s > b->least_s ? least_s : b->least_s;
    b->most_s = most_s > b->most_s ? most_s : b->most_s;
}

static bool is_untouched(const fab_clock_reader *t, const fab_mask *mask, fab_link_id link) {
    const clock_load *now = &t->load[link];
    const clock_load *before = &t->clock->load[link];
    return now->bits == before->bits && now->weight == before->weight && mask->left[link] == 1;
}

/* Links that changed, and of the others the slowest. */
static bounds bound_changes(const fab_clock_reader *t, const fab_mask *mask) {
    const fab_clock *c = t->clock;
    bounds b = {0, 0};
    for (size_t i = 0; i < t->n_changed; i++) {
        consider(t, mask, t->changed[i], &b);
    }
    for (uint32_t i = 0; i < mask->n_links; i++) {
        consider(t, mask, mask->link[i], &b);
    }
    for (uint32_t i = 0; i < c->by_bits.n && c->by_bits.s[i] > b.least_s; i++) {
        consider(t, mask, c->by_bits.link[i], &b);
        if (is_untouched(t, mask, c->by_bits.link[i])) {
            break;
        }
    }
    for (uint32_t i = 0; i < c->by_shares.n && c->by_shares.s[i] > b.most_s; i++) {
        consider(t, mask, c->by_shares.link[i], &b);
        if (is_untouched(t, mask, c->by_shares.link[i])) {
            break;
        }
    }
    return b;
}

static bounds bound_all(const fab_clock_reader *t, const fab_mask *mask) {
    bounds b = {0, 0};
    for (uint32_t l = 0; l < t->clock->request.fabric->n_links; l++) {
        consider(t, mask, l, &b);
    }
    return b;
}

static double handed_link_s(const fab_clock *c, const fab_mask *mask, const double *handed, fab_link_id link) {
    double capacity = fab_class_of(c->request.fabric, link)->capacity_bps * mask->left[link];
    return capacity > 0 ? handed[link] / capacity : 0;
}

/* What GPUs hand over before it is sent: not the same once flows have moved. */
static double handed_s(const fab_clock_reader *t, const fab_mask *mask, bool has_moved) {
    const fab_clock *c = t->clock;
    double s = has_moved ? 0 : c->handed_s;
    if (c->handed == NULL) {
        return 0;
    }
    for (uint32_t l = 0; has_moved && l < c->request.fabric->n_links; l++) {
        s = fmax(s, handed_link_s(c, mask, t->handed, l));
    }
    for (uint32_t i = 0; !has_moved && i < mask->n_links; i++) {
        s = fmax(s, handed_link_s(c, mask, c->handed, mask->link[i]));
    }
    return s;
}

/* Adds what windows make flows last. */
static fab_status bound_windows(fab_clock_reader *t, bounds *b, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_clock *c = t->clock;
    const fab_path_chunk chunk = {.routes = &t->routes, .phase = c->request.phase};
    double most_s = c->most_limit_s;
    if (c->limit_bps == NULL) {
        return FAB_OK;
    }
    if (t->is_whole) {
        if (t->limit_bps == NULL) {
            FAB_TRY(FAB_NEW(t->limit_bps, c->request.routes->n_flows, err));
        }
        FAB_TRY(fab_flow_limits_of_routes(c->request.router, &chunk, t->limit_bps, err));
        most_s = 0;
        for (uint32_t flow = 0; flow < c->request.routes->n_flows; flow++) {
            most_s = fmax(most_s, c->bits[flow] / t->limit_bps[flow]);
        }
    }
    b->least_s = fmax(b->least_s, most_s);
    b->most_s = fmax(b->most_s, most_s);
done:
    return status;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static fab_status read_loads(fab_clock_reader *t, const fab_mask *mask, const fab_rerouted *r, bool has_moved,
                             fab_phase_seconds *out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_clock *c = t->clock;
    FAB_TRY(restore(t, err));
    t->is_whole = r->in_full || (c->limit_bps != NULL && r->n_touched > 0);
    FAB_TRY(t->is_whole ? apply_whole(t, r, err) : apply_changes(t, r, err));
    bounds b = t->is_whole ? bound_all(t, mask) : bound_changes(t, mask);
    FAB_TRY(bound_windows(t, &b, err));
    bool met = b.most_s <= b.least_s * (1 + CLOCK_MET);
    if (!met) {
        FAB_TRY(clock_settle(t, mask, r, b.least_s, &met, err));
    }
    out->transfer_s = b.least_s;
    if (!met) {
        if (!t->is_whole) {
            FAB_TRY(clock_assemble(t, r, err));
        }
        FAB_TRY(clock_simulate(t, mask, &out->transfer_s, err));
        out->is_simulated = true;
    }
    out->transfer_s += handed_s(t, mask, has_moved);
    t->is_dirty = t->is_whole;
done:
    return status;
}

/* Flows have other numbers of paths than before: a clock of its own. */
static fab_status read_renumbered(const fab_clock *c, const fab_mask *mask, const fab_routes *routes,
                                  fab_phase_seconds *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_clock_request request = c->request;
    fab_clock *clock = NULL;
    fab_clock_reader *reader = NULL;
    static const size_t NO_LINKS = 0;
    const fab_rerouted as_it_is = {.path_first = &NO_LINKS};
    request.routes = routes;
    FAB_TRY(fab_clock_new(&request, &clock, err));
    FAB_TRY(fab_clock_reader_new(clock, &reader, err));
    FAB_TRY(fab_clock_read(reader, mask, &as_it_is, true, out, err));
done:
    fab_clock_reader_free(reader);
    fab_clock_free(clock);
    return status;
}

fab_status fab_clock_read(fab_clock_reader *t, const fab_mask *mask, const fab_rerouted *r, bool has_moved,
                          fab_phase_seconds *out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_clock *c = t->clock;
    const fab_phase *phase = c->request.phase;
    fab_phase_seconds found = {0};
    double path_s = 0;
    if (r->routes != NULL) {
        return read_renumbered(c, mask, r->routes, out, err);
    }
    if (c->s_per_ratio > 0 && c->limit_bps == NULL && !has_moved) {
        found.transfer_s = read_ratio(c, mask, r) + handed_s(t, mask, false);
    } else {
        FAB_TRY(read_loads(t, mask, r, has_moved, &found, err));
    }
    FAB_TRY(slowest_path(t, r, has_moved, &path_s, err));
    found.in_network = path_s >= 0;
    found.latency_s = (double)phase->steps * (double)phase->executions * (found.in_network ? path_s : c->scale_up_s);
    *out = found;
done:
    return status;
}
