/** How long paths are, how much those of a flow differ, and what a receiver's reorder window makes of that. */
#pragma once

#include "fab/split.h"

typedef struct fab_path_range {
    double min, mean, max;
} fab_path_range;

/**
 * Over the flows that leave their scale-up domain, each counted once; all 0 where there are none. A mean is over flows
 * of the mean over the flow's paths by their shares; latency is one way and the sum over all links of a path, scale-up
 * and PCIe included.
 *
 * Where packets are reordered, a receiver that holds window_bytes of a flow limits it to
 *     limit = 8 * window_bytes / (round trip + queueing_s),    round trip = 2 * latency of the flow's longest path
 */
typedef struct fab_path_figures {
    uint64_t n_flows;
    fab_path_range hops; /**< network links of a path, those of NICs included */
    fab_path_range latency_s;
    double max_spread_s; /**< of a flow: latency of its longest path - of its shortest; 0 with one path */
    double mean_spread_s;
    double longest_round_trip_s;
    bool reorders;           /**< the router does; else the rest is 0 */
    uint64_t limited_flows;  /**< offered more than their limit */
    double min_limit_bps;    /**< of any flow; INFINITY where nothing takes time */
    double max_excess_ratio; /**< largest offered rate / limit; above 1 the window limits somebody */
} fab_path_figures;

/** Figures while chunks of routes come in. */
typedef struct fab_path_tally {
    const fab_router *router;
    double weight;          /**< flows so far */
    double limited;         /**< flows offered more than their limit */
    fab_path_figures sum;   /**< means are sums over flows */
    double *segment_s;      /**< shape [NICs of a GPU x planes]: of the flow at hand */
    uint32_t *segment_hops; /**< alike */
    double *latency_s; /**< set by the caller: of the flows of a chunk, as fab_flow_latencies_of_routes() has them */
} fab_path_tally;

/** Routes of some flows of a phase. Everything is borrowed. */
typedef struct fab_path_chunk {
    const fab_routes *routes;
    const fab_phase *phase;
    uint64_t first;       /**< flow 0 of the routes is this one of the phase */
    const uint64_t *flow; /**< instead of `first`, shape [routes->n_flows]: one flow of each bundle, NULL: no bundles */
    const uint64_t *weight; /**< flows in each bundle */
    const double *rate;     /**< shape [routes->n_flows]: offered, of all flows of a bundle; read where packets are
                               reordered */
} fab_path_chunk;

/** The router is borrowed. Release with fab_path_tally_release(). */
FAB_STATUS fab_path_tally_init(const fab_router *router, fab_path_tally *out, fab_error *err);
void fab_path_tally_release(fab_path_tally *tally);

/** Complexity: O(sum of route lengths). The figures do not depend on how flows are cut into chunks. */
void fab_path_tally_add(fab_path_tally *tally, const fab_path_chunk *chunk);
fab_path_figures fab_path_tally_finish(const fab_path_tally *tally);

/**
 * The same for an engine that splits what switches hold. In an all-to-all, whose flows are not listed, a part of a flow
 * (NIC and plane) counts as a flow of its own where paths are compared, ports of a leaf are told apart only by the
 * shortest and the longest cable, and the offered rate is the mean over the flows of a pair of leaves: min and max
 * may be wider than those of any flow, means and counts are exact. Where GPUs relay between rails, every pair of leaves
 * has as many flows that do as the whole phase.
 * @param[in] split  What router->engine->split() made.
 * @retval FAB_EUNREACHABLE  a demand has no route
 * Complexity: five passes of fab_split_fold(), O(flows * parts + NICs).
 */
FAB_STATUS fab_path_figures_of_split(const fab_router *router, const fab_dag *dag, const fab_split *split,
                                     const fab_demand *demand, const fab_phase *phase, const fab_offer *offer,
                                     fab_path_figures *out, fab_error *err);

/**
 * One-way latency of the longest path of every flow; of one that stays in its scale-up domain, times -1.
 * @param[out] out_s  Shape [flows of the chunk].
 */
FAB_STATUS fab_flow_latencies_of_routes(const fab_router *router, const fab_path_chunk *chunk, double *out_s,
                                        fab_error *err);

/** The same under a split. @param[out] out_s  Shape [phase->n_flows]. */
FAB_STATUS fab_flow_latencies_of_split(const fab_router *router, const fab_dag *dag, const fab_split *split,
                                       const fab_demand *demand, const fab_phase *phase, double *out_s, fab_error *err);

/**
 * What the receiver's reorder window lets every flow have: window / (round trip over its longest path + queueing);
 * INFINITY inside a scale-up domain and under engines that keep the order.
 * @param[in]  latency_s  Of fab_flow_latencies_of_routes() or _of_split().
 * @param[out] out_bps    Shape [n_flows]; may be latency_s.
 */
void fab_flow_limits(const fab_router *router, const double *latency_s, uint64_t n_flows, double *out_bps);

/** What a flow of this latency (as above) has beside its bytes in one iteration, as its phase has it of its slowest
 * path. */
double fab_flow_latency_s(const fab_fabric *fabric, const fab_phase *phase, double latency_s);

/**
 * Latency that the time of a phase has beside that of its bytes: steps x executions x that of its slowest path.
 * @param[in] in_network  Some flow leaves its scale-up domain; else a path leads to the scale-up switch and back.
 * @param[in] path_s      Of the slowest path; read where in_network.
 * @return 0 where no flow is in the phase
 */
double fab_phase_latency_s(const fab_fabric *fabric, const fab_phase *phase, bool in_network, double path_s);
