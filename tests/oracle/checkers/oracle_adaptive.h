/**
 * @file oracle_adaptive.h
 * Adaptive routing again, slowly: every minimal path is listed for every choice.
 */
#pragma once

#include "fab/fabric.h"
#include "fab/traffic.h"

#define ORACLE_HOPS 64

typedef struct oracle_adaptive_rule {
    uint64_t seed;
    uint32_t parts; /**< of a flow */
    int downstream;
} oracle_adaptive_rule;

/** Links between switches that a part takes, in their order. */
typedef struct oracle_path {
    fab_link_id up, down; /**< NIC to leaf and leaf to NIC; FAB_NONE inside a domain */
    uint32_t n;
    fab_link_id link[ORACLE_HOPS];
} oracle_path;

/**
 * Paths of all parts, flow by flow; one empty path for a flow inside a scale-up domain. Where a GPU has several NICs
 * or planes none relays for another: part k of a flow goes by NIC k mod NICs in the plane that comes k / NICs after the
 * one that is drawn; where that has no way, by those that have one in turn: the other planes of the NIC, then the next
 * NIC's, the m-th such part by the m-th of them.
 * @param[in] is_dead  Shape [n_links]: links whose byte is set are not used, and every pair stays connected in some
 * plane. NULL: none.
 * @param[in] rate  Shape [n_flows].
 */
oracle_path *oracle_adaptive(const fab_fabric *f, const uint8_t *is_dead, const fab_phase *phase, const double *rate,
                             const oracle_adaptive_rule *rule, uint32_t *out_n);
