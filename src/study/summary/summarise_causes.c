/* What a failure of each class costs a history: ordinary least squares, without a constant, of the impact over how
 * often each class fails in the span. */
#include "summarise_internal.h"

#include "fab/analysis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CLASSES   FAB_FAILURE_N
#define SINGULAR  1e-9 /* pivot over the largest: classes that cannot be told apart */
#define LEAST_PER 10   /* histories for each class */

bool summary_counts(const fab_summariser *s, const fab_event *e) {
    const uint32_t *rank = s->request.rank_of_gpu;
    bool is_of_rank = e->failure == FAB_FAILURE_SOFTWARE || e->failure == FAB_FAILURE_MAINTENANCE;
    return !e->is_repair && e->time_s < s->request.span_s &&
           (!is_of_rank || rank == NULL || rank[e->component.id] != FAB_NONE);
}

void summary_count_failures(fab_summariser *s) {
    const fab_scenario *h = &s->history;
    memset(s->class_count, 0, sizeof s->class_count);
    for (size_t i = 0; i < h->n_events; i++) {
        s->class_count[h->event[i].failure] += summary_counts(s, &h->event[i]);
    }
}

void summary_add_causes(const fab_summariser *s, double impact, cause_sums *sums) {
    for (size_t i = 0; i < CLASSES; i++) {
        sums->x[i] += s->class_count[i];
        sums->xy[i] += s->class_count[i] * impact;
        for (size_t j = 0; j < CLASSES; j++) {
            sums->xx[i][j] += s->class_count[i] * s->class_count[j];
        }
    }
    sums->yy += impact * impact;
    sums->n++;
}

/* Inverse of the n x n matrix by Gauss and Jordan with pivots on the diagonal, which a matrix of products allows.
 * False: it is singular. */
static bool invert(double a[CLASSES][CLASSES], size_t n, double out[CLASSES][CLASSES]) {
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, a[i][i]);
        for (size_t j = 0; j < n; j++) {
            out[i][j] = i == j;
        }
    }
    for (size_t p = 0; p < n; p++) {
        double pivot = a[p][p];
        if (!(pivot > SINGULAR * largest)) {
            return false;
        }
        for (size_t j = 0; j < n; j++) {
            a[p][j] /= pivot;
            out[p][j] /= pivot;
        }
        for (size_t i = 0; i < n; i++) {
            double factor = i != p ? a[i][p] : 0;
            for (size_t j = 0; j < n && factor != 0; j++) {
                a[i][j] -= factor * a[p][j];
                out[i][j] -= factor * out[p][j];
            }
        }
    }
    return true;
}

static double cost_of(const fab_cause *c) {
    return c->failures * c->impact;
}

/* Most cost first; shares; and which the intervals do not tell from the first. */
static void rank_causes(fab_study_variant *out) {
    fab_cause *cause = out->causes;
    double sum = 0;
    for (size_t i = 0; i < out->n_causes; i++) {
        fab_cause moved = cause[i];
        size_t at = i;
        for (; at > 0 && cost_of(&cause[at - 1]) < cost_of(&moved); at--) {
            cause[at] = cause[at - 1];
        }
        cause[at] = moved;
        sum += fmax(cost_of(&moved), 0);
    }
    bool is_first = cause[0].impact > cause[0].ci95;
    for (size_t i = 0; i < out->n_causes; i++) {
        const double less = cost_of(&cause[0]) - cost_of(&cause[i]);
        const double ci95 = hypot(cause[0].failures * cause[0].ci95, cause[i].failures * cause[i].ci95);
        cause[i].share = sum > 0 ? fmax(cost_of(&cause[i]), 0) / sum : 0;
        is_first = is_first && cause[i].impact > 0 && (i == 0 || less <= ci95);
        out->n_first_causes += is_first;
    }
}

void summary_find_causes(const cause_sums *sums, fab_study_variant *out) {
    size_t class[CLASSES]; /* that fail at all */
    size_t n = 0;
    double matrix[CLASSES][CLASSES];
    double inverse[CLASSES][CLASSES];
    double each[CLASSES] = {0};
    double left = sums->yy; /* of the squares, unexplained */
    for (size_t c = 0; c < CLASSES; c++) {
        if (sums->x[c] > 0) {
            class[n++] = c;
        }
    }
    if (n == 0 || sums->n < LEAST_PER * n) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            matrix[i][j] = sums->xx[class[i]][class[j]];
        }
    }
    if (!invert(matrix, n, inverse)) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            each[i] += inverse[i][j] * sums->xy[class[j]];
        }
        left -= each[i] * sums->xy[class[i]];
    }
    double variance = (left > 0 ? left : 0) / (double)(sums->n - n);
    for (size_t i = 0; i < n; i++) {
        fab_cause *c = &out->causes[i];
        *c = (fab_cause){.failures = sums->x[class[i]] / (double)sums->n,
                         .impact = each[i],
                         .ci95 = fab_student_t((size_t)sums->n - n) * sqrt(variance * inverse[i][i])};
        (void)snprintf(c->name, sizeof c->name, "%s", fab_failure_classes[class[i]]);
    }
    out->n_causes = n;
    rank_causes(out);
}
