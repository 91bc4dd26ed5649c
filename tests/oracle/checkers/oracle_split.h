/**
 * @file oracle_split.h
 * Splitting over minimal paths again, slowly: pair by pair, path by path, by recursion. Shares no code with routing/.
 */
#pragma once

#include "fab/split.h"
#include "split/split_rule.h"

typedef struct oracle_paths oracle_paths;

/** The shortest paths to switch node `leaf` without dead links (a bit set, or NULL). */
oracle_paths *oracle_paths_new(const fab_fabric *f, const uint64_t *dead, fab_node_id leaf);
void oracle_paths_free(oracle_paths *paths);

/** Cables to the leaf, -1 where there is no path. */
int oracle_paths_length(const oracle_paths *paths, fab_node_id from);

/** Adds what `amount` from switch node `from` puts on every link. `share`: [link], of this destination. */
void oracle_split_load(oracle_paths *paths, const fab_split *split, const double *share, fab_node_id from,
                       double amount, double *load);

double oracle_split_fold(oracle_paths *paths, const fab_split *split, const double *share, fab_fold fold,
                         const double *x, fab_node_id from);
