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
 *     dp-rs  (d-1) P g,  dp-ag  (d-1) P w   sharded; w bytes per parameter
 *
 * One communicator alone (comm=K) has the share of its stage and of its replica in these.
 *
 * Each flow is computed from what its own GPU holds; the closed forms above are compared with the sum of the flows.
 */
#include "collectives.h"

#include "fab/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct training {
    const fab_job *job;
    const fab_fabric *fabric;
    const uint32_t *gpu_of_rank;
    fab_ring_scratch scratch;
    uint32_t *members; /* of the ring being emitted */
    const fab_wanted *wanted;
    fab_comm_list others; /* communicators whose collective is no ring: their phases are made from these */
} training;

static uint32_t size_of(const training *t, fab_dimension dim) {
    return t->job->size[dim];
}

/* GPU of the rank with these coordinates. */
static uint32_t gpu_at(const training *t, uint32_t tp, uint32_t pp, uint32_t dp) {
    const uint32_t *stride = t->job->stride;
    return t->gpu_of_rank[tp * stride[FAB_DIM_TP] + pp * stride[FAB_DIM_PP] + dp * stride[FAB_DIM_DP]];
}

/* Elements of one activation tensor of a whole iteration: B s h. */
static double batch_elements(const fab_job *job) {
    return (double)job->spec.batch * (double)job->spec.seq * (double)job->spec.hidden;
}

static bool only_one(const training *t) {
    return t->wanted->comm != FAB_NONE;
}

static bool is_wanted(const training *t, uint32_t comm) {
    return !only_one(t) || t->wanted->comm == comm;
}

/* Before anything is computed for the communicator that is wanted. */
static fab_status check_comm(const training *t, const char *name, uint32_t n_comms, fab_error *err) {
    if (only_one(t) && t->wanted->comm >= n_comms) {
        return fab_fail(err, FAB_EINPUT, t->wanted->text,
                        "comm=%" PRIu32 " is outside 0 to %" PRIu32 ", the communicators of phase '%s'",
                        t->wanted->comm, n_comms - 1, name);
    }
    return FAB_OK;
}

static fab_status open_phase(const training *t, fab_phase_builder *builder, const char *name, const char *collective,
                             uint64_t capacity, uint32_t n_comms, double expected_bytes, fab_error *err) {
    if (expected_bytes > FAB_PHASE_MAX_BYTES) {
        return fab_fail(err, FAB_EINPUT, name,
                        "phase '%s' carries %.3g bytes in one iteration, above the limit of %.2g", name, expected_bytes,
                        FAB_PHASE_MAX_BYTES);
    }
    fab_status status = fab_phase_open(builder, name, collective, capacity, err);
    if (status == FAB_OK) {
        builder->phase.expected_bytes = expected_bytes;
        builder->phase.n_comms = only_one(t) ? 1 : n_comms;
        builder->phase.first_comm = only_one(t) ? t->wanted->comm : 0;
    }
    return status;
}

/* A collective over the n members, of which each would send `bytes` by a ring. */
static fab_status add_collective(training *t, uint32_t n, double bytes, uint32_t passes, const char *algorithm,
                                 uint32_t comm, fab_phase_builder *builder, fab_error *err) {
    fab_phase *phase = &builder->phase;
    double result = bytes / passes / (n - 1.0) * n;
    phase->ranks = n;
    phase->result_bytes = result > phase->result_bytes ? result : phase->result_bytes; /* once all are there, / times */
    (void)snprintf(phase->algorithm, sizeof phase->algorithm, "%s", algorithm[0] != '\0' ? algorithm : "ring");
    if (strcmp(phase->algorithm, "ring") != 0) {
        return fab_comm_list_add(&t->others, t->members, n, result, comm, err);
    }
    fab_ring_emit(&t->scratch, t->fabric, t->members, n, (uint64_t)(bytes + 0.5), comm, builder);
    return FAB_OK;
}

/* --- tensor parallelism ---------------------------------------------------------------------------------------------
 */

static fab_status make_tp(training *t, const char *name, fab_phase_builder *builder, fab_error *err) {
    const fab_job_spec *s = &t->job->spec;
    uint32_t n = size_of(t, FAB_DIM_TP);
    uint32_t n_pp = size_of(t, FAB_DIM_PP);
    uint32_t n_dp = size_of(t, FAB_DIM_DP);
    double activation = (double)s->activation_bytes;
    fab_status status = FAB_OK;
    FAB_TRY(check_comm(t, name, n_pp * n_dp, err));
    double counted_layers = (double)s->layers;
    if (only_one(t)) { /* those of its stage, for its part of the batch */
        counted_layers = (double)fab_stage_layers(s->layers, n_pp, t->wanted->comm % n_pp) / n_dp;
    }
    FAB_TRY(open_phase(t, builder, name, "all-reduce", fab_ring_max_flows(t->job->n_gpus), n_pp * n_dp,
                       8 * batch_elements(t->job) * (n - 1) * counted_layers * activation, err));
    fab_phase *phase = &builder->phase;
    uint64_t most_layers = 0;
    double per_layer = 8.0 * (double)s->microbatch * (double)s->seq * (double)s->hidden * (n - 1) / n * activation;
    for (uint32_t dp = 0; dp < n_dp; dp++) {
        for (uint32_t pp = 0; pp < n_pp; pp++) {
            if (!is_wanted(t, dp * n_pp + pp)) {
                continue;
            }
            uint64_t layers = fab_stage_layers(s->layers, n_pp, pp);
            most_layers = layers > most_layers ? layers : most_layers;
            for (uint32_t i = 0; i < n; i++) {
                t->members[i] = gpu_at(t, i, pp, dp);
            }
            double bytes = per_layer * (double)layers * (double)t->job->microbatches;
            FAB_TRY(add_collective(t, n, bytes, 2, s->tp_collective, dp * n_pp + pp, builder, err));
        }
    }
    phase->steps = 2 * ((uint64_t)n - 1);
    phase->executions = 4 * most_layers * t->job->microbatches;
    (void)snprintf(phase->formula, sizeof phase->formula,
                   "8 b s h (t-1)/t elements per layer, device and microbatch (2 all-reduces forward, 2 backward, none "
                   "for recomputation), x %s",
                   only_one(t) ? "t m and the layers of its stage" : "t l m d");
done:
    return status;
}

/* --- pipeline -------------------------------------------------------------------------------------------------------
 */

/* Forward and backward between stage `from` and the next, over the `chunks` boundaries that lie there. */
static void add_exchange(training *t, fab_phase_builder *builder, uint32_t from, uint32_t to, double bytes,
                         uint64_t chunks) {
    uint64_t amount = (uint64_t)(bytes * (double)chunks + 0.5);
    uint32_t n_tp = size_of(t, FAB_DIM_TP);
    for (uint32_t dp = 0; dp < size_of(t, FAB_DIM_DP); dp++) {
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
    fab_status status = FAB_OK;
    uint32_t n_comms = n_tp * size_of(t, FAB_DIM_DP);
    FAB_TRY(check_comm(t, name, n_comms, err));
    double expected = 2 * boundaries * batch_elements(t->job) * copies * activation;
    FAB_TRY(open_phase(t, builder, name, "send-recv", 2 * (uint64_t)t->job->n_gpus, n_comms,
                       only_one(t) ? expected / n_comms : expected, err));
    fab_phase *phase = &builder->phase;
    double bytes = (double)s->microbatch * (double)s->seq * (double)s->hidden * activation *
                   (double)t->job->microbatches / (s->scatter_gather ? n_tp : 1);
    for (uint32_t stage = 0; stage + 1 < n; stage++) {
        add_exchange(t, builder, stage, stage + 1, bytes, s->interleave);
    }
    add_exchange(t, builder, n - 1, 0, bytes, s->interleave - 1);
    phase->executions = s->interleave * t->job->microbatches; /* both directions at once */
    (void)snprintf(phase->formula, sizeof phase->formula,
                   "b s h%s elements per GPU pair, microbatch, chunk boundary and direction, x 2 (p v - 1) %s",
                   s->scatter_gather ? "/t (scatter/gather)" : "", only_one(t) ? "m" : "t m d");
done:
    return status;
}

/* --- data parallelism -----------------------------------------------------------------------------------------------
 */

/* Parameters on each GPU of a stage: its layers, the embeddings on the first, the output side on the last. */
static double stage_parameters(const fab_job *job, uint32_t stage) {
    uint64_t stages = job->size[FAB_DIM_PP];
    double sum = (double)fab_stage_layers(job->spec.layers, stages, stage) * fab_model_layer_parameters(&job->model);
    sum += stage == 0 ? fab_model_input_parameters(&job->model) : 0;
    sum += stage + 1 == stages ? fab_model_output_parameters(&job->model) : 0;
    return sum / (double)job->size[FAB_DIM_TP];
}

/* Ring over the data-parallel groups; `passes` is 2 for an all-reduce, 1 for either half of it. */
static fab_status make_ring_dp(training *t, const char *name, const char *collective, uint32_t passes, uint64_t width,
                               fab_phase_builder *builder, fab_error *err) {
    uint32_t n = size_of(t, FAB_DIM_DP);
    uint32_t n_tp = size_of(t, FAB_DIM_TP);
    uint32_t n_pp = size_of(t, FAB_DIM_PP);
    fab_status status = FAB_OK;
    FAB_TRY(check_comm(t, name, n_tp * n_pp, err));
    double parameters =
        only_one(t) ? stage_parameters(t->job, t->wanted->comm / n_tp) : fab_model_parameters(&t->job->model);
    FAB_TRY(open_phase(t, builder, name, collective, fab_ring_max_flows(t->job->n_gpus), n_tp * n_pp,
                       (double)passes * (n - 1) * parameters * (double)width, err));
    fab_phase *phase = &builder->phase;
    for (uint32_t pp = 0; pp < n_pp; pp++) {
        double bytes = (double)passes * (n - 1) / n * stage_parameters(t->job, pp) * (double)width;
        for (uint32_t tp = 0; tp < n_tp; tp++) {
            if (!is_wanted(t, pp * n_tp + tp)) {
                continue;
            }
            for (uint32_t i = 0; i < n; i++) {
                t->members[i] = gpu_at(t, tp, pp, i);
            }
            FAB_TRY(add_collective(t, n, bytes, passes, t->job->spec.dp_collective, pp * n_tp + tp, builder, err));
        }
    }
    phase->steps = passes * ((uint64_t)n - 1);
    (void)snprintf(phase->formula, sizeof phase->formula, "%s(d-1)/d x parameters on the GPU x %" PRIu64 " bytes, x %s",
                   passes == 2 ? "2 " : "", width, only_one(t) ? "d" : "t p d");
done:
    return status;
}

static fab_status make_dp(training *t, const char *name, fab_phase_builder *builder, fab_error *err) {
    return make_ring_dp(t, name, "all-reduce", 2, t->job->spec.gradient_bytes, builder, err);
}

static fab_status make_dp_rs(training *t, const char *name, fab_phase_builder *builder, fab_error *err) {
    return make_ring_dp(t, name, "reduce-scatter", 1, t->job->spec.gradient_bytes, builder, err);
}

static fab_status make_dp_ag(training *t, const char *name, fab_phase_builder *builder, fab_error *err) {
    return make_ring_dp(t, name, "all-gather", 1, t->job->spec.parameter_bytes, builder, err);
}

/* --- table ----------------------------------------------------------------------------------------------------------
 */

typedef fab_status make_phase(training *t, const char *name, fab_phase_builder *builder, fab_error *err);

static const struct {
    const char *name;
    fab_dimension dim; /* the phase exists when this dimension is larger than 1 */
    bool when_sharded, when_not;
    make_phase *make;
} PHASES[] = {
    {"tp", FAB_DIM_TP, true, true, make_tp},        {"pp", FAB_DIM_PP, true, true, make_pp},
    {"dp", FAB_DIM_DP, false, true, make_dp},       {"dp-rs", FAB_DIM_DP, true, false, make_dp_rs},
    {"dp-ag", FAB_DIM_DP, true, false, make_dp_ag},
};
#define N_PHASES (sizeof PHASES / sizeof PHASES[0])

static bool has_phase(const fab_job *job, size_t i) {
    return job->size[PHASES[i].dim] > 1 && (job->spec.sharded ? PHASES[i].when_sharded : PHASES[i].when_not);
}

static fab_status no_such_phase(const fab_job *job, const char *wanted, fab_error *err) {
    char names[64] = "";
    for (size_t i = 0; i < N_PHASES; i++) {
        if (has_phase(job, i)) {
            size_t used = strlen(names);
            (void)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", PHASES[i].name);
        }
    }
    return fab_fail(err, FAB_EINPUT, job->where,
                    "the job (tp %" PRIu64 ", pp %" PRIu64 ", dp %" PRIu64 "%s) has no phase '%.40s'; it has %s",
                    job->spec.tp, job->spec.pp, job->spec.dp, job->spec.sharded ? ", sharded" : "", wanted,
                    names[0] != '\0' ? names : "none");
}

fab_status fab_training_make(const fab_job *job, const fab_fabric *fabric, const fab_wanted *wanted,
                             fab_traffic *traffic, fab_error *err) {
    fab_status status = FAB_OK;
    training t = {.job = job, .fabric = fabric, .gpu_of_rank = traffic->gpu_of_rank, .wanted = wanted};
    fab_phase_builder builder = {.capacity = 0};
    FAB_TRY(FAB_NEW(traffic->phases, N_PHASES, err));
    FAB_TRY(FAB_NEW(t.members, job->n_gpus, err));
    FAB_TRY(fab_ring_init(&t.scratch, fabric, job->n_gpus, err));
    for (size_t i = 0; i < N_PHASES; i++) {
        if (!has_phase(job, i) || (wanted->phase != NULL && strcmp(wanted->phase, PHASES[i].name) != 0)) {
            continue;
        }
        FAB_TRY(PHASES[i].make(&t, PHASES[i].name, &builder, err));
        builder.phase.result_bytes /= (double)builder.phase.executions;
        if (t.others.n_comms > 0) {
            FAB_TRY(fab_training_collective(&t.others, fabric, job->where, &builder, traffic, err));
            continue;
        }
        FAB_TRY(fab_phase_check(&builder.phase, err));
        builder.phase.run = traffic->n_phases > 0 ? traffic->phases[traffic->n_phases - 1].run + 1 : 0;
        FAB_TRY(fab_traffic_reserve(traffic, 1, err));
        fab_traffic_take(traffic, &builder);
    }
    if (wanted->phase != NULL && traffic->n_phases == 0) {
        FAB_TRY(no_such_phase(job, wanted->phase, err));
    }
done:
    fab_phase_release(&builder.phase);
    fab_comm_list_release(&t.others);
    fab_ring_release(&t.scratch);
    free(t.members);
    return status;
}
