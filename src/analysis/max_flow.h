/** Maximum flow in whole numbers, so that a cut is exact. */
#pragma once

#include "fab/base.h"

typedef struct fab_flow_edge {
    uint32_t tail, head;
    bool both; /**< directions, each with the whole rate */
    double bps;
} fab_flow_edge;

/** Edges between nodes that are numbers; parallel ones add up. Zeroed: none. Free `list`. */
typedef struct fab_flow_edges {
    fab_flow_edge *list;
    size_t n, capacity;
    double sum_bps;
} fab_flow_edges;

FAB_STATUS fab_flow_edges_add(fab_flow_edges *edges, uint32_t tail, uint32_t head, bool both, double bps,
                              fab_error *err);

/** What proves a flow: what each edge carries (one direction; parallel ones together), and which nodes are still
 * reached from the source when no more can be sent. Free both. */
typedef struct fab_flow_proof {
    fab_flow_edge *carries;
    size_t n;
    bool *is_near; /**< shape [source + 2] */
} fab_flow_proof;

/**
 * Maximum flow from node `source` to node `source` + 1, which are the last ones. Takes the edges: none are left.
 * @param[out] proof  May be NULL.
 * Complexity: O(nodes^2 edges) at worst (Dinic 1970); near linear on fabrics.
 */
FAB_STATUS fab_max_flow(fab_flow_edges *edges, uint32_t source, double *out_bps, fab_flow_proof *proof, fab_error *err);
