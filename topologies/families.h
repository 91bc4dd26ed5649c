/** The families, one row each in topologies.c. To add one: a file family_NAME.c, a declaration here, a row there. */
#pragma once

#include "fab/floor_plan.h"
#include "fab/topologies.h"

extern const fab_family fab_family_clos;
extern const fab_family fab_family_fat_tree;
extern const fab_family fab_family_rail_spine;
extern const fab_family fab_family_rail_only;
extern const fab_family fab_family_dragonfly;
extern const fab_family fab_family_torus;
extern const fab_family fab_family_installed;

/**
 * Gives every network cable the length between the racks of its ends, and the latency that goes with it.
 * @retval FAB_EINPUT  a cable longer than any that is made, or more kinds of cable than FAB_MAX_CABLE_KINDS.
 * Complexity: O(cables).
 */
FAB_STATUS fab_floor_apply(const fab_fabric_spec *spec, const fab_floor *floor, fab_fabric *fabric, fab_error *err);

/** Racks and lengths for the report. O(cables). */
FAB_STATUS fab_floor_count(const fab_fabric_spec *spec, const fab_floor *floor, const fab_fabric *fabric,
                           fab_floor_counts *out, fab_error *err);

/** Defines a family that is a folded Clos, from the function that plans it. */
#define FAB_CLOS_FAMILY(variable, family_name, text, own_keys, plan_function)                                          \
    static fab_status predict_##variable(fab_fabric_spec *spec, fab_counts *out, fab_error *err) {                     \
        fab_clos_plan plan = {0};                                                                                      \
        fab_status status = plan_function(spec, &plan, err);                                                           \
        if (status == FAB_OK) {                                                                                        \
            fab_clos_resolve(&plan, spec);                                                                             \
            fab_clos_count(spec, &plan, out);                                                                          \
            status = fab_clos_lengths(spec, &plan, out, err);                                                          \
        }                                                                                                              \
        return status;                                                                                                 \
    }                                                                                                                  \
    static fab_status build_##variable(const fab_fabric_spec *spec, fab_fabric **out, fab_error *err) {                \
        fab_clos_plan plan = {0};                                                                                      \
        fab_fabric_spec copy = *spec;                                                                                  \
        fab_status status = plan_function(&copy, &plan, err);                                                          \
        return status == FAB_OK ? fab_clos_build(&copy, &plan, out, err) : status;                                     \
    }                                                                                                                  \
    static fab_status tree_##variable(fab_fabric_spec *spec, fab_counts *out_counts, fab_tree *out, fab_error *err) {  \
        fab_clos_plan plan = {0};                                                                                      \
        fab_status status = plan_function(spec, &plan, err);                                                           \
        if (status == FAB_OK) {                                                                                        \
            fab_clos_count(spec, &plan, out_counts);                                                                   \
            status = fab_clos_lengths(spec, &plan, out_counts, err);                                                   \
            status = status == FAB_OK ? fab_clos_tree(spec, &plan, out, err) : status;                                 \
        }                                                                                                              \
        return status;                                                                                                 \
    }                                                                                                                  \
    const fab_family variable = {family_name, text, own_keys, predict_##variable, build_##variable, tree_##variable};
