/* clos: servers attached to a rack switch, all NICs of a server to the same leaf.
 * fat-tree: the same tree with the NICs numbered leaf by leaf; k = all tiers of radix k, k^3/4 NIC ports. */
#include "clos_plan.h"
#include "families.h"

/* A leaf that stands in a rack has no cables from another. */
static uint64_t ports_of_rack(const fab_fabric_spec *spec) {
    const fab_floor_spec *f = &spec->floor;
    bool in_rack = f->leaf_at == FAB_LEAF_AUTO || f->leaf_at == FAB_LEAF_IN_RACK;
    return f->given && f->limits_racks && in_rack ? f->servers_per_rack * spec->nics_per_server : 0;
}

static fab_status plan_clos(fab_fabric_spec *spec, fab_clos_plan *plan, fab_error *err) {
    FAB_PASS(fab_ends_count(spec, &plan->ends, err));
    plan->attach = (fab_clos_attach){.n_networks = 1,
                                     .n_columns = 1,
                                     .column_ports = plan->ends.nics,
                                     .active_ports = plan->ends.nics - spec->spares * spec->nics_per_server,
                                     .granule = spec->nics_per_server,
                                     .rack_ports = ports_of_rack(spec),
                                     .min_tiers = 1,
                                     .rails_per_network = 1};
    return fab_clos_size(spec, plan, err);
}

/* NIC by NIC along the leaves of one network. */
static fab_clos_attach one_by_one(const fab_fabric_spec *spec, uint64_t nics) {
    return (fab_clos_attach){.n_networks = 1,
                             .n_columns = 1,
                             .column_ports = nics,
                             .active_ports = nics - spec->spares * spec->nics_per_server,
                             .granule = 1,
                             .min_tiers = 1,
                             .rails_per_network = 1};
}

/* Sizes are given, not derived; only the filling and the ports are checked. */
static fab_status plan_xgft(fab_fabric_spec *spec, fab_clos_plan *plan, fab_error *err) {
    const fab_xgft *x = &spec->xgft;
    FAB_REFUSE_IF(x->w[1] != 1 || x->p[1] != 1, err, FAB_EUNSUPPORTED, NULL,
                  "xgft: w1 = %" PRIu64 ", p1 = %" PRIu64 ": a NIC port has one cable; use planes", x->w[1], x->p[1]);
    if (spec->gpus == 0) {
        spec->gpus = fab_ends_behind(spec, x->ports);
    }
    FAB_PASS(fab_ends_count(spec, &plan->ends, err));
    FAB_REFUSE_IF(plan->ends.nics > x->ports, err, FAB_EINPUT, NULL,
                  "xgft: %" PRIu64 " NICs, but only %" PRIu64 " ports", plan->ends.nics, x->ports);
    plan->attach = one_by_one(spec, plan->ends.nics);
    fab_clos_rates(spec, plan, x->height);
    uint64_t blocks = plan->ends.nics;
    for (uint32_t t = 1; t <= x->height; t++) {
        fab_clos_tier *tier = &plan->tier[t];
        bool top = t == x->height;
        tier->children = x->m[t];
        tier->down = (blocks < x->m[t] ? blocks : x->m[t]) * x->p[t];
        tier->parents = top ? 0 : x->w[t + 1];
        tier->trunk = top ? 0 : x->p[t + 1];
        tier->up = tier->parents * tier->trunk;
        blocks = (blocks + x->m[t] - 1) / x->m[t];
        tier->blocks = blocks;
        tier->block_switches = t == 1 ? 1 : plan->tier[t - 1].block_switches * x->w[t];
        uint64_t need = fab_tier_ports(tier);
        FAB_REFUSE_IF(need > tier->radix, err, FAB_EINPUT, fab_tier_name(FAB_WIRING_TREE, t),
                      "a %s needs %" PRIu64 " ports; its radix is %" PRIu64, fab_tier_name(FAB_WIRING_TREE, t), need,
                      tier->radix);
    }
    return FAB_OK;
}

static fab_status plan_fat_tree(fab_fabric_spec *spec, fab_clos_plan *plan, fab_error *err) {
    if (spec->xgft.height > 0) {
        return plan_xgft(spec, plan, err);
    }
    if (spec->k != 0) {
        FAB_REFUSE_IF(spec->k % 2 != 0 || spec->k < 2, err, FAB_EINPUT, NULL,
                      "a fat-tree needs an even k of at least 2, not %" PRIu64, spec->k);
        for (uint32_t t = 0; t < FAB_MAX_TIERS; t++) {
            spec->tier[t].radix = spec->k;
        }
        if (spec->tiers == 0) {
            spec->tiers = 3;
        }
        if (spec->gpus == 0) {
            spec->gpus = fab_ends_behind(spec, spec->k * spec->k * spec->k / 4);
        }
    }
    FAB_PASS(fab_ends_count(spec, &plan->ends, err));
    plan->attach = one_by_one(spec, plan->ends.nics);
    return fab_clos_size(spec, plan, err);
}

static const char *const FAT_TREE_KEYS[] = {"k", "xgft", NULL};

FAB_CLOS_FAMILY(fab_family_clos, "clos", "folded Clos; all NICs of a server on one rack switch", NULL, plan_clos)
FAB_CLOS_FAMILY(fab_family_fat_tree, "fat-tree", "k-ary fat-tree (k=16), or a Clos filled NIC by NIC (xgft=)",
                FAT_TREE_KEYS, plan_fat_tree)
