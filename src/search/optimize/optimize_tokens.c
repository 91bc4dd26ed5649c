/*
 * The design whose tokens cost the least: cost of ownership over the tokens of a job under its best plan. What a design
 * costs is known in closed form; what it does is not, and building and replaying it takes seconds. So designs are taken
 * by a lower bound of their tokens: no network makes an iteration shorter than the schedule whose phases take what NICs
 * and scale-up links need. The bound is the same time for all designs with the same NICs and domains, so that their
 * order is that of their cost; every family's plain design, without a taper, and the other tapers of what is best come
 * first; the first of them share what time there is. A replay looks only for plans that would bring the design into the
 * list. Where it ends without a route, by what NICs and leaves let through, that is a bound of all designs with the
 * same leaves. Failures leave a part of the time, so that bounds without them hold with them.
 */
#include "tokens_internal.h"

#include "fab/sweep_run.h"

static void tokens_close(token_search *t) {
    for (size_t i = 0; i < t->n; i++) {
        free(t->all[i].point);
        fab_plan_list_release(&t->all[i].tried);
    }
    for (size_t i = 0; i < t->n_floors; i++) {
        FAB_EACH(fab_plan_kept, kept, t->floors[i].kept, N_ORDERS) {
            fab_plan_kept_release(kept);
        }
    }
    FAB_FREE_ALL(t->design, t->planned, t->floors, t->shared.plan, t->all);
}

/* --- a design that is replayed ------------------------------------------------------------------------------------ */

fab_status tokens_open(token_search *t, const ranked *r, fab_optimum_point *point, fab_fabric **out, fab_error *err) {
    FAB_PASS(optimize_describe(t->s, r->structure, r->candidate, r->candidate->value[GOAL_COST], point, err));
    FAB_PASS(optimize_read(t->s, point->design, t->design, err));
    return fab_topology_build(&t->design->fabric, out, NULL, err);
}

double tokens_price(const token_search *t, const ranked *r, double share, double tokens_per_s) {
    const fab_ownership o = {.years = t->s->years, .total_usd = r->candidate->owned_usd};
    return fab_ownership_per_1e9_tokens(&o, share, tokens_per_s);
}

/* Under the bound, or where an iteration takes so long. */
double tokens_price_of(const token_search *t, const ranked *r, double iteration_s) {
    return tokens_price(t, r, r->floor->share, r->floor->tokens_per_iteration / iteration_s);
}

bool tokens_is_late(const void *context) {
    const token_search *t = context;
    return optimize_now_s() > t->look_until_s;
}

/* Part of one replay, or of the bound before the first. */
static void tell_plan(void *context, double done, size_t total) {
    const token_search *t = context;
    const fab_optimize_request *q = t->s->request;
    q->progress(q->progress_context, (double)t->n_tried + (total > 0 ? done / (double)total : 0), t->most);
}

fab_plan_request tokens_plan_request(token_search *t, const fab_fabric *fabric, fab_plan_kept *kept) {
    const fab_optimize_request *q = t->s->request;
    return (fab_plan_request){.design = t->design,
                              .fabric = fabric,
                              .seed = q->seed,
                              .n_threads = q->n_threads,
                              .n_best = 1,
                              .n_orders = N_ORDERS,
                              .is_late = isfinite(t->s->deadline_s) ? tokens_is_late : NULL,
                              .late_context = t,
                              .progress = q->progress != NULL ? tell_plan : NULL,
                              .progress_context = t,
                              .draws_leaders = true,
                              .kept = kept};
}

static void note_refusal(token_search *t, const fab_error *why) {
    fab_token_search *o = &t->out->tokens;
    if (o->refused_note[0] == '\0') {
        FAB_FORMAT(o->refused_note, "%.250s", why->text);
    }
}

/* --- bounds ------------------------------------------------------------------------------------------------------- */

static fab_status measure_floor(token_search *t, const ranked *r, token_floor *out, fab_error *err) {
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *fabric = NULL;
    FAB_OWNS(fab_plans_free_owned) fab_plans *plans = NULL;
    fab_error why = {.code = FAB_OK};
    fab_token_search *o = &t->out->tokens;
    FAB_OWNED_NEW(fab_optimum_point, point, 1, err);
    FAB_PASS(tokens_open(t, r, point, &fabric, err));
    const fab_plan_request request = tokens_plan_request(t, fabric, out->kept);
    const fab_status status = fab_plan_floor(&request, &plans, &why);
    FAB_PASS(fab_unless_refused(err, status, &why));
    out->is_refused = status != FAB_OK;
    if (status != FAB_OK) {
        note_refusal(t, &why);
        return FAB_OK;
    }
    o->is_drawn = plans->is_drawn;
    memcpy(out->sold_unlike, plans->sold_unlike, sizeof out->sold_unlike);
    out->iteration_s = plans->lower_bound_s;
    out->tokens_per_iteration = (double)plans->batch * (double)plans->seq;
    out->share = (double)plans->gpus / (double)t->s->request->gpus;
    FAB_FORMAT(o->engine, "%s", plans->engine);
    FAB_FORMAT(o->job, "%s on %" PRIu64 " GPUs, batch %" PRIu64, plans->model, plans->gpus, plans->batch);
    if (plans->batch_unrounded > 0) {
        char reason[FAB_BATCH_REASON];
        fab_append(o->job, sizeof o->job, " (%s)",
                   fab_job_batch_reason(plans->batch, plans->batch_unrounded, plans->gpus, reason));
    }
    fab_append(o->job, sizeof o->job, " of %" PRIu64 " tokens, under its best plan", plans->seq);
    return FAB_OK;
}

static fab_status find_floor(token_search *t, const ranked *r, size_t *out, fab_error *err) {
    const structure *x = r->structure;
    for (*out = 0; *out < t->n_floors; (*out)++) {
        const token_floor *f = &t->floors[*out];
        if (f->family == x->family && f->planes == x->planes && f->domain == x->domain &&
            f->rails_per_switch == x->rails_per_switch && f->nic_bps == x->nic_bps) {
            return FAB_OK;
        }
    }
    FAB_PASS(FAB_GROW(t->floors, t->floor_capacity, t->n_floors + 1, err));
    t->floors[t->n_floors++] = (token_floor){.family = x->family,
                                             .planes = x->planes,
                                             .domain = x->domain,
                                             .rails_per_switch = x->rails_per_switch,
                                             .nic_bps = x->nic_bps};
    FAB_PASS(measure_floor(t, r, &t->floors[*out], err));
    if (t->s->request->progress != NULL) {
        tell_plan(t, 0, 1);
    }
    return FAB_OK;
}

/* That of tapers which round to the same fabric as those of a candidate; NULL: none before it. */
static ranked *find_equal(const token_search *t, const structure *x, const candidate *c) {
    for (size_t i = t->n; i > 0 && t->all[i - 1].structure == x; i--) {
        const candidate *other = t->all[i - 1].candidate;
        FAB_ALL(has_tapers, k, FAB_MAX_TIERS, other->built[k] == c->built[k]);
        FAB_ALL(has_values, g, N_GOALS, other->value[g] == c->value[g]);
        if (has_tapers && has_values && other->n_switches == c->n_switches && other->n_cables == c->n_cables) {
            return &t->all[i - 1];
        }
    }
    return NULL;
}

/* All that keep the limits, with their bounds. */
static fab_status list_candidates(token_search *t, fab_error *err) {
    t->most = (size_t)t->s->request->most_replays;
    FAB_EACH(structure, x, t->s->structures, t->s->n_structures) {
        for (size_t k = 0; k < x->n_candidates; k++) {
            size_t floor = 0;
            ranked added = {.structure = x, .candidate = &x->candidates[k], .order = t->n, .n = 1};
            ranked *equal = find_equal(t, x, added.candidate);
            if (equal != NULL) {
                equal->n++;
            } else if (optimize_keeps_limits(t->s, added.candidate)) {
                FAB_PASS(find_floor(t, &added, &floor, err));
                FAB_PASS(FAB_APPEND(t->all, t->n, t->capacity, err, added));
            }
        }
    }
    for (size_t i = 0; i < t->n; i++) { /* the list of floors stands still now */
        size_t floor = 0;
        ranked *r = &t->all[i];
        FAB_PASS(find_floor(t, r, &floor, err));
        r->floor = &t->floors[floor];
        r->candidate->token_usd = r->floor->is_refused ? INFINITY : tokens_price_of(t, r, r->floor->iteration_s);
        t->out->tokens.n_refused += r->floor->is_refused ? r->n : 0;
    }
    return FAB_OK;
}

/* --- replays ------------------------------------------------------------------------------------------------------ */

void tokens_enter(token_search *t, ranked *r) {
    if (t->n_best > FAB_RUNNERS_UP && tokens_by_price(r, t->best[FAB_RUNNERS_UP]) > 0) {
        return;
    }
    size_t at = t->n_best <= FAB_RUNNERS_UP ? t->n_best++ : FAB_RUNNERS_UP;
    while (at > 0 && tokens_by_price(r, t->best[at - 1]) < 0) {
        t->best[at] = t->best[at - 1];
        at--;
    }
    t->best[at] = r;
}

static void refuse(token_search *t, ranked *r, const fab_error *why) {
    note_refusal(t, why);
    r->candidate->token_usd = INFINITY;
    t->out->tokens.n_refused += r->n;
}

/* NICs and what lets them out of their leaves are the same. */
static bool has_same_leaves(const ranked *a, const ranked *b) {
    const tier_option *x = &a->structure->tier[0];
    const tier_option *y = &b->structure->tier[0];
    return a->floor == b->floor && a->structure->n_tiers == b->structure->n_tiers && x->model == y->model &&
           x->breakout == y->breakout && x->breakout_up == y->breakout_up &&
           a->candidate->asked[0] == b->candidate->asked[0] && a->candidate->built[0] == b->candidate->built[0] &&
           a->candidate->n_leaves == b->candidate->n_leaves &&
           a->candidate->n_leaf_cables == b->candidate->n_leaf_cables;
}

/* After a search in which no plan was cheap enough. */
static void raise_bounds(token_search *t, ranked *r, const fab_plans *plans, double below_usd) {
    if (!plans->is_proven) {
        return;
    }
    r->candidate->token_usd = fmax(r->candidate->token_usd, below_usd);
    for (size_t i = 0; plans->n_networks == 0 && isfinite(plans->lower_bound_s) && i < t->n; i++) {
        ranked *other = &t->all[i];
        if (!other->is_tried && has_same_leaves(r, other)) {
            other->candidate->token_usd =
                fmax(other->candidate->token_usd, tokens_price_of(t, other, plans->lower_bound_s));
        }
    }
}

/* Looks whether the design has a place in the list. */
static fab_status replay(token_search *t, ranked *r, double below_usd, fab_error *err) {
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *fabric = NULL;
    FAB_OWNS(fab_plans_free_owned) fab_plans *plans = NULL;
    fab_error why = {.code = FAB_OK};
    token_judged best = {.n = 0};
    FAB_OWNED_NEW(fab_optimum_point, point, 1, err);
    FAB_PASS(tokens_open(t, r, point, &fabric, err));
    fab_plan_request request = tokens_plan_request(t, fabric, r->floor->kept);
    request.below_s = tokens_seconds_below(t, r, below_usd);
    const fab_status status = fab_plan_search(&request, &plans, &why);
    if (fab_is_refusal(status)) {
        refuse(t, r, &why);
        return FAB_OK;
    }
    FAB_PASS(fab_fail_as(err, status, &why));
    if (plans->n_plans_listed == 0) { /* no plan is that fast, or none was found in time */
        raise_bounds(t, r, plans, below_usd);
        return FAB_OK;
    }
    r->plan = plans->plans[0].plan;
    FAB_PASS(tokens_judge(t, r, fabric, plans, &best, err));
    if (best.n == 0) {
        refuse(t, r, &best.why);
        return FAB_OK;
    }
    FAB_REFUSE_IF(best.usd < r->candidate->token_usd * (1 - ROUNDING), err, FAB_EINTERNAL, point->design,
                  "1e9 tokens cost %.17g USD, less than their bound of %.17g", best.usd, r->candidate->token_usd);
    r->open_usd = plans->is_proven ? 0 : r->candidate->token_usd;
    point->n_plans_tried = t->s->request->scenarios != NULL ? best.n : 0;
    tokens_keep_replay(t, r, &best, point);
    FAB_PASS(t->s->request->scenarios != NULL ? fab_plan_list_add(&t->shared, &r->plan, NULL, err) : FAB_OK);
    t->out->tokens.n_replayed++;
    r->point = point;
    point = NULL;
    tokens_enter(t, r);
    return FAB_OK;
}

static fab_status replay_all(token_search *t, const ranked **out_cheapest, fab_error *err) {
    search *s = t->s;
    const fab_optimize_request *q = s->request;
    const uint64_t most = q->most_replays > 0 ? q->most_replays : UINT64_MAX;
    size_t step = 0;
    ranked *next = NULL;
    t->most = (size_t)(most < t->n ? most : t->n);
    *out_cheapest = tokens_cheapest_network(t);
    for (uint64_t n_tried = 0; n_tried < most && (next = tokens_next(t, &step)) != NULL; n_tried++) {
        s->timed_out = s->timed_out || optimize_now_s() > s->deadline_s;
        if (s->timed_out && t->n_best > 0) {
            break;
        }
        next->is_tried = true;
        t->look_until_s = tokens_look_until(t);
        FAB_PASS(isfinite(next->candidate->token_usd) ? replay(t, next, tokens_worst_listed(t), err) : FAB_OK);
        t->n_tried = n_tried + 1;
        if (q->progress != NULL) {
            tell_plan(t, 0, 1);
        }
    }
    return q->scenarios != NULL ? tokens_try_shared(t, err) : FAB_OK;
}

/* --- result ------------------------------------------------------------------------------------------------------- */

static bool lists_family(const token_search *t, size_t n, const char *family) {
    FAB_ANY(is_among, i, n, t->best[i]->structure->family == family);
    return is_among;
}

/* The best replayed of each family takes the place of the dearest whose family has a cheaper one. */
static void list_families(token_search *t) {
    for (;;) {
        ranked *added = NULL;
        size_t at = t->n_best - 1;
        FAB_EACH(ranked, r, t->all, t->n) {
            if (r->point != NULL && !lists_family(t, t->n_best, r->structure->family) &&
                (added == NULL || tokens_by_price(r, added) < 0)) {
                added = r;
            }
        }
        while (at > 0 && !lists_family(t, at, t->best[at]->structure->family)) {
            at--;
        }
        if (added == NULL || at == 0) {
            return;
        }
        for (; at + 1 < t->n_best; at++) {
            t->best[at] = t->best[at + 1];
        }
        t->best[at] = added; /* dearer than all that are left: it was not among them */
    }
}

static void count_proofs(token_search *t) {
    fab_token_search *o = &t->out->tokens;
    const double winner_usd = t->best[0]->candidate->token_usd;
    double least = winner_usd;
    for (size_t i = 0; i < t->n; i++) {
        const candidate *c = t->all[i].candidate;
        const bool is_known = c->is_replayed || !isfinite(c->token_usd);
        o->n_bounded += is_known                     ? (uint64_t)c->is_replayed * (t->all[i].n - 1)
                        : c->token_usd >= winner_usd ? t->all[i].n
                                                     : 0;
        o->n_open += !is_known && c->token_usd < winner_usd ? t->all[i].n : 0;
        o->is_late = o->is_late || t->all[i].open_usd > 0;
        least = fmin(least, t->all[i].open_usd > 0 ? t->all[i].open_usd : c->token_usd);
        structure *x = t->all[i].structure; /* its best is that of the other objective */
        x->best =
            x->best == NULL || !optimize_keeps_limits(t->s, x->best) || c->token_usd < x->best->token_usd ? c : x->best;
    }
    tokens_name_unseen(t);
    o->floor_s = t->best[0]->floor->iteration_s;
    o->lower_bound_usd_per_1e9_tokens = least;
    o->gap_ratio = winner_usd / least - 1;
    o->is_late = o->is_late || t->s->timed_out;
    t->out->is_proven = !o->is_late && o->n_open == 0;
    t->s->winner = t->best[0]->structure;
}

static void list_point(const fab_optimum_point *winner, const fab_optimum_point *from, fab_optimum_point *out) {
    *out = *from;
    out->difference_ratio = from->total_usd / winner->total_usd - 1;
    out->token_difference_ratio = from->usd_per_1e9_tokens / winner->usd_per_1e9_tokens - 1;
}

/* The printed line with the job under its plan, or under the best one of another engine, evaluated as `compare` does.
 * Opens t->design. `is_apart`: ranks are placed at random, on the healthy fabric. */
static fab_status evaluate_winner(token_search *t, const fab_engine_spec *engine, bool is_apart, uint64_t n_seeds,
                                  fab_sweep_point *out, fab_error *err) {
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *fabric = NULL;
    bool fits = false;
    const fab_optimize_request *q = t->s->request;
    const fab_sweep_request request = {.traffic = "job",
                                       .seed = q->seed,
                                       .n_seeds = n_seeds,
                                       .n_threads = q->n_threads,
                                       .scenarios = is_apart ? NULL : q->scenarios,
                                       .policy = t->best[0]->policy};
    FAB_OWNED_NEW(fab_optimum_point, again, 1, err);
    FAB_PASS(tokens_open(t, t->best[0], again, &fabric, err));
    if (engine == NULL) {
        FAB_PASS(fab_plan_set(t->design, fabric, &t->best[0]->plan, "", t->planned, &fits, err));
    } else {
        *t->planned = *t->design;
        t->planned->engines[0] = *engine;
    }
    t->planned->jobs[0].placement = is_apart ? FAB_PLACEMENT_RANDOM : t->planned->jobs[0].placement;
    return fab_sweep_evaluate(&request, t->planned, out, err);
}

static double tokens_usd_of(const token_search *t, const fab_sweep_point *p) {
    const double usd = p->n_engines > 0 ? p->engines[0].iteration.owned_usd_per_1e9_tokens : 0;
    return t->s->request->scenarios != NULL && p->n_engines > 0 ? fab_with_failures(&p->engines[0], usd) : usd;
}

/* The search and a run of what it found agree; under the engine that `run` and `compare` have by default, and with its
 * ranks placed at random where it has a taper, it is another. */
static fab_status check_tokens(token_search *t, const fab_optimum_point *p, fab_error *err) {
    static const fab_engine_spec HASHED = {.text = "ecmp", .where = FAB_DEFAULT_ENGINE};
    FAB_OWNS(fab_sweep_point_release) fab_sweep_point again = {.n_phases = 0};
    FAB_OWNS(fab_sweep_point_release) fab_sweep_point apart = {.n_phases = 0};
    FAB_OWNS(fab_sweep_point_release) fab_sweep_point hashed = {.n_phases = 0};
    const uint64_t n_seeds = p->draws > 0 ? p->draws : 1;
    fab_error why = {.code = FAB_OK}; /* what others do may be unknown where what the winner does is known */
    FAB_PASS(evaluate_winner(t, NULL, false, n_seeds, &again, err));
    const double usd = tokens_usd_of(t, &again);
    FAB_REFUSE_IF(fabs(usd - p->usd_per_1e9_tokens) > 1e-6 * p->usd_per_1e9_tokens, err, FAB_EINTERNAL, p->design,
                  "1e9 tokens cost %.10g USD in the search and %.10g in a run", p->usd_per_1e9_tokens, usd);
    fab_status status = FAB_OK;
    if (p->max_taper > 1 && t->planned->jobs[0].placement != FAB_PLACEMENT_RANDOM) {
        status = evaluate_winner(t, NULL, true, n_seeds, &apart, &why);
        t->out->tokens.random_s = status == FAB_OK && apart.n_engines > 0 ? apart.engines[0].iteration.time_s : 0;
    }
    if (!t->out->tokens.is_drawn && (status == FAB_OK || fab_is_refusal(status))) {
        status = evaluate_winner(t, &HASHED, false, 0, &hashed, &why);
        t->out->tokens.hashed_usd_per_1e9_tokens = tokens_usd_of(t, &hashed);
    }
    return fab_unless_refused(err, status, &why);
}

/* Whether the job does more on fewer servers of the winner than on all, with which designs were judged. */
static fab_status find_fewer(token_search *t, fab_error *err) {
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *fabric = NULL;
    FAB_OWNS(fab_plans_free_owned) fab_plans *plans = NULL;
    const double least_s = t->best[0]->point->iteration_s * (1 + ROUNDING);
    FAB_OWNED_NEW(fab_optimum_point, again, 1, err);
    FAB_PASS(tokens_open(t, t->best[0], again, &fabric, err));
    fab_plan_request request = tokens_plan_request(t, fabric, NULL);
    t->look_until_s = t->s->deadline_s;
    request.progress = NULL;
    request.below_s = t->out->tokens.is_drawn ? 0 : least_s;
    FAB_PASS(fab_plan_try(&request, &plans, err));
    if (plans != NULL && plans->n_plans_listed > 0 && fab_planned_s(&plans->plans[0]) <= least_s) {
        request.n_orders = 1;
        FAB_PASS(fab_plan_beside(&request, plans, err));
        t->out->tokens.fewer = plans->fewer;
    }
    return FAB_OK;
}

#define DRAWN_PART 4 /* one in so many replays, where an engine draws and each takes so many seeds */

/* Whether another design has cheaper tokens where the job runs as it does best on the winner, all GPUs paid for. */
static fab_status search_beside(token_search *t, fab_error *err) {
    FAB_OWNS(fab_optimum_free_owned) fab_optimum *other = NULL;
    fab_token_search *o = &t->out->tokens;
    fab_optimize_request q = *t->s->request;
    fab_error why = {.code = FAB_OK};
    const double left_s = t->s->deadline_s - optimize_now_s();
    if (o->fewer.servers == 0 || q.scenarios != NULL || left_s <= 0) {
        return FAB_OK;
    }
    q.servers = o->fewer.servers;
    q.batch = o->fewer.batch;
    q.most_replays = o->is_drawn && q.most_replays > 0 ? q.most_replays / DRAWN_PART + 1 : q.most_replays;
    q.time_limit_s = isfinite(left_s) ? left_s : 0;
    o->fewer_usd_per_1e9_tokens = t->out->winner.usd_per_1e9_tokens / o->fewer.gain;
    const fab_status status = fab_optimize(&q, &other, &why);
    FAB_PASS(fab_unless_refused(err, status, &why));
    if (status == FAB_OK) {
        const double usd = other->winner.usd_per_1e9_tokens * (double)q.gpus / (double)o->fewer.gpus;
        if (usd < o->fewer_usd_per_1e9_tokens * (1 - FAB_EVEN_RATIO)) {
            o->fewer_winner = other->winner;
            o->fewer_winner.usd_per_1e9_tokens = usd;
        }
    }
    return FAB_OK;
}

fab_status optimize_by_tokens(search *s, fab_optimum *out, fab_error *err) {
    FAB_OWNS(tokens_close) token_search t = {.s = s, .out = out, .look_until_s = s->deadline_s};
    const ranked *cheapest = NULL;
    FAB_PASS(FAB_NEW_ALL(1, err, t.design, t.planned));
    FAB_PASS(list_candidates(&t, err));
    FAB_PASS(replay_all(&t, &cheapest, err));
    FAB_REFUSE_IF(t.n_best == 0, err, FAB_EUNSUPPORTED, "optimize", "no design of the catalog can be replayed: %s",
                  out->tokens.refused_note);
    count_proofs(&t);
    list_families(&t);
    out->tokens.most_replays = s->request->most_replays;
    if (s->request->scenarios != NULL) {
        FAB_FORMAT(out->tokens.scenarios, "%s", s->request->scenarios);
        FAB_FORMAT(out->tokens.policy, "%s", fab_policies[t.best[0]->policy]);
    }
    out->tokens.plan = t.best[0]->plan;
    memcpy(out->tokens.sold_unlike, t.best[0]->floor->sold_unlike, sizeof out->tokens.sold_unlike);
    FAB_FORMAT(out->tokens.options, "%s", s->request->replay_options);
    for (size_t i = 0; i < t.n_best; i++) {
        fab_optimum_point *p = i == 0 ? &out->winner : &out->runners_up[i - 1];
        const char *family = t.best[i]->structure->family;
        list_point(t.best[0]->point, t.best[i]->point, p);
        p->token_least_ratio = p->token_difference_ratio;
        if (i > 0 && !lists_family(&t, i, family)) {
            const double least_ratio = tokens_least_of_family(&t, family) / t.best[0]->point->usd_per_1e9_tokens - 1;
            p->token_least_ratio = fmin(least_ratio, p->token_difference_ratio);
        }
        out->n_runners_up = i;
    }
    if (cheapest->point != NULL) {
        list_point(t.best[0]->point, cheapest->point, &out->cheapest);
    }
    if (s->request->servers > 0) {
        return FAB_OK;
    }
    FAB_PASS(optimize_now_s() > s->deadline_s ? FAB_OK : find_fewer(&t, err));
    FAB_PASS(search_beside(&t, err));
    FAB_PASS(optimize_now_s() > s->deadline_s ? FAB_OK
                                              : check_tokens(&t, &out->winner, err)); /* as long again as its replay */
    return FAB_OK;
}
