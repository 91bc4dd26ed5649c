/**
 * @file oracle_estimator.h
 * Seconds of a phase under a mask, the slow way: every flow with every link that it crosses, solved from scratch.
 */
#pragma once

#include "fab/mask.h"
#include "fab/offer.h"
#include "fab/phase_estimator.h"
#include "fab/routing.h"

/** Of paths: all flows of the phase with all their links as they are now. */
fab_phase_seconds oracle_seconds_of_routes(const fab_fabric *fabric, const fab_router *router, const fab_mask *mask,
                                           const fab_phase *phase, const fab_routes *routes);

/** Of an engine that splits: `router` over the next hops that are left. */
fab_phase_seconds oracle_seconds_of_split(const fab_fabric *fabric, const fab_router *router, const fab_mask *mask,
                                          const fab_phase *phase, const fab_offer *offer);
