/**
 * The fabric of a result as a graph to export or draw: whole, or with alike nodes merged, with what is known of every
 * node and cable. All graph formats and drawings read it; layout.h says where its nodes stand.
 *
 * Nodes and edges have numbers from 0 and can be asked for in any order. In the whole view they are those of the
 * fabric, computed when asked for. In the others a node stands for several and an edge for all cables between two
 * nodes; cables inside a node are left out, but for those between switches, which make an edge from the node to itself.
 */
#pragma once

#include "fab/overlay.h"
#include "fab/reports.h"

#define FAB_GRAPH_NAME_SIZE FAB_NODE_NAME_SIZE

/* Level of a node: GPUs, NICs, scale-up domains, then switches tier by tier. Merged servers are at the first one. */
#define FAB_LEVEL_GPU     0U
#define FAB_LEVEL_NIC     1U
#define FAB_LEVEL_DOMAIN  2U
#define FAB_LEVEL_TIER(t) ((t) + 2U)
#define FAB_LEVELS        (FAB_FABRIC_TIERS + 3U)

/** What is FAB_NONE (counts) or NAN (figures) is not known, or is not the same for all that the node stands for. */
typedef struct fab_graph_node {
    uint32_t id;
    const char *kind; /**< "gpu", "nic", "domain", "switch"; merged also "server" and "block" */
    uint32_t level;
    uint32_t tier; /**< of switches; else 0 */
    uint32_t rail, plane, pod, rack;
    uint32_t server;    /**< of the first GPU that it stands for */
    uint32_t group;     /**< merged: number of the pod, rail, plane, server or block */
    uint32_t n_nodes;   /**< nodes of the fabric that it stands for */
    uint32_t n_gpus;    /**< GPUs among them */
    uint32_t n_failed;  /**< of them: dead */
    double criticality; /**< largest of them; NAN: not known */
    double cost_usd;    /**< of those that the bill lists; NAN: it lists none */
    char name[FAB_GRAPH_NAME_SIZE];
    char host[FAB_GRAPH_NAME_SIZE]; /**< of what is installed: the server's name; else empty */
} fab_graph_node;

/** Traffic of an edge under one engine, for the first seed: [0] away from the servers, from source to target, [1] back.
 */
typedef struct fab_graph_use {
    double load[2];      /**< bytes of all phases, of all cables */
    double most[2];      /**< the same of the fullest cable */
    double use[2];       /**< largest utilisation of a cable in any phase; NAN: not known */
    double mean_use[2];  /**< the same, mean over the cables */
    uint32_t n_collided; /**< links (cables, each direction alone) that are collided in some phase */
} fab_graph_use;

typedef struct fab_graph_edge {
    uint32_t id, source, target; /**< source: the lower end; the first one between switches without an order */
    fab_link_kind link_kind;
    const char *kind; /**< "scale-up", "pcie", "access", "fabric" */
    uint32_t tier;    /**< boundary, as of a link class */
    uint32_t n_cables;
    uint32_t n_failed;           /**< of them: dead */
    uint32_t src_port, dst_port; /**< 0 where it stands for several cables */
    char src_port_name[FAB_PORT_NAME_SIZE], dst_port_name[FAB_PORT_NAME_SIZE]; /**< of what is installed; else empty */
    double capacity_bps;                                                       /**< of all cables, in one direction */
    double length_m;                                                           /**< mean over the cables */
    double residual_ratio;    /**< residual capacity, over that of healthy cables */
    double criticality;       /**< largest of the cables; NAN: not known */
    double cost_usd;          /**< of all cables with their transceivers */
    const fab_graph_use *use; /**< shape [view->n_engines] */
} fab_graph_edge;

typedef struct fab_graph_merge fab_graph_merge;

typedef struct fab_graph_view {
    const fab_result *result;
    const fab_fabric *fabric;
    fab_view kind; /**< never FAB_VIEW_AUTO */
    uint32_t n_nodes, n_edges;
    size_t n_engines;                    /**< whose loads are known */
    const char *engine[FAB_MAX_ENGINES]; /**< their names with all options */
    bool has_utilisation, has_failures, has_criticality, has_racks;
    bool has_cost; /**< the parts of the fabric are priced */

    /* For graph_view.c and graph_merge.c alone. */
    const double *residual;     /* [link], or NULL */
    const fab_overlay *overlay; /* or NULL */
    double *class_usd;          /* [class]: of a cable */
    struct fab_floor *floor;    /* NULL without racks */
    fab_graph_merge *merge;     /* NULL: whole */
} fab_graph_view;

/**
 * Looks at the graph of a result.
 * @param[in]  kind  Not FAB_VIEW_AUTO.
 * @param[out] out   Borrows from the result. Release with fab_graph_view_release().
 * @retval FAB_EUNSUPPORTED  the result has no graph, or the fabric has no pods or rails to merge by
 * Complexity: O(1) for the whole view, else O(nodes + cables * phases * engines); memory for the merged ones alone.
 */
FAB_STATUS fab_graph_view_init(const fab_result *result, fab_view kind, fab_graph_view *out, fab_error *err);
void fab_graph_view_release(fab_graph_view *view);

/** Node `id`, complete. Complexity: O(1); of a whole scale-up domain O(its GPUs). */
void fab_graph_view_node(const fab_graph_view *view, uint32_t id, fab_graph_node *out);

/**
 * Edge `id`, complete.
 * @param[out] room  Shape [FAB_MAX_ENGINES]: where out->use may stand.
 * Complexity: O(phases * engines).
 */
void fab_graph_view_edge(const fab_graph_view *view, uint32_t id, fab_graph_use *room, fab_graph_edge *out);

/** Level, source and target alone, for those who need no more. */
uint32_t fab_graph_view_level(const fab_graph_view *view, uint32_t id);
void fab_graph_view_ends(const fab_graph_view *view, uint32_t id, uint32_t *source, uint32_t *target);

/** Largest collision factor of an edge between switches, of both directions; NAN where it is not known or has none. */
double fab_graph_collision(const fab_graph_edge *edge, size_t engine);

/** "gpu", "nic", "domain", "leaf", ...: what stands at a level; "server" or "block" for merged servers. */
const char *fab_graph_level_name(const fab_graph_view *view, uint32_t level);

/* --- for graph_merge.c -------------------------------------------------------------------------------------------- */

/** Nodes and edges in which several are merged, complete. */
struct fab_graph_merge {
    fab_view kind;
    uint32_t n_nodes, n_edges, n_groups;
    uint32_t *node_of;    /* shape [nodes of the fabric] */
    fab_graph_node *node; /* shape [n_nodes] */
    fab_graph_edge *edge; /* shape [n_edges] */
    fab_graph_use *use;   /* shape [n_edges][n_engines] */
    size_t n_engines;
    uint32_t unit_gpus; /* of a server, or of a scale-up domain that is larger */
    uint32_t *block_of; /* shape [units]; view leaf */
};

FAB_STATUS fab_graph_merge_new(const fab_graph_view *whole, fab_view kind, fab_graph_merge **out, fab_error *err);
void fab_graph_merge_free(fab_graph_merge *merge);
FAB_OWNER(fab_graph_merge, fab_graph_merge_free)

/** The node, without names, and the cable as they are in the fabric. */
void fab_graph_whole_node(const fab_graph_view *view, fab_node_id v, fab_graph_node *out);
void fab_graph_name_whole_node(const fab_fabric *f, fab_graph_node *node);
void fab_graph_whole_edge(const fab_graph_view *view, uint32_t cable, fab_graph_use *room, fab_graph_edge *out);
