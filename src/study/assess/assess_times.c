/* From phases whose paths or links have changed to the time of an iteration. */
#include "assess_internal.h"

#include "fab/design.h"
#include "fab/iterate.h"

/* The schedule is that of the phases' times, which many states leave alone. */
static fab_status assess_iterate(fab_assessor *a, size_t engine, fab_job_times *times, double compute_ratio,
                                 double *out_s, fab_error *err) {
    const fab_assessment *d = a->assessment;
    const fab_iteration *chosen = d->chosen != NULL ? &d->chosen[engine] : NULL;
    const uint64_t n_out = a->history != NULL ? a->history->n_out : 0;
    fab_compute_model slow = fab_compute_default;
    assess_memo *memo = a->forgets || a->history == NULL ? NULL : d->times;
    FAB_PASS(assess_key_add(&a->times_key, engine, err));
    FAB_PASS(assess_key_add(&a->times_key, n_out, err));
    FAB_PASS(assess_key_add_double(&a->times_key, compute_ratio, err));
    if (assess_memo_get(memo, &a->times_key, out_s)) {
        return FAB_OK;
    }
    slow.matrix_ratio *= compute_ratio;
    slow.memory_ratio *= compute_ratio;
    times->paces = d->paces != NULL ? &d->paces[engine] : NULL;
    FAB_PASS(n_out > 0 ? assess_shrink_iterate(a, times, &slow, chosen, n_out, &a->iteration, err)
                       : fab_iterate_times(d->traffic, times, &slow, chosen, d->what->design->fabric.max_bytes,
                                           &a->iteration, err));
    *out_s = a->iteration.time_s;
    return assess_memo_put(memo, &a->times_key, out_s, err);
}

/* What is added up over the phases. */
typedef struct time_sum {
    fab_job_times times;
    double sum_s;
} time_sum;

static fab_status add_phase(fab_assessor *a, size_t p, const fab_phase_seconds *seconds, time_sum *sum,
                            fab_error *err) {
    a->phase_s[p] = seconds->transfer_s + seconds->latency_s;
    sum->sum_s += a->phase_s[p];
    FAB_PASS(assess_key_add_double(&a->times_key, seconds->transfer_s, err));
    FAB_PASS(
        assess_key_add_double(&a->times_key, seconds->in_network ? seconds->latency_s : -1 - seconds->latency_s, err));
    (void)fab_iterate_add(a->assessment->traffic->phases[p].name, seconds->transfer_s, seconds->latency_s,
                          seconds->in_network, &sum->times);
    return FAB_OK;
}

static fab_status end_sum(fab_assessor *a, size_t engine, double compute_ratio, time_sum *sum, double *out_s,
                          fab_error *err) {
    if (a->assessment->iterates) {
        FAB_PASS(assess_iterate(a, engine, &sum->times, compute_ratio, &sum->sum_s, err));
    }
    *out_s = sum->sum_s;
    return FAB_OK;
}

fab_status assess_time(fab_assessor *a, size_t engine, const fab_relocation *to, double compute_ratio, double *out_s,
                       fab_error *err) {
    const fab_assessment *d = a->assessment;
    time_sum sum = {.sum_s = 0};
    a->times_key.n = 0;
    for (size_t p = 0; p < d->n_phases; p++) {
        if (d->is_timed[p] && d->request.p99) {
            const uint64_t executions = d->traffic->phases[p].executions;
            fab_request_times requests;
            FAB_PASS(assess_requests(a, engine, p, to, &requests, err));
            sum.sum_s += requests.p99_s * (executions > 0 ? (double)executions : 1);
        } else if (d->is_timed[p]) {
            fab_evaluated found;
            FAB_PASS(assess_evaluate(a, engine, p, to, FAB_NEED_TIME, &found, err));
            FAB_PASS(add_phase(a, p, &found.time, &sum, err));
        }
    }
    return end_sum(a, engine, compute_ratio, &sum, out_s, err);
}

fab_status assess_time_incremental(fab_assessor *a, size_t engine, const fab_relocation *to, double compute_ratio,
                                   double *out_s, fab_known *out_answer, fab_error *err) {
    const fab_assessment *d = a->assessment;
    time_sum sum = {.sum_s = 0};
    const fab_state state = assess_state_of(a, to);
    bool is_known = d->times_are_all && to != NULL && (!a->forgets || state.is_out != NULL);
    a->times_key.n = 0;
    *out_answer = FAB_KNOWN_NOTHING;
    for (size_t p = 0; p < d->n_phases && is_known; p++) {
        const fab_case at = {.phase = p, .engine = engine, .state = &state};
        fab_phase_seconds seconds;
        FAB_PASS(fab_evaluate_incremental(a->workspace, &at, &seconds, out_answer, err));
        is_known = *out_answer == FAB_KNOWN_TIME;
        FAB_PASS(is_known ? add_phase(a, p, &seconds, &sum, err) : FAB_OK);
    }
    return is_known ? end_sum(a, engine, compute_ratio, &sum, out_s, err) : FAB_OK;
}

fab_status assess_choose(fab_assessment *d, fab_error *err) {
    FAB_OWNS(fab_assessor_free_owned) fab_assessor *healthy = NULL;
    double time_s = 0;
    if (!d->iterates || !(d->traffic->job.microbatch_auto || d->traffic->job.interleave_auto)) {
        return FAB_OK;
    }
    FAB_OWNED_NEW(fab_iteration, chosen, d->what->n_engines, err);
    FAB_PASS(fab_assessor_new(d, &healthy, err));
    for (size_t e = 0; e < d->what->n_engines; e++) {
        FAB_PASS(assess_time(healthy, e, NULL, 1, &time_s, err));
        chosen[e] = healthy->iteration;
    }
    return FAB_GIVE(d->chosen, chosen);
}

fab_status assess_share(fab_assessment *d, fab_error *err) {
    const fab_needs needs = {.what = FAB_NEED_FIGURES | FAB_NEED_RATES};
    const size_t n_links = d->fabric->n_links;
    FAB_OWNS(fab_workspace_free_owned) fab_workspace *workspace = NULL;
    FAB_OWNED const double **bytes = NULL;
    if (!d->iterates || !fab_iterate_shares(d->traffic)) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW(d->paces, d->what->n_engines, err));
    FAB_OWNED_NEW(double, all_bytes, d->n_phases *n_links, err);
    FAB_PASS(fab_allocate(d->n_phases, sizeof(const double *), &bytes, err));
    FAB_OWNED_NEW(double, transfer_s, d->n_phases, err);
    FAB_PASS(fab_workspace_new(d->request.context, &workspace, err));
    for (size_t e = 0; e < d->what->n_engines; e++) {
        for (size_t p = 0; p < d->n_phases; p++) {
            const fab_case at = {.phase = p, .engine = e};
            fab_evaluated found;
            if (fab_iterate_is_shared(d->traffic->phases[p].name)) {
                FAB_PASS(fab_evaluate(workspace, &at, &needs, &found, err));
                bytes[p] = memcpy(&all_bytes[p * n_links], found.bytes, n_links * sizeof *all_bytes);
                transfer_s[p] = found.figures.transfer_s;
            }
        }
        FAB_PASS(fab_iterate_paces(d->fabric, d->traffic, bytes, transfer_s, &d->paces[e], err));
    }
    return FAB_OK;
}
