/* GEXF of any program: Gephi, networkx, our own. Keys are numbered within their class, node or edge; what they mean is
 * read by their titles, as in GraphML. Places and colours are passed over. Source: gexf.net, GEXF 1.2 and 1.3. */
#include "graph_elements.h"

/* What elements of the class that is at hand are called in front of their keys: "node 0". */
static fab_status gexf_key(const fab_xml_stream *at, const char *class, const char *id, char to[FAB_GRAPH_ID],
                           fab_error *err) {
    char text[2 * FAB_GRAPH_ID];
    FAB_RETURN_IF(id == NULL || id[0] == '\0',
                  fab_xml_stream_wrong(at, err, "attribute 'id' of a key is missing or empty"));
    FAB_FORMAT(text, "%.8s %.500s", class, id);
    return fab_graph_copy(at, to, text, "a key", err);
}

static fab_status start_attribute(fab_graph_reader *r, const fab_xml_stream *at, fab_error *err) {
    char id[FAB_GRAPH_ID];
    FAB_PASS(gexf_key(at, r->class, fab_xml_stream_attribute(at, "id"), id, err));
    const char *title = fab_xml_stream_attribute(at, "title");
    return fab_graph_add_key(r, at, r->class, id, title != NULL ? title : "", err);
}

/* <attvalue for="2" value="..."/>; GEXF 1.0 says id. */
static fab_status start_value(fab_graph_reader *r, const fab_xml_stream *at, fab_error *err) {
    char id[FAB_GRAPH_ID];
    const char *of = fab_xml_stream_attribute(at, "for");
    of = of != NULL ? of : fab_xml_stream_attribute(at, "id");
    FAB_PASS(gexf_key(at, r->scope == FAB_GRAPH_NODE ? "node" : "edge", of, id, err));
    const fab_graph_key *key = fab_graph_find_key(r, id);
    const char *value = fab_xml_stream_attribute(at, "value");
    if (key == NULL || value == NULL) {
        return key == NULL ? fab_xml_stream_wrong(at, err, "a value of key '%.60s', which is not declared before", id)
                           : fab_xml_stream_wrong(at, err, "attribute 'value' is missing");
    }
    return fab_graph_set(r, at, key->meaning, value, err);
}

static fab_status start_edge(fab_graph_reader *r, const fab_xml_stream *at, fab_error *err) {
    fab_graph_begin(r, at, FAB_GRAPH_EDGE);
    FAB_PASS(fab_graph_attribute(at, r->e.id, "source", err));
    FAB_PASS(fab_graph_attribute(at, r->e.other, "target", err));
    const char *type = fab_xml_stream_attribute(at, "type");
    r->e.is_directed = type != NULL ? strcmp(type, "directed") == 0 : r->directed;
    return FAB_OK;
}

static fab_status start_node(fab_graph_reader *r, const fab_xml_stream *at, fab_error *err) {
    fab_graph_begin(r, at, FAB_GRAPH_NODE);
    FAB_PASS(fab_graph_attribute(at, r->e.id, "id", err));
    const char *label = fab_xml_stream_attribute(at, "label");
    return fab_graph_copy(at, r->label, label != NULL ? label : "", "a label", err);
}

static fab_status gexf_on_start(void *context, const fab_xml_stream *at, const char *name, fab_error *err) {
    fab_graph_reader *r = context;
    bool is_element = strcmp(name, "node") == 0 || strcmp(name, "edge") == 0;
    FAB_RETURN_IF(is_element && r->scope != FAB_GRAPH_GRAPH,
                  fab_xml_stream_wrong(at, err, "a %s %s is not read", name,
                                       r->has_graph ? "inside another element" : "outside a graph"));
    if (is_element) {
        return strcmp(name, "node") == 0 ? start_node(r, at, err) : start_edge(r, at, err);
    }
    if (strcmp(name, "graph") == 0) {
        return fab_graph_start(r, at, "defaultedgetype", err);
    }
    if (strcmp(name, "attvalue") == 0 && (r->scope == FAB_GRAPH_NODE || r->scope == FAB_GRAPH_EDGE)) {
        return start_value(r, at, err);
    }
    if (strcmp(name, "attributes") == 0 && r->scope == FAB_GRAPH_GRAPH) {
        const char *class = fab_xml_stream_attribute(at, "class");
        FAB_FORMAT(r->class, "%.7s", class != NULL ? class : "");
    }
    if (strcmp(name, "attribute") == 0 && r->scope == FAB_GRAPH_GRAPH) {
        return start_attribute(r, at, err);
    }
    return FAB_OK;
}

static fab_status gexf_on_end(void *context, const fab_xml_stream *at, const char *name, const char *text,
                              fab_error *err) {
    fab_graph_reader *r = context;
    if (r->scope == FAB_GRAPH_OUTSIDE && strcmp(name, "creator") == 0) {
        return fab_graph_set(r, at, FAB_GRAPHML_PROGRAM, text, err);
    }
    if (r->scope == FAB_GRAPH_OUTSIDE && strcmp(name, "description") == 0) { /* "...; view pod; ..." of our own */
        char view[FAB_GRAPH_ID];
        const char *from = strstr(text, "; view ");
        FAB_FORMAT(view, "%.*s", from != NULL ? (int)strcspn(from + 7, ";") % 200 : 0, from != NULL ? from + 7 : "");
        return fab_graph_set(r, at, FAB_GRAPHML_VIEW, view, err);
    }
    if (r->scope == FAB_GRAPH_KEY && strcmp(name, "default") == 0) {
        return fab_network_text(r->net, text, strlen(text), &r->keys[r->n_keys - 1].initial, err);
    }
    if (r->scope == FAB_GRAPH_KEY && strcmp(name, "attribute") == 0) {
        r->scope = FAB_GRAPH_GRAPH;
    } else if (strcmp(name, "graph") == 0) {
        r->scope = FAB_GRAPH_OUTSIDE;
    } else if (r->scope == FAB_GRAPH_NODE && strcmp(name, "node") == 0) {
        FAB_PASS(fab_graph_set(r, at, FAB_GRAPHML_LABEL, r->label, err));
        return fab_graph_end(r, at, name, err);
    } else if (r->scope == FAB_GRAPH_EDGE && strcmp(name, "edge") == 0) {
        return fab_graph_end(r, at, name, err);
    }
    return FAB_OK;
}

static fab_status read_gexf(const char *path, fab_network *net, fab_error *err) {
    static const fab_xml_visitor VISITOR = {gexf_on_start, gexf_on_end};
    return fab_graph_read(path, &VISITOR, net, err);
}

/* XML whose first element is gexf. */
const fab_network_format fab_network_gexf = {
    .name = "gexf",
    .summary = "GEXF of any program: Gephi, networkx, our own",
    .begins = "^([^<]|<[?!][^-]|<!--([^-]|-[^-])*--+>)*<([^ >\t\r\n:?!]*:)?gexf[ >\t\r\n]",
    .read = read_gexf};
