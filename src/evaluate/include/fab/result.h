/** What a command found, as plain structs: the one object that every report format renders. */
#pragma once

#include "fab/iteration.h"
#include "fab/serving.h"
#include "fab/path_figures.h"
#include "fab/topologies.h"

#define FAB_HOT_LINKS   10 /**< worst links kept per engine */
#define FAB_CYCLE_SHOWN 16 /**< links named of a cycle of dependencies */
#define FAB_HOT_FLOWS   16 /**< flows listed per hot link */
#define FAB_LAST_PATH   64 /**< links of a path that is kept */
#define FAB_MAX_BLOCKS  64 /**< blocks of servers between which traffic is added up */
#define FAB_HISTOGRAM                                                                                                  \
    8 /**< bins of link utilisation: [0,.25) [.25,.5) [.5,.75) [.75,1] (1,1.5] (1.5,2] (2,3] (3,inf) */

#define FAB_EXPECT_ALL                                                                                                 \
    0.05 /**< next hops that an ideal hash leaves unused, on average, where it is expected to use all */
#define FAB_POLAR_SHARE  0.75 /**< polarized: at most this part of the next hops that an ideal hash would use, ... */
#define FAB_POLAR_CHANCE 1e-6 /**< ... which an ideal hash does with less than this probability */

/** What a line of a bill of materials is. */
typedef enum fab_part {
    FAB_PART_SWITCH,
    FAB_PART_TRANSCEIVER,
    FAB_PART_CABLE,
    FAB_PART_NIC,
    FAB_PART_INSTALLATION,
    FAB_PART_N
} fab_part;

typedef struct fab_cost_line {
    char part[FAB_NAME_SIZE]; /**< "switch 64x400 Gb/s", "transceiver 2x400 Gb/s", "cable 400 Gb/s 30 m" */
    char tier[FAB_NAME_SIZE]; /**< "leaf", "leaf-spine", ... */
    uint64_t quantity;
    double unit_usd, total_usd, power_w;
    fab_part kind;
    char medium[FAB_NAME_SIZE]; /**< of a cable: "DAC"; of a transceiver its type: "DR4"; or empty */
    double rate_bps;            /**< of a port, module port, cable or NIC */
    double length_m;            /**< of a cable */
} fab_cost_line;

/** NICs, switches of every tier, cables of every kind with their transceivers at either end, installation of both. */
#define FAB_MAX_COST_LINES (1 + FAB_MAX_TIERS + 3 * FAB_MAX_CABLE_KINDS + 2)

typedef struct fab_cost {
    char profile[FAB_NAME_SIZE];
    char convention[FAB_NAME_SIZE]; /**< name of a fab_count_rule */
    char counting[192];             /**< the same as a sentence */
    char source[512];
    double total_usd, switch_usd, transceiver_usd, cable_usd, nic_usd, installation_usd, per_gpu_usd;
    double per_bisection_gbps_usd; /**< total_usd over the bisection in Gb/s; 0 where it is not known */
    double capital_usd_per_year;   /**< total_usd over the years of the price book */
    double power_w, energy_usd_per_year;
    uint64_t transceivers; /**< modules; one twin-port module counts once */
    /* Of one part, its installation included: the parts of a fabric add up to total_usd. A cable comes with its
     * transceivers; those that two cables share are split evenly. */
    double nic_each_usd, switch_each_usd[FAB_MAX_TIERS];
    double cable_each_usd[FAB_MAX_CABLE_KINDS]; /**< [i]: of the cables counts.kinds[i] */
    size_t n_lines;
    fab_cost_line lines[FAB_MAX_COST_LINES]; /**< last, so that no more than there are is copied */
} fab_cost;

#define FAB_FULLEST_NICS 8    /* that are named */
#define FAB_FULLEST_TIE  1e-3 /* part of its time within which a NIC needs as long as another */
#define FAB_FULLEST_SIZE ((size_t)FAB_FULLEST_NICS * FAB_NODE_NAME_SIZE)

/** What spare servers make of a fabric, in closed form. */
typedef struct fab_spares {
    uint64_t servers;
    bool is_known;                      /**< else the family has no closed form, or the book no price */
    bool is_told;                       /**< they take switches or uplinks */
    bool is_shared;                     /**< they hang behind leaves that gave up uplinks for them */
    double leaf_taper;                  /**< of the fullest leaf */
    uint64_t more_switches, more_tiers; /**< than without them */
    double more_usd;
    uint64_t full_switches, full_tiers; /**< with the uplinks of the taper for them too */
    double full_usd;                    /**< more than this */
} fab_spares;

/** A number of GPUs near that of a fabric, or of rails that share a network, for which it costs much less: ports divide
 * better. */
typedef struct fab_near_size {
    uint64_t n; /**< GPUs, or rails; 0: there is none */
    uint64_t fewer_switches;
    double saved_usd, saved_ratio; /**< of the network; of its dollars per GPU */
} fab_near_size;

/** A fabric as reports show it. */
typedef struct fab_fabric_result {
    char name[512]; /**< of the design, or its one-line form */
    char family[FAB_NAME_SIZE];
    char digest[17];
    char source[512];
    fab_fabric_spec spec; /**< resolved */
    fab_counts counts;
    double bisection_bps; /**< minimum cut over network links, one direction, first half of the servers to the second */
    double
        bisection_ratio; /**< part of full that any traffic may count on, NAN: no two servers, fab_bisection_ratio() */
    double scaleup_bisection_bps; /**< sum over scale-up domains of the rate of half of their GPUs, one direction */
    bool trunks_differ;           /**< some switch has more cables to one switch above it than to another */
    fab_cost cost;
    fab_spares spares;
    fab_near_size near_size, near_rails; /**< of GPUs; of rails that share a network */
    double reduction_ratio;              /**< 1 - total_usd / total_usd of the first design */
    struct fab_fabric_result *front_end; /**< the network for storage and data beside this one, or NULL; owned */
} fab_fabric_result;

/** Parts of one kind that a step of growth buys or leaves over. */
typedef struct fab_growth_part {
    char part[FAB_NAME_SIZE], tier[FAB_NAME_SIZE]; /**< as in fab_cost_line */
    uint64_t bought, retired;
    double bought_usd;
} fab_growth_part;

/** One step of a fabric that is built in steps. */
typedef struct fab_growth_step {
    uint64_t gpus, switches, cables;
    double total_usd, bought_usd; /**< of all that stands after the step; of what the step buys */
    double bisection_ratio;
    uint64_t free_ports;    /**< of switches: stranded until the fabric grows into them */
    uint64_t cables_moved;  /**< standing cables that must be plugged elsewhere */
    fab_growth_part *parts; /**< owned; those that change */
    size_t n_parts;
} fab_growth_step;

/** A flow that shares a hot link with others. */
typedef struct fab_flow_ref {
    uint64_t flow;
    uint32_t src_gpu, dst_gpu, src_rank, dst_rank; /**< rank = GPU where there is no job */
    double share;                                  /**< part of the flow's bytes that crosses the link */
    char comm[FAB_NAME_SIZE];
} fab_flow_ref;

typedef struct fab_hot_link {
    fab_link_id link;
    char name[FAB_LINK_NAME_SIZE];
    uint32_t tier; /**< of the class */
    bool up;
    double factor, taper_factor, hash_factor;
    uint64_t n_flows;
    uint32_t n_listed;
    fab_flow_ref flows[FAB_HOT_FLOWS];
} fab_hot_link;

/** Links of one tier boundary in one direction, for the first seed. */
typedef struct fab_tier_load {
    uint32_t tier; /**< boundary: 1 = NIC - leaf, 2 = leaf - spine, ... (see fab_boundary_name) */
    bool up;
    uint64_t links, used, collided;
    double bytes;
    double max_utilisation, mean_utilisation; /**< mean over all links of the boundary */
    double max_taper_factor;                  /**< largest utilisation under ideal spray */
    uint64_t histogram[FAB_HISTOGRAM];
    double bottlenecked_flows; /**< flows that are bottlenecked at these links, by the shares of their paths */
    /* Choices among equal-cost next hops that lie in this boundary: one per switch and group of next hops. */
    uint64_t choices;           /**< that some flow met */
    uint64_t full_choices;      /**< with so many flows that an ideal hash is expected to use all next hops */
    double mean_used, min_used; /**< share of its next hops that a full choice uses */
    /* Those made for flows that another switch has chosen for before. */
    uint64_t later_choices, later_next_hops, later_used;
    double later_expected; /**< next hops that an ideal hash would use, on average */
    double chance;         /**< bound of the probability that an ideal hash uses as few */
    bool polarized;
} fab_tier_load;

/** Links of every boundary by utilisation, both directions together: what is left of loads that are not kept. */
typedef struct fab_heat {
    uint32_t n; /**< boundaries; 0: not known */
    fab_wiring wiring;
    uint32_t links[FAB_MAX_TIERS][FAB_HISTOGRAM];
} fab_heat;

/** Figures of one seed. */
typedef struct fab_seed_figures {
    double busiest_link_s, max_collision_factor, collided_flows;
    double transfer_s; /**< NAN: not known, or not asked for */
    double least_s;    /**< no routing carries its bytes in less */
} fab_seed_figures;

/** The flow of a phase that ends last. */
typedef struct fab_last_flow {
    uint64_t flow, bytes, n_path; /**< n_path: links of its path; 0 where it is not known, or too long to be kept */
    uint32_t src_gpu, dst_gpu;
    double rate_bps, finish_s;           /**< rate while all flows of the phase are under way */
    char bottleneck[FAB_LINK_NAME_SIZE]; /**< name of its bottleneck; empty: its receiver's window */
    char comm[FAB_NAME_SIZE];
    fab_link_id path[FAB_LAST_PATH]; /**< of several the slowest, in order */
    fab_hot_link held;               /**< its bottleneck, with who crosses it; no flows where the path is not known */
} fab_last_flow;

/** One flow of a phase, of the first seed. */
typedef struct fab_flow_rate {
    uint32_t src_gpu, dst_gpu, comm;
    fab_link_id bottleneck; /**< of its slowest path; FAB_NONE: its receiver's window */
    uint64_t bytes;
    double rate_bps, finish_s;
} fab_flow_rate;

/** Bottlenecks of the flows of the first seed, each counted once; those at network links stand with the tiers. */
typedef struct fab_rate_figures {
    double bottlenecked_at_scaleup, bottlenecked_at_pcie, bottlenecked_at_window;
    fab_last_flow last;
} fab_rate_figures;

/** A link whose queue stops others, while nobody stops it for long. */
typedef struct fab_pause_root {
    char link[FAB_LINK_NAME_SIZE];
    uint64_t stopped_links; /**< because of it: of each, the queue that it waited for longest, and so on up to this */
    double stopped_s;       /**< of them all */
} fab_pause_root;

/** A link that is stopped: of the tree whose root it waits for in the end. */
typedef struct fab_paused_link {
    char link[FAB_LINK_NAME_SIZE];
    double stopped_s;
    char waits_for[FAB_LINK_NAME_SIZE]; /**< whose queue held what it was stopped for, most of the time */
    char root[FAB_LINK_NAME_SIZE];
} fab_paused_link;

#define FAB_PAUSE_ROOTS 5
#define FAB_PAUSE_LINKS 12
#define FAB_PAUSE_CYCLE 8

/** What lossless queues do to a phase, and rates of senders where they are told, of the first seed. */
typedef struct fab_pauses {
    uint64_t pauses, stopped_links;
    uint64_t notices; /**< that told senders to slow down; under dcqcn, and under spray-ack marked packets */
    uint64_t trims;   /**< packets that found a queue full and were sent again; under spray-ack */
    bool is_sprayed;
    uint64_t
        victims; /**< flows that end more than a tenth later than under transport fluid though they cross no root */
    double cell_bytes;
    fab_pause_root roots[FAB_PAUSE_ROOTS]; /**< those that stop others longest */
    uint32_t n_roots;
    fab_paused_link stopped[FAB_PAUSE_LINKS]; /**< those that are stopped longest */
    uint32_t n_stopped;
    uint32_t n_cycle; /**< links that wait for each other for ever; the first of them follow */
    char cycle[FAB_PAUSE_CYCLE][FAB_LINK_NAME_SIZE];
} fab_pauses;

typedef struct fab_engine_result {
    char engine[FAB_NAME_SIZE];
    char label[FAB_ENGINE_LABEL_SIZE]; /**< name and all options */
    uint64_t number; /**< place of the engine, from 1, where each runs the job in its own way; else 0 */
    bool is_absent;  /**< under this engine the job is run otherwise, and has no such phase: nothing else is known */
    uint64_t seed;
    uint64_t n_seeds;
    uint32_t n_rounds; /**< above 1: queue pairs take turns; figures are means over the rounds of a seed, loads and hot
                          links those of the first round */
    bool seeded;
    bool deadlock_free; /**< no cycle among the dependencies of the routes of the first seed */
    bool polarized;     /**< of the first seed: some boundary is; only engines that hash */
    bool has_effective_bisection;
    bool has_gap; /**< asked for, and every path is minimal, so that the bound holds */
    fab_stat collided_links, collided_flows;
    fab_stat max_collision_factor;  /**< largest utilisation of a fabric link */
    fab_stat mean_collision_factor; /**< mean over flows that use a fabric link of the worst factor on their route */
    fab_stat max_taper_factor, max_hash_factor;
    fab_stat max_utilisation; /**< network links */
    fab_stat throughput;      /**< largest factor by which all demands fit under this routing: 1 / max_utilisation */
    fab_stat busiest_link_s;  /**< bytes over capacity of the network link that needs longest: no phase under this
                                 routing is faster */
    fab_stat optimum_gap;     /**< max_utilisation over its certified lower bound, minus 1; with has_gap */
    fab_stat effective_bisection; /**< ORCS; has_effective_bisection only for the bisection pattern */
    bool has_time;                /**< the phase's time is known: not of a phase whose flows are too many to be solved
                                     and differ in bytes or are bottlenecked at windows */
    bool has_rates;               /**< the next two are known: with has_time, where the phase is small enough */
    fab_stat min_rate, mean_rate; /**< max-min fair, over the phase's flows, bit/s */
    fab_stat transfer_s;          /**< until the last byte of the iteration is through, without latency */
    uint64_t deadlocked_seeds;    /**< whose lossless queues stop each other for ever: then has_time is false */
    bool has_pauses;              /**< packets in lossless queues: the next two are known */
    fab_stat fluid_s;             /**< what transfer_s would be if flows shared links max-min fairly */
    fab_pauses pauses;
    fab_stat time_s;            /**< transfer_s + latency_s */
    fab_stat algbw, busbw;      /**< B/s, as nccl-tests define them; 0 where the phase is no whole collective */
    fab_stat lower_bound_ratio; /**< transfer_s over what no routing stays below, >= 1 */
    bool
        blocks_elsewhere; /**< flows with a path each collide under fluid: in lossless queues time_s is a lower bound */
    double latency_s;     /**< steps x executions x latency of the slowest path, and host_s */
    double host_s;        /**< what the software of hosts adds, and copies */
    double shortest_s, longest_s; /**< between which time_s lies, where a hash has more flows than are walked: its loads
                                       are estimated; 0: they are not */
    double copy_s;                /**< of that: through the memory of GPUs that send on for others */
    fab_rate_figures rates;
    fab_wiring wiring; /**< of the fabric: what the boundaries below are called */
    uint32_t n_cycle;  /**< links of a shortest cycle through the first link that lies on one; 0: none */
    fab_tier_load tiers[2 * FAB_MAX_TIERS];
    size_t n_tiers; /**< two for each boundary */
    fab_hot_link hot[FAB_HOT_LINKS];
    size_t n_hot;
    fab_path_figures paths;          /**< of the first seed; no flows where they are not known */
    double window_bytes, queueing_s; /**< of a receiver and of queues, where packets are reordered */
    uint64_t dependencies;           /**< pairs of fabric links, one held while the other is asked for */
    char cycle[FAB_CYCLE_SHOWN][FAB_LINK_NAME_SIZE]; /**< names of its first ones */
    fab_flow_rate *flows; /**< shape [n_flows]; NULL unless asked for, and where rates are not known */
    uint64_t n_flows;
    uint64_t *route_first; /**< shape [n_flows + 1]: flow i takes the links route[route_first[i] ... ), in order, first
                              seed; NULL unless asked for, and where a flow takes several paths */
    fab_link_id *route;    /**< shape [route_first[n_flows]] */
    double *paused_s;      /**< shape [n_links], first seed: how long each is stopped; NULL: no lossless queues */
    double *load_bytes;    /**< shape [n_links], first seed; NULL unless asked for (exports) */
    double *utilisation;   /**< shape [n_links], likewise: offered rate over capacity; of fabric links the collision
                              factor */
    float *more_utilisation; /**< shape [n_more][n_links]: the same of the seeds after the first; NULL likewise */
    uint64_t n_more;
    fab_seed_figures
        *draws; /**< shape [n_seeds], in the order of the seeds; NULL unless asked for (paired comparisons) */
} fab_engine_result;

static inline fab_heat fab_heat_of(const fab_engine_result *engine) {
    fab_heat heat = {.n = (uint32_t)(engine->n_tiers / 2), .wiring = engine->wiring};
    for (size_t i = 0; i < engine->n_tiers; i++) {
        for (size_t bin = 0; bin < FAB_HISTOGRAM; bin++) {
            heat.links[i / 2][bin] += (uint32_t)engine->tiers[i].histogram[bin];
        }
    }
    return heat;
}

typedef struct fab_phase_result {
    bool drawn_per_seed; /**< several seeds, and each draws its own flows: what stands here is of the first seed */
    char name[FAB_NAME_SIZE];
    char collective[FAB_NAME_SIZE];
    char formula[192];
    char algorithm[FAB_NAME_SIZE];               /**< of the collective, or empty */
    uint32_t run;                                /**< phases of equal number are parts of one collective */
    bool alternative;                            /**< runs are ways to do the same */
    uint64_t flows, network_flows, fabric_flows; /**< all; those that leave a domain; those that cross a fabric link */
    uint64_t bytes, network_bytes;
    uint64_t steps, executions, communicators;
    uint64_t crossing_flows[FAB_MAX_TIERS + 1]; /**< [t], t >= 2: flows whose minimal routes cross boundary t */
    double least_s; /**< no routing carries the bytes in less: links that no switch chooses, and all links of a leaf, a
                       pod or a group */
    double
        hosts_s; /**< the same without links between switches: least_s is longer where leaves have too few of these */
    char fullest_nic[FAB_FULLEST_SIZE]; /**< that needs longest for its bytes; of several alike the first ones */
    uint32_t n_fullest_nics;            /**< that need as long, within FAB_FULLEST_TIE */
    double fullest_nic_s, next_nic_s;   /**< they do, and the next one; 0: there is none */
    double relay_s; /**< of its time: bytes between rails are first relayed as a whole inside scale-up domains */
    double max_taper_factor;                 /**< over fabric links, ideal spray: what the design itself causes */
    double taper_by_tier[FAB_MAX_TIERS + 1]; /**< [t], t >= 2: the same by boundary */
    double max_cut_factor;                   /**< of trees: no minimal routing has less on its fullest fabric link:
                                                fab_bound_cuts(), or the bound where that is known */
    double cut_by_tier[FAB_MAX_TIERS + 1];   /**< [t], t >= 2: the same by boundary; as taper_by_tier where all links of
                                                a leaf or pod carry alike */
    uint64_t leaf_cables;                    /**< of trees: cables to NICs of the leaves that have the most */
    double leaf_excess_ratio; /**< what the fullest of these sends up, over their mean; 0: none leaves a leaf */
    float *taper_ratio;       /**< shape [n_links]: utilisation under ideal spray, first seed; NULL unless asked for */
    double *block_bytes; /**< shape [n_blocks][n_blocks]: from block to block of servers, first seed; NULL unless asked
                            for */
    uint32_t n_blocks, servers_per_block; /**< the last block may have fewer */
    bool has_bound;                       /**< the next six are known */
    const char *bound_method;   /**< "even splitting", "linear program", "multiplicative weights" or "no choice" */
    double utilisation_bound;   /**< certified: no splitting over minimal paths has less on its fullest network link */
    double reached_utilisation; /**< by the best splitting found; equal where the program was solved exactly */
    uint64_t bound_rounds, bound_columns, bound_rows;
    fab_engine_result *engines;
    size_t n_engines;
} fab_phase_result;

#define FAB_ENGINE_SHORT_SIZE 96

/**
 * What tells an engine from the others of a phase: its name, and where others have the same the options that differ:
 * "ecmp,qp=64", or without the name "qp=64". Cut to the room.
 */
const char *fab_engine_short(const fab_phase_result *phase, size_t engine, bool with_name,
                             char room[FAB_ENGINE_SHORT_SIZE]);

typedef enum fab_command {
    FAB_COMMAND_RUN,
    FAB_COMMAND_BUILD,
    FAB_COMMAND_COST,
    FAB_COMMAND_ROUTE,
    FAB_COMMAND_OPTIMIZE,
    FAB_COMMAND_SWEEP,
    FAB_COMMAND_COMPARE,
    FAB_COMMAND_DIFF,
    FAB_COMMAND_PLACE,
    FAB_COMMAND_MIX,
    FAB_COMMAND_STUDY,
    FAB_COMMAND_AUDIT,
    FAB_COMMAND_TRAFFIC,
    FAB_COMMAND_IMPORT,
    FAB_COMMAND_VALIDATE,
    FAB_COMMAND_PLAN,
    FAB_COMMAND_OBSERVE,
    FAB_COMMAND_BUSBW
} fab_command;

/** What a run found. */
/** Phases as they are made, before anything is routed. */
typedef struct fab_traffic_listing {
    const struct fab_traffic *traffic;
    const char *design, *digest;
} fab_traffic_listing;

/** What was asked, for a page that can ask again: words of the command line, and the file of the design that one of
 * them names. */
typedef struct fab_asked {
    char **words;
    size_t n_words;
    const char *file, *base, *text; /**< as in the words, its name without folders, its text; NULL: no file */
    bool has_rest; /**< the page has what broken parts do not change, from the answer before this one */
} fab_asked;

typedef struct fab_result {
    fab_command command;
    const char *version;
    uint64_t seed, n_seeds;
    char traffic[512]; /**< one line: what is replayed */
    fab_fabric_result *fabrics;
    size_t n_fabrics; /**< 1, or several for cost */
    fab_phase_result *phases;
    size_t n_phases;
    fab_iteration *iterations; /**< one per engine, of a training job */
    size_t n_iterations;
    fab_serving *serving; /**< one per engine, of a serving job */
    size_t n_serving;
    fab_ranking_batch *ranking; /**< one per engine, of a ranking job */
    size_t n_ranking;
    fab_paces
        *paces; /**< shape [engines of the phases]: means over seeds; NULL: nothing travels beside anything; owned */
    char iteration_note[256]; /**< why there is none; empty: not asked for */
    fab_job_spec job;         /**< as resolved; meaningful where ranks > 0 */
    fab_job_memory memory;    /**< of a job on the fullest GPU; total_bytes 0: no job */
    uint64_t ranks;           /**< of the job */
    size_t other_jobs;        /**< of the design, which are not replayed: fab_design_other_jobs() */
    fab_growth_step *growth;  /**< of cost with steps; the last step is fabrics[0] */
    size_t n_growth;
    const fab_fabric *graph;       /**< borrowed; NULL for cost */
    const fab_engine_spec *engine; /**< of a command that has one alone; borrowed; NULL: none, or several */
    const struct fab_plans *plans; /**< borrowed; NULL unless a plan was searched (plans.h) */
    const struct fab_result *of_engine[FAB_MAX_ENGINES]; /**< job, memory, traffic and plan where engines run the job
                                                            each in its own way (fab_result_of()); borrowed, or NULL */
    const struct fab_optimum *optimum;                   /**< borrowed; NULL unless something was optimised */
    const struct fab_explanation *explanation;           /**< borrowed; NULL unless a link was asked for */
    const struct fab_advice *advice;                     /**< borrowed; NULL unless asked for */
    const struct fab_sweep *sweep;                       /**< borrowed; NULL unless a parameter was varied (sweep.h) */
    const struct fab_difference *difference; /**< borrowed; NULL unless two states were compared (difference.h) */
    const struct fab_mix *mix;               /**< borrowed; NULL unless two jobs were compared (mix.h) */
    const struct fab_busbw *busbw;           /**< borrowed; NULL unless asked for (busbw.h) */
    const struct fab_study_summary *study;   /**< borrowed; NULL unless of a study (study_summary.h) */

    const fab_traffic_listing *listing;        /**< borrowed; NULL unless traffic was only listed */
    const struct fab_audit *audit;             /**< borrowed; NULL unless an installed fabric was looked at (audit.h) */
    const char *audited;                       /**< with audit: the file, borrowed */
    const struct fab_floor *audit_floor;       /**< with audit: that of its plan, borrowed; NULL: there is none */
    bool audit_floor_is_assumed;               /**< the plan says nothing of racks */
    const struct fab_observed *observed;       /**< borrowed; NULL unless counters were looked at (observe.h) */
    const struct fab_traffic *placed;          /**< borrowed; whose ranks have GPUs; NULL: not told */
    const fab_asked *asked;                    /**< borrowed; NULL unless the page can ask again */
    const struct fab_imported *imported;       /**< borrowed; NULL unless a file was imported (imported.h) */
    const struct fab_overlay *overlay;         /**< borrowed; NULL where nothing is known of failures (overlay.h) */
    const struct fab_contention *contention;   /**< borrowed; NULL where there is one job (contention.h) */
    const struct fab_degradation *degradation; /**< borrowed; NULL unless asked for (degradation.h) */
    const struct fab_failures *failures;       /**< borrowed; NULL unless asked for (failures.h) */
    const struct fab_published *published; /**< borrowed; figures beside ours; NULL where none is known (published.h) */
    const struct fab_ownership *ownership; /**< borrowed; NULL unless of a training job (ownership.h) */
    const struct fab_run_verdict *verdict; /**< borrowed; NULL of commands that replay nothing (verdict.h) */
    char *see;       /**< the command that shows alone what was found; owned; NULL: there is none */
    char **warnings; /**< shape [n_warnings]: what a reviewer would stop; owned, as each (analysis.h) */
    size_t n_warnings;
    uint64_t n_over_limit; /**< candidates of a search that need more memory than the run may take: not evaluated */
} fab_result;

/** By how much phases whose hash is estimated may take longer, in all but one draw in a thousand; 0: all are walked. */
double fab_estimated_ratio(const fab_result *result, size_t engine);

/** What an engine runs: the result itself, unless each has its own plan. */
static inline const fab_result *fab_result_of(const fab_result *result, size_t engine) {
    return result->of_engine[engine] != NULL ? result->of_engine[engine] : result;
}

/** Its place among the engines of that. */
static inline size_t fab_result_index(const fab_result *result, size_t engine) {
    size_t index = result->of_engine[engine] != NULL ? 0 : engine;
    for (size_t e = 0; e < engine && result->of_engine[engine] != NULL; e++) {
        index += result->of_engine[e] == result->of_engine[engine];
    }
    return index;
}

/** The first engine that has the phase; all of them where nobody routed it. */
static inline size_t fab_phase_first_engine(const fab_phase_result *phase) {
    FAB_FIRST(e, phase->n_engines, !phase->engines[e].is_absent);
    return e;
}

void fab_result_release(fab_result *result);
/** The same where the fabrics are another's. */
void fab_result_release_rest(fab_result *result);

/** A result under some engines of a whole: those that run the job alike. */
typedef struct fab_result_part {
    fab_result result;
    size_t engine[FAB_MAX_ENGINES]; /**< of the whole: that of each */
    size_t n_engines;
    bool is_joined; /**< what phases and iterations own is the whole's */
} fab_result_part;

/**
 * Phases of all parts one after the other, each with all engines, of which those of other parts are absent; figures of
 * the job by engine. The parts are read through `of_engine` from then on, and go after `out`.
 * @param[in]     n_engines  Of all parts together.
 * @param[in,out] out        Gets what a replay writes; phases and iterations are its own.
 */
FAB_STATUS fab_result_join(fab_result_part *const *parts, size_t n_parts, size_t n_engines, fab_result *out,
                           fab_error *err);

/** What is told of the job as a whole is that of an engine: the fastest. */
void fab_result_tell_of(fab_result *result, size_t engine);

/** Its fabrics are the whole's. */
void fab_result_part_release(fab_result_part *part);

/** Counting conventions and what the model leaves out, as sentences; ended by NULL. */
extern const char *const fab_conventions[];
#define FAB_GENERAL_CONVENTIONS 3 /**< the first so many hold without traffic too */
