/** Distributions of samples. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Distribution over seeds. With one seed all figures are that value and ci95 is 0. */
typedef struct fab_stat {
    double mean;
    double ci95; /**< half width of the 95 % confidence interval of the mean (Student's t) */
    double p50, p99, min, max;
} fab_stat;

/** Distribution of n > 0 samples; sorts them. */
void fab_stat_of(double *samples, size_t n, fab_stat *out);

/** About how many samples tell a difference from 0 whose 95 % interval n of them leave this wide: it shrinks with their
 * root and Student's t; n = 1: how many times as many. 0: not known, or more than FAB_STAT_MOST. The difference is one
 * that matters, and not what these samples happen to show. */
#define FAB_STAT_MOST 10000
uint64_t fab_stat_needed(uint64_t n, double difference, double ci95);

#define FAB_STAT_PARTS 32 /**< most of fab_parts */

/** A mean over seeds or histories, and how its samples lie about it. Those of two means are pairs: what the same seed
 * or history does to both says nothing of which is less. */
typedef struct fab_parts {
    double ci95_ratio;            /**< half width of the 95 % interval of the mean, over the mean; 0: no chance in it */
    size_t n;                     /**< below 2: no pairs are known */
    double ratio[FAB_STAT_PARTS]; /**< [k]: mean of samples k, k + n, ... over that of all */
} fab_parts;

/**
 * Half width of the 95 % interval of the mean, over it, where samples k, k + n_draws, ... have the luck of one draw in
 * common; of one draw, or where parts do not tell draws apart, that of samples alone.
 */
double fab_parts_ci95(const fab_parts *parts, size_t n_draws);

/** Parts of n > 0 samples in their order, with a mean that is not 0. */
void fab_parts_of(const double *samples, size_t n, fab_parts *out);

/**
 * Half width of the 95 % interval of the ratio of two figures, each a time over the part of it that is kept: by the
 * differences of pairs (Student's t), to first order; where one has chance in it and no parts that pair, by the
 * intervals of the means as if these had no seed in common.
 * @param[in] kept  Of each; both NULL: all is kept.
 */
double fab_pairs_ci95(const fab_parts *a, const fab_parts *a_kept, const fab_parts *b, const fab_parts *b_kept);

/**
 * Quantiles of n > 0 samples, by nearest rank as those of fab_stat_of(): the smallest sample that at least the fraction
 * q of the samples do not exceed; `falling`: the largest that at least that fraction reach. Reorders the samples.
 * @param[in]  q    Shape [n_q], 0 to 1.
 * @param[out] out  Shape [n_q].
 * Complexity: O(n) per quantile, expected.
 */
void fab_quantiles(double *samples, size_t n, bool falling, const double *q, size_t n_q, double *out);

/** 97.5 % quantile of Student's t. */
double fab_student_t(size_t degrees);
