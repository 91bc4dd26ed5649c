#include "fab/site_of.h"

#include "fab/ib_names.h"

#include <stdio.h>
#include <string.h>

static fab_status add_box(const fab_fabric *f, fab_site *site, fab_node_id v, uint32_t *out, fab_error *err) {
    fab_status status = FAB_OK;
    char label[FAB_IB_DESCRIPTION];
    char host[FAB_NODE_NAME_SIZE];
    bool is_nic = fab_kind_of(f, v) == FAB_NODE_NIC;
    (void)fab_ib_description(f, v, label);
    FAB_TRY(fab_site_add_node(site, label, strlen(label), 0, out, err));
    fab_site_node *node = &site->nodes[*out];
    node->kind = is_nic ? FAB_SITE_ADAPTER : FAB_SITE_SWITCH;
    if (is_nic && node->host == NULL) {
        (void)fab_server_name(f, (v - f->first[FAB_NODE_NIC]) / f->nics_per_server, host);
        FAB_TRY(fab_site_text(site, host, strlen(host), &node->host, err));
    }
done:
    return status;
}

fab_status fab_site_of_fabric(const fab_fabric *f, fab_site **out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_site *site = NULL;
    FAB_TRY(fab_site_new("the design", &site, err));
    site->format = "design";
    site->has_ports = true;
    for (uint32_t c = 0; c < f->n_cables; c++) {
        const fab_link_class *k = fab_class_of(f, 2 * c);
        char port[2][FAB_PORT_NAME_SIZE];
        fab_site_cable cable = {.rate_bps = k->capacity_bps, .length_m = k->length_m, .latency_s = k->latency_s};
        if (k->kind != FAB_LINK_ACCESS && k->kind != FAB_LINK_FABRIC) {
            continue;
        }
        for (uint32_t i = 0; i < 2; i++) {
            if (f->names != NULL) {
                (void)fab_port_name(f, 2 * c + i, port[i]);
            } else {
                (void)snprintf(port[i], sizeof port[i], "%u", fab_ib_port(f, 2 * c + i));
            }
            FAB_TRY(add_box(f, site, fab_tail(f, 2 * c + i), &cable.end[i].node, err));
            cable.end[i].port = port[i];
        }
        FAB_TRY(fab_site_add_cable(site, &cable, NULL, err));
    }
    *out = site;
    site = NULL;
done:
    fab_site_free(site);
    return status;
}
