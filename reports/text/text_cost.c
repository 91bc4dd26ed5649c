/* Text report: what designs cost, one by one and side by side. */
#include "fab/memory.h"
#include "fab/units.h"
#include "text_sections.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAR_CELLS   16 /* at most */
#define MIN_BAR     4  /* shorter bars tell nothing */
#define SHARE_CELLS (sizeof " 100 %" - 1)

static void set_headings(fab_table *table, const char *const *headings) {
    fab_table_row(table);
    for (size_t i = 0; i < table->n_columns; i++) {
        fab_table_set(table, i, FAB_INK_DIM, "%s", headings[i]);
    }
}

/* Cells that a bar at the end of a line may take. */
static size_t bar_cells(const fab_page *page, size_t behind) {
    size_t room = page->width > page->used + behind ? page->width - page->used - behind : 0;
    return room < BAR_CELLS ? room : BAR_CELLS;
}

/* --- bill of materials ---------------------------------------------------------------------------------------------
 */

/* A line of the table: alike cables of one boundary, whatever their length. */
typedef struct item {
    const fab_cost_line *line; /**< the first of them */
    double min_m, max_m;
    uint64_t quantity;
    double total_usd, power_w;
    bool begins_tier; /**< a row with the name of the tier stands above */
} item;

typedef struct items {
    item *item;
    size_t n;
    double total_usd;
} items;

static bool is_alike(const fab_cost_line *a, const fab_cost_line *b) {
    return a->kind == FAB_PART_CABLE && b->kind == FAB_PART_CABLE && a->rate_bps == b->rate_bps &&
           strcmp(a->tier, b->tier) == 0 && strcmp(a->medium, b->medium) == 0;
}

static fab_status collect(const fab_cost *cost, items *out, fab_error *err) {
    items all = {NULL, 0, cost->total_usd};
    fab_status status = FAB_NEW(all.item, cost->n_lines, err);
    for (size_t i = 0; status == FAB_OK && i < cost->n_lines; i++) {
        const fab_cost_line *line = &cost->lines[i];
        size_t at = 0;
        while (at < all.n && !is_alike(all.item[at].line, line)) {
            at++;
        }
        item *to = &all.item[at];
        if (at == all.n) {
            *to = (item){.line = line, .min_m = line->length_m, .max_m = line->length_m};
            to->begins_tier = line->tier[0] != '\0' && (at == 0 || strcmp(to[-1].line->tier, line->tier) != 0);
            all.n++;
        }
        to->min_m = line->length_m < to->min_m ? line->length_m : to->min_m;
        to->max_m = line->length_m > to->max_m ? line->length_m : to->max_m;
        to->quantity += line->quantity;
        to->total_usd += line->total_usd;
        to->power_w += line->power_w;
    }
    *out = all;
    return status;
}

/* The item on a row of the table, behind the heading; NULL for names of tiers and the total. */
static const item *item_on_row(const items *all, size_t row) {
    size_t at = 0;
    for (size_t i = 0; i < all->n; i++) {
        at += all->item[i].begins_tier ? 2 : 1;
        if (at == row) {
            return &all->item[i];
        }
    }
    return NULL;
}

static void put_share(fab_page *page, size_t row, void *context) {
    const items *all = context;
    const item *it = item_on_row(all, row);
    if (it == NULL || page->used + SHARE_CELLS > page->width) {
        return;
    }
    size_t cells = bar_cells(page, SHARE_CELLS + 2);
    if (cells >= MIN_BAR) {
        fab_page_put(page, FAB_INK_PLAIN, "  ");
        fab_page_bar(page, FAB_INK_BAR, it->total_usd, all->total_usd, cells);
    }
    double percent = all->total_usd > 0 ? 100 * it->total_usd / all->total_usd : 0;
    if (percent > 0 && percent < 0.5) {
        fab_page_put(page, FAB_INK_PLAIN, "  <1 %");
    } else {
        fab_page_printf(page, FAB_INK_PLAIN, " %3.0f %%", percent);
    }
}

static void put_item(fab_table *table, const item *it) {
    char a[32];
    char b[32];
    if (it->begins_tier) {
        fab_table_row(table);
        fab_table_set(table, 0, FAB_INK_DIM, "%.32s", it->line->tier);
    }
    const char *indent = it->line->tier[0] != '\0' ? "  " : "";
    fab_table_row(table);
    if (it->max_m > it->min_m) {
        fab_table_set(table, 0, FAB_INK_PLAIN, "%scable %s %.0f-%.0f m", indent,
                      fab_quantity_format(a, it->line->rate_bps, FAB_UNIT_RATE), it->min_m, it->max_m);
    } else {
        fab_table_set(table, 0, FAB_INK_PLAIN, "%s%.44s", indent, it->line->part);
    }
    fab_table_set(table, 1, FAB_INK_PLAIN, "%.20s", it->line->medium);
    fab_table_set(table, 2, FAB_INK_PLAIN, "%s", fab_format_count(a, it->quantity));
    fab_table_set(table, 3, FAB_INK_PLAIN, "%s",
                  fab_money_format(a, it->quantity > 0 ? it->total_usd / (double)it->quantity : 0));
    fab_table_set(table, 4, FAB_INK_PLAIN, "%s", fab_money_format(a, it->total_usd));
    fab_table_set(table, 5, FAB_INK_PLAIN, "%s", fab_quantity_format(b, it->power_w, FAB_UNIT_POWER));
}

static void put_lines(fab_page *page, const fab_cost *cost) {
    static const char *const HEADINGS[] = {"part", "medium", "quantity", "each", "total", "power"};
    char a[32];
    items all;
    if (collect(cost, &all, NULL) != FAB_OK) {
        page->out.failed = true;
        return;
    }
    fab_table table;
    fab_table_init(&table, sizeof HEADINGS / sizeof HEADINGS[0]);
    set_headings(&table, HEADINGS);
    for (size_t i = 0; i < all.n; i++) {
        put_item(&table, &all.item[i]);
    }
    fab_table_row(&table);
    fab_table_set(&table, 0, FAB_INK_BOLD, "total");
    fab_table_set(&table, 4, FAB_INK_BOLD, "%s", fab_money_format(a, cost->total_usd));
    fab_table_set(&table, 5, FAB_INK_BOLD, "%s", fab_quantity_format(a, cost->power_w, FAB_UNIT_POWER));
    fab_table_print(&table, page, 2, put_share, &all);
    fab_table_release(&table);
    free(all.item);
}

static bool same_book(const fab_cost *a, const fab_cost *b) {
    return strcmp(a->profile, b->profile) == 0 && strcmp(a->convention, b->convention) == 0 &&
           strcmp(a->source, b->source) == 0;
}

void fab_text_prices(fab_page *page, const fab_result *result) {
    for (size_t i = 0; i < result->n_fabrics; i++) {
        const fab_cost *cost = &result->fabrics[i].cost;
        bool is_new = cost->profile[0] != '\0';
        for (size_t j = 0; j < i; j++) {
            is_new = is_new && !same_book(&result->fabrics[j].cost, cost);
        }
        if (is_new) {
            fab_page_wrapf(page, FAB_INK_DIM, 2, 2, "Prices %s, counted %s: %s%s%s", cost->profile, cost->convention,
                           cost->counting, cost->source[0] != '\0' ? "; source: " : "", cost->source);
        }
    }
}

void fab_text_cost(fab_page *page, const fab_fabric_result *fabric, const char *title) {
    const fab_cost *cost = &fabric->cost;
    char a[32];
    char b[32];
    char c[32];
    char text[256];
    if (cost->profile[0] == '\0') {
        return;
    }
    (void)snprintf(text, sizeof text, "%s, %s per %s", fab_money_format(a, cost->total_usd),
                   fab_money_format(b, cost->per_gpu_usd),
                   fabric->counts.domains == 0 && fabric->spec.storage > 0 ? "host" : "GPU");
    fab_text_heading(page, title, text);
    put_lines(page, cost);
    int n = snprintf(text, sizeof text, "Power %s; energy %s per year, capital %s per year",
                     fab_quantity_format(a, cost->power_w, FAB_UNIT_POWER),
                     fab_money_format(b, cost->energy_usd_per_year), fab_money_format(c, cost->capital_usd_per_year));
    if (cost->per_bisection_gbps_usd > 0) {
        n += snprintf(text + n, sizeof text - (size_t)n, "; %s per Gb/s of bisection",
                      fab_money_format(a, cost->per_bisection_gbps_usd));
    }
    (void)snprintf(text + n, sizeof text - (size_t)n, ".");
    fab_page_wrap(page, FAB_INK_PLAIN, 2, 2, text);
}

/* --- several designs -----------------------------------------------------------------------------------------------
 */

static void put_cost_bar(fab_page *page, size_t row, void *context) {
    const fab_result *result = context;
    double largest = 0;
    for (size_t i = 0; i < result->n_fabrics; i++) {
        double total = result->fabrics[i].cost.total_usd;
        largest = total > largest ? total : largest;
    }
    fab_page_put(page, FAB_INK_PLAIN, "  ");
    fab_page_bar(page, FAB_INK_BAR, result->fabrics[row - 1].cost.total_usd, largest, bar_cells(page, 0));
}

static void put_design_row(fab_table *table, const fab_fabric_result *f, size_t i) {
    char a[32];
    fab_table_row(table);
    fab_table_set(table, 0, FAB_INK_PLAIN, "[%zu]", i + 1);
    fab_table_set(table, 1, FAB_INK_PLAIN, "%s", fab_format_count(a, f->counts.gpus));
    fab_table_set(table, 2, FAB_INK_PLAIN, "%s", fab_format_count(a, f->counts.switches));
    fab_table_set(table, 3, FAB_INK_PLAIN, "%s", fab_format_count(a, f->cost.transceivers));
    fab_table_set(table, 4, FAB_INK_PLAIN, "%s", fab_money_format(a, f->cost.total_usd));
    fab_table_set(table, 5, FAB_INK_PLAIN, "%s", fab_money_format(a, f->cost.per_gpu_usd));
    fab_table_set(table, 6, FAB_INK_PLAIN, "%s", fab_quantity_format(a, f->cost.power_w, FAB_UNIT_POWER));
    fab_ink ink = f->reduction_ratio > 0 ? FAB_INK_GOOD : f->reduction_ratio < 0 ? FAB_INK_BAD : FAB_INK_PLAIN;
    if (i == 0) {
        fab_table_set(table, 7, FAB_INK_PLAIN, "-");
    } else {
        fab_table_set(table, 7, ink, "%.1f %%", 100 * f->reduction_ratio);
    }
}

/* "-$24.5M"; the sign is written, since the row is a difference. */
static void set_difference(fab_table *table, size_t column, double usd, bool is_baseline) {
    char a[32];
    if (is_baseline) {
        fab_table_set(table, column, FAB_INK_PLAIN, "%s", fab_money_format(a, usd));
    } else if (usd == 0) {
        fab_table_set(table, column, FAB_INK_PLAIN, "=");
    } else {
        fab_table_set(table, column, usd < 0 ? FAB_INK_GOOD : FAB_INK_BAD, "%s%s", usd < 0 ? "-" : "+",
                      fab_money_format(a, usd < 0 ? -usd : usd));
    }
}

/* What the difference to the baseline is made of. */
static void put_differences(fab_page *page, const fab_result *result) {
    static const char *const HEADINGS[] = {"", "switches", "optics", "cables", "NICs", "installed", "total"};
    fab_table table;
    fab_table_init(&table, sizeof HEADINGS / sizeof HEADINGS[0]);
    set_headings(&table, HEADINGS);
    const fab_cost *base = &result->fabrics[0].cost;
    for (size_t i = 0; i < result->n_fabrics; i++) {
        const fab_cost *c = &result->fabrics[i].cost;
        const double pairs[][2] = {{c->switch_usd, base->switch_usd},
                                   {c->transceiver_usd, base->transceiver_usd},
                                   {c->cable_usd, base->cable_usd},
                                   {c->nic_usd, base->nic_usd},
                                   {c->installation_usd, base->installation_usd},
                                   {c->total_usd, base->total_usd}};
        fab_table_row(&table);
        fab_table_set(&table, 0, FAB_INK_PLAIN, "[%zu]", i + 1);
        for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
            set_difference(&table, k + 1, pairs[k][0] - (i > 0 ? pairs[k][1] : 0), i == 0);
        }
    }
    fab_page_end_line(page);
    fab_table_print(&table, page, 2, NULL, NULL);
    fab_table_release(&table);
    fab_page_wrap(page, FAB_INK_DIM, 2, 2,
                  "cost of [1] by part, and what each other design costs more (+) or less (-)");
}

void fab_text_comparison(fab_page *page, const fab_result *result) {
    static const char *const HEADINGS[] = {"", "GPUs", "switches", "optics", "cost", "per GPU", "power", "saved"};
    fab_page_line(page, FAB_INK_BOLD, "%zu designs side by side", result->n_fabrics);
    for (size_t i = 0; i < result->n_fabrics; i++) {
        const fab_fabric_result *f = &result->fabrics[i];
        fab_page_printf(page, FAB_INK_PLAIN, "  [%zu] %s", i + 1, f->name);
        if (page->used + 2 + fab_text_columns(f->digest) > page->width) {
            fab_page_end_line(page);
        }
        fab_page_right(page, FAB_INK_DIM, page->width, f->digest);
        fab_page_end_line(page);
    }
    fab_page_end_line(page);
    fab_table table;
    fab_table_init(&table, sizeof HEADINGS / sizeof HEADINGS[0]);
    set_headings(&table, HEADINGS);
    for (size_t i = 0; i < result->n_fabrics; i++) {
        put_design_row(&table, &result->fabrics[i], i);
    }
    fab_result copy = *result;
    fab_table_print(&table, page, 2, put_cost_bar, &copy);
    fab_table_release(&table);
    fab_page_wrap(page, FAB_INK_DIM, 2, 2, "optics: transceivers that the price book counts; saved: against [1]");
    for (size_t i = 0; i < result->n_fabrics; i++) {
        if (strcmp(result->fabrics[i].family, "rail-only") == 0) {
            fab_page_wrapf(
                page, FAB_INK_DIM, 2, 2,
                "[%zu] has no link between rails: traffic between them is handed over inside the scale-up domains",
                i + 1);
        }
    }
    put_differences(page, result);
}
