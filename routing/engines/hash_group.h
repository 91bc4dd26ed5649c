/**
 * @file hash_group.h
 * From a hash value to a member of a group of next hops.
 */
#ifndef FAB_HASH_GROUP_H
#define FAB_HASH_GROUP_H

#include "router.h"
#include "fab/routing.h"

#define FAB_RESILIENT_BUCKETS 64 /**< of resilient hashing, per slot of the healthy group */

/** Largest whole rate that divides the capacity of every link between switches; 1 without such links. */
double fab_hash_group_unit(const fab_fabric *fabric);

/**
 * Index of the next hop that a value selects, below hop->count.
 * @param[in] is_uniform  The value is uniform over 32 bits and is scaled to the group; else its remainder is taken.
 */
uint32_t fab_hash_group_pick(const fab_router *router, const fab_hop *hop, uint32_t value, bool is_uniform);

#endif
