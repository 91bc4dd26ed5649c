#include "oracle_max_min.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define TIE 1e-12L

static double weight_of(const fab_sharing *s, uint32_t f) {
    return s->weight != NULL ? s->weight[f] : 1;
}

static double share_on(const fab_sharing *s, uint32_t f, uint32_t l) {
    for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
        if (s->link[e] == l) {
            return s->share != NULL ? s->share[e] : 1;
        }
    }
    return 0;
}

static bool is_active(const bool *active, uint32_t f) {
    return active == NULL || active[f];
}

/* The levels at which the links are full, given who has stopped. */
static void set_levels(const fab_sharing *s, const bool *active, const bool *stopped, const double *rate,
                       long double *residual, long double *weight, long double *out_level) {
    for (uint32_t l = 0; l < s->n_links; l++) {
        residual[l] = s->capacity[l];
        weight[l] = 0;
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        for (uint64_t e = s->first[f]; is_active(active, f) && e < s->first[f + 1]; e++) {
            long double share = s->share != NULL ? s->share[e] : 1;
            if (stopped[f]) {
                residual[s->link[e]] -= rate[f] * share;
            } else {
                weight[s->link[e]] += weight_of(s, f) * share;
            }
        }
    }
    for (uint32_t l = 0; l < s->n_links; l++) {
        out_level[l] = isfinite(s->capacity[l]) && weight[l] > 0 ? residual[l] / weight[l] : INFINITY;
    }
}

void oracle_fill(const fab_sharing *s, const bool *active, double *out_rate) {
    bool *stopped = calloc(s->n_flows + 1, sizeof *stopped);
    long double *level = calloc(s->n_links + 1, sizeof *level);
    long double *residual = calloc(s->n_links + 1, sizeof *residual);
    long double *weight = calloc(s->n_links + 1, sizeof *weight);
    for (uint32_t f = 0; f < s->n_flows; f++) {
        out_rate[f] = is_active(active, f) ? INFINITY : 0;
    }
    for (;;) {
        long double least = INFINITY;
        set_levels(s, active, stopped, out_rate, residual, weight, level);
        for (uint32_t l = 0; l < s->n_links; l++) {
            least = fminl(least, level[l]);
        }
        for (uint32_t f = 0; s->limit != NULL && f < s->n_flows; f++) {
            if (is_active(active, f) && !stopped[f]) {
                least = fminl(least, (long double)s->limit[f] / weight_of(s, f));
            }
        }
        if (least == INFINITY) {
            break;
        }
        for (uint32_t f = 0; f < s->n_flows; f++) {
            bool stops = s->limit != NULL && s->limit[f] / weight_of(s, f) <= least * (1 + TIE);
            for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
                stops = stops || level[s->link[e]] <= least * (1 + TIE);
            }
            if (stops && is_active(active, f) && !stopped[f]) {
                stopped[f] = true;
                out_rate[f] = (double)(least * weight_of(s, f));
            }
        }
    }
    free(weight);
    free(residual);
    free(level);
    free(stopped);
}

bool oracle_holds(const fab_sharing *s, const double *rate, uint32_t flow, uint32_t link, double tolerance) {
    double load = 0;
    double top = 0;
    for (uint32_t f = 0; f < s->n_flows; f++) {
        double share = share_on(s, f, link);
        load += share > 0 ? rate[f] * share : 0;
        top = share > 0 ? fmax(top, rate[f] / weight_of(s, f)) : top;
    }
    return share_on(s, flow, link) > 0 && load >= s->capacity[link] * (1 - tolerance) &&
           rate[flow] / weight_of(s, flow) >= top * (1 - tolerance);
}

const char *oracle_unfair(const fab_sharing *s, const bool *active, const double *rate, double tolerance) {
    for (uint32_t l = 0; l < s->n_links; l++) {
        double load = 0;
        for (uint32_t f = 0; f < s->n_flows; f++) {
            double share = share_on(s, f, l);
            load += share > 0 ? rate[f] * share : 0;
        }
        if (load > s->capacity[l] * (1 + tolerance)) {
            return "a link carries more than it can";
        }
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        bool held = s->limit != NULL && rate[f] >= s->limit[f] * (1 - tolerance);
        bool bounded = s->limit != NULL && isfinite(s->limit[f]);
        if (s->limit != NULL && rate[f] > s->limit[f]) {
            return "a flow is above its limit";
        }
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            bounded = bounded || isfinite(s->capacity[s->link[e]]);
            held = held || (isfinite(s->capacity[s->link[e]]) && oracle_holds(s, rate, f, s->link[e], tolerance));
        }
        if (is_active(active, f) && !held && (bounded || rate[f] != INFINITY)) {
            return "a flow could have more";
        }
    }
    return NULL;
}

void oracle_finish(const fab_sharing *s, const double *bits, double *out_finish_s) {
    double *rate = calloc(s->n_flows + 1, sizeof *rate);
    long double *residual = calloc(s->n_flows + 1, sizeof *residual);
    bool *active = calloc(s->n_flows + 1, sizeof *active);
    long double now = 0;
    for (uint32_t f = 0; f < s->n_flows; f++) {
        residual[f] = bits[f];
        active[f] = bits[f] > 0;
        out_finish_s[f] = 0;
    }
    for (;;) {
        long double step = INFINITY;
        oracle_fill(s, active, rate);
        for (uint32_t f = 0; f < s->n_flows; f++) {
            step = active[f] ? fminl(step, residual[f] / rate[f]) : step;
        }
        if (step == INFINITY) {
            break;
        }
        now += step;
        for (uint32_t f = 0; f < s->n_flows; f++) {
            if (active[f]) {
                active[f] = residual[f] / rate[f] > step + TIE * now;
                residual[f] -= step * rate[f];
                out_finish_s[f] = active[f] ? 0 : (double)now;
            }
        }
    }
    free(active);
    free(residual);
    free(rate);
}
