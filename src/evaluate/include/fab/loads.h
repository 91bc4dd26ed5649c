/** What links carry when flows follow their routes. */
#pragma once

#include "fab/routing.h"

/** Paths that are kept while a phase is measured; more are routed twice, a chunk at a time. */
#define FAB_KEPT_PATHS (UINT64_C(1) << 23)

/**
 * Checks that loads are conserved: every switch and domain sends what it receives; NIC - leaf links carry what enters
 * the network, and as much leaves it.
 * @retval FAB_EINTERNAL  names the node and both sums.
 */
FAB_STATUS fab_check_conservation(const fab_fabric *fabric, const double *load, fab_error *err);
