/* From phases whose paths or links have changed to the time of an iteration. */
#include "assess_internal.h"

#include "fab/design.h"
#include "fab/iterate.h"
#include "fab/memory.h"

#include <stdlib.h>
#include <string.h>

fab_status assess_time(fab_assessor *a, size_t engine, const fab_relocation *to, double compute_ratio, double *out_s,
                       fab_error *err) {
    const fab_assessment *d = a->assessment;
    fab_job_times times = {.tp = {.transfer_s = 0}};
    fab_compute_model slow = fab_compute_default;
    double sum_s = 0;
    for (size_t p = 0; p < d->n_phases; p++) {
        if (d->is_timed[p]) {
            fab_evaluated found;
            FAB_PASS(assess_evaluate(a, engine, p, to, FAB_NEED_TIME, &found, err));
            const fab_phase_seconds seconds = found.time;
            sum_s += seconds.transfer_s + seconds.latency_s;
            (void)fab_iterate_add(d->traffic->phases[p].name, seconds.transfer_s, seconds.latency_s, seconds.in_network,
                                  &times);
        }
    }
    if (d->iterates) {
        slow.matrix_ratio *= compute_ratio;
        slow.memory_ratio *= compute_ratio;
        times.shared = d->shared[engine];
        FAB_PASS(fab_iterate_times(d->traffic, &times, &slow, d->chosen != NULL ? &d->chosen[engine] : NULL,
                                   d->what->design->fabric.max_bytes, &a->iteration, err));
        sum_s = a->iteration.time_s;
    }
    *out_s = sum_s;
    return FAB_OK;
}

fab_status assess_choose(fab_assessment *d, fab_error *err) {
    fab_status status = FAB_OK;
    fab_assessor *healthy = NULL;
    fab_iteration *chosen = NULL;
    double time_s = 0;
    if (!d->iterates || !(d->traffic->job.microbatch_auto || d->traffic->job.interleave_auto)) {
        return FAB_OK;
    }
    FAB_TRY(FAB_NEW(chosen, d->what->n_engines, err));
    FAB_TRY(fab_assessor_new(d, &healthy, err));
    for (size_t e = 0; e < d->what->n_engines; e++) {
        FAB_TRY(assess_time(healthy, e, NULL, 1, &time_s, err));
        chosen[e] = healthy->iteration;
    }
    d->chosen = chosen;
    chosen = NULL;
done:
    fab_assessor_free(healthy);
    free(chosen);
    return status;
}

bool assessment_shares(const fab_assessment *d) {
    return d->iterates && d->traffic->job.pp > 1 && d->traffic->job.dp > 1;
}

/* Bytes and time of the phases that share the network, as `phases` and `transfer_s`: shape [n_phases], one engine. */
static fab_status measure_shared(const fab_assessment *d, size_t engine, fab_workspace *workspace,
                                 fab_phase_result *phases, double *transfer_s, fab_error *err) {
    for (size_t p = 0; p < d->n_phases; p++) {
        fab_engine_result *out = phases[p].engines;
        const fab_case at = {.phase = p, .engine = engine};
        const fab_needs needs = {.what = FAB_NEED_FIGURES | FAB_NEED_RATES};
        fab_evaluated found;
        (void)snprintf(phases[p].name, sizeof phases[p].name, "%s", d->traffic->phases[p].name);
        if (fab_iterate_is_shared(phases[p].name)) {
            FAB_PASS(fab_evaluate(workspace, &at, &needs, &found, err));
            FAB_PASS(out->load_bytes == NULL ? FAB_NEW(out->load_bytes, d->fabric->n_links, err) : FAB_OK);
            memcpy(out->load_bytes, found.bytes, d->fabric->n_links * sizeof *out->load_bytes);
            transfer_s[p] = found.figures.transfer_s;
        }
    }
    return FAB_OK;
}

fab_status assess_share(fab_assessment *d, fab_error *err) {
    fab_status status = FAB_OK;
    fab_workspace *workspace = NULL;
    fab_phase_result *phases = NULL;
    fab_engine_result *of_engine = NULL;
    double *transfer_s = NULL;
    FAB_TRY(FAB_NEW(d->shared, d->what->n_engines, err));
    if (!assessment_shares(d)) {
        return FAB_OK;
    }
    FAB_TRY(FAB_NEW(phases, d->n_phases, err));
    FAB_TRY(FAB_NEW(of_engine, d->n_phases, err));
    FAB_TRY(FAB_NEW(transfer_s, d->n_phases, err));
    for (size_t p = 0; p < d->n_phases; p++) {
        phases[p].engines = &of_engine[p];
    }
    FAB_TRY(fab_workspace_new(d->request.context, &workspace, err));
    for (size_t e = 0; e < d->what->n_engines; e++) {
        FAB_TRY(measure_shared(d, e, workspace, phases, transfer_s, err));
        FAB_TRY(fab_iterate_slowdown(d->fabric, phases, d->n_phases, 0, transfer_s, &d->shared[e], err));
    }
done:
    for (size_t p = 0; of_engine != NULL && p < d->n_phases; p++) {
        free(of_engine[p].load_bytes);
    }
    FAB_FREE_ALL(phases, of_engine, transfer_s);
    fab_workspace_free(workspace);
    return status;
}
