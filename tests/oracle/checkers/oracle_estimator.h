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
#define oracle_seconds_of_routes(fabric, router, mask, phase, routes)                                                  \
    oracle_ends_of_routes(fabric, router, mask, phase, routes, NULL)

/** Of an engine that splits: `router` over the next hops that are left. */
#define oracle_seconds_of_split(fabric, router, mask, phase, offer)                                                    \
    oracle_ends_of_split(fabric, router, mask, phase, offer, NULL)

/** The same with the time at which each flow ends, by oracle_finish(). @param[out] ends_s  Shape [n_flows]; NULL: not
 * wanted, and solved by the program. */
fab_phase_seconds oracle_ends_of_routes(const fab_fabric *fabric, const fab_router *router, const fab_mask *mask,
                                        const fab_phase *phase, const fab_routes *routes, double *ends_s);
fab_phase_seconds oracle_ends_of_split(const fab_fabric *fabric, const fab_router *router, const fab_mask *mask,
                                       const fab_phase *phase, const fab_offer *offer, double *ends_s);
