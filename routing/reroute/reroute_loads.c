/* What paths that move do to the loads. */
#include "baseline.h"

#define AHEAD 16 /* loads that are asked for before they are needed */

void fab_reroute_lose(fab_reroute *r, uint32_t flow, double part_bps) {
    r->lost_bps += part_bps;
    if (r->flow_stamp[flow] != r->stamp) {
        r->flow_stamp[flow] = r->stamp;
        r->disconnected[r->n_disconnected++] = flow;
    }
}

static fab_status reserve(fab_reroute *r, size_t n, fab_error *err) {
    FAB_PASS(FAB_GROW(r->swap, r->swap_capacity, 2 * (r->n_swaps + n + 1), err));
    return FAB_GROW(r->swap_bps, r->bps_capacity, r->n_swaps + n + 1, err);
}

/* Nothing where they are the same. */
static inline void note(fab_reroute *r, fab_link_id off, fab_link_id on, double bps) {
    r->swap[2 * r->n_swaps] = off;
    r->swap[2 * r->n_swaps + 1] = on;
    r->swap_bps[r->n_swaps] = bps;
    r->n_swaps += off != on;
}

/* What a path and its route have in common stays: the part before the switches and the part behind, and hops between
 * them. */
fab_status fab_reroute_shift(fab_reroute *r, uint32_t path, const fab_link_id *to, size_t n_to, fab_error *err) {
    const fab_path_record *record = &r->b->record[path];
    const fab_link_id *from = fab_record_links(r->b, path);
    const fab_link_id nowhere = r->b->fabric->n_links;
    const bool is_lost = n_to == 0;
    const size_t n_before = r->n_swaps;
    size_t n_from = record->n;
    FAB_PASS(reserve(r, n_from + n_to, err));
    while (n_from != n_to && n_from > 0 && n_to > 0 && from[n_from - 1] == to[n_to - 1]) {
        n_from--;
        n_to--;
    }
    for (size_t i = 0; i < n_from || i < n_to; i++) {
        note(r, i < n_from ? from[i] : nowhere, i < n_to ? to[i] : nowhere, record->part_bps);
    }
    r->has_halves = r->has_halves || n_from != n_to;
    if (is_lost) {
        fab_reroute_lose(r, record->flow, record->part_bps);
    } else {
        r->n_moved += r->n_swaps > n_before;
    }
    return FAB_OK;
}

/* Of a sum that should have come to nothing. */
static void drop_rests(fab_reroute *r) {
    for (size_t i = 0; i < r->n_swaps; i++) {
        const fab_link_id link = r->swap[2 * i];
        if (link < r->b->fabric->n_links && r->load[link] < 1e-12 * r->b->load[link]) {
            r->load[link] = 0;
        }
    }
}

/* Old routes are taken off first: then a load that is being added to only grows, and the last value of the fullest link
 * is the largest ever seen. Leaves out links that are slow, which are few. */
fab_status fab_reroute_move(fab_reroute *r, fab_error *err) {
    const fab_baseline *b = r->b;
    const fab_link_id n_links = b->fabric->n_links;
    const size_t n = r->n_swaps;
    double *load = r->load;
    double worst_ratio = r->worst_ratio;
    const double same = r->b->same_per_bps;
    FAB_PASS(FAB_GROW(r->swap, r->swap_capacity, 2 * (n + AHEAD), err));
    memset(r->swap + 2 * n, 0, (size_t)2 * AHEAD * sizeof *r->swap);
    const fab_link_id *swap = r->swap;
    const double *bps = r->swap_bps;
    for (size_t i = 0; i < n; i++) {
        __builtin_prefetch(&load[swap[2 * (i + AHEAD)]], 1);
        load[swap[2 * i]] -= bps[i];
    }
    if (!b->is_exact) {
        drop_rests(r);
    }
    for (size_t i = 0; i < n; i++) {
        const fab_link_id link = swap[2 * i + 1];
        const double now = load[link] + bps[i];
        __builtin_prefetch(&load[swap[2 * (i + AHEAD) + 1]], 1);
        load[link] = now;
        if (link < n_links && now * (same > 0 ? same : fab_per_bps(b, link)) >= worst_ratio) {
            fab_reroute_consider(r, link, now * fab_per_bps(b, link));
            worst_ratio = r->worst_ratio;
        }
    }
    return FAB_OK;
}

/* --- flows that begin or end elsewhere ---------------------------------------------------------------------------- */

fab_status fab_reroute_lift_path(fab_reroute *r, uint32_t path, fab_error *err) {
    const fab_path_record *record = &r->b->record[path];
    const fab_link_id *link = fab_record_links(r->b, path);
    FAB_PASS(reserve(r, record->n, err));
    for (uint32_t i = 0; i < record->n; i++) {
        note(r, link[i], r->b->fabric->n_links, record->part_bps);
    }
    r->has_halves = true;
    r->from[path] = 0; /* as if it were listed */
    return FAB_OK;
}

void fab_reroute_forget(fab_reroute *r, uint32_t path) {
    r->from[path] = FAB_UNTOUCHED;
}

fab_status fab_reroute_put_on(fab_reroute *r, uint32_t flow, double part_bps, const fab_link_id *link, size_t n,
                              fab_error *err) {
    FAB_PASS(reserve(r, n, err));
    for (size_t i = 0; i < n; i++) {
        note(r, r->b->fabric->n_links, link[i], part_bps);
        r->load[link[i]] += part_bps;
        fab_reroute_consider(r, link[i], r->load[link[i]] * fab_per_bps(r->b, link[i]));
    }
    r->has_halves = true;
    r->goes_reverse = r->goes_reverse && part_bps == r->b->part[flow];
    return FAB_OK;
}

/* --- afterwards --------------------------------------------------------------------------------------------------- */

/* Nowhere is no link. */
fab_status fab_reroute_list_changed(fab_reroute *r, fab_error *err) {
    const fab_link_id nowhere = r->b->fabric->n_links;
    size_t n = 0;
    r->n_changed = 2 * r->n_swaps;
    if (!r->has_halves) {
        return FAB_OK;
    }
    FAB_PASS(FAB_GROW(r->changed, r->changed_capacity, 2 * r->n_swaps + 1, err));
    for (size_t i = 0; i < 2 * r->n_swaps; i++) {
        r->changed[n] = r->swap[i];
        n += r->swap[i] != nowhere;
    }
    r->n_changed = n;
    return FAB_OK;
}

void fab_reroute_restore(fab_reroute *r) {
    const fab_link_id *changed = r->has_halves ? r->changed : r->swap;
    const double *before = r->b->load;
    const fab_link_id *swap = r->swap;
    const double *bps = r->swap_bps;
    const size_t n_swaps = r->goes_reverse ? r->n_swaps : 0;
    const size_t n_changed = r->goes_reverse ? 0 : r->n_changed;
    double *load = r->load;
    for (size_t i = 0; i < n_swaps; i++) { /* what it needs is in the cache */
        load[swap[2 * i + 1]] -= bps[i];
        load[swap[2 * i]] += bps[i];
    }
    for (size_t i = 0; i < n_changed; i++) {
        load[changed[i]] = before[changed[i]];
    }
}
