/**
 * What jobs on one fabric do to each other, as plain structs. Computed by fab_contend() (study). See
 * src/doc/adr/0030-several-jobs-and-degraded-parts.md.
 */
#pragma once

#include "fab/result.h"

#define FAB_SHARED_LINKS      8
#define FAB_JOB_REMEDIES      3
#define FAB_INTERFERENCE_JOBS 64 /**< most jobs of which every pair is looked at: 2,016 */

/** A phase of a job alone, under one engine. */
typedef struct fab_phase_alone {
    uint32_t phase, engine; /**< of the job, of the contention */
    bool has_time;          /**< the next two are known */
    double time_s, latency_s;
} fab_phase_alone;

typedef struct fab_contending_job {
    char id[FAB_NAME_SIZE];
    char traffic[384];
    char model[FAB_NAME_SIZE]; /**< that it trains or serves; empty: its sizes are given */
    char plan[64];             /**< "tp 8 pp 2 dp 4" */
    char plan_keys[192];       /**< of a plan that was searched, for the job alone: what to type; else empty */
    uint32_t n_gpus, n_servers;
    char engines[96];              /**< "1, 3": whose plans these are, where not all have the same; else empty */
    char phase[FAB_NAME_SIZE];     /**< that overlaps with those of the others; empty: none does */
    char (*phases)[FAB_NAME_SIZE]; /**< shape [n_phases]: names; owned */
    uint64_t *network_flows;       /**< shape [n_phases]: that leave a domain; owned */
    fab_phase_alone *alone;        /**< shape [n_phases][engines that run it so]; owned */
    size_t n_alone;                /**< of all phases and engines */
    size_t n_phases, phase_index;  /**< the latter of `phase` */
} fab_contending_job;

/** What contention with the others does to a job's phase. */
typedef struct fab_contended_phase {
    fab_stat alone_s, together_s;                   /**< over the seeds, latency included */
    fab_stat slowdown;                              /**< together over alone, seed by seed */
    bool has_iteration;                             /**< the next two are known: a job with an iteration contends */
    double iteration_alone_s, iteration_together_s; /**< the phase takes its mean time alone, or together */
    double expected_s; /**< with has_expected: the iteration where all network phases meet those of others by chance */
    double costs_gpus; /**< with has_expected: what the job costs the others then, as GPUs of theirs that stand still */
    uint64_t shared_links; /**< network links that carry its phase and another one, first seed */
    uint32_t n_tried;      /**< others that were left out in turn, to see what it takes without each; 0: none */
    bool has_rival;        /**< the next four are known: it is faster without one of these, on the basis of without_s */
    uint32_t rival;        /**< the one without which it takes least; of several the first */
    uint32_t n_rivals_even; /**< others without which it takes as little, as far as the seeds tell */
    double without_s;       /**< what it takes without the rival: expected_s, else its iteration, else its phase */
    char rival_link[FAB_LINK_NAME_SIZE]; /**< that both use and its bytes leave last, first seed; empty: none */
} fab_contended_phase;

/** What the job takes: its iteration, else its phase. */
static inline double fab_contended_s(const fab_contended_phase *phase, bool together) {
    return phase->has_iteration ? (together ? phase->iteration_together_s : phase->iteration_alone_s)
                                : (together ? phase->together_s.mean : phase->alone_s.mean);
}

/** How much longer the job takes: its iteration, else its phase. */
static inline double fab_contended_factor(const fab_contended_phase *phase) {
    return phase->has_iteration ? phase->iteration_together_s / phase->iteration_alone_s : phase->slowdown.mean;
}

/** What it takes beside the others as it is said first: by chance where that is known. */
static inline double fab_contended_now_s(const fab_contended_phase *phase) {
    return phase->expected_s > 0 ? phase->expected_s : fab_contended_s(phase, true);
}

/** How much longer that is. */
static inline double fab_contended_longer(const fab_contended_phase *phase) {
    return phase->expected_s > 0 ? phase->expected_s / phase->iteration_alone_s : fab_contended_factor(phase);
}

/** Network links of one boundary in one direction, first seed. */
typedef struct fab_shared_tier {
    uint32_t tier;
    bool up;
    uint64_t links, used, shared; /**< shared: by several jobs */
} fab_shared_tier;

typedef struct fab_link_part {
    uint32_t job;
    double busy_s; /**< bytes of its phase over the capacity */
} fab_link_part;

/** A link that jobs share. */
typedef struct fab_shared_link {
    char name[FAB_LINK_NAME_SIZE];
    uint32_t tier;
    bool up;
    double busy_s; /**< of all jobs */
    uint32_t n_parts;
    fab_link_part parts[FAB_MAX_JOBS]; /**< by job */
} fab_shared_link;

typedef struct fab_contention_engine {
    char label[FAB_ENGINE_LABEL_SIZE];
    size_t first_job; /**< among those of the contention: how it runs them */
    uint64_t n_seeds;
    uint32_t n_contending;     /**< jobs that have a phase here */
    uint32_t n_iterating;      /**< of these, jobs with an iteration */
    fab_contended_phase *jobs; /**< shape [n_jobs]; zero where a job has no phase here; owned */
    fab_shared_tier tiers[2 * FAB_MAX_TIERS];
    size_t n_tiers;
    double all_jobs_s;          /**< iteration, else phase, of the jobs together: mean over their GPUs */
    double lost_ratio;          /**< part of the GPUs' time that jobs that count take longer beside each other */
    bool has_expected;          /**< the next is known: of pairs of phases of jobs with iterations, if few enough */
    double expected_lost_ratio; /**< the same where phases meet by chance */
    uint64_t n_shared;          /**< over the tiers */
    fab_shared_link worst[FAB_SHARED_LINKS]; /**< the shared links that need longest for their bytes */
    size_t n_worst;
} fab_contention_engine;

/** Whether a job's time counts among what jobs lose: iterations do; phases, which are not all that a job does, where no
 * job has an iteration. */
static inline bool fab_contended_counts(const fab_contention_engine *engine, size_t job) {
    return engine->n_iterating > 0 ? engine->jobs[job].has_iteration : engine->jobs[job].alone_s.mean > 0;
}

/** What jobs lose to each other: by chance, unless there are jobs of which it is not known how often they meet. */
static inline double fab_contention_lost_ratio(const fab_contention_engine *engine) {
    const double at_once = engine->has_expected && engine->n_iterating == engine->n_contending ? 0 : engine->lost_ratio;
    return engine->expected_lost_ratio > at_once ? engine->expected_lost_ratio : at_once;
}

/** Every network phase of a job against every one of another: how much slower the first is. */
typedef struct fab_interference {
    uint32_t engine, job, other;
    uint32_t *phase, *other_phase; /**< shape [n_rows], [n_columns]: indices among the jobs' phases; owned */
    size_t n_rows, n_columns;
    double *slowdown; /**< shape [n_rows][n_columns]: mean over the seeds; owned */
    double worst;
    size_t worst_row, worst_column;
    double mean;   /**< weighted by the times alone of both phases: of moments in which both jobs send */
    double lost_s; /**< what an iteration of the job loses to the other where phases meet by chance */
} fab_interference;

/** A change for all jobs at once, as computed: nothing is bought for it. */
typedef struct fab_job_remedy {
    char what[FAB_ENGINE_TEXT_SIZE]; /**< "in order" (servers), or an engine */
    bool is_engine, needs_switch_support;
    bool by_chance;     /**< what follows is where phases meet by chance; else while the longest start at once */
    double *saved;      /**< shape [n_jobs]: part of its time that it saves each; owned */
    double saved_ratio; /**< the same of the jobs that count, a job weighs as its GPUs */
    uint32_t n_faster, n_slower; /**< jobs that count */
} fab_job_remedy;

typedef struct fab_contention {
    fab_wiring wiring;
    fab_contending_job
        *jobs; /**< shape [n_plans][n_jobs]: once for all engines that run all of them by the same plans */
    size_t n_jobs, n_plans;
    fab_contention_engine *engines;
    size_t n_engines;
    fab_interference *interference; /**< in the order engine, job, other; none unless asked for */
    size_t n_interference;
    size_t remedied;                           /**< engine that remedies are compared with */
    fab_job_remedy remedies[FAB_JOB_REMEDIES]; /**< the easiest first: what moves no job */
    size_t n_remedies;
    bool has_tried;     /**< remedies were asked for */
    uint64_t n_untried; /**< flows, too many for remedies to be tried; 0: they were */
} fab_contention;

/** A job as an engine runs it. */
static inline const fab_contending_job *fab_contending(const fab_contention *c, size_t engine, size_t job) {
    return &c->jobs[c->engines[engine].first_job + job];
}

/**
 * The job that the others make longest, of several the first: by chance where that is known, else, and where none is
 * longer so, while the longest phases start at once; n_jobs: none is slowed.
 * @param[out] out_n  Jobs that are slowed.
 */
size_t fab_contention_most_slowed(const fab_contention *contention, const fab_contention_engine *engine, size_t *out_n);

/** The job that costs the others most where phases meet by chance, of several the first; n_jobs: none does. */
size_t fab_contention_most_costly(const fab_contention *contention, const fab_contention_engine *engine);

/** The easiest remedy of those that help a job most; n_remedies: none helps it. */
size_t fab_contention_remedy(const fab_contention *contention, size_t job);
