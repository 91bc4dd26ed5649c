/**
 * @file oracle_optimize.h
 * All designs of a catalog, one by one: read from their one-line form, built as graphs, cut and priced. Shares no code
 * with src/study and src/solve, and does not use the closed form of the bisection.
 */
#pragma once

#include "fab/catalog.h"
#include "fab/optimum.h"
#include "fab/prices.h"

typedef struct oracle_design {
    char text[512]; /* the one-line form */
    double usd, power_w, bisection_ratio, max_taper;
} oracle_design;

/** Every design that can be built, malloc'd. `out_n` receives how many. */
oracle_design *oracle_designs(const fab_catalog *catalog, const fab_prices *prices, uint64_t gpus, size_t *out_n);

/** Index of the cheapest that keeps the limits, or n. */
size_t oracle_cheapest(const oracle_design *designs, size_t n, const fab_limits *limits);
