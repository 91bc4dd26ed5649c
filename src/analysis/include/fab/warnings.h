/**
 * @file warnings.h
 * What can be built and replayed, and what a reviewer would stop all the same.
 */
#pragma once

#include "fab/result.h"

/**
 * Adds to result->warnings: links at rates that nobody sells, tapers of boundaries that the fabric does not have, a
 * tensor group beyond the scale-up domain, experts that every GPU keeps (of sweeps and mixes too), minimal routing on a
 * dragonfly. Of installed networks nothing is said: they
 * are there.
 * @param[in,out] result  Its fabrics are measured; job and phases where they are known.
 * Complexity: O(fabrics * (kinds of cables + tiers) + engines).
 */
fab_status fab_find_warnings(fab_result *result, fab_error *err) FAB_MUST_USE;
