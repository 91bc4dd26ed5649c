/* rail-spine: NIC i of every domain of a group to rail leaf i, leaves to spines, spines to cores.
 * rail-only: one Clos per rail and no link between rails; small rails share a switch. */
#include "clos_plan.h"
#include "families.h"

static fab_status plan_rail_spine(fab_fabric_spec *spec, fab_clos_plan *plan, fab_error *err) {
    FAB_PASS(fab_ends_count(spec, &plan->ends, err));
    plan->attach = (fab_clos_attach){.n_networks = 1,
                                     .n_columns = plan->ends.rails,
                                     .column_ports = plan->ends.units,
                                     .active_ports = plan->ends.active_units,
                                     .granule = 1,
                                     .min_tiers = 2,
                                     .rails_per_network = plan->ends.rails,
                                     .by_rail = true};
    return fab_clos_size(spec, plan, err);
}

/* Rails that share a network: as given, or as many as fit a single switch. */
static uint64_t rails_sharing(const fab_fabric_spec *spec, const fab_ends *ends) {
    const uint64_t ports = spec->tier[0].radix * spec->tier[0].breakout;
    const uint64_t most = spec->tier[0].down != 0 && spec->tier[0].down < ports ? spec->tier[0].down : ports;
    uint64_t sharing = spec->rails_per_switch;
    if (sharing == 0) {
        sharing = spec->tiers <= 1 && ends->units > 0 ? most / ends->units : 1;
    }
    sharing = sharing > ends->rails ? ends->rails : sharing;
    return sharing < 1 ? 1 : sharing;
}

fab_rails fab_topology_rails(const fab_fabric_spec *spec) {
    fab_ends ends;
    return strcmp(spec->family, "rail-only") != 0 || fab_ends_count(spec, &ends, NULL) != FAB_OK
               ? (fab_rails){0, 0}
               : (fab_rails){ends.rails, rails_sharing(spec, &ends)};
}

static fab_status plan_rail_only(fab_fabric_spec *spec, fab_clos_plan *plan, fab_error *err) {
    FAB_PASS(fab_ends_count(spec, &plan->ends, err));
    const uint64_t sharing = rails_sharing(spec, &plan->ends);
    FAB_REFUSE_IF(spec->rails_per_switch != 0 && plan->ends.rails % spec->rails_per_switch != 0, err, FAB_EINPUT, NULL,
                  "rails-per-switch %" PRIu64 " does not divide the %" PRIu64 " rails", spec->rails_per_switch,
                  plan->ends.rails);
    plan->attach = (fab_clos_attach){.n_networks = plan->ends.rails / sharing + (plan->ends.rails % sharing != 0),
                                     .n_columns = 1,
                                     .column_ports = plan->ends.units * sharing,
                                     .active_ports = plan->ends.active_units * sharing,
                                     .granule = 1,
                                     .min_tiers = 1,
                                     .rails_per_network = sharing,
                                     .by_rail = true};
    return fab_clos_size(spec, plan, err);
}

static const char *const RAIL_ONLY_KEYS[] = {"rails-per-switch", "forward", "forwarding", NULL};

FAB_CLOS_FAMILY(fab_family_rail_spine, "rail-spine", "NIC i of every server of a group on rail leaf i, then spines",
                NULL, plan_rail_spine)
FAB_CLOS_FAMILY(fab_family_rail_only, "rail-only", "one Clos per rail, no link between rails", RAIL_ONLY_KEYS,
                plan_rail_only)
