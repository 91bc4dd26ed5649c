/* Lossless queues where a closed form is known. */
#include "lossless_fixture.h"

#include <string.h>

static const fab_lossless PFC = {.mtu_bytes = 1000, .xoff_bytes = 8000, .xon_bytes = 6000};

static fab_lossless_result run_phase(const fab_lossless *transport, const fab_lossless_phase *phase, double *finish_s) {
    static double paused_s[64], busy_s[64];
    static uint32_t cause[64];
    fab_error err = {0};
    fab_lossless_result r = {.finish_s = finish_s, .paused_s = paused_s, .busy_s = busy_s, .cause = cause};
    cr_assert_leq(phase->n_links, 64);
    cr_assert_eq(fab_lossless_run(transport, phase, &r, &err), FAB_OK, "%s", err.text);
    return r;
}

/* Three links of 8 Gb/s, a byte a nanosecond, of 1 us each: a packet is stored and forwarded twice. */
Test(lossless, one_flow) {
    const double capacity[] = {8e9, 8e9, 8e9, 8e9, 8e9, 8e9};
    const double latency_s[] = {1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6};
    const uint64_t first[] = {0, 3};
    const uint32_t link[] = {0, 2, 4};
    const double bits[] = {8e5};
    double finish_s[1];
    fab_lossless_phase p = {.n_flows = 1,
                            .n_links = 6,
                            .capacity = capacity,
                            .latency_s = latency_s,
                            .first = first,
                            .link = link,
                            .bits = bits};
    fab_lossless_result r = run_phase(&PFC, &p, finish_s);
    cr_assert_float_eq(finish_s[0], 100e-6 + 2 * 1e-6, 1e-15);
    cr_assert_eq(r.n_pauses, 0);
    cr_assert_eq(r.n_cells, 300);
    fab_lossless with_headers = PFC;
    with_headers.header_bytes = 50;
    (void)run_phase(&with_headers, &p, finish_s);
    cr_assert_float_eq(finish_s[0], 1.05 * (100e-6 + 2 * 1e-6), 1e-15);
}

/* A packet that is acknowledged on the way of another flow takes that part of its link. */
Test(lossless, acknowledgements) {
    const double capacity[] = {8e9, 8e9};
    const double latency_s[] = {0, 0};
    const uint64_t first[] = {0, 1, 2};
    const uint32_t link[] = {0, 1};
    const double bits[] = {8e5, 8e5};
    double finish_s[2];
    fab_lossless transport = PFC;
    fab_lossless_phase p = {.n_flows = 2,
                            .n_links = 2,
                            .capacity = capacity,
                            .latency_s = latency_s,
                            .first = first,
                            .link = link,
                            .bits = bits};
    transport.ack_bytes = 100;
    (void)run_phase(&transport, &p, finish_s);
    cr_assert_float_eq(finish_s[0], 110e-6, 1e-15);
    cr_assert_float_eq(finish_s[1], 110e-6, 1e-15);
}

/* Two hosts send to one, a third beside them to another: what the first two hold in the switch holds the third up only
 * where they share a link to the switch. Hosts 0, 1 and 3 -> switch A -> B -> hosts 4 and 5. */
Test(lossless, victim) {
    const double capacity[] = {8e9, 8e9, 8e9, 8e9, 16e9, 16e9, 8e9, 8e9, 8e9, 8e9};
    const double latency_s[10] = {0};
    const uint64_t first[] = {0, 3, 6};
    const uint32_t link[] = {0, 4, 7, 2, 4, 9}; /* host 0 to a slow port, host 1 to a free one, over one cable */
    const double bits[] = {8e6, 8e6};
    double finish_s[2];
    double slow[10];
    fab_lossless_phase p = {.n_flows = 2,
                            .n_links = 10,
                            .capacity = slow,
                            .latency_s = latency_s,
                            .first = first,
                            .link = link,
                            .bits = bits};
    memcpy(slow, capacity, sizeof slow);
    slow[7] = 8e8;
    fab_lossless_result r = run_phase(&PFC, &p, finish_s);
    cr_assert_float_eq(finish_s[0], 10e-3, 2e-5); /* its port is full all the time */
    cr_assert_gt(finish_s[1], 5e-3, "%g: alone it takes 1 ms, but the cable is stopped", finish_s[1]);
    cr_assert_gt(r.paused_s[4], 5e-3);
    cr_assert_eq(r.cause[4], 7, "%u: the slow port is why the cable is stopped", r.cause[4]);
    cr_assert_eq(r.cause[7], FAB_NO_LINK);
    cr_assert_eq(r.n_deadlock, 0);
}

/* Three switches in a ring, every flow two cables on: each buffer waits for the next. */
Test(lossless, deadlock) {
    double capacity[24];
    double latency_s[24];
    const uint64_t first[] = {0, 4, 8, 12};
    const uint32_t link[] = {6, 0, 2, 17, 8, 2, 4, 13, 10, 4, 0, 15};
    const double bits[] = {8e6, 8e6, 8e6};
    double finish_s[3];
    for (int i = 0; i < 24; i++) {
        capacity[i] = 8e9;
        latency_s[i] = 1e-8;
    }
    fab_lossless_phase p = {.n_flows = 3,
                            .n_links = 24,
                            .capacity = capacity,
                            .latency_s = latency_s,
                            .first = first,
                            .link = link,
                            .bits = bits};
    fab_lossless_result r = run_phase(&PFC, &p, finish_s);
    cr_assert_eq(r.n_deadlock, 3);
    cr_assert(isinf(finish_s[0]) && isinf(finish_s[1]) && isinf(finish_s[2]));
    for (uint32_t i = 0; i < 3; i++) {
        cr_assert(r.deadlock[i] == 0 || r.deadlock[i] == 2 || r.deadlock[i] == 4);
    }
    const fab_lossless roomy = {.mtu_bytes = 1000, .xoff_bytes = 8e6, .xon_bytes = 6e6};
    r = run_phase(&roomy, &p, finish_s);
    cr_assert_eq(r.n_deadlock, 0);
    cr_assert_float_eq(finish_s[0], 2e-3, 1e-5);
}

Test(lossless, nothing_to_send) {
    const double capacity[] = {8e9, (double)INFINITY};
    const double latency_s[] = {1e-6, 1e-6};
    const uint64_t first[] = {0, 1, 1, 2};
    const uint32_t link[] = {0, 1};
    const double bits[] = {0, 800, 800};
    double finish_s[3];
    fab_lossless_phase p = {.n_flows = 3,
                            .n_links = 2,
                            .capacity = capacity,
                            .latency_s = latency_s,
                            .first = first,
                            .link = link,
                            .bits = bits};
    (void)run_phase(&PFC, &p, finish_s);
    cr_assert_eq(finish_s[0], 0);
    cr_assert_eq(finish_s[1], 0);
    cr_assert_eq(finish_s[2], 0);
}

Test(lossless, refuses_thresholds) {
    const uint64_t first[] = {0};
    const fab_lossless_phase p = {.n_flows = 0, .first = first};
    fab_lossless_result r = {.finish_s = NULL};
    fab_lossless bad = PFC;
    fab_error err = {0};
    bad.xon_bytes = bad.xoff_bytes;
    cr_assert_eq(fab_lossless_run(&bad, &p, &r, &err), FAB_EINPUT);
    cr_assert(strstr(err.text, "xon of 8000 bytes") != NULL, "%s", err.text);
    bad = PFC;
    bad.mtu_bytes = 0;
    err = (fab_error){0};
    cr_assert_eq(fab_lossless_run(&bad, &p, &r, &err), FAB_EINPUT);
}

/* The same bytes again, cells or packets. */
Test(lossless, repeats_itself) {
    for (int cells = 0; cells < 2; cells++) {
        two_tiers t;
        double one[MOST_FLOWS];
        double two[MOST_FLOWS];
        fab_lossless transport = {.mtu_bytes = 1024, .xoff_bytes = 2e4, .xon_bytes = 1e4, .packet_links = cells};
        two_tiers_draw(7, MOST_FLOWS, 500, &t);
        (void)run_phase(&transport, &t.phase, one);
        (void)run_phase(&transport, &t.phase, two);
        cr_assert_arr_eq(one, two, sizeof one);
    }
}
