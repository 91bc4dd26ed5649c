/* Text report: what every change buys, and the best of them together. */
#include "text_sections.h"

#include "fab/verdict.h"

/* "+47.9 %", "0.0 %"; where it takes more than twice as long, how much slower it is. */
static const char *advice_show_percent(fab_page *page, double ratio, bool has_sign) {
    double value = 100 * ratio;
    const char *sign = has_sign && value >= 0.05 ? "+" : "";
    if (ratio < -1 || (ratio > 1 && !has_sign)) {
        return fab_show(page, has_sign ? "slow x%.3g" : "x%.3g", fabs(ratio) + has_sign);
    }
    return fab_show(page, "%s%.*f %%", sign, fabs(value) < 99.95 ? 1 : 0, fabs(value) < 0.05 ? 0.0 : value);
}

enum { GAIN, INTERVAL, MARK = 5, CHANGE }; /* columns that are no figures */

static void advice_put_row(fab_table *table, const fab_advice_row *r, int width) {
    fab_page *page = table->page;
    bool is_clear = r->gain.verdict != FAB_ADVICE_UNCLEAR;
    fab_ink ink = !is_clear ? FAB_INK_PLAIN : r->gain.verdict == FAB_ADVICE_FASTER ? FAB_INK_GOOD : FAB_INK_BAD;
    double base_s = r->figures.time_s + r->gain.gain_s;
    double ci95 = base_s > 0 ? r->gain.ci95_s / base_s : 0;
    const double figures[] = {FAB_TABLE_BLANK,           r->figures.time_s, r->figures.max_collision_factor,
                              r->figures.collided_flows, FAB_TABLE_BLANK,   FAB_TABLE_BLANK};
    fab_table_row(table, FAB_INK_PLAIN, "", figures);
    fab_table_set(table, GAIN, ink, "%*s", width, advice_show_percent(page, r->gain.ratio, true));
    fab_table_set(table, INTERVAL, FAB_INK_DIM, "+- %s", advice_show_percent(page, ci95, false));
    fab_table_set(table, MARK, ink, "%s%s", is_clear ? "" : "?", r->needs_switch_support ? "*" : "");
    fab_table_put(table, CHANGE, ink, r->change);
}

static void advice_put_rows(fab_page *page, const fab_advice *a) {
    static const fab_column COLUMNS[] = {COLUMN("gain", text),
                                         COLUMN("", text),
                                         COLUMN("time", time),
                                         COLUMN("worst", 2_digits),
                                         COLUMN("collided", mean_count),
                                         COLUMN("", text),
                                         {.heading = "change", .is_command = true}};
    bool is_marked = false;
    bool is_unclear = false;
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    int width = 7;
    for (size_t i = 0; i < a->n_rows; i++) {
        width = a->rows[i].gain.verdict != FAB_ADVICE_IMPOSSIBLE && a->rows[i].gain.ratio < -1 ? 10 : width;
    }
    fab_table_set(&table, GAIN, FAB_INK_DIM, "%*s", width, COLUMNS[GAIN].heading);
    for (size_t i = 0; i < a->n_rows && a->rows[i].gain.verdict != FAB_ADVICE_IMPOSSIBLE; i++) {
        advice_put_row(&table, &a->rows[i], width);
        is_marked = is_marked || a->rows[i].needs_switch_support;
        is_unclear = is_unclear || a->rows[i].gain.verdict == FAB_ADVICE_UNCLEAR;
    }
    fab_table_end(&table, 2, NULL, NULL);
    fab_text_notef(page,
                   "gain: time saved, below 0 lost (slow xN: it takes N times as long), with its 95 %% interval over "
                   "the seeds, each compared with the base under the same seed; time: of %s, summed over the phases; "
                   "worst: largest collision factor; collided: flows that cross a link with a factor above 1",
                   a->by_links                               ? "the fullest network link (unequal flows are too many)"
                   : a->transport == FAB_TRANSPORT_FLUID     ? "all bytes under fair shares"
                   : a->transport == FAB_TRANSPORT_SPRAY_ACK ? "all bytes as sprayed packets"
                                                             : "all bytes as packets in queues that lose nothing");
    if (is_unclear) {
        fab_text_note(page, "?: no clear difference: the interval contains 0, and neither nearly all seeds agree nor "
                            "is anything at the least that any routing needs under every seed");
    }
    if (is_marked) {
        fab_text_note(page, "*: needs switch support");
    }
    FAB_EACH(const fab_advice_row, r, a->rows, a->n_rows) {
        if (r->gain.verdict == FAB_ADVICE_IMPOSSIBLE) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "not possible: %s: %s", r->change, r->reason);
        }
    }
    if (a->order_note[0] != '\0') {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 4, a->order_note);
    }
    if (a->placement_note[0] != '\0') {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 4, a->placement_note);
    }
}

/* The best row that is faster than what the switches can do already. */
static void advice_put_best_of_switches(fab_page *page, const fab_advice *a) {
    double time_s = a->best.n_changes > 0 ? a->best.figures.time_s : a->base.time_s;
    FAB_EACH(const fab_advice_row, r, a->rows, a->n_rows) {
        if (r->needs_switch_support && r->gain.verdict == FAB_ADVICE_FASTER &&
            r->figures.time_s < time_s * (1 - FAB_VERDICT_LITTLE)) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "With switches that support it, %s alone needs %s.", r->change,
                           fab_show_time(page, r->figures.time_s));
            return;
        }
    }
}

static void advice_put_best(fab_page *page, const fab_advice *a) {
    const fab_advice_best *b = &a->best;
    if (b->n_changes == 0) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2,
                       "None of these changes makes the traffic clearly faster without new switches: none is advised "
                       "(%s configurations evaluated).",
                       fab_show_count(page, a->n_evaluated));
        return;
    }
    fab_page_say(page, "Best of %s configurations evaluated: %zu change%s, from %s to %s (%s less).",
                 fab_show_count(page, a->n_evaluated), b->n_changes, b->n_changes == 1 ? "" : "s together",
                 fab_show_time(page, a->base.time_s), fab_show_time(page, b->figures.time_s),
                 advice_show_percent(page, b->gain.ratio, false));
    if (b->check.ci95_s > 0 || b->gain.ci95_s > 0) { /* else nothing is drawn, and no seed says more */
        double ci95 = b->check.gain_s != 0 ? b->check.ci95_s * b->check.ratio / b->check.gain_s : 0;
        fab_page_say(page, " On %" PRIu64 " other seeds: %s +- %s%s", a->n_seeds,
                     advice_show_percent(page, b->check.ratio, true), advice_show_percent(page, ci95, false),
                     b->check.verdict == FAB_ADVICE_FASTER ? "." : ": not confirmed, do not rely on it.");
    }
    fab_page_paragraph(page, FAB_INK_BOLD, 2, 2);
    fab_page_shell(page, FAB_INK_GOOD, 4, b->command);
}

void fab_text_advice(fab_page *page, const fab_advice *a) {
    fab_text_heading(page, "ADVICE", NULL);
    if (!a->is_in_network) {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 2,
                      "Nothing leaves the scale-up domains: there is no network traffic that a change could help.");
        return;
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4,
                   "base %s: %s need %s, worst factor %.2f, %s flows collide; means over %" PRIu64 " seeds", a->engine,
                   a->by_links                           ? "the fullest network links"
                   : a->transport == FAB_TRANSPORT_FLUID ? "all phases"
                                                         : "the packets of all phases",
                   fab_show_time(page, a->base.time_s), a->base.max_collision_factor,
                   fab_show_mean_count(page, a->base.collided_flows), a->n_seeds);
    advice_put_rows(page, a);
    advice_put_best(page, a);
    advice_put_best_of_switches(page, a);
}
