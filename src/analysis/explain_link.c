/* Routes the flows of a phase, chunk by chunk, and keeps those that cross a link; then walks the kept paths again,
 * asking why at every switch. */
#include "fab/explanation.h"

#define CHUNK 65536 /* flows routed at a time */

/* A link being explained, and the phase at hand. */
typedef struct explainer {
    const fab_context *context;
    const fab_fabric *f;
    const fab_next_hops *t;
    const fab_dag *dag;
    const fab_router *router;
    const fab_traffic *traffic;
    fab_link_id link;
    uint8_t *mark; /* shape [n_links]: 1 for links that leave the same switch for another, 2 for the link */
    fab_routes routes, round;
    fab_explained_path path;
    const fab_phase *phase;
    const fab_offer *offer;
    const fab_demand *demand;
    fab_crossing_phase *out;
    size_t flow_capacity;
    uint64_t *group_paths; /* of a group of the switch: paths that it served */
    uint8_t *taken;        /* shape [n_links]: some path of a group with the link took it */
} explainer;

/* --- results ----------------------------------------------------------------------------------------------------- */

static void release_phase(fab_crossing_phase *phase) {
    for (size_t i = 0; i < phase->n_flows; i++) {
        FAB_FREE_EACH_OF(free, phase->flow[i].path, phase->flow[i].n_paths, .decision);
        free(phase->flow[i].path);
    }
    free(phase->flow);
}

void fab_explanation_release(fab_explanation *explanation) {
    for (size_t i = 0; i < explanation->n_phases; i++) {
        release_phase(&explanation->phase[i]);
    }
    free(explanation->phase);
    *explanation = (fab_explanation){0};
}

static fab_status add_flow(explainer *e, uint64_t index, double share, fab_crossing_flow **out, fab_error *err) {
    fab_crossing_phase *phase = e->out;
    FAB_PASS(FAB_GROW(phase->flow, e->flow_capacity, phase->n_flows + 1, err));
    fab_flow flow = fab_phase_flow(e->phase, index);
    const uint32_t *rank = e->traffic->rank_of_gpu;
    fab_crossing_flow *crossing = &phase->flow[phase->n_flows++];
    *crossing = (fab_crossing_flow){.flow = index,
                                    .src_gpu = flow.src,
                                    .dst_gpu = flow.dst,
                                    .src_rank = rank != NULL ? rank[flow.src] : flow.src,
                                    .dst_rank = rank != NULL ? rank[flow.dst] : flow.dst,
                                    .comm = flow.comm,
                                    .rate_bps = fab_offer_rate(e->offer, e->phase, index),
                                    .share = share};
    (void)fab_comm_name(e->traffic, e->phase, flow.comm, crossing->comm_name);
    phase->load_bps += crossing->rate_bps * share;
    *out = crossing;
    return FAB_OK;
}

/* --- paths ------------------------------------------------------------------------------------------------------- */

/* Column of the leaf that a path with a fabric link leaves the fabric from. */
static uint32_t explain_leaf_of(const explainer *e, const fab_link_id *link, size_t n) {
    fab_node_id leaf = FAB_NONE;
    for (size_t i = 0; i < n; i++) {
        leaf = fab_class_of(e->f, link[i])->kind == FAB_LINK_FABRIC ? fab_head(e->f, link[i]) : leaf;
    }
    return leaf != FAB_NONE ? fab_next_hops_column(e->t, leaf - e->f->first[FAB_NODE_SWITCH]) : 0;
}

/* Counts a path that leaves the switch over `taken`, if its next hops there include the link. Tells whether they do. */
static bool count_choice(explainer *e, fab_link_id taken, uint32_t leaf) {
    uint32_t v = fab_tail(e->f, e->link) - e->f->first[FAB_NODE_SWITCH];
    uint32_t group = fab_next_hops_group_of(fab_router_next_hops(e->router), v, leaf);
    fab_next_hop_list next = fab_next_hops_get(fab_router_next_hops(e->router), v, leaf);
    FAB_ANY(has_link, i, next.count, fab_next_hop(&next, i) == e->link);
    if (!has_link || next.count < 2 || fab_router_facts_of(e->router)->has_tables) {
        return false;
    }
    e->group_paths[group - fab_next_hops_first_group(fab_router_next_hops(e->router), v)]++;
    e->taken[taken] = 1;
    e->out->choice.paths++;
    return true;
}

/* Walks a path of a flow again; the decisions go to `out`. */
static fab_status keep_path(explainer *e, const fab_flow *flow, uint32_t path, const fab_link_id *link, size_t n,
                            fab_crossing_path *out, fab_error *err) {
    const fab_router *router = e->router;
    if (fab_router_facts_of(router)->takes_phases) {
        FAB_PASS(fab_explain_route(router, link, n, path / fab_router_ports(router)->nics_per_gpu, &e->path, err));
    } else {
        FAB_PASS(fab_explain_path(router, flow, path, fab_context_seed(e->context, router), &e->path, err));
    }
    FAB_REFUSE_IF(e->path.n_links != n || memcmp(e->path.link, link, n * sizeof *link) != 0, err, FAB_EINTERNAL, NULL,
                  "path %u from gpu-%u to gpu-%u is routed one way and explained another", path, flow->src, flow->dst);
    FAB_PASS(FAB_NEW(out->decision, e->path.n_decisions, err));
    FAB_COPY(out->decision, e->path.decision, e->path.n_decisions);
    out->n_decisions = e->path.n_decisions;
    out->queue_pair = e->path.queue_pair;
    out->plane = e->path.plane;
    return FAB_OK;
}

static fab_status scan_flow(explainer *e, const fab_routes *routes, uint32_t i, uint64_t index, fab_error *err) {
    fab_flow flow = fab_phase_flow(e->phase, index);
    uint32_t first = routes->flow_first[i];
    uint32_t n_paths = routes->flow_first[i + 1] - first;
    uint32_t n_here = 0;
    bool chooses = false;
    fab_crossing_flow *crossing = NULL;
    for (uint32_t path = 0; path < n_paths; path++) {
        const fab_link_id *link = routes->link + routes->path_first[first + path];
        size_t n = routes->path_first[first + path + 1] - routes->path_first[first + path];
        for (size_t k = 0; k < n; k++) {
            uint8_t mark = e->mark[link[k]];
            if (mark != 0 && fab_class_of(e->f, link[k])->kind == FAB_LINK_FABRIC) {
                chooses = count_choice(e, link[k], explain_leaf_of(e, link, n)) || chooses;
            }
            n_here += mark == 2;
        }
    }
    e->out->choice.flows += chooses;
    if (n_here == 0) {
        return FAB_OK;
    }
    FAB_PASS(add_flow(e, index, (double)n_here / n_paths, &crossing, err));
    FAB_PASS(FAB_NEW(crossing->path, n_here, err));
    crossing->n_paths_at_once = n_paths;
    for (uint32_t path = 0; path < n_paths; path++) {
        const fab_link_id *link = routes->link + routes->path_first[first + path];
        size_t n = routes->path_first[first + path + 1] - routes->path_first[first + path];
        FAB_FIRST(k, n, link[k] == e->link);
        if (k < n) {
            crossing->n_paths++;
            FAB_PASS(keep_path(e, &flow, path, link, n, &crossing->path[crossing->n_paths - 1], err));
        }
    }
    return FAB_OK;
}

static fab_status scan_routes(explainer *e, fab_error *err) {
    const fab_router *router = e->router;
    uint64_t n_flows = e->phase->n_flows;
    uint64_t chunk = fab_router_facts_of(router)->takes_phases ? n_flows : CHUNK;
    FAB_REFUSE_IF(chunk > UINT32_MAX, err, FAB_EUNSUPPORTED, NULL,
                  "engine %s routes all flows at once, and phase %s has more than %u",
                  fab_router_facts_of(router)->engine, e->phase->name, UINT32_MAX);
    for (uint64_t first = 0; first < n_flows; first += chunk) {
        uint32_t n = (uint32_t)(n_flows - first < chunk ? n_flows - first : chunk);
        const fab_routes *at_once = &e->routes;
        FAB_PASS(fab_route_flows(router, e->phase, first, n, e->offer->rate, fab_context_seed(e->context, router),
                                 &e->routes, err));
        if (fab_router_facts_of(router)->n_rounds >
            1) { /* its paths are the first ones of a flow: they keep their numbers */
            FAB_PASS(fab_routes_of_round(&e->routes, 0, fab_router_facts_of(router)->n_rounds, &e->round, err));
            at_once = &e->round;
        }
        for (uint32_t i = 0; i < n; i++) {
            FAB_PASS(scan_flow(e, at_once, i, first + i, err));
        }
    }
    return FAB_OK;
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

FAB_ORDER_KEYS(by_load, fab_crossing_flow, FAB_ORDER(b->rate_bps * b->share, a->rate_bps * a->share),
               FAB_ORDER(a->flow, b->flow));

static uint64_t count_distinct(uint64_t *values, size_t n) {
    qsort(values, n, sizeof *values, fab_order_u64);
    FAB_SUM(uint64_t, distinct, i, n, i == 0 || values[i] != values[i - 1]);
    return distinct;
}

/* Next hops of the groups that hold the link, those used, and those that draws would use: next hop i of share p_i stays
 * unused by n draws with probability (1 - p_i)^n. */
static fab_status sum_choice(explainer *e, fab_error *err) {
    fab_link_choice *choice = &e->out->choice;
    fab_node_id tail = fab_tail(e->f, e->link);
    if (choice->paths == 0) {
        return FAB_OK;
    }
    uint32_t v = tail - e->f->first[FAB_NODE_SWITCH];
    const fab_next_hops *t = fab_router_next_hops(e->router);
    FAB_OWNED_NEW(double, log_unused, e->f->n_links, err);
    for (uint32_t entry = fab_next_hops_first_group(t, v); entry < fab_next_hops_first_group(t, v + 1); entry++) {
        fab_next_hop_list next = fab_next_hops_members(t, v, entry);
        double paths = (double)e->group_paths[entry - fab_next_hops_first_group(t, v)];
        FAB_SUM(double, all, i, next.count, fab_router_weight(e->router, &next, i));
        for (uint32_t i = 0; paths > 0 && i < next.count; i++) {
            log_unused[fab_next_hop(&next, i)] += paths * log1p(-(double)fab_router_weight(e->router, &next, i) / all);
        }
    }
    for (uint32_t k = e->f->out_first[tail]; k < e->f->out_first[tail + 1]; k++) {
        fab_link_id link = e->f->out_link[k];
        choice->next_hops += log_unused[link] < 0;
        choice->used += e->taken[link];
        choice->ideal_used -= expm1(log_unused[link]);
    }
    return FAB_OK;
}

static fab_status sum_flows(explainer *e, fab_error *err) {
    fab_crossing_phase *phase = e->out;
    size_t n = 0;
    FAB_OWNED_NEW(uint64_t, comms, phase->n_flows, err);
    for (size_t i = 0; i < phase->n_flows; i++) {
        comms[i] = phase->flow[i].comm;
        phase->choice.paths_here += phase->flow[i].n_paths;
    }
    phase->n_comms = count_distinct(comms, phase->n_flows);
    FAB_OWNED_NEW(uint64_t, values, (size_t)phase->choice.paths_here, err);
    for (size_t i = 0; fab_router_facts_of(e->router)->explains && i < phase->n_flows; i++) {
        FAB_EACH(const fab_crossing_path, path, phase->flow[i].path, phase->flow[i].n_paths) {
            FAB_KEEP(values, n, k, path->n_decisions, path->decision[k].link == e->link && path->decision[k].count != 1,
                     path->decision[k].value);
        }
    }
    phase->choice.values_here = count_distinct(values, n);
    FAB_SORT(phase->flow, phase->n_flows, by_load);
    return FAB_OK;
}

/* What the design itself does to the link. */
static fab_status find_taper(explainer *e, fab_error *err) {
    double capacity_bps = fab_class_of(e->f, e->link)->capacity_bps;
    FAB_OWNED_NEW(double, load, e->f->n_links, err);
    FAB_PASS(fab_split_load(e->dag, fab_split_even(), e->demand, e->demand->rate, load, err));
    e->out->taper_factor = (load[e->link] + e->demand->segment_rate[e->link]) / capacity_bps;
    e->out->utilisation = e->out->load_bps / capacity_bps;
    e->out->hash_factor = e->out->taper_factor > 0 ? e->out->utilisation / e->out->taper_factor : e->out->utilisation;
    return FAB_OK;
}

/* Under an engine that splits what a switch holds, the share of every flow that crosses a link is the mean of 1 on that
 * link and 0 on all others along its paths. */
static double share_of(const explainer *e, uint64_t flow, const double *share, bool is_segment) {
    fab_flow about = fab_phase_flow(e->phase, flow);
    const fab_ports *ports = fab_router_ports(e->router);
    uint32_t n_parts = e->demand->n_parts;
    double sum = 0;
    for (uint32_t part = 0; part < n_parts; part++) {
        fab_link_id links[FAB_FLOW_SEGMENT_LINKS];
        uint32_t n = is_segment ? fab_flow_segments(e->f, ports, about.src, about.dst, part, links) : 0;
        for (uint32_t i = 0; i < n; i++) {
            sum += links[i] == e->link ? 1.0 / n_parts : 0;
        }
        uint32_t pair = is_segment ? FAB_NONE : fab_demand_pair(e->demand, e->f, ports, e->t, e->phase, flow, part);
        sum += pair != FAB_NONE ? share[pair] / n_parts : 0;
    }
    return sum;
}

static fab_status add_shares(explainer *e, fab_error *err) {
    FAB_OWNS(fab_split_free_owned) fab_split *split = NULL;
    fab_crossing_flow *crossing = NULL;
    const fab_dag *dag = fab_router_dag(e->router, e->dag);
    bool is_segment = fab_class_of(e->f, e->link)->kind != FAB_LINK_FABRIC;
    FAB_PASS(fab_router_split(e->router, dag, e->demand, NULL, &split, err));
    FAB_OWNED_NEW(double, x, e->f->n_links, err);
    FAB_OWNED_NEW(double, share, e->demand->n_pairs, err);
    x[e->link] = 1;
    FAB_PASS(fab_split_fold(dag, split, FAB_FOLD_EXPECTED, x, e->demand, share, err));
    for (uint64_t flow = 0; flow < e->phase->n_flows; flow++) {
        double part = share_of(e, flow, share, is_segment);
        FAB_PASS(part > 0 ? add_flow(e, flow, part, &crossing, err) : FAB_OK);
    }
    return FAB_OK;
}

static fab_status explain_phase(explainer *e, size_t index, fab_crossing_phase *out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_phase *phase = &e->traffic->phases[index];
    e->phase = phase;
    e->out = out;
    e->flow_capacity = 0;
    FAB_FORMAT(out->name, "%s", phase->name);
    FAB_FORMAT(out->collective, "%s", phase->collective);
    FAB_TRY(FAB_NEW(e->group_paths, fab_next_hops_n_groups(fab_router_next_hops(e->router)), err));
    FAB_TRY(FAB_NEW(e->taken, e->f->n_links, err));
    FAB_TRY(fab_context_offer(e->context, index, &e->offer, err));
    FAB_TRY(fab_context_demand(e->context, index, &e->demand, err));
    FAB_TRY(fab_router_facts_of(e->router)->splits ? add_shares(e, err) : scan_routes(e, err));
    FAB_TRY(sum_choice(e, err));
    FAB_TRY(sum_flows(e, err));
    FAB_TRY(find_taper(e, err));
done:
    FAB_FREE_ALL(e->group_paths, e->taken);
    e->group_paths = NULL;
    e->taken = NULL;
    return status;
}

/* --- the link ----------------------------------------------------------------------------------------------------- */

static fab_status mark_links(explainer *e, fab_error *err) {
    fab_node_id tail = fab_tail(e->f, e->link);
    FAB_PASS(FAB_NEW(e->mark, e->f->n_links, err));
    for (uint32_t k = e->f->out_first[tail]; k < e->f->out_first[tail + 1]; k++) {
        e->mark[e->f->out_link[k]] = fab_class_of(e->f, e->f->out_link[k])->kind == FAB_LINK_FABRIC;
    }
    e->mark[e->link] = 2;
    return FAB_OK;
}

static void explain_release(explainer *e) {
    fab_explained_path_release(&e->path);
    fab_routes_release(&e->routes);
    fab_routes_release(&e->round);
    free(e->mark);
}

fab_status fab_explain_link(const fab_context *context, size_t engine, fab_link_id link, fab_explanation *out,
                            fab_error *err) {
    const fab_context_request *what = fab_context_what(context);
    FAB_OWNS(explain_release) explainer e = {.context = context, .f = what->fabric, .link = link};
    FAB_OWNS(fab_explanation_release)
    fab_explanation found = {.fabric = what->fabric, .link = link, .seed = what->seed};
    (void)fab_link_name(e.f, found.link, found.name);
    found.capacity_bps = fab_class_of(e.f, found.link)->capacity_bps;
    FAB_PASS(fab_context_next_hops(context, &e.t, err));
    FAB_PASS(fab_context_dag(context, &e.dag, err));
    FAB_PASS(fab_context_router(context, engine, &e.router, err));
    FAB_PASS(fab_context_traffic(context, &e.traffic, err));
    FAB_PASS(mark_links(&e, err));
    FAB_FORMAT(found.engine, "%s", fab_router_facts_of(e.router)->engine);
    FAB_FORMAT(found.label, "%s", fab_router_facts_of(e.router)->label);
    FAB_FORMAT(found.traffic, "%s", e.traffic->summary);
    found.splits = fab_router_facts_of(e.router)->splits;
    found.hashes = fab_router_facts_of(e.router)->hashes;
    found.n_rounds = fab_router_facts_of(e.router)->n_rounds;
    FAB_PASS(FAB_NEW(found.phase, e.traffic->n_phases, err));
    for (; found.n_phases < e.traffic->n_phases;) {
        found.n_phases++;
        FAB_PASS(explain_phase(&e, found.n_phases - 1, &found.phase[found.n_phases - 1], err));
    }
    return FAB_GIVE(*out, found);
}
