/* GraphML: nodes are boxes, an edge is a cable. Of our own export the graph inside servers is left out: GPUs and
 * scale-up domains, which are groups here. Source: graphml.graphdrawing.org, primer. */
#include "graph_elements.h"

typedef fab_graph_reader reader;

/* --- tags --------------------------------------------------------------------------------------------------------- */

static fab_status start_key(reader *r, const fab_xml_stream *at, fab_error *err) {
    char id[FAB_GRAPH_ID];
    char domain[FAB_GRAPH_ID];
    const char *of = fab_xml_stream_attribute(at, "for");
    FAB_PASS(fab_graph_copy(at, domain, of != NULL ? of : "", "for", err));
    FAB_PASS(fab_graph_attribute(at, id, "id", err));
    const char *name = fab_xml_stream_attribute(at, "attr.name");
    return fab_graph_add_key(r, at, domain, id, name != NULL ? name : id, err);
}

static fab_status start_edge(reader *r, const fab_xml_stream *at, fab_error *err) {
    static const char *const PORTS[2] = {"sourceport", "targetport"};
    FAB_PASS(fab_graph_attribute(at, r->e.id, "source", err));
    FAB_PASS(fab_graph_attribute(at, r->e.other, "target", err));
    for (uint32_t i = 0; i < 2; i++) {
        const char *port = fab_xml_stream_attribute(at, PORTS[i]);
        if (port != NULL) {
            FAB_PASS(fab_graph_copy(at, r->e.port[i], port, PORTS[i], err));
            r->e.has |= UINT64_C(1) << (FAB_GRAPHML_SOURCE_PORT + i);
        }
    }
    const char *directed = fab_xml_stream_attribute(at, "directed");
    r->e.is_directed = directed != NULL ? strcmp(directed, "true") == 0 : r->directed;
    return FAB_OK;
}

/* The meaning of <data>. */
static fab_status start_data(reader *r, const fab_xml_stream *at, fab_error *err) {
    const char *id = fab_xml_stream_attribute(at, "key");
    const fab_graph_key *key = id != NULL ? fab_graph_find_key(r, id) : NULL;
    FAB_RETURN_IF(key == NULL, fab_xml_stream_wrong(at, err,
                                                    id != NULL ? "data of a key '%.60s' that is not declared before"
                                                               : "data without a key",
                                                    id));
    r->data = key->meaning;
    r->in_data = true;
    return FAB_OK;
}

static fab_status graphml_on_start(void *context, const fab_xml_stream *at, const char *name, fab_error *err) {
    reader *r = context;
    if (r->in_data) { /* what a drawing program keeps there; text may stand before elements of a label */
        fab_status status =
            r->in_label ? fab_graph_set(r, at, FAB_GRAPHML_LABEL, fab_xml_stream_text(at), err) : FAB_OK;
        r->in_label = strcmp(name, "NodeLabel") == 0 && r->scope == FAB_GRAPH_NODE;
        return status;
    }
    if (strcmp(name, "data") == 0) {
        return start_data(r, at, err);
    }
    if (strcmp(name, "node") == 0 && r->scope == FAB_GRAPH_GRAPH) {
        fab_graph_begin(r, at, FAB_GRAPH_NODE);
        return fab_graph_attribute(at, r->e.id, "id", err);
    }
    if (strcmp(name, "edge") == 0 && r->scope == FAB_GRAPH_GRAPH) {
        fab_graph_begin(r, at, FAB_GRAPH_EDGE);
        return start_edge(r, at, err);
    }
    if (strcmp(name, "key") == 0 && r->scope == FAB_GRAPH_OUTSIDE) {
        return start_key(r, at, err);
    }
    if (strcmp(name, "graph") == 0) {
        return r->scope == FAB_GRAPH_NODE ? fab_xml_stream_wrong(at, err, "a graph inside a node is not read")
                                          : fab_graph_start(r, at, "edgedefault", err);
    }
    r->in_default = strcmp(name, "default") == 0 && r->scope == FAB_GRAPH_KEY;
    static const char *const IGNORED[] = {"graphml", "desc", "port", "default", "locator"};
    for (size_t i = 0; i < FAB_N_OF(IGNORED); i++) {
        if (strcmp(name, IGNORED[i]) == 0) {
            return FAB_OK;
        }
    }
    return fab_xml_stream_wrong(
        at, err, "element '%.40s' is not read here; expected graphml with key, graph, node, edge, data", name);
}

static fab_status graphml_on_end(void *context, const fab_xml_stream *at, const char *name, const char *text,
                                 fab_error *err) {
    reader *r = context;
    if (strcmp(name, "data") == 0) {
        FAB_PASS(fab_graph_set(r, at, r->data, text, err));
        r->in_data = false;
    } else if (r->in_data) {
        FAB_PASS(r->in_label ? fab_graph_set(r, at, FAB_GRAPHML_LABEL, text, err) : FAB_OK);
        r->in_label = false;
    } else if (r->in_default) {
        FAB_PASS(fab_network_text(r->net, text, strlen(text), &r->keys[r->n_keys - 1].initial, err));
        r->in_default = false;
    } else if (strcmp(name, "node") == 0 || strcmp(name, "edge") == 0) {
        return fab_graph_end(r, at, name, err);
    } else if (strcmp(name, "key") == 0 || strcmp(name, "graph") == 0) {
        r->scope = FAB_GRAPH_OUTSIDE;
    }
    return FAB_OK;
}

static fab_status read_graphml(const char *path, fab_network *net, fab_error *err) {
    static const fab_xml_visitor VISITOR = {graphml_on_start, graphml_on_end};
    return fab_graph_read(path, &VISITOR, net, err);
}

/* XML whose first element is graphml. */
const fab_network_format fab_network_graphml = {
    .name = "graphml",
    .summary = "GraphML of any program: Internet Topology Zoo, networkx, yEd, our own",
    .begins = "^([^<]|<[?!][^-]|<!--([^-]|-[^-])*--+>)*<([^ >\t\r\n:?!]*:)?graphml[ >\t\r\n]",
    .read = read_graphml};
