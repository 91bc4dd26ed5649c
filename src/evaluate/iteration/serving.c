/* Serving: a roofline of kernels, and what phases add to it. */
#include "fab/serving.h"

#include "durations.h"
#include "fab/kernels.h"
#include "fab/memory.h"
#include "fab/result.h"
#include "fab/stages.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SECONDS_PER_YEAR (365.0 * 24 * 3600)

/* What the phases of a name that begins with `part` take in all, hops between stages apart. */
typedef struct exchanges {
    double all_s, hops_s;
} exchanges;

static exchanges exchanges_of(const fab_result *result, size_t engine, const char *part) {
    exchanges found = {0, 0};
    for (size_t i = 0; i < result->n_phases; i++) {
        const fab_phase_result *phase = &result->phases[i];
        const fab_engine_result *r = &phase->engines[engine];
        const fab_compute_model *c = &fab_compute_default;
        double s = r->transfer_s.mean / (phase->network_flows > 0 ? c->nic_ratio : c->scale_up_ratio) + r->latency_s;
        if (strncmp(phase->name, part, strlen(part)) == 0) {
            *(strstr(phase->name, "-pp") != NULL ? &found.hops_s : &found.all_s) += s;
        }
    }
    return found;
}

/* What stays the same for prompts and tokens. */
typedef struct server {
    const fab_traffic *traffic;
    const fab_job_spec *job;
    fab_layer_shape shape;
    double layers, most_layers;
} server;

static server server_of(const fab_traffic *traffic) {
    const fab_job_spec *job = &traffic->job;
    server s = {.traffic = traffic, .job = job, .shape = iteration_shape(job, &traffic->model)};
    s.shape.recompute = FAB_RECOMPUTE_NONE;
    s.shape.precision = job->precision;
    s.layers = (double)job->layers;
    for (uint64_t stage = 0; stage < job->pp; stage++) {
        s.most_layers = fmax(s.most_layers, (double)fab_stage_layers(job, stage));
    }
    return s;
}

/* A pass of so many rows through a layer, and through the head for a token of each sequence. */
static double layer_s(const server *s, uint64_t sequences, uint64_t tokens) {
    fab_layer_shape shape = s->shape;
    const double visits = (double)sequences * (double)tokens * (double)shape.experts_used;
    shape.microbatch = sequences;
    shape.seq = tokens;
    if ((double)shape.experts_here > visits) { /* weights of experts that nobody visits are not read */
        shape.experts_here = (uint64_t)fmax(visits, 1);
    }
    return fab_layer_time(&fab_compute_default, &s->job->accelerator, &shape).forward_s;
}

static double head_s(const server *s, uint64_t sequences) {
    fab_layer_shape shape = s->shape;
    shape.microbatch = sequences;
    shape.seq = 1;
    return fab_head_time(&fab_compute_default, &s->job->accelerator, &shape).forward_s;
}

/* Keys and values of a layer, of all sequences of a replica, while half of the tokens are generated. */
static double cache_s(const server *s) {
    const fab_job_memory *m = &s->traffic->memory;
    const double full = (double)s->job->prompt + (double)s->job->tokens;
    const double half = (double)s->job->prompt + (double)s->job->tokens / 2;
    const double layer_bytes = m->cache_bytes / (double)fab_stage_layers(s->job, m->stage) * half / full;
    return fab_memory_s(&fab_compute_default, &s->job->accelerator, layer_bytes);
}

static void serve(const server *s, const fab_result *result, size_t engine, fab_serving *out) {
    const fab_job_spec *job = s->job;
    const fab_fabric_result *fabric = &result->fabrics[0];
    const double microbatches = (double)s->traffic->microbatches;
    const double hops = (double)job->pp - 1;
    const double stages = s->layers / s->most_layers; /* exchanges are those of the fullest */
    const uint64_t sequences = job->batch / job->dp;
    const exchanges prefill = exchanges_of(result, engine, "prefill");
    const exchanges decode = exchanges_of(result, engine, "decode");
    const double prompt_s = layer_s(s, job->microbatch, job->prompt);
    out->first_token_network_s = (prefill.all_s * stages + prefill.hops_s * hops) / microbatches;
    out->first_token_s = s->layers * prompt_s + head_s(s, job->microbatch) + out->first_token_network_s;
    out->token_network_s = (decode.all_s * stages + decode.hops_s * hops) / (double)job->tokens;
    out->cache_s = s->layers * cache_s(s);
    out->weights_s = fab_memory_s(&fab_compute_default, &job->accelerator,
                                  s->traffic->memory.weights_bytes * s->layers / s->most_layers);
    out->token_s = s->layers * layer_s(s, sequences, 1) + out->cache_s + head_s(s, sequences) + out->token_network_s;
    out->batch_s = out->first_token_s +
                   (microbatches - 1) * (s->most_layers * prompt_s + prefill.all_s / microbatches) +
                   (double)job->tokens * out->token_s;
    out->requests_per_s = (double)job->batch / out->batch_s;
    out->tokens_per_s = out->requests_per_s * (double)job->tokens;
    const double gpus = (double)(fabric->counts.gpus - fabric->spec.spares * fabric->spec.gpus_per_server);
    const double network_usd =
        fmin((double)result->ranks / gpus, 1) * (fabric->cost.capital_usd_per_year + fabric->cost.energy_usd_per_year);
    const double usd_per_s = (double)result->ranks * job->gpu_hour_usd / 3600 + network_usd / SECONDS_PER_YEAR;
    out->usd_per_1e6_tokens = s->traffic->memory.fits ? usd_per_s / out->tokens_per_s * 1e6 : 0;
}

static bool is_timed(const fab_traffic *traffic, const fab_result *result, const char *text) {
    bool timed = traffic->has_job && traffic->job.kind == FAB_JOB_SERVING && strcmp(text, "job") == 0 &&
                 traffic->n_phases > 0 && result->n_fabrics > 0;
    for (size_t i = 0; timed && i < result->n_phases; i++) {
        for (size_t e = 0; e < result->phases[i].n_engines; e++) {
            timed = timed && result->phases[i].engines[e].has_time;
        }
    }
    return timed;
}

fab_status fab_serve(const fab_traffic *traffic, fab_result *result, const char *text, fab_error *err) {
    if (!is_timed(traffic, result, text)) {
        return FAB_OK;
    }
    const size_t n = result->phases[0].n_engines;
    const server s = server_of(traffic);
    FAB_PASS(FAB_NEW(result->serving, n, err));
    result->n_serving = n;
    for (size_t e = 0; e < n; e++) {
        serve(&s, result, e, &result->serving[e]);
        (void)snprintf(result->serving[e].engine, sizeof result->serving[e].engine, "%s",
                       result->phases[0].engines[e].engine);
    }
    return FAB_OK;
}
