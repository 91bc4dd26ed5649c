/** Memory of a solver: the links that can hold a flow, and the flows by link. */
#pragma once

#include "fab/max_min.h"
#include "queue.h"

/** Levels (rate per weight) closer than this, relatively, are one level: symmetric flows get the same bytes. */
#define FILL_TIE 1e-12
/** A link this close to its capacity, relatively, is full: ties leave that much on it. */
#define FILL_SLACK 1e-11

#define NO_LINK UINT32_MAX

/* A link that is kept, see solver_index(); their numbers have the order of those of the sharing. */
typedef struct link_state {
    double residual; /* capacity that stopped flows do not take */
    uint32_t n;      /* flows that still grow */
    uint32_t step;   /* at which the last of its flows stopped: at the level levels[step] */
} link_state;

/* The kept links of a flow and its rate in half a cache line, filled up with link n_kept, which holds nobody. Numbers
 * have 24 bits, so that the eight links of four tiers fit. */
#define RECORD_LINKS  8
#define RECORDS_AHEAD 16 /* records without links that follow the last: they may be asked for too */
typedef struct flow_record {
    double rate;
    uint16_t low[RECORD_LINKS];
    uint8_t high[RECORD_LINKS];
} flow_record;

static inline uint32_t record_link(const flow_record *record, uint32_t i) {
    return record->low[i] | (uint32_t)record->high[i] << 16;
}

static inline void record_set(flow_record *record, uint32_t i, uint32_t link) {
    record->low[i] = (uint16_t)link;
    record->high[i] = (uint8_t)(link >> 16);
}

/* First where a flow has more links, or where shares count, or where there are too many links for such numbers. */
#define RECORD_NONE 0xffffffU
static inline bool record_has_links(const flow_record *record) {
    return record_link(record, 0) != RECORD_NONE;
}

/* Flows that begin or end at a link, beside the same link `next`. */
typedef struct link_end {
    uint32_t n, next;
} link_end;

/* For the certificate. */
typedef struct link_check {
    double load;
    double level; /* from which the link holds a flow, INFINITY where it holds none; or the largest on it */
} link_check;

/* Links that wait in a bucket, the newest chunk first. */
#define CHUNK_LINKS 14
typedef struct chunk {
    uint32_t n, next;
    uint32_t link[CHUNK_LINKS];
} chunk;

struct fab_max_min {
    uint32_t n_kept;
    link_state *links; /* those kept, one that holds nobody, then one per limited flow */
    uint32_t *first;   /* the flows of kept link l are flow[first[l]] ... flow[first[l + 1] - 1] */
    double *levels;    /* per step: a level at which links were full */
    uint32_t *number;  /* in the sharing, per kept link */
    uint32_t *kept;    /* per link of the sharing: its number here, or NO_LINK */
    double *weight;    /* of the flows that still grow, per link; not kept where every weight and share is 1 */
    double *summed;    /* the same when it was last summed afresh */
    uint32_t *flow;
    double *flow_share;
    flow_record *records;
    uint32_t *n_flows; /* per link of the sharing; while the index is made, as the next three */
    link_end *ends;
    uint64_t *crossings;
    uint32_t *place; /* where the next flow of a link goes */
    chunk *chunks;
    uint64_t *stopped; /* bit set of flows */
    uint32_t *waiting; /* links of a bucket that is taken apart */
    queued *heap, *turns;
    link_check *check;
    flow_record no_flow; /* of links that hold nobody */
    size_t links_capacity, first_capacity, levels_capacity, number_capacity, kept_capacity, weight_capacity,
        records_capacity, chunks_capacity, summed_capacity, n_flows_capacity, ends_capacity, flow_capacity,
        flow_share_capacity, stopped_capacity, heap_capacity, waiting_capacity, crossings_capacity, turns_capacity,
        place_capacity, check_capacity;
};

/** Room for everything that filling a sharing needs. `general`: not every weight and share is 1. */
FAB_STATUS solver_reserve(fab_max_min *m, const fab_sharing *s, bool general, uint32_t n_buckets, fab_error *err);

/** Room for the certificate. */
FAB_STATUS solver_reserve_check(fab_max_min *m, fab_error *err);

/**
 * Flows by link in increasing order, with their number, shares and weight; records of all flows; limits as links.
 * Kept are the links that can hold a flow and be the lowest that does. The others are not crossed, have no end to their
 * capacity, or all of their flows cross another link that is full no later.
 * @retval FAB_EINPUT  a link twice in a flow
 */
FAB_STATUS solver_index(fab_max_min *m, const fab_sharing *s, bool general, fab_error *err);

/** Progressive filling, without looking at the result: rates are in the records of the solver then. */
FAB_STATUS fill_records(fab_max_min *solver, const fab_sharing *sharing, fab_error *err);
