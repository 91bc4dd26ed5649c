/* Plans that are bounded, by the least bound. */
#include "plan_internal.h"

/* Of equal bounds the one that is known best, then by the order of the space. */
static int node_order(const plan_node *a, const plan_node *b) {
    FAB_ORDER_BY(a->bound_s, b->bound_s);
    FAB_ORDER_BY(b->state, a->state);
    FAB_ORDER_BY(a->shape, b->shape);
    FAB_ORDER_BY(a->plan.recompute, b->plan.recompute);
    FAB_ORDER_BY(a->plan.zero, b->plan.zero);
    FAB_ORDER_BY(b->plan.sequence_parallel, a->plan.sequence_parallel);
    FAB_ORDER_BY(a->plan.microbatch, b->plan.microbatch);
    return FAB_ORDER(a->plan.interleave, b->plan.interleave);
}

fab_status plan_heap_push(plan_heap *h, const plan_node *added, fab_error *err) {
    FAB_PASS(FAB_GROW(h->node, h->capacity, h->n + 1, err));
    size_t at = h->n++;
    while (at > 0 && node_order(added, &h->node[(at - 1) / 2]) < 0) {
        h->node[at] = h->node[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    h->node[at] = *added;
    return FAB_OK;
}

plan_node plan_heap_pop(plan_heap *h) {
    const plan_node first = h->node[0];
    const plan_node last = h->node[--h->n];
    size_t at = 0;
    for (size_t child = 1; child < h->n; child = 2 * at + 1) {
        child += child + 1 < h->n && node_order(&h->node[child + 1], &h->node[child]) < 0 ? 1 : 0;
        if (node_order(&last, &h->node[child]) <= 0) {
            break;
        }
        h->node[at] = h->node[child];
        at = child;
    }
    h->node[at] = last;
    return first;
}
