/** Links that every flow under a split uses alike, taken as one: a symmetric fabric has few of them. */
#pragma once

#include "measure.h"

/** What the pairs of a demand send over classes of links; a class goes by its link of lowest number. */
typedef struct fab_link_classes {
    bool known;      /**< false: too much to list */
    uint64_t *first; /**< shape [n_pairs + 1] */
    uint32_t *link;  /**< shape [first[n_pairs]] */
    double *share;   /**< the same shape: of a pair's amount, over all links of the class together */
} fab_link_classes;

/**
 * Two links are of one class when they have the same capacity and every pair sends the same share over both (to
 * 2^-40; two that differ are taken for the same with a chance below 2^-60).
 * @param[in,out] capacity  Shape [n_links]: of a class's first link becomes that of all its links together.
 * Complexity: two walks over the shortest-path DAGs of all pairs, of switches that are alike over one.
 */
FAB_STATUS fab_link_classes_find(const fab_prepared_phase *prepared, const fab_router *router, const fab_split *split,
                                 double *capacity, fab_link_classes *out, fab_error *err);
void fab_link_classes_release(fab_link_classes *classes);
