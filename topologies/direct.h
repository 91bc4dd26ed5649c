/**
 * Networks without tiers: all switches are alike, hold NICs, and are joined with each other (dragonfly, torus). A
 * family says its shape and lays the cables between switches; the rest is here.
 */
#pragma once

#include "clos_plan.h"

typedef struct fab_direct_plan {
    fab_ends ends;
    fab_wiring wiring;
    uint64_t switches;  /**< of one plane */
    uint64_t pod;       /**< switches of a pod; 0: there are none */
    fab_clos_tier tier; /**< radix and rates; down: NIC ports of a switch; up: ports for cables to other switches */
    double cable_bps;   /**< of a cable between switches */
    bool even;          /**< NICs are spread evenly over the switches; else switch by switch, in order */
    uint32_t n_boundaries;
    uint64_t cables[FAB_MAX_TIERS]; /**< of one plane; [t - 1]: of boundary t. [0] is not used */
} fab_direct_plan;

/**
 * Sets rates and radix, and refuses what a network without tiers cannot have (tiers, tapers, pods).
 */
FAB_STATUS fab_direct_init(const fab_fabric_spec *spec, fab_wiring wiring, fab_direct_plan *plan, fab_error *err);

/**
 * Chooses the radix where none is given, and checks that the NICs find a place and that a switch has the ports.
 * @retval FAB_EINPUT  names the ports that a switch lacks.
 */
FAB_STATUS fab_direct_check(const fab_fabric_spec *spec, fab_direct_plan *plan, fab_error *err);

/** Writes what was derived back into the parameters. */
void fab_direct_resolve(const fab_direct_plan *plan, fab_fabric_spec *spec);

/** Counts in closed form. */
void fab_direct_count(const fab_fabric_spec *spec, const fab_direct_plan *plan, fab_counts *out);

/** Where the cables of one plane go. */
typedef struct fab_direct_sink {
    fab_builder *builder;
    fab_node_id first;                      /**< switch 0 of the plane */
    uint32_t first_port;                    /**< first port behind those for NICs */
    uint16_t link_class[FAB_MAX_TIERS + 1]; /**< [boundary] */
} fab_direct_sink;

/** Adds a cable of `boundary` between two switches of the plane; ports count from 0 behind those for NICs. */
void fab_direct_cable(const fab_direct_sink *sink, uint32_t boundary, uint64_t a, uint64_t a_port, uint64_t b,
                      uint64_t b_port);

/** Lays all cables between the switches of one plane. */
typedef void fab_direct_wire(const void *shape, const fab_direct_sink *sink);

/** The graph. Complexity: O(nodes + cables). */
FAB_STATUS fab_direct_build(const fab_fabric_spec *spec, const fab_direct_plan *plan, fab_direct_wire *wire,
                            const void *shape, fab_fabric **out, fab_error *err);
