/* Text report: what a fabric is made of and what it costs. */
#include "fab/units.h"
#include "text_sections.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BAR_CELLS 16 /* at most */

void fab_text_design(fab_page *page, const fab_fabric_result *fabric) {
    char origin[128];
    (void)snprintf(origin, sizeof origin, "%s, design %s", fabric->family, fabric->digest);
    fab_page_put(page, FAB_INK_BOLD, fabric->name);
    if (page->used + 2 + fab_text_columns(origin) > page->width) {
        fab_page_end_line(page);
    }
    fab_page_right(page, FAB_INK_DIM, page->width, origin);
    fab_page_end_line(page);
    if (fabric->source[0] != '\0') {
        fab_page_wrap(page, FAB_INK_DIM, 2, 2, fabric->source);
    }
}

/* --- fabric --------------------------------------------------------------------------------------------------------
 */

static void add_count(fab_str *to, uint64_t value, const char *one, const char *many) {
    char count[32];
    fab_str_printf(to, "%s %s", fab_format_count(count, value), value == 1 ? one : many);
}

/* "24,576 GPUs in 3,072 servers of 8 GPUs and 8 NICs at 400 Gb/s; ..." */
static void put_ends(fab_page *page, const fab_fabric_result *f) {
    fab_str text = FAB_STR_INIT;
    char number[32];
    add_count(&text, f->counts.gpus, "GPU", "GPUs");
    fab_str_add(&text, " in ");
    add_count(&text, f->counts.servers, "server", "servers");
    fab_str_add(&text, " of ");
    add_count(&text, f->spec.gpus_per_server, "GPU", "GPUs");
    fab_str_add(&text, " and ");
    add_count(&text, f->spec.nics_per_server, "NIC", "NICs");
    fab_str_printf(&text, " at %s", fab_quantity_format(number, f->spec.nic_bps, FAB_UNIT_RATE));
    if (f->spec.spares > 0) {
        fab_str_add(&text, ", of which ");
        add_count(&text, f->spec.spares, "is spare", "are spare");
    }
    fab_str_add(&text, "; ");
    add_count(&text, f->counts.domains, "scale-up domain", "scale-up domains");
    fab_str_add(&text, " of ");
    add_count(&text, f->spec.domain, "GPU", "GPUs");
    fab_str_printf(&text, " at %s per GPU; ", fab_quantity_format(number, f->spec.domain_bps, FAB_UNIT_RATE));
    add_count(&text, f->counts.rails, "rail", "rails");
    fab_str_add(&text, ", ");
    add_count(&text, f->counts.planes, "plane", "planes");
    if (f->counts.pods > 0) {
        fab_str_add(&text, ", ");
        add_count(&text, f->counts.pods, "pod", "pods");
    }
    fab_str_add(&text, ".");
    if (text.failed) {
        page->out.failed = true;
    } else {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 2, text.data);
    }
    fab_str_release(&text);
}

/* Ports in use per switch; a mean where switches differ. */
static const char *ports_text(char *out, uint64_t cables, uint64_t switches) {
    double ports = switches > 0 ? (double)cables / (double)switches : 0;
    (void)snprintf(out, 32, ports == (double)(uint64_t)ports ? "%.0f" : "%.1f", ports);
    return out;
}

static void set_headings(fab_table *table, const char *const *headings) {
    fab_table_row(table);
    for (size_t i = 0; i < table->n_columns; i++) {
        fab_table_set(table, i, FAB_INK_DIM, "%s", headings[i]);
    }
}

static void put_tier_row(fab_table *table, const fab_fabric_result *f, size_t i) {
    const fab_counts *c = &f->counts;
    const fab_tier_spec *tier = &f->spec.tier[i];
    char a[32];
    char b[32];
    bool is_top = i + 1 >= c->tiers;
    fab_table_row(table);
    fab_table_set(table, 0, FAB_INK_PLAIN, "%s", fab_tier_name((uint32_t)i + 1));
    fab_table_set(table, 1, FAB_INK_PLAIN, "%s", fab_format_count(a, c->switches_by_tier[i]));
    fab_table_set(table, 2, FAB_INK_PLAIN, tier->breakout > 1 ? "%" PRIu64 "x%" PRIu64 : "%" PRIu64, tier->radix,
                  tier->breakout);
    fab_table_set(table, 3, FAB_INK_PLAIN, "%s",
                  fab_quantity_format(a, tier->port_bps > 0 ? tier->port_bps : f->spec.nic_bps, FAB_UNIT_RATE));
    fab_table_set(table, 4, FAB_INK_PLAIN, "%s/%s", ports_text(a, c->cables_by_tier[i], c->switches_by_tier[i]),
                  is_top ? "0" : ports_text(b, c->cables_by_tier[i + 1], c->switches_by_tier[i]));
    fab_table_set(table, 5, FAB_INK_PLAIN, "%s", is_top ? "-" : fab_text_taper(a, c->built_taper[i]));
    fab_table_set(table, 6, FAB_INK_PLAIN, "%s", is_top ? "-" : fab_text_taper(a, tier->taper));
    fab_table_set(table, 7, FAB_INK_PLAIN, "%s", fab_format_count(a, c->cables_by_tier[i]));
    fab_table_set(table, 8, FAB_INK_PLAIN, "%s", fab_quantity_format(a, tier->length_m, FAB_UNIT_LENGTH));
}

void fab_text_fabric(fab_page *page, const fab_fabric_result *f, bool has_graph) {
    static const char *const HEADINGS[] = {"tier",        "switches", "radix",  "port",  "down/up",
                                           "taper built", "asked",    "cables", "length"};
    char a[32];
    fab_text_heading(page, "FABRIC", NULL);
    put_ends(page, f);
    fab_page_end_line(page);
    fab_table table;
    fab_table_init(&table, sizeof HEADINGS / sizeof HEADINGS[0]);
    set_headings(&table, HEADINGS);
    for (size_t i = 0; i < f->counts.tiers && i < FAB_MAX_TIERS; i++) {
        put_tier_row(&table, f, i);
    }
    if (f->counts.tiers > 1) {
        fab_table_row(&table);
        fab_table_set(&table, 0, FAB_INK_BOLD, "total");
        fab_table_set(&table, 1, FAB_INK_BOLD, "%s", fab_format_count(a, f->counts.switches));
        fab_table_set(&table, 7, FAB_INK_BOLD, "%s", fab_format_count(a, f->counts.cables));
    }
    fab_table_print(&table, page, 2, NULL, NULL);
    fab_table_release(&table);
    fab_page_wrap(
        page, FAB_INK_DIM, 2, 2,
        "down/up: ports in use per switch (mean); taper: capacity down to up of the fullest switch; cables and "
        "length: those below the tier");
    if (has_graph || f->bisection_bps > 0) {
        char text[256];
        (void)snprintf(text, sizeof text,
                       "Bisection %s in one direction between the two halves of the servers: %.1f %% of what one half "
                       "can inject.",
                       fab_quantity_format(a, f->bisection_bps, FAB_UNIT_RATE), 100 * f->bisection_ratio);
        fab_page_end_line(page);
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 2, text);
    }
}

/* --- cost ----------------------------------------------------------------------------------------------------------
 */

/* Cells that a bar at the end of a line may take. */
static size_t bar_cells(const fab_page *page, size_t behind) {
    size_t room = page->width > page->used + behind ? page->width - page->used - behind : 0;
    return room < BAR_CELLS ? room : BAR_CELLS;
}

static void put_share(fab_page *page, size_t row, void *context) {
    const fab_cost *cost = context;
    if (row > cost->n_lines) {
        return;
    }
    double part = cost->lines[row - 1].total_usd;
    fab_page_put(page, FAB_INK_PLAIN, "  ");
    fab_page_bar(page, FAB_INK_BAR, part, cost->total_usd, bar_cells(page, sizeof " 100 %" - 1));
    double percent = cost->total_usd > 0 ? 100 * part / cost->total_usd : 0;
    if (percent > 0 && percent < 0.5) {
        fab_page_put(page, FAB_INK_PLAIN, "  <1 %");
    } else {
        fab_page_printf(page, FAB_INK_PLAIN, " %3.0f %%", percent);
    }
}

static void put_lines(fab_page *page, fab_cost *cost) {
    static const char *const HEADINGS[] = {"part", "quantity", "each", "total", "power"};
    char a[32];
    fab_table table;
    fab_table_init(&table, sizeof HEADINGS / sizeof HEADINGS[0]);
    set_headings(&table, HEADINGS);
    for (size_t i = 0; i < cost->n_lines; i++) {
        const fab_cost_line *line = &cost->lines[i];
        bool names_tier = line->tier[0] == '\0' || strstr(line->part, line->tier) != NULL;
        fab_table_row(&table);
        fab_table_set(&table, 0, FAB_INK_PLAIN, "%.30s%s%.12s%s", line->part, names_tier ? "" : " (",
                      names_tier ? "" : line->tier, names_tier ? "" : ")");
        fab_table_set(&table, 1, FAB_INK_PLAIN, "%s", fab_format_count(a, line->quantity));
        fab_table_set(&table, 2, FAB_INK_PLAIN, "%s", fab_money_format(a, line->unit_usd));
        fab_table_set(&table, 3, FAB_INK_PLAIN, "%s", fab_money_format(a, line->total_usd));
        fab_table_set(&table, 4, FAB_INK_PLAIN, "%s", fab_quantity_format(a, line->power_w, FAB_UNIT_POWER));
    }
    fab_table_row(&table);
    fab_table_set(&table, 0, FAB_INK_BOLD, "total");
    fab_table_set(&table, 3, FAB_INK_BOLD, "%s", fab_money_format(a, cost->total_usd));
    fab_table_set(&table, 4, FAB_INK_BOLD, "%s", fab_quantity_format(a, cost->power_w, FAB_UNIT_POWER));
    fab_table_print(&table, page, 2, put_share, cost);
    fab_table_release(&table);
}

void fab_text_prices(fab_page *page, const fab_cost *cost) {
    char text[1024];
    if (cost->profile[0] == '\0') {
        return;
    }
    (void)snprintf(text, sizeof text, "Prices %s%s%s%s%s", cost->profile, cost->convention[0] != '\0' ? ": " : "",
                   cost->convention, cost->source[0] != '\0' ? "; source: " : "", cost->source);
    fab_page_wrap(page, FAB_INK_DIM, 2, 2, text);
}

void fab_text_cost(fab_page *page, const fab_fabric_result *fabric, const char *title) {
    fab_cost cost = fabric->cost;
    char a[32];
    char b[32];
    char text[256];
    if (cost.profile[0] == '\0') {
        return;
    }
    (void)snprintf(text, sizeof text, "%s, %s per GPU", fab_money_format(a, cost.total_usd),
                   fab_money_format(b, cost.per_gpu_usd));
    fab_text_heading(page, title, text);
    put_lines(page, &cost);
    (void)snprintf(text, sizeof text, "Power %s; energy %s per year.",
                   fab_quantity_format(a, cost.power_w, FAB_UNIT_POWER), fab_money_format(b, cost.energy_usd_per_year));
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
    fab_page_wrap(page, FAB_INK_DIM, 2, 2, "optics: transceivers that the price profile counts; saved: against [1]");
}
