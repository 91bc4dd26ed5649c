/** Builds, prices and replays a design at every value of one or two of its parameters. */
#pragma once

#include "fab/analysis.h"
#include "fab/relocate.h"
#include "fab/sweep.h"

typedef struct fab_design fab_design;

/**
 * Reads the design of a point.
 * @param[in] overrides  n texts `path=value`, to be laid over everything else.
 */
typedef fab_status fab_sweep_read(const void *context, const char *const *overrides, size_t n, fab_design *out,
                                  fab_error *err);

typedef struct fab_sweep_request {
    const char *path[FAB_SWEEP_PATHS]; /**< as fab_design_read() takes them */
    const char *const *values[FAB_SWEEP_PATHS];
    size_t n_values[FAB_SWEEP_PATHS];
    size_t n_paths;
    fab_sweep_read *read;
    const void *read_context;
    const char *traffic; /**< as for fab_traffic_make */
    uint64_t seed;
    uint64_t n_seeds; /**< 0: FAB_VERDICT_SEEDS where paths are drawn, few enough of them; else one */
    size_t n_threads;
    bool places_pattern;   /**< the traffic is a pattern, and goes by the placement of the design's job */
    const char *scenarios; /**< histories of failures, for goodput (goodput_run.h); NULL: none */
    fab_policy policy;     /**< in them */
    bool compares_designs; /**< values are designs: also verdicts, and what differs between them */
    uint64_t most_routed;  /**< GPUs times plans, by searches for plans that nobody asked for; 0: as a run */
    bool looks_for_plan;   /**< whether sizes that are given are slower than a plan, at the first point */
    /** Before a point is evaluated; its refusal stands in the place of the point. Of SIZE_MAX: before one tries a plan
     * that another runs, which is left out where it refuses. May be NULL. */
    fab_status (*start)(void *context, size_t point, fab_error *err);
    void *start_context;
    size_t n_before, n_all; /**< of one point: those before it, and all; 0: there is no other */
    void (*progress)(void *context, double done, size_t total); /**< in points; may be NULL */
    void *progress_context;
} fab_sweep_request;

/**
 * Evaluates one point after the other; within a point, phases, engines and seeds run over the threads. One fabric is in
 * memory at a time. A point whose design is refused, or whose traffic cannot be routed, keeps the error and does not
 * end the sweep.
 * @param[out] out  Written on success only; free with fab_sweep_free().
 * @retval FAB_EINPUT, FAB_EUNSUPPORTED, FAB_ELIMIT, FAB_EUNREACHABLE, FAB_ENOSOLUTION  of the first point, where none
 * was evaluated
 * @retval FAB_EUSAGE  more than FAB_SWEEP_POINTS points
 * Complexity: points x (build + replay). The same for any number of threads.
 */
FAB_STATUS fab_sweep_run(const fab_sweep_request *request, fab_sweep **out, fab_error *err);

/**
 * Evaluates one design as a point; the value of no path is set.
 * @param[out] out  Written on success only; release with fab_sweep_point_release().
 */
FAB_STATUS fab_sweep_evaluate(const fab_sweep_request *request, const fab_design *design, fab_sweep_point *out,
                              fab_error *err);

/** What an engine's part of a result comes to; phases that are alternatives of each other have no sum. */
void fab_sweep_keep_engine(const fab_result *result, size_t e, fab_sweep_engine *out);

/** Keeps a refusal (fab_is_refusal()) in the point, which is FAB_OK then; another error goes to `err` and is returned.
 */
fab_status fab_sweep_keep_error(fab_status status, const fab_error *error, fab_sweep_point *point, fab_error *err);

void fab_sweep_point_release(fab_sweep_point *point);

/**
 * Fills slowdown and is_on_front of all points. Figures closer than 1e-9 of each other are equal, so that
 * rounding decides nothing; equal points are on the front together. Engines are compared by their place in the list.
 * Complexity: O(points^2 engines).
 */
void fab_sweep_rank(fab_sweep *sweep);

void fab_sweep_free(fab_sweep *sweep);
FAB_OWNER(fab_sweep, fab_sweep_free)

/**
 * Fills the verdicts of all engines, once the points are ranked, and leaves of every point's settings what another has
 * not.
 * Complexity: O(points x engines + length of the settings x points).
 */
FAB_STATUS fab_sweep_compare(fab_sweep *sweep, fab_error *err);
