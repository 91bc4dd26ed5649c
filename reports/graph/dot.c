/* The fabric for Graphviz: a rank per level, so that `dot` draws tiers as rows; with places, so that `neato -n` draws
 * the same picture as the other formats at once. */
#include "graph_export.h"
#include "fab/utf8.h"

/* A quoted string: what it may not hold is escaped or replaced. */
static void put_quoted(fab_graph_writer *w, const char *text) {
    (void)fputc('"', w->out);
    while (*text != '\0') {
        uint32_t code = 0;
        size_t n = fab_utf8_decode(text, &code);
        if (code == '"' || code == '\\') {
            (void)fputc('\\', w->out);
        }
        if (code == FAB_UTF8_REPLACEMENT || fab_utf8_is_hidden(code)) {
            (void)fputs(FAB_UTF8_REPLACEMENT_TEXT, w->out);
        } else {
            (void)fwrite(text, 1, n, w->out);
        }
        text += n;
    }
    (void)fputc('"', w->out);
}

static void dot_put_attribute(fab_graph_writer *w, FAB_UNUSED size_t i, const fab_graph_attribute *attribute,
                              const fab_graph_value *value) {
    (void)fputc(' ', w->out);
    (void)fputs(attribute->name, w->out);
    (void)fputc('=', w->out);
    if (attribute->type == FAB_GRAPH_STRING) {
        put_quoted(w, value->text);
    } else { /* numbers may hold a sign of the exponent, which an identifier may not */
        const char *text = fab_graph_value_text(w, attribute, value);
        bool plain = strchr(text, 'e') == NULL;
        (void)fputs(plain ? "" : "\"", w->out);
        (void)fputs(text, w->out);
        (void)fputs(plain ? "" : "\"", w->out);
    }
}

static void dot_begin(fab_graph_writer *w) {
    (void)fputs("graph fabric {\n  graph [rankdir=BT ranksep=1.2 nodesep=0.1 splines=line outputorder=edgesfirst",
                w->out);
    fab_graph_each_own(w, dot_put_attribute);
    (void)fputs("];\n  node [shape=box style=filled fontname=\"sans-serif\" fontsize=10 fontcolor=white height=0.3 "
                "margin=\"0.05,0.02\"];\n",
                w->out);
    w->level = FAB_NONE;
}

/* Nodes come level by level: each is a rank. */
static void begin_level(fab_graph_writer *w, uint32_t level) {
    if (w->level != FAB_NONE) {
        (void)fputs("  }\n", w->out);
    }
    w->level = level;
    if (level != FAB_NONE) {
        fab_graph_color color = fab_graph_level_color(level);
        (void)fprintf(w->out, "  subgraph level_%" PRIu32 " {\n    rank=same;\n    node [color=\"#%02x%02x%02x\"];\n",
                      level, color.r, color.g, color.b);
    }
}

static void dot_put_node(fab_graph_writer *w, const fab_graph_spot *spot) {
    if (spot->node.level != w->level) {
        begin_level(w, spot->node.level);
    }
    (void)fprintf(w->out, "    n%" PRIu32 " [pos=\"%.0f,%.0f\"", spot->node.id, (double)spot->x,
                  (double)(w->layout->height - spot->y));
    fab_graph_each_of_node(w, spot, dot_put_attribute);
    (void)fputs(spot->node.n_failed > 0 ? " style=\"filled,dashed\" penwidth=3];\n" : "];\n", w->out);
}

static void dot_between(fab_graph_writer *w) {
    begin_level(w, FAB_NONE);
}

/* The end that is written first stands below the other: of scale-up links the domain. */
static void dot_put_edge(fab_graph_writer *w, const fab_graph_edge *edge) {
    fab_graph_color color = fab_graph_edge_color(w->view, edge);
    bool turned = edge->link_kind == FAB_LINK_SCALEUP;
    (void)fprintf(w->out, "  n%" PRIu32 " -- n%" PRIu32 " [id=c%" PRIu32 " color=\"#%02x%02x%02x\"",
                  turned ? edge->target : edge->source, turned ? edge->source : edge->target, edge->id, color.r,
                  color.g, color.b);
    fab_graph_each_of_edge(w, edge, dot_put_attribute);
    if (w->view->merge != NULL) {
        (void)fprintf(w->out, " penwidth=%.1f", 1 + floor(log2(edge->n_cables)) / 2);
    }
    (void)fputs(edge->n_failed > 0 ? " style=dashed];\n" : "];\n", w->out);
}

static void dot_end(fab_graph_writer *w) {
    (void)fputs("}\n", w->out);
}

static const fab_graph_dialect DOT = {.density = FAB_LAYOUT_NAMED,
                                      .begin = dot_begin,
                                      .node = dot_put_node,
                                      .between = dot_between,
                                      .edge = dot_put_edge,
                                      .end = dot_end};

FAB_GRAPH_FORMAT(dot, DOT, .suffix = ".dot", .summary = "the same for Graphviz, a rank per tier");
