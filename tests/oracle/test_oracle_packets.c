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

/* How far phases and flows are off in cells of several packets, on average. */
typedef struct misses {
    double phases, flows; /* off by, up or down */
    double mean;          /* of phases, where up and down cancel out */
} misses;

static misses compare_cells(const fab_dcqcn *rules, uint64_t n_phases) {
    misses m = {0, 0, 0};
    for (uint64_t seed = 0; seed < n_phases; seed++) {
        two_tiers t;
        double found[MOST_FLOWS];
        double expected[MOST_FLOWS];
        double last[2] = {0, 0};
        double sum = 0;
        const fab_lossless transport = {.mtu_bytes = 1024,
                                        .header_bytes = 64,
                                        .xoff_bytes = 4e4,
                                        .xon_bytes = 3e4,
                                        .packet_links = 1,
                                        .dcqcn = rules};
        two_tiers_draw(1000 + seed, MOST_FLOWS, 400, &t);
        fab_lossless_result r = run_phase(&transport, &t, found);
        cr_assert_gt(r.cell_bytes, 2 * 1088);
        oracle_packets(&transport, &t.phase, expected);
        for (uint32_t f = 0; f < MOST_FLOWS; f++) {
            last[0] = fmax(last[0], found[f]);
            last[1] = fmax(last[1], expected[f]);
            sum += fabs(found[f] / expected[f] - 1) / MOST_FLOWS;
        }
        m.phases += fabs(last[0] / last[1] - 1) / (double)n_phases;
        m.flows += sum / (double)n_phases;
        m.mean += (last[0] / last[1] - 1) / (double)n_phases;
    }
    return m;
}

/* The phase within a twentieth on average, its flows within a tenth. */
Test(oracle_packets, cells) {
    misses m = compare_cells(NULL, 60);
    cr_assert_lt(m.phases, 0.05, "phases are off by %.3f", m.phases);
    cr_assert_lt(m.flows, 0.10, "flows are off by %.3f", m.flows);
}

/* Rates by DCQCN: packets exactly, cells as above. */
static fab_dcqcn draw_rules(uint64_t seed) {
    return (fab_dcqcn){.kmin_bytes = 5e3 * (double)(1 + seed % 3),
                       .kmax_bytes = 2e4 * (double)(2 + seed % 4),
                       .pmax = 0.01 * (double)(1 + seed % 20),
                       .notify_s = 1e-6 * (double)(3 + seed % 5),
                       .gain = 1.0 / (double)(4 << seed % 4),
                       .alpha_s = 5.5e-6,
                       .raise_s = 1.1e-6 * (double)(4 + seed % 3),
                       .raise_bytes = 3e4 * (double)(1 + seed % 6),
                       .additive_bps = seed % 2 == 0 ? 0 : 4e8,
                       .hyper_bps = seed % 3 == 0 ? 0 : 4e9,
                       .least_bps = seed % 4 == 0 ? 5e9 : 0,
                       .recovery = 1 + (uint32_t)(seed % 5)};
}

Test(oracle_packets, rates_of_packets) {
    uint64_t n_notices = 0;
    for (uint64_t seed = 0; seed < N_PHASES / 2; seed++) {
        two_tiers t;
        double found[MOST_FLOWS];
        double expected[MOST_FLOWS];
        const fab_dcqcn rules = draw_rules(seed);
        const fab_lossless transport = {
            .mtu_bytes = 4096, .header_bytes = 64, .xoff_bytes = 6e4, .xon_bytes = 5e4, .dcqcn = &rules};
        two_tiers_draw(2000 + seed, 2 + (uint32_t)(seed % (MOST_FLOWS - 1)), 200, &t);
        bool marks[2 * CABLES];
        for (uint32_t l = 0; l < t.phase.n_links; l++) {
            marks[l] = (seed + l) % 5 > 0;
        }
        t.phase.marks = seed % 2 == 0 ? marks : NULL;
        t.phase.seed = seed;
        n_notices += run_phase(&transport, &t, found).n_notices;
        oracle_packets(&transport, &t.phase, expected);
        for (uint32_t f = 0; f < t.phase.n_flows; f++) {
            cr_assert(isfinite(found[f]) && fabs(found[f] - expected[f]) <= 1e-9 * expected[f],
                      "seed %d: flow %u ends after %.17g s, not %.17g", (int)seed, f, found[f], expected[f]);
        }
    }
    cr_assert_gt(n_notices, 1000);
}

/* Which packets are marked is drawn: a single phase differs as it does under other draws, all of them together do not.
 */
Test(oracle_packets, rates_of_cells) {
    const fab_dcqcn rules = {.kmin_bytes = 2e4,
                             .kmax_bytes = 1e5,
                             .pmax = 0.1,
                             .notify_s = 1e-5,
                             .gain = 1.0 / 16,
                             .alpha_s = 1.1e-5,
                             .raise_s = 1.1e-5,
                             .raise_bytes = 1e5,
                             .additive_bps = 1e9,
                             .hyper_bps = 1e10,
                             .recovery = 3};
    misses m = compare_cells(&rules, 60);
    cr_assert_lt(fabs(m.mean), 0.05, "phases are off by %.3f", m.mean);
    cr_assert_lt(m.phases, 0.15, "one phase is off by %.3f", m.phases);
}
