/** Threads compute blocks of scenarios, and store them one after the other. See src/doc/adr/0037-study-store.md. */
#pragma once

#include "fab/study.h"

/** A scenario's outcomes and what fails, by thread `worker`; as study_worker_assess(). */
typedef fab_status study_assess(void *context, size_t worker, uint64_t scenario, fab_outcome *out,
                                const uint32_t **out_component, size_t *out_n, fab_error *err);

/**
 * Runs what is left of a share.
 * @param[in] job  Folder and program are not looked at.
 * @param[out] out  Also written after a failure: what is stored.
 */
FAB_STATUS study_loop_run(const fab_study_job *job, const fab_plan *plan, fab_shard *shard, study_assess *assess,
                          void *context, fab_study_tally *out, fab_error *err);
