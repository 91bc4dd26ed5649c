/* A phase under an engine, followed flow by flow: what a run of measure.h fills on its way. */
#include "measure/measure_rates.h"

void fab_trace_clear(const fab_trace *trace, const fab_fabric *fabric, const fab_phase *phase) {
    FAB_FILL(trace->last_s, trace->last_s != NULL ? trace->n_groups : 0, 0);
    FAB_FILL(trace->bytes, trace->bytes != NULL ? (size_t)trace->n_groups * fabric->n_links : 0, 0);
    FAB_FILL(trace->finish_s, trace->finish_s != NULL ? phase->n_flows : 0, 0);
    FAB_FILL(trace->crosses, trace->crosses != NULL ? phase->n_flows : 0, 0);
}

static uint32_t trace_group_of(const fab_trace *trace, uint64_t flow) {
    return trace->group != NULL ? trace->group[flow] : 0;
}

/* In a round that counts `part` of all. */
static void end_flow(const fab_trace *trace, uint64_t flow, double finish_s, double part, double *last_s) {
    if (trace->finish_s != NULL) {
        trace->finish_s[flow] += finish_s * part;
    }
    last_s[trace_group_of(trace, flow)] = fmax(last_s[trace_group_of(trace, flow)], finish_s);
}

static void add_round(const fab_trace *trace, const double *last_s, double part) {
    for (uint32_t g = 0; trace->last_s != NULL && g < trace->n_groups; g++) {
        trace->last_s[g] += last_s[g] * part;
    }
}

fab_status fab_trace_paths(const fab_engine_run *run, const fab_routes *r, const double *volume, fab_error *err) {
    const fab_trace *trace = run->trace;
    const double *finish_s = run->scratch->rates->finish_s;
    double part = 1.0 / fab_router_facts_of(run->router)->n_rounds;
    size_t n_links = run->prepared->fabric->n_links;
    FAB_OWNED_NEW(double, last_s, trace->n_groups, err);
    for (uint32_t flow = 0; flow < r->n_flows; flow++) {
        uint32_t first = r->flow_first[flow];
        uint32_t behind = r->flow_first[flow + 1];
        double *bytes = trace->bytes != NULL ? trace->bytes + trace_group_of(trace, flow) * n_links : NULL;
        double each = volume[flow] * part / (behind - first);
        double end_s = 0;
        for (uint32_t i = first; i < behind; i++) {
            end_s = fmax(end_s, finish_s[i]);
        }
        for (size_t i = r->path_first[first]; i < r->path_first[behind]; i++) {
            if (bytes != NULL) {
                bytes[r->link[i]] += each;
            }
            if (trace->crosses != NULL && trace->marked != NULL && trace->marked[r->link[i]] != 0) {
                trace->crosses[flow] = 1;
            }
        }
        end_flow(trace, flow, end_s, part, last_s);
    }
    add_round(trace, last_s, part);
    return FAB_OK;
}

/* One group's bytes under a split: of its flows' parts, on host segments and between leaves. */
static fab_status add_split_bytes(const fab_engine_run *run, const fab_split *split, uint32_t group, double *amount,
                                  fab_error *err) {
    const fab_prepared_phase *s = run->prepared;
    const fab_demand *d = s->demand;
    double *bytes = run->trace->bytes + (size_t)group * s->fabric->n_links;
    memset(amount, 0, d->n_pairs * sizeof *amount);
    for (uint64_t flow = 0; flow < s->phase->n_flows; flow++) {
        if (trace_group_of(run->trace, flow) != group) {
            continue;
        }
        fab_flow about = fab_phase_flow(s->phase, flow);
        double each = (double)about.bytes / d->n_parts;
        for (uint32_t part = 0; part < d->n_parts; part++) {
            fab_link_id segments[FAB_FLOW_SEGMENT_LINKS];
            uint32_t n = fab_flow_segments(s->fabric, s->ports, about.src, about.dst, part, segments);
            uint32_t pair = fab_demand_pair(d, s->fabric, s->ports, s->next_hops, s->phase, flow, part);
            for (uint32_t i = 0; i < n; i++) {
                bytes[segments[i]] += each;
            }
            if (pair != FAB_NONE) {
                amount[pair] += each;
            }
        }
    }
    return fab_split_load(fab_router_dag(run->router, s->dag), split, d, amount, bytes, err);
}

/* Share of every pair's packets that cross a marked link between its leaves, then flow by flow with the host segments.
 */
static fab_status find_crossings(const fab_engine_run *run, const fab_split *split, double *share, fab_error *err) {
    const fab_prepared_phase *s = run->prepared;
    const fab_demand *d = s->demand;
    const fab_trace *trace = run->trace;
    FAB_OWNED_NEW(double, x, s->fabric->n_links, err);
    FAB_FILL(x, s->fabric->n_links, trace->marked[fab_at] != 0);
    FAB_PASS(fab_split_fold(fab_router_dag(run->router, s->dag), split, FAB_FOLD_EXPECTED, x, d, share, err));
    for (uint64_t flow = 0; flow < s->phase->n_flows; flow++) {
        fab_flow about = fab_phase_flow(s->phase, flow);
        for (uint32_t part = 0; part < d->n_parts; part++) {
            fab_link_id segments[FAB_FLOW_SEGMENT_LINKS];
            uint32_t n = fab_flow_segments(s->fabric, s->ports, about.src, about.dst, part, segments);
            uint32_t pair = fab_demand_pair(d, s->fabric, s->ports, s->next_hops, s->phase, flow, part);
            FAB_ANY(crosses, i, n, trace->marked[segments[i]] != 0);
            crosses = crosses || (pair != FAB_NONE && share[pair] > 0);
            trace->crosses[flow] = (uint8_t)(trace->crosses[flow] | crosses);
        }
    }
    return FAB_OK;
}

fab_status fab_trace_split(const fab_engine_run *run, const fab_split *split, fab_error *err) {
    const fab_trace *trace = run->trace;
    const double *finish_s = run->scratch->rates->finish_s;
    FAB_OWNED_NEW(double, last_s, trace->n_groups, err);
    FAB_OWNED_NEW(double, of_pair, run->prepared->demand->n_pairs, err);
    for (uint64_t flow = 0; flow < run->prepared->phase->n_flows; flow++) {
        end_flow(trace, flow, finish_s[flow], 1, last_s);
    }
    add_round(trace, last_s, 1);
    for (uint32_t g = 0; trace->bytes != NULL && g < trace->n_groups; g++) {
        FAB_PASS(add_split_bytes(run, split, g, of_pair, err));
    }
    return trace->crosses != NULL && trace->marked != NULL ? find_crossings(run, split, of_pair, err) : FAB_OK;
}
