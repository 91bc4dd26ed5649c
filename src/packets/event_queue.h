/** Events of links in the order of their time; of one instant, in the order in which they were pushed. */
#pragma once

#include "fab/base.h"

/** What a queue holds begins like this; the rest is the caller's. */
typedef struct fab_event {
    double at_s;
    uint32_t link, what;
} fab_event;

#define FAB_EVENT_DAYS           (UINT64_C(1) << 16) /**< at most */
#define FAB_EVENT_CALENDAR_BYTES (8.0 * FAB_EVENT_DAYS)
#define FAB_EVENTS_PER_CHUNK     15

/** What a push reads: it does not wait for the chunk, which it only writes. */
typedef struct fab_event_day {
    uint32_t newest, n; /**< chunk, and events in that one */
} fab_event_day;

/**
 * Days of equal length: chunks of events for each of the days within sight, and the events of today in order. Events of
 * a day lie in its chunks in the order in which they were pushed; chunks hang together, the newest first, and all but
 * that are full. Arrays of events are bytes, because events are of two sizes.
 */
typedef struct fab_event_queue {
    size_t size; /**< of an event */
    double days_per_s;
    uint64_t today, sight; /**< days before `sight` are in sight; it is a multiple of n_days */
    fab_event_day *day;    /**< shape [2 n_days], a power of two */
    uint64_t n_days;
    char *chunks; /**< of FAB_EVENTS_PER_CHUNK events, and the number of the next chunk of the day */
    size_t n_chunks, chunks_capacity;
    uint32_t free_chunk;
    uint64_t n_in_sight; /**< events in chunks */
    char *far;           /**< beyond, in the order in which they were pushed */
    size_t n_far, far_capacity;
    char *now; /**< of today in order; those from `next` on are to come */
    size_t next, n_now, now_capacity;
    char *room; /**< to sort in */
    size_t room_capacity;
    uint32_t *parts; /**< where the events of each part of today go */
    size_t parts_capacity;
} fab_event_queue;

/**
 * @param[in] size   Of an event: 16 or 32 bytes, of which the first eight are its time, a double.
 * @param[in] day_s  About as long as some tens of events take; > 0.
 * @param[in] sight_s  How far ahead of the present most events are pushed; further ones cost more, no answer depends on
 *                     either.
 */
FAB_STATUS fab_event_queue_init(fab_event_queue *queue, size_t size, double day_s, double sight_s, fab_error *err);
void fab_event_queue_release(fab_event_queue *queue);

/** Not before the event of now[next - 1]. Complexity: O(1), where days are as they should be. */
FAB_STATUS fab_event_push(fab_event_queue *queue, const void *event, fab_error *err);
/** Once all of today are taken: the next day that has events in now[0] ... now[n_now - 1]; n_now 0: there are none. */
FAB_STATUS fab_event_next_day(fab_event_queue *queue, fab_error *err);
