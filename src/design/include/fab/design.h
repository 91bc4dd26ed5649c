/**
 * @file design.h
 * A design: what the user asks for, as plain values. Read from an XML file, a built-in preset or a one-line form; any
 * value can be overridden by its path. Nothing is derived here beyond the documented defaults: topologies/ builds the
 * fabric, src/traffic the job.
 */
#ifndef FAB_DESIGN_H
#define FAB_DESIGN_H

#include "fab/installed.h"
#include "fab/status.h"
#include "fab/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAB_MAX_TIERS   8
#define FAB_MAX_ENGINES 16
#define FAB_MAX_JOBS    16
#define FAB_NAME_SIZE   64
#define FAB_WHERE_SIZE  192
#define FAB_FILE_SIZE   512

/** One switch tier; index 0 is the leaf tier. */
typedef struct fab_tier_spec {
    uint64_t radix;       /**< physical ports of one switch */
    double port_bps;      /**< rate of one physical port; 0 = so that a cable below runs at the rate of a NIC port */
    uint64_t down;        /**< most cables below one switch; 0 = what the taper leaves room for */
    uint64_t breakout;    /**< cables below that one port serves, >= 1 */
    uint64_t breakout_up; /**< cables above that one port serves; 0 = as below */
    double taper;         /**< upper bound of capacity down / capacity up of one switch; unused in the top tier */
    double length_m;      /**< cable length below this tier: tier 1 = NIC to leaf, tier 2 = leaf to spine, ... */
    double latency_s;     /**< forwarding latency of one switch */
} fab_tier_spec;

/** Where racks stand; decides the lengths of the cables. Defaults that are not derived stand in fields.c. */
typedef struct fab_floor_spec {
    bool given;                 /**< false: cables have the lengths of their tiers */
    double server_w;            /**< power of one server, resolved */
    double rack_w, hall_w;      /**< most power of the servers of a rack and of a hall; 0 = no limit */
    uint64_t servers_per_rack;  /**< resolved */
    uint64_t racks_per_row;     /**< racks of servers */
    uint64_t switches_per_rack; /**< of a network rack */
    double rack_pitch_m, row_pitch_m, hall_distance_m;
    double slack_m;   /**< per end of a cable */
    char leaf_at[16]; /**< auto | rack | row | hall */
} fab_floor_spec;

typedef struct fab_fabric_spec {
    char family[FAB_NAME_SIZE];
    uint64_t gpus; /**< 0 only where the family derives it (fat-tree with k) */
    uint64_t gpus_per_server, nics_per_server;
    double nic_bps;
    uint64_t domain;         /**< GPUs per scale-up domain */
    double domain_bps;       /**< per GPU and direction */
    double domain_latency_s; /**< GPU to GPU through the scale-up switch */
    double pcie_bps;         /**< GPU to NIC, per direction; 0 = not a limit (as fast as the NICs behind it) */
    uint64_t tiers;          /**< 0 = the smallest number that suffices */
    uint64_t pod;            /**< GPUs per pod; 0 = what the radix of one spine allows */
    uint64_t planes, spares;
    uint64_t storage;              /**< front-end only: storage servers, with as many NICs as a server has there */
    uint64_t rails_per_switch;     /**< rail-only: 0 = as many as fit a single switch */
    char forward[FAB_NAME_SIZE];   /**< rail-only: "source" or "destination": whose domain hands over between rails */
    char forwarding[16];           /**< rail-only: "pipelined" or "sequential": passed on as it comes, or as a whole */
    char reduction[16];            /**< none | switch: switches that reduce */
    uint64_t k;                    /**< fat-tree arity, 0 = not given */
    char xgft[FAB_NAME_SIZE];      /**< "h;m1,..;w1,.." or empty */
    char dragonfly[FAB_NAME_SIZE]; /**< "p,a,h[,g[,t]]" or empty */
    char torus[FAB_NAME_SIZE];     /**< "4,4,8" or empty */
    char file[FAB_FILE_SIZE];      /**< installed: what is installed, from the folder of the program */
    char format[FAB_NAME_SIZE];    /**< installed: of the file; empty = recognised by content */
    char digest[24];               /**< installed: of the bytes of the file; filled in, or what they have to be */
    char host_order[16];           /**< installed: name | leaf: how servers are numbered */
    uint64_t hosts_per_switch;     /**< installed: to add to a file without hosts */
    uint64_t cables;               /**< installed: between two switches of a file without cables; 0 = 1 */
    fab_tier_spec tier[FAB_MAX_TIERS];
    fab_floor_spec floor;
    uint64_t max_bytes;         /**< memory that may be taken; 0 = no limit. The caller's, no part of a design */
    char where[FAB_WHERE_SIZE]; /**< file:line:column of the element, for errors */
} fab_fabric_spec;

#define FAB_SERVERS_SIZE 8192 /* of a list of servers; ranges with a stride keep it short */

typedef struct fab_job_spec {
    char id[FAB_NAME_SIZE];
    char kind[FAB_NAME_SIZE];  /**< training | ranking | serving; empty = training */
    char model[FAB_NAME_SIZE]; /**< of `list models`, or empty when the sizes are given */
    uint64_t layers, hidden, heads, kv_heads, ffn, seq, vocab, experts; /**< 0 = the model's; experts 1: none */
    uint64_t top_k, expert_ffn;       /**< experts a token visits; feed-forward size of one; 0 = the model's */
    uint64_t tables, rows, embedding; /**< ranking: tables, rows of all of them, columns; 0 = the model's */
    uint64_t dense_parameters;        /**< ranking: replicated on every GPU; 0 = the model's */
    uint64_t prompt, tokens;          /**< serving: tokens read and generated per sequence; 0 = 1024, 256 */
    uint64_t tp, cp, pp, dp, ep;      /**< 0 = default: tp = min(8, domain), dp = the rest, others 1; ep divides
                                         dp x cp: it is no dimension of the rank order */
    uint64_t microbatch,
        interleave; /**< 0 = auto: the fastest where an iteration is timed; resolved: 1, see the next two */
    bool microbatch_auto, interleave_auto; /**< of a resolved job: nobody chose it, it may be changed */
    uint64_t batch;                        /**< sequences (ranking: samples) per iteration; 0 = the model's */
    char gpu[FAB_NAME_SIZE];               /**< of `list gpus` */
    char recompute[FAB_NAME_SIZE];         /**< full | selective | none */
    bool recompute_traffic;                /**< count the exchanges that a full recomputation repeats */
    bool sequence_parallel;                /**< tensor parallel by reduce-scatter and all-gather, activations split */
    char attention[FAB_NAME_SIZE];         /**< auto | flash | standard: whether its scores are kept */
    char cp_exchange[FAB_NAME_SIZE];       /**< all-gather | ring; empty = all-gather */
    uint64_t activation_bytes;             /**< per element sent by tensor and pipeline parallelism */
    uint64_t dispatch_bytes;               /**< per element sent to an expert; 0 = activation_bytes */
    uint64_t gradient_bytes;               /**< per parameter in the data-parallel reduction */
    uint64_t parameter_bytes;              /**< per parameter in the sharded all-gather */
    uint64_t optimizer_bytes;              /**< per parameter, master copy included; 0 = 12 */
    bool sharded;                          /**< data parallel: reduce-scatter + all-gather instead of all-reduce */
    bool scatter_gather;                   /**< pipeline sends 1/tp per GPU pair */
    char tp_collective[32];                /**< algorithm: ring, ..., auto; empty = ring */
    char dp_collective[32];
    double tp_overlap, cp_overlap, pp_overlap, ep_overlap, dp_overlap; /**< part hidden behind computation, 0 to 1 */
    double gpu_hour_usd; /**< price of a GPU for an hour, power and server included, network not */
    double published_tflops, published_pipeline_bps, published_data_bps; /**< of a published run; 0 = none */
    double train_tokens;                    /**< tokens of the whole training run; 0 = not asked */
    char order[FAB_NAME_SIZE];              /**< dimensions of the rank order, innermost first: "tp-cp-pp-dp" */
    char placement[FAB_NAME_SIZE];          /**< order | random | packed | scattered; empty = order */
    uint64_t placement_seed;                /**< of a random one */
    uint64_t gpus, n_servers;               /**< how many of the servers the job takes; 0 = all */
    char servers[FAB_SERVERS_SIZE];         /**< "0-15,20,32-62:2": servers the job runs on, in this order; empty = all
                                               but spares and storage servers */
    char storage_servers[FAB_SERVERS_SIZE]; /**< servers that take checkpoints and hold the data, in the same network */
    uint64_t sample_bytes;                  /**< of one sequence or sample that is read; 0 = 4 per token or table */
    char memory_check[FAB_NAME_SIZE];       /**< auto | on | off; empty = auto: on when the model was named */
    char contends[FAB_NAME_SIZE]; /**< phase that overlaps with those of other jobs, or "none"; empty: the longest */
    char where[FAB_WHERE_SIZE];   /**< file:line:column of the element, for errors */
} fab_job_spec;

#define FAB_ENGINE_TEXT_SIZE 1024 /* file names among its options */

/** One requested routing engine, `name[,key=value...]` as on the command line; parsed by routing/. */
typedef struct fab_engine_spec {
    char text[FAB_ENGINE_TEXT_SIZE];
    char where[192]; /**< file:line:column it came from, or "--engine" */
} fab_engine_spec;

/** Room for such a text with the defaults of all options that it leaves out. */
#define FAB_ENGINE_LABEL_SIZE (FAB_ENGINE_TEXT_SIZE + 192)

typedef struct fab_design {
    char name[FAB_NAME_SIZE];
    char origin[192]; /**< file name, "preset:NAME" or the one-line form */
    char source[512]; /**< where the figures come from */
    fab_fabric_spec fabric;
    fab_fabric_spec front_end; /**< second network of the servers, for storage and data; has no GPUs of its own */
    bool has_front_end;
    fab_job_spec jobs[FAB_MAX_JOBS];
    size_t n_jobs;
    fab_engine_spec engines[FAB_MAX_ENGINES];
    size_t n_engines;
    char prices[192];                  /**< price profile name or file; empty = the default profile */
    char convention[FAB_NAME_SIZE];    /**< one of fab_count_rules (prices.h); empty = that of the price book */
    char prices_where[FAB_WHERE_SIZE]; /**< file:line:column of the value, or empty */
} fab_design;

/**
 * Reads a design from `text`: `preset:NAME`, a one-line form `FAMILY:key=value,...`, or the path of an XML file ("-" is
 * stdin). A file or preset may stand on another (base="preset:NAME" or a path from its folder), whose values its own
 * replace; jobs or engines that it gives replace all of the base's. Then applies the overrides `path=value` in order,
 * fills the defaults, and checks every value by itself and those that only make sense together (servers, scale-up
 * domains, pods).
 *
 * Paths: name, source; fabric.KEY or KEY (gpus, nic, ...); for values per tier fabric.tier.2.taper, fabric.taper.2 or
 * taper.2, and without a tier a list separated by '/': the last value holds for the tiers above it, except that tapers
 * left out are 1; floor.KEY; job.KEY (the first job, made if there is none) or job.ID.KEY; engine or engine.2; prices.
 * The one-line form takes the keys of the fabric. "auto" leaves a value to its default.
 * @param[in]  overrides  n_overrides strings such as "fabric.taper.2=4". May be NULL when n_overrides is 0.
 * @param[out] out        Written on success only; plain values, nothing to release.
 * @retval FAB_EINPUT  err->where is file:line:column (or the option), err->text names what, the value and the limit.
 */
fab_status fab_design_read(const char *text, const char *const *overrides, size_t n_overrides, fab_design *out,
                           fab_error *err) FAB_MUST_USE;

/**
 * The front-end network as a fabric of hosts: one "GPU" per server and per storage server, no scale-up domain.
 * @param[in] servers  Servers of the built back-end, spares included.
 */
void fab_design_front_end(const fab_design *design, uint64_t servers, fab_fabric_spec *out);

/** How the file of an installed fabric is read. Texts belong to the spec. */
fab_installed_options fab_design_installed_options(const fab_fabric_spec *spec);

/** A job of which nothing is said: every field at its default, as `list fields` prints it. Written on success only. */
fab_status fab_design_default_job(fab_job_spec *out, fab_error *err) FAB_MUST_USE;

/** Sets one field of `design->jobs[job]` from its key, as --job and XML do. Appends a job when job == n_jobs. */
fab_status fab_design_set_job(fab_design *design, size_t job, const char *key, const char *value, const char *where,
                              fab_error *err) FAB_MUST_USE;

/**
 * Canonical text of a design: every field that differs from its default as `path=value`, one a line, by path within its
 * part. Two designs with the same text give the same results. A field that is added to the table of fields leaves it as
 * it was; changing a default changes what stored texts mean.
 */
void fab_design_describe(const fab_design *design, fab_str *out);

/**
 * The design of a canonical text: what is described again is the same text. Its origin is empty. Texts that name
 * defaults as well, as stores of version 0.1 do, are read.
 * @retval FAB_EINPUT  no such text, or a design that fab_design_read() would refuse
 */
fab_status fab_design_restore(const char *text, fab_design *out, fab_error *err) FAB_MUST_USE;

/** Digest of fab_design_describe, but for the path of an installed fabric's file, whose content it covers instead: 16
 * hexadecimal digits and a NUL. */
fab_status fab_design_digest(const fab_design *design, char out[17], fab_error *err) FAB_MUST_USE;

/** The same of a canonical text, whatever the version of the program that wrote it. */
void fab_design_text_digest(const char *text, char out[17]);

/** Appends the XML Schema of design files. */
void fab_design_schema(fab_str *out);

/** A general fat-tree XGFT(h; m1..mh; w1..wh), with p1..ph parallel cables [Ohring et al., IPPS 1995]. From index 1. */
typedef struct fab_xgft {
    uint32_t height;
    uint64_t m[FAB_MAX_TIERS + 1], w[FAB_MAX_TIERS + 1], p[FAB_MAX_TIERS + 1];
    uint64_t ports; /**< product of m: NIC ports */
} fab_xgft;

/** Reads "h;m1,...,mh;w1,...,wh" with an optional ";p1,...,ph" (default 1). */
fab_status fab_xgft_parse(const char *text, fab_xgft *out, fab_error *err) FAB_MUST_USE;

/** A dragonfly [Kim et al., ISCA 2008]: groups of switches, all joined inside a group, and every group to every other.
 */
typedef struct fab_dragonfly {
    uint64_t p, a, h, g; /**< NICs and global cables per switch, switches per group (a), groups: at most a h + 1 */
    uint64_t trunk;      /**< parallel cables between two switches of a group */
} fab_dragonfly;

/** Reads "p,a,h", with an optional number of groups (default a h + 1) and of parallel local cables (default 1). */
fab_status fab_dragonfly_parse(const char *text, fab_dragonfly *out, fab_error *err) FAB_MUST_USE;

#define FAB_MAX_DIMENSIONS 6

typedef struct fab_torus {
    uint32_t n_dimensions;
    uint64_t size[FAB_MAX_DIMENSIONS];
    uint64_t switches; /**< product of the sizes */
} fab_torus;

/** Reads 1 to 6 sizes: "4,4,8". */
fab_status fab_torus_parse(const char *text, fab_torus *out, fab_error *err) FAB_MUST_USE;

/** Fields a user may set, for help texts: calls `visit` for each in table order. */
typedef void fab_design_visit(void *context, const char *path, const char *unit_example, const char *initial,
                              const char *summary);
void fab_design_each_field(fab_design_visit *visit, void *context);

#endif
