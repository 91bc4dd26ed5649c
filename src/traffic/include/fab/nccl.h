/**
 * The collectives of NCCL in closed form: what each algorithm and protocol takes inside scale-up domains and across a
 * network whose share was replayed, and which of them NCCL chooses. Every algorithm is one pipelined schedule: domain
 * and network carry their bytes at the same time, so that the slower of the two decides. See
 * src/doc/adr/0089-collectives-of-nccl.md.
 */
#pragma once

#include "fab/collective.h"

typedef enum fab_nccl_algorithm {
    FAB_NCCL_RING,
    FAB_NCCL_TREE,      /**< double binary tree between domains, chains inside */
    FAB_NCCL_COLLNET,   /**< switches of the network reduce (SHARP), inside domains those of the domain */
    FAB_NCCL_NVLS,      /**< switches of one domain reduce */
    FAB_NCCL_NVLS_TREE, /**< the same inside domains, double binary tree between them */
    FAB_NCCL_PAT,       /**< parallel aggregated trees: one GPU a domain */
    FAB_NCCL_P2P,       /**< sends and receives of an all-to-all */
    FAB_NCCL_N_ALGORITHMS
} fab_nccl_algorithm;
/** "ring", "tree", "collnet", "nvls", "nvls-tree", "pat", "p2p"; ended by NULL. */
extern const char *const fab_nccl_algorithms[FAB_NCCL_N_ALGORITHMS + 1];

typedef enum fab_nccl_protocol { FAB_NCCL_LL, FAB_NCCL_LL128, FAB_NCCL_SIMPLE, FAB_NCCL_N_PROTOCOLS } fab_nccl_protocol;
/** "LL", "LL128", "Simple". */
extern const char *const fab_nccl_protocols[FAB_NCCL_N_PROTOCOLS];

/** What the network does to an algorithm. */
typedef struct fab_nccl_network {
    double s_per_byte; /**< that its bytes between domains take, over S; 0: no network; NAN: not possible here */
    double path_s;     /**< latency of the longest path */
    /** Of the phase that was replayed: for what hosts add. */
    uint64_t steps, further_messages;
    double message_part; /**< bytes of the largest message over S */
} fab_nccl_network;

/** A communicator. */
typedef struct fab_nccl_case {
    const fab_gpu_library *gpu; /**< its launch_s is above 0. Borrowed */
    fab_operation operation;    /**< all but reduce */
    uint32_t ranks, domains;    /**< equally many in each domain */
    double scale_up_bps;        /**< of a GPU, per direction, nominal */
    double nics_bps;            /**< of the NICs of a GPU together */
    fab_host host;
    fab_nccl_network network[FAB_NCCL_N_ALGORITHMS];
} fab_nccl_case;

/** What the largest part of a time is. */
typedef enum fab_nccl_bound {
    FAB_NCCL_BY_LATENCY,  /**< launch and steps */
    FAB_NCCL_BY_SCALE_UP, /**< links and switches of the domain */
    FAB_NCCL_BY_NETWORK,
    FAB_NCCL_BY_PROTOCOL /**< what LL carries at most */
} fab_nccl_bound;

typedef struct fab_nccl_time {
    double time_s;     /**< the sum of the next three */
    double latency_s;  /**< launch, steps, software of hosts */
    double fill_s;     /**< until the pipeline is full */
    double transfer_s; /**< S over the rate of the slowest part */
    fab_nccl_bound bound;
} fab_nccl_time;

/** Refuses a GPU that nothing was measured of; NULL: not known. */
FAB_STATUS fab_nccl_check_gpu(const fab_gpu_library *gpu, const char *where, fab_error *err);

/** Whether the algorithm is defined for the communicator and the GPU has the protocol. */
bool fab_nccl_is_possible(const fab_nccl_case *c, fab_nccl_algorithm algorithm, fab_nccl_protocol protocol);

/** Channels that the model counts buffers of. */
uint32_t fab_nccl_channels(const fab_nccl_case *c, fab_nccl_algorithm algorithm);

/**
 * Time of a possible combination for `bytes` = S, above 0:
 *
 *     launch + latencies that NCCL publishes, or what hosts add where that is more
 *     + fill_ratio x min(S, buffers) / rate x stages
 *     + S / min(rate inside domains, rate of the network) / part that the protocol gets
 *
 * Source: latencies and parts of protocols: NCCL, src/graph/tuning.cc; rates: fitted, fab_gpu_library.
 */
void fab_nccl_time_of(const fab_nccl_case *c, fab_nccl_algorithm algorithm, fab_nccl_protocol protocol, double bytes,
                      fab_nccl_time *out);

typedef enum fab_nccl_choice {
    FAB_NCCL_AS_NCCL, /**< least expected, with the thresholds that were measured */
    FAB_NCCL_BEST     /**< least time */
} fab_nccl_choice;

/**
 * The combination that is taken for `bytes`.
 * @param[in] only  FAB_NCCL_N_ALGORITHMS: any; else this algorithm, by the protocol that is chosen.
 * @return false: none is possible
 */
bool fab_nccl_choose(const fab_nccl_case *c, fab_nccl_choice how, fab_nccl_algorithm only, double bytes,
                     fab_nccl_algorithm *out_algorithm, fab_nccl_protocol *out_protocol);
