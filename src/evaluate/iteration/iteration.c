/* Time of one training iteration: kernels, schedule and exposed communication put together. */
#include "fab/iteration.h"
#include "fab/sharding.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SECONDS_PER_YEAR (365.0 * 24 * 3600)

/* What stays the same for all candidates. */
typedef struct plan {
    const fab_iteration_request *request;
    const fab_job_spec *job;
    const fab_compute_model *compute;
    const fab_gpu *gpu;
    fab_model model;
    fab_layer_shape shape; /* its microbatch is that of the candidate */
    uint64_t most_layers;  /* of a stage */
} plan;

/* The model of a resolved job; one of the user's own has the shape of a GPT. */
static fab_model model_of(const fab_job_spec *job) {
    const fab_model *found = fab_model_find(job->model);
    fab_model model = {.name = job->model, .tied = true};
    if (found != NULL) {
        model = *found;
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

/* Every layer of a model with experts is timed as one that has them, also the first few that have none. */
static fab_layer_shape shape_of(const fab_job_spec *job, const fab_model *model) {
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
        .gradient_bytes = job->gradient_bytes,
        .gated = model->gated,
        .fused_attention =
            job->attention == FAB_ATTENTION_FLASH || (model->gated && job->attention != FAB_ATTENTION_STANDARD),
        .sequence_parallel = job->sequence_parallel,
        .recompute = job->recompute,
        .lora_rank = job->lora_rank,
        .lora_matrices = job->lora_matrices,
    };
    return shape;
}

static fab_status check_job(const fab_job_spec *job, fab_error *err) {
    const struct {
        const char *key;
        uint64_t value;
    } SIZES[] = {
        {"layers", job->layers},
        {"hidden", job->hidden},
        {"heads", job->heads},
        {"kv-heads", job->kv_heads},
        {"ffn", job->ffn},
        {"seq", job->seq},
        {"vocab", job->vocab},
        {"batch", job->batch},
        {"tp", job->tp},
        {"cp", job->cp},
        {"pp", job->pp},
        {"dp", job->dp},
        {"ep", job->ep},
        {"microbatch", job->microbatch},
        {"interleave", job->interleave},
    };
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        if (SIZES[i].value == 0) {
            return fab_fail(err, FAB_EINTERNAL, job->where, "%s is 0: the job is not resolved", SIZES[i].key);
        }
    }
    const fab_model *known = fab_model_find(job->model);
    if (known != NULL && known->attention_parameters > 0) {
        return fab_fail(err, FAB_EUNSUPPORTED, job->where,
                        "the kernels of %s's attention are not modelled: no time of an iteration", known->name);
    }
    return FAB_OK;
}

/* Microbatches per pipeline, or 0 where the schedule does not allow this candidate. */
static uint64_t microbatches(const plan *p, uint64_t microbatch, uint64_t interleave) {
    const fab_job_spec *job = p->job;
    uint64_t per_pipeline = job->batch / job->dp;
    if (job->batch % job->dp != 0 || per_pipeline % microbatch != 0) {
        return 0;
    }
    uint64_t m = per_pipeline / microbatch;
    bool allowed = interleave == 1 || (job->pp > 1 && m % job->pp == 0 && job->pp <= job->layers / interleave);
    return allowed ? m : 0;
}

/* --- communication ------------------------------------------------------------------------------------------------ */

static double phase_s(const plan *p, const fab_phase_time *phase, double byte_factor, double execution_factor) {
    double ratio = phase->scale_up ? p->compute->scale_up_ratio : p->compute->nic_ratio;
    return phase->transfer_s * byte_factor / ratio + phase->latency_s * phase->executions * execution_factor;
}

/* Behind every pipeline transfer that was scattered over the tensor ranks, forward and backward. */
static double gather_s(const plan *p, uint64_t microbatch, uint64_t interleave, uint64_t m) {
    const fab_job_spec *job = p->job;
    if (job->pp == 1 || job->tp == 1 || !job->scatter_gather) {
        return 0;
    }
    double t = (double)job->tp;
    double bytes = (double)microbatch * (double)job->seq / (double)job->cp * (double)job->hidden *
                   (double)job->activation_bytes * (t - 1) / t;
    return 2 * (double)interleave * (double)m * bytes * 8 / (p->gpu->scale_up_bps * p->compute->scale_up_ratio);
}

/* Bytes that pass a NIC in one direction for a microbatch, in transfers: 2 v where there are stages on both sides, one
   less between two stages, where transfer and answer are opposite. On the way of a microbatch they are 2 v in turn. */
static double pipeline_transfers(uint64_t pp, uint64_t interleave) {
    return 2 * (double)interleave - (pp == 2 ? 1 : 0);
}

/* What of `whole_s` shows; the rest is taken from the computation that is left to hide behind. */
static double expose(double whole_s, double overlap, double *left_s) {
    double hidden = fmin(whole_s * overlap, *left_s);
    *left_s -= hidden;
    return whole_s - hidden;
}

/* --- schedule ----------------------------------------------------------------------------------------------------- */

/* Layers and logits of a stage. */
static double stage_compute_s(const plan *p, uint64_t stage, double layer_s, double head_s) {
    double layers = (double)fab_stage_layers(p->job->layers, p->job->pp, stage);
    return layers * layer_s + (stage + 1 == p->job->pp ? head_s : 0);
}

/* Parameters that a GPU of the fullest stage updates; the last stage keeps a copy of tied embeddings. Sharded, all
   copies share them: dp x cp of what every rank has, the ep-th part of these of an expert. */
static double most_updated(const plan *p) {
    const fab_job_spec *job = p->job;
    double copies = fab_job_shards(job, false);
    double expert_copies = fab_job_shards(job, true);
    double most = 0;
    for (uint64_t stage = 0; stage < job->pp; stage++) {
        double dense = 0;
        double experts = 0;
        fab_stage_trained(job, &p->model, stage, &dense, &experts);
        bool has_copy = stage + 1 == job->pp && p->model.tied && stage > 0 && job->lora_rank == 0;
        dense += has_copy ? (double)p->model.vocab * (double)p->model.hidden : 0;
        most = fmax(most, dense / copies + experts / (double)job->ep / expert_copies);
    }
    return most / (double)job->tp;
}

/* How much longer full recomputation makes a phase of whose exchanges `forward` of `all` are forward: it does these
   once more, unless they are in the phase's bytes. */
static double repeats(const plan *p, double forward, double all) {
    bool again = p->shape.recompute == FAB_RECOMPUTE_FULL && !p->job->recompute_traffic;
    return again ? 1 + forward / all : 1;
}

static double total_s(const fab_kernel_time *time) {
    return time->forward_s + time->backward_s + time->recompute_s;
}

/* Utilisation, tokens and dollars of an iteration whose times are known. */
static void rate(const plan *p, const fab_kernel_time *layer, const fab_kernel_time *head, uint64_t m,
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
    double usd_per_s = gpus * job->gpu_hour_usd / 3600 + p->request->network_usd_per_year / SECONDS_PER_YEAR;
    it->usd_per_1e9_tokens = usd_per_s / it->tokens_per_s * 1e9;
}

static fab_iteration iteration_evaluate(plan *p, uint64_t microbatch, uint64_t interleave, uint64_t m) {
    const fab_job_spec *job = p->job;
    const fab_job_times *times = p->request->times;
    p->shape.microbatch = microbatch;
    fab_kernel_time layer = fab_layer_time(p->compute, p->gpu, &p->shape);
    fab_kernel_time head = fab_head_time(p->compute, p->gpu, &p->shape);
    double busiest_s = 0;
    double all_s = 0;
    uint64_t busiest = 0;
    for (uint64_t stage = 0; stage < job->pp; stage++) {
        double stage_s = stage_compute_s(p, stage, total_s(&layer), total_s(&head));
        all_s += stage_s;
        if (stage_s > busiest_s) {
            busiest_s = stage_s;
            busiest = stage;
        }
    }
    double v = (double)interleave;
    double finer = (double)job->microbatch / (double)microbatch; /* more executions than `times` has */
    double chunks = v / (double)job->interleave;
    /* Times of phases within layers are those of the stage with the most layers. */
    double share = (double)fab_stage_layers(job->layers, job->pp, busiest) / (double)p->most_layers;
    fab_iteration it = {.microbatch = microbatch, .interleave = interleave, .compute_s = (double)m * busiest_s};
    double left_s = it.compute_s;
    it.exposed_tp_s = expose(share * repeats(p, 1, 2) * phase_s(p, &times->tp, 1, finer), job->tp_overlap, &left_s);
    it.exposed_cp_s = expose(share * repeats(p, 1, 3) * phase_s(p, &times->cp, 1, finer), job->cp_overlap, &left_s);
    it.exposed_ep_s = expose(share * repeats(p, 1, 2) * phase_s(p, &times->ep, 1, finer), job->ep_overlap, &left_s);
    double transfers = 2 * v / pipeline_transfers(job->pp, job->interleave);
    double pp_s = phase_s(p, &times->pp, transfers, 2 * chunks * finer) + gather_s(p, microbatch, interleave, m);
    it.exposed_pp_s = expose(pp_s, job->pp_overlap, &left_s);
    fab_data_exchanges x = fab_job_data_exchanges(job, m);
    double reductions = x.with_microbatch ? finer : 1;
    double gathers = fab_job_zero(job) == FAB_ZERO_3 ? reductions : 1;
    double dp_s =
        phase_s(p, &times->dp_reduce, reductions, reductions) + phase_s(p, &times->dp_gather, gathers, gathers);
    it.exposed_dp_s = expose(dp_s, job->dp_overlap, &left_s);
    double in_layers_s = it.exposed_tp_s + it.exposed_cp_s + it.exposed_ep_s;
    double busiest_layers = (double)fab_stage_layers(job->layers, job->pp, busiest);
    double other_layers = (double)job->layers - busiest_layers;
    double other_s =
        (all_s - busiest_s) +
        (in_layers_s / busiest_layers * other_layers + it.exposed_pp_s * (double)(job->pp - 1)) / (double)m;
    it.bubble_s = other_s / v;
    it.optimizer_s = job->offload == FAB_OFFLOAD_OPTIMIZER
                         ? fab_offload_s(job, most_updated(p))
                         : fab_optimizer_s(p->compute, p->gpu, most_updated(p), job->gradient_bytes);
    it.time_s = it.compute_s + in_layers_s + it.exposed_pp_s + it.bubble_s + it.exposed_dp_s + it.optimizer_s;
    rate(p, &layer, &head, m, &it);
    return it;
}

/* --- choice ------------------------------------------------------------------------------------------------------- */

/* The best interleaving for this microbatch; *best is replaced by what is faster. Returns whether anything fitted. */
static bool try_microbatch(plan *p, uint64_t microbatch, fab_iteration *best) {
    const fab_iteration_request *request = p->request;
    bool found = false;
    uint64_t first = request->choose_interleave ? 1 : p->job->interleave;
    uint64_t last = request->choose_interleave ? p->most_layers : p->job->interleave;
    for (uint64_t v = first; v <= last; v++) {
        if (request->choose_interleave && p->most_layers % v != 0) {
            continue;
        }
        uint64_t m = microbatches(p, microbatch, v);
        if (m == 0 || (request->fits != NULL && !request->fits(request->fits_context, microbatch, v))) {
            continue;
        }
        found = true;
        fab_iteration it = iteration_evaluate(p, microbatch, v, m);
        if (best->time_s == 0 || it.time_s < best->time_s) {
            *best = it;
        }
    }
    return found;
}

fab_status fab_iteration_time(const fab_iteration_request *request, fab_iteration *out, fab_error *err) {
    static const uint64_t MICROBATCHES[] = {1, 2, 4, 8};
    fab_status status = FAB_OK;
    const fab_job_spec *job = request->job;
    fab_iteration best = {.time_s = 0};
    FAB_TRY(check_job(job, err));
    plan p = {.request = request,
              .job = job,
              .compute = request->compute != NULL ? request->compute : &fab_compute_default,
              .gpu = &job->accelerator,
              .model = model_of(job)};
    if (p.gpu->name[0] == '\0') {
        FAB_FAIL(err, FAB_EINTERNAL, job->where, "there is no GPU '%s': the job is not resolved", job->gpu);
    }
    p.shape = shape_of(job, &p.model);
    FAB_TRY(fab_gpu_resolve(p.gpu, job->precision, job->where, &p.shape.precision, err));
    p.most_layers = (job->layers + job->pp - 1) / job->pp;
    bool found = false;
    if (!request->choose_microbatch) {
        found = try_microbatch(&p, job->microbatch, &best);
    }
    for (size_t i = 0; request->choose_microbatch && i < sizeof MICROBATCHES / sizeof MICROBATCHES[0]; i++) {
        found = try_microbatch(&p, MICROBATCHES[i], &best) || found;
    }
    if (!found) {
        FAB_FAIL(err, FAB_ENOSOLUTION, job->where,
                 "no microbatch %s both divides batch %" PRIu64 " over dp %" PRIu64 " and fits the %.0f GB of a %s",
                 request->choose_microbatch ? "of 1, 2, 4 or 8 sequences" : "of the size asked for", job->batch,
                 job->dp, p.gpu->memory_bytes * 1e-9, p.gpu->name);
    }
    *out = best;
done:
    return status;
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

double fab_data_bisection_bytes_per_s(const fab_job_spec *job, const fab_phase_time *dp_reduce, double parameters) {
    if (job->dp == 1 || dp_reduce->transfer_s <= 0) {
        return 0;
    }
    /* Of hybrid sharding, the reduction between groups crosses it, once. */
    uint64_t groups = fab_job_shard_groups(job);
    double d = groups > 1 ? (double)groups : (double)job->dp;
    double passes = fab_job_zero(job) == FAB_ZERO_0 || groups > 1 ? 2 : 1;
    if (groups == 1) {
        uint64_t microbatches = job->batch / job->dp / job->microbatch;
        passes *= (double)fab_job_data_exchanges(job, microbatches).reductions;
    }
    return passes * (d - 1) / d * parameters * (double)job->gradient_bytes / dp_reduce->transfer_s;
}
