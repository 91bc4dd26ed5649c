/* The fabric as GraphML, in the dialect that every reader takes: default namespace, all keys first, NMTOKEN ids, the
 * name in `label`, no ports, no defaults, one edge per cable. */
#include "graph_export.h"

static const char *const TYPES[] = {
    [FAB_GRAPH_STRING] = "string", [FAB_GRAPH_INTEGER] = "int", [FAB_GRAPH_DOUBLE] = "double"};

static void put_keys(fab_graph_writer *w, const char *domain, const fab_graph_attribute *attributes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        FAB_XML_EMPTY(&w->xml, "key", "id", attributes[i].id, "for", domain, "attr.name", attributes[i].name,
                      "attr.type", TYPES[attributes[i].type]);
    }
}

static void graphml_put_data(fab_graph_writer *w, FAB_UNUSED size_t i, const fab_graph_attribute *attribute,
                             const fab_graph_value *value) {
    fab_graph_put(w, "<data key=\"");
    fab_graph_put(w, attribute->id);
    fab_graph_put(w, "\">");
    fab_graph_put_value(w, attribute, value);
    fab_graph_put(w, "</data>");
}

/* What the graph is of: a line each. */
static void graphml_put_own(fab_graph_writer *w, FAB_UNUSED size_t i, const fab_graph_attribute *attribute,
                            const fab_graph_value *value) {
    FAB_XML_START(&w->xml, "data", "key", attribute->id);
    fab_xml_write_text(&w->xml, value->text);
    fab_xml_write_end(&w->xml);
}

void fab_graphml_put_keys(fab_graph_writer *w) {
    const fab_graph_attributes *all = w->attributes;
    put_keys(w, "graph", all->own, all->n_own);
    put_keys(w, "node", all->node, all->n_node);
    put_keys(w, "edge", all->edge, all->n_edge);
}

void fab_graphml_begin_graph(fab_graph_writer *w) {
    FAB_XML_START(&w->xml, "graph", "id", "fabric", "edgedefault", "undirected");
    fab_graph_each_own(w, graphml_put_own);
}

void fab_graphml_begin_node(fab_graph_writer *w, const fab_graph_spot *spot) {
    fab_graph_putf(w, "\n    <node id=\"n%" PRIu32 "\">", spot->node.id);
    fab_graph_each_of_node(w, spot, graphml_put_data);
}

void fab_graphml_begin_edge(fab_graph_writer *w, const fab_graph_edge *edge) {
    fab_graph_put(w, "\n    <edge");
    fab_graph_put_ends(w, edge);
    fab_graph_put(w, ">");
    fab_graph_each_of_edge(w, edge, graphml_put_data);
}

static void graphml_begin(fab_graph_writer *w) {
    FAB_XML_START(&w->xml, "graphml", "xmlns", "http://graphml.graphdrawing.org/xmlns", "xmlns:xsi",
                  "http://www.w3.org/2001/XMLSchema-instance", "xsi:schemaLocation",
                  "http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.1/graphml.xsd");
    fab_graphml_put_keys(w);
    fab_graphml_begin_graph(w);
}

static void graphml_put_node(fab_graph_writer *w, const fab_graph_spot *spot) {
    fab_graphml_begin_node(w, spot);
    fab_graph_put(w, "</node>");
}

static void graphml_put_edge(fab_graph_writer *w, const fab_graph_edge *edge) {
    fab_graphml_begin_edge(w, edge);
    fab_graph_put(w, "</edge>");
}

static void graphml_end(fab_graph_writer *w) {
    fab_xml_write_end(&w->xml);
    fab_xml_write_end(&w->xml);
}

static const fab_graph_dialect GRAPHML = {.is_xml = true,
                                          .density = FAB_LAYOUT_NAMED,
                                          .begin = graphml_begin,
                                          .node = graphml_put_node,
                                          .edge = graphml_put_edge,
                                          .end = graphml_end};

FAB_GRAPH_FORMAT(graphml, GRAPHML, .file_name = "fabric.graphml", .suffix = ".graphml",
                 .summary = "the fabric with the load of every cable, for networkx, igraph, Gephi, Cytoscape");
