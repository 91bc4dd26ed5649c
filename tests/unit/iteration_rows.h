/*
 * Published training runs and what they ask of an ideal network, in closed form: DGX A100 with 300 GB/s of NVLink per
 * GPU and eight NICs of 200 Gb/s, every phase at full link rate, as under ideal spray.
 */
#pragma once

#include "fab/iteration.h"
#include "fab/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW_NVLINK 300e9 /* bytes/s */
#define ROW_NIC    25e9
#define ROW_SERVER 8

typedef struct published_row {
    const char *model;
    uint64_t tp, pp, dp, batch;
    double tflops;
    bool fitted;
} published_row;

/* Megatron-LM, Narayanan et al., SC'21, arXiv 2104.04473, Table 1: A100-80GB, fp16, full recomputation, interleaved
   schedule with scatter/gather. Microbatch and number of chunks are not printed. */
static const published_row PUBLISHED[] = {
    {"gpt-1.7b", 1, 1, 32, 512, 137, true},     {"gpt-3.6b", 2, 1, 32, 512, 138, false},
    {"gpt-7.5b", 4, 1, 32, 512, 142, false},    {"gpt-18.4b", 8, 1, 32, 1024, 135, false},
    {"gpt-39.1b", 8, 2, 32, 1536, 138, false},  {"gpt-76.1b", 8, 4, 32, 1792, 140, false},
    {"gpt-145.6b", 8, 8, 24, 2304, 148, true},  {"gpt-310.1b", 8, 16, 15, 2160, 155, false},
    {"gpt-529.6b", 8, 35, 9, 2520, 163, false}, {"gpt-1t", 8, 64, 6, 3072, 163, false},
};
#define N_PUBLISHED (sizeof PUBLISHED / sizeof PUBLISHED[0])

/* Of the built-in ones. */
static inline fab_gpu row_gpu(const char *name) {
    fab_gpu gpu;
    fab_error err = {.code = FAB_OK};
    if (fab_gpu_read(name, NULL, &gpu, &err) != FAB_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        abort();
    }
    return gpu;
}

/* The model of a resolved job; one of the user's own has the shape of a GPT. */
static inline fab_model row_model(const fab_job_spec *job) {
    const fab_model *found = fab_model_find(job->model);
    fab_model model = {.name = job->model, .tied = true};
    if (found != NULL) {
        model = *found;
        bool as_published =
            job->hidden == found->hidden && job->heads == found->heads && job->kv_heads == found->kv_heads;
        model.latent = as_published ? found->latent : NULL;
    }
    model.layers = job->layers;
    model.hidden = job->hidden;
    model.heads = job->heads;
    model.kv_heads = job->kv_heads;
    model.ffn = job->ffn;
    model.seq = job->seq;
    model.vocab = job->vocab;
    model.batch = job->batch;
    model.experts = job->experts;
    model.top_k = job->top_k;
    model.expert_ffn = job->expert_ffn;
    return model;
}

/* fab_iteration_time() with the model of the job. */
static inline fab_status row_time(const fab_iteration_request *request, fab_iteration *out, fab_error *err) {
    fab_iteration_request whole = *request;
    const fab_model model = row_model(request->job);
    whole.model = &model;
    return fab_iteration_time(&whole, out, err);
}

/* A resolved job; interleave and microbatch 1. */
static inline fab_job_spec row_job(const fab_model *m, uint64_t tp, uint64_t pp, uint64_t dp, uint64_t batch) {
    fab_job_spec job = {.layers = m->layers,
                        .hidden = m->hidden,
                        .heads = m->heads,
                        .kv_heads = m->kv_heads,
                        .ffn = m->ffn,
                        .seq = m->seq,
                        .vocab = m->vocab,
                        .experts = 1,
                        .tp = tp,
                        .cp = 1,
                        .pp = pp,
                        .dp = dp,
                        .ep = 1,
                        .microbatch = 1,
                        .interleave = 1,
                        .batch = batch,
                        .activation_bytes = 2,
                        .gradient_bytes = 4, /* not printed; the default of a job */
                        .parameter_bytes = 2,
                        .optimizer_bytes = 12,
                        .scatter_gather = true,
                        .gpu_hour_usd = 12.5};
    (void)snprintf(job.model, sizeof job.model, "%s", m->name);
    job.accelerator = row_gpu("a100-80gb");
    job.recompute = FAB_RECOMPUTE_FULL;
    job.attention = FAB_ATTENTION_AUTO;
    return job;
}

/* Parameters of the fuller of the first and the last stage, per GPU. */
static inline double row_parameters(const fab_job_spec *job, const fab_model *m) {
    double first = 0;
    double last = 0;
    double experts = 0;
    fab_stage_parameters(m, job, 0, &first, &experts);
    fab_stage_parameters(m, job, job->pp - 1, &last, &experts);
    return (first > last ? first : last) / (double)job->tp;
}

/* Transfers of the job at full rate, without latency; tp inside a server. */
static inline fab_job_times row_times(const fab_job_spec *job, const fab_model *m, double nvlink, double nic) {
    fab_job_times times = {.tp = {.scale_up = true}};
    double t = (double)job->tp;
    double d = (double)job->dp;
    double tokens = (double)job->batch / d * (double)job->seq; /* of one pipeline */
    double layers = (double)((job->layers + job->pp - 1) / job->pp);
    double activation = tokens * (double)job->hidden * (double)job->activation_bytes;
    uint64_t micro = job->batch / job->dp / job->microbatch;
    if (job->tp > 1) {
        times.tp.transfer_s = 8 * activation * (t - 1) / t * layers / nvlink;
        times.tp.executions = 4 * layers * (double)micro;
    }
    if (job->pp > 1) { /* the busiest NIC: both directions of the stages in between */
        double v = (double)job->interleave;
        times.pp.transfer_s = (job->pp == 2 ? 2 * v - 1 : 2 * v) * activation / t / nic;
        times.pp.executions = v * (double)micro;
    }
    if (job->dp > 1) { /* a server's NICs are shared by its rings; a ring inside one server uses none */
        bool inside = job->tp * job->pp * job->dp <= ROW_SERVER;
        double share = job->tp >= ROW_SERVER ? 1 : t / ROW_SERVER;
        double once = (d - 1) / d * row_parameters(job, m);
        double per_byte = inside ? once / nvlink : once * share / nic;
        times.dp_reduce.transfer_s = per_byte * (double)job->gradient_bytes * (job->sharded ? 1 : 2);
        times.dp_gather.transfer_s = job->sharded ? per_byte * (double)job->parameter_bytes : 0;
        times.dp_reduce.executions = 1;
        times.dp_gather.executions = job->sharded ? 1 : 0;
        times.dp_reduce.scale_up = times.dp_gather.scale_up = inside;
    }
    return times;
}

/* Row i with the best of microbatch 1, 2, 4, 8 and the best interleaving. */
static inline fab_status row_iteration(size_t i, const fab_compute_model *compute, uint64_t gradient_bytes,
                                       fab_iteration *out, fab_error *err) {
    const published_row *row = &PUBLISHED[i];
    const fab_model *model = fab_model_find(row->model);
    fab_job_spec job = row_job(model, row->tp, row->pp, row->dp, row->batch);
    job.gradient_bytes = gradient_bytes;
    fab_job_times times = row_times(&job, model, ROW_NVLINK, ROW_NIC);
    fab_iteration_request request = {
        .job = &job, .times = &times, .compute = compute, .choose_microbatch = true, .choose_interleave = true};
    return row_time(&request, out, err);
}
