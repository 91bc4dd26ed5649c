/** Phases of flows: what is in the network together. Made from a training job, a named pattern or a matrix file. */
#pragma once

#include "fab/fabric.h"
#include "fab/job_memory.h"

typedef struct fab_design fab_design;

/** GPUs first ... first + n - 1 in groups of so many in a row, all of which send to each other; flow i is from
 * first + i / (group - 1), to the others of its group in turn. */
typedef struct fab_all_to_all {
    uint32_t first, n; /**< n = 0: the flows are listed */
    uint64_t bytes;    /**< of each flow */
    uint32_t group;    /**< 0: all n; else a divisor of n */
    uint64_t *share;   /**< owned, shape [group]: bytes of every flow of whoever stands there in its group, instead of
                          `bytes`; NULL: all are equal */
    bool by_receiver;  /**< whoever receives it, not who sends it */
} fab_all_to_all;

static inline uint32_t fab_all_group(const fab_all_to_all *all) {
    return all->group > 0 ? all->group : all->n;
}

/** Of a flow between two places of a group. */
static inline uint64_t fab_all_bytes(const fab_all_to_all *all, uint32_t from, uint32_t to) {
    return all->share == NULL ? all->bytes : all->share[all->by_receiver ? to : from];
}

/** One group, and equal flows. */
static inline bool fab_all_is_plain(const fab_all_to_all *all) {
    return all->n > 0 && all->share == NULL && fab_all_group(all) == all->n;
}

typedef struct fab_gpu_range {
    uint32_t first, n;
} fab_gpu_range;

/** GPUs of its group that stand in the scale-up domain of `gpu`, itself included. */
static inline fab_gpu_range fab_all_in_domain(const fab_fabric *f, const fab_all_to_all *all, uint32_t gpu) {
    const uint32_t size = fab_all_group(all);
    const uint32_t first = gpu - (gpu - all->first) % size;
    const uint32_t domain = gpu / f->gpus_per_domain * f->gpus_per_domain;
    const uint32_t from = domain > first ? domain : first;
    const uint32_t to = domain + f->gpus_per_domain < first + size ? domain + f->gpus_per_domain : first + size;
    return (fab_gpu_range){from, to - from};
}

/** Flows that are in the network together. GPUs are node ids of the fabric. Read flows through fab_phase_flow(). */
typedef struct fab_phase {
    char name[FAB_NAME_SIZE];       /**< of a job, with -1, -2, ... where a collective has several:
                                       tp, cp, pp, ep-dispatch, ep-combine, dp, dp-rs, dp-ag, edp, edp-rs,
                                       edp-ag, embedding, prefill, decode (-pp, -ep), checkpoint, ingest; the pattern's
                                       or its algorithm's name; or "matrix" */
    char collective[FAB_NAME_SIZE]; /**< all-reduce, reduce-scatter, all-gather, send-recv, or as the name */
    uint64_t n_flows;               /**< below 2^32 where they are listed */
    uint32_t *src, *dst;   /**< shape [n_flows]: GPUs, src != dst; these and the next three NULL in an all-to-all */
    uint64_t *bytes;       /**< shape [n_flows]: over the whole iteration (a pattern: as given) */
    uint32_t *comm;        /**< shape [n_flows]: communicator, first_comm ... first_comm + n_comms - 1 */
    uint32_t *ordinal;     /**< shape [n_flows]: how many flows before it have the same GPUs; NULL: no pair repeats */
    fab_all_to_all all;    /**< an all-to-all is not listed: it may have billions of flows */
    uint32_t n_comms;      /**< communicators that are present */
    uint32_t first_comm;   /**< 0, or K where only communicator K was asked for: it keeps its number and name */
    uint64_t steps;        /**< dependent steps of one execution: 2(r - 1) for a ring all-reduce */
    uint64_t executions;   /**< times per iteration: layers x microbatches x ... */
    uint64_t total_bytes;  /**< sum of bytes */
    char formula[192];     /**< closed form of total_bytes in words, or empty */
    double expected_bytes; /**< what the formula gives, or 0 */
    char algorithm[FAB_NAME_SIZE]; /**< of the collective: "ring", "doubling", ...; empty: none */
    uint32_t run;                  /**< phases of equal number are parts of one collective, one after the other */
    uint64_t ranks;                /**< of a communicator, of a collective */
    double result_bytes;           /**< S of one execution of the whole collective, as nccl-tests count; 0: unknown */
    uint64_t further_messages;     /**< of the GPU that sends most within a step, beyond its first inside its scale-up
                                      domain     and its first outside; 0 where hosts take no time, as the next */
    double message_bytes;          /**< of the largest message between domains */
    double copied_bytes;           /**< that a GPU sends on for others of its domain, from a buffer: not zero copy */
    double copy_bps;               /**< at which its memory takes and gives them */
    bool is_continued;             /**< a phase before it, of the same run, has left the domains: one call for both */
    bool alternative;              /**< the runs are ways to do the same, side by side: compare them, do not add them */
} fab_phase;

typedef struct fab_flow {
    uint32_t src, dst, comm, ordinal;
    uint64_t bytes;
} fab_flow;

/** Flow i < n_flows. */
static inline fab_flow fab_phase_flow(const fab_phase *p, uint64_t i) {
    if (p->all.n > 1) {
        uint32_t size = fab_all_group(&p->all);
        uint32_t group = (uint32_t)(i / (size - 1) / size);
        uint32_t from = (uint32_t)(i / (size - 1) % size);
        uint32_t to = (uint32_t)(i % (size - 1));
        to += to >= from;
        return (fab_flow){.src = p->all.first + group * size + from,
                          .dst = p->all.first + group * size + to,
                          .comm = p->first_comm + group,
                          .bytes = fab_all_bytes(&p->all, from, to)};
    }
    return (fab_flow){p->src[i], p->dst[i], p->comm[i], p->ordinal != NULL ? p->ordinal[i] : 0, p->bytes[i]};
}

/* Where the ranks of a job run, and which of them are late: what logs of NCCL and dumps of flight recorders say. */

/** A rank that others wait for in a collective. */
typedef struct fab_stuck_rank {
    uint32_t rank;
    uint32_t waiting, members; /**< ranks that have entered it, of those of the process group */
    uint64_t sequence;         /**< number of the collective in its group */
    char collective[64], group[64];
} fab_stuck_rank;

typedef struct fab_ranks {
    uint32_t n;       /**< 0: nothing is known */
    uint32_t *gpu;    /**< shape [n] */
    uint32_t *of_gpu; /**< shape [n_gpus]: rank; FAB_NONE */
    bool is_assumed;  /**< nobody says where ranks run: rank r is taken to be on GPU r */
    uint32_t n_dumps; /**< flight recorders; 0: the next are NULL or 0 */
    /** Shape [n]: what others of its process groups wait for this rank to enter a collective, over the time that its
     * recorder spans; in groups within its server, and in groups of several servers. NAN: not known. */
    double *inside_ratio, *across_ratio;
    double *late_s; /**< shape [n]: the same of one collective, in the group where it is most; NAN */
    fab_stuck_rank *stuck;
    uint32_t n_stuck;
} fab_ranks;

typedef struct fab_traffic {
    fab_phase *phases;
    size_t n_phases;
    bool depends_on_seed;  /**< random pattern: another seed gives other flows */
    uint32_t n_ranks;      /**< ranks of the job; 0 for patterns and files, where rank = GPU */
    uint32_t *gpu_of_rank; /**< shape [n_ranks] */
    uint32_t *rank_of_gpu; /**< shape [n_gpus], FAB_NONE for GPUs outside the job; NULL without a job */
    fab_ranks logged;      /**< of a log of NCCL, or of flight recorders */
    fab_job_spec job;      /**< as resolved: no zero left that its kind needs; meaningful when has_job */
    bool has_job;
    fab_model model;         /**< with the sizes of the job; all 0 for a ranking job */
    fab_job_memory memory;   /**< per GPU of the fullest stage */
    uint64_t microbatches;   /**< per pipeline and iteration (serving: of the prompts) */
    double parameters;       /**< of the model, 0 without a job */
    double checkpoint_bytes; /**< of all ranks together; 0: a job that learns nothing */
    char note[448];          /**< what a reader should know of a matrix before its figures, or empty */
    char summary[384];       /**< one line for people: "llama3-405b: tp 8, pp 16, dp 192, ..." */
} fab_traffic;

void fab_traffic_release(fab_traffic *traffic);

/** As `text`: the phases in which tokens go to their experts and back, which have the most flows, and all others. */
#define FAB_JOB_EXPERTS "job:ep-*"
#define FAB_JOB_OTHERS  "job:!ep-*"

/**
 * Makes the phases of `text`:
 *
 *     job                            all phases of the design's first job, or of the default one
 *     job:PHASE[,comm=K]             one of them, or communicator K of it alone
 *     pattern:NAME[,key=value...]    fab_patterns; bytes= sets the size of each flow, of a collective S
 *                                    (default 1MB; collective.h), gpus=A-B the GPUs (default all). A collective by one
 *                                    algorithm is a run of phases, steps with the same peers in one; algorithm=all
 *                                    makes a run of each that is defined there, auto the one of least time by
 *                                    fab_collective_time()
 *     file:PATH[,rows=servers]       CSV (src,dst,bytes), a square of bytes or MatrixMarket coordinate matrix over
 * GPUs, or over servers, whose GPUs k send each other what servers do, evenly; entries of the same pair stay separate
 * flows, entries of 0 bytes are dropped. Names: gpu-3, rank-3 (GPU 3), server-3, or a host's. Or connections of htsim,
 * a workload of SimAI (ADR 0043), a log of NCCL or a folder of them (rings as logged), dumps of flight recorders:
 * recognised by content
 *
 * The collectives of a job run by tp-collective and dp-collective; phases of one collective are named dp-1, dp-2, ...
 * where it has several. Ring collectives run in one channel per member that a server (or the scale-up domain, where
 * that is larger) holds; edges that several channels share inside it are one flow. A job of one GPU has no phase. A job
 * that does not fit its GPUs is refused (see job_memory.h and the key memory-check). Messages say which key, value and
 * limit.
 * @param[in]  design  May be NULL for patterns and files.
 * @param[in]  seed  Of random patterns.
 * @param[out] out   Written on success only; release with fab_traffic_release().
 */
FAB_STATUS fab_traffic_make(const char *text, const fab_design *design, const fab_fabric *fabric, uint64_t seed,
                            fab_traffic *out, fab_error *err);

/**
 * The model that the design's first job trains on this fabric where the design names none: as a rule the largest that
 * fits. No name where the design names one, or trains none.
 * @param[out] out  Its name is borrowed for ever.
 */
FAB_STATUS fab_traffic_default_model(const fab_design *design, const fab_fabric *fabric, fab_model *out,
                                     fab_error *err);

/**
 * All servers that have their cables, in the order of a placement.
 * @param[out] out  Shape [n_servers]; *out_n of them are filled.
 */
FAB_STATUS fab_servers_arrange(const fab_fabric *fabric, fab_placement placement, uint64_t seed, uint32_t *out,
                               uint32_t *out_n, fab_error *err);

/**
 * The job's bursts to and from the storage servers over the front-end: phases checkpoint and ingest, between hosts.
 * @param[in] text       "job", "job:checkpoint" or "job:ingest".
 * @param[in] fabric     Of the GPUs: the job is resolved on it.
 * @param[in] front_end  Built from fab_design_front_end(): hosts are its GPUs, storage servers the last of them.
 * @param[out] out       As fab_traffic_make(), but without ranks (n_ranks = 0).
 * @retval FAB_EINPUT  the design has no front-end, or no storage servers there
 */
FAB_STATUS fab_traffic_front_end(const char *text, const fab_design *design, const fab_fabric *fabric,
                                 const fab_fabric *front_end, fab_traffic *out, fab_error *err);

/** Bus bandwidth over algorithm bandwidth; a reduce-scatter and an all-gather make an all-reduce. */
double fab_phase_bus_factor(const fab_phase *phase);

/** Bytes of the largest flow. `out_even`: whether all are as large; may be NULL. */
uint64_t fab_phase_largest(const fab_phase *phase, bool *out_even);

/** The same flows in the same order, with the same bytes and communicators. */
bool fab_phase_is_like(const fab_phase *a, const fab_phase *b);

/** Seconds that the software of hosts adds to a phase in one iteration: executions x (call-overhead, unless it is
 * continued, + steps x (step-overhead + further_messages x message-overhead)); a further message takes its first slot's
 * time at the NICs where that is longer, a step one slot's more where messages have four or more. And
 * fab_phase_copy_s().
 */
double fab_phase_host_s(const fab_fabric *fabric, const fab_phase *phase);

/** Of that: bytes that GPUs send on for others, over copy-rate or half the rate of their memory. */
double fab_phase_copy_s(const fab_fabric *fabric, const fab_phase *phase);

/** Who a communicator is: "dp group tp=3 pp=5", "pipeline tp=3 dp=7", "pair 17", "group 3", "all". `out` holds at least
 * 64 bytes. Returns out. */
const char *fab_comm_name(const fab_traffic *traffic, const fab_phase *phase, uint32_t comm, char *out);

typedef enum fab_matrix_format { FAB_MATRIX_CSV, FAB_MATRIX_MARKET } fab_matrix_format;

/** Writes the traffic matrix of a phase (rows source GPU, columns destination GPU, bytes), flows of a pair summed. */
FAB_STATUS fab_matrix_write(const fab_phase *phase, uint32_t n_gpus, fab_matrix_format format, FILE *out,
                            fab_error *err);

/* --- lists for `fabriscope list` ---------------------------------------------------------------------------------- */

typedef struct fab_pattern_info {
    const char *name, *summary;
} fab_pattern_info;
extern const fab_pattern_info fab_patterns[]; /**< ended by an entry whose name is NULL */
/** Length of the path in what stands behind "file:", without ",rows=servers". */
size_t fab_traffic_path_length(const char *text);
extern const fab_pattern_info fab_traffic_files[]; /**< what file:PATH takes; ended likewise */
