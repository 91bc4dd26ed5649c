/* Phases under engines on the healthy fabric: where failures start from. */
#include "context_parts.h"

#include "fab/design.h"

static fab_status list_baselines(fab_context *c, FAB_UNUSED size_t index, fab_error *err) {
    const fab_traffic *traffic = NULL;
    context_parts *p = c->parts;
    FAB_PASS(fab_context_traffic(c, &traffic, err));
    const size_t n = c->what.n_engines * traffic->n_phases;
    FAB_PASS(FAB_NEW(p->baselines, n, err));
    for (size_t i = 0; i < n; i++) {
        fab_once_init(p->baselines[i].once, PAIR_N);
    }
    return FAB_OK;
}

void context_baselines_release(fab_context *c) {
    context_parts *p = c->parts;
    const size_t n = p->baselines != NULL ? c->what.n_engines * p->traffic->n_phases : 0;
    for (size_t i = 0; i < n; i++) {
        fab_estimator_free(p->baselines[i].estimator);
        fab_baseline_free(p->baselines[i].baseline);
        fab_once_release(p->baselines[i].once, PAIR_N);
    }
    free(p->baselines);
}

/* Place of a phase under an engine. */
static fab_status find_place(const fab_context *context, size_t engine, size_t phase, size_t *out, fab_error *err) {
    fab_context *c = (fab_context *)context;
    FAB_PASS(fab_once_run(&c->parts->once[PART_BASELINES], list_baselines, c, 0, err));
    *out = engine * c->parts->traffic->n_phases + phase;
    return FAB_OK;
}

static fab_status build_baseline(fab_context *c, size_t place, fab_error *err) {
    const size_t n_phases = c->parts->traffic->n_phases;
    fab_baseline_request request = {.phase = &c->parts->traffic->phases[place % n_phases]};
    FAB_PASS(fab_context_router(c, place / n_phases, &request.router, err));
    FAB_PASS(fab_context_offer(c, place % n_phases, &request.offer, err));
    FAB_PASS(fab_context_index(c, place / n_phases, &request.index, err));
    FAB_PASS(fab_router_facts_of(request.router)->splits ? fab_context_dag(c, &request.dag, err) : FAB_OK);
    request.seed = fab_context_seed(c, request.router);
    return fab_baseline_new(&request, &c->parts->baselines[place].baseline, err);
}

fab_status fab_context_baseline(const fab_context *context, size_t engine, size_t phase, const fab_baseline **out,
                                fab_error *err) {
    fab_context *c = (fab_context *)context;
    size_t place = 0;
    FAB_PASS(fab_context_duplicate(context, phase, &phase, err));
    FAB_PASS(find_place(context, engine, phase, &place, err));
    FAB_PASS(fab_once_run(&c->parts->baselines[place].once[PAIR_BASELINE], build_baseline, c, place, err));
    *out = c->parts->baselines[place].baseline;
    return FAB_OK;
}

static fab_status build_estimator(fab_context *c, size_t place, fab_error *err) {
    const fab_baseline *baseline = NULL;
    const size_t n_phases = c->parts->traffic->n_phases;
    fab_estimator_request request = {.fabric = c->what.fabric, .phase = &c->parts->traffic->phases[place % n_phases]};
    FAB_PASS(fab_context_baseline(c, place / n_phases, place % n_phases, &baseline, err));
    FAB_PASS(fab_context_router(c, place / n_phases, &request.router, err));
    FAB_PASS(fab_context_offer(c, place % n_phases, &request.offer, err));
    request.routes = fab_baseline_routes(baseline);
    request.seed = fab_router_seed(request.router, c->what.seed);
    request.transport = c->what.design != NULL ? &c->what.design->fabric.transport : NULL;
    return fab_estimator_new(&request, &c->parts->baselines[place].estimator, err);
}

fab_status fab_context_estimator(const fab_context *context, size_t engine, size_t phase, const fab_estimator **out,
                                 fab_error *err) {
    fab_context *c = (fab_context *)context;
    size_t place = 0;
    FAB_PASS(find_place(context, engine, phase, &place, err));
    FAB_PASS(fab_once_run(&c->parts->baselines[place].once[PAIR_ESTIMATOR], build_estimator, c, place, err));
    *out = c->parts->baselines[place].estimator;
    return FAB_OK;
}
