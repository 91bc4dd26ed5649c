/* When transfers end: a heap with four children to a node, in which every flow knows its place. */
#include "fluid_state.h"

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

void fluid_event_put(fab_fluid *fluid, uint32_t flow, double ends) {
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
uint32_t fluid_event_take(fab_fluid *fluid) {
    uint32_t flow = fluid->events[0].flow;
    fluid->flows[flow].event = FLUID_NONE;
    fluid->n_events--;
    if (fluid->n_events > 0) {
        sift_down(fluid, 0, fluid->events[fluid->n_events]);
    }
    return flow;
}
