/* Runs the operations of a pipeline to their end. Every stage takes its steps in a fixed order; what is sent and what
 * replicas exchange has channels of its own. Fixed orders make time grow with every duration, so that what a kind of
 * communication costs is the difference between a run with it and one without. */
#include "fab/pipeline.h"
#include "fab/memory.h"
#include "pipeline_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *const fab_pipeline_orders[FAB_ORDER_N] = {"1f1b", "zero-bubble"};

const char *const fab_op_names[FAB_OP_N] = {"gather",       "forward",       "backward", "weights",
                                            "send-forward", "send-backward", "reduce",   "optimizer"};

static void note_op(run *r, fab_op_kind kind, uint32_t stage, const fab_step_of_stage *step, double start, double end) {
    if (r->op != NULL && end > start) {
        r->op[r->n_ops++] = (fab_op){kind, stage, step->chunk, step->microbatch, start, end};
    }
}

static const fab_chunk_times *times_of(const run *r, uint32_t stage, uint32_t chunk) {
    return &r->p->chunk[(size_t)stage * r->p->n_chunks + chunk];
}

/* --- when a stage has something to do ----------------------------------------------------------------------------- */

static const fab_step_of_stage *next_step(const run *r, uint32_t stage) {
    return &r->step[(size_t)stage * r->n_steps + r->next[stage]];
}

/* A pass whose parameters may still be on their way. */
static bool is_fetched(const run *r, const fab_step_of_stage *step) {
    return step->kind != FAB_OP_WEIGHTS && (step->kind == FAB_OP_FORWARD || r->p->gathers_each_pass);
}

static double *gathered_of(const run *r, uint32_t stage, uint32_t chunk) {
    return &r->gathered_s[2 * ((size_t)stage * r->p->n_chunks + chunk)];
}

/* INFINITY: nothing, or nothing before something else has happened. */
static double stage_next_s(const run *r, uint32_t stage) {
    double at = r->free_s[stage];
    if (r->waits[stage]) {
        return INFINITY;
    }
    if (r->state[stage] == STATE_REDUCE) {
        return at;
    }
    if (r->next[stage] == r->n_steps) {
        const run_queue *replicas = run_queue_of(r, stage, CHANNEL_REPLICAS);
        bool ready = r->closing[stage] > 0 && replicas->head == FAB_NO_TRANSFER;
        return ready ? fmax(at, replicas->end_s) : INFINITY;
    }
    const fab_step_of_stage *step = next_step(r, stage);
    if (r->state[stage] == STATE_STEP && step->kind != FAB_OP_WEIGHTS) {
        at = fmax(at, *run_input_of(r, step->kind == FAB_OP_BACKWARD, stage, step->chunk, step->microbatch));
    }
    return r->state[stage] == STATE_PASS && is_fetched(r, step) ? fmax(at, gathered_of(r, stage, step->chunk)[1]) : at;
}

static void look_again(run *r, uint32_t stage) {
    const uint32_t near[] = {stage, run_neighbour(r, stage, true), run_neighbour(r, stage, false)};
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        run_channel channel;
        size_t at = r->n_leaves + near[i];
        r->key_s[at] = fmin(stage_next_s(r, near[i]), channels_next_s(r, near[i], &channel));
        while ((at /= 2) > 0) {
            r->key_s[at] = fmin(r->key_s[2 * at], r->key_s[2 * at + 1]);
        }
    }
}

/* The stage that is first; the lowest of several. */
static uint32_t first_stage(const run *r) {
    size_t at = 1;
    while (at < r->n_leaves) {
        at = r->key_s[2 * at] <= r->key_s[2 * at + 1] ? 2 * at : 2 * at + 1;
    }
    return (uint32_t)(at - r->n_leaves);
}

/* --- what it does ------------------------------------------------------------------------------------------------- */

/* Hands the result of a pass to the next chunk on its way; its own backward pass follows the last forward one. */
static fab_status hand_on(run *r, uint32_t stage, const fab_step_of_stage *step, fab_error *err) {
    const fab_pipeline *p = r->p;
    const fab_chunk_times *t = times_of(r, stage, step->chunk);
    bool backward = step->kind == FAB_OP_BACKWARD;
    uint32_t place = step->chunk * p->n_stages + stage;
    uint32_t last = p->n_stages * p->n_chunks - 1;
    if (!backward && place == last) {
        *run_input_of(r, true, stage, step->chunk, step->microbatch) = r->free_s[stage];
        return FAB_OK;
    }
    if (backward && place == 0) {
        return FAB_OK;
    }
    double send_s = r->with.sends ? backward ? t->send_backward_s : t->send_forward_s : 0;
    const run_transfer send = {.kind = backward ? FAB_OP_SEND_BACKWARD : FAB_OP_SEND_FORWARD,
                               .effect = EFFECT_INPUT,
                               .chunk = step->chunk,
                               .microbatch = step->microbatch,
                               .release_s = r->free_s[stage],
                               .total_s = send_s,
                               .first_s = (1 - p->send_overlap) * send_s,
                               .latency_s = fmin(t->send_latency_s, send_s)};
    r->waits[stage] = p->send_overlap < 1;
    return channels_post(r, stage, backward ? CHANNEL_BACKWARD : CHANNEL_FORWARD, &send, err);
}

/* The reduction of a chunk now; after its last pass, between groups of replicas as well. */
static double reduction_s(const run *r, uint32_t stage, uint32_t chunk) {
    const fab_chunk_times *t = times_of(r, stage, chunk);
    return t->reduce_s + (r->open_passes[(size_t)stage * r->p->n_chunks + chunk] == 0 ? t->across_s : 0);
}

static double buckets_of(const fab_chunk_times *t) {
    return t->buckets > 1 ? t->buckets : 1;
}

/* The stage waits for parameters or gradients of a chunk that travel from `at` on, behind what travels already. */
static fab_status wait_for(run *r, uint32_t stage, fab_op_kind kind, const fab_step_of_stage *step, double at,
                           fab_error *err) {
    const fab_chunk_times *t = times_of(r, stage, step->chunk);
    double in_line = 1 - r->p->replica_overlap;
    double takes_s = in_line * (kind == FAB_OP_GATHER ? t->gather_s : reduction_s(r, stage, step->chunk));
    if (takes_s <= 0) {
        r->free_s[stage] = at;
        return FAB_OK;
    }
    const run_transfer transfer = {.kind = kind,
                                   .effect = EFFECT_FREE,
                                   .chunk = step->chunk,
                                   .microbatch = step->microbatch,
                                   .release_s = at,
                                   .total_s = takes_s,
                                   .latency_s =
                                       in_line * (kind == FAB_OP_GATHER ? t->gather_latency_s : t->reduce_latency_s)};
    r->waits[stage] = true;
    return channels_post(r, stage, CHANNEL_REPLICAS, &transfer, err);
}

/* A pass that took takes_s until end completes gradients one bucket after the other, if it is the last of its chunk or
 * every pass is to be reduced. */
static fab_status complete_pass(run *r, uint32_t stage, const fab_step_of_stage *step, double end, double takes_s,
                                fab_error *err) {
    const fab_pipeline *p = r->p;
    const fab_chunk_times *t = times_of(r, stage, step->chunk);
    bool is_last = --r->open_passes[(size_t)stage * p->n_chunks + step->chunk] == 0;
    if ((!is_last && !p->reduces_each_pass) || !r->with.replicas) {
        return FAB_OK;
    }
    double n = buckets_of(t);
    double whole_s = p->replica_overlap * reduction_s(r, stage, step->chunk);
    const run_transfer reduction = {.kind = FAB_OP_REDUCE,
                                    .chunk = step->chunk,
                                    .microbatch = step->microbatch,
                                    .release_s = end - takes_s + takes_s / n,
                                    .total_s = whole_s,
                                    .first_s = whole_s - whole_s / n,
                                    .last_s = whole_s / n,
                                    .latency_s = p->replica_overlap * t->reduce_latency_s,
                                    .last_release_s = end};
    r->state[stage] = p->reduces_each_pass ? STATE_REDUCE : STATE_STEP;
    return whole_s > 0 ? channels_post(r, stage, CHANNEL_REPLICAS, &reduction, err) : FAB_OK;
}

/* Parameters of a chunk travel from `at` on, one bucket after the other. */
static fab_status fetch_parameters(run *r, uint32_t stage, uint32_t chunk, uint32_t microbatch, double at,
                                   fab_error *err) {
    const fab_chunk_times *t = times_of(r, stage, chunk);
    double takes_s = r->with.replicas ? r->p->replica_overlap * t->gather_s : 0;
    const run_transfer gather = {.kind = FAB_OP_GATHER,
                                 .effect = EFFECT_PARAMETERS,
                                 .chunk = chunk,
                                 .microbatch = microbatch,
                                 .release_s = at,
                                 .total_s = takes_s,
                                 .first_s = takes_s / buckets_of(t),
                                 .latency_s = takes_s > 0 ? r->p->replica_overlap * t->gather_latency_s : 0};
    gathered_of(r, stage, chunk)[0] = INFINITY;
    gathered_of(r, stage, chunk)[1] = INFINITY;
    return channels_post(r, stage, CHANNEL_REPLICAS, &gather, err);
}

/* Those of the step that is next, from `at` on. */
static fab_status prefetch(run *r, uint32_t stage, double at, fab_error *err) {
    if (r->p->gathers_each_pass && r->next[stage] < r->n_steps) {
        const fab_step_of_stage *step = next_step(r, stage);
        return step->kind != FAB_OP_WEIGHTS ? fetch_parameters(r, stage, step->chunk, step->microbatch, at, err)
                                            : FAB_OK;
    }
    return FAB_OK;
}

/* The next step of a stage, whose input is there. */
static fab_status take_step(run *r, uint32_t stage, fab_error *err) {
    const fab_pipeline *p = r->p;
    const fab_step_of_stage *step = next_step(r, stage);
    const fab_chunk_times *t = times_of(r, stage, step->chunk);
    bool forward = step->kind == FAB_OP_FORWARD;
    double start = r->free_s[stage];
    double takes = t->weights_s;
    if (step->kind != FAB_OP_WEIGHTS) {
        takes = forward ? t->forward_s + t->forward_exchange_s
                        : t->recompute_s + t->backward_s + t->backward_exchange_s +
                              (p->order == FAB_ORDER_ZERO_BUBBLE ? 0 : t->weights_s);
    }
    double end = start + takes;
    if (is_fetched(r, step)) {
        const double *gathered_s = gathered_of(r, stage, step->chunk);
        start = fmax(start, gathered_s[0]);
        end = fmax(start + takes, gathered_s[1] + takes / buckets_of(t));
    }
    r->next[stage]++;
    r->state[stage] = STATE_STEP;
    r->free_s[stage] = end;
    note_op(r, (fab_op_kind)step->kind, stage, step, start, end);
    FAB_PASS(prefetch(r, stage, start, err));
    if (step->kind != FAB_OP_WEIGHTS) {
        FAB_PASS(hand_on(r, stage, step, err));
    }
    if (step->kind == FAB_OP_WEIGHTS || (!forward && p->order != FAB_ORDER_ZERO_BUBBLE)) {
        FAB_PASS(complete_pass(r, stage, step, end, takes, err));
    }
    return FAB_OK;
}

/* What a stage does at `now`, when it can. */
static fab_status advance_stage(run *r, uint32_t stage, double now, fab_error *err) {
    if (r->state[stage] == STATE_REDUCE) {
        r->state[stage] = STATE_STEP;
        return wait_for(r, stage, FAB_OP_REDUCE, next_step(r, stage) - 1, r->free_s[stage], err);
    }
    if (r->next[stage] == r->n_steps) {
        const fab_step_of_stage rest = {.chunk = (uint16_t)--r->closing[stage]};
        return wait_for(r, stage, FAB_OP_REDUCE, &rest, now, err);
    }
    const fab_step_of_stage *step = next_step(r, stage);
    if (r->state[stage] == STATE_PASS || !is_fetched(r, step)) {
        r->free_s[stage] = r->state[stage] == STATE_PASS ? r->free_s[stage] : now;
        return take_step(r, stage, err);
    }
    r->state[stage] = STATE_PASS;
    r->free_s[stage] = now;
    return r->p->gathers_each_pass && r->with.replicas ? wait_for(r, stage, FAB_OP_GATHER, step, now, err) : FAB_OK;
}

/* What does not travel beside computation goes before it, then chunk after chunk. */
static fab_status gather_parameters(run *r, uint32_t stage, fab_error *err) {
    const fab_pipeline *p = r->p;
    if (p->gathers_each_pass) {
        return prefetch(r, stage, 0, err);
    }
    for (uint32_t chunk = 0; chunk < p->n_chunks && r->with.replicas; chunk++) {
        double takes_s = (1 - p->replica_overlap) * times_of(r, stage, chunk)->gather_s;
        const run_transfer gather = {.kind = FAB_OP_GATHER,
                                     .chunk = chunk,
                                     .total_s = takes_s,
                                     .first_s = takes_s,
                                     .latency_s =
                                         (1 - p->replica_overlap) * times_of(r, stage, chunk)->gather_latency_s};
        FAB_PASS(channels_post(r, stage, CHANNEL_REPLICAS, &gather, err));
    }
    for (uint32_t chunk = 0; chunk < p->n_chunks; chunk++) {
        FAB_PASS(fetch_parameters(r, stage, chunk, 0, 0, err));
    }
    return FAB_OK;
}

/* When the norm of all gradients is known, the optimizer. */
static double finish(run *r) {
    const fab_pipeline *p = r->p;
    double ready_s = 0;
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        ready_s = fmax(ready_s, fmax(r->free_s[stage], run_queue_of(r, stage, CHANNEL_REPLICAS)->end_s));
    }
    double end_s = ready_s;
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        note_op(r, FAB_OP_OPTIMIZER, stage, &(fab_step_of_stage){0}, ready_s, ready_s + p->optimizer_s[stage]);
        end_s = fmax(end_s, ready_s + p->optimizer_s[stage]);
    }
    return end_s;
}

static fab_status start_run(run *r, fab_error *err) {
    const fab_pipeline *p = r->p;
    size_t n_passes = (size_t)p->n_stages * p->n_chunks * p->n_microbatches;
    for (size_t i = 0; i < 2 * n_passes; i++) {
        r->arrived_s[i] = INFINITY;
    }
    for (uint32_t i = 0; i < p->n_microbatches; i++) {
        *run_input_of(r, false, 0, 0, i) = 0;
    }
    for (size_t i = 0; i < 2 * r->n_leaves; i++) {
        r->key_s[i] = INFINITY;
    }
    channels_clear(r);
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        r->next[stage] = 0;
        r->state[stage] = STATE_STEP;
        r->waits[stage] = false;
        r->closing[stage] = r->with.replicas && !p->reduces_each_pass ? p->n_chunks : 0;
        r->free_s[stage] = 0;
        for (uint32_t chunk = 0; chunk < p->n_chunks; chunk++) {
            r->open_passes[(size_t)stage * p->n_chunks + chunk] = p->n_microbatches;
        }
        FAB_PASS(gather_parameters(r, stage, err));
    }
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        look_again(r, stage);
    }
    return FAB_OK;
}

static fab_status run_once(run *r, run_with with, fab_op *op, double *out_s, fab_error *err) {
    const fab_pipeline *p = r->p;
    r->with = with;
    r->shares = with.sends && with.replicas && fmax(p->gather_slowdown, p->reduce_slowdown) > 1;
    r->op = op;
    r->n_ops = 0;
    FAB_PASS(start_run(r, err));
    while (r->key_s[1] < INFINITY) {
        uint32_t stage = first_stage(r);
        double now = r->key_s[1];
        run_channel channel;
        if (channels_next_s(r, stage, &channel) <= now) {
            channels_advance(r, stage, channel, now);
        } else {
            FAB_PASS(advance_stage(r, stage, now, err));
        }
        look_again(r, stage);
    }
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        if (r->next[stage] < r->n_steps || r->closing[stage] > 0) {
            return fab_fail(err, FAB_EINTERNAL, NULL, "stage %u waits after %zu of %zu steps of a pipeline", stage,
                            r->next[stage], r->n_steps);
        }
    }
    *out_s = finish(r);
    return FAB_OK;
}

double fab_pipeline_lower_bound_s(const fab_pipeline *p) {
    bool returns = p->order != FAB_ORDER_ZERO_BUBBLE; /* there, gradients of weights may follow the last way back */
    double waits = 1 - p->send_overlap;
    double way_s = 0; /* of the first microbatch to this stage, and of the last back from it */
    double most_s = 0;
    double optimizer_s = 0;
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        const fab_chunk_times *first = &p->chunk[(size_t)stage * p->n_chunks];
        double busy_s = 0;
        for (uint32_t chunk = 0; chunk < p->n_chunks; chunk++) {
            const fab_chunk_times *t = &first[chunk];
            busy_s += t->forward_s + t->forward_exchange_s + t->recompute_s + t->backward_s + t->backward_exchange_s +
                      t->weights_s + waits * (t->send_forward_s + t->send_backward_s);
            double once_s =
                (p->gathers_each_pass ? 0 : t->gather_s) + (returns && !p->reduces_each_pass ? t->reduce_s : 0);
            way_s += stage == 0 ? (1 - p->replica_overlap) * once_s : 0;
        }
        /* The last transfer to the stage before is in busy_s already, and on the way. */
        most_s = fmax(most_s, way_s + p->n_microbatches * busy_s - waits * first->send_backward_s);
        way_s += first->forward_s + first->forward_exchange_s + first->send_forward_s;
        if (returns) {
            way_s += first->recompute_s + first->backward_s + first->backward_exchange_s + first->weights_s +
                     (stage + 1 < p->n_stages ? first[p->n_chunks].send_backward_s : 0);
        }
        optimizer_s = fmax(optimizer_s, p->optimizer_s[stage]);
    }
    return most_s + optimizer_s;
}

/* --- a run -------------------------------------------------------------------------------------------------------- */

/* A step, its transfer, two gathers and reductions each; of chunks; an optimizer. */
static double most_ops(const fab_pipeline *p) {
    double per_step = 2 + (p->gathers_each_pass ? 2 : 0) + (p->reduces_each_pass ? 2 : 0);
    return p->n_stages * (per_step * (double)fab_pipeline_steps(p) + 4.0 * p->n_chunks + 1);
}

/* Steps of all stages and when their inputs arrive; of what travels, little waits in queues at a time. */
static fab_status check_memory(const fab_pipeline *p, fab_pipeline_needs needs, fab_error *err) {
    double passes = (double)p->n_stages * p->n_chunks * p->n_microbatches;
    double bytes = (double)p->n_stages * (double)fab_pipeline_steps(p) * sizeof(fab_step_of_stage) +
                   2 * passes * sizeof(double) + (needs == FAB_PIPELINE_OPS ? most_ops(p) * sizeof(fab_op) : 0);
    char what[128];
    (void)snprintf(what, sizeof what, "the schedule of %u stages, %u chunks and %u microbatches", p->n_stages,
                   p->n_chunks, p->n_microbatches);
    return fab_memory_check(what, bytes, p->max_bytes, err);
}

static fab_status check_pipeline(const fab_pipeline *p, fab_pipeline_needs needs, fab_error *err) {
    if (p->n_stages == 0 || p->n_chunks == 0 || p->n_microbatches == 0 || p->n_chunks > UINT16_MAX) {
        return fab_fail(err, FAB_EINPUT, NULL, "a pipeline of %u stages, %u chunks and %u microbatches", p->n_stages,
                        p->n_chunks, p->n_microbatches);
    }
    if (p->order == FAB_ORDER_ZERO_BUBBLE && p->n_chunks > 1) {
        return fab_fail(err, FAB_EINPUT, NULL, "the order zero-bubble is of one chunk per stage, not of %u",
                        p->n_chunks);
    }
    if (p->n_chunks > 1 && p->n_microbatches % p->n_stages != 0) {
        return fab_fail(err, FAB_EINPUT, NULL, "%u microbatches over several chunks of %u stages do not divide",
                        p->n_microbatches, p->n_stages);
    }
    if (!(p->send_overlap >= 0 && p->send_overlap <= 1 && p->replica_overlap >= 0 && p->replica_overlap <= 1)) {
        return fab_fail(err, FAB_EINPUT, NULL, "overlaps of %g and %g are outside 0 to 1", p->send_overlap,
                        p->replica_overlap);
    }
    FAB_PASS(check_memory(p, needs, err)); /* before what would be looked at */
    for (size_t i = 0; i < (size_t)p->n_stages * p->n_chunks; i++) {
        const fab_chunk_times *t = &p->chunk[i];
        const double takes[] = {t->forward_s,
                                t->recompute_s,
                                t->backward_s,
                                t->weights_s,
                                t->forward_exchange_s,
                                t->backward_exchange_s,
                                t->send_forward_s,
                                t->send_backward_s,
                                t->gather_s,
                                t->reduce_s,
                                t->across_s,
                                t->gather_s - t->gather_latency_s,
                                t->reduce_s - t->reduce_latency_s,
                                t->send_latency_s,
                                t->gather_latency_s,
                                t->reduce_latency_s};
        for (size_t k = 0; k < sizeof takes / sizeof takes[0]; k++) {
            if (!(takes[k] >= 0) || isinf(takes[k])) {
                return fab_fail(err, FAB_EINPUT, NULL, "an operation of a pipeline takes %g s", takes[k]);
            }
        }
    }
    return FAB_OK;
}

static fab_status open_run(run *r, const fab_pipeline *p, fab_step_of_stage **out_step, fab_error *err) {
    fab_status status = FAB_OK;
    size_t n_chunks = (size_t)p->n_stages * p->n_chunks;
    *r = (run){.p = p, .n_steps = fab_pipeline_steps(p), .n_leaves = 1, .unused = FAB_NO_TRANSFER};
    while (r->n_leaves < p->n_stages) {
        r->n_leaves *= 2;
    }
    FAB_TRY(FAB_NEW(*out_step, p->n_stages * r->n_steps, err));
    r->step = *out_step;
    FAB_TRY(FAB_NEW(r->next, p->n_stages, err));
    FAB_TRY(FAB_NEW(r->free_s, p->n_stages, err));
    FAB_TRY(FAB_NEW(r->queue, (size_t)p->n_stages * N_CHANNELS, err));
    FAB_TRY(FAB_NEW(r->active, p->n_stages, err));
    FAB_TRY(FAB_NEW(r->state, p->n_stages, err));
    FAB_TRY(FAB_NEW(r->waits, p->n_stages, err));
    FAB_TRY(FAB_NEW(r->closing, p->n_stages, err));
    FAB_TRY(FAB_NEW(r->key_s, 2 * r->n_leaves, err));
    FAB_TRY(FAB_NEW(r->gathered_s, 2 * n_chunks, err));
    FAB_TRY(FAB_NEW(r->arrived_s, 2 * n_chunks * p->n_microbatches, err));
    FAB_TRY(FAB_NEW(r->open_passes, n_chunks, err));
    if (p->order == FAB_ORDER_ZERO_BUBBLE) {
        fab_pipeline_order_zero_bubble(p, *out_step);
    } else {
        fab_pipeline_order_1f1b(p, *out_step);
    }
done:
    return status;
}

static void close_run(run *r) {
    FAB_FREE_ALL(r->next, r->state, r->waits, r->closing, r->free_s, r->gathered_s, r->arrived_s, r->open_passes,
                 r->key_s, r->queue, r->active, r->transfer);
}

/* Idle time by its cause, from the makespans without communication, with sends, and with all of it. */
static void account(const fab_pipeline *p, const double *span_s, fab_timeline *out) {
    double most = -1;
    double optimizer_s = 0;
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        optimizer_s = fmax(optimizer_s, p->optimizer_s[stage]);
    }
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        fab_stage_use *use = &out->use[stage];
        *use = (fab_stage_use){.optimizer_s = optimizer_s};
        for (uint32_t chunk = 0; chunk < p->n_chunks; chunk++) {
            const fab_chunk_times *t = &p->chunk[(size_t)stage * p->n_chunks + chunk];
            double m = p->n_microbatches;
            use->compute_s += m * (t->forward_s + t->recompute_s + t->backward_s + t->weights_s);
            use->exchange_s += m * (t->forward_exchange_s + t->backward_exchange_s);
        }
        double busy_s = use->compute_s + use->exchange_s;
        use->bubble_s = p->n_stages > 1 ? fmax(span_s[0] - busy_s - use->optimizer_s, 0) : 0; /* but for rounding */
        use->send_s = span_s[1] - span_s[0];
        use->replica_s = span_s[2] - span_s[1];
        if (busy_s > most) {
            most = busy_s;
            out->busiest = stage;
        }
    }
}

static int op_order(const void *a, const void *b) {
    const fab_op *x = a;
    const fab_op *y = b;
    if (x->start_s != y->start_s) {
        return x->start_s < y->start_s ? -1 : 1;
    }
    if (x->stage != y->stage) {
        return x->stage < y->stage ? -1 : 1;
    }
    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    return (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

void fab_timeline_release(fab_timeline *timeline) {
    free(timeline->use);
    free(timeline->op);
    *timeline = (fab_timeline){0};
}

fab_status fab_pipeline_run(const fab_pipeline *p, fab_pipeline_needs needs, fab_timeline *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_timeline found = {0};
    fab_step_of_stage *step = NULL;
    run r = {.p = NULL};
    double span_s[3];
    FAB_TRY(check_pipeline(p, needs, err));
    FAB_TRY(open_run(&r, p, &step, err));
    if (needs == FAB_PIPELINE_OPS) {
        FAB_TRY(FAB_NEW(found.op, (size_t)most_ops(p), err));
    }
    FAB_TRY(run_once(&r, (run_with){true, true}, found.op, &span_s[2], err));
    found.n_ops = r.n_ops;
    found.time_s = span_s[2];
    if (needs != FAB_PIPELINE_TIME) {
        FAB_TRY(FAB_NEW(found.use, p->n_stages, err));
        FAB_TRY(run_once(&r, (run_with){false, false}, NULL, &span_s[0], err));
        FAB_TRY(run_once(&r, (run_with){true, false}, NULL, &span_s[1], err));
        account(p, span_s, &found);
    }
    if (found.op != NULL) {
        qsort(found.op, found.n_ops, sizeof *found.op, op_order);
    }
    *out = found;
    found = (fab_timeline){0};
done:
    fab_timeline_release(&found);
    free(step);
    close_run(&r);
    return status;
}
