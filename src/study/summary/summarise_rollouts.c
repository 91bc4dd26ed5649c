/* Updates that are rolled through a tier: what each way loses, all its steps together. */
#include "summarise_internal.h"

#include "fab/memory.h"
#include "fab/order.h"

#include <math.h>

static int by_lost(const void *a, const void *b) {
    const fab_rollout *x = a;
    const fab_rollout *y = b;
    FAB_ORDER_BY(isnan(x->lost), isnan(y->lost));
    FAB_ORDER_BY(x->n_stopped, y->n_stopped); /* a job that stops loses more than the step: it restarts */
    if (!isnan(x->lost) && fabs(x->lost - y->lost) > FAB_SAME_FACTOR) {
        return FAB_ORDER(x->lost, y->lost);
    }
    FAB_ORDER_BY(x->n_steps, y->n_steps);
    return FAB_ORDER(x->is_spread, y->is_spread);
}

fab_status summary_rollouts(const fab_summariser *s, size_t variant, fab_study_variant *out, fab_error *err) {
    const fab_summary_request *r = &s->request;
    const set_list *l = &s->sets;
    FAB_OWNED uint32_t *n_seen = NULL;
    if (r->n_ways == 0) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW_ALL(r->n_ways, err, n_seen, out->rollouts));
    out->n_rollouts = r->n_ways;
    for (size_t w = 0; w < r->n_ways; w++) {
        const fab_rollout_way *way = &r->ways[w];
        out->rollouts[w] =
            (fab_rollout){.at_a_time = way->at_a_time, .n_steps = way->n_steps, .is_spread = way->is_spread};
    }
    for (size_t k = 0; k < l->n; k++) {
        const uint32_t w = r->way_of[l->scenario[k]];
        const double impact = l->impact[k * s->n_variants + variant];
        fab_rollout *to = &out->rollouts[w];
        to->worst = n_seen[w] == 0 || impact > to->worst ? impact : to->worst;
        to->n_stopped += impact >= 1;
        to->lost += impact;
        n_seen[w]++;
    }
    for (size_t w = 0; w < r->n_ways; w++) {
        out->rollouts[w].lost = n_seen[w] == r->ways[w].n_steps ? out->rollouts[w].lost : NAN;
    }
    qsort(out->rollouts, r->n_ways, sizeof *out->rollouts, by_lost);
    return FAB_OK;
}
