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

/** About how many samples tell a difference from 0 whose 95 % interval n of them leave this wide, as that shrinks with
 * their root; 0: not known, or more than FAB_STAT_MOST. */
#define FAB_STAT_MOST 10000
uint64_t fab_stat_needed(uint64_t n, double difference, double ci95);

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
