/**
 * @file max_flow.h
 * Maximum flow in whole numbers, so that a cut is exact.
 */
#ifndef FAB_MAX_FLOW_H
#define FAB_MAX_FLOW_H

#include "fab/status.h"

#include <stddef.h>
#include <stdint.h>

/** Binary exponent by which rates are scaled to whole numbers: no cut of edges that have this sum overflows. */
int fab_max_flow_shift(double sum_bps);

/** A rate, bit/s, as a whole number. */
uint64_t fab_max_flow_capacity(double bps, int shift);

/** An edge as fab_max_flow() takes it. */
static inline uint64_t fab_max_flow_edge(uint32_t tail, uint32_t head) {
    return (uint64_t)tail << 32 | head;
}

/**
 * @param[in,out] edges  shape [n_edges]: fab_max_flow_edge(), capacity; directed, parallel ones add up. Sorted and
 *                       merged in place.
 * @param[out]    out    In the unit of the capacities.
 * Complexity: O(nodes^2 edges) at worst (Dinic 1970); near linear on fabrics.
 */
fab_status fab_max_flow(uint32_t n_nodes, uint64_t (*edges)[2], size_t n_edges, uint32_t source, uint32_t sink,
                        uint64_t *out, fab_error *err) FAB_MUST_USE;

#endif
