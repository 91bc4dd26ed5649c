/**
 * @file baseline.h
 * Inside of baseline.c and reroute*.c.
 */
#ifndef FAB_BASELINE_H
#define FAB_BASELINE_H

#include "fab/reroute.h"
#include "gpu_flows.h"
#include "masked.h"

#define FAB_LANES     64
#define FAB_LANE_HOPS 16

/** A path that crosses a link. */
typedef struct fab_crossing {
    uint32_t path, column; /**< column of its destination leaf */
} fab_crossing;

/** What a path needs to be walked again: half a cache line. */
typedef struct fab_trip {
    uint32_t src, dst; /**< switch indexes of the leaves */
    uint32_t column;   /**< of the destination leaf; FAB_NONE: the path stays inside a scale-up domain */
    uint32_t flow;
    size_t first;           /**< of its links in the routes */
    uint16_t n;             /**< links */
    uint8_t n_head, n_tail; /**< of them before the source leaf and behind the destination leaf */
    uint32_t value;         /**< value[0] of its key */
} fab_trip;

typedef struct fab_moving fab_moving; /**< reroute_moved.c */

struct fab_baseline {
    fab_baseline_request request;
    const fab_router *router;
    const fab_fabric *fabric;
    fab_on_loss on_loss;
    fab_hops_index index;
    fab_routes routes;
    uint32_t n_flows, n_paths;
    double *part;     /**< shape [n_flows]: offered rate of each of its paths */
    fab_trip *trip;   /**< shape [n_paths] */
    fab_hop_key *key; /**< shape [n_paths]: begun */
    size_t *first;    /**< shape [n_links + 1]: paths over link l are crossing[first[l] ... ) */
    fab_crossing *crossing;
    size_t *to_first;    /**< shape [n_leaves + 1] */
    uint32_t *to;        /**< paths by destination leaf */
    double *load;        /**< shape [n_links] */
    double *per_bps;     /**< shape [n_links]: 1 / capacity of network links, 0 of others */
    fab_link_id *order;  /**< shape [n_order]: network links, the fullest first, of equal ones the lowest */
    double *order_ratio; /**< shape [n_order]: load over capacity */
    uint32_t n_order;
    fab_gpu_flows gpu_flows;
};

/** Paths that are walked a hop at a time: the look-ups of one wait for each other, those of many do not. */
typedef struct fab_lanes {
    uint32_t at[FAB_LANES], next[FAB_LANES], n_hops[FAB_LANES]; /**< next: switch behind the hop; FAB_NONE: not known */
    const fab_link_id *old[FAB_LANES]; /**< the next link of the path before, NULL once it has left that */
    uint32_t group[FAB_LANES];
    bool alone[FAB_LANES]; /**< to be walked by itself: too long, or out of the ordinary */
    fab_link_id hop[FAB_LANES][FAB_LANE_HOPS];
} fab_lanes;

struct fab_reroute {
    const fab_baseline *b;
    fab_masked_hops *hops;
    fab_router masked;          /**< the baseline's with other tables; owns nothing */
    fab_baseline_request what;  /**< the baseline's; where ranks moved, with their phase and offer */
    const double *part;         /**< shape [n_flows]: likewise */
    const uint32_t *flow_first; /**< shape [n_flows + 1]: likewise, how paths are numbered */
    const fab_mask *mask;
    double *load;
    bool is_dirty;  /**< all of the loads */
    bool cuts_legs; /**< the mask has dead links that are not between switches */
    uint32_t stamp;
    uint32_t *path_stamp, *flow_stamp; /**< of the call that met it last */
    uint32_t n_touched, n_moved, n_disconnected;
    size_t n_changed;
    uint32_t *path; /**< shape [n_touched] */
    size_t *path_first;
    size_t path_capacity, first_capacity;
    fab_link_id *link;
    size_t link_capacity;
    fab_link_id *changed; /**< may repeat */
    size_t changed_capacity;
    double worst_ratio;
    fab_link_id worst_link;
    uint32_t *disconnected;
    double lost_bps;
    fab_lanes *lanes;       /**< paths under way */
    uint64_t *changed_leaf; /**< shape [words of a row]: leaves, of one switch */
    uint64_t *whole_leaf;   /**< the same: leaves to which all paths were taken */
    fab_routes routes;      /**< in full */
    fab_moving *moving;     /**< what moves of ranks need; NULL before the first */
};

/** What a call has to do. */
typedef struct fab_reroute_plan {
    fab_on_loss on_loss;
    bool any_dead;
} fab_reroute_plan;

/** Loads as on the whole fabric, and no path touched. Errors of fab_reroute_apply(). */
fab_status fab_reroute_begin(fab_reroute *r, const fab_mask *mask, fab_reroute_when when, fab_reroute_plan *out,
                             fab_error *err) FAB_MUST_USE;

/**
 * Finds what the mask touches, and takes it off its old routes and puts it on its new ones. Paths whose path_stamp is
 * r->stamp already are left alone; links that were taken off before are in `changed`.
 */
fab_status fab_reroute_touched(fab_reroute *r, fab_on_loss on_loss, fab_error *err) FAB_MUST_USE;

/** Finds the worst link, and says what was done. */
void fab_reroute_end(fab_reroute *r, fab_on_loss on_loss, bool in_full, fab_rerouted *out);

/** A load that only grows from here on, over the capacity. */
static inline void fab_reroute_consider(fab_reroute *r, fab_link_id link, double ratio) {
    if (ratio > r->worst_ratio || (ratio == r->worst_ratio && link < r->worst_link)) {
        r->worst_ratio = ratio;
        r->worst_link = link;
    }
}

void fab_moving_free(fab_moving *moving);

/** A flow has lost a path of `part_bps`. */
void fab_reroute_lose(fab_reroute *r, uint32_t flow, double part_bps);

/**
 * Loads where the router splits.
 * @param[in]  gone  Shape [n_flows]: 1 for flows that are left out; NULL: none.
 * @param[out] load  Shape [n_links], overwritten.
 */
fab_status fab_baseline_split(const fab_baseline_request *what, const uint8_t *gone, double *load,
                              fab_error *err) FAB_MUST_USE;

/** In full: the next path, lost or not, whose links are those of r->link up to `end`; puts it on. */
fab_status fab_reroute_list(fab_reroute *r, uint32_t flow, uint32_t path, size_t end, fab_error *err) FAB_MUST_USE;

/** In full: walks all parts of the flows of r->what.phase, which begin and end at other GPUs than those of the
 * baseline.
 */
fab_status fab_moving_walk_all(fab_reroute *r, fab_error *err) FAB_MUST_USE;

/** Everything again, of engines that reconverge. */
fab_status fab_reroute_in_full(fab_reroute *r, fab_error *err) FAB_MUST_USE;

/**
 * Walks many paths under the mask, as fab_reroute_path() one after the other: only where every choice in a whole group
 * is a value modulo its members.
 * @param[in]     n        At most FAB_LANES.
 * @param[in,out] n_links  Of all paths so far.
 * @param[out]    first    Shape [n + 1]: where the links of each begin.
 */
fab_status fab_reroute_paths(fab_reroute *r, const uint32_t *path, uint32_t n, size_t *n_links, size_t *first,
                             fab_error *err) FAB_MUST_USE;

/** Asks the memory for what paths need that are walked soon: first fab_fetch_trips(), later fab_fetch_routes(). */
static inline void fab_fetch_trips(const fab_baseline *b, const uint32_t *path, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        __builtin_prefetch(&b->trip[path[i]]);
    }
}
static inline void fab_fetch_routes(const fab_baseline *b, const uint32_t *path, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const fab_trip *trip = &b->trip[path[i]];
        __builtin_prefetch(&b->routes.link[trip->first]);
        __builtin_prefetch(&b->part[trip->flow]);
    }
}

/**
 * Walks one path under the mask and appends its links, legs included; none if it is lost.
 * @param[in,out] n_links  Of all paths so far.
 */
fab_status fab_reroute_path(fab_reroute *r, uint32_t path, size_t *n_links, fab_error *err) FAB_MUST_USE;

/** The part of a flow that a queue pair sends over one of its NICs. */
typedef struct fab_flow_part {
    uint32_t src, dst, ordinal, queue_pair;
    uint32_t nic; /**< 0 ... nics_per_gpu - 1 */
} fab_flow_part;

/**
 * Walks a part of a flow under the mask, in plane `plane` or the first of the `n_planes - 1` behind it that has a way,
 * and appends its links, legs included; none if it is lost.
 * @param[in,out] n_links  Of all paths so far.
 */
fab_status fab_reroute_part(fab_reroute *r, const fab_flow_part *part, uint32_t plane, uint32_t n_planes,
                            size_t *n_links, fab_error *err) FAB_MUST_USE;

#endif
