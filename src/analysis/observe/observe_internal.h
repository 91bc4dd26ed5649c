/** Steps of an observation, in the order in which they are called. */
#pragma once

#include "fab/evaluate.h"
#include "fab/observe.h"

/** What stands between the steps. */
typedef struct observation {
    const fab_observe_request *request;
    const fab_fabric *fabric;
    const fab_traffic *traffic;
    fab_observed *out;
    /* observe_ports.c */
    uint32_t *port[2];  /**< shape [n_links]: port of the snapshot at the tail of the link; FAB_NONE */
    double *sent, *got; /**< shape [n_links]: bytes as the tail has sent them, as the head has got them; NAN */
    double *wait;       /**< shape [n_links]: ticks at the tail; NAN */
    uint64_t *errors;   /**< shape [n_links]: at the tail */
    /* observe_skew.c */
    double *measured; /**< shape [n_links]: both ends together, skew of reading taken out; NAN */
    double *gap;      /**< shape [n_links]: logarithm of got over sent, likewise; NAN unless both are known */
    bool *is_still;   /**< shape [n_links]: the tail has counted nothing of what the other end has */
    /* observe_predict.c */
    double *drawn;           /**< shape [n_draws][n_links]: bytes of an iteration */
    const double *predicted; /**< the draw that counts */
    double scale;            /**< iterations */
    /* observe_judge.c */
    double *deviation;        /**< shape [n_links]; NAN: not judged */
    double *host;             /**< shape [n_servers]: median over its links up; NAN */
    double *spread_of;        /**< shape [2 * (n_boundaries + 1)]: by boundary and direction */
    double host_spread, sure; /**< deviations of so many spreads are findings */
} observation;

static inline bool observe_is_access(const fab_fabric *f, fab_link_id l) {
    return fab_class_of(f, l)->kind == FAB_LINK_ACCESS;
}

/** Boundary and direction, for arrays over them. */
static inline size_t observe_class(const fab_fabric *f, fab_link_id l) {
    return 2 * (size_t)fab_class_of(f, l)->tier + (fab_is_up(l) ? 1 : 0);
}

static inline size_t observe_n_classes(const fab_fabric *f) {
    return 2 * ((size_t)f->n_boundaries + 1);
}

/** Server of a link to or from an adapter. */
static inline uint32_t observe_server(const fab_fabric *f, fab_link_id l) {
    return fab_server_of_nic(f, fab_is_up(l) ? fab_tail(f, l) : fab_head(f, l));
}

/** Switches, then servers: what is read at once. */
static inline uint32_t observe_box(const fab_fabric *f, fab_node_id v) {
    return fab_kind_of(f, v) == FAB_NODE_SWITCH ? v - f->first[FAB_NODE_SWITCH]
                                                : fab_n_switches(f) + (v - f->first[FAB_NODE_NIC]) / f->nics_per_server;
}

static inline size_t observe_n_boxes(const fab_fabric *f) {
    return (size_t)fab_n_switches(f) + f->n_servers;
}

/** Deviations of at least so much are findings. */
static inline double observe_limit(double spread, double sure) {
    return spread * sure > FAB_OBSERVE_LEAST ? spread * sure : FAB_OBSERVE_LEAST;
}

/** Deviations of so many spreads are no noise, n of them being looked at. */
double observe_sure(uint64_t n);
/** Of n numbers, which it reorders; NAN of none. */
double observe_median(double *numbers, size_t n);
/** Robust standard deviation around 0 of n numbers, which it makes absolute and reorders: of tails too. */
double observe_spread(double *numbers, size_t n);

/** What the port at the tail of a link had counted before: nothing, where there is one snapshot. */
fab_counted_port observe_before(const observation *o, fab_link_id l);

FAB_STATUS observe_ports(observation *o, fab_error *err);
FAB_STATUS observe_skew(observation *o, fab_error *err);
FAB_STATUS observe_predict(observation *o, fab_error *err);
FAB_STATUS observe_judge(observation *o, fab_error *err);
FAB_STATUS observe_boundaries(observation *o, fab_error *err);
FAB_STATUS observe_suspects(observation *o, fab_error *err);
/** Adds what the counters of errors and the ends of cables say alone, puts all in order, and says why. */
FAB_STATUS observe_evidence(observation *o, fab_error *err);
/** Late and stuck ranks of flight recorders. */
FAB_STATUS observe_ranks(observation *o, fab_error *err);
/** Says which ranks run on a suspect, or behind it. */
void observe_name_ranks(const observation *o, fab_suspect *s);
/** A suspect more; NULL where there is no room. */
fab_suspect *observe_add(observation *o, fab_suspect_kind kind);
