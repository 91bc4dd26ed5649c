/**
 * @file serving.h
 * Time to first token and time per token of a serving job: kernels on a roofline, and its phases under an engine.
 */
#pragma once

#include "fab/sizes.h"
#include "fab/status.h"
#include "fab/traffic.h"

typedef struct fab_result fab_result;

/** A serving job under an engine, without a queue: nobody waits for anybody's prompt but those of the same batch. */
typedef struct fab_serving {
    char engine[FAB_NAME_SIZE];
    double first_token_s;         /**< a microbatch of prompts through all stages */
    double first_token_network_s; /**< of that, exchanges and hops */
    double token_s;               /**< one more token of all sequences of a replica */
    double token_network_s;       /**< of that */
    double weights_s;             /**< of token_s: what reading the weights of a GPU takes at least, over all stages */
    double cache_s;               /**< of token_s: reading keys and values */
    double batch_s;               /**< all prompts read, all tokens generated */
    double tokens_per_s;          /**< generated, of the whole job */
    double requests_per_s;
    double usd_per_1e6_tokens; /**< GPU hours, and capital and energy of the job's share of the network */
} fab_serving;

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
 */
fab_status fab_serve(const fab_traffic *traffic, fab_result *result, const char *text, fab_error *err) FAB_MUST_USE;
