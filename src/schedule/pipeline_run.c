/* Runs the operations of a pipeline to their end. Every stage takes its steps in a fixed order; its passes, what it
 * sends and what replicas exchange have a channel each. */
#include "pipeline_run.h"

static const fab_chunk_times *times_of(const run *r, uint32_t stage, uint32_t chunk) {
    return &r->p->chunk[(size_t)stage * r->p->n_chunks + chunk];
}

/* --- when a stage has something to do ----------------------------------------------------------------------------- */

/* Where the pass of a microbatch through a chunk looks for its input. */
static double *run_input_of(const run *r, bool backward, uint32_t stage, uint32_t chunk, uint32_t microbatch) {
    const fab_pipeline *p = r->p;
    size_t row = ((size_t)(backward ? p->n_stages : 0) + stage) * p->n_chunks + chunk;
    return &r->arrived_s[row * p->n_microbatches + microbatch];
}

static const fab_step_of_stage *next_step(const run *r, uint32_t stage) {
    return &r->step[(size_t)stage * r->n_steps + r->next[stage]];
}

/* A pass whose parameters may still be on their way. */
static bool is_fetched(const run *r, const fab_step_of_stage *step) {
    return step->kind != FAB_OP_WEIGHTS && (step->kind == FAB_OP_FORWARD || r->p->gathers_each_pass);
}

static double *gathered_of(const run *r, uint32_t stage, uint32_t slot) {
    return &r->gathered_s[2 * ((size_t)stage * r->n_slots + slot)];
}

/* Of the next pass that is fetched. */
static uint32_t slot_of(const run *r, uint32_t stage, uint32_t chunk) {
    return r->p->gathers_each_pass ? r->used[stage] % 2 : chunk;
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
        bool ready = r->closing[stage] > 0 && replicas->head == FAB_NO_PIECE;
        return ready ? later_of(at, replicas->end_s) : INFINITY;
    }
    const fab_step_of_stage *step = next_step(r, stage);
    if (r->state[stage] == STATE_STEP && step->kind != FAB_OP_WEIGHTS) {
        at = later_of(at, *run_input_of(r, step->kind == FAB_OP_BACKWARD, stage, step->chunk, step->microbatch));
    }
    bool fetches = r->state[stage] == STATE_PASS && is_fetched(r, step);
    return fetches ? later_of(at, gathered_of(r, stage, slot_of(r, stage, step->chunk))[0]) : at;
}

/* Times, none of which is below 0, have the order of their bits. */
static uint64_t bits_of(double time_s) {
    uint64_t bits = 0;
    memcpy(&bits, &time_s, sizeof bits);
    return bits;
}

static double time_of(uint64_t bits) {
    double time_s = 0;
    memcpy(&time_s, &bits, sizeof time_s);
    return time_s;
}

/* Who is first, up to the root: of several the lowest stage. All levels, without a branch, which nobody predicts. */
static void look_at(run *r, uint32_t stage) {
    size_t at = r->n_leaves + stage;
    r->is_stale[stage] = false;
    r->channel_s[stage] = channels_next_s(r, stage, &r->channel[stage]);
    run_first best = {bits_of(earlier_of(stage_next_s(r, stage), r->channel_s[stage])), stage};
    r->first[at] = best;
    for (; at > 1; at /= 2) {
        const run_first other = r->first[at ^ 1];
        const bool is_other = other.when < best.when + (at & 1); /* of equal ones that on the left */
        best.when = is_other ? other.when : best.when;
        best.stage = is_other ? other.stage : best.stage;
        r->first[at / 2] = best;
    }
}

/* After something at a stage: of those beside it, the ones that this has changed. */
static void look_again(run *r, uint32_t stage) {
    const uint32_t near[] = {run_neighbour(r, stage, true), run_neighbour(r, stage, false)};
    look_at(r, stage);
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        if (r->is_stale[near[i]]) {
            look_at(r, near[i]);
        }
    }
}

/* --- what it does ------------------------------------------------------------------------------------------------- */

/* Something that travels. */
typedef struct travelling {
    run_channel channel;
    run_piece piece; /* what its pieces have in common */
    double whole_s;  /* alone */
    double sent_s;   /* from then on it takes nothing from others */
} travelling;

/* Posts it from one moment of its own time to another. */
static fab_status post_part(run *r, uint32_t stage, const travelling *t, double from_s, double to_s, run_effect effect,
                            fab_error *err) {
    run_piece piece = t->piece;
    double loud_s = earlier_of(to_s, t->sent_s) - from_s;
    double quiet_s = to_s - later_of(from_s, t->sent_s);
    if (loud_s > 0) {
        piece.uses_network = true;
        piece.total_s = loud_s;
        piece.effect = quiet_s > 0 ? EFFECT_NONE : effect;
        piece.is_last = to_s >= t->whole_s && quiet_s <= 0;
        FAB_PASS(channels_post(r, stage, t->channel, &piece, err));
    }
    if (quiet_s > 0 || (loud_s <= 0 && effect != EFFECT_NONE)) {
        piece.uses_network = false;
        piece.total_s = later_of(quiet_s, 0);
        piece.effect = effect;
        piece.is_last = to_s >= t->whole_s;
        FAB_PASS(channels_post(r, stage, t->channel, &piece, err));
    }
    return FAB_OK;
}

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
    const travelling send = {backward ? CHANNEL_BACKWARD : CHANNEL_FORWARD,
                             {.kind = backward ? FAB_OP_SEND_BACKWARD : FAB_OP_SEND_FORWARD,
                              .chunk = step->chunk,
                              .microbatch = step->microbatch,
                              .release_s = r->free_s[stage]},
                             send_s,
                             send_s - t->send_latency_s};
    double head_s = (1 - p->send_overlap) * send_s;
    if (p->send_overlap < 1) {
        r->waits[stage] = true;
        FAB_PASS(post_part(r, stage, &send, 0, head_s, EFFECT_FREE, err));
    }
    return post_part(r, stage, &send, head_s, send_s, EFFECT_INPUT, err);
}

/* What replicas exchange for a chunk: the part of it that travels beside computation, or the one in line. The reduction
 * of its last pass is one between groups of replicas as well. */
static travelling exchange_of(const run *r, uint32_t stage, fab_op_kind kind, const fab_step_of_stage *step,
                              bool in_line, double release_s) {
    const fab_chunk_times *t = times_of(r, stage, step->chunk);
    bool gathers = kind == FAB_OP_GATHER;
    bool is_last = r->open_passes[(size_t)stage * r->p->n_chunks + step->chunk] == 0;
    double part = r->with.replicas ? in_line ? 1 - r->p->replica_overlap : r->p->replica_overlap : 0;
    double whole_s = part * (gathers ? t->gather_s : t->reduce_s + (is_last ? t->across_s : 0));
    return (travelling){CHANNEL_REPLICAS,
                        {.kind = kind, .chunk = step->chunk, .microbatch = step->microbatch, .release_s = release_s},
                        whole_s,
                        whole_s - part * (gathers ? t->gather_latency_s : t->reduce_latency_s)};
}

static double buckets_of(const fab_chunk_times *t) {
    return t->buckets > 1 ? t->buckets : 1;
}

/* The stage waits for parameters or gradients of a chunk that travel from `at` on, behind what travels already. */
static fab_status wait_for(run *r, uint32_t stage, fab_op_kind kind, const fab_step_of_stage *step, double at,
                           fab_error *err) {
    const travelling x = exchange_of(r, stage, kind, step, true, at);
    if (x.whole_s <= 0) {
        r->free_s[stage] = at;
        return FAB_OK;
    }
    r->waits[stage] = true;
    return post_part(r, stage, &x, 0, x.whole_s, EFFECT_FREE, err);
}

/* Parameters of a chunk travel from `at` on, one bucket after the other. */
static fab_status fetch_parameters(run *r, uint32_t stage, const fab_step_of_stage *step, double at, fab_error *err) {
    travelling x = exchange_of(r, stage, FAB_OP_GATHER, step, false, at);
    double bucket_s = x.whole_s / buckets_of(times_of(r, stage, step->chunk));
    x.piece.slot = r->p->gathers_each_pass ? r->fetched[stage]++ % 2 : step->chunk;
    gathered_of(r, stage, x.piece.slot)[0] = INFINITY;
    gathered_of(r, stage, x.piece.slot)[1] = INFINITY;
    FAB_PASS(post_part(r, stage, &x, 0, bucket_s, EFFECT_PARAMETERS, err));
    return post_part(r, stage, &x, bucket_s, x.whole_s, EFFECT_GATHERED, err);
}

/* Those of the step that is next, from `at` on. */
static fab_status prefetch(run *r, uint32_t stage, double at, fab_error *err) {
    if (!r->p->gathers_each_pass || r->next[stage] == r->n_steps || next_step(r, stage)->kind == FAB_OP_WEIGHTS) {
        return FAB_OK;
    }
    return fetch_parameters(r, stage, next_step(r, stage), at, err);
}

/* The pass after which the gradients of a microbatch are there. */
static fab_op_kind last_kind(const fab_pipeline *p) {
    return p->order == FAB_ORDER_ZERO_BUBBLE ? FAB_OP_WEIGHTS : FAB_OP_BACKWARD;
}

/* Whether gradients are to be reduced with this pass, whose step is counted already. */
static bool completes(const run *r, uint32_t stage, const fab_step_of_stage *step) {
    bool is_last = r->open_passes[(size_t)stage * r->p->n_chunks + step->chunk] == 0;
    return r->with.replicas && step->kind == last_kind(r->p) && (is_last || r->p->reduces_each_pass);
}

/* Gradients travel one bucket after the other; the last becomes complete with its pass. */
static fab_status reduce_gradients(run *r, uint32_t stage, bool is_pass_over, double at, fab_error *err) {
    const fab_step_of_stage *step = next_step(r, stage) - 1;
    const travelling x = exchange_of(r, stage, FAB_OP_REDUCE, step, false, at);
    double before_s = x.whole_s - x.whole_s / buckets_of(times_of(r, stage, step->chunk));
    return is_pass_over ? post_part(r, stage, &x, before_s, x.whole_s, EFFECT_NONE, err)
                        : post_part(r, stage, &x, 0, before_s, EFFECT_NONE, err);
}

static const double *exchanges_of(const fab_chunk_times *t, fab_op_kind kind) {
    static const double NONE[FAB_N_EXCHANGES] = {0};
    return kind == FAB_OP_FORWARD ? t->forward_exchange_s : kind == FAB_OP_BACKWARD ? t->backward_exchange_s : NONE;
}

static double takes_s(const fab_pipeline *p, const fab_chunk_times *t, fab_op_kind kind) {
    double weights_s = kind == last_kind(p) ? t->weights_s : 0;
    double compute_s = kind == FAB_OP_FORWARD    ? t->forward_s
                       : kind == FAB_OP_BACKWARD ? t->recompute_s + t->backward_s
                                                 : 0;
    return compute_s + fab_exchange_s(exchanges_of(t, kind)) + weights_s;
}

void run_pass_parts(const fab_pipeline *p, uint32_t stage, const run_piece *pass, double out[FAB_N_EXCHANGES]) {
    const fab_chunk_times *t = &p->chunk[(size_t)stage * p->n_chunks + pass->chunk];
    for (fab_travel k = 0; k < FAB_N_EXCHANGES; k++) {
        out[k] = exchanges_of(t, pass->kind)[k] * p->exchange_ratio[k] / takes_s(p, t, pass->kind);
    }
}

/* The next step of a stage, whose input is there: up to its first bucket of gradients, what is left, and what needs the
 * last bucket of parameters. */
static fab_status take_step(run *r, uint32_t stage, fab_error *err) {
    const fab_step_of_stage *step = next_step(r, stage);
    const fab_chunk_times *t = times_of(r, stage, step->chunk);
    const double whole_s = takes_s(r->p, t, step->kind);
    const double bucket_s = whole_s / buckets_of(t);
    const double *gathered_s = NULL;
    run_piece pass = {.kind = (fab_op_kind)step->kind,
                      .chunk = step->chunk,
                      .microbatch = step->microbatch,
                      .uses_network = fab_exchange_s(exchanges_of(t, step->kind)) > 0,
                      .release_s = r->free_s[stage]};
    if (is_fetched(r, step)) {
        gathered_s = gathered_of(r, stage, slot_of(r, stage, step->chunk));
        pass.release_s = later_of(pass.release_s, gathered_s[0]);
        gathered_s = gathered_s[1] > pass.release_s ? gathered_s : NULL; /* all there: it is one piece */
        r->used[stage]++;
    }
    r->open_passes[(size_t)stage * r->p->n_chunks + step->chunk] -= step->kind == last_kind(r->p) ? 1 : 0;
    r->next[stage]++;
    r->state[stage] = STATE_STEP;
    r->waits[stage] = true;
    FAB_PASS(prefetch(r, stage, pass.release_s, err));
    const double first_s = completes(r, stage, step) && bucket_s < whole_s ? bucket_s : 0;
    const double last_s = gathered_s != NULL ? bucket_s : whole_s - first_s;
    const double parts_s[] = {first_s, whole_s - first_s - last_s, last_s};
    static const run_effect EFFECTS[] = {EFFECT_GRADIENTS, EFFECT_NONE, EFFECT_PASS};
    for (size_t i = 0; i < 3; i++) {
        pass.total_s = later_of(parts_s[i], 0);
        pass.effect = EFFECTS[i];
        pass.is_last = i == 2;
        pass.not_before = pass.is_last && gathered_s != NULL ? &gathered_s[1] : NULL;
        FAB_PASS(pass.total_s > 0 || pass.is_last ? channels_post(r, stage, CHANNEL_PASS, &pass, err) : FAB_OK);
    }
    return FAB_OK;
}

/* What follows a pass. */
static fab_status end_pass(run *r, uint32_t stage, double at, fab_error *err) {
    const fab_step_of_stage *step = next_step(r, stage) - 1;
    r->free_s[stage] = at;
    r->waits[stage] = false;
    FAB_PASS(step->kind != FAB_OP_WEIGHTS ? hand_on(r, stage, step, err) : FAB_OK);
    if (completes(r, stage, step)) {
        r->state[stage] = r->p->reduces_each_pass ? STATE_REDUCE : STATE_STEP;
        FAB_PASS(reduce_gradients(r, stage, true, at, err));
    }
    return FAB_OK;
}

fab_status run_take_effect(run *r, uint32_t stage, const run_piece *piece, double at, fab_error *err) {
    bool backward = piece->kind == FAB_OP_SEND_BACKWARD;
    uint32_t place = piece->chunk * r->p->n_stages + stage;
    uint32_t to = backward ? place - 1 : place + 1;
    switch (piece->effect) {
    case EFFECT_NONE: break;
    case EFFECT_FREE:
        r->free_s[stage] = at;
        r->waits[stage] = false;
        break;
    case EFFECT_INPUT:
        *run_input_of(r, backward, to % r->p->n_stages, to / r->p->n_stages, piece->microbatch) = at;
        r->is_stale[to % r->p->n_stages] = true;
        break;
    case EFFECT_PARAMETERS: gathered_of(r, stage, piece->slot)[0] = at; break;
    case EFFECT_GATHERED: gathered_of(r, stage, piece->slot)[1] = at; break;
    case EFFECT_GRADIENTS: return reduce_gradients(r, stage, false, at, err);
    case EFFECT_PASS: return end_pass(r, stage, at, err);
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
    for (int beside = 0; beside < 2; beside++) {
        for (uint16_t chunk = 0; chunk < p->n_chunks; chunk++) {
            const fab_step_of_stage step = {.chunk = chunk};
            const travelling x = exchange_of(r, stage, FAB_OP_GATHER, &step, true, 0);
            FAB_PASS(beside ? fetch_parameters(r, stage, &step, 0, err)
                            : post_part(r, stage, &x, 0, x.whole_s, EFFECT_NONE, err));
        }
    }
    return FAB_OK;
}

/* When the norm of all gradients is known, the optimizer. */
static double finish(run *r) {
    const fab_pipeline *p = r->p;
    double ready_s = 0;
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        ready_s = later_of(ready_s, later_of(r->free_s[stage], run_queue_of(r, stage, CHANNEL_REPLICAS)->end_s));
    }
    double end_s = ready_s;
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        double optimized_s = ready_s + p->optimizer_s[stage];
        if (r->op != NULL && p->optimizer_s[stage] > 0) {
            r->op[r->n_ops++] = (fab_op){FAB_OP_OPTIMIZER, stage, 0, 0, ready_s, optimized_s};
        }
        end_s = later_of(end_s, optimized_s);
    }
    return end_s;
}

static fab_status start_run(run *r, fab_error *err) {
    const fab_pipeline *p = r->p;
    size_t n_passes = (size_t)p->n_stages * p->n_chunks * p->n_microbatches;
    FAB_FILL(r->arrived_s, 2 * n_passes, INFINITY);
    for (uint32_t i = 0; i < p->n_microbatches; i++) {
        *run_input_of(r, false, 0, 0, i) = 0;
    }
    for (size_t i = 0; i < 2 * r->n_leaves; i++) {
        r->first[i] = (run_first){.when = bits_of(INFINITY)};
    }
    channels_clear(r);
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        r->next[stage] = 0;
        r->state[stage] = STATE_STEP;
        r->waits[stage] = false;
        r->closing[stage] = r->with.replicas && !p->reduces_each_pass ? p->n_chunks : 0;
        r->free_s[stage] = 0;
        r->fetched[stage] = 0;
        r->used[stage] = 0;
        for (uint32_t chunk = 0; chunk < p->n_chunks; chunk++) {
            r->open_passes[(size_t)stage * p->n_chunks + chunk] = p->n_microbatches;
        }
        FAB_PASS(gather_parameters(r, stage, err));
    }
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        look_at(r, stage);
    }
    return FAB_OK;
}

/* Whether anything that takes time in this run slows anything down. */
static bool may_share(const fab_pipeline *p, run_with with) {
    unsigned absent = (with.sends ? 0 : FAB_TRAVEL_BIT(FAB_TRAVEL_SEND)) |
                      (with.replicas ? 0 : FAB_TRAVEL_BIT(FAB_TRAVEL_GATHER) | FAB_TRAVEL_BIT(FAB_TRAVEL_REDUCE));
    for (unsigned set = 0; p->paces != NULL && set < FAB_TRAVEL_SETS; set++) {
        for (fab_travel k = 0; k < FAB_TRAVEL_N && (set & absent) == 0; k++) {
            if (p->paces->slowdown[set][k] > 1) {
                return true;
            }
        }
    }
    return false;
}

fab_status run_once(run *r, run_with with, fab_op *op, double *out_s, fab_error *err) {
    const fab_pipeline *p = r->p;
    r->with = with;
    r->shares = may_share(p, with);
    r->op = op;
    r->n_ops = 0;
    FAB_PASS(start_run(r, err));
    for (double now; (now = time_of(r->first[1].when)) < INFINITY;) {
        const uint32_t stage = r->first[1].stage;
        FAB_PASS(r->channel_s[stage] <= now ? channels_advance(r, stage, r->channel[stage], now, err)
                                            : advance_stage(r, stage, now, err));
        look_again(r, stage);
    }
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        FAB_REFUSE_IF(r->next[stage] < r->n_steps || r->closing[stage] > 0 || r->waits[stage], err, FAB_EINTERNAL, NULL,
                      "stage %u waits after %zu of %zu steps of a pipeline", stage, r->next[stage], r->n_steps);
    }
    *out_s = finish(r);
    return FAB_OK;
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

fab_status run_open(run *r, const fab_pipeline *p, fab_error *err) {
    size_t n_chunks = (size_t)p->n_stages * p->n_chunks;
    *r = (run){.p = p,
               .n_steps = fab_pipeline_steps(p),
               .n_slots = p->n_chunks > 2 ? p->n_chunks : 2,
               .n_leaves = 1,
               .unused = FAB_NO_PIECE};
    while (r->n_leaves < p->n_stages) {
        r->n_leaves *= 2;
    }
    FAB_PASS(FAB_NEW(r->step, p->n_stages * r->n_steps, err));
    FAB_PASS(FAB_NEW_ALL(p->n_stages, err, r->next, r->free_s));
    FAB_PASS(FAB_NEW(r->queue, (size_t)p->n_stages * N_CHANNELS, err));
    FAB_PASS(FAB_NEW_ALL(p->n_stages, err, r->active, r->state, r->waits, r->closing));
    FAB_PASS(FAB_NEW(r->first, 2 * r->n_leaves, err));
    FAB_PASS(FAB_NEW_ALL(p->n_stages, err, r->channel_s, r->channel, r->is_stale, r->fetched, r->used));
    FAB_PASS(FAB_NEW(r->gathered_s, (size_t)p->n_stages * r->n_slots * 2, err));
    FAB_PASS(FAB_NEW(r->arrived_s, 2 * n_chunks * p->n_microbatches, err));
    FAB_PASS(FAB_NEW(r->open_passes, n_chunks, err));
    if (p->order == FAB_ORDER_ZERO_BUBBLE) {
        fab_pipeline_order_zero_bubble(p, r->step);
    } else {
        fab_pipeline_order_1f1b(p, r->step);
    }
    return FAB_OK;
}

void run_close(run *r) {
    FAB_FREE_ALL(r->step, r->next, r->state, r->waits, r->closing, r->free_s, r->gathered_s, r->arrived_s,
                 r->open_passes, r->first, r->channel_s, r->channel, r->is_stale, r->queue, r->active, r->piece,
                 r->fetched, r->used);
}
