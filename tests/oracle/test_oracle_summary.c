/* Summaries of random rows against the definitions: figures, policies, scenarios, causes. Components:
 * test_oracle_ranking.c. */
#include "drawn_study.h"
#include "fab/analysis.h"

typedef double getter(const oracle_study *s, const fab_outcome *row);

static double get_slowdown(const oracle_study *s, const fab_outcome *row) {
    return s->has_times && row->state == FAB_OUTCOME_RUNS ? row->slowdown : NAN;
}
static double get_ratio(const oracle_study *s, const fab_outcome *row) {
    (void)s;
    return row->state == FAB_OUTCOME_RUNS ? row->worst_ratio : NAN;
}
static double get_collisions(const oracle_study *s, const fab_outcome *row) {
    (void)s;
    return row->state == FAB_OUTCOME_RUNS ? row->n_collisions : NAN;
}
static double get_lost(const oracle_study *s, const fab_outcome *row) {
    (void)s;
    return row->lost_ratio;
}
static double get_moved(const oracle_study *s, const fab_outcome *row) {
    (void)s;
    return row->n_moved;
}
static double get_goodput(const oracle_study *s, const fab_outcome *row) {
    (void)s;
    return row->goodput;
}

static void check_spread(size_t which, const oracle_study *s, getter *get, bool falling, const fab_spread *is) {
    double values[MOST];
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        double value = get(s, &s->rows[i]);
        if (!isnan(value)) {
            values[n++] = value;
            sum += value;
        }
    }
    cr_expect_eq(is->n, n, "case %zu: %zu values", which, n);
    if (n == 0) {
        return;
    }
    EXPECT_CLOSE(is->mean, sum / (double)n);
    cr_expect_eq(is->p50, oracle_quantile(values, n, 0.5, falling));
    cr_expect_eq(is->p90, oracle_quantile(values, n, 0.9, falling));
    cr_expect_eq(is->p99, oracle_quantile(values, n, 0.99, falling));
    cr_expect_eq(is->worst, oracle_quantile(values, n, 1, falling));
    size_t i = 0;
    while (get(s, &s->rows[i]) != is->worst) {
        i++;
    }
    cr_expect_eq(is->worst_scenario, s->rows[i].scenario);
}

Test(oracle_summary, figures_are_those_of_the_definitions) {
    for (size_t which = 0; which < N_CASES; which++) {
        study d = draw_study(which);
        cr_expect_eq(d.summary->n_done, d.n);
        cr_expect_eq(d.summary->n_scenarios, fab_scenarios_count(d.scenarios));
        for (uint32_t v = 0; v < d.n_variants; v++) {
            fab_outcome rows[MOST];
            oracle_study s = view(&d, v, rows);
            const fab_study_variant *is = &d.summary->variants[v];
            check_spread(which, &s, get_slowdown, false, &is->slowdown);
            check_spread(which, &s, get_ratio, false, &is->worst_ratio);
            check_spread(which, &s, get_collisions, false, &is->collisions);
            check_spread(which, &s, get_lost, false, &is->lost_ratio);
            check_spread(which, &s, get_moved, false, &is->moved);
            check_spread(which, &s, get_goodput, true, &is->goodput);
            uint64_t n_stopped = 0;
            uint64_t n_disconnected = 0;
            uint64_t bins = 0;
            uint64_t standing = 0;
            double impact = 0;
            for (size_t i = 0; i < s.n; i++) {
                n_stopped += rows[i].state == FAB_OUTCOME_STOPPED;
                n_disconnected += rows[i].n_disconnected != 0;
                impact += oracle_impact(&s, &rows[i]);
                standing += rows[i].state == FAB_OUTCOME_STOPPED && d.summary->span_s <= 0;
            }
            for (size_t b = 0; b < FAB_STUDY_BINS; b++) {
                uint64_t n = 0;
                for (size_t i = 0; i < s.n; i++) {
                    double factor = 1 / (1 - oracle_impact(&s, &rows[i]));
                    bool stands = rows[i].state == FAB_OUTCOME_STOPPED && d.summary->span_s <= 0;
                    n += !stands && (b == 0 || factor >= fab_study_edges[b - 1]) &&
                         (b + 1 == FAB_STUDY_BINS || factor < fab_study_edges[b]);
                }
                cr_expect_eq(is->bin[b], n, "case %zu, bin %zu", which, b);
                bins += n;
            }
            cr_expect_eq(bins + standing, d.n);
            cr_expect_eq(is->n_stopped, n_stopped);
            cr_expect_eq(is->n_disconnected, n_disconnected);
            EXPECT_CLOSE(is->impact, impact / (double)s.n);
            if (d.summary->span_s > 0) {
                EXPECT_CLOSE(is->goodput.mean + is->restart_ratio + is->redo_ratio + is->slow_ratio + is->wait_ratio,
                             1.0);
            }
        }
        drop(&d);
    }
}

/* The policies of an engine on a scenario, told apart by sorting. */
Test(oracle_summary, policies_are_compared_scenario_by_scenario) {
    for (size_t which = 0; which < N_CASES; which++) {
        study d = draw_study(which);
        size_t n_policies = CASES[which].n_policies;
        cr_assert_eq(d.summary->choices == NULL, n_policies == 1);
        for (size_t e = 0; e < CASES[which].n_engines && n_policies > 1; e++) {
            const fab_study_choice *c = &d.summary->choices[e];
            uint64_t n_best[3] = {0};
            uint64_t n_alone[3] = {0};
            uint64_t n_differ = 0;
            uint64_t n_rescued = 0;
            double best = 0;
            double most_saved = 0;
            uint64_t at = UINT64_MAX;
            cr_expect_eq(c->baseline, e * n_policies + 1);
            for (size_t i = 0; i < d.n; i++) {
                const fab_outcome *rows = &d.rows[i * d.n_variants + e * n_policies];
                double impact[3];
                double least = INFINITY;
                double most = -INFINITY;
                bool runs = false;
                for (size_t p = 0; p < n_policies; p++) {
                    oracle_study s = {d.fabric, d.scenarios, &d.healthy[e * n_policies + p], rows, 1, d.has_times,
                                      NULL,     NULL};
                    impact[p] = oracle_impact(&s, &rows[p]);
                    least = fmin(least, impact[p]);
                    most = fmax(most, impact[p]);
                }
                size_t n = 0;
                for (size_t p = n_policies; p-- > 0;) {
                    n += impact[p] <= least + FAB_SAME_FACTOR;
                    runs = impact[p] == least ? rows[p].state == FAB_OUTCOME_RUNS : runs;
                }
                for (size_t p = 0; p < n_policies; p++) {
                    n_best[p] += impact[p] <= least + FAB_SAME_FACTOR;
                    n_alone[p] += impact[p] <= least + FAB_SAME_FACTOR && n == 1;
                }
                n_differ += most > least + FAB_SAME_FACTOR;
                n_rescued += rows[1].state == FAB_OUTCOME_STOPPED && runs;
                best += least;
                if (impact[1] - least > FAB_SAME_FACTOR && impact[1] - least > most_saved) {
                    most_saved = impact[1] - least;
                    at = rows->scenario;
                }
            }
            for (size_t p = 0; p < n_policies; p++) {
                cr_expect_eq(d.summary->variants[e * n_policies + p].n_best, n_best[p], "case %zu", which);
                cr_expect_eq(d.summary->variants[e * n_policies + p].n_alone, n_alone[p], "case %zu", which);
            }
            cr_expect_eq(c->n_differ, n_differ);
            cr_expect_eq(c->n_rescued, n_rescued, "case %zu: %llu, %llu", which, (unsigned long long)c->n_rescued,
                         (unsigned long long)n_rescued);
            EXPECT_CLOSE(c->impact, best / (double)d.n);
            EXPECT_CLOSE(c->most_saved, most_saved);
            cr_expect_eq(c->most_saved_scenario, at);
        }
        drop(&d);
    }
}

/* Worst first, and no other worse than the last of them. */
Test(oracle_summary, scenarios_that_stand_out) {
    for (size_t which = 0; which < N_CASES; which++) {
        study d = draw_study(which);
        for (uint32_t v = 0; v < d.n_variants; v++) {
            fab_outcome rows[MOST];
            oracle_study s = view(&d, v, rows);
            const fab_study_variant *is = &d.summary->variants[v];
            size_t n_stopped = 0;
            size_t n_runs = 0;
            for (size_t i = 0; i < s.n; i++) {
                size_t rank = 0; /* scenarios that come before it */
                double impact = oracle_impact(&s, &rows[i]);
                bool stands = rows[i].state == FAB_OUTCOME_STOPPED && d.summary->span_s <= 0;
                for (size_t j = 0; j < s.n && !stands; j++) {
                    bool other = rows[j].state == FAB_OUTCOME_STOPPED && d.summary->span_s <= 0;
                    double its = oracle_impact(&s, &rows[j]);
                    rank += !other && (its > impact || (its == impact && j < i));
                }
                if (stands && n_stopped < CASES[which].top) {
                    cr_expect_eq(is->stopped[n_stopped].scenario, rows[i].scenario);
                    cr_expect(is->stopped[n_stopped].is_stopped);
                } else if (!stands && rank < CASES[which].top) {
                    cr_assert_lt(rank, is->n_worst);
                    cr_expect_eq(is->worst[rank].scenario, rows[i].scenario, "case %zu", which);
                    EXPECT_CLOSE(is->worst[rank].impact, impact);
                }
                n_stopped += stands;
                n_runs += !stands;
            }
            cr_expect_eq(is->n_stopped_shown, n_stopped < CASES[which].top ? n_stopped : CASES[which].top);
            cr_expect_eq(is->n_worst, n_runs < CASES[which].top ? n_runs : CASES[which].top);
        }
        drop(&d);
    }
}

/* --- what failures cost in histories ------------------------------------------------------------------------------ */

/* Leibniz' way, by the first row. */
static double determinant(size_t n, double a[FAB_FAILURE_N][FAB_FAILURE_N]) {
    double sum = n == 0;
    for (size_t skip = 0; skip < n; skip++) {
        double minor[FAB_FAILURE_N][FAB_FAILURE_N];
        for (size_t i = 1; i < n; i++) {
            for (size_t j = 0, to = 0; j < n; j++) {
                if (j != skip) {
                    minor[i - 1][to++] = a[i][j];
                }
            }
        }
        sum += (skip % 2 == 0 ? 1 : -1) * a[0][skip] * determinant(n - 1, minor);
    }
    return sum;
}

/* How often a class fails in a history. */
static double count_of(const oracle_study *s, uint64_t scenario, const char *name) {
    fab_scenario history = {0};
    double n = 0;
    cr_assert_eq(fab_scenarios_get(s->scenarios, scenario, &history, NULL), FAB_OK);
    for (size_t i = 0; i < history.n_events; i++) {
        n += !history.event[i].is_repair && strcmp(fab_failure_classes[history.event[i].failure], name) == 0;
    }
    fab_scenario_release(&history);
    return n;
}

/* Of least squares what is left is at right angles to every class, and each interval is that of its class. */
static void check_causes(size_t which, const oracle_study *s, const fab_study_variant *is) {
    static double counts[MOST][FAB_FAILURE_N];
    double products[FAB_FAILURE_N][FAB_FAILURE_N] = {{0}};
    double left_squares = 0;
    size_t n = is->n_causes;
    double at_angle[FAB_FAILURE_N] = {0};
    double sums[FAB_FAILURE_N] = {0};
    for (size_t i = 0; i < s->n; i++) {
        const fab_outcome *r = &s->rows[i]; /* what failures cost: without written checkpoints */
        double residual = r->restart_ratio + r->redo_ratio + r->slow_ratio + r->wait_ratio;
        for (size_t j = 0; j < n; j++) {
            counts[i][j] = count_of(s, s->rows[i].scenario, is->causes[j].name);
            residual -= counts[i][j] * is->causes[j].impact;
            sums[j] += counts[i][j];
        }
        left_squares += residual * residual;
        for (size_t j = 0; j < n; j++) {
            at_angle[j] += residual * counts[i][j];
            for (size_t k = 0; k < n; k++) {
                products[j][k] += counts[i][j] * counts[i][k];
            }
        }
    }
    double healthy = determinant(n, products);
    double all = 0;
    for (size_t j = 0; j < n; j++) {
        all += is->causes[j].impact > 0 ? is->causes[j].impact * sums[j] : 0;
    }
    const fab_cause *first = &is->causes[0];
    if (is->n_first_causes == 0 && first->impact > 0) { /* with so many its interval ends at 0, to two digits */
        const double ci95 = first->ci95 * sqrt((double)s->n / (double)is->first_cause_histories);
        cr_expect(ci95 <= first->impact * (1 + 1e-9) && ci95 > first->impact * 0.95, "case %zu: %g, %g", which, ci95,
                  first->impact);
    } else {
        cr_expect_eq(is->first_cause_histories, 0);
    }
    for (size_t j = 0; j < n; j++) {
        double minor[FAB_FAILURE_N][FAB_FAILURE_N];
        for (size_t a = 0, to = 0; a < n; a++) {
            for (size_t b = 0, at = 0; b < n && a != j; b++) {
                if (b != j) {
                    minor[to][at++] = products[a][b];
                }
            }
            to += a != j;
        }
        double error = sqrt(left_squares / (double)(s->n - n) * determinant(n - 1, minor) / healthy);
        cr_expect_leq(fabs(at_angle[j]), 1e-9 * sums[j], "case %zu: %s", which, is->causes[j].name);
        cr_expect_leq(fabs(is->causes[j].ci95 - fab_student_t(s->n - n) * error), 1e-9 * error);
        EXPECT_CLOSE(is->causes[j].failures, sums[j] / (double)s->n);
        EXPECT_CLOSE(is->causes[j].share, is->causes[j].impact > 0 ? is->causes[j].impact * sums[j] / all : 0);
        cr_expect(is->causes[j].share >= 0 && is->causes[j].share <= 1);
        cr_expect(j == 0 || is->causes[j].share <= is->causes[j - 1].share);
        const double less = is->causes[0].impact * sums[0] - is->causes[j].impact * sums[j];
        const double apart = hypot(is->causes[0].ci95 * sums[0], is->causes[j].ci95 * sums[j]);
        const double below =
            j == 0 ? INFINITY : is->causes[j - 1].impact * sums[j - 1] - is->causes[j].impact * sums[j];
        const double chance = j == 0 ? 0 : hypot(is->causes[j - 1].ci95 * sums[j - 1], is->causes[j].ci95 * sums[j]);
        cr_expect(is->causes[j].is_even ? below <= chance * (1 + 1e-9) : below > chance * (1 - 1e-9), "case %zu: %s",
                  which, is->causes[j].name);
        if (j < is->n_first_causes) { /* in the order of what they cost, none is told from the first */
            cr_expect(is->causes[j].impact > 0 && (j == 0 || less <= apart * (1 + 1e-9)));
        } else if (j == is->n_first_causes) {
            cr_expect(j == 0 ? is->causes[0].impact <= is->causes[0].ci95
                             : is->causes[j].impact <= 0 || less > apart * (1 - 1e-9));
        }
    }
}

Test(oracle_summary, causes_of_histories_are_least_squares) {
    size_t n_found = 0;
    for (size_t which = 0; which < N_CASES; which++) {
        study d = draw_study(which);
        for (uint32_t v = 0; v < d.n_variants; v++) {
            fab_outcome rows[MOST];
            oracle_study s = view(&d, v, rows);
            const fab_study_variant *is = &d.summary->variants[v];
            bool enough = d.summary->span_s > 0 && d.n >= 10 * FAB_FAILURE_N;
            cr_expect_eq(is->n_causes > 0, enough, "case %zu", which);
            check_causes(which, &s, is);
            n_found += is->n_causes;
        }
        drop(&d);
    }
    cr_expect_geq(n_found, 2 * 5);
}
