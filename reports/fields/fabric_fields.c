/* Fabrics: `fabric`, `cost`, `front_end`, `designs` and `growth`. */
#include "field_rows.h"
#include "field_tables.h"

#define COUNTING "0007-counting-rules.md"
#define FLOOR    "0011-floor-plan.md"
#define COST     "0013-cost-model.md"
#define GROWTH   "0015-growth-and-front-end.md"
#define LINES    "sum over the lines of quantity * unit_usd"

/* --- tiers and floor ---------------------------------------------------------------------------------------------- */

#define T fab_fabric_result

uint64_t fab_at_number(const fab_at *at) {
    return at->index + 1;
}

static size_t n_boundaries(const fab_fabric_result *f) {
    return f->counts.n_boundaries < FAB_MAX_TIERS ? (size_t)f->counts.n_boundaries : FAB_MAX_TIERS;
}

static size_t count_tiers(const fab_at *at) {
    const fab_counts *c = &((const T *)at->row)->counts;
    size_t n = n_boundaries(at->row);
    return c->tiers <= n ? n : c->tiers < FAB_MAX_TIERS ? (size_t)c->tiers : FAB_MAX_TIERS;
}

GIVES(size_t, count_boundaries, n_boundaries(here));
GIVES(bool, has_switches, at->index < here->counts.tiers);
GIVES(bool, has_tier_above, at->index + 1 < here->counts.tiers);
GIVES(bool, has_cables, at->index < n_boundaries(here));
GIVES(const char *, boundary_below, fab_boundary_name(here->counts.wiring, (uint32_t)at->index + 1));

static double cable_length(const fab_at *at) {
    const T *f = at->row;
    const fab_floor_counts *floor = &f->counts.floor;
    return floor->given ? floor->boundary[at->index].mean_m : fab_tier_length_m(&f->spec, (uint32_t)at->index + 1);
}

static const fab_field TIERS[] = {
    COUNT_BY(tier, fab_at_number, "Number of the tier and of the boundary below it; 1 is the leaf tier."),
    TEXT_BY(boundary, boundary_below, FAB_BOUNDARY_TEXT, .only = has_cables),
    COLUMN(switches, counts.switches_by_tier, [0], NULL,
           "Switches of the tier; missing where the entry is of cables alone.", .only = has_switches),
    COLUMN(ports, counts.ports_by_tier, [0], NULL, "Ports of the switches of the tier, used or not.",
           .only = has_switches),
    COLUMN(radix, spec.tier, [0].radix, NULL, "Ports of one switch before breakout.", .only = has_switches),
    COLUMN(breakout, spec.tier, [0].breakout, NULL, "Cables that one port below a switch serves.",
           .only = has_switches),
    COLUMN(port_bps, spec.tier, [0].port_bps, "bit/s", "Rate of one switch port behind its breakout.",
           .only = has_switches),
    COLUMN(cables, counts.cables_by_tier, [0], NULL, "Cables of the boundary below the tier.", .only = has_cables),
    REAL_BY(length_m, cable_length, "m", "Length of one of these cables; with a floor their mean.", .only = has_cables,
            .source = FLOOR),
    COLUMN(
        taper, spec.tier, [0].taper, NULL,
        "Taper, or oversubscription, that was asked for at the boundary above the tier; what is built is built_taper.",
        .only = has_tier_above, .formula = "down_bps / up_bps", .labels = "oversubscription|taper asked for"),
    COLUMN(built_taper, counts.built_taper, [0], NULL,
           "Oversubscription as built: capacity towards servers over capacity upwards of the fullest switch of the "
           "tier, at most the taper asked for. 1 is non-blocking, 7 offers a seventh.",
           .only = has_tier_above, .formula = "down_bps / up_bps", .labels = "oversubscription|taper as built"),
};
static const fab_fields TIER = VIEW("fabric_tier", TIERS, COUNTING);

static const fab_field FLOOR_BOUNDARIES[] = {
    TEXT_BY(boundary, boundary_below, FAB_BOUNDARY_TEXT),
    COUNT_BY(tier, fab_at_number, FAB_TIER_TEXT),
    COLUMN(cables, counts.floor.boundary, [0].cables, NULL, "Cables of the boundary."),
    COLUMN(min_length_m, counts.floor.boundary, [0].min_m, "m", "Shortest cable of the boundary on the floor plan."),
    COLUMN(mean_length_m, counts.floor.boundary, [0].mean_m, "m", "Mean length of its cables."),
    COLUMN(max_length_m, counts.floor.boundary, [0].max_m, "m", "Longest of its cables."),
    COLUMN(mean_latency_s, counts.floor.boundary, [0].mean_latency_s, "s", "Mean latency of one switch and the cable."),
};
static const fab_fields FLOOR_BOUNDARY = VIEW("floor_boundary", FLOOR_BOUNDARIES, FLOOR);

static const fab_field FLOORS[] = {
    FIELD_OF(halls, counts.floor.halls, "Halls that the racks fill."),
    FIELD_OF(rows, counts.floor.rows, "Rows of racks."),
    FIELD_OF(racks, counts.floor.racks, "Racks of servers and of switches."),
    FIELD_OF(server_racks, counts.floor.server_racks, "Racks that hold servers."),
    FIELD_OF(network_racks, counts.floor.network_racks, "Racks of switches alone."),
    FIELD_OF(servers_per_rack, counts.floor.servers_per_rack, "Most servers of one rack."),
    FIGURE_OF(server_power_w, counts.floor.server_w, "W",
              "Power of one server as the limits of racks and halls count it."),
    FIGURE_OF(rack_power_limit_w, spec.floor.rack_w, "W",
              "Most power of the servers of one rack; missing where there is no limit.", FILLED),
    FIGURE_OF(hall_power_limit_w, spec.floor.hall_w, "W",
              "Most power of the servers of one hall; missing where there is no limit.", FILLED),
    FIGURE_OF(cable_m, counts.floor.cable_m, "m", "Length of all network cables together.",
              .formula = "sum over the boundaries of cables * mean_length_m"),
    LIST_BY(boundaries, "boundary", NULL, count_boundaries, &FLOOR_BOUNDARY,
            "The cables by boundary, NIC - leaf first."),
};
static const fab_fields FLOOR_PLAN = VIEW("floor", FLOORS, FLOOR);

static const fab_field SPARES_FIELDS[] = {
    FIELD_OF(more_switches, spares.more_switches, "Switches that there are for their sake."),
    FIGURE_OF(more_usd, spares.more_usd, "USD", "What the fabric costs for their sake, NICs and cables included."),
    FIELD_OF(shared, spares.is_shared, "They hang behind leaves that give up uplinks for them."),
    FIGURE_OF(leaf_taper, spares.leaf_taper, NULL, "Oversubscription of the fullest leaf, with spares."),
    FIELD_OF(full_switches, spares.full_switches,
             "Switches of the fabric with the uplinks of the taper for spares too."),
    FIGURE_OF(full_usd, spares.full_usd, "USD", "What that fabric costs more than this one."),
};
static const fab_fields SPARES = VIEW("spares", SPARES_FIELDS, "0007-counting-rules.md");

#define SAVED_FIELDS(of)                                                                                               \
    FIELD_OF(fewer_switches, of.fewer_switches, "Switches that it has less than this one."),                           \
        FIGURE_OF(saved_usd, of.saved_usd, "USD", "What it costs less, NICs and cables included."),                    \
        FIELD_OF(saved_ratio, of.saved_ratio, "Part of the dollars per GPU that it saves.")

static const fab_field NEAR_SIZES[] = {FIELD_OF(gpus, near_size.n, "GPUs of that fabric."), SAVED_FIELDS(near_size)};
static const fab_fields NEAR_SIZE = VIEW("near_size", NEAR_SIZES, "0114-sizes-that-divide.md");

static const fab_field NEAR_RAILS_FIELDS[] = {
    FIELD_OF(rails_per_switch, near_rails.n, "Rails that share a network in it."), SAVED_FIELDS(near_rails)};
static const fab_fields NEAR_RAILS = VIEW("near_rails", NEAR_RAILS_FIELDS, "0114-sizes-that-divide.md");

/* --- the fabric --------------------------------------------------------------------------------------------------- */

GIVES(uint64_t, count_cable_ends, 2 * here->counts.cables);

static bool is_front_end(const fab_at *at) {
    const fab_result *result = fab_at_result(at);
    FAB_ANY(found, i, result->n_fabrics, result->fabrics[i].front_end == at->row);
    return found;
}

/* Without a graph there may have been nothing to cut, and one server has no halves. */
GIVES(bool, has_bisection,
      !isnan(here->bisection_ratio) &&
          (fab_at_result(at)->graph != NULL || here->bisection_bps > 0 || is_front_end(at)));
GIVES(bool, has_scaleup_bisection,
      here->counts.domains > 0 && (here->scaleup_bisection_bps > 0 || here->bisection_bps > 0));

static const fab_field FABRICS[] = {
    FIELD(family, "Topology family."),
    FIELD_OF(gpus, counts.gpus, "GPUs."),
    FIELD_OF(servers, counts.servers, "Servers, spares among them."),
    FIELD_OF(incomplete_servers, counts.cut_servers,
             "Servers that lack NICs or cables; neither half of the bisection has them.", FILLED),
    FIELD_OF(nics, counts.nics, "NICs."),
    FIELD_OF(domains, counts.domains, "Scale-up domains."),
    FIELD_OF(rails, counts.rails, "Rails: NIC indexes within a scale-up domain."),
    FIELD_OF(planes, counts.planes, "Parallel fabrics over which the ports of a NIC are split."),
    FIELD_OF(pods, counts.pods, "Pods below the top tier."),
    FIELD_OF(switches, counts.switches, "Switches of all tiers."),
    FIELD_OF(cables, counts.cables, "Network cables: between NICs and switches and between switches."),
    FIELD_OF(ports, counts.ports, "Switch ports, used or not."),
    COUNT_BY(transceivers, count_cable_ends, "Ends of all network cables, whatever medium the price book chooses."),
    FIGURE(bisection_bps, "bit/s",
           "Minimum cut over network links, one direction, between the NICs of the first and of the second half of the "
           "servers in topological order. What no routing gets around.",
           .only = has_bisection, .formula = "max-flow(NICs of servers 0 ... n/2 - 1, NICs of the others)",
           .labels = "bisection|bisection bandwidth"),
    FIELD(bisection_ratio,
          "Part of full bisection that any traffic may count on: leaves with servers of both halves make the cut "
          "larger than what tapers and slower ports let through.",
          .only = has_bisection,
          .formula = "min(bisection_bps / (n/2 servers * NICs * nic_bps), of every tier: NIC port rate / nic_bps * "
                     "product of 1 / built_taper below)",
          .labels = "full bisection"),
    FIGURE(scaleup_bisection_bps, "bit/s",
           "Half of the GPUs of every scale-up domain at the scale-up rate, one direction, summed over the domains.",
           .only = has_scaleup_bisection, .formula = "sum over domains of floor(GPUs / 2) * domain_bps"),
    FIELD_OF(gpus_per_server, spec.gpus_per_server, "GPUs of one server."),
    FIELD_OF(nics_per_server, spec.nics_per_server, "NICs of one server."),
    FIELD_OF(gpus_per_domain, spec.domain, "GPUs of one scale-up domain."),
    FIELD_OF(spare_servers, spec.spares, "Servers that no job takes by itself."),
    FIGURE_OF(nic_bps, spec.nic_bps, "bit/s", "Rate of one NIC in one direction."),
    FIGURE_OF(domain_bps, spec.domain_bps, "bit/s", "Rate of one GPU into its scale-up domain, in one direction."),
    LIST_BY(tiers, "tier", NULL, count_tiers, &TIER,
            "Switch tiers, leaf first, each with the cables below it; where direct cables between switches make more "
            "boundaries than tiers, these follow."),
    SAME_ROW(floor, &FLOOR_PLAN, "Floor plan; missing where cables have the lengths of their tiers.",
             IF(counts.floor.given)),
    SAME_ROW(spares, &SPARES, "What spare servers take beside themselves; missing where that is nothing.",
             IF(spares.is_told)),
    SAME_ROW(near_size, &NEAR_SIZE,
             "A number of GPUs, at most 5 % away, whose network costs less, and 5 % or more less per GPU; missing "
             "where there is none.",
             IF(near_size.n)),
    SAME_ROW(near_rails, &NEAR_RAILS,
             "Rails that share a network with which this costs 5 % less or more; missing where that is not so.",
             IF(near_rails.n)),
};
const fab_fields fab_fabric_fields = TABLE("fabric", FABRICS, COUNTING);

/* --- cost --------------------------------------------------------------------------------------------------------- */

#undef T
#define T fab_cost_line
static const char *const PARTS[FAB_PART_N] = {[FAB_PART_SWITCH] = "switch",
                                              [FAB_PART_TRANSCEIVER] = "transceiver",
                                              [FAB_PART_CABLE] = "cable",
                                              [FAB_PART_NIC] = "nic",
                                              [FAB_PART_INSTALLATION] = "installation"};

GIVES(bool, is_cable, here->kind == FAB_PART_CABLE);

static const fab_field COST_LINES[] = {
    NAMED(kind, kind, PARTS, "What the part is."),
    FIELD(part, "Name of the part."),
    FIELD(tier, "Where it stands: leaf, leaf-spine, ...", FILLED),
    FIELD(medium, "Of a cable DAC, AOC, ...; of a transceiver its type.", FILLED),
    FIGURE(rate_bps, "bit/s", "Rate of a port, of a port of a module, of a cable or a NIC.", FILLED),
    FIGURE(length_m, "m", "Length of one cable.", .only = is_cable),
    FIELD(quantity, "Number of these parts."),
    FIGURE(unit_usd, "USD", "Price of one of them."),
    FIGURE(total_usd, "USD", "Price of all of them."),
    FIGURE(power_w, "W", "Power of all of them."),
};
static const fab_fields COST_LINE = TABLE("cost_line", COST_LINES, COST);

#undef T
#define T fab_cost
static const char *const CONVENTIONS[] = {"per-link-end", "switch-links", "per-cable", "twin-port"};

static const fab_field COSTS[] = {
    FIELD(profile, "Name of the price book."),
    FIELD(convention, "How cables and transceivers are counted.", FILLED, ONE_OF(CONVENTIONS)),
    FIELD(counting, "The convention as a sentence.", FILLED),
    FIELD(source, "Where the prices come from.", FILLED),
    FIELD(transceivers, "Modules in the bill of materials; a twin-port module counts once."),
    FIGURE(total_usd, "USD", "Price of the network: switches, transceivers, cables, NICs and installation.",
           .formula = LINES, .labels = "cost|capital"),
    FIGURE(switch_usd, "USD", "Price of all switches.", .formula = LINES),
    FIGURE(transceiver_usd, "USD", "Price of all transceivers that the convention of the price book counts.",
           .formula = LINES),
    FIGURE(cable_usd, "USD", "Price of all cables, by medium and length.", .formula = LINES),
    FIGURE(nic_usd, "USD", "Price of all NICs.", .formula = LINES),
    FIGURE(installation_usd, "USD", "Price of installation, where the price book has one."),
    FIGURE(per_gpu_usd, "USD", "Network price of one GPU.", .formula = "total_usd / gpus"),
    FIGURE(per_bisection_gbps_usd, "USD per Gb/s", "Price of one Gb/s of bisection.", FILLED,
           .formula = "total_usd / (bisection_bps / 1e9)"),
    FIGURE(capital_usd_per_year, "USD/year", "Price spread evenly over the years of the price book.",
           .formula = "total_usd / years"),
    FIGURE(power_w, "W", "Power of all network parts at the figures of the price book.",
           .formula = "sum over the lines of quantity * unit power", .labels = "power"),
    FIGURE(energy_usd_per_year, "USD/year", "Electricity of the network, cooling included by the book's PUE.",
           .formula = "power_w / 1000 * 8760 h * PUE * USD per kWh", .labels = "energy"),
    ARRAY(lines, "line", lines, n_lines, &COST_LINE, "Bill of materials."),
};
const fab_fields fab_cost_fields = TABLE("cost", COSTS, COST);

/* --- front-end, designs, growth ----------------------------------------------------------------------------------- */

const void *fab_priced(const fab_fabric_result *fabric) {
    return fabric->cost.profile[0] != '\0' ? &fabric->cost : NULL;
}

#undef T
#define T fab_fabric_result
GIVES(const void *, cost_of_design, fab_priced(here));

static const fab_field FRONT_ENDS[] = {
    FIELD_OF(storage_servers, spec.storage, "Storage servers that it connects."),
    SAME_ROW(fabric, &fab_fabric_fields, "Its fabric; its GPUs are hosts: servers and storage servers."),
    OBJECT_BY(cost, cost_of_design, &fab_cost_fields, "What it costs."),
};
const fab_fields fab_front_end_fields = TABLE("front_end", FRONT_ENDS, GROWTH);

static const fab_field DESIGNS[] = {
    FIELD(name, "Name of the design, or its one-line form."),
    FIELD_OF(design_digest, digest, "Digest of the design."),
    FIELD(source, "Where the figures of the design come from.", FILLED),
    FIELD(reduction_ratio, "Part of the price of the first design that this one saves; below 0 where it costs more.",
          SIGNED, .high = 1, .formula = "1 - total_usd / total_usd of the first design"),
    SAME_ROW(fabric, &fab_fabric_fields, "Its fabric."),
    OBJECT_BY(cost, cost_of_design, &fab_cost_fields, "What it costs."),
    POINTED(front_end, front_end, &fab_front_end_fields, "Its network for storage and data."),
};
const fab_fields fab_design_fields = TABLE("design", DESIGNS, COST);

#undef T
#define T fab_growth_part
static const fab_field GROWTH_PARTS[] = {
    FIELD(part, "Name of the part."),
    FIELD(tier, "Where it stands.", FILLED),
    FIELD(bought, "Parts that the step adds."),
    FIELD(retired, "Parts that the step leaves over."),
    FIGURE(bought_usd, "USD", "Price of those that are bought."),
};
static const fab_fields GROWTH_PART = TABLE("growth_part", GROWTH_PARTS, GROWTH);

#undef T
#define T fab_growth_step
static const fab_field GROWTH_STEPS[] = {
    FIELD(gpus, "GPUs after the step."),
    FIELD(switches, "Switches after the step."),
    FIELD(cables, "Network cables after the step."),
    FIGURE(total_usd, "USD", "Price of all that stands after the step."),
    FIGURE(bought_usd, "USD", "Price of what the step adds to what stands already."),
    FIELD(bisection_ratio, "Part of full bisection that any traffic may count on; missing of one server.", KNOWN),
    FIELD(free_ports, "Switch ports without a cable until the fabric grows into them."),
    FIELD(cables_moved, "Cables that stand already and must be plugged elsewhere in this step."),
    LIST(parts, "part", parts, n_parts, &GROWTH_PART, "Parts whose number changes."),
};
const fab_fields fab_growth_fields = TABLE("growth_step", GROWTH_STEPS, GROWTH);
