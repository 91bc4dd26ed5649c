/**
 * @file replay.h
 * Every phase of the traffic under every engine: loads, collisions, rates and times.
 */
#ifndef FAB_REPLAY_H
#define FAB_REPLAY_H

#include "fab/context.h"
#include "fab/result.h"

/**
 * Load of every directed link when each flow follows its routes, its amount split evenly over its paths:
 *     load[l] = sum over flows f and paths p of f with l in p of amount[f] / (paths of f)
 * @param[in]  amount    Shape [n_flows]: bytes or an offered rate.
 * @param[out] out_load  Shape [n_links], overwritten.
 * Complexity: O(sum of route lengths + links).
 */
void fab_route_load(const fab_fabric *fabric, const fab_routes *routes, const double *amount, double *out_load);

/**
 * Checks that loads are conserved: every switch and domain sends what it receives; NIC - leaf links carry what enters
 * the network, and as much leaves it.
 * @retval FAB_EINTERNAL  names the node and both sums.
 */
fab_status fab_check_conservation(const fab_fabric *fabric, const double *load, fab_error *err) FAB_MUST_USE;

/** Distribution of n > 0 samples; sorts them. */
void fab_stat_of(double *samples, size_t n, fab_stat *out);

/**
 * Quantiles of n > 0 samples, by nearest rank as those of fab_stat_of(): the smallest sample that at least the fraction
 * q of the samples do not exceed; `falling`: the largest that at least that fraction reach. Reorders the samples.
 * @param[in]  q    Shape [n_q], 0 to 1.
 * @param[out] out  Shape [n_q].
 * Complexity: O(n) per quantile, expected.
 */
void fab_quantiles(double *samples, size_t n, bool falling, const double *q, size_t n_q, double *out);

/** 97.5 % quantile of Student's t. */
double fab_student_t(size_t degrees);

/** Paths that are kept while a phase is measured; more are routed twice, a chunk at a time. */
#define FAB_WHOLE_PATHS (UINT64_C(1) << 23)

/** What to replay. */
typedef struct fab_replay {
    const fab_context *context; /**< design, fabric, traffic, engines and the first seed. Borrowed */
    uint64_t n_seeds;
    size_t n_threads;
    uint64_t whole_paths; /**< phases of more paths are routed twice, a chunk at a time; 0: FAB_WHOLE_PATHS. No load and
                             no collision depends on it; lengths of paths and dependencies are then those of all minimal
                             paths */
    bool bound;           /**< find the optimum of every phase */
    bool rates;           /**< find rates and times */
    bool keep_flows;      /**< with rates: fill flows of the first seed */
    bool keep_routes;     /**< with keep_flows: fill route_first and route */
    bool keep_loads;      /**< fill load_bytes and utilisation of the first seed */
    uint64_t keep_seeds;  /**< with keep_loads: fill more_utilisation of the seeds up to this one, taper_ratio and
                             block_bytes; 0: none of them */
    bool keep_draws;      /**< fill draws */
    /** Items done, of phases in chunks also parts of one. May be NULL; called from one thread at a time. */
    void (*progress)(void *context, double done, size_t total);
    void *progress_context;
} fab_replay;

/**
 * Routes every phase under every engine for every seed, and measures. The same for any number of threads.
 * @param[in,out] result  phases, n_phases and traffic are filled.
 */
fab_status fab_replay_run(const fab_replay *replay, fab_result *result, fab_error *err) FAB_MUST_USE;

#endif
