/**
 * One walk over the nodes and edges of a view for every graph format. A dialect is one file with a fab_graph_dialect
 * and a fab_report_format; what a node and an edge are said to be stands in graph_attributes.c and nowhere else.
 * Nothing is kept per node or edge beyond the layout: memory does not grow with the file.
 */
#pragma once

#include "fab/xml_writer.h"
#include "layout.h"

/* --- attributes --------------------------------------------------------------------------------------------------- */

typedef enum fab_graph_type {
    FAB_GRAPH_STRING,
    FAB_GRAPH_INTEGER,
    FAB_GRAPH_DOUBLE,
} fab_graph_type;

typedef struct fab_graph_value {
    bool known; /**< else there is nothing to say of this node or edge */
    const char *text;
    uint64_t integer;
    double number;
} fab_graph_value;

/** Something that nodes, edges or the graph have. */
typedef struct fab_graph_attribute {
    char id[32];   /**< unique in the file: letters, digits, '_' */
    char name[32]; /**< unique among the attributes of nodes, or of edges */
    fab_graph_type type;
    const struct fab_graph_row *row; /**< for graph_attributes.c */
    const char *text;                /**< of the graph itself */
    uint32_t engine;                 /**< whose; 0 where it is of none */
} fab_graph_attribute;

#define FAB_GRAPH_NODE_ATTRIBUTES 24
#define FAB_GRAPH_EDGE_ATTRIBUTES (16 + 12 * FAB_MAX_ENGINES)
#define FAB_GRAPH_OWN_ATTRIBUTES  (8 + FAB_MAX_ENGINES)

/** Those that a view has. */
typedef struct fab_graph_attributes {
    fab_graph_attribute node[FAB_GRAPH_NODE_ATTRIBUTES], edge[FAB_GRAPH_EDGE_ATTRIBUTES], own[FAB_GRAPH_OWN_ATTRIBUTES];
    size_t n_node, n_edge, n_own;
    char seed[24];
} fab_graph_attributes;

void fab_graph_attributes_list(const fab_graph_view *view, bool places, fab_graph_attributes *out);

/** A node with its place. */
typedef struct fab_graph_spot {
    fab_graph_node node;
    float x, y;
    const fab_graph_layout_row *row;
    char rack[48]; /**< name, or empty */
} fab_graph_spot;

/** Of a fab_graph_spot, a fab_graph_edge, or NULL: the graph itself. */
fab_graph_value fab_graph_value_of(const fab_graph_attribute *attribute, const void *of);

/* --- the walk ----------------------------------------------------------------------------------------------------- */

typedef struct fab_graph_number fab_graph_number;

typedef struct fab_graph_writer {
    const fab_graph_view *view;
    const fab_graph_layout *layout;
    fab_graph_attributes *attributes;
    fab_xml_writer xml;        /**< of dialects in XML */
    FILE *out;                 /**< of the others; a write that failed shows in ferror() */
    fab_graph_number *numbers; /* texts of doubles met before */
    bool has_bad_number;       /**< one is infinite or not a number: the export fails */
    uint32_t level;            /**< for the dialect: of the last node */
    void *context;             /**< for the dialect */
    bool has_failed;           /**< memory ran out: the export fails */
    char number[32];
} fab_graph_writer;

typedef struct fab_graph_dialect {
    bool is_xml;
    bool has_places; /**< it says where nodes stand in its own way: x and y are no attributes */
    fab_graph_layout_density density;
    void (*begin)(fab_graph_writer *w);
    void (*node)(fab_graph_writer *w, const fab_graph_spot *spot); /**< by their numbers */
    void (*between)(fab_graph_writer *w);                          /**< behind the last node; may be NULL */
    void (*edge)(fab_graph_writer *w, const fab_graph_edge *edge); /**< by their numbers; may be NULL */
    void (*end)(fab_graph_writer *w);
} fab_graph_dialect;

/**
 * Writes the graph of a result.
 * @param[in] context  For the dialect's own use; may be NULL.
 * @param[in] style    View; NULL or FAB_VIEW_AUTO: whole.
 * @retval FAB_EUNSUPPORTED  the result has no graph, or not that view
 * @retval FAB_EINTERNAL     a figure is infinite or not a number
 * @retval FAB_EIO           a write failed
 */
FAB_STATUS fab_graph_export(const fab_graph_dialect *dialect, void *context, const fab_result *result,
                            const fab_report_style *style, FILE *out, fab_error *err);

/** The report format of a dialect, with its suffix, summary, ...: the callback of a format has no context of its own.
 */
#define FAB_GRAPH_FORMAT(id, dialect, ...)                                                                             \
    static fab_status print_##id(const fab_result *result, const fab_report_style *style, FILE *out, fab_error *err) { \
        return fab_graph_export(&(dialect), NULL, result, style, out, err);                                            \
    }                                                                                                                  \
    const fab_report_format fab_report_##id = {                                                                        \
        .name = #id, .print = print_##id, .needs_graph = true, .shows_graph = true, .shows_loads = true, __VA_ARGS__}

/** Text of a value of this type, not escaped. Good until the next call. */
const char *fab_graph_value_text(fab_graph_writer *w, const fab_graph_attribute *attribute,
                                 const fab_graph_value *value);

/** Writes it into the XML. */
void fab_graph_put_value(fab_graph_writer *w, const fab_graph_attribute *attribute, const fab_graph_value *value);

/** Markup as it stands, into the XML. */
void fab_graph_put(fab_graph_writer *w, const char *markup);
/** The same of a format; at most 511 bytes. */
void fab_graph_putf(fab_graph_writer *w, const char *fmt, ...) FAB_PRINTF(2, 3);

/** Says something that is known of a node, an edge or the graph: the i-th of their attributes. */
typedef void fab_graph_put_known(fab_graph_writer *w, size_t i, const fab_graph_attribute *attribute,
                                 const fab_graph_value *value);
void fab_graph_each_of_node(fab_graph_writer *w, const fab_graph_spot *spot, fab_graph_put_known *put);
void fab_graph_each_of_edge(fab_graph_writer *w, const fab_graph_edge *edge, fab_graph_put_known *put);
void fab_graph_each_own(fab_graph_writer *w, fab_graph_put_known *put);
/** Numbers of an edge and its ends, as attributes of an XML element that was begun: id, source, target. */
void fab_graph_put_ends(fab_graph_writer *w, const fab_graph_edge *edge);

/* --- graphml.c, for its dialects ---------------------------------------------------------------------------------- */

/** Declares all attributes. */
void fab_graphml_put_keys(fab_graph_writer *w);
/** Opens the graph, with what it is of. */
void fab_graphml_begin_graph(fab_graph_writer *w);
/** Opens the node or edge, with all its data; it is left open. */
void fab_graphml_begin_node(fab_graph_writer *w, const fab_graph_spot *spot);
void fab_graphml_begin_edge(fab_graph_writer *w, const fab_graph_edge *edge);

/* --- what drawings share ------------------------------------------------------------------------------------------ */

/** Red, green, blue. */
typedef struct fab_graph_color {
    uint8_t r, g, b;
} fab_graph_color;

/** Of what stands at a level. */
fab_graph_color fab_graph_level_color(uint32_t level);

/** Of an edge: by its failures, else by the largest utilisation under the first engine, else grey. */
fab_graph_color fab_graph_edge_color(const fab_graph_view *view, const fab_graph_edge *edge);

#define FAB_GRAPH_BINS 7
/** Bin of a utilisation: idle, up to 0.25, 0.5, 1, 1.5, 2, more. */
uint32_t fab_graph_bin(double utilisation);
extern const char *const fab_graph_bin_names[FAB_GRAPH_BINS];

/** Largest utilisation of an edge in either direction under the first engine, NAN where it is not known. */
double fab_graph_utilisation(const fab_graph_view *view, const fab_graph_edge *edge);
