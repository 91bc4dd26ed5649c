#include "fab/graph_parts.h"
#include "igraph_calls.h"

#define NONE UINT32_MAX

fab_status fab_edges_add(fab_edges *edges, uint32_t tail, uint32_t head, fab_error *err) {
    FAB_PASS(FAB_GROW(edges->ends, edges->capacity, 2 * (edges->n + 1), err));
    edges->ends[2 * edges->n] = tail;
    edges->ends[2 * edges->n + 1] = head;
    edges->n++;
    return FAB_OK;
}

FAB_RELEASES(fab_edges_release, fab_edges, ends);

static fab_status graph_open(uint32_t n_vertices, const fab_edges *edges, bool directed, fab_igraph *out,
                             fab_error *err) {
    return fab_igraph_open(n_vertices, edges->n, edges->ends, edges->n > 0 ? edges->ends + 1 : NULL, 2, directed, out,
                           err);
}

fab_status fab_graph_components(uint32_t n_vertices, const fab_edges *edges, uint32_t *out_first, fab_error *err) {
    FAB_OWNS(fab_igraph_close) fab_igraph g = {.is_made = false};
    FAB_OWNS(igraph_vector_int_destroy) igraph_vector_int_t part = {0};
    FAB_PASS(graph_open(n_vertices, edges, false, &g, err));
    FAB_OWNED_NEW(uint32_t, first, n_vertices, err); /* [part] */
    memset(first, 0xff, n_vertices * sizeof *first);
    TRY_IGRAPH(igraph_vector_int_init(&part, 0));
    TRY_IGRAPH(igraph_connected_components(&g.of, &part, NULL, NULL, IGRAPH_WEAK));
    for (uint32_t v = 0; v < n_vertices; v++) {
        uint32_t *f = &first[VECTOR(part)[v]];
        *f = *f == NONE ? v : *f;
        out_first[v] = *f;
    }
    return FAB_OK;
}

/* The block-cut tree: vertex n_vertices + b is joined to the vertices of the b-th block of g. */
static fab_status list_blocks(uint32_t n_vertices, const fab_igraph *g, fab_edges *out, uint32_t *out_n,
                              fab_error *err) {
    FAB_OWNS(igraph_vector_int_list_destroy) igraph_vector_int_list_t blocks = {0};
    TRY_IGRAPH(igraph_vector_int_list_init(&blocks, 0));
    TRY_IGRAPH(igraph_biconnected_components(&g->of, NULL, NULL, NULL, &blocks, NULL));
    *out_n = (uint32_t)igraph_vector_int_list_size(&blocks);
    for (uint32_t b = 0; b < *out_n; b++) {
        const igraph_vector_int_t *block = igraph_vector_int_list_get_ptr(&blocks, (igraph_integer_t)b);
        for (igraph_integer_t i = 0; i < igraph_vector_int_size(block); i++) {
            FAB_PASS(fab_edges_add(out, n_vertices + b, (uint32_t)VECTOR(*block)[i], err));
        }
    }
    return FAB_OK;
}

/* The first vertex of each part that has a weight. */
static fab_status find_roots(uint32_t n_vertices, const fab_edges *edges, const uint32_t *weight, uint32_t *out_root,
                             fab_error *err) {
    FAB_OWNED_NEW(uint32_t, root, n_vertices, err); /* of a part, by its smallest vertex */
    FAB_PASS(fab_graph_components(n_vertices, edges, out_root, err));
    memset(root, 0xff, n_vertices * sizeof *root);
    for (uint32_t v = n_vertices; v-- > 0;) {
        root[out_root[v]] = weight[v] > 0 ? v : root[out_root[v]];
    }
    FAB_FILL(out_root, n_vertices, root[out_root[fab_at]]);
    return FAB_OK;
}

/* Sums weights up the block-cut trees, which one more vertex holds together by their roots. */
static fab_status sum_cuts(uint32_t n_vertices, uint32_t n_all, const fab_edges *joints, const uint32_t *weight,
                           uint32_t *out_cut, fab_error *err) {
    FAB_OWNS(fab_igraph_close) fab_igraph tree = {.is_made = false};
    FAB_OWNS(igraph_vector_int_destroy) igraph_vector_int_t order = {0};
    FAB_OWNS(igraph_vector_int_destroy) igraph_vector_int_t parents = {0};
    FAB_PASS(graph_open(n_all, joints, false, &tree, err));
    FAB_OWNED_NEW(uint32_t, sum, n_all, err);
    TRY_IGRAPH(igraph_vector_int_init(&order, 0));
    TRY_IGRAPH(igraph_vector_int_init(&parents, 0));
    TRY_IGRAPH(igraph_bfs_simple(&tree.of, n_all - 1, IGRAPH_ALL, &order, NULL, &parents));
    memcpy(sum, weight, n_vertices * sizeof *sum);
    for (igraph_integer_t i = igraph_vector_int_size(&order); i-- > 1;) {
        igraph_integer_t v = VECTOR(order)[i];
        igraph_integer_t up = VECTOR(parents)[v];
        sum[up] += sum[v];
        if (up < (igraph_integer_t)n_vertices && VECTOR(parents)[up] != (igraph_integer_t)n_all - 1) {
            out_cut[up] += sum[v];
        }
    }
    return FAB_OK;
}

fab_status fab_graph_cuts(uint32_t n_vertices, const fab_edges *edges, const uint32_t *weight, uint32_t *out_root,
                          uint32_t *out_cut, fab_error *err) {
    FAB_OWNS(fab_igraph_close) fab_igraph g = {.is_made = false};
    FAB_OWNS(fab_edges_release) fab_edges joints = {.n = 0};
    uint32_t n_blocks = 0;
    FAB_PASS(graph_open(n_vertices, edges, false, &g, err));
    FAB_PASS(list_blocks(n_vertices, &g, &joints, &n_blocks, err));
    FAB_PASS(find_roots(n_vertices, edges, weight, out_root, err));
    for (uint32_t v = 0; v < n_vertices; v++) {
        out_cut[v] = 0;
        if (out_root[v] == v) {
            FAB_PASS(fab_edges_add(&joints, n_vertices + n_blocks, v, err));
        }
    }
    return sum_cuts(n_vertices, n_vertices + n_blocks + 1, &joints, weight, out_cut, err);
}

fab_status fab_graph_diameter(uint32_t n_vertices, const fab_edges *edges, uint32_t *out, fab_error *err) {
    FAB_OWNS(fab_igraph_close) fab_igraph g = {.is_made = false};
    igraph_real_t longest = 0;
    FAB_PASS(graph_open(n_vertices, edges, true, &g, err));
    TRY_IGRAPH(igraph_diameter(&g.of, &longest, NULL, NULL, NULL, NULL, IGRAPH_DIRECTED, /* unconn= */ true));
    *out = (uint32_t)longest;
    return FAB_OK;
}

fab_status fab_graph_min_cut(uint32_t n_vertices, const fab_edges *edges, const double *capacity, uint32_t source,
                             uint32_t sink, double *out, fab_error *err) {
    FAB_OWNS(fab_igraph_close) fab_igraph g = {.is_made = false};
    igraph_vector_t of_edge;
    FAB_PASS(graph_open(n_vertices, edges, true, &g, err));
    (void)igraph_vector_view(&of_edge, capacity, (igraph_integer_t)edges->n);
    TRY_IGRAPH(igraph_maxflow_value(&g.of, out, (igraph_integer_t)source, (igraph_integer_t)sink, &of_edge, NULL));
    return FAB_OK;
}

#define MOST_BY_DISTANCE 400 /* vertices: Kamada-Kawai keeps all distances */

fab_status fab_graph_places(uint32_t n_vertices, const fab_edges *edges, double (*out)[2], fab_error *err) {
    FAB_OWNS(fab_igraph_close) fab_igraph g = {.is_made = false};
    FAB_OWNS(igraph_matrix_destroy) igraph_matrix_t at = {0};
    FAB_PASS(graph_open(n_vertices, edges, false, &g, err));
    TRY_IGRAPH(igraph_simplify(&g.of, true, true, NULL));
    TRY_IGRAPH(igraph_matrix_init(&at, 0, 0));
    TRY_IGRAPH(igraph_rng_seed(igraph_rng_default(), 1));
    TRY_IGRAPH(igraph_layout_circle(&g.of, &at, igraph_vss_all()));
    if (n_vertices <= MOST_BY_DISTANCE) {
        TRY_IGRAPH(igraph_layout_kamada_kawai(&g.of, &at, true, 50 * (igraph_integer_t)n_vertices, 0, n_vertices, NULL,
                                              NULL, NULL, NULL, NULL));
    } else {
        TRY_IGRAPH(igraph_layout_fruchterman_reingold(&g.of, &at, true, 100, sqrt(n_vertices), IGRAPH_LAYOUT_GRID, NULL,
                                                      NULL, NULL, NULL, NULL));
    }
    for (uint32_t v = 0; v < n_vertices; v++) {
        out[v][0] = MATRIX(at, v, 0);
        out[v][1] = MATRIX(at, v, 1);
    }
    return FAB_OK;
}
