#include "direct.h"

fab_status fab_direct_init(const fab_fabric_spec *spec, fab_wiring wiring, fab_direct_plan *plan, fab_error *err) {
    fab_clos_plan rates = {.n_tiers = 1};
    FAB_REFUSE_IF(spec->tiers > 1, err, FAB_EINPUT, NULL, "a %s has one tier of switches, not %" PRIu64, spec->family,
                  spec->tiers);
    for (size_t i = 0; i < FAB_MAX_TIERS; i++) {
        FAB_REFUSE_IF(spec->tier[i].taper != 1, err, FAB_EINPUT, NULL,
                      "taper: a %s has no tier above its switches that could be tapered", spec->family);
    }
    FAB_REFUSE_IF(spec->pod != 0, err, FAB_EINPUT, NULL, "pod: the shape of a %s decides which switches stand together",
                  spec->family);
    fab_clos_rates(spec, &rates, 1);
    plan->wiring = wiring;
    plan->tier = rates.tier[1];
    plan->cable_bps = plan->tier.port_bps / (double)plan->tier.split_up;
    return FAB_OK;
}

fab_status fab_direct_check(const fab_fabric_spec *spec, fab_direct_plan *plan, fab_error *err) {
    fab_clos_tier *tier = &plan->tier;
    if (!spec->radix_given) {
        tier->radix = fab_sold_radix(fab_tier_ports(tier));
    }
    FAB_REFUSE_IF(plan->ends.nics > plan->switches * tier->down, err, FAB_EINPUT, NULL,
                  "%" PRIu64 " switches with %" PRIu64 " NIC ports each hold %" PRIu64 " NICs, not %" PRIu64,
                  plan->switches, tier->down, plan->switches * tier->down, plan->ends.nics);
    FAB_REFUSE_IF(fab_tier_ports(tier) > tier->radix, err, FAB_EINPUT, "switch",
                  "a switch needs %" PRIu64 " ports for %" PRIu64 " NICs and %" PRIu64
                  " cables to other switches; its radix is %" PRIu64,
                  fab_tier_ports(tier), tier->down, tier->up, tier->radix);
    FAB_REFUSE_IF(fab_tier_last_port(tier) > UINT16_MAX || plan->switches * plan->ends.planes > UINT32_MAX / 4, err,
                  FAB_EINPUT, "switch", "%" PRIu64 " switches of %" PRIu64 " ports: the limits are %u and %u",
                  plan->switches * plan->ends.planes, fab_tier_last_port(tier), UINT32_MAX / 4, UINT16_MAX);
    return fab_ends_check(spec, &plan->ends, err);
}

void fab_direct_resolve(const fab_direct_plan *plan, fab_fabric_spec *spec) {
    spec->tier[0].port_bps = plan->tier.port_bps;
    for (size_t t = 0; t < FAB_MAX_TIERS; t++) {
        spec->tier[t].radix = spec->radix_given ? spec->tier[t].radix : plan->tier.radix;
    }
}

void fab_direct_count(const fab_fabric_spec *spec, const fab_direct_plan *plan, fab_counts *out) {
    fab_counts c = fab_ends_counts(&plan->ends);
    uint64_t planes = plan->ends.planes;
    c.tiers = 1;
    c.n_boundaries = plan->n_boundaries;
    c.wiring = plan->wiring;
    c.pods = plan->pod > 0 ? plan->switches / plan->pod : 0;
    c.switches = c.switches_by_tier[0] = planes * plan->switches;
    c.ports = c.ports_by_tier[0] = c.switches * plan->tier.radix;
    for (uint32_t t = 1; t <= plan->n_boundaries; t++) {
        uint64_t cables = planes * (t == 1 ? plan->ends.nics : plan->cables[t - 1]);
        if (cables > 0) {
            c.kinds[c.n_kinds++] =
                (fab_cable_kind){t, t == 1 ? plan->tier.down_bps : plan->cable_bps, fab_tier_length_m(spec, t), cables};
        }
        c.cables_by_tier[t - 1] = cables;
        c.cables += cables;
    }
    *out = c;
}

/* --- graph ------------------------------------------------------------------------------------------------------ */

void fab_direct_cable(const fab_direct_sink *sink, uint32_t boundary, uint64_t a, uint64_t a_port, uint64_t b,
                      uint64_t b_port) {
    fab_builder_cable(sink->builder, sink->link_class[boundary], sink->first + (uint32_t)a,
                      sink->first_port + (uint32_t)a_port, sink->first + (uint32_t)b,
                      sink->first_port + (uint32_t)b_port);
}

/* Switch and port of a NIC. */
static void locate(const fab_direct_plan *plan, uint64_t nic, uint64_t *out_switch, uint64_t *out_port) {
    uint64_t each = plan->tier.down;
    if (plan->even) { /* the first switches hold one more where they do not share evenly */
        uint64_t fuller = plan->ends.nics % plan->switches;
        each = plan->ends.nics / plan->switches;
        if (nic >= fuller * (each + 1)) {
            *out_switch = fuller + (nic - fuller * (each + 1)) / each;
            *out_port = (nic - fuller * (each + 1)) % each + 1;
            return;
        }
        each++;
    }
    *out_switch = nic / each;
    *out_port = nic % each + 1;
}

static void describe_switches(const fab_direct_plan *plan, fab_fabric *f) {
    f->wiring = plan->wiring;
    f->n_boundaries = plan->n_boundaries;
    f->n_pods = plan->pod > 0 ? (uint32_t)(plan->switches / plan->pod) : 0;
    for (uint32_t i = 0; i < fab_n_switches(f); i++) {
        uint64_t place = i % plan->switches;
        f->switch_pod[i] = plan->pod > 0 ? (uint32_t)(place / plan->pod) : FAB_NONE;
        f->switch_plane[i] = (uint16_t)(i / plan->switches);
        f->switch_radix[i] = (uint16_t)plan->tier.radix;
        f->switch_ports[i] = (uint16_t)fab_tier_last_port(&plan->tier);
        f->switch_rail[i] = UINT16_MAX;
    }
}

static uint64_t total_cables(const fab_direct_plan *plan) {
    uint64_t n = plan->ends.nics;
    for (uint32_t t = 2; t <= plan->n_boundaries; t++) {
        n += plan->cables[t - 1];
    }
    return fab_ends_cables(&plan->ends) + plan->ends.planes * n;
}

fab_status fab_direct_build(const fab_fabric_spec *spec, const fab_direct_plan *plan, fab_direct_wire *wire,
                            const void *shape, fab_fabric **out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_direct_sink sink = {.first_port = (uint32_t)plan->tier.down + 1};
    fab_builder_sizes sizes = {.n_gpus = (uint32_t)plan->ends.gpus,
                               .n_nics = (uint32_t)plan->ends.nics,
                               .n_domains = (uint32_t)plan->ends.domains,
                               .n_tiers = 1,
                               .n_switches = {0, (uint32_t)(plan->switches * plan->ends.planes)},
                               .n_cables = total_cables(plan)};
    FAB_TRY(fab_builder_new(&sizes, &sink.builder, err));
    fab_fabric *f = fab_builder_fabric(sink.builder);
    describe_switches(plan, f);
    FAB_TRY(fab_ends_build(spec, &plan->ends, sink.builder, err));
    for (uint32_t t = 1; t <= plan->n_boundaries; t++) {
        fab_link_class c =
            fab_cable_class(spec, t, false, t == 1 ? plan->tier.down_bps : plan->cable_bps, fab_tier_length_m(spec, t));
        FAB_TRY(fab_builder_class(sink.builder, &c, &sink.link_class[t], err));
    }
    for (uint32_t plane = 0; plane < plan->ends.planes; plane++) {
        sink.first = f->first[FAB_NODE_SWITCH] + (uint32_t)(plane * plan->switches);
        for (uint32_t nic = 0; nic < plan->ends.nics; nic++) {
            uint64_t at = 0;
            uint64_t port = 0;
            locate(plan, nic, &at, &port);
            fab_builder_cable(sink.builder, sink.link_class[1], f->first[FAB_NODE_NIC] + nic,
                              fab_ends_nic_port(f, plane), sink.first + (uint32_t)at, (uint32_t)port);
        }
        wire(shape, &sink);
    }
    FAB_TRY(fab_builder_freeze(&sink.builder, out, err));
done:
    fab_builder_free(sink.builder);
    return status;
}
