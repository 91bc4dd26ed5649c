/* What hashes of several tiers do to each other. */
#include "fab/analysis.h"
#include "fab/hash.h"
#include "fab/rng.h"
#include "fab/routing.h"
#include "fab/topologies.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct hash {
    fab_hash_family family;
    uint32_t seed, offset;
} hash;

/* Next hops of k2 that 4,000 random 5-tuples use at the switches of a second tier, each reached through one of k1 next
 * hops: the most that any of these switches uses. */
static uint32_t used_behind(hash first, uint32_t k1, hash second, uint32_t k2) {
    static fab_crc crc[2];
    static uint8_t seen[64][64];
    memset(seen, 0, sizeof seen);
    fab_crc_init(first.family, &crc[0]);
    fab_crc_init(second.family, &crc[1]);
    fab_hash_rule a = fab_hash_rule_make(first.family, &crc[0], FAB_FIELD_5TUPLE, first.seed);
    fab_hash_rule b = fab_hash_rule_make(second.family, &crc[1], FAB_FIELD_5TUPLE, second.seed);
    fab_rng rng = fab_rng_make(1, 0);
    for (int i = 0; i < 4000; i++) {
        uint64_t draw = fab_rng_next(&rng);
        fab_hash_packet p = {.src = (uint32_t)fab_rng_next(&rng),
                             .dst = (uint32_t)fab_rng_next(&rng),
                             .proto = (uint8_t)(draw >> 32),
                             .sport = (uint16_t)draw,
                             .dport = (uint16_t)(draw >> 16)};
        uint32_t x = fab_hash_rotate(fab_hash_packet_value(&a, &crc[0], &p), fab_hash_width(a.family), first.offset);
        uint32_t y = fab_hash_rotate(fab_hash_packet_value(&b, &crc[1], &p), fab_hash_width(b.family), second.offset);
        seen[x % k1][y % k2] = 1;
    }
    uint32_t most = 0;
    for (uint32_t i = 0; i < k1; i++) {
        uint32_t n = 0;
        for (uint32_t j = 0; j < k2; j++) {
            n += seen[i][j];
        }
        most = n > most ? n : most;
    }
    return most;
}

Test(hashing, polarization) {
    static const struct {
        hash second;
        uint32_t of_8, of_16;
    } ROWS[] = {{{FAB_HASH_CRC32, 0, 0}, 1, 2},
                {{FAB_HASH_CRC32, 0x5eed, 0}, 1, 2},
                {{FAB_HASH_CRC16, 0, 0}, 8, 16},
                {{FAB_HASH_CRC32, 0, 8}, 8, 16}};
    const hash first = {FAB_HASH_CRC32, 0, 0};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        cr_expect_eq(used_behind(first, 8, ROWS[i].second, 8), ROWS[i].of_8, "row %zu", i);
        cr_expect_eq(used_behind(first, 8, ROWS[i].second, 16), ROWS[i].of_16, "row %zu", i);
    }
    for (int family = 0; family < FAB_HASH_N_CRC; family++) { /* k2 / gcd(k1, k2) for every family */
        const hash same = {(fab_hash_family)family, 0, 0};
        cr_expect_eq(used_behind(same, 8, same, 12), 3);
        cr_expect_eq(used_behind(same, 6, same, 6), 1);
    }
    const hash seeded = {FAB_HASH_CRC32, 0x5eed, 0}; /* groups that are no power of two */
    cr_expect_gt(used_behind(first, 6, seeded, 6), 1);
}

/* Rotating multiplies by a power of two modulo 2^32 - 1, which 3, 5 and 17 divide: an offset does not separate the
 * remainders. */
Test(hashing, rotation_keeps_remainders) {
    static const uint32_t GROUPS[][2] = {{3, 1}, {5, 1}, {17, 1}, {12, 4}, {20, 4}, {7, 7}, {11, 11}, {8, 8}};
    for (size_t i = 0; i < sizeof GROUPS / sizeof GROUPS[0]; i++) {
        for (uint32_t offset = 8; offset <= 24; offset += 8) {
            const hash first = {FAB_HASH_CRC32, 0, 0};
            const hash second = {FAB_HASH_CRC32, 0, offset};
            cr_expect_eq(used_behind(first, GROUPS[i][0], second, GROUPS[i][0]), GROUPS[i][1], "%u, offset %u",
                         GROUPS[i][0], offset);
        }
    }
}

static fab_engine_result route(const char *design_text, const char *traffic, const char *engine, uint64_t seed) {
    static fab_design design;
    fab_fabric *fabric = NULL;
    fab_error err = {0};
    fab_result result = {0};
    fab_engine_spec spec = {.where = "test"};
    (void)snprintf(spec.text, sizeof spec.text, "%s", engine);
    cr_assert_eq(fab_design_read(design_text, NULL, 0, &design, &err), FAB_OK, "%s: %s", design_text, err.text);
    cr_assert_eq(fab_topology_build(&design.fabric, &fabric, NULL, &err), FAB_OK, "%s: %s", design_text, err.text);
    fab_replay what = {.design = &design,
                       .fabric = fabric,
                       .traffic = traffic,
                       .engines = &spec,
                       .n_engines = 1,
                       .seed = seed,
                       .n_seeds = 1,
                       .n_threads = 1};
    cr_assert_eq(fab_replay_run(&what, &result, &err), FAB_OK, "%s, %s: %s", design_text, engine, err.text);
    fab_engine_result r = result.phases[0].engines[0];
    fab_result_release(&result);
    fab_fabric_free(fabric);
    r.load_bytes = NULL;
    return r;
}

/* On a fat-tree of k = 16 with the same hash at leaves and spines a spine uses one of its 8 uplinks. */
Test(hashing, route_names_polarization) {
    static const struct {
        const char *engine;
        bool polarized;
    } ROWS[] = {{"ecmp", false},
                {"ecmp,hash=ideal", false},
                {"ecmp,offset=0", true},
                {"ecmp,offset=0,qp=16", true},
                {"ecmp,offset=0,hash-seed=0/12345,qp=16", true},
                {"ecmp,offset=0,hash=crc32/crc16,qp=16", false},
                {"ecmp,offset=0,hash=crc32c,qp=4", true},
                {"ecmp,offset=0,hash=xor,qp=4", true},
                {"ecmp,hash=xor,qp=4", false},
                {"ecmp,hash=crc32k,qp=4", false},
                {"ecmp,offset=0,fields=srcip+sport/dstip+dqp,qp=4", false},
                {"dmodk", false}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            fab_engine_result r = route("fat-tree:k=16", "pattern:permutation", ROWS[i].engine, seed);
            cr_expect_eq(r.polarized, ROWS[i].polarized, "%s, seed %d", ROWS[i].engine, (int)seed);
            const fab_tier_load *up = &r.tiers[4]; /* spine to core */
            cr_expect(up->tier == 3 && up->up && up->later_choices == 128);
            if (strstr(ROWS[i].engine, "offset=0,qp=16") != NULL) {
                cr_expect_eq(up->full_choices, 128);
                cr_expect_eq(up->later_used, 128);
                cr_expect_eq(up->min_used, 0.125);
            }
        }
    }
}

/* The bound that stands behind the name: under an ideal hash it is as small as p in at most p of the cases. */
Test(hashing, chance_is_a_bound) {
    int n_below = 0;
    const int n = 2000;
    for (int seed = 1; seed <= n; seed++) {
        fab_engine_result r = route("fat-tree:k=8", "pattern:permutation", "ecmp,hash=ideal", (uint64_t)seed);
        cr_assert_not(r.polarized, "seed %d", seed);
        n_below += r.tiers[4].chance < 0.1;
    }
    cr_expect_leq(n_below, n / 10, "%d", n_below);
}

/* Fewer fields, fewer values: with addresses alone all queue pairs of a flow take one path; E-ECMP tells them apart. */
Test(hashing, fields_decide_what_is_spread) {
    const char *design = "clos:gpus=64,gpus-per-server=1,radix=16,tiers=2";
    fab_engine_result ips = route(design, "pattern:permutation", "ecmp,qp=16,fields=ips", 1);
    fab_engine_result one = route(design, "pattern:permutation", "ecmp,qp=1,fields=ips", 1);
    fab_engine_result pairs = route(design, "pattern:permutation", "ecmp,qp=16,fields=ips+dqp", 1);
    cr_expect_float_eq(ips.max_collision_factor.mean, one.max_collision_factor.mean, 1e-9);
    cr_expect_lt(pairs.max_collision_factor.mean, 0.8 * ips.max_collision_factor.mean);
}

Test(hashing, wrong_options_are_errors) {
    static const char *const WRONG[] = {"ecmp,hash=crc32/md5",
                                        "ecmp,fields=",
                                        "ecmp,fields=ips+colour",
                                        "ecmp,hash-seed=x",
                                        "ecmp,hash-seed=4294967296",
                                        "ecmp,hash=ideal,fields=ips",
                                        "ecmp,hash=",
                                        "ecmp,offset=0/1/2/3/4/5/6/7/8",
                                        "ecmp,fields=ips+"};
    fab_design design;
    fab_fabric *fabric = NULL;
    fab_next_hops *next_hops = NULL;
    cr_assert_eq(fab_design_read("clos:gpus=32,radix=32", NULL, 0, &design, NULL), FAB_OK);
    cr_assert_eq(fab_topology_build(&design.fabric, &fabric, NULL, NULL), FAB_OK);
    cr_assert_eq(fab_next_hops_new(fabric, NULL, &next_hops, NULL), FAB_OK);
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        fab_engine_spec spec = {.where = "test"};
        fab_error err = {0};
        fab_router router;
        (void)snprintf(spec.text, sizeof spec.text, "%s", WRONG[i]);
        cr_expect_eq(fab_router_init(&spec, fabric, next_hops, &router, &err), FAB_EINPUT, "%s", WRONG[i]);
        cr_expect(strstr(err.text, "ecmp") != NULL, "%s: %s", WRONG[i], err.text);
    }
    fab_next_hops_free(next_hops);
    fab_fabric_free(fabric);
}
