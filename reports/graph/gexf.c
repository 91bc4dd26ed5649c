/* The fabric as GEXF 1.2 for Gephi and its kin, with places and colours. The namespaces are those that Gephi writes and
 * readers know ("1.2draft"). y grows upwards there. */
#include "graph_export.h"

static const char *const TYPES[] = {
    [FAB_GRAPH_STRING] = "string", [FAB_GRAPH_INTEGER] = "integer", [FAB_GRAPH_DOUBLE] = "double"};

static void put_declarations(fab_graph_writer *w, const char *class, const fab_graph_attribute *attributes, size_t n) {
    FAB_XML_START(&w->xml, "attributes", "class", class);
    for (size_t i = 0; i < n; i++) {
        char id[24];
        FAB_FORMAT(id, "%zu", i);
        FAB_XML_EMPTY(&w->xml, "attribute", "id", id, "title", attributes[i].name, "type", TYPES[attributes[i].type]);
    }
    fab_xml_write_end(&w->xml);
}

static void gexf_describe(fab_graph_writer *w, size_t i, const fab_graph_attribute *attribute,
                          const fab_graph_value *value) {
    fab_xml_write_text(&w->xml, i > 0 ? "; " : "");
    fab_xml_write_text(&w->xml, attribute->name);
    fab_xml_write_text(&w->xml, " ");
    fab_xml_write_text(&w->xml, value->text);
}

static void gexf_begin(fab_graph_writer *w) {
    FAB_XML_START(&w->xml, "gexf", "xmlns", "http://www.gexf.net/1.2draft", "xmlns:viz",
                  "http://www.gexf.net/1.2draft/viz", "xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance",
                  "xsi:schemaLocation", "http://www.gexf.net/1.2draft http://www.gexf.net/1.2draft/gexf.xsd", "version",
                  "1.2");
    fab_xml_write_start(&w->xml, "meta");
    fab_xml_write_start(&w->xml, "creator");
    fab_xml_write_text(&w->xml, "fabriscope");
    fab_xml_write_end(&w->xml);
    fab_xml_write_start(&w->xml, "description"); /* the graph has no attributes of its own in GEXF: they are told */
    fab_graph_each_own(w, gexf_describe);
    fab_xml_write_end(&w->xml);
    fab_xml_write_end(&w->xml);
    FAB_XML_START(&w->xml, "graph", "mode", "static", "defaultedgetype", "undirected");
    put_declarations(w, "node", w->attributes->node, w->attributes->n_node);
    put_declarations(w, "edge", w->attributes->edge, w->attributes->n_edge);
    fab_xml_write_start(&w->xml, "nodes");
}

/* Attributes are numbered, as Gephi does: some readers take an id that is no number for the name. */
static void gexf_put_value(fab_graph_writer *w, size_t i, const fab_graph_attribute *attribute,
                           const fab_graph_value *value) {
    fab_graph_put(w, "<attvalue for=\"");
    fab_xml_write_integer(&w->xml, i);
    fab_graph_put(w, "\" value=\"");
    fab_graph_put_value(w, attribute, value);
    fab_graph_put(w, "\"/>");
}

static void put_color(fab_graph_writer *w, fab_graph_color color) {
    fab_graph_putf(w, "</attvalues><viz:color r=\"%u\" g=\"%u\" b=\"%u\"/>", color.r, color.g, color.b);
}

static void gexf_put_node(fab_graph_writer *w, const fab_graph_spot *spot) {
    fab_graph_putf(w, "\n      <node id=\"n%" PRIu32 "\" label=\"", spot->node.id);
    fab_xml_write_escaped(&w->xml, spot->node.name);
    fab_graph_put(w, "\"><attvalues>");
    fab_graph_each_of_node(w, spot, gexf_put_value);
    put_color(w, fab_graph_level_color(spot->node.level));
    fab_graph_putf(
        w, "<viz:position x=\"%.9g\" y=\"%.9g\" z=\"0\"/><viz:size value=\"%.9g\"/><viz:shape value=\"%s\"/></node>",
        (double)spot->x, (double)(w->layout->height - spot->y), (double)spot->row->height,
        spot->node.tier > 0 ? "square" : "disc");
}

static void gexf_between(fab_graph_writer *w) {
    fab_xml_write_end(&w->xml);
    fab_xml_write_start(&w->xml, "edges");
}

/* The weight is the number of cables, which layouts of Gephi pull by. */
static void gexf_put_edge(fab_graph_writer *w, const fab_graph_edge *edge) {
    fab_graph_put(w, "\n      <edge");
    fab_graph_put_ends(w, edge);
    if (w->view->merge != NULL) {
        fab_graph_putf(w, " weight=\"%" PRIu32 "\"", edge->n_cables);
    }
    fab_graph_put(w, "><attvalues>");
    fab_graph_each_of_edge(w, edge, gexf_put_value);
    put_color(w, fab_graph_edge_color(w->view, edge));
    fab_graph_put(w, edge->n_failed > 0 ? "<viz:shape value=\"dashed\"/></edge>" : "</edge>");
}

static void gexf_end(fab_graph_writer *w) {
    fab_xml_write_end(&w->xml);
    fab_xml_write_end(&w->xml);
    fab_xml_write_end(&w->xml);
}

static const fab_graph_dialect GEXF = {.is_xml = true,
                                       .has_places = true,
                                       .density = FAB_LAYOUT_NAMED,
                                       .begin = gexf_begin,
                                       .node = gexf_put_node,
                                       .between = gexf_between,
                                       .edge = gexf_put_edge,
                                       .end = gexf_end};

FAB_GRAPH_FORMAT(gexf, GEXF, .suffix = ".gexf", .summary = "the same as GEXF 1.2 with places and colours, for Gephi");
