/* Relocators of several threads over the same phases say what one alone says. A plain program, because Criterion does
 * not run under ThreadSanitizer. */
#include "engines/router.h"
#include "fab/design.h"
#include "fab/memory.h"
#include "fab/parallel.h"
#include "fab/relocate.h"
#include "fab/topologies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_DEAD  8
#define THREADS 4
#define SERVERS 20 /* that work; 12 are spare */

typedef struct answer {
    size_t n_moves;
    fab_move moves[8];
    uint32_t n_collisions;
    double worst_ratio;
    uint64_t n_tried;
    bool is_optimal;
} answer;

typedef struct job {
    fab_relocator_request request;
    fab_relocator *relocators[THREADS];
    fab_mask masks[THREADS];
    answer answers[N_DEAD];
} job;

/* One server, or two. */
static fab_status decide(void *context, size_t i, size_t worker, fab_error *err) {
    fab_status status = FAB_OK;
    job *j = context;
    fab_relocation found;
    const fab_component dead[] = {{.kind = FAB_COMPONENT_SERVER, .id = (uint32_t)(i * 5 % SERVERS)},
                                  {.kind = FAB_COMPONENT_SERVER, .id = (uint32_t)(i * 11 % SERVERS)}};
    FAB_TRY(fab_mask_set(&j->masks[worker], dead, 1 + i % 2, err));
    FAB_TRY(fab_relocate(j->relocators[worker], &j->masks[worker], FAB_POLICY_COLLISION_AWARE, &found, err));
    answer *out = &j->answers[i];
    out->n_moves = found.n_moves;
    memcpy(out->moves, found.moves, (found.n_moves < 8 ? found.n_moves : 8) * sizeof *out->moves);
    out->n_collisions = found.n_collisions;
    out->worst_ratio = found.worst_ratio;
    out->n_tried = found.n_tried;
    out->is_optimal = found.is_optimal;
done:
    return status;
}

static fab_status run(const fab_relocator_request *request, size_t n_threads, job *out, fab_error *err) {
    fab_status status = FAB_OK;
    *out = (job){.request = *request};
    for (size_t i = 0; i < THREADS; i++) {
        FAB_TRY(fab_relocator_new(request, &out->relocators[i], err));
        FAB_TRY(fab_mask_init(request->fabric, NULL, &out->masks[i], err));
    }
    FAB_TRY(fab_parallel_for(N_DEAD, n_threads, decide, out, err));
done:
    for (size_t i = 0; i < THREADS; i++) {
        fab_relocator_free(out->relocators[i]);
        fab_mask_release(&out->masks[i]);
    }
    return status;
}

static fab_status compare(const char *engine, int *failures, fab_error *err) {
    fab_status status = FAB_OK;
    fab_engine_spec spec = {.where = "test"};
    fab_design design;
    fab_fabric *f = NULL;
    fab_next_hops *next_hops = NULL;
    fab_router router = {.engine = NULL};
    fab_traffic traffic = {0};
    fab_offer offer = {.fabric = NULL};
    fab_baseline *baseline = NULL;
    job *one = NULL;
    job *many = NULL;
    (void)snprintf(spec.text, sizeof spec.text, "%s", engine);
    FAB_TRY(fab_design_read("clos:gpus=128,gpus-per-server=4,radix=16,taper=2", NULL, 0, &design, err));
    FAB_TRY(fab_topology_build(&design.fabric, &f, NULL, err));
    FAB_TRY(fab_next_hops_new(f, NULL, &next_hops, err));
    FAB_TRY(fab_router_init(&spec, f, next_hops, &router, err));
    FAB_TRY(fab_traffic_make("pattern:all-reduce,groups=4,gpus=0-79", &design, f, 1, &traffic, err));
    FAB_TRY(fab_offer_init(f, &router.ports, &traffic.phases[0], &offer, err));
    const fab_baseline_request request = {.router = &router, .phase = &traffic.phases[0], .offer = &offer, .seed = 1};
    FAB_TRY(fab_baseline_new(&request, &baseline, err));
    const fab_baseline *phases[] = {baseline};
    const fab_relocator_request about = {
        .fabric = f, .ports = &router.ports, .traffic = &traffic, .phases = phases, .n_phases = 1, .budget = 25};
    FAB_TRY(FAB_NEW(one, 1, err));
    FAB_TRY(FAB_NEW(many, 1, err));
    FAB_TRY(run(&about, 1, one, err));
    FAB_TRY(run(&about, THREADS, many, err));
    for (size_t i = 0; i < N_DEAD; i++) {
        const answer *a = &one->answers[i];
        const answer *b = &many->answers[i];
        if (a->n_moves == 0 || a->n_moves != b->n_moves || memcmp(a->moves, b->moves, sizeof a->moves) != 0 ||
            a->n_collisions != b->n_collisions || a->worst_ratio != b->worst_ratio || a->n_tried != b->n_tried ||
            a->is_optimal != b->is_optimal) {
            (void)fprintf(stderr, "%s: decision %zu is another one on %d threads\n", engine, i, THREADS);
            (*failures)++;
        }
    }
done:
    free(one);
    free(many);
    fab_baseline_free(baseline);
    fab_offer_release(&offer);
    fab_traffic_release(&traffic);
    if (router.engine != NULL) {
        fab_router_release(&router);
    }
    fab_next_hops_free(next_hops);
    fab_fabric_free(f);
    return status;
}

int main(void) {
    static const char *const ENGINES[] = {"ecmp,qp=2", "pinned", "ecmp,member-loss=resilient", "adaptive"};
    int failures = 0;
    for (size_t i = 0; i < sizeof ENGINES / sizeof ENGINES[0]; i++) {
        fab_error err = {0};
        if (compare(ENGINES[i], &failures, &err) != FAB_OK) {
            (void)fprintf(stderr, "%s: %s\n", ENGINES[i], err.text);
            failures++;
        }
    }
    return failures > 0;
}
