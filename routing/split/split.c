/* Loads and folds of a demand: block by block of 64 destination leaves, the pairs into rows of a value per leaf, a pass
 * over the block's runs, and the result back to links or pairs. See src/doc/adr/0018-splitting.md. */
#include "split_pass.h"

#define SOURCES 256 /* at a time, so that their rows stay in a cache while they are filled */

#define WEIGHT_SPREAD 1e250

FAB_RELEASES(fab_split_release, fab_split, weight, share);

FAB_FREES_AFTER(fab_split_free, fab_split, split) {
    fab_split_release(split);
}

const fab_split *fab_split_even(void) {
    static const fab_split EVEN = {.rule = FAB_SPLIT_EQUAL};
    return &EVEN;
}

bool fab_split_is_by_class(const fab_split *split) {
    return split->rule == FAB_SPLIT_EQUAL || split->rule == FAB_SPLIT_CAPACITY;
}

/* --- set-up ------------------------------------------------------------------------------------------------------- */

typedef struct work {
    fab_pass pass;
    double *rows; /* held and part, and scratch, before alignment */
} work;

FAB_FREES(split_release, work, rows, pass.active, pass.even, pass.weight, pass.group_load, pass.link_load, pass.row,
          pass.factor, pass.wide_share);

/* Weights, scaled so that the largest is in [1, 2). */
static fab_status take_weights(fab_pass *p, fab_error *err) {
    const fab_fabric *f = p->dag->fabric;
    const double *given = p->split->weight;
    double most = 0;
    FAB_PASS(FAB_NEW(p->weight, f->n_links, err));
    for (uint32_t l = 0; l < f->n_links; l++) {
        most = fab_class_of(f, l)->kind == FAB_LINK_FABRIC ? fmax(most, given[l]) : most;
    }
    double scale = isnormal(most) ? ldexp(1, -ilogb(most)) : 1;
    for (uint32_t l = 0; l < f->n_links; l++) {
        if (fab_class_of(f, l)->kind != FAB_LINK_FABRIC) {
            continue;
        }
        p->weight[l] = given[l] * scale;
        if (!(p->weight[l] >= 1 / WEIGHT_SPREAD && isnormal(most))) {
            return fab_fail(err, FAB_EINPUT, NULL,
                            "the weight of %s is %g; all must be above 0 and within a factor of %g", FAB_SAY_LINK(f, l),
                            given[l], WEIGHT_SPREAD);
        }
    }
    return FAB_OK;
}

static uint32_t n_levels(const fab_dag *dag) {
    uint32_t n = 1;
    for (size_t i = 0; i < dag->n_runs; i++) {
        n = dag->run[i].level >= n ? dag->run[i].level + 1 : n;
    }
    return n;
}

static fab_status split_prepare(const fab_dag *dag, const fab_split *split, work *w, fab_error *err) {
    fab_pass *p = &w->pass;
    size_t switch_rows =
        (size_t)dag->n_switches * (split->rule == FAB_SPLIT_CAPACITY || split->rule == FAB_SPLIT_WEIGHT ? 2 : 1);
    size_t scratch_rows = (size_t)5 + dag->widest + FAB_STEP + FAB_SLOT;
    size_t scale_rows = n_levels(dag);
    size_t rows = switch_rows + scratch_rows + scale_rows;
    p->dag = dag;
    p->split = split;
    FAB_PASS(FAB_NEW(w->rows, rows * FAB_ROW + 8, err));
    p->held = w->rows + (64 - (uintptr_t)w->rows % 64) % 64 / sizeof *w->rows; /* rows begin with cache lines */
    p->part = p->held + (switch_rows - dag->n_switches) * FAB_ROW;
    p->scratch = p->held + switch_rows * FAB_ROW;
    p->scale = p->scratch + scratch_rows * FAB_ROW;
    FAB_FILL(p->scale, scale_rows * FAB_ROW, 1);
    FAB_PASS(FAB_NEW(p->active, dag->n_switches, err));
    FAB_PASS(FAB_NEW(p->even, dag->longest, err));
    FAB_PASS(FAB_NEW_ALL((size_t)dag->widest + FAB_STEP, err, p->row, p->factor));
    return split->rule == FAB_SPLIT_WEIGHT ? take_weights(p, err) : FAB_OK;
}

/* --- switches that are alike -------------------------------------------------------------------------------------- */

/* The DAG that serves: alike links must count alike. */
static fab_status pick_dag(const fab_dag *dag, const fab_split *split, const fab_dag **out, fab_error *err) {
    bool alike = fab_split_is_by_class(split) || (split->rule == FAB_SPLIT_WEIGHT && dag->classes != NULL &&
                                                  fab_switch_classes_agree(dag->classes, split->weight));
    *out = dag;
    return alike ? FAB_OK : fab_dag_get_whole(dag, out, err);
}

/* From the links of first switches to all of them. */
static fab_status spread_load(const fab_dag *dag, double *load, fab_error *err) {
    const fab_switch_classes *t = dag->classes;
    FAB_OWNED_NEW(double, of_class, t->n_links, err); /* [link]: of the lowest of a class */
    for (uint32_t l = 0; l < t->n_links; l++) {
        if (fab_class_of(dag->fabric, l)->kind == FAB_LINK_FABRIC) {
            uint32_t tail = fab_tail(dag->fabric, l) - dag->base;
            if (t->first[tail] == tail) {
                of_class[t->link_first[l]] = load[l] / t->size[tail];
            }
        }
    }
    FAB_FILL(load, t->n_links, of_class[t->link_first[fab_at]]);
    return FAB_OK;
}

/* All links of a class carry the same, so that a mean goes by the mean of x over a class, and the largest on any path
 * by the largest: *own, unless x is the same anyway. */
static fab_status fold_classes(const fab_switch_classes *t, fab_fold fold, const double *x, double **own,
                               fab_error *err) {
    if (fab_switch_classes_agree(t, x)) {
        return FAB_OK;
    }
    FAB_OWNED_NEW(double, of_class, t->n_links, err);
    for (uint32_t l = 0; l < t->n_links; l++) {
        double *to = &of_class[t->link_first[l]];
        *to = fold == FAB_FOLD_MAX ? fmax(*to, x[l]) : *to + x[l];
    }
    for (uint32_t l = 0; fold != FAB_FOLD_MAX && l < t->n_links; l++) {
        of_class[l] = t->link_count[l] > 0 ? of_class[l] / t->link_count[l] : 0;
    }
    for (uint32_t l = 0; l < t->n_links; l++) { /* the lowest link of a class keeps what it has */
        of_class[l] = of_class[t->link_first[l]];
    }
    return FAB_GIVE(*own, of_class);
}

/* --- pairs -------------------------------------------------------------------------------------------------------- */

fab_status fab_dag_no_route(const fab_fabric *fabric, const fab_next_hops *next_hops, uint32_t src, uint32_t dst,
                            fab_error *err) {
    return fab_fail(err, FAB_EUNREACHABLE, NULL, "no route from %s to %s" FAB_NO_WAY,
                    FAB_SAY_NODE(fabric, next_hops->leaf_node[src]), FAB_SAY_NODE(fabric, next_hops->leaf_node[dst]));
}

/* Destinations of the block that are there. */
static uint32_t n_shards(const fab_pass *p) {
    size_t left = p->dag->n_leaves - fab_first_leaf(p);
    return left < FAB_BLOCK_LEAVES ? (uint32_t)left : FAB_BLOCK_LEAVES;
}

/* Puts the pairs of the block into rows: what they hold (or nothing, for amount NULL), and which leaves are in use. */
static fab_status place_pairs(fab_pass *p, const fab_demand *demand, const double *amount, fab_error *err) {
    const fab_dag *dag = p->dag;
    const uint64_t *reach = dag->reach + (size_t)p->block * dag->n_leaves;
    uint32_t at[FAB_BLOCK_LEAVES];
    uint32_t n = n_shards(p);
    const uint32_t *first = demand->first + fab_first_leaf(p);
    memcpy(at, first, n * sizeof *at);
    memset(p->active, 0, dag->n_switches * sizeof *p->active);
    for (uint32_t limit = SOURCES;; limit += SOURCES) {
        bool more = false;
        for (uint32_t k = 0; k < n; k++) {
            for (; at[k] < first[k + 1] && demand->src[at[k]] < limit; at[k]++) {
                uint32_t src = demand->src[at[k]];
                uint32_t v = dag->leaf[src];
                if (amount != NULL && amount[at[k]] == 0) {
                    continue;
                }
                FAB_RETURN_IF((reach[src] >> k & 1) == 0,
                              fab_dag_no_route(dag->fabric, dag->next_hops, src, (uint32_t)fab_first_leaf(p) + k, err));
                p->active[v] |= UINT64_C(1) << k;
                if (amount != NULL) {
                    p->held[(size_t)v * FAB_ROW + k] = amount[at[k]];
                }
            }
            more = more || at[k] < first[k + 1];
        }
        if (!more) {
            return FAB_OK;
        }
    }
}

static bool block_is_empty(const fab_pass *p, const fab_demand *demand) {
    const uint32_t *first = demand->first + fab_first_leaf(p);
    return first[0] == first[n_shards(p)];
}

/* --- loads -------------------------------------------------------------------------------------------------------- */

static const double *given_shares(const fab_pass *p) {
    return p->split->share + fab_first_leaf(p) * p->dag->fabric->n_links;
}

static fab_status load_block(fab_pass *p, uint64_t *holding, fab_error *err) {
    size_t size = p->dag->n_switches * sizeof *holding;
    bool in_range = true;
    if (p->split->rule == FAB_SPLIT_SHARE) {
        p->share = given_shares(p);
        return fab_pass_load_shares(p, err);
    }
    if (p->split->rule != FAB_SPLIT_EQUAL) {
        memcpy(holding, p->active, size);
        fab_pass_mark(p);
        in_range = fab_pass_prepare(p);
        FAB_PASS(!in_range ? fab_pass_share_wide(p, err) : FAB_OK);
        memcpy(p->active, holding, size);
    }
    if (!in_range) {
        return fab_pass_load_shares(p, err);
    }
    fab_pass_load(p);
    return FAB_OK;
}

fab_status fab_split_load(const fab_dag *dag, const fab_split *split, const fab_demand *demand, const double *amount,
                          double *out_load, fab_error *err) {
    FAB_OWNS(split_release) work w = {0};
    fab_pass *p = &w.pass;
    FAB_PASS(pick_dag(dag, split, &dag, err));
    FAB_PASS(split_prepare(dag, split, &w, err));
    FAB_PASS(FAB_NEW(p->group_load, dag->n_groups, err));
    FAB_PASS(FAB_NEW(p->link_load, dag->fabric->n_links, err));
    FAB_OWNED_NEW(uint64_t, holding, dag->n_switches, err);
    for (; p->block < dag->n_blocks; p->block++) {
        if (!block_is_empty(p, demand)) {
            FAB_PASS(place_pairs(p, demand, amount, err));
            FAB_PASS(load_block(p, holding, err));
        }
    }
    for (uint32_t v = 0; v < dag->n_switches; v++) {
        const fab_next_hops *t = dag->next_hops;
        if (!fab_dag_has(dag, v)) {
            continue;
        }
        for (uint32_t group = t->group_first[v]; group < t->group_first[v + 1]; group++) {
            fab_next_hop_list next = fab_next_hops_of_group(t, v, group);
            for (uint32_t i = 0; p->group_load[group] > 0 && i < next.count; i++) {
                p->link_load[fab_next_hop(&next, i)] += p->group_load[group];
            }
        }
    }
    FAB_PASS(dag->classes != NULL ? spread_load(dag, p->link_load, err) : FAB_OK);
    for (uint32_t l = 0; l < dag->fabric->n_links; l++) {
        out_load[l] += p->link_load[l];
    }
    return FAB_OK;
}

/* --- folds -------------------------------------------------------------------------------------------------------- */

static fab_status fold_block(fab_pass *p, fab_fold fold, fab_error *err) {
    if (p->split->rule == FAB_SPLIT_SHARE) {
        p->share = given_shares(p);
        return fab_pass_fold_shares(p, fold, err);
    }
    fab_pass_mark(p);
    /* but for the mean folds ask which paths there are, not for their shares */
    if (fold == FAB_FOLD_EXPECTED && !fab_pass_prepare(p)) {
        FAB_PASS(fab_pass_share_wide(p, err));
        return fab_pass_fold_shares(p, fold, err);
    }
    fab_pass_fold(p, fold);
    return FAB_OK;
}

fab_status fab_split_fold(const fab_dag *dag, const fab_split *split, fab_fold fold, const double *x,
                          const fab_demand *demand, double *out, fab_error *err) {
    FAB_OWNS(split_release) work w = {0};
    FAB_OWNED double *own = NULL;
    fab_pass *p = &w.pass;
    FAB_PASS(pick_dag(dag, split, &dag, err));
    if (dag->classes != NULL && (fold == FAB_FOLD_MAX || fold == FAB_FOLD_EXPECTED)) {
        FAB_PASS(fold_classes(dag->classes, fold, x, &own, err));
    } else if (dag->classes != NULL && !fab_switch_classes_agree(dag->classes, x)) {
        FAB_PASS(fab_dag_get_whole(dag, &dag, err));
    }
    FAB_PASS(split_prepare(dag, split, &w, err));
    p->x = own != NULL ? own : x;
    for (; p->block < dag->n_blocks; p->block++) {
        if (block_is_empty(p, demand)) {
            continue;
        }
        FAB_PASS(place_pairs(p, demand, NULL, err));
        FAB_PASS(fold_block(p, fold, err));
        for (uint32_t k = 0; k < n_shards(p); k++) {
            const uint32_t *first = demand->first + fab_first_leaf(p) + k;
            for (uint32_t pair = first[0]; pair < first[1]; pair++) {
                out[pair] = p->held[(size_t)dag->leaf[demand->src[pair]] * FAB_ROW + k];
            }
        }
    }
    return FAB_OK;
}
