/** Rows of a study to its summary, in one pass. See src/doc/adr/0038-study-summary.md. */
#pragma once

#include "fab/outcome.h"
#include "fab/scenarios.h"
#include "fab/study_summary.h"

/** What fails in a set: indexes of components, ascending, valid until the next call. */
typedef fab_status fab_summary_failed(void *context, uint64_t scenario, const uint32_t **out, size_t *out_n,
                                      fab_error *err);

/** Everything is borrowed and must outlive the summariser. Variant = engine * n_policies + policy. */
typedef struct fab_summary_request {
    const fab_fabric *fabric;
    bool is_p99;      /**< times are those within which 99 % of requests are answered */
    uint32_t n_racks; /**< of the floor plan; 0: none */
    uint64_t n_scenarios;
    double span_s;  /**< of a history; 0: sets */
    size_t n_draws; /**< of paths, that histories are dealt to in turn; 0 is 1 */
    /* Of sets. */
    bool is_enumerated;              /**< the scenarios are all sets of so many of the components */
    const fab_component *components; /**< shape [n_components]: all that fails in some scenario */
    size_t n_components;
    const char *const *names;    /**< shape [n_scenarios]: as a file calls them; NULL: they have none */
    const fab_rollout_way *ways; /**< shape [n_ways]: of updates; NULL: none */
    size_t n_ways;
    const uint32_t *way_of;     /**< shape [n_scenarios], with ways */
    const uint64_t *n_equal;    /**< shape [n_scenarios]: sets that each stands for, of 1 or 2; NULL: for itself */
    const uint32_t *equal;      /**< shape [n_components], with n_equal: the first component that is like this one */
    fab_summary_failed *failed; /**< asked for the scenarios that are named, at the end */
    void *failed_context;
    const fab_scenarios *histories; /**< of histories: says what fails in them; else not looked at */
    const uint32_t *rank_of_gpu; /**< shape [n_gpus], FAB_NONE: none; software and maintenance are counted where ranks
                                    are at first. NULL: everywhere */
    const char *const *engines;  /**< shape [n_engines]: labels */
    size_t n_engines;
    const char *const *policies; /**< shape [n_policies]: names */
    size_t n_policies;
    const fab_outcome *healthy; /**< shape [n_engines * n_policies]: nothing failed */
    size_t top;                 /**< components and scenarios to name of each variant, to FAB_STUDY_TOP_MOST */
    bool keep_impact;           /**< fill cable_impact and node_impact */
} fab_summary_request;

typedef struct fab_summariser fab_summariser;

FAB_STATUS fab_summariser_new(const fab_summary_request *request, fab_summariser **out, fab_error *err);
void fab_summariser_free(fab_summariser *summariser);
FAB_OWNER(fab_summariser, fab_summariser_free)

/**
 * Takes in a scenario.
 * @param[in] rows       Shape [variants]: rows[v].variant is v, and all have the number of the scenario, which is above
 *                       that of the call before.
 * @param[in] component  Shape [n]: of a set what fails, as fab_summary_failed gives it; of a history n is 0.
 * @retval FAB_EINPUT  rows or components are not that, or a figure of a row is impossible; the message names it
 * Complexity: O(variants * (components + log top)), expected. 8 bytes are kept per known figure of a row.
 */
FAB_STATUS fab_summariser_add(fab_summariser *summariser, const fab_outcome *rows, const uint32_t *component, size_t n,
                              fab_error *err);

/**
 * The summary of what was taken in; what concerns the design, texts and seed is left empty.
 * Call it once; the summariser is of no use behind it but to be freed.
 * Complexity: O(figures + components * log(top)).
 */
FAB_STATUS fab_summariser_finish(fab_summariser *summariser, fab_study_summary **out, fab_error *err);
