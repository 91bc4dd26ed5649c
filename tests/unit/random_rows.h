/**
 * @file random_rows.h
 * Outcomes out of thin air, for tests of what is done with them. Values repeat, so that there are ties.
 */
#pragma once

#include "fab/outcome.h"
#include "fab/rng.h"

#include <math.h>

/** A row of a set (span_s 0) or of a history; `steps` different values of each figure. */
static inline fab_outcome random_row(uint64_t seed, uint64_t scenario, uint32_t variant, double span_s, bool has_times,
                                     uint64_t steps) {
    fab_rng rng = fab_rng_make(fab_draw(seed, scenario, variant), 7);
    fab_outcome o = {.scenario = scenario, .variant = variant, .worst_link = (uint32_t)fab_rng_below(&rng, 40)};
    o.state = fab_rng_below(&rng, 10) == 0 ? FAB_OUTCOME_STOPPED : FAB_OUTCOME_RUNS;
    o.n_disconnected = fab_rng_below(&rng, 3) == 0 ? (uint32_t)fab_rng_below(&rng, 100) : 0;
    o.n_moved = (uint32_t)fab_rng_below(&rng, 3);
    o.n_collisions = (uint32_t)fab_rng_below(&rng, 50);
    o.lost_ratio = (double)fab_rng_below(&rng, steps) / (double)(4 * steps);
    o.worst_ratio = 0.5 + 2 * (double)fab_rng_below(&rng, steps) / (double)steps;
    o.slowdown = 0.999 + (double)fab_rng_below(&rng, steps) / (double)steps;
    o.time_s = 3 * o.slowdown;
    bool stops = o.state == FAB_OUTCOME_STOPPED;
    if (stops && span_s <= 0) {
        o.worst_link = UINT32_MAX;
    }
    if (!has_times || (stops && span_s <= 0)) {
        o.slowdown = o.time_s = NAN;
    }
    o.goodput = o.restart_ratio = o.redo_ratio = o.slow_ratio = o.wait_ratio = NAN;
    if (span_s > 0) {
        o.restart_ratio = (double)fab_rng_below(&rng, steps) / (double)(8 * steps);
        o.redo_ratio = (double)fab_rng_below(&rng, steps) / (double)(8 * steps);
        o.slow_ratio = (double)fab_rng_below(&rng, steps) / (double)(8 * steps);
        o.wait_ratio = (double)fab_rng_below(&rng, steps) / (double)(8 * steps);
        o.goodput = 1 - o.restart_ratio - o.redo_ratio - o.slow_ratio - o.wait_ratio;
        o.n_failures = (uint32_t)fab_rng_below(&rng, 90);
        o.n_stops = o.n_failures / 2;
    }
    return o;
}

/** Nothing failed. */
static inline fab_outcome random_healthy(uint32_t variant, bool has_times) {
    return (fab_outcome){.variant = variant,
                         .worst_link = 3,
                         .worst_ratio = variant % 2 == 0 ? 1.25 : 0.75,
                         .time_s = has_times ? 3 : NAN,
                         .slowdown = has_times ? 1 : NAN,
                         .goodput = NAN,
                         .restart_ratio = NAN,
                         .redo_ratio = NAN,
                         .slow_ratio = NAN,
                         .wait_ratio = NAN};
}
