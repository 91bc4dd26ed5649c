/* Parts of a sweep: what a point replays, and what is kept of its run. */
#pragma once

#include "fab/sweep_run.h"

/* `traffic.KEY`: a key of the pattern, and no value of the design. */
bool fab_sweep_is_of_traffic(const char *path);

/* The text of the traffic at `value`, shape [n_paths]; NULL: nothing of it is varied. */
fab_status fab_sweep_traffic(const fab_sweep_request *r, const fab_design *design, const char *const *value,
                             fab_str *out, fab_error *err);

/* Seeds that a point is replayed under. */
fab_status fab_sweep_seeds(const fab_sweep_request *request, const fab_context *context, uint64_t *out, fab_error *err);

/* Each fills a part of `out`, which the caller releases, after a failure too: figures of fabric, phases, algorithms and
 * engines, once the job is kept; the one engine of the same design, evaluated alone, behind the others; the job; all
 * jobs of several together; what failures leave of it. `is_asked`: the user gave a number of seeds, so that figures of
 * phases are distributions; else they are means. */
fab_status fab_sweep_keep(const fab_result *result, bool is_asked, size_t n_engines, fab_sweep_point *out,
                          fab_error *err);
fab_status fab_sweep_add_engine(const fab_sweep_point *found, fab_sweep_point *out, fab_error *err);
fab_status fab_sweep_keep_job(const fab_context *context, const fab_design *design, const fab_fabric_result *fabric,
                              fab_sweep_point *out, fab_error *err);
fab_status fab_sweep_keep_jobs(const fab_replay *replay, const fab_result *result, fab_sweep_point *out,
                               fab_error *err);
fab_status fab_sweep_keep_goodput(const fab_sweep_request *request, const fab_design *design, const char *traffic,
                                  fab_sweep_point *out, fab_error *err);

/** Times of unlike jobs say nothing about fabrics: compared designs run jobs of one kind, and those that name a model
 * the same. FAB_EINPUT, with the name of the design, where one does not. `first`: the design before it that has jobs.
 */
fab_status sweep_check_alike(const char *name, const fab_design *design, const fab_design *first,
                             fab_error *err) FAB_MUST_USE;
