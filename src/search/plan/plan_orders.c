/* The order of the dimensions on the ranks: whether another one runs the job faster. */
#include "fab/analysis.h"
#include "fab/memory.h"

#include "plan_internal.h"

#include <math.h>

/* What a search left out is left out of the space of all orders. */
static void add_space(const fab_plans *found, fab_plans *plans) {
    plans->n_plans += found->n_plans;
    plans->n_evaluated += found->n_evaluated;
    plans->n_unfit += found->n_unfit;
    plans->n_bounded += found->n_bounded;
    plans->n_untimed += found->n_untimed;
    plans->n_networks += found->n_networks;
    plans->is_proven = plans->is_proven && found->is_proven;
    plans->lower_bound_s = fmin(plans->lower_bound_s, found->lower_bound_s);
    plans->n_orders++;
}

fab_status fab_plan_try(const fab_plan_request *request, fab_plans **out, fab_error *err) {
    fab_error why = {.code = FAB_OK};
    fab_status status = fab_plan_search(request, out, &why);
    return status == FAB_OK || fab_is_refusal(status) ? FAB_OK : fab_fail(err, status, why.where, "%s", why.text);
}

bool plan_tries_orders(const fab_plan_request *request) {
    return request->n_orders > 1 && request->design->n_jobs > 0 && !request->design->jobs[0].order_given;
}

fab_plan_request plan_in_order(const fab_plan_request *request, size_t order, fab_design *design) {
    fab_plan_request within = *request;
    within.design = design;
    within.n_orders = 1;
    within.kept = request->kept != NULL ? &request->kept[order] : NULL;
    FAB_FORMAT(design->jobs[0].order, "%s", fab_rank_orders[order]);
    return within;
}

/* Looks for plans that are faster than `best` under the first seed. NULL: it is refused. */
static fab_status try_order(const fab_plan_request *request, size_t order, const fab_planned *best, fab_design *design,
                            fab_plans **out, fab_error *err) {
    fab_plan_request within = plan_in_order(request, order, design);
    within.n_best = 0;
    within.wants_front = within.draws_leaders = false;
    within.progress = NULL; /* most of it is over */
    within.below_s = best->iteration.time_s * (1 - FAB_VERDICT_LITTLE);
    return fab_plan_try(&within, out, err);
}

/* Again, with all that a report lists; `usual` is what the first search found. */
static fab_status list_order(const fab_plan_request *request, size_t order, const fab_plans *usual, fab_design *design,
                             fab_plans **out, fab_error *err) {
    const fab_plan_request within = plan_in_order(request, order, design);
    FAB_PASS(fab_plan_search(&within, out, err));
    /* `usual` has counted this order already */
    (*out)->n_plans = (*out)->n_evaluated = (*out)->n_unfit = (*out)->n_bounded = (*out)->n_untimed = 0;
    (*out)->n_networks = 0;
    add_space(usual, *out);
    (*out)->usual_order_s = usual->usual_order_s;
    (*out)->n_orders = usual->n_orders;
    (void)snprintf((*out)->order, sizeof(*out)->order, "%s", fab_rank_orders[order]);
    return FAB_OK;
}

/* Those of the usual order behind the faster ones, as far as so many are asked for. */
static fab_status list_both(const fab_plan_request *request, const fab_plans *usual, fab_plans *found, fab_error *err) {
    size_t capacity = found->n_plans_listed;
    FAB_PASS(FAB_GROW(found->plans, capacity, found->n_plans_listed + usual->n_plans_listed, err));
    for (size_t i = 0; i < usual->n_plans_listed && found->n_plans_listed < request->n_best; i++) {
        fab_planned *added = &found->plans[found->n_plans_listed++];
        *added = usual->plans[i];
        added->slower_ratio = fab_planned_s(added) / fab_planned_s(&found->plans[0]) - 1;
    }
    return FAB_OK;
}

fab_status plan_second_order(const fab_plan_request *request, fab_plans *usual, fab_plans **out, fab_error *err) {
    FAB_OWNS(fab_plans_free_owned) fab_plans *found = NULL;
    const bool has_usual = usual->n_plans_listed > 0;
    const double usual_s = has_usual ? fab_planned_s(&usual->plans[0]) : 0;
    const double little_less_s = usual_s * (1 - FAB_VERDICT_LITTLE);
    const double most_s =
        !has_usual || (request->below_s > 0 && request->below_s < little_less_s) ? request->below_s : little_less_s;
    *out = NULL;
    if (request->is_late != NULL && request->is_late(request->late_context)) {
        usual->is_proven = false;
        return FAB_OK;
    }
    FAB_OWNED_NEW(fab_design, design, 1, err);
    *design = *request->design;
    fab_plan_request within = plan_in_order(request, 1, design);
    within.progress = NULL;
    /* where means decide, one whose first seed is a little above may be faster */
    within.below_s = usual->is_drawn && request->draws_leaders ? most_s / (1 - FAB_VERDICT_PLAN) : most_s;
    const fab_stat *draws = has_usual ? &usual->plans[0].draws_s : NULL;
    within.simulated_below_s = has_usual && draws->mean > 0 ? most_s * draws->max / draws->min : 0;
    FAB_PASS(fab_plan_try(&within, &found, err));
    if (found == NULL) {
        return FAB_OK;
    }
    usual->usual_order_s = usual_s;
    if (found->n_plans_listed == 0 || fab_planned_s(&found->plans[0]) >= most_s) {
        add_space(found, usual);
        return FAB_OK;
    }
    add_space(usual, found);
    FAB_PASS(list_both(request, usual, found, err));
    found->usual_order_s = usual_s;
    FAB_FORMAT(found->order, "%s", fab_rank_orders[1]);
    return FAB_GIVE(*out, found);
}

fab_status plan_orders(const fab_plan_request *request, fab_plans *usual, fab_plans **out, fab_error *err) {
    fab_planned best = usual->plans[0]; /* under the first seed */
    size_t fastest = 0;
    *out = NULL;
    FAB_OWNED_NEW(fab_design, design, 1, err);
    *design = *request->design;
    usual->usual_order_s = fab_planned_s(&best);
    for (size_t i = 1; i < usual->n_plans_listed; i++) {
        best = usual->plans[i].iteration.time_s < best.iteration.time_s ? usual->plans[i] : best;
    }
    for (size_t i = 1; i < request->n_orders; i++) {
        fab_plans *found = NULL;
        if (request->is_late != NULL && request->is_late(request->late_context)) {
            usual->is_proven = false;
            break;
        }
        FAB_PASS(try_order(request, i, &best, design, &found, err));
        const bool is_faster = found != NULL && found->n_plans_listed > 0;
        best = is_faster ? found->plans[0] : best;
        fastest = is_faster ? i : fastest;
        if (found != NULL) {
            add_space(found, usual);
        }
        fab_plans_free(found);
    }
    FAB_PASS(fastest > 0 ? list_order(request, fastest, usual, design, out, err) : FAB_OK);
    if (*out != NULL && fab_planned_s(&(*out)->plans[0]) >= usual->usual_order_s) { /* the first seed's luck */
        fab_plans_free(*out);
        *out = NULL;
    }
    return FAB_OK;
}

fab_status fab_plan_floor(const fab_plan_request *request, fab_plans **out, fab_error *err) {
    FAB_OWNS(fab_plans_free_owned) fab_plans *least = NULL;
    FAB_PASS(plan_floor_in_order(request, &least, err));
    FAB_OWNED_NEW(fab_design, design, 1, err);
    *design = *request->design;
    for (size_t i = 1; plan_tries_orders(request) && i < request->n_orders; i++) {
        FAB_OWNS(fab_plans_free_owned) fab_plans *found = NULL;
        const fab_plan_request within = plan_in_order(request, i, design);
        FAB_PASS(plan_floor_in_order(&within, &found, err));
        least->lower_bound_s = fmin(least->lower_bound_s, found->lower_bound_s);
    }
    return FAB_GIVE(*out, least);
}
