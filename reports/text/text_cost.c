/* Text report: what designs cost, one by one and side by side. */
#include "text_sections.h"

#define BAR_CELLS   16 /* at most */
#define MIN_BAR     4  /* shorter bars tell nothing */
#define SHARE_CELLS (sizeof " 100 %" - 1)

/* --- bill of materials -------------------------------------------------------------------------------------------- */

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
        FAB_FIRST(at, all.n, is_alike(all.item[at].line, line));
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

static void cost_put_share(fab_page *page, size_t row, const void *context) {
    const items *all = context;
    const item *it = item_on_row(all, row);
    if (it == NULL || page->used + SHARE_CELLS > page->width) {
        return;
    }
    size_t room = page->width - page->used - SHARE_CELLS;
    if (room >= 2 + MIN_BAR) {
        fab_page_bar_behind(page, it->total_usd, all->total_usd, MIN_BAR, room - 2 < BAR_CELLS ? room - 2 : BAR_CELLS);
    }
    double percent = all->total_usd > 0 ? 100 * it->total_usd / all->total_usd : 0;
    if (percent > 0 && percent < 0.5) {
        fab_page_put(page, FAB_INK_PLAIN, "  <1 %");
    } else {
        fab_page_printf(page, FAB_INK_PLAIN, " %3.0f %%", percent);
    }
}

static void cost_add_item(fab_table *table, const item *it) {
    fab_page *page = table->page;
    const char *indent = it->line->tier[0] != '\0' ? "  " : "";
    const double figures[] = {FAB_TABLE_BLANK, (double)it->quantity,
                              it->quantity > 0 ? it->total_usd / (double)it->quantity : 0, it->total_usd, it->power_w};
    const char *name = fab_show(page, "%s%.44s", indent, it->line->part);
    if (it->max_m > it->min_m) {
        name = fab_show(page, "%scable %s %.0f-%.0f m", indent, fab_show_rate(page, it->line->rate_bps), it->min_m,
                        it->max_m);
    }
    if (it->begins_tier) {
        fab_table_row(table, FAB_INK_DIM, fab_show(page, "%.32s", it->line->tier), NULL);
    }
    fab_table_row(table, FAB_INK_PLAIN, name, figures);
    fab_table_set(table, 1, FAB_INK_PLAIN, "%.20s", it->line->medium);
}

static void cost_put_lines(fab_page *page, const fab_cost *cost) {
    static const fab_column COLUMNS[] = {COLUMN("part", text),  COLUMN("medium", text), COLUMN("quantity", whole),
                                         COLUMN("each", money), COLUMN("total", money), COLUMN("power", power)};
    const double sums[] = {FAB_TABLE_BLANK, FAB_TABLE_BLANK, FAB_TABLE_BLANK, cost->total_usd, cost->power_w};
    items all;
    if (collect(cost, &all, NULL) != FAB_OK) {
        page->out.failed = true;
        return;
    }
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < all.n; i++) {
        cost_add_item(&table, &all.item[i]);
    }
    fab_table_row(&table, FAB_INK_BOLD, "total", sums);
    fab_table_end(&table, 2, cost_put_share, &all);
    free(all.item);
}

static bool same_book(const fab_cost *a, const fab_cost *b) {
    return strcmp(a->profile, b->profile) == 0 && strcmp(a->convention, b->convention) == 0 &&
           strcmp(a->source, b->source) == 0;
}

void fab_text_prices(fab_page *page, const fab_result *result) {
    for (size_t i = 0; i < result->n_fabrics; i++) {
        const fab_cost *cost = &result->fabrics[i].cost;
        FAB_ANY(is_said, j, i, same_book(&result->fabrics[j].cost, cost));
        if (cost->profile[0] != '\0' && !is_said) {
            fab_text_notef(page, "Prices %s, counted %s", cost->profile, cost->convention);
            fab_text_legendf(page, "%s%s%s", cost->counting, cost->source[0] != '\0' ? "; source: " : "", cost->source);
        }
    }
}

void fab_text_cost(fab_page *page, const fab_fabric_result *fabric, const char *title) {
    const fab_cost *cost = &fabric->cost;
    if (cost->profile[0] == '\0') {
        return;
    }
    fab_text_heading(page, title,
                     fab_show(page, "%s, %s per %s", fab_show_money(page, cost->total_usd),
                              fab_show_money(page, cost->per_gpu_usd),
                              fabric->counts.domains == 0 && fabric->spec.storage > 0 ? "host" : "GPU"));
    cost_put_lines(page, cost);
    fab_page_say(page, "Power %s; energy %s per year, capital %s per year", fab_show_power(page, cost->power_w),
                 fab_show_money(page, cost->energy_usd_per_year), fab_show_money(page, cost->capital_usd_per_year));
    if (cost->per_bisection_gbps_usd > 0) {
        fab_page_say(page, "; %s per Gb/s of bisection", fab_show_money(page, cost->per_bisection_gbps_usd));
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, ".");
}

/* --- several designs ---------------------------------------------------------------------------------------------- */

static void cost_put_bar(fab_page *page, size_t row, const void *context) {
    const fab_result *result = context;
    FAB_MOST(double, largest, i, result->n_fabrics, result->fabrics[i].cost.total_usd);
    fab_page_bar_behind(page, result->fabrics[row - 1].cost.total_usd, largest, 0, BAR_CELLS);
}

/* "-$24.5M"; the sign is written, since the row is a difference. */
static void cost_set_difference(fab_table *table, size_t column, double usd) {
    if (usd == 0) {
        fab_table_set(table, column, FAB_INK_PLAIN, "=");
    } else {
        fab_table_set(table, column, usd < 0 ? FAB_INK_GOOD : FAB_INK_BAD, "%s%s", usd < 0 ? "-" : "+",
                      fab_show_money(table->page, fabs(usd)));
    }
}

/* What the difference to the baseline is made of. */
static void cost_put_differences(fab_page *page, const fab_result *result) {
    static const fab_column COLUMNS[] = {COLUMN("", text),        COLUMN("switches", money), COLUMN("optics", money),
                                         COLUMN("cables", money), COLUMN("NICs", money),     COLUMN("installed", money),
                                         COLUMN("total", money)};
    const fab_cost *base = &result->fabrics[0].cost;
    const double base_usd[] = {base->switch_usd, base->transceiver_usd,  base->cable_usd,
                               base->nic_usd,    base->installation_usd, base->total_usd};
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    fab_table_row(&table, FAB_INK_PLAIN, "[1]", base_usd);
    for (size_t i = 1; i < result->n_fabrics; i++) {
        const fab_cost *c = &result->fabrics[i].cost;
        const double usd[] = {c->switch_usd, c->transceiver_usd,  c->cable_usd,
                              c->nic_usd,    c->installation_usd, c->total_usd};
        fab_table_row(&table, FAB_INK_PLAIN, fab_show(page, "[%zu]", i + 1), NULL);
        for (size_t k = 0; k < FAB_N_OF(usd); k++) {
            cost_set_difference(&table, k + 1, usd[k] - base_usd[k]);
        }
    }
    fab_page_end_line(page);
    fab_table_end(&table, 2, NULL, NULL);
    fab_text_note(page, "cost of [1] by part, and what each other design costs more (+) or less (-)");
}

static void cost_put_designs(fab_page *page, const fab_result *result) {
    static const fab_column COLUMNS[] = {COLUMN("", text),          COLUMN("GPUs", whole),
                                         COLUMN("switches", whole), COLUMN("optics", whole),
                                         COLUMN("cost", money),     COLUMN("per GPU", money),
                                         COLUMN("power", power),    MARKED("saved", fab_show_percent, FAB_INK_GOOD, 0)};
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < result->n_fabrics; i++) {
        const fab_fabric_result *f = &result->fabrics[i];
        const double figures[] = {(double)f->counts.gpus,
                                  (double)f->counts.switches,
                                  (double)f->cost.transceivers,
                                  f->cost.total_usd,
                                  f->cost.per_gpu_usd,
                                  f->cost.power_w,
                                  i > 0 ? f->reduction_ratio : NAN};
        fab_table_row(&table, FAB_INK_PLAIN, fab_show(page, "[%zu]", i + 1), figures);
        if (i > 0 && f->reduction_ratio < 0) {
            fab_table_put(&table, 7, FAB_INK_BAD, fab_show_percent(page, f->reduction_ratio));
        }
    }
    fab_table_end(&table, 2, cost_put_bar, result);
    fab_text_note(page, "optics: transceivers that the price book counts; saved: against [1]");
}

void fab_text_comparison(fab_page *page, const fab_result *result) {
    fab_page_line(page, FAB_INK_BOLD, "%zu designs side by side", result->n_fabrics);
    for (size_t i = 0; i < result->n_fabrics; i++) {
        fab_page_printf(page, FAB_INK_PLAIN, "  [%zu] %s", i + 1, result->fabrics[i].name);
        fab_page_last(page, result->fabrics[i].digest);
    }
    fab_page_end_line(page);
    cost_put_designs(page, result);
    for (size_t i = 0; i < result->n_fabrics; i++) {
        fab_text_rail_only(page, &result->fabrics[i], fab_show(page, "[%zu]", i + 1));
    }
    cost_put_differences(page, result);
}

/* --- growth ------------------------------------------------------------------------------------------------------- */

#define MOST_BAR 20 /* columns */

static void growth_put_parts(fab_page *page, const fab_growth_step *step) {
    static const fab_column COLUMNS[] = {COLUMN("part", text), COLUMN("bought", whole), COLUMN("left over", whole),
                                         COLUMN("price", money)};
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    FAB_EACH(const fab_growth_part, part, step->parts, step->n_parts) {
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
    fab_page_bar_behind(page, result->growth[row - 1].total_usd, most, 0, MOST_BAR);
}

void fab_text_growth(fab_page *page, const fab_result *result) {
    static const fab_column COLUMNS[] = {COLUMN("step", text),    COLUMN("GPUs", whole),      COLUMN("switches", whole),
                                         COLUMN("cables", whole), COLUMN("bought", money),    COLUMN("in all", money),
                                         COLUMN("moved", whole),  COLUMN("free ports", whole)};
    if (result->n_growth == 0) {
        return;
    }
    fab_text_heading(page, "GROWTH", NULL);
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
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
