/**
 * @file advise.h
 * What an operator can change, and what each change buys.
 */
#pragma once

#include "fab/advice.h"
#include "fab/analysis.h"

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
fab_status fab_advise(const fab_advise_request *request, fab_advice **out, fab_error *err) FAB_MUST_USE;

void fab_advice_free(fab_advice *advice);
