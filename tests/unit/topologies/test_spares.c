/* Spare servers, balanced groups, racks that limit leaves, and a radix that is chosen: counts by hand, and what must
 * hold for every fabric. That graph and closed form agree, and that no port is used twice, is checked by every build.
 */
#include "fab/analysis.h"
#include "fab/design.h"
#include "fab/prices.h"
#include "fab/rng.h"
#include "fab/topologies.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct built {
    fab_design design;
    fab_fabric *fabric;
    fab_counts counts;
} built;

static bool try_build(const char *text, built *out) {
    fab_error err = {0};
    memset(out, 0, sizeof *out);
    fab_status status = fab_design_read(text, NULL, 0, &out->design, &err);
    status = status == FAB_OK ? fab_topology_build(&out->design.fabric, &out->fabric, &out->counts, &err) : status;
    cr_assert(status == FAB_OK || fab_is_refusal(status), "%s: %s: %s", text, err.where, err.text);
    return status == FAB_OK;
}

static uint64_t cables_up(const fab_fabric *f, fab_node_id v) {
    uint64_t n = 0;
    for (uint32_t i = f->out_first[v]; i < f->out_first[v + 1]; i++) {
        n += fab_is_up(f->out_link[i]);
    }
    return n;
}

/* Fewest and most uplinks of a leaf. */
static void range_of_uplinks(const fab_fabric *f, uint64_t *low, uint64_t *high) {
    *low = UINT64_MAX;
    *high = 0;
    for (fab_node_id v = f->first_of_tier[1]; v < f->first_of_tier[2]; v++) {
        uint64_t n = cables_up(f, v);
        *low = n < *low ? n : *low;
        *high = n > *high ? n : *high;
    }
}

/* 131 servers on 33 leaves of 32 uplinks take 32 spines, since 17 would not divide them; 128 take 16. */
Test(near_size, is_where_ports_divide) {
    static const struct {
        const char *text;
        uint64_t gpus, fewer; /* 0: none */
    } CASES[] = {
        {"clos:gpus=1048", 1024, 17}, {"clos:gpus=1024", 0, 0},      {"clos:gpus=1016", 0, 0},
        {"clos:gpus=1040", 1024, 17}, {"clos:gpus=32", 0, 0},        {"fat-tree:k=16", 0, 0},
        {"clos:gpus=520", 512, 9},    {"dragonfly:gpus=1048", 0, 0}, {"rail-only:gpus=1048", 1024, 16},
    };
    fab_prices prices = {0};
    fab_error err = {0};
    cr_assert_eq(fab_prices_read("today-400g", &prices, &err), FAB_OK, "%s", err.text);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        static built b;
        fab_near_size found;
        fab_near_size rails;
        fab_cost cost;
        cr_assert(try_build(CASES[i].text, &b), "%s", CASES[i].text);
        cr_assert_eq(fab_cost_of(&b.design.fabric, &b.counts, &prices, &cost, &err), FAB_OK, "%s", err.text);
        cr_assert_eq(fab_near_size_find(&b.design.fabric, &b.counts, &prices, cost.total_usd, &found, &rails, &err),
                     FAB_OK);
        cr_expect_eq(found.n, CASES[i].gpus, "%s: %" PRIu64, CASES[i].text, found.n);
        cr_expect_eq(found.fewer_switches, CASES[i].fewer, "%s: %" PRIu64, CASES[i].text, found.fewer_switches);
        cr_expect_eq(rails.n, strncmp(CASES[i].text, "rail-only", 9) == 0 ? 4 : 0, "%s: %" PRIu64, CASES[i].text,
                     rails.n);
        fab_fabric_free(b.fabric);
    }
}

/* {design, switches, fewest uplinks of a leaf, most} */
Test(spares, take_no_tier) {
    static const struct {
        const char *text;
        uint64_t switches, low, high;
    } CASES[] = {
        {"clos:gpus=512,radix=32", 48, 16, 16},
        {"clos:gpus=512,radix=32,spares=2", 49, 15, 16}, /* 33 leaves; 16 spines lack a cable to one leaf each */
        {"clos:gpus=512,radix=32,spares=2,full-spares=yes", 113, 16, 16},
        {"rail-spine:gpus=512,radix=32,spares=2", 48, 15, 16}, /* a server on the leaves of two groups */
        {"clos:gpus=512,spares=2", 25, 30, 31},
        {"clos:gpus=448,radix=32,spares=2", 45, 16, 16}, /* where ports are free, nobody gives up anything */
    };
    built *b = malloc(sizeof *b);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        uint64_t low = 0;
        uint64_t high = 0;
        cr_assert(try_build(CASES[i].text, b), "%s", CASES[i].text);
        range_of_uplinks(b->fabric, &low, &high);
        cr_expect_eq(b->counts.switches, CASES[i].switches, "%s: %" PRIu64, CASES[i].text, b->counts.switches);
        cr_expect(low == CASES[i].low && high == CASES[i].high, "%s: %" PRIu64 " to %" PRIu64, CASES[i].text, low,
                  high);
        fab_fabric_free(b->fabric);
    }
    free(b);
}

Test(spares, price_of_a_tier_is_said) {
    fab_prices *prices = malloc(sizeof *prices);
    built *b = malloc(sizeof *b);
    fab_spares spares = {0};
    cr_assert_eq(fab_prices_read(FAB_DEFAULT_PRICES, prices, NULL), FAB_OK);
    cr_assert(try_build("rail-only:gpus=512,spares=2", b)); /* a switch of 64 holds a rail of 64, not of 66 */
    cr_assert_eq(fab_spares_measure(&b->design.fabric, prices, &spares, NULL), FAB_OK);
    cr_expect(spares.is_known && !spares.is_shared);
    cr_expect_eq(spares.more_tiers, 1);
    cr_expect_eq(spares.more_switches, 32);
    cr_expect_float_eq(spares.more_usd, 2964640, 1e6); /* 32 switches and 528 cables of AOC */
    fab_fabric_free(b->fabric);
    cr_assert(try_build("clos:gpus=512,radix=32,spares=2", b));
    cr_assert_eq(fab_spares_measure(&b->design.fabric, prices, &spares, NULL), FAB_OK);
    cr_expect(spares.is_known && spares.is_shared);
    cr_expect_eq(spares.full_switches, 113);
    cr_expect_gt(spares.full_usd, 2.9e6);
    fab_fabric_free(b->fabric);
    free(b);
    free(prices);
}

/* Every server has all its NICs plugged in; switches above leaves are never more than full spares would need, and no
 * leaf has lost more than half of its uplinks. */
Test(spares, random_fabrics) {
    static const char *const FAMILY[] = {"clos", "fat-tree", "rail-spine", "rail-only"};
    static const char *const TAPER[] = {"1", "2", "3:2", "0.5", "2/1.5"};
    static const uint64_t RADIX[] = {8, 12, 16, 18, 32, 48};
    fab_rng rng = fab_rng_make(7, 20);
    built *b = malloc(sizeof *b);
    built *full = malloc(sizeof *full);
    size_t n_shared = 0;
    for (size_t i = 0; i < 1500; i++) {
        char text[256];
        char same[272];
        (void)snprintf(text, sizeof text,
                       "%s:gpus=%" PRIu64 ",gpus-per-server=4,radix=%" PRIu64 ",taper=%s,planes=%" PRIu64
                       ",breakout=%" PRIu64 ",spares=%" PRIu64,
                       FAMILY[fab_rng_below(&rng, 4)], 4 * (12 + fab_rng_below(&rng, 100)),
                       RADIX[fab_rng_below(&rng, 6)], TAPER[fab_rng_below(&rng, 5)], 1 + fab_rng_below(&rng, 2),
                       1 + fab_rng_below(&rng, 2), 1 + fab_rng_below(&rng, 9));
        (void)snprintf(same, sizeof same, "%s,full-spares=yes", text);
        bool is_full = try_build(same, full);
        if (!try_build(text, b)) {
            cr_expect(!is_full, "%s", text);
            continue;
        }
        const fab_fabric *f = b->fabric;
        for (fab_node_id nic = f->first[FAB_NODE_NIC]; nic < f->first[FAB_NODE_NIC + 1]; nic++) {
            uint64_t access = 0;
            for (uint32_t k = f->out_first[nic]; k < f->out_first[nic + 1]; k++) {
                access += fab_class_of(f, f->out_link[k])->kind == FAB_LINK_ACCESS;
            }
            cr_assert_eq(access, f->n_planes, "%s", text);
        }
        if (f->n_tiers > 1) {
            uint64_t low = 0;
            uint64_t high = 0;
            range_of_uplinks(f, &low, &high);
            cr_expect(2 * low >= high, "%s: %" PRIu64 " to %" PRIu64, text, low, high);
            n_shared += low < high;
        }
        cr_expect(!is_full || b->counts.switches - b->counts.switches_by_tier[0] <=
                                  full->counts.switches - full->counts.switches_by_tier[0],
                  "%s", text);
        fab_fabric_free(b->fabric);
        fab_fabric_free(full->fabric);
    }
    cr_expect_gt(n_shared, 50, "%zu", n_shared);
    free(full);
    free(b);
}

static uint64_t nics_below(const fab_fabric *f, fab_node_id leaf) {
    uint64_t n = 0;
    for (uint32_t i = f->out_first[leaf]; i < f->out_first[leaf + 1]; i++) {
        n += !fab_is_up(f->out_link[i]);
    }
    return n;
}

/* 32 servers at 2:1 on switches of 32 ports are two groups of 16, not 21 and 11; and not more switches than those. */
Test(balance, groups_and_pods) {
    built *b = malloc(sizeof *b);
    cr_assert(try_build("rail-spine:gpus=256,radix=32,taper=2", b));
    for (fab_node_id v = b->fabric->first_of_tier[1]; v < b->fabric->first_of_tier[2]; v++) {
        cr_expect_eq(nics_below(b->fabric, v), 16);
    }
    cr_expect_eq(b->counts.switches, 20);
    fab_fabric_free(b->fabric);
    cr_assert(try_build("rail-spine:gpus=264", b)); /* 33 servers: 17 and 16, with uplinks for 20 */
    cr_expect_eq(nics_below(b->fabric, b->fabric->first_of_tier[1]), 17);
    cr_expect_eq(b->counts.switches_by_tier[1], 5);
    fab_fabric_free(b->fabric);
    cr_assert(try_build("clos:gpus=160,radix=8,gpus-per-server=4", b)); /* 40 leaves: ten pods of four */
    cr_expect_eq(b->counts.pods, 10);
    fab_fabric_free(b->fabric);
    free(b);
}

Test(racks, limit_leaves_and_tiers) {
    built *b = malloc(sizeof *b);
    cr_assert(try_build("clos:gpus=2048,floor.server-power=10kW,floor.rack-power=10kW", b)); /* a server in a rack */
    cr_expect_eq(b->counts.switches_by_tier[0], 256);
    cr_expect_eq(b->counts.tiers, 3);
    cr_expect_eq(b->counts.floor.server_racks, 256);
    fab_fabric_free(b->fabric);
    cr_assert(try_build("clos:gpus=2048,floor.server-power=10kW,floor.rack-power=80kW", b)); /* eight */
    cr_expect_eq(b->counts.switches_by_tier[0], 64);
    cr_expect_eq(b->counts.tiers, 2);
    cr_expect_eq(b->counts.floor.server_racks, 32);
    fab_fabric_free(b->fabric);
    cr_assert(try_build("rail-spine:gpus=512,floor.racks=9", b)); /* one of eight servers, eight of seven */
    cr_expect_eq(b->counts.floor.server_racks, 9);
    cr_expect_eq(b->counts.floor.servers_per_rack, 8);
    fab_fabric_free(b->fabric);
    cr_expect(!try_build("clos:gpus=64,floor.racks=9", b));
    cr_expect(!try_build("clos:gpus=64,floor.racks=2,floor.servers-per-rack=3", b));
    free(b);
}

Test(radix, suffices) {
    static const struct {
        const char *text;
        uint64_t radix;
    } CASES[] = {{"torus:gpus=64,torus=4,4,4", 8},
                 {"torus:gpus=64,torus=4,4,4,radix=64", 64},
                 {"torus:gpus=512,torus=4,4,4", 16},
                 {"dragonfly:dragonfly=4,8,4", 16},
                 {"dragonfly:gpus=512,dragonfly=2,4,2", 64},
                 {"clos:gpus=64", 64},
                 {"torus:torus=4,4,4", 8},
                 {"torus:torus=3,3", 8}};
    char digest[2][17];
    built *b = malloc(sizeof *b);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        if (try_build(CASES[i].text, b)) {
            cr_expect_eq(b->counts.ports, b->counts.switches * CASES[i].radix, "%s", CASES[i].text);
            fab_fabric_free(b->fabric);
        } else {
            cr_expect_eq(i, 4, "%s", CASES[i].text); /* 72 NICs, not 512 */
        }
        if (i < 2) { /* what is given differs from what is chosen, though 64 is the default of others */
            cr_assert_eq(fab_design_digest(&b->design, digest[i], NULL), FAB_OK);
        }
    }
    cr_expect_str_neq(digest[0], digest[1]);
    free(b);
}
