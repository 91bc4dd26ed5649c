/* Sizes of a folded Clos: of all splits of ports that keep the tapers, the one that takes the fewest ports of switches
 * and cables. */
#include "clos_plan.h"

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

/* The most even size of a block for `n` in so many blocks, in whole granules. */
static uint64_t even_size(uint64_t n, uint64_t blocks, uint64_t granule) {
    return blocks == 0 ? 0 : fab_ceil_div(fab_ceil_div(n, granule), blocks) * granule;
}

/* NICs that a leaf can hold, in whole granules. */
static fab_status most_of_leaf(const fab_clos_plan *plan, uint32_t n_tiers, uint64_t *out, fab_error *err) {
    const fab_clos_attach *attach = &plan->attach;
    const fab_clos_tier *leaf = &plan->tier[1];
    uint64_t most = most_downlinks(leaf, n_tiers == 1);
    FAB_REFUSE_IF(most < attach->granule || most == 0, err, FAB_EINPUT, "leaf",
                  "a leaf needs %" PRIu64 " ports for %" PRIu64
                  " NICs that must share it and their uplinks; its radix is %" PRIu64,
                  ports_needed(leaf, attach->granule, n_tiers == 1), attach->granule, leaf->radix);
    most = attach->rack_ports != 0 && attach->rack_ports < most ? attach->rack_ports : most;
    most -= most % attach->granule;
    FAB_REFUSE_IF(n_tiers == 1 && (attach->n_columns > 1 || most < attach->column_ports), err, FAB_EINPUT, "leaf",
                  "one tier needs a switch of %" PRIu64 " ports; its radix is %" PRIu64,
                  attach->n_columns * attach->column_ports, leaf->radix);
    *out = most;
    return FAB_OK;
}

static void fill_leaf(fab_clos_plan *plan, uint32_t n_tiers, uint64_t down) {
    const fab_clos_attach *attach = &plan->attach;
    fab_clos_tier *leaf = &plan->tier[1];
    leaf->down = leaf->children = down;
    leaf->blocks = attach->n_columns * fab_ceil_div(attach->column_ports, down);
    leaf->block_switches = 1;
    leaf->up = n_tiers > 1 ? uplinks(leaf, down) : 0;
}

/* Leaves of a pod, which is given in GPUs. */
static fab_status leaves_of_pod(const fab_fabric_spec *spec, const fab_clos_plan *plan, uint64_t *out, fab_error *err) {
    const fab_clos_attach *attach = &plan->attach;
    uint64_t granule =
        attach->by_rail ? plan->ends.rails / spec->nics_per_server * spec->gpus_per_server : spec->gpus_per_server;
    FAB_REFUSE_IF(granule == 0, err, FAB_EINTERNAL, NULL, "a rail group of no GPUs");
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

/* Blocks below that one block of tier `t` holds: as few blocks as the ports allow, and then even. */
static fab_status size_block(const fab_fabric_spec *spec, const fab_clos_plan *plan, uint32_t t, uint32_t n_tiers,
                             uint64_t *out, fab_error *err) {
    const fab_clos_tier *below = &plan->tier[t - 1];
    const bool top = t == n_tiers;
    const uint64_t most = most_downlinks(&plan->tier[t], top);
    *out = below->blocks;
    if (t == 2 && spec->pod != 0) {
        uint64_t leaves = 0;
        FAB_PASS(leaves_of_pod(spec, plan, &leaves, err));
        FAB_REFUSE_IF(top && leaves < below->blocks, err, FAB_EINPUT, "spine",
                      "pods of %" PRIu64 " leaves need a tier above the spines", leaves);
        *out = leaves < below->blocks ? leaves : below->blocks;
    } else if (!top) {
        *out = most == 0 ? 0 : even_size(below->blocks, fab_ceil_div(below->blocks, most), 1);
    }
    FAB_REFUSE_IF(*out == 0 || *out > most, err, FAB_EINPUT, fab_tier_name(FAB_WIRING_TREE, t),
                  "radix %" PRIu64 " is too small: a %s has %" PRIu64
                  " ports for what is below, and must reach %" PRIu64 " %s",
                  plan->tier[t].radix, fab_tier_name(FAB_WIRING_TREE, t), most, *out == 0 ? 1 : *out,
                  t == 2   ? "leaves"
                  : t == 3 ? "pods"
                           : "groups of pods");
    return FAB_OK;
}

/* The switches below lay `trunk` cables to each of as few parents as keep their taper. False: they lack the ports. */
static bool fill_block(fab_clos_plan *plan, uint32_t t, uint32_t n_tiers, uint64_t children, uint64_t trunk) {
    fab_clos_tier *below = &plan->tier[t - 1];
    fab_clos_tier *tier = &plan->tier[t];
    below->parents = fab_ceil_div(below->up, trunk);
    below->up = below->parents * trunk;
    below->trunk = trunk;
    tier->children = children;
    tier->blocks = fab_ceil_div(below->blocks, children);
    tier->block_switches = below->block_switches * below->parents;
    tier->down = children * trunk;
    tier->up = t == n_tiers ? 0 : uplinks(tier, tier->down);
    return fab_tier_ports(below) <= below->radix;
}

/* Ports, used or not, of tiers `first` to `last` of one network, and the cables above them. */
static uint64_t clos_ports(const fab_clos_plan *plan, uint32_t first, uint32_t last, uint64_t *out_cables) {
    uint64_t n = 0;
    *out_cables = 0;
    for (uint32_t t = first; t <= last; t++) {
        const uint64_t switches = plan->tier[t].blocks * plan->tier[t].block_switches;
        n += switches * plan->tier[t].radix;
        *out_cables += switches * plan->tier[t].up;
    }
    return n;
}

/* Whether the tiers of `a` up to `t` take fewer ports than all of `b`, which has none without tiers, or as many and
 * fewer cables. */
static bool takes_less(const fab_clos_plan *a, uint32_t t, const fab_clos_plan *b) {
    uint64_t cables_a = 0;
    uint64_t cables_b = 0;
    uint64_t ports_a = clos_ports(a, 1, t, &cables_a);
    uint64_t ports_b = clos_ports(b, 1, b->n_tiers, &cables_b);
    return b->n_tiers == 0 || ports_a < ports_b || (ports_a == ports_b && cables_a < cables_b);
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

/* The cheapest plan of those whose tiers below `t` are those of `plan`, up to the uplinks of the last. */
static fab_status size_above(const fab_fabric_spec *spec, fab_clos_plan *plan, uint32_t t, uint32_t n_tiers,
                             fab_error *err) {
    uint64_t children = 0;
    fab_clos_plan best;
    best.n_tiers = 0;
    if (t > n_tiers || t > FAB_MAX_TIERS) {
        return FAB_OK;
    }
    FAB_PASS(size_block(spec, plan, t, n_tiers, &children, err));
    const uint64_t most = most_downlinks(&plan->tier[t], t == n_tiers) / children;
    const uint64_t up = plan->tier[t - 1].up;
    for (uint64_t trunk = 1, parents = 2; trunk <= most && parents != 1;
         trunk = parents > 1 ? fab_ceil_div(up, parents - 1) : trunk) { /* between: more cables to as many */
        fab_clos_plan next = *plan;
        const bool has_ports = fill_block(&next, t, n_tiers, children, trunk);
        parents = next.tier[t - 1].parents;
        if (has_ports && takes_less(&next, t, &best)) {
            fab_status status = size_above(spec, &next, t + 1, n_tiers, best.n_tiers == 0 ? err : NULL);
            FAB_PASS(best.n_tiers == 0 ? status : FAB_OK);
            if (status == FAB_OK && takes_less(&next, n_tiers, &best)) {
                best = next;
            }
        }
    }
    *plan = best;
    return FAB_OK;
}

/* Ports that the tiers above the leaves have at least, whatever the number of those: what the cables take that the
 * tapers want. */
static double least_above(const fab_clos_plan *plan) {
    double cables = (double)(plan->attach.n_columns * plan->attach.column_ports);
    double ports = 0;
    for (uint32_t t = 2; t <= plan->n_tiers; t++) {
        const fab_clos_tier *below = &plan->tier[t - 1];
        cables *= below->down_bps / (below->taper * below->up_bps);
        ports += cables / (double)plan->tier[t].split_down + (t > 2 ? cables / (double)below->split_up : 0);
    }
    return ports;
}

/* The cheapest plan: as few leaves as the ports allow, or more where that spares more above them. */
static fab_status size_tiers(const fab_fabric_spec *spec, fab_clos_plan *plan, uint32_t n_tiers, fab_error *err) {
    const fab_clos_attach *attach = &plan->attach;
    const fab_clos_tier *leaf = &plan->tier[1];
    const uint64_t n = attach->column_ports;
    uint64_t most = 0;
    fab_clos_plan best = {.n_tiers = 0};
    fab_clos_rates(spec, plan, n_tiers);
    FAB_PASS(most_of_leaf(plan, n_tiers, &most, err));
    const bool is_given = n_tiers == 1 || leaf->most_down != 0;
    const double above = is_given ? 0 : least_above(plan);
    for (uint64_t groups = fab_ceil_div(n, most);; groups++) {
        const double least = (double)(groups * attach->n_columns * leaf->radix) + above;
        uint64_t cables = 0;
        if (best.n_tiers != 0 && (is_given || least > (double)clos_ports(&best, 1, n_tiers, &cables))) {
            break;
        }
        fab_clos_plan next = *plan;
        fill_leaf(&next, n_tiers, leaf->most_down == 0 ? even_size(n, groups, attach->granule) : most < n ? most : n);
        fab_status status = size_above(spec, &next, 2, n_tiers, best.n_tiers == 0 ? err : NULL);
        FAB_PASS(best.n_tiers == 0 ? status : FAB_OK);
        if (status == FAB_OK && takes_less(&next, n_tiers, &best)) {
            best = next;
        }
    }
    *plan = best;
    return FAB_OK;
}

static fab_status size_alike(const fab_fabric_spec *spec, fab_clos_plan *plan, fab_error *err) {
    if (spec->tiers != 0) {
        FAB_REFUSE_IF(spec->tiers < plan->attach.min_tiers, err, FAB_EINPUT, NULL,
                      "%s has at least %" PRIu64 " tiers, not %" PRIu64, spec->family, plan->attach.min_tiers,
                      spec->tiers);
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

/* --- spares ------------------------------------------------------------------------------------------------------- */

/* Cables below a leaf of a group without spares. */
static uint64_t active_down(const fab_clos_plan *plan, uint64_t group) {
    uint64_t down = plan->tier[1].down;
    uint64_t before = group * down;
    uint64_t rest = plan->attach.column_ports > before ? plan->attach.column_ports - before : 0;
    return rest < down ? rest : down;
}

uint64_t fab_clos_leaf_down(const fab_clos_plan *plan, uint64_t group) {
    const fab_clos_spares *s = &plan->spares;
    uint64_t groups = fab_clos_groups(plan);
    uint64_t spares = (group + 1 == groups ? s->in_last : 0) + s->each + (group + s->more >= groups);
    uint64_t down = active_down(plan, group) + spares * plan->attach.granule;
    return down > plan->tier[1].down ? down : plan->tier[1].down;
}

uint64_t fab_clos_leaf_up(const fab_clos_plan *plan, uint64_t group) {
    const fab_clos_tier *leaf = &plan->tier[1];
    uint64_t below = fab_ceil_div(fab_clos_leaf_down(plan, group), leaf->split_down);
    uint64_t left = below < leaf->radix ? (leaf->radix - below) * leaf->split_up : 0;
    return left < leaf->up ? left : leaf->up;
}

uint64_t fab_clos_spare_group(const fab_clos_plan *plan, uint64_t i, uint64_t *out_port) {
    const fab_clos_spares *s = &plan->spares;
    uint64_t groups = fab_clos_groups(plan);
    uint64_t granule = i / plan->attach.granule;
    uint64_t group = groups - 1;
    uint64_t at = granule; /* among the spares of its group */
    if (granule >= s->in_last) {
        uint64_t rest = granule - s->in_last;
        uint64_t of_fewer = (groups - s->more) * s->each;
        group = rest < of_fewer ? rest / s->each : groups - s->more + (rest - of_fewer) / (s->each + 1);
        at = rest < of_fewer ? rest % s->each : (rest - of_fewer) % (s->each + 1);
        at += group + 1 == groups ? s->in_last : 0;
    }
    *out_port = active_down(plan, group) + at * plan->attach.granule + i % plan->attach.granule + 1;
    return group;
}

/* Cables are numbered leaf by leaf, cable by cable, and dropped in this order, spine after spine: leaves then lose the
 * same number or one fewer. */
bool fab_clos_is_dropped(const fab_clos_plan *plan, uint64_t leaf, uint64_t cable, uint64_t parent,
                         uint64_t *out_before) {
    const fab_clos_tier *tier = &plan->tier[1];
    uint64_t cables = tier->blocks * tier->trunk;
    bool is_dropped = false;
    *out_before = 0;
    for (uint64_t i = 0; i < plan->spares.dropped; i++) {
        uint64_t at = (parent * plan->spares.dropped + i) % cables;
        uint64_t other = at % tier->blocks;
        is_dropped = is_dropped || at == cable * tier->blocks + leaf;
        *out_before += other < leaf || (other == leaf && at / tier->blocks < cable);
    }
    return is_dropped;
}

uint64_t fab_clos_uplinks(const fab_clos_plan *plan) {
    uint64_t groups = fab_clos_groups(plan);
    if (plan->spares.n == 0) {
        return plan->tier[1].blocks * plan->tier[1].up - plan->tier[1].parents * plan->spares.dropped;
    }
    FAB_SUM(uint64_t, sum, group, groups, fab_clos_leaf_up(plan, group));
    return sum * plan->attach.n_columns;
}

/* Deals `n` spares of a column over the leaves that are there. False: some leaf would lose more than half of its
 * uplinks, so that those who work would pay for those who wait. */
static bool deal_spares(fab_clos_plan *plan, uint64_t n) {
    fab_clos_spares *s = &plan->spares;
    const fab_clos_tier *leaf = &plan->tier[1];
    uint64_t granule = plan->attach.granule;
    uint64_t groups = fab_clos_groups(plan);
    uint64_t last = active_down(plan, groups - 1);
    uint64_t granules = fab_ceil_div(n, granule);
    *s = (fab_clos_spares){.n = n, .in_last = (leaf->down - last) / granule};
    s->in_last = s->in_last < granules ? s->in_last : granules;
    s->each = (granules - s->in_last) / groups;
    s->more = (granules - s->in_last) % groups;
    uint64_t down = fab_clos_leaf_down(plan, groups - 1);
    uint64_t up = fab_clos_leaf_up(plan, groups - 1);
    return fab_ceil_div(down, leaf->split_down) + fab_ceil_div(up, leaf->split_up) <= leaf->radix &&
           2 * up >= leaf->up && (plan->n_tiers == 1 || up > 0);
}

/* Uplinks of the leaf that has fewest. */
static uint64_t fewest_up(const fab_clos_plan *plan) {
    const fab_clos_tier *leaf = &plan->tier[1];
    if (plan->spares.n > 0) {
        return fab_clos_leaf_up(plan, fab_clos_groups(plan) - 1); /* holds most spares */
    }
    uint64_t lost = fab_ceil_div(leaf->parents * plan->spares.dropped, leaf->blocks);
    return lost < leaf->up ? leaf->up - lost : 0;
}

/* Gives spares leaves of their own in a network of two tiers that is full without them. False: as above. */
static bool drop_cables(fab_clos_plan *plan, uint64_t n) {
    fab_clos_tier *leaf = &plan->tier[1];
    fab_clos_tier *spine = &plan->tier[2];
    if (plan->n_tiers != 2) {
        return false;
    }
    plan->attach.column_ports += n;
    leaf->blocks = plan->attach.n_columns * fab_ceil_div(plan->attach.column_ports, leaf->down);
    spine->children = leaf->blocks;
    uint64_t ports = most_downlinks(spine, true);
    uint64_t cables = leaf->blocks * leaf->trunk;
    plan->spares = (fab_clos_spares){.dropped = cables > ports ? cables - ports : 0};
    spine->down = cables - plan->spares.dropped;
    return 2 * fewest_up(plan) >= leaf->up;
}

static double leaf_taper(const fab_clos_plan *plan) {
    return (double)fab_clos_leaf_down(plan, fab_clos_groups(plan) - 1) / (double)fewest_up(plan);
}

/* Spares hang where ports are free. Where the switches above the leaves would have to be more for their sake, leaves
 * give up uplinks: those that hold them, or all a few, whichever leaves the fullest leaf with more. */
fab_status fab_clos_size(const fab_fabric_spec *spec, fab_clos_plan *plan, fab_error *err) {
    fab_clos_plan few = *plan;
    fab_error last = {0};
    uint64_t cables = 0;
    uint64_t n_spares = plan->attach.column_ports - plan->attach.active_ports;
    fab_status status = size_alike(spec, plan, &last);
    if (n_spares > 0 && !spec->full_spares) {
        few.attach.column_ports = few.attach.active_ports;
        if (size_alike(spec, &few, NULL) == FAB_OK &&
            (status != FAB_OK ||
             clos_ports(&few, 2, few.n_tiers, &cables) < clos_ports(plan, 2, plan->n_tiers, &cables))) {
            fab_clos_plan apart = few;
            bool is_dealt = deal_spares(&few, n_spares);
            bool is_apart = drop_cables(&apart, n_spares);
            if (is_dealt || is_apart) {
                *plan = is_apart && (!is_dealt || leaf_taper(&apart) < leaf_taper(&few)) ? apart : few;
                return FAB_OK;
            }
        }
    }
    return status == FAB_OK ? FAB_OK : fab_fail(err, last.code, last.where, "%s", last.text);
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
        c.cables_by_tier[t - 1] = t == 1   ? plan->ends.nics * plan->ends.planes
                                  : t == 2 ? copies * fab_clos_uplinks(plan)
                                           : copies * below->blocks * below->block_switches * below->up;
        c.ports_by_tier[t - 1] = c.switches_by_tier[t - 1] * tier->radix;
        if (c.cables_by_tier[t - 1] > 0) {
            c.kinds[c.n_kinds++] =
                (fab_cable_kind){t, tier->down_bps, fab_tier_length_m(spec, t), c.cables_by_tier[t - 1]};
        }
        c.switches += c.switches_by_tier[t - 1];
        c.cables += c.cables_by_tier[t - 1];
        c.ports += c.ports_by_tier[t - 1];
        if (t < plan->n_tiers) {
            double down = (double)(t == 1 ? fab_clos_leaf_down(plan, fab_clos_groups(plan) - 1) : tier->down);
            double up = (double)(t == 1 ? fewest_up(plan) : tier->up);
            c.built_taper[t - 1] = down * tier->down_bps / (up * tier->up_bps);
        }
    }
    *out = c;
}
