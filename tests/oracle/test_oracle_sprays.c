/* Sprayed packets against packets that are moved one at a time. */
#include "../unit/packets/spray_fixture.h"
#include "oracle_sprays.h"

#define N_PHASES 300

static fab_lossless_result run_phase(const fab_lossless *transport, const sprayed *s, double *finish_s) {
    fab_error err = {0};
    fab_lossless_result r = {.finish_s = finish_s};
    cr_assert_eq(fab_lossless_run(transport, &s->net.phase, &r, &err), FAB_OK, "%s", err.text);
    return r;
}

/* Both must find the same, packets that are trimmed and paths that are passed over included; every packet arrives once,
 * and no access link is faster than it is. */
Test(oracle_sprays, packets) {
    uint64_t n_trims = 0;
    uint64_t n_marks = 0;
    for (uint64_t seed = 0; seed < N_PHASES; seed++) {
        static sprayed s;
        double found[SPRAYED * MOST_PATHS];
        double expected[SPRAYED * MOST_PATHS];
        const fab_spray rules = {.queue_bytes = seed % 3 == 0 ? 3e4 : 0, .skips = seed % 4 < 2};
        const fab_lossless transport = {
            .mtu_bytes = 4096, .header_bytes = 64, .xoff_bytes = 6e4, .xon_bytes = 5e4, .spray = &rules};
        sprayed_draw(seed, 2 + (uint32_t)(seed % (SPRAYED - 1)), 200, &s);
        fab_lossless_result r = run_phase(&transport, &s, found);
        sprays_seen seen = oracle_sprays(&transport, &s.net.phase, expected);
        cr_assert_eq(r.n_trims, seen.trims, "seed %d: %d trims, not %d", (int)seed, (int)r.n_trims, (int)seen.trims);
        cr_assert_eq(seen.sent, seen.delivered + seen.trims);
        for (uint32_t i = 0; i < s.net.phase.n_flows; i++) {
            cr_assert(isfinite(found[i]) && fabs(found[i] - expected[i]) <= 1e-9 * expected[i],
                      "seed %d: path %u ends after %.17g s, not %.17g", (int)seed, i, found[i], expected[i]);
        }
        n_trims += r.n_trims;
        n_marks += r.n_notices;
    }
    cr_assert_gt(n_trims, 1000, "%d", (int)n_trims);
    cr_assert_gt(n_marks, 1000, "%d", (int)n_marks);
}

/* In steps a phase is off by less than a twentieth on average, each flow by less than a tenth, and all phases together
 * by less than a fiftieth. */
Test(oracle_sprays, steps) {
    double sum = 0;
    double off = 0;
    double of_flow = 0;
    const int n_phases = 60;
    for (int seed = 0; seed < n_phases; seed++) {
        static sprayed s;
        double found[2][SPRAYED * MOST_PATHS];
        double last[2] = {0, 0};
        const fab_spray rules = {.skips = seed % 4 < 2};
        fab_lossless transport = {
            .mtu_bytes = 1024, .header_bytes = 64, .xoff_bytes = 6e4, .xon_bytes = 5e4, .spray = &rules};
        sprayed_draw((uint64_t)(5000 + seed), SPRAYED, 4000, &s);
        for (int i = 0; i < 2; i++) {
            transport.packet_links = i == 0 ? 1e12 : 1;
            fab_lossless_result r = run_phase(&transport, &s, found[i]);
            cr_assert(i == 0 || r.cell_bytes > 2 * 1088);
            for (uint32_t k = 0; k < s.net.phase.n_flows; k++) {
                last[i] = fmax(last[i], found[i][k]);
            }
        }
        sum += (last[1] / last[0] - 1) / n_phases;
        off += fabs(last[1] / last[0] - 1) / n_phases;
        for (uint32_t k = 0; k < s.net.phase.n_flows; k++) {
            of_flow += fabs(found[1][k] / found[0][k] - 1) / s.net.phase.n_flows / n_phases;
        }
    }
    cr_assert_lt(off, 0.05, "one phase is off by %.3f", off);
    cr_assert_lt(of_flow, 0.10, "one flow is off by %.3f", of_flow);
    cr_assert_lt(fabs(sum), 0.02, "phases are off by %.3f", sum);
}
