/** The schedule of one iteration as reports show it: what every stage does when, and the power that this takes. */
#pragma once

#include "fab/pipeline.h"

/** Forward and backward passes of more than this are not kept: some 20 MB of trace. */
#define FAB_SCHEDULE_PASSES 65536

/** A stage does one thing from start to end. Computation counts before gathers and reductions, these before sends. */
typedef struct fab_span {
    double start_s, end_s;
    uint32_t stage;
    uint32_t doing;        /**< fab_op_kind; FAB_OP_N: idle */
    double compute_ratio;  /**< of an operation that computes: the part that does; what is left waits for parameters */
    double exchange_ratio; /**< the part that is exchanges in line, spread over it layer by layer */
} fab_span;

/** Operations of one kind on one stage. */
typedef struct fab_op_sum {
    fab_op_kind kind;
    uint64_t count;
    double busy_s; /**< their sum; exchanges in line are part of passes */
    double first_s, last_s;
} fab_op_sum;

/** A stage, and those above it whose operations take the same time. */
typedef struct fab_schedule_stage {
    uint32_t stage;
    uint64_t alike; /**< stages of such operations, itself included */
    fab_stage_use use;
    uint64_t n_sums;
    fab_op_sum sum[FAB_OP_N];
    const fab_op *op; /**< all that it does and sends, by start */
    uint64_t n_ops;
} fab_schedule_stage;

/** From `start_s` on, until the next point. */
typedef struct fab_power_point {
    double start_s, power_w;
} fab_power_point;

/** What the GPUs of a stage draw, each, by what they do. */
typedef struct fab_gpu_watts {
    double compute_w, communicate_w, idle_w;
} fab_gpu_watts;

/** Of all GPUs of the job and its share of the network; all 0: the power of the GPU is not known. */
typedef struct fab_power {
    double peak_w, mean_w, min_w;
    double step_w; /**< largest change from one moment to the next, the end of an iteration and the next one included */
    double idle_w; /**< all GPUs wait: for a checkpoint, or before a restart */
    double network_w; /**< part of each of them */
} fab_power;

/** Links of a tier in one direction, or inside servers: those that the job uses. */
typedef struct fab_link_use {
    char name[32];               /**< "leaf-spine up", "scale-up from GPU" */
    double busy_s[FAB_TRAVEL_N]; /**< of an iteration, as a mean over the links: bytes / capacity */
} fab_link_use;

typedef struct fab_schedule {
    fab_pipeline pipeline; /**< what was run; its arrays are owned */
    fab_timeline timeline; /**< with operations */
    fab_span *span;        /**< of every stage from 0 to the makespan in whole ns, without gaps; by start, then stage */
    size_t n_spans;
    fab_schedule_stage *stage; /**< one for all that are alike, by stage */
    size_t n_stages;
    fab_op *shown; /**< operations of these stages, one stage after the other */
    fab_power power;
    fab_power_point *profile; /**< no two in a row of equal power; NULL where there is no power */
    size_t n_points;
    double busy_s[FAB_OP_N]; /**< of all operations of a kind, over all stages */
    fab_link_use *links;     /**< filled by the caller, owned; NULL: not known */
    size_t n_links;
} fab_schedule;

/**
 * The part of the time for which links are busy while operations are under way, n_active of each kind: what a travel
 * puts on them is spread evenly over its operations, that of exchanges in line over passes. At most 1.
 */
double fab_schedule_utilisation(const fab_schedule *schedule, const fab_link_use *links,
                                const uint64_t n_active[FAB_OP_N]);

/** NULL is fine. */
void fab_schedule_free(fab_schedule *schedule);
FAB_OWNER(fab_schedule, fab_schedule_free)

/** What an operation that computes does, seconds; both 0 of what travels. */
typedef struct fab_op_parts {
    double compute_s, exchange_s;
} fab_op_parts;

fab_op_parts fab_op_parts_of(const fab_pipeline *pipeline, const fab_op *op);

/**
 * Runs a pipeline and keeps what it does.
 * @param[in] pipeline  Copied with its arrays.
 * @retval FAB_EUNSUPPORTED  more than FAB_SCHEDULE_PASSES passes. Errors of fab_pipeline_run().
 * Complexity: O(n log n) of its operations.
 */
FAB_STATUS fab_schedule_new(const fab_pipeline *pipeline, fab_schedule **out, fab_error *err);

/**
 * Fills power and profile.
 * @param[in] gpus       Of each stage.
 * @param[in] network_w  Constant.
 * Complexity: O(spans x stages).
 */
FAB_STATUS fab_schedule_add_power(fab_schedule *schedule, const fab_gpu_watts *watts, double gpus, double network_w,
                                  fab_error *err);
