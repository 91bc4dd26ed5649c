/* Text report: what a fabric is made of and what it costs. */
#include "fab/units.h"
#include "text_sections.h"

#include <inttypes.h>
#include <math.h>
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
    if (f->counts.domains > 0) {
        fab_str_add(&text, "; ");
        add_count(&text, f->counts.domains, "scale-up domain", "scale-up domains");
        fab_str_add(&text, " of ");
        add_count(&text, f->spec.domain, "GPU", "GPUs");
        fab_str_printf(&text, " at %s per GPU", fab_quantity_format(number, f->spec.domain_bps, FAB_UNIT_RATE));
    }
    fab_str_add(&text, "; ");
    add_count(&text, f->counts.rails, "rail", "rails");
    fab_str_add(&text, ", ");
    add_count(&text, f->counts.planes, "plane", "planes");
    if (f->counts.pods > 0) {
        fab_str_add(&text, ", ");
        bool has_groups = f->counts.wiring == FAB_WIRING_DRAGONFLY;
        add_count(&text, f->counts.pods, has_groups ? "group" : "pod", has_groups ? "groups" : "pods");
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
    bool is_tree = c->wiring == FAB_WIRING_TREE;
    size_t last = table->n_columns - 1;
    fab_table_set(table, last - 1, FAB_INK_PLAIN, "%s", fab_format_count(a, c->cables_by_tier[i]));
    const fab_boundary_lengths *mixed = &c->floor.boundary[i]; /* FLOOR has them in full */
    fab_table_set(table, last, FAB_INK_PLAIN, "%s%s", mixed->min_m < mixed->max_m ? "~" : "",
                  fab_quantity_format(a, c->floor.given ? round(mixed->mean_m) : tier->length_m, FAB_UNIT_LENGTH));
    if (i >= c->tiers) { /* more cables, no further switches */
        fab_table_set(table, 0, FAB_INK_PLAIN, "%s", fab_boundary_name(c->wiring, (uint32_t)i + 1));
        return;
    }
    uint64_t above = is_top ? 0 : c->cables_by_tier[i + 1];
    for (size_t k = 1; !is_tree && k < c->n_boundaries; k++) {
        above += 2 * c->cables_by_tier[k]; /* both ends are on switches of the only tier */
    }
    fab_table_set(table, 0, FAB_INK_PLAIN, "%s", fab_tier_name(c->wiring, (uint32_t)i + 1));
    fab_table_set(table, 1, FAB_INK_PLAIN, "%s", fab_format_count(a, c->switches_by_tier[i]));
    fab_table_set(table, 2, FAB_INK_PLAIN, tier->breakout > 1 ? "%" PRIu64 "x%" PRIu64 : "%" PRIu64, tier->radix,
                  tier->breakout);
    fab_table_set(table, 3, FAB_INK_PLAIN, "%s", fab_quantity_format(a, tier->port_bps, FAB_UNIT_RATE));
    fab_table_set(table, 4, FAB_INK_PLAIN, "%s/%s", ports_text(a, c->cables_by_tier[i], c->switches_by_tier[i]),
                  ports_text(b, above, c->switches_by_tier[i]));
    if (is_tree) {
        fab_table_set(table, 5, FAB_INK_PLAIN, "%s", is_top ? "-" : fab_text_taper(a, c->built_taper[i]));
        fab_table_set(table, 6, FAB_INK_PLAIN, "%s", is_top ? "-" : fab_text_taper(a, tier->taper));
    }
}

/* NVLink is sold in bytes, networks in bits: both. */
static void put_scaleup(fab_page *page, const fab_fabric_result *f) {
    char a[32];
    char b[32];
    if (f->counts.domains > 0) {
        fab_quantity_format(b, f->scaleup_bisection_bps / 8, FAB_UNIT_BYTES);
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "Scale-up bisection %s (%s/s) in one direction, over all domains.",
                       fab_quantity_format(a, f->scaleup_bisection_bps, FAB_UNIT_RATE), b);
    }
}

/* Tapers above the top tier: a value the user gave and the fabric has no place for. */
static void put_unused_tapers(fab_page *page, const fab_fabric_result *f) {
    for (uint64_t t = f->counts.tiers; t > 0 && t <= FAB_MAX_TIERS; t++) {
        double taper = f->spec.tier[t - 1].taper;
        char asked[32];
        if (taper != 1) {
            fab_page_wrapf(page, FAB_INK_BAD, 2, 2,
                           "Not used: taper %s above tier %" PRIu64 "; the fabric has %" PRIu64 " tier%s.",
                           fab_text_taper(asked, taper), t, f->counts.tiers, f->counts.tiers == 1 ? "" : "s");
        }
    }
}

/* The table of tiers, and the bisection. */
static void put_structure(fab_page *page, const fab_fabric_result *f, bool has_graph) {
    static const char *const TREE[] = {"tier",  "switches", "radix",  "port",  "down/up",
                                       "taper", "asked",    "cables", "length"};
    static const char *const FLAT[] = {"tier", "switches", "radix", "port", "down/up", "cables", "length"};
    bool is_tree = f->counts.wiring == FAB_WIRING_TREE;
    size_t n_columns = is_tree ? sizeof TREE / sizeof TREE[0] : sizeof FLAT / sizeof FLAT[0];
    char a[32];
    fab_page_end_line(page);
    fab_table table;
    fab_table_init(&table, n_columns);
    set_headings(&table, is_tree ? TREE : FLAT);
    for (size_t i = 0; i < f->counts.n_boundaries && i < FAB_MAX_TIERS; i++) {
        put_tier_row(&table, f, i);
    }
    if (f->counts.n_boundaries > 1) {
        fab_table_row(&table);
        fab_table_set(&table, 0, FAB_INK_BOLD, "total");
        fab_table_set(&table, 1, FAB_INK_BOLD, "%s", fab_format_count(a, f->counts.switches));
        fab_table_set(&table, n_columns - 2, FAB_INK_BOLD, "%s", fab_format_count(a, f->counts.cables));
    }
    fab_table_print(&table, page, 2, NULL, NULL);
    fab_table_release(&table);
    fab_page_wrap(
        page, FAB_INK_DIM, 2, 2,
        is_tree
            ? "down/up: ports in use per switch (mean); taper: capacity down to up of the fullest switch, as built; "
              "cables and length: those below the tier"
            : "down/up: ports in use per switch (mean), to NICs and to other switches");
    put_unused_tapers(page, f);
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

void fab_text_fabric(fab_page *page, const fab_fabric_result *f, bool has_graph) {
    fab_text_heading(page, "FABRIC", NULL);
    put_ends(page, f);
    if (strcmp(f->family, "rail-only") == 0) {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 2,
                      "No link between rails: traffic between them is handed over inside the scale-up domains.");
    }
    put_structure(page, f, has_graph);
    put_scaleup(page, f);
}

void fab_text_front_end(fab_page *page, const fab_fabric_result *f) {
    const fab_fabric_result *front_end = f->front_end;
    if (front_end == NULL) {
        return;
    }
    fab_str text = FAB_STR_INIT;
    char number[32];
    char both[32];
    fab_text_heading(page, "FRONT-END", "the network for storage and data beside the fabric");
    add_count(&text, f->counts.servers, "server", "servers");
    fab_str_add(&text, " and ");
    add_count(&text, front_end->spec.storage, "storage server", "storage servers");
    fab_str_add(&text, " with ");
    add_count(&text, front_end->spec.nics_per_server, "NIC", "NICs");
    fab_str_printf(&text, " each at %s.", fab_quantity_format(number, front_end->spec.nic_bps, FAB_UNIT_RATE));
    fab_page_wrap(page, FAB_INK_PLAIN, 2, 2, text.failed ? "" : text.data);
    page->out.failed |= text.failed;
    fab_str_release(&text);
    put_structure(page, front_end, true);
    fab_text_cost(page, front_end, "COST OF THE FRONT-END");
    (void)fab_money_format(both, f->cost.total_usd + front_end->cost.total_usd);
    fab_page_put(page, FAB_INK_PLAIN, "  Both networks together ");
    fab_page_put(page, FAB_INK_BOLD, both);
    fab_page_end_line(page);
}
