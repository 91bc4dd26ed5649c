/**
 * @file timed_phases.h
 * Times of phases, each found once however many jobs have it, and iterations of them: for searches.
 */
#pragma once

#include "fab/context.h"
#include "fab/result.h"

/** Memory of one thread. Zero-initialised; release with fab_transfer_scratch_release(). */
typedef struct fab_transfer_scratch {
    fab_routes routes;
    uint64_t routed[2]; /**< hash of what `routes` were found for; 0: not known */
    double *rate;
    size_t rate_capacity;
} fab_transfer_scratch;

void fab_transfer_scratch_release(fab_transfer_scratch *scratch);

typedef struct fab_transfer {
    double fullest_s;  /**< of the fullest link, those inside servers included: a lower bound of transfer_s */
    double transfer_s; /**< where it was asked for */
    double path_s;     /**< latency of the slowest path; below 0: no path leaves its scale-up domain */
} fab_transfer;

/**
 * Whether fab_phase_transfer() knows all phases of the traffic under the engine: they have paths that are kept whole
 * and used at once, without packets.
 */
fab_status fab_transfer_is_known(const fab_context *context, size_t engine, bool *out, fab_error *err) FAB_MUST_USE;

/**
 * Routes a phase as a replay does. Its time comes from two bounds, and from a simulation where they do not agree: that
 * of a replay up to rounding (fab_estimator_read()).
 * @param[in]  wants_time  Else transfer_s stays 0.
 * @param[out] bytes       Shape [n_links]: over every link; the caller's.
 * Complexity: O(sum of route lengths). Threads: calls with different scratches are safe.
 */
fab_status fab_phase_transfer(const fab_context *context, size_t engine, size_t phase, bool wants_time,
                              fab_transfer_scratch *scratch, double *bytes, fab_transfer *out,
                              fab_error *err) FAB_MUST_USE;

/** A phase under the first engine: the healthy fabric, one seed. */
typedef struct fab_timed_phase {
    fab_phase of; /**< owned: what tells one from another */
    fab_transfer found;
    bool is_found, has_time, is_open;
    double *bytes; /**< shape [n_links] */
} fab_timed_phase;

typedef struct fab_timed_place {
    fab_timed_phase *phase; /**< NULL: none */
} fab_timed_place;

/** Zero-initialised; release with fab_timed_memo_release(). */
typedef struct fab_timed_memo {
    fab_timed_place *timed; /**< oldest first */
    size_t n, capacity;
    fab_transfer_scratch *scratch; /**< shape [n_scratches]: of threads */
    size_t n_scratches;
} fab_timed_memo;

void fab_timed_memo_release(fab_timed_memo *memo);

/**
 * What the phases of a context take that are in an iteration; those of fab_transfer_is_known() engines.
 * @param[in]  context    All contexts of a memo have the same fabric, engine and seed.
 * @param[in]  n_threads  The same in all calls with a memo.
 * @param[out] out  Shape [phases of the traffic]: valid until the next call; none of a phase that is in no iteration.
 */
fab_status fab_time_phases(fab_timed_memo *memo, const fab_context *context, size_t n_threads, bool wants_time,
                           fab_timed_place *out, fab_error *err) FAB_MUST_USE;

/** Seconds of a phase like it, or what its fullest link takes. */
double fab_timed_s(const fab_timed_phase *timed, const fab_phase *phase, bool is_bound);

/**
 * The iteration of a context's job, as a replay of one seed has it, up to rounding.
 * @param[in] about  Its spec, counts and cost are read. Borrowed.
 * Errors of fab_iterate(), and of what routes.
 */
fab_status fab_timed_iteration(fab_timed_memo *memo, const fab_context *context, size_t n_threads,
                               fab_fabric_result *about, fab_iteration *out, fab_error *err) FAB_MUST_USE;
