/* A fabric built in steps. */
#include "fab/units.h"
#include "text_sections.h"

#include <inttypes.h>

#define MOST_BAR 20 /* columns */

static void put_parts(fab_page *page, const fab_growth_step *step) {
    char a[32];
    char b[64];
    fab_table table;
    fab_table_init(&table, 4);
    fab_table_row(&table);
    fab_table_set(&table, 0, FAB_INK_BOLD, "part");
    fab_table_set(&table, 1, FAB_INK_BOLD, "bought");
    fab_table_set(&table, 2, FAB_INK_BOLD, "left over");
    fab_table_set(&table, 3, FAB_INK_BOLD, "price");
    for (size_t i = 0; i < step->n_parts; i++) {
        const fab_growth_part *part = &step->parts[i];
        fab_table_row(&table);
        fab_table_set(&table, 0, FAB_INK_PLAIN, "%s (%s)", part->part, part->tier);
        fab_table_set(&table, 1, FAB_INK_PLAIN, "%s", part->bought > 0 ? fab_format_count(a, part->bought) : "-");
        fab_table_set(&table, 2, FAB_INK_PLAIN, "%s", part->retired > 0 ? fab_format_count(a, part->retired) : "-");
        fab_table_set(&table, 3, FAB_INK_PLAIN, "%s", part->bought > 0 ? fab_money_format(b, part->bought_usd) : "-");
    }
    fab_table_print(&table, page, 4, NULL, NULL);
    fab_table_release(&table);
}

/* What stands at the end of a step. */
static void put_bar(fab_page *page, size_t row, void *context) {
    const fab_result *result = context;
    double most = result->growth[result->n_growth - 1].total_usd;
    size_t room = page->width > page->used + 2 ? page->width - page->used - 2 : 0;
    fab_page_put(page, FAB_INK_PLAIN, "  ");
    fab_page_bar(page, FAB_INK_BAR, result->growth[row - 1].total_usd, most, room < MOST_BAR ? room : MOST_BAR);
}

void fab_text_growth(fab_page *page, const fab_result *result) {
    static const char *const HEADINGS[] = {"step",   "GPUs",   "switches", "cables",
                                           "bought", "in all", "moved",    "free ports"};
    char a[64];
    if (result->n_growth == 0) {
        return;
    }
    fab_text_heading(page, "GROWTH", NULL);
    fab_table table;
    fab_table_init(&table, sizeof HEADINGS / sizeof HEADINGS[0]);
    fab_table_row(&table);
    for (size_t i = 0; i < sizeof HEADINGS / sizeof HEADINGS[0]; i++) {
        fab_table_set(&table, i, FAB_INK_BOLD, "%s", HEADINGS[i]);
    }
    for (size_t i = 0; i < result->n_growth; i++) {
        const fab_growth_step *step = &result->growth[i];
        fab_table_row(&table);
        fab_table_set(&table, 0, FAB_INK_PLAIN, "%zu", i + 1);
        fab_table_set(&table, 1, FAB_INK_PLAIN, "%s", fab_format_count(a, step->gpus));
        fab_table_set(&table, 2, FAB_INK_PLAIN, "%s", fab_format_count(a, step->switches));
        fab_table_set(&table, 3, FAB_INK_PLAIN, "%s", fab_format_count(a, step->cables));
        fab_table_set(&table, 4, FAB_INK_PLAIN, "%s", fab_money_format(a, step->bought_usd));
        fab_table_set(&table, 5, FAB_INK_PLAIN, "%s", fab_money_format(a, step->total_usd));
        fab_table_set(&table, 6, FAB_INK_PLAIN, "%s", fab_format_count(a, step->cables_moved));
        fab_table_set(&table, 7, FAB_INK_PLAIN, "%s", fab_format_count(a, step->free_ports));
    }
    fab_table_print(&table, page, 2, put_bar, (void *)result);
    fab_table_release(&table);
    fab_page_wrap(page, FAB_INK_DIM, 2, 2,
                  "bars: price of all that stands; moved: standing cables that must be plugged elsewhere; free ports: "
                  "of switches, without a cable until the "
                  "fabric grows into them");
    for (size_t i = 1; i < result->n_growth; i++) {
        (void)snprintf(a, sizeof a, "Step %zu", i + 1);
        fab_page_end_line(page);
        fab_page_wrap(page, FAB_INK_BOLD, 2, 2, a);
        put_parts(page, &result->growth[i]);
    }
}
