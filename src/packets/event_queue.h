/**
 * @file event_queue.h
 * Events of links in the order of their time; of one instant, in the order in which they were pushed.
 */
#pragma once

#include "fab/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fab_event {
    double at_s;
    uint64_t order; /**< of those of one instant */
    uint32_t link, cell;
    uint32_t kind;
} fab_event;

#define FAB_EVENT_DAYS           (UINT64_C(1) << 20) /**< at most */
#define FAB_EVENT_CALENDAR_BYTES (4.0 * FAB_EVENT_DAYS)

/** Days of equal length: a list for every day within sight, and the events of today in order. */
typedef struct fab_event_queue {
    double day_s;
    uint64_t today;
    uint32_t *day; /**< shape [n_days], a power of two: first event of the days that are equal modulo n_days */
    size_t n_days;
    struct fab_event_node *nodes;
    size_t n_nodes, nodes_capacity;
    uint32_t free_node;
    size_t n_later; /**< events that are not of today */
    fab_event *now; /**< of today from `next` on, in order */
    size_t next, n_now, now_capacity;
    uint64_t n_pushed;
} fab_event_queue;

/**
 * @param[in] day_s  About as long as a few events take; > 0.
 * @param[in] sight_s  How far ahead of the present most events are pushed; further ones cost more, no answer depends on
 *                     either.
 */
fab_status fab_event_queue_init(fab_event_queue *queue, double day_s, double sight_s, fab_error *err) FAB_MUST_USE;
void fab_event_queue_release(fab_event_queue *queue);

/** Not before the event that was popped last. Complexity: O(1), as the next, where days are as they should be. */
fab_status fab_event_push(fab_event_queue *queue, const fab_event *event, fab_error *err) FAB_MUST_USE;
/** @param[out] found  False: there is none. */
fab_status fab_event_pop(fab_event_queue *queue, fab_event *out, bool *found, fab_error *err) FAB_MUST_USE;
