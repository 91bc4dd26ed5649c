/* clos: servers attached to a rack switch, all NICs of a server to the same leaf.
 * fat-tree: the same tree with the NICs numbered leaf by leaf; k = all tiers of radix k, k^3/4 NIC ports. */
#include "clos_plan.h"
#include "families.h"

#include <inttypes.h>

static fab_status plan_clos(fab_fabric_spec *spec, fab_clos_plan *plan, fab_error *err) {
    fab_status status = fab_clos_endpoints(spec, plan, err);
    if (status == FAB_OK) {
        plan->attach = (fab_clos_attach){.n_networks = 1,
                                         .n_columns = 1,
                                         .column_ports = plan->nics,
                                         .granule = spec->nics_per_server,
                                         .min_tiers = 1,
                                         .rails_per_network = 1};
        status = fab_clos_size(spec, plan, err);
    }
    return status;
}

static fab_status plan_fat_tree(fab_fabric_spec *spec, fab_clos_plan *plan, fab_error *err) {
    if (spec->xgft[0] != '\0') {
        return fab_fail(err, FAB_EUNSUPPORTED, NULL,
                        "the xgft form of fat-tree is not built yet; give k, or gpus and radix");
    }
    if (spec->k != 0) {
        if (spec->k % 2 != 0 || spec->k < 2) {
            return fab_fail(err, FAB_EINPUT, NULL, "a fat-tree needs an even k of at least 2, not %" PRIu64, spec->k);
        }
        for (uint32_t t = 0; t < FAB_MAX_TIERS; t++) {
            spec->tier[t].radix = spec->k;
        }
        if (spec->tiers == 0) {
            spec->tiers = 3;
        }
        if (spec->gpus == 0) {
            uint64_t ports = spec->k * spec->k * spec->k / 4;
            spec->gpus = ports * spec->gpus_per_server / spec->nics_per_server;
            spec->gpus -= spec->gpus > spec->spares * spec->gpus_per_server ? spec->spares * spec->gpus_per_server : 0;
        }
    }
    fab_status status = fab_clos_endpoints(spec, plan, err);
    if (status == FAB_OK) {
        plan->attach = (fab_clos_attach){.n_networks = 1,
                                         .n_columns = 1,
                                         .column_ports = plan->nics,
                                         .granule = 1,
                                         .min_tiers = 1,
                                         .rails_per_network = 1};
        status = fab_clos_size(spec, plan, err);
    }
    return status;
}

FAB_CLOS_FAMILY(fab_family_clos, "clos", "folded Clos; all NICs of a server on one rack switch", plan_clos)
FAB_CLOS_FAMILY(fab_family_fat_tree, "fat-tree", "k-ary fat-tree (k=), or a Clos filled NIC by NIC", plan_fat_tree)
