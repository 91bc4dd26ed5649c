/**
 * Fabrics that serve several kinds of job: training, a ranking model whose embeddings are exchanged all to all, and
 * serving.
 */
#pragma once

#include "fab/sweep.h"

#define FAB_MIX_JOBS 3 /**< kinds of job, as fab_job_kind has them */

/** A fabric that loses no more of any job serves all of them: it is fungible. */
#define FAB_MIX_SERVES 1.05

/** A design under an engine. Of the jobs of the mix, in their order. */
typedef struct fab_mix_engine {
    bool has_time;                 /**< of all jobs */
    double slowdown[FAB_MIX_JOBS]; /**< of each job over the fastest design for it, same engine */
    double rate[FAB_MIX_JOBS];     /**< tokens, samples, tokens generated per second */
    double per_usd[FAB_MIX_JOBS];  /**< the same per dollar of ownership of the job's part; 0: not known */
    bool is_least[FAB_MIX_JOBS];   /**< no design has more of it per dollar */
    double speed;                  /**< geometric mean of 1 / slowdown, weighted by the shares */
    double speed_per_usd;          /**< the same over the cost of ownership, or of the network; 1: the best */
    bool serves_all;               /**< no job takes more than FAB_MIX_SERVES times what it takes on its fastest, and
                                        requests are below the most that can be served */
    bool is_overloaded;            /**< more requests come than can be served */
    bool is_best;                  /**< most speed per dollar */
} fab_mix_engine;

typedef struct fab_mix_design {
    char name[512];
    fab_sweep_point job[FAB_MIX_JOBS]; /**< no values */
    size_t n_jobs;                     /**< of the mix */
    fab_mix_engine *engines;           /**< shape [n_engines]; NULL where not all jobs could be replayed */
    size_t n_engines;
} fab_mix_design;

typedef struct fab_mix {
    size_t n_jobs;
    fab_job_kind kind[FAB_MIX_JOBS]; /**< training first */
    double share[FAB_MIX_JOBS];      /**< of the time, sum 1 */
    fab_mix_design *designs;
    size_t n_designs, n_compared;
    bool by_ownership;   /**< every design's cost of ownership is known, and speed is over it; else over its network */
    size_t n_over_limit; /**< runs of a job that were not made for want of memory */
} fab_mix;

/** By fab_job_kind: the kind, what it does, and how many of that are told the price of. */
typedef struct fab_mix_unit {
    const char *job, *unit, *many;
    double n;
} fab_mix_unit;
extern const fab_mix_unit fab_mix_units[FAB_MIX_JOBS];
