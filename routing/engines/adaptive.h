/** Inside of engine adaptive: parts of flows while they are placed. */
#pragma once

#include "router.h"

enum { AFTER_UNKNOWN, AFTER_FORCED, AFTER_OPEN };

/* Parts of a flow between the same NIC ports. */
typedef struct record {
    uint32_t src, dst; /* switch indexes of the leaves */
    uint32_t end;      /* place in `ends` of its n_head links before the source leaf, and n_tail behind the other */
    uint32_t n_parts;
    uint8_t n_head, n_tail;
    bool is_found;
    uint8_t after; /* what is left of the way behind the first switch: enum */
    double part_bps;
} record;

typedef struct port {
    double load_bps;
    double per_bps; /* 1 / capacity */
} port;

/* What a part has found out about W, the largest utilisation on its best path from a switch on. */
typedef struct prospect {
    uint32_t stamp; /* of the part */
    enum { W_IS, W_AT_MOST, W_ABOVE } kind;
    double value;
} prospect;

/* A part at a switch: its place in the order of arrivals, and its path. */
typedef struct waiting {
    uint32_t turn, path;
} waiting;

typedef struct placing {
    const fab_router *router;
    uint64_t seed, seed_key; /* the latter mixed, for draws */
    port *ports;             /* shape [n_links]: one at the tail of every link */
    record *records;         /* shape [n_records]: those of a flow, flow by flow */
    size_t n_records;
    fab_link_id *ends;   /* shape [n_ends]: links of records that no switch chooses */
    uint8_t *is_lost;    /* shape [records of a flow]: of the flow at hand */
    uint32_t *record_of; /* shape [n_paths]; NULL: that of path i is i / paths_per_flow */
    uint32_t *order;     /* shape [n_paths]: parts as they arrive; once all are placed, of path n the first part */
    size_t n_paths, n_ends, end_capacity;
    uint32_t most_hops; /* cables between the leaves of a record */
    fab_link_id *
        *chosen;       /* shape [most_hops][n_paths]: the link of this hop, where there was a choice; NULL: none had */
    uint32_t n_chosen; /* hops with a choice */
    uint32_t mask;
    uint32_t *place;       /* shape [mask + 1]: open table of paths that are written, + 1 */
    prospect *prospects;   /* shape [n_switches]; view=downstream */
    uint32_t *at;          /* shape [n_paths]: switch index + 1 by order, 0 where the rest is forced; view=local, as the
                              next four */
    size_t n_left;         /* whose rest is not forced */
    waiting *queue;        /* shape [n_paths]: switch by switch, in order */
    uint32_t *queue_first; /* shape [n_switches + 2] */
    uint32_t *first_at;    /* shape [n_records]: their first switch, n_switches where there is nothing to choose */
    uint8_t *is_choice;    /* shape [n_links]: some part may take this link or another one */
    struct {
        fab_next_hop_list of; /* these next hops */
        double bps, least;    /* utilisation with a part of this size */
        double *own;          /* shape [of.count]: of each, while those with the least are found */
        fab_link_id *link;    /* shape [n]: those with the least; room for those of any switch, as in `own` */
        uint32_t n;
    } tied; /* as the last part at this switch has left them; n is 0 where they are not known */
} placing;

static inline uint32_t number_of_record(const placing *p, uint32_t path) {
    return p->record_of != NULL ? p->record_of[path] : path / p->router->facts.paths_per_flow;
}

static inline record *record_of(const placing *p, uint32_t path) {
    return &p->records[number_of_record(p, path)];
}

/* Of its destination leaf. */
static inline uint32_t column_of(const fab_router *router, const record *t) {
    return router->next_hops->leaf_index[t->dst];
}

static inline uint32_t switch_behind(const placing *p, fab_link_id link) {
    return fab_head(p->router->fabric, link) - p->router->fabric->first[FAB_NODE_SWITCH];
}

/** All parts go hop by hop, at every switch in the order of their arrival (view=local). */
FAB_STATUS fab_adaptive_place_by_ports(placing *p, fab_error *err);

/** One part after the other, each over its whole path (view=downstream). */
FAB_STATUS fab_adaptive_place_by_paths(placing *p, fab_error *err);
