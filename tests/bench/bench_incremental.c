/* Measures max-min rates under failures (bench.h says how): one random cable between switches dies, or keeps half of
 * its speed, what it touches is routed again, and all rates are found; one queue pair per GPU. Rows named ...-routes
 * stop before the rates. */
#include "engines/router.h"
#include "bench.h"
#include "fab/memory.h"
#include "fab/incremental.h"
#include "fab/reroute.h"
#include "fab/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct state {
    fab_next_hops *next_hops;
    fab_traffic permutation;
    fab_offer offer;
    double *capacity;   /* per link */
    fab_link_id *cable; /* shape [n_cables]: between switches */
    uint32_t n_cables;
} state;

typedef enum what { ROUTES, RATES, RATES_ANEW } what;

typedef struct work {
    const char *engine;
    double residual; /* of the capacity of the cable */
    uint32_t scenarios;
    what what;
} work;

/* What a row needs besides the state. */
typedef struct run {
    fab_router router;
    fab_baseline *baseline;
    fab_reroute *reroute;
    fab_mask mask;
    fab_sharing sharing;
    uint64_t *first;
    fab_rates_base *base;
    fab_incremental *incremental;
    fab_max_min *solver;
    double *rate, *capacity; /* of everything anew */
    double *changed_capacity;
    double slowest; /* a sum over scenarios, so that rows can be compared */
    uint64_t n_moved, n_changed, n_full;
} run;

static void run_release(run *r) {
    free(r->rate);
    free(r->capacity);
    free(r->changed_capacity);
    fab_max_min_free(r->solver);
    fab_incremental_free(r->incremental);
    fab_rates_base_free(r->base);
    free(r->first);
    fab_mask_release(&r->mask);
    fab_reroute_free(r->reroute);
    fab_baseline_free(r->baseline);
    fab_router_release(&r->router);
}

static fab_status run_init(const bench *b, const work *w, run *r, fab_error *err) {
    fab_status status = FAB_OK;
    const state *s = b->state;
    fab_engine_spec spec = {.where = "bench"};
    (void)snprintf(spec.text, sizeof spec.text, "%s", w->engine);
    FAB_TRY(fab_router_init(&spec, b->fabric, s->next_hops, &r->router, err));
    const fab_baseline_request request = {
        .router = &r->router, .phase = &s->permutation.phases[0], .offer = &s->offer, .seed = 1};
    FAB_TRY(fab_baseline_new(&request, &r->baseline, err));
    FAB_TRY(fab_reroute_new(r->baseline, &r->reroute, err));
    FAB_TRY(fab_mask_init(b->fabric, NULL, &r->mask, err));
    const fab_routes *routes = fab_baseline_routes(r->baseline);
    uint32_t n = routes->flow_first[routes->n_flows];
    FAB_TRY(FAB_NEW(r->first, (size_t)n + 1, err));
    for (uint32_t i = 0; i <= n; i++) {
        r->first[i] = routes->path_first[i];
    }
    r->sharing = (fab_sharing){
        .n_flows = n, .n_links = b->fabric->n_links, .capacity = s->capacity, .first = r->first, .link = routes->link};
    FAB_TRY(fab_rates_base_new(&r->sharing, &r->base, err));
    FAB_TRY(fab_incremental_new(r->base, &r->incremental, err));
    FAB_TRY(fab_max_min_new(&r->solver, err));
    FAB_TRY(FAB_NEW(r->rate, n, err));
    FAB_TRY(FAB_NEW(r->capacity, b->fabric->n_links, err));
    FAB_TRY(FAB_NEW(r->changed_capacity, b->fabric->n_links, err));
done:
    return status;
}

/* Routes everything again, and solves everything. */
static fab_status solve_anew(const bench *b, const work *w, run *r, fab_error *err) {
    fab_status status = FAB_OK;
    const state *s = b->state;
    fab_next_hops *next_hops = NULL;
    fab_router router = {.engine = NULL};
    fab_routes routes = {0};
    uint32_t n = r->sharing.n_flows;
    double slowest = INFINITY;
    uint64_t *first = NULL;
    fab_engine_spec spec = {.where = "bench"};
    (void)snprintf(spec.text, sizeof spec.text, "%s", w->engine);
    FAB_TRY(fab_next_hops_new(b->fabric, r->mask.dead_link, &next_hops, err));
    FAB_TRY(fab_router_init(&spec, b->fabric, next_hops, &router, err));
    FAB_TRY(fab_route_phase(&router, &s->permutation.phases[0], 1, &routes, err));
    FAB_TRY(FAB_NEW(first, (size_t)n + 1, err));
    for (uint32_t i = 0; i <= n; i++) {
        first[i] = routes.path_first[i];
    }
    for (uint32_t l = 0; l < b->fabric->n_links; l++) {
        r->capacity[l] = r->mask.residual[l] > 0 ? s->capacity[l] * r->mask.residual[l] : s->capacity[l];
    }
    fab_sharing sharing = r->sharing;
    sharing.capacity = r->capacity;
    sharing.first = first;
    sharing.link = routes.link;
    FAB_TRY(fab_max_min_solve(r->solver, &sharing, r->rate, NULL, err));
    for (uint32_t i = 0; i < n; i++) {
        slowest = r->rate[i] < slowest ? r->rate[i] : slowest;
    }
    r->slowest += slowest;
done:
    free(first);
    fab_routes_release(&routes);
    fab_router_release(&router);
    fab_next_hops_free(next_hops);
    return status;
}

static fab_status try_scenario(const bench *b, const work *w, uint32_t i, run *r, fab_error *err) {
    fab_status status = FAB_OK;
    const state *s = b->state;
    fab_rng rng = fab_rng_make(1, i);
    fab_rerouted routes;
    fab_incremental_rates rates;
    const fab_component cable = {
        .kind = FAB_COMPONENT_LINK, .id = s->cable[fab_rng_below(&rng, s->n_cables)], .fraction = w->residual};
    FAB_TRY(fab_mask_set(&r->mask, &cable, 1, err));
    if (w->what == RATES_ANEW) {
        return solve_anew(b, w, r, err);
    }
    FAB_TRY(fab_reroute_apply(r->reroute, &r->mask, FAB_WHEN_CONVERGED, &routes, err));
    r->n_moved += routes.n_moved;
    if (w->what == RATES) {
        for (uint32_t k = 0; k < r->mask.n_links; k++) {
            r->changed_capacity[k] = s->capacity[r->mask.link[k]] * r->mask.residual[r->mask.link[k]];
        }
        const fab_rate_changes changes = {.n_flows = routes.n_touched,
                                          .flow = routes.path,
                                          .first = routes.path_first,
                                          .link = routes.link,
                                          .n_capacities = r->mask.n_links,
                                          .wider_or_narrower = r->mask.link,
                                          .capacity = r->changed_capacity};
        FAB_TRY(fab_incremental_apply(r->incremental, &changes, &rates, err));
        r->slowest += rates.slowest_bps;
        r->n_changed += rates.n_changed;
        r->n_full += rates.in_full;
    }
done:
    return status;
}

static fab_status measure(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    const state *s = b->state;
    const work *w = row->argument;
    run r = {.router = {.engine = NULL}};
    if (s->n_cables == 0) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "no cable joins switches");
    }
    FAB_TRY(run_init(b, w, &r, err));
    for (uint32_t n = 0; n <= b->n_runs; n++) { /* the first run gets the memory that the others reuse */
        double start = bench_now();
        for (uint32_t i = 0; i < w->scenarios; i++) {
            FAB_TRY(try_scenario(b, w, i, &r, err));
        }
        if (n > 0) {
            bench_keep_run(out, start);
        }
    }
    out->units = w->scenarios;
    double n = (double)w->scenarios * (b->n_runs + 1);
    (void)snprintf(out->more, sizeof out->more,
                   "\"per_s\": %.0f, \"moved\": %.1f, \"changed\": %.1f, \"full\": %.3f, \"slowest\": %.6g, ",
                   w->scenarios / (out->cpu_s > 0 ? out->cpu_s : 1e-9), (double)r.n_moved / n, (double)r.n_changed / n,
                   (double)r.n_full / n, r.slowest / n);
done:
    run_release(&r);
    return status;
}

static const work MODULO = {"ecmp", 0, 1000, RATES};
static const work MODULO_ROUTES = {"ecmp", 0, 1000, ROUTES};
static const work MODULO_ANEW = {"ecmp", 0, 3, RATES_ANEW};
static const work RESILIENT = {"ecmp,member-loss=resilient", 0, 4000, RATES};
static const work RESILIENT_ROUTES = {"ecmp,member-loss=resilient", 0, 4000, ROUTES};
static const work HALF = {"ecmp", 0.5, 4000, RATES};

static const bench_row ROWS[] = {
    {"modulo", "scenario", measure, &MODULO},
    {"modulo-routes", "scenario", measure, &MODULO_ROUTES},
    {"modulo-anew", "scenario", measure, &MODULO_ANEW},
    {"resilient", "scenario", measure, &RESILIENT},
    {"resilient-routes", "scenario", measure, &RESILIENT_ROUTES},
    {"half", "scenario", measure, &HALF},
    {NULL, NULL, NULL, NULL},
};
static fab_status prepare(bench *b, fab_error *err) {
    fab_status status = FAB_OK;
    state *s = b->state;
    FAB_TRY(fab_next_hops_new(b->fabric, NULL, &s->next_hops, err));
    FAB_TRY(fab_traffic_make("pattern:permutation", &b->design, b->fabric, 1, &s->permutation, err));
    FAB_TRY(fab_offer_init(b->fabric, &b->ports, &s->permutation.phases[0], &s->offer, err));
    FAB_TRY(FAB_NEW(s->cable, b->fabric->n_cables, err));
    FAB_TRY(FAB_NEW(s->capacity, b->fabric->n_links, err));
    for (uint32_t l = 0; l < b->fabric->n_links; l++) {
        s->capacity[l] = fab_class_of(b->fabric, l)->capacity_bps;
    }
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
    free(s->capacity);
}

int main(int argc, char **argv) {
    static const bench_program PROGRAM = {"bench_incremental", ROWS, sizeof(state), prepare, release};
    return bench_main(&PROGRAM, argc, argv);
}
