#define _DEFAULT_SOURCE /* for madvise */ // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
/* Flows by link. Links are many and flows name them in no order, so that each step of a plain counting sort would wait
 * for memory: crossings are first dealt out to ranges of links that stay in the cache.
 *
 * A path often begins and ends with links that can hold nobody, because their neighbour is no wider and has no other
 * flows: the PCIe link of a NIC beside its cable. These are left out. */
#include "fab/memory.h"
#include "fab/multiversion.h"
#include "solver.h"

#include <math.h>
#include <sys/mman.h>

#define COUNTED  1024
#define TOGETHER 256  /* crossings whose links are looked up together */
#define NARROWER 1e-8 /* relatively: beyond all tolerances of the certificate */

#define HUGE_PAGE ((size_t)2 << 20)

/* As fab_grow(), but what the array held is lost, and large ones lie in huge pages where the system has them. */
static fab_status solver_grow(void *array, size_t *capacity, size_t need, size_t size, fab_error *err) {
    if (need <= *capacity) {
        return FAB_OK;
    }
    void *block = NULL;
    size_t wanted = need + need / 4 + 16;
    FAB_REFUSE_IF(wanted < need || wanted > (SIZE_MAX - HUGE_PAGE) / size, err, FAB_ENOMEM, NULL,
                  "%zu elements of %zu bytes exceed the address space", need, size);
    memcpy(&block, array, sizeof block);
    free(block);
    block = NULL;
    *capacity = 0;
    memcpy(array, &block, sizeof block);
    if (wanted * size < HUGE_PAGE) {
        block = malloc(wanted * size);
    } else if (posix_memalign(&block, HUGE_PAGE, wanted * size) != 0) {
        block = NULL;
    }
    FAB_REFUSE_IF(block == NULL, err, FAB_ENOMEM, NULL, "cannot allocate %zu bytes", wanted * size);
#ifdef MADV_HUGEPAGE
    if (wanted * size >= HUGE_PAGE) {
        (void)madvise(block, wanted * size, MADV_HUGEPAGE); /* a hint: without it everything works, more slowly */
    }
#endif
    memcpy(array, &block, sizeof block);
    *capacity = wanted;
    return FAB_OK;
}

#define SOLVER_GROW(pointer, capacity, need, err) solver_grow(&(pointer), &(capacity), (need), sizeof *(pointer), (err))

fab_status fab_max_min_new(fab_max_min **out, fab_error *err) {
    return FAB_NEW(*out, 1, err);
}

FAB_FREES_AFTER(fab_max_min_free, fab_max_min, solver) {
    FAB_FREE_ALL(solver->links, solver->first, solver->levels, solver->number, solver->kept, solver->weight,
                 solver->summed, solver->flow, solver->flow_share, solver->records, solver->ends, solver->n_flows,
                 solver->crossings, solver->place, solver->chunks, solver->stopped, solver->waiting, solver->heap,
                 solver->turns, solver->check);
}

fab_status solver_reserve_check(fab_max_min *m, fab_error *err) {
    return SOLVER_GROW(m->check, m->check_capacity, (size_t)m->n_kept + 1, err);
}

fab_status solver_reserve(fab_max_min *m, const fab_sharing *s, bool general, uint32_t n_buckets, fab_error *err) {
    size_t n_ids = (size_t)s->n_links + 1 + (s->limit != NULL ? s->n_flows : 0);
    size_t n_entries = (size_t)(s->first[s->n_flows] - s->first[0]);
    FAB_REFUSE_IF(n_ids >= NO_LINK || n_entries >= UINT32_MAX, err, FAB_EUNSUPPORTED, NULL,
                  "%zu links and limits, %zu crossings of flows and links; at most %u of each can be solved at once",
                  n_ids - 1, n_entries, NO_LINK - 2);
    FAB_PASS(SOLVER_GROW(m->links, m->links_capacity, n_ids, err));
    FAB_PASS(SOLVER_GROW(m->first, m->first_capacity, (size_t)s->n_links + 1, err));
    FAB_PASS(SOLVER_GROW(m->levels, m->levels_capacity, n_ids + 1, err));
    FAB_PASS(SOLVER_GROW(m->number, m->number_capacity, (size_t)s->n_links + 1, err));
    FAB_PASS(SOLVER_GROW(m->kept, m->kept_capacity, (size_t)s->n_links + 1, err));
    FAB_PASS(SOLVER_GROW(m->ends, m->ends_capacity, (size_t)s->n_links + 1, err));
    FAB_PASS(SOLVER_GROW(m->n_flows, m->n_flows_capacity, (size_t)s->n_links + 1, err));
    FAB_PASS(SOLVER_GROW(m->place, m->place_capacity, (size_t)s->n_links + 1, err));
    FAB_PASS(SOLVER_GROW(m->flow, m->flow_capacity, n_entries + 1, err));
    FAB_PASS(SOLVER_GROW(m->crossings, m->crossings_capacity, n_entries + 1, err));
    FAB_PASS(SOLVER_GROW(m->stopped, m->stopped_capacity, (size_t)s->n_flows / 64 + 1, err));
    FAB_PASS(SOLVER_GROW(m->records, m->records_capacity, (size_t)s->n_flows + RECORDS_AHEAD, err));
    FAB_PASS(SOLVER_GROW(m->chunks, m->chunks_capacity, n_ids / CHUNK_LINKS + n_buckets + 2, err));
    FAB_PASS(SOLVER_GROW(m->heap, m->heap_capacity, n_ids, err));
    FAB_PASS(SOLVER_GROW(m->waiting, m->waiting_capacity, n_ids, err));
    FAB_PASS(SOLVER_GROW(m->turns, m->turns_capacity, n_ids, err));
    if (general) {
        FAB_PASS(SOLVER_GROW(m->weight, m->weight_capacity, n_ids, err));
        FAB_PASS(SOLVER_GROW(m->summed, m->summed_capacity, n_ids, err));
    }
    return s->share != NULL ? SOLVER_GROW(m->flow_share, m->flow_share_capacity, n_entries + 1, err) : FAB_OK;
}

static double grown_bytes(double n, size_t size) {
    return (1.15 * n + 16) * (double)size; /* SOLVER_GROW() reserves a little more, which is not touched at first */
}

/* What solver_reserve() and solver_reserve_check() ask for, with weights. */
double fab_max_min_bytes(const fab_sharing_size *size) {
    double n_ids = size->n_links + 1 + (size->limits ? size->n_flows : 0);
    double of_ids = grown_bytes(n_ids, sizeof(link_state)) + grown_bytes(n_ids, sizeof(link_check)) +
                    2 * grown_bytes(n_ids, sizeof(queued)) + 3 * grown_bytes(n_ids, sizeof(double)) +
                    grown_bytes(n_ids, sizeof(uint32_t)) + grown_bytes(n_ids / CHUNK_LINKS, sizeof(chunk));
    double of_links =
        5 * grown_bytes(size->n_links + 1, sizeof(uint32_t)) + grown_bytes(size->n_links + 1, sizeof(link_end));
    double of_flows = grown_bytes(size->n_flows, sizeof(flow_record)) + size->n_flows / 8;
    double of_entries = grown_bytes(size->n_entries, sizeof(uint32_t)) +
                        grown_bytes(size->n_entries, sizeof(uint64_t)) +
                        (size->shares ? grown_bytes(size->n_entries, sizeof(double)) : 0);
    return of_ids + of_links + of_flows + of_entries;
}

/* --- which links are kept ----------------------------------------------------------------------------------------- */

static fab_status name_twice(fab_max_min *m, const fab_sharing *s, fab_error *err) {
    memset(m->ends, 0, (size_t)s->n_links * sizeof *m->ends);
    for (uint32_t f = 0; f < s->n_flows; f++) {
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            FAB_REFUSE_IF(m->ends[s->link[e]].next == f + 1, err, FAB_EINPUT, NULL,
                          "flow %u names link %u twice; once is enough", f, s->link[e]);
            m->ends[s->link[e]].next = f + 1;
        }
    }
    return FAB_OK;
}

/* Flow f begins or ends at link l, next to link k. */
static inline void note_end(link_end *ends, uint32_t l, uint32_t k) {
    ends[l].n += ends[l].n == 0 || ends[l].next == k;
    ends[l].next = ends[l].n == 1 ? k : ends[l].next;
}

/* Counts the flows of every link, and those that begin or end there beside the same link. */
static fab_status count_flows(fab_max_min *m, const fab_sharing *s, fab_error *err) {
    bool is_circle = false;
    memset(m->n_flows, 0, (size_t)s->n_links * sizeof *m->n_flows);
    memset(m->ends, 0, (size_t)s->n_links * sizeof *m->ends);
    for (uint32_t begin = 0; begin < s->n_flows; begin += COUNTED) { /* so many stay in the cache */
        uint32_t past = s->n_flows - begin < COUNTED ? s->n_flows : begin + COUNTED;
        for (uint64_t e = s->first[begin]; e < s->first[past]; e++) {
            m->n_flows[s->link[e]]++;
        }
        for (uint32_t f = begin; s->share == NULL && f < past; f++) {
            const uint32_t *link = s->link + s->first[f];
            uint64_t n = s->first[f + 1] - s->first[f];
            if (n > 1) {
                is_circle = is_circle || link[0] == link[n - 1];
                note_end(m->ends, link[0], link[1]);
                note_end(m->ends, link[n - 1], link[n - 2]);
            }
        }
    }
    return is_circle ? name_twice(m, s, err) : FAB_OK;
}

#define YIELDS UINT32_MAX

/* Whether link l can hold flows, and is the lowest link that does. Of two with equal flows and capacity the lower is
 * kept; the higher comes later here. Otherwise a neighbour must be clearly narrower for l to be left out. */
static bool is_kept(fab_max_min *m, const fab_sharing *s, uint32_t l) {
    uint32_t n = m->n_flows[l];
    if (n == 0 || !isfinite(s->capacity[l]) || m->ends[l].n == YIELDS) {
        return false;
    }
    if (m->ends[l].n < n) {
        return true;
    }
    uint32_t k = m->ends[l].next; /* crossed by every flow of l */
    if (s->capacity[l] != s->capacity[k] || n != m->n_flows[k]) {
        return s->capacity[l] <= s->capacity[k] * (1 + NARROWER);
    }
    if (l < k) {
        m->ends[k].n = YIELDS;
    }
    return l < k;
}

static void keep_links(fab_max_min *m, const fab_sharing *s) {
    uint32_t n = 0;
    uint32_t entry = 0;
    for (uint32_t l = 0; l < s->n_links; l++) {
        m->kept[l] = NO_LINK;
        if (is_kept(m, s, l)) {
            m->links[n] = (link_state){.residual = s->capacity[l], .n = m->n_flows[l]};
            m->first[n] = entry;
            m->number[n] = l;
            m->place[n] = entry;
            m->kept[l] = n++;
            entry += m->n_flows[l];
        }
    }
    m->n_kept = n;
    m->links[n] = (link_state){.residual = INFINITY};
    m->first[n] = entry;
    m->no_flow.rate = INFINITY;
    for (uint32_t i = 0; i < RECORD_LINKS; i++) {
        record_set(&m->no_flow, i, n);
    }
}

/* --- their flows -------------------------------------------------------------------------------------------------- */

#define MAX_RANGES  512U
#define RANGE_SHIFT 11 /* at least 2^this links to a range */

static uint32_t range_shift(uint32_t n_links) {
    uint32_t shift = RANGE_SHIFT;
    while (n_links >> shift >= MAX_RANGES) {
        shift++;
    }
    return shift;
}

/* A crossing is the number of its link in the range, in the lowest bits, and its flow: in 32 bits where both have room,
 * because most of the time goes by in waiting for memory. */
FAB_INLINE void write_crossing(void *crossings, uint32_t i, uint64_t crossing, const bool is_short) {
    if (is_short) {
        ((uint32_t *)crossings)[i] = (uint32_t)crossing;
    } else {
        ((uint64_t *)crossings)[i] = crossing;
    }
}

FAB_INLINE uint64_t read_crossing(const void *crossings, uint32_t i, const bool is_short) {
    return is_short ? ((const uint32_t *)crossings)[i] : ((const uint64_t *)crossings)[i];
}

/* Links of crossings that follow each other, looked up together so that one need not wait for another. */
typedef struct looked_up {
    uint32_t link[TOGETHER], range[TOGETHER], low[TOGETHER];
} looked_up;

FAB_MULTIVERSION
static void look_up(const uint32_t *kept, const uint32_t *link, uint32_t n, uint32_t shift, looked_up *out) {
    FAB_FILL(out->link, n, kept[link[fab_at]]);
    for (uint32_t i = 0; i < n; i++) {
        out->range[i] = out->link[i] >> shift;
        out->low[i] = out->link[i] & ((1U << shift) - 1);
    }
}

/* Records, and crossings by range in the order of the flows. at: where each range begins. */
FAB_INLINE void deal_out(fab_max_min *m, const fab_sharing *s, uint32_t shift, uint32_t *at, const bool is_short) {
    looked_up up = {.link = {0}};
    uint64_t end = s->first[s->n_flows];
    uint64_t begin = s->first[0];
    uint64_t past = begin; /* the crossings from begin to past are looked up */
    void *crossings = m->crossings;
    for (uint32_t f = 0; f < s->n_flows; f++) {
        flow_record *record = &m->records[f];
        uint32_t n = 0;
        *record = m->no_flow;
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            if (e == past) {
                begin = e;
                past = end - e < TOGETHER ? end : e + TOGETHER;
                look_up(m->kept, s->link + e, (uint32_t)(past - e), shift, &up);
            }
            uint32_t l = up.link[e - begin];
            if (l == NO_LINK) {
                continue;
            }
            uint32_t i = at[up.range[e - begin]]++;
            write_crossing(crossings, i, (uint64_t)f << shift | up.low[e - begin], is_short);
            __builtin_prefetch((char *)crossings + (size_t)i * (is_short ? 4 : 8) + 64, 1);
            if (n < RECORD_LINKS) {
                record_set(record, n, l);
            }
            n++;
        }
        if (n > RECORD_LINKS || s->share != NULL || m->n_kept >= RECORD_NONE) {
            record_set(record, 0, RECORD_NONE);
        }
    }
    for (uint32_t i = 0; i < RECORDS_AHEAD; i++) {
        m->records[s->n_flows + i] = m->no_flow;
    }
}

/* Whether an element equals the next. */
FAB_MULTIVERSION
static bool has_equal_neighbours(const uint32_t *x, uint32_t n) {
    uint32_t equal = 0;
    for (uint32_t i = 1; i < n; i++) {
        equal |= x[i - 1] == x[i];
    }
    return equal != 0;
}

/* Sorts a range by link; begin ... end - 1 are its crossings. @return whether a flow may name a link twice: it does if
 * the two do not belong to different links. */
FAB_INLINE bool sort_range(fab_max_min *m, uint32_t shift, uint32_t range, uint32_t end, const bool is_short) {
    uint32_t mask = (1U << shift) - 1;
    uint32_t begin = m->first[range << shift];
    uint32_t *place = &m->place[range << shift];
    const void *crossings = m->crossings;
    uint32_t *flow = m->flow;
    for (uint32_t i = begin; i < end; i++) {
        uint64_t crossing = read_crossing(crossings, i, is_short);
        flow[place[crossing & mask]++] = (uint32_t)(crossing >> shift);
    }
    return has_equal_neighbours(flow + begin, end - begin);
}

static bool has_twice(const fab_max_min *m, uint32_t l) {
    return has_equal_neighbours(m->flow + m->first[l], m->first[l + 1] - m->first[l]);
}

FAB_INLINE bool sort_crossings(fab_max_min *m, const fab_sharing *s, uint32_t shift, const bool is_short) {
    uint32_t at[MAX_RANGES + 1] = {0};
    uint32_t n_ranges = (m->n_kept >> shift) + 1;
    bool twice = false;
    FAB_FILL(at, n_ranges, m->first[fab_at << shift]);
    deal_out(m, s, shift, at, is_short);
    for (uint32_t r = 0; r < n_ranges; r++) {
        bool may = sort_range(m, shift, r, at[r], is_short);
        uint32_t past = (r + 1) << shift;
        for (uint32_t l = r << shift; may && l < m->n_kept && l < past; l++) {
            twice = twice || has_twice(m, l);
        }
    }
    return twice;
}

static double share_of(const fab_sharing *s, uint32_t f, uint32_t l) {
    uint64_t e = s->first[f];
    while (s->share != NULL && s->link[e] != l) {
        e++;
    }
    return s->share != NULL ? s->share[e] : 1;
}

static void add_weights(fab_max_min *m, const fab_sharing *s) {
    for (uint32_t l = 0; l < m->n_kept; l++) {
        m->weight[l] = 0;
        for (uint32_t i = m->first[l]; i < m->first[l + 1]; i++) {
            double share = share_of(s, m->flow[i], m->number[l]);
            m->weight[l] += (s->weight != NULL ? s->weight[m->flow[i]] : 1) * share;
            if (s->share != NULL) {
                m->flow_share[i] = share;
            }
        }
    }
    m->weight[m->n_kept] = 0;
}

static void add_limits(fab_max_min *m, const fab_sharing *s, bool general) {
    for (uint32_t f = 0; s->limit != NULL && f < s->n_flows; f++) {
        uint32_t l = m->n_kept + 1 + f;
        m->links[l] = (link_state){.residual = s->limit[f], .n = 1};
        if (general) {
            m->weight[l] = s->weight != NULL ? s->weight[f] : 1;
        }
    }
}

fab_status solver_index(fab_max_min *m, const fab_sharing *s, bool general, fab_error *err) {
    FAB_PASS(count_flows(m, s, err));
    keep_links(m, s);
    uint32_t shift = range_shift(m->n_kept);
    bool is_short = (uint64_t)s->n_flows << shift <= UINT32_MAX;
    if (is_short ? sort_crossings(m, s, shift, true) : sort_crossings(m, s, shift, false)) {
        FAB_PASS(name_twice(m, s, err));
    }
    if (general) {
        add_weights(m, s);
    }
    add_limits(m, s, general);
    return FAB_OK;
}
