/* Engines and hashes against published values. */
#include "fabric_fixture.h"
#include "fab/analysis.h"
#include "fab/hash.h"
#include "fab/routing.h"
#include "fab/topologies.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Up/down routes leave the minimal paths: what they load there is all the routing's doing, and finite. */
Test(routing, factors_off_the_minimal_paths) {
    fab_result r =
        fixture_replay("dragonfly:dragonfly=2,4,2,gpus-per-server=4,radix=7", "pattern:permutation", "updn", 1, 1);
    const fab_engine_result *e = &r.phases[0].engines[0];
    cr_assert(e->max_hash_factor.max <= 1e6, "%g", e->max_hash_factor.max);
    for (size_t i = 0; i < e->n_hot; i++) {
        const fab_hot_link *hot = &e->hot[i];
        double taper = hot->taper_factor > 0 ? hot->taper_factor : 1;
        cr_assert_float_eq(hot->factor, taper * hot->hash_factor, 1e-9 * hot->factor);
    }
    fab_result_release(&r);
}

/* Catalogue of CRC parameters: CRC-32/ISO-HDLC, CRC-32/ISCSI, Koopman's, CRC-16/IBM-3740 (CCITT-FALSE). */
Test(routing, crc_check_values) {
    static const uint32_t CHECK[FAB_HASH_N_CRC] = {0xcbf43926, 0xe3069283, 0x2d3dd0ae, 0x29b1};
    static fab_crc crc;
    for (int family = 0; family < FAB_HASH_N_CRC; family++) {
        fab_crc_init((fab_hash_family)family, &crc);
        uint32_t value = fab_crc_value((fab_hash_family)family, &crc, 0, (const uint8_t *)"123456789", 9);
        cr_expect_eq(value, CHECK[family], "%s: %08x", fab_hash_names[family], value);
    }
    cr_assert_eq(fab_crc_value(FAB_HASH_CRC16, &crc, 0, NULL, 0), 0xffff);
}

/* Zahavi: on a full fat-tree D-mod-K serves every shift without contention. */
Test(routing, dmodk_serves_every_shift) {
    static const char *const TREES[] = {"fat-tree:k=4,gpus-per-server=1", "fat-tree:k=8",
                                        "fat-tree:k=6,gpus-per-server=1",
                                        "fat-tree:gpus=128,gpus-per-server=1,radix=16",
                                        "fat-tree:gpus=64,gpus-per-server=1,radix=16"}; /* the last has trunks */
    for (size_t tree = 0; tree < sizeof TREES / sizeof TREES[0]; tree++) {
        bool ecmp_collides = false;
        uint64_t n = 0;
        for (uint64_t by = 1; n == 0 || by < n; by++) {
            char traffic[64];
            (void)snprintf(traffic, sizeof traffic, "pattern:shift,by=%d", (int)by);
            fab_result r = fixture_replay(TREES[tree], traffic, "dmodk", 1, 1);
            n = r.phases[0].flows;
            cr_assert_leq(r.phases[0].engines[0].max_collision_factor.max, 1 + 1e-9, "%s, shift by %d: %g", TREES[tree],
                          (int)by, r.phases[0].engines[0].max_collision_factor.max);
            fab_result_release(&r);
            r = fixture_replay(TREES[tree], traffic, "ecmp", 1, 1);
            ecmp_collides = ecmp_collides || r.phases[0].engines[0].collided_links.mean > 0;
            fab_result_release(&r);
        }
        cr_assert(ecmp_collides, "%s: ecmp never collides", TREES[tree]);
    }
}

/* Ideal hash, n flows on n uplinks in q queue pairs: mean of the most loaded uplink. */
Test(routing, ideal_hash_experiment) {
    static const struct {
        int n, q;
        double mean;
    } ROWS[] = {{16, 1, 3.08}, {16, 4, 1.96}, {16, 16, 1.47}, {32, 1, 3.53}, {32, 4, 2.15}, {32, 16, 1.55}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        char design[128];
        char traffic[64];
        char engine[64];
        int n = ROWS[i].n;
        (void)snprintf(design, sizeof design, "clos:gpus=%d,gpus-per-server=1,nics-per-server=1,radix=%d,tiers=2",
                       2 * n * n, 2 * n);
        (void)snprintf(traffic, sizeof traffic, "pattern:shift,by=%d,from=0-%d", n, n - 1);
        (void)snprintf(engine, sizeof engine, "ecmp,hash=ideal,qp=%d", ROWS[i].q);
        fab_result r = fixture_replay(design, traffic, engine, 1, 3000);
        const fab_stat *s = &r.phases[0].engines[0].max_collision_factor;
        cr_expect_float_eq(s->mean, ROWS[i].mean, 0.02 * ROWS[i].mean, "n=%d q=%d: %g", n, ROWS[i].q, s->mean);
        cr_expect(s->min <= s->p50 && s->p50 <= s->p99 && s->p99 <= s->max && s->ci95 > 0);
        fab_result_release(&r);
    }
}

/* The factors of every hot link multiply, and incast at a receiver is no fabric collision. */
Test(routing, factors) {
    fab_result r = fixture_replay("rail-spine:gpus=256,radix=16,taper=3", "pattern:permutation", "ecmp", 3, 1);
    const fab_engine_result *e = &r.phases[0].engines[0];
    cr_assert_gt(e->n_hot, 0);
    for (size_t i = 0; i < e->n_hot; i++) {
        cr_expect_float_eq(e->hot[i].factor, e->hot[i].taper_factor * e->hot[i].hash_factor, 1e-12);
        cr_expect_gt(e->hot[i].n_flows, 0);
        double share = 0;
        for (uint32_t k = 0; k < e->hot[i].n_listed; k++) {
            share += e->hot[i].flows[k].share;
        }
        cr_expect(e->hot[i].n_flows > e->hot[i].n_listed || share > 0);
    }
    cr_expect_gt(r.phases[0].max_taper_factor, 1.5);
    fab_result_release(&r);
    r = fixture_replay("clos:gpus=64,gpus-per-server=1,radix=16", "pattern:incast", "ecmp", 3, 1);
    cr_expect_leq(r.phases[0].engines[0].max_collision_factor.max, 1 + 1e-9, "%g",
                  r.phases[0].engines[0].max_collision_factor.max);
    fab_result_release(&r);
}

/* Two GPUs of a server that share a NIC may each offer half of its rate. */
Test(routing, shared_nic) {
    fab_result r = fixture_replay("clos:gpus=32,gpus-per-server=8,nics-per-server=4,radix=16", "pattern:shift,by=8",
                                  "dmodk", 1, 1);
    cr_expect_float_eq(r.phases[0].engines[0].tiers[0].max_utilisation, 1, 1e-9);
    cr_expect_eq(r.phases[0].network_flows, 32);
    fab_result_release(&r);
    r = fixture_replay("clos:gpus=32,gpus-per-server=4,nics-per-server=8,radix=32", "pattern:shift,by=4", "ecmp", 1, 1);
    cr_expect_float_eq(r.phases[0].engines[0].tiers[0].max_utilisation, 1, 1e-9);
    cr_expect_eq(r.phases[0].engines[0].tiers[0].used, 64);
    fab_result_release(&r);
}

/* Whatever the family and the relaying, no NIC is offered more than it has. */
Test(routing, no_nic_is_overloaded) {
    static const char *const DESIGNS[] = {"rail-only:gpus=128,radix=16",
                                          "rail-only:gpus=128,radix=16,tiers=2,forward=destination",
                                          "rail-spine:gpus=128,radix=16",
                                          "clos:gpus=64,radix=32,planes=2",
                                          "clos:gpus=64,radix=64,planes=4",
                                          "clos:gpus=64,gpus-per-server=8,nics-per-server=2,radix=16",
                                          "clos:gpus=64,nics-per-server=16,radix=64",
                                          "dragonfly:gpus=72,gpus-per-server=1,dragonfly=2,4,2",
                                          "rail-only:gpus=64,radix=16,rails-per-switch=2,domain=16"};
    static const char *const ENGINES[] = {"ecmp", "ecmp,hash=ideal,qp=3"};
    for (size_t i = 0; i < sizeof DESIGNS / sizeof DESIGNS[0]; i++) {
        for (size_t e = 0; e < sizeof ENGINES / sizeof ENGINES[0]; e++) {
            fab_result r = fixture_replay(DESIGNS[i], "pattern:permutation", ENGINES[e], 3, 1);
            for (size_t t = 0; t < 2; t++) {
                const fab_tier_load *load = &r.phases[0].engines[0].tiers[t];
                cr_expect_leq(load->max_utilisation, 1 + 1e-9, "%s, %s: %g", DESIGNS[i], ENGINES[e],
                              load->max_utilisation);
            }
            cr_expect_gt(r.phases[0].network_flows, 0);
            fab_result_release(&r);
        }
    }
}

/* A single flow contends with nobody, over one plane or several. */
Test(routing, one_flow_never_collides) {
    fab_result r =
        fixture_replay("clos:gpus=64,gpus-per-server=1,radix=8,planes=2", "pattern:shift,by=9,from=0-0", "ecmp", 1, 1);
    cr_expect_eq(r.phases[0].engines[0].collided_links.mean, 0);
    cr_expect_float_eq(r.phases[0].engines[0].max_utilisation.mean, 1, 1e-9);
    fab_result_release(&r);
}

Test(routing, wrong_engines_are_errors) {
    static const char *const WRONG[] = {"magic",     "ecmp,hash=md5", "ecmp,qp=0",      "ecmp,colour=red",
                                        "ecmp,hash", "dmodk,qp=2",    "ecmp,offset=40", ""};
    fab_design design;
    fab_fabric *fabric = NULL;
    fab_error none = {0};
    cr_assert_eq(fab_design_read("clos:gpus=32,radix=32", NULL, 0, &design, &none), FAB_OK);
    cr_assert_eq(fab_topology_build(&design.fabric, &fabric, NULL, &none), FAB_OK);
    fab_next_hops *next_hops = fixture_next_hops(fabric);
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        fab_engine_spec spec = {.where = "--engine"};
        fab_router router;
        fab_error err = {0};
        (void)snprintf(spec.text, sizeof spec.text, "%s", WRONG[i]);
        cr_expect_eq(fab_router_init(&spec, fabric, next_hops, &router, &err), FAB_EINPUT, "%s", WRONG[i]);
        cr_expect_str_eq(err.where, "--engine");
    }
    fab_next_hops_free(next_hops);
    fab_fabric_free(fabric);
}

/* A dead link is not used; a leaf cut off is an error that names the pair. */
Test(routing, dead_links) {
    fab_design design;
    fab_fabric *fabric = NULL;
    fab_next_hops *next_hops = NULL;
    fab_error err = {0};
    cr_assert_eq(fab_design_read("clos:gpus=32,gpus-per-server=4,radix=16,tiers=2", NULL, 0, &design, &err), FAB_OK);
    cr_assert_eq(fab_topology_build(&design.fabric, &fabric, NULL, &err), FAB_OK);
    uint64_t *dead = calloc(fabric->n_links / 64 + 1, sizeof *dead);
    fab_node_id leaf = fabric->first_of_tier[1];
    uint32_t n_up = 0;
    for (uint32_t k = fabric->out_first[leaf]; k < fabric->out_first[leaf + 1]; k++) {
        fab_link_id link = fabric->out_link[k];
        if (fab_class_of(fabric, link)->kind == FAB_LINK_FABRIC &&
            n_up++ > 0) { /* all uplinks but the first, both ways */
            dead[link / 64] |= UINT64_C(1) << (link % 64);
            dead[(link ^ 1) / 64] |= UINT64_C(1) << ((link ^ 1) % 64);
        }
    }
    cr_assert_eq(n_up, 8);
    cr_assert_eq(fab_next_hops_new(fabric, dead, &next_hops, &err), FAB_OK);
    for (uint32_t other = 1; other < next_hops->n_leaves; other++) {
        cr_expect_eq(fab_next_hops_get(next_hops, 0, other).count, 1);
    }
    fab_next_hops_free(next_hops);
    fab_link_id last = fabric->out_link[fabric->out_first[leaf + 1] - 8];
    dead[last / 64] |= UINT64_C(1) << (last % 64);
    cr_assert_eq(fab_next_hops_new(fabric, dead, &next_hops, &err), FAB_OK);
    fab_traffic traffic;
    fab_router router;
    fab_routes routes = {0};
    fab_engine_spec spec = {.text = "ecmp"};
    cr_assert_eq(fab_traffic_make("pattern:shift,by=8", &design, fabric, 1, &traffic, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_router_init(&spec, fabric, next_hops, &router, &err), FAB_OK);
    cr_assert_eq(fab_route_phase(&router, &traffic.phases[0], 1, &routes, &err), FAB_EUNREACHABLE);
    cr_expect(strstr(err.text, "nic-0") != NULL && strstr(err.text, "leaf-0") != NULL, "%s", err.text);
    fab_routes_release(&routes);
    fab_router_release(&router);
    fab_traffic_release(&traffic);
    fab_next_hops_free(next_hops);
    fab_fabric_free(fabric);
    free(dead);
}

Test(engines, label_holds_the_longest_text_and_all_defaults) {
    static const char *const TEXTS[] = {"ecmp,fields=", "adaptive,granularity=packet,queueing=", "spray,queueing="};
    fab_design design;
    fab_error err = {0};
    fab_fabric *fabric = fixture_build("fat-tree:k=4", &design, NULL);
    fab_next_hops *next_hops = fixture_next_hops(fabric);
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        fab_engine_spec spec = {.where = "test"};
        fab_router router;
        char value[sizeof spec.text];
        size_t n = sizeof value - 1 - strlen(TEXTS[i]);
        memset(value, '0', n);
        value[n] = '\0';
        if (i == 0) { /* 5tuple+sport+sport... */
            memcpy(value, "5tuple", 6);
            for (size_t k = 6; k + 6 <= n; k += 6) {
                memcpy(value + k, "+sport", 7);
            }
        } else {
            memcpy(value + n - 3, "5us", 3);
        }
        (void)snprintf(spec.text, sizeof spec.text, "%s%s", TEXTS[i], value);
        cr_assert_eq(fab_router_init(&spec, fabric, next_hops, &router, &err), FAB_OK, "%s", err.text);
        const char *end = router.facts.label + strlen(router.facts.label) - strlen(value);
        cr_expect_str_eq(end, value, "%s", router.facts.label);
        fab_router_release(&router);
    }
    fab_next_hops_free(next_hops);
    fab_fabric_free(fabric);
}

/* seed= of an engine stands before --seed; an option is given once, with a value, where it means something. */
Test(engines, seed_and_wrong_options) {
    static const struct {
        const char *text, *message;
    } BAD[] = {
        {"ecmp,qp=2,qp=3", "engine ecmp: option 'qp' is given twice"},
        {"ecmp,tables=", "engine ecmp, option tables: the value is empty"},
        {"ecmp,", "engine ecmp: '' is not key=value"},
        {"ecmp,qp=2,", "engine ecmp: '' is not key=value"},
        {"ecmp,qp=2,,spread=flow", "engine ecmp: '' is not key=value"},
        {"adaptive,granularity=flow,window=1MiB",
         "engine adaptive: option window needs granularity=packet; under granularity=flow packets stay in order"},
        {"adaptive,queueing=5us,granularity=flowlet",
         "engine adaptive: option queueing needs granularity=packet; under granularity=flowlet packets stay in "
         "order"},
        {"spray,window=0B", "engine spray, option window: '0B': a receiver without a window gets nothing"},
        {"adaptive,window=0B", "engine adaptive, option window: '0B': a receiver without a window gets nothing"},
        {"dmodk,seed=1,seed=2", "engine dmodk: option 'seed' is given twice"},
        {"dmodk,qp=2", "engine dmodk has no option 'qp'; it has: seed"}};
    fab_design design;
    fab_router router;
    fab_error err = {0};
    fab_fabric *fabric = fixture_build("fat-tree:k=4", &design, NULL);
    fab_next_hops *next_hops = fixture_next_hops(fabric);
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        const fab_engine_spec spec = fixture_spec(BAD[i].text);
        err = (fab_error){0};
        cr_expect_eq(fab_router_init(&spec, fabric, next_hops, &router, &err), FAB_EINPUT);
        cr_expect_str_eq(err.text, BAD[i].message);
    }
    const fab_engine_spec good = {.text = "ecmp,seed=9", .where = "test"};
    cr_assert_eq(fab_router_init(&good, fabric, next_hops, &router, &err), FAB_OK);
    cr_expect_eq(fab_router_seed(&router, 1), 9);
    fab_router_release(&router);
    fab_next_hops_free(next_hops);
    fab_fabric_free(fabric);
}
