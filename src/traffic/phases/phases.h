/* What the phases of a job share: its ranks by their coordinates, and opening a phase. */
#pragma once

#include "collectives/collectives.h"

typedef struct training {
    const fab_job *job;
    const fab_fabric *fabric;
    const uint32_t *gpu_of_rank;
    fab_layout layout;
    uint32_t *members; /* of the ring being emitted */
    const fab_wanted *wanted;
    fab_comm_list others; /* communicators whose collective is no ring: their phases are made from these */
} training;

typedef fab_status make_phase(training *t, const char *name, fab_phase_builder *builder, fab_error *err);

static inline uint32_t size_of(const training *t, fab_dimension dim) {
    return t->job->size[dim];
}

/* Copies of a tensor and pipeline rank: dp x cp. Copy x has context rank x mod cp and data-parallel rank x / cp. */
static inline uint32_t n_copies(const training *t) {
    return size_of(t, FAB_DIM_CP) * size_of(t, FAB_DIM_DP);
}

/* GPU of the rank with these coordinates. */
static inline uint32_t gpu_at(const training *t, uint32_t tp, uint32_t pp, uint32_t copy) {
    const uint32_t *stride = t->job->stride;
    uint32_t n_cp = size_of(t, FAB_DIM_CP);
    return t->gpu_of_rank[tp * stride[FAB_DIM_TP] + pp * stride[FAB_DIM_PP] + copy % n_cp * stride[FAB_DIM_CP] +
                          copy / n_cp * stride[FAB_DIM_DP]];
}

/* A ring collective over the first n of t->members, each of which sends `bytes`. */
static inline void emit_ring(training *t, uint32_t n, double bytes, uint32_t comm, fab_phase_builder *builder) {
    fab_layout_set_units(&t->layout, t->members, n);
    fab_ring_emit(&t->layout, t->members, n, (uint64_t)(bytes + 0.5), comm, builder);
}

/* Elements of one activation tensor of a whole iteration: B s h. */
static inline double batch_elements(const fab_job *job) {
    return (double)job->spec.batch * (double)job->spec.seq * (double)job->spec.hidden;
}

static inline bool only_one(const training *t) {
    return t->wanted->comm != FAB_NONE;
}

static inline bool is_wanted(const training *t, uint32_t comm) {
    return !only_one(t) || t->wanted->comm == comm;
}

/* Before anything is computed for the communicator that is wanted. */
FAB_STATUS fab_check_comm(const training *t, const char *name, uint32_t n_comms, fab_error *err);

FAB_STATUS fab_open_phase(const training *t, fab_phase_builder *builder, const char *name, const char *collective,
                          uint64_t capacity, uint32_t n_comms, double expected_bytes, fab_error *err);

/* An all-to-all of all layers with experts. */
typedef struct expert_exchange {
    double tokens;            /* of the whole job, per execution of all of them */
    uint64_t rounds;          /* exchanges per layer */
    uint64_t times;           /* executions of a round */
    const char *what;         /* the tokens, in the formula */
    uint32_t first, n_copies; /* that take part; 0: all */
} expert_exchange;

FAB_STATUS fab_make_exchange_of_experts(training *t, const char *name, const expert_exchange *x,
                                        fab_phase_builder *builder, fab_error *err);

/* The forward pass once more where it is repeated and that is to count. */
static inline uint32_t repeated(const fab_job_spec *s) {
    return s->recompute_traffic && s->recompute == FAB_RECOMPUTE_FULL ? 1 : 0;
}

/* phases_expert.c, phases_serving.c, phases_storage.c: by its name prefill or decode, checkpoint or ingest. */
make_phase fab_make_cp, fab_make_ep, fab_make_embedding;
make_phase fab_make_serving_tp, fab_make_serving_pp, fab_make_serving_ep, fab_make_serving_kv;
make_phase fab_make_burst;
