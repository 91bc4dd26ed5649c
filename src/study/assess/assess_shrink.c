/* Policy shrink: replicas that have lost a server stay out, and the others go on without them.
 *
 * Data-parallel rings close over who is out: as NCCL lays them where a server has one rank of each, in the order of
 * ranks. Where rings turn within servers, or reductions are none, phases keep the rates that they have with all
 * replicas. The bytes of a ring follow from how many it has. */
#include "assess_internal.h"

#include "fab/design.h"
#include "fab/iterate.h"
#include "fab/sharding.h"

/* Ranks between two neighbours of a data-parallel group. */
static uint64_t shrink_stride(const fab_job_spec *job) {
    static const char *const NAMES[] = {"tp", "cp", "pp"};
    const uint64_t sizes[] = {job->tp, job->cp, job->pp};
    const char *dp = strstr(job->order, "dp");
    uint64_t stride = 1;
    for (size_t i = 0; i < FAB_N_OF(NAMES); i++) {
        const char *at = strstr(job->order, NAMES[i]);
        stride *= at != NULL && (dp == NULL || at < dp) ? sizes[i] : 1;
    }
    return stride;
}

uint64_t assess_shrink_replica(const fab_traffic *t, uint32_t gpu) {
    return t->rank_of_gpu[gpu] / shrink_stride(&t->job) % t->job.dp;
}

static bool assess_shrinks(const fab_assessment *d) {
    FAB_ANY(shrinks, i, d->request.n_policies, d->request.policies[i] == FAB_POLICY_SHRINK);
    return shrinks;
}

bool fab_assess_shrinks(const fab_traffic *t, const fab_fabric *f) {
    return assess_shrink_check(t, f, NULL) == FAB_OK;
}

fab_status assess_shrink_check(const fab_traffic *t, const fab_fabric *f, fab_error *err) {
    bool trains = t->has_job && t->job.kind == FAB_JOB_TRAINING && t->model.layers > 0;
    uint64_t ranks = trains ? t->job.tp * t->job.cp * t->job.pp * t->job.dp : 0;
    if (fab_assess_serves(t, f)) {
        return FAB_OK; /* its replicas go on without each other under every policy */
    }
    FAB_REFUSE_IF(!trains || ranks != t->n_ranks, err, FAB_EUNSUPPORTED, "--policy",
                  "shrink: replicas are those of one training job with data parallelism, and there is none");
    FAB_REFUSE_IF(f->forwards_in_domain && f->gpus_per_domain > f->gpus_per_server, err, FAB_EUNSUPPORTED, "--policy",
                  "shrink: servers of one scale-up domain relay for each other, so that no replica is out alone");
    FAB_REFUSE_IF(t->job.ep > 1, err, FAB_EUNSUPPORTED, "--policy",
                  "shrink: the experts of a layer are spread over ep=%" PRIu64 " replicas, which cannot do without one",
                  t->job.ep);
    return FAB_OK;
}

uint64_t assess_shrink_replicas(const fab_assessment *d) {
    return d->traffic->job.dp;
}

void assess_shrink_find(const fab_assessor *a, const fab_relocation *to, uint8_t *is_out, uint64_t *out_n) {
    const fab_assessment *d = a->assessment;
    const fab_traffic *t = d->traffic;
    *out_n = 0;
    memset(is_out, 0, t->job.dp * sizeof *is_out);
    for (size_t i = 0; i < to->n_unplaced; i++) {
        uint32_t first = to->unplaced[i] * d->fabric->gpus_per_server;
        for (uint32_t gpu = first; gpu < first + d->fabric->gpus_per_server && gpu < fab_n_gpus(d->fabric); gpu++) {
            if (t->rank_of_gpu[gpu] != FAB_NONE) {
                uint64_t replica = assess_shrink_replica(t, gpu);
                *out_n += is_out[replica] == 0;
                is_out[replica] = 1;
            }
        }
    }
}

void assess_shrink_mark(fab_assessor *a, uint8_t has_rank) {
    const fab_traffic *t = a->assessment->traffic;
    const assess_history *h = a->history;
    const uint64_t stride = h->n_out > 0 ? shrink_stride(&t->job) : 1;
    for (uint64_t i = 0; i < t->n_ranks / stride && h->n_out > 0; i++) { /* runs of ranks of one replica */
        for (uint64_t k = 0; k < stride && h->is_out[i % t->job.dp] != 0; k++) {
            a->has_rank[h->place.new_gpu[t->gpu_of_rank[i * stride + k]]] = has_rank;
        }
    }
}

/* Of a rank, with the rest of its coordinates. */
typedef struct shrink_rank {
    uint64_t replica, other;
} shrink_rank;

static shrink_rank shrink_rank_of(const fab_traffic *t, uint64_t stride, uint64_t rank) {
    const uint64_t replica = rank / stride % t->job.dp;
    return (shrink_rank){replica, rank - replica * stride};
}

void assess_shrink_rings(fab_assessment *d) {
    const fab_traffic *t = d->traffic;
    const fab_fabric *f = d->fabric;
    if (!assess_shrinks(d) || d->serves) {
        return;
    }
    const uint64_t stride = shrink_stride(&t->job);
    bool close = fab_job_shard_groups(&t->job) == 1 && fab_is_tree(f) && f->gpus_per_domain <= f->gpus_per_server;
    for (size_t p = 0; p < d->n_phases && close; p++) {
        for (uint64_t i = 0; i < t->phases[p].n_flows && close; i++) {
            const fab_flow flow = fab_phase_flow(&t->phases[p], i);
            if (t->rank_of_gpu[flow.src] == FAB_NONE || t->rank_of_gpu[flow.dst] == FAB_NONE) {
                return; /* of storage: there is more than replicas */
            }
            const shrink_rank from = shrink_rank_of(t, stride, t->rank_of_gpu[flow.src]);
            const shrink_rank to = shrink_rank_of(t, stride, t->rank_of_gpu[flow.dst]);
            const bool is_next = (from.replica + 1) % t->job.dp == to.replica && from.other == to.other;
            const bool is_one_server = flow.src / f->gpus_per_server == flow.dst / f->gpus_per_server;
            close = from.replica == to.replica || (is_next && !is_one_server);
        }
    }
    d->rings_close = close;
}

void assess_shrink_close(fab_assessor *a) {
    const fab_fabric *f = a->assessment->fabric;
    const fab_traffic *t = a->assessment->traffic;
    const uint64_t stride = shrink_stride(&t->job);
    assess_history *h = a->history;
    size_t n = 0;
    for (uint32_t gpu = 0; gpu < fab_n_gpus(f); gpu++) {
        h->ring_gpu[gpu] = h->place.new_gpu[gpu];
        h->is_gpu_out[gpu] = 0;
        if (t->rank_of_gpu[gpu] != FAB_NONE) {
            const shrink_rank rank = shrink_rank_of(t, stride, t->rank_of_gpu[gpu]);
            uint64_t next = rank.replica;
            while (h->is_out[next] != 0) {
                next = (next + 1) % t->job.dp;
            }
            h->is_gpu_out[gpu] = h->is_out[rank.replica];
            h->ring_gpu[gpu] = h->place.new_gpu[t->gpu_of_rank[rank.other + next * stride]];
        }
        if (h->ring_gpu[gpu] != gpu) {
            h->ring_moved[n++] = gpu;
        }
    }
    h->rings = (fab_relocation){.moved = h->ring_moved, .n_moved = n, .new_gpu = h->ring_gpu};
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
    const fab_assessment *d = a->assessment;
    fab_job_times scaled = *times;
    FAB_OWNED_NEW(fab_traffic, smaller, 1, err); /* the phases stay the caller's */
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
        scaled.dp_reduce.latency_s *= ((double)n_left - 1) / (n - 1); /* and has n - 1 steps */
        scaled.dp_gather.latency_s *= ((double)n_left - 1) / (n - 1);
    }
    job->dp = n_left;
    job->batch = after * n_left;
    return fab_iterate_times(smaller, &scaled, compute, chosen, d->what->design->fabric.max_bytes, out, err);
}
