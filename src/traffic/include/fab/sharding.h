/** What the data-parallel copies of a rank share, how often that makes them exchange it, and what is trained. */
#pragma once

#include "fab/job_spec.h"
#include "fab/model.h"

/** Stage of a job, resolved or not: never auto. */
fab_zero fab_job_zero(const fab_job_spec *job);

/** Copies among which a state is divided: dp x cp or shard-over, of an expert the ep-th part; 1 with zero=0. */
double fab_job_shards(const fab_job_spec *job, bool of_experts);

/** Groups of copies that each hold a whole state: above 1 in hybrid sharding. */
uint64_t fab_job_shard_groups(const fab_job_spec *job);

/** How often in one iteration a rank reduces all gradients that it holds, and gathers all weights. */
typedef struct fab_data_exchanges {
    uint64_t reductions;   /**< 1; zero=2 and 3: one for every microbatch, or 1 with shard-exchange=iteration */
    uint64_t gathers;      /**< zero=0: 0; zero=1 and 2: 1, behind the optimizer; zero=3: before the forward and again
                              before the backward pass of every microbatch (or, with shard-exchange=iteration, of every
                              chunk; 1 where a GPU has one chunk) */
    bool with_microbatch;  /**< these grow with the number of microbatches: both at zero=3, the reductions at zero=2 */
    uint64_t n_reductions; /**< collectives that make up one reduction: 1; with zero=2 and 3 the layers or chunks */
    uint64_t n_gathers;    /**< the same of a gather */
} fab_data_exchanges;

/**
 * Recomputation adds no gather: a layer that is computed again has its weights for the backward pass that follows.
 * @param[in] microbatches  Per pipeline.
 */
fab_data_exchanges fab_job_data_exchanges(const fab_job_spec *job, uint64_t microbatches);

/**
 * Parameters of a stage that are trained, before any tensor or expert parallelism: all of them, or with lora-rank r the
 * r (m + n) of the adapter of each m x n matrix that has one [LoRA, Hu et al., 2021].
 */
void fab_stage_trained(const fab_job_spec *job, const fab_model *model, uint64_t stage, double *out_dense,
                       double *out_experts);

/**
 * Seconds of an optimizer on the host, for `parameters` of a GPU: gradients over PCIe, states and gradients read and
 * states and weights written in the memory of the host, weights back [ZeRO-Offload, Ren et al., 2021]. Reductions of
 * earlier microbatches are taken to be copied behind computation.
 */
double fab_offload_s(const fab_job_spec *job, double parameters);

/** "sharded" or "zero 3 over 8" behind the separator, and "lora 16"; "" with zero=0 and all weights trained. */
const char *fab_sharding_text(const fab_job_spec *job, const char *separator, char out[48]);
