#include "oracle_deadlock.h"

#include <stdlib.h>
#include <string.h>

oracle_graph oracle_graph_make(uint32_t n) {
    oracle_graph g = {n, calloc((size_t)n * n + 1, 1)};
    return g;
}

void oracle_graph_free(oracle_graph *graph) {
    free(graph->edge);
    *graph = (oracle_graph){0};
}

static int visit(const oracle_graph *g, uint32_t v, uint8_t *colour) {
    colour[v] = 1;
    for (uint32_t u = 0; u < g->n; u++) {
        if (g->edge[(size_t)v * g->n + u] && (colour[u] == 1 || (colour[u] == 0 && visit(g, u, colour)))) {
            return 1;
        }
    }
    colour[v] = 2;
    return 0;
}

int oracle_has_cycle(const oracle_graph *g) {
    uint8_t *colour = calloc(g->n + 1, 1);
    int found = 0;
    for (uint32_t v = 0; v < g->n && !found; v++) {
        found = colour[v] == 0 && visit(g, v, colour);
    }
    free(colour);
    return found;
}

uint32_t oracle_way_back(const oracle_graph *g, uint32_t v) {
    uint8_t *reached = calloc(g->n + 1, 1); /* in exactly so many steps or fewer */
    uint8_t *next = calloc(g->n + 1, 1);
    uint32_t answer = 0;
    memcpy(reached, g->edge + (size_t)v * g->n, g->n);
    for (uint32_t steps = 1; answer == 0 && steps <= g->n; steps++) {
        answer = reached[v] ? steps : 0;
        memcpy(next, reached, g->n);
        for (uint32_t a = 0; a < g->n; a++) {
            for (uint32_t b = 0; reached[a] && b < g->n; b++) {
                next[b] |= g->edge[(size_t)a * g->n + b];
            }
        }
        memcpy(reached, next, g->n);
    }
    free(reached);
    free(next);
    return answer;
}

static int joins_switches(const fab_fabric *f, fab_link_id l) {
    return f->end[l] >= f->first[FAB_NODE_SWITCH] && f->end[l ^ 1U] >= f->first[FAB_NODE_SWITCH];
}

void oracle_add_routes(const fab_fabric *f, const fab_routes *routes, oracle_graph *g) {
    for (uint32_t path = 0; path < routes->flow_first[routes->n_flows]; path++) {
        for (size_t i = routes->path_first[path] + 1; i < routes->path_first[path + 1]; i++) {
            fab_link_id a = routes->link[i - 1];
            fab_link_id b = routes->link[i];
            if (joins_switches(f, a) && joins_switches(f, b)) {
                g->edge[(size_t)a * g->n + b] = 1;
            }
        }
    }
}

/* Cables to `to`, -1 where there is no way: relaxed until nothing changes. */
static int *distances(const fab_fabric *f, const uint8_t *dead, fab_node_id to) {
    int *d = malloc((f->n_nodes + 1) * sizeof *d);
    for (uint32_t v = 0; v < f->n_nodes; v++) {
        d[v] = v == to ? 0 : -1;
    }
    for (int changed = 1; changed;) {
        changed = 0;
        for (fab_link_id l = 0; l < f->n_links; l++) {
            if (!joins_switches(f, l) || (dead != NULL && dead[l])) {
                continue;
            }
            int way = d[f->end[l ^ 1U]] + 1;
            if (way > 0 && (d[f->end[l]] < 0 || way < d[f->end[l]])) {
                d[f->end[l]] = way;
                changed = 1;
            }
        }
    }
    return d;
}

static void walk(const fab_fabric *f, const uint8_t *dead, const int *d, fab_link_id before, fab_node_id v,
                 uint8_t *seen, oracle_graph *g) {
    for (fab_link_id l = 0; l < f->n_links; l++) {
        if (f->end[l] != v || !joins_switches(f, l) || (dead != NULL && dead[l]) || d[f->end[l ^ 1U]] < 0 ||
            d[f->end[l ^ 1U]] != d[v] - 1) {
            continue;
        }
        if (before != FAB_NONE) {
            g->edge[(size_t)before * g->n + l] = 1;
        }
        if (!seen[l]) {
            seen[l] = 1;
            walk(f, dead, d, l, f->end[l ^ 1U], seen, g);
        }
    }
}

void oracle_add_minimal(const fab_fabric *f, const uint8_t *dead, fab_node_id from, fab_node_id to,
                        oracle_graph *graph) {
    int *d = distances(f, dead, to);
    uint8_t *seen = calloc(f->n_links + 1, 1);
    walk(f, dead, d, FAB_NONE, from, seen, graph);
    free(d);
    free(seen);
}
