/* Walks by vectors, by single look-ups and hop by hop through the engine take the same paths. */
#include "engines/router.h"
#include "fab/design.h"
#include "fab/memory.h"
#include "fab/routing.h"
#include "fab/topologies.h"
#include "random_design.h"
#include "draws.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static fab_design design;

/* Some cables between switches, both directions. */
static void kill_some(const fab_fabric *f, fab_rng *rng, uint64_t *dead) {
    uint64_t one_in = random_between(rng, 4, 60);
    for (uint32_t c = 0; c < f->n_cables; c++) {
        if (fab_class_of(f, 2 * c)->kind == FAB_LINK_FABRIC && fab_rng_below(rng, one_in) == 0) {
            dead[2 * c >> 6] |= UINT64_C(3) << (2 * c & 63);
        }
    }
}

static size_t n_links(const fab_routes *r) {
    return r->path_first[r->flow_first[r->n_flows]];
}

static void expect_same(const fab_routes *a, const fab_routes *b, const char *what, const char *text) {
    cr_assert_eq(a->n_flows, b->n_flows);
    uint32_t n_paths = a->flow_first[a->n_flows];
    cr_expect_arr_eq(a->flow_first, b->flow_first, (a->n_flows + 1U) * sizeof *a->flow_first, "%s: %s", what, text);
    cr_expect_arr_eq(a->path_first, b->path_first, (n_paths + 1U) * sizeof *a->path_first, "%s: %s", what, text);
    cr_assert_eq(n_links(a), n_links(b), "%s: %s", what, text);
    cr_expect_arr_eq(a->link, b->link, n_links(a) * sizeof *a->link, "%s: %s", what, text);
}

/* Every link is a member of the group that it is said to come from, which is the one towards the path's end. */
static void check_groups(const fab_router *router, const fab_routes *r, const char *text) {
    const fab_fabric *f = router->fabric;
    const fab_next_hops *t = router->next_hops;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    for (uint32_t p = 0; p < r->flow_first[r->n_flows]; p++) {
        size_t last = r->path_first[p + 1];
        for (size_t i = r->path_first[p]; i < last; i++) {
            uint32_t v = fab_tail(f, r->link[i]) - base;
            uint32_t leaf = t->leaf_index[fab_head(f, r->link[last - 1]) - base];
            cr_assert_eq(r->group[i], t->group_first[v] + fab_next_hops_group(t, v, leaf) - 1, "%s", text);
            fab_next_hop_list next = fab_next_hops_of_group(t, v, r->group[i]);
            uint32_t k = 0;
            while (k < next.count && fab_next_hop(&next, k) != r->link[i]) {
                k++;
            }
            cr_assert_lt(k, next.count, "%s", text);
        }
    }
}

/* Half of the flows, then the rest behind them. */
static void compare_with_rest(const fab_router *router, const fab_phase *phase, const fab_routes *whole,
                              const char *text) {
    fab_routes routes = {.between_switches = false};
    fab_error err = {0};
    uint32_t n = (uint32_t)phase->n_flows;
    cr_assert_eq(fab_route_flows(router, phase, 0, n / 2, NULL, 5, &routes, &err), FAB_OK, "%s", err.text);
    routes.n_known = n / 2;
    cr_assert_eq(fab_route_flows(router, phase, 0, n, NULL, 5, &routes, &err), FAB_OK, "%s", err.text);
    cr_expect_eq(routes.n_known, 0);
    expect_same(&routes, whole, "the rest", text);
    fab_routes_release(&routes);
}

/* Whether the phase could be routed; if not, then by none of the walks, and with the same words. */
static bool compare(const fab_router *router, const fab_phase *phase, bool between_switches, const char *text) {
    fab_router single = *router; /* these borrow what it owns */
    fab_router by_engine = *router;
    single.gathers = false;
    by_engine.is_modulo = false;
    const fab_router *walks[] = {router, &single, &by_engine};
    static const char *const NAMES[] = {"vectors", "single look-ups", "the engine"};
    fab_routes routes[3] = {{0}};
    fab_error err[3] = {{0}};
    fab_status status[3];
    uint32_t n = (uint32_t)phase->n_flows;
    for (size_t i = 0; i < 3; i++) {
        routes[i].between_switches = between_switches;
        routes[i].wants_groups = true;
        status[i] = fab_route_flows(walks[i], phase, 0, n, NULL, 5, &routes[i], &err[i]);
        cr_assert_eq(status[i], status[0], "%s and %s: %s%s", NAMES[i], NAMES[0], text, err[i].text);
        cr_expect_str_eq(err[i].text, err[0].text, "%s", text);
    }
    for (size_t i = 0; i < 3 && status[0] == FAB_OK; i++) {
        expect_same(&routes[i], &routes[0], NAMES[i], text);
        if (routes[i].group != NULL) {
            check_groups(router, &routes[i], text);
        }
    }
    if (status[0] == FAB_OK && !between_switches) {
        compare_with_rest(router, phase, &routes[0], text);
    }
    for (size_t i = 0; i < 3; i++) {
        fab_routes_release(&routes[i]);
    }
    return status[0] == FAB_OK;
}

/* Flows of an all-to-all as a list: by another way into the walk. */
static void compare_with_list(const fab_router *router, const fab_phase *all, const char *text) {
    uint32_t n = (uint32_t)all->n_flows;
    fab_error err = {0};
    fab_phase listed = {.n_flows = n};
    fab_routes routes[2] = {{.between_switches = true}, {.between_switches = true}};
    cr_assert_eq(FAB_NEW(listed.src, n, &err), FAB_OK);
    cr_assert_eq(FAB_NEW(listed.dst, n, &err), FAB_OK);
    cr_assert_eq(FAB_NEW(listed.comm, n, &err), FAB_OK);
    cr_assert_eq(FAB_NEW(listed.bytes, n, &err), FAB_OK);
    for (uint32_t i = 0; i < n; i++) {
        fab_flow flow = fab_phase_flow(all, i);
        listed.src[i] = flow.src;
        listed.dst[i] = flow.dst;
    }
    cr_assert_eq(fab_route_flows(router, all, 0, n, NULL, 5, &routes[0], &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_route_flows(router, &listed, 0, n, NULL, 5, &routes[1], &err), FAB_OK, "%s", err.text);
    expect_same(&routes[1], &routes[0], "a list", text);
    for (uint32_t first = 1; first < n; first += n / 3 + 1) { /* rows that begin in the middle */
        uint32_t most = n - first < 100 ? n - first : 100;
        fab_routes part = {.between_switches = true};
        cr_assert_eq(fab_route_flows(router, all, first, most, NULL, 5, &part, &err), FAB_OK, "%s", err.text);
        size_t from = routes[0].path_first[routes[0].flow_first[first]];
        cr_expect_arr_eq(part.link, routes[0].link + from, n_links(&part) * sizeof *part.link, "%s", text);
        fab_routes_release(&part);
    }
    fab_routes_release(&routes[0]);
    fab_routes_release(&routes[1]);
    free(listed.src);
    free(listed.dst);
    free(listed.comm);
    free(listed.bytes);
}

static uint64_t compare_on(const fab_fabric *fabric, const fab_next_hops *next_hops, const char *engine,
                           const char *text) {
    char what[512];
    uint64_t n_routed = 0;
    fab_engine_spec spec = {.where = "test"};
    fab_router router;
    fab_error err = {0};
    (void)snprintf(what, sizeof what, "%s, %s", text, engine);
    (void)snprintf(spec.text, sizeof spec.text, "%s", engine);
    fab_status status = fab_router_init(&spec, fabric, next_hops, &router, &err);
    if (status == FAB_EUNSUPPORTED) {
        return 0;
    }
    cr_assert_eq(status, FAB_OK, "%s: %s", what, err.text);
    static const char *const TRAFFIC[] = {"pattern:permutation", "pattern:all-to-all"};
    for (size_t i = 0; i < 2; i++) {
        fab_traffic traffic = {0};
        fab_error none = {0};
        if (fab_traffic_make(TRAFFIC[i], &design, fabric, 3, &traffic, &none) == FAB_OK &&
            traffic.phases[0].n_flows > 0) {
            const fab_phase *phase = &traffic.phases[0];
            n_routed += compare(&router, phase, false, what);
            if (compare(&router, phase, true, what) && phase->all.n > 0) {
                n_routed++;
                compare_with_list(&router, phase, what);
            }
        }
        fab_traffic_release(&traffic);
    }
    fab_router_release(&router);
    return n_routed;
}

Test(walk, paths_do_not_depend_on_how_they_are_walked) {
    static const char *const ENGINES[] = {"ecmp",
                                          "dmodk",
                                          "ecmp,qp=3",
                                          "ecmp,hash=crc16/xor/crc32c,offset=1/0/3",
                                          "ecmp,fields=5tuple+dqp,qp=2",
                                          "ecmp,hash=ideal",
                                          "ecmp,hash=crc32/ideal",
                                          "ecmp,weights=capacity",
                                          "ecmp,member-loss=resilient"};
    fab_rng rng = fab_rng_make(23, 0);
    uint64_t n_routed = 0;
    uint64_t n_modulo = 0;
    for (uint32_t run = 0; run < DRAWS(80); run++) {
        random_design d = random_design_next(&rng, 12);
        fab_fabric *fabric = NULL;
        fab_next_hops *next_hops = NULL;
        uint64_t *dead = NULL;
        fab_error err = {0};
        if (fab_design_read(d.text, NULL, 0, &design, &err) != FAB_OK ||
            fab_topology_build(&design.fabric, &fabric, NULL, &err) != FAB_OK) {
            continue;
        }
        cr_assert_eq(FAB_NEW(dead, (size_t)fabric->n_links / 64 + 1, &err), FAB_OK);
        if (run % 2 == 1) {
            kill_some(fabric, &rng, dead);
        }
        cr_assert_eq(fab_next_hops_new(fabric, dead, &next_hops, &err), FAB_OK, "%s: %s", d.text, err.text);
        for (size_t i = 0; i < sizeof ENGINES / sizeof ENGINES[0]; i++) {
            uint64_t n = compare_on(fabric, next_hops, ENGINES[i], d.text);
            n_routed += n;
            n_modulo += i < 5 ? n : 0;
        }
        fab_next_hops_free(next_hops);
        fab_fabric_free(fabric);
        free(dead);
    }
    cr_expect_gt(n_modulo, DRAWS(200), "%d routed", (int)n_routed);
    cr_expect_gt(n_routed, n_modulo);
}
