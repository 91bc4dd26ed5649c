/* Flows by link. Links are many and flows name them in no order, so that each step of a plain counting sort would wait
 * for memory: crossings are first dealt out to ranges of links that stay in the cache. */
#include "fab/memory.h"
#include "room.h"
#include "solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

fab_status fab_max_min_new(fab_max_min **out, fab_error *err) {
    return FAB_NEW(*out, 1, err);
}

void fab_max_min_free(fab_max_min *solver) {
    if (solver == NULL) {
        return;
    }
    free(solver->links);
    free(solver->weight);
    free(solver->summed);
    free(solver->first);
    free(solver->flow);
    free(solver->flow_share);
    free(solver->records);
    free(solver->crossings);
    free(solver->chunks);
    free(solver->stopped);
    free(solver->waiting);
    free(solver->heap);
    free(solver->ready);
    free(solver->check);
    free(solver->certified);
    free(solver);
}

fab_status fill_check_room(fab_max_min *solver, uint32_t n_links, link_check **out, double **out_level,
                           fab_error *err) {
    fab_status status = FAB_OK;
    FAB_TRY(ROOM_GROW(solver->check, solver->check_room, (size_t)n_links + 1, err));
    FAB_TRY(ROOM_GROW(solver->certified, solver->certified_room, (size_t)n_links + 1, err));
    *out = solver->check;
    *out_level = solver->certified;
done:
    return status;
}

fab_status solver_make_room(fab_max_min *m, const fab_sharing *s, bool general, uint32_t n_buckets, fab_error *err) {
    fab_status status = FAB_OK;
    size_t n_ids = (size_t)s->n_links + (s->limit != NULL ? s->n_flows : 0);
    size_t n_entries = (size_t)(s->first[s->n_flows] - s->first[0]);
    if (n_ids >= NO_LINK || n_entries >= UINT32_MAX) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL,
                 "%zu links and limits, %zu crossings of flows and links; at most %u of each can be solved at once",
                 n_ids, n_entries, NO_LINK - 1);
    }
    FAB_TRY(ROOM_GROW(m->links, m->links_room, n_ids + 1, err));
    FAB_TRY(ROOM_GROW(m->first, m->first_room, (size_t)s->n_links + 1, err));
    FAB_TRY(ROOM_GROW(m->flow, m->flow_room, n_entries + 1, err));
    FAB_TRY(ROOM_GROW(m->crossings, m->crossings_room, n_entries + 1, err));
    FAB_TRY(ROOM_GROW(m->stopped, m->stopped_room, (size_t)s->n_flows / 64 + 1, err));
    FAB_TRY(ROOM_GROW(m->records, m->records_room, (size_t)s->n_flows + 1, err));
    FAB_TRY(ROOM_GROW(m->chunks, m->chunks_room, n_ids / CHUNK_LINKS + n_buckets + 2, err));
    FAB_TRY(ROOM_GROW(m->heap, m->heap_room, n_ids + 1, err));
    FAB_TRY(ROOM_GROW(m->waiting, m->waiting_room, n_ids + 1, err));
    FAB_TRY(ROOM_GROW(m->ready, m->ready_room, n_ids + 1, err));
    if (general) {
        FAB_TRY(ROOM_GROW(m->weight, m->weight_room, n_ids + 1, err));
        FAB_TRY(ROOM_GROW(m->summed, m->summed_room, n_ids + 1, err));
    }
    if (s->share != NULL) {
        FAB_TRY(ROOM_GROW(m->flow_share, m->flow_share_room, n_entries + 1, err));
    }
done:
    return status;
}

#define MAX_RANGES  512U
#define RANGE_SHIFT 11 /* at least 2^this links to a range */

static uint32_t range_shift(uint32_t n_links) {
    uint32_t shift = RANGE_SHIFT;
    while (n_links >> shift >= MAX_RANGES) {
        shift++;
    }
    return shift;
}

static fab_status name_bad_link(const fab_sharing *s, fab_error *err) {
    for (uint32_t f = 0; f < s->n_flows; f++) {
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            if (s->link[e] >= s->n_links) {
                return fab_fail(err, FAB_EINPUT, NULL, "flow %u crosses link %u; there are %u", f, s->link[e],
                                s->n_links);
            }
        }
    }
    return FAB_OK;
}

/* Whether links exist, and how many crossings each range gets. */
static fab_status count_crossings(const fab_sharing *s, uint32_t shift, uint32_t *count, fab_error *err) {
    uint32_t largest = 0;
    for (uint64_t e = s->first[0]; e < s->first[s->n_flows]; e++) {
        largest = s->link[e] > largest ? s->link[e] : largest;
    }
    if (largest >= s->n_links && s->first[0] < s->first[s->n_flows]) {
        return name_bad_link(s, err);
    }
    for (uint64_t e = s->first[0]; e < s->first[s->n_flows]; e++) {
        count[s->link[e] >> shift]++;
    }
    return FAB_OK;
}

/* The links of every flow, with the one past the last where there are fewer: nobody looks at it. */
static void make_records(fab_max_min *m, const fab_sharing *s) {
    uint32_t nowhere = s->n_links + (s->limit != NULL ? s->n_flows : 0);
    for (uint32_t f = 0; f < s->n_flows; f++) {
        uint64_t begin = s->first[f];
        uint64_t n = s->first[f + 1] - begin;
        uint32_t *link = m->records[f].link;
        if (n > RECORD_LINKS || s->share != NULL) {
            link[0] = NO_LINK;
        } else if (begin + RECORD_LINKS <= s->first[s->n_flows]) {
            for (uint32_t i = 0; i < RECORD_LINKS; i++) {
                uint32_t l = s->link[begin + i];
                link[i] = i < n ? l : nowhere;
            }
        } else {
            for (uint32_t i = 0; i < RECORD_LINKS; i++) {
                link[i] = i < n ? s->link[begin + i] : nowhere;
            }
        }
    }
    m->links[nowhere] = (link_state){.left = INFINITY};
}

/* Crossings by range, in the order of the flows. */
static void deal_out(fab_max_min *m, const fab_sharing *s, uint32_t shift, uint32_t *at) {
    for (uint32_t f = 0; f < s->n_flows; f++) {
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            uint32_t l = s->link[e];
            m->crossings[at[l >> shift]++] = (crossing){l, f};
        }
    }
}

static double share_of(const fab_sharing *s, uint32_t f, uint32_t l) {
    uint64_t e = s->first[f];
    while (s->share != NULL && s->link[e] != l) {
        e++;
    }
    return s->share != NULL ? s->share[e] : 1;
}

/* Counts and sorts the crossings begin ... end - 1 of links lowest ... past - 1, whose first is a mark until then. */
static fab_status sort_range(fab_max_min *m, const fab_sharing *s, bool general, uint32_t lowest, uint32_t past,
                             uint32_t begin, uint32_t end, fab_error *err) {
    for (uint32_t i = begin; i < end; i++) {
        crossing c = m->crossings[i];
        if (m->first[c.link] == c.flow + 1) {
            return fab_fail(err, FAB_EINPUT, NULL, "flow %u names link %u twice; once is enough", c.flow, c.link);
        }
        m->first[c.link] = c.flow + 1;
        m->links[c.link].n++;
        if (general) {
            m->weight[c.link] += (s->weight != NULL ? s->weight[c.flow] : 1) * share_of(s, c.flow, c.link);
        }
    }
    uint32_t at = begin;
    for (uint32_t l = lowest; l < past; l++) {
        m->first[l] = at;
        at += m->links[l].n;
    }
    for (uint32_t i = begin; i < end; i++) {
        crossing c = m->crossings[i];
        uint32_t place = m->first[c.link]++;
        m->flow[place] = c.flow;
        if (s->share != NULL) {
            m->flow_share[place] = share_of(s, c.flow, c.link);
        }
    }
    return FAB_OK;
}

static void add_limits(fab_max_min *m, const fab_sharing *s, bool general) {
    for (uint32_t f = 0; s->limit != NULL && f < s->n_flows; f++) {
        m->links[s->n_links + f] = (link_state){.left = s->limit[f], .n = 1};
        if (general) {
            m->weight[s->n_links + f] = s->weight != NULL ? s->weight[f] : 1;
        }
    }
}

fab_status solver_index(fab_max_min *m, const fab_sharing *s, bool general, fab_error *err) {
    fab_status status = FAB_OK;
    uint32_t shift = range_shift(s->n_links);
    uint32_t n_ranges = (s->n_links >> shift) + 1;
    uint32_t at[MAX_RANGES + 1] = {0};
    for (uint32_t l = 0; l < s->n_links; l++) {
        m->links[l] = (link_state){.left = s->capacity[l]};
        m->first[l] = 0;
    }
    if (general) {
        memset(m->weight, 0, s->n_links * sizeof *m->weight);
        m->weight[s->n_links + (s->limit != NULL ? s->n_flows : 0)] = 0;
    }
    FAB_TRY(count_crossings(s, shift, at, err));
    make_records(m, s);
    uint32_t begin = 0;
    for (uint32_t r = 0; r < n_ranges; r++) {
        uint32_t count = at[r];
        at[r] = begin;
        begin += count;
    }
    deal_out(m, s, shift, at);
    for (uint32_t r = 0; r < n_ranges; r++) {
        uint32_t lowest = r << shift;
        uint32_t past = s->n_links - lowest < 1U << shift ? s->n_links : lowest + (1U << shift);
        FAB_TRY(sort_range(m, s, general, lowest, past, r > 0 ? at[r - 1] : 0, at[r], err));
    }
    for (uint32_t l = s->n_links; l > 0; l--) { /* first[l] is where l ends, which is where l + 1 begins */
        m->first[l] = m->first[l - 1];
    }
    m->first[0] = 0;
    add_limits(m, s, general);
done:
    return status;
}
