/* Measures reallocation (bench.h says how): a server dies, and collision-aware chooses among 64 spares (a quarter of
 * the servers in small fabrics) by a data-parallel ring phase: GPUs of equal place in their servers send to those of
 * the next server. A decision begins with the mask; memory is there from the one before. */
#include "engines/router.h"
#include "bench.h"
#include "fab/memory.h"
#include "fab/relocate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_SPARES 64

typedef struct state {
    fab_next_hops *next_hops;
    fab_traffic rings;
    fab_offer offer;
    uint32_t n_working; /* servers */
} state;

typedef struct work {
    const char *engine;
    uint32_t n_lost, decisions; /* of a run */
    uint32_t n_exchanges;
} work;

/* Servers that are far apart. */
static fab_status decide(const bench *b, const work *w, uint32_t decision, fab_mask *mask, fab_relocator *relocator,
                         fab_relocation *out, fab_error *err) {
    const state *s = b->state;
    fab_component dead[8];
    for (uint32_t i = 0; i < w->n_lost; i++) {
        uint32_t server = (decision * 37 + i * (s->n_working / 3 + 1)) % s->n_working;
        dead[i] = (fab_component){.kind = FAB_COMPONENT_SERVER, .id = server};
    }
    fab_status status = fab_mask_set(mask, dead, w->n_lost, err);
    return status == FAB_OK ? fab_relocate(relocator, mask, FAB_POLICY_COLLISION_AWARE, out, err) : status;
}

static fab_status measure(const bench *b, const bench_row *row, bench_figure *out, fab_error *err) {
    fab_status status = FAB_OK;
    const state *s = b->state;
    const work *w = row->argument;
    fab_engine_spec spec = {.where = "bench"};
    fab_router router = {.engine = NULL};
    fab_baseline *baseline = NULL;
    fab_relocator *relocator = NULL;
    fab_mask mask = {0};
    fab_relocation found;
    uint64_t n_tried = 0;
    uint64_t n_healthy = 0;
    uint64_t n_optimal = 0;
    (void)snprintf(spec.text, sizeof spec.text, "%s", w->engine);
    FAB_TRY(fab_router_init(&spec, b->fabric, s->next_hops, &router, err));
    const fab_baseline_request request = {
        .router = &router, .phase = &s->rings.phases[0], .offer = &s->offer, .seed = 1};
    FAB_TRY(fab_baseline_new(&request, &baseline, err));
    const fab_baseline *phases[] = {baseline};
    const fab_relocator_request about = {.fabric = b->fabric,
                                         .ports = &router.ports,
                                         .traffic = &s->rings,
                                         .phases = phases,
                                         .n_phases = 1,
                                         .n_exchanges = w->n_exchanges};
    FAB_TRY(fab_relocator_new(&about, &relocator, err));
    FAB_TRY(fab_mask_init(b->fabric, NULL, &mask, err));
    for (uint32_t run = 0; run <= b->n_runs; run++) { /* the first run gets the memory that the others reuse */
        double start = bench_now();
        n_tried = n_healthy = n_optimal = 0;
        for (uint32_t i = 0; i < w->decisions; i++) {
            FAB_TRY(decide(b, w, i, &mask, relocator, &found, err));
            n_tried += found.n_tried;
            n_healthy += found.n_healthy;
            n_optimal += found.is_optimal;
        }
        if (run > 0) {
            bench_keep_run(out, start);
        }
    }
    out->units = w->decisions;
    (void)snprintf(out->more, sizeof out->more,
                   "\"tried\": %.1f, \"tried_per_s\": %.0f, \"optimal\": %" PRIu64 ", \"healthy\": %" PRIu64 ", ",
                   (double)n_tried / w->decisions, (double)n_tried / (out->cpu_s > 0 ? out->cpu_s : 1e-9), n_optimal,
                   n_healthy);
done:
    fab_mask_release(&mask);
    fab_relocator_free(relocator);
    fab_baseline_free(baseline);
    fab_router_release(&router);
    return status;
}

static const work ECMP = {"ecmp", 1, 32, FAB_NONE};
static const work ECMP_16 = {"ecmp,qp=16", 1, 32, FAB_NONE};
static const work EXCHANGE = {"ecmp,qp=16", 1, 4, 1};
static const work PINNED = {"pinned", 1, 32, FAB_NONE};
static const work SEVERAL = {"ecmp", 4, 2, FAB_NONE};
static const work SPRAY = {"spray", 1, 1, FAB_NONE};

static const bench_row ROWS[] = {
    {"spare-ecmp", "decision", measure, &ECMP},
    {"spare-ecmp-16qp", "decision", measure, &ECMP_16},
    {"exchange-ecmp", "decision", measure, &EXCHANGE},
    {"spare-pinned", "decision", measure, &PINNED},
    {"four-servers-ecmp", "decision", measure, &SEVERAL},
    {"spare-spray", "decision", measure, &SPRAY},
    {NULL, NULL, NULL, NULL},
};

/* ----------------------------------------------------------------------------------------------------------------- */

static fab_status prepare(bench *b, fab_error *err) {
    fab_status status = FAB_OK;
    state *s = b->state;
    const fab_fabric *f = b->fabric;
    char text[96];
    uint32_t n_spares = f->n_servers / 4 < MOST_SPARES ? f->n_servers / 4 : MOST_SPARES;
    s->n_working = f->n_servers - n_spares;
    (void)snprintf(text, sizeof text, "pattern:all-reduce,algorithm=ring,groups=%" PRIu32 ",gpus=0-%" PRIu32,
                   f->gpus_per_server, s->n_working * f->gpus_per_server - 1);
    FAB_TRY(fab_next_hops_new(f, NULL, &s->next_hops, err));
    FAB_TRY(fab_traffic_make(text, &b->design, f, 1, &s->rings, err));
    FAB_TRY(fab_offer_init(f, &b->ports, &s->rings.phases[0], &s->offer, err));
done:
    return status;
}

static void release(bench *b) {
    state *s = b->state;
    fab_offer_release(&s->offer);
    fab_traffic_release(&s->rings);
    fab_next_hops_free(s->next_hops);
}

int main(int argc, char **argv) {
    static const bench_program PROGRAM = {"bench_relocate", ROWS, sizeof(state), prepare, release};
    return bench_main(&PROGRAM, argc, argv);
}
