/**
 * @file oracle_max_min.h
 * Max-min fairness the slow way, by the words of the definition and nothing of src/rates.
 */
#pragma once

#include "fab/fluid.h"

#include <stdbool.h>

/** Rates by filling in rounds, everything summed afresh in every round. @param[in] active  Shape [n_flows]; NULL: all.
 */
void oracle_fill(const fab_sharing *sharing, const bool *active, double *out_rate);

/**
 * What of the definition rates break, in words, or NULL: loads, and a bottleneck for every flow that is not at its
 * limit.
 * @param[in] tolerance  Relative.
 */
const char *oracle_unfair(const fab_sharing *sharing, const bool *active, const double *rate, double tolerance);

/** Whether a link is full and gives nobody more per weight than this flow. */
bool oracle_holds(const fab_sharing *sharing, const double *rate, uint32_t flow, uint32_t link, double tolerance);

/** Finishing times of flows that begin together: rates from oracle_fill() after every end. */
void oracle_finish(const fab_sharing *sharing, const double *bits, double *out_finish_s);
