/* What spare servers cost beside themselves: the same fabric without them, and with full bisection for them. */
#include "fab/analysis.h"
#include "fab/memory.h"

/* Switches, cables and cost of a fabric in closed form. False: it cannot be built or priced so. */
static bool spares_price(fab_fabric_spec spec, const fab_prices *prices, fab_counts *counts, fab_cost *cost) {
    return fab_topology_predict(&spec, counts, NULL) == FAB_OK &&
           fab_cost_of(&spec, counts, prices, cost, NULL) == FAB_OK;
}

fab_status fab_spares_measure(const fab_fabric_spec *spec, const fab_prices *prices, fab_spares *out, fab_error *err) {
    FAB_OWNED fab_counts *counts = NULL;
    FAB_OWNED fab_cost *cost = NULL;
    fab_fabric_spec other = *spec;
    *out = (fab_spares){.servers = spec->spares};
    if (spec->spares == 0) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW_ALL(3, err, counts, cost));
    other.spares = 0;
    out->is_known = spares_price(*spec, prices, &counts[0], &cost[0]) &&
                    spares_price(other, prices, &counts[1], &cost[1]) && counts[0].switches >= counts[1].switches;
    if (out->is_known) {
        out->more_switches = counts[0].switches - counts[1].switches;
        out->more_tiers = counts[0].tiers - counts[1].tiers;
        out->more_usd = cost[0].total_usd - cost[1].total_usd;
        out->leaf_taper = counts[0].built_taper[0];
    }
    other = *spec;
    other.full_spares = true;
    if (out->is_known && spares_price(other, prices, &counts[2], &cost[2])) {
        out->is_shared = counts[2].switches > counts[0].switches && counts[0].built_taper[0] > counts[2].built_taper[0];
        out->full_switches = counts[2].switches;
        out->full_tiers = counts[2].tiers;
        out->full_usd = cost[2].total_usd - cost[0].total_usd;
    }
    out->is_told = out->is_known && (out->is_shared || out->more_switches > 0);
    return FAB_OK;
}
