/* A calendar [Brown, 1988]: what is pushed goes to its day unsorted, and is sorted when the day comes. Sorting keeps
 * the order of equal times, and every list is in the order of pushing. */
#include "event_queue.h"
#include "fab/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NO_CHUNK UINT32_MAX
#define FEW      24 /* events that are sorted by insertion alone */
#define MOVES    8  /* of an event, on average: more are not worth it */

fab_status fab_event_queue_init(fab_event_queue *q, double day_s, double sight_s, fab_error *err) {
    *q = (fab_event_queue){.free_chunk = NO_CHUNK, .n_days = 1};
    while (2 * q->n_days < FAB_EVENT_DAYS && (double)q->n_days * day_s < sight_s) {
        q->n_days *= 2;
    }
    q->days_per_s = 1 / fmax(day_s, sight_s / (double)q->n_days);
    q->sight = 2 * q->n_days;
    FAB_PASS(FAB_NEW(q->day, 2 * q->n_days, err));
    for (uint64_t i = 0; i < 2 * q->n_days; i++) {
        q->day[i].newest = NO_CHUNK;
    }
    return FAB_OK;
}

void fab_event_queue_release(fab_event_queue *q) {
    FAB_FREE_ALL(q->day, q->chunks, q->far, q->now, q->room, q->parts);
    *q = (fab_event_queue){.n_days = 0};
}

static uint64_t day_of(const fab_event_queue *q, double at_s) {
    return (uint64_t)(at_s * q->days_per_s);
}

/* Into the events of today, behind those of the same time. */
static fab_status push_now(fab_event_queue *q, const fab_event *e, fab_error *err) {
    FAB_PASS(FAB_GROW(q->now, q->now_capacity, q->n_now + 1, err));
    size_t i = q->n_now++;
    for (; i > q->next && e->at_s < q->now[i - 1].at_s; i--) {
        q->now[i] = q->now[i - 1];
    }
    q->now[i] = *e;
    return FAB_OK;
}

static fab_status new_chunk(fab_event_queue *q, fab_event_day *day, fab_error *err) {
    uint32_t chunk = q->free_chunk;
    if (chunk != NO_CHUNK) {
        q->free_chunk = q->chunks[chunk].next;
    } else {
        FAB_PASS(FAB_GROW(q->chunks, q->chunks_capacity, q->n_chunks + 1, err));
        chunk = (uint32_t)q->n_chunks++;
    }
    q->chunks[chunk].next = day->newest;
    *day = (fab_event_day){chunk, 0};
    return FAB_OK;
}

static fab_status push_in_sight(fab_event_queue *q, const fab_event *e, uint64_t number, fab_error *err) {
    fab_event_day *day = &q->day[number & (2 * q->n_days - 1)];
    if (day->newest == NO_CHUNK || day->n == FAB_EVENTS_PER_CHUNK) {
        FAB_PASS(new_chunk(q, day, err));
    }
    q->chunks[day->newest].event[day->n++] = *e;
    q->n_in_sight++;
    return FAB_OK;
}

fab_status fab_event_push(fab_event_queue *q, const fab_event *e, fab_error *err) {
    uint64_t day = day_of(q, e->at_s);
    if (day <= q->today) {
        return push_now(q, e, err);
    }
    if (day < q->sight) {
        return push_in_sight(q, e, day, err);
    }
    FAB_PASS(FAB_GROW(q->far, q->far_capacity, q->n_far + 1, err));
    q->far[q->n_far++] = *e;
    return FAB_OK;
}

/* Merges runs of `width` events, from `from` into `to`. */
static void merge_runs(const fab_event *from, fab_event *to, size_t n, size_t width) {
    for (size_t at = 0; at < n; at += 2 * width) {
        size_t middle = at + width < n ? at + width : n;
        size_t end = middle + width < n ? middle + width : n;
        size_t a = at;
        size_t b = middle;
        for (size_t i = at; i < end; i++) {
            bool takes_a = a < middle && (b == end || from[a].at_s <= from[b].at_s);
            to[i] = takes_a ? from[a++] : from[b++];
        }
    }
}

/* Sorts what is near its place; false where that would be long. */
static bool sort_near(fab_event *e, size_t n) {
    size_t moves = 0;
    for (size_t k = 1; k < n && moves <= MOVES * n; k++) {
        fab_event one = e[k];
        size_t i = k;
        for (; i > 0 && one.at_s < e[i - 1].at_s; i--) {
            e[i] = e[i - 1];
        }
        e[i] = one;
        moves += k - i;
    }
    return moves <= MOVES * n;
}

static void take_room(fab_event_queue *q) {
    fab_event *sorted = q->room;
    size_t capacity = q->room_capacity;
    q->room = q->now;
    q->room_capacity = q->now_capacity;
    q->now = sorted;
    q->now_capacity = capacity;
}

/* Where in its day an event lies: equal times alike, later ones no lower. */
static size_t part_of(const fab_event_queue *q, double at_s, size_t n_parts) {
    double part = (at_s * q->days_per_s - (double)q->today) * (double)n_parts;
    return part < (double)n_parts ? (size_t)part : n_parts - 1;
}

/* Counted into as many parts of the day as there are events; most are near their place then. */
static fab_status sort_today(fab_event_queue *q, fab_error *err) {
    const size_t n = q->n_now;
    if (n > FEW) {
        FAB_PASS(FAB_GROW(q->room, q->room_capacity, q->now_capacity, err));
        FAB_PASS(FAB_GROW(q->parts, q->parts_capacity, n + 1, err));
        memset(q->parts, 0, (n + 1) * sizeof *q->parts);
        for (size_t i = 0; i < n; i++) {
            q->parts[part_of(q, q->now[i].at_s, n) + 1]++;
        }
        for (size_t i = 0; i < n; i++) {
            q->parts[i + 1] += q->parts[i];
        }
        for (size_t i = 0; i < n; i++) {
            q->room[q->parts[part_of(q, q->now[i].at_s, n)]++] = q->now[i];
        }
        take_room(q);
    }
    for (size_t width = sort_near(q->now, n) ? n : 1; width < n; width *= 2) {
        merge_runs(q->now, q->room, n, width);
        take_room(q);
    }
    return FAB_OK;
}

/* The events of a day out of its chunks: the newest chunk stands last. */
static fab_status take_today(fab_event_queue *q, fab_error *err) {
    fab_event_day *day = &q->day[q->today & (2 * q->n_days - 1)];
    size_t n = day->newest != NO_CHUNK ? day->n : 0;
    for (uint32_t i = day->newest; i != NO_CHUNK && q->chunks[i].next != NO_CHUNK; i = q->chunks[i].next) {
        n += FAB_EVENTS_PER_CHUNK;
    }
    FAB_PASS(FAB_GROW(q->now, q->now_capacity, n, err));
    for (size_t at = n; day->newest != NO_CHUNK; day->n = FAB_EVENTS_PER_CHUNK) {
        uint32_t i = day->newest;
        fab_event_chunk *chunk = &q->chunks[i];
        at -= day->n;
        memcpy(q->now + at, chunk->event, day->n * sizeof *chunk->event);
        day->newest = chunk->next;
        chunk->next = q->free_chunk;
        q->free_chunk = i;
    }
    q->n_now = n;
    q->n_in_sight -= n;
    return sort_today(q, err);
}

/* What is in sight now goes to its day: nothing has been pushed there before. */
static fab_status look_further(fab_event_queue *q, fab_error *err) {
    size_t kept = 0;
    for (size_t i = 0; i < q->n_far; i++) {
        uint64_t day = day_of(q, q->far[i].at_s);
        if (day < q->sight) {
            FAB_PASS(push_in_sight(q, &q->far[i], day, err));
        } else {
            q->far[kept++] = q->far[i];
        }
    }
    q->n_far = kept;
    return FAB_OK;
}

/* Nothing is in sight: to the round of days in which the next event lies. */
static void skip_rounds(fab_event_queue *q) {
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < q->n_far; i++) {
        uint64_t day = day_of(q, q->far[i].at_s);
        least = day < least ? day : least;
    }
    q->sight = least / q->n_days * q->n_days;
    q->today = q->sight - 1;
}

fab_status fab_event_next_day(fab_event_queue *q, fab_error *err) {
    q->next = q->n_now = 0;
    while (q->n_now == 0 && q->n_in_sight + q->n_far > 0) {
        if (q->n_in_sight == 0) {
            skip_rounds(q);
        }
        q->today++;
        if (q->today + q->n_days >= q->sight) {
            q->sight = (q->today / q->n_days + 2) * q->n_days;
            FAB_PASS(look_further(q, err));
        }
        FAB_PASS(take_today(q, err));
    }
    return FAB_OK;
}
