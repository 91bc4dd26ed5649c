/* Whole solutions: the input is checked, filled, and the result held against the definition. */
#include "fab/max_min.h"
#include "fab/memory.h"
#include "fill.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define TOLERANCE 1e-9 /* of the check */

static bool is_positive(double x) {
    return x > 0 && isfinite(x);
}

fab_status check_sharing(const fab_sharing *s, fab_error *err) {
    for (uint32_t l = 0; l < s->n_links; l++) {
        if (!(s->capacity[l] > 0)) {
            return fab_fail(err, FAB_EINPUT, NULL, "link %u has the capacity %g; it must be above 0", l,
                            s->capacity[l]);
        }
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        if (s->first[f] > s->first[f + 1]) {
            return fab_fail(err, FAB_EINPUT, NULL, "the links of flow %u end before they begin", f);
        }
        if (s->weight != NULL && !is_positive(s->weight[f])) {
            return fab_fail(err, FAB_EINPUT, NULL, "flow %u has the weight %g; it must be finite and above 0", f,
                            s->weight[f]);
        }
        if (s->limit != NULL && !(s->limit[f] > 0)) {
            return fab_fail(err, FAB_EINPUT, NULL, "flow %u has the limit %g; it must be above 0", f, s->limit[f]);
        }
    }
    for (uint64_t e = s->first[0]; s->share != NULL && e < s->first[s->n_flows]; e++) {
        if (!is_positive(s->share[e])) {
            return fab_fail(err, FAB_EINPUT, NULL, "entry %llu has the share %g; it must be finite and above 0",
                            (unsigned long long)e, s->share[e]);
        }
    }
    return FAB_OK;
}

/* Load of every link and the largest level on it. */
static void add_up(const fab_sharing *s, const double *rate, link_check *check) {
    for (uint32_t l = 0; l < s->n_links; l++) {
        check[l] = (link_check){0};
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        double level = s->weight != NULL ? rate[f] / s->weight[f] : rate[f];
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            link_check *c = &check[s->link[e]];
            c->load += s->share != NULL ? rate[f] * s->share[e] : rate[f];
            c->top = level > c->top ? level : c->top;
        }
    }
}

/* The lowest link that holds a flow of this level, or FAB_NO_BOTTLENECK. */
static uint32_t find_holder(const fab_sharing *s, uint32_t f, double level, const link_check *check, double tolerance) {
    uint32_t found = FAB_NO_BOTTLENECK;
    for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
        uint32_t l = s->link[e];
        bool holds = check[l].load >= s->capacity[l] * (1 - tolerance) && level >= check[l].top * (1 - tolerance);
        found = holds && isfinite(s->capacity[l]) && l < found ? l : found;
    }
    return found;
}

static fab_status certify_flow(const fab_sharing *s, uint32_t f, double rate, const link_check *check, uint32_t *out,
                               fab_error *err) {
    double level = s->weight != NULL ? rate / s->weight[f] : rate;
    *out = find_holder(s, f, level, check, TOLERANCE);
    if (*out != FAB_NO_BOTTLENECK || (s->limit != NULL && rate >= s->limit[f])) {
        return FAB_OK;
    }
    for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
        if (isfinite(s->capacity[s->link[e]])) {
            return fab_fail(err, FAB_EINTERNAL, NULL, "flow %u could have more than %.17g bit/s: no link holds it", f,
                            rate);
        }
    }
    return rate == INFINITY ? FAB_OK
                            : fab_fail(err, FAB_EINTERNAL, NULL, "nothing holds flow %u at %.17g bit/s", f, rate);
}

/* Holds rates against the definition of max-min fairness. bottleneck: NULL, or what fill_rates() said, replaced. */
static fab_status certify(fab_max_min *solver, const fab_sharing *s, const double *rate, uint32_t *bottleneck,
                          fab_error *err) {
    fab_status status = FAB_OK;
    link_check *check = NULL;
    double *least = NULL; /* of the level of flows that the link holds */
    FAB_TRY(fill_check_room(solver, s->n_links, &check, &least, err));
    add_up(s, rate, check);
    for (uint32_t l = 0; l < s->n_links; l++) {
        if (check[l].load > s->capacity[l] * (1 + TOLERANCE)) {
            FAB_FAIL(err, FAB_EINTERNAL, NULL, "link %u carries %.17g bit/s; its capacity is %.17g", l, check[l].load,
                     s->capacity[l]);
        }
        bool is_full = isfinite(s->capacity[l]) && check[l].load >= s->capacity[l] * (1 - FILL_SLACK);
        least[l] = is_full ? check[l].top * (1 - FILL_SLACK) : INFINITY;
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        double level = s->weight != NULL ? rate[f] / s->weight[f] : rate[f];
        uint32_t found = FAB_NO_BOTTLENECK;
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            uint32_t l = s->link[e];
            found = l < found && level >= least[l] ? l : found;
        }
        if (found == FAB_NO_BOTTLENECK || level == INFINITY) {
            FAB_TRY(certify_flow(s, f, rate[f], check, &found, err));
        }
        bottleneck[f] = found;
    }
done:
    return status;
}

fab_status fab_max_min_solve(fab_max_min *solver, const fab_sharing *sharing, double *out_rate,
                             uint32_t *out_bottleneck, fab_error *err) {
    fab_status status = FAB_OK;
    uint32_t *own = NULL;
    uint32_t *bottleneck = out_bottleneck;
    FAB_TRY(check_sharing(sharing, err));
    if (bottleneck == NULL) {
        FAB_TRY(FAB_NEW(own, sharing->n_flows, err));
        bottleneck = own;
    }
    FAB_TRY(fill_rates(solver, sharing, out_rate, bottleneck, err));
    FAB_TRY(certify(solver, sharing, out_rate, bottleneck, err));
done:
    free(own);
    return status;
}
