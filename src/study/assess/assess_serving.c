/* Serving: replicas are independent of each other. One that has lost a rank is out with the replicas that it shares
 * experts with; the others go on with their part of the requests. */
#include "assess_internal.h"

#include "fab/stages.h"

bool assess_is_serving(const fab_traffic *t) {
    return t->has_job && t->job.kind == FAB_JOB_SERVING && t->job.tp * t->job.cp * t->job.pp * t->job.dp == t->n_ranks;
}

bool fab_assess_serves(const fab_traffic *t, const fab_fabric *f) {
    return assess_is_serving(t) && !(f->forwards_in_domain && f->gpus_per_domain > f->gpus_per_server);
}

/* Replicas that share experts go together. */
static void spread_over_experts(const fab_job_spec *job, uint8_t *is_out) {
    for (uint64_t first = 0; first < job->dp && job->ep > 1; first += job->ep) {
        const size_t n = job->dp - first < job->ep ? job->dp - first : job->ep;
        if (memchr(is_out + first, 1, n) != NULL) {
            memset(is_out + first, 1, n);
        }
    }
}

/* Of the replicas that read and of those that generate, which are the same without pools. */
static void count_left(const fab_job_spec *job, const uint8_t *is_out, assess_serving *out) {
    const uint64_t first = job->prefill_replicas; /* of those that generate */
    out->readers = out->generators = 0;
    for (uint64_t i = 0; i < job->dp; i++) {
        out->readers += is_out[i] == 0 && (first == 0 || i < first);
        out->generators += is_out[i] == 0 && i >= first;
    }
}

void assess_serving_find(const fab_assessor *a, const fab_relocation *to, uint8_t *is_out, assess_serving *out) {
    const fab_job_spec *job = &a->assessment->traffic->job;
    uint64_t n_out = 0;
    assess_shrink_find(a, to, is_out, &n_out);
    spread_over_experts(job, is_out);
    count_left(job, is_out, out);
    out->n_out = 0;
    for (uint64_t i = 0; i < job->dp; i++) {
        out->n_out += is_out[i];
    }
}

double assess_serving_part(const fab_assessment *d, const uint8_t *is_out) {
    const fab_job_spec *job = &d->traffic->job;
    assess_serving left;
    count_left(job, is_out, &left);
    return fmin((double)left.readers / (double)fab_serving_replicas(job, false),
                (double)left.generators / (double)fab_serving_replicas(job, true));
}

double assess_serving_hit(const fab_assessment *d, bool is_software) {
    const fab_job_spec *job = &d->traffic->job;
    const double of_server = (double)d->fabric->gpus_per_server * (double)job->dp / (double)d->traffic->n_ranks;
    return fmax(is_software ? 1 : ceil(of_server), (double)(job->ep > 1 ? job->ep : 1));
}

/* Flows between replicas that are left. Keys and values of a prompt go to fewer of them, which get more each. */
static fab_status leave_flows(const fab_traffic *t, const uint8_t *is_out, uint64_t generators, fab_phase *phase,
                              fab_error *err) {
    const fab_phase whole = *phase;
    const size_t n = (size_t)whole.n_flows;
    const bool is_shared = strcmp(whole.name, "kv-transfer") == 0;
    const double part = (double)fab_serving_replicas(&t->job, true) / (double)generators;
    phase->all = (fab_all_to_all){0};
    phase->src = phase->dst = phase->comm = phase->ordinal = NULL;
    phase->bytes = NULL;
    phase->n_flows = phase->total_bytes = 0;
    FAB_PASS(FAB_NEW_ALL(n, err, phase->src, phase->dst, phase->comm, phase->ordinal, phase->bytes));
    for (size_t i = 0; i < n; i++) {
        const fab_flow flow = fab_phase_flow(&whole, i);
        const uint64_t to = phase->n_flows;
        if (is_out[assess_shrink_replica(t, flow.src)] == 0 && is_out[assess_shrink_replica(t, flow.dst)] == 0) {
            phase->src[to] = flow.src;
            phase->dst[to] = flow.dst;
            phase->comm[to] = flow.comm;
            phase->ordinal[to] = flow.ordinal;
            phase->bytes[to] = is_shared ? (uint64_t)((double)flow.bytes * part + 0.5) : flow.bytes;
            phase->total_bytes += phase->bytes[to];
            phase->n_flows++;
        }
    }
    return FAB_OK;
}

fab_status assess_serving_leave(const fab_traffic *t, const uint8_t *is_out, uint64_t generators, fab_traffic *out,
                                fab_error *err) {
    *out = *t;
    out->phases = NULL;
    out->n_phases = 0;
    FAB_PASS(FAB_NEW(out->phases, t->n_phases, err));
    for (; out->n_phases < t->n_phases; out->n_phases++) {
        out->phases[out->n_phases] = t->phases[out->n_phases];
        fab_status status = leave_flows(t, is_out, generators, &out->phases[out->n_phases], err);
        if (status != FAB_OK) {
            out->n_phases++;
            return status;
        }
    }
    return FAB_OK;
}

void assess_serving_release(fab_traffic *left) {
    FAB_EACH(const fab_phase, phase, left->phases, left->n_phases) {
        FAB_FREE_ALL(phase->src, phase->dst, phase->comm, phase->ordinal, phase->bytes);
    }
    free(left->phases);
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

/* By how much phases take longer than where nothing has failed; false: not known. */
static bool find_slower(const fab_failures *f, size_t engine, const fab_failed_state *state, double *out) {
    const fab_failed_state *healthy = &f->engines[engine].healthy;
    bool is_known = isfinite(state->time_s) && isfinite(healthy->time_s);
    for (size_t p = 0; p < f->n_phases && is_known; p++) {
        out[p] = healthy->phases[p].time_s > 0 ? state->phases[p].time_s / healthy->phases[p].time_s : 1;
        is_known = isfinite(out[p]);
    }
    return is_known;
}

static fab_status serve_policy(const fab_traffic *t, const fab_result *result, const fab_failures *f, size_t engine,
                               const fab_failed_state *state, double *slower, fab_failed_serving *out, fab_error *err) {
    const fab_serving *whole = &result->serving[engine];
    fab_serving_left left = {.readers = out->n_reading, .generators = out->n_left - out->n_reading, .slower = slower};
    fab_serving served;
    out->arrivals_per_s = whole->arrivals_per_s > 0 ? whole->arrivals_per_s : t->job.request_rate;
    left.arrivals_per_s = out->arrivals_per_s;
    if (left.generators == 0 || (t->job.prefill_replicas > 0 && left.readers == 0)) {
        out->most_requests_per_s = 0;
    } else if (f->n_phases == result->n_phases && find_slower(f, engine, state, slower)) {
        FAB_PASS(fab_serve_left(t, result, engine, &left, &served, err));
        out->most_requests_per_s = served.most_requests_per_s;
        out->first_token_s[0] = served.arrivals_per_s > 0 ? served.first_token_p50_s : (double)NAN;
        out->first_token_s[1] = served.arrivals_per_s > 0 ? served.first_token_p99_s : (double)NAN;
    }
    return FAB_OK;
}

fab_status fab_failures_serve(const fab_traffic *traffic, const fab_result *result, fab_failures *f, fab_error *err) {
    FAB_OWNED_NEW(double, slower, result->n_phases, err);
    for (size_t e = 0; e < f->n_engines && result->n_serving == f->n_engines; e++) {
        for (size_t i = 0; i < f->n_policies && f->engines[e].note[0] == '\0'; i++) {
            fab_failed_policy *policy = &f->engines[e].policies[i];
            FAB_PASS(serve_policy(traffic, result, f, e, &policy->state, slower, &policy->serving, err));
        }
    }
    return FAB_OK;
}
