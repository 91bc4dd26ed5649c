/* Parts of a sweep: what a point replays, and what is kept of its run. */
#pragma once

#include "fab/plan_run.h"
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
 * jobs of several together; what failures leave of it, unless with them it takes `to_beat_s` or longer. `is_asked`: the
 * user gave a number of seeds, so that figures of phases are distributions; else they are means. */
fab_status fab_sweep_keep(const fab_result *result, bool is_asked, size_t n_engines, fab_sweep_point *out,
                          fab_error *err);
fab_status fab_sweep_add_engine(const fab_sweep_point *found, fab_sweep_point *out, fab_error *err);
fab_status fab_sweep_keep_job(const fab_context *context, const fab_design *design, const fab_fabric_result *fabric,
                              fab_sweep_point *out, fab_error *err);
fab_status fab_sweep_keep_jobs(const fab_replay *replay, const fab_result *result, fab_sweep_point *out,
                               fab_error *err);
/** Who costs least where every point does as its `fewer` says. */
void sweep_judge_tips(fab_sweep *sweep);

fab_status fab_sweep_keep_goodput(const fab_sweep_request *request, const fab_design *design, const char *traffic,
                                  double to_beat_s, fab_sweep_point *out, fab_error *err);

/** Times of unlike jobs say nothing about fabrics: compared designs run jobs of one kind, and those that name a model
 * the same. FAB_EINPUT, with the name of the design, where one does not. `first`: the design before it that has jobs.
 */
FAB_STATUS sweep_check_alike(const char *name, const fab_design *design, const fab_design *first, fab_error *err);

/* Where the sweep stands, for a replay that knows of its own items only. */
typedef struct point_progress {
    const fab_sweep_request *request;
    size_t before, n_points;
    size_t engine, n_engines; /* of those that are evaluated one after the other */
    double tries;             /* part of all that tries of others' plans will take */
    double begin;             /* part of the point that its plan took; what follows is the rest */
} point_progress;

/* A point under one engine, or under all where nothing is open. */
typedef struct sweep_part {
    fab_sweep_point point;
    fab_plan_list tried;       /* plans that were looked at; none: its plan is no choice */
    char model[FAB_NAME_SIZE]; /* of the job */
} sweep_part;

/* A point under each engine, in its order. Zero-initialised; sweep_parts_release() frees it. */
typedef struct sweep_parts {
    sweep_part *part;
    size_t n;
} sweep_parts;

void sweep_parts_release(sweep_parts *parts);

/* Evaluates a design as a point. `value`: of each path; NULL: none is varied. The first leaves its engines apart. */
FAB_STATUS sweep_evaluate_parts(const fab_sweep_request *request, const fab_design *design, const char *const *value,
                                point_progress *progress, sweep_parts *out, fab_error *err);
FAB_STATUS sweep_evaluate(const fab_sweep_request *request, const fab_design *design, const char *const *value,
                          point_progress *progress, fab_sweep_point *out, fab_error *err);

/* Judges those of the plans that other points run and this one has not tried, with failures and where its search was
 * short; the best stays. `out_untried`: grows by the plans that there was no time for. */
FAB_STATUS sweep_try_others(const fab_sweep_request *request, const fab_design *design, const char *const *value,
                            const fab_plan_list *plans, sweep_parts *parts, size_t *out_untried, fab_error *err);

/* Replays the job under its first engine on the servers of a tip, or with its batch: what failures leave there, where
 * they are asked for. A part without a tip has it then, where it gains more than a hundredth, and than seeds leave
 * open.
 */
FAB_STATUS sweep_try_fewer(const fab_sweep_request *request, const fab_design *design, const char *const *value,
                           const fab_fewer *tip, sweep_part *part, fab_error *err);

/* What engines whose ranks stand in order take with placement=random, under the plans of the parts: random_s. */
FAB_STATUS sweep_evaluate_random(const fab_sweep_request *request, const fab_design *design, const char *const *value,
                                 sweep_parts *parts, fab_error *err);

/* The point of all engines; the parts are empty then. */
FAB_STATUS sweep_join_parts(sweep_parts *parts, fab_sweep_point *out, fab_error *err);
