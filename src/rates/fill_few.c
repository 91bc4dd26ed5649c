/* Progressive filling of a handful of flows: every link is looked at in every round, and its sums are made afresh. */
#include "fill.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* Level at which each link is full, given who has stopped; and the lowest, limits included. */
static double find_levels(const fab_sharing *s, const double *rate, const bool *stopped, double floor, double *level) {
    double weight[FILL_FEW_CROSSINGS];
    double lowest = INFINITY;
    for (uint32_t l = 0; l < s->n_links; l++) {
        level[l] = s->capacity[l];
        weight[l] = 0;
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        double w = s->weight != NULL ? s->weight[f] : 1;
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            double share = s->share != NULL ? s->share[e] : 1;
            level[s->link[e]] -= stopped[f] ? rate[f] * share : 0;
            weight[s->link[e]] += stopped[f] ? 0 : w * share;
        }
        if (s->limit != NULL && !stopped[f]) {
            lowest = fmin(lowest, s->limit[f] / w);
        }
    }
    for (uint32_t l = 0; l < s->n_links; l++) {
        double at = level[l] / weight[l];
        at = at > floor ? at : floor;
        level[l] = weight[l] > 0 ? at : INFINITY;
        lowest = level[l] < lowest ? level[l] : lowest;
    }
    return lowest;
}

/* Stops the flow if its limit or a link does. */
static bool stops(const fab_sharing *s, uint32_t f, double now, const double *level, double *rate,
                  uint32_t *bottleneck) {
    double w = s->weight != NULL ? s->weight[f] : 1;
    for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
        if (level[s->link[e]] <= now * (1 + FILL_TIE)) {
            *bottleneck = s->link[e];
            *rate = s->limit != NULL ? fmin(w * now, s->limit[f]) : w * now;
            return true;
        }
    }
    if (s->limit != NULL && s->limit[f] / w <= now * (1 + FILL_TIE)) {
        *rate = s->limit[f];
        return true;
    }
    return false;
}

bool fill_few(const fab_sharing *s, double *out_rate, uint32_t *out_holder) {
    double level[FILL_FEW_CROSSINGS];
    bool stopped[FILL_FEW_FLOWS] = {false};
    double now = 0;
    if (s->n_flows > FILL_FEW_FLOWS || s->first[s->n_flows] > FILL_FEW_CROSSINGS || s->n_links > FILL_FEW_CROSSINGS) {
        return false;
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        out_rate[f] = INFINITY;
        out_holder[f] = FAB_NO_BOTTLENECK;
    }
    for (;;) {
        double lowest = find_levels(s, out_rate, stopped, now, level);
        if (lowest == INFINITY) {
            return true;
        }
        now = lowest > now * (1 + FILL_TIE) ? lowest : now;
        for (uint32_t f = 0; f < s->n_flows; f++) {
            stopped[f] = stopped[f] || stops(s, f, now, level, &out_rate[f], &out_holder[f]);
        }
    }
}
