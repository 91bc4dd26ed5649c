/* Text report: what slower parts do to the phases. */
#include "fab/degradation.h"
#include "fab/units.h"
#include "text_sections.h"

#include <inttypes.h>
#include <stdio.h>

static void put_parts(fab_page *page, const fab_degradation *d) {
    char text[FAB_TEXT_PARAGRAPH] = "";
    char count[32];
    size_t n = 0;
    for (size_t i = 0; i < d->n_parts && n < sizeof text; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s at %.3g of its speed", i > 0 ? ", " : "",
                              d->parts[i].name, d->parts[i].ratio);
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "%s: %s cable%s slower, in both directions", text,
                   fab_format_count(count, d->n_cables), d->n_cables == 1 ? "" : "s");
}

static void put_phases(fab_page *page, const fab_degradation *d, size_t engine) {
    static const char *const TITLES[] = {"phase", "before", "after", "factor", "hit flows", "communicators"};
    fab_table table;
    char text[32];
    fab_table_begin(&table, TITLES, sizeof TITLES / sizeof TITLES[0]);
    for (size_t p = 0; p < d->n_phases; p++) {
        const fab_degraded_phase *row = &d->phases[p * d->n_engines + engine];
        fab_table_row(&table);
        fab_table_set(&table, 0, FAB_INK_PLAIN, "%.24s", d->names[p]);
        if (row->has_time) {
            fab_table_set(&table, 1, FAB_INK_PLAIN, "%s", fab_quantity_format(text, row->before_s.mean, FAB_UNIT_TIME));
            fab_table_set(&table, 2, FAB_INK_PLAIN, "%s", fab_quantity_format(text, row->after_s.mean, FAB_UNIT_TIME));
            fab_table_set(&table, 3, row->factor > FAB_FULL_LOAD ? FAB_INK_BAD : FAB_INK_PLAIN, "x%.3f", row->factor);
        }
        if (row->has_hits) {
            fab_table_set(&table, 4, FAB_INK_PLAIN, "%s", fab_format_count(text, row->hit_flows));
            fab_table_set(&table, 5, FAB_INK_PLAIN, "%s", fab_format_count(text, row->hit_comms));
        }
    }
    fab_table_print(&table, page, 2, NULL, NULL);
    fab_table_release(&table);
}

static void put_worst(fab_page *page, const fab_degradation *d, size_t engine) {
    const fab_degraded_phase *worst = &d->phases[d->worst[engine] * d->n_engines + engine];
    char text[512] = "";
    size_t n = 0;
    if (!worst->has_time || worst->factor <= FAB_FULL_LOAD) {
        fab_page_wrap(page, FAB_INK_GOOD, 2, 4, "No phase takes longer.");
        return;
    }
    for (uint32_t i = 0; i < worst->n_named; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i > 0 ? ", " : "; hit: ", worst->comms[i]);
    }
    fab_page_wrapf(page, FAB_INK_BOLD, 2, 4, "Phase %s suffers most: x%.3f%s%s", d->names[d->worst[engine]],
                   worst->factor, text, worst->hit_comms > worst->n_named ? " and others" : "");
}

static void put_iteration(fab_page *page, const fab_degradation *d, size_t engine) {
    const fab_degraded_iteration *i = &d->iterations[engine];
    char before[32];
    char after[32];
    char gpu[80] = "";
    if (d->compute_ratio < 1) {
        (void)snprintf(gpu, sizeof gpu, "; all wait for a GPU that computes at %.3g of its speed", d->compute_ratio);
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "An iteration takes %s instead of %s, x%.3f%s.",
                   fab_quantity_format(after, i->after_s, FAB_UNIT_TIME),
                   fab_quantity_format(before, i->before_s, FAB_UNIT_TIME), i->after_s / i->before_s, gpu);
}

void fab_text_degradation(fab_page *page, const fab_degradation *d) {
    fab_text_heading(page, "DEGRADED PARTS", NULL);
    put_parts(page, d);
    for (size_t e = 0; e < d->n_engines && d->n_phases > 0; e++) {
        fab_page_end_line(page);
        fab_page_wrap(page, FAB_INK_BOLD, 2, 4, d->labels[e]);
        put_phases(page, d, e);
        put_worst(page, d, e);
        if (e < d->n_iterations) {
            put_iteration(page, d, e);
        }
    }
    fab_page_wrap(page, FAB_INK_DIM, 2, 2,
                  "before, after: time of the phase on whole parts and with these; hit: that cross a slower cable; "
                  "offered rates below are those of whole parts");
}
