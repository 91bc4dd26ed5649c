/* Time of one training iteration: its schedule run to the end, for the best of the candidates. */
#include "durations.h"

#include "fab/sharding.h"
#include "fab/stages.h"

/* Every layer of a model with experts is timed as one that has them, also the first few that have none. */
fab_layer_shape iteration_shape(const fab_job_spec *job, const fab_model *model) {
    bool has_experts = job->experts > 1;
    uint64_t own = has_experts && job->ep > 0 ? job->experts / job->ep : 1;
    fab_layer_shape shape = {
        .seq = job->seq,
        .hidden = job->hidden,
        .heads = job->heads,
        .kv_heads = job->kv_heads,
        .ffn = has_experts ? job->expert_ffn : job->ffn,
        .vocab = job->vocab,
        .tp = job->tp,
        .cp = job->cp,
        .experts_here = own > 0 ? own : 1,
        .experts_used = has_experts ? job->top_k + model->shared_experts : 1,
        .expert_peak = job->ep > 1 ? job->expert_peak : 1,
        .gradient_bytes = job->gradient_bytes,
        .gated = model->gated,
        .fused_attention =
            job->attention == FAB_ATTENTION_FLASH || (model->gated && job->attention != FAB_ATTENTION_STANDARD),
        .sequence_parallel = job->sequence_parallel,
        .recompute = job->recompute,
        .latent = model->latent,
        .lora_rank = job->lora_rank,
        .lora_matrices = job->lora_matrices,
    };
    return shape;
}

/* Microbatches per pipeline, or 0 where the schedule does not allow this candidate. */
static uint64_t microbatches(const iteration_plan *p, uint64_t microbatch, uint64_t interleave) {
    const fab_job_spec *job = p->job;
    uint64_t per_pipeline = job->batch / job->dp;
    if (job->batch % job->dp != 0 || per_pipeline % microbatch != 0) {
        return 0;
    }
    uint64_t m = per_pipeline / microbatch;
    return interleave == 1 || (job->pp > 1 && m % job->pp == 0) ? m : 0;
}

/* Utilisation, tokens and dollars of an iteration whose times are known. */
static void rate(const iteration_plan *p, const fab_kernel_time *layer, const fab_kernel_time *head, uint64_t m,
                 fab_iteration *it) {
    const fab_job_spec *job = p->job;
    double gpus = (double)job->tp * (double)job->cp * (double)job->pp * (double)job->dp;
    double layers = (double)job->layers;
    double per_microbatch = (double)job->tp * (double)job->cp; /* GPUs that share one, at a time */
    double n_microbatches = (double)m * (double)job->dp;
    double model_flops =
        n_microbatches * per_microbatch *
        (layers * (layer->forward_flops + layer->backward_flops) + head->forward_flops + head->backward_flops);
    double executed = model_flops + n_microbatches * per_microbatch * layers * layer->recompute_flops;
    double tokens = (double)job->batch * (double)job->seq;
    it->tflops_per_gpu = executed / (gpus * it->time_s) * 1e-12;
    it->mfu_ratio = model_flops / (gpus * it->time_s * p->gpu->flops[p->shape.precision]);
    it->tokens_per_s = tokens / it->time_s;
    it->usd_per_1e9_tokens = p->request->usd_per_s / it->tokens_per_s * 1e9;
}

/* --- schedule ----------------------------------------------------------------------------------------------------- */

/* Of two travels under way together. */
static fab_shared_slowdown most_shared(const fab_paces *paces) {
    fab_shared_slowdown most = {0};
    const unsigned send = FAB_TRAVEL_BIT(FAB_TRAVEL_SEND);
    for (fab_travel other = FAB_TRAVEL_SEND; paces != NULL && other < FAB_TRAVEL_N; other++) {
        for (fab_travel k = 0; k < FAB_N_EXCHANGES; k++) {
            unsigned set = FAB_TRAVEL_BIT(k) | FAB_TRAVEL_BIT(other);
            most.exchange = fmax(most.exchange, paces->slowdown[set][k]);
        }
    }
    if (paces != NULL) {
        most.gather = paces->slowdown[send | FAB_TRAVEL_BIT(FAB_TRAVEL_GATHER)][FAB_TRAVEL_GATHER];
        most.reduce = paces->slowdown[send | FAB_TRAVEL_BIT(FAB_TRAVEL_REDUCE)][FAB_TRAVEL_REDUCE];
    }
    return most;
}

static fab_status iteration_evaluate(const iteration_plan *p, const iteration_candidate *c, fab_pipeline_needs needs,
                                     fab_iteration *out, fab_error *err) {
    FAB_OWNS(iteration_pipeline_release) iteration_pipeline run = {.chunk = NULL};
    FAB_OWNS(fab_timeline_release) fab_timeline timeline = {.use = NULL};
    fab_iteration it = {
        .microbatch = c->microbatch, .interleave = c->interleave, .shared = most_shared(p->request->times->paces)};
    FAB_PASS(iteration_pipeline_make(p, c, &run, err));
    FAB_PASS(fab_pipeline_run(&run.pipeline, needs, &timeline, err));
    it.time_s = timeline.time_s;
    if (timeline.use != NULL) {
        const fab_stage_use *use = &timeline.use[timeline.busiest];
        double *const shown_s[FAB_N_EXCHANGES] = {&it.exposed_tp_s, &it.exposed_cp_s, &it.exposed_ep_s};
        for (size_t i = 0; i < c->interleave * FAB_N_EXCHANGES; i++) {
            const fab_chunk_times *chunk = &run.chunk[timeline.busiest * c->interleave + i / FAB_N_EXCHANGES];
            size_t k = i % FAB_N_EXCHANGES;
            *shown_s[k] += (chunk->forward_exchange_s[k] + chunk->backward_exchange_s[k]) * (double)c->microbatches;
        }
        it.compute_s = use->compute_s;
        it.bubble_s = use->bubble_s;
        it.exposed_pp_s = use->send_s;
        it.exposed_dp_s = use->replica_s;
        it.optimizer_s = use->optimizer_s;
        rate(p, &run.layer, &run.head, c->microbatches, &it);
    }
    *out = it;
    return FAB_OK;
}

static fab_status keep_schedule(const iteration_plan *p, const iteration_candidate *c, fab_schedule **out,
                                fab_error *err) {
    FAB_OWNS(iteration_pipeline_release) iteration_pipeline run = {.chunk = NULL};
    FAB_PASS(iteration_pipeline_make(p, c, &run, err));
    return fab_schedule_new(&run.pipeline, out, err);
}

/* --- choice ------------------------------------------------------------------------------------------------------- */

static const uint64_t MICROBATCHES[] = {1, 2, 4, 8};
#define N_MICROBATCHES FAB_N_OF(MICROBATCHES)

/* So many chunks are tried one by one; of more, those that divide the layers of the fullest stage. */
#define EVERY_CHUNKS 32
#define MOST_CHUNKS  256

typedef struct bounded_candidate {
    iteration_candidate is;
    size_t index;
    double bound_s;
} bounded_candidate;

FAB_ORDER_TWO(by_bound, bounded_candidate, bound_s, index);

/* Adds the candidates of a microbatch: every number of chunks that is asked for, allowed, and fits. */
static fab_status add_candidates(const iteration_plan *p, uint64_t microbatch, bounded_candidate *out, size_t *n,
                                 fab_error *err) {
    const fab_iteration_request *request = p->request;
    uint64_t first = request->choose_interleave ? 1 : p->job->interleave;
    uint64_t last = request->choose_interleave ? p->most_chunks : first; /* at most MOST_CHUNKS */
    iteration_pipeline run = {.chunk = NULL};
    for (uint64_t v = first; v <= last; v++) {
        const iteration_candidate c = {microbatch, v, microbatches(p, microbatch, v)};
        bool is_tried = v == first || v <= EVERY_CHUNKS || p->most_layers % v == 0;
        if (!is_tried || c.microbatches == 0 ||
            (request->fits != NULL && !request->fits(request->fits_context, microbatch, v))) {
            continue;
        }
        FAB_PASS(iteration_pipeline_make(p, &c, &run, err));
        out[*n] = (bounded_candidate){c, *n, fab_pipeline_lower_bound_s(&run.pipeline)};
        (*n)++;
        iteration_pipeline_release(&run);
    }
    return FAB_OK;
}

/* The fastest; of equal ones the smaller microbatch, then fewer chunks. Those whose bound is above it are not run, and
 * those whose schedule takes too much memory not taken. */
static fab_status choose(const iteration_plan *p, bounded_candidate *candidate, size_t n, iteration_candidate *out,
                         fab_error *err) {
    const bounded_candidate *best = &candidate[0];
    double best_s = INFINITY;
    qsort(candidate, n, sizeof *candidate, by_bound);
    for (size_t i = 0; i < n && n > 1 && candidate[i].bound_s <= best_s * (1 + 1e-12); i++) {
        fab_iteration it = {.time_s = INFINITY};
        fab_error too_large = {0};
        fab_status status = iteration_evaluate(p, &candidate[i].is, FAB_PIPELINE_TIME, &it, &too_large);
        FAB_REFUSE_IF(status != FAB_OK && status != FAB_ELIMIT, err, status, too_large.where, "%s", too_large.text);
        if (it.time_s < best_s || (it.time_s <= best_s && candidate[i].index < best->index)) {
            best = &candidate[i];
            best_s = it.time_s;
        }
    }
    *out = best->is;
    return FAB_OK;
}

/* What holds for all candidates. */
static fab_status open_plan(const fab_iteration_request *request, iteration_plan *out, fab_error *err) {
    const fab_job_spec *job = request->job;
    iteration_plan p = {.request = request,
                        .job = job,
                        .compute = request->compute != NULL ? request->compute : &fab_compute_default,
                        .gpu = &job->accelerator,
                        .model = request->model};
    p.shape = iteration_shape(job, p.model);
    FAB_PASS(fab_gpu_resolve(p.gpu, job->precision, job->where, &p.shape.precision, err));
    for (uint64_t stage = 0; stage < job->pp; stage++) {
        uint64_t layers = fab_stage_layers(job, stage);
        p.most_layers = layers > p.most_layers ? layers : p.most_layers;
    }
    p.most_chunks = job->schedule == FAB_SCHEDULE_1F1B ? fab_most_chunks(job) : 1;
    p.most_chunks = p.most_chunks < MOST_CHUNKS ? p.most_chunks : MOST_CHUNKS;
    *out = p;
    return FAB_OK;
}

/* A stage that does all its work without a pause. */
static double busiest_stage_s(const iteration_pipeline *run) {
    const fab_pipeline *p = &run->pipeline;
    double most_s = 0;
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        const fab_chunk_times *t = &run->chunk[stage]; /* of one chunk */
        most_s = fmax(most_s, t->forward_s + fab_exchange_s(t->forward_exchange_s) + t->recompute_s + t->backward_s +
                                  fab_exchange_s(t->backward_exchange_s) + t->weights_s);
    }
    return most_s * p->n_microbatches;
}

fab_status fab_iteration_bound(const fab_iteration_request *request, uint64_t microbatch, uint64_t interleave,
                               fab_iteration_bounds how, double *out_s, fab_error *err) {
    iteration_plan p;
    FAB_OWNS(iteration_pipeline_release) iteration_pipeline run = {.chunk = NULL};
    FAB_OWNS(fab_timeline_release) fab_timeline timeline = {.use = NULL};
    FAB_PASS(open_plan(request, &p, err));
    const uint64_t chunks = how == FAB_BOUND_STAGE ? 1 : interleave;
    const iteration_candidate c = {microbatch, chunks, microbatches(&p, microbatch, chunks)};
    FAB_PASS(iteration_pipeline_make(&p, &c, &run, err));
    if (how == FAB_BOUND_SCHEDULE) {
        run.pipeline.paces = NULL;
        FAB_PASS(fab_pipeline_run(&run.pipeline, FAB_PIPELINE_TIME, &timeline, err));
    }
    *out_s = how == FAB_BOUND_STAGE   ? busiest_stage_s(&run)
             : how == FAB_BOUND_CHAIN ? fab_pipeline_lower_bound_s(&run.pipeline)
                                      : timeline.time_s;
    return FAB_OK;
}

fab_status fab_iteration_time(const fab_iteration_request *request, fab_iteration *out, fab_error *err) {
    const fab_job_spec *job = request->job;
    iteration_candidate best;
    iteration_plan p;
    size_t n = 0;
    FAB_PASS(open_plan(request, &p, err));
    FAB_OWNED_NEW(bounded_candidate, candidate, N_MICROBATCHES * (request->choose_interleave ? p.most_chunks : 1), err);
    FAB_PASS(!request->choose_microbatch ? add_candidates(&p, job->microbatch, candidate, &n, err) : FAB_OK);
    for (size_t i = 0; request->choose_microbatch && i < N_MICROBATCHES; i++) {
        FAB_PASS(add_candidates(&p, MICROBATCHES[i], candidate, &n, err));
    }
    FAB_REFUSE_IF(n == 0, err, FAB_ENOSOLUTION, job->where,
                  "no microbatch %s both divides batch %" PRIu64 " over dp %" PRIu64 " and fits the %.0f GB of a %s",
                  request->choose_microbatch ? "of 1, 2, 4 or 8 sequences" : "of the size asked for", job->batch,
                  job->dp, p.gpu->memory_bytes * 1e-9, p.gpu->name);
    FAB_PASS(choose(&p, candidate, n, &best, err));
    FAB_PASS(iteration_evaluate(&p, &best, request->time_only ? FAB_PIPELINE_TIME : FAB_PIPELINE_USE, out, err));
    return request->schedule != NULL ? keep_schedule(&p, &best, request->schedule, err) : FAB_OK;
}

/* --- whole runs --------------------------------------------------------------------------------------------------- */

fab_training fab_training_estimate(const fab_job_spec *job, const fab_iteration *iteration, double parameters,
                                   double tokens) {
    double gpus = (double)job->tp * (double)job->cp * (double)job->pp * (double)job->dp;
    double factor = (job->recompute == FAB_RECOMPUTE_FULL ? 8 : 6) - (job->lora_rank > 0 ? 2 : 0);
    double flops = gpus * iteration->tflops_per_gpu * 1e12;
    return (fab_training){.tokens = tokens,
                          .days = tokens / iteration->tokens_per_s / 86400,
                          .usd = tokens * 1e-9 * iteration->usd_per_1e9_tokens,
                          .rule_days = factor * tokens * parameters / flops / 86400};
}

double fab_pipeline_bisection_bytes_per_s(const fab_job_spec *job, const fab_phase_time *pp) {
    if (job->pp == 1 || pp->transfer_s <= 0) {
        return 0;
    }
    /* b m = batch / dp, so that all pipelines together carry the batch over every boundary. */
    double boundary = (double)job->batch * (double)job->seq * (double)job->hidden * (double)job->activation_bytes *
                      (double)(job->scatter_gather ? 1 : job->tp);
    return (2 * (double)job->interleave - 1) * boundary / pp->transfer_s;
}

double fab_data_bisection_bytes_per_s(const fab_job_spec *job, const fab_job_times *times, double parameters) {
    /* Of hybrid sharding, the reduction between groups crosses it, once. */
    uint64_t groups = fab_job_shard_groups(job);
    const fab_phase_time *phase = groups > 1 ? &times->dp_across : &times->dp_reduce;
    if (job->dp == 1 || phase->transfer_s <= 0) {
        return 0;
    }
    double d = groups > 1 ? (double)groups : (double)job->dp;
    double passes = fab_job_zero(job) == FAB_ZERO_0 || groups > 1 ? 2 : 1;
    if (groups == 1) {
        uint64_t microbatches = job->batch / job->dp / job->microbatch;
        passes *= (double)fab_job_data_exchanges(job, microbatches).reductions;
    }
    return passes * (d - 1) / d * parameters * (double)job->gradient_bytes / phase->transfer_s;
}
