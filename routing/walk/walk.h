/** Many paths a hop at a time: the look-ups of one path wait for each other, those of different paths do not. */
#pragma once

#include "engines/router.h"
#include "host_segments.h"

#define FAB_WALK_PATHS 64
#define FAB_WALK_HOPS  16

/** Paths between switches, to be walked together. */
typedef struct fab_walk {
    uint32_t n;
    uint32_t lost;                              /**< path without a next hop, after a failed run */
    uint32_t n_left;                            /**< paths that have not ended, after a run */
    uint32_t n_steps;                           /**< hops of the longest path */
    bool wants_groups;                          /**< set by the caller: `group` is to be filled */
    fab_host_segments segments[FAB_WALK_PATHS]; /**< where routes keep more than the links between switches */
    fab_hop_key key[FAB_WALK_PATHS];
    uint32_t at[FAB_WALK_PATHS];     /**< switch index */
    uint32_t from[FAB_WALK_PATHS];   /**< where it began */
    uint32_t target[FAB_WALK_PATHS]; /**< switch index of the destination leaf */
    uint32_t leaf[FAB_WALK_PATHS];   /**< its column */
    uint32_t n_hops[FAB_WALK_PATHS];
    uint32_t value[FAB_FABRIC_TIERS * FAB_WALK_PATHS]; /**< of modulo engines: key.value, slot by slot */
    uint32_t group[FAB_WALK_HOPS][FAB_WALK_PATHS];     /**< of modulo engines: number of the group in next_hops that was
                                                          chosen from; beyond the end of a path anything, as in hop */
    fab_link_id hop[FAB_WALK_HOPS][FAB_WALK_PATHS];    /**< fabric links; paths beyond FAB_WALK_HOPS stop there */
} fab_walk;

/** Adds a path whose host segments are known; one inside a scale-up domain has no hops. */
void fab_walk_add(fab_walk *walk, const fab_router *router, const fab_host_segments *segments, const fab_hop_key *key);

/** Adds a path between the only ports of two GPUs, by its ends alone: its host segments are not filled. */
static inline void fab_walk_add_ends(fab_walk *walk, const fab_port_end *from, const fab_port_end *to, uint32_t ordinal,
                                     uint32_t queue_pair) {
    uint32_t i = walk->n++;
    fab_hop_key *key = &walk->key[i];
    key->src_nic = from->nic;
    key->dst_nic = to->nic;
    key->ordinal = ordinal;
    key->queue_pair = queue_pair;
    key->destination = to->destination;
    walk->at[i] = from->leaf;
    walk->from[i] = from->leaf;
    walk->target[i] = to->leaf;
    walk->leaf[i] = to->column;
}

/** Draws and hashes of the paths that were added. */
void fab_walk_begin(fab_walk *walk, const fab_router *router, uint64_t seed);

/**
 * Walks all paths to their ends, or to FAB_WALK_HOPS hops. They have begun.
 * @retval FAB_EUNREACHABLE  a path has no next hop; the message names the pair.
 */
FAB_STATUS fab_walk_run(fab_walk *walk, const fab_router *router, uint64_t seed, fab_error *err);

/** Path `i` has no next hop. */
fab_status fab_walk_unreachable(const fab_walk *walk, const fab_router *router, uint32_t i, fab_error *err);
