/* The fabric in yEd's dialect of GraphML: everything the portable one says, and a shape with a place for every node and
 * a line for every edge. Order and spelling of the parts follow http://www.yworks.com/xml/schema/graphml/1.1/. */
#include "graph_export.h"

static void yed_begin(fab_graph_writer *w) {
    FAB_XML_START(&w->xml, "graphml", "xmlns", "http://graphml.graphdrawing.org/xmlns", "xmlns:y",
                  "http://www.yworks.com/xml/graphml", "xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance",
                  "xsi:schemaLocation",
                  "http://graphml.graphdrawing.org/xmlns http://www.yworks.com/xml/schema/graphml/1.1/ygraphml.xsd");
    fab_graphml_put_keys(w);
    fab_graph_put(w, "\n  <key id=\"n_graphics\" for=\"node\" yfiles.type=\"nodegraphics\"/>"
                     "\n  <key id=\"e_graphics\" for=\"edge\" yfiles.type=\"edgegraphics\"/>");
    fab_graphml_begin_graph(w);
}

/* Light enough for black names. */
static fab_graph_color light(fab_graph_color c) {
    return (fab_graph_color){(uint8_t)(128 + c.r / 2), (uint8_t)(128 + c.g / 2), (uint8_t)(128 + c.b / 2)};
}

static void yed_put_node(fab_graph_writer *w, const fab_graph_spot *spot) {
    double width = (double)spot->row->width;
    double height = (double)spot->row->height;
    fab_graph_color fill = light(fab_graph_level_color(spot->node.level));
    fab_graphml_begin_node(w, spot);
    fab_graph_putf(w,
                   "<data key=\"n_graphics\"><y:ShapeNode><y:Geometry x=\"%.9g\" y=\"%.9g\" width=\"%.9g\" "
                   "height=\"%.9g\"/><y:Fill color=\"#%02X%02X%02X\"/>%s<y:NodeLabel>",
                   (double)spot->x - width / 2, (double)spot->y - height / 2, width, height, fill.r, fill.g, fill.b,
                   spot->node.n_failed > 0 ? "<y:BorderStyle color=\"#E0004D\" type=\"dashed\" width=\"3\"/>" : "");
    fab_xml_write_escaped(&w->xml, spot->node.name);
    fab_graph_putf(w, "</y:NodeLabel><y:Shape type=\"%s\"/></y:ShapeNode></data></node>",
                   spot->node.tier > 0                 ? "rectangle"
                   : spot->node.level == FAB_LEVEL_NIC ? "hexagon"
                                                       : "roundrectangle");
}

/* Thicker the more cables it stands for. */
static void yed_put_edge(fab_graph_writer *w, const fab_graph_edge *edge) {
    fab_graph_color color = fab_graph_edge_color(w->view, edge);
    fab_graphml_begin_edge(w, edge);
    fab_graph_putf(w,
                   "<data key=\"e_graphics\"><y:PolyLineEdge><y:LineStyle color=\"#%02X%02X%02X\" type=\"%s\" "
                   "width=\"%.9g\"/><y:Arrows source=\"none\" target=\"none\"/><y:BendStyle smoothed=\"false\"/>"
                   "</y:PolyLineEdge></data></edge>",
                   color.r, color.g, color.b, edge->n_failed > 0 ? "dashed" : "line",
                   1 + floor(log2(edge->n_cables)) / 2);
}

static void yed_end(fab_graph_writer *w) {
    fab_xml_write_end(&w->xml);
    fab_xml_write_end(&w->xml);
}

static const fab_graph_dialect YED = {.is_xml = true,
                                      .has_places = true,
                                      .density = FAB_LAYOUT_NAMED,
                                      .begin = yed_begin,
                                      .node = yed_put_node,
                                      .edge = yed_put_edge,
                                      .end = yed_end};

FAB_GRAPH_FORMAT(yed, YED, .suffix = ".yed.graphml", .summary = "the same as GraphML with shapes and places, for yEd");
