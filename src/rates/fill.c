/* Progressive filling: the level (rate per weight) of all flows grows together; where a link is full, its flows stop.
 *
 * A link is full at the level (what stopped flows leave of it) / (weight of the flows that still grow on it). Stopping
 * a flow only raises that of its other links, so a key in the queue is never too high: it is looked at again when the
 * link comes up, not whenever a flow stops. The queue has a bucket per 128th of an octave and a small heap for the
 * bucket that is being emptied. A limit of a flow is a link that only this flow crosses. */
#include "fab/multiversion.h"
#include "fab/order.h"
#include "solver.h"

#include <math.h>
#include <stdlib.h>

#define N_BUCKETS    2048U
#define BUCKET_SHIFT 45   /* of the bits of a double: 128 buckets per octave */
#define AT_ONCE      32   /* flows that are stopped together */
#define CANCELLED    1e-3 /* of the weight once summed: what is left has lost too many digits */

#define PREFETCH_FIRST 16 /* turns before its own */
#define PREFETCH_LIST  12
#define PREFETCH_FLOWS 6
#define PREFETCH_LINKS 2
#define SOON           8
#define SOON_FLOWS     48

/* Flows that a link will stop, unless they stop before. */
typedef struct soon {
    uint32_t n;
    uint32_t l_flows; /* so many flows cross the link */
    uint32_t flow[SOON_FLOWS];
} soon;

/* One filling. */
typedef struct filling {
    fab_max_min *m;
    const fab_sharing *s;
    double level;
    uint32_t step; /* how often the level has risen */
    uint64_t base; /* bits of the level where bucket 0 begins */
    uint32_t bucket;
    size_t n_heap, turn, n_turns;
    const soon *prefetched; /* the flows of the link that is full now, or NULL */
    soon soon[SOON];        /* turn t: soon[t % SOON] */
    uint32_t n_chunks, free_chunk;
    uint32_t head[N_BUCKETS]; /* newest chunk */
    uint64_t used[N_BUCKETS / 64];
} filling;

/* --- the queue ---------------------------------------------------------------------------------------------------- */

/* Where the flows of a link begin; limits have no list. */
FAB_INLINE uint32_t list_begin(const fab_max_min *m, uint32_t l) {
    return m->first[l < m->n_kept ? l : m->n_kept];
}

/* Weight that still grows on a link, and what is left of it, from its flows. */
static void sum_again(const filling *q, uint32_t l) {
    const fab_sharing *s = q->s;
    fab_max_min *m = q->m;
    double weight = 0;
    double taken = 0;
    for (uint32_t i = list_begin(m, l); i < list_begin(m, l + 1); i++) {
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
        m->links[l].residual = s->capacity[m->number[l]] - taken;
    }
    m->summed[l] = m->weight[l];
}

/* The level at which a link is full, as far as is known now. */
FAB_INLINE double level_of(const filling *q, uint32_t l, const bool general) {
    const link_state *link = &q->m->links[l];
    if (general && q->m->weight[l] < CANCELLED * q->m->summed[l]) {
        sum_again(q, l);
    }
    double level = link->residual / (general ? q->m->weight[l] : (double)link->n);
    return level > q->level ? level : q->level;
}

static uint32_t bucket_of(const filling *q, double level) {
    uint64_t bits = queue_bits(level);
    uint64_t bucket = bits <= q->base ? 0 : (bits - q->base) >> BUCKET_SHIFT;
    return bucket < N_BUCKETS ? (uint32_t)bucket : N_BUCKETS - 1;
}

static void fill_put(filling *q, uint32_t l, uint32_t bucket) {
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

static bool is_stopped(const fab_max_min *m, uint32_t f) {
    return (m->stopped[f / 64] >> (f % 64) & 1) != 0;
}

static void set_stopped(fab_max_min *m, uint32_t f) {
    m->stopped[f / 64] |= UINT64_C(1) << (f % 64);
}

FAB_INLINE void prefetch_links(const fab_max_min *m, uint32_t f) {
    const flow_record *record = &m->records[f];
    const link_state *links = record_has_links(record) ? m->links : NULL; /* NULL: long paths are not prefetched */
    for (uint32_t h = 0; links != NULL && h < RECORD_LINKS; h++) {
        __builtin_prefetch(&links[record_link(record, h)], 1);
    }
}

/* The flows that still grow on the link of a turn. Long lists are left to themselves. */
FAB_INLINE void prefetch_flows(filling *q, size_t turn) {
    const fab_max_min *m = q->m;
    soon *next = &q->soon[turn % SOON];
    uint32_t begin = list_begin(m, m->turns[turn].link);
    uint32_t end = list_begin(m, m->turns[turn].link + 1);
    uint32_t n = 0;
    next->l_flows = end - begin;
    if (next->l_flows <= SOON_FLOWS) {
        for (uint32_t i = begin; i < end; i++) {
            next->flow[n] = m->flow[i]; /* no branch: it would be guessed wrong */
            n += !is_stopped(m, m->flow[i]);
        }
        for (uint32_t i = 0; i < n; i++) {
            __builtin_prefetch(&m->records[next->flow[i]], 1);
        }
    }
    next->n = n;
}

/* What a link needs when it is full: its list, the records of its flows, the links of these. It is asked for step by
 * step while the turn of the link comes closer, so that each step finds what the one before asked for. */
FAB_INLINE void prefetch(filling *q) {
    const fab_max_min *m = q->m;
    const queued *next = m->turns + q->turn;
    size_t n = q->n_turns - q->turn;
    if (n > PREFETCH_FIRST) {
        __builtin_prefetch(&m->first[next[PREFETCH_FIRST].link]);
    }
    if (n > PREFETCH_LIST) {
        uint32_t begin = list_begin(m, next[PREFETCH_LIST].link);
        __builtin_prefetch(&m->flow[begin]);
        __builtin_prefetch(&m->flow[begin] + 16);
    }
    if (n > PREFETCH_FLOWS) {
        prefetch_flows(q, q->turn + PREFETCH_FLOWS);
    }
    if (n > PREFETCH_LINKS) {
        const soon *flows = &q->soon[(q->turn + PREFETCH_LINKS) % SOON];
        for (uint32_t i = 0; i < flows->n; i++) {
            prefetch_links(m, flows->flow[i]);
        }
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
    q->base = queue_bits(lowest);
    for (size_t i = 0; i < n; i++) {
        if (m->links[m->waiting[i]].n > 0) {
            fill_put(q, m->waiting[i], bucket_of(q, level_of(q, m->waiting[i], general)));
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

/* Links of equal levels by their numbers, so that the order is the same everywhere. */
FAB_ORDER_KEYS(fill_by_level, queued, FAB_ORDER(a->level, b->level), FAB_ORDER(a->link, b->link));

static void take_turns(filling *q, size_t n) {
    fab_max_min *m = q->m;
    FAB_SORT(m->turns, n, fill_by_level);
    q->turn = 0;
    q->n_turns = n;
    for (size_t i = 0; i < n && i < PREFETCH_FLOWS; i++) {
        prefetch_flows(q, i);
    }
}

/* Takes the next bucket apart: its links get their turns. */
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
    size_t n_waiting = empty_bucket(q, q->bucket);
    size_t n = 0;
    for (size_t i = 0; i < n_waiting; i++) {
        uint32_t l = m->waiting[i];
        if (m->links[l].n > 0) {
            double level = level_of(q, l, general);
            uint32_t bucket = bucket_of(q, level);
            if (bucket > q->bucket) {
                fill_put(q, l, bucket);
            } else {
                m->turns[n++] = (queued){level, l};
            }
        }
    }
    take_turns(q, n);
    return true;
}

static void rise(filling *q, double level) {
    if (level > q->level * (1 + FILL_TIE)) {
        q->level = level;
        q->m->levels[++q->step] = level;
    }
}

/* The link that is full first, at q->level. Those that others have lifted past their turn wait in the heap. */
FAB_INLINE uint32_t next_full(filling *q, const bool general) {
    fab_max_min *m = q->m;
    for (;;) {
        while (q->turn < q->n_turns || q->n_heap > 0) {
            bool has_turn = q->n_heap == 0 || (q->turn < q->n_turns && m->turns[q->turn].level <= m->heap[0].level);
            queued item = {0};
            if (has_turn) {
                prefetch(q);
                item = m->turns[q->turn++];
            } else {
                item = queue_pop(m->heap, &q->n_heap);
            }
            if (m->links[item.link].n == 0) {
                continue;
            }
            double level = level_of(q, item.link, general);
            if (level <= item.level * (1 + FILL_TIE)) {
                const soon *flows = &q->soon[(q->turn - 1) % SOON];
                q->prefetched = has_turn && flows->l_flows <= SOON_FLOWS ? flows : NULL;
                rise(q, level);
                return item.link;
            }
            uint32_t bucket = bucket_of(q, level);
            if (bucket > q->bucket) {
                fill_put(q, item.link, bucket);
            } else {
                queue_push(m->heap, &q->n_heap, (queued){level, item.link});
            }
        }
        if (!load_bucket(q, general)) {
            return NO_LINK;
        }
    }
}

/* --- filling ------------------------------------------------------------------------------------------------------ */

FAB_INLINE void take(filling *q, uint32_t l, double rate, double weight, const bool general) {
    q->m->links[l].residual -= rate;
    q->m->links[l].n--;
    q->m->links[l].step = q->step;
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
    if (record_has_links(record)) {
        for (uint32_t i = 0; i < RECORD_LINKS; i++) { /* always as many: a branch would be guessed wrong too often */
            take(q, record_link(record, i), rate, w, general);
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

/* Stops flows that are bottlenecked at a link. What they need is asked for before it is used, unless it was prefetched.
 */
FAB_INLINE void stop_together(filling *q, const uint32_t *flow, uint32_t n, bool is_prefetched, const bool general) {
    const fab_sharing *s = q->s;
    for (uint32_t i = 0; i < n && !is_prefetched; i++) {
        prefetch_links(q->m, flow[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t f = flow[i];
        double rate = general && s->weight != NULL ? s->weight[f] * q->level : q->level;
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
        bool is_prefetched = q->prefetched != NULL;
        const uint32_t *list = is_prefetched ? q->prefetched->flow : m->flow + m->first[l];
        uint32_t n_list = is_prefetched ? q->prefetched->n : m->first[l + 1] - m->first[l];
        uint32_t n = 0;
        for (uint32_t i = 0; i < n_list; i++) {
            uint32_t f = list[i];
            if (!is_prefetched) {
                __builtin_prefetch(&m->records[f], 1);
            }
            flow[n] = f;
            n += !is_stopped(m, f);
            set_stopped(m, f);
            if (n == AT_ONCE) {
                stop_together(q, flow, n, is_prefetched, general);
                n = 0;
            }
        }
        stop_together(q, flow, n, is_prefetched, general);
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
        if (m->links[l].n > 0 && isfinite(m->links[l].residual)) {
            double level = level_of(q, l, general);
            lowest = level < lowest ? level : lowest;
        }
    }
    q->base = queue_bits(lowest);
    for (uint32_t l = 0; l < n_ids; l++) {
        if (m->links[l].n > 0 && isfinite(m->links[l].residual)) {
            fill_put(q, l, bucket_of(q, level_of(q, l, general)));
        }
    }
}

fab_status fill_records(fab_max_min *solver, const fab_sharing *sharing, fab_error *err) {
    bool general = sharing->weight != NULL || sharing->share != NULL;
    filling q = {.m = solver, .s = sharing, .free_chunk = NO_LINK};
    FAB_PASS(solver_reserve(solver, sharing, general, N_BUCKETS, err));
    FAB_PASS(solver_index(solver, sharing, general, err));
    memset(solver->stopped, 0, ((size_t)sharing->n_flows / 64 + 1) * sizeof *solver->stopped);
    memset(q.head, 0xff, sizeof q.head);
    solver->levels[0] = 0;
    if (general) {
        enqueue(&q, true);
        fill_up(&q, true);
    } else {
        enqueue(&q, false);
        fill_up(&q, false);
    }
    return FAB_OK;
}
