/** What failures leave of a job's time on a fabric: the mean over histories, without a store. */
#pragma once

#include "fab/context.h"
#include "fab/relocate.h"
#include "fab/stat.h"

typedef struct fab_goodput_request {
    const fab_design *design; /**< with its engines; its failures say how often things fail */
    const char *traffic;      /**< as for fab_traffic_make() */
    const char *scenarios;    /**< histories: "time:30d@100" */
    fab_policy policy;        /**< FAB_POLICY_FITTING: what a study takes where it is not told */
    uint64_t seed;
    uint64_t n_draws; /**< seeds that the histories are dealt to in turn: of an engine that draws paths; 0 is 1 */
    size_t n_threads;
    double least; /**< of less nobody wants to know how much less it is; 0: of all */
} fab_goodput_request;

/** What failures leave of the job under every engine; shape [design->n_engines] each. */
typedef struct fab_goodput {
    bool is_short;     /**< the mean is below `least` under every engine: nothing else is filled */
    fab_policy policy; /**< asked for; or shrink where replicas can go on without each other, else first-spare */
    fab_stat taken[FAB_MAX_ENGINES];
    fab_stat waiting[FAB_MAX_ENGINES]; /**< under first-spare where shrink was taken unasked; else mean 0 */
    fab_parts taken_parts[FAB_MAX_ENGINES], waiting_parts[FAB_MAX_ENGINES]; /**< of draws where there are several, else
                                                                               of histories; where the mean is known */
} fab_goodput;

/** Whether a text asks for histories and not for sets of failures. */
bool fab_goodput_has_time(const char *scenarios);

/**
 * Assesses every history under every engine of the design.
 * @param[out] out  Useful part of the span over the histories; mean NAN where a
 *                   history is not known. With several draws ci95 is that of their means: histories of one draw have
 *                   its luck in common. Written on success only.
 * @retval FAB_EINPUT, FAB_EUNSUPPORTED  as of fab_scenarios_new() and fab_assessment_new(); scenarios without a time
 * Complexity: histories x engines x their stops. The same for any number of threads.
 */
FAB_STATUS fab_goodput_find(const fab_goodput_request *request, fab_goodput *out, fab_error *err);
