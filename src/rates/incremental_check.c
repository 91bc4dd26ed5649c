/* The definition of max-min fairness, where something has changed; and everything anew. */
#include "fab/memory.h"
#include "incremental_state.h"

#include <math.h>

#define TOLERANCE 1e-9

/* --- the check -----------------------------------------------------------------------------------------------------
 *
 * A link that was not touched has the flows, rates and capacity of the base, so that it carries no more than it can and
 * holds whom it held. What is left is to look at the touched links, the flows that changed, and those that a touched
 * link held. Nothing that settling found is used but the levels of the flows; `now` of a touched link becomes the level
 * from which it holds flows. */

/* Finds `now` of a link, and adds to the list the flows that it held and that are what they were.
 * @return whether it can carry its flows. */
static bool can_carry(fab_incremental *r, uint32_t l, uint32_t *n_bottlenecked) {
    const fab_rates_base *b = r->base;
    incremental_link *link = &r->links[l];
    double load = 0;
    double top = 0;
    uint32_t n = *n_bottlenecked;
    const uint32_t *list = incremental_listed(r, link);
    for (uint32_t i = 0; i < link->n_listed; i++) {
        uint32_t f = list[i];
        double part = 1;
        double level = incremental_level_on(r, l, list, i, &part);
        load += level * part;
        top = level > top ? level : top;
        r->held[n] = f;
        n += b->bottleneck[f] == l && r->flows[f].state == 0;
    }
    for (uint32_t c = link->come; c != INCREMENTAL_NONE; c = r->crossings[c].next) {
        double level = r->flows[r->crossings[c].flow].level;
        load += level * r->crossings[c].part;
        top = level > top ? level : top;
    }
    *n_bottlenecked = n;
    link->now = load >= link->capacity * (1 - TOLERANCE) ? top : INFINITY;
    return load <= link->capacity * (1 + TOLERANCE);
}

/* Whether a link, the limit or the lack of both holds a flow, and none that it has alone carries more than it can. */
static bool is_bottlenecked(const fab_incremental *r, uint32_t flow) {
    incremental_path path = incremental_path_of(r, flow);
    double level = r->flows[flow].level;
    double least = path.alone;
    bool can_hold = false;
    bool is_bottlenecked = false;
    for (size_t i = 0; i < path.n; i++) {
        const incremental_link *link = &r->links[path.link[i]];
        if (link->n_on == 1) {
            double alone = incremental_alone(r, &path, i);
            least = alone < least ? alone : least;
        } else {
            is_bottlenecked = is_bottlenecked || (isfinite(link->now) && level >= link->now * (1 - TOLERANCE));
            can_hold = can_hold || isfinite(link->capacity);
        }
    }
    if (isfinite(least)) {
        return level <= least * (1 + TOLERANCE) && (is_bottlenecked || level >= least * (1 - TOLERANCE));
    }
    return is_bottlenecked || (level == INFINITY && !can_hold);
}

bool incremental_is_fair(fab_incremental *r) {
    bool is_fair = true;
    uint32_t n_bottlenecked = 0;
    for (uint32_t i = 0; i < r->n_touched; i++) {
        const incremental_link *link = &r->links[r->touched[i].link];
        if (link->n_on > 1 || link->n_listed > 1 || (link->state & INCREMENTAL_RESIZED) != 0) {
            is_fair = can_carry(r, r->touched[i].link, &n_bottlenecked) && is_fair;
        }
    }
    for (uint32_t i = 0; is_fair && i < r->n_differs; i++) {
        is_fair = r->flows[r->differs[i]].place == INCREMENTAL_LOST || is_bottlenecked(r, r->differs[i]);
    }
    for (uint32_t i = 0; is_fair && i < n_bottlenecked; i++) {
        is_fair = is_bottlenecked(r, r->held[i]);
    }
    return is_fair;
}

/* --- everything anew ---------------------------------------------------------------------------------------------- */

struct incremental_full {
    fab_max_min *solver;
    uint64_t *first;
    uint32_t *link, *flow; /* flow: of the base, per flow that is not lost */
    double *share, *weight, *limit, *capacity, *rate, *found;
    size_t link_capacity, share_capacity;
};

void incremental_full_free(struct incremental_full *w) {
    if (w == NULL) {
        return;
    }
    fab_max_min_free(w->solver);
    FAB_FREE_ALL(w->first, w->link, w->flow, w->share, w->weight, w->limit, w->capacity, w->rate, w->found, w);
}

static fab_status whole_new(const fab_sharing *s, struct incremental_full **out, fab_error *err) {
    fab_status status = FAB_OK;
    struct incremental_full *w = NULL;
    FAB_TRY(FAB_NEW(w, 1, err));
    FAB_TRY(fab_max_min_new(&w->solver, err));
    FAB_TRY(FAB_NEW(w->first, (size_t)s->n_flows + 1, err));
    FAB_TRY(FAB_NEW(w->flow, s->n_flows, err));
    FAB_TRY(FAB_NEW(w->weight, s->n_flows, err));
    FAB_TRY(FAB_NEW(w->limit, s->n_flows, err));
    FAB_TRY(FAB_NEW(w->capacity, s->n_links, err));
    FAB_TRY(FAB_NEW(w->rate, s->n_flows, err));
    FAB_TRY(FAB_NEW(w->found, s->n_flows, err));
    *out = w;
    w = NULL;
done:
    incremental_full_free(w);
    return status;
}

/* The flows that are not lost, with their links. */
static fab_status check_list_flows(const fab_incremental *r, struct incremental_full *w, uint32_t *out_n,
                                   fab_error *err) {
    fab_status status = FAB_OK;
    const fab_sharing *s = &r->base->sharing;
    uint32_t n = 0;
    uint64_t entry = 0;
    for (uint32_t f = 0; f < s->n_flows; f++) {
        uint32_t place = r->flows[f].place;
        if (place == INCREMENTAL_LOST) {
            continue;
        }
        bool is_moved = place >= INCREMENTAL_MOVED;
        uint64_t begin = is_moved ? r->changes->first[place - INCREMENTAL_MOVED] : s->first[f];
        uint64_t end = is_moved ? r->changes->first[place - INCREMENTAL_MOVED + 1] : s->first[f + 1];
        const uint32_t *link = is_moved ? r->changes->link : s->link;
        const double *share = is_moved ? r->changes->share : s->share;
        FAB_TRY(FAB_GROW(w->link, w->link_capacity, entry + (end - begin), err));
        if (share != NULL) {
            FAB_TRY(FAB_GROW(w->share, w->share_capacity, entry + (end - begin), err));
        }
        for (uint64_t e = begin; e < end; e++, entry++) {
            w->link[entry] = link[e];
            if (share != NULL) {
                w->share[entry] = share[e];
            }
        }
        w->flow[n] = f;
        w->weight[n] = s->weight != NULL ? s->weight[f] : 1;
        w->limit[n] = s->limit != NULL ? s->limit[f] : INFINITY;
        w->first[++n] = entry;
    }
    *out_n = n;
done:
    return status;
}

fab_status incremental_full_solve(fab_incremental *r, const double **out_rate, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_sharing *s = &r->base->sharing;
    uint32_t n = 0;
    if (r->whole == NULL) {
        FAB_TRY(whole_new(s, &r->whole, err));
    }
    struct incremental_full *w = r->whole;
    FAB_TRY(check_list_flows(r, w, &n, err));
    for (uint32_t l = 0; l < s->n_links; l++) {
        double capacity = r->links[l].capacity;
        w->capacity[l] = capacity > 0 ? capacity : INFINITY; /* nobody crosses what is dead */
    }
    const fab_sharing changed_sharing = {
        .n_flows = n,
        .n_links = s->n_links,
        .capacity = w->capacity,
        .first = w->first,
        .link = w->link,
        .share = s->share != NULL ? w->share : NULL,
        .weight = s->weight != NULL ? w->weight : NULL,
        .limit = s->limit != NULL ? w->limit : NULL,
    };
    FAB_TRY(fab_max_min_solve(w->solver, &changed_sharing, w->found, NULL, err));
    for (uint32_t f = 0; f < s->n_flows; f++) {
        w->rate[f] = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        w->rate[w->flow[i]] = w->found[i];
    }
    *out_rate = w->rate;
done:
    return status;
}
