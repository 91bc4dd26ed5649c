/* Dinic (1970): level graphs by breadth first search, blocking flows by depth first search. Parallel edges are merged
 * first. */
#include "max_flow.h"

#define NO_LEVEL UINT32_MAX

typedef struct arc {
    uint32_t to, reverse; /* reverse: index of the opposite arc */
    uint64_t room;
} arc;

typedef struct network {
    uint32_t n;
    uint32_t *first;
    arc *arcs;
    uint32_t *level, *queue, *cursor, *path;
} network;

static bool label_levels(network *g, uint32_t source, uint32_t sink) {
    memset(g->level, 0xff, g->n * sizeof *g->level);
    uint32_t head = 0;
    uint32_t tail = 0;
    g->level[source] = 0;
    g->queue[tail++] = source;
    while (head < tail) {
        uint32_t v = g->queue[head++];
        for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++) {
            if (g->arcs[i].room > 0 && g->level[g->arcs[i].to] == NO_LEVEL) {
                g->level[g->arcs[i].to] = g->level[v] + 1;
                g->queue[tail++] = g->arcs[i].to;
            }
        }
    }
    return g->level[sink] != NO_LEVEL;
}

/* Pushes one augmenting path of the level graph; 0 when none is left. */
static uint64_t augment(network *g, uint32_t source, uint32_t sink) {
    uint32_t depth = 0;
    uint32_t v = source;
    while (v != sink) {
        bool advanced = false;
        for (; g->cursor[v] < g->first[v + 1]; g->cursor[v]++) {
            const arc *a = &g->arcs[g->cursor[v]];
            if (a->room > 0 && g->level[a->to] == g->level[v] + 1) {
                g->path[depth++] = g->cursor[v];
                v = a->to;
                advanced = true;
                break;
            }
        }
        if (!advanced) {
            if (depth == 0) {
                return 0;
            }
            g->level[v] = NO_LEVEL; /* dead end */
            const arc *back = &g->arcs[g->path[--depth]];
            v = g->arcs[back->reverse].to;
        }
    }
    uint64_t amount = UINT64_MAX;
    for (uint32_t i = 0; i < depth; i++) {
        amount = g->arcs[g->path[i]].room < amount ? g->arcs[g->path[i]].room : amount;
    }
    for (uint32_t i = 0; i < depth; i++) {
        arc *a = &g->arcs[g->path[i]];
        a->room -= amount;
        g->arcs[a->reverse].room += amount;
    }
    return amount;
}

/* One edge of each pair of nodes, by tail and head. */
static size_t merge(uint64_t (*edges)[2], size_t n) {
    size_t merged = 0;
    FAB_SORT(edges, n, fab_order_u64);
    for (size_t i = 0; i < n; i++) {
        if (merged > 0 && edges[merged - 1][0] == edges[i][0]) {
            edges[merged - 1][1] += edges[i][1];
        } else {
            edges[merged][0] = edges[i][0];
            edges[merged++][1] = edges[i][1];
        }
    }
    return merged;
}

static fab_status make_network(network *g, const uint64_t (*edges)[2], size_t n, fab_error *err) {
    FAB_PASS(FAB_NEW(g->first, (size_t)g->n + 1, err));
    FAB_PASS(FAB_NEW(g->arcs, 2 * n, err));
    FAB_PASS(FAB_NEW_ALL(g->n, err, g->level, g->queue, g->cursor, g->path));
    for (size_t i = 0; i < n; i++) {
        g->first[(edges[i][0] >> 32) + 1]++;
        g->first[(edges[i][0] & UINT32_MAX) + 1]++;
    }
    for (uint32_t v = 0; v < g->n; v++) {
        g->first[v + 1] += g->first[v];
        g->cursor[v] = g->first[v];
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t tail = (uint32_t)(edges[i][0] >> 32);
        uint32_t head = (uint32_t)(edges[i][0] & UINT32_MAX);
        uint32_t a = g->cursor[tail]++;
        uint32_t b = g->cursor[head]++;
        g->arcs[a] = (arc){head, b, edges[i][1]};
        g->arcs[b] = (arc){tail, a, 0};
    }
    return FAB_OK;
}

fab_status fab_flow_edges_add(fab_flow_edges *edges, uint32_t tail, uint32_t head, bool both, double bps,
                              fab_error *err) {
    fab_flow_edge *last = edges->n > 0 ? &edges->list[edges->n - 1] : NULL;
    edges->sum_bps += both ? 2 * bps : bps;
    if (last != NULL && last->tail == tail && last->head == head && last->both == both) {
        last->bps += bps; /* cables of a leaf stand together: most are parallel */
        return FAB_OK;
    }
    return FAB_APPEND(edges->list, edges->n, edges->capacity, err, (fab_flow_edge){tail, head, both, bps});
}

/* Directed edges as tail << 32 | head and a whole number: bit/s by a power of two with which no cut overflows. */
static size_t list_directed(const fab_flow_edges *edges, int shift, uint64_t (*out)[2]) {
    size_t n = 0;
    FAB_EACH(const fab_flow_edge, e, edges->list, edges->n) {
        uint64_t capacity = (uint64_t)(ldexp(e->bps, shift) + 0.5);
        out[n][0] = (uint64_t)e->tail << 32 | e->head;
        out[n++][1] = capacity;
        if (e->both) {
            out[n][0] = (uint64_t)e->head << 32 | e->tail;
            out[n++][1] = capacity;
        }
    }
    return n;
}

/* Edges get the arcs that make_network() gave them: an arc's opposite has room for what is sent. */
static fab_status flow_prove(network *g, const uint64_t (*edges)[2], size_t n, int shift, fab_flow_proof *out,
                             fab_error *err) {
    FAB_PASS(FAB_NEW(out->carries, n + 1, err));
    FAB_PASS(FAB_NEW(out->is_near, g->n, err));
    memcpy(g->cursor, g->first, g->n * sizeof *g->cursor);
    for (size_t i = 0; i < n; i++) {
        uint32_t tail = (uint32_t)(edges[i][0] >> 32);
        uint32_t head = (uint32_t)(edges[i][0] & UINT32_MAX);
        g->cursor[tail]++;
        uint64_t sent = g->arcs[g->cursor[head]++].room;
        if (sent > 0) {
            out->carries[out->n++] = (fab_flow_edge){tail, head, false, ldexp((double)sent, -shift)};
        }
    }
    FAB_FILL(out->is_near, g->n, g->level[fab_at] != NO_LEVEL);
    return FAB_OK;
}

fab_status fab_max_flow(fab_flow_edges *edges, uint32_t source, double *out_bps, fab_flow_proof *proof,
                        fab_error *err) {
    network g = {.n = source + 2};
    FAB_OWNS_MEMBERS(g.first, g.arcs, g.level, g.queue, g.cursor, g.path);
    FAB_OWNED uint64_t(*directed)[2] = NULL;
    uint64_t total = 0;
    int shift = 60 - ilogb(edges->sum_bps + 1);
    FAB_PASS(fab_allocate(2 * edges->n + 1, sizeof *directed, &directed, err));
    size_t n = merge(directed, list_directed(edges, shift, directed));
    free(edges->list);
    *edges = (fab_flow_edges){.n = 0};
    FAB_PASS(make_network(&g, (const uint64_t(*)[2])directed, n, err));
    while (label_levels(&g, source, source + 1)) {
        memcpy(g.cursor, g.first, g.n * sizeof *g.cursor);
        for (uint64_t pushed = augment(&g, source, source + 1); pushed > 0; pushed = augment(&g, source, source + 1)) {
            total += pushed;
        }
    }
    *out_bps = ldexp((double)total, -shift);
    return proof != NULL ? flow_prove(&g, (const uint64_t(*)[2])directed, n, shift, proof, err) : FAB_OK;
}
