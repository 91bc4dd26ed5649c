/**
 * @file server_moves.h
 * Seconds of a phase from state to state while whole servers move: what a server's flows put on links at a place is
 * known from when it was there before.
 */
#pragma once

#include "estimator_internal.h"

#include "fab/state.h"

/** Where servers are, and what that puts on links. Scratch of one thread. */
typedef struct server_moves server_moves;

/** Everything is borrowed. @param[in] estimators  Shape [n]: of phases with the same flows, whose baseline that is. */
fab_status server_moves_new(const fab_estimator *const *estimators, size_t n, const fab_baseline *baseline,
                            server_moves **out, fab_error *err) FAB_MUST_USE;
void server_moves_free(server_moves *moves);
FAB_OWNER(server_moves, server_moves_free)

/**
 * Goes on to another state.
 * @param[out] out_answer  FAB_KNOWN_TIME: the readers' loads are those of the state; FAB_KNOWN_NOTHING: it is none in
 *                         which servers move as a whole, or some path is lost while nothing is down.
 * Complexity: O(paths of servers whose place is another than in the state before, and of all that are away where
 * something is down).
 */
fab_status server_moves_follow(server_moves *moves, const fab_state *state, fab_known *out_answer,
                               fab_error *err) FAB_MUST_USE;

/** What they are of after server_moves_follow(). */
fab_estimator_reader *server_moves_reader(server_moves *moves, size_t which);
double server_moves_latency_s(const server_moves *moves);

/** Paths that are elsewhere than on the healthy fabric, or may be. Valid until the next call. */
fab_status server_moves_list(server_moves *moves, fab_rerouted *out, fab_error *err) FAB_MUST_USE;
