/* What fits the memory of GPUs: the batch of a service that nobody gave. Says no to a job that does not fit, and what
 * would help. */
#include "fab/sharding.h"
#include "traffic_internal.h"

#include "fab/units.h"

/* Sequences that a replica serves at once where nobody says how many: the fewest that go with the sizes, doubled while
 * that leaves memory-headroom, up to what vLLM takes by default (--max-num-seqs). */
#define MOST_SERVED 256

void fab_job_fill_replicas(fab_job *job) {
    const uint64_t one = job->spec.batch;
    const uint64_t most = MOST_SERVED * fab_serving_replicas(&job->spec, true);
    const uint64_t microbatches = job->microbatches;
    for (uint64_t each = MOST_SERVED; job->batch_is_open && each > 1; each /= 2) {
        if (one * each > most) {
            continue;
        }
        job->spec.batch = job->model.batch = one * each;
        job->microbatches = microbatches * each;
        fab_job_memory_make(&job->spec, &job->model, job->microbatches, &job->memory);
        if (job->memory.has_headroom) {
            return;
        }
    }
    job->spec.batch = job->model.batch = one;
    job->microbatches = microbatches;
}

enum {
    SHARD_OPTIMIZER,
    RECOMPUTE,
    SPLIT_SEQUENCE,
    ONE_SEQUENCE,
    TWICE_THE_STAGES, /* and four and eight times, out of replicas: as many as fit one after the other */
    SHARD_EVERYTHING = TWICE_THE_STAGES + 3,
    N_CHANGES
};
#define STAGES (7U << TWICE_THE_STAGES) /* of which at most one */

/* One step towards less memory; false where it is taken already or impossible. Writes it as on the command line. */
static bool change_job(fab_job_spec *job, unsigned change, char *out, size_t size) {
    fab_zero zero = change == SHARD_OPTIMIZER ? FAB_ZERO_1 : FAB_ZERO_3;
    uint64_t times = UINT64_C(2) << (change - TWICE_THE_STAGES) % 3;
    bool can = false;
    switch (change) {
    case SHARD_OPTIMIZER:
    case SHARD_EVERYTHING:
        can = fab_job_zero(job) < zero && job->dp * job->cp > 1;
        job->zero = zero;
        (void)snprintf(out, size, "zero=%s", fab_zeros[zero]);
        break;
    case RECOMPUTE:
        can = job->recompute != FAB_RECOMPUTE_FULL;
        job->recompute = FAB_RECOMPUTE_FULL;
        (void)snprintf(out, size, "recompute=full");
        break;
    case SPLIT_SEQUENCE:
        can = !job->sequence_parallel && job->tp > 1;
        job->sequence_parallel = true;
        (void)snprintf(out, size, "sequence-parallel=yes");
        break;
    case ONE_SEQUENCE:
        can = job->microbatch > 1;
        job->microbatch = 1;
        (void)snprintf(out, size, "microbatch=1");
        break;
    default:
        can = job->dp % times == 0 && job->dp / times * job->cp % job->ep == 0;
        job->pp *= times;
        job->dp /= times;
        (void)snprintf(out, size, "pp=%" PRIu64 ",dp=%" PRIu64, job->pp, job->dp);
    }
    return can;
}

/* The job with the changes of the mask; false where one of them is impossible, or they do not suffice. */
static bool try_changes(const fab_job *job, const fab_fabric *fabric, unsigned mask, char *out, size_t size) {
    fab_job tried = *job;
    fab_job_spec *spec = &tried.spec;
    out[0] = '\0';
    for (unsigned i = 0; i < N_CHANGES; i++) {
        char text[64];
        if ((mask & 1U << i) == 0) {
            continue;
        }
        if (!change_job(spec, i, text, sizeof text)) {
            return false;
        }
        fab_append(out, size, "%s%s", out[0] != '\0' ? "," : "", text);
    }
    tried.size[FAB_DIM_PP] = (uint32_t)spec->pp;
    tried.size[FAB_DIM_DP] = (uint32_t)spec->dp;
    uint64_t group = spec->microbatch * spec->dp;
    tried.microbatches = spec->batch / (group > 0 ? group : 1);
    if (fab_job_check_stages(spec, NULL, NULL) != FAB_OK || fab_job_order(&tried, NULL) != FAB_OK ||
        (spec->kind == FAB_JOB_TRAINING && fab_job_share(&tried, fabric, NULL) != FAB_OK) ||
        (spec->interleave > 1 && tried.microbatches % spec->pp != 0)) {
        return false;
    }
    fab_job_memory_make(spec, &tried.model, tried.microbatches, &tried.memory);
    return tried.memory.fits;
}

/* The fewest changes that make it fit. */
static bool find_help(const fab_job *job, const fab_fabric *fabric, char *out, size_t size) {
    unsigned n_masks = job->spec.kind == FAB_JOB_RANKING ? 0 : 1U << N_CHANGES;
    unsigned allowed = job->spec.kind == FAB_JOB_SERVING ? STAGES : n_masks - 1;
    for (int n = 1; n <= 5; n++) {
        for (unsigned mask = 1; mask < n_masks; mask++) {
            if ((mask & ~allowed) == 0 && __builtin_popcount(mask) == n && __builtin_popcount(mask & STAGES) <= 1 &&
                try_changes(job, fabric, mask, out, size)) {
                return true;
            }
        }
    }
    return false;
}

fab_status fab_job_check_memory(const fab_job *job, const fab_fabric *fabric, fab_error *err) {
    const fab_job_memory *m = &job->memory;
    const fab_job_spec *s = &job->spec;
    char help[128];
    char parts[3][32];
    bool check =
        s->memory_check == FAB_MEMORY_CHECK_ON || (s->memory_check == FAB_MEMORY_CHECK_AUTO && job->model_given);
    if (m->fits || !check) {
        return FAB_OK;
    }
    bool helped = find_help(job, fabric, help, sizeof help);
    const char *state = job->spec.kind == FAB_JOB_SERVING ? "cached keys and values" : "gradients and optimizer";
    return fab_fail(
        err, FAB_EINPUT, job->where,
        "%s needs %s on a GPU of stage %" PRIu64 " (weights %s, %s %s, activations %s), and a %s has %s; by "
        "the rule of thumb it takes %" PRIu64 " GPUs%s; %s%s (memory-check=off lets it pass)",
        s->model, FAB_SAY(m->total_bytes, FAB_UNIT_BYTES), m->stage,
        fab_quantity_format(parts[0], m->weights_bytes, FAB_UNIT_BYTES), state,
        fab_quantity_format(parts[1], m->gradients_bytes + m->optimizer_bytes + m->cache_bytes, FAB_UNIT_BYTES),
        fab_quantity_format(parts[2], m->activations_bytes, FAB_UNIT_BYTES), s->accelerator.name,
        FAB_SAY(m->capacity_bytes, FAB_UNIT_BYTES), m->rule_gpus,
        m->rule_gpus > job->n_gpus ? ", more than the job has" : "",
        helped ? "it would fit with " : "no setting tried makes it fit", helped ? help : "");
}
