/**
 * Two states of a network and its job side by side, as plain structs: what changed, what it costs, and why. Computed by
 * fab_diff_run() (search). See src/doc/adr/0076-differences.md.
 */
#pragma once

#include "fab/result.h"

#define FAB_DIFF_LINKS 8  /**< links that collide in one state alone, kept of an engine */
#define FAB_DIFF_FLOWS 8  /**< flows listed on such a link */
#define FAB_DIFF_TRIED 16 /**< changes that are undone, and made, one by one */

typedef enum fab_change_kind {
    FAB_CHANGE_SETTING, /**< a value of the design */
    FAB_CHANGE_ENGINE,  /**< an engine, its options, its tables */
    FAB_CHANGE_SERVER,  /**< ranks run on another server */
    FAB_CHANGE_FAILURE, /**< a part is dead or slower */
    FAB_CHANGE_CABLE,   /**< a cable is elsewhere, gone, new, or of another rate */
    FAB_CHANGE_BOX,     /**< a box is gone or new */
    FAB_CHANGE_MOVE,    /**< all cables of servers are elsewhere: they were moved */
    FAB_CHANGE_N
} fab_change_kind;

/** "setting", "engine", "server", "failure", "cable", "box". */
extern const char *const fab_change_kinds[FAB_CHANGE_N];

/** A thing that differs. Texts are owned; before or after is empty where there is nothing. */
typedef struct fab_change {
    fab_change_kind kind;
    char *what, *before, *after;
    double undone_s;   /**< time of the second state with this alone as in the first; NAN: not known */
    double alone_s;    /**< time of the first state with this alone as in the second; NAN: not known */
    bool is_uncertain; /**< the same, of which seeds do not tell that it makes anything */
    bool is_cause;     /**< makes the difference, with others or each by itself, and without them it is gone */
} fab_change;

typedef struct fab_diff_flow {
    uint32_t src_rank, dst_rank; /**< rank = GPU where there is no job */
    char *src, *dst;             /**< servers; owned */
    char comm[FAB_NAME_SIZE];
} fab_diff_flow;

/** Who crosses a link in one state. */
typedef struct fab_diff_crossing {
    bool is_known;
    double factor; /**< utilisation; NAN: there is no such link, or it is not known */
    uint64_t n_flows;
    size_t n_listed;
    fab_diff_flow flows[FAB_DIFF_FLOWS];
} fab_diff_crossing;

/** A link that is offered more than it carries in one of the states alone. */
typedef struct fab_diff_link {
    char name[FAB_LINK_NAME_SIZE];
    char phase[FAB_NAME_SIZE];
    bool is_new; /**< in the second */
    fab_diff_crossing before, after;
} fab_diff_link;

typedef struct fab_diff_phase {
    char name[FAB_NAME_SIZE];
    double before_s, after_s;           /**< NAN: not known, or the phase is not there */
    double ci95_s;                      /**< as of the engine */
    double before_factor, after_factor; /**< largest of a fabric link */
    uint64_t n_new, n_gone;             /**< links that collide in the second state alone, and in the first alone */
    fab_heat before_heat, after_heat;
} fab_diff_phase;

typedef struct fab_diff_engine {
    char label[FAB_ENGINE_LABEL_SIZE];        /**< of the second state */
    char before_label[FAB_ENGINE_LABEL_SIZE]; /**< of the first, where that is another */
    bool iterates;                            /**< the times are those of an iteration; else of all phases together */
    double before_s, after_s;                 /**< NAN: not known, or the job has stopped */
    double work_ratio; /**< tokens of an iteration before, over those of one after: another batch; else 1 */
    double ratio;      /**< after / before of as many tokens; NAN: not known, or the job has stopped */
    double ci95_s;     /**< over several seeds: of the difference, pair by pair, of reports half widths of both means,
                          added; else 0 */
    bool is_draw;      /**< what differs hangs on one draw of a hash or of random choices */
    uint64_t n_draws;  /**< that times are means of; 0: nothing is drawn, or once */
    fab_diff_phase *phases; /**< shape [n_phases]; owned */
    size_t n_phases;
    fab_diff_link links[FAB_DIFF_LINKS];
    size_t n_links;
    uint64_t n_new, n_gone; /**< of all phases */
    uint64_t n_new_nics; /**< of the new ones: between a NIC and a switch, with less capacity than they should have */
} fab_diff_engine;

/** Something that was evaluated to confirm or refute a cause. The text is owned. */
typedef struct fab_diff_test {
    char *what;
    double time_s;
    bool returns; /**< the time is that of the first state, but for a tenth of the difference */
    bool holds;   /**< as the cause predicts */
} fab_diff_test;

typedef struct fab_difference {
    char *before, *after; /**< what is compared, as given */
    const char *kind;     /**< "designs", "imports", "results", "mixed" */
    double tolerance;     /**< largest ratio that passes; 0: none was asked for */
    bool is_beyond;
    bool is_open;    /**< some figure is above the tolerance, by no more than chance */
    bool is_large;   /**< several seeds were too many, so that what is drawn is drawn once */
    bool keeps_plan; /**< that was chosen for the first state, of a job that leaves it open: */
    char plan[192];  /**< as keys of the job; empty: none is kept */
    char *stopped;   /**< why the job does not run in the second state; NULL: it does */
    fab_change *changes;
    size_t n_changes, change_capacity;
    uint64_t n_left_out;                            /**< further changes, which are counted only */
    uint64_t gone_cables, new_cables, other_cables; /**< beside those of boxes; other: elsewhere, or of another rate */
    uint64_t most_cables;                           /**< of them at one switch, most_at */
    char most_at[FAB_NODE_NAME_SIZE];
    fab_diff_engine *engines;
    size_t n_engines;
    size_t worst;          /**< the engine that the cause is of */
    char *verdict, *cause; /**< a sentence each */
    bool is_verified;      /**< what the cause names makes the difference from the first state, and undone
                                                        brings its time back */
    fab_diff_test *tests;
    size_t n_tests, test_capacity;
} fab_difference;
