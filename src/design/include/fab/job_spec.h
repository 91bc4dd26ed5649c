/** What a design says of a job, as plain values. */
#pragma once

#include "fab/gpu.h"

typedef enum fab_job_kind { FAB_JOB_TRAINING, FAB_JOB_RANKING, FAB_JOB_SERVING } fab_job_kind;
extern const char *const fab_job_kinds[]; /**< their names, ended by NULL */

/** Which activations are computed again in the backward pass instead of being kept. */
typedef enum fab_recompute {
    FAB_RECOMPUTE_FULL,
    FAB_RECOMPUTE_SELECTIVE,
    FAB_RECOMPUTE_NONE,
    FAB_RECOMPUTE_AUTO /**< of a job whose plan is to be found; never of a resolved one */
} fab_recompute;
extern const char *const fab_recomputes[]; /**< their names, ended by NULL */

typedef enum fab_attention { FAB_ATTENTION_AUTO, FAB_ATTENTION_FLASH, FAB_ATTENTION_STANDARD } fab_attention;

/** In which order pipeline stages take their passes: as fab_pipeline_order. */
typedef enum fab_job_schedule { FAB_SCHEDULE_1F1B, FAB_SCHEDULE_ZERO_BUBBLE } fab_job_schedule;

#define FAB_STAGE_LAYERS_SIZE 512 /* of a list of layers per stage */

/** How context parallel ranks exchange keys and values. */
typedef enum fab_cp_exchange { FAB_CP_ALL_GATHER, FAB_CP_RING } fab_cp_exchange;

/** What the copies of a rank share [ZeRO, Rajbhandari et al., 2020]: states of the optimizer, gradients too, weights
 * too (FSDP). Auto: as `sharded` says. */
typedef enum fab_zero { FAB_ZERO_AUTO, FAB_ZERO_0, FAB_ZERO_1, FAB_ZERO_2, FAB_ZERO_3 } fab_zero;
extern const char *const fab_zeros[]; /**< their names, ended by NULL */

/** How often sharded gradients are reduced and sharded weights gathered. Auto: for every microbatch. */
typedef enum fab_shard_exchange {
    FAB_SHARD_EXCHANGE_AUTO,
    FAB_SHARD_EXCHANGE_MICROBATCH,
    FAB_SHARD_EXCHANGE_ITERATION
} fab_shard_exchange;

/** How embedding tables lie on the GPUs of a group: an equal part of everything on each, or table by table, cut by
 * columns. */
typedef enum fab_table_sharding { FAB_TABLES_EVEN, FAB_TABLES_PLACED } fab_table_sharding;

/** How tokens reach their experts: a copy for every expert straight to its GPU, or one for every domain over the rail,
 * which hands it on to every GPU there that has one of its experts [DeepEP]. */
typedef enum fab_expert_exchange { FAB_EXPERTS_DIRECT, FAB_EXPERTS_HIERARCHICAL } fab_expert_exchange;

typedef enum fab_offload { FAB_OFFLOAD_NONE, FAB_OFFLOAD_OPTIMIZER } fab_offload;

/** Matrices that have an adapter. */
typedef enum fab_lora { FAB_LORA_QUERY_VALUE, FAB_LORA_ATTENTION, FAB_LORA_ALL } fab_lora;

/** Algorithm of a job's collective: one of fab_job_collectives, of which the last is what the kind of job takes. */
typedef enum fab_job_collective { FAB_COLLECTIVE_RING } fab_job_collective;
extern const char *const fab_job_collectives[]; /**< ended by NULL */

/** Order of the servers: as listed, drawn, pods filled one by one, or pods in turn. */
typedef enum fab_placement {
    FAB_PLACEMENT_ORDER,
    FAB_PLACEMENT_RANDOM,
    FAB_PLACEMENT_PACKED,
    FAB_PLACEMENT_SCATTERED
} fab_placement;
extern const char *const fab_placements[]; /**< their names, ended by NULL */

/** Whether a job that does not fit its GPUs is refused. */
typedef enum fab_memory_rule { FAB_MEMORY_CHECK_AUTO, FAB_MEMORY_CHECK_ON, FAB_MEMORY_CHECK_OFF } fab_memory_rule;

/** How a job is run: what a plan consists of. Each is the key of a job. */
typedef enum fab_plan_key {
    FAB_PLAN_TP,
    FAB_PLAN_CP,
    FAB_PLAN_PP,
    FAB_PLAN_DP,
    FAB_PLAN_EP,
    FAB_PLAN_INTERLEAVE,
    FAB_PLAN_MICROBATCH,
    FAB_PLAN_RECOMPUTE,
    FAB_PLAN_ZERO,
    FAB_PLAN_SEQUENCE,
    FAB_N_PLAN_KEYS
} fab_plan_key;
extern const char *const fab_plan_keys[FAB_N_PLAN_KEYS];

/** Whether what nobody gave of a plan is chosen as well. Default: as fab_job_plan_is_left() says. */
typedef enum fab_plan_rule { FAB_PLAN_DEFAULT, FAB_PLAN_GIVEN, FAB_PLAN_AUTO } fab_plan_rule;

typedef struct fab_job_spec {
    char id[FAB_NAME_SIZE];
    fab_job_kind kind;
    char model[FAB_NAME_SIZE]; /**< of `list models`, or empty when the sizes are given */
    uint64_t layers, hidden, heads, kv_heads, ffn, seq, vocab, experts; /**< 0 = the model's; experts 1: none */
    uint64_t top_k, expert_ffn;       /**< experts a token visits; feed-forward size of one; 0 = the model's */
    uint64_t tables, rows, embedding; /**< ranking: tables, rows of all of them, columns; 0 = the model's */
    uint64_t dense_parameters;        /**< ranking: replicated on every GPU; 0 = the model's */
    fab_table_sharding table_sharding;
    uint64_t table_group;            /**< ranking: GPUs that hold all tables together; 0: all */
    char tables_file[FAB_FILE_SIZE]; /**< ranking: "rows columns pooling", a table a line; empty: the model's */
    double columns, lookups;         /**< of a resolved ranking job: of all tables, and x pooling */
    double column_peak, lookup_peak; /**< of a resolved one: the GPU with most, over the mean */
    fab_expert_exchange expert_exchange;
    uint64_t expert_groups;           /**< domains in which the experts of a token lie at most; 0: all */
    double expert_skew;               /**< Zipf exponent of the popularity of experts; 0: all alike */
    char expert_loads[FAB_FILE_SIZE]; /**< a number for each expert, in place of that; empty: none */
    double expert_peak;               /**< of a resolved job: the rank with most tokens, over the mean */
    double request_rate;              /**< serving: requests per second of the whole job; 0: seven tenths of the most */
    uint64_t prefill_replicas;   /**< serving: of dp, read prompts for the others, which generate; 0: all do both */
    uint64_t prompt, tokens;     /**< serving: tokens read and generated per sequence; 0 = 1024, 256 */
    uint64_t tp, cp, pp, dp, ep; /**< 0 = default: tp = min(8, domain), pp = the fewest stages whose memory
                                    suffices, dp = the rest, others 1; ep divides dp x cp: it is no dimension of
                                    the rank order */
    uint64_t microbatch,
        interleave;         /**< 0 = auto: the fastest where an iteration is timed; resolved: 1, see the next two */
    fab_plan_rule plan;     /**< auto: whatever is not given */
    bool plan_chosen;       /**< by a search: nobody gave its sizes */
    bool ep_chosen;         /**< by that search: not given beside open sizes */
    bool plan_is_short;     /**< that search was a short one: another plan may be faster */
    bool plan_is_tried;     /**< it was found elsewhere and tried, as the one of which failures leave most is */
    bool is_default;        /**< of a design without a job */
    bool order_given;       /**< somebody said an order of the dimensions */
    bool exchange_given;    /**< somebody said how tokens reach experts */
    bool placement_given;   /**< somebody said a placement beside what the design says: fab_design_set_job() */
    unsigned plan_asked;    /**< bit fab_plan_key: somebody said auto */
    unsigned plan_given;    /**< bit fab_plan_key: somebody said a value */
    uint64_t routed_chunks; /**< whose transfers the phases have while interleave is auto; 0: 1 */
    bool interleave_given;  /**< by somebody: 1 is kept where stages are chosen, too */
    bool microbatch_auto, interleave_auto; /**< of a resolved job: nobody chose it, it may be changed */
    bool pp_auto;                          /**< of a resolved job: chosen for the memory */
    uint64_t batch;                        /**< sequences (ranking: samples) per iteration; 0 = the model's */
    uint64_t batch_unrounded; /**< of a resolved job: the model's, which its GPUs or sizes do not divide; else 0 */
    char gpu[FAB_WHERE_SIZE]; /**< of `list gpus`, or a file */
    fab_gpu accelerator;      /**< what `gpu` names; read when that is set */
    fab_precision precision;  /**< of matrix products in the layers; not auto in a resolved job */
    fab_recompute recompute;
    bool recompute_traffic;  /**< count the exchanges that a full recomputation repeats */
    bool sequence_parallel;  /**< tensor parallel by reduce-scatter and all-gather, activations split */
    fab_attention attention; /**< whether its scores are kept; auto of a resolved job: never */
    fab_cp_exchange cp_exchange;
    uint64_t activation_bytes;      /**< per element sent by tensor and pipeline parallelism */
    uint64_t dispatch_bytes;        /**< per element sent to an expert; 0 = activation_bytes */
    uint64_t gradient_bytes;        /**< per parameter in the data-parallel reduction */
    uint64_t parameter_bytes;       /**< per parameter in the sharded all-gather */
    uint64_t optimizer_bytes;       /**< per parameter, master copy included; 0 = 12 */
    bool sharded;                   /**< another way to say zero=1; of a resolved job: whether zero is above 0 */
    fab_zero zero;                  /**< of a resolved job: never auto */
    char shard_over[FAB_NAME_SIZE]; /**< "all", "domain" or a number of copies that share a state; others repeat it */
    uint64_t shard_group;           /**< of a resolved job: that number; 0: all */
    fab_shard_exchange shard_exchange;
    fab_offload offload;
    double offload_bps, host_memory_bps; /**< of one GPU: PCIe per direction; memory of the host */
    uint64_t lora_rank;                  /**< of the adapters that are trained in place of the weights; 0: none */
    fab_lora lora_matrices;
    bool scatter_gather;              /**< pipeline sends 1/tp per GPU pair */
    fab_job_collective tp_collective; /**< algorithm */
    fab_job_collective dp_collective;
    double compute_power, communicate_power, idle_power;               /**< of a GPU, over that of its data sheet */
    double tp_overlap, cp_overlap, pp_overlap, ep_overlap, dp_overlap; /**< part hidden behind computation, 0 to 1 */
    fab_job_schedule schedule;
    bool embedding_as_layer;                  /**< they and the loss count as a layer each when layers are spread */
    char stage_layers[FAB_STAGE_LAYERS_SIZE]; /**< layers of each stage, "7:8:8:7"; empty: as even as possible */
    double
        gpu_hour_usd; /**< 0 = the accelerator's: price of a GPU for an hour, power and server included, network not */
    double published_tflops, published_pipeline_bps, published_data_bps; /**< of a published run; 0 = none */
    double train_tokens;       /**< tokens of the whole training run; 0 = not asked */
    char order[FAB_NAME_SIZE]; /**< dimensions of the rank order, innermost first: "tp-cp-pp-dp" */
    fab_placement placement;
    uint64_t placement_seed;      /**< of a random one */
    uint64_t gpus, n_servers;     /**< how many of the servers the job takes; 0 = all */
    fab_list_ref servers;         /**< "0-15,20,32-62:2": servers the job runs on, in this order; none = all
                                     but spares and storage servers */
    fab_list_ref storage_servers; /**< servers that take checkpoints and hold the data, in the same network */
    uint64_t sample_bytes;        /**< of one sequence or sample that is read; 0 = 4 per token or table */
    fab_memory_rule memory_check; /**< auto: on when the model was named */
    double memory_headroom;       /**< part of a GPU's memory that whoever chooses a plan leaves free */
    char contends[FAB_NAME_SIZE]; /**< phase that overlaps with those of other jobs, or "none"; empty: the longest */
    char where[FAB_WHERE_SIZE];   /**< file:line:column of the element, for errors */
} fab_job_spec;

/** Bits of what a plan has to choose, or 0 where the job says how it is run: interleave and microbatch alone are chosen
 * when the iteration is timed. Where something is asked for, sizes that nobody gave (tp, pp, dp) are chosen too. */
unsigned fab_job_plan_open(const fab_job_spec *job);

/** Whether nobody said how a training job is run: none of tp, cp, pp, dp and ep is given, and plan is the default.
 * Whoever can search chooses then what a plan with plan=auto has; who cannot takes the rules that the keys have. */
bool fab_job_plan_is_left(const fab_job_spec *job);
