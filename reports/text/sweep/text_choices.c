/* Text report: what was chosen anew at every point of a sweep, since the job or the pattern leaves it open. */
#include "text/text_sections.h"

#define SHORT_OF_PROOF 0.95 /* of its time: a bound below that leaves room for another order */

/* How each point runs the job, where that was to be chosen. */
static void put_plans(fab_page *page, const fab_sweep *s) {
    char text[192];
    bool any_short = false;
    bool any = false;
    bool by_failures = false;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        for (size_t e = 0; e < (p->plans_differ ? p->n_engines : p->n_engines > 0); e++) {
            const fab_sweep_engine *engine = &p->engines[e];
            if (!engine->has_plan) {
                continue;
            }
            if (!any) {
                fab_text_heading(page, "PLANS", NULL);
            }
            any = true;
            const bool is_short = !engine->plan_is_proven && engine->n_plans_tried == 0;
            any_short = any_short || is_short;
            by_failures = by_failures || engine->n_plans_tried > 0;
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "%s%s: %s%s%s", fab_text_sweep_point(page, s, p),
                           p->plans_differ ? fab_show(page, ", %s", engine->label) : "",
                           fab_job_plan_text(&engine->plan, text), is_short ? " (of a short search)" : "",
                           engine->n_plans_tried > 1 ? fab_show(page, ": the best with failures of %s",
                                                                fab_show_count(page, engine->n_plans_tried))
                                                     : "");
        }
    }
    if (by_failures) {
        fab_text_notef(page,
                       "each the best with failures of those that were tried with them: up to %d sizes that are the "
                       "fastest on it without, %s, under its engine, and what the others run; what takes as long "
                       "without failures as the best takes with them is left out",
                       FAB_PLANS_FAILING, FAB_TWO_ORDERS);
    } else if (any) {
        fab_text_notef(page, "each the fastest of all that fit %s, under its engine%s", FAB_TWO_ORDERS,
                       any_short ? ", but those of a short search: plan=auto looks at all"
                                 : ": bounds leave out the others");
    }
}

/* What each point's collectives run by, where replays chose. */
static void put_collectives(fab_page *page, const fab_sweep *s) {
    bool any = false;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        FAB_EACH(const fab_sweep_engine, engine, p->engines, p->n_engines) {
            if (engine->collective_note[0] == '\0') {
                continue;
            }
            if (!any) {
                fab_text_heading(page, "COLLECTIVES", NULL);
            }
            any = true;
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "%s: %s", fab_text_sweep_point(page, s, p),
                           engine->collective_note);
        }
    }
}

void fab_text_choices(fab_page *page, const fab_sweep *sweep) {
    put_plans(page, sweep);
    put_collectives(page, sweep);
}

/* "x1.08"; where several points have the tip "x1.08 at [1] clos, x1.01 at [2] clos". */
static const char *gains_show(fab_page *page, const fab_sweep *s, const fab_sweep_point *at, const char **out_names) {
    const char *gains = "";
    const char *names = "";
    size_t n = 0;
    bool is_known = true;
    for (const fab_sweep_point *p = at; p < s->points + s->n_points; p++) {
        if (p->fewer.servers > 0 && strcmp(p->fewer.advice, at->fewer.advice) == 0) {
            const char *name = fab_text_sweep_point(page, s, p);
            const char *comma = n++ > 0 ? ", " : "";
            gains = fab_show(page, "%s%sx%.3g at %s", gains, comma, p->idle_gain, name);
            names = fab_show(page, "%s%s%s", names, comma, name);
            is_known = is_known && p->idle_gain > 0;
        }
    }
    *out_names = names;
    return !is_known ? "" : n == 1 ? fab_show(page, "x%.3g", at->idle_gain) : gains;
}

/* A number of GPUs may be what costs most. */
static bool put_tips(fab_page *page, const fab_sweep *s) {
    bool any_gain = false;
    FAB_EACH(const fab_sweep_point, at, s->points, s->n_points) {
        const char *names = "";
        FAB_ANY(is_told, i, (size_t)(at - s->points),
                s->points[i].fewer.servers > 0 && strcmp(s->points[i].fewer.advice, at->fewer.advice) == 0);
        any_gain = any_gain || at->idle_gain > 0;
        if (at->fewer.servers == 0 || is_told) {
            continue;
        }
        const char *gains = gains_show(page, s, at, &names);
        fab_page_wrapf(
            page, FAB_INK_BOLD, 2, 2, "%s%s: %s%s; all %sthat is said of it here is of all its GPUs.", names,
            at->n_engines > 1 ? fab_show(page, " under %s", at->engines[0].label) : "", at->fewer.advice,
            s->scenarios[0] == '\0' ? ""
            : gains[0] == '\0'
                ? "; that is without failures, in which servers left idle are spares"
                : fab_show(page, "; with failures, in which servers left idle are spares, the tokens are %s", gains),
            gains[0] != '\0' ? "else " : "");
    }
    return any_gain;
}

/* Of a job on a part of the GPUs that is the same at all points; other parts stand beside the answer. */
static void put_idle_alike(fab_page *page, const fab_sweep *s, bool any_gain) {
    double least = 1;
    double most = 0;
    bool can_leave = false;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        if (p->is_built && p->n_engines > 0 && p->engines[0].has_iteration && p->other_jobs == 0) {
            least = fmin(least, p->engines[0].iteration.network_share_ratio);
            most = fmax(most, p->engines[0].iteration.network_share_ratio);
            can_leave = can_leave || p->engines[0].has_goodput;
        }
    }
    if (most > 0 && most < 1 && most - least < 1e-9 && !s->compares_placements) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2, "%.3g %% of the GPUs idle, which no price counts.", 100 * (1 - most));
    } else if (can_leave && least == 1 && !any_gain) {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 2,
                      "Servers that the job leaves idle are spares too, and need not be bought (--job n-servers=N): "
                      "not tried here.");
    }
}

/* Where a tip of others was tried, and seeds leave open whether it gains. */
static void put_tried(fab_page *page, const fab_sweep *s) {
    const char *tried = "";
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        if (p->fewer.servers == 0 && p->tried_gain > 1 + FAB_EVEN_RATIO) {
            tried = fab_show(page, "%s%sx%.3g at %s", tried, tried[0] != '\0' ? ", " : "", p->tried_gain,
                             fab_text_sweep_point(page, s, p));
        }
    }
    if (tried[0] != '\0') {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                       "So many servers were tried where no such plan was found, too: %s, no "
                       "more than seeds%s leave open.",
                       tried, s->scenarios[0] != '\0' ? " and histories" : "");
    }
}

const char *fab_text_under_plans(const fab_sweep *s) {
    FAB_ANY(any, i, s->n_points, s->points[i].n_engines > 0 && s->points[i].engines[0].n_plans_tried > 0);
    return any ? " That is under these plans; others may be chosen then." : "";
}

/* "[2] costs least: $318 per 1e9 tokens, [1] 4.2 % more"; "[1] and [2] are even: $318 per 1e9 tokens". */
static const char *tipped_show(fab_page *page, const fab_sweep *s, const fab_tipped *t) {
    const char *best = fab_text_named_point(page, s, &s->points[t->best]);
    const char *next = fab_text_named_point(page, s, &s->points[t->next]);
    const char *usd = fab_show_price(page, t->usd);
    if (t->n_even > 0) {
        return t->n_even > 1
                   ? fab_show(page, "%s, %s and %zu more are even: %s per 1e9 tokens", best, next, t->n_even - 1, usd)
                   : fab_show(page, "%s and %s are even: %s per 1e9 tokens", best, next, usd);
    }
    return fab_show(page, "%s costs least: %s per 1e9 tokens, %s %s", best, usd, next,
                    fab_show_more(page, t->margin_ratio));
}

const char *fab_text_tipped(fab_page *page, const fab_sweep *s) {
    if (!s->has_tipped) {
        return "";
    }
    const char *owned = s->tipped[1].usd > 0 ? fab_show(page, "; bought for %.3g years, %s",
                                                        s->points[s->tipped[1].best].ownership.years,
                                                        tipped_show(page, s, &s->tipped[1]))
                                             : "";
    return fab_show(page, " With what is advised of idle GPUs and other batches, all GPUs paid for, by GPU hours %s%s.",
                    tipped_show(page, s, &s->tipped[0]), owned);
}

void fab_text_fewer_of_points(fab_page *page, const fab_sweep *s) {
    const bool any_gain = put_tips(page, s);
    if (s->has_tipped && !s->compares_designs) {
        fab_page_wrap(page, FAB_INK_BOLD, 2, 2, fab_text_tipped(page, s) + 1);
    }
    put_tried(page, s);
    put_idle_alike(page, s, any_gain);
}

/* What is given of a job may be what costs most, whatever the fabric. */
void fab_text_better(fab_page *page, const fab_sweep *s) {
    const fab_sweep_point *p = &s->points[0];
    if (p->better.time_s > 0) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2,
                       "What is given of the job is not the fastest: at %s a better plan takes %s, %.0f %% less: "
                       "--job %s.",
                       fab_text_sweep_point(page, s, p), fab_show_time(page, p->better.time_s),
                       100 * (1 - p->better.time_s / p->engines[0].time_s), p->better.keys);
    }
}

/* Where the best of a short search stands far above what bounds allow, the order may be that of plans. Of several jobs
 * no plans of others were tried. */
void fab_text_short_plans(fab_page *page, const fab_sweep *s) {
    const fab_sweep_engine *widest = NULL;
    const fab_sweep_point *at = NULL;
    size_t n = 0;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        FAB_EACH(const fab_sweep_engine, e, p->engines, p->n_engines) {
            if (e->has_plan && !e->plan_is_proven && e->n_plans_tried == 0 && e->has_iteration &&
                e->plan_bound_s < SHORT_OF_PROOF * e->time_s) {
                const bool is_wider =
                    widest == NULL || e->plan_bound_s / e->time_s < widest->plan_bound_s / widest->time_s;
                widest = is_wider ? e : widest;
                at = is_wider ? p : at;
                n++;
            }
        }
    }
    if (n > 0) {
        fab_page_wrapf(
            page, FAB_INK_BOLD, 2, 2,
            "%s of a short search, and bounds do not exclude faster ones: %s takes %s%s, and no plan less than "
            "%s. So the order may be that of plans: --job plan=auto searches on.",
            n == 1 ? "One plan is" : fab_show(page, "%s plans are", fab_show_count(page, n)),
            fab_text_sweep_point(page, s, at), fab_show_time(page, widest->time_s),
            s->n_built > 1 && at->other_jobs == 0 && s->n_untried == 0 ? ", no less under any plan of the others" : "",
            fab_show_time(page, widest->plan_bound_s));
    }
}

/* Least and most over the designs of parts of a whole; most < least: there is none. */
typedef struct part_range {
    double least, most;
} part_range;

static void part_widen(part_range *r, double part, double whole) {
    if (whole > 0) {
        r->least = fmin(r->least, part / whole);
        r->most = fmax(r->most, part / whole);
    }
}

static const char *part_show(fab_page *page, const part_range *r) {
    const char *most = fab_show(page, "%.3g %%", 100 * r->most);
    const char *least = fab_show(page, "%.3g %%", 100 * r->least);
    return strcmp(least, most) == 0 ? most : fab_show(page, "%.3g to %s", 100 * r->least, most);
}

/* GPUs take most of time and cost: what the network has of both says how far designs can lie apart. */
void fab_text_network_part(fab_page *page, const fab_sweep *s) {
    part_range time = {INFINITY, -INFINITY};
    part_range hours = time;
    part_range owned = time;
    const fab_sweep_point *priced = NULL;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        for (size_t e = 0; e < p->n_engines; e++) {
            const fab_iteration *it = &p->engines[e].iteration;
            if (!p->engines[e].has_iteration || !(it->usd_per_1e9_tokens > 0)) {
                continue;
            }
            double usd_per_year = it->usd_per_1e9_tokens * it->tokens_per_s / 1e9 * FAB_SECONDS_PER_YEAR;
            part_widen(&time, fab_iteration_exposed_s(it), it->time_s);
            part_widen(&hours, it->network_share_ratio * (p->capital_usd_per_year + p->energy_usd_per_year),
                       usd_per_year);
            part_widen(&owned, p->ownership.network_usd, p->ownership.total_usd);
            priced = p;
        }
    }
    if (priced == NULL) {
        return;
    }
    fab_page_say(page, "Communication that nothing hides is %s of the time; the network is %s of the cost by GPU hours",
                 part_show(page, &time), part_show(page, &hours));
    if (owned.most >= owned.least) {
        fab_page_say(page, " and %s of what is bought and run", part_show(page, &owned));
    }
    fab_page_say(page, ".");
    if (fab_text_unlike_hours(s)) {
        fab_page_paragraph(page, FAB_INK_PLAIN, 2, 2);
        fab_text_gpu_hours(page, s);
        return;
    }
    fab_page_say(page, " A GPU hour is $%.2f (%s; job.gpu-hour-usd): margins below %.0f %% are within such values.",
                 priced->gpu_hour_usd, priced->gpu_hour_source, 100 * FAB_EVEN_RATIO);
    fab_page_paragraph(page, FAB_INK_PLAIN, 2, 2);
}
