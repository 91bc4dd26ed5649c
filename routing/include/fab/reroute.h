/**
 * What failures do to the routes and loads of a phase: only what they touch is routed again. See
 * src/doc/adr/0031-failures.md.
 */
#pragma once

#include "fab/masked_hops.h"
#include "fab/offer.h"

/** A phase as it is routed on the healthy fabric, and who crosses which link. Read-only once made: many threads may
 * route again from it. */
typedef struct fab_baseline fab_baseline;

typedef struct fab_baseline_request {
    const fab_router *router; /**< over the next hops of the healthy fabric */
    const fab_phase *phase;
    const fab_offer
        *offer; /**< of the phase: loads are offered rates, bit/s, and stay what they were while links die */
    uint64_t seed;
    const fab_hops_index *index; /**< of the router's next hops; NULL: the baseline makes its own */
    const fab_dag *dag;          /**< likewise, where the router splits */
} fab_baseline_request;

/**
 * Everything in the request is borrowed and must outlive the baseline. Queue pairs that take turns (spread=round-robin)
 * count as used at once.
 * @retval FAB_EUNSUPPORTED  more than 2^31 paths, or the next hops are not those of a healthy fabric
 * Errors of fab_route_flows() and, where the router splits, of fab_demand_init() and the engine.
 * Complexity: O(sum of route lengths + links * log(links) + switches * leaves).
 */
FAB_STATUS fab_baseline_new(const fab_baseline_request *request, fab_baseline **out, fab_error *err);
void fab_baseline_free(fab_baseline *baseline);
FAB_OWNER(fab_baseline, fab_baseline_free)

/** Routes and loads of the healthy fabric. Routes are empty where the router splits. Shape of loads: [n_links], bit/s.
 */
const fab_routes *fab_baseline_routes(const fab_baseline *baseline);
const double *fab_baseline_load(const fab_baseline *baseline);

/** What has come of a phase. Valid until the next call with the same scratch. */
typedef struct fab_rerouted {
    fab_on_loss on_loss;      /**< what was done */
    bool in_full;             /**< everything was computed again: all paths are listed, and all loads are new */
    uint32_t n_touched;       /**< paths that had to be looked at; none where the router splits */
    uint32_t n_moved;         /**< of them: paths with another route than before; the lost ones are not among them */
    const uint32_t *path;     /**< shape [n_touched]: number of the path in the baseline's routes */
    const size_t *path_first; /**< shape [n_touched + 1]: links of path[i] are link[path_first[i] ... ); none: lost */
    const fab_link_id *link;
    uint32_t n_disconnected;      /**< flows that are lost, as fab_reroute_apply() says */
    const uint32_t *disconnected; /**< shape [n_disconnected] */
    double lost_bps;              /**< offered by the paths that are lost */
    const double *load;           /**< shape [n_links]: offered rates, bit/s */
    size_t n_changed;             /**< 0 in full */
    const fab_link_id *changed;   /**< shape [n_changed]: all links whose load changed; they may repeat */
    double worst_ratio;           /**< largest load over the residual capacity, of network links */
    fab_link_id worst_link;       /**< the lowest of those that have it */
    const fab_routes *routes;     /**< all of them, lost paths without links, where ranks moved into or out of scale-up
                                     domains: flows have other numbers of paths, and `path` counts as here. Else NULL */
} fab_rerouted;

/** Scratch of one thread. */
typedef struct fab_reroute fab_reroute;

/** @param[in] baseline  Borrowed, must outlive `out`. */
FAB_STATUS fab_reroute_new(const fab_baseline *baseline, fab_reroute **out, fab_error *err);
void fab_reroute_free(fab_reroute *reroute);
FAB_OWNER(fab_reroute, fab_reroute_free)

/** When failures are looked at. */
typedef enum fab_reroute_when {
    FAB_WHEN_CONVERGED, /**< switches have done what the engine does */
    FAB_WHEN_FAILED,    /**< the moment before: what crosses a dead link is lost, and nothing moves */
} fab_reroute_when;

/**
 * Routes and loads under a mask: what all flows would take if they were routed anew over the next hops that are left,
 * resilient hashing with the groups of the healthy fabric in mind.
 *
 * A path that has no way by its NIC in its plane takes the other planes in turn, then the other NICs of its GPU: it is
 * lost where all of them are, and with it its flow. That is counted, not an error. Over tables of which nobody takes
 * notice a flow is lost with any of its paths; what the others carry stays. Where the router splits or routes whole
 * phases at once everything is computed again.
 * @param[in] mask  Of the same fabric. Borrowed until the next call.
 * Complexity: O(paths touched * their length + what the masked next hops cost); in full where the engine reconverges.
 * Threads: concurrent calls with different scratch are safe; the same bytes in any order.
 */
FAB_STATUS fab_reroute_apply(fab_reroute *reroute, const fab_mask *mask, fab_reroute_when when, fab_rerouted *out,
                             fab_error *err);

/* --- failures after which some GPUs' ranks run on other GPUs: src/doc/adr/0035-reallocation.md --- */

/**
 * As fab_reroute_apply() with FAB_WHEN_CONVERGED, for flows that begin and end at new_gpu[src] and new_gpu[dst]
 * instead: what routing the phase anew with these GPUs gives, at the rates that it then offers. Touched are also the
 * paths of flows that moved; flow i of the phase stays flow i.
 *
 * Where flows that stay offer something else (ranks that shared a NIC part, or flows enter or leave a scale-up domain),
 * and under engines that reconverge or split, everything is computed again.
 * @param[in] moved    Shape [n_moved]: GPUs whose ranks run elsewhere, ascending.
 * @param[in] new_gpu  Shape [n_gpus]; new_gpu[g] = g for all others. No two ranks on one GPU.
 * @retval FAB_EINPUT        there is no such GPU, or it has a rank already
 * @retval FAB_EUNREACHABLE  rails differ, and no GPU of either scale-up domain relays
 * Errors of fab_reroute_apply().
 * Complexity: as fab_reroute_apply(), and O(paths of the flows that moved * their length); else that of routing the
 * phase.
 */
FAB_STATUS fab_reroute_migrated(fab_reroute *reroute, const fab_mask *mask, const uint32_t *moved, size_t n_moved,
                                const uint32_t *new_gpu, fab_rerouted *out, fab_error *err);

/**
 * A phase as a list, which is `out`'s own.
 * @param[in] gone     Shape [n_flows]: not 0 of flows that are left out; NULL: none.
 * @param[in] new_gpu  Shape [n_gpus]: where ranks are; NULL: where they were.
 */
FAB_STATUS fab_phase_list(const fab_phase *whole, const uint8_t *gone, const uint32_t *new_gpu, fab_phase *out,
                          fab_error *err);
void fab_phase_list_release(fab_phase *phase);

/** What a baseline was made of. */
const fab_baseline_request *fab_baseline_what(const fab_baseline *baseline);

/** Flows that begin or end at a GPU, ascending. */
const uint32_t *fab_baseline_flows_of(const fab_baseline *baseline, uint32_t gpu, size_t *out_n);

/** Network links, the fullest on the healthy fabric first, of equally full ones the lowest. */
const fab_link_id *fab_baseline_fullest(const fab_baseline *baseline, uint32_t *out_n);

/* --- many placements under one mask ------------------------------------------------------------------------------- */

/**
 * Whether flows can be looked at one by one: their paths do not depend on where others go, nor on tables that are
 * computed again.
 */
bool fab_baseline_is_separable(const fab_baseline *baseline);

/**
 * As fab_reroute_apply() with FAB_WHEN_CONVERGED, without the flows that begin or end at some GPUs.
 * @param[in] gpu  Shape [n].
 * @retval FAB_EUNSUPPORTED  the baseline is not separable
 */
FAB_STATUS fab_reroute_lift(fab_reroute *reroute, const fab_mask *mask, const uint32_t *gpu, size_t n,
                            fab_rerouted *out, fab_error *err);

/** Paths of flows between other GPUs. Valid until the next call with the same scratch. */
typedef struct fab_walked {
    size_t n_paths;
    const size_t *first; /**< shape [n_paths + 1]: links of path i are link[first[i] ... ); none: lost */
    const fab_link_id *link;
    const double *part_bps; /**< shape [n_paths] */
} fab_walked;

/**
 * Paths under the mask of the last call of fab_reroute_lift(), between new_gpu[src] and new_gpu[dst]. What that call
 * returned stays, but for `link`. Flows offer what they do in the baseline: right for ranks that move with all that
 * share their NICs, and neither out of a scale-up domain nor into one.
 * @param[in] flow     Shape [n].
 * @param[in] new_gpu  Shape [n_gpus].
 * Complexity: O(sum of path lengths).
 */
FAB_STATUS fab_reroute_walk(fab_reroute *reroute, const uint32_t *flow, size_t n, const uint32_t *new_gpu,
                            fab_walked *out, fab_error *err);

/**
 * Whether the mask of the last call of fab_reroute_lift() leaves a path between any GPUs as it is on the healthy
 * fabric. Where it is not sure, it does not.
 * @param[in] link  Shape [n]: a path that fab_reroute_walk() has found while nothing was down.
 * Complexity: O(n), and next hops of switches that have lost some.
 */
bool fab_reroute_keeps(fab_reroute *reroute, const fab_link_id *link, size_t n);
