/* What lldpd has heard, as lldpctl -f json prints it: {"lldp": {"interface": [{"swp1": {"chassis": {"spine-0": {...}},
 * "port": {"id": {"type": "ifname", "value": "swp3"}, "descr": ...}}}]}}; "interface" is an object where there is one.
 * The host is the name of the file; or several stand in one file by their names, {"leaf-0": {"lldp": ...}, ...}. */
#include "network_json.h"

/* {"spine-0": {...}} by its key; {"id": {...}} has no name: its address. */
static const char *chassis_name(const fab_json *json, uint32_t chassis) {
    const char *id = FAB_JSON_TEXT(json, chassis, "id", "value");
    uint32_t first = fab_json_first(json, chassis);
    return id != NULL || first == FAB_JSON_NONE ? id : json->values[first].key;
}

static fab_status read_neighbor(const fab_network_json *r, const fab_network_plug *local, uint32_t heard,
                                fab_error *err) {
    const fab_json *json = &r->json;
    uint32_t port = fab_json_member(json, heard, "port");
    const char *kind = FAB_JSON_TEXT(json, port, "id", "type");
    fab_network_plug other = {.box = chassis_name(json, fab_json_member(json, heard, "chassis")),
                              .port = FAB_JSON_TEXT(json, port, "id", "value")};
    const char *description = FAB_JSON_TEXT(json, port, "descr");
    if (kind != NULL && strcmp(kind, "mac") == 0 && description != NULL) {
        other.port = description; /* hosts number their ports by address and describe them by name */
    }
    if (other.box == NULL || other.port == NULL) {
        return fab_network_leave_out(r->net, 1, "neighbors without a name or a port");
    }
    return fab_network_hear(r->net, local, &other, 1, err);
}

/* {"swp1": {...}} */
static fab_status read_interfaces(const fab_network_json *r, fab_network_plug local, uint32_t object, fab_error *err) {
    FAB_JSON_EACH(&r->json, i, object) {
        local.port = r->json.values[i].key;
        FAB_RETURN_IF(local.port == NULL || r->json.values[i].kind != FAB_JSON_OBJECT,
                      fab_fail_in_file(err, r->path, 1, 1, "an interface that has no name"));
        FAB_PASS(read_neighbor(r, &local, i, err));
    }
    return FAB_OK;
}

static fab_status read_host(const fab_network_json *r, const fab_network_plug *local, uint32_t lldp, fab_error *err) {
    uint32_t list = fab_json_member(&r->json, lldp, "interface");
    if (list != FAB_JSON_NONE && r->json.values[list].kind == FAB_JSON_OBJECT) {
        return read_interfaces(r, *local, list, err);
    }
    FAB_JSON_EACH(&r->json, i, list) {
        FAB_PASS(read_interfaces(r, *local, i, err));
    }
    return FAB_OK;
}

static fab_status lldpctl_hosts(const fab_network_json *r, fab_error *err) {
    fab_network_plug local = {.box = NULL};
    uint32_t lldp = fab_json_member(&r->json, 0, "lldp");
    if (lldp != FAB_JSON_NONE) {
        local.n_box = fab_path_box(r->path, &local.box);
        return read_host(r, &local, lldp, err);
    }
    FAB_JSON_EACH(&r->json, i, 0) {
        lldp = fab_json_member(&r->json, i, "lldp");
        FAB_RETURN_IF(lldp == FAB_JSON_NONE || r->json.values[i].key == NULL || r->json.values[i].key[0] == '\0',
                      fab_fail_in_file(err, r->path, 1, 1, "has no member lldp, nor hosts that have one"));
        local = (fab_network_plug){.box = r->json.values[i].key};
        FAB_PASS(read_host(r, &local, lldp, err));
    }
    return FAB_OK;
}

const fab_network_format fab_network_lldpctl = {
    .name = "lldpctl",
    .summary = "neighbors that lldpd has heard, lldpctl -f json: a file or a folder of hosts",
    .words = "lldp interface",
    .json = lldpctl_hosts};
