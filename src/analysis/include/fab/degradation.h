/**
 * What slower parts do to the phases, as plain structs. Computed by fab_degraded_run() (study). See
 * src/doc/adr/0030-several-jobs-and-degraded-parts.md.
 */
#pragma once

#include "fab/degrade.h"
#include "fab/result.h"

#define FAB_HIT_COMMS 3

/** A phase under an engine, on the healthy fabric and on slower parts. */
typedef struct fab_degraded_phase {
    bool has_time;              /**< the next three are known */
    fab_stat before_s, after_s; /**< over the seeds */
    double factor;              /**< of their means */
    bool has_hits;              /**< the rest is known; of the first seed, routed over the slower parts */
    uint64_t hit_flows;         /**< that cross a slower cable */
    uint64_t hit_comms;         /**< communicators with such a flow */
    uint32_t n_named;
    char comms[FAB_HIT_COMMS][FAB_NAME_SIZE]; /**< the first of them */
} fab_degraded_phase;

typedef struct fab_degraded_iteration {
    double before_s, after_s;
} fab_degraded_iteration;

typedef struct fab_degradation {
    fab_weak_part *parts; /**< as given; owned */
    size_t n_parts;
    uint32_t n_cables;     /**< that are slower */
    double *link_residual; /**< shape [n_links]: fraction of the capacity of every link; owned */
    double compute_ratio;  /**< of the slowest GPU of the traffic */
    size_t n_phases, n_engines;
    char (*names)[FAB_NAME_SIZE];          /**< shape [n_phases]; owned */
    uint64_t n_seeds;                      /**< of engines that draw */
    char (*labels)[FAB_ENGINE_LABEL_SIZE]; /**< shape [n_engines]; owned */
    fab_degraded_phase *phases;            /**< shape [n_phases][n_engines]; owned */
    fab_degraded_iteration *iterations;    /**< shape [n_iterations], one per engine; owned */
    size_t n_iterations;                   /**< 0: no training job, or it cannot be timed */
    size_t *worst;                         /**< shape [n_engines]: phase that suffers most; owned */
} fab_degradation;
