/* From phases whose paths or links have changed to the time of an iteration. */
#include "assess_internal.h"

#include "fab/iterate.h"
#include "fab/memory.h"

#include <math.h>
#include <stdlib.h>

/* A phase between the GPUs where its ranks are. */
typedef struct moved_phase {
    fab_phase phase; /* its lists are owned, but for ordinals */
    fab_offer offer;
} moved_phase;

static void moved_phase_release(moved_phase *m) {
    free(m->phase.src);
    free(m->phase.dst);
    free(m->phase.bytes);
    free(m->phase.comm);
    fab_offer_release(&m->offer);
}

static fab_status moved_phase_init(const fab_damage *d, const fab_phase *whole, const fab_relocation *to,
                                   moved_phase *out, fab_error *err) {
    fab_status status = FAB_OK;
    moved_phase m = {.phase = *whole};
    size_t n = (size_t)whole->n_flows;
    m.phase.all = (fab_all_to_all){0};
    m.phase.src = m.phase.dst = m.phase.comm = NULL;
    m.phase.bytes = NULL;
    FAB_TRY(FAB_NEW(m.phase.src, n, err));
    FAB_TRY(FAB_NEW(m.phase.dst, n, err));
    FAB_TRY(FAB_NEW(m.phase.comm, n, err));
    FAB_TRY(FAB_NEW(m.phase.bytes, n, err));
    for (size_t i = 0; i < n; i++) {
        fab_flow flow = fab_phase_flow(whole, i);
        m.phase.src[i] = to->new_gpu[flow.src];
        m.phase.dst[i] = to->new_gpu[flow.dst];
        m.phase.comm[i] = flow.comm;
        m.phase.bytes[i] = flow.bytes;
    }
    FAB_TRY(fab_offer_init(d->request.fabric, &d->ports, &m.phase, &m.offer, err));
    *out = m;
    m = (moved_phase){.phase = {.n_flows = 0}};
done:
    moved_phase_release(&m);
    return status;
}

/* Of an engine that splits. */
static fab_status split_seconds(const fab_assessor *a, size_t engine, size_t phase, const fab_relocation *to,
                                fab_phase_seconds *out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_damage *d = a->damage;
    moved_phase moved = {.phase = {.n_flows = 0}};
    fab_split_seconds_request request = {
        .fabric = d->request.fabric,
        .router = d->routers[engine],
        .mask = &a->mask,
        .traffic = &d->traffic,
        .phase = &d->traffic.phases[phase],
        .offer = &d->offers[phase],
    };
    if (to != NULL) {
        FAB_TRY(moved_phase_init(d, request.phase, to, &moved, err));
        request.phase = &moved.phase;
        request.offer = &moved.offer;
    }
    FAB_TRY(fab_split_seconds(&request, out, err));
done:
    moved_phase_release(&moved);
    return status;
}

static fab_status phase_seconds(fab_assessor *a, size_t engine, size_t phase, const fab_relocation *to,
                                fab_phase_seconds *out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_damage *d = a->damage;
    if (fab_router_splits(d->routers[engine])) {
        FAB_TRY(split_seconds(a, engine, phase, to, out, err));
    } else {
        fab_clock_reader *reader = a->parts[damage_at(d, engine, phase)].reader;
        FAB_TRY(fab_clock_read(reader, &a->mask, &a->now[phase], to != NULL, out, err));
    }
    if (isnan(out->transfer_s)) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "phase %s is too large for its time to be computed",
                 d->traffic.phases[phase].name);
    }
    a->n_simulated += out->is_simulated;
done:
    return status;
}

fab_status assess_time(fab_assessor *a, size_t engine, const fab_relocation *to, double compute_ratio, double *out_s,
                       fab_error *err) {
    fab_status status = FAB_OK;
    const fab_damage *d = a->damage;
    fab_job_times times = {.tp = {.transfer_s = 0}};
    fab_compute_model slow = fab_compute_default;
    fab_iteration iteration;
    double sum_s = 0;
    for (size_t p = 0; p < d->n_phases; p++) {
        fab_phase_seconds seconds = {0};
        if (d->is_timed[p]) {
            FAB_TRY(phase_seconds(a, engine, p, to, &seconds, err));
            sum_s += seconds.transfer_s + seconds.latency_s;
            (void)fab_iterate_add(d->traffic.phases[p].name, seconds.transfer_s, seconds.latency_s, seconds.in_network,
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
