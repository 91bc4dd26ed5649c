/* spray: every switch spreads packets over all its minimal next hops, evenly or by what can still get through
 * downstream. Packets overtake one another, so that the receiver's window limits the rate. */
#include "engines.h"
#include "split/split_rule.h"

enum { SPRAY_WEIGHTS }; /* options, as in the table; those of reordering and tables follow */

static fab_status spray_split(const fab_router *router, FAB_UNUSED const fab_dag *dag,
                              FAB_UNUSED const fab_demand *demand, FAB_UNUSED const fab_bound *known, fab_split *out,
                              FAB_UNUSED fab_error *err) {
    *out = (fab_split){.rule = router->option[SPRAY_WEIGHTS].number == 1 ? FAB_SPLIT_CAPACITY : FAB_SPLIT_EQUAL};
    return FAB_OK;
}

static const fab_engine_option OPTIONS[] = {
    [SPRAY_WEIGHTS] = {"weights", "equal", "of next hops: equal, or capacity (what can still get through downstream)",
                       false, .kind = FAB_OPTION_CHOICE, .choices = "equal capacity"},
    FAB_REORDER_OPTIONS,
    FAB_TABLES_OPTION,
    {.key = NULL},
};

const fab_engine fab_engine_spray = {
    .name = "spray",
    .summary = "every packet on its own: flows split over all minimal paths at every switch",
    .options = OPTIONS,
    .on_loss = FAB_LOSS_RECONVERGE,
    .reorders = true,
    .split = spray_split,
};
