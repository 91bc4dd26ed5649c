/** How long a phase takes on the healthy fabric, and nothing else of it: for searches that look at many phases. */
#pragma once

#include "fab/context.h"

/** Routes of a phase. */
typedef struct fab_routed {
    fab_routes routes;
    uint64_t hash[2]; /**< of what they were found for; 0: not known */
} fab_routed;

/** Memory of one thread. Zero-initialised; release with fab_transfer_scratch_release(). */
typedef struct fab_transfer_scratch {
    fab_routed kept[2]; /**< of the phases that were routed last, the last one first */
    double *rate;
    size_t rate_capacity;
    uint32_t most_simulated; /**< paths of a phase: where more have to be, it is FAB_ETIME; 0: any number may */
} fab_transfer_scratch;

void fab_transfer_scratch_release(fab_transfer_scratch *scratch);

/**
 * Where a phase of a context begins with all flows of a phase whose routes the scratch has, under the same router: the
 * rest of its flows is routed too. Not for engines that take whole phases.
 */
FAB_STATUS fab_transfer_go_on(const fab_context *context, size_t engine, fab_transfer_scratch *scratch, fab_error *err);

typedef struct fab_transfer {
    double fullest_s;  /**< of the fullest link, those inside servers included: a lower bound of transfer_s */
    double transfer_s; /**< where it was asked for */
    double path_s;     /**< latency of the slowest path; below 0: no path leaves its scale-up domain */
} fab_transfer;

/**
 * Whether fab_phase_transfer() knows all phases of the traffic under the engine: they have paths that are kept whole
 * and used at once, without packets.
 */
FAB_STATUS fab_transfer_is_known(const fab_context *context, size_t engine, bool *out, fab_error *err);

/**
 * Routes a phase as a replay does. Its time comes from two bounds, and from a simulation where they do not agree: that
 * of a replay up to rounding (fab_estimator_read()).
 * @param[in]  wants_time  Else transfer_s stays 0.
 * @param[out] bytes       Shape [n_links]: over every link; the caller's.
 * Complexity: O(sum of route lengths). Threads: calls with different scratches are safe.
 */
FAB_STATUS fab_phase_transfer(const fab_context *context, size_t engine, size_t phase, bool wants_time,
                              fab_transfer_scratch *scratch, double *bytes, fab_transfer *out, fab_error *err);
