/* The search from request to result, and the check that the winner is what the search believed it to be. */
#include "fab/prices.h"
#include "fab/design.h"
#include "optimize_internal.h"

#include "fab/analysis.h"
#include "fab/ownership.h"
#include "fab/units.h"

#define CLOSE        1e-6 /* relative difference of two ways to the same figure */
#define SEARCH_BYTES 8e6  /* structures that a catalog allows, at least */
#define MOST_BYTES   1e13 /* of any machine */

/* --- one-line form ------------------------------------------------------------------------------------------------ */

typedef enum tier_key { KEY_RADIX, KEY_PORT, KEY_BREAKOUT, KEY_BREAKOUT_UP, KEY_TAPER } tier_key;

static void tier_value(const fab_fabric_spec *spec, size_t i, tier_key key, char *out) {
    const fab_tier_spec *t = &spec->tier[i];
    switch (key) {
    case KEY_RADIX: (void)snprintf(out, 40, "%" PRIu64, t->radix); break;
    case KEY_PORT: (void)fab_quantity_exact(out, t->port_bps, FAB_UNIT_RATE); break;
    case KEY_BREAKOUT: (void)snprintf(out, 40, "%" PRIu64, t->breakout); break;
    case KEY_BREAKOUT_UP: (void)snprintf(out, 40, "%" PRIu64, t->breakout_up); break;
    case KEY_TAPER: fab_format_double(out, t->taper); break;
    }
}

/* ",key=a/b/c", shorter where the last values repeat as the reader repeats them. */
static void optimize_add_list(const fab_fabric_spec *spec, const char *name, tier_key key, fab_str *out) {
    char value[40];
    char last[40];
    size_t n = (size_t)spec->tiers;
    if (key == KEY_TAPER) {
        while (n > 0 && (n == spec->tiers || spec->tier[n - 1].taper == 1)) {
            n--;
        }
    } else {
        for (; n > 1; n--) {
            tier_value(spec, n - 1, key, last);
            tier_value(spec, n - 2, key, value);
            if (strcmp(value, last) != 0) {
                break;
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        tier_value(spec, i, key, value);
        fab_str_printf(out, "%s%s%s%s", i == 0 ? "," : "/", i == 0 ? name : "", i == 0 ? "=" : "", value);
    }
}

static void add_one_line(const fab_fabric_spec *spec, const fab_prices *prices, fab_str *out) {
    char rate[40];
    bool splits = false;
    bool splits_up = false;
    for (size_t i = 0; i < spec->tiers; i++) {
        splits = splits || spec->tier[i].breakout != 1;
        splits_up = splits_up || (i + 1 < spec->tiers && spec->tier[i].breakout_up != spec->tier[i].breakout);
    }
    fab_str_printf(out, "%s:gpus=%" PRIu64, spec->family, spec->gpus);
    if (spec->gpus_per_server != 8) {
        fab_str_printf(out, ",gpus-per-server=%" PRIu64, spec->gpus_per_server);
    }
    if (spec->nics_per_server != spec->gpus_per_server) {
        fab_str_printf(out, ",nics-per-server=%" PRIu64, spec->nics_per_server);
    }
    if (spec->domain != spec->gpus_per_server) {
        fab_str_printf(out, ",domain=%" PRIu64, spec->domain);
    }
    fab_str_printf(out, ",nic=%s", fab_quantity_exact(rate, spec->nic_bps, FAB_UNIT_RATE));
    if (spec->planes != 1) {
        fab_str_printf(out, ",planes=%" PRIu64, spec->planes);
    }
    fab_str_printf(out, ",tiers=%" PRIu64, spec->tiers);
    optimize_add_list(spec, "radix", KEY_RADIX, out);
    optimize_add_list(spec, "port", KEY_PORT, out);
    if (splits) {
        optimize_add_list(spec, "breakout", KEY_BREAKOUT, out);
    }
    if (splits_up) {
        optimize_add_list(spec, "breakout-up", KEY_BREAKOUT_UP, out);
    }
    optimize_add_list(spec, "taper", KEY_TAPER, out);
    if (spec->rails_per_switch != 0) {
        fab_str_printf(out, ",rails-per-switch=%" PRIu64, spec->rails_per_switch);
    }
    if (strcmp(prices->name, FAB_DEFAULT_PRICES) != 0) { /* the same cost wherever it is pasted */
        const char *origin = prices->origin;
        origin += strncmp(origin, "prices:", 7) == 0 ? 7 : 0;
        fab_str_printf(out, ",prices=%s", origin);
    }
}

/* --- a design of the search as a result --------------------------------------------------------------------------- */

fab_status optimize_describe(const search *s, const structure *x, const candidate *c, double winner_usd,
                             fab_optimum_point *out, fab_error *err) {
    fab_fabric_spec spec;
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    fab_optimum_point p = {.tiers = x->n_tiers,
                           .planes = x->planes,
                           .domain = x->domain,
                           .rails_per_switch = x->rails_per_switch,
                           .nic_bps = x->nic_bps,
                           .n_switches = c->n_switches,
                           .n_cables = c->n_cables,
                           .max_taper = c->value[GOAL_TAPER],
                           .total_usd = c->value[GOAL_COST],
                           .power_w = c->value[GOAL_POWER],
                           .difference_ratio = c->value[GOAL_COST] / winner_usd - 1};
    FAB_PASS(optimize_base_spec(x, &spec, err));
    p.bisection_ratio = spec.gpus > spec.gpus_per_server ? -c->value[GOAL_BISECTION] : NAN;
    for (size_t i = 0; i < FAB_MAX_TIERS; i++) {
        spec.tier[i].taper = c->asked[i];
        p.built_taper[i] = c->built[i];
    }
    add_one_line(&spec, s->request->prices, &text);
    FAB_PASS(fab_str_status(&text, err));
    FAB_REFUSE_IF(text.length >= sizeof p.design, err, FAB_EINTERNAL, NULL, "a one-line form of %zu characters",
                  text.length);
    FAB_FORMAT(p.design, "%s", text.data);
    FAB_FORMAT(p.family, "%s", x->family);
    optimize_switch_text(x, p.switches, sizeof p.switches);
    *out = p;
    return FAB_OK;
}

static bool differ(double a, double b) {
    return fabs(a - b) > CLOSE * fmax(fabs(a), fabs(b));
}

/* The one-line form, read as a user's, must give the counts and the cost that the search worked with; built where there
 * is time for it, also the bisection. */
static fab_status verify(const search *s, const fab_optimum_point *p, bool build, fab_error *err) {
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *graph = NULL;
    double cut_bps = 0;
    FAB_OWNED_NEW(fab_design, design, 1, err);
    FAB_OWNED_NEW(fab_counts, counts, 1, err);
    FAB_OWNED_NEW(fab_cost, cost, 1, err);
    FAB_PASS(optimize_read(s, p->design, design, err));
    FAB_PASS(fab_topology_predict(&design->fabric, counts, err));
    FAB_PASS(fab_cost_of(&design->fabric, counts, s->request->prices, cost, err));
    FAB_REFUSE_IF(counts->switches != p->n_switches || counts->cables != p->n_cables ||
                      differ(cost->total_usd, p->total_usd) || differ(cost->power_w, p->power_w),
                  err, FAB_EINTERNAL, p->design,
                  "the search counts %" PRIu64 " switches, %" PRIu64 " cables, %.10g USD; the design has %" PRIu64
                  ", %" PRIu64 ", %.10g",
                  p->n_switches, p->n_cables, p->total_usd, counts->switches, counts->cables, cost->total_usd);
    if (build && optimize_now_s() <= s->deadline_s) {
        design->fabric.max_bytes = s->request->max_bytes;
        FAB_PASS(fab_topology_build(&design->fabric, &graph, NULL, err));
        FAB_PASS(fab_bisection(graph, &cut_bps, err));
        double ratio = fab_bisection_ratio(&design->fabric, counts, cut_bps);
        FAB_REFUSE_IF(differ(ratio, p->bisection_ratio), err, FAB_EINTERNAL, p->design,
                      "closed form says a bisection of %.10g, the graph has %.10g", p->bisection_ratio, ratio);
    }
    return FAB_OK;
}

/* --- the result --------------------------------------------------------------------------------------------------- */

static double usd_of(const structure *x) {
    return x->best != NULL ? x->best->value[GOAL_COST] : INFINITY;
}

/* The cheapest choice behind those that stand before it; the first of equals. NULL: none is left. */
static const structure *next_best(const search *s, const structure *last) {
    const structure *best = NULL;
    FAB_EACH(const structure, x, s->structures, s->n_structures) {
        bool is_behind = last == NULL || usd_of(x) > usd_of(last) || (usd_of(x) == usd_of(last) && x > last);
        if (x->best != NULL && is_behind && (best == NULL || usd_of(x) < usd_of(best))) {
            best = x;
        }
    }
    return best;
}

static fab_status add_best(const search *s, fab_optimum *o, fab_error *err) {
    const structure *next = next_best(s, NULL);
    const double winner_usd = next != NULL ? usd_of(next) : NAN;
    for (size_t i = 0; i <= FAB_RUNNERS_UP && next != NULL; i++, next = next_best(s, next)) {
        fab_optimum_point *p = i == 0 ? &o->winner : &o->runners_up[i - 1];
        FAB_PASS(optimize_describe(s, next, next->best, winner_usd, p, err));
        FAB_PASS(verify(s, p, i == 0, err));
        o->n_runners_up = i;
    }
    return FAB_OK;
}

static fab_status add_front(const search *s, goal other, double winner_usd, fab_optimum_point **out, size_t *out_n,
                            fab_error *err) {
    FAB_OWNED_NEW(found, front, MAX_FRONT, err);
    size_t n = optimize_front(s, other, front);
    FAB_PASS(FAB_NEW(*out, n, err));
    for (; *out_n < n; (*out_n)++) {
        FAB_PASS(
            optimize_describe(s, front[*out_n].structure, front[*out_n].candidate, winner_usd, &(*out)[*out_n], err));
        FAB_PASS(verify(s, &(*out)[*out_n], false, err));
    }
    return FAB_OK;
}

/* A choice that was not replayed loses by its bound, or it is not known whether it loses. */
static void explain_tokens(const candidate *best, double winner_usd, fab_optimum_loser *l) {
    char money[32];
    const bool is_tried = best->is_replayed || !isfinite(best->token_usd);
    l->least_usd_per_1e9_tokens = isfinite(best->token_usd) ? best->token_usd : 0;
    l->loss = is_tried ? FAB_LOSS_COST : best->token_usd < winner_usd ? FAB_LOSS_UNSEEN : FAB_LOSS_BOUND;
    if (!isfinite(best->token_usd)) {
        FAB_FORMAT(l->reason, "cannot be replayed");
        return;
    }
    FAB_FORMAT(l->reason, "%s%s per 1e9 tokens%s (%+.2f %%)", is_tried ? "" : "not tried; at least ",
               fab_price_format(money, best->token_usd), is_tried ? "" : " by a bound",
               100 * (best->token_usd / winner_usd - 1));
}

static fab_optimum_loser describe_loser(const structure *x, const fab_optimum *o) {
    char money[32];
    fab_optimum_loser l = {.tiers = x->n_tiers,
                           .planes = x->planes,
                           .domain = x->domain,
                           .rails_per_switch = x->rails_per_switch,
                           .nic_bps = x->nic_bps,
                           .loss = x->loss};
    FAB_FORMAT(l.family, "%s", x->family);
    FAB_FORMAT(l.reason, "%s", x->reason);
    optimize_switch_text(x, l.switches, sizeof l.switches);
    if (x->best != NULL) {
        l.total_usd = usd_of(x);
        l.difference_ratio = l.total_usd / o->winner.total_usd - 1;
        FAB_FORMAT(l.reason, "costs %s (%+.1f %%)", fab_money_format(money, l.total_usd), 100 * l.difference_ratio);
    }
    if (x->best != NULL && o->objective == FAB_OBJECTIVE_TOKENS) {
        explain_tokens(x->best, o->winner.usd_per_1e9_tokens, &l);
    }
    return l;
}

static fab_status add_losers(const search *s, fab_optimum *o, fab_error *err) {
    const structure *winner = o->objective == FAB_OBJECTIVE_TOKENS ? s->winner : next_best(s, NULL);
    FAB_PASS(FAB_NEW(o->rejected, s->n_structures, err));
    FAB_EACH(const structure, x, s->structures, s->n_structures) {
        if (x != winner) {
            o->rejected[o->n_rejected++] = describe_loser(x, o);
        }
        o->n_candidates += x->n_candidates;
    }
    return FAB_OK;
}

/* --- request ------------------------------------------------------------------------------------------------------ */

/* The GPU that is bought, and whether the book has all that is. */
static fab_status open_ownership(search *s, fab_error *err) {
    const fab_optimize_request *q = s->request;
    fab_ownership o = {.years = 0};
    const char *gpu = q->replayed->n_jobs > 0 ? q->replayed->jobs[0].gpu : "";
    FAB_OWNED_NEW(fab_fabric_result, one, 1, err);
    FAB_PASS(fab_gpu_read(gpu[0] != '\0' ? gpu : FAB_DEFAULT_GPU, "--job", &s->gpu, err));
    one->spec.gpus_per_server = q->gpus_per_server != 0 ? q->gpus_per_server : q->catalog->gpus_per_server;
    one->counts.servers = 1;
    fab_ownership_add_up(q->prices, one, &s->gpu, &o);
    FAB_REFUSE_IF(
        o.missing[0] != '\0', err, FAB_EINPUT, q->prices->name,
        "tokens have no cost of ownership: the price book has no %s; add it to what list prices %s --file prints, "
        "and give that file with --prices",
        o.missing, q->prices->name);
    s->years = q->prices->years;
    return FAB_OK;
}

static void optimize_release(search *s) {
    for (size_t i = 0; i < s->n_structures; i++) {
        free(s->structures[i].candidates);
    }
    FAB_FREE_ALL(s->structures, s->bases);
}

/* The user's limits by goal. */
static limits limits_of(const fab_limits *l) {
    return (limits){.given = {[GOAL_TAPER] = l->has_taper,
                              [GOAL_BISECTION] = l->has_bisection,
                              [GOAL_POWER] = l->has_power,
                              [GOAL_COST] = l->has_budget},
                    .most = {[GOAL_TAPER] = l->max_taper,
                             [GOAL_BISECTION] = -l->min_bisection_ratio,
                             [GOAL_POWER] = l->max_power_w,
                             [GOAL_COST] = l->budget_usd}};
}

/* What is dearer is looked at on one side alone: a larger taper was not tried. */
static double edge_taper_of(const fab_optimize_request *q, const fab_optimum *o) {
    const fab_catalog *c = q->catalog;
    const double largest = c->tapers[c->n_tapers - 1], next = c->n_tapers > 1 ? c->tapers[c->n_tapers - 2] : 1;
    const bool is_limited = (q->limits.has_taper && q->limits.max_taper <= largest) ||
                            (q->limits.has_bisection && q->limits.min_bisection_ratio * largest >= 1);
    return o->winner.max_taper > next && !is_limited ? largest : 0;
}

/* Ports split in more, each to a plane of its own, reach more GPUs with fewer tiers. */
static void find_edges(const fab_catalog *c, fab_optimum *o) {
    for (size_t i = 0; i < c->n_switches && o->winner.tiers > 1; i++) {
        const fab_catalog_switch *model = &c->switches[i];
        const uint64_t most = model->breakouts[model->n_breakouts - 1];
        o->edge_breakout = most > o->edge_breakout ? most : o->edge_breakout;
        o->edge_planes = c->planes[c->n_planes - 1];
    }
}

fab_status fab_optimize(const fab_optimize_request *request, fab_optimum **out, fab_error *err) {
    FAB_OWNS(optimize_release)
    search s = {.request = request,
                .limits = limits_of(&request->limits),
                .deadline_s = request->time_limit_s > 0 ? optimize_now_s() + request->time_limit_s : INFINITY};
    FAB_PASS(request->replayed != NULL ? open_ownership(&s, err) : FAB_OK);
    const double bytes = fmax(optimize_bytes(request), SEARCH_BYTES);
    FAB_PASS(fab_memory_check("the search of a catalog", bytes, request->max_bytes, err));
    /* counts of choices would not be exact, nor end */
    FAB_REFUSE_IF(bytes > MOST_BYTES, err, FAB_ELIMIT, "optimize",
                  "the catalog has choices for %.3g bytes of memory, limit %.3g", bytes, MOST_BYTES);
    FAB_OWNS_NEW(fab_optimum_free_owned, fab_optimum, o, 1, err);
    FAB_PASS(optimize_enumerate(&s, err));
    optimize_rank(&s);
    FAB_PASS(next_best(&s, NULL) == NULL ? optimize_explain_infeasible(&s, err) : FAB_OK);
    o->is_proven = !s.timed_out;
    if (request->replayed != NULL) {
        o->objective = FAB_OBJECTIVE_TOKENS;
        FAB_PASS(optimize_by_tokens(&s, o, err));
        FAB_PASS(verify(&s, &o->winner, true, err));
    } else {
        FAB_PASS(add_best(&s, o, err));
        o->lower_bound_usd = o->is_proven ? o->winner.total_usd : 0;
    }
    FAB_FORMAT(o->prices, "%s", request->prices->name);
    FAB_PASS(add_losers(&s, o, err));
    FAB_PASS(add_front(&s, GOAL_BISECTION, o->winner.total_usd, &o->by_bisection, &o->n_by_bisection, err));
    FAB_PASS(add_front(&s, GOAL_POWER, o->winner.total_usd, &o->by_power, &o->n_by_power, err));
    o->fronts_complete = !s.timed_out && o->n_by_bisection < MAX_FRONT && o->n_by_power < MAX_FRONT;
    o->gpus = request->gpus;
    o->limits = request->limits;
    o->edge_taper = edge_taper_of(request, o);
    find_edges(request->catalog, o);
    o->n_structures = s.n_structures;
    FAB_FORMAT(o->catalog, "%s", request->catalog->name);
    FAB_FORMAT(o->source, "%s", request->catalog->source);
    return FAB_GIVE(*out, o);
}

FAB_FREES_AFTER(fab_optimum_free, fab_optimum, optimum) {
    FAB_FREE_ALL(optimum->by_bisection, optimum->by_power, optimum->rejected);
}
