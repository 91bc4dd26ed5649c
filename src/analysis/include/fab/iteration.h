/**
 * @file iteration.h
 * From what a GPU computes and how long its phases take to seconds per iteration, and from there to utilisation,
 * tokens and dollars.
 */
#ifndef FAB_ITERATION_H
#define FAB_ITERATION_H

#include "fab/status.h"
#include "fab/traffic.h"

#include <stdbool.h>

/** How long the network needs for what one iteration asks of it, for one phase of the job under one engine. */
typedef struct fab_phase_time {
    double transfer_s; /**< all bytes of the iteration over it, without latency */
    double latency_s;  /**< of one execution: steps x latency of the slowest path */
    double executions; /**< per iteration */
} fab_phase_time;

/** Phases of the job; those that it does not have are zero. */
typedef struct fab_job_times {
    fab_phase_time tp, cp, pp, ep, dp_reduce, dp_gather; /**< dp_reduce: all-reduce or reduce-scatter */
} fab_job_times;

/** Parameters of the model of a GPU's kernels, and of what overlaps; see src/doc/adr/0025-iteration-time.md. */
typedef struct fab_compute_model fab_compute_model;

typedef struct fab_iteration {
    char engine[FAB_NAME_SIZE];
    uint64_t microbatch;      /**< chosen, where the job leaves it open */
    double time_s, compute_s; /**< of one iteration; computation alone on the busiest stage, recomputation included */
    double bubble_s, exposed_tp_s, exposed_cp_s, exposed_pp_s, exposed_ep_s, exposed_dp_s, optimizer_s;
    double tflops_per_gpu; /**< executed, recomputation included */
    double mfu_ratio;      /**< model FLOPs alone over the peak */
    double tokens_per_s;
    double usd_per_1e9_tokens;
} fab_iteration;

#endif
