/**
 * @file incremental_state.h
 * What fab_incremental_apply() works on. Levels are rates per weight; a part is what a flow takes of a link per level.
 */
#ifndef INCREMENTAL_STATE_H
#define INCREMENTAL_STATE_H

#include "fab/incremental.h"
#include "fill.h"

#include <math.h>

#define INCREMENTAL_NONE UINT32_MAX

/* A flow of the base, in one cache line. The links that others cross too come first, because what happens on those that
 * it has alone is known without a look at them: `alone` is the level that they and its limit leave it. */
#define INCREMENTAL_NEAR 6
typedef struct incremental_flow {
    double rate, level, alone;
    uint64_t first; /* its links are hop[first] ... */
    uint32_t n_hops, n_shared;
    uint32_t near[INCREMENTAL_NEAR]; /* the first of them */
} incremental_flow;

struct fab_rates_base {
    fab_sharing sharing;
    double *rate;
    uint32_t *bottleneck;
    incremental_flow *flows;
    uint32_t *hop;
    double *hop_part;   /* of the same shape; NULL: 1 */
    double *full;       /* per link: the level at which it is full, INFINITY where it is not */
    uint32_t *on_first; /* the flows that cross link l are on[on_first[l]] ... on[on_first[l + 1] - 1] */
    uint32_t *on;
    double *on_part;   /* of the same shape; NULL: 1 */
    uint32_t *by_rate; /* the flows, slowest first, then by number */
    double sum;        /* of finite rates */
    uint32_t n_infinite;
    uint32_t most_on; /* flows of the link with the most */
};

enum { /* of a link */
       INCREMENTAL_TOUCHED = 1,
       INCREMENTAL_STALE = 2, /* `now` must be found again */
       INCREMENTAL_STOPS = 4, /* waits: at the level `now` it will stop the flows that have more */
       INCREMENTAL_RELEASES =
           8, /* waits: at the level `full` it will let go of the flows that are bottlenecked at it */
       INCREMENTAL_RESIZED = 16, /* has another capacity than in the base */
       INCREMENTAL_AGAIN = 32    /* a flow that grew has reached another full link first */
};

/* In one cache line too. */
#define INCREMENTAL_NEAR_FLOWS 5
typedef struct incremental_link {
    double capacity;
    double full;       /* the level from which flows are there because of this link */
    double now;        /* the level at which it is full, given the levels of its flows; meaningless where n_on is 1 */
    uint32_t n_on;     /* flows that cross it */
    uint32_t n_listed; /* of the base: on[listed] ..., those that have left among them */
    uint32_t listed;
    uint32_t come; /* the first crossing of a flow that was not there in the base, or INCREMENTAL_NONE */
    uint32_t state;
    uint32_t near[INCREMENTAL_NEAR_FLOWS]; /* the first of the list */
} incremental_link;

/* A link that differs from the base, and what it was there. */
typedef struct incremental_touched {
    uint32_t link, n_on;
    double capacity, full;
} incremental_touched;

/* A flow that has come to a link. */
typedef struct incremental_crossing {
    double part;
    uint32_t flow, next;
} incremental_crossing;

enum {                          /* of a flow */
       INCREMENTAL_DIFFERS = 1, /* it may have another level than in the base */
       INCREMENTAL_NOT_ALONE =
           2, /* one that it had alone in the base may be shared, or have another capacity: look at all */
       INCREMENTAL_GROWS = 4 /* has not reached a full link yet */
};

/* Where a flow goes. */
#define INCREMENTAL_STAYS 0U
#define INCREMENTAL_LOST  1U
#define INCREMENTAL_MOVED 2U /* + i: as the changes say of flow[i] */

typedef struct incremental_now {
    double level; /* 0: lost, or moved and not yet on its links */
    uint32_t place;
    uint32_t state;
} incremental_now;

/* The links of a flow that must be looked at, and the level that its limit and its other links leave it. */
typedef struct incremental_path {
    const uint32_t *link;
    const double *part; /* NULL: 1 */
    size_t n;
    double alone;
} incremental_path;

typedef struct incremental_event {
    double level;
    uint32_t link;
} incremental_event;

struct fab_incremental {
    const fab_rates_base *base;
    const fab_rate_changes *changes; /* while they are applied */
    incremental_now *flows;
    incremental_link *links;
    uint32_t *differs; /* the flows that have a state */
    incremental_touched *touched;
    uint32_t *stale;
    double *top; /* per link that is stale: the largest level of those of its flows that do not grow */
    uint32_t *growing;
    uint32_t n_differs, n_touched, n_stale, n_growing;
    uint32_t n_lost;
    incremental_crossing *crossings;
    double *moved_part;        /* by entry of the changes; not kept where all parts are 1 */
    incremental_event *events; /* a heap */
    double *found, *part;      /* levels and parts of the flows of one link */
    uint64_t n_looked;         /* at crossings */
    size_t n_crossings, n_events;
    size_t crossings_capacity, moved_capacity, events_capacity, found_capacity, part_capacity;
    uint32_t *held;    /* flows to be looked at by the check */
    uint32_t *changed; /* what is handed out */
    double *rate;
    struct incremental_full *whole; /* for solving everything again; made when it is needed first */
};

static inline double incremental_limit_level(const fab_sharing *s, uint32_t flow) {
    double weight = s->weight != NULL ? s->weight[flow] : 1;
    return s->limit != NULL ? s->limit[flow] / weight : INFINITY;
}

static inline incremental_path incremental_path_of(const fab_incremental *r, uint32_t flow) {
    const fab_rates_base *b = r->base;
    const incremental_now *now = &r->flows[flow];
    if (now->place < INCREMENTAL_MOVED) {
        const incremental_flow *f = &b->flows[flow];
        const double *part = b->hop_part != NULL ? b->hop_part + f->first : NULL;
        if ((now->state & INCREMENTAL_NOT_ALONE) == 0) {
            return (incremental_path){f->n_shared <= INCREMENTAL_NEAR ? f->near : b->hop + f->first, part, f->n_shared,
                                      f->alone};
        }
        return (incremental_path){b->hop + f->first, part, f->n_hops, incremental_limit_level(&b->sharing, flow)};
    }
    const size_t *first = r->changes->first + (now->place - INCREMENTAL_MOVED);
    return (incremental_path){r->changes->link + first[0], b->hop_part != NULL ? r->moved_part + first[0] : NULL,
                              first[1] - first[0], incremental_limit_level(&b->sharing, flow)};
}

/** The level at which a flow alone fills a link of its path. */
static inline double incremental_alone(const fab_incremental *r, const incremental_path *path, size_t i) {
    double capacity = r->links[path->link[i]].capacity;
    return path->part == NULL ? capacity : capacity / path->part[i];
}

/** Whether a rate or level is so close to that of the base that it stays. */
static inline bool incremental_is_same(double now, double before) {
    return now == before || (isfinite(before) && fabs(now - before) <= FILL_TIE * before);
}

/** Level and part of a flow that has moved on a link of the base, which it may still cross; 0 where it does not. */
double incremental_moved_level_on(const fab_incremental *incremental, uint32_t link, uint32_t flow, double *out_part);

/** The flows of the base on a link. */
static inline const uint32_t *incremental_listed(const fab_incremental *r, const incremental_link *link) {
    return link->n_listed <= INCREMENTAL_NEAR_FLOWS ? link->near : r->base->on + link->listed;
}

/** Level and part of flow i of its list. */
static inline double incremental_level_on(const fab_incremental *r, uint32_t link, const uint32_t *list, uint32_t i,
                                          double *out_part) {
    const incremental_now *flow = &r->flows[list[i]];
    if (flow->place >= INCREMENTAL_MOVED) {
        return incremental_moved_level_on(r, link, list[i], out_part);
    }
    *out_part = r->base->on_part != NULL ? r->base->on_part[r->links[link].listed + i] : 1;
    return flow->level;
}

/**
 * The level at which a link is full, or INFINITY, that flows share which do not go beyond these levels.
 * n of level and part (NULL: 1).
 * @param[in] held  Flows of this level and more would go beyond it.
 */
double incremental_full_level(double capacity, double held, const double *level, const double *part, uint32_t n);

/** state: INCREMENTAL_DIFFERS or INCREMENTAL_NOT_ALONE. */
void incremental_touch_flow(fab_incremental *incremental, uint32_t flow, uint32_t state);
void incremental_touch_link(fab_incremental *incremental, uint32_t link);
/** Its flows have changed. */
void incremental_set_stale(fab_incremental *incremental, uint32_t link);
/** Room for the flows of the link with the most, those that come included. */
fab_status incremental_reserve(fab_incremental *incremental, fab_error *err) FAB_MUST_USE;
/** Gives a flow the level that its limit and the links that it has alone leave it. */
void incremental_grow(fab_incremental *incremental, uint32_t flow);

/**
 * Levels of all flows that what is stale reaches.
 * @param[out] out_settled  false: it reaches too many; the levels mean nothing then.
 */
fab_status incremental_settle(fab_incremental *incremental, bool *out_settled, fab_error *err) FAB_MUST_USE;

/** Whether the levels of what has changed, and of whom it held, are max-min fair. */
bool incremental_is_fair(fab_incremental *incremental);

/** Solves everything again, with the changes that are applied; the rate of every flow, 0 where it is lost. */
fab_status incremental_full_solve(fab_incremental *incremental, const double **out_rate, fab_error *err) FAB_MUST_USE;
void incremental_full_free(struct incremental_full *whole);

#endif
