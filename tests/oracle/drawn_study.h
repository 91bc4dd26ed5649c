/**
 * @file drawn_study.h
 * Studies whose rows are drawn, summed up: what the tests of summaries look at.
 */
#pragma once

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
    fab_outcome healthy[6];
    fab_outcome *rows;   /* shape [n][n_variants] */
    fab_scenario *drawn; /* shape [n]: what each row is of */
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

static inline int by_value(const void *a, const void *b) {
    return (*(const uint32_t *)a > *(const uint32_t *)b) - (*(const uint32_t *)a < *(const uint32_t *)b);
}

static inline fab_status look_up(void *context, uint64_t scenario, const uint32_t **out, size_t *out_n,
                                 fab_error *err) {
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

/* That histories are dealt to. */
static inline size_t drawn_draws(size_t i) {
    return i == 7 ? 8 : 1;
}

static inline study draw_study(size_t i) {
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
    d.drawn = calloc(n, sizeof *d.drawn);
    for (uint32_t v = 0; v < d.n_variants; v++) {
        d.healthy[v] = random_healthy(v, d.has_times);
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
                                   .n_draws = drawn_draws(i),
                                   .is_enumerated = span_s <= 0 && strchr(CASES[i].scenarios, '@') == NULL &&
                                                    strncmp(CASES[i].scenarios, "file:", 5) != 0,
                                   .components = b.component,
                                   .n_components = b.n,
                                   .failed = look_up,
                                   .failed_context = &b,
                                   .histories = d.scenarios,
                                   .engines = ENGINES,
                                   .n_engines = CASES[i].n_engines,
                                   .policies = POLICIES,
                                   .n_policies = CASES[i].n_policies,
                                   .healthy = d.healthy,
                                   .top = CASES[i].top,
                                   .keep_impact = true};
    cr_assert_eq(fab_summariser_new(&request, &s, &err), FAB_OK, "%s", err.text);
    for (uint64_t j = 0; j < n; j++) {
        if (CASES[i].leave_out > 0 && j % CASES[i].leave_out == 1) {
            continue;
        }
        for (uint32_t v = 0; v < d.n_variants; v++) {
            d.rows[d.n * d.n_variants + v] = random_row(i, j, v, span_s, d.has_times, CASES[i].steps);
        }
        cr_assert_eq(fab_scenarios_get(d.scenarios, j, &d.drawn[d.n], &err), FAB_OK);
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

static inline void drop(study *d) {
    for (size_t i = 0; i < d->n; i++) {
        fab_scenario_release(&d->drawn[i]);
    }
    free(d->drawn);
    fab_study_summary_free(d->summary);
    fab_scenarios_free(d->scenarios);
    fab_fabric_free(d->fabric);
    free(d->rows);
}

/* The rows of one variant. */
static inline oracle_study view(const study *d, uint32_t variant, fab_outcome *rows) {
    for (size_t i = 0; i < d->n; i++) {
        rows[i] = d->rows[i * d->n_variants + variant];
    }
    static double ceilings[MOST * ORACLE_SET];
    oracle_study s = {d->fabric, d->scenarios, &d->healthy[variant], rows, d->n, d->has_times, d->drawn, NULL};
    if (d->summary->span_s <= 0 && !d->summary->is_single) {
        oracle_find_ceilings(&s, ceilings);
        s.ceiling = ceilings;
    }
    return s;
}

static inline bool are_close(double a, double b) {
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-12 * fmax(1, fabs(b));
}

#define EXPECT_CLOSE(a, b) cr_expect(are_close((a), (b)), "case %zu: %s is %.17g, not %.17g", which, #a, (a), (b))
