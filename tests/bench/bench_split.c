/* Measures demands and splitting. Usage: bench_split DESIGN [RUNS [ROW...]], or bench_split --list for the names of the
 * rows. Prints the lines of JSON of bench_routing. The demand is an all-to-all of all GPUs: a full matrix of leaves. */
#include "fab/memory.h"
#include "fab/rng.h"
#include "fab/split.h"
#include "fab/topologies.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* A fabric with next hops and what they make of it. */
typedef struct state {
    fab_next_hops *next_hops;
    fab_dag *dag;
} state;

typedef struct bench {
    const char *design_text;
    uint32_t n_runs;
    fab_design design;
    fab_fabric *fabric;
    fab_ports ports;
    state alive, dead; /* dead: one cable between switches in a hundred */
    fab_phase all;
    fab_offer offer;
    fab_demand full, ring; /* ring: every leaf to the next */
    double *weight, *x, *load, *folded;
} bench;

typedef struct figure {
    double cpu_s;   /* of the fastest run */
    uint64_t units; /* of work in a run */
    size_t bytes;   /* that the result keeps */
} figure;

typedef struct row row;
struct row {
    const char *name, *unit;
    fab_status (*measure)(const bench *b, const row *r, figure *out, fab_error *err);
    bool dead, ring;
    fab_split_rule rule;
    fab_fold fold;
};

static double cpu_now(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void keep_fastest(figure *out, double start) {
    double s = cpu_now() - start;
    out->cpu_s = out->cpu_s == 0 || s < out->cpu_s ? s : out->cpu_s;
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

static size_t demand_bytes(const bench *b, const fab_demand *d) {
    return ((size_t)d->n_leaves + 1) * sizeof *d->first +
           d->n_pairs * (sizeof *d->src + sizeof *d->rate + sizeof *d->bytes + sizeof *d->parts) +
           2 * b->fabric->n_links * sizeof *d->leg_rate;
}

static fab_status measure_offer(const bench *b, const row *r, figure *out, fab_error *err) {
    (void)r;
    for (uint32_t run = 0; run < b->n_runs; run++) {
        fab_offer offer = {0};
        double start = cpu_now();
        fab_status status = fab_offer_init(b->fabric, &b->ports, &b->all, &offer, err);
        keep_fastest(out, start);
        fab_offer_release(&offer);
        if (status != FAB_OK) {
            return status;
        }
    }
    out->units = fab_n_gpus(b->fabric);
    out->bytes = 2 * fab_n_of(b->fabric, FAB_NODE_NIC) * sizeof *b->offer.sent;
    return FAB_OK;
}

static fab_status measure_demand(const bench *b, const row *r, figure *out, fab_error *err) {
    (void)r;
    for (uint32_t run = 0; run < b->n_runs; run++) {
        fab_demand d = {0};
        double start = cpu_now();
        fab_status status = fab_demand_init(b->fabric, &b->ports, b->alive.next_hops, &b->all, &b->offer, &d, err);
        keep_fastest(out, start);
        out->units = d.n_pairs;
        out->bytes = status == FAB_OK ? demand_bytes(b, &d) : 0;
        fab_demand_release(&d);
        if (status != FAB_OK) {
            return status;
        }
    }
    return FAB_OK;
}

static fab_status measure_dag(const bench *b, const row *r, figure *out, fab_error *err) {
    const state *s = r->dead ? &b->dead : &b->alive;
    out->units = (uint64_t)s->next_hops->n_leaves * fab_n_switches(b->fabric);
    for (uint32_t run = 0; run < b->n_runs; run++) {
        fab_dag *dag = NULL;
        double start = cpu_now();
        fab_status status = fab_dag_new(b->fabric, s->next_hops, &dag, err);
        keep_fastest(out, start);
        if (status != FAB_OK) {
            return status;
        }
        out->bytes = fab_dag_memory(dag);
        fab_dag_free(dag);
    }
    return FAB_OK;
}

static fab_status measure_load(const bench *b, const row *r, figure *out, fab_error *err) {
    const state *s = r->dead ? &b->dead : &b->alive;
    const fab_demand *d = r->ring ? &b->ring : &b->full;
    const fab_split split = {.rule = r->rule, .weight = b->weight};
    out->units = d->n_pairs;
    out->bytes = b->fabric->n_links * sizeof *b->load;
    for (uint32_t run = 0; run < b->n_runs; run++) {
        double start = cpu_now();
        fab_status status = fab_split_load(s->dag, &split, d, d->rate, b->load, err);
        keep_fastest(out, start);
        if (status != FAB_OK) {
            return status;
        }
    }
    return FAB_OK;
}

static fab_status measure_fold(const bench *b, const row *r, figure *out, fab_error *err) {
    const state *s = r->dead ? &b->dead : &b->alive;
    const fab_demand *d = r->ring ? &b->ring : &b->full;
    const fab_split split = {.rule = r->rule, .weight = b->weight};
    out->units = d->n_pairs;
    out->bytes = d->n_pairs * sizeof *b->folded;
    for (uint32_t run = 0; run < b->n_runs; run++) {
        double start = cpu_now();
        fab_status status = fab_split_fold(s->dag, &split, r->fold, b->x, d, b->folded, err);
        keep_fastest(out, start);
        if (status != FAB_OK) {
            return status;
        }
    }
    return FAB_OK;
}

static const row ROWS[] = {
    {.name = "offer-all", .unit = "gpu", .measure = measure_offer},
    {.name = "demand-all", .unit = "pair", .measure = measure_demand},
    {.name = "dag", .unit = "switch-leaf", .measure = measure_dag},
    {.name = "dag-dead-1pct", .unit = "switch-leaf", .measure = measure_dag, .dead = true},
    {.name = "load-equal", .unit = "pair", .measure = measure_load, .rule = FAB_SPLIT_EQUAL},
    {.name = "load-equal-dead-1pct", .unit = "pair", .measure = measure_load, .rule = FAB_SPLIT_EQUAL, .dead = true},
    {.name = "load-equal-ring", .unit = "pair", .measure = measure_load, .rule = FAB_SPLIT_EQUAL, .ring = true},
    {.name = "load-capacity", .unit = "pair", .measure = measure_load, .rule = FAB_SPLIT_CAPACITY},
    {.name = "load-capacity-dead-1pct",
     .unit = "pair",
     .measure = measure_load,
     .rule = FAB_SPLIT_CAPACITY,
     .dead = true},
    {.name = "load-weight", .unit = "pair", .measure = measure_load, .rule = FAB_SPLIT_WEIGHT},
    {.name = "load-weight-ring", .unit = "pair", .measure = measure_load, .rule = FAB_SPLIT_WEIGHT, .ring = true},
    {.name = "fold-max", .unit = "pair", .measure = measure_fold, .fold = FAB_FOLD_MAX},
    {.name = "fold-longest", .unit = "pair", .measure = measure_fold, .fold = FAB_FOLD_LONGEST},
    {.name = "fold-shortest", .unit = "pair", .measure = measure_fold, .fold = FAB_FOLD_SHORTEST},
    {.name = "fold-expected", .unit = "pair", .measure = measure_fold, .fold = FAB_FOLD_EXPECTED},
    {.name = "fold-expected-weight",
     .unit = "pair",
     .measure = measure_fold,
     .fold = FAB_FOLD_EXPECTED,
     .rule = FAB_SPLIT_WEIGHT},
    {.name = "fold-max-ring", .unit = "pair", .measure = measure_fold, .fold = FAB_FOLD_MAX, .ring = true},
};
#define N_ROWS (sizeof ROWS / sizeof ROWS[0])

/* ----------------------------------------------------------------------------------------------------------------- */

static fab_status make_state(const bench *b, const uint64_t *dead, state *out, fab_error *err) {
    fab_status status = fab_next_hops_new(b->fabric, dead, &out->next_hops, err);
    return status == FAB_OK ? fab_dag_new(b->fabric, out->next_hops, &out->dag, err) : status;
}

/* One cable between switches in a hundred, both directions. */
static fab_status kill_cables(const bench *b, uint64_t **out, fab_error *err) {
    fab_rng rng = fab_rng_make(1, 0);
    fab_status status = FAB_NEW(*out, (size_t)b->fabric->n_links / 64 + 1, err);
    for (uint32_t c = 0; status == FAB_OK && c < b->fabric->n_cables; c++) {
        if (fab_class_of(b->fabric, 2 * c)->kind == FAB_LINK_FABRIC && fab_rng_below(&rng, 100) == 0) {
            (*out)[c / 32] |= UINT64_C(3) << (2 * c % 64);
        }
    }
    return status;
}

static fab_status make_ring(const bench *b, fab_demand *d, fab_error *err) {
    fab_status status = FAB_OK;
    d->n_leaves = b->alive.next_hops->n_leaves;
    d->n_pairs = d->n_leaves;
    FAB_TRY(FAB_NEW(d->first, (size_t)d->n_leaves + 1, err));
    FAB_TRY(FAB_NEW(d->src, d->n_pairs, err));
    FAB_TRY(FAB_NEW(d->rate, d->n_pairs, err));
    for (uint32_t leaf = 0; leaf < d->n_leaves; leaf++) {
        d->src[leaf] = (leaf + 1) % d->n_leaves;
        d->rate[leaf] = 1e9;
        d->first[leaf + 1] = leaf + 1;
    }
done:
    return status;
}

static fab_status prepare(bench *b, fab_error *err) {
    fab_status status = FAB_OK;
    uint64_t *dead = NULL;
    FAB_TRY(fab_design_read(b->design_text, NULL, 0, &b->design, err));
    FAB_TRY(fab_topology_build(&b->design.fabric, &b->fabric, NULL, err));
    FAB_TRY(fab_ports_init(b->fabric, &b->ports, err));
    FAB_TRY(kill_cables(b, &dead, err));
    FAB_TRY(make_state(b, NULL, &b->alive, err));
    FAB_TRY(make_state(b, dead, &b->dead, err));
    uint64_t n = fab_n_gpus(b->fabric);
    b->all = (fab_phase){.all = {.n = (uint32_t)n, .bytes = 1000000}, .n_flows = n * (n - 1)};
    FAB_TRY(fab_offer_init(b->fabric, &b->ports, &b->all, &b->offer, err));
    FAB_TRY(fab_demand_init(b->fabric, &b->ports, b->alive.next_hops, &b->all, &b->offer, &b->full, err));
    FAB_TRY(make_ring(b, &b->ring, err));
    FAB_TRY(FAB_NEW(b->weight, b->fabric->n_links, err));
    FAB_TRY(FAB_NEW(b->x, b->fabric->n_links, err));
    FAB_TRY(FAB_NEW(b->load, b->fabric->n_links, err));
    FAB_TRY(FAB_NEW(b->folded, (size_t)b->full.n_pairs + b->ring.n_pairs, err));
    fab_rng rng = fab_rng_make(2, 0);
    for (uint32_t l = 0; l < b->fabric->n_links; l++) { /* nothing alike: no row may profit from it */
        b->x[l] = (double)(1 + fab_rng_below(&rng, 1000000));
        b->weight[l] = exp((double)fab_rng_below(&rng, 1000000) * 1e-5);
    }
done:
    free(dead);
    return status;
}

static void release(bench *b) {
    free(b->weight);
    free(b->x);
    free(b->load);
    free(b->folded);
    fab_demand_release(&b->ring);
    fab_demand_release(&b->full);
    fab_offer_release(&b->offer);
    fab_dag_free(b->alive.dag);
    fab_dag_free(b->dead.dag);
    fab_next_hops_free(b->alive.next_hops);
    fab_next_hops_free(b->dead.next_hops);
    fab_ports_release(&b->ports);
    fab_fabric_free(b->fabric);
}

/* Dead cables may cut a small fabric in two: that is no failure of the measurement. */
static fab_status run_row(const bench *b, const row *r, fab_error *err) {
    figure f = {0};
    fab_error refusal = {0};
    fab_status status = r->measure(b, r, &f, &refusal);
    if (status == FAB_EUNREACHABLE) {
        (void)printf("{\"name\": \"%s\", \"unsupported\": true}\n", r->name);
        return FAB_OK;
    }
    if (status != FAB_OK) {
        return fab_fail(err, status, r->name, "%s", refusal.text);
    }
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    (void)printf("{\"name\": \"%s\", \"runs\": %u, \"cpu_min_s\": %.6f, \"unit\": \"%s\", \"units\": %llu, "
                 "\"ns_per_unit\": %.2f, \"mib\": %.2f, \"peak_mib\": %.1f}\n",
                 r->name, b->n_runs, f.cpu_s, r->unit, (unsigned long long)f.units,
                 f.units > 0 ? f.cpu_s * 1e9 / (double)f.units : 0, (double)f.bytes / 1048576,
                 (double)usage.ru_maxrss / 1024);
    (void)fflush(stdout);
    return FAB_OK;
}

static bool is_wanted(const row *r, char *const *names, int n_names) {
    for (int i = 0; i < n_names; i++) {
        if (strcmp(names[i], r->name) == 0) {
            return true;
        }
    }
    return n_names == 0;
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
        (void)fprintf(stderr, "usage: bench_split DESIGN [RUNS [ROW...]] | bench_split --list\n");
        return 2;
    }
    bench b = {.design_text = argv[1], .n_runs = (uint32_t)n_runs};
    fab_error err = {0};
    fab_status status = prepare(&b, &err);
    for (size_t i = 0; status == FAB_OK && i < N_ROWS; i++) {
        if (is_wanted(&ROWS[i], argv + 3, argc > 3 ? argc - 3 : 0)) {
            status = run_row(&b, &ROWS[i], &err);
        }
    }
    release(&b);
    if (status != FAB_OK) {
        (void)fprintf(stderr, "bench_split: %s: %s\n", argv[1], err.text);
        return 1;
    }
    return 0;
}
