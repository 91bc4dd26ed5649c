/**
 * @file assess_internal.h
 * Inside of assess*.c.
 */
#ifndef FAB_ASSESS_INTERNAL_H
#define FAB_ASSESS_INTERNAL_H

#include "fab/assess.h"
#include "fab/reroute.h"

/* A phase under an engine on the whole fabric. */
typedef struct damage_part {
    fab_baseline *baseline;
    uint64_t *collided; /* bit set over links: asked for more than they have */
    uint32_t n_collided;
} damage_part;

struct fab_damage {
    fab_damage_request request;
    fab_next_hops *next_hops;
    fab_ports ports;
    fab_traffic traffic;
    fab_router *routers; /* [engine] */
    fab_offer *offers;   /* [phase] */
    damage_part *parts;  /* [engine][phase] */
    double *per_bps;     /* [link]: 1 / capacity of network links, 0 of others */
    double offered_bps;  /* all that is offered in all phases */
    fab_outcome *whole;  /* [variant] */
};

/* What flows ask of network links, over all phases under one engine. */
typedef struct damage_loads {
    uint32_t n_disconnected, n_collisions;
    double lost_bps;
    double worst_ratio;
    fab_link_id worst_link;
} damage_loads;

struct fab_assessor {
    const fab_damage *damage;
    fab_mask mask;
    fab_reroute **reroutes; /* [engine][phase] */
    uint32_t *seen;         /* [link]: the count that looked at it last */
    uint32_t stamp;
};

static inline size_t damage_n_phases(const fab_damage *d) {
    return d->traffic.n_phases;
}

#endif
