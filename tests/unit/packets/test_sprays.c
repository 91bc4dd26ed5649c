/* Sprayed packets where a closed form is known, and what has to hold of any phase. */
#include "spray_fixture.h"

static const fab_spray IN_TURN = {.queue_bytes = 0};
static const fab_lossless SPRAY = {.mtu_bytes = 1000, .xoff_bytes = 8000, .xon_bytes = 6000, .spray = &IN_TURN};

static fab_lossless_result run_phase(const fab_lossless *transport, const fab_lossless_phase *phase, double *finish_s) {
    fab_error err = {0};
    fab_lossless_result r = {.finish_s = finish_s};
    cr_assert_eq(fab_lossless_run(transport, phase, &r, &err), FAB_OK, "%s", err.text);
    return r;
}

/* Two ways of two links, 8 Gb/s at the NIC and half of that beyond, a byte a nanosecond: in turn over both, the NIC is
 * never held up, and the last of 100 packets has 2 us to go. */
Test(sprays, two_paths) {
    const double capacity[] = {8e9, 8e9, 4e9, 4e9, 4e9, 4e9};
    const double latency_s[] = {1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6};
    const uint64_t first[] = {0, 2, 4};
    const uint32_t link[] = {0, 2, 0, 4};
    const uint32_t of_flow[] = {0, 2};
    const double bits[] = {4e5, 4e5};
    double finish_s[2];
    fab_lossless_phase p = {.n_flows = 2,
                            .n_links = 6,
                            .capacity = capacity,
                            .latency_s = latency_s,
                            .first = first,
                            .link = link,
                            .bits = bits,
                            .n_sprayed = 1,
                            .sprayed = of_flow};
    fab_lossless_result r = run_phase(&SPRAY, &p, finish_s);
    cr_assert_float_eq(finish_s[0], 100e-6 + 2e-6, 1e-12, "%.17g", finish_s[0]);
    cr_assert_eq(finish_s[1], finish_s[0]);
    cr_assert_eq(r.n_trims, 0);
    cr_assert_eq(r.n_pauses, 0);
}

/* Ten senders of a packet each into a queue of two: what is trimmed is sent again, and all of it arrives as fast as the
 * link of the receiver goes, but for the time that senders take to hear of it. */
Test(sprays, trimmed) {
    enum { SENDERS = 10 };
    double capacity[2 * SENDERS + 2];
    double latency_s[2 * SENDERS + 2];
    uint64_t first[SENDERS + 1];
    uint32_t link[2 * SENDERS];
    uint32_t of_flow[SENDERS + 1];
    double bits[SENDERS];
    double finish_s[SENDERS];
    for (uint32_t i = 0; i < 2 * SENDERS + 2; i++) {
        capacity[i] = 8e9;
        latency_s[i] = 1e-7;
    }
    for (uint32_t i = 0; i <= SENDERS; i++) {
        first[i] = 2 * i;
        of_flow[i] = i;
    }
    for (uint32_t i = 0; i < SENDERS; i++) {
        link[2 * i] = 2 * i;
        link[2 * i + 1] = 2 * SENDERS;
        bits[i] = 8e3;
    }
    const fab_lossless_phase p = {.n_flows = SENDERS,
                                  .n_links = 2 * SENDERS + 2,
                                  .capacity = capacity,
                                  .latency_s = latency_s,
                                  .first = first,
                                  .link = link,
                                  .bits = bits,
                                  .n_sprayed = SENDERS,
                                  .sprayed = of_flow};
    const fab_spray rules = {.queue_bytes = 2000};
    fab_lossless transport = SPRAY;
    double last_s = 0;
    transport.spray = &rules;
    fab_lossless_result r = run_phase(&transport, &p, finish_s);
    for (uint32_t i = 0; i < SENDERS; i++) {
        last_s = fmax(last_s, finish_s[i]);
    }
    cr_assert_geq(r.n_trims, 7, "%d", (int)r.n_trims); /* one is sent, two wait */
    cr_assert_geq(last_s, 11e-6 * (1 - 1e-12));
    cr_assert_lt(last_s, 15e-6, "%g", last_s);
}

/* No flow ends before its own links could have sent it, and a phase is the same every time. */
Test(sprays, any_phase) {
    for (uint64_t seed = 0; seed < 200; seed++) {
        static sprayed s;
        double one[SPRAYED * MOST_PATHS];
        double two[SPRAYED * MOST_PATHS];
        double access[2 * CABLES] = {0};
        const fab_spray rules = {.skips = seed % 4 < 2};
        const fab_lossless transport = {.mtu_bytes = 4096,
                                        .header_bytes = 64,
                                        .ack_bytes = seed % 3 == 0 ? 64 : 0,
                                        .xoff_bytes = 6e4,
                                        .xon_bytes = 5e4,
                                        .packet_links = seed % 2 == 0 ? 0 : 1,
                                        .spray = &rules};
        double last_s = 0;
        sprayed_draw(900 + seed, SPRAYED, 500, &s);
        (void)run_phase(&transport, &s.net.phase, one);
        (void)run_phase(&transport, &s.net.phase, two);
        for (uint32_t i = 0; i < s.net.phase.n_flows; i++) {
            uint64_t end = s.first[i + 1] - 1;
            cr_assert_eq(one[i], two[i]);
            access[s.link[s.first[i]]] += s.bits[i];
            access[s.link[end]] += s.bits[i];
            last_s = fmax(last_s, one[i]);
        }
        for (uint32_t l = 0; l < 2 * HOSTS; l++) {
            cr_assert_geq(last_s, access[l] / s.net.capacity[l], "seed %d: link %u", (int)seed, l);
        }
    }
}
