/* Text report: what slower parts do to the phases. */
#include "fab/degradation.h"
#include "text_sections.h"

static void degradation_put_parts(fab_page *page, const fab_degradation *d) {
    for (size_t i = 0; i < d->n_parts; i++) {
        fab_page_say(page, "%s%s at %.3g of its speed", i > 0 ? ", " : "", d->parts[i].name, d->parts[i].ratio);
    }
    if (d->n_cables > 0) {
        fab_page_say(page, ": %s slower, in both directions", fab_show_counted(page, d->n_cables, "cable", "cables"));
    } else {
        fab_page_say(page, ": no cable is slower");
    }
    fab_page_paragraph(page, FAB_INK_PLAIN, 2, 4);
}

static void degradation_put_phases(fab_page *page, const fab_degradation *d, size_t engine) {
    static const fab_column COLUMNS[] = {
        COLUMN("phase", text),      COLUMN("before", time),
        COLUMN("after", time),      MARKED("factor", fab_show_factor, FAB_INK_BAD, FAB_FULL_LOAD),
        COLUMN("hit flows", whole), COLUMN("communicators", whole)};
    fab_table table;
    fab_table_begin(&table, page, FAB_COLUMNS(COLUMNS));
    for (size_t p = 0; p < d->n_phases; p++) {
        const fab_degraded_phase *row = &d->phases[p * d->n_engines + engine];
        const double figures[] = {
            row->has_time ? row->before_s.mean : FAB_TABLE_BLANK, row->has_time ? row->after_s.mean : FAB_TABLE_BLANK,
            row->has_time ? row->factor : FAB_TABLE_BLANK, row->has_hits ? (double)row->hit_flows : FAB_TABLE_BLANK,
            row->has_hits ? (double)row->hit_comms : FAB_TABLE_BLANK};
        fab_table_row(&table, FAB_INK_PLAIN, fab_show(page, "%.24s", d->names[p]), figures);
    }
    fab_table_end(&table, 2, NULL, NULL);
}

static void degradation_put_worst(fab_page *page, const fab_degradation *d, size_t engine) {
    const fab_degraded_phase *worst = &d->phases[d->worst[engine] * d->n_engines + engine];
    if (!worst->has_time || worst->factor <= FAB_FULL_LOAD) {
        fab_page_wrap(page, FAB_INK_GOOD, 2, 4, "No phase takes longer.");
        return;
    }
    fab_page_say(page, "Phase %s suffers most: x%.3f", d->names[d->worst[engine]], worst->factor);
    for (uint32_t i = 0; i < worst->n_named; i++) {
        fab_page_say(page, "%s%s", i > 0 ? ", " : "; hit: ", worst->comms[i]);
    }
    fab_page_say(page, "%s", worst->hit_comms > worst->n_named ? " and others" : "");
    fab_page_paragraph(page, FAB_INK_BOLD, 2, 4);
}

static void degradation_put_iteration(fab_page *page, const fab_degradation *d, size_t engine) {
    const fab_degraded_iteration *i = &d->iterations[engine];
    fab_page_say(page, "An iteration takes %s instead of %s, x%.3f", fab_show_time(page, i->after_s),
                 fab_show_time(page, i->before_s), i->after_s / i->before_s);
    if (d->compute_ratio < 1) {
        fab_page_say(page, "; all wait for a GPU that computes at %.3g of its speed", d->compute_ratio);
    }
    fab_page_say(page, ".");
    fab_page_paragraph(page, FAB_INK_PLAIN, 2, 4);
}

void fab_text_degradation(fab_page *page, const fab_degradation *d) {
    fab_text_heading(page, "DEGRADED PARTS", NULL);
    degradation_put_parts(page, d);
    for (size_t e = 0; e < d->n_engines && d->n_phases > 0; e++) {
        fab_page_end_line(page);
        fab_page_wrap(page, FAB_INK_BOLD, 2, 4, d->labels[e]);
        degradation_put_phases(page, d, e);
        degradation_put_worst(page, d, e);
        if (e < d->n_iterations) {
            degradation_put_iteration(page, d, e);
        }
    }
    fab_text_note(page, "before, after: time of the phase on a healthy fabric and with these; hit: that cross a slower "
                        "cable; offered rates below are those of the healthy fabric");
}
