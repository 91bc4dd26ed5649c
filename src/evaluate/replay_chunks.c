/* A job whose chunks are chosen is replayed once to choose them, and from then on with their transfers. */

#include "fab/design.h"
#include "fab/iterate.h"
#include "fab/replay_memory.h"
#include "fab/timed_phases.h"
#include "context/context_parts.h"

/* Whether `auto` is to choose the chunks: those that one seed of the first engine is fastest with when only one of them
 * is routed, by fair shares: the same job under every transport. `tried`: routes that the job may have with them too.
 */
static fab_status choose_chunks(const fab_replay *replay, const fab_fabric_result *fabric, uint64_t *out,
                                fab_transfer_scratch *tried, fab_error *err) {
    fab_replay first = {.context = replay->context,
                        .n_seeds = 1,
                        .n_threads = replay->n_threads,
                        .kept_paths = replay->kept_paths,
                        .rates = true,
                        .times_only = true,
                        .fluid = true};
    FAB_OWNS(fab_result_release) fab_result result = {.n_fabrics = 1};
    FAB_OWNS(fab_timed_memo_release) fab_timed_memo memo = {.timed = NULL};
    FAB_OWNED fab_iteration *it = NULL;
    bool is_known = false;
    *out = 1;
    FAB_PASS(FAB_NEW(result.fabrics, 1, err));
    *result.fabrics = *fabric;
    result.fabrics->front_end = NULL; /* is the other's */
    FAB_PASS(fab_transfer_is_known(replay->context, 0, &is_known, err));
    if (is_known) {
        FAB_PASS(FAB_NEW(it, 1, err));
        fab_error why = {.code = FAB_OK};
        const fab_status status =
            fab_timed_iteration(&memo, replay->context, replay->n_threads, result.fabrics, it, &why);
        *out = status == FAB_OK ? it->interleave : 1;
        FAB_REFUSE_IF(status != FAB_OK && status != FAB_EUNSUPPORTED && status != FAB_ENOSOLUTION, err, status,
                      why.where, "%s", why.text);
        if (memo.scratch != NULL) {
            *tried = *memo.scratch;
            *memo.scratch = (fab_transfer_scratch){.rate = NULL};
        }
    } else {
        FAB_PASS(fab_replay_run(&first, &result, err));
        *out = result.n_iterations > 0 ? result.iterations[0].interleave : 1;
    }
    return FAB_OK;
}

fab_status fab_replay_choose_chunks(const fab_replay *replay, const fab_result *result, fab_design **out_design,
                                    fab_context **out, fab_error *err) {
    const fab_context_request *what = fab_context_what(replay->context);
    const fab_next_hops *next_hops = NULL;
    const fab_dag *dag = NULL;
    const fab_traffic *traffic = NULL;
    FAB_OWNED fab_design *design = NULL;
    FAB_OWNS(fab_transfer_scratch_release) fab_transfer_scratch tried = {.rate = NULL};
    uint64_t chunks = 1;
    *out_design = NULL;
    *out = NULL;
    FAB_PASS(fab_replay_check_tables(replay, err)); /* who is refused is refused in this order */
    FAB_PASS(fab_context_next_hops(replay->context, &next_hops, err));
    FAB_PASS(fab_context_dag(replay->context, &dag, err));
    FAB_PASS(fab_context_traffic(replay->context, &traffic, err));
    const fab_job_spec *job = &traffic->job;
    if (replay->rates && what->gpus == NULL && what->given == NULL && fab_iterates(traffic, result, what->traffic) &&
        job->interleave_auto && job->interleave == 1 && job->pp > 1) {
        FAB_PASS(choose_chunks(replay, result->fabrics, &chunks, &tried, err));
    }
    if (chunks > 1) {
        FAB_PASS(FAB_NEW(design, 1, err));
        *design = *what->design;
        design->jobs[0].routed_chunks = chunks;
        const fab_context_request request = {.base = replay->context, .design = design};
        FAB_PASS(fab_context_new(&request, out, err));
        FAB_PASS(fab_transfer_go_on(*out, 0, &tried, err));
        (*out)->parts->tried = tried;
        tried = (fab_transfer_scratch){.rate = NULL};
        *out_design = design;
        design = NULL;
    }
    return FAB_OK;
}
