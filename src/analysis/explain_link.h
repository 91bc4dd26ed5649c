/**
 * @file explain_link.h
 * What the two ways to explain a link share.
 */
#pragma once

#include "fab/explanation.h"
#include "fab/offer.h"
#include "fab/routing.h"
#include "fab/split.h"

/** A link being explained, and the phase at hand. */
typedef struct fab_explainer {
    const fab_context *context;
    const fab_fabric *f;
    const fab_next_hops *t;
    const fab_dag *dag;
    const fab_router *router;
    const fab_traffic *traffic;
    fab_link_id link;
    uint8_t *mark; /**< shape [n_links]: 1 for links that leave the same switch for another, 2 for the link */
    fab_routes routes, round;
    fab_explained_path path;
    const fab_phase *phase;
    const fab_offer *offer;
    const fab_demand *demand;
    fab_crossing_phase *out;
    size_t flow_capacity;
    uint64_t *group_paths; /**< of a group of the switch: paths that it served */
    uint8_t *taken;        /**< shape [n_links]: some path of a group with the link took it */
} fab_explainer;

/** Adds a flow that crosses the link with some share. */
fab_status fab_explainer_add_flow(fab_explainer *e, uint64_t flow, double share, fab_crossing_flow **out,
                                  fab_error *err) FAB_MUST_USE;

/** Adds all flows of the phase that cross the link, under an engine that splits. */
fab_status fab_explainer_split(fab_explainer *e, fab_error *err) FAB_MUST_USE;
