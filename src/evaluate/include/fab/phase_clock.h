/**
 * @file phase_clock.h
 * How long a phase takes when some of its paths have changed or some of its links are slower: what a replay of all of
 * it gives, mostly without solving for rates. See src/doc/adr/0036-outcomes.md.
 */
#ifndef FAB_PHASE_CLOCK_H
#define FAB_PHASE_CLOCK_H

#include "fab/mask.h"
#include "fab/offer.h"
#include "fab/reroute.h"
#include "fab/routing.h"
#include "fab/status.h"
#include "fab/traffic.h"

typedef struct fab_phase_seconds {
    double transfer_s; /**< all bytes of an iteration over the network */
    double latency_s;  /**< steps x executions x latency of the slowest path */
    bool in_network;   /**< some path leaves its scale-up domain */
    bool is_simulated; /**< bounds did not meet: the phase was simulated flow by flow */
} fab_phase_seconds;

/** A phase under an engine with paths, on the whole fabric. Read-only once made: many threads may read it. */
typedef struct fab_clock fab_clock;

typedef struct fab_clock_request {
    const fab_fabric *fabric;
    const fab_router *router;
    const fab_phase *phase;
    const fab_offer *offer;   /**< of the phase */
    const fab_routes *routes; /**< of all its flows; paths hold all their links */
} fab_clock_request;

/**
 * Everything in the request is borrowed and must outlive the clock.
 * @retval FAB_EUNSUPPORTED  queue pairs take turns
 * Complexity: O(sum of route lengths + links * log(links)).
 */
fab_status fab_clock_new(const fab_clock_request *request, fab_clock **out, fab_error *err) FAB_MUST_USE;
void fab_clock_free(fab_clock *clock);

/** Scratch of one thread. */
typedef struct fab_clock_reader fab_clock_reader;

/** @param[in] clock  Borrowed, must outlive `out`. */
fab_status fab_clock_reader_new(const fab_clock *clock, fab_clock_reader **out, fab_error *err) FAB_MUST_USE;
void fab_clock_reader_free(fab_clock_reader *reader);

/**
 * Seconds of the phase under a mask. Slower links have what is left of their capacity.
 *
 * No link carries its bytes faster than it can: T >= bytes / capacity of every link. And a flow has at least its share
 * of the link of its path where shares are least, so that it ends, at the latest, when it would if everybody had
 * just that. Where both bounds meet, that is the time. Otherwise the phase is simulated as a replay does.
 * @param[in] rerouted  What became of the phase's paths under this mask: of a baseline with the clock's routes.
 *                      Nothing is lost.
 * @param[in] has_moved Some flows begin or end elsewhere than in the clock's phase.
 * The same bytes in any order of calls. Complexity: O(links of the paths that changed), of a phase of equal flows
 * whose offered rates are in proportion O(paths that changed); a simulation where bounds do not meet. Where flows have
 * other numbers of paths (rerouted->routes), that of a new clock.
 */
fab_status fab_clock_read(fab_clock_reader *reader, const fab_mask *mask, const fab_rerouted *rerouted, bool has_moved,
                          fab_phase_seconds *out, fab_error *err) FAB_MUST_USE;

/** A phase under an engine that splits. */
typedef struct fab_split_seconds_request {
    const fab_fabric *fabric;
    const fab_router *router; /**< over the next hops of the whole fabric */
    const fab_mask *mask;
    const fab_traffic *traffic;
    const fab_phase *phase;
    const fab_offer *offer; /**< of the phase */
    const fab_dag *dag;     /**< of the router's next hops; NULL: it is made where it is needed */
} fab_split_seconds_request;

/**
 * The same for an engine that splits: over the next hops that the mask leaves.
 * @param[out] out  transfer_s is NAN where the phase is too large to be solved.
 * @retval FAB_EUNREACHABLE  a flow has no way
 * Complexity: that of the engine and some passes over the shortest-path DAGs; a simulation where bounds do not meet.
 */
fab_status fab_split_seconds(const fab_split_seconds_request *request, fab_phase_seconds *out,
                             fab_error *err) FAB_MUST_USE;

#endif
