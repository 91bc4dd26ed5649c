/* optimal: the split over minimal paths whose fullest link is as empty as any split can make it, for the traffic at
 * hand. What a routing could reach at best, not what switches do. */
#include "engines.h"
#include "fab/bound.h"
#include "split/split_rule.h"

enum { OPTIMAL_METHOD }; /* options, as in the table; those of reordering follow */

static const fab_bound_method METHODS[] = {FAB_BOUND_TRIVIAL, FAB_BOUND_LP, FAB_BOUND_WEIGHTS};

/* What another one owns. */
static fab_status optimal_copy(const fab_router *router, const fab_split *split, fab_split *out, fab_error *err) {
    fab_status status = FAB_OK;
    size_t n_links = router->fabric->n_links;
    size_t n_shares = n_links * router->next_hops->n_leaves;
    *out = (fab_split){.rule = split->rule};
    if (split->weight != NULL) {
        FAB_TRY(FAB_NEW(out->weight, n_links, err));
        memcpy(out->weight, split->weight, n_links * sizeof *out->weight);
    }
    if (split->share != NULL) {
        FAB_TRY(FAB_NEW(out->share, n_shares, err));
        memcpy(out->share, split->share, n_shares * sizeof *out->share);
    }
done:
    if (status != FAB_OK) {
        fab_split_release(out);
    }
    return status;
}

static fab_status optimal_split(const fab_router *router, const fab_dag *dag, const fab_demand *demand,
                                const fab_bound *known, fab_split *out, fab_error *err) {
    const fab_bound_method method = METHODS[router->option[OPTIMAL_METHOD].number];
    fab_bound bound = {0};
    if (known != NULL && method == FAB_BOUND_TRIVIAL) {
        return optimal_copy(router, known->split, out, err);
    }
    fab_status status = fab_bound_find(router->fabric, dag, router->next_hops, demand, method, &bound, err);
    if (status == FAB_OK) {
        *out = *bound.split;
        *bound.split = (fab_split){0};
    }
    fab_bound_release(&bound);
    return status;
}

static const fab_engine_option OPTIONS[] = {
    [OPTIMAL_METHOD] = {"method", "auto",
                        "lp (linear program, exact), weights (within 1 % of a certificate), or auto: lp where it is "
                        "small",
                        false, .kind = FAB_OPTION_CHOICE, .choices = "auto lp weights"},
    FAB_REORDER_OPTIONS,
    {.key = NULL},
};

const fab_engine fab_engine_optimal = {
    .name = "optimal",
    .summary = "the split of this very traffic over minimal paths whose fullest link is the least full: a bound of "
               "loads, not of "
               "times",
    .options = OPTIONS,
    .on_loss = FAB_LOSS_RECONVERGE,
    .reorders = true,
    .by_demand = true,
    .split = optimal_split,
};
