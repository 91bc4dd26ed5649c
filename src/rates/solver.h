/**
 * @file solver.h
 * Memory of a solver, and the flows by link.
 */
#ifndef SOLVER_H
#define SOLVER_H

#include "fill.h"

#include <stdbool.h>
#include <stddef.h>

#define NO_LINK UINT32_MAX

typedef struct link_state {
    double left; /* capacity that stopped flows do not take */
    uint32_t n;  /* flows that still grow */
} link_state;

/* The links of a flow in half a cache line, filled up with the one past the last of the solver; NO_LINK first where
 * there are more, or where shares count. */
#define RECORD_LINKS 8
typedef struct flow_record {
    uint32_t link[RECORD_LINKS];
} flow_record;

/* A flow crosses a link. */
typedef struct crossing {
    uint32_t link, flow;
} crossing;

/* Links that wait in a bucket, the newest chunk first. */
#define CHUNK_LINKS 14
typedef struct chunk {
    uint32_t n, next;
    uint32_t link[CHUNK_LINKS];
} chunk;

typedef struct queued {
    double level;
    uint32_t link;
} queued;

struct fab_max_min {
    link_state *links; /* of the sharing, then one per limited flow */
    double *weight;    /* of the flows that still grow, per link; not kept where every weight and share is 1 */
    double *summed;    /* the same when it was last summed afresh */
    uint32_t *first;   /* flows by link: flow[first[l]] ... flow[first[l + 1] - 1] */
    uint32_t *flow;
    double *flow_share;
    flow_record *records;
    crossing *crossings; /* while the index is made */
    chunk *chunks;
    uint64_t *stopped; /* bit set of flows */
    uint32_t *waiting; /* links of a bucket that is taken apart */
    queued *heap, *ready;
    link_check *check;
    double *certified;
    size_t links_room, weight_room, records_room, chunks_room, summed_room, first_room, flow_room, flow_share_room,
        stopped_room, heap_room, waiting_room, crossings_room, ready_room, check_room, certified_room;
};

/** Room for everything that filling a sharing needs. `general`: not every weight and share is 1. */
fab_status solver_make_room(fab_max_min *m, const fab_sharing *s, bool general, uint32_t n_buckets,
                            fab_error *err) FAB_MUST_USE;

/**
 * Flows by link in increasing order, with their number, shares and weight; records of all flows; limits as links.
 * @retval FAB_EINPUT  a link that does not exist, or twice in a flow
 */
fab_status solver_index(fab_max_min *m, const fab_sharing *s, bool general, fab_error *err) FAB_MUST_USE;

#endif
