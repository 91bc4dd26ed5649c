/** A cycle of any directed graph, by igraph. */
#pragma once

#include "fab/base.h"

/**
 * Finds a shortest of the cycles through the smallest vertex that lies on one. The same for the same edges in any
 * order, but for the choice among equally short ones. One thread at a time: igraph 0.10.2 keeps global state.
 * @param[in]  from, to    Shape [n_edges]: ends of the edges, below n_vertices. May be NULL without edges.
 * @param[out] out_cycle   Shape [*out_length]: vertices in the order of the edges, the smallest first; the last one has
 *                         an edge to it. NULL where there is no cycle. Free with free(). Written on success only.
 * @param[out] out_length  0: no cycle. 1: an edge from the vertex to itself.
 * @retval FAB_ENOMEM, FAB_EINTERNAL  igraph failed; the message is igraph's
 * Complexity: O(vertices + edges), about 60 bytes an edge.
 */
FAB_STATUS fab_graph_cycle(uint32_t n_vertices, size_t n_edges, const uint32_t *from, const uint32_t *to,
                           uint32_t **out_cycle, uint32_t *out_length, fab_error *err);
