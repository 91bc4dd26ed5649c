/**
 * One phase under one engine and seed to figures. A phase is prepared once, what an engine does with it (run) is
 * carried over its links, and every figure is read off the loads and the paths.
 */
#pragma once

#include "fab/bound.h"
#include "fab/dependencies.h"
#include "fab/figures.h"
#include "fab/loads.h"
#include "fab/result.h"

/**
 * Flows that cross the same pairs of leaves, so that what holds for one holds for all: of a listed phase every flow is
 * a class of its own, an all-to-all has one for every two groups of GPUs that are plugged in alike.
 */
typedef struct fab_flow_classes {
    size_t n;
    uint32_t n_parts;
    const uint32_t *pair;  /**< shape [n][n_parts]: pair of the demand, FAB_NONE where a part crosses no fabric link */
    const uint64_t *count; /**< shape [n]: flows; NULL: one each, class i is flow i */
    uint32_t *own_pair;    /**< owned, of an all-to-all */
    uint64_t *own_count;
} fab_flow_classes;

/** A phase ready to be measured: what does not depend on the engine. Borrowed but for classes, spray and relay. */
typedef struct fab_prepared_phase {
    const fab_traffic *traffic;
    const fab_phase *phase;
    const fab_fabric *fabric;
    const fab_next_hops *next_hops;
    const fab_dag *dag;
    const fab_ports *ports;
    const fab_offer *offer;
    const fab_demand *demand;
    fab_flow_classes classes;
    const double *residual; /**< shape [n_links]: fraction of their capacity that links have, 0 dead; NULL: all of it */
    double *spray;          /**< shape [n_links]: utilisation under ideal spray */
    bool bisection;         /**< effective bisection bandwidth is wanted */
    fab_cut_bounds cuts;
    double least_s; /**< no routing carries the phase in less */
    double hosts_s; /**< of that, the links of hosts alone */
    double *relay;  /**< shape [n_links]: bytes relayed between rails before they are sent; NULL: none are */
    double relay_s; /**< what that takes */
} fab_prepared_phase;

/** Classes of the flows of prepared->phase, from its demand. */
FAB_STATUS fab_flow_classes_init(const fab_prepared_phase *prepared, fab_flow_classes *out, fab_error *err);
void fab_flow_classes_release(fab_flow_classes *classes);

/** What is alike under the next hops of a router; NULL: nothing is known, or it goes by tables of its own. */
static inline const fab_switch_classes *fab_phase_switch_classes(const fab_prepared_phase *s,
                                                                 const fab_router *router) {
    bool ours = fab_router_dag(router, NULL) == NULL && fab_router_next_hops(router) == s->next_hops;
    return ours ? fab_dag_classes(s->dag) : NULL;
}

/** Bits per second that a link has; of a dead one what it had: nobody crosses it. */
static inline double fab_prepared_capacity(const fab_prepared_phase *s, fab_link_id link) {
    double nominal = fab_class_of(s->fabric, link)->usable_bps;
    return s->residual != NULL && s->residual[link] > 0 ? nominal * s->residual[link] : nominal;
}

/** Certified least of the largest utilisation of network links. */
static inline double fab_least_utilisation(const fab_bound *bound) {
    return bound->lower > bound->segment ? bound->lower : bound->segment;
}

typedef struct fab_transport_spec fab_transport_spec;

/** Memory that runs reuse. Zero-initialised; release with fab_scratch_release(). */
typedef struct fab_scratch {
    fab_routes routes, round;
    uint64_t routed[2]; /**< hash of what `routes` were found for, a whole phase; 0: not known */
    double *use;        /**< shape [n_links]: utilisation */
    double *bytes;      /**< shape [n_links] */
    double *rate;       /**< of the flows of a chunk; the next two alike */
    double *volume;
    uint64_t *count;
    uint32_t *members, *to_nic, *source, *to; /**< of bundles, see stream.c */
    fab_node_id *from;
    size_t rate_capacity, volume_capacity, count_capacity, members_capacity, to_nic_capacity, source_capacity,
        to_capacity, from_capacity;
    double *worst; /**< shape [n_pairs]: of a split */
    size_t worst_capacity;
    double *latency_s; /**< of flows, as fab_flow_latencies_of_routes() has them; of a run with a detail */
    size_t latency_capacity;
    struct fab_rate_scratch *rates; /**< NULL until rates are asked for */
    uint64_t followed[2];           /**< as `routed`, of the routes that the next two are of; 0: of others */
    struct fab_next_hop_use *next_hops;
    fab_dependencies dependencies; /**< zero where nobody asked for them */
} fab_scratch;

void fab_scratch_release(fab_scratch *scratch);

/** Flows under a split whose rates are found one by one; of more, by the fullest link. */
#define FAB_MOST_LISTED (UINT64_C(1) << 22)

/** One phase under one engine and seed. */
typedef struct fab_engine_run {
    const fab_prepared_phase *prepared;
    const fab_router *router;
    const fab_bound *bound; /**< of the phase; NULL: it is not compared with */
    bool rates;             /**< rates and times are wanted */
    bool keep_flows;        /**< with rates and detail: those of every flow */
    bool keep_routes;       /**< with their paths */
    uint64_t seed;
    bool links_alone;    /**< FAB_NEED_LINKS_ALONE */
    bool last_alone;     /**< FAB_NEED_LAST_ALONE */
    uint64_t kept_paths; /**< phases of more paths are routed a chunk at a time; 0: FAB_KEPT_PATHS */
    size_t n_threads;    /**< that this run may use */
    /** After each of `n` parts of equal work, by the thread that did it: others may call at the same time. May be NULL.
     */
    void (*advance)(void *context, uint64_t n);
    void *advance_context;
    fab_scratch *scratch;
    const struct fab_transfer_scratch *tried; /**< may have the routes of a phase; NULL: nothing was tried */
    fab_engine_result *detail;                /**< NULL: figures only */
    fab_dependencies *dependencies;           /**< with detail: those of the routes are added; or NULL */
    const struct fab_trace *trace;            /**< with rates: filled where they are found; NULL: not wanted */
    struct fab_proof *proof;                  /**< with rates: gets lines of a certificate; NULL: not wanted */
    const fab_transport_spec *transport;      /**< NULL: fluid */
    bool repeats; /**< others like it run with this scratch: what its packets come to is kept for them */
} fab_engine_run;

/**
 * Routes and measures.
 * @param[out] out  Figures; run->detail gets load tables, hot links and what is read off the paths.
 * @retval FAB_EINTERNAL  loads are not conserved, or a result beats its bound.
 */
FAB_STATUS fab_measure_run(const fab_engine_run *run, fab_figures *out, fab_error *err);

/* --- what the two kinds of runs share --------------------------------------------------------------------------- */

/** Flows that are asked for and the worst factor on their routes. */
typedef struct fab_flow_tally {
    double crossing, collided, sum;
} fab_flow_tally;

void fab_tally_add(fab_flow_tally *tally, double worst, double count);

/** From bit/s of links (shape [n_links]) to parts of their capacity. */
void fab_to_utilisation(const fab_fabric *fabric, double *load);

/** Figures of loads: `use` (shape [n_links]) is turned from offered rates into utilisation. Checks conservation. */
FAB_STATUS fab_sample_loads(const fab_engine_run *run, double *use, const double *bytes, fab_figures *out,
                            fab_error *err);
void fab_sample_flows(const fab_flow_tally *tally, fab_figures *out);

/** Compares with the bound, where there is one and it holds. */
FAB_STATUS fab_sample_bound(const fab_engine_run *run, bool is_minimal, fab_figures *out, fab_error *err);

FAB_STATUS fab_measure_paths(const fab_engine_run *run, fab_figures *out, fab_error *err);
FAB_STATUS fab_measure_split(const fab_engine_run *run, fab_figures *out, fab_error *err);

/** Load tables and hot links from utilisation and bytes. */
void fab_detail_loads(const fab_engine_run *run, const double *use, const double *bytes);

/** A flow crosses the hot link with this share. */
void fab_detail_add_flow(const fab_prepared_phase *prepared, uint64_t flow, double share, fab_hot_link *hot);

/** Mean over pairs of 1 / (largest number of flows on any network link of the pair's route), see measure.c. */
double fab_line_share(const fab_prepared_phase *prepared, fab_link_id link, double count);

/* --- next_hop_use.c ----------------------------------------------------------------------------------------------- */

/** Next hops that switches use, gathered from routes. */
typedef struct fab_next_hop_use fab_next_hop_use;

FAB_STATUS fab_next_hop_use_new(const fab_fabric *fabric, const fab_router *router, fab_next_hop_use **out,
                                fab_error *err);
/**
 * @param[in] first   Number of flow 0 of the routes.
 * @param[in] weight  Flows that each of them stands for; NULL: 1.
 */
void fab_next_hop_use_add(fab_next_hop_use *use, const fab_routes *routes, uint64_t first, const uint64_t *weight);
/** Adds what `other` has gathered from other flows. */
void fab_next_hop_use_merge(fab_next_hop_use *use, const fab_next_hop_use *other);
/** Fills the rows that fab_detail_loads() has made. Complexity: O(sum of route lengths * next hops of a switch). */
void fab_next_hop_use_finish(fab_next_hop_use *use, fab_engine_result *out);
void fab_next_hop_use_free(fab_next_hop_use *use);
FAB_OWNER(fab_next_hop_use, fab_next_hop_use_free)

/**
 * Bytes from block to block of servers, at most FAB_MAX_BLOCKS blocks of equal size; a block lies in one pod where the
 * servers of a pod divide. Fills block_bytes, n_blocks and servers_per_block of `out`.
 * Complexity: O(flows); of an all-to-all O(blocks^2).
 */
FAB_STATUS fab_block_bytes(const fab_fabric *fabric, const fab_phase *phase, fab_phase_result *out, fab_error *err);

/** What the phase is, and what the design itself does to it. `bound`: NULL where nobody asked for it. */
FAB_STATUS fab_measure_phase(const fab_prepared_phase *prepared, const fab_bound *bound, fab_phase_result *out,
                             fab_error *err);
