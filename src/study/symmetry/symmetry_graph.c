/* The fabric with its flows as a graph with colours. Its automorphisms keep all that loads and times follow from: what
 * nodes and cables are, which NIC and GPU belong to which server, which flows there are and how many bytes they have.
 *
 *     vertices   nodes of the fabric | cables | servers | pairs of GPUs with flows, two each (from, to)
 *     edges      cable - its ends; server - its GPUs and NICs; GPU - from - to - GPU
 *
 * An all-to-all is no list of flows: its GPUs have a colour of their own. */
#include "symmetry.h"

#define MOST_VERTICES (UINT32_C(1) << 18)

/* A flow of the network, or one inside a domain where GPUs fail as well. */
typedef struct flow_record {
    uint32_t src, dst, phase;
    uint64_t bytes;
} flow_record;

/* Flows of one pair of GPUs. */
typedef struct flow_pair {
    const flow_record *record;
    size_t n;
    uint32_t src, dst, colour;
} flow_pair;

typedef struct scene_graph {
    const symmetry_request *request;
    const fab_fabric *f;
    const fab_traffic *traffic;
    const fab_ports *ports;
    bool keeps_domains; /* flows inside scale-up domains count */
    flow_record *record;
    size_t n_records, record_capacity;
    flow_pair *pair;
    size_t n_pairs;
    fab_edges edges;
    uint32_t *colour; /* shape [n_vertices] */
    uint32_t n_vertices, n_colours;
} scene_graph;

static uint32_t vertex_of_cable(const scene_graph *g, uint32_t cable) {
    return g->f->n_nodes + cable;
}

static uint32_t vertex_of_server(const scene_graph *g, uint32_t server) {
    return g->f->n_nodes + g->f->n_cables + server;
}

/* --- flows -------------------------------------------------------------------------------------------------------- */

FAB_ORDER_KEYS(by_pair, flow_record, FAB_ORDER(a->src, b->src), FAB_ORDER(a->dst, b->dst),
               FAB_ORDER(a->phase, b->phase), FAB_ORDER(a->bytes, b->bytes));

/* What a pair sends, whoever it is. */
static int by_content(const void *a, const void *b) {
    const flow_pair *x = a;
    const flow_pair *y = b;
    FAB_ORDER_BY(x->n, y->n);
    for (size_t i = 0; i < x->n; i++) {
        FAB_ORDER_BY(x->record[i].phase, y->record[i].phase);
        FAB_ORDER_BY(x->record[i].bytes, y->record[i].bytes);
    }
    return 0;
}

static fab_status list_phase(scene_graph *g, uint32_t p, fab_error *err) {
    const fab_phase *phase = &g->traffic->phases[p];
    FAB_REFUSE_IF(phase->n_flows > 4 * (uint64_t)MOST_VERTICES, err, FAB_EUNSUPPORTED, NULL,
                  "phase %s has %" PRIu64 " flows, too many to find equal failures", phase->name, phase->n_flows);
    for (uint64_t i = 0; i < phase->n_flows; i++) {
        const fab_flow flow = fab_phase_flow(phase, i);
        const uint32_t domain = fab_domain_of(g->f, flow.src);
        const bool is_inside = g->ports->gpu_scaleup[flow.src] != FAB_NONE && domain == fab_domain_of(g->f, flow.dst);
        if (g->keeps_domains || !is_inside) {
            FAB_PASS(FAB_APPEND(g->record, g->n_records, g->record_capacity, err,
                                (flow_record){flow.src, flow.dst, p, flow.bytes}));
        }
    }
    return FAB_OK;
}

/* GPUs of one all-to-all of equal flows are told by their colour alone, unless relays make them unequal. */
static bool is_coloured(const scene_graph *g, const fab_phase *phase) {
    return phase->all.n > 1 && fab_all_is_plain(&phase->all) && !g->f->forwards_in_domain;
}

static fab_status list_pairs(scene_graph *g, fab_error *err) {
    for (uint32_t p = 0; p < g->traffic->n_phases; p++) {
        size_t first = 0;
        FAB_PASS(fab_context_duplicate(g->request->context, p, &first, err)); /* proportional: keeps what it keeps */
        FAB_PASS(first == p && !is_coloured(g, &g->traffic->phases[p]) ? list_phase(g, p, err) : FAB_OK);
    }
    FAB_PASS(FAB_NEW(g->pair, g->n_records + 1, err));
    FAB_SORT(g->record, g->n_records, by_pair);
    for (size_t i = 0; i < g->n_records; i++) {
        const flow_record *r = &g->record[i];
        if (i == 0 || r->src != r[-1].src || r->dst != r[-1].dst) {
            g->pair[g->n_pairs++] = (flow_pair){.record = r, .src = r->src, .dst = r->dst};
        }
        g->pair[g->n_pairs - 1].n++;
    }
    FAB_SORT(g->pair, g->n_pairs, by_content);
    for (size_t i = 0; i < g->n_pairs; i++) {
        g->n_colours += i == 0 || by_content(&g->pair[i - 1], &g->pair[i]) != 0 ? 2 : 0; /* from and to */
        g->pair[i].colour = g->n_colours - 2;
    }
    return FAB_OK;
}

/* --- colours ------------------------------------------------------------------------------------------------------ */

/* Numbers without gaps, in the same order. */
static fab_status compact_colours(scene_graph *g, fab_error *err) {
    size_t n = 0;
    FAB_OWNED_NEW(uint32_t, sorted, g->n_vertices, err);
    memcpy(sorted, g->colour, g->n_vertices * sizeof *sorted);
    qsort(sorted, g->n_vertices, sizeof *sorted, fab_order_u32);
    FAB_KEEP(sorted, n, v, g->n_vertices, v == 0 || sorted[v] != sorted[n - 1], sorted[v]);
    for (uint32_t v = 0; v < g->n_vertices; v++) {
        const uint32_t *at = bsearch(&g->colour[v], sorted, n, sizeof *sorted, fab_order_u32);
        g->colour[v] = at != NULL ? (uint32_t)(at - sorted) : 0;
    }
    g->n_colours = (uint32_t)n;
    return FAB_OK;
}

static fab_status colour_gpus(scene_graph *g, fab_error *err) {
    const uint32_t first = g->f->first[FAB_NODE_GPU];
    const uint32_t n = fab_n_gpus(g->f);
    for (uint32_t gpu = 0; gpu < n; gpu++) {
        const bool has_rank = g->traffic->rank_of_gpu == NULL || g->traffic->rank_of_gpu[gpu] != FAB_NONE;
        g->colour[first + gpu] = g->n_colours + has_rank;
    }
    g->n_colours += 2;
    for (size_t p = 0; p < g->traffic->n_phases; p++) { /* ranges may overlap: each splits the colours there are */
        const fab_all_to_all *all = &g->traffic->phases[p].all;
        if (is_coloured(g, &g->traffic->phases[p])) {
            const uint32_t shift = g->n_colours;
            for (uint32_t gpu = all->first; gpu < all->first + all->n && gpu < n; gpu++) {
                g->colour[first + gpu] += shift;
            }
            g->n_colours *= 2;
            FAB_PASS(compact_colours(g, err));
        }
    }
    return FAB_OK;
}

/* The first class whose cables do the same: of another length where only loads are looked at. */
static uint32_t class_like(const scene_graph *g, uint32_t class) {
    const fab_link_class *is = &g->f->classes[class];
    uint32_t like = 0;
    for (bool same = false; like < class && !same; like += !same) {
        const fab_link_class *x = &g->f->classes[like];
        same = !g->request->times && x->kind == is->kind && x->tier == is->tier &&
               x->capacity_bps == is->capacity_bps && x->usable_bps == is->usable_bps;
    }
    return like;
}

static void colour_fabric(scene_graph *g) {
    const fab_fabric *f = g->f;
    for (uint32_t v = f->first[FAB_NODE_NIC]; v < f->n_nodes; v++) {
        const fab_node_kind kind = fab_kind_of(f, v);
        const uint32_t tier = kind == FAB_NODE_SWITCH && fab_is_tree(f) ? fab_tier_of(f, v) : 0;
        g->colour[v] = g->n_colours + (uint32_t)kind + tier;
    }
    g->n_colours += FAB_NODE_N_KINDS + FAB_FABRIC_TIERS + 1;
    for (uint32_t c = 0; c < f->n_cables; c++) {
        g->colour[vertex_of_cable(g, c)] = g->n_colours + class_like(g, f->cable_class[c]);
    }
    g->n_colours += f->n_classes;
    for (uint32_t s = 0; s < f->n_servers; s++) {
        g->colour[vertex_of_server(g, s)] = g->n_colours;
    }
    g->n_colours++;
}

/* --- edges -------------------------------------------------------------------------------------------------------- */

static fab_status join_fabric(scene_graph *g, fab_error *err) {
    const fab_fabric *f = g->f;
    for (uint32_t c = 0; c < f->n_cables; c++) {
        FAB_PASS(fab_edges_add(&g->edges, vertex_of_cable(g, c), fab_tail(f, 2 * c), err));
        FAB_PASS(fab_edges_add(&g->edges, vertex_of_cable(g, c), fab_head(f, 2 * c), err));
    }
    for (uint32_t gpu = 0; gpu < fab_n_gpus(f); gpu++) {
        FAB_PASS(
            fab_edges_add(&g->edges, vertex_of_server(g, fab_server_of(f, gpu)), f->first[FAB_NODE_GPU] + gpu, err));
    }
    for (uint32_t nic = 0; nic < fab_n_of(f, FAB_NODE_NIC); nic++) {
        FAB_PASS(
            fab_edges_add(&g->edges, vertex_of_server(g, nic / f->nics_per_server), f->first[FAB_NODE_NIC] + nic, err));
    }
    return FAB_OK;
}

/* A relay is part of what a flow is. */
static fab_status join_relays(scene_graph *g, const flow_pair *pair, uint32_t vertex, fab_error *err) {
    for (uint32_t k = 0; k < g->ports->nics_per_gpu && g->f->forwards_in_domain; k++) {
        uint32_t src = FAB_NONE;
        uint32_t dst = FAB_NONE;
        FAB_PASS(fab_flow_nics(g->f, g->ports, pair->src, pair->dst, k, &src, &dst, err));
        if (src != FAB_NONE) {
            FAB_PASS(fab_edges_add(&g->edges, vertex, g->f->first[FAB_NODE_NIC] + src, err));
            FAB_PASS(fab_edges_add(&g->edges, vertex + 1, g->f->first[FAB_NODE_NIC] + dst, err));
        }
    }
    return FAB_OK;
}

static fab_status join_flows(scene_graph *g, fab_error *err) {
    const uint32_t first = g->n_vertices - 2 * (uint32_t)g->n_pairs;
    for (uint32_t i = 0; i < g->n_pairs; i++) {
        const flow_pair *pair = &g->pair[i];
        const uint32_t from = first + 2 * i;
        g->colour[from] = pair->colour;
        g->colour[from + 1] = pair->colour + 1;
        FAB_PASS(fab_edges_add(&g->edges, g->f->first[FAB_NODE_GPU] + pair->src, from, err));
        FAB_PASS(fab_edges_add(&g->edges, from, from + 1, err));
        FAB_PASS(fab_edges_add(&g->edges, from + 1, g->f->first[FAB_NODE_GPU] + pair->dst, err));
        FAB_PASS(join_relays(g, pair, from, err));
    }
    return FAB_OK;
}

static fab_status draw_graph(scene_graph *g, fab_error *err) {
    FAB_PASS(list_pairs(g, err));
    const uint64_t n = (uint64_t)g->f->n_nodes + g->f->n_cables + g->f->n_servers + 2 * g->n_pairs;
    FAB_REFUSE_IF(n > MOST_VERTICES, err, FAB_EUNSUPPORTED, NULL,
                  "equal failures are found in a graph of up to %" PRIu32 " vertices; fabric and flows make "
                  "%" PRIu64 "; one phase alone (--traffic job:NAME) has fewer",
                  MOST_VERTICES, n);
    g->n_vertices = (uint32_t)n;
    FAB_PASS(FAB_NEW(g->colour, g->n_vertices, err));
    FAB_PASS(join_fabric(g, err));
    FAB_PASS(join_flows(g, err));
    colour_fabric(g);
    return colour_gpus(g, err);
}

/* --- parts -------------------------------------------------------------------------------------------------------- */

static fab_status vertex_of(const scene_graph *g, const fab_component *c, uint32_t *out, fab_error *err) {
    const fab_fabric *f = g->f;
    switch (c->kind) {
    case FAB_COMPONENT_LINK: *out = vertex_of_cable(g, c->id / 2); return FAB_OK;
    case FAB_COMPONENT_SWITCH: *out = f->first[FAB_NODE_SWITCH] + c->id; return FAB_OK;
    case FAB_COMPONENT_NIC: *out = f->first[FAB_NODE_NIC] + c->id; return FAB_OK;
    case FAB_COMPONENT_GPU: *out = f->first[FAB_NODE_GPU] + c->id; return FAB_OK;
    case FAB_COMPONENT_SERVER: *out = vertex_of_server(g, c->id); return FAB_OK;
    default: break;
    }
    return fab_fail(err, FAB_EUNSUPPORTED, "--scenarios", "which %ss are equal is not proven",
                    fab_component_kinds[c->kind]);
}

/* Of permutations of vertices what they do to parts. */
static fab_status keep_parts(const scene_graph *g, const fab_permutations *all, fab_permutations *out, fab_error *err) {
    const symmetry_request *r = g->request;
    FAB_OWNED_NEW(uint32_t, part_of, g->n_vertices, err); /* by vertex; FAB_NONE */
    memset(part_of, 0xff, g->n_vertices * sizeof *part_of);
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t vertex = 0;
        FAB_PASS(vertex_of(g, &r->part[i], &vertex, err));
        part_of[vertex] = i;
    }
    for (size_t p = 0; p < all->n; p++) {
        bool is_new = true;
        for (size_t k = all->first[p]; k < all->first[p + 1]; k++) {
            if (part_of[all->moved[k]] != FAB_NONE && part_of[all->to[k]] != FAB_NONE) {
                FAB_PASS(is_new ? fab_permutation_begin(out, err) : FAB_OK);
                FAB_PASS(fab_permutation_add(out, part_of[all->moved[k]], part_of[all->to[k]], err));
                is_new = false;
            }
        }
    }
    return FAB_OK;
}

fab_status symmetry_of_graph(const symmetry_request *r, fab_permutations *out, fab_error *err) {
    fab_status status = FAB_OK;
    FAB_OWNS(fab_permutations_release) fab_permutations all = {.n = 0};
    FAB_OWNS(fab_permutations_release) fab_permutations made = {.n = 0};
    scene_graph g = {.request = r, .f = fab_context_what(r->context)->fabric};
    FAB_OWNS_MEMBERS(g.record, g.pair, g.colour);
    const fab_component_kind kind = r->n > 0 ? r->part[0].kind : FAB_COMPONENT_LINK;
    FAB_TRY(fab_context_traffic(r->context, &g.traffic, err));
    FAB_TRY(fab_context_ports(r->context, &g.ports, err));
    g.keeps_domains = g.f->forwards_in_domain || kind == FAB_COMPONENT_GPU || kind == FAB_COMPONENT_SERVER;
    FAB_TRY(draw_graph(&g, err));
    FAB_TRY(fab_graph_symmetries(g.n_vertices, &g.edges, g.colour, &all, err));
    FAB_TRY(keep_parts(&g, &all, &made, err));
    status = FAB_GIVE(*out, made);
done:
    fab_edges_release(&g.edges);
    return status;
}
