/* Measures the bound. Usage: bench_bound DESIGN [RUNS [ROW...]], or bench_bound --list for the names of the rows.
 * Prints the lines of JSON of bench_routing, with the gap that was reached and the rounds it took. The DAG is given. */
#include "fab/bound.h"
#include "fab/memory.h"
#include "fab/rng.h"
#include "fab/topologies.h"
#include "fab/traffic.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

typedef struct row {
    const char *name, *traffic;
    bool dead; /* one cable between switches in a hundred */
} row;

static const row ROWS[] = {
    {"permutation", "pattern:permutation", false},      {"permutation-dead-1pct", "pattern:permutation", true},
    {"all-to-all", "pattern:all-to-all", false},        {"all-to-all-dead-1pct", "pattern:all-to-all", true},
    {"bisection-dead-1pct", "pattern:bisection", true},
};
#define N_ROWS (sizeof ROWS / sizeof ROWS[0])

typedef struct bench {
    fab_design design;
    fab_fabric *fabric;
    fab_ports ports;
    fab_next_hops *next_hops[2]; /* alive, dead */
    fab_dag *dag[2];
} bench;

static double cpu_now(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double peak_mib(void) {
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static fab_status prepare(const char *text, bench *b, fab_error *err) {
    fab_status status = FAB_OK;
    uint64_t *dead = NULL;
    fab_rng rng = fab_rng_make(1, 0);
    FAB_TRY(fab_design_read(text, NULL, 0, &b->design, err));
    FAB_TRY(fab_topology_build(&b->design.fabric, &b->fabric, NULL, err));
    FAB_TRY(fab_ports_init(b->fabric, &b->ports, err));
    FAB_TRY(FAB_NEW(dead, (size_t)b->fabric->n_links / 64 + 1, err));
    for (uint32_t c = 0; c < b->fabric->n_cables; c++) {
        if (b->fabric->classes[b->fabric->cable_class[c]].kind == FAB_LINK_FABRIC && fab_rng_below(&rng, 100) == 0) {
            dead[c / 32] |= UINT64_C(3) << (2 * c % 64);
        }
    }
    for (int i = 0; i < 2; i++) {
        FAB_TRY(fab_next_hops_new(b->fabric, i == 0 ? NULL : dead, &b->next_hops[i], err));
        FAB_TRY(fab_dag_new(b->fabric, b->next_hops[i], &b->dag[i], err));
    }
done:
    free(dead);
    return status;
}

static void discard(bench *b) {
    for (int i = 0; i < 2; i++) {
        fab_dag_free(b->dag[i]);
        fab_next_hops_free(b->next_hops[i]);
    }
    fab_ports_release(&b->ports);
    fab_fabric_free(b->fabric);
}

/* The fastest of the runs; the bound is that of the last. */
static fab_status measure(const bench *b, const row *r, const fab_demand *demand, uint32_t n_runs, fab_error *err) {
    double best = 0;
    double before = peak_mib();
    fab_bound bound = {0};
    for (uint32_t i = 0; i < n_runs; i++) {
        fab_bound_release(&bound);
        double start = cpu_now();
        fab_status status =
            fab_bound_find(b->fabric, b->dag[r->dead], b->next_hops[r->dead], demand, FAB_BOUND_WEIGHTS, &bound, err);
        double s = cpu_now() - start;
        if (status != FAB_OK) {
            return status;
        }
        best = i == 0 || s < best ? s : best;
    }
    (void)printf(
        "{\"name\": \"%s\", \"runs\": %" PRIu32 ", \"cpu_min_s\": %.6f, \"unit\": \"pair\", \"units\": %" PRIu32
        ", \"ns_per_unit\": %.2f, \"gap\": %.6f, \"rounds\": %" PRIu64 ", \"mib\": %.2f, \"peak_mib\": %.1f}\n",
        r->name, n_runs, best, demand->n_pairs, demand->n_pairs > 0 ? best * 1e9 / demand->n_pairs : 0,
        bound.lower > 0 ? bound.upper / bound.lower - 1 : 0, bound.rounds, peak_mib() - before, peak_mib());
    (void)fflush(stdout);
    fab_bound_release(&bound);
    return FAB_OK;
}

static fab_status run_row(const bench *b, const row *r, uint32_t n_runs, fab_error *err) {
    fab_status status = FAB_OK;
    fab_error inner = {0};
    fab_traffic traffic = {0};
    fab_offer offer = {0};
    fab_demand demand = {0};
    FAB_TRY(fab_traffic_make(r->traffic, &b->design, b->fabric, 1, &traffic, err));
    FAB_TRY(fab_offer_init(b->fabric, &b->ports, &traffic.phases[0], &offer, err));
    FAB_TRY(fab_demand_init(b->fabric, &b->ports, b->next_hops[r->dead], &traffic.phases[0], &offer, &demand, err));
    status = measure(b, r, &demand, n_runs, &inner);
    if (status == FAB_EUNREACHABLE) {
        (void)printf("{\"name\": \"%s\", \"unsupported\": true}\n", r->name);
        status = FAB_OK;
    } else if (status != FAB_OK) {
        FAB_FAIL(err, status, r->name, "%s", inner.text);
    }
done:
    fab_demand_release(&demand);
    fab_offer_release(&offer);
    fab_traffic_release(&traffic);
    return status;
}

static bool is_wanted(const row *r, char **names, int n) {
    for (int i = 0; i < n; i++) {
        if (strcmp(names[i], r->name) == 0) {
            return true;
        }
    }
    return n == 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < N_ROWS; i++) {
            (void)printf("%s\n", ROWS[i].name);
        }
        return 0;
    }
    long n_runs = argc > 2 ? strtol(argv[2], NULL, 10) : 5;
    if (argc < 2 || n_runs < 1 || n_runs > 1000000) {
        (void)fprintf(stderr, "usage: bench_bound DESIGN [RUNS [ROW...]] | bench_bound --list\n");
        return 2;
    }
    bench b = {0};
    fab_error err = {0};
    fab_status status = prepare(argv[1], &b, &err);
    for (size_t i = 0; status == FAB_OK && i < N_ROWS; i++) {
        if (is_wanted(&ROWS[i], argv + 3, argc > 3 ? argc - 3 : 0)) {
            status = run_row(&b, &ROWS[i], (uint32_t)n_runs, &err);
        }
    }
    discard(&b);
    if (status != FAB_OK) {
        (void)fprintf(stderr, "bench_bound: %s: %s\n", argv[1], err.text);
        return 1;
    }
    return 0;
}
