/* Folds values of links along the paths of 64 destinations, from the destinations outwards.
 *
 * What a switch has depends on the values of its next hops' links and on what these have: entries of a run whose links
 * have equal values (and weights) share it. */
#include "split_rows.h"

/* One more next hop, whose link has x. */
FAB_INLINE double fold_in(fab_fold fold, double so_far, double x, double beyond) {
    double value = fold == FAB_FOLD_MAX ? (x > beyond ? x : beyond) : x + beyond;
    return fold == FAB_FOLD_SHORTEST ? (value < so_far ? value : so_far) : (value > so_far ? value : so_far);
}

FAB_INLINE double start_of(fab_fold fold) {
    return fold == FAB_FOLD_SHORTEST ? INFINITY : 0;
}

FAB_INLINE double fold_leaf(const fab_pass *p, const hops *h, const fab_dag_entry *e, const fab_next_hop_list *next,
                            uint64_t k, fab_fold fold) {
    bool even = p->split->rule == FAB_SPLIT_EQUAL;
    double out = start_of(fold);
    if (h->n_kinds == 1) {
        return fold_in(fold, out, p->x[fab_next_hop(next, 0)], held_by(p, h->head[0])[k]);
    }
    for (uint32_t i = 0; i < h->n; i++) {
        double beyond = held_by(p, h->head[i])[k];
        double x = p->x[fab_next_hop(next, i)];
        if (fold == FAB_FOLD_EXPECTED) {
            out += (even ? 1 : measure(p, h, next, i, k)) * (x + beyond);
        } else {
            out = fold_in(fold, out, x, beyond);
        }
    }
    return fold != FAB_FOLD_EXPECTED ? out : out * scale_of(p, h->level)[k] / (even ? h->n : part_of(p, e->v)[k]);
}

/* The same for all leaves; those that are not in use get something finite. */
FAB_INLINE void fold_ends(const fab_pass *p, const hops *h, const fab_next_hop_list *next, fab_fold fold,
                          double *restrict out) {
    for (int k = 0; k < FAB_BLOCK_LEAVES; k++) {
        out[k] = start_of(fold);
    }
    for (uint32_t i = 0; i < h->n_kinds; i += FAB_STEP) {
        const double *row[FAB_STEP];
        double value[FAB_STEP];
        for (uint32_t j = 0; j < FAB_STEP; j++) {
            uint32_t at = i + j < h->n_kinds ? i + j : h->n_kinds - 1; /* the last one again changes nothing */
            row[j] = held_by(p, h->head[at]);
            value[j] = p->x[fab_next_hop(next, at)];
        }
        for (int k = 0; k < FAB_BLOCK_LEAVES; k++) {
            double so_far = fold_in(fold, out[k], value[0], row[0][k]);
            so_far = fold_in(fold, so_far, value[1], row[1][k]);
            so_far = fold_in(fold, so_far, value[2], row[2][k]);
            out[k] = fold_in(fold, so_far, value[3], row[3][k]);
        }
    }
}

/* Sum of m * (x + what lies beyond) over the next hops; m = 1 under the equal rule. Of one class: x + beyond alone. */
FAB_INLINE void fold_mean(const fab_pass *p, const hops *h, const fab_next_hop_list *next, double *restrict out) {
    bool even = p->split->rule == FAB_SPLIT_EQUAL;
    if (h->n_kinds == 1) {
        const double *restrict beyond = held_by(p, h->head[0]);
        double value = p->x[fab_next_hop(next, 0)];
        for (int k = 0; k < FAB_BLOCK_LEAVES; k++) {
            out[k] = value + beyond[k];
        }
        return;
    }
    memset(out, 0, FAB_BLOCK_LEAVES * sizeof *out);
    for (uint32_t i = 0; i < h->n; i++) {
        const double *restrict beyond = held_by(p, h->head[i]);
        const double *restrict m = even ? beyond : p->row[i];
        double weight = p->split->rule == FAB_SPLIT_WEIGHT ? p->weight[fab_next_hop(next, i)] : 1;
        double value = p->x[fab_next_hop(next, i)];
        for (int k = 0; k < FAB_BLOCK_LEAVES; k++) {
            out[k] += (even ? 1 : weight * m[k]) * (value + beyond[k]);
        }
    }
}

FAB_INLINE bool same_values(const fab_pass *p, const hops *h, fab_fold fold, const fab_next_hop_list *a,
                            const fab_next_hop_list *b) {
    bool weighted = fold == FAB_FOLD_EXPECTED && p->split->rule == FAB_SPLIT_WEIGHT;
    FAB_ANY(found, i, h->n_kinds,
            p->x[fab_next_hop(a, i)] != p->x[fab_next_hop(b, i)] ||
                (weighted && p->weight[fab_next_hop(a, i)] != p->weight[fab_next_hop(b, i)]));
    return !found;
}

FAB_INLINE void fold_run(const fab_pass *p, const hops *h, fab_fold fold) {
    double *sum = scratch(p, SUM);
    double *mean = scratch(p, NEXT);
    bool even = p->split->rule == FAB_SPLIT_EQUAL;
    fab_next_hop_list known = {0}; /* of the entry whose fold stands in `sum` */
    bool have_rows = false;
    for (const fab_dag_entry *e = h->entry; e < h->end; e++) {
        uint64_t leaves = e->leaves & p->active[e->v];
        if (leaves == 0) {
            continue;
        }
        fab_next_hop_list next = fab_dag_links(p->dag, e);
        double *out = held_by(p, e->v);
        if (fab_few(leaves)) {
            FAB_EACH_LEAF(k, leaves) {
                out[k] = fold_leaf(p, h, e, &next, k, fold);
            }
            continue;
        }
        bool again = known.count == 0 || !same_values(p, h, fold, &known, &next);
        known = next;
        if (fold != FAB_FOLD_EXPECTED) {
            if (again) {
                fold_ends(p, h, &next, fold, sum);
            }
            copy_leaves(out, sum, leaves);
            continue;
        }
        if (!even && !have_rows) {
            find_rows(p, h);
            have_rows = true;
        }
        if (again) {
            fold_mean(p, h, &next, sum);
        }
        const double *restrict part = part_of(p, e->v);
        const double *restrict scale = scale_of(p, h->level);
        for (int k = 0; k < FAB_BLOCK_LEAVES && h->n_kinds > 1; k++) {
            mean[k] = sum[k] * scale[k] / (even ? h->n : part[k]);
        }
        copy_leaves(out, h->n_kinds > 1 ? mean : sum, leaves);
    }
}

FAB_MULTIVERSION static void fold_block(fab_pass *p, fab_fold fold) {
    const fab_dag *dag = p->dag;
    for (uint32_t run = dag->block_run[p->block]; run < dag->block_run[p->block + 1]; run++) {
        hops h = hops_of(dag, run);
        switch (fold) { /* loops of their own */
        case FAB_FOLD_MAX: fold_run(p, &h, FAB_FOLD_MAX); break;
        case FAB_FOLD_LONGEST: fold_run(p, &h, FAB_FOLD_LONGEST); break;
        case FAB_FOLD_SHORTEST: fold_run(p, &h, FAB_FOLD_SHORTEST); break;
        case FAB_FOLD_EXPECTED: fold_run(p, &h, FAB_FOLD_EXPECTED); break;
        }
    }
}

void fab_pass_fold(fab_pass *p, fab_fold fold) {
    const fab_dag *dag = p->dag;
    for (uint32_t k = 0; k < FAB_BLOCK_LEAVES && fab_first_leaf(p) + k < dag->n_leaves; k++) {
        held_by(p, dag->leaf[fab_first_leaf(p) + k])[k] = 0;
    }
    fold_block(p, fold);
}
