/**
 * @file iterate.h
 * From measured phases to the time of an iteration.
 */
#ifndef FAB_ITERATE_H
#define FAB_ITERATE_H

#include "fab/result.h"

/** Whether `text` asked for a whole training job, and the fabric's cost is known. */
bool fab_iterates(const fab_traffic *traffic, const fab_result *result, const char *text);

/**
 * One iteration under engine `engine` of the result's phases, with the mean times of their seeds.
 * @retval FAB_EUNSUPPORTED  a phase has no time, or the model's kernels are not modelled
 * @retval FAB_ENOSOLUTION   no microbatch fits
 */
fab_status fab_iterate(const fab_traffic *traffic, const fab_result *result, size_t engine, fab_iteration *out,
                       fab_error *err) FAB_MUST_USE;

/**
 * The same with other times or another machine.
 * @param[in] transfer_s  Shape [n_phases of the result], in place of its means; NULL: those.
 * @param[in] compute     NULL: fab_compute_default.
 */
fab_status fab_iterate_with(const fab_traffic *traffic, const fab_result *result, size_t engine,
                            const double *transfer_s, const fab_compute_model *compute, fab_iteration *out,
                            fab_error *err) FAB_MUST_USE;

#endif
