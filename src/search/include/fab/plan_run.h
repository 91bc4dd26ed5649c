/**
 * @file plan_run.h
 * The fastest way to run a job on a fabric under an engine, by bounds over all ways that there are.
 */
#pragma once

#include "fab/design.h"
#include "fab/plans.h"

typedef struct fab_plan_request {
    const fab_design *design; /**< of its first job, or of the default one, what is open is chosen */
    const fab_fabric *fabric; /**< of the design */
    uint64_t seed;
    size_t n_threads;
    size_t n_best;    /**< plans of different sizes that are listed; 0 counts as 1 */
    bool wants_front; /**< time against memory */
    void (*progress)(void *context, double done, size_t total); /**< of what is bounded so far; may be NULL */
    void *progress_context;
} fab_plan_request;

/** Whether a design has a job whose plan is to be found. */
bool fab_plan_is_asked(const fab_design *design);

/**
 * Searches the space of fab_job_space_new() under the first engine of the design and the seed.
 *
 * Plans are taken by the least bound of their time; each time one is taken its bound is made tighter, and at last it is
 * evaluated, as a run of the design with its keys is. The bounds, in order: the work of the busiest stage; the way of a
 * microbatch through all stages; the same with phases that take no longer than their NICs and leaves do; the schedule
 * of that; and, under engines whose paths depend on no other flow, with phases that take as long as the fullest link of
 * their paths.
 * @param[out] out  Written on success only; free with fab_plans_free().
 * @retval FAB_ENOSOLUTION  no plan fits its GPUs: the message has the one that needs least
 * @retval FAB_EUNSUPPORTED the job has no iteration time; of fab_job_space_new()
 * @retval FAB_EINTERNAL    a plan is faster than its bound
 * The same for any number of threads.
 */
fab_status fab_plan_search(const fab_plan_request *request, fab_plans **out, fab_error *err) FAB_MUST_USE;

/**
 * Searches, and writes the best plan into the design's first job (the default one where there is none).
 * @param[out] out  NULL: not wanted.
 */
fab_status fab_plan_choose(const fab_plan_request *request, fab_design *design, fab_plans **out,
                           fab_error *err) FAB_MUST_USE;
