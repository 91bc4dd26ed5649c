/* Installed networks: `audit` and `import`. */
#include "fab/audit.h"
#include "fab/imported.h"
#include "field_rows.h"
#include "field_tables.h"

#define AUDIT     "0040-audit.md"
#define IMPORTING "0041-import.md"

/* --- audit -------------------------------------------------------------------------------------------------------- */

#define T fab_finding
static const char *finding_guid(const fab_at *at, char *room) {
    (void)snprintf(room, FAB_FIELD_ROOM, "0x%016" PRIx64, ((const T *)at->row)->guid);
    return room;
}

static const char *finding_other_guid(const fab_at *at, char *room) {
    (void)snprintf(room, FAB_FIELD_ROOM, "0x%016" PRIx64, ((const T *)at->row)->other_guid);
    return room;
}

GIVES(bool, is_choice, fab_finding_is_choice(here->kind));

static const fab_field FINDINGS[] = {
    NAMED(finding, kind, fab_finding_kinds, "What kind of departure it is."),
    TRUTH_BY(is_choice, is_choice, "Whether it may be meant so: a choice of the design, not a fault."),
    FIELD(confidence, "How sure the rule is that it departs from; 1: the file says so itself.",
          .formula = "(peers that follow + 1) / (peers + 2)"),
    FIGURE(damage_bps, "bit/s",
           "Capacity that is lost, on the wrong rail, or lost with one failure more; findings are sorted by it.",
           .formula = "sum over the cables of the finding", .labels = "damage|impact"),
    FIELD(cables, "Cables to be plugged, moved or looked at."),
    FIELD(node, "Where to walk to.", FILLED),
    FIELD(port, "Port of that node.", FILLED),
    TEXT_MADE(guid, finding_guid, "GUID of that node.", IF(guid)),
    FIELD_OF(other_node, other, "Where the other end is, or belongs.", FILLED),
    FIELD(other_port, "Port of that node.", FILLED),
    TEXT_MADE(other_guid, finding_other_guid, "GUID of the other node.", IF(other_guid)),
    FIELD(line, "Line of the file.", FILLED),
    FIELD_OF(what, text, "What is wrong."),
    FIELD(work, "What to do."),
    FIELD_OF(rack, at[0].rack_name, "Rack of the node, where the plan says how racks are filled.", FILLED),
    FIELD_OF(other_rack, at[1].rack_name, "Rack of the other node.", FILLED),
};
static const fab_fields FINDING = TABLE("finding", FINDINGS, AUDIT);

#undef T
#define T fab_audit_boundary
GIVES(const char *, audited_boundary, fab_boundary_name(FAB_WIRING_TREE, here->tier));

static const fab_field AUDIT_BOUNDARIES[] = {
    TEXT_BY(boundary, audited_boundary, FAB_BOUNDARY_TEXT),
    FIELD(tier, FAB_TIER_TEXT),
    FIELD_OF(planned_cables, planned, "Cables of the boundary that the structure, or the plan, asks for."),
    FIELD_OF(present_cables, present, "Cables of the boundary that are plugged where they belong."),
};
static const fab_fields AUDIT_BOUNDARY = TABLE("audited_boundary", AUDIT_BOUNDARIES, AUDIT);

static const fab_field COVERAGES[] = {
    TEXT_BY(boundary, audited_boundary, FAB_BOUNDARY_TEXT),
    FIELD(tier, FAB_TIER_TEXT),
    FIELD(cables, "Cables of the boundary that are there."),
    FIELD(with_rule, "Those of them that some rule speaks of: of others nothing is said."),
};
static const fab_fields COVERAGE = TABLE("coverage", COVERAGES, AUDIT);

#undef T
#define T fab_audit_bisection
GIVES(bool, knows_both, here->is_known && here->knows_planned);
GIVES(double, lost_bps, fab_audit_bisection_lost(here));
GIVES(double, lost_ratio, here->planned_bps > 0 ? fab_audit_bisection_lost(here) / here->planned_bps : 0);

static const fab_field BISECTIONS[] = {
    FIGURE_OF(bisection_bps, present_bps, "bit/s", "Minimum cut between the halves of the servers as it stands.",
              IF(is_known), .labels = "bisection"),
    FIGURE_OF(planned_bisection_bps, planned_bps, "bit/s",
              "Bisection of what is installed with missing cables and absent switches in place and slow cables as fast "
              "as their peers, or of the plan.",
              IF(knows_planned)),
    REAL_BY(lost_bisection_bps, lost_bps, "bit/s", "Bisection that the findings cost; below 0 where more is installed.",
            .only = knows_both, SIGNED, .formula = "planned_bisection_bps - bisection_bps"),
    REAL_BY(lost_bisection_ratio, lost_ratio, NULL, "Part of the planned bisection that is lost.", .only = knows_both,
            SIGNED, .formula = "lost_bisection_bps / planned_bisection_bps"),
    FIELD_OF(bisection_unknown, why, "Why one of the figures is not there.", FILLED),
};
static const fab_fields BISECTION = VIEW("audited_bisection", BISECTIONS, AUDIT);

#undef T
#define T fab_audit
static const fab_field AUDITS[] = {
    FIELD_OF(hosts, n_servers, "Hosts that are known by name."),
    FIELD_OF(adapters, n_hosts, "Network adapters."),
    FIELD_OF(switches, n_switches, "Switches."),
    FIELD_OF(aggregation_nodes, n_services, "Aggregation nodes inside switches; they are no hosts."),
    FIELD_OF(directors, n_boxes, "Boxes of several switches that are joined inside.", IF(n_boxes)),
    FIELD_OF(chips, n_chips, "Switches inside directors.", IF(n_boxes)),
    FIELD_OF(inside_links, n_inside, "Links inside directors that are there; they are no cables.", IF(n_boxes)),
    FIELD_OF(missing_inside_links, n_inside_missing, "Those that their peers have and that are not there.",
             IF(n_boxes)),
    FIELD_OF(rails, has_rails, "Whether each leaf serves one adapter of every host."),
    FIELD_OF(hosts_by_place, n_by_place,
             "Hosts of the plan that are known by what is plugged where alone: that two of them have changed places "
             "does not show.",
             IF(n_by_place)),
    FIELD_OF(renamed_boxes, n_renamed,
             "Boxes that the plan calls otherwise: the same by GUID, or by what is plugged where.", IF(n_renamed)),
    FIELD(first_renamed, "One of them, by both names.", FILLED),
    FIELD_OF(cables, n_cables, "Cables between boxes."),
    FIELD_OF(cables_with_rule, n_ruled, "Cables that some rule, or the plan, speaks of."),
    FIELD_OF(adapters_with_rule, n_ruled_hosts, "Adapters with such a cable."),
    FIELD_OF(switches_with_rule, n_ruled_switches, "Switches with such a cable."),
    FIELD_OF(cables_out_of_order, n_out_of_order,
             "Cables of hosts whose names follow no order from leaf to leaf: without a plan it does not show there who "
             "has changed places."),
    FIELD_OF(cables_out_of_port_order, n_out_of_port_order,
             "Those whose names follow none along the ports of a leaf either, or along them alone: it does not show "
             "there who has changed places at one leaf."),
    FIELD_OF(cables_left_out, n_left,
             "Cables of hosts that stand elsewhere than the names or the ports of all others say, and of which no "
             "finding says where they belong.",
             IF(n_left)),
    FIELD(hosts_left, "Some of these hosts.", FILLED),
    GROUP(bisection, &BISECTION),
    ARRAY(boundaries, "boundary", boundary, n_boundaries, &AUDIT_BOUNDARY, "Cables between tiers."),
    ARRAY(coverage, "boundary", boundary, n_boundaries, &COVERAGE, "How much of each boundary some rule speaks of."),
    LIST(findings, "finding", findings, n_findings, &FINDING, "What is wrong, highest impact first."),
};
const fab_fields fab_audit_fields =
    TABLE("audit", AUDITS, AUDIT, .definition = "What is wrong with an installed fabric: `audit`.");

/* --- import ------------------------------------------------------------------------------------------------------- */

#undef T
#define T fab_imported
GIVES(size_t, count_boundaries, here->fabric->n_boundaries);
GIVES(const char *, boundary_name, fab_boundary_name(here->fabric->wiring, (uint32_t)at->index + 1));
GIVES(bool, has_switches, at->index < here->fabric->n_tiers);

GIVES(uint64_t, installed_fields_count_switches,
      here->fabric->first_of_tier[at->index + 2] - here->fabric->first_of_tier[at->index + 1]);
GIVES(uint64_t, radix_of, here->spec->tier[at->index].radix);

static uint64_t installed_fields_count_cables(const fab_at *at) {
    const fab_fabric *f = ((const T *)at->row)->fabric;
    FAB_SUM(uint64_t, n, c, f->n_cables, fab_class_of(f, 2 * c)->tier == at->index + 1);
    return n;
}

GIVES(double, cable_bps, fab_imported_rate(here, (uint32_t)at->index + 1));

static const fab_field IMPORT_BOUNDARIES[] = {
    TEXT_BY(boundary, boundary_name, FAB_BOUNDARY_TEXT),
    COUNT_BY(tier, fab_at_number, FAB_TIER_TEXT),
    COUNT_BY(switches, installed_fields_count_switches, "Switches of that tier.", .only = has_switches),
    COUNT_BY(radix, radix_of, "Ports of the largest of them.", .only = has_switches),
    COUNT_BY(cables, installed_fields_count_cables, "Cables of the boundary."),
    REAL_BY(cable_bps, cable_bps, "bit/s", "Rate of the cables of the boundary as installed, by those that most have."),
};
static const fab_fields IMPORT_BOUNDARY = VIEW("imported_boundary", IMPORT_BOUNDARIES, IMPORTING);

static const char *assumption(const fab_at *at, char *room) {
    char assumed[FAB_ASSUMED_MOST][FAB_ASSUMED_SIZE];
    (void)fab_imported_assumed(at->row, assumed);
    (void)snprintf(room, FAB_FIELD_ROOM, "%s", assumed[at->index]);
    return room;
}

static size_t count_assumptions(const fab_at *at) {
    char assumed[FAB_ASSUMED_MOST][FAB_ASSUMED_SIZE];
    return fab_imported_assumed(at->row, assumed);
}

static const fab_field ASSUMPTIONS[] = {
    TEXT_MADE(what, assumption, "What was assumed, and the keys that change it."),
};
static const fab_fields ASSUMPTION = VIEW("assumption", ASSUMPTIONS, IMPORTING);

#undef T
#define T fab_network_note
static const fab_field NOTES[] = {
    FIELD(line, "Line of the file."),
    FIELD_OF(what, text, "What it contradicts."),
};
static const fab_fields NOTE = TABLE("import_note", NOTES, IMPORTING);

#undef T
#define T fab_excluded
static const char *const LEFT_KINDS[FAB_EXCLUDED_N] = {
    [FAB_EXCLUDED_SERVICES] = "aggregation-nodes", [FAB_EXCLUDED_MANAGEMENT] = "management-hosts",
    [FAB_EXCLUDED_NAMELESS] = "nameless-adapters", [FAB_EXCLUDED_UNPLUGGED] = "unplugged",
    [FAB_EXCLUDED_SURPLUS] = "surplus-adapters",   [FAB_EXCLUDED_DARK] = "dark-switches"};

GIVES(const char *, left_kind, LEFT_KINDS[at->index]);
GIVES(const char *, left_text, fab_exclusion_texts[at->index]);
GIVES(bool, is_none, here->n == 0);

static const fab_field LEFT[] = {
    TEXT_BY(kind, left_kind, "What is left out.", ONE_OF(LEFT_KINDS)),
    TEXT_BY(what, left_text, "The same in words."),
    FIELD_OF(number, n, "How many."),
    FIELD_OF(first, name[0], "Name of one of them."),
};
static const fab_fields LEFT_OUT = TABLE("left_out", LEFT, IMPORTING, .is_left_out = is_none);

#undef T
#define T fab_structure
GIVES(uint64_t, count_incomplete, here->n_servers - here->n_complete);
GIVES(uint64_t, gpus_per_server, fab_at_result(at)->imported->spec->gpus_per_server);
GIVES(double, nic_bps, fab_at_result(at)->imported->spec->nic_bps);

static const fab_field NETWORKS[] = {
    FIELD_OF(servers, n_complete, "Servers with all NICs and cables."),
    COUNT_BY(incomplete_servers, count_incomplete, "Servers that lack NICs or cables; no job takes them by itself."),
    FIELD(nics_per_server, "NICs of one server."),
    COUNT_BY(gpus_per_server, gpus_per_server, "GPUs of one server."),
    REAL_BY(nic_bps, nic_bps, "bit/s", "Rate of one NIC in one direction."),
    FIELD_OF(planes, n_planes, "Parallel fabrics over which the ports of a NIC are split."),
    FIELD_OF(pods, n_pods, "Pods below the top tier."),
    FIELD_OF(networks, n_networks, "Parts that no cable joins."),
};
static const fab_fields NETWORK = VIEW("imported_network", NETWORKS, IMPORTING);

#undef T
#define T fab_imported
GIVES(const void *, network_of, here->net);
GIVES(const char *, file_format, here->net->net->format);
GIVES(const char *, file_digest, here->spec->digest);
GIVES(const char *, wiring, fab_wiring_name(here->fabric->wiring));
GIVES(bool, has_rails, here->net->shape.has_rails);
GIVES(const void *, left_of, here->net->excluded);
GIVES(size_t, count_left, FAB_EXCLUDED_N);
GIVES(const void *, notes_of, here->net->net->notes);
GIVES(size_t, count_notes, here->net->net->n_notes);

static const char *const WIRINGS[] = {"tree", "graph"};

static const fab_field IMPORT[] = {
    TEXT_BY(format, file_format, "What the file is."),
    TEXT_BY(digest, file_digest, "Digest of the content of the file."),
    GROUP_BY(network_of, &NETWORK),
    TEXT_BY(wiring, wiring, "Whether every cable between switches leads from a tier to the next.", ONE_OF(WIRINGS)),
    TRUTH_BY(rails, has_rails, "Whether each leaf serves one NIC of every server."),
    LIST_BY(boundaries, "boundary", NULL, count_boundaries, &IMPORT_BOUNDARY, "What was found by boundary."),
    LIST_BY(left_out, "left", left_of, count_left, &LEFT_OUT, "What of the file is left out."),
    LIST_BY(assumed, "assumption", NULL, count_assumptions, &ASSUMPTION,
            "What the file does not say, and the keys that change it."),
    LIST_BY(notes, "note", notes_of, count_notes, &NOTE, "What the file contradicts itself in."),
};
const fab_fields fab_import_fields =
    TABLE("import", IMPORT, IMPORTING, .definition = "What was found in a file of what is installed: `import`.");
