/* Demands between leaves: an all-to-all that is counted equals its flows, listed. */
#include "fabric_fixture.h"
#include "fab/memory.h"
#include "fab/offer.h"
#include "fab/topologies.h"
#include "random_design.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static const char *const DESIGNS[] = {
    "clos:gpus=64,gpus-per-server=4,radix=16",
    "clos:gpus=64,gpus-per-server=4,radix=16,planes=2",
    "clos:gpus=64,gpus-per-server=8,nics-per-server=4,radix=16",
    "rail-spine:gpus=64,gpus-per-server=8,nics-per-server=4,radix=16",
    "rail-spine:gpus=56,gpus-per-server=4,nics-per-server=8,radix=16",
    "rail-spine:gpus=56,gpus-per-server=4,nics-per-server=8,radix=16,planes=2",
    "rail-spine:gpus=72,gpus-per-server=4,domain=12,radix=16,spares=1",
    "fat-tree:k=4,gpus-per-server=1",
    "rail-only:gpus=64,gpus-per-server=4,radix=8",
    "rail-only:gpus=64,gpus-per-server=8,domain=16,radix=8",
    "rail-only:gpus=32,gpus-per-server=4,nics-per-server=8,radix=8,planes=2",
    "dragonfly:dragonfly=2,4,2,gpus-per-server=4,radix=7",
    "torus:gpus=60,gpus-per-server=4,torus=3,5,down=4,radix=9",
};

typedef struct setup {
    fab_design design;
    fab_fabric *fabric;
    fab_next_hops *next_hops;
    fab_ports ports;
} setup;

static bool make(const char *text, setup *s) {
    fab_error err = {0};
    *s = (setup){0};
    if (fab_design_read(text, NULL, 0, &s->design, &err) != FAB_OK ||
        fab_topology_build(&s->design.fabric, &s->fabric, NULL, &err) != FAB_OK) {
        cr_assert_eq(err.code, FAB_EINPUT, "%s: %s", text, err.text);
        return false;
    }
    s->next_hops = fixture_next_hops(s->fabric);
    cr_assert_eq(fab_ports_init(s->fabric, &s->ports, &err), FAB_OK, "%s", err.text);
    return true;
}

static void discard(setup *s) {
    fab_ports_release(&s->ports);
    fab_next_hops_free(s->next_hops);
    fab_fabric_free(s->fabric);
}

static void expect_near(double a, double b, const char *what, const char *text, uint32_t i) {
    cr_assert_leq(fabs(a - b), 1e-12 * (fabs(a) + fabs(b)), "%s: %s %u: %.17g, not %.17g", text, what, i, a, b);
}

static void compare_offers(const setup *s, const fab_phase *all, const fab_offer *a, const fab_phase *listed,
                           const fab_offer *b, const char *text) {
    for (uint32_t nic = 0; nic < fab_n_of(s->fabric, FAB_NODE_NIC); nic++) {
        expect_near(a->sent[nic], b->sent[nic], "sent by nic", text, nic);
        expect_near(a->received[nic], b->received[nic], "received by nic", text, nic);
    }
    for (uint64_t i = 0; i < all->n_flows; i++) {
        expect_near(fab_offer_rate(a, all, i), fab_offer_rate(b, listed, i), "rate of flow", text, (uint32_t)i);
    }
}

/* Without offered rates, and without pairs. */
static void check_ends(const setup *s, const fab_phase *listed, const fab_demand *d, const char *text) {
    double *ends = calloc(s->fabric->n_links + (size_t)2 * d->n_leaves, sizeof *ends);
    double *left = calloc((size_t)2 * d->n_leaves + 1, sizeof *left); /* of the pairs */
    double *sent = ends + s->fabric->n_links;
    fab_error err = {0};
    cr_assert_eq(fab_demand_ends(s->fabric, &s->ports, s->next_hops, listed, ends, sent, sent + d->n_leaves, &err),
                 FAB_OK, "%s: %s", text, err.text);
    for (uint32_t l = 0; l < s->fabric->n_links; l++) {
        expect_near(ends[l], d->segment_bytes[l], "bytes of link", text, l);
    }
    for (uint32_t leaf = 0; leaf < d->n_leaves; leaf++) {
        for (uint32_t i = d->first[leaf]; i < d->first[leaf + 1]; i++) {
            left[d->src[i]] += d->bytes[i];
            left[d->n_leaves + leaf] += d->bytes[i];
        }
    }
    for (uint32_t i = 0; i < 2 * d->n_leaves; i++) {
        expect_near(sent[i], left[i], "sent or received by leaf", text, i);
    }
    free(ends);
    free(left);
}

static void compare_demands(const setup *s, const fab_demand *a, const fab_demand *b, const char *text) {
    cr_assert_eq(a->n_pairs, b->n_pairs, "%s: %u pairs, not %u", text, a->n_pairs, b->n_pairs);
    cr_assert_eq(a->n_parts, b->n_parts, "%s", text);
    for (uint32_t leaf = 0; leaf <= a->n_leaves; leaf++) {
        cr_assert_eq(a->first[leaf], b->first[leaf], "%s: leaf %u", text, leaf);
    }
    for (uint32_t pair = 0; pair < a->n_pairs; pair++) {
        cr_assert_eq(a->src[pair], b->src[pair], "%s: pair %u", text, pair);
        cr_assert_eq(a->parts[pair], b->parts[pair], "%s: pair %u", text, pair);
        expect_near(a->bytes[pair], b->bytes[pair], "bytes of pair", text, pair);
        expect_near(a->rate[pair], b->rate[pair], "rate of pair", text, pair);
        expect_near(a->squares[pair], b->squares[pair], "squares of pair", text, pair);
    }
    for (uint32_t l = 0; l < s->fabric->n_links; l++) {
        expect_near(a->segment_bytes[l], b->segment_bytes[l], "bytes of link", text, l);
        expect_near(a->segment_rate[l], b->segment_rate[l], "rate of link", text, l);
    }
}

static void check_phase(const setup *s, const fab_phase phase, const char *text) {
    fab_phase all = phase;
    fab_phase listed = fixture_list(&all);
    fab_offer offer_all = {0};
    fab_offer offer_listed = {0};
    fab_demand demand_all = {0};
    fab_demand demand_listed = {0};
    fab_error err = {0};
    cr_assert_eq(fab_offer_init(s->fabric, &s->ports, &all, &offer_all, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_offer_init(s->fabric, &s->ports, &listed, &offer_listed, &err), FAB_OK, "%s", err.text);
    compare_offers(s, &all, &offer_all, &listed, &offer_listed, text);
    cr_assert_eq(fab_demand_init(s->fabric, &s->ports, s->next_hops, &all, &offer_all, &demand_all, &err), FAB_OK, "%s",
                 err.text);
    cr_assert_eq(fab_demand_init(s->fabric, &s->ports, s->next_hops, &listed, &offer_listed, &demand_listed, &err),
                 FAB_OK, "%s", err.text);
    cr_assert_null(demand_all.pair_of);
    compare_demands(s, &demand_all, &demand_listed, text);
    check_ends(s, &listed, &demand_listed, text);
    fab_demand_release(&demand_all);
    fab_demand_release(&demand_listed);
    fab_offer_release(&offer_all);
    fab_offer_release(&offer_listed);
    fixture_list_release(&listed);
}

static void check_all(const setup *s, uint32_t first, uint32_t n, const char *text) {
    const fab_phase all = {.all = {.first = first, .n = n, .bytes = 1000003}, .n_flows = (uint64_t)n * (n - 1)};
    check_phase(s, all, text);
}

/* Groups in a row, by shares of those who send or receive. */
static void check_groups(const setup *s, fab_rng *rng, const char *text) {
    const uint32_t n_gpus = fab_n_gpus(s->fabric);
    const uint32_t size = (uint32_t)random_between(rng, 2, n_gpus);
    const uint32_t n = size * (uint32_t)random_between(rng, 1, n_gpus / size);
    uint64_t *share = calloc(size, sizeof *share);
    for (uint32_t i = 0; i < size; i++) {
        share[i] = random_between(rng, 0, 5) * 1000003;
    }
    for (uint32_t way = 0; way < 3; way++) {
        const fab_phase all = {.all = {.first = (uint32_t)random_between(rng, 0, n_gpus - n),
                                       .n = n,
                                       .bytes = 7,
                                       .group = size,
                                       .share = way < 2 ? share : NULL,
                                       .by_receiver = way == 1},
                               .n_flows = (uint64_t)n * (size - 1)};
        check_phase(s, all, text);
    }
    free(share);
}

Test(demand, all_to_all_is_counted_as_listed) {
    for (size_t i = 0; i < sizeof DESIGNS / sizeof DESIGNS[0]; i++) {
        setup s;
        cr_assert(make(DESIGNS[i], &s), "%s", DESIGNS[i]);
        uint32_t n = fab_n_gpus(s.fabric);
        check_all(&s, 0, n, DESIGNS[i]);
        check_all(&s, 0, n / 2 + 1, DESIGNS[i]);
        check_all(&s, 3, n / 2, DESIGNS[i]);
        check_all(&s, n - 2, 2, DESIGNS[i]);
        discard(&s);
    }
}

Test(demand, all_to_all_on_random_fabrics) {
    fab_rng rng = fab_rng_make(23, 1);
    uint32_t n_checked = 0;
    for (uint32_t draw = 0; draw < 300; draw++) {
        setup s;
        random_design d = random_design_next(&rng, 12);
        if (!make(d.text, &s)) {
            continue;
        }
        uint32_t n_gpus = fab_n_gpus(s.fabric);
        if (n_gpus > 1) {
            uint32_t n = (uint32_t)random_between(&rng, 2, n_gpus);
            check_all(&s, (uint32_t)random_between(&rng, 0, n_gpus - n), n, d.text);
            check_groups(&s, &rng, d.text);
            n_checked++;
        }
        discard(&s);
    }
    cr_assert_gt(n_checked, 150, "%u", n_checked);
}

/* GPUs that relay for the others of their domain: groups of whole domains are counted, and of more flows than are
 * looked at; where groups cut domains they are looked at, and more of them are refused. */
Test(demand, relays_are_counted_as_listed) {
    static const char *const RAILS[] = {"rail-only:gpus=96,radix=16", "rail-only:gpus=64,radix=16,taper=2",
                                        "rail-only:gpus=128,radix=16,domain=32",
                                        "rail-only:gpus=64,radix=16,forward=destination"};
    fab_rng rng = fab_rng_make(31, 1);
    for (size_t i = 0; i < sizeof RAILS / sizeof RAILS[0]; i++) {
        setup s;
        cr_assert(make(RAILS[i], &s), "%s", RAILS[i]);
        const uint32_t n = fab_n_gpus(s.fabric);
        fab_sent *sent = NULL;
        fab_error err = {0};
        const fab_all_to_all whole = {.n = n, .bytes = 7};
        cr_assert_eq(fab_relay_sent(s.fabric, &s.ports, &whole, &sent, &err), FAB_OK, "%s", err.text);
        cr_assert_eq(sent != NULL, !s.fabric->forwards_at_destination, "%s", RAILS[i]);
        free(sent);
        for (uint32_t size = s.fabric->gpus_per_domain; size <= n; size *= 2) {
            uint64_t *share = calloc(size, sizeof *share);
            for (uint32_t k = 0; k < size; k++) {
                share[k] = random_between(&rng, 0, 5) * 1000003;
            }
            for (uint32_t way = 0; way < 3; way++) {
                const uint32_t all = n / size * size;
                check_phase(&s,
                            (fab_phase){.all = {.n = all,
                                                .bytes = 7,
                                                .group = size,
                                                .share = way < 2 ? share : NULL,
                                                .by_receiver = way == 1},
                                        .n_flows = (uint64_t)all * (size - 1)},
                            RAILS[i]);
            }
            free(share);
        }
        check_groups(&s, &rng, RAILS[i]);
        discard(&s);
    }
}

/* Pairs of a listed phase: who is in which, and what they add up to. */
Test(demand, pairs_of_listed_flows) {
    fab_rng rng = fab_rng_make(29, 1);
    for (size_t i = 0; i < sizeof DESIGNS / sizeof DESIGNS[0]; i++) {
        setup s;
        cr_assert(make(DESIGNS[i], &s), "%s", DESIGNS[i]);
        uint32_t n_gpus = fab_n_gpus(s.fabric);
        fab_phase phase = {.n_flows = 300};
        phase.src = calloc(300, sizeof *phase.src);
        phase.dst = calloc(300, sizeof *phase.dst);
        phase.bytes = calloc(300, sizeof *phase.bytes);
        phase.comm = calloc(300, sizeof *phase.comm);
        for (uint32_t k = 0; k < 300; k++) {
            phase.src[k] = (uint32_t)fab_rng_below(&rng, n_gpus);
            phase.dst[k] = (phase.src[k] + 1 + (uint32_t)fab_rng_below(&rng, n_gpus - 1)) % n_gpus;
            phase.bytes[k] = fab_rng_below(&rng, 1000000);
        }
        fab_offer offer = {0};
        fab_demand d = {0};
        fab_error err = {0};
        cr_assert_eq(fab_offer_init(s.fabric, &s.ports, &phase, &offer, &err), FAB_OK, "%s", err.text);
        cr_assert_eq(fab_demand_init(s.fabric, &s.ports, s.next_hops, &phase, &offer, &d, &err), FAB_OK, "%s",
                     err.text);
        double *rate = calloc(d.n_pairs, sizeof *rate);
        double *bytes = calloc(d.n_pairs, sizeof *bytes);
        uint64_t *parts = calloc(d.n_pairs, sizeof *parts);
        for (uint32_t at = 0; at < 300 * d.n_parts; at++) {
            uint32_t pair = d.pair_of[at];
            if (pair == FAB_NONE) {
                continue;
            }
            cr_assert_lt(pair, d.n_pairs);
            rate[pair] += offer.rate[at / d.n_parts] / d.n_parts;
            bytes[pair] += (double)phase.bytes[at / d.n_parts] / d.n_parts;
            parts[pair]++;
        }
        cr_assert_eq(d.first[d.n_leaves], d.n_pairs);
        for (uint32_t leaf = 0; leaf < d.n_leaves; leaf++) {
            for (uint32_t pair = d.first[leaf]; pair < d.first[leaf + 1]; pair++) {
                cr_assert_neq(d.src[pair], leaf);
                cr_assert(pair == d.first[leaf] || d.src[pair - 1] < d.src[pair]);
                cr_assert_eq(d.parts[pair], parts[pair]);
                expect_near(d.rate[pair], rate[pair], "rate of pair", DESIGNS[i], pair);
                expect_near(d.bytes[pair], bytes[pair], "bytes of pair", DESIGNS[i], pair);
            }
        }
        free(rate);
        free(bytes);
        free(parts);
        fab_demand_release(&d);
        fab_offer_release(&offer);
        fixture_list_release(&phase);
        discard(&s);
    }
}
