/**
 * @file contend.h
 * Several jobs on one fabric: each alone, and their phases together.
 */
#pragma once

#include "fab/analysis.h"
#include "fab/contention.h"

/**
 * Replays every job alone, then starts the phases that contend (key `contends` of a job; without it the network phase
 * that takes longest alone under the first engine) all at once, on the paths they have alone wherever an engine does
 * not look at load, and runs them until all have ended.
 * @param[in] base          Its design has at least two jobs; traffic is not looked at.
 * @param[in] first         fab_replay_run() of base with traffic "job": job 0 alone, and what the fabric costs.
 * @param[in] interference  Also every network phase of every job against every one of every other.
 * @retval FAB_EINPUT        jobs do not fit beside each other; there is no phase of a name
 * @retval FAB_EUNSUPPORTED  a phase that contends is too large to be solved
 * Complexity: jobs + engines * seeds times that of routing and solving; with interference engines * seeds for every
 * pair of phases. The same for any number of threads.
 */
fab_status fab_contend(const fab_replay *base, const fab_result *first, bool interference, fab_contention **out,
                       fab_error *err) FAB_MUST_USE;

void fab_contention_free(fab_contention *contention);
