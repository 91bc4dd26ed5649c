/**
 * The topology families: a design's parameters to a fabric. Every family states its counts in closed form; the built
 * graph must agree with them.
 */
#pragma once

#include "fab/fabric_spec.h"
#include "fab/fabric.h"

/** Network cables that are alike: what a bill of materials needs to know of them. */
typedef struct fab_cable_kind {
    uint32_t tier; /**< boundary: 1 = NIC - leaf, 2 = leaf - spine, ... (see fab_boundary_name) */
    double rate_bps, length_m;
    uint64_t count;
} fab_cable_kind;
#define FAB_MAX_CABLE_KINDS 128

/** Cables of one boundary under a floor plan. */
typedef struct fab_boundary_lengths {
    uint64_t cables;
    double min_m, mean_m, max_m; /**< as ordered */
    double mean_latency_s;       /**< device + length */
} fab_boundary_lengths;

/** What a floor plan comes to. All zero without one; of a closed form that knows lengths the racks alone. */
typedef struct fab_floor_counts {
    bool given;
    uint64_t halls, rows, racks, server_racks, network_racks; /**< racks = server_racks + network_racks */
    uint64_t servers_per_rack;
    double server_w;
    double cable_m;                               /**< of all network cables */
    fab_boundary_lengths boundary[FAB_MAX_TIERS]; /**< [0] = NIC - leaf */
} fab_floor_counts;

/** Counts of a fabric. Arrays are indexed from 0: switches_by_tier[0] leaves, up to `tiers`; cables_by_tier[0] NIC -
 * leaf, up to `n_boundaries`. */
typedef struct fab_counts {
    uint64_t gpus, servers, nics, domains, rails, planes, pods, tiers;
    uint64_t cut_servers; /**< of the servers, those that lack cables: neither half of a bisection has them */
    uint64_t switches, switches_by_tier[FAB_MAX_TIERS];
    uint64_t n_boundaries; /**< = tiers in a tree; dragonflies and tori have one tier and more kinds of cables */
    fab_wiring wiring;     /**< what tiers and boundaries are called */
    uint64_t cables, cables_by_tier[FAB_MAX_TIERS];
    uint64_t ports, ports_by_tier[FAB_MAX_TIERS]; /**< physical ports of the switches, used or not */
    fab_cable_kind kinds[FAB_MAX_CABLE_KINDS];    /**< by tier, then length */
    size_t n_kinds;
    bool knows_lengths; /**< lengths are those of the floor plan: of the graph, and of trees in closed form */
    double built_taper[FAB_MAX_TIERS]; /**< [i]: capacity down / up of the fullest switch of tier i + 1; tiers - 1
                                          entries */
    fab_floor_counts floor;            /**< of the graph only */
} fab_counts;

/** A switch of one tier of a tree family, and how many there are. All networks and planes are alike. */
typedef struct fab_tree_tier {
    uint64_t down, up;         /**< cables of the fullest switch; up = 0 in the top tier */
    uint64_t parents;          /**< switches its uplinks spread over; 0 in the top tier */
    uint64_t blocks, switches; /**< of one network: blocks of this level, switches at the top of each */
} fab_tree_tier;

/** What the tiers of a tree family are made of: the pattern behind its counts. */
typedef struct fab_tree {
    uint32_t n_tiers;
    fab_tree_tier tier[FAB_MAX_TIERS]; /**< from 0 = leaf */
    double bisection_bps;              /**< as fab_bisection() finds it in the graph, in closed form */
} fab_tree;

typedef struct fab_family {
    const char *name;
    const char *summary;
    const char *const *keys; /**< of the fabric that only the families which list them take, ended by NULL; or NULL */
    /** Counts in closed form, from the parameters alone. Fills the derived fields of `spec` (GPUs of fat-tree:k=).
     * NULL: there is none, the counts are those of the graph. */
    fab_status (*predict)(fab_fabric_spec *spec, fab_counts *out, fab_error *err);
    /** The graph. `spec` is what predict left. */
    fab_status (*build)(const fab_fabric_spec *spec, fab_fabric **out, fab_error *err);
    /** Counts, pattern and bisection without building; NULL for a family that is not a tree of tiers. */
    fab_status (*tree)(fab_fabric_spec *spec, fab_counts *out_counts, fab_tree *out, fab_error *err);
} fab_family;

/** All families, ended by an entry whose name is NULL. */
extern const fab_family *const fab_families[];

const fab_family *fab_family_find(const char *name);

/** Rails of a rail-only fabric. */
typedef struct fab_rails {
    uint64_t n, shared; /**< in all; that share a network, as rails-per-switch says or leaves it */
} fab_rails;

/** Zeros: another family, or servers and domains that do not fit. */
fab_rails fab_topology_rails(const fab_fabric_spec *spec);

/** Counts read off a built fabric. O(nodes + cables). */
void fab_fabric_count(const fab_fabric *fabric, fab_counts *out);

/**
 * Closed form only: what a design would be made of, without building it. O(tiers).
 * @param[in,out] spec  What the family derives is filled in (the GPUs and radix of fat-tree:k=).
 * @retval FAB_EINPUT  parameters that cannot be built; the message names the switch and the ports it lacks.
 */
FAB_STATUS fab_topology_predict(fab_fabric_spec *spec, fab_counts *out, fab_error *err);

/**
 * The same for a tree family, with the pattern of every tier and the bisection. O(leaves).
 * @retval FAB_EINPUT        as for fab_topology_predict
 * @retval FAB_EUNSUPPORTED  the family is not a tree of tiers
 */
FAB_STATUS fab_topology_tree(fab_fabric_spec *spec, fab_counts *out_counts, fab_tree *out, fab_error *err);

/**
 * Builds the fabric of `spec`, and compares it with the closed form. Cables have the lengths of the floor plan
 * (fab/floor_plan.h) where it decides them.
 * @param[in,out] spec    As for fab_topology_predict.
 * @param[out] out_counts  May be NULL.
 * @retval FAB_EINPUT     parameters that cannot be built; the message names the switch and the ports it lacks.
 * @retval FAB_EINTERNAL  graph and closed form disagree.
 */
FAB_STATUS fab_topology_build(fab_fabric_spec *spec, fab_fabric **out, fab_counts *out_counts, fab_error *err);
