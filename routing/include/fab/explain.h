/**
 * Why a path goes where it goes: the decision at every switch, in words. Slow and clear; fab_route_flows() is the fast
 * way to the same links.
 */
#pragma once

#include "fab/routing.h"

#define FAB_REASON_SIZE 192

/** What a switch did with a path. */
typedef struct fab_decision {
    fab_node_id node;
    fab_link_id link;             /**< taken */
    uint32_t count;               /**< equal-cost next hops; 0: it looked into its own table */
    uint32_t index;               /**< of the one taken, from 0 */
    uint64_t value;               /**< what the choice was made from: equal values choose alike from any group */
    char reason[FAB_REASON_SIZE]; /**< one line; empty where there was nothing to choose */
} fab_decision;

/** One path of a flow. Zero-initialise; reusable, and released by fab_explained_path_release(). */
typedef struct fab_explained_path {
    uint32_t queue_pair, plane;
    fab_link_id *link; /**< from GPU to GPU, as in fab_routes */
    size_t n_links, link_capacity;
    fab_decision *decision; /**< one for every switch that sends to another, in order */
    size_t n_decisions, decision_capacity;
} fab_explained_path;

void fab_explained_path_release(fab_explained_path *path);

/**
 * Walks path `path` of a flow, as fab_route_flows() does, and asks the engine at every switch.
 * @param[in]     path  0 ... paths_per_flow - 1 of the router; 0 for a flow inside a scale-up domain.
 * @param[in,out] out   Its memory is reused.
 * @retval FAB_EUNSUPPORTED  the engine does not decide path by path (it has `route` or `split`)
 * @retval FAB_EUNREACHABLE  as fab_route_flows
 */
FAB_STATUS fab_explain_path(const fab_router *router, const fab_flow *flow, uint32_t path, uint64_t seed,
                            fab_explained_path *out, fab_error *err);

/**
 * The same of a route that is known already, under an engine that routes all flows at once.
 * @param[in] link  Shape [n_links]: from GPU to GPU. Copied.
 */
FAB_STATUS fab_explain_route(const fab_router *router, const fab_link_id *link, size_t n_links, uint32_t queue_pair,
                             fab_explained_path *out, fab_error *err);
