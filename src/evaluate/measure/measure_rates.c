/* From routes to rates and seconds. What a solver calls a flow is a path here (the paths of a flow share its weight and
 * its bytes evenly), or under a split a whole flow with the share of each link. */
#include "times/relay.h"
#include "link_classes.h"
#include "proof.h"

#define BITS     8.0
#define SAME     1e-12 /* bytes over weight this close are equal */
#define BELOW_IT 1e-9

FAB_FREES_AFTER(fab_rate_scratch_free, fab_rate_scratch, s) {
    fab_max_min_free(s->solver);
    FAB_FREE_ALL(s->capacity, s->weight, s->limit, s->bits, s->rate, s->finish_s, s->flow_limit, s->after_s,
                 s->bottleneck, s->first, s->link, s->share, s->sent.finish_s, s->sent.paused_s);
}

static fab_status open_scratch(const fab_engine_run *run, fab_rate_scratch **out, fab_error *err) {
    fab_scratch *all = run->scratch;
    const fab_fabric *f = run->prepared->fabric;
    if (all->rates == NULL) {
        FAB_PASS(FAB_NEW(all->rates, 1, err));
        FAB_PASS(FAB_NEW(all->rates->capacity, f->n_links, err));
        FAB_PASS(fab_max_min_new(&all->rates->solver, err));
    }
    for (uint32_t l = 0; l < f->n_links; l++) { /* anew: a split merges links */
        double bps = fab_prepared_capacity(run->prepared, l);
        bool is_pcie = fab_class_of(f, l)->kind == FAB_LINK_PCIE;
        bool nic_is_slower = is_pcie && bps >= run->prepared->offer->line_bps * (1 - SAME);
        all->rates->capacity[l] = nic_is_slower ? (double)INFINITY : bps; /* so that the NIC is named */
    }
    *out = all->rates;
    return FAB_OK;
}

/* --- bounds ------------------------------------------------------------------------------------------------------- */

/* What the fullest link of all takes, those inside servers included: no phase under this routing is faster. `without`
 * (NULL: nothing) is carried at another time. */
static double fullest_link_s(const fab_prepared_phase *s, const double *bytes, const double *without) {
    double most = 0;
    for (uint32_t l = 0; l < s->fabric->n_links; l++) {
        double mine = bytes[l] - (without != NULL ? without[l] : 0);
        const double own_s = mine > 0 ? mine * BITS / fab_prepared_capacity(s, l) : 0;
        most = own_s > most ? own_s : most;
    }
    return most;
}

static double least_possible_s(const fab_engine_run *run, const double *bytes) {
    bool chooses = run->transport != NULL &&
                   (run->transport->kind == FAB_TRANSPORT_SPRAY_ACK ||
                    (run->transport->kind == FAB_TRANSPORT_PFC && fab_router_facts_of(run->router)->reorders));
    if (chooses) {
        return run->prepared->least_s; /* senders or switches choose among paths: links carry what comes of it */
    }
    return fmax(fullest_link_s(run->prepared, bytes, NULL), run->prepared->least_s);
}

static fab_status check_bound(const fab_engine_run *run, const double *bytes, const fab_figures *sample,
                              fab_error *err) {
    double least_s = least_possible_s(run, bytes);
    FAB_REFUSE_IF(sample->transfer_s < least_s * (1 - BELOW_IT), err, FAB_EINTERNAL,
                  fab_router_facts_of(run->router)->label, "the phase takes %.17g s and beats its lower bound %.17g s",
                  sample->transfer_s, least_s);
    return FAB_OK;
}

/* --- solving ------------------------------------------------------------------------------------------------------ */

/* Bits in proportion to the weights: nobody's rate changes before it is done. */
static bool in_proportion(const fab_sharing *p, const double *bits) {
    double unit = p->n_flows > 0 ? bits[0] / (p->weight != NULL ? p->weight[0] : 1) : 0;
    for (uint32_t i = 1; i < p->n_flows; i++) {
        double own = bits[i] / (p->weight != NULL ? p->weight[i] : 1);
        if (fabs(own - unit) > unit * SAME) {
            return false;
        }
    }
    return true;
}

void fab_hash_words(const void *data, size_t bytes, uint64_t h[2]) {
    const char *at = data;
    for (size_t i = 0; i + sizeof(uint64_t) <= bytes; i += sizeof(uint64_t)) {
        uint64_t x = 0;
        memcpy(&x, at + i, sizeof x);
        h[0] = (h[0] ^ x) * UINT64_C(0x9e3779b97f4a7c15);
        h[1] = (h[1] ^ (x >> 32 | x << 32)) * UINT64_C(0xd6e8feb86659fd93);
        h[0] ^= h[0] >> 29;
        h[1] ^= h[1] >> 31;
    }
    for (size_t i = bytes - bytes % sizeof(uint64_t); i < bytes; i++) {
        h[0] = (h[0] ^ (unsigned char)at[i]) * UINT64_C(0x9e3779b97f4a7c15);
    }
}

/* All that rates and ends depend on, bits by the power of two that they have over those of the first flow: multiplied
 * by one, all times are, and nothing is rounded. */
static void hash_sharing(const fab_sharing *p, const double *bits, const uint64_t routed[2], uint64_t out[3]) {
    int first = 0;
    out[0] = p->n_links;
    out[1] = p->n_flows;
    out[2] = p->n_flows;
    (void)frexp(p->n_flows > 0 ? bits[0] : 0, &first);
    const double unit = ldexp(1, -first);
    fab_hash_words(p->capacity, p->n_links * sizeof *p->capacity, out);
    if (routed[1] != 0) {
        fab_hash_words(routed, 2 * sizeof *routed, out);
    } else {
        fab_hash_words(p->first, (p->n_flows + (size_t)1) * sizeof *p->first, out);
        fab_hash_words(p->link + p->first[0], (size_t)(p->first[p->n_flows] - p->first[0]) * sizeof *p->link, out);
    }
    fab_hash_words(p->weight, p->weight != NULL ? p->n_flows * sizeof *p->weight : 0, out);
    fab_hash_words(p->limit, p->limit != NULL ? p->n_flows * sizeof *p->limit : 0, out);
    for (uint32_t i = 0; i < p->n_flows; i++) {
        const double scaled = bits[i] * unit;
        fab_hash_words(&scaled, sizeof scaled, out);
    }
}

/* What comes on top of a transfer, of a run with a detail. */
static double after_transfer_s(const fab_engine_run *run, uint64_t flow) {
    const fab_prepared_phase *s = run->prepared;
    return s->relay_s + fab_flow_latency_s(s->fabric, s->phase, run->scratch->latency_s[flow]);
}

/* When the last path is done; the detail's flows have a latency besides. */
static fab_status find_last(const fab_engine_run *run, const fab_sharing *p, uint64_t n_flows, const uint32_t *first,
                            fab_error *err) {
    fab_rate_scratch *s = run->scratch->rates;
    if (run->detail == NULL) {
        return fab_fluid_last(s->solver, p, s->bits, NULL, &s->last, err);
    }
    FAB_PASS(FAB_GROW(s->after_s, s->after_capacity, p->n_flows, err));
    for (uint64_t flow = 0; flow < n_flows; flow++) {
        const double after_s = after_transfer_s(run, flow);
        const uint32_t to = first != NULL ? first[flow + 1] : (uint32_t)flow + 1;
        for (uint32_t i = first != NULL ? first[flow] : (uint32_t)flow; i < to; i++) {
            s->after_s[i] = after_s;
        }
    }
    return fab_fluid_last(s->solver, p, s->bits, s->after_s, &s->last, err);
}

/* Ends of all paths where somebody asks for them, or the last cannot be told without; those of the problem before,
 * where it is the same. */
static fab_status find_ends(const fab_engine_run *run, const fab_sharing *p, fab_error *err) {
    fab_rate_scratch *s = run->scratch->rates;
    const bool are_asked = (run->detail != NULL && run->keep_flows) || run->trace != NULL || run->proof != NULL ||
                           fab_is_lossless(run->transport);
    if (s->last.is_known && !are_asked) {
        return FAB_OK;
    }
    if (s->ends_bits > 0 && s->bits[0] > 0) {
        for (uint32_t i = 0; i < p->n_flows; i++) {
            s->finish_s[i] *= s->bits[0] / s->ends_bits;
        }
    } else {
        FAB_PASS(
            fab_fluid_finish(p, s->bits, &(fab_fluid_progress){run->advance, run->advance_context}, s->finish_s, err));
    }
    s->ends_bits = s->bits[0];
    return FAB_OK;
}

/* Of flows, each the paths first[i] ... first[i + 1] - 1 of the sharing; first NULL: one each. `routed`: hash of what
 * its links come from; 0: not known. */
static fab_status rates_solve(const fab_engine_run *run, const fab_sharing *p, uint64_t n_flows, const uint32_t *first,
                              const uint64_t routed[2], fab_error *err) {
    fab_rate_scratch *s = run->scratch->rates;
    uint64_t hash[3] = {0};
    const bool is_even = in_proportion(p, s->bits);
    s->last.is_known = false;
    if (p->share == NULL) { /* one way of a collective after the other */
        hash_sharing(p, s->bits, routed, hash);
    }
    if (hash[2] == 0 || memcmp(hash, s->solved, sizeof hash) != 0) {
        s->solved[2] = 0;
        s->ends_bits = 0;
        FAB_PASS(FAB_GROW(s->rate, s->rate_capacity, p->n_flows, err));
        FAB_PASS(FAB_GROW(s->finish_s, s->finish_capacity, p->n_flows, err));
        FAB_PASS(FAB_GROW(s->bottleneck, s->bottleneck_capacity, p->n_flows, err));
        FAB_PASS(fab_max_min_solve(s->solver, p, s->rate, s->bottleneck, err));
    }
    if (!is_even) {
        FAB_PASS(find_last(run, p, n_flows, first, err));
        FAB_PASS(find_ends(run, p, err));
    }
    for (uint32_t i = 0; is_even && i < p->n_flows; i++) {
        s->finish_s[i] = s->bits[i] > 0 ? s->bits[i] / s->rate[i] : 0;
    }
    memcpy(s->solved, hash, sizeof hash);
    return FAB_OK;
}

/* Where flow (of the solver's) is bottlenecked. */
static void count_bottleneck(const fab_engine_run *run, uint32_t link, double part) {
    fab_rate_figures *r = &run->detail->rates;
    if (link == FAB_NO_BOTTLENECK) {
        r->bottlenecked_at_window += part;
        return;
    }
    const fab_link_class *c = fab_class_of(run->prepared->fabric, link);
    if (c->kind == FAB_LINK_SCALEUP) {
        r->bottlenecked_at_scaleup += part;
    } else if (c->kind == FAB_LINK_PCIE) {
        r->bottlenecked_at_pcie += part;
    } else {
        run->detail->tiers[2 * (c->tier - 1) + (fab_is_up(link) ? 0 : 1)].bottlenecked_flows += part;
    }
}

/* The flow that ends last; the first of several. */
static void name_slowest(const fab_engine_run *run, uint64_t flow, double rate_bps, double finish_s, uint32_t link) {
    fab_rate_figures *r = &run->detail->rates;
    const fab_prepared_phase *s = run->prepared;
    fab_flow about = fab_phase_flow(s->phase, flow);
    r->last = (fab_last_flow){.flow = flow,
                              .src_gpu = about.src,
                              .dst_gpu = about.dst,
                              .bytes = about.bytes,
                              .rate_bps = rate_bps,
                              .finish_s = finish_s};
    if (link != FAB_NO_BOTTLENECK) {
        (void)fab_link_name(s->fabric, link, r->last.bottleneck);
    }
    (void)fab_comm_name(s->traffic, s->phase, about.comm, r->last.comm);
}

/* The way of the flow that ends last, and who crosses its bottleneck. */
static void follow_last(const fab_engine_run *run, const fab_routes *r, uint32_t path) {
    fab_last_flow *last = &run->detail->rates.last;
    const uint32_t held_at = run->scratch->rates->bottleneck[path];
    const uint64_t n = r->path_first[path + 1] - r->path_first[path];
    if (n > FAB_LAST_PATH) {
        return;
    }
    last->n_path = n;
    memcpy(last->path, r->link + r->path_first[path], n * sizeof *last->path);
    last->held.link = held_at;
    for (uint32_t flow = 0; held_at != FAB_NO_BOTTLENECK && flow < r->n_flows; flow++) {
        double crosses = 0;
        for (uint32_t k = r->flow_first[flow]; k < r->flow_first[flow + 1]; k++) {
            for (size_t i = r->path_first[k]; i < r->path_first[k + 1]; i++) {
                crosses += r->link[i] == held_at ? (r->part != NULL ? r->part[k] : 1) : 0;
            }
        }
        if (crosses > 0) {
            last->held.n_flows++;
            crosses /= r->part != NULL ? 1 : r->flow_first[flow + 1] - r->flow_first[flow];
            fab_detail_add_flow(run->prepared, flow, crosses, &last->held);
        }
    }
}

/* Where the slowest path of every flow is bottlenecked. */
static fab_status keep_flows(const fab_engine_run *run, uint64_t n_flows, const uint32_t *first, fab_error *err) {
    const fab_rate_scratch *s = run->scratch->rates;
    fab_engine_result *r = run->detail;
    FAB_PASS(FAB_NEW(r->flows, n_flows, err));
    for (uint64_t flow = 0; flow < n_flows; flow++) {
        fab_flow about = fab_phase_flow(run->prepared->phase, flow);
        fab_flow_rate *out = &r->flows[flow];
        uint32_t from = first != NULL ? first[flow] : (uint32_t)flow;
        uint32_t to = first != NULL ? first[flow + 1] : from + 1;
        *out = (fab_flow_rate){.src_gpu = about.src, .dst_gpu = about.dst, .comm = about.comm, .bytes = about.bytes};
        for (uint32_t i = from; i < to; i++) {
            out->rate_bps += s->rate[i];
            if (i == from || s->finish_s[i] > out->finish_s * (1 + SAME)) {
                out->finish_s = s->finish_s[i];
                out->bottleneck = s->bottleneck[i] != FAB_NO_BOTTLENECK ? s->bottleneck[i] : FAB_NONE;
            }
        }
        out->finish_s += after_transfer_s(run, flow);
    }
    r->n_flows = n_flows;
    return FAB_OK;
}

/* The paths of flows that take one each. */
static fab_status keep_routes(const fab_engine_run *run, const fab_routes *r, fab_error *err) {
    fab_engine_result *out = run->detail;
    if (r->flow_first[r->n_flows] != r->n_flows || r->part != NULL) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW(out->route_first, (size_t)r->n_flows + 1, err));
    FAB_PASS(FAB_NEW(out->route, r->path_first[r->n_flows] + 1, err));
    for (uint32_t i = 0; i <= r->n_flows; i++) {
        out->route_first[i] = r->path_first[i];
    }
    memcpy(out->route, r->link, r->path_first[r->n_flows] * sizeof *r->link);
    return FAB_OK;
}

/* Of flows by their paths; r NULL: one each. Gives the path that ends last, for a run with a detail. */
static uint32_t rates_take(const fab_engine_run *run, uint64_t n_flows, const fab_routes *r, fab_figures *out) {
    const uint32_t *first = r != NULL ? r->flow_first : NULL;
    const fab_rate_scratch *s = run->scratch->rates;
    double sum = 0;
    double least = INFINITY;
    uint64_t last = 0;
    uint32_t last_path = 0;
    double last_rate = 0;
    double last_s = 0;
    out->transfer_s = 0;
    for (uint64_t flow = 0; flow < n_flows; flow++) {
        uint32_t from = first != NULL ? first[flow] : (uint32_t)flow;
        uint32_t to = first != NULL ? first[flow + 1] : from + 1;
        FAB_SUM_IN(double, rate, i, from, to, s->rate[i]);
        double after_s = run->detail != NULL ? after_transfer_s(run, flow) : 0;
        for (uint32_t i = from; i < to; i++) {
            const double end_s = s->last.is_known ? s->last.flow_s : s->finish_s[i];
            out->transfer_s = end_s > out->transfer_s * (1 + SAME) ? end_s : out->transfer_s;
            if (s->last.is_known ? i == s->last.flow : end_s + after_s > last_s * (1 + SAME)) {
                last_s = end_s + after_s;
                last = flow;
                last_rate = rate;
                last_path = i;
            }
            if (run->detail != NULL) {
                count_bottleneck(run, s->bottleneck[i], r != NULL ? fab_path_part(r, (uint32_t)flow, i) : 1);
            }
        }
        sum += rate;
        least = fmin(least, rate);
    }
    out->transfer_s = (s->last.is_known ? s->last.last_s : out->transfer_s) + run->prepared->relay_s;
    out->min_rate = n_flows > 0 ? least : 0;
    out->mean_rate = n_flows > 0 ? sum / (double)n_flows : 0;
    if (run->detail != NULL && n_flows > 0) {
        name_slowest(run, last, last_rate, last_s, last_s > 0 ? s->bottleneck[last_path] : FAB_NO_BOTTLENECK);
    }
    return last_path;
}

/* Links of the paths as the solver has them: the routes' own, or a copy without what is relayed before. */
static fab_status list_paths(const fab_fabric *f, const fab_routes *r, fab_rate_scratch *s, const uint32_t **out_link,
                             fab_error *err) {
    uint32_t n_paths = r->flow_first[r->n_flows];
    for (uint32_t i = 0; i <= n_paths; i++) {
        s->first[i] = r->path_first[i];
    }
    *out_link = r->link;
    if (!f->stores_and_forwards) {
        return FAB_OK;
    }
    FAB_PASS(FAB_GROW(s->link, s->link_capacity, r->path_first[n_paths], err));
    uint64_t to = 0;
    for (uint32_t i = 0; i < n_paths; i++) {
        uint32_t n = (uint32_t)(r->path_first[i + 1] - r->path_first[i]);
        memcpy(s->link + to, r->link + r->path_first[i], n * sizeof *s->link);
        s->first[i] = to;
        to += fab_relay_drop(f, s->link + to, n);
    }
    s->first[n_paths] = to;
    *out_link = s->link;
    return FAB_OK;
}

/* Whether all flows have as many paths, a power of two: weights of one are the same to the last bit. */
static bool halves_alike(const fab_routes *r) {
    const uint32_t n = r->n_flows > 0 ? r->flow_first[1] - r->flow_first[0] : 1;
    FAB_ALL(same, flow, r->n_flows, r->flow_first[flow + 1] - r->flow_first[flow] == n);
    return same && (n & (n - 1)) == 0 && r->part == NULL;
}

static fab_status find_latencies(const fab_engine_run *run, const fab_routes *r, fab_error *err) {
    const fab_path_chunk chunk = {.routes = r, .phase = run->prepared->phase};
    FAB_PASS(FAB_GROW(run->scratch->latency_s, run->scratch->latency_capacity, r->n_flows, err));
    return fab_flow_latencies_of_routes(run->router, &chunk, run->scratch->latency_s, err);
}

fab_status fab_rate_paths(const fab_engine_run *run, const fab_routes *r, const double *volume, const double *bytes,
                          fab_figures *out, fab_error *err) {
    fab_rate_scratch *s = NULL;
    uint32_t n_paths = r->flow_first[r->n_flows];
    FAB_PASS(open_scratch(run, &s, err));
    const bool is_plain = halves_alike(r);
    FAB_PASS(FAB_GROW(s->bits, s->bits_capacity, n_paths, err));
    FAB_PASS(FAB_GROW(s->weight, s->weight_capacity, is_plain ? 1 : n_paths, err));
    FAB_PASS(FAB_GROW(s->first, s->first_capacity, (size_t)n_paths + 1, err));
    fab_sharing p = {.n_flows = n_paths,
                     .n_links = run->prepared->fabric->n_links,
                     .capacity = s->capacity,
                     .first = s->first,
                     .link = r->link,
                     .weight = is_plain ? NULL : s->weight};
    FAB_PASS(list_paths(run->prepared->fabric, r, s, &p.link, err));
    if (fab_router_facts_of(run->router)->reorders) {
        FAB_PASS(run->detail == NULL ? find_latencies(run, r, err) : FAB_OK);
        FAB_PASS(FAB_GROW(s->flow_limit, s->flow_limit_capacity, r->n_flows, err));
        FAB_PASS(FAB_GROW(s->limit, s->limit_capacity, n_paths, err));
        fab_flow_limits(run->router, run->scratch->latency_s, r->n_flows, s->flow_limit);
        p.limit = s->limit;
    }
    for (uint32_t flow = 0; flow < r->n_flows; flow++) {
        for (uint32_t i = r->flow_first[flow]; i < r->flow_first[flow + 1]; i++) {
            const double part = fab_path_part(r, flow, i);
            if (!is_plain) {
                s->weight[i] = part;
            }
            s->bits[i] = volume[flow] * BITS * part;
            if (p.limit != NULL) {
                s->limit[i] = s->flow_limit[flow] * part;
            }
        }
    }
    const bool is_whole = r != &run->scratch->round;
    FAB_PASS(
        rates_solve(run, &p, r->n_flows, r->flow_first, is_whole ? run->scratch->routed : (uint64_t[2]){0, 0}, err));
    if (fab_is_lossless(run->transport)) {
        s->solved[2] = 0; /* ends become those of packets */
        s->last.is_known = false;
        if (n_paths > FAB_MANY_PATHS) {
            fab_max_min_free(s->solver); /* packets need the memory */
            s->solver = NULL;
            FAB_PASS(fab_max_min_new(&s->solver, err));
        }
        FAB_PASS(fab_rate_lossless(run, r, &p, least_possible_s(run, bytes), out, err));
    }
    const uint32_t last_path = rates_take(run, r->n_flows, r, out);
    if (run->detail != NULL && r->n_flows > 0) {
        follow_last(run, r, last_path);
    }
    out->transfer_s = isinf(out->transfer_s) ? NAN : out->transfer_s; /* a deadlock */
    FAB_PASS(run->detail != NULL && run->keep_flows ? keep_flows(run, r->n_flows, r->flow_first, err) : FAB_OK);
    FAB_PASS(run->detail != NULL && run->keep_routes ? keep_routes(run, r, err) : FAB_OK);
    FAB_PASS(run->trace != NULL ? fab_trace_paths(run, r, volume, err) : FAB_OK);
    if (run->proof != NULL) {
        fab_proof_paths(run, r);
    }
    return check_bound(run, bytes, out, err);
}

/* --- splits ------------------------------------------------------------------------------------------------------- */

/* A flow's links, each once: the host segments of its parts, and what lies between the leaves of each. */
typedef struct listing {
    const fab_prepared_phase *prepared;
    const fab_link_classes *classes;
    fab_rate_scratch *s;
    uint64_t n;   /* links so far */
    uint64_t *at; /* [link]: its place, + 1; of an earlier flow where it lies before `from` */
    uint64_t from;
} listing;

static void rates_put(listing *t, uint32_t link, double share) {
    if (t->at[link] > t->from) {
        t->s->share[t->at[link] - 1] += share;
        return;
    }
    t->s->link[t->n] = link;
    t->s->share[t->n] = share;
    t->at[link] = ++t->n;
}

static fab_status list_flow(listing *t, uint64_t flow, fab_error *err) {
    const fab_prepared_phase *s = t->prepared;
    uint32_t n_parts = s->demand->n_parts;
    fab_flow about = fab_phase_flow(s->phase, flow);
    t->from = t->n;
    for (uint32_t part = 0; part < n_parts; part++) {
        fab_link_id segments[FAB_FLOW_SEGMENT_LINKS];
        uint32_t n = fab_flow_segments(s->fabric, s->ports, about.src, about.dst, part, segments);
        n = fab_relay_drop(s->fabric, segments, n);
        uint32_t pair = fab_demand_pair(s->demand, s->fabric, s->ports, s->next_hops, s->phase, flow, part);
        uint64_t between = pair != FAB_NONE ? t->classes->first[pair + 1] - t->classes->first[pair] : 0;
        FAB_PASS(FAB_GROW(t->s->link, t->s->link_capacity, t->n + n + between, err));
        FAB_PASS(FAB_GROW(t->s->share, t->s->share_capacity, t->n + n + between, err));
        for (uint32_t i = 0; i < n; i++) {
            rates_put(t, segments[i], 1.0 / n_parts);
        }
        for (uint64_t i = 0; i < between; i++) {
            uint64_t k = t->classes->first[pair] + i;
            rates_put(t, t->classes->link[k], t->classes->share[k] / n_parts);
        }
    }
    return FAB_OK;
}

static fab_status rates_list_flows(listing *t, fab_error *err) {
    FAB_OWNS_MEMBERS(t->at);
    uint64_t n_flows = t->prepared->phase->n_flows;
    FAB_PASS(FAB_NEW(t->at, t->prepared->fabric->n_links, err));
    FAB_PASS(FAB_GROW(t->s->first, t->s->first_capacity, n_flows + 1, err));
    FAB_PASS(FAB_GROW(t->s->bits, t->s->bits_capacity, n_flows, err));
    t->s->first[0] = 0;
    for (uint64_t flow = 0; flow < n_flows; flow++) {
        FAB_PASS(list_flow(t, flow, err));
        t->s->bits[flow] = (double)fab_phase_flow(t->prepared->phase, flow).bytes * BITS;
        t->s->first[flow + 1] = t->n;
    }
    return FAB_OK;
}

fab_status fab_rate_split(const fab_engine_run *run, const fab_split *split, const double *bytes, fab_figures *out,
                          fab_error *err) {
    const fab_prepared_phase *prepared = run->prepared;
    const fab_phase *phase = prepared->phase;
    fab_rate_scratch *s = NULL;
    FAB_OWNS(fab_link_classes_release) fab_link_classes classes = {0};
    if (phase->n_flows > FAB_MOST_LISTED) { /* before anything is looked at */
        return fab_rate_loads(run, bytes, out, err);
    }
    FAB_PASS(open_scratch(run, &s, err));
    FAB_PASS(fab_link_classes_find(prepared, run->router, split, s->capacity, &classes, err));
    if (!classes.known) {
        FAB_PASS(fab_rate_loads(run, bytes, out, err));
        return FAB_OK;
    }
    listing list = {.prepared = prepared, .classes = &classes, .s = s};
    FAB_PASS(rates_list_flows(&list, err));
    fab_sharing p = {.n_flows = (uint32_t)phase->n_flows,
                     .n_links = prepared->fabric->n_links,
                     .capacity = s->capacity,
                     .first = s->first,
                     .link = s->link,
                     .share = s->share};
    if (run->detail != NULL || fab_router_facts_of(run->router)->reorders) {
        FAB_PASS(FAB_GROW(run->scratch->latency_s, run->scratch->latency_capacity, phase->n_flows, err));
        FAB_PASS(fab_flow_latencies_of_split(run->router, fab_router_dag(run->router, prepared->dag), split,
                                             prepared->demand, phase, run->scratch->latency_s, err));
    }
    if (fab_router_facts_of(run->router)->reorders) {
        FAB_PASS(FAB_GROW(s->limit, s->limit_capacity, phase->n_flows, err));
        fab_flow_limits(run->router, run->scratch->latency_s, phase->n_flows, s->limit);
        p.limit = s->limit;
    }
    FAB_PASS(rates_solve(run, &p, phase->n_flows, NULL, (uint64_t[2]){0, 0}, err));
    rates_take(run, phase->n_flows, NULL, out);
    FAB_PASS(run->detail != NULL && run->keep_flows ? keep_flows(run, phase->n_flows, NULL, err) : FAB_OK);
    FAB_PASS(run->trace != NULL ? fab_trace_split(run, split, err) : FAB_OK);
    FAB_PASS(run->proof != NULL ? fab_proof_split(run, split, err) : FAB_OK);
    return check_bound(run, bytes, out, err);
}

/* --- what is too large -------------------------------------------------------------------------------------------- */

/* Whether no window is below this rate: no path of a tree is longer than up and down through links of every class. */
static bool windows_allow(const fab_engine_run *run, double rate_bps) {
    const fab_fabric *f = run->prepared->fabric;
    double limit_bps = 0;
    FAB_SUM(double, longest_s, k, f->n_classes, 2 * f->classes[k].latency_s);
    fab_flow_limits(run->router, &longest_s, 1, &limit_bps);
    return !fab_router_facts_of(run->router)->reorders || (fab_is_tree(f) && rate_bps < limit_bps);
}

/* Of phases of unequal flows whose ends were found one by one none ended more than 17 % after it: ADR 111. */
#define LATEST_END 1.25

double fab_latest_end(const fab_phase *phase) {
    bool is_even = true;
    (void)fab_phase_largest(phase, &is_even);
    return is_even ? 1 : LATEST_END;
}

/* With equal bytes the slowest flow is one over the fullest link, and it is done when that link is: unless its window
 * holds it back. */
fab_status fab_rate_loads(const fab_engine_run *run, const double *bytes, fab_figures *out, fab_error *err) {
    const fab_phase *phase = run->prepared->phase;
    out->min_rate = NAN;
    out->mean_rate = NAN;
    out->transfer_s = NAN;
    const double fullest_s = fullest_link_s(run->prepared, bytes, run->prepared->relay);
    const double rate_bps = fullest_s > 0 ? (double)fab_phase_largest(phase, NULL) * BITS / fullest_s : 0;
    if (phase->n_flows > 0 && windows_allow(run, rate_bps)) {
        const double latest = fab_latest_end(phase);
        out->transfer_s = fullest_s + run->prepared->relay_s;
        out->min_rate = latest > 1 ? NAN : rate_bps;
        out->shortest_s = latest > 1 ? out->transfer_s : 0;
        out->longest_s = latest > 1 ? fullest_s * latest + run->prepared->relay_s : 0;
        return check_bound(run, bytes, out, err);
    }
    return FAB_OK;
}

fab_status fab_rate_last(const fab_engine_run *run, const double *bytes, fab_figures *out, bool *out_known,
                         fab_error *err) {
    const bool may_be = run->last_alone && !fab_is_lossless(run->transport);
    const bool is_asked = may_be && fab_latest_end(run->prepared->phase) <= 1;
    FAB_PASS(is_asked ? fab_rate_loads(run, bytes, out, err) : FAB_OK);
    *out_known = is_asked && !isnan(out->transfer_s);
    return FAB_OK;
}
