/**
 * @file mix.h
 * Fabrics that serve two kinds of job: a training job, and a ranking model whose embeddings are exchanged all to all.
 */
#pragma once

#include "fab/sweep.h"

#define FAB_MIX_JOBS 2 /**< training, ranking */

/** A design under an engine. */
typedef struct fab_mix_engine {
    bool has_time;                 /**< of both jobs */
    double slowdown[FAB_MIX_JOBS]; /**< of each job over the fastest design for it, same engine */
    double speed;                  /**< geometric mean of 1 / slowdown, weighted by the shares */
    double speed_per_usd;          /**< the same over the cost of ownership, or of the network; 1: the best */
    bool is_best;                  /**< most speed per dollar */
} fab_mix_engine;

typedef struct fab_mix_design {
    char name[512];
    fab_sweep_point job[FAB_MIX_JOBS]; /**< no values */
    fab_mix_engine *engines;           /**< shape [n_engines]; NULL where not both jobs could be replayed */
    size_t n_engines;
} fab_mix_design;

typedef struct fab_mix {
    double share[FAB_MIX_JOBS]; /**< of the time, sum 1 */
    fab_mix_design *designs;
    size_t n_designs, n_compared;
    bool by_ownership;   /**< every design's cost of ownership is known, and speed is over it; else over its network */
    size_t n_over_limit; /**< runs of a job that were not made for want of memory */
} fab_mix;

extern const char *const fab_mix_jobs[FAB_MIX_JOBS]; /**< "training", "ranking" */
