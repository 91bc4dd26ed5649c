/* Groups of plans and bounds that know no switch, for the next search. */
#include "plan_internal.h"

FAB_RELEASES(fab_plan_kept_release, fab_plan_kept, group, plan, first, count);

fab_status plan_keep_groups(fab_plan_kept *kept, const plan_rates *rates, const plan_node *group, size_t n,
                            fab_error *err) {
    FAB_PASS(FAB_NEW(kept->group, n, err));
    FAB_PASS(FAB_NEW_ALL(n, err, kept->first, kept->count));
    memcpy(kept->group, group, n * sizeof *group);
    kept->n_groups = n;
    kept->nics_bps = rates->nics_bps;
    kept->domain_bps = rates->domain_bps;
    return FAB_OK;
}

fab_status plan_kept_check(const fab_plan_kept *kept, const plan_rates *rates, fab_error *err) {
    FAB_REFUSE_IF(kept->nics_bps != rates->nics_bps || kept->domain_bps != rates->domain_bps, err, FAB_EINTERNAL, NULL,
                  "what is kept of plans is of other NICs or domains");
    return FAB_OK;
}
