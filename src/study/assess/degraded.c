/* Healthy and degraded side by side. */
#include "fab/degraded.h"

#include "fab/evaluate.h"
#include "fab/iterate.h"
#include "fab/parallel.h"

typedef struct comparison {
    const fab_replay *base;
    const fab_context_request *what; /* of the base's context */
    fab_weak_fabric weak;
    const fab_traffic *traffic;
    fab_context *context; /* over the slower parts */
    fab_workspace **workers;
    fab_result after;
    fab_degradation *out;
} comparison;

/* --- who is hit --------------------------------------------------------------------------------------------------- */

static fab_status count_hits(const fab_traffic *traffic, const fab_phase *phase, const uint8_t *crosses,
                             fab_degraded_phase *out, fab_error *err) {
    FAB_OWNED_NEW(uint8_t, seen, phase->n_comms, err);
    for (uint64_t i = 0; i < phase->n_flows; i++) {
        if (crosses[i] == 0) {
            continue;
        }
        uint32_t comm = fab_phase_flow(phase, i).comm;
        out->hit_flows++;
        if (seen[comm - phase->first_comm] == 0) {
            seen[comm - phase->first_comm] = 1;
            out->hit_comms++;
        }
    }
    for (uint32_t k = 0; k < phase->n_comms && out->n_named < FAB_HIT_COMMS; k++) {
        if (seen[k] != 0) {
            (void)fab_comm_name(traffic, phase, phase->first_comm + k, out->comms[out->n_named++]);
        }
    }
    out->has_hits = true;
    return FAB_OK;
}

/* One phase under one engine; what is too large to be solved is left open. */
static fab_status find_hits(void *context, size_t index, size_t worker, fab_error *err) {
    const comparison *c = context;
    fab_degraded_phase *out = &c->out->phases[index];
    const fab_phase *phase = &c->traffic->phases[index / c->out->n_engines];
    fab_evaluated found;
    if (!c->after.phases[index / c->out->n_engines].engines[index % c->out->n_engines].has_rates) {
        return FAB_OK;
    }
    FAB_OWNED_NEW(uint8_t, crosses, phase->n_flows, err);
    const fab_trace trace = {.n_groups = 1, .marked = c->weak.link, .crosses = crosses};
    const fab_case at = {.phase = index / c->out->n_engines, .engine = index % c->out->n_engines};
    const fab_needs needs = {.what = FAB_NEED_FIGURES | FAB_NEED_RATES, .trace = &trace};
    FAB_PASS(c->workers[worker] == NULL ? fab_workspace_new(c->context, &c->workers[worker], err) : FAB_OK);
    FAB_PASS(fab_evaluate(c->workers[worker], &at, &needs, &found, err));
    return count_hits(c->traffic, phase, crosses, out, err);
}

/* --- times -------------------------------------------------------------------------------------------------------- */

static void degraded_compare(const fab_result *before, comparison *c) {
    fab_degradation *out = c->out;
    for (size_t p = 0; p < out->n_phases; p++) {
        FAB_FORMAT(out->names[p], "%s", before->phases[p].name);
        for (size_t e = 0; e < out->n_engines; e++) {
            const fab_engine_result *a = &before->phases[p].engines[e];
            const fab_engine_result *b = &c->after.phases[p].engines[e];
            fab_degraded_phase *d = &out->phases[p * out->n_engines + e];
            FAB_FORMAT(out->labels[e], "%s", a->label);
            if (!a->has_time || !b->has_time) {
                continue;
            }
            *d = (fab_degraded_phase){.has_time = true, .before_s = a->time_s, .after_s = b->time_s};
            d->factor = a->time_s.mean > 0 ? b->time_s.mean / a->time_s.mean : 1;
            if (d->factor > out->phases[out->worst[e] * out->n_engines + e].factor) {
                out->worst[e] = p;
            }
        }
    }
}

/* Everybody waits for the slowest GPU, at every step that synchronises: all compute at its speed. */
static fab_status iterate(const fab_result *before, comparison *c, fab_error *err) {
    fab_compute_model slow = fab_compute_default;
    slow.matrix_ratio *= c->out->compute_ratio;
    slow.memory_ratio *= c->out->compute_ratio;
    if (before->n_iterations < c->out->n_engines || c->after.n_iterations < c->out->n_engines) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW(c->out->iterations, c->out->n_engines, err));
    for (size_t e = 0; e < c->out->n_engines; e++) {
        const fab_iteration *healthy = &before->iterations[e];
        fab_iteration after;
        FAB_PASS(fab_iterate_with(c->traffic, &c->after, e, NULL, &slow, healthy, &after, err));
        c->out->iterations[e] = (fab_degraded_iteration){healthy->at_means_s, after.time_s};
    }
    c->out->n_iterations = c->out->n_engines;
    return FAB_OK;
}

static double slowest_gpu(const comparison *c) {
    double least = 1;
    for (uint32_t gpu = 0; gpu < fab_n_gpus(c->what->fabric); gpu++) {
        bool works = c->traffic->rank_of_gpu == NULL || c->traffic->rank_of_gpu[gpu] != FAB_NONE;
        least = works ? fmin(least, c->weak.gpu_ratio[gpu]) : least;
    }
    return least;
}

FAB_FREES_WHOLE(fab_degradation_free, fab_degradation, parts, link_residual, names, labels, phases, worst, iterations);

static fab_status open_degradation(comparison *c, size_t n_phases, const fab_weak_part *parts, size_t n_parts,
                                   fab_error *err) {
    size_t n_engines = c->what->n_engines;
    FAB_PASS(FAB_NEW(c->out, 1, err));
    FAB_PASS(FAB_NEW(c->out->parts, n_parts, err));
    memcpy(c->out->parts, parts, n_parts * sizeof *parts);
    c->out->n_parts = n_parts;
    FAB_PASS(FAB_NEW(c->out->names, n_phases, err));
    FAB_PASS(FAB_NEW_ALL(n_engines, err, c->out->labels, c->out->worst));
    FAB_PASS(FAB_NEW(c->out->phases, n_phases * n_engines, err));
    c->out->n_seeds = c->base->n_seeds;
    c->out->n_phases = n_phases;
    c->out->n_engines = n_engines;
    return FAB_OK;
}

fab_status fab_degraded_run(const fab_replay *base, const fab_result *before, const fab_weak_part *parts,
                            size_t n_parts, fab_degradation **out, fab_error *err) {
    fab_status status = FAB_OK;
    comparison c = {.base = base, .what = fab_context_what(base->context)};
    const fab_fabric *healthy = c.what->fabric;
    FAB_TRY(fab_fabric_degrade(healthy, parts, n_parts, &c.weak, err));
    FAB_TRY(open_degradation(&c, before->n_phases, parts, n_parts, err));
    c.out->n_cables = c.weak.n_cables;
    FAB_TRY(FAB_NEW(c.out->link_residual, healthy->n_links, err));
    for (uint32_t l = 0; l < healthy->n_links; l++) {
        double healthy_bps = fab_class_of(healthy, l)->capacity_bps;
        c.out->link_residual[l] = healthy_bps > 0 ? fab_class_of(c.weak.fabric, l)->capacity_bps / healthy_bps : 1;
    }
    const fab_context_request request = {.base = base->context, .fabric = c.weak.fabric};
    FAB_TRY(fab_context_new(&request, &c.context, err));
    fab_replay replay = fab_replay_for_times(base);
    replay.context = c.context;
    c.after = (fab_result){.command = before->command, .fabrics = before->fabrics, .n_fabrics = before->n_fabrics};
    FAB_TRY(fab_replay_run(&replay, &c.after, err));
    FAB_TRY(fab_context_traffic(base->context, &c.traffic, err));
    degraded_compare(before, &c);
    c.out->compute_ratio = slowest_gpu(&c);
    FAB_TRY(iterate(before, &c, err));
    FAB_TRY(fab_allocate(base->n_threads, sizeof(fab_workspace *), &c.workers, err));
    FAB_TRY(fab_parallel_for(c.out->n_phases * c.out->n_engines, base->n_threads, find_hits, &c, err));
    *out = c.out;
    c.out = NULL;
done:
    fab_degradation_free(c.out);
    FAB_FREE_EACH(fab_workspace_free, c.workers, base->n_threads);
    free(c.workers);
    c.after.fabrics = NULL; /* borrowed */
    fab_result_release(&c.after);
    fab_context_free(c.context);
    fab_weak_fabric_release(&c.weak);
    return status;
}
