/**
 * @file assess_fixture.h
 * A job under all policies of histories.
 */
#pragma once

#include "fab/assess.h"
#include "fab/design.h"
#include "relocate_fixture.h"
#include "context_fixture.h"

static const fab_policy OF_ALL[] = {FAB_POLICY_NONE, FAB_POLICY_FIRST_SPARE, FAB_POLICY_COLLISION_AWARE,
                                    FAB_POLICY_SHRINK};
#define N_OF_ALL (sizeof OF_ALL / sizeof OF_ALL[0])

typedef struct plant {
    fab_design design;
    fab_fabric *f;
    fab_engine_spec engine;
    fab_context *context;
    fab_failure_rates rates;
    fab_assessment *assessment;
    fab_scenarios *scenarios;
} plant;

static void set_up(plant *p, const char *design, const char *engine, const char *const *job) {
    *p = (plant){.engine = fixture_spec(engine)};
    fab_error err = {0};
    p->f = fixture_build(design, &p->design, NULL);
    for (; *job != NULL; job++) {
        char key[32];
        const char *equals = strchr(*job, '=');
        (void)snprintf(key, sizeof key, "%.*s", (int)(equals - *job), *job);
        cr_assert_eq(fab_design_set_job(&p->design, 0, key, equals + 1, "test", &err), FAB_OK, "%s", err.text);
    }
    p->rates = (fab_failure_rates){.checkpoint_s = 3000,
                                   .restart_s = 600,
                                   .reform_s = 900,
                                   .regrow = 0.2,
                                   .pause_s = 7,
                                   .lag_s = 60,
                                   .join_s = 100,
                                   .slow_speed = 0.7,
                                   .flap_speed = 0.5,
                                   .detect_loss = 0.4,
                                   .detect_s = 5000,
                                   .throttle = 0.02};
    for (int c = 0; c < FAB_FAILURE_N; c++) {
        p->rates.per_s[c] = 0.004 / 86400;
        p->rates.repair_s[c] = c == FAB_FAILURE_SOFTWARE ? 0 : 40000;
    }
    const fab_context_request asked = {
        .design = &p->design, .fabric = p->f, .traffic = "job", .engines = &p->engine, .n_engines = 1, .seed = 3};
    p->context = fixture_context(&asked);
}

static inline void open_plant(plant *p, const char *source, fab_scenarios **out) {
    fab_error err = {0};
    const fab_assessment_request request = {
        .context = p->context, .policies = OF_ALL, .n_policies = N_OF_ALL, .times = true, .rates = p->rates};
    cr_assert_eq(fab_assessment_new(&request, &p->assessment, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_scenarios_new(source, p->f, NULL, &p->rates, 5, out, &err), FAB_OK, "%s", err.text);
}

static void tear_down(plant *p) {
    fab_scenarios_free(p->scenarios);
    fab_assessment_free(p->assessment);
    fab_context_free(p->context);
    fab_fabric_free(p->f);
}
