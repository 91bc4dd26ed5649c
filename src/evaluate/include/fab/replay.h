/** Every phase of the traffic under every engine: loads, collisions, rates and times. */
#pragma once

#include "fab/context.h"
#include "fab/loads.h"
#include "fab/result.h"

/** What to replay. */
typedef struct fab_replay {
    const fab_context *context; /**< design, fabric, traffic, engines and the first seed. Borrowed */
    uint64_t n_seeds;
    size_t n_threads;
    uint64_t kept_paths; /**< phases of more paths are routed twice, a chunk at a time; 0: FAB_KEPT_PATHS. No load and
                             no collision depends on it; lengths of paths and dependencies are then those of all minimal
                             paths */
    bool bound;          /**< find the optimum of every phase */
    bool rates;          /**< find rates and times */
    bool times_only;  /**< no deadlocks (deadlock_free and dependencies stay 0), and of phases in chunks no figures of
                         single flows: FAB_NEED_LINKS_ALONE */
    bool last_alone;  /**< with rates: no deadlocks either, and no rates of equal flows: FAB_NEED_LAST_ALONE */
    bool fluid;       /**< by fair shares, whatever the design's transport is */
    bool keep_flows;  /**< with rates: fill flows of the first seed */
    bool keep_routes; /**< with keep_flows: fill route_first and route */
    bool keep_loads;  /**< fill load_bytes and utilisation of the first seed */
    uint64_t keep_seeds;  /**< with keep_loads: fill more_utilisation of the seeds up to this one, taper_ratio and
                             block_bytes; 0: none of them */
    bool keep_schedule;   /**< fill the schedule of iterations */
    bool keep_draws;      /**< fill draws */
    uint64_t trial_flows; /**< of fab_replay_trial_flows(), where the caller tries other engines on what collides: for
                             the estimate of memory; 0: it does not */
    /** Items done, of phases in chunks also parts of one. May be NULL; called from one thread at a time. */
    void (*progress)(void *context, double done, size_t total);
    void *progress_context;
} fab_replay;

/**
 * Routes every phase under every engine for every seed, and measures. The same for any number of threads.
 * @param[in,out] result  phases, n_phases and traffic are filled.
 */
FAB_STATUS fab_replay_run(const fab_replay *replay, fab_result *result, fab_error *err);

/**
 * Before a run: where a job leaves its chunks open, one seed with one chunk decides for how many of them the transfers
 * are, in everything that is said of the job. See src/doc/adr/0065-chunks-that-are-chosen.md.
 * @param[in]  result      Its fabrics are known.
 * @param[out] out_design  What the context stands on; the caller's, freed after it. NULL, as the next: nothing to
 * choose.
 * @param[out] out         In place of replay->context, which it has as base.
 */
FAB_STATUS fab_replay_choose_chunks(const fab_replay *replay, const fab_result *result, fab_design **out_design,
                                    fab_context **out, fab_error *err);

/** The same replay once more on something changed: without bound, loads, draws, flows and progress. */
static inline fab_replay fab_replay_for_times(const fab_replay *base) {
    fab_replay replay = *base;
    replay.bound = false;
    replay.rates = true;
    replay.keep_loads = false;
    replay.keep_seeds = 0;
    replay.keep_draws = false;
    replay.keep_flows = false;
    replay.progress = NULL;
    return replay;
}
