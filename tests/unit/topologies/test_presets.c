/* Presets against what is published of them, designs that stand on others, and the counting rules at other sizes. */
#include "fabric_fixture.h"
#include "fab/design.h"
#include "fab/analysis.h"
#include "fab/builtin.h"
#include "fab/rng.h"
#include "fab/topologies.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void read_preset(const char *name, fab_design *out) {
    char text[96];
    fab_error err = {0};
    (void)snprintf(text, sizeof text, "preset:%s", name);
    cr_assert_eq(fab_design_read(text, NULL, 0, out, &err), FAB_OK, "%s: %s: %s", name, err.where, err.text);
}

static fab_fabric *build(fab_design *design, fab_counts *counts) {
    fab_fabric *fabric = NULL;
    fab_error err = {0};
    cr_assert_eq(fab_topology_build(&design->fabric, &fabric, counts, &err), FAB_OK, "%s: %s: %s", design->name,
                 err.where, err.text);
    return fabric;
}

static void stem_of(const fab_builtin *preset, char *out, size_t size) {
    (void)snprintf(out, size, "%.*s", (int)strcspn(preset->name, "."), preset->name);
}

/* --- what is published and no count; counts: topologies/published ------------------------------------------------ */

Test(presets, ends_of_the_servers) {
    static const struct {
        const char *name;
        uint64_t gpus_per_server, nics_per_server, domain;
        double nic_gbps, domain_gbytes;
    } ROWS[] = {
        {"llama3-24k-roce", 8, 8, 8, 400, 450},   {"dgx-a100-4node", 8, 8, 8, 200, 300},
        {"dgx-h100-superpod", 8, 8, 8, 400, 450}, {"dgx-h100-superpod-16su", 8, 8, 8, 400, 450},
        {"selene-3072", 8, 8, 8, 200, 300},       {"p4d-ultracluster", 8, 4, 8, 100, 300},
        {"p5-ultracluster", 8, 32, 8, 100, 450},  {"gh200-nvl256", 1, 1, 256, 400, 450},
        {"railonly-65536", 8, 8, 256, 400, 450},  {"climategpt-160", 8, 8, 8, 400, 450},
        {"jeanzay-bloom", 8, 4, 8, 100, 300},     {"alvis-a100", 4, 1, 4, 100, 300},
        {"hpn-pod", 8, 8, 8, 400, 450},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        fab_design d;
        read_preset(ROWS[i].name, &d);
        cr_expect_eq(d.fabric.gpus_per_server, ROWS[i].gpus_per_server, "%s", ROWS[i].name);
        cr_expect_eq(d.fabric.nics_per_server, ROWS[i].nics_per_server, "%s", ROWS[i].name);
        cr_expect_eq(d.fabric.domain, ROWS[i].domain, "%s", ROWS[i].name);
        cr_expect_float_eq(d.fabric.nic_bps, ROWS[i].nic_gbps * 1e9, 1, "%s", ROWS[i].name);
        cr_expect_float_eq(d.fabric.domain_bps, ROWS[i].domain_gbytes * 8e9, 1, "%s", ROWS[i].name);
    }
}

Test(presets, every_preset_names_source_and_assumptions) {
    for (const fab_builtin *b = fab_builtin_presets; b->name != NULL; b++) {
        char name[FAB_NAME_SIZE];
        fab_design design;
        stem_of(b, name, sizeof name);
        read_preset(name, &design);
        const char *end = strstr(design.source, ". ");
        cr_expect(end != NULL && end - design.source <= 76, "%s: the first sentence must fit a line of the list", name);
        cr_expect(strstr(design.source, "ssum") != NULL, "%s: no assumption is named: %s", name, design.source);
        cr_expect_not_null(strstr(b->data, "<source>"), "%s has no source of its own", name);
    }
}

/* --- jobs ------------------------------------------------------------------------------------------------------- */

Test(presets, published_jobs) {
    static const struct {
        const char *name, *model;
        uint64_t gpus, tp, pp, dp, batch;
    } ROWS[] = {{"selene-3072", "gpt-1t", 3072, 8, 64, 6, 3072},
                {"jeanzay-bloom", "bloom-176b", 384, 4, 12, 8, 2048},
                {"llama3-24k-ib", "llama3-405b", 16384, 8, 16, 128, 2048}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        fab_design d;
        read_preset(ROWS[i].name, &d);
        cr_assert_eq(d.n_jobs, 1, "%s", ROWS[i].name);
        cr_expect_str_eq(d.jobs[0].model, ROWS[i].model);
        cr_expect(d.jobs[0].tp == ROWS[i].tp && d.jobs[0].pp == ROWS[i].pp && d.jobs[0].dp == ROWS[i].dp, "%s",
                  ROWS[i].name);
        cr_expect_eq(d.jobs[0].batch, ROWS[i].batch, "%s", ROWS[i].name);
        cr_expect_eq(ROWS[i].tp * ROWS[i].pp * ROWS[i].dp, ROWS[i].gpus, "%s", ROWS[i].name);
    }
    double bloom = fab_model_parameters(fab_model_find("bloom-176b"));
    cr_expect_float_eq(bloom, 176.2e9, 0.2e9, "%g", bloom);
}

static void route_first_phase(fab_design *design) {
    fab_counts counts;
    fab_error err = {0};
    fab_fabric *fabric = build(design, &counts);
    fab_traffic traffic = {0};
    cr_assert_eq(fab_traffic_make("job", design, fabric, 1, &traffic, &err), FAB_OK, "%s: %s: %s", design->name,
                 err.where, err.text);
    cr_assert_gt(traffic.n_phases, 0, "%s", design->name);
    fab_next_hops *next_hops = fixture_next_hops(fabric);
    if (design->n_engines == 0) {
        design->engines[design->n_engines++] = (fab_engine_spec){.text = "ecmp", .where = "default engine"};
    }
    for (size_t i = 0; i < design->n_engines; i++) {
        fab_router router = {0};
        fab_routes routes = {0};
        cr_assert_eq(fab_router_init(&design->engines[i], fabric, next_hops, &router, &err), FAB_OK, "%s: %s: %s",
                     design->name, err.where, err.text);
        if (!router.facts.splits) {
            cr_assert_eq(fab_route_phase(&router, &traffic.phases[0], 1, &routes, &err), FAB_OK, "%s: %s: %s",
                         design->name, err.where, err.text);
            cr_expect_eq(routes.n_flows, traffic.phases[0].n_flows);
        }
        fab_routes_release(&routes);
        fab_router_release(&router);
    }
    fab_next_hops_free(next_hops);
    fab_traffic_release(&traffic);
    fab_fabric_free(fabric);
}

Test(presets, jobs_route_under_their_engines, .timeout = 300) {
    size_t n = 0;
    for (const fab_builtin *b = fab_builtin_presets; b->name != NULL; b++) {
        char name[FAB_NAME_SIZE];
        fab_design design;
        stem_of(b, name, sizeof name);
        read_preset(name, &design);
        if (design.fabric.gpus <= 4096) {
            route_first_phase(&design);
            n++;
        }
    }
    cr_expect_geq(n, 10);
}

/* --- bisection of the scale-up domains ---------------------------------------------------------------------------- */

Test(presets, scaleup_bisection) {
    static const struct {
        const char *text;
        double gpus; /* that send at once */
    } ROWS[] = {{"clos:gpus=64", 32},
                {"clos:gpus=64,gpus-per-server=1", 0},
                {"clos:gpus=60,gpus-per-server=5", 24},
                {"clos:gpus=256,gpus-per-server=4,domain=32", 128},
                {"clos:gpus=64,gpus-per-server=4,domain=32,spares=1", 34}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        fab_design d;
        fab_counts counts;
        fab_error err = {0};
        cr_assert_eq(fab_design_read(ROWS[i].text, NULL, 0, &d, &err), FAB_OK, "%s", err.text);
        fab_fabric_free(build(&d, &counts));
        cr_expect_float_eq(fab_scaleup_bisection(&d.fabric, &counts), ROWS[i].gpus * 3.6e12, 1, "%s: %g", ROWS[i].text,
                           fab_scaleup_bisection(&d.fabric, &counts));
    }
}

/* --- the rules at other sizes: a slow second computation -------------------------------------------------------- */

typedef struct slow {
    uint64_t tiers, leaves, spines, cores, leaf_up, spine_up;
} slow;

static uint64_t slow_up(uint64_t down, double taper) {
    uint64_t up = 1;
    while ((double)down > taper * (double)up + 1e-9) {
        up++;
    }
    return up;
}

static uint64_t slow_down(uint64_t radix, double taper) {
    uint64_t down = 0;
    while (down + 1 + slow_up(down + 1, taper) <= radix) {
        down++;
    }
    return down;
}

static uint64_t slow_blocks(uint64_t n, uint64_t size) {
    uint64_t blocks = 0;
    for (uint64_t in_blocks = 0; in_blocks < n; in_blocks += size) {
        blocks++;
    }
    return blocks;
}

/* The most even size of so many blocks; all blocks of that size may be fewer. */
static uint64_t slow_even(uint64_t n, uint64_t blocks) {
    uint64_t size = 1;
    while (size * blocks < n) {
        size++;
    }
    return size;
}

static void slow_keep_fewer(const slow *a, slow *best) {
    uint64_t n_a = a->leaves + a->spines + a->cores;
    uint64_t n_b = best->leaves + best->spines + best->cores;
    uint64_t cables_a = a->leaves * a->leaf_up + a->spines * a->spine_up;
    uint64_t cables_b = best->leaves * best->leaf_up + best->spines * best->spine_up;
    if (best->tiers == 0 || n_a < n_b || (n_a == n_b && cables_a < cables_b)) {
        *best = *a;
    }
}

/* `s` knows leaves and spines of a pod: every number of uplinks of a spine, and every number of cores. */
static void slow_cores(slow s, uint64_t pod, uint64_t radix, double taper, slow *best) {
    uint64_t per_pod = s.spines;
    uint64_t down = pod * s.leaf_up / per_pod;
    uint64_t pods = slow_blocks(s.leaves, pod);
    s.tiers = 3;
    s.spines *= pods;
    for (s.spine_up = slow_up(down, taper); down + s.spine_up <= radix; s.spine_up++) {
        for (uint64_t group = 1; group <= s.spine_up; group++) {
            if (s.spine_up % group == 0 && pods * s.spine_up / group <= radix) {
                s.cores = per_pod * group;
                slow_keep_fewer(&s, best);
            }
        }
    }
}

/* rail-spine with servers of 8 GPUs, which are the domains, and one radix and taper: every number of leaves, of their
 * uplinks and of spines. */
static slow slow_rail_spine(uint64_t gpus, uint64_t radix, double taper) {
    uint64_t servers = gpus / 8;
    uint64_t down = slow_down(radix, taper);
    slow best = {.tiers = 0};
    for (uint32_t tiers = 2; tiers <= 3 && best.tiers == 0; tiers++) {
        for (uint64_t groups = slow_blocks(servers, down); groups <= servers; groups++) {
            uint64_t size = slow_even(servers, groups);
            slow s = {.tiers = 2, .leaves = 8 * slow_blocks(servers, size)};
            uint64_t pod = tiers == 2 ? s.leaves : slow_even(s.leaves, slow_blocks(s.leaves, down));
            uint64_t ports = tiers == 2 ? radix : down;
            if (best.tiers != 0 && s.leaves > best.leaves + best.spines + best.cores) {
                break;
            }
            for (s.leaf_up = slow_up(size, taper); size + s.leaf_up <= radix; s.leaf_up++) {
                for (s.spines = 1; s.spines <= s.leaf_up; s.spines++) {
                    if (s.leaf_up % s.spines == 0 && pod * s.leaf_up / s.spines <= ports) {
                        tiers == 2 ? slow_keep_fewer(&s, &best) : slow_cores(s, pod, radix, taper, &best);
                    }
                }
            }
        }
    }
    if (best.tiers == 0) {
        best.tiers = 3; /* no core has the ports */
    }
    return best;
}

/* Every switch below the top has its uplinks spread evenly; no switch has more cables than ports. */
static void check_trunks(const fab_fabric *f, uint64_t radix, const char *text) {
    uint32_t *cables = calloc(f->n_nodes, sizeof *cables);
    for (fab_node_id v = f->first[FAB_NODE_SWITCH]; v < f->n_nodes; v++) {
        uint32_t most = 0;
        uint32_t up = 0;
        uint32_t n_parents = 0;
        cr_assert_leq(f->out_first[v + 1] - f->out_first[v], radix, "%s: switch %u", text, v);
        for (int pass = 0; pass < 2; pass++) { /* count, then clear */
            for (uint32_t i = f->out_first[v]; i < f->out_first[v + 1]; i++) {
                fab_link_id l = f->out_link[i];
                if (fab_is_up(l) && pass == 0) {
                    uint32_t *n = &cables[fab_head(f, l)];
                    n_parents += *n == 0;
                    up++;
                    most = ++*n > most ? *n : most;
                } else if (fab_is_up(l)) {
                    cables[fab_head(f, l)] = 0;
                }
            }
        }
        cr_assert_eq(up, most * n_parents, "%s: switch %u spreads %u uplinks unevenly over %u", text, v, up, n_parents);
    }
    free(cables);
}

static void check_rules(uint64_t gpus, uint64_t radix, double taper) {
    char text[96];
    fab_design d;
    fab_counts c;
    fab_error err = {0};
    (void)snprintf(text, sizeof text, "rail-spine:gpus=%" PRIu64 ",radix=%" PRIu64 ",taper=%g/%g", gpus, radix, taper,
                   taper);
    cr_assert_eq(fab_design_read(text, NULL, 0, &d, &err), FAB_OK, "%s: %s", text, err.text);
    slow s = slow_rail_spine(gpus, radix, taper);
    fab_fabric *f = build(&d, &c);      /* compares the closed form with the graph */
    if (s.tiers == 3 && s.cores == 0) { /* no core has the ports: more tiers than are computed here */
        cr_expect_eq(c.tiers, 4, "%s: %" PRIu64 " tiers", text, c.tiers);
        fab_fabric_free(f);
        return;
    }
    cr_expect_eq(c.tiers, s.tiers, "%s: %" PRIu64 " tiers", text, c.tiers);
    cr_expect_eq(c.switches_by_tier[0], s.leaves, "%s: %" PRIu64 " leaves", text, c.switches_by_tier[0]);
    cr_expect_eq(c.switches_by_tier[1], s.spines, "%s: %" PRIu64 " spines", text, c.switches_by_tier[1]);
    cr_expect_eq(c.switches_by_tier[2], s.cores, "%s: %" PRIu64 " cores", text, c.switches_by_tier[2]);
    cr_expect_eq(c.cables_by_tier[0], gpus, "%s", text);
    cr_expect_eq(c.cables_by_tier[1], s.leaves * s.leaf_up, "%s: %" PRIu64, text, c.cables_by_tier[1]);
    cr_expect_eq(c.cables_by_tier[2], s.spines * s.spine_up, "%s: %" PRIu64, text, c.cables_by_tier[2]);
    for (uint64_t t = 0; t + 1 < c.tiers; t++) {
        cr_expect_leq(c.built_taper[t], taper * (1 + 1e-9), "%s: %g at tier %" PRIu64, text, c.built_taper[t], t + 1);
    }
    check_trunks(f, radix, text);
    fab_fabric_free(f);
}

Test(presets, rules_hold_at_any_size_and_radix) {
    static const uint64_t UNITS[] = {1, 2, 3, 4, 5, 16, 18};
    static const uint64_t RADIX[] = {64, 144};
    static const double TAPER[] = {1, 2, 3, 0.5, 2.5};
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        for (size_t j = 0; j < 2; j++) {
            for (size_t k = 0; k < sizeof TAPER / sizeof TAPER[0]; k++) {
                check_rules(UNITS[i] * 256, RADIX[j], TAPER[k]);
            }
        }
    }
    for (uint64_t servers = 2; servers <= 48; servers++) { /* one leaf of a rail holds few of them: 13 want 2 spines */
        check_rules(8 * servers, 64, 1);
        check_rules(8 * servers, 64, 1.7);
    }
    cr_expect_eq(slow_rail_spine(104, 64, 1).spines, 2);
    check_rules(4096, 64, 1.75); /* 19 uplinks of a leaf would want 19 spines */
    fab_rng rng = fab_rng_make(7, 1);
    for (int draw = 0; draw < 200; draw++) {
        check_rules(8 * (1 + fab_rng_below(&rng, 900)), 24 + 2 * fab_rng_below(&rng, 80), 1);
    }
}
