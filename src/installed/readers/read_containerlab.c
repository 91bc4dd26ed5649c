/* Topologies of containerlab: topology.nodes, and topology.links with endpoints ["leaf1:e1-1", "spine:e1-1"] or, in the
 * long form, type veth and endpoints [{node: leaf1, interface: e1-1}, ...]. Links to the machine that runs the lab, and
 * interfaces that lead nowhere, are left out. Grammar: containerlab.dev/manual/topo-def-file. */
#include "network_json.h"

/* "leaf1:e1-1", or {node: leaf1, interface: e1-1}. */
static bool lab_plug(const fab_json *json, uint32_t end, fab_network_plug *out) {
    const fab_json_value *v = &json->values[end];
    if (v->kind == FAB_JSON_STRING) {
        const char *colon = strchr(v->text, ':');
        *out = (fab_network_plug){.box = v->text,
                                  .n_box = colon != NULL ? (size_t)(colon - v->text) : 0,
                                  .port = colon != NULL ? colon + 1 : NULL};
        return colon != NULL && colon != v->text && colon[1] != '\0';
    }
    out->box = FAB_JSON_TEXT(json, end, "node");
    out->port = FAB_JSON_TEXT(json, end, "interface");
    return out->box != NULL && out->port != NULL;
}

/* Ends outside the lab, and links that have one end. */
static bool is_outside(const fab_network_plug *p) {
    static const char *const WORDS[] = {"host", "mgmt-net", "macvlan", "dummy"};
    size_t n = p->n_box > 0 ? p->n_box : strlen(p->box);
    FAB_ANY(found, i, FAB_N_OF(WORDS), strlen(WORDS[i]) == n && memcmp(WORDS[i], p->box, n) == 0);
    return found;
}

static fab_status lab_link(const fab_network_json *r, uint32_t link, fab_error *err) {
    const fab_json *json = &r->json;
    uint32_t ends = fab_json_member(json, link, "endpoints");
    const char *type = fab_json_text_of(json, link, "type", "veth");
    fab_network_plug plugs[2] = {{.box = NULL}};
    if (strcmp(type, "veth") != 0) {
        return fab_network_leave_out(r->net, 1, "links that lead out of the lab");
    }
    FAB_RETURN_IF(ends == FAB_JSON_NONE || fab_json_count(json, ends) != 2,
                  fab_fail_in_file(err, r->path, 1, 1, "a link without two endpoints"));
    uint32_t first = json->values[ends].first;
    FAB_RETURN_IF(!lab_plug(json, first, &plugs[0]) || !lab_plug(json, json->values[first].next, &plugs[1]),
                  fab_fail_in_file(err, r->path, 1, 1, "an endpoint that is not 'node:interface'"));
    if (is_outside(&plugs[0]) || is_outside(&plugs[1])) {
        return fab_network_leave_out(r->net, 1, "links that lead out of the lab");
    }
    for (int i = 0; i < 2; i++) {
        size_t n = plugs[i].n_box > 0 ? plugs[i].n_box : strlen(plugs[i].box);
        FAB_RETURN_IF(fab_network_find(r->net, plugs[i].box, n) == FAB_NETWORK_NONE,
                      fab_fail_in_file(err, r->path, 1, 1, "a link to '%.*s', which is no node", (int)(n < 60 ? n : 60),
                                       plugs[i].box));
    }
    return fab_network_plug_in(r->net, &plugs[0], &plugs[1], 0, 1, err);
}

static fab_status lab_links(const fab_network_json *r, fab_error *err) {
    const fab_json *json = &r->json;
    uint32_t topology = fab_json_member(json, 0, "topology");
    uint32_t nodes = fab_json_member(json, topology, "nodes");
    uint32_t links = fab_json_member(json, topology, "links");
    FAB_RETURN_IF(nodes == FAB_JSON_NONE || links == FAB_JSON_NONE,
                  fab_fail_in_file(err, r->path, 1, 1, "has no topology with nodes and links"));
    FAB_JSON_EACH(json, i, nodes) {
        uint32_t node = 0;
        const char *name = json->values[i].key;
        FAB_RETURN_IF(name == NULL || name[0] == '\0', fab_fail_in_file(err, r->path, 1, 1, "a node without a name"));
        FAB_PASS(fab_network_add_node(r->net, name, strlen(name), 1, &node, err));
    }
    FAB_JSON_EACH(json, i, links) {
        FAB_PASS(lab_link(r, i, err));
    }
    return FAB_OK;
}

const fab_network_format fab_network_lab = {.name = "containerlab",
                                            .summary = "topology of containerlab, YAML",
                                            .begins = "(.*\n)?topology:.*nodes:",
                                            .yaml = lab_links};
