/** Replays jobs of several kinds on every fabric, and says which fabric serves them best. */
#pragma once

#include "fab/mix.h"
#include "fab/sweep_run.h"

typedef struct fab_design fab_design;

/** Reads design `i` with a job of this kind as its first. */
typedef fab_status fab_mix_read(const void *context, size_t i, fab_job_kind kind, fab_design *out, fab_error *err);

typedef struct fab_mix_request {
    const char *const *names; /**< shape [n_designs] */
    size_t n_designs;
    const fab_job_kind *kinds; /**< shape [n_jobs]: training first */
    size_t n_jobs;             /**< 2 or 3 */
    double share;              /**< of the training job, within [0, 1]; the others have equal parts of the rest */
    fab_mix_read *read;
    const void *read_context;
    uint64_t seed;
    uint64_t n_seeds; /**< as of fab_sweep_request */
    size_t n_threads;
    void (*progress)(void *context, double done, size_t total); /**< in replays; may be NULL */
    void *progress_context;
} fab_mix_request;

/**
 * Time of a job: of its iteration, or of a batch that is served, where that is modelled, else the sum of its phases. A
 * design that refuses a job keeps the error and takes no part in the comparison.
 *
 *     speed = product over jobs j of (least time of j over the designs / time of j)^share[j]
 *
 * @param[out] out  Written on success only; free with fab_mix_free().
 * @retval FAB_EINPUT  the jobs of two designs are not the same (GPUs, batch, parallelism), or their engines differ in
 *                     number
 * Complexity: jobs x designs replays. The same for any number of threads.
 */
FAB_STATUS fab_mix_run(const fab_mix_request *request, fab_mix **out, fab_error *err);

void fab_mix_free(fab_mix *mix);
FAB_OWNER(fab_mix, fab_mix_free)
