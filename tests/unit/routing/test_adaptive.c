/* Adaptive routing: between a hash and the optimum, and what its views are worth when something has failed. */
#include "fabric_fixture.h"
#include "route_load.h"
#include "fab/analysis.h"
#include "fab/offer.h"
#include "fab/routing.h"
#include "fab/tables.h"
#include "fab/topologies.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct setup {
    fab_design design;
    fab_fabric *fabric;
    fab_next_hops *next_hops;
    fab_ports ports;
    fab_traffic traffic;
    fab_offer offer;
    double *use; /* of the routes made last */
} setup;

/* Links of `dead_cables` (ended by FAB_NONE, or NULL) are not used. */
static setup make(const char *design, const char *traffic, uint64_t seed, const uint32_t *dead_cables) {
    setup s = {0};
    fab_error err = {0};
    s.fabric = fixture_build(design, &s.design, NULL);
    uint64_t *dead = calloc(s.fabric->n_links / 64 + 1, sizeof *dead);
    for (const uint32_t *c = dead_cables; c != NULL && *c != FAB_NONE; c++) {
        dead[2 * *c / 64] |= (uint64_t)3 << (2 * *c % 64);
    }
    cr_assert_eq(fab_next_hops_new(s.fabric, dead, &s.next_hops, &err), FAB_OK, "%s", err.text);
    free(dead);
    cr_assert_eq(fab_ports_init(s.fabric, &s.ports, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_traffic_make(traffic, &s.design, s.fabric, seed, &s.traffic, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_offer_init(s.fabric, &s.ports, &s.traffic.phases[0], &s.offer, &err), FAB_OK, "%s", err.text);
    s.use = calloc(s.fabric->n_links, sizeof *s.use);
    return s;
}

static void discard(setup *s) {
    free(s->use);
    fab_offer_release(&s->offer);
    fab_traffic_release(&s->traffic);
    fab_ports_release(&s->ports);
    fab_next_hops_free(s->next_hops);
    fab_fabric_free(s->fabric);
}

static fab_router make_router(const setup *s, const char *engine) {
    fab_router router = fixture_router(engine, s->fabric, s->next_hops);
    return router;
}

static fab_routes route(setup *s, const char *engine, uint64_t seed) {
    const fab_phase *phase = &s->traffic.phases[0];
    fab_router router = make_router(s, engine);
    fab_routes routes = {0};
    fab_error err = {0};
    cr_assert_eq(fab_route_flows(&router, phase, 0, (uint32_t)phase->n_flows, s->offer.rate, seed, &routes, &err),
                 FAB_OK, "%s", err.text);
    fab_router_release(&router);
    return routes;
}

/* Largest utilisation of a fabric link; leaves all of them in s->use. */
static double largest_use(setup *s, const char *engine, uint64_t seed) {
    fab_routes routes = route(s, engine, seed);
    fab_error err = {0};
    double largest = 0;
    route_load(s->fabric, &routes, s->offer.rate, s->use);
    cr_assert_eq(fab_check_conservation(s->fabric, s->use, &err), FAB_OK, "%s: %s", engine, err.text);
    for (uint32_t l = 0; l < s->fabric->n_links; l++) {
        s->use[l] /= fab_class_of(s->fabric, l)->capacity_bps;
        if (fab_class_of(s->fabric, l)->kind == FAB_LINK_FABRIC) {
            largest = fmax(largest, s->use[l]);
        }
    }
    fab_routes_release(&routes);
    return largest;
}

/* What leaves a part of the fabric or enters it over what its cables hold: no routing has less. Parts: leaves and pods
 * of a fat-tree with one NIC per GPU. */
static double cut_bound(const setup *s) {
    const fab_fabric *f = s->fabric;
    const fab_phase *phase = &s->traffic.phases[0];
    uint32_t base = f->first[FAB_NODE_SWITCH];
    double bound = 0;
    for (int pods = 0; pods < 2; pods++) {
        double asked[2][4096] = {{0}};
        double held[4096] = {0};
        for (uint32_t c = 0; c < f->n_cables; c++) {
            const fab_link_class *k = &f->classes[f->cable_class[c]];
            if (k->kind == FAB_LINK_FABRIC && k->tier == (pods ? 3U : 2U)) {
                uint32_t lower = fab_tail(f, 2 * c) - base;
                held[pods ? f->switch_pod[lower] : lower] += k->capacity_bps;
            }
        }
        for (uint32_t i = 0; i < phase->n_flows; i++) {
            uint32_t from = fab_head(f, s->ports.nic_access[phase->src[i]]) - base;
            uint32_t to = fab_head(f, s->ports.nic_access[phase->dst[i]]) - base;
            from = pods ? f->switch_pod[from] : from;
            to = pods ? f->switch_pod[to] : to;
            asked[0][from] += from != to ? s->offer.rate[i] : 0;
            asked[1][to] += from != to ? s->offer.rate[i] : 0;
        }
        for (uint32_t i = 0; i < 4096; i++) {
            bound = held[i] > 0 ? fmax(bound, fmax(asked[0][i], asked[1][i]) / held[i]) : bound;
        }
    }
    return bound;
}

Test(adaptive, lies_between_a_hash_and_the_optimum) {
    static const char *const ENGINES[] = {
        "ecmp,hash=ideal",       "adaptive,granularity=flow",    "adaptive,granularity=flow,view=downstream",
        "ecmp,hash=ideal,qp=8",  "adaptive,granularity=flowlet", "adaptive,granularity=flowlet,view=downstream",
        "ecmp,hash=ideal,qp=64", "adaptive,granularity=packet",  "adaptive,granularity=packet,view=downstream"};
    double mean[9] = {0};
    double optimum = 0;
    const int n = 50;
    for (int seed = 1; seed <= n; seed++) {
        setup s = make("fat-tree:k=8,gpus-per-server=1", "pattern:permutation", (uint64_t)seed, NULL);
        double bound = cut_bound(&s);
        optimum += bound / n;
        for (int i = 0; i < 9; i++) {
            double largest = largest_use(&s, ENGINES[i], (uint64_t)seed);
            cr_assert_geq(largest, bound - 1e-9, "%s, seed %d: %g beats %g", ENGINES[i], seed, largest, bound);
            mean[i] += largest / n;
        }
        discard(&s);
    }
    cr_expect_float_eq(optimum, 1, 1e-9);
    for (int i = 0; i < 9; i += 3) { /* as many paths each */
        cr_expect_gt(mean[i], mean[i + 1], "%s %g, %s %g", ENGINES[i], mean[i], ENGINES[i + 1], mean[i + 1]);
        cr_expect_gt(mean[i + 1], mean[i + 2], "%s %g, %s %g", ENGINES[i + 1], mean[i + 1], ENGINES[i + 2],
                     mean[i + 2]);
    }
    for (int i = 0; i + 3 < 9; i++) { /* finer is better */
        cr_expect_gt(mean[i], mean[i + 3], "%s %g, %s %g", ENGINES[i], mean[i], ENGINES[i + 3], mean[i + 3]);
    }
    cr_expect_lt(mean[8], 1.03, "%g", mean[8]);
}

/* Nobody else is there: as many flows as uplinks, and each finds one of its own. A hash has 3.08 here. */
Test(adaptive, spreads_over_an_empty_network) {
    uint32_t first_links[20] = {0};
    uint32_t n_distinct = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        setup s = make("clos:gpus=512,gpus-per-server=1,nics-per-server=1,radix=32,tiers=2",
                       "pattern:shift,by=16,from=0-15", 1, NULL);
        cr_expect_float_eq(largest_use(&s, "adaptive,granularity=flow", seed), 1, 1e-9);
        fab_routes routes = route(&s, "adaptive,granularity=flow", seed);
        first_links[seed - 1] = routes.link[2]; /* behind PCIe and access */
        uint32_t i = 0;
        while (first_links[i] != routes.link[2]) {
            i++;
        }
        n_distinct += i == seed - 1;
        fab_routes_release(&routes);
        discard(&s);
    }
    cr_expect_gt(n_distinct, 8, "%u of 16 uplinks in 20 draws", n_distinct);
}

/* One of the two cables between a spine and the receiving leaf is dead. The sending leaf has all its uplinks: seen
 * locally they are equal, and the spine gets as much as others and has half the way on. */
Test(adaptive, views_differ_once_a_far_link_is_dead) {
    const char *design = "clos:gpus=64,gpus-per-server=1,nics-per-server=1,radix=16,tiers=2";
    const char *traffic = "pattern:shift,by=56,from=0-7"; /* leaf 0 to leaf 7 */
    setup s = make(design, traffic, 1, NULL);
    const fab_fabric *f = s.fabric;
    fab_node_id leaf = f->first_of_tier[1] + 7;
    fab_node_id spine = f->first_of_tier[2] + 1;
    uint32_t dead[2] = {FAB_NONE, FAB_NONE};
    uint32_t n_parallel = 0;
    for (uint32_t c = 0; c < f->n_cables; c++) {
        if (fab_tail(f, 2 * c) == leaf && fab_head(f, 2 * c) == spine) {
            dead[0] = c;
            n_parallel++;
        }
    }
    cr_assert_eq(n_parallel, 2);
    cr_expect_float_eq(largest_use(&s, "adaptive", 1), 1, 1e-9);
    cr_expect_float_eq(largest_use(&s, "adaptive,view=downstream", 1), 1, 1e-9);
    discard(&s);
    s = make(design, traffic, 1, dead);
    for (int downstream = 0; downstream < 2; downstream++) {
        double largest = largest_use(&s, downstream ? "adaptive,view=downstream" : "adaptive", 1);
        double through = 0; /* the spine with the dead cable */
        for (uint32_t l = 0; l < s.fabric->n_links; l++) {
            through +=
                fab_class_of(s.fabric, l)->kind == FAB_LINK_FABRIC && fab_head(s.fabric, l) == spine ? s.use[l] : 0;
        }
        if (downstream) { /* 8 flows of 64 parts over 7 cables: 74 parts at least */
            cr_expect(largest >= 74.0 / 64 - 1e-9 && largest <= 75.0 / 64 + 1e-9, "%g", largest);
            cr_expect_lt(through, 75.0 / 64 + 1e-9, "%g", through);
        } else {
            cr_expect_float_eq(largest, 2, 1e-9, "%g", largest);
            cr_expect_float_eq(through, 2, 1e-9, "%g", through);
        }
    }
    discard(&s);
}

static bool same_routes(const fab_routes *a, const fab_routes *b) {
    uint32_t n_paths = a->flow_first[a->n_flows];
    return a->n_flows == b->n_flows && memcmp(a->flow_first, b->flow_first, (a->n_flows + 1) * sizeof(uint32_t)) == 0 &&
           memcmp(a->path_first, b->path_first, (n_paths + 1) * sizeof(size_t)) == 0 &&
           memcmp(a->link, b->link, a->path_first[n_paths] * sizeof(fab_link_id)) == 0;
}

/* From one leaf to one other in two whole tiers a spine's way down holds what its way up holds, so that looking further
 * changes nothing: the routes are the same, link by link. */
Test(adaptive, views_agree_where_there_is_nothing_to_see) {
    static const char *const GRANULARITIES[] = {"flow", "flowlet", "packet"};
    setup s = make("clos:gpus=64,gpus-per-server=1,nics-per-server=1,radix=16,tiers=2", "pattern:shift,by=56,from=0-7",
                   1, NULL);
    for (size_t i = 0; i < 3; i++) {
        for (uint64_t seed = 1; seed <= 10; seed++) {
            char engine[2][64];
            (void)snprintf(engine[0], sizeof engine[0], "adaptive,granularity=%s", GRANULARITIES[i]);
            (void)snprintf(engine[1], sizeof engine[1], "adaptive,granularity=%s,view=downstream", GRANULARITIES[i]);
            fab_routes local = route(&s, engine[0], seed);
            fab_routes downstream = route(&s, engine[1], seed);
            cr_expect(same_routes(&local, &downstream), "%s, seed %d", GRANULARITIES[i], (int)seed);
            fab_routes_release(&local);
            fab_routes_release(&downstream);
        }
    }
    discard(&s);
}

/* Every path is a walk from GPU to GPU, planes and NICs share alike, and routing again gives the same. */
Test(adaptive, routes_are_walks_and_the_same_again) {
    static const char *const DESIGNS[] = {"rail-spine:gpus=64,gpus-per-server=4,radix=16",
                                          "rail-only:gpus=64,gpus-per-server=4,radix=6",
                                          "clos:gpus=64,gpus-per-server=4,nics-per-server=8,planes=2,radix=16",
                                          "clos:gpus=64,gpus-per-server=8,nics-per-server=4,radix=8",
                                          "torus:gpus=64,gpus-per-server=4,torus=4,4,2,radix=8"};
    static const char *const ENGINES[] = {"adaptive,qp=2,granularity=flow", "adaptive,parts=3,view=downstream"};
    for (size_t i = 0; i < sizeof DESIGNS / sizeof DESIGNS[0]; i++) {
        for (size_t e = 0; e < 2; e++) {
            setup s = make(DESIGNS[i], "pattern:permutation", 3, NULL);
            const fab_phase *phase = &s.traffic.phases[0];
            cr_expect_gt(largest_use(&s, ENGINES[e], 3), 0);
            fab_router router = make_router(&s, ENGINES[e]);
            fab_routes routes = route(&s, ENGINES[e], 3);
            fab_routes again = route(&s, ENGINES[e], 4);
            cr_expect_not(same_routes(&routes, &again), "%s", DESIGNS[i]);
            cr_assert_eq(fab_route_phase(&router, phase, 3, &again, NULL), FAB_OK); /* finds the rates itself */
            cr_expect(same_routes(&routes, &again), "%s", DESIGNS[i]);
            for (uint32_t flow = 0; flow < routes.n_flows; flow++) {
                uint32_t n_paths = routes.flow_first[flow + 1] - routes.flow_first[flow];
                cr_assert_eq(n_paths, s.offer.rate[flow] > 0 ? fab_router_facts_of(&router)->paths_per_flow : 1);
                for (uint32_t path = routes.flow_first[flow]; path < routes.flow_first[flow + 1]; path++) {
                    fab_node_id v = phase->src[flow];
                    for (size_t k = routes.path_first[path]; k < routes.path_first[path + 1]; k++) {
                        cr_assert_eq(fab_tail(s.fabric, routes.link[k]), v, "%s", DESIGNS[i]);
                        v = fab_head(s.fabric, routes.link[k]);
                    }
                    cr_assert_eq(v, phase->dst[flow], "%s", DESIGNS[i]);
                }
            }
            fab_routes_release(&routes);
            fab_routes_release(&again);
            fab_router_release(&router);
            discard(&s);
        }
    }
}

static bool same_path(const fab_routes *a, uint32_t i, const fab_routes *b, uint32_t k) {
    const size_t n = a->path_first[i + 1] - a->path_first[i];
    return b->path_first[k + 1] - b->path_first[k] == n &&
           memcmp(a->link + a->path_first[i], b->link + b->path_first[k], n * sizeof *a->link) == 0;
}

/* Every path of `merged` is another one, and has as much of its flow as the equal ones of `all` have. */
static uint32_t compare_merged(const fab_routes *all, const fab_routes *merged, const char *design) {
    uint32_t n_merged = 0;
    for (uint32_t flow = 0; flow < all->n_flows; flow++) {
        double sum = 0;
        for (uint32_t k = merged->flow_first[flow]; k < merged->flow_first[flow + 1]; k++) {
            double part = 0;
            for (uint32_t i = all->flow_first[flow]; i < all->flow_first[flow + 1]; i++) {
                part += same_path(all, i, merged, k) ? fab_path_part(all, flow, i) : 0;
            }
            for (uint32_t i = merged->flow_first[flow]; i < k; i++) {
                cr_assert_not(same_path(merged, i, merged, k), "%s", design);
            }
            cr_assert_gt(part, 0, "%s: a path that no part takes", design);
            cr_assert_float_eq(fab_path_part(merged, flow, k), part, 1e-12, "%s", design);
            sum += fab_path_part(merged, flow, k);
        }
        cr_assert_float_eq(sum, 1, 1e-12, "%s", design);
        n_merged += merged->flow_first[flow + 1] - merged->flow_first[flow];
    }
    return n_merged;
}

Test(adaptive, equal_paths_are_one_where_asked) {
    static const char *const DESIGNS[] = {"rail-spine:gpus=64,gpus-per-server=4,radix=16",
                                          "clos:gpus=128,gpus-per-server=4,radix=16,tiers=3,taper=2",
                                          "clos:gpus=64,gpus-per-server=4,nics-per-server=8,planes=2,radix=16",
                                          "torus:gpus=64,gpus-per-server=4,torus=4,4,2,radix=8"};
    static const char *const ENGINES[] = {"adaptive", "adaptive,parts=12,view=downstream", "adaptive,granularity=flow"};
    for (size_t i = 0; i < sizeof DESIGNS / sizeof DESIGNS[0]; i++) {
        for (size_t e = 0; e < sizeof ENGINES / sizeof ENGINES[0]; e++) {
            setup s = make(DESIGNS[i], "pattern:permutation", 3, NULL);
            fab_router router = make_router(&s, ENGINES[e]);
            fab_routes all = {0};
            fab_routes merged = {.merges = true};
            cr_assert_eq(fab_route_phase(&router, &s.traffic.phases[0], 3, &all, NULL), FAB_OK);
            cr_assert_eq(fab_route_phase(&router, &s.traffic.phases[0], 3, &merged, NULL), FAB_OK);
            const uint32_t n_paths = all.flow_first[all.n_flows];
            cr_assert_null(all.part);
            cr_assert_eq((merged.part != NULL), (n_paths > all.n_flows), "%s, %s", DESIGNS[i], ENGINES[e]);
            const uint32_t n_merged = compare_merged(&all, &merged, DESIGNS[i]);
            cr_assert(e > 0 || n_merged < n_paths / 2, "%s: %u of %u", DESIGNS[i], n_merged, n_paths);
            merged.merges = false; /* asked again without */
            cr_assert_eq(fab_route_phase(&router, &s.traffic.phases[0], 3, &merged, NULL), FAB_OK);
            cr_assert(same_routes(&all, &merged) && merged.part == NULL);
            fab_routes_release(&all);
            fab_routes_release(&merged);
            fab_router_release(&router);
            discard(&s);
        }
    }
}

Test(adaptive, all_to_all_up_to_a_limit) {
    setup s = make("clos:gpus=128,gpus-per-server=4,radix=16", "pattern:all-to-all", 1, NULL);
    fab_router router = make_router(&s, "adaptive,granularity=flow");
    fab_routes routes = {.between_switches = true};
    fab_error err = {0};
    const fab_phase *phase = &s.traffic.phases[0];
    cr_assert_gt(phase->all.n, 0);
    cr_expect_eq(fab_route_phase(&router, phase, 1, &routes, &err), FAB_EUNSUPPORTED);
    cr_expect(strstr(err.text, "engine adaptive places whole paths") != NULL, "%s", err.text);
    routes.between_switches = false;
    cr_assert_eq(fab_route_phase(&router, phase, 1, &routes, NULL), FAB_OK);
    cr_expect_eq(routes.n_flows, 128 * 127);
    fab_router_release(&router);
    discard(&s);
    s = make("clos:gpus=1024,gpus-per-server=8", "pattern:all-to-all", 1, NULL);
    err = (fab_error){0};
    router = make_router(&s, "adaptive");
    phase = &s.traffic.phases[0];
    cr_expect_eq(fab_route_phase(&router, phase, 1, &routes, &err), FAB_EUNSUPPORTED);
    cr_expect(strstr(err.text, "1047552 flows of 64 parts") != NULL && strstr(err.text, "16777216") != NULL &&
                  strstr(err.text, "spray") != NULL,
              "%s", err.text);
    fab_routes_release(&routes);
    fab_router_release(&router);
    discard(&s);
}

Test(adaptive, unreachable_pairs_are_named) {
    setup s = make("clos:gpus=64,gpus-per-server=1,nics-per-server=1,radix=16,tiers=2", "pattern:permutation", 1, NULL);
    uint32_t dead[9];
    uint32_t n = 0;
    for (uint32_t c = 0; c < s.fabric->n_cables; c++) {
        if (fab_tail(s.fabric, 2 * c) == s.fabric->first_of_tier[1]) {
            dead[n++] = c;
        }
    }
    cr_assert_eq(n, 8);
    dead[n] = FAB_NONE;
    discard(&s);
    s = make("clos:gpus=64,gpus-per-server=1,nics-per-server=1,radix=16,tiers=2", "pattern:permutation", 1, dead);
    fab_router router = make_router(&s, "adaptive");
    fab_routes routes = {0};
    fab_error err = {0};
    cr_expect_eq(fab_route_phase(&router, &s.traffic.phases[0], 1, &routes, &err), FAB_EUNREACHABLE);
    cr_expect(strstr(err.text, "no route from nic-") != NULL && strstr(err.text, "leaf-0") != NULL, "%s", err.text);
    cr_expect_eq(routes.n_flows, 0);
    fab_routes_release(&routes);
    fab_router_release(&router);
    discard(&s);
}

Test(adaptive, only_packets_are_reordered) {
    setup s = make("clos:gpus=64,gpus-per-server=1,nics-per-server=1,radix=16", "pattern:ring", 1, NULL);
    fab_router router = make_router(&s, "adaptive");
    cr_expect(router.facts.reorders && router.queue_pairs == 64 && router.facts.window_bytes == 1048576 &&
              fabs(router.facts.queueing_s - 5e-6) < 1e-18);
    cr_expect_str_eq(router.facts.label, "adaptive,granularity=packet,view=local");
    fab_router_release(&router);
    router = make_router(&s, "adaptive,window=2MiB,queueing=0us,qp=2");
    cr_expect(router.facts.reorders && router.queue_pairs == 128 && router.facts.window_bytes == 2097152 &&
              router.facts.queueing_s == 0);
    fab_router_release(&router);
    router = make_router(&s, "adaptive,granularity=flowlet,qp=2");
    cr_expect(!router.facts.reorders && router.queue_pairs == 16);
    fab_router_release(&router);
    discard(&s);
}

/* Switches choose from the groups that a hash chooses from: only the line with the engine differs. */
Test(adaptive, tables_hold_groups) {
    setup s = make("clos:gpus=64,gpus-per-server=1,nics-per-server=1,radix=16", "pattern:ring", 1, NULL);
    char *text[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        size_t size = 0;
        FILE *out = open_memstream(&text[i], &size);
        fab_router router = make_router(&s, i == 0 ? "adaptive" : "ecmp");
        cr_assert_eq(fab_tables_write(&router, NULL, out, NULL), FAB_OK);
        (void)fclose(out);
        fab_router_release(&router);
    }
    cr_expect(strstr(text[0], "# engine adaptive,granularity=packet,view=local\n") != NULL);
    cr_expect_str_eq(strstr(text[0], "\nfabric"), strstr(text[1], "\nfabric"));
    cr_expect(strstr(text[0], "9,10") != NULL);
    free(text[0]);
    free(text[1]);
    discard(&s);
}

Test(adaptive, wrong_options_are_errors) {
    static const char *const WRONG[] = {"adaptive,granularity=byte", "adaptive,view=global",   "adaptive,parts=0",
                                        "adaptive,parts=4097",       "adaptive,window=0MB",    "adaptive,window=5",
                                        "adaptive,queueing=5",       "adaptive,queueing=-1us", "adaptive,qp=0"};
    setup s = make("clos:gpus=64,gpus-per-server=1,nics-per-server=1,radix=16", "pattern:ring", 1, NULL);
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        fab_error err = {0};
        fab_router router;
        const fab_engine_spec spec = fixture_spec(WRONG[i]);
        cr_expect_eq(fab_router_init(&spec, s.fabric, s.next_hops, &router, &err), FAB_EINPUT, "%s", WRONG[i]);
        cr_expect(strstr(err.text, "adaptive") != NULL, "%s: %s", WRONG[i], err.text);
    }
    discard(&s);
}
