/* All transfers begin together; when they end. Where sizes are in proportion to the weights, the flows of the highest
 * level end first, and what a flow leaves behind is of no use to those whose bottleneck it does not cross: rates never
 * change. */
#include "fluid_state.h"

#include "fab/memory.h"

#include <math.h>

/* When the next flow of each link ends: a heap with four children to a node, in which every link knows its place. */

static void settle_at(fab_fluid *fluid, uint32_t at, fluid_event event) {
    fluid->events[at] = event;
    fluid->clocks[event.link].event = at;
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
    const uint32_t n = fluid->routes.n_links;
    for (uint32_t child = 4 * at + 1; child < n; child = 4 * at + 1) {
        uint32_t least = child;
        for (uint32_t i = child + 1; i < child + 4 && i < n; i++) {
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

/* When the first flow that is bottlenecked at a link is done. */
static double next_end(const fab_fluid *fluid, uint32_t l) {
    const fluid_clock *clock = &fluid->clocks[l];
    const fluid_link *link = &fluid->links[l];
    return link->n_bottlenecked > 0 ? clock->since + fmax(clock->first - clock->served, 0) / link->level : INFINITY;
}

static void move_events(fab_fluid *fluid) {
    const uint32_t n = fluid->routes.n_links;
    const bool in_place = fluid->n_changed > n / 8;
    for (uint32_t i = 0; i < fluid->n_changed; i++) {
        fluid_clock *clock = &fluid->clocks[fluid->changed[i]];
        const fluid_event event = {next_end(fluid, fluid->changed[i]), fluid->changed[i]};
        clock->is_changed = false;
        if (in_place) {
            fluid->events[clock->event] = event;
        } else if (event.ends < fluid->events[clock->event].ends) {
            sift_up(fluid, clock->event, event);
        } else {
            sift_down(fluid, clock->event, event);
        }
    }
    for (uint32_t i = in_place ? n / 4 + 1 : 0; i-- > 0;) {
        if (i < n) {
            sift_down(fluid, i, fluid->events[i]);
        }
    }
    fluid->n_changed = 0;
}

#define SAME_SIZE 1e-15
#define FEW_LINKS 512  /* buckets would take longer than they save */
#define CHECKS    32   /* of the rates, while the flows end */
#define TOLD      1000 /* parts of the work */

/* Those of fluid_new(). */
double fab_fluid_bytes(const fab_sharing_size *size) {
    double link = sizeof(fluid_link) + sizeof(fluid_clock) + sizeof(fluid_event) + sizeof(queued) +
                  6 * sizeof(uint32_t) + sizeof(uint64_t) + sizeof(double);
    double flow = sizeof(fluid_flow) + sizeof(uint64_t) + sizeof(double) + sizeof(uint32_t);
    double entry = sizeof(fluid_place) + 2 * sizeof(uint32_t) + (size->shares ? sizeof(double) : 0);
    double n_own = size->limits ? size->n_flows : 0;
    return size->n_flows * flow + (size->n_links + n_own) * link + (size->n_entries + n_own) * entry +
           FLUID_BUCKETS * sizeof(uint32_t) + fab_max_min_bytes(size);
}

static void fluid_free(fab_fluid *fluid) {
    if (fluid == NULL) {
        return;
    }
    FAB_FREE_ALL(fluid->capacity, fluid->share, fluid->first, fluid->link, fluid->place, fluid->listed, fluid->places,
                 fluid->flows, fluid->links, fluid->clocks, fluid->events, fluid->changed, fluid->head, fluid->used,
                 fluid->heap);
    free(fluid);
}
FAB_OWNER(fab_fluid, fluid_free)

static fab_status fluid_new(const fab_sharing *sharing, const double *bits, fab_fluid **out, fab_error *err) {
    FAB_OWNS_NEW(fluid_free_owned, fab_fluid, fluid, 1, err);
    FAB_PASS(FAB_NEW(fluid->flows, sharing->n_flows, err));
    for (uint32_t f = 0; f < sharing->n_flows; f++) {
        fluid->flows[f].target = bits[f];
    }
    FAB_PASS(fluid_route(fluid, sharing, err));
    const uint32_t n_links = fluid->routes.n_links;
    FAB_PASS(FAB_NEW_ALL(n_links, err, fluid->links, fluid->clocks, fluid->events, fluid->changed, fluid->heap));
    fluid->n_buckets = n_links > FEW_LINKS ? FLUID_BUCKETS : 1;
    FAB_PASS(FAB_NEW(fluid->head, fluid->n_buckets, err));
    FAB_PASS(FAB_NEW(fluid->used, (fluid->n_buckets + 63) / 64, err));
    for (uint32_t l = 0; l < n_links; l++) {
        settle_at(fluid, l, (fluid_event){INFINITY, l});
    }
    FAB_PASS(fluid_begin(fluid, err));
    return FAB_GIVE(*out, fluid);
}

/* The flows of a link that end now. */
static void end_flows(fab_fluid *fluid, uint32_t l, double *out_finish_s) {
    const fluid_place *places = &fluid->places[fluid->listed[l]];
    const fluid_clock *clock = &fluid->clocks[l];
    fluid_advance(fluid, l);
    const double due = fmax(clock->served, clock->first) + fluid->links[l].level * fluid->now * FLUID_TIE;
    for (uint32_t i = fluid->links[l].n_bottlenecked; i-- > 0;) {
        const uint32_t f = places[i].flow;
        if (fluid->flows[f].target <= due) {
            out_finish_s[f] = fluid->now;
            fluid_end(fluid, f);
        }
    }
}

/* An end takes work in proportion to the flows that run: all ends so much as the square of the flows. */
static void tell_progress(const fab_fluid_progress *progress, double running, uint32_t *told) {
    const uint32_t done = (uint32_t)((1 - running * running) * TOLD);
    for (; progress != NULL && progress->advance != NULL && *told < done; ++*told) {
        progress->advance(progress->context, TOLD);
    }
}

static fab_status simulate(const fab_sharing *sharing, const double *bits, const fab_fluid_progress *progress,
                           double *out_finish_s, fab_error *err) {
    FAB_OWNS(fluid_free_owned) fab_fluid *fluid = NULL;
    FAB_PASS(fluid_new(sharing, bits, &fluid, err));
    const uint32_t n_running = fluid->n_running;
    uint32_t check_at = n_running;
    uint32_t told = 0;
    for (uint32_t f = 0; f < sharing->n_flows; f++) {
        out_finish_s[f] = 0; /* of those with nothing to send, or without a bottleneck */
    }
    while (fluid->n_running > 0) {
        move_events(fluid);
        FAB_REFUSE_IF(fluid->events[0].ends == INFINITY, err, FAB_EINTERNAL, NULL, "%u flows never end",
                      fluid->n_running);
        if (fluid->n_running <= check_at) {
            FAB_PASS(fluid_check(fluid, err));
            check_at -= check_at > n_running / CHECKS ? n_running / CHECKS : check_at;
        }
        fluid->now = fmax(fluid->events[0].ends, fluid->now);
        while (fluid->events[0].ends <= fluid->now * (1 + FLUID_TIE)) {
            const uint32_t l = fluid->events[0].link;
            end_flows(fluid, l, out_finish_s);
            sift_down(fluid, 0, (fluid_event){INFINITY, l});
        }
        FAB_PASS(fluid_settle(fluid, err));
        tell_progress(progress, (double)fluid->n_running / n_running, &told);
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
    FAB_FILL(out_finish_s, sharing->n_flows, bits[fab_at] / out_finish_s[fab_at]);
    return FAB_OK;
}

fab_status fab_fluid_finish(const fab_sharing *sharing, const double *bits, const fab_fluid_progress *progress,
                            double *out_finish_s, fab_error *err) {
    return is_proportional(sharing, bits) ? solve_once(sharing, bits, out_finish_s, err)
                                          : simulate(sharing, bits, progress, out_finish_s, err);
}
