/**
 * When every flow of a phase ends under an engine, and what groups of flows put on the links: for flows of several jobs
 * that are in the network together, and for flows over parts that are slower than they should be.
 */
#pragma once

#include <stdint.h>

/**
 * What is wanted of a phase all of whose flows start at once and run as a fluid until the last one ends, sharing links
 * max-min fairly (src/doc/adr/0028-rates-and-times.md). The caller owns every array.
 */
typedef struct fab_trace {
    const uint32_t *group; /**< shape [n_flows]: below n_groups; NULL: all are in group 0 */
    uint32_t n_groups;
    const uint8_t *marked; /**< shape [n_links]: not 0 = of interest; NULL: none */
    /* Overwritten; NULL: not wanted. Where queue pairs take turns, the mean over the rounds. */
    double *last_s;   /**< shape [n_groups]: when the last flow of the group ends */
    double *finish_s; /**< shape [n_flows]: when the flow ends */
    double *bytes;    /**< shape [n_groups][n_links] */
    uint8_t *crosses; /**< shape [n_flows]: 1 where some of the flow crosses a marked link */
} fab_trace;
