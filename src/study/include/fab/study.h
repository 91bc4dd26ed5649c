/**
 * A study of failures in a folder: planned once, run by any number of workers, gathered. See
 * src/doc/adr/0037-study-store.md.
 */
#pragma once

#include "fab/relocate.h"
#include "fab/shard.h"

typedef struct fab_design fab_design;

typedef struct fab_study_request {
    const fab_design *design; /**< with its engines */
    const char *program;      /**< version of this program */
    const char *traffic;      /**< as for fab_traffic_make(), but no front-end */
    const char *scenarios;    /**< as for fab_scenarios_new() */
    const fab_policy *policies;
    size_t n_policies; /**< 0: those of fab_assess_policies(); none alone of classes of equal sets and of updates */
    uint64_t seed, n_seeds; /**< n_seeds of paths: 0: as many as fab_assess_draws() says */
    fab_study_figures figures;
    double sample_s; /**< how long to try scenarios for an estimate; at least one is tried */
} fab_study_request;

typedef struct fab_study_planned {
    fab_plan plan;         /**< release with fab_plan_release() */
    bool was_there;        /**< the folder held this very plan already */
    double scenario_s;     /**< processor seconds of a scenario, as tried */
    double scenario_bytes; /**< of the store, about */
} fab_study_planned;

/**
 * Checks everything that a run will need, tries a few scenarios, and makes the folder.
 * @param[out] out  Written on success only.
 * @retval FAB_EINPUT, FAB_EUNSUPPORTED  of the request; or the folder holds another plan
 */
FAB_STATUS fab_study_plan(const fab_study_request *request, const char *folder, fab_study_planned *out, fab_error *err);

typedef struct fab_study_job {
    const char *folder;
    const char *program;      /**< version of this program: rows of several versions do not go together */
    uint32_t shard, n_shards; /**< this worker's share: blocks b with b mod n_shards = shard */
    size_t n_threads;
    uint64_t max_bytes;          /**< memory that may be taken; 0: no limit */
    bool (*stop)(void *context); /**< true: end after the blocks that are begun; may be NULL */
    void *stop_context;
    void (*progress)(void *context, double done, size_t total); /**< scenarios of this run; may be NULL */
    void *progress_context;
} fab_study_job;

typedef struct fab_study_tally {
    uint64_t n_scenarios; /**< of the plan */
    uint64_t n_share;     /**< of them: for this worker to do */
    uint64_t n_before;    /**< of its share: were done already, by whomever */
    uint64_t n_run;       /**< of its share: done now */
} fab_study_tally;

/**
 * Runs what is left of a worker's share. Needs nothing but the folder. Ended at any moment and started again, with
 * whatever shares and threads, it goes on where it was.
 * @param[out] out  Also written when it was stopped, or failed on the way.
 * @retval FAB_EINPUT  no store, or planned by another version, or its files are not what they were
 * @retval FAB_EIO     somebody else writes this shard; cannot be written. What was stored is intact.
 */
FAB_STATUS fab_study_run(const fab_study_job *job, fab_study_tally *out, fab_error *err);
