/** The best and the worst placement of a job or a pattern, by search over lists of servers. */
#pragma once

#include "fab/sweep_run.h"

#define FAB_PLACE_BUDGET     400   /**< placements evaluated under an engine, fewer where one takes long */
#define FAB_PLACE_MAX_BUDGET 10000 /**< most that may be asked for */

/**
 * Searches under every engine of the design for the servers, and their order, with the least and with the most time.
 * Where no more placements differ than the budget allows, all are evaluated, and the outcome is proven; else the
 * listed order, the named placements and others at random are improved by exchanging servers. See
 * src/doc/adr/0078-placements.md.
 * @param[in]     request  As of fab_sweep_run(), whose first path is job.placement.
 * @param[in]     budget   At most FAB_PLACE_MAX_BUDGET; 0: FAB_PLACE_BUDGET, or fewer where one takes long.
 * @param[in,out] sweep    Gets `searches`, one per engine. Traffic that has no servers to move gets none but a note.
 * Complexity: engines x (budget + 3) replays. The same for any number of threads, and on any machine.
 */
FAB_STATUS fab_place_run(const fab_sweep_request *request, uint64_t budget, fab_sweep *sweep, fab_error *err);

/**
 * What the job of a design that is placed otherwise takes with placement=order under an engine, as a run of the design
 * with that key does: by its own plan, where that is open.
 * @param[in]  traffic  NULL: all of the job.
 * @param[out] out_s    0: it has no time or is refused; the design has not one job, it is in order already, the traffic
 *                      is another, or its packets are followed, which takes minutes.
 * Complexity: that of a run of the design under one engine.
 */
typedef fab_status fab_place_ordered(const fab_design *design, size_t engine, const char *traffic, uint64_t seed,
                                     uint64_t n_seeds, size_t n_threads, double *out_s, fab_error *err);
fab_place_ordered fab_place_in_order;
