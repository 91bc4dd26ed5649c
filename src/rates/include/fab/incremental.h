/**
 * @file incremental.h
 * Max-min fair rates when some flows take other links and some links lose capacity: only what that reaches is computed
 * again. See src/doc/adr/0032-rates-under-failures.md.
 */
#ifndef FAB_INCREMENTAL_H
#define FAB_INCREMENTAL_H

#include "fab/max_min.h"
#include "fab/status.h"

#include <stdbool.h>
#include <stddef.h>

/** Flows, their rates, and who crosses which link, before anything changes. Read-only once made: many threads may start
 * from it. */
typedef struct fab_rates_base fab_rates_base;

/**
 * @param[in] sharing  Its arrays are borrowed and must outlive the base.
 * @retval FAB_EUNSUPPORTED  2^31 flows or more
 * Errors and complexity of fab_max_min_solve().
 */
fab_status fab_rates_base_new(const fab_sharing *sharing, fab_rates_base **out, fab_error *err) FAB_MUST_USE;
void fab_rates_base_free(fab_rates_base *base);

/** Shape [n_flows]: bit/s, and the bottleneck of each flow, as from fab_max_min_solve(). */
const double *fab_rates_base_rate(const fab_rates_base *base);
const uint32_t *fab_rates_base_bottleneck(const fab_rates_base *base);

/** What is different from the base. Its weight and limit go with a flow wherever it goes. */
typedef struct fab_rate_changes {
    uint32_t n_flows;
    const uint32_t *flow;  /**< shape [n_flows]: each flow once; those that stay where they are may be among them */
    const size_t *first;   /**< shape [n_flows + 1]: links of flow[i] are link[first[i]] ...; none: the flow is lost */
    const uint32_t *link;  /**< a flow names a link once */
    const double *share;   /**< the same shape; NULL if the base has none */
    uint32_t n_capacities; /**< links with another capacity */
    const uint32_t *wider_or_narrower; /**< shape [n_capacities]: each link once */
    const double *capacity;            /**< the same shape: bit/s; 0: dead, and whoever crosses it is lost */
} fab_rate_changes;

/** What has come of the rates. Valid until the next call with the same scratch. */
typedef struct fab_incremental_rates {
    bool in_full;         /**< so much has changed that all rates were solved again */
    uint32_t n_changed;   /**< flows with another rate than in the base, those that are lost among them */
    const uint32_t *flow; /**< shape [n_changed], in no order that means anything */
    const double *rate;   /**< the same shape: bit/s; 0 where the flow is lost */
    uint32_t n_lost;
    double slowest_bps;    /**< the least rate of the flows that are not lost; INFINITY where all are */
    uint32_t slowest_flow; /**< the lowest that has it; n_flows where all are lost */
    double sum_bps;        /**< of all rates; INFINITY where one of the flows has no bottleneck */
} fab_incremental_rates;

/** Scratch of one thread. */
typedef struct fab_incremental fab_incremental;

/** @param[in] base  Borrowed, must outlive `out`. */
fab_status fab_incremental_new(const fab_rates_base *base, fab_incremental **out, fab_error *err) FAB_MUST_USE;
void fab_incremental_free(fab_incremental *incremental);

/**
 * The max-min fair rates of the base with these changes and no others: what an earlier call changed is undone first.
 * They are those of fab_max_min_solve() on what is left, up to rounding; a rate that differs from that of the base by
 * less than 1e-12 relatively stays what it was. Held against the definition where anything has changed, with the
 * tolerance of fab_max_min_solve(): every flow that changed, or was bottlenecked at a link that did, has a bottleneck,
 * and no such link carries more than it can.
 * @param[in] changes  Borrowed for the call.
 * @retval FAB_EINPUT     a flow or link that does not exist or is named twice, a share that is not above 0, shares
 * where the base has none or the other way round, a capacity below 0; nothing has changed then
 * @retval FAB_EINTERNAL  the check fails, also when everything is solved again
 * Complexity: O(flows that change * their links * flows on each), and what the call before changed; beyond a fifth of
 * the flows, that of fab_max_min_solve(). Threads: concurrent calls with different scratch are safe; the same bytes in
 * any order of the calls.
 */
fab_status fab_incremental_apply(fab_incremental *incremental, const fab_rate_changes *changes,
                                 fab_incremental_rates *out, fab_error *err) FAB_MUST_USE;

#endif
