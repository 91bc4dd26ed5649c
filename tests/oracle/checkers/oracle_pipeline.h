/**
 * @file oracle_pipeline.h
 * A pipeline schedule carried out operation by operation: 1F1B, or Megatron-LM's interleaved order with several chunks
 * per stage. Shares no code with src/analysis.
 */
#pragma once

#define ORACLE_MAX_STAGES 64

/** Stage i takes forward_s[i] and backward_s[i] for one chunk of one microbatch. */
typedef struct oracle_pipeline {
    int stages, chunks, microbatches;
    const double *forward_s, *backward_s; /**< shape [stages] */
} oracle_pipeline;

/** Seconds until the last operation ends; transfers take no time. Negative when the schedule does not come to an end.
 */
double oracle_pipeline_s(const oracle_pipeline *pipeline);
