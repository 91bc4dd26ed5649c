/* Lengths and latencies of paths, and the limit that a reorder window sets. */
#include "measure.h"

/* Of the paths of one flow. */
typedef struct span {
    fab_path_range hops, latency_s;
    double spread_s;
} span;

/* Means are sums until they are divided. */
static fab_path_range figures_widen(fab_path_range a, fab_path_range b, double count) {
    return (fab_path_range){a.min < b.min ? a.min : b.min, a.mean + b.mean * count, a.max > b.max ? a.max : b.max};
}

static const span NOTHING = {.hops = {INFINITY, 0, 0}, .latency_s = {INFINITY, 0, 0}};

static void finish_span(span *of, double n) {
    of->spread_s = of->latency_s.max - of->latency_s.min;
    of->hops.mean /= n;
    of->latency_s.mean /= n;
}

static double window_limit(const fab_router *router, double longest_s) {
    return 8 * fab_router_facts_of(router)->window_bytes / (2 * longest_s + fab_router_facts_of(router)->queueing_s);
}

/* `count` flows like this one, each of the given rate. */
static void add_flows(fab_path_tally *t, const span *flow, double rate_bps, double count) {
    fab_path_figures *sum = &t->sum;
    if (t->weight == 0) {
        sum->hops.min = INFINITY;
        sum->latency_s.min = INFINITY;
        sum->min_limit_bps = fab_router_facts_of(t->router)->reorders ? INFINITY : 0;
    }
    t->weight += count;
    sum->hops = figures_widen(sum->hops, flow->hops, count);
    sum->latency_s = figures_widen(sum->latency_s, flow->latency_s, count);
    sum->max_spread_s = fmax(sum->max_spread_s, flow->spread_s);
    sum->mean_spread_s += flow->spread_s * count;
    if (fab_router_facts_of(t->router)->reorders) {
        double limit_bps = window_limit(t->router, flow->latency_s.max);
        sum->min_limit_bps = fmin(sum->min_limit_bps, limit_bps);
        sum->max_excess_ratio = fmax(sum->max_excess_ratio, rate_bps / limit_bps);
        t->limited += rate_bps > limit_bps * (1 + 1e-9) ? count : 0;
    }
}

static double latency_of(const fab_fabric *f, fab_link_id link) {
    return fab_class_of(f, link)->latency_s;
}

/* What all paths of a part of a flow share. Returns the network links among them, 0 inside a scale-up domain. */
static uint32_t measure_segments(const fab_router *router, const fab_flow *flow, uint32_t part, double *out_s) {
    fab_link_id links[FAB_FLOW_SEGMENT_LINKS];
    uint32_t n =
        fab_flow_segments(fab_router_fabric(router), fab_router_ports(router), flow->src, flow->dst, part, links);
    uint32_t hops = 0;
    *out_s = 0;
    for (uint32_t i = 0; i < n; i++) {
        hops += fab_is_network(fab_class_of(fab_router_fabric(router), links[i]));
        *out_s += latency_of(fab_router_fabric(router), links[i]);
    }
    return hops;
}

/* --- from routes -------------------------------------------------------------------------------------------------- */

fab_status fab_path_tally_init(const fab_router *router, fab_path_tally *out, fab_error *err) {
    size_t n_parts = (size_t)fab_router_ports(router)->nics_per_gpu * fab_router_ports(router)->n_planes;
    FAB_OWNS(fab_path_tally_release)
    fab_path_tally tally = {.router = router, .sum = {.reorders = fab_router_facts_of(router)->reorders}};
    FAB_PASS(FAB_NEW_ALL(n_parts, err, tally.segment_s, tally.segment_hops));
    return FAB_GIVE(*out, tally);
}

FAB_RELEASES(fab_path_tally_release, fab_path_tally, segment_s, segment_hops);

/* Part that the k-th path of a flow belongs to. Paths go round the NICs; one that crosses no switch boundary may be
 * taken for that of another plane, which changes nothing over all of them. */
static uint32_t figures_part_of(const fab_router *router, uint32_t k, const fab_link_id *links, size_t n) {
    const fab_fabric *f = fab_router_fabric(router);
    uint32_t nics = fab_router_ports(router)->nics_per_gpu;
    uint32_t plane = n > 0 ? f->switch_plane[fab_tail(f, links[0]) - f->first[FAB_NODE_SWITCH]]
                           : k / nics % fab_router_ports(router)->n_planes;
    return k % nics + nics * plane;
}

static void measure_flow(fab_path_tally *t, const fab_path_chunk *chunk, uint32_t flow, span *out) {
    const fab_routes *r = chunk->routes;
    const fab_fabric *f = fab_router_fabric(t->router);
    uint32_t n_paths = r->flow_first[flow + 1] - r->flow_first[flow];
    uint32_t n_parts = fab_router_ports(t->router)->nics_per_gpu * fab_router_ports(t->router)->n_planes;
    if (r->between_switches) {
        fab_flow about = fab_phase_flow(chunk->phase, chunk->flow != NULL ? chunk->flow[flow] : chunk->first + flow);
        FAB_FILL(t->segment_hops, n_parts,
                 measure_segments(t->router, &about, (uint32_t)fab_at, &t->segment_s[fab_at]));
    }
    *out = NOTHING;
    for (uint32_t k = 0; k < n_paths; k++) {
        uint32_t path = r->flow_first[flow] + k;
        const fab_link_id *links = r->link + r->path_first[path];
        size_t n = r->path_first[path + 1] - r->path_first[path];
        uint32_t hops = 0;
        double latency_s = 0;
        for (size_t i = 0; i < n; i++) {
            hops += fab_is_network(fab_class_of(f, links[i]));
            latency_s += latency_of(f, links[i]);
        }
        if (r->between_switches) {
            uint32_t part = figures_part_of(t->router, k, links, n);
            hops += t->segment_hops[part];
            latency_s += t->segment_s[part];
        }
        const double count = r->part != NULL ? r->part[path] : 1;
        out->hops = figures_widen(out->hops, (fab_path_range){hops, hops, hops}, count);
        out->latency_s = figures_widen(out->latency_s, (fab_path_range){latency_s, latency_s, latency_s}, count);
    }
    finish_span(out, r->part != NULL ? 1 : n_paths);
}

static double span_longest_s(const span *paths) {
    return paths->hops.max > 0 ? paths->latency_s.max : -paths->latency_s.max;
}

void fab_path_tally_add(fab_path_tally *tally, const fab_path_chunk *chunk) {
    for (uint32_t flow = 0; flow < chunk->routes->n_flows; flow++) {
        span paths;
        measure_flow(tally, chunk, flow, &paths);
        if (tally->latency_s != NULL) {
            tally->latency_s[flow] = span_longest_s(&paths);
        }
        if (paths.hops.max > 0) {
            double count = chunk->weight != NULL ? (double)chunk->weight[flow] : 1;
            add_flows(tally, &paths, fab_router_facts_of(tally->router)->reorders ? chunk->rate[flow] / count : 0,
                      count);
        }
    }
}

static fab_path_range mean_of(fab_path_range sum, double n) { /* no rounding takes it beyond the ends */
    return (fab_path_range){sum.min, fmin(fmax(sum.mean / n, sum.min), sum.max), sum.max};
}

fab_path_figures fab_path_tally_finish(const fab_path_tally *tally) {
    fab_path_figures out = tally->sum;
    if (tally->weight > 0) {
        out.n_flows = (uint64_t)(tally->weight + 0.5);
        out.limited_flows = (uint64_t)(tally->limited + 0.5);
        out.hops = mean_of(out.hops, tally->weight);
        out.latency_s = mean_of(out.latency_s, tally->weight);
        out.mean_spread_s /= tally->weight;
        out.longest_round_trip_s = 2 * out.latency_s.max;
    }
    return out;
}

/* --- from a split ------------------------------------------------------------------------------------------------- */

/* Between the leaves of every pair of the demand. */
typedef struct pair_paths {
    double *hops, *shortest_s, *expected_s, *longest_s; /* shape [n_pairs] */
} pair_paths;

static fab_status fold_pairs(const fab_fabric *f, const fab_dag *dag, const fab_split *split, const fab_demand *demand,
                             pair_paths *out, fab_error *err) {
    FAB_OWNED_NEW(double, x, f->n_links, err);
    FAB_PASS(FAB_NEW_ALL(demand->n_pairs, err, out->hops, out->shortest_s, out->expected_s, out->longest_s));
    FAB_FILL(x, f->n_links, 1);
    FAB_PASS(fab_split_fold(dag, split, FAB_FOLD_LONGEST, x, demand, out->hops, err)); /* the same on all of them */
    FAB_FILL(x, f->n_links, latency_of(f, (uint32_t)fab_at));
    FAB_PASS(fab_split_fold(dag, split, FAB_FOLD_SHORTEST, x, demand, out->shortest_s, err));
    FAB_PASS(fab_split_fold(dag, split, FAB_FOLD_EXPECTED, x, demand, out->expected_s, err));
    return fab_split_fold(dag, split, FAB_FOLD_LONGEST, x, demand, out->longest_s, err);
}

static void add_listed(fab_path_tally *t, const pair_paths *pairs, const fab_demand *demand, const fab_phase *phase,
                       const fab_offer *offer) {
    for (uint64_t i = 0; i < phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        span paths = NOTHING;
        for (uint32_t part = 0; part < demand->n_parts; part++) {
            double segment_s = 0;
            double hops = measure_segments(t->router, &flow, part, &segment_s);
            fab_path_range latency_s = {segment_s, segment_s, segment_s};
            uint32_t pair = demand->pair_of != NULL
                                ? demand->pair_of[i * demand->n_parts + part]
                                : fab_demand_pair(demand, fab_router_fabric(t->router), fab_router_ports(t->router),
                                                  fab_router_next_hops(t->router), phase, i, part);
            if (pair != FAB_NONE) {
                hops += pairs->hops[pair];
                latency_s.min += pairs->shortest_s[pair];
                latency_s.mean += pairs->expected_s[pair];
                latency_s.max += pairs->longest_s[pair];
            }
            paths.hops = figures_widen(paths.hops, (fab_path_range){hops, hops, hops}, 1);
            paths.latency_s = figures_widen(paths.latency_s, latency_s, 1);
        }
        if (paths.hops.max > 0) {
            finish_span(&paths, demand->n_parts);
            add_flows(t, &paths, fab_offer_rate(offer, phase, i), 1);
        }
    }
}

/* What lies between a GPU and its leaf, and the domain that it is of: flows have their ends in two. */
typedef struct leaf_end {
    double latency_s;
    uint32_t domain;
} leaf_end;

/* NIC ports of the phase on a leaf: the nearest and the furthest, and those of another domain than these. */
typedef struct leaf_segments {
    uint32_t n_ports;
    leaf_end near[2], far[2];
} leaf_segments;

/* `sign` -1: the least come first. */
static void keep_end(leaf_end kept[2], leaf_end end, uint32_t n_ports, double sign) {
    leaf_end first = n_ports == 0 ? end : kept[0];
    leaf_end second = n_ports == 0 ? (leaf_end){-sign * INFINITY, FAB_NONE} : kept[1];
    if (sign * end.latency_s > sign * first.latency_s) {
        second = first.domain != end.domain ? first : second;
        first = end;
    } else if (end.domain != first.domain && sign * end.latency_s > sign * second.latency_s) {
        second = end;
    }
    kept[0] = first;
    kept[1] = second;
}

/* Both ends of the flow that has least before and behind its leaves (-1), or most. */
static double both_ends(const leaf_end a[2], const leaf_end b[2], double sign) {
    if (a[0].domain != b[0].domain) {
        return a[0].latency_s + b[0].latency_s;
    }
    double one = a[0].latency_s + b[1].latency_s;
    double other = a[1].latency_s + b[0].latency_s;
    return sign * one > sign * other ? one : other;
}

/* Between GPU and leaf of an all-to-all. */
typedef struct all_segments {
    leaf_segments *of_leaf; /* shape [n_leaves] */
    double mean_s;          /* of a flow, both ends */
    double n_parts;         /* of all flows that leave their domain */
    double largest_rate;    /* no flow is offered more */
    double changing;        /* part of the flows that change rails, so that a GPU of either domain relays */
    double relaying_s;      /* what that takes at most */
} all_segments;

static leaf_end pcie_of(const fab_fabric *f, fab_node_id nic) {
    leaf_end out = {0, FAB_NONE};
    FAB_EACH_LINK(f, nic, link) {
        if (fab_class_of(f, link)->kind == FAB_LINK_PCIE) {
            out.latency_s = fmax(out.latency_s, latency_of(f, link));
            out.domain = fab_domain_of(f, fab_head(f, link));
        }
    }
    return out;
}

/* The bytes of NICs say how many parts use their ports. */
static fab_status measure_all_segments(const fab_router *router, const fab_phase *phase, const fab_offer *offer,
                                       all_segments *out, fab_error *err) {
    const fab_fabric *f = fab_router_fabric(router);
    const fab_next_hops *t = fab_router_next_hops(router);
    uint32_t n_planes = fab_router_ports(router)->n_planes;
    uint64_t all_bytes = 0;
    double sent = 0;
    double weighted_s = 0;
    double least_bytes = INFINITY;
    FAB_PASS(FAB_NEW(out->of_leaf, fab_next_hops_n_leaves(t), err));
    for (uint32_t nic = 0; nic < fab_n_of(f, FAB_NODE_NIC); nic++) {
        double bytes = offer->sent[nic] + offer->received[nic];
        leaf_end end = pcie_of(f, f->first[FAB_NODE_NIC] + nic);
        double pcie_s = end.latency_s;
        for (uint32_t plane = 0; bytes > 0 && plane < n_planes; plane++) {
            fab_link_id up = fab_router_ports(router)->nic_access[(size_t)nic * n_planes + plane];
            leaf_segments *leaf = &out->of_leaf[fab_next_hops_column(t, fab_head(f, up) - f->first[FAB_NODE_SWITCH])];
            end.latency_s = pcie_s + latency_of(f, up);
            keep_end(leaf->near, end, leaf->n_ports, -1);
            keep_end(leaf->far, end, leaf->n_ports, 1);
            leaf->n_ports++;
            weighted_s += end.latency_s * bytes / n_planes;
        }
        sent += offer->sent[nic];
        least_bytes = bytes > 0 ? fmin(least_bytes, fmax(offer->sent[nic], offer->received[nic])) : least_bytes;
    }
    out->mean_s = sent > 0 ? weighted_s / sent : 0;
    out->n_parts = (double)fab_all_leaving(f, fab_router_ports(router), &phase->all, &all_bytes) *
                   fab_router_ports(router)->nics_per_gpu * n_planes;
    out->largest_rate = sent > 0 ? (double)phase->all.bytes * offer->line_bps / least_bytes : 0;
    for (uint32_t gpu = phase->all.first; phase->all.share != NULL && gpu < phase->all.first + phase->all.n; gpu++) {
        const uint32_t own = fab_exchanged_in_domain(f, fab_router_ports(router), &phase->all, gpu).n;
        const double others = fmax(fab_all_group(&phase->all) - own, 1);
        out->largest_rate = fmax(out->largest_rate, offer->line_bps * fab_router_ports(router)->nics_per_gpu / others);
    }
    return FAB_OK;
}

/* `count` flows of an all-to-all, of which the usual part is relayed. */
static void add_all(fab_path_tally *t, const all_segments *segments, span flow, double rate_bps, double count) {
    if (segments->changing < 1) {
        add_flows(t, &flow, rate_bps, count * (1 - segments->changing));
    }
    if (segments->changing > 0) {
        flow.latency_s.min += segments->relaying_s;
        flow.latency_s.mean += segments->relaying_s;
        flow.latency_s.max += segments->relaying_s;
        add_flows(t, &flow, rate_bps, count * segments->changing);
    }
}

/* Parts between two ports of one leaf, which no pair of the demand holds. */
static void add_own_leaf(fab_path_tally *t, const all_segments *segments, double n_parts, double parts_per_flow) {
    span paths = NOTHING;
    FAB_EACH(const leaf_segments, own, segments->of_leaf, fab_next_hops_n_leaves(fab_router_next_hops(t->router))) {
        if (own->n_ports > 1 && own->near[1].domain != FAB_NONE) {
            const fab_path_range latency_s = {both_ends(own->near, own->near, -1), 0, both_ends(own->far, own->far, 1)};
            paths.latency_s = figures_widen(paths.latency_s, latency_s, 1);
        }
    }
    if (n_parts > 0.5) {
        paths.hops = (fab_path_range){2, 2, 2};
        add_all(t, segments, paths, segments->largest_rate, n_parts / parts_per_flow);
    }
}

/* NICs of some GPUs, by rail. */
static void count_rails(const fab_router *router, fab_gpu_range gpus, double *out) {
    const fab_fabric *f = fab_router_fabric(router);
    const fab_ports *ports = fab_router_ports(router);
    const fab_link_id *pcie = &ports->gpu_nic[(size_t)gpus.first * ports->nics_per_gpu];
    memset(out, 0, f->n_rails * sizeof *out);
    for (size_t i = 0; i < (size_t)gpus.n * ports->nics_per_gpu; i++) {
        out[(fab_head(f, pcie[i]) - f->first[FAB_NODE_NIC]) % f->n_rails]++;
    }
}

/* Part of the flows between domains that change rails. They cross either domain as well: no longer than twice over any
 * scale-up link. */
static fab_status changing_rails(const fab_router *router, const fab_all_to_all *all, double *out_ratio,
                                 fab_error *err) {
    const fab_fabric *f = fab_router_fabric(router);
    const double nics = fab_router_ports(router)->nics_per_gpu;
    const uint32_t size = fab_all_group(all);
    FAB_OWNED double *of_group = NULL; /* [rail] */
    FAB_OWNED double *own = NULL;      /* [rail]: of those in one domain */
    double flows = 0;
    double same = 0;
    FAB_PASS(FAB_NEW_ALL(f->n_rails, err, of_group, own));
    for (uint32_t gpu = all->first; gpu < all->first + all->n;) {
        const fab_gpu_range near = fab_all_in_domain(f, all, gpu);
        if ((gpu - all->first) % size == 0) {
            count_rails(router, (fab_gpu_range){gpu, size}, of_group);
        }
        count_rails(router, near, own);
        flows += nics * near.n * nics * (size - near.n);
        for (uint32_t r = 0; r < f->n_rails; r++) {
            same += own[r] * (of_group[r] - own[r]);
        }
        gpu = near.first + near.n;
    }
    /* a flow goes from a GPU's i-th NIC to the other's i-th: their rails are those of the i-th alone */
    *out_ratio = flows > 0 ? 1 - fmin(same * nics / flows, 1) : 0;
    return FAB_OK;
}

static fab_status add_unlisted(fab_path_tally *t, const pair_paths *pairs, const fab_demand *demand,
                               const fab_phase *phase, const fab_offer *offer, fab_error *err) {
    const fab_fabric *f = fab_router_fabric(t->router);
    all_segments segments = {0};
    FAB_OWNS_MEMBERS(segments.of_leaf);
    double n_parts = demand->n_parts;
    FAB_PASS(measure_all_segments(t->router, phase, offer, &segments, err));
    double own_leaf = segments.n_parts;
    FAB_PASS(f->forwards_in_domain ? changing_rails(t->router, &phase->all, &segments.changing, err) : FAB_OK);
    for (uint32_t k = 0; f->forwards_in_domain && k < f->n_classes; k++) {
        if (f->classes[k].kind == FAB_LINK_SCALEUP) {
            segments.relaying_s = fmax(segments.relaying_s, 2 * f->classes[k].latency_s);
        }
    }
    for (uint32_t dst = 0; dst < demand->n_leaves; dst++) {
        for (uint32_t i = demand->first[dst]; i < demand->first[dst + 1]; i++) {
            const leaf_segments *from = &segments.of_leaf[demand->src[i]];
            const leaf_segments *to = &segments.of_leaf[dst];
            double parts = (double)demand->parts[i];
            double hops = pairs->hops[i] + 2;
            const span paths = {.hops = {hops, hops, hops},
                                .latency_s = {pairs->shortest_s[i] + both_ends(from->near, to->near, -1),
                                              pairs->expected_s[i],
                                              pairs->longest_s[i] + both_ends(from->far, to->far, 1)},
                                .spread_s = pairs->longest_s[i] - pairs->shortest_s[i]};
            const double rate_bps =
                phase->all.share != NULL ? segments.largest_rate : demand->rate[i] / parts * n_parts;
            add_all(t, &segments, paths, rate_bps, parts / n_parts);
            own_leaf -= parts;
        }
    }
    add_own_leaf(t, &segments, own_leaf, n_parts);
    t->sum.latency_s.mean += segments.mean_s * t->weight;
    return FAB_OK;
}

fab_status fab_path_figures_of_split(const fab_router *router, const fab_dag *dag, const fab_split *split,
                                     const fab_demand *demand, const fab_phase *phase, const fab_offer *offer,
                                     fab_path_figures *out, fab_error *err) {
    FAB_OWNS(fab_path_tally_release) fab_path_tally tally = {0};
    pair_paths pairs = {0};
    FAB_OWNS_MEMBERS(pairs.hops, pairs.shortest_s, pairs.expected_s, pairs.longest_s);
    FAB_PASS(fab_path_tally_init(router, &tally, err));
    FAB_PASS(fold_pairs(fab_router_fabric(router), dag, split, demand, &pairs, err));
    const bool is_skewed = phase->all.share != NULL && phase->n_flows <= FAB_MOST_LISTED;
    if (demand->pair_of != NULL || is_skewed) { /* the rates of a pair differ */
        add_listed(&tally, &pairs, demand, phase, offer);
    } else {
        FAB_PASS(add_unlisted(&tally, &pairs, demand, phase, offer, err));
    }
    *out = fab_path_tally_finish(&tally);
    return FAB_OK;
}

/* --- latencies and limits of flows -------------------------------------------------------------------------------- */

fab_status fab_flow_latencies_of_routes(const fab_router *router, const fab_path_chunk *chunk, double *out_s,
                                        fab_error *err) {
    FAB_OWNS(fab_path_tally_release) fab_path_tally tally = {0};
    FAB_PASS(fab_path_tally_init(router, &tally, err));
    for (uint32_t flow = 0; flow < chunk->routes->n_flows; flow++) {
        span paths;
        measure_flow(&tally, chunk, flow, &paths);
        out_s[flow] = span_longest_s(&paths);
    }
    return FAB_OK;
}

fab_status fab_flow_latencies_of_split(const fab_router *router, const fab_dag *dag, const fab_split *split,
                                       const fab_demand *demand, const fab_phase *phase, double *out_s,
                                       fab_error *err) {
    const fab_fabric *f = fab_router_fabric(router);
    FAB_OWNED_NEW(double, x, f->n_links, err);
    FAB_OWNED_NEW(double, longest_s, demand->n_pairs, err);
    FAB_FILL(x, f->n_links, latency_of(f, (uint32_t)fab_at));
    FAB_PASS(fab_split_fold(dag, split, FAB_FOLD_LONGEST, x, demand, longest_s, err));
    for (uint64_t i = 0; i < phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        double most_s = 0;
        uint32_t hops = 0;
        for (uint32_t part = 0; part < demand->n_parts; part++) {
            double segment_s = 0;
            hops += measure_segments(router, &flow, part, &segment_s);
            uint32_t pair =
                fab_demand_pair(demand, f, fab_router_ports(router), fab_router_next_hops(router), phase, i, part);
            most_s = fmax(most_s, segment_s + (pair != FAB_NONE ? longest_s[pair] : 0));
        }
        out_s[i] = hops > 0 ? most_s : -most_s;
    }
    return FAB_OK;
}

void fab_flow_limits(const fab_router *router, const double *latency_s, uint64_t n_flows, double *out_bps) {
    bool reorders = fab_router_facts_of(router)->reorders;
    FAB_FILL(out_bps, n_flows,
             reorders && latency_s[fab_at] > 0 ? window_limit(router, latency_s[fab_at]) : (double)INFINITY);
}

double fab_flow_latency_s(const fab_fabric *fabric, const fab_phase *phase, double latency_s) {
    double steps = (double)phase->steps * (double)phase->executions;
    return latency_s > 0 ? steps * (latency_s + fabric->host.nic_s) + fab_phase_host_s(fabric, phase)
                         : steps * -latency_s;
}

double fab_phase_latency_s(const fab_fabric *fabric, const fab_phase *phase, bool in_network, double path_s) {
    double slowest_s = in_network ? path_s : 0;
    for (uint32_t k = 0; !in_network && k < fabric->n_classes; k++) {
        const fab_link_class *c = &fabric->classes[k];
        slowest_s = c->kind == FAB_LINK_SCALEUP ? fmax(slowest_s, 2 * c->latency_s) : slowest_s;
    }
    slowest_s += in_network ? fabric->host.nic_s : 0;
    return phase->n_flows > 0 ? (double)phase->steps * (double)phase->executions * slowest_s +
                                    (in_network ? fab_phase_host_s(fabric, phase) : 0)
                              : 0;
}
