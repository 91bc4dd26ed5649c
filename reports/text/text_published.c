/* Text report: what others have published beside ours. */
#include "fab/published.h"
#include "text_sections.h"

/* Where the unit is no prefix to choose, it stands with the published figure alone. */
static const char *published_show(fab_page *page, double value, const char *unit, bool has_unit) {
    static const struct {
        const char *unit;
        const char *(*show)(fab_page *page, double value);
    } UNITS[] = {{"s", fab_show_time},    {"bit/s", fab_show_rate}, {"byte", fab_show_bytes},
                 {"USD", fab_show_money}, {"W", fab_show_power},    {"m", fab_show_length}};
    for (size_t i = 0; unit != NULL && i < FAB_N_OF(UNITS); i++) {
        if (strcmp(UNITS[i].unit, unit) == 0) {
            return UNITS[i].show(page, value);
        }
    }
    const char *number =
        value >= 1000 || value == floor(value) ? fab_show_whole(page, value) : fab_show_about(page, value);
    return unit == NULL || !has_unit || unit[0] == '1' ? number : fab_show(page, "%s %s", number, unit);
}

static void published_put_row(fab_table *table, const fab_published_row *row) {
    fab_page *page = table->page;
    bool is_met = fab_published_is_met(row);
    fab_ink ink = is_met ? FAB_INK_PLAIN : FAB_INK_BAD;
    fab_table_row(table, ink, row->what, NULL);
    fab_table_put(table, 1, ink, published_show(page, row->published, row->unit, true));
    if (isnan(row->predicted)) {
        fab_table_set(table, 2, ink, "not covered");
        return;
    }
    fab_table_put(table, 2, ink, published_show(page, row->predicted, row->unit, false));
    fab_table_put(table, 3, ink, fab_show_change(page, fab_published_deviation(row)));
    if (row->tolerance_ratio > 0) {
        fab_table_set(table, 4, ink, "%.3g %%", 100 * row->tolerance_ratio);
    } else {
        fab_table_set(table, 4, ink, "exact");
    }
    fab_table_put(table, 5, ink, !is_met ? "miss" : row->is_fitted ? "fitted" : "");
}

/* The rows of one source, and why some of them are missed. */
static void published_put_rows(fab_page *page, const fab_published_row *rows, size_t n) {
    static const fab_column COLUMNS[] = {COLUMN("", text),          COLUMN("published", text), COLUMN("ours", text),
                                         COLUMN("deviation", text), COLUMN("allowed", text),   COLUMN("", text)};
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < n; i++) {
        published_put_row(&table, &rows[i]);
    }
    fab_table_end(&table, 2, NULL, NULL);
    for (size_t i = 0; i < n; i++) {
        if (rows[i].note[0] != '\0') {
            fab_text_notef(page, "%s: %s", rows[i].what, rows[i].note);
        }
    }
}

/* Which command gives which figures. */
static void published_put_commands(fab_page *page, const fab_published_row *rows, size_t n) {
    fab_page_end_line(page);
    for (size_t i = 0; i < n; i++) {
        bool is_first = i == 0 || strcmp(rows[i].command, rows[i - 1].command) != 0;
        fab_page_say(page, "%s%s", is_first ? "" : "; ", rows[i].what);
        if (i + 1 == n || strcmp(rows[i].command, rows[i + 1].command) != 0) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, ":");
            char command[sizeof rows->command + sizeof "fabriscope "]; /* longer than what fab_show() takes */
            FAB_FORMAT(command, "fabriscope %s", rows[i].command);
            fab_page_shell(page, FAB_INK_DIM, 4, command);
        }
    }
}

/* "A number of the program was fitted to 10 of them. Missed: htsim 2, runai 2." */
static void published_put_counts(fab_page *page, const fab_published *p) {
    fab_published_counts counts = fab_published_count(p->rows, p->n_rows);
    if (counts.fitted > 0) {
        fab_page_say(page, "A number of the program was fitted to %s of them. ", fab_show_count(page, counts.fitted));
    }
    for (size_t i = 0, n = 0; i < p->n_sources && counts.missed > 0; i++) {
        const fab_published_source *s = &p->sources[i];
        uint64_t missed = fab_published_count(p->rows + s->first, s->n).missed;
        if (missed > 0) {
            fab_page_say(page, "%s%s %s", n++ == 0 ? "Missed: " : ", ", s->name, fab_show_count(page, missed));
        }
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "%s", counts.missed > 0 ? "." : "");
}

static const char *published_verdict(fab_page *page, const fab_published_row *rows, size_t n) {
    fab_published_counts counts = fab_published_count(rows, n);
    const char *missed =
        counts.missed == 0 ? "none missed" : fab_show(page, "%s missed", fab_show_count(page, counts.missed));
    return fab_show(page, "%s of %s published %s within %s tolerance, %s%s", fab_show_count(page, counts.met),
                    fab_show_count(page, n), n == 1 ? "figure" : "figures", n == 1 ? "its" : "their", missed,
                    counts.unknown > 0 ? fab_show(page, ", %s not covered", fab_show_count(page, counts.unknown)) : "");
}

void fab_text_validation(fab_page *page, const fab_published *p) {
    fab_text_heading(page, "VALIDATION", published_verdict(page, p->rows, p->n_rows));
    published_put_counts(page, p);
    for (const fab_published_source *s = p->sources; s < p->sources + p->n_sources; s++) {
        const fab_published_row *rows = p->rows + s->first;
        fab_text_heading(page, s->name, s->title);
        published_put_rows(page, rows, s->n);
        if (p->n_sources == 1) {
            fab_page_end_line(page);
            fab_page_wrap(page, FAB_INK_PLAIN, 2, 2, s->about);
            published_put_commands(page, rows, s->n);
        }
    }
    fab_page_end_line(page);
    fab_text_legendf(page, "%s",
                     "deviation: ours over the published figure, minus 1; allowed: what this source is held to");
    if (p->n_sources > 1) {
        fab_text_note(page, "`fabriscope validate NAME` shows the commands of a source, and what they assume");
    }
}

void fab_text_published(fab_page *page, const fab_published *p, const fab_result *result) {
    fab_text_heading(page, "PUBLISHED", published_verdict(page, p->rows, p->n_rows));
    for (const fab_published_source *s = p->sources; s < p->sources + p->n_sources; s++) {
        if (s->n > 0) {
            fab_page_wrap(page, FAB_INK_PLAIN, 2, 2, s->title);
            published_put_rows(page, p->rows + s->first, s->n);
        }
    }
    if (result->n_iterations > 1) {
        fab_text_note(page, "ours: under the first engine");
    }
}
