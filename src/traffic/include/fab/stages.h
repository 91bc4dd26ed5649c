/** How a job's layers are spread over pipeline stages and their chunks. */
#pragma once

#include "fab/job_spec.h"
#include "fab/model.h"

/**
 * Layers of a stage of a resolved job: those of its stage-layers, or as even as possible, the first and last stages
 * getting the fewer ones. With embedding_as_layer the embedding and the loss count as a layer each when they are
 * spread, and are not in the result. Complexity: O(pp) with a list, else O(1).
 */
uint64_t fab_stage_layers(const fab_job_spec *job, uint64_t stage);

/** Replicas of a serving job that read prompts, or generate tokens. */
static inline uint64_t fab_serving_replicas(const fab_job_spec *job, bool generates) {
    return job->prefill_replicas == 0 ? job->dp : generates ? job->dp - job->prefill_replicas : job->prefill_replicas;
}

/** Layers of chunk `chunk` of `interleave` of a stage: even; a stage of the first half has the fewer ones first. */
uint64_t fab_chunk_layers(const fab_job_spec *job, uint64_t interleave, uint64_t stage, uint64_t chunk);

/** The most chunks per stage that leave none empty: a layer, or an embedding or loss that counts as one. */
uint64_t fab_most_chunks(const fab_job_spec *job);

/** Layers with experts among those of a stage. */
uint64_t fab_stage_expert_layers(const fab_model *model, const fab_job_spec *job, uint64_t stage);

/** Parameters of a stage before any tensor or expert parallelism: its layers, the embeddings on the first, the output
 * side on the last; those of its experts apart. */
void fab_stage_parameters(const fab_model *model, const fab_job_spec *job, uint64_t stage, double *out_dense,
                          double *out_experts);

/** Parameters of the input side (embeddings); of the output side (final norm, untied embedding). */
double fab_model_input_parameters(const fab_model *model);
double fab_model_output_parameters(const fab_model *model);
