/**
 * Collective operations: which algorithms there are, what they send, and who waits for whom [Thakur, Rabenseifner,
 * Gropp, 2005; NCCL; nccl-tests]. See src/doc/adr/0024-collectives.md.
 *
 * S is the size that nccl-tests count: what every rank ends with in an all-gather, starts with in a reduce-scatter,
 * sends and receives in an all-to-all (its own part included), and holds in all others.
 */
#pragma once

#include "fab/traffic.h"

typedef enum fab_operation {
    FAB_ALL_REDUCE,
    FAB_ALL_GATHER,
    FAB_REDUCE_SCATTER,
    FAB_ALL_TO_ALL,
    FAB_BROADCAST, /**< from rank 0 */
    FAB_REDUCE,    /**< to rank 0 */
    FAB_N_OPERATIONS
} fab_operation;

/** "all-reduce", ... */
const char *fab_operation_name(fab_operation operation);

/** Bus bandwidth over algorithm bandwidth, as nccl-tests define them: 2(r-1)/r, (r-1)/r or 1. */
double fab_bus_factor(fab_operation operation, uint64_t ranks);

/** One row of the table in collectives.c: a new algorithm is such a row and its rules
 * (src/traffic/collectives/collectives.h). */
typedef struct fab_algorithm {
    const char *name;    /**< "ring", "doubling", "halving-doubling", "tree", "mesh", "hierarchical", "rail-aligned",
                            "in-network", "nvls", ... */
    const char *summary; /**< one line */
    fab_operation operation;
    const struct fab_algorithm_rules *rules;
} fab_algorithm;
extern const fab_algorithm fab_algorithms[]; /**< ended by an entry whose name is NULL */
#define FAB_MAX_ALGORITHMS 12                /**< of one operation */

/** Algorithm of this name for the operation; NULL if there is none. */
const fab_algorithm *fab_algorithm_find(fab_operation operation, const char *name);

/** GPUs that run a collective together. */
typedef struct fab_communicator {
    const uint32_t *members; /**< shape [n]: GPUs in rank order. Borrowed */
    uint32_t n;
    double bytes;      /**< S */
    uint32_t channels; /**< of rings and trees; 0: one per member that a server (or the scale-up domain, where that is
                          larger) holds */
} fab_communicator;

#define FAB_STEP_DOMAIN_S  1e-6 /**< of the cost model, an assumption: a step inside a scale-up domain ... */
#define FAB_STEP_NETWORK_S 5e-6 /**< ... and one over the network */

/**
 * The cost model that `auto` decides by: for phases of one run, the sum over them of
 *
 *     steps x executions x step latency + largest of the bytes over a NIC or a scale-up port / its rate, each direction
 *
 * where the latency is that of a network step if any flow leaves its scale-up domain. No switch, no routing.
 * @param[out] out_s  Seconds.
 * Complexity: O(flows + GPUs); an all-to-all that is not listed O(GPUs).
 */
FAB_STATUS fab_collective_time(const fab_fabric *fabric, const fab_phase *phases, size_t n_phases, double *out_s,
                               fab_error *err);
