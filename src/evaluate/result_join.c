/* Engines that run a job each in its own way, in one result. */
#include "fab/result.h"

/* The phases of one part, into places for all engines. */
static void join_phases(const fab_result_part *part, size_t n_engines, fab_result *out) {
    const uint32_t run = out->n_phases > 0 ? out->phases[out->n_phases - 1].run + 1 : 0;
    FAB_EACH(const fab_phase_result, phase, part->result.phases, part->result.n_phases) {
        fab_phase_result *joined = &out->phases[out->n_phases++];
        fab_engine_result *engines = joined->engines;
        *joined = *phase;
        joined->engines = engines;
        joined->n_engines = n_engines;
        joined->run += run;
        for (size_t e = 0; e < n_engines; e++) {
            engines[e].is_absent = true;
        }
        for (size_t k = 0; k < part->n_engines; k++) {
            engines[part->engine[k]] = phase->engines[k];
        }
    }
}

/* Absent engines have their names everywhere. */
static void name_engines(const fab_result_part *part, fab_result *out) {
    const fab_phase_result *named = part->result.phases;
    FAB_EACH(fab_phase_result, phase, out->phases, out->n_phases) {
        for (size_t k = 0; named != NULL && k < part->n_engines; k++) {
            fab_engine_result *e = &phase->engines[part->engine[k]];
            e->number = part->engine[k] + 1;
            memcpy(e->engine, named->engines[k].engine, sizeof e->engine);
            memcpy(e->label, named->engines[k].label, sizeof e->label);
        }
    }
}

#define SCATTER(list, n)                                                                                               \
    for (size_t k = 0; k < part->n_engines && k < (n); k++) {                                                          \
        out->list[part->engine[k]] = part->result.list[k];                                                             \
    }

static void join_figures(fab_result_part *part, fab_result *out) {
    SCATTER(iterations, out->n_iterations);
    SCATTER(serving, out->n_serving);
    SCATTER(ranking, out->n_ranking);
    SCATTER(paces, part->result.paces != NULL && out->paces != NULL ? part->n_engines : 0);
    for (size_t k = 0; k < part->n_engines; k++) {
        if (out->n_iterations > 0) { /* the drawing of one that is told goes with it */
            part->result.iterations[k].schedule = NULL;
        }
        out->of_engine[part->engine[k]] = &part->result;
    }
    part->is_joined = true;
}

fab_status fab_result_join(fab_result_part *const *parts, size_t n_parts, size_t n_engines, fab_result *out,
                           fab_error *err) {
    bool iterate = true;
    bool serve = true;
    bool rank = true;
    bool have_paces = false;
    size_t n_phases = 0;
    for (size_t i = 0; i < n_parts; i++) { /* what one has no time for no engine is told of, as in a replay of all */
        iterate = iterate && parts[i]->result.n_iterations > 0;
        serve = serve && parts[i]->result.n_serving > 0;
        rank = rank && parts[i]->result.n_ranking > 0;
        have_paces = have_paces || parts[i]->result.paces != NULL;
        n_phases += parts[i]->result.n_phases;
    }
    FAB_PASS(FAB_NEW(out->phases, n_phases, err));
    FAB_PASS(iterate ? FAB_NEW(out->iterations, n_engines, err) : FAB_OK);
    FAB_PASS(serve ? FAB_NEW(out->serving, n_engines, err) : FAB_OK);
    FAB_PASS(rank ? FAB_NEW(out->ranking, n_engines, err) : FAB_OK);
    FAB_PASS(have_paces ? FAB_NEW(out->paces, n_engines, err) : FAB_OK);
    for (out->n_phases = 0; out->n_phases < n_phases; out->n_phases++) { /* from here on nothing fails */
        FAB_PASS(FAB_NEW(out->phases[out->n_phases].engines, n_engines, err));
    }
    out->n_phases = 0;
    for (size_t i = 0; i < n_parts; i++) {
        join_phases(parts[i], n_engines, out);
    }
    out->n_iterations = iterate ? n_engines : 0;
    out->n_serving = serve ? n_engines : 0;
    out->n_ranking = rank ? n_engines : 0;
    out->n_seeds = parts[0]->result.n_seeds;
    for (size_t i = 0; i < n_parts; i++) {
        name_engines(parts[i], out);
        join_figures(parts[i], out);
    }
    return FAB_OK;
}

void fab_result_tell_of(fab_result *result, size_t engine) {
    const fab_result *from = fab_result_of(result, engine);
    if (from != result) {
        memcpy(result->traffic, from->traffic, sizeof result->traffic);
        memcpy(result->iteration_note, from->iteration_note, sizeof result->iteration_note);
        result->job = from->job;
        result->memory = from->memory;
        result->ranks = from->ranks;
        result->placed = from->placed;
    }
}

void fab_result_part_release(fab_result_part *part) {
    fab_result *r = &part->result;
    if (part->is_joined) {
        for (size_t p = 0; p < r->n_phases; p++) {
            free(r->phases[p].engines);
        }
        free(r->phases);
        r->phases = NULL;
        r->n_phases = 0;
    }
    fab_result_release_rest(r);
}
