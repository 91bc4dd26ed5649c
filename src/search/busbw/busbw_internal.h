/* What the files of busbw share. */
#pragma once

#include "fab/busbw_run.h"

/* What the network does to an algorithm under an engine. */
typedef struct busbw_network {
    fab_nccl_network network;
    double least_s, most_s; /* as network.s_per_byte, of the fastest and the slowest draw */
    double collision, hash; /* largest collision factor, and what the routing adds */
} busbw_network;

/**
 * Replays what the algorithms of an operation send between domains.
 * @param[in]  ranks   The first GPUs; they fill several domains equally.
 * @param[out] out     Shape [n_engines][FAB_NCCL_N_ALGORITHMS]; s_per_byte is NAN where an algorithm is not possible.
 * @param[out] engines Shape [n_engines]: their labels.
 */
fab_status busbw_replay(const fab_busbw_request *request, uint32_t ranks, busbw_network *out, fab_busbw_engine *engines,
                        fab_error *err) FAB_MUST_USE;
