/* Text report: what a fabric is made of and what it costs. */
#include "text_sections.h"

/* "rails", or "groups of 4 rails" that share a network; NULL: all do, or the family has none. */
static const char *apart_rails(fab_page *page, const fab_fabric_result *f) {
    const fab_rails rails = fab_topology_rails(&f->spec);
    return rails.shared == rails.n ? NULL
           : rails.shared == 1     ? "rails"
                                   : fab_show(page, "groups of %s rails", fab_show_count(page, rails.shared));
}

void fab_text_rail_only(fab_page *page, const fab_fabric_result *f, const char *of) {
    const char *apart = apart_rails(page, f);
    if (apart != NULL) {
        fab_text_notef(page,
                       "%s has no link between %s: traffic between them is relayed inside the scale-up domains "
                       "(PXN). Its bisection is of traffic that servers spread over all rails: GPUs of a server that "
                       "all send to one rail share its NIC",
                       of, apart);
    }
}

/* The cut between halves of servers is of all their NICs together, and of any paths. */
static const char *traffic_that_counts(fab_page *page, const fab_fabric_result *f) {
    return apart_rails(page, f) != NULL ? "traffic that servers spread over all rails"
           : strcmp(f->family, "torus") == 0 || strcmp(f->family, "dragonfly") == 0
               ? "traffic between these, by whatever paths,"
               : "any traffic";
}

void fab_text_design(fab_page *page, const fab_fabric_result *fabric) {
    const char *origin = fab_show(page, "%s, design %s", fabric->family, fabric->digest);
    fab_page_put(page, FAB_INK_BOLD, fabric->name);
    fab_page_last(page, origin);
    if (fabric->source[0] != '\0') {
        fab_text_legendf(page, "%s", fabric->source);
    }
}

/* --- fabric ------------------------------------------------------------------------------------------------------- */

/* "24,576 GPUs in 3,072 servers of 8 GPUs and 8 NICs at 400 Gb/s; ..." */
static void fabric_put_ends(fab_page *page, const fab_fabric_result *f) {
    fab_page_say(page, "%s in %s of %s and %s at %s", fab_show_counted(page, f->counts.gpus, "GPU", "GPUs"),
                 fab_show_counted(page, f->counts.servers, "server", "servers"),
                 fab_show_counted(page, f->spec.gpus_per_server, "GPU", "GPUs"),
                 fab_show_counted(page, f->spec.nics_per_server, "NIC", "NICs"), fab_show_rate(page, f->spec.nic_bps));
    if (f->spec.spares > 0) {
        fab_page_say(page, ", of which %s", fab_show_counted(page, f->spec.spares, "is spare", "are spare"));
    }
    if (f->counts.domains > 0) {
        fab_page_say(page, "; %s of %s at %s per GPU",
                     fab_show_counted(page, f->counts.domains, "scale-up domain", "scale-up domains"),
                     fab_show_counted(page, f->spec.domain, "GPU", "GPUs"), fab_show_rate(page, f->spec.domain_bps));
    }
    fab_page_say(page, "; %s, %s", fab_show_counted(page, f->counts.rails, "rail", "rails"),
                 fab_show_counted(page, f->counts.planes, "plane", "planes"));
    if (f->counts.pods > 0) {
        bool has_groups = f->counts.wiring == FAB_WIRING_DRAGONFLY;
        fab_page_say(
            page, ", %s",
            fab_show_counted(page, f->counts.pods, has_groups ? "group" : "pod", has_groups ? "groups" : "pods"));
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, ".");
}

/* Ports in use per switch; a mean where switches differ. */
static const char *fabric_show_ports(fab_page *page, uint64_t cables, uint64_t switches) {
    double ports = switches > 0 ? (double)cables / (double)switches : 0;
    return fab_show(page, ports == (double)(uint64_t)ports ? "%.0f" : "%.1f", ports);
}

enum { RADIX = 2, DOWN_UP = 4, LENGTH = 8 }; /* columns that are no figures */

static void fabric_add_tier(fab_table *table, const fab_fabric_result *f, size_t i) {
    fab_page *page = table->page;
    const fab_counts *c = &f->counts;
    const fab_tier_spec *tier = &f->spec.tier[i];
    const fab_boundary_lengths *mixed = &c->floor.boundary[i]; /* FLOOR has them in full */
    bool has_switches = i < c->tiers;                          /* else more cables, no further switches */
    bool is_top = i + 1 >= c->tiers;
    const bool is_installed = strcmp(f->family, "installed") == 0; /* nobody gave it a taper */
    const double figures[] = {has_switches ? (double)c->switches_by_tier[i] : FAB_TABLE_BLANK,
                              FAB_TABLE_BLANK,
                              has_switches ? tier->port_bps : FAB_TABLE_BLANK,
                              FAB_TABLE_BLANK,
                              has_switches && !is_top ? c->built_taper[i]
                              : has_switches          ? NAN
                                                      : FAB_TABLE_BLANK,
                              has_switches && !is_top && !is_installed ? tier->taper
                              : has_switches                           ? NAN
                                                                       : FAB_TABLE_BLANK,
                              (double)c->cables_by_tier[i],
                              FAB_TABLE_BLANK};
    uint32_t t = (uint32_t)i + 1;
    fab_table_row(table, FAB_INK_PLAIN, has_switches ? fab_tier_name(c->wiring, t) : fab_boundary_name(c->wiring, t),
                  figures);
    fab_table_set(table, LENGTH, FAB_INK_PLAIN, "%s%s", mixed->min_m < mixed->max_m ? "~" : "",
                  fab_show_length(page, c->floor.given ? round(mixed->mean_m) : fab_tier_length_m(&f->spec, t)));
    if (!has_switches) {
        return;
    }
    uint64_t above = is_top ? 0 : c->cables_by_tier[i + 1];
    for (size_t k = 1; c->wiring != FAB_WIRING_TREE && k < c->n_boundaries; k++) {
        above += 2 * c->cables_by_tier[k]; /* both ends are on switches of the only tier */
    }
    fab_table_set(table, RADIX, FAB_INK_PLAIN, tier->breakout > 1 ? "%" PRIu64 "x%" PRIu64 : "%" PRIu64, tier->radix,
                  tier->breakout);
    fab_table_set(table, DOWN_UP, FAB_INK_PLAIN, "%s/%s",
                  fabric_show_ports(page, c->cables_by_tier[i], c->switches_by_tier[i]),
                  fabric_show_ports(page, above, c->switches_by_tier[i]));
}

/* NVLink is sold in bytes, networks in bits: both. */
static void fabric_put_scaleup(fab_page *page, const fab_fabric_result *f) {
    if (f->counts.domains > 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "Scale-up bisection %s (%s/s) in one direction, over all domains.",
                       fab_show_rate(page, f->scaleup_bisection_bps),
                       fab_show_bytes(page, f->scaleup_bisection_bps / 8));
    }
}

static void fabric_put_spares(fab_page *page, const fab_fabric_result *f) {
    const fab_spares *s = &f->spares;
    const char *servers = fab_show_counted(page, s->servers, "spare server", "spare servers");
    if (s->is_shared) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 2,
                       "%s hang%s where leaves give up uplinks, %s at the fullest, with %s. full-spares=yes keeps the "
                       "taper with %s in %s, for %s more, but with other leaves: fabriscope compare tells the time.",
                       servers, s->servers == 1 ? "s" : "", fab_show_taper(page, s->leaf_taper),
                       s->more_switches == 0
                           ? "no switch more"
                           : fab_show(page, "%s more", fab_show_counted(page, s->more_switches, "switch", "switches")),
                       fab_show_counted(page, s->full_switches, "switch", "switches"),
                       fab_show_counted(page, s->full_tiers, "tier", "tiers"), fab_show_money(page, s->full_usd));
    } else if (s->is_known && s->more_switches > 0) {
        fab_page_wrapf(page, s->more_tiers > 0 ? FAB_INK_BAD : FAB_INK_PLAIN, 2, 2, "%s cost%s %s more%s: %s in all.",
                       servers, s->servers == 1 ? "s" : "",
                       fab_show_counted(page, s->more_switches, "switch", "switches"),
                       s->more_tiers > 0 ? ", and a tier" : "", fab_show_money(page, s->more_usd));
    }
}

static void fabric_put_saving(fab_page *page, const fab_near_size *n) {
    fab_page_say(page, " take %s fewer: %s less in all, %.2g %% less per GPU.",
                 fab_show_counted(page, n->fewer_switches, "switch", "switches"), fab_show_money(page, n->saved_usd),
                 100 * n->saved_ratio);
    fab_page_paragraph(page, FAB_INK_BOLD, 2, 2);
}

static void fabric_put_near_size(fab_page *page, const fab_fabric_result *f) {
    const uint64_t gpus = f->near_size.n;
    if (gpus > 0) {
        const bool is_less = gpus < f->counts.gpus;
        const uint64_t apart = is_less ? f->counts.gpus - gpus : gpus - f->counts.gpus;
        fab_page_say(page, "%s GPUs, %s %s,", fab_show_count(page, gpus), fab_show_count(page, apart),
                     is_less ? "fewer" : "more");
        fabric_put_saving(page, &f->near_size);
    }
    if (f->near_rails.n > 0) {
        fab_page_say(page, "%s on a network (rails-per-switch=%" PRIu64 ")",
                     fab_show_counted(page, f->near_rails.n, "rail", "rails"), f->near_rails.n);
        fabric_put_saving(page, &f->near_rails);
    }
}

/* The table of tiers, and the bisection. */
static void fabric_put_structure(fab_page *page, const fab_fabric_result *f, bool has_graph) {
    bool is_tree = f->counts.wiring == FAB_WIRING_TREE;
    const fab_column columns[] = {COLUMN("tier", text),
                                  COLUMN("switches", whole),
                                  COLUMN("radix", text),
                                  COLUMN("port", rate),
                                  COLUMN("down/up", text),
                                  COLUMN(is_tree ? "taper" : NULL, taper),
                                  COLUMN(is_tree ? "given" : NULL, taper),
                                  COLUMN("cables", whole),
                                  COLUMN("length", text)};
    fab_page_end_line(page);
    fab_table table = fab_table_of(page, FAB_COLUMNS(columns));
    for (size_t i = 0; i < f->counts.n_boundaries && i < FAB_MAX_TIERS; i++) {
        fabric_add_tier(&table, f, i);
    }
    if (f->counts.n_boundaries > 1) {
        fab_table_row(&table, FAB_INK_BOLD, "total", NULL);
        fab_table_put(&table, 1, FAB_INK_BOLD, fab_show_count(page, f->counts.switches));
        fab_table_put(&table, LENGTH - 1, FAB_INK_BOLD, fab_show_count(page, f->counts.cables));
    }
    fab_table_end(&table, 2, NULL, NULL);
    fab_text_note(page, is_tree ? "down/up: ports used per switch (mean); taper as built; cables: below the tier"
                                : "down/up: ports in use per switch (mean), to NICs and to other switches");
    fabric_put_spares(page, f);
    fabric_put_near_size(page, f);
    if (has_graph || f->bisection_bps > 0) {
        fab_page_end_line(page);
        if (isnan(f->bisection_ratio)) {
            fab_page_wrap(page, FAB_INK_PLAIN, 2, 2, "Bisection is not defined: no two servers, nothing to cut.");
            return;
        }
        const uint64_t n_complete = f->counts.servers - f->counts.cut_servers;
        const char *of = n_complete == f->counts.servers
                             ? "servers"
                             : fab_show(page, "%s servers that have all their cables (fabriscope audit halves all)",
                                        fab_show_count(page, n_complete));
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                       "Bisection %s in one direction between the two halves of the %s; %s may count on %s of what its "
                       "NICs can inject.",
                       fab_show_rate(page, f->bisection_bps), of, traffic_that_counts(page, f),
                       fab_show_percent(page, f->bisection_ratio));
    }
}

void fab_text_fabric(fab_page *page, const fab_fabric_result *f, bool has_graph) {
    fab_text_heading(page, "FABRIC", NULL);
    fabric_put_ends(page, f);
    if (apart_rails(page, f) != NULL) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                       "No link between %s: traffic between them is relayed inside the scale-up domains (PXN); GPUs "
                       "of a server that all send to one rail share its NIC.",
                       apart_rails(page, f));
    }
    fabric_put_structure(page, f, has_graph);
    fabric_put_scaleup(page, f);
}

void fab_text_front_end(fab_page *page, const fab_fabric_result *f) {
    const fab_fabric_result *front_end = f->front_end;
    if (front_end == NULL) {
        return;
    }
    fab_text_heading(page, "FRONT-END", "the network for storage and data beside the fabric");
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "%s and %s with %s each at %s.",
                   fab_show_counted(page, f->counts.servers, "server", "servers"),
                   fab_show_counted(page, front_end->spec.storage, "storage server", "storage servers"),
                   fab_show_counted(page, front_end->spec.nics_per_server, "NIC", "NICs"),
                   fab_show_rate(page, front_end->spec.nic_bps));
    fabric_put_structure(page, front_end, true);
    fab_text_cost(page, front_end, "COST OF THE FRONT-END");
    fab_page_put(page, FAB_INK_PLAIN, "  Both networks together ");
    fab_page_line(page, FAB_INK_BOLD, "%s", fab_show_money(page, f->cost.total_usd + front_end->cost.total_usd));
}

/* --- floor -------------------------------------------------------------------------------------------------------- */

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
    if (f->spec.floor.is_power_assumed) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                       "The power of %s is not published: servers are taken to draw what those of H100 do "
                       "(floor.server-power says it).",
                       f->spec.host.gpu);
    }
    if (!f->spec.floor.is_assumed) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "Power of servers: %s per rack, %s per hall.",
                       floor_show_limit(page, f->spec.floor.rack_w), floor_show_limit(page, f->spec.floor.hall_w));
    }
}

/* What lengths rest on where the design says nothing of racks. */
static void floor_put_assumed(fab_page *page, const fab_fabric_result *f) {
    const fab_floor_spec *s = &f->spec.floor;
    FAB_ANY_IN(decides, t, 1, FAB_MAX_TIERS + 1U, t <= f->counts.n_boundaries && fab_floor_decides(&f->spec, t));
    if (!decides) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "The design gives the lengths of its cables; racks are assumed.");
        return;
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                   "Cables are as long as this floor demands, which is assumed: racks of %s, %s apart, %" PRIu64
                   " in a row, rows %s apart, %s of slack per end; floor.* and length say what it is "
                   "(fabriscope list fields floor).",
                   fab_show_power(page, s->server_w * (double)s->servers_per_rack),
                   fab_show_length(page, s->rack_pitch_m), s->racks_per_row, fab_show_length(page, s->row_pitch_m),
                   fab_show_length(page, s->slack_m));
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
    if (f->spec.floor.is_assumed) {
        floor_put_assumed(page, f);
        return;
    }
    fab_page_end_line(page);
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
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
    fab_text_legendf(page, "%s",
                     "lengths: along rows, across rows and from hall to hall, with slack, rounded up to a standard "
                     "length; latency: the cable and half of the switch at either end (mean). Switches do not count "
                     "against the power of racks and halls");
}
