/* igraph's view of small fabrics of every family: connectivity, diameter, and the minimum cut that reports state. */
#include "fabric_fixture.h"
#include "fab/analysis.h"
#include "fab/graph_parts.h"
#include "fab/rng.h"
#include "fab/topologies.h"
#include "oracle_network.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static const struct {
    const char *design;
    uint32_t network_components, diameter;
} CASES[] = {
    {"clos:gpus=16,radix=32", 1, 0},
    {"clos:gpus=32,gpus-per-server=4,radix=16,tiers=2", 1, 2},
    {"clos:gpus=96,gpus-per-server=2,radix=8", 1, 4},
    {"clos:gpus=48,gpus-per-server=4,radix=16/12/8,taper=3/2,tiers=3,pod=24", 1, 4},
    {"clos:gpus=64,gpus-per-server=8,radix=32,taper=5,tiers=2", 1, 2},
    {"fat-tree:k=4,gpus-per-server=1", 1, 4},
    {"fat-tree:k=8", 1, 4},
    {"rail-spine:gpus=72,gpus-per-server=8,radix=16", 1, 2},
    {"rail-spine:gpus=1024,radix=64", 1, 2},
    {"rail-spine:gpus=512,radix=16", 1, 4},
    {"rail-spine:gpus=512,radix=16,taper=2/3", 1, 4},
    {"rail-only:gpus=64,gpus-per-server=8,domain=16,radix=8", 8, 0}, /* two rails a switch */
    {"rail-only:gpus=256,gpus-per-server=8,domain=8,radix=16", 8, 2},
    {"dragonfly:dragonfly=2,4,2,radix=7", 1, 3},
    {"dragonfly:gpus=60,gpus-per-server=4,dragonfly=2,5,3,7,2,radix=16", 1, 3}, /* fewer groups, trunks, free ports */
    {"dragonfly:gpus=24,gpus-per-server=4,dragonfly=4,6,2,1,radix=16", 1, 1},
    {"dragonfly:gpus=64,gpus-per-server=4,radix=7,planes=2", 2, 3},
    {"torus:gpus=64,gpus-per-server=1,torus=4,4,4,radix=7", 1, 6},
    {"torus:gpus=96,gpus-per-server=4,torus=2,3,5", 1, 4},
    {"torus:gpus=64,gpus-per-server=4,torus=5,4,down=4,radix=8", 1, 4}, /* four switches without NICs */
    {"torus:gpus=48,gpus-per-server=4,torus=6,planes=2", 2, 3},
};

Test(graph, igraph_agrees) {
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        fab_design design;
        fab_graph_facts facts = {0};
        fab_error err = {0};
        double cut = 0;
        fab_fabric *fabric = fixture_build(CASES[i].design, &design, NULL);
        cr_assert_eq(fab_graph_check(fabric, &facts, &err), FAB_OK, "%s: %s", CASES[i].design, err.text);
        cr_assert_eq(fab_bisection(fabric, &cut, &err), FAB_OK, "%s: %s", CASES[i].design, err.text);
        cr_assert_eq(facts.components, 1, "%s: %u components", CASES[i].design, facts.components);
        cr_assert_eq(facts.network_components, CASES[i].network_components, "%s: %u networks", CASES[i].design,
                     facts.network_components);
        cr_assert_eq(facts.diameter, CASES[i].diameter, "%s: diameter %u", CASES[i].design, facts.diameter);
        cr_assert_eq(facts.bisection_bps, cut, "%s: igraph cuts %.17g, the report says %.17g", CASES[i].design,
                     facts.bisection_bps, cut);
        cr_assert_gt(cut, 0);
        fab_fabric_free(fabric);
    }
}

/* The largest of the oracle's distances is igraph's diameter. */
Test(graph, distances_reach_the_diameter) {
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        fab_design design;
        fab_graph_facts facts = {0};
        fab_error err = {0};
        int longest = 0;
        fab_fabric *fabric = fixture_build(CASES[i].design, &design, NULL);
        cr_assert_eq(fab_graph_check(fabric, &facts, &err), FAB_OK);
        for (fab_node_id v = fabric->first[FAB_NODE_SWITCH]; v < fabric->n_nodes; v++) {
            int *distance = oracle_distances(fabric, v);
            for (uint32_t u = 0; u < fab_n_switches(fabric); u++) {
                longest = distance[u] > longest ? distance[u] : longest;
            }
            free(distance);
        }
        cr_assert_eq((uint32_t)longest, facts.diameter, "%s", CASES[i].design);
        fab_fabric_free(fabric);
    }
}

#define MOST_VERTICES 12

/* Adds what hangs together with `v` without `lost` to `part`. */
static void join(uint32_t n, const fab_edges *e, uint32_t lost, uint32_t v, bool *part) {
    part[v] = true;
    for (uint32_t round = 0; round < n; round++) {
        for (size_t i = 0; i < e->n; i++) {
            uint32_t a = e->ends[2 * i];
            uint32_t b = e->ends[2 * i + 1];
            if (a != lost && b != lost && (part[a] || part[b])) {
                part[a] = part[b] = true;
            }
        }
    }
}

/* What igraph says vertices cut off, against taking each out of small graphs drawn at random. */
Test(graph, cuts_are_what_a_vertex_holds_together) {
    for (uint64_t seed = 0; seed < 2000; seed++) {
        fab_rng rng = fab_rng_make(seed, 0);
        fab_edges edges = {.n = 0};
        fab_error err = {0};
        uint32_t n = (uint32_t)fab_rng_below(&rng, MOST_VERTICES + 1);
        uint32_t weight[MOST_VERTICES + 1] = {0};
        uint32_t first[MOST_VERTICES + 1];
        uint32_t root[MOST_VERTICES + 1];
        uint32_t cut[MOST_VERTICES + 1];
        for (uint32_t v = 0; v < n; v++) {
            weight[v] = (uint32_t)fab_rng_below(&rng, 3);
        }
        for (uint64_t k = n > 0 ? fab_rng_below(&rng, n + n / 2 + 1) : 0; k > 0;
             k--) { /* parallel ones and loops too */
            cr_assert_eq(
                fab_edges_add(&edges, (uint32_t)fab_rng_below(&rng, n), (uint32_t)fab_rng_below(&rng, n), &err),
                FAB_OK);
        }
        cr_assert_eq(fab_graph_components(n, &edges, first, &err), FAB_OK, "%s", err.text);
        cr_assert_eq(fab_graph_cuts(n, &edges, weight, root, cut, &err), FAB_OK, "%s", err.text);
        for (uint32_t v = 0; v < n; v++) {
            bool part[MOST_VERTICES] = {false};
            bool rest[MOST_VERTICES] = {false};
            uint32_t least = UINT32_MAX;
            uint32_t with_weight = UINT32_MAX;
            uint32_t lost = 0;
            join(n, &edges, UINT32_MAX, v, part);
            for (uint32_t u = n; u-- > 0;) {
                least = part[u] ? u : least;
                with_weight = part[u] && weight[u] > 0 ? u : with_weight;
            }
            cr_assert_eq(first[v], least, "seed %lu vertex %u", (unsigned long)seed, v);
            cr_assert_eq(root[v], with_weight, "seed %lu vertex %u", (unsigned long)seed, v);
            if (with_weight != UINT32_MAX && with_weight != v) {
                join(n, &edges, v, with_weight, rest);
                for (uint32_t u = 0; u < n; u++) {
                    lost += part[u] && !rest[u] && u != v ? weight[u] : 0;
                }
            }
            cr_assert_eq(cut[v], lost, "seed %lu vertex %u: cuts off %u, not %u", (unsigned long)seed, v, cut[v], lost);
        }
        fab_edges_release(&edges);
    }
}

#define MOST_PLACED 600

static double apart(double (*at)[2], uint32_t a, uint32_t b) {
    return hypot(at[a][0] - at[b][0], at[a][1] - at[b][1]);
}

/* A ring, by both ways of placing: neighbours stand close, what is opposite does not, and twice the same. */
Test(graph, places) {
    static const uint32_t SIZES[] = {1, 2, 24, MOST_PLACED};
    static double at[MOST_PLACED][2];
    static double again[MOST_PLACED][2];
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        const uint32_t n = SIZES[i];
        fab_edges edges = {.n = 0};
        fab_error err = {0};
        for (uint32_t v = 0; v < n; v++) {
            cr_assert_eq(fab_edges_add(&edges, v, (v + 1) % n, &err), FAB_OK);
        }
        cr_assert_eq(fab_graph_places(n, &edges, at, &err), FAB_OK, "%s", err.text);
        cr_assert_eq(fab_graph_places(n, &edges, again, &err), FAB_OK, "%s", err.text);
        for (uint32_t v = 0; v < n; v++) {
            cr_assert(isfinite(at[v][0]) && isfinite(at[v][1]));
            cr_assert(at[v][0] == again[v][0] && at[v][1] == again[v][1], "vertex %u of %u moves", v, n);
            cr_assert(n < 24 || apart(at, v, (v + 1) % n) < apart(at, v, (v + n / 2) % n), "vertex %u of %u", v, n);
        }
        fab_edges_release(&edges);
    }
}
