/* Offered rates, loads, and their conservation. */
#include "fab/analysis.h"
#include "fab/memory.h"
#include "fab/routing.h"

#include <math.h>
#include <stdlib.h>

double fab_nic_rate(const fab_fabric *f) {
    double rate = 0;
    for (uint32_t c = 0; c < f->n_classes; c++) {
        if (f->classes[c].kind == FAB_LINK_ACCESS) {
            rate = fmax(rate, f->classes[c].capacity_bps);
        }
    }
    return rate * f->n_planes;
}

/* Adds the flow's bytes to its NICs (pass 0), or finds the fullest of them (pass 1). */
static fab_status visit_nics(const fab_fabric *f, const fab_ports *ports, const fab_phase *phase, uint32_t flow,
                             int pass, double *sent, double *received, double *most, fab_error *err) {
    double part = (double)phase->bytes[flow] / ports->nics_per_gpu;
    *most = 0;
    for (uint32_t i = 0; i < ports->nics_per_gpu; i++) {
        uint32_t src = 0;
        uint32_t dst = 0;
        fab_status status = fab_flow_nics(f, ports, phase->src[flow], phase->dst[flow], i, &src, &dst, err);
        if (status != FAB_OK || src == FAB_NONE) {
            return status;
        }
        if (pass == 0) {
            sent[src] += part;
            received[dst] += part;
        } else {
            *most = fmax(*most, fmax(sent[src], received[dst]));
        }
    }
    return FAB_OK;
}

fab_status fab_offered_rates(const fab_fabric *f, const fab_phase *phase, double *out_rate_bps, fab_error *err) {
    fab_status status = FAB_OK;
    fab_ports ports = {0};
    double *sent = NULL; /* by NIC: GPUs that share one, or hand over for others, share its rate */
    double *received = NULL;
    uint32_t n_nics = fab_n_of(f, FAB_NODE_NIC);
    double rate = fab_nic_rate(f);
    FAB_TRY(fab_ports_init(f, &ports, err));
    FAB_TRY(FAB_NEW(sent, n_nics, err));
    FAB_TRY(FAB_NEW(received, n_nics, err));
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < phase->n_flows; i++) {
            double most = 0;
            FAB_TRY(visit_nics(f, &ports, phase, i, pass, sent, received, &most, err));
            out_rate_bps[i] = most > 0 ? (double)phase->bytes[i] * rate / most : 0;
        }
    }
done:
    fab_ports_release(&ports);
    free(sent);
    free(received);
    return status;
}

void fab_route_load(const fab_fabric *f, const fab_routes *routes, const double *amount, double *out_load) {
    for (uint32_t l = 0; l < f->n_links; l++) {
        out_load[l] = 0;
    }
    for (uint32_t flow = 0; flow < routes->n_flows; flow++) {
        uint32_t first = routes->flow_first[flow];
        uint32_t last = routes->flow_first[flow + 1];
        if (first == last) {
            continue;
        }
        double part = amount[flow] / (last - first);
        for (size_t i = routes->path_first[first]; i < routes->path_first[last]; i++) {
            out_load[routes->link[i]] += part;
        }
    }
}

fab_status fab_check_conservation(const fab_fabric *f, const double *load, fab_error *err) {
    double entered = 0;
    double left = 0;
    for (fab_node_id v = f->first[FAB_NODE_NIC]; v < f->n_nodes; v++) {
        double in = 0;
        double out = 0;
        bool is_nic = v < f->first[FAB_NODE_DOMAIN];
        for (uint32_t k = f->out_first[v]; k < f->out_first[v + 1]; k++) {
            fab_link_id link = f->out_link[k];
            out += load[link];
            in += load[link ^ 1U];
            if (is_nic && fab_class_of(f, link)->kind == FAB_LINK_ACCESS) {
                entered += load[link];
                left += load[link ^ 1U];
            }
        }
        if (fabs(in - out) > 1e-9 * fmax(in, out)) {
            char name[32];
            return fab_fail(err, FAB_EINTERNAL, fab_node_name(f, v, name), "receives %.17g but sends %.17g", in, out);
        }
    }
    if (fabs(entered - left) > 1e-9 * fmax(entered, left)) {
        return fab_fail(err, FAB_EINTERNAL, NULL, "%.17g enters the network but %.17g leaves it", entered, left);
    }
    return FAB_OK;
}
