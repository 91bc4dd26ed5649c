/**
 * @file fluid.h
 * Fluid simulation: transfers that share links max-min fairly at every instant, until they are done.
 */
#ifndef FAB_FLUID_H
#define FAB_FLUID_H

#include "fab/max_min.h"

#include <stdbool.h>

typedef struct fab_fluid fab_fluid;

/**
 * A simulation at time 0 with nothing under way. `sharing` names the routes that transfers may take; each carries at
 * most one transfer at a time. Borrowed, must outlive the simulation.
 */
fab_status fab_fluid_new(const fab_sharing *sharing, fab_fluid **out, fab_error *err) FAB_MUST_USE;
void fab_fluid_free(fab_fluid *fluid);

/** Starts a transfer now: of `bits` over route `flow`, which is idle. 0 bits are done at once, at this time. */
fab_status fab_fluid_start(fab_fluid *fluid, uint32_t flow, double bits, fab_error *err) FAB_MUST_USE;

/** Called when a transfer is done; may start others, also over the same route. */
typedef fab_status fab_fluid_done(void *context, fab_fluid *fluid, uint32_t flow, double now_s, fab_error *err);

/**
 * Runs until nothing is under way, or to `until_s` (INFINITY: to the end). Transfers that end at the same time
 * (relative 1e-12) are handed over in the order of their routes.
 * @param[in]  done       May be NULL.
 * @param[out] out_now_s  Time of the last end, or until_s.
 * Rates are solved again only for the flows that a change reaches, and all of them where it reaches more than a tenth.
 */
fab_status fab_fluid_run(fab_fluid *fluid, double until_s, fab_fluid_done *done, void *context, double *out_now_s,
                         fab_error *err) FAB_MUST_USE;

/** What the simulation has done so far. */
typedef struct fab_fluid_counts {
    uint64_t completions, whole_solves, partial_solves;
} fab_fluid_counts;
fab_fluid_counts fab_fluid_count(const fab_fluid *fluid);

/**
 * All flows start at 0 with these bits.
 * @param[out] out_finish_s  Shape [n_flows].
 */
fab_status fab_fluid_finish(const fab_sharing *sharing, const double *bits, double *out_finish_s,
                            fab_error *err) FAB_MUST_USE;

/** Messages that wait for each other. */
typedef struct fab_schedule {
    uint64_t n_messages;
    const uint32_t *flow;       /**< shape [n_messages]: route of a message */
    const double *bits;         /**< shape [n_messages] */
    const double *latency_s;    /**< shape [n_flows]: from the last bit sent to the message arrived; NULL: 0 */
    const uint64_t *next_first; /**< shape [n_messages + 1]: messages that wait for this one are next[...] */
    const uint64_t *next;
} fab_schedule;

/**
 * Runs a schedule. A message starts when all that it waits for have arrived; messages of one route that are ready at
 * once go one after the other, by number.
 * @param[out] out_arrival_s  Shape [n_messages]; may be NULL.
 * @param[out] out_end_s      When the last one has arrived.
 * @retval FAB_EINPUT  messages wait for each other in a circle; names one.
 */
fab_status fab_schedule_run(const fab_sharing *sharing, const fab_schedule *schedule, double *out_arrival_s,
                            double *out_end_s, fab_error *err) FAB_MUST_USE;

#endif
