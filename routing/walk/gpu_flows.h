/**
 * @file gpu_flows.h
 * Which flows of a phase begin or end at a GPU.
 */
#ifndef FAB_GPU_FLOWS_H
#define FAB_GPU_FLOWS_H

#include "fab/traffic.h"

typedef struct fab_gpu_flows {
    size_t *first;  /**< shape [n_gpus + 1]: flows of GPU g are flow[first[g] ... ), ascending */
    uint32_t *flow; /**< shape [2 * n_flows] */
} fab_gpu_flows;

/** @param[in] phase  Of fewer than 2^32 flows. Complexity: O(flows + GPUs). */
fab_status fab_gpu_flows_init(const fab_phase *phase, uint32_t n_gpus, fab_gpu_flows *out, fab_error *err) FAB_MUST_USE;
void fab_gpu_flows_release(fab_gpu_flows *flows);

#endif
