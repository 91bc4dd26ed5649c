/* Batfish's layer-1 topology: {"edges": [{"node1": {"hostname": "a", "interfaceName": "Ethernet1"}, "node2": {...}}]}.
 * An edge may stand there once or from both ends. */
#include "network_json.h"

static fab_status layer1_plug(const fab_network_json *r, uint32_t edge, const char *end, fab_network_plug *out,
                              fab_error *err) {
    out->box = FAB_JSON_TEXT(&r->json, edge, end, "hostname");
    out->port = FAB_JSON_TEXT(&r->json, edge, end, "interfaceName");
    return out->box != NULL && out->port != NULL
               ? FAB_OK
               : fab_fail_in_file(err, r->path, 1, 1, "an edge whose %s has no hostname or no interfaceName", end);
}

static fab_status layer1_edges(const fab_network_json *r, fab_error *err) {
    uint32_t edges = fab_json_member(&r->json, 0, "edges");
    FAB_RETURN_IF(edges == FAB_JSON_NONE, fab_fail_in_file(err, r->path, 1, 1, "has no list edges"));
    FAB_JSON_EACH(&r->json, i, edges) {
        fab_network_plug ends[2] = {{.box = NULL}};
        FAB_PASS(layer1_plug(r, i, "node1", &ends[0], err));
        FAB_PASS(layer1_plug(r, i, "node2", &ends[1], err));
        FAB_PASS(fab_network_plug_in(r->net, &ends[0], &ends[1], 0, 1, err));
    }
    return FAB_OK;
}

const fab_network_format fab_network_layer1 = {.name = "layer1",
                                               .summary = "layer-1 topology of Batfish, JSON",
                                               .words = "edges interfaceName",
                                               .json = layer1_edges};
