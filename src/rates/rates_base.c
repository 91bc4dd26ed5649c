/* Rates before anything changes, with what it takes to find those after it. */
#include "fab/memory.h"
#include "incremental_state.h"

#include <math.h>
#include <stdlib.h>

void fab_rates_base_free(fab_rates_base *base) {
    if (base == NULL) {
        return;
    }
    FAB_FREE_ALL(base->rate, base->flows, base->hop, base->hop_part, base->bottleneck, base->full, base->on_first,
                 base->on, base->on_part, base->by_rate, base);
}

const double *fab_rates_base_rate(const fab_rates_base *base) {
    return base->rate;
}

const uint32_t *fab_rates_base_bottleneck(const fab_rates_base *base) {
    return base->bottleneck;
}

static double base_part_of(const fab_sharing *s, uint32_t f, uint64_t e) {
    return (s->weight != NULL ? s->weight[f] : 1) * (s->share != NULL ? s->share[e] : 1);
}

/* The flows of every link in increasing order. */
static fab_status base_list_flows(fab_rates_base *b, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_sharing *s = &b->sharing;
    uint64_t n = s->first[s->n_flows] - s->first[0];
    FAB_TRY(FAB_NEW(b->on_first, (size_t)s->n_links + 2, err));
    FAB_TRY(FAB_NEW(b->on, n, err));
    if (s->weight != NULL || s->share != NULL) {
        FAB_TRY(FAB_NEW(b->on_part, n, err));
    }
    for (uint64_t e = s->first[0]; e < s->first[s->n_flows]; e++) {
        b->on_first[s->link[e] + 2]++;
    }
    for (uint32_t l = 0; l < s->n_links; l++) {
        uint32_t n_on = b->on_first[l + 2];
        b->most_on = n_on > b->most_on ? n_on : b->most_on;
        b->on_first[l + 2] += b->on_first[l + 1];
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            uint32_t i = b->on_first[s->link[e] + 1]++;
            b->on[i] = f;
            if (b->on_part != NULL) {
                b->on_part[i] = base_part_of(s, f, e);
            }
        }
    }
done:
    return status;
}

static bool is_shared(const fab_rates_base *b, uint32_t l) {
    return b->on_first[l + 1] - b->on_first[l] > 1 && isfinite(b->sharing.capacity[l]);
}

/* The links of every flow, those first that it shares. */
static fab_status list_hops(fab_rates_base *b, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_sharing *s = &b->sharing;
    uint64_t n = 0;
    FAB_TRY(FAB_NEW(b->hop, s->first[s->n_flows] - s->first[0], err));
    if (b->on_part != NULL) {
        FAB_TRY(FAB_NEW(b->hop_part, s->first[s->n_flows] - s->first[0], err));
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        incremental_flow *flow = &b->flows[f];
        flow->first = n;
        flow->n_hops = (uint32_t)(s->first[f + 1] - s->first[f]);
        flow->rate = b->rate[f];
        flow->level = s->weight != NULL ? b->rate[f] / s->weight[f] : b->rate[f];
        flow->alone = incremental_limit_level(s, f);
        for (int pass = 0; pass < 2; pass++) {
            for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
                if (is_shared(b, s->link[e]) != (pass == 0)) {
                    continue;
                }
                flow->n_shared += pass == 0;
                flow->alone =
                    pass == 0 ? flow->alone : fmin(flow->alone, s->capacity[s->link[e]] / base_part_of(s, f, e));
                if (b->hop_part != NULL) {
                    b->hop_part[n] = base_part_of(s, f, e);
                }
                if (pass == 0 && flow->n_shared <= INCREMENTAL_NEAR) {
                    flow->near[flow->n_shared - 1] = s->link[e];
                }
                b->hop[n++] = s->link[e];
            }
        }
    }
done:
    return status;
}

/* From the levels of the flows. Where rounding hides that a link is full, its flows tell. */
static fab_status find_full(fab_rates_base *b, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_sharing *s = &b->sharing;
    double *level = NULL;
    FAB_TRY(FAB_NEW(b->full, s->n_links, err));
    FAB_TRY(FAB_NEW(level, b->most_on, err));
    for (uint32_t l = 0; l < s->n_links; l++) {
        uint32_t begin = b->on_first[l];
        uint32_t n = b->on_first[l + 1] - begin;
        for (uint32_t i = 0; i < n; i++) {
            level[i] = b->flows[b->on[begin + i]].level;
        }
        b->full[l] =
            incremental_full_level(s->capacity[l], INFINITY, level, b->on_part != NULL ? b->on_part + begin : NULL, n);
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        uint32_t l = b->bottleneck[f];
        if (l != FAB_NO_BOTTLENECK && b->full[l] > b->flows[f].level) {
            b->full[l] = b->flows[f].level;
        }
    }
done:
    free(level);
    return status;
}

typedef struct rated {
    double rate;
    uint32_t flow;
} rated;

static int compare_rated(const void *a, const void *b) {
    const rated *x = a;
    const rated *y = b;
    if (x->rate != y->rate) {
        return x->rate < y->rate ? -1 : 1;
    }
    return x->flow < y->flow ? -1 : x->flow > y->flow;
}

static fab_status sort_by_rate(fab_rates_base *b, fab_error *err) {
    fab_status status = FAB_OK;
    rated *all = NULL;
    uint32_t n = b->sharing.n_flows;
    FAB_TRY(FAB_NEW(b->by_rate, n, err));
    FAB_TRY(FAB_NEW(all, n, err));
    for (uint32_t f = 0; f < n; f++) {
        all[f] = (rated){b->rate[f], f};
        b->n_infinite += isfinite(b->rate[f]) ? 0 : 1;
        b->sum += isfinite(b->rate[f]) ? b->rate[f] : 0;
    }
    qsort(all, n, sizeof *all, compare_rated);
    for (uint32_t i = 0; i < n; i++) {
        b->by_rate[i] = all[i].flow;
    }
done:
    free(all);
    return status;
}

fab_status fab_rates_base_new(const fab_sharing *sharing, fab_rates_base **out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_max_min *solver = NULL;
    fab_rates_base *b = NULL;
    if (sharing->n_flows > INT32_MAX) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "%u flows; rates can be found again of at most %d", sharing->n_flows,
                 INT32_MAX);
    }
    FAB_TRY(FAB_NEW(b, 1, err));
    b->sharing = *sharing;
    FAB_TRY(FAB_NEW(b->rate, sharing->n_flows, err));
    FAB_TRY(FAB_NEW(b->flows, sharing->n_flows, err));
    FAB_TRY(FAB_NEW(b->bottleneck, sharing->n_flows, err));
    FAB_TRY(fab_max_min_new(&solver, err));
    FAB_TRY(fab_max_min_solve(solver, sharing, b->rate, b->bottleneck, err));
    FAB_TRY(base_list_flows(b, err));
    FAB_TRY(list_hops(b, err));
    FAB_TRY(find_full(b, err));
    FAB_TRY(sort_by_rate(b, err));
    *out = b;
    b = NULL;
done:
    fab_max_min_free(solver);
    fab_rates_base_free(b);
    return status;
}
