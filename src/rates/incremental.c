/* Changes are laid over the base, settled, checked, and taken off again before the next. */
#include "fab/memory.h"
#include "incremental_state.h"
#include "solver_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CANCELLED 1e-3 /* of the sum of the base: what is left has lost too many digits */

void fab_incremental_free(fab_incremental *r) {
    if (r == NULL) {
        return;
    }
    FAB_FREE_ALL(r->flows, r->links, r->differs, r->touched, r->stale, r->crossings, r->events, r->found, r->part,
                 r->moved_part, r->top, r->growing, r->held, r->changed, r->rate);
    incremental_full_free(r->whole);
    free(r);
}

fab_status fab_incremental_new(const fab_rates_base *base, fab_incremental **out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_incremental *r = NULL;
    uint32_t n_flows = base->sharing.n_flows;
    uint32_t n_links = base->sharing.n_links;
    size_t capacity = 0;
    FAB_TRY(FAB_NEW(r, 1, err));
    r->base = base;
    FAB_TRY(FAB_NEW(r->flows, n_flows, err));
    FAB_TRY(FAB_NEW(r->differs, (size_t)n_flows + 1, err));
    FAB_TRY(FAB_NEW(r->touched, n_links, err));
    FAB_TRY(FAB_NEW(r->stale, n_links, err));
    FAB_TRY(FAB_NEW(r->top, n_links, err));
    FAB_TRY(FAB_NEW(r->growing, (size_t)n_flows + 1, err));
    FAB_TRY(FAB_NEW(r->held, (size_t)n_flows + 1, err));
    FAB_TRY(FAB_NEW(r->changed, n_flows, err));
    FAB_TRY(FAB_NEW(r->rate, n_flows, err));
    FAB_TRY(SOLVER_GROW(r->links, capacity, n_links, err));
    for (uint32_t f = 0; f < n_flows; f++) {
        r->flows[f] = (incremental_now){.level = base->flows[f].level, .place = INCREMENTAL_STAYS};
    }
    for (uint32_t l = 0; l < n_links; l++) {
        uint32_t n_on = base->on_first[l + 1] - base->on_first[l];
        r->links[l] = (incremental_link){.capacity = base->sharing.capacity[l],
                                         .full = base->full[l],
                                         .now = base->full[l],
                                         .n_on = n_on,
                                         .n_listed = n_on,
                                         .listed = base->on_first[l],
                                         .come = INCREMENTAL_NONE};
        for (uint32_t i = 0; i < n_on && i < INCREMENTAL_NEAR_FLOWS; i++) {
            r->links[l].near[i] = base->on[base->on_first[l] + i];
        }
    }
    *out = r;
    r = NULL;
done:
    fab_incremental_free(r);
    return status;
}

static void undo(fab_incremental *r) {
    const fab_rates_base *b = r->base;
    for (uint32_t i = 0; i < r->n_differs; i++) {
        uint32_t f = r->differs[i];
        r->flows[f] = (incremental_now){.level = b->flows[f].level, .place = INCREMENTAL_STAYS};
    }
    for (uint32_t i = 0; i < r->n_touched; i++) {
        const incremental_touched *was = &r->touched[i];
        incremental_link *link = &r->links[was->link];
        link->capacity = was->capacity;
        link->full = was->full;
        link->now = was->full;
        link->n_on = was->n_on;
        link->come = INCREMENTAL_NONE;
        link->state = 0;
    }
    r->n_differs = 0;
    r->n_touched = 0;
    r->n_stale = 0;
    r->n_growing = 0;
    r->n_lost = 0;
    r->n_crossings = 0;
    r->n_events = 0;
    r->n_looked = 0;
}

/* --- laying changes over ------------------------------------------------------------------------------------------ */

/* Flows that did not look at a link do now. */
static void look_at_all(fab_incremental *r, uint32_t l) {
    const incremental_link *link = &r->links[l];
    bool is_looked_at = link->n_listed > 1 && isfinite(r->base->sharing.capacity[l]);
    for (uint32_t i = 0; !is_looked_at && i < link->n_listed; i++) {
        incremental_touch_flow(r, r->base->on[link->listed + i], INCREMENTAL_NOT_ALONE);
    }
}

static fab_status set_capacities(fab_incremental *r, fab_error *err) {
    const fab_rate_changes *c = r->changes;
    for (uint32_t i = 0; i < c->n_capacities; i++) {
        uint32_t l = c->wider_or_narrower[i];
        if (l >= r->base->sharing.n_links) {
            return fab_fail(err, FAB_EINPUT, NULL, "link %u changes its capacity; there are %u", l,
                            r->base->sharing.n_links);
        }
        if ((r->links[l].state & INCREMENTAL_RESIZED) != 0) {
            return fab_fail(err, FAB_EINPUT, NULL, "link %u changes its capacity twice; once is enough", l);
        }
        if (!(c->capacity[i] >= 0)) {
            return fab_fail(err, FAB_EINPUT, NULL, "link %u changes its capacity to %g; it must not be below 0", l,
                            c->capacity[i]);
        }
        incremental_set_stale(r, l);
        r->links[l].capacity = c->capacity[i];
        r->links[l].state |= INCREMENTAL_RESIZED;
        look_at_all(r, l);
    }
    return FAB_OK;
}

static fab_status check_change(const fab_incremental *r, uint32_t i, fab_error *err) {
    const fab_rate_changes *c = r->changes;
    const fab_sharing *s = &r->base->sharing;
    if (c->flow[i] >= s->n_flows) {
        return fab_fail(err, FAB_EINPUT, NULL, "flow %u changes its links; there are %u", c->flow[i], s->n_flows);
    }
    if ((r->flows[c->flow[i]].state & INCREMENTAL_DIFFERS) != 0) {
        return fab_fail(err, FAB_EINPUT, NULL, "flow %u changes its links twice; once is enough", c->flow[i]);
    }
    for (size_t e = c->first[i]; e < c->first[i + 1]; e++) {
        if (c->link[e] >= s->n_links) {
            return fab_fail(err, FAB_EINPUT, NULL, "flow %u goes over link %u; there are %u", c->flow[i], c->link[e],
                            s->n_links);
        }
        if (c->share != NULL && !(c->share[e] > 0 && isfinite(c->share[e]))) {
            return fab_fail(err, FAB_EINPUT, NULL, "entry %zu has the share %g; it must be finite and above 0", e,
                            c->share[e]);
        }
    }
    return FAB_OK;
}

static bool is_among(uint32_t l, const uint32_t *link, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (link[i] == l) {
            return true;
        }
    }
    return false;
}

/* How the links of a change differ from those before: at both ends they are the same, most often. */
typedef struct detour {
    const uint32_t *old, *new;
    size_t n_old, n_new, begin; /* the links differ from number `begin` on */
    size_t old_end, new_end;    /* up to these */
} detour;

static bool is_same_hop(const fab_incremental *r, uint32_t i, size_t old, size_t new) {
    const fab_rate_changes *c = r->changes;
    const fab_sharing *s = &r->base->sharing;
    return s->link[s->first[c->flow[i]] + old] == c->link[c->first[i] + new] &&
           (c->share == NULL || s->share[s->first[c->flow[i]] + old] == c->share[c->first[i] + new]);
}

static detour find_detour(const fab_incremental *r, uint32_t i) {
    const fab_rate_changes *c = r->changes;
    const fab_sharing *s = &r->base->sharing;
    uint32_t f = c->flow[i];
    detour d = {.old = s->link + s->first[f],
                .new = c->link + c->first[i],
                .n_old = (size_t)(s->first[f + 1] - s->first[f]),
                .n_new = c->first[i + 1] - c->first[i]};
    d.old_end = d.n_old;
    d.new_end = d.n_new;
    while (d.begin < d.old_end && d.begin < d.new_end && is_same_hop(r, i, d.begin, d.begin)) {
        d.begin++;
    }
    while (d.begin < d.old_end && d.begin < d.new_end && is_same_hop(r, i, d.old_end - 1, d.new_end - 1)) {
        d.old_end--;
        d.new_end--;
    }
    return d;
}

/* A link that is not full does not become so by a flow that leaves. */
static void leave(fab_incremental *r, uint32_t l) {
    incremental_touch_link(r, l);
    if (--r->links[l].n_on > 0 && r->links[l].full < INFINITY) {
        incremental_set_stale(r, l);
    }
}

/* Takes a flow off the links that it leaves, and puts it onto those that are new to it. */
static fab_status move(fab_incremental *r, uint32_t i, const detour *d, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_rate_changes *c = r->changes;
    uint32_t f = c->flow[i];
    for (size_t k = d->begin; k < d->old_end; k++) {
        uint32_t l = d->old[k];
        if (!is_among(l, d->new + d->begin, d->new_end - d->begin)) {
            leave(r, l);
        }
    }
    FAB_TRY(FAB_GROW(r->crossings, r->crossings_capacity, r->n_crossings + d->n_new, err));
    for (size_t k = d->begin; k < d->new_end; k++) {
        uint32_t l = d->new[k];
        double part = r->base->hop_part != NULL ? r->moved_part[c->first[i] + k] : 1;
        if (!is_among(l, d->old + d->begin, d->old_end - d->begin)) {
            incremental_set_stale(r, l);
            look_at_all(r, l);
            r->crossings[r->n_crossings] = (incremental_crossing){part, f, r->links[l].come};
            r->links[l].come = (uint32_t)r->n_crossings++;
            r->links[l].n_on++;
        }
    }
    incremental_touch_flow(r, f, INCREMENTAL_DIFFERS);
    r->flows[f].level = 0;
    r->flows[f].place = INCREMENTAL_MOVED + i;
done:
    return status;
}

/* Parts of the links of a change. A flow names a link once. */
static fab_status look_at_links(fab_incremental *r, uint32_t i, const detour *d, fab_error *err) {
    const fab_rate_changes *c = r->changes;
    const fab_sharing *s = &r->base->sharing;
    for (size_t k = d->begin; k < d->new_end; k++) { /* the others were checked with the base */
        if (is_among(d->new[k], d->new, k) || is_among(d->new[k], d->new + d->new_end, d->n_new - d->new_end)) {
            return fab_fail(err, FAB_EINPUT, NULL, "flow %u names link %u twice; once is enough", c->flow[i],
                            d->new[k]);
        }
    }
    for (size_t e = c->first[i]; r->base->hop_part != NULL && e < c->first[i + 1]; e++) {
        r->moved_part[e] = (s->weight != NULL ? s->weight[c->flow[i]] : 1) * (c->share != NULL ? c->share[e] : 1);
    }
    return FAB_OK;
}

/* Takes a flow off all links, of the base or of its change. */
static void lose(fab_incremental *r, uint32_t f) {
    const fab_rates_base *b = r->base;
    uint32_t place = r->flows[f].place;
    bool has_moved = place >= INCREMENTAL_MOVED;
    const uint32_t *link =
        has_moved ? r->changes->link + r->changes->first[place - INCREMENTAL_MOVED] : b->hop + b->flows[f].first;
    size_t n = has_moved
                   ? r->changes->first[place - INCREMENTAL_MOVED + 1] - r->changes->first[place - INCREMENTAL_MOVED]
                   : b->flows[f].n_hops;
    for (size_t i = 0; i < n; i++) {
        leave(r, link[i]);
    }
    incremental_touch_flow(r, f, INCREMENTAL_DIFFERS);
    r->flows[f].level = 0;
    r->flows[f].place = INCREMENTAL_LOST;
    r->n_lost++;
}

static fab_status move_flows(fab_incremental *r, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_rate_changes *c = r->changes;
    if (c->n_flows > r->base->sharing.n_flows) {
        FAB_FAIL(err, FAB_EINPUT, NULL, "%u flows change their links; there are %u", c->n_flows,
                 r->base->sharing.n_flows);
    }
    if (c->n_flows > 0 && (c->share != NULL) != (r->base->sharing.share != NULL)) {
        FAB_FAIL(err, FAB_EINPUT, NULL, "%s", c->share != NULL ? "the base has no shares" : "the base has shares");
    }
    if (r->base->hop_part != NULL && c->n_flows > 0) {
        FAB_TRY(FAB_GROW(r->moved_part, r->moved_capacity, c->first[c->n_flows], err));
    }
    for (uint32_t i = 0; i < c->n_flows; i++) {
        FAB_TRY(check_change(r, i, err));
        const detour d = find_detour(r, i);
        if (d.begin == d.n_old && d.begin == d.n_new) {
            continue;
        }
        if (d.n_new == 0) {
            lose(r, c->flow[i]);
        } else {
            FAB_TRY(look_at_links(r, i, &d, err));
            FAB_TRY(move(r, i, &d, err));
        }
    }
done:
    return status;
}

/* Who crosses a dead link is lost. */
static void lose_flows(fab_incremental *r) {
    const fab_rates_base *b = r->base;
    const fab_rate_changes *c = r->changes;
    for (uint32_t i = 0; i < c->n_capacities; i++) {
        uint32_t l = c->wider_or_narrower[i];
        const incremental_link *link = &r->links[l];
        if (link->capacity > 0) {
            continue;
        }
        for (uint32_t k = 0; k < link->n_listed; k++) {
            uint32_t f = b->on[link->listed + k];
            uint32_t place = r->flows[f].place;
            const size_t *first = c->first + (place - INCREMENTAL_MOVED);
            if (place == INCREMENTAL_STAYS ||
                (place >= INCREMENTAL_MOVED && is_among(l, c->link + first[0], first[1] - first[0]))) {
                lose(r, f);
            }
        }
        for (uint32_t k = link->come; k != INCREMENTAL_NONE; k = r->crossings[k].next) {
            if (r->flows[r->crossings[k].flow].place != INCREMENTAL_LOST) {
                lose(r, r->crossings[k].flow);
            }
        }
    }
}

/* Flows that have moved get a level once all have come and gone. */
static void grow_moved(fab_incremental *r) {
    for (uint32_t i = 0; i < r->changes->n_flows; i++) {
        if (r->flows[r->changes->flow[i]].place == INCREMENTAL_MOVED + i) {
            incremental_grow(r, r->changes->flow[i]);
        }
    }
}

/* --- what comes of it --------------------------------------------------------------------------------------------- */

static double rate_of(const fab_incremental *r, uint32_t flow) {
    const fab_rates_base *b = r->base;
    const fab_sharing *s = &b->sharing;
    double level = r->flows[flow].level;
    if (r->flows[flow].place == INCREMENTAL_LOST) {
        return 0;
    }
    if (level == b->flows[flow].level) {
        return b->flows[flow].rate;
    }
    if (level >= incremental_limit_level(s, flow)) {
        return s->limit != NULL ? s->limit[flow] : INFINITY;
    }
    return s->weight != NULL ? s->weight[flow] * level : level;
}

static double sum_again(const fab_incremental *r) {
    double sum = 0;
    for (uint32_t f = 0; f < r->base->sharing.n_flows; f++) {
        double rate = rate_of(r, f);
        sum += isfinite(rate) ? rate : 0;
    }
    return sum;
}

/* The slowest so far, or this flow; of several the lowest. */
static void take_slowest(fab_incremental_rates *x, uint32_t flow, double rate) {
    if (rate < x->slowest_bps || (rate == x->slowest_bps && flow < x->slowest_flow)) {
        x->slowest_bps = rate;
        x->slowest_flow = flow;
    }
}

static void hand_out(fab_incremental *r, fab_incremental_rates *out) {
    const fab_rates_base *b = r->base;
    const fab_sharing *s = &b->sharing;
    uint32_t n_infinite = b->n_infinite;
    fab_incremental_rates x = {.flow = r->changed, .rate = r->rate, .n_lost = r->n_lost, .sum_bps = b->sum};
    x.slowest_bps = INFINITY;
    x.slowest_flow = s->n_flows;
    for (uint32_t i = 0; i < r->n_differs; i++) {
        uint32_t f = r->differs[i];
        double rate = rate_of(r, f);
        double before = b->flows[f].rate;
        if (r->flows[f].place != INCREMENTAL_LOST) {
            take_slowest(&x, f, rate);
        }
        if (rate != before) {
            r->changed[x.n_changed] = f;
            r->rate[x.n_changed++] = rate;
            x.sum_bps += (isfinite(rate) ? rate : 0) - (isfinite(before) ? before : 0);
            n_infinite += isfinite(rate) ? 0 : 1;
            n_infinite -= isfinite(before) ? 0 : 1;
        }
    }
    uint32_t i = 0;
    while (i < s->n_flows && r->flows[b->by_rate[i]].state != 0) {
        i++;
    }
    if (i < s->n_flows) {
        take_slowest(&x, b->by_rate[i], b->rate[b->by_rate[i]]);
    }
    if (x.sum_bps < CANCELLED * b->sum) {
        x.sum_bps = sum_again(r);
    }
    x.sum_bps = n_infinite > 0 ? INFINITY : x.sum_bps;
    *out = x;
}

static fab_status hand_out_whole(fab_incremental *r, fab_incremental_rates *out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_rates_base *b = r->base;
    const double *rate = NULL;
    fab_incremental_rates x = {.in_full = true, .flow = r->changed, .rate = r->rate, .n_lost = r->n_lost};
    x.slowest_bps = INFINITY;
    x.slowest_flow = b->sharing.n_flows;
    FAB_TRY(incremental_full_solve(r, &rate, err));
    for (uint32_t f = 0; f < b->sharing.n_flows; f++) {
        bool is_lost = r->flows[f].place == INCREMENTAL_LOST;
        bool is_same = !is_lost && incremental_is_same(rate[f], b->rate[f]);
        double now = is_same ? b->rate[f] : rate[f];
        if (!is_same) {
            r->changed[x.n_changed] = f;
            r->rate[x.n_changed++] = now;
        }
        if (!is_lost) {
            take_slowest(&x, f, now);
        }
        x.sum_bps += now;
    }
    *out = x;
done:
    return status;
}

fab_status fab_incremental_apply(fab_incremental *r, const fab_rate_changes *changes, fab_incremental_rates *out,
                                 fab_error *err) {
    fab_status status = FAB_OK;
    bool is_settled = false;
    undo(r);
    r->changes = changes;
    FAB_TRY(set_capacities(r, err));
    FAB_TRY(move_flows(r, err));
    lose_flows(r);
    grow_moved(r);
    FAB_TRY(incremental_reserve(r, err));
    FAB_TRY(incremental_settle(r, &is_settled, err));
    if (is_settled && incremental_is_fair(r)) {
        hand_out(r, out);
    } else {
        FAB_TRY(hand_out_whole(r, out, err));
    }
done:
    r->changes = NULL;
    if (status != FAB_OK) {
        undo(r);
    }
    return status;
}
