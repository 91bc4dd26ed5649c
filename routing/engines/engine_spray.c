/* spray: every switch spreads packets over all its minimal next hops, evenly or by what can still get through
 * downstream. Packets overtake one another, so that the receiver's window limits the rate. */
#include "engines.h"
#include "fab/split.h"

#include <string.h>

typedef struct state {
    fab_split_rule rule;
} state;

static fab_status spray_set(fab_router *router, const char *key, const char *value, fab_error *err) {
    state *s = router->state;
    if (strcmp(key, "weights") == 0) {
        bool by_capacity = false;
        fab_status status = fab_either_parse(value, "equal capacity", &by_capacity, err);
        s->rule = by_capacity ? FAB_SPLIT_CAPACITY : FAB_SPLIT_EQUAL;
        return status;
    }
    return fab_reorder_set(router, key, value, err);
}

static fab_status spray_split(const fab_router *router, const fab_dag *dag, const fab_demand *demand,
                              const fab_bound *known, fab_split *out, fab_error *err) {
    const state *s = router->state;
    (void)dag;
    (void)demand;
    (void)known;
    (void)err;
    *out = (fab_split){.rule = s->rule};
    return FAB_OK;
}

static const fab_engine_option OPTIONS[] = {
    {"weights", "equal", "of next hops: equal, or capacity (what can still get through downstream)", false},
    FAB_REORDER_OPTIONS,
    FAB_TABLES_OPTION,
    {NULL, NULL, NULL, false},
};

const fab_engine fab_engine_spray = {
    .name = "spray",
    .summary = "every packet on its own: flows split over all minimal paths at every switch",
    .options = OPTIONS,
    .on_loss = FAB_LOSS_RECONVERGE,
    .reorders = true,
    .state_size = sizeof(state),
    .set = spray_set,
    .split = spray_split,
};
