/* Seconds of a phase of which some paths have changed. */
#include "estimator_internal.h"

#include "measure/measure_rates.h"

/* --- a reader ----------------------------------------------------------------------------------------------------- */

fab_status fab_estimator_reader_new(const fab_estimator *estimator, fab_estimator_reader **out, fab_error *err) {
    FAB_OWNS_NEW(fab_estimator_reader_free_owned, fab_estimator_reader, t, 1, err);
    t->estimator = estimator;
    FAB_PASS(FAB_NEW(t->gone, estimator->latencies.n, err));
    t->is_dirty = true;
    return FAB_GIVE(*out, t);
}

FAB_FREES_AFTER(fab_estimator_reader_free, fab_estimator_reader, t) {
    fab_routes_release(&t->routes);
    FAB_FREE_ALL(t->load, t->relayed, t->changed, t->gone, t->gone_list, t->slot, t->candidate, t->part, t->path_bits,
                 t->heavy.at, t->heavy.link, t->limit, t->limit_bps, t->finish_s, t->capacity, t->path_first, t->runner,
                 t->path_list);
}

/* Loads of the healthy fabric again. */
static fab_status estimator_restore(fab_estimator_reader *t, fab_error *err) {
    const fab_estimator *c = t->estimator;
    size_t n_links = c->request.fabric->n_links;
    FAB_PASS(t->load == NULL ? FAB_NEW(t->load, n_links, err) : FAB_OK);
    FAB_PASS(t->relayed == NULL && c->relayed != NULL ? FAB_NEW(t->relayed, n_links, err) : FAB_OK);
    if (t->is_dirty) {
        memcpy(t->load, c->load, n_links * sizeof *t->load);
    }
    if (c->relayed != NULL) { /* few fabrics relay */
        memcpy(t->relayed, c->relayed, n_links * sizeof *t->relayed);
    }
    for (size_t i = 0; i < t->n_changed && !t->is_dirty; i++) {
        t->load[t->changed[i]] = c->load[t->changed[i]];
    }
    t->n_changed = 0;
    t->is_dirty = true; /* until all has gone well */
    return FAB_OK;
}

/* --- latency ------------------------------------------------------------------------------------------------------ */

static uint32_t latency_place(const fab_estimator *c, double s) {
    uint32_t low = 0;
    uint32_t high = (uint32_t)c->latencies.n;
    while (high - low > 1) { /* descending; s is one of them */
        uint32_t middle = low + (high - low) / 2;
        if (c->latencies.s[middle] < s) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return low;
}

static fab_status lose_latency(fab_estimator_reader *t, double s, fab_error *err) {
    const uint32_t low = latency_place(t->estimator, s);
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
static fab_status slowest_path(fab_estimator_reader *t, const fab_rerouted *r, bool has_moved, double *out_s,
                               fab_error *err) {
    fab_status status = FAB_OK;
    const fab_estimator *c = t->estimator;
    const fab_routes *before = c->request.routes;
    double most_s = -1;
    for (uint32_t i = 0; i < r->n_touched; i++) {
        size_t first = before->path_first[r->path[i]];
        size_t n_before = before->path_first[r->path[i] + 1] - first;
        size_t n = r->path_first[i + 1] - r->path_first[i];
        if (c->is_flat && !has_moved && n == n_before) {
            continue;
        }
        double before_s = estimator_latency(c->request.fabric, before->link + first, n_before);
        most_s = fmax(most_s, estimator_latency(c->request.fabric, r->link + r->path_first[i], n));
        FAB_TRY(before_s >= 0 ? lose_latency(t, before_s, err) : FAB_OK);
    }
    for (uint32_t i = 0; i < c->latencies.n && c->latencies.s[i] > most_s; i++) {
        most_s = t->gone[i] < c->latencies.n_with[i] ? c->latencies.s[i] : most_s;
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
static double read_ratio(const fab_estimator *c, const fab_mask *mask, const fab_rerouted *r) {
    double s = fmax(c->inside_s, fmax(r->worst_ratio, 0) * c->s_per_ratio);
    for (uint32_t i = 0; i < mask->n_links; i++) {
        fab_link_kind kind = fab_class_of(c->request.fabric, mask->link[i])->kind;
        if (kind == FAB_LINK_SCALEUP || kind == FAB_LINK_PCIE) {
            s = fmax(s, estimator_bits_s(&c->load[mask->link[i]], estimator_capacity(c, mask, mask->link[i])));
        }
    }
    return s;
}

static bool estimator_is_same(const fab_link_id *a, size_t n_a, const fab_link_id *b, size_t n_b) {
    uint32_t differ = n_a != n_b;
    for (size_t i = 0; differ == 0 && i < n_a; i++) {
        differ = a[i] ^ b[i];
    }
    return differ == 0;
}

static fab_status note_changes(fab_estimator_reader *t, const fab_link_id *link, size_t n, fab_error *err) {
    if (t->n_changed + n > t->changed_capacity) {
        FAB_PASS(FAB_GROW(t->changed, t->changed_capacity, t->n_changed + n, err));
    }
    for (size_t i = 0; i < n; i++) {
        t->changed[t->n_changed++] = link[i];
    }
    return FAB_OK;
}

static fab_status apply_changes(fab_estimator_reader *t, const fab_rerouted *r, fab_error *err) {
    const fab_estimator *c = t->estimator;
    const fab_routes *before = c->request.routes;
    const bool trims = c->relayed == NULL;
    for (uint32_t i = 0; i < r->n_touched; i++) {
        uint32_t flow = c->flow_of[r->path[i]];
        const fab_link_id *from = before->link + before->path_first[r->path[i]];
        const fab_link_id *to = r->link + r->path_first[i];
        size_t n_from = before->path_first[r->path[i] + 1] - before->path_first[r->path[i]];
        size_t n_to = r->path_first[i + 1] - r->path_first[i];
        if (estimator_is_same(from, n_from, to, n_to)) {
            continue;
        }
        for (; trims && n_from > 0 && n_to > 0 && *from == *to; from++, to++) { /* what both have in common stays */
            n_from--;
            n_to--;
        }
        for (; trims && n_from > 0 && n_to > 0 && from[n_from - 1] == to[n_to - 1]; n_to--) {
            n_from--;
        }
        FAB_PASS(note_changes(t, from, n_from, err));
        FAB_PASS(note_changes(t, to, n_to, err));
        estimator_add_path(c, t->load, t->relayed, flow, r->path[i], from, n_from, -1);
        estimator_add_path(c, t->load, t->relayed, flow, r->path[i], to, n_to, 1);
    }
    return FAB_OK;
}

static fab_status apply_renewed(fab_estimator_reader *t, const fab_rerouted *r, fab_error *err) {
    const fab_estimator *c = t->estimator;
    size_t n_links = c->request.fabric->n_links;
    FAB_PASS(estimator_assemble(t, r, err));
    memset(t->load, 0, n_links * sizeof *t->load);
    if (t->relayed != NULL) {
        memset(t->relayed, 0, n_links * sizeof *t->relayed);
    }
    for (uint32_t path = 0; path < c->n_paths; path++) {
        size_t first = t->routes.path_first[path];
        estimator_add_path(c, t->load, t->relayed, c->flow_of[path], path, t->routes.link + first,
                           t->routes.path_first[path + 1] - first, 1);
    }
    return FAB_OK;
}

static void consider(const fab_estimator_reader *t, const fab_mask *mask, fab_link_id link, estimator_bounds *b) {
    double capacity = estimator_capacity(t->estimator, mask, link);
    double least_s = estimator_bits_s(&t->load[link], capacity);
    double most_s = t->estimator->is_even ? least_s : estimator_shares_s(&t->load[link], capacity);
    b->least_s = least_s > b->least_s ? least_s : b->least_s;
    b->most_s = most_s > b->most_s ? most_s : b->most_s;
}

static bool is_untouched(const fab_estimator_reader *t, const fab_mask *mask, fab_link_id link) {
    const estimator_load *now = &t->load[link];
    const estimator_load *before = &t->estimator->load[link];
    return now->bits == before->bits && now->weight == before->weight && mask->residual[link] == 1;
}

/* Links that changed, and of the others the slowest. */
estimator_bounds estimator_bound(const fab_estimator_reader *t, const fab_mask *mask) {
    const fab_estimator *c = t->estimator;
    estimator_bounds b = {0, 0};
    for (size_t i = 0; i < t->heavy.n; i++) {
        consider(t, mask, t->heavy.link[i], &b);
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
    for (size_t i = 0; i < t->n_changed && !estimator_knows_longest(t, b.least_s); i++) {
        consider(t, mask, t->changed[i], &b);
    }
    return b;
}

static estimator_bounds bound_all(const fab_estimator_reader *t, const fab_mask *mask) {
    estimator_bounds b = {0, 0};
    for (uint32_t l = 0; l < t->estimator->request.fabric->n_links; l++) {
        consider(t, mask, l, &b);
    }
    return b;
}

static double relay_link_s(const fab_estimator *c, const fab_mask *mask, const double *relayed, fab_link_id link) {
    double capacity = fab_class_of(c->request.fabric, link)->capacity_bps * mask->residual[link];
    return capacity > 0 ? relayed[link] / capacity : 0;
}

/* What GPUs relay before it is sent: not the same once flows have moved. */
static double relay_s(const fab_estimator_reader *t, const fab_mask *mask, bool has_moved) {
    const fab_estimator *c = t->estimator;
    double s = has_moved ? 0 : c->relay_s;
    if (c->relayed == NULL) {
        return 0;
    }
    for (uint32_t l = 0; has_moved && l < c->request.fabric->n_links; l++) {
        s = fmax(s, relay_link_s(c, mask, t->relayed, l));
    }
    for (uint32_t i = 0; !has_moved && i < mask->n_links; i++) {
        s = fmax(s, relay_link_s(c, mask, c->relayed, mask->link[i]));
    }
    return s;
}

fab_status estimator_renew_limits(fab_estimator_reader *t, fab_error *err) {
    const fab_estimator *c = t->estimator;
    const fab_path_chunk chunk = {.routes = &t->routes, .phase = c->request.phase};
    FAB_PASS(t->limit_bps == NULL ? FAB_NEW(t->limit_bps, c->request.routes->n_flows, err) : FAB_OK);
    FAB_PASS(fab_flow_latencies_of_routes(c->request.router, &chunk, t->limit_bps, err));
    fab_flow_limits(c->request.router, t->limit_bps, c->request.routes->n_flows, t->limit_bps);
    t->is_renewed = true;
    return FAB_OK;
}

/* Adds what windows make flows last. */
static fab_status bound_windows(fab_estimator_reader *t, estimator_bounds *b, fab_error *err) {
    const fab_estimator *c = t->estimator;
    double most_s = c->most_limit_s;
    if (c->limit_bps == NULL) {
        return FAB_OK;
    }
    if (t->is_renewed) {
        FAB_PASS(estimator_renew_limits(t, err));
        most_s = 0;
        for (uint32_t flow = 0; flow < c->request.routes->n_flows; flow++) {
            most_s = fmax(most_s, c->bits[flow] / t->limit_bps[flow]);
        }
    }
    b->least_s = fmax(b->least_s, most_s);
    b->most_s = fmax(b->most_s, most_s);
    return FAB_OK;
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* When flows end, as they were simulated. */
static void take_ends(const fab_estimator_reader *t, double relay, double *ends_s) {
    const fab_estimator *c = t->estimator;
    FAB_FILL(ends_s, c->request.routes->n_flows, 0);
    for (uint32_t path = 0; path < c->n_paths; path++) {
        ends_s[c->flow_of[path]] = fmax(ends_s[c->flow_of[path]], t->finish_s[path] + relay);
    }
}

/* `ends_s`: of every flow; NULL: not wanted. */
static fab_status read_loads(fab_estimator_reader *t, const fab_mask *mask, const fab_rerouted *r, bool has_moved,
                             double *ends_s, fab_phase_seconds *out, fab_error *err) {
    const fab_estimator *c = t->estimator;
    FAB_PASS(estimator_restore(t, err));
    t->is_renewed = r->in_full || (c->limit_bps != NULL && r->n_touched > 0);
    FAB_PASS(t->is_renewed ? apply_renewed(t, r, err) : apply_changes(t, r, err));
    estimator_bounds b = t->is_renewed ? bound_all(t, mask) : estimator_bound(t, mask);
    FAB_PASS(bound_windows(t, &b, err));
    bool is_followed = ends_s != NULL || fab_is_lossless(c->request.transport);
    bool agree = !is_followed && b.most_s <= b.least_s * (1 + ESTIMATOR_CLOSE);
    FAB_PASS(!agree && !is_followed ? estimator_settle(t, mask, r, b.least_s, &agree, err) : FAB_OK);
    out->transfer_s = b.least_s;
    if (!agree) {
        FAB_REFUSE_IF(c->request.most_simulated > 0 && c->n_paths > c->request.most_simulated, err, FAB_ETIME, NULL,
                      "phase %s: only a simulation of %u paths tells its time", c->request.phase->name, c->n_paths);
        FAB_PASS(!t->is_renewed ? estimator_assemble(t, r, err) : FAB_OK);
        FAB_PASS(estimator_simulate(t, mask, b.least_s, &out->transfer_s, err));
        out->is_simulated = true;
    }
    const double relay = relay_s(t, mask, has_moved);
    out->transfer_s += relay;
    if (ends_s != NULL) {
        take_ends(t, relay, ends_s);
    }
    t->is_dirty = t->is_renewed;
    return FAB_OK;
}

fab_status estimator_read_routes(const fab_estimator *c, const fab_mask *mask, const fab_routes *routes, double *ends_s,
                                 fab_state_flows *flows, fab_phase_seconds *out, fab_error *err) {
    fab_estimator_request request = c->request;
    FAB_OWNS(fab_estimator_free_owned) fab_estimator *estimator = NULL;
    FAB_OWNS(fab_estimator_reader_free_owned) fab_estimator_reader *reader = NULL;
    static const size_t NO_LINKS = 0;
    const fab_rerouted as_it_is = {.path_first = &NO_LINKS};
    request.routes = routes;
    FAB_PASS(fab_estimator_new(&request, &estimator, err));
    FAB_PASS(fab_estimator_reader_new(estimator, &reader, err));
    if (flows != NULL) {
        FAB_PASS(fab_estimator_flows(reader, mask, &as_it_is, flows, err));
    } else {
        FAB_PASS(ends_s != NULL ? fab_estimator_ends(reader, mask, &as_it_is, true, ends_s, out, err)
                                : fab_estimator_read(reader, mask, &as_it_is, true, out, err));
    }
    return FAB_OK;
}

/* No path has changed, and no link of one. */
static bool is_as_before(const fab_estimator *c, const fab_mask *mask, const fab_rerouted *r) {
    bool same = !isnan(c->packets_s) && !r->in_full && r->n_touched == 0;
    for (uint32_t i = 0; same && i < mask->n_links; i++) {
        fab_link_id link = mask->link[i];
        same = mask->residual[link] == 1 || (c->load[link].bits <= 0 && (c->relayed == NULL || c->relayed[link] <= 0));
    }
    return same;
}

static fab_status add_latency(fab_estimator_reader *t, const fab_rerouted *r, bool has_moved, fab_phase_seconds *out,
                              fab_error *err) {
    const fab_estimator *c = t->estimator;
    double path_s = 0;
    FAB_PASS(slowest_path(t, r, has_moved, &path_s, err));
    out->in_network = path_s >= 0;
    out->latency_s = fab_phase_latency_s(c->request.fabric, c->request.phase, out->in_network, path_s);
    return FAB_OK;
}

fab_status fab_estimator_ends(fab_estimator_reader *t, const fab_mask *mask, const fab_rerouted *r, bool has_moved,
                              double *ends_s, fab_phase_seconds *out, fab_error *err) {
    fab_phase_seconds found = {0};
    if (r->routes != NULL) {
        return estimator_read_routes(t->estimator, mask, r->routes, ends_s, NULL, out, err);
    }
    FAB_PASS(read_loads(t, mask, r, has_moved, ends_s, &found, err));
    FAB_PASS(add_latency(t, r, has_moved, &found, err));
    *out = found;
    return FAB_OK;
}

fab_status fab_estimator_read(fab_estimator_reader *t, const fab_mask *mask, const fab_rerouted *r, bool has_moved,
                              fab_phase_seconds *out, fab_error *err) {
    const fab_estimator *c = t->estimator;
    fab_phase_seconds found = {0};
    if (r->routes != NULL) {
        return estimator_read_routes(c, mask, r->routes, NULL, NULL, out, err);
    }
    if (fab_is_lossless(c->request.transport) && !has_moved && is_as_before(c, mask, r)) {
        found.transfer_s = c->packets_s;
    } else if (!fab_is_lossless(c->request.transport) && c->s_per_ratio > 0 && c->limit_bps == NULL && !has_moved) {
        found.transfer_s = read_ratio(c, mask, r) + relay_s(t, mask, false);
    } else {
        FAB_PASS(read_loads(t, mask, r, has_moved, NULL, &found, err));
    }
    FAB_PASS(add_latency(t, r, has_moved, &found, err));
    *out = found;
    return FAB_OK;
}
