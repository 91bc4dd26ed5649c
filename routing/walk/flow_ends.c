/* Where single flows enter and leave, for those who look at one at a time. */
#include "fab/offer.h"
#include "next_hops/next_hop_rows.h"
#include "host_segments.h"

uint32_t fab_flow_segments(const fab_fabric *fabric, const fab_ports *ports, uint32_t src, uint32_t dst, uint32_t part,
                           fab_link_id *out) {
    fab_host_segments segments = {0};
    uint32_t n = 0;
    if (fab_host_segments_of(fabric, ports, src, dst, part % ports->nics_per_gpu, part / ports->nics_per_gpu, &segments,
                             NULL) != FAB_OK) {
        return 0;
    }
    for (uint32_t i = 0; i < segments.n_head; i++) {
        out[n++] = segments.head[i];
    }
    for (uint32_t i = 0; i < segments.n_tail; i++) {
        out[n++] = segments.tail[i];
    }
    return n;
}

uint32_t fab_demand_pair(const fab_demand *demand, const fab_fabric *fabric, const fab_ports *ports,
                         const fab_next_hops *next_hops, const fab_phase *phase, uint64_t flow, uint32_t part) {
    fab_flow about = fab_phase_flow(phase, flow);
    fab_host_segments segments = {0};
    uint32_t base = fabric->first[FAB_NODE_SWITCH];
    fab_status status = fab_host_segments_of(fabric, ports, about.src, about.dst, part % ports->nics_per_gpu,
                                             part / ports->nics_per_gpu, &segments, NULL);
    if (status != FAB_OK || segments.in_domain || segments.src_leaf == segments.dst_leaf) {
        return FAB_NONE;
    }
    return fab_demand_find(demand, next_hops->leaf_index[segments.src_leaf - base],
                           next_hops->leaf_index[segments.dst_leaf - base]);
}
