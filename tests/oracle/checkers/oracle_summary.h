/**
 * @file oracle_summary.h
 * The summary of a study by its definitions: every figure from all rows again, components by their names.
 */
#pragma once

#include "fab/outcome.h"
#include "fab/scenarios.h"

#include <stdbool.h>
#include <stddef.h>

/** Rows of one variant, and what its scenarios are made of. */
typedef struct oracle_study {
    const fab_fabric *fabric;
    const fab_scenarios *scenarios;
    const fab_outcome *healthy; /**< of the variant */
    const fab_outcome *rows;    /**< shape [n] */
    size_t n;
    bool has_times;
    const fab_scenario *drawn; /**< shape [n]: the scenario of each row */
    const double *ceiling;     /**< shape [n][ORACLE_SET]: what each part of a set costs alone at most */
} oracle_study;

#define ORACLE_SET 8 /* most parts of a set */

/** Fills ceiling: over all sets with the part, the least impact when the lowest tenth is left out, at least 0. */
void oracle_find_ceilings(const oracle_study *s, double *out);

double oracle_impact(const oracle_study *s, const fab_outcome *row);

/** Smallest value that at least q of the n values do not exceed; `falling`: largest that at least q reach. */
double oracle_quantile(const double *values, size_t n, double q, bool falling);

/** A component by its name: mean impact over the scenarios that are credited to it, of single losses and histories all
 * that name it. NAN: none. */
typedef struct oracle_component {
    size_t n_scenarios, n_stopped, n_alone;
    bool is_clear;
    double impact, mean_slowdown, worst_ratio;
} oracle_component;

/** @param[in] n_parts  Different ones in all sets. */
oracle_component oracle_component_of(const oracle_study *s, const char *name, size_t n_parts);
