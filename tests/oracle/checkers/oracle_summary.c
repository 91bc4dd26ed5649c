#include "oracle_summary.h"

#include "fab/analysis.h"

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
            !is_history || (!scenario->event[i].is_repair && scenario->event[i].failure != FAB_FAILURE_SOFTWARE &&
                            scenario->event[i].failure != FAB_FAILURE_MAINTENANCE);
        if (c.kind == FAB_COMPONENT_LINK && c.id % 2 == 1) {
            c.id--;
        }
        if (counts && strcmp(fab_component_name(s->fabric, &c, other), name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_same(fab_component a, fab_component b) {
    uint32_t mask = a.kind == FAB_COMPONENT_LINK ? ~1U : ~0U;
    return a.kind == b.kind && (a.id & mask) == (b.id & mask) && a.fraction == b.fraction;
}

void oracle_find_ceilings(const oracle_study *s, double *out) {
    for (size_t i = 0; i < s->n; i++) {
        for (size_t k = 0; k < s->drawn[i].n_components && k < ORACLE_SET; k++) {
            static double impacts[4096];
            size_t n = 0;
            for (size_t j = 0; j < s->n; j++) {
                bool fails = false;
                for (size_t m = 0; m < s->drawn[j].n_components; m++) {
                    fails = fails || is_same(s->drawn[i].component[k], s->drawn[j].component[m]);
                }
                if (fails && !isnan(oracle_impact(s, &s->rows[j]))) {
                    impacts[n++] = fmax(0, oracle_impact(s, &s->rows[j]));
                }
            }
            double *ceiling = &out[i * ORACLE_SET + k];
            *ceiling = 1;
            for (size_t a = 0; a < n; a++) { /* the one that a tenth of them is below */
                size_t n_below = 0;
                size_t n_equal = 0;
                for (size_t b = 0; b < n; b++) {
                    n_below += impacts[b] < impacts[a];
                    n_equal += impacts[b] == impacts[a];
                }
                *ceiling = n_below <= n / 10 && n / 10 < n_below + n_equal ? impacts[a] : *ceiling;
            }
        }
    }
}

/* What the parts of set i may cost together, each once, without those of the name. */
static double others_cost(const oracle_study *s, size_t i, const char *name) {
    double left = 1;
    const fab_scenario *set = &s->drawn[i];
    for (size_t k = 0; k < set->n_components; k++) {
        char other[FAB_COMPONENT_NAME_SIZE];
        fab_component c = set->component[k];
        bool counts = true;
        c.id &= c.kind == FAB_COMPONENT_LINK ? ~1U : ~0U;
        (void)fab_component_name(s->fabric, &c, other);
        for (size_t m = 0; m < k; m++) {
            counts = counts && !is_same(c, set->component[m]);
        }
        left *= counts && (name == NULL || strcmp(other, name) != 0) ? 1 - s->ceiling[i * ORACLE_SET + k] : 1;
    }
    return 1 - left;
}

/* Several sets of which no part explains the impact could look as if this one did. */
static bool is_chance(const oracle_study *s, size_t n_parts, size_t n_alone, double mean) {
    size_t n_draws = 0;
    size_t n_as_large = 0;
    for (size_t i = 0; i < s->n; i++) {
        double impact = oracle_impact(s, &s->rows[i]);
        bool interacts = impact > 1e-9 && others_cost(s, i, NULL) <= 0.1 * impact;
        n_draws += fmax(impact, 0) < mean / 2 || (interacts && impact >= mean / 2);
        n_as_large += interacts && impact >= mean / 2;
    }
    return pow(((double)n_as_large + 3) / ((double)n_draws + 3), (double)n_alone) * (double)n_parts > 0.01;
}

/* Where the job stops: as in the sets of this part, and in those of no other that fails here. */
static bool alone_stops(const oracle_study *s, size_t i, const char *name) {
    bool own = false;
    for (size_t k = 0; k < s->drawn[i].n_components; k++) {
        char other[FAB_COMPONENT_NAME_SIZE];
        fab_component c = s->drawn[i].component[k];
        c.id &= c.kind == FAB_COMPONENT_LINK ? ~1U : ~0U;
        (void)fab_component_name(s->fabric, &c, other);
        bool is_own = strcmp(other, name) == 0;
        if (s->ceiling[i * ORACLE_SET + k] >= 1 && !is_own) {
            return false;
        }
        own = own || (is_own && s->ceiling[i * ORACLE_SET + k] >= 1);
    }
    return own;
}

/* Of single losses and histories everything counts. */
static bool is_credited(const oracle_study *s, size_t i, const char *name) {
    double impact = oracle_impact(s, &s->rows[i]);
    return s->ceiling == NULL || others_cost(s, i, name) <= fmax(1e-9, 0.1 * impact) ||
           (impact >= 1 && alone_stops(s, i, name));
}

static bool stands_out(const oracle_study *s, const oracle_component *c, const double *impact, size_t n_parts) {
    double sum = 0;
    size_t n_costing = 0;
    for (size_t i = 0; i < c->n_alone; i++) {
        n_costing += impact[i] > 1e-9;
        sum += (impact[i] - c->impact) * (impact[i] - c->impact);
    }
    double half =
        c->n_alone > 1 ? fab_student_t(c->n_alone - 1) * sqrt(sum / (double)(c->n_alone - 1) / (double)c->n_alone) : 0;
    return c->n_alone > 0 && 2 * n_costing > c->n_alone && c->impact - half > 1e-9 &&
           !is_chance(s, n_parts, c->n_alone, c->impact);
}

oracle_component oracle_component_of(const oracle_study *s, const char *name, size_t n_parts) {
    static double impacts[4096];
    oracle_component out = {.worst_ratio = NAN};
    size_t n_times = 0;
    for (size_t i = 0; i < s->n; i++) {
        const fab_outcome *row = &s->rows[i];
        bool stops = row->state == FAB_OUTCOME_STOPPED;
        if (!has(s, &s->drawn[i], name)) {
            continue;
        }
        out.n_scenarios++;
        out.n_stopped += stops;
        if (is_credited(s, i, name)) {
            impacts[out.n_alone++] = oracle_impact(s, row);
            out.impact += impacts[out.n_alone - 1];
        }
        if (!stops && s->has_times) {
            out.mean_slowdown += row->slowdown;
            n_times++;
        }
        if (!stops) {
            out.worst_ratio = fmax(out.worst_ratio, row->worst_ratio); /* fmax passes over NAN */
        }
    }
    out.impact = out.n_alone > 0 ? out.impact / (double)out.n_alone : NAN;
    out.mean_slowdown = n_times > 0 ? out.mean_slowdown / (double)n_times : NAN;
    out.is_clear = s->ceiling != NULL && stands_out(s, &out, impacts, n_parts);
    return out;
}
