/* Distributions over seeds. */
#include "fab/analysis.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* 97.5 % quantile of Student's t: exact to three digits up to 10 degrees of freedom, then Cornish-Fisher's expansion.
 */
static double student_t(size_t degrees) {
    static const double EXACT[] = {0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
    if (degrees < sizeof EXACT / sizeof EXACT[0]) {
        return EXACT[degrees];
    }
    double z = 1.959963985;
    double n = (double)degrees;
    return z + (z * z * z + z) / (4 * n) + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * n * n);
}

/* Smallest sample that at least the fraction q of the samples do not exceed. */
static double quantile(const double *sorted, size_t n, double q) {
    size_t rank = (size_t)ceil(q * (double)n - 1e-9);
    return sorted[rank > 0 ? rank - 1 : 0];
}

void fab_stat_of(double *samples, size_t n, fab_stat *out) {
    qsort(samples, n, sizeof *samples, ascending);
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += samples[i];
    }
    double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        squares += (samples[i] - mean) * (samples[i] - mean);
    }
    *out = (fab_stat){.mean = mean,
                      .p50 = quantile(samples, n, 0.5),
                      .p99 = quantile(samples, n, 0.99),
                      .min = samples[0],
                      .max = samples[n - 1]};
    if (n > 1) {
        out->ci95 = student_t(n - 1) * sqrt(squares / (double)(n - 1) / (double)n);
    }
    if (samples[0] == samples[n - 1]) { /* no rounding where there is nothing to average */
        out->mean = samples[0];
        out->ci95 = 0;
    }
}
