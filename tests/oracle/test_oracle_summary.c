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

#define BORDERED (FAB_FAILURE_N + 1)

/* a * out = right, by elimination with row pivots; a is spoilt. */
static void solve(size_t n, double a[BORDERED][BORDERED], double *right, double *out) {
    for (size_t p = 0; p < n; p++) {
        size_t most = p;
        for (size_t i = p; i < n; i++) {
            most = fabs(a[i][p]) > fabs(a[most][p]) ? i : most;
        }
        for (size_t j = 0; j < n; j++) {
            const double kept = a[p][j];
            a[p][j] = a[most][j];
            a[most][j] = kept;
        }
        const double kept = right[p];
        right[p] = right[most];
        right[most] = kept;
        for (size_t i = p + 1; i < n; i++) {
            const double factor = a[i][p] / a[p][p];
            for (size_t j = p; j < n; j++) {
                a[i][j] -= factor * a[p][j];
            }
            right[i] -= factor * right[p];
        }
    }
    for (size_t i = n; i-- > 0;) {
        out[i] = right[i];
        for (size_t j = i + 1; j < n; j++) {
            out[i] -= a[i][j] * out[j];
        }
        out[i] /= a[i][i];
    }
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

typedef struct oracle_histories {
    size_t n, n_classes;
    double count[MOST][FAB_FAILURE_N];
    double mean[FAB_FAILURE_N]; /* of the counts */
    double cost[MOST];
} oracle_histories;

/* Least squares of the histories' costs, whose mean is theirs, by the system with a border for that condition. */
static void fit_all(const oracle_histories *h, const double *cost, double *out) {
    double a[BORDERED][BORDERED] = {{0}};
    double right[BORDERED] = {0};
    double found[BORDERED];
    const size_t n = h->n_classes;
    for (size_t i = 0; i < h->n; i++) {
        for (size_t j = 0; j < n; j++) {
            right[j] += h->count[i][j] * cost[i];
            for (size_t k = 0; k < n; k++) {
                a[j][k] += h->count[i][j] * h->count[i][k];
            }
        }
        right[n] += cost[i] / (double)h->n;
    }
    for (size_t j = 0; j < n; j++) {
        a[n][j] = a[j][n] = h->mean[j];
    }
    solve(n + 1, a, right, found);
    memcpy(out, found, n * sizeof *out);
}

/* Half of the intervals: by what each history moves each class, alone and with the others of its draw. */
static void find_intervals(const oracle_histories *h, size_t n_draws, double *by_histories, double *by_draws) {
    static double moved[MOST][FAB_FAILURE_N]; /* by a cost of 1 */
    double each[FAB_FAILURE_N];
    double left[MOST];
    double squares = 0;
    fit_all(h, h->cost, each);
    for (size_t i = 0; i < h->n; i++) {
        double one[MOST] = {0};
        one[i] = 1;
        fit_all(h, one, moved[i]);
        left[i] = h->cost[i];
        for (size_t j = 0; j < h->n_classes; j++) {
            left[i] -= h->count[i][j] * each[j];
        }
        squares += left[i] * left[i];
    }
    const double variance = squares / (double)(h->n - h->n_classes);
    for (size_t j = 0; j < h->n_classes; j++) {
        double sum = 0;
        double of_draws = 0;
        for (size_t d = 0; d < n_draws; d++) {
            double off = 0;
            for (size_t i = d; i < h->n; i += n_draws) {
                off += moved[i][j] * left[i];
                sum += moved[i][j] * moved[i][j];
            }
            of_draws += off * off;
        }
        const double n = (double)n_draws;
        by_histories[j] = fab_student_t(h->n - h->n_classes) * sqrt(variance * sum);
        by_draws[j] = n_draws > 1 ? fab_student_t(n_draws - 1) * sqrt(of_draws * n / (n - 1)) : 0;
    }
}

/* No class makes jobs faster, the parts make up the whole, and what is left of the costs is at one angle to all
 * classes that cost something, at none that is less to the others: the optimum under both conditions. */
static void check_causes(size_t which, size_t n_draws, const oracle_study *s, const fab_study_variant *is) {
    static oracle_histories h;
    double by_histories[FAB_FAILURE_N];
    double by_draws[FAB_FAILURE_N];
    double angle[FAB_FAILURE_N] = {0};
    double all = 0;
    double parts = 0;
    h = (oracle_histories){.n = s->n, .n_classes = is->n_causes};
    for (size_t i = 0; i < s->n; i++) {
        const fab_outcome *r = &s->rows[i]; /* what failures cost: without written checkpoints */
        h.cost[i] = r->restart_ratio + r->redo_ratio + r->slow_ratio + r->wait_ratio;
        all += h.cost[i] / (double)s->n;
        double left = h.cost[i];
        for (size_t j = 0; j < is->n_causes; j++) {
            h.count[i][j] = count_of(s, s->rows[i].scenario, is->causes[j].name);
            h.mean[j] += h.count[i][j] / (double)s->n;
            left -= h.count[i][j] * is->causes[j].impact;
        }
        for (size_t j = 0; j < is->n_causes; j++) {
            angle[j] += left * h.count[i][j];
        }
    }
    if (is->n_causes == 0) {
        return;
    }
    find_intervals(&h, n_draws, by_histories, by_draws);
    const fab_cause *first = &is->causes[0];
    const bool is_short = first->impact > 0 && first->impact <= first->ci95 && by_draws[0] <= by_histories[0];
    if (is_short) { /* with so many its interval ends at 0, to two digits */
        const double ci95 = first->ci95 * sqrt((double)s->n / (double)is->first_cause_histories);
        cr_expect(ci95 <= first->impact * (1 + 1e-9) && ci95 > first->impact * 0.95, "case %zu: %g, %g", which, ci95,
                  first->impact);
    } else {
        cr_expect_eq(is->first_cause_histories, 0);
    }
    double slope = NAN; /* of the angles of those that cost something */
    for (size_t j = 0; j < is->n_causes; j++) {
        slope = is->causes[j].impact > 0 ? angle[j] / h.mean[j] : slope;
        parts += is->causes[j].impact * h.mean[j];
    }
    cr_expect_float_eq(parts, all, 1e-9);
    for (size_t j = 0; j < is->n_causes; j++) {
        const fab_cause *c = &is->causes[j];
        const double off = angle[j] - slope * h.mean[j];
        cr_expect(c->impact >= 0 && (c->impact > 0 ? fabs(off) : off) <= 1e-9 * (double)s->n, "case %zu: %s, %g", which,
                  c->name, off);
        cr_expect_float_eq(c->ci95, fmax(by_histories[j], by_draws[j]), 1e-9 * c->ci95);
        EXPECT_CLOSE(c->failures, h.mean[j]);
        cr_expect_float_eq(c->share, c->impact * h.mean[j] / all, 1e-9);
        cr_expect(j == 0 || c->share <= is->causes[j - 1].share);
        const double less = first->impact * h.mean[0] - c->impact * h.mean[j];
        const double apart = hypot(first->ci95 * h.mean[0], c->ci95 * h.mean[j]);
        const double below = j == 0 ? INFINITY : c[-1].impact * h.mean[j - 1] - c->impact * h.mean[j];
        const double chance = j == 0 ? 0 : hypot(c[-1].ci95 * h.mean[j - 1], c->ci95 * h.mean[j]);
        cr_expect(c->is_even ? below <= chance * (1 + 1e-9) : below > chance * (1 - 1e-9), "case %zu: %s", which,
                  c->name);
        if (j < is->n_first_causes) { /* in the order of what they cost, none is told from the first */
            cr_expect(c->impact > 0 && (j == 0 || less <= apart * (1 + 1e-9)));
        } else if (j == is->n_first_causes) {
            cr_expect(j == 0 ? c->impact <= c->ci95 : c->impact <= 0 || less > apart * (1 - 1e-9));
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
            check_causes(which, drawn_draws(which), &s, is);
            n_found += is->n_causes;
        }
        drop(&d);
    }
    cr_expect_geq(n_found, 2 * 5);
}
