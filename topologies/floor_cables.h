/**
 * @file floor_cables.h
 * Lengths of a floor plan, put into a fabric that has not been handed out yet.
 */
#ifndef FAB_FLOOR_CABLES_H
#define FAB_FLOOR_CABLES_H

#include "fab/floor_plan.h"
#include "fab/topologies.h"

/**
 * Gives every network cable the length between the racks of its ends, and the latency that goes with it.
 * @retval FAB_EINPUT  a cable longer than any that is made, or more kinds of cable than FAB_MAX_CABLE_KINDS.
 * Complexity: O(cables).
 */
fab_status fab_floor_apply(const fab_fabric_spec *spec, const fab_floor *floor, fab_fabric *fabric,
                           fab_error *err) FAB_MUST_USE;

/** Racks and lengths for the report. O(cables). */
fab_status fab_floor_count(const fab_fabric_spec *spec, const fab_floor *floor, const fab_fabric *fabric,
                           fab_floor_counts *out, fab_error *err) FAB_MUST_USE;

#endif
