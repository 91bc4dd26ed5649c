/** Inside of fab_split, for engines, bounds and tables. */
#pragma once

#include "fab/split.h"

/** How a switch splits what it holds for destination leaf d over its minimal next hops. */
typedef enum fab_split_rule {
    FAB_SPLIT_EQUAL,    /**< evenly over links */
    FAB_SPLIT_CAPACITY, /**< in proportion to W(l) = min(capacity of l, its part of the sum of W over the next hops
                           behind l): what can still get through downstream. Cables to the same switch share what is
                           behind them by their capacities */
    FAB_SPLIT_WEIGHT,   /**< in proportion to weight[l] * Z(head of l), Z(v) = sum over its next hops of the same,
                           Z(d) = 1: a path's share is the product of the weights of its links. Weights may span 100
                           orders of magnitude, Z of the switches at one distance from a leaf 150 */
    FAB_SPLIT_SHARE,    /**< share[d][l], given; for small fabrics */
} fab_split_rule;

struct fab_split {
    fab_split_rule rule;
    double *weight; /**< FAB_SPLIT_WEIGHT: shape [n_links], above 0. Owned, as share */
    double *share;  /**< FAB_SPLIT_SHARE: shape [n_leaves][n_links]; sums to 1 over the next hops of a switch */
};

/** Of one in place. */
void fab_split_release(fab_split *split);

/** Products of weights span more than a double: mantissa * 2^exponent, the mantissa 0 or in [0.5, 1). */
typedef struct fab_wide {
    double mantissa;
    long exponent;
} fab_wide;

static inline fab_wide fab_wide_of(double x, long exponent) {
    int e = 0;
    double mantissa = frexp(x, &e);
    return (fab_wide){mantissa, x > 0 ? exponent + e : 0};
}
