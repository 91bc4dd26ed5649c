/**
 * One training iteration as operations in the order in which a framework launches them, run to its end: who computes
 * what when, what waits for what, and what communication shows.
 */
#pragma once

#include "fab/base.h"

/** In which order a stage takes its operations. */
typedef enum fab_pipeline_order {
    FAB_ORDER_1F1B,        /**< one forward, one backward; interleaved where a stage has several chunks */
    FAB_ORDER_ZERO_BUBBLE, /**< backward passes to inputs first, those to weights where a stage would wait; 1 chunk */
    FAB_ORDER_N
} fab_pipeline_order;

/** "1f1b", "zero-bubble". */
extern const char *const fab_pipeline_orders[FAB_ORDER_N];

/** What a stage or its network does. */
typedef enum fab_op_kind {
    FAB_OP_GATHER,        /**< parameters of a chunk, before its first use */
    FAB_OP_FORWARD,       /**< a microbatch through a chunk */
    FAB_OP_BACKWARD,      /**< recomputation, then gradients of inputs and, but under zero-bubble, of weights */
    FAB_OP_WEIGHTS,       /**< gradients of weights alone (zero-bubble) */
    FAB_OP_SEND_FORWARD,  /**< activations to the next chunk */
    FAB_OP_SEND_BACKWARD, /**< their gradients to the one before */
    FAB_OP_REDUCE,        /**< gradients of a chunk over its replicas, when its last microbatch is through */
    FAB_OP_OPTIMIZER,     /**< all parameters of the stage */
    FAB_OP_N
} fab_op_kind;

/** "gather", "forward", ... */
extern const char *const fab_op_names[FAB_OP_N];

/** What travels through the network. The first FAB_N_EXCHANGES stand in line with computation: what no kernel of the
 * layer overlaps of tensor, context and expert exchanges. */
typedef enum fab_travel {
    FAB_TRAVEL_TP,
    FAB_TRAVEL_CP,
    FAB_TRAVEL_EP,
    FAB_TRAVEL_SEND,
    FAB_TRAVEL_GATHER,
    FAB_TRAVEL_REDUCE,
    FAB_TRAVEL_N
} fab_travel;

#define FAB_N_EXCHANGES 3

/** A set of travels is a bit for each. At a stage at most an exchange, sends, and a gather or a reduction are under way
 * together: the other sets stay 0. */
#define FAB_TRAVEL_SETS        (1U << FAB_TRAVEL_N)
#define FAB_TRAVEL_BIT(travel) (1U << (travel))

/** slowdown[set][travel]: how many times longer a travel takes while all of the set is under way; 0 counts as 1. */
typedef struct fab_paces {
    double slowdown[FAB_TRAVEL_SETS][FAB_TRAVEL_N];
} fab_paces;

/** One chunk of layers on one stage, seconds. Of a microbatch, but for parameters and gradients. */
typedef struct fab_chunk_times {
    double forward_s, recompute_s, backward_s, weights_s; /**< computation; backward_s: gradients of inputs */
    double forward_exchange_s[FAB_N_EXCHANGES], backward_exchange_s[FAB_N_EXCHANGES]; /**< that are in line */
    double send_forward_s, send_backward_s; /**< to the next and the previous chunk; 0 where there is none */
    double gather_s, reduce_s;              /**< parameters and gradients over the replicas */
    double send_latency_s, gather_latency_s, reduce_latency_s; /**< the end of each that takes nothing from others */
    double across_s;  /**< more of a reduction after the last pass: between groups of replicas that share shards */
    uint32_t buckets; /**< in which these two travel, equal and spread evenly over the chunk: its layers; 0 = 1 */
} fab_chunk_times;

typedef struct fab_pipeline {
    fab_pipeline_order order;
    uint32_t n_stages, n_chunks, n_microbatches;
    const fab_chunk_times *chunk; /**< shape [n_stages][n_chunks]; chunk c of stage s is number c * n_stages + s on the
                                     way of a microbatch */
    const double *optimizer_s;    /**< shape [n_stages] */
    double send_overlap;    /**< part of a transfer, 0 to 1, at whose end its sender has computed on; it waits first */
    double replica_overlap; /**< part of gathers and reductions, 0 to 1, that travels bucket by bucket while others are
                               computed; the rest goes before the first pass and after the last, or in line with each */
    const fab_paces *paces; /**< of what is under way at a stage together, a send at either of its ends; NULL: nobody
                               slows anybody down */
    double exchange_ratio[FAB_N_EXCHANGES]; /**< part of exchanges in which bytes travel: the rest is latency */
    uint64_t max_bytes;                     /**< of memory that a run may take; 0: no limit */
    bool gathers_each_pass; /**< parameters are fetched for every pass (ZeRO-3), one pass ahead, not once */
    bool reduces_each_pass; /**< gradients are reduced after every backward pass (ZeRO-2), not after the last */
} fab_pipeline;

typedef struct fab_op {
    fab_op_kind kind;
    uint32_t stage, chunk, microbatch;
    double start_s, end_s;
} fab_op;

/** What the iteration of one stage consists of; the sum is the makespan. */
typedef struct fab_stage_use {
    double compute_s;   /**< forward, backward, recomputation */
    double exchange_s;  /**< tensor, context and expert exchanges in line */
    double bubble_s;    /**< idle were communication between stages and replicas free */
    double send_s;      /**< more idle, and longer passes, for what travels between stages */
    double replica_s;   /**< the same for parameters and gradients */
    double optimizer_s; /**< of the slowest stage: an iteration ends for all together */
} fab_stage_use;

typedef struct fab_timeline {
    double time_s;      /**< makespan */
    uint32_t busiest;   /**< stage that computes and exchanges longest; the lowest of them */
    fab_stage_use *use; /**< shape [n_stages] */
    fab_op *op;         /**< by start, then stage; NULL unless asked for */
    size_t n_ops;
} fab_timeline;

void fab_timeline_release(fab_timeline *timeline);

/** All exchanges of a pass. */
double fab_exchange_s(const double exchange_s[FAB_N_EXCHANGES]);

/** What a run is for. */
typedef enum fab_pipeline_needs {
    FAB_PIPELINE_TIME, /**< the makespan */
    FAB_PIPELINE_USE,  /**< and what it consists of: three runs instead of one */
    FAB_PIPELINE_OPS   /**< and the operations */
} fab_pipeline_needs;

/**
 * Runs the operations of one pipeline; its replicas do the same at the same time.
 *
 * 1F1B: stage s of p warms up with p - s - 1 forwards, interleaved with 2 (p - s - 1) + (v - 1) p of its chunks, then
 * takes a forward and a backward in turn [Megatron-LM, SC'21, 2.2]. Microbatches go in groups of p through all chunks.
 * Zero-bubble: no stage keeps more activations than the first under 1F1B, and the weights' part of the backward pass
 * is done where it has nothing else to do [Qi et al., ICLR 2024, ZB-H1].
 *
 * With equal stages, no communication and v chunks the bubble is (p - 1) / v of a microbatch's time; under zero-bubble
 * (p - 1)(F + B - W), with enough microbatches.
 * Buckets: those of a chunk's gradients become complete evenly over its last pass, those of its parameters are needed
 * evenly over its first. What has to travel waits for what travels already; a kind never hides behind work that is not
 * there at that moment.
 * Exchanges in line alternate with kernels layer by layer: a pass of which they are the part x is evenly mixed. While
 * transfers or gathers and reductions are under way at its stage, x of it takes as long as the paces say, and these are
 * slowed down for as much of the time.
 * @param[in] needs  use is NULL where only the time is asked for.
 * @param[in] pipeline  Has a stage, chunk and microbatch at least, and no time below 0; of several chunks the
 *                      microbatches are a multiple of the stages, and the order is not zero-bubble.
 * @retval FAB_EINPUT        it takes for ever
 * @retval FAB_ELIMIT        more memory than max_bytes
 * Complexity: O(stages * chunks * microbatches * log(stages)).
 */
FAB_STATUS fab_pipeline_run(const fab_pipeline *pipeline, fab_pipeline_needs needs, fab_timeline *out, fab_error *err);

/**
 * What no run can be shorter than: a stage's own work, after a microbatch has come to it and before one is through all
 * stages before it. Equal to the makespan where stages and chunks are equal. The pipeline is one that runs.
 * Complexity: O(stages * chunks).
 */
double fab_pipeline_lower_bound_s(const fab_pipeline *pipeline);
