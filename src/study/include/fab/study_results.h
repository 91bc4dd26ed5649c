/** A gathered store with the fabric that its rows are about: summed up, or row by row. */
#pragma once

#include "fab/store.h"
#include "fab/study_summary.h"

typedef struct fab_design fab_design;

typedef struct fab_study_results fab_study_results;

/**
 * Opens the store in a folder and builds its fabric again. Nothing but the folder is needed.
 * @retval FAB_EINPUT  as fab_store_open(); or the store names what its fabric does not have
 */
FAB_STATUS fab_study_results_open(const char *folder, fab_study_results **out, fab_error *err);
void fab_study_results_close(fab_study_results *results);
FAB_OWNER(fab_study_results, fab_study_results_close)

/** Borrowed, live as long as the results. */
const fab_plan *fab_study_results_plan(const fab_study_results *results);
const fab_design *fab_study_results_design(const fab_study_results *results);
/**
 * One pass over all rows.
 * @param[in] top   As in fab_summary_request, as keep_impact.
 * @param[out] out  Free with fab_study_summary_free().
 * @retval FAB_EINPUT  the store is damaged: rows are missing, or impossible; the message names them
 * Complexity: O(rows), about a microsecond for a row and the components of its scenario.
 */
FAB_STATUS fab_study_summarise(const fab_study_results *results, size_t top, bool keep_impact, fab_study_summary **out,
                               fab_error *err);

/**
 * Every row as a line of CSV, by scenario and variant, with what failed by name; memory does not grow with the rows.
 *
 *     scenario,engine,policy,state,slowdown,time_s,worst_ratio,fullest,lost_ratio,n_disconnected,n_moved,n_collisions,
 *     failed
 *
 * Of histories goodput, its parts, n_failures and n_stops stand before `failed`, which is left out. What is not known
 * is empty. Names in `failed` are separated by " + ". With @classes n_equal, sets that the row stands for, is last.
 * @retval FAB_EIO  a write failed
 */
FAB_STATUS fab_study_write_csv(const fab_study_results *results, FILE *out, fab_error *err);

/**
 * Writes what a summary rests on (src/doc/manual/certificates.md): phases on the healthy fabric, every row, and the
 * paths of the scenarios that the report names under summary->shown. What is left out stands there.
 * @param[in] folder     Of the results.
 * @param[in] program    Version of this program.
 * @param[in] max_bytes  Memory that may be taken; 0: no limit.
 * @retval FAB_EINPUT  planned by another version, or the folder's files are not what they were
 * Complexity: that of a scenario for each that is named, and one pass over the rows for each variant.
 */
FAB_STATUS fab_study_certify(const char *folder, const fab_study_results *results, const fab_study_summary *summary,
                             const char *program, uint64_t max_bytes, FILE *out, fab_error *err);
