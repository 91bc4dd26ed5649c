/** Time to first token and time per token of a serving job: kernels on a roofline, and its phases under an engine. */
#pragma once

#include "fab/traffic.h"

typedef struct fab_result fab_result;

#define FAB_SERVING_HIGH 0.95 /**< load above which a queue has not settled when the simulated window ends */

/** A serving job under an engine: first without a queue, where nobody waits for anybody's prompt but those of the same
 * batch; then with requests that arrive at random (serving_queue.h). */
typedef struct fab_serving {
    char engine[FAB_NAME_SIZE];
    double first_token_s;         /**< a microbatch of prompts through all stages */
    double first_token_network_s; /**< of that, exchanges and hops */
    double token_s;               /**< one more token of all sequences of a replica */
    double token_network_s;       /**< of that */
    double
        weights_s;  /**< of token_s: reading the weights of a GPU, over all stages, as wide as they are computed with */
    double cache_s; /**< of token_s: reading keys and values */
    double batch_s; /**< all prompts read, all tokens generated */
    double tokens_per_s; /**< generated, of the whole job */
    double requests_per_s;
    double usd_per_1e6_tokens; /**< GPU hours, and capital and energy of the job's share of the network */
    double all_reduce_s;       /**< one tensor-parallel all-reduce of a pass that generates tokens; 0: there is none */
    double kv_transfer_s; /**< keys and values of a microbatch from the pool that reads to the one that generates */
    double most_requests_per_s; /**< that do not make the queue grow without end */
    double arrivals_per_s;      /**< what the next six are for: request-rate, or a part of the most; 0: above it */
    double load_ratio; /**< of the most; above FAB_SERVING_HIGH the next are of the window alone, and grow with it */
    double window_s;   /**< in which the requests that are simulated arrive */
    double first_token_p50_s, first_token_p99_s;
    double token_p50_s, token_p99_s; /**< of the mean time between the tokens of a request */
} fab_serving;

/** A batch of a ranking job under an engine. */
typedef struct fab_ranking_batch {
    char engine[FAB_NAME_SIZE];
    double batch_s;     /**< the sum of the next four */
    double lookup_s;    /**< rows are read, and written with what the optimizer keeps of them */
    double dense_s;     /**< matrix products, forward and backward, and the step of the optimizer */
    double exchange_s;  /**< vectors and their gradients */
    double reduction_s; /**< of dense gradients: what dp-overlap does not hide */
    double samples_per_s;
    double usd_per_1e6_samples; /**< as that of serving */
} fab_ranking_batch;

/**
 * Fills result->serving, one per engine, where `text` asks for a whole serving job whose phases have times; with
 * result->iteration_note where its model cannot be timed. Other traffic is left alone.
 *
 * B sequences on d replicas in m microbatches, q tokens of a prompt and g generated, p stages with L layers in all, M
 * of them on the fullest:
 *
 *     first token = L (layer of a microbatch's prompts) + L/M exchanges + head + (p-1) hops
 *     token       = L (layer of B/d tokens + their keys and values at q + g/2 tokens) + L/M exchanges + head
 *                   + (p-1) hops
 *     batch       = first token + (m-1) (fullest stage) + g tokens
 *
 * Layers are those of fab_layer_time(), forward only: matrix products by the larger of FLOPs and bytes of weights.
 * Phases take their bytes over the delivered part of the link rate, as in fab_iteration_time(), and their latencies.
 * The sequences of a replica go through its stages together: more stages save memory, not time.
 *
 * Of a ranking job it fills result->ranking. B/n samples of a GPU, L looked-up columns of a sample, P dense parameters:
 *
 *     lookup  = 3 x 4 bytes x B/n L x (most of a GPU over the mean) / memory bandwidth: read, then read and written
 *     dense   = 3 x products of B/n x P as square layers of 1,024 (an assumption) + optimizer
 *     batch   = lookup + dense + exchange + (1 - dp-overlap) reduction
 */
FAB_STATUS fab_serve(const fab_traffic *traffic, fab_result *result, const char *text, fab_error *err);

/**
 * The same of a serving job whose transfers take as long as is given, without a queue.
 * @param[in] transfer_s  Shape [n_phases].
 */
void fab_serve_with(const fab_traffic *traffic, const fab_result *result, size_t engine, const double *transfer_s,
                    fab_serving *out);

/** Replicas of a serving job that are left. */
typedef struct fab_serving_left {
    uint64_t readers, generators; /**< that read prompts, 0 where there are no pools; that generate */
    double arrivals_per_s;
    const double *slower; /**< shape [n_phases]: by how much phases take longer than those of the result */
} fab_serving_left;

/**
 * What requests wait for on the replicas that are left. Passes of a replica, of as many sequences as before, take what
 * they took but for exchanges.
 * @param[out] out  The most, arrivals (0: not below it) and waits; the rest is 0.
 */
FAB_STATUS fab_serve_left(const fab_traffic *traffic, const fab_result *result, size_t engine,
                          const fab_serving_left *left, fab_serving *out, fab_error *err);
