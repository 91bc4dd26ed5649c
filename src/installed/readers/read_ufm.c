/* Links as UFM gives them, GET /ufmRest/resources/links: [{"source_guid": "0c42a103001b7ab6", "source_port": "1",
 * "source_port_node_description": "host mlx5_0", "destination_guid": ..., "destination_port_node_description":
 * "leaf-0:19"}]; switches are described with the port behind. Source: UFM Enterprise REST API, links. */
#include "network_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME 256

typedef struct ufm_end {
    const char *guid, *port, *description;
} ufm_end;

static ufm_end end_of_link(const fab_json *json, uint32_t link, const char *side) {
    char keys[3][64];
    (void)snprintf(keys[0], sizeof keys[0], "%s_guid", side);
    (void)snprintf(keys[1], sizeof keys[1], "%s_port", side);
    (void)snprintf(keys[2], sizeof keys[2], "%s_port_node_description", side);
    return (ufm_end){.guid = fab_json_text_of(json, link, keys[0], ""),
                     .port = fab_json_text_of(json, link, keys[1], ""),
                     .description = fab_json_text_of(json, link, keys[2], "")};
}

/* "leaf-0:19" of port 19 is a switch called leaf-0. */
static fab_status ufm_add(fab_network *net, const ufm_end *e, uint32_t *out, fab_error *err) {
    size_t n = strlen(e->description);
    size_t n_port = strlen(e->port);
    bool is_switch =
        n > n_port + 1 && e->description[n - n_port - 1] == ':' && strcmp(e->description + n - n_port, e->port) == 0;
    fab_network_kind kind = is_switch                                   ? FAB_NETWORK_SWITCH
                            : fab_network_ib_names_host(e->description) ? FAB_NETWORK_ADAPTER
                                                                        : FAB_NETWORK_UNKNOWN;
    size_t prefix = strncmp(e->guid, "0x", 2) == 0 ? 2 : 0;
    FAB_PASS(fab_network_add_node(net, e->guid, strlen(e->guid), 1, out, err));
    (void)fab_network_hexadecimal((fab_token){.text = e->guid + prefix, .length = strlen(e->guid) - prefix},
                                  &net->nodes[*out].guid);
    return fab_network_ib_describe(net, *out, kind, e->description, is_switch ? n - n_port - 1 : n, err);
}

static fab_status ufm_links(const fab_network_json *r, fab_error *err) {
    const fab_json *json = &r->json;
    fab_network *net = r->net;
    size_t number = 0;
    if (json->values[0].kind != FAB_JSON_ARRAY) {
        return fab_fail_in_file(err, r->path, 1, 1, "has no list of links");
    }
    net->keeps_contradictions = true;
    for
        FAB_JSON_EACH(json, i, 0) {
            ufm_end ends[2] = {end_of_link(json, i, "source"), end_of_link(json, i, "destination")};
            fab_network_cable cable = {.end = {{.line = 1}, {.line = 1}}};
            number++;
            for (uint32_t k = 0; k < 2; k++) {
                if (ends[k].guid[0] == '\0' || ends[k].port[0] == '\0' || strlen(ends[k].guid) >= NAME ||
                    strlen(ends[k].port) >= NAME || strlen(ends[k].description) >= NAME) {
                    return fab_fail_in_file(err, r->path, 1, 1,
                                            "link %zu: its %s has no GUID or port of up to 255 bytes", number,
                                            k == 0 ? "source" : "destination");
                }
                FAB_PASS(ufm_add(net, &ends[k], &cable.end[k].node, err));
                cable.end[k].port = ends[k].port;
            }
            if (cable.end[0].node == cable.end[1].node && strcmp(ends[0].port, ends[1].port) == 0) {
                FAB_PASS(fab_network_add_note(net, 1, err, "%.80s is joined to itself", ends[0].guid));
                continue;
            }
            FAB_PASS(fab_network_add_cable(net, &cable, NULL, err));
            net->has_ports = true;
        }
    return FAB_OK;
}

static bool is_ufm(const char *head) {
    return fab_network_json_has(head, (const char *const[]){"source_guid", "destination_guid", NULL});
}

static fab_status ufm_read(const char *path, fab_network *net, fab_error *err) {
    return fab_network_json_read(path, net, ufm_links, err);
}

const fab_network_format fab_network_ufm = {
    .name = "ufm", .summary = "links of UFM, JSON of /ufmRest/resources/links", .recognise = is_ufm, .read = ufm_read};
