/**
 * @file ranks.h
 * Where the ranks of a job run, and which of them are late: what logs of NCCL and dumps of PyTorch's flight recorder
 * say.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** A rank that others wait for in a collective. */
typedef struct fab_stuck_rank {
    uint32_t rank;
    uint32_t waiting, members; /**< ranks that have entered it, of those of the process group */
    uint64_t sequence;         /**< number of the collective in its group */
    char collective[64], group[64];
} fab_stuck_rank;

typedef struct fab_ranks {
    uint32_t n;       /**< 0: nothing is known */
    uint32_t *gpu;    /**< shape [n] */
    uint32_t *of_gpu; /**< shape [n_gpus]: rank; FAB_NONE */
    bool is_assumed;  /**< nobody says where ranks run: rank r is taken to be on GPU r */
    uint32_t n_dumps; /**< flight recorders; 0: the next are NULL or 0 */
    /** Shape [n]: what others of its process groups wait for this rank to enter a collective, over the time that its
     * recorder spans; in groups within its server, and in groups of several servers. NAN: not known. */
    double *inside_ratio, *across_ratio;
    double *late_s; /**< shape [n]: the same of one collective, in the group where it is most; NAN */
    fab_stuck_rank *stuck;
    uint32_t n_stuck;
} fab_ranks;
