/**
 * @file split.h
 * Splitting over all minimal paths: loads and path figures by propagation over the shortest-path DAG of every
 * destination leaf, 64 destinations at a time.
 */
#ifndef FAB_SPLIT_H
#define FAB_SPLIT_H

#include "fab/fabric.h"
#include "fab/next_hops.h"
#include "fab/offer.h"
#include "fab/status.h"

/** Shortest-path DAGs of all destination leaves, in blocks of 64, switches by distance. Read-only; free with
 * fab_dag_free(). */
typedef struct fab_dag fab_dag;

/** Both are borrowed and must outlive the DAG. Complexity: O(switches * leaves). */
fab_status fab_dag_new(const fab_fabric *fabric, const fab_next_hops *next_hops, fab_dag **out,
                       fab_error *err) FAB_MUST_USE;
void fab_dag_free(fab_dag *dag);

/** Bytes that it keeps. */
size_t fab_dag_memory(const fab_dag *dag);

/** How a switch splits what it holds for destination leaf d over its minimal next hops. */
typedef enum fab_split_rule {
    FAB_SPLIT_EQUAL,    /**< evenly over links */
    FAB_SPLIT_CAPACITY, /**< in proportion to W(l) = min(capacity of l, sum of W over the next hops behind l): what can
                           still get through downstream */
    FAB_SPLIT_WEIGHT,   /**< in proportion to weight[l] * Z(head of l), Z(v) = sum over its next hops of the same,
                           Z(d) = 1: a path's share is the product of the weights of its links */
    FAB_SPLIT_SHARE,    /**< share[d][l], given */
} fab_split_rule;

typedef struct fab_split {
    fab_split_rule rule;
    double *weight; /**< FAB_SPLIT_WEIGHT: shape [n_links], above 0. Owned, as share */
    double *share;  /**< FAB_SPLIT_SHARE: shape [n_leaves][n_links]; sums to 1 over the next hops of a switch */
} fab_split;

void fab_split_release(fab_split *split);

/**
 * Adds what every fabric link carries to out_load.
 * @param[in] amount  Shape [demand->n_pairs]: demand->rate, demand->bytes or any other.
 * @retval FAB_EUNREACHABLE  a demand has no route; the message names the pair of leaves.
 * Complexity: O(sum over destination leaves of the links of their DAG), whatever the number of flows. The same bytes
 * for any machine.
 */
fab_status fab_split_load(const fab_dag *dag, const fab_split *split, const fab_demand *demand, const double *amount,
                          double *out_load, fab_error *err) FAB_MUST_USE;

/** What fab_split_fold() makes of the values x of the links of the paths that a demand is split over. */
typedef enum fab_fold {
    FAB_FOLD_MAX,      /**< the largest x on any of them; 0 at least */
    FAB_FOLD_LONGEST,  /**< the largest sum of x along one */
    FAB_FOLD_SHORTEST, /**< the smallest sum of x along one */
    FAB_FOLD_EXPECTED, /**< mean sum of x along them, by their shares: with x = 1 on one link the share that crosses it
                        */
} fab_fold;

/**
 * @param[in]  x    Shape [n_links], >= 0.
 * @param[out] out  Shape [demand->n_pairs]. Paths without share count for nothing.
 * @retval FAB_EUNREACHABLE  as fab_split_load
 */
fab_status fab_split_fold(const fab_dag *dag, const fab_split *split, fab_fold fold, const double *x,
                          const fab_demand *demand, double *out, fab_error *err) FAB_MUST_USE;

#endif
