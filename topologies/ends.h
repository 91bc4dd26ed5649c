/**
 * @file ends.h
 * What is the same in every family: servers, GPUs, NICs, scale-up domains, and the cables inside a server.
 */
#ifndef FAB_ENDS_H
#define FAB_ENDS_H

#include "fab/fabric_spec.h"
#include "fab/fabric.h"
#include "fab/fabric_builder.h"
#include "fab/topologies.h"

#define FAB_MAX_GPUS 100000000U /**< node ids are 32 bits wide */

typedef struct fab_ends {
    uint64_t gpus, servers, nics, domains, rails, planes;
    uint64_t units; /**< what rails are counted in: domains, or servers where those are larger */
} fab_ends;

/** Counts what hangs below the network, spare servers included. */
fab_status fab_ends_count(const fab_fabric_spec *spec, fab_ends *out, fab_error *err) FAB_MUST_USE;

/** These counts, the rest zero. */
fab_counts fab_ends_counts(const fab_ends *ends);

/** GPUs (without spares) that fill `nic_ports` ports. */
uint64_t fab_ends_behind(const fab_fabric_spec *spec, uint64_t nic_ports);

/** GPUs, NICs and rails fit the types of a fabric. */
fab_status fab_ends_check(const fab_fabric_spec *spec, const fab_ends *ends, fab_error *err) FAB_MUST_USE;

/** Cables inside servers. */
uint64_t fab_ends_cables(const fab_ends *ends);

/** Sets the scalar fields of the fabric that describe servers, and adds the cables inside them. */
fab_status fab_ends_build(const fab_fabric_spec *spec, const fab_ends *ends, fab_builder *builder,
                          fab_error *err) FAB_MUST_USE;

/** Port of a NIC that leads to the switch of `plane`; the ones before it lead to its GPUs. */
uint32_t fab_ends_nic_port(const fab_fabric *fabric, uint32_t plane);

/** A network cable: its latency is that of one switch and of the way there. */
fab_link_class fab_cable_class(fab_link_kind kind, uint32_t boundary, double capacity_bps, double length_m,
                               double device_s);

static inline uint64_t fab_ceil_div(uint64_t a, uint64_t b) {
    return b > 0 ? (a + b - 1) / b : 0;
}

#endif
