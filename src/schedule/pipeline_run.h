/**
 * A pipeline while it runs, and the channels of its stages: what goes on one after the other. Channels that use the
 * network at the same moment at a stage slow each other down.
 */
#pragma once

#include "pipeline_order.h"

/** Of two times, neither NAN: as fmax() and fmin(), which are calls. */
static inline double later_of(double a, double b) {
    return a > b ? a : b;
}
static inline double earlier_of(double a, double b) {
    return a < b ? a : b;
}

/** Which communication takes time. */
typedef struct run_with {
    bool sends, replicas;
} run_with;

typedef enum run_channel { CHANNEL_PASS, CHANNEL_FORWARD, CHANNEL_BACKWARD, CHANNEL_REPLICAS, N_CHANNELS } run_channel;

/** What the end of a piece means. */
typedef enum run_effect {
    EFFECT_NONE,
    EFFECT_FREE,       /**< the stage, which has waited, goes on */
    EFFECT_INPUT,      /**< a pass of another stage has its input */
    EFFECT_PARAMETERS, /**< the first bucket of a gather is there */
    EFFECT_GATHERED,   /**< all of it is */
    EFFECT_GRADIENTS,  /**< the first bucket of a pass's gradients is complete */
    EFFECT_PASS        /**< a pass is through */
} run_effect;

/** A piece of an operation, between two moments that mean something. Alone it takes total_s. */
typedef struct run_piece {
    fab_op_kind kind;
    run_effect effect;
    bool uses_network; /**< else it slows nobody down, and nobody it */
    bool is_last;      /**< of its operation */
    uint32_t chunk, microbatch;
    uint32_t slot;            /**< of a gather: in run.gathered_s of its stage */
    double total_s;           /**< alone */
    double release_s;         /**< not before */
    const double *not_before; /**< nor before this, which may become known later; NULL: no more */
    uint32_t next;            /**< in its queue */
} run_piece;

#define FAB_NO_PIECE UINT32_MAX

/** The first of the queue may be under way: left_s of it remained at seen_s, and take `slow` times as long. */
typedef struct run_queue {
    uint32_t head, tail; /**< of run.piece; FAB_NO_PIECE: empty */
    bool active;
    bool has_begun; /**< the operation of the head, at op_start_s */
    double op_start_s;
    double end_s; /**< of the piece before */
    double left_s, seen_s, slow;
} run_queue;

/** What is under way at a stage; a send is at both its ends. */
typedef struct run_active {
    uint32_t n[FAB_TRAVEL_N];     /**< of sends, gathers and reductions */
    bool passes;                  /**< a pass with exchanges: */
    double part[FAB_N_EXCHANGES]; /**< of it */
} run_active;

/** What a stage does next. */
typedef enum run_state { STATE_STEP, STATE_PASS, STATE_REDUCE } run_state;

/** A stage, and when it has something to do. */
typedef struct run_first {
    uint64_t when; /**< bits of the time */
    uint32_t stage;
} run_first;

typedef struct run {
    const fab_pipeline *p;
    fab_step_of_stage *step; /**< shape [stage][steps] */
    size_t n_steps;
    run_with with;
    bool shares;           /**< something may slow something down */
    size_t *next;          /**< shape [stage]: step to take */
    uint8_t *state;        /**< shape [stage]: run_state */
    bool *waits;           /**< shape [stage]: for a piece of its own */
    uint32_t *closing;     /**< shape [stage]: chunks to reduce after the last step */
    double *free_s;        /**< shape [stage]: computes nothing from then on */
    uint32_t n_slots;      /**< of gathers that may be under way or wait for their pass */
    double *gathered_s;    /**< shape [stage][n_slots][2]: its first and its last bucket are there; INFINITY: not yet */
    uint32_t *fetched;     /**< shape [stage]: passes whose parameters are asked for (every pass has its own) */
    uint32_t *used;        /**< shape [stage]: those that have begun */
    double *arrived_s;     /**< shape [2][stage][chunk][microbatch]: what a pass waits for; INFINITY: not yet */
    uint32_t *open_passes; /**< shape [stage][chunk]: until the gradients of the chunk are complete */
    run_first *first; /**< tournament of when stages have something to do: [1] the earliest, leaves from n_leaves */
    size_t n_leaves;
    double *channel_s;    /**< shape [stage]: when something happens next in one of its channels; INFINITY: nothing */
    run_channel *channel; /**< shape [stage]: in which */
    bool *is_stale;       /**< shape [stage]: something beside it has changed that */
    run_queue *queue;     /**< shape [stage][N_CHANNELS] */
    run_active *active;   /**< shape [stage] */
    run_piece *piece;
    size_t n_pieces, piece_capacity;
    uint32_t unused; /**< list of pieces */
    fab_op *op;      /**< NULL: not kept */
    size_t n_ops;
} run;

static inline run_queue *run_queue_of(const run *r, uint32_t stage, run_channel channel) {
    return &r->queue[(size_t)stage * N_CHANNELS + channel];
}

static inline uint32_t run_neighbour(const run *r, uint32_t stage, bool before) {
    const uint32_t last = r->p->n_stages - 1; /* no division, for this is asked all the time */
    return before ? (stage > 0 ? stage - 1 : last) : (stage < last ? stage + 1 : 0);
}

/** The parts of a pass that are exchanges of bytes, in pipeline.c. */
void run_pass_parts(const fab_pipeline *p, uint32_t stage, const run_piece *pass, double out[FAB_N_EXCHANGES]);

/** What the end of a piece does, in pipeline.c. */
FAB_STATUS run_take_effect(run *r, uint32_t stage, const run_piece *piece, double at, fab_error *err);

/** Everything idle at 0. */
void channels_clear(run *r);

/** Puts a piece at the end of a channel's queue. What shares with nobody is through at once: its effects are times,
 * which may be later. */
FAB_STATUS channels_post(run *r, uint32_t stage, run_channel channel, const run_piece *piece, fab_error *err);

/** When something happens next in a channel of the stage. INFINITY: nothing is under way. */
double channels_next_s(const run *r, uint32_t stage, run_channel *out);

/** Lets it happen, at that time. It may concern the stages beside. */
FAB_STATUS channels_advance(run *r, uint32_t stage, run_channel channel, double now, fab_error *err);

/** Everything but pieces, which come as they are needed; for run_close() also after an error. */
FAB_STATUS run_open(run *r, const fab_pipeline *p, fab_error *err);
void run_close(run *r);

/** The makespan of an opened run with this communication. Keeps operations in `op`, if not NULL. */
FAB_STATUS run_once(run *r, run_with with, fab_op *op, double *out_s, fab_error *err);
