/** One design at many values of one or two of its parameters, side by side: what sweep_run.h finds and reports show. */
#pragma once

#include "fab/algorithms.h"
#include "fab/imported.h"
#include "fab/ownership.h"
#include "fab/plans.h"

#define FAB_SWEEP_PATHS  2
#define FAB_SWEEP_ERROR  704
#define FAB_SWEEP_POINTS 4096 /**< most points of a sweep */
#define FAB_EVEN_RATIO   0.01 /**< designs within this margin of each other are even: less than the model is exact */

/** A phase under an engine. */
typedef struct fab_sweep_time {
    uint64_t n_seeds;
    bool has_time;
    fab_stat time_s; /**< of all its executions in an iteration; meaningful with has_time */
    fab_stat max_collision_factor;
    fab_heat heat; /**< of the first seed */
} fab_sweep_time;

typedef struct fab_sweep_phase {
    char name[FAB_NAME_SIZE], collective[FAB_NAME_SIZE];
    uint64_t flows, fabric_flows, bytes;
    uint64_t crossing_flows[FAB_MAX_TIERS + 1]; /**< [t], t >= 2: as in fab_phase_result */
    uint64_t leaf_cables;                       /**< as in fab_phase_result, as are these: */
    double max_taper_factor, leaf_excess_ratio; /**< of them */
    fab_sweep_time *times; /**< shape [n_engines]; n_seeds == 0: only the plan of another engine has the phase */
} fab_sweep_phase;

/** One algorithm of a collective that is replayed by all of them. */
typedef struct fab_sweep_algorithm {
    char name[FAB_NAME_SIZE];
    fab_algorithm_time *times; /**< shape [n_engines] */
} fab_sweep_algorithm;

/** All phases together under an engine. */
typedef struct fab_sweep_engine {
    char label[FAB_ENGINE_LABEL_SIZE];
    bool has_plan;                        /**< the job left open how it is run: */
    fab_job_plan plan;                    /**< the fastest under this engine */
    double plan_bound_s;                  /**< no other plan is below it */
    bool plan_is_proven;                  /**< it is the fastest; else the best that a short search finds */
    uint64_t n_plans_tried;               /**< with failures, of which this one keeps most; 0: it is the fastest */
    char collective_note[FAB_WHERE_SIZE]; /**< what replays chose in place of algorithm=best, or empty */
    bool has_phases;                      /**< every phase has a time, and they follow each other */
    double phases_s;                      /**< their sum, nothing overlapped; mean over the seeds */
    bool has_iteration;                   /**< the traffic is a training job whose iteration is modelled */
    fab_iteration iteration;              /**< meaningful with has_iteration */
    bool has_serving;                     /**< the traffic is a serving job that is timed */
    fab_serving serving;                  /**< meaningful with has_serving */
    bool has_goodput;                     /**< failures were asked for, and every history is known: */
    fab_stat goodput;                     /**< useful part of the time, over the histories */
    fab_stat waiting;     /**< the same under first-spare, where shrink was taken unasked; mean 0: it was not */
    fab_stat other_batch; /**< where shrink was taken: goodput with the other value of failures.keep-batch; mean 0:
                             not known */
    fab_parts kept, waiting_kept, other_kept; /**< of these three */
    double random_s;        /**< of points with unlike tapers: time_s with placement=random; 0: not asked */
    double all_jobs_s;      /**< of a design with several jobs: that of fab_contention_engine; 0: not known */
    bool is_drawn;          /**< some phase hashes: another seed gives another time */
    uint64_t n_seeds;       /**< that times and prices are means of, where something is drawn */
    fab_parts seeds;        /**< of the mean time over the seeds; ci95_ratio 0: one, or not known */
    double estimated_ratio; /**< fab_estimated_ratio() */
    double least_s, most_s; /**< of an iteration, or the only phase, over the seeds; 0: one seed, or not known */
    bool has_time;          /**< false of a service that is overloaded, but in a mix */
    double time_s;          /**< of the iteration, or of a batch that is served, else phases_s */
    double compared_s; /**< what the front goes by: time_s, or that for as many tokens as the first point's iteration
                          or batch, and of compared designs on as many GPUs: fab_sweep_is_per_gpu() */
    double slowdown;   /**< compared_s over the least of this engine in the sweep; 0 without a time */
    bool is_on_front;  /**< no other point costs less and is as fast under this engine, or is faster and costs as much;
                          with failures where they were asked for, and then only what the histories tell apart */
} fab_sweep_engine;

/** Whether more requests come than are served: nothing that is said of full batches comes true. */
static inline bool fab_sweep_is_overloaded(const fab_sweep_engine *engine) {
    return engine->has_serving && engine->serving.arrivals_per_s <= 0;
}

/** Whether the time is that of one draw, which another seed makes another. */
static inline bool fab_sweep_is_one_draw(const fab_sweep_engine *engine) {
    return engine->is_drawn && engine->n_seeds == 1;
}

/** What a price per token, or a time, is with failures in it; the same where they were not asked for. */
static inline double fab_with_failures(const fab_sweep_engine *engine, double figure) {
    return engine->has_goodput ? figure / engine->goodput.mean : figure;
}

/** What seeds, and where both have failures histories too, leave open of the ratio of two times or prices. */
static inline double fab_sweep_chance(const fab_sweep_engine *a, const fab_sweep_engine *b) {
    const bool has_both = a->has_goodput && b->has_goodput;
    return fab_pairs_ci95(&a->seeds, has_both ? &a->kept : NULL, &b->seeds, has_both ? &b->kept : NULL);
}

typedef struct fab_sweep_point {
    char *value[FAB_SWEEP_PATHS]; /**< as asked for; owned */
    char policy[FAB_NAME_SIZE];   /**< of goodput; empty: without failures */
    bool is_built;
    bool over_limit;             /**< it would take more memory than the run may */
    char error[FAB_SWEEP_ERROR]; /**< why not */
    char digest[17], family[FAB_NAME_SIZE];
    fab_counts counts;
    double taper[FAB_MAX_TIERS]; /**< as given, leaf first; those above the tiers do nothing */
    uint64_t tp, domain;         /**< of the job, 0: there is none; GPUs of a scale-up domain */
    double bisection_bps, bisection_ratio;
    double total_usd, per_gpu_usd, power_w, capital_usd_per_year, energy_usd_per_year;
    bool has_ownership; /**< there is a job */
    fab_ownership ownership;
    char traffic[sizeof(((fab_result *)0)->traffic)];
    char job[FAB_NAME_SIZE];  /**< of several, the one that times and prices are of; empty: there is one */
    size_t other_jobs;        /**< fab_design_other_jobs() */
    uint64_t batch;           /**< sequences of an iteration; 0: no training job */
    uint64_t batch_unrounded; /**< as fab_job_spec has it */
    double tokens;            /**< of an iteration */
    uint64_t job_gpus;        /**< that an iteration is of; 0: no training job */
    fab_job_kind kind;        /**< of the job, meaningful with has_ownership */
    double work;              /**< tokens of an iteration, samples ranked, or tokens generated, in time_s; 0: no job */
    double gpu_ratio;         /**< GPUs of the job over those that are there for all */
    bool keeps_batch;         /**< failures.keep-batch of the design */
    bool keeps_rails;         /**< fab_experts_keep_rails() of the job */
    bool sends_copies;        /**< a token goes to each of its experts straight: expert-exchange=direct */
    char sold_unlike[FAB_SOLD_SIZE]; /**< fab_gpu_sold_unlike() of the job, or empty */
    bool keeps_by_plan;              /**< a search for plans has found that, and nobody said ep=1 */
    char assumed[FAB_ASSUMED_SIZE];  /**< fab_imported_gaps() of its fabric, or empty */
    uint64_t n_kept_experts;         /**< that every GPU keeps, so that none are exchanged with; 0: none */
    bool plans_differ;               /**< engines run the job by unlike plans; `traffic` and `fewer` are of the first */
    fab_fewer fewer;                 /**< of fab_plans, or that of another point, where it gains here too */
    double tried_gain; /**< where `fewer` of another point gains too little here to tell: that; 0: none was tried */
    double idle_gain;  /**< with failures: tokens per second on `fewer`, over those of the point; 0: not replayed */
    fab_sweep_engine *idle;               /**< of that replay; NULL: there was none; owned */
    double gpu_hour_usd;                  /**< what the job pays for a GPU, 0: there is none */
    char gpu_hour_source[FAB_WHERE_SIZE]; /**< where that price is from */
    fab_better better;                    /**< of the first point */
    bool relays;                          /**< traffic between rails is passed on by GPUs as it comes */
    bool is_sprayed; /**< of compared designs: behind the one engine stands spray, which reports do not list */
    char
        *settings; /**< canonical text of the design; of compared designs what differs in it, "key=value; ..."; owned */
    fab_sweep_phase *phases;
    size_t n_phases;
    fab_sweep_algorithm *algorithms; /**< of phases that are alternatives of each other; else none */
    size_t n_algorithms;
    fab_sweep_engine *engines;
    size_t n_engines;
} fab_sweep_point;

/** Whether the point takes part in what is said of engine e. */
static inline bool fab_sweep_has_time(const fab_sweep_point *p, size_t e) {
    return p->is_built && e < p->n_engines + p->is_sprayed && p->engines[e].has_time;
}

/** What compared designs come to under an engine: by dollars per token where all have a price, else by time. */
typedef struct fab_verdict {
    bool is_known, by_price;
    bool has_failures; /**< prices and times are those with failures in them (fab_with_failures()) */
    uint64_t n_draws;  /**< seeds that figures are means of; 0: nothing is drawn, or some figure is one draw: */
    bool is_one_draw;
    bool is_estimated;        /**< some figure is of a hash that is not walked */
    size_t best, next;        /**< points; the same where only one has a figure */
    size_t fastest, cheapest; /**< least compared_s, with failures in it too; least price of the network */
    double margin_ratio;      /**< figure of `next` over that of `best`, less 1 */
    double uncertainty_ratio; /**< what seeds and histories make of it: fab_verdict_chance() */
    size_t n_even;            /**< that are even with `best` (fab_verdict_is_even()), itself counted */
    size_t behind;            /**< the best of those that are not even with `best`; that one where all are */
    double behind_ratio;      /**< as margin_ratio, of it */
    double turning_ratio; /**< part by which the network of `next`, bought and run, would have to be cheaper for both to
                             be equal; above 1: not even for nothing; 0 unless by_price */
    bool is_sprayed;      /**< all were replayed under spray too, with their best plans then: the next verdict of the
                             sweep, which n_verdicts does not count, is what they come to */
    bool hangs_on_batch;  /**< failures.keep-batch makes much of it; with its other value: */
    size_t batch_best, batch_next; /**< as of spray */
    double batch_ratio;
    bool is_owned;                 /**< the cost of ownership of every design with a time is known */
    size_t owned_best, owned_next; /**< points: least and next dollars of ownership per token */
    double owned_margin_ratio;     /**< as margin_ratio */
} fab_verdict;

/** Of two figures: closer than the model is exact, or than chance makes them. */
static inline bool fab_is_even(double ratio, double chance) {
    return ratio < FAB_EVEN_RATIO || ratio <= chance;
}

/** Which tokens cost least where every point does as its `fewer` says. */
typedef struct fab_tipped {
    size_t best, next;        /**< points */
    double usd, margin_ratio; /**< per 1e9 tokens, of `best`; as of a verdict */
    size_t n_even;            /**< points that are even with `best`, beside it */
} fab_tipped;

/** What a verdict goes by. */
static inline double fab_verdict_figure(const fab_verdict *v, const fab_sweep_engine *engine) {
    const double figure = v->by_price ? engine->iteration.usd_per_1e9_tokens : engine->compared_s;
    return v->has_failures ? fab_with_failures(engine, figure) : figure;
}

/** What seeds, and histories where it goes by them, leave open of the ratio of two figures. */
static inline double fab_verdict_chance(const fab_verdict *v, const fab_sweep_engine *a, const fab_sweep_engine *b) {
    return v->has_failures ? fab_sweep_chance(a, b) : fab_pairs_ci95(&a->seeds, NULL, &b->seeds, NULL);
}

/** How many more tokens per second a point does as `fewer` says, all its GPUs paid for; 1: none is known. */
static inline double fab_sweep_tip_gain(const fab_sweep_point *p, bool has_failures) {
    return has_failures ? fmax(p->idle_gain, 1) : p->fewer.servers > 0 ? fmax(p->fewer.gain, 1) : 1;
}

/** Whether two designs are even: whatever others are compared with them. */
static inline bool fab_verdict_is_even(const fab_verdict *v, const fab_sweep_engine *a, const fab_sweep_engine *b) {
    const double ratio = fab_verdict_figure(v, a) / fab_verdict_figure(v, b);
    return fab_is_even(fmax(ratio, 1 / ratio) - 1, fab_verdict_chance(v, a, b));
}

/** One placement that was found. */
typedef struct fab_placed {
    char *servers;  /**< as `servers=` takes them: of a pattern with '+' between them; owned */
    double time_s;  /**< of an iteration, else of all phases */
    double check_s; /**< the same on other seeds; meaningful where check_seeds > 0 */
} fab_placed;

/** The best and the worst placement under an engine (place_run.h). */
typedef struct fab_place_search {
    char label[FAB_ENGINE_LABEL_SIZE];
    char note[256]; /**< why placements cannot differ, or are not searched; else empty */
    char plan[192]; /**< the fastest under the engine, as keys of the job; empty: the job says how it is run */
    bool is_searched;
    bool by_iteration, of_pattern;
    bool is_proven;             /**< every placement that differs was evaluated */
    uint64_t n_distinct;        /**< placements that differ; 0: more than the budget */
    uint64_t n_tried, budget;   /**< evaluated; most that may be */
    uint32_t n_servers, n_free; /**< of the job; others that may be used */
    double least_s;             /**< no placement and no routing needs less; 0: not known */
    fab_placed listed, best, worst;
    uint64_t check_seeds; /**< other seeds that check what was found; 0: nothing is drawn */
} fab_place_search;

typedef struct fab_sweep {
    char *path[FAB_SWEEP_PATHS]; /**< owned */
    size_t n_paths;
    bool compares_placements;              /**< of `place`: headings speak of placements */
    bool compares_designs;                 /**< of `compare`: values are designs */
    fab_verdict verdicts[FAB_MAX_ENGINES]; /**< [engine], of compared designs */
    size_t n_verdicts;
    bool has_tipped;      /**< under the first engine points stand otherwise where each does as its `fewer` says: */
    fab_tipped tipped[2]; /**< by GPU hours; of ownership, else 0 */
    char design[512];     /**< as given */
    char scenarios[FAB_NAME_SIZE], policy[FAB_NAME_SIZE]; /**< of goodput: as asked for, and those of
                                                             the points; empty: without failures */
    char prices[FAB_FILE_SIZE]; /**< of compared designs: the book of all, where only some name one; else empty */
    char *model; /**< of points that name none, where others do or their defaults differ; else NULL; owned */
    fab_sweep_point *points; /**< the first path varies slowest */
    size_t n_points, n_built;
    fab_place_search *searches; /**< shape [n_searches]: of `place`, one per engine */
    size_t n_searches;
    size_t n_over_limit; /**< points that were not evaluated for want of memory */
    size_t n_untried;    /**< plans of other points that a point did not try for want of time */
} fab_sweep;

/** Whether compared designs have jobs on unlike numbers of GPUs, so that only what a GPU does compares. */
static inline bool fab_sweep_is_per_gpu(const fab_sweep *sweep) {
    uint64_t gpus = 0;
    for (size_t i = 0; sweep->compares_designs && i < sweep->n_points; i++) {
        const uint64_t its = sweep->points[i].job_gpus;
        if (gpus > 0 && its > 0 && its != gpus) {
            return true;
        }
        gpus = gpus > 0 ? gpus : its;
    }
    return false;
}
