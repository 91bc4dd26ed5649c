/**
 * @file fabric_fixture.h
 * What most tests begin with: a fabric from one line, its next hops, traffic, a router. Each asserts that it works.
 */
#pragma once

#include "engines/router.h"
#include "fab/design.h"
#include "fab/analysis.h"
#include "fab/routing.h"
#include "fab/split.h"
#include "fab/topologies.h"

#include "context_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** `design` and `counts` may be NULL. */
static inline fab_fabric *fixture_build(const char *text, fab_design *design, fab_counts *counts) {
    fab_design own;
    fab_fabric *fabric = NULL;
    fab_error err = {0};
    design = design != NULL ? design : &own;
    cr_assert_eq(fab_design_read(text, NULL, 0, design, &err), FAB_OK, "%s: %s: %s", text, err.where, err.text);
    cr_assert_eq(fab_topology_build(&design->fabric, &fabric, counts, &err), FAB_OK, "%s: %s: %s", text, err.where,
                 err.text);
    return fabric;
}

/** Fields of a job, apart by blanks: "tp=8 pp=4". */
static inline void fixture_set_keys(fab_design *design, size_t job, const char *pairs) {
    char text[256];
    fab_error err = {0};
    cr_assert_lt((size_t)snprintf(text, sizeof text, "%s", pairs), sizeof text);
    for (char *at = strtok(text, " "); at != NULL; at = strtok(NULL, " ")) {
        char *equals = strchr(at, '=');
        *equals = '\0';
        cr_assert_eq(fab_design_set_job(design, job, at, equals + 1, "test", &err), FAB_OK, "%s", err.text);
    }
}

static inline fab_next_hops *fixture_next_hops(const fab_fabric *fabric) {
    fab_next_hops *next_hops = NULL;
    fab_error err = {0};
    cr_assert_eq(fab_next_hops_new(fabric, NULL, &next_hops, &err), FAB_OK, "%s", err.text);
    return next_hops;
}

static inline fab_traffic fixture_traffic(const char *text, const fab_design *design, const fab_fabric *fabric,
                                          uint64_t seed) {
    fab_traffic traffic = {0};
    fab_error err = {0};
    cr_assert_eq(fab_traffic_make(text, design, fabric, seed, &traffic, &err), FAB_OK, "%s: %s", text, err.text);
    return traffic;
}

static inline fab_engine_spec fixture_spec(const char *engine) {
    fab_engine_spec spec = {.where = "test"};
    (void)snprintf(spec.text, sizeof spec.text, "%s", engine);
    return spec;
}

static inline fab_router fixture_router(const char *engine, const fab_fabric *fabric, const fab_next_hops *next_hops) {
    const fab_engine_spec spec = fixture_spec(engine);
    fab_router router;
    fab_error err = {0};
    cr_assert_eq(fab_router_init(&spec, fabric, next_hops, &router, &err), FAB_OK, "%s: %s", engine, err.text);
    return router;
}

/** One engine. */
static inline fab_result fixture_replay(const char *design_text, const char *traffic, const char *engine, uint64_t seed,
                                        uint64_t n_seeds) {
    fab_design design;
    fab_result result = {0};
    fab_error err = {0};
    const fab_engine_spec spec = fixture_spec(engine);
    fab_fabric *fabric = fixture_build(design_text, &design, NULL);
    const fab_context_request what_of_replay = {
        .design = &design, .fabric = fabric, .traffic = traffic, .engines = &spec, .n_engines = 1, .seed = seed};
    fab_context *context = fixture_context(&what_of_replay);
    const fab_replay replay = {.context = context, .n_seeds = n_seeds, .n_threads = 2};
    cr_assert_eq(fab_replay_run(&replay, &result, &err), FAB_OK, "%s, %s: %s", design_text, engine, err.text);
    fab_context_free(context);
    fab_fabric_free(fabric);
    return result;
}

/** The same flows, one by one. Release with fixture_list_release(). */
static inline fab_phase fixture_list(const fab_phase *all) {
    fab_phase out = *all;
    out.all = (fab_all_to_all){0};
    out.src = calloc(all->n_flows + 1, sizeof *out.src);
    out.dst = calloc(all->n_flows + 1, sizeof *out.dst);
    out.bytes = calloc(all->n_flows + 1, sizeof *out.bytes);
    out.comm = calloc(all->n_flows + 1, sizeof *out.comm);
    for (uint64_t i = 0; i < all->n_flows; i++) {
        fab_flow flow = fab_phase_flow(all, i);
        out.src[i] = flow.src;
        out.dst[i] = flow.dst;
        out.bytes[i] = flow.bytes;
    }
    return out;
}

static inline void fixture_list_release(fab_phase *phase) {
    free(phase->src);
    free(phase->dst);
    free(phase->bytes);
    free(phase->comm);
}

/** Offered rate of every flow of a phase. */
static inline void fixture_offered_rates(const fab_fabric *fabric, const fab_phase *phase, double *out_rate_bps) {
    fab_ports ports = {0};
    fab_offer offer = {0};
    fab_error err = {0};
    cr_assert_eq(fab_ports_init(fabric, &ports, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_offer_init(fabric, &ports, phase, &offer, &err), FAB_OK, "%s", err.text);
    for (uint64_t i = 0; i < phase->n_flows; i++) {
        out_rate_bps[i] = fab_offer_rate(&offer, phase, i);
    }
    fab_offer_release(&offer);
    fab_ports_release(&ports);
}

/** Load of every link when switches split a listed phase, `amount` per flow, evenly over all minimal next hops. */
static inline void fixture_spray_load(const fab_fabric *fabric, const fab_phase *phase, double *amount,
                                      double *out_load) {

    fab_next_hops *next_hops = fixture_next_hops(fabric);
    fab_ports ports = {0};
    fab_dag *dag = NULL;
    fab_demand demand = {0};
    fab_error err = {0};
    cr_assert_eq(fab_ports_init(fabric, &ports, &err), FAB_OK, "%s", err.text);
    const fab_offer offer = {.fabric = fabric, .ports = &ports, .rate = amount};
    cr_assert_eq(fab_demand_init(fabric, &ports, next_hops, phase, &offer, &demand, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_dag_new(fabric, next_hops, &dag, &err), FAB_OK, "%s", err.text);
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        out_load[l] = demand.segment_rate[l];
    }
    cr_assert_eq(fab_split_load(dag, fab_split_even(), &demand, demand.rate, out_load, &err), FAB_OK, "%s", err.text);
    fab_dag_free(dag);
    fab_demand_release(&demand);
    fab_ports_release(&ports);
    fab_next_hops_free(next_hops);
}
