/* Counts: published tables, and closed form against graph over random parameters. */
#include "fab/design.h"
#include "fab/topologies.h"
#include "random_design.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fab_status try_build(const char *text, fab_counts *counts, fab_error *err) {
    fab_design design;
    fab_fabric *fabric = NULL;
    fab_status status = fab_design_read(text, NULL, 0, &design, err);
    if (status == FAB_OK) {
        status = fab_topology_build(&design.fabric, &fabric, counts, err);
    }
    fab_fabric_free(fabric);
    return status;
}

static fab_counts build(const char *text) {
    fab_counts counts = {0};
    fab_error err = {0};
    cr_assert_eq(try_build(text, &counts, &err), FAB_OK, "%s: %s: %s", text, err.where, err.text);
    return counts;
}

Test(topologies, xgft) {
    fab_counts full = build("fat-tree:xgft=3;4,4,8;1,4,4;1,1,1,gpus-per-server=1");
    cr_expect_eq(full.nics, 128);
    cr_expect_eq(full.switches, 32 + 32 + 16);
    cr_expect_eq(full.cables, 3 * 128);
    fab_counts part =
        build("fat-tree:gpus=8,gpus-per-server=1,radix=33,xgft=3;3,4,4;1,2,2"); /* 3 of 4 leaves in the only block */
    cr_expect_eq(part.switches_by_tier[0], 3);
    cr_expect_eq(part.switches_by_tier[1], 2);
    cr_expect_eq(part.switches_by_tier[2], 4);
    cr_expect_float_eq(part.built_taper[1], 1.5, 1e-12);
}

Test(topologies, fat_tree_is_k_cubed_over_four) {
    for (uint64_t k = 2; k <= 24; k += 2) {
        char text[64];
        (void)snprintf(text, sizeof text, "fat-tree:k=%" PRIu64, k);
        fab_counts c = build(text);
        cr_expect_eq(c.nics, k * k * k / 4, "k = %" PRIu64, k);
        cr_expect_eq(c.switches, 5 * k * k / 4, "k = %" PRIu64, k);
        cr_expect_eq(c.cables, 3 * k * k * k / 4, "k = %" PRIu64, k);
    }
}

/* Parameters at random. What can be built must agree with its closed form (fab_topology_build compares) and obey the
 * rules: tapers kept, radix kept (the builder checks every port), nothing lost. */
Test(topologies, closed_form_equals_graph_at_random) {
    fab_rng rng = fab_rng_make(2026, 1);
    uint32_t n_built = 0;
    uint32_t by_family[RANDOM_N_FAMILIES] = {0};
    for (uint32_t draw = 0; draw < 6000; draw++) {
        random_design drawn = random_design_next(&rng, 300);
        fab_error err = {0};
        fab_counts c = {0};
        fab_status status = try_build(drawn.text, &c, &err);
        if (status != FAB_OK) {
            cr_assert_eq(status, FAB_EINPUT, "%s: %s: %s", drawn.text, err.where, err.text);
            cr_assert_gt(strlen(err.text), 10, "%s: no explanation", drawn.text);
            continue;
        }
        n_built++;
        by_family[drawn.family]++;
        cr_assert_eq(c.nics * c.planes, c.cables_by_tier[0], "%s", drawn.text);
        fab_design design;
        cr_assert_eq(fab_design_read(drawn.text, NULL, 0, &design, &err), FAB_OK);
        uint64_t shared = design.fabric.spares > 0; /* leaves may give up half of their uplinks for spares */
        for (uint64_t t = shared; t + 1 < c.tiers; t++) {
            cr_assert_leq(c.built_taper[t], design.fabric.tier[t].taper * (1 + 1e-9), "%s: taper %g at tier %" PRIu64,
                          drawn.text, c.built_taper[t], t + 1);
        }
    }
    cr_assert_gt(n_built, 3000, "only %u designs could be built", n_built);
    for (int i = 0; i < RANDOM_N_FAMILIES; i++) {
        cr_assert_gt(by_family[i], 300, "%s: %u", RANDOM_FAMILIES[i], by_family[i]);
    }
}

/* Who asks for less capacity pays for no more switches, and has no less than he asked for: a prime number of uplinks
 * per leaf, which no two spines can share, is not built where another is cheaper. */
Test(topologies, more_taper_takes_no_more_switches) {
    static const char *const FAMILIES[] = {"clos", "rail-spine", "rail-only"};
    fab_rng rng = fab_rng_make(2026, 121);
    uint32_t n_built = 0;
    for (uint32_t draw = 0; draw < 300; draw++) {
        const uint64_t gpus = 8 * random_between(&rng, 4, 1200);
        const uint64_t radix = 16 * random_between(&rng, 2, 8);
        const char *family = random_word(&rng, FAMILIES, 3);
        uint64_t before = UINT64_MAX;
        for (uint32_t twentieths = 20; twentieths <= 120; twentieths++) {
            char text[120];
            fab_design design;
            fab_counts c = {0};
            fab_error err = {0};
            (void)snprintf(text, sizeof text, "%s:gpus=%" PRIu64 ",tiers=2,radix=%" PRIu64 ",taper=%.2f", family, gpus,
                           radix, twentieths / 20.0);
            cr_assert_eq(fab_design_read(text, NULL, 0, &design, &err), FAB_OK, "%s: %s", text, err.text);
            if (fab_topology_predict(&design.fabric, &c, &err) == FAB_OK) {
                cr_expect_leq(c.switches, before, "%s: %" PRIu64 " switches, %" PRIu64 " with less taper", text,
                              c.switches, before);
                cr_expect_leq(c.built_taper[0], twentieths / 20.0 * (1 + 1e-9), "%s: %g", text, c.built_taper[0]);
                before = c.switches;
                n_built++;
            }
        }
    }
    cr_assert_gt(n_built, 10000, "only %u designs could be built", n_built);
}

/* By hand: 128 servers on leaves of 32, of which 19 uplinks would keep 1.75 with 19 spines a rail, and 20 do with 2;
 * 1,024 servers at 4:1, of which 13 uplinks would want 13 spines, and 15 want 5. */
Test(topologies, primes_of_uplinks_are_not_built) {
    static const struct {
        const char *text;
        uint64_t leaves, spines;
    } CASES[] = {{"rail-only:gpus=1024,radix=64,taper=1.75", 32, 16},
                 {"rail-only:gpus=1024,radix=64,taper=1.75,down=32/64", 32, 16},
                 {"rail-only:gpus=1024,radix=64,taper=2", 32, 8},
                 {"rail-only:gpus=8192,radix=64,taper=4", 168, 40}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        fab_counts c = {0};
        fab_error err = {0};
        cr_assert_eq(try_build(CASES[i].text, &c, &err), FAB_OK, "%s: %s", CASES[i].text, err.text);
        cr_expect(c.switches_by_tier[0] == CASES[i].leaves && c.switches_by_tier[1] == CASES[i].spines,
                  "%s: %" PRIu64 " leaves, %" PRIu64 " spines", CASES[i].text, c.switches_by_tier[0],
                  c.switches_by_tier[1]);
    }
}

Test(topologies, errors_name_the_part) {
    static const struct {
        const char *text, *expect;
    } CASES[] = {
        {"clos:gpus=64,radix=7", "leaf"},
        {"mesh:gpus=64", "unknown family"},
        {"fat-tree:k=5", "even k"},
        {"clos:gpus=4096,radix=16,tiers=2", "radix 16"},
        {"rail-spine:gpus=64,tiers=1", "at least 2 tiers"},
        {"clos:gpus=1024,radix=32,pod=100", "pod"},
        {"clos:gpus=64,k=4", "key of fat-tree"},
        {"torus:gpus=8,gpus-per-server=1,torus=2/2/2", "torus"},
        {"torus:gpus=64,torus=4,4,taper=1/4", "taper"},
        {"rail-spine:gpus=64,rails-per-switch=2", "key of rail-only"},
        {"rail-only:gpus=512,radix=32,rails-per-switch=3,tiers=2", "does not divide"},
        {"clos:gpus=65535,gpus-per-server=65535,nics-per-server=1,domain=1,radix=64,planes=2", "limit"},
        {"dragonfly:dragonfly=4,4,2,radix=8", "needs 9 ports"},
        {"dragonfly:gpus=80,dragonfly=2,4,2", "hold 72 NICs, not 80"},
        {"dragonfly:gpus=16,dragonfly=2,4,2,10", "at most 9"},
        {"dragonfly:gpus=16,dragonfly=2,4", "p,a,h"},
        {"dragonfly:gpus=16,radix=2", "3 ports"},
        {"dragonfly:gpus=80,radix=7", "at most 9 groups"},
        {"dragonfly:gpus=64,taper=2", "taper"},
        {"dragonfly:gpus=64,tiers=2", "one tier"},
        {"torus:gpus=64", "needs torus="},
        {"torus:gpus=64,torus=4,0,4", "torus"},
        {"torus:gpus=64,torus=1,1,1,1,1,1,1", "more than 6"},
        {"torus:gpus=64,gpus-per-server=4,torus=4,4,radix=7", "needs 8 ports for 4 NICs and 4 cables"},
        {"torus:gpus=64,gpus-per-server=4,torus=4,4,down=3", "hold 48 NICs, not 64"},
        {"torus:gpus=64,torus=4,4,pod=32", "pod"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        fab_error err = {0};
        fab_counts c;
        cr_assert_eq(try_build(CASES[i].text, &c, &err), FAB_EINPUT, "%s", CASES[i].text);
        cr_assert(strstr(err.text, CASES[i].expect) != NULL || strstr(err.where, CASES[i].expect) != NULL, "%s: %s: %s",
                  CASES[i].text, err.where, err.text);
    }
}
