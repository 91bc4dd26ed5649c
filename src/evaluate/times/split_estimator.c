/* Seconds of a phase that switches split. The bounds are those of phase_estimator.h with shares of flows instead of
 * paths; where they do not agree, the flows are solved as a replay does. */
#include "fab/phase_estimator.h"

#include "relay.h"
#include "measure/measure_rates.h"

#define BITS 8.0
#define MET  1e-11

typedef struct attempt {
    const fab_split_seconds_request *q;
    fab_next_hops *next_hops; /* NULL: those of the healthy fabric */
    fab_dag *own_dag;
    const fab_dag *dag;
    fab_router *router;
    fab_prepared_phase prepared;
    fab_demand demand;
    fab_split *split;
    double *bytes;   /* [link] */
    double *shares;  /* [link]: seconds of the weights of all flows */
    double *of_pair; /* [pair] */
    double *limit;   /* [flow] */
} attempt;

static fab_status split_unknown(const attempt *a, fab_error *err) {
    return fab_fail(err, FAB_EUNSUPPORTED, NULL,
                    "flows of phase %s that differ have lost some of their NICs and planes: when each of them ends is "
                    "not known",
                    a->q->phase->name);
}

static fab_status open_attempt(attempt *a, fab_error *err) {
    const fab_split_seconds_request *q = a->q;
    FAB_ANY(any_dead, i, q->mask->n_links, q->mask->residual[q->mask->link[i]] == 0);
    a->dag = fab_router_dag(q->router, NULL);
    FAB_PASS(any_dead ? fab_next_hops_new(q->fabric, q->mask->dead_link, &a->next_hops, err) : FAB_OK);
    FAB_PASS(fab_router_over(q->router, a->next_hops, &a->router, err));
    if (a->dag == NULL && !any_dead) {
        a->dag = q->dag;
    }
    if (a->dag == NULL) {
        FAB_PASS(fab_dag_new(q->fabric, fab_router_next_hops(a->router), &a->own_dag, err));
        a->dag = a->own_dag;
    }
    fab_prepared_phase *s = &a->prepared;
    *s = (fab_prepared_phase){.traffic = q->traffic,
                              .phase = q->phase,
                              .fabric = q->fabric,
                              .next_hops = fab_router_next_hops(a->router),
                              .dag = a->dag,
                              .ports = fab_router_ports(a->router),
                              .offer = q->offer,
                              .demand = &a->demand,
                              .residual = q->mask->residual};
    FAB_PASS(fab_demand_init_left(q->fabric, s->ports, s->next_hops, q->phase, q->offer,
                                  any_dead ? q->mask->dead_link : NULL, &a->demand, err));
    FAB_RETURN_IF(a->demand.n_lost > 0 && q->phase->all.n > 0 && q->fabric->stores_and_forwards, split_unknown(a, err));
    FAB_PASS(fab_relay_find(s, &s->relay, &s->relay_s, err));
    FAB_PASS(fab_router_split(a->router, a->dag, s->demand, NULL, &a->split, err));
    FAB_PASS(FAB_NEW(a->bytes, q->fabric->n_links, err));
    memcpy(a->bytes, s->demand->segment_bytes, q->fabric->n_links * sizeof *a->bytes);
    return fab_split_load(a->dag, a->split, s->demand, s->demand->bytes, a->bytes, err);
}

static void close_attempt(attempt *a) {
    fab_split_free(a->split);
    fab_demand_release(&a->demand);
    free(a->prepared.relay);
    fab_dag_free(a->own_dag);
    fab_router_free(a->router);
    fab_next_hops_free(a->next_hops);
    FAB_FREE_ALL(a->bytes, a->shares, a->of_pair, a->limit);
}

static double capacity_of(const attempt *a, fab_link_id link) {
    double bps = fab_prepared_capacity(&a->prepared, link);
    bool is_pcie = fab_class_of(a->q->fabric, link)->kind == FAB_LINK_PCIE;
    return is_pcie && bps >= a->q->offer->line_bps * (1 - 1e-12) ? (double)INFINITY : bps;
}

/* The fullest link; what is relayed before takes no part. */
static double least_s(const attempt *a) {
    double most = 0;
    for (uint32_t l = 0; l < a->q->fabric->n_links; l++) {
        double bytes = a->bytes[l] - (a->prepared.relay != NULL ? a->prepared.relay[l] : 0);
        most = fmax(most, bytes * BITS / capacity_of(a, l));
    }
    return most;
}

/* Links that no switch chooses, of a part of a flow, without what is relayed. */
static uint32_t segments_of(const attempt *a, uint64_t flow, uint32_t part, fab_link_id *out) {
    fab_flow about = fab_phase_flow(a->q->phase, flow);
    uint32_t n = fab_flow_segments(a->q->fabric, a->prepared.ports, about.src, about.dst, part, out);
    return fab_relay_drop(a->q->fabric, out, n);
}

/* When the last flow ends at the latest, if each has its share of the links that it crosses. */
static fab_status most_s(attempt *a, double *out_s, fab_error *err) {
    const fab_demand *d = a->prepared.demand;
    const fab_phase *phase = a->q->phase;
    fab_link_id segments[FAB_FLOW_SEGMENT_LINKS];
    double last_s = 0;
    FAB_PASS(FAB_NEW(a->shares, a->q->fabric->n_links, err));
    FAB_PASS(FAB_NEW(a->of_pair, d->n_pairs, err));
    FAB_FILL(a->of_pair, d->n_pairs, d->n_left != NULL ? 0 : (double)d->parts[fab_at] / d->n_parts);
    for (uint64_t i = 0; d->n_left != NULL && i < phase->n_flows * d->n_parts; i++) {
        if (d->pair_of[i] != FAB_NONE) {
            const uint64_t flow = i / d->n_parts;
            a->of_pair[d->pair_of[i]] += 1.0 / d->n_left[flow];
        }
    }
    FAB_PASS(fab_split_load(a->dag, a->split, d, a->of_pair, a->shares, err));
    for (uint64_t flow = 0; flow < phase->n_flows; flow++) {
        for (uint32_t part = 0; part < d->n_parts; part++) {
            uint32_t n = segments_of(a, flow, part, segments);
            for (uint32_t i = 0; i < n; i++) {
                a->shares[segments[i]] += fab_demand_share(d, flow, part);
            }
        }
    }
    for (uint32_t l = 0; l < a->q->fabric->n_links; l++) {
        a->shares[l] /= capacity_of(a, l);
    }
    FAB_PASS(fab_split_fold(a->dag, a->split, FAB_FOLD_MAX, a->shares, d, a->of_pair, err));
    for (uint64_t flow = 0; flow < phase->n_flows; flow++) {
        double worst = 0;
        for (uint32_t part = 0; part < d->n_parts; part++) {
            uint32_t n = fab_demand_share(d, flow, part) > 0 ? segments_of(a, flow, part, segments) : 0;
            uint32_t pair =
                fab_demand_pair(d, a->q->fabric, a->prepared.ports, a->prepared.next_hops, phase, flow, part);
            worst = pair != FAB_NONE ? fmax(worst, a->of_pair[pair]) : worst;
            for (uint32_t i = 0; i < n; i++) {
                worst = fmax(worst, a->shares[segments[i]]);
            }
        }
        last_s = fmax(last_s, worst * (double)fab_phase_flow(phase, flow).bytes * BITS);
    }
    *out_s = last_s;
    return FAB_OK;
}

/* That a receiver's window makes the slowest flow last. */
static fab_status window_s(attempt *a, double *out_s, fab_error *err) {
    const fab_phase *phase = a->q->phase;
    double most = 0;
    FAB_PASS(FAB_NEW(a->limit, phase->n_flows, err));
    FAB_PASS(fab_flow_latencies_of_split(a->router, a->dag, a->split, a->prepared.demand, phase, a->limit, err));
    fab_flow_limits(a->router, a->limit, phase->n_flows, a->limit);
    for (uint64_t flow = 0; flow < phase->n_flows; flow++) {
        most = fmax(most, (double)fab_phase_flow(phase, flow).bytes * BITS / a->limit[flow]);
    }
    *out_s = most;
    return FAB_OK;
}

static fab_status split_solve(attempt *a, double *out_s, fab_error *err) {
    FAB_OWNS(fab_scratch_release) fab_scratch scratch = {.use = NULL};
    fab_figures sample = {0};
    const fab_trace trace = {.n_groups = 1, .finish_s = a->q->ends_s};
    const fab_engine_run run = {.prepared = &a->prepared,
                                .router = a->router,
                                .n_threads = 1,
                                .scratch = &scratch,
                                .trace = a->q->ends_s != NULL ? &trace : NULL};
    if (run.trace != NULL) {
        fab_trace_clear(&trace, a->q->fabric, a->q->phase);
    }
    FAB_PASS(fab_rate_split(&run, a->split, a->bytes, &sample, err));
    for (uint64_t i = 0; i < a->q->phase->n_flows && run.trace != NULL; i++) {
        a->q->ends_s[i] = isnan(sample.mean_rate) ? NAN : a->q->ends_s[i] + a->prepared.relay_s;
    }
    *out_s = sample.transfer_s;
    return FAB_OK;
}

fab_status fab_split_seconds(const fab_split_seconds_request *request, fab_phase_seconds *out, fab_error *err) {
    const fab_phase *phase = request->phase;
    FAB_OWNS(close_attempt) attempt a = {.q = request};
    fab_phase_seconds found = {0};
    fab_path_figures paths = {0};
    bool is_even = true;
    FAB_PASS(open_attempt(&a, err));
    FAB_PASS(fab_path_figures_of_split(a.router, a.dag, a.split, &a.demand, phase, request->offer, &paths, err));
    double bits = (double)fab_phase_largest(phase, &is_even) * BITS;
    double low_s = least_s(&a);
    double high_s = low_s;
    FAB_PASS(!is_even ? most_s(&a, &high_s, err) : FAB_OK);
    if (fab_router_facts_of(a.router)->reorders && paths.n_flows > 0 && bits / paths.min_limit_bps > low_s) {
        double relay_s = 0;
        FAB_PASS(window_s(&a, &relay_s, err));
        low_s = fmax(low_s, relay_s);
        high_s = fmax(high_s, relay_s);
    }
    if (request->ends_s == NULL && high_s <= low_s * (1 + MET)) {
        found.transfer_s = low_s + a.prepared.relay_s;
    } else {
        FAB_PASS(a.demand.n_lost > 0 ? split_unknown(&a, err) : FAB_OK);
        FAB_PASS(split_solve(&a, &found.transfer_s, err)); /* the relaying is in it */
        found.is_simulated = true;
    }
    found.in_network = paths.n_flows > 0;
    found.latency_s = fab_phase_latency_s(request->fabric, phase, found.in_network, paths.latency_s.max);
    *out = found;
    return FAB_OK;
}
