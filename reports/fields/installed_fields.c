/* Installed networks: `audit` and `import`. */
#include "fab/audit.h"
#include "fab/imported.h"
#include "field_rows.h"
#include "field_tables.h"

#define AUDIT     "0040-audit.md"
#define IMPORTING "0041-import.md"

/* --- audit -------------------------------------------------------------------------------------------------------- */

#define T fab_finding
static const fab_field FINDINGS[] = {
    NAMED(finding, kind, fab_finding_kinds, "What kind of departure it is."),
    FIGURE(damage_bps, damage_bps, "bit/s",
           "Capacity that is lost, on the wrong rail, or lost with one failure more; findings are sorted by it.",
           .formula = "sum over the cables of the finding", .labels = "damage|impact"),
    FIELD(cables, cables, "Cables to be plugged, moved or looked at."),
    FIELD(node, node, "Where to walk to.", .when = FAB_FILLED),
    FIELD(port, port, "Port of that node.", .when = FAB_FILLED),
    FIELD(other_node, other, "Where the other end is, or belongs.", .when = FAB_FILLED),
    FIELD(other_port, other_port, "Port of that node.", .when = FAB_FILLED),
    FIELD(line, line, "Line of the file.", .when = FAB_FILLED),
    FIELD(what, text, "What is wrong."),
    FIELD(work, work, "What to do."),
    END_OF_FIELDS,
};
static const fab_fields FINDING = {.name = "finding", .rows = FINDINGS, .size = sizeof(T), .source = AUDIT};

#undef T
#define T fab_audit_boundary
static const char *audited_boundary(const fab_at *at, char *room) {
    (void)room;
    return fab_boundary_name(FAB_WIRING_TREE, ((const T *)at->row)->tier);
}

static const fab_field AUDIT_BOUNDARIES[] = {
    TEXT_BY(boundary, audited_boundary, FAB_BOUNDARY_TEXT),
    FIELD(tier, tier, FAB_TIER_TEXT),
    FIELD(planned_cables, planned, "Cables of the boundary that the structure, or the plan, asks for."),
    FIELD(present_cables, present, "Cables of the boundary that are plugged where they belong."),
    END_OF_FIELDS,
};
static const fab_fields AUDIT_BOUNDARY = {
    .name = "audited_boundary", .rows = AUDIT_BOUNDARIES, .size = sizeof(T), .source = AUDIT};

#undef T
#define T fab_audit_bisection
static bool knows_both(const fab_at *at) {
    const T *b = at->row;
    return b->is_known && b->knows_planned;
}

static double lost_bps(const fab_at *at) {
    return fab_audit_bisection_lost(at->row);
}

static double lost_ratio(const fab_at *at) {
    const T *b = at->row;
    return b->planned_bps > 0 ? fab_audit_bisection_lost(b) / b->planned_bps : 0;
}

static const fab_field BISECTIONS[] = {
    FIGURE(bisection_bps, present_bps, "bit/s", "Minimum cut between the halves of the servers as it stands.",
           IF(is_known), .labels = "bisection"),
    FIGURE(planned_bisection_bps, planned_bps, "bit/s",
           "Bisection of what is installed with all missing cables and absent switches in place, or of the plan.",
           IF(knows_planned)),
    REAL_BY(lost_bisection_bps, lost_bps, "bit/s", "Bisection that the findings cost; below 0 where more is installed.",
            .only = knows_both, .is_signed = true, .formula = "planned_bisection_bps - bisection_bps"),
    REAL_BY(lost_bisection_ratio, lost_ratio, NULL, "Part of the planned bisection that is lost.", .only = knows_both,
            .is_signed = true, .formula = "lost_bisection_bps / planned_bisection_bps"),
    FIELD(bisection_unknown, why, "Why one of the figures is not there.", .when = FAB_FILLED),
    END_OF_FIELDS,
};
static const fab_fields BISECTION = {.name = "audited_bisection", .rows = BISECTIONS, .source = AUDIT};

#undef T
#define T fab_audit
static const fab_field AUDITS[] = {
    FIELD(hosts, n_servers, "Hosts that are known by name."),
    FIELD(adapters, n_hosts, "Network adapters."),
    FIELD(switches, n_switches, "Switches."),
    FIELD(aggregation_nodes, n_services, "Aggregation nodes inside switches; they are no hosts."),
    FIELD(rails, has_rails, "Whether each leaf serves one adapter of every host."),
    GROUP(bisection, &BISECTION),
    ARRAY(boundaries, "boundary", boundary, n_boundaries, &AUDIT_BOUNDARY, "Cables between tiers."),
    LIST(findings, "finding", findings, n_findings, &FINDING, "What is wrong, most damage first."),
    END_OF_FIELDS,
};
const fab_fields fab_audit_fields = {.name = "audit",
                                     .rows = AUDITS,
                                     .size = sizeof(T),
                                     .source = AUDIT,
                                     .definition = "What is wrong with an installed fabric: `audit`."};

/* --- import ------------------------------------------------------------------------------------------------------- */

#undef T
#define T fab_imported
static size_t count_boundaries(const fab_at *at) {
    return ((const T *)at->row)->fabric->n_boundaries;
}

static const char *boundary_name(const fab_at *at, char *room) {
    (void)room;
    return fab_boundary_name(((const T *)at->row)->fabric->wiring, (uint32_t)at->index + 1);
}

static bool has_switches(const fab_at *at) {
    return at->index < ((const T *)at->row)->fabric->n_tiers;
}

static uint64_t count_switches(const fab_at *at) {
    const uint32_t *first = &((const T *)at->row)->fabric->first_of_tier[at->index + 1];
    return first[1] - first[0];
}

static uint64_t radix_of(const fab_at *at) {
    return ((const T *)at->row)->spec->tier[at->index].radix;
}

static uint64_t count_cables(const fab_at *at) {
    const fab_fabric *f = ((const T *)at->row)->fabric;
    uint64_t n = 0;
    for (uint32_t c = 0; c < f->n_cables; c++) {
        n += fab_class_of(f, 2 * c)->tier == at->index + 1;
    }
    return n;
}

static double cable_bps(const fab_at *at) {
    return fab_imported_rate(at->row, (uint32_t)at->index + 1);
}

static const fab_field IMPORT_BOUNDARIES[] = {
    TEXT_BY(boundary, boundary_name, FAB_BOUNDARY_TEXT),
    COUNT_BY(tier, fab_at_number, FAB_TIER_TEXT),
    COUNT_BY(switches, count_switches, "Switches of that tier.", .only = has_switches),
    COUNT_BY(radix, radix_of, "Ports of the largest of them.", .only = has_switches),
    COUNT_BY(cables, count_cables, "Cables of the boundary."),
    REAL_BY(cable_bps, cable_bps, "bit/s", "Rate of the cables of the boundary as installed, by those that most have."),
    END_OF_FIELDS,
};
static const fab_fields IMPORT_BOUNDARY = {.name = "imported_boundary", .rows = IMPORT_BOUNDARIES, .source = IMPORTING};

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
    TEXT_BY(what, assumption, "What was assumed, and the keys that change it."),
    END_OF_FIELDS,
};
static const fab_fields ASSUMPTION = {.name = "assumption", .rows = ASSUMPTIONS, .source = IMPORTING};

#undef T
#define T fab_site_note
static const fab_field NOTES[] = {
    FIELD(line, line, "Line of the file."),
    FIELD(what, text, "What it contradicts."),
    END_OF_FIELDS,
};
static const fab_fields NOTE = {.name = "import_note", .rows = NOTES, .size = sizeof(T), .source = IMPORTING};

#undef T
#define T fab_left
static const char *const LEFT_KINDS[FAB_LEFT_N] = {
    [FAB_LEFT_SERVICES] = "aggregation-nodes", [FAB_LEFT_MANAGEMENT] = "management-hosts",
    [FAB_LEFT_NAMELESS] = "nameless-adapters", [FAB_LEFT_UNPLUGGED] = "unplugged",
    [FAB_LEFT_SURPLUS] = "surplus-adapters",   [FAB_LEFT_DARK] = "dark-switches"};

static const char *left_kind(const fab_at *at, char *room) {
    (void)room;
    return LEFT_KINDS[at->index];
}

static const char *left_text(const fab_at *at, char *room) {
    (void)room;
    return fab_left_out_texts[at->index];
}

static bool is_none(const fab_at *at) {
    return ((const T *)at->row)->n == 0;
}

static const fab_field LEFT[] = {
    TEXT_BY(kind, left_kind, "What is left out.", ONE_OF(LEFT_KINDS)),
    TEXT_BY(what, left_text, "The same in words."),
    FIELD(number, n, "How many."),
    FIELD(first, name[0], "Name of one of them."),
    END_OF_FIELDS,
};
static const fab_fields LEFT_OUT = {
    .name = "left_out", .rows = LEFT, .size = sizeof(T), .source = IMPORTING, .is_left_out = is_none};

#undef T
#define T fab_installed
static uint64_t count_incomplete(const fab_at *at) {
    const T *site = at->row;
    return site->n_servers - site->n_whole;
}

static uint64_t gpus_per_server(const fab_at *at) {
    return fab_at_result(at)->imported->spec->gpus_per_server;
}

static double nic_bps(const fab_at *at) {
    return fab_at_result(at)->imported->spec->nic_bps;
}

static const fab_field SITES[] = {
    FIELD(servers, n_whole, "Servers with all NICs and cables."),
    COUNT_BY(incomplete_servers, count_incomplete, "Servers that lack NICs or cables; no job takes them by itself."),
    FIELD(nics_per_server, nics_per_server, "NICs of one server."),
    COUNT_BY(gpus_per_server, gpus_per_server, "GPUs of one server."),
    REAL_BY(nic_bps, nic_bps, "bit/s", "Rate of one NIC in one direction."),
    FIELD(planes, n_planes, "Parallel fabrics over which the ports of a NIC are split."),
    FIELD(pods, n_pods, "Pods below the top tier."),
    FIELD(networks, n_networks, "Parts that no cable joins."),
    END_OF_FIELDS,
};
static const fab_fields SITE = {.name = "imported_site", .rows = SITES, .source = IMPORTING};

#undef T
#define T fab_imported
static const void *site_of(const fab_at *at) {
    return ((const T *)at->row)->site;
}

static const char *file_format(const fab_at *at, char *room) {
    (void)room;
    return ((const T *)at->row)->site->site->format;
}

static const char *file_digest(const fab_at *at, char *room) {
    (void)room;
    return ((const T *)at->row)->spec->digest;
}

static const char *wiring(const fab_at *at, char *room) {
    (void)room;
    return fab_wiring_name(((const T *)at->row)->fabric->wiring);
}

static bool has_rails(const fab_at *at) {
    return ((const T *)at->row)->site->shape.has_rails;
}

static const void *left_of(const fab_at *at) {
    return ((const T *)at->row)->site->left;
}

static size_t count_left(const fab_at *at) {
    (void)at;
    return FAB_LEFT_N;
}

static const void *notes_of(const fab_at *at) {
    return ((const T *)at->row)->site->site->notes;
}

static size_t count_notes(const fab_at *at) {
    return ((const T *)at->row)->site->site->n_notes;
}

static const char *const WIRINGS[] = {"tree", "graph"};

static const fab_field IMPORT[] = {
    TEXT_BY(format, file_format, "What the file is."),
    TEXT_BY(digest, file_digest, "Digest of the content of the file."),
    {.type = FAB_FIELD_GROUP, .get.rows = site_of, .table = &SITE},
    TEXT_BY(wiring, wiring, "Whether every cable between switches leads from a tier to the next.", ONE_OF(WIRINGS)),
    TRUTH_BY(rails, has_rails, "Whether each leaf serves one NIC of every server."),
    LIST_BY(boundaries, "boundary", NULL, count_boundaries, &IMPORT_BOUNDARY, "What was found by boundary."),
    LIST_BY(left_out, "left", left_of, count_left, &LEFT_OUT, "What of the file is left out."),
    LIST_BY(assumed, "assumption", NULL, count_assumptions, &ASSUMPTION,
            "What the file does not say, and the keys that change it."),
    LIST_BY(notes, "note", notes_of, count_notes, &NOTE, "What the file contradicts itself in."),
    END_OF_FIELDS,
};
const fab_fields fab_import_fields = {.name = "import",
                                      .rows = IMPORT,
                                      .size = sizeof(T),
                                      .source = IMPORTING,
                                      .definition = "What was found in a file of what is installed: `import`."};
