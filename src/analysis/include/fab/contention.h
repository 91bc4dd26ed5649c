/**
 * @file contention.h
 * What jobs on one fabric do to each other, as plain structs. Computed by fab_contend() (study). See
 * src/doc/adr/0030-several-jobs-and-degraded-parts.md.
 */
#pragma once

#include "fab/engine_spec.h"
#include "fab/result.h"

#define FAB_SHARED_LINKS      8
#define FAB_INTERFERENCE_JOBS 64 /**< most jobs of which every pair is looked at: 2,016 */

/** A phase of a job alone, under one engine. */
typedef struct fab_phase_alone {
    bool has_time; /**< the next two are known */
    double time_s, latency_s;
} fab_phase_alone;

typedef struct fab_contending_job {
    char id[FAB_NAME_SIZE];
    char traffic[384];
    char model[FAB_NAME_SIZE]; /**< that it trains or serves; empty: its sizes are given */
    char plan[64];             /**< "tp 8 pp 2 dp 4" */
    uint32_t n_gpus, n_servers;
    char phase[FAB_NAME_SIZE];     /**< that overlaps with those of the others; empty: none does */
    char (*phases)[FAB_NAME_SIZE]; /**< shape [n_phases]: names; owned */
    uint64_t *network_flows;       /**< shape [n_phases]: that leave a domain; owned */
    fab_phase_alone *alone;        /**< shape [n_phases][n_engines]; owned */
    size_t n_phases, phase_index;  /**< the latter of `phase` */
} fab_contending_job;

/** What contention with the others does to a job's phase. */
typedef struct fab_contended_phase {
    fab_stat alone_s, together_s;                   /**< over the seeds, latency included */
    fab_stat slowdown;                              /**< together over alone, seed by seed */
    bool has_iteration;                             /**< the next two are known: of a training job */
    double iteration_alone_s, iteration_together_s; /**< the phase takes its mean time alone, or together */
    uint64_t shared_links; /**< network links that carry its phase and another one, first seed */
} fab_contended_phase;

/** How much longer the job takes: its iteration, else its phase. */
static inline double fab_contended_factor(const fab_contended_phase *phase) {
    return phase->has_iteration ? phase->iteration_together_s / phase->iteration_alone_s : phase->slowdown.mean;
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
    uint64_t n_seeds;
    fab_contended_phase *jobs; /**< shape [n_jobs]; zero where a job has no phase here; owned */
    fab_shared_tier tiers[2 * FAB_MAX_TIERS];
    size_t n_tiers;
    uint64_t n_shared;                       /**< over the tiers */
    fab_shared_link worst[FAB_SHARED_LINKS]; /**< the shared links that need longest for their bytes */
    size_t n_worst;
} fab_contention_engine;

/** Every network phase of a job against every one of another: how much slower the first is. */
typedef struct fab_interference {
    uint32_t engine, job, other;
    uint32_t *phase, *other_phase; /**< shape [n_rows], [n_columns]: indices among the jobs' phases; owned */
    size_t n_rows, n_columns;
    double *slowdown; /**< shape [n_rows][n_columns]: mean over the seeds; owned */
    double worst;
    size_t worst_row, worst_column;
    double mean; /**< weighted by the times alone of both phases: of moments in which both jobs send */
} fab_interference;

typedef struct fab_contention {
    fab_wiring wiring;
    fab_contending_job *jobs;
    size_t n_jobs;
    fab_contention_engine *engines;
    size_t n_engines;
    fab_interference *interference; /**< in the order engine, job, other; none unless asked for */
    size_t n_interference;
} fab_contention;
