/**
 * Minimal next hops of every switch towards every destination leaf, for any graph: the structure that walking,
 * spraying, bounding and failing share.
 */
#pragma once

#include "fab/fabric.h"

/**
 * A switch keeps its groups of equal-cost next hops, and per destination leaf which group serves it. Opaque; read-only
 * once made, so that many threads may share it.
 */
typedef struct fab_next_hops fab_next_hops;

/** What the refusal of a flow without a way says behind its ends. */
#define FAB_NO_WAY                                                                                                     \
    ": no cable, or no entry of the tables that were read, leads there; what stays within one part has routes, as "    \
    "--traffic pattern:ring,gpus=0-7 or --job servers=0-3 with servers of one part"

/** Equal-cost next hops of a switch, by port number: fab_next_hop(&list, i), i < count. */
typedef struct fab_next_hop_list {
    const fab_link_id *link; /**< all that leave the switch */
    const uint16_t *slot;    /**< shape [count] */
    uint32_t count;
} fab_next_hop_list;

static inline fab_link_id fab_next_hop(const fab_next_hop_list *list, uint32_t i) {
    return list->link[list->slot[i]];
}

/**
 * Breadth-first search from all leaves at once, a bit per leaf.
 * @param[in] fabric     Borrowed, must outlive the tables.
 * @param[in] dead_link  Bit set over links, or NULL: these are not used.
 * @retval FAB_EINPUT  a switch has more than 65,535 groups
 * @retval FAB_EUNSUPPORTED  the lists do not fit into 32-bit places
 * Complexity: O(distances at which a switch sees leaves * links * leaves / 64) time.
 */
FAB_STATUS fab_next_hops_new(const fab_fabric *fabric, const uint64_t *dead_link, fab_next_hops **out, fab_error *err);
void fab_next_hops_free(fab_next_hops *next_hops);
FAB_OWNER(fab_next_hops, fab_next_hops_free)

/** Switches with a NIC attached: the destination leaves, columns 0 ... n - 1. */
uint32_t fab_next_hops_n_leaves(const fab_next_hops *next_hops);

/** Column of a switch, by its index among the switches; FAB_NONE if no NIC is attached. */
uint32_t fab_next_hops_column(const fab_next_hops *next_hops, uint32_t switch_index);

/** The leaf of a column. */
fab_node_id fab_next_hops_leaf(const fab_next_hops *next_hops, uint32_t column);

/** Groups of all switches together: their numbers are below. */
uint32_t fab_next_hops_n_groups(const fab_next_hops *next_hops);

/** Number among all of the first group of a switch; of the one behind the last switch, that of all groups. */
uint32_t fab_next_hops_first_group(const fab_next_hops *next_hops, uint32_t switch_index);

/** Number among all of the group of a switch that serves leaf column `leaf`; FAB_NONE where there is no route or the
 * switch is the leaf. */
uint32_t fab_next_hops_group_of(const fab_next_hops *next_hops, uint32_t switch_index, uint32_t leaf);

/** Members of a group of this switch, by its number among all. */
fab_next_hop_list fab_next_hops_members(const fab_next_hops *next_hops, uint32_t switch_index, uint32_t number);

/** Next hops of a switch towards leaf column `leaf`: none where there is no route or the switch is the leaf. */
fab_next_hop_list fab_next_hops_get(const fab_next_hops *next_hops, uint32_t switch_index, uint32_t leaf);

/** Sets used[l] of every link l that is a next hop of some switch. Returns how many were 0 before. */
uint32_t fab_next_hops_mark(const fab_next_hops *next_hops, uint8_t *used);

/* --- switches that are alike: in a tree all spines of a pod are one class, and so are its uplinks --- */

/**
 * The coarsest equitable partition of the switches that leaves every leaf (a switch with a NIC) alone: switches of a
 * class have equally many live cables of every link class to every class of switches. So they are as far from every
 * leaf, and whatever a split that goes by capacities or by nothing sends from leaf to leaf, they hold the same.
 */
typedef struct fab_switch_classes {
    uint32_t *first;      /**< shape [n_switches]: the lowest switch of its class */
    uint32_t *size;       /**< shape [n_switches]: how many there are */
    uint32_t *link_first; /**< shape [n_links]: the lowest link from this class of switches to that one, of the same
                             link class; the link itself where it does not join switches or is dead */
    uint32_t *link_count; /**< shape [n_links]: of those lowest ones: how many links the class has; else 0 */
    uint32_t n_classes, n_links;
} fab_switch_classes;

/**
 * @param[in]  next_hops  Of fab_next_hops_new() on this fabric: its dead links are left out.
 * @param[out] out        NULL where there is little to share: more than three classes for four switches.
 * Complexity: O(rounds * links + links * log(ports)) time, as many rounds as tiers in a tree. Memory: two words a link.
 */
FAB_STATUS fab_switch_classes_find(const fab_fabric *fabric, const fab_next_hops *next_hops, fab_switch_classes **out,
                                   fab_error *err);
void fab_switch_classes_free(fab_switch_classes *classes);
FAB_OWNER(fab_switch_classes, fab_switch_classes_free)

/** Whether x is the same for all links of a class. Shape [n_links]. O(links). */
bool fab_switch_classes_agree(const fab_switch_classes *classes, const double *x);

/**
 * Capacity from a switch to another over all cables between the two, for every link between switches.
 * @param[in]  dead_link  Bit set over links whose capacity does not count, or NULL.
 * @param[out] out        Shape [n_links]; for free().
 * Complexity: O(links).
 */
FAB_STATUS fab_trunk_capacities(const fab_fabric *fabric, const uint64_t *dead_link, double **out, fab_error *err);
