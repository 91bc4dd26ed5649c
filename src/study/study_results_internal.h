/** Inside of study_results.c and study_csv.c. */
#pragma once

#include "fab/design.h"
#include "fab/scenarios.h"
#include "fab/study_results.h"

struct fab_study_results {
    fab_store *store;
    fab_design design;
    fab_fabric *fabric;
    fab_floor *floor;          /* NULL: none */
    fab_component *component;  /* shape [plan->n_components] */
    fab_scenarios *histories;  /* NULL: sets */
    fab_scenarios *updates;    /* that are rolled through; NULL: none */
    fab_scenarios *classes;    /* of equal sets; NULL: each stands for itself */
    uint32_t *rank_of_gpu;     /* shape [n_gpus], of histories; NULL: no job */
    bool serves, shrinks;      /* of histories: replicas go on without each other; policy shrink takes them out */
    double iteration_tokens;   /* of a whole training job in histories, else 0 */
    double gpus, gpu_hour_usd; /* of a job in histories, else 0 */
    char plan_keys[192];       /* of one that trains, else empty */
};

/** The rows of a store, scenario by scenario. Zero-initialised; release with study_rows_release(). */
typedef struct study_rows {
    const fab_study_results *results;
    fab_query *outcomes; /* with what is known of histories */
    fab_query *failed;   /* of sets; NULL: histories */
    bool more_outcomes, more_failed;
    fab_outcome *row;    /* shape [n_variants]: of the scenario */
    uint32_t *component; /* shape [n_components_here]: what fails in it */
    size_t n_components, component_capacity;
} study_rows;

FAB_STATUS study_rows_init(study_rows *rows, const fab_study_results *results, fab_error *err);
void study_rows_release(study_rows *rows);

/** The next scenario; *out_more is false behind the last one. */
FAB_STATUS study_rows_next(study_rows *rows, bool *out_more, fab_error *err);
