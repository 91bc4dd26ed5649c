/**
 * Splitting over all minimal paths: loads and path figures by propagation over the shortest-path DAG of every
 * destination leaf, 64 destinations at a time.
 */
#pragma once

#include "fab/offer.h"

/** Shortest-path DAGs of all destination leaves, in blocks of 64, switches by distance; of switches that are alike
 * (switch_classes.h) only one. Read-only; free with fab_dag_free(). */
typedef struct fab_dag fab_dag;

/**
 * Both are borrowed and must outlive the DAG.
 * @retval FAB_EUNSUPPORTED  more than 2^32 - 1 entries: switch, group of next hops and the leaves that it serves at one
 *                           distance, 64 leaves at a time
 * Complexity: O(switches * leaves / 64 + entries * distances + next hops of all groups), classes for switches where
 * there are classes.
 */
FAB_STATUS fab_dag_new(const fab_fabric *fabric, const fab_next_hops *next_hops, fab_dag **out, fab_error *err);
void fab_dag_free(fab_dag *dag);
FAB_OWNER(fab_dag, fab_dag_free)

/** Its switch classes; NULL: none, or no DAG. Borrowed. */
const fab_switch_classes *fab_dag_classes(const fab_dag *dag);

/** How switches split what they hold: fab_router_split(). */
void fab_split_free(fab_split *split);
FAB_OWNER(fab_split, fab_split_free)

/** Evenly over all minimal next hops. */
const fab_split *fab_split_even(void);

/** Whether shares follow from capacities, or from nothing: links that are alike have the same. */
bool fab_split_is_by_class(const fab_split *split);

/**
 * Adds what every fabric link carries to out_load.
 * @param[in] amount  Shape [demand->n_pairs], >= 0: demand->rate, demand->bytes or any other. What is 0 needs no route.
 * @retval FAB_EUNREACHABLE  a demand has no route; the message names the pair of leaves.
 * @retval FAB_EINPUT  a weight is not above 0 or too small beside the largest, or shares do not add up to 1 where
 *                     something is held
 * @retval FAB_EUNSUPPORTED  Z spreads too far
 * Complexity: O(sum over destination leaves of the links of their DAG) at worst, less where next hops are shared and
 * where little is held, whatever the number of flows; a row of 64 doubles per switch, or two. Of switches that are
 * alike one is looked at, unless weights of alike links differ or shares are given. The same bytes on any machine.
 * Threads: concurrent calls on one DAG are safe.
 */
FAB_STATUS fab_split_load(const fab_dag *dag, const fab_split *split, const fab_demand *demand, const double *amount,
                          double *out_load, fab_error *err);

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
 * @param[out] out  Shape [demand->n_pairs]. Paths without share count for nothing. Of no meaning after a failure.
 * Fails as fab_split_load(), for every pair; weights and shares matter where paths without share would
 * (FAB_SPLIT_SHARE) and for FAB_FOLD_EXPECTED. Of switches that are alike one is looked at, as in fab_split_load();
 * for the longest and the shortest sum only if x is the same on alike links.
 */
FAB_STATUS fab_split_fold(const fab_dag *dag, const fab_split *split, fab_fold fold, const double *x,
                          const fab_demand *demand, double *out, fab_error *err);
