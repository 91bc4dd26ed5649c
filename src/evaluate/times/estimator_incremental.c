/* Seconds of a phase from state to state while ranks move.
 *
 * A restart moves the ranks of one server of several that are away. Flows of the others are where they were, so that
 * their paths stay in the loads. What links carry are whole numbers of bits: their sums are the same in any order, and
 * the times are those of fab_estimator_read() to the bit. */
#include "estimator_incremental.h"
#include "estimator_internal.h"

#include "fab/memory.h"
#include "measure/measure_rates.h"
#include "state/state_key.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE    (FAB_NONE - 1) /* to be walked in any case */
#define MOST_LINKS 14U            /* of a path that is kept aside; longer ones are not followed */

/* A path that is not where it is on the healthy fabric. */
typedef struct incremental_path {
    uint8_t n; /* links; 0: it is lost, or the place is free */
    fab_link_id link[MOST_LINKS];
} incremental_path;

/* Where a flow was in the last state. */
typedef struct incremental_flow {
    uint32_t src, dst; /* FAB_NONE: at home */
    uint32_t stamp;    /* of the last call in which it was away */
    bool is_gone;      /* its sender is out, or it has come to be one with its receiver: no path has links */
} incremental_flow;

struct fab_incremental {
    fab_estimator_reader *reader;   /* the first: its changed links are those of all, and latencies that are gone */
    fab_estimator_reader **readers; /* [n_readers]: of phases with the same flows, by their bytes */
    size_t n_readers;
    bool has_one_way;  /* a part of a flow has one NIC and plane */
    bool stays_inside; /* all flows do, in scale-up domains that are alike */
    const fab_baseline *baseline;
    fab_reroute *reroute;
    bool can;         /* sums are exact, and there is nothing but paths and shares */
    bool is_open;     /* what follows is that of the last state: */
    bool fits;        /* and this is what was found */
    uint64_t version; /* its number; 0: none */
    fab_state_key place, mask;
    const fab_mask *mask_of; /* at that address */
    uint32_t *touched;       /* [n_touched]: paths that this mask touches */
    uint32_t *touched_at;    /* [path]: place among them, + 1; 0: untouched */
    size_t *touched_first;   /* [n_touched + 1]: their links with both ends at home, from touched_link on */
    fab_link_id *touched_link;
    size_t n_touched, touched_capacity, first_capacity, link_capacity;
    uint32_t *slot; /* [path]: of `path`, + 1; 0: as on the healthy fabric */
    incremental_path *path;
    double *latency_s; /* [slot]: below 0: inside its scale-up domain, or the place is free */
    size_t n_slots, slot_capacity, latency_capacity;
    uint32_t *unused;
    size_t n_unused, unused_capacity;
    incremental_flow *flow; /* [flow] */
    uint32_t *away;         /* [n_away]: flows with an end elsewhere, of the last state */
    uint32_t *walk;
    size_t n_away, away_capacity, walk_capacity;
    uint32_t *list; /* what list_paths() has listed */
    size_t *list_first;
    fab_link_id *list_link;
    size_t list_capacity, list_first_capacity, list_link_capacity;
    uint8_t *is_listed; /* [link]: among the reader's changed links */
    uint32_t stamp;
    double path_s;        /* latency of the slowest path */
    size_t n_dropped;     /* changed links, when those that carry what they did before were dropped last */
    uint32_t gone_inside; /* paths inside scale-up domains that are elsewhere */
    size_t n_lost;        /* paths without a way */
    bool is_too_long;     /* some path */
};

/* --- set-up ------------------------------------------------------------------------------------------------------- */

/* In-domain flows of ranks that move with their servers are where they were, as far as their links know. */
static bool incremental_stays_inside(const fab_estimator *c) {
    const fab_fabric *f = c->request.fabric;
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n_classes; i++) {
        n += f->classes[i].kind == FAB_LINK_SCALEUP;
    }
    return c->n_latencies == 0 && n <= 1 && f->gpus_per_domain <= f->gpus_per_server;
}

static fab_status open_paths(fab_incremental *m, fab_error *err) {
    const fab_estimator *c = m->reader->estimator;
    FAB_PASS(fab_reroute_new(m->baseline, &m->reroute, err));
    FAB_PASS(FAB_NEW(m->slot, c->n_paths, err));
    FAB_PASS(FAB_NEW(m->touched_at, c->n_paths, err));
    FAB_PASS(FAB_NEW(m->flow, c->request.routes->n_flows, err));
    return FAB_NEW(m->is_listed, c->request.fabric->n_links, err);
}

fab_status fab_incremental_new(const fab_estimator *const *estimators, size_t n, const fab_baseline *baseline,
                               fab_incremental **out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_incremental *m = NULL;
    FAB_TRY(FAB_NEW(m, 1, err));
    FAB_TRY(fab_allocate(n, sizeof(fab_estimator_reader *), &m->readers, err));
    m->baseline = baseline;
    m->can = fab_baseline_is_separable(baseline);
    for (size_t i = 0; i < n && m->can; i++) {
        const fab_estimator *c = estimators[i];
        m->can = c->relayed == NULL && c->limit_bps == NULL && !fab_is_lossless(c->request.transport) &&
                 c->n_paths == estimators[0]->n_paths && estimator_is_exact(c);
        FAB_TRY(fab_estimator_reader_new(c, &m->readers[i], err));
        m->n_readers++;
        FAB_TRY(FAB_NEW(m->readers[i]->load, c->request.fabric->n_links, err));
    }
    m->reader = n > 0 ? m->readers[0] : NULL;
    m->has_one_way = m->can && fab_router_ports(m->reader->estimator->request.router)->nics_per_gpu == 1 &&
                     m->reader->estimator->request.fabric->n_planes == 1;
    m->stays_inside = m->can && incremental_stays_inside(m->reader->estimator);
    FAB_TRY(m->can ? open_paths(m, err) : FAB_OK);
    *out = m;
    m = NULL;
done:
    fab_incremental_free(m);
    return status;
}

void fab_incremental_free(fab_incremental *m) {
    if (m == NULL) {
        return;
    }
    for (size_t i = 0; i < m->n_readers; i++) {
        m->readers[i]->changed = i > 0 ? NULL : m->readers[i]->changed;
        fab_estimator_reader_free(m->readers[i]);
    }
    free(m->readers);
    fab_reroute_free(m->reroute);
    fab_state_key_release(&m->mask);
    fab_state_key_release(&m->place);
    FAB_FREE_ALL(m->list, m->list_first, m->list_link, m->touched_first, m->touched_link, m->touched_at, m->touched,
                 m->slot, m->path, m->latency_s, m->unused, m->flow, m->away, m->walk, m->is_listed, m);
}

/* Everybody at home, and nothing down. */
static void incremental_clear(fab_incremental *m) {
    const fab_estimator *c = m->reader->estimator;
    const size_t n_links = c->request.fabric->n_links;
    for (size_t i = 0; i < m->n_readers; i++) {
        memcpy(m->readers[i]->load, m->readers[i]->estimator->load, n_links * sizeof *c->load);
    }
    memset(m->is_listed, 0, n_links);
    memset(m->slot, 0, c->n_paths * sizeof *m->slot);
    memset(m->touched_at, 0, c->n_paths * sizeof *m->touched_at);
    memset(m->reader->gone, 0, c->n_latencies * sizeof *m->reader->gone);
    for (uint32_t flow = 0; flow < c->request.routes->n_flows; flow++) {
        m->flow[flow] = (incremental_flow){.src = FAB_NONE, .dst = FAB_NONE};
    }
    m->reader->n_changed = 0;
    m->n_slots = m->n_unused = m->n_away = m->n_touched = 0;
    m->n_lost = m->n_dropped = 0;
    m->gone_inside = 0;
    m->is_too_long = false;
    m->stamp = 0;
    m->mask.is_set = false;
}

/* --- a path ------------------------------------------------------------------------------------------------------- */

static fab_status incremental_add(fab_incremental *m, uint32_t path, const fab_link_id *link, size_t n, double sign,
                                  fab_error *err) {
    fab_estimator_reader *t = m->reader;
    for (size_t i = 0; i < m->n_readers; i++) {
        const fab_estimator *c = m->readers[i]->estimator;
        estimator_add_path(c, m->readers[i]->load, NULL, c->flow_of[path], link, n, sign);
    }
    FAB_PASS(FAB_GROW(t->changed, t->changed_capacity, t->n_changed + n + 1, err));
    for (size_t i = 0; i < n; i++) {
        if (m->is_listed[link[i]] == 0) {
            m->is_listed[link[i]] = 1;
            t->changed[t->n_changed++] = link[i];
        }
    }
    return FAB_OK;
}

/* Of a path on the healthy fabric. */
static uint32_t *gone_with(fab_incremental *m, uint32_t path) {
    const fab_estimator *c = m->reader->estimator;
    const fab_routes *r = c->request.routes;
    const size_t first = r->path_first[path];
    const double s = estimator_latency(c->request.fabric, r->link + first, r->path_first[path + 1] - first);
    return s >= 0 ? &m->reader->gone[estimator_latency_place(c, s)] : &m->gone_inside;
}

static fab_status take_slot(fab_incremental *m, uint32_t path, fab_error *err) {
    ++*gone_with(m, path);
    if (m->n_unused > 0) {
        m->slot[path] = m->unused[--m->n_unused] + 1;
        return FAB_OK;
    }
    FAB_PASS(FAB_GROW(m->path, m->slot_capacity, m->n_slots + 1, err));
    FAB_PASS(FAB_GROW(m->latency_s, m->latency_capacity, m->n_slots + 1, err));
    FAB_PASS(FAB_GROW(m->unused, m->unused_capacity, m->n_slots + 1, err));
    m->slot[path] = (uint32_t)++m->n_slots;
    return FAB_OK;
}

static void leave_slot(fab_incremental *m, uint32_t path) {
    const uint32_t slot = m->slot[path] - 1;
    --*gone_with(m, path);
    m->latency_s[slot] = -1;
    m->unused[m->n_unused++] = slot;
    m->slot[path] = 0;
}

/* A path takes these links from now on; NULL: those of the healthy fabric. */
static fab_status incremental_route(fab_incremental *m, uint32_t path, const fab_link_id *link, size_t n,
                                    fab_error *err) {
    const fab_routes *r = m->reader->estimator->request.routes;
    const fab_link_id *home = r->link + r->path_first[path];
    const size_t n_home = r->path_first[path + 1] - r->path_first[path];
    const incremental_path *old = m->slot[path] == 0 ? NULL : &m->path[m->slot[path] - 1];
    const fab_link_id *from = old == NULL ? home : old->link;
    const fab_link_id *to = link != NULL ? link : home;
    const size_t n_from = old == NULL ? n_home : old->n;
    const size_t n_to = link != NULL ? n : n_home;
    if (link != NULL && n > MOST_LINKS) {
        m->is_too_long = true;
        return FAB_OK;
    }
    m->n_lost += (n_to == 0) - (size_t)(n_from == 0);
    if (n_from != n_to || memcmp(from, to, n_to * sizeof *to) != 0) {
        FAB_PASS(incremental_add(m, path, from, n_from, -1, err));
        FAB_PASS(incremental_add(m, path, to, n_to, 1, err));
    }
    if (link == NULL) {
        if (old != NULL) {
            leave_slot(m, path);
        }
        return FAB_OK;
    }
    FAB_PASS(old == NULL ? take_slot(m, path, err) : FAB_OK);
    incremental_path *now = &m->path[m->slot[path] - 1];
    now->n = (uint8_t)n;
    m->latency_s[m->slot[path] - 1] = estimator_latency(m->reader->estimator->request.fabric, link, n);
    memcpy(now->link, link, n * sizeof *link);
    return FAB_OK;
}

/* Where a path is with both its ends at home. */
static fab_status incremental_home(fab_incremental *m, uint32_t path, fab_error *err) {
    const uint32_t at = m->touched_at[path];
    const size_t first = at > 0 ? m->touched_first[at - 1] : 0;
    return at == 0 ? incremental_route(m, path, NULL, 0, err)
                   : incremental_route(m, path, m->touched_link + first, m->touched_first[at] - first, err);
}

/* --- a mask ------------------------------------------------------------------------------------------------------- */

/* Keeps what the mask touches, in place of what another did. */
static fab_status keep_touched(fab_incremental *m, const fab_rerouted *r, fab_error *err) {
    const size_t n_links = r->path_first[r->n_touched];
    FAB_PASS(FAB_GROW(m->touched_first, m->first_capacity, (size_t)r->n_touched + 1, err));
    FAB_PASS(FAB_GROW(m->touched_link, m->link_capacity, n_links + 1, err));
    FAB_PASS(FAB_GROW(m->touched, m->touched_capacity, m->n_touched + r->n_touched + 1, err));
    for (size_t i = 0; i < m->n_touched; i++) {
        m->touched_at[m->touched[i]] = 0;
    }
    memcpy(m->touched_first, r->path_first, ((size_t)r->n_touched + 1) * sizeof *r->path_first);
    for (size_t i = 0; i < n_links; i++) {
        m->touched_link[i] = r->link[i];
    }
    for (uint32_t i = 0; i < r->n_touched; i++) {
        m->touched_at[r->path[i]] = i + 1;
        m->touched[m->n_touched + i] = r->path[i]; /* behind those of before */
    }
    return FAB_OK;
}

/* Another mask than in the last state: paths that are at home follow it, and flows that are away will be walked. */
static fab_status incremental_mask(fab_incremental *m, const fab_mask *mask, fab_error *err) {
    const fab_state alone = {.mask = mask};
    const uint64_t before = m->mask.version;
    fab_rerouted r;
    FAB_PASS(fab_state_key_take(&m->mask, &alone, err));
    if (m->mask.version == before && m->mask_of == mask) {
        return FAB_OK;
    }
    m->mask_of = mask;
    FAB_PASS(fab_reroute_lift(m->reroute, mask, NULL, 0, &r, err));
    FAB_PASS(keep_touched(m, &r, err));
    for (size_t i = 0; i < m->n_touched + r.n_touched; i++) {
        if (m->flow[m->reader->estimator->flow_of[m->touched[i]]].src == FAB_NONE) {
            FAB_PASS(incremental_home(m, m->touched[i], err));
        }
    }
    for (uint32_t i = 0; i < r.n_touched; i++) {
        m->touched[i] = m->touched[m->n_touched + i];
    }
    m->n_touched = r.n_touched;
    for (size_t i = 0; i < m->n_away; i++) {
        m->flow[m->away[i]].src = NOWHERE;
    }
    return FAB_OK;
}

/* --- ranks -------------------------------------------------------------------------------------------------------- */

/* A flow is there no longer, which is no loss; or it comes back, and its paths will be walked. */
static fab_status set_gone(fab_incremental *m, uint32_t number, bool is_gone, fab_error *err) {
    static const fab_link_id NO_LINKS = 0;
    const uint32_t *first = m->reader->estimator->request.routes->flow_first;
    for (uint32_t path = first[number]; path < first[number + 1] && is_gone != m->flow[number].is_gone; path++) {
        FAB_PASS(is_gone ? incremental_route(m, path, &NO_LINKS, 0, err) : FAB_OK);
        m->n_lost += is_gone ? SIZE_MAX : 1;
    }
    m->flow[number].is_gone = is_gone;
    return FAB_OK;
}

/* What is to be done in a state. */
typedef struct incremental_todo {
    const fab_state *state;
    size_t n_walk, n_new; /* flows to be walked, and those that were at home before */
    bool fits;            /* none enters or leaves a scale-up domain: it has another number of paths then */
} incremental_todo;

static fab_status note_flow(fab_incremental *m, uint32_t number, incremental_todo *todo, fab_error *err) {
    const fab_state *state = todo->state;
    const fab_estimator *c = m->reader->estimator;
    const uint32_t domain = c->request.fabric->gpus_per_domain;
    const fab_flow is = fab_phase_flow(c->request.phase, number);
    const uint32_t src = state->new_gpu[is.src];
    const uint32_t dst = state->new_gpu[is.dst];
    const bool is_gone = state->is_out != NULL && (state->is_out[is.src] != 0 || src == dst);
    incremental_flow *flow = &m->flow[number];
    if (flow->stamp == m->stamp) {
        return FAB_OK;
    }
    if (flow->src == FAB_NONE) {
        m->away[m->n_away + todo->n_new++] = number;
    }
    FAB_PASS(set_gone(m, number, is_gone, err));
    if (!is_gone && (flow->src != src || flow->dst != dst)) {
        m->walk[todo->n_walk++] = number;
    }
    flow->src = is_gone ? NOWHERE : src;
    flow->dst = dst;
    flow->stamp = m->stamp;
    todo->fits = todo->fits && (is_gone || (is.src / domain == is.dst / domain) == (src / domain == dst / domain));
    return FAB_OK;
}

/* Lists flows with an end elsewhere, and of them those that are to be walked. Those that were away go home. */
static fab_status list_away(fab_incremental *m, incremental_todo *todo, fab_error *err) {
    const uint32_t *first = m->reader->estimator->request.routes->flow_first;
    size_t n = 0;
    for (size_t i = 0; i < todo->state->n_moved; i++) {
        size_t n_flows = 0;
        const uint32_t *flows = fab_baseline_flows_of(m->baseline, todo->state->moved[i], &n_flows);
        FAB_PASS(FAB_GROW(m->walk, m->walk_capacity, todo->n_walk + n_flows + 1, err));
        FAB_PASS(FAB_GROW(m->away, m->away_capacity, m->n_away + todo->n_new + n_flows + 1, err));
        for (size_t k = 0; k < n_flows; k++) {
            FAB_PASS(note_flow(m, flows[k], todo, err));
        }
    }
    for (size_t i = 0; i < m->n_away + todo->n_new; i++) {
        const uint32_t flow = m->away[i];
        if (m->flow[flow].stamp == m->stamp) {
            m->away[n++] = flow;
            continue;
        }
        FAB_PASS(set_gone(m, flow, false, err));
        m->flow[flow].src = m->flow[flow].dst = FAB_NONE;
        for (uint32_t path = first[flow]; path < first[flow + 1]; path++) {
            FAB_PASS(incremental_home(m, path, err));
        }
    }
    m->n_away = n;
    return FAB_OK;
}

static fab_status walk_away(fab_incremental *m, const fab_state *state, size_t n_walk, fab_error *err) {
    const uint32_t *first = m->reader->estimator->request.routes->flow_first;
    fab_walked walked;
    size_t at = 0;
    FAB_PASS(fab_reroute_walk(m->reroute, m->walk, n_walk, state->new_gpu, &walked, err));
    for (size_t i = 0; i < n_walk; i++) {
        for (uint32_t path = first[m->walk[i]]; path < first[m->walk[i] + 1]; path++, at++) {
            FAB_PASS(incremental_route(m, path, walked.link + walked.first[at], walked.first[at + 1] - walked.first[at],
                                       err));
        }
    }
    return FAB_OK;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static bool is_unchanged(const fab_incremental *m, fab_link_id link) {
    bool same = true;
    for (size_t i = 0; i < m->n_readers && same; i++) {
        const estimator_load *before = &m->readers[i]->estimator->load[link];
        const estimator_load *now = &m->readers[i]->load[link];
        same = now->bits == before->bits && now->weight == before->weight;
    }
    return same;
}

/* Links that carry what they do on the healthy fabric are none that changed. */
static void drop_unchanged(fab_incremental *m) {
    fab_estimator_reader *t = m->reader;
    size_t n = 0;
    for (size_t k = 0; k < t->n_changed; k++) {
        const fab_link_id link = t->changed[k];
        if (!is_unchanged(m, link)) {
            t->changed[n++] = link;
            continue;
        }
        for (size_t i = 0; i < m->n_readers; i++) {
            m->readers[i]->load[link] = m->readers[i]->estimator->load[link];
        }
        m->is_listed[link] = 0;
    }
    t->n_changed = n;
}

static double incremental_latency(const fab_incremental *m) {
    const fab_estimator *c = m->reader->estimator;
    double most_s = -1;
    for (size_t i = 0; i < m->n_slots; i++) {
        most_s = m->latency_s[i] > most_s ? m->latency_s[i] : most_s;
    }
    for (uint32_t i = 0; i < c->n_latencies && c->latency_s[i] > most_s; i++) {
        most_s = m->reader->gone[i] < c->n_with[i] ? c->latency_s[i] : most_s;
    }
    return most_s;
}

/* A NIC's cable that is dead, over which paths go that have no other way: that is looked at before anything is. */
static bool cuts_off(const fab_incremental *m, const fab_mask *mask) {
    const fab_fabric *f = m->reader->estimator->request.fabric;
    bool found = false;
    for (uint32_t i = 0; m->is_open && m->has_one_way && i < mask->n_links && !found; i++) {
        const fab_link_id link = mask->link[i];
        found = mask->residual[link] == 0 && fab_class_of(f, link)->kind == FAB_LINK_ACCESS &&
                m->reader->load[link].bits > 0;
    }
    return found;
}

/* Where ranks are, of the last state in which nothing was cut off. */
static bool is_same_place(const fab_incremental *m, const fab_state *state) {
    bool same = m->place.n_moved == state->n_moved;
    for (size_t i = 0; i < state->n_moved && same; i++) {
        same = m->place.moved[i] == state->moved[i] && m->place.new_gpu[i] == state->new_gpu[state->moved[i]];
    }
    return same;
}

static fab_status incremental_follow(fab_incremental *m, const fab_state *state, fab_error *err) {
    const fab_state place = {.moved = state->moved, .n_moved = state->n_moved, .new_gpu = state->new_gpu};
    incremental_todo todo = {.state = state, .fits = true};
    if (!m->is_open || m->stamp == UINT32_MAX) {
        incremental_clear(m);
    }
    m->is_open = false;
    m->stamp++;
    FAB_PASS(fab_state_key_take(&m->place, &place, err));
    FAB_PASS(incremental_mask(m, state->mask, err));
    FAB_PASS(list_away(m, &todo, err));
    FAB_PASS(todo.fits ? walk_away(m, state, todo.n_walk, err) : FAB_OK);
    if (m->reader->n_changed > m->n_dropped + m->n_dropped / 2) {
        drop_unchanged(m);
        m->n_dropped = m->reader->n_changed;
    }
    m->path_s = incremental_latency(m);
    m->fits = todo.fits && !m->is_too_long;
    m->is_open = m->fits;
    return FAB_OK;
}

/* Flows that never leave their domains, which have not lost a link. */
static bool read_inside(const fab_incremental *m, const fab_state *state, fab_phase_seconds *out, size_t which) {
    const fab_estimator *c = m->readers[which]->estimator;
    const uint32_t domain = c->request.fabric->gpus_per_domain;
    bool same = m->stays_inside;
    for (uint32_t i = 0; i < state->mask->n_links && same; i++) {
        same = fab_class_of(c->request.fabric, state->mask->link[i])->kind != FAB_LINK_SCALEUP;
    }
    for (size_t i = 0; i < state->n_moved && same; i++) { /* with its server */
        const uint32_t first = state->moved[i] / domain * domain;
        const uint32_t to = state->new_gpu[state->moved[i]];
        same = to % domain == state->moved[i] % domain && state->new_gpu[first] == to / domain * domain;
    }
    if (same) {
        *out = (fab_phase_seconds){.transfer_s = c->by_bits.n > 0 ? c->by_bits.s[0] : 0,
                                   .latency_s = fab_phase_latency_s(c->request.fabric, c->request.phase, false, -1)};
    }
    return same && (c->is_even || c->by_shares.n == 0 || c->by_shares.s[0] <= out->transfer_s * (1 + ESTIMATOR_CLOSE));
}

static void list_path(fab_incremental *m, uint32_t path, fab_rerouted *r) {
    if (m->slot[path] != 0) {
        const incremental_path *is = &m->path[m->slot[path] - 1];
        const size_t first = m->list_first[r->n_touched];
        m->list[r->n_touched++] = path;
        memcpy(m->list_link + first, is->link, is->n * sizeof *is->link);
        m->list_first[r->n_touched] = first + is->n;
    }
}

/* Paths that are elsewhere than on the healthy fabric, or may be, as a reroute lists them. */
static fab_status list_paths(fab_incremental *m, fab_rerouted *r, fab_error *err) {
    const fab_estimator *c = m->reader->estimator;
    const uint32_t *first = c->request.routes->flow_first;
    FAB_PASS(FAB_GROW(m->list, m->list_capacity, m->n_slots + 1, err));
    FAB_PASS(FAB_GROW(m->list_first, m->list_first_capacity, m->n_slots + 1, err));
    FAB_PASS(FAB_GROW(m->list_link, m->list_link_capacity, m->n_slots * MOST_LINKS + 1, err));
    *r = (fab_rerouted){.path = m->list, .path_first = m->list_first, .link = m->list_link};
    m->list_first[0] = 0;
    for (size_t i = 0; i < m->n_touched; i++) {
        if (m->flow[c->flow_of[m->touched[i]]].src == FAB_NONE) {
            list_path(m, m->touched[i], r);
        }
    }
    for (size_t i = 0; i < m->n_away; i++) {
        for (uint32_t path = first[m->away[i]]; path < first[m->away[i] + 1]; path++) {
            list_path(m, path, r);
        }
    }
    return FAB_OK;
}

/* Seconds of the bytes. Where bounds do not agree, links that leave it open are looked at as fab_estimator_read() does;
 * and where some ranks are out, all paths are, by an estimator of their own. */
static fab_status read_transfer(fab_incremental *m, fab_estimator_reader *t, const fab_state *state,
                                fab_phase_seconds *out, bool *out_known, fab_error *err) {
    const estimator_bounds b = estimator_bound(t, state->mask);
    fab_phase_seconds found = {.transfer_s = b.least_s};
    fab_rerouted r;
    bool agree = b.most_s <= b.least_s * (1 + ESTIMATOR_CLOSE);
    if (!agree) {
        FAB_PASS(list_paths(m, &r, err));
        FAB_PASS(estimator_settle(t, state->mask, &r, b.least_s, &agree, err));
    }
    *out_known = agree || state->is_out != NULL;
    if (!agree && *out_known) {
        FAB_PASS(estimator_assemble(t, &r, err));
        FAB_PASS(estimator_read_routes(t->estimator, state->mask, &t->routes, NULL, &found, err));
    }
    out->transfer_s = found.transfer_s;
    return FAB_OK;
}

fab_status fab_incremental_read(fab_incremental *m, size_t which, uint64_t version, const fab_state *state,
                                fab_phase_seconds *out, fab_known *out_answer, fab_error *err) {
    *out_answer = FAB_KNOWN_NOTHING;
    if (!m->can) {
        return FAB_OK;
    }
    if (read_inside(m, state, out, which)) {
        *out_answer = FAB_KNOWN_TIME;
        return FAB_OK;
    }
    if (m->version != version && is_same_place(m, state) && cuts_off(m, state->mask)) {
        *out_answer = FAB_KNOWN_LOST;
        return FAB_OK;
    }
    FAB_PASS(m->version != version ? incremental_follow(m, state, err) : FAB_OK);
    m->version = version;
    if (!m->fits || m->n_lost > 0) {
        *out_answer = m->fits ? FAB_KNOWN_LOST : FAB_KNOWN_NOTHING;
        return FAB_OK;
    }
    fab_estimator_reader *t = m->readers[which];
    t->changed = m->reader->changed;
    t->n_changed = m->reader->n_changed;
    const fab_estimator_request *q = &t->estimator->request;
    fab_phase_seconds found = {.latency_s = fab_phase_latency_s(q->fabric, q->phase, m->path_s >= 0, m->path_s),
                               .in_network = m->path_s >= 0};
    bool is_known = false;
    FAB_PASS(read_transfer(m, t, state, &found, &is_known, err));
    if (is_known) {
        *out = found;
        *out_answer = FAB_KNOWN_TIME;
    }
    return FAB_OK;
}
