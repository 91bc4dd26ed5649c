/** What the parts of the advisor share: configurations, and their evaluation over the same seeds. */
#pragma once

#include "fab/advise.h"
#include "fab/analysis.h"

/** Switches and senders of packets; 0 and NULL: those of the fabric. */
typedef struct advise_packets {
    double xoff_bytes, queue_bytes;
    const char *balancing, *priority;
    bool sprays; /* by NICs and switches of spray-ack in place of lossless queues */
} advise_packets;

/** What the advisor varies. Empty texts leave the design's value. */
typedef struct advise_config {
    char engine[FAB_ENGINE_TEXT_SIZE];
    char order[FAB_NAME_SIZE];
    char servers[FAB_SERVERS_SIZE];
    bool in_order; /**< placement=order in place of another */
    advise_packets packets;
} advise_config;

/** One change of a configuration; texts that are empty change nothing. */
typedef struct advise_change {
    fab_advice_kind kind;
    bool needs_switch_support;
    bool replaces;    /**< `engine` is a whole engine; else options to set on ecmp: "qp=4,fields=5tuple+dqp" */
    bool sets_engine; /**< `engine` means something */
    char engine[160];
    char order[FAB_NAME_SIZE];
    char servers[FAB_SERVERS_SIZE];
    bool in_order;
    advise_packets packets;
    char label[FAB_ENGINE_LABEL_SIZE]; /**< of the engine that comes out; filled with the next two */
    fab_advice_gain alone;             /**< filled when it was evaluated on the base; the next one too */
    fab_advice_figures figures;
} advise_change;

typedef struct advise_list {
    advise_change *items;
    size_t n, capacity;
} advise_list;

/** Figures of one configuration. */
typedef struct advise_outcome {
    fab_seed_figures *draws; /**< shape [n_seeds] */
    fab_advice_figures figures;
    char label[FAB_ENGINE_LABEL_SIZE]; /**< of the engine */
    bool is_possible;
    bool is_in_network; /**< some bytes leave scale-up domains, under any seed */
    char reason[448];
} advise_outcome;

typedef struct advisor {
    const fab_advise_request *request;
    const fab_context_request *what; /**< of its context */
    fab_design *design;              /**< scratch: the request's, with a configuration laid over it */
    const fab_traffic *traffic;      /**< of the base, for the first seed */
    bool is_whole_job;               /**< all phases: what moves ranks moves them all */
    uint64_t n_seeds;
    bool has_packets; /**< times are those of packets, not of fair shares */
    advise_config base;
    advise_outcome at_base;
    fab_advice *advice;
    size_t n_done, n_total; /**< for progress */
} advisor;

/** Whether so many flows of unequal bytes are under way that times of the fullest links are compared. */
bool advise_counts_links(const fab_traffic *traffic);

/** Adds what a phase takes under a seed, and takes at least, of a replay that kept its draws; NAN: not known. */
void advise_add_phase(const fab_engine_result *e, uint64_t seed, bool by_links, fab_seed_figures *io);

/**
 * Compares times seed by seed, which is how all changes are judged. One that draws is clear by more than the 95 %
 * interval of its differences. That is symmetric, and what nothing can beat cannot lose: where one side takes the least
 * that any routing needs under every seed, and longer than the other under none, a mean of FAB_VERDICT_LITTLE does;
 * and where few draws have most of the gain, Wilcoxon's signed ranks decide: https://doi.org/10.2307/3001968.
 */
FAB_STATUS advise_judge(const fab_seed_figures *before, const fab_seed_figures *after, uint64_t n_seeds,
                        fab_advice_gain *out, fab_error *err);

FAB_STATUS advise_outcome_init(const advisor *a, advise_outcome *out, fab_error *err);
void advise_outcome_release(advise_outcome *outcome);

/** Replays a configuration under the seeds from `seed` on. What the fabric refuses is an outcome, not an error. */
FAB_STATUS advise_evaluate(advisor *a, const advise_config *config, uint64_t seed, advise_outcome *out, fab_error *err);

/** Less time; where that is equal a smaller collision factor above 1; where that is too, fewer flows that collide. */
bool advise_is_better(const fab_advice_figures *x, const fab_advice_figures *y);

/** The configuration with the change; false where it would undo an engine that was chosen before. */
bool advise_apply(const advise_change *change, const advise_config *config, bool engine_taken, bool engine_replaced,
                  advise_config *out);

/** Whether such a network has what the change asks for: InfiniBand sends by destination, or each packet on its own; and
 * weights differ where trunks do, those of a hash where cables do. `trunks`: NULL, none does. */
bool advise_is_offered(const advise_change *change, const fab_fabric_spec *fabric, const fab_trunks *trunks);

/** Appends the changes of engine and rank order that make sense for the base. */
FAB_STATUS advise_list_changes(advisor *a, advise_list *list, fab_error *err);

/** The value of an option in an engine's text; false where it is not given. */
bool advise_engine_option(const char *engine, const char *key, char *out, size_t size);

/** Searches for servers; of a job that is not placed in order that is the one change. *out_found says whether `out` is
 * a change. Writes the note of the advice. */
FAB_STATUS advise_search_servers(advisor *a, advise_change *out, bool *out_found, fab_error *err);
