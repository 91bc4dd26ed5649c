/**
 * @file collective.h
 * Collective operations: which algorithms there are, what they send, and who waits for whom [Thakur, Rabenseifner,
 * Gropp, 2005; NCCL; nccl-tests]. See src/doc/adr/0024-collectives.md.
 *
 * S is the size that nccl-tests count: what every rank ends with in an all-gather, starts with in a reduce-scatter,
 * sends and receives in an all-to-all (its own part included), and holds in all others.
 */
#ifndef FAB_COLLECTIVE_H
#define FAB_COLLECTIVE_H

#include "fab/fabric.h"
#include "fab/status.h"
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
                            "in-network", ... */
    const char *summary; /**< one line */
    fab_operation operation;
    const struct fab_algorithm_rules *rules;
} fab_algorithm;
extern const fab_algorithm fab_algorithms[]; /**< ended by an entry whose name is NULL */
#define FAB_MAX_ALGORITHMS 8                 /**< of one operation */

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

/**
 * Whether an algorithm is defined for a communicator on this fabric.
 * @retval FAB_EINPUT        err->text says why not, and what to take instead.
 * @retval FAB_EUNSUPPORTED  the fabric lacks what the algorithm needs.
 * Complexity: O(n + scale-up domains).
 */
fab_status fab_algorithm_check(const fab_algorithm *algorithm, const fab_fabric *fabric,
                               const fab_communicator *communicator, fab_error *err) FAB_MUST_USE;

/**
 * All algorithms of an operation that are defined for a communicator on this fabric, in the order of the table.
 * @param[out] out    Shape [FAB_MAX_ALGORITHMS].
 * @param[out] out_n  How many there are.
 */
fab_status fab_collective_candidates(fab_operation operation, const fab_fabric *fabric,
                                     const fab_communicator *communicator, const fab_algorithm **out, size_t *out_n,
                                     fab_error *err) FAB_MUST_USE;

/** What an algorithm costs in closed form. */
typedef struct fab_collective_cost {
    uint64_t steps;      /**< that depend on each other */
    double sent_bytes;   /**< by a rank: mean over the ranks */
    double total_bytes;  /**< by all ranks */
    double bus_factor;   /**< fab_bus_factor() */
    uint32_t n_phases;   /**< sets of flows that are in the network one after the other */
    uint32_t n_channels; /**< 1 where the algorithm has none */
} fab_collective_cost;

/** Closed form, from the number of ranks and how scale-up domains hold them; looks at no message. Errors and
 * complexity: as fab_algorithm_check(). */
fab_status fab_collective_formula(const fab_algorithm *algorithm, const fab_fabric *fabric,
                                  const fab_communicator *communicator, fab_collective_cost *out,
                                  fab_error *err) FAB_MUST_USE;

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
fab_status fab_collective_time(const fab_fabric *fabric, const fab_phase *phases, size_t n_phases, double *out_s,
                               fab_error *err) FAB_MUST_USE;

/** Messages of a collective, and who waits for whom: what fab_schedule (fluid.h) runs. */
typedef struct fab_message_list {
    uint64_t n_messages;  /**< by step; of one pair of GPUs in the order in which they are sent */
    uint32_t *src, *dst;  /**< shape [n_messages]: GPUs */
    double *bytes;        /**< shape [n_messages] */
    uint32_t *step;       /**< shape [n_messages]: from 0 */
    uint32_t *phase;      /**< shape [n_messages]: phase of the run that the message is part of, from 0 */
    uint64_t *next_first; /**< shape [n_messages + 1]: messages that wait for this one are next[next_first[i] ...] */
    uint64_t *next;       /**< shape [next_first[n_messages]] */
} fab_message_list;

void fab_message_list_release(fab_message_list *list);

#define FAB_MAX_MESSAGES (UINT64_C(1) << 26)
#define FAB_MAX_WAITS    (UINT64_C(1) << 28)

/**
 * A collective message by message. A message waits for the messages that bring its source what it passes on; a rank
 * goes to the next stage of a hierarchical algorithm when the last messages of the stage before have reached it.
 * Messages of an in-network reduction wait for nothing: they stand for the way through the switches (ADR 0024).
 * @param[in]  chunks  Into which rings and trees cut what they pass on in a pipeline (broadcast, reduce, tree); >= 1.
 * @param[out] out     Written on success only; release with fab_message_list_release().
 * @retval FAB_EUNSUPPORTED  more than FAB_MAX_MESSAGES messages or FAB_MAX_WAITS waits; and as fab_algorithm_check().
 * Complexity: O(m log m + waits) for m messages.
 */
fab_status fab_collective_schedule(const fab_algorithm *algorithm, const fab_fabric *fabric,
                                   const fab_communicator *communicator, uint32_t chunks, fab_message_list *out,
                                   fab_error *err) FAB_MUST_USE;

#endif
