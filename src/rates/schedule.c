/* Messages that wait for each other, on top of the fluid simulation. Everything of one instant is gathered before any
 * message starts: what ends, what arrives, and what is ready therefore; of a route the lowest ready number goes. */
#include "fab/fluid.h"
#include "fab/memory.h"
#include "fluid_state.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_MESSAGE UINT64_MAX

typedef struct arrival {
    double at;
    uint64_t message;
} arrival;

/* Ready messages of a route are a pairing heap (Fredman, Sedgewick, Sleator, Tarjan 1986): the lowest is the root. */
typedef struct ready_node {
    uint64_t child, sibling;
} ready_node;

typedef struct schedule_run {
    const fab_schedule *schedule;
    const fab_sharing *sharing;
    fab_fluid *fluid;
    uint32_t *waits_for; /* messages that have not arrived, per message */
    ready_node *nodes;
    uint64_t *ready;   /* per route: root, or NO_MESSAGE */
    uint64_t *current; /* per route: the message under way, or NO_MESSAGE */
    uint32_t *touched; /* routes where something may start */
    size_t n_touched, touched_capacity;
    arrival *arrivals; /* heap by time, then message */
    size_t n_arrivals, arrivals_capacity;
    double *arrived_s;
    double end_s;
} schedule_run;

/* --- what a schedule must be -------------------------------------------------------------------------------------- */

static fab_status check_schedule(const fab_schedule *s, uint32_t n_flows, fab_error *err) {
    for (uint64_t m = 0; m < s->n_messages; m++) {
        if (s->flow[m] >= n_flows) {
            return fab_fail(err, FAB_EINPUT, NULL, "message %" PRIu64 " takes route %u; there are %u", m, s->flow[m],
                            n_flows);
        }
        if (!(s->bits[m] >= 0) || !isfinite(s->bits[m])) {
            return fab_fail(err, FAB_EINPUT, NULL,
                            "message %" PRIu64 " has %g bits; they must be finite and not below 0", m, s->bits[m]);
        }
        if (s->next_first[m] > s->next_first[m + 1]) {
            return fab_fail(err, FAB_EINPUT, NULL, "the messages that wait for %" PRIu64 " end before they begin", m);
        }
        for (uint64_t i = s->next_first[m]; i < s->next_first[m + 1]; i++) {
            if (s->next[i] >= s->n_messages) {
                return fab_fail(err, FAB_EINPUT, NULL,
                                "message %" PRIu64 " waits for message %" PRIu64 "; there are %" PRIu64, s->next[i], m,
                                s->n_messages);
            }
        }
    }
    for (uint32_t f = 0; s->latency_s != NULL && f < n_flows; f++) {
        if (!(s->latency_s[f] >= 0) || !isfinite(s->latency_s[f])) {
            return fab_fail(err, FAB_EINPUT, NULL, "route %u has a latency of %g s; it must be finite and not below 0",
                            f, s->latency_s[f]);
        }
    }
    return FAB_OK;
}

/* A message of a circle, given how many each waits for once all that can arrive have. */
static fab_status name_circle(const fab_schedule *s, const uint32_t *waits_for, fab_error *err) {
    fab_status status = FAB_OK;
    uint64_t *before = NULL; /* one that a message waits for */
    uint64_t at = NO_MESSAGE;
    FAB_TRY(FAB_NEW(before, (size_t)s->n_messages, err));
    for (uint64_t m = s->n_messages; m-- > 0;) {
        if (waits_for[m] > 0) {
            at = m;
            for (uint64_t i = s->next_first[m]; i < s->next_first[m + 1]; i++) {
                before[s->next[i]] = m;
            }
        }
    }
    for (uint64_t i = 0; i < s->n_messages; i++) { /* backwards for as long as one likes: it ends in a circle */
        at = before[at];
    }
    FAB_FAIL(err, FAB_EINPUT, NULL, "message %" PRIu64 " waits for itself, through others or directly", at);
done:
    free(before);
    return status;
}

static void count_waits(const fab_schedule *s, uint32_t *waits_for) {
    memset(waits_for, 0, (size_t)s->n_messages * sizeof *waits_for);
    for (uint64_t i = s->next_first[0]; i < s->next_first[s->n_messages]; i++) {
        waits_for[s->next[i]]++;
    }
}

/* Lets all messages arrive in some order (Kahn 1962). */
static fab_status check_order(const fab_schedule *s, uint32_t *waits_for, fab_error *err) {
    fab_status status = FAB_OK;
    uint64_t *order = NULL;
    uint64_t n = 0;
    FAB_TRY(FAB_NEW(order, (size_t)s->n_messages, err));
    count_waits(s, waits_for);
    for (uint64_t m = 0; m < s->n_messages; m++) {
        if (waits_for[m] == 0) {
            order[n++] = m;
        }
    }
    for (uint64_t done = 0; done < n; done++) {
        for (uint64_t i = s->next_first[order[done]]; i < s->next_first[order[done] + 1]; i++) {
            if (--waits_for[s->next[i]] == 0) {
                order[n++] = s->next[i];
            }
        }
    }
    if (n < s->n_messages) {
        FAB_TRY(name_circle(s, waits_for, err));
    }
    count_waits(s, waits_for);
done:
    free(order);
    return status;
}

/* --- queues ------------------------------------------------------------------------------------------------------- */

static bool is_before(const arrival *a, const arrival *b) {
    return a->at < b->at || (a->at == b->at && a->message < b->message);
}

static fab_status put_arrival(schedule_run *r, arrival item, fab_error *err) {
    fab_status status = FAB_GROW(r->arrivals, r->arrivals_capacity, r->n_arrivals + 1, err);
    if (status != FAB_OK) {
        return status;
    }
    size_t at = r->n_arrivals++;
    while (at > 0 && is_before(&item, &r->arrivals[(at - 1) / 2])) {
        r->arrivals[at] = r->arrivals[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    r->arrivals[at] = item;
    return FAB_OK;
}

static arrival take_arrival(schedule_run *r) {
    arrival *heap = r->arrivals;
    arrival first = heap[0];
    arrival item = heap[--r->n_arrivals];
    size_t at = 0;
    for (size_t child = 1; child < r->n_arrivals; child = 2 * at + 1) {
        if (child + 1 < r->n_arrivals && is_before(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (!is_before(&heap[child], &item)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
    return first;
}

static uint64_t meld(ready_node *nodes, uint64_t a, uint64_t b) {
    if (a == NO_MESSAGE || b == NO_MESSAGE) {
        return a == NO_MESSAGE ? b : a;
    }
    uint64_t low = a < b ? a : b;
    uint64_t high = a < b ? b : a;
    nodes[high].sibling = nodes[low].child;
    nodes[low].child = high;
    return low;
}

/* The heap without its root: children melded in pairs, the pairs from the last to the first. */
static uint64_t drop_root(ready_node *nodes, uint64_t root) {
    uint64_t pairs = NO_MESSAGE;
    uint64_t child = nodes[root].child;
    while (child != NO_MESSAGE) {
        uint64_t other = nodes[child].sibling;
        uint64_t rest = other != NO_MESSAGE ? nodes[other].sibling : NO_MESSAGE;
        uint64_t pair = meld(nodes, child, other);
        nodes[pair].sibling = pairs;
        pairs = pair;
        child = rest;
    }
    uint64_t all = NO_MESSAGE;
    while (pairs != NO_MESSAGE) {
        uint64_t rest = nodes[pairs].sibling;
        all = meld(nodes, all, pairs);
        pairs = rest;
    }
    return all;
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

static fab_status touch(schedule_run *r, uint32_t route, fab_error *err) {
    fab_status status = FAB_GROW(r->touched, r->touched_capacity, r->n_touched + 1, err);
    if (status == FAB_OK) {
        r->touched[r->n_touched++] = route;
    }
    return status;
}

static fab_status make_ready(schedule_run *r, uint64_t m, fab_error *err) {
    uint32_t route = r->schedule->flow[m];
    r->nodes[m] = (ready_node){NO_MESSAGE, NO_MESSAGE};
    r->ready[route] = meld(r->nodes, r->ready[route], m);
    return touch(r, route, err);
}

static fab_status arrive(schedule_run *r, uint64_t m, double now_s, fab_error *err) {
    const fab_schedule *s = r->schedule;
    r->arrived_s[m] = now_s;
    r->end_s = now_s;
    for (uint64_t i = s->next_first[m]; i < s->next_first[m + 1]; i++) {
        if (--r->waits_for[s->next[i]] == 0) {
            fab_status status = make_ready(r, s->next[i], err);
            if (status != FAB_OK) {
                return status;
            }
        }
    }
    return FAB_OK;
}

static fab_status start_ready(schedule_run *r, fab_error *err) {
    for (size_t i = 0; i < r->n_touched; i++) {
        uint32_t route = r->touched[i];
        uint64_t m = r->ready[route];
        if (r->current[route] == NO_MESSAGE && m != NO_MESSAGE) {
            r->ready[route] = drop_root(r->nodes, m);
            r->current[route] = m;
            fab_status status = fab_fluid_start(r->fluid, route, r->schedule->bits[m], err);
            if (status != FAB_OK) {
                return status;
            }
        }
    }
    r->n_touched = 0;
    return FAB_OK;
}

/* Everything of one instant, until nothing more follows on it without time passing. */
static fab_status run_instant(schedule_run *r, double now_s, fab_error *err) {
    fab_status status = FAB_OK;
    const double *latency = r->schedule->latency_s;
    bool more = true;
    while (more) {
        const uint32_t *ended = NULL;
        size_t n = 0;
        FAB_TRY(fluid_take_ended(r->fluid, now_s, &ended, &n, err));
        more = n > 0;
        for (size_t i = 0; i < n; i++) {
            uint64_t m = r->current[ended[i]];
            r->current[ended[i]] = NO_MESSAGE;
            FAB_TRY(touch(r, ended[i], err));
            if (latency != NULL && latency[ended[i]] > 0) {
                FAB_TRY(put_arrival(r, (arrival){now_s + latency[ended[i]], m}, err));
            } else {
                FAB_TRY(arrive(r, m, now_s, err));
            }
        }
        while (r->n_arrivals > 0 && r->arrivals[0].at <= now_s * (1 + FLUID_TIE)) {
            FAB_TRY(arrive(r, take_arrival(r).message, now_s, err));
            more = true;
        }
        FAB_TRY(start_ready(r, err));
    }
    fluid_let_go(r->fluid);
    FAB_TRY(fluid_settle(r->fluid, err));
done:
    return status;
}

static fab_status run_all(schedule_run *r, fab_error *err) {
    fab_status status = FAB_OK;
    for (uint64_t m = 0; m < r->schedule->n_messages; m++) {
        if (r->waits_for[m] == 0) {
            FAB_TRY(make_ready(r, m, err));
        }
    }
    FAB_TRY(start_ready(r, err));
    FAB_TRY(fluid_settle(r->fluid, err));
    for (;;) {
        double next = fluid_next(r->fluid);
        next = r->n_arrivals > 0 && r->arrivals[0].at < next ? r->arrivals[0].at : next;
        if (next == INFINITY) {
            break;
        }
        FAB_TRY(run_instant(r, fmax(next, r->fluid->now), err));
    }
    if (r->fluid->n_events > 0) {
        FAB_FAIL(err, FAB_EINTERNAL, NULL, "flow %u never ends", r->fluid->events[0].flow);
    }
done:
    return status;
}

fab_status fab_schedule_run(const fab_sharing *sharing, const fab_schedule *schedule, double *out_arrival_s,
                            double *out_end_s, fab_error *err) {
    fab_status status = FAB_OK;
    schedule_run r = {.schedule = schedule, .sharing = sharing};
    double *own = NULL;
    FAB_TRY(check_schedule(schedule, sharing->n_flows, err));
    FAB_TRY(FAB_NEW(r.waits_for, (size_t)schedule->n_messages, err));
    FAB_TRY(check_order(schedule, r.waits_for, err));
    FAB_TRY(fab_fluid_new(sharing, &r.fluid, err));
    FAB_TRY(FAB_NEW(r.nodes, (size_t)schedule->n_messages, err));
    FAB_TRY(FAB_NEW(r.ready, sharing->n_flows, err));
    FAB_TRY(FAB_NEW(r.current, sharing->n_flows, err));
    memset(r.ready, 0xff, sharing->n_flows * sizeof *r.ready);
    memset(r.current, 0xff, sharing->n_flows * sizeof *r.current);
    r.arrived_s = out_arrival_s;
    if (out_arrival_s == NULL) {
        FAB_TRY(FAB_NEW(own, (size_t)schedule->n_messages, err));
        r.arrived_s = own;
    }
    FAB_TRY(run_all(&r, err));
    *out_end_s = r.end_s;
done:
    FAB_FREE_ALL(own, r.waits_for, r.nodes, r.ready, r.current, r.touched, r.arrivals);
    fab_fluid_free(r.fluid);
    return status;
}
