/* From phases whose paths or links have changed to the time of an iteration. */
#include "assess_internal.h"

#include "fab/iterate.h"

#include <math.h>

static fab_status phase_seconds(fab_assessor *a, size_t engine, size_t phase, fab_phase_seconds *out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_damage *d = a->damage;
    size_t at = damage_at(d, engine, phase);
    if (d->routers[engine].splits) {
        const fab_split_seconds_request request = {
            .fabric = d->request.fabric,
            .router = &d->routers[engine],
            .mask = &a->mask,
            .traffic = &d->traffic,
            .phase = &d->traffic.phases[phase],
            .offer = &d->offers[phase],
        };
        FAB_TRY(fab_split_seconds(&request, out, err));
    } else {
        FAB_TRY(fab_clock_read(a->readers[at], &a->mask, &a->now[phase], false, out, err));
    }
    if (isnan(out->transfer_s)) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "phase %s is too large for its time to be computed",
                 d->traffic.phases[phase].name);
    }
    a->n_simulated += out->is_simulated;
done:
    return status;
}

fab_status assess_time(fab_assessor *a, size_t engine, double compute_ratio, double *out_s, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_damage *d = a->damage;
    fab_job_times times = {.tp = {.transfer_s = 0}};
    fab_compute_model slow = fab_compute_default;
    fab_iteration iteration;
    double sum_s = 0;
    for (size_t p = 0; p < d->n_phases; p++) {
        fab_phase_seconds seconds = {0};
        if (d->is_timed[p]) {
            FAB_TRY(phase_seconds(a, engine, p, &seconds, err));
            sum_s += seconds.transfer_s + seconds.latency_s;
            (void)fab_iterate_add(d->traffic.phases[p].name, seconds.transfer_s, seconds.latency_s, d->in_network[p],
                                  &times);
        }
    }
    if (d->iterates) {
        slow.matrix_ratio *= compute_ratio;
        slow.memory_ratio *= compute_ratio;
        FAB_TRY(fab_iterate_times(&d->traffic, &times, &slow, 0, &iteration, err));
        sum_s = iteration.time_s;
    }
    *out_s = sum_s;
done:
    return status;
}
