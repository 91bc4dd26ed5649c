/**
 * @file clock_internal.h
 * Inside of phase_clock.c, clock_*.c and split_clock.c.
 */
#ifndef FAB_CLOCK_INTERNAL_H
#define FAB_CLOCK_INTERNAL_H

#include "fab/phase_clock.h"

/* Bounds this close have met. */
#define CLOCK_MET 1e-11

/* What paths ask of a link. */
typedef struct clock_load {
    double bits;
    double weight; /* of a path: 1 / paths of its flow */
    double most;   /* largest bits / weight of a path, or more */
} clock_load;

/* Links by the seconds that they need on the whole fabric, the slowest first. */
typedef struct clock_order {
    uint32_t n;
    fab_link_id *link;
    double *s;
} clock_order;

struct fab_clock {
    fab_clock_request request;
    uint32_t n_paths;
    uint32_t *flow_of; /* [path] */
    double *bits;      /* [flow] */
    double *capacity;  /* [link] whole; INFINITY of a PCIe link that is no slower than its NIC, as replays have it */
    clock_load *load;  /* [link] */
    double *handed;    /* [link]: bits handed over before they are sent; NULL: nothing is */
    double handed_s;
    bool is_even;          /* flows have equal bytes: the bounds are one */
    bool is_flat;          /* paths between the same ends with as many links are as long */
    double s_per_ratio;    /* even flows whose offered rates are in proportion: seconds of a network link per load over
                              capacity; 0: they are not */
    double inside_s;       /* of the slowest link inside servers */
    clock_order by_bits;   /* bits / capacity */
    clock_order by_shares; /* weight x most / capacity; empty where flows are even */
    size_t *first;         /* [link + 1]: paths over it are crossing[first[l] ... ); NULL where flows are even */
    uint32_t *crossing;
    double *latency_s; /* [n_latencies], descending, of paths in the network */
    uint32_t *n_with;  /* paths that have it */
    uint32_t n_latencies;
    double scale_up_s;   /* latency inside a scale-up domain */
    double *limit_bps;   /* [flow]: what its receiver's window lets it have; NULL: no windows */
    double most_limit_s; /* that one of them makes its flow last */
};

struct fab_clock_reader {
    const fab_clock *clock;
    clock_load *load;     /* [link] */
    double *handed;       /* [link] */
    bool is_dirty;        /* all of these */
    bool is_whole;        /* they were added up anew */
    fab_link_id *changed; /* may repeat */
    size_t n_changed, changed_capacity;
    uint32_t *gone; /* [latency]: paths that no longer have it */
    uint32_t *gone_list;
    size_t n_gone, gone_capacity;
    /* of a phase looked at as a whole; allocated when needed */
    fab_routes routes;
    uint32_t *slot;      /* [path]: place among those that were touched, FAB_NONE for others */
    uint32_t *candidate; /* [link]: place among links where bounds do not meet, FAB_NONE for others */
    double *part, *path_bits, *limit, *finish_s; /* [path] */
    double *limit_bps;                           /* [flow] */
    double *capacity;                            /* [link] */
    uint64_t *path_first;
    struct clock_runner *runner;
    size_t runner_capacity, path_list_capacity;
    uint32_t *path_list;
};

/* What is left of a link's capacity, as replays count it. */
double clock_capacity(const fab_clock *clock, const fab_mask *mask, fab_link_id link);

/* Seconds of a link's bits; 0 of a dead one, which nobody crosses. */
static inline double clock_bits_s(const clock_load *load, double capacity) {
    return capacity > 0 ? load->bits / capacity : 0;
}
static inline double clock_shares_s(const clock_load *load, double capacity) {
    return capacity > 0 ? load->weight * load->most / capacity : 0;
}

/* Latency of a path that leaves its scale-up domain; below 0 of one that does not. */
double clock_latency(const fab_fabric *f, const fab_link_id *link, size_t n);

/* Adds (or takes away, sign -1) a path of a flow. */
void clock_add_path(const fab_clock *clock, clock_load *load, double *handed, uint32_t flow, const fab_link_id *link,
                    size_t n, double sign);

/* What windows let flows have at the moment; NULL: as much as they like. */
static inline const double *clock_limits(const fab_clock_reader *t) {
    return t->is_whole ? t->limit_bps : t->clock->limit_bps;
}

/* Whether all flows end within least_s x (1 + CLOCK_MET), found from the links where shares alone leave it open. False:
 * not known. */
fab_status clock_settle(fab_clock_reader *reader, const fab_mask *mask, const fab_rerouted *rerouted, double least_s,
                        bool *out_met, fab_error *err) FAB_MUST_USE;

/* All paths as they are now, to reader->routes. */
fab_status clock_assemble(fab_clock_reader *reader, const fab_rerouted *rerouted, fab_error *err) FAB_MUST_USE;

/* Seconds until the last flow is done, by simulation of reader->routes. */
fab_status clock_simulate(fab_clock_reader *reader, const fab_mask *mask, double *out_s, fab_error *err) FAB_MUST_USE;

#endif
