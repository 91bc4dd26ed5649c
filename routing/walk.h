/**
 * @file walk.h
 * Many paths a hop at a time: the look-ups of one path wait for each other, those of different paths do not.
 */
#ifndef FAB_WALK_H
#define FAB_WALK_H

#include "fab/routing.h"
#include "legs.h"

#define FAB_WALK_PATHS 64
#define FAB_WALK_HOPS  16

/** Paths between switches, to be walked together. */
typedef struct fab_walk {
    uint32_t n;
    uint32_t lost; /**< path without a next hop, after a failed run */
    fab_legs legs[FAB_WALK_PATHS];
    fab_hop_key key[FAB_WALK_PATHS];
    uint32_t at[FAB_WALK_PATHS];     /**< switch index */
    uint32_t target[FAB_WALK_PATHS]; /**< switch index of the destination leaf */
    uint32_t leaf[FAB_WALK_PATHS];   /**< its column */
    uint32_t n_hops[FAB_WALK_PATHS];
    fab_link_id hop[FAB_WALK_PATHS][FAB_WALK_HOPS]; /**< fabric links; paths beyond FAB_WALK_HOPS stop there */
} fab_walk;

/** Adds a path whose legs are known; one inside a scale-up domain has no hops. */
void fab_walk_add(fab_walk *walk, const fab_router *router, uint64_t seed, const fab_legs *legs,
                  const fab_hop_key *key);

/**
 * Walks all paths to their ends, or to FAB_WALK_HOPS hops.
 * @retval FAB_EUNREACHABLE  a path has no next hop; the message names the pair.
 */
fab_status fab_walk_run(fab_walk *walk, const fab_router *router, uint64_t seed, fab_error *err) FAB_MUST_USE;

/** No way between the ends of these legs. */
fab_status fab_walk_unreachable(const fab_fabric *fabric, const fab_legs *legs, fab_error *err);

#endif
