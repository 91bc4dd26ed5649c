/* A fabric with traffic, and what holds for whatever routes it. */
#pragma once

#include "engines/router.h"
#include "fab/analysis.h"
#include "fab/next_hops.h"
#include "fab/offer.h"
#include "fab/routing.h"
#include "split/split_rule.h"
#include "fab/traffic.h"
#include "fuzz.h"
#include "../unit/route_load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fuzz_network {
    fab_design design;
    fab_fabric *fabric;
    fab_next_hops *next_hops;
    fab_traffic traffic;
} fuzz_network;

static inline void fuzz_network_open(const char *text, const char *traffic, fuzz_network *out) {
    fab_error err = {0};
    out->fabric = fuzz_fabric(text, &out->design);
    fuzz_check(fab_next_hops_new(out->fabric, NULL, &out->next_hops, &err) == FAB_OK, "%s", err.text);
    fuzz_check(fab_traffic_make(traffic, &out->design, out->fabric, 1, &out->traffic, &err) == FAB_OK, "%s", err.text);
}

/** Adds the bytes of each flow, in even parts over its paths, to the links that it crosses. Returns the sum over all
 * links: bytes times hops. */
static inline double fuzz_follow(const fab_fabric *f, const fab_phase *phase, const fab_routes *routes,
                                 double *out_load) {
    double sum = 0;
    fuzz_check(routes->n_flows == phase->n_flows, "%u flows are routed", routes->n_flows);
    for (uint32_t i = 0; i < routes->n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        uint32_t n_paths = routes->flow_first[i + 1] - routes->flow_first[i];
        fuzz_check(n_paths > 0, "flow %u has no path", i);
        for (uint32_t p = routes->flow_first[i]; p < routes->flow_first[i + 1]; p++) {
            fab_node_id at = flow.src;
            for (size_t k = routes->path_first[p]; k < routes->path_first[p + 1]; k++) {
                fab_link_id link = routes->link[k];
                fuzz_check(link < f->n_links && fab_tail(f, link) == at, "path %u of flow %u is broken", p, i);
                at = fab_head(f, link);
                out_load[link] += (double)flow.bytes / n_paths;
                sum += (double)flow.bytes / n_paths;
            }
            fuzz_check(at == flow.dst, "path %u of flow %u ends elsewhere", p, i);
        }
    }
    return sum;
}

/* Paths of one phase: as bytes times hops they are the loads, and these are conserved. */
static inline void fuzz_check_paths(const fab_fabric *f, const fab_phase *phase, const fab_routes *routes) {
    double *bytes = calloc(phase->n_flows + 1, sizeof *bytes);
    double *load = calloc(f->n_links, sizeof *load);
    double *own = calloc(f->n_links, sizeof *own);
    double sum = 0;
    fab_error err = {0};
    for (uint64_t i = 0; i < phase->n_flows; i++) {
        bytes[i] = (double)fab_phase_flow(phase, i).bytes;
    }
    route_load(f, routes, bytes, load);
    double expected = fuzz_follow(f, phase, routes, own);
    for (uint32_t l = 0; l < f->n_links; l++) {
        sum += load[l];
        fuzz_check(fabs(load[l] - own[l]) <= 1e-9 * own[l], "link %u carries %g, not %g", l, load[l], own[l]);
    }
    fuzz_check(fabs(sum - expected) <= 1e-9 * expected, "%g bytes over all links, not %g", sum, expected);
    fuzz_check(fab_check_conservation(f, load, &err) == FAB_OK, "%s: %s", err.where, err.text);
    free(bytes);
    free(load);
    free(own);
}

static inline void fuzz_route_phase(const fuzz_network *n, const fab_router *router, const fab_phase *phase,
                                    uint64_t seed) {
    fab_routes routes = {0};
    fab_offer offer = {0};
    fab_error err = {0};
    double *rate = calloc(phase->n_flows + 1, sizeof *rate);
    fuzz_check(fab_offer_init(n->fabric, &router->ports, phase, &offer, &err) == FAB_OK, "%s", err.text);
    fab_offer_chunk(&offer, phase, 0, (uint32_t)phase->n_flows, rate);
    if (fuzz_accepts(fab_route_flows(router, phase, 0, (uint32_t)phase->n_flows,
                                     router->engine->route != NULL ? rate : NULL, seed, &routes, &err),
                     &err)) {
        fuzz_check_paths(n->fabric, phase, &routes);
    }
    fab_offer_release(&offer);
    fab_routes_release(&routes);
    free(rate);
}

/* The same for a router that splits: what NICs send enters the network, and nothing is lost on the way. */
static inline void fuzz_split_phase(const fuzz_network *n, const fab_router *router, const fab_phase *phase) {
    fab_offer offer = {0};
    fab_demand demand = {0};
    fab_dag *dag = NULL;
    fab_split split = {0};
    fab_error err = {0};
    double *load = calloc(n->fabric->n_links, sizeof *load);
    fuzz_check(fab_offer_init(n->fabric, &router->ports, phase, &offer, &err) == FAB_OK, "%s", err.text);
    fuzz_check(fab_demand_init(n->fabric, &router->ports, router->next_hops, phase, &offer, &demand, &err) == FAB_OK,
               "%s", err.text);
    fuzz_check(fab_dag_new(n->fabric, n->next_hops, &dag, &err) == FAB_OK, "%s", err.text);
    const fab_dag *own = fab_router_dag(router, dag);
    memcpy(load, demand.segment_bytes, n->fabric->n_links * sizeof *load);
    if (fuzz_accepts(router->engine->split(router, own, &demand, NULL, &split, &err), &err) &&
        fuzz_accepts(fab_split_load(own, &split, &demand, demand.bytes, load, &err), &err)) {
        fuzz_check(fab_check_conservation(n->fabric, load, &err) == FAB_OK, "%s: %s", err.where, err.text);
    }
    fab_split_release(&split);
    fab_dag_free(dag);
    fab_demand_release(&demand);
    fab_offer_release(&offer);
    free(load);
}

/** Routes all phases by this engine, which may be refused. */
static inline void fuzz_route(const fuzz_network *n, const fab_engine_spec *spec, uint64_t seed) {
    fab_router router;
    fab_error err = {0};
    if (!fuzz_accepts(fab_router_init(spec, n->fabric, n->next_hops, &router, &err), &err)) {
        return;
    }
    for (size_t i = 0; i < n->traffic.n_phases; i++) {
        if (router.facts.splits) {
            fuzz_split_phase(n, &router, &n->traffic.phases[i]);
        } else {
            fuzz_route_phase(n, &router, &n->traffic.phases[i], seed);
        }
    }
    fab_router_release(&router);
}
