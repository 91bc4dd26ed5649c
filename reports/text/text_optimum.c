/* Text report: the cheapest design of a catalog, its rivals, and why they lost. */
#include "fab/units.h"
#include "fab/optimum.h"
#include "text_sections.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_FRONT_ROWS 20

/* "1:1 / 2:1", or "-" with one tier. */
static const char *tapers_text(char *out, size_t size, const fab_optimum_point *p) {
    size_t n = 0;
    (void)snprintf(out, size, "-");
    for (uint64_t t = 0; t + 1 < p->tiers && t < FAB_MAX_TIERS && n < size; t++) {
        n += (size_t)snprintf(out + n, size - n, "%s%.3g", t > 0 ? "/" : "", p->built_taper[t]);
    }
    return out;
}

static void put_limits(fab_page *page, const fab_optimum *o) {
    char text[400];
    char count[32];
    char value[32];
    const fab_limits *l = &o->limits;
    size_t n = (size_t)snprintf(text, sizeof text, "%s GPUs, catalog %s", fab_format_count(count, o->gpus), o->catalog);
    if (l->has_bisection) {
        n += (size_t)snprintf(text + n, sizeof text - n, "; bisection at least %.4g of full", l->min_bisection_ratio);
    }
    if (l->has_taper) {
        n += (size_t)snprintf(text + n, sizeof text - n, "; taper at most %.4g:1", l->max_taper);
    }
    if (l->has_power) {
        n += (size_t)snprintf(text + n, sizeof text - n, "; power at most %s",
                              fab_quantity_format(value, l->max_power_w, FAB_UNIT_POWER));
    }
    if (l->has_budget) {
        n += (size_t)snprintf(text + n, sizeof text - n, "; budget %s", fab_money_format(value, l->budget_usd));
    }
    if (!l->has_bisection && !l->has_taper && !l->has_power && !l->has_budget) {
        (void)snprintf(text + n, sizeof text - n,
                       "; no limits, and then the most tapered is the cheapest: see --min-bisection");
    }
    fab_page_wrap(page, FAB_INK_PLAIN, 2, 4, text);
    if (o->source[0] != '\0') {
        fab_page_wrap(page, FAB_INK_DIM, 2, 2, o->source);
    }
}

static void set_row(fab_table *table, const fab_optimum_point *p, fab_ink ink) {
    char a[64];
    fab_table_row(table);
    fab_table_set(table, 0, ink, "%s", p->family);
    fab_table_set(table, 1, ink, "%" PRIu64, p->tiers);
    fab_table_set(table, 2, ink, "%" PRIu64, p->planes);
    fab_table_set(table, 3, ink, "%s", tapers_text(a, sizeof a, p));
    fab_table_set(table, 4, ink, "%.3f", p->bisection_ratio);
    fab_table_set(table, 5, ink, "%s", fab_quantity_format(a, p->power_w, FAB_UNIT_POWER));
    fab_table_set(table, 6, ink, "%s", fab_money_format(a, p->total_usd));
    fab_table_set(table, 7, ink, "%+.1f %%", 100 * p->difference_ratio);
}

/* Switches of the rows: one letter for each different set, explained below the table. */
typedef struct legend {
    const char *text[MAX_FRONT_ROWS + 1];
    size_t n;
    size_t of_row[MAX_FRONT_ROWS + 2];
} legend;

static void add_to_legend(legend *l, size_t row, const char *text) {
    size_t i = 0;
    while (i < l->n && strcmp(l->text[i], text) != 0) {
        i++;
    }
    if (i == l->n) {
        l->text[l->n++] = text;
    }
    l->of_row[row] = i;
}

static void put_letter(fab_page *page, size_t row, void *context) {
    const legend *l = context;
    fab_page_printf(page, FAB_INK_DIM, "  %c", (int)('a' + l->of_row[row]));
}

/* A winner may stand above the rows; NULL: none. */
static void put_points(fab_page *page, const fab_optimum_point *winner, const fab_optimum_point *points, size_t n) {
    static const char *const HEADINGS[] = {"family",    "tiers", "planes", "taper",
                                           "bisection", "power", "cost",   "difference"};
    legend switches = {.n = 0};
    fab_table table;
    fab_table_begin(&table, HEADINGS, sizeof HEADINGS / sizeof HEADINGS[0]);
    size_t row = 1;
    if (winner != NULL) {
        set_row(&table, winner, FAB_INK_GOOD);
        add_to_legend(&switches, row++, winner->switches);
    }
    for (size_t i = 0; i < n && i < MAX_FRONT_ROWS; i++) {
        set_row(&table, &points[i], FAB_INK_PLAIN);
        add_to_legend(&switches, row++, points[i].switches);
    }
    fab_table_print(&table, page, 2, put_letter, &switches);
    fab_table_release(&table);
    for (size_t i = 0; i < switches.n; i++) {
        fab_page_line(page, FAB_INK_DIM, "  %c: %s", (int)('a' + i), switches.text[i]);
    }
    if (n > MAX_FRONT_ROWS) {
        fab_page_line(page, FAB_INK_DIM, "  and %zu more (see --json)", n - MAX_FRONT_ROWS);
    }
}

/* Of all choices with one family and number of tiers, the one that came closest. */
static const fab_optimum_loser *closest(const fab_optimum *o, size_t first, size_t *count) {
    const fab_optimum_loser *best = NULL;
    *count = 0;
    for (size_t i = first; i < o->n_rejected; i++) {
        const fab_optimum_loser *l = &o->rejected[i];
        if (l->tiers != o->rejected[first].tiers || strcmp(l->family, o->rejected[first].family) != 0) {
            continue;
        }
        (*count)++;
        if (best == NULL || l->loss < best->loss ||
            (l->loss == best->loss && l->total_usd > 0 && l->total_usd < best->total_usd)) {
            best = l;
        }
    }
    return best;
}

static bool is_first_of_group(const fab_optimum *o, size_t i) {
    for (size_t j = 0; j < i; j++) {
        if (o->rejected[j].tiers == o->rejected[i].tiers && strcmp(o->rejected[j].family, o->rejected[i].family) == 0) {
            return false;
        }
    }
    return true;
}

static void put_losers(fab_page *page, const fab_optimum *o) {
    fab_text_heading(page, "WHY THE OTHERS LOST", "the closest choice of each family and number of tiers");
    for (size_t i = 0; i < o->n_rejected; i++) {
        size_t count = 0;
        char others[48] = "";
        if (!is_first_of_group(o, i)) {
            continue;
        }
        const fab_optimum_loser *l = closest(o, i, &count);
        if (count > 1) {
            (void)snprintf(others, sizeof others, "; %zu others did worse", count - 1);
        }
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 6, "%s, %" PRIu64 " tier%s (%s, %" PRIu64 " plane%s): %s%s", l->family,
                       l->tiers, l->tiers == 1 ? "" : "s", l->switches, l->planes, l->planes == 1 ? "" : "s", l->reason,
                       others);
    }
}

/* The one-line form, so that it stays one word when it is pasted into a shell: broken behind commas by a backslash, the
 * next line at the margin. */
static void put_design(fab_page *page, const char *design) {
    fab_page_put(page, FAB_INK_BOLD, "  ");
    while (*design != '\0') {
        size_t n = strcspn(design, ",");
        n += design[n] == ',';
        bool is_last = design[n] == '\0';
        if (page->used + n + (is_last ? 0 : 1) > page->width) {
            fab_page_put(page, FAB_INK_BOLD, "\\");
            fab_page_end_line(page);
        }
        fab_page_printf(page, FAB_INK_BOLD, "%.*s", (int)n, design);
        design += n;
    }
    fab_page_end_line(page);
}

void fab_text_optimum(fab_page *page, const fab_optimum *o) {
    char money[32];
    char count[32];
    fab_text_heading(page, "OPTIMUM", NULL);
    put_limits(page, o);
    fab_page_end_line(page);
    put_design(page, o->winner.design);
    fab_page_wrapf(page, FAB_INK_DIM, 2, 2, "priced by %s: give --prices %s to the other commands too", o->prices,
                   o->prices);
    if (strcmp(o->winner.family, "rail-only") == 0) {
        fab_page_wrap(
            page, FAB_INK_DIM, 2, 2,
            "rail-only has no link between rails: traffic between them is handed over inside the scale-up domains");
    }
    fab_page_end_line(page);
    put_points(page, &o->winner, o->runners_up, o->n_runners_up);
    fab_page_wrapf(
        page, FAB_INK_DIM, 2, 2,
        "The cheapest, then the best of the next choices. Taper as built, leaf first; bisection: what any pattern may "
        "count "
        "on, as a share of full: the least of the cut between the halves of the servers and of what the tapers let "
        "through; a, b, ...: switches, leaf first, *2 = ports split in two. %s choices of family, tiers, switches and "
        "planes, %" PRIu64 " integer programs.",
        fab_format_count(count, o->n_structures), o->n_programs);
    if (!o->is_proven) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 2, "Not proven: the time limit struck%s%s.",
                       o->lower_bound_usd > 0 ? "; nothing can cost less than " : " before all choices were looked at",
                       o->lower_bound_usd > 0 ? fab_money_format(money, o->lower_bound_usd) : "");
    }
    if (!o->fronts_complete) {
        fab_page_wrap(page, FAB_INK_BAD, 2, 2,
                      "The two fronts below are incomplete: time ran out, or they have too many points.");
    }
    fab_text_heading(page, "COST OF BISECTION", "without min-bisection and budget");
    put_points(page, NULL, o->by_bisection, o->n_by_bisection);
    fab_text_heading(page, "COST OF POWER", "without max-power and budget");
    put_points(page, NULL, o->by_power, o->n_by_power);
    put_losers(page, o);
    fab_page_end_line(page);
}
