/* file: forwarding tables as fab_tables_write or a subnet manager writes them. One next hop per destination is
 * followed; groups are split by their weights, evenly without. */
#include "engines.h"
#include "split/split_rule.h"
#include "tables/tables_read.h"

enum { FILE_PATH }; /* options, as in the table */

/* The engine's state: tables, without entries where the file has groups. */
static fab_status file_prepare(fab_router *router, fab_error *err) {
    fab_forwarding *tables = router->state;
    const char *path = router->option[FILE_PATH].text;
    FAB_REFUSE_IF(path[0] == '\0', err, FAB_EINPUT, NULL,
                  "needs path=FILE, as 'fabriscope route --dump FILE' or opensm writes it");
    FAB_PASS(fab_tables_read(router, path, FAB_WEIGHTS_SPLIT, tables, &router->groups, err));
    if (router->groups.next_hops != NULL) {
        router->next_hops = router->groups.next_hops;
        router->facts.splits = true;
    }
    router->unreached = tables->unreached;
    return FAB_OK;
}

static void file_release(fab_router *router) {
    fab_forwarding_release(router->state);
}

static fab_link_id file_next(const fab_router *router, fab_node_id v, const fab_hop_key *key) {
    const fab_forwarding *tables = router->state;
    return tables->entry != NULL ? fab_forwarding_get(router->fabric, tables, v, key->destination) : FAB_NONE;
}

/* Shares that sum to 1 up to rounding are taken as they stand: what is read and written again stays the same. */
static void set_shares(const fab_next_hop_list *next, const double *weight, double *share) {
    FAB_SUM(double, sum, i, next->count, weight[i]);
    for (uint32_t i = 0; i < next->count; i++) {
        share[fab_next_hop(next, i)] = sum == 0                ? 1.0 / next->count
                                       : fabs(sum - 1) < 1e-12 ? weight[i]
                                                               : weight[i] / sum;
    }
}

static fab_status file_split(const fab_router *router, FAB_UNUSED const fab_dag *dag,
                             FAB_UNUSED const fab_demand *demand, FAB_UNUSED const fab_bound *known, fab_split *out,
                             fab_error *err) {
    const fab_next_hops *t = router->next_hops;
    if (router->groups.weight == NULL) {
        *out = (fab_split){.rule = FAB_SPLIT_EQUAL};
        return FAB_OK;
    }
    size_t n_links = router->fabric->n_links;
    double *share = NULL;
    FAB_PASS(fab_allocate(t->n_leaves, n_links * sizeof *share, &share, err));
    for (uint32_t v = 0; v < fab_n_switches(router->fabric); v++) {
        for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
            fab_next_hop_list next = fab_next_hops_look(t, v, leaf);
            if (next.count > 0) {
                set_shares(&next, fab_read_weights(router, &next), share + leaf * n_links);
            }
        }
    }
    *out = (fab_split){.rule = FAB_SPLIT_SHARE, .share = share};
    return FAB_OK;
}

static const fab_engine_option OPTIONS[] = {
    [FILE_PATH] = {"path", "", "the file, as 'route --dump', opensm or dump_lfts writes it", false,
                   .kind = FAB_OPTION_FILE},
    {.key = NULL},
};

const fab_engine fab_engine_file = {
    .name = "file",
    .summary =
        "forwarding tables from a file, also those of a subnet manager; groups of next hops are split by their weights",
    .options = OPTIONS,
    .on_loss = FAB_LOSS_NONE,
    .by_destination = true,
    .state_size = sizeof(fab_forwarding),
    .prepare = file_prepare,
    .release = file_release,
    .next = file_next,
    .split = file_split,
    .explain = fab_forwarding_explain,
};
