/* Metrics by hand-computed values. */
#include "fabric_fixture.h"
#include "fab/prices.h"
#include "fab/analysis.h"
#include "fab/topologies.h"
#include "fab/verdict.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(analysis, stat) {
    double samples[] = {3, 1, 2, 4};
    fab_stat s;
    fab_stat_of(samples, 4, &s);
    cr_expect_float_eq(s.mean, 2.5, 1e-12);
    cr_expect_float_eq(s.p50, 2, 0);
    cr_expect_float_eq(s.p99, 4, 0);
    cr_expect_float_eq(s.ci95, 3.182 * sqrt(5.0 / 3 / 4), 1e-9);
    double one[] = {7};
    fab_stat_of(one, 1, &s);
    cr_expect(s.mean == 7 && s.ci95 == 0 && s.min == 7 && s.p99 == 7 && s.max == 7);
}

/* The same luck in both says nothing of their ratio; without parts that pair, the means are as good as apart. */
Test(analysis, pairs) {
    const double a[] = {10, 12, 11, 15};
    const double b[] = {20, 24, 22, 30};
    const double c[] = {9, 11, 12, 16};
    fab_parts of_a, of_b, of_c;
    fab_parts_of(a, 4, &of_a);
    fab_parts_of(b, 4, &of_b);
    fab_parts_of(c, 4, &of_c);
    cr_assert_float_eq(of_a.ci95_ratio, 3.182 * sqrt(14.0 / 3 / 4) / 12, 1e-12);
    cr_assert_eq(fab_pairs_ci95(&of_a, NULL, &of_b, NULL), 0, "twice of each is twice of all");
    /* differences -1, -1, 1, 1 over the mean 12 */
    cr_assert_float_eq(fab_pairs_ci95(&of_c, NULL, &of_a, NULL), 3.182 * sqrt(4.0 / 3 / 4) / 12, 1e-12);
    cr_assert_float_eq(fab_pairs_ci95(&of_a, &of_b, &of_a, &of_a), 0, 1e-15, "what is kept is divided by");
    const fab_parts alone = {.ci95_ratio = 0.03};
    cr_assert_float_eq(fab_pairs_ci95(&of_a, NULL, &alone, NULL), hypot(of_a.ci95_ratio, 0.03), 1e-15);
    const fab_parts fixed = {.ci95_ratio = 0};
    cr_assert_float_eq(fab_pairs_ci95(&of_a, NULL, &fixed, NULL), of_a.ci95_ratio, 1e-12);
    const double same[] = {0.1, 0.1, 0.1};
    fab_parts of_same;
    fab_parts_of(same, 3, &of_same);
    cr_assert(of_same.ci95_ratio == 0 && of_same.ratio[2] == 1, "no rounding makes chance");
    double many[2 * FAB_STAT_PARTS + 1];
    for (size_t i = 0; i < 2 * FAB_STAT_PARTS + 1; i++) {
        many[i] = i % FAB_STAT_PARTS == 0 ? 4 : 1; /* three of them in the first part, two in each other */
    }
    fab_parts of_many;
    fab_parts_of(many, 2 * FAB_STAT_PARTS + 1, &of_many);
    cr_assert_eq(of_many.n, FAB_STAT_PARTS);
    cr_assert_float_eq(of_many.ratio[0] / of_many.ratio[1], 4, 1e-12);
}

Test(analysis, up_to_which_number_queue_pairs_help) {
    static const struct {
        double time_s[4]; /* of 1, 2, 4, 16; 0: none */
        const char *text;
    } CASES[] = {
        {{10, 9}, ""},
        {{10, 8, 7.96, 7.9}, "more queue pairs help up to 4, 20.4 % less time than 1; more, up to 16, save 0.75 %"},
        {{10, 8, 7.95, 8.2}, "more queue pairs help up to 2, 20 % less time than 1; more, up to 16, save 0.62 %"},
        {{10, 11, 8, 8}, "more queue pairs help up to 4, 20 % less time than 1; more, up to 16, save nothing"},
        {{10, 9, 8, 7}, "more queue pairs help up to 16, 30 % less time than 1, the most here"},
        {{10, 9.95, 9.9}, "more queue pairs than 1, up to 4, save 1 %"},
        {{10, 10.5, 11}, "more queue pairs than 1, up to 4, save nothing"},
        {{10, 9, NAN}, "more queue pairs help up to 2, 10 % less time than 1; more, up to 4, save nothing"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        static const uint64_t PAIRS[] = {16, 1, 4, 2}; /* in any order */
        static const size_t AT[] = {3, 0, 2, 1};
        fab_pairs_time list[4];
        char text[128] = "";
        size_t n = 0;
        for (size_t k = 0; k < 4; k++) {
            if (CASES[i].time_s[AT[k]] != 0) {
                list[n++] = (fab_pairs_time){PAIRS[k], CASES[i].time_s[AT[k]]};
            }
        }
        cr_expect_eq(fab_verdict_add_pairs(list, n, text, sizeof text), CASES[i].text[0] != '\0');
        cr_expect_str_eq(text, CASES[i].text, "case %zu: %s", i, text);
    }
    cr_expect_eq(fab_label_pairs("ecmp,hash=crc32,qp=16,offset=0"), 16);
    cr_expect_eq(fab_label_pairs("spray"), 0);
    cr_expect(fab_label_is_same_but_pairs("ecmp,hash=crc32,qp=16,offset=0", "ecmp,hash=crc32,qp=1,offset=0"));
    cr_expect_not(fab_label_is_same_but_pairs("ecmp,hash=ideal,qp=16", "ecmp,hash=crc32,qp=16"));
    cr_expect_not(fab_label_is_same_but_pairs("ecmp,qp=16,offset=0", "ecmp,qp=16,offset=8"));
    cr_expect_not(fab_label_is_same_but_pairs("spray", "spray"));
}

/* Half of the injection at full bisection; behind a taper what the boundary carries. */
Test(analysis, bisection) {
    static const struct {
        const char *text;
        double gbps;
    } CASES[] = {
        {"rail-spine:gpus=1024,radix=64", 512 * 400.0},
        {"fat-tree:k=8", 64 * 400.0},
        {"clos:gpus=512,gpus-per-server=8,radix=48,taper=2,tiers=2", 8 * 16 * 400.0},
        {"rail-only:gpus=256,radix=16", 128 * 400.0},
        {"preset:llama3-24k-roce", 4 * 16 * 28 * 400.0},
        {"clos:gpus=24", 8 * 400.0},                           /* an odd number of servers: 1 against 2 */
        {"clos:gpus=65528,radix=65535,nic=1000Tb/s", 32760e6}, /* more than 2^64 bit/s */
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        fab_design design;
        fab_error err = {0};
        double bps = 0;
        fab_fabric *fabric = fixture_build(CASES[i].text, &design, NULL);
        cr_assert_eq(fab_bisection(fabric, &bps, &err), FAB_OK);
        cr_expect_float_eq(bps, CASES[i].gbps * 1e9, 1e-12 * CASES[i].gbps * 1e9, "%s: %g Gb/s, not %g", CASES[i].text,
                           bps / 1e9, CASES[i].gbps);
        fab_fabric_free(fabric);
    }
}

/* What any traffic may count on: less than the cut where a leaf has servers of both halves, and of the NICs' own rate.
 */
Test(analysis, bisection_ratio_is_what_any_traffic_gets) {
    static const struct {
        const char *text;
        double ratio;
    } CASES[] = {
        {"rail-spine:gpus=512,gpus-per-server=8,radix=32,taper=3", 8 / 22.0}, /* groups of 22, 21, 21 servers */
        {"rail-spine:gpus=768,radix=64,taper=3", 1 / 3.0},
        {"clos:gpus=64,gpus-per-server=1,radix=16,nic=400Gb/s,port=100Gb/s", 0.25},
        {"clos:gpus=64,gpus-per-server=1,radix=16,nic=400Gb/s,port=100Gb/s/200Gb/s,taper=2", 0.125},
        {"clos:gpus=64,gpus-per-server=4,nics-per-server=8,planes=2,radix=16", 1},
        {"clos:gpus=192,gpus-per-server=1,radix=16,tiers=3,taper=2/1", 0.5},
        {"clos:gpus=64,gpus-per-server=4,radix=24,taper=1:2", 1},
        {"torus:gpus=16,gpus-per-server=1,torus=16,radix=8", 0.25}, /* two cables of a ring for eight NICs */
        {"clos:gpus=8,radix=16", NAN},                              /* nothing to cut */
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        fab_design design;
        fab_counts counts;
        double bps = 0;
        fab_fabric *fabric = fixture_build(CASES[i].text, &design, NULL);
        cr_assert_eq(fab_bisection(fabric, &bps, NULL), FAB_OK);
        fab_fabric_count(fabric, &counts);
        double ratio = fab_bisection_ratio(&design.fabric, &counts, bps);
        cr_expect(isnan(ratio) == isnan(CASES[i].ratio));
        cr_expect(isnan(ratio) || fabs(ratio - CASES[i].ratio) < 1e-12, "%s: %g, not %g", CASES[i].text, ratio,
                  CASES[i].ratio);
        fab_fabric_free(fabric);
    }
}

/* Neither end is offered more than it can take: three senders share a receiver. */
Test(analysis, offered_rates) {
    fab_design design;
    fab_fabric *fabric = fixture_build("clos:gpus=8,gpus-per-server=1,radix=16,nic=100Gb/s", &design, NULL);
    uint32_t src[] = {0, 1, 2, 2};
    uint32_t dst[] = {3, 3, 3, 4};
    uint32_t comm[] = {0, 0, 0, 0};
    uint64_t bytes[] = {10, 10, 20, 60};
    double rate[4];
    fab_phase phase = {.n_flows = 4, .src = src, .dst = dst, .comm = comm, .bytes = bytes};
    fixture_offered_rates(fabric, &phase, rate);
    cr_expect_float_eq(rate[0], 25e9, 1); /* 10 of 40 that enter gpu-3 */
    cr_expect_float_eq(rate[1], 25e9, 1);
    cr_expect_float_eq(rate[2], 25e9, 1); /* 20 of 80 that leave gpu-2 */
    cr_expect_float_eq(rate[3], 75e9, 1);
    fab_fabric_free(fabric);
}

/* Intervals shrink with the root of the number: four times the width takes sixteen times the seeds. */
Test(analysis, seeds_that_tell) {
    cr_expect_eq(fab_stat_needed(1, 1, 4), 16, "times as many");
    cr_expect_eq(fab_stat_needed(8, 1, 4), 91); /* 128 (1.987 / 2.365)^2 */
    cr_expect_eq(fab_stat_needed(8, -1, 4), 91);
    cr_expect_eq(fab_stat_needed(8, 3, 4), 13); /* 14.2 (2.179 / 2.365)^2 = 12.1 */
    cr_expect_eq(fab_stat_needed(8, 0, 4), 0);
    cr_expect_eq(fab_stat_needed(8, 1, 100), 0, "more than anybody runs");
    cr_expect_eq(fab_stat_needed(8, 1, NAN), 0);
}

Test(analysis, conservation_is_checked) {
    fab_design design;
    fab_fabric *fabric = fixture_build("clos:gpus=64,gpus-per-server=4,radix=16,tiers=2", &design, NULL);
    double *load = calloc(fabric->n_links, sizeof *load);
    fab_error err = {0};
    cr_expect_eq(fab_check_conservation(fabric, load, &err), FAB_OK);
    load[fabric->out_link[fabric->out_first[fabric->first_of_tier[2]]]] = 1; /* a spine sends what it never received */
    cr_expect_eq(fab_check_conservation(fabric, load, &err), FAB_EINTERNAL);
    cr_expect(strstr(err.where, "leaf") != NULL || strstr(err.where, "spine") != NULL, "%s", err.where);
    free(load);
    fab_fabric_free(fabric);
}
