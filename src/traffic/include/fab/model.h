/** Models that a job may run. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** Attention that keeps one compressed vector of keys and values for all heads [DeepSeek-V2, arXiv 2405.04434, section
 * 2.1]. Sizes of a head: of its scores, `plain` without and `rotated` with positions, and of its values. */
typedef struct fab_latent_attention {
    uint64_t query_rank, key_value_rank, plain, rotated, value;
} fab_latent_attention;

typedef struct fab_model {
    const char *name;
    uint64_t layers, hidden, heads, kv_heads, ffn, seq, vocab, batch;
    bool gated;    /**< three feed-forward matrices (SwiGLU), no biases: Llama; else two with biases: GPT */
    bool tied;     /**< output embedding shares the input embedding's weights */
    uint64_t gpus; /**< of the published run, 0 = not published */
    const char *source;
    uint64_t experts, top_k, expert_ffn; /**< experts <= 1: none; experts that a token visits; size of one */
    uint64_t shared_experts;             /**< of the same size, visited by every token */
    uint64_t dense_layers;               /**< the first ones, without experts */
    const fab_latent_attention *latent;  /**< NULL: none; its heads have sizes of their own */
    uint64_t ep;                         /**< expert-parallel size of the published run; 0 = none */
} fab_model;
extern const fab_model fab_models[]; /**< ended by an entry whose name is NULL; GPTs by size */

/** Model of this name; NULL if there is none. */
const fab_model *fab_model_find(const char *name);

/**
 * Sequences per iteration of a model on so many GPUs when nobody says how many: the model's, rounded down to a multiple
 * of u: the odd part of the number of GPUs times the largest power of two that divides it and leaves u at most an
 * eighth of the batch. At least u.
 */
uint64_t fab_job_batch(uint64_t model_batch, uint64_t n_gpus);

/** The same where it has to be a multiple of `unit`: else the model's, rounded down to one; at least `unit`. */
uint64_t fab_job_batch_of(uint64_t model_batch, uint64_t n_gpus, uint64_t unit);

#define FAB_BATCH_REASON 128

/** Why a batch of these is not the model's, for a bracket. */
const char *fab_job_batch_reason(uint64_t batch, uint64_t model_batch, uint64_t n_gpus, char out[FAB_BATCH_REASON]);

/** The name of the next smaller GPT; NULL: there is none. */
const char *fab_model_smaller(const char *name);

/** Parameters: 12 l h^2 (1 + 13/(12h) + (V+s)/(12 l h)) for a GPT [Megatron-LM SC'21]; exact sum for gated models. */
double fab_model_parameters(const fab_model *model);

/** Those that a token meets: top-k of the experts. */
double fab_model_active_parameters(const fab_model *model);

/** An embedding table; a sample reads `pooling` of its rows, which are added up. */
typedef struct fab_embedding_table {
    double rows, columns, pooling;
} fab_embedding_table;

/** A recommendation model: embedding tables spread over all GPUs, a dense part on every one. */
typedef struct fab_ranking_model {
    const char *name;
    uint64_t tables, rows, embedding; /**< tables, rows of all of them together, columns */
    uint64_t dense_parameters;
    uint64_t batch; /**< samples per iteration */
    const char *source;
    const fab_embedding_table *each; /**< shape [tables] */
} fab_ranking_model;
extern const fab_ranking_model fab_ranking_models[]; /**< ended by an entry whose name is NULL */

/** Model of this name; NULL if there is none. */
const fab_ranking_model *fab_ranking_model_find(const char *name);
