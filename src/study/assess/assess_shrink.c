/* Policy shrink: replicas that have lost a server stay out, and the others go on without them.
 *
 * The phases keep the rates that they have with all replicas where the job is: who takes the place of a neighbour that
 * is out is taken to be as far away. What changes is the number of replicas that share the batch, and the bytes of
 * their rings. */
#include "assess_internal.h"

#include "fab/design.h"
#include "fab/iterate.h"
#include "fab/memory.h"
#include "fab/sharding.h"

#include <inttypes.h>
#include <string.h>

/* Ranks between two neighbours of a data-parallel group. */
static uint64_t shrink_stride(const fab_job_spec *job) {
    static const char *const NAMES[] = {"tp", "cp", "pp"};
    const uint64_t sizes[] = {job->tp, job->cp, job->pp};
    const char *dp = strstr(job->order, "dp");
    uint64_t stride = 1;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const char *at = strstr(job->order, NAMES[i]);
        stride *= at != NULL && (dp == NULL || at < dp) ? sizes[i] : 1;
    }
    return stride;
}

fab_status assess_shrink_check(const fab_assessment *d, fab_error *err) {
    const fab_traffic *t = d->traffic;
    bool shrinks = false;
    for (size_t i = 0; i < d->request.n_policies; i++) {
        shrinks = shrinks || d->request.policies[i] == FAB_POLICY_SHRINK;
    }
    bool trains = t->has_job && t->job.kind == FAB_JOB_TRAINING && t->model.layers > 0;
    uint64_t ranks = trains ? t->job.tp * t->job.cp * t->job.pp * t->job.dp : 0;
    if (shrinks && (!trains || ranks != t->n_ranks)) {
        return fab_fail(err, FAB_EUNSUPPORTED, "--policy",
                        "shrink: replicas are those of one training job with data parallelism, and there is none");
    }
    if (shrinks && d->fabric->forwards_in_domain && d->fabric->gpus_per_domain > d->fabric->gpus_per_server) {
        return fab_fail(err, FAB_EUNSUPPORTED, "--policy",
                        "shrink: servers of one scale-up domain relay for each other, so that no replica is out alone");
    }
    if (shrinks && t->job.ep > 1) {
        return fab_fail(err, FAB_EUNSUPPORTED, "--policy",
                        "shrink: the experts of a layer are spread over ep=%" PRIu64
                        " replicas, which cannot do without one",
                        t->job.ep);
    }
    return FAB_OK;
}

uint64_t assess_shrink_replicas(const fab_assessment *d) {
    return d->traffic->job.dp;
}

void assess_shrink_find(const fab_assessor *a, const fab_relocation *to, uint8_t *is_out, uint64_t *out_n) {
    const fab_assessment *d = a->assessment;
    const fab_traffic *t = d->traffic;
    const uint64_t stride = shrink_stride(&t->job);
    *out_n = 0;
    memset(is_out, 0, t->job.dp * sizeof *is_out);
    for (size_t i = 0; i < to->n_unplaced; i++) {
        uint32_t first = to->unplaced[i] * d->fabric->gpus_per_server;
        for (uint32_t gpu = first; gpu < first + d->fabric->gpus_per_server && gpu < fab_n_gpus(d->fabric); gpu++) {
            if (t->rank_of_gpu[gpu] != FAB_NONE) {
                uint64_t replica = t->rank_of_gpu[gpu] / stride % t->job.dp;
                *out_n += is_out[replica] == 0;
                is_out[replica] = 1;
            }
        }
    }
}

void assess_shrink_mark(fab_assessor *a, const uint8_t *is_out, uint8_t has_rank) {
    const fab_traffic *t = a->assessment->traffic;
    const uint64_t stride = shrink_stride(&t->job);
    for (uint64_t i = 0; i < t->n_ranks / stride; i++) { /* runs of ranks of one replica */
        for (uint64_t k = 0; k < stride && is_out[i % t->job.dp] != 0; k++) {
            a->has_rank[a->history->new_gpu[t->gpu_of_rank[i * stride + k]]] = has_rank;
        }
    }
}

static void shrink_scale(fab_phase_time *time, double factor) {
    time->transfer_s *= factor;
    time->latency_s *= factor;
}

/* Sequences of a replica: of the batch that is kept so many that all of it is done, of the fullest replica. */
static uint64_t shrink_sequences(const fab_job_spec *job, const fab_iteration *chosen, uint64_t n_left, bool keeps) {
    const uint64_t microbatch = chosen != NULL ? chosen->microbatch : job->microbatch;
    const uint64_t interleave = chosen != NULL ? chosen->interleave : job->interleave;
    const uint64_t unit = microbatch * (interleave > 1 ? job->pp : 1); /* what the schedule allows */
    const uint64_t whole = keeps ? job->batch : job->batch / job->dp * n_left;
    return (whole + n_left * unit - 1) / (n_left * unit) * unit;
}

fab_status assess_shrink_iterate(const fab_assessor *a, const fab_job_times *times, const fab_compute_model *compute,
                                 const fab_iteration *chosen, uint64_t n_out, fab_iteration *out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_assessment *d = a->assessment;
    fab_job_times scaled = *times;
    fab_traffic *smaller = NULL; /* the phases stay the caller's */
    FAB_TRY(FAB_NEW(smaller, 1, err));
    *smaller = *d->traffic;
    fab_job_spec *job = &smaller->job;
    const uint64_t before = job->batch / job->dp;
    const uint64_t n_left = job->dp - n_out;
    const uint64_t after = shrink_sequences(job, chosen, n_left, d->request.rates.shrunk_batch == 0);
    const double factor = (double)after / (double)before;
    shrink_scale(&scaled.tp, factor);
    shrink_scale(&scaled.cp, factor);
    shrink_scale(&scaled.pp, factor);
    if (fab_job_data_exchanges(job, before / job->microbatch).with_microbatch) {
        shrink_scale(&scaled.dp_reduce, factor);
        shrink_scale(&scaled.dp_gather, factor);
    }
    if (fab_job_shard_groups(job) == 1) { /* a ring of n sends (n - 1) / n of its bytes */
        const double n = (double)job->dp;
        const double ring = (1 - 1 / (double)n_left) / (1 - 1 / n);
        scaled.dp_reduce.transfer_s *= ring;
        scaled.dp_gather.transfer_s *= ring;
    }
    job->dp = n_left;
    job->batch = after * n_left;
    FAB_TRY(fab_iterate_times(smaller, &scaled, compute, chosen, d->what->design->fabric.max_bytes, out, err));
done:
    FAB_FREE_ALL(smaller);
    return status;
}
