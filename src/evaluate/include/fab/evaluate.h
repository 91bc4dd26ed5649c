/**
 * A phase routed by an engine in a state: the one way from there to routes, loads, rates and times. Every command is a
 * loop over fab_evaluate(). See src/doc/adr/0052-evaluator.md.
 */
#pragma once

#include "fab/context.h"
#include "fab/dependencies.h"
#include "fab/figures.h"
#include "fab/phase_estimator.h"
#include "fab/result.h"
#include "fab/state.h"
#include "fab/trace.h"

/** Whom, and where. */
typedef struct fab_case {
    size_t phase, engine;
    uint64_t draw;          /**< 0, 1, ...: added to the seed of the context, or of the engine where it has its own */
    const fab_state *state; /**< NULL: the healthy fabric */
} fab_case;

/** What is wanted; may be combined. */
typedef enum fab_need {
    FAB_NEED_LOADS = 1 << 0,       /**< out->loads: what links are offered, and what the state changed */
    FAB_NEED_TIME = 1 << 1,        /**< out->time: how long the phase takes; nothing is lost in this state */
    FAB_NEED_FIGURES = 1 << 2,     /**< out->figures: collisions, utilisation; bytes and utilisation of links */
    FAB_NEED_RATES = 1 << 3,       /**< with FIGURES: max-min fair rates, and the time that the flows take */
    FAB_NEED_GAP = 1 << 4,         /**< with FIGURES: distance to the certified optimum */
    FAB_NEED_FLOWS = 1 << 5,       /**< with RATES and a detail: rates of every flow there */
    FAB_NEED_PATHS = 1 << 6,       /**< with FLOWS: and its links */
    FAB_NEED_ENDS = 1 << 7,        /**< with TIME: when every flow ends, to needs->ends_s */
    FAB_NEED_LINKS_ALONE = 1 << 8, /**< with FIGURES: phases in chunks are routed once, and figures of single flows
                                      (mean_collision, collided_flows, whose flows are hot, use of next hops) left out
                                    */
    FAB_NEED_LAST_ALONE = 1 << 9 /**< with RATES: when the last flow is done; of equal flows no rates, which are NAN */
} fab_need;

/** What is wanted, where to, and what it may take. */
typedef struct fab_needs {
    unsigned what;                  /**< of fab_need */
    fab_engine_result *detail;      /**< with FIGURES: gets load tables, hot links, paths; NULL: not wanted */
    fab_dependencies *dependencies; /**< with detail: those of the routes are added; NULL: not wanted */
    const fab_trace *trace;         /**< with RATES: when flows end, what groups of them put on links; NULL */
    struct fab_proof *proof;        /**< with RATES: lines of a certificate (measure/proof.h); NULL */
    double *ends_s;                 /**< with ENDS: shape [n_flows], all bytes of an iteration; the caller's */
    uint64_t kept_paths; /**< phases of more paths are routed a chunk at a time; 0: FAB_KEPT_PATHS (loads.h) */
    size_t n_threads;    /**< that may be used; 0 counts as 1 */
    bool fluid;          /**< with RATES: by fair shares, whatever the design's transport is */
    bool repeats;        /**< under a transport of packets: phases like this one come before or behind it */
    /** After each of `n` parts of equal work, by the thread that did it: others may call at the same time. NULL: not
     * wanted */
    void (*advance)(void *context, uint64_t n);
    void *advance_context;
} fab_needs;

/** What came of it. Pointers are into the workspace, valid until the next call with it. */
typedef struct fab_evaluated {
    const fab_rerouted *loads;
    fab_phase_seconds time;
    fab_figures figures;
    const double *bytes, *utilisation; /**< with FIGURES: shape [n_links] */
} fab_evaluated;

/** Memory of one thread, kept from call to call. */
typedef struct fab_workspace fab_workspace;

/** @param[in] context  Borrowed, must outlive `out`. */
FAB_STATUS fab_workspace_new(const fab_context *context, fab_workspace **out, fab_error *err);
void fab_workspace_free(fab_workspace *workspace);
FAB_OWNER(fab_workspace, fab_workspace_free)

/**
 * Evaluates a phase of the workspace's context under an engine in a state.
 *
 * Whether everything is routed anew or only what a change touches, and whether rates are solved or bounds meet before,
 * is decided here: the bytes are those of the whole computation. Phases that are duplicates of each other, and needs
 * of the same case in several calls, share what was found. The traffic is that of the case's draw.
 * @param[out] out  Parts that were not asked for are zero.
 * @retval FAB_EUNSUPPORTED  figures in a state that is not healthy; times of queue pairs that take turns, or of a phase
 *                           too large to be solved; what fab_reroute_apply() does not know of
 * Errors of what routes, measures and solves, and of what builds the parts of the context.
 * Complexity: loads as fab_reroute_migrated(), times as fab_estimator_read(), figures O(sum of route lengths), rates
 * those of the solver. Threads: concurrent calls with different workspaces are safe; the same bytes in any order.
 */
FAB_STATUS fab_evaluate(fab_workspace *workspace, const fab_case *at, const fab_needs *needs, fab_evaluated *out,
                        fab_error *err);

/**
 * Routes and rates of all flows of a phase in a state, those of fair shares whatever the transport is.
 * @param[out] out  Release with fab_state_flows_release().
 * @retval FAB_EUNSUPPORTED  the engine splits flows over all paths, or queue pairs take turns
 * Threads: as fab_evaluate().
 */
FAB_STATUS fab_evaluate_flows(fab_workspace *workspace, const fab_case *at, fab_state_flows *out, fab_error *err);

/**
 * The time alone of a phase in a state in which ranks have moved, where it follows from the last state of this kind:
 * what fab_evaluate() gives, to the bit, at the cost of what has changed since.
 * @param[out] out         Written where it is known.
 * @param[out] out_answer  Unknown where bounds on the time do not agree, where links carry what has no exact sum, and
 *                         for engines and transports whose paths depend on each other.
 * Threads: as fab_evaluate().
 */
FAB_STATUS fab_evaluate_incremental(fab_workspace *workspace, const fab_case *at, fab_phase_seconds *out,
                                    fab_known *out_answer, fab_error *err);
