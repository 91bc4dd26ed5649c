/**
 * What a fluid simulation holds, and the steps that fab_fluid_finish() is made of: settle, look at the next end, take
 * what ends then.
 */
#pragma once

#include "fab/fluid.h"
#include "fill.h"

#define FLUID_NONE UINT32_MAX
#define FLUID_TIE  1e-12 /* of times, relative */

typedef struct fluid_flow {
    double rate, left, since; /* left: bits at the time since */
    uint32_t bottleneck;      /* its bottleneck */
    uint32_t event;           /* its place in the heap of ends */
    uint32_t mark;            /* epoch in which it joined the set that is solved */
    bool is_listed;           /* stands in the lists of its links */
} fluid_flow;

typedef struct fluid_link {
    double capacity, load;
    double level; /* of the flows bottlenecked at it; meaningless where there are none */
    uint32_t n_on, n_bottlenecked;
    uint32_t mark, local; /* local: its number in the set that is solved in epoch mark */
    uint32_t n_updates;   /* of load, since it was summed */
    bool is_released;
} fluid_link;

/* A hop of a route. Links without an end to their capacity are left out, and those that are never the first to be full:
 * only this route takes them, and another of its links is no wider. */
typedef struct fluid_hop {
    uint32_t link, place; /* place: in the list of the link */
} fluid_hop;

typedef struct fluid_place {
    uint32_t flow, hop; /* hop: which of the flow */
} fluid_place;

typedef struct fluid_event {
    double ends;
    uint32_t flow;
} fluid_event;

/* A link of the set. */
typedef struct local_link {
    double residual; /* what the flows outside the set leave, as far as the sums go */
    double sum, top;
    double bottleneck_level; /* of the flows that it stopped; below 0: none */
    uint32_t link, n_in, n_bottlenecked_in;
} local_link;

/* The flows whose rates are solved, as a sharing of its own. */
typedef struct fluid_set {
    uint32_t n, n_links;
    uint32_t *flow;
    uint64_t *first;
    uint32_t *link, *bottleneck;
    double *share, *weight, *limit, *capacity, *rate;
    local_link *local;
} fluid_set;

typedef struct fab_fluid {
    const fab_sharing *sharing;
    double now;
    fluid_flow *flows;
    fluid_link *links;
    uint64_t *first; /* hops of flow f */
    fluid_hop *hops;
    double *share;    /* by hop; NULL: 1 */
    uint64_t *listed; /* list of link l begins at places[listed[l]] */
    fluid_place *places;
    fluid_event *events; /* a heap, four children each */
    uint32_t n_events;
    uint32_t epoch;
    uint32_t *fresh, *released; /* what has changed since rates were solved */
    uint32_t n_fresh, n_released;
    uint32_t *ended; /* in one instant */
    uint32_t n_ended;
    fluid_set set;
    fab_max_min *solver;
} fab_fluid;

static inline double fluid_weight(const fab_fluid *fluid, uint32_t flow) {
    return fluid->sharing->weight != NULL ? fluid->sharing->weight[flow] : 1;
}

static inline double fluid_share(const fab_fluid *fluid, uint64_t hop) {
    return fluid->share != NULL ? fluid->share[hop] : 1;
}

/** Asks for the links of a flow: they lie apart, and what is done with each takes branches that are guessed wrong. */
static inline void fluid_prefetch(const fab_fluid *fluid, uint32_t flow) {
    for (uint64_t h = fluid->first[flow]; h < fluid->first[flow + 1]; h++) {
        const fluid_link *link = &fluid->links[fluid->hops[h].link];
        __builtin_prefetch(link, 1);
        __builtin_prefetch(&link->is_released, 1);
    }
}

/** Solves for the rates that what has started and ended since changes. */
FAB_STATUS fluid_settle(fab_fluid *fluid, fab_error *err);

/** Removes the next end. */
void fluid_event_move(fab_fluid *fluid, uint32_t flow, double ends);
/** After the ends of many were changed in place. */
void fluid_event_rebuild(fab_fluid *fluid);

/** Room for all flows, of which only what is used is touched. */
FAB_STATUS fluid_set_init(fab_fluid *fluid, fab_error *err);
void fluid_set_release(fluid_set *set);
