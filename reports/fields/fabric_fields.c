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

static size_t count_boundaries(const fab_at *at) {
    return n_boundaries(at->row);
}

static bool has_switches(const fab_at *at) {
    return at->index < ((const T *)at->row)->counts.tiers;
}

static bool has_tier_above(const fab_at *at) {
    return at->index + 1 < ((const T *)at->row)->counts.tiers;
}

static bool has_cables(const fab_at *at) {
    return at->index < n_boundaries(at->row);
}

static const char *boundary_below(const fab_at *at, char *room) {
    (void)room;
    return fab_boundary_name(((const T *)at->row)->counts.wiring, (uint32_t)at->index + 1);
}

static double cable_length(const fab_at *at) {
    const T *f = at->row;
    const fab_floor_counts *floor = &f->counts.floor;
    return floor->given ? floor->boundary[at->index].mean_m : f->spec.tier[at->index].length_m;
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
           "tier, at "
           "most the taper asked for. 1 is non-blocking, 7 offers a seventh.",
           .only = has_tier_above, .formula = "down_bps / up_bps", .labels = "oversubscription|taper as built"),
    END_OF_FIELDS,
};
static const fab_fields TIER = {.name = "fabric_tier", .rows = TIERS, .source = COUNTING};

static const fab_field FLOOR_BOUNDARIES[] = {
    TEXT_BY(boundary, boundary_below, FAB_BOUNDARY_TEXT),
    COUNT_BY(tier, fab_at_number, FAB_TIER_TEXT),
    COLUMN(cables, counts.floor.boundary, [0].cables, NULL, "Cables of the boundary."),
    COLUMN(min_length_m, counts.floor.boundary, [0].min_m, "m", "Shortest cable of the boundary on the floor plan."),
    COLUMN(mean_length_m, counts.floor.boundary, [0].mean_m, "m", "Mean length of its cables."),
    COLUMN(max_length_m, counts.floor.boundary, [0].max_m, "m", "Longest of its cables."),
    COLUMN(mean_latency_s, counts.floor.boundary, [0].mean_latency_s, "s", "Mean latency of one switch and the cable."),
    END_OF_FIELDS,
};
static const fab_fields FLOOR_BOUNDARY = {.name = "floor_boundary", .rows = FLOOR_BOUNDARIES, .source = FLOOR};

static const fab_field FLOORS[] = {
    FIELD(halls, counts.floor.halls, "Halls that the racks fill."),
    FIELD(rows, counts.floor.rows, "Rows of racks."),
    FIELD(racks, counts.floor.racks, "Racks of servers and of switches."),
    FIELD(server_racks, counts.floor.server_racks, "Racks that hold servers."),
    FIELD(network_racks, counts.floor.network_racks, "Racks of switches alone."),
    FIELD(servers_per_rack, counts.floor.servers_per_rack, "Most servers of one rack."),
    FIGURE(server_power_w, counts.floor.server_w, "W",
           "Power of one server as the limits of racks and halls count it."),
    FIGURE(rack_power_limit_w, spec.floor.rack_w, "W",
           "Most power of the servers of one rack; missing where there is no limit.", .when = FAB_FILLED),
    FIGURE(hall_power_limit_w, spec.floor.hall_w, "W",
           "Most power of the servers of one hall; missing where there is no limit.", .when = FAB_FILLED),
    FIGURE(cable_m, counts.floor.cable_m, "m", "Length of all network cables together.",
           .formula = "sum over the boundaries of cables * mean_length_m"),
    LIST_BY(boundaries, "boundary", NULL, count_boundaries, &FLOOR_BOUNDARY,
            "The cables by boundary, NIC - leaf first."),
    END_OF_FIELDS,
};
static const fab_fields FLOOR_PLAN = {.name = "floor", .rows = FLOORS, .source = FLOOR};

/* --- the fabric --------------------------------------------------------------------------------------------------- */

static uint64_t count_cable_ends(const fab_at *at) {
    return 2 * ((const T *)at->row)->counts.cables;
}

static bool is_front_end(const fab_at *at) {
    const fab_result *result = fab_at_result(at);
    for (size_t i = 0; i < result->n_fabrics; i++) {
        if (result->fabrics[i].front_end == at->row) {
            return true;
        }
    }
    return false;
}

/* Without a graph there may have been nothing to cut. */
static bool has_bisection(const fab_at *at) {
    return fab_at_result(at)->graph != NULL || ((const T *)at->row)->bisection_bps > 0 || is_front_end(at);
}

static bool has_scaleup_bisection(const fab_at *at) {
    const T *f = at->row;
    return f->counts.domains > 0 && (f->scaleup_bisection_bps > 0 || f->bisection_bps > 0);
}

static const fab_field FABRICS[] = {
    FIELD(family, family, "Topology family."),
    FIELD(gpus, counts.gpus, "GPUs."),
    FIELD(servers, counts.servers, "Servers, spares among them."),
    FIELD(nics, counts.nics, "NICs."),
    FIELD(domains, counts.domains, "Scale-up domains."),
    FIELD(rails, counts.rails, "Rails: NIC indexes within a scale-up domain."),
    FIELD(planes, counts.planes, "Parallel fabrics over which the ports of a NIC are split."),
    FIELD(pods, counts.pods, "Pods below the top tier."),
    FIELD(switches, counts.switches, "Switches of all tiers."),
    FIELD(cables, counts.cables, "Network cables: between NICs and switches and between switches."),
    FIELD(ports, counts.ports, "Switch ports, used or not."),
    COUNT_BY(transceivers, count_cable_ends, "Ends of all network cables, whatever medium the price book chooses."),
    FIGURE(bisection_bps, bisection_bps, "bit/s",
           "Minimum cut over network links, one direction, between the NICs of the first and of the second half of the "
           "servers in topological order. What no routing gets around.",
           .only = has_bisection, .formula = "max-flow(NICs of servers 0 ... n/2 - 1, NICs of the others)",
           .labels = "bisection|bisection bandwidth"),
    FIELD(bisection_ratio, bisection_ratio, "Bisection over what half of the servers can inject: 1 is full bisection.",
          .only = has_bisection, .formula = "bisection_bps / (n/2 servers * NICs * nic_bps)",
          .labels = "full bisection"),
    FIGURE(scaleup_bisection_bps, scaleup_bisection_bps, "bit/s",
           "Half of the GPUs of every scale-up domain at the scale-up rate, one direction, summed over the domains.",
           .only = has_scaleup_bisection, .formula = "sum over domains of floor(GPUs / 2) * domain_bps"),
    FIELD(gpus_per_server, spec.gpus_per_server, "GPUs of one server."),
    FIELD(nics_per_server, spec.nics_per_server, "NICs of one server."),
    FIELD(gpus_per_domain, spec.domain, "GPUs of one scale-up domain."),
    FIELD(spare_servers, spec.spares, "Servers that no job takes by itself."),
    FIGURE(nic_bps, spec.nic_bps, "bit/s", "Rate of one NIC in one direction."),
    FIGURE(domain_bps, spec.domain_bps, "bit/s", "Rate of one GPU into its scale-up domain, in one direction."),
    LIST_BY(tiers, "tier", NULL, count_tiers, &TIER,
            "Switch tiers, leaf first, each with the cables below it; where direct cables between switches make more "
            "boundaries than tiers, these follow."),
    SAME_ROW(floor, &FLOOR_PLAN, "Floor plan; missing where cables have the lengths of their tiers.",
             IF(counts.floor.given)),
    END_OF_FIELDS,
};
const fab_fields fab_fabric_fields = {.name = "fabric", .rows = FABRICS, .size = sizeof(T), .source = COUNTING};

/* --- cost --------------------------------------------------------------------------------------------------------- */

#undef T
#define T fab_cost_line
static const char *const PARTS[FAB_PART_N] = {[FAB_PART_SWITCH] = "switch",
                                              [FAB_PART_TRANSCEIVER] = "transceiver",
                                              [FAB_PART_CABLE] = "cable",
                                              [FAB_PART_NIC] = "nic",
                                              [FAB_PART_INSTALLATION] = "installation"};

static bool is_cable(const fab_at *at) {
    return ((const T *)at->row)->kind == FAB_PART_CABLE;
}

static const fab_field COST_LINES[] = {
    NAMED(kind, kind, PARTS, "What the part is."),
    FIELD(part, part, "Name of the part."),
    FIELD(tier, tier, "Where it stands: leaf, leaf-spine, ...", .when = FAB_FILLED),
    FIELD(medium, medium, "Of a cable DAC, AOC, ...; of a transceiver its type.", .when = FAB_FILLED),
    FIGURE(rate_bps, rate_bps, "bit/s", "Rate of a port, of a port of a module, of a cable or a NIC.",
           .when = FAB_FILLED),
    FIGURE(length_m, length_m, "m", "Length of one cable.", .only = is_cable),
    FIELD(quantity, quantity, "Number of these parts."),
    FIGURE(unit_usd, unit_usd, "USD", "Price of one of them."),
    FIGURE(total_usd, total_usd, "USD", "Price of all of them."),
    FIGURE(power_w, power_w, "W", "Power of all of them."),
    END_OF_FIELDS,
};
static const fab_fields COST_LINE = {.name = "cost_line", .rows = COST_LINES, .size = sizeof(T), .source = COST};

#undef T
#define T fab_cost
static const char *const CONVENTIONS[] = {"per-link-end", "switch-links", "per-cable", "twin-port"};

static const fab_field COSTS[] = {
    FIELD(profile, profile, "Name of the price book."),
    FIELD(convention, convention, "How cables and transceivers are counted.", .when = FAB_FILLED, ONE_OF(CONVENTIONS)),
    FIELD(counting, counting, "The convention as a sentence.", .when = FAB_FILLED),
    FIELD(source, source, "Where the prices come from.", .when = FAB_FILLED),
    FIELD(transceivers, transceivers, "Modules in the bill of materials; a twin-port module counts once."),
    FIGURE(total_usd, total_usd, "USD", "Price of the network: switches, transceivers, cables, NICs and installation.",
           .formula = LINES, .labels = "cost|capital"),
    FIGURE(switch_usd, switch_usd, "USD", "Price of all switches.", .formula = LINES),
    FIGURE(transceiver_usd, transceiver_usd, "USD",
           "Price of all transceivers that the convention of the price book counts.", .formula = LINES),
    FIGURE(cable_usd, cable_usd, "USD", "Price of all cables, by medium and length.", .formula = LINES),
    FIGURE(nic_usd, nic_usd, "USD", "Price of all NICs.", .formula = LINES),
    FIGURE(installation_usd, installation_usd, "USD", "Price of installation, where the price book has one."),
    FIGURE(per_gpu_usd, per_gpu_usd, "USD", "Network price of one GPU.", .formula = "total_usd / gpus"),
    FIGURE(per_bisection_gbps_usd, per_bisection_gbps_usd, "USD per Gb/s", "Price of one Gb/s of bisection.",
           .when = FAB_FILLED, .formula = "total_usd / (bisection_bps / 1e9)"),
    FIGURE(capital_usd_per_year, capital_usd_per_year, "USD/year",
           "Price spread evenly over the years of the price book.", .formula = "total_usd / years"),
    FIGURE(power_w, power_w, "W", "Power of all network parts at the figures of the price book.",
           .formula = "sum over the lines of quantity * unit power", .labels = "power"),
    FIGURE(energy_usd_per_year, energy_usd_per_year, "USD/year",
           "Electricity of the network, cooling included by the book's PUE.",
           .formula = "power_w / 1000 * 8760 h * PUE * USD per kWh", .labels = "energy"),
    ARRAY(lines, "line", lines, n_lines, &COST_LINE, "Bill of materials."),
    END_OF_FIELDS,
};
const fab_fields fab_cost_fields = {.name = "cost", .rows = COSTS, .size = sizeof(T), .source = COST};

/* --- front-end, designs, growth ----------------------------------------------------------------------------------- */

const void *fab_priced(const fab_fabric_result *fabric) {
    return fabric->cost.profile[0] != '\0' ? &fabric->cost : NULL;
}

#undef T
#define T fab_fabric_result
static const void *cost_of_design(const fab_at *at) {
    return fab_priced(at->row);
}

static const fab_field FRONT_ENDS[] = {
    FIELD(storage_servers, spec.storage, "Storage servers that it connects."),
    SAME_ROW(fabric, &fab_fabric_fields, "Its fabric; its GPUs are hosts: servers and storage servers."),
    OBJECT_BY(cost, cost_of_design, &fab_cost_fields, "What it costs."),
    END_OF_FIELDS,
};
const fab_fields fab_front_end_fields = {.name = "front_end", .rows = FRONT_ENDS, .size = sizeof(T), .source = GROWTH};

static const fab_field DESIGNS[] = {
    FIELD(name, name, "Name of the design, or its one-line form."),
    FIELD(design_digest, digest, "Digest of the design."),
    FIELD(source, source, "Where the figures of the design come from.", .when = FAB_FILLED),
    FIELD(reduction_ratio, reduction_ratio,
          "Part of the price of the first design that this one saves; below 0 where it costs more.", .is_signed = true,
          .high = 1, .formula = "1 - total_usd / total_usd of the first design"),
    SAME_ROW(fabric, &fab_fabric_fields, "Its fabric."),
    OBJECT_BY(cost, cost_of_design, &fab_cost_fields, "What it costs."),
    POINTED(front_end, front_end, &fab_front_end_fields, "Its network for storage and data."),
    END_OF_FIELDS,
};
const fab_fields fab_design_fields = {.name = "design", .rows = DESIGNS, .size = sizeof(T), .source = COST};

#undef T
#define T fab_growth_part
static const fab_field GROWTH_PARTS[] = {
    FIELD(part, part, "Name of the part."),
    FIELD(tier, tier, "Where it stands.", .when = FAB_FILLED),
    FIELD(bought, bought, "Parts that the step adds."),
    FIELD(retired, retired, "Parts that the step leaves over."),
    FIGURE(bought_usd, bought_usd, "USD", "Price of those that are bought."),
    END_OF_FIELDS,
};
static const fab_fields GROWTH_PART = {
    .name = "growth_part", .rows = GROWTH_PARTS, .size = sizeof(T), .source = GROWTH};

#undef T
#define T fab_growth_step
static const fab_field GROWTH_STEPS[] = {
    FIELD(gpus, gpus, "GPUs after the step."),
    FIELD(switches, switches, "Switches after the step."),
    FIELD(cables, cables, "Network cables after the step."),
    FIGURE(total_usd, total_usd, "USD", "Price of all that stands after the step."),
    FIGURE(bought_usd, bought_usd, "USD", "Price of what the step adds to what stands already."),
    FIELD(bisection_ratio, bisection_ratio, "Bisection over what half of the servers can inject."),
    FIELD(free_ports, free_ports, "Switch ports without a cable until the fabric grows into them."),
    FIELD(cables_moved, cables_moved, "Cables that stand already and must be plugged elsewhere in this step."),
    LIST(parts, "part", parts, n_parts, &GROWTH_PART, "Parts whose number changes."),
    END_OF_FIELDS,
};
const fab_fields fab_growth_fields = {.name = "growth_step", .rows = GROWTH_STEPS, .size = sizeof(T), .source = GROWTH};
