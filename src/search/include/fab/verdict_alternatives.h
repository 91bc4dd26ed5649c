/**
 * @file verdict_alternatives.h
 * What a report may advise is tried first: other engines on the phases that collide.
 */
#pragma once

#include "fab/replay.h"
#include "fab/verdict.h"

#define FAB_ALTERNATIVE_FLOWS 8192 /**< times seeds: of more nothing is tried, so that the answer comes as fast */
#define FAB_ALTERNATIVE_PACKETS                                                                                        \
    600 /**< the same under a transport of packets, where a flow costs a hundred times as much */

/**
 * Whether engines may be tried: the phases have few flows. `replay` gets trial_flows, for its estimate of memory.
 * Complexity: O(flows).
 */
fab_status fab_verdict_plan(fab_replay *replay, fab_error *err) FAB_MUST_USE;

/**
 * Routes the phases that take longer than they must under more queue pairs and spraying, and says what the iteration,
 * or all phases one after the other, would take. Engines that were given are not tried again.
 * @param[in]     replay   What `result` was made by, with rates; trial_flows 0: nothing is tried.
 * @param[in,out] verdict  After fab_verdict_begin().
 * Complexity: up to FAB_VERDICT_ALTERNATIVES replays of these phases. Depends on nothing but design, options and seed.
 */
fab_status fab_verdict_try(const fab_replay *replay, const fab_result *result, fab_run_verdict *verdict,
                           fab_error *err) FAB_MUST_USE;
