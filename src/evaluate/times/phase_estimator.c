/* What a phase offers to every link of the healthy fabric, so that changes can be told from it. */
#include "estimator_internal.h"

#include "fab/ranked.h"
#include "measure/measure_rates.h"

#include <float.h>

#define BITS 8.0
#define SAME 1e-12

/* --- paths -------------------------------------------------------------------------------------------------------- */

double estimator_latency(const fab_fabric *f, const fab_link_id *link, size_t n) {
    double sum_s = 0;
    bool leaves = false;
    for (size_t i = 0; i < n; i++) {
        const fab_link_class *c = fab_class_of(f, link[i]);
        leaves = leaves || c->kind == FAB_LINK_ACCESS;
        sum_s += c->latency_s;
    }
    return leaves ? sum_s : -1;
}

void estimator_add_path(const fab_estimator *c, estimator_load *load, double *relayed, uint32_t flow, uint32_t path,
                        const fab_link_id *link, size_t n, double sign) {
    const fab_fabric *f = c->request.fabric;
    double weight = sign * fab_path_part(c->request.routes, flow, path);
    double bits = weight * c->bits[flow];
    double most = c->bits[flow];
    bool drops = f->stores_and_forwards && estimator_latency(f, link, n) >= 0;
    for (size_t i = 0; i < n; i++) {
        estimator_load *to = &load[link[i]];
        if (drops && fab_class_of(f, link[i])->kind == FAB_LINK_SCALEUP) {
            relayed[link[i]] += bits;
            continue;
        }
        to->bits += bits;
        to->weight += weight;
        to->most = to->most > most ? to->most : most;
    }
}

double estimator_capacity(const fab_estimator *c, const fab_mask *mask, fab_link_id link) {
    double residual = mask->residual[link];
    if (residual == 1) {
        return c->capacity[link];
    }
    const fab_link_class *k = fab_class_of(c->request.fabric, link);
    double bps = k->usable_bps * residual;
    return k->kind == FAB_LINK_PCIE && bps >= c->request.offer->line_bps * (1 - SAME) ? (double)INFINITY : bps;
}

static fab_status add_paths(fab_estimator *c, fab_error *err) {
    const fab_fabric *f = c->request.fabric;
    const fab_routes *r = c->request.routes;
    FAB_PASS(FAB_NEW(c->flow_of, c->n_paths, err));
    FAB_PASS(FAB_NEW(c->bits, r->n_flows, err));
    FAB_PASS(FAB_NEW(c->load, f->n_links, err));
    FAB_PASS(f->stores_and_forwards ? FAB_NEW(c->relayed, f->n_links, err) : FAB_OK);
    c->is_even = true;
    for (uint32_t flow = 0; flow < r->n_flows; flow++) {
        c->bits[flow] = (double)fab_phase_flow(c->request.phase, flow).bytes * BITS;
        c->is_even = c->is_even && c->bits[flow] == c->bits[0];
        for (uint32_t path = r->flow_first[flow]; path < r->flow_first[flow + 1]; path++) {
            c->flow_of[path] = flow;
            estimator_add_path(c, c->load, c->relayed, flow, path, r->link + r->path_first[path],
                               r->path_first[path + 1] - r->path_first[path], 1);
        }
    }
    for (uint32_t l = 0; c->relayed != NULL && l < f->n_links; l++) {
        c->relay_s = fmax(c->relay_s, c->relayed[l] / fab_class_of(f, l)->capacity_bps);
    }
    return FAB_OK;
}

static fab_status index_links(fab_estimator *c, fab_error *err) {
    const fab_routes *r = c->request.routes;
    uint32_t n_links = c->request.fabric->n_links;
    FAB_PASS(FAB_NEW(c->first, (size_t)n_links + 2, err));
    FAB_PASS(FAB_NEW(c->crossing, r->path_first[c->n_paths], err));
    for (size_t i = 0; i < r->path_first[c->n_paths]; i++) { /* places are shifted by two while they are filled */
        c->first[r->link[i] + 2]++;
    }
    FAB_ADD_UP(c->first + 1, n_links);
    for (uint32_t path = 0; path < c->n_paths; path++) {
        for (size_t i = r->path_first[path]; i < r->path_first[path + 1]; i++) {
            c->crossing[c->first[r->link[i] + 1]++] = path;
        }
    }
    return FAB_OK;
}

/* --- orders ------------------------------------------------------------------------------------------------------- */

static fab_status rank_links(const fab_estimator *c, double (*seconds)(const estimator_load *, double),
                             estimator_order *out, fab_error *err) {
    FAB_OWNED_NEW(fab_ranked, list, c->request.fabric->n_links, err);
    for (uint32_t l = 0; l < c->request.fabric->n_links; l++) {
        double s = seconds(&c->load[l], c->capacity[l]);
        if (s > 0) {
            list[out->n++] = (fab_ranked){s, l};
        }
    }
    FAB_PASS(fab_ranked_sort(list, out->n, err));
    FAB_PASS(FAB_NEW_ALL(out->n, err, out->link, out->s));
    for (uint32_t i = 0; i < out->n; i++) {
        out->link[i] = list[i].item;
        out->s[i] = list[i].value;
    }
    return FAB_OK;
}

#define N_HEAVY 64U

/* From which time on links are heavy: so that few are. */
static void find_heavy(fab_estimator *c) {
    c->heavy_s = c->by_bits.n > 0 ? c->by_bits.s[(c->by_bits.n < N_HEAVY ? c->by_bits.n : N_HEAVY) - 1] : 0;
    for (uint32_t l = 0; l < c->request.fabric->n_links; l++) {
        c->load[l].limit = c->capacity[l] * c->heavy_s * (1 - SAME);
    }
}

/* Bits of paths are multiples of one unit, and all of them together fit. */
bool estimator_is_exact(const fab_estimator *c) {
    const uint32_t *first = c->request.routes->flow_first;
    int unit = DBL_MAX_EXP;
    double sum = 0;
    for (uint32_t flow = 0; flow < c->request.routes->n_flows; flow++) {
        const uint32_t n = first[flow + 1] - first[flow];
        if ((n & (n - 1)) != 0) {
            return false; /* its parts are no binary fractions */
        }
        if (c->bits[flow] > 0 && n > 0) {
            int exponent = 0;
            uint64_t digits = (uint64_t)ldexp(frexp(c->bits[flow] / n, &exponent), DBL_MANT_DIG);
            int lowest = exponent - DBL_MANT_DIG + __builtin_ctzll(digits);
            unit = lowest < unit ? lowest : unit;
        }
        sum += c->bits[flow];
    }
    return sum * 1.0001 <= ldexp(1, unit + DBL_MANT_DIG);
}

/* --- latencies ---------------------------------------------------------------------------------------------------- */

static fab_status count_latencies(fab_estimator *c, fab_error *err) {
    const fab_fabric *f = c->request.fabric;
    const fab_routes *r = c->request.routes;
    double s = -1;
    int32_t n = 0; /* paths of this latency that follow each other */
    for (uint32_t path = 0; path < c->n_paths; path++) {
        const size_t first = r->path_first[path];
        const double own_s = estimator_latency(f, r->link + first, r->path_first[path + 1] - first);
        FAB_PASS(own_s != s ? estimator_count_latency(&c->latencies, s, n, err) : FAB_OK);
        n = own_s != s ? 1 : n + 1;
        s = own_s;
    }
    return estimator_count_latency(&c->latencies, s, n, err);
}

/* In a tree a minimal path goes up as often as down, so that its length says which tiers it crosses. */
static bool is_flat(const fab_estimator *c) {
    const fab_fabric *f = c->request.fabric;
    bool flat = fab_is_tree(f) && fab_router_facts_of(c->request.router)->is_minimal;
    for (uint32_t i = 0; i < f->n_classes; i++) {
        for (uint32_t k = 0; k < i && flat; k++) {
            const fab_link_class *a = &f->classes[i];
            const fab_link_class *b = &f->classes[k];
            flat = a->kind != b->kind || a->tier != b->tier || a->latency_s == b->latency_s;
        }
    }
    return flat;
}

/* --- what even flows need no loads of their own for --------------------------------------------------------------- */

static void find_scale(fab_estimator *c) {
    const fab_fabric *f = c->request.fabric;
    const fab_routes *r = c->request.routes;
    double low = INFINITY;
    double high = 0;
    for (uint32_t flow = 0; flow < r->n_flows; flow++) {
        double bps = fab_offer_rate(c->request.offer, c->request.phase, flow);
        if (bps > 0) {
            low = fmin(low, bps);
            high = fmax(high, bps);
        }
    }
    for (uint32_t l = 0; l < f->n_links; l++) {
        fab_link_kind kind = fab_class_of(f, l)->kind;
        if (kind == FAB_LINK_SCALEUP || kind == FAB_LINK_PCIE) {
            c->inside_s = fmax(c->inside_s, estimator_bits_s(&c->load[l], c->capacity[l]));
        }
    }
    const bool has_other_nics = fab_router_ports(c->request.router)->nics_per_gpu > 1; /* which flows turn to */
    bool segments_stay = !has_other_nics && (!f->forwards_in_domain || f->n_planes == 1);
    segments_stay = segments_stay && !(f->host.nic_part < 1); /* utilisation is of the whole rate of a NIC */
    if (c->is_even && segments_stay && high > 0 && high <= low * (1 + SAME)) {
        c->s_per_ratio = c->bits[0] / high;
    }
}

static fab_status find_limits(fab_estimator *c, fab_error *err) {
    const fab_estimator_request *q = &c->request;
    const fab_path_chunk chunk = {.routes = q->routes, .phase = q->phase};
    if (!fab_router_facts_of(q->router)->reorders) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW(c->limit_bps, q->routes->n_flows, err));
    FAB_PASS(fab_flow_latencies_of_routes(q->router, &chunk, c->limit_bps, err));
    fab_flow_limits(q->router, c->limit_bps, q->routes->n_flows, c->limit_bps);
    for (uint32_t flow = 0; flow < q->routes->n_flows; flow++) {
        c->most_limit_s = fmax(c->most_limit_s, c->bits[flow] / c->limit_bps[flow]);
    }
    return FAB_OK;
}

/* With lossless queues every change is simulated; what nothing changes for, once. */
static fab_status find_packets(fab_estimator *c, fab_error *err) {
    static const size_t NO_LINKS = 0;
    const fab_rerouted as_it_is = {.path_first = &NO_LINKS};
    FAB_OWNS(fab_mask_release) fab_mask nothing = {.n_links = 0};
    FAB_OWNS(fab_estimator_reader_free_owned) fab_estimator_reader *reader = NULL;
    fab_phase_seconds out;
    c->packets_s = NAN;
    if (!fab_is_lossless(c->request.transport)) {
        return FAB_OK;
    }
    FAB_PASS(fab_check_lossless(c->request.router, c->request.transport, err));
    FAB_PASS(fab_mask_init(c->request.fabric, NULL, &nothing, err));
    FAB_PASS(fab_estimator_reader_new(c, &reader, err));
    FAB_PASS(fab_estimator_read(reader, &nothing, &as_it_is, false, &out, err));
    c->packets_s = out.transfer_s;
    return FAB_OK;
}

/* ------------------------------------------------------------------------------------------------------------------ */

fab_status fab_estimator_new(const fab_estimator_request *request, fab_estimator **out, fab_error *err) {
    const fab_fabric *f = request->fabric;
    FAB_REFUSE_IF(fab_router_facts_of(request->router)->n_rounds > 1, err, FAB_EUNSUPPORTED, NULL,
                  "engine %s: queue pairs that take turns have no times under failures; spread=split has",
                  fab_router_facts_of(request->router)->label);
    FAB_OWNS_NEW(fab_estimator_free_owned, fab_estimator, c, 1, err);
    c->request = *request;
    c->n_paths = request->routes->flow_first[request->routes->n_flows];
    FAB_PASS(FAB_NEW(c->capacity, f->n_links, err));
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_link_class *k = fab_class_of(f, l);
        bool nic_is_slower = k->kind == FAB_LINK_PCIE && k->capacity_bps >= request->offer->line_bps * (1 - SAME);
        c->capacity[l] = nic_is_slower ? (double)INFINITY : k->usable_bps;
    }
    FAB_PASS(add_paths(c, err));
    FAB_PASS(rank_links(c, estimator_bits_s, &c->by_bits, err));
    find_heavy(c);
    if (!c->is_even) {
        FAB_PASS(rank_links(c, estimator_shares_s, &c->by_shares, err));
        FAB_PASS(request->once ? FAB_OK : index_links(c, err));
    }
    FAB_PASS(count_latencies(c, err));
    FAB_PASS(find_limits(c, err));
    c->is_flat = is_flat(c);
    find_scale(c);
    FAB_PASS(find_packets(c, err));
    return FAB_GIVE(*out, c);
}

FAB_FREES_WHOLE(fab_estimator_free, fab_estimator, flow_of, bits, capacity, load, relayed, by_bits.link, by_bits.s,
                by_shares.link, by_shares.s, first, crossing, latencies.s, latencies.n_with, limit_bps);
