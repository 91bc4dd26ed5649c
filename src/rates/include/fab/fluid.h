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
 * @retval FAB_EINPUT  as fab_max_min_solve()
 * Memory: about 24 bytes per flow-link, 130 per flow, 90 per link, of which sets that stay small touch little.
 */
fab_status fab_fluid_new(const fab_sharing *sharing, fab_fluid **out, fab_error *err) FAB_MUST_USE;
void fab_fluid_free(fab_fluid *fluid);

/**
 * Starts a transfer now: of `bits` over route `flow`, which is idle. 0 bits are done at once, at this time, and so are
 * any over a route without a bottleneck, neither link nor limit. A route that starts in the instant in which it ended
 * carries on at its rate: then nothing is solved.
 * @retval FAB_EINPUT  no such flow, bits below 0 or not finite, or the route is not idle
 */
fab_status fab_fluid_start(fab_fluid *fluid, uint32_t flow, double bits, fab_error *err) FAB_MUST_USE;

/** Called when a transfer is done; may start others, also over the same route. What it returns ends the run. */
typedef fab_status fab_fluid_done(void *context, fab_fluid *fluid, uint32_t flow, double now_s, fab_error *err);

/**
 * Runs to `until_s`, where the clock then stands, or until nothing is under way (INFINITY): it stands at the last end.
 * Transfers that end at the same time (relative 1e-12) are delivered in the order of their routes.
 * @param[in]  done       May be NULL.
 * @param[out] out_now_s  Where the clock stands.
 * @retval FAB_EINPUT     until_s is past
 * @retval FAB_EINTERNAL  as fab_max_min_solve()
 * Rates are solved again only for the flows that a change reaches, and all of them where it reaches more than a tenth.
 * After an error the simulation can only be freed. See src/doc/adr/0023-rates.md. Threads: one at a time.
 */
fab_status fab_fluid_run(fab_fluid *fluid, double until_s, fab_fluid_done *done, void *context, double *out_now_s,
                         fab_error *err) FAB_MUST_USE;

/** What the simulation has done so far. */
typedef struct fab_fluid_counts {
    uint64_t completions;
    uint64_t whole_solves, partial_solves; /**< how often all rates were solved, or a part of them */
} fab_fluid_counts;
fab_fluid_counts fab_fluid_count(const fab_fluid *fluid);

/** Bytes that a simulation of this size takes, its solver's among them. */
double fab_fluid_bytes(const fab_sharing_size *size);

/**
 * All flows start at 0 with these bits. Where sizes are in proportion to the weights, rates never change before their
 * flows end, and one solution is all.
 * @param[in]  bits          Shape [n_flows]: finite, not below 0.
 * @param[out] out_finish_s  Shape [n_flows]. Undefined after an error.
 */
fab_status fab_fluid_finish(const fab_sharing *sharing, const double *bits, double *out_finish_s,
                            fab_error *err) FAB_MUST_USE;

#endif
