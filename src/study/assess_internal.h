/**
 * @file assess_internal.h
 * Inside of assess*.c.
 */
#ifndef FAB_ASSESS_INTERNAL_H
#define FAB_ASSESS_INTERNAL_H

#include "fab/assess.h"
#include "fab/phase_clock.h"
#include "fab/reroute.h"

/* A phase under an engine on the whole fabric. */
typedef struct damage_part {
    fab_baseline *baseline; /* NULL: the phase has a twin */
    fab_clock *clock;       /* NULL: no time is wanted, or the engine splits */
    uint64_t *collided;     /* bit set over links: asked for more than they have; NULL with a twin */
    uint32_t n_collided;
} damage_part;

struct fab_damage {
    fab_damage_request request;
    fab_next_hops *next_hops;
    fab_ports ports;
    fab_traffic traffic;
    size_t n_phases;
    fab_router *routers; /* [engine] */
    fab_offer *offers;   /* [phase] */
    size_t *twin;        /* [phase]: the first phase with the same flows at the same offered rates; often itself */
    bool *in_network;    /* [phase]: flows leave their scale-up domain */
    bool *is_timed;      /* [phase]: its time counts */
    bool iterates;       /* times are those of an iteration */
    damage_part *parts;  /* [engine][phase] */
    double *per_bps;     /* [link]: 1 / capacity of network links, 0 of others */
    double offered_bps;  /* all that is offered in all phases */
    fab_outcome *whole;  /* [variant] */
    bool has_whole;
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
    fab_reroute **reroutes;     /* [engine][phase]; NULL with a twin */
    fab_clock_reader **readers; /* [engine][phase] */
    fab_rerouted *now;          /* [phase]: of the engine at hand */
    uint32_t *seen;             /* [link]: the count that looked at it last */
    uint32_t stamp;
    uint64_t n_simulated;
};

static inline size_t damage_at(const fab_damage *d, size_t engine, size_t phase) {
    return engine * d->n_phases + phase;
}

/* Whether a link is asked for more than is left of it. */
bool damage_is_collided(const fab_damage *damage, fab_link_id link, double load, double left);

/* Adds up a->now. */
damage_loads assess_loads(fab_assessor *a, size_t engine);

/* Seconds of an iteration, or of all phases one after the other, as a->now has them; nothing is lost.
 * compute_ratio: speed of the slowest GPU at work. */
fab_status assess_time(fab_assessor *a, size_t engine, double compute_ratio, double *out_s,
                       fab_error *err) FAB_MUST_USE;

#endif
