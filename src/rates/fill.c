/* Progressive filling: the level (rate per weight) of all flows grows together; where a link is full, its flows stop.
 *
 * A link is full at the level (what stopped flows leave of it) / (weight of the flows that still grow on it). Stopping
 * a flow only raises that of its other links, so a key in the queue is never too high: it is looked at again when the
 * link comes up, not whenever a flow stops. The queue has a bucket per 128th of an octave and a small heap for the
 * bucket that is being emptied. A limit of a flow is a link that only this flow crosses. */
#include "fill.h"
#include "fab/memory.h"
#include "fab/multiversion.h"
#include "solver.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define N_BUCKETS    2048U
#define BUCKET_SHIFT 45   /* of the bits of a double: 128 buckets per octave */
#define AT_ONCE      32   /* flows that are stopped together */
#define CANCELLED    1e-3 /* of the weight once summed: what is left has lost too many digits */

/* One filling. */
typedef struct filling {
    fab_max_min *m;
    const fab_sharing *s;
    uint32_t *holder; /* NULL: nobody asks */
    double level;
    uint64_t base; /* bits of the level where bucket 0 begins */
    uint32_t bucket;
    size_t n_heap, n_ready;
    uint32_t n_chunks, free_chunk;
    uint32_t head[N_BUCKETS]; /* newest chunk */
    uint64_t used[N_BUCKETS / 64];
} filling;

static uint64_t bits_of(double x) {
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* --- the queue -----------------------------------------------------------------------------------------------------
 */

/* Weight that still grows on a link, and what is left of it, from its flows. */
static void sum_again(const filling *q, uint32_t l) {
    const fab_sharing *s = q->s;
    fab_max_min *m = q->m;
    double weight = 0;
    double taken = 0;
    for (uint32_t i = m->links[l].first; l < m->n_kept && i < m->links[l + 1].first; i++) {
        uint32_t f = m->flow[i];
        double share = s->share != NULL ? m->flow_share[i] : 1;
        if ((m->stopped[f / 64] >> (f % 64) & 1) != 0) {
            taken += m->records[f].rate * share;
        } else {
            weight += (s->weight != NULL ? s->weight[f] : 1) * share;
        }
    }
    if (l < m->n_kept) {
        m->weight[l] = weight;
        m->links[l].left = s->capacity[m->number[l]] - taken;
    }
    m->summed[l] = m->weight[l];
}

/* The level at which a link is full, as far as is known now. */
FAB_INLINE double level_of(const filling *q, uint32_t l, const bool general) {
    const link_state *link = &q->m->links[l];
    if (general && q->m->weight[l] < CANCELLED * q->m->summed[l]) {
        sum_again(q, l);
    }
    double level = link->left / (general ? q->m->weight[l] : (double)link->n);
    return level > q->level ? level : q->level;
}

static uint32_t bucket_of(const filling *q, double level) {
    uint64_t bits = bits_of(level);
    uint64_t bucket = bits <= q->base ? 0 : (bits - q->base) >> BUCKET_SHIFT;
    return bucket < N_BUCKETS ? (uint32_t)bucket : N_BUCKETS - 1;
}

static void put(filling *q, uint32_t l, uint32_t bucket) {
    chunk *chunks = q->m->chunks;
    uint32_t c = q->head[bucket];
    if (c == NO_LINK || chunks[c].n == CHUNK_LINKS) {
        uint32_t fresh = q->free_chunk;
        if (fresh != NO_LINK) {
            q->free_chunk = chunks[fresh].next;
        } else {
            fresh = q->n_chunks++;
        }
        chunks[fresh].n = 0;
        chunks[fresh].next = c;
        q->head[bucket] = c = fresh;
        q->used[bucket / 64] |= UINT64_C(1) << (bucket % 64);
    }
    chunks[c].link[chunks[c].n++] = l;
}

/* Empties a bucket into m->waiting. */
static size_t empty_bucket(filling *q, uint32_t bucket) {
    chunk *chunks = q->m->chunks;
    size_t n = 0;
    uint32_t c = q->head[bucket];
    q->head[bucket] = NO_LINK;
    q->used[bucket / 64] &= ~(UINT64_C(1) << (bucket % 64));
    while (c != NO_LINK) {
        uint32_t next = chunks[c].next;
        for (uint32_t i = 0; i < chunks[c].n; i++) {
            __builtin_prefetch(&q->m->links[chunks[c].link[i]]);
            q->m->waiting[n++] = chunks[c].link[i];
        }
        chunks[c].next = q->free_chunk;
        q->free_chunk = c;
        c = next;
    }
    return n;
}

/* What a link needs when it is full: itself, its list, the records of its flows, the links of these. It is asked for
 * step by step while the link comes closer to the top of the heap, so that each step finds what the one before asked
 * for. Of long lists the first flows. */
#define FORESEEN 32
FAB_INLINE void foresee_state(const fab_max_min *m, uint32_t l) {
    __builtin_prefetch(&m->links[l], 1);
}

FAB_INLINE void foresee_list(const fab_max_min *m, uint32_t l) {
    __builtin_prefetch(&m->flow[m->links[l].first]);
    __builtin_prefetch(&m->flow[m->links[l].first] + 16);
}

static uint32_t foreseen_end(const fab_max_min *m, uint32_t l) {
    uint32_t end = l < m->n_kept ? m->links[l + 1].first : 0;
    return end > m->links[l].first + FORESEEN ? m->links[l].first + FORESEEN : end;
}

static bool is_stopped(const fab_max_min *m, uint32_t f) {
    return (m->stopped[f / 64] >> (f % 64) & 1) != 0;
}

static void set_stopped(fab_max_min *m, uint32_t f) {
    m->stopped[f / 64] |= UINT64_C(1) << (f % 64);
}

/* The record of flow f, or one without links if it has stopped: cheaper than a branch that is guessed wrong. */
FAB_INLINE const flow_record *record_in_need(const fab_max_min *m, uint32_t f) {
    return is_stopped(m, f) ? &m->no_flow : &m->records[f];
}

FAB_INLINE void foresee_flows(const fab_max_min *m, uint32_t l) {
    uint32_t end = foreseen_end(m, l);
    for (uint32_t i = m->links[l].first; i < end; i++) {
        __builtin_prefetch(record_in_need(m, m->flow[i]), 1);
    }
}

FAB_INLINE void foresee_record(const fab_max_min *m, const flow_record *record) {
    const link_state *links = record->link[0] != NO_LINK ? m->links : NULL; /* NULL: long paths are not foreseen */
    for (uint32_t h = 0; links != NULL && h < RECORD_LINKS; h++) {
        __builtin_prefetch(&links[record->link[h]], 1);
    }
}

FAB_INLINE void foresee_links(const fab_max_min *m, uint32_t l) {
    uint32_t end = foreseen_end(m, l);
    for (uint32_t i = m->links[l].first; i < end; i++) {
        foresee_record(m, record_in_need(m, m->flow[i]));
    }
}

/* A link comes to this place of the heap. */
FAB_INLINE void foresee(const fab_max_min *m, size_t at, uint32_t l) {
    if (at < 1) {
        return;
    }
    if (at < 3) {
        foresee_links(m, l);
    } else if (at < 7) {
        foresee_flows(m, l);
    } else if (at < 15) {
        foresee_list(m, l);
    } else {
        foresee_state(m, l);
    }
}

static void sift_down(const fab_max_min *m, queued *heap, size_t n, size_t at) {
    queued item = heap[at];
    for (size_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && heap[child + 1].level < heap[child].level) {
            child++;
        }
        if (item.level <= heap[child].level) {
            break;
        }
        heap[at] = heap[child];
        if (at < 31) {
            foresee(m, at, heap[at].link);
        }
        at = child;
    }
    heap[at] = item;
}

static void push(filling *q, queued item) {
    queued *heap = q->m->heap;
    size_t at = q->n_heap++;
    while (at > 0 && item.level < heap[(at - 1) / 2].level) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = item;
}

static void drop_top(filling *q) {
    queued *heap = q->m->heap;
    heap[0] = heap[--q->n_heap];
    if (q->n_heap > 1) {
        sift_down(q->m, heap, q->n_heap, 0);
    }
}

/* The overflow of the last bucket, spread from its lowest level on. */
FAB_INLINE void spread(filling *q, const bool general) {
    fab_max_min *m = q->m;
    double lowest = INFINITY;
    size_t n = empty_bucket(q, N_BUCKETS - 1);
    for (size_t i = 0; i < n; i++) {
        double level = m->links[m->waiting[i]].n > 0 ? level_of(q, m->waiting[i], general) : INFINITY;
        lowest = level < lowest ? level : lowest;
    }
    q->base = bits_of(lowest);
    for (size_t i = 0; i < n; i++) {
        if (m->links[m->waiting[i]].n > 0) {
            put(q, m->waiting[i], bucket_of(q, level_of(q, m->waiting[i], general)));
        }
    }
}

static bool next_bucket(filling *q) {
    for (uint32_t word = 0; word < N_BUCKETS / 64; word++) {
        if (q->used[word] != 0) {
            q->bucket = 64 * word + (uint32_t)__builtin_ctzll(q->used[word]);
            return true;
        }
    }
    return false;
}

/* Takes the next bucket apart: links of its lowest level are ready, the others go into the heap. */
FAB_INLINE bool load_bucket(filling *q, const bool general) {
    fab_max_min *m = q->m;
    if (!next_bucket(q)) {
        return false;
    }
    if (q->bucket == N_BUCKETS - 1) {
        spread(q, general);
        if (!next_bucket(q)) {
            return false;
        }
    }
    double lowest = INFINITY;
    size_t n_waiting = empty_bucket(q, q->bucket);
    size_t n = 0;
    for (size_t i = 0; i < n_waiting; i++) {
        uint32_t l = m->waiting[i];
        if (m->links[l].n > 0) {
            double level = level_of(q, l, general);
            uint32_t bucket = bucket_of(q, level);
            if (bucket > q->bucket) {
                put(q, l, bucket);
            } else {
                m->heap[n++] = (queued){level, l};
                lowest = level < lowest ? level : lowest;
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (m->heap[i].level <= lowest * (1 + FILL_TIE)) {
            m->ready[q->n_ready++] = m->heap[i];
        } else {
            m->heap[q->n_heap++] = m->heap[i];
        }
    }
    for (size_t i = q->n_heap / 2; i-- > 0;) {
        sift_down(m, m->heap, q->n_heap, i);
    }
    return true;
}

/* The same for those that are ready, which go from the last to the first. */
FAB_INLINE void foresee_ready(const filling *q) {
    const fab_max_min *m = q->m;
    size_t n = q->n_ready;
    if (n >= 1) {
        foresee_links(m, m->ready[n - 1].link);
    }
    if (n >= 2) {
        foresee_flows(m, m->ready[n - 2].link);
    }
    if (n >= 4) {
        foresee_list(m, m->ready[n - 4].link);
    }
    if (n >= 8) {
        foresee_state(m, m->ready[n - 8].link);
    }
}

/* The link that is full first, at q->level. */
FAB_INLINE uint32_t next_full(filling *q, const bool general) {
    fab_max_min *m = q->m;
    for (;;) {
        while (q->n_ready > 0 || q->n_heap > 0) {
            bool is_ready = q->n_ready > 0;
            queued item = is_ready ? m->ready[--q->n_ready] : m->heap[0];
            if (is_ready) {
                foresee_ready(q);
            }
            double level = m->links[item.link].n > 0 ? level_of(q, item.link, general) : INFINITY;
            if (level <= item.level * (1 + FILL_TIE)) {
                if (!is_ready) {
                    drop_top(q);
                }
                q->level = level > q->level * (1 + FILL_TIE) ? level : q->level;
                return item.link;
            }
            uint32_t bucket = bucket_of(q, level);
            if (m->links[item.link].n == 0 || bucket > q->bucket) {
                if (!is_ready) {
                    drop_top(q);
                }
                if (m->links[item.link].n > 0) {
                    put(q, item.link, bucket);
                }
            } else if (is_ready) {
                push(q, (queued){level, item.link});
            } else {
                m->heap[0].level = level;
                sift_down(m, m->heap, q->n_heap, 0);
            }
        }
        if (!load_bucket(q, general)) {
            return NO_LINK;
        }
    }
}

/* --- filling -------------------------------------------------------------------------------------------------------
 */

FAB_INLINE void take(filling *q, uint32_t l, double rate, double weight, const bool general) {
    q->m->links[l].left -= rate;
    q->m->links[l].n--;
    if (general) {
        q->m->weight[l] -= weight;
    }
}

FAB_INLINE void stop(filling *q, uint32_t f, double rate, const bool general) {
    const fab_sharing *s = q->s;
    fab_max_min *m = q->m;
    flow_record *record = &m->records[f];
    double w = general && s->weight != NULL ? s->weight[f] : 1;
    record->rate = rate;
    if (record->link[0] != NO_LINK) {
        for (uint32_t i = 0; i < RECORD_LINKS; i++) { /* always as many: a branch would be guessed wrong too often */
            take(q, record->link[i], rate, w, general);
        }
    } else {
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            double share = s->share != NULL ? s->share[e] : 1;
            if (m->kept[s->link[e]] != NO_LINK) {
                take(q, m->kept[s->link[e]], rate * share, w * share, general);
            }
        }
    }
    if (s->limit != NULL) {
        m->links[m->n_kept + 1 + f].n = 0;
    }
}

/* Stops flows that a link holds. What they need is asked for before it is used, unless it was foreseen. */
FAB_INLINE void stop_together(filling *q, const uint32_t *flow, uint32_t n, uint32_t l, bool is_foreseen,
                              const bool general) {
    const fab_sharing *s = q->s;
    for (uint32_t i = 0; i < n && !is_foreseen; i++) {
        foresee_record(q->m, &q->m->records[flow[i]]);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t f = flow[i];
        double rate = general && s->weight != NULL ? s->weight[f] * q->level : q->level;
        if (q->holder != NULL) {
            q->holder[f] = q->m->number[l];
        }
        stop(q, f, s->limit != NULL && rate > s->limit[f] ? s->limit[f] : rate, general);
    }
}

FAB_INLINE void fill_up(filling *q, const bool general) {
    const fab_sharing *s = q->s;
    fab_max_min *m = q->m;
    uint32_t flow[AT_ONCE] = {0};
    for (uint32_t l = next_full(q, general); l != NO_LINK; l = next_full(q, general)) {
        if (l > m->n_kept) {
            uint32_t f = l - m->n_kept - 1;
            set_stopped(m, f);
            stop(q, f, s->limit[f], general);
            continue;
        }
        uint32_t n = 0;
        uint32_t begin = m->links[l].first;
        for (uint32_t i = begin; i < m->links[l + 1].first; i++) {
            uint32_t f = m->flow[i];
            if (i >= begin + FORESEEN) {
                __builtin_prefetch(&m->records[f], 1);
            }
            flow[n] = f;
            n += !is_stopped(m, f);
            set_stopped(m, f);
            if (n == AT_ONCE) {
                stop_together(q, flow, n, l, i < begin + FORESEEN, general);
                n = 0;
            }
        }
        stop_together(q, flow, n, l, m->links[l + 1].first <= begin + FORESEEN, general);
    }
}

FAB_INLINE void enqueue(filling *q, const bool general) {
    fab_max_min *m = q->m;
    uint32_t n_ids = m->n_kept + 1 + (q->s->limit != NULL ? q->s->n_flows : 0);
    double lowest = INFINITY;
    for (uint32_t l = 0; l < n_ids; l++) {
        if (general) {
            m->summed[l] = m->weight[l];
        }
        if (m->links[l].n > 0 && isfinite(m->links[l].left)) {
            double level = level_of(q, l, general);
            lowest = level < lowest ? level : lowest;
        }
    }
    q->base = bits_of(lowest);
    for (uint32_t l = 0; l < n_ids; l++) {
        if (m->links[l].n > 0 && isfinite(m->links[l].left)) {
            put(q, l, bucket_of(q, level_of(q, l, general)));
        }
    }
}

fab_status fill_records(fab_max_min *solver, const fab_sharing *sharing, uint32_t *out_holder, fab_error *err) {
    fab_status status = FAB_OK;
    bool general = sharing->weight != NULL || sharing->share != NULL;
    filling q = {.m = solver, .s = sharing, .holder = out_holder, .free_chunk = NO_LINK};
    FAB_TRY(solver_make_room(solver, sharing, general, N_BUCKETS, err));
    FAB_TRY(solver_index(solver, sharing, general, err));
    memset(solver->stopped, 0, ((size_t)sharing->n_flows / 64 + 1) * sizeof *solver->stopped);
    memset(q.head, 0xff, sizeof q.head);
    for (uint32_t f = 0; out_holder != NULL && f < sharing->n_flows; f++) {
        out_holder[f] = FAB_NO_BOTTLENECK;
    }
    if (general) {
        enqueue(&q, true);
        fill_up(&q, true);
    } else {
        enqueue(&q, false);
        fill_up(&q, false);
    }
done:
    return status;
}

fab_status fill_rates(fab_max_min *solver, const fab_sharing *sharing, double *out_rate, uint32_t *out_holder,
                      fab_error *err) {
    fab_status status = fill_records(solver, sharing, out_holder, err);
    for (uint32_t f = 0; status == FAB_OK && f < sharing->n_flows; f++) {
        out_rate[f] = solver->records[f].rate;
    }
    return status;
}
