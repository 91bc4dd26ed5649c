/* An outcome is a function of the request and the scenario: the same bytes in any order, by any number of threads and
 * assessors, after whatever was assessed before. A plain program, because Criterion does not run under ThreadSanitizer.
 */
#include "fab/design.h"
#include "fab/assess.h"
#include "fab/parallel.h"
#include "fab/rng.h"
#include "fab/topologies.h"
#include "context_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENARIOS 8
#define THREADS   3
#ifdef __SANITIZE_THREAD__ /* looks at threads; bytes are compared where the program is fast */
#define IS_COMPARED false
#else
#define IS_COMPARED true
#endif

static const fab_policy POLICIES[] = {FAB_POLICY_NONE, FAB_POLICY_FIRST_SPARE, FAB_POLICY_COLLISION_AWARE};
#define N_POLICIES (sizeof POLICIES / sizeof POLICIES[0])

static void must(fab_status status, const fab_error *err, const char *what) {
    if (status != FAB_OK) {
        (void)fprintf(stderr, "%s: %s\n", what, err->text);
        exit(1);
    }
}

typedef struct batch {
    const fab_assessment *assessment;
    const fab_scenarios *scenarios;
    const uint32_t *order; /* [SCENARIOS] */
    fab_assessor *assessors[THREADS];
    fab_outcome *out; /* [SCENARIOS][variants] */
} batch;

static fab_status run(void *context, size_t item, size_t worker, fab_error *err) {
    batch *b = context;
    uint32_t i = b->order[item];
    fab_scenario scenario = {.n_components = 0};
    fab_status status = fab_scenarios_get(b->scenarios, i, &scenario, err);
    if (status == FAB_OK) {
        status = fab_assess(b->assessors[worker], i, &scenario, fab_scenarios_span_s(b->scenarios),
                            b->out + i * fab_assessment_variants(b->assessment), err);
    }
    fab_scenario_release(&scenario);
    return status;
}

/* Differences between a run in order and one that is shuffled, over threads that have assessed something else before.
 */
static int compare(const fab_assessment *assessment, const fab_scenarios *scenarios, const char *what) {
    fab_error err = {0};
    uint32_t order[SCENARIOS];
    size_t size = SCENARIOS * fab_assessment_variants(assessment);
    batch one = {.assessment = assessment, .scenarios = scenarios, .order = order};
    for (uint32_t i = 0; i < SCENARIOS; i++) {
        order[i] = i;
    }
    for (size_t k = 0; k < THREADS; k++) {
        must(fab_assessor_new(assessment, &one.assessors[k], &err), &err, what);
    }
    batch many = one;
    one.out = calloc(size, sizeof *one.out);
    many.out = calloc(size, sizeof *many.out);
    if (IS_COMPARED) {
        must(fab_parallel_for(SCENARIOS, 1, run, &one, &err), &err, what);
    }
    fab_rng rng = fab_rng_make(5, 0);
    fab_rng_shuffle(&rng, order, SCENARIOS);
    must(fab_parallel_for(SCENARIOS, THREADS, run, &many, &err), &err, what);
    int differs = IS_COMPARED && memcmp(one.out, many.out, size * sizeof *one.out) != 0;
    double stopped = 0;
    for (size_t i = 0; i < size; i++) {
        stopped += many.out[i].state == FAB_OUTCOME_STOPPED;
    }
    if (differs) {
        (void)fprintf(stderr, "%s: another order gives other outcomes\n", what);
    }
    (void)printf("%s: %zu outcomes, %.0f stopped\n", what, size, stopped);
    for (size_t k = 0; k < THREADS; k++) {
        fab_assessor_free(one.assessors[k]);
    }
    free(one.out);
    free(many.out);
    return differs;
}

static int check(const char *design_text, const char *const *job, const char *engine, bool times) {
    static const char *const SOURCES[] = {"links:2@8", "servers:2@8", "switches:1@8", "time:2d@8"};
    int failures = 0;
    fab_design design;
    fab_fabric *fabric = NULL;
    fab_assessment *assessment = NULL;
    fab_error err = {0};
    fab_engine_spec spec = {.where = "test"};
    (void)snprintf(spec.text, sizeof spec.text, "%s", engine);
    must(fab_design_read(design_text, NULL, 0, &design, &err), &err, design_text);
    must(fab_topology_build(&design.fabric, &fabric, NULL, &err), &err, design_text);
    for (size_t i = 0; job[i] != NULL; i += 2) {
        must(fab_design_set_job(&design, 0, job[i], job[i + 1], "test", &err), &err, job[i]);
    }
    fab_failure_rates rates = fab_failure_rates_default();
    for (int c = 0; c < FAB_FAILURE_N; c++) {
        rates.per_s[c] = 0.02 / 86400;
    }
    rates.stops_per_s = 1e-6;
    const fab_context_request asked = {
        .design = &design, .fabric = fabric, .traffic = "job", .engines = &spec, .n_engines = 1, .seed = 2};
    fab_context *context = fixture_context(&asked);
    const fab_assessment_request request = {
        .context = context, .policies = POLICIES, .n_policies = N_POLICIES, .times = times, .rates = rates};
    must(fab_assessment_new(&request, &assessment, &err), &err, design_text);
    for (size_t i = 0; i < sizeof SOURCES / sizeof SOURCES[0]; i++) {
        fab_scenarios *scenarios = NULL;
        char what[256];
        must(fab_scenarios_new(SOURCES[i], fabric, NULL, &rates, 9, &scenarios, &err), &err, SOURCES[i]);
        (void)snprintf(what, sizeof what, "%s, %s, %s", design_text, engine, SOURCES[i]);
        failures += compare(assessment, scenarios, what);
        fab_scenarios_free(scenarios);
    }
    fab_assessment_free(assessment);
    fab_context_free(context);
    fab_fabric_free(fabric);
    return failures;
}

int main(void) {
    static const char *const JOB[] = {"tp", "4", "pp", "3", "dp", "3", "servers", "0-8", "memory-check", "off", NULL};
    int failures = check("rail-spine:gpus=48,gpus-per-server=4,radix=8", JOB, "ecmp,qp=2", true);
    failures += check("clos:gpus=48,gpus-per-server=4,radix=12,taper=2", JOB, "pinned,slices=2", true);
    failures += check("clos:gpus=48,gpus-per-server=4,radix=12,taper=2", JOB, "spray", false);
    failures +=
        check("rail-only:gpus=48,gpus-per-server=4,domain=8,radix=8,planes=2", JOB, "ecmp,member-loss=resilient", true);
    (void)printf("%s\n", failures == 0 ? "the same bytes in any order" : "FAILED");
    return failures == 0 ? 0 : 1;
}
