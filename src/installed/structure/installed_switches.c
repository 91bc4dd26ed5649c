/* Tiers, planes and pods of switches, and the cables between them. Tiers count from the switches that servers are
 * plugged into; where every cable then leads from a tier to the next it is a tree, else a graph without tiers. */
#include "installed_internal.h"

#include "fab/graph_parts.h"
#include "fab/str.h"

#define MOST_TIERS 8
#define A_LEAF     4 /* one cable in so many leads to a server; a spine with a host or two is none */

int installed_compare(const fab_network *net, uint32_t a, uint32_t b) {
    int order = fab_compare_names(net->nodes[a].label, net->nodes[b].label);
    order = order != 0 ? order : strcmp(net->nodes[a].label, net->nodes[b].label);
    return order != 0 ? order : (a > b) - (a < b);
}

/* Whether a cable joins two switches; `out` gets them. */
static bool joins(const fab_network *net, uint32_t cable, uint32_t out[2]) {
    for (uint32_t i = 0; i < 2; i++) {
        out[i] = net->cables[cable].end[i].node;
        if (net->nodes[out[i]].kind != FAB_NETWORK_SWITCH) {
            return false;
        }
    }
    return out[0] != out[1];
}

/* The least node that cables between switches of at most a tier join each node to, and what else is joined. */
static fab_status join_switches(const making *m, uint32_t most_tier, fab_edges *joined, uint32_t *out, fab_error *err) {
    fab_status status = FAB_OK;
    uint32_t v[2];
    for (uint32_t c = 0; c < m->net->n_cables; c++) {
        if (joins(m->net, c, v) && m->tier[v[0]] <= most_tier && m->tier[v[1]] <= most_tier) {
            FAB_TRY(fab_edges_add(joined, v[0], v[1], err));
        }
    }
    FAB_TRY(fab_graph_components(m->net->n_nodes, joined, out, err));
done:
    fab_edges_release(joined);
    return status;
}

fab_status installed_find_networks(making *m, fab_error *err) {
    fab_edges joined = {.n = 0};
    return join_switches(m, UINT32_MAX, &joined, m->network, err);
}

/* --- tiers -------------------------------------------------------------------------------------------------------- */

static void count_nics(making *m) {
    const fab_structure *out = m->out;
    size_t n = (size_t)out->n_servers * out->nics_per_server * out->n_planes;
    for (size_t i = 0; i < n; i++) {
        if (out->nic_side[i] != FAB_NETWORK_NONE) {
            m->nics[fab_network_far(m->net, out->nic_side[i])->node]++;
        }
    }
}

/* Tiers by distance from the switches that servers are plugged into, or from those with many. Returns their number. */
static uint32_t spread(making *m, bool from_all, uint32_t *queue) {
    const fab_shape *s = &m->out->shape;
    uint32_t n = 0;
    uint32_t n_tiers = 0;
    for (uint32_t v = 0; v < m->net->n_nodes; v++) {
        bool is_leaf = m->nics[v] > 0 && (from_all || A_LEAF * m->nics[v] >= m->nics[v] + installed_count_cables(m, v));
        m->tier[v] = is_leaf ? 1 : 0;
        if (is_leaf) {
            queue[n++] = v;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = queue[i];
        n_tiers = m->tier[v];
        for (uint32_t k = s->first[v]; k < s->first[v + 1]; k++) {
            uint32_t w = installed_switch_behind(m->net, s->side[k]);
            if (w != FAB_NETWORK_NONE && m->tier[w] == 0) {
                m->tier[w] = m->tier[v] + 1;
                queue[n++] = w;
            }
        }
    }
    return n_tiers;
}

/* Tiers as the shape has them, from what most switches of a kind do, where a server reaches them. Returns their number.
 */
static uint32_t take_shape(making *m, uint32_t *queue) {
    uint32_t n_tiers = 0;
    (void)spread(m, true, queue);
    for (uint32_t v = 0; v < m->net->n_nodes; v++) {
        m->tier[v] = m->tier[v] > 0 ? m->out->shape.tier[v] : 0;
        n_tiers = m->tier[v] > n_tiers ? m->tier[v] : n_tiers;
    }
    for (uint32_t v = 0; v < m->net->n_nodes; v++) {
        if (m->nics[v] > 0 && m->tier[v] != 1) {
            return 0; /* a server on a spine: no tree */
        }
    }
    return n_tiers;
}

static bool is_tree(const making *m) {
    uint32_t v[2];
    FAB_ANY(lacks_tier, i, m->net->n_nodes, m->nics[i] > 0 && m->tier[i] == 0);
    FAB_ANY(found, c, m->net->n_cables,
            joins(m->net, c, v) && m->tier[v[0]] + 1 != m->tier[v[1]] && m->tier[v[1]] + 1 != m->tier[v[0]] &&
                m->tier[v[0]] > 0);
    return !lacks_tier && !found;
}

static fab_status find_tiers(making *m, fab_error *err) {
    fab_structure *out = m->out;
    FAB_OWNED_NEW(uint32_t, queue, m->net->n_nodes, err);
    out->n_tiers = take_shape(m, queue);
    out->is_tree = out->n_tiers > 0 && out->n_tiers <= MOST_TIERS && is_tree(m);
    for (int from_all = 0; from_all < 2 && !out->is_tree; from_all++) {
        out->n_tiers = spread(m, from_all == 1, queue);
        out->is_tree = out->n_tiers <= MOST_TIERS && is_tree(m);
    }
    for (uint32_t v = 0; v < m->net->n_nodes && !out->is_tree; v++) {
        m->tier[v] = m->tier[v] > 0;
    }
    out->n_tiers = out->is_tree ? out->n_tiers : 1;
    return FAB_OK;
}

/* --- order, networks, pods ---------------------------------------------------------------------------------------- */

typedef struct standing {
    const making *m;
    uint32_t node;
} standing;

FAB_ORDER_KEYS(by_tier, standing, FAB_ORDER(a->m->tier[a->node], a->m->tier[b->node]),
               installed_compare(a->m->net, a->node, b->node));

static void count_ports(const making *m, fab_structure_switch *v) {
    const fab_shape *s = &m->out->shape;
    uint32_t n_ports = m->net->nodes[v->node].n_ports;
    uint32_t n_services = 0;
    for (uint32_t k = s->first[v->node]; k < s->first[v->node + 1]; k++) {
        bool serves = m->net->nodes[fab_network_far(m->net, s->side[k])->node].kind == FAB_NETWORK_SERVICE;
        n_services += serves;
        v->n_used += !serves;
    }
    v->n_ports = n_ports > n_services ? n_ports - n_services : 0;
}

static fab_status order_switches(making *m, fab_error *err) {
    fab_structure *out = m->out;
    FAB_OWNED standing *list = NULL;
    uint32_t n = 0;
    FAB_PASS(FAB_NEW_ALL(m->net->n_nodes, err, list, out->switch_of));
    for (uint32_t v = 0; v < m->net->n_nodes; v++) {
        out->switch_of[v] = FAB_NETWORK_NONE;
        if (m->net->nodes[v].kind == FAB_NETWORK_SWITCH && m->tier[v] > 0) {
            list[n++] = (standing){m, v};
        } else if (m->net->nodes[v].kind == FAB_NETWORK_SWITCH) {
            installed_leave(out, FAB_EXCLUDED_DARK, m->net->nodes[v].label);
        }
    }
    qsort(list, n, sizeof *list, by_tier);
    FAB_PASS(FAB_NEW(out->switches, n, err));
    out->n_switches = n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = list[i].node;
        out->switch_of[v] = i;
        out->switches[i] = (fab_structure_switch){
            .node = v, .tier = m->tier[v], .plane = m->plane[v], .pod = FAB_NETWORK_NONE, .network = FAB_NETWORK_NONE};
        count_ports(m, &out->switches[i]);
    }
    return FAB_OK;
}

/* Numbers the networks of all switches, or the pods of those of the lower tiers, by their first switch. */
static fab_status number_sets(making *m, const uint32_t *set, bool pods, fab_error *err) {
    fab_structure *out = m->out;
    uint32_t *n = pods ? &out->n_pods : &out->n_networks;
    FAB_OWNED uint32_t *number = NULL; /* of a set, + 1 */
    FAB_PASS(FAB_NEW(number, m->net->n_nodes, err));
    for (uint32_t i = 0; i < out->n_switches && (!pods || out->switches[i].tier <= 2); i++) {
        uint32_t *of = &number[set[out->switches[i].node]];
        *of = *of == 0 ? ++*n : *of;
        *(pods ? &out->switches[i].pod : &out->switches[i].network) = *of - 1;
    }
    return FAB_OK;
}

/* The ports of a NIC on several planes lead into the same pod. */
static fab_status join_planes(const fab_structure *out, fab_edges *joined, fab_error *err) {
    size_t n_nics = (size_t)out->n_servers * out->nics_per_server;
    for (size_t i = 0; i < n_nics; i++) {
        const uint32_t *side = out->nic_side + i * out->n_planes;
        for (uint32_t p = 1; p < out->n_planes; p++) {
            if (side[p] != FAB_NETWORK_NONE && side[0] != FAB_NETWORK_NONE) {
                FAB_PASS(fab_edges_add(joined, fab_network_far(out->net, side[p])->node,
                                       fab_network_far(out->net, side[0])->node, err));
            }
        }
    }
    return FAB_OK;
}

/* A pod is what the first two tiers join. */
static fab_status find_pods(making *m, fab_error *err) {
    FAB_OWNS(fab_edges_release) fab_edges joined = {.n = 0};
    if (!m->out->is_tree || m->out->n_tiers < 3) {
        return FAB_OK;
    }
    FAB_PASS(join_planes(m->out, &joined, err));
    FAB_PASS(join_switches(m, 2, &joined, m->set, err));
    return number_sets(m, m->set, true, err);
}

/* --- cables between switches -------------------------------------------------------------------------------------- */

void fab_structure_trunk(const fab_structure *installed, uint32_t trunk, uint32_t out_side[2]) {
    uint32_t c = installed->trunk[trunk];
    const fab_network_cable *cable = &installed->net->cables[c];
    uint32_t turned = installed->switch_of[cable->end[0].node] > installed->switch_of[cable->end[1].node];
    out_side[0] = 2 * c + turned;
    out_side[1] = 2 * c + (turned ^ 1U);
}

typedef struct laid {
    uint32_t tier, lower, cable; /**< tier of the upper end, index of the lower switch */
    const char *port;
} laid;

FAB_ORDER_KEYS(by_lower, laid, FAB_ORDER(a->tier, b->tier), FAB_ORDER(a->lower, b->lower),
               fab_compare_names(a->port, b->port), FAB_ORDER(a->cable, b->cable));

static fab_status list_trunks(making *m, fab_error *err) {
    fab_structure *out = m->out;
    uint32_t n = 0;
    uint32_t v[2];
    uint32_t times = m->net->is_tree_of_names && m->options->cables > 1 ? (uint32_t)m->options->cables : 1;
    FAB_OWNED_NEW(laid, list, m->net->n_cables, err);
    for (uint32_t c = 0; c < m->net->n_cables; c++) {
        if (!joins(m->net, c, v) || out->switch_of[v[0]] == FAB_NETWORK_NONE) {
            continue;
        }
        uint32_t turned = out->switch_of[v[0]] > out->switch_of[v[1]];
        const char *port = m->net->cables[c].end[turned].port;
        list[n++] = (laid){m->tier[v[turned ^ 1U]], out->switch_of[v[turned]], c, port != NULL ? port : ""};
    }
    qsort(list, n, sizeof *list, by_lower);
    FAB_PASS(FAB_NEW(out->trunk, (size_t)n * times, err));
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t t = 0; t < times; t++) {
            out->trunk[out->n_trunks++] = list[i].cable;
        }
    }
    return FAB_OK;
}

fab_status installed_find_switches(making *m, fab_error *err) {
    count_nics(m);
    FAB_PASS(find_tiers(m, err));
    FAB_PASS(order_switches(m, err));
    FAB_PASS(number_sets(m, m->network, false, err));
    FAB_PASS(find_pods(m, err));
    return list_trunks(m, err);
}
