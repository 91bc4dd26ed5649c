/**
 * From what a GPU computes and how long its phases take to seconds per iteration, and from there to utilisation,
 * tokens and dollars. See src/doc/adr/0055-an-iteration-is-a-schedule.md.
 */
#pragma once

#include "fab/kernels.h"
#include "fab/schedule.h"
#include "fab/stat.h"

#define FAB_SECONDS_PER_YEAR (365.0 * 24 * 3600)

/** How long the network needs for what one iteration asks of it, for one phase of the job under one engine. */
typedef struct fab_phase_time {
    double transfer_s; /**< all bytes of the iteration over it at full link rate, without latency */
    double latency_s;  /**< of one execution: steps x latency of the slowest path */
    double executions; /**< per iteration */
    bool scale_up; /**< the phase never leaves the scale-up domain: its links deliver scale_up_ratio, not nic_ratio */
} fab_phase_time;

/** How many times longer what travels takes at most beside something else: two at a time. */
typedef struct fab_shared_slowdown {
    double gather, reduce; /**< of a transfer between stages and the exchange of replicas; 0, as 1: they have no
                              bottleneck in common */
    double exchange;       /**< of tensor, context and expert exchanges in line, beside one of these; 0 likewise */
} fab_shared_slowdown;

/** Phases of the job; those that it does not have are zero. */
typedef struct fab_job_times {
    fab_phase_time tp, cp, pp, ep, dp_reduce, dp_gather; /**< dp_reduce: all-reduce or reduce-scatter */
    fab_phase_time dp_across;                            /**< hybrid sharding: all-reduce between groups, once */
    const fab_paces *paces; /**< of what is under way together; NULL: nothing slows anything down */
} fab_job_times;

/**
 * Whether microbatches of this size, in this many chunks per GPU, fit the memory of a GPU.
 * @param[in] context  As given in the request.
 */
typedef bool fab_fits(const void *context, uint64_t microbatch, uint64_t interleave);

typedef struct fab_iteration_request {
    const fab_job_spec *job; /**< resolved: no zero left. `times` are those of its microbatch and interleave */
    const fab_model *model;  /**< with the sizes of the job */
    const fab_job_times *times;
    const fab_compute_model *compute; /**< NULL: fab_compute_default */
    bool choose_microbatch;           /**< the fastest of 1, 2, 4, 8 that divides the batch, instead of the job's */
    bool choose_interleave; /**< the fastest number of chunks that the schedule allows, instead of the job's */
    fab_fits *fits;         /**< NULL: everything fits */
    const void *fits_context;
    bool time_only;          /**< time_s alone, and what was chosen: a third of the work */
    uint64_t max_bytes;      /**< of memory that the schedule may take; 0: no limit */
    fab_schedule **schedule; /**< receives that of what was chosen, for fab_schedule_free(); NULL: not wanted */
    double usd_per_s;        /**< what its GPUs and its part of the fabric cost: fab_usd_per_s() */
} fab_iteration_request;

/** What training on a number of tokens takes. */
typedef struct fab_training {
    double tokens;
    double days, usd;
    double rule_days; /**< cross-check: 8 T P / (n X), X executed FLOP/s per GPU; 6 T P / (n X) without full
                         recomputation */
} fab_training;

/** One iteration of every seed. */
typedef struct fab_iteration_seeds {
    uint64_t n_seeds; /**< 0: there is one, or no figure depends on it */
    fab_parts parts;  /**< of time_s */
    fab_stat time_s, tflops_per_gpu, mfu_ratio, tokens_per_s;
    fab_stat usd_per_1e9_tokens; /**< all 0 where there is no price */
} fab_iteration_seeds;

/** One iteration. The times from compute_s to optimizer_s add up to time_s; over several seeds, they are means, and
 * what follows from the time follows from its mean. */
typedef struct fab_iteration {
    char engine[FAB_NAME_SIZE]; /**< for the caller; left empty */
    char plan[192];             /**< filled by the caller: how the job is run, where that was searched; else empty */
    double plan_bound_s;        /**< with it: lower_bound_s of that search, under this engine */
    bool plan_is_proven;        /**< with it: nothing of the space is faster */
    uint64_t microbatch, interleave; /**< of the job, or chosen */
    double time_s;                   /**< of one iteration */
    double at_means_s;               /**< filled by the caller: with the mean transfer times of the seeds */
    double fluid_time_s;             /**< what it would be under transport fluid; 0 under that, as the next two */
    double transport_s;              /**< what another transport adds to it: at_means_s - fluid_time_s */
    double transport_ratio;          /**< of fluid_time_s */
    double compute_s;                /**< computation alone on the busiest stage, recomputation included */
    double bubble_s;                 /**< that stage idle though transfers and replicas cost nothing */
    double exposed_tp_s, exposed_cp_s, exposed_ep_s; /**< in line with its kernels */
    double exposed_pp_s, exposed_dp_s;               /**< more idle for transfers, then for gathers and reductions */
    double optimizer_s;                              /**< of the slowest stage */
    fab_shared_slowdown shared;                      /**< of the request's paces */
    double tflops_per_gpu;                           /**< executed, recomputation included */
    double mfu_ratio;                                /**< model FLOPs alone over the peak of the job's precision */
    double tokens_per_s;                             /**< of the whole job */
    double network_share_ratio;      /**< filled by the caller: the part of the network's price that the job bears */
    double usd_per_1e9_tokens;       /**< GPU hours and network; fab_iterate(): 0 where the
                                        job does not fit, unless that is let pass
                                        (memory-check=off) */
    double owned_usd_per_1e9_tokens; /**< filled by the caller: of the cost of ownership (ownership.h); 0: not known */
    double pipeline_bisection_bytes_per_s,
        data_bisection_bytes_per_s; /**< filled by the caller, see below; 0: no such phase */
    fab_job_memory memory;          /**< filled by the caller: with this microbatch and these chunks */
    double estimated_ratio;         /**< filled by the caller: fab_estimated_ratio() */
    fab_iteration_seeds seeds;      /**< filled by the caller */
    fab_training training;          /**< filled by the caller; no tokens: not asked */
    fab_schedule *schedule;         /**< filled by the caller, who owns it, from mean times; NULL: not kept */
    char schedule_note[128];        /**< why not; empty: not asked for */
} fab_iteration;

/** Communication of all dimensions that no computation hides. */
static inline double fab_iteration_exposed_s(const fab_iteration *it) {
    return it->exposed_tp_s + it->exposed_cp_s + it->exposed_pp_s + it->exposed_ep_s + it->exposed_dp_s;
}

/** What no iteration is shorter than. */
typedef enum fab_iteration_bounds {
    FAB_BOUND_STAGE,   /**< the busiest stage's own work, for any number of chunks */
    FAB_BOUND_CHAIN,   /**< fab_pipeline_lower_bound_s() */
    FAB_BOUND_SCHEDULE /**< its schedule, where nothing that is under way together slows anything down */
} fab_iteration_bounds;

/**
 * A lower bound of the iteration of a job with other microbatches and chunks than it has: of the time that
 * fab_iteration_time() gives with phases that take at least as long as these. Orders are fixed, so that no operation
 * that takes longer lets another end earlier.
 * @param[in] request  job: of one chunk; times: at most those of its phases; what may be chosen are not read.
 * @retval FAB_ELIMIT  with FAB_BOUND_SCHEDULE: more memory than max_bytes
 * Complexity: O(stages x chunks), with FAB_BOUND_SCHEDULE as fab_pipeline_run().
 */
FAB_STATUS fab_iteration_bound(const fab_iteration_request *request, uint64_t microbatch, uint64_t interleave,
                               fab_iteration_bounds how, double *out_s, fab_error *err);

/**
 * Time of one iteration: the makespan of its schedule (fab/pipeline.h), run to the end for the best candidate.
 *
 * A phase takes transfer_s over the delivered part of the link rate, and its latencies; what it takes is spread evenly
 * over layers, microbatches and directions, gradients and parameters over the layers that hold them. Full recomputation
 * repeats what tensor, context and expert parallelism exchange forward (a half, a third and a half of it), unless the
 * job counts that in its phases (recompute-traffic). With scatter/gather each pipeline transfer is followed by an
 * all-gather at the scale-up rate of the data sheet. `times` of another microbatch or interleave follow from executions
 * (those of tp, cp, ep as 1/microbatch, of pp as interleave/microbatch) and bytes (pp as interleave).
 *
 * times->paces says how much transfers between stages, the exchange of replicas, and exchanges in line slow each other
 * down.
 *
 * Not in it: data loading, checkpoints, stragglers, the all-reduce of tied embeddings.
 * @param[out] out  Written on success only.
 * @retval FAB_EUNSUPPORTED  a model whose attention is not that of the kernels (deepseek-v3).
 * @retval FAB_ENOSOLUTION   nothing fits the memory.
 * @retval FAB_ELIMIT        the schedule takes more than max_bytes
 * With a schedule, errors of fab_schedule_new().
 * Complexity: O(candidates * stages * chunks * microbatches) at most; a bound leaves out most candidates.
 */
FAB_STATUS fab_iteration_time(const fab_iteration_request *request, fab_iteration *out, fab_error *err);

/**
 * Bytes per second that cross, in one direction, the cut between the first and the second half of the pipeline stages,
 * of all pipelines together, while the phase takes its transfer_s: forward over the middle boundary and, with several
 * chunks, backward from the first stage to the last. 0 without a pipeline.
 */
double fab_pipeline_bisection_bytes_per_s(const fab_job_spec *job, const fab_phase_time *pp);

/**
 * The same for the reduction of gradients and the cut between two halves of the replicas: every ring crosses it once in
 * either direction. `parameters`: of the model (fab_traffic.parameters). 0 without replicas.
 */
double fab_data_bisection_bytes_per_s(const fab_job_spec *job, const fab_job_times *times, double parameters);

/**
 * Scales an iteration up to `tokens`; failures and restarts are not in it. `parameters`: those that a token meets, for
 * the rule.
 */
fab_training fab_training_estimate(const fab_job_spec *job, const fab_iteration *iteration, double parameters,
                                   double tokens);
