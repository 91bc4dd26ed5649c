/** An installed network as the tree that schedulers place jobs in: what can be reached without going further up. */
#pragma once

#include "network_boxes.h"

typedef struct fab_tree_unit {
    char *name;
    uint32_t level;    /**< 0: hosts below it */
    uint32_t parent;   /**< FAB_NETWORK_NONE */
    uint32_t first, n; /**< below it: member[first] ...: boxes at level 0, else units */
} fab_tree_unit;

typedef struct fab_network_tree {
    uint32_t n;
    fab_tree_unit *unit; /**< [n]: top down, the top first; within a level in the order of the network */
    uint32_t *member;
} fab_network_tree;

/**
 * Slurm's own trees stay as they are. Else a unit of level 0 is the leaves that servers have in common (the leaf where
 * servers are on one, the rails of a pod where they are on several), and one of level t what switches up to tier t + 1
 * join. A level that joins nothing is left out.
 * @param[out] out  Release with fab_network_tree_release().
 * @retval FAB_EUNSUPPORTED  there is no host
 */
FAB_STATUS fab_network_tree_find(const fab_shape *shape, const fab_boxes *boxes, fab_network_tree *out, fab_error *err);
void fab_network_tree_release(fab_network_tree *tree);
