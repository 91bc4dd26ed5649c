#include "fab/algorithms.h"

size_t fab_algorithm_runs(const fab_result *result, fab_algorithm_run *out) {
    size_t n = 0;
    for (size_t i = 0; i < result->n_phases; i++) {
        const fab_phase_result *p = &result->phases[i];
        bool is_next = i > 0 && p->run == result->phases[i - 1].run;
        if (!p->alternative || (!is_next && n == FAB_MAX_ALGORITHMS)) {
            return 0;
        }
        if (!is_next) {
            out[n++] = (fab_algorithm_run){.name = p->algorithm, .first = i};
        }
        out[n - 1].n++;
    }
    return n;
}

fab_algorithm_time fab_algorithm_time_of(const fab_result *result, const fab_algorithm_run *run, size_t e) {
    fab_algorithm_time out = {.has_time = true, .least_factor = INFINITY};
    for (size_t i = run->first; i < run->first + run->n; i++) {
        const fab_phase_result *p = &result->phases[i];
        const fab_engine_result *r = &p->engines[e];
        out.has_time = out.has_time && r->has_time;
        out.time_s += r->time_s.mean;
        out.fullest_s += r->busiest_link_s.mean;
        out.latency_s += r->latency_s;
        out.host_s += r->host_s;
        if (r->lower_bound_ratio.mean > 1) {
            out.routing_s += r->transfer_s.mean * (1 - 1 / r->lower_bound_ratio.mean);
        }
        if (p->fabric_flows > 0) {
            out.least_factor = fmin(out.least_factor, r->max_collision_factor.mean);
            out.most_factor = fmax(out.most_factor, r->max_collision_factor.mean);
        }
    }
    out.least_factor = fmin(out.least_factor, out.most_factor);
    return out;
}
