/**
 * What an installed network is as a fabric: which boxes are switches, their tiers, which adapters make a server, which
 * rail they are on. Found from the graph and from names; nothing is asked of the file that formats do not give.
 */
#pragma once

#include "fab/network.h"

/** Shapes over nodes are [n_nodes] of the installed network. */
typedef struct fab_shape {
    const fab_network *net; /**< borrowed */
    uint32_t *first, *side; /**< [n_nodes + 1], [2 * n_cables]: node v has the cable ends side[first[v] ... ): 2 * cable
                               + end; by port number, then in the order of the file */
    uint32_t *tier;         /**< of a switch, 1 = leaf, as most switches of its kind; 0 for others */
    uint32_t n_tiers;
    uint32_t *server; /**< of an adapter or host; FAB_NETWORK_NONE: not known, or no host */
    uint32_t n_servers;
    const char **server_name; /**< [n_servers]; texts of the network */
    uint32_t *slot; /**< of an adapter: its number in the server, from 0, as its name says (HCA-6 and mlx5_5 are
                       5); FAB_NETWORK_NONE */
    uint32_t *rail; /**< of a leaf: the slot that most of its adapters have, where that is nearly all of them;
                       FAB_NETWORK_NONE */
    uint32_t *box;  /**< of a switch that is a chip of a box of several, joined inside (a director): the first of them;
                       FAB_NETWORK_NONE */
    uint32_t n_boxes, n_chips; /**< such boxes, and their chips */
    bool has_rails;            /**< nearly all leaves have one, and there are several */
} fab_shape;

/**
 * A node that no one calls a switch or host is a host where its name says so (server, host, node, ...) or where it has
 * one cable; else a switch.
 * @param[in]  net  Borrowed, must outlive the shape; unknown kinds are filled in.
 * @param[out] out   Release with fab_shape_release().
 * Complexity: O(nodes + cables log(cables of a node)).
 */
FAB_STATUS fab_shape_find(fab_network *net, fab_shape *out, fab_error *err);
void fab_shape_release(fab_shape *shape);

static inline bool fab_network_is_host(const fab_network *net, uint32_t node) {
    return net->nodes[node].kind == FAB_NETWORK_ADAPTER || net->nodes[node].kind == FAB_NETWORK_HOST;
}

/** Whether a link runs inside a box: no cable. */
static inline bool fab_shape_is_inside(const fab_shape *shape, const fab_network_cable *cable) {
    uint32_t box = shape->box[cable->end[0].node];
    return box != FAB_NETWORK_NONE && box == shape->box[cable->end[1].node];
}

/** Whether a link leads to a service, as an aggregation node in its switch: nothing that one plugs. */
static inline bool fab_network_is_service(const fab_network *net, const fab_network_cable *cable) {
    return net->nodes[cable->end[0].node].kind == FAB_NETWORK_SERVICE ||
           net->nodes[cable->end[1].node].kind == FAB_NETWORK_SERVICE;
}

/** The other end of a cable end. */
static inline const fab_network_end *fab_network_far(const fab_network *net, uint32_t side) {
    return &net->cables[side >> 1].end[(side & 1) ^ 1];
}
static inline const fab_network_end *fab_network_near(const fab_network *net, uint32_t side) {
    return &net->cables[side >> 1].end[side & 1];
}
