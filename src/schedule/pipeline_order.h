/** In which order every stage takes its operations. */
#pragma once

#include "fab/pipeline.h"

/** A step of a stage: one of forward, backward, weights. */
typedef struct fab_step_of_stage {
    uint8_t kind; /**< fab_op_kind */
    uint16_t chunk;
    uint32_t microbatch;
} fab_step_of_stage;

/** Steps that every stage has. */
size_t fab_pipeline_steps(const fab_pipeline *pipeline);

/** @param[out] out  Shape [n_stages][steps]. */
void fab_pipeline_order_1f1b(const fab_pipeline *pipeline, fab_step_of_stage *out);

void fab_pipeline_order_zero_bubble(const fab_pipeline *pipeline, fab_step_of_stage *out);
