#include "fab/base.h"

int fab_order_u32(const void *a, const void *b) {
    return FAB_ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}

int fab_order_u64(const void *a, const void *b) {
    return FAB_ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}

int fab_order_double(const void *a, const void *b) {
    return FAB_ORDER(*(const double *)a, *(const double *)b);
}

int fab_order_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* By eights: elements are small, and a call for each takes longer. */
static inline void copy_element(char *to, const char *from, size_t size) {
    size_t i = 0;
    for (; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
        memcpy(to + i, from + i, sizeof(uint64_t));
    }
    for (; i < size; i++) {
        to[i] = from[i];
    }
}

/* Merges the sorted elements from `low` to `high` with those from there to `end`; `room` takes the former. */
static void merge_parts(char *low, const char *high, const char *end, size_t size, char *room,
                        int (*order)(const void *, const void *)) {
    if (order(high - size, high) <= 0) {
        return;
    }
    const char *const past = room + (high - low);
    memcpy(room, low, (size_t)(high - low));
    for (const char *left = room; left < past; low += size) {
        const bool takes_left = high == end || order(left, high) <= 0;
        copy_element(low, takes_left ? left : high, size);
        left += takes_left ? size : 0;
        high += takes_left ? 0 : size;
    }
}

void fab_sort(void *array, size_t n, size_t size, int (*order)(const void *, const void *)) {
    char few[1024];
    char *const begin = array;
    char *const room = n * size <= sizeof few ? few : malloc(n * size);
    if (room == NULL) {
        qsort(array, n, size, order);
        return;
    }
    for (size_t part = 1; part < n; part *= 2) {
        for (size_t i = 0; i + part < n; i += 2 * part) {
            const size_t end = n - i > 2 * part ? i + 2 * part : n;
            merge_parts(begin + i * size, begin + (i + part) * size, begin + end * size, size, room, order);
        }
    }
    if (room != few) {
        free(room);
    }
}
