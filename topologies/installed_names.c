/* The names of what is installed: boxes by their descriptions, ports as they are printed. */
#include "installed_build.h"

#include "fab/memory.h"
#include "fab/order.h"
#include "fab/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct labelled {
    const char *label;
    uint32_t node;
} labelled;

static int names_by_label(const void *x, const void *y) {
    const labelled *a = x;
    const labelled *b = y;
    int order = strcmp(a->label, b->label);
    return order != 0 ? order : FAB_ORDER(a->node, b->node);
}

/* Marks the boxes whose description others have too. */
static fab_status find_duplicates(const fab_network *net, bool **out, fab_error *err) {
    fab_status status = FAB_OK;
    labelled *list = NULL;
    bool *duplicate = NULL;
    FAB_TRY(FAB_NEW(list, net->n_nodes, err));
    FAB_TRY(FAB_NEW(duplicate, net->n_nodes, err));
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        list[v] = (labelled){net->nodes[v].label, v};
    }
    qsort(list, net->n_nodes, sizeof *list, names_by_label);
    for (uint32_t i = 1; i < net->n_nodes; i++) {
        if (strcmp(list[i].label, list[i - 1].label) == 0) {
            duplicate[list[i].node] = duplicate[list[i - 1].node] = true;
        }
    }
    *out = duplicate;
    duplicate = NULL;
done:
    FAB_FREE_ALL(list, duplicate);
    return status;
}

/* The description; with the unique name where others have it too. `part`: port of an adapter that is several NICs. */
static fab_status name_node(const fab_installed_build *b, fab_names *names, fab_node_id v, uint32_t node,
                            bool duplicate, const char *part, fab_error *err) {
    fab_status status = FAB_OK;
    fab_str text = FAB_STR_INIT;
    const fab_network_node *n = &b->net->net->nodes[node];
    bool has_other = strcmp(n->name, n->label) != 0;
    fab_str_add(&text, n->label);
    if (duplicate && has_other) {
        fab_str_printf(&text, " (%s)", n->name);
    }
    fab_str_add(&text, part);
    if (text.length >= FAB_NODE_NAME_SIZE && has_other) {
        text.length = 0;
        fab_str_printf(&text, "%s%s", n->name, part);
    }
    FAB_TRY(fab_str_status(&text, err));
    FAB_TRY(fab_names_set(names, &names->node[v], text.data, FAB_NODE_NAME_SIZE - 1, err));
    names->guid[v] = part[0] == '\0' ? n->guid : 0;
done:
    fab_str_release(&text);
    return status;
}

static fab_status name_nics(const fab_installed_build *b, fab_names *names, const bool *duplicate, fab_error *err) {
    const fab_structure *net = b->net;
    uint32_t n_nics = net->n_servers * net->nics_per_server;
    for (uint32_t nic = 0; nic < n_nics; nic++) {
        uint32_t node = net->nic_node[nic];
        uint32_t side = net->nic_side[(size_t)nic * net->n_planes];
        char part[FAB_NODE_NAME_SIZE] = "";
        if (node == FAB_NETWORK_NONE) {
            continue;
        }
        const fab_shape *s = &net->shape;
        if (s->first[node + 1] - s->first[node] > 1 && net->n_planes == 1) {
            (void)snprintf(part, sizeof part, "/%.60s", installed_port_text(b, side));
        }
        if (part[0] != '\0' && part[1] == '\0') {
            (void)snprintf(part, sizeof part, "/cable-%" PRIu32, side >> 1);
        }
        if (net->net->is_tree_of_names && net->nics_per_server > 1) {
            (void)snprintf(part, sizeof part, "/nic-%" PRIu32, nic % net->nics_per_server);
        }
        FAB_PASS(name_node(b, names, b->f->first[FAB_NODE_NIC] + nic, node, duplicate[node], part, err));
    }
    return FAB_OK;
}

/* Ports that are not called by their number on the box. */
static fab_status name_ports(const fab_installed_build *b, fab_names *names, fab_error *err) {
    const fab_fabric *f = b->f;
    const fab_structure *net = b->net;
    uint32_t link = 2 * (f->n_cables - b->n_cables); /* those inside servers come first */
    for (uint32_t plane = 0; plane < net->n_planes; plane++) {
        for (uint32_t nic = 0; nic < net->n_servers * net->nics_per_server; nic++) {
            uint32_t side = net->nic_side[(size_t)nic * net->n_planes + plane];
            for (uint32_t i = 0; side != FAB_NETWORK_NONE && i < 2; i++, link++) {
                const char *text = installed_port_text(b, side ^ i);
                if (text[0] != '\0' && installed_port_number(text) != f->port[link]) {
                    FAB_PASS(fab_names_set(names, &names->port[link], text, FAB_PORT_NAME_SIZE - 1, err));
                }
            }
        }
    }
    for (uint32_t t = 0; t < net->n_trunks; t++) {
        uint32_t side[2];
        fab_structure_trunk(net, t, side);
        for (uint32_t i = 0; i < 2; i++, link++) {
            const char *text = installed_port_text(b, side[i]);
            if (text[0] != '\0' && installed_port_number(text) != f->port[link]) {
                FAB_PASS(fab_names_set(names, &names->port[link], text, FAB_PORT_NAME_SIZE - 1, err));
            }
        }
    }
    return FAB_OK;
}

/* A name that two servers have gets the number of the server. */
static fab_status name_servers(const fab_installed_build *b, fab_names *names, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_structure *net = b->net;
    labelled *list = NULL;
    FAB_TRY(FAB_NEW(list, net->n_servers, err));
    for (uint32_t i = 0; i < net->n_servers; i++) {
        list[i] = (labelled){net->server_name[i], i};
    }
    qsort(list, net->n_servers, sizeof *list, names_by_label);
    for (uint32_t i = 0; i < net->n_servers; i++) {
        char text[2 * FAB_NODE_NAME_SIZE];
        bool duplicate = (i > 0 && strcmp(list[i].label, list[i - 1].label) == 0) ||
                         (i + 1 < net->n_servers && strcmp(list[i].label, list[i + 1].label) == 0);
        uint32_t server = list[i].node;
        (void)snprintf(text, sizeof text, "%s", list[i].label);
        if (duplicate) {
            (void)snprintf(text, sizeof text, "%.90s (server %" PRIu32 ")", list[i].label, server);
        }
        FAB_TRY(fab_names_set(names, &names->server[server], text, FAB_NODE_NAME_SIZE - 1, err));
    }
done:
    free(list);
    return status;
}

fab_status installed_name(const fab_installed_build *b, fab_names **out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_fabric *f = b->f;
    fab_names *names = NULL;
    bool *duplicate = NULL;
    FAB_TRY(fab_names_new(f->n_nodes, f->n_links, f->n_servers, &names, err));
    FAB_TRY(find_duplicates(b->net->net, &duplicate, err));
    for (uint32_t i = 0; i < b->net->n_switches; i++) {
        uint32_t node = b->net->switches[i].node;
        FAB_TRY(name_node(b, names, f->first[FAB_NODE_SWITCH] + i, node, duplicate[node], "", err));
    }
    FAB_TRY(name_nics(b, names, duplicate, err));
    FAB_TRY(name_ports(b, names, err));
    FAB_TRY(name_servers(b, names, err));
    FAB_TRY(fab_names_finish(names, err));
    *out = names;
    names = NULL;
done:
    fab_names_free(names);
    free(duplicate);
    return status;
}
