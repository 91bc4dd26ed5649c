/**
 * Seconds of a phase from state to state while ranks move: only flows whose ends are elsewhere than in the state before
 * are walked again.
 */
#pragma once

#include "fab/phase_estimator.h"
#include "fab/state.h"

/** Paths as they were in the last state, and what they put on links. Scratch of one thread. */
typedef struct fab_incremental fab_incremental;

/** Everything is borrowed and must outlive `out`. @param[in] estimators  Shape [n]: of phases that are duplicates of
 * each other under one engine, whose baseline that is. */
FAB_STATUS fab_incremental_new(const fab_estimator *const *estimators, size_t n, const fab_baseline *baseline,
                               fab_incremental **out, fab_error *err);
void fab_incremental_free(fab_incremental *incremental);
FAB_OWNER(fab_incremental, fab_incremental_free)

/**
 * What fab_estimator_read() gives in a state in which somebody has moved, to the bit.
 * @param[in]  which       Of the estimators.
 * @param[in]  version     Of the state: the same number, the same state.
 * @param[out] out         Written where it is known.
 * @param[out] out_answer  Unknown where bounds do not agree, and for engines and transports that cannot be followed.
 * Complexity: O(paths of flows that moved since the last call, and of all that a mask touches where it is another one,
 * + links whose load is not that of the healthy fabric).
 */
FAB_STATUS fab_incremental_read(fab_incremental *incremental, size_t which, uint64_t version, const fab_state *state,
                                fab_phase_seconds *out, fab_known *out_answer, fab_error *err);
