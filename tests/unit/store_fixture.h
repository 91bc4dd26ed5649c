/**
 * @file store_fixture.h
 * A plan of scenarios that nobody computes: outcomes are a function of the seed and the scenario's number.
 */
#pragma once

#include "../../src/study/study_loop.h"

#include "fab/rng.h"
#include "fab/shard.h"
#include "fab/study.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIXTURE_K 4 /* components of a scenario */

static inline void fixture_remove(const char *folder) {
    char command[256];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    cr_assert_eq(system(command), 0);
}

/** A new folder's name; nothing is there. */
static inline const char *fixture_folder(char out[64]) {
    (void)snprintf(out, 64, "store-XXXXXX");
    cr_assert_not_null(mkdtemp(out));
    cr_assert_eq(rmdir(out), 0);
    return out;
}

static inline char *fixture_text(const char *text) {
    char *copy = malloc(strlen(text) + 1);
    cr_assert_not_null(copy);
    return strcpy(copy, text);
}

static inline void fixture_text_of(char **out, const char *format, size_t i) {
    char text[64];
    (void)snprintf(text, sizeof text, format, i);
    *out = fixture_text(text);
}

static inline fab_plan fixture_plan(uint64_t n_scenarios, size_t n_variants, uint64_t seed, double span_s) {
    fab_plan plan = {.program = fixture_text("1.2.3"),
                     .name = fixture_text("fixture"),
                     .origin = fixture_text("fixture.xml"),
                     .design = fixture_text("name=fixture\n"),
                     .digest = "0123456789abcdef",
                     .traffic = fixture_text("job"),
                     .scenarios = fixture_text("links:4"),
                     .seed = seed,
                     .n_scenarios = n_scenarios,
                     .block = fab_plan_block(n_scenarios),
                     .figures = FAB_FIGURES_TIMES,
                     .span_s = span_s,
                     .checkpoint_s = 10800,
                     .restart_s = 600,
                     .n_variants = n_variants,
                     .n_components = span_s > 0             ? 0
                                     : n_scenarios < 100000 ? 500
                                                            : 50000,
                     .n_rates = 2};
    plan.variants = calloc(n_variants, sizeof *plan.variants);
    plan.components = calloc(plan.n_components + 1, sizeof *plan.components);
    plan.rates = calloc(plan.n_rates, sizeof *plan.rates);
    for (size_t i = 0; i < n_variants; i++) {
        fixture_text_of(&plan.variants[i].engine, "engine-%zu", i);
        fixture_text_of(&plan.variants[i].label, "engine-%zu,seed=1", i);
        fixture_text_of(&plan.variants[i].policy, "none", i);
        plan.variants[i].healthy = (fab_outcome){.variant = (uint32_t)i,
                                                 .n_collisions = 7,
                                                 .worst_link = i == 0 ? UINT32_MAX : 12,
                                                 .lost_ratio = 0,
                                                 .worst_ratio = 1.0 / 3,
                                                 .time_s = i == 1 ? NAN : 0.1};
    }
    for (size_t i = 0; i < plan.n_components; i++) {
        fixture_text_of(&plan.components[i].kind, "link", i);
        fixture_text_of(&plan.components[i].name, "leaf-0:%zu > spine-0:1", i);
        plan.components[i].residual = i % 10 == 9 ? 0.5 : 0;
    }
    for (size_t i = 0; i < plan.n_rates; i++) {
        fixture_text_of(&plan.rates[i].name, "class-%zu", i);
        plan.rates[i].per_s = 1e-9 / (double)(i + 3);
        plan.rates[i].repair_s = 3600;
    }
    fab_plan_seal(&plan);
    return plan;
}

static inline double fixture_real(uint64_t bits) {
    return bits % 16 == 0 ? NAN : bits % 16 == 1 ? -0.0 : bits % 16 == 2 ? 3 : (double)(bits >> 11) * 0x1p-53;
}

/** Outcomes of a scenario under every variant, and what fails. */
static inline void fixture_scenario(const fab_plan *plan, uint64_t i, fab_outcome *out, uint32_t component[FIXTURE_K],
                                    size_t *out_n) {
    for (size_t v = 0; v < plan->n_variants; v++) {
        fab_rng rng = fab_rng_make(plan->seed, i * plan->n_variants + v);
        bool history = plan->span_s > 0;
        out[v] = (fab_outcome){.scenario = i,
                               .variant = (uint32_t)v,
                               .state = (uint32_t)fab_rng_below(&rng, FAB_OUTCOME_N_STATES),
                               .n_disconnected = (uint32_t)fab_rng_below(&rng, 400),
                               .n_moved = (uint32_t)fab_rng_below(&rng, 3),
                               .n_collisions = (uint32_t)(10000 + fab_rng_below(&rng, 1000)),
                               .worst_link = (uint32_t)fab_rng_below(&rng, 100000)};
        out[v].worst_link = out[v].worst_link % 100 == 0 ? UINT32_MAX : out[v].worst_link;
        out[v].lost_ratio = fixture_real(fab_rng_next(&rng));
        out[v].worst_ratio = fixture_real(fab_rng_next(&rng));
        out[v].time_s = fixture_real(fab_rng_next(&rng));
        out[v].slowdown = fixture_real(fab_rng_next(&rng));
        out[v].goodput = history ? fixture_real(fab_rng_next(&rng)) : NAN;
        out[v].restart_ratio = history ? fixture_real(fab_rng_next(&rng)) : NAN;
        out[v].redo_ratio = history ? fixture_real(fab_rng_next(&rng)) : NAN;
        out[v].slow_ratio = history ? fixture_real(fab_rng_next(&rng)) : NAN;
        out[v].wait_ratio = history ? fixture_real(fab_rng_next(&rng)) : NAN;
        out[v].n_failures = history ? (uint32_t)fab_rng_below(&rng, 300) : 0;
        out[v].n_stops = history ? (uint32_t)fab_rng_below(&rng, 200) : 0;
    }
    *out_n = 0;
    for (uint32_t k = 0; plan->span_s == 0 && k < FIXTURE_K; k++) { /* ascending */
        uint32_t part = (uint32_t)(plan->n_components / FIXTURE_K);
        if (fab_draw(plan->seed + 1, i, k) % 8 > 0) {
            component[(*out_n)++] = k * part + (uint32_t)(fab_draw(plan->seed, i, k) % part);
        }
    }
}

#define MOST_VARIANTS 4

typedef struct assessor { /* what a run of a test computes with */
    const fab_plan *plan;
    uint32_t component[8][FIXTURE_K];
    uint64_t fails_at; /* UINT64_MAX: never */
    uint64_t other_at; /* has another outcome; UINT64_MAX: none */
    bool is_slow;
} assessor;

static inline fab_status assess(void *context, size_t worker, uint64_t scenario, fab_outcome *out,
                                const uint32_t **out_component, size_t *out_n, fab_error *err) {
    assessor *a = context;
    if (scenario == a->fails_at) {
        return fab_fail(err, FAB_EUNSUPPORTED, NULL, "scenario %llu is too much", (unsigned long long)scenario);
    }
    fixture_scenario(a->plan, scenario, out, a->component[worker], out_n);
    if (scenario == a->other_at) {
        out[0].n_moved += 1;
    }
    if (a->is_slow && fab_mix64(scenario) % 64 == 0) { /* blocks end out of order */
        struct timespec pause = {.tv_nsec = (long)(fab_mix64(scenario) >> 44)};
        (void)nanosleep(&pause, NULL);
    }
    *out_component = a->component[worker];
    return FAB_OK;
}

static inline assessor make_assessor(const fab_plan *plan) {
    return (assessor){.plan = plan, .fails_at = UINT64_MAX, .other_at = UINT64_MAX};
}

static inline void must(fab_status status, const fab_error *err) {
    cr_assert_eq(status, FAB_OK, "%s: %s", err->where, err->text);
}

static inline fab_study_tally run(const char *folder, const fab_plan *plan, uint32_t shard, uint32_t n_shards,
                                  size_t n_threads, assessor *a, fab_status expected, fab_error *err) {
    fab_shard *s = NULL;
    fab_study_tally tally = {0};
    fab_study_job job = {.shard = shard, .n_shards = n_shards, .n_threads = n_threads};
    must(fab_shard_open(folder, plan, shard, n_shards, &s, err), err);
    fab_status status = study_loop_run(&job, plan, s, assess, a, &tally, err);
    cr_assert_eq(status, expected, "%d %s: %s", status, err->where, err->text);
    fab_shard_close(s);
    return tally;
}

static inline void gather(const char *folder, const fab_plan *plan, bool partial, fab_gathered *out) {
    fab_error err = {0};
    must(fab_store_gather(folder, plan, partial, NULL, NULL, out, &err), &err);
}

static inline const char *join(const char *folder, const char *name) {
    static char path[4][256];
    static size_t next;
    char *out = path[next++ % 4];
    (void)snprintf(out, 256, "%s/%s", folder, name);
    return out;
}

static inline bool exists(const char *folder, const char *name) {
    return access(join(folder, name), F_OK) == 0;
}

static inline char *read_whole(const char *path, size_t *out_size) {
    FILE *in = fopen(path, "rb");
    cr_assert_not_null(in, "%s", path);
    (void)fseek(in, 0, SEEK_END);
    *out_size = (size_t)ftell(in);
    (void)fseek(in, 0, SEEK_SET);
    char *bytes = malloc(*out_size);
    cr_assert_eq(fread(bytes, 1, *out_size, in), *out_size);
    (void)fclose(in);
    return bytes;
}

static inline void same_files(const char *a, const char *b) {
    size_t n_a = 0;
    size_t n_b = 0;
    char *x = read_whole(a, &n_a);
    char *y = read_whole(b, &n_b);
    cr_assert_eq(n_a, n_b, "%s and %s", a, b);
    cr_assert_eq(memcmp(x, y, n_a), 0, "%s and %s", a, b);
    free(x);
    free(y);
}

/* A store with every scenario done, by one worker. */
static inline void make_store(char folder[64], const fab_plan *plan) {
    fab_error err = {0};
    bool was_there = true;
    assessor a = make_assessor(plan);
    (void)fixture_folder(folder);
    must(fab_plan_write(folder, plan, &was_there, &err), &err);
    cr_assert(!was_there);
    fab_study_tally tally = run(folder, plan, 0, 1, 1, &a, FAB_OK, &err);
    cr_assert_eq(tally.n_run, plan->n_scenarios);
}

static inline void same_real(double a, double b) {
    cr_assert(isnan(a) ? isnan(b) : a == b, "%g and %g", a, b);
}

static inline void check_plan(const fab_plan *got, const fab_plan *plan) {
    cr_assert_str_eq(got->id, plan->id);
    cr_assert_str_eq(got->program, plan->program);
    cr_assert_str_eq(got->design, plan->design);
    cr_assert_str_eq(got->digest, plan->digest);
    cr_assert_eq(got->seed, plan->seed);
    cr_assert_eq(got->n_scenarios, plan->n_scenarios);
    cr_assert_eq(got->block, plan->block);
    cr_assert_eq(got->figures, plan->figures);
    cr_assert_eq(got->span_s, plan->span_s);
    cr_assert_eq(got->n_variants, plan->n_variants);
    for (size_t v = 0; v < plan->n_variants; v++) {
        cr_assert_str_eq(got->variants[v].label, plan->variants[v].label);
        cr_assert_eq(got->variants[v].healthy.worst_link, plan->variants[v].healthy.worst_link);
        same_real(got->variants[v].healthy.time_s, plan->variants[v].healthy.time_s);
        same_real(got->variants[v].healthy.worst_ratio, plan->variants[v].healthy.worst_ratio);
    }
    cr_assert_eq(got->n_components, plan->n_components);
    for (size_t i = 0; i < plan->n_components; i += 997) {
        cr_assert_str_eq(got->components[i].name, plan->components[i].name);
        cr_assert_eq(got->components[i].residual, plan->components[i].residual);
    }
    cr_assert_eq(got->n_rates, plan->n_rates);
    cr_assert_eq(got->rates[1].per_s, plan->rates[1].per_s);
}
