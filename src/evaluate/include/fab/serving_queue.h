/** Requests that arrive at random and wait for each other: continuous batching as a simulation of single requests. */
#pragma once

#include "fab/base.h"

/**
 * Replicas that read prompts and generate tokens, or two pools of them. Between two passes a replica takes what waits,
 * first come, first served: at most `prompts` of them while it has slots; reading goes before generating. A token of
 * all its sequences is one pass. Sequences are equally long.
 */
typedef struct fab_serving_queue {
    double arrivals_per_s;  /**< Poisson, at all replicas together; each request goes to the next in turn */
    uint32_t replicas;      /**< that generate tokens */
    uint32_t readers;       /**< that read prompts; 0: the replicas do, themselves */
    uint32_t slots;         /**< sequences of a replica that are under way */
    uint32_t prompts;       /**< read together at most */
    uint64_t tokens;        /**< of a sequence; the first comes with its prompt */
    const double *prompt_s; /**< shape [prompts + 1]: reading so many together */
    const double *token_s;  /**< shape [slots + 1]: a pass over so many sequences */
    double transfer_s;      /**< of keys and values from a reader to a replica */
    uint64_t seed;
    uint32_t requests; /**< that are simulated; the first fifth is not counted */
} fab_serving_queue;

typedef struct fab_serving_waits {
    double first_token_s[2]; /**< median and 99th percentile: from arrival to the first token */
    double token_s[2];       /**< the same of a request's mean time between tokens */
    double mean_first_s, mean_token_s;
    double window_s; /**< until the last of the requests came */
} fab_serving_waits;

/** Requests per second beyond which the queue grows without end. */
double fab_serving_most(const fab_serving_queue *queue);

/**
 * The same for the same seed. FAB_EINPUT where arrivals are not below fab_serving_most().
 * Complexity: O(requests x (log requests + readers)).
 */
FAB_STATUS fab_serving_wait(const fab_serving_queue *queue, fab_serving_waits *out, fab_error *err);
