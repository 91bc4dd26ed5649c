/**
 * What a report comes to, in five lines: what bounds the job, how bad collisions are, what it costs, what to do about
 * it, how sure that is. Made once from a result, so that every format says the same words. See
 * src/doc/adr/0072-the-verdict-first.md.
 */
#pragma once

#include "fab/plans.h"
#include "fab/result.h"

#define FAB_VERDICT_TEXT         960
#define FAB_VERDICT_ALTERNATIVES 5
#define FAB_VERDICT_LITTLE       1e-3 /**< part of a time that is not worth a word */
#define FAB_VERDICT_SEEDS        8    /**< over which a gain is no luck */
#define FAB_VERDICT_MOST_PAIRS   16 /**< queue pairs that are advised: more cost NICs their state, fewer win nothing */
#define FAB_VERDICT_PLAN         0.05 /**< part of its time that a job may lose to another plan or order without a word */

/** Over how many seeds a gain is judged. */
static inline uint64_t fab_verdict_seeds(uint64_t given) {
    return given > FAB_VERDICT_SEEDS ? given : FAB_VERDICT_SEEDS;
}

/** What another routing would make of the same traffic on the same fabric, as computed. */
typedef struct fab_alternative {
    char engine[FAB_ENGINE_TEXT_SIZE];
    bool needs_switch_support; /**< no matter of configuration */
    bool is_possible;          /**< the next two are known */
    double time_s;             /**< of an iteration, of a batch that is served, or of the phases one after the other */
    double first_token_s, token_s; /**< of a job that serves, without a queue */
    double max_collision_factor;   /**< largest of the phases that were routed anew, mean over the seeds */
    bool is_checked;    /**< it saves something here, and drew its paths: the next two are over several seeds */
    bool is_confirmed;  /**< faster there too, as advice judges it (ADR 22) */
    double seeds_ratio; /**< part of the time that it saves there; of an iteration in proportion to its phases */
    double seeds_ci95_ratio;
    char reason[256]; /**< of what is not possible */
} fab_alternative;

/** Of a service that is overloaded: the least batch that carries its requests, or the one that serves most of them. */
typedef struct fab_larger_batch {
    bool is_tried;
    uint64_t batch; /**< sequences; 0: memory holds none that serves more, or none was tried */
    double most_requests_per_s;
    double load_ratio; /**< as of fab_serving; 0: it does not carry them either, else the next are known: */
    double first_token_p99_s, token_p99_s;
} fab_larger_batch;

/** Lines of a report; empty where there is nothing to say. */
typedef struct fab_run_verdict {
    size_t engine;      /**< index of the fastest of those given: what is said is of it */
    size_t slowest;     /**< index of the slowest; equal where there is one, or nothing tells them apart */
    bool of_iteration;  /**< times are those of an iteration, else of the phases one after the other */
    bool has_time;      /**< the next is known */
    double time_s;      /**< under the fastest engine */
    double compared_s;  /**< the same with the mean times of phases, as alternatives and the next have; 0: not known */
    double least_s;     /**< if every phase took the least that any routing needs */
    double uplinks_s;   /**< no number of uplinks makes it shorter, whatever the routing; 0: not known, or no taper */
    uint64_t n_untried; /**< flows of phases that are too many to be tried; 0: none are */
    fab_alternative alternatives[FAB_VERDICT_ALTERNATIVES];
    size_t n_alternatives;
    fab_better better;
    double in_order_s; /**< under the fastest engine with placement=order, where that is less by more than
                          FAB_VERDICT_PLAN; 0: it is not, or not known */
    fab_larger_batch larger;
    char bound[FAB_VERDICT_TEXT], collisions[FAB_VERDICT_TEXT], cost[FAB_VERDICT_TEXT], advice[FAB_VERDICT_TEXT],
        certainty[FAB_VERDICT_TEXT];
} fab_run_verdict;

/**
 * Finds the fastest and the slowest engine and the time that is judged; alternatives and lines are left empty.
 * @param[in] result  Of run or route, with phases.
 */
void fab_verdict_begin(const fab_result *result, fab_run_verdict *out);

/** Whether the routing may lose time in a phase under an engine: it takes longer than any routing must. */
bool fab_verdict_is_lossy(const fab_phase_result *phase, size_t engine);

/** Writes the lines, with the alternatives that `verdict` has. */
void fab_verdict_finish(const fab_result *result, fab_run_verdict *verdict);

/** Queue pairs of an engine's label; 0: it says none. */
uint64_t fab_label_pairs(const char *label);

/** Whether both labels have queue pairs, and differ in nothing else. */
bool fab_label_is_same_but_pairs(const char *a, const char *b);

typedef struct fab_pairs_time {
    uint64_t pairs;
    double time_s;
} fab_pairs_time;

/**
 * Appends up to which number more queue pairs of one engine help, which is the fewest that take at most 1.25 % longer
 * than the fastest, and what the others save. False, and nothing, of fewer than three, or without times.
 * @param[in,out] list  Sorted by pairs.
 */
bool fab_verdict_add_pairs(fab_pairs_time *list, size_t n, char *out, size_t size);
