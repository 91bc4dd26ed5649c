/** From measured phases to the time of an iteration. */
#pragma once

#include "fab/result.h"

/** Whether `text` asked for a whole training job. */
bool fab_is_whole_training(const fab_traffic *traffic, const char *text);

/** Whether `text` asked for a whole training job, and the fabric's cost is known. */
bool fab_iterates(const fab_traffic *traffic, const fab_result *result, const char *text);

/** Whether phases of this name are in an iteration, and so may be under way beside others. */
bool fab_iterate_is_shared(const char *name);

/** What travels in phases of this name; FAB_TRAVEL_N: they are in no iteration. */
fab_travel fab_iterate_travel(const char *name);

/** Whether there are phases that may be under way beside each other. */
bool fab_iterate_shares(const fab_traffic *traffic);

/**
 * What phases that are under way together do to each other under an engine. A phase alone keeps a link busy for the
 * part bytes / (capacity * transfer_s) of its time. Its flows keep one pace, because a collective waits for its
 * slowest: phases together have the max-min fair paces that no link is too small for, at most 1, and take 1 / pace
 * times as long. Two that have a bottleneck in common both take largest sum of both parts over all links times as long,
 * 1 to 2: at least as long as the longer one, at most as long as one after the other. Phases of one kind (dp and edp)
 * follow each other: their bytes and times are added.
 * @param[in] bytes       Shape [n_phases][n_links]: of phases that are not in an iteration NULL.
 * @param[in] transfer_s  Shape [n_phases]: of the same draw.
 * Complexity: O(links * phases), and a solution for each set over the links that are too small for all phases.
 */
FAB_STATUS fab_iterate_paces(const fab_fabric *fabric, const fab_traffic *traffic, const double *const *bytes,
                             const double *transfer_s, fab_paces *out, fab_error *err);

/**
 * For how long the phases of an iteration keep links busy, by tier and direction; classes that the job does not use are
 * left out.
 * @param[in]  bytes  As for fab_iterate_paces().
 * @param[out] out    Shape [*out_n]; the caller's.
 * Complexity: O(links * phases).
 */
FAB_STATUS fab_iterate_link_use(const fab_fabric *fabric, const fab_traffic *traffic, const double *const *bytes,
                                fab_link_use **out, size_t *out_n, fab_error *err);

/**
 * One iteration under engine `engine` of the result's phases, with the mean times of their seeds.
 * @retval FAB_EUNSUPPORTED  a phase has no time, or the model's kernels are not modelled
 * @retval FAB_ENOSOLUTION   no microbatch fits
 */
FAB_STATUS fab_iterate(const fab_traffic *traffic, const fab_result *result, size_t engine, fab_iteration *out,
                       fab_error *err);

/** The part of a fabric that a job of `ranks` pays for: its GPUs of all that are no spares, 1 at most. */
double fab_share_ratio(const fab_fabric_result *fabric, uint64_t ranks);
/** Dollars: hours of its GPUs and of its part of the spare ones, and of the network's capital and energy. */
double fab_usd_per_s(const fab_fabric_result *fabric, uint64_t ranks, double gpu_hour_usd);

/**
 * The same with other times or another machine: to be compared with at_means_s.
 * @param[in] transfer_s  Shape [n_phases of the result], in place of its means; NULL: those.
 * @param[in] compute     NULL: fab_compute_default.
 * @param[in] chosen      Its microbatch and chunks: a job that runs keeps them. NULL: the fastest.
 */
FAB_STATUS fab_iterate_with(const fab_traffic *traffic, const fab_result *result, size_t engine,
                            const double *transfer_s, const fab_compute_model *compute, const fab_iteration *chosen,
                            fab_iteration *out, fab_error *err);

/**
 * What a transport of packets adds to the iteration `out`, which fab_iterate() filled: it is run again with the same
 * microbatch and chunks, at the fluid times of the phases. Fills fluid_time_s, transport_s and transport_ratio.
 * @param[in] nic_s  Of a step, that fluid does not count: taken from the latencies.
 * @param[in] paces  At the fluid times; NULL: nothing slows anything down.
 */
FAB_STATUS fab_iterate_transport(const fab_traffic *traffic, const fab_result *result, size_t engine, double nic_s,
                                 const fab_paces *paces, fab_iteration *out, fab_error *err);

/**
 * Runs the iteration of every seed with the microbatch and chunks of `out`, which fab_iterate() filled: a job is set up
 * before its seed is known. Times of `out` become means over the seeds, what follows from them follows from the mean,
 * and out->seeds is filled.
 * @param[in] transfer_s  Shape [n_seeds][n_phases of the result].
 * @param[in] paces       Shape [n_seeds]; NULL: nothing slows anything down.
 * Complexity: n_seeds schedules.
 */
FAB_STATUS fab_iterate_seeds(const fab_traffic *traffic, const fab_result *result, size_t engine,
                             const double *transfer_s, const fab_paces *paces, uint64_t n_seeds, fab_iteration *out,
                             fab_error *err);

/**
 * Fills the schedule of an iteration that fab_iterate() filled: of the mean times of the phases, with the power of the
 * job's GPUs, where it is known, and of its share of the network.
 * @retval FAB_EUNSUPPORTED  too many passes to keep
 */
FAB_STATUS fab_iterate_schedule(const fab_traffic *traffic, const fab_result *result, size_t engine,
                                fab_iteration *iteration, fab_error *err);

/**
 * Adds a phase of a training job to the times of an iteration, by its name.
 * @param[in]     in_network  Some of its flows leave their scale-up domain.
 * @param[in,out] times       All zero before the first phase.
 * @return whether it is in an iteration: what happens now and then (checkpoint, ingest) is not
 */
bool fab_iterate_add(const char *name, double transfer_s, double latency_s, bool in_network, fab_job_times *times);

/**
 * One iteration of a job with these times: how long it takes, and what was chosen.
 * @param[in] compute    NULL: fab_compute_default.
 * @param[in] chosen     Its microbatch and chunks; NULL: the fastest.
 * @param[in] max_bytes  Of memory for the schedule; 0: no limit.
 * Errors of fab_iteration_time().
 */
FAB_STATUS fab_iterate_times(const fab_traffic *traffic, const fab_job_times *times, const fab_compute_model *compute,
                             const fab_iteration *chosen, uint64_t max_bytes, fab_iteration *out, fab_error *err);
