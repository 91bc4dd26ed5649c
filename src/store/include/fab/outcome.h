/** What becomes of a job under one failure scenario: a row of a study. */
#pragma once

#include <stdint.h>

typedef enum fab_outcome_state {
    FAB_OUTCOME_RUNS,    /**< everybody reaches everybody */
    FAB_OUTCOME_STOPPED, /**< ranks are dead or cut off, and nobody takes their place: no time */
    FAB_OUTCOME_N_STATES
} fab_outcome_state;

/** What a study looks at. */
typedef enum fab_study_figures {
    FAB_FIGURES_LOADS, /**< collisions and loads alone */
    FAB_FIGURES_TIMES, /**< times of iterations, else of all phases one after the other */
    FAB_FIGURES_P99, /**< times within which 99 % of the requests are answered, of all exchanges that are waited for */
    FAB_FIGURES_N
} fab_study_figures;

/** "loads", "times", "p99". */
extern const char *const fab_study_figures_names[FAB_FIGURES_N];

/** "runs", "stopped". */
extern const char *const fab_outcome_states[FAB_OUTCOME_N_STATES];

/**
 * One scenario under one variant (engine x policy). Of a set of failures the state with all of them; of a history the
 * whole span, where the figures of the network are those of its worst moment in which the job runs.
 * A figure that is not known is NAN.
 */
typedef struct fab_outcome {
    uint64_t scenario;
    uint32_t variant;
    uint32_t state;          /**< fab_outcome_state; of a history: at its end */
    uint32_t n_disconnected; /**< flows of which no path is left, before anybody moved, summed over the phases */
    uint32_t n_moved;        /**< servers whose ranks run elsewhere */
    uint32_t n_collisions;   /**< network links that are offered more than their residual capacity, in all phases */
    uint32_t worst_link;     /**< link id, or UINT32_MAX */
    double lost_ratio;       /**< offered rate that lost its way, before anybody moved, over all that is offered */
    double worst_ratio;      /**< largest load over the residual capacity, of network links in any phase */
    double time_s;           /**< of an iteration, else of all phases one after the other */
    double slowdown;         /**< time_s over that of the healthy fabric, at least where everything runs */
    /* Of a history; NAN and 0 for a set. The four parts that are lost and the goodput add up to the span. */
    double goodput;       /**< useful part of the span */
    double restart_ratio; /**< part of the span in which the job restarts */
    double redo_ratio;    /**< part of the span in which work since the last checkpoint is done again */
    double slow_ratio;    /**< part of the span lost because the job runs slower; below 0 where it runs faster */
    double wait_ratio;    /**< part of the span in which the job waits for a repair */
    uint32_t n_failures;  /**< in the span */
    uint32_t n_stops;     /**< of them: that stop the job */
} fab_outcome;
