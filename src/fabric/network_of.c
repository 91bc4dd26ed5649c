#include "fab/network_of.h"

#include "fab/ib_names.h"

static fab_status add_box(const fab_fabric *f, fab_network *net, fab_node_id v, uint32_t *out, fab_error *err) {
    char label[FAB_IB_DESCRIPTION];
    char host[FAB_NODE_NAME_SIZE];
    bool is_nic = fab_kind_of(f, v) == FAB_NODE_NIC;
    (void)fab_ib_description(f, v, label);
    FAB_PASS(fab_network_add_node(net, label, strlen(label), 0, out, err));
    fab_network_node *node = &net->nodes[*out];
    node->kind = is_nic ? FAB_NETWORK_ADAPTER : FAB_NETWORK_SWITCH;
    if (is_nic && node->host == NULL) {
        (void)fab_server_name(f, (v - f->first[FAB_NODE_NIC]) / f->nics_per_server, host);
        FAB_PASS(fab_network_text(net, host, strlen(host), &node->host, err));
    }
    return FAB_OK;
}

/* Scale-up domains of several servers: schedulers keep jobs within them. */
static fab_status add_domains(const fab_fabric *f, fab_network *net, fab_error *err) {
    uint32_t n_domains = 0;
    uint32_t n_servers = f->gpus_per_server > 0 ? f->gpus_per_domain / f->gpus_per_server : 0;
    uint32_t n_nics = fab_n_of(f, FAB_NODE_NIC);
    uint32_t n_each = n_servers * f->nics_per_server; /* of a domain */
    if (n_servers < 2 || n_each == 0) {
        return FAB_OK;
    }
    FAB_OWNED_NEW(uint32_t, members, n_each, err);
    for (uint32_t first = 0; first < n_nics; first += n_each) {
        char text[FAB_IB_DESCRIPTION];
        uint32_t n = 0;
        for (uint32_t i = first; i < n_nics && i < first + n_each; i++) {
            (void)fab_ib_description(f, f->first[FAB_NODE_NIC] + i, text);
            uint32_t node = fab_network_find(net, text, strlen(text));
            if (node != FAB_NETWORK_NONE) {
                members[n++] = node;
            }
        }
        int length = snprintf(text, sizeof text, "domain-%" PRIu32, n_domains++);
        FAB_PASS(fab_network_add_group(net, text, (size_t)length, members, n, err));
    }
    return FAB_OK;
}

fab_status fab_network_of_fabric(const fab_fabric *f, fab_network **out, fab_error *err) {
    FAB_OWNS(fab_network_free_owned) fab_network *net = NULL;
    FAB_PASS(fab_network_new("the design", &net, err));
    net->format = "design";
    net->has_ports = true;
    for (uint32_t c = 0; c < f->n_cables; c++) {
        const fab_link_class *k = fab_class_of(f, 2 * c);
        char port[2][FAB_PORT_NAME_SIZE];
        fab_network_cable cable = {.rate_bps = k->capacity_bps, .length_m = k->length_m, .latency_s = k->latency_s};
        if (k->kind != FAB_LINK_ACCESS && k->kind != FAB_LINK_FABRIC) {
            continue;
        }
        for (uint32_t i = 0; i < 2; i++) {
            if (f->names != NULL) {
                (void)fab_port_name(f, 2 * c + i, port[i]);
            } else {
                FAB_FORMAT(port[i], "%u", fab_ib_port(f, 2 * c + i));
            }
            FAB_PASS(add_box(f, net, fab_tail(f, 2 * c + i), &cable.end[i].node, err));
            cable.end[i].port = port[i];
        }
        FAB_PASS(fab_network_add_cable(net, &cable, NULL, err));
    }
    FAB_PASS(add_domains(f, net, err));
    return FAB_GIVE(*out, net);
}
