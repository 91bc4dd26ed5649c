/* What the rules of an algorithm say, worked out in full for tests: closed forms, and every message. */
#pragma once

#include "fab/collective.h"

/**
 * Whether an algorithm is defined for a communicator on this fabric.
 * @retval FAB_EINPUT        err->text says why not, and what to take instead.
 * @retval FAB_EUNSUPPORTED  the fabric lacks what the algorithm needs.
 * Complexity: O(n + scale-up domains).
 */
FAB_STATUS oracle_algorithm_check(const fab_algorithm *algorithm, const fab_fabric *fabric,
                                  const fab_communicator *communicator, fab_error *err);

/**
 * All algorithms of an operation that are defined for a communicator on this fabric, in the order of the table.
 * @param[out] out    Shape [FAB_MAX_ALGORITHMS].
 * @param[out] out_n  How many there are.
 */
FAB_STATUS oracle_collective_candidates(fab_operation operation, const fab_fabric *fabric,
                                        const fab_communicator *communicator, const fab_algorithm **out, size_t *out_n,
                                        fab_error *err);

/** What an algorithm costs in closed form. */
typedef struct oracle_collective_cost {
    uint64_t steps;      /**< that depend on each other */
    double sent_bytes;   /**< by a rank: mean over the ranks */
    double total_bytes;  /**< by all ranks */
    double bus_factor;   /**< fab_bus_factor() */
    uint32_t n_phases;   /**< sets of flows that are in the network one after the other */
    uint32_t n_channels; /**< 1 where the algorithm has none */
} oracle_collective_cost;

/** Closed form, from the number of ranks and how scale-up domains hold them; looks at no message. Errors and
 * complexity: as oracle_algorithm_check(). */
FAB_STATUS oracle_collective_formula(const fab_algorithm *algorithm, const fab_fabric *fabric,
                                     const fab_communicator *communicator, oracle_collective_cost *out, fab_error *err);

/** Messages of a collective, and who waits for whom. */
typedef struct oracle_message_list {
    uint64_t n_messages;  /**< by step; of one pair of GPUs in the order in which they are sent */
    uint32_t *src, *dst;  /**< shape [n_messages]: GPUs */
    double *bytes;        /**< shape [n_messages] */
    uint32_t *step;       /**< shape [n_messages]: from 0 */
    uint32_t *phase;      /**< shape [n_messages]: phase of the run that the message is part of, from 0 */
    uint64_t *next_first; /**< shape [n_messages + 1]: messages that wait for this one are next[next_first[i] ...] */
    uint64_t *next;       /**< shape [next_first[n_messages]] */
} oracle_message_list;

void oracle_message_list_release(oracle_message_list *list);

#define ORACLE_MAX_MESSAGES (UINT64_C(1) << 26)
#define ORACLE_MAX_WAITS    (UINT64_C(1) << 28)

/**
 * A collective message by message. A message waits for the messages that bring its source what it passes on; a rank
 * goes to the next stage of a hierarchical algorithm when the last messages of the stage before have reached it.
 * Messages of an in-network reduction wait for nothing: they stand for the way through the switches (ADR 0024).
 * @param[in]  chunks  Into which rings and trees cut what they pass on in a pipeline (broadcast, reduce, tree); >= 1.
 * @param[out] out     Written on success only; release with oracle_message_list_release().
 * @retval FAB_EUNSUPPORTED  more than ORACLE_MAX_MESSAGES messages or ORACLE_MAX_WAITS waits; and as
 * oracle_algorithm_check(). Complexity: O(m log m + waits) for m messages.
 */
FAB_STATUS oracle_collective_messages(const fab_algorithm *algorithm, const fab_fabric *fabric,
                                      const fab_communicator *communicator, uint32_t chunks, oracle_message_list *out,
                                      fab_error *err);
