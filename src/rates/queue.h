/** A heap of links, the lowest level first; and the bits of a level, whose order is that of levels, for buckets. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct queued {
    double level;
    uint32_t link;
} queued;

static inline uint64_t queue_bits(double level) {
    uint64_t bits = 0;
    memcpy(&bits, &level, sizeof bits);
    return bits;
}

static inline void queue_push(queued *heap, size_t *n, queued item) {
    size_t at = (*n)++;
    while (at > 0 && item.level < heap[(at - 1) / 2].level) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = item;
}

static inline queued queue_pop(queued *heap, size_t *n) {
    const queued top = heap[0];
    const queued item = heap[--*n];
    size_t at = 0;
    for (size_t child = 1; child < *n; child = 2 * at + 1) {
        if (child + 1 < *n && heap[child + 1].level < heap[child].level) {
            child++;
        }
        if (item.level <= heap[child].level) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
    return top;
}
