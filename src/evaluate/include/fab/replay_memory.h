/**
 * @file replay_memory.h
 * What routing a design takes, estimated from counts before it is allocated. Estimates lie above what is taken, by no
 * more than its double where that is above 50 MB; tests/cli/estimates.py measures it.
 */
#ifndef FAB_REPLAY_MEMORY_H
#define FAB_REPLAY_MEMORY_H

#include "fab/replay.h"

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

/** Mean cables of a path from GPU to GPU, or more. */
double fab_path_links(const fab_design *design, const fab_fabric *fabric);

/**
 * The graph and next-hop tables; with shortest-path DAGs; with what the engines keep, and the DAGs or not: checked by a
 * context before it builds them.
 * @retval FAB_EUNSUPPORTED  more than design->fabric.max_bytes
 */
fab_status fab_context_check_next_hops(const fab_context_request *what, const fab_replay_sizes *sizes,
                                       fab_error *err) FAB_MUST_USE;
fab_status fab_context_check_tables(const fab_context_request *what, const fab_replay_sizes *sizes,
                                    fab_error *err) FAB_MUST_USE;
fab_status fab_context_check_routers(const fab_context_request *what, const fab_replay_sizes *sizes, bool has_dags,
                                     fab_error *err) FAB_MUST_USE;

/** All of these with traffic, every thread's paths and rates, and the figures of all seeds. */
fab_status fab_replay_check_paths(const fab_replay *replay, fab_error *err) FAB_MUST_USE;

#endif
