/**
 * How long a phase takes when some of its paths have changed or some of its links are slower: what a replay of all of
 * it gives, mostly without solving for rates. See src/doc/adr/0036-outcomes.md.
 */
#pragma once

#include "fab/fabric_spec.h"
#include "fab/reroute.h"

typedef struct fab_phase_seconds {
    double transfer_s; /**< all bytes of an iteration over the network */
    double latency_s;  /**< steps x executions x latency of the slowest path */
    bool in_network;   /**< some path leaves its scale-up domain */
    bool is_simulated; /**< the phase was simulated flow by flow, as bounds did not agree, or packet by packet */
} fab_phase_seconds;

/** A phase under an engine with paths, on the healthy fabric. Read-only once made: many threads may read it. */
typedef struct fab_estimator fab_estimator;

typedef struct fab_estimator_request {
    const fab_fabric *fabric;
    const fab_router *router;
    const fab_phase *phase;
    const fab_offer *offer;              /**< of the phase */
    const fab_routes *routes;            /**< of all its flows; paths hold all their links */
    const fab_transport_spec *transport; /**< NULL: of fair shares alone */
    uint64_t seed;                       /**< of the engine's run: which packets are marked */
    bool once;                           /**< read once: paths are not listed by link */
    uint32_t most_simulated;             /**< paths: where more have to be, FAB_ETIME; 0: any number may */
} fab_estimator_request;

/**
 * Everything in the request is borrowed and must outlive the estimator.
 * @retval FAB_EUNSUPPORTED  queue pairs take turns, or packets of the engine cannot be followed through lossless queues
 * Complexity: O(sum of route lengths + links * log(links)); with lossless queues also that of fab_lossless_run().
 */
FAB_STATUS fab_estimator_new(const fab_estimator_request *request, fab_estimator **out, fab_error *err);
void fab_estimator_free(fab_estimator *estimator);
FAB_OWNER(fab_estimator, fab_estimator_free)

/** Scratch of one thread. */
typedef struct fab_estimator_reader fab_estimator_reader;

/** @param[in] estimator  Borrowed, must outlive `out`. */
FAB_STATUS fab_estimator_reader_new(const fab_estimator *estimator, fab_estimator_reader **out, fab_error *err);
void fab_estimator_reader_free(fab_estimator_reader *reader);
FAB_OWNER(fab_estimator_reader, fab_estimator_reader_free)

/**
 * Seconds of the phase under a mask. Slower links have their residual capacity.
 *
 * No link carries its bytes faster than it can: T >= bytes / capacity of every link. And a flow has at least its share
 * of the link of its path where shares are least, so that it ends, at the latest, when it would if everybody had
 * just that. Where both bounds agree, that is the time. Otherwise the phase is simulated as a replay does; with queues
 * that lose nothing always, unless nothing has changed for any of its paths.
 * @param[in] rerouted  What became of the phase's paths under this mask: of a baseline with the estimator's routes.
 *                      Nothing is lost.
 * @param[in] has_moved Some flows begin or end elsewhere than in the estimator's phase.
 * The same bytes in any order of calls. Complexity: O(links of the paths that changed), of a phase of equal flows
 * whose offered rates are in proportion O(paths that changed); a simulation where bounds do not agree. Where flows have
 * other numbers of paths (rerouted->routes), that of a new estimator.
 */
FAB_STATUS fab_estimator_read(fab_estimator_reader *reader, const fab_mask *mask, const fab_rerouted *rerouted,
                              bool has_moved, fab_phase_seconds *out, fab_error *err);

/**
 * The same, and when every flow ends: always by simulation.
 * @param[out] ends_s  Shape [n_flows]: all its bytes of an iteration have arrived, what is relayed before included.
 * Complexity: that of the simulation.
 */
FAB_STATUS fab_estimator_ends(fab_estimator_reader *reader, const fab_mask *mask, const fab_rerouted *rerouted,
                              bool has_moved, double *ends_s, fab_phase_seconds *out, fab_error *err);

/** Where the flows of a phase go in a state, and what they get. Zero-initialised; everything is owned. */
typedef struct fab_state_flows {
    uint32_t n_flows;
    uint32_t *flow_first;    /**< shape [n_flows + 1]: paths of flow f */
    uint64_t *path_first;    /**< shape [paths + 1]: links of path p are link[path_first[p] ... ); none: lost */
    uint32_t *link;          /**< shape [path_first[paths]]: without those of a relay that stores before it sends */
    double *rate_bps;        /**< shape [n_flows]: max-min fair, while all flows of the phase send; 0: lost */
    fab_link_id *bottleneck; /**< shape [n_flows]: of the slowest of its paths; FAB_NONE: the window of its receiver */
} fab_state_flows;

void fab_state_flows_release(fab_state_flows *flows);

/**
 * Routes and rates of all flows, whether or not some are lost.
 * @param[out] out  Release with fab_state_flows_release().
 * Complexity: that of fab_max_min_solve().
 */
FAB_STATUS fab_estimator_flows(fab_estimator_reader *reader, const fab_mask *mask, const fab_rerouted *rerouted,
                               fab_state_flows *out, fab_error *err);

/** A phase under an engine that splits. */
typedef struct fab_split_seconds_request {
    const fab_fabric *fabric;
    const fab_router *router; /**< over the next hops of the healthy fabric */
    const fab_mask *mask;
    const fab_traffic *traffic;
    const fab_phase *phase;
    const fab_offer *offer; /**< of the phase */
    const fab_dag *dag;     /**< of the router's next hops; NULL: it is made where it is needed */
    double *ends_s;         /**< shape [n_flows]: written with when every flow ends, by simulation; NULL: not wanted */
} fab_split_seconds_request;

/**
 * The same for an engine that splits: over the next hops that the mask leaves.
 * @param[out] out  transfer_s is NAN where the phase is too large to be solved.
 * @retval FAB_EUNREACHABLE  a flow has no way
 * Complexity: that of the engine and some passes over the shortest-path DAGs; a simulation where bounds do not agree.
 */
FAB_STATUS fab_split_seconds(const fab_split_seconds_request *request, fab_phase_seconds *out, fab_error *err);
