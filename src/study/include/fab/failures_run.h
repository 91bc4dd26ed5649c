/** One set of failures, and what policies of reallocation make of it. */
#pragma once

#include "fab/analysis.h"
#include "fab/failures.h"
#include "fab/relocate.h"

typedef struct fab_failures_request {
    const fab_context *context; /**< design, fabric, traffic, engines and the first seed */
    uint64_t n_seeds;           /**< that times are means over; 0 is 1. What is held open (what_if.h) has one */
    const char *const *failed;  /**< shape [n_failed]: as fab_component_parse() reads them */
    size_t n_failed;
    const fab_policy *policies; /**< shape [n_policies]; n_policies = 0: all that the design allows */
    size_t n_policies;
} fab_failures_request;

/**
 * Routes all phases with what has failed, once per engine and policy. An engine that cannot say what happens (a flow
 * that it spreads over planes has lost one) has a note instead. Phases of more than 2^23 paths are left out, and named.
 * @retval FAB_EINPUT        no such component
 * @retval FAB_EUNSUPPORTED  same-rack without a floor plan; a scale-up domain is to fail as one
 * Complexity: by seed, a baseline per phase and engine; policies as fab_relocate().
 */
FAB_STATUS fab_failures_run(const fab_failures_request *request, fab_failures **out, fab_error *err);

/**
 * The serving job of `result` on the replicas that every policy leaves, at the requests that come to the healthy
 * fabric: fills `serving` of the policies. Nothing where the result has no serving job with times.
 * Complexity: per engine and policy, requests of fab_serving_wait().
 */
FAB_STATUS fab_failures_serve(const fab_traffic *traffic, const fab_result *result, fab_failures *failures,
                              fab_error *err);

void fab_failures_free(fab_failures *failures);
FAB_OWNER(fab_failures, fab_failures_free)
