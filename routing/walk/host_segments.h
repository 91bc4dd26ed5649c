/** How a flow enters and leaves the network: the parts of its route that no switch decides. */
#pragma once

#include "fab/routing.h"

#define FAB_SEGMENT_LINKS 4

/** The ends of a route. Links run from the source GPU to the source leaf, and from the destination leaf to the GPU. */
typedef struct fab_host_segments {
    fab_link_id head[FAB_SEGMENT_LINKS], tail[FAB_SEGMENT_LINKS];
    uint32_t n_head, n_tail;
    bool in_domain; /**< the whole route is `head`: the flow never leaves the scale-up domain */
    fab_node_id src_leaf, dst_leaf;
    uint32_t src_nic, dst_nic; /**< index among the NICs */
    uint32_t dst_port;         /**< on the destination leaf */
} fab_host_segments;

/**
 * @param[in] nic    Which of the GPU's NICs: 0 ... nics_per_gpu - 1.
 * @param[in] plane  Which plane.
 * @param[out] out   Of no meaning after an error: written in place, since a copy takes as long as the rest.
 * @retval FAB_EUNREACHABLE  rails differ and no GPU of either domain has the other's rail
 */
FAB_STATUS fab_host_segments_of(const fab_fabric *fabric, const fab_ports *ports, uint32_t src, uint32_t dst,
                                uint32_t nic, uint32_t plane, fab_host_segments *out, fab_error *err);

/** Whether a flow stays inside a scale-up domain. */
static inline bool fab_in_domain(const fab_fabric *f, const fab_ports *ports, uint32_t src, uint32_t dst) {
    return ports->gpu_scaleup[src] != FAB_NONE && fab_domain_of(f, src) == fab_domain_of(f, dst);
}

/** There is no way between two NICs on these leaves. */
fab_status fab_no_route(const fab_fabric *fabric, uint32_t src_nic, fab_node_id src_leaf, uint32_t dst_nic,
                        fab_node_id dst_leaf, fab_error *err);
