/**
 * Permutations of parts under which the outcomes of failures stay what they are. See
 * src/doc/adr/0085-equal-failures.md.
 */
#pragma once

#include "fab/context.h"
#include "fab/graph_symmetry.h"
#include "fab/relocate.h"

/** What is to be looked at. */
typedef struct symmetry_request {
    const fab_context *context; /**< design, fabric, traffic, engines */
    const fab_policy *policies; /**< shape [n_policies] */
    size_t n_policies;
    const fab_component *part; /**< shape [n]: all of one kind, dead when they fail; links by one of their two ids */
    uint32_t n, k;             /**< parts; of a set */
    bool times;                /**< are looked at: cables of another length have another latency; loads know of none */
} symmetry_request;

/**
 * Permutations of the parts: a set of k of them and what any product of these makes of it have the same outcome under
 * every engine, but for the order in which floating-point numbers are added.
 * @param[out] out  Over 0 ... n - 1; release with fab_permutations_release().
 * @retval FAB_EUNSUPPORTED  an engine, policy, transport or kind of parts for which nothing is proven; the message says
 *                           which and what to do instead
 */
FAB_STATUS symmetry_find(const symmetry_request *request, fab_permutations *out, fab_error *err);

/** Of engines that split evenly, and of traffic for which no switch has a choice. */
FAB_STATUS symmetry_of_graph(const symmetry_request *request, fab_permutations *out, fab_error *err);
