/* Text report: what every change buys, and the best of them together. */
#include "fab/units.h"
#include "fab/advice.h"
#include "text_sections.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Columns of the table. */
enum { GAIN_END = 9, INTERVAL_END = 19, TIME_END = 28, WORST_END = 34, FLOWS_END = 43, CHANGE_AT = 46 };

/* "+47.9 %", "0.0 %" */
static void percent(char *out, size_t size, double ratio, bool has_sign) {
    double value = 100 * ratio;
    const char *sign = has_sign && value >= 0.05 ? "+" : "";
    (void)snprintf(out, size, "%s%.*f %%", sign, fabs(value) < 99.95 ? 1 : 0, fabs(value) < 0.05 ? 0.0 : value);
}

/* Options that stay a command when they are pasted into a shell: lines are broken behind words and, where a word is too
 * long, behind commas with the next line at the margin. */
static void put_shell(fab_page *page, fab_ink ink, size_t indent, const char *text) {
    fab_page_to(page, indent);
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        size_t n = word;
        if (page->used + n + 2 > page->width && page->used > indent) {
            fab_page_put(page, ink, " \\");
            fab_page_end_line(page);
            fab_page_to(page, indent);
        }
        while (n > 0) {
            size_t piece = strcspn(text, ",");
            piece = piece < n ? piece + 1 : n;
            if (page->used + piece + 2 > page->width) {
                fab_page_put(page, ink, "\\");
                fab_page_end_line(page);
            }
            fab_page_printf(page, ink, "%.*s", (int)piece, text);
            text += piece;
            n -= piece;
        }
        text += strspn(text, " ");
        if (*text != '\0' && page->used + 1 + strcspn(text, " ") + 2 <= page->width) {
            fab_page_put(page, ink, " ");
        } else if (*text != '\0') {
            fab_page_put(page, ink, " \\");
            fab_page_end_line(page);
            fab_page_to(page, indent);
        }
    }
    fab_page_end_line(page);
}

static void put_base(fab_page *page, const fab_advice *a) {
    char time[32];
    char flows[40];
    fab_page_wrapf(
        page, FAB_INK_PLAIN, 2, 4,
        "base %s: the fullest network links need %s, worst factor %.2f, %s flows collide; means over %" PRIu64 " seeds",
        a->engine, fab_quantity_format(time, a->base.time_s, FAB_UNIT_TIME), a->base.max_collision_factor,
        fab_text_mean_count(flows, a->base.collided_flows), a->n_seeds);
}

static void put_row(fab_page *page, const fab_advice_row *r) {
    char text[40];
    char interval[48];
    bool is_clear = r->gain.verdict != FAB_ADVICE_UNCLEAR;
    fab_ink ink = !is_clear ? FAB_INK_PLAIN : r->gain.verdict == FAB_ADVICE_FASTER ? FAB_INK_GOOD : FAB_INK_BAD;
    percent(text, sizeof text, r->gain.ratio, true);
    fab_page_right(page, ink, GAIN_END, text);
    double base_s = r->figures.time_s + r->gain.gain_s;
    percent(text, sizeof text, base_s > 0 ? r->gain.ci95_s / base_s : 0, false);
    (void)snprintf(interval, sizeof interval, "+- %s", text);
    fab_page_right(page, FAB_INK_DIM, INTERVAL_END, interval);
    fab_page_right(page, FAB_INK_PLAIN, TIME_END, fab_quantity_format(text, r->figures.time_s, FAB_UNIT_TIME));
    (void)snprintf(text, sizeof text, "%.2f", r->figures.max_collision_factor);
    fab_page_right(page, FAB_INK_PLAIN, WORST_END, text);
    fab_page_right(page, FAB_INK_PLAIN, FLOWS_END, fab_text_mean_count(text, r->figures.collided_flows));
    fab_page_put(page, FAB_INK_PLAIN, is_clear ? "" : " ?");
    size_t mark = r->needs_switch_support ? 2 : 0;
    if (fab_text_columns(r->change) + mark > page->width - CHANGE_AT) {
        fab_page_to(page, CHANGE_AT);
        fab_page_put(page, ink, mark > 0 ? "*" : "");
        fab_page_end_line(page);
        put_shell(page, ink, 4, r->change);
        return;
    }
    fab_page_to(page, CHANGE_AT);
    fab_page_printf(page, ink, "%s%s", r->change, mark > 0 ? " *" : "");
    fab_page_end_line(page);
}

static void put_rows(fab_page *page, const fab_advice *a) {
    bool is_marked = false;
    bool is_unclear = false;
    fab_page_right(page, FAB_INK_DIM, GAIN_END, "gain");
    fab_page_right(page, FAB_INK_DIM, TIME_END, "time");
    fab_page_right(page, FAB_INK_DIM, WORST_END, "worst");
    fab_page_right(page, FAB_INK_DIM, FLOWS_END, "collided");
    fab_page_to(page, CHANGE_AT);
    fab_page_put(page, FAB_INK_DIM, "change");
    fab_page_end_line(page);
    for (size_t i = 0; i < a->n_rows && a->rows[i].gain.verdict != FAB_ADVICE_IMPOSSIBLE; i++) {
        put_row(page, &a->rows[i]);
        is_marked = is_marked || a->rows[i].needs_switch_support;
        is_unclear = is_unclear || a->rows[i].gain.verdict == FAB_ADVICE_UNCLEAR;
    }
    fab_page_wrap(page, FAB_INK_DIM, 2, 2,
                  "gain: time saved, with its 95 % interval over the seeds, each compared with the base under the same "
                  "seed; time: of the fullest network link, summed over the phases; worst: largest collision factor; "
                  "collided: flows that cross a link with a factor above 1");
    if (is_unclear) {
        fab_page_wrap(page, FAB_INK_DIM, 2, 2, "?: no clear difference, the interval contains 0");
    }
    if (is_marked) {
        fab_page_wrap(page, FAB_INK_DIM, 2, 2, "*: needs switch support");
    }
    for (size_t i = 0; i < a->n_rows; i++) {
        const fab_advice_row *r = &a->rows[i];
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
static void put_best_of_switches(fab_page *page, const fab_advice *a) {
    double time_s = a->best.n_changes > 0 ? a->best.figures.time_s : a->base.time_s;
    for (size_t i = 0; i < a->n_rows; i++) {
        const fab_advice_row *r = &a->rows[i];
        if (r->needs_switch_support && r->gain.verdict == FAB_ADVICE_FASTER &&
            r->figures.time_s < time_s * (1 - 1e-9)) {
            char time[32];
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "With switches that support it, %s alone needs %s.", r->change,
                           fab_quantity_format(time, r->figures.time_s, FAB_UNIT_TIME));
            return;
        }
    }
}

static void put_best(fab_page *page, const fab_advice *a) {
    const fab_advice_best *b = &a->best;
    char text[512];
    char before[32];
    char after[32];
    char gain[40];
    char check[40];
    char check_ci[40];
    char count[32];
    if (b->n_changes == 0) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2,
                       "None of these changes makes the traffic clearly faster without new switches: none is advised "
                       "(%s configurations evaluated).",
                       fab_format_count(count, a->n_evaluated));
        return;
    }
    percent(gain, sizeof gain, b->gain.ratio, false);
    size_t n = (size_t)snprintf(
        text, sizeof text, "Best of %s configurations evaluated: %zu change%s, from %s to %s (%s less).",
        fab_format_count(count, a->n_evaluated), b->n_changes, b->n_changes == 1 ? "" : "s together",
        fab_quantity_format(before, a->base.time_s, FAB_UNIT_TIME),
        fab_quantity_format(after, b->figures.time_s, FAB_UNIT_TIME), gain);
    if (b->check.ci95_s > 0 || b->gain.ci95_s > 0) { /* else nothing is drawn, and no seed says more */
        percent(check, sizeof check, b->check.ratio, true);
        percent(check_ci, sizeof check_ci,
                b->check.gain_s != 0 ? b->check.ci95_s * b->check.ratio / b->check.gain_s : 0, false);
        (void)snprintf(text + n, sizeof text - n, " On %" PRIu64 " other seeds: %s +- %s%s", a->n_seeds, check,
                       check_ci, b->check.verdict == FAB_ADVICE_FASTER ? "." : ": not confirmed, do not rely on it.");
    }
    fab_page_wrap(page, FAB_INK_BOLD, 2, 2, text);
    put_shell(page, FAB_INK_GOOD, 4, b->command);
}

void fab_text_advice(fab_page *page, const fab_advice *a) {
    fab_text_heading(page, "ADVICE", NULL);
    if (!(a->base.time_s > 0)) {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 2,
                      "Nothing leaves the scale-up domains: there is no network traffic that a change could help.");
        return;
    }
    put_base(page, a);
    put_rows(page, a);
    put_best(page, a);
    put_best_of_switches(page, a);
}
