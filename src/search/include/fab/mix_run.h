/**
 * @file mix_run.h
 * Replays two jobs on every fabric, and says which fabric serves both best.
 */
#pragma once

#include "fab/mix.h"
#include "fab/sweep_run.h"

typedef struct fab_design fab_design;

/** Reads design `i` with job `job` (an index of fab_mix_jobs) as its first. */
typedef fab_status fab_mix_read(const void *context, size_t i, size_t job, fab_design *out, fab_error *err);

typedef struct fab_mix_request {
    const char *const *names; /**< shape [n_designs] */
    size_t n_designs;
    double share; /**< of the training job, within [0, 1] */
    fab_mix_read *read;
    const void *read_context;
    uint64_t seed, n_seeds;
    size_t n_threads;
    void (*progress)(void *context, double done, size_t total); /**< in replays; may be NULL */
    void *progress_context;
} fab_mix_request;

/**
 * Time of a job: of its iteration where that is modelled, else the sum of its phases. A design that refuses a job keeps
 * the error and takes no part in the comparison.
 *
 *     speed = product over jobs j of (least time of j over the designs / time of j)^share[j]
 *
 * @param[out] out  Written on success only; free with fab_mix_free().
 * @retval FAB_EINPUT  the jobs of two designs are not the same (GPUs, batch, parallelism), or their engines differ in
 *                     number
 * Complexity: 2 designs replays. The same for any number of threads.
 */
fab_status fab_mix_run(const fab_mix_request *request, fab_mix **out, fab_error *err) FAB_MUST_USE;

void fab_mix_free(fab_mix *mix);
