/* Summaries of random rows against the definitions. */
#include "fab/summarise.h"
#include "fabric_fixture.h"
#include "oracle_summary.h"
#include "random_rows.h"

#include <math.h>
#include <string.h>

#define MOST 600

static const char *const ENGINES[] = {"ecmp,qp=4", "spray"};
static const char *const POLICIES[] = {"none", "first-spare", "collision-aware"};

/* A study whose rows are drawn. */
typedef struct study {
    fab_fabric *fabric;
    fab_scenarios *scenarios;
    fab_outcome whole[6];
    fab_outcome *rows; /* shape [n][n_variants] */
    size_t n, n_variants;
    bool has_times;
    fab_study_summary *summary;
} study;

static const struct {
    const char *design, *scenarios;
    size_t n_engines, n_policies, top;
    bool has_times;
    uint64_t steps, leave_out; /* one scenario in so many */
} CASES[] = {
    {"clos:gpus=32,gpus-per-server=2,radix=8", "links:1", 1, 1, 10, true, 5, 0},
    {"clos:gpus=32,gpus-per-server=2,radix=8", "links:4@150", 2, 3, 7, true, 1000000, 0},
    {"clos:gpus=32,gpus-per-server=2,radix=8", "switches:2", 2, 2, 1000, false, 4, 3},
    {"rail-spine:gpus=32,gpus-per-server=4,radix=8,planes=2", "nics:1", 1, 3, 5, true, 1, 0},
    {"rail-spine:gpus=32,gpus-per-server=4,radix=8,planes=2", "access-links:1", 1, 2, 100, true, 50, 2},
    {"clos:gpus=32,gpus-per-server=2,radix=8", "gpus:2@200", 2, 1, 20, false, 100, 0},
    {"clos:gpus=32,gpus-per-server=2,radix=8", "time:30d@60", 1, 3, 12, true, 20, 4},
    {"clos:gpus=32,gpus-per-server=2,radix=8", "time:20d@150", 1, 2, 5, true, 1000, 0},
    {"clos:gpus=32,gpus-per-server=2,radix=8", "file:" FAB_TEST_DATA "/scenarios_mixed.csv", 2, 3, 4, true, 3, 0}};
#define N_CASES (sizeof CASES / sizeof CASES[0])

/* What a set fails, as a store would have it: components by number. */
typedef struct book {
    const fab_scenarios *scenarios;
    fab_component *component;
    size_t n;
    fab_scenario scenario;
    uint32_t found[FAB_SCENARIO_COMPONENTS];
} book;

static int by_value(const void *a, const void *b) {
    return (*(const uint32_t *)a > *(const uint32_t *)b) - (*(const uint32_t *)a < *(const uint32_t *)b);
}

static fab_status look_up(void *context, uint64_t scenario, const uint32_t **out, size_t *out_n, fab_error *err) {
    book *b = context;
    fab_status status = fab_scenarios_get(b->scenarios, scenario, &b->scenario, err);
    size_t n = 0;
    for (size_t i = 0; status == FAB_OK && i < b->scenario.n_components; i++) {
        fab_component c = b->scenario.component[i];
        c.id -= c.kind == FAB_COMPONENT_LINK ? c.id % 2 : 0;
        uint32_t k = 0;
        while (k < b->n && !(b->component[k].kind == c.kind && b->component[k].id == c.id &&
                             b->component[k].fraction == c.fraction)) {
            k++;
        }
        if (k == b->n) {
            b->component[b->n++] = c;
        }
        b->found[n++] = k;
    }
    qsort(b->found, n, sizeof b->found[0], by_value);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || b->found[i] != b->found[kept - 1]) {
            b->found[kept++] = b->found[i];
        }
    }
    *out = b->found;
    *out_n = kept;
    return status;
}

static study draw_study(size_t i) {
    study d = {.n_variants = CASES[i].n_engines * CASES[i].n_policies, .has_times = CASES[i].has_times};
    fab_failure_rates rates = fab_failure_rates_default();
    fab_summariser *s = NULL;
    fab_error err = {0};
    for (size_t c = 0; c < FAB_FAILURE_N; c++) {
        rates.per_s[c] *= 300; /* small fabrics, but not without failures */
    }
    d.fabric = fixture_build(CASES[i].design, NULL, NULL);
    cr_assert_eq(fab_scenarios_new(CASES[i].scenarios, d.fabric, NULL, &rates, 5, &d.scenarios, &err), FAB_OK, "%s: %s",
                 err.where, err.text);
    uint64_t n = fab_scenarios_count(d.scenarios);
    double span_s = fab_scenarios_span_s(d.scenarios);
    d.rows = calloc(n * d.n_variants, sizeof *d.rows);
    for (uint32_t v = 0; v < d.n_variants; v++) {
        d.whole[v] = random_whole(v, d.has_times);
    }
    book b = {.scenarios = d.scenarios, .component = calloc(20000, sizeof *b.component)};
    const uint32_t *failed = NULL;
    size_t n_failed = 0;
    for (uint64_t j = 0; j < n; j++) { /* all that there are */
        cr_assert_eq(look_up(&b, j, &failed, &n_failed, &err), FAB_OK);
    }
    fab_summary_request request = {.fabric = d.fabric,
                                   .n_scenarios = n,
                                   .span_s = span_s,
                                   .components = b.component,
                                   .n_components = b.n,
                                   .failed = look_up,
                                   .failed_context = &b,
                                   .histories = d.scenarios,
                                   .engines = ENGINES,
                                   .n_engines = CASES[i].n_engines,
                                   .policies = POLICIES,
                                   .n_policies = CASES[i].n_policies,
                                   .whole = d.whole,
                                   .top = CASES[i].top,
                                   .keep_damage = true};
    cr_assert_eq(fab_summariser_new(&request, &s, &err), FAB_OK, "%s", err.text);
    for (uint64_t j = 0; j < n; j++) {
        if (CASES[i].leave_out > 0 && j % CASES[i].leave_out == 1) {
            continue;
        }
        for (uint32_t v = 0; v < d.n_variants; v++) {
            d.rows[d.n * d.n_variants + v] = random_row(i, j, v, span_s, d.has_times, CASES[i].steps);
        }
        cr_assert_eq(look_up(&b, j, &failed, &n_failed, &err), FAB_OK);
        cr_assert_eq(fab_summariser_add(s, &d.rows[d.n * d.n_variants], failed, n_failed, &err), FAB_OK, "%s",
                     err.text);
        d.n++;
    }
    cr_assert_leq(d.n, MOST);
    cr_assert_eq(fab_summariser_finish(s, &d.summary, &err), FAB_OK, "%s", err.text);
    fab_summariser_free(s);
    fab_scenario_release(&b.scenario);
    free(b.component);
    return d;
}

static void drop(study *d) {
    fab_study_summary_free(d->summary);
    fab_scenarios_free(d->scenarios);
    fab_fabric_free(d->fabric);
    free(d->rows);
}

/* The rows of one variant. */
static oracle_study view(const study *d, uint32_t variant, fab_outcome *rows) {
    for (size_t i = 0; i < d->n; i++) {
        rows[i] = d->rows[i * d->n_variants + variant];
    }
    return (oracle_study){d->fabric, d->scenarios, &d->whole[variant], rows, d->n, d->has_times};
}

static bool are_close(double a, double b) {
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-12 * fmax(1, fabs(b));
}

#define EXPECT_CLOSE(a, b) cr_expect(are_close((a), (b)), "case %zu: %s is %.17g, not %.17g", which, #a, (a), (b))

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
            double damage = 0;
            for (size_t i = 0; i < s.n; i++) {
                n_stopped += rows[i].state == FAB_OUTCOME_STOPPED;
                n_disconnected += rows[i].n_disconnected != 0;
                damage += oracle_damage(&s, &rows[i]);
                standing += rows[i].state == FAB_OUTCOME_STOPPED && d.summary->span_s <= 0;
            }
            for (size_t b = 0; b < FAB_STUDY_BINS; b++) {
                uint64_t n = 0;
                for (size_t i = 0; i < s.n; i++) {
                    double factor = 1 / (1 - oracle_damage(&s, &rows[i]));
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
            EXPECT_CLOSE(is->damage, damage / (double)s.n);
            if (d.summary->span_s > 0) {
                EXPECT_CLOSE(is->goodput.mean + is->restart_ratio + is->redo_ratio + is->slow_ratio + is->wait_ratio,
                             1.0);
            }
        }
        drop(&d);
    }
}

/* Numbers in names by their value: another way to say it, by padding them. */
static void pad(const char *name, char *out) {
    size_t n = 0;
    for (const char *c = name; *c != '\0' && n < 900;) {
        char *end = NULL;
        if (*c >= '0' && *c <= '9') {
            n += (size_t)sprintf(out + n, "%012llu", strtoull(c, &end, 10));
            c = end;
        } else {
            out[n++] = *c++;
        }
    }
    out[n] = '\0';
}

static bool comes_before(const fab_critical *a, const fab_critical *b) {
    char x[1024];
    char y[1024];
    pad(a->name, x);
    pad(b->name, y);
    return a->damage > b->damage || (a->damage == b->damage && strcmp(x, y) < 0);
}

/* All components that fail in some scenario, by asking for every one that there is. */
static void check_ranking(size_t which, const oracle_study *s, const fab_ranking *ranking, size_t top, bool links,
                          const char *const *names, size_t n_names) {
    const fab_critical *list = ranking->list;
    size_t n = ranking->n;
    size_t n_known = 0;
    uint64_t n_tied = 0;
    size_t n_behind = 0;
    for (size_t i = 0; i < n; i++) {
        oracle_component c = oracle_component_of(s, list[i].name);
        EXPECT_CLOSE(list[i].damage, c.damage);
        EXPECT_CLOSE(list[i].mean_slowdown, c.mean_slowdown);
        EXPECT_CLOSE(list[i].worst_ratio, c.worst_ratio);
        cr_expect_eq(list[i].n_scenarios, c.n_scenarios);
        cr_expect_eq(list[i].n_stopped, c.n_stopped);
        cr_expect(i == 0 || comes_before(&list[i - 1], &list[i]), "case %zu: %s, %s", which, list[i - 1].name,
                  list[i].name);
    }
    for (size_t i = 0; i < n_names; i++) {
        bool counts = !links || strchr(names[i], ':') != NULL;
        oracle_component c = counts ? oracle_component_of(s, names[i]) : (oracle_component){.n_scenarios = 0};
        bool is_listed = false;
        n_known += c.n_scenarios > 0;
        if (n > 0 && c.n_scenarios > 0) {
            n_tied += are_close(c.damage, list[n - 1].damage);
            n_behind += c.damage < list[n - 1].damage - 1e-12;
        }
        for (size_t j = 0; j < n; j++) {
            is_listed = is_listed || strcmp(list[j].name, names[i]) == 0;
        }
        cr_expect(is_listed || c.n_scenarios == 0 || (n == top && c.damage <= list[n - 1].damage + 1e-12),
                  "case %zu: %s is missing", which, names[i]);
    }
    cr_expect_eq(n, n_known < top ? n_known : top, "case %zu: %zu of %zu", which, n, n_known);
    for (size_t i = 0; i < n; i++) {
        n_tied -= are_close(list[i].damage, list[n - 1].damage); /* left out, in the end */
    }
    cr_expect_eq(ranking->n_tied > 0, n_tied > 0, "case %zu", which);
    cr_expect_eq(ranking->n_next, n_tied == 0 ? 0 : n_behind < top ? n_behind : top, "case %zu", which);
    for (size_t i = 0; i < ranking->n_next; i++) {
        EXPECT_CLOSE(ranking->next[i].damage, oracle_component_of(s, ranking->next[i].name).damage);
        cr_expect(comes_before(i == 0 ? &list[n - 1] : &ranking->next[i - 1], &ranking->next[i]));
    }
}

static size_t all_names(const study *d, char names[][FAB_COMPONENT_NAME_SIZE], const char **list) {
    size_t n = 0;
    for (int kind = 0; kind < FAB_COMPONENT_N_KINDS; kind++) {
        uint32_t most = kind <= FAB_COMPONENT_PORT ? d->fabric->n_links
                                                   : fab_component_count(d->fabric, NULL, (fab_component_kind)kind);
        for (uint32_t id = 0; id < most; id += kind == FAB_COMPONENT_LINK ? 2 : 1) {
            fab_component c = {.kind = (fab_component_kind)kind, .id = id};
            if (fab_component_check(d->fabric, NULL, &c, NULL) == FAB_OK) {
                list[n] = fab_component_name(d->fabric, &c, names[n]);
                n++;
            }
        }
    }
    list[n] = strcpy(names[n], "leaf-3*0.5"); /* of the file */
    return n + 1;
}

static double damage_of(const oracle_study *s, fab_component_kind kind, uint32_t id) {
    char name[FAB_COMPONENT_NAME_SIZE];
    fab_component c = {.kind = kind, .id = id};
    return oracle_component_of(s, fab_component_name(s->fabric, &c, name)).damage;
}

static void check_components(size_t which, const oracle_study *s, const fab_study_summary *summary,
                             const fab_study_variant *is, const char *const *names, size_t n_names) {
    uint64_t n_components = 0;
    check_ranking(which, s, &is->critical, CASES[which].top, false, names, n_names);
    check_ranking(which, s, &is->links, CASES[which].top, true, names, n_names);
    for (size_t k = 0; k < is->n_classes; k++) {
        n_components += is->classes[k].n_components;
        cr_expect_leq(is->classes[k].damage, is->classes[k].worst_damage);
        EXPECT_CLOSE(is->classes[k].worst_damage, oracle_component_of(s, is->classes[k].worst).damage);
    }
    cr_expect_eq(n_components, summary->n_components);
    for (uint32_t c = 0; c < s->fabric->n_cables; c++) {
        double ends = fmax(damage_of(s, FAB_COMPONENT_PORT, 2 * c), damage_of(s, FAB_COMPONENT_PORT, 2 * c + 1));
        EXPECT_CLOSE(is->cable_damage[c], fmax(damage_of(s, FAB_COMPONENT_LINK, 2 * c), ends));
    }
    for (uint32_t i = 0; i < fab_n_switches(s->fabric); i++) {
        EXPECT_CLOSE(is->node_damage[s->fabric->first[FAB_NODE_SWITCH] + i], damage_of(s, FAB_COMPONENT_SWITCH, i));
    }
}

Test(oracle_summary, components_are_ranked_by_damage) {
    static char names[2000][FAB_COMPONENT_NAME_SIZE];
    static const char *list[2000];
    for (size_t which = 0; which < N_CASES; which++) {
        fab_outcome rows[MOST];
        study d = draw_study(which);
        uint32_t last = (uint32_t)d.n_variants - 1;
        oracle_study s = view(&d, last, rows);
        size_t n_names = all_names(&d, names, list);
        cr_assert_lt(n_names, 2000);
        check_components(which, &s, d.summary, &d.summary->variants[last], list, n_names);
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
                double damage[3];
                double least = INFINITY;
                double most = -INFINITY;
                bool runs = false;
                for (size_t p = 0; p < n_policies; p++) {
                    oracle_study s = {d.fabric, d.scenarios, &d.whole[e * n_policies + p], rows, 1, d.has_times};
                    damage[p] = oracle_damage(&s, &rows[p]);
                    least = fmin(least, damage[p]);
                    most = fmax(most, damage[p]);
                }
                size_t n = 0;
                for (size_t p = n_policies; p-- > 0;) {
                    n += damage[p] <= least + FAB_SAME_FACTOR;
                    runs = damage[p] == least ? rows[p].state == FAB_OUTCOME_RUNS : runs;
                }
                for (size_t p = 0; p < n_policies; p++) {
                    n_best[p] += damage[p] <= least + FAB_SAME_FACTOR;
                    n_alone[p] += damage[p] <= least + FAB_SAME_FACTOR && n == 1;
                }
                n_differ += most > least + FAB_SAME_FACTOR;
                n_rescued += rows[1].state == FAB_OUTCOME_STOPPED && runs;
                best += least;
                if (damage[1] - least > FAB_SAME_FACTOR && damage[1] - least > most_saved) {
                    most_saved = damage[1] - least;
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
            EXPECT_CLOSE(c->damage, best / (double)d.n);
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
                double damage = oracle_damage(&s, &rows[i]);
                bool stands = rows[i].state == FAB_OUTCOME_STOPPED && d.summary->span_s <= 0;
                for (size_t j = 0; j < s.n && !stands; j++) {
                    bool other = rows[j].state == FAB_OUTCOME_STOPPED && d.summary->span_s <= 0;
                    double its = oracle_damage(&s, &rows[j]);
                    rank += !other && (its > damage || (its == damage && j < i));
                }
                if (stands && n_stopped < CASES[which].top) {
                    cr_expect_eq(is->stopped[n_stopped].scenario, rows[i].scenario);
                    cr_expect(is->stopped[n_stopped].is_stopped);
                } else if (!stands && rank < CASES[which].top) {
                    cr_assert_lt(rank, is->n_worst);
                    cr_expect_eq(is->worst[rank].scenario, rows[i].scenario, "case %zu", which);
                    EXPECT_CLOSE(is->worst[rank].damage, damage);
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

/* --- what failures cost in histories -------------------------------------------------------------------------------
 */

/* Leibniz' way, by the first row. */
static double determinant(size_t n, double a[6][6]) {
    double sum = n == 0;
    for (size_t skip = 0; skip < n; skip++) {
        double minor[6][6];
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
    static double counts[MOST][6];
    double products[6][6] = {{0}};
    double left_squares = 0;
    size_t n = is->n_causes;
    double all = 0;
    double at_angle[6] = {0};
    double sums[6] = {0};
    for (size_t i = 0; i < s->n; i++) {
        double left = oracle_damage(s, &s->rows[i]);
        all += left;
        for (size_t j = 0; j < n; j++) {
            counts[i][j] = count_of(s, s->rows[i].scenario, is->causes[j].name);
            left -= counts[i][j] * is->causes[j].damage;
            sums[j] += counts[i][j];
        }
        left_squares += left * left;
        for (size_t j = 0; j < n; j++) {
            at_angle[j] += left * counts[i][j];
            for (size_t k = 0; k < n; k++) {
                products[j][k] += counts[i][j] * counts[i][k];
            }
        }
    }
    double whole = determinant(n, products);
    for (size_t j = 0; j < n; j++) {
        double minor[6][6];
        for (size_t a = 0, to = 0; a < n; a++) {
            for (size_t b = 0, at = 0; b < n && a != j; b++) {
                if (b != j) {
                    minor[to][at++] = products[a][b];
                }
            }
            to += a != j;
        }
        double error = sqrt(left_squares / (double)(s->n - n) * determinant(n - 1, minor) / whole);
        cr_expect_leq(fabs(at_angle[j]), 1e-9 * sums[j], "case %zu: %s", which, is->causes[j].name);
        cr_expect_leq(fabs(is->causes[j].ci95 - fab_student_t(s->n - n) * error), 1e-9 * error);
        EXPECT_CLOSE(is->causes[j].failures, sums[j] / (double)s->n);
        EXPECT_CLOSE(is->causes[j].share, is->causes[j].damage * sums[j] / all);
        cr_expect(j == 0 || is->causes[j].share <= is->causes[j - 1].share);
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
