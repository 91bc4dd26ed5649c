#include "oracle_summary.h"

#include <math.h>
#include <string.h>

double oracle_impact(const oracle_study *s, const fab_outcome *row) {
    bool stops = row->state == FAB_OUTCOME_STOPPED;
    if (fab_scenarios_span_s(s->scenarios) > 0) {
        return 1 - row->goodput;
    }
    if (stops) {
        return 1;
    }
    return s->has_times ? 1 - 1 / row->slowdown : 1 - fmax(1, s->healthy->worst_ratio) / fmax(1, row->worst_ratio);
}

double oracle_quantile(const double *values, size_t n, double q, bool falling) {
    double best = NAN;
    for (size_t i = 0; i < n; i++) {
        size_t within = 0;
        for (size_t j = 0; j < n; j++) {
            within += falling ? values[j] >= values[i] : values[j] <= values[i];
        }
        bool enough = (double)within >= q * (double)n - 1e-9;
        if (enough && (isnan(best) || (falling ? values[i] > best : values[i] < best))) {
            best = values[i];
        }
    }
    return best;
}

/* Whether a scenario names the component; either end of a cable is the cable. */
static bool has(const oracle_study *s, const fab_scenario *scenario, const char *name) {
    bool is_history = fab_scenarios_span_s(s->scenarios) > 0;
    size_t n = is_history ? scenario->n_events : scenario->n_components;
    for (size_t i = 0; i < n; i++) {
        char other[FAB_COMPONENT_NAME_SIZE];
        fab_component c = is_history ? scenario->event[i].component : scenario->component[i];
        bool counts =
            !is_history || (!scenario->event[i].is_repair && scenario->event[i].failure != FAB_FAILURE_SOFTWARE);
        if (c.kind == FAB_COMPONENT_LINK && c.id % 2 == 1) {
            c.id--;
        }
        if (counts && strcmp(fab_component_name(s->fabric, &c, other), name) == 0) {
            return true;
        }
    }
    return false;
}

oracle_component oracle_component_of(const oracle_study *s, const char *name) {
    oracle_component out = {0, 0, 0, 0, NAN};
    size_t n_times = 0;
    for (size_t i = 0; i < s->n; i++) {
        const fab_outcome *row = &s->rows[i];
        bool stops = row->state == FAB_OUTCOME_STOPPED;
        if (!has(s, &s->drawn[i], name)) {
            continue;
        }
        out.n_scenarios++;
        out.n_stopped += stops;
        out.impact += oracle_impact(s, row);
        if (!stops && s->has_times) {
            out.mean_slowdown += row->slowdown;
            n_times++;
        }
        if (!stops) {
            out.worst_ratio = fmax(out.worst_ratio, row->worst_ratio); /* fmax passes over NAN */
        }
    }
    out.impact = out.n_scenarios > 0 ? out.impact / (double)out.n_scenarios : NAN;
    out.mean_slowdown = n_times > 0 ? out.mean_slowdown / (double)n_times : NAN;
    return out;
}
