/**
 * @file loads.h
 * What links carry when flows follow their routes.
 */
#pragma once

#include "fab/fabric.h"
#include "fab/routing.h"
#include "fab/status.h"

/** Paths that are kept while a phase is measured; more are routed twice, a chunk at a time. */
#define FAB_KEPT_PATHS (UINT64_C(1) << 23)

/**
 * Load of every directed link when each flow follows its routes, its amount split evenly over its paths:
 *     load[l] = sum over flows f and paths p of f with l in p of amount[f] / (paths of f)
 * @param[in]  amount    Shape [n_flows]: bytes or an offered rate.
 * @param[out] out_load  Shape [n_links], overwritten.
 * Complexity: O(sum of route lengths + links).
 */
void fab_route_load(const fab_fabric *fabric, const fab_routes *routes, const double *amount, double *out_load);

/**
 * Checks that loads are conserved: every switch and domain sends what it receives; NIC - leaf links carry what enters
 * the network, and as much leaves it.
 * @retval FAB_EINTERNAL  names the node and both sums.
 */
fab_status fab_check_conservation(const fab_fabric *fabric, const double *load, fab_error *err) FAB_MUST_USE;
