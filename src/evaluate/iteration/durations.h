/** How long every operation of an iteration takes. */
#pragma once

#include "fab/iteration.h"

/* What stays the same for all candidates. */
typedef struct iteration_plan {
    const fab_iteration_request *request;
    const fab_job_spec *job;
    const fab_compute_model *compute;
    const fab_gpu *gpu;
    const fab_model *model;
    fab_layer_shape shape; /* its microbatch is that of the candidate */
    uint64_t most_layers;  /* of a stage */
    uint64_t most_chunks;  /* that the order allows and no stage has too few layers for */
} iteration_plan;

/* A candidate: so many sequences per microbatch, chunks per stage and microbatches. */
typedef struct iteration_candidate {
    uint64_t microbatch, interleave, microbatches;
} iteration_candidate;

/* A pipeline and what it points to. */
typedef struct iteration_pipeline {
    fab_pipeline pipeline;
    fab_chunk_times *chunk; /* [stage][chunk] */
    double *optimizer_s;    /* [stage] */
    fab_kernel_time layer, head;
} iteration_pipeline;

/* Without precision; its microbatch is 0. */
fab_layer_shape iteration_shape(const fab_job_spec *job, const fab_model *model);

void iteration_pipeline_release(iteration_pipeline *pipeline);

/* Written on success only. */
FAB_STATUS iteration_pipeline_make(const iteration_plan *plan, const iteration_candidate *candidate,
                                   iteration_pipeline *out, fab_error *err);
