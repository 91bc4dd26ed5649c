/**
 * What the tables of a context take, estimated from counts before it is allocated. Estimates lie above what is taken,
 * by no more than its double where that is above 50 MB; tests/cli/estimates.py measures it.
 */
#pragma once

#include "fab/context.h"

/** Counts of a fabric that estimates are made of. */
typedef struct fab_replay_sizes {
    const fab_fabric *fabric;
    double n_links, n_switches, n_leaves;
    double widest_leaf; /**< most NICs on a switch */
    double turn_words;  /**< 64-bit words of a bit for every two cables of a switch */
} fab_replay_sizes;

/** Complexity: O(links). */
void fab_replay_sizes_of(const fab_fabric *fabric, fab_replay_sizes *out);

/** Of the graph, of next-hop tables, and of shortest-path DAGs. */
double fab_graph_bytes(const fab_replay_sizes *sizes);
double fab_next_hops_bytes(const fab_replay_sizes *sizes);
double fab_dags_bytes(const fab_replay_sizes *sizes);

/** Of the engines of a context. */
double fab_routers_bytes(const fab_context_request *what, const fab_replay_sizes *sizes);

/**
 * Refuses what a context would take.
 * @param[in] more  Ends the sentence: " with the tables of the engines".
 * @retval FAB_EUNSUPPORTED  more than design->fabric.max_bytes
 */
FAB_STATUS fab_context_check(const fab_context_request *what, double bytes, const char *more, fab_error *err);
