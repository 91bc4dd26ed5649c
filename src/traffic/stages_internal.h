/** What the spreading of layers over stages needs of a model, and gives to the reading of a job. */
#pragma once

#include "fab/job_spec.h"
#include "fab/model.h"

/* Between the entries of stage-layers. */
#define STAGE_LIST_SEPARATORS ",:;-"

/* Parameters of the layers first ... first + n - 1: of every token, and of the experts. */
void fab_model_layers(const fab_model *model, uint64_t first, uint64_t n, double *out_dense, double *out_experts);
/* How many of these layers have experts. */
uint64_t fab_model_expert_layers(const fab_model *model, uint64_t first, uint64_t n);
/* Interleaving, schedule and list of layers that go together. */
FAB_STATUS fab_job_check_stages(const fab_job_spec *job, const char *where, fab_error *err);
/* Parameters of the largest part of a stage that is gathered at once: a layer (1/ep of its experts), the embedding or
   the output side. */
double fab_stage_largest_unit(const fab_model *model, const fab_job_spec *job, uint64_t stage);
/* Elements of the keys and values of one token and layer on one tensor rank. */
double fab_kv_elements(const fab_model *model, uint64_t tp);
