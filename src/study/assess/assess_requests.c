/* How long those wait who wait for an exchange: flow by flow, in a state. */
#include "assess_internal.h"

#define MOST_FLOWS (UINT64_C(1) << 22) /* of a phase that is followed flow by flow */

bool assess_has_requests(const fab_assessment *d, size_t phase) {
    const fab_phase *p = &d->traffic->phases[phase];
    const bool answers = d->traffic->has_job && d->traffic->job.kind == FAB_JOB_SERVING;
    return d->in_network[phase] && p->n_flows <= MOST_FLOWS && (answers || strcmp(p->collective, "all-to-all") == 0);
}

/* Steps that depend on each other end together, for all of a communicator; else a GPU has what is sent to it. */
static uint32_t request_of(const fab_phase *p, uint64_t flow, uint32_t n_gpus) {
    const fab_flow f = fab_phase_flow(p, flow);
    return p->steps > 1 ? n_gpus + f.comm - p->first_comm : f.dst;
}

static fab_request_times times_of(const fab_phase *p, const fab_phase_seconds *s, double *last_s, size_t n) {
    static const double QUANTILES[] = {0.5, 0.99, 1};
    const double times = p->executions > 0 ? (double)p->executions : 1;
    double at[3] = {NAN, NAN, NAN};
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (last_s[i] >= 0) {
            last_s[kept++] = (last_s[i] + s->latency_s) / times;
        }
    }
    if (kept > 0) {
        fab_quantiles(last_s, kept, false, QUANTILES, 3, at);
    }
    return (fab_request_times){.n = kept, .p50_s = at[0], .p99_s = at[1], .max_s = at[2]};
}

fab_status assess_requests(fab_assessor *a, size_t engine, size_t phase, const fab_relocation *to,
                           fab_request_times *out, fab_error *err) {
    const fab_assessment *d = a->assessment;
    const fab_phase *p = &d->traffic->phases[phase];
    const uint32_t n_gpus = fab_n_gpus(d->fabric);
    const size_t n = (size_t)n_gpus + p->n_comms;
    fab_evaluated found;
    FAB_OWNED_NEW(double, ends_s, p->n_flows, err);
    FAB_OWNED_NEW(double, last_s, n, err);
    FAB_PASS(assess_evaluate_ends(a, engine, phase, to, ends_s, &found, err));
    FAB_FILL(last_s, n, -1);
    for (uint64_t i = 0; i < p->n_flows; i++) {
        const uint32_t at = request_of(p, i, n_gpus);
        last_s[at] = fmax(last_s[at], ends_s[i]);
        if (isnan(ends_s[i])) { /* too large to be followed */
            *out = (fab_request_times){.n = 0};
            return FAB_OK;
        }
    }
    *out = times_of(p, &found.time, last_s, n);
    return FAB_OK;
}
