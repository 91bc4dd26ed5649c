/* Measures the bound (bench.h says how), with the gap that was reached and the rounds it took. The DAG is given. */
#include "bench.h"
#include "fab/bound.h"
#include "fab/traffic.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct work {
    const char *traffic;
    bool dead;
} work;

/* The bound is that of the last run; its memory is what the peak grows by. */
static fab_status measure_demand(const bench *b, const work *w, const fab_demand *demand, bench_figure *out,
                                 fab_error *err) {
    const bench_paths *paths = b->state;
    size_t before = bench_peak_bytes();
    fab_bound bound = {0};
    for (uint32_t run = 0; run < b->n_runs; run++) {
        fab_bound_release(&bound);
        double start = bench_now();
        fab_status status = fab_bound_find(b->fabric, paths->dag[w->dead], paths->next_hops[w->dead], demand,
                                           FAB_BOUND_WEIGHTS, &bound, err);
        bench_keep_run(out, start);
        if (status != FAB_OK) {
            return status;
        }
    }
    out->units = demand->n_pairs;
    out->bytes = bench_peak_bytes() - before;
    (void)snprintf(out->more, sizeof out->more, "\"gap\": %.6f, \"rounds\": %" PRIu64 ", ",
                   bound.lower > 0 ? bound.upper / bound.lower - 1 : 0, bound.rounds);
    fab_bound_release(&bound);
    return FAB_OK;
}

static fab_status measure(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    const work *w = row->argument;
    const bench_paths *paths = b->state;
    fab_status status = FAB_OK;
    fab_traffic traffic = {0};
    fab_offer offer = {0};
    fab_demand demand = {0};
    FAB_TRY(fab_traffic_make(w->traffic, &b->design, b->fabric, 1, &traffic, err));
    FAB_TRY(fab_offer_init(b->fabric, &b->ports, &traffic.phases[0], &offer, err));
    FAB_TRY(fab_demand_init(b->fabric, &b->ports, paths->next_hops[w->dead], &traffic.phases[0], &offer, &demand, err));
    FAB_TRY(measure_demand(b, w, &demand, out, err));
done:
    fab_demand_release(&demand);
    fab_offer_release(&offer);
    fab_traffic_release(&traffic);
    return status;
}

static const bench_row ROWS[] = {
    {"permutation", "pair", measure, &(const work){"pattern:permutation", false}},
    {"permutation-dead-1pct", "pair", measure, &(const work){"pattern:permutation", true}},
    {"all-to-all", "pair", measure, &(const work){"pattern:all-to-all", false}},
    {"all-to-all-dead-1pct", "pair", measure, &(const work){"pattern:all-to-all", true}},
    {"bisection-dead-1pct", "pair", measure, &(const work){"pattern:bisection", true}},
    {NULL, NULL, NULL, NULL},
};

static fab_status prepare(bench *b, fab_error *err) {
    return bench_paths_init(b, b->state, err);
}

static void release(bench *b) {
    bench_paths_release(b->state);
}

int main(int argc, char **argv) {
    static const bench_program PROGRAM = {"bench_bound", ROWS, sizeof(bench_paths), prepare, release};
    return bench_main(&PROGRAM, argc, argv);
}
