/** The paths or shares of a run with their rates and bottlenecks, as lines of a certificate. */
#pragma once

#include "measure_rates.h"

#define FAB_PROOF_LINKS (UINT64_C(1) << 25) /**< more links on all paths of a phase together are not listed */

/** Where a run puts them. */
typedef struct fab_proof {
    FILE *out;
    uint32_t n_rounds; /**< that were put: 0 where the phase is too large, so that nothing is known flow by flow */
} fab_proof;

/** Of flows that take paths; run->scratch->rates has what the solver found for them. */
void fab_proof_paths(const fab_engine_run *run, const fab_routes *routes);

/** Of flows under a split: the shares of every pair of leaves, then what every flow sends over which of them. */
FAB_STATUS fab_proof_split(const fab_engine_run *run, const fab_split *split, fab_error *err);
