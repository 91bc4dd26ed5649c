/** Inside of context*.c and of what evaluates: the parts of a context. */
#pragma once

#include "measure/measure.h"

#include "fab/context_memory.h"
#include "fab/phase_estimator.h"
#include "fab/phase_transfer.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct fab_once {
    pthread_mutex_t lock;
    atomic_bool is_done;
    fab_status status;
    fab_error *error; /* NULL: none, or no memory for it */
    size_t n_builds;  /* 1, or 0 before */
} fab_once;

typedef fab_status fab_once_build(fab_context *context, size_t index, fab_error *err);

/** n of them. Zeroed memory is not enough: call this before anybody asks. */
void fab_once_init(fab_once *once, size_t n);
void fab_once_release(fab_once *once, size_t n);

/**
 * Calls `build` unless somebody did; who comes meanwhile waits. Returns what it returned, to everybody. What builds may
 * ask for other things, in an order without circles.
 */
FAB_STATUS fab_once_run(fab_once *once, fab_once_build *build, fab_context *context, size_t index, fab_error *err);

/* What is built once: of a context, of an engine, of a phase, and of a phase under an engine. */
enum { PART_SIZES, PART_NEXT_HOPS, PART_DAG, PART_PORTS, PART_INDEX, PART_TRAFFIC, PART_BASELINES, PART_N };
enum { ENGINE_ROUTER, ENGINE_INDEX, ENGINE_N };
enum { PHASE_OFFER, PHASE_DEMAND, PHASE_PREPARED, PHASE_BOUND, PHASE_DUPLICATE, PHASE_N };
enum { PAIR_BASELINE, PAIR_ESTIMATOR, PAIR_N };

/** An engine over the tables of the context. */
typedef struct context_engine {
    size_t of_base; /* engine of base that it is; SIZE_MAX: none */
    fab_once once[ENGINE_N];
    fab_router *router;
    fab_hops_index index; /* of next hops that the engine read from a file; else not built */
} context_engine;

/** A phase under any engine. */
typedef struct context_phase {
    fab_once once[PHASE_N];
    fab_offer offer;
    fab_demand demand;
    fab_prepared_phase prepared;
    fab_bound bound;
    size_t duplicate_of;
} context_phase;

/** A phase under an engine on the healthy fabric. */
typedef struct context_baseline {
    fab_once once[PAIR_N];
    fab_baseline *baseline;
    fab_estimator *estimator;
} context_baseline;

typedef struct context_parts {
    fab_once once[PART_N];
    fab_replay_sizes sizes;
    fab_next_hops *next_hops;
    fab_dag *dag;
    fab_ports ports;
    fab_hops_index index;
    fab_traffic made;
    const fab_traffic *traffic; /* made, given, or that of base */
    const fab_context *owner;   /* with `traffic`: whose phases these are */
    context_engine *engines;    /* [engine] */
    context_phase *phases;      /* [phase]; NULL where base has them */
    size_t n_phases;
    context_baseline *baselines; /* [engine][phase] */
    fab_transfer_scratch tried;  /* of the phases that were routed last when the chunks of this job were chosen */
} context_parts;

struct fab_context {
    fab_context_request what;
    context_parts *parts;
};

/** What does not depend on the engine, of the healthy fabric. */
FAB_STATUS fab_context_prepared(const fab_context *context, size_t phase, const fab_prepared_phase **out,
                                fab_error *err);

/** What masks of the fabric share, for the next hops that an engine chooses among. */
FAB_STATUS fab_context_index(const fab_context *context, size_t engine, const fab_hops_index **out, fab_error *err);

/** The estimator of a phase's time under an engine that does not split. Errors of fab_estimator_new(). */
FAB_STATUS fab_context_estimator(const fab_context *context, size_t engine, size_t phase, const fab_estimator **out,
                                 fab_error *err);

/** Counts of the fabric, for estimates. */
FAB_STATUS fab_context_sizes(const fab_context *context, const fab_replay_sizes **out, fab_error *err);

/* context_phases.c */
FAB_STATUS context_phases_init(fab_context *context, fab_error *err);
void context_phases_release(fab_context *context);

/* context_baselines.c */
void context_baselines_release(fab_context *context);
