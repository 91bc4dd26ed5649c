/**
 * @file graph_check.h
 * What igraph says of a fabric: an independent look at connectivity, diameter and minimum cut.
 */
#pragma once

#include "fab/fabric.h"
#include "fab/status.h"

typedef struct fab_graph_facts {
    uint32_t components;         /**< of the entire fabric, scale-up domains included */
    uint32_t network_components; /**< of the switches alone: one per rail in rail-only, one per plane */
    uint32_t diameter;           /**< longest shortest path between switches, in cables, within a component */
    double bisection_bps;        /**< minimum cut between the NICs of the two halves of the servers */
} fab_graph_facts;

/**
 * Reads the facts off igraph's view of the fabric. One thread at a time: igraph 0.10.2 keeps global state.
 * @retval FAB_ENOMEM, FAB_EINTERNAL  igraph failed; the message is igraph's
 * Complexity: diameter O(switches * cables); minimum cut by push-relabel.
 */
fab_status fab_graph_check(const fab_fabric *fabric, fab_graph_facts *out, fab_error *err) FAB_MUST_USE;
