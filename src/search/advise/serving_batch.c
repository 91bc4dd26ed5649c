/* A service that more requests reach than it can serve: what batch carries them on the same GPUs. */
#include "advise_internal.h"
#include "fab/design.h"
#include "fab/gcd.h"
#include "fab/stages.h"

/* What the fastest engine serves with a batch. False where the batch is refused, or memory does not hold it. */
static fab_status serve_batch(const fab_replay *base, const fab_result *first, size_t engine, fab_design *design,
                              fab_serving *out, bool *out_fits, fab_error *err) {
    FAB_OWNS(fab_context_free_owned) fab_context *context = NULL;
    FAB_OWNS(fab_result_release_rest)
    fab_result found = {.command = first->command, .fabrics = first->fabrics, .n_fabrics = first->n_fabrics};
    const fab_traffic *traffic = NULL;
    const fab_context_request *was = fab_context_what(base->context);
    const fab_context_request what = {.base = base->context,
                                      .design = design,
                                      .traffic = "job",
                                      .engines = &was->engines[engine],
                                      .n_engines = 1,
                                      .seed = was->seed};
    fab_error why = {0};
    FAB_PASS(fab_context_new(&what, &context, err));
    const fab_status status = fab_context_traffic(context, &traffic, &why);
    *out_fits = status == FAB_OK && traffic->memory.fits;
    if (!*out_fits) {
        return fab_unless_refused(err, status, &why);
    }
    const fab_replay replay = {
        .context = context, .n_seeds = base->n_seeds, .n_threads = base->n_threads, .rates = true, .times_only = true};
    FAB_PASS(fab_replay_run(&replay, &found, err));
    *out_fits = found.n_serving > 0;
    *out = *out_fits ? found.serving[0] : *out;
    return FAB_OK;
}

#define MOST_FLOWS 65536 /* times seeds, of each of some twenty replays */

fab_status fab_verdict_try_batches(const fab_replay *replay, const fab_result *result, fab_run_verdict *verdict,
                                   fab_error *err) {
    const fab_context_request *what = fab_context_what(replay->context);
    const fab_job_spec *job = &result->job;
    const uint64_t reads = job->microbatch * (job->prefill_replicas > 0 ? job->prefill_replicas : job->dp);
    FAB_OWNED fab_design *design = NULL;
    uint64_t n_flows = 0;
    FAB_EACH(const fab_phase_result, phase, result->phases, result->n_phases) {
        n_flows += phase->flows * replay->n_seeds;
    }
    if (result->n_serving <= verdict->engine || result->serving[verdict->engine].arrivals_per_s > 0 ||
        what->design->n_jobs != 1 || what->design->fabric.transport.kind != FAB_TRANSPORT_FLUID ||
        n_flows > MOST_FLOWS) {
        return FAB_OK;
    }
    const uint64_t generates = fab_serving_replicas(job, true);
    const uint64_t unit = reads / fab_gcd(reads, generates) * generates;
    fab_larger_batch *out = &verdict->larger;
    const double given = result->serving[verdict->engine].most_requests_per_s;
    out->is_tried = true;
    uint64_t low = (job->batch + unit - 1) / unit; /* too few */
    uint64_t high = 0;                             /* enough, or too many for the memory; 0: not known */
    FAB_PASS(FAB_NEW(design, 1, err));
    fab_design_copy(what->design, design);
    while (high == 0 || high - low > 1) {
        const uint64_t next = high == 0 ? 2 * low : low + (high - low) / 2;
        fab_serving s = {.batch_s = 0};
        bool fits = false;
        design->jobs[0].batch = next * unit;
        FAB_PASS(serve_batch(replay, result, verdict->engine, design, &s, &fits, err));
        const bool is_enough = fits && s.arrivals_per_s > 0 && s.load_ratio <= FAB_SERVING_HIGH;
        high = is_enough || !fits ? next : high;
        low = is_enough || !fits ? low : next;
        const bool is_settled = out->load_ratio > 0 && out->load_ratio <= FAB_SERVING_HIGH;
        if (is_enough || (fits && !is_settled && s.most_requests_per_s > fmax(out->most_requests_per_s, given))) {
            *out = (fab_larger_batch){.is_tried = true,
                                      .batch = next * unit,
                                      .load_ratio = s.load_ratio,
                                      .most_requests_per_s = s.most_requests_per_s,
                                      .first_token_p99_s = s.first_token_p99_s,
                                      .token_p99_s = s.token_p99_s};
        }
    }
    return FAB_OK;
}
