/**
 * Who gets how much of an all-to-all-v: ranks of an expert group by tokens, GPUs of a table group by what they hold.
 */
#pragma once

#include "fab/job_spec.h"
#include "fab/model.h"

/** What lies on a GPU, over the mean. */
typedef struct fab_table_share {
    double columns, lookups;
} fab_table_share;

/** Whether ranks send and receive different amounts. */
bool fab_job_is_skewed(const fab_job_spec *job);

/**
 * Tokens that the ranks of an expert group get, over the mean: by expert-skew or expert-loads, no expert more than all
 * tokens.
 * @param[in]  job  With its sizes.
 * @param[out] out  Shape [ep].
 * @retval FAB_EINPUT  the file has not a number for each expert, or too few that are above 0
 */
FAB_STATUS fab_job_expert_shares(const fab_job_spec *job, const char *where, double *out, fab_error *err);

/** Chances that a token of an expert group goes to one of its scale-up domains, and to one of its GPUs. Experts are
 * drawn from as many domains as it may visit: `drawn_from` of them, at least top_k, else neither is known. */
typedef struct fab_expert_visits {
    uint32_t m, k; /**< domains, members in each */
    double domain, gpu, drawn_from;
} fab_expert_visits;

/** @param[in] k  Divides ep. */
fab_expert_visits fab_job_expert_visits(const fab_job_spec *job, uint32_t k);

/** Tables of tables-file, of the model, or as many equal ones as the job says; the caller's. */
FAB_STATUS fab_job_find_tables(const fab_job_spec *job, const char *where, fab_embedding_table **out, size_t *out_n,
                               fab_error *err);

/**
 * Tables cut by columns and given, largest first, to the GPU with the fewest lookups.
 * @param[out] out  Shape [n_gpus].
 * @retval FAB_EINPUT  some GPU would have nothing
 */
FAB_STATUS fab_job_table_shares(const fab_embedding_table *tables, size_t n, uint32_t n_gpus, const char *where,
                                fab_table_share *out, fab_error *err);
