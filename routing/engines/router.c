/* What a router tells of itself. */
#include "router.h"
#include "fab/memory.h"
#include "fab/split.h"

#include <stdlib.h>

fab_status fab_router_new(const fab_engine_spec *spec, const fab_fabric *fabric, const fab_next_hops *next_hops,
                          fab_router **out, fab_error *err) {
    fab_router *router = NULL;
    fab_status status = FAB_NEW(router, 1, err);
    if (status == FAB_OK) {
        status = fab_router_init(spec, fabric, next_hops, router, err);
    }
    if (status != FAB_OK) {
        free(router);
        return status;
    }
    *out = router;
    return FAB_OK;
}

void fab_router_free(fab_router *router) {
    if (router != NULL && !router->borrows) {
        fab_router_release(router);
    }
    free(router);
}

fab_status fab_router_over(const fab_router *router, const fab_next_hops *next_hops, fab_router **out, fab_error *err) {
    fab_router *over = NULL;
    FAB_PASS(FAB_NEW(over, 1, err));
    *over = *router;
    over->borrows = true;
    if (next_hops != NULL) {
        over->next_hops = next_hops;
        over->minimal = next_hops;
    }
    *out = over;
    return FAB_OK;
}

const fab_fabric *fab_router_fabric(const fab_router *router) {
    return router->fabric;
}

const fab_next_hops *fab_router_next_hops(const fab_router *router) {
    return router->next_hops;
}

const fab_ports *fab_router_ports(const fab_router *router) {
    return &router->ports;
}

const char *fab_router_engine(const fab_router *router) {
    return router->engine->name;
}

const char *fab_router_label(const fab_router *router) {
    return router->label;
}

uint64_t fab_router_seed(const fab_router *router, uint64_t run_seed) {
    return router->has_seed ? router->seed : run_seed;
}

bool fab_router_is_seeded(const fab_router *router) {
    return router->engine->seeded;
}

bool fab_router_hashes(const fab_router *router) {
    return router->engine->hashes;
}

bool fab_router_hashes_queue_pairs(const fab_router *router) {
    return router->draws_per_queue_pair;
}

bool fab_router_is_by_destination(const fab_router *router) {
    return router->engine->by_destination;
}

bool fab_router_splits(const fab_router *router) {
    return router->splits;
}

bool fab_router_is_by_demand(const fab_router *router) {
    return router->engine->by_demand;
}

bool fab_router_takes_phases(const fab_router *router) {
    return router->engine->route != NULL;
}

bool fab_router_has_tables(const fab_router *router) {
    return router->engine->next != NULL;
}

bool fab_router_explains(const fab_router *router) {
    return router->engine->explain != NULL;
}

bool fab_router_is_minimal(const fab_router *router) {
    return router->groups.next_hops != NULL ? router->groups.is_minimal : router->engine->next == NULL;
}

bool fab_router_reorders(const fab_router *router) {
    return router->reorders;
}

double fab_router_window_bytes(const fab_router *router) {
    return router->window_bytes;
}

double fab_router_queueing_s(const fab_router *router) {
    return router->queueing_s;
}

uint32_t fab_router_n_rounds(const fab_router *router) {
    return router->n_rounds;
}

uint32_t fab_router_domain(const fab_router *router, uint32_t gpu) {
    return router->end[gpu].domain;
}

bool fab_router_weighs(const fab_router *router) {
    return router->by_capacity || router->groups.weight != NULL;
}

uint32_t fab_router_weight(const fab_router *router, const fab_next_hop_list *next, uint32_t i) {
    return fab_next_hop_weight(router, next, i);
}

const fab_dag *fab_router_dag(const fab_router *router, const fab_dag *dag) {
    return router->groups.dag != NULL ? router->groups.dag : dag;
}

fab_status fab_router_split(const fab_router *router, const fab_dag *dag, const fab_demand *demand,
                            const fab_bound *known, fab_split *out, fab_error *err) {
    return router->engine->split(router, dag, demand, known, out, err);
}
