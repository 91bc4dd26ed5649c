/** Failure scenarios to outcomes: collisions, phase and iteration times, goodput. See src/doc/adr/0036-outcomes.md. */
#pragma once

#include "fab/context.h"
#include "fab/outcome.h"
#include "fab/relocate.h"
#include "fab/scenarios.h"

typedef struct fab_assessment_request {
    const fab_context *context; /**< design, fabric, traffic, engines and the seed */
    const fab_racks *racks;     /**< NULL: no floor plan */
    const fab_policy *policies;
    size_t n_policies;
    size_t n_threads;        /**< that will assess at the same time, for the estimate of memory; 0 counts as 1 */
    uint64_t n_draws;        /**< of which this is one, likewise */
    bool histories;          /**< some are to be assessed: what they remember is part of the estimate */
    bool times;              /**< find times; else loads and the worst link alone, as fast as routing is */
    bool p99;                /**< with times: those within which 99 % of requests are answered (failures.h) */
    fab_failure_rates rates; /**< of histories: checkpoint, restart */
    const uint8_t *is_hot;   /**< shape [n_servers]: 1 where rates.throttle applies; NULL: everywhere */
} fab_assessment_request;

/** The job on the healthy fabric, ready to be hurt: read-only, shared by threads. Variant = engine * n_policies +
 * policy. About 210 bytes per path of a phase, 270 with times; phases with the same flows share them. */
typedef struct fab_assessment fab_assessment;

/**
 * Everything in the request is borrowed and must outlive it.
 * @retval FAB_EUNSUPPORTED  more memory than design->fabric.max_bytes; more than 2^24 paths in all; same-rack without
 * a floor plan; with `times`, a phase too large for its time to be computed, or queue pairs that take turns
 *
 * Complexity: routing of every phase under every engine, and links * log(links).
 */
FAB_STATUS fab_assessment_new(const fab_assessment_request *request, fab_assessment **out, fab_error *err);
void fab_assessment_free(fab_assessment *assessment);
FAB_OWNER(fab_assessment, fab_assessment_free)

/**
 * For histories: what a checkpoint costs the job (pause_s, lag_s), how often it stops (stops_per_s, from parts of every
 * class that are tried on the healthy fabric under the first engine) and, where checkpoint_s is 0, how far apart
 * checkpoints are best.
 * @param[in]  span_s  Of a history.
 * @param[out] out     The rates of the request with that; the assessment has them from here on.
 * Complexity: routing for some 60 parts.
 */
FAB_STATUS fab_assessment_settle(fab_assessment *assessment, double span_s, fab_failure_rates *out, fab_error *err);

size_t fab_assessment_variants(const fab_assessment *assessment);

/** Whether times are those of an iteration; else of all phases one after the other. */
bool fab_assessment_iterates(const fab_assessment *assessment);

/** An engine with all its options, as reports name it. Lives as long as the assessment. */
const char *fab_assessment_engine(const fab_assessment *assessment, size_t engine);

/* --- draws of the paths ------------------------------------------------------------------------------------------- */

#define FAB_ASSESS_DRAWS 64 /**< at most */

/**
 * Seeds under which a design is replayed where nobody asked for a number: FAB_VERDICT_SEEDS, or one, where flows, paths
 * and seeds of it, or of `n_points` like it, are too many.
 */
FAB_STATUS fab_unasked_seeds(const fab_context *context, uint64_t n_points, uint64_t *out, fab_error *err);

/**
 * Seeds of a study: `asked` (0: FAB_VERDICT_SEEDS, half as many of a large design, or one where paths, seeds and sets
 * are too many), and no more than half of its histories. One where nothing is drawn, and for sets where each seed
 * places ranks elsewhere.
 * @param[out] out_is_drawn  Figures depend on the seed.
 */
FAB_STATUS fab_assess_draws(const fab_context *context, uint64_t asked, uint64_t n_scenarios, bool histories,
                            uint64_t *out, bool *out_is_drawn, fab_error *err);

/**
 * Assessments under n seeds become one study: all have the failure rates of the first, and the speed of a state in a
 * history is its speed less that of the healthy fabric under the same seed, over the mean of the latter: 1 where
 * nothing failed, and over the seeds no less or more than it is.
 */
FAB_STATUS fab_assessment_pool(fab_assessment *const *draw, size_t n, fab_error *err);

/**
 * A set under n seeds, also nothing at all: means. Where what the failure adds, seed by seed, is within its 95 %
 * interval, time_s is that of the healthy fabric, which tells so; without times worst_ratio is. Of many sets chance
 * takes some out of their intervals, which are wider by half for every tenfold, to FAB_CLEAR_ERRORS standard errors. A
 * set that stops the job under a seed is the outcome of that seed. worst_link: where all agree.
 * @param[in]  of_draw  Shape [n][variants].
 * @param[in]  n_sets   Of the study.
 * @param[out] out      Shape [variants].
 */
void fab_assessment_mean(fab_assessment *const *draw, const fab_outcome *of_draw, size_t n, uint64_t n_sets,
                         fab_outcome *out);

/** The healthy fabric under a variant: slowdown 1. */
fab_outcome fab_assessment_healthy(const fab_assessment *assessment, uint32_t variant);

/** Whether replicas of the job serve without each other: not where servers of a scale-up domain relay for each other.
 */
bool fab_assess_serves(const fab_traffic *traffic, const fab_fabric *fabric);

/** Whether policy shrink is possible. */
bool fab_assess_shrinks(const fab_traffic *traffic, const fab_fabric *fabric);

/**
 * Policies that a study of the context compares where it is not told which: none; first-spare where the job leaves a
 * server idle; of histories shrink, where replicas can go on without each other.
 * @param[out] out  Shape [out_n], static.
 * Errors of fab_context_traffic().
 */
FAB_STATUS fab_assess_policies(const fab_context *context, bool histories, const fab_policy **out, size_t *out_n,
                               fab_error *err);

/** Scratch of one thread. */
typedef struct fab_assessor fab_assessor;
FAB_STATUS fab_assessor_new(const fab_assessment *assessment, fab_assessor **out, fab_error *err);
void fab_assessor_free(fab_assessor *assessor);
FAB_OWNER(fab_assessor, fab_assessor_free)

/**
 * Outcome of a scenario under every variant: a function of the request and the scenario alone, whatever was assessed
 * before.
 *
 * Serving (fab_assess_serves()) goes on with the replicas that have lost no rank, under every policy, by their part of
 * the requests. Flows of lost ones still count, which can only slow the others down.
 *
 * A set: the state with all of its components down. Another job stops where ranks are lost (relocate.h) and the policy
 * finds them no place, or where flows have no way. n_disconnected and lost_ratio are those before anybody moved; the
 * other figures are those of the flows where they are then (of a job that is stopped: of the flows that still have a
 * way).
 *
 * A history: the job goes on until a failure takes a rank, cuts off a flow or is one of software. It restarts where
 * the policy puts it for what is down at that moment, or, if nobody does, when a repair lets it, and stays there until
 * it stops again. Behind the repair of the home of a rank on a spare, or of a part of the network, it stops of its own
 * will where it is faster in the place that the policy has for it then, by more than the part of the time that such
 * stops would take if every other stop had one: (lag_s + restart_s, and join_s where ranks join) * stops_per_s. The
 * figures of the network are those of the moment in which an iteration takes longest, without times of that with the
 * largest worst_ratio; without times it runs at full speed wherever it runs.
 * @param[in]  number    The scenario's number, copied to the rows.
 * @param[in]  span_s    Of a history; 0: a set.
 * @param[out] out       Shape [variants].
 * Errors of fab_reroute_migrated(), fab_relocate() and of what finds times.
 * Complexity: see src/doc/adr/0036-outcomes.md. Threads: concurrent calls with different assessors are safe.
 */
FAB_STATUS fab_assess(fab_assessor *assessor, uint64_t number, fab_scenario *scenario, double span_s, fab_outcome *out,
                      fab_error *err);

/** Whether the paths of a variant can be listed: its engine does not split. */
bool fab_assess_has_proof(const fab_assessment *assessment, uint32_t variant);

/**
 * What the loads of a set rest on under a variant, as blocks `state` of a certificate (src/doc/manual/certificates.md):
 * before anybody moves and, where the policy finds places, after that.
 * @param[in] number  The scenario's.
 * @param[in,out] n_states  Grows by the blocks.
 * Errors of fab_assess(). Complexity: that of its loads, and O(links of the paths that were looked at).
 */
FAB_STATUS fab_assess_prove(fab_assessor *assessor, uint64_t number, const fab_scenario *scenario, uint32_t variant,
                            FILE *out, size_t *n_states, fab_error *err);
