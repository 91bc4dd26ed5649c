/* What UFM gives below GET /ufmRest/resources/: links, or ports, and systems beside them.
 *
 *     links    [{"source_guid": "0c42a103001b7ab6", "source_port": "1", "source_port_node_description": "host mlx5_0",
 *                "destination_guid": ..., "destination_port_node_description": "leaf-0:19"}]
 *     ports    [{"name": "0c42a103001b7ab6_1", "node_description": "host mlx5_0", "peer": "248a0703002e6150_19",
 *                "peer_node_description": "leaf-0:19", "active_width": "4x", "active_speed": "NDR"}]
 *     systems  [{"guid": "248a0703002e6150", "system_name": "leaf-0", "type": "switch", "ports":
 * ["248a0703002e6150_1"]}]
 *
 * Switches are described with the port behind. Systems have no cables: they say which boxes are one, and whose. Source:
 * UFM Enterprise REST API, links, ports, systems; Mellanox/ufm_sdk_3.0, ufm_sim. */
#include "network_json.h"

#define NAME 256

typedef struct ufm_end {
    const char *guid, *port, *description;
    size_t n_guid;
} ufm_end;

/* A GUID and a port by members of their own. */
static ufm_end end_of_link(const fab_json *json, uint32_t link, const char *side) {
    char keys[3][64];
    FAB_FORMAT(keys[0], "%s_guid", side);
    FAB_FORMAT(keys[1], "%s_port", side);
    FAB_FORMAT(keys[2], "%s_port_node_description", side);
    ufm_end e = {.guid = fab_json_text_of(json, link, keys[0], ""),
                 .port = fab_json_text_of(json, link, keys[1], ""),
                 .description = fab_json_text_of(json, link, keys[2], "")};
    e.n_guid = strlen(e.guid);
    return e;
}

/* "0c42a103001b7ab6_1" */
static ufm_end end_of_name(const char *name, const char *description) {
    const char *joint = strrchr(name, '_');
    return (ufm_end){.guid = name,
                     .n_guid = joint != NULL ? (size_t)(joint - name) : 0,
                     .port = joint != NULL ? joint + 1 : "",
                     .description = description};
}

static void read_guid(const char *text, size_t n, uint64_t *out) {
    fab_token t = {.text = text, .length = n};
    (void)(fab_token_guid(t, out) || fab_token_hexadecimal(t, out));
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
    FAB_PASS(fab_network_add_node(net, e->guid, e->n_guid, 1, out, err));
    read_guid(e->guid, e->n_guid, &net->nodes[*out].guid);
    return fab_network_ib_describe(net, *out, kind, e->description, is_switch ? n - n_port - 1 : n, err);
}

/* A cable between two ends; the other end may have told it before. */
static fab_status ufm_cable(const fab_network_json *r, const ufm_end *ends, double rate_bps, size_t number,
                            fab_error *err) {
    static const char *const SIDES[] = {"source", "destination"};
    fab_network *net = r->net;
    fab_network_cable cable = {.rate_bps = rate_bps, .end = {{.line = 1}, {.line = 1}}};
    for (uint32_t k = 0; k < 2; k++) {
        FAB_RETURN_IF(ends[k].n_guid == 0 || ends[k].port[0] == '\0' || ends[k].n_guid >= NAME ||
                          strlen(ends[k].port) >= NAME || strlen(ends[k].description) >= NAME,
                      fab_fail_in_file(err, r->path, 1, 1, "link %zu: its %s has no GUID or port of up to 255 bytes",
                                       number, SIDES[k]));
        FAB_PASS(ufm_add(net, &ends[k], &cable.end[k].node, err));
        cable.end[k].port = ends[k].port;
    }
    if (cable.end[0].node == cable.end[1].node && strcmp(ends[0].port, ends[1].port) == 0) {
        return fab_network_add_note(net, 1, err, "%.80s is joined to itself", ends[0].guid);
    }
    net->has_ports = true;
    return fab_network_add_cable(net, &cable, NULL, err);
}

static fab_status ufm_port(const fab_network_json *r, uint32_t port, size_t number, fab_error *err) {
    const fab_json *json = &r->json;
    const char *speed = fab_json_text_of(json, port, "active_speed", "");
    const char *width = fab_json_text_of(json, port, "active_width", "");
    const ufm_end ends[2] = {
        end_of_name(fab_json_text_of(json, port, "name", ""), fab_json_text_of(json, port, "node_description", "")),
        end_of_name(fab_json_text_of(json, port, "peer", ""),
                    fab_json_text_of(json, port, "peer_node_description", ""))};
    uint32_t lanes = 0;
    double bps = 0;
    (void)fab_network_ib_speed((fab_token){.text = width, .length = strlen(width)},
                               (fab_token){.text = speed, .length = strlen(speed)}, &lanes, &bps);
    return ends[1].n_guid == 0 ? FAB_OK /* nothing is plugged in */ : ufm_cable(r, ends, bps, number, err);
}

/* Boxes of a system that have a cable: of a switch they are one, of a host they are its adapters. */
static fab_status ufm_system(const fab_network_json *r, uint32_t system, fab_error *err) {
    const fab_json *json = &r->json;
    fab_network *net = r->net;
    const char *name = fab_json_text_of(json, system, "system_name", "");
    const char *guid = fab_json_text_of(json, system, "guid", "");
    const char *type = fab_json_text_of(json, system, "type", "");
    uint32_t ports = fab_json_member(json, system, "ports");
    FAB_RETURN_IF(name[0] == '\0' || ports == FAB_JSON_NONE || strlen(name) >= NAME,
                  fab_fail_in_file(err, r->path, 1, 1, "a system without system_name, of up to 255 bytes, or ports"));
    FAB_JSON_EACH(json, i, ports) {
        ufm_end e = end_of_name(json->values[i].kind == FAB_JSON_STRING ? json->values[i].text : "", "");
        uint32_t v = e.n_guid > 0 ? fab_network_find(net, e.guid, e.n_guid) : FAB_NETWORK_NONE;
        if (v == FAB_NETWORK_NONE) {
            continue;
        }
        fab_network_node *node = &net->nodes[v];
        bool is_host = strcmp(type, "host") == 0;
        read_guid(guid, strlen(guid), &node->system_guid);
        if (node->kind == FAB_NETWORK_UNKNOWN && (is_host || strcmp(type, "switch") == 0)) {
            node->kind = is_host ? FAB_NETWORK_ADAPTER : FAB_NETWORK_SWITCH;
        }
        FAB_PASS(is_host && node->host == NULL ? fab_network_text(net, name, strlen(name), &node->host, err) : FAB_OK);
    }
    return FAB_OK;
}

static fab_status ufm_rows(const fab_network_json *r, fab_error *err) {
    const fab_json *json = &r->json;
    size_t number = 0;
    FAB_RETURN_IF(json->values[0].kind != FAB_JSON_ARRAY,
                  fab_fail_in_file(err, r->path, 1, 1, "has no list of links, ports or systems"));
    r->net->keeps_contradictions = true;
    FAB_JSON_EACH(json, i, 0) {
        number++;
        if (fab_json_member(json, i, "system_name") != FAB_JSON_NONE &&
            fab_json_member(json, i, "ports") != FAB_JSON_NONE) {
            FAB_PASS(ufm_system(r, i, err));
        } else if (fab_json_member(json, i, "peer") != FAB_JSON_NONE) {
            FAB_PASS(ufm_port(r, i, number, err));
        } else {
            const ufm_end ends[2] = {end_of_link(json, i, "source"), end_of_link(json, i, "destination")};
            FAB_PASS(ufm_cable(r, ends, 0, number, err));
        }
    }
    return FAB_OK;
}

const fab_network_format fab_network_ufm = {
    .name = "ufm",
    .is_infiniband = true,
    .summary = "links or ports of UFM, JSON of /ufmRest/resources; a folder with systems beside",
    .words = "source_guid destination_guid|peer_node_description node_description|system_name ports",
    .json = ufm_rows};
