/* Kernels of a layer and phases of an iteration as operations of stages and their chunks. */
#include "durations.h"

#include "fab/sharding.h"
#include "fab/stages.h"

_Static_assert((int)FAB_SCHEDULE_1F1B == (int)FAB_ORDER_1F1B && (int)FAB_SCHEDULE_ZERO_BUBBLE == FAB_ORDER_ZERO_BUBBLE,
               "job_spec.h and pipeline.h name the same orders");

/* --- phases ------------------------------------------------------------------------------------------------------- */

static double delivered_s(const iteration_plan *p, const fab_phase_time *phase) {
    return phase->transfer_s / (phase->scale_up ? p->compute->scale_up_ratio : p->compute->nic_ratio);
}

/* Exchanges of a layer, forward and backward; full recomputation does the forward ones again. */
static const struct {
    size_t times, overlap;
    double forward, backward;
} EXCHANGES[FAB_N_EXCHANGES] = {
    [FAB_TRAVEL_TP] = {offsetof(fab_job_times, tp), offsetof(fab_job_spec, tp_overlap), 2, 2},
    [FAB_TRAVEL_CP] = {offsetof(fab_job_times, cp), offsetof(fab_job_spec, cp_overlap), 1, 2},
    [FAB_TRAVEL_EP] = {offsetof(fab_job_times, ep), offsetof(fab_job_spec, ep_overlap), 1, 1},
};

/* Adds what an exchange shows of a pass; the rest is taken from the kernels that are left to hide behind. */
static double expose(double whole_s, double overlap, double *left_s) {
    double hidden_s = fmin(whole_s * overlap, *left_s);
    *left_s -= hidden_s;
    return whole_s - hidden_s;
}

/* What the exchanges of so many layers add to the passes of a microbatch. Phases are timed for the stage that has the
 * most layers, over all microbatches. */
static void add_exchanges(const iteration_plan *p, const iteration_candidate *c, double layers, fab_chunk_times *chunk,
                          double *bytes_ratio) {
    const fab_job_spec *job = p->job;
    double finer = (double)job->microbatch / (double)c->microbatch; /* more executions than `times` has */
    double forward_left_s = chunk->forward_s;
    double backward_left_s = chunk->recompute_s + chunk->backward_s;
    backward_left_s += job->schedule == FAB_SCHEDULE_ZERO_BUBBLE ? 0 : chunk->weights_s;
    for (size_t i = 0; i < FAB_N_EXCHANGES; i++) {
        const fab_phase_time *phase = (const void *)((const char *)p->request->times + EXCHANGES[i].times);
        double overlap = *(const double *)(const void *)((const char *)job + EXCHANGES[i].overlap);
        bool again = job->recompute == FAB_RECOMPUTE_FULL;
        double once = EXCHANGES[i].forward + EXCHANGES[i].backward;
        double counted = once + (again && job->recompute_traffic ? EXCHANGES[i].forward : 0);
        double all_s = delivered_s(p, phase) + phase->latency_s * phase->executions * finer;
        double unit_s = all_s / ((double)c->microbatches * (double)p->most_layers * counted) * layers;
        double forward_s = expose(EXCHANGES[i].forward * unit_s, overlap, &forward_left_s);
        double backward_s = EXCHANGES[i].backward * unit_s + (again ? EXCHANGES[i].forward * unit_s : 0);
        backward_s = expose(backward_s, overlap, &backward_left_s);
        chunk->forward_exchange_s[i] = forward_s;
        chunk->backward_exchange_s[i] = backward_s;
        bytes_ratio[i] = all_s > 0 ? delivered_s(p, phase) / all_s : 0;
    }
}

/* Bytes that pass a NIC in one direction for a microbatch, in transfers: 2 v where there are stages on both sides, one
   less between two stages, where transfer and answer are opposite. */
static double pipeline_transfers(uint64_t pp, uint64_t interleave) {
    return 2 * (double)interleave - (pp == 2 ? 1 : 0);
}

/* One transfer between chunks and, scattered over the tensor ranks, the all-gather behind it. What is left of it when
   its bytes are over counts as latency. */
static double send_s(const iteration_plan *p, const iteration_candidate *c, double *out_latency_s) {
    const fab_job_spec *job = p->job;
    const fab_phase_time *pp = &p->request->times->pp;
    *out_latency_s = 0;
    if (job->pp == 1) {
        return 0;
    }
    double all = (double)c->microbatches * pipeline_transfers(job->pp, job->interleave);
    double timed = (double)job->interleave * (double)job->batch / ((double)job->dp * (double)job->microbatch);
    double bytes_s = delivered_s(p, pp) / all;
    double s = bytes_s + pp->latency_s * pp->executions / timed;
    if (job->tp > 1 && job->scatter_gather) {
        double t = (double)job->tp;
        double bytes = (double)c->microbatch * (double)job->seq / (double)job->cp * (double)job->hidden *
                       (double)job->activation_bytes * (t - 1) / t;
        s += bytes * 8 / (p->gpu->scale_up_bps * p->compute->scale_up_ratio);
    }
    *out_latency_s = s - bytes_s;
    return s;
}

/* --- parameters --------------------------------------------------------------------------------------------------- */

/* On a GPU of the stage, before tensor parallelism; and those that it updates: the last stage keeps a copy of tied
   embeddings, and copies share what is sharded. */
typedef struct held_parameters {
    double input, layers, output;
    double updated;
} held_parameters;

static held_parameters parameters_of(const iteration_plan *p, uint64_t stage) {
    const fab_job_spec *job = p->job;
    double dense = 0;
    double experts = 0;
    fab_stage_trained(job, p->model, stage, &dense, &experts);
    bool is_last = stage + 1 == job->pp;
    bool has_copy = is_last && p->model->tied && stage > 0 && job->lora_rank == 0;
    double copied = has_copy ? (double)p->model->vocab * (double)p->model->hidden : 0;
    held_parameters found = {.updated = (dense + copied) / fab_job_shards(job, false) +
                                        experts / (double)job->ep / fab_job_shards(job, true)};
    fab_stage_parameters(p->model, job, stage, &dense, &experts);
    found.input = stage == 0 ? fab_model_input_parameters(p->model) : 0;
    found.output = is_last ? fab_model_output_parameters(p->model) : 0;
    found.layers = dense + experts / (double)job->ep - found.input - found.output;
    return found;
}

/* --- chunks ------------------------------------------------------------------------------------------------------- */

static void add_kernels(const fab_kernel_time *kernel, double times, fab_chunk_times *chunk) {
    chunk->forward_s += times * kernel->forward_s;
    chunk->recompute_s += times * kernel->recompute_s;
    chunk->backward_s += times * (kernel->backward_s - kernel->weights_s);
    chunk->weights_s += times * kernel->weights_s;
}

/* Everything of a stage. Returns the parameters on it, for the share that its chunks have of the fullest stage. */
static double fill_stage(const iteration_plan *p, const iteration_candidate *c, uint64_t stage,
                         iteration_pipeline *out) {
    const fab_job_spec *job = p->job;
    const held_parameters held = parameters_of(p, stage);
    double layers = (double)fab_stage_layers(job, stage);
    double latency_s = 0;
    double sent_s = send_s(p, c, &latency_s);
    double last_n = -1; /* layers of the chunk before, where that has nothing else */
    for (uint64_t i = 0; i < c->interleave; i++) {
        fab_chunk_times *chunk = &out->chunk[stage * c->interleave + i];
        double n = (double)fab_chunk_layers(job, c->interleave, stage, i);
        bool is_first = stage == 0 && i == 0;
        bool is_last = stage + 1 == job->pp && i + 1 == c->interleave;
        if (n == last_n && !is_last) {
            *chunk = chunk[-1];
            continue;
        }
        last_n = is_first ? -1 : n;
        *chunk = (fab_chunk_times){.send_forward_s = is_last ? 0 : sent_s,
                                   .send_backward_s = is_first ? 0 : sent_s,
                                   .send_latency_s = latency_s,
                                   .buckets = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX};
        add_kernels(&out->layer, n, chunk);
        add_kernels(&out->head, is_last ? 1 : 0, chunk);
        add_exchanges(p, c, n, chunk, out->pipeline.exchange_ratio);
        chunk->reduce_s = held.layers * n / fmax(layers, 1) + (is_first ? held.input : 0) + (is_last ? held.output : 0);
    }
    double updated = held.updated / (double)job->tp;
    out->optimizer_s[stage] = job->offload == FAB_OFFLOAD_OPTIMIZER
                                  ? fab_offload_s(job, updated)
                                  : fab_optimizer_s(p->compute, p->gpu, updated, job->gradient_bytes);
    return held.input + held.layers + held.output;
}

/* Phases of parameters are timed for the fullest stage, over all times that they happen. Each collective of a chunk has
 * its own latency; before and after everything, together they have one. */
static void share_parameters(const iteration_plan *p, const iteration_candidate *c, double most,
                             iteration_pipeline *out) {
    const fab_job_spec *job = p->job;
    const fab_phase_time *reduce = &p->request->times->dp_reduce;
    const fab_phase_time *gather = &p->request->times->dp_gather;
    const fab_phase_time *across = &p->request->times->dp_across;
    const fab_data_exchanges timed = fab_job_data_exchanges(job, job->batch / job->dp / job->microbatch);
    bool each_pass = timed.with_microbatch;
    double latencies = job->dp_overlap > 0 && !each_pass ? 1 : 1 / (double)c->interleave;
    double reductions = each_pass ? (double)timed.reductions : 1;
    double gathers = each_pass && fab_job_zero(job) == FAB_ZERO_3 ? (double)timed.gathers : 1;
    const double reduce_s = delivered_s(p, reduce);
    const double across_s = delivered_s(p, across);
    const double gather_s = delivered_s(p, gather);
    const double across_latency_s = latencies * across->latency_s * across->executions;
    const double reduce_latency_s =
        latencies * reduce->latency_s * reduce->executions / reductions / (each_pass ? 1 : (double)timed.n_reductions);
    const double gather_latency_s =
        latencies * gather->latency_s * gather->executions / gathers / (each_pass ? 1 : (double)timed.n_gathers);
    FAB_EACH(fab_chunk_times, chunk, out->chunk, job->pp * c->interleave) {
        double share = chunk->reduce_s / most;
        chunk->reduce_latency_s = reduce_latency_s;
        chunk->reduce_s = share * reduce_s / reductions + reduce_latency_s;
        chunk->across_s = share * across_s + across_latency_s;
        chunk->gather_latency_s = gather_latency_s;
        chunk->gather_s = share * gather_s / gathers + gather_latency_s;
    }
    out->pipeline.reduces_each_pass = each_pass;
    out->pipeline.gathers_each_pass = gathers > 1;
}

FAB_RELEASES(iteration_pipeline_release, iteration_pipeline, chunk, optimizer_s);

fab_status iteration_pipeline_make(const iteration_plan *p, const iteration_candidate *c, iteration_pipeline *out,
                                   fab_error *err) {
    const fab_job_spec *job = p->job;
    fab_layer_shape shape = p->shape;
    shape.microbatch = c->microbatch;
    FAB_OWNS(iteration_pipeline_release)
    iteration_pipeline made = {.layer = fab_layer_time(p->compute, p->gpu, &shape),
                               .head = fab_head_time(p->compute, p->gpu, &shape)};
    double most = 0;
    FAB_REFUSE_IF(c->microbatches > UINT32_MAX, err, FAB_EUNSUPPORTED, job->where,
                  "%.0f microbatches are too many for a schedule", (double)c->microbatches);
    FAB_PASS(FAB_NEW(made.chunk, job->pp * c->interleave, err));
    FAB_PASS(FAB_NEW(made.optimizer_s, job->pp, err));
    made.pipeline = (fab_pipeline){.order = (fab_pipeline_order)job->schedule,
                                   .n_stages = (uint32_t)job->pp,
                                   .n_chunks = (uint32_t)c->interleave,
                                   .n_microbatches = (uint32_t)c->microbatches,
                                   .chunk = made.chunk,
                                   .optimizer_s = made.optimizer_s,
                                   .max_bytes = p->request->max_bytes,
                                   .send_overlap = job->pp_overlap,
                                   .replica_overlap = job->dp_overlap,
                                   .paces = p->request->times->paces};
    for (uint64_t stage = 0; stage < job->pp; stage++) {
        most = fmax(most, fill_stage(p, c, stage, &made));
    }
    share_parameters(p, c, most, &made);
    return FAB_GIVE(*out, made);
}
