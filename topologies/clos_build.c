/* The graph of a sized folded Clos. Cables are added boundary by boundary, so that every switch sees its down ports
 * first and all its ports in ascending order. Uplink port number = parent + cable * parents, as D-mod-K expects. */
#include "clos_plan.h"

typedef struct build {
    const fab_fabric_spec *spec;
    const fab_clos_plan *plan;
    fab_builder *builder;
    fab_fabric *f;
} build;

static fab_node_id switch_id(const build *b, uint32_t t, uint64_t copy, uint64_t block, uint64_t j) {
    const fab_clos_tier *tier = &b->plan->tier[t];
    return b->f->first_of_tier[t] + (uint32_t)((copy * tier->blocks + block) * tier->block_switches + j);
}

/* The same where spares hang behind the leaves of the others. */
static void apart(const fab_clos_plan *plan, uint32_t nic, uint64_t column, uint64_t *leaf, uint64_t *port) {
    const fab_clos_attach *attach = &plan->attach;
    uint64_t active = attach->active_ports; /* of the column, rail by rail where rails share a network */
    uint64_t rail = 0;
    uint64_t at = nic;
    if (attach->by_rail) {
        active = plan->ends.active_units;
        at = nic / plan->ends.rails;
        rail = attach->n_columns > 1 ? 0 : nic % plan->ends.rails % attach->rails_per_network;
    }
    if (at >= active) {
        uint64_t spare = rail * (plan->ends.units - plan->ends.active_units) + at - active;
        *leaf = fab_clos_spare_group(plan, spare, port) * attach->n_columns + column;
    } else {
        uint64_t position = rail * active + at;
        *leaf = position / plan->tier[1].down * attach->n_columns + column;
        *port = position % plan->tier[1].down + 1;
    }
}

void fab_clos_locate(const fab_clos_plan *plan, uint32_t nic, uint64_t *network, uint64_t *leaf, uint64_t *port) {
    const fab_clos_attach *attach = &plan->attach;
    uint64_t position = nic;
    uint64_t column = 0;
    *network = 0;
    if (attach->by_rail) {
        uint64_t unit = nic / plan->ends.rails;
        uint64_t rail = nic % plan->ends.rails;
        *network = rail / attach->rails_per_network;
        position = unit;
        if (attach->n_columns > 1) {
            column = rail;
        } else {
            position += rail % attach->rails_per_network * plan->ends.units;
        }
    }
    *leaf = position / plan->tier[1].down * attach->n_columns + column;
    *port = position % plan->tier[1].down + 1;
    if (plan->spares.n > 0) {
        apart(plan, nic, column, leaf, port);
    }
}

static fab_status add_access(build *b, fab_error *err) {
    const fab_clos_plan *plan = b->plan;
    uint16_t access = 0;
    fab_link_class link_class =
        fab_cable_class(b->spec, 1, true, plan->tier[1].down_bps, fab_tier_length_m(b->spec, 1));
    FAB_PASS(fab_builder_class(b->builder, &link_class, &access, err));
    for (uint32_t plane = 0; plane < plan->ends.planes; plane++) {
        for (uint32_t nic = 0; nic < plan->ends.nics; nic++) {
            uint64_t network = 0;
            uint64_t leaf = 0;
            uint64_t port = 0;
            fab_clos_locate(plan, nic, &network, &leaf, &port);
            fab_node_id node = switch_id(b, 1, plane * plan->attach.n_networks + network, leaf, 0);
            fab_builder_cable(b->builder, access, b->f->first[FAB_NODE_NIC] + nic, fab_ends_nic_port(b->f, plane), node,
                              (uint32_t)port);
            if (plan->attach.n_columns > 1) {
                b->f->switch_rail[node - b->f->first[FAB_NODE_SWITCH]] = (uint16_t)(nic % plan->ends.rails);
            }
        }
    }
    return FAB_OK;
}

/* Cables between tiers t - 1 and t, for one block below. */
static void wire_block(build *b, uint32_t t, uint64_t copy, uint64_t block, uint16_t link_class) {
    const fab_clos_tier *below = &b->plan->tier[t - 1];
    const fab_clos_tier *tier = &b->plan->tier[t];
    uint64_t above = block / tier->children;
    uint64_t slot = block % tier->children;
    bool has_fewer = t == 2 && b->plan->spares.n > 0;
    uint64_t down = has_fewer ? fab_clos_leaf_down(b->plan, block / b->plan->attach.n_columns) : below->down;
    uint64_t up = has_fewer ? fab_clos_leaf_up(b->plan, block / b->plan->attach.n_columns) : below->up;
    for (uint64_t j = 0; j < below->block_switches; j++) {
        fab_node_id lower = switch_id(b, t - 1, copy, block, j);
        for (uint64_t i = 0; i < up; i++) {
            uint64_t cable = i / below->parents;
            uint64_t lacking = 0;
            if (b->plan->spares.dropped > 0 &&
                fab_clos_is_dropped(b->plan, block, cable, i % below->parents, &lacking)) {
                continue;
            }
            fab_node_id upper = switch_id(b, t, copy, above, j * below->parents + i % below->parents);
            fab_builder_cable(b->builder, link_class, lower, (uint32_t)(down + 1 + i), upper,
                              (uint32_t)(slot * below->trunk + cable + 1 - lacking));
        }
    }
}

static fab_status add_boundary(build *b, uint32_t t, fab_error *err) {
    const fab_clos_plan *plan = b->plan;
    uint16_t index = 0;
    fab_link_class link_class =
        fab_cable_class(b->spec, t, true, plan->tier[t].down_bps, fab_tier_length_m(b->spec, t));
    FAB_PASS(fab_builder_class(b->builder, &link_class, &index, err));
    uint64_t copies = plan->attach.n_networks * plan->ends.planes;
    for (uint64_t copy = 0; copy < copies; copy++) {
        for (uint64_t block = 0; block < plan->tier[t - 1].blocks; block++) {
            wire_block(b, t, copy, block, index);
        }
    }
    return FAB_OK;
}

static void describe_switches(build *b) {
    const fab_clos_plan *plan = b->plan;
    fab_fabric *f = b->f;
    bool has_pods = plan->n_tiers >= 3;
    uint32_t i = 0;
    for (uint32_t t = 1; t <= plan->n_tiers; t++) {
        const fab_clos_tier *tier = &plan->tier[t];
        for (uint64_t copy = 0; copy < plan->attach.n_networks * plan->ends.planes; copy++) {
            uint64_t network = copy % plan->attach.n_networks;
            for (uint64_t s = 0; s < tier->blocks * tier->block_switches; s++, i++) {
                uint64_t block = s / tier->block_switches;
                uint64_t pod = t == 1 ? block / (has_pods ? plan->tier[2].children : 1) : block;
                f->switch_pod[i] = has_pods && t <= 2 ? (uint32_t)(network * plan->tier[2].blocks + pod) : FAB_NONE;
                f->switch_plane[i] = (uint16_t)(copy / plan->attach.n_networks);
                f->switch_radix[i] = (uint16_t)tier->radix;
                f->switch_ports[i] = (uint16_t)fab_tier_last_port(tier);
                if (t == 1 && plan->spares.n > 0) {
                    fab_clos_tier leaf = *tier;
                    leaf.up = fab_clos_leaf_up(plan, block / plan->attach.n_columns);
                    f->switch_ports[i] = (uint16_t)fab_tier_last_port(&leaf);
                }
                f->switch_rail[i] =
                    plan->attach.by_rail && plan->attach.n_columns == 1 && plan->attach.rails_per_network == 1
                        ? (uint16_t)network
                        : UINT16_MAX;
            }
        }
    }
}

static uint64_t total_cables(const fab_clos_plan *plan) {
    uint64_t n = fab_ends_cables(&plan->ends);
    n += plan->ends.nics * plan->ends.planes;
    for (uint32_t t = 1; t < plan->n_tiers; t++) {
        const fab_clos_tier *tier = &plan->tier[t];
        uint64_t cables = t == 1 ? fab_clos_uplinks(plan) : tier->blocks * tier->block_switches * tier->up;
        n += plan->attach.n_networks * plan->ends.planes * cables;
    }
    return n;
}

static fab_status check_limits(const fab_fabric_spec *spec, const fab_clos_plan *plan, fab_error *err) {
    for (uint32_t t = 1; t <= plan->n_tiers; t++) {
        uint64_t ports = fab_tier_last_port(&plan->tier[t]);
        FAB_REFUSE_IF(ports > UINT16_MAX, err, FAB_EINPUT, fab_tier_name(FAB_WIRING_TREE, t),
                      "a %s has %" PRIu64 " ports; the limit is %u", fab_tier_name(FAB_WIRING_TREE, t), ports,
                      UINT16_MAX);
    }
    return fab_ends_check(spec, &plan->ends, err);
}

fab_status fab_clos_build(const fab_fabric_spec *spec, const fab_clos_plan *plan, fab_fabric **out, fab_error *err) {
    FAB_OWNS(fab_builder_free_owned) fab_builder *builder = NULL;
    build b = {.spec = spec, .plan = plan};
    FAB_PASS(check_limits(spec, plan, err));
    fab_builder_sizes sizes = {.n_gpus = (uint32_t)plan->ends.gpus,
                               .n_nics = (uint32_t)plan->ends.nics,
                               .n_domains = (uint32_t)plan->ends.domains,
                               .n_tiers = plan->n_tiers,
                               .n_cables = total_cables(plan)};
    for (uint32_t t = 1; t <= plan->n_tiers; t++) {
        uint64_t n = plan->attach.n_networks * plan->ends.planes * plan->tier[t].blocks * plan->tier[t].block_switches;
        FAB_REFUSE_IF(n > UINT32_MAX / 4, err, FAB_EINPUT, fab_tier_name(FAB_WIRING_TREE, t),
                      "%" PRIu64 " switches exceed the limit of %u", n, UINT32_MAX / 4);
        sizes.n_switches[t] = (uint32_t)n;
    }
    FAB_PASS(fab_builder_new(&sizes, &builder, err));
    b.builder = builder;
    b.f = fab_builder_fabric(b.builder);
    b.f->n_pods = plan->n_tiers >= 3 ? (uint32_t)(plan->tier[2].blocks * plan->attach.n_networks) : 0;
    b.f->stores_and_forwards = spec->forwarding == FAB_FORWARDING_SEQUENTIAL;
    b.f->forwards_at_destination = spec->forward == FAB_FORWARD_AT_DESTINATION;
    b.f->rails_per_network =
        plan->attach.by_rail && plan->attach.n_columns == 1 ? (uint32_t)plan->attach.rails_per_network : b.f->n_rails;
    b.f->forwards_in_domain = plan->attach.by_rail && plan->attach.n_columns == 1 && plan->ends.rails > 1;
    describe_switches(&b);
    FAB_PASS(fab_ends_build(spec, &plan->ends, b.builder, err));
    FAB_PASS(add_access(&b, err));
    for (uint32_t t = 2; t <= plan->n_tiers; t++) {
        FAB_PASS(add_boundary(&b, t, err));
    }
    return fab_builder_freeze(&builder, out, err);
}
