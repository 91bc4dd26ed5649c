/* Adaptive routing against the oracle that lists every path, link by link. */
#include "fabric_fixture.h"
#include "demand/demand.h"
#include "fab/rng.h"
#include "fab/routing.h"
#include "fab/topologies.h"
#include "oracle_adaptive.h"
#include "random_design.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct setup {
    fab_design design;
    fab_fabric *fabric;
    uint64_t *dead;   /* set over links */
    uint8_t *is_dead; /* the same in bytes */
    fab_next_hops *next_hops;
    fab_traffic traffic;
    double *rate;
} setup;

static void discard(setup *s) {
    fab_traffic_release(&s->traffic);
    fab_next_hops_free(s->next_hops);
    fab_fabric_free(s->fabric);
    free(s->dead);
    free(s->is_dead);
    free(s->rate);
}

/* No pair of leaves lost its way with the cables. */
static bool is_as_connected(const setup *s) {
    bool same = true;
    fab_next_hops *healthy = fixture_next_hops(s->fabric);
    for (uint32_t leaf = 0; leaf < healthy->n_leaves; leaf++) {
        for (uint32_t v = 0; v < fab_n_switches(s->fabric); v++) {
            bool is_leaf = healthy->leaf_index[v] != FAB_NONE;
            same = same && (!is_leaf || (fab_next_hops_group(healthy, v, leaf) == 0) ==
                                            (fab_next_hops_group(s->next_hops, v, leaf) == 0));
        }
    }
    fab_next_hops_free(healthy);
    return same;
}

/* Kills a cable in `one_in`, 0 for none. Returns whether all leaves that reached each other still do. */
static bool prepare(setup *s, const char *pattern, uint32_t one_in, uint64_t seed) {
    fab_error err = {0};
    fab_rng rng = fab_rng_make(seed, 77);
    s->dead = calloc(s->fabric->n_links / 64 + 1, sizeof *s->dead);
    s->is_dead = calloc(s->fabric->n_links, 1);
    for (uint32_t c = 0; one_in > 0 && c < s->fabric->n_cables; c++) {
        if (s->fabric->classes[s->fabric->cable_class[c]].kind == FAB_LINK_FABRIC && fab_rng_below(&rng, one_in) == 0) {
            s->dead[2 * c / 64] |= (uint64_t)3 << (2 * c % 64);
            s->is_dead[2 * c] = 1;
            s->is_dead[2 * c + 1] = 1;
        }
    }
    cr_assert_eq(fab_next_hops_new(s->fabric, s->dead, &s->next_hops, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_traffic_make(pattern, &s->design, s->fabric, seed, &s->traffic, &err), FAB_OK, "%s", err.text);
    const fab_phase *phase = &s->traffic.phases[0];
    s->rate = calloc(phase->n_flows + 1, sizeof *s->rate);
    for (uint32_t i = 0; i < phase->n_flows; i++) { /* equal ones, so that there are ties, and others */
        s->rate[i] = seed % 2 == 0 ? 4e11 : 1e9 * (double)(1 + fab_rng_below(&rng, 400));
    }
    return is_as_connected(s);
}

/* Only flows that some NIC in some plane has a way for. */
static void leave_connected(setup *s) {
    fab_phase *phase = &s->traffic.phases[0];
    fab_ports ports;
    uint32_t n = 0;
    cr_assert_eq(fab_ports_init(s->fabric, &ports, NULL), FAB_OK);
    const fab_demand_source source = {
        .fabric = s->fabric, .ports = &ports, .next_hops = s->next_hops, .dead_link = s->dead};
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        const fab_flow flow = fab_phase_flow(phase, i);
        bool has_way = false;
        for (uint32_t nic = 0; nic < ports.nics_per_gpu; nic++) {
            for (uint32_t plane = 0; plane < ports.n_planes; plane++) {
                has_way = has_way || fab_part_has_way(&source, &flow, nic, plane);
            }
        }
        phase->src[n] = phase->src[i];
        phase->dst[n] = phase->dst[i];
        phase->bytes[n] = phase->bytes[i];
        n += has_way;
    }
    phase->n_flows = n;
    fab_ports_release(&ports);
}

static uint32_t compare(const setup *s, const char *engine, const oracle_adaptive_rule *rule) {
    fab_routes routes = {0};
    fab_error err = {0};
    uint32_t n = 0;
    const fab_phase *phase = &s->traffic.phases[0];
    fab_router router = fixture_router(engine, s->fabric, s->next_hops);
    router.dead_link = s->dead;
    cr_assert_eq(fab_route_flows(&router, phase, 0, (uint32_t)phase->n_flows, s->rate, rule->seed, &routes, &err),
                 FAB_OK, "%s: %s", s->design.origin, err.text);
    oracle_path *slow = oracle_adaptive(s->fabric, s->is_dead, phase, s->rate, rule, &n);
    cr_assert_eq(routes.flow_first[routes.n_flows], n, "%s, %s", s->design.origin, engine);
    for (uint32_t path = 0; path < n; path++) {
        uint32_t k = 0;
        for (size_t i = routes.path_first[path]; i < routes.path_first[path + 1]; i++) {
            fab_link_id link = routes.link[i];
            bool is_access = fab_class_of(s->fabric, link)->kind == FAB_LINK_ACCESS;
            cr_assert(!is_access || link == slow[path].up || link == slow[path].down || slow[path].up == FAB_NONE,
                      "%s, %s: path %u by link %u", s->design.origin, engine, path, link);
            if (fab_class_of(s->fabric, link)->kind == FAB_LINK_FABRIC) {
                cr_assert(k < slow[path].n && slow[path].link[k] == link, "%s, %s: path %u, hop %u", s->design.origin,
                          engine, path, k);
                k++;
            }
        }
        cr_assert_eq(k, slow[path].n, "%s, %s: path %u", s->design.origin, engine, path);
    }
    free(slow);
    fab_routes_release(&routes);
    fab_router_release(&router);
    return n;
}

static const struct {
    const char *engine;
    oracle_adaptive_rule rule;
} ROWS[] = {{"adaptive,granularity=flow", {0, 1, 0}},
            {"adaptive,granularity=flow,view=downstream", {0, 1, 1}},
            {"adaptive,granularity=flowlet", {0, 8, 0}},
            {"adaptive,granularity=flowlet,view=downstream", {0, 8, 1}},
            {"adaptive,granularity=packet,parts=20", {0, 20, 0}},
            {"adaptive,granularity=flow,parts=3,qp=2,view=downstream", {0, 6, 1}}};
#define N_ROWS (sizeof ROWS / sizeof ROWS[0])

static uint32_t compare_all(const setup *s, uint64_t seed) {
    uint32_t n = 0;
    for (size_t row = 0; row < N_ROWS; row++) {
        oracle_adaptive_rule rule = ROWS[row].rule;
        rule.seed = seed;
        n += compare(s, ROWS[row].engine, &rule);
    }
    return n;
}

Test(oracle_adaptive, every_family) {
    static const char *const DESIGNS[] = {
        "clos:gpus=32,gpus-per-server=4,radix=16,tiers=2",
        "clos:gpus=48,gpus-per-server=4,radix=16/12/8,taper=3/2,tiers=3,pod=24",
        "fat-tree:k=4,gpus-per-server=1",
        "fat-tree:gpus=40,gpus-per-server=1,radix=8,taper=1.5",
        "rail-spine:gpus=48,gpus-per-server=4,radix=8,tiers=3",
        "rail-only:gpus=64,gpus-per-server=8,domain=16,radix=8",
        "dragonfly:dragonfly=2,4,2,gpus-per-server=4,radix=7",
        "dragonfly:gpus=36,gpus-per-server=4,dragonfly=2,5,3,4,2,radix=16",
        "torus:gpus=32,gpus-per-server=4,torus=4,4,2,radix=8",
        "torus:gpus=60,gpus-per-server=4,torus=3,5,down=4,radix=9",
        "torus:gpus=144,gpus-per-server=4,torus=6,6,radix=8",
        "clos:gpus=32,gpus-per-server=4,nic=100Gb/s,port=100Gb/s/400Gb/s,breakout=4/1,radix=16,tiers=2"};
    for (size_t i = 0; i < sizeof DESIGNS / sizeof DESIGNS[0]; i++) {
        for (uint64_t seed = 1; seed <= 4; seed++) {
            setup s = {0};
            s.fabric = fixture_build(DESIGNS[i], &s.design, NULL);
            if (prepare(&s, "pattern:permutation", seed > 2 ? 12 : 0, seed)) {
                cr_assert_gt(compare_all(&s, seed), N_ROWS * 16);
            } else {
                cr_assert_gt(seed, 2, "%s", DESIGNS[i]);
            }
            discard(&s);
        }
    }
}

Test(oracle_adaptive, random_fabrics_with_dead_cables) {
    fab_rng rng = fab_rng_make(5, 0);
    uint64_t n_paths = 0;
    int n_fabrics = 0;
    for (int i = 0; i < 4000 && n_fabrics < 60; i++) {
        setup s = {0};
        random_design d = random_design_next(&rng, 6);
        bool fits = fab_design_read(d.text, NULL, 0, &s.design, NULL) == FAB_OK &&
                    fab_topology_build(&s.design.fabric, &s.fabric, NULL, NULL) == FAB_OK && s.fabric->n_planes == 1 &&
                    fab_n_of(s.fabric, FAB_NODE_NIC) == fab_n_gpus(s.fabric) && fab_n_gpus(s.fabric) > 1 &&
                    fab_n_switches(s.fabric) > 2 && fab_n_switches(s.fabric) < 80 && s.fabric->n_links < 600 &&
                    !s.fabric->forwards_in_domain; /* who relays in part-filled domains is beyond the oracle */
        if (fits && prepare(&s, "pattern:permutation", i % 3 == 0 ? 0 : 10, (uint64_t)i)) {
            n_paths += compare_all(&s, (uint64_t)i);
            n_fabrics++;
        }
        discard(&s);
    }
    cr_assert_eq(n_fabrics, 60);
    cr_assert_gt(n_paths, 10000);
}

/* NICs in planes that are lost, of some flows and not of others: their parts go by those that are left. */
Test(oracle_adaptive, parts_of_lost_ways) {
    static const char *const DESIGNS[] = {"rail-spine:gpus=32,gpus-per-server=4,radix=8,planes=2",
                                          "rail-spine:gpus=32,gpus-per-server=4,radix=8,planes=3",
                                          "clos:gpus=32,gpus-per-server=4,nics-per-server=8,radix=16",
                                          "clos:gpus=16,gpus-per-server=2,nics-per-server=4,radix=8,planes=2"};
    static const struct {
        const char *engine;
        uint32_t parts; /* of a NIC */
        int downstream;
    } LOSSES[] = {{"adaptive,granularity=flow", 1, 0},
                  {"adaptive,granularity=flow,qp=3", 3, 0},
                  {"adaptive,granularity=flowlet,view=downstream", 8, 1},
                  {"adaptive,granularity=packet,parts=20", 20, 0}};
    uint32_t n_left = 0;
    for (size_t i = 0; i < sizeof DESIGNS / sizeof DESIGNS[0]; i++) {
        for (uint64_t seed = 1; seed <= 6; seed++) {
            setup s = {0};
            s.fabric = fixture_build(DESIGNS[i], &s.design, NULL);
            uint32_t nics = fab_n_of(s.fabric, FAB_NODE_NIC) / fab_n_gpus(s.fabric);
            uint32_t planes = s.fabric->n_planes;
            (void)prepare(&s, "pattern:permutation", 12, seed);
            fab_rng rng = fab_rng_make(seed, i);
            for (uint32_t c = 0; c < s.fabric->n_cables; c++) {
                if (s.fabric->classes[s.fabric->cable_class[c]].kind == FAB_LINK_ACCESS &&
                    fab_rng_below(&rng, 5) == 0) {
                    s.dead[2 * c / 64] |= (uint64_t)3 << (2 * c % 64);
                    s.is_dead[2 * c] = s.is_dead[2 * c + 1] = 1;
                }
            }
            leave_connected(&s);
            for (size_t row = 0; row < sizeof LOSSES / sizeof LOSSES[0]; row++) {
                uint32_t parts = (LOSSES[row].parts + planes - 1) / planes * planes * nics; /* as many in each plane */
                oracle_adaptive_rule rule = {seed, parts, LOSSES[row].downstream};
                n_left += compare(&s, LOSSES[row].engine, &rule);
            }
            discard(&s);
        }
    }
    cr_assert_gt(n_left, 10000);
}
