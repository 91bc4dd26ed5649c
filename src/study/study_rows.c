/* Rows of a store, scenario by scenario: outcomes and what fails are read side by side, both in the order of their
 * keys. */
#include "study_results_internal.h"

#include "fab/memory.h"

#include <inttypes.h>
#include <math.h>

#define OUTCOME                                                                                                        \
    "scenario, variant, state, n_disconnected, n_moved, n_collisions, worst_link, lost_ratio, worst_ratio, time_s, "   \
    "slowdown"

static const char SETS[] = "SELECT " OUTCOME " FROM outcome ORDER BY scenario, variant";
static const char HISTORIES[] =
    "SELECT " OUTCOME ", goodput, restart_ratio, redo_ratio, slow_ratio, wait_ratio, n_failures, n_stops "
    "FROM outcome JOIN history USING (scenario, variant) ORDER BY scenario, variant";
static const char FAILED[] = "SELECT scenario, component FROM failed ORDER BY scenario, component";

fab_status study_rows_init(study_rows *rows, const fab_study_results *results, fab_error *err) {
    const fab_plan *plan = fab_store_plan(results->store);
    rows->results = results;
    FAB_PASS(FAB_NEW(rows->row, plan->n_variants, err));
    FAB_PASS(fab_query_new(results->store, plan->span_s > 0 ? HISTORIES : SETS, NULL, 0, &rows->outcomes, err));
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

/* A count of a row; one that does not fit becomes the largest, which no row that is right has. */
static uint32_t small(const fab_query *query, int column) {
    int64_t value = fab_query_integer(query, column);
    return value >= 0 && value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static fab_outcome read_row(const fab_query *q, bool is_history) {
    fab_outcome o = {.scenario = (uint64_t)fab_query_integer(q, 0),
                     .variant = small(q, 1),
                     .state = small(q, 2),
                     .n_disconnected = small(q, 3),
                     .n_moved = small(q, 4),
                     .n_collisions = small(q, 5),
                     .worst_link = fab_query_is_null(q, 6) ? UINT32_MAX : small(q, 6),
                     .lost_ratio = fab_query_real(q, 7),
                     .worst_ratio = fab_query_real(q, 8),
                     .time_s = fab_query_real(q, 9),
                     .slowdown = fab_query_real(q, 10),
                     .goodput = NAN,
                     .restart_ratio = NAN,
                     .redo_ratio = NAN,
                     .slow_ratio = NAN,
                     .wait_ratio = NAN};
    if (is_history) {
        o.goodput = fab_query_real(q, 11);
        o.restart_ratio = fab_query_real(q, 12);
        o.redo_ratio = fab_query_real(q, 13);
        o.slow_ratio = fab_query_real(q, 14);
        o.wait_ratio = fab_query_real(q, 15);
        o.n_failures = small(q, 16);
        o.n_stops = small(q, 17);
    }
    return o;
}

static fab_status read_failed(study_rows *rows, uint64_t scenario, fab_error *err) {
    rows->n_components = 0;
    while (rows->more_failed && (uint64_t)fab_query_integer(rows->failed, 0) == scenario) {
        FAB_PASS(FAB_GROW(rows->component, rows->component_capacity, rows->n_components + 1, err));
        rows->component[rows->n_components++] = small(rows->failed, 1);
        FAB_PASS(fab_query_next(rows->failed, &rows->more_failed, err));
    }
    if (rows->more_failed && (uint64_t)fab_query_integer(rows->failed, 0) < scenario) {
        return fab_fail(err, FAB_EINPUT, NULL,
                        "the store is damaged: scenario %" PRId64 " fails components and has no outcome",
                        fab_query_integer(rows->failed, 0));
    }
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
            rows->row[v] = read_row(rows->outcomes, plan->span_s > 0);
        }
        if (!rows->more_outcomes || rows->row[v].scenario != rows->row[0].scenario || rows->row[v].variant != v) {
            return fab_fail(err, FAB_EINPUT, NULL,
                            "the store is damaged: scenario %" PRIu64 " has no outcome of variant %zu",
                            rows->row[0].scenario, v);
        }
        FAB_PASS(fab_query_next(rows->outcomes, &rows->more_outcomes, err));
    }
    if (rows->failed != NULL) {
        FAB_PASS(read_failed(rows, rows->row[0].scenario, err));
    }
    return FAB_OK;
}
