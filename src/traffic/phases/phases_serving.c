/*
 * Phases of serving a batch of prompts: all of them read (prefill: large messages, bandwidth), then one token after the
 * other generated for all sequences together (decode: small messages, latency). Forward only, so that a layer has two
 * all-reduces and a pipeline sends in one direction. B sequences in all, q tokens of a prompt, g generated. Over the
 * job:
 *
 *     prefill      4 B q h (t-1) l a        decode      4 B g h (t-1) l a
 *     prefill-pp   (p-1) B q h a [t]        decode-pp   (p-1) B g h a [t]
 *     prefill-ep   2 k B q h l' (e-1)/e a   decode-ep   2 k B g h l' (e-1)/e a
 *
 * Prompts are read a microbatch at a time; bytes of one execution are the message that counts for latency.
 */
#include "phases.h"

/* Prefill or decode. */
typedef struct part {
    double tokens;        /* per sequence */
    uint64_t times;       /* passes through the model */
    const char *what;     /* in formulas */
    uint32_t first, n_dp; /* replicas that take part */
} part;

static part part_of(const training *t, const char *name) {
    const fab_job_spec *s = &t->job->spec;
    const bool generates = name[0] == 'd';
    const uint32_t n = (uint32_t)fab_serving_replicas(s, generates);
    const uint32_t first = generates ? (uint32_t)s->prefill_replicas : 0;
    return generates ? (part){(double)s->tokens, s->tokens, "B g", first, n}
                     : (part){(double)s->prompt, t->job->microbatches, "B q", first, n};
}

static bool has_replica(const part *p, uint32_t replica) {
    return replica >= p->first && replica < p->first + p->n_dp;
}

/* One communicator alone is one of those that take part. */
static fab_status check_replica(const training *t, const part *p, const char *name, uint32_t replica, fab_error *err) {
    return !only_one(t) || has_replica(p, replica)
               ? FAB_OK
               : fab_fail(err, FAB_EINPUT, t->wanted->text,
                          "comm=%" PRIu32 " is of replica %" PRIu32 ", which has no part in '%s'", t->wanted->comm,
                          replica, name);
}

fab_status fab_make_serving_tp(training *t, const char *name, fab_phase_builder *builder, fab_error *err) {
    const fab_job_spec *s = &t->job->spec;
    const part p = part_of(t, name);
    uint32_t n = size_of(t, FAB_DIM_TP);
    uint32_t n_pp = size_of(t, FAB_DIM_PP);
    uint32_t n_dp = n_copies(t);
    uint64_t most_layers = 0;
    double counted_layers = (double)s->layers;
    double per_layer = 4 * (double)s->batch * p.tokens * (double)s->hidden * (double)s->activation_bytes;
    FAB_PASS(fab_check_comm(t, name, n_pp * n_dp, err));
    FAB_PASS(check_replica(t, &p, name, t->wanted->comm / n_pp, err));
    if (only_one(t)) {
        counted_layers = (double)fab_stage_layers(s, t->wanted->comm % n_pp) / p.n_dp;
    }
    FAB_PASS(fab_open_phase(t, builder, name, "all-reduce", fab_ring_max_flows(t->job->n_gpus), n_pp * n_dp,
                            per_layer * (n - 1) * counted_layers, err));
    for (uint32_t comm = 0; comm < n_pp * n_dp; comm++) {
        uint64_t layers = fab_stage_layers(s, comm % n_pp);
        if (!is_wanted(t, comm) || !has_replica(&p, comm / n_pp)) {
            continue;
        }
        most_layers = layers > most_layers ? layers : most_layers;
        FAB_FILL(t->members, n, gpu_at(t, (uint32_t)fab_at, comm % n_pp, comm / n_pp));
        double bytes = per_layer * (n - 1) / n / p.n_dp * (double)layers;
        emit_ring(t, n, bytes, comm, builder);
    }
    builder->phase.steps = 2 * ((uint64_t)n - 1);
    builder->phase.executions = 2 * most_layers * p.times;
    FAB_FORMAT(builder->phase.formula, "4 %s h (t-1) elements of %" PRIu64 " bytes per layer (2 all-reduces)%s", p.what,
               s->activation_bytes, only_one(t) ? " of its stage, / d" : "");
    return FAB_OK;
}

fab_status fab_make_serving_pp(training *t, const char *name, fab_phase_builder *builder, fab_error *err) {
    const fab_job_spec *s = &t->job->spec;
    const part p = part_of(t, name);
    uint32_t n = size_of(t, FAB_DIM_PP);
    uint32_t n_tp = size_of(t, FAB_DIM_TP);
    uint32_t n_comms = n_tp * n_copies(t);
    double copies = s->scatter_gather ? 1 : n_tp;
    double boundary = (double)s->batch * p.tokens * (double)s->hidden * (double)s->activation_bytes * copies;
    const uint32_t sharers = n_tp * p.n_dp;
    FAB_PASS(fab_check_comm(t, name, n_comms, err));
    FAB_PASS(check_replica(t, &p, name, t->wanted->comm / n_tp, err));
    FAB_PASS(fab_open_phase(t, builder, name, "send-recv", t->job->n_gpus, n_comms,
                            (n - 1) * boundary / (only_one(t) ? sharers : 1), err));
    for (uint32_t comm = 0; comm < n_comms; comm++) {
        for (uint32_t stage = 0; stage + 1 < n && is_wanted(t, comm) && has_replica(&p, comm / n_tp); stage++) {
            fab_phase_add(builder, gpu_at(t, comm % n_tp, stage, comm / n_tp),
                          gpu_at(t, comm % n_tp, stage + 1, comm / n_tp), (uint64_t)(boundary / sharers + 0.5), comm);
        }
    }
    builder->phase.executions = p.times;
    FAB_FORMAT(builder->phase.formula, "(p-1) %s h%s elements of %" PRIu64 " bytes, in one direction%s", p.what,
               s->scatter_gather ? "" : " t", s->activation_bytes, only_one(t) ? ", / (t d)" : "");
    return FAB_OK;
}

fab_status fab_make_serving_ep(training *t, const char *name, fab_phase_builder *builder, fab_error *err) {
    const part p = part_of(t, name);
    const expert_exchange x = {.tokens = (double)t->job->spec.batch * p.tokens,
                               .rounds = 2,
                               .times = p.times,
                               .what = p.what,
                               .first = p.first,
                               .n_copies = p.n_dp};
    return fab_make_exchange_of_experts(t, name, &x, builder, err);
}

/* Keys and values of all prompts, from every replica that reads to every one that generates: stage by stage and tensor
 * rank by tensor rank, to the GPU that holds the same of it. */
fab_status fab_make_serving_kv(training *t, const char *name, fab_phase_builder *builder, fab_error *err) {
    const fab_job_spec *s = &t->job->spec;
    const uint32_t n_tp = size_of(t, FAB_DIM_TP);
    const uint32_t n_pp = size_of(t, FAB_DIM_PP);
    const uint32_t readers = (uint32_t)s->prefill_replicas;
    const uint32_t all = n_copies(t);
    const uint32_t n_comms = n_tp * n_pp;
    const double of_layer =
        (double)s->batch * (double)s->prompt * fab_kv_elements(&t->job->model, s->tp) * (double)s->activation_bytes;
    double layers = (double)s->layers * n_tp;
    FAB_PASS(fab_check_comm(t, name, n_comms, err));
    if (only_one(t)) {
        layers = (double)fab_stage_layers(s, t->wanted->comm / n_tp);
    }
    FAB_PASS(fab_open_phase(t, builder, name, "send-recv", (uint64_t)n_comms * readers * (all - readers), n_comms,
                            of_layer * layers, err));
    for (uint32_t comm = 0; comm < n_comms; comm++) {
        const double bytes = of_layer * (double)fab_stage_layers(s, comm / n_tp) / ((double)readers * (all - readers));
        for (uint32_t i = 0; i < readers && is_wanted(t, comm); i++) {
            for (uint32_t j = readers; j < all; j++) {
                fab_phase_add(builder, gpu_at(t, comm % n_tp, comm / n_tp, i), gpu_at(t, comm % n_tp, comm / n_tp, j),
                              (uint64_t)(bytes + 0.5), comm);
            }
        }
    }
    builder->phase.executions = t->job->microbatches;
    FAB_FORMAT(builder->phase.formula, "B q x keys and values of a token (%.6g bytes) per layer and tensor rank%s",
               fab_kv_elements(&t->job->model, s->tp) * (double)s->activation_bytes,
               only_one(t) ? " of its stage" : "");
    return FAB_OK;
}
