/** Max-min fair rates of the flows of a phase, and how long its bytes take: see src/doc/adr/0028-rates-and-times.md. */
#pragma once

#include "measure.h"

#include "fab/fluid.h"
#include "fab/lossless.h"
#include "fab/trace.h"

/** Of more paths packets get the memory that their rates took. */
#define FAB_MANY_PATHS 100000

/** What packets of a phase came to. */
typedef struct fab_sent_phase {
    uint64_t hash[2]; /**< of all that it depends on; both 0: nothing */
    double *finish_s; /**< shape [n_paths] */
    double *paused_s; /**< shape [n_links]; NULL without a detail */
    double fluid_s, deadlocks;
    fab_pauses pauses;
} fab_sent_phase;

/** Loads of a hash that are estimated unless packets are sent, in measure_hashed.c: its flows are more than are walked.
 */
bool fab_is_estimated(const fab_router *router, const fab_phase *phase);

/**
 * Turns figures of what a hash is expected to put on every link into those of what it puts there.
 * @param[in] use, bytes  Shape [n_links]: under an even split.
 */
FAB_STATUS fab_estimate_hash(const fab_engine_run *run, const fab_dag *dag, const double *use, const double *bytes,
                             fab_figures *out, fab_error *err);

/** By what a phase of more flows than have their rates found may end after its fullest link: 1 where flows are equal.
 */
double fab_latest_end(const fab_phase *phase);

/** Of a collision factor what the design does not cause. */
double fab_hash_factor(double factor, double taper_factor);

/** A problem for the solver, and its memory. */
typedef struct fab_rate_scratch {
    fab_max_min *solver;
    uint64_t solved[3]; /**< what rate and bottleneck are of: two hashes of it, and the flows; 0: nothing */
    double ends_bits;   /**< of the first flow when finish_s was found of it; 0: it was not */
    fab_last_end last;  /**< known: finish_s may be of nothing */
    double *capacity;   /**< shape [n_links] */
    double *weight, *limit, *bits, *rate, *finish_s, *flow_limit;
    double *after_s; /**< of the solver's flows */
    uint32_t *bottleneck;
    size_t weight_capacity, limit_capacity, bits_capacity, rate_capacity, finish_capacity, flow_limit_capacity,
        bottleneck_capacity, after_capacity;
    uint64_t *first; /**< of flows under a split; the next two alike */
    uint32_t *link;
    double *share;
    size_t first_capacity, link_capacity, share_capacity;
    fab_sent_phase sent; /**< the last one that repeats */
} fab_rate_scratch;

/** Two hashes of more bytes: equal ones are of the same problem. */
void fab_hash_words(const void *data, size_t bytes, uint64_t hash[2]);

void fab_rate_scratch_free(fab_rate_scratch *scratch);

/** Fills min_rate, mean_rate and transfer_s of a draw whose routes are kept whole; what is not known is NAN. With a
 * detail the scratch has the latencies of the flows. */
FAB_STATUS fab_rate_paths(const fab_engine_run *run, const fab_routes *routes, const double *volume,
                          const double *bytes, fab_figures *out, fab_error *err);
/** Whether queues are lossless, so that every flow needs its paths. NULL: they are not. */
bool fab_is_lossless(const fab_transport_spec *transport);
/** Whether an engine's packets can be followed through such queues. @retval FAB_EUNSUPPORTED  not: it says why */
FAB_STATUS fab_check_lossless(const fab_router *router, const fab_transport_spec *transport, fab_error *err);
/** What senders follow. */
typedef struct fab_senders {
    fab_dcqcn dcqcn;
    fab_spray spray;
} fab_senders;
/** @param[out] senders  The result refers to it where senders follow anything. */
fab_lossless fab_lossless_of(const fab_transport_spec *transport, fab_senders *senders);
/** Finishing times of packets in place of those of the fluid; fills fluid_s, and detail->pauses. */
FAB_STATUS fab_rate_lossless(const fab_engine_run *run, const fab_routes *routes, const fab_sharing *sharing,
                             double least_s, fab_figures *out, fab_error *err);
/** What flows have a priority by. */
typedef struct fab_flow_groups {
    const fab_phase *phase;
    const uint32_t *job; /**< shape [n_flows]; NULL: all are of one */
    bool reorders;       /**< switches choose a path for every packet */
} fab_flow_groups;
/**
 * The same of flows over links alone.
 * @param[in]     groups   Of the flows that fluid->sprayed has the paths of.
 * @param[in]     fluid    Its latencies are those of the fabric, and not looked at.
 * @param[in]     least_s  The fullest link needs that long.
 * @param[in]     fluid_s  Shape [n_flows]: when the fluid ends.
 * @param[in,out] out      finish_s: of packets, INFINITY of what never arrives; of the fluid before where none leaves.
 */
FAB_STATUS fab_finish_lossless(const fab_fabric *fabric, const fab_transport_spec *transport,
                               const fab_flow_groups *groups, const fab_lossless_phase *fluid, const double *fluid_s,
                               double least_s, fab_lossless_result *out, fab_error *err);
/** The same under a split. `bytes`: shape [n_links], all that the links carry. */
FAB_STATUS fab_rate_split(const fab_engine_run *run, const fab_split *split, const double *bytes, fab_figures *out,
                          fab_error *err);
/** The same of what is too large to be solved: flows of equal bytes need as long as the fullest link, others may need
 * more, by fab_latest_end() at most. */
FAB_STATUS fab_rate_loads(const fab_engine_run *run, const double *bytes, fab_figures *out, fab_error *err);

/** The same of a run with last_alone, where that is when the last flow is done; else *out_known is false. */
FAB_STATUS fab_rate_last(const fab_engine_run *run, const double *bytes, fab_figures *out, bool *out_known,
                         fab_error *err);

/** Empties what a trace wants of a phase. */
void fab_trace_clear(const fab_trace *trace, const fab_fabric *fabric, const fab_phase *phase);

/** Fills run->trace from finishing times that were just found (trace.c). */
FAB_STATUS fab_trace_paths(const fab_engine_run *run, const fab_routes *routes, const double *volume, fab_error *err);
FAB_STATUS fab_trace_split(const fab_engine_run *run, const fab_split *split, fab_error *err);

/** Fills least_s and hosts_s: bytes over capacity of the links that no switch chooses, and of all fabric links of a
 * leaf together; its fabric, next hops and demand are there. */
FAB_STATUS fab_least_time(fab_prepared_phase *prepared, fab_error *err);
