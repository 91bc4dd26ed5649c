/**
 * @file reroute_moved.h
 * Failures after which some GPUs' ranks run on other GPUs. See src/doc/adr/0035-reallocation.md.
 */
#ifndef FAB_REROUTE_MOVED_H
#define FAB_REROUTE_MOVED_H

#include "fab/reroute.h"

/**
 * As fab_reroute_apply() with FAB_WHEN_CONVERGED, for flows that begin and end at new_gpu[src] and new_gpu[dst]
 * instead: what routing the phase anew with these GPUs gives, at the rates that it then offers. Touched are also the
 * paths of flows that moved; flow i of the phase stays flow i.
 *
 * Where flows that stay offer something else (ranks that shared a NIC part, or flows enter or leave a scale-up domain),
 * and under engines that reconverge or split, everything is computed again.
 * @param[in] moved    Shape [n_moved]: GPUs whose ranks run elsewhere, ascending.
 * @param[in] new_gpu  Shape [n_gpus]; new_gpu[g] = g for all others. No two ranks on one GPU.
 * @retval FAB_EINPUT        there is no such GPU, or it has a rank already
 * @retval FAB_EUNREACHABLE  rails differ, and no GPU of either scale-up domain hands over
 * Errors of fab_reroute_apply().
 * Complexity: as fab_reroute_apply(), and O(paths of the flows that moved * their length); else that of routing the
 * phase.
 */
fab_status fab_reroute_apply_moved(fab_reroute *reroute, const fab_mask *mask, const uint32_t *moved, size_t n_moved,
                                   const uint32_t *new_gpu, fab_rerouted *out, fab_error *err) FAB_MUST_USE;

/** What a baseline was made of. */
const fab_baseline_request *fab_baseline_what(const fab_baseline *baseline);

#endif
