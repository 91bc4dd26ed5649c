/* Text report of a study: how bad it is, over all scenarios. What hurts: text_study_parts.c. */
#include "text_study.h"
#include "fab/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define BAR_CELLS 40
#define MOST_ROWS 24 /* of engines and policies */

/* --- pieces ------------------------------------------------------------------------------------------------------- */

const char *study_factor(char *out, double factor) {
    if (isnan(factor)) {
        (void)snprintf(out, STUDY_TEXT, "-");
    } else if (isinf(factor)) {
        (void)snprintf(out, STUDY_TEXT, "stops");
    } else {
        double change = fabs(factor - 1);
        bool is_small = change > 5e-6 && change < 1e-3; /* more digits where three show nothing */
        (void)snprintf(out, STUDY_TEXT, is_small ? "x%.5f" : factor < 9.9995 ? "x%.3f" : "x%.3g", factor);
    }
    return out;
}

const char *study_damage(char *out, double damage) {
    return study_factor(out, damage < 1 ? 1 / (1 - damage) : isnan(damage) ? NAN : INFINITY);
}

const char *study_percent(char *out, double ratio) {
    if (isnan(ratio)) {
        (void)snprintf(out, STUDY_TEXT, "-");
    } else {
        double percent = 100 * ratio;
        (void)snprintf(out, STUDY_TEXT, fabs(percent) < 0.0005 ? "0 %%" : "%.3g %%", percent);
    }
    return out;
}

const char *study_count(char *out, uint64_t n, const char *what) {
    char count[32];
    (void)snprintf(out, STUDY_TEXT, "%s %s%s", fab_format_count(count, n), what, n == 1 ? "" : "s");
    return out;
}

static const char *goodput_text(char *out, double ratio) {
    (void)snprintf(out, STUDY_TEXT, isnan(ratio) ? "-" : "%.2f %%", 100 * ratio);
    return out;
}

/* "[2] spray, first-spare", without what all have in common. */
static void set_name(fab_table *table, const fab_study_summary *s, size_t variant) {
    const fab_study_variant *v = &s->variants[variant];
    bool shows_engine = s->n_variants > s->n_policies || s->n_policies == 1;
    char engine[13] = "";
    if (shows_engine) {
        (void)snprintf(engine, sizeof engine, "%.*s", (int)strcspn(v->engine, ","), v->engine);
    }
    fab_table_set(table, 0, variant == s->shown ? FAB_INK_BOLD : FAB_INK_PLAIN, "[%zu] %s%s%.20s", variant + 1, engine,
                  shows_engine && s->n_policies > 1 ? ", " : "", s->n_policies > 1 ? v->policy : "");
}

/* "90 days", "12 hours" */
static const char *span_text(char *out, double span_s) {
    const double day = 86400;
    const double hour = 3600;
    if (span_s >= 2 * day) {
        (void)snprintf(out, STUDY_TEXT, "%.4g days", span_s / day);
    } else if (span_s >= 2 * hour) {
        (void)snprintf(out, STUDY_TEXT, "%.4g hours", span_s / hour);
    } else {
        (void)fab_quantity_format(out, span_s, FAB_UNIT_TIME);
    }
    return out;
}

/* --- how bad ------------------------------------------------------------------------------------------------------ */

static void put_history_answer(fab_page *page, const fab_study_summary *s, const fab_study_variant *v) {
    char a[STUDY_TEXT];
    char b[STUDY_TEXT];
    char c[STUDY_TEXT];
    char d[STUDY_TEXT];
    if (v->goodput.n == 0) {
        return;
    }
    fab_page_wrapf(page, FAB_INK_BOLD, 2, 2,
                   "In %s the job does %s of the work that it would do without failures, on average; 99 %% of the "
                   "histories reach %s, the worst %s. Of %.3g failures %.3g stop it.",
                   span_text(a, s->span_s), goodput_text(b, v->goodput.mean), goodput_text(c, v->goodput.p99),
                   goodput_text(d, v->goodput.worst), v->failures, v->stops);
}

/* "x1.018 on average, x1.12 or more in 1 of 100, x1.31 at worst" */
static void describe_running(char *out, size_t size, const fab_study_summary *s, const fab_spread *spread) {
    char a[STUDY_TEXT] = "";
    char b[STUDY_TEXT] = "";
    char c[STUDY_TEXT] = "";
    char tail[STUDY_TEXT + 32] = "";
    const double figures[] = {spread->mean, spread->p99, spread->worst};
    char *const texts[] = {a, b, c};
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        if (s->has_times) {
            (void)study_factor(texts[i], figures[i]);
        } else {
            (void)snprintf(texts[i], STUDY_TEXT, "%.3g", figures[i]);
        }
    }
    if (strcmp(a, c) == 0) {
        (void)snprintf(out, size, "%s", a);
        return;
    }
    if (strcmp(b, c) != 0 && strcmp(a, b) != 0) {
        (void)snprintf(tail, sizeof tail, " %s or more in 1 of 100,", b);
    }
    (void)snprintf(out, size, "%s on average,%s %s at worst", a, tail, c);
}

static void put_answer(fab_page *page, const fab_study_summary *s) {
    const fab_study_variant *v = &s->variants[s->shown];
    const fab_spread *spread = s->has_times ? &v->slowdown : &v->worst_ratio;
    char a[STUDY_TEXT];
    char b[STUDY_TEXT];
    char c[STUDY_TEXT];
    char stops[160];
    char runs[256];
    if (s->n_done == 0) {
        fab_page_wrap(page, FAB_INK_BAD, 2, 2, "No scenario has been looked at yet.");
        return;
    }
    if (s->span_s > 0) {
        put_history_answer(page, s, v);
        return;
    }
    if (v->n_stopped == 0) {
        (void)snprintf(stops, sizeof stops, "The job runs in all %s", study_count(a, v->n_done, "scenario"));
    } else if (v->n_stopped == v->n_done) {
        (void)snprintf(stops, sizeof stops, "The job stops in all %s", study_count(a, v->n_done, "scenario"));
    } else {
        (void)snprintf(stops, sizeof stops, "The job stops in %s of %s (%s)", fab_format_count(a, v->n_stopped),
                       study_count(b, v->n_done, "scenario"),
                       study_percent(c, (double)v->n_stopped / (double)v->n_done));
    }
    if (spread->n == 0) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2, "%s.", stops);
        return;
    }
    describe_running(runs, sizeof runs, s, spread);
    if (s->has_times) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2, "%s; %s %s.", stops,
                       v->n_stopped > 0 ? "in the others it takes" : "it takes", runs);
    } else {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2,
                       "%s; %s the fullest link is asked for %s, in parts of its rate (%.3g "
                       "where nothing failed).",
                       stops, v->n_stopped > 0 ? "in the others" : "there", runs, v->whole_ratio);
    }
}

/* "collision-aware does best: ..." */
static void put_choice_answer(fab_page *page, const fab_study_summary *s) {
    const fab_study_choice *c = s->choices != NULL ? &s->choices[s->shown / s->n_policies] : NULL;
    char a[STUDY_TEXT];
    char b[STUDY_TEXT];
    if (c == NULL || c->n_compared == 0) {
        return;
    }
    const fab_study_variant *baseline = &s->variants[c->baseline];
    const fab_study_variant *best = baseline;
    for (size_t v = c->first; v < c->first + s->n_policies; v++) {
        best = s->variants[v].damage < best->damage - FAB_SAME_FACTOR ? &s->variants[v] : best;
    }
    if (c->n_differ == 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "The %zu policies do the same in every scenario.", s->n_policies);
    } else if (best == baseline) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "No policy does better than %s, which loses %s on average.",
                       best->policy, study_percent(a, best->damage));
    } else {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "%s does best of %zu policies: it loses %s on average, %s %s.",
                       best->policy, s->n_policies, study_percent(a, best->damage), baseline->policy,
                       study_percent(b, baseline->damage));
    }
}

static void put_state(fab_page *page, const fab_study_summary *s) {
    const fab_study_variant *v = &s->variants[s->shown];
    char a[STUDY_TEXT];
    char b[STUDY_TEXT];
    if (s->n_done < s->n_scenarios) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 2, "Only %s of %s done (%s): all figures are of those.",
                       fab_format_count(a, s->n_done), study_count(b, s->n_scenarios, "scenario"),
                       study_percent((char[STUDY_TEXT]){0}, (double)s->n_done / (double)s->n_scenarios));
    }
    if (s->n_variants > 1) {
        fab_page_wrapf(page, FAB_INK_DIM, 2, 2, "That is [%zu] of %zu: engine %s, policy %s. Traffic %s.", s->shown + 1,
                       s->n_variants, v->engine, v->policy, s->traffic);
    } else {
        fab_page_wrapf(page, FAB_INK_DIM, 2, 2, "Engine %s, policy %s, traffic %s.", v->engine, v->policy, s->traffic);
    }
}

/* --- outcomes ----------------------------------------------------------------------------------------------------- */

static void set_spread(fab_table *table, size_t column, const fab_study_summary *s, const fab_study_variant *v) {
    const fab_spread *spread = s->span_s > 0 ? &v->goodput : s->has_times ? &v->slowdown : &v->worst_ratio;
    const double figures[] = {spread->mean, spread->p50, spread->p99, spread->worst};
    char a[STUDY_TEXT];
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        if (spread->n == 0) {
            fab_table_set(table, column + i, FAB_INK_DIM, "-");
        } else if (s->span_s > 0) {
            fab_table_set(table, column + i, FAB_INK_PLAIN, "%s", goodput_text(a, figures[i]));
        } else if (s->has_times) {
            fab_table_set(table, column + i, FAB_INK_PLAIN, "%s", study_factor(a, figures[i]));
        } else {
            fab_table_set(table, column + i, FAB_INK_PLAIN, "%.3g", figures[i]);
        }
    }
}

static uint64_t largest_bin(const fab_study_variant *v) {
    uint64_t largest = 0;
    for (size_t i = 0; i < FAB_STUDY_BINS; i++) {
        largest = v->bin[i] > largest ? v->bin[i] : largest;
    }
    return largest;
}

/* Bins from the seventh on are half as slow again and more. */
static fab_ink ink_of_bin(size_t bin) {
    return bin < 7 ? FAB_INK_BAR : FAB_INK_BAD;
}

static void put_small_histogram(fab_page *page, size_t row, void *context) {
    const fab_study_summary *const *s = context;
    const fab_study_variant *v = &(*s)->variants[row - 1];
    if (page->used + 2 + FAB_STUDY_BINS > page->width) {
        return;
    }
    fab_page_put(page, FAB_INK_PLAIN, "  ");
    for (size_t bin = 0; bin < FAB_STUDY_BINS; bin++) {
        fab_page_column_bar(page, ink_of_bin(bin), (double)v->bin[bin], (double)largest_bin(v));
    }
}

static void put_outcomes(fab_page *page, const fab_study_summary *s) {
    static const char *const TITLES[] = {"", "stops", "cut off", "mean", "p50", "p99", "worst"};
    fab_table table;
    char a[STUDY_TEXT];
    fab_table_begin(&table, TITLES, sizeof TITLES / sizeof TITLES[0]);
    for (size_t i = 0; i < s->n_variants && i < MOST_ROWS; i++) {
        const fab_study_variant *v = &s->variants[i];
        fab_table_row(&table);
        set_name(&table, s, i);
        fab_table_set(&table, 1, v->n_stopped > 0 ? FAB_INK_BAD : FAB_INK_PLAIN, "%s",
                      fab_format_count(a, v->n_stopped));
        fab_table_set(&table, 2, FAB_INK_PLAIN, "%s", fab_format_count(a, v->n_disconnected));
        set_spread(&table, 3, s, v);
    }
    fab_text_heading(page, "OUTCOMES",
                     s->span_s > 0  ? "goodput of the span"
                     : s->has_times ? "times, over that where nothing failed"
                                    : "load of the fullest link, over what is left of its rate");
    fab_table_print(&table, page, 2, put_small_histogram, &s);
    fab_table_release(&table);
    if (s->n_variants > MOST_ROWS) {
        fab_page_wrapf(page, FAB_INK_DIM, 2, 2, "and %zu more, see --format json", s->n_variants - MOST_ROWS);
    }
    fab_page_wrapf(page, FAB_INK_DIM, 2, 2,
                   "stops: scenarios in which the job %s; cut off: in which flows lose their path, before anybody "
                   "moves; p99: not exceeded by 99 %% of the scenarios%s",
                   s->span_s > 0 ? "stands at the end" : "stands",
                   s->span_s > 0 ? " (goodput: reached)" : " that run, as all figures to the right");
}

/* "1.01 - 1.02" */
static const char *bin_name(char *out, size_t bin) {
    if (bin == 0) {
        (void)snprintf(out, STUDY_TEXT, "below x%.3f", fab_study_edges[0]);
    } else if (bin + 1 == FAB_STUDY_BINS) {
        (void)snprintf(out, STUDY_TEXT, "x%.3g and more", fab_study_edges[bin - 1]);
    } else {
        (void)snprintf(out, STUDY_TEXT, "x%.4g - x%.4g", fab_study_edges[bin - 1], fab_study_edges[bin]);
    }
    return out;
}

static void put_bin(fab_page *page, fab_ink ink, const char *name, uint64_t n, uint64_t largest) {
    char count[32];
    size_t room = page->width > 34 ? page->width - 34 : 8;
    fab_page_right(page, FAB_INK_PLAIN, 18, name);
    fab_page_put(page, FAB_INK_PLAIN, " ");
    fab_page_bar(page, ink, (double)n, (double)largest, room < BAR_CELLS ? room : BAR_CELLS);
    fab_page_printf(page, FAB_INK_PLAIN, " %s", fab_format_count(count, n));
    fab_page_end_line(page);
}

static void put_histogram(fab_page *page, const fab_study_summary *s) {
    const fab_study_variant *v = &s->variants[s->shown];
    size_t first = 0;
    size_t last = FAB_STUDY_BINS - 1;
    uint64_t stopped = s->span_s > 0 ? 0 : v->n_stopped;
    uint64_t largest = largest_bin(v) > stopped ? largest_bin(v) : stopped;
    char name[STUDY_TEXT];
    if (largest == 0) {
        return;
    }
    while (first < last && v->bin[first] == 0) {
        first++;
    }
    while (last > first && v->bin[last] == 0) {
        last--;
    }
    fab_page_line(page, FAB_INK_DIM, "    scenarios of [%zu] by %s", s->shown + 1,
                  s->span_s > 0  ? "1 / goodput"
                  : s->has_times ? "slowdown"
                                 : "load of the fullest link, over that where nothing failed");
    for (size_t bin = first; bin <= last && largest_bin(v) > 0; bin++) {
        put_bin(page, ink_of_bin(bin), bin_name(name, bin), v->bin[bin], largest);
    }
    if (stopped > 0) {
        put_bin(page, FAB_INK_BAD, "stops", stopped, largest);
    }
}

/* --- policies ----------------------------------------------------------------------------------------------------- */

static void put_policy_row(fab_table *table, const fab_study_summary *s, size_t variant) {
    const fab_study_variant *v = &s->variants[variant];
    const fab_spread *spread = s->span_s > 0 ? &v->goodput : s->has_times ? &v->slowdown : &v->worst_ratio;
    const double figures[] = {spread->mean, spread->p99};
    char a[STUDY_TEXT];
    fab_table_row(table);
    fab_table_set(table, 0, variant == s->shown ? FAB_INK_BOLD : FAB_INK_PLAIN, "%.16s", v->policy);
    fab_table_set(table, 1, FAB_INK_PLAIN, "%.2g %%", 100 * v->damage);
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        if (s->span_s > 0) {
            fab_table_set(table, 2 + i, FAB_INK_PLAIN, "%s", goodput_text(a, spread->n > 0 ? figures[i] : NAN));
        } else if (s->has_times) {
            fab_table_set(table, 2 + i, FAB_INK_PLAIN, "%s", study_factor(a, spread->n > 0 ? figures[i] : NAN));
        } else {
            fab_table_set(table, 2 + i, FAB_INK_PLAIN, spread->n > 0 ? "%.3g" : "-", figures[i]);
        }
    }
    fab_table_set(table, 4, v->n_stopped > 0 ? FAB_INK_BAD : FAB_INK_PLAIN, "%s", fab_format_count(a, v->n_stopped));
    fab_table_set(table, 5, FAB_INK_PLAIN, v->collisions.n > 0 ? "%.1f" : "-", v->collisions.mean);
    fab_table_set(table, 6, FAB_INK_PLAIN, "%.2f", v->moved.mean);
    fab_table_set(table, 7, FAB_INK_PLAIN, "%s", fab_format_count(a, v->n_best));
    fab_table_set(table, 8, v->n_alone > 0 ? FAB_INK_GOOD : FAB_INK_PLAIN, "%s", fab_format_count(a, v->n_alone));
}

static void put_saving(fab_page *page, const fab_study_summary *s, const fab_study_choice *c) {
    const char *baseline = s->variants[c->baseline].policy;
    char a[STUDY_TEXT];
    char b[STUDY_TEXT];
    char d[STUDY_TEXT];
    char e[STUDY_TEXT];
    char rescued[160] = "";
    if (c->most_saved_scenario == UINT64_MAX) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "Nothing beats %s in any scenario.", baseline);
        return;
    }
    if (c->n_rescued > 0) {
        (void)snprintf(rescued, sizeof rescued, "; the job runs in %s in which %s stops it",
                       study_count(d, c->n_rescued, "scenario"), baseline);
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                   "The best of them in each scenario loses %s, %s %s%s. It saves most in scenario %" PRIu64 ": %s, "
                   "by %s.",
                   study_percent(a, c->damage), baseline, study_percent(b, c->baseline_damage), rescued,
                   c->most_saved_scenario, study_percent(e, c->most_saved), s->variants[c->most_saved_variant].policy);
}

static void put_policies(fab_page *page, const fab_study_summary *s) {
    static const char *const TITLES[] = {"policy",   "damage", "mean", "p99",  "stops",
                                         "collided", "moved",  "best", "alone"};
    for (size_t e = 0; s->choices != NULL && e < s->n_variants / s->n_policies; e++) {
        const fab_study_choice *c = &s->choices[e];
        fab_table table;
        fab_text_heading(page, "POLICIES", s->variants[c->first].engine);
        fab_table_begin(&table, TITLES, sizeof TITLES / sizeof TITLES[0]);
        for (size_t p = 0; p < s->n_policies; p++) {
            put_policy_row(&table, s, c->first + p);
        }
        fab_table_print(&table, page, 2, NULL, NULL);
        fab_table_release(&table);
        if (c->n_compared > 0) {
            put_saving(page, s, c);
        }
    }
    if (s->choices != NULL) {
        fab_page_wrapf(
            page, FAB_INK_DIM, 2, 2,
            "damage: %s, mean over all scenarios; mean, p99: %s; collided: network links that are asked for more "
            "than is left of them, moved: servers, both means; best: scenarios in which no other policy does "
            "less damage; alone: in which every other does more",
            s->criterion,
            s->span_s > 0  ? "goodput"
            : s->has_times ? "slowdown where the job runs"
                           : "load of the fullest link where the job runs");
    }
}

/* --- goodput ------------------------------------------------------------------------------------------------------ */

static void put_goodput(fab_page *page, const fab_study_summary *s) {
    static const char *const TITLES[] = {"", "goodput", "restart", "redo", "slower", "waits", "stops"};
    fab_table table;
    char a[STUDY_TEXT];
    if (s->span_s <= 0) {
        return;
    }
    fab_text_heading(page, "GOODPUT", "where the span goes, means over the histories");
    fab_table_begin(&table, TITLES, sizeof TITLES / sizeof TITLES[0]);
    for (size_t i = 0; i < s->n_variants && i < MOST_ROWS; i++) {
        const fab_study_variant *v = &s->variants[i];
        const double parts[] = {v->restart_ratio, v->redo_ratio, v->slow_ratio, v->wait_ratio};
        fab_table_row(&table);
        set_name(&table, s, i);
        fab_table_set(&table, 1, FAB_INK_BOLD, "%s", goodput_text(a, v->goodput.n > 0 ? v->goodput.mean : NAN));
        for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
            fab_table_set(&table, 2 + p, FAB_INK_PLAIN, "%s", goodput_text(a, parts[p]));
        }
        fab_table_set(&table, 6, FAB_INK_PLAIN, "%.1f", v->stops);
    }
    fab_table_print(&table, page, 2, NULL, NULL);
    fab_table_release(&table);
    fab_page_wrap(page, FAB_INK_DIM, 2, 2,
                  "restart: until the job runs again; redo: work since the last checkpoint, done again; slower: what "
                  "slower iterations take more; waits: for repairs; with the goodput they add up to the span. "
                  "stops: failures that stop the job, in a span");
}

static void put_conventions(fab_page *page, const fab_study_summary *s) {
    static const char *const LINES[] = {
        "a dead link is dead in both directions; switches, NICs, GPUs, servers and racks die as a whole",
        "routing has converged on what is left; servers that move take their ranks along, everybody else stays",
        "offered rates stay those of the whole fabric; rates, times and loads are counted as `fabriscope run` does",
        "cut off and lost rate: before anybody moves; all other figures: behind it",
        ("histories: failures and repairs of every class at exponential times; a stopped job goes back to its last "
         "checkpoint"),
    };
    fab_text_heading(page, "HOW THIS WAS COUNTED", NULL);
    for (size_t i = 0; i < sizeof LINES / sizeof LINES[0] - (s->span_s > 0 ? 0 : 1); i++) {
        fab_page_put(page, FAB_INK_DIM, "  - ");
        fab_page_wrap(page, FAB_INK_DIM, 4, 4, LINES[i]);
    }
}

void fab_text_study(fab_page *page, const fab_study_summary *s) {
    char title[sizeof s->scenarios + sizeof s->design + 8];
    (void)snprintf(title, sizeof title, "%s on %s", s->scenarios, s->design);
    fab_text_heading(page, "STUDY", title);
    put_answer(page, s);
    if (s->n_done > 0) {
        study_put_fear(page, s);
        put_choice_answer(page, s);
    }
    put_state(page, s);
    if (s->n_done > 0) {
        put_outcomes(page, s);
        put_histogram(page, s);
        put_goodput(page, s);
        put_policies(page, s);
        study_put_homing(page, s);
        study_put_causes(page, s);
        study_put_classes(page, s);
        study_put_critical(page, s);
        study_put_cases(page, s);
    }
    put_conventions(page, s);
}
