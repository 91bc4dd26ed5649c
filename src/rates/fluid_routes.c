/* Routes of a simulation. Left out are links that are never the first to be full:
 *   - where all flows of a link cross the same link next to it, which is no wider;
 *   - those that one flow alone crosses: the narrowest of them, or the limit of the flow, is a link of its own, unless
 *     a link that others cross too is no wider. */
#include "fluid_state.h"

#include "fab/memory.h"

#include <math.h>

/* A link of the sharing. */
typedef struct crossed {
    uint32_t n_on;
    uint32_t before, after; /* link that every flow crosses before, after it, or FLUID_NONE */
    uint32_t number;        /* in the simulation */
    uint32_t last;          /* flow that has crossed it last, + 1 */
} crossed;

static bool sends(const fab_fluid *fluid, uint32_t f) {
    return fluid->flows[f].target > 0;
}

static fab_status cross(const fab_fluid *fluid, const fab_sharing *s, crossed *links, fab_error *err) {
    for (uint32_t f = 0; f < s->n_flows; f++) {
        for (uint64_t e = s->first[f]; sends(fluid, f) && e < s->first[f + 1]; e++) {
            crossed *link = &links[s->link[e]];
            const uint32_t before = e > s->first[f] ? s->link[e - 1] : FLUID_NONE;
            const uint32_t after = e + 1 < s->first[f + 1] ? s->link[e + 1] : FLUID_NONE;
            FAB_REFUSE_IF(link->last == f + 1, err, FAB_EINPUT, NULL, "flow %u names link %u twice; once is enough", f,
                          s->link[e]);
            link->last = f + 1;
            link->before = link->n_on == 0 || link->before == before ? before : FLUID_NONE;
            link->after = link->n_on == 0 || link->after == after ? after : FLUID_NONE;
            link->n_on++;
        }
    }
    return FAB_OK;
}

/* Whether a link that several flows cross can hold them. */
static bool holds(const fab_sharing *s, const crossed *links, uint32_t l) {
    const crossed *link = &links[l];
    const bool is_behind =
        s->share == NULL && ((link->after != FLUID_NONE && s->capacity[link->after] <= s->capacity[l]) ||
                             (link->before != FLUID_NONE && s->capacity[link->before] < s->capacity[l]));
    return link->n_on > 1 && isfinite(s->capacity[l]) && !is_behind;
}

/* The rate to which what a flow has alone holds it; INFINITY where links that others cross too leave no more. */
static double own_limit(const fab_fluid *fluid, const fab_sharing *s, const crossed *links, uint32_t f) {
    double own = s->limit != NULL ? s->limit[f] : INFINITY;
    double shared = INFINITY;
    for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
        const double rate = s->capacity[s->link[e]] / (s->share != NULL ? s->share[e] : 1);
        const crossed *link = &links[s->link[e]];
        own = link->n_on == 1 ? fmin(own, rate) : own;
        shared = link->number != FLUID_NONE ? fmin(shared, rate) : shared;
    }
    return sends(fluid, f) && own < shared ? own : INFINITY;
}

static void put_hop(fab_fluid *fluid, uint32_t f, uint32_t link, double share) {
    const uint64_t hop = fluid->first[f + 1]++;
    fluid->link[hop] = link;
    fluid->listed[link + 1]++;
    if (fluid->share != NULL) {
        fluid->share[hop] = share;
    }
}

static void put_hops(fab_fluid *fluid, const fab_sharing *s, const crossed *links) {
    uint32_t n_links = fluid->routes.n_links;
    for (uint32_t f = 0; f < s->n_flows; f++) {
        const double own = own_limit(fluid, s, links, f);
        fluid->first[f + 1] = fluid->first[f];
        for (uint64_t e = s->first[f]; sends(fluid, f) && e < s->first[f + 1]; e++) {
            if (links[s->link[e]].number != FLUID_NONE) {
                put_hop(fluid, f, links[s->link[e]].number, s->share != NULL ? s->share[e] : 1);
            }
        }
        if (own < INFINITY) {
            fluid->capacity[n_links] = own;
            put_hop(fluid, f, n_links++, 1);
        }
    }
    FAB_ADD_UP(fluid->listed, n_links);
    fluid->routes.n_links = n_links;
}

fab_status fluid_route(fab_fluid *fluid, const fab_sharing *s, fab_error *err) {
    FAB_OWNED crossed *links = NULL;
    uint32_t n_links = 0;
    uint64_t n_hops = 0;
    FAB_PASS(FAB_NEW(links, s->n_links, err));
    FAB_PASS(cross(fluid, s, links, err));
    for (uint32_t l = 0; l < s->n_links; l++) {
        links[l].number = holds(s, links, l) ? n_links++ : FLUID_NONE;
        n_hops += links[l].number != FLUID_NONE ? links[l].n_on : 0;
    }
    FAB_SUM(uint32_t, n_own, f, s->n_flows, own_limit(fluid, s, links, f) < INFINITY ? 1U : 0U);
    n_hops += n_own;
    FAB_REFUSE_IF(n_hops >= FLUID_NONE, err, FAB_EUNSUPPORTED, NULL, "%llu links of flows; 2^32 - 2 is the most",
                  (unsigned long long)n_hops);
    FAB_PASS(FAB_NEW_ALL((size_t)n_links + n_own + 1, err, fluid->capacity, fluid->listed));
    FAB_PASS(FAB_NEW(fluid->first, (size_t)s->n_flows + 1, err));
    FAB_PASS(FAB_NEW_ALL(n_hops, err, fluid->link, fluid->place, fluid->places));
    FAB_PASS(s->share != NULL ? FAB_NEW(fluid->share, n_hops, err) : FAB_OK);
    for (uint32_t l = 0; l < s->n_links; l++) {
        if (links[l].number != FLUID_NONE) {
            fluid->capacity[links[l].number] = s->capacity[l];
        }
    }
    fluid->routes = (fab_sharing){.n_flows = s->n_flows, .n_links = n_links, .weight = s->weight};
    put_hops(fluid, s, links);
    fluid->routes.capacity = fluid->capacity;
    fluid->routes.first = fluid->first;
    fluid->routes.link = fluid->link;
    fluid->routes.share = fluid->share;
    return FAB_OK;
}
