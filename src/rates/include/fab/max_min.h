/** Max-min fair rates of flows that share links. */
#pragma once

#include "fab/status.h"

#include <stdint.h>

#define FAB_NO_BOTTLENECK UINT32_MAX /**< bottlenecked at the flow's own limit */

/** Flows over links, by numbers alone: a link is anything with a capacity. */
typedef struct fab_sharing {
    uint32_t n_flows, n_links;
    const double *capacity; /**< shape [n_links]: bit/s, > 0 */
    const uint64_t *first;  /**< shape [n_flows + 1]: links of flow f are link[first[f]] ... link[first[f + 1] - 1] */
    const uint32_t *link;   /**< shape [first[n_flows]]; a flow names a link once */
    const double *share;    /**< the same shape: part of the flow's rate that crosses the link, > 0; NULL: all of it */
    const double *weight;   /**< shape [n_flows]: > 0; flows grow in proportion to it; NULL: 1 */
    const double *limit; /**< shape [n_flows]: bit/s that the flow does not exceed, > 0 (INFINITY: none); NULL: none */
} fab_sharing;

/** Memory of a solver, reused from call to call. */
typedef struct fab_max_min fab_max_min;

FAB_STATUS fab_max_min_new(fab_max_min **out, fab_error *err);
void fab_max_min_free(fab_max_min *solver);
FAB_OWNER(fab_max_min, fab_max_min_free)

/** Sizes of a sharing that is yet to be made. */
typedef struct fab_sharing_size {
    double n_flows, n_links;
    double n_entries;    /**< flow-links */
    bool shares, limits; /**< share and limit are given */
} fab_sharing_size;

/** Bytes that a solver takes for a sharing of this size. They are reserved; pages of links that nobody crosses stay
 * untouched. */
double fab_max_min_bytes(const fab_sharing_size *size);

/**
 * The rates of which no flow's can grow without taking from one that has no more per weight: progressive filling.
 * Every result is checked against the definition before it is returned: no link carries more than it can, and every
 * flow is at its limit or crosses a full link on which no flow has more per weight.
 * Flows whose levels (rate per weight) differ by less than 1e-12 relatively get the same level. The check allows 1e-9;
 * a link counts as full from 1 - 1e-11 of its capacity, or from 1 - 1e-9 where rounding leaves a flow without one.
 * @param[out] out_rate        Shape [n_flows]: bit/s; INFINITY where the flow has no bottleneck, neither link nor
 * limit. Undefined after an error, as is out_bottleneck.
 * @param[out] out_bottleneck  Shape [n_flows]: such a link, the lowest number where several are, or FAB_NO_BOTTLENECK.
 *                             May be NULL.
 * @retval FAB_EINPUT        a link that is named twice by a flow; the message names it
 * @retval FAB_EUNSUPPORTED  2^32 links and limits, or flow-links, or more
 * @retval FAB_EINTERNAL     the check fails
 * Complexity: O(flow-links + links log links) as measured: how often a link comes up before it is full has no proven
 * bound. Threads: concurrent calls with different solvers are safe.
 * Source: Bertsekas and Gallager, Data Networks (1992), section 6.5.2; see src/doc/adr/0023-rates.md.
 */
FAB_STATUS fab_max_min_solve(fab_max_min *solver, const fab_sharing *sharing, double *out_rate,
                             uint32_t *out_bottleneck, fab_error *err);
