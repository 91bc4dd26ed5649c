/** The same traffic on the healthy fabric and on slower parts. */
#pragma once

#include "fab/analysis.h"
#include "fab/degradation.h"

/**
 * Replays once more on a copy of the fabric whose parts run at a fraction of their speed. Offered rates stay those of
 * healthy NICs; engines see capacities as always.
 * @param[in] base    What was replayed.
 * @param[in] before  Its result.
 * @retval FAB_EINPUT  no such part
 * Complexity: that of the replay, and of one more routing per phase and engine.
 */
FAB_STATUS fab_degraded_run(const fab_replay *base, const fab_result *before, const fab_weak_part *parts,
                            size_t n_parts, fab_degradation **out, fab_error *err);

void fab_degradation_free(fab_degradation *degradation);
