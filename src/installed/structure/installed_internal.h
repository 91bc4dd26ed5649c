/** The parts of making servers and tiers of an installed network, in the order in which they run. */
#pragma once

#include "fab/installed.h"

/** What becomes of a host. */
typedef enum host_class { HOST_COMPLETE, HOST_INCOMPLETE, HOST_EXCLUDED } host_class;

/** A NIC: an adapter, or a port of one. */
typedef struct nic_unit {
    uint32_t node, slot; /**< slot: as the name says; FAB_NETWORK_NONE */
    uint32_t side[FAB_INSTALLED_PLANES];
    uint32_t n_sides;
} nic_unit;

typedef struct host {
    const char *name; /**< NULL: an adapter that no host is known of */
    host_class class;
    uint32_t first, n; /**< units */
    uint32_t node;     /**< first of them, for an order that is always the same */
    uint32_t group;    /**< of the file; FAB_NETWORK_NONE */
    uint32_t rank;     /**< that the file gives; FAB_NETWORK_NONE */
} host;

typedef struct making {
    fab_structure *out;
    const fab_structure_options *options;
    const fab_network *net;
    uint32_t *network; /**< [node]: part that cables between switches make, by its least node; of switches */
    uint32_t *set; /**< [node]: least node of the set that it was joined to, adapters of a host or switches of a pod */
    host *hosts;
    nic_unit *units;
    uint32_t n_hosts, n_units;
    size_t host_capacity, unit_capacity;
    uint32_t *nics;  /**< [node]: NICs of servers that are plugged in there */
    uint32_t *tier;  /**< [node]: of switches that servers reach; 0: not reached */
    uint32_t *plane; /**< [node]: of a switch */
} making;

/** Sets of adapters that are one host: m->hosts with their units. */
FAB_STATUS installed_find_hosts(making *m, fab_error *err);

/** Planes: ports of adapters that lead to networks of their own. */
FAB_STATUS installed_find_planes(making *m, fab_error *err);

/** How many NICs a server has, which hosts are servers, and which NIC stands where: out->server_name, nic_node, ... */
FAB_STATUS installed_place_nics(making *m, fab_error *err);

/** Networks of switches (m->network), before anything is known of servers. */
FAB_STATUS installed_find_networks(making *m, fab_error *err);

/** Tiers, order, planes and pods of switches, and the cables between them. */
FAB_STATUS installed_find_switches(making *m, fab_error *err);

/** Switch at the far end of a cable end, FAB_NETWORK_NONE where that is none. */
uint32_t installed_switch_behind(const fab_network *net, uint32_t side);

/** Cables of a node that lead to switches. */
uint32_t installed_count_cables(const making *m, uint32_t v);

/** By name, numbers by their value, then by node. */
int installed_compare(const fab_network *net, uint32_t a, uint32_t b);

void installed_leave(fab_structure *out, fab_exclusion kind, const char *name);
