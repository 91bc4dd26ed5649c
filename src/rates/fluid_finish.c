/* All transfers begin together. Where sizes are in proportion to the weights, the flows of the highest level end first,
 * and what a flow leaves behind is of no use to those whose bottleneck it does not cross: rates never change. */
#include "fab/fluid.h"
#include "fab/max_min.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

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

static fab_status note_end(void *context, fab_fluid *fluid, uint32_t flow, double now_s, fab_error *err) {
    (void)fluid;
    (void)err;
    ((double *)context)[flow] = now_s;
    return FAB_OK;
}

static fab_status simulate(const fab_sharing *sharing, const double *bits, double *out_finish_s, fab_error *err) {
    fab_status status = FAB_OK;
    fab_fluid *fluid = NULL;
    double end_s = 0;
    FAB_TRY(fab_fluid_new(sharing, &fluid, err));
    for (uint32_t f = 0; f < sharing->n_flows; f++) {
        FAB_TRY(fab_fluid_start(fluid, f, bits[f], err));
    }
    FAB_TRY(fab_fluid_run(fluid, INFINITY, note_end, out_finish_s, &end_s, err));
done:
    fab_fluid_free(fluid);
    return status;
}

static fab_status solve_once(const fab_sharing *sharing, const double *bits, double *out_finish_s, fab_error *err) {
    fab_status status = FAB_OK;
    fab_max_min *solver = NULL;
    FAB_TRY(fab_max_min_new(&solver, err));
    FAB_TRY(fab_max_min_solve(solver, sharing, out_finish_s, NULL, err));
    for (uint32_t f = 0; f < sharing->n_flows; f++) {
        out_finish_s[f] = bits[f] / out_finish_s[f];
    }
done:
    fab_max_min_free(solver);
    return status;
}

fab_status fab_fluid_finish(const fab_sharing *sharing, const double *bits, double *out_finish_s, fab_error *err) {
    FAB_PASS(check_bits(sharing, bits, err));
    return is_proportional(sharing, bits) ? solve_once(sharing, bits, out_finish_s, err)
                                          : simulate(sharing, bits, out_finish_s, err);
}
