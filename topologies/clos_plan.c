/* Sizes of a folded Clos. The rules are those of the manual: as many downlinks as the taper leaves room for, the
 * smallest number of uplinks that keeps the taper, the smallest number of parents that has the ports and divides the
 * uplinks. */
#include "clos_plan.h"

#include <inttypes.h>
#include <math.h>

/* Uplinks that keep `down` cables within the taper. The slack forgives the rounding of a taper such as 192/28. */
static uint64_t uplinks(const fab_clos_tier *tier, uint64_t down) {
    return (uint64_t)fmax(1, ceil((double)down * tier->down_bps / (tier->taper * tier->up_bps) * (1 - 1e-12)));
}

/* Physical ports that a switch with `down` cables below needs. */
static uint64_t ports_needed(const fab_clos_tier *tier, uint64_t down, bool top) {
    return fab_ceil_div(down, tier->split_down) + (top ? 0 : fab_ceil_div(uplinks(tier, down), tier->split_up));
}

static uint64_t most_downlinks(const fab_clos_tier *tier, bool top) {
    uint64_t low = 0;
    uint64_t high = tier->radix * tier->split_down;
    if (tier->most_down != 0 && tier->most_down < high) {
        high = tier->most_down;
    }
    while (low < high) { /* the ports needed grow with the cables below */
        uint64_t middle = (low + high + 1) / 2;
        if (ports_needed(tier, middle, top) <= tier->radix) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* Smallest number of parents that divides `up` and leaves each with at most `radix` cables from `children` blocks. */
static uint64_t fewest_parents(uint64_t up, uint64_t children, uint64_t radix) {
    for (uint64_t parents = 1; parents <= up; parents++) {
        if (up % parents == 0 && children * (up / parents) <= radix) {
            return parents;
        }
    }
    return 0;
}

static fab_status size_leaf(fab_clos_plan *plan, uint32_t n_tiers, fab_error *err) {
    const fab_clos_attach *attach = &plan->attach;
    fab_clos_tier *leaf = &plan->tier[1];
    uint64_t most = most_downlinks(leaf, n_tiers == 1);
    if (most < attach->granule || most == 0) {
        return fab_fail(err, FAB_EINPUT, "leaf",
                        "a leaf needs %" PRIu64 " ports for %" PRIu64
                        " NICs that must share it and their uplinks; its radix is %" PRIu64,
                        ports_needed(leaf, attach->granule, n_tiers == 1), attach->granule, leaf->radix);
    }
    most -= most % attach->granule;
    leaf->down = most < attach->column_ports ? most : attach->column_ports;
    leaf->children = leaf->down;
    leaf->blocks = attach->n_columns * fab_ceil_div(attach->column_ports, leaf->down);
    leaf->block_switches = 1;
    leaf->up = n_tiers > 1 ? uplinks(leaf, leaf->down) : 0;
    if (n_tiers == 1 && leaf->blocks > 1) {
        return fab_fail(err, FAB_EINPUT, "leaf", "one tier needs a switch of %" PRIu64 " ports; its radix is %" PRIu64,
                        attach->n_columns * attach->column_ports, leaf->radix);
    }
    return FAB_OK;
}

/* Leaves of a pod, which is given in GPUs. */
static fab_status leaves_of_pod(const fab_fabric_spec *spec, const fab_clos_plan *plan, uint64_t *out, fab_error *err) {
    const fab_clos_attach *attach = &plan->attach;
    uint64_t granule =
        attach->by_rail ? plan->ends.rails / spec->nics_per_server * spec->gpus_per_server : spec->gpus_per_server;
    if (granule == 0) {
        return fab_fail(err, FAB_EINTERNAL, NULL, "a rail group of no GPUs");
    }
    uint64_t ports = spec->pod / granule * (attach->by_rail ? 1 : spec->nics_per_server);
    uint64_t down = plan->tier[1].down;
    if (ports == 0 || down == 0 || spec->pod % granule != 0 || (ports % down != 0 && ports < attach->column_ports)) {
        uint64_t group = attach->by_rail ? down * granule : down * spec->gpus_per_server / spec->nics_per_server;
        return fab_fail(err, FAB_EINPUT, NULL,
                        "a pod of %" PRIu64 " GPUs is not a whole number of leaf groups of %" PRIu64 " GPUs", spec->pod,
                        group);
    }
    *out = fab_ceil_div(ports, down) * attach->n_columns;
    return FAB_OK;
}

static fab_status size_upper(const fab_fabric_spec *spec, fab_clos_plan *plan, uint32_t t, uint32_t n_tiers,
                             fab_error *err) {
    fab_clos_tier *below = &plan->tier[t - 1];
    fab_clos_tier *tier = &plan->tier[t];
    bool top = t == n_tiers;
    uint64_t most = most_downlinks(tier, top);
    uint64_t children = top ? below->blocks : most;
    if (t == 2 && spec->pod != 0) {
        uint64_t leaves = 0;
        FAB_PASS(leaves_of_pod(spec, plan, &leaves, err));
        if (top && leaves < below->blocks) {
            return fab_fail(err, FAB_EINPUT, "spine", "pods of %" PRIu64 " leaves need a tier above the spines",
                            leaves);
        }
        children = leaves;
    }
    if (children > below->blocks) {
        children = below->blocks;
    }
    below->parents = children == 0 ? 0 : fewest_parents(below->up, children, most);
    if (below->parents == 0) {
        return fab_fail(err, FAB_EINPUT, fab_tier_name(FAB_WIRING_TREE, t),
                        "radix %" PRIu64 " is too small: a %s has %" PRIu64
                        " ports for what is below, and must reach %" PRIu64 " %s",
                        tier->radix, fab_tier_name(FAB_WIRING_TREE, t), most, children == 0 ? 1 : children,
                        t == 2   ? "leaves"
                        : t == 3 ? "pods"
                                 : "groups of pods");
    }
    below->trunk = below->up / below->parents;
    tier->children = children;
    tier->blocks = fab_ceil_div(below->blocks, children);
    tier->block_switches = below->block_switches * below->parents;
    tier->down = children * below->trunk;
    tier->up = top ? 0 : uplinks(tier, tier->down);
    return FAB_OK;
}

void fab_clos_rates(const fab_fabric_spec *spec, fab_clos_plan *plan, uint32_t n_tiers) {
    double access_bps = spec->nic_bps / (double)spec->planes;
    double below_bps = access_bps; /* what the end below offers a cable */
    for (uint32_t t = 1; t <= n_tiers; t++) {
        const fab_tier_spec *asked = &spec->tier[t - 1];
        fab_clos_tier *tier = &plan->tier[t];
        *tier = (fab_clos_tier){
            .radix = asked->radix, .taper = asked->taper, .most_down = asked->down, .split_down = asked->breakout};
        tier->split_up = asked->breakout_up != 0 ? asked->breakout_up : asked->breakout;
        tier->port_bps = asked->port_bps > 0 ? asked->port_bps : access_bps * (double)asked->breakout;
        tier->down_bps = fmin(below_bps, tier->port_bps / (double)tier->split_down); /* the slower end decides */
        below_bps = tier->port_bps / (double)tier->split_up;
        if (t > 1) {
            plan->tier[t - 1].up_bps = tier->down_bps;
        }
    }
    plan->n_tiers = n_tiers;
}

static fab_status size_tiers(const fab_fabric_spec *spec, fab_clos_plan *plan, uint32_t n_tiers, fab_error *err) {
    fab_clos_rates(spec, plan, n_tiers);
    FAB_PASS(size_leaf(plan, n_tiers, err));
    for (uint32_t t = 2; t <= n_tiers; t++) {
        FAB_PASS(size_upper(spec, plan, t, n_tiers, err));
    }
    return FAB_OK;
}

fab_status fab_clos_size(const fab_fabric_spec *spec, fab_clos_plan *plan, fab_error *err) {
    if (spec->tiers != 0) {
        if (spec->tiers < plan->attach.min_tiers) {
            return fab_fail(err, FAB_EINPUT, NULL, "%s has at least %" PRIu64 " tiers, not %" PRIu64, spec->family,
                            plan->attach.min_tiers, spec->tiers);
        }
        return size_tiers(spec, plan, (uint32_t)spec->tiers, err);
    }
    fab_error last = {0};
    for (uint32_t n_tiers = (uint32_t)plan->attach.min_tiers; n_tiers <= 4; n_tiers++) {
        last = (fab_error){0};
        if (size_tiers(spec, plan, n_tiers, &last) == FAB_OK) {
            return FAB_OK;
        }
    }
    return fab_fail(err, last.code, last.where, "%s (with 4 tiers, the most that are tried)", last.text);
}

void fab_clos_resolve(const fab_clos_plan *plan, fab_fabric_spec *spec) {
    for (uint32_t t = 1; t <= plan->n_tiers; t++) {
        spec->tier[t - 1].port_bps = plan->tier[t].port_bps;
    }
}

void fab_clos_count(const fab_fabric_spec *spec, const fab_clos_plan *plan, fab_counts *out) {
    fab_counts c = fab_ends_counts(&plan->ends);
    c.tiers = c.n_boundaries = plan->n_tiers;
    uint64_t copies = plan->attach.n_networks * plan->ends.planes;
    c.pods = plan->n_tiers >= 3 ? plan->tier[2].blocks * plan->attach.n_networks : 0;
    for (uint32_t t = 1; t <= plan->n_tiers; t++) {
        const fab_clos_tier *tier = &plan->tier[t];
        const fab_clos_tier *below = &plan->tier[t - 1];
        c.switches_by_tier[t - 1] = copies * tier->blocks * tier->block_switches;
        c.cables_by_tier[t - 1] =
            t == 1 ? plan->ends.nics * plan->ends.planes : copies * below->blocks * below->block_switches * below->up;
        c.ports_by_tier[t - 1] = c.switches_by_tier[t - 1] * tier->radix;
        if (c.cables_by_tier[t - 1] > 0) {
            c.kinds[c.n_kinds++] =
                (fab_cable_kind){t, tier->down_bps, spec->tier[t - 1].length_m, c.cables_by_tier[t - 1]};
        }
        c.switches += c.switches_by_tier[t - 1];
        c.cables += c.cables_by_tier[t - 1];
        c.ports += c.ports_by_tier[t - 1];
        if (t < plan->n_tiers) {
            c.built_taper[t - 1] = (double)tier->down * tier->down_bps / ((double)tier->up * tier->up_bps);
        }
    }
    *out = c;
}
