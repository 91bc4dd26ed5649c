/* What is longest, followed while paths come and go: links, and latencies. */
#include "estimator_internal.h"

#define MOST_HEAVY 4096U /* more are not followed: where links are so even, nearly all that changed are looked at */

/* --- links -------------------------------------------------------------------------------------------------------- */

static double load_most(const estimator_load *load) {
    const double shares = load->weight * load->most;
    return shares > load->bits ? shares : load->bits;
}

/* Those that just need heavy_s are many where links are even, and are none of them. */
static bool is_heavy(const fab_estimator_reader *t, fab_link_id link) {
    const double capacity = t->estimator->capacity[link];
    const double most = load_most(&t->load[link]);
    return most > t->load[link].limit && most / capacity > t->estimator->heavy_s;
}

fab_status estimator_weigh(fab_estimator_reader *t, fab_link_id link, fab_error *err) {
    estimator_heavy *h = &t->heavy;
    if (h->at == NULL || is_heavy(t, link) == (h->at[link] != 0)) {
        return FAB_OK;
    }
    if (h->at[link] == 0) {
        FAB_PASS(FAB_APPEND(h->link, h->n, h->capacity, err, link));
        h->at[link] = (uint32_t)h->n;
        return FAB_OK;
    }
    const fab_link_id last = h->link[--h->n];
    h->link[h->at[link] - 1] = last;
    h->at[last] = h->at[link];
    h->at[link] = 0;
    return FAB_OK;
}

fab_status estimator_shift(fab_estimator_reader *t, uint32_t flow, const fab_link_id *link, size_t n, double sign,
                           fab_error *err) {
    const fab_estimator *c = t->estimator;
    const uint32_t *first = c->request.routes->flow_first;
    const double weight = sign / (first[flow + 1] - first[flow]);
    const double most = c->bits[flow];
    for (size_t i = 0; i < n; i++) {
        estimator_load *to = &t->load[link[i]];
        const double before = load_most(to);
        to->bits += weight * most;
        to->weight += weight;
        to->most = to->most > most ? to->most : most;
        FAB_PASS(before > to->limit || load_most(to) > to->limit ? estimator_weigh(t, link[i], err) : FAB_OK);
    }
    return FAB_OK;
}

fab_status estimator_clear(fab_estimator_reader *t, fab_error *err) {
    const uint32_t n_links = t->estimator->request.fabric->n_links;
    memcpy(t->load, t->estimator->load, n_links * sizeof *t->load);
    FAB_SUM(uint32_t, n, l, n_links, is_heavy(t, l));
    FAB_PASS(t->heavy.at == NULL && n <= MOST_HEAVY ? FAB_NEW(t->heavy.at, n_links, err) : FAB_OK);
    if (t->heavy.at != NULL) {
        memset(t->heavy.at, 0, n_links * sizeof *t->heavy.at);
    }
    t->heavy.n = 0;
    for (uint32_t l = 0; l < n_links; l++) {
        FAB_PASS(estimator_weigh(t, l, err));
    }
    return FAB_OK;
}

/* --- latencies ---------------------------------------------------------------------------------------------------- */

fab_status estimator_count_latency(estimator_latencies *counts, double s, int32_t change, fab_error *err) {
    size_t low = 0;
    if (s < 0) {
        return FAB_OK;
    }
    for (size_t high = counts->n; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (counts->s[middle] > s) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == counts->n || counts->s[low] != s) {
        const size_t n_behind = counts->n - low;
        FAB_PASS(FAB_GROW(counts->s, counts->s_capacity, counts->n + 1, err));
        FAB_PASS(FAB_GROW(counts->n_with, counts->with_capacity, counts->n + 1, err));
        memmove(counts->s + low + 1, counts->s + low, n_behind * sizeof *counts->s);
        memmove(counts->n_with + low + 1, counts->n_with + low, n_behind * sizeof *counts->n_with);
        counts->s[low] = s;
        counts->n_with[low] = 0;
        counts->n++;
    }
    counts->n_with[low] += (uint32_t)change;
    return FAB_OK;
}

fab_status estimator_copy_latencies(estimator_latencies *to, const estimator_latencies *from, fab_error *err) {
    FAB_PASS(FAB_GROW(to->s, to->s_capacity, from->n + 1, err));
    FAB_PASS(FAB_GROW(to->n_with, to->with_capacity, from->n + 1, err));
    to->n = from->n;
    if (from->n > 0) {
        memcpy(to->s, from->s, from->n * sizeof *to->s);
        memcpy(to->n_with, from->n_with, from->n * sizeof *to->n_with);
    }
    return FAB_OK;
}
