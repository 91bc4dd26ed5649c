/* All transfers begin together. Where sizes are in proportion to the weights, the flows of the highest level end first,
 * and what a flow leaves behind is of no use to those whose bottleneck it does not cross: rates never change. */
#include "fab/fluid.h"
#include "fab/memory.h"
#include "fill.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAME_SIZE 1e-15

static fab_status check_bits(const fab_sharing *s, const double *bits, fab_error *err) {
    for (uint32_t f = 0; f < s->n_flows; f++) {
        if (!(bits[f] >= 0) || !isfinite(bits[f])) {
            return fab_fail(err, FAB_EINPUT, NULL, "flow %u has %g bits; they must be finite and not below 0", f,
                            bits[f]);
        }
    }
    return FAB_OK;
}

/* Whether all sizes are the same multiple of the weights. */
static bool is_proportional(const fab_sharing *s, const double *bits) {
    for (uint32_t f = 1; f < s->n_flows; f++) {
        double a = bits[f] * (s->weight != NULL ? s->weight[0] : 1);
        double b = bits[0] * (s->weight != NULL ? s->weight[f] : 1);
        if (fabs(a - b) > SAME_SIZE * b) {
            return false;
        }
    }
    return s->n_flows > 0 && bits[0] > 0;
}

/* Solves again whenever a flow ends, for those that are left. */
static fab_status finish_one_by_one(fab_max_min *solver, const fab_sharing *s, const double *bits, double *finish,
                                    fab_error *err) {
    fab_status status = FAB_OK;
    fab_sharing rest = *s;
    uint64_t *first = NULL;
    uint32_t *link = NULL;
    uint32_t *flow = NULL;
    double *share = NULL;
    double *weight = NULL;
    double *limit = NULL;
    double *rate = NULL;
    double *left = NULL;
    double now = 0;
    FAB_TRY(FAB_NEW(first, (size_t)s->n_flows + 1, err));
    FAB_TRY(FAB_NEW(link, (size_t)(s->first[s->n_flows] - s->first[0]), err));
    FAB_TRY(FAB_NEW(share, (size_t)(s->first[s->n_flows] - s->first[0]), err));
    FAB_TRY(FAB_NEW(flow, s->n_flows, err));
    FAB_TRY(FAB_NEW(weight, s->n_flows, err));
    FAB_TRY(FAB_NEW(limit, s->n_flows, err));
    FAB_TRY(FAB_NEW(rate, s->n_flows, err));
    FAB_TRY(FAB_NEW(left, s->n_flows, err));
    rest.first = first;
    rest.link = link;
    rest.share = s->share != NULL ? share : NULL;
    rest.weight = s->weight != NULL ? weight : NULL;
    rest.limit = s->limit != NULL ? limit : NULL;
    memcpy(left, bits, s->n_flows * sizeof *left);
    memset(finish, 0, s->n_flows * sizeof *finish);
    for (;;) {
        rest.n_flows = 0;
        for (uint32_t f = 0; f < s->n_flows; f++) {
            if (left[f] > 0) {
                uint64_t n = first[rest.n_flows];
                for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++, n++) {
                    link[n] = s->link[e];
                    share[n] = s->share != NULL ? s->share[e] : 1;
                }
                weight[rest.n_flows] = s->weight != NULL ? s->weight[f] : 1;
                limit[rest.n_flows] = s->limit != NULL ? s->limit[f] : INFINITY;
                flow[rest.n_flows++] = f;
                first[rest.n_flows] = n;
            }
        }
        if (rest.n_flows == 0) {
            break;
        }
        FAB_TRY(fab_max_min_solve(solver, &rest, rate, NULL, err));
        double step = INFINITY;
        for (uint32_t i = 0; i < rest.n_flows; i++) {
            step = fmin(step, left[flow[i]] / rate[i]);
        }
        now += step;
        for (uint32_t i = 0; i < rest.n_flows; i++) {
            double need = left[flow[i]] / rate[i];
            left[flow[i]] = need - step <= 1e-12 * now ? 0 : left[flow[i]] - rate[i] * step;
            finish[flow[i]] = now;
        }
    }
done:
    free(first);
    free(link);
    free(share);
    free(flow);
    free(weight);
    free(limit);
    free(rate);
    free(left);
    return status;
}

fab_status fab_fluid_finish(const fab_sharing *sharing, const double *bits, double *out_finish_s, fab_error *err) {
    fab_status status = FAB_OK;
    fab_max_min *solver = NULL;
    FAB_TRY(check_bits(sharing, bits, err));
    FAB_TRY(fab_max_min_new(&solver, err));
    if (is_proportional(sharing, bits)) {
        FAB_TRY(fab_max_min_solve(solver, sharing, out_finish_s, NULL, err));
        for (uint32_t f = 0; f < sharing->n_flows; f++) {
            out_finish_s[f] = bits[f] / out_finish_s[f];
        }
    } else {
        FAB_TRY(finish_one_by_one(solver, sharing, bits, out_finish_s, err));
    }
done:
    fab_max_min_free(solver);
    return status;
}
