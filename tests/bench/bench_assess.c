/* Measures failure scenarios of a whole training job (bench.h says how): one to four random cables of the network or
 * switches above the leaves die, and the job's loads, or its loads and the time of an iteration, are found again; and a
 * history of 54 days. The job is the design's, but on 16,384 GPUs of a larger fabric: then there are spares. */
#include "engines/router.h"
#include "bench.h"
#include "fab/design.h"
#include "fab/assess.h"
#include "fab/reroute.h"
#include "fab/rng.h"
#include "context_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST        4
#define MOST_PHASES 16

typedef struct state {
    fab_link_id *cable; /* shape [n_cables]: between switches */
    uint32_t n_cables;
} state;

typedef struct work {
    const char *engine;
    uint32_t scenarios; /* of a run */
    bool times;
    fab_policy policy;
    const char *source; /* of histories; NULL: cables and switches */
} work;

/* Cables, and now and then a switch that no NIC is plugged into. */
static size_t draw(const bench *b, uint64_t scenario, fab_component *out) {
    const state *s = b->state;
    const fab_fabric *f = b->fabric;
    uint32_t first = f->n_tiers > 1 ? f->first_of_tier[2] : f->first_of_tier[1];
    uint32_t n_upper = f->first[FAB_NODE_SWITCH + 1] - first;
    fab_rng rng = fab_rng_make(1, scenario);
    size_t n = 1 + scenario % MOST;
    for (size_t i = 0; i < n; i++) {
        bool is_switch = fab_is_tree(f) && n_upper > 0 && i == 0 && scenario % 10 == 9;
        out[i] = is_switch
                     ? (fab_component){.kind = FAB_COMPONENT_SWITCH,
                                       .id = first - f->first[FAB_NODE_SWITCH] + (uint32_t)fab_rng_below(&rng, n_upper)}
                     : (fab_component){.kind = FAB_COMPONENT_LINK, .id = s->cable[fab_rng_below(&rng, s->n_cables)]};
    }
    return n;
}

static fab_status measure(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    const state *s = b->state;
    const work *w = row->argument;
    fab_engine_spec spec = {.where = "bench"};
    fab_context *context = NULL;
    fab_assessment *assessment = NULL;
    fab_assessor *assessor = NULL;
    fab_scenarios *histories = NULL;
    fab_scenario history = {.n_components = 0};
    double sum = 0;
    if (s->n_cables == 0) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "no cable joins switches");
    }
    (void)snprintf(spec.text, sizeof spec.text, "%s", w->engine);
    const fab_context_request asked = {
        .design = &b->design, .fabric = b->fabric, .traffic = "job", .engines = &spec, .n_engines = 1, .seed = 1};
    context = fixture_context(&asked);
    const fab_assessment_request request = {.context = context,
                                            .policies = &w->policy,
                                            .n_policies = 1,
                                            .times = w->times,
                                            .rates = fab_failure_rates_default()};
    size_t before = bench_peak_bytes();
    FAB_TRY(fab_assessment_new(&request, &assessment, err));
    FAB_TRY(fab_assessor_new(assessment, &assessor, err));
    if (w->source != NULL) {
        FAB_TRY(fab_scenarios_new(w->source, b->fabric, NULL, NULL, 1, &histories, err));
    }
    for (uint32_t run = 0; run <= b->n_runs; run++) { /* the first run gets the memory that the others reuse */
        double start = bench_now();
        for (uint32_t i = 0; i < w->scenarios; i++) {
            fab_component dead[MOST];
            fab_scenario scenario = {.component = dead, .n_components = draw(b, i, dead)};
            fab_outcome outcome;
            if (histories != NULL) {
                FAB_TRY(fab_scenarios_get(histories, i, &history, err));
            }
            FAB_TRY(fab_assess(assessor, i, histories != NULL ? &history : &scenario,
                               histories != NULL ? fab_scenarios_span_s(histories) : 0, &outcome, err));
            sum += histories != NULL                   ? outcome.goodput
                   : outcome.state != FAB_OUTCOME_RUNS ? 0
                   : w->times                          ? outcome.slowdown
                                                       : outcome.worst_ratio;
        }
        if (run > 0) {
            bench_keep_run(out, start);
        }
    }
    out->units = w->scenarios;
    out->bytes = bench_peak_bytes() - before;
    (void)snprintf(out->more, sizeof out->more, "\"per_s\": %.1f, \"mean\": %.6f, ",
                   w->scenarios / (out->cpu_s > 0 ? out->cpu_s : 1e-9), sum / (double)w->scenarios / (b->n_runs + 1));
done:
    fab_scenario_release(&history);
    fab_scenarios_free(histories);
    fab_assessor_free(assessor);
    fab_assessment_free(assessment);
    fab_context_free(context);
    return status;
}

/* What assessing is measured against: routing again what a scenario touches, phase by phase; of two with the same flows
 * the first. */
static fab_status measure_bare(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    const work *w = row->argument;
    const state *s = b->state;
    fab_engine_spec spec = {.where = "bench"};
    fab_router router = {.engine = NULL};
    fab_next_hops *next_hops = NULL;
    fab_traffic traffic = {.n_phases = 0};
    fab_offer offer[MOST_PHASES] = {{.fabric = NULL}};
    fab_baseline *baseline[MOST_PHASES] = {NULL};
    fab_reroute *reroute[MOST_PHASES] = {NULL};
    fab_mask mask = {.fabric = NULL};
    if (s->n_cables == 0) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "no cable joins switches");
    }
    (void)snprintf(spec.text, sizeof spec.text, "%s", w->engine);
    FAB_TRY(fab_next_hops_new(b->fabric, NULL, &next_hops, err));
    FAB_TRY(fab_router_init(&spec, b->fabric, next_hops, &router, err));
    FAB_TRY(fab_traffic_make("job", &b->design, b->fabric, 1, &traffic, err));
    FAB_TRY(fab_mask_init(b->fabric, NULL, &mask, err));
    for (size_t p = 0; p < traffic.n_phases && p < MOST_PHASES; p++) {
        bool is_duplicate = p > 0 && strcmp(traffic.phases[p].name, "dp-ag") == 0;
        FAB_TRY(fab_offer_init(b->fabric, &b->ports, &traffic.phases[p], &offer[p], err));
        const fab_baseline_request request = {
            .router = &router, .phase = &traffic.phases[p], .offer = &offer[p], .seed = 1};
        if (!is_duplicate) {
            FAB_TRY(fab_baseline_new(&request, &baseline[p], err));
            FAB_TRY(fab_reroute_new(baseline[p], &reroute[p], err));
        }
    }
    for (uint32_t run = 0; run <= b->n_runs; run++) {
        double start = bench_now();
        for (uint32_t i = 0; i < w->scenarios; i++) {
            fab_component dead[MOST];
            FAB_TRY(fab_mask_set(&mask, dead, draw(b, i, dead), err));
            for (size_t p = 0; p < traffic.n_phases && p < MOST_PHASES; p++) {
                fab_rerouted result;
                if (reroute[p] != NULL) {
                    FAB_TRY(fab_reroute_apply(reroute[p], &mask, FAB_WHEN_CONVERGED, &result, err));
                }
            }
        }
        if (run > 0) {
            bench_keep_run(out, start);
        }
    }
    out->units = w->scenarios;
done:
    for (size_t p = 0; p < MOST_PHASES; p++) {
        fab_reroute_free(reroute[p]);
        fab_baseline_free(baseline[p]);
        if (offer[p].fabric != NULL) {
            fab_offer_release(&offer[p]);
        }
    }
    fab_mask_release(&mask);
    fab_router_release(&router);
    fab_traffic_release(&traffic);
    fab_next_hops_free(next_hops);
    return status;
}

static const work LOADS = {.engine = "ecmp,qp=16", .scenarios = 1000};
static const work TIMES = {.engine = "ecmp,qp=16", .scenarios = 1000, .times = true};
static const work TIMES_DMODK = {.engine = "dmodk", .scenarios = 200, .times = true};
static const work TIMES_PINNED = {.engine = "pinned", .scenarios = 200, .times = true};
static const work TIMES_SPRAY = {.engine = "spray", .scenarios = 4, .times = true};
static const work TIMES_ADAPTIVE = {.engine = "adaptive", .scenarios = 2, .times = true};
static const work HISTORY = {
    .engine = "ecmp,qp=16", .scenarios = 1, .times = true, .policy = FAB_POLICY_FIRST_SPARE, .source = "time:54d@1"};

static const bench_row ROWS[] = {
    {"reroute", "scenario", measure_bare, &LOADS},
    {"loads", "scenario", measure, &LOADS},
    {"times", "scenario", measure, &TIMES},
    {"times-dmodk", "scenario", measure, &TIMES_DMODK},
    {"times-pinned", "scenario", measure, &TIMES_PINNED},
    {"times-spray", "scenario", measure, &TIMES_SPRAY},
    {"times-adaptive", "scenario", measure, &TIMES_ADAPTIVE},
    {"history", "history", measure, &HISTORY},
    {NULL, NULL, NULL, NULL},
};

/* ----------------------------------------------------------------------------------------------------------------- */

/* 16,384 GPUs of a fabric that has more: the Llama 3 job of Table 4. */
static fab_status make_room(bench *b, fab_error *err) {
    static const char *const JOB[][2] = {{"model", "llama3-405b"}, {"tp", "8"},          {"pp", "16"}, {"dp", "128"},
                                         {"batch", "2048"},        {"servers", "0-2047"}};
    fab_status status = FAB_OK;
    bool fits = fab_n_gpus(b->fabric) > 16384 && b->fabric->gpus_per_server == 8;
    for (size_t i = 0; fits && i < sizeof JOB / sizeof JOB[0]; i++) {
        FAB_TRY(fab_design_set_job(&b->design, 0, JOB[i][0], JOB[i][1], "bench", err));
    }
done:
    return status;
}

static fab_status prepare(bench *b, fab_error *err) {
    fab_status status = FAB_OK;
    state *s = b->state;
    FAB_TRY(make_room(b, err));
    s->cable = calloc((size_t)b->fabric->n_cables + 1, sizeof *s->cable);
    if (s->cable == NULL) {
        FAB_FAIL(err, FAB_ENOMEM, NULL, "no memory");
    }
    for (uint32_t l = 0; l < b->fabric->n_links; l += 2) {
        if (fab_class_of(b->fabric, l)->kind == FAB_LINK_FABRIC) {
            s->cable[s->n_cables++] = l;
        }
    }
done:
    return status;
}

static void release(bench *b) {
    free(((state *)b->state)->cable);
}

int main(int argc, char **argv) {
    static const bench_program PROGRAM = {"bench_assess", ROWS, sizeof(state), prepare, release};
    return bench_main(&PROGRAM, argc, argv);
}
