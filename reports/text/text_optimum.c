/* Text report: the cheapest design of a catalog, its rivals, and why they lost. */
#include "text_sections.h"

#include "fab/verdict.h"

#define MAX_FRONT_ROWS 20
#define LEVEL          0.0005 /* half of what a digit after the point tells of a percentage */

static void optimum_put_limits(fab_page *page, const fab_optimum *o) {
    const fab_limits *l = &o->limits;
    fab_page_say(page, "%s; %s GPUs, catalog %s",
                 o->objective == FAB_OBJECTIVE_TOKENS
                     ? "By dollars of ownership (GPUs, servers, racks, network and energy, bought and run) per 1e9 "
                       "tokens of the job (--objective network looks at the network alone)"
                     : "By the price of the network",
                 fab_show_count(page, o->gpus), o->catalog);
    if (l->has_bisection) {
        fab_page_say(page, "; bisection at least %.4g of full", l->min_bisection_ratio);
    }
    if (l->has_taper) {
        fab_page_say(page, "; taper (oversubscription) at most %.4g:1", l->max_taper);
    }
    if (l->has_power) {
        fab_page_say(page, "; power at most %s", fab_show_power(page, l->max_power_w));
    }
    if (l->has_budget) {
        fab_page_say(page, "; budget %s", fab_show_money(page, l->budget_usd));
    }
    if (o->objective == FAB_OBJECTIVE_NETWORK && !l->has_bisection && !l->has_taper && !l->has_power &&
        !l->has_budget && o->winner.max_taper > 0) {
        fab_page_say(page, "; no limits, and then the most tapered is the cheapest: see --min-bisection");
    }
    fab_page_paragraph(page, FAB_INK_PLAIN, 2, 4);
    if (o->source[0] != '\0') {
        fab_text_legendf(page, "%s", o->source);
    }
}

/* Switches of the rows: one letter for each different set, explained below the table. */
typedef struct legend {
    const fab_optimum_point *point[MAX_FRONT_ROWS + 1];
    size_t n;
    size_t of_row[MAX_FRONT_ROWS + 2];
} legend;

static void add_to_legend(legend *l, size_t row, const fab_optimum_point *p) {
    FAB_FIRST(i, l->n,
              strcmp(l->point[i]->switches, p->switches) == 0 && l->point[i]->rails_per_switch == p->rails_per_switch);
    if (i == l->n) {
        l->point[l->n++] = p;
    }
    l->of_row[row] = i;
}

static const char *optimum_switches(fab_page *page, const char *switches, uint64_t rails_per_switch) {
    return rails_per_switch == 0 ? switches
                                 : fab_show(page, "%s, %s a network", switches,
                                            fab_show_counted(page, rails_per_switch, "rail", "rails"));
}

static void optimum_put_letter(fab_page *page, size_t row, const void *context) {
    const legend *l = context;
    fab_page_printf(page, FAB_INK_DIM, "  %c", (int)('a' + l->of_row[row]));
}

/* By the price of the network, or by what tokens cost. A winner may stand above the rows; NULL: none. */
static void optimum_put_rows(fab_page *page, bool by_tokens, const fab_optimum_point *winner,
                             const fab_optimum_point *points, size_t n) {
    static const fab_column NETWORK[] = {COLUMN("family", text),        COLUMN("tiers", integer),
                                         COLUMN("planes", integer),     COLUMN("taper", text),
                                         COLUMN("bisection", 3_digits), COLUMN("power", power),
                                         COLUMN("cost", money),         SHOWN("difference", fab_show_change)};
    static const fab_column TOKENS[] = {
        COLUMN("family", text),    COLUMN("tiers", integer),         COLUMN("taper", text),
        COLUMN("network", money),  COLUMN("owned", money),           COLUMN("tokens/s", integer),
        COLUMN("iteration", time), SHOWN("per 1e9", fab_show_price), SHOWN("difference", fab_show_change)};
    legend switches = {.n = 0};
    fab_table table = by_tokens ? fab_table_of(page, FAB_COLUMNS(TOKENS)) : fab_table_of(page, FAB_COLUMNS(NETWORK));
    for (size_t i = winner == NULL; i <= n && i <= MAX_FRONT_ROWS; i++) {
        const fab_optimum_point *p = i == 0 ? winner : &points[i - 1];
        const fab_ink ink = i == 0 ? FAB_INK_GOOD : FAB_INK_PLAIN;
        const double network[] = {(double)p->tiers, (double)p->planes, FAB_TABLE_BLANK,    p->bisection_ratio,
                                  p->power_w,       p->total_usd,      p->difference_ratio};
        const double tokens[] = {(double)p->tiers, FAB_TABLE_BLANK, p->total_usd,          p->owned_usd,
                                 p->tokens_per_s,  p->iteration_s,  p->usd_per_1e9_tokens, p->token_difference_ratio};
        fab_table_row(&table, ink, p->family, by_tokens ? tokens : network);
        fab_table_put(&table, by_tokens ? 2 : 3, ink, fab_show_tapers(page, p->tiers, p->built_taper));
        if (p->token_difference_ratio - p->token_least_ratio > LEVEL) {
            fab_table_set(&table, table.n_columns - 1, ink, "%+.1f..%.1f%%", 100 * p->token_least_ratio,
                          100 * p->token_difference_ratio);
        }
        if (!table.failed) {
            add_to_legend(&switches, table.n_rows - 1, p);
        }
    }
    fab_table_end(&table, 2, optimum_put_letter, &switches);
    for (size_t i = 0; i < switches.n; i++) {
        const fab_optimum_point *p = switches.point[i];
        fab_page_line(page, FAB_INK_DIM, "  %c: %s", (int)('a' + i),
                      optimum_switches(page, p->switches, p->rails_per_switch));
    }
    if (n > MAX_FRONT_ROWS) {
        fab_page_line(page, FAB_INK_DIM, "  and %zu more (see --json)", n - MAX_FRONT_ROWS);
    }
}

static double figure_of(const fab_optimum *o, const fab_optimum_loser *l) {
    return o->objective == FAB_OBJECTIVE_TOKENS ? l->least_usd_per_1e9_tokens : l->total_usd;
}

/* Known by a bound alone. */
static bool is_untried(const fab_optimum *o, const fab_optimum_loser *l) {
    return o->objective == FAB_OBJECTIVE_TOKENS && (l->loss == FAB_LOSS_BOUND || l->loss == FAB_LOSS_UNSEEN);
}

/* Of all choices with one family and number of tiers. */
typedef struct losers {
    const fab_optimum_loser *closest;
    size_t n, n_untried; /* in all */
    double least_usd;    /* of what was not tried and is not the closest */
} losers;

static losers losers_like(const fab_optimum *o, const fab_optimum_loser *like) {
    losers all = {.closest = like, .least_usd = INFINITY};
    for (size_t pass = 0; pass < 2; pass++) {
        FAB_EACH(const fab_optimum_loser, l, o->rejected, o->n_rejected) {
            if (l->tiers != like->tiers || strcmp(l->family, like->family) != 0) {
                continue;
            }
            const double usd = figure_of(o, l), best_usd = figure_of(o, all.closest);
            const fab_loss loss = is_untried(o, l) ? FAB_LOSS_COST : l->loss;
            const fab_loss best_loss = is_untried(o, all.closest) ? FAB_LOSS_COST : all.closest->loss;
            if (pass == 1) {
                all.n++;
                all.n_untried += is_untried(o, l);
                all.least_usd = is_untried(o, l) && l != all.closest ? fmin(all.least_usd, usd) : all.least_usd;
            } else if (loss < best_loss || (loss == best_loss && usd > 0 && (best_usd <= 0 || usd < best_usd))) {
                all.closest = l;
            }
        }
    }
    return all;
}

static bool is_first_of_group(const fab_optimum *o, size_t i) {
    FAB_ANY(found, j, i,
            o->rejected[j].tiers == o->rejected[i].tiers && strcmp(o->rejected[j].family, o->rejected[i].family) == 0);
    return !found;
}

static void optimum_put_losers(fab_page *page, const fab_optimum *o) {
    fab_text_heading(page, "WHY THE OTHERS LOST", "the closest choice of each family and number of tiers");
    for (size_t i = 0; i < o->n_rejected; i++) {
        if (!is_first_of_group(o, i)) {
            continue;
        }
        const losers all = losers_like(o, &o->rejected[i]);
        const fab_optimum_loser *l = all.closest;
        const size_t n_untried = all.n_untried - is_untried(o, l);
        const size_t n_worse = all.n - 1 - n_untried;
        fab_page_say(page, "%s, %" PRIu64 " tier%s (%s, %" PRIu64 " plane%s): %s", l->family, l->tiers,
                     fab_plural(l->tiers), optimum_switches(page, l->switches, l->rails_per_switch), l->planes,
                     fab_plural(l->planes), l->reason);
        if (n_untried > 0) {
            fab_page_say(page, "; %s not tried: at least %s by a bound",
                         fab_show_counted(page, n_untried, "other was", "others were"),
                         fab_show_price(page, all.least_usd));
        }
        if (n_worse > 0) {
            fab_page_say(page, "; %s did worse", fab_show_counted(page, n_worse, "other", "others"));
        }
        fab_page_paragraph(page, FAB_INK_PLAIN, 2, 6);
    }
}

/* --- by tokens ---------------------------------------------------------------------------------------------------- */

/* Of the ratio of what their tokens cost. */
static double optimum_chance(const fab_optimum_point *a, const fab_optimum_point *b) {
    return fab_pairs_ci95(&a->seeds, &a->kept, &b->seeds, &b->kept);
}

/* How sure the answer is, and what the cheapest network would be. */
static void put_token_proof(fab_page *page, const fab_optimum *o) {
    const fab_token_search *t = &o->tokens;
    const fab_optimum_point *c = &o->cheapest;
    fab_page_wrap(page, FAB_INK_BOLD, 2, 4,
                  "Every design runs its best plan " FAB_TWO_ORDERS ": under another a taper may cost less than here.");
    if (c->usd_per_1e9_tokens > 0 && c->token_difference_ratio > 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "The cheapest network (%s, %+.1f %%) has tokens for %s: %+.2f %%.",
                       fab_show_money(page, c->total_usd), 100 * c->difference_ratio,
                       fab_show_price(page, c->usd_per_1e9_tokens), 100 * c->token_difference_ratio);
    } else if (c->usd_per_1e9_tokens > 0) {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 4, "It is also the cheapest network.");
    }
    if (o->is_proven) {
        fab_page_wrapf(
            page, FAB_INK_GOOD, 2, 4,
            "Proven: %s designs replayed, no other of the catalog's switches and tapers can have cheaper tokens.",
            fab_show_count(page, t->n_replayed));
    } else {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 4,
                       "Not proven: %s might have cheaper tokens, by %s: none costs less than %s on all GPUs with this "
                       "batch. %s. %s replayed to the end.",
                       fab_show_counted(page, t->n_open, "other", "others"),
                       t->gap_ratio < 1e-4 ? "less than 0.01 %"
                                           : fab_show(page, "at most %.3g %%", 100 * (1 - 1 / (1 + t->gap_ratio))),
                       fab_show_price(page, t->lower_bound_usd_per_1e9_tokens),
                       t->is_late ? "The time limit struck, also for other plans of these: more time tells"
                                  : fab_show(page, "%s looked at, the limit of --replays: more tell",
                                             fab_show_counted(page, t->most_replays, "design was", "designs were")),
                       fab_show_counted(page, t->n_replayed, "was", "were"));
    }
    if (t->fewer.servers > 0) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 4,
                       "To do: %s%s%s. All other figures and bounds here are of all GPUs with the batch above.",
                       t->fewer.advice,
                       t->scenarios[0] != '\0' ? ": without failures, in which servers left idle are spares" : "",
                       t->fewer_usd_per_1e9_tokens > 0 ? fab_show(page, ": 1e9 tokens cost %s with all GPUs paid for",
                                                                  fab_show_price(page, t->fewer_usd_per_1e9_tokens))
                                                       : "");
    }
    if (t->n_open_beside > 0) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 4, "%s of them: the winner with one other taper.",
                       fab_show_count(page, t->n_open_beside));
    }
    if (t->unseen[0] != '\0') {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 4,
                       "So little was looked at that this is hardly an answer: not even the plain design (no taper, "
                       "one plane, whole ports) of %s was.",
                       t->unseen);
    }
    if (t->n_refused > 0) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 4, "%s designs cannot be replayed and take no part: %s",
                       fab_show_count(page, t->n_refused), t->refused_note);
    }
    fab_text_put_estimate(page, o->winner.estimated_ratio);
    if (o->winner.draws > 0) {
        size_t n_even = 0;
        FAB_EACH(const fab_optimum_point, p, o->runners_up, o->n_runners_up) {
            n_even += p->token_difference_ratio <= optimum_chance(p, &o->winner);
        }
        fab_page_wrapf(page, n_even > 0 ? FAB_INK_BAD : FAB_INK_PLAIN, 2, 4,
                       "The engine hashes: times are means over %s seeds; %s.", fab_show_count(page, o->winner.draws),
                       n_even > 0
                           ? fab_show(page, "%zu of the next are even with the winner within what these make", n_even)
                           : "the next are dearer by more than these make");
    } else if (t->is_drawn) {
        fab_page_wrap(page, FAB_INK_BAD, 2, 4,
                      "The engine hashes: every design has one draw of its paths, and the best may be the luckiest. "
                      "Compare the first ones with --seeds.");
    }
}

/* What failures leave, and whether histories are too few to tell the first two apart. */
static void put_token_failures(fab_page *page, const fab_optimum *o) {
    const fab_optimum_point *w = &o->winner;
    const fab_optimum_point *next = o->n_runners_up > 0 ? &o->runners_up[0] : w;
    if (o->tokens.scenarios[0] == '\0') {
        return;
    }
    fab_page_wrapf(
        page, FAB_INK_PLAIN, 2, 4,
        "Failures leave %.2f +- %.2f %% of the time (%s, ranks of lost servers by %s); tokens are divided by "
        "that, of every design its own. Its plan is the one of %s that they leave the cheapest tokens: every design "
        "tried its fastest and those that others run, the best of each family up to %d of its own sizes.",
        100 * w->goodput_ratio, 100 * w->goodput_ci95, o->tokens.scenarios, o->tokens.policy,
        fab_show_count(page, w->n_plans_tried), FAB_PLANS_FAILING);
    FAB_EACH(const fab_optimum_point, p, o->runners_up, o->n_runners_up) {
        if (strcmp(p->policy, w->policy) != 0) {
            fab_page_wrapf(
                page, FAB_INK_BAD, 2, 4,
                "Not all by the same policy: %s has %s, as far as its replicas can go on without each other.",
                p->design, p->policy);
            break;
        }
    }
    if (next != w && optimum_chance(next, w) >= next->token_difference_ratio) {
        fab_page_wrap(page, FAB_INK_BAD, 2, 4,
                      "Chance alone makes more than the margin of the same histories: the first two are even, or "
                      "need more of them.");
    }
}

static void put_tokens(fab_page *page, const fab_optimum *o, const char *see) {
    const double usd = o->winner.usd_per_1e9_tokens;
    const double hashed_usd = o->tokens.hashed_usd_per_1e9_tokens;
    fab_page_wrapf(page, FAB_INK_BOLD, 2, 4, "%s: 1e9 tokens cost %s of ownership, an iteration takes %s under %s.",
                   o->tokens.job, fab_show_price(page, usd), fab_show_time(page, o->winner.iteration_s),
                   fab_text_routing(page, o->tokens.engine));
    if (o->tokens.fewer_winner.usd_per_1e9_tokens > 0) {
        const double other_usd = o->tokens.fewer_winner.usd_per_1e9_tokens;
        fab_page_wrapf(page, FAB_INK_BAD, 2, 4,
                       "Not the best where the job runs as it does best (To do, below): with --job "
                       "n-servers=%" PRIu32 ",batch=%" PRIu64 " 1e9 tokens cost %s on this design, all GPUs paid for, "
                       "and %s, %.3g %% less, on",
                       o->tokens.fewer.servers, o->tokens.fewer.batch,
                       fab_show_price(page, o->tokens.fewer_usd_per_1e9_tokens), fab_show_price(page, other_usd),
                       100 * (1 - other_usd / o->tokens.fewer_usd_per_1e9_tokens));
        fab_page_shell(page, FAB_INK_BOLD, 4, o->tokens.fewer_winner.design);
    }
    if (o->tokens.random_s > o->winner.iteration_s * (1 + FAB_VERDICT_PLAN)) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 4,
                       "It rests on ranks in order: with --job placement=random an iteration takes %s under this plan, "
                       "%s, part of it by its taper of %.3g:1.",
                       fab_show_time(page, o->tokens.random_s),
                       fab_show_more(page, o->tokens.random_s / o->winner.iteration_s - 1), o->winner.max_taper);
    }
    const char *engine = strstr(o->tokens.options, "--engine ");
    if (o->tokens.is_drawn || engine == NULL) {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 4, "Another --engine may choose another design.");
    } else {
        const bool is_even = hashed_usd > 0 && fabs(hashed_usd / usd - 1) < FAB_EVEN_RATIO;
        fab_page_wrapf(page, is_even ? FAB_INK_PLAIN : FAB_INK_BAD, 2, 4,
                       "Under ecmp with 1 queue pair, by which run, sweep and compare judge without %s, %s%s.", engine,
                       hashed_usd > 0
                           ? fab_show(page, "they cost %s%s under the best plan then", fab_show_price(page, hashed_usd),
                                      is_even ? "" : fab_show(page, ", %s", fab_show_more(page, hashed_usd / usd - 1)))
                           : "what they cost was not found out",
                       is_even ? "" : ": where the switches hash, --engine ecmp chooses design and plan");
    }
    fab_text_see(page, see, o->tokens.scenarios[0] != '\0');
    put_token_failures(page, o);
    put_token_proof(page, o);
    fab_page_end_line(page);
    optimum_put_rows(page, true, &o->winner, o->runners_up, o->n_runners_up);
    fab_text_notef(page,
                   "Best first, of each family at least the best that was replayed; +0.1..4.0%%: its others, which "
                   "were not, cost no less than the first figure. Owned: GPUs, servers, racks, network and energy over "
                   "the years of the price book %s, some of them assumed (compare has them by part). Bound: no network "
                   "makes an iteration shorter than %s, which is what NICs and scale-up links need; designs are "
                   "replayed by the cost that leaves. %s designs, of which %s were replayed or bounded.",
                   o->prices, fab_show_time(page, o->tokens.floor_s), fab_show_count(page, o->n_candidates),
                   fab_show_count(page, o->tokens.n_replayed + o->tokens.n_bounded));
}

static void put_network(fab_page *page, const fab_optimum *o) {
    optimum_put_rows(page, false, &o->winner, o->runners_up, o->n_runners_up);
    fab_text_notef(
        page,
        "The cheapest, then the best of the next choices. Taper (oversubscription) as built, leaf first; "
        "bisection: what any "
        "pattern may count on, as a share of full: the least of the cut between the halves of the servers "
        "and of what the tapers let through; a, b, ...: switches, leaf first, *2 = ports split in two. %s "
        "choices of family, tiers, switches, planes and rails that share a network, %s designs with their tapers.",
        fab_show_count(page, o->n_structures), fab_show_count(page, o->n_candidates));
    if (!o->is_proven) {
        fab_page_wrap(page, FAB_INK_BAD, 2, 2, "Not proven: the time limit struck before all choices were looked at.");
    }
}

void fab_text_optimum(fab_page *page, const fab_optimum *o, const fab_fabric_result *winner, const char *see) {
    fab_text_heading(page, o->is_proven ? "OPTIMUM" : "BEST FOUND", o->is_proven ? NULL : "not proven to be the best");
    optimum_put_limits(page, o);
    fab_page_end_line(page);
    fab_page_shell(page, FAB_INK_BOLD, 2, o->winner.design);
    fab_text_notef(page, "priced by %s, wherever it is pasted", o->prices);
    fab_text_rail_only(page, winner, "rail-only");
    if (o->edge_taper > 0) {
        fab_page_say(page,
                     "%.4g is the largest taper (oversubscription) of catalog %s: a larger one, which may cost "
                     "less, was not tried. ",
                     o->edge_taper, o->catalog);
    }
    if (o->edge_breakout > 0) {
        fab_page_say(page,
                     "Catalog %s splits ports in %" PRIu64 " and has %" PRIu64
                     " planes at most: more of both, which may save a tier and cost less, were not tried. ",
                     o->catalog, o->edge_breakout, o->edge_planes);
    }
    if (o->edge_taper > 0 || o->edge_breakout > 0) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 2,
                       "--catalog reads a file with others; list catalogs today --file prints one.");
    }
    fab_page_end_line(page);
    if (o->objective == FAB_OBJECTIVE_TOKENS) {
        put_tokens(page, o, see);
    } else {
        put_network(page, o);
    }
    if (!o->fronts_complete) {
        fab_page_wrap(page, FAB_INK_BAD, 2, 2,
                      "The two fronts below are incomplete: time ran out, or they have too many points.");
    }
    fab_text_heading(page, "COST OF BISECTION", "without min-bisection and budget");
    optimum_put_rows(page, false, NULL, o->by_bisection, o->n_by_bisection);
    fab_text_heading(page, "COST OF POWER", "without max-power and budget");
    optimum_put_rows(page, false, NULL, o->by_power, o->n_by_power);
    optimum_put_losers(page, o);
    fab_page_end_line(page);
}
