/**
 * @file bound_fixture.h
 * A fabric with some dead cables, and what a phase asks of it.
 */
#pragma once

#include "fab/bound.h"
#include "fab/rng.h"
#include "fab/topologies.h"
#include "fab/traffic.h"
#include "split/split_rule.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct network {
    char text[400];
    fab_design design;
    fab_fabric *fabric;
    uint64_t *dead;
    fab_next_hops *next_hops;
    fab_dag *dag;
    fab_ports ports;
    fab_traffic traffic;
    fab_offer offer;
    fab_demand demand;
} network;

static inline void network_discard(network *n) {
    fab_demand_release(&n->demand);
    fab_offer_release(&n->offer);
    fab_traffic_release(&n->traffic);
    fab_ports_release(&n->ports);
    fab_dag_free(n->dag);
    fab_next_hops_free(n->next_hops);
    free(n->dead);
    fab_fabric_free(n->fabric);
}

/** Kills a cable between switches, both directions. */
static inline void network_kill(uint64_t *dead, uint32_t cable) {
    dead[cable / 32] |= UINT64_C(3) << (2 * cable % 64);
}

/**
 * @param[in] dead      Cables between switches to kill, of 1000, by `seed`.
 * @param[in] prepared  Else a bit set of dead links, which the network then owns, or NULL.
 * @return whether the design and the traffic make sense together
 */
static inline bool network_make(const char *text, const char *traffic, uint64_t dead, uint64_t *prepared, uint64_t seed,
                                network *n) {
    fab_error err = {0};
    fab_rng rng = fab_rng_make(seed, 71);
    *n = (network){.dead = prepared};
    (void)snprintf(n->text, sizeof n->text, "%s, %s, %d dead of 1000, seed %d", text, traffic, (int)dead, (int)seed);
    if (fab_design_read(text, NULL, 0, &n->design, &err) != FAB_OK ||
        fab_topology_build(&n->design.fabric, &n->fabric, NULL, &err) != FAB_OK ||
        fab_traffic_make(traffic, &n->design, n->fabric, seed, &n->traffic, &err) != FAB_OK) {
        cr_assert_eq(err.code, FAB_EINPUT, "%s: %s", n->text, err.text);
        network_discard(n);
        return false;
    }
    if (prepared == NULL) {
        n->dead = calloc(n->fabric->n_links / 64 + 1, sizeof *n->dead);
        for (uint32_t c = 0; c < n->fabric->n_cables; c++) {
            if (n->fabric->classes[n->fabric->cable_class[c]].kind == FAB_LINK_FABRIC &&
                fab_rng_below(&rng, 1000) < dead) {
                network_kill(n->dead, c);
            }
        }
    }
    const fab_phase *phase = &n->traffic.phases[0];
    cr_assert_eq(fab_next_hops_new(n->fabric, n->dead, &n->next_hops, &err), FAB_OK, "%s: %s", n->text, err.text);
    cr_assert_eq(fab_dag_new(n->fabric, n->next_hops, &n->dag, &err), FAB_OK, "%s: %s", n->text, err.text);
    cr_assert_eq(fab_ports_init(n->fabric, &n->ports, &err), FAB_OK, "%s: %s", n->text, err.text);
    cr_assert_eq(fab_offer_init(n->fabric, &n->ports, phase, &n->offer, &err), FAB_OK, "%s: %s", n->text, err.text);
    cr_assert_eq(fab_demand_init(n->fabric, &n->ports, n->next_hops, phase, &n->offer, &n->demand, &err), FAB_OK,
                 "%s: %s", n->text, err.text);
    return true;
}

static inline fab_status network_bound(const network *n, fab_bound_method method, fab_bound *out, fab_error *err) {
    *out = (fab_bound){0};
    *err = (fab_error){0};
    return fab_bound_find(n->fabric, n->dag, n->next_hops, &n->demand, method, out, err);
}

/** Largest utilisation of a fabric link under a split. */
static inline double network_most(const network *n, const fab_split *split) {
    fab_error err = {0};
    double most = 0;
    double *load = calloc(n->fabric->n_links, sizeof *load);
    cr_assert_eq(fab_split_load(n->dag, split, &n->demand, n->demand.rate, load, &err), FAB_OK, "%s: %s", n->text,
                 err.text);
    for (uint32_t l = 0; l < n->fabric->n_links; l++) {
        const fab_link_class *c = fab_class_of(n->fabric, l);
        most = c->kind == FAB_LINK_FABRIC ? fmax(most, load[l] / c->capacity_bps) : most;
    }
    free(load);
    return most;
}
