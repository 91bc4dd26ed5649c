/** What a study is computed with: fabric, scenarios, the job on the healthy fabric. */
#pragma once

#include "fab/assess.h"
#include "fab/shard.h"

typedef struct fab_design fab_design;

/** Finds the classes of equal sets of a source that looks at one of each; nothing to do for others. Errors of
 * symmetry_find(). */
FAB_STATUS study_find_classes(const fab_context *context, const fab_policy *policies, size_t n_policies, bool times,
                              fab_scenarios *scenarios, fab_error *err);

/** What is read from a plan, with the copies of files in place of those that were given. */
typedef struct study_restored {
    fab_design *design;
    char *traffic, *scenarios;
    fab_engine_spec *engines;
    fab_policy *policies;
    size_t n_policies;
} study_restored;

/** From the folder alone; out is zero-initialised. */
FAB_STATUS study_restore(const char *folder, const fab_plan *plan, study_restored *out, fab_error *err);
/** NULL is fine. */
void study_restored_free(study_restored *restored);
FAB_OWNER(study_restored, study_restored_free)

typedef struct study_scene {
    fab_assessment_request request; /* policies, times, rates: borrowed */
    fab_fabric_spec spec;           /* as built */
    fab_fabric *fabric;
    fab_context *context;         /* the first of those of draws, as assessment is */
    fab_context **contexts;       /* shape [n_draws]: the paths under each seed */
    fab_assessment **assessments; /* likewise */
    uint64_t n_draws;
    bool is_drawn;    /* figures depend on the seed */
    fab_floor *floor; /* NULL: none */
    fab_racks racks;
    uint8_t *is_hot; /* [server]: in a hall where GPUs are throttled; NULL: all are */
    fab_scenarios *scenarios;
    fab_assessment *assessment;
    fab_component *component; /* ascending: what scenarios fail; of histories none */
    size_t n_components;
    study_restored *restored; /* owned: what the others borrow; NULL: the caller's */
} study_scene;

/**
 * @param[in] what     Without the fabric, which is built.
 * @param[in] request  Without context and racks. n_draws: seeds of paths, from that of `what` on; 0: as many as
 *                     fab_assess_draws() says, or one where those do not fit.
 * @param[in] seed     Of the scenarios.
 */
FAB_STATUS study_scene_init(const fab_context_request *what, const fab_assessment_request *request,
                            const char *scenarios, uint64_t seed, study_scene *out, fab_error *err);
void study_scene_release(study_scene *scene);

/** fab_assessment_settle() under the first seed; all have its rates. */
FAB_STATUS study_scene_settle(study_scene *scene, fab_error *err);

/**
 * The scene of a planned study, from its folder alone.
 * @retval FAB_EINPUT  planned by another version, or its files are not what they were
 */
FAB_STATUS study_scene_restore(const char *folder, const fab_plan *plan, const char *program, uint64_t max_bytes,
                               size_t n_threads, study_scene *out, fab_error *err);

/** Fills in what follows from the scene: counts, blocks, the healthy fabric under each variant, components, names. The
 * plan has its variants otherwise. */
FAB_STATUS study_scene_describe(const study_scene *scene, fab_plan *plan, fab_error *err);

/** Rows that a plan has of failures in histories: every class, then what else belongs to the model. */
#define STUDY_RATE_ROWS (FAB_FAILURE_N + 11)

typedef struct study_rate_row {
    const char *name;
    double *per_s;    /**< rate, or a part or factor; NULL: 0 */
    double *repair_s; /**< time */
} study_rate_row;

#define STUDY_SEEDS "seeds of paths" /**< a row that says how many; 0: nothing is drawn */

/** Seeds of paths of a plan; of one that does not say 1. False: it is damaged. */
bool study_seeds_of(const fab_plan *plan, uint64_t *out);

/** Where row i of a plan goes. */
study_rate_row study_rate_row_of(fab_failure_rates *rates, size_t i);

/** What a plan says of failures in histories. */
fab_failure_rates study_rates_of(const fab_plan *plan);

/** Appends the path of the copy that a store keeps of a file. */
FAB_STATUS study_copy_of(const char *folder, const fab_plan *plan, const char *given, size_t length, fab_str *out,
                         fab_error *err);

/** The design of a plan, with the copy of the file of an installed fabric in place of the one that was given. */
FAB_STATUS study_restore_design(const char *folder, const fab_plan *plan, fab_design *out, fab_error *err);

/** Scratch of one thread. */
typedef struct study_worker {
    const study_scene *scene;
    fab_assessor *assessor;   /* the first of those of draws */
    fab_assessor **assessors; /* shape [n_draws]; NULL before a draw is asked for */
    fab_outcome *of_draw;     /* shape [n_draws][variants] */
    fab_scenario scenario;
    uint32_t *component;
    size_t capacity;
} study_worker;

FAB_STATUS study_worker_init(const study_scene *scene, study_worker *out, fab_error *err);
void study_worker_release(study_worker *worker);

/**
 * A scenario: its outcomes, and what fails.
 * @param[out] out            Shape [variants].
 * @param[out] out_component  Indexes of components, ascending; valid until the worker's next scenario.
 */
FAB_STATUS study_worker_assess(study_worker *worker, uint64_t scenario, fab_outcome *out,
                               const uint32_t **out_component, size_t *out_n, fab_error *err);
