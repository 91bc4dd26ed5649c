/** Bisection and cost of a fabric. */
#pragma once

#include "fab/network.h"
#include "fab/replay.h"

typedef struct fab_design fab_design;
typedef struct fab_prices fab_prices;

/**
 * Minimum cut over network links, one direction, from the NICs of the first half of the servers to those of the second
 * (a middle server counts to the second half).
 * Complexity: maximum flow over switches with parallel cables merged (Dinic).
 */
FAB_STATUS fab_bisection(const fab_fabric *fabric, double *out_bps, fab_error *err);

/** As fab_bisection(), with the lines of a certificate: a flow that is so large, and a cut that lets no more through.
 */
FAB_STATUS fab_bisection_certify(const fab_fabric *fabric, FILE *out, double *out_bps, fab_error *err);

/**
 * The part of full bisection that any traffic may count on: the smaller of the cut over what the NICs of half of the
 * servers can send, and of what every boundary lets through,
 *
 *     min over tiers t of  rate of a NIC's cables / rate of the NIC x product over tiers below t of 1 / built taper.
 *
 * Leaves that hold servers of both halves make the cut the larger of the two. NAN where there are no two
 * servers: nothing crosses the network.
 * @param[in] bisection_bps  Of fab_bisection().
 */
double fab_bisection_ratio(const fab_fabric_spec *spec, const fab_counts *counts, double bisection_bps);

/**
 * Bisection of the scale-up domains, one direction: half of the GPUs of each domain (the smaller half where they are
 * odd) at the scale-up rate of one, summed over the domains. 0 without domains. The domain itself is taken to be
 * non-blocking: 256 GPUs at 450 GB/s give 57.6 TB/s.
 */
double fab_scaleup_bisection(const fab_fabric_spec *spec, const fab_counts *counts);

/**
 * Bill of materials and cost of a fabric, from its counts alone: NICs, the switches of every tier, and of every kind of
 * cable the medium that the book chooses for its rate and length, and the transceivers that the convention counts.
 *
 *     total = sum of quantity * unit price over the lines
 *
 * Both ports of a twin-port module belong to cables of one kind, at one of its ends: ceil(cables / 2) modules there.
 * @retval FAB_EINPUT  a part that the book does not price; the message names it and what the book has.
 * Complexity: O(kinds of cables * rows of the book).
 */
FAB_STATUS fab_cost_of(const fab_fabric_spec *spec, const fab_counts *counts, const fab_prices *prices, fab_cost *out,
                       fab_error *err);

/** What spare servers cost, by the closed forms; nothing where there are none. O(tiers). */
FAB_STATUS fab_spares_measure(const fab_fabric_spec *spec, const fab_prices *prices, fab_spares *out, fab_error *err);

/**
 * The number of GPUs up to a twentieth below or above that of a tree whose network costs least per GPU, if that is a
 * twentieth less than this one and in all it is less too; by the closed forms. None of installed networks, or where the
 * shape decides the GPUs. Likewise, of a rail-only fabric that leaves it open, the rails that share a network.
 * Complexity: at most 2 * 64 closed forms, of more servers some are left out, and one for each number of rails.
 */
FAB_STATUS fab_near_size_find(const fab_fabric_spec *spec, const fab_counts *counts, const fab_prices *prices,
                              double total_usd, fab_near_size *size, fab_near_size *rails, fab_error *err);

typedef struct fab_trunks {
    bool differ;       /**< some switch has more cables, or faster ones, to one switch above it than to another */
    bool rates_differ; /**< some switch has faster cables to switches above it beside others */
} fab_trunks;

/** Trunks of trees; of other graphs none differs. O(links). */
FAB_STATUS fab_compare_trunks(const fab_fabric *f, fab_trunks *out, fab_error *err);

/** Whether a design or its traffic is refused: says nothing about others. */
bool fab_is_refusal(fab_status status);
/** fab_fail_as(), but FAB_OK of a refusal. */
FAB_STATUS fab_unless_refused(fab_error *err, fab_status status, const fab_error *why);

/** Names the design in an error of a module that does not know where its values came from; returns the status. */
fab_status fab_blame_design(const fab_design *design, fab_status status, fab_error *err);

/**
 * Counts, bisection and cost of the fabric of a design.
 * @param[in,out] out    Where the graph is there, with the spec and counts that it was built from.
 * @param[in,out] graph  *graph = NULL: it is built. The caller's.
 */
FAB_STATUS fab_fabric_measure(const fab_design *design, fab_fabric_result *out, fab_fabric **graph, fab_error *err);

/** Name, source and digest of a design. */
FAB_STATUS fab_fabric_name(const fab_design *design, fab_fabric_result *out, fab_error *err);

/** Fills the price per Gb/s of bisection; leaves it 0 where there is no bisection. */
void fab_cost_set_bisection(fab_cost *cost, double bisection_bps);

/**
 * @param[in]  engine  NULL: none is known.
 * @param[out] out     Written where the engine hashes.
 * @return false of an engine that does not
 */
bool fab_switch_hash_of(const fab_engine_spec *engine, fab_network_hash *out);

typedef struct fab_graph_facts {
    uint32_t components;         /**< of the entire fabric, scale-up domains included */
    uint32_t network_components; /**< of the switches alone: one per rail in rail-only, one per plane */
    uint32_t diameter;           /**< longest shortest path between switches, in cables, within a component */
    double bisection_bps;        /**< minimum cut between the NICs of the two halves of the servers */
} fab_graph_facts;

/**
 * Reads the facts off igraph's view of the fabric. One thread at a time: igraph 0.10.2 keeps global state.
 * @retval FAB_ENOMEM, FAB_EINTERNAL  igraph failed; the message is igraph's
 * Complexity: diameter O(switches * cables); minimum cut by push-relabel.
 */
FAB_STATUS fab_graph_check(const fab_fabric *fabric, fab_graph_facts *out, fab_error *err);

/**
 * Adds to result->warnings: links at rates that nobody sells, tapers of boundaries that the fabric does not have, a
 * tensor group beyond the scale-up domain, experts that every GPU keeps (of sweeps and mixes too), experts that keep
 * their rails on rail-only, minimal routing on a dragonfly. Of installed networks nothing is said: they are there.
 * @param[in,out] result  Its fabrics are measured; job and phases where they are known.
 * Complexity: O(fabrics * (kinds of cables + tiers) + engines).
 */
FAB_STATUS fab_find_warnings(fab_result *result, fab_error *err);

/** Says where a GPU that is sold in one kind of server alone is in another one, and what to write; else empty. */
void fab_gpu_sold_unlike(const fab_gpu *gpu, const fab_fabric_spec *spec, char out[FAB_SOLD_SIZE]);

/** Adds that to result->warnings, for commands whose results hold neither the job nor the fabric. */
FAB_STATUS fab_warn_of_gpu(fab_result *result, const fab_job_spec *job, const fab_fabric_spec *spec, fab_error *err);

/**
 * Whether all members of a group of experts stand on one rail, so that their all-to-all needs no link between rails: by
 * the default order of ranks, or since tensor parallelism fills scale-up domains. Else, where it leaves the domain, it
 * does.
 */
bool fab_experts_keep_rails(const fab_job_spec *job, uint64_t domain);

/**
 * Cables of `before` that must be unplugged to become `after`: those between two devices that have fewer cables between
 * them afterwards, or none.
 *
 *     moved = sum over pairs of devices of max(0, cables before - cables after)
 *
 * Devices are the same when they have the same place: NICs and leaves their number, switches above their block and
 * their position in the groups of that block (spine j of pod b; core k of group j). Ports do not matter: a cable that
 * stays between its two devices may stay in its ports.
 * @param[in] before, after  Tree fabrics of one family.
 * Complexity: O(cables log cables).
 */
FAB_STATUS fab_cables_moved(const fab_fabric *before, const fab_fabric *after, uint64_t *out_moved, fab_error *err);

/** Ports of switches that hold no cable. */
uint64_t fab_free_ports(const fab_fabric *fabric);

/**
 * What one step buys, leaves over and moves.
 * @param[in]  before, before_graph  What stands before the step; NULL for the first.
 * @param[out] out                   Free out->parts. Written on success only.
 */
FAB_STATUS fab_growth_step_of(const fab_fabric_result *before, const fab_fabric *before_graph,
                              const fab_fabric_result *after, const fab_fabric *after_graph, fab_growth_step *out,
                              fab_error *err);
