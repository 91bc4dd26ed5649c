/**
 * @file pipeline_run.h
 * A pipeline while it runs, and the channels of its stages: what travels one after the other. Channels that are in use
 * at the same moment at a stage slow each other down.
 */
#ifndef FAB_PIPELINE_RUN_H
#define FAB_PIPELINE_RUN_H

#include "pipeline_order.h"

/** Which communication takes time. */
typedef struct run_with {
    bool sends, replicas;
} run_with;

typedef enum run_channel { CHANNEL_FORWARD, CHANNEL_BACKWARD, CHANNEL_REPLICAS, N_CHANNELS } run_channel;

/** What the end of a transfer means. */
typedef enum run_effect {
    EFFECT_NONE,
    EFFECT_INPUT,      /**< a pass of another stage has its input; after the first part, the sender computes on */
    EFFECT_PARAMETERS, /**< those of a chunk are there; after the first part, its first bucket */
    EFFECT_FREE        /**< the stage, which has waited, computes on */
} run_effect;

/** An operation of a channel. Alone it takes total_s. */
typedef struct run_transfer {
    fab_op_kind kind;
    run_effect effect;
    uint32_t chunk, microbatch;
    double release_s;       /**< not before */
    double total_s;         /**< alone */
    double first_s, last_s; /**< parts of it, at its begin and at its end */
    double last_release_s;  /**< the last part not before; 0: whenever */
    double latency_s;       /**< its end, in which it shares with nobody */
    uint32_t next;          /**< in its queue */
} run_transfer;

/** The first of the queue may be under way: it has lost lost_s until seen_s, and takes `slow` times as long since. */
typedef struct run_queue {
    uint32_t head, tail; /**< of run.transfer; FAB_NO_TRANSFER: empty */
    bool active, held;   /**< held: it waits for its last part */
    bool has_first;      /**< its first part is through */
    bool is_quiet;       /**< it is in its latency */
    double end_s;        /**< of the one before */
    double start_s, lost_s, seen_s, slow;
} run_queue;

#define FAB_NO_TRANSFER UINT32_MAX

/** What is under way at a stage; a send is at both its ends. */
typedef struct run_active {
    uint32_t sends, gathers, reductions;
} run_active;

/** What a stage does next. */
typedef enum run_state { STATE_STEP, STATE_PASS, STATE_REDUCE } run_state;

typedef struct run {
    const fab_pipeline *p;
    const fab_step_of_stage *step; /**< shape [stage][steps] */
    size_t n_steps;
    run_with with;
    bool shares;           /**< sends and replicas slow each other down */
    size_t *next;          /**< shape [stage]: step to take */
    uint8_t *state;        /**< shape [stage]: run_state */
    bool *waits;           /**< shape [stage]: for a transfer of its own */
    uint32_t *closing;     /**< shape [stage]: chunks to reduce after the last step */
    double *free_s;        /**< shape [stage]: computes nothing from then on */
    double *gathered_s;    /**< shape [stage][chunk][2]: its first and its last bucket are there; INFINITY: not yet */
    double *arrived_s;     /**< shape [2][stage][chunk][microbatch]: what a pass waits for; INFINITY: not yet */
    uint32_t *open_passes; /**< shape [stage][chunk]: until the gradients of the chunk are complete */
    double *key_s; /**< tournament of when stages have something to do: [1] the earliest, leaves from n_leaves */
    size_t n_leaves;
    run_queue *queue;   /**< shape [stage][N_CHANNELS] */
    run_active *active; /**< shape [stage] */
    run_transfer *transfer;
    size_t n_transfers, transfer_capacity;
    uint32_t unused; /**< list of transfers */
    fab_op *op;      /**< NULL: not kept */
    size_t n_ops;
} run;

static inline run_queue *run_queue_of(const run *r, uint32_t stage, run_channel channel) {
    return &r->queue[(size_t)stage * N_CHANNELS + channel];
}

/** Where the pass of a microbatch through a chunk looks for its input. */
static inline double *run_input_of(const run *r, bool backward, uint32_t stage, uint32_t chunk, uint32_t microbatch) {
    const fab_pipeline *p = r->p;
    size_t row = ((size_t)(backward ? p->n_stages : 0) + stage) * p->n_chunks + chunk;
    return &r->arrived_s[row * p->n_microbatches + microbatch];
}

static inline uint32_t run_neighbour(const run *r, uint32_t stage, bool before) {
    return (stage + (before ? r->p->n_stages - 1 : 1)) % r->p->n_stages;
}

/** Everything idle at 0. */
void channels_clear(run *r);

/** Puts a transfer at the end of a channel's queue. What shares with nobody is through at once: its effects are times,
 * which may be later. */
fab_status channels_post(run *r, uint32_t stage, run_channel channel, const run_transfer *transfer,
                         fab_error *err) FAB_MUST_USE;

/** When something happens next in a channel of the stage. INFINITY: nothing is under way. */
double channels_next_s(const run *r, uint32_t stage, run_channel *out);

/** Lets it happen, at that time. It may concern the stages beside. */
void channels_advance(run *r, uint32_t stage, run_channel channel, double now);

#endif
