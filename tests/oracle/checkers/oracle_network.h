/**
 * @file oracle_network.h
 * The network again, slowly: adjacency by scanning the cable list, distances by plain breadth-first search, hashes bit
 * by bit, splitting by recursion. Shares no code with routing/ or src/analysis.
 */
#pragma once

#include "fab/fabric.h"
#include "fab/traffic.h"

/** Distance of every switch to switch node `leaf` in cables, -1 where there is no path. Shape [n_switches], malloc'd.
 */
int *oracle_distances(const fab_fabric *f, fab_node_id leaf);

/** The same without the links whose byte is set. `is_dead`: shape [n_links], or NULL. */
int *oracle_distances_alive(const fab_fabric *f, const uint8_t *is_dead, fab_node_id leaf);

/** Links from v to switches one nearer, by port number. Returns how many were written to out (at least 4096 wide). */
uint32_t oracle_next_hops(const fab_fabric *f, const int *distance, fab_node_id v, fab_link_id *out);
uint32_t oracle_next_hops_alive(const fab_fabric *f, const uint8_t *is_dead, const int *distance, fab_node_id v,
                                fab_link_id *out);

/** Link from a NIC to its leaf. */
fab_link_id oracle_access_link(const fab_fabric *f, uint32_t nic);

/** NIC that a flow leaves through. One NIC per GPU in all oracle cases; rail-only relays to the GPU of the
 * destination's rail. */
uint32_t oracle_sending_nic(const fab_fabric *f, uint32_t src, uint32_t dst);

/** What the switches of a tier hash. */
typedef struct oracle_tier {
    enum { ORACLE_CRC32, ORACLE_CRC32C, ORACLE_CRC32K, ORACLE_CRC16, ORACLE_XOR } hash;
    const char *fields; /**< of s, d (addresses), p (protocol), S, D (ports), q (destination queue pair) */
    uint32_t seed, offset;
} oracle_tier;

/** How a switch chooses among `count` next hops. */
typedef struct oracle_choice {
    enum { ORACLE_ECMP, ORACLE_DMODK, ORACLE_PINNED } kind;
    uint64_t seed;
    uint32_t queue_pairs;
    uint32_t slices;     /**< of ORACLE_PINNED */
    oracle_tier tier[4]; /**< leaf first; the last holds for all above */
} oracle_choice;

/** Bytes on every directed fabric and access link when flows are walked one by one. Shape [n_links], malloc'd. */
double *oracle_load(const fab_fabric *f, const fab_phase *phase, const oracle_choice *choice);

/** A value per switch for oracle_climbs(), malloc'd. Connected fabrics only, unless they are trees. */
int *oracle_nearness(const fab_fabric *f);

/** Whether link l leads towards the roots: in a tree upwards; else nearer to the switch with the most cables to others
 * (the first of these), or between equally near ones towards the first. */
int oracle_climbs(const fab_fabric *f, const int *nearness, fab_link_id l);

/** Cables of the shortest route from every switch to `leaf` that never climbs after it descended, -1 where there is
 * none. `turns`: only routes that turn at the first switch from which a descent leads there. Malloc'd. */
int *oracle_updn_distances(const fab_fabric *f, const int *nearness, fab_node_id leaf, int turns);

/** The same as oracle_load() when every switch splits evenly. */
double *oracle_spray(const fab_fabric *f, const fab_phase *phase);
