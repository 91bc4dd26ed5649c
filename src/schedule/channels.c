/* What travels: transfers of a channel follow each other. Where sends and the exchange of replicas are under way at a
 * stage together, each takes as many times longer as the network says, for as long as that lasts. */
#include "pipeline_run.h"

#include "fab/memory.h"

#include <math.h>

/* --- effects ------------------------------------------------------------------------------------------------------ */

static void effect_of_first(run *r, uint32_t stage, const run_transfer *t, double at) {
    if (t->effect == EFFECT_PARAMETERS) {
        r->gathered_s[2 * ((size_t)stage * r->p->n_chunks + t->chunk)] = at;
    } else if (t->effect == EFFECT_INPUT && r->p->send_overlap < 1) {
        r->free_s[stage] = fmax(r->free_s[stage], at);
        r->waits[stage] = false;
    }
}

static void effect_of_all(run *r, uint32_t stage, const run_transfer *t, double start, double end) {
    const fab_pipeline *p = r->p;
    if (r->op != NULL && end > start) {
        r->op[r->n_ops++] = (fab_op){t->kind, stage, t->chunk, t->microbatch, start, end};
    }
    if (t->effect == EFFECT_PARAMETERS) {
        r->gathered_s[2 * ((size_t)stage * p->n_chunks + t->chunk) + 1] = end;
    } else if (t->effect == EFFECT_FREE) {
        r->free_s[stage] = end;
        r->waits[stage] = false;
    } else if (t->effect == EFFECT_INPUT) {
        bool backward = t->kind == FAB_OP_SEND_BACKWARD;
        uint32_t place = t->chunk * p->n_stages + stage;
        uint32_t to = backward ? place - 1 : place + 1;
        *run_input_of(r, backward, to % p->n_stages, to / p->n_stages, t->microbatch) = end;
    }
}

/* --- sharing ------------------------------------------------------------------------------------------------------ */

/* One more or one less of a kind is under way. */
static void count_active(run *r, uint32_t stage, fab_op_kind kind, uint32_t change) {
    if (kind == FAB_OP_GATHER) {
        r->active[stage].gathers += change;
    } else if (kind == FAB_OP_REDUCE) {
        r->active[stage].reductions += change;
    } else {
        r->active[stage].sends += change;
        r->active[run_neighbour(r, stage, kind == FAB_OP_SEND_BACKWARD)].sends += change;
    }
}

static double slowed_at(const run *r, uint32_t stage) {
    const run_active *active = &r->active[stage];
    double slow = active->gathers > 0 ? fmax(r->p->gather_slowdown, 1) : 1;
    return active->reductions > 0 ? fmax(r->p->reduce_slowdown, slow) : slow;
}

static double slowdown_of(const run *r, uint32_t stage, fab_op_kind kind) {
    if (kind == FAB_OP_GATHER || kind == FAB_OP_REDUCE) {
        double slow = kind == FAB_OP_GATHER ? r->p->gather_slowdown : r->p->reduce_slowdown;
        return r->active[stage].sends > 0 ? fmax(slow, 1) : 1;
    }
    return fmax(slowed_at(r, stage), slowed_at(r, run_neighbour(r, stage, kind == FAB_OP_SEND_BACKWARD)));
}

/* What a transfer has lost until now. */
static void see(run_queue *q, double now) {
    q->lost_s += q->slow > 1 ? (now - q->seen_s) * (1 - 1 / q->slow) : 0;
    q->seen_s = now;
}

/* After a change at a stage: its transfers, and those that come from the stages beside. */
static void rate_again(run *r, uint32_t stage, double now) {
    const uint32_t near[] = {stage, run_neighbour(r, stage, true), run_neighbour(r, stage, false)};
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        for (run_channel c = 0; c < N_CHANNELS; c++) {
            run_queue *q = run_queue_of(r, near[i], c);
            if (q->active && !q->held && !q->is_quiet) {
                see(q, now);
                q->slow = slowdown_of(r, near[i], r->transfer[q->head].kind);
            }
        }
    }
}

/* --- queues ------------------------------------------------------------------------------------------------------- */

void channels_clear(run *r) {
    for (size_t i = 0; i < (size_t)r->p->n_stages * N_CHANNELS; i++) {
        r->queue[i] = (run_queue){.head = FAB_NO_TRANSFER};
    }
    for (uint32_t i = 0; i < r->p->n_stages; i++) {
        r->active[i] = (run_active){0};
    }
}

static void pass_at_once(run *r, uint32_t stage, run_queue *q, const run_transfer *t) {
    double start = fmax(t->release_s, q->end_s);
    double end = fmax(start + t->total_s, t->last_release_s + t->last_s);
    q->end_s = t->total_s > 0 ? end : q->end_s;
    effect_of_first(r, stage, t, start + t->first_s);
    effect_of_all(r, stage, t, start, end);
}

fab_status channels_post(run *r, uint32_t stage, run_channel channel, const run_transfer *transfer, fab_error *err) {
    run_queue *q = run_queue_of(r, stage, channel);
    if (q->head == FAB_NO_TRANSFER && (!r->shares || transfer->total_s <= 0)) {
        pass_at_once(r, stage, q, transfer);
        return FAB_OK;
    }
    uint32_t at = r->unused;
    if (at == FAB_NO_TRANSFER) {
        FAB_PASS(FAB_GROW(r->transfer, r->transfer_capacity, r->n_transfers + 1, err));
        at = (uint32_t)r->n_transfers++;
    } else {
        r->unused = r->transfer[at].next;
    }
    r->transfer[at] = *transfer;
    r->transfer[at].next = FAB_NO_TRANSFER;
    *(q->head == FAB_NO_TRANSFER ? &q->head : &r->transfer[q->tail].next) = at;
    q->tail = at;
    return FAB_OK;
}

/* Of what it takes alone, how far it comes next: the end of its first part, of its bytes, or all of it. */
static double next_mark_s(const run_queue *q, const run_transfer *t) {
    double end_s = q->is_quiet ? t->total_s : t->total_s - t->latency_s;
    return q->has_first ? end_s : fmin(t->first_s, end_s);
}

static double queue_next_s(const run *r, const run_queue *q) {
    if (q->head == FAB_NO_TRANSFER) {
        return INFINITY;
    }
    const run_transfer *t = &r->transfer[q->head];
    if (!q->active) {
        return fmax(q->end_s, t->release_s);
    }
    if (q->held) {
        return t->last_release_s;
    }
    double alone_s = q->start_s + next_mark_s(q, t) + q->lost_s;
    return q->slow > 1 ? q->seen_s + fmax(alone_s - q->seen_s, 0) * q->slow : alone_s;
}

double channels_next_s(const run *r, uint32_t stage, run_channel *out) {
    double least = INFINITY;
    for (run_channel c = 0; r->shares && c < N_CHANNELS; c++) {
        double at = queue_next_s(r, run_queue_of(r, stage, c));
        if (at < least) {
            least = at;
            *out = c;
        }
    }
    return least;
}

void channels_advance(run *r, uint32_t stage, run_channel channel, double now) {
    run_queue *q = run_queue_of(r, stage, channel);
    uint32_t at = q->head;
    const run_transfer *t = &r->transfer[at];
    bool was_sharing = q->active && !q->held && !q->is_quiet;
    if (!q->active) {
        *q = (run_queue){
            .head = at, .tail = q->tail, .active = true, .end_s = q->end_s, .start_s = now, .seen_s = now, .slow = 1};
    } else if (q->held) {
        q->held = false;
        q->has_first = true;
        q->lost_s = now - (q->start_s + t->first_s);
        q->seen_s = now;
    } else {
        double mark_s = next_mark_s(q, t);
        see(q, now);
        if (!q->has_first && mark_s >= t->first_s) {
            effect_of_first(r, stage, t, now);
            q->held = t->last_release_s > now;
            q->has_first = !q->held;
        } else if (!q->is_quiet && t->latency_s > 0) {
            q->is_quiet = true;
            q->slow = 1;
        } else {
            effect_of_all(r, stage, t, q->start_s, now);
            *q = (run_queue){.head = t->next, .tail = q->tail, .end_s = t->total_s > 0 ? now : q->end_s};
            r->transfer[at].next = r->unused;
            r->unused = at;
        }
    }
    bool is_sharing = q->active && !q->held && !q->is_quiet;
    if (is_sharing != was_sharing) {
        count_active(r, stage, t->kind, is_sharing ? 1 : UINT32_MAX); /* one more, or one less */
        rate_again(r, stage, now);
    }
}
