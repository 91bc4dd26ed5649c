/* The order of the dimensions on the ranks: whether another one runs the job faster. */
#include "fab/analysis.h"

#include "plan_internal.h"

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
    return fab_unless_refused(err, fab_plan_search(request, out, &why), &why);
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

/* `usual` has counted the space of `listed` already. */
static void share_space(const fab_plans *usual, size_t order, fab_plans *listed) {
    listed->n_plans = listed->n_evaluated = listed->n_unfit = listed->n_bounded = listed->n_untimed = 0;
    listed->n_networks = 0;
    add_space(usual, listed);
    listed->usual_order_s = usual->usual_order_s;
    listed->n_orders = usual->n_orders;
    FAB_FORMAT(listed->order, "%s", fab_rank_orders[order]);
}

/* What a plan takes less than that is faster than the best of these; 0: nothing is known. */
static double faster_s(const fab_plan_request *request, const fab_plans *best) {
    if (best->n_plans_listed == 0) {
        return request->below_s;
    }
    const double little_less_s = fab_planned_s(&best->plans[0]) * (1 - FAB_VERDICT_LITTLE);
    return request->below_s > 0 ? fmin(request->below_s, little_less_s) : little_less_s;
}

/* Looks for plans that are faster than the best of `best`, by means where it has one. NULL: there is none, or it is
 * refused. */
static fab_status try_order(const fab_plan_request *request, size_t order, bool is_listed, const fab_plans *best,
                            fab_plans *usual, fab_plans **out, fab_error *err) {
    FAB_OWNED_COPY(fab_design, design, request->design, err);
    fab_plan_request within = plan_in_order(request, order, design);
    FAB_OWNS(fab_plans_free_owned) fab_plans *found = NULL;
    const fab_stat *draws = best->n_plans_listed > 0 ? &best->plans[0].draws_s : NULL;
    const double most_s = faster_s(request, best);
    within.progress = NULL; /* most of it is over */
    within.n_best = is_listed ? request->n_best : 0;
    within.wants_front = is_listed && request->wants_front;
    /* where means decide, one whose first seed is a little above may be faster */
    within.below_s = best->is_drawn && request->draws_leaders ? most_s / (1 - FAB_VERDICT_PLAN) : most_s;
    within.simulated_below_s = draws != NULL && draws->mean > 0 ? most_s * draws->max / draws->min : 0;
    FAB_PASS(fab_plan_try(&within, &found, err));
    if (found == NULL) {
        return FAB_OK;
    }
    add_space(found, usual);
    const bool is_known = found->n_plans_listed > 0 && (found->draws > 0 || best->draws == 0);
    return is_known && fab_planned_s(&found->plans[0]) < most_s ? FAB_GIVE(*out, found) : FAB_OK;
}

/* Again, with all that a report lists; the first search has counted this order already. */
static fab_status list_order(const fab_plan_request *request, size_t order, fab_plans **out, fab_error *err) {
    FAB_OWNED_COPY(fab_design, design, request->design, err);
    const fab_plan_request within = plan_in_order(request, order, design);
    return fab_plan_search(&within, out, err);
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

fab_status plan_orders(const fab_plan_request *request, size_t n_orders, fab_plans *usual, fab_plans **out,
                       fab_error *err) {
    FAB_OWNS(fab_plans_free_owned) fab_plans *fastest = NULL;
    /* what the one other order gives is the report's, and so is what is fastest where nothing else is asked for */
    const bool is_listed = n_orders == 2 || (request->n_best <= 1 && !request->wants_front);
    size_t order = 0;
    *out = NULL;
    usual->usual_order_s = usual->n_plans_listed > 0 ? fab_planned_s(&usual->plans[0]) : 0;
    for (size_t i = 1; i < n_orders; i++) {
        fab_plans *found = NULL;
        if (request->is_late != NULL && request->is_late(request->late_context)) {
            usual->is_proven = false;
            break;
        }
        FAB_PASS(try_order(request, i, is_listed, fastest != NULL ? fastest : usual, usual, &found, err));
        if (found != NULL) {
            fab_plans_free(fastest);
            fastest = found;
            order = i;
        }
    }
    if (fastest == NULL) {
        return FAB_OK;
    }
    if (is_listed) {
        FAB_PASS(list_both(request, usual, fastest, err));
    } else {
        fab_plans_free(fastest);
        fastest = NULL;
        FAB_PASS(list_order(request, order, &fastest, err));
    }
    share_space(usual, order, fastest);
    return FAB_GIVE(*out, fastest);
}

fab_status fab_plan_floor(const fab_plan_request *request, fab_plans **out, fab_error *err) {
    FAB_OWNS(fab_plans_free_owned) fab_plans *least = NULL;
    FAB_PASS(plan_floor_in_order(request, &least, err));
    FAB_OWNED_COPY(fab_design, design, request->design, err);
    for (size_t i = 1; plan_tries_orders(request) && i < request->n_orders; i++) {
        FAB_OWNS(fab_plans_free_owned) fab_plans *found = NULL;
        const fab_plan_request within = plan_in_order(request, i, design);
        FAB_PASS(plan_floor_in_order(&within, &found, err));
        least->lower_bound_s = fmin(least->lower_bound_s, found->lower_bound_s);
    }
    return FAB_GIVE(*out, least);
}
