/** The fastest way to run a job on a fabric under an engine, by bounds over all ways that there are. */
#pragma once

#include "fab/design.h"
#include "fab/plans.h"

/** GPUs times plans that are routed in a search that nobody asked for, and before one that somebody did: one or two
 * seconds of one thread. */
#define FAB_PLAN_SHORT 200000

#define FAB_PLAN_SIMULATED 32768 /**< paths: some seconds, of twice as many half a minute */

/** What searches of one job on fabrics with the same NICs, domains and servers keep for each other: bounds that know
 * no switch. Zero-initialised; release with fab_plan_kept_release(). */
typedef struct fab_plan_kept {
    struct plan_node *group, *plan; /**< plans of a group follow each other once they were looked at */
    size_t *first, *count;          /**< shape [n_groups]; the count is 0 until then */
    size_t n_groups, n, capacity;
    double nics_bps, domain_bps; /**< of the first search */
    fab_job_memory least;        /**< of all plans that were looked at, with the next */
    fab_job_plan leanest;
} fab_plan_kept;

void fab_plan_kept_release(fab_plan_kept *kept);

typedef struct fab_plan_request {
    const fab_design *design; /**< of its first job, or of the default one, what is open is chosen */
    const fab_fabric *fabric; /**< of the design */
    uint64_t seed;
    size_t n_threads;
    bool is_of_first;         /**< of several jobs fab_plan_choose() plans the first alone; others stay as they are */
    const fab_job_spec *like; /**< fab_plan_choose() takes its plan for the first job, where one was chosen for as many
                                 GPUs; NULL: none */
    size_t n_best;            /**< plans of different sizes that are listed; 0 counts as 1 */
    size_t n_orders;          /**< of fab_rank_orders that are searched where nobody said one; 0 counts as 1 */
    bool wants_front;         /**< time against memory, by the first seed */
    bool draws_leaders;       /**< where paths are drawn, the first of the list goes by means over FAB_VERDICT_SEEDS */
    uint64_t most_routed; /**< GPUs times plans that are routed; then the search ends without a proof; 0: no limit. Of
                             fab_plan_choose() where nobody asked for a plan; 0: what takes a second */
    uint32_t most_simulated; /**< paths of a phase, of a plan that bounds leave no more than a place behind the best; 0:
                                FAB_PLAN_SIMULATED. One of more is not in the list, which says so */
    double simulated_below_s;             /**< none of more is simulated whose bound is not below; 0: as below_s */
    bool (*is_late)(const void *context); /**< once true, the search ends with what it has, at least that of a run that
                                             chooses the plan itself; or NULL */
    const void *late_context;
    double below_s; /**< only plans that take less are looked for; 0: all. There may be none then */
    void (*progress)(void *context, double done, size_t total); /**< of what is bounded so far; may be NULL */
    void *progress_context;
    fab_plan_kept *kept; /**< of each order; NULL: nothing is */
} fab_plan_request;

/** Whether traffic is that of jobs of which one's plan is to be found: it says auto, it says no size, or it is the
 * default one. */
bool fab_plan_is_wanted(const fab_design *design, const char *traffic);

/**
 * Searches the space of fab_job_space_new() under the first engine of the design and the seed.
 *
 * Plans are taken by the least bound of their time; each time one is taken its bound is made tighter, and at last it is
 * evaluated, as a run of the design with its keys is. The bounds, in order: the work of the busiest stage; the way of a
 * microbatch through all stages; the same with phases that take no longer than their NICs and leaves do; the schedule
 * of that; and, under engines whose paths depend on no other flow, with phases that take as long as the fullest link of
 * their paths.
 * @param[out] out  Written on success only; free with fab_plans_free().
 * @retval FAB_ENOSOLUTION  no plan fits its GPUs: the message has the one that needs least
 * @retval FAB_EUNSUPPORTED the job has no iteration time; of fab_job_space_new()
 * @retval FAB_EINTERNAL    a plan is faster than its bound
 * The same for any number of threads.
 */
FAB_STATUS fab_plan_search(const fab_plan_request *request, fab_plans **out, fab_error *err);

/** The same where a refusal (fab_is_refusal()) is no error: nothing is written. */
FAB_STATUS fab_plan_try(const fab_plan_request *request, fab_plans **out, fab_error *err);

/**
 * Beside what the search found: a plan that is faster in the memory that memory-headroom keeps free (`tight`), and
 * where the job takes all servers because nobody said otherwise: on up to four servers fewer, where a prime factor of
 * its GPUs is in no usual size on up to three smaller numbers, and with the batch that gains there, the one with the
 * most tokens per second (`fewer`), if it is more than a hundredth better, and than seeds leave open. All servers with
 * that batch count a twentieth more.
 * @param[in,out] plans  What the search found for all.
 */
FAB_STATUS fab_plan_beside(const fab_plan_request *request, fab_plans *plans, fab_error *err);

/** Writes keys and advice of a plan on fewer servers, or of another batch, beside the job on so many GPUs with that
 * batch. `is_drawn`: paths are drawn. */
void fab_fewer_advise(fab_fewer *io, uint64_t gpus, uint64_t batch, bool is_drawn);

/**
 * What no plan of the space is below on any fabric with the NICs and the scale-up domains of this one: lower_bound_s of
 * `out`, which lists no plans. The least schedule with phases that take no longer than their NICs and scale-up links
 * do. Errors of fab_plan_search().
 */
FAB_STATUS fab_plan_floor(const fab_plan_request *request, fab_plans **out, fab_error *err);

/**
 * Searches two orders of ranks, and writes the best plan into the design's first job. A design without one has the
 * default job then: the model of its size, or the next smaller one that fits. Where nobody asked for a plan, the search
 * ends at most_routed, and a job without iteration times keeps what the rules of its keys give.
 *
 * Each of several jobs has the plan that it would have if it were alone, on the servers that it has beside the others;
 * those that fab_jobs_alike() finds alike have that of their first.
 * @param[in,out] design  That of the request, or a copy.
 * @param[out]    out     Of the first job. NULL: not wanted. NULL is written where there is no plan.
 * Errors of fab_plan_search(), of several jobs with the name of the one that they are of, and of fab_jobs_place().
 */
FAB_STATUS fab_plan_choose(const fab_plan_request *request, fab_design *design, fab_plans **out, fab_error *err);

bool fab_plan_is_same(const fab_job_plan *a, const fab_job_plan *b);

/** Plans, each once. Zero-initialised; release with fab_plan_list_release(). */
typedef struct fab_plan_list {
    fab_job_plan *plan;
    size_t n, capacity;
} fab_plan_list;

void fab_plan_list_release(fab_plan_list *list);

/** @param[out] is_new  Whether it was not there; may be NULL. */
FAB_STATUS fab_plan_list_add(fab_plan_list *list, const fab_job_plan *plan, bool *is_new, fab_error *err);

/**
 * Writes a plan that was found elsewhere into a design's first job, or its default one, as fab_plan_choose() does.
 * @param[in]  design    Its job has a plan that is open.
 * @param[in]  model     Of a job that names none.
 * @param[out] planned   The design under the plan.
 * @param[out] out_fits  Whether the space of the job has the plan, and a GPU the memory; else the plan stays open.
 */
FAB_STATUS fab_plan_set(const fab_design *design, const fab_fabric *fabric, const fab_job_plan *plan, const char *model,
                        fab_design *planned, bool *out_fits, fab_error *err);

/** The same, and the times of the plan, by the first seed within below_s; NULL: it does not fit, or takes no less. */
FAB_STATUS fab_plan_time(const fab_plan_request *request, const fab_job_plan *plan, const char *model,
                         fab_design *planned, fab_plans **out, fab_error *err);

/**
 * fab_plan_choose() for a design whose fabric is still to be built, of its first job; of a design without such traffic
 * nothing is chosen. One plan is for all engines: FAB_EUNSUPPORTED, with their plans, where the fastest of one is not
 * that of another.
 * @param[in] like  NULL, or a job whose plan is taken where it has as many GPUs: two states are compared under one
 * plan.
 */
FAB_STATUS fab_plan_settle(fab_design *design, const char *traffic, const fab_job_spec *like, uint64_t seed,
                           size_t n_threads, fab_error *err);

/**
 * Looks for a plan of a training job that takes less than time_s by more than FAB_VERDICT_PLAN, whatever sizes the job
 * has: with the same batch, under one engine, with draws_leaders, in the space that plan=auto opens, of two orders as
 * fab_plan_choose(). It may route less than that may. Of several jobs, of one whose plan was chosen, and under other
 * transports than fluid none is looked for.
 * @param[in]  request  Design, fabric, seed and threads.
 * @param[in]  job      The design's job, resolved.
 * @param[in]  engine   Index of the engine.
 * @param[out] out      Written where there is one.
 */
FAB_STATUS fab_plan_beat(const fab_plan_request *request, const fab_job_spec *job, size_t engine, double time_s,
                         fab_better *out, fab_error *err);
