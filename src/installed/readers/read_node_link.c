/* Graphs as lists of nodes and links: networkx' node_link_data ("nodes", "links" or "edges"), d3, Cytoscape's plain
 * form. A link has source and target, and maybe source_port and target_port, rate_bps; names are texts or numbers. */
#include "network_json.h"

/* A name that is a text or a number. */
static const char *name_of(const fab_json *json, uint32_t object, const char *key, char room[32]) {
    uint32_t member = fab_json_member(json, object, key);
    if (member == FAB_JSON_NONE) {
        return NULL;
    }
    const fab_json_value *v = &json->values[member];
    if (v->kind == FAB_JSON_NUMBER) {
        return fab_format_double(room, v->number);
    }
    return v->kind == FAB_JSON_STRING && v->text[0] != '\0' ? v->text : NULL;
}

static fab_status node_link_nodes(const fab_network_json *r, uint32_t nodes, fab_error *err) {
    FAB_JSON_EACH(&r->json, i, nodes) {
        uint32_t node = 0;
        const char *name = name_of(&r->json, i, "id", FAB_ROOM);
        const char *label = fab_json_text_of(&r->json, i, "label", fab_json_text_of(&r->json, i, "name", ""));
        FAB_RETURN_IF(name == NULL, fab_fail_in_file(err, r->path, 1, 1, "a node without id"));
        FAB_PASS(fab_network_add_node(r->net, name, strlen(name), 1, &node, err));
        if (label[0] != '\0') {
            FAB_PASS(fab_network_text(r->net, label, strlen(label), &r->net->nodes[node].label, err));
        }
        FAB_PASS(fab_network_ib_host(r->net, node, err));
    }
    return FAB_OK;
}

static fab_status node_link_links(const fab_network_json *r, fab_error *err) {
    const fab_json *json = &r->json;
    uint32_t nodes = fab_json_member(json, 0, "nodes");
    uint32_t links = fab_json_member(json, 0, "links");
    links = links != FAB_JSON_NONE ? links : fab_json_member(json, 0, "edges");
    FAB_RETURN_IF(nodes == FAB_JSON_NONE || links == FAB_JSON_NONE,
                  fab_fail_in_file(err, r->path, 1, 1, "has no lists nodes and links"));
    FAB_PASS(node_link_nodes(r, nodes, err));
    FAB_JSON_EACH(json, i, links) {
        fab_network_plug ends[2] = {{.box = name_of(json, i, "source", FAB_ROOM)},
                                    {.box = name_of(json, i, "target", FAB_ROOM)}};
        double rate = fab_json_number_of(json, i, "rate_bps", 0);
        ends[0].port = FAB_JSON_TEXT(json, i, "source_port");
        ends[1].port = FAB_JSON_TEXT(json, i, "target_port");
        for (int k = 0; k < 2; k++) {
            FAB_RETURN_IF(
                ends[k].box == NULL || fab_network_find(r->net, ends[k].box, strlen(ends[k].box)) == FAB_NETWORK_NONE,
                fab_fail_in_file(err, r->path, 1, 1, "a link whose %s is no node", k == 0 ? "source" : "target"));
        }
        FAB_RETURN_IF((ends[0].port == NULL) != (ends[1].port == NULL),
                      fab_fail_in_file(err, r->path, 1, 1, "a link with a port at one end alone"));
        FAB_PASS(fab_network_plug_in(r->net, &ends[0], &ends[1], rate > 0 ? rate : 0, 1, err));
    }
    return FAB_OK;
}

const fab_network_format fab_network_node_link = {.name = "node-link",
                                                  .summary =
                                                      "graph as JSON: nodes and links, as networkx and d3 have it",
                                                  .words = "nodes links|nodes edges",
                                                  .json = node_link_links};
