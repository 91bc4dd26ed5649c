/** The links between one pair of leaves and what a split sends over each: pair by pair, where loads alone do not do. */
#pragma once

#include "fab/split.h"

/** Walks pairs of leaves; reuses its memory. One thread at a time. */
typedef struct fab_pair_walk fab_pair_walk;

/** Links that a pair's traffic crosses, each once; valid until the next pair. */
typedef struct fab_pair_links {
    uint32_t n;
    const fab_link_id *link; /**< shape [n] */
    const double *share;     /**< shape [n]: part of the pair's amount, above 0 */
} fab_pair_links;

/** Everything is borrowed and must outlive the walk. */
FAB_STATUS fab_pair_walk_new(const fab_fabric *fabric, const fab_next_hops *next_hops, const fab_split *split,
                             fab_pair_walk **out, fab_error *err);
void fab_pair_walk_free(fab_pair_walk *walk);
FAB_OWNER(fab_pair_walk, fab_pair_walk_free)

/**
 * From now on links that are alike are taken as one: the lowest, with the share of all of them together.
 * @param[in] classes  Of a DAG of the walk's next hops. Borrowed; NULL: every link for itself. The rule of the split is
 *                   FAB_SPLIT_EQUAL or FAB_SPLIT_CAPACITY.
 */
void fab_pair_walk_by_class(fab_pair_walk *walk, const fab_switch_classes *classes);

/**
 * The pair of leaf columns src != dst. Pairs of one destination are best asked for one after the other.
 * @retval FAB_EUNREACHABLE  there is no route; the message names the leaves.
 * Complexity: O(links of the pair's shortest-path DAG), by class those of one switch per class; where shares depend on
 * what lies downstream, also once per destination.
 */
FAB_STATUS fab_pair_walk_get(fab_pair_walk *walk, uint32_t src, uint32_t dst, fab_pair_links *out, fab_error *err);
