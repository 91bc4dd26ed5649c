/* All transfers begin together; when they end. Where sizes are in proportion to the weights, the flows of the highest
 * level end first, and what a flow leaves behind is of no use to those whose bottleneck it does not cross: rates never
 * change. */
#include "fluid_state.h"
#include "solver.h"

#include "fab/memory.h"
#include "fab/order.h"

#include <math.h>

/* When transfers end: a heap with four children to a node, in which every flow knows its place. */

static void settle_at(fab_fluid *fluid, uint32_t at, fluid_event event) {
    fluid->events[at] = event;
    fluid->flows[event.flow].event = at;
}

static void sift_up(fab_fluid *fluid, uint32_t at, fluid_event event) {
    while (at > 0 && event.ends < fluid->events[(at - 1) / 4].ends) {
        settle_at(fluid, at, fluid->events[(at - 1) / 4]);
        at = (at - 1) / 4;
    }
    settle_at(fluid, at, event);
}

static void sift_down(fab_fluid *fluid, uint32_t at, fluid_event event) {
    const fluid_event *events = fluid->events;
    for (uint32_t child = 4 * at + 1; child < fluid->n_events; child = 4 * at + 1) {
        uint32_t least = child;
        for (uint32_t i = child + 1; i < child + 4 && i < fluid->n_events; i++) {
            least = events[i].ends < events[least].ends ? i : least;
        }
        if (event.ends <= events[least].ends) {
            break;
        }
        settle_at(fluid, at, events[least]);
        at = least;
    }
    settle_at(fluid, at, event);
}

static void fluid_event_put(fab_fluid *fluid, uint32_t flow, double ends) {
    sift_up(fluid, fluid->n_events++, (fluid_event){ends, flow});
}

void fluid_event_move(fab_fluid *fluid, uint32_t flow, double ends) {
    uint32_t at = fluid->flows[flow].event;
    if (ends < fluid->events[at].ends) {
        sift_up(fluid, at, (fluid_event){ends, flow});
    } else {
        sift_down(fluid, at, (fluid_event){ends, flow});
    }
}

void fluid_event_rebuild(fab_fluid *fluid) {
    for (uint32_t i = fluid->n_events / 4 + 1; i-- > 0;) {
        if (i < fluid->n_events) {
            sift_down(fluid, i, fluid->events[i]);
        }
    }
}

/* Removes the next end. */
static uint32_t fluid_event_take(fab_fluid *fluid) {
    uint32_t flow = fluid->events[0].flow;
    fluid->flows[flow].event = FLUID_NONE;
    fluid->n_events--;
    if (fluid->n_events > 0) {
        sift_down(fluid, 0, fluid->events[fluid->n_events]);
    }
    return flow;
}

#define SAME_SIZE 1e-15

static void count_routes(fab_fluid *fluid) {
    const fab_sharing *s = fluid->sharing;
    for (uint64_t e = s->first[0]; e < s->first[s->n_flows]; e++) {
        fluid->links[s->link[e]].n_on++;
    }
}

/* Which link of a route that no other takes is kept: the narrowest, or FLUID_NONE where a link that others take too is
 * no wider. The rest of them can never hold the route. */
static uint32_t own_link(const fab_fluid *fluid, uint32_t f) {
    const fab_sharing *s = fluid->sharing;
    double own = INFINITY;
    double shared = INFINITY;
    uint32_t found = FLUID_NONE;
    for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
        uint32_t l = s->link[e];
        if (fluid->links[l].n_on > 1) {
            shared = fmin(shared, s->capacity[l]);
        } else if (s->capacity[l] < own) {
            own = s->capacity[l];
            found = l;
        }
    }
    return own < shared ? found : FLUID_NONE;
}

/* Whether a link that route f takes can hold it. */
static bool counts_link(const fab_fluid *fluid, uint32_t l, uint32_t own) {
    bool is_shared = fluid->sharing->share != NULL || fluid->links[l].n_on > 1;
    return isfinite(fluid->sharing->capacity[l]) && (is_shared || l == own);
}

/* Routes without the links that can hold nobody, and room for the lists of the others. */
static fab_status copy_routes(fab_fluid *fluid, fab_error *err) {
    const fab_sharing *s = fluid->sharing;
    uint64_t n_hops = 0;
    FAB_PASS(FAB_NEW(fluid->first, (size_t)s->n_flows + 1, err));
    FAB_PASS(FAB_NEW(fluid->listed, (size_t)s->n_links + 1, err));
    FAB_PASS(FAB_NEW(fluid->hops, (size_t)(s->first[s->n_flows] - s->first[0]), err));
    FAB_PASS(s->share != NULL ? FAB_NEW(fluid->share, (size_t)(s->first[s->n_flows] - s->first[0]), err) : FAB_OK);
    count_routes(fluid);
    for (uint32_t f = 0; f < s->n_flows; f++) {
        uint32_t own = own_link(fluid, f);
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            if (counts_link(fluid, s->link[e], own)) {
                fluid_link *link = &fluid->links[s->link[e]];
                FAB_REFUSE_IF(link->mark == f + 1, err, FAB_EINPUT, NULL, "flow %u names link %u twice; once is enough",
                              f, s->link[e]);
                link->mark = f + 1;
                if (s->share != NULL) {
                    fluid->share[n_hops] = s->share[e];
                }
                fluid->hops[n_hops++].link = s->link[e];
                fluid->listed[s->link[e] + 1]++;
            }
        }
        fluid->first[f + 1] = n_hops;
    }
    for (uint32_t l = 0; l < s->n_links; l++) {
        fluid->listed[l + 1] += fluid->listed[l];
        fluid->links[l].mark = 0;
        fluid->links[l].n_on = 0;
        fluid->links[l].capacity = s->capacity[l];
    }
    return FAB_NEW(fluid->places, (size_t)n_hops, err);
}

/* Those of fab_fluid_new() and fluid_set_init(). */
double fab_fluid_bytes(const fab_sharing_size *size) {
    double flow =
        sizeof(fluid_flow) + sizeof(fluid_event) + 3 * sizeof(uint32_t) + 2 * sizeof(uint64_t) + 3 * sizeof(double);
    double link = sizeof(fluid_link) + sizeof(local_link) + sizeof(uint32_t) + sizeof(uint64_t) + sizeof(double);
    double entry = sizeof(fluid_hop) + sizeof(fluid_place) + sizeof(uint32_t) + (size->shares ? 2 * sizeof(double) : 0);
    return size->n_flows * flow + size->n_links * link + size->n_entries * entry + fab_max_min_bytes(size);
}

static void fluid_free(fab_fluid *fluid) {
    if (fluid == NULL) {
        return;
    }
    FAB_FREE_ALL(fluid->flows, fluid->links, fluid->first, fluid->hops, fluid->share, fluid->listed, fluid->places,
                 fluid->events, fluid->fresh, fluid->released, fluid->ended);
    fluid_set_release(&fluid->set);
    fab_max_min_free(fluid->solver);
    free(fluid);
}
FAB_OWNER(fab_fluid, fluid_free)

static fab_status fluid_new(const fab_sharing *sharing, fab_fluid **out, fab_error *err) {
    FAB_OWNS_NEW(fluid_free_owned, fab_fluid, fluid, 1, err);
    fluid->sharing = sharing;
    FAB_PASS(FAB_NEW_ALL(sharing->n_flows, err, fluid->flows, fluid->events, fluid->fresh, fluid->ended));
    FAB_PASS(FAB_NEW_ALL(sharing->n_links, err, fluid->links, fluid->released));
    FAB_PASS(copy_routes(fluid, err));
    FAB_PASS(fluid_set_init(fluid, err));
    FAB_PASS(fab_max_min_new(&fluid->solver, err));
    return FAB_GIVE(*out, fluid);
}

/* --- beginnings and ends ------------------------------------------------------------------------------------------ */

static void enlist(fab_fluid *fluid, uint32_t f) {
    fluid_prefetch(fluid, f);
    for (uint64_t h = fluid->first[f]; h < fluid->first[f + 1]; h++) {
        uint32_t l = fluid->hops[h].link;
        uint32_t place = fluid->links[l].n_on++;
        fluid->hops[h].place = place;
        fluid->places[fluid->listed[l] + place] = (fluid_place){f, (uint32_t)(h - fluid->first[f])};
    }
    fluid->flows[f].is_listed = true;
    fluid->fresh[fluid->n_fresh++] = f;
}

static void delist(fab_fluid *fluid, uint32_t f) {
    fluid_flow *flow = &fluid->flows[f];
    fluid_prefetch(fluid, f);
    if (flow->bottleneck != FAB_NO_BOTTLENECK) {
        fluid->links[flow->bottleneck].n_bottlenecked--;
    }
    for (uint64_t h = fluid->first[f]; h < fluid->first[f + 1]; h++) {
        uint32_t l = fluid->hops[h].link;
        fluid_link *link = &fluid->links[l];
        fluid_place *places = &fluid->places[fluid->listed[l]];
        fluid_place last = places[--link->n_on];
        places[fluid->hops[h].place] = last;
        fluid->hops[fluid->first[last.flow] + last.hop].place = fluid->hops[h].place;
        link->load = link->n_on > 0 ? link->load - flow->rate * fluid_share(fluid, h) : 0;
        link->n_updates++;
        if (!link->is_released && link->n_bottlenecked > 0) {
            link->is_released = true;
            fluid->released[fluid->n_released++] = l;
        }
    }
    flow->is_listed = false;
}

/* A flow without a bottleneck, or that has nothing to send, is done at once. */
static void fluid_start(fab_fluid *fluid, uint32_t f, double bits) {
    bool is_free = fluid->first[f] == fluid->first[f + 1] &&
                   (fluid->sharing->limit == NULL || fluid->sharing->limit[f] == INFINITY);
    bool is_instant = bits == 0 || is_free;
    fluid->flows[f].left = bits;
    fluid->flows[f].bottleneck = FAB_NO_BOTTLENECK;
    fluid_event_put(fluid, f, is_instant ? 0 : INFINITY);
    if (!is_instant) {
        enlist(fluid, f);
    }
}

/* Goes to the next end, and takes what ends then. */
static void take_ended(fab_fluid *fluid, double *out_finish_s) {
    fluid->now = fmax(fluid->events[0].ends, fluid->now);
    while (fluid->n_events > 0 && fluid->events[0].ends <= fluid->now * (1 + FLUID_TIE)) {
        fluid->ended[fluid->n_ended++] = fluid_event_take(fluid);
    }
    qsort(fluid->ended, fluid->n_ended, sizeof *fluid->ended, fab_order_u32);
    for (uint32_t i = 0; i < fluid->n_ended; i++) {
        out_finish_s[fluid->ended[i]] = fluid->now;
        if (fluid->flows[fluid->ended[i]].is_listed) {
            delist(fluid, fluid->ended[i]);
        }
    }
    fluid->n_ended = 0;
}

static fab_status simulate(const fab_sharing *sharing, const double *bits, double *out_finish_s, fab_error *err) {
    FAB_OWNS(fluid_free_owned) fab_fluid *fluid = NULL;
    FAB_PASS(fluid_new(sharing, &fluid, err));
    for (uint32_t f = 0; f < sharing->n_flows; f++) {
        fluid_start(fluid, f, bits[f]);
    }
    FAB_PASS(fluid_settle(fluid, err));
    while (fluid->n_events > 0) {
        FAB_REFUSE_IF(fluid->events[0].ends == INFINITY, err, FAB_EINTERNAL, NULL, "flow %u never ends",
                      fluid->events[0].flow);
        take_ended(fluid, out_finish_s);
        FAB_PASS(fluid_settle(fluid, err));
    }
    return FAB_OK;
}

/* Whether all sizes are the same multiple of the weights. */
static bool is_proportional(const fab_sharing *s, const double *bits) {
    for (uint32_t f = 1; f < s->n_flows; f++) {
        double a = bits[f] * (s->weight != NULL ? s->weight[0] : 1);
        double b = bits[0] * (s->weight != NULL ? s->weight[f] : 1);
        if (fabs(a - b) > SAME_SIZE * b) {
            return false;
        }
    }
    return s->n_flows > 0 && bits[0] > 0;
}

static fab_status solve_once(const fab_sharing *sharing, const double *bits, double *out_finish_s, fab_error *err) {
    FAB_OWNS(fab_max_min_free_owned) fab_max_min *solver = NULL;
    FAB_PASS(fab_max_min_new(&solver, err));
    FAB_PASS(fab_max_min_solve(solver, sharing, out_finish_s, NULL, err));
    for (uint32_t f = 0; f < sharing->n_flows; f++) {
        out_finish_s[f] = bits[f] / out_finish_s[f];
    }
    return FAB_OK;
}

fab_status fab_fluid_finish(const fab_sharing *sharing, const double *bits, double *out_finish_s, fab_error *err) {
    return is_proportional(sharing, bits) ? solve_once(sharing, bits, out_finish_s, err)
                                          : simulate(sharing, bits, out_finish_s, err);
}
