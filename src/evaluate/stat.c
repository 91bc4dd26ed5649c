/* Distributions over seeds. */
#include "fab/stat.h"
#include "fab/base.h"
#include "fab/rng.h"

/* Exact to three digits up to 10 degrees of freedom, then Cornish-Fisher's expansion. */
double fab_student_t(size_t degrees) {
    static const double EXACT[] = {0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
    if (degrees < FAB_N_OF(EXACT)) {
        return EXACT[degrees];
    }
    double z = 1.959963985;
    double n = (double)degrees;
    return z + (z * z * z + z) / (4 * n) + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * n * n);
}

/* Index, among n sorted samples, of the smallest that at least the fraction q of the samples do not exceed. */
static size_t nearest_rank(size_t n, double q) {
    size_t rank = (size_t)ceil(q * (double)n - 1e-9);
    return rank > 0 ? rank - 1 : 0;
}

static double quantile(const double *sorted, size_t n, double q) {
    return sorted[nearest_rank(n, q)];
}

static void swap(double *a, double *b) {
    double kept = *a;
    *a = *b;
    *b = kept;
}

/* The k-th smallest: quickselect with three parts, so that equal samples cost nothing, and drawn pivots, so that no
 * order of the samples is a bad one. */
static double select_sample(double *sample, size_t n, size_t k) {
    fab_rng rng = fab_rng_make(0x73656c, n);
    size_t first = 0;
    size_t last = n; /* the k-th is in [first, last) */
    while (last - first > 1) {
        double pivot = sample[first + fab_rng_below(&rng, last - first)];
        size_t less = first; /* [first, less) below the pivot, [more, last) above it, [less, i) equal */
        size_t more = last;
        for (size_t i = first; i < more;) {
            if (sample[i] < pivot) {
                swap(&sample[i++], &sample[less++]);
            } else if (sample[i] > pivot) {
                swap(&sample[i], &sample[--more]);
            } else {
                i++;
            }
        }
        if (k >= less && k < more) {
            return pivot;
        }
        first = k < less ? first : more;
        last = k < less ? less : last;
    }
    return sample[k];
}

void fab_quantiles(double *samples, size_t n, bool falling, const double *q, size_t n_q, double *out) {
    for (size_t i = 0; i < n_q; i++) {
        size_t rank = nearest_rank(n, q[i]);
        out[i] = select_sample(samples, n, falling ? n - 1 - rank : rank);
    }
}

void fab_stat_of(double *samples, size_t n, fab_stat *out) {
    qsort(samples, n, sizeof *samples, fab_order_double);
    double squares = 0;
    FAB_SUM(double, sum, i, n, samples[i]);
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
        out->ci95 = fab_student_t(n - 1) * sqrt(squares / (double)(n - 1) / (double)n);
    }
    if (samples[0] == samples[n - 1]) { /* no rounding where there is nothing to average */
        out->mean = samples[0];
        out->ci95 = 0;
    }
}

uint64_t fab_stat_needed(uint64_t n, double difference, double ci95) {
    const double known = (double)n * (ci95 / difference) * (ci95 / difference);
    double needed = ceil(known);
    for (int i = 0; i < 8 && n > 1 && needed >= 2 && needed <= FAB_STAT_MOST; i++) { /* Student's t shrinks, too */
        const double shrinks = fab_student_t((size_t)needed - 1) / fab_student_t((size_t)n - 1);
        needed = ceil(fmax(known * shrinks * shrinks, 2));
    }
    return needed <= FAB_STAT_MOST ? (uint64_t)needed : 0;
}

void fab_parts_of(const double *samples, size_t n, fab_parts *out) {
    double of_part[FAB_STAT_PARTS] = {0};
    double sum = 0;
    double squares = 0;
    *out = (fab_parts){.n = n < FAB_STAT_PARTS ? n : FAB_STAT_PARTS};
    for (size_t i = 0; i < n; i++) {
        sum += samples[i] - samples[0]; /* 0 of equal ones, without any rounding */
        of_part[i % out->n] += samples[i] - samples[0];
    }
    const double mean = samples[0] + sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        squares += (samples[i] - mean) * (samples[i] - mean);
    }
    for (size_t k = 0; k < out->n; k++) {
        const size_t n_of_part = (n - k - 1) / out->n + 1;
        out->ratio[k] = (samples[0] + of_part[k] / (double)n_of_part) / mean;
    }
    out->ci95_ratio = n > 1 ? fab_student_t(n - 1) * sqrt(squares / (double)(n - 1) / (double)n) / fabs(mean) : 0;
}

/* Part k of n, which divides those that there are. */
static double coarser(const fab_parts *parts, size_t k, size_t n) {
    double sum = 0;
    for (size_t i = k; i < parts->n; i += n) {
        sum += parts->ratio[i];
    }
    return sum / (double)parts->n * (double)n;
}

double fab_parts_ci95(const fab_parts *parts, size_t n_draws) {
    const size_t n = n_draws > parts->n && n_draws % parts->n == 0 ? parts->n : n_draws;
    if (n < 2 || parts->n % n != 0) {
        return parts->ci95_ratio;
    }
    FAB_SUM(double, squares, k, n, pow(coarser(parts, k, n) - 1, 2));
    return fab_student_t(n - 1) * sqrt(squares / (double)(n - 1) / (double)n);
}

double fab_pairs_ci95(const fab_parts *a, const fab_parts *a_kept, const fab_parts *b, const fab_parts *b_kept) {
    static const double SIGN[] = {1, -1, -1, 1};
    const fab_parts *of[] = {a, a_kept, b, b_kept};
    double difference[FAB_STAT_PARTS] = {0};
    double alone = 0;
    size_t n = FAB_STAT_PARTS;
    bool has_pairs = true;
    for (size_t i = 0; i < 4; i++) {
        n = of[i] != NULL && of[i]->n > 1 && of[i]->n < n ? of[i]->n : n;
        alone = hypot(alone, of[i] != NULL ? of[i]->ci95_ratio : 0);
    }
    for (size_t i = 0; i < 4; i++) {
        const bool has_parts = of[i] != NULL && of[i]->n > 1;
        has_pairs = has_pairs && (has_parts ? of[i]->n % n == 0 : of[i] == NULL || of[i]->ci95_ratio == 0);
        for (size_t k = 0; has_pairs && has_parts && k < n; k++) {
            difference[k] += SIGN[i] * coarser(of[i], k, n);
        }
    }
    fab_stat stat;
    fab_stat_of(difference, n, &stat);
    return has_pairs ? stat.ci95 : alone;
}
