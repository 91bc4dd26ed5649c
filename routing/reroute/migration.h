/**
 * @file migration.h
 * Inside of reroute_migrated*.c: flows whose ranks run on other GPUs.
 */
#ifndef FAB_MIGRATION_H
#define FAB_MIGRATION_H

#include "baseline.h"
#include "fab/reroute_migrated.h"

/** Bytes that flows that moved take away from a NIC, and bring to it. */
typedef struct fab_migrated_bytes {
    double sent_before, sent_after, received_before, received_after;
} fab_migrated_bytes;

struct fab_migration {
    const uint32_t *new_gpu; /**< borrowed, during a call */
    uint32_t stamp;
    uint32_t *flow_stamp; /**< shape [n_flows]: of the call that moved it last */
    uint32_t *gpu_stamp;  /**< shape [n_gpus]: of the call that moved somebody there last */
    uint32_t *flow;       /**< shape [n]: that moved */
    uint32_t n;
    double *part;              /**< shape [n_flows]: offered rate of each path, of flows that moved; in full, of all */
    fab_migrated_bytes *bytes; /**< shape [n_nics]: 0 but of those that are listed */
    uint32_t *nic;             /**< shape [n_listed] */
    size_t n_nics, nic_capacity;
    bool is_local;      /**< flows that stay offer what they did, and all flows have as many paths as before */
    bool is_renumbered; /**< some have not */
    fab_phase phase;    /**< in full; src and dst are owned, bytes and comm with owns_lists, others borrowed */
    bool owns_lists;
    fab_offer offer;      /**< in full */
    uint32_t *flow_first; /**< in full: shape [n_flows + 1] */
    fab_routes routes;    /**< what the caller sees; owns nothing */
    fab_on_loss on_loss;  /**< of fab_reroute_lift() */
    size_t *walked_first; /**< of fab_reroute_walk(): shape [paths + 1] */
    double *walked_part;  /**< shape [paths] */
    size_t first_capacity, part_capacity;
};

/** A flow between the GPUs where its ranks run. */
static inline fab_flow fab_migration_flow(const fab_reroute *r, uint32_t i) {
    fab_flow flow = fab_phase_flow(r->b->request.phase, i);
    flow.src = r->migration->new_gpu[flow.src];
    flow.dst = r->migration->new_gpu[flow.dst];
    return flow;
}

void fab_migration_release_phase(fab_migration *migration);

/**
 * Walks path `k` of a flow between the GPUs where its ranks run, under the mask or, where nobody takes notice of it,
 * over the tables of the healthy fabric, and appends its links to r->link; none if it is lost.
 * @param[in,out] n_links  Of all paths so far.
 */
fab_status fab_migration_walk(fab_reroute *r, uint32_t flow, uint32_t k, fab_on_loss on_loss, size_t *n_links,
                              fab_error *err) FAB_MUST_USE;

/** Everything again, with the flows that moved. */
fab_status fab_migration_in_full(fab_reroute *r, const fab_reroute_plan *plan, fab_error *err) FAB_MUST_USE;

#endif
