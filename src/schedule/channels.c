/* What goes on at a stage: the pieces of a channel follow each other. What uses the network at a stage together takes
 * as many times longer as the network says, for as long as that lasts. */
#include "pipeline_run.h"

/* --- sharing ------------------------------------------------------------------------------------------------------ */

static fab_travel travel_of(fab_op_kind kind) {
    return kind == FAB_OP_GATHER                                         ? FAB_TRAVEL_GATHER
           : kind == FAB_OP_REDUCE                                       ? FAB_TRAVEL_REDUCE
           : kind == FAB_OP_SEND_FORWARD || kind == FAB_OP_SEND_BACKWARD ? FAB_TRAVEL_SEND
                                                                         : FAB_TRAVEL_N;
}

static bool is_send(fab_op_kind kind) {
    return travel_of(kind) == FAB_TRAVEL_SEND;
}

/* A piece begins or ends to use the network. */
static void count_active(run *r, uint32_t stage, const run_piece *piece, bool begins) {
    fab_travel travel = travel_of(piece->kind);
    uint32_t change = begins ? 1 : UINT32_MAX;
    run_active *active = &r->active[stage];
    if (travel < FAB_TRAVEL_N) {
        active->n[travel] += change;
        if (is_send(piece->kind)) {
            r->active[run_neighbour(r, stage, piece->kind == FAB_OP_SEND_BACKWARD)].n[travel] += change;
        }
        return;
    }
    active->passes = begins;
    run_pass_parts(r->p, stage, piece, active->part);
}

static double slowdown_in(const run *r, unsigned set, fab_travel travel) {
    return later_of(r->p->paces->slowdown[set][travel], 1);
}

/* How many times longer a travel, or (FAB_TRAVEL_N) the pass, takes at a stage. What is mixed with a pass meets each of
 * its exchanges for a part of the time, and computation for the rest. */
static double slowdown_at(const run *r, uint32_t stage, fab_travel travel) {
    const run_active *active = &r->active[stage];
    unsigned beside = 0;
    for (fab_travel k = FAB_TRAVEL_SEND; k < FAB_TRAVEL_N; k++) {
        beside |= active->n[k] > 0 ? FAB_TRAVEL_BIT(k) : 0;
    }
    bool is_pass = travel == FAB_TRAVEL_N;
    double alone = is_pass ? 1 : slowdown_in(r, beside, travel);
    double wall = 1; /* of a second of the pass, and how far the travel comes meanwhile */
    double done = 1 / alone;
    for (fab_travel k = 0; active->passes && k < FAB_N_EXCHANGES; k++) {
        unsigned set = beside | FAB_TRAVEL_BIT(k);
        double exchange_s = active->part[k] * slowdown_in(r, set, k);
        wall += exchange_s - active->part[k];
        done += is_pass ? 0 : exchange_s / slowdown_in(r, set, travel) - active->part[k] / alone;
    }
    return is_pass || !active->passes ? wall * alone : wall / done;
}

static double slowdown_of(const run *r, uint32_t stage, fab_op_kind kind) {
    double slow = slowdown_at(r, stage, travel_of(kind));
    return is_send(kind)
               ? later_of(slow, slowdown_at(r, run_neighbour(r, stage, kind == FAB_OP_SEND_BACKWARD), FAB_TRAVEL_SEND))
               : slow;
}

/* After a change at a stage: its own channels, and sends that come from the stages beside. */
static void rate_again(run *r, uint32_t stage, double now) {
    const uint32_t near[] = {stage, run_neighbour(r, stage, true), run_neighbour(r, stage, false)};
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        for (run_channel c = 0; c < N_CHANNELS; c++) {
            run_queue *q = run_queue_of(r, near[i], c);
            if (q->active && r->piece[q->head].uses_network) {
                double slow = slowdown_of(r, near[i], r->piece[q->head].kind);
                if (slow != q->slow) {
                    q->left_s = later_of(q->left_s - (now - q->seen_s) / q->slow, 0);
                    q->seen_s = now;
                    q->slow = slow;
                    r->is_stale[near[i]] = true;
                }
            }
        }
    }
}

/* --- queues ------------------------------------------------------------------------------------------------------- */

void channels_clear(run *r) {
    FAB_FILL(r->queue, (size_t)r->p->n_stages * N_CHANNELS, (run_queue){.head = FAB_NO_PIECE});
    FAB_FILL(r->active, r->p->n_stages, (run_active){.passes = false});
}

static double piece_start_s(const run_queue *q, const run_piece *piece) {
    double start = later_of(q->end_s, piece->release_s);
    return piece->not_before != NULL ? later_of(start, *piece->not_before) : start;
}

static void begin_piece(run_queue *q, const run_piece *piece, double start) {
    if (!q->has_begun && piece->total_s > 0) {
        q->has_begun = true;
        q->op_start_s = start;
    }
}

static fab_status end_piece(run *r, uint32_t stage, run_queue *q, const run_piece *piece, double end, fab_error *err) {
    q->end_s = piece->total_s > 0 ? end : q->end_s;
    if (piece->is_last) {
        if (r->op != NULL && q->has_begun && end > q->op_start_s) {
            r->op[r->n_ops++] = (fab_op){piece->kind, stage, piece->chunk, piece->microbatch, q->op_start_s, end};
        }
        q->has_begun = false;
    }
    return run_take_effect(r, stage, piece, end, err);
}

fab_status channels_post(run *r, uint32_t stage, run_channel channel, const run_piece *piece, fab_error *err) {
    run_queue *q = run_queue_of(r, stage, channel);
    double start = piece_start_s(q, piece);
    bool shares = r->shares && piece->uses_network && piece->total_s > 0;
    if (q->head == FAB_NO_PIECE && !shares && start < INFINITY) {
        begin_piece(q, piece, start);
        return end_piece(r, stage, q, piece, start + piece->total_s, err);
    }
    uint32_t at = r->unused;
    if (at == FAB_NO_PIECE) {
        FAB_PASS(FAB_GROW(r->piece, r->piece_capacity, r->n_pieces + 1, err));
        at = (uint32_t)r->n_pieces++;
    } else {
        r->unused = r->piece[at].next;
    }
    r->piece[at] = *piece;
    r->piece[at].uses_network = shares;
    r->piece[at].next = FAB_NO_PIECE;
    *(q->head == FAB_NO_PIECE ? &q->head : &r->piece[q->tail].next) = at;
    q->tail = at;
    return FAB_OK;
}

static double queue_next_s(const run *r, const run_queue *q) {
    if (q->head == FAB_NO_PIECE) {
        return INFINITY;
    }
    return q->active ? q->seen_s + q->left_s * q->slow : piece_start_s(q, &r->piece[q->head]);
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

fab_status channels_advance(run *r, uint32_t stage, run_channel channel, double now, fab_error *err) {
    run_queue *q = run_queue_of(r, stage, channel);
    const uint32_t at = q->head;
    const run_piece piece = r->piece[at];
    q->active = !q->active;
    if (q->active) {
        begin_piece(q, &piece, now);
        q->left_s = piece.total_s;
        q->seen_s = now;
        q->slow = 1;
    } else {
        q->head = piece.next;
        r->piece[at].next = r->unused;
        r->unused = at;
    }
    if (piece.uses_network) {
        count_active(r, stage, &piece, q->active);
        rate_again(r, stage, now);
    }
    return q->active ? FAB_OK : end_piece(r, stage, q, &piece, now, err);
}
