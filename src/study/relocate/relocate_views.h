/**
 * Phases while placements are tried: what searches look at, and relocate_eval.c, relocate_start.c and
 * relocate_contenders.c change.
 */
#pragma once

#include "relocate_eval.h"

#define FULLEST 256 /* links that are kept by how full they are without the lost servers */

typedef struct full_link {
    double ratio;
    fab_link_id link;
} full_link;

/* What a phase offers to the network. */
typedef struct tally {
    int64_t n_cut, n_collisions;
    double excess;
} tally;

/* A phase with flows in the network. */
typedef struct relocate_view {
    const fab_baseline *baseline;
    fab_reroute *reroute;
    uint32_t weight; /* phases that are this one: each counts */
    double unit_s;   /* time that the NICs need for the bytes of one: seconds per ratio of 1, from 1 on */
    bool is_separable;
    tally healthy; /* on the healthy fabric */

    /* Flow by flow. */
    const double *rest; /* loads without the lost servers; the reroute's */
    double *more;       /* shape [n_links]: what those that are somewhere add */
    tally now;
    full_link top[FULLEST]; /* of rest */
    uint32_t n_top;
    uint8_t *is_raised;  /* shape [n_links]: is in the list */
    fab_link_id *raised; /* links that have had more than rest */
    size_t n_raised, raised_capacity;
    uint32_t stamp, *link_stamp; /* shape [n_links]: of the change that touched it last */
    fab_link_id *touched;
    double *before; /* what was on top */
    size_t n_touched, touched_capacity, before_capacity;
    tally kept;
    uint32_t flow_mark, *flow_stamp; /* shape [n_flows] */
} relocate_view;

struct relocate_eval {
    const fab_relocator *r;
    const fab_fabric *f;
    const fab_mask *mask;
    relocate_view *views;
    size_t n_views;
    bool is_separable; /* all phases are looked at flow by flow */
    double allowed_s;  /* beyond it, by more than rounding, a placement is late */
    double work;       /* links of paths that trying a placement goes through, about */
    double *per_bps;   /* shape [n_links]: 1 / capacity of network links, 0 of others */
    uint32_t *at;      /* shape [n_servers]: where the ranks of a server are; FAB_NONE: nowhere */
    uint32_t *new_gpu; /* shape [n_gpus]: the same by GPU */
    uint32_t *away;    /* shape [n_away]: servers whose ranks have been elsewhere */
    uint8_t *is_away;  /* shape [n_servers]: is in the list */
    uint32_t n_away;
    uint8_t *is_lost;    /* shape [n_servers] */
    uint32_t *gpus;      /* shape [n_gpus]: a list while it is needed */
    uint32_t *still_gpu; /* shape [n_gpus]: in full, those that are nowhere stay where they are */
    uint32_t *flow;      /* a list while it is needed */
    size_t flow_capacity;
    uint32_t *kept_at; /* shape [n_servers] */
};

static inline double relocate_view_load(const relocate_view *v, fab_link_id link) {
    return v->rest[link] + v->more[link];
}

static inline double ratio_at(const relocate_eval *e, fab_link_id link, double load) {
    double residual = e->mask->residual[link];
    return residual > 0 ? load * e->per_bps[link] / residual : 0;
}

/* Counts a link, or takes it away. */
static inline void count(tally *t, double ratio, int sign) {
    if (ratio > RELOCATE_COLLIDED) {
        t->n_collisions += sign;
        t->excess += sign * (ratio - 1);
    }
}

static inline void next_stamp(const relocate_eval *e, relocate_view *v) {
    if (++v->stamp == 0) { /* after 2^32 changes */
        memset(v->link_stamp, 0, e->f->n_links * sizeof *v->link_stamp);
        v->stamp = 1;
    }
}

static inline uint32_t first_gpu(const relocate_eval *e, uint32_t server) {
    return server * e->f->gpus_per_server;
}

static inline uint32_t end_gpu(const relocate_eval *e, uint32_t server) {
    uint32_t end = first_gpu(e, server) + e->f->gpus_per_server;
    return end < fab_n_gpus(e->f) ? end : fab_n_gpus(e->f);
}

/** Largest ratio of a separable phase, as it is set. */
double relocate_view_worst(const relocate_eval *e, const relocate_view *v);

/** The ranks of a server are at another, or nowhere. */
void relocate_view_put(relocate_eval *e, uint32_t server, uint32_t to);

/** Lists in e->flow the flows of servers that change, each once, whose ends are both somewhere. */
FAB_STATUS relocate_view_list(relocate_eval *e, relocate_view *v, const relocate_change *changes, size_t n,
                              size_t *out_n, fab_error *err);

/** Puts the first n_flows of e->flow on (1), or takes them off (-1), as they are now. */
FAB_STATUS relocate_view_shift(relocate_eval *e, relocate_view *v, size_t n_flows, int sign, fab_error *err);

/** Takes back what was shifted since the last stamp, and the servers to e->kept_at. */
void relocate_view_undo(relocate_eval *e, const relocate_change *changes, size_t n);

/* What relocate_search.c and relocate_exact.c look for. */
typedef struct relocate_search {
    fab_relocator *r;
    relocate_eval *e;
    uint64_t budget, n_tried;
    relocate_score score; /* of what is set */
    uint32_t *best;       /* shape [n_lost]: the best assignment so far */
    relocate_score best_score;
    bool has_best, is_optimal;
} relocate_search;

/** Sets an assignment of all lost servers. */
FAB_STATUS relocate_search_set(relocate_search *s, const uint32_t *to, fab_error *err);

/**
 * Looks for the best assignment of spares to at least two lost servers by an integer program, where that is small:
 * fewest collisions, then the lowest ratio. Sets what it finds if that is better, and says whether the best is proved
 * to be.
 */
FAB_STATUS relocate_search_exactly(relocate_search *s, fab_error *err);
