/* Bill of materials from counts and a price book. */
#include "fab/prices.h"
#include "fab/analysis.h"
#include "fab/units.h"

typedef struct bill {
    const fab_fabric_spec *spec;
    const fab_counts *counts;
    const fab_prices *prices;
    const fab_count_rule *rule;
    fab_cost *cost;
} bill;

/* A line by what makes it a line of its own; its part is named by the caller. There is room: see FAB_MAX_COST_LINES. */
static fab_cost_line *add_line(bill *b, fab_part kind, const char *tier, uint64_t quantity, fab_price each) {
    fab_cost_line *line = &b->cost->lines[b->cost->n_lines++];
    *line = (fab_cost_line){.kind = kind,
                            .quantity = quantity,
                            .unit_usd = each.usd,
                            .total_usd = (double)quantity * each.usd,
                            .power_w = (double)quantity * each.power_w};
    FAB_FORMAT(line->tier, "%s", tier);
    return line;
}

/* --- NICs and switches -------------------------------------------------------------------------------------------- */

static fab_status add_nics(bill *b, fab_error *err) {
    fab_price each = {0, 0};
    if (b->counts->nics == 0) {
        return FAB_OK;
    }
    FAB_PASS(fab_prices_nic(b->prices, b->spec->nic_bps, &each, err));
    fab_cost_line *line = add_line(b, FAB_PART_NIC, "server", b->counts->nics, each);
    line->rate_bps = b->spec->nic_bps;
    b->cost->nic_each_usd = each.usd;
    FAB_FORMAT(line->part, "NIC %s", FAB_SAY(line->rate_bps, FAB_UNIT_RATE));
    return FAB_OK;
}

static fab_status add_switches(bill *b, uint32_t t, fab_error *err) {
    const fab_tier_spec *tier = &b->spec->tier[t - 1];
    uint64_t n = b->counts->switches_by_tier[t - 1];
    fab_price each = {0, 0};
    if (n == 0) {
        return FAB_OK;
    }
    double ports = (double)b->counts->ports_by_tier[t - 1] / (double)n;
    double access_bps = b->spec->nic_bps / (double)b->spec->planes;
    double rate_bps = tier->port_bps > 0 ? tier->port_bps : access_bps * (double)tier->breakout;
    FAB_PASS(fab_prices_switch(b->prices, ports, rate_bps, &each, err));
    fab_cost_line *line = add_line(b, FAB_PART_SWITCH, fab_tier_name(b->counts->wiring, t), n, each);
    line->rate_bps = rate_bps;
    b->cost->switch_each_usd[t - 1] = each.usd;
    FAB_FORMAT(line->part, "switch %.6gx%s", ports, FAB_SAY(rate_bps, FAB_UNIT_RATE));
    return FAB_OK;
}

/* --- cables ------------------------------------------------------------------------------------------------------- */

/* Cables of one boundary may differ in length and share their transceivers' line. */
static void add_modules(bill *b, const fab_cable_kind *kind, const fab_price_module *module, fab_price each,
                        uint64_t quantity) {
    const char *boundary = fab_boundary_name(b->counts->wiring, kind->tier);
    char part[FAB_NAME_SIZE];
    if (module == NULL || quantity == 0) {
        return;
    }
    FAB_FORMAT(part, "transceiver %s%s", module->ports == 2 ? "2x" : "", FAB_SAY(kind->rate_bps, FAB_UNIT_RATE));
    b->cost->transceivers += quantity;
    b->cost->cable_each_usd[kind - b->counts->kinds] += (double)quantity * each.usd / (double)kind->count;
    FAB_EACH(fab_cost_line, line, b->cost->lines, b->cost->n_lines) {
        if (line->kind == FAB_PART_TRANSCEIVER && line->rate_bps == kind->rate_bps && line->unit_usd == each.usd &&
            strcmp(line->part, part) == 0 && strcmp(line->tier, boundary) == 0 &&
            strcmp(line->medium, module->name) == 0) {
            line->quantity += quantity;
            line->total_usd = (double)line->quantity * each.usd;
            line->power_w = (double)line->quantity * each.power_w;
            return;
        }
    }
    fab_cost_line *line = add_line(b, FAB_PART_TRANSCEIVER, boundary, quantity, each);
    line->rate_bps = kind->rate_bps;
    FAB_FORMAT(line->part, "%s", part);
    FAB_FORMAT(line->medium, "%s", module->name);
}

/* Links inside a box have no length: no cable, no modules. */
static bool is_cable(const fab_cable_kind *kind) {
    return kind->length_m > 0;
}

/* Boundary 1 has a NIC at one end; every other end is at a switch. */
static void add_transceivers(bill *b, const fab_cable_kind *kind, const fab_link_price *link) {
    bool to_nic = kind->tier == 1;
    uint64_t at_nics = to_nic ? kind->count : 0;
    uint64_t at_switches = (b->rule->ends - (to_nic ? 1 : 0)) * kind->count;
    if (b->rule->twin_port && link->twin_port != NULL) {
        uint64_t per_end = kind->count / 2 + kind->count % 2;
        add_modules(b, kind, link->module, link->module_price, at_nics);
        add_modules(b, kind, link->twin_port, link->twin_port_price, (to_nic ? 1U : 2U) * per_end);
    } else {
        add_modules(b, kind, link->module, link->module_price, at_nics + at_switches);
    }
}

static fab_status add_boundary(bill *b, uint32_t t, fab_error *err) {
    fab_link_price link = {0};
    bool counted = t > 1 || b->rule->nic_cables;
    uint64_t n_cables = 0;
    FAB_EACH(const fab_cable_kind, kind, b->counts->kinds, b->counts->n_kinds) {
        if (kind->tier == t && counted && is_cable(kind)) {
            FAB_PASS(fab_prices_link(b->prices, kind->rate_bps, kind->length_m, &link, err));
            add_transceivers(b, kind, &link);
        }
    }
    for (size_t i = 0; i < b->counts->n_kinds; i++) {
        const fab_cable_kind *kind = &b->counts->kinds[i];
        if (kind->tier != t) {
            continue;
        }
        link = (fab_link_price){0}; /* what is not counted costs nothing, and has no medium */
        if (counted && is_cable(kind)) {
            FAB_PASS(fab_prices_link(b->prices, kind->rate_bps, kind->length_m, &link, err));
        }
        fab_cost_line *line =
            add_line(b, FAB_PART_CABLE, fab_boundary_name(b->counts->wiring, t), kind->count, link.cable);
        line->rate_bps = kind->rate_bps;
        line->length_m = kind->length_m;
        b->cost->cable_each_usd[i] += link.cable.usd;
        FAB_FORMAT(line->medium, "%s", link.medium != NULL ? link.medium : "");
        FAB_FORMAT(line->part, is_cable(kind) ? "cable %s %.6g m" : "link %s inside a switch",
                   FAB_SAY(kind->rate_bps, FAB_UNIT_RATE), kind->length_m);
        n_cables += kind->count;
    }
    FAB_REFUSE_IF(n_cables != b->counts->cables_by_tier[t - 1], err, FAB_EINTERNAL,
                  fab_boundary_name(b->counts->wiring, t), "%" PRIu64 " cables by kind, %" PRIu64 " counted", n_cables,
                  b->counts->cables_by_tier[t - 1]);
    return FAB_OK;
}

/* --- sums --------------------------------------------------------------------------------------------------------- */

static void add_installation(bill *b) {
    FAB_SUM(uint64_t, n_cables, i, b->counts->n_kinds, is_cable(&b->counts->kinds[i]) ? b->counts->kinds[i].count : 0);
    const struct {
        const char *part;
        uint64_t quantity;
        double usd;
    } rows[] = {{"installation of switches", b->counts->switches, b->prices->install_usd_per_switch},
                {"installation of cables", n_cables, b->prices->install_usd_per_cable}};
    for (size_t i = 0; i < 2; i++) {
        if (rows[i].quantity > 0 && rows[i].usd > 0) {
            fab_cost_line *line = add_line(b, FAB_PART_INSTALLATION, "", rows[i].quantity, (fab_price){rows[i].usd, 0});
            FAB_FORMAT(line->part, "%s", rows[i].part);
        }
    }
    for (size_t t = 0; t < FAB_MAX_TIERS; t++) {
        b->cost->switch_each_usd[t] += b->counts->switches_by_tier[t] > 0 ? b->prices->install_usd_per_switch : 0;
    }
    for (size_t i = 0; i < b->counts->n_kinds; i++) {
        b->cost->cable_each_usd[i] += is_cable(&b->counts->kinds[i]) ? b->prices->install_usd_per_cable : 0;
    }
}

/* The totals are those of the lines, so that a bill always adds up. */
static void cost_add_up(bill *b) {
    fab_cost *cost = b->cost;
    double *const of_kind[FAB_PART_N] = {[FAB_PART_SWITCH] = &cost->switch_usd,
                                         [FAB_PART_TRANSCEIVER] = &cost->transceiver_usd,
                                         [FAB_PART_CABLE] = &cost->cable_usd,
                                         [FAB_PART_NIC] = &cost->nic_usd,
                                         [FAB_PART_INSTALLATION] = &cost->installation_usd};
    for (size_t i = 0; i < cost->n_lines; i++) {
        *of_kind[cost->lines[i].kind] += cost->lines[i].total_usd;
        cost->power_w += cost->lines[i].power_w;
    }
    for (size_t kind = 0; kind < FAB_PART_N; kind++) {
        cost->total_usd += *of_kind[kind];
    }
    cost->per_gpu_usd = b->counts->gpus > 0 ? cost->total_usd / (double)b->counts->gpus : 0;
    cost->capital_usd_per_year = cost->total_usd / b->prices->years;
    cost->energy_usd_per_year = cost->power_w / 1e3 * 24 * 365 * b->prices->pue * b->prices->usd_per_kwh;
}

void fab_cost_set_bisection(fab_cost *cost, double bisection_bps) {
    cost->per_bisection_gbps_usd = bisection_bps > 0 ? cost->total_usd / (bisection_bps / 1e9) : 0;
}

fab_status fab_cost_of(const fab_fabric_spec *spec, const fab_counts *counts, const fab_prices *prices, fab_cost *out,
                       fab_error *err) {
    FAB_OWNED_NEW(fab_cost, cost, 1, err);
    bill b = {spec, counts, prices, &fab_count_rules[prices->convention], cost};
    FAB_REFUSE_IF(counts->n_boundaries > FAB_MAX_TIERS || counts->tiers > counts->n_boundaries ||
                      counts->n_kinds > FAB_MAX_CABLE_KINDS,
                  err, FAB_EINTERNAL, NULL,
                  "%" PRIu64 " tiers, %" PRIu64 " boundaries, %zu kinds of cables; at most %d", counts->tiers,
                  counts->n_boundaries, counts->n_kinds, FAB_MAX_TIERS);
    FAB_FORMAT(cost->profile, "%s", prices->name);
    FAB_FORMAT(cost->convention, "%s", b.rule->name);
    FAB_FORMAT(cost->counting, "%s", b.rule->summary);
    FAB_FORMAT(cost->source, "%s", prices->source);
    FAB_PASS(add_nics(&b, err));
    for (uint32_t t = 1; t <= counts->n_boundaries; t++) {
        FAB_PASS(t <= counts->tiers ? add_switches(&b, t, err) : FAB_OK);
        FAB_PASS(add_boundary(&b, t, err));
    }
    add_installation(&b);
    cost_add_up(&b);
    memcpy(out, cost, offsetof(fab_cost, lines) + cost->n_lines * sizeof cost->lines[0]);
    return FAB_OK;
}
