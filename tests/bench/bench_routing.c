/* Measures routing (bench.h says how). */
#include "bench.h"
#include "fab/memory.h"
#include "fab/tables.h"
#include "engines/engines.h"
#include "walk/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct state {
    fab_next_hops *next_hops;
    fab_traffic permutation;
} state;

/* Of the engine that is the row's argument. */
static fab_status make_router(const bench *b, const bench_row *row, const fab_next_hops *next_hops, fab_router *out,
                              fab_error *err) {
    fab_engine_spec spec = {.where = "bench"};
    (void)snprintf(spec.text, sizeof spec.text, "%s", (const char *)row->argument);
    return fab_router_init(&spec, b->fabric, next_hops, out, err);
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

static fab_status measure_tables(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    const uint64_t *dead = strcmp(row->argument, "dead") == 0 ? b->dead : NULL;
    out->units = b->n_fabric_links;
    for (uint32_t run = 0; run < b->n_runs; run++) {
        fab_next_hops *t = NULL;
        double start = bench_now();
        fab_status status = fab_next_hops_new(b->fabric, dead, &t, err);
        if (status != FAB_OK) {
            return status;
        }
        bench_keep_run(out, start);
        out->bytes = (size_t)t->n_switches * t->n_chunks_per_row * sizeof *t->chunk_of +
                     fab_next_hops_n_groups(t) * sizeof *t->group + t->n_slots * sizeof *t->slot;
        fab_next_hops_free(t);
    }
    return FAB_OK;
}

/* Everything that a subnet manager does for its forwarding tables: from the fabric to an entry per switch and port of a
 * leaf. */
static fab_status measure_entries(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_next_hops *next_hops = NULL;
    fab_router router = {.engine = NULL};
    uint16_t *out_port = NULL;
    for (uint32_t run = 0; run < b->n_runs; run++) {
        double start = bench_now();
        FAB_TRY(fab_next_hops_new(b->fabric, NULL, &next_hops, err));
        FAB_TRY(make_router(b, row, next_hops, &router, err));
        size_t n = (size_t)fab_n_switches(b->fabric) * next_hops->n_leaves * router.port_stride;
        FAB_TRY(FAB_NEW(out_port, n, err));
        FAB_TRY(fab_tables_fill(&router, out_port, err));
        bench_keep_run(out, start);
        out->units = 0;
        for (size_t i = 0; i < n; i++) {
            out->units += out_port[i] != 0;
        }
        out->bytes = n * sizeof *out_port;
        free(out_port);
        out_port = NULL;
        fab_router_release(&router);
        fab_next_hops_free(next_hops);
        next_hops = NULL;
    }
done:
    free(out_port);
    fab_router_release(&router);
    fab_next_hops_free(next_hops);
    return status;
}

static fab_status measure_walk(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    const state *s = b->state;
    fab_router router = {.engine = NULL};
    fab_routes routes = {0};
    const fab_phase *phase = &s->permutation.phases[0];
    FAB_TRY(make_router(b, row, s->next_hops, &router, err));
    for (uint32_t run = 0; run <= b->n_runs; run++) { /* the first run gets the memory that the others reuse */
        double start = bench_now();
        FAB_TRY(fab_route_phase(&router, phase, run, &routes, err));
        if (run > 0) {
            bench_keep_run(out, start);
        }
    }
    size_t n_links = routes.path_first[routes.flow_first[routes.n_flows]];
    for (size_t i = 0; i < n_links; i++) {
        out->units += fab_class_of(b->fabric, routes.link[i])->kind == FAB_LINK_FABRIC;
    }
    out->bytes = n_links * sizeof *routes.link;
done:
    fab_routes_release(&routes);
    fab_router_release(&router);
    return status;
}

/* The steps alone: flows are plugged in beforehand. */
static fab_status measure_steps(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    const state *s = b->state;
    fab_router router = {.engine = NULL};
    const fab_phase *phase = &s->permutation.phases[0];
    fab_walk *walks = NULL;
    enum { AT_ONCE = 8 }; /* as many as stay in the cache, so that the clock is read seldom */
    uint64_t per_turn = (uint64_t)AT_ONCE * FAB_WALK_PATHS;
    FAB_TRY(make_router(b, row, s->next_hops, &router, err));
    if (router.end == NULL) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "GPUs with several ports");
    }
    FAB_TRY(FAB_NEW(walks, AT_ONCE, err));
    for (uint32_t run = 0; run < b->n_runs; run++) {
        double sum = 0;
        uint64_t n_hops = 0;
        for (uint64_t first = 0; first + per_turn <= phase->n_flows; first += per_turn) {
            for (uint32_t k = 0; k < per_turn; k++) {
                fab_walk *walk = &walks[k / FAB_WALK_PATHS];
                walk->n = k % FAB_WALK_PATHS == 0 ? 0 : walk->n;
                fab_walk_add_ends(walk, &router.end[phase->src[first + k]], &router.end[phase->dst[first + k]], 0, 0);
            }
            for (uint32_t i = 0; i < AT_ONCE; i++) {
                fab_walk_begin(&walks[i], &router, run);
            }
            double start = bench_now();
            for (uint32_t i = 0; i < AT_ONCE; i++) {
                FAB_TRY(fab_walk_run(&walks[i], &router, run, err));
            }
            sum += bench_now() - start;
            for (uint32_t k = 0; k < per_turn; k++) {
                n_hops += walks[k / FAB_WALK_PATHS].n_hops[k % FAB_WALK_PATHS];
            }
        }
        bench_keep(&out->times, &out->cpu_s, sum);
        out->units = n_hops;
    }
    out->bytes = AT_ONCE * sizeof *walks;
done:
    free(walks);
    fab_router_release(&router);
    return status;
}

/* Bytes on every link between switches of an all-to-all over all GPUs, which no list would hold: once, a chunk of flows
 * at a time. */
static fab_status measure_count(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    enum { CHUNK = 65536 };
    const state *s = b->state;
    fab_router router = {.engine = NULL};
    fab_routes routes = {.between_switches = true};
    fab_traffic traffic = {0};
    double *load = NULL;
    FAB_TRY(make_router(b, row, s->next_hops, &router, err));
    FAB_TRY(fab_traffic_make("pattern:all-to-all", &b->design, b->fabric, 1, &traffic, err));
    FAB_TRY(FAB_NEW(load, b->fabric->n_links, err));
    const fab_phase *phase = &traffic.phases[0];
    double start = bench_now();
    for (uint64_t first = 0; first < phase->n_flows; first += CHUNK) {
        uint32_t n = (uint32_t)(phase->n_flows - first < CHUNK ? phase->n_flows - first : CHUNK);
        FAB_TRY(fab_route_flows(&router, phase, first, n, NULL, 1, &routes, err));
        size_t n_hops = routes.path_first[routes.flow_first[n]];
        for (size_t i = 0; i < n_hops; i++) {
            load[routes.link[i]] += 1;
        }
    }
    bench_keep_run(out, start);
    out->units = phase->n_flows;
    out->bytes = b->fabric->n_links * sizeof *load;
done:
    fab_traffic_release(&traffic);
    fab_routes_release(&routes);
    fab_router_release(&router);
    free(load);
    return status;
}

static const bench_row ROWS[] = {
    {"tables", "link", measure_tables, "alive"},
    {"tables-dead-1pct", "link", measure_tables, "dead"},
    {"entries-dmodk", "entry", measure_entries, "dmodk"},
    {"walk-ecmp", "flow-hop", measure_walk, "ecmp"},
    {"walk-dmodk", "flow-hop", measure_walk, "dmodk"},
    {"steps-ecmp", "flow-hop", measure_steps, "ecmp"},
    {"steps-dmodk", "flow-hop", measure_steps, "dmodk"},
    {"count-all-ecmp", "flow", measure_count, "ecmp"},
    {NULL, NULL, NULL, NULL},
};

/* ----------------------------------------------------------------------------------------------------------------- */

static fab_status prepare(bench *b, fab_error *err) {
    fab_status status = FAB_OK;
    state *s = b->state;
    FAB_TRY(fab_next_hops_new(b->fabric, NULL, &s->next_hops, err));
    FAB_TRY(fab_traffic_make("pattern:permutation", &b->design, b->fabric, 1, &s->permutation, err));
done:
    return status;
}

static void release(bench *b) {
    state *s = b->state;
    fab_traffic_release(&s->permutation);
    fab_next_hops_free(s->next_hops);
}

int main(int argc, char **argv) {
    static const bench_program PROGRAM = {"bench_routing", ROWS, sizeof(state), prepare, release};
    return bench_main(&PROGRAM, argc, argv);
}
