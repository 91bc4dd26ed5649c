/* Seconds of a phase from state to state while ranks move.
 *
 * A restart moves the ranks of one server of several that are away. Flows of the others are where they were, so that
 * their paths stay in the loads. What links carry are whole numbers of bits: their sums are the same in any order, and
 * the times are those of fab_estimator_read() to the bit. */
#include "incremental_internal.h"

#include "fab/path_figures.h"

/* Everybody at home, and nothing down. */
static fab_status incremental_clear(fab_incremental *m, fab_error *err) {
    const fab_estimator *c = m->reader->estimator;
    for (size_t i = 0; i < m->n_readers; i++) {
        FAB_PASS(estimator_clear(m->readers[i], err));
    }
    FAB_PASS(estimator_copy_latencies(&m->latencies, &c->latencies, err));
    memset(m->is_listed, 0, c->request.fabric->n_links);
    memset(m->slot, 0, c->n_paths * sizeof *m->slot);
    memset(m->touched_at, 0, c->n_paths * sizeof *m->touched_at);
    FAB_FILL(m->flow, c->request.routes->n_flows, (incremental_flow){.src = FAB_NONE, .dst = FAB_NONE});
    m->reader->n_changed = 0;
    m->n_slots = m->n_unused = m->n_away = m->n_touched = 0;
    m->n_lost = m->n_dropped = 0;
    m->is_too_long = false;
    m->stamp = 0;
    m->mask.is_set = false;
    return FAB_OK;
}

/* --- a path ------------------------------------------------------------------------------------------------------- */

static fab_status incremental_add(fab_incremental *m, uint32_t path, const fab_link_id *link, size_t n, double sign,
                                  fab_error *err) {
    fab_estimator_reader *t = m->reader;
    const uint32_t flow = t->estimator->flow_of[path];
    for (size_t i = 0; i < m->n_readers; i++) {
        FAB_PASS(estimator_shift(m->readers[i], flow, link, n, sign, err));
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

/* What both have in common stays. */
static fab_status incremental_exchange(fab_incremental *m, uint32_t path, const fab_link_id *from, size_t n_from,
                                       const fab_link_id *to, size_t n_to, fab_error *err) {
    for (; n_from > 0 && n_to > 0 && *from == *to; from++, to++) {
        n_from--;
        n_to--;
    }
    for (; n_from > 0 && n_to > 0 && from[n_from - 1] == to[n_to - 1]; n_to--) {
        n_from--;
    }
    FAB_PASS(incremental_add(m, path, from, n_from, -1, err));
    return incremental_add(m, path, to, n_to, 1, err);
}

static fab_status take_slot(fab_incremental *m, uint32_t path, fab_error *err) {
    if (m->n_unused > 0) {
        m->slot[path] = m->unused[--m->n_unused] + 1;
        return FAB_OK;
    }
    FAB_PASS(FAB_GROW(m->path, m->slot_capacity, m->n_slots + 1, err));
    FAB_PASS(FAB_GROW(m->unused, m->unused_capacity, m->n_slots + 1, err));
    m->slot[path] = (uint32_t)++m->n_slots;
    return FAB_OK;
}

/* A path takes these links from now on; NULL: those of the healthy fabric. */
static fab_status incremental_route(fab_incremental *m, uint32_t path, const fab_link_id *link, size_t n,
                                    fab_error *err) {
    const fab_fabric *f = m->reader->estimator->request.fabric;
    const fab_routes *r = m->reader->estimator->request.routes;
    const fab_link_id *home = r->link + r->path_first[path];
    const size_t n_home = r->path_first[path + 1] - r->path_first[path];
    const incremental_path *old = m->slot[path] == 0 ? NULL : &m->path[m->slot[path] - 1];
    const fab_link_id *to = link != NULL ? link : home;
    const size_t n_from = old == NULL ? n_home : old->n;
    const size_t n_to = link != NULL ? n : n_home;
    if (link != NULL && n > MOST_LINKS) {
        m->is_too_long = true;
        return FAB_OK;
    }
    if (link == NULL && old == NULL) {
        return FAB_OK;
    }
    m->n_lost += (n_to == 0) - (size_t)(n_from == 0);
    const double from_s = old == NULL ? estimator_latency(f, home, n_home) : old->latency_s;
    const double to_s = estimator_latency(f, to, n_to);
    if (from_s != to_s) {
        FAB_PASS(estimator_count_latency(&m->latencies, from_s, -1, err));
        FAB_PASS(estimator_count_latency(&m->latencies, to_s, 1, err));
    }
    FAB_PASS(incremental_exchange(m, path, old == NULL ? home : old->link, n_from, to, n_to, err));
    if (link == NULL) {
        m->unused[m->n_unused++] = m->slot[path] - 1;
        m->slot[path] = 0;
        return FAB_OK;
    }
    FAB_PASS(old == NULL ? take_slot(m, path, err) : FAB_OK);
    incremental_path *now = &m->path[m->slot[path] - 1];
    now->n = (uint8_t)n;
    now->latency_s = to_s;
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
    FAB_FILL(m->touched_link, n_links, r->link[fab_at]);
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
    FAB_FILL(m->touched, r.n_touched, m->touched[m->n_touched + fab_at]);
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
static fab_status drop_unchanged(fab_incremental *m, fab_error *err) {
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
            FAB_PASS(estimator_weigh(m->readers[i], link, err));
        }
        m->is_listed[link] = 0;
    }
    t->n_changed = m->n_dropped = n;
    return FAB_OK;
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
    FAB_PASS(!m->is_open || m->stamp == UINT32_MAX ? incremental_clear(m, err) : FAB_OK);
    m->is_open = false;
    m->stamp++;
    FAB_PASS(fab_state_key_take(&m->place, &place, err));
    FAB_PASS(incremental_mask(m, state->mask, err));
    FAB_PASS(list_away(m, &todo, err));
    FAB_PASS(todo.fits ? walk_away(m, state, todo.n_walk, err) : FAB_OK);
    if (m->reader->n_changed > 2 * m->n_dropped + m->reader->estimator->request.fabric->n_links / 16) {
        FAB_PASS(drop_unchanged(m, err));
    }
    m->path_s = estimator_longest_latency(&m->latencies);
    m->fits = todo.fits && !m->is_too_long;
    m->is_open = m->fits;
    return FAB_OK;
}

/* Flows that never leave their domains, which have not lost a link. */
static bool read_inside(const fab_incremental *m, const fab_state *state, fab_phase_seconds *out, size_t which) {
    const fab_estimator *c = m->phase[which].estimator;
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
                                incremental_found *found, fab_error *err) {
    t->changed = m->reader->changed;
    t->n_changed = m->reader->n_changed;
    const estimator_bounds b = estimator_bound(t, state->mask);
    fab_phase_seconds all = {.transfer_s = b.least_s};
    fab_rerouted r;
    bool agree = b.most_s <= b.least_s * (1 + ESTIMATOR_CLOSE);
    if (!agree) {
        FAB_PASS(list_paths(m, &r, err));
        FAB_PASS(estimator_settle(t, state->mask, &r, b.least_s, &agree, err));
    }
    found->is_known = agree || state->is_out != NULL;
    if (!agree && found->is_known) {
        FAB_PASS(estimator_assemble(t, &r, err));
        FAB_PASS(estimator_read_routes(t->estimator, state->mask, &t->routes, NULL, NULL, &all, err));
    }
    found->transfer_s = all.transfer_s;
    return FAB_OK;
}

/* Where the longest link is one of the heavy. */
static fab_status read_heavy(fab_incremental *m, fab_estimator_reader *t, const fab_state *state,
                             incremental_found *found, fab_error *err) {
    const estimator_bounds b = estimator_bound(t, state->mask);
    fab_rerouted r;
    found->transfer_s = b.least_s;
    found->is_known = estimator_knows_longest(t, b.least_s);
    if (found->is_known && b.most_s > b.least_s * (1 + ESTIMATOR_CLOSE)) {
        FAB_PASS(server_moves_list(m->servers, &r, err));
        FAB_PASS(estimator_settle(t, state->mask, &r, b.least_s, &found->is_known, err));
    }
    return FAB_OK;
}

static fab_status open_servers(fab_incremental *m, fab_error *err) {
    FAB_OWNED const fab_estimator **estimators = NULL;
    FAB_PASS(fab_allocate(m->n_readers, sizeof(const fab_estimator *), &estimators, err));
    FAB_FILL(estimators, m->n_readers, m->readers[fab_at]->estimator);
    return server_moves_new(estimators, m->n_readers, m->baseline, &m->servers, err);
}

static void say(const incremental_phase *phase, const incremental_found *found, double path_s, fab_phase_seconds *out) {
    const fab_estimator_request *q = &phase->estimator->request;
    *out = (fab_phase_seconds){.transfer_s = phase->ratio * found->transfer_s,
                               .latency_s = fab_phase_latency_s(q->fabric, q->phase, path_s >= 0, path_s),
                               .in_network = path_s >= 0};
}

/* Whole servers have moved. */
static fab_status read_servers(fab_incremental *m, size_t which, uint64_t version, const fab_state *state,
                               fab_phase_seconds *out, fab_known *out_answer, fab_error *err) {
    const incremental_phase *phase = &m->phase[which];
    incremental_found *found = &m->servers_found[phase->reader];
    if (!m->moves_servers) {
        return FAB_OK;
    }
    FAB_PASS(m->servers == NULL ? open_servers(m, err) : FAB_OK);
    if (m->servers_version != version) {
        m->servers_version = 0;
        FAB_PASS(server_moves_follow(m->servers, state, &m->servers_answer, err));
        m->servers_version = version;
    }
    if (m->servers_answer == FAB_KNOWN_TIME && found->version != version) {
        fab_estimator_reader *t = server_moves_reader(m->servers, phase->reader);
        found->version = 0;
        FAB_PASS(read_heavy(m, t, state, found, err));
        found->version = version;
        m->moves_servers = t->heavy.at != NULL;
    }
    if (m->servers_answer == FAB_KNOWN_TIME && found->is_known) {
        say(phase, found, server_moves_latency_s(m->servers), out);
    }
    *out_answer = m->servers_answer == FAB_KNOWN_TIME && !found->is_known ? FAB_KNOWN_NOTHING : m->servers_answer;
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
    FAB_PASS(read_servers(m, which, version, state, out, out_answer, err));
    if (*out_answer != FAB_KNOWN_NOTHING) {
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
    const incremental_phase *phase = &m->phase[which];
    incremental_found *found = &m->found[phase->reader];
    if (found->version != version) {
        found->version = 0;
        FAB_PASS(read_transfer(m, m->readers[phase->reader], state, found, err));
        found->version = version;
    }
    if (found->is_known) {
        say(phase, found, m->path_s, out);
        *out_answer = FAB_KNOWN_TIME;
    }
    return FAB_OK;
}
