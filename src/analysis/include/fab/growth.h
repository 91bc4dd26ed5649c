/**
 * @file growth.h
 * A fabric built in steps: what each step buys, what stays unused, and which cables must be moved.
 */
#pragma once

#include "fab/fabric.h"
#include "fab/result.h"
#include "fab/status.h"

/**
 * Cables of `before` that must be unplugged to become `after`: those between two devices that have fewer cables between
 * them afterwards, or none.
 *
 *     moved = sum over pairs of devices of max(0, cables before - cables after)
 *
 * Devices are the same when they have the same place: NICs and leaves their number, switches above their block and
 * their position in the groups of that block (spine j of pod b; core k of group j). Ports do not matter: a cable that
 * stays between its two devices may stay in its ports.
 * @param[in] before, after  Tree fabrics of one family.
 * Complexity: O(cables log cables).
 */
fab_status fab_cables_moved(const fab_fabric *before, const fab_fabric *after, uint64_t *out_moved,
                            fab_error *err) FAB_MUST_USE;

/** Ports of switches that hold no cable. */
uint64_t fab_free_ports(const fab_fabric *fabric);

/**
 * What one step buys, leaves over and moves.
 * @param[in]  before, before_graph  What stands before the step; NULL for the first.
 * @param[out] out                   Free out->parts. Written on success only.
 */
fab_status fab_growth_step_of(const fab_fabric_result *before, const fab_fabric *before_graph,
                              const fab_fabric_result *after, const fab_fabric *after_graph, fab_growth_step *out,
                              fab_error *err) FAB_MUST_USE;
