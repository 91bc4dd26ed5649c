/** Fluid simulation: transfers that share links max-min fairly at every instant, until they are done. */
#pragma once

#include "fab/max_min.h"

/** Bytes that a simulation of this size takes, its solver's among them. */
double fab_fluid_bytes(const fab_sharing_size *size);

/** Who is told how far a simulation is. */
typedef struct fab_fluid_progress {
    void (*advance)(void *context, uint64_t n); /**< after each of n parts of about equal work */
    void *context;
} fab_fluid_progress;

/**
 * All flows start at 0 with these bits: 0 bits, and any over a route without a bottleneck, neither link nor limit, are
 * done at once. Where sizes are in proportion to the weights, rates never change before their flows end, and one
 * solution is all; else links are solved again whose flows an end changes, and all rates are checked 32 times on the
 * way. See src/doc/adr/0122-ends-of-unequal-flows.md.
 * @param[in]  bits          Shape [n_flows]: finite, not below 0.
 * @param[in]  progress      May be NULL.
 * @param[out] out_finish_s  Shape [n_flows]. Undefined after an error.
 * @retval FAB_EINPUT, FAB_EUNSUPPORTED, FAB_EINTERNAL  as fab_max_min_solve()
 * Complexity: measured, where flows contend everywhere: the square of the flows; 32,000 take seconds. Where an end
 * changes few others, about that of sorting them.
 * Memory: fab_fluid_bytes(): about 16 bytes per flow-link, 52 per flow, 140 per link.
 */
FAB_STATUS fab_fluid_finish(const fab_sharing *sharing, const double *bits, const fab_fluid_progress *progress,
                            double *out_finish_s, fab_error *err);

/** The last end of a simulation. */
typedef struct fab_last_end {
    bool is_known;
    double last_s; /**< when all are done */
    uint32_t flow; /**< of which the end and what comes after it are latest; the first of several */
    double flow_s; /**< its end */
} fab_last_end;

/**
 * The last end of fab_fluid_finish(), mostly found without its rates: bounds from shares say who cannot be the last.
 * Where they leave it open, is_known is false.
 * @param[in] solver   What it has solved last is this sharing: its flows by link are read.
 * @param[in] after_s  Shape [n_flows]: what comes after each end; NULL: nothing.
 * Complexity: two passes over the flow-links, and a run of the flows at the links that leave it open.
 * See src/doc/adr/0036-outcomes.md.
 */
FAB_STATUS fab_fluid_last(const fab_max_min *solver, const fab_sharing *sharing, const double *bits,
                          const double *after_s, fab_last_end *out, fab_error *err);
