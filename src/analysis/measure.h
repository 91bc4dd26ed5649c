/**
 * @file measure.h
 * Routes of one phase, engine and seed to figures.
 */
#ifndef FAB_MEASURE_H
#define FAB_MEASURE_H

#include "fab/analysis.h"

/** A phase ready to be measured: what does not depend on the engine. */
typedef struct fab_subject {
    const fab_traffic *traffic;
    const fab_phase *phase;
    double *rate;  /**< shape [n_flows]: offered rate */
    double *spray; /**< shape [n_links]: utilisation under ideal spray */
} fab_subject;

/** Offered rates and ideal spray of a phase. Release with fab_subject_release(). */
fab_status fab_subject_init(const fab_fabric *fabric, const fab_next_hops *next_hops, const fab_traffic *traffic,
                            const fab_phase *phase, fab_subject *out, fab_error *err) FAB_MUST_USE;
void fab_subject_release(fab_subject *subject);

/** Figures of one draw. */
typedef struct fab_sample {
    double collided_links, collided_flows, max_collision, mean_collision, max_taper, max_hash, max_utilisation,
        effective_bisection;
} fab_sample;

/**
 * Figures of one draw. Overwrites `use` (shape [n_links]) with the utilisation of every link.
 * @retval FAB_EINTERNAL  the loads are not conserved.
 */
fab_status fab_measure(const fab_fabric *fabric, const fab_subject *subject, const fab_routes *routes, bool bisection,
                       double *use, fab_sample *out, fab_error *err) FAB_MUST_USE;

/** The same as a mean over the rounds in which queue pairs take turns; `use` and `scratch` are left as the first round
 * has them. */
fab_status fab_measure_rounds(const fab_fabric *fabric, const fab_subject *subject, const fab_routes *routes,
                              uint32_t n_rounds, bool bisection, fab_routes *scratch, double *use, fab_sample *out,
                              fab_error *err) FAB_MUST_USE;

/**
 * Load tables and hot links of the draw whose utilisation is `use`.
 * @param[in] at_once  The paths in use at the same time: `routes`, or those of the first round.
 */
fab_status fab_measure_detail(const fab_fabric *fabric, const fab_subject *subject, const fab_routes *routes,
                              const fab_routes *at_once, const double *use, bool keep_loads, fab_engine_result *out,
                              fab_error *err) FAB_MUST_USE;

/**
 * Next hops that switches use, by boundary, and whether hashes polarize. Needs the rows of fab_measure_detail().
 * Complexity: O(sum of route lengths * next hops of a switch).
 */
fab_status fab_measure_next_hops(const fab_fabric *fabric, const fab_router *router, const fab_routes *routes,
                                 fab_engine_result *out, fab_error *err) FAB_MUST_USE;

/** What the phase is, and what the design itself does to it; crossings are read off the routes of any engine. */
void fab_measure_phase(const fab_fabric *fabric, const fab_subject *subject, const fab_routes *routes,
                       fab_phase_result *out);

#endif
