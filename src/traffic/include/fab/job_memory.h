/**
 * What a job keeps in the memory of a GPU: weights, gradients, optimizer state, activations, cached keys and values.
 */
#pragma once

#include "fab/job_spec.h"
#include "fab/model.h"

/** Bytes on one GPU of the fullest pipeline stage. */
typedef struct fab_job_memory {
    double weights_bytes;     /**< embedding tables of a ranking job included */
    double gradients_bytes;   /**< 0 in serving */
    double optimizer_bytes;   /**< 0 in serving */
    double host_bytes;        /**< of the GPU's share, in the memory of its host; not part of the total */
    double activations_bytes; /**< of all microbatches in flight, one layer's recomputation and the logits included */
    double cache_bytes;       /**< serving: keys and values */
    double total_bytes;
    double capacity_bytes; /**< of the GPU: data sheets count memory in units of 2^30 */
    uint64_t stage;
    double in_flight;   /**< microbatches whose activations that stage holds at once */
    uint64_t rule_gpus; /**< GPUs that the rule of thumb asks for: parameters x 18 bytes (serving: 2) x 1.25 / GB */
    bool fits;          /**< total_bytes <= capacity_bytes */
    bool has_headroom;  /**< total_bytes <= fab_memory_room() */
} fab_job_memory;

/**
 * Memory of a resolved job. Per parameter on the GPU: parameter_bytes, gradient_bytes and optimizer_bytes (2 + 4 + 12 =
 * 18 by default). Copies share the last with zero=1, the last two with zero=2, all with zero=3 [ZeRO, Rajbhandari et
 * al., 2020, section 5]; what they share is there in full for two layers at a time (or two of the embedding or the
 * output side where these are larger), for two chunks with shard-exchange=iteration. With adapters the weights have no
 * gradients and no states. Activations per layer and microbatch, for 2-byte elements, with t, s/cp, b, h, a, f, k =
 * kv-heads / heads [Korthikanti et al., 2022, equations 1 to 6; the bracket is theirs for f = 4h, k = 1]:
 *
 *     GPT    s b h (10 + (4 + 4k + 4f/h) / t [24/t] + 5 a s / (h t))
 *     gated  s b h (8 + (4 + 4k + 4f/h) / t)                       no dropout masks; gate and up are kept, and their
 *                                                                  product is made again, as fused SwiGLU does
 *
 * The first term is divided by t with sequence parallelism; the attention scores 5 a s / (h t) are there with
 * attention=standard and recompute=none only; recompute=full keeps 2 s b h (/ t) and one whole layer while that is
 * recomputed. A stage i of p holds min(p - i, m) microbatches, interleaved (1 + (p-1)/(p v)) p on the first, all m
 * of them with shard-exchange=iteration. What a
 * framework reserves for itself (context, communication buffers, fragmentation) is not counted: plans that are chosen
 * leave memory-headroom free for it.
 * @param[in]  model        With the sizes of the job; not read for ranking. Borrowed.
 * @param[in]  microbatches Per pipeline.
 * Complexity: O(pp).
 */
void fab_job_memory_make(const fab_job_spec *job, const fab_model *model, uint64_t microbatches, fab_job_memory *out);

/** What memory-headroom leaves of the memory of the job's GPU. */
double fab_memory_room(const fab_job_spec *job);

#define FAB_ROOM_AT_LEAST                                                                                              \
    1.25 /**< memory over weights (in training over weights, gradients, optimizer): rule of thumb */
#define FAB_ROOM_TO_SERVE                                                                                              \
    4.0 /**< room for cached keys and values of many sequences: an assumption; any factor from 3.1                     \
           to 4.5 gives the table that is published for Llama 2 on GPUs of 40 GB */

/** GPUs whose memory together is `room` times `bytes`; at least 1. */
uint64_t fab_least_gpus(double bytes, double room, double gpu_memory_bytes);

/** The least power of two that is n or more: tensor-parallel ranks that divide the heads of a model. */
uint64_t fab_power_of_two(uint64_t n);
