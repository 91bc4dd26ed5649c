/* The names of what is installed: boxes by their descriptions, ports as they are printed. */
#include "installed_build.h"

#include "fab/memory.h"
#include "fab/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct labelled {
    const char *label;
    uint32_t node;
} labelled;

static int by_label(const void *x, const void *y) {
    const labelled *a = x;
    const labelled *b = y;
    int order = strcmp(a->label, b->label);
    return order != 0 ? order : (a->node > b->node) - (a->node < b->node);
}

/* Marks the boxes whose description others have too. */
static fab_status find_twins(const fab_site *site, bool **out, fab_error *err) {
    fab_status status = FAB_OK;
    labelled *list = NULL;
    bool *twin = NULL;
    FAB_TRY(FAB_NEW(list, site->n_nodes, err));
    FAB_TRY(FAB_NEW(twin, site->n_nodes, err));
    for (uint32_t v = 0; v < site->n_nodes; v++) {
        list[v] = (labelled){site->nodes[v].label, v};
    }
    qsort(list, site->n_nodes, sizeof *list, by_label);
    for (uint32_t i = 1; i < site->n_nodes; i++) {
        if (strcmp(list[i].label, list[i - 1].label) == 0) {
            twin[list[i].node] = twin[list[i - 1].node] = true;
        }
    }
    *out = twin;
    twin = NULL;
done:
    FAB_FREE_ALL(list, twin);
    return status;
}

/* The description; with the unique name where others have it too. `part`: port of an adapter that is several NICs. */
static fab_status name_node(const fab_installed_build *b, fab_names *names, fab_node_id v, uint32_t node, bool twin,
                            const char *part, fab_error *err) {
    fab_status status = FAB_OK;
    fab_str text = FAB_STR_INIT;
    const fab_site_node *n = &b->site->site->nodes[node];
    bool has_other = strcmp(n->name, n->label) != 0;
    fab_str_add(&text, n->label);
    if (twin && has_other) {
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

static fab_status name_nics(const fab_installed_build *b, fab_names *names, const bool *twin, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_installed *site = b->site;
    uint32_t n_nics = site->n_servers * site->nics_per_server;
    for (uint32_t nic = 0; nic < n_nics; nic++) {
        uint32_t node = site->nic_node[nic];
        uint32_t side = site->nic_side[(size_t)nic * site->n_planes];
        char part[FAB_NODE_NAME_SIZE] = "";
        if (node == FAB_SITE_NONE) {
            continue;
        }
        const fab_shape *s = &site->shape;
        if (s->first[node + 1] - s->first[node] > 1 && site->n_planes == 1) {
            (void)snprintf(part, sizeof part, "/%.60s", installed_port_text(b, side));
        }
        if (part[0] != '\0' && part[1] == '\0') {
            (void)snprintf(part, sizeof part, "/cable-%" PRIu32, side >> 1);
        }
        if (site->site->is_tree_of_names && site->nics_per_server > 1) {
            (void)snprintf(part, sizeof part, "/nic-%" PRIu32, nic % site->nics_per_server);
        }
        FAB_TRY(name_node(b, names, b->f->first[FAB_NODE_NIC] + nic, node, twin[node], part, err));
    }
done:
    return status;
}

/* Ports that are not called by their number on the box. */
static fab_status name_ports(const fab_installed_build *b, fab_names *names, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_fabric *f = b->f;
    const fab_installed *site = b->site;
    uint32_t link = 2 * (f->n_cables - b->n_cables); /* those inside servers come first */
    for (uint32_t plane = 0; plane < site->n_planes; plane++) {
        for (uint32_t nic = 0; nic < site->n_servers * site->nics_per_server; nic++) {
            uint32_t side = site->nic_side[(size_t)nic * site->n_planes + plane];
            for (uint32_t i = 0; side != FAB_SITE_NONE && i < 2; i++, link++) {
                const char *text = installed_port_text(b, side ^ i);
                if (text[0] != '\0' && installed_port_number(text) != f->port[link]) {
                    FAB_TRY(fab_names_set(names, &names->port[link], text, FAB_PORT_NAME_SIZE - 1, err));
                }
            }
        }
    }
    for (uint32_t t = 0; t < site->n_trunks; t++) {
        uint32_t side[2];
        fab_installed_trunk(site, t, side);
        for (uint32_t i = 0; i < 2; i++, link++) {
            const char *text = installed_port_text(b, side[i]);
            if (text[0] != '\0' && installed_port_number(text) != f->port[link]) {
                FAB_TRY(fab_names_set(names, &names->port[link], text, FAB_PORT_NAME_SIZE - 1, err));
            }
        }
    }
done:
    return status;
}

/* A name that two servers have gets the number of the server. */
static fab_status name_servers(const fab_installed_build *b, fab_names *names, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_installed *site = b->site;
    labelled *list = NULL;
    FAB_TRY(FAB_NEW(list, site->n_servers, err));
    for (uint32_t i = 0; i < site->n_servers; i++) {
        list[i] = (labelled){site->server_name[i], i};
    }
    qsort(list, site->n_servers, sizeof *list, by_label);
    for (uint32_t i = 0; i < site->n_servers; i++) {
        char text[2 * FAB_NODE_NAME_SIZE];
        bool twin = (i > 0 && strcmp(list[i].label, list[i - 1].label) == 0) ||
                    (i + 1 < site->n_servers && strcmp(list[i].label, list[i + 1].label) == 0);
        uint32_t server = list[i].node;
        (void)snprintf(text, sizeof text, "%s", list[i].label);
        if (twin) {
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
    bool *twin = NULL;
    FAB_TRY(fab_names_new(f->n_nodes, f->n_links, f->n_servers, &names, err));
    FAB_TRY(find_twins(b->site->site, &twin, err));
    for (uint32_t i = 0; i < b->site->n_switches; i++) {
        uint32_t node = b->site->switches[i].node;
        FAB_TRY(name_node(b, names, f->first[FAB_NODE_SWITCH] + i, node, twin[node], "", err));
    }
    FAB_TRY(name_nics(b, names, twin, err));
    FAB_TRY(name_ports(b, names, err));
    FAB_TRY(name_servers(b, names, err));
    FAB_TRY(fab_names_finish(names, err));
    *out = names;
    names = NULL;
done:
    fab_names_free(names);
    free(twin);
    return status;
}
