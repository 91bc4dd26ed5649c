/**
 * @file warnings.h
 * What can be built and replayed, and what a reviewer would stop all the same.
 */
#pragma once

#include "fab/result.h"

/**
 * Adds to result->warnings: links at rates that nobody sells, tapers of boundaries that the fabric does not have, a
 * tensor group beyond the scale-up domain, experts that every GPU keeps (of sweeps and mixes too), experts that keep
 * their rails on rail-only, minimal routing on a dragonfly. Of installed networks nothing is said: they are there.
 * @param[in,out] result  Its fabrics are measured; job and phases where they are known.
 * Complexity: O(fabrics * (kinds of cables + tiers) + engines).
 */
fab_status fab_find_warnings(fab_result *result, fab_error *err) FAB_MUST_USE;

/**
 * Whether the default order of ranks puts all members of a group of experts on one rail, so that their all-to-all needs
 * no link between rails; in the order of other programs it does.
 */
bool fab_experts_keep_rails(const fab_job_spec *job, uint64_t domain);
