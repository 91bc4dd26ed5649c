/**
 * What igraph says of a graph: its parts, what the loss of a vertex cuts off, its diameter, a minimum cut, and how it
 * is drawn. One thread at a time: igraph 0.10.2 keeps global state. FAB_ENOMEM and FAB_EINTERNAL of any function:
 * igraph failed; the message is igraph's.
 */
#pragma once

#include "fab/base.h"

/** Edges of a graph whose vertices are numbers. Zeroed: none. */
typedef struct fab_edges {
    uint32_t *ends; /**< shape [2 * n]: tail, head */
    size_t n, capacity;
} fab_edges;

FAB_STATUS fab_edges_add(fab_edges *edges, uint32_t tail, uint32_t head, fab_error *err);
void fab_edges_release(fab_edges *edges);

/**
 * Which vertices edges of either direction join.
 * @param[out] out_first  Shape [n_vertices]: the smallest vertex of its part.
 * Complexity: O(vertices + edges).
 */
FAB_STATUS fab_graph_components(uint32_t n_vertices, const fab_edges *edges, uint32_t *out_first, fab_error *err);

/**
 * What the loss of each vertex would cut off from the root of its part, which is its smallest vertex with a weight;
 * edges are taken in both directions.
 * @param[in]  weight    Shape [n_vertices].
 * @param[out] out_root  Shape [n_vertices]: UINT32_MAX in a part without any weight.
 * @param[out] out_cut   Shape [n_vertices]: sum of the weights that are cut off; 0 of a root.
 * Complexity: O(vertices + edges).
 */
FAB_STATUS fab_graph_cuts(uint32_t n_vertices, const fab_edges *edges, const uint32_t *weight, uint32_t *out_root,
                          uint32_t *out_cut, fab_error *err);

/** Longest shortest path within a part, along directed edges. Complexity: O(vertices * edges). */
FAB_STATUS fab_graph_diameter(uint32_t n_vertices, const fab_edges *edges, uint32_t *out, fab_error *err);

/**
 * Least capacity of directed edges that part the source from the sink, by push-relabel.
 * @param[in] capacity  Shape [edges->n].
 */
FAB_STATUS fab_graph_min_cut(uint32_t n_vertices, const fab_edges *edges, const double *capacity, uint32_t source,
                             uint32_t sink, double *out, fab_error *err);

/**
 * Places the vertices in a plane so that those that are joined stand close: by Kamada and Kawai, of more than 400
 * vertices by Fruchterman and Reingold, from a circle. The same for equal inputs.
 * @param[out] out  Shape [n_vertices]: x, y.
 */
FAB_STATUS fab_graph_places(uint32_t n_vertices, const fab_edges *edges, double (*out)[2], fab_error *err);
