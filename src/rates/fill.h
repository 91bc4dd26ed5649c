/** Progressive filling, shared by whole solutions and by those of a few flows beside others that stay as they are. */
#pragma once

#include "fab/max_min.h"

/** Levels (rate per weight) closer than this, relatively, are one level: symmetric flows get the same bytes. */
#define FILL_TIE 1e-12
/** A link this close to its capacity, relatively, is full: ties leave that much on it. */
#define FILL_SLACK 1e-11

/**
 * Fills without looking at the result. Unlike fab_max_min_solve(), a capacity may be 0, and the rates then too.
 * @param[out] out_holder  Shape [n_flows]: the link that stopped the flow, or FAB_NO_BOTTLENECK.
 * @retval FAB_EINPUT  a link twice in a flow
 */
FAB_STATUS fill_rates(fab_max_min *solver, const fab_sharing *sharing, double *out_rate, uint32_t *out_holder,
                      fab_error *err);

/** The same, leaving the rates in the records of the solver. out_holder: NULL if nobody asks. */
FAB_STATUS fill_records(fab_max_min *solver, const fab_sharing *sharing, uint32_t *out_holder, fab_error *err);
