/**
 * @file by_component.h
 * What scenarios do in which a component fails, summed up while they are gathered: SQL would sort all rows for it.
 */
#ifndef FAB_BY_COMPONENT_H
#define FAB_BY_COMPONENT_H

#include "rows.h"

typedef struct component_sum {
    uint64_t n_scenarios, n_stopped, n_slowdowns, n_ratios;
    double slowdown, worst_slowdown, ratio, worst_ratio; /* sums and largest, of those that are known */
} component_sum;

typedef struct by_component {
    const fab_plan *plan;
    component_sum *sum; /* shape [n_variants][n_components] */
} by_component;

fab_status by_component_init(const fab_plan *plan, by_component *out, fab_error *err) FAB_MUST_USE;
void by_component_release(by_component *by);

/** Blocks come in the order of the scenarios: then sums are the same, bit for bit. */
void by_component_add(by_component *by, const fab_block *block);

fab_status by_component_put(const by_component *by, const database *db, fab_error *err) FAB_MUST_USE;

#endif
