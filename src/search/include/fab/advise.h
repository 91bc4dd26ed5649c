/** What an operator can change, and what each change buys. */
#pragma once

#include "fab/advice.h"
#include "fab/analysis.h"
#include "fab/contention.h"
#include "fab/verdict.h"

typedef struct fab_design fab_design;

#define FAB_ADVISE_MIN_SEEDS UINT64_C(8) /**< fewer give no interval worth printing */

typedef struct fab_advise_request {
    const fab_context *context; /**< the base: its design has the job, its first engine is what changes. Borrowed */
    uint64_t n_seeds;           /**< at least FAB_ADVISE_MIN_SEEDS are used */
    size_t n_threads;
    bool has_budget;
    uint64_t budget;     /**< most placements to try; without it 200, or fewer where one takes long */
    const char *command; /**< begin of a command line that repeats the base, without --engine: the best is added */
    void (*progress)(void *context, double done, size_t total); /**< may be NULL; total is an upper bound */
    void *progress_context;
} fab_advise_request;

/**
 * Evaluates changes of the engine, of the rank order and of the servers one at a time, and the best of them together,
 * greedily, up to FAB_ADVICE_CHANGES. Nothing is advised that was not evaluated. Figures are compared seed by seed with
 * those of the base; servers are searched on other seeds than those that judge the outcome, and the best combination is
 * checked on yet others. See src/doc/adr/0022-advice.md.
 * @param[out] out  Written on success only; release with fab_advice_free().
 * @retval FAB_EINPUT, FAB_EUNSUPPORTED, FAB_EUNREACHABLE  the base itself does not route; a change that does not is a
 *                  row of its own
 * Complexity: (changes + budget + up to 4 more rounds of changes) replays. The number of replays depends on the design,
 * the seeds and the budget alone, so the outcome is the same for any number of threads and any machine.
 */
FAB_STATUS fab_advise(const fab_advise_request *request, fab_advice **out, fab_error *err);

void fab_advice_free(fab_advice *advice);

#define FAB_JOB_REMEDY_FLOWS 32768 /**< of all jobs, times seeds: of more nothing is tried */

/**
 * Runs all jobs together with 16 queue pairs, sprayed, and with their servers in order, where they were given
 * otherwise and slow each other down: by chance where that is known.
 * @param[in]     first       As fab_contend() has it.
 * @param[in]     place       Of the engine that the jobs have now, among those of the base.
 * @param[in]     engine      The same among those of the contention.
 * @param[in,out] contention  Of fab_contend(); gets remedies, or n_untried.
 * Complexity: three times that of fab_contend() under one engine. The same for any number of threads.
 */
FAB_STATUS fab_job_remedies_try(const fab_replay *base, const fab_result *first, size_t place, size_t engine,
                                fab_contention *contention, fab_error *err);

#define FAB_ALTERNATIVE_FLOWS 8192 /**< times seeds: of more nothing is tried, so that the answer comes as fast */
#define FAB_ALTERNATIVE_PACKETS                                                                                        \
    600 /**< the same under a transport of packets, where a flow costs a hundred times as much */

/**
 * Whether engines may be tried: the phases have few flows. `replay` gets trial_flows, for its estimate of memory.
 * Complexity: O(flows).
 */
FAB_STATUS fab_verdict_plan(fab_replay *replay, fab_error *err);

/**
 * Routes the phases that take longer than they must under more queue pairs and spraying, and says what the iteration,
 * or all phases one after the other, would take. Engines that were given are not tried again.
 * @param[in]     replay   What `result` was made by, with rates; trial_flows 0: nothing is tried.
 * @param[in,out] verdict  After fab_verdict_begin().
 * Complexity: up to FAB_VERDICT_ALTERNATIVES replays of these phases. Depends on nothing but design, options and seed.
 */
FAB_STATUS fab_verdict_try(const fab_replay *replay, const fab_result *result, fab_run_verdict *verdict,
                           fab_error *err);

/**
 * Of a service that is overloaded under the fastest engine: finds the least batch that carries its requests, at most
 * FAB_SERVING_HIGH of what it can serve, or the one within memory that serves most. Else nothing.
 * @param[in,out] verdict  After fab_verdict_begin().
 * Complexity: two replays of the job for every doubling of the batch.
 */
FAB_STATUS fab_verdict_try_batches(const fab_replay *replay, const fab_result *result, fab_run_verdict *verdict,
                                   fab_error *err);
