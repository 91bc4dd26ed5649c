/**
 * Which vertices of a graph with colours are alike: permutations that map it onto itself, by BLISS. One thread at a
 * time, as graph_parts.h.
 */
#pragma once

#include "fab/graph_parts.h"

/** Permutations, by what each moves. Zeroed: none. */
typedef struct fab_permutations {
    size_t n;        /**< permutations */
    size_t *first;   /**< shape [n + 1]: what permutation p moves is moved[first[p] ... ) */
    uint32_t *moved; /**< ascending within a permutation */
    uint32_t *to;    /**< where each of those goes */
    size_t first_capacity, moved_capacity, to_capacity;
} fab_permutations;

void fab_permutations_release(fab_permutations *permutations);

/** Begins another permutation; fab_permutation_add() adds what it moves, ascending. */
FAB_STATUS fab_permutation_begin(fab_permutations *permutations, fab_error *err);
FAB_STATUS fab_permutation_add(fab_permutations *permutations, uint32_t from, uint32_t to, fab_error *err);

/**
 * Permutations of which all automorphisms of an undirected graph are products: each keeps colours, and edges as a set.
 * Every one of them was checked against the edges after it was found.
 * @param[in]  edges   Without repetitions and loops.
 * @param[in]  colour  Shape [n_vertices].
 * @param[out] out     Release with fab_permutations_release(); the same for equal inputs.
 * @retval FAB_ENOMEM, FAB_EINTERNAL  igraph failed, or what it found is none
 * Complexity: that of BLISS, nearly linear on fabrics; O(vertices) memory for each permutation.
 */
FAB_STATUS fab_graph_symmetries(uint32_t n_vertices, const fab_edges *edges, const uint32_t *colour,
                                fab_permutations *out, fab_error *err);
