/* What the files of this module share. */
#pragma once

#include "fab/job_shares.h"
#include "fab/stages.h"
#include "stages_internal.h"
#include "fab/traffic.h"

/* Bytes of a phase stay below 2^63, so that sums of them fit. */
#define FAB_PHASE_MAX_BYTES 9.2e18

/* --- phase.c: a phase while its flows are added ------------------------------------------------------------------- */

typedef struct fab_phase_builder {
    fab_phase phase;
    size_t capacity;
} fab_phase_builder;

void fab_phase_release(fab_phase *phase);
static inline void fab_phase_builder_release(fab_phase_builder *builder) {
    fab_phase_release(&builder->phase);
}

/* Room for `capacity` flows; 1 step, 1 execution, 1 communicator. */
FAB_STATUS fab_phase_open(fab_phase_builder *builder, const char *name, const char *collective, uint64_t capacity,
                          fab_error *err);

/* A phase in which the n >= 2 GPUs from `first` on send `bytes` to each other, below 2^63 in all; nothing is listed. */
fab_phase_builder fab_phase_of_all(const char *name, const char *collective, uint32_t first, uint32_t n,
                                   uint64_t bytes);

/* Makes room for `capacity` flows. */
FAB_STATUS fab_phase_reserve(fab_phase_builder *builder, uint64_t capacity, fab_error *err);

/* Puts listed flows into the order of their source GPUs; those of one source stay in theirs. */
FAB_STATUS fab_phase_sort(fab_phase *phase, uint32_t n_gpus, fab_error *err);

/* Adds a flow; the caller opened the phase with enough room. A flow of no bytes is dropped. */
static inline void fab_phase_add(fab_phase_builder *builder, uint32_t src, uint32_t dst, uint64_t bytes,
                                 uint32_t comm) {
    fab_phase *phase = &builder->phase;
    if (bytes == 0 || phase->n_flows >= builder->capacity) {
        return;
    }
    phase->src[phase->n_flows] = src;
    phase->dst[phase->n_flows] = dst;
    phase->bytes[phase->n_flows] = bytes;
    phase->comm[phase->n_flows] = comm;
    phase->n_flows++;
    phase->total_bytes += bytes;
}

/* Fills phase->ordinal, once all flows are there, if a pair of GPUs has more than one. */
FAB_STATUS fab_phase_number(fab_phase *phase, fab_error *err);

/* The GPU of the design's first job, or the default one. */
FAB_STATUS fab_traffic_gpu(const fab_design *design, const char *where, fab_gpu *out, fab_error *err);

/* Fills copied_bytes, where GPUs of a domain relay between rails; unless the collective says what they copy. */
FAB_STATUS fab_phase_count_copies(const fab_fabric *fabric, fab_phase *phase, fab_error *err);

/* Fills further_messages and message_bytes, once all flows are there. */
FAB_STATUS fab_phase_count_messages(const fab_fabric *fabric, fab_phase *phase, fab_error *err);

/* Compares the flows with the closed form: FAB_EINTERNAL when they differ by more than 1e-6 and rounding explain. */
FAB_STATUS fab_phase_check(const fab_phase *phase, fab_error *err);

/* --- traffic.c ---------------------------------------------------------------------------------------------------- */

/* Makes room for n more phases. */
FAB_STATUS fab_traffic_reserve(fab_traffic *traffic, size_t n, fab_error *err);

/* Appends a phase and takes over its arrays; `phases` must have room. */
void fab_traffic_take(fab_traffic *traffic, fab_phase_builder *builder);

/* --- job.c, job_model.c, job_servers.c, placement.c --------------------------------------------------------------- */

typedef enum fab_dimension { FAB_DIM_TP, FAB_DIM_CP, FAB_DIM_PP, FAB_DIM_DP, FAB_N_DIMS } fab_dimension;

/* A job with nothing left open. */
typedef struct fab_job {
    fab_job_spec spec;
    fab_model model;         /* with the sizes of the job; its name is only borrowed; empty in ranking */
    bool model_given;        /* by name or by sizes: not the default */
    bool batch_is_open;      /* of serving: as many sequences as fit */
    size_t n_models_smaller; /* than the default for as many GPUs: that one did not fit */
    uint32_t *servers;       /* in the order in which ranks fill them */
    uint32_t n_servers;
    uint32_t *storage; /* servers that act as storage in the same network */
    uint32_t n_storage;
    uint32_t n_gpus;
    uint64_t microbatches; /* per pipeline and iteration */
    uint32_t size[FAB_N_DIMS];
    uint32_t stride[FAB_N_DIMS]; /* distance in ranks between neighbours along a dimension */
    fab_job_memory memory;
    const char *listed; /* servers of a pattern, which has no design; borrowed */
    char where[FAB_WHERE_SIZE];
} fab_job;

void fab_job_release(fab_job *job);
static inline void fab_job_free_owned(fab_job **job) {
    if (*job != NULL) {
        fab_job_release(*job);
        free(*job);
    }
}
FAB_STATUS fab_job_resolve(const fab_design *design, const fab_fabric *fabric, fab_job *out, fab_error *err);

/* --- job_shares.c --------------------------------------------------------------------------------------------------
 */

/* Peaks and sums of the job, behind its dimensions. */
FAB_STATUS fab_job_resolve_shares(fab_job *job, fab_error *err);

/* What all ranks of a job that learns write for a checkpoint. */
double fab_checkpoint_bytes(const fab_job *job);

/* All of a job whose servers are known but its sizes, batch and memory. */
FAB_STATUS fab_job_open(fab_job *job, fab_error *err);

/* The same of the design's only job, servers included. */
FAB_STATUS fab_job_open_first(const fab_design *design, const fab_fabric *fabric, fab_job *out, fab_error *err);

/* Refuses a job that does not fit its GPUs, unless it may. */
FAB_STATUS fab_job_check_memory(const fab_job *job, const fab_fabric *fabric, fab_error *err);
/* Of a service whose batch nobody gave. */
void fab_job_fill_replicas(fab_job *job);

/* Which copies share a state (job->spec.shard_group), from shard-over and the strides. */
FAB_STATUS fab_job_share(fab_job *job, const fab_fabric *fabric, fab_error *err);

/* A size that is not given. */
static inline void fab_job_default(uint64_t *size, uint64_t otherwise) {
    *size = *size == 0 ? otherwise : *size;
}

/* The model and its sizes, checked by themselves. */
FAB_STATUS fab_job_find_model(fab_job *job, fab_error *err);

/* Servers and GPUs of the job (job->servers, n_servers, n_gpus) and its storage servers. */
FAB_STATUS fab_job_find_servers(fab_job *job, const fab_design *design, const fab_fabric *fabric, fab_error *err);

/* The last server may be partly filled. */
uint32_t fab_gpus_of_server(const fab_fabric *fabric, uint32_t server);

/* Strides of the rank order, from job->spec.order and job->size. */
FAB_STATUS fab_job_order(fab_job *job, fab_error *err);

/* Fills gpu_of_rank and rank_of_gpu. */
FAB_STATUS fab_job_place(const fab_job *job, const fab_fabric *fabric, fab_traffic *traffic, fab_error *err);

/* --- rings.c ------------------------------------------------------------------------------------------------------ */

/* Most flows that a ring over n members emits. */
static inline uint64_t fab_ring_max_flows(uint64_t n_members) {
    return 4 * n_members;
}

/* --- the three sources of phases ---------------------------------------------------------------------------------- */

/* What is wanted of a job. */
typedef struct fab_wanted {
    const char *text;  /* as given, for messages */
    const char *phase; /* NULL: all of them */
    uint32_t comm;     /* communicator of that phase, FAB_NONE: all of them */
} fab_wanted;

FAB_STATUS fab_training_make(const fab_job *job, const fab_fabric *fabric, const fab_wanted *wanted,
                             fab_traffic *traffic, fab_error *err);
/* Bursts between servers and storage servers as hosts of another network. */
FAB_STATUS fab_front_end_make(const fab_job *job, const fab_fabric *fabric, const fab_fabric *front_end,
                              uint32_t n_storage, const fab_wanted *wanted, fab_traffic *traffic, fab_error *err);
FAB_STATUS fab_pattern_make(const char *text, const fab_design *design, const fab_fabric *fabric, uint64_t seed,
                            fab_traffic *traffic, fab_error *err);
/* A matrix in the bytes of a file, over GPUs or over servers. */
FAB_STATUS fab_matrix_read(const char *path, const fab_str *text, const fab_fabric *fabric, bool by_servers,
                           fab_traffic *traffic, fab_error *err);
