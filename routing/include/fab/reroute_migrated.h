/**
 * @file reroute_migrated.h
 * Failures after which some GPUs' ranks run on other GPUs. See src/doc/adr/0035-reallocation.md.
 */
#ifndef FAB_REROUTE_MIGRATED_H
#define FAB_REROUTE_MIGRATED_H

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
 * @retval FAB_EUNREACHABLE  rails differ, and no GPU of either scale-up domain relays
 * Errors of fab_reroute_apply().
 * Complexity: as fab_reroute_apply(), and O(paths of the flows that moved * their length); else that of routing the
 * phase.
 */
fab_status fab_reroute_migrated(fab_reroute *reroute, const fab_mask *mask, const uint32_t *moved, size_t n_moved,
                                const uint32_t *new_gpu, fab_rerouted *out, fab_error *err) FAB_MUST_USE;

/** What a baseline was made of. */
const fab_baseline_request *fab_baseline_what(const fab_baseline *baseline);

/** Flows that begin or end at a GPU, ascending. */
const uint32_t *fab_baseline_flows_of(const fab_baseline *baseline, uint32_t gpu, size_t *out_n);

/** Network links, the fullest on the healthy fabric first, of equally full ones the lowest. */
const fab_link_id *fab_baseline_fullest(const fab_baseline *baseline, uint32_t *out_n);

/* --- many placements under one mask ------------------------------------------------------------------------------- */

/**
 * Whether flows can be looked at one by one: their paths do not depend on where others go, nor on tables that are
 * computed again.
 */
bool fab_baseline_is_separable(const fab_baseline *baseline);

/**
 * As fab_reroute_apply() with FAB_WHEN_CONVERGED, without the flows that begin or end at some GPUs.
 * @param[in] gpu  Shape [n].
 * @retval FAB_EUNSUPPORTED  the baseline is not separable
 */
fab_status fab_reroute_lift(fab_reroute *reroute, const fab_mask *mask, const uint32_t *gpu, size_t n,
                            fab_rerouted *out, fab_error *err) FAB_MUST_USE;

/** Paths of flows between other GPUs. Valid until the next call with the same scratch. */
typedef struct fab_walked {
    size_t n_paths;
    const size_t *first; /**< shape [n_paths + 1]: links of path i are link[first[i] ... ); none: lost */
    const fab_link_id *link;
    const double *part_bps; /**< shape [n_paths] */
} fab_walked;

/**
 * Paths under the mask of the last call of fab_reroute_lift(), between new_gpu[src] and new_gpu[dst]. What that call
 * returned stays, but for `link`. Flows offer what they do in the baseline: right for ranks that move with all that
 * share their NICs, and neither out of a scale-up domain nor into one.
 * @param[in] flow     Shape [n].
 * @param[in] new_gpu  Shape [n_gpus].
 * Complexity: O(sum of path lengths).
 */
fab_status fab_reroute_walk(fab_reroute *reroute, const uint32_t *flow, size_t n, const uint32_t *new_gpu,
                            fab_walked *out, fab_error *err) FAB_MUST_USE;

#endif
