/* Text report: what a sweep comes to, in a sentence for each engine, before the points. */
#include "text_sections.h"

#include "fab/verdict.h"

#define SAME            5e-4 /* part of a time by which points differ */
#define MOST_NAMED      3    /* points that are as good as the best; more are counted */
#define MOST_PAIRS      32   /* queue pairs that are advised (--advise) */
#define MOST_TAPERS     4    /* that are told one by one; of more the cheapest alone */
#define MOST_PAIRS_GAIN 0.1  /* part of a time that more of them had better win */

/* "taper=2, gpus=512"; of placements the value alone. */
static const char *answer_point(fab_page *page, const fab_sweep *s, const fab_sweep_point *p) {
    const char *first = fab_show(page, "%.60s%s%.160s", s->compares_placements ? "" : s->path[0],
                                 s->compares_placements ? "" : "=", p->value[0]);
    return s->n_paths > 1 ? fab_show(page, "%.240s, %.60s=%.160s", first, s->path[1], p->value[1]) : first;
}

const char *fab_text_speed(fab_page *page, const fab_sweep_engine *e) {
    const char *time = fab_show_time(page, fab_with_failures(e, e->time_s));
    if (e->has_goodput && e->has_iteration) {
        return fab_show(page, "%s tokens/s with failures",
                        fab_show_whole(page, e->iteration.tokens_per_s * e->goodput.mean + 0.5));
    }
    if (e->has_serving) {
        return fab_show(page, "%s tokens/s%s", fab_show_whole(page, e->serving.tokens_per_s + 0.5),
                        e->serving.usd_per_1e6_tokens > 0
                            ? fab_show(page, ", %s per 1e6 tokens", fab_show_price(page, e->serving.usd_per_1e6_tokens))
                            : "");
    }
    return e->has_iteration
               ? fab_show(page, "%s, %s tokens/s", time, fab_show_whole(page, e->iteration.tokens_per_s + 0.5))
               : time;
}

static double answer_price(const fab_sweep_engine *e) {
    return e->has_iteration && e->iteration.usd_per_1e9_tokens > 0
               ? fab_with_failures(e, e->iteration.usd_per_1e9_tokens)
               : INFINITY;
}

static double answer_owned(const fab_sweep_engine *e) {
    return e->has_iteration && e->iteration.owned_usd_per_1e9_tokens > 0
               ? fab_with_failures(e, e->iteration.owned_usd_per_1e9_tokens)
               : INFINITY;
}

/* Points with a figure: least, most, and others that are as good as the least, within what chance makes. */
typedef struct extremes {
    const fab_sweep_point *best, *worst; /* NULL: there is none */
    const fab_sweep_point *even[MOST_NAMED];
    size_t n, n_even;
    double margin;
    double even_ratio; /* by which those that are even lie above the best, at most */
} extremes;

static double answer_time(const fab_sweep_engine *e) {
    return e->has_time ? fab_with_failures(e, e->compared_s) : INFINITY;
}

/* Whether a point has the figure; where failures were asked for, with them. */
static bool answer_knows(const fab_sweep *s, const fab_sweep_point *p, size_t e,
                         double figure(const fab_sweep_engine *)) {
    return e < p->n_engines && (s->scenarios[0] == '\0' || p->engines[e].has_goodput) &&
           isfinite(figure(&p->engines[e]));
}

static extremes answer_find(const fab_sweep *s, size_t e, double figure(const fab_sweep_engine *)) {
    extremes x = {.n = 0};
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        if (answer_knows(s, p, e, figure)) {
            x.n++;
            x.best = x.best == NULL || figure(&p->engines[e]) < figure(&x.best->engines[e]) ? p : x.best;
            x.worst = x.worst == NULL || figure(&p->engines[e]) > figure(&x.worst->engines[e]) ? p : x.worst;
        }
    }
    x.margin = figure == answer_price || figure == answer_owned ? FAB_EVEN_RATIO : SAME; /* of dollars as compare's */
    for (size_t i = 0; x.n > 0 && i < s->n_points; i++) {
        const fab_sweep_point *p = &s->points[i];
        if (p == x.best || !answer_knows(s, p, e, figure)) {
            continue;
        }
        double above = figure(&p->engines[e]) / figure(&x.best->engines[e]) - 1;
        double chance = fab_sweep_chance(&p->engines[e], &x.best->engines[e]);
        if (above < fmax(x.margin, chance)) {
            x.even[x.n_even < MOST_NAMED ? x.n_even : 0] = p;
            x.n_even++;
            x.even_ratio = fmax(x.even_ratio, above);
        }
    }
    return x;
}

/* " (even with taper=2, within what seeds make)", or nothing */
static const char *answer_even(fab_page *page, const fab_sweep *s, const extremes *x, size_t e) {
    if (x->n_even == 0) {
        return "";
    }
    const char *names = x->n_even == 1 ? answer_point(page, s, x->even[0]) : fab_show(page, "%zu others", x->n_even);
    if (s->n_paths == 1 && x->n_even > 1 && x->n_even <= MOST_NAMED) {
        names = fab_show(page, "%.160s%s%.160s and %.160s", x->even[0]->value[0], x->n_even > 2 ? ", " : "",
                         x->n_even > 2 ? x->even[1]->value[0] : "", x->even[x->n_even - 1]->value[0]);
    }
    return s->scenarios[0] != '\0' ? fab_show(page, " (not told apart from %s by these %shistories)", names,
                                              x->best->engines[e].is_drawn ? "seeds and " : "")
                                   : fab_show(page, " (even with %s%s)", names,
                                              x->even_ratio < SAME        ? ""
                                              : x->even_ratio < x->margin ? ", less apart than the model is exact"
                                                                          : ", within what seeds make");
}

/* "Under ecmp, over 8 seeds, ", or without what does not hold: one engine for all, paths that are drawn. */
static void answer_put_begin(fab_page *page, const fab_sweep *s, const extremes *x, size_t e) {
    const fab_sweep_engine *best = &x->best->engines[e];
    const fab_sweep_engine *worst = &x->worst->engines[e];
    const fab_sweep_engine *drawn = best->is_drawn ? best : worst;
    FAB_ALL(has_label, i, s->n_points,
            e >= s->points[i].n_engines || strcmp(s->points[i].engines[e].label, best->label) == 0);
    const char *seeds =
        fab_text_draws(page, fab_sweep_is_one_draw(best) || fab_sweep_is_one_draw(worst),
                       drawn->is_drawn ? drawn->n_seeds : 0, fmax(best->estimated_ratio, worst->estimated_ratio) > 0);
    if (has_label) {
        fab_page_say(page, "Under %s%s%s ", fab_text_routing(page, best->label), seeds, seeds[0] != '\0' ? "," : "");
    } else if (seeds[0] != '\0') { /* behind ", " */
        fab_page_say(page, "%c%s ", seeds[2] == 'o' ? 'O' : 'B', seeds + 3);
    }
}

/* Of one way to count them, which is named. */
static void answer_put_dollars(fab_page *page, const fab_sweep *s, size_t e, double figure(const fab_sweep_engine *),
                               const char *counted) {
    const extremes x = answer_find(s, e, figure);
    if (x.n < 2 || s->compares_placements) {
        return;
    }
    const double least_usd = figure(&x.best->engines[e]);
    const char *usd = fab_show_price(page, least_usd);
    if (figure(&x.worst->engines[e]) <= least_usd * (1 + SAME)) {
        return;
    }
    if (x.n_even + 1 == x.n) {
        fab_page_say(page, "; dollars %s are even: %s per 1e9 tokens", counted, usd);
    } else {
        fab_page_say(page, "; %s has the fewest dollars %s%s: %s per 1e9 tokens", answer_point(page, s, x.best),
                     counted, answer_even(page, s, &x, e), usd);
    }
}

const char *fab_text_named_point(fab_page *page, const fab_sweep *s, const fab_sweep_point *p) {
    return s->compares_designs ? fab_show(page, "[%zu]", (size_t)(p - s->points) + 1) : answer_point(page, s, p);
}

static bool pay_alike(const fab_sweep_point *p, const fab_sweep_point *q) {
    return p->gpu_hour_usd == q->gpu_hour_usd && strcmp(p->gpu_hour_source, q->gpu_hour_source) == 0;
}

/* The first point that pays what a point does; that one itself where none before it does. */
static const fab_sweep_point *first_paying(const fab_sweep *s, const fab_sweep_point *p) {
    const fab_sweep_point *first = s->points;
    while (first < p && !pay_alike(first, p)) {
        first++;
    }
    return first;
}

bool fab_text_unlike_hours(const fab_sweep *s) {
    double least = INFINITY;
    double most = 0;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        least = p->gpu_hour_usd > 0 ? fmin(least, p->gpu_hour_usd) : least;
        most = fmax(most, p->gpu_hour_usd);
    }
    return most > least && strcmp(s->path[0], "job.gpu-hour-usd") != 0 &&
           (s->n_paths < 2 || strcmp(s->path[1], "job.gpu-hour-usd") != 0); /* which says what it varies */
}

/* Whether a point that costs less than another by GPU hours is not faster, or not cheaper where all is bought. */
static bool hours_turn(const fab_sweep_point *p, const fab_sweep_point *q, size_t e) {
    const fab_sweep_engine *a = &p->engines[e];
    const fab_sweep_engine *b = &q->engines[e];
    const double more = 1 + FAB_EVEN_RATIO;
    const bool costs_less = isfinite(answer_price(b)) && answer_price(b) > answer_price(a) * more;
    const bool is_faster = answer_time(b) > answer_time(a) * more;
    return costs_less && !(is_faster && (isinf(answer_owned(b)) || answer_owned(b) > answer_owned(a) * more));
}

static bool hours_decide(const fab_sweep *s) {
    bool decide = false;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        FAB_EACH(const fab_sweep_point, q, s->points, s->n_points) {
            for (size_t e = 0; e < p->n_engines && e < q->n_engines && p->gpu_hour_usd != q->gpu_hour_usd; e++) {
                decide = decide || hours_turn(p, q, e);
            }
        }
    }
    return decide;
}

void fab_text_gpu_hours(fab_page *page, const fab_sweep *s) {
    const char *before = "A GPU hour is ";
    if (!fab_text_unlike_hours(s)) {
        return;
    }
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        if (!(p->gpu_hour_usd > 0) || first_paying(s, p) != p) {
            continue;
        }
        const char *names = fab_text_named_point(page, s, p);
        size_t n = 1;
        for (const fab_sweep_point *q = p + 1; q < s->points + s->n_points; q++) {
            n += pay_alike(p, q);
            names = pay_alike(p, q) && n <= MOST_NAMED
                        ? fab_show(page, "%s, %s", names, fab_text_named_point(page, s, q))
                        : names;
        }
        names = n > MOST_NAMED ? fab_show(page, "%s and %zu more", names, n - MOST_NAMED) : names;
        fab_page_say(page, "%s$%.2f %s %s (%s)", before, p->gpu_hour_usd, s->compares_designs ? "in" : "at", names,
                     p->gpu_hour_source);
        before = ", ";
    }
    fab_page_wrapf(page, FAB_INK_BOLD, 2, 2, "; job.gpu-hour-usd sets one price%s.",
                   hours_decide(s)
                       ? ": these prices decide the order by GPU hours, which is not that by time or by what is bought"
                       : "");
}

static double answer_with(const fab_sweep_engine *e, const fab_stat *goodput) {
    const double usd = e->iteration.owned_usd_per_1e9_tokens;
    return e->has_iteration && usd > 0 && goodput->mean > 0 ? usd / goodput->mean : INFINITY;
}

static double answer_waiting(const fab_sweep_engine *e) {
    return answer_with(e, &e->waiting);
}

/* Points without shrink have what they have. */
static double answer_other_batch(const fab_sweep_engine *e) {
    return answer_with(e, e->other_batch.mean > 0 ? &e->other_batch : &e->goodput);
}

static const fab_parts *parts_of_other(const fab_sweep_engine *e, bool waits) {
    return waits ? &e->waiting_kept : e->other_batch.mean > 0 ? &e->other_kept : &e->kept;
}

/* How much dearer a point is than another where ranks wait for the repair, else with the other batch; 0: no more than
 * histories leave open. */
static double other_above(const fab_sweep_point *point, const fab_sweep_point *than, size_t e, bool waits) {
    const fab_sweep_engine *a = &point->engines[e];
    const fab_sweep_engine *b = &than->engines[e];
    const double above =
        waits ? answer_waiting(a) / answer_waiting(b) - 1 : answer_other_batch(a) / answer_other_batch(b) - 1;
    return above > fab_pairs_ci95(&a->seeds, parts_of_other(a, waits), &b->seeds, parts_of_other(b, waits)) ? above : 0;
}

/* Behind a clause that says what is otherwise: who has the fewest dollars then, if all are known. */
static void put_other(fab_page *page, const fab_sweep *s, size_t e, const char *clause, bool waits) {
    const extremes owned = answer_find(s, e, answer_owned);
    double (*figure)(const fab_sweep_engine *) = waits ? answer_waiting : answer_other_batch;
    const extremes x = answer_find(s, e, figure);
    if (x.n < 2 || x.n != owned.n) {
        return;
    }
    const double turned = other_above(owned.best, x.best, e, waits);
    const fab_sweep_point *next = x.worst;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        next = e < p->n_engines && p != x.best && figure(&p->engines[e]) < figure(&next->engines[e]) ? p : next;
    }
    const double above = other_above(next, x.best, e, waits);
    fab_page_say(page, " %s, ", clause);
    if (other_above(x.worst, x.best, e, waits) == 0) {
        fab_page_say(page, "these histories tell none apart, bought and run.%s", fab_text_under_plans(s));
        return;
    }
    fab_page_say(page, "%s%s has the fewest dollars bought and run%s: %s per 1e9 tokens, %s %s.%s",
                 turned > 0 ? "it is otherwise: " : "", fab_text_named_point(page, s, x.best),
                 turned > 0 ? ""
                 : x.best == owned.best
                     ? " too"
                     : fab_show(page, " (not told apart from %s)", fab_text_named_point(page, s, owned.best)),
                 fab_show_price(page, figure(&x.best->engines[e])), fab_text_named_point(page, s, next),
                 above > 0 ? fab_show_more(page, above) : "not told apart", fab_text_under_plans(s));
}

/* Whether fewer replicas do all of the batch may decide more than what is varied; compared designs say it by theirs. */
static void put_batch(fab_page *page, const fab_sweep *s, size_t e) {
    bool keeps = false;
    bool leaves = false;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        const bool shrinks = e < p->n_engines && p->engines[e].other_batch.mean > 0;
        keeps = keeps || (shrinks && p->keeps_batch);
        leaves = leaves || (shrinks && !p->keeps_batch);
    }
    if (!s->compares_designs && keeps != leaves) {
        fab_page_say(page, " Of a job that has lost replicas the others %s (failures.keep-batch=%s).",
                     fab_text_batch(keeps), keeps ? "yes, rounded up to what a pipeline takes" : "no");
        put_other(page, s, e,
                  fab_show(page, "With --set failures.keep-batch=%s, where they %s", keeps ? "no" : "yes",
                           fab_text_batch(!keeps)),
                  false);
    }
}

/* " (first-spare: [2], [3])" where others go on with fewer replicas. */
static void put_unlike_policies(fab_page *page, const fab_sweep *s) {
    const char *before = " (first-spare: ";
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        if (strchr(s->policy, ',') != NULL && strcmp(p->policy, "first-spare") == 0) {
            fab_page_say(page, "%s%s", before, fab_text_named_point(page, s, p));
            before = ", ";
        }
    }
    fab_page_say(page, before[0] == ',' ? ", whose replicas cannot go on without each other)" : "");
}

/* By what the plans were chosen, and among how many. */
static void put_plans_tried(fab_page *page, const fab_sweep *s, size_t e) {
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        const uint64_t n = e < p->n_engines ? p->engines[e].n_plans_tried : 0;
        least = n > 0 && n < least ? n : least;
        most = n > most ? n : most;
    }
    if (most > 1) {
        fab_page_say(page, " Plans go by what failures leave: %s tried on each, of its own and of the others'.",
                     least < most ? fab_show(page, "%" PRIu64 " to %s were", least, fab_show_count(page, most))
                                  : fab_show_counted(page, most, "was", "were"));
    } else if (most == 1) {
        fab_page_say(page, " Plans go by what failures leave: no other of the fastest can keep more.");
    }
}

/* Whether spares pay turns with what becomes of ranks that have none. */
void fab_text_policies(fab_page *page, const fab_sweep *s, size_t e) {
    if (s->scenarios[0] == '\0') {
        return;
    }
    fab_page_say(page, "With failures: %s; where servers are lost, policy %s", s->scenarios, s->policy);
    put_unlike_policies(page, s);
    FAB_ANY(has_spares, i, s->n_points,
            s->points[i].is_built && s->points[i].counts.gpus > s->points[i].job_gpus &&
                s->points[i].kind != FAB_JOB_SERVING);
    fab_page_say(page, has_spares ? "; ranks on a spare go home where that pays." : ".");
    put_plans_tried(page, s, e);
    put_batch(page, s, e);
    put_other(page, s, e, "Under first-spare, which waits for the repair where no spare is", true);
    fab_page_paragraph(page, FAB_INK_BOLD, 2, 2);
}

/* More pairs are never slower in the model, which has no limit of a NIC's connections: the fewest that are nearly as
 * fast. */
static void answer_put_pairs(fab_page *page, const fab_sweep *s, const extremes *x, size_t e) {
    const fab_sweep_engine *best = &x->best->engines[e];
    const fab_sweep_point *fewest = x->best;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        const uint64_t mine = answer_knows(s, p, e, answer_time) ? fab_label_pairs(p->engines[e].label) : 0;
        fewest = mine > 0 && mine < fab_label_pairs(fewest->engines[e].label) &&
                         answer_time(&p->engines[e]) < (1 + MOST_PAIRS_GAIN) * answer_time(best)
                     ? p
                     : fewest;
    }
    if (fab_label_pairs(best->label) > MOST_PAIRS && fewest != x->best) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2,
                       "What many queue pairs cost a NIC (its connections, their memory) is not modelled: with "
                       "fewer %s takes only %.2g %% more.",
                       answer_point(page, s, fewest), 100 * (answer_time(&fewest->engines[e]) / answer_time(best) - 1));
    }
}

/* Up to which number they help, where nothing but they differs. */
static void answer_say_pairs(fab_page *page, const fab_sweep *s, const extremes *x, size_t e) {
    fab_pairs_time list[MOST_PAIRS];
    char text[128] = "";
    size_t n = 0;
    for (size_t i = 0; i < s->n_points && s->n_paths == 1 && n < MOST_PAIRS; i++) {
        const fab_sweep_point *p = &s->points[i];
        if (answer_knows(s, p, e, answer_time) &&
            fab_label_is_same_but_pairs(p->engines[e].label, x->best->engines[e].label)) {
            list[n++] = (fab_pairs_time){fab_label_pairs(p->engines[e].label), answer_time(&p->engines[e])};
        }
    }
    const bool differs = n > 0 && list[0].pairs != list[n - 1].pairs;
    if (differs && fab_verdict_add_pairs(list, n, text, sizeof text)) {
        fab_page_say(page, "; %s", text);
    }
}

/* Of a design with several jobs that of all of them. */
static double tapered_time(const fab_sweep_engine *e) {
    return e->all_jobs_s > 0 ? e->all_jobs_s : answer_time(e);
}

/* What tapers cost a job beside the dearest network, which has the least, and what they save. */
static void answer_put_tapers(fab_page *page, const fab_sweep *s, const extremes *x, size_t e) {
    const fab_sweep_point *least = x->best;
    const fab_sweep_point *cheapest = x->best;
    bool is_first = true;
    bool hashes = false;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        least = answer_knows(s, p, e, answer_time) && p->total_usd > least->total_usd ? p : least;
        cheapest = answer_knows(s, p, e, answer_time) && p->total_usd < cheapest->total_usd ? p : cheapest;
    }
    const double least_s = tapered_time(&least->engines[e]);
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        if (s->n_paths > 1 || strncmp(s->path[0], "taper", strlen("taper")) != 0 ||
            (x->n > MOST_TAPERS && p != cheapest) || !answer_knows(s, p, e, answer_time) ||
            !(p->total_usd < least->total_usd)) {
            continue;
        }
        const double longer_s = tapered_time(&p->engines[e]) - least_s;
        const double chance = fab_sweep_chance(&p->engines[e], &least->engines[e]);
        const bool is_told = fabs(longer_s) >= fmax(SAME, chance) * least_s;
        fab_page_say(page, "%s %s%s takes %s%s and saves %s%s",
                     is_first ? fab_show(page, "%snstead of %s%s%s,",
                                         fab_sweep_is_one_draw(&least->engines[e]) ? "By this draw, i" : "I",
                                         answer_point(page, s, least), fab_text_as_built(page, least),
                                         least->engines[e].all_jobs_s > 0 ? ", for all jobs together" : "")
                              : ";",
                     answer_point(page, s, p), fab_text_as_built(page, p),
                     is_told ? fab_show(page, "%s (%.3g %%) ", fab_show_time(page, fabs(longer_s)),
                                        100 * fabs(longer_s) / least_s)
                             : "",
                     !is_told       ? chance > SAME ? "as long, as far as chance tells," : "as long"
                     : longer_s > 0 ? "longer"
                                    : "less",
                     fab_show_money(page, least->total_usd - p->total_usd), is_first ? " of network" : "");
        is_first = false;
        hashes = hashes || (is_told && p->n_engines == 1 && p->engines[e].is_drawn);
    }
    if (!is_first) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2,
                       hashes ? "; the hash is part of it: --engine spray tells what the taper costs without." : ".");
    }
}

void fab_text_overloaded(fab_page *page, const fab_sweep *s, size_t e) {
    const char *names = "";
    size_t n = 0;
    size_t n_built = 0;
    double most = 0;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        n_built += p->is_built;
        if (p->is_built && e < p->n_engines && fab_sweep_is_overloaded(&p->engines[e])) {
            names = fab_show(page, "%s%s%s", names, n > 0 ? ", " : "", fab_text_named_point(page, s, p));
            most = fmax(most, p->engines[e].serving.most_requests_per_s);
            n++;
        }
    }
    if (n > 0) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 2,
                       "Overload: %s cannot serve the requests that come, at most %.5g a second, and %s no part in "
                       "what is said%s.",
                       n <= MOST_NAMED ? names : fab_show(page, "%zu of %zu points", n, n_built), most,
                       n == 1 ? "has" : "have", n == n_built ? " (run names the batch that carries them)" : "");
    }
}

/* What leaves it open who is faster, and how much more of it would tell as little as the model is exact. */
static const char *answer_chance(fab_page *page, bool fails, const fab_sweep_engine *a, const fab_sweep_engine *b) {
    const uint64_t n = fails ? 1 : (b->is_drawn ? b : a)->n_seeds;
    const double chance = fab_sweep_chance(b, a);
    const uint64_t needed = fab_stat_needed(n, FAB_EVEN_RATIO, chance); /* of 1 % */
    const char *more = fails ? " (about %" PRIu64 " times as many leave 1 %%: --seeds, more histories)"
                             : " (about --seeds %" PRIu64 " leave 1 %%)";
    return fab_show(page, "the %.2g %% that %s leave open%s", 100 * chance,
                    fails ? "these seeds and histories" : fab_show_counted(page, n, "seed", "seeds"),
                    needed > n ? fab_show(page, more, needed) : "");
}

static void answer_put_engine(fab_page *page, const fab_sweep *s, size_t e) {
    const extremes x = answer_find(s, e, answer_time);
    if (x.n < 2) {
        return;
    }
    const fab_sweep_engine *fast = &x.best->engines[e];
    const char *all = fab_show(page, "%s %s", x.n == 2 ? "both" : fab_show(page, "all %zu", x.n),
                               s->compares_placements ? "named placements" : "points");
    double margin = answer_time(&x.worst->engines[e]) / answer_time(fast);
    answer_put_begin(page, s, &x, e);
    if (margin < 1 + SAME) {
        fab_page_say(page, "%s take the same, %s", all, fab_text_speed(page, fast));
    } else if (x.n_even + 1 == x.n) {
        fab_page_say(page, "%s are even: %s, up to %.2g %% apart, less than %s", all, fab_text_speed(page, fast),
                     100 * (margin - 1), answer_chance(page, s->scenarios[0] != '\0', fast, &x.worst->engines[e]));
    } else {
        fab_page_say(page, "%s is fastest%s: %s; %s is slowest: x%.3f as long%s", answer_point(page, s, x.best),
                     answer_even(page, s, &x, e), fab_text_speed(page, fast), answer_point(page, s, x.worst), margin,
                     fast->has_iteration || fast->has_serving ? " per token" : "");
    }
    if (s->scenarios[0] == '\0') { /* hours of a job's GPUs leave out those of spares */
        answer_put_dollars(page, s, e, answer_price, "by GPU hours");
    }
    answer_put_dollars(page, s, e, answer_owned, "bought and run");
    answer_say_pairs(page, s, &x, e);
    fab_page_wrapf(page, FAB_INK_BOLD, 2, 2, ".");
    answer_put_tapers(page, s, &x, e);
    answer_put_pairs(page, s, &x, e);
}

/* The job, which a plan or the number of GPUs may make another one elsewhere; the placement behind it is a knob. */
static void answer_put_job(fab_page *page, const fab_sweep *s, const fab_sweep_point *first) {
    bool is_same = true;
    size_t n = strcspn(first->traffic, ";");
    for (size_t i = 0; i < s->n_points; i++) {
        const char *traffic = s->points[i].traffic;
        is_same = is_same &&
                  (!s->points[i].is_built || (strcspn(traffic, ";") == n && strncmp(traffic, first->traffic, n) == 0));
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "%s: %zu points, %zu built; %s%s%s", fab_text_sweep_paths(page, s),
                   s->n_points, s->n_built,
                   is_same ? "" : fab_show(page, "at %s: ", fab_text_sweep_point(page, s, first)), first->traffic,
                   is_same ? "" : "; other points run it otherwise");
}

/* Of several jobs: what points make of all of them, before what they make of the first. */
void fab_text_all_jobs(fab_page *page, const fab_sweep *s, size_t e) {
    const fab_sweep_point *best = NULL;
    const fab_sweep_point *worst = NULL;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        if (e < p->n_engines && p->engines[e].all_jobs_s > 0) {
            best = best == NULL || p->engines[e].all_jobs_s < best->engines[e].all_jobs_s ? p : best;
            worst = worst == NULL || p->engines[e].all_jobs_s > worst->engines[e].all_jobs_s ? p : worst;
        }
    }
    if (best == NULL) {
        return;
    }
    const double least_s = best->engines[e].all_jobs_s;
    const double ratio = worst->engines[e].all_jobs_s / least_s;
    fab_page_say(page, "All %zu jobs together under %s: ", best->other_jobs + 1,
                 fab_text_routing(page, best->engines[e].label));
    if (ratio > 1 + SAME && ratio < 1 + FAB_EVEN_RATIO) {
        fab_page_say(page, "all are even, %s, mean over their GPUs; %.2g %% apart, less than the model is exact.",
                     fab_show_time(page, least_s), 100 * (ratio - 1));
    } else if (ratio > 1 + SAME) {
        fab_page_say(page, "%s is fastest: %s, mean over their GPUs; %s is slowest: x%.3f as long.",
                     fab_text_named_point(page, s, best), fab_show_time(page, least_s),
                     fab_text_named_point(page, s, worst), ratio);
    } else {
        fab_page_say(page, "all take the same, %s, mean over their GPUs.", fab_show_time(page, least_s));
    }
    fab_page_paragraph(page, FAB_INK_BOLD, 2, 2);
}

/* --- servers that no job has -------------------------------------------------------------------------------------- */

static double whole_price(const fab_sweep_engine *e) {
    return answer_price(e) / e->iteration.network_share_ratio;
}

static double whole_owned(const fab_sweep_engine *e) {
    return answer_owned(e) / e->iteration.network_share_ratio;
}

static void idle_say_order(fab_page *page, const fab_sweep *s, size_t e, double figure(const fab_sweep_engine *),
                           const char *counted) {
    const extremes x = answer_find(s, e, figure);
    if (x.n > 1) {
        const double least = figure(&x.best->engines[e]);
        const double more = figure(&x.worst->engines[e]) / least - 1;
        fab_page_say(page, "%s%s: %s per 1e9 tokens, %s %s", counted, fab_text_named_point(page, s, x.best),
                     fab_show_price(page, least), fab_text_named_point(page, s, x.worst),
                     more < FAB_EVEN_RATIO ? "is even" : fab_show_more(page, more));
    }
}

void fab_text_idle(fab_page *page, const fab_sweep *s, size_t e) {
    const fab_sweep_point *most = NULL;
    double least_ratio = INFINITY;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        if (e < p->n_engines && p->engines[e].has_iteration && p->other_jobs == 0) {
            const double idle_ratio = 1 - p->engines[e].iteration.network_share_ratio;
            least_ratio = fmin(least_ratio, idle_ratio);
            most = most == NULL || idle_ratio > 1 - most->engines[e].iteration.network_share_ratio ? p : most;
        }
    }
    const double most_ratio = most != NULL ? 1 - most->engines[e].iteration.network_share_ratio : 0;
    if (!(most_ratio > least_ratio + SAME) || s->compares_placements) {
        return;
    }
    fab_page_say(page,
                 "At %s%s %.3g %% of the GPUs idle, for other jobs: no figure counts them. If this job pays for all,",
                 fab_text_named_point(page, s, most),
                 most->n_engines > 1 ? fab_show(page, " under %s", most->engines[e].label) : "", 100 * most_ratio);
    idle_say_order(page, s, e, whole_price, " the least by GPU hours is ");
    idle_say_order(page, s, e, whole_owned, "; bought and run ");
    fab_page_wrapf(page, FAB_INK_BOLD, 2, 2, ".");
}

void fab_text_sweep_answer(fab_page *page, const fab_sweep *s, const fab_sweep_point *first) {
    for (size_t e = 0; e < first->n_engines; e++) {
        fab_text_all_jobs(page, s, e);
        fab_text_overloaded(page, s, e);
        answer_put_engine(page, s, e);
        fab_text_idle(page, s, e);
        fab_text_policies(page, s, e);
    }
    fab_text_gpu_hours(page, s);
    answer_put_job(page, s, first);
}
