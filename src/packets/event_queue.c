/* A calendar [Brown, 1988]: what is pushed goes into the list of its day unsorted, and is sorted when the day comes. */
#include "event_queue.h"
#include "fab/memory.h"

#include <math.h>
#include <stdlib.h>

#define NO_NODE UINT32_MAX

typedef struct fab_event_node {
    fab_event event;
    uint32_t next;
} fab_event_node;

fab_status fab_event_queue_init(fab_event_queue *q, double day_s, double sight_s, fab_error *err) {
    *q = (fab_event_queue){.free_node = NO_NODE, .n_days = 1};
    while (q->n_days < FAB_EVENT_DAYS && (double)q->n_days * day_s < sight_s) {
        q->n_days *= 2;
    }
    q->day_s = fmax(day_s, sight_s / (double)q->n_days);
    FAB_PASS(FAB_NEW(q->day, q->n_days, err));
    for (size_t i = 0; i < q->n_days; i++) {
        q->day[i] = NO_NODE;
    }
    return FAB_OK;
}

void fab_event_queue_release(fab_event_queue *q) {
    FAB_FREE_ALL(q->day, q->nodes, q->now);
    *q = (fab_event_queue){.n_days = 0};
}

static uint64_t day_of(const fab_event_queue *q, double at_s) {
    return (uint64_t)(at_s / q->day_s);
}

static bool event_before(const fab_event *a, const fab_event *b) {
    return a->at_s < b->at_s || (a->at_s == b->at_s && a->order < b->order);
}

/* Into the events of today: most come at the end. */
static fab_status push_now(fab_event_queue *q, const fab_event *e, fab_error *err) {
    FAB_PASS(FAB_GROW(q->now, q->now_capacity, q->n_now + 1, err));
    size_t i = q->n_now++;
    for (; i > q->next && event_before(e, &q->now[i - 1]); i--) {
        q->now[i] = q->now[i - 1];
    }
    q->now[i] = *e;
    return FAB_OK;
}

fab_status fab_event_push(fab_event_queue *q, const fab_event *event, fab_error *err) {
    fab_event e = *event;
    e.order = q->n_pushed++;
    uint64_t day = day_of(q, e.at_s);
    if (day <= q->today) {
        return push_now(q, &e, err);
    }
    uint32_t node = q->free_node;
    if (node == NO_NODE) {
        FAB_PASS(FAB_GROW(q->nodes, q->nodes_capacity, q->n_nodes + 1, err));
        node = (uint32_t)q->n_nodes++;
    } else {
        q->free_node = q->nodes[node].next;
    }
    uint32_t *list = &q->day[day & (q->n_days - 1)];
    q->nodes[node] = (fab_event_node){e, *list};
    *list = node;
    q->n_later++;
    return FAB_OK;
}

static int compare_events(const void *a, const void *b) {
    return event_before(a, b) ? -1 : 1;
}

/* Today's events out of the list that its day shares with others. */
static fab_status take_today(fab_event_queue *q, fab_error *err) {
    q->next = q->n_now = 0;
    for (uint32_t *at = &q->day[q->today & (q->n_days - 1)]; *at != NO_NODE;) {
        uint32_t node = *at;
        if (day_of(q, q->nodes[node].event.at_s) != q->today) {
            at = &q->nodes[node].next;
            continue;
        }
        *at = q->nodes[node].next;
        FAB_PASS(FAB_GROW(q->now, q->now_capacity, q->n_now + 1, err));
        q->now[q->n_now++] = q->nodes[node].event;
        q->nodes[node].next = q->free_node;
        q->free_node = node;
        q->n_later--;
    }
    if (q->n_now > 1) {
        qsort(q->now, q->n_now, sizeof *q->now, compare_events);
    }
    return FAB_OK;
}

/* After a whole round of empty days: the first day on which there is something. */
static uint64_t first_day(const fab_event_queue *q) {
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < q->n_days; i++) {
        for (uint32_t n = q->day[i]; n != NO_NODE; n = q->nodes[n].next) {
            uint64_t day = day_of(q, q->nodes[n].event.at_s);
            least = day < least ? day : least;
        }
    }
    return least;
}

fab_status fab_event_pop(fab_event_queue *q, fab_event *out, bool *found, fab_error *err) {
    for (uint64_t empty = 0; q->next == q->n_now && q->n_later > 0; empty++) {
        q->today = empty == q->n_days ? first_day(q) : q->today + 1;
        FAB_PASS(take_today(q, err));
    }
    *found = q->next < q->n_now;
    if (*found) {
        *out = q->now[q->next++];
    }
    return FAB_OK;
}
