/* Minimum cut between two halves of the servers, as a maximum flow (Dinic 1970) over switches: parallel cables are
 * merged, and the NICs of a leaf are one source or sink edge with their summed rate. Rates are whole bit/s, so the cut
 * is exact. */
#include "fab/analysis.h"
#include "fab/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct arc {
    uint32_t to, reverse; /* reverse: index of the opposite arc */
    uint64_t room;
} arc;

typedef struct network {
    uint32_t n; /* switches, then source, sink */
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
            if (g->arcs[i].room > 0 && g->level[g->arcs[i].to] == FAB_NONE) {
                g->level[g->arcs[i].to] = g->level[v] + 1;
                g->queue[tail++] = g->arcs[i].to;
            }
        }
    }
    return g->level[sink] != FAB_NONE;
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
            g->level[v] = FAB_NONE; /* dead end */
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

static void release(network *g) {
    free(g->first);
    free(g->arcs);
    free(g->level);
    free(g->queue);
    free(g->cursor);
    free(g->path);
}

static int by_nodes(const void *a, const void *b) {
    uint64_t x = ((const uint64_t *)a)[0];
    uint64_t y = ((const uint64_t *)b)[0];
    return (x > y) - (x < y);
}

/* Directed capacities as (tail << 32 | head, bit/s): source and sink edges from the NICs, then switch links. */
static size_t list_edges(const fab_fabric *f, int shift, uint64_t (*out)[2]) {
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t source = fab_n_switches(f);
    uint32_t sink = source + 1;
    uint32_t half = fab_n_whole_servers(f) / 2 * f->nics_per_server;
    uint32_t behind = fab_n_whole_servers(f) * f->nics_per_server;
    size_t n = 0;
    for (uint32_t c = 0; c < f->n_cables; c++) {
        const fab_link_class *k = &f->classes[f->cable_class[c]];
        uint64_t capacity = (uint64_t)(ldexp(k->capacity_bps, shift) + 0.5);
        uint64_t upper = f->end[2 * (size_t)c + 1] - base;
        if (k->kind == FAB_LINK_ACCESS) {
            uint32_t nic = f->end[2 * (size_t)c] - f->first[FAB_NODE_NIC];
            bool in_first = nic < half;
            if (nic >= behind) {
                continue;
            }
            out[n][0] = in_first ? (uint64_t)source << 32 | upper : upper << 32 | sink;
            out[n++][1] = capacity;
        } else if (k->kind == FAB_LINK_FABRIC) {
            uint64_t lower = f->end[2 * (size_t)c] - base;
            out[n][0] = lower << 32 | upper;
            out[n++][1] = capacity;
            out[n][0] = upper << 32 | lower;
            out[n++][1] = capacity;
        }
    }
    qsort(out, n, sizeof *out, by_nodes);
    size_t merged = 0;
    for (size_t i = 0; i < n; i++) {
        if (merged > 0 && out[merged - 1][0] == out[i][0]) {
            out[merged - 1][1] += out[i][1];
        } else {
            out[merged][0] = out[i][0];
            out[merged++][1] = out[i][1];
        }
    }
    return merged;
}

static int scale_of(const fab_fabric *f) {
    double sum = 1;
    for (uint32_t c = 0; c < f->n_cables; c++) {
        sum += 2 * f->classes[f->cable_class[c]].capacity_bps;
    }
    return 60 - ilogb(sum);
}

static fab_status make_network(const fab_fabric *f, int shift, network *g, fab_error *err) {
    fab_status status = FAB_OK;
    uint64_t(*edges)[2] = NULL;
    g->n = fab_n_switches(f) + 2;
    FAB_TRY(fab_allocate((size_t)f->n_cables * 2, sizeof *edges, &edges, err));
    size_t n = list_edges(f, shift, edges);
    FAB_TRY(FAB_NEW(g->first, (size_t)g->n + 1, err));
    FAB_TRY(FAB_NEW(g->arcs, 2 * n, err));
    FAB_TRY(FAB_NEW(g->level, g->n, err));
    FAB_TRY(FAB_NEW(g->queue, g->n, err));
    FAB_TRY(FAB_NEW(g->cursor, g->n, err));
    FAB_TRY(FAB_NEW(g->path, g->n, err));
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
done:
    free(edges);
    return status;
}

fab_status fab_bisection(const fab_fabric *f, double *out_bps, fab_error *err) {
    fab_status status = FAB_OK;
    network g = {0};
    uint64_t total = 0;
    int shift = scale_of(f);
    FAB_TRY(make_network(f, shift, &g, err));
    uint32_t source = g.n - 2;
    uint32_t sink = g.n - 1;
    while (label_levels(&g, source, sink)) {
        memcpy(g.cursor, g.first, g.n * sizeof *g.cursor);
        for (uint64_t pushed = augment(&g, source, sink); pushed > 0; pushed = augment(&g, source, sink)) {
            total += pushed;
        }
    }
    *out_bps = ldexp((double)total, -shift);
done:
    release(&g);
    return status;
}

double fab_scaleup_bisection(const fab_fabric_spec *spec, const fab_counts *counts) {
    if (counts->domains == 0 || spec->domain == 0) {
        return 0;
    }
    uint64_t rest = counts->gpus % spec->domain; /* spare servers may leave the last domain partly filled */
    uint64_t half = counts->gpus / spec->domain * (spec->domain / 2) + rest / 2;
    return (double)half * spec->domain_bps;
}
