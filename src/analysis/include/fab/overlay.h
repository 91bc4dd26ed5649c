/**
 * What is known of the parts of a fabric beyond what it was built as: what has failed, what is slower, whose loss
 * hurts. Studies of failures and options of the command line fill it; exports and drawings of the graph show it.
 */
#pragma once

#include <stdint.h>

/** Everything is borrowed; what is NULL is not known, and not shown. */
typedef struct fab_overlay {
    const double *residual;         /**< shape [n_links]: fraction of the capacity, 0 dead, 1 healthy; as in fab_mask */
    const uint64_t *dead_node;      /**< bit set over nodes; as in fab_mask */
    const double *criticality;      /**< shape [n_cables], at least 0: impact of the cable's loss; NAN: not looked at */
    const double *node_criticality; /**< shape [n_nodes], likewise: of GPUs, NICs and switches */
    const char *criticality_of;     /**< one line: what the impact is, and its unit */
} fab_overlay;
