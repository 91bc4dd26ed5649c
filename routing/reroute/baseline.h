/** Inside of baseline.c and reroute*.c. */
#pragma once

#include "engines/router.h"
#include "fab/reroute.h"
#include "walk/host_segments.h"
#include "next_hops/masked.h"

#define FAB_REROUTE_PATHS 64

/** A path that crosses a link. */
typedef struct fab_crossing {
    uint32_t path;
    uint32_t at; /**< column of its destination leaf, FAB_NO_COLUMN for none, | the link's place in the path << 24, at
                    most FAB_LAST_PLACE */
} fab_crossing;

#define FAB_NO_COLUMN  0xffffffU
#define FAB_LAST_PLACE 126U

/** Of a path that nothing was found to have touched: no place. The bit beside it: a link is dead that no switch
 * chooses. */
#define FAB_UNTOUCHED    0x7fU
#define FAB_SEGMENT_DEAD 0x80U

#define FAB_RECORD_LINKS  8
#define FAB_RECORD_VALUES 3

/** What a path needs to be walked again: one cache line. */
typedef struct fab_path_record {
    double part_bps; /**< offered */
    uint32_t flow;
    uint32_t column; /**< of the destination leaf; FAB_NONE: the path stays inside a scale-up domain */
    uint32_t value[FAB_RECORD_VALUES];  /**< the first of its key */
    uint16_t n;                         /**< links */
    uint8_t n_head, n_tail;             /**< of them before the source leaf and behind the destination leaf */
    fab_link_id link[FAB_RECORD_LINKS]; /**< of paths with no more than that */
} fab_path_record;

/** A destination leaf, and where the next hops have the groups that serve it. */
typedef struct fab_leaf_way {
    const uint32_t *chunk_of; /**< by switch: chunks with the leaf */
    uint16_t word, bit;       /**< of such a chunk: where its group stands */
    uint32_t at;              /**< its switch index */
} fab_leaf_way;

/** A switch as modulo engines look at it: value[slot] >> shift, modulo a group of next hops. */
typedef struct fab_choice {
    uint32_t first_exit, first_group; /**< places in the index's exits, and in the groups of the next hops */
    uint8_t slot, shift;
} fab_choice;

/** Which flows begin or end at a GPU. */
typedef struct fab_gpu_flows {
    size_t *first;  /**< shape [n_gpus + 1]: flows of GPU g are flow[first[g] ... ), ascending */
    uint32_t *flow; /**< shape [2 * n_flows] */
} fab_gpu_flows;

typedef struct fab_migration fab_migration; /**< reroute_migrated.c */

struct fab_baseline {
    fab_baseline_request request;
    const fab_router *router;
    const fab_fabric *fabric;
    fab_on_loss on_loss;
    const fab_hops_index *index;
    fab_hops_index own_index; /**< where the request has none */
    fab_routes routes;
    uint32_t n_flows, n_paths;
    double *part; /**< shape [n_flows]: offered rate of each of its paths */
    void *record_memory;
    fab_path_record *record; /**< shape [n_paths]: inside of record_memory, at a cache line */
    fab_hop_key *key;        /**< shape [n_paths]: begun */
    fab_choice *choice;      /**< shape [n_switches]: of modulo engines, else NULL */
    bool has_few_values;     /**< no choice looks beyond those of a record */
    uint32_t most_links;     /**< of a path */
    fab_leaf_way *leaf;      /**< shape [n_leaves] */
    size_t *first;           /**< shape [n_links + 1]: paths over the link at place p of the fabric's out_link are
                                crossing[first[p] ... ), so that those of neighbouring ports lie side by side */
    fab_crossing *crossing;
    uint32_t *to_first;  /**< shape [n_leaves + 1] */
    uint32_t *to;        /**< paths by destination leaf */
    bool is_exact;       /**< sums of rates of paths are the same in any order: multiples of one unit that fit */
    double *load;        /**< shape [n_links] */
    double *per_bps;     /**< shape [n_classes]: 1 / capacity of network links, 0 of others */
    double same_per_bps; /**< of all network links; 0: they differ */
    fab_link_id *order;  /**< shape [n_order]: network links, the fullest first, of equal ones the lowest */
    double *order_ratio; /**< shape [n_order]: load over capacity */
    uint32_t n_order;
    fab_gpu_flows gpu_flows;
};

static inline const fab_link_id *fab_record_links(const fab_baseline *b, uint32_t path) {
    const fab_path_record *record = &b->record[path];
    return record->n <= FAB_RECORD_LINKS ? record->link : b->routes.link + b->routes.path_first[path];
}

static inline double fab_per_bps(const fab_baseline *b, fab_link_id link) {
    return b->per_bps[b->fabric->cable_class[link >> 1]];
}

/** A path that is walked, over as many hops as it had: a minimal next hop comes one nearer, and a switch that has lost
 * the leaf is none. One cache line. */
typedef struct fab_path_walker {
    fab_link_id *next, *end; /**< where its next hop is written, and behind its last */
    fab_leaf_way leaf;
    uint32_t at;     /**< switch index */
    uint32_t column; /**< of the destination leaf */
    uint32_t place;  /**< of the hop in hand among the index's exits; FAB_NONE: it is to be walked by itself */
    uint32_t from;   /**< place in the path where it is walked from */
    uint32_t value[FAB_RECORD_VALUES];
} fab_path_walker;

struct fab_reroute {
    const fab_baseline *b;
    fab_masked_hops *hops;
    fab_router masked;          /**< the baseline's with other tables; owns nothing */
    fab_baseline_request what;  /**< the baseline's; where ranks moved, with their phase and offer */
    const double *part;         /**< shape [n_flows]: likewise */
    const uint32_t *flow_first; /**< shape [n_flows + 1]: likewise, how paths are numbered */
    const fab_mask *mask;
    double *load;       /**< shape [n_links + 1]: the last is that of nowhere */
    bool is_dirty;      /**< all of the loads and marks */
    bool cuts_segments; /**< the mask has dead links that are not between switches */
    uint32_t n_touched, n_moved, n_disconnected;
    uint32_t *path; /**< shape [n_touched] */
    uint8_t *from;  /**< shape [n_paths]: first place in the path that is touched, of those that are not walked yet */
    size_t *path_first;
    size_t path_capacity, first_capacity;
    fab_link_id *link;
    size_t link_capacity;
    fab_link_id *swap; /**< shape [n_swaps][2]: links that paths leave, and those that they take instead */
    double *swap_bps;
    size_t n_swaps, swap_capacity, bps_capacity;
    bool has_halves;      /**< some swap only leaves, or only comes: link n_links stands for nowhere */
    bool goes_reverse;    /**< the same swaps the other way round put all loads back, to the bit */
    bool asks_any_leaf;   /**< next hops will be looked up for other leaves than those of touched paths */
    fab_link_id *changed; /**< where there are halves: the links of all */
    size_t n_changed, changed_capacity;
    double worst_ratio;
    fab_link_id worst_link;
    uint32_t stamp, *flow_stamp; /**< of the call that lost it last */
    uint32_t *disconnected;
    double lost_bps;
    fab_path_walker *walkers; /**< shape [FAB_REROUTE_PATHS]: paths under way, a hop at a time: the look-ups of one wait
                        for each other, those of many do not */
    fab_link_id *aside;       /**< paths of a round, where one of them is out of the ordinary */
    size_t aside_capacity;
    uint64_t *changed_leaf;   /**< shape [words of a row]: leaves, of one switch */
    uint64_t *whole_leaf;     /**< the same: leaves to which all paths were taken */
    fab_routes routes;        /**< in full */
    fab_migration *migration; /**< what moves of ranks need; NULL before the first */
};

/** What a call has to do. */
typedef struct fab_reroute_plan {
    fab_on_loss on_loss;
    bool any_dead;
} fab_reroute_plan;

/** Loads as on the healthy fabric, and no path touched. Errors of fab_reroute_apply(). */
FAB_STATUS fab_reroute_begin(fab_reroute *r, const fab_mask *mask, fab_reroute_when when, fab_reroute_plan *out,
                             fab_error *err);

/** Finds what the mask touches, and takes it off its old routes and puts it on its new ones. Paths that were lifted are
 * left alone. */
FAB_STATUS fab_reroute_touched(fab_reroute *r, fab_on_loss on_loss, fab_error *err);

/** Finds the worst link, and says what was done. */
FAB_STATUS fab_reroute_end(fab_reroute *r, fab_on_loss on_loss, bool in_full, fab_rerouted *out, fab_error *err);

/**
 * Before fab_reroute_touched(): takes a path off, which will be put on elsewhere or nowhere. fab_reroute_forget() after
 * that, of the same paths. */
FAB_STATUS fab_reroute_lift_path(fab_reroute *r, uint32_t path, fab_error *err);
void fab_reroute_forget(fab_reroute *r, uint32_t path);

/** After fab_reroute_touched(): puts a path of a flow on n links. */
FAB_STATUS fab_reroute_put_on(fab_reroute *r, uint32_t flow, double part_bps, const fab_link_id *link, size_t n,
                              fab_error *err);

/** A load that only grows from here on, over the capacity. Only links of the network count, also where they are idle.
 */
static inline void fab_reroute_consider(fab_reroute *r, fab_link_id link, double ratio) {
    bool is_worse = ratio > r->worst_ratio || (ratio == r->worst_ratio && link < r->worst_link);
    if (is_worse && fab_per_bps(r->b, link) > 0) {
        r->worst_ratio = ratio;
        r->worst_link = link;
    }
}

void fab_migration_free(fab_migration *migration);
FAB_OWNER(fab_migration, fab_migration_free)

/** A flow has lost a path of `part_bps`. */
void fab_reroute_lose(fab_reroute *r, uint32_t flow, double part_bps);

static inline bool fab_all_alive(const fab_reroute *r, const fab_link_id *link, size_t n) {
    FAB_ALL(alive, i, n, !fab_mask_link_is_dead(r->mask, link[i]));
    return alive;
}

/** Lists the paths that a mask touches, and takes the mask to the next hops. */
FAB_STATUS fab_reroute_touch(fab_reroute *r, fab_on_loss on_loss, fab_error *err);

/** Place of the hop where resilient hashing leaves its old way, at or before place `from`, where a link is dead: the
 * switch behind has lost the leaf. */
uint32_t fab_reroute_turn(const fab_reroute *r, uint32_t path, uint32_t from);

/**
 * Takes the mark off a touched path.
 * @param[out] out_from  Place in the path of the first hop that may differ from before.
 * @return whether its way between the switches decides: else it has none there, or a link is dead that no switch
 *         chooses.
 */
static inline bool fab_reroute_take(fab_reroute *r, uint32_t path, uint32_t *out_from) {
    const fab_path_record *record = &r->b->record[path];
    const uint32_t mark = r->from[path];
    const bool decides = record->column != FAB_NONE && (mark & FAB_SEGMENT_DEAD) == 0;
    uint32_t from = mark & FAB_UNTOUCHED;
    r->from[path] = FAB_UNTOUCHED;
    if (decides && r->b->on_loss == FAB_LOSS_RESILIENT) {
        from = fab_reroute_turn(r, path, from);
    }
    from = from < record->n_head ? record->n_head : from;
    *out_from = decides ? from : 0;
    return decides;
}

/**
 * Loads where the router splits.
 * @param[in]  gone  Shape [n_flows]: 1 for flows that are left out; NULL: none.
 * @param[in]  dead_link  Bit set over links: parts of flows that have no way leave it to the others; NULL: none is.
 * @param[out] load  Shape [n_links], overwritten.
 */
FAB_STATUS fab_baseline_split(const fab_baseline_request *what, const uint8_t *gone, const uint64_t *dead_link,
                              double *load, fab_error *err);

/** Everything again, of engines that reconverge. */
FAB_STATUS fab_reroute_in_full(fab_reroute *r, fab_error *err);

/**
 * Walks many touched paths under the mask, as fab_reroute_path() and fab_reroute_shift() one after the other: only
 * where every choice in a healthy group is a value modulo its members.
 * @param[in]     n        At most FAB_REROUTE_PATHS.
 * @param[in,out] n_links  Of all paths so far.
 * @param[out]    first    Shape [n + 1]: where the links of each begin.
 */
FAB_STATUS fab_reroute_paths(fab_reroute *r, const uint32_t *path, uint32_t n, size_t *n_links, size_t *first,
                             fab_error *err);

/**
 * Walks one path under the mask and appends its links, host segments included; none if it is lost.
 * @param[in]     from     Place in the path of the first hop that may differ from before. Those between GPU and switch
 *                         are looked at in any case.
 * @param[in,out] n_links  Of all paths so far.
 */
FAB_STATUS fab_reroute_path(fab_reroute *r, uint32_t path, uint32_t from, size_t *n_links, fab_error *err);

/** Notes how the loads differ where a path takes n links `to` now, none if it is lost. */
FAB_STATUS fab_reroute_shift(fab_reroute *r, uint32_t path, const fab_link_id *to, size_t n, fab_error *err);

/** Moves all that was noted. */
FAB_STATUS fab_reroute_move(fab_reroute *r, fab_error *err);

/** Lists the links of all swaps. */
FAB_STATUS fab_reroute_list_changed(fab_reroute *r, fab_error *err);

/** Puts the loads back. */
void fab_reroute_restore(fab_reroute *r);

/** The part of a flow that a queue pair sends over one of its NICs. */
typedef struct fab_flow_part {
    uint32_t src, dst, ordinal, queue_pair;
    uint32_t nic; /**< 0 ... nics_per_gpu - 1 */
} fab_flow_part;

/** Ways of a part of a flow out of its GPU, by number: 0 is its own NIC in its own plane, behind it come the other
 * planes of that NIC, then the next NIC of the GPU. */
typedef struct fab_ways {
    uint32_t first, end;
} fab_ways;

static inline uint32_t fab_n_ways(const fab_router *router) {
    return router->ports.n_planes * router->ports.nics_per_gpu;
}

/**
 * Walks a part of a flow, whose own plane is `plane`, over the first of `ways` that leads there, and appends its
 * links, host segments included; none if it is lost.
 * @param[in]     heeds    Under the mask; else over the tables of the healthy fabric, which know nothing of what is
 *                         dead: a path over a dead link is lost.
 * @param[in,out] n_links  Of all paths so far.
 */
FAB_STATUS fab_reroute_part(fab_reroute *r, const fab_flow_part *part, uint32_t plane, fab_ways ways, bool heeds,
                            size_t *n_links, fab_error *err);

/* --- flows whose ranks run on other GPUs: reroute_migrated*.c --- */

/** Bytes that flows that moved take away from a NIC, and bring to it. */
typedef struct fab_migrated_bytes {
    double sent_before, sent_after, received_before, received_after;
} fab_migrated_bytes;

struct fab_migration {
    const uint32_t *new_gpu; /**< borrowed, during a call */
    uint32_t stamp;
    uint32_t *flow_stamp; /**< shape [n_flows]: of the call that moved it last */
    uint32_t *gpu_stamp;  /**< shape [n_gpus]: of the call that moved somebody there last */
    uint32_t *flow;       /**< shape [n]: that moved */
    uint32_t n;
    double *part;              /**< shape [n_flows]: offered rate of each path, of flows that moved; in full, of all */
    fab_migrated_bytes *bytes; /**< shape [n_nics]: 0 but of those that are listed */
    uint32_t *nic;             /**< shape [n_listed] */
    size_t n_nics, nic_capacity;
    bool is_local;        /**< flows that stay offer what they did, and all flows have as many paths as before */
    bool is_renumbered;   /**< some have not */
    fab_phase phase;      /**< in full, listed */
    fab_offer offer;      /**< in full */
    uint32_t *flow_first; /**< in full: shape [n_flows + 1] */
    fab_routes routes;    /**< what the caller sees; owns nothing */
    fab_on_loss on_loss;  /**< of fab_reroute_lift() */
    size_t *walked_first; /**< of fab_reroute_walk(): shape [paths + 1] */
    double *walked_part;  /**< shape [paths] */
    size_t first_capacity, part_capacity;
};

/** A flow between the GPUs where its ranks run. */
static inline fab_flow fab_migration_flow(const fab_reroute *r, uint32_t i) {
    fab_flow flow = fab_phase_flow(r->b->request.phase, i);
    flow.src = r->migration->new_gpu[flow.src];
    flow.dst = r->migration->new_gpu[flow.dst];
    return flow;
}

void fab_migration_release_phase(fab_migration *migration);

/**
 * Walks path `k` of a flow between the GPUs where its ranks run, under the mask or, where nobody takes notice of it,
 * over the tables of the healthy fabric, and appends its links to r->link; none if it is lost.
 * @param[in,out] n_links  Of all paths so far.
 */
FAB_STATUS fab_migration_walk(fab_reroute *r, uint32_t flow, uint32_t k, fab_on_loss on_loss, size_t *n_links,
                              fab_error *err);

/** Everything again, with the flows that moved. */
FAB_STATUS fab_migration_in_full(fab_reroute *r, const fab_reroute_plan *plan, fab_error *err);
