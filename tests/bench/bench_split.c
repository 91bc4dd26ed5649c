/* Measures demands and splitting (bench.h says how). The demand is an all-to-all of all GPUs: a full matrix of leaves.
 */
#include "engines/router.h"
#include "bench.h"
#include "fab/memory.h"
#include "fab/rng.h"
#include "split/split_rule.h"

#include <math.h>
#include <stdlib.h>

typedef struct state {
    bench_paths paths;
    fab_phase all;
    fab_offer offer;
    fab_demand full, ring; /* ring: every leaf to the next */
    double *weight, *x, *load, *folded;
} state;

typedef struct work {
    bool dead, ring;
    fab_split_rule rule;
    fab_fold fold;
} work;

/* --- rows -------------------------------------------------------------------------------------------------------- */

static size_t demand_bytes(const bench *b, const fab_demand *d) {
    return ((size_t)d->n_leaves + 1) * sizeof *d->first +
           d->n_pairs * (sizeof *d->src + sizeof *d->rate + sizeof *d->bytes + sizeof *d->parts) +
           2 * b->fabric->n_links * sizeof *d->segment_rate;
}

static fab_status measure_offer(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    (void)row;
    const state *s = b->state;
    for (uint32_t run = 0; run < b->n_runs; run++) {
        fab_offer offer = {0};
        double start = bench_now();
        fab_status status = fab_offer_init(b->fabric, &b->ports, &s->all, &offer, err);
        bench_keep_run(out, start);
        fab_offer_release(&offer);
        if (status != FAB_OK) {
            return status;
        }
    }
    out->units = fab_n_gpus(b->fabric);
    out->bytes = 2 * fab_n_of(b->fabric, FAB_NODE_NIC) * sizeof *s->offer.sent;
    return FAB_OK;
}

static fab_status measure_demand(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    (void)row;
    const state *s = b->state;
    for (uint32_t run = 0; run < b->n_runs; run++) {
        fab_demand d = {0};
        double start = bench_now();
        fab_status status = fab_demand_init(b->fabric, &b->ports, s->paths.next_hops[0], &s->all, &s->offer, &d, err);
        bench_keep_run(out, start);
        out->units = d.n_pairs;
        out->bytes = status == FAB_OK ? demand_bytes(b, &d) : 0;
        fab_demand_release(&d);
        if (status != FAB_OK) {
            return status;
        }
    }
    return FAB_OK;
}

static fab_status measure_dag(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    const state *s = b->state;
    const work *w = row->argument;
    const fab_next_hops *next_hops = s->paths.next_hops[w->dead];
    out->units = (uint64_t)next_hops->n_leaves * fab_n_switches(b->fabric);
    for (uint32_t run = 0; run < b->n_runs; run++) {
        fab_dag *dag = NULL;
        double start = bench_now();
        fab_status status = fab_dag_new(b->fabric, next_hops, &dag, err);
        bench_keep_run(out, start);
        if (status != FAB_OK) {
            return status;
        }
        fab_dag_free(dag);
    }
    return FAB_OK;
}

static fab_status measure_load(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    const state *s = b->state;
    const work *w = row->argument;
    const fab_demand *d = w->ring ? &s->ring : &s->full;
    const fab_split split = {.rule = w->rule, .weight = s->weight};
    out->units = d->n_pairs;
    out->bytes = b->fabric->n_links * sizeof *s->load;
    for (uint32_t run = 0; run < b->n_runs; run++) {
        double start = bench_now();
        fab_status status = fab_split_load(s->paths.dag[w->dead], &split, d, d->rate, s->load, err);
        bench_keep_run(out, start);
        if (status != FAB_OK) {
            return status;
        }
    }
    return FAB_OK;
}

static fab_status measure_fold(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    const state *s = b->state;
    const work *w = row->argument;
    const fab_demand *d = w->ring ? &s->ring : &s->full;
    const fab_split split = {.rule = w->rule, .weight = s->weight};
    out->units = d->n_pairs;
    out->bytes = d->n_pairs * sizeof *s->folded;
    for (uint32_t run = 0; run < b->n_runs; run++) {
        double start = bench_now();
        fab_status status = fab_split_fold(s->paths.dag[w->dead], &split, w->fold, s->x, d, s->folded, err);
        bench_keep_run(out, start);
        if (status != FAB_OK) {
            return status;
        }
    }
    return FAB_OK;
}

static const bench_row ROWS[] = {
    {"offer-all", "gpu", measure_offer, NULL},
    {"demand-all", "pair", measure_demand, NULL},
    {"dag", "switch-leaf", measure_dag, &(const work){.dead = false}},
    {"dag-dead-1pct", "switch-leaf", measure_dag, &(const work){.dead = true}},
    {"load-equal", "pair", measure_load, &(const work){.rule = FAB_SPLIT_EQUAL}},
    {"load-equal-dead-1pct", "pair", measure_load, &(const work){.rule = FAB_SPLIT_EQUAL, .dead = true}},
    {"load-equal-ring", "pair", measure_load, &(const work){.rule = FAB_SPLIT_EQUAL, .ring = true}},
    {"load-capacity", "pair", measure_load, &(const work){.rule = FAB_SPLIT_CAPACITY}},
    {"load-capacity-dead-1pct", "pair", measure_load, &(const work){.rule = FAB_SPLIT_CAPACITY, .dead = true}},
    {"load-weight", "pair", measure_load, &(const work){.rule = FAB_SPLIT_WEIGHT}},
    {"load-weight-ring", "pair", measure_load, &(const work){.rule = FAB_SPLIT_WEIGHT, .ring = true}},
    {"fold-max", "pair", measure_fold, &(const work){.fold = FAB_FOLD_MAX}},
    {"fold-longest", "pair", measure_fold, &(const work){.fold = FAB_FOLD_LONGEST}},
    {"fold-shortest", "pair", measure_fold, &(const work){.fold = FAB_FOLD_SHORTEST}},
    {"fold-expected", "pair", measure_fold, &(const work){.fold = FAB_FOLD_EXPECTED}},
    {"fold-expected-weight", "pair", measure_fold, &(const work){.fold = FAB_FOLD_EXPECTED, .rule = FAB_SPLIT_WEIGHT}},
    {"fold-max-ring", "pair", measure_fold, &(const work){.fold = FAB_FOLD_MAX, .ring = true}},
    {NULL, NULL, NULL, NULL},
};

/* ----------------------------------------------------------------------------------------------------------------- */

static fab_status make_ring(uint32_t n_leaves, fab_demand *d, fab_error *err) {
    fab_status status = FAB_OK;
    d->n_leaves = n_leaves;
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
    state *s = b->state;
    uint32_t n_links = b->fabric->n_links;
    FAB_TRY(bench_paths_init(b, &s->paths, err));
    uint64_t n = fab_n_gpus(b->fabric);
    s->all = (fab_phase){.all = {.n = (uint32_t)n, .bytes = 1000000}, .n_flows = n * (n - 1)};
    FAB_TRY(fab_offer_init(b->fabric, &b->ports, &s->all, &s->offer, err));
    FAB_TRY(fab_demand_init(b->fabric, &b->ports, s->paths.next_hops[0], &s->all, &s->offer, &s->full, err));
    FAB_TRY(make_ring(s->paths.next_hops[0]->n_leaves, &s->ring, err));
    FAB_TRY(FAB_NEW(s->weight, n_links, err));
    FAB_TRY(FAB_NEW(s->x, n_links, err));
    FAB_TRY(FAB_NEW(s->load, n_links, err));
    FAB_TRY(FAB_NEW(s->folded, (size_t)s->full.n_pairs + s->ring.n_pairs, err));
    fab_rng rng = fab_rng_make(2, 0);
    for (uint32_t l = 0; l < n_links; l++) { /* nothing alike: no row may profit from it */
        s->x[l] = (double)(1 + fab_rng_below(&rng, 1000000));
        s->weight[l] = exp((double)fab_rng_below(&rng, 1000000) * 1e-5);
    }
done:
    return status;
}

static void release(bench *b) {
    state *s = b->state;
    free(s->weight);
    free(s->x);
    free(s->load);
    free(s->folded);
    fab_demand_release(&s->ring);
    fab_demand_release(&s->full);
    fab_offer_release(&s->offer);
    bench_paths_release(&s->paths);
}

int main(int argc, char **argv) {
    static const bench_program PROGRAM = {"bench_split", ROWS, sizeof(state), prepare, release};
    return bench_main(&PROGRAM, argc, argv);
}
