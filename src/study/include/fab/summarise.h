/**
 * @file summarise.h
 * Rows of a study to its summary, in one pass. See src/doc/adr/0038-study-summary.md.
 */
#ifndef FAB_SUMMARISE_H
#define FAB_SUMMARISE_H

#include "fab/fabric.h"
#include "fab/outcome.h"
#include "fab/scenarios.h"
#include "fab/status.h"
#include "fab/study_summary.h"

/** Everything is borrowed and must outlive the summariser. Variant = engine * n_policies + policy. */
typedef struct fab_summary_request {
    const fab_fabric *fabric;
    const fab_scenarios *scenarios; /**< of the study: says what fails in a scenario */
    const char *const *engines;     /**< shape [n_engines]: labels */
    size_t n_engines;
    const char *const *policies; /**< shape [n_policies]: names */
    size_t n_policies;
    const fab_outcome *whole; /**< shape [n_engines * n_policies]: nothing failed */
    size_t top;               /**< components and scenarios to name of each variant, to FAB_STUDY_TOP_MOST */
    bool keep_damage;         /**< fill cable_damage and node_damage */
} fab_summary_request;

typedef struct fab_summariser fab_summariser;

fab_status fab_summariser_new(const fab_summary_request *request, fab_summariser **out, fab_error *err) FAB_MUST_USE;
void fab_summariser_free(fab_summariser *summariser);

/**
 * Takes in a scenario.
 * @param[in] rows  Shape [variants]: rows[v].variant is v, and all have the number of the scenario, which is above that
 *                  of the call before.
 * @retval FAB_EINTERNAL  the rows are not that
 * @retval FAB_EINPUT     there is no such scenario, or a figure of a row is impossible; names both
 * Complexity: O(variants * (components + log top)), expected. 8 bytes are kept per known figure of a row.
 */
fab_status fab_summariser_add(fab_summariser *summariser, const fab_outcome *rows, fab_error *err) FAB_MUST_USE;

/**
 * The summary of what was taken in; what concerns the design, texts and seed is left empty.
 * Call it once; the summariser is of no use behind it but to be freed.
 * Complexity: O(figures + components * log(top)).
 */
fab_status fab_summariser_finish(fab_summariser *summariser, fab_study_summary **out, fab_error *err) FAB_MUST_USE;

#endif
