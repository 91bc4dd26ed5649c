/**
 * @file oracle_deadlock.h
 * Channel dependencies and cycles again, slowly: a byte for every pair of links, paths by recursion, cycles by
 * depth-first search. Shares no code with routing/ or src/graph.
 */
#pragma once

#include "fab/fabric.h"
#include "fab/routing.h"

#include <stdint.h>

/** A directed graph as a matrix. */
typedef struct oracle_graph {
    uint32_t n;
    uint8_t *edge; /**< shape [n][n] */
} oracle_graph;

oracle_graph oracle_graph_make(uint32_t n);
void oracle_graph_free(oracle_graph *graph);

/** Whether there is a cycle, by depth-first search with three colours. */
int oracle_has_cycle(const oracle_graph *graph);

/** Edges of a shortest way from v back to v, 0 where there is none. */
uint32_t oracle_way_back(const oracle_graph *graph, uint32_t v);

/** Adds the dependencies of routes; a vertex is a link of the fabric. */
void oracle_add_routes(const fab_fabric *f, const fab_routes *routes, oracle_graph *graph);

/** Adds those of every minimal path between two switches around dead links (a byte each, or NULL). */
void oracle_add_minimal(const fab_fabric *f, const uint8_t *dead, fab_node_id from, fab_node_id to,
                        oracle_graph *graph);
