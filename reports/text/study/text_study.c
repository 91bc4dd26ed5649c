/* Text report of a study: how bad it is, over all scenarios. What hurts: text_study_parts.c. */
#include "text_study.h"

#include "fab/units.h"

#define MOST_ROWS 24    /* of engines and policies */
#define FASTER    0.001 /* by which a mean is below that where nothing failed */

/* --- parts ------------------------------------------------------------------------------------------------------- */

const char *study_show_factor(fab_page *page, double factor) {
    if (isnan(factor) || isinf(factor)) {
        return isnan(factor) ? "-" : "stops";
    }
    double change = fabs(factor - 1);
    bool is_small = change > 5e-6 && change < 1e-3; /* more digits where three show nothing */
    return fab_show(page, is_small ? "x%.5f" : factor < 9.9995 ? "x%.3f" : "x%.3g", factor);
}

const char *study_show_percent(fab_page *page, double ratio) {
    return isnan(ratio) ? "-" : fab_show(page, "%s", fab_part_format(FAB_ROOM, fabs(ratio) < 5e-6 ? 0 : ratio, 3));
}

/* "99.12 %". */
static const char *study_show_goodput(fab_page *page, double ratio) {
    return isnan(ratio)      ? "-"
           : ratio > 1.00005 ? fab_show(page, "x%.4g", ratio)
                             : fab_show(page, "%.2f %%", 100 * ratio);
}

study_show *study_figure(const fab_study_summary *s) {
    return s->span_s > 0 ? study_show_goodput : s->has_times ? study_show_factor : fab_show_about;
}

/* What the study is about: goodput, slowdown, or the load of the fullest link. */
static const fab_spread *study_spread(const fab_study_summary *s, const fab_study_variant *v) {
    return s->span_s > 0 ? &v->goodput : s->has_times ? &v->slowdown : &v->worst_ratio;
}

/* "[2] spray, first-spare", without what all have in common. */
static const char *study_show_name(fab_page *page, const fab_study_summary *s, size_t variant) {
    const fab_study_variant *v = &s->variants[variant];
    bool shows_engine = s->n_variants > s->n_policies || s->n_policies == 1;
    int n = shows_engine ? (int)strcspn(v->engine, ",") : 0;
    return fab_show(page, "[%zu] %.*s%s%.20s", variant + 1, n < 12 ? n : 12, v->engine,
                    shows_engine && s->n_policies > 1 ? ", " : "", s->n_policies > 1 ? v->policy : "");
}

/* Of policies that do the same in every scenario the first alone has a line, and the one that is asked for. */
static bool study_has_line(const fab_study_summary *s, size_t variant) {
    return s->variants[variant].same_as == variant || variant == s->shown;
}

/* --- how bad ------------------------------------------------------------------------------------------------------ */

static void study_say_goodput(fab_page *page, const fab_study_summary *s, const fab_study_variant *v, bool is_long) {
    fab_page_say(page, "In %s the job does %s of the work that it would do without failures, on average",
                 study_show_span(page, s->span_s), study_show_goodput(page, v->goodput.mean));
    if (is_long) {
        fab_page_say(page, "; 99 %% of the histories reach %s, the worst %s. Of %.3g failures %.3g stop it",
                     study_show_goodput(page, v->goodput.p99), study_show_goodput(page, v->goodput.worst), v->failures,
                     v->stops);
    }
    fab_page_say(page, ".");
    if (v->quarterly_lost_usd > 0) {
        fab_page_say(page, " At this rate failures cost %s a quarter, by GPU hours of the job at $%.2f%s%s.",
                     study_show_quarter(page, v), s->gpu_hour_usd, study_main_loss(page, s, v),
                     s->has_spares && is_long ? ", against this design without failures; compare tells what its fabric "
                                                "for spares costs in time"
                                              : "");
    }
    if (is_long && s->model.shrinks && !s->model.serves && strcmp(v->policy, "shrink") == 0) {
        fab_page_say(page, " It holds where %s (--set failures.keep-batch=%s).",
                     s->model.keeps_batch ? "replicas that are left do all of the batch"
                                          : "the batch is smaller without lost replicas",
                     s->model.keeps_batch ? "no: a smaller batch" : "yes: those left do all of it");
    }
}

/* "x1.018 on average, x1.12 or more in 1 of 100, x1.31 at worst" */
static void study_say_running(fab_page *page, const fab_study_summary *s, const fab_spread *spread) {
    study_show *show = study_figure(s);
    const char *mean = show(page, spread->mean);
    const char *p99 = show(page, spread->p99);
    const char *worst = show(page, spread->worst);
    if (strcmp(mean, worst) == 0) {
        fab_page_say(page, "%s", mean);
        return;
    }
    fab_page_say(page, "%s on average,", mean);
    if (strcmp(p99, worst) != 0 && strcmp(mean, p99) != 0) {
        fab_page_say(page, " %s or more in 1 of 100,", p99);
    }
    fab_page_say(page, " %s at worst", worst);
}

/* "The job runs in all 12 scenarios; it takes x1.018 on average, x1.3 at worst." */
static void study_say_sets(fab_page *page, const fab_study_summary *s, const fab_study_variant *v) {
    const fab_spread *spread = study_spread(s, v);
    const char *done = fab_show_counted(page, v->n_done, "scenario", "scenarios");
    if (v->n_stopped == 0 || v->n_stopped == v->n_done) {
        fab_page_say(page, "The job %s in %s%s", v->n_stopped == 0 ? "runs" : "stops",
                     v->n_done == 1 ? "the only scenario" : "all ", v->n_done == 1 ? "" : done);
    } else {
        fab_page_say(page, "The job stops in %s of %s (%s)", fab_show_count(page, v->n_stopped), done,
                     study_show_percent(page, (double)v->n_stopped / (double)v->n_done));
    }
    if (spread->n > 0 && s->has_times) {
        fab_page_say(page, "; %s%s ", v->n_stopped > 0 ? "in the others " : "",
                     s->is_p99 ? "the p99 of requests is" : "it takes");
        study_say_running(page, s, spread);
    } else if (spread->n > 0) {
        fab_page_say(page, "; %s the fullest link is offered ", v->n_stopped > 0 ? "in the others" : "there");
        study_say_running(page, s, spread);
        fab_page_say(page, ", in parts of its rate (%.3g where nothing failed)", v->healthy_ratio);
    }
    fab_page_say(page, ".");
    if (spread->n > 0 && s->has_times && spread->mean < 1 - FASTER) {
        fab_page_say(
            page, " Below x1 is luck: what is left collides less, by other draws of paths or other places of ranks.");
    }
}

/* What impact is a part of, where that is plain. */
static const char *study_of_speed(const fab_study_summary *s) {
    return s->has_times && !s->is_p99 ? " of its speed" : "";
}

/* The fastest and the slowest variant, of equal ones the first. */
static void study_find_ends(const fab_study_summary *s, size_t *best, size_t *worst) {
    *best = *worst = s->shown;
    for (size_t v = 0; v < s->n_variants; v++) {
        const double speed = s->variants[v].speed;
        *best = speed > s->variants[*best].speed * (1 + FAB_SAME_FACTOR) ? v : *best;
        *worst = speed < s->variants[*worst].speed * (1 - FAB_SAME_FACTOR) ? v : *worst;
    }
}

/* What is shown, named where there is another: "[2] first-spare does best of 3. In 90 days ..." */
static void study_put_answer(fab_page *page, const fab_study_summary *s, bool is_long) {
    const fab_study_variant *v = &s->variants[s->shown];
    size_t best = 0;
    size_t worst = 0;
    if (s->n_done == 0) {
        fab_page_wrap(page, FAB_INK_BAD, 2, 2, "No scenario has been looked at yet.");
        return;
    }
    study_find_ends(s, &best, &worst);
    if (best != worst) {
        fab_page_say(page, "%s%s of %zu%s. ", study_show_name(page, s, s->shown), best == s->shown ? " does best" : "",
                     s->n_variants, best == s->shown ? study_even(page, s) : "");
    }
    if (s->n_seeds == 1) {
        fab_page_say(page, "By one draw of the paths%s. ", s->n_looked_at > 0 ? "" : " (--seeds 8 for more)");
    }
    if (s->span_s > 0) {
        study_say_goodput(page, s, v, is_long);
    } else {
        study_say_sets(page, s, v);
        if (best != worst && v->impact > FAB_SAME_FACTOR) {
            fab_page_say(page, " It loses %s%s on average.", study_show_percent(page, v->impact), study_of_speed(s));
        }
    }
    fab_page_paragraph(page, FAB_INK_BOLD, 2, 2);
}

/* "Where nobody moves, [1] none, it stops in 64 scenarios and loses 33.9 % of its speed on average." */
static void study_say_other(fab_page *page, const fab_study_summary *s, const char *what, size_t variant) {
    const fab_study_variant *v = &s->variants[variant];
    const fab_study_variant *shown = &s->variants[s->shown];
    fab_page_say(page, "%s, %s, it ", what, study_show_name(page, s, variant));
    if (v->n_stopped > 0 && s->span_s <= 0) {
        fab_page_say(page, "stops in %s and ", fab_show_counted(page, v->n_stopped, "scenario", "scenarios"));
    }
    if (s->span_s > 0) {
        fab_page_say(page, "does %s of the work", study_show_goodput(page, v->goodput.mean));
    } else {
        fab_page_say(page, "loses %s%s on average", study_show_percent(page, v->impact), study_of_speed(s));
    }
    if (strcmp(v->engine, shown->engine) != 0) { /* parts of different speeds */
        fab_page_say(page, "; where nothing fails %s is %s",
                     s->is_p99      ? "the p99 of its requests"
                     : s->has_times ? "its time"
                                    : "its fullest link",
                     study_show_factor(page, s->has_times ? v->healthy_time_s / shown->healthy_time_s
                                                          : v->healthy_ratio / shown->healthy_ratio));
    }
    fab_page_say(page, ". ");
}

/* Beside what is shown: the best, doing nothing, and the worst of all. */
static void study_put_others(fab_page *page, const fab_study_summary *s) {
    static const char *const WHAT[] = {"Under the best", "Where nobody moves", "Under the worst"};
    const size_t first = s->shown - s->shown % s->n_policies;
    size_t others[] = {0, s->shown, 0}; /* of policy none: of the engine that is shown */
    study_find_ends(s, &others[0], &others[2]);
    for (size_t v = first; v < first + s->n_policies; v++) {
        const size_t same = s->variants[v].same_as;
        if (same != v) {
            fab_page_say(page, "Policies %s and %s do the same in every scenario. ", s->variants[same].policy,
                         s->variants[v].policy);
        } else if (strcmp(s->variants[v].policy, "none") == 0) {
            others[1] = v;
        }
    }
    for (size_t i = 0; i < 3; i++) {
        if (others[i] != s->shown && (i == 0 || others[i] != others[i - 1])) {
            study_say_other(page, s, WHAT[i], others[i]);
        }
    }
    if (page->said.length > 0) {
        fab_page_paragraph(page, FAB_INK_PLAIN, 2, 2);
    }
}

static void study_put_state(fab_page *page, const fab_study_summary *s) {
    const fab_study_variant *v = &s->variants[s->shown];
    if (s->n_done < s->n_scenarios) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 2, "Only %s of %s done (%s): all figures are of those.",
                       fab_show_count(page, s->n_done), fab_show_counted(page, s->n_scenarios, "scenario", "scenarios"),
                       study_show_percent(page, (double)s->n_done / (double)s->n_scenarios));
    }
    if (s->n_looked_at > 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                       "Every scenario is counted; one of each of %s was looked at: the others end the same, by "
                       "symmetries of fabric and traffic.",
                       fab_show_counted(page, s->n_looked_at, "class of equal ones", "classes of equal ones"));
    }
    if (s->n_variants > 1) {
        fab_page_say(page, "[%zu] is engine %s, policy %s; traffic %s.", s->shown + 1, v->engine, v->policy,
                     s->traffic);
    } else {
        fab_page_say(page, "Engine %s, policy %s, traffic %s.", v->engine, v->policy, s->traffic);
    }
    if (s->plan_keys[0] != '\0') {
        fab_page_say(page, " It runs by --job %s%s.", s->plan_keys,
                     s->n_variants > s->n_policies ? STUDY_ONE_PLAN : "");
    }
    if (s->n_seeds > 1 && s->span_s > 0) {
        fab_page_say(page, " Histories are dealt to %s of paths.", fab_show_counted(page, s->n_seeds, "seed", "seeds"));
    } else if (s->n_seeds > 1) {
        fab_page_say(page, " Means over %s of paths; what these do not tell from chance is no part's impact.",
                     fab_show_counted(page, s->n_seeds, "seed", "seeds"));
    }
    if (s->untried[0] != '\0' && (s->span_s > 0 || v->n_stopped > 0 || v->n_moved > 0)) {
        fab_page_say(page, " Not tried (--policy): %s.", s->untried);
    }
    fab_page_paragraph(page, FAB_INK_DIM, 2, 2);
}

/* --- outcomes ----------------------------------------------------------------------------------------------------- */

#define FIRST_BAD 7 /* bins from the eighth on are half as slow again and more */

static void study_put_bins(fab_page *page, size_t row, const void *context) {
    const fab_study_summary *s = context;
    size_t variant = 0;
    for (; !study_has_line(s, variant) || --row > 0; variant++) {
    }
    if (page->used + 2 + FAB_STUDY_BINS <= page->width) {
        fab_page_put(page, FAB_INK_PLAIN, "  ");
        fab_page_sparkline(page, s->variants[variant].bin, FAB_STUDY_BINS, FIRST_BAD);
    }
}

static void study_put_outcomes(fab_page *page, const fab_study_summary *s) {
    study_show *show = study_figure(s);
    const fab_column columns[] = {COLUMN("", text),         MARKED("stops", fab_show_whole, FAB_INK_BAD, 0),
                                  COLUMN("cut off", whole), SHOWN("mean", show),
                                  SHOWN("p50", show),       SHOWN("p99", show),
                                  SHOWN("worst", show),     COLUMN("a quarter", money)};
    FAB_ANY(has_price, k, s->n_variants, s->variants[k].quarterly_lost_usd > 0);
    fab_table table = fab_table_of(page, columns, FAB_N_OF(columns) - !has_price);
    for (size_t i = 0; i < s->n_variants && i < MOST_ROWS; i++) {
        const fab_study_variant *v = &s->variants[i];
        const fab_spread *spread = study_spread(s, v);
        const double figures[] = {
            (double)v->n_stopped, (double)v->n_disconnected, spread->mean, spread->p50, spread->p99,
            spread->worst,        v->quarterly_lost_usd};
        if (!study_has_line(s, i)) {
            continue;
        }
        fab_table_row(&table, FAB_INK_PLAIN, "", figures);
        fab_table_put(&table, 0, i == s->shown ? FAB_INK_BOLD : FAB_INK_PLAIN, study_show_name(page, s, i));
        for (size_t column = 3; spread->n == 0 && column < 7; column++) {
            fab_table_set(&table, column, FAB_INK_DIM, "-");
        }
    }
    fab_text_heading(page, "OUTCOMES",
                     s->span_s > 0  ? "goodput of the span"
                     : s->is_p99    ? "p99 of requests, over that where nothing failed"
                     : s->has_times ? "times, over that where nothing failed"
                                    : "load of the fullest link, over its residual capacity");
    fab_table_end(&table, 2, study_put_bins, s);
    if (s->n_variants > MOST_ROWS) {
        fab_text_notef(page, "and %zu more, see --format json", s->n_variants - MOST_ROWS);
    }
    fab_text_notef(page,
                   "stops: scenarios in which the job %s; cut off: in which flows lose every path, before anybody "
                   "moves; p99: not exceeded by 99 %% of the scenarios%s",
                   s->span_s > 0 ? "stands at the end" : "stands",
                   !(s->span_s > 0) ? " that run, as all figures to the right"
                   : has_price      ? " (goodput: reached); a quarter: GPU hours that are lost in one"
                                    : " (goodput: reached)");
}

/* "x1.01 - x1.02" */
static const char *study_show_bin(fab_page *page, size_t bin) {
    if (bin == 0) {
        return fab_show(page, "below x%.3f", fab_study_edges[0]);
    }
    if (bin + 1 == FAB_STUDY_BINS) {
        return fab_show(page, "x%.3g and more", fab_study_edges[bin - 1]);
    }
    return fab_show(page, "x%.4g - x%.4g", fab_study_edges[bin - 1], fab_study_edges[bin]);
}

static void study_put_histogram(fab_page *page, const fab_study_summary *s) {
    const fab_study_variant *v = &s->variants[s->shown];
    size_t first = 0;
    size_t last = 0;
    uint64_t stopped = s->span_s > 0 ? 0 : v->n_stopped;
    uint64_t most = fab_text_bins(v->bin, FAB_STUDY_BINS, &first, &last);
    uint64_t largest = most > stopped ? most : stopped;
    if (largest == 0) {
        return;
    }
    fab_page_line(page, FAB_INK_DIM, "    scenarios of [%zu] by %s", s->shown + 1,
                  s->span_s > 0  ? "1 / goodput"
                  : s->has_times ? "slowdown"
                                 : "load of the fullest link, over that where nothing failed");
    for (size_t bin = first; bin <= last && most > 0; bin++) {
        fab_page_bin(page, bin < FIRST_BAD ? FAB_INK_BAR : FAB_INK_BAD, study_show_bin(page, bin), v->bin[bin],
                     largest);
    }
    if (stopped > 0) {
        fab_page_bin(page, FAB_INK_BAD, "stops", stopped, largest);
    }
}

/* --- policies ----------------------------------------------------------------------------------------------------- */

static void study_put_saving(fab_page *page, const fab_study_summary *s, const fab_study_choice *c) {
    const char *baseline = s->variants[c->baseline].policy;
    if (c->most_saved_scenario == UINT64_MAX) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "Nothing beats %s in any scenario.", baseline);
        return;
    }
    fab_page_say(page, "The best of them in each scenario loses %s, %s %s", study_show_percent(page, c->impact),
                 baseline, study_show_percent(page, c->baseline_impact));
    if (c->n_rescued > 0) {
        fab_page_say(page, "; the job runs in %s in which %s stops it",
                     fab_show_counted(page, c->n_rescued, "scenario", "scenarios"), baseline);
    }
    fab_page_say(page, ". It saves most in scenario %" PRIu64 ": %s, by %s.", c->most_saved_scenario,
                 study_show_percent(page, c->most_saved), s->variants[c->most_saved_variant].policy);
    fab_page_paragraph(page, FAB_INK_PLAIN, 2, 2);
}

static const char *study_show_impact(fab_page *page, double ratio) {
    return fab_show(page, "%s", fab_part_format(FAB_ROOM, ratio, 2));
}

static const char *study_show_1_digit(fab_page *page, double value) {
    return fab_show(page, "%.1f", value);
}

static void study_put_choice(fab_page *page, const fab_study_summary *s, const fab_study_choice *c) {
    study_show *show = study_figure(s);
    const fab_column columns[] = {COLUMN("policy", text),
                                  SHOWN("impact", study_show_impact),
                                  SHOWN("mean", show),
                                  SHOWN("p99", show),
                                  MARKED("stops", fab_show_whole, FAB_INK_BAD, 0),
                                  SHOWN("collided", study_show_1_digit),
                                  COLUMN("moved", 2_digits),
                                  COLUMN("best", whole),
                                  MARKED("alone", fab_show_whole, FAB_INK_GOOD, 0)};
    fab_text_heading(page, "POLICIES", s->variants[c->first].engine);
    fab_table table = fab_table_of(page, FAB_COLUMNS(columns));
    for (size_t i = c->first; i < c->first + s->n_policies; i++) {
        const fab_study_variant *v = &s->variants[i];
        const fab_spread *spread = study_spread(s, v);
        const double figures[] = {v->impact,
                                  spread->n > 0 ? spread->mean : NAN,
                                  spread->n > 0 ? spread->p99 : NAN,
                                  (double)v->n_stopped,
                                  v->collisions.n > 0 ? v->collisions.mean : NAN,
                                  v->moved.mean,
                                  (double)v->n_best,
                                  (double)v->n_alone};
        if (!study_has_line(s, i)) {
            continue;
        }
        fab_table_row(&table, FAB_INK_PLAIN, "", figures);
        fab_table_set(&table, 0, i == s->shown ? FAB_INK_BOLD : FAB_INK_PLAIN, "%.16s", v->policy);
    }
    fab_table_end(&table, 2, NULL, NULL);
    if (c->n_compared > 0) {
        study_put_saving(page, s, c);
    }
}

static void study_put_policies(fab_page *page, const fab_study_summary *s) {
    FAB_SUM(size_t, n_lines, i, s->n_variants, s->variants[i].same_as == i);
    if (s->choices == NULL || n_lines == s->n_variants / s->n_policies) {
        return;
    }
    for (size_t e = 0; e < s->n_variants / s->n_policies; e++) {
        study_put_choice(page, s, &s->choices[e]);
    }
    fab_text_notef(page,
                   "impact: %s, mean over all scenarios; mean, p99: %s; collided: network links that are offered more "
                   "than their residual capacity, moved: servers, both means; best: scenarios in which no other policy "
                   "has less impact; alone: in which every other does more",
                   s->criterion,
                   s->span_s > 0  ? "goodput"
                   : s->has_times ? "slowdown where the job runs"
                                  : "load of the fullest link where the job runs");
}

/* --- goodput ------------------------------------------------------------------------------------------------------ */

static void study_put_goodput(fab_page *page, const fab_study_summary *s) {
    static const fab_column COLUMNS[] = {COLUMN("", text),
                                         MARKED("goodput", study_show_goodput, FAB_INK_BOLD, -1),
                                         SHOWN("restart", study_show_goodput),
                                         SHOWN("redo", study_show_goodput),
                                         SHOWN("slower", study_show_goodput),
                                         SHOWN("waits", study_show_goodput),
                                         SHOWN("writes", study_show_goodput),
                                         SHOWN("stops", study_show_1_digit)};
    if (s->span_s <= 0) {
        return;
    }
    fab_text_heading(page, "GOODPUT", "where the span goes, means over the histories");
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < s->n_variants && i < MOST_ROWS; i++) {
        const fab_study_variant *v = &s->variants[i];
        const double figures[] = {v->goodput.n > 0 ? v->goodput.mean : NAN,
                                  v->restart_ratio,
                                  v->redo_ratio,
                                  v->slow_ratio,
                                  v->wait_ratio,
                                  v->write_ratio,
                                  v->stops};
        if (!study_has_line(s, i)) {
            continue;
        }
        fab_table_row(&table, FAB_INK_PLAIN, "", figures);
        fab_table_put(&table, 0, i == s->shown ? FAB_INK_BOLD : FAB_INK_PLAIN, study_show_name(page, s, i));
    }
    fab_table_end(&table, 2, NULL, NULL);
    fab_text_note(page, "restart: until the job runs again; redo: work since the last checkpoint, done again; slower: "
                        "what slower iterations take more; waits: for repairs; writes: the job stands for "
                        "checkpoints; with the goodput they add up to the span. stops: failures that stop the job, in "
                        "a span, planned stops left out");
    const fab_study_variant *shown = &s->variants[s->shown];
    if (shown->tokens_per_s > 0) {
        double all = shown->tokens_per_s * s->span_s / 1e12;
        fab_text_notef(page,
                       "%s: %s tokens a second of the span stay, %.4g x 1e12 in all; %.4g x 1e12 without failures",
                       study_show_name(page, s, s->shown), FAB_SAY_COUNT((uint64_t)shown->tokens_per_s), all,
                       all / shown->goodput.mean);
    }
}

/* "14.2 min", "38 years" */
static const char *study_show_time(fab_page *page, double s) {
    static const struct {
        double s;
        const char *name;
    } UNITS[] = {{365 * 86400.0, "years"}, {86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    size_t unit = 0;
    if (!isfinite(s)) {
        return "never";
    }
    while (unit + 1 < FAB_N_OF(UNITS) && s < UNITS[unit].s) {
        unit++;
    }
    return fab_show(page, "%.3g %s", s / UNITS[unit].s, UNITS[unit].name);
}

static void study_say_slow(fab_page *page, const fab_failure_model *m, size_t row, const char *who, const char *what,
                           double speed) {
    if (isfinite(m->row[row].mtbf_s)) {
        bool is_noticed = 1 - speed >= m->rates.detect_loss;
        fab_page_say(page, " Slow %s %s of their %s, which %s%s.", who, study_show_percent(page, speed), what,
                     is_noticed ? "is noticed after " : "nobody notices",
                     is_noticed ? study_show_time(page, m->rates.detect_s) : "");
    }
}

static void study_put_model(fab_page *page, const fab_study_summary *s) {
    static const fab_column COLUMNS[] = {COLUMN("", text), SHOWN("of one, every", study_show_time),
                                         SHOWN("away for", study_show_time)};
    const fab_failure_model *m = &s->model;
    const fab_failure_rates *r = &m->rates;
    if (m->n_rows == 0) {
        return;
    }
    fab_text_heading(page, "FAILURE MODEL", "what histories are drawn with; keys failures.* of the design");
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < m->n_rows; i++) {
        const double figures[] = {m->row[i].mtbf_s, m->row[i].away_s};
        fab_table_row(&table, FAB_INK_PLAIN, m->row[i].name, figures);
    }
    fab_table_end(&table, 2, NULL, NULL);
    if (m->serves) {
        fab_page_say(page,
                     "Replicas that serve go on without each other: goodput is the part of the requests that those "
                     "left can serve (of pools: of the one that has lost most), beside flows of the lost ones, which "
                     "still count; a replica restarts alone, in %s",
                     study_show_time(page, r->restart_s));
    } else {
        fab_page_say(
            page, "A checkpoint every %s%s, for which the job stands %s; it counts after %s. A restart takes %s",
            study_show_time(page, r->checkpoint_s), m->is_auto ? " (found for this job)" : "",
            study_show_time(page, r->pause_s), study_show_time(page, r->lag_s), study_show_time(page, r->restart_s));
    }
    fab_page_say(page, r->join_s > 0 ? ", %s longer where ranks move." : ".", study_show_time(page, r->join_s));
    const bool goes_home = s->has_spares && s->has_times && r->stops_per_s > 0 && !m->serves;
    fab_page_say(page, goes_home ? " Ranks on a spare go home where that gains more until the next stop." : "");
    if (r->rma_part > 0) {
        fab_page_say(page, " %s of hardware is away for %s.", study_show_percent(page, r->rma_part),
                     study_show_time(page, r->rma_s));
    }
    if (r->infant_factor > 1) {
        fab_page_say(page, " It fails %.3g times as often at first, an excess that falls to 1/e in %s.",
                     r->infant_factor, study_show_time(page, r->infant_s));
    }
    study_say_slow(page, m, FAB_FAILURE_SLOW, "GPUs keep", "speed", r->slow_speed);
    study_say_slow(page, m, FAB_FAILURE_FLAP, "cables keep", "capacity", r->flap_speed);
    if (r->throttle > 0) {
        fab_page_say(page, " At noon GPUs lose %s to heat%s%s.", study_show_percent(page, r->throttle),
                     m->throttle_halls[0] != '\0' ? " in halls " : "", m->throttle_halls);
    }
    if (m->shrinks && !m->serves) {
        fab_page_say(page,
                     " shrink: another number of replicas takes %s in place of a restart; %s; the job stops to take "
                     "back %s of them. Its rings keep the rates that all replicas have: less exact where the job waits "
                     "for its network.",
                     study_show_time(page, r->reform_s),
                     m->keeps_batch ? "those left do all of the batch" : "the batch is smaller without them",
                     study_show_percent(page, r->regrow));
    }
    fab_page_paragraph(page, FAB_INK_PLAIN, 2, 2);
    if (m->source[0] != '\0') {
        fab_text_notef(page, "rates: %s; software and maintenance per GPU of the job", m->source);
    }
}

static void study_put_conventions(fab_page *page, const fab_study_summary *s) {
    static const char *const LINES[] = {
        "a dead link is dead in both directions; switches, NICs, GPUs, servers and racks die as a whole",
        "routing has converged on the residual fabric; servers that move take their ranks along, everybody else stays",
        "offered rates stay those of the healthy fabric; rates, times and loads are counted as `fabriscope run` does",
        "cut off and lost rate: before anybody moves; all other figures: behind it",
        ("histories: failures and repairs of every class at exponential times; a stopped job goes back to its last "
         "checkpoint"),
    };
    fab_text_conventions(page, LINES, FAB_N_OF(LINES) - (s->span_s > 0 ? 0 : 1));
}

void fab_text_study_answer(fab_page *page, const fab_study_summary *s) {
    study_put_answer(page, s, false);
    if (s->n_done > 0) {
        study_put_highest(page, s);
    }
}

void fab_text_study(fab_page *page, const fab_study_summary *s) {
    char title[sizeof s->scenarios + sizeof s->design + 8];
    FAB_FORMAT(title, "%s on %s", s->scenarios, s->design);
    fab_text_heading(page, "STUDY", title);
    study_put_answer(page, s, true);
    if (s->n_done > 0) {
        study_put_others(page, s);
        study_put_highest(page, s);
    }
    study_put_state(page, s);
    if (s->n_done > 0) {
        study_put_outcomes(page, s);
        study_put_histogram(page, s);
        study_put_goodput(page, s);
        study_put_model(page, s);
        study_put_rollouts(page, s);
        study_put_policies(page, s);
        study_put_homing(page, s);
        study_put_causes(page, s);
        study_put_classes(page, s);
        study_put_critical(page, s);
        study_put_gains(page, s);
        study_put_cases(page, s);
    }
    study_put_conventions(page, s);
}
