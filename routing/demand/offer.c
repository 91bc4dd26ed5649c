/* Offered rates: what flows ask of the network. */
#include "demand.h"
#include "fab/memory.h"

#include <math.h>
#include <stdlib.h>

uint64_t fab_all_leaving(const fab_fabric *f, const fab_ports *ports, const fab_all_to_all *all, uint64_t *out_bytes) {
    const uint32_t size = fab_all_group(all);
    uint64_t flows = 0;
    *out_bytes = 0;
    for (uint32_t i = 0; i < all->n; i++) { /* from or to each, by whose shares they are */
        const uint64_t n = size - fab_exchanged_in_domain(f, ports, all, all->first + i).n;
        flows += n;
        *out_bytes += n * fab_all_bytes(all, i % size, i % size);
    }
    return flows;
}

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
static fab_status visit_nics(const fab_offer *offer, const fab_flow *flow, int pass, double *most, fab_error *err) {
    const fab_ports *ports = offer->ports;
    double part = (double)flow->bytes / ports->nics_per_gpu;
    *most = 0;
    for (uint32_t i = 0; i < ports->nics_per_gpu; i++) {
        uint32_t src = 0;
        uint32_t dst = 0;
        fab_status status = fab_flow_nics(offer->fabric, ports, flow->src, flow->dst, i, &src, &dst, err);
        if (status != FAB_OK || src == FAB_NONE) {
            return status;
        }
        if (pass == 0) {
            offer->sent[src] += part;
            offer->received[dst] += part;
        } else {
            *most = fmax(*most, fmax(offer->sent[src], offer->received[dst]));
        }
    }
    return FAB_OK;
}

double fab_offer_rate(const fab_offer *offer, const fab_phase *phase, uint64_t i) {
    if (offer->rate != NULL) {
        return offer->rate[i];
    }
    fab_flow flow = fab_phase_flow(phase, i);
    double most = 0;
    (void)visit_nics(offer, &flow, 1, &most, NULL); /* init has found a way for every pair */
    return most > 0 ? (double)flow.bytes * offer->line_bps / most : 0;
}

static uint32_t only_nic(const fab_offer *offer, uint32_t gpu) {
    return fab_head(offer->fabric, offer->ports->gpu_nic[gpu]) - offer->fabric->first[FAB_NODE_NIC];
}

/* Rows of an all-to-all where every GPU has one NIC of its own or shared, and none relays. */
static void fill_rows(const fab_offer *offer, const fab_all_to_all *all, uint64_t first, uint32_t n, double *out) {
    bool has_domains = offer->ports->gpu_scaleup[all->first] != FAB_NONE;
    uint32_t per_domain = has_domains ? offer->fabric->gpus_per_domain : 1;
    double scale = (double)all->bytes * offer->line_bps;
    uint32_t from = (uint32_t)(first / (all->n - 1));
    uint32_t to = (uint32_t)(first % (all->n - 1));
    to += to >= from;
    for (uint32_t i = 0; i < n;) {
        uint32_t gpu = all->first + from;
        uint32_t own = gpu / per_domain * per_domain;
        double sent = offer->sent[only_nic(offer, gpu)];
        for (; i < n && to < all->n; to++) {
            uint32_t other = all->first + to;
            double received = offer->received[only_nic(offer, other)];
            double most = sent > received ? sent : received;
            if (to != from) {
                out[i++] = other - own < per_domain || most == 0 ? 0 : scale / most;
            }
        }
        from++;
        to = 0;
    }
}

void fab_offer_chunk(const fab_offer *offer, const fab_phase *phase, uint64_t first, uint32_t n, double *out) {
    if (fab_all_is_plain(&phase->all) && offer->ports->nics_per_gpu == 1 && !offer->fabric->forwards_in_domain) {
        fill_rows(offer, &phase->all, first, n, out);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        out[i] = fab_offer_rate(offer, phase, first + i);
    }
}

/* What an all-to-all puts on the NICs where no flow changes rails: as much goes in as out, but for shares. */
static void count_all(const fab_offer *offer, const fab_all_to_all *all) {
    const fab_ports *ports = offer->ports;
    const uint32_t size = fab_all_group(all);
    const uint32_t first = all->first;
    double whole = 0;
    for (uint32_t i = 0; i < size; i++) {
        whole += (double)fab_all_bytes(all, i, i);
    }
    for (uint32_t gpu = first; gpu < first + all->n; gpu++) {
        const fab_gpu_range own = fab_exchanged_in_domain(offer->fabric, ports, all, gpu);
        double others = whole; /* a flow from or to each that is elsewhere, by the shares of those */
        for (uint32_t i = own.first; i < own.first + own.n; i++) {
            others -= (double)fab_all_bytes(all, (i - first) % size, (i - first) % size);
        }
        const uint32_t place = (gpu - first) % size;
        const double mine = (size - own.n) * (double)fab_all_bytes(all, place, place);
        for (uint32_t i = 0; i < ports->nics_per_gpu; i++) {
            fab_node_id node = fab_head(offer->fabric, ports->gpu_nic[(size_t)gpu * ports->nics_per_gpu + i]);
            uint32_t nic = node - offer->fabric->first[FAB_NODE_NIC];
            offer->sent[nic] += (all->by_receiver ? others : mine) / ports->nics_per_gpu;
            offer->received[nic] += (all->by_receiver ? mine : others) / ports->nics_per_gpu;
        }
    }
}

fab_status fab_offer_init(const fab_fabric *fabric, const fab_ports *ports, const fab_phase *phase, fab_offer *out,
                          fab_error *err) {
    fab_status status = FAB_OK;
    fab_offer offer = {.fabric = fabric, .ports = ports, .line_bps = fab_nic_rate(fabric)};
    double *rate = NULL;
    uint32_t n_nics = fab_n_of(fabric, FAB_NODE_NIC);
    FAB_TRY(fab_ports_check(fabric, ports, phase, err));
    FAB_TRY(FAB_NEW_ALL(n_nics, err, offer.sent, offer.received));
    bool counted = phase->all.n > 0 && !fabric->forwards_in_domain;
    if (counted) {
        count_all(&offer, &phase->all);
    }
    for (uint64_t i = 0; !counted && i < phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        double most = 0;
        FAB_TRY(visit_nics(&offer, &flow, 0, &most, err));
    }
    if (phase->all.n == 0) {
        FAB_TRY(FAB_NEW(rate, phase->n_flows, err));
        for (uint64_t i = 0; i < phase->n_flows; i++) {
            rate[i] = fab_offer_rate(&offer, phase, i);
        }
        offer.rate = rate;
        rate = NULL;
    }
    *out = offer;
    offer = (fab_offer){0};
done:
    free(rate);
    fab_offer_release(&offer);
    return status;
}

void fab_offer_release(fab_offer *offer) {
    FAB_FREE_ALL(offer->sent, offer->received, offer->rate);
    *offer = (fab_offer){0};
}
