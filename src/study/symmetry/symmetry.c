/* Which proof holds for what is asked for. */
#include "symmetry.h"

#include "fab/design.h"

/* Cables that no path can cross. A switch that a flow may come through chooses among minimal next hops of the healthy
 * fabric, less those that are dead or have lost the destination's leaf: none that it does not choose among on the
 * healthy fabric. So a cable on no such way is never asked about, and its loss changes nothing. That holds as long as
 * some minimal way is left, else paths get longer: there have to be more ways without a common cable than cables that
 * fail at once. Where there are not, nothing is called unused. */

typedef struct ways {
    const fab_fabric *f;
    const fab_next_hops *next_hops;
    uint32_t n_leaves;
    uint8_t *leads;     /* shape [n_leaves][n_leaves]: by destination, then source: flows between them */
    uint8_t *is_used;   /* shape [n_cables] */
    fab_node_id *stack; /* shape [n_switches] */
    uint32_t *stamp;    /* shape [n_switches]: the search that visited it last */
    uint32_t n_searches;
    uint8_t *is_taken;  /* shape [n_links]: by a way that was found, of the pair at hand */
    fab_link_id *by;    /* shape [n_switches]: how the search came there */
    fab_link_id *taken; /* shape [n_taken] */
    size_t n_taken, taken_capacity;
} ways;

/* Ends of the flows: their cables, and from which leaf to which they go, by every NIC and plane that they may take. */
static void mark_flow(ways *w, const fab_ports *ports, const fab_flow *flow) {
    const fab_fabric *f = w->f;
    const uint32_t base = f->first[FAB_NODE_SWITCH];
    for (uint32_t part = 0; part < ports->nics_per_gpu * ports->n_planes; part++) {
        fab_link_id link[FAB_FLOW_SEGMENT_LINKS];
        fab_node_id leaf[2] = {FAB_NONE, FAB_NONE};
        uint32_t n = fab_flow_segments(f, ports, flow->src, flow->dst, part, link);
        for (uint32_t k = 0; k < n; k++) {
            w->is_used[link[k] / 2] = 1;
            if (fab_class_of(f, link[k])->kind == FAB_LINK_ACCESS) {
                leaf[!fab_is_up(link[k])] = fab_is_up(link[k]) ? fab_head(f, link[k]) : fab_tail(f, link[k]);
            }
        }
        if (leaf[0] != FAB_NONE && leaf[1] != FAB_NONE) {
            const size_t to = fab_next_hops_column(w->next_hops, leaf[1] - base);
            w->leads[to * w->n_leaves + fab_next_hops_column(w->next_hops, leaf[0] - base)] = 1;
        }
    }
}

/* All that lies on a minimal way to a leaf from the leaves that send there. */
static void mark_ways(ways *w, uint32_t to) {
    const fab_next_hops *t = w->next_hops;
    const uint32_t base = w->f->first[FAB_NODE_SWITCH];
    const uint32_t search = ++w->n_searches;
    uint32_t n = 0;
    for (uint32_t from = 0; from < w->n_leaves; from++) {
        const fab_node_id v = fab_next_hops_leaf(t, from);
        if (w->leads[(size_t)to * w->n_leaves + from] != 0 && w->stamp[v - base] != search) {
            w->stamp[v - base] = search;
            w->stack[n++] = v;
        }
    }
    while (n > 0) {
        const fab_node_id v = w->stack[--n];
        const fab_next_hop_list list = fab_next_hops_get(t, v - base, to);
        for (uint32_t i = 0; i < list.count && v != fab_next_hops_leaf(t, to); i++) {
            const fab_link_id link = fab_next_hop(&list, i);
            const fab_node_id head = fab_head(w->f, link);
            w->is_used[link / 2] = 1;
            if (w->stamp[head - base] != search) {
                w->stamp[head - base] = search;
                w->stack[n++] = head;
            }
        }
    }
}

/* --- ways without a common cable ---------------------------------------------------------------------------------- */

/* Comes to a switch, if the search was not there. */
static void come_by(ways *w, fab_node_id v, fab_link_id link, uint32_t *n) {
    const uint32_t at = v - w->f->first[FAB_NODE_SWITCH];
    if (w->stamp[at] != w->n_searches) {
        w->stamp[at] = w->n_searches;
        w->by[at] = link;
        w->stack[(*n)++] = v;
    }
}

/* One more way, which may give back cables of the ways before (Ford and Fulkerson). False: there is none. */
static bool find_way(ways *w, fab_node_id from, uint32_t to) {
    const fab_fabric *f = w->f;
    const fab_node_id end = fab_next_hops_leaf(w->next_hops, to);
    const uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t n = 0;
    w->n_searches++;
    come_by(w, from, FAB_NONE, &n);
    while (n > 0 && w->stamp[end - base] != w->n_searches) {
        const fab_node_id v = w->stack[--n];
        const fab_next_hop_list list = fab_next_hops_get(w->next_hops, v - base, to);
        for (uint32_t i = 0; i < list.count; i++) {
            const fab_link_id link = fab_next_hop(&list, i);
            if (w->is_taken[link] == 0) {
                come_by(w, fab_head(f, link), link, &n);
            }
        }
        for (uint32_t k = f->out_first[v]; k < f->out_first[v + 1]; k++) {
            if (w->is_taken[f->out_link[k] ^ 1U] != 0) {
                come_by(w, fab_head(f, f->out_link[k]), f->out_link[k], &n);
            }
        }
    }
    return w->stamp[end - base] == w->n_searches;
}

static fab_status take_way(ways *w, fab_node_id from, uint32_t to, fab_error *err) {
    const uint32_t base = w->f->first[FAB_NODE_SWITCH];
    for (fab_node_id v = fab_next_hops_leaf(w->next_hops, to); v != from;) {
        const fab_link_id link = w->by[v - base];
        const bool gives_back = w->is_taken[link ^ 1U] != 0;
        w->is_taken[gives_back ? link ^ 1U : link] = !gives_back;
        FAB_PASS(FAB_APPEND(w->taken, w->n_taken, w->taken_capacity, err, link));
        v = fab_tail(w->f, link);
    }
    return FAB_OK;
}

/* Whether a minimal way is left between two leaves whatever k cables fail. */
static fab_status stays_near(ways *w, uint32_t from, uint32_t to, uint32_t k, bool *out, fab_error *err) {
    const fab_node_id begin = fab_next_hops_leaf(w->next_hops, from);
    uint32_t n = 0;
    while (n <= k && find_way(w, begin, to)) {
        FAB_PASS(take_way(w, begin, to, err));
        n++;
    }
    for (; w->n_taken > 0; w->n_taken--) {
        const fab_link_id link = w->taken[w->n_taken - 1];
        w->is_taken[link] = w->is_taken[link ^ 1U] = 0;
    }
    *out = n > k;
    return FAB_OK;
}

/* One pair of leaves that may be further apart makes all cables between switches ways. */
static fab_status mark_detours(ways *w, uint32_t k, fab_error *err) {
    bool is_near = true;
    for (uint32_t to = 0; to < w->n_leaves && is_near; to++) {
        for (uint32_t from = 0; from < w->n_leaves && is_near; from++) {
            if (w->leads[(size_t)to * w->n_leaves + from] != 0 && from != to) {
                FAB_PASS(stays_near(w, from, to, k, &is_near, err));
            }
        }
    }
    for (uint32_t c = 0; c < w->f->n_cables && !is_near; c++) {
        w->is_used[c] |= w->f->classes[w->f->cable_class[c]].kind == FAB_LINK_FABRIC;
    }
    return FAB_OK;
}

static fab_status find_ways(const symmetry_request *r, ways *w, fab_error *err) {
    const fab_traffic *traffic = NULL;
    const fab_ports *ports = NULL;
    FAB_PASS(fab_context_traffic(r->context, &traffic, err));
    FAB_PASS(fab_context_ports(r->context, &ports, err));
    FAB_PASS(fab_context_next_hops(r->context, &w->next_hops, err));
    w->n_leaves = fab_next_hops_n_leaves(w->next_hops);
    FAB_PASS(FAB_NEW(w->leads, (size_t)w->n_leaves * w->n_leaves, err));
    FAB_PASS(FAB_NEW(w->is_used, w->f->n_cables, err));
    FAB_PASS(FAB_NEW_ALL(fab_n_switches(w->f), err, w->stack, w->stamp, w->by));
    FAB_PASS(FAB_NEW(w->is_taken, w->f->n_links, err));
    for (size_t p = 0; p < traffic->n_phases; p++) {
        for (uint64_t i = 0; i < traffic->phases[p].n_flows; i++) {
            const fab_flow flow = fab_phase_flow(&traffic->phases[p], i);
            mark_flow(w, ports, &flow);
        }
    }
    for (uint32_t to = 0; to < w->n_leaves; to++) {
        mark_ways(w, to);
    }
    return mark_detours(w, r->k, err);
}

/* Each changes places with the next: all of them are alike, in any set. */
static fab_status symmetry_of_unused(const symmetry_request *r, fab_permutations *out, fab_error *err) {
    FAB_OWNS(fab_permutations_release) fab_permutations made = {.n = 0};
    ways w = {.f = fab_context_what(r->context)->fabric};
    FAB_OWNS_MEMBERS(w.leads, w.is_used, w.stack, w.stamp, w.by, w.is_taken, w.taken);
    uint32_t last = FAB_NONE;
    if (r->n == 0 || r->part[0].kind != FAB_COMPONENT_LINK) {
        return FAB_OK; /* nothing is proven: each stands for itself */
    }
    FAB_PASS(find_ways(r, &w, err));
    for (uint32_t i = 0; i < r->n; i++) {
        if (w.is_used[r->part[i].id / 2] == 0) {
            if (last != FAB_NONE) {
                FAB_PASS(fab_permutation_begin(&made, err));
                FAB_PASS(fab_permutation_add(&made, last, i, err));
                FAB_PASS(fab_permutation_add(&made, i, last, err));
            }
            last = i;
        }
    }
    return FAB_GIVE(*out, made);
}

/* Shares of a flow follow from the graph alone. */
static bool splits_evenly(const fab_router_facts *facts) {
    return facts->splits && !facts->is_by_demand && facts->on_loss == FAB_LOSS_RECONVERGE;
}

/* A path stays within the minimal next hops of the healthy fabric, whatever fails, and depends on no other flow. */
static bool stays_minimal(const fab_router_facts *facts) {
    return !facts->splits && !facts->takes_phases && facts->is_minimal &&
           (facts->on_loss == FAB_LOSS_MODULO || facts->on_loss == FAB_LOSS_RESILIENT ||
            facts->on_loss == FAB_LOSS_TABLES);
}

/* No flow crosses a link between switches, and each has one NIC and one plane. */
static fab_status has_no_choice(const fab_context *context, bool *out, fab_error *err) {
    const fab_fabric *f = fab_context_what(context)->fabric;
    const fab_traffic *traffic = NULL;
    const fab_ports *ports = NULL;
    FAB_PASS(fab_context_traffic(context, &traffic, err));
    FAB_PASS(fab_context_ports(context, &ports, err));
    *out = ports->nics_per_gpu == 1 && ports->n_planes == 1;
    for (size_t p = 0; p < traffic->n_phases; p++) {
        for (uint64_t i = 0; i < traffic->phases[p].n_flows && *out; i++) {
            const fab_flow flow = fab_phase_flow(&traffic->phases[p], i);
            fab_link_id link[FAB_FLOW_SEGMENT_LINKS];
            fab_node_id leaf[2] = {FAB_NONE, FAB_NONE};
            uint32_t n = fab_flow_segments(f, ports, flow.src, flow.dst, 0, link);
            for (uint32_t k = 0; k < n; k++) {
                if (fab_class_of(f, link[k])->kind == FAB_LINK_ACCESS) {
                    leaf[!fab_is_up(link[k])] = fab_is_up(link[k]) ? fab_head(f, link[k]) : fab_tail(f, link[k]);
                }
            }
            *out = leaf[0] == leaf[1];
        }
    }
    return FAB_OK;
}

static fab_status check(const symmetry_request *r, fab_error *err) {
    const fab_context_request *what = fab_context_what(r->context);
    for (size_t i = 0; i < r->n_policies; i++) {
        FAB_REFUSE_IF(r->policies[i] != FAB_POLICY_NONE, err, FAB_EUNSUPPORTED, "--policy",
                      "%s takes spares by their number, so that equal failures end differently; @classes wants "
                      "none",
                      fab_policies[r->policies[i]]);
    }
    FAB_REFUSE_IF(what->design->fabric.transport.kind != FAB_TRANSPORT_FLUID, err, FAB_EUNSUPPORTED, "--transport",
                  "packets of equal failures are not proven to take equal times; @classes wants fluid");
    return FAB_OK;
}

fab_status symmetry_find(const symmetry_request *r, fab_permutations *out, fab_error *err) {
    const size_t n_engines = fab_context_what(r->context)->n_engines;
    const fab_router_facts *odd = NULL; /* the first that neither proof holds for */
    bool all_split = true;
    bool all_hash = true;
    bool has_one_way = false;
    FAB_PASS(check(r, err));
    for (size_t e = 0; e < n_engines; e++) {
        const fab_router *router = NULL;
        FAB_PASS(fab_context_router(r->context, e, &router, err));
        const fab_router_facts *facts = fab_router_facts_of(router);
        all_split = all_split && splits_evenly(facts);
        all_hash = all_hash && stays_minimal(facts);
        odd = odd == NULL && !splits_evenly(facts) && !stays_minimal(facts) ? facts : odd;
    }
    FAB_PASS(!all_split ? has_no_choice(r->context, &has_one_way, err) : FAB_OK);
    if (all_split || (has_one_way && odd == NULL)) {
        return symmetry_of_graph(r, out, err);
    }
    if (all_hash) {
        return symmetry_of_unused(r, out, err);
    }
    return fab_fail(err, FAB_EUNSUPPORTED, "--engine",
                    odd != NULL ? "%s: which failures are equal is not proven where paths depend on other flows, or "
                                  "on the order of ports; @N draws sets, and without @ all are looked at"
                                : "%s beside engines that split: which failures are equal is proven for either alone",
                    odd != NULL ? odd->label : "engines that hash");
}
