/* A server that moves takes all its flows along. What they put on links there, while their other ends are at home and
 * nothing is down, is a block that is kept. A state is the sum of the blocks of its servers, and of changes: flows
 * between two that have moved, and paths that a mask changes. Loads are whole numbers of bits: sums and differences are
 * exact, so that nothing is left of a state when the next one comes. */
#include "incremental_internal.h"

#define BLOCK_BYTES ((size_t)32 << 20) /* of all of them; beyond it they are dropped */

/* A server's flows from one place. */
typedef struct moves_block {
    struct moves_block *next; /* of the same server */
    uint32_t place;
    bool is_odd;     /* a path has no way, though nothing is down */
    uint32_t *first; /* [paths + 1]: of each in `link`; none: its other end is at home in this place, and away */
    fab_link_id *link;
    estimator_latencies latencies;
} moves_block;

/* A path put on links, or taken off. */
typedef struct moves_change {
    uint32_t path, flow;
    bool is_on;
    bool is_now; /* this is where it is in this state */
    size_t first, n;
} moves_change;

struct server_moves {
    const fab_baseline *baseline;
    const fab_estimator *estimator;
    fab_estimator_reader **readers; /* [n_readers] */
    size_t n_readers;
    fab_reroute *clean, *masked; /* nothing is down; what is down in this state */
    fab_mask nothing;
    size_t *first;        /* [server + 1]: its flows are flow[first[s] ... ) */
    uint32_t *flow;       /* a flow within a server once */
    uint32_t *other;      /* the server at its other end */
    uint32_t *path;       /* place of its first path in a block of the server */
    uint32_t *n_paths;    /* [server]: of a block */
    moves_block **blocks; /* [server] */
    size_t block_bytes;
    bool has_odd;    /* some block is: nothing is known of any state */
    bool is_open;    /* what follows is that of the last state: */
    uint32_t *place; /* [server]: where it is */
    uint32_t *moved; /* [n_moved]: servers that are not at home */
    size_t n_moved;
    uint32_t *now, *now_place; /* [n_now]: the same of the state to come */
    size_t n_now;
    moves_change *change;
    fab_link_id *change_link;
    size_t n_changes, n_links, change_capacity, link_capacity;
    estimator_latencies latencies;
    size_t n_lost;
    fab_state_key mask;
    const fab_mask *mask_of;
    fab_rerouted touched; /* by the mask, with both ends at home; its links are the next */
    fab_link_id *touched_link;
    size_t touched_capacity;
    uint32_t stamp, *flow_stamp; /* [flow]: of the state in which changes say where it is */
    uint32_t *new_gpu;           /* [gpu]: at home, but while a block is made */
    uint32_t *list;              /* of server_moves_list() */
    size_t *list_first;
    fab_link_id *list_link;
    size_t n_list, n_list_links, list_capacity, first_capacity, list_link_capacity;
};

static uint32_t server_of(const server_moves *m, uint32_t gpu) {
    return gpu / m->estimator->request.fabric->gpus_per_server;
}

static uint32_t paths_of(const server_moves *m, uint32_t flow) {
    const uint32_t *first = m->estimator->request.routes->flow_first;
    return first[flow + 1] - first[flow];
}

/* --- set-up ------------------------------------------------------------------------------------------------------- */

/* Flows of every server. */
static fab_status list_flows(server_moves *m, fab_error *err) {
    const fab_estimator_request *q = &m->estimator->request;
    const uint32_t n_servers = q->fabric->n_servers;
    FAB_PASS(FAB_NEW(m->first, (size_t)n_servers + 2, err));
    FAB_PASS(FAB_NEW_ALL(2 * (size_t)q->routes->n_flows, err, m->flow, m->other, m->path));
    FAB_PASS(FAB_NEW(m->n_paths, n_servers, err));
    for (int fills = 0; fills < 2; fills++) { /* places are shifted by two while they are counted, by one then */
        for (uint32_t i = 0; i < q->routes->n_flows; i++) {
            const fab_flow flow = fab_phase_flow(q->phase, i);
            const uint32_t end[] = {server_of(m, flow.src), server_of(m, flow.dst)};
            for (size_t k = 0; k < (end[0] == end[1] ? 1 : 2); k++) {
                if (!fills) {
                    m->first[end[k] + 2]++;
                    continue;
                }
                const size_t at = m->first[end[k] + 1]++;
                m->flow[at] = i;
                m->other[at] = end[1 - k];
                m->path[at] = m->n_paths[end[k]];
                m->n_paths[end[k]] += paths_of(m, i);
            }
        }
        for (uint32_t s = 0; !fills && s < n_servers; s++) {
            m->first[s + 2] += m->first[s + 1];
        }
    }
    return FAB_OK;
}

fab_status server_moves_new(const fab_estimator *const *estimators, size_t n, const fab_baseline *baseline,
                            server_moves **out, fab_error *err) {
    FAB_OWNS_NEW(server_moves_free_owned, server_moves, m, 1, err);
    const fab_fabric *f = estimators[0]->request.fabric;
    m->baseline = baseline;
    m->estimator = estimators[0];
    FAB_PASS(fab_mask_init(f, NULL, &m->nothing, err));
    FAB_PASS(fab_allocate(n, sizeof(fab_estimator_reader *), &m->readers, err));
    for (; m->n_readers < n; m->n_readers++) {
        FAB_PASS(fab_estimator_reader_new(estimators[m->n_readers], &m->readers[m->n_readers], err));
        FAB_PASS(FAB_NEW(m->readers[m->n_readers]->load, f->n_links, err));
    }
    FAB_PASS(fab_reroute_new(baseline, &m->clean, err));
    FAB_PASS(fab_reroute_new(baseline, &m->masked, err));
    FAB_PASS(fab_reroute_lift(m->clean, &m->nothing, NULL, 0, &m->touched, err));
    FAB_PASS(list_flows(m, err));
    FAB_PASS(fab_allocate(f->n_servers, sizeof(moves_block *), &m->blocks, err));
    FAB_PASS(FAB_NEW_ALL(f->n_servers, err, m->place, m->moved, m->now, m->now_place));
    FAB_PASS(FAB_NEW(m->flow_stamp, m->estimator->request.routes->n_flows, err));
    FAB_PASS(FAB_NEW(m->new_gpu, fab_n_gpus(f), err));
    FAB_FILL(m->new_gpu, fab_n_gpus(f), (uint32_t)fab_at);
    return FAB_GIVE(*out, m);
}

static void drop_blocks(server_moves *m) {
    for (uint32_t s = 0; m->blocks != NULL && s < m->estimator->request.fabric->n_servers; s++) {
        for (moves_block *next = m->blocks[s]; next != NULL;) {
            moves_block *block = next;
            next = block->next;
            FAB_FREE_ALL(block->first, block->link, block->latencies.s, block->latencies.n_with, block);
        }
        m->blocks[s] = NULL;
    }
    m->block_bytes = 0;
}

FAB_FREES_AFTER(server_moves_free, server_moves, m) {
    drop_blocks(m);
    FAB_FREE_EACH(fab_estimator_reader_free, m->readers, m->n_readers);
    fab_reroute_free(m->clean);
    fab_reroute_free(m->masked);
    fab_mask_release(&m->nothing);
    fab_state_key_release(&m->mask);
    FAB_FREE_ALL(m->readers, m->first, m->flow, m->other, m->path, m->n_paths, m->blocks, m->place, m->moved, m->now,
                 m->now_place, m->change, m->change_link, m->latencies.s, m->latencies.n_with, m->touched_link,
                 m->flow_stamp, m->new_gpu, m->list, m->list_first, m->list_link);
}

/* Everybody at home. */
static fab_status moves_clear(server_moves *m, fab_error *err) {
    for (size_t i = 0; i < m->n_readers; i++) {
        FAB_PASS(estimator_clear(m->readers[i], err));
    }
    FAB_PASS(estimator_copy_latencies(&m->latencies, &m->estimator->latencies, err));
    FAB_FILL(m->place, m->estimator->request.fabric->n_servers, (uint32_t)fab_at);
    memset(m->flow_stamp, 0, m->estimator->request.routes->n_flows * sizeof *m->flow_stamp);
    m->n_moved = m->n_changes = m->n_links = 0;
    m->stamp = 0;
    m->mask.is_set = false;
    return FAB_OK;
}

/* --- blocks ------------------------------------------------------------------------------------------------------- */

/* The GPUs of a server are at a place, from now on. */
static void put_server(server_moves *m, uint32_t server, uint32_t place) {
    const uint32_t n = m->estimator->request.fabric->gpus_per_server;
    for (uint32_t i = 0; i < n && server * n + i < fab_n_gpus(m->estimator->request.fabric); i++) {
        m->new_gpu[server * n + i] = place * n + i;
    }
}

/* Adds the paths of a flow of a server to its block. */
static fab_status add_flow(server_moves *m, moves_block *block, uint32_t server, size_t at, size_t *capacity,
                           fab_error *err) {
    const uint32_t n = paths_of(m, m->flow[at]);
    uint32_t *first = block->first + m->path[at];
    fab_walked walked = {.n_paths = 0};
    const bool is_away = m->other[at] == block->place && block->place != server;
    FAB_PASS(!is_away ? fab_reroute_walk(m->clean, &m->flow[at], 1, m->new_gpu, &walked, err) : FAB_OK);
    for (uint32_t i = 0; i < n; i++) {
        const size_t n_links = is_away ? 0 : walked.first[i + 1] - walked.first[i];
        const fab_link_id *link = is_away ? NULL : walked.link + walked.first[i];
        FAB_PASS(FAB_GROW(block->link, *capacity, first[i] + n_links, err));
        FAB_COPY(block->link + first[i], link, n_links);
        first[i + 1] = first[i] + (uint32_t)n_links;
        block->is_odd = block->is_odd || (!is_away && n_links == 0);
        FAB_PASS(estimator_count_latency(&block->latencies,
                                         estimator_latency(m->estimator->request.fabric, link, n_links), 1, err));
    }
    return FAB_OK;
}

static fab_status find_block(server_moves *m, uint32_t server, uint32_t place, const moves_block **out,
                             fab_error *err) {
    fab_status status = FAB_OK;
    moves_block *block = m->blocks[server];
    size_t capacity = 0;
    while (block != NULL && block->place != place) {
        block = block->next;
    }
    *out = block;
    if (block != NULL) {
        return FAB_OK;
    }
    put_server(m, server, place);
    FAB_TRY(FAB_NEW(block, 1, err));
    block->place = place;
    FAB_TRY(FAB_NEW(block->first, (size_t)m->n_paths[server] + 1, err));
    for (size_t at = m->first[server]; at < m->first[server + 1]; at++) {
        FAB_TRY(add_flow(m, block, server, at, &capacity, err));
    }
    block->next = m->blocks[server];
    m->blocks[server] = block;
    m->block_bytes += sizeof *block + (m->n_paths[server] + capacity) * sizeof(uint32_t);
    *out = block;
    block = NULL;
done:
    put_server(m, server, server);
    if (block != NULL) {
        FAB_FREE_ALL(block->first, block->link, block->latencies.s, block->latencies.n_with, block);
    }
    return status;
}

static fab_status shift_path(server_moves *m, uint32_t flow, const fab_link_id *link, size_t n, double sign,
                             fab_error *err) {
    for (size_t i = 0; i < m->n_readers; i++) {
        FAB_PASS(estimator_shift(m->readers[i], flow, link, n, sign, err));
    }
    return FAB_OK;
}

/* The links of a path that comes soon: each is somewhere else in memory. */
static void expect_path(const server_moves *m, const moves_block *block, uint32_t path) {
    for (uint32_t i = block->first[path]; i < block->first[path + 1]; i++) {
        __builtin_prefetch(&m->readers[0]->load[block->link[i]], 1);
    }
}

/* All of a server's flows, put on or taken off. */
static fab_status shift_server(server_moves *m, uint32_t server, uint32_t place, int32_t sign, fab_error *err) {
    const moves_block *block = NULL;
    FAB_PASS(find_block(m, server, place, &block, err));
    m->has_odd = m->has_odd || block->is_odd;
    for (size_t at = m->first[server]; at < m->first[server + 1]; at++) {
        const uint32_t *first = block->first + m->path[at];
        for (uint32_t i = 0; i < paths_of(m, m->flow[at]); i++) {
            if (m->path[at] + i + 2 < m->n_paths[server]) {
                expect_path(m, block, m->path[at] + i + 2);
            }
            FAB_PASS(shift_path(m, m->flow[at], block->link + first[i], first[i + 1] - first[i], sign, err));
        }
    }
    for (size_t i = 0; i < block->latencies.n; i++) {
        FAB_PASS(estimator_count_latency(&m->latencies, block->latencies.s[i],
                                         sign * (int32_t)block->latencies.n_with[i], err));
    }
    return FAB_OK;
}

/* --- changes ------------------------------------------------------------------------------------------------------ */

static fab_status apply_change(server_moves *m, const moves_change *x, bool is_on, fab_error *err) {
    const fab_link_id *link = m->change_link + x->first;
    FAB_PASS(estimator_count_latency(&m->latencies, estimator_latency(m->estimator->request.fabric, link, x->n),
                                     is_on ? 1 : -1, err));
    return shift_path(m, x->flow, link, x->n, is_on ? 1 : -1, err);
}

static fab_status add_change(server_moves *m, moves_change x, const fab_link_id *link, fab_error *err) {
    FAB_PASS(FAB_GROW(m->change, m->change_capacity, m->n_changes + 1, err));
    FAB_PASS(FAB_GROW(m->change_link, m->link_capacity, m->n_links + x.n + 1, err));
    x.first = m->n_links;
    for (size_t i = 0; i < x.n; i++) {
        m->change_link[m->n_links++] = link[i];
    }
    m->change[m->n_changes++] = x;
    m->n_lost += x.is_now && x.n == 0;
    return apply_change(m, &x, x.is_on, err);
}

static fab_status undo_changes(server_moves *m, fab_error *err) {
    for (size_t i = 0; i < m->n_changes; i++) {
        FAB_PASS(apply_change(m, &m->change[i], !m->change[i].is_on, err));
    }
    m->n_changes = m->n_links = 0;
    m->n_lost = 0;
    return FAB_OK;
}

/* What the block of a server says of a flow, put on or taken off. */
static fab_status change_block(server_moves *m, uint32_t server, uint32_t place, size_t at, bool is_on,
                               fab_error *err) {
    const moves_block *block = NULL;
    FAB_PASS(find_block(m, server, place, &block, err));
    for (uint32_t i = 0; i < paths_of(m, m->flow[at]); i++) {
        const uint32_t *first = block->first + m->path[at] + i;
        const moves_change x = {.flow = m->flow[at], .is_on = is_on, .n = first[1] - first[0]};
        FAB_PASS(add_change(m, x, block->link + first[0], err));
    }
    return FAB_OK;
}

/* Where a flow is in this state. */
static fab_status change_walked(server_moves *m, const fab_state *state, uint32_t flow, fab_error *err) {
    fab_walked walked;
    FAB_PASS(fab_reroute_walk(m->masked, &flow, 1, state->new_gpu, &walked, err));
    m->flow_stamp[flow] = m->stamp;
    for (uint32_t i = 0; i < walked.n_paths; i++) {
        const moves_change x = {.path = m->estimator->request.routes->flow_first[flow] + i,
                                .flow = flow,
                                .is_on = true,
                                .is_now = true,
                                .n = walked.first[i + 1] - walked.first[i]};
        FAB_PASS(add_change(m, x, walked.link + walked.first[i], err));
    }
    return FAB_OK;
}

/* The place of a flow in the list of another server at its end. */
static size_t place_at(const server_moves *m, uint32_t server, uint32_t flow) {
    size_t at = m->first[server];
    while (m->flow[at] != flow) {
        at++;
    }
    return at;
}

/* A flow of a server that has moved: between two of them it is in both blocks; or a mask changes it. */
static fab_status change_flow(server_moves *m, const fab_state *state, uint32_t server, size_t at, fab_error *err) {
    const uint32_t flow = m->flow[at];
    const uint32_t other = m->other[at];
    const moves_block *block = NULL;
    bool keeps = true;
    if (other != server && m->place[other] != other) {
        if (other < server) {
            return FAB_OK; /* it was looked at from there */
        }
        FAB_PASS(change_block(m, server, m->place[server], at, false, err));
        FAB_PASS(change_block(m, other, m->place[other], place_at(m, other, flow), false, err));
        FAB_PASS(change_block(m, server, server, at, true, err));
        return change_walked(m, state, flow, err);
    }
    if (state->mask->n_links == 0) {
        return FAB_OK;
    }
    FAB_PASS(find_block(m, server, m->place[server], &block, err));
    for (uint32_t i = 0; i < paths_of(m, flow) && keeps; i++) {
        const uint32_t *first = block->first + m->path[at] + i;
        keeps = fab_reroute_keeps(m->masked, block->link + first[0], first[1] - first[0]);
    }
    if (keeps) {
        return FAB_OK;
    }
    FAB_PASS(change_block(m, server, m->place[server], at, false, err));
    return change_walked(m, state, flow, err);
}

/* Another mask than in the last state. */
static fab_status take_mask(server_moves *m, const fab_mask *mask, fab_error *err) {
    const fab_state alone = {.mask = mask};
    const uint64_t before = m->mask.version;
    FAB_PASS(fab_state_key_take(&m->mask, &alone, err));
    if (m->mask.version == before && m->mask_of == mask) {
        return FAB_OK;
    }
    m->mask_of = NULL;
    FAB_PASS(fab_reroute_lift(m->masked, mask, NULL, 0, &m->touched, err));
    const size_t n = m->touched.path_first[m->touched.n_touched];
    FAB_PASS(FAB_GROW(m->touched_link, m->touched_capacity, n + 1, err));
    FAB_COPY(m->touched_link, m->touched.link, n);
    m->mask_of = mask;
    return FAB_OK;
}

/* Paths that the mask changes, with both ends at home. */
static fab_status change_touched(server_moves *m, fab_error *err) {
    const fab_estimator_request *q = &m->estimator->request;
    for (uint32_t i = 0; i < m->touched.n_touched; i++) {
        const uint32_t path = m->touched.path[i];
        const uint32_t number = m->estimator->flow_of[path];
        const fab_flow flow = fab_phase_flow(q->phase, number);
        const uint32_t end[] = {server_of(m, flow.src), server_of(m, flow.dst)};
        if (m->place[end[0]] != end[0] || m->place[end[1]] != end[1]) {
            continue;
        }
        const size_t first = q->routes->path_first[path];
        const moves_change from = {.flow = number, .n = q->routes->path_first[path + 1] - first};
        const moves_change to = {.path = path,
                                 .flow = number,
                                 .is_on = true,
                                 .is_now = true,
                                 .n = m->touched.path_first[i + 1] - m->touched.path_first[i]};
        FAB_PASS(add_change(m, from, q->routes->link + first, err));
        FAB_PASS(add_change(m, to, m->touched_link + m->touched.path_first[i], err));
    }
    return FAB_OK;
}

/* --- a state ------------------------------------------------------------------------------------------------------ */

/* Which servers are where; false: they do not move as a whole. */
static bool read_places(server_moves *m, const fab_state *state) {
    const uint32_t n_each = m->estimator->request.fabric->gpus_per_server;
    bool fits = state->is_out == NULL;
    m->n_now = 0;
    for (size_t i = 0; i < state->n_moved && fits; i++) {
        const uint32_t gpu = state->moved[i];
        const uint32_t server = gpu / n_each;
        const uint32_t place = state->new_gpu[gpu] / n_each;
        if (m->n_now > 0 && m->now[m->n_now - 1] == server) {
            fits = m->now_place[m->n_now - 1] == place;
        } else {
            m->now[m->n_now] = server;
            m->now_place[m->n_now++] = place;
            for (size_t k = 0; k + 1 < m->n_now && fits; k++) { /* they come in order */
                fits = m->now[k] != server;
            }
            for (uint32_t g = server * n_each; g < (server + 1) * n_each && fits; g++) {
                size_t n = 0;
                fits = g < fab_n_gpus(m->estimator->request.fabric) &&
                       (state->new_gpu[g] == place * n_each + g % n_each ||
                        (fab_baseline_flows_of(m->baseline, g, &n) != NULL && n == 0));
            }
        }
        fits = fits && state->new_gpu[gpu] % n_each == gpu % n_each && place != server;
    }
    return fits;
}

/* From the places of the last state to those of this one. */
static fab_status move_servers(server_moves *m, fab_error *err) {
    for (size_t i = 0; i < m->n_moved; i++) { /* where they go home, or elsewhere */
        const uint32_t server = m->moved[i];
        FAB_FIRST(k, m->n_now, m->now[k] == server);
        const uint32_t to = k < m->n_now ? m->now_place[k] : server;
        if (to != m->place[server]) {
            FAB_PASS(shift_server(m, server, m->place[server], -1, err));
            FAB_PASS(shift_server(m, server, to, 1, err));
            m->place[server] = to;
        }
    }
    for (size_t i = 0; i < m->n_now; i++) {
        const uint32_t server = m->now[i];
        if (m->place[server] != m->now_place[i]) {
            FAB_PASS(shift_server(m, server, server, -1, err));
            FAB_PASS(shift_server(m, server, m->now_place[i], 1, err));
            m->place[server] = m->now_place[i];
        }
        m->moved[i] = server;
    }
    m->n_moved = m->n_now;
    return FAB_OK;
}

/* A NIC's cable that is dead, over which paths go that have no other way: that is looked at before anything is. */
static bool moves_cut_off(const server_moves *m, const fab_mask *mask) {
    const fab_router *router = m->estimator->request.router;
    const fab_fabric *f = m->estimator->request.fabric;
    bool same = m->is_open && m->n_now == m->n_moved && f->n_planes == 1 && fab_router_ports(router)->nics_per_gpu == 1;
    bool found = false;
    for (size_t i = 0; i < m->n_now && same; i++) {
        same = m->place[m->now[i]] == m->now_place[i];
    }
    for (uint32_t i = 0; i < mask->n_links && same && !found; i++) {
        const fab_link_id link = mask->link[i];
        found = mask->residual[link] == 0 && fab_class_of(f, link)->kind == FAB_LINK_ACCESS &&
                m->readers[0]->load[link].bits > 0;
    }
    return found;
}

static fab_status follow(server_moves *m, const fab_state *state, fab_error *err) {
    FAB_PASS(!m->is_open || m->stamp == UINT32_MAX ? moves_clear(m, err) : FAB_OK);
    m->is_open = false;
    m->stamp++;
    if (m->block_bytes > BLOCK_BYTES) {
        drop_blocks(m);
    }
    FAB_PASS(undo_changes(m, err));
    FAB_PASS(take_mask(m, state->mask, err));
    FAB_PASS(move_servers(m, err));
    for (size_t i = 0; i < m->n_moved; i++) {
        for (size_t at = m->first[m->moved[i]]; at < m->first[m->moved[i] + 1]; at++) {
            FAB_PASS(change_flow(m, state, m->moved[i], at, err));
        }
    }
    FAB_PASS(change_touched(m, err));
    m->is_open = true;
    return FAB_OK;
}

fab_status server_moves_follow(server_moves *m, const fab_state *state, fab_known *out_answer, fab_error *err) {
    *out_answer = FAB_KNOWN_NOTHING;
    if (m->has_odd || !read_places(m, state)) {
        return FAB_OK;
    }
    if (moves_cut_off(m, state->mask)) {
        *out_answer = FAB_KNOWN_LOST;
        return FAB_OK;
    }
    FAB_PASS(follow(m, state, err));
    if (m->has_odd) {
        return FAB_OK;
    }
    *out_answer = m->n_lost > 0 ? FAB_KNOWN_LOST : FAB_KNOWN_TIME;
    return FAB_OK;
}

fab_estimator_reader *server_moves_reader(server_moves *m, size_t which) {
    return m->readers[which];
}

double server_moves_latency_s(const server_moves *m) {
    return estimator_longest_latency(&m->latencies);
}

/* --- a list ------------------------------------------------------------------------------------------------------- */

static fab_status list_path(server_moves *m, uint32_t path, const fab_link_id *link, size_t n, fab_error *err) {
    FAB_PASS(FAB_GROW(m->list, m->list_capacity, m->n_list + 1, err));
    FAB_PASS(FAB_GROW(m->list_first, m->first_capacity, m->n_list + 2, err));
    FAB_PASS(FAB_GROW(m->list_link, m->list_link_capacity, m->n_list_links + n + 1, err));
    m->list_first[0] = 0;
    for (size_t i = 0; i < n; i++) {
        m->list_link[m->n_list_links++] = link[i];
    }
    m->list[m->n_list++] = path;
    m->list_first[m->n_list] = m->n_list_links;
    return FAB_OK;
}

fab_status server_moves_list(server_moves *m, fab_rerouted *out, fab_error *err) {
    const uint32_t *flow_first = m->estimator->request.routes->flow_first;
    m->n_list = m->n_list_links = 0;
    for (size_t i = 0; i < m->n_moved; i++) {
        const uint32_t server = m->moved[i];
        const moves_block *block = NULL;
        FAB_PASS(find_block(m, server, m->place[server], &block, err));
        for (size_t at = m->first[server]; at < m->first[server + 1]; at++) {
            const uint32_t flow = m->flow[at];
            const uint32_t *first = block->first + m->path[at];
            for (uint32_t k = 0; k < paths_of(m, flow) && m->flow_stamp[flow] != m->stamp; k++) {
                FAB_PASS(list_path(m, flow_first[flow] + k, block->link + first[k], first[k + 1] - first[k], err));
            }
        }
    }
    FAB_EACH(const moves_change, x, m->change, m->n_changes) {
        FAB_PASS(x->is_now ? list_path(m, x->path, m->change_link + x->first, x->n, err) : FAB_OK);
    }
    *out = (fab_rerouted){
        .n_touched = (uint32_t)m->n_list, .path = m->list, .path_first = m->list_first, .link = m->list_link};
    return FAB_OK;
}
