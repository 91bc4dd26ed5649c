/**
 * A job held open for one set of failures after the other: what fab_failures_run() answers, without opening it anew,
 * and the links and flows behind the answer. For front ends in which somebody breaks and repairs parts.
 */
#pragma once

#include "fab/evaluate.h"
#include "fab/failures_run.h"

typedef struct fab_what_if fab_what_if;

/**
 * Under all engines of the context.
 * @param[in] context  Borrowed, must outlive `out`.
 * Errors of fab_failures_run(). Complexity: a baseline per phase and engine.
 */
FAB_STATUS fab_what_if_open(const fab_context *context, fab_what_if **out, fab_error *err);

/** NULL is fine. */
void fab_what_if_close(fab_what_if *what_if);
FAB_OWNER(fab_what_if, fab_what_if_close)

/**
 * What fab_failures_run() says, to the bit.
 * @param[in]  request  Its context is that of fab_what_if_open(); n_failed = 0: the healthy fabric.
 * @param[out] out      Until the next call that succeeds. After an error the answer before stands, but links and flows
 *                      are not known until another call succeeds.
 * Complexity: what the failures touch, and O(links) per phase and policy.
 */
FAB_STATUS fab_what_if_ask(fab_what_if *what_if, const fab_failures_request *request, const fab_failures **out,
                           fab_error *err);

/** fab_failures_serve() of the answer. */
FAB_STATUS fab_what_if_serve(fab_what_if *what_if, const fab_result *result, fab_error *err);

const fab_fabric *fab_what_if_fabric(const fab_what_if *what_if);

/** Which racks can fail; n_racks = 0: there is no floor plan. */
const fab_racks *fab_what_if_racks(const fab_what_if *what_if);

/**
 * What the answer is of, under the last engine and the last policy: where those do without replicas of a serving job,
 * without their flows. Its phases are those of the answer. Until the next call of fab_what_if_ask().
 */
const fab_traffic *fab_what_if_traffic(const fab_what_if *what_if);

/** Shapes [n_links]; until the next call of fab_what_if_ask(). */
typedef struct fab_what_if_links {
    const double *capacity_bps; /**< of network links, 0 of others */
    const double *residual;     /**< fraction of it */
    const double *load_bps;     /**< offered rates */
    const double *healthy_bps;  /**< where nothing has failed */
} fab_what_if_links;

/** Of a phase of the answer, under the last engine and the last policy that was asked for. */
void fab_what_if_loads(const fab_what_if *what_if, size_t phase, fab_what_if_links *out);

/**
 * Flows of a phase of fab_what_if_traffic(), under the last engine and the last policy that was asked for.
 * @param[out] out  Release with fab_state_flows_release().
 * Errors and complexity of fab_evaluate_flows().
 */
FAB_STATUS fab_what_if_flows(fab_what_if *what_if, size_t phase, fab_state_flows *out, fab_error *err);
