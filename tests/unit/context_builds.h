/**
 * @file context_builds.h
 * How often the parts of a context were built.
 */
#pragma once

#include "context/context_parts.h"

/** What builds a part, as often as it was done: with one context never more than once for each thing that there is. */
typedef struct fab_context_builds {
    size_t next_hops, dags, ports, traffics, routers, offers, demands, bounds, baselines, estimators;
} fab_context_builds;

/** Of this context, without its base. */
static inline fab_context_builds fab_context_count(const fab_context *c) {
    const context_parts *p = c->parts;
    fab_context_builds n = {.next_hops = p->once[PART_NEXT_HOPS].n_builds,
                            .dags = p->once[PART_DAG].n_builds,
                            .ports = p->once[PART_PORTS].n_builds,
                            .traffics = p->owner == c ? p->once[PART_TRAFFIC].n_builds : 0};
    for (size_t e = 0; e < c->what.n_engines; e++) {
        n.routers += p->engines[e].once[ENGINE_ROUTER].n_builds;
    }
    for (size_t i = 0; i < p->n_phases; i++) {
        n.offers += p->phases[i].once[PHASE_OFFER].n_builds;
        n.demands += p->phases[i].once[PHASE_DEMAND].n_builds;
        n.bounds += p->phases[i].once[PHASE_BOUND].n_builds;
    }
    for (size_t i = 0; p->baselines != NULL && i < c->what.n_engines * p->traffic->n_phases; i++) {
        n.baselines += p->baselines[i].once[PAIR_BASELINE].n_builds;
        n.estimators += p->baselines[i].once[PAIR_ESTIMATOR].n_builds;
    }
    return n;
}
