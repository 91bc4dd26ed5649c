/**
 * How long a GPU computes: matrix products by their size, everything else by the bytes that it moves. See
 * src/doc/adr/0025-iteration-time.md for the counts and src/doc/iteration-time.md for how well they fit.
 */
#pragma once

#include "fab/traffic.h"

/** What a machine delivers of what its data sheet says. The same numbers for every model, size and GPU, but for the
 * matrix_ratio of a GPU's precision that was fitted itself (fab_gpu.matrix_ratio). */
typedef struct fab_compute_model {
    double matrix_ratio;   /**< of the peak, by matrix products, in tiles that are full on all multiprocessors */
    double memory_ratio;   /**< of the memory bandwidth */
    double nic_ratio;      /**< of a NIC's rate, by phases that leave the scale-up domain */
    double scale_up_ratio; /**< of the scale-up rate, by phases that stay inside */
} fab_compute_model;

/** matrix_ratio and memory_ratio as scripts/fit_compute.py finds them from two published runs; the others from field
 * experience with NICs (about 80 %) and from nccl-tests on eight A100 (230 to 240 of 300 GB/s). */
extern const fab_compute_model fab_compute_default;

/** One transformer layer and what one GPU has to do with it for one microbatch. */
typedef struct fab_layer_shape {
    uint64_t microbatch, seq, hidden, heads, kv_heads, ffn, vocab;
    uint64_t tp, cp;
    uint64_t experts_here;   /**< feed-forward parts on this GPU: 1 without experts */
    uint64_t experts_used;   /**< of which a token passes through: 1 without experts */
    double expert_peak;      /**< tokens of the GPU whose experts get most, over the mean; 0: 1 */
    uint64_t gradient_bytes; /**< of the buffer in which microbatches are summed */
    fab_precision precision; /**< of the products in the layer, but for those of attention; not auto */
    bool gated;              /**< SwiGLU, rotated positions, no biases and no dropout */
    bool fused_attention;    /**< the scores never reach memory, and the half that the mask takes is not computed */
    bool sequence_parallel;  /**< norms and residual sums are split over tp */
    fab_recompute recompute;
    const fab_latent_attention *latent; /**< NULL: none */
    uint64_t lora_rank;                 /**< of adapters that are trained in place of the weights; 0: none */
    fab_lora lora_matrices;
} fab_layer_shape;

/** Seconds and floating-point operations of one GPU. */
typedef struct fab_kernel_time {
    double forward_s, backward_s, recompute_s;
    double weights_s; /**< of backward_s: gradients of weights, their sum over microbatches included */
    double forward_flops, backward_flops, recompute_flops; /**< by formula: no padding */
} fab_kernel_time;

/**
 * Seconds for `count` products of an m x k by a k x n matrix in one kernel, factors of this precision and a product of
 * at least 16 bits.
 *
 *     max(waves x multiprocessors x tile x 2 k / (peak x matrix_ratio),  bytes / (bandwidth x memory_ratio))
 *
 * matrix_ratio is the GPU's of this precision, where it has none that of its fp8 (8 bits and less) or bf16, else the
 * model's.
 *
 * Tiles are 256x128, 128x128 or 128x64, whichever is fastest; the last wave takes as long as a full one.
 */
double fab_gemm_s(const fab_compute_model *model, const fab_gpu *gpu, fab_precision precision, double m, double n,
                  double k, double count);

/** Seconds for kernels that move `bytes` to or from memory. */
double fab_memory_s(const fab_compute_model *model, const fab_gpu *gpu, double bytes);

/** One layer, one microbatch. Communication is not in it. */
fab_kernel_time fab_layer_time(const fab_compute_model *model, const fab_gpu *gpu, const fab_layer_shape *shape);

/** Logits and cross-entropy behind the last layer, one microbatch; never recomputed. */
fab_kernel_time fab_head_time(const fab_compute_model *model, const fab_gpu *gpu, const fab_layer_shape *shape);

/** One step of Adam in mixed precision, gradients unscaled and clipped, on `parameters` of this GPU. */
double fab_optimizer_s(const fab_compute_model *model, const fab_gpu *gpu, double parameters, uint64_t gradient_bytes);
