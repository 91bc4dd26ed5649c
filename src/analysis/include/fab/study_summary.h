/**
 * @file study_summary.h
 * What a study of failures says when all its scenarios are looked at together: what summarise.h finds and reports show.
 */
#ifndef FAB_STUDY_SUMMARY_H
#define FAB_STUDY_SUMMARY_H

#include "fab/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAB_STUDY_CRITICAL 50 /**< components of a ranking */
#define FAB_STUDY_BINS     40 /**< of a distribution */
#define FAB_COMPONENT_TEXT 128

/** mean, p50, p99, worst of a figure over the scenarios in which it is known. */
typedef struct fab_spread {
    uint64_t n;
    double mean, p50, p90, p99, worst;
    uint64_t worst_scenario; /**< the lowest of those */
} fab_spread;

/** A component by what its loss does, alone or with others: the mean over all scenarios in which it fails. */
typedef struct fab_critical {
    char name[FAB_COMPONENT_TEXT], kind[16];
    uint64_t n_scenarios, n_stopped;
    double mean_slowdown, worst_slowdown; /**< of those that run; NAN where none does or times are not known */
    double mean_ratio, worst_ratio;       /**< worst_ratio of the outcomes */
} fab_critical;

typedef struct fab_study_variant {
    char engine[FAB_ENGINE_LABEL_SIZE], policy[32];
    double whole_time_s, whole_ratio;           /**< nothing failed */
    uint64_t n_done, n_stopped, n_disconnected; /**< scenarios: looked at, in which the job stops, and in which flows
                                                   lose a path */
    fab_spread slowdown, time_s, worst_ratio, lost_ratio, moved;
    uint64_t slowdown_bin[FAB_STUDY_BINS]; /**< scenarios that run, from 1 to the worst, equal widths */
    uint64_t n_best;                       /**< scenarios in which this policy is as good as any other of the engine */
    bool has_goodput;                      /**< scenarios are histories */
    fab_spread goodput;
    double restart_ratio, redo_ratio, slow_ratio, wait_ratio; /**< means; with the goodput they add up to 1 */
    double failures, stops;                                   /**< of a span, means */
    fab_critical *critical;                                   /**< shape [n_critical]: by damage */
    size_t n_critical;
} fab_study_variant;

/** One host with one way into the network against one with several, after a link between NIC and leaf fails. */
typedef struct fab_homing {
    uint32_t ports_per_nic, ports_per_server; /**< towards leaves of different planes; links of a server */
    bool survives;                            /**< the host keeps a way */
    double lost_ratio;                        /**< of the bandwidth of the host: 1/16 of a host with 16 links */
    double slowdown;                          /**< of the job; NAN: it stops, or is not known */
} fab_homing;

typedef struct fab_study_summary {
    char design[512], digest[17], traffic[384], scenarios[256];
    uint64_t seed, n_scenarios, n_done; /**< planned; looked at under every variant */
    double span_s;                      /**< of a history; 0: sets */
    fab_study_variant *variants;
    size_t n_variants;
    bool has_homing;
    fab_homing homing;
} fab_study_summary;

#endif
