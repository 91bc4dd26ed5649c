/* A phase under an engine in a state. What the healthy fabric gives comes from the context; what a state changes, from
 * there. */
#include "fab/evaluate.h"
#include "fab/design.h"

#include "context/context_parts.h"
#include "measure/measure_rates.h"
#include "state/state_key.h"
#include "times/estimator_incremental.h"

/* Scratch for a phase under an engine. */
typedef struct workspace_place {
    fab_reroute *reroute;         /* NULL before the first state, and of duplicates */
    fab_estimator_reader *reader; /* NULL before the first time */
    fab_incremental *incremental; /* NULL before the first state with ranks elsewhere */
    uint64_t version;             /* of the state that `loads` are of; 0: none */
    fab_rerouted loads;
} workspace_place;

struct fab_workspace {
    const fab_context *context;
    fab_scratch scratch;
    fab_mask nothing; /* a mask of it */
    bool has_nothing;
    fab_state_key key;
    workspace_place *places; /* [engine][phase] */
    size_t n_places;
    fab_context *drawn; /* of the draw looked at last; NULL: the first */
    fab_workspace *of_drawn;
};

fab_status fab_workspace_new(const fab_context *context, fab_workspace **out, fab_error *err) {
    fab_workspace *w = NULL;
    FAB_PASS(FAB_NEW(w, 1, err));
    w->context = context;
    *out = w;
    return FAB_OK;
}

FAB_FREES_AFTER(fab_workspace_free, fab_workspace, w) {
    for (size_t i = 0; i < w->n_places; i++) {
        fab_reroute_free(w->places[i].reroute);
        fab_estimator_reader_free(w->places[i].reader);
        fab_incremental_free(w->places[i].incremental);
    }
    free(w->places);
    fab_workspace_free(w->of_drawn);
    fab_context_free(w->drawn);
    if (w->has_nothing) {
        fab_mask_release(&w->nothing);
    }
    fab_state_key_release(&w->key);
    fab_scratch_release(&w->scratch);
}

static bool is_healthy(const fab_state *state) {
    return (state->mask == NULL || state->mask->n_links == 0) && state->n_moved == 0;
}

/* --- loads -------------------------------------------------------------------------------------------------------- */

static fab_status find_place(fab_workspace *w, const fab_case *at, size_t phase, workspace_place **out,
                             fab_error *err) {
    const fab_traffic *traffic = NULL;
    FAB_PASS(fab_context_traffic(w->context, &traffic, err));
    if (w->places == NULL) {
        FAB_PASS(FAB_NEW(w->places, fab_context_what(w->context)->n_engines * traffic->n_phases, err));
        w->n_places = fab_context_what(w->context)->n_engines * traffic->n_phases;
    }
    *out = &w->places[at->engine * traffic->n_phases + phase];
    return FAB_OK;
}

static fab_status find_loads(fab_workspace *w, const fab_case *at, const fab_state *state, const fab_rerouted **out,
                             fab_error *err) {
    size_t phase = 0;
    workspace_place *place = NULL;
    const fab_baseline *baseline = NULL;
    FAB_PASS(fab_context_duplicate(w->context, at->phase, &phase, err));
    FAB_PASS(fab_context_baseline(w->context, at->engine, phase, &baseline, err));
    FAB_PASS(find_place(w, at, phase, &place, err));
    FAB_PASS(place->reroute == NULL ? fab_reroute_new(baseline, &place->reroute, err) : FAB_OK);
    if (place->version != w->key.version) {
        place->version = 0;
        FAB_PASS(state->n_moved > 0 ? fab_reroute_migrated(place->reroute, state->mask, state->moved, state->n_moved,
                                                           state->new_gpu, &place->loads, err)
                                    : fab_reroute_apply(place->reroute, state->mask, state->when, &place->loads, err));
        place->version = w->key.version;
    }
    *out = &place->loads;
    return FAB_OK;
}

/* --- times -------------------------------------------------------------------------------------------------------- */

/* NULL: a context of phases alone, without a design. */
static const fab_transport_spec *transport_of(const fab_workspace *w) {
    const fab_design *design = fab_context_what(w->context)->design;
    return design != NULL ? &design->fabric.transport : NULL;
}

/* Between the GPUs where ranks are, without the flows of those that are out. */
static fab_status move_phase(const fab_phase *whole, const fab_state *state, fab_phase *out, fab_error *err) {
    FAB_OWNED_NEW(uint8_t, gone, whole->n_flows, err);
    for (uint64_t i = 0; state->is_out != NULL && i < whole->n_flows; i++) {
        const fab_flow flow = fab_phase_flow(whole, i);
        gone[i] = state->is_out[flow.src] != 0 || state->new_gpu[flow.src] == state->new_gpu[flow.dst];
    }
    return fab_phase_list(whole, gone, state->new_gpu, out, err);
}

static fab_status time_split(const fab_workspace *w, const fab_case *at, const fab_router *router,
                             const fab_state *state, double *ends_s, fab_phase_seconds *out, fab_error *err) {
    const fab_ports *ports = NULL;
    FAB_OWNS(fab_phase_list_release) fab_phase moved = {.n_flows = 0};
    FAB_OWNS(fab_offer_release) fab_offer offer = {0};
    fab_split_seconds_request request = {
        .fabric = fab_context_what(w->context)->fabric, .router = router, .mask = state->mask, .ends_s = ends_s};
    FAB_PASS(fab_context_traffic(w->context, &request.traffic, err));
    FAB_PASS(fab_context_offer(w->context, at->phase, &request.offer, err));
    FAB_PASS(fab_context_dag(w->context, &request.dag, err));
    request.phase = &request.traffic->phases[at->phase];
    if (state->n_moved > 0) {
        FAB_PASS(fab_context_ports(w->context, &ports, err));
        FAB_PASS(move_phase(request.phase, state, &moved, err));
        FAB_PASS(fab_offer_init(request.fabric, ports, &moved, &offer, err));
        request.phase = &moved;
        request.offer = &offer;
    }
    return fab_split_seconds(&request, out, err);
}

/* What became of the paths of a phase, and who reads times from that. */
static fab_status find_reader(fab_workspace *w, const fab_case *at, const fab_state *state, const fab_rerouted **loads,
                              fab_estimator_reader **out, fab_error *err) {
    const fab_estimator *estimator = NULL;
    workspace_place *place = NULL;
    FAB_PASS(find_loads(w, at, state, loads, err));
    FAB_PASS(fab_context_estimator(w->context, at->engine, at->phase, &estimator, err));
    FAB_PASS(find_place(w, at, at->phase, &place, err));
    FAB_PASS(place->reader == NULL ? fab_estimator_reader_new(estimator, &place->reader, err) : FAB_OK);
    *out = place->reader;
    return FAB_OK;
}

fab_status fab_evaluate_flows(fab_workspace *w, const fab_case *at, fab_state_flows *out, fab_error *err) {
    const fab_router *router = NULL;
    const fab_rerouted *loads = NULL;
    fab_estimator_reader *reader = NULL;
    FAB_PASS(fab_context_router(w->context, at->engine, &router, err));
    FAB_REFUSE_IF(fab_router_facts_of(router)->splits, err, FAB_EUNSUPPORTED, NULL,
                  "engine %s spreads every flow over all its paths", fab_router_facts_of(router)->engine);
    FAB_PASS(fab_state_key_take(&w->key, at->state, err));
    FAB_PASS(find_reader(w, at, at->state, &loads, &reader, err));
    return fab_estimator_flows(reader, at->state->mask, loads, out, err);
}

static fab_status find_time(fab_workspace *w, const fab_case *at, const fab_state *state, double *ends_s,
                            fab_phase_seconds *out, fab_error *err) {
    const fab_router *router = NULL;
    const fab_rerouted *loads = NULL;
    fab_estimator_reader *reader = NULL;
    const fab_traffic *traffic = NULL;
    FAB_PASS(fab_context_router(w->context, at->engine, &router, err));
    FAB_PASS(fab_context_traffic(w->context, &traffic, err));
    FAB_PASS(fab_is_lossless(transport_of(w)) ? fab_check_lossless(router, transport_of(w), err) : FAB_OK);
    if (fab_router_facts_of(router)->splits) {
        FAB_PASS(time_split(w, at, router, state, ends_s, out, err));
    } else {
        FAB_PASS(find_reader(w, at, state, &loads, &reader, err));
        const bool has_moved = state->n_moved > 0;
        FAB_PASS(ends_s != NULL ? fab_estimator_ends(reader, state->mask, loads, has_moved, ends_s, out, err)
                                : fab_estimator_read(reader, state->mask, loads, has_moved, out, err));
    }
    FAB_REFUSE_IF(isnan(out->transfer_s), err, FAB_EUNSUPPORTED, NULL,
                  "phase %s is too large for its time to be computed", traffic->phases[at->phase].name);
    return FAB_OK;
}

/* For a phase and its duplicates. */
static fab_status open_incremental(const fab_workspace *w, size_t engine, size_t phase, fab_incremental **out,
                                   fab_error *err) {
    const fab_traffic *traffic = NULL;
    const fab_baseline *baseline = NULL;
    FAB_OWNED const fab_estimator **estimators = NULL;
    size_t n = 0;
    FAB_PASS(fab_context_traffic(w->context, &traffic, err));
    FAB_PASS(fab_allocate(traffic->n_phases, sizeof(const fab_estimator *), &estimators, err));
    FAB_PASS(fab_context_baseline(w->context, engine, phase, &baseline, err));
    for (size_t p = phase; p < traffic->n_phases; p++) {
        size_t first = 0;
        FAB_PASS(fab_context_duplicate(w->context, p, &first, err));
        FAB_PASS(first == phase ? fab_context_estimator(w->context, engine, p, &estimators[n++], err) : FAB_OK);
    }
    return fab_incremental_new(estimators, n, baseline, out, err);
}

fab_status fab_evaluate_incremental(fab_workspace *w, const fab_case *at, fab_phase_seconds *out, fab_known *out_answer,
                                    fab_error *err) {
    const fab_router *router = NULL;
    workspace_place *place = NULL;
    size_t first = 0;
    size_t which = 0; /* of the first's duplicates */
    *out_answer = FAB_KNOWN_NOTHING;
    FAB_PASS(fab_context_router(w->context, at->engine, &router, err));
    if (fab_router_facts_of(router)->splits || at->draw > 0 || at->state->n_moved == 0) {
        return FAB_OK;
    }
    FAB_PASS(fab_context_duplicate(w->context, at->phase, &first, err));
    for (size_t p = first; p < at->phase; p++) {
        size_t of = 0;
        FAB_PASS(fab_context_duplicate(w->context, p, &of, err));
        which += of == first;
    }
    FAB_PASS(find_place(w, at, first, &place, err));
    FAB_PASS(place->incremental == NULL ? open_incremental(w, at->engine, first, &place->incremental, err) : FAB_OK);
    FAB_PASS(fab_state_key_take(&w->key, at->state, err));
    return fab_incremental_read(place->incremental, which, w->key.version, at->state, out, out_answer, err);
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

static fab_status find_figures(fab_workspace *w, const fab_case *at, const fab_needs *needs, const fab_state *state,
                               fab_evaluated *out, fab_error *err) {
    fab_engine_run run = {.rates = (needs->what & FAB_NEED_RATES) != 0,
                          .keep_flows = (needs->what & FAB_NEED_FLOWS) != 0,
                          .keep_routes = (needs->what & FAB_NEED_PATHS) != 0,
                          .links_alone = (needs->what & FAB_NEED_LINKS_ALONE) != 0,
                          .last_alone = (needs->what & FAB_NEED_LAST_ALONE) != 0,
                          .kept_paths = needs->kept_paths,
                          .n_threads = needs->n_threads > 0 ? needs->n_threads : 1,
                          .advance = needs->advance,
                          .advance_context = needs->advance_context,
                          .scratch = &w->scratch,
                          .tried = &w->context->parts->tried,
                          .detail = needs->detail,
                          .dependencies = needs->dependencies,
                          .trace = needs->trace,
                          .proof = needs->proof,
                          .transport = needs->fluid ? NULL : transport_of(w),
                          .repeats = needs->repeats};
    FAB_REFUSE_IF(!is_healthy(state), err, FAB_EUNSUPPORTED, NULL,
                  "collisions and rates of flows are found on the healthy fabric; ask for loads and times");
    FAB_PASS(fab_context_prepared(w->context, at->phase, &run.prepared, err));
    FAB_PASS(fab_context_router(w->context, at->engine, &run.router, err));
    FAB_PASS((needs->what & FAB_NEED_GAP) != 0 ? fab_context_bound(w->context, at->phase, &run.bound, err) : FAB_OK);
    run.seed = fab_context_seed(w->context, run.router);
    if (needs->trace != NULL) {
        fab_trace_clear(needs->trace, run.prepared->fabric, run.prepared->phase);
    }
    FAB_PASS(fab_measure_run(&run, &out->figures, err));
    FAB_REFUSE_IF(needs->trace != NULL && isnan(out->figures.mean_rate), err, FAB_EUNSUPPORTED,
                  fab_router_facts_of(run.router)->label,
                  "phase %s of %" PRIu64 " flows has too many paths for their rates to be found",
                  run.prepared->phase->name, run.prepared->phase->n_flows);
    out->bytes = w->scratch.bytes;
    out->utilisation = w->scratch.use;
    return FAB_OK;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

/* A workspace for another draw: with its own traffic, where that is drawn. It lends it the scratch memory. */
static fab_status open_draw(fab_workspace *w, uint64_t draw, fab_error *err) {
    const fab_context_request request = {.base = w->context, .draw = fab_context_what(w->context)->draw + draw};
    if (w->drawn != NULL && fab_context_what(w->drawn)->draw == request.draw) {
        return FAB_OK;
    }
    fab_workspace_free(w->of_drawn);
    w->of_drawn = NULL;
    fab_context_free(w->drawn);
    w->drawn = NULL;
    memset(w->scratch.routed, 0, sizeof w->scratch.routed); /* another router may get the address of one that is gone */
    memset(w->scratch.followed, 0, sizeof w->scratch.followed);
    FAB_PASS(fab_context_new(&request, &w->drawn, err));
    return fab_workspace_new(w->drawn, &w->of_drawn, err);
}

static void swap_scratch(fab_workspace *a, fab_workspace *b) {
    fab_scratch scratch = a->scratch;
    a->scratch = b->scratch;
    b->scratch = scratch;
}

static fab_status evaluate_draw(fab_workspace *w, const fab_case *at, const fab_needs *needs, fab_evaluated *out,
                                fab_error *err) {
    const fab_case first = {.phase = at->phase, .engine = at->engine, .state = at->state};
    FAB_PASS(open_draw(w, at->draw, err));
    swap_scratch(w, w->of_drawn);
    fab_status status = fab_evaluate(w->of_drawn, &first, needs, out, err);
    swap_scratch(w, w->of_drawn);
    return status;
}

fab_status fab_evaluate(fab_workspace *w, const fab_case *at, const fab_needs *needs, fab_evaluated *out,
                        fab_error *err) {
    fab_state state = at->state != NULL ? *at->state : (fab_state){.mask = NULL};
    fab_evaluated found = {.loads = NULL};
    if (at->draw > 0) {
        return evaluate_draw(w, at, needs, out, err);
    }
    if (state.mask == NULL && (needs->what & (FAB_NEED_LOADS | FAB_NEED_TIME)) != 0) {
        FAB_PASS(w->has_nothing ? FAB_OK : fab_mask_init(fab_context_what(w->context)->fabric, NULL, &w->nothing, err));
        w->has_nothing = true;
        state.mask = &w->nothing;
    }
    FAB_PASS(fab_state_key_take(&w->key, &state, err));
    FAB_PASS((needs->what & FAB_NEED_LOADS) != 0 ? find_loads(w, at, &state, &found.loads, err) : FAB_OK);
    if ((needs->what & FAB_NEED_TIME) != 0) {
        double *ends_s = (needs->what & FAB_NEED_ENDS) != 0 ? needs->ends_s : NULL;
        FAB_PASS(find_time(w, at, &state, ends_s, &found.time, err));
    }
    FAB_PASS((needs->what & FAB_NEED_FIGURES) != 0 ? find_figures(w, at, needs, &state, &found, err) : FAB_OK);
    *out = found;
    return FAB_OK;
}
