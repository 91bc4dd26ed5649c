/* Hosts of adapters: those of one host name, and those of one system GUID. A name under which two adapters have the
 * same number is that of several hosts ("localhost"), and says nothing. */
#include "installed_internal.h"

#include "fab/graph_parts.h"

typedef struct keyed {
    const char *host;
    uint64_t guid;
    uint32_t slot, node;
} keyed;

FAB_ORDER_KEYS(by_host, keyed, strcmp(a->host, b->host), FAB_ORDER(a->slot, b->slot), FAB_ORDER(a->node, b->node));

FAB_ORDER_TWO(by_guid, keyed, guid, node);

static fab_status join_names(const keyed *all, uint32_t n, fab_edges *joined, fab_error *err) {
    for (uint32_t i = 0, next = 0; i < n; i = next) {
        bool is_clear = true;
        for (next = i + 1; next < n && strcmp(all[i].host, all[next].host) == 0; next++) {
            is_clear = is_clear && (all[next].slot == FAB_NETWORK_NONE || all[next].slot != all[next - 1].slot);
        }
        for (uint32_t k = i + 1; is_clear && k < next; k++) {
            FAB_PASS(fab_edges_add(joined, all[i].node, all[k].node, err));
        }
    }
    return FAB_OK;
}

static fab_status join_adapters(const making *m, fab_edges *joined, fab_error *err) {
    const fab_network *net = m->net;
    uint32_t n = 0;
    FAB_OWNED_NEW(keyed, all, net->n_nodes, err);
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        const fab_network_node *node = &net->nodes[v];
        if (node->kind == FAB_NETWORK_ADAPTER && node->host != NULL) {
            all[n++] = (keyed){node->host, 0, m->out->shape.slot[v], v};
        }
    }
    qsort(all, n, sizeof *all, by_host);
    FAB_PASS(join_names(all, n, joined, err));
    n = 0;
    FAB_KEEP(all, n, v, net->n_nodes, net->nodes[v].kind == FAB_NETWORK_ADAPTER && net->nodes[v].system_guid != 0,
             (keyed){"", net->nodes[v].system_guid, 0, v});
    qsort(all, n, sizeof *all, by_guid);
    for (uint32_t i = 1; i < n; i++) {
        FAB_PASS(all[i].guid == all[i - 1].guid ? fab_edges_add(joined, all[i].node, all[i - 1].node, err) : FAB_OK);
    }
    return FAB_OK;
}

/* --- ports: planes, or NICs of their own -------------------------------------------------------------------------- */

uint32_t installed_switch_behind(const fab_network *net, uint32_t side) {
    uint32_t far = fab_network_far(net, side)->node;
    return net->nodes[far].kind == FAB_NETWORK_SWITCH ? far : FAB_NETWORK_NONE;
}

uint32_t installed_count_cables(const making *m, uint32_t v) {
    const fab_shape *s = &m->out->shape;
    FAB_SUM_IN(uint32_t, n, k, s->first[v], s->first[v + 1],
               installed_switch_behind(m->net, s->side[k]) != FAB_NETWORK_NONE);
    return n;
}

/* Number of ports that most adapters have. */
static uint32_t usual_ports(const making *m) {
    uint32_t count[FAB_INSTALLED_PLANES + 1] = {0};
    uint32_t usual = 1;
    for (uint32_t v = 0; v < m->net->n_nodes; v++) {
        uint32_t n = m->net->nodes[v].kind == FAB_NETWORK_ADAPTER ? installed_count_cables(m, v) : 0;
        if (n > 0 && n <= FAB_INSTALLED_PLANES) {
            count[n]++;
        }
    }
    for (uint32_t p = 2; p <= FAB_INSTALLED_PLANES; p++) {
        usual = count[p] > count[usual] ? p : usual;
    }
    return usual;
}

/* Whether the p-th port of every complete adapter leads to networks that no other port leads to; plane_of[network] = p
 * + 1. */
static bool have_planes(const making *m, uint32_t planes, uint32_t *plane_of) {
    const fab_shape *s = &m->out->shape;
    for (uint32_t v = 0; v < m->net->n_nodes; v++) {
        uint32_t port = 0;
        if (m->net->nodes[v].kind != FAB_NETWORK_ADAPTER || installed_count_cables(m, v) != planes) {
            continue;
        }
        for (uint32_t k = s->first[v]; k < s->first[v + 1]; k++) {
            uint32_t to = installed_switch_behind(m->net, s->side[k]);
            if (to == FAB_NETWORK_NONE) {
                continue;
            }
            uint32_t *plane = &plane_of[m->network[to]];
            port++;
            if (*plane != 0 && *plane != port) {
                return false;
            }
            *plane = port;
        }
    }
    return true;
}

fab_status installed_find_planes(making *m, fab_error *err) {
    uint32_t planes = usual_ports(m);
    FAB_OWNED_NEW(uint32_t, plane_of, m->net->n_nodes, err);
    m->out->n_planes = 1;
    if (planes > 1 && have_planes(m, planes, plane_of)) {
        m->out->n_planes = planes;
        for (uint32_t v = 0; v < m->net->n_nodes; v++) {
            bool known = m->net->nodes[v].kind == FAB_NETWORK_SWITCH && plane_of[m->network[v]] > 0;
            m->plane[v] = known ? plane_of[m->network[v]] - 1 : 0;
        }
    }
    return FAB_OK;
}

/* --- hosts and their NICs ----------------------------------------------------------------------------------------- */

static fab_status new_unit(making *m, uint32_t node, uint32_t slot, nic_unit **out, fab_error *err) {
    FAB_PASS(FAB_GROW(m->units, m->unit_capacity, (size_t)m->n_units + 1, err));
    *out = &m->units[m->n_units++];
    **out = (nic_unit){.node = node, .slot = slot};
    FAB_FILL((*out)->side, FAB_INSTALLED_PLANES, FAB_NETWORK_NONE);
    return FAB_OK;
}

/* The NICs that a node is: one with a port on every plane, or one per port. */
static fab_status add_units(making *m, uint32_t v, fab_error *err) {
    const fab_shape *s = &m->out->shape;
    uint32_t n_ports = installed_count_cables(m, v);
    uint32_t port = 0;
    bool is_adapter = m->net->nodes[v].kind == FAB_NETWORK_ADAPTER;
    bool splits = !is_adapter || m->out->n_planes == 1;
    nic_unit *unit = NULL;
    for (uint32_t k = s->first[v]; k < s->first[v + 1]; k++) {
        uint32_t to = installed_switch_behind(m->net, s->side[k]);
        uint32_t plane = to != FAB_NETWORK_NONE && !splits ? m->plane[to] : 0;
        if (to == FAB_NETWORK_NONE) {
            continue;
        }
        if (unit == NULL || splits || unit->side[plane] != FAB_NETWORK_NONE) {
            uint32_t slot = s->slot[v];
            slot = slot != FAB_NETWORK_NONE && splits && n_ports > 1 ? slot * n_ports + port : slot;
            FAB_PASS(new_unit(m, v, slot, &unit, err));
        }
        unit->side[plane] = s->side[k];
        unit->n_sides++;
        port++;
        for (uint64_t i = 1; m->net->is_tree_of_names && (i + 1) * n_ports <= m->options->nics_per_server; i++) {
            FAB_PASS(new_unit(m, v, FAB_NETWORK_NONE, &unit,
                              err)); /* the file does not tell how many there are below each of its switches */
            unit->side[0] = s->side[k];
            unit->n_sides++;
        }
    }
    m->out->n_split_ports += is_adapter && n_ports > 1 && splits ? n_ports : 0;
    return FAB_OK;
}

typedef struct member {
    uint32_t root, node;
} member;

FAB_ORDER_TWO(by_root, member, root, node);

/* The name that people gave, or what stands in its place. NULL: a single adapter that says nothing of its host. */
static const char *name_of(const fab_network *net, const member *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const fab_network_node *node = &net->nodes[list[i].node];
        if (node->kind == FAB_NETWORK_HOST) {
            return node->label;
        }
        if (node->host != NULL) {
            return node->host;
        }
    }
    return n > 1 ? net->nodes[list[0].node].name : NULL;
}

static fab_status add_hosts(making *m, const member *list, uint32_t n, fab_error *err) {
    FAB_EACH_RUN(uint32_t, i, next, n, list[next].root == list[i].root) {
        FAB_PASS(FAB_GROW(m->hosts, m->host_capacity, (size_t)m->n_hosts + 1, err));
        host *h = &m->hosts[m->n_hosts];
        *h = (host){.name = name_of(m->net, list + i, next - i), .first = m->n_units, .node = list[i].node};
        for (uint32_t k = i; k < next; k++) {
            FAB_PASS(add_units(m, list[k].node, err));
        }
        h->n = m->n_units - h->first;
        if (h->n > 0) {
            m->n_hosts++;
        } else {
            installed_leave(m->out, FAB_EXCLUDED_UNPLUGGED, m->net->nodes[list[i].node].label);
        }
    }
    return FAB_OK;
}

/* Where no adapter has a host's name, each is a host of its own. */
static void name_all(making *m) {
    FAB_ANY(known, i, m->n_hosts, m->hosts[i].name != NULL);
    for (uint32_t i = 0; i < m->n_hosts && !known; i++) {
        m->hosts[i].name = m->net->nodes[m->hosts[i].node].label;
    }
}

fab_status installed_find_hosts(making *m, fab_error *err) {
    FAB_OWNS(fab_edges_release) fab_edges joined = {.n = 0};
    uint32_t n = 0;
    FAB_OWNED_NEW(member, list, m->net->n_nodes, err);
    FAB_PASS(join_adapters(m, &joined, err));
    FAB_PASS(fab_graph_components(m->net->n_nodes, &joined, m->set, err));
    FAB_KEEP(list, n, v, m->net->n_nodes, fab_network_is_host(m->net, v), (member){m->set[v], v});
    qsort(list, n, sizeof *list, by_root);
    FAB_PASS(add_hosts(m, list, n, err));
    name_all(m);
    return FAB_OK;
}
