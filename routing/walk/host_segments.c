#include "host_segments.h"
#include "fab/offer.h"
#include "next_hops/next_hop_rows.h"

/* Plane of an access link, the `next` of its NIC: where cables are missing, the switch tells. */
static uint32_t plane_of(const fab_fabric *f, fab_link_id link, uint32_t next) {
    return f->names != NULL ? f->switch_plane[fab_head(f, link) - f->first[FAB_NODE_SWITCH]] : next;
}

static uint32_t segments_rail_of(const fab_fabric *f, uint32_t nic) {
    return nic % f->n_rails;
}

/* The first of its domain. */
static fab_status find_relays(const fab_fabric *f, fab_ports *ports, fab_error *err) {
    const size_t n = ((size_t)fab_n_gpus(f) / f->gpus_per_domain + 1) * ports->nics_per_gpu * f->n_rails;
    FAB_PASS(FAB_NEW(ports->gpu_on_rail, n, err));
    memset(ports->gpu_on_rail, 0xff, n * sizeof *ports->gpu_on_rail);
    for (uint32_t gpu = fab_n_gpus(f); gpu-- > 0;) {
        for (uint32_t i = 0; i < ports->nics_per_gpu; i++) {
            const fab_link_id pcie = ports->gpu_nic[(size_t)gpu * ports->nics_per_gpu + i];
            const uint32_t rail = segments_rail_of(f, fab_head(f, pcie) - f->first[FAB_NODE_NIC]);
            ports->gpu_on_rail[((size_t)fab_domain_of(f, gpu) * ports->nics_per_gpu + i) * f->n_rails + rail] = gpu;
        }
    }
    return FAB_OK;
}

fab_status fab_ports_init(const fab_fabric *f, fab_ports *out, fab_error *err) {
    FAB_OWNS(fab_ports_release) fab_ports ports = {.n_planes = f->n_planes};
    uint32_t n_gpus = fab_n_gpus(f);
    uint32_t n_nics = fab_n_of(f, FAB_NODE_NIC);
    uint32_t first = 0;
    ports.nics_per_gpu = n_gpus > 0 ? fab_nics_of_gpu(f, 0, &first) : 1;
    FAB_PASS(FAB_NEW(ports.gpu_scaleup, n_gpus, err));
    FAB_PASS(FAB_NEW(ports.gpu_nic, (size_t)n_gpus * ports.nics_per_gpu, err));
    FAB_PASS(FAB_NEW(ports.nic_access, (size_t)n_nics * ports.n_planes, err));
    for (uint32_t gpu = 0; gpu < n_gpus; gpu++) {
        uint32_t n = 0;
        ports.gpu_scaleup[gpu] = FAB_NONE;
        FAB_EACH_LINK(f, gpu, link) {
            if (fab_class_of(f, link)->kind == FAB_LINK_SCALEUP) {
                ports.gpu_scaleup[gpu] = link;
            } else if (n < ports.nics_per_gpu) {
                ports.gpu_nic[(size_t)gpu * ports.nics_per_gpu + n++] = link;
            }
        }
    }
    ports.n_cut = n_nics * ports.n_planes;
    for (uint32_t nic = 0; nic < n_nics; nic++) {
        for (uint32_t i = 0; i < ports.n_planes; i++) {
            ports.nic_access[(size_t)nic * ports.n_planes + i] = FAB_NONE;
        }
        uint32_t node = f->first[FAB_NODE_NIC] + nic;
        uint32_t plane = 0;
        for (uint32_t k = f->out_first[node]; k < f->out_first[node + 1]; k++) {
            if (fab_class_of(f, f->out_link[k])->kind == FAB_LINK_ACCESS && plane < ports.n_planes) {
                ports.nic_access[(size_t)nic * ports.n_planes + plane_of(f, f->out_link[k], plane)] = f->out_link[k];
                plane++;
            }
        }
        ports.n_cut -= plane;
    }
    FAB_PASS(f->forwards_in_domain ? find_relays(f, &ports, err) : FAB_OK);
    return FAB_GIVE(*out, ports);
}

FAB_RELEASES(fab_ports_release, fab_ports, gpu_scaleup, gpu_nic, nic_access, gpu_on_rail);

static fab_status fail_cut(const fab_fabric *f, uint32_t gpu, uint32_t nic, fab_error *err) {
    return fab_fail(err, FAB_EUNREACHABLE, NULL, "gpu-%u has no way into the network: %s of %s has no cable", gpu,
                    FAB_SAY_NODE(f, f->first[FAB_NODE_NIC] + nic), FAB_SAY_SERVER(f, nic / f->nics_per_server));
}

static fab_status check_gpu(const fab_fabric *f, const fab_ports *ports, uint32_t gpu, fab_error *err) {
    for (uint32_t i = 0; i < ports->nics_per_gpu; i++) {
        uint32_t nic = fab_head(f, ports->gpu_nic[(size_t)gpu * ports->nics_per_gpu + i]) - f->first[FAB_NODE_NIC];
        for (uint32_t plane = 0; plane < ports->n_planes; plane++) {
            FAB_RETURN_IF(ports->nic_access[(size_t)nic * ports->n_planes + plane] == FAB_NONE,
                          fail_cut(f, gpu, nic, err));
        }
    }
    return FAB_OK;
}

fab_status fab_ports_check(const fab_fabric *f, const fab_ports *ports, const fab_phase *phase, fab_error *err) {
    fab_status status = FAB_OK;
    for (uint32_t i = 0; ports->n_cut > 0 && i < phase->all.n && status == FAB_OK; i++) {
        status = check_gpu(f, ports, phase->all.first + i, err);
    }
    for (uint64_t i = 0; ports->n_cut > 0 && phase->all.n == 0 && i < phase->n_flows && status == FAB_OK; i++) {
        uint32_t src = phase->src[i];
        uint32_t dst = phase->dst[i];
        if (!fab_in_domain(f, ports, src, dst)) {
            status = check_gpu(f, ports, src, err);
            status = status == FAB_OK ? check_gpu(f, ports, dst, err) : status;
        }
    }
    return status;
}

/* GPU of `gpu`'s domain whose NIC number `nic` lies on `rail`, or FAB_NONE. */
static uint32_t gpu_on_rail(const fab_fabric *f, const fab_ports *ports, uint32_t gpu, uint32_t rail, uint32_t nic) {
    return ports->gpu_on_rail[((size_t)fab_domain_of(f, gpu) * ports->nics_per_gpu + nic) * f->n_rails + rail];
}

fab_status fab_host_segments_of(const fab_fabric *f, const fab_ports *ports, uint32_t src, uint32_t dst, uint32_t nic,
                                uint32_t plane, fab_host_segments *out, fab_error *err) {
    fab_link_id src_up = ports->gpu_scaleup[src];
    fab_link_id dst_up = ports->gpu_scaleup[dst];
    out->n_head = out->n_tail = 0;
    out->in_domain = fab_in_domain(f, ports, src, dst);
    if (out->in_domain) {
        out->head[out->n_head++] = src_up;
        out->head[out->n_head++] = dst_up ^ 1U;
        return FAB_OK;
    }
    uint32_t out_gpu = src; /* GPU whose NIC sends, and GPU whose NIC receives */
    uint32_t in_gpu = dst;
    fab_link_id out_pcie = ports->gpu_nic[(size_t)src * ports->nics_per_gpu + nic];
    fab_link_id in_pcie = ports->gpu_nic[(size_t)dst * ports->nics_per_gpu + nic];
    if (f->forwards_in_domain) {
        uint32_t src_rail = segments_rail_of(f, fab_head(f, out_pcie) - f->first[FAB_NODE_NIC]);
        uint32_t dst_rail = segments_rail_of(f, fab_head(f, in_pcie) - f->first[FAB_NODE_NIC]);
        if (src_rail != dst_rail) {
            uint32_t at_source = src_up != FAB_NONE ? gpu_on_rail(f, ports, src, dst_rail, nic) : FAB_NONE;
            uint32_t at_destination = dst_up != FAB_NONE ? gpu_on_rail(f, ports, dst, src_rail, nic) : FAB_NONE;
            if (at_source != FAB_NONE && (at_destination == FAB_NONE || !f->forwards_at_destination)) {
                out_gpu = at_source;
            } else if (at_destination != FAB_NONE) {
                in_gpu = at_destination;
            } else if (src_rail / f->rails_per_network != dst_rail / f->rails_per_network) {
                return fab_fail(err, FAB_EUNREACHABLE, NULL,
                                "gpu-%u (rail %u) cannot reach gpu-%u (rail %u): no link between rails, and no GPU of "
                                "either scale-up domain has the other's rail",
                                src, src_rail, dst, dst_rail);
            }
        }
    }
    if (out_gpu != src) {
        out->head[out->n_head++] = src_up;
        out->head[out->n_head++] = ports->gpu_scaleup[out_gpu] ^ 1U;
        out_pcie = ports->gpu_nic[(size_t)out_gpu * ports->nics_per_gpu + nic];
    }
    if (in_gpu != dst) {
        in_pcie = ports->gpu_nic[(size_t)in_gpu * ports->nics_per_gpu + nic];
    }
    out->src_nic = fab_head(f, out_pcie) - f->first[FAB_NODE_NIC];
    out->dst_nic = fab_head(f, in_pcie) - f->first[FAB_NODE_NIC];
    fab_link_id up = ports->nic_access[(size_t)out->src_nic * ports->n_planes + plane];
    fab_link_id down = ports->nic_access[(size_t)out->dst_nic * ports->n_planes + plane];
    FAB_RETURN_IF(up == FAB_NONE || down == FAB_NONE,
                  fail_cut(f, up == FAB_NONE ? out_gpu : in_gpu, up == FAB_NONE ? out->src_nic : out->dst_nic, err));
    down ^= 1U;
    out->head[out->n_head++] = out_pcie;
    out->head[out->n_head++] = up;
    out->src_leaf = fab_head(f, up);
    out->dst_leaf = fab_tail(f, down);
    out->dst_port = f->port[down];
    out->tail[out->n_tail++] = down;
    out->tail[out->n_tail++] = in_pcie ^ 1U;
    if (in_gpu != dst) {
        out->tail[out->n_tail++] = ports->gpu_scaleup[in_gpu];
        out->tail[out->n_tail++] = dst_up ^ 1U;
    }
    return FAB_OK;
}

fab_status fab_flow_nics(const fab_fabric *fabric, const fab_ports *ports, uint32_t src, uint32_t dst, uint32_t nic,
                         uint32_t *out_src_nic, uint32_t *out_dst_nic, fab_error *err) {
    fab_host_segments segments = {0};
    FAB_PASS(fab_host_segments_of(fabric, ports, src, dst, nic, 0, &segments, err));
    *out_src_nic = segments.in_domain ? FAB_NONE : segments.src_nic;
    *out_dst_nic = segments.in_domain ? FAB_NONE : segments.dst_nic;
    return FAB_OK;
}

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

fab_status fab_no_route(const fab_fabric *f, uint32_t src_nic, fab_node_id src_leaf, uint32_t dst_nic,
                        fab_node_id dst_leaf, fab_error *err) {
    return fab_fail(err, FAB_EUNREACHABLE, NULL, "no route from nic-%u on %s to nic-%u on %s" FAB_NO_WAY, src_nic,
                    FAB_SAY_NODE(f, src_leaf), dst_nic, FAB_SAY_NODE(f, dst_leaf));
}
