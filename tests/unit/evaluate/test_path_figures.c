/* Figures of paths against sums over every path, and the reorder limit by hand. */
#include "fabric_fixture.h"
#include "fab/memory.h"
#include "fab/path_figures.h"
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
    fab_dag *dag;
    fab_traffic traffic;
    fab_phase *phase;
    fab_router router;
    fab_offer offer;
    fab_demand demand;
} setup;

/* `sets`: "path=value" of the floor plan, NULL or ended by NULL. */
static setup make(const char *design, const char *const *sets, const char *traffic, const char *engine) {
    static setup s;
    fab_error err = {0};
    size_t n_sets = 0;
    while (sets != NULL && sets[n_sets] != NULL) {
        n_sets++;
    }
    s = (setup){0};
    const fab_engine_spec spec = fixture_spec(engine);
    cr_assert_eq(fab_design_read(design, sets, n_sets, &s.design, &err), FAB_OK, "%s: %s", design, err.text);
    cr_assert_eq(fab_topology_build(&s.design.fabric, &s.fabric, NULL, &err), FAB_OK, "%s: %s", design, err.text);
    s.next_hops = fixture_next_hops(s.fabric);
    cr_assert_eq(fab_dag_new(s.fabric, s.next_hops, &s.dag, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_traffic_make(traffic, &s.design, s.fabric, 1, &s.traffic, &err), FAB_OK, "%s", err.text);
    s.phase = &s.traffic.phases[0];
    cr_assert_eq(fab_router_init(&spec, s.fabric, s.next_hops, &s.router, &err), FAB_OK, "%s", err.text);
    return s;
}

/* Behind make(), because they point at the router that stays. */
static void ask(setup *s) {
    fab_error err = {0};
    cr_assert_eq(fab_offer_init(s->fabric, &s->router.ports, s->phase, &s->offer, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_demand_init(s->fabric, &s->router.ports, s->next_hops, s->phase, &s->offer, &s->demand, &err),
                 FAB_OK, "%s", err.text);
}

static void forget(setup *s) {
    fab_demand_release(&s->demand);
    fab_offer_release(&s->offer);
}

static void discard(setup *s) {
    forget(s);
    fab_router_release(&s->router);
    fab_traffic_release(&s->traffic);
    fab_dag_free(s->dag);
    fab_next_hops_free(s->next_hops);
    fab_fabric_free(s->fabric);
}

static fab_path_figures of_split(const setup *s) {

    fab_path_figures out;
    fab_error err = {0};
    cr_assert_eq(
        fab_path_figures_of_split(&s->router, s->dag, fab_split_even(), &s->demand, s->phase, &s->offer, &out, &err),
        FAB_OK, "%s", err.text);
    return out;
}

/* In chunks of `per_chunk` flows; the latencies that come with them are those that are found alone. */
static fab_path_figures of_routes(const setup *s, uint32_t per_chunk, bool between_switches) {
    fab_path_tally tally;
    fab_routes routes = {.between_switches = between_switches};
    fab_error err = {0};
    double *latency_s = calloc(2 * (size_t)per_chunk, sizeof *latency_s);
    cr_assert_eq(fab_path_tally_init(&s->router, &tally, &err), FAB_OK, "%s", err.text);
    tally.latency_s = latency_s;
    for (uint32_t first = 0; first < s->phase->n_flows; first += per_chunk) {
        uint32_t left = (uint32_t)s->phase->n_flows - first;
        cr_assert_eq(fab_route_flows(&s->router, s->phase, first, left < per_chunk ? left : per_chunk, s->offer.rate, 1,
                                     &routes, &err),
                     FAB_OK, "%s", err.text);
        const fab_path_chunk chunk = {
            .routes = &routes, .phase = s->phase, .first = first, .rate = s->offer.rate + first};
        memset(latency_s, 0, per_chunk * sizeof *latency_s);
        fab_path_tally_add(&tally, &chunk);
        cr_assert_eq(fab_flow_latencies_of_routes(&s->router, &chunk, latency_s + per_chunk, &err), FAB_OK);
        cr_expect(latency_s[0] != 0 &&
                  memcmp(latency_s, latency_s + per_chunk, routes.n_flows * sizeof *latency_s) == 0);
    }
    fab_path_figures out = fab_path_tally_finish(&tally);
    fab_path_tally_release(&tally);
    fab_routes_release(&routes);
    free(latency_s);
    return out;
}

static void expect_close(double a, double b, const char *what, const char *design) {
    cr_expect(fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)), "%s: %s %.17g, not %.17g", design, what, a, b);
}

static void expect_same(const fab_path_figures *a, const fab_path_figures *b, const char *design) {
    cr_expect_eq(a->n_flows, b->n_flows, "%s", design);
    cr_expect_eq(a->limited_flows, b->limited_flows, "%s: %d limited, not %d", design, (int)a->limited_flows,
                 (int)b->limited_flows);
    expect_close(a->hops.min, b->hops.min, "min hops", design);
    expect_close(a->hops.mean, b->hops.mean, "mean hops", design);
    expect_close(a->hops.max, b->hops.max, "max hops", design);
    expect_close(a->latency_s.min, b->latency_s.min, "min latency", design);
    expect_close(a->latency_s.mean, b->latency_s.mean, "mean latency", design);
    expect_close(a->latency_s.max, b->latency_s.max, "max latency", design);
    cr_expect_float_eq(a->max_spread_s, b->max_spread_s, 1e-15, "%s", design);
    cr_expect_float_eq(a->mean_spread_s, b->mean_spread_s, 1e-15, "%s", design);
    expect_close(a->longest_round_trip_s, b->longest_round_trip_s, "round trip", design);
    expect_close(a->min_limit_bps, b->min_limit_bps, "limit", design);
    expect_close(a->max_excess_ratio, b->max_excess_ratio, "excess", design);
}

/* Two tiers, cables of 3 m and 30 m, 600 ns a switch: 2 x 14.7 + 2 x 147 + 3 x 600 ns = 2.1234 us. */
Test(path_figures, two_tiers_by_hand) {
    setup s = make("clos:gpus=64,gpus-per-server=1,nics-per-server=1,radix=16,tiers=2,floor.lengths=tier", NULL,
                   "pattern:shift,by=8", "spray");
    ask(&s);
    fab_path_figures x = of_split(&s);
    cr_expect_eq(x.n_flows, 64);
    cr_expect(x.hops.min == 4 && x.hops.mean == 4 && x.hops.max == 4);
    cr_expect_float_eq(x.latency_s.min, 2.1234e-6, 1e-15, "%g", x.latency_s.min);
    cr_expect_float_eq(x.latency_s.max, 2.1234e-6, 1e-15);
    cr_expect_float_eq(x.latency_s.mean, 2.1234e-6, 1e-15);
    cr_expect_float_eq(x.longest_round_trip_s, 4.2468e-6, 1e-15);
    cr_expect_float_eq(x.max_spread_s, 0, 1e-15);
    cr_expect(x.reorders);
    expect_close(x.min_limit_bps, 8 * 1048576 / (4.2468e-6 + 5e-6), "limit", "clos"); /* 907 Gb/s */
    expect_close(x.max_excess_ratio, 400e9 / x.min_limit_bps, "excess", "clos");
    cr_expect_eq(x.limited_flows, 0);
    forget(&s);
    fab_router_release(&s.router);
    fab_engine_spec spec = {.text = "spray,window=512KiB,queueing=0us", .where = "test"};
    cr_assert_eq(fab_router_init(&spec, s.fabric, s.next_hops, &s.router, NULL), FAB_OK);
    ask(&s);
    x = of_split(&s);
    expect_close(x.min_limit_bps, 4 * 1048576 / 4.2468e-6, "limit", "clos"); /* 988 Gb/s */
    discard(&s);
}

/* A path of k tiers has 2k - 1 switches, each of its own latency; one of a torus as many as it has cables, less one. */
Test(path_figures, every_switch_counts_once) {
    static const struct {
        const char *design, *traffic;
        double switches_s, metres;
        uint32_t hops;
    } CASES[] = {
        {"clos:gpus=8,gpus-per-server=4,radix=16,latency=10us,floor.lengths=tier", "pattern:shift,by=4", 10e-6, 6, 2},
        {"rail-spine:gpus=32,gpus-per-server=8,radix=16,latency=10us,floor.lengths=tier", "pattern:shift,by=8", 10e-6,
         6, 2},
        {"clos:gpus=16,gpus-per-server=1,radix=8,tiers=2,latency=1us/2us,length=3m/30m", "pattern:shift,by=8", 4e-6, 66,
         4},
        {"clos:gpus=64,gpus-per-server=1,radix=8,tiers=3,latency=1us/2us/4us,length=3m/30m/50m", "pattern:shift,by=32",
         10e-6, 166, 6},
        {"torus:gpus=4,gpus-per-server=1,torus=4,radix=8,latency=2us,length=1m/1m", "pattern:shift,by=2", 6e-6, 4, 4},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        setup s = make(CASES[i].design, NULL, CASES[i].traffic, "spray");
        ask(&s);
        fab_path_figures split = of_split(&s);
        double expect_s = CASES[i].switches_s + CASES[i].metres * 4.9e-9;
        cr_expect_eq(split.hops.max, CASES[i].hops, "%s: %g hops", CASES[i].design, split.hops.max);
        expect_close(split.latency_s.min, expect_s, "min", CASES[i].design);
        expect_close(split.latency_s.max, expect_s, "max", CASES[i].design);
        discard(&s);
    }
}

/* In-flight bytes = rate x round trip: a byte more allows the rate, a byte less does not. */
Test(path_figures, the_limit_bites_where_the_window_is_too_small) {
    setup s = make("clos:gpus=64,gpus-per-server=1,nics-per-server=1,radix=16,tiers=2,floor.lengths=tier", NULL,
                   "pattern:shift,by=8", "adaptive,queueing=0us");
    ask(&s);
    double in_flight = 400e9 / 8 * 4.2468e-6;
    for (int i = 0; i < 2; i++) {
        s.router.facts.window_bytes = in_flight + (i == 0 ? 1 : -1);
        fab_path_figures split = of_split(&s);
        fab_path_figures routes = of_routes(&s, 64, false);
        cr_expect_eq(split.limited_flows, i == 0 ? 0 : 64, "%d", (int)split.limited_flows);
        cr_expect((split.max_excess_ratio > 1) == (i == 1), "%g", split.max_excess_ratio);
        expect_same(&routes, &split, "adaptive");
    }
    discard(&s);
}

/* --- every path --------------------------------------------------------------------------------------------------- */

typedef struct listing {
    double min_hops, max_hops, min_s, max_s, hops, latency_s; /* the last two weighted by share */
} listing;

static void list_paths(const setup *s, fab_node_id v, fab_node_id leaf, double hops, double latency_s, double share,
                       listing *out) {
    uint32_t base = s->fabric->first[FAB_NODE_SWITCH];
    if (v == leaf) {
        out->min_hops = fmin(out->min_hops, hops);
        out->max_hops = fmax(out->max_hops, hops);
        out->min_s = fmin(out->min_s, latency_s);
        out->max_s = fmax(out->max_s, latency_s);
        out->hops += share * hops;
        out->latency_s += share * latency_s;
        return;
    }
    fab_next_hop_list next = fab_next_hops_get(s->next_hops, v - base, s->next_hops->leaf_index[leaf - base]);
    for (uint32_t i = 0; i < next.count; i++) {
        fab_link_id link = fab_next_hop(&next, i);
        list_paths(s, fab_head(s->fabric, link), leaf, hops + 1, latency_s + fab_class_of(s->fabric, link)->latency_s,
                   share / next.count, out);
    }
}

static fab_path_figures slowly(const setup *s) {
    fab_path_figures out = {.reorders = s->router.facts.reorders, .min_limit_bps = INFINITY};
    out.hops.min = INFINITY;
    out.latency_s.min = INFINITY;
    uint32_t n_parts = s->router.ports.nics_per_gpu * s->router.ports.n_planes;
    for (uint64_t i = 0; i < s->phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(s->phase, i);
        listing l = {.min_hops = INFINITY, .min_s = INFINITY};
        for (uint32_t part = 0; part < n_parts; part++) {
            fab_link_id links[FAB_FLOW_SEGMENT_LINKS];
            uint32_t n = fab_flow_segments(s->fabric, &s->router.ports, flow.src, flow.dst, part, links);
            double segment_s = 0;
            fab_node_id from = FAB_NONE;
            fab_node_id to = FAB_NONE;
            for (uint32_t k = 0; k < n; k++) {
                segment_s += fab_class_of(s->fabric, links[k])->latency_s;
                if (fab_class_of(s->fabric, links[k])->kind == FAB_LINK_ACCESS) {
                    *(from == FAB_NONE ? &from : &to) =
                        from == FAB_NONE ? fab_head(s->fabric, links[k]) : fab_tail(s->fabric, links[k]);
                }
            }
            if (from != FAB_NONE) {
                list_paths(s, from, to, 2, segment_s, 1.0 / n_parts, &l);
            }
        }
        if (l.max_hops == 0) {
            continue;
        }
        double limit = 8 * s->router.facts.window_bytes / (2 * l.max_s + s->router.facts.queueing_s);
        double rate = fab_offer_rate(&s->offer, s->phase, i);
        out.n_flows++;
        out.hops =
            (fab_path_range){fmin(out.hops.min, l.min_hops), out.hops.mean + l.hops, fmax(out.hops.max, l.max_hops)};
        out.latency_s = (fab_path_range){fmin(out.latency_s.min, l.min_s), out.latency_s.mean + l.latency_s,
                                         fmax(out.latency_s.max, l.max_s)};
        out.max_spread_s = fmax(out.max_spread_s, l.max_s - l.min_s);
        out.mean_spread_s += l.max_s - l.min_s;
        out.limited_flows += rate > limit;
        out.min_limit_bps = fmin(out.min_limit_bps, limit);
        out.max_excess_ratio = fmax(out.max_excess_ratio, rate / limit);
    }
    out.hops.mean /= (double)out.n_flows;
    out.latency_s.mean /= (double)out.n_flows;
    out.mean_spread_s /= (double)out.n_flows;
    out.longest_round_trip_s = 2 * out.latency_s.max;
    return out;
}

static const char *const FLOOR[] = {"floor.hall-power=100kW",
                                    "floor.hall-distance=900m",
                                    "floor.servers-per-rack=1",
                                    "floor.racks-per-row=3",
                                    "floor.switches-per-rack=1",
                                    "floor.row-pitch=40m",
                                    NULL};
static const char *const DESIGNS[] = {"clos:gpus=128,gpus-per-server=4,radix=16",
                                      "fat-tree:k=6,gpus-per-server=1",
                                      "rail-spine:gpus=96,gpus-per-server=4,radix=16",
                                      "rail-only:gpus=64,gpus-per-server=4,radix=6",
                                      "clos:gpus=64,gpus-per-server=4,nics-per-server=8,planes=2,radix=16",
                                      "clos:gpus=64,gpus-per-server=8,nics-per-server=4,radix=8",
                                      "rail-only:gpus=64,gpus-per-server=4,radix=16"};
#define N_DESIGNS (sizeof DESIGNS / sizeof DESIGNS[0])

Test(path_figures, splits_are_sums_over_every_path) {
    uint64_t n_limited = 0;
    uint64_t n_free = 0;
    double spread_s = 0;
    for (size_t i = 0; i < N_DESIGNS; i++) {
        setup s = make(DESIGNS[i], FLOOR, "pattern:permutation", "spray,window=384KiB");
        ask(&s);
        fab_path_figures fast = of_split(&s);
        fab_path_figures slow = slowly(&s);
        expect_same(&fast, &slow, DESIGNS[i]);
        n_limited += fast.limited_flows;
        n_free += fast.n_flows - fast.limited_flows;
        spread_s = fmax(spread_s, fast.max_spread_s);
        discard(&s);
    }
    cr_expect(n_limited > 10 && n_free > 10, "%d limited, %d not", (int)n_limited, (int)n_free);
    cr_expect_gt(spread_s, 1e-7, "%g", spread_s);
}

/* A hash that gives a flow 512 queue pairs finds all of its few paths, so that min and max are those of the split; the
 * mean is near. Chunks and ends left out change nothing. */
Test(path_figures, routes_agree_with_splits) {
    for (size_t i = 0; i < N_DESIGNS; i++) {
        setup s = make(DESIGNS[i], FLOOR, "pattern:permutation", "ecmp,hash=ideal,qp=512");
        ask(&s);
        fab_path_figures split = of_split(&s);
        fab_path_figures routes = of_routes(&s, (uint32_t)s.phase->n_flows, false);
        cr_expect_eq(routes.n_flows, split.n_flows);
        cr_expect_eq(routes.hops.mean, split.hops.mean);
        expect_close(routes.latency_s.min, split.latency_s.min, "min", DESIGNS[i]);
        expect_close(routes.latency_s.max, split.latency_s.max, "max", DESIGNS[i]);
        cr_expect_float_eq(routes.latency_s.mean, split.latency_s.mean, 0.01 * split.latency_s.mean, "%s: %g, %g",
                           DESIGNS[i], routes.latency_s.mean, split.latency_s.mean);
        expect_close(routes.max_spread_s, split.max_spread_s, "spread", DESIGNS[i]);
        cr_expect(!routes.reorders && routes.min_limit_bps == 0 && routes.limited_flows == 0);
        fab_path_figures again = of_routes(&s, 7, false);
        cr_expect_eq(memcmp(&again, &routes, sizeof again), 0, "%s: chunks matter", DESIGNS[i]);
        again = of_routes(&s, 13, true);
        expect_same(&again, &routes, DESIGNS[i]);
        discard(&s);
    }
}

Test(path_figures, one_path_has_no_spread) {
    setup s = make(DESIGNS[0], FLOOR, "pattern:permutation", "dmodk");
    ask(&s);
    fab_path_figures x = of_routes(&s, 1000, false);
    cr_expect(x.max_spread_s == 0 && x.mean_spread_s == 0 && x.latency_s.max > x.latency_s.min);
    fab_path_tally tally;
    cr_assert_eq(fab_path_tally_init(&s.router, &tally, NULL), FAB_OK);
    x = fab_path_tally_finish(&tally);
    cr_expect(x.n_flows == 0 && x.hops.min == 0 && x.hops.mean == 0 && x.min_limit_bps == 0);
    fab_path_tally_release(&tally);
    discard(&s);
}

/* One flow of a bundle stands for all. */
Test(path_figures, bundles_count_their_flows) {
    setup s = make(DESIGNS[0], FLOOR, "pattern:permutation", "dmodk");
    ask(&s);
    fab_routes routes = {0};
    fab_path_tally tally;
    uint64_t *flow = calloc(s.phase->n_flows, sizeof *flow);
    uint64_t *weight = calloc(s.phase->n_flows, sizeof *weight);
    cr_assert_eq(fab_path_tally_init(&s.router, &tally, NULL), FAB_OK);
    routes.between_switches = true;
    cr_assert_eq(fab_route_phase(&s.router, s.phase, 1, &routes, NULL), FAB_OK);
    for (uint64_t i = 0; i < s.phase->n_flows; i++) {
        flow[i] = i;
        weight[i] = 5;
    }
    const fab_path_chunk chunk = {.routes = &routes, .phase = s.phase, .flow = flow, .weight = weight};
    fab_path_tally_add(&tally, &chunk);
    fab_path_figures five = fab_path_tally_finish(&tally);
    fab_path_figures one = of_routes(&s, 1000, false);
    cr_expect_eq(five.n_flows, 5 * one.n_flows);
    five.n_flows = one.n_flows;
    expect_same(&five, &one, DESIGNS[0]);
    free(flow);
    free(weight);
    fab_path_tally_release(&tally);
    fab_routes_release(&routes);
    discard(&s);
}

/* What is told of all flows together and of each; the ends of ranges are bounds. */
static void expect_sum(const fab_path_figures *all, const fab_path_figures *one_by_one, const char *design) {
    cr_expect_eq(all->n_flows, one_by_one->n_flows, "%s", design);
    expect_close(all->hops.mean, one_by_one->hops.mean, "mean hops", design);
    expect_close(all->latency_s.mean, one_by_one->latency_s.mean, "mean latency", design);
    cr_expect_leq(all->latency_s.min, one_by_one->latency_s.min * (1 + 1e-9), "%s", design);
    cr_expect_geq(all->latency_s.max, one_by_one->latency_s.max * (1 - 1e-9), "%s", design);
    cr_expect_leq(all->min_limit_bps, one_by_one->min_limit_bps * (1 + 1e-9), "%s", design);
}

Test(path_figures, all_to_all_is_the_sum_of_its_flows) {
    for (size_t i = 0; i < N_DESIGNS; i++) {
        for (int plan = 0; plan < 2; plan++) { /* without a floor plan the cables of a boundary are alike */
            setup s = make(DESIGNS[i], plan ? FLOOR : NULL, "pattern:all-to-all", "spray,window=6KiB");
            ask(&s);
            fab_path_figures all = of_split(&s);
            fab_phase *unlisted = s.phase;
            fab_phase listed = fixture_list(s.phase);
            forget(&s);
            s.phase = &listed;
            ask(&s);
            fab_path_figures one_by_one = of_split(&s);
            expect_sum(&all, &one_by_one, DESIGNS[i]);
            if (!plan) {
                expect_same(&all, &one_by_one, DESIGNS[i]);
            }
            free(listed.src);
            free(listed.dst);
            free(listed.bytes);
            free(listed.comm);
            s.phase = unlisted;
            discard(&s);
        }
    }
}

/* Flows stay in groups, of whole domains, of parts of them, and across them; rails change within a group alone. */
Test(path_figures, groups_are_the_sum_of_their_flows) {
    static const uint32_t SIZES[] = {2, 3, 4, 6, 8, 12, 16, 24, 48};
    size_t n_counted = 0;
    for (size_t i = 0; i < N_DESIGNS * sizeof SIZES / sizeof *SIZES; i++) {
        const char *design = DESIGNS[i / (sizeof SIZES / sizeof *SIZES)];
        setup s = make(design, NULL, "pattern:all-to-all,gpus=0-47", "spray,window=6KiB");
        fab_phase *unlisted = s.phase;
        s.phase->all.group = SIZES[i % (sizeof SIZES / sizeof *SIZES)];
        s.phase->n_flows = (uint64_t)s.phase->all.n * (s.phase->all.group - 1);
        ask(&s);
        const fab_path_figures all = of_split(&s);
        n_counted += s.demand.pair_of == NULL;
        fab_phase listed = fixture_list(s.phase);
        forget(&s);
        s.phase = &listed;
        ask(&s);
        const fab_path_figures one_by_one = of_split(&s);
        char name[96];
        (void)snprintf(name, sizeof name, "%s, groups of %d", design, (int)unlisted->all.group);
        expect_sum(&all, &one_by_one, name);
        free(listed.src);
        free(listed.dst);
        free(listed.bytes);
        free(listed.comm);
        s.phase = unlisted;
        discard(&s);
    }
    cr_expect_geq(n_counted, 40, "%zu without a list", n_counted);
}

/* Llama 3's RoCE cluster in two halls: 2 km between them take more than the window holds at 400 Gb/s, 20 m do not. */
Test(path_figures, halls_far_apart_are_limited) {
    static const char *const NEAR[] = {"floor.hall-power=20MW", "floor.hall-distance=20m", NULL};
    static const char *const FAR[] = {"floor.hall-power=20MW", "floor.hall-distance=2km", NULL};
    for (int far = 0; far < 2; far++) {
        setup s = make("preset:llama3-24k-roce", far ? FAR : NEAR, "pattern:permutation", "spray");
        ask(&s);
        fab_path_figures x = of_split(&s);
        if (far) {
            cr_expect_gt(x.limited_flows, x.n_flows / 10, "%d of %d", (int)x.limited_flows, (int)x.n_flows);
            cr_expect_lt(x.min_limit_bps, 300e9, "%g", x.min_limit_bps);
        } else {
            cr_expect_eq(x.limited_flows, 0);
            cr_expect_gt(x.min_limit_bps, 400e9, "%g", x.min_limit_bps);
        }
        discard(&s);
    }
}
