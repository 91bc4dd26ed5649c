/* Where single flows enter and leave, for those who look at one at a time. */
#include "fab/offer.h"
#include "next_hops/next_hop_rows.h"
#include "legs.h"

uint32_t fab_flow_legs(const fab_fabric *fabric, const fab_ports *ports, uint32_t src, uint32_t dst, uint32_t part,
                       fab_link_id *out) {
    fab_legs legs = {0};
    uint32_t n = 0;
    if (fab_legs_of(fabric, ports, src, dst, part % ports->nics_per_gpu, part / ports->nics_per_gpu, &legs, NULL) !=
        FAB_OK) {
        return 0;
    }
    for (uint32_t i = 0; i < legs.n_head; i++) {
        out[n++] = legs.head[i];
    }
    for (uint32_t i = 0; i < legs.n_tail; i++) {
        out[n++] = legs.tail[i];
    }
    return n;
}

uint32_t fab_demand_pair(const fab_demand *demand, const fab_fabric *fabric, const fab_ports *ports,
                         const fab_next_hops *next_hops, const fab_phase *phase, uint64_t flow, uint32_t part) {
    fab_flow about = fab_phase_flow(phase, flow);
    fab_legs legs = {0};
    uint32_t base = fabric->first[FAB_NODE_SWITCH];
    fab_status status = fab_legs_of(fabric, ports, about.src, about.dst, part % ports->nics_per_gpu,
                                    part / ports->nics_per_gpu, &legs, NULL);
    if (status != FAB_OK || legs.in_domain || legs.src_leaf == legs.dst_leaf) {
        return FAB_NONE;
    }
    return fab_demand_find(demand, next_hops->leaf_index[legs.src_leaf - base],
                           next_hops->leaf_index[legs.dst_leaf - base]);
}
