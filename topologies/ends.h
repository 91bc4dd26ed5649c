/** What is the same in every family: servers, GPUs, NICs, scale-up domains, and the cables inside a server. */
#pragma once

#include "fab/fabric_builder.h"
#include "fab/topologies.h"

#define FAB_MAX_GPUS 100000000U /**< node ids are 32 bits wide */

typedef struct fab_ends {
    uint64_t gpus, servers, nics, domains, rails, planes;
    uint64_t units;        /**< what rails are counted in: domains, or servers where those are larger */
    uint64_t active_units; /**< without spares, which come last */
} fab_ends;

/** Counts what hangs below the network, spare servers included. */
FAB_STATUS fab_ends_count(const fab_fabric_spec *spec, fab_ends *out, fab_error *err);

/** These counts, the rest zero. */
fab_counts fab_ends_counts(const fab_ends *ends);

/** GPUs (without spares) that fill `nic_ports` ports. */
uint64_t fab_ends_behind(const fab_fabric_spec *spec, uint64_t nic_ports);

/** GPUs, NICs and rails fit the types of a fabric. */
FAB_STATUS fab_ends_check(const fab_fabric_spec *spec, const fab_ends *ends, fab_error *err);

/** Cables inside servers. */
uint64_t fab_ends_cables(const fab_ends *ends);

/** Sets the scalar fields of the fabric that describe servers, and adds the cables inside them. */
FAB_STATUS fab_ends_build(const fab_fabric_spec *spec, const fab_ends *ends, fab_builder *builder, fab_error *err);

/** Port of a NIC that leads to the switch of `plane`; the ones before it lead to its GPUs. */
uint32_t fab_ends_nic_port(const fab_fabric *fabric, uint32_t plane);

/**
 * A network cable below tier `boundary`; 1 is the one between NIC and switch.
 * Its latency is that of the way, and half of the forwarding latency of the switch at either end: along a path every
 * switch counts once.
 * @param[in] is_tree  A cable above the first tier joins that tier and the one below; else two switches of tier 1.
 */
fab_link_class fab_cable_class(const fab_fabric_spec *spec, uint32_t boundary, bool is_tree, double capacity_bps,
                               double length_m);

static inline uint64_t fab_ceil_div(uint64_t a, uint64_t b) {
    return b > 0 ? (a + b - 1) / b : 0;
}
