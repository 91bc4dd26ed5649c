/**
 * What a study of failures says when all its scenarios are looked at together: what summarise.h finds and reports show.
 * See src/doc/adr/0038-study-summary.md.
 *
 * One measure makes scenarios of every kind comparable. The *factor* of a scenario says how many times longer the same
 * work takes:
 *
 *     a set, times known          slowdown
 *     a set, loads alone          max(1, worst_ratio) over the same of the healthy fabric: what the fullest link costs
 *     a history                   1 / goodput
 *     the job stops (of a set)    infinite
 *
 * and its *impact* is the part of the job's speed that is lost, 1 - 1 / factor: 0 nothing, 1 the job stands.
 */
#pragma once

#include "fab/engine_spec.h"
#include "fab/fabric.h"
#include "fab/failure_spec.h"
#include "fab/stat.h"

#define FAB_STUDY_TOP       10   /**< components and scenarios named, unless asked for otherwise */
#define FAB_STUDY_TOP_MOST  1000 /**< likewise, at most */
#define FAB_STUDY_BINS      12   /**< of factors */
#define FAB_COMPONENT_TEXT  (FAB_LINK_NAME_SIZE + 32)
#define FAB_CASE_TEXT       512 /**< of all that failed in a scenario */
#define FAB_POLICY_TEXT     32
#define FAB_STUDY_CRITERIA  192
#define FAB_CLEAR_SCENARIOS 10   /**< a part that fails in fewer is never clear */
#define FAB_CLEAR_ERRORS    5    /**< standard errors */
#define FAB_SAME_FACTOR     1e-9 /**< impacts that differ by no more are equal where policies are compared */

/** Lower ends of the bins but the first: scenario in bin i where edge[i - 1] <= factor < edge[i]. */
extern const double fab_study_edges[FAB_STUDY_BINS - 1];

/**
 * A figure over the scenarios in which it is known. Quantiles are nearest ranks, as of fab_stat_of(), counted from the
 * good end: p99 is not exceeded (of goodput: reached) by 99 % of the scenarios.
 */
typedef struct fab_spread {
    uint64_t n; /**< 0: nothing below means anything */
    double mean, p50, p90, p99, worst;
    uint64_t worst_scenario; /**< the lowest of those */
} fab_spread;

/**
 * A component by what its loss does. Of sets of several parts a scenario is credited to those that cause it: it tells
 * what a part does where the others in it can cost next to nothing, because they did so in another scenario.
 */
typedef struct fab_critical {
    char name[FAB_COMPONENT_TEXT], kind[16];
    uint64_t n_scenarios, n_stopped, n_disconnected;
    uint64_t n_alone;                     /**< scenarios among them that are credited to it */
    double impact;                        /**< mean over those */
    double ci95;                          /**< half width of its 95 % interval (Student's t); NAN of one scenario */
    double mean_slowdown, worst_slowdown; /**< of those that run; NAN where none does or times are not known */
    double mean_ratio, worst_ratio;       /**< worst_ratio of the outcomes; NAN where it is not known */
    uint64_t worst_scenario;              /**< of the highest impact, the lowest of those */
    bool is_clear; /**< of sets of one: impact above 0. Of larger ones: above its interval, and not an interaction of
                      parts by chance: fewer than 0.01 parts are expected to look so. Of histories: it fails in
                      FAB_CLEAR_SCENARIOS and more, and is above the mean of all by FAB_CLEAR_ERRORS standard errors of
                      as many draws, and by ci95 */
} fab_critical;

/** Components, highest impact first, then by name (numbers in it by value). */
typedef struct fab_ranking {
    fab_critical *list; /**< shape [n] */
    size_t n;
    uint64_t n_tied; /**< components that have the impact of the last of the list, where that leaves some of them out */
    fab_critical *next; /**< shape [n_next]: those behind all that tie, likewise; none where n_tied is 0 */
    size_t n_next;
} fab_ranking;

/** Components of one sort: "leaf-spine links", "leaf switches", "servers". */
typedef struct fab_critical_class {
    char name[64];
    uint64_t n_parts; /**< of the fabric */
    uint64_t n_components,
        n_stopping;      /**< that failed in some scenario; whose loss stops the job, as far as that is clear */
    double impact, ci95; /**< of the loss of one of them, as of a component */
    double worst_impact; /**< largest of its components that are clear (of single losses: of all) */
    char worst[FAB_COMPONENT_TEXT];  /**< the first of those that do that, by name; empty: none is clear */
    uint64_t n_worst;                /**< how many do */
    uint64_t n_clear;                /**< components that are clear */
    uint64_t n_scenarios, n_stopped; /**< in which one of its components fails; of them: in which the job stops */
    double scenario_impact;          /**< mean over those; NAN: not known */
    bool is_clear;                   /**< as a component's */
} fab_critical_class;

/** What a failure of a class costs in histories: least squares of impact over how often each class fails. */
typedef struct fab_cause {
    char name[16];
    double failures;     /**< of a span, mean */
    double impact, ci95; /**< of one, and half the width of its 95 % interval */
    double share; /**< of what failures cost, which checkpoints are no part of: failures x impact, over the sum of
                     those that are above 0; 0 below */
    bool is_even; /**< the intervals do not tell what it costs from that of the one before it */
} fab_cause;

/** A scenario by what it does; figures as in fab_outcome, NAN where not known. */
typedef struct fab_study_case {
    uint64_t scenario;
    char name[FAB_COMPONENT_TEXT];    /**< as a file calls it; else empty */
    char failed[FAB_CASE_TEXT];       /**< "leaf-3, leaf-0:17 > spine-0:1"; of a history the classes and how often */
    char fullest[FAB_LINK_NAME_SIZE]; /**< the link that is offered most, or empty */
    bool is_stopped;
    double impact, slowdown, time_s, worst_ratio, lost_ratio, goodput;
    uint64_t n_equal;  /**< scenarios that end the same by symmetry, itself included; 0: not looked for */
    uint64_t n_failed; /**< components; of a history failures */
    uint32_t n_disconnected, n_moved, n_collisions, n_stops;
} fab_study_case;

/** The switches of a tier are updated some at a time, each back before the next leave: the order changes nothing. */
typedef struct fab_rollout {
    uint32_t at_a_time, n_steps, n_stopped; /**< n_stopped: steps in which the job stops */
    bool is_spread;                         /**< those of a step stand far apart; else side by side */
    double lost;  /**< work of the job that is lost, in times of a step: sum of the impacts; NAN: steps are missing */
    double worst; /**< impact of a step */
} fab_rollout;

/** Scenarios in which one link between NIC and switch is lost and nothing else. */
typedef struct fab_access_loss {
    uint64_t n, n_stopped, n_slower;      /**< n_slower: it runs, with a factor above 1 */
    double mean_slowdown, worst_slowdown; /**< of those that run; NAN: none, or not known */
} fab_access_loss;

/** One engine under one policy. */
typedef struct fab_study_variant {
    char engine[FAB_ENGINE_LABEL_SIZE], policy[FAB_POLICY_TEXT];
    double healthy_time_s, healthy_ratio; /**< nothing failed; the time NAN where times are not known */
    uint64_t healthy_collisions;
    uint64_t n_done, n_stopped, n_disconnected, n_moved; /**< scenarios: looked at; in which the job stops; in which
                                                            flows lose every path; in which servers move */
    double impact;                                       /**< mean over all scenarios */
    double speed;   /**< mean, of engines against each other: of 1 / iteration time, or else of 1 / fullest link */
    size_t same_as; /**< the first variant of the engine that has the same impact in every scenario, or itself */
    fab_spread slowdown, time_s, worst_ratio, collisions; /**< of scenarios that run */
    fab_spread lost_ratio, moved;                         /**< of all scenarios: offered rate lost, servers moved */
    uint64_t bin[FAB_STUDY_BINS];                         /**< scenarios by factor, those that stop left out */
    uint64_t n_best, n_alone; /**< scenarios in which no other policy of the engine has less impact; in which every
                                 other does more */
    /* Of histories. */
    fab_spread goodput;
    fab_parts kept; /**< of its mean, by which two variants are told apart */
    double restart_ratio, redo_ratio, slow_ratio, wait_ratio, write_ratio; /**< means; with that of the goodput they add
                                                                              up to 1 */
    double failures, stops;                                                /**< of a span, means */
    double tokens_per_s;            /**< of the span, a mean; of histories of a training job, else 0 */
    double quarterly_lost_usd;      /**< GPU hours of a job that failures take, a mean; 0: of no job, or no histories */
    double quarterly_lost_ci95_usd; /**< half width of its 95 % interval: of draws of paths where there are several */

    fab_access_loss access;
    fab_study_case *worst; /**< shape [n_worst]: of those that run (of histories: all), highest impact first, then by
                              number */
    size_t n_worst;
    fab_study_case *stopped; /**< shape [n_stopped_shown]: of sets, by number */
    size_t n_stopped_shown;
    fab_ranking critical, links; /**< all components, of sets of several and histories those that are clear; the links
                                    among them */
    fab_cause causes[FAB_FAILURE_N]; /**< most failures x impact first */
    size_t
        n_first_causes; /**< of them: not told apart from the first, by the intervals; 0: the first is not from none */
    uint64_t first_cause_histories; /**< where n_first_causes is 0: how many would tell the first from nothing, if it
                                       costs what it seems to, to two digits; 0: it seems to cost nothing */
    size_t n_causes;                /**< of histories; 0: too few to tell, or classes cannot be told apart */
    fab_critical_class *classes;    /**< shape [n_classes]: most scenario_impact first, then by name */
    size_t n_classes;
    fab_rollout *rollouts; /**< shape [n_rollouts]: fewest stops first, then least lost, then fewer steps */
    size_t n_rollouts;
    uint64_t n_interactions;    /**< of sets: those that cost something though each part alone costs next to nothing */
    uint64_t worst_interaction; /**< the scenario with the largest impact of those, the first of them */
    uint64_t n_undecided;       /**< of sets: parts that cost something in all of them, beside others that do as well */
    bool is_whole;              /**< of sets: all that there are, so that chance has no part in them */
    double *cable_impact; /**< shape [n_cables]: impact of the link's loss; 0: none that is clear; NAN: in no scenario.
                             NULL unless asked for, or where no link or node has any */
    double *node_impact;  /**< shape [n_nodes]: of GPUs, NICs and switches, likewise */
} fab_study_variant;

/** The policies of one engine against each other, over the scenarios that all of them were tried on. */
typedef struct fab_study_choice {
    size_t first;        /**< variant of the first policy */
    size_t baseline;     /**< variant that the others are held against: first-spare, else the first policy */
    uint64_t n_compared; /**< scenarios of which the impact is known under all */
    uint64_t n_differ;   /**< scenarios in which the policies do not all have the same impact */
    uint64_t n_rescued;  /**< scenarios in which the job stops under the baseline and runs under another policy */
    double impact;       /**< mean of the least over the policies: the best choice, scenario by scenario */
    double baseline_impact;
    uint64_t n_both; /**< scenarios that run under the baseline and under the best, with known times */
    double best_slowdown, baseline_slowdown; /**< means over those */
    double most_saved;                       /**< largest difference of impact to the baseline */
    uint64_t most_saved_scenario;            /**< the lowest of those; UINT64_MAX: none saves anything */
    size_t most_saved_variant;
} fab_study_choice;

/** Ways of a server into the network. */
typedef struct fab_homing {
    uint32_t links_per_server, ports_per_nic; /**< the fewest that one has */
    uint32_t switches_per_nic;                /**< different ones that a NIC leads to, the fewest: 1 is single-homed */
    double lost_ratio; /**< of the bandwidth of a server, with one link; the largest: 1/16 of a server with 16 */
} fab_homing;

/** A class of failures as histories draw them. */
typedef struct fab_failure_row {
    const char *name;
    double mtbf_s; /**< of one; infinite: never */
    double away_s; /**< until it is back */
} fab_failure_row;

/** How things fail in histories, and what the job does about it. */
typedef struct fab_failure_model {
    char source[256]; /**< of the rates that the design does not give */
    fab_failure_row row[FAB_FAILURE_N];
    size_t n_rows; /**< 0: scenarios are sets */
    fab_failure_rates rates;
    char throttle_halls[128]; /**< where; empty: in all halls */
    bool is_auto;             /**< checkpoint_s was found, not given */
    bool serves;              /**< replicas that go on without each other; no checkpoints */
    bool shrinks;             /**< a policy is shrink; of it are reform_s, regrow and: */
    bool keeps_batch;
} fab_failure_model;

typedef struct fab_study_summary {
    char design[512], digest[17], traffic[384], scenarios[256];
    uint64_t seed, n_seeds; /**< n_seeds of paths: histories are dealt to them, figures of sets are their means, or
                               those of the healthy fabric where they do not tell both apart; 0: nothing is drawn */
    uint64_t n_scenarios, n_done; /**< planned; looked at under every variant */
    uint64_t n_looked_at;         /**< of them, where one of each class of equal ones was; else 0 */
    double span_s;                /**< of a history; 0: sets */
    double gpu_hour_usd;          /**< of histories of a job, else 0 */
    char plan_keys[192];          /**< of a training job in histories: how it is run; else empty */
    bool has_spares;              /**< servers of the design without ranks, by spares */
    bool has_times;
    bool is_p99;    /**< times are those within which 99 % of the requests are answered */
    bool is_single; /**< every scenario is the loss of one component: impact in rankings is its own */
    char criterion[FAB_STUDY_CRITERIA]; /**< what impact is here, one sentence */
    size_t shown;                /**< variant that stands first in reports: the fastest, of equal ones the first */
    fab_study_variant *variants; /**< shape [n_variants]: engine by engine */
    size_t n_variants, n_policies;
    char untried[160];         /**< policies that may do better, and what they want; empty: none can be tried */
    fab_study_choice *choices; /**< shape [n_variants / n_policies]; NULL with one policy */
    fab_failure_model model;   /**< of histories */
    bool has_homing;           /**< scenarios lose access links */
    fab_homing homing;
    uint64_t n_components; /**< different ones that fail in some scenario */
    uint64_t n_parts;      /**< of the fabric, of the classes of those */
} fab_study_summary;

void fab_study_summary_free(fab_study_summary *summary);
FAB_OWNER(fab_study_summary, fab_study_summary_free)
