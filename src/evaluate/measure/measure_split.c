/* Engines that split what a switch holds: loads by propagation, and per flow the worst link that any of its packets
 * may meet. */
#include "measure_rates.h"

/* Largest value over the parts of a class; 0 where no part crosses a fabric link. */
static double worst_of(const fab_flow_classes *c, size_t i, const double *of_pair) {
    double worst = 0;
    for (uint32_t p = 0; p < c->n_parts; p++) {
        uint32_t pair = c->pair[i * c->n_parts + p];
        worst = pair != FAB_NONE ? fmax(worst, of_pair[pair]) : worst;
    }
    return worst;
}

static void tally_flows(const fab_flow_classes *c, const double *worst, fab_figures *out) {
    fab_flow_tally tally = {0};
    for (size_t i = 0; i < c->n; i++) {
        fab_tally_add(&tally, worst_of(c, i, worst), c->count != NULL ? (double)c->count[i] : 1);
    }
    fab_sample_flows(&tally, out);
}

/* Host segments of a flow count as well: a NIC may be slower than the line. */
static double worst_segment(const fab_prepared_phase *s, const double *count, uint64_t flow) {
    fab_flow about = fab_phase_flow(s->phase, flow);
    double worst = 1;
    fab_link_id links[FAB_FLOW_SEGMENT_LINKS];
    for (uint32_t part = 0; part < s->demand->n_parts; part++) {
        uint32_t n = fab_flow_segments(s->fabric, s->ports, about.src, about.dst, part, links);
        for (uint32_t i = 0; i < n; i++) {
            worst = fmax(worst, fab_line_share(s, links[i], count[links[i]]));
        }
    }
    return worst;
}

static const fab_dag *dag_of(const fab_engine_run *run) {
    return fab_router_dag(run->router, run->prepared->dag);
}

static fab_status effective_bisection(const fab_engine_run *run, const fab_split *split, double *out, fab_error *err) {
    const fab_prepared_phase *s = run->prepared;
    const fab_dag *dag = dag_of(run);
    const fab_fabric *f = s->fabric;
    double sum = 0;
    FAB_OWNED_NEW(double, count, f->n_links, err);
    FAB_OWNED_NEW(double, amount, s->demand->n_pairs, err);
    FAB_OWNED_NEW(double, worst, s->demand->n_pairs, err);
    FAB_FILL(amount, s->demand->n_pairs, (double)s->demand->parts[fab_at] / s->demand->n_parts);
    FAB_PASS(fab_split_load(dag, split, s->demand, amount, count, err));
    for (uint64_t flow = 0; flow < s->phase->n_flows; flow++) {
        fab_flow about = fab_phase_flow(s->phase, flow);
        fab_link_id links[FAB_FLOW_SEGMENT_LINKS];
        for (uint32_t part = 0; part < s->demand->n_parts; part++) {
            uint32_t n = fab_flow_segments(f, s->ports, about.src, about.dst, part, links);
            for (uint32_t i = 0; i < n; i++) {
                count[links[i]] += 1.0 / s->demand->n_parts;
            }
        }
    }
    for (uint32_t l = 0; l < f->n_links; l++) { /* in place: amounts become multiples of what a link holds */
        run->scratch->use[l] = fab_line_share(s, l, count[l]);
    }
    FAB_PASS(fab_split_fold(dag, split, FAB_FOLD_MAX, run->scratch->use, s->demand, worst, err));
    for (uint64_t flow = 0; flow < s->phase->n_flows; flow++) {
        sum += 1 / fmax(worst_of(&s->classes, flow, worst), worst_segment(s, count, flow));
    }
    *out = s->phase->n_flows > 0 ? sum / (double)s->phase->n_flows : 0;
    return FAB_OK;
}

/* The first flows of an all-to-all that cross: they are numbered, not listed. */
#define LOOK_AT 1000000

static void split_list_flows(const fab_prepared_phase *s, const double *share, fab_hot_link *hot) {
    const fab_flow_classes *c = &s->classes;
    uint64_t n = s->phase->n_flows < LOOK_AT ? s->phase->n_flows : LOOK_AT;
    for (uint64_t flow = 0; flow < n && hot->n_listed < FAB_HOT_FLOWS; flow++) {
        double sum = 0;
        for (uint32_t p = 0; p < c->n_parts; p++) {
            uint32_t pair = c->count == NULL
                                ? c->pair[flow * c->n_parts + p]
                                : fab_demand_pair(s->demand, s->fabric, s->ports, s->next_hops, s->phase, flow, p);
            sum += pair != FAB_NONE ? share[pair] / c->n_parts : 0;
        }
        if (sum > 0) {
            fab_detail_add_flow(s, flow, sum, hot);
        }
    }
}

static fab_status add_crossing_flows(const fab_engine_run *run, const fab_split *split, fab_error *err) {
    const fab_prepared_phase *s = run->prepared;
    const fab_dag *dag = dag_of(run);
    const fab_flow_classes *c = &s->classes;
    FAB_OWNED_NEW(double, x, s->fabric->n_links, err);
    FAB_OWNED_NEW(double, share, s->demand->n_pairs, err);
    FAB_EACH(fab_hot_link, hot, run->detail->hot, run->detail->n_hot) {
        x[hot->link] = 1;
        FAB_PASS(fab_split_fold(dag, split, FAB_FOLD_EXPECTED, x, s->demand, share, err));
        x[hot->link] = 0;
        for (size_t k = 0; k < c->n; k++) {
            hot->n_flows += worst_of(c, k, share) > 0 ? (c->count != NULL ? c->count[k] : 1) : 0;
        }
        split_list_flows(s, share, hot);
    }
    return FAB_OK;
}

fab_status fab_measure_split(const fab_engine_run *run, fab_figures *out, fab_error *err) {
    const fab_prepared_phase *s = run->prepared;
    const fab_dag *dag = dag_of(run);
    fab_scratch *scratch = run->scratch;
    size_t size = s->fabric->n_links * sizeof *scratch->use;
    FAB_OWNS(fab_split_free_owned) fab_split *own = NULL;
    const fab_split *split = fab_split_even();
    if (fab_router_facts_of(run->router)->splits) {
        FAB_PASS(fab_router_split(run->router, dag, s->demand, run->bound, &own, err));
        split = own;
    }
    FAB_PASS(FAB_GROW(scratch->worst, scratch->worst_capacity, s->demand->n_pairs, err));
    FAB_PASS(s->bisection ? effective_bisection(run, split, &out->effective_bisection, err) : FAB_OK);
    memcpy(scratch->use, s->demand->segment_rate, size);
    memcpy(scratch->bytes, s->demand->segment_bytes, size);
    FAB_PASS(fab_split_load(dag, split, s->demand, s->demand->rate, scratch->use, err));
    FAB_PASS(fab_split_load(dag, split, s->demand, s->demand->bytes, scratch->bytes, err));
    FAB_PASS(fab_sample_loads(run, scratch->use, scratch->bytes, out, err));
    FAB_PASS(fab_split_fold(dag, split, FAB_FOLD_MAX, scratch->use, s->demand, scratch->worst, err));
    tally_flows(&s->classes, scratch->worst, out);
    FAB_PASS(fab_sample_bound(run, fab_router_facts_of(run->router)->is_minimal, out, err));
    if (run->detail != NULL) {
        fab_detail_loads(run, scratch->use, scratch->bytes);
    }
    if (run->rates) {
        bool is_known = false;
        FAB_PASS(fab_rate_last(run, scratch->bytes, out, &is_known, err));
        FAB_PASS(is_known      ? FAB_OK
                 : own != NULL ? fab_rate_split(run, split, scratch->bytes, out, err)
                               : fab_rate_loads(run, scratch->bytes, out, err));
    }
    FAB_PASS(own == NULL ? fab_estimate_hash(run, dag, scratch->use, scratch->bytes, out, err) : FAB_OK);
    if (run->detail != NULL) {
        FAB_PASS(run->links_alone ? FAB_OK : add_crossing_flows(run, split, err));
        FAB_PASS(fab_path_figures_of_split(run->router, dag, split, s->demand, s->phase, s->offer, &run->detail->paths,
                                           err));
    }
    if (run->detail != NULL && run->dependencies != NULL) {
        FAB_PASS(fab_dependencies_add_minimal(run->dependencies, fab_router_next_hops(run->router),
                                              fab_phase_switch_classes(s, run->router), s->demand, err));
    }
    return FAB_OK;
}
