/* Dependencies and cycles against depth-first search over a matrix. */
#include "fabric_fixture.h"
#include "fab/deadlock.h"
#include "fab/graph_cycle.h"
#include "fab/rng.h"
#include "fab/topologies.h"
#include "fab/traffic.h"
#include "oracle_deadlock.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- graphs ------------------------------------------------------------------------------------------------------ */

/* fab_graph_cycle on a matrix; checks that the cycle is one, through the smallest vertex on any, and shortest there. */
static uint32_t check_cycle(const oracle_graph *g, const char *what) {
    fab_error err = {0};
    size_t n = 0;
    uint32_t *from = malloc(((size_t)g->n * g->n + 1) * sizeof *from);
    uint32_t *to = malloc(((size_t)g->n * g->n + 1) * sizeof *to);
    uint32_t *cycle = NULL;
    uint32_t length = 77;
    for (uint32_t a = 0; a < g->n; a++) {
        for (uint32_t b = 0; b < g->n; b++) {
            if (g->edge[(size_t)a * g->n + b]) {
                from[n] = a;
                to[n++] = b;
            }
        }
    }
    cr_assert_eq(fab_graph_cycle(g->n, n, from, to, &cycle, &length, &err), FAB_OK, "%s: %s", what, err.text);
    cr_assert_eq(length > 0, oracle_has_cycle(g), "%s: cycle of %u", what, length);
    for (uint32_t i = 0; i < length; i++) {
        uint32_t next = cycle[(i + 1) % length];
        cr_assert(g->edge[(size_t)cycle[i] * g->n + next], "%s: %u does not lead to %u", what, cycle[i], next);
        cr_assert(cycle[i] >= cycle[0]);
    }
    for (uint32_t v = 0; length > 0 && v < cycle[0]; v++) {
        cr_assert_eq(oracle_way_back(g, v), 0, "%s: %u lies on a cycle too", what, v);
    }
    if (length > 0) {
        cr_assert_eq(oracle_way_back(g, cycle[0]), length, "%s: a shorter one through %u", what, cycle[0]);
    }
    free(from);
    free(to);
    free(cycle);
    return length;
}

Test(deadlock, cycles_of_random_graphs) {
    uint32_t cyclic = 0;
    for (uint32_t round = 0; round < 400; round++) {
        fab_rng rng = fab_rng_make(7, round);
        oracle_graph g = oracle_graph_make((uint32_t)fab_rng_below(&rng, 30));
        uint64_t n_edges = fab_rng_below(&rng, 2 * g.n + 1);
        bool ordered = fab_rng_below(&rng, 3) == 0;
        for (uint64_t i = 0; g.n > 0 && i < n_edges; i++) {
            uint64_t a = fab_rng_below(&rng, g.n);
            uint64_t b = fab_rng_below(&rng, g.n);
            if (!ordered || a < b) {
                g.edge[a * g.n + b] = 1;
            }
        }
        cyclic += check_cycle(&g, "random graph") > 0;
        oracle_graph_free(&g);
    }
    cr_assert(cyclic > 100 && cyclic < 300, "%u", cyclic);
}

Test(deadlock, special_graphs) {
    fab_error err = {0};
    uint32_t *cycle = NULL;
    uint32_t length = 77;
    cr_assert_eq(fab_graph_cycle(0, 0, NULL, NULL, &cycle, &length, &err), FAB_OK);
    cr_assert_eq(length, 0);
    const uint32_t from[] = {3, 1, 2, 1, 1};
    const uint32_t to[] = {3, 2, 1, 2, 0};
    cr_assert_eq(fab_graph_cycle(4, 1, from, to, &cycle, &length, &err), FAB_OK); /* an edge to itself */
    cr_assert(length == 1 && cycle[0] == 3);
    free(cycle);
    cr_assert_eq(fab_graph_cycle(4, 5, from, to, &cycle, &length, &err), FAB_OK); /* twice the same edge */
    cr_assert(length == 2 && cycle[0] == 1 && cycle[1] == 2);
    free(cycle);
}

/* --- fabrics ----------------------------------------------------------------------------------------------------- */

typedef struct bench {
    fab_design design;
    fab_fabric *f;
    uint64_t *dead; /* bits over links */
    uint8_t *gone;  /* the same, a byte each */
    fab_next_hops *t;
    fab_dependencies d;
    oracle_graph expected;
    fab_demand demand;
    const char *text;
} bench;

/* A fabric with some dead cables, and demands between leaves of which one in `one_of` is there. */
static bench setup(const char *text, uint32_t n_dead, uint64_t one_of, uint64_t seed) {
    bench b = {.text = text};
    fab_error err = {0};
    fab_rng rng = fab_rng_make(seed, n_dead);
    b.f = fixture_build(text, &b.design, NULL);
    b.dead = calloc(b.f->n_links / 64 + 1, sizeof *b.dead);
    b.gone = calloc(b.f->n_links + 1, 1);
    for (uint32_t i = 0; i < n_dead; i++) {
        uint32_t cable = (uint32_t)fab_rng_below(&rng, b.f->n_cables);
        for (uint32_t l = 2 * cable; l < 2 * cable + 2 && fab_class_of(b.f, l)->kind == FAB_LINK_FABRIC; l++) {
            b.dead[l / 64] |= UINT64_C(1) << (l % 64);
            b.gone[l] = 1;
        }
    }
    cr_assert_eq(fab_next_hops_new(b.f, b.dead, &b.t, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_dependencies_init(b.f, &b.d, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_dependencies_count(&b.d), 0);
    b.expected = oracle_graph_make(b.f->n_links);
    b.demand.n_leaves = b.t->n_leaves;
    b.demand.first = calloc(b.t->n_leaves + 1, sizeof *b.demand.first);
    b.demand.src = calloc((size_t)b.t->n_leaves * b.t->n_leaves + 1, sizeof *b.demand.src);
    for (uint32_t d = 0; d < b.t->n_leaves; d++) {
        for (uint32_t s = 0; s < b.t->n_leaves; s++) {
            if (s != d && fab_rng_below(&rng, one_of) == 0) {
                b.demand.src[b.demand.n_pairs++] = s;
            }
        }
        b.demand.first[d + 1] = b.demand.n_pairs;
    }
    return b;
}

static void teardown(bench *b) {
    fab_dependencies_release(&b->d);
    oracle_graph_free(&b->expected);
    fab_next_hops_free(b->t);
    fab_fabric_free(b->f);
    free(b->dead);
    free(b->gone);
    free(b->demand.first);
    free(b->demand.src);
}

/* The dependencies are the expected ones, and so is what is said of deadlock. */
static fab_deadlock check(const bench *b) {
    fab_error err = {0};
    fab_deadlock found = {0};
    uint64_t n = fab_dependencies_count(&b->d);
    uint64_t expected = 0;
    fab_link_id *from = malloc((n + 1) * sizeof *from);
    fab_link_id *to = malloc((n + 1) * sizeof *to);
    cr_assert_eq(fab_dependencies_list(&b->d, NULL, from, to), n);
    for (uint64_t i = 0; i < n; i++) {
        char name[2][80];
        cr_assert(b->expected.edge[(size_t)from[i] * b->expected.n + to[i]], "%s: no path goes %s, then %s", b->text,
                  fab_link_name(b->f, from[i], name[0]), fab_link_name(b->f, to[i], name[1]));
    }
    for (size_t i = 0; i < (size_t)b->expected.n * b->expected.n; i++) {
        expected += b->expected.edge[i];
    }
    cr_assert_eq(n, expected, "%s: %zu dependencies, not %zu", b->text, (size_t)n, (size_t)expected);
    cr_assert_eq(fab_deadlock_check(&b->d, &found, &err), FAB_OK, "%s", err.text);
    uint32_t length = check_cycle(&b->expected, b->text); /* igraph on all links, not on the core alone */
    cr_assert_eq(found.free, length == 0, "%s", b->text);
    cr_assert_eq(found.n_cycle, length, "%s", b->text);
    cr_assert_eq(found.dependencies, n);
    for (uint32_t i = 0; i < found.n_cycle && found.n_cycle <= FAB_CYCLE_LINKS; i++) {
        fab_link_id next = found.cycle[(i + 1) % found.n_cycle];
        cr_assert(b->expected.edge[(size_t)found.cycle[i] * b->expected.n + next], "%s", b->text);
    }
    free(from);
    free(to);
    return found;
}

static fab_deadlock minimal(const char *text, uint32_t n_dead, uint64_t one_of, uint64_t seed) {
    bench b = setup(text, n_dead, one_of, seed);
    fab_error err = {0};
    for (uint32_t d = 0; d < b.demand.n_leaves; d++) {
        for (uint32_t i = b.demand.first[d]; i < b.demand.first[d + 1]; i++) {
            oracle_add_minimal(b.f, b.gone, b.t->leaf_node[b.demand.src[i]], b.t->leaf_node[d], &b.expected);
        }
    }
    fab_switch_classes *classes = NULL;
    fab_deadlock found = {0};
    cr_assert_eq(fab_switch_classes_find(b.f, b.t, &classes, &err), FAB_OK, "%s", err.text);
    for (int alike = 0; alike < (classes != NULL ? 2 : 1); alike++) {
        fab_dependencies_release(&b.d);
        cr_assert_eq(fab_dependencies_init(b.f, &b.d, &err), FAB_OK, "%s", err.text);
        for (int twice = 0; twice < 2; twice++) { /* nothing new the second time */
            cr_assert_eq(fab_dependencies_add_minimal(&b.d, b.t, alike ? classes : NULL, &b.demand, &err), FAB_OK, "%s",
                         err.text);
        }
        found = check(&b);
    }
    fab_switch_classes_free(classes);
    teardown(&b);
    return found;
}

static fab_deadlock routed(const char *text, const char *traffic_text, const char *engine) {
    bench b = setup(text, 0, 1, 1);
    fab_error err = {0};
    fab_traffic traffic = {0};
    fab_routes routes = {0};
    fab_router router = fixture_router(engine, b.f, b.t);
    cr_assert_eq(fab_traffic_make(traffic_text, &b.design, b.f, 1, &traffic, &err), FAB_OK, "%s", err.text);
    const fab_phase *phase = &traffic.phases[0];
    for (uint64_t first = 0; first < phase->n_flows; first += 100) { /* in pieces */
        uint32_t n = phase->n_flows - first < 100 ? (uint32_t)(phase->n_flows - first) : 100;
        cr_assert_eq(fab_route_flows(&router, phase, first, n, NULL, 1, &routes, &err), FAB_OK, "%s", err.text);
        fab_dependencies_add_routes(&b.d, &routes);
        oracle_add_routes(b.f, &routes, &b.expected);
    }
    fab_deadlock found = check(&b);
    fab_routes_release(&routes);
    fab_router_release(&router);
    fab_traffic_release(&traffic);
    teardown(&b);
    return found;
}

static const char *const TREES[] = {
    "clos:gpus=16,radix=32",
    "clos:gpus=32,gpus-per-server=4,radix=16,tiers=2",
    "clos:gpus=32,gpus-per-server=1,radix=8,tiers=3,taper=2/2",
    "fat-tree:k=4,gpus-per-server=1",
    "rail-spine:gpus=64,gpus-per-server=4,radix=8,planes=2",
    "rail-only:gpus=64,gpus-per-server=4,domain=8,radix=8",
};

static const char *const OTHERS[] = {
    "torus:gpus=4,gpus-per-server=1,nics-per-server=1,torus=4",
    "torus:gpus=12,gpus-per-server=1,nics-per-server=1,torus=2,3,2",
    "torus:gpus=15,gpus-per-server=1,nics-per-server=1,torus=5,3",
    "torus:gpus=12,gpus-per-server=2,torus=6,planes=2",
    "dragonfly:dragonfly=2,4,2,gpus-per-server=4,radix=7",
    "dragonfly:gpus=24,gpus-per-server=4,dragonfly=4,6,2,1,radix=16",
};

#define N(array) (sizeof(array) / sizeof *(array))

Test(deadlock, minimal_paths) {
    for (size_t i = 0; i < N(TREES); i++) {
        cr_expect(minimal(TREES[i], 0, 1, 1).free, "%s", TREES[i]);
        cr_expect(minimal(TREES[i], 0, 5, 2).free, "%s", TREES[i]);
    }
    for (size_t i = 0; i < N(OTHERS); i++) {
        (void)minimal(OTHERS[i], 0, 1, 1);
        (void)minimal(OTHERS[i], 0, 5, 2);
    }
}

/* Around dead cables minimal paths of a tree may climb again. */
Test(deadlock, dead_cables) {
    uint32_t turned = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        for (size_t i = 0; i < N(TREES); i++) {
            turned += !minimal(TREES[i], (uint32_t)(2 * seed), 1 + seed % 2, seed).free;
        }
        (void)minimal(OTHERS[seed % N(OTHERS)], (uint32_t)seed, 1, seed);
    }
    cr_expect_gt(turned, 0, "no case in which a tree can deadlock");
}

Test(deadlock, engines) {
    for (size_t i = 0; i < N(TREES); i++) {
        cr_expect(routed(TREES[i], "pattern:all-to-all", "ecmp,qp=4").free, "%s", TREES[i]);
        cr_expect(routed(TREES[i], "pattern:all-to-all", "dmodk").free, "%s", TREES[i]);
    }
    for (size_t i = 0; i < N(OTHERS); i++) {
        (void)routed(OTHERS[i], "pattern:all-to-all", "ecmp,qp=4");
        cr_expect(routed(OTHERS[i], "pattern:all-to-all", "updn").free, "%s", OTHERS[i]);
    }
}

/* Four switches in a ring: the circle that every textbook draws. */
Test(deadlock, ring) {
    fab_deadlock found = routed(OTHERS[0], "pattern:all-to-all", "ecmp,qp=8");
    cr_assert_not(found.free);
    cr_assert_eq(found.n_cycle, 4);
    cr_assert_eq(found.dependencies, 8);
    found = minimal(OTHERS[0], 0, 1, 1);
    cr_assert_eq(found.n_cycle, 4);
    found = minimal("torus:gpus=80,gpus-per-server=1,nics-per-server=1,torus=80", 0, 1, 1);
    cr_assert_eq(found.n_cycle, 80); /* more than are kept */
}

/* What is relayed inside a server, or leaves the fabric at all, holds nothing: a route on paper that goes through a
 * switch with and without a link to a NIC between. */
Test(deadlock, handing_over) {
    bench b = setup(TREES[1], 0, 1, 1);
    fab_node_id spine = b.f->first_of_tier[2];
    fab_link_id down = b.f->out_link[b.f->out_first[spine]];
    fab_link_id up = b.f->out_link[b.f->out_first[spine + 1] - 1] ^ 1U;
    fab_link_id links[] = {up, 0, down, up, down};
    while (fab_class_of(b.f, links[1])->kind != FAB_LINK_ACCESS) {
        links[1]++;
    }
    uint32_t flow_first[] = {0, 1, 2};
    size_t path_first[] = {0, 3, 5};
    fab_routes routes = {.n_flows = 1, .flow_first = flow_first, .path_first = path_first, .link = links};
    fab_dependencies_add_routes(&b.d, &routes);
    cr_expect_eq(fab_dependencies_count(&b.d), 0);
    routes.n_flows = 2;
    fab_dependencies_add_routes(&b.d, &routes);
    cr_expect_eq(fab_dependencies_count(&b.d), 1);
    fab_link_id from = FAB_NONE;
    fab_link_id to = FAB_NONE;
    (void)fab_dependencies_list(&b.d, NULL, &from, &to);
    cr_expect(from == up && to == down);
    teardown(&b);
}
