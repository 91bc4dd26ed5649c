/**
 * @file oracle_bound.h
 * The optimum over minimal paths again, slowly: certificates by Bellman-Ford, the optimum by a linear program over
 * listed paths. Shares no code with routing/.
 */
#pragma once

#include "fab/fabric.h"

#include <stddef.h>
#include <stdint.h>

typedef struct oracle_pair {
    fab_node_id src, dst; /**< leaves */
    double rate;
} oracle_pair;

/** What lengths prove: sum of rate * shortest / sum of length * capacity. `dead`: a bit set, or NULL. NAN where a pair
 * has no path. */
double oracle_bound_proved(const fab_fabric *f, const uint64_t *dead, const oracle_pair *pairs, size_t n,
                           const double *length);

/** The least maximum utilisation of fabric links, all minimal paths listed; NAN where there are more than
 * `most_paths`, or none for some pair. */
double oracle_bound_optimum(const fab_fabric *f, const uint64_t *dead, const oracle_pair *pairs, size_t n,
                            size_t most_paths);
