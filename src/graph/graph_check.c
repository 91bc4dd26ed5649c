#include "fab/graph_check.h"
#include "igraph_calls.h"

static fab_status count_components(const fab_fabric *f, uint32_t first_node, uint32_t *out, fab_error *err) {
    fab_status status = FAB_OK;
    igraph_vector_int_t edges = {0};
    igraph_t graph;
    igraph_integer_t n = 0;
    bool has_graph = false;
    TRY_IGRAPH(igraph_vector_int_init(&edges, 0));
    TRY_IGRAPH(igraph_vector_int_reserve(&edges, 2 * (igraph_integer_t)f->n_cables)); /* push_back cannot fail then */
    for (uint32_t c = 0; c < f->n_cables; c++) {
        if (f->end[2 * (size_t)c] >= first_node && f->end[2 * (size_t)c + 1] >= first_node) {
            igraph_vector_int_push_back(&edges, (igraph_integer_t)(f->end[2 * (size_t)c] - first_node));
            igraph_vector_int_push_back(&edges, (igraph_integer_t)(f->end[2 * (size_t)c + 1] - first_node));
        }
    }
    TRY_IGRAPH(igraph_create(&graph, &edges, (igraph_integer_t)(f->n_nodes - first_node), IGRAPH_UNDIRECTED));
    has_graph = true;
    TRY_IGRAPH(igraph_connected_components(&graph, NULL, NULL, &n, IGRAPH_WEAK));
    *out = (uint32_t)n;
done:
    if (has_graph) {
        igraph_destroy(&graph);
    }
    igraph_vector_int_destroy(&edges);
    return status;
}

/* Switches with a source that feeds the NICs of the first half of the servers and a sink behind those of the second. */
static fab_status cut_and_diameter(const fab_fabric *f, fab_graph_facts *facts, fab_error *err) {
    fab_status status = FAB_OK;
    igraph_vector_int_t edges = {0};
    igraph_vector_t capacity = {0};
    igraph_t graph;
    bool has_graph = false;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    igraph_integer_t n_switches = (igraph_integer_t)fab_n_switches(f);
    igraph_real_t longest = 0;
    igraph_real_t cut = 0;
    uint32_t half = fab_n_whole_servers(f) / 2 * f->nics_per_server;
    uint32_t behind = fab_n_whole_servers(f) * f->nics_per_server;
    TRY_IGRAPH(igraph_vector_int_init(&edges, 0));
    TRY_IGRAPH(igraph_vector_init(&capacity, 0));
    TRY_IGRAPH(igraph_vector_int_reserve(&edges, 4 * (igraph_integer_t)f->n_cables)); /* push_back cannot fail then */
    TRY_IGRAPH(igraph_vector_reserve(&capacity, 2 * (igraph_integer_t)f->n_cables));
    for (uint32_t c = 0; c < f->n_cables; c++) {
        const fab_link_class *k = &f->classes[f->cable_class[c]];
        igraph_integer_t upper = (igraph_integer_t)f->end[2 * (size_t)c + 1] - base;
        igraph_integer_t lower = (igraph_integer_t)f->end[2 * (size_t)c] - base;
        if (k->kind == FAB_LINK_ACCESS) {
            uint32_t nic = f->end[2 * (size_t)c] - f->first[FAB_NODE_NIC];
            bool in_first = nic < half;
            if (nic >= behind) {
                continue;
            }
            igraph_vector_int_push_back(&edges, in_first ? n_switches : upper);
            igraph_vector_int_push_back(&edges, in_first ? upper : n_switches + 1);
            igraph_vector_push_back(&capacity, k->capacity_bps);
        } else if (k->kind == FAB_LINK_FABRIC) {
            igraph_vector_int_push_back(&edges, lower);
            igraph_vector_int_push_back(&edges, upper);
            igraph_vector_int_push_back(&edges, upper);
            igraph_vector_int_push_back(&edges, lower);
            igraph_vector_push_back(&capacity, k->capacity_bps);
            igraph_vector_push_back(&capacity, k->capacity_bps);
        }
    }
    TRY_IGRAPH(igraph_create(&graph, &edges, n_switches + 2, IGRAPH_DIRECTED));
    has_graph = true;
    TRY_IGRAPH(igraph_maxflow_value(&graph, &cut, n_switches, n_switches + 1, &capacity, NULL));
    TRY_IGRAPH(igraph_delete_vertices(&graph, igraph_vss_range(n_switches, n_switches + 2)));
    TRY_IGRAPH(igraph_diameter(&graph, &longest, NULL, NULL, NULL, NULL, IGRAPH_DIRECTED, /* unconn= */ true));
    facts->bisection_bps = cut;
    facts->diameter = (uint32_t)longest;
done:
    if (has_graph) {
        igraph_destroy(&graph);
    }
    igraph_vector_int_destroy(&edges);
    igraph_vector_destroy(&capacity);
    return status;
}

fab_status fab_graph_check(const fab_fabric *fabric, fab_graph_facts *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_graph_facts facts = {0};
    igraph_error_handler_t *previous = igraph_set_error_handler(fab_igraph_ignore);
    FAB_TRY(count_components(fabric, 0, &facts.components, err));
    FAB_TRY(count_components(fabric, fabric->first[FAB_NODE_SWITCH], &facts.network_components, err));
    FAB_TRY(cut_and_diameter(fabric, &facts, err));
    *out = facts;
done:
    (void)igraph_set_error_handler(previous);
    return status;
}
