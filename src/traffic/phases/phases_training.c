/*
 * Phases of one training iteration, in bytes over the whole iteration [Megatron-LM, Narayanan et al., SC'21].
 *
 * B batch, b microbatch, m = B / (b d) microbatches per pipeline, s sequence, h hidden, l layers, v interleaving, t, p,
 * d tensor, pipeline and data parallel size, a bytes per activation, P parameters, g bytes per gradient. Summed over
 * the job:
 *
 *     tp     8 B s h (t-1) l a              each device and layer 8 b s h (t-1)/t per microbatch
 *     pp     2 (p v - 1) B s h a [t]        [t]: without scatter/gather every tensor rank sends the whole
 *     dp     2 (d-1) P g                    each GPU 2 (d-1)/d of the parameters that it holds
 *     dp-rs  (d-1) P g,  dp-ag  (d-1) P w   sharded; w bytes per parameter. With zero=2 the first m times, with
 *                                           zero=3 the first m and the second 2m times: before the forward and the
 *                                           backward pass of every microbatch; see sharding.h
 *     dp-ar  2 (g-1) P g                    hybrid: the shards of g groups, once; dp-rs and dp-ag (n-1) P ... d/n
 *
 * One communicator alone (comm=K) has the share of its stage and of its replica in these.
 *
 * Each flow is computed from what its own GPU holds; the closed forms above are compared with the sum of the flows.
 */
#include "phases.h"

#include "fab/sharding.h"

fab_status fab_check_comm(const training *t, const char *name, uint32_t n_comms, fab_error *err) {
    FAB_REFUSE_IF(only_one(t) && t->wanted->comm >= n_comms, err, FAB_EINPUT, t->wanted->text,
                  "comm=%" PRIu32 " is outside 0 to %" PRIu32 ", the communicators of phase '%s'", t->wanted->comm,
                  n_comms - 1, name);
    return FAB_OK;
}

fab_status fab_open_phase(const training *t, fab_phase_builder *builder, const char *name, const char *collective,
                          uint64_t capacity, uint32_t n_comms, double expected_bytes, fab_error *err) {
    FAB_REFUSE_IF(expected_bytes > FAB_PHASE_MAX_BYTES, err, FAB_EINPUT, name,
                  "phase '%s' carries %.3g bytes in one iteration, above the limit of %.2g", name, expected_bytes,
                  FAB_PHASE_MAX_BYTES);
    FAB_PASS(fab_phase_open(builder, name, collective, capacity, err));
    builder->phase.expected_bytes = expected_bytes;
    builder->phase.n_comms = only_one(t) ? 1 : n_comms;
    builder->phase.first_comm = only_one(t) ? t->wanted->comm : 0;
    return FAB_OK;
}

/* A collective over the n members, of which each would send `bytes` by a ring. */
static fab_status add_collective(training *t, uint32_t n, double bytes, uint32_t passes, fab_job_collective algorithm,
                                 uint32_t comm, fab_phase_builder *builder, fab_error *err) {
    fab_phase *phase = &builder->phase;
    double result = bytes / passes / (n - 1.0) * n;
    phase->ranks = n;
    phase->result_bytes = result > phase->result_bytes ? result : phase->result_bytes; /* once all are there, / times */
    FAB_FORMAT(phase->algorithm, "%s", fab_job_collectives[algorithm]);
    if (algorithm != FAB_COLLECTIVE_RING) {
        return fab_comm_list_add(&t->others, t->members, n, result, comm, err);
    }
    emit_ring(t, n, bytes, comm, builder);
    return FAB_OK;
}

/* --- tensor parallelism ------------------------------------------------------------------------------------------- */

static fab_status make_tp(training *t, const char *name, fab_phase_builder *builder, fab_error *err) {
    const fab_job_spec *s = &t->job->spec;
    uint32_t n = size_of(t, FAB_DIM_TP);
    uint32_t n_pp = size_of(t, FAB_DIM_PP);
    uint32_t n_dp = n_copies(t);
    double activation = (double)s->activation_bytes;
    double reductions = 4 + 2 * repeated(s); /* all-reduces of a layer and microbatch */
    FAB_PASS(fab_check_comm(t, name, n_pp * n_dp, err));
    FAB_REFUSE_IF(s->sequence_parallel && s->tp_collective != FAB_COLLECTIVE_RING, err, FAB_EUNSUPPORTED, t->job->where,
                  "tp-collective %s: sequence parallelism reduces and gathers by rings only",
                  fab_job_collectives[s->tp_collective]);
    double counted_layers = (double)s->layers;
    if (only_one(t)) { /* those of its stage, for its part of the batch */
        counted_layers = (double)fab_stage_layers(s, t->wanted->comm % n_pp) / n_dp;
    }
    FAB_PASS(fab_open_phase(t, builder, name, s->sequence_parallel ? "reduce-scatter, all-gather" : "all-reduce",
                            fab_ring_max_flows(t->job->n_gpus), n_pp * n_dp,
                            2 * reductions * batch_elements(t->job) * (n - 1) * counted_layers * activation, err));
    fab_phase *phase = &builder->phase;
    uint64_t most_layers = 0;
    double tokens = (double)s->microbatch * (double)s->seq / size_of(t, FAB_DIM_CP);
    double per_layer = 2 * reductions * tokens * (double)s->hidden * (n - 1) / n * activation;
    for (uint32_t dp = 0; dp < n_dp; dp++) {
        for (uint32_t pp = 0; pp < n_pp; pp++) {
            if (!is_wanted(t, dp * n_pp + pp)) {
                continue;
            }
            uint64_t layers = fab_stage_layers(s, pp);
            most_layers = layers > most_layers ? layers : most_layers;
            FAB_FILL(t->members, n, gpu_at(t, (uint32_t)fab_at, pp, dp));
            double bytes = per_layer * (double)layers * (double)t->job->microbatches;
            FAB_PASS(add_collective(t, n, bytes, 2, s->tp_collective, dp * n_pp + pp, builder, err));
        }
    }
    phase->steps = 2 * ((uint64_t)n - 1);
    phase->executions = (uint64_t)reductions * most_layers * t->job->microbatches;
    FAB_FORMAT(phase->formula,
               "%.0f b s%s h (t-1)/t elements per layer, device and microbatch (2 all-reduces forward, 2 backward, "
               "%s for recomputation), x %s",
               2 * reductions, size_of(t, FAB_DIM_CP) > 1 ? "/c" : "", repeated(s) ? "2" : "none",
               only_one(t)                  ? "t m and the layers of its stage"
               : size_of(t, FAB_DIM_CP) > 1 ? "t c l m d"
                                            : "t l m d");
    return FAB_OK;
}

/* --- pipeline ----------------------------------------------------------------------------------------------------- */

/* Forward and backward between stage `from` and the next, over the `chunks` boundaries that lie there. */
static void add_exchange(training *t, fab_phase_builder *builder, uint32_t from, uint32_t to, double bytes,
                         uint64_t chunks) {
    uint64_t amount = (uint64_t)(bytes * (double)chunks + 0.5);
    uint32_t n_tp = size_of(t, FAB_DIM_TP);
    for (uint32_t dp = 0; dp < n_copies(t); dp++) {
        for (uint32_t tp = 0; tp < n_tp; tp++) {
            if (is_wanted(t, dp * n_tp + tp)) {
                uint32_t a = gpu_at(t, tp, from, dp);
                uint32_t b = gpu_at(t, tp, to, dp);
                fab_phase_add(builder, a, b, amount, dp * n_tp + tp);
                fab_phase_add(builder, b, a, amount, dp * n_tp + tp);
            }
        }
    }
}

/* Chunk boundary i (0 ... p v - 2) joins stage i mod p to stage (i + 1) mod p: v times every pair of neighbours, v - 1
   times the last stage and the first. With p = 2 both are the same pair of GPUs and stay separate flows. */
static fab_status make_pp(training *t, const char *name, fab_phase_builder *builder, fab_error *err) {
    const fab_job_spec *s = &t->job->spec;
    uint32_t n = size_of(t, FAB_DIM_PP);
    uint32_t n_tp = size_of(t, FAB_DIM_TP);
    double copies = s->scatter_gather ? 1 : n_tp;
    double boundaries = (double)n * (double)s->interleave - 1;
    double activation = (double)s->activation_bytes;
    uint32_t n_comms = n_tp * n_copies(t);
    FAB_PASS(fab_check_comm(t, name, n_comms, err));
    double expected = 2 * boundaries * batch_elements(t->job) * copies * activation;
    FAB_PASS(fab_open_phase(t, builder, name, "send-recv", 2 * (uint64_t)t->job->n_gpus, n_comms,
                            only_one(t) ? expected / n_comms : expected, err));
    fab_phase *phase = &builder->phase;
    double bytes = (double)s->microbatch * (double)s->seq / size_of(t, FAB_DIM_CP) * (double)s->hidden * activation *
                   (double)t->job->microbatches / (s->scatter_gather ? n_tp : 1);
    for (uint32_t stage = 0; stage + 1 < n; stage++) {
        add_exchange(t, builder, stage, stage + 1, bytes, s->interleave);
    }
    add_exchange(t, builder, n - 1, 0, bytes, s->interleave - 1);
    phase->executions = s->interleave * t->job->microbatches; /* both directions at once */
    FAB_FORMAT(phase->formula,
               "b s%s h%s elements per GPU pair, microbatch, chunk boundary and direction, x 2 (p v - 1) %s",
               size_of(t, FAB_DIM_CP) > 1 ? "/c" : "", s->scatter_gather ? "/t (scatter/gather)" : "",
               only_one(t)                  ? "m"
               : size_of(t, FAB_DIM_CP) > 1 ? "t c m d"
                                            : "t m d");
    return FAB_OK;
}

/* --- data parallelism --------------------------------------------------------------------------------------------- */

/* Which parameters a reduction is about: with ep > 1 experts have fewer copies than the rest, and rings of their own.
 */
typedef enum share { SHARE_COMMON, SHARE_EXPERTS } share;

/* Between which copies: all that share a state, or the same shard of every group of them. */
typedef enum sharers { COPIES_SHARING, COPIES_REPEATING } sharers;

/* A reduction over copies: of the common part over all dp x cp of them, of the experts over every ep-th. */
typedef struct reduction {
    const char *phase, *collective;
    uint32_t passes; /* 2 for an all-reduce, 1 for either half of it */
    share which;
    sharers between;
} reduction;

static const reduction REDUCTIONS[] = {{"dp", "all-reduce", 2, SHARE_COMMON, COPIES_SHARING},
                                       {"edp", "all-reduce", 2, SHARE_EXPERTS, COPIES_SHARING},
                                       {"dp-rs", "reduce-scatter", 1, SHARE_COMMON, COPIES_SHARING},
                                       {"edp-rs", "reduce-scatter", 1, SHARE_EXPERTS, COPIES_SHARING},
                                       {"dp-ar", "all-reduce", 2, SHARE_COMMON, COPIES_REPEATING},
                                       {"edp-ar", "all-reduce", 2, SHARE_EXPERTS, COPIES_REPEATING},
                                       {"dp-ag", "all-gather", 1, SHARE_COMMON, COPIES_SHARING},
                                       {"edp-ag", "all-gather", 1, SHARE_EXPERTS, COPIES_SHARING}};

/* What a reduction is in a job: rings of n copies; copy k of ring r is `first of r` + k x stride. */
typedef struct data_rings {
    uint32_t n, stride, n_rings; /* rings per tensor rank and stage */
    uint32_t group;              /* copies of a group, 1 for rings between groups */
    uint64_t times;              /* per iteration */
    uint64_t executions;         /* of its collectives */
    uint64_t width;              /* bytes per parameter */
    bool gathers;
} data_rings;

static data_rings rings_of(const training *t, const reduction *r) {
    const fab_job_spec *s = &t->job->spec;
    fab_data_exchanges x = fab_job_data_exchanges(s, t->job->microbatches);
    uint32_t groups = (uint32_t)fab_job_shard_groups(s);
    uint32_t group = n_copies(t) / groups;
    uint32_t ep = r->which == SHARE_EXPERTS ? (uint32_t)s->ep : 1;
    bool gathers = strcmp(r->collective, "all-gather") == 0;
    data_rings d = {.n = group / ep,
                    .stride = ep,
                    .group = group,
                    .times = gathers ? x.gathers : x.reductions,
                    .executions = gathers ? x.gathers * x.n_gathers : x.reductions * x.n_reductions,
                    .width = gathers ? s->parameter_bytes : s->gradient_bytes,
                    .gathers = gathers};
    if (r->between == COPIES_REPEATING) { /* once, when the gradients of all microbatches are added up */
        d = (data_rings){.n = groups, .stride = group, .group = 1, .times = 1, .executions = 1, .width = d.width};
    }
    d.n_rings = n_copies(t) / d.n;
    return d;
}

static uint32_t copy_of(const data_rings *d, uint32_t ring, uint32_t k) {
    uint32_t first = d->group > 1 ? ring / d->stride * d->group + ring % d->stride : ring;
    return first + k * d->stride;
}

/* Parameters that a rank of the stage takes part with: those that are trained, or that it gathers. */
static double held_parameters(const training *t, const reduction *r, const data_rings *d, uint32_t stage) {
    const fab_job *job = t->job;
    double dense = 0;
    double experts = 0;
    if (job->spec.kind == FAB_JOB_RANKING) {
        return (double)job->spec.dense_parameters;
    }
    fab_stage_trained(&job->spec, &job->model, stage, &dense, &experts);
    if (d->gathers && job->spec.lora_rank > 0 && job->spec.zero == FAB_ZERO_3) {
        double weights = 0;
        double weights_of_experts = 0;
        fab_stage_parameters(&job->model, &job->spec, stage, &weights, &weights_of_experts);
        dense += weights;
        experts += weights_of_experts;
    }
    bool of_experts = r->which == SHARE_EXPERTS;
    double held = of_experts ? experts / (double)job->spec.ep : dense + (job->spec.ep == 1 ? experts : 0);
    return held / size_of(t, FAB_DIM_TP) /
           (r->between == COPIES_REPEATING ? fab_job_shards(&job->spec, of_experts) : 1);
}

static fab_status emit_reduction(training *t, const reduction *r, const data_rings *d, fab_phase_builder *builder,
                                 fab_error *err) {
    uint32_t per_stage = size_of(t, FAB_DIM_TP) * d->n_rings;
    for (uint32_t pp = 0; pp < size_of(t, FAB_DIM_PP); pp++) {
        double held = held_parameters(t, r, d, pp) * (double)d->times;
        double bytes = (double)r->passes * (d->n - 1) / d->n * held * (double)d->width;
        for (uint32_t i = 0; i < per_stage; i++) {
            uint32_t comm = pp * per_stage + i;
            if (!is_wanted(t, comm)) {
                continue;
            }
            FAB_FILL(t->members, d->n, gpu_at(t, i / d->n_rings, pp, copy_of(d, i % d->n_rings, (uint32_t)fab_at)));
            FAB_PASS(add_collective(t, d->n, bytes, r->passes, t->job->spec.dp_collective, comm, builder, err));
        }
    }
    return FAB_OK;
}

static const char *write_whose(const training *t, const reduction *r, const data_rings *d) {
    bool adapters = t->job->spec.lora_rank > 0;
    bool weights_too = d->gathers && t->job->spec.zero == FAB_ZERO_3;
    return r->between == COPIES_REPEATING ? "the shard"
           : adapters && !weights_too     ? "adapters"
           : r->which == SHARE_EXPERTS    ? "expert parameters"
                                          : "parameters";
}

/* "2 (d-1)/d x parameters on the GPU x 4 bytes, x t p d" */
static void write_reduction(const training *t, const reduction *r, const data_rings *d, fab_phase *phase) {
    bool contexts = size_of(t, FAB_DIM_CP) > 1;
    bool experts = r->which == SHARE_EXPERTS;
    bool grouped = fab_job_shard_groups(&t->job->spec) > 1;
    const char *copies = grouped ? "n" : experts ? "c d/e" : contexts ? "c d" : "d";
    char ratio[40];
    char times[24] = "";
    FAB_FORMAT(ratio, strchr(copies, ' ') != NULL ? "(%s - 1)/(%s)" : "(%s-1)/%s", copies, copies);
    if (d->times > 1) {
        FAB_FORMAT(times, " x %" PRIu64, d->times);
    }
    FAB_FORMAT(phase->formula, "%s%s x %s on the GPU x %" PRIu64 " bytes%s, x %s%s", r->passes == 2 ? "2 " : "", ratio,
               write_whose(t, r, d), d->width, times,
               only_one(t) ? copies
               : contexts  ? "t p c d"
                           : "t p d",
               grouped ? (r->between == COPIES_REPEATING ? "; n groups" : "; n copies of a group") : "");
}

static fab_status make_dp(training *t, const char *name, fab_phase_builder *builder, fab_error *err) {
    const reduction *r = REDUCTIONS;
    while (strcmp(r->phase, name) != 0) {
        r++;
    }
    const data_rings d = rings_of(t, r);
    uint32_t per_stage = size_of(t, FAB_DIM_TP) * d.n_rings;
    uint32_t n_pp = size_of(t, FAB_DIM_PP);
    double parameters = 0;
    FAB_PASS(fab_check_comm(t, name, per_stage * n_pp, err));
    for (uint32_t pp = 0; pp < n_pp; pp++) {
        double held = held_parameters(t, r, &d, pp);
        parameters += !only_one(t) ? held * per_stage : t->wanted->comm / per_stage == pp ? held : 0;
    }
    FAB_PASS(fab_open_phase(t, builder, name, r->collective, fab_ring_max_flows(t->job->n_gpus), per_stage * n_pp,
                            (double)r->passes * (d.n - 1) * parameters * (double)d.width * (double)d.times, err));
    FAB_PASS(emit_reduction(t, r, &d, builder, err));
    builder->phase.steps = r->passes * ((uint64_t)d.n - 1);
    builder->phase.executions = d.executions;
    write_reduction(t, r, &d, &builder->phase);
    return FAB_OK;
}

/* --- table -------------------------------------------------------------------------------------------------------- */

/* What a job has. A phase is one of those that have all it needs. */
enum {
    IS_TRAINING = 1,
    IS_RANKING = 2,
    IS_SERVING = 4,
    LEARNS = 8, /* training or ranking */
    TP = 16,    /* more than one tensor rank, ... */
    CP = 32,
    PP = 64,
    EP = 128,
    COPIES = 256,
    EXPERT_COPIES = 512, /* experts with more than one copy, but fewer than the rest of the model */
    SHARDED = 1024,
    REPLICATED = 2048,
    GPUS = 4096,
    STORAGE = 8192,
    GROUPED = 16384, /* hybrid sharding */
    PLACED = 32768,  /* tables one by one */
    POOLS = 65536,   /* replicas that read prompts, and others that generate */
};

static unsigned traits_of(const fab_job *job) {
    static const unsigned KIND[] = {[FAB_JOB_TRAINING] = IS_TRAINING | LEARNS,
                                    [FAB_JOB_RANKING] = IS_RANKING | LEARNS,
                                    [FAB_JOB_SERVING] = IS_SERVING};
    const fab_job_spec *s = &job->spec;
    unsigned traits = KIND[s->kind] | (s->sharded ? SHARDED : REPLICATED);
    traits |= job->size[FAB_DIM_TP] > 1 ? TP : 0;
    traits |= job->size[FAB_DIM_CP] > 1 ? CP : 0;
    traits |= job->size[FAB_DIM_PP] > 1 ? PP : 0;
    traits |= s->ep > 1 ? EP : 0;
    traits |= job->size[FAB_DIM_DP] * job->size[FAB_DIM_CP] > 1 ? COPIES : 0;
    traits |= s->ep > 1 && s->dp * s->cp / fab_job_shard_groups(s) > s->ep ? EXPERT_COPIES : 0;
    traits |= fab_job_shard_groups(s) > 1 ? GROUPED : 0;
    traits |= job->n_gpus > 1 ? GPUS : 0;
    traits |= s->kind == FAB_JOB_SERVING && s->prefill_replicas > 0 ? POOLS : 0;
    traits |= s->kind == FAB_JOB_RANKING && fab_job_is_skewed(s) ? PLACED : 0;
    return traits | (job->n_storage > 0 ? STORAGE : 0);
}

static const struct {
    const char *name;
    unsigned needs;
    make_phase *make;
} PHASES[] = {
    {"tp", IS_TRAINING | TP, make_tp},
    {"cp", CP, fab_make_cp},
    {"pp", IS_TRAINING | PP, make_pp},
    {"ep-dispatch", IS_TRAINING | EP, fab_make_ep},
    {"ep-combine", IS_TRAINING | EP, fab_make_ep},
    {"embedding", IS_RANKING | GPUS, fab_make_embedding},
    {"embedding-grad", IS_RANKING | GPUS | PLACED, fab_make_embedding},
    {"dp", LEARNS | COPIES | REPLICATED, make_dp},
    {"dp-rs", LEARNS | COPIES | SHARDED, make_dp},
    {"dp-ar", IS_TRAINING | GROUPED, make_dp},
    {"dp-ag", LEARNS | COPIES | SHARDED, make_dp},
    {"edp", IS_TRAINING | EXPERT_COPIES | REPLICATED, make_dp},
    {"edp-rs", IS_TRAINING | EXPERT_COPIES | SHARDED, make_dp},
    {"edp-ar", IS_TRAINING | EP | GROUPED, make_dp},
    {"edp-ag", IS_TRAINING | EXPERT_COPIES | SHARDED, make_dp},
    {"prefill", IS_SERVING | TP, fab_make_serving_tp},
    {"prefill-pp", IS_SERVING | PP, fab_make_serving_pp},
    {"prefill-ep", IS_SERVING | EP, fab_make_serving_ep},
    {"decode", IS_SERVING | TP, fab_make_serving_tp},
    {"decode-pp", IS_SERVING | PP, fab_make_serving_pp},
    {"decode-ep", IS_SERVING | EP, fab_make_serving_ep},
    {"kv-transfer", IS_SERVING | POOLS, fab_make_serving_kv},
    {"checkpoint", LEARNS | STORAGE, fab_make_burst},
    {"ingest", LEARNS | STORAGE, fab_make_burst},
};
#define N_PHASES (sizeof PHASES / sizeof PHASES[0])

static bool has_phase(const fab_job *job, size_t i) {
    return (traits_of(job) & PHASES[i].needs) == PHASES[i].needs;
}

static bool is_asked(const fab_wanted *wanted, size_t i) {
    static const size_t KIND = sizeof "job:" - 1;
    const bool is_of_experts = PHASES[i].make == fab_make_ep;
    const char *phase = wanted->phase;
    return phase == NULL || strcmp(phase, PHASES[i].name) == 0 ||
           (strcmp(phase, &FAB_JOB_EXPERTS[KIND]) == 0 && is_of_experts) ||
           (strcmp(phase, &FAB_JOB_OTHERS[KIND]) == 0 && !is_of_experts);
}

/* "tp 8, pp 1, dp 4, sharded" */
static void training_describe(const fab_job *job, char *out, size_t size) {
    const fab_job_spec *s = &job->spec;
    char sharding[48];
    char more[64] = "";
    if (s->cp > 1) {
        FAB_FORMAT(more, ", cp %" PRIu64, s->cp);
    }
    if (s->ep > 1) {
        fab_append(more, sizeof more, ", ep %" PRIu64, s->ep);
    }
    (void)snprintf(out, size, "%s%stp %" PRIu64 ", pp %" PRIu64 ", dp %" PRIu64 "%s%s",
                   job->spec.kind == FAB_JOB_TRAINING ? "" : fab_job_kinds[s->kind],
                   job->spec.kind == FAB_JOB_TRAINING ? "" : ", ", s->tp, s->pp, s->dp, more,
                   fab_sharding_text(s, ", ", sharding));
}

static fab_status no_such_phase(const fab_job *job, const char *wanted, fab_error *err) {
    char names[200] = "";
    char shape[160];
    for (size_t i = 0; i < N_PHASES; i++) {
        if (has_phase(job, i)) {
            fab_append(names, sizeof names, "%s%s", names[0] != '\0' ? ", " : "", PHASES[i].name);
        }
    }
    training_describe(job, shape, sizeof shape);
    bool stored = strcmp(wanted, "checkpoint") == 0 || strcmp(wanted, "ingest") == 0;
    return fab_fail(err, FAB_EINPUT, job->where, "the job (%s) has no phase '%.40s'; it has %s%s", shape, wanted,
                    names[0] != '\0' ? names : "none",
                    stored && job->n_storage == 0 ? "; storage-servers=LIST names the servers that hold the data" : "");
}

fab_status fab_training_make(const fab_job *job, const fab_fabric *fabric, const fab_wanted *wanted,
                             fab_traffic *traffic, fab_error *err) {
    fab_status status = FAB_OK;
    training t = {.job = job, .fabric = fabric, .gpu_of_rank = traffic->gpu_of_rank, .wanted = wanted};
    FAB_OWNS(fab_phase_builder_release) fab_phase_builder builder = {.capacity = 0};
    FAB_TRY(FAB_NEW(traffic->phases, N_PHASES, err));
    FAB_TRY(FAB_NEW(t.members, job->n_gpus, err));
    FAB_TRY(fab_layout_init(&t.layout, fabric, job->n_gpus, err));
    for (size_t i = 0; i < N_PHASES; i++) {
        if (!has_phase(job, i) || !is_asked(wanted, i)) {
            continue;
        }
        FAB_TRY(PHASES[i].make(&t, PHASES[i].name, &builder, err));
        builder.phase.result_bytes /= (double)builder.phase.executions;
        if (t.others.n_comms > 0) {
            FAB_TRY(fab_training_collective(&t.others, fabric, &job->spec.accelerator.nccl, job->where, &builder,
                                            traffic, err));
            continue;
        }
        FAB_TRY(fab_phase_check(&builder.phase, err));
        builder.phase.run = traffic->n_phases > 0 ? traffic->phases[traffic->n_phases - 1].run + 1 : 0;
        FAB_TRY(fab_traffic_reserve(traffic, 1, err));
        fab_traffic_take(traffic, &builder);
    }
    FAB_TRY(wanted->phase != NULL && traffic->n_phases == 0 ? no_such_phase(job, wanted->phase, err) : FAB_OK);
done:
    fab_comm_list_release(&t.others);
    fab_layout_release(&t.layout);
    free(t.members);
    return status;
}
