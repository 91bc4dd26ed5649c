/** Tables of fields that stand in several files, and what their rows share. */
#pragma once

#include "result_field.h"

/* fabric_fields.c */
extern const fab_fields fab_fabric_fields, fab_cost_fields, fab_front_end_fields, fab_design_fields, fab_growth_fields;
/** Its cost, or NULL where it has no prices. */
const void *fab_priced(const fab_fabric_result *fabric);
/* job_fields.c */
extern const fab_fields fab_job_fields, fab_memory_fields, fab_iteration_fields, fab_listed_phase_fields,
    fab_serving_fields, fab_ranking_fields;
/* phase_fields.c */
extern const fab_fields fab_phase_fields;
/* link_fields.c */
extern const fab_fields fab_link_load_fields, fab_next_hops_fields, fab_hot_flow_fields, fab_hot_link_fields,
    fab_explanation_fields;
/* published_fields.c */
extern const fab_fields fab_published_fields;
/* verdict_fields.c */
extern const fab_fields fab_verdict_fields;
/* search_fields.c, sweep_fields.c, mix_fields.c */
extern const fab_fields fab_optimum_fields, fab_advice_fields, fab_sweep_fields, fab_mix_fields, fab_sweep_point_fields,
    fab_ownership_fields;
/* busbw_fields.c */
extern const fab_fields fab_busbw_fields;
/* plan_fields.c */
extern const fab_fields fab_plan_fields, fab_job_plan_fields;
/* difference_fields.c */
extern const fab_fields fab_difference_fields;
/* study_fields.c */
extern const fab_fields fab_study_fields;
/* failure_fields.c */
extern const fab_fields fab_failures_fields, fab_contention_fields, fab_degradation_fields;
/* observe_fields.c */
extern const fab_fields fab_observe_fields;
/* installed_fields.c */
extern const fab_fields fab_audit_fields, fab_import_fields;

/** Number of the element, from 1. */
uint64_t fab_at_number(const fab_at *at);

#define FAB_BOUNDARY_TEXT                                                                                              \
    "Links below a switch tier: nic-leaf, leaf-spine, ...; of a dragonfly nic-switch, local, global; of a torus "      \
    "nic-switch, torus."
#define FAB_TIER_TEXT "Number of the boundary: the switch tier at its upper end, 1 is the leaf tier."

extern const char *const fab_directions[4]; /**< "up", "down", "forward", "reverse" */
#define FAB_DIRECTION_TEXT "Up is away from the servers; between switches without an order forward and reverse."
