/** What changes that an operator can make do to the traffic, as plain structs. Computed by fab_advise() (study). */
#pragma once

#include "fab/engine_spec.h"
#include "fab/fabric_spec.h"
#include "fab/job_spec.h"

#define FAB_ADVICE_TEXT                                                                                                \
    (FAB_ENGINE_TEXT_SIZE + FAB_SERVERS_SIZE + 512) /**< an engine, a rank order and a list of servers fit */
#define FAB_ADVICE_CHANGES       3                  /**< most changes of a combination */
#define FAB_ADVICE_UNEQUAL_FLOWS 8192               /**< of more the times of links are compared */

typedef enum fab_advice_kind {
    FAB_ADVICE_QUEUE_PAIRS,
    FAB_ADVICE_HASHING,
    FAB_ADVICE_PINNING,
    FAB_ADVICE_ADAPTIVE,
    FAB_ADVICE_BUFFERS,
    FAB_ADVICE_PRIORITIES,
    FAB_ADVICE_RANK_ORDER,
    FAB_ADVICE_PLACEMENT,
    FAB_ADVICE_N_KINDS
} fab_advice_kind;

/** What the paired differences say. */
typedef enum fab_advice_verdict {
    FAB_ADVICE_FASTER,
    FAB_ADVICE_SLOWER,
    FAB_ADVICE_UNCLEAR,   /**< their 95 % interval contains 0, and neither side is always at the least */
    FAB_ADVICE_IMPOSSIBLE /**< the fabric or the job refuses it */
} fab_advice_verdict;

/** Means over the seeds. */
typedef struct fab_advice_figures {
    double time_s;               /**< sum over phases, until their last byte is there; by_links: of what the fullest
                                    network link needs for its bytes */
    double max_collision_factor; /**< largest of the phases */
    double collided_flows;       /**< sum over phases */
} fab_advice_figures;

/** Time of one configuration less that of another, seed by seed. */
typedef struct fab_advice_gain {
    double gain_s, ci95_s; /**< mean of the differences, above 0 = faster; half width of its 95 % interval */
    double ratio;          /**< gain_s over the time that is compared with */
    fab_advice_verdict verdict;
} fab_advice_gain;

/** One change, alone. */
typedef struct fab_advice_row {
    fab_advice_kind kind;
    char change[FAB_ADVICE_TEXT]; /**< options to type: "--engine ecmp,qp=16" */
    bool needs_switch_support;    /**< switches must be able to do it: no matter of configuration */
    char reason[448];             /**< of what is impossible */
    fab_advice_figures figures;   /**< of what is possible; the next one too */
    fab_advice_gain gain;         /**< over the base */
} fab_advice_row;

/** Changes together; n_changes = 0: none is clearly faster. */
typedef struct fab_advice_best {
    size_t n_changes;
    fab_advice_kind kinds[FAB_ADVICE_CHANGES]; /**< in the order in which they were taken */
    char change[FAB_ADVICE_TEXT];
    char *command; /**< the whole command line; owned */
    fab_advice_figures figures;
    fab_advice_gain gain;
    fab_advice_gain check;                /**< the same comparison on seeds that chose nothing */
    double base_iteration_s, iteration_s; /**< means of the job's iteration without and with them; 0: it has none */
} fab_advice_best;

/** A list of servers that the search tried; time_s is NAN where the fabric refuses it. */
typedef struct fab_advice_tried {
    char *servers; /**< owned */
    double time_s;
} fab_advice_tried;

typedef struct fab_advice {
    char engine[FAB_ENGINE_LABEL_SIZE]; /**< of the base, with all options */
    fab_transport transport;            /**< whose times these are */
    bool by_links;                      /**< of more than FAB_ADVICE_UNEQUAL_FLOWS of unequal bytes */
    bool is_in_network;                 /**< else no byte of the base leaves scale-up domains, and nothing was tried */
    fab_advice_figures base;
    fab_advice_row *rows; /**< most gain first, impossible ones last */
    size_t n_rows;
    fab_advice_best best; /**< without changes that need switch support */
    uint64_t seed, n_seeds;
    uint64_t n_evaluated;    /**< configurations, placements and combinations included */
    uint64_t n_over_limit;   /**< not evaluated for want of memory */
    uint64_t n_placements;   /**< of them tried by the search for servers */
    uint64_t budget;         /**< most placements that search may try */
    fab_advice_tried *tried; /**< in that order, where it began first; on other seeds than the rows */
    size_t n_tried, tried_capacity, best_tried; /**< best_tried: the index of the best */
    char order_note[160];                       /**< why rank orders are missing, or empty */
    char placement_note[448];                   /**< what the search for servers did, or why there was none */
} fab_advice;
