/* Measures failure scenarios (bench.h says how): four random cables between switches die, and the loads and the worst
 * link are found again; 8 queue pairs per GPU, so that 16,384 GPUs send 131,072 flows. */
#include "engines/router.h"
#include "bench.h"
#include "fab/memory.h"
#include "fab/reroute.h"
#include "fab/rng.h"

#include <stdio.h>
#include <stdlib.h>

#define CABLES 4

typedef struct state {
    fab_next_hops *next_hops;
    fab_traffic permutation;
    fab_offer offer;
    fab_link_id *cable; /* shape [n_cables]: between switches */
    uint32_t n_cables;
} state;

typedef struct work {
    const char *engine;
    uint32_t scenarios; /* of a run */
    fab_reroute_when when;
} work;

static void draw(const state *s, uint64_t scenario, fab_component *out) {
    fab_rng rng = fab_rng_make(1, scenario);
    for (uint32_t i = 0; i < CABLES; i++) {
        out[i] = (fab_component){.kind = FAB_COMPONENT_LINK, .id = s->cable[fab_rng_below(&rng, s->n_cables)]};
    }
}

static fab_status measure_scenarios(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    const state *s = b->state;
    const work *w = row->argument;
    fab_engine_spec spec = {.where = "bench"};
    fab_router router = {.engine = NULL};
    fab_baseline *baseline = NULL;
    fab_reroute *reroute = NULL;
    fab_mask mask = {0};
    uint64_t touched = 0;
    uint64_t moved = 0;
    if (s->n_cables == 0) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "no cable joins switches");
    }
    (void)snprintf(spec.text, sizeof spec.text, "%s", w->engine);
    FAB_TRY(fab_router_init(&spec, b->fabric, s->next_hops, &router, err));
    const fab_baseline_request request = {
        .router = &router, .phase = &s->permutation.phases[0], .offer = &s->offer, .seed = 1};
    FAB_TRY(fab_baseline_new(&request, &baseline, err));
    FAB_TRY(fab_reroute_new(baseline, &reroute, err));
    FAB_TRY(fab_mask_init(b->fabric, NULL, &mask, err));
    for (uint32_t run = 0; run <= b->n_runs; run++) { /* the first run gets the memory that the others reuse */
        double start = bench_now();
        for (uint32_t i = 0; i < w->scenarios; i++) {
            fab_component dead[CABLES];
            fab_rerouted result;
            draw(s, i, dead);
            FAB_TRY(fab_mask_set(&mask, dead, CABLES, err));
            FAB_TRY(fab_reroute_apply(reroute, &mask, w->when, &result, err));
            touched += result.n_touched;
            moved += result.n_moved;
        }
        if (run > 0) {
            bench_keep_run(out, start);
        }
    }
    out->units = w->scenarios;
    double n = (double)w->scenarios * (b->n_runs + 1);
    (void)snprintf(out->more, sizeof out->more, "\"per_s\": %.0f, \"touched\": %.1f, \"moved\": %.1f, ",
                   w->scenarios / (out->cpu_s > 0 ? out->cpu_s : 1e-9), (double)touched / n, (double)moved / n);
done:
    fab_mask_release(&mask);
    fab_reroute_free(reroute);
    fab_baseline_free(baseline);
    fab_router_release(&router);
    return status;
}

/* What it is measured against: everything again, tables included. */
static fab_status measure_anew(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    const state *s = b->state;
    const work *w = row->argument;
    fab_engine_spec spec = {.where = "bench"};
    fab_mask mask = {0};
    fab_routes routes = {0};
    fab_router router = {.engine = NULL};
    fab_next_hops *next_hops = NULL;
    double *load = NULL;
    if (s->n_cables == 0) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "no cable joins switches");
    }
    (void)snprintf(spec.text, sizeof spec.text, "%s", w->engine);
    FAB_TRY(fab_mask_init(b->fabric, NULL, &mask, err));
    FAB_TRY(FAB_NEW(load, b->fabric->n_links, err));
    for (uint32_t run = 0; run <= b->n_runs; run++) {
        double start = bench_now();
        for (uint32_t i = 0; i < w->scenarios; i++) {
            fab_component dead[CABLES];
            draw(s, i, dead);
            FAB_TRY(fab_mask_set(&mask, dead, CABLES, err));
            FAB_TRY(fab_next_hops_new(b->fabric, mask.dead_link, &next_hops, err));
            FAB_TRY(fab_router_init(&spec, b->fabric, next_hops, &router, err));
            FAB_TRY(fab_route_phase(&router, &s->permutation.phases[0], 1, &routes, err));
            for (uint32_t l = 0; l < b->fabric->n_links; l++) {
                load[l] = 0;
            }
            for (size_t k = 0; k < routes.path_first[routes.flow_first[routes.n_flows]]; k++) {
                load[routes.link[k]] += 1;
            }
            fab_router_release(&router);
            fab_next_hops_free(next_hops);
            next_hops = NULL;
        }
        if (run > 0) {
            bench_keep_run(out, start);
        }
    }
    out->units = w->scenarios;
    (void)snprintf(out->more, sizeof out->more, "\"per_s\": %.1f, ", w->scenarios / (out->cpu_s > 0 ? out->cpu_s : 1));
done:
    free(load);
    fab_routes_release(&routes);
    fab_router_release(&router);
    fab_next_hops_free(next_hops);
    fab_mask_release(&mask);
    return status;
}

static const work MODULO = {"ecmp,qp=8", 1000, FAB_WHEN_CONVERGED};
static const work RESILIENT = {"ecmp,qp=8,member-loss=resilient", 4000, FAB_WHEN_CONVERGED};
static const work TABLES = {"dmodk", 1000, FAB_WHEN_CONVERGED};
static const work FAILED = {"ecmp,qp=8", 4000, FAB_WHEN_FAILED};
static const work ANEW = {"ecmp,qp=8", 3, FAB_WHEN_CONVERGED};

static const bench_row ROWS[] = {
    {"modulo", "scenario", measure_scenarios, &MODULO},       {"resilient", "scenario", measure_scenarios, &RESILIENT},
    {"tables-dmodk", "scenario", measure_scenarios, &TABLES}, {"failed", "scenario", measure_scenarios, &FAILED},
    {"modulo-anew", "scenario", measure_anew, &ANEW},         {NULL, NULL, NULL, NULL},
};

/* ----------------------------------------------------------------------------------------------------------------- */

static fab_status prepare(bench *b, fab_error *err) {
    fab_status status = FAB_OK;
    state *s = b->state;
    FAB_TRY(fab_next_hops_new(b->fabric, NULL, &s->next_hops, err));
    FAB_TRY(fab_traffic_make("pattern:permutation", &b->design, b->fabric, 1, &s->permutation, err));
    FAB_TRY(fab_offer_init(b->fabric, &b->ports, &s->permutation.phases[0], &s->offer, err));
    FAB_TRY(FAB_NEW(s->cable, b->fabric->n_cables, err));
    for (uint32_t l = 0; l < b->fabric->n_links; l += 2) {
        if (fab_class_of(b->fabric, l)->kind == FAB_LINK_FABRIC) {
            s->cable[s->n_cables++] = l;
        }
    }
done:
    return status;
}

static void release(bench *b) {
    state *s = b->state;
    fab_offer_release(&s->offer);
    fab_traffic_release(&s->permutation);
    fab_next_hops_free(s->next_hops);
    free(s->cable);
}

int main(int argc, char **argv) {
    static const bench_program PROGRAM = {"bench_failures", ROWS, sizeof(state), prepare, release};
    return bench_main(&PROGRAM, argc, argv);
}
