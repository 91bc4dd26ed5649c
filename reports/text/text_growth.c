/* A fabric built in steps. */
#include "text_sections.h"

#define MOST_BAR 20 /* columns */

static void growth_put_parts(fab_page *page, const fab_growth_step *step) {
    static const fab_column COLUMNS[] = {COLUMN("part", text), COLUMN("bought", whole), COLUMN("left over", whole),
                                         COLUMN("price", money)};
    fab_table table;
    fab_table_begin(&table, page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < step->n_parts; i++) {
        const fab_growth_part *part = &step->parts[i];
        const double figures[] = {part->bought > 0 ? (double)part->bought : NAN,
                                  part->retired > 0 ? (double)part->retired : NAN,
                                  part->bought > 0 ? part->bought_usd : NAN};
        fab_table_row(&table, FAB_INK_PLAIN, fab_show(page, "%s (%s)", part->part, part->tier), figures);
    }
    fab_table_end(&table, 4, NULL, NULL);
}

/* What stands at the end of a step. */
static void growth_put_bar(fab_page *page, size_t row, const void *context) {
    const fab_result *result = context;
    double most = result->growth[result->n_growth - 1].total_usd;
    size_t room = page->width > page->used + 2 ? page->width - page->used - 2 : 0;
    fab_page_put(page, FAB_INK_PLAIN, "  ");
    fab_page_bar(page, FAB_INK_BAR, result->growth[row - 1].total_usd, most, room < MOST_BAR ? room : MOST_BAR);
}

void fab_text_growth(fab_page *page, const fab_result *result) {
    static const fab_column COLUMNS[] = {COLUMN("step", text),    COLUMN("GPUs", whole),      COLUMN("switches", whole),
                                         COLUMN("cables", whole), COLUMN("bought", money),    COLUMN("in all", money),
                                         COLUMN("moved", whole),  COLUMN("free ports", whole)};
    fab_table table;
    if (result->n_growth == 0) {
        return;
    }
    fab_text_heading(page, "GROWTH", NULL);
    fab_table_begin(&table, page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < result->n_growth; i++) {
        const fab_growth_step *step = &result->growth[i];
        const double figures[] = {(double)step->gpus,      (double)step->switches, (double)step->cables,
                                  step->bought_usd,        step->total_usd,        (double)step->cables_moved,
                                  (double)step->free_ports};
        fab_table_row(&table, FAB_INK_PLAIN, fab_show(page, "%zu", i + 1), figures);
    }
    fab_table_end(&table, 2, growth_put_bar, result);
    fab_text_note(page, "bars: price of all that stands; moved: standing cables that must be plugged elsewhere; free "
                        "ports: of switches, without a cable until the fabric grows into them");
    for (size_t i = 1; i < result->n_growth; i++) {
        fab_page_end_line(page);
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2, "Step %zu", i + 1);
        growth_put_parts(page, &result->growth[i]);
    }
}
