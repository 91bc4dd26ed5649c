/* Rows of a store, scenario by scenario: outcomes and what fails are read side by side, both in the order of their
 * keys. */
#include "study_results_internal.h"

static const char FAILED[] = "SELECT scenario, component FROM failed ORDER BY scenario, component";

fab_status study_rows_init(study_rows *rows, const fab_study_results *results, fab_error *err) {
    const fab_plan *plan = fab_store_plan(results->store);
    rows->results = results;
    FAB_PASS(FAB_NEW(rows->row, plan->n_variants, err));
    FAB_PASS(fab_store_outcomes(results->store, &rows->outcomes, err));
    FAB_PASS(fab_query_next(rows->outcomes, &rows->more_outcomes, err));
    if (plan->span_s <= 0) {
        FAB_PASS(fab_query_new(results->store, FAILED, NULL, 0, &rows->failed, err));
        FAB_PASS(fab_query_next(rows->failed, &rows->more_failed, err));
    }
    return FAB_OK;
}

void study_rows_release(study_rows *rows) {
    fab_query_free(rows->outcomes);
    fab_query_free(rows->failed);
    FAB_FREE_ALL(rows->row, rows->component);
    *rows = (study_rows){.results = NULL};
}

static fab_status read_failed(study_rows *rows, uint64_t scenario, fab_error *err) {
    rows->n_components = 0;
    while (rows->more_failed && (uint64_t)fab_query_integer(rows->failed, 0) == scenario) {
        FAB_PASS(FAB_GROW(rows->component, rows->component_capacity, rows->n_components + 1, err));
        int64_t component = fab_query_integer(rows->failed, 1);
        rows->component[rows->n_components++] =
            component >= 0 && component < UINT32_MAX ? (uint32_t)component : UINT32_MAX; /* which no study has */
        FAB_PASS(fab_query_next(rows->failed, &rows->more_failed, err));
    }
    FAB_REFUSE_IF(rows->more_failed && (uint64_t)fab_query_integer(rows->failed, 0) < scenario, err, FAB_EINPUT, NULL,
                  "the store is damaged: scenario %" PRId64 " fails components and has no outcome",
                  fab_query_integer(rows->failed, 0));
    return FAB_OK;
}

fab_status study_rows_next(study_rows *rows, bool *out_more, fab_error *err) {
    const fab_plan *plan = fab_store_plan(rows->results->store);
    *out_more = rows->more_outcomes;
    if (!rows->more_outcomes) {
        return FAB_OK;
    }
    for (size_t v = 0; v < plan->n_variants; v++) {
        if (rows->more_outcomes) {
            fab_query_outcome(rows->outcomes, &rows->row[v]);
        }
        FAB_REFUSE_IF(!rows->more_outcomes || rows->row[v].scenario != rows->row[0].scenario ||
                          rows->row[v].variant != v,
                      err, FAB_EINPUT, NULL, "the store is damaged: scenario %" PRIu64 " has no outcome of variant %zu",
                      rows->row[0].scenario, v);
        FAB_PASS(fab_query_next(rows->outcomes, &rows->more_outcomes, err));
    }
    return rows->failed != NULL ? read_failed(rows, rows->row[0].scenario, err) : FAB_OK;
}
