/** Several jobs on one fabric: each alone, and their phases together. */
#pragma once

#include "fab/analysis.h"
#include "fab/contention.h"

/** What is looked at beside times: any of these. */
typedef enum fab_contend_further {
    FAB_CONTEND_PAIRS = 1, /**< every network phase of every job against every one of every other */
    FAB_CONTEND_CHANCE =
        2,                 /**< what jobs lose where phases meet by chance, of jobs with iterations where all are up to
                              FAB_INTERFERENCE_JOBS whose pairs of phases are below FAB_RIVAL_FLOWS flows for every 8 seeds */
    FAB_CONTEND_RIVALS = 4 /**< the same, and who costs
                              a job most: all jobs but one, for each that is left out in turn. Where that is
                              more than FAB_RIVAL_FLOWS, only of the job that loses most, and of those whom it meets
                              where its bytes leave last as many as that allows; of two jobs always */
} fab_contend_further;

#define FAB_RIVAL_FLOWS 2097152 /**< over the replays that leave a job out, of one engine under all seeds */

/**
 * Replays every job alone, then starts the phases that contend (key `contends` of a job; without it the network phase
 * that takes longest alone under the first engine) all at once, on the paths they have alone wherever an engine does
 * not look at load, and runs them until all have ended.
 * @param[in] base          Its design has at least two jobs; traffic is not looked at.
 * @param[in] first         fab_replay_run() of base with traffic "job": job 0 alone, and what the fabric costs.
 * @param[in] further       Of fab_contend_further; 0: only the times.
 * @retval FAB_EINPUT        jobs do not fit beside each other; there is no phase of a name
 * @retval FAB_EUNSUPPORTED  a phase that contends is too large to be solved
 * Complexity: jobs + engines * seeds times that of routing and solving; engines * seeds more for every pair of phases,
 * or for every job that is left out. The same for any number of threads.
 */
FAB_STATUS fab_contend(const fab_replay *base, const fab_result *first, unsigned further, fab_contention **out,
                       fab_error *err);

/**
 * What engines with plans of their own make of the same jobs, as one.
 * @param[in,out] parts   shape [n_parts]; emptied
 * @param[in]     engine  shape [n_parts][engines of the part]: the place of each among all
 */
FAB_STATUS fab_contention_join(fab_contention *const *parts, const size_t *const *engine, size_t n_parts,
                               fab_contention **out, fab_error *err);

void fab_contention_free(fab_contention *contention);
FAB_OWNER(fab_contention, fab_contention_free)
