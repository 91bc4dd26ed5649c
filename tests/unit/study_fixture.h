/**
 * @file study_fixture.h
 * A summary of a study filled by hand: two policies, of which the second has figures that are not known.
 */
#pragma once

#include "fab/study_summary.h"

#include <math.h>
#include <stdio.h>

/* Owns nothing. `nasty` stands where names come from outside. */
static inline const fab_study_summary *fixture_study(const char *nasty) {
    static fab_study_summary s;
    static fab_study_variant v[2];
    static fab_study_choice choice;
    static fab_study_case worst[2], stopped[1];
    static fab_critical critical[2];
    static fab_critical_class classes[2];
    worst[0] = (fab_study_case){.scenario = 7,
                                .failed = "leaf-0:3 > spine-0:1, leaf-1",
                                .fullest = "leaf-0:4 > spine-0:2",
                                .impact = 0.25,
                                .slowdown = 4.0 / 3,
                                .time_s = 4,
                                .worst_ratio = 1.5,
                                .lost_ratio = 0.125,
                                .goodput = NAN,
                                .n_failed = 2,
                                .n_disconnected = 12,
                                .n_moved = 1};
    worst[1] = worst[0];
    worst[1].scenario = UINT64_C(999999999);
    (void)snprintf(worst[1].name, sizeof worst[1].name, "%s", nasty);
    (void)snprintf(worst[1].failed, sizeof worst[1].failed, "%s", nasty);
    stopped[0] = (fab_study_case){.scenario = 1,
                                  .failed = "server-1",
                                  .is_stopped = true,
                                  .impact = 1,
                                  .slowdown = NAN,
                                  .time_s = NAN,
                                  .worst_ratio = NAN,
                                  .goodput = NAN};
    critical[0] = (fab_critical){.name = "leaf-0:3 > spine-0:1",
                                 .kind = "link",
                                 .n_scenarios = 40,
                                 .impact = 0.25,
                                 .ci95 = 0.03125,
                                 .mean_slowdown = 1.3,
                                 .worst_slowdown = 1.5,
                                 .mean_ratio = 1.25,
                                 .worst_ratio = 1.75,
                                 .worst_scenario = 7,
                                 .is_clear = true};
    critical[1] = (fab_critical){.name = "leaf-1",
                                 .kind = "switch",
                                 .n_scenarios = 1,
                                 .n_stopped = 1,
                                 .impact = 1,
                                 .ci95 = NAN,
                                 .mean_slowdown = NAN,
                                 .worst_slowdown = NAN,
                                 .mean_ratio = NAN,
                                 .worst_ratio = NAN};
    classes[0] = (fab_critical_class){"leaf switches", 2, 2, 1, 0.5, 0.0625, 1, "leaf-1", 1, 1, 60, 10, 0.4, true};
    classes[1] = (fab_critical_class){"leaf-spine links",     4, 4, 0,  0.1, NAN, 0.25,
                                      "leaf-0:3 > spine-0:1", 1, 1, 80, 0,   NAN, false};
    fab_spread spread = {90, 1.125, 1, 1.25, 4.0 / 3, 4.0 / 3, 7};
    v[0] = (fab_study_variant){.engine = "ecmp,hash=crc32,qp=16,offset=0/8/16/24",
                               .policy = "first-spare",
                               .healthy_time_s = 3,
                               .healthy_ratio = 1.25,
                               .n_done = 100,
                               .n_stopped = 10,
                               .n_disconnected = 12,
                               .n_moved = 30,
                               .impact = 0.2,
                               .slowdown = spread,
                               .time_s = spread,
                               .worst_ratio = spread,
                               .collisions = spread,
                               .lost_ratio = {100, 0.01, 0, 0.01, 0.125, 0.125, 7},
                               .moved = {100, 0.3, 0, 1, 1, 1, 2},
                               .bin = {60, 10, 0, 5, 5, 5, 5},
                               .n_best = 90,
                               .n_alone = 5,
                               .access = {16, 4, 3, 1.0625, 1.125},
                               .worst = worst,
                               .n_worst = 2,
                               .stopped = stopped,
                               .n_stopped_shown = 1,
                               .critical = {critical, 2, 5, critical, 1},
                               .links = {critical, 1, 0, NULL, 0},
                               .n_interactions = 3,
                               .worst_interaction = 11,
                               .causes = {{"gpus", 8.5, 0.01, 0.001, 0.625}, {"links", 0.1, -0.001, 0.02, 0.001}},
                               .n_causes = 2,
                               .classes = classes,
                               .n_classes = 2};
    v[1] = (fab_study_variant){.engine = "spray,weights=equal",
                               .policy = "collision-aware",
                               .healthy_time_s = NAN,
                               .healthy_ratio = NAN,
                               .impact = NAN,
                               .access = {.mean_slowdown = NAN, .worst_slowdown = NAN}};
    choice = (fab_study_choice){.n_compared = 90,
                                .n_differ = 20,
                                .n_rescued = 2,
                                .impact = 0.15,
                                .baseline_impact = 0.2,
                                .n_both = 80,
                                .best_slowdown = 1.1,
                                .baseline_slowdown = 1.125,
                                .most_saved = 0.5,
                                .most_saved_scenario = 7,
                                .most_saved_variant = 1};
    s = (fab_study_summary){.scenarios = "links:2@120",
                            .traffic = "a job",
                            .seed = 1,
                            .n_scenarios = 120,
                            .n_done = 100,
                            .has_times = true,
                            .criterion = "part of the job's speed that is lost",
                            .variants = v,
                            .n_variants = 2,
                            .n_policies = 2,
                            .choices = &choice,
                            .has_homing = true,
                            .homing = {16, 2, 2, 0.0625},
                            .n_components = 6,
                            .n_parts = 6};
    (void)snprintf(s.design, sizeof s.design, "%s", nasty);
    return &s;
}
