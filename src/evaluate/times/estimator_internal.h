/** Inside of phase_estimator.c, estimator_*.c and split_estimator.c. */
#pragma once

#include "fab/phase_estimator.h"

/* Bounds this close agree. */
#define ESTIMATOR_CLOSE 1e-11

/* What paths offer to a link. */
typedef struct estimator_load {
    double bits;
    double weight; /* of a path: its part of its flow */
    double most;   /* largest bits / weight of a path, or more */
    double limit;  /* with less than these bits, a little less than estimator.heavy_s takes, it is none of the heavy */
} estimator_load;

/* Links by the seconds that they need on the healthy fabric, the slowest first. */
typedef struct estimator_order {
    uint32_t n;
    fab_link_id *link;
    double *s;
} estimator_order;

/* How many paths have which latency; of those in the network. */
typedef struct estimator_latencies {
    double *s; /* [n], descending */
    uint32_t *n_with;
    size_t n, s_capacity, with_capacity;
} estimator_latencies;

struct fab_estimator {
    fab_estimator_request request;
    uint32_t n_paths;
    uint32_t *flow_of; /* [path] */
    double *bits;      /* [flow] */
    double *capacity;  /* [link] healthy; INFINITY of a PCIe link that is no slower than its NIC, as replays have it */
    estimator_load *load; /* [link] */
    double *relayed;      /* [link]: bits relayed before they are sent; NULL: nothing is */
    double relay_s;
    bool is_even;       /* flows have equal bytes: the bounds are one */
    bool is_flat;       /* paths between the same ends with as many links are as long */
    double s_per_ratio; /* even flows whose offered rates are in proportion: seconds of a network link per load over
                           capacity; 0: they are not */
    double inside_s;    /* of the slowest link inside servers */
    estimator_order by_bits;   /* bits / capacity */
    estimator_order by_shares; /* weight x most / capacity; empty where flows are even */
    size_t *first;             /* [link + 1]: paths over it are crossing[first[l] ... ); NULL where flows are even */
    uint32_t *crossing;
    double heavy_s; /* few links need longer on the healthy fabric, by their bits or their shares */
    estimator_latencies latencies;
    double *limit_bps;   /* [flow]: what its receiver's window lets it have; NULL: no windows */
    double most_limit_s; /* that one of them makes its flow last */
    double packets_s;    /* transfer_s of the healthy fabric with lossless queues */
};

/* Links that need longer than estimator.heavy_s, followed while loads change: no other need be looked at for the
 * longest, as long as that is one of them. */
typedef struct estimator_heavy {
    uint32_t *at; /* [link]: place in `link`, + 1; 0: not there; NULL: they are not followed */
    fab_link_id *link;
    size_t n, capacity;
} estimator_heavy;

struct fab_estimator_reader {
    const fab_estimator *estimator;
    estimator_load *load; /* [link] */
    double *relayed;      /* [link] */
    bool is_dirty;        /* all of these */
    bool is_renewed;      /* they were added up anew */
    fab_link_id *changed; /* may repeat */
    size_t n_changed, changed_capacity;
    estimator_heavy heavy;
    uint32_t *gone; /* [latency]: paths that no longer have it */
    uint32_t *gone_list;
    size_t n_gone, gone_capacity;
    /* of a phase looked at as a whole; allocated when needed */
    fab_routes routes;
    uint32_t *slot;      /* [path]: place among those that were touched, FAB_NONE for others */
    uint32_t *candidate; /* [link]: place among links where bounds do not agree, FAB_NONE for others */
    double *part, *path_bits, *limit, *finish_s; /* [path] */
    double *limit_bps;                           /* [flow] */
    double *capacity;                            /* [link] */
    uint64_t *path_first;
    struct estimator_runner *runner;
    size_t runner_capacity, path_list_capacity;
    uint32_t *path_list;
};

/* Residual capacity of a link, as replays count it. */
double estimator_capacity(const fab_estimator *estimator, const fab_mask *mask, fab_link_id link);

/* Seconds of a link's bits; 0 of a dead one, which nobody crosses. */
static inline double estimator_bits_s(const estimator_load *load, double capacity) {
    return capacity > 0 ? load->bits / capacity : 0;
}
static inline double estimator_shares_s(const estimator_load *load, double capacity) {
    return capacity > 0 ? load->weight * load->most / capacity : 0;
}

/* Latency of a path that leaves its scale-up domain; below 0 of one that does not. */
double estimator_latency(const fab_fabric *f, const fab_link_id *link, size_t n);

/* Adds (or takes away, sign -1) a path of a flow, which goes over these links. */
void estimator_add_path(const fab_estimator *estimator, estimator_load *load, double *relayed, uint32_t flow,
                        uint32_t path, const fab_link_id *link, size_t n, double sign);

/* What windows let flows have at the moment; NULL: as much as they like. */
static inline const double *estimator_limits(const fab_estimator_reader *t) {
    return t->is_renewed ? t->limit_bps : t->estimator->limit_bps;
}

/* What windows let flows have over reader->routes. */
FAB_STATUS estimator_renew_limits(fab_estimator_reader *reader, fab_error *err);

/* Whether what links carry is the same in whichever order it is added up. */
bool estimator_is_exact(const fab_estimator *estimator);

/* What no less, and what no more time is needed than. */
typedef struct estimator_bounds {
    double least_s, most_s;
} estimator_bounds;

/* Of reader->load where only reader->changed and what the mask has differ from the healthy fabric. */
estimator_bounds estimator_bound(const fab_estimator_reader *reader, const fab_mask *mask);

/* Puts a path of a flow on links of reader->load (takes it away, sign -1), and follows which are heavy. */
FAB_STATUS estimator_shift(fab_estimator_reader *reader, uint32_t flow, const fab_link_id *link, size_t n, double sign,
                           fab_error *err);

/* After another change of a link's load. */
FAB_STATUS estimator_weigh(fab_estimator_reader *reader, fab_link_id link, fab_error *err);

/* Loads of the healthy fabric, and its heavy links. */
FAB_STATUS estimator_clear(fab_estimator_reader *reader, fab_error *err);

/* Whether links that are not heavy need no longer than this. */
static inline bool estimator_knows_longest(const fab_estimator_reader *t, double s) {
    return t->heavy.at != NULL && s >= t->estimator->heavy_s;
}

/* So many paths more, or fewer, have a latency; below 0 it is none of the network. */
FAB_STATUS estimator_count_latency(estimator_latencies *counts, double s, int32_t change, fab_error *err);

/* Those of the healthy fabric. */
FAB_STATUS estimator_copy_latencies(estimator_latencies *to, const estimator_latencies *from, fab_error *err);

/* Below 0: no path is in the network. */
static inline double estimator_longest_latency(const estimator_latencies *counts) {
    FAB_FIRST(i, counts->n, counts->n_with[i] != 0);
    return i < counts->n ? counts->s[i] : -1;
}

/* Whether all flows end within least_s x (1 + ESTIMATOR_CLOSE), found from the links where shares alone leave it open.
 * False: not known. */
FAB_STATUS estimator_settle(fab_estimator_reader *reader, const fab_mask *mask, const fab_rerouted *rerouted,
                            double least_s, bool *out_agree, fab_error *err);

/* All paths as they are now, to reader->routes. */
FAB_STATUS estimator_assemble(fab_estimator_reader *reader, const fab_rerouted *rerouted, fab_error *err);

/* Seconds until the last flow is done, by simulation of reader->routes; least_s: that the fullest link needs. */
FAB_STATUS estimator_simulate(fab_estimator_reader *reader, const fab_mask *mask, double least_s, double *out_s,
                              fab_error *err);

/* Of other routes than the estimator's, in which flows may have other numbers of paths, or none: by an estimator of its
 * own. `flows`, where it is not NULL, in place of `out`. */
FAB_STATUS estimator_read_routes(const fab_estimator *estimator, const fab_mask *mask, const fab_routes *routes,
                                 double *ends_s, fab_state_flows *flows, fab_phase_seconds *out, fab_error *err);
