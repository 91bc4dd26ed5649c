/* The filling, replayed in the order of levels along what is different.
 *
 * A link is full at the level at which its flows, each at the level where another link stops it or at that of this
 * link, take all of its capacity. Where a flow has come, gone or changed, that level is found again. If it is lower
 * than before, the link stops its flows there. If it is higher, the link lets go of its flows at the level at which it
 * held them, and they grow until another link stops them. Both change what other links see, above that level only:
 * links are dealt with in the order of the levels at which something happens, and what lies below is final. A flow is
 * let go of once at most and stopped once, so that all is done after as many looks at links as flows change, times the
 * links of each.
 *
 * A flow that grows is put at once where the first of its links would stop it, as far as is known; if that link turns
 * out to be full later, it lets go again. Links that a flow has alone are not looked at: they are a limit of the flow.
 *
 * Rounding could make two links hand a flow to and fro; a bound on the work ends that, and everything is solved again.
 */
#include "fab/memory.h"
#include "incremental_state.h"

#include <math.h>

#define ALONE        64   /* flows that may change however few there are */
#define LOOKED_ALONE 4096 /* the same of crossings that are looked at */

/* Of two flows, most often. */
static double full_level_of_two(double capacity, double held, double a, double b) {
    double slower = a < b ? a : b;
    double faster = a < b ? b : a;
    double full = 0.5 * capacity;
    if (slower < full * (1 - FILL_SLACK) && slower < held) {
        full = capacity - slower;
        full = faster < full * (1 - FILL_SLACK) && faster < held ? INFINITY : full;
    }
    return full;
}

/* The level grows from what the link would give if every flow took its share, by what slower flows leave. */
double incremental_full_level(double capacity, double held, const double *level, const double *part, uint32_t n) {
    double weight = 0;
    uint32_t n_before = 0;
    if (n == 2 && part == NULL) {
        return full_level_of_two(capacity, held, level[0], level[1]);
    }
    for (uint32_t i = 0; i < n; i++) {
        weight += part != NULL ? part[i] : 1;
    }
    double full = n > 0 ? capacity / weight : INFINITY;
    while (full < INFINITY) {
        double below = full * (1 - FILL_SLACK);
        double taken = 0;
        uint32_t n_slower = 0;
        below = held < below ? held : below;
        weight = 0;
        for (uint32_t i = 0; i < n; i++) {
            double p = part != NULL ? part[i] : 1;
            bool is_slower = level[i] < below;
            taken += is_slower ? p * level[i] : 0;
            weight += is_slower ? 0 : p;
            n_slower += is_slower;
        }
        if (n_slower == n_before) {
            break;
        }
        n_before = n_slower;
        full = n_slower < n ? (capacity - taken) / weight : INFINITY;
    }
    return full;
}

void incremental_touch_flow(fab_incremental *r, uint32_t flow, uint32_t state) {
    r->differs[r->n_differs] = flow;
    r->n_differs += r->flows[flow].state == 0;
    r->flows[flow].state |= state;
}

void incremental_touch_link(fab_incremental *r, uint32_t l) {
    incremental_link *link = &r->links[l];
    if ((link->state & INCREMENTAL_TOUCHED) == 0) {
        link->state |= INCREMENTAL_TOUCHED;
        r->touched[r->n_touched++] = (incremental_touched){l, link->n_on, link->capacity, link->full};
    }
}

void incremental_set_stale(fab_incremental *r, uint32_t l) {
    incremental_link *link = &r->links[l];
    if ((link->state & INCREMENTAL_STALE) == 0) {
        incremental_touch_link(r, l);
        link->state |= INCREMENTAL_STALE;
        r->stale[r->n_stale++] = l;
    }
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static fab_status settle_push(fab_incremental *r, double level, uint32_t link, fab_error *err) {
    if (r->n_events == r->events_capacity) {
        fab_status status = FAB_GROW(r->events, r->events_capacity, r->n_events + 1, err);
        if (status != FAB_OK) {
            return status;
        }
    }
    incremental_event *heap = r->events;
    size_t at = r->n_events++;
    for (; at > 0 && level < heap[(at - 1) / 2].level; at = (at - 1) / 2) {
        heap[at] = heap[(at - 1) / 2];
    }
    heap[at] = (incremental_event){level, link};
    return FAB_OK;
}

static incremental_event pop(fab_incremental *r) {
    incremental_event *heap = r->events;
    incremental_event top = heap[0];
    size_t n = --r->n_events;
    incremental_event last = heap[n];
    size_t at = 0;
    for (size_t child = 1; child < n; child = 2 * at + 1) {
        child += (size_t)(child + 1 < n) & (size_t)(heap[child + 1].level < heap[child].level); /* heap[n] is there */
        if (last.level <= heap[child].level) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return top;
}

/* --- links -------------------------------------------------------------------------------------------------------- */

double incremental_moved_level_on(const fab_incremental *r, uint32_t l, uint32_t flow, double *out_part) {
    incremental_path path = incremental_path_of(r, flow);
    for (size_t i = 0; i < path.n; i++) {
        if (path.link[i] == l) {
            *out_part = path.part != NULL ? path.part[i] : 1;
            return r->flows[flow].level;
        }
    }
    return 0;
}

fab_status incremental_reserve(fab_incremental *r, fab_error *err) {
    fab_status status = FAB_OK;
    size_t n = (size_t)r->base->most_on + r->changes->n_flows + 1;
    FAB_TRY(FAB_GROW(r->found, r->found_capacity, n, err));
    if (r->base->on_part != NULL) {
        FAB_TRY(FAB_GROW(r->part, r->part_capacity, n, err));
    }
done:
    return status;
}

/* Finds `now` of a link, and the largest level of those of its flows that do not grow. */
static void settle_look_at(fab_incremental *r, uint32_t l, double *out_top) {
    incremental_link *link = &r->links[l];
    const uint32_t *list = incremental_listed(r, link);
    double *found = r->found;
    double *part = r->part;
    double top = 0;
    uint32_t n = 0;
    *out_top = 0;
    link->state &= ~(uint32_t)(INCREMENTAL_STOPS | INCREMENTAL_RELEASES);
    if (link->n_on == 0 || (link->n_on == 1 && link->n_listed <= 1 && (link->state & INCREMENTAL_RESIZED) == 0)) {
        link->now = INFINITY; /* nobody, or a flow alone that knows it */
        link->full = INFINITY;
        return;
    }
    for (uint32_t i = 0; i < link->n_listed; i++) {
        double p = 1;
        double level = incremental_level_on(r, l, list, i, &p);
        double settled = (r->flows[list[i]].state & INCREMENTAL_GROWS) != 0 ? 0 : level;
        top = settled > top ? settled : top;
        found[n] = level;
        if (part != NULL) {
            part[n] = p;
        }
        n += level > 0;
    }
    for (uint32_t c = link->come; c != INCREMENTAL_NONE; c = r->crossings[c].next) {
        const incremental_now *flow = &r->flows[r->crossings[c].flow];
        double settled = (flow->state & INCREMENTAL_GROWS) != 0 ? 0 : flow->level;
        top = settled > top ? settled : top;
        found[n] = flow->level;
        if (part != NULL) {
            part[n] = r->crossings[c].part;
        }
        n += flow->level > 0;
    }
    r->n_looked += link->n_listed + link->n_on;
    link->now = incremental_full_level(link->capacity, link->full * (1 - FILL_SLACK), found, part, n);
    *out_top = top;
}

/* What a link will do, and when. */
static fab_status decide(fab_incremental *r, uint32_t l, double top, fab_error *err) {
    incremental_link *link = &r->links[l];
    link->state &= ~(uint32_t)(INCREMENTAL_STALE | INCREMENTAL_AGAIN);
    if (top >= link->full * (1 - FILL_SLACK) && link->now > link->full * (1 + FILL_SLACK)) {
        link->state |= INCREMENTAL_RELEASES;
        return settle_push(r, link->full, l, err);
    }
    if (top > link->now * (1 + FILL_SLACK)) {
        link->state |= INCREMENTAL_STOPS;
        return settle_push(r, link->now, l, err);
    }
    link->full = link->now;
    return FAB_OK;
}

/* A flow that grows goes as far as the first full link that it reaches, as far as is known; its other links look again.
 */
static void find_first_full(fab_incremental *r, uint32_t f) {
    incremental_now *flow = &r->flows[f];
    incremental_path path = incremental_path_of(r, f);
    double level = flow->level;
    incremental_link *first = NULL;
    for (size_t i = 0; i < path.n; i++) {
        incremental_link *link = &r->links[path.link[i]];
        if (link->n_on > 1 && link->now < level) {
            level = link->now;
            first = link;
        }
    }
    flow->state &= ~(uint32_t)INCREMENTAL_GROWS;
    if (first == NULL) {
        return;
    }
    first->full = level < first->full ? level : first->full;
    flow->level = incremental_is_same(level, r->base->flows[f].level) ? r->base->flows[f].level : level;
    for (size_t i = 0; i < path.n; i++) {
        incremental_link *link = &r->links[path.link[i]];
        if (link->n_on > 1 && link->now > level * (1 + FILL_SLACK) && link->now < INFINITY) {
            incremental_set_stale(r, path.link[i]);
            link->state |= INCREMENTAL_AGAIN;
        }
    }
}

static fab_status look_at_stale(fab_incremental *r, fab_error *err) {
    fab_status status = FAB_OK;
    for (uint32_t i = 0; i < r->n_stale; i++) {
        settle_look_at(r, r->stale[i], &r->top[i]);
    }
    uint32_t n_looked_at = r->n_stale;
    for (uint32_t i = 0; i < r->n_growing; i++) {
        find_first_full(r, r->growing[i]);
    }
    r->n_growing = 0;
    for (uint32_t i = 0; i < r->n_stale; i++) {
        if (i >= n_looked_at || (r->links[r->stale[i]].state & INCREMENTAL_AGAIN) != 0) {
            settle_look_at(r, r->stale[i], &r->top[i]);
        }
        FAB_TRY(decide(r, r->stale[i], r->top[i], err));
    }
    r->n_stale = 0;
done:
    return status;
}

/* --- flows -------------------------------------------------------------------------------------------------------- */

/* The links of the flow see its new level, but for link l. One that holds the flow at both levels sees no difference,
 * one that is not full does not become so by a flow that has less, and one that the flow has alone never sees any. */
static void set_level(fab_incremental *r, uint32_t f, double level, uint32_t l) {
    incremental_now *flow = &r->flows[f];
    incremental_path path = incremental_path_of(r, f);
    double before = r->base->flows[f].level;
    double was = flow->level;
    level = incremental_is_same(level, before) ? before : level;
    double least = level < was ? level : was;
    flow->level = level;
    incremental_touch_flow(r, f, INCREMENTAL_DIFFERS);
    for (size_t i = 0; i < path.n; i++) {
        const incremental_link *link = &r->links[path.link[i]];
        if (link->n_on == 1) {
            continue;
        }
        bool is_bottlenecked = least >= link->now * (1 - FILL_SLACK) && level <= link->now * (1 + FILL_SLACK);
        if (path.link[i] == l || is_bottlenecked || (level <= was && link->now == INFINITY)) {
            incremental_touch_link(r, path.link[i]);
        } else {
            incremental_set_stale(r, path.link[i]);
        }
    }
}

void incremental_grow(fab_incremental *r, uint32_t f) {
    incremental_path path = incremental_path_of(r, f);
    double level = path.alone;
    for (size_t i = 0; i < path.n; i++) {
        if (r->links[path.link[i]].n_on == 1) {
            double alone = incremental_alone(r, &path, i);
            level = alone < level ? alone : level;
        }
    }
    set_level(r, f, level, INCREMENTAL_NONE);
    r->flows[f].state |= INCREMENTAL_GROWS;
    r->growing[r->n_growing++] = f;
}

/* Whether its limit or a link other than l holds a flow, as far as is known. */
static bool is_bottlenecked_elsewhere(const fab_incremental *r, uint32_t f, uint32_t l) {
    incremental_path path = incremental_path_of(r, f);
    double least = r->flows[f].level * (1 + FILL_SLACK);
    bool is_bottlenecked = path.alone <= least;
    for (size_t i = 0; i < path.n && !is_bottlenecked; i++) {
        const incremental_link *link = &r->links[path.link[i]];
        if (path.link[i] != l && link->n_on == 1) {
            is_bottlenecked = incremental_alone(r, &path, i) <= least;
        } else if (path.link[i] != l) {
            is_bottlenecked = (link->state & INCREMENTAL_STALE) == 0 && link->now <= least;
        }
    }
    return is_bottlenecked;
}

/* --- what happens at a level -------------------------------------------------------------------------------------- */

/* A link stops the flows that have more, or lets go of those that are bottlenecked at it. */
static void happen(fab_incremental *r, uint32_t l, bool stops) {
    incremental_link *link = &r->links[l];
    double above = stops ? link->now * (1 + FILL_SLACK) : link->full * (1 - FILL_SLACK);
    uint32_t come = link->come;
    const uint32_t *list = incremental_listed(r, link);
    for (uint32_t i = 0; i < link->n_listed || come != INCREMENTAL_NONE; i++) {
        uint32_t f = INCREMENTAL_NONE;
        double level = 0;
        double part = 0;
        if (i < link->n_listed) {
            f = list[i];
            level = incremental_level_on(r, l, list, i, &part);
        } else {
            f = r->crossings[come].flow;
            level = r->flows[f].level;
            come = r->crossings[come].next;
        }
        if (stops && level > above) {
            set_level(r, f, link->now, l);
        } else if (!stops && level >= above && level < INFINITY && !is_bottlenecked_elsewhere(r, f, l)) {
            incremental_grow(r, f);
        }
    }
    link->full = stops ? link->now : INFINITY;
    if (!stops && link->n_on > 1) {
        incremental_set_stale(r, l);
    }
}

fab_status incremental_settle(fab_incremental *r, bool *out_settled, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_sharing *s = &r->base->sharing;
    uint64_t most_looked = (s->first[s->n_flows] - s->first[0]) / 2 + LOOKED_ALONE;
    *out_settled = false;
    while (r->n_looked <= most_looked && (r->n_differs <= ALONE || r->n_differs <= s->n_flows / 5)) {
        FAB_TRY(look_at_stale(r, err));
        if (r->n_events == 0) {
            *out_settled = true;
            break;
        }
        incremental_event event = pop(r);
        incremental_link *link = &r->links[event.link];
        bool stops = (link->state & INCREMENTAL_STOPS) != 0 && event.level == link->now;
        if (stops || ((link->state & INCREMENTAL_RELEASES) != 0 && event.level == link->full)) {
            link->state &= ~(uint32_t)(INCREMENTAL_STOPS | INCREMENTAL_RELEASES);
            happen(r, event.link, stops);
        }
    }
done:
    return status;
}
