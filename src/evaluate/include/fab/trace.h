/**
 * @file trace.h
 * When every flow of a phase ends under an engine, and what groups of flows put on the links: for flows of several jobs
 * that are in the network together, and for flows over parts that are slower than they should be.
 */
#ifndef FAB_TRACE_H
#define FAB_TRACE_H

#include "fab/engine_spec.h"
#include "fab/fabric.h"
#include "fab/status.h"
#include "fab/traffic.h"

#include <stdbool.h>
#include <stdint.h>

/** What is wanted of a phase; the caller owns every array. */
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

/** A fabric and engines, ready to route. Readable from many threads. */
typedef struct fab_tracer fab_tracer;

fab_status fab_tracer_new(const fab_fabric *fabric, const fab_engine_spec *engines, size_t n_engines, fab_tracer **out,
                          fab_error *err) FAB_MUST_USE;
void fab_tracer_free(fab_tracer *tracer);

/** Name and options of an engine. Borrowed. */
const char *fab_tracer_label(const fab_tracer *tracer, size_t engine);
/** Whether another seed gives other routes. */
bool fab_tracer_is_seeded(const fab_tracer *tracer, size_t engine);

/**
 * Starts all flows of the phase at once and runs them as a fluid until the last one ends, sharing links max-min fairly
 * (see src/doc/adr/0028-rates-and-times.md).
 * @param[in] traffic  Whose phase it is, or one of those whose flows it holds.
 * @param[in] seed     Of the run, for an engine without one of its own.
 * @param[in] draw     0, 1, ...: added to it.
 * @retval FAB_EUNSUPPORTED  the phase has too many paths to be solved
 * Complexity: that of routing and solving the phase once.
 */
fab_status fab_tracer_run(const fab_tracer *tracer, size_t engine, const fab_traffic *traffic, const fab_phase *phase,
                          uint64_t seed, uint64_t draw, const fab_trace *trace, fab_error *err) FAB_MUST_USE;

#endif
