/** What a fluid simulation holds, and the steps that fab_fluid_finish() is made of. */
#pragma once

#include "fab/fluid.h"
#include "queue.h"

#define FLUID_NONE UINT32_MAX
#define FLUID_TIE  1e-12 /* of times, relative */

#define FLUID_BUCKET_SHIFT 43               /* of the bits of a level: 512 buckets per octave */
#define FLUID_BUCKETS      16384U           /* 32 octaves; what is outside goes to the last on its side */
#define FLUID_WAITS_LAST   (FLUID_NONE - 1) /* of fluid_link.next: the last of its bucket */
#define FLUID_BUSY         (FLUID_NONE - 2) /* it is solved just now */

/* A flow that runs has the level, rate per weight, of the link that is its bottleneck. */
typedef struct fluid_flow {
    double target; /* it is done when so much was served there per weight */
    double weight;
    uint32_t first, end; /* its hops */
    uint32_t bottleneck;
    uint32_t hop; /* at the bottleneck */
} fluid_flow;

/* What changes of a link when a flow that crosses it does. */
typedef struct fluid_link {
    double residual; /* capacity that nobody has */
    double top;      /* no flow that is bottlenecked elsewhere has a higher level */
    double level; /* of the flows bottlenecked here. Where none is: the residual, below 0, that is not mere rounding */
    uint32_t n_bottlenecked;
    uint32_t next; /* link that waits in the same bucket; FLUID_NONE: does not wait */
} fluid_link;

/* The rest. */
typedef struct fluid_clock {
    double weight; /* of the flows bottlenecked here */
    double served; /* per weight, until `since`: the integral of the level */
    double since;
    double first;   /* least target of the flows bottlenecked here */
    uint32_t n_on;  /* flows that run */
    uint32_t event; /* place in the heap of ends */
    uint32_t n_solved;
    bool is_changed;
} fluid_clock;

/* A flow on a link; those that are bottlenecked there come first in its list. */
typedef struct fluid_place {
    uint32_t flow, hop;
} fluid_place;

typedef struct fluid_event {
    double ends;
    uint32_t link;
} fluid_event;

typedef struct fab_fluid {
    fab_sharing routes; /* of links that can hold somebody, see fluid_route() */
    double *capacity, *share;
    uint64_t *first;
    uint32_t *link, *place; /* place: of a hop, in the list of its link */
    uint64_t *listed;       /* the list of link l begins at places[listed[l]] */
    fluid_place *places;
    double now;
    uint32_t n_running;
    fluid_flow *flows;
    fluid_link *links;
    fluid_clock *clocks;
    fluid_event *events; /* a heap of all links, four children each */
    uint32_t *changed;   /* links whose next end is to be told again */
    uint32_t n_changed;
    /* links that wait to be solved */
    uint64_t base; /* bits of the level where bucket 0 begins */
    uint32_t n_buckets;
    uint32_t bucket; /* those of it, and before, are in the heap */
    uint32_t *head;  /* by bucket: the newest that waits in it */
    uint64_t *used;  /* bit set of buckets */
    queued *heap;
    size_t n_heap;
} fab_fluid;

static inline double fluid_share(const fab_fluid *fluid, uint64_t hop) {
    return fluid->share != NULL ? fluid->share[hop] : 1;
}

static inline double fluid_level(const fab_fluid *fluid, uint32_t flow) {
    return fluid->links[fluid->flows[flow].bottleneck].level;
}

/** Routes of the flows that have something to send, over the links that can be the first to hold somebody. */
FAB_STATUS fluid_route(fab_fluid *fluid, const fab_sharing *sharing, fab_error *err);

/** Rates at the beginning. */
FAB_STATUS fluid_begin(fab_fluid *fluid, fab_error *err);
/** Takes a flow that is done from its links; rates are to be settled then. */
void fluid_end(fab_fluid *fluid, uint32_t flow);
/** Lets levels follow what has changed; links whose next end is another are listed. */
FAB_STATUS fluid_settle(fab_fluid *fluid, fab_error *err);
/** Holds the rates against the definition of max-min fairness. */
FAB_STATUS fluid_check(const fab_fluid *fluid, fab_error *err);

/** What was served until now. */
static inline void fluid_advance(fab_fluid *fluid, uint32_t link) {
    fluid_clock *clock = &fluid->clocks[link];
    if (fluid->links[link].n_bottlenecked > 0) {
        clock->served += fluid->links[link].level * (fluid->now - clock->since);
    }
    clock->since = fluid->now;
}
