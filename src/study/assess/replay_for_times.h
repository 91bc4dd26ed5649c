/**
 * @file replay_for_times.h
 * A replay once more on something changed, for its times alone.
 */
#pragma once

/** The same replay without bound, loads, draws, flows and progress. */
static inline fab_replay replay_for_times(const fab_replay *base) {
    fab_replay replay = *base;
    replay.bound = false;
    replay.rates = true;
    replay.keep_loads = false;
    replay.keep_seeds = 0;
    replay.keep_draws = false;
    replay.keep_flows = false;
    replay.progress = NULL;
    return replay;
}
