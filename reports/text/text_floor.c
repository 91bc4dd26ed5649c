/* Text report: racks, and what they make of the cables. */
#include "fab/units.h"
#include "text_sections.h"

#include <stdio.h>

static const char *counted(char *out, uint64_t n, const char *one, const char *many) {
    char count[32];
    (void)snprintf(out, 48, "%s %s", fab_format_count(count, n), n == 1 ? one : many);
    return out;
}

static const char *limit(char *out, double power_w) {
    return power_w > 0 ? fab_quantity_format(out, power_w, FAB_UNIT_POWER) : "no limit";
}

/* Sums reach kilometres; a single cable is ordered in metres. */
static const char *total_length(char *out, double length_m) {
    if (length_m < 1e4) {
        return fab_quantity_format(out, length_m, FAB_UNIT_LENGTH);
    }
    char count[32];
    uint64_t tenths = (uint64_t)(length_m / 100 + 0.5);
    (void)snprintf(out, 32, "%.20s.%u km", fab_format_count(count, tenths / 10), (unsigned)(tenths % 10));
    return out;
}

static void put_racks(fab_page *page, const fab_fabric_result *f) {
    const fab_floor_counts *c = &f->counts.floor;
    char a[48];
    char b[48];
    char power[32];
    char network[48];
    char rows[48];
    fab_page_wrapf(
        page, FAB_INK_PLAIN, 2, 2, "%s of up to %s at %s; %s; %s.", counted(a, c->server_racks, "rack", "racks"),
        counted(b, c->servers_per_rack, "server", "servers"), fab_quantity_format(power, c->server_w, FAB_UNIT_POWER),
        counted(network, c->network_racks, "network rack", "network racks"), counted(rows, c->rows, "row", "rows"));
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "Power of servers: %s per rack, %s per hall.",
                   limit(a, f->spec.floor.rack_w), limit(b, f->spec.floor.hall_w));
}

static void put_boundary(fab_table *table, const fab_fabric_result *f, uint32_t t) {
    const fab_boundary_lengths *b = &f->counts.floor.boundary[t - 1];
    char a[32];
    fab_table_row(table);
    fab_table_set(table, 0, FAB_INK_PLAIN, "%s", fab_boundary_name(f->counts.wiring, t));
    fab_table_set(table, 1, FAB_INK_PLAIN, "%s", fab_format_count(a, b->cables));
    fab_table_set(table, 2, FAB_INK_PLAIN, "%s", fab_quantity_format(a, b->min_m, FAB_UNIT_LENGTH));
    fab_table_set(table, 3, FAB_INK_PLAIN, "%s", fab_quantity_format(a, b->mean_m, FAB_UNIT_LENGTH));
    fab_table_set(table, 4, FAB_INK_PLAIN, "%s", fab_quantity_format(a, b->max_m, FAB_UNIT_LENGTH));
    fab_table_set(table, 5, FAB_INK_PLAIN, "%s", total_length(a, b->mean_m * (double)b->cables));
    fab_table_set(table, 6, FAB_INK_PLAIN, "%s", fab_quantity_format(a, b->mean_latency_s, FAB_UNIT_TIME));
}

void fab_text_floor(fab_page *page, const fab_fabric_result *f) {
    static const char *const HEADINGS[] = {"boundary", "cables", "shortest", "mean", "longest", "in all", "latency"};
    const fab_floor_counts *c = &f->counts.floor;
    char a[48];
    char b[48];
    char text[128];
    if (!c->given) {
        return;
    }
    (void)snprintf(text, sizeof text, "%s in %s", counted(a, c->racks, "rack", "racks"),
                   counted(b, c->halls, "hall", "halls"));
    fab_text_heading(page, "FLOOR", text);
    put_racks(page, f);
    fab_page_end_line(page);
    fab_table table;
    fab_table_begin(&table, HEADINGS, sizeof HEADINGS / sizeof HEADINGS[0]);
    for (uint32_t t = 1; t <= f->counts.n_boundaries && t <= FAB_MAX_TIERS; t++) {
        put_boundary(&table, f, t);
    }
    fab_table_row(&table);
    fab_table_set(&table, 0, FAB_INK_BOLD, "total");
    fab_table_set(&table, 1, FAB_INK_BOLD, "%s", fab_format_count(a, f->counts.cables));
    fab_table_set(&table, 5, FAB_INK_BOLD, "%s", total_length(a, c->cable_m));
    fab_table_print(&table, page, 2, NULL, NULL);
    fab_table_release(&table);
    fab_page_wrap(
        page, FAB_INK_DIM, 2, 2,
        "lengths: along rows, across rows and from hall to hall, with slack, rounded up to a standard length; "
        "latency: one switch and the cable (mean). Switches do not count against the power of racks and "
        "halls");
}
