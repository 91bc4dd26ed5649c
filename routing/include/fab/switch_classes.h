/**
 * @file switch_classes.h
 * Switches that see every leaf alike, and links that an even split loads alike: in a tree all spines of a pod are one
 * class, and so are its uplinks, whatever their number.
 */
#ifndef FAB_SWITCH_CLASSES_H
#define FAB_SWITCH_CLASSES_H

#include "fab/fabric.h"
#include "fab/next_hops.h"
#include "fab/status.h"

#include <stdbool.h>

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
fab_status fab_switch_classes_find(const fab_fabric *fabric, const fab_next_hops *next_hops, fab_switch_classes **out,
                                   fab_error *err) FAB_MUST_USE;
void fab_switch_classes_free(fab_switch_classes *classes);

/** Whether x is the same for all links of a class. Shape [n_links]. O(links). */
bool fab_switch_classes_agree(const fab_switch_classes *classes, const double *x);

#endif
