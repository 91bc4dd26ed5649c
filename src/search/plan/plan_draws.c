/*
 * Plans whose paths are drawn, over several seeds. The search goes by the first seed: it proves which plan is fastest
 * under that. Another seed may favour another plan, so those that lie within what seeds make of the first are evaluated
 * under several, and their means decide.
 */
#include "plan_internal.h"

#define MOST_LEADERS 4 /* of those that were slower under the first seed than the best mean is */

static fab_status draw_plan(plan_network *n, fab_planned *planned, fab_error *err) {
    double time_s[FAB_VERDICT_SEEDS] = {planned->iteration.time_s};
    char note[256] = "";
    for (uint64_t draw = 1; draw < FAB_VERDICT_SEEDS; draw++) {
        fab_iteration it;
        FAB_PASS(plan_evaluate(n, &planned->plan, draw, &it, note, sizeof note, err));
        if (note[0] != '\0') { /* of one seed but not of another: an engine whose paths have no time */
            return FAB_OK;
        }
        time_s[draw] = it.time_s;
    }
    fab_parts_of(time_s, FAB_VERDICT_SEEDS, &planned->seeds);
    fab_stat_of(time_s, FAB_VERDICT_SEEDS, &planned->draws_s);
    return FAB_OK;
}

/* Those with means first; of equal times the order stays. */
static void order_leaders(fab_plans *plans) {
    for (size_t i = 1; i < plans->n_plans_listed; i++) {
        const fab_planned moved = plans->plans[i];
        size_t at = i;
        for (; at > 0 && moved.draws_s.mean > 0 && fab_planned_s(&moved) < fab_planned_s(&plans->plans[at - 1]); at--) {
            plans->plans[at] = plans->plans[at - 1];
        }
        plans->plans[at] = moved;
    }
    for (size_t i = 0; i < plans->n_plans_listed; i++) {
        plans->plans[i].slower_ratio = fab_planned_s(&plans->plans[i]) / fab_planned_s(&plans->plans[0]) - 1;
    }
}

/* Of packets every seed takes as long as the search; and nobody waits longer than he said, or for what he did not ask
 * for. */
static bool are_too_many(const plan_network *n, const fab_plans *plans, uint64_t n_drawn) {
    const uint64_t asked = n->request->most_routed;
    const uint64_t most = asked > 0 && asked < FAB_PLAN_SHORT ? FAB_PLAN_SHORT : asked; /* a mean is not told in one */
    const bool is_late = n->request->is_late != NULL && n->request->is_late(n->request->late_context);
    return is_late || n->request->design->fabric.transport.kind != FAB_TRANSPORT_FLUID ||
           (most > 0 && (n_drawn + 1) * (FAB_VERDICT_SEEDS - 1) * plans->gpus > most);
}

fab_status plan_draw_leaders(plan_network *n, fab_plans *plans, fab_error *err) {
    double best_s = INFINITY;
    double spread = 1; /* most over least time of a plan */
    for (size_t i = 0; plans->is_drawn && i < plans->n_plans_listed; i++) {
        fab_planned *p = &plans->plans[i];
        const double most_s = i < MOST_LEADERS ? best_s * spread : best_s;
        if (p->iteration.time_s >= most_s || are_too_many(n, plans, i)) {
            break;
        }
        FAB_PASS(p->draws_s.mean > 0 ? FAB_OK : draw_plan(n, p, err));
        if (!(p->draws_s.mean > 0)) {
            break;
        }
        plans->draws = FAB_VERDICT_SEEDS;
        best_s = fmin(best_s, p->draws_s.mean);
        spread = fmax(spread, p->draws_s.max / p->draws_s.min);
    }
    order_leaders(plans);
    return FAB_OK;
}
