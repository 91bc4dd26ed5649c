/** The parts of the text report. */
#pragma once

#include "fab/optimum.h"
#include "fab/explanation.h"
#include "fab/advice.h"
#include "fab/mix.h"
#include "text_markdown.h"

#define FAB_FULL_LOAD (1 + 1e-9) /**< a utilisation above this is a collision, as in the analysis */

/** Why a failure can make things faster. */
#define FAB_TEXT_RELIEF                                                                                                \
    "After a failure flows take other paths; where these collide less than the ones drawn before, that is luck of "    \
    "this draw and no gain: another --seed shows its noise."

/** What designs whose rails are apart have in common; nothing for others. `of` stands before it: "rail-only", "[2]". */
void fab_text_rail_only(fab_page *page, const fab_fabric_result *f, const char *of);

void fab_text_design(fab_page *page, const fab_fabric_result *fabric);
void fab_text_fabric(fab_page *page, const fab_fabric_result *fabric, bool has_graph);
/** Nothing where the design has no front-end. */
void fab_text_front_end(fab_page *page, const fab_fabric_result *fabric);
/** What every step of a fabric built in steps buys, moves and leaves unused; nothing without steps. */
void fab_text_growth(fab_page *page, const fab_result *result);
/** Nothing where the design has no floor. */
void fab_text_floor(fab_page *page, const fab_fabric_result *fabric);
void fab_text_cost(fab_page *page, const fab_fabric_result *fabric, const char *title);
/** Profile, convention and source of every price book in use; belongs behind the last fab_text_cost(). */
void fab_text_prices(fab_page *page, const fab_result *result);
/** What replicas do that are left, with or without failures.keep-batch. */
const char *fab_text_batch(bool keeps);
/** Of points with failures: the policy, and what another one would answer. */
void fab_text_policies(fab_page *page, const fab_sweep *sweep, size_t engine);
/** "to see it: fabriscope run ..."; nothing where there is no such command (fab_result.see). */
void fab_text_see(fab_page *page, const char *command, bool has_failures);
/** Winner, runners-up, fronts and why the others lost. */
void fab_text_optimum(fab_page *page, const fab_optimum *optimum, const fab_fabric_result *winner, const char *see);
struct fab_plans;
/** How a job is best run: plans of other sizes, and time against memory. */
void fab_text_plans(fab_page *page, const struct fab_plans *plans, const char *see);
/** The best of them, and why nothing is faster. */
void fab_text_plan_proof(fab_page *page, const struct fab_plans *plans);
/** Who contends for a link and why. */
void fab_text_explanation(fab_page *page, const fab_explanation *explanation);
/** What every change buys, and the best of them together. */
void fab_text_advice(fab_page *page, const fab_advice *advice);
/** Points of a sweep: what they are made of, what crosses their boundaries, times and fronts. */
void fab_text_sweep(fab_page *page, const fab_sweep *sweep, const char *see);
/** Plans and algorithms, where each point has its own. */
void fab_text_choices(fab_page *page, const fab_sweep *sweep);
/** Fewer servers, or another batch, on which points do more, told once for those that have the same; GPUs that idle. */
void fab_text_fewer_of_points(fab_page *page, const fab_sweep *sweep);
/** " With GPUs left idle ...", where these tokens cost less than those of the best; else empty. */
/** "[2]" of compared designs; "taper=2". */
const char *fab_text_named_point(fab_page *page, const fab_sweep *sweep, const fab_sweep_point *point);
const char *fab_text_tipped(fab_page *page, const fab_sweep *sweep);
/** " That is under these plans ..." where they were chosen by another setting than what is said; else empty. */
const char *fab_text_under_plans(const fab_sweep *sweep);
void fab_text_short_plans(fab_page *page, const fab_sweep *sweep);
/** A plan that beats the sizes that are given, at the first point. */
void fab_text_better(fab_page *page, const fab_sweep *sweep);

/** The first point that was built; whether all others that were are like it. */
const fab_sweep_point *fab_text_first_built(const fab_sweep *sweep);
bool fab_text_all_alike(const fab_sweep *sweep, bool (*alike)(const fab_sweep_point *p, const fab_sweep_point *first));

/** Compared designs: what comes of them under every engine, what the network has of it, and what differs. */
void fab_text_compare(fab_page *page, const fab_sweep *sweep);

/** Of it what is best under an engine, and by how much. */
void fab_text_best_design(fab_page *page, const fab_sweep *sweep, size_t engine);
/** What becomes of it where packets are sprayed, if that is another routing. */
void fab_text_sprayed(fab_page *page, const fab_sweep *sweep, size_t engine);
/** Of compared designs: what the network has of time and cost, which says how far they can lie apart. */
void fab_text_network_part(fab_page *page, const fab_sweep *sweep);

/** Compared designs under an engine: their cost by GPU hours, and of ownership. */
void fab_text_compare_cost(fab_page *page, const fab_sweep *sweep, size_t engine);
/** Of tapers that are varied or compared: how many servers share a leaf, and whether their groups straddle leaves. */
/** " (2.67 as built)" of a point whose tapers do not divide what is there; else empty. */
const char *fab_text_as_built(fab_page *page, const fab_sweep_point *point);
void fab_text_leaves_of_points(fab_page *page, const fab_sweep *sweep);
/** What failures leave at every point under an engine; only where the sweep has scenarios. */
void fab_text_failures_of_points(fab_page *page, const fab_sweep *sweep, size_t engine);
/** The best and the worst placement that were found; nothing of a sweep. */
void fab_text_placements(fab_page *page, const fab_sweep *sweep);
/** "2, 400Gb/s": the values of a point; and what is varied, for all. Long ones are cut. */
const char *fab_text_sweep_point(fab_page *page, const fab_sweep *sweep, const fab_sweep_point *point);
/** "leaf-spine up": links of a boundary in one direction. */
const char *fab_text_links(fab_page *page, fab_wiring wiring, uint32_t tier, bool up);
/** "ecmp with 1 queue pair": of a label what a reader has to know. */
const char *fab_text_routing(fab_page *page, const char *label);
/** Of which orders of the dimensions plans were searched: `plan` tries six. */
#define FAB_TWO_ORDERS "in two orders of ranks (where none is given: fabriscope plan tries others)"
#define FAB_ONE_ORDER  "in one order of ranks (where none is given fabriscope plan tries others)"

/** ", by one draw", ", over 8 seeds" (n > 0), ", by an estimate", or what holds of these. */
const char *fab_text_draws(fab_page *page, bool is_one_draw, uint64_t n_seeds, bool is_estimated);
/** How far times go beyond what hashes are estimated to make; nothing where none is. */
void fab_text_put_estimate(fab_page *page, double estimated_ratio);
const char *fab_text_sweep_paths(fab_page *page, const fab_sweep *sweep);
/** "fabric.taper.1" is "taper.1". */
const char *fab_text_short_path(const char *path);
/** A collective by all its algorithms at every point, under an engine. */
void fab_text_algorithms(fab_page *page, const fab_sweep *sweep, size_t engine);
/** What they come to, in a sentence for each engine, and what is replayed; `first`: a point that was built. */
void fab_text_sweep_answer(fab_page *page, const fab_sweep *sweep, const fab_sweep_point *first);
/** Seconds, or tokens per second of a job that trains or serves: of points with unlike batches only these compare. */
const char *fab_text_speed(fab_page *page, const fab_sweep_engine *engine);
/** Services that more requests reach than they serve, which no answer ranks; of other points nothing. */
void fab_text_overloaded(fab_page *page, const fab_sweep *sweep, size_t engine);
/** What points make of all jobs of a design with several, under an engine; of other designs nothing. */
void fab_text_all_jobs(fab_page *page, const fab_sweep *sweep, size_t engine);
/** Whether points pay unlike prices for an hour of a GPU, which then decide more than networks do. */
bool fab_text_unlike_hours(const fab_sweep *sweep);
/** Those prices, of which points and from where, and whether they turn the order; nothing where all pay the same. */
void fab_text_gpu_hours(fab_page *page, const fab_sweep *sweep);

/** Where points leave unlike parts of their GPUs idle: what the order is if the one job pays for all of them. */
void fab_text_idle(fab_page *page, const fab_sweep *sweep, size_t engine);
/** Two states side by side: the answer, why, and what it rests on. */
void fab_text_difference(fab_page *page, const struct fab_difference *difference);
/** Fabrics under a training and a ranking job, and which serves both best. */
void fab_text_mix(fab_page *page, const fab_mix *mix, const char *see);
struct fab_busbw;
/** What nccl-tests should print under each engine, beside what they printed. */
void fab_text_busbw(fab_page *page, const struct fab_busbw *busbw);
/** Published figures beside ours, source by source; of one source the commands too. */
void fab_text_validation(fab_page *page, const struct fab_published *published);
/** Those of the design and job that the report is about. */
void fab_text_published(fab_page *page, const struct fab_published *published, const fab_result *result);
/** What failure scenarios do to a job: how bad it is, and what has the highest impact. */
void fab_text_study(fab_page *page, const struct fab_study_summary *study);
/** Of it what is said first, in few sentences: how bad it is, and what has the highest impact. */
void fab_text_study_answer(fab_page *page, const struct fab_study_summary *study);
/** What is wrong with an installed fabric, worst first. */
void fab_text_audit(fab_page *page, const char *path, const struct fab_audit *audit);
struct fab_observed;
/** What counters say of a job: suspects, imbalance, deviations. */
void fab_text_observed(fab_page *page, const struct fab_observed *observed, const fab_fabric *fabric);
/** What was found in a file, and what is assumed. */
void fab_text_import(fab_page *page, const struct fab_imported *imported);
/** What jobs on one fabric do to each other. */
void fab_text_contention(fab_page *page, const struct fab_contention *contention);
/** What slower parts do to the phases. */
void fab_text_degradation(fab_page *page, const struct fab_degradation *degradation);
/** What has failed, where ranks go under every policy, and what the phases then offer to the network. */
void fab_text_failures(fab_page *page, const struct fab_failures *failures);
struct fab_traffic;
/** The phases of traffic that is only listed. */
void fab_text_traffic(fab_page *page, const struct fab_traffic *traffic);
void fab_text_comparison(fab_page *page, const fab_result *result);
void fab_text_phases(fab_page *page, const fab_result *result);
/** Seconds per iteration and what they are made of; nothing where no job was timed. */
void fab_text_iteration(fab_page *page, const fab_result *result);
/** Rates and time of a phase under an engine. */
void fab_text_times(fab_page *page, const fab_engine_result *engine, uint64_t flows);
void fab_text_engine(fab_page *page, const fab_phase_result *phase, const fab_engine_result *engine);
