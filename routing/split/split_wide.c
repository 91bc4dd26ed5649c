/* Weights of paths beyond the range of a double: shares of a block by numbers with an exponent of their own, leaf by
 * leaf. Annealed weights on a large torus get there; nothing else should. */
#include "split_rows.h"

#include "fab/memory.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* mantissa * 2^exponent; the mantissa is 0 or in [0.5, 1). */
typedef struct wide {
    double mantissa;
    int exponent;
} wide;

static wide wide_of(double mantissa, int exponent) {
    int more = 0;
    double m = frexp(mantissa, &more);
    return (wide){m, exponent + more};
}

/* Shares of an entry's next hops towards destination k, and Z of its switch. */
static void share_leaf(const fab_pass *p, const hops *h, const fab_dag_entry *e, uint64_t k, wide *z, double *share) {
    fab_next_hop_list next = fab_dag_links(p->dag, e);
    double sum = 0;
    int most = INT_MIN;
    for (uint32_t i = 0; i < h->n; i++) {
        const wide *beyond = &z[(size_t)h->head[i] * FAB_BLOCK_LEAVES + k];
        wide w = wide_of(p->weight[fab_next_hop(&next, i)], beyond->exponent);
        most = w.exponent > most ? w.exponent : most;
    }
    for (uint32_t i = 0; i < h->n; i++) {
        const wide *beyond = &z[(size_t)h->head[i] * FAB_BLOCK_LEAVES + k];
        wide w = wide_of(p->weight[fab_next_hop(&next, i)], beyond->exponent - most);
        share[fab_next_hop(&next, i)] = ldexp(w.mantissa * beyond->mantissa, w.exponent);
        sum += share[fab_next_hop(&next, i)];
    }
    for (uint32_t i = 0; i < h->n; i++) {
        share[fab_next_hop(&next, i)] /= sum;
    }
    z[(size_t)e->v * FAB_BLOCK_LEAVES + k] = wide_of(sum, most);
}

fab_status fab_pass_share_wide(fab_pass *p, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_dag *dag = p->dag;
    size_t n_links = dag->fabric->n_links;
    wide *z = NULL;
    if (p->wide_share == NULL) {
        FAB_TRY(FAB_NEW(p->wide_share, FAB_BLOCK_LEAVES * n_links, err));
    }
    FAB_TRY(FAB_NEW(z, (size_t)dag->n_switches * FAB_BLOCK_LEAVES, err));
    for (uint32_t k = 0; k < FAB_BLOCK_LEAVES && fab_first_leaf(p) + k < dag->n_leaves; k++) {
        z[(size_t)dag->leaf[fab_first_leaf(p) + k] * FAB_BLOCK_LEAVES + k] = wide_of(1, 0);
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
done:
    free(z);
    return status;
}
