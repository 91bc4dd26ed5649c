/** Nodes and edges of a graph in XML, whatever its tags: what the readers of GraphML and GEXF share. */
#pragma once

#include "network_internal.h"

#include "fab/xml_stream.h"

/** What the data of a GraphML file mean, by the names of its keys. */
typedef enum fab_graphml_meaning {
    FAB_GRAPHML_NOTHING,
    FAB_GRAPHML_PROGRAM, /**< of the graph: who wrote it, and which view */
    FAB_GRAPHML_VIEW,
    FAB_GRAPHML_LABEL, /**< of nodes */
    FAB_GRAPHML_KIND,
    FAB_GRAPHML_SERVER,
    FAB_GRAPHML_TIER,
    FAB_GRAPHML_BPS,  /**< of edges: a number, bit/s */
    FAB_GRAPHML_RATE, /**< a quantity with its unit */
    FAB_GRAPHML_METRES,
    FAB_GRAPHML_LENGTH,
    FAB_GRAPHML_SOURCE_PORT,
    FAB_GRAPHML_TARGET_PORT,
    FAB_GRAPHML_CABLES,
} fab_graphml_meaning;

#define FAB_GRAPH_ID   256
#define FAB_GRAPH_KEYS 512

typedef enum fab_graph_scope {
    FAB_GRAPH_OUTSIDE,
    FAB_GRAPH_KEY,
    FAB_GRAPH_GRAPH,
    FAB_GRAPH_NODE,
    FAB_GRAPH_EDGE
} fab_graph_scope;

typedef struct fab_graph_key {
    const char *id, *domain;
    const char *initial; /* what elements without such data have; NULL */
    fab_graphml_meaning meaning;
} fab_graph_key;

/* The node or edge at hand. */
typedef struct fab_graph_element {
    char id[FAB_GRAPH_ID], other[FAB_GRAPH_ID]; /* of an edge: source and target */
    char label[FAB_GRAPH_ID], kind[FAB_GRAPH_ID], server[FAB_GRAPH_ID];
    char port[2][FAB_GRAPH_ID];
    double rate_bps, length_m;
    uint32_t tier;
    bool is_directed;
    size_t line;
    uint64_t has; /* meanings that were given */
} fab_graph_element;

/* What a node of our own export is besides one of the network. */
typedef struct fab_graph_own {
    uint32_t server; /* FAB_NETWORK_NONE: it has none */
    uint32_t ports;  /* of an adapter, into the network, so far */
} fab_graph_own;

typedef struct fab_graph_reader {
    fab_network *net;
    fab_network *inside; /* of servers: nodes and links that are no part of the network; nodes of ours alone */
    fab_graph_own *own;  /* [nodes as installed] */
    uint32_t *gpu;       /* [inside nodes]: server */
    size_t own_capacity, gpu_capacity;
    uint32_t last_server, adapters_of_it;
    fab_graph_key *keys;
    size_t n_keys, key_capacity, next_key;
    fab_graph_scope scope;
    fab_graphml_meaning data; /* of the <data> at hand */
    bool in_data, in_default, is_ours, directed, has_graph, names_ports, in_label;
    uint32_t *one_way; /* cables of directed edges without ports */
    size_t n_one_way, one_way_capacity;
    fab_graph_element e;
    char class[8];            /* GEXF: of the keys that are declared */
    char label[FAB_GRAPH_ID]; /* GEXF: of the node at hand, beside its values */
} fab_graph_reader;

/** FAB_EINPUT where a text is longer than 255 bytes. */
FAB_STATUS fab_graph_copy(const fab_xml_stream *at, char to[FAB_GRAPH_ID], const char *from, const char *what,
                          fab_error *err);

/** The same of an attribute of the tag at hand, which has to be there. */
FAB_STATUS fab_graph_attribute(const fab_xml_stream *at, char to[FAB_GRAPH_ID], const char *name, fab_error *err);

/** Begins the graph, the only one; `edges` is the attribute that says whether they are directed. */
FAB_STATUS fab_graph_start(fab_graph_reader *r, const fab_xml_stream *at, const char *edges, fab_error *err);

/** Begins a node or an edge. */
void fab_graph_begin(fab_graph_reader *r, const fab_xml_stream *at, fab_graph_scope what);

/** What a key says of it; of keys of one meaning the first stays. */
FAB_STATUS fab_graph_set(fab_graph_reader *r, const fab_xml_stream *at, fab_graphml_meaning meaning, const char *text,
                         fab_error *err);

/** Adds the "node", or the cable of the "edge", at hand: where it has no value of a key, what the key says. */
FAB_STATUS fab_graph_end(fab_graph_reader *r, const fab_xml_stream *at, const char *name, fab_error *err);

/** Declares a key of elements of a domain, "node", by what it is called there. Its default may follow. */
FAB_STATUS fab_graph_add_key(fab_graph_reader *r, const fab_xml_stream *at, const char *domain, const char *id,
                             const char *title, fab_error *err);

/** A key by its id; values mostly come in the order of the keys, so the next one is tried first. NULL: there is none.
 */
const fab_graph_key *fab_graph_find_key(fab_graph_reader *r, const char *id);

/** Reads a file by the tags of a format. */
FAB_STATUS fab_graph_read(const char *path, const fab_xml_visitor *visitor, fab_network *net, fab_error *err);
