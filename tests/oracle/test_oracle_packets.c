/* Lossless queues against packets that are moved one at a time. */
#include "../unit/packets/lossless_fixture.h"
#include "oracle_packets.h"

#define N_PHASES 300

static fab_lossless_result run_phase(const fab_lossless *transport, const two_tiers *t, double *finish_s) {
    fab_error err = {0};
    fab_lossless_result r = {.finish_s = finish_s};
    cr_assert_eq(fab_lossless_run(transport, &t->phase, &r, &err), FAB_OK, "%s", err.text);
    return r;
}

/* Where cells are packets both must find the same, whatever the thresholds. */
Test(oracle_packets, packets) {
    uint64_t n_pauses = 0;
    for (uint64_t seed = 0; seed < N_PHASES; seed++) {
        two_tiers t;
        double found[MOST_FLOWS];
        double expected[MOST_FLOWS];
        double xoff = 5e3 * (double)(1 + seed % 7);
        const fab_lossless transport = {.mtu_bytes = 4096,
                                        .header_bytes = 64,
                                        .xoff_bytes = xoff,
                                        .xon_bytes = xoff * (0.3 + 0.1 * (double)(seed % 5))};
        two_tiers_draw(seed, 2 + (uint32_t)(seed % (MOST_FLOWS - 1)), 100, &t);
        fab_lossless_result r = run_phase(&transport, &t, found);
        n_pauses += r.n_pauses;
        oracle_packets(&transport, &t.phase, expected);
        for (uint32_t f = 0; f < t.phase.n_flows; f++) {
            cr_assert(isfinite(found[f]) && fabs(found[f] - expected[f]) <= 1e-9 * expected[f],
                      "seed %d: flow %u ends after %.17g s, not %.17g", (int)seed, f, found[f], expected[f]);
        }
    }
    cr_assert_gt(n_pauses, 1000 * N_PHASES / 300);
}

/* Cells of several packets: the phase within a twentieth on average, its flows within a tenth. */
Test(oracle_packets, cells) {
    double phases = 0;
    double flows = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        two_tiers t;
        double found[MOST_FLOWS];
        double expected[MOST_FLOWS];
        double last[2] = {0, 0};
        double sum = 0;
        fab_lossless transport = {.mtu_bytes = 1024, .header_bytes = 64, .xoff_bytes = 4e4, .xon_bytes = 3e4};
        two_tiers_draw(1000 + seed, MOST_FLOWS, 400, &t);
        transport.packet_links = 1;
        fab_lossless_result r = run_phase(&transport, &t, found);
        cr_assert_gt(r.cell_bytes, 2 * 1088);
        oracle_packets(&transport, &t.phase, expected);
        for (uint32_t f = 0; f < MOST_FLOWS; f++) {
            last[0] = fmax(last[0], found[f]);
            last[1] = fmax(last[1], expected[f]);
            sum += fabs(found[f] / expected[f] - 1) / MOST_FLOWS;
        }
        phases += fabs(last[0] / last[1] - 1) / 60;
        flows += sum / 60;
    }
    cr_assert_lt(phases, 0.05, "phases are off by %.3f", phases);
    cr_assert_lt(flows, 0.10, "flows are off by %.3f", flows);
}
