/* A calendar [Brown, 1988]: what is pushed goes to its day unsorted, and is sorted when the day comes. Sorting keeps
 * the order of equal times, and every list is in the order of pushing. Whatever has a parameter `size` is compiled once
 * for either size of events. */
#include "event_queue.h"
#include "fab/multiversion.h"

#define NO_CHUNK UINT32_MAX
#define FEW      24 /* events that are sorted by insertion alone */
#define MOVES    8  /* of an event, on average: more are not worth it */
#define SMALL    ((size_t)16)
#define LARGE    ((size_t)32)

fab_status fab_event_queue_init(fab_event_queue *q, size_t size, double day_s, double sight_s, fab_error *err) {
    *q = (fab_event_queue){.size = size, .free_chunk = NO_CHUNK, .n_days = 1};
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

FAB_RELEASES(fab_event_queue_release, fab_event_queue, day, chunks, far, now, room, parts);

FAB_INLINE double time_of(const char *event) {
    return *(const double *)(const void *)event;
}

FAB_INLINE uint64_t day_of(const fab_event_queue *q, double at_s) {
    return (uint64_t)(at_s * q->days_per_s);
}

FAB_INLINE char *chunk_of(const fab_event_queue *q, uint32_t chunk, size_t size) {
    return q->chunks + chunk * (FAB_EVENTS_PER_CHUNK * size + sizeof(uint64_t));
}

FAB_INLINE uint32_t *next_of(char *chunk, size_t size) {
    return (uint32_t *)(void *)(chunk + FAB_EVENTS_PER_CHUNK * size);
}

/* Into the events of today, behind those of the same time. */
FAB_INLINE fab_status push_now(fab_event_queue *q, const char *e, size_t size, fab_error *err) {
    FAB_PASS(FAB_GROW(q->now, q->now_capacity, (q->n_now + 1) * size, err));
    char *at = q->now + size * q->n_now++;
    const char *first = q->now + size * q->next;
    for (; at > first && time_of(e) < time_of(at - size); at -= size) {
        memcpy(at, at - size, size);
    }
    memcpy(at, e, size);
    return FAB_OK;
}

static fab_status new_chunk(fab_event_queue *q, fab_event_day *day, size_t size, fab_error *err) {
    uint32_t chunk = q->free_chunk;
    if (chunk != NO_CHUNK) {
        q->free_chunk = *next_of(chunk_of(q, chunk, size), size);
    } else {
        size_t bytes = (size_t)(chunk_of(q, (uint32_t)q->n_chunks + 1, size) - q->chunks);
        FAB_PASS(FAB_GROW(q->chunks, q->chunks_capacity, bytes, err));
        chunk = (uint32_t)q->n_chunks++;
    }
    *next_of(chunk_of(q, chunk, size), size) = day->newest;
    *day = (fab_event_day){chunk, 0};
    return FAB_OK;
}

FAB_INLINE fab_status push_in_sight(fab_event_queue *q, const char *e, uint64_t number, size_t size, fab_error *err) {
    fab_event_day *day = &q->day[number & (2 * q->n_days - 1)];
    FAB_PASS(day->newest == NO_CHUNK || day->n == FAB_EVENTS_PER_CHUNK ? new_chunk(q, day, size, err) : FAB_OK);
    memcpy(chunk_of(q, day->newest, size) + size * day->n++, e, size);
    q->n_in_sight++;
    return FAB_OK;
}

FAB_INLINE fab_status push(fab_event_queue *q, const char *e, size_t size, fab_error *err) {
    uint64_t day = day_of(q, time_of(e));
    if (day <= q->today) {
        return push_now(q, e, size, err);
    }
    if (day < q->sight) {
        return push_in_sight(q, e, day, size, err);
    }
    FAB_PASS(FAB_GROW(q->far, q->far_capacity, (q->n_far + 1) * size, err));
    memcpy(q->far + size * q->n_far++, e, size);
    return FAB_OK;
}

fab_status fab_event_push(fab_event_queue *q, const void *event, fab_error *err) {
    return q->size == SMALL ? push(q, event, SMALL, err) : push(q, event, LARGE, err);
}

/* Merges runs of `width` events, from `from` into `to`. */
FAB_INLINE void merge_runs(const char *from, char *to, size_t n, size_t width, size_t size) {
    for (size_t at = 0; at < n; at += 2 * width) {
        size_t middle = at + width < n ? at + width : n;
        size_t end = middle + width < n ? middle + width : n;
        size_t a = at;
        size_t b = middle;
        for (size_t i = at; i < end; i++) {
            bool takes_a = a < middle && (b == end || time_of(from + a * size) <= time_of(from + b * size));
            memcpy(to + i * size, from + (takes_a ? a++ : b++) * size, size);
        }
    }
}

/* Sorts what is near its place; false where that would be long. */
FAB_INLINE bool sort_near(char *e, size_t n, size_t size) {
    size_t moves = 0;
    for (size_t k = 1; k < n && moves <= MOVES * n; k++) {
        char one[LARGE];
        size_t i = k;
        memcpy(one, e + k * size, size);
        double at_s = time_of(e + k * size);
        for (; i > 0 && at_s < time_of(e + (i - 1) * size); i--) {
            memcpy(e + i * size, e + (i - 1) * size, size);
        }
        memcpy(e + i * size, one, size);
        moves += k - i;
    }
    return moves <= MOVES * n;
}

static void take_room(fab_event_queue *q) {
    char *sorted = q->room;
    size_t capacity = q->room_capacity;
    q->room = q->now;
    q->room_capacity = q->now_capacity;
    q->now = sorted;
    q->now_capacity = capacity;
}

/* Where in its day an event lies: equal times alike, later ones no lower. */
FAB_INLINE size_t part_of(const fab_event_queue *q, double at_s, size_t n_parts) {
    double part = (at_s * q->days_per_s - (double)q->today) * (double)n_parts;
    return part < (double)n_parts ? (size_t)part : n_parts - 1;
}

/* Counted into as many parts of the day as there are events; most are near their place then. */
FAB_INLINE fab_status sort_today(fab_event_queue *q, size_t size, fab_error *err) {
    const size_t n = q->n_now;
    FAB_PASS(FAB_GROW(q->room, q->room_capacity, q->now_capacity, err));
    if (n > FEW) {
        FAB_PASS(FAB_GROW(q->parts, q->parts_capacity, n + 1, err));
        memset(q->parts, 0, (n + 1) * sizeof *q->parts);
        for (size_t i = 0; i < n; i++) {
            q->parts[part_of(q, time_of(q->now + i * size), n) + 1]++;
        }
        FAB_ADD_UP(q->parts, n);
        for (size_t i = 0; i < n; i++) {
            const char *e = q->now + i * size;
            memcpy(q->room + q->parts[part_of(q, time_of(e), n)]++ * size, e, size);
        }
        take_room(q);
    }
    for (size_t width = sort_near(q->now, n, size) ? n : 1; width < n; width *= 2) {
        merge_runs(q->now, q->room, n, width, size);
        take_room(q);
    }
    return FAB_OK;
}

/* The events of a day out of its chunks: the newest chunk stands last. */
FAB_INLINE fab_status take_today(fab_event_queue *q, size_t size, fab_error *err) {
    fab_event_day *day = &q->day[q->today & (2 * q->n_days - 1)];
    size_t n = day->newest != NO_CHUNK ? day->n : 0;
    for (uint32_t i = day->newest; i != NO_CHUNK; i = *next_of(chunk_of(q, i, size), size)) {
        n += i != day->newest ? FAB_EVENTS_PER_CHUNK : 0;
    }
    FAB_PASS(FAB_GROW(q->now, q->now_capacity, n * size, err));
    for (size_t at = n; day->newest != NO_CHUNK; day->n = FAB_EVENTS_PER_CHUNK) {
        uint32_t i = day->newest;
        char *chunk = chunk_of(q, i, size);
        at -= day->n;
        memcpy(q->now + at * size, chunk, day->n * size);
        day->newest = *next_of(chunk, size);
        *next_of(chunk, size) = q->free_chunk;
        q->free_chunk = i;
    }
    q->n_now = n;
    q->n_in_sight -= n;
    return sort_today(q, size, err);
}

/* What is in sight now goes to its day: nothing has been pushed there before. */
FAB_INLINE fab_status look_further(fab_event_queue *q, size_t size, fab_error *err) {
    size_t kept = 0;
    for (size_t i = 0; i < q->n_far; i++) {
        char *e = q->far + i * size;
        uint64_t day = day_of(q, time_of(e));
        if (day < q->sight) {
            FAB_PASS(push_in_sight(q, e, day, size, err));
        } else if (kept++ < i) {
            memcpy(q->far + (kept - 1) * size, e, size);
        }
    }
    q->n_far = kept;
    return FAB_OK;
}

/* Nothing is in sight: to the round of days in which the next event lies. */
static void skip_rounds(fab_event_queue *q) {
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < q->n_far; i++) {
        uint64_t day = day_of(q, time_of(q->far + i * q->size));
        least = day < least ? day : least;
    }
    q->sight = least / q->n_days * q->n_days;
    q->today = q->sight - 1;
}

FAB_INLINE fab_status next_day(fab_event_queue *q, size_t size, fab_error *err) {
    q->next = q->n_now = 0;
    while (q->n_now == 0 && q->n_in_sight + q->n_far > 0) {
        if (q->n_in_sight == 0) {
            skip_rounds(q);
        }
        q->today++;
        if (q->today + q->n_days >= q->sight) {
            q->sight = (q->today / q->n_days + 2) * q->n_days;
            FAB_PASS(look_further(q, size, err));
        }
        FAB_PASS(take_today(q, size, err));
    }
    return FAB_OK;
}

fab_status fab_event_next_day(fab_event_queue *q, fab_error *err) {
    return q->size == SMALL ? next_day(q, SMALL, err) : next_day(q, LARGE, err);
}
