/**
 * The floor plan in two steps, for fabrics that are built (floor_plan.c) and for those that are counted only
 * (clos_lengths.c).
 */
#pragma once

#include "fab/floor_plan.h"

/** What a floor plan has to know of a fabric. Switches are numbered tier by tier, as in the graph. */
typedef struct fab_floor_shape {
    uint32_t n_switches, n_leaves;
    bool servers_share_leaves; /**< in every plane, as with a switch in the rack; rails do not */
    uint32_t *low, *high;      /**< [switch]: first and last rack of servers below */
} fab_floor_shape;

/** Sizes the racks of servers: servers_per_rack, n_full and n_server_racks of `floor`. */
FAB_STATUS fab_floor_size(const fab_floor_spec *spec, uint32_t n_servers, fab_floor *floor, fab_error *err);

/** Places all racks and switches on a floor that is sized. O(switches + racks). */
FAB_STATUS fab_floor_place(const fab_floor_spec *spec, const fab_floor_shape *shape, fab_floor *floor, fab_error *err);
