/* Text report: racks, and what they make of the cables. */
#include "text_sections.h"

static const char *floor_show_limit(fab_page *page, double power_w) {
    return power_w > 0 ? fab_show_power(page, power_w) : "no limit";
}

/* Sums reach kilometres; a single cable is ordered in metres. */
static const char *floor_show_sum(fab_page *page, double length_m) {
    if (length_m < 1e4) {
        return fab_show_length(page, length_m);
    }
    uint64_t tenths = (uint64_t)(length_m / 100 + 0.5);
    return fab_show(page, "%s.%u km", fab_show_count(page, tenths / 10), (unsigned)(tenths % 10));
}

static void floor_put_racks(fab_page *page, const fab_fabric_result *f) {
    const fab_floor_counts *c = &f->counts.floor;
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "%s of up to %s at %s; %s; %s.",
                   fab_show_counted(page, c->server_racks, "rack", "racks"),
                   fab_show_counted(page, c->servers_per_rack, "server", "servers"), fab_show_power(page, c->server_w),
                   fab_show_counted(page, c->network_racks, "network rack", "network racks"),
                   fab_show_counted(page, c->rows, "row", "rows"));
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "Power of servers: %s per rack, %s per hall.",
                   floor_show_limit(page, f->spec.floor.rack_w), floor_show_limit(page, f->spec.floor.hall_w));
}

void fab_text_floor(fab_page *page, const fab_fabric_result *f) {
    static const fab_column COLUMNS[] = {
        COLUMN("boundary", text),  COLUMN("cables", whole),         COLUMN("shortest", length), COLUMN("mean", length),
        COLUMN("longest", length), SHOWN("in all", floor_show_sum), COLUMN("latency", time)};
    const fab_floor_counts *c = &f->counts.floor;
    if (!c->given) {
        return;
    }
    fab_text_heading(page, "FLOOR",
                     fab_show(page, "%s in %s", fab_show_counted(page, c->racks, "rack", "racks"),
                              fab_show_counted(page, c->halls, "hall", "halls")));
    floor_put_racks(page, f);
    fab_page_end_line(page);
    fab_table table;
    fab_table_begin(&table, page, FAB_COLUMNS(COLUMNS));
    for (uint32_t t = 1; t <= f->counts.n_boundaries && t <= FAB_MAX_TIERS; t++) {
        const fab_boundary_lengths *b = &c->boundary[t - 1];
        const double figures[] = {(double)b->cables, b->min_m, b->mean_m, b->max_m, b->mean_m * (double)b->cables,
                                  b->mean_latency_s};
        fab_table_row(&table, FAB_INK_PLAIN, fab_boundary_name(f->counts.wiring, t), figures);
    }
    const double sums[] = {(double)f->counts.cables, FAB_TABLE_BLANK, FAB_TABLE_BLANK,
                           FAB_TABLE_BLANK,          c->cable_m,      FAB_TABLE_BLANK};
    fab_table_row(&table, FAB_INK_BOLD, "total", sums);
    fab_table_end(&table, 2, NULL, NULL);
    fab_text_note(
        page, "lengths: along rows, across rows and from hall to hall, with slack, rounded up to a standard length; "
              "latency: the cable and half of the switch at either end (mean). Switches do not count against the power "
              "of racks and halls");
}
