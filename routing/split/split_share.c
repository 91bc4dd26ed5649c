/* Splitting by given shares: small fabrics, leaf by leaf. */
#include "split_rows.h"

/* Shares of the next hops of an entry towards destination k of the block. */
static const double *shares_of(const fab_pass *p, uint64_t k) {
    return p->share + k * p->dag->fabric->n_links;
}

static fab_status check_shares(const fab_pass *p, const fab_dag_entry *e, uint64_t k, double sum, fab_error *err) {
    if (fabs(sum - 1) <= 1e-6) {
        return FAB_OK;
    }
    const fab_fabric *f = p->dag->fabric;
    return fab_fail(err, FAB_EINPUT, NULL, "shares of the next hops of %s towards %s add up to %g, not 1",
                    FAB_SAY_NODE(f, p->dag->base + e->v),
                    FAB_SAY_NODE(f, p->dag->base + p->dag->leaf[fab_first_leaf(p) + k]), sum);
}

fab_status fab_pass_load_shares(fab_pass *p, fab_error *err) {
    const fab_dag *dag = p->dag;
    for (uint32_t run = dag->block_run[p->block + 1]; run-- > dag->block_run[p->block];) {
        hops h = hops_of(dag, run);
        for (const fab_dag_entry *e = h.entry; e < h.end; e++) {
            fab_next_hop_list next = fab_dag_links(dag, e);
            FAB_EACH_LEAF(k, e->leaves & p->active[e->v]) {
                const double *share = shares_of(p, k);
                double sum = 0;
                for (uint32_t i = 0; i < h.n; i++) {
                    double amount = held_by(p, e->v)[k] * share[fab_next_hop(&next, i)];
                    double *to = held_by(p, h.head[i]);
                    uint64_t *active = &p->active[h.head[i]];
                    sum += share[fab_next_hop(&next, i)];
                    p->link_load[fab_next_hop(&next, i)] += amount;
                    if (share[fab_next_hop(&next, i)] > 0) {
                        to[k] = (*active >> k & 1) != 0 ? to[k] + amount : amount;
                        *active |= UINT64_C(1) << k;
                    }
                }
                FAB_PASS(check_shares(p, e, k, sum, err));
            }
        }
    }
    return FAB_OK;
}

static void mark(fab_pass *p) {
    const fab_dag *dag = p->dag;
    for (uint32_t run = dag->block_run[p->block + 1]; run-- > dag->block_run[p->block];) {
        hops h = hops_of(dag, run);
        for (const fab_dag_entry *e = h.entry; e < h.end; e++) {
            fab_next_hop_list next = fab_dag_links(dag, e);
            FAB_EACH_LEAF(k, e->leaves & p->active[e->v]) {
                for (uint32_t i = 0; i < h.n; i++) {
                    bool used = shares_of(p, k)[fab_next_hop(&next, i)] > 0;
                    p->active[h.head[i]] |= (uint64_t)used << k;
                }
            }
        }
    }
}

static fab_status fold_leaf(fab_pass *p, const hops *h, const fab_dag_entry *e, uint64_t k, fab_fold fold,
                            fab_error *err) {
    const double *share = shares_of(p, k);
    fab_next_hop_list next = fab_dag_links(p->dag, e);
    double out = fold == FAB_FOLD_SHORTEST ? INFINITY : 0;
    double sum = 0;
    for (uint32_t i = 0; i < h->n; i++) {
        double part = share[fab_next_hop(&next, i)];
        double beyond = held_by(p, h->head[i])[k];
        sum += part;
        if (part <= 0) {
            continue;
        }
        switch (fold) {
        case FAB_FOLD_MAX: out = fmax(out, fmax(p->x[fab_next_hop(&next, i)], beyond)); break;
        case FAB_FOLD_LONGEST: out = fmax(out, p->x[fab_next_hop(&next, i)] + beyond); break;
        case FAB_FOLD_SHORTEST: out = fmin(out, p->x[fab_next_hop(&next, i)] + beyond); break;
        case FAB_FOLD_EXPECTED: out += part * (p->x[fab_next_hop(&next, i)] + beyond); break;
        }
    }
    held_by(p, e->v)[k] = out;
    return check_shares(p, e, k, sum, err);
}

fab_status fab_pass_fold_shares(fab_pass *p, fab_fold fold, fab_error *err) {
    const fab_dag *dag = p->dag;
    mark(p);
    for (uint32_t k = 0; k < FAB_BLOCK_LEAVES && fab_first_leaf(p) + k < dag->n_leaves; k++) {
        held_by(p, dag->leaf[fab_first_leaf(p) + k])[k] = 0;
    }
    for (uint32_t run = dag->block_run[p->block]; run < dag->block_run[p->block + 1]; run++) {
        hops h = hops_of(dag, run);
        for (const fab_dag_entry *e = h.entry; e < h.end; e++) {
            FAB_EACH_LEAF(k, e->leaves & p->active[e->v]) {
                FAB_PASS(fold_leaf(p, &h, e, k, fold, err));
            }
        }
    }
    return FAB_OK;
}

/* --- weights beyond the range of a double: annealed ones on a large torus --- */

/* Shares of an entry's next hops towards destination k, and Z of its switch. */
static void share_leaf(const fab_pass *p, const hops *h, const fab_dag_entry *e, uint64_t k, fab_wide *z,
                       double *share) {
    fab_next_hop_list next = fab_dag_links(p->dag, e);
    double sum = 0;
    long most = LONG_MIN;
    for (uint32_t i = 0; i < h->n; i++) {
        const fab_wide *beyond = &z[(size_t)h->head[i] * FAB_BLOCK_LEAVES + k];
        fab_wide w = fab_wide_of(p->weight[fab_next_hop(&next, i)], beyond->exponent);
        most = w.exponent > most ? w.exponent : most;
    }
    for (uint32_t i = 0; i < h->n; i++) {
        const fab_wide *beyond = &z[(size_t)h->head[i] * FAB_BLOCK_LEAVES + k];
        fab_wide w = fab_wide_of(p->weight[fab_next_hop(&next, i)], beyond->exponent - most);
        share[fab_next_hop(&next, i)] = ldexp(w.mantissa * beyond->mantissa, (int)w.exponent);
        sum += share[fab_next_hop(&next, i)];
    }
    for (uint32_t i = 0; i < h->n; i++) {
        share[fab_next_hop(&next, i)] /= sum;
    }
    z[(size_t)e->v * FAB_BLOCK_LEAVES + k] = fab_wide_of(sum, most);
}

fab_status fab_pass_share_wide(fab_pass *p, fab_error *err) {
    const fab_dag *dag = p->dag;
    size_t n_links = dag->fabric->n_links;
    FAB_PASS(p->wide_share == NULL ? FAB_NEW(p->wide_share, FAB_BLOCK_LEAVES * n_links, err) : FAB_OK);
    FAB_OWNED_NEW(fab_wide, z, (size_t)dag->n_switches * FAB_BLOCK_LEAVES, err);
    for (uint32_t k = 0; k < FAB_BLOCK_LEAVES && fab_first_leaf(p) + k < dag->n_leaves; k++) {
        z[(size_t)dag->leaf[fab_first_leaf(p) + k] * FAB_BLOCK_LEAVES + k] = fab_wide_of(1, 0);
    }
    for (uint32_t run = dag->block_run[p->block]; run < dag->block_run[p->block + 1]; run++) {
        hops h = hops_of(dag, run);
        for (const fab_dag_entry *e = h.entry; e < h.end; e++) {
            FAB_EACH_LEAF(k, e->leaves & p->active[e->v]) {
                share_leaf(p, &h, e, k, z, p->wide_share + k * n_links);
            }
        }
    }
    p->share = p->wide_share;
    return FAB_OK;
}
