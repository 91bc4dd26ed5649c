/* Runs the operations of a pipeline to their end. Every stage takes its steps in a fixed order; what is sent and what
 * replicas exchange has channels of its own. Fixed orders make time grow with every duration, so that what a kind of
 * communication costs is the difference between a run with it and one without. */
#include "fab/pipeline.h"
#include "fab/memory.h"
#include "pipeline_order.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

const char *const fab_pipeline_orders[FAB_ORDER_N] = {"1f1b", "zero-bubble"};

const char *const fab_op_names[FAB_OP_N] = {"gather",       "forward",       "backward", "weights",
                                            "send-forward", "send-backward", "reduce",   "optimizer"};

/* Which communication takes time. */
typedef struct run_with {
    bool sends, replicas;
} run_with;

typedef struct run {
    const fab_pipeline *p;
    const fab_step_of_stage *step; /* [stage][steps] */
    size_t n_steps;
    run_with with;
    size_t *next;          /* [stage]: step to take */
    double *free_s;        /* [stage]: computes nothing from then on */
    double *channel_s;     /* [stage][2]: forward and backward sends are through */
    double *replica_s;     /* [stage]: gathers and reductions are through */
    double *gathered_s;    /* [stage][chunk][2]: its first and its last bucket are there */
    double *arrived_s;     /* [2][stage][chunk][microbatch]: what a pass waits for; INFINITY: not yet */
    uint32_t *open_passes; /* [stage][chunk]: until the gradients of the chunk are complete */
    uint32_t *queue;       /* stages that may have something to do */
    bool *queued;
    fab_op *op; /* NULL: not kept */
    size_t n_ops;
} run;

static void note_op(run *r, fab_op_kind kind, uint32_t stage, uint32_t chunk, uint32_t microbatch, double start,
                    double end) {
    if (r->op != NULL && end > start) {
        r->op[r->n_ops++] = (fab_op){kind, stage, chunk, microbatch, start, end};
    }
}

static const fab_chunk_times *times_of(const run *r, uint32_t stage, uint32_t chunk) {
    return &r->p->chunk[(size_t)stage * r->p->n_chunks + chunk];
}

/* Where the pass of a microbatch through a chunk looks for its input. */
static double *input_of(const run *r, bool backward, uint32_t stage, uint32_t chunk, uint32_t microbatch) {
    const fab_pipeline *p = r->p;
    size_t row = ((size_t)(backward ? p->n_stages : 0) + stage) * p->n_chunks + chunk;
    return &r->arrived_s[row * p->n_microbatches + microbatch];
}

static void wake(run *r, uint32_t stage, size_t *n_queued) {
    if (!r->queued[stage]) {
        r->queued[stage] = true;
        r->queue[(*n_queued)++] = stage;
    }
}

/* Hands the result of a pass to the next chunk on its way; its own backward pass follows the last forward one. */
static void hand_on(run *r, uint32_t stage, const fab_step_of_stage *step, size_t *n_queued) {
    const fab_pipeline *p = r->p;
    const fab_chunk_times *t = times_of(r, stage, step->chunk);
    bool backward = step->kind == FAB_OP_BACKWARD;
    uint32_t place = step->chunk * p->n_stages + stage;
    uint32_t last = p->n_stages * p->n_chunks - 1;
    if (!backward && place == last) {
        *input_of(r, true, stage, step->chunk, step->microbatch) = r->free_s[stage];
        return;
    }
    if (backward && place == 0) {
        return;
    }
    uint32_t to = backward ? place - 1 : place + 1;
    double send_s = r->with.sends ? backward ? t->send_backward_s : t->send_forward_s : 0;
    double *channel = &r->channel_s[2 * stage + backward];
    double start = fmax(r->free_s[stage], *channel);
    double waits_s = p->send_overlap < 1 ? start + (1 - p->send_overlap) * send_s : 0;
    *channel = start + send_s;
    note_op(r, backward ? FAB_OP_SEND_BACKWARD : FAB_OP_SEND_FORWARD, stage, step->chunk, step->microbatch, start,
            *channel);
    r->free_s[stage] = fmax(r->free_s[stage], waits_s);
    *input_of(r, backward, to % p->n_stages, to / p->n_stages, step->microbatch) = *channel;
    wake(r, to % p->n_stages, n_queued);
}

static double buckets_of(const fab_chunk_times *t) {
    return t->buckets > 1 ? t->buckets : 1;
}

/* A pass that took takes_s until end completes gradients one bucket after the other, if it is the last of its chunk or
 * every pass is to be reduced. */
static void complete_pass(run *r, uint32_t stage, const fab_step_of_stage *step, double end, double takes_s) {
    const fab_pipeline *p = r->p;
    const fab_chunk_times *t = times_of(r, stage, step->chunk);
    bool is_last = --r->open_passes[(size_t)stage * p->n_chunks + step->chunk] == 0;
    if ((!is_last && !p->reduces_each_pass) || !r->with.replicas) {
        return;
    }
    double n = buckets_of(t);
    double whole_s = p->replica_overlap * t->reduce_s;
    double start = fmax(end - takes_s + takes_s / n, r->replica_s[stage]);
    if (whole_s > 0) {
        r->replica_s[stage] = fmax(start + whole_s, end + whole_s / n);
        note_op(r, FAB_OP_REDUCE, stage, step->chunk, step->microbatch, start, r->replica_s[stage]);
    }
    if (p->reduces_each_pass) {
        start = r->free_s[stage];
        r->free_s[stage] += (1 - p->replica_overlap) * t->reduce_s;
        note_op(r, FAB_OP_REDUCE, stage, step->chunk, step->microbatch, start, r->free_s[stage]);
    }
}

/* Parameters of a chunk travel from `at` on, one bucket after the other. */
static void fetch_parameters(run *r, uint32_t stage, uint32_t chunk, uint32_t microbatch, double at) {
    const fab_chunk_times *t = times_of(r, stage, chunk);
    double takes = r->with.replicas ? r->p->replica_overlap * t->gather_s : 0;
    double *gathered_s = &r->gathered_s[2 * ((size_t)stage * r->p->n_chunks + chunk)];
    double start = fmax(at, r->replica_s[stage]);
    gathered_s[0] = start + takes / buckets_of(t);
    gathered_s[1] = start + takes;
    if (takes > 0) {
        r->replica_s[stage] = gathered_s[1];
        note_op(r, FAB_OP_GATHER, stage, chunk, microbatch, start, gathered_s[1]);
    }
}

/* Those of the step that is next, from `at` on. */
static void prefetch(run *r, uint32_t stage, double at) {
    if (r->p->gathers_each_pass && r->next[stage] < r->n_steps) {
        const fab_step_of_stage *step = &r->step[(size_t)stage * r->n_steps + r->next[stage]];
        if (step->kind != FAB_OP_WEIGHTS) {
            fetch_parameters(r, stage, step->chunk, step->microbatch, at);
        }
    }
}

/* Takes the next step of a stage if its input is there. */
static bool take_step(run *r, uint32_t stage, size_t *n_queued) {
    const fab_pipeline *p = r->p;
    if (r->next[stage] == r->n_steps) {
        return false;
    }
    const fab_step_of_stage *step = &r->step[(size_t)stage * r->n_steps + r->next[stage]];
    const fab_chunk_times *t = times_of(r, stage, step->chunk);
    bool forward = step->kind == FAB_OP_FORWARD;
    double start = r->free_s[stage];
    double takes = t->weights_s;
    if (step->kind != FAB_OP_WEIGHTS) {
        start = fmax(start, *input_of(r, !forward, stage, step->chunk, step->microbatch));
        takes = forward ? t->forward_s + t->forward_exchange_s
                        : t->recompute_s + t->backward_s + t->backward_exchange_s +
                              (p->order == FAB_ORDER_ZERO_BUBBLE ? 0 : t->weights_s);
    }
    if (isinf(start)) {
        return false;
    }
    r->next[stage]++;
    double end = start + takes;
    if (step->kind != FAB_OP_WEIGHTS && (forward || p->gathers_each_pass)) {
        const double *gathered_s = &r->gathered_s[2 * ((size_t)stage * p->n_chunks + step->chunk)];
        double in_line_s = p->gathers_each_pass && r->with.replicas ? (1 - p->replica_overlap) * t->gather_s : 0;
        note_op(r, FAB_OP_GATHER, stage, step->chunk, step->microbatch, start, start + in_line_s);
        start = fmax(start + in_line_s, gathered_s[0]);
        end = fmax(start + takes, gathered_s[1] + takes / buckets_of(t));
    }
    r->free_s[stage] = end;
    note_op(r, (fab_op_kind)step->kind, stage, step->chunk, step->microbatch, start, end);
    prefetch(r, stage, start);
    if (step->kind != FAB_OP_WEIGHTS) {
        hand_on(r, stage, step, n_queued);
    }
    if (step->kind == FAB_OP_WEIGHTS || (!forward && p->order != FAB_ORDER_ZERO_BUBBLE)) {
        complete_pass(r, stage, step, end, takes);
    }
    return true;
}

/* What does not travel beside computation goes before it, then chunk after chunk. */
static void gather_parameters(run *r, uint32_t stage) {
    const fab_pipeline *p = r->p;
    r->replica_s[stage] = 0;
    if (p->gathers_each_pass) {
        prefetch(r, stage, 0);
        return;
    }
    for (uint32_t chunk = 0; chunk < p->n_chunks && r->with.replicas; chunk++) {
        double start = r->replica_s[stage];
        r->replica_s[stage] += (1 - p->replica_overlap) * times_of(r, stage, chunk)->gather_s;
        note_op(r, FAB_OP_GATHER, stage, chunk, 0, start, r->replica_s[stage]);
    }
    for (uint32_t chunk = 0; chunk < p->n_chunks; chunk++) {
        fetch_parameters(r, stage, chunk, 0, 0);
    }
}

/* Gradients that did not travel beside computation, then, when the norm of all is known, the optimizer. */
static double finish(run *r) {
    const fab_pipeline *p = r->p;
    double ready_s = 0;
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        double at = fmax(r->free_s[stage], r->replica_s[stage]);
        for (uint32_t chunk = p->n_chunks; chunk-- > 0 && !p->reduces_each_pass && r->with.replicas;) {
            double start = at;
            at += (1 - p->replica_overlap) * times_of(r, stage, chunk)->reduce_s;
            note_op(r, FAB_OP_REDUCE, stage, chunk, 0, start, at);
        }
        ready_s = fmax(ready_s, at);
    }
    double end_s = ready_s;
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        note_op(r, FAB_OP_OPTIMIZER, stage, 0, 0, ready_s, ready_s + p->optimizer_s[stage]);
        end_s = fmax(end_s, ready_s + p->optimizer_s[stage]);
    }
    return end_s;
}

static fab_status run_once(run *r, run_with with, fab_op *op, double *out_s, fab_error *err) {
    const fab_pipeline *p = r->p;
    size_t n_passes = (size_t)p->n_stages * p->n_chunks * p->n_microbatches;
    size_t n_queued = 0;
    r->with = with;
    r->op = op;
    r->n_ops = 0;
    for (size_t i = 0; i < 2 * n_passes; i++) {
        r->arrived_s[i] = INFINITY;
    }
    for (uint32_t i = 0; i < p->n_microbatches; i++) {
        *input_of(r, false, 0, 0, i) = 0;
    }
    for (uint32_t stage = p->n_stages; stage-- > 0;) {
        r->next[stage] = 0;
        r->free_s[stage] = 0;
        r->channel_s[2 * stage] = 0;
        r->channel_s[2 * stage + 1] = 0;
        for (uint32_t chunk = 0; chunk < p->n_chunks; chunk++) {
            r->open_passes[(size_t)stage * p->n_chunks + chunk] = p->n_microbatches;
        }
        gather_parameters(r, stage);
        wake(r, stage, &n_queued);
    }
    size_t n_taken = 0;
    while (n_queued > 0) {
        uint32_t stage = r->queue[--n_queued];
        r->queued[stage] = false;
        while (take_step(r, stage, &n_queued)) {
            n_taken++;
        }
    }
    if (n_taken != r->n_steps * p->n_stages) {
        return fab_fail(err, FAB_EINTERNAL, NULL, "%zu of %zu steps of a pipeline wait for each other",
                        r->n_steps * p->n_stages - n_taken, r->n_steps * p->n_stages);
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

static fab_status check_pipeline(const fab_pipeline *p, fab_error *err) {
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
    if ((double)p->n_stages * p->n_chunks * p->n_microbatches * FAB_OP_N > INT32_MAX) {
        return fab_fail(err, FAB_EUNSUPPORTED, NULL,
                        "%u stages, %u chunks and %u microbatches are more than 2^31 operations", p->n_stages,
                        p->n_chunks, p->n_microbatches);
    }
    if (!(p->send_overlap >= 0 && p->send_overlap <= 1 && p->replica_overlap >= 0 && p->replica_overlap <= 1)) {
        return fab_fail(err, FAB_EINPUT, NULL, "overlaps of %g and %g are outside 0 to 1", p->send_overlap,
                        p->replica_overlap);
    }
    for (size_t i = 0; i < (size_t)p->n_stages * p->n_chunks; i++) {
        const fab_chunk_times *t = &p->chunk[i];
        const double takes[] = {
            t->forward_s,           t->recompute_s,    t->backward_s,      t->weights_s, t->forward_exchange_s,
            t->backward_exchange_s, t->send_forward_s, t->send_backward_s, t->gather_s,  t->reduce_s};
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
    *r = (run){.p = p, .n_steps = fab_pipeline_steps(p)};
    FAB_TRY(FAB_NEW(*out_step, p->n_stages * r->n_steps, err));
    r->step = *out_step;
    FAB_TRY(FAB_NEW(r->next, p->n_stages, err));
    FAB_TRY(FAB_NEW(r->free_s, p->n_stages, err));
    FAB_TRY(FAB_NEW(r->channel_s, 2 * (size_t)p->n_stages, err));
    FAB_TRY(FAB_NEW(r->replica_s, p->n_stages, err));
    FAB_TRY(FAB_NEW(r->gathered_s, 2 * n_chunks, err));
    FAB_TRY(FAB_NEW(r->arrived_s, 2 * n_chunks * p->n_microbatches, err));
    FAB_TRY(FAB_NEW(r->open_passes, n_chunks, err));
    FAB_TRY(FAB_NEW(r->queue, p->n_stages, err));
    FAB_TRY(FAB_NEW(r->queued, p->n_stages, err));
    if (p->order == FAB_ORDER_ZERO_BUBBLE) {
        fab_pipeline_order_zero_bubble(p, *out_step);
    } else {
        fab_pipeline_order_1f1b(p, *out_step);
    }
done:
    return status;
}

static void close_run(run *r) {
    free(r->next);
    free(r->free_s);
    free(r->channel_s);
    free(r->replica_s);
    free(r->gathered_s);
    free(r->arrived_s);
    free(r->open_passes);
    free(r->queue);
    free(r->queued);
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
    FAB_TRY(check_pipeline(p, err));
    FAB_TRY(open_run(&r, p, &step, err));
    if (needs ==
        FAB_PIPELINE_OPS) { /* a step, its transfer, two gathers and reductions each; of chunks; an optimizer */
        size_t per_step = 2U + (p->gathers_each_pass ? 2U : 0U) + (p->reduces_each_pass ? 2U : 0U);
        FAB_TRY(FAB_NEW(found.op, p->n_stages * (per_step * r.n_steps + 4 * (size_t)p->n_chunks + 1), err));
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
