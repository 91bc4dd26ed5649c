/* From phases whose paths or links have changed to the time of an iteration. */
#include "assess_internal.h"

#include "fab/design.h"
#include "fab/iterate.h"

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
        FAB_PASS(fab_iterate_times(d->traffic, &times, &slow, d->what->design->fabric.max_bytes, &sum_s, err));
    }
    *out_s = sum_s;
    return FAB_OK;
}
