/** Times of phases, each found once however many jobs have it, and iterations of them: for searches. */
#pragma once

#include "fab/phase_transfer.h"
#include "fab/result.h"

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
    uint32_t most_simulated; /**< that of the scratches */
} fab_timed_memo;

void fab_timed_memo_release(fab_timed_memo *memo);

/**
 * What the phases of a context take that are in an iteration; those of fab_transfer_is_known() engines.
 * @param[in]  context    All contexts of a memo have the same fabric, engine and seed.
 * @param[in]  n_threads  The same in all calls with a memo.
 * @param[out] out  Shape [phases of the traffic]: valid until the next call; none of a phase that is in no iteration.
 */
FAB_STATUS fab_time_phases(fab_timed_memo *memo, const fab_context *context, size_t n_threads, bool wants_time,
                           fab_timed_place *out, fab_error *err);

/** Seconds of a phase like it, or what its fullest link takes. */
double fab_timed_s(const fab_timed_phase *timed, const fab_phase *phase, bool is_bound);

/**
 * The iteration of a context's job, as a replay of one seed has it, up to rounding.
 * @param[in] about  Its spec, counts and cost are read. Borrowed.
 * Errors of fab_iterate(), and of what routes.
 */
FAB_STATUS fab_timed_iteration(fab_timed_memo *memo, const fab_context *context, size_t n_threads,
                               fab_fabric_result *about, fab_iteration *out, fab_error *err);
