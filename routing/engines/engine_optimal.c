/* optimal: the split over minimal paths whose fullest link is as empty as any split can make it, for the traffic at
 * hand. What a routing could reach at best, not what switches do. */
#include "engines.h"
#include "fab/bound.h"
#include "fab/memory.h"
#include "fab/split.h"

#include <string.h>

typedef struct state {
    fab_bound_method method;
} state;

static fab_status set_method(state *s, const char *value, fab_error *err) {
    static const fab_bound_method METHODS[] = {FAB_BOUND_TRIVIAL, FAB_BOUND_LP, FAB_BOUND_WEIGHTS};
    uint32_t choice = 0;
    FAB_PASS(fab_choice_parse(value, "auto lp weights", &choice, err));
    s->method = METHODS[choice];
    return FAB_OK;
}

static fab_status optimal_set(fab_router *router, const char *key, const char *value, fab_error *err) {
    if (strcmp(key, "method") == 0) {
        return set_method(router->state, value, err);
    }
    return fab_reorder_set(router, key, value, err);
}

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
    const state *s = router->state;
    fab_bound bound = {0};
    if (known != NULL && s->method == FAB_BOUND_TRIVIAL) {
        return optimal_copy(router, &known->split, out, err);
    }
    fab_status status = fab_bound_find(router->fabric, dag, router->next_hops, demand, s->method, &bound, err);
    if (status == FAB_OK) {
        *out = bound.split;
        bound.split = (fab_split){0};
    }
    fab_bound_release(&bound);
    return status;
}

static const fab_engine_option OPTIONS[] = {
    {"method", "auto",
     "lp (linear program, exact), weights (within 1 % of a certificate), or auto: lp where it is small", false},
    FAB_REORDER_OPTIONS,
    {NULL, NULL, NULL, false},
};

const fab_engine fab_engine_optimal = {
    .name = "optimal",
    .summary = "the split of this very traffic over minimal paths whose fullest link is the least full: a bound",
    .options = OPTIONS,
    .on_loss = FAB_LOSS_RECONVERGE,
    .reorders = true,
    .by_demand = true,
    .state_size = sizeof(state),
    .set = optimal_set,
    .split = optimal_split,
};
