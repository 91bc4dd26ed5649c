/* Whether there is a cycle is igraph's topological sorting. If there is, strongly connected components name the
 * smallest vertex on one, and a breadth-first search from it the nearest vertex with an edge back. */
#include "fab/graph_cycle.h"
#include "igraph_calls.h"

typedef struct edges {
    size_t n;
    const uint32_t *from, *to;
} edges;

/* The smallest vertex that has a way back to itself; there is one. */
static fab_status find_root(const igraph_t *graph, const edges *e, uint32_t *out, fab_error *err) {
    FAB_OWNS(igraph_vector_int_destroy) igraph_vector_int_t component = {0};
    FAB_OWNS(igraph_vector_int_destroy) igraph_vector_int_t size = {0};
    igraph_integer_t root = igraph_vcount(graph);
    TRY_IGRAPH(igraph_vector_int_init(&component, 0));
    TRY_IGRAPH(igraph_vector_int_init(&size, 0));
    TRY_IGRAPH(igraph_connected_components(graph, &component, &size, NULL, IGRAPH_STRONG));
    for (igraph_integer_t v = igraph_vcount(graph); v-- > 0;) {
        root = VECTOR(size)[VECTOR(component)[v]] > 1 ? v : root;
    }
    for (size_t i = 0; i < e->n; i++) {
        root = e->from[i] == e->to[i] && (igraph_integer_t)e->from[i] < root ? (igraph_integer_t)e->from[i] : root;
    }
    FAB_REFUSE_IF(root == igraph_vcount(graph), err, FAB_EINTERNAL, NULL,
                  "igraph finds a cycle but no component that holds it");
    *out = (uint32_t)root;
    return FAB_OK;
}

/* The first vertex of a breadth-first order that has an edge to the root, and the way there. */
static fab_status close_cycle(const igraph_t *graph, const edges *e, uint32_t root, uint32_t **out_cycle,
                              uint32_t *out_length, fab_error *err) {
    FAB_OWNS(igraph_vector_int_destroy) igraph_vector_int_t order = {0};
    FAB_OWNS(igraph_vector_int_destroy) igraph_vector_int_t parent = {0};
    uint32_t length = 1;
    igraph_integer_t last = -1;
    FAB_OWNED_NEW(bool, leads_back, (size_t)igraph_vcount(graph), err);
    for (size_t i = 0; i < e->n; i++) {
        leads_back[e->from[i]] = leads_back[e->from[i]] || e->to[i] == root;
    }
    TRY_IGRAPH(igraph_vector_int_init(&order, 0));
    TRY_IGRAPH(igraph_vector_int_init(&parent, 0));
    TRY_IGRAPH(igraph_bfs_simple(graph, root, IGRAPH_OUT, &order, NULL, &parent));
    for (igraph_integer_t i = 0; last < 0 && i < igraph_vector_int_size(&order); i++) {
        last = leads_back[VECTOR(order)[i]] ? VECTOR(order)[i] : -1;
    }
    for (igraph_integer_t v = last; v >= 0 && v != (igraph_integer_t)root; v = VECTOR(parent)[v]) {
        length++;
    }
    FAB_OWNED_NEW(uint32_t, cycle, length, err);
    for (uint32_t i = length; i-- > 0; last = VECTOR(parent)[last]) {
        FAB_REFUSE_IF(last < 0, err, FAB_EINTERNAL, NULL, "igraph finds vertex %u on a cycle but no way back to it",
                      root);
        cycle[i] = (uint32_t)last;
    }
    *out_length = length;
    return FAB_GIVE(*out_cycle, cycle);
}

fab_status fab_graph_cycle(uint32_t n_vertices, size_t n_edges, const uint32_t *from, const uint32_t *to,
                           uint32_t **out_cycle, uint32_t *out_length, fab_error *err) {
    const edges e = {n_edges, from, to};
    FAB_OWNS(fab_igraph_close) fab_igraph graph = {.is_made = false};
    igraph_bool_t is_free = true;
    uint32_t root = 0;
    FAB_PASS(fab_igraph_open(n_vertices, n_edges, from, to, 1, true, &graph, err));
    TRY_IGRAPH(igraph_is_dag(&graph.of, &is_free));
    if (is_free) {
        *out_cycle = NULL;
        *out_length = 0;
        return FAB_OK;
    }
    FAB_PASS(find_root(&graph.of, &e, &root, err));
    return close_cycle(&graph.of, &e, root, out_cycle, out_length, err);
}
