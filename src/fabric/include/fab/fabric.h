/**
 * The fabric: a frozen directed multigraph in flat arrays. See src/doc/adr/0003-own-graph-core.md.
 *
 * Nodes are numbered by kind: GPUs, NICs, scale-up domains, then switches tier by tier. A cable c is two directed
 * links, 2c from its lower end up and 2c + 1 in reverse, so that the reverse of link l is l ^ 1. Links of equal kind,
 * rate and length share a class. Everything is readable from many threads.
 */
#pragma once

#include "fab/host.h"
#include "fab/base.h"

typedef uint32_t fab_node_id;
typedef uint32_t fab_link_id;
#define FAB_NONE         UINT32_MAX
#define FAB_FABRIC_TIERS 8

/* Bytes that hold any name with its NUL: of a node, of a port, and of a link, "node:port > node:port". What is
 * installed has names of up to 255 bytes, as LLDP [IEEE 802.1AB, 8.5.6 and 8.5.5] and inventories have them; "/port",
 * "/nic-3" or
 * "(server 4)" may stand behind that of a node. Only buffers have these sizes: the names themselves stand in fab_names.
 */
#define FAB_NODE_NAME_SIZE 320
#define FAB_PORT_NAME_SIZE 256
#define FAB_LINK_NAME_SIZE (2 * (FAB_NODE_NAME_SIZE + FAB_PORT_NAME_SIZE) + 8)

typedef enum fab_node_kind {
    FAB_NODE_GPU,
    FAB_NODE_NIC,
    FAB_NODE_DOMAIN, /**< scale-up switch: the NVLink domain */
    FAB_NODE_SWITCH,
    FAB_NODE_N_KINDS
} fab_node_kind;

typedef enum fab_link_kind {
    FAB_LINK_SCALEUP, /**< GPU - domain */
    FAB_LINK_PCIE,    /**< GPU - NIC */
    FAB_LINK_ACCESS,  /**< NIC - switch */
    FAB_LINK_FABRIC,  /**< switch - switch */
} fab_link_kind;

/** Which graph the cables make: what switches and boundaries are called, and what engines may rely on. */
typedef enum fab_wiring {
    FAB_WIRING_TREE,      /**< tiers: every cable leads from a tier to the one above; boundary t lies below tier t */
    FAB_WIRING_DRAGONFLY, /**< one tier; boundaries: NIC - switch, inside a group, between groups */
    FAB_WIRING_TORUS,     /**< one tier; boundaries: NIC - switch, between neighbours */
    FAB_WIRING_GRAPH,     /**< any graph, one tier; boundaries: NIC - switch, switch - switch */
} fab_wiring;

#define FAB_FIBRE_S_PER_M 4.9e-9 /**< light in fibre */

/** What links have in common. */
typedef struct fab_link_class {
    fab_link_kind kind;
    uint32_t tier; /**< boundary: in a tree the switch tier at the upper end (1 for NIC - leaf, 2 for leaf - spine,
                      ...); 0 inside a server */
    double capacity_bps; /**< per direction */
    double usable_bps;   /**< what bytes get of it: less where hosts do not fill a NIC (host.h); 0 when added: all */
    double length_m;
    double latency_s; /**< device + length */
} fab_link_class;

typedef struct fab_fabric {
    uint32_t n_nodes, n_links, n_cables;
    uint32_t n_servers, n_rails, n_planes, n_pods, n_tiers;
    uint32_t n_cut_servers; /**< the last ones, which lack cables: jobs take them only where they are named */
    uint32_t n_boundaries;  /**< numbered from 1, as the tier of a link class; n_tiers in a tree */
    fab_wiring wiring;
    uint32_t gpus_per_server, nics_per_server, gpus_per_domain;
    uint32_t first[FAB_NODE_N_KINDS + 1];         /**< [kind]: first node of the kind; [kind + 1]: behind its last */
    uint32_t first_of_tier[FAB_FABRIC_TIERS + 2]; /**< [t], t = 1 ... n_tiers + 1: first switch of tier t */
    uint32_t rails_per_network;                   /**< rails that share a network: all of them but in rail-only */
    bool forwards_in_domain; /**< pairs on different rails are relayed inside a scale-up domain (PXN) (rail-only) */
    bool forwards_at_destination; /**< in the destination's where it has the rail, else the source's */
    bool stores_and_forwards;     /**< relayed as a whole before it is sent on, not as it comes */
    fab_host host;                /**< what its software adds to times */
    bool reduces_in_switches;     /**< switches add up what they are sent, where a collective asks for it */

    uint16_t n_classes;
    fab_link_class *classes; /**< shape [n_classes] */
    uint16_t *cable_class;   /**< shape [n_cables] */
    uint32_t *end;           /**< shape [n_links]: end[l] is the tail of link l, end[l ^ 1] its head */
    uint16_t *port;          /**< shape [n_links]: port number, from 1, on the tail of link l */
    uint32_t *out_first;     /**< shape [n_nodes + 1]: links that leave node v are out_link[out_first[v] ... ) */
    uint32_t *out_link;      /**< shape [n_links], by port number within a node */
    uint32_t *switch_pod;    /**< shape [n_switches]: pod, or FAB_NONE above the pods */
    uint16_t *switch_rail;   /**< shape [n_switches]: rail, or UINT16_MAX when it serves several */
    uint16_t *switch_plane;  /**< shape [n_switches] */
    uint16_t *switch_radix;  /**< shape [n_switches]: physical ports, used or not */
    uint16_t *switch_ports;  /**< shape [n_switches]: highest port number; above the radix where ports break out */
    struct fab_names *names; /**< of what is installed (fab/names.h); NULL: all by formula */
} fab_fabric;

void fab_fabric_free(fab_fabric *fabric);
FAB_OWNER(fab_fabric, fab_fabric_free)

/* --- look-ups, all O(1) ------------------------------------------------------------------------------------------ */

static inline uint32_t fab_n_of(const fab_fabric *f, fab_node_kind kind) {
    return f->first[kind + 1] - f->first[kind];
}
static inline uint32_t fab_n_gpus(const fab_fabric *f) {
    return fab_n_of(f, FAB_NODE_GPU);
}
static inline uint32_t fab_n_switches(const fab_fabric *f) {
    return fab_n_of(f, FAB_NODE_SWITCH);
}
static inline fab_node_kind fab_kind_of(const fab_fabric *f, fab_node_id v) {
    return v < f->first[FAB_NODE_NIC]      ? FAB_NODE_GPU
           : v < f->first[FAB_NODE_DOMAIN] ? FAB_NODE_NIC
           : v < f->first[FAB_NODE_SWITCH] ? FAB_NODE_DOMAIN
                                           : FAB_NODE_SWITCH;
}
static inline fab_node_id fab_tail(const fab_fabric *f, fab_link_id l) {
    return f->end[l];
}
static inline fab_node_id fab_head(const fab_fabric *f, fab_link_id l) {
    return f->end[l ^ 1U];
}
static inline const fab_link_class *fab_class_of(const fab_fabric *f, fab_link_id l) {
    return &f->classes[f->cable_class[l >> 1]];
}
/** `FAB_EACH_LINK(f, v, link) { ... }`: each link that leaves node v. */
#define FAB_EACH_LINK(f, v, link)                                                                                      \
    for (uint32_t link##_at = (f)->out_first[v], link = FAB_NONE;                                                      \
         link##_at < (f)->out_first[(v) + 1] && (link = (f)->out_link[link##_at], true); link##_at++)
/** A cable of the network, not a link inside a server. */
static inline bool fab_is_network(const fab_link_class *k) {
    return k->kind == FAB_LINK_ACCESS || k->kind == FAB_LINK_FABRIC;
}
/** Something of steps and messages counts. */
static inline bool fab_has_software(const fab_fabric *f) {
    return f->host.call_s > 0 || f->host.step_s > 0 || f->host.message_s > 0 || f->host.slot_s > 0;
}
static inline bool fab_has_host(const fab_fabric *f) {
    return fab_has_software(f) || f->host.nic_s > 0 || f->host.nic_part < 1;
}
/** Every cable leads from one tier to the next, so that up and down mean something. */
static inline bool fab_is_tree(const fab_fabric *f) {
    return f->wiring == FAB_WIRING_TREE;
}
/** Link leaves its lower end (towards the spines); between switches without an order just its first end. */
static inline bool fab_is_up(fab_link_id l) {
    return (l & 1U) == 0;
}
static inline uint32_t fab_server_of(const fab_fabric *f, uint32_t gpu) {
    return gpu / f->gpus_per_server;
}
static inline uint32_t fab_server_of_nic(const fab_fabric *f, fab_node_id nic) {
    return (nic - f->first[FAB_NODE_NIC]) / f->nics_per_server;
}
static inline fab_node_id fab_nic_of_server(const fab_fabric *f, uint32_t server) {
    return f->first[FAB_NODE_NIC] + server * f->nics_per_server;
}
static inline uint32_t fab_domain_of(const fab_fabric *f, uint32_t gpu) {
    return gpu / f->gpus_per_domain;
}
/** Servers that have all their cables: the first ones. */
static inline uint32_t fab_n_complete_servers(const fab_fabric *f) {
    return f->n_servers - f->n_cut_servers;
}

/** Most links of a switch. O(switches). */
uint32_t fab_switch_degree(const fab_fabric *f);

/** Tier of a switch, 1 = leaf. */
uint32_t fab_tier_of(const fab_fabric *f, fab_node_id v);

/** NICs that a GPU reaches over PCIe; GPU g has the NICs [*first, *first + return). */
uint32_t fab_nics_of_gpu(const fab_fabric *f, uint32_t gpu, uint32_t *first);

/** The k-th, from 0, of the links to switches of n NICs from `nic` on; FAB_NONE behind the last. */
fab_link_id fab_access_link(const fab_fabric *f, fab_node_id nic, uint32_t n, uint32_t k);

/** "gpu-17", "nic-3", "domain-2", "leaf-5", "spine-8", "core-0", "tier4-2", "switch-9"; or what is installed under that
 * name. `out` holds FAB_NODE_NAME_SIZE bytes. Returns out. */
const char *fab_node_name(const fab_fabric *f, fab_node_id v, char *out);

/** "leaf-5:17 > spine-8:3" (node:port at either end). `out` holds FAB_LINK_NAME_SIZE bytes. Returns out. */
const char *fab_link_name(const fab_fabric *f, fab_link_id l, char *out);

/** Port at the tail of a link: its number, or what is installed under that name. `out` holds FAB_PORT_NAME_SIZE bytes.
 * Returns out. */
const char *fab_port_name(const fab_fabric *f, fab_link_id l, char *out);

/** "server-4", or the host's name. `out` holds FAB_NODE_NAME_SIZE bytes. Returns out. */
const char *fab_server_name(const fab_fabric *f, uint32_t server, char *out);

/* The same as expressions; the text lasts until the end of the block. */
#define FAB_SAY_NODE(f, v)        fab_node_name((f), (v), (char[FAB_NODE_NAME_SIZE]){""})
#define FAB_SAY_LINK(f, l)        fab_link_name((f), (l), (char[FAB_LINK_NAME_SIZE]){""})
#define FAB_SAY_PORT(f, l)        fab_port_name((f), (l), (char[FAB_PORT_NAME_SIZE]){""})
#define FAB_SAY_SERVER(f, server) fab_server_name((f), (server), (char[FAB_NODE_NAME_SIZE]){""})

/** "leaf", "spine", "core", "tier4"; "switch" where the wiring is no tree. */
const char *fab_tier_name(fab_wiring wiring, uint32_t tier);

/** "nic-leaf", "leaf-spine", "spine-core", "core-tier4": cables below switch tier `boundary` of a tree. Else
 * "nic-switch", then "local" and "global" of a dragonfly, "torus" of a torus, "switch-switch" of a graph. */
const char *fab_boundary_name(fab_wiring wiring, uint32_t boundary);

/** "tree", "dragonfly", "torus", "graph". */
const char *fab_wiring_name(fab_wiring wiring);

/** "up" or "down"; "forward" (from the first end of the cable) or "reverse" between switches that have no order. */
const char *fab_direction_name(fab_wiring wiring, uint32_t boundary, bool up);
