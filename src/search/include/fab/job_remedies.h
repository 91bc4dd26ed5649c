/**
 * @file job_remedies.h
 * What several jobs on one fabric gain together by changes for which nothing is bought.
 */
#pragma once

#include "fab/contention.h"
#include "fab/replay.h"

#define FAB_JOB_REMEDY_FLOWS 32768 /**< of all jobs, times seeds: of more nothing is tried */

/**
 * Runs all jobs together with their servers in order, with 16 queue pairs, and sprayed, where they were given
 * otherwise and slow each other down.
 * @param[in]     first       As fab_contend() has it.
 * @param[in]     engine      That the jobs have now.
 * @param[in,out] contention  Of fab_contend(); gets remedies, or n_untried.
 * Complexity: three times that of fab_contend() under one engine. The same for any number of threads.
 */
fab_status fab_job_remedies_try(const fab_replay *base, const fab_result *first, size_t engine,
                                fab_contention *contention, fab_error *err) FAB_MUST_USE;
