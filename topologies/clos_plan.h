/**
 * The folded Clos that every tree family is made of: sizes first (clos_plan.c), then the graph (clos_build.c).
 *
 * One network has n_tiers tiers. A block of level 1 is a leaf; a block of level t holds `children` blocks of level t -
 * 1 and, at its top, block_switches switches of tier t. A switch of tier t has `up` uplinks, spread evenly with `trunk`
 * parallel cables over the `parents` switches of its group: switch j of every block connects to group j of the block
 * above. This is an XGFT with parallel cables (Ohring, Ibel, Das, Kumar, IPPS 1995), partly filled from the left.
 */
#pragma once

#include "ends.h"

/** How NICs meet leaves. Networks are disjoint copies (rails of rail-only); columns are the rails of one network. */
typedef struct fab_clos_attach {
    uint64_t n_networks;   /**< per plane */
    uint64_t n_columns;    /**< leaves of one group: one per rail, or 1 */
    uint64_t column_ports; /**< NICs of one column */
    uint64_t active_ports; /**< those of them that are no spares */
    uint64_t granule;      /**< NICs that must share a leaf */
    uint64_t rack_ports;   /**< NICs of the rack that a leaf stands in and serves; 0: no limit */
    uint64_t min_tiers;
    uint64_t rails_per_network; /**< rail-only: rails that share a network */
    bool by_rail;               /**< NICs are dealt to columns or networks by rail; else in the order of their index */
} fab_clos_attach;

typedef struct fab_clos_tier {
    uint64_t radix;                /**< physical ports */
    double port_bps;               /**< of a physical port */
    uint64_t split_down, split_up; /**< cables per physical port (breakout) */
    double down_bps, up_bps;       /**< of one cable below and above */
    uint64_t most_down;            /**< asked, 0 = no limit */
    double taper;                  /**< asked */
    uint64_t down, up;             /**< cables of the fullest switch; up = 0 in the top tier */
    uint64_t children;             /**< blocks below in one block of this level; ports in the leaf */
    uint64_t parents, trunk;       /**< of one switch, towards the tier above; 0 in the top tier */
    uint64_t blocks;               /**< in one network */
    uint64_t block_switches;       /**< in one block */
} fab_clos_tier;

/** Spare servers where all ports are taken without them. Either they hang behind leaves that are full and give up
 * uplinks: the last leaf group is filled first, then every group takes `each`, and the last `more` of them one more, in
 * granules of a column. Or they have leaves of their own, and every spine lacks `dropped` cables to leaves in turn. */
typedef struct fab_clos_spares {
    uint64_t n; /**< behind full leaves; 0: there are none, or leaves hold them like all others */
    uint64_t in_last, each, more;
    uint64_t dropped; /**< 0: none; then n = 0 */
} fab_clos_spares;

typedef struct fab_clos_plan {
    fab_clos_attach attach; /**< column_ports without spares where those are apart */
    fab_ends ends;
    fab_clos_spares spares;
    uint32_t n_tiers;
    fab_clos_tier tier[FAB_MAX_TIERS + 1]; /**< from 1 */
} fab_clos_plan;

/** Physical ports in use. */
static inline uint64_t fab_tier_ports(const fab_clos_tier *tier) {
    return fab_ceil_div(tier->down, tier->split_down) + fab_ceil_div(tier->up, tier->split_up);
}

/** Cables a switch could hold: a port not used above could serve as many cables as one below. */
static inline uint64_t fab_tier_last_port(const fab_clos_tier *tier) {
    return (tier->radix - fab_ceil_div(tier->up, tier->split_up)) * tier->split_down + tier->up;
}

/** Leaf groups of a column. */
static inline uint64_t fab_clos_groups(const fab_clos_plan *plan) {
    return plan->tier[1].blocks / plan->attach.n_columns;
}

/** Cables below the leaves of a group, as of a leaf that is full without spares; and above. */
uint64_t fab_clos_leaf_down(const fab_clos_plan *plan, uint64_t group);
uint64_t fab_clos_leaf_up(const fab_clos_plan *plan, uint64_t group);

/** Group of spare `i` of a column, and its cable below the leaf, from 1. */
uint64_t fab_clos_spare_group(const fab_clos_plan *plan, uint64_t i, uint64_t *out_port);

/** Where a NIC plugs in, in every plane: network, leaf within it, port from 1. */
void fab_clos_locate(const fab_clos_plan *plan, uint32_t nic, uint64_t *network, uint64_t *leaf, uint64_t *port);

/** Whether spine `parent` lacks the cable of this number to a leaf; and how many cables to leaves and cables before it.
 */
bool fab_clos_is_dropped(const fab_clos_plan *plan, uint64_t leaf, uint64_t cable, uint64_t parent,
                         uint64_t *out_before);

/** Cables above all leaves of one network. */
uint64_t fab_clos_uplinks(const fab_clos_plan *plan);

/** Rates, splits and tapers of every tier; counts are zeroed. */
void fab_clos_rates(const fab_fabric_spec *spec, fab_clos_plan *plan, uint32_t n_tiers);

/** Sizes every tier for plan->ends and plan->attach. FAB_EINPUT names the switch and the ports that it lacks. */
FAB_STATUS fab_clos_size(const fab_fabric_spec *spec, fab_clos_plan *plan, fab_error *err);

/** Writes what was derived back into the parameters: the port rates that were left to the NICs. */
void fab_clos_resolve(const fab_clos_plan *plan, fab_fabric_spec *spec);

/** Counts in closed form. */
void fab_clos_count(const fab_fabric_spec *spec, const fab_clos_plan *plan, fab_counts *out);

/**
 * Replaces the lengths of the cables by those of the floor plan, without the graph (clos_lengths.c); knows_lengths says
 * whether. Left as they are where no plan decides them. O(NICs + switches), O(cables) where leaves give up uplinks for
 * spares.
 * @retval FAB_EINPUT  as for fab_floor_apply
 */
FAB_STATUS fab_clos_lengths(const fab_fabric_spec *spec, const fab_clos_plan *plan, fab_counts *counts, fab_error *err);

/** Pattern of every tier and the bisection, from a sized plan (clos_tree.c). Complexity: O(leaves). */
FAB_STATUS fab_clos_tree(const fab_fabric_spec *spec, const fab_clos_plan *plan, fab_tree *out, fab_error *err);

/** The graph. Complexity: O(nodes + cables). */
FAB_STATUS fab_clos_build(const fab_fabric_spec *spec, const fab_clos_plan *plan, fab_fabric **out, fab_error *err);
