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

static fab_status plan_rail_only(fab_fabric_spec *spec, fab_clos_plan *plan, fab_error *err) {
    FAB_PASS(fab_ends_count(spec, &plan->ends, err));
    uint64_t ports = spec->tier[0].radix * spec->tier[0].breakout;
    if (spec->tier[0].down != 0 && spec->tier[0].down < ports) {
        ports = spec->tier[0].down;
    }
    uint64_t sharing = spec->rails_per_switch;
    FAB_REFUSE_IF(sharing != 0 && plan->ends.rails % sharing != 0, err, FAB_EINPUT, NULL,
                  "rails-per-switch %" PRIu64 " does not divide the %" PRIu64 " rails", sharing, plan->ends.rails);
    if (sharing == 0) {
        sharing = spec->tiers <= 1 && plan->ends.units > 0 ? ports / plan->ends.units : 1;
    }
    sharing = sharing > plan->ends.rails ? plan->ends.rails : sharing;
    sharing = sharing < 1 ? 1 : sharing;
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
