/** The ways in which a job runs fastest on a fabric, and the proof of it, as plain structs for the reports. */
#pragma once

#include "fab/iteration.h"
#include "fab/job_space.h"
#include "fab/routing.h"

/** Of unlike sizes, the fastest, that are judged with failures where these are asked for. */
#define FAB_PLANS_FAILING 8

/** A plan that was evaluated: what a run of the design with these keys gives. */
typedef struct fab_planned {
    fab_job_plan plan;
    fab_iteration iteration; /**< under the first seed */
    double memory_bytes;     /**< on a GPU of the fullest stage */
    double slower_ratio;     /**< time over that of the first, less 1; of means where both have one */
    fab_stat draws_s;        /**< its time over `draws` seeds; mean 0: not known */
    fab_parts seeds;         /**< of that */
} fab_planned;

/** The time that a plan is judged by. */
static inline double fab_planned_s(const fab_planned *planned) {
    return planned->draws_s.mean > 0 ? planned->draws_s.mean : planned->iteration.time_s;
}

/** A plan with which a job whose sizes somebody gave is faster by more than a twentieth. */
typedef struct fab_better {
    double time_s;  /**< 0: none was found */
    uint64_t draws; /**< seeds that this is the mean of; 0: one, or nothing is drawn */
    char keys[256]; /**< of the job */
} fab_better;

/** Where the number of GPUs, or the batch that it gets, divides badly: on so many of the servers, or on all with
 * another batch, the job is faster. */
typedef struct fab_fewer {
    uint32_t servers; /**< 0: it is not */
    uint64_t gpus, batch;
    double gain;       /**< tokens per second there, over those of the best plan on all */
    uint64_t draws;    /**< seeds that both are means over; 0: of the first */
    fab_job_plan plan; /**< there */
    bool names_batch;  /**< the batch was given, and is another there */
    char job[320];     /**< what is of them, as --job takes it: "n-servers=42,tp=2,..." */
    char advice[480];  /**< "leave GPUs idle: on 336 of 344 the job does x1.14 the tokens: --job n-servers=42,..." */
} fab_fewer;

/**
 * What the search found. Every plan of the space is either evaluated, or does not fit, or has a lower bound of its time
 * that is not below the time of the best (where the search went to its end): n_plans = n_evaluated + n_unfit +
 * n_bounded + n_untimed.
 */
typedef struct fab_plans {
    char model[FAB_NAME_SIZE], gpu[FAB_NAME_SIZE];
    char engine[FAB_ENGINE_LABEL_SIZE];
    char sold_unlike[FAB_SOLD_SIZE]; /**< fab_gpu_sold_unlike(), or empty */
    uint64_t gpus, batch, seq;
    bool batch_given;
    uint64_t batch_unrounded; /**< the model's, which the GPUs or sizes do not divide; else 0 */
    double capacity_bytes;    /**< of a GPU */
    double room_bytes;        /**< that a plan may take of it */
    bool is_proven;           /**< the search went to its end */
    uint64_t draws;           /**< seeds that the first plans were evaluated under; 0: the first alone, as all others */
    bool is_drawn;            /**< the engine draws paths */
    fab_planned *plans;       /**< the fastest for its sizes each, fastest first: before others those with means */
    size_t n_plans_listed;
    uint64_t n_unlisted; /**< sizes that may have a place there: only a simulation of too many paths tells their time */
    double unlisted_s;   /**< which is no less than this, under the first seed */
    fab_planned *front;  /**< fastest within less and less memory, each with at most seven tenths of the one before */
    size_t n_front;
    fab_planned *tight; /**< faster than all by more than FAB_VERDICT_LITTLE, in memory that is to stay free */
    size_t n_tight;     /**< 1, or 0: none */
    fab_fewer fewer;
    char order[FAB_NAME_SIZE]; /**< of the dimensions, where another than the usual one is faster; else empty */
    double usual_order_s;      /**< time of the best plan in the usual order; meaningful with n_orders */
    uint64_t n_orders;         /**< searched besides that of the list: all are in the counts below */
    uint64_t n_sizes, n_plans, n_evaluated, n_unfit, n_bounded, n_untimed;
    uint64_t n_networks;    /**< plans whose phases were routed, for a bound or for their time; again for each draw */
    char untimed_note[256]; /**< why a plan could not be timed; empty: all could */
    double lower_bound_s;   /**< under the first seed no plan that was not evaluated takes less; at least the least time
                               of the list */
} fab_plans;

/** Whether `plan` searches all orders of the ranks: where the paths of many GPUs are drawn it searches two, as others.
 */
static inline bool fab_plan_has_all_orders(const fab_plans *plans) {
    return !plans->is_drawn || plans->gpus <= 4096;
}

void fab_plans_free(fab_plans *plans);
FAB_OWNER(fab_plans, fab_plans_free)
