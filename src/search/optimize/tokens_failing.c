/*
 * Plans with failures, in a search by tokens: a design runs the one of which failures leave the cheapest tokens. Every
 * design that is replayed tries its fastest and those that others run, the best of each family more of its own.
 */
#include "tokens_internal.h"

#include "fab/analysis.h"
#include "fab/verdict.h"

static double planned_usd(const token_search *t, const ranked *r, const fab_planned *p) {
    const fab_iteration *it = &p->iteration;
    return tokens_price(t, r, it->network_share_ratio, it->tokens_per_s * (it->time_s / fab_planned_s(p)));
}

/* t->design keeps its open job; t->planned has it under the plan. */
static fab_status find_goodput(token_search *t, const fab_planned *p, double least, fab_goodput *out, fab_error *err) {
    const fab_optimize_request *q = t->s->request;
    const fab_goodput_request request = {.design = t->planned,
                                         .traffic = "job",
                                         .scenarios = q->scenarios,
                                         .policy = q->policy,
                                         .seed = q->seed,
                                         .n_draws = p->draws_s.ci95 > 0 ? FAB_VERDICT_SEEDS : 1, /* as compare has it */
                                         .n_threads = q->n_threads,
                                         .least = least};
    FAB_PASS(fab_goodput_find(&request, out, err));
    return out->is_short || out->taken[0].mean > 0
               ? FAB_OK
               : fab_fail(err, FAB_EUNSUPPORTED, NULL, "what a history of failures leaves is not known");
}

/* No history is faster than the fabric without failures: of a plan that is as dear without them nothing is asked.
 * Takes a plan that t->planned has into `best`, if it is. */
static fab_status judge(token_search *t, const ranked *r, const fab_planned *p, token_judged *best, fab_error *err) {
    fab_goodput goodput = {.taken = {{.mean = 1}}};
    fab_error why = {.code = FAB_OK};
    const double usd = planned_usd(t, r, p);
    const double least = best->n > 0 ? usd / best->usd : 0;
    if (least >= 1) {
        return FAB_OK;
    }
    const fab_status status = t->s->request->scenarios != NULL ? find_goodput(t, p, least, &goodput, &why) : FAB_OK;
    if (fab_is_refusal(status)) {
        best->why = best->why.code == FAB_OK ? why : best->why;
        return FAB_OK;
    }
    FAB_PASS(fab_fail_as(err, status, &why));
    const uint64_t n = best->n + 1;
    if (goodput.is_short) {
        best->n = n;
        return FAB_OK;
    }
    if (n == 1 || usd / goodput.taken[0].mean < best->usd) {
        *best = (token_judged){.planned = *p, .goodput = goodput, .usd = usd / goodput.taken[0].mean};
    }
    best->n = n;
    return FAB_OK;
}

/* Above the rounding, so that a design as cheap as the last of the list is not left out for it. What the first seed
 * says of drawn paths leaves none out. */
double tokens_seconds_below(const token_search *t, const ranked *r, double usd) {
    return isfinite(usd) && !t->out->tokens.is_drawn ? usd * (1 + ROUNDING) / tokens_price_of(t, r, 1) : 0;
}

/* The plans that other designs run and that are new to this one. */
static fab_status judge_others(token_search *t, ranked *r, const fab_fabric *fabric, token_judged *best,
                               fab_error *err) {
    for (; r->n_shared < t->shared.n; r->n_shared++) {
        FAB_OWNS(fab_plans_free_owned) fab_plans *timed = NULL;
        bool is_new = false;
        fab_plan_request request = tokens_plan_request(t, fabric, NULL); /* of one plan */
        request.below_s = tokens_seconds_below(t, r, best->usd);
        const fab_job_plan plan = t->shared.plan[r->n_shared];
        FAB_PASS(fab_plan_list_add(&r->tried, &plan, &is_new, err));
        FAB_PASS(is_new ? fab_plan_time(&request, &plan, "", t->planned, &timed, err) : FAB_OK);
        FAB_PASS(timed != NULL ? judge(t, r, &timed->plans[0], best, err) : FAB_OK);
    }
    return FAB_OK;
}

fab_status tokens_judge(token_search *t, ranked *r, const fab_fabric *fabric, const fab_plans *own, token_judged *best,
                        fab_error *err) {
    for (size_t i = 0; own != NULL && i < own->n_plans_listed; i++) {
        const fab_planned *p = &own->plans[i];
        bool fits = false;
        FAB_PASS(fab_plan_list_add(&r->tried, &p->plan, &fits, err));
        FAB_PASS(fits ? fab_plan_set(t->design, fabric, &p->plan, "", t->planned, &fits, err) : FAB_OK);
        FAB_PASS(fits ? judge(t, r, p, best, err) : FAB_OK);
    }
    return judge_others(t, r, fabric, best, err);
}

void tokens_keep_replay(const token_search *t, ranked *r, const token_judged *best, fab_optimum_point *point) {
    const fab_planned *planned = &best->planned;
    const fab_iteration *it = &planned->iteration;
    if (t->s->request->scenarios != NULL) {
        point->goodput_ratio = best->goodput.taken[0].mean;
        point->goodput_ci95 = best->goodput.taken[0].ci95;
        point->kept = best->goodput.taken_parts[0];
        r->policy = best->goodput.policy;
        FAB_FORMAT(point->policy, "%s", fab_policies[r->policy]);
    }
    point->owned_usd = r->candidate->owned_usd;
    point->usd_per_1e9_tokens = best->usd;
    point->tokens_per_s = it->tokens_per_s * (it->time_s / fab_planned_s(planned));
    point->iteration_s = fab_planned_s(planned);
    point->draws = planned->draws_s.mean > 0 ? FAB_VERDICT_SEEDS : 0;
    point->seeds = planned->seeds;
    point->estimated_ratio = it->estimated_ratio;
    (void)fab_job_plan_text(&planned->plan, point->plan);
    r->plan = planned->plan;
    r->candidate->token_usd = best->usd;
    r->candidate->is_replayed = true;
}

/* Once all are replayed, of one of them: the plans that others run since, and where it is the best of its family the
 * fastest of its own that may win with failures. */
static fab_status judge_again(token_search *t, ranked *r, fab_error *err) {
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *fabric = NULL;
    FAB_OWNS(fab_plans_free_owned) fab_plans *plans = NULL;
    token_judged best = {.usd = r->candidate->token_usd, .n = 1};
    FAB_OWNED_NEW(fab_optimum_point, point, 1, err);
    FAB_PASS(tokens_open(t, r, point, &fabric, err));
    if (r->is_leading) {
        fab_plan_request request = tokens_plan_request(t, fabric, r->floor->kept);
        request.n_best = FAB_PLANS_FAILING;
        request.progress = NULL;
        request.below_s = tokens_seconds_below(t, r, best.usd);
        FAB_PASS(fab_plan_try(&request, &plans, err));
    }
    FAB_PASS(tokens_judge(t, r, fabric, plans, &best, err));
    r->point->n_plans_tried += best.n - 1;
    if (best.usd < r->candidate->token_usd) {
        tokens_keep_replay(t, r, &best, r->point);
    }
    return fab_plan_list_add(&t->shared, &r->plan, NULL, err);
}

static bool leads_family(const token_search *t, const ranked *r) {
    FAB_ANY(is_beaten, i, t->n,
            t->all[i].point != NULL && t->all[i].structure->family == r->structure->family &&
                tokens_by_price(&t->all[i], r) < 0);
    return !is_beaten;
}

/* NULL: the best of each family has tried its own, and all have tried each other's. */
static ranked *next_again(token_search *t) {
    ranked *next = NULL;
    FAB_EACH(ranked, r, t->all, t->n) {
        if (r->point != NULL && !r->is_leading && leads_family(t, r)) {
            r->is_leading = true;
            return r;
        }
        next = next == NULL && r->point != NULL && r->n_shared < t->shared.n ? r : next;
    }
    return next;
}

fab_status tokens_try_shared(token_search *t, fab_error *err) {
    ranked *next = NULL;
    t->look_until_s = t->s->deadline_s; /* no more that of the design which was replayed last */
    while ((next = next_again(t)) != NULL && !tokens_is_late(t)) {
        FAB_PASS(judge_again(t, next, err));
    }
    t->s->timed_out = t->s->timed_out || next != NULL;
    t->n_best = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (t->all[i].point != NULL) {
            tokens_enter(t, &t->all[i]);
        }
    }
    return FAB_OK;
}
