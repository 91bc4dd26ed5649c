/* Dragonfly and torus: published sizes, diameters, what they are called, and what they refuse. */
#include "fabric_fixture.h"
#include "fab/analysis.h"
#include "fab/reports.h"
#include "fab/topologies.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct built {
    fab_design design;
    fab_fabric *fabric;
    fab_counts counts;
    fab_graph_facts facts;
} built;

static built build(const char *text) {
    built b = {.fabric = NULL};
    b.fabric = fixture_build(text, &b.design, &b.counts);
    return b;
}

static void check_graph(built *b) {
    fab_error err = {0};
    cr_assert_eq(fab_graph_check(b->fabric, &b->facts, &err), FAB_OK, "%s", err.text);
}

static fab_counts predict(const char *text) {
    fab_design design;
    fab_counts counts = {0};
    fab_error err = {0};
    cr_assert_eq(fab_design_read(text, NULL, 0, &design, &err), FAB_OK, "%s: %s", text, err.text);
    cr_assert_eq(fab_topology_predict(&design.fabric, &counts, &err), FAB_OK, "%s: %s", text, err.text);
    return counts;
}

/* Kim et al., ISCA 2008, figure 5: p = h = 2, a = 4. */
Test(direct, canonical_dragonfly) {
    built b = build("dragonfly:dragonfly=2,4,2,radix=7");
    check_graph(&b);
    cr_expect_eq(b.counts.pods, 9);
    cr_expect_eq(b.counts.switches, 36);
    cr_expect_eq(b.counts.nics, 72);
    cr_expect_eq(b.counts.tiers, 1);
    cr_expect_eq(b.counts.n_boundaries, 3);
    cr_expect_eq(b.counts.cables_by_tier[0], 72);
    cr_expect_eq(b.counts.cables_by_tier[1], 36 * 3 / 2);
    cr_expect_eq(b.counts.cables_by_tier[2], 36);
    cr_expect_eq(b.facts.network_components, 1);
    cr_expect_eq(b.facts.diameter, 3);
    for (uint32_t i = 0; i < fab_n_switches(b.fabric); i++) { /* every switch is full */
        uint32_t v = b.fabric->first[FAB_NODE_SWITCH] + i;
        cr_expect_eq(b.fabric->out_first[v + 1] - b.fabric->out_first[v], 7);
    }
    fab_fabric_free(b.fabric);
}

/* The same paper: balanced, a = 2p = 2h, "scales to over 256K nodes with radix-64 routers". */
Test(direct, balanced_dragonfly) {
    fab_counts c = predict("dragonfly:gpus=262656,radix=64");
    cr_expect_eq(c.pods, 513);
    cr_expect_eq(c.switches, 16416);
    cr_expect_eq(c.nics, 262656);
    c = predict("dragonfly:dragonfly=16,32,16,radix=64");
    cr_expect_eq(c.switches, 16416);
    cr_expect_eq(c.nics, 262656);
    cr_expect_eq(c.cables_by_tier[1], 513 * 32 * 31 / 2);
    cr_expect_eq(c.cables_by_tier[2], 513 * 512 / 2);
    c = predict("dragonfly:gpus=2048,radix=64"); /* four groups of 512, 170 cables between any two */
    cr_expect_eq(c.pods, 4);
    cr_expect_eq(c.cables_by_tier[2], 6 * (32 * 16 / 3));
}

/* Every pair of groups has the same number of cables; switches of a group differ by one at most. */
Test(direct, fewer_groups_share_the_cables) {
    static const struct {
        const char *design;
        uint32_t pair;
    } CASES[] = {{"dragonfly:dragonfly=1,4,2,2,radix=8", 8},
                 {"dragonfly:dragonfly=1,4,2,4,radix=8", 2},
                 {"dragonfly:dragonfly=1,4,2,5,radix=8", 2},
                 {"dragonfly:dragonfly=1,5,3,7,1,radix=9", 2},
                 {"dragonfly:dragonfly=2,3,4,13,2,radix=10", 1}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        built b = build(CASES[i].design);
        const fab_fabric *f = b.fabric;
        uint32_t n = fab_n_switches(f);
        uint32_t *global = calloc(n, sizeof *global);
        uint32_t *pair = calloc((size_t)f->n_pods * f->n_pods, sizeof *pair);
        for (uint32_t l = 0; l < f->n_links; l++) {
            if (fab_class_of(f, l)->tier == 3) {
                uint32_t tail = fab_tail(f, l) - f->first[FAB_NODE_SWITCH];
                uint32_t head = fab_head(f, l) - f->first[FAB_NODE_SWITCH];
                global[tail]++;
                pair[f->switch_pod[tail] * f->n_pods + f->switch_pod[head]]++;
            }
        }
        for (uint32_t p = 0; p < f->n_pods * f->n_pods; p++) {
            cr_expect_eq(pair[p], p % (f->n_pods + 1) == 0 ? 0 : CASES[i].pair, "%s: pair %u has %u", CASES[i].design,
                         p, pair[p]);
        }
        uint32_t least = CASES[i].pair * (f->n_pods - 1) / (n / f->n_pods);
        for (uint32_t s = 0; s < n; s++) {
            cr_expect(global[s] == least || global[s] == least + 1, "%s: switch %u has %u", CASES[i].design, s,
                      global[s]);
        }
        free(global);
        free(pair);
        fab_fabric_free(b.fabric);
    }
}

Test(direct, torus_sizes) {
    static const struct {
        const char *shape;
        uint64_t gpus, switches, cables, diameter;
    } CASES[] = {
        {"4,4,4", 64, 64, 192, 6},
        {"8", 8, 8, 8, 4},
        {"2", 2, 2, 1, 1},
        {"1,1", 1, 1, 0, 0},
        {"2,2,2,2", 16, 16, 32, 4},
        {"5,1,3", 15, 15, 30, 3},
        {"3,3,3,3,3,3", 729, 729, 4374, 6},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char text[128];
        (void)snprintf(text, sizeof text, "torus:gpus=%u,gpus-per-server=1,torus=%s,radix=16", (unsigned)CASES[i].gpus,
                       CASES[i].shape);
        built b = build(text);
        check_graph(&b);
        cr_expect_eq(b.counts.switches, CASES[i].switches, "%s", text);
        cr_expect_eq(b.counts.cables_by_tier[1], CASES[i].cables, "%s", text);
        cr_expect_eq(b.facts.diameter, CASES[i].diameter, "%s: %u", text, b.facts.diameter);
        cr_expect_eq(b.facts.network_components, 1, "%s", text);
        fab_fabric_free(b.fabric);
    }
}

/* A torus with k even in the last dimension is cut in the middle and at the seam: 2 cables for every line along it. */
Test(direct, torus_bisection) {
    static const struct {
        const char *shape;
        uint64_t gpus, cables;
    } CASES[] = {{"4,4,8", 1024, 2 * 16}, {"8,8", 512, 2 * 8}, {"4,4,4,4", 4096, 2 * 64}, {"3,5,6", 720, 2 * 15}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char text[128];
        fab_error err = {0};
        double bps = 0;
        (void)snprintf(text, sizeof text, "torus:gpus=%u,torus=%s,port=200Gb/s", (unsigned)CASES[i].gpus,
                       CASES[i].shape);
        built b = build(text);
        cr_assert_eq(fab_bisection(b.fabric, &bps, &err), FAB_OK);
        cr_expect_eq(bps, (double)CASES[i].cables * 200e9, "%s: %g", text, bps);
        fab_fabric_free(b.fabric);
    }
}

/* Filled evenly, or switch by switch where `down` says how far. */
Test(direct, torus_filling) {
    built even = build("torus:gpus=10,gpus-per-server=1,torus=4");
    built full = build("torus:gpus=10,gpus-per-server=1,torus=4,down=4");
    static const uint32_t EVEN[] = {3, 3, 2, 2};
    static const uint32_t FULL[] = {4, 4, 2, 0};
    uint32_t n_even[4] = {0};
    uint32_t n_full[4] = {0};
    for (uint32_t l = 0; l < even.fabric->n_links; l += 2) {
        if (fab_class_of(even.fabric, l)->kind == FAB_LINK_ACCESS) {
            n_even[fab_head(even.fabric, l) - even.fabric->first[FAB_NODE_SWITCH]]++;
        }
    }
    for (uint32_t l = 0; l < full.fabric->n_links; l += 2) {
        if (fab_class_of(full.fabric, l)->kind == FAB_LINK_ACCESS) {
            n_full[fab_head(full.fabric, l) - full.fabric->first[FAB_NODE_SWITCH]]++;
        }
    }
    cr_expect_arr_eq(n_even, EVEN, sizeof EVEN);
    cr_expect_arr_eq(n_full, FULL, sizeof FULL);
    fab_fabric_free(even.fabric);
    fab_fabric_free(full.fabric);
}

Test(direct, rates_and_names) {
    built b = build("dragonfly:dragonfly=2,4,2,nic=200Gb/s,port=800Gb/s/1Tb/s,breakout=2,length=2m/20m/200m");
    char name[80];
    for (uint32_t c = 0; c < b.fabric->n_cables; c++) {
        const fab_link_class *k = &b.fabric->classes[b.fabric->cable_class[c]];
        static const double RATES[] = {0, 200e9, 400e9, 400e9};
        static const double LENGTHS[] = {0, 2, 20, 200};
        if (k->tier > 0) {
            cr_expect_eq(k->capacity_bps, RATES[k->tier]);
            cr_expect_eq(k->length_m, LENGTHS[k->tier]);
        }
    }
    cr_expect_str_eq(fab_node_name(b.fabric, b.fabric->first[FAB_NODE_SWITCH] + 17, name), "switch-17");
    cr_expect_str_eq(fab_boundary_name(b.counts.wiring, 1), "nic-switch");
    cr_expect_str_eq(fab_boundary_name(b.counts.wiring, 2), "local");
    cr_expect_str_eq(fab_boundary_name(b.counts.wiring, 3), "global");
    cr_expect_str_eq(fab_boundary_name(FAB_WIRING_TORUS, 2), "torus");
    cr_expect_str_eq(fab_boundary_name(FAB_WIRING_TREE, 3), "spine-core");
    cr_expect_str_eq(fab_direction_name(b.counts.wiring, 1, true), "up");
    cr_expect_str_eq(fab_direction_name(b.counts.wiring, 2, false), "reverse");
    fab_fabric_free(b.fabric);
}

/* Flows are counted at the boundaries that they cross, in any order. */
Test(direct, replay_counts_boundaries) {
    built b = build("dragonfly:dragonfly=2,4,2,gpus-per-server=1,radix=7");
    fab_engine_spec engine = {.text = "ecmp", .where = "test"};
    fab_result result = {.n_fabrics = 0};
    fab_error err = {0};
    const fab_context_request asked = {.design = &b.design,
                                       .fabric = b.fabric,
                                       .traffic = "pattern:all-to-all",
                                       .engines = &engine,
                                       .n_engines = 1,
                                       .seed = 1};
    fab_context *context = fixture_context(&asked);
    fab_replay what = {.context = context, .n_seeds = 1, .n_threads = 1};
    cr_assert_eq(fab_replay_run(&what, &result, &err), FAB_OK, "%s", err.text);
    fab_context_free(context);
    const fab_phase_result *p = &result.phases[0];
    cr_expect_eq(p->flows, 72 * 71);
    cr_expect_eq(p->network_flows, 72 * 71);
    cr_expect_eq(p->fabric_flows, 72 * 70);      /* all but the neighbour on the same switch */
    cr_expect_eq(p->crossing_flows[3], 72 * 64); /* all that leave the group */
    /* A global cable saves its two ends the local ones; two global cables in a row save others three. */
    cr_expect_leq(p->crossing_flows[2], 72 * 70 - 36 * 2 * 4);
    cr_expect_geq(p->crossing_flows[2], 72 * 6);
    cr_expect_eq(p->engines[0].n_tiers, 6);
    cr_expect_eq(p->engines[0].wiring, FAB_WIRING_DRAGONFLY);
    fab_result_release(&result);
    fab_fabric_free(b.fabric);
}

Test(direct, digits_need_a_tree) {
    static const char *const DESIGNS[] = {"dragonfly:dragonfly=2,4,2", "torus:gpus=64,torus=4,4"};
    for (size_t i = 0; i < 2; i++) {
        built b = build(DESIGNS[i]);
        fab_engine_spec engine = {.text = "dmodk", .where = "--engine"};
        fab_router router;
        fab_error err = {0};
        fab_next_hops *next_hops = fixture_next_hops(b.fabric);
        cr_assert_eq(fab_router_init(&engine, b.fabric, next_hops, &router, &err), FAB_EUNSUPPORTED);
        cr_assert_not_null(strstr(err.text, i == 0 ? "dragonfly" : "torus"), "%s", err.text);
        cr_assert_str_eq(err.where, "--engine");
        fab_next_hops_free(next_hops);
        fab_fabric_free(b.fabric);
    }
}
