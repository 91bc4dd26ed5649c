/* torus: a grid of up to six dimensions whose ends are joined; switches have NICs and two cables per dimension. The
 * first dimension varies fastest: switch = x1 + n1 (x2 + n2 (x3 + ...)), so that halves of the servers are halves of
 * the last dimension. */
#include "direct.h"
#include "families.h"

#define CABLES 2 /* boundary */

/* Cables that leave a switch along one dimension: both ways round, one where they meet, none to itself. */
static uint64_t degree(uint64_t size) {
    return size > 2 ? 2 : size - 1;
}

static fab_status plan_torus(fab_fabric_spec *spec, fab_direct_plan *plan, fab_error *err) {
    const fab_torus *t = &spec->torus;
    FAB_REFUSE_IF(t->n_dimensions == 0, err, FAB_EINPUT, NULL,
                  "a torus needs torus=, its switches in each dimension, such as torus=4,4,8");
    spec->gpus = spec->gpus != 0 ? spec->gpus : fab_ends_behind(spec, t->switches);
    FAB_PASS(fab_direct_init(spec, FAB_WIRING_TORUS, plan, err));
    FAB_PASS(fab_ends_count(spec, &plan->ends, err));
    plan->switches = t->switches;
    plan->even = spec->tier[0].down == 0;
    plan->tier.down = plan->even ? fab_ceil_div(plan->ends.nics, t->switches) : spec->tier[0].down;
    plan->n_boundaries = CABLES;
    for (uint32_t i = 0; i < t->n_dimensions; i++) {
        plan->tier.up += degree(t->size[i]);
        plan->cables[CABLES - 1] += t->switches * degree(t->size[i]) / 2;
    }
    return fab_direct_check(spec, plan, err);
}

static void wire(const void *argument, const fab_direct_sink *sink) {
    const fab_torus *t = argument;
    uint64_t stride = 1;
    uint64_t port = 0;
    for (uint32_t i = 0; i < t->n_dimensions; i++) {
        uint64_t size = t->size[i];
        for (uint64_t v = 0; size > 1 && v < t->switches; v++) {
            uint64_t x = v / stride % size;
            if (x + 1 < size) {
                fab_direct_cable(sink, CABLES, v, port, v + stride, port + degree(size) - 1);
            } else if (size > 2) {
                fab_direct_cable(sink, CABLES, v, port, v - x * stride, port + 1);
            }
        }
        port += degree(size);
        stride *= size;
    }
}

static fab_status predict(fab_fabric_spec *spec, fab_counts *out, fab_error *err) {
    fab_direct_plan plan = {0};
    FAB_PASS(plan_torus(spec, &plan, err));
    fab_direct_resolve(&plan, spec);
    fab_direct_count(spec, &plan, out);
    return FAB_OK;
}

static fab_status torus_build(const fab_fabric_spec *spec, fab_fabric **out, fab_error *err) {
    fab_direct_plan plan = {0};
    fab_fabric_spec filled = *spec;
    FAB_PASS(plan_torus(&filled, &plan, err));
    return fab_direct_build(&filled, &plan, wire, &spec->torus, out, err);
}

static const char *const KEYS[] = {"torus", NULL};

const fab_family fab_family_torus = {
    "torus", "a grid of up to six dimensions with its ends joined (torus=8,8,4)", KEYS, predict, torus_build, NULL};
