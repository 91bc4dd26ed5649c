/** Several jobs on one fabric: which servers each of them has. */
#pragma once

#include "fab/fabric.h"

typedef struct fab_design fab_design;

/**
 * A copy of a design whose jobs have servers of their own: a job that lists none may run on those that no list names
 * and no job before it took, in their order. It takes as many as its n-servers, gpus or parallel sizes say; without
 * these, the last such job takes the rest. Storage servers may serve several jobs, but none runs on them. A design with
 * fewer than two jobs stays as it is.
 * @param[out] out  Plain values, nothing to release. Each of its jobs keeps its servers when it stands alone.
 * @retval FAB_EINPUT  two jobs have a server; a job does not say how large it is; there are not enough servers
 * Complexity: O(jobs * servers).
 */
FAB_STATUS fab_jobs_place(const fab_design *design, const fab_fabric *fabric, fab_design *out, fab_error *err);

/**
 * Which jobs one plan serves: of the same keys but for name and place, on servers that stand to each other as those of
 * the other do (the same steps between their numbers; the same pairs share a domain, a leaf, a pod). Where switches
 * have no tiers, none are alike.
 * @param[in]  placed     Of fab_jobs_place().
 * @param[out] out_first  Shape [n_jobs]: the first job that is alike, often the job itself.
 * Complexity: O(jobs * (jobs + GPUs)).
 */
FAB_STATUS fab_jobs_alike(const fab_design *placed, const fab_fabric *fabric, size_t *out_first, fab_error *err);

/**
 * Which servers are in use.
 * @param[out] out_taken  Shape [n_servers]: 1 for servers of any job of the design, and for storage servers.
 * Errors of fab_jobs_place().
 */
FAB_STATUS fab_jobs_taken(const fab_design *design, const fab_fabric *fabric, uint8_t *out_taken, fab_error *err);
