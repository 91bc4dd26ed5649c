/* What hashes of several tiers do to each other. */
#include "fabric_fixture.h"
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
        uint32_t x = fab_hash_window(fab_hash_packet_value(&a, &crc[0], &p), fab_hash_width(a.family), first.offset);
        uint32_t y = fab_hash_window(fab_hash_packet_value(&b, &crc[1], &p), fab_hash_width(b.family), second.offset);
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

/* An offset separates the choices of any group, whatever its factors. */
Test(hashing, offsets_separate_any_group) {
    static const uint32_t GROUPS[][2] = {{3, 3}, {5, 5}, {17, 17}, {12, 12}, {20, 20}, {7, 7}, {11, 11}, {8, 8}};
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
    fab_result result = fixture_replay(design_text, traffic, engine, seed, 1);
    fab_engine_result r = result.phases[0].engines[0];
    fab_result_release(&result);
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
                                        "ecmp,fields=ips+",
                                        "ecmp,weights=heavy",
                                        "ecmp,member-loss=",
                                        "ecmp,weights=capacity/equal",
                                        "ecmp,spread=even"};
    fab_design design;
    fab_fabric *fabric = NULL;
    cr_assert_eq(fab_design_read("clos:gpus=32,radix=32", NULL, 0, &design, NULL), FAB_OK);
    cr_assert_eq(fab_topology_build(&design.fabric, &fabric, NULL, NULL), FAB_OK);
    fab_next_hops *next_hops = fixture_next_hops(fabric);
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        fab_error err = {0};
        fab_router router;
        const fab_engine_spec spec = fixture_spec(WRONG[i]);
        cr_expect_eq(fab_router_init(&spec, fabric, next_hops, &router, &err), FAB_EINPUT, "%s", WRONG[i]);
        cr_expect(strstr(err.text, "ecmp") != NULL, "%s: %s", WRONG[i], err.text);
    }
    fab_next_hops_free(next_hops);
    fab_fabric_free(fabric);
}

/* Split queue pairs share the load of a flow at any instant. In turns, one of them carries all of it: at every instant
 * a draw of one queue pair, so that the factor is that of one (3.08 for 16 flows over 16 uplinks) however many there
 * are, while the bytes of the whole phase are those of splitting. */
Test(hashing, round_robin_collides_like_one_queue_pair) {
    const char *design = "clos:gpus=512,gpus-per-server=1,nics-per-server=1,radix=32,tiers=2";
    const char *traffic = "pattern:shift,by=16,from=0-15";
    double split = 0;
    double turns = 0;
    const int n = 40;
    for (int seed = 1; seed <= n; seed++) {
        fab_engine_result a = route(design, traffic, "ecmp,hash=ideal,qp=16", (uint64_t)seed);
        fab_engine_result b = route(design, traffic, "ecmp,hash=ideal,qp=16,spread=round-robin", (uint64_t)seed);
        cr_assert_eq(b.n_rounds, 16);
        split += a.max_collision_factor.mean / n;
        turns += b.max_collision_factor.mean / n;
        for (size_t i = 0; i < a.n_tiers; i++) {
            cr_assert_float_eq(a.tiers[i].bytes, b.tiers[i].bytes, 1e-6 * a.tiers[i].bytes);
        }
    }
    cr_expect_float_eq(split, 1.47, 0.05, "%g", split);
    cr_expect_float_eq(turns, 3.08, 0.1, "%g", turns);
    fab_engine_result one = route(design, traffic, "ecmp", 1);
    fab_engine_result same = route(design, traffic, "ecmp,spread=round-robin", 1);
    cr_expect_eq(one.max_collision_factor.mean, same.max_collision_factor.mean);
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

typedef struct network {
    fab_design design;
    fab_fabric *fabric;
    fab_next_hops *healthy, *broken;
    fab_traffic traffic;
} network;

static network make_network(const char *design, const char *traffic) {
    network n = {0};
    n.fabric = fixture_build(design, &n.design, NULL);
    n.healthy = fixture_next_hops(n.fabric);
    cr_assert_eq(fab_traffic_make(traffic, &n.design, n.fabric, 1, &n.traffic, NULL), FAB_OK);
    return n;
}

static void discard_network(network *n) {
    fab_traffic_release(&n->traffic);
    fab_next_hops_free(n->healthy);
    fab_next_hops_free(n->broken);
    fab_fabric_free(n->fabric);
}

static fab_routes routes_of(const network *n, const fab_next_hops *next_hops, const char *engine) {
    fab_routes routes = {0};
    fab_error err = {0};
    fab_router router = fixture_router(engine, n->fabric, next_hops);
    router.healthy = n->healthy;
    cr_assert_eq(fab_route_phase(&router, &n->traffic.phases[0], 1, &routes, &err), FAB_OK, "%s", err.text);
    fab_router_release(&router);
    return routes;
}

static fab_link_id uplink(const network *n, fab_node_id v, uint32_t which) {
    for (uint32_t k = n->fabric->out_first[v]; k < n->fabric->out_first[v + 1]; k++) {
        fab_link_id link = n->fabric->out_link[k];
        if (fab_class_of(n->fabric, link)->kind == FAB_LINK_FABRIC && fab_is_up(link) && which-- == 0) {
            return link;
        }
    }
    cr_assert_fail("no such uplink");
    return FAB_NONE;
}

typedef struct moves {
    uint32_t n_dead, n_dead_moved; /* paths over a dead cable */
    uint32_t n_near, n_near_moved; /* paths that leave or enter the leaf with the dead cable, over another one */
    uint32_t n_far_moved;          /* all others */
    uint32_t to[64];               /* paths over the dead uplink: uplink of the first leaf that they take now */
} moves;

static moves compare_routes(const network *n, const fab_routes *a, const fab_routes *b, uint32_t dead_cable) {
    moves m = {0};
    fab_node_id leaf = n->fabric->first[FAB_NODE_SWITCH];
    cr_assert_eq(a->flow_first[a->n_flows], b->flow_first[b->n_flows]);
    for (uint32_t p = 0; p < a->flow_first[a->n_flows]; p++) {
        size_t length = a->path_first[p + 1] - a->path_first[p];
        bool same = length == b->path_first[p + 1] - b->path_first[p];
        bool dead = false;
        bool near = false;
        for (size_t i = 0; same && i < length; i++) {
            fab_link_id link = a->link[a->path_first[p] + i];
            dead = dead || link / 2 == dead_cable;
            near = near || fab_tail(n->fabric, link) == leaf || fab_head(n->fabric, link) == leaf;
        }
        same = same && memcmp(a->link + a->path_first[p], b->link + b->path_first[p], length * sizeof *a->link) == 0;
        m.n_dead += dead;
        m.n_dead_moved += dead && !same;
        m.n_near += near && !dead;
        m.n_near_moved += near && !dead && !same;
        m.n_far_moved += !near && !same;
        for (size_t i = b->path_first[p]; dead && i < b->path_first[p + 1]; i++) {
            cr_assert_neq(b->link[i] / 2, dead_cable);
            for (uint32_t k = 0; k < 8; k++) {
                m.to[k] += b->link[i] == uplink(n, leaf, k);
            }
        }
    }
    return m;
}

Test(hashing, member_loss) {
    static const char *const HASHES[] = {"crc32", "crc16", "ideal"};
    network n = make_network("clos:gpus=128,gpus-per-server=1,radix=16,tiers=2", "pattern:all-to-all");
    uint32_t cable = uplink(&n, n.fabric->first[FAB_NODE_SWITCH], 3) / 2;
    uint64_t *dead = calloc(n.fabric->n_links / 64 + 1, sizeof *dead);
    dead[2 * cable / 64] |= UINT64_C(3) << (2 * cable % 64);
    cr_assert_eq(fab_next_hops_new(n.fabric, dead, &n.broken, NULL), FAB_OK);
    for (size_t i = 0; i < 3; i++) {
        for (int resilient = 0; resilient < 2; resilient++) {
            char engine[128];
            (void)snprintf(engine, sizeof engine, "ecmp,hash=%s,qp=2,member-loss=%s", HASHES[i],
                           resilient ? "resilient" : "modulo");
            fab_routes before = routes_of(&n, n.healthy, engine);
            fab_routes after = routes_of(&n, n.broken, engine);
            moves m = compare_routes(&n, &before, &after, cable);
            cr_expect_gt(m.n_dead, 400);
            cr_expect_eq(m.n_dead_moved, m.n_dead, "%s", engine);
            cr_expect_eq(m.n_far_moved, 0, "%s", engine);
            if (resilient) {
                cr_expect_eq(m.n_near_moved, 0, "%s: %u of %u", engine, m.n_near_moved, m.n_near);
                for (uint32_t k = 0; k < 8; k++) {                  /* and they spread over all that are left */
                    double share = m.to[k] / (double)m.n_dead * 14; /* half of them leave the leaf, over 7 */
                    cr_expect(k == 3 ? share == 0 : share > 0.5 && share < 1.5, "%s: %u: %g", engine, k, share);
                }
            } else if (i < 2) { /* scaling an ideal draw moves fewer than a remainder does */
                cr_expect_gt(m.n_near_moved, 0.8 * m.n_near, "%s: %u of %u", engine, m.n_near_moved, m.n_near);
            }
            fab_routes_release(&before);
            fab_routes_release(&after);
        }
    }
    free(dead);
    discard_network(&n);
}

/* While nothing is dead, the bucket table of resilient hashing chooses what the plain remainder does. */
Test(hashing, resilient_is_modulo_while_healthy) {
    network n = make_network("fat-tree:k=12,gpus-per-server=1", "pattern:permutation");
    const char *const engines[][2] = {{"ecmp,member-loss=resilient,qp=4", "ecmp,qp=4"},
                                      {"ecmp,hash=ideal,member-loss=resilient", "ecmp,hash=ideal"},
                                      {"ecmp,weights=capacity", "ecmp"}};
    for (size_t i = 0; i < 3; i++) {
        fab_routes a = routes_of(&n, n.healthy, engines[i][0]);
        fab_routes b = routes_of(&n, n.healthy, engines[i][1]);
        cr_expect_eq(memcmp(a.link, b.link, a.path_first[a.flow_first[a.n_flows]] * sizeof *a.link), 0, "%s",
                     engines[i][0]);
        fab_routes_release(&a);
        fab_routes_release(&b);
    }
    discard_network(&n);
}

/* One uplink of the first leaf is made three times as fast as the seven others: it carries three tenths. */
Test(hashing, weights) {
    network n = make_network("clos:gpus=128,gpus-per-server=1,radix=16,tiers=2", "pattern:all-to-all");
    fab_fabric *f = n.fabric;
    fab_link_id fast = uplink(&n, f->first[FAB_NODE_SWITCH], 3);
    fab_link_class class = *fab_class_of(f, fast);
    class.capacity_bps *= 3;
    f->classes = realloc(f->classes, (f->n_classes + 1U) * sizeof *f->classes);
    f->classes[f->n_classes] = class;
    f->cable_class[fast / 2] = f->n_classes++;
    const char *const engines[] = {"ecmp,weights=capacity", "ecmp,hash=ideal,weights=capacity",
                                   "ecmp,hash=crc16,weights=capacity,member-loss=resilient", "ecmp"};
    for (size_t e = 0; e < 4; e++) {
        fab_routes r = routes_of(&n, n.healthy, engines[e]);
        double n_fast = 0;
        double n_up = 0;
        for (size_t i = 0; i < r.path_first[r.flow_first[r.n_flows]]; i++) {
            bool up = false;
            for (uint32_t k = 0; k < 8; k++) {
                up = up || r.link[i] == uplink(&n, f->first[FAB_NODE_SWITCH], k);
            }
            n_up += up;
            n_fast += r.link[i] == fast;
        }
        cr_expect_float_eq(n_fast / n_up, e < 3 ? 0.3 : 0.125, 0.04, "%s: %g", engines[e], n_fast / n_up);
        fab_routes_release(&r);
    }
    discard_network(&n);
}
