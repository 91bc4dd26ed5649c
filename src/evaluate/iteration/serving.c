/* Serving: a roofline of kernels, and what phases add to it. */

#include "durations.h"
#include "fab/iterate.h"
#include "fab/nccl.h"
#include "fab/serving_queue.h"
#include "fab/stages.h"

#define REQUESTS     10000  /* of the queue that is simulated */
#define PART_OF_MOST 0.7    /* of the requests that can be served, where nobody says how many come */
#define TABLE_BYTES  4      /* of an element of a table of ranking */
#define SIDE         1024.0 /* of the layers that dense parameters of ranking are taken for */

/* What the phases of a name that begins with `part` take in all: transfers, which go by the sequences of a pass, and
 * latencies, which do not; hops between stages apart. Tensor-parallel all-reduces of NCCL are neither. */
typedef struct exchanges {
    double transfer_s, latency_s, hops_s;
    uint32_t domains;        /* of an all-reduce that is left to all_reduce_s(); 0: there is none */
    double tensor_s, path_s; /* its bytes between domains, of all executions; latency of its longest path */
} exchanges;

/* Domains that the ranks of a tensor group fill; 0: not equally, or NCCL was not measured on the GPU. */
static uint32_t domains_of(const fab_result *result, const fab_phase_result *phase) {
    const uint64_t size = result->fabrics[0].spec.domain;
    const uint64_t tp = result->job.tp;
    return result->job.accelerator.nccl.launch_s <= 0 ? 0
           : phase->network_flows == 0                ? 1
           : tp > size && tp % size == 0              ? (uint32_t)(tp / size)
                                                      : 0;
}

/* By how much each phase takes longer, or what its transfer takes instead: shape [n_phases]; NULL: as it is. */
typedef struct changed_phases {
    const double *slower, *transfer_s;
} changed_phases;

static exchanges exchanges_of(const fab_result *result, size_t engine, changed_phases changed, const char *part) {
    exchanges found = {.transfer_s = 0};
    for (size_t i = 0; i < result->n_phases; i++) {
        const fab_phase_result *phase = &result->phases[i];
        const fab_engine_result *r = &phase->engines[engine];
        const fab_compute_model *c = &fab_compute_default;
        const double factor = changed.slower != NULL ? changed.slower[i] : 1;
        const double transfer_s = changed.transfer_s != NULL ? changed.transfer_s[i] : r->transfer_s.mean;
        double s = factor * transfer_s / (phase->network_flows > 0 ? c->nic_ratio : c->scale_up_ratio);
        if (strncmp(phase->name, part, strlen(part)) != 0) {
            continue;
        }
        if (strcmp(phase->name, part) == 0 && strcmp(part, "kv-transfer") != 0 && domains_of(result, phase) > 0) {
            found.domains = domains_of(result, phase);
            found.tensor_s = found.domains > 1 ? s : 0;
            found.path_s = r->paths.latency_s.max;
        } else if (strstr(phase->name, "-pp") != NULL) {
            found.hops_s += s + factor * r->latency_s;
        } else {
            found.transfer_s += s;
            found.latency_s += factor * r->latency_s;
        }
    }
    return found;
}

typedef struct all_exchanges {
    exchanges prefill, decode, kv;
} all_exchanges;

static all_exchanges all_exchanges_of(const fab_result *result, size_t engine, changed_phases changed) {
    return (all_exchanges){.prefill = exchanges_of(result, engine, changed, "prefill"),
                           .decode = exchanges_of(result, engine, changed, "decode"),
                           .kv = exchanges_of(result, engine, changed, "kv-transfer")};
}

/* What stays the same for prompts and tokens. */
typedef struct server {
    const fab_traffic *traffic;
    const fab_job_spec *job;
    fab_layer_shape shape;
    double layers, most_layers;
    double scale_up_bps, nics_bps; /* of a GPU */
    uint64_t readers, generators;  /* replicas; readers = 0: there are no pools */
    double arrivals_per_s;         /* 0: a part of the most that can be served */
} server;

static server server_of(const fab_traffic *traffic, const fab_result *result) {
    const fab_fabric_spec *spec = &result->fabrics[0].spec;
    const fab_job_spec *job = &traffic->job;
    server s = {.traffic = traffic,
                .job = job,
                .shape = iteration_shape(job, &traffic->model),
                .readers = job->prefill_replicas,
                .generators = fab_serving_replicas(job, true),
                .arrivals_per_s = job->request_rate,
                .scale_up_bps = spec->domain_bps,
                .nics_bps = spec->nic_bps * (double)spec->nics_per_server / (double)spec->gpus_per_server};
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

/* An all-reduce of NCCL: a size as small as that of a token is a matter of launch and steps. Between domains every
 * algorithm has the network's share of the ring, which was replayed `passes` times for 2 all-reduces a layer of `most`
 * sequences. */
static double all_reduce_s(const server *s, const exchanges *x, double passes, uint64_t most, uint64_t sequences,
                           uint64_t tokens) {
    const fab_job_spec *job = s->job;
    fab_nccl_case c = {.gpu = &job->accelerator.nccl,
                       .operation = FAB_ALL_REDUCE,
                       .ranks = (uint32_t)job->tp,
                       .domains = x->domains,
                       .scale_up_bps = s->scale_up_bps,
                       .nics_bps = s->nics_bps};
    const double bytes = (double)sequences * (double)tokens * (double)job->hidden * (double)job->activation_bytes;
    const double whole = (double)most * (double)tokens * (double)job->hidden * (double)job->activation_bytes;
    for (int a = 0; a < FAB_NCCL_N_ALGORITHMS; a++) { /* nothing is known of switches that reduce */
        c.network[a] = (fab_nccl_network){
            .s_per_byte = a == FAB_NCCL_COLLNET ? (double)NAN : x->tensor_s / (passes * 2 * s->most_layers * whole),
            .path_s = x->path_s};
    }
    fab_nccl_algorithm algorithm = FAB_NCCL_RING;
    fab_nccl_protocol protocol = FAB_NCCL_SIMPLE;
    fab_nccl_time t = {.time_s = 0};
    if (fab_nccl_choose(&c, FAB_NCCL_AS_NCCL, FAB_NCCL_N_ALGORITHMS, bytes, &algorithm, &protocol)) {
        fab_nccl_time_of(&c, algorithm, protocol, bytes, &t);
    }
    return t.time_s;
}

/* Of a pass of so many rows through all layers, where exchanges are those of `part` for `most` sequences. */
static double exchange_s(const server *s, const exchanges *x, double passes, uint64_t most, uint64_t sequences,
                         uint64_t tokens) {
    const double stages = s->layers / s->most_layers; /* exchanges are those of the fullest */
    const double part = (double)sequences / (double)most;
    const double tensor_s = x->domains > 0 ? 2 * s->layers * all_reduce_s(s, x, passes, most, sequences, tokens) : 0;
    return ((x->transfer_s * part + x->latency_s) * stages + x->hops_s * ((double)s->job->pp - 1)) / passes + tensor_s;
}

static double token_s(const server *s, const exchanges *x, uint64_t most, uint64_t sequences) {
    return s->layers * layer_s(s, sequences, 1) + s->layers * cache_s(s) * (double)sequences / (double)most +
           head_s(s, sequences) + exchange_s(s, x, (double)s->job->tokens, most, sequences, 1);
}

static double prompt_s(const server *s, const exchanges *x, uint64_t prompts) {
    return s->layers * layer_s(s, prompts, s->job->prompt) + head_s(s, prompts) +
           exchange_s(s, x, (double)s->traffic->microbatches, s->job->microbatch, prompts, s->job->prompt);
}

/* --- requests that wait ------------------------------------------------------------------------------------------- */

static fab_status find_waits(const server *s, const fab_serving_queue *q, uint64_t seed, fab_serving *out,
                             fab_error *err) {
    fab_serving_queue with = *q;
    fab_serving_waits waits;
    out->most_requests_per_s = fab_serving_most(q);
    with.arrivals_per_s = s->arrivals_per_s > 0 ? s->arrivals_per_s : PART_OF_MOST * out->most_requests_per_s;
    with.seed = seed;
    if (with.arrivals_per_s >= out->most_requests_per_s) {
        return FAB_OK; /* who waits, waits ever longer */
    }
    FAB_PASS(fab_serving_wait(&with, &waits, err));
    out->arrivals_per_s = with.arrivals_per_s;
    out->load_ratio = with.arrivals_per_s / out->most_requests_per_s;
    out->window_s = waits.window_s;
    out->first_token_p50_s = waits.first_token_s[0];
    out->first_token_p99_s = waits.first_token_s[1];
    out->token_p50_s = waits.token_s[0];
    out->token_p99_s = waits.token_s[1];
    return FAB_OK;
}

static fab_status queue_up(const server *s, const all_exchanges *p, uint64_t seed, fab_serving *out, fab_error *err) {
    const fab_job_spec *job = s->job;
    const uint64_t sequences = job->batch / fab_serving_replicas(job, true);
    FAB_OWNED_NEW(double, prompts, job->microbatch + 1, err);
    FAB_OWNED_NEW(double, tokens, sequences + 1, err);
    for (uint64_t n = 1; n <= job->microbatch; n++) {
        prompts[n] = prompt_s(s, &p->prefill, n);
    }
    for (uint64_t n = 1; n <= sequences; n++) {
        tokens[n] = token_s(s, &p->decode, sequences, n);
    }
    const fab_serving_queue queue = {.replicas = (uint32_t)s->generators,
                                     .readers = (uint32_t)s->readers,
                                     .slots = (uint32_t)sequences,
                                     .prompts = (uint32_t)job->microbatch,
                                     .tokens = job->tokens,
                                     .prompt_s = prompts,
                                     .token_s = tokens,
                                     .transfer_s = out->kv_transfer_s,
                                     .requests = REQUESTS};
    return find_waits(s, &queue, seed, out, err);
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

/* All but the queue. */
static void serve_alone(const server *s, const fab_result *result, const all_exchanges *p, fab_serving *out) {
    const fab_job_spec *job = s->job;
    const double microbatches = (double)s->traffic->microbatches;
    const uint64_t sequences = job->batch / fab_serving_replicas(job, true);
    out->first_token_s = prompt_s(s, &p->prefill, job->microbatch);
    out->first_token_network_s =
        exchange_s(s, &p->prefill, microbatches, job->microbatch, job->microbatch, job->prompt);
    out->token_s = token_s(s, &p->decode, sequences, sequences);
    out->token_network_s = exchange_s(s, &p->decode, (double)job->tokens, sequences, sequences, 1);
    out->all_reduce_s =
        p->decode.domains > 0 ? all_reduce_s(s, &p->decode, (double)job->tokens, sequences, sequences, 1) : 0;
    out->kv_transfer_s = (p->kv.transfer_s + p->kv.latency_s) / microbatches;
    out->cache_s = s->layers * cache_s(s);
    const double weights = s->traffic->memory.weights_bytes / (double)job->parameter_bytes;
    const double read_s = fab_memory_s(&fab_compute_default, &job->accelerator,
                                       weights * fab_precision_bytes(job->precision) * s->layers / s->most_layers);
    out->weights_s = fmin(read_s, out->token_s - out->token_network_s - out->cache_s);
    const double stage_s =
        s->most_layers / s->layers * /* of the fullest, which the next microbatch waits for */
        (out->first_token_s - head_s(s, job->microbatch) - p->prefill.hops_s * ((double)job->pp - 1) / microbatches);
    out->batch_s =
        out->first_token_s + (microbatches - 1) * stage_s + out->kv_transfer_s + (double)job->tokens * out->token_s;
    out->requests_per_s = (double)job->batch / out->batch_s;
    out->tokens_per_s = out->requests_per_s * (double)job->tokens;
    const double usd_per_s = fab_usd_per_s(&result->fabrics[0], result->ranks, s->traffic->job.gpu_hour_usd);
    out->usd_per_1e6_tokens = s->traffic->memory.fits ? usd_per_s / out->tokens_per_s * 1e6 : 0;
}

static fab_status serve(const server *s, const fab_result *result, size_t engine, fab_serving *out, fab_error *err) {
    const all_exchanges p = all_exchanges_of(result, engine, (changed_phases){.slower = NULL});
    serve_alone(s, result, &p, out);
    return queue_up(s, &p, result->seed, out, err);
}

void fab_serve_with(const fab_traffic *traffic, const fab_result *result, size_t engine, const double *transfer_s,
                    fab_serving *out) {
    const server s = server_of(traffic, result);
    const all_exchanges p = all_exchanges_of(result, engine, (changed_phases){.transfer_s = transfer_s});
    *out = (fab_serving){.first_token_s = 0};
    serve_alone(&s, result, &p, out);
}

/* --- ranking: lookups and products of a batch on a roofline, and what its phases add ------------------------------ */

/* Forward, and gradients of inputs and weights. */
static double dense_s(const fab_job_spec *job) {
    const double samples = (double)job->batch / (double)job->dp;
    const double side = fmin(SIDE, sqrt((double)job->dense_parameters));
    const double layers = (double)job->dense_parameters / (side * side);
    const fab_compute_model *model = &fab_compute_default;
    const fab_gpu *gpu = &job->accelerator;
    return layers * (2 * fab_gemm_s(model, gpu, job->precision, samples, side, side, 1) +
                     fab_gemm_s(model, gpu, job->precision, side, side, samples, 1)) +
           fab_optimizer_s(model, gpu, (double)job->dense_parameters, job->gradient_bytes);
}

/* Rows are read once, and once more to be written. */
static double lookup_s(const fab_job_spec *job) {
    const double bytes = 3 * TABLE_BYTES * (double)job->batch / (double)job->dp * job->lookups * job->lookup_peak;
    return fab_memory_s(&fab_compute_default, &job->accelerator, bytes);
}

static void rank(const fab_traffic *traffic, const fab_result *result, size_t engine, fab_ranking_batch *out) {
    const fab_job_spec *job = &traffic->job;
    out->dense_s = dense_s(job);
    out->lookup_s = lookup_s(job);
    FAB_EACH(const fab_phase_result, phase, result->phases, result->n_phases) {
        const double s = phase->engines[engine].time_s.mean;
        if (strncmp(phase->name, "embedding", strlen("embedding")) == 0) {
            out->exchange_s += s;
        } else if (strncmp(phase->name, "dp", 2) == 0) {
            out->reduction_s += (1 - job->dp_overlap) * s;
        }
    }
    out->batch_s = out->lookup_s + out->dense_s + out->exchange_s + out->reduction_s;
    out->samples_per_s = (double)job->batch / out->batch_s;
    out->usd_per_1e6_samples =
        traffic->memory.fits
            ? fab_usd_per_s(&result->fabrics[0], result->ranks, traffic->job.gpu_hour_usd) / out->samples_per_s * 1e6
            : 0;
}

static fab_status rank_all(const fab_traffic *traffic, fab_result *result, fab_error *err) {
    const size_t n = result->phases[0].n_engines;
    FAB_PASS(FAB_NEW(result->ranking, n, err));
    result->n_ranking = n;
    for (size_t e = 0; e < n; e++) {
        rank(traffic, result, e, &result->ranking[e]);
        FAB_FORMAT(result->ranking[e].engine, "%s", result->phases[0].engines[e].engine);
    }
    return FAB_OK;
}

/* --- a result ----------------------------------------------------------------------------------------------------- */

static bool is_timed(const fab_traffic *traffic, const fab_result *result, const char *text) {
    bool timed = traffic->has_job && strcmp(text, "job") == 0 && traffic->n_phases > 0 && result->n_fabrics > 0;
    for (size_t i = 0; timed && i < result->n_phases; i++) {
        for (size_t e = 0; e < result->phases[i].n_engines; e++) {
            timed = timed && result->phases[i].engines[e].has_time;
        }
    }
    return timed;
}

fab_status fab_serve(const fab_traffic *traffic, fab_result *result, const char *text, fab_error *err) {
    if (traffic->job.kind == FAB_JOB_TRAINING || !is_timed(traffic, result, text)) {
        return FAB_OK;
    }
    if (traffic->job.kind == FAB_JOB_RANKING) {
        return rank_all(traffic, result, err);
    }
    const size_t n = result->phases[0].n_engines;
    const server s = server_of(traffic, result);
    FAB_PASS(FAB_NEW(result->serving, n, err));
    result->n_serving = n;
    for (size_t e = 0; e < n; e++) {
        FAB_PASS(serve(&s, result, e, &result->serving[e], err));
        FAB_FORMAT(result->serving[e].engine, "%s", result->phases[0].engines[e].engine);
    }
    return FAB_OK;
}

/* --- what is left ------------------------------------------------------------------------------------------------- */

fab_status fab_serve_left(const fab_traffic *traffic, const fab_result *result, size_t engine,
                          const fab_serving_left *left, fab_serving *out, fab_error *err) {
    server s = server_of(traffic, result);
    const all_exchanges p = all_exchanges_of(result, engine, (changed_phases){.slower = left->slower});
    *out = (fab_serving){.kv_transfer_s = (p.kv.transfer_s + p.kv.latency_s) / (double)traffic->microbatches};
    s.readers = left->readers;
    s.generators = left->generators;
    s.arrivals_per_s = left->arrivals_per_s;
    return queue_up(&s, &p, result->seed, out, err);
}
