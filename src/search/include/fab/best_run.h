/** Collectives by algorithm=best: every algorithm that is defined is replayed, and the fastest takes its place. */
#pragma once

#include "fab/plan_run.h"

/** Whether the pattern, or the first job where the traffic is a job's, asks for the best. */
bool fab_best_is_wanted(const fab_design *design, const char *traffic);

/**
 * Everything that the first job and the pattern leave open: the plan (fab_plan_choose(), with rings in place of
 * algorithms that are to be found), then those.
 * @param[in,out] design       That of `plan`, or a copy.
 * @param[out]    out_plans    as fab_plan_choose()
 * @param[out]    out_traffic  The text with the algorithm in place of `best`; the caller's. NULL: as it was.
 */
FAB_STATUS fab_choose_open(const fab_plan_request *plan, const char *traffic, fab_design *design, fab_plans **out_plans,
                           char **out_traffic, fab_error *err);

/** How some engines of a design run its job: alike. */
typedef struct fab_choice {
    fab_design *design;                /**< with these engines, and nothing left open; owned, as the next two */
    fab_plans *plans[FAB_MAX_ENGINES]; /**< under each of them; NULL where no plan was searched */
    char *traffic;                     /**< as from fab_choose_open() */
    size_t engine[FAB_MAX_ENGINES];    /**< of the given design: that of each */
    size_t n_engines;
} fab_choice;

void fab_choice_release(fab_choice *choice);

typedef struct fab_choice_list {
    fab_choice *at; /**< shape [n] */
    size_t n;
} fab_choice_list;

void fab_choice_list_release(fab_choice_list *choices);

/**
 * Chooses what is open for each engine by itself: under the plan of another it would be judged by what nobody would
 * run. Engines that so come to the same are in one choice.
 * @param[in]  n    Engines that choose; the others do as the first.
 * @param[out] out  One where nothing is open; release with fab_choice_list_release().
 * Complexity: n x fab_choose_open().
 */
FAB_STATUS fab_choose_each(const fab_plan_request *plan, const char *traffic, size_t n, fab_choice_list *out,
                           fab_error *err);
