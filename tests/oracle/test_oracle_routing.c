/* The fast path against the slow oracle, on every family. */
#include "fabric_fixture.h"
#include "route_load.h"
#include "fab/analysis.h"
#include "fab/memory.h"
#include "fab/routing.h"
#include "fab/topologies.h"
#include "oracle_network.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const DESIGNS[] = {
    "clos:gpus=32,gpus-per-server=4,radix=16,tiers=2",
    "clos:gpus=96,gpus-per-server=2,radix=8",
    "clos:gpus=48,gpus-per-server=4,radix=16/12/8,taper=3/2,tiers=3,pod=24",
    "fat-tree:k=4,gpus-per-server=1",
    "fat-tree:k=6,gpus-per-server=1",
    "fat-tree:gpus=40,gpus-per-server=1,radix=8,taper=1.5",
    "rail-spine:gpus=64,gpus-per-server=4,radix=16",
    "rail-spine:gpus=48,gpus-per-server=4,radix=8,tiers=3",
    "rail-spine:gpus=64,gpus-per-server=8,radix=8,taper=2",
    "rail-only:gpus=64,gpus-per-server=8,domain=16,radix=8",
    "rail-only:gpus=64,gpus-per-server=4,radix=6",
    "dragonfly:dragonfly=2,4,2,gpus-per-server=4,radix=7", /* from here on: no tiers */
    "dragonfly:gpus=36,gpus-per-server=4,dragonfly=2,5,3,4,2,radix=16",
    "torus:gpus=64,gpus-per-server=4,torus=4,4,2,radix=8",
    "torus:gpus=60,gpus-per-server=4,torus=3,5,down=4,radix=9",
};
#define N_DESIGNS (sizeof DESIGNS / sizeof DESIGNS[0])
#define N_TREES   (N_DESIGNS - 4)

typedef struct setup {
    fab_design design;
    fab_fabric *fabric;
    fab_next_hops *next_hops;
    fab_traffic traffic;
} setup;

static setup make(const char *text, const char *traffic, uint64_t seed) {
    setup s = {0};
    fab_error err = {0};
    s.fabric = fixture_build(text, &s.design, NULL);
    s.next_hops = fixture_next_hops(s.fabric);
    cr_assert_eq(fab_traffic_make(traffic, &s.design, s.fabric, seed, &s.traffic, &err), FAB_OK, "%s: %s", text,
                 err.text);
    return s;
}

static void discard(setup *s) {
    fab_traffic_release(&s->traffic);
    fab_next_hops_free(s->next_hops);
    fab_fabric_free(s->fabric);
}

Test(oracle, next_hops_are_those_of_breadth_first_search) {
    uint32_t n_routes = 0;
    for (size_t i = 0; i < N_DESIGNS; i++) {
        setup s = make(DESIGNS[i], "pattern:ring", 1);
        uint32_t base = s.fabric->first[FAB_NODE_SWITCH];
        for (uint32_t leaf = 0; leaf < s.next_hops->n_leaves; leaf++) {
            int *distance = oracle_distances(s.fabric, s.next_hops->leaf_node[leaf]);
            for (fab_node_id v = base; v < s.fabric->n_nodes; v++) {
                fab_link_id slow[4096];
                uint32_t n_slow = distance[v - base] > 0 ? oracle_next_hops(s.fabric, distance, v, slow) : 0;
                fab_next_hop_list fast = fab_next_hops_get(s.next_hops, v - base, leaf);
                cr_assert_eq(fast.count, n_slow, "%s: switch %u to leaf %u", DESIGNS[i], v - base, leaf);
                for (uint32_t k = 0; k < n_slow; k++) {
                    cr_assert_eq(fab_next_hop(&fast, k), slow[k], "%s: switch %u to leaf %u", DESIGNS[i], v - base,
                                 leaf);
                }
                n_routes += n_slow;
            }
            free(distance);
        }
        discard(&s);
    }
    cr_assert_gt(n_routes, 10000);
}

/* Access and fabric links; scale-up and PCIe links are outside the oracle's scope. */
static void compare(const setup *s, const double *fast, const double *slow, const char *what) {
    double total = 0;
    for (uint32_t l = 0; l < s->fabric->n_links; l++) {
        if (fab_class_of(s->fabric, l)->tier == 0) {
            continue;
        }
        total += slow[l];
        cr_assert_lt(fabs(fast[l] - slow[l]), 1e-9 * fmax(1, slow[l]), "%s, %s: link %u carries %g, not %g",
                     s->design.origin, what, l, fast[l], slow[l]);
    }
    cr_assert_gt(total, 0, "%s, %s: nothing was sent", s->design.origin, what);
}

static void check_engine(const char *design, const char *engine, const oracle_choice *choice) {
    setup s = make(design, "pattern:permutation", choice->seed);
    fab_routes routes = {0};
    fab_error err = {0};
    double *amount = calloc(s.traffic.phases[0].n_flows, sizeof *amount);
    double *fast = calloc(s.fabric->n_links, sizeof *fast);
    for (uint32_t i = 0; i < s.traffic.phases[0].n_flows; i++) {
        amount[i] = (double)s.traffic.phases[0].bytes[i];
    }
    fab_router router = fixture_router(engine, s.fabric, s.next_hops);
    cr_assert_eq(fab_route_phase(&router, &s.traffic.phases[0], choice->seed, &routes, &err), FAB_OK, "%s", err.text);
    route_load(s.fabric, &routes, amount, fast);
    cr_assert_eq(fab_check_conservation(s.fabric, fast, &err), FAB_OK, "%s: %s", design, err.text);
    double *slow = oracle_load(s.fabric, &s.traffic.phases[0], choice);
    compare(&s, fast, slow, engine);
    free(slow);
    free(fast);
    free(amount);
    fab_routes_release(&routes);
    fab_router_release(&router);
    discard(&s);
}

#define EVERY "sdpSD"

Test(oracle, ecmp_loads) {
    static const struct {
        const char *engine;
        uint32_t queue_pairs;
        oracle_tier tier[4];
    } ROWS[] = {
        {"ecmp,hash=crc32",
         1,
         {{ORACLE_CRC32, EVERY, 0, 0},
          {ORACLE_CRC32, EVERY, 0, 8},
          {ORACLE_CRC32, EVERY, 0, 16},
          {ORACLE_CRC32, EVERY, 0, 24}}},
        {"ecmp,hash=crc32,qp=4",
         4,
         {{ORACLE_CRC32, EVERY, 0, 0},
          {ORACLE_CRC32, EVERY, 0, 8},
          {ORACLE_CRC32, EVERY, 0, 16},
          {ORACLE_CRC32, EVERY, 0, 24}}},
        {"ecmp,hash=crc32c,qp=2,offset=3,fields=5tuple+dqp",
         2,
         {{ORACLE_CRC32C, "sdpSDq", 0, 3},
          {ORACLE_CRC32C, "sdpSDq", 0, 3},
          {ORACLE_CRC32C, "sdpSDq", 0, 3},
          {ORACLE_CRC32C, "sdpSDq", 0, 3}}},
        {"ecmp,hash=crc32/crc32k/crc16/xor,offset=0/5,fields=ips/sport+dqp/dstip/5tuple,hash-seed=0/77/4000000000",
         1,
         {{ORACLE_CRC32, "sd", 0, 0},
          {ORACLE_CRC32K, "Sq", 77, 5},
          {ORACLE_CRC16, "d", 4000000000, 5},
          {ORACLE_XOR, EVERY, 4000000000, 5}}},
        {"ecmp,qp=3,hash=crc16/crc32k,offset=9/20",
         3,
         {{ORACLE_CRC16, EVERY, 0, 9},
          {ORACLE_CRC32K, EVERY, 0, 20},
          {ORACLE_CRC32K, EVERY, 0, 20},
          {ORACLE_CRC32K, EVERY, 0, 20}}},
        {"ecmp,qp=2,hash=xor,offset=0/4/20,fields=srcip+sport/5tuple/dqp+dport,hash-seed=99999",
         2,
         {{ORACLE_XOR, "sS", 99999, 0},
          {ORACLE_XOR, EVERY, 99999, 4},
          {ORACLE_XOR, "qD", 99999, 20},
          {ORACLE_XOR, "qD", 99999, 20}}},
    };
    for (size_t i = 0; i < N_DESIGNS; i++) {
        for (size_t row = 0; row < sizeof ROWS / sizeof ROWS[0]; row++) {
            for (uint64_t seed = 1; seed <= 2; seed++) {
                oracle_choice choice = {.kind = ORACLE_ECMP, .seed = seed, .queue_pairs = ROWS[row].queue_pairs};
                memcpy(choice.tier, ROWS[row].tier, sizeof choice.tier);
                check_engine(DESIGNS[i], ROWS[row].engine, &choice);
            }
        }
    }
}

Test(oracle, dmodk_loads) {
    for (size_t i = 0; i < N_TREES; i++) {
        oracle_choice choice = {.kind = ORACLE_DMODK, .seed = 7, .queue_pairs = 1};
        check_engine(DESIGNS[i], "dmodk", &choice);
    }
}

Test(oracle, pinned_loads) {
    for (size_t i = 0; i < N_TREES; i++) {
        oracle_choice two = {.kind = ORACLE_PINNED, .seed = 7, .queue_pairs = 1, .slices = 2};
        oracle_choice three = {.kind = ORACLE_PINNED, .seed = 8, .queue_pairs = 1, .slices = 3};
        check_engine(DESIGNS[i], "pinned", &two);
        check_engine(DESIGNS[i], "pinned,slices=3", &three);
    }
}

typedef struct updn_check {
    int *nearness;
    int **rule, **best; /* [switch]: distances to it, made when asked for */
    uint64_t hops, best_hops;
} updn_check;

/* Never climbs after it descended, and is as short as the rule allows: in a tree the shortest up/down route; elsewhere
 * tables by destination must turn at the first chance, and some routes are longer. */
static void check_updn_path(const setup *s, const fab_link_id *links, size_t n, bool is_tree, updn_check *c) {
    const fab_fabric *f = s->fabric;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    int hops = 0;
    bool descended = false;
    uint32_t from = 0;
    uint32_t to = 0;
    for (size_t i = 0; i < n; i++) {
        if (fab_class_of(f, links[i])->kind != FAB_LINK_FABRIC) {
            continue;
        }
        bool climbs = oracle_climbs(f, c->nearness, links[i]) != 0;
        cr_assert(!climbs || !descended, "%s: climbs after it descended", s->design.origin);
        descended = descended || !climbs;
        from = hops == 0 ? fab_tail(f, links[i]) - base : from;
        to = fab_head(f, links[i]) - base;
        hops++;
    }
    if (hops == 0) {
        return;
    }
    if (c->rule[to] == NULL) {
        c->rule[to] = oracle_updn_distances(f, c->nearness, base + to, 1);
        c->best[to] = oracle_updn_distances(f, c->nearness, base + to, 0);
    }
    cr_assert_eq(hops, c->rule[to][from], "%s: %d cables from %u to %u, not %d", s->design.origin, hops, from, to,
                 c->rule[to][from]);
    cr_assert_geq(hops, c->best[to][from]);
    cr_assert(!is_tree || hops == c->best[to][from], "%s: from %u to %u", s->design.origin, from, to);
    c->hops += (uint64_t)hops;
    c->best_hops += (uint64_t)c->best[to][from];
}

static void check_updn(const char *design, bool is_tree) {
    setup s = make(design, "pattern:all-to-all", 1);
    uint32_t n_switches = fab_n_switches(s.fabric);
    fab_engine_spec spec = {.text = "updn", .where = "test"};
    fab_router router;
    fab_routes routes = {0};
    fab_error err = {0};
    updn_check c = {.nearness = oracle_nearness(s.fabric),
                    .rule = calloc(n_switches, sizeof *c.rule),
                    .best = calloc(n_switches, sizeof *c.best)};
    cr_assert_eq(fab_router_init(&spec, s.fabric, s.next_hops, &router, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_route_phase(&router, &s.traffic.phases[0], 1, &routes, &err), FAB_OK, "%s", err.text);
    for (uint32_t path = 0; path < routes.flow_first[routes.n_flows]; path++) {
        size_t first = routes.path_first[path];
        check_updn_path(&s, routes.link + first, routes.path_first[path + 1] - first, is_tree, &c);
    }
    cr_assert_leq((double)c.hops, 1.2 * (double)c.best_hops, "%s: %llu hops, %llu at best", design,
                  (unsigned long long)c.hops, (unsigned long long)c.best_hops);
    for (uint32_t v = 0; v < n_switches; v++) {
        free(c.rule[v]);
        free(c.best[v]);
    }
    free(c.rule);
    free(c.best);
    free(c.nearness);
    fab_routes_release(&routes);
    fab_router_release(&router);
    discard(&s);
}

Test(oracle, updn_routes) {
    for (size_t i = 0; i < N_DESIGNS; i++) {
        check_updn(DESIGNS[i], i < N_TREES);
    }
}

Test(oracle, updn_loads) {
    for (size_t i = 0; i < N_TREES; i++) { /* in a tree both take the same digit */
        oracle_choice choice = {.kind = ORACLE_DMODK, .seed = 9, .queue_pairs = 1};
        check_engine(DESIGNS[i], "updn", &choice);
    }
}

Test(oracle, spray_loads) {
    for (size_t i = 0; i < N_DESIGNS; i++) {
        for (int all = 0; all < 2; all++) {
            setup s = make(DESIGNS[i], all ? "pattern:all-to-all" : "pattern:permutation", 5);
            fab_phase *phase = &s.traffic.phases[0];
            if (all) {
                *phase = fixture_list(phase); /* as the oracle wants them */
            }
            double *amount = calloc(phase->n_flows, sizeof *amount);
            double *fast = calloc(s.fabric->n_links, sizeof *fast);
            fab_error err = {0};
            for (uint32_t k = 0; k < phase->n_flows; k++) {
                amount[k] = (double)phase->bytes[k];
            }
            fixture_spray_load(s.fabric, phase, amount, fast);
            double *slow = oracle_spray(s.fabric, phase);
            compare(&s, fast, slow, "spray");
            cr_assert_eq(fab_check_conservation(s.fabric, fast, &err), FAB_OK, "%s", err.text);
            free(slow);
            free(fast);
            free(amount);
            discard(&s);
        }
    }
}
