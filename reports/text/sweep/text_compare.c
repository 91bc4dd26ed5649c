/* Text report: designs side by side: which is best, and what they cost by GPU hours and bought. */
#include "text/text_sections.h"

/* --- designs compared --------------------------------------------------------------------------------------------- */

#define FLAT 5e-5 /* part of a figure that its digits do not show */

/* Of those that are even with the best the next behind point i in order of the figure; n_points: there is none. */
static size_t next_even(const fab_sweep *s, const fab_verdict *v, size_t e, size_t i) {
    const double mine = fab_verdict_figure(v, &s->points[i].engines[e]);
    double least = INFINITY;
    size_t next = s->n_points;
    for (size_t k = 0; k < s->n_points; k++) {
        if (!fab_sweep_has_time(&s->points[k], e) ||
            !fab_verdict_is_even(v, &s->points[v->best].engines[e], &s->points[k].engines[e])) {
            continue;
        }
        const double its = fab_verdict_figure(v, &s->points[k].engines[e]);
        if ((its > mine || (its == mine && k > i)) && its < least) {
            least = its;
            next = k;
        }
    }
    return next;
}

/* "[3] 1.1 % more, even with [2]": the first that is not even with the best, though it may be with those that are. */
static const char *behind_show(fab_page *page, const fab_sweep *s, const fab_verdict *v, size_t e) {
    const fab_sweep_engine *behind = &s->points[v->behind].engines[e];
    const char *with = "";
    for (size_t k = v->best; (k = next_even(s, v, e, k)) < s->n_points;) {
        if (fab_verdict_is_even(v, behind, &s->points[k].engines[e])) {
            with = fab_show(page, "%s[%zu]", with[0] != '\0' ? fab_show(page, "%s, ", with) : ", even with ", k + 1);
        }
    }
    return fab_show(page, "[%zu] %s%s", v->behind + 1, fab_show_more(page, v->behind_ratio), with);
}

/* "[1], [4] and [2] are even by GPU hours: $1,134 per 1e9 tokens, 0.52 % apart, less than the model is exact; [3] ...":
 * all that are even with the best, whoever stands in between. */
static const char *even_show(fab_page *page, const fab_sweep *s, const fab_verdict *v, size_t e, const char *figure) {
    const fab_sweep_engine *best = &s->points[v->best].engines[e];
    const bool is_all = v->behind == v->best;
    const char *which = "";
    size_t last = v->best;
    for (size_t n = 1, k = last; (k = next_even(s, v, e, last)) < s->n_points; last = k, n++) {
        which = fab_show(page, "%s%s[%zu]", which, n > 1 ? ", " : "", last + 1);
    }
    which = is_all && v->n_even > 2 ? fab_show(page, "all %zu", v->n_even)
                                    : fab_show(page, "%s and [%zu]", which, last + 1);
    const double ratio = fab_verdict_figure(v, &s->points[last].engines[e]) / fab_verdict_figure(v, best) - 1;
    const double chance = fab_verdict_chance(v, best, &s->points[last].engines[e]); /* of the two so far apart */
    const char *apart = ratio < FAB_EVEN_RATIO
                            ? fab_show(page, ", %.2g %% apart, less than the model is exact", 100 * ratio)
                            : fab_show(page, ", %.2g %% apart, less than seeds%s make, %.2g %%", 100 * ratio,
                                       v->has_failures ? " and histories" : "", 100 * chance);
    return fab_show(page, "%s are %s%s%s%s%s%s", which, ratio < FLAT ? "the same" : "even",
                    figure[0] != '\0' && v->by_price ? " by GPU hours" : "", figure, ratio < FLAT ? "" : apart,
                    is_all ? "" : "; ", is_all ? "" : behind_show(page, s, v, e));
}

static const char *verdict_show(fab_page *page, const fab_sweep *s, const fab_verdict *v, size_t e) {
    const fab_sweep_engine *best = &s->points[v->best].engines[e];
    const double value = fab_verdict_figure(v, best);
    const char *figure = v->by_price         ? fab_show(page, "%s per 1e9 tokens", fab_show_price(page, value))
                         : best->has_serving ? fab_text_speed(page, best)
                                             : fab_show_time(page, value);
    figure = v->has_failures ? fab_show(page, "%s with failures", figure) : figure;
    if (v->next == v->best) {
        return fab_show(page, "[%zu] is the only one with a figure: %s%s.", v->best + 1, figure,
                        v->by_price ? " by GPU hours" : "");
    }
    return v->n_even > 1 ? fab_show(page, "%s.", even_show(page, s, v, e, fab_show(page, ": %s", figure)))
                         : fab_show(page, "[%zu] %s: %s, [%zu] %s.", v->best + 1,
                                    v->by_price ? "costs least by GPU hours" : "is fastest", figure, v->next + 1,
                                    fab_show_more(page, v->margin_ratio));
}

/* "[2]"; "[2] and [3], even within 0.4 %" or "what the histories tell"; "all alike" where no time is another. */
static const char *fastest_show(fab_page *page, const fab_sweep *s, const fab_verdict *v, size_t e) {
    const fab_sweep_engine *best = &s->points[v->fastest].engines[e];
    const char *names = "";
    const char *last = "";
    double most = 0;
    size_t n = 0;
    size_t n_even = 0;
    for (size_t i = 0; i < s->n_points; i++) {
        if (!fab_sweep_has_time(&s->points[i], e)) {
            continue;
        }
        const fab_sweep_engine *engine = &s->points[i].engines[e];
        const double above =
            v->has_failures
                ? fab_with_failures(engine, engine->compared_s) / fab_with_failures(best, best->compared_s) - 1
                : engine->compared_s / best->compared_s - 1;
        n++;
        if (fab_is_even(above, fab_verdict_chance(v, engine, best))) {
            names = fab_show(page, "%s%s%s", names, n_even > 1 ? ", " : "", last);
            last = fab_show(page, "[%zu]", i + 1);
            most = fmax(most, above);
            n_even++;
        }
    }
    if (n_even < 2) {
        return last;
    }
    names = n_even == n ? "all" : fab_show(page, "%s and %s", names, last);
    const char *within = most < FAB_EVEN_RATIO ? fab_show(page, "%.2g %%", 100 * most)
                         : v->has_failures
                             ? v->n_draws > 0 ? "what seeds and histories tell" : "what the histories tell"
                             : "what seeds make";
    return most <= FLAT ? fab_show(page, "%s alike", names)
                        : fab_show(page, "%s%s even within %s", names, n_even == n ? "" : ",", within);
}

static bool sprays(const fab_sweep *s, const fab_verdict *v, size_t e) {
    return strncmp(s->points[v->best].engines[e].label, "spray", 5) == 0;
}

/* Whether another routing, which costs no network, leaves less between the two, or none knows. */
static bool routing_may_turn(const fab_sweep *s, const fab_verdict *v, size_t e) {
    return !sprays(s, v, e) && !(v->is_sprayed && s->verdicts[1].best == v->best && s->verdicts[1].n_even == 1);
}

static const char *turning_show(fab_page *page, const fab_sweep *s, const fab_verdict *v, size_t e) {
    if (!v->by_price || v->n_even > 1 || v->next == v->best || (v->hangs_on_batch && v->turning_ratio > 1) ||
        s->points[v->next].fewer.servers > 0 || fab_text_unlike_hours(s)) {
        return "";
    }
    if (v->turning_ratio <= 1) {
        return fab_show(page, " [%zu] draws level if its network costs %.3g %% less.", v->next + 1,
                        100 * v->turning_ratio);
    }
    if (s->points[v->best].sold_unlike[0] != '\0') { /* part of it has no price */
        return "";
    }
    const bool plan_may_turn = s->scenarios[0] != '\0' && s->points[v->next].engines[e].has_plan;
    return routing_may_turn(s, v, e) || plan_may_turn
               ? ""
               : fab_show(page, " Not even a network for nothing would bring [%zu] level.", v->next + 1);
}

static const char *bought_show(fab_page *page, const fab_sweep *s, const fab_verdict *v, size_t e) {
    if (!v->is_owned || v->owned_next == v->owned_best) {
        return "";
    }
    const fab_sweep_engine *engine = &s->points[v->owned_best].engines[e];
    const fab_ownership *o = &s->points[v->owned_next].ownership;
    const double excess_usd = o->total_usd * (1 - 1 / (1 + v->owned_margin_ratio)); /* all of it the network's */
    const bool can_turn = excess_usd <= o->network_usd && s->points[v->owned_next].fewer.servers == 0 &&
                          s->points[v->owned_best].sold_unlike[0] == '\0';
    const char *turns =
        can_turn ? fab_show(page, ", level if its network costs %.3g %% less", 100 * excess_usd / o->network_usd) : "";
    double usd = engine->iteration.owned_usd_per_1e9_tokens;
    usd = v->has_failures ? fab_with_failures(engine, usd) : usd;
    const char *figure = fab_show(page, "%s per 1e9 tokens", fab_show_price(page, usd));
    return fab_is_even(v->owned_margin_ratio, fab_verdict_chance(v, engine, &s->points[v->owned_next].engines[e]))
               ? fab_show(page, " Bought for %.3g years, [%zu] and [%zu] are even: %s.",
                          s->points[v->owned_best].ownership.years, v->owned_best + 1, v->owned_next + 1, figure)
               : fab_show(page, " Bought for %.3g years, [%zu] costs least: %s, [%zu] %s%s.",
                          s->points[v->owned_best].ownership.years, v->owned_best + 1, figure, v->owned_next + 1,
                          fab_show_more(page, v->owned_margin_ratio), turns);
}

/* The cheapest network, of which no one stands out where all cost the same. */
static const char *cheapest_show(fab_page *page, const fab_sweep *s, const fab_verdict *v) {
    double least_usd = s->points[v->cheapest].total_usd;
    FAB_ALL(alike, i, s->n_points, s->points[i].total_usd <= least_usd * (1 + 1e-9));
    const char *usd = fab_show_money(page, least_usd);
    return alike ? fab_show(page, "every network costs %s", usd)
                 : fab_show(page, "cheapest network: [%zu], %s", v->cheapest + 1, usd);
}

const char *fab_text_batch(bool keeps) {
    return keeps ? "do all of the batch" : "do what they did, of a smaller batch";
}

/* What the replicas that are left do may decide more than the designs. */
static void compare_put_batch(fab_page *page, const fab_sweep *s, const fab_verdict *v) {
    if (!v->hangs_on_batch) {
        return;
    }
    FAB_ANY(keeps, i, s->n_points, s->points[i].keeps_batch);
    const char *what = fab_show(page, "[%zu] is best, [%zu] %s", v->batch_best + 1, v->batch_next + 1,
                                fab_show_more(page, v->batch_ratio));
    if (v->batch_ratio < FAB_EVEN_RATIO) {
        what = fab_show(page, "[%zu] and [%zu] are even, %.2g %% apart", v->batch_best + 1, v->batch_next + 1,
                        100 * v->batch_ratio);
    }
    fab_page_wrapf(page, FAB_INK_BOLD, 2, 2,
                   "It rests on failures.keep-batch=%s: of a job that has lost replicas the others %s. With --set "
                   "failures.keep-batch=%s, where they %s, %s.%s",
                   keeps ? "yes" : "no", fab_text_batch(keeps), keeps ? "no" : "yes", fab_text_batch(!keeps), what,
                   fab_text_under_plans(s));
}

/* The engine may decide more than the designs: what becomes of the two where nothing collides. */
static void compare_put_sprayed(fab_page *page, const fab_sweep *s, const fab_verdict *v, const char *too) {
    FAB_ANY(has_routes, i, s->n_points, s->points[i].is_built && s->points[i].counts.tiers != 1); /* else no choice */
    if (s->n_verdicts > 1 || v->next == v->best || sprays(s, v, 0) || !has_routes) {
        return;
    }
    if (!v->is_sprayed) {
        fab_page_wrap(page, FAB_INK_BOLD, 2, 2,
                      "Spraying was not replayed, and routing may decide more than the designs (--engine spray).");
        return;
    }
    const fab_verdict *w = &s->verdicts[1];
    const bool turns = !fab_verdict_is_even(w, &s->points[w->best].engines[1], &s->points[v->best].engines[1]);
    const bool decides = w->n_even > 1 && v->n_even == 1;
    const char *winner = ""; /* of those before: it is named wherever it stands now */
    if (turns && v->best != w->behind) {
        const double ratio = fab_verdict_figure(w, &s->points[v->best].engines[1]) /
                             fab_verdict_figure(w, &s->points[w->best].engines[1]);
        winner = fab_show(page, ", [%zu] %s", v->best + 1, fab_show_more(page, ratio - 1));
    }
    const char *what = w->n_even > 1 ? even_show(page, s, w, 1, "")
                                     : fab_show(page, "[%zu] is best%s, %s", w->best + 1, w->best == v->best ? too : "",
                                                behind_show(page, s, w, 1));
    what = fab_show(page, "%s%s%s", what, winner,
                    turns     ? ": the routing turns it"
                    : decides ? ": the routing decides more than the designs"
                              : "");
    fab_page_wrapf(page, FAB_INK_BOLD, 2, 2, "Under spray%s %s (--engine spray).%s",
                   v->by_price ? ", by GPU hours," : "", what, bought_show(page, s, w, 1));
}

/* "[1] dmodk, [2] ecmp with 1 queue pair" where designs have engines of their own; "": one is for all. */
static const char *own_engines(fab_page *page, const fab_sweep *s, size_t e) {
    const char *first = fab_text_first_built(s)->engines[e].label;
    const char *names = "";
    bool is_one = true;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        if (fab_sweep_has_time(p, e)) {
            is_one = is_one && strcmp(p->engines[e].label, first) == 0;
            names = fab_show(page, "%s%s[%zu] %s", names, names[0] != '\0' ? ", " : "", (size_t)(p - s->points) + 1,
                             fab_text_routing(page, p->engines[e].label));
        }
    }
    return is_one ? "" : names;
}

void fab_text_best_design(fab_page *page, const fab_sweep *s, size_t e) {
    const fab_verdict *v = &s->verdicts[e];
    if (!v->is_known) {
        return;
    }
    const char *label = s->points[v->best].engines[e].label;
    const char *seeds = fab_text_draws(page, v->is_one_draw, v->n_draws, v->is_estimated);
    const char *own = own_engines(page, s, e);
    if (own[0] != '\0') {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 2,
                       "The engines differ, %s: what lies between these designs may be routing; compare them under one "
                       "(--engine).",
                       own);
        compare_put_sprayed(page, s, v, "");
    }
    fab_page_wrapf(
        page, FAB_INK_GOOD, 2, 2, "%s%s%s %s%s%s%s Fastest%s%s: %s; %s.",
        own[0] != '\0' ? "Each under its own"
                       : fab_show(page, "Under %s", s->n_verdicts > 1 ? label : fab_text_routing(page, label)),
        seeds, seeds[0] != '\0' ? "," : "", verdict_show(page, s, v, e), turning_show(page, s, v, e),
        bought_show(page, s, v, e), e == 0 ? fab_text_tipped(page, s) : "", fab_sweep_is_per_gpu(s) ? " per GPU" : "",
        v->has_failures ? " with failures" : "", fastest_show(page, s, v, e), cheapest_show(page, s, v));
}

void fab_text_sprayed(fab_page *page, const fab_sweep *s, size_t e) {
    if (s->verdicts[e].is_known && own_engines(page, s, e)[0] == '\0') {
        compare_put_sprayed(page, s, &s->verdicts[e], " too");
    }
}

static void compare_put_verdict(fab_page *page, const fab_sweep *s, size_t e) {
    fab_text_all_jobs(page, s, e);
    fab_text_overloaded(page, s, e);
    fab_text_best_design(page, s, e);
    if (s->verdicts[e].is_known) {
        compare_put_batch(page, s, &s->verdicts[e]);
        fab_text_idle(page, s, e);
        fab_text_sprayed(page, s, e);
        fab_text_policies(page, s, e);
    }
}

static bool equal_traffic(const fab_sweep_point *p, const fab_sweep_point *first) {
    return strcmp(p->traffic, first->traffic) == 0 && p->plans_differ == first->plans_differ;
}

static const char *traffic_show(fab_page *page, const fab_sweep_point *p) {
    return fab_show(page, "%s%s", p->traffic, p->plans_differ ? "; other engines run other plans: PLANS" : "");
}

static void compare_put_designs(fab_page *page, const fab_sweep *s) {
    bool once = fab_text_all_alike(s, equal_traffic);
    if (once) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "%s", traffic_show(page, fab_text_first_built(s)));
    }
    for (size_t i = 0; i < s->n_points; i++) {
        const fab_sweep_point *p = &s->points[i];
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 6, "[%zu] %s", i + 1, p->value[0]);
        if (p->settings != NULL && p->settings[0] != '\0') {
            fab_page_wrapf(page, FAB_INK_DIM, 6, 6, "differs in %s", p->settings);
        }
        if (!once && p->is_built) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 6, 6, "%s", traffic_show(page, p));
        }
    }
}

/* Whether what a design differs in is that of another, but for forwarding=sequential. */
static bool is_sequential_of(const char *settings, const char *other) {
    static const char KEY[] = "fabric.forwarding=sequential";
    const char *at = settings != NULL && other != NULL ? strstr(other, KEY) : NULL;
    if (at == NULL) {
        return false;
    }
    const size_t n = at > other + 2 ? (size_t)(at - other) - 2 : 0; /* without the "; " between two */
    const char *rest = at + sizeof KEY - 1;
    return strncmp(settings, other, n) == 0 && strcmp(settings + n, n == 0 && *rest == ';' ? rest + 2 : rest) == 0;
}

/* Where relays carry traffic the verdict rests on how they do, unless the other way stands beside it. */
static void compare_put_relays(fab_page *page, const fab_sweep *s) {
    const char *which = "";
    for (size_t i = 0; i < s->n_points; i++) {
        FAB_ANY(has_both, k, s->n_points, is_sequential_of(s->points[i].settings, s->points[k].settings));
        which = s->points[i].relays && !has_both
                    ? fab_show(page, "%s%s[%zu]", which, which[0] != '\0' ? ", " : "", i + 1)
                    : which;
    }
    if (which[0] != '\0') {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2,
                       "%s: GPUs pass traffic between rails on as it comes; once it is there as a whole it takes "
                       "longer, so compare the design with forwarding=sequential too.",
                       which);
    }
}

/* More GPUs are faster whatever their network is. */
static void compare_put_gpus(fab_page *page, const fab_sweep *s) {
    const char *gpus = "";
    for (size_t i = 0; i < s->n_points; i++) {
        gpus = fab_show(page, "%s%s%s", gpus,
                        i == 0                ? ""
                        : i + 1 < s->n_points ? ", "
                                              : " and ",
                        s->points[i].job_gpus > 0 ? fab_show_count(page, s->points[i].job_gpus) : "-");
    }
    if (fab_sweep_is_per_gpu(s)) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 2,
                       "The jobs run on %s GPUs: what is fastest, bars and * go by tokens per second of a GPU. Jobs on "
                       "as many (--job servers=) compare by their iterations.",
                       gpus);
    }
}

void fab_text_compare(fab_page *page, const fab_sweep *s) {
    for (size_t e = 0; e < s->n_verdicts; e++) {
        compare_put_verdict(page, s, e);
    }
    compare_put_gpus(page, s);
    fab_text_short_plans(page, s);
    fab_text_fewer_of_points(page, s);
    compare_put_relays(page, s);
    fab_text_network_part(page, s);
    compare_put_designs(page, s);
}

/* --- cost --------------------------------------------------------------------------------------------------------- */

/* Per year, of the job's part of the network. */
static void compare_put_hours(fab_page *page, const fab_sweep *s, size_t e) {
    static const fab_column COLUMNS[] = {COLUMN("per year", text), COLUMN("GPU hours", money),
                                         COLUMN("network", money), COLUMN("its energy", money),
                                         COLUMN("total", money),   COLUMN("power", power)};
    fab_text_heading(page, "COST BY GPU HOURS",
                     s->n_verdicts > 1 ? s->points[s->verdicts[e].best].engines[e].label : NULL);
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < s->n_points; i++) {
        const fab_sweep_point *p = &s->points[i];
        if (!p->is_built || e >= p->n_engines || !(p->engines[e].iteration.usd_per_1e9_tokens > 0)) {
            continue;
        }
        const fab_iteration *it = &p->engines[e].iteration;
        double total = it->usd_per_1e9_tokens * it->tokens_per_s / 1e9 * FAB_SECONDS_PER_YEAR;
        double capital = it->network_share_ratio * p->capital_usd_per_year;
        double energy = it->network_share_ratio * p->energy_usd_per_year;
        const double figures[] = {total - capital - energy, capital, energy, total, p->power_w};
        fab_table_row(&table, i == s->verdicts[e].best ? FAB_INK_GOOD : FAB_INK_PLAIN,
                      fab_show(page, "[%zu] %s", i + 1, p->family), figures);
    }
    fab_table_end(&table, 2, NULL, NULL);
    fab_text_legendf(
        page, "%s",
        "GPU hours at the price of the GPU with its server, spare ones too; network: capital over its years, and "
        "the energy, of the part that the job has; power of the whole network. Not in it: buildings, people.");
}

static const fab_ownership *any_ownership(const fab_sweep *s) {
    FAB_FIRST(i, s->n_points, s->points[i].ownership.years > 0);
    return i < s->n_points ? &s->points[i].ownership : NULL;
}

static void ownership_put_table(fab_page *page, const fab_sweep *s, size_t e) {
    static const fab_column COLUMNS[] = {COLUMN("bought", text),   COLUMN("GPUs", money),
                                         COLUMN("servers", money), COLUMN("racks", money),
                                         COLUMN("network", money), COLUMN("energy", money),
                                         COLUMN("total", money),   SHOWN("1e9 tokens", fab_show_price)};
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < s->n_points; i++) {
        const fab_sweep_point *p = &s->points[i];
        const fab_ownership *o = &p->ownership;
        if (o->years > 0 && e < p->n_engines) {
            double tokens_usd = p->engines[e].iteration.owned_usd_per_1e9_tokens;
            const double figures[] = {o->gpu_usd,
                                      o->server_usd,
                                      o->rack_usd,
                                      o->network_usd,
                                      o->energy_usd,
                                      o->total_usd,
                                      tokens_usd > 0 ? tokens_usd : NAN};
            fab_table_row(&table, FAB_INK_PLAIN, fab_show(page, "[%zu] %s", i + 1, p->family), figures);
        }
    }
    fab_table_end(&table, 2, NULL, NULL);
}

/* Of the whole cluster, bought; dollars per token of the job's part of it. */
static void compare_put_ownership(fab_page *page, const fab_sweep *s, size_t e) {
    const fab_ownership *any = any_ownership(s);
    const char *told = "";
    fab_text_heading(page, "COST OF OWNERSHIP",
                     s->n_verdicts > 1 ? s->points[s->verdicts[e].best].engines[e].label : NULL);
    if (any != NULL) {
        ownership_put_table(page, s, e);
        fab_page_wrapf(page, FAB_INK_DIM, 2, 2,
                       "Bought and run for %.3g years by prices %s, all at their most power; its source says which "
                       "figures are assumed. 1e9 tokens: of the job's part, without pauses.",
                       any->years, any->profile);
    }
    for (size_t i = 0; i < s->n_points; i++) {
        const fab_ownership *o = &s->points[i].ownership;
        if (o->missing[0] != '\0' && strcmp(o->missing, told) != 0) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "%snot known: prices %s without %s",
                           any != NULL ? fab_show(page, "[%zu] ", i + 1) : "", o->profile, o->missing);
            told = o->missing;
        }
    }
}

/* Nothing is known of others. */
static bool is_one_history(const fab_stat *goodput) {
    return goodput->mean < 1 && goodput->ci95 == 0;
}

/* So few histories that chance may have put the best before the next. */
static void failures_put_open(fab_page *page, const fab_sweep *s, size_t e) {
    const fab_verdict *v = &s->verdicts[e];
    if (v->has_failures && v->next != v->best) {
        const fab_stat *a = &s->points[v->best].engines[e].goodput;
        const fab_stat *b = &s->points[v->next].engines[e].goodput;
        double unknown = a->ci95 / a->mean + b->ci95 / b->mean;
        if (is_one_history(a) || is_one_history(b)) {
            fab_page_wrap(page, FAB_INK_BAD, 2, 2, "One history tells nothing of others (time:90d@50 is fifty).");
        } else if (v->margin_ratio < unknown) {
            fab_page_wrapf(
                page, FAB_INK_BAD, 2, 2,
                "So few histories leave %.2g %% open, more than lies between [%zu] and [%zu]: more tell them apart.",
                100 * unknown, v->best + 1, v->next + 1);
        }
    }
}

/* The value under which failures leave most, and that under which they leave least. */
static void failures_put_extremes(fab_page *page, const fab_sweep *s, size_t e) {
    const fab_sweep_point *most = NULL;
    const fab_sweep_point *least = NULL;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        if (p->is_built && e < p->n_engines && p->engines[e].has_goodput) {
            most = most == NULL || p->engines[e].goodput.mean > most->engines[e].goodput.mean ? p : most;
            least = least == NULL || p->engines[e].goodput.mean < least->engines[e].goodput.mean ? p : least;
        }
    }
    if (most == NULL || most == least) {
        return;
    }
    const fab_stat *a = &most->engines[e].goodput;
    const fab_stat *b = &least->engines[e].goodput;
    bool is_open = is_one_history(b) || a->mean - b->mean < a->ci95 + b->ci95;
    fab_page_wrapf(page, FAB_INK_BOLD, 2, 2, "Failures leave most at %s, %.2f %%, and least at %s, %.2f %%%s.",
                   fab_text_sweep_point(page, s, most), 100 * a->mean, fab_text_sweep_point(page, s, least),
                   100 * b->mean, is_open ? "; so few histories do not tell them apart" : "");
}

void fab_text_failures_of_points(fab_page *page, const fab_sweep *s, size_t e) {
    fab_column columns[] = {COLUMN(s->compares_designs ? "design" : fab_text_sweep_paths(page, s), text),
                            COLUMN("goodput", text),
                            COLUMN("95 %", text),
                            COLUMN("tokens/s", whole),
                            SHOWN("$ per 1e9", fab_show_price),
                            SHOWN("bought", fab_show_price)};
    fab_text_heading(page, "WITH FAILURES", fab_show(page, "%s, policy %s", s->scenarios, s->policy));
    fab_table table = fab_table_of(page, FAB_COLUMNS(columns));
    for (size_t i = 0; i < s->n_points; i++) {
        const fab_sweep_point *p = &s->points[i];
        const fab_sweep_engine *engine = e < p->n_engines ? &p->engines[e] : NULL;
        if (engine == NULL || !p->is_built) {
            continue;
        }
        const fab_iteration *it = &engine->iteration;
        bool has_tokens = engine->has_goodput && engine->has_iteration;
        double owned_usd = engine->iteration.owned_usd_per_1e9_tokens;
        const double figures[] = {
            NAN, NAN, has_tokens ? it->tokens_per_s * engine->goodput.mean : NAN,
            has_tokens && it->usd_per_1e9_tokens > 0 ? fab_with_failures(engine, it->usd_per_1e9_tokens) : NAN,
            has_tokens && owned_usd > 0 ? fab_with_failures(engine, owned_usd) : NAN};
        bool is_best = s->compares_designs && i == s->verdicts[e].best;
        fab_table_row(&table, is_best ? FAB_INK_GOOD : FAB_INK_PLAIN, fab_text_sweep_point(page, s, p), figures);
        if (engine->has_goodput) {
            fab_table_set(&table, 1, FAB_INK_PLAIN, "%.2f %%", 100 * engine->goodput.mean);
            fab_table_put(&table, 2, FAB_INK_PLAIN,
                          is_one_history(&engine->goodput) ? "not known"
                                                           : fab_show(page, "+- %.2f", 100 * engine->goodput.ci95));
        } else {
            fab_table_set(&table, 1, FAB_INK_DIM, "not known");
        }
    }
    fab_table_end(&table, 2, NULL, NULL);
    fab_text_note(
        page, "goodput: useful part of the time, mean of the histories; tokens and dollars with it; $ per 1e9: tokens "
              "by hours of GPUs; bought: where all is bought and run instead; rates: failures.* of each design");
    (s->compares_designs ? failures_put_open : failures_put_extremes)(page, s, e);
}

static bool has_job(const fab_sweep *s) {
    FAB_ANY(found, i, s->n_points, s->points[i].has_ownership);
    return found;
}

void fab_text_compare_cost(fab_page *page, const fab_sweep *s, size_t e) {
    if (s->scenarios[0] != '\0') {
        fab_text_failures_of_points(page, s, e);
    }
    if (s->verdicts[e].is_known && s->verdicts[e].by_price) {
        compare_put_hours(page, s, e);
    }
    if (has_job(s)) {
        compare_put_ownership(page, s, e);
    }
}
