#include "fab/analysis.h"

#include "fab/graph_parts.h"

static fab_status count_components(const fab_fabric *f, uint32_t first_node, uint32_t *out, fab_error *err) {
    FAB_OWNS(fab_edges_release) fab_edges edges = {.n = 0};
    FAB_OWNED_NEW(uint32_t, part, f->n_nodes - first_node, err);
    for (size_t c = 0; c < f->n_cables; c++) {
        if (f->end[2 * c] >= first_node && f->end[2 * c + 1] >= first_node) {
            FAB_PASS(fab_edges_add(&edges, f->end[2 * c] - first_node, f->end[2 * c + 1] - first_node, err));
        }
    }
    FAB_PASS(fab_graph_components(f->n_nodes - first_node, &edges, part, err));
    for (uint32_t v = 0; v < f->n_nodes - first_node; v++) {
        *out += part[v] == v;
    }
    return FAB_OK;
}

/* Links between switches both ways, then a source that feeds the NICs of the first half of the servers and a sink
 * behind those of the second. */
static fab_status cut_and_diameter(const fab_fabric *f, fab_graph_facts *facts, fab_error *err) {
    FAB_OWNS(fab_edges_release) fab_edges edges = {.n = 0};
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t source = fab_n_switches(f);
    uint32_t half = fab_n_complete_servers(f) / 2 * f->nics_per_server;
    uint32_t behind = fab_n_complete_servers(f) * f->nics_per_server;
    FAB_OWNED_NEW(double, capacity, 2 * (size_t)f->n_cables, err);
    for (size_t c = 0; c < f->n_cables; c++) {
        const fab_link_class *k = &f->classes[f->cable_class[c]];
        if (k->kind == FAB_LINK_FABRIC) {
            capacity[edges.n] = capacity[edges.n + 1] = k->capacity_bps;
            FAB_PASS(fab_edges_add(&edges, f->end[2 * c] - base, f->end[2 * c + 1] - base, err));
            FAB_PASS(fab_edges_add(&edges, f->end[2 * c + 1] - base, f->end[2 * c] - base, err));
        }
    }
    FAB_PASS(fab_graph_diameter(source, &edges, &facts->diameter, err));
    for (size_t c = 0; c < f->n_cables; c++) {
        const fab_link_class *k = &f->classes[f->cable_class[c]];
        uint32_t nic = f->end[2 * c] - f->first[FAB_NODE_NIC];
        uint32_t leaf = f->end[2 * c + 1] - base;
        if (k->kind == FAB_LINK_ACCESS && nic < behind) {
            capacity[edges.n] = k->capacity_bps;
            FAB_PASS(nic < half ? fab_edges_add(&edges, source, leaf, err)
                                : fab_edges_add(&edges, leaf, source + 1, err));
        }
    }
    return fab_graph_min_cut(source + 2, &edges, capacity, source, source + 1, &facts->bisection_bps, err);
}

fab_status fab_graph_check(const fab_fabric *fabric, fab_graph_facts *out, fab_error *err) {
    fab_graph_facts facts = {0};
    FAB_PASS(count_components(fabric, 0, &facts.components, err));
    FAB_PASS(count_components(fabric, fabric->first[FAB_NODE_SWITCH], &facts.network_components, err));
    FAB_PASS(cut_and_diameter(fabric, &facts, err));
    *out = facts;
    return FAB_OK;
}
