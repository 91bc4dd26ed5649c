/** Who contends for a link, and which decisions brought them there. */
#pragma once

#include "fab/context.h"
#include "fab/explain.h"

typedef struct fab_design fab_design;

/** A path over the link. */
typedef struct fab_crossing_path {
    uint32_t queue_pair, plane;
    fab_decision *decision; /**< shape [n_decisions]: of every switch on the way; owned */
    size_t n_decisions;
} fab_crossing_path;

typedef struct fab_crossing_flow {
    uint64_t flow;
    uint32_t src_gpu, dst_gpu, src_rank, dst_rank; /**< rank = GPU where there is no job */
    uint32_t comm;
    char comm_name[FAB_NAME_SIZE];
    double rate_bps; /**< offered */
    double share;    /**< part of it that crosses the link */
    fab_crossing_path
        *path; /**< shape [n_paths]: those over the link; owned. None where switches split what they hold */
    size_t n_paths;
    uint32_t n_paths_at_once; /**< of the flow, over any link */
} fab_crossing_flow;

/** The choice at the switch that the link leaves: everything that could have taken the link there. */
typedef struct fab_link_choice {
    uint64_t flows, paths;
    uint32_t next_hops;   /**< to choose from; 0: no choice is made there, or a table makes it */
    uint32_t used;        /**< of these */
    double ideal_used;    /**< mean of the same if every path drew */
    uint64_t paths_here;  /**< paths over the link */
    uint64_t values_here; /**< different values among those, from which they chose: equal ones stay together in a group
                             of any size. 0 unless the engine decides path by path */
} fab_link_choice;

typedef struct fab_crossing_phase {
    char name[FAB_NAME_SIZE];
    char collective[FAB_NAME_SIZE];
    double load_bps, utilisation;
    double taper_factor; /**< utilisation under ideal spray */
    double hash_factor;  /**< utilisation / taper_factor; utilisation off every shortest path */
    uint64_t n_comms;    /**< communicators of the flows */
    fab_link_choice choice;
    fab_crossing_flow *flow; /**< shape [n_flows]: by rate over the link, largest first; owned */
    size_t n_flows;
} fab_crossing_phase;

typedef struct fab_explanation {
    const fab_fabric *fabric; /**< borrowed */
    fab_link_id link;
    char name[FAB_LINK_NAME_SIZE];
    double capacity_bps;
    char engine[FAB_NAME_SIZE];
    char label[FAB_ENGINE_LABEL_SIZE]; /**< name and all options */
    char traffic[384];
    uint64_t seed;
    bool splits;               /**< switches split what they hold: there are shares, and no decisions */
    bool hashes;               /**< the engine spreads flows by a hash */
    uint32_t n_rounds;         /**< above 1: queue pairs take turns; everything is of the first round */
    fab_crossing_phase *phase; /**< shape [n_phases]; owned */
    size_t n_phases;
} fab_explanation;

void fab_explanation_release(fab_explanation *explanation);

/**
 * Routes every phase and keeps what crosses the link.
 * @param[out] out  Release with fab_explanation_release().
 * @retval FAB_EUNREACHABLE  as fab_route_flows
 * Complexity: that of routing; memory for the flows on the link and a chunk of the routes.
 */
FAB_STATUS fab_explain_link(const fab_context *context, size_t engine, fab_link_id link, fab_explanation *out,
                            fab_error *err);
