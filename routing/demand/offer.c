/* Offered rates: what flows ask of the network. */
#include "demand.h"

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
    FAB_FILL(out, n, fab_offer_rate(offer, phase, first + fab_at));
}

uint32_t fab_relay_rail(const fab_fabric *f, const fab_ports *ports, uint32_t gpu) {
    const uint32_t nic = fab_head(f, ports->gpu_nic[(size_t)gpu * ports->nics_per_gpu]) - f->first[FAB_NODE_NIC];
    return f->forwards_in_domain ? nic % f->n_rails : 0;
}

static void add_sent(fab_sent *to, const fab_sent *of, double sign) {
    to->bytes += sign * of->bytes;
    to->squares += sign * of->squares;
    to->flows += sign * of->flows;
}

/* The GPUs of a domain in one group. False where one of them does not relay to a rail. */
static bool count_sent(const fab_fabric *f, const fab_ports *ports, const fab_all_to_all *all, fab_gpu_range own,
                       fab_sent *by_rail, fab_sent *sent) {
    fab_sent whole = {0};
    memset(by_rail, 0, ((size_t)f->n_rails + 1) * sizeof *by_rail);
    for (uint32_t gpu = own.first; gpu < own.first + own.n; gpu++) {
        const double bytes =
            all->by_receiver ? 1 : (double)fab_all_bytes(all, (gpu - all->first) % fab_all_group(all), 0);
        const fab_sent one = {bytes, bytes * bytes, 1};
        add_sent(&sent[gpu - all->first], &one, 1);
        add_sent(&by_rail[fab_relay_rail(f, ports, gpu)], &one, 1);
        add_sent(&whole, &one, 1);
    }
    for (uint32_t rail = 0; f->forwards_in_domain && own.n < fab_all_group(all) && rail < f->n_rails; rail++) {
        const uint32_t relay = ports->gpu_on_rail[(size_t)fab_domain_of(f, own.first) * f->n_rails + rail];
        if (relay < own.first || relay >= own.first + own.n) { /* FAB_NONE as well */
            return false;
        }
        add_sent(&sent[relay - all->first], &whole, 1);
        add_sent(&sent[relay - all->first], &by_rail[rail], -1);
    }
    return true;
}

fab_status fab_relay_sent(const fab_fabric *f, const fab_ports *ports, const fab_all_to_all *all, fab_sent **out,
                          fab_error *err) {
    bool is_known = all->n > 0 && (!f->forwards_in_domain || (ports->nics_per_gpu == 1 && !f->forwards_at_destination &&
                                                              !f->stores_and_forwards));
    FAB_OWNED_NEW(fab_sent, sent, all->n, err);
    FAB_OWNED_NEW(fab_sent, by_rail, (size_t)f->n_rails + 1, err);
    for (uint32_t gpu = all->first; is_known && gpu < all->first + all->n;) {
        const fab_gpu_range own = fab_exchanged_in_domain(f, ports, all, gpu);
        is_known = count_sent(f, ports, all, own, by_rail, sent);
        gpu = own.first + own.n;
    }
    *out = is_known ? sent : NULL;
    sent = is_known ? NULL : sent;
    return FAB_OK;
}

/* What a group puts on the NICs: those that send do so on their rails. */
static void count_group(const fab_offer *offer, const fab_all_to_all *all, const fab_sent *sent, uint32_t first,
                        double *by_rail) {
    const fab_fabric *f = offer->fabric;
    const fab_ports *ports = offer->ports;
    const uint32_t size = fab_all_group(all);
    double whole = 0;
    memset(by_rail, 0, ((size_t)f->n_rails + 1) * sizeof *by_rail);
    for (uint32_t i = 0; i < size; i++) {
        whole += all->by_receiver ? 1 : (double)fab_all_bytes(all, i, 0);
        by_rail[fab_relay_rail(f, ports, first + i)] += all->by_receiver ? (double)fab_all_bytes(all, 0, i) : 1;
    }
    for (uint32_t gpu = first; gpu < first + size; gpu++) {
        const fab_gpu_range own = fab_exchanged_in_domain(f, ports, all, gpu);
        const uint32_t rail = fab_relay_rail(f, ports, gpu);
        double others = whole;
        double receivers = by_rail[rail];
        for (uint32_t i = own.first; i < own.first + own.n; i++) {
            others -= all->by_receiver ? 1 : (double)fab_all_bytes(all, i - first, 0);
            if (fab_relay_rail(f, ports, i) == rail) {
                receivers -= all->by_receiver ? (double)fab_all_bytes(all, 0, i - first) : 1;
            }
        }
        const double mine = all->by_receiver ? (double)fab_all_bytes(all, 0, gpu - first) : 1;
        for (uint32_t i = 0; i < ports->nics_per_gpu; i++) {
            const fab_link_id pcie = ports->gpu_nic[(size_t)gpu * ports->nics_per_gpu + i];
            const uint32_t nic = fab_head(f, pcie) - f->first[FAB_NODE_NIC];
            offer->sent[nic] += sent[gpu - all->first].bytes * receivers / ports->nics_per_gpu;
            offer->received[nic] += mine * others / ports->nics_per_gpu;
        }
    }
}

/* Flows of an all-to-all that are looked at one by one where GPUs relay between rails. */
#define MAX_RELAYED (UINT64_C(1) << 26)

/* *out_counted: false where flows must be looked at. */
static fab_status count_all(const fab_offer *offer, const fab_phase *phase, bool *out_counted, fab_error *err) {
    const fab_all_to_all *all = &phase->all;
    FAB_OWNED fab_sent *sent = NULL;
    FAB_OWNED_NEW(double, by_rail, (size_t)offer->fabric->n_rails + 1, err);
    FAB_PASS(fab_relay_sent(offer->fabric, offer->ports, all, &sent, err));
    *out_counted = sent != NULL;
    FAB_REFUSE_IF(sent == NULL && phase->n_flows > MAX_RELAYED, err, FAB_EUNSUPPORTED, NULL,
                  "an all-to-all of %" PRIu64 " flows over GPUs that relay between rails; the limit is %" PRIu64
                  ", but where the sender's domain has a GPU in the same group on every rail, one NIC a GPU, and "
                  "forward=source, forwarding=pipelined: choose so, or fewer GPUs, or of a ranking job a smaller "
                  "table-group",
                  phase->n_flows, MAX_RELAYED);
    for (uint32_t first = all->first; sent != NULL && first < all->first + all->n; first += fab_all_group(all)) {
        count_group(offer, all, sent, first, by_rail);
    }
    return FAB_OK;
}

fab_status fab_offer_init(const fab_fabric *fabric, const fab_ports *ports, const fab_phase *phase, fab_offer *out,
                          fab_error *err) {
    FAB_OWNS(fab_offer_release) fab_offer offer = {.fabric = fabric, .ports = ports, .line_bps = fab_nic_rate(fabric)};
    FAB_OWNED double *rate = NULL;
    uint32_t n_nics = fab_n_of(fabric, FAB_NODE_NIC);
    FAB_PASS(fab_ports_check(fabric, ports, phase, err));
    FAB_PASS(FAB_NEW_ALL(n_nics, err, offer.sent, offer.received));
    bool counted = false;
    FAB_PASS(phase->all.n > 0 ? count_all(&offer, phase, &counted, err) : FAB_OK);
    for (uint64_t i = 0; !counted && i < phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        double most = 0;
        FAB_PASS(visit_nics(&offer, &flow, 0, &most, err));
    }
    if (phase->all.n == 0) {
        FAB_PASS(FAB_NEW(rate, phase->n_flows, err));
        FAB_FILL(rate, phase->n_flows, fab_offer_rate(&offer, phase, fab_at));
        offer.rate = rate;
        rate = NULL;
    }
    return FAB_GIVE(*out, offer);
}

FAB_RELEASES(fab_offer_release, fab_offer, sent, received, rate);
