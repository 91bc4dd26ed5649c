/**
 * One collective by several algorithms side by side: `pattern:...,algorithm=all`. Its phases are alternatives, several
 * of which may be steps of one algorithm.
 */
#pragma once

#include "fab/result.h"

#define FAB_MAX_ALGORITHMS 12

/** Phases of one algorithm. */
typedef struct fab_algorithm_run {
    const char *name; /**< borrowed from the result */
    size_t first, n;
} fab_algorithm_run;

/** What an algorithm takes under an engine: its phases one after the other, means over the seeds. */
typedef struct fab_algorithm_time {
    bool has_time;       /**< that of every phase is known */
    double time_s;       /**< latency of its steps included */
    double fullest_s;    /**< what the fullest network link of each phase needs for its bytes, added up */
    double latency_s;    /**< of time_s: steps, and the software of hosts */
    double host_s;       /**< of latency_s: the software of hosts */
    double routing_s;    /**< of time_s: what bytes take beyond what no routing stays below */
    double least_factor; /**< largest collision factor of a fabric link in its phase: least of them, and */
    double most_factor;  /**< most */
} fab_algorithm_time;

/**
 * The algorithms of a result, in the order of their phases.
 * @param[out] out  shape [FAB_MAX_ALGORITHMS]
 * @return their number; 0 where the phases are not alternatives.
 * Complexity: O(phases).
 */
size_t fab_algorithm_runs(const fab_result *result, fab_algorithm_run *out);

/** Of one algorithm under engine `e`. Complexity: O(its phases). */
fab_algorithm_time fab_algorithm_time_of(const fab_result *result, const fab_algorithm_run *run, size_t e);
