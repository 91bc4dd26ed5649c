/** What the search for a plan asks of the network. */
#pragma once

#include "fab/least.h"
#include "fab/plan_run.h"
#include "fab/timed_phases.h"
#include "fab/verdict.h"

/** What is known of a plan, in order. A group is all plans that differ in chunks and sharing alone. */
typedef enum node_state {
    IS_GROUP,
    HAS_CHAIN,
    HAS_ENDS,
    HAS_SCHEDULE,
    HAS_RINGS,
    HAS_ALL_BUT_EXPERTS,
    HAS_ROUTES,
    HAS_LINKS
} node_state;

typedef struct plan_node {
    double bound_s;
    node_state state;
    uint32_t shape;
    size_t group; /**< its place among the groups */
    uint64_t n;   /**< plans */
    fab_job_plan plan;
    double memory_bytes;
    bool may_be_best; /**< as far as bounds say, when all others are known: it is simulated */
} plan_node;

/** What a job may use: all its NICs together, and the scale-up link of a GPU. */
typedef struct plan_rates {
    double nics_bps, domain_bps;
} plan_rates;

void plan_rates_find(const fab_fabric *fabric, fab_job_space *space, plan_rates *out);

/** Keeps the groups of the first search. */
FAB_STATUS plan_keep_groups(fab_plan_kept *kept, const plan_rates *rates, const plan_node *group, size_t n,
                            fab_error *err);

/** @retval FAB_EINTERNAL  what is kept is of other NICs or domains */
FAB_STATUS plan_kept_check(const fab_plan_kept *kept, const plan_rates *rates, fab_error *err);

/** Times that the phases of a plan of one chunk, which was taken, are not below; see plan_floor.c. */
void plan_floor(const plan_rates *rates, fab_job_space *space, const fab_job_spec *job, uint64_t microbatches,
                fab_job_times *out);

/** A fabric under an engine, and phases of plans on it. */
typedef struct plan_network {
    const fab_plan_request *request;
    fab_job_space *space;
    fab_context *base;
    fab_design *design;         /**< scratch: with the plan that is looked at */
    fab_fabric_result *about;   /**< scratch */
    struct plan_phases *phases; /**< cache: by sizes, sharing and what is repeated */
    size_t n_phases, capacity;
    fab_timed_memo memo[FAB_VERDICT_SEEDS]; /**< of each draw */
    fab_least_memo least;
    plan_rates rates;
    bool paths_are_fixed; /**< they depend on no other flow */
    bool is_too_large;    /**< for the memory that a run may take */
    uint64_t n_routed;
    uint64_t n_rings;        /**< that were routed without their exchanges of experts */
    uint64_t routed;         /**< GPUs times plans, and what more flows of experts are worth */
    uint64_t n_steps;        /**< of the schedules that were run for bounds */
    uint32_t most_simulated; /**< paths of a phase, under the first seed; 0: any number */
} plan_network;

/** @param[in] space  Borrowed. */
FAB_STATUS plan_network_open(const fab_plan_request *request, fab_job_space *space, plan_network *out, fab_error *err);
void plan_network_close(plan_network *network);

/** How well the times of phases are known. */
typedef enum plan_depth {
    PLAN_FLOOR, /**< in closed form */
    PLAN_ENDS,  /**< what NICs and leaves need */
    PLAN_RINGS, /**< what the paths need; exchanges of experts, which have by far the most flows, in closed form */
    PLAN_LINKS, /**< what the paths need */
    PLAN_DEPTHS
} plan_depth;

/**
 * A lower bound of a plan: of its schedule, or of the way through its stages.
 * @param[in,out] times  Of another plan with the same sizes, zero and repeated exchanges.
 */
FAB_STATUS plan_bound(plan_network *network, const fab_job_plan *plan, plan_depth depth, fab_iteration_bounds how,
                      double *out_s, fab_error *err);

/** Whether exchanges of experts are routed apart. */
bool plan_has_parts(const plan_network *network, uint64_t ep);

/** How well the phases of its sizes are known, for this plan or another. */
plan_depth plan_known(const plan_network *network, const fab_job_plan *plan);

/**
 * Evaluates a plan as a run of the design does.
 * @param[in]  draw  Of the first seed 0, and below FAB_VERDICT_SEEDS.
 * @param[out] note  Of `size` bytes: why it has no time; empty where it has one.
 * @retval FAB_ETIME  more than most_simulated paths have to be simulated
 */
FAB_STATUS plan_evaluate(plan_network *network, const fab_job_plan *plan, uint64_t draw, fab_iteration *out, char *note,
                         size_t size, fab_error *err);

/** Of a design without a job the default one. */
FAB_STATUS plan_give_job(fab_design *design, fab_error *err);

/** Whether more than the usual order is searched. */
bool plan_tries_orders(const fab_plan_request *request);

/** fab_plan_floor() of the job's own order alone. */
FAB_STATUS plan_floor_in_order(const fab_plan_request *request, fab_plans **out, fab_error *err);

/** The request for the job of `design`, that of the request or a copy, in this order alone. */
fab_plan_request plan_in_order(const fab_plan_request *request, size_t order, fab_design *design);

/**
 * Searches the orders after the first, of so many, for plans that are faster than its best by more than
 * FAB_VERDICT_LITTLE, by means where paths are drawn. `usual` counts their plans.
 * @param[out] out  All that the request wants under the fastest order, of two with those of `usual` behind them; NULL:
 *                  none is faster.
 */
FAB_STATUS plan_orders(const fab_plan_request *request, size_t n_orders, fab_plans *usual, fab_plans **out,
                       fab_error *err);

/**
 * Where the engine draws paths: evaluates the first of the plans that are listed, and those that its draws do not tell
 * from it, over FAB_VERDICT_SEEDS, and puts the one with the least mean first.
 */
FAB_STATUS plan_draw_leaders(plan_network *network, fab_plans *plans, fab_error *err);

/** Least bound first; zero-initialised, `node` is the owner's. */
typedef struct plan_heap {
    plan_node *node;
    size_t n, capacity;
} plan_heap;

FAB_STATUS plan_heap_push(plan_heap *heap, const plan_node *added, fab_error *err);

/** The first of n > 0. */
plan_node plan_heap_pop(plan_heap *heap);

/** A search under way. */
typedef struct plan_search {
    const fab_plan_request *request;
    fab_job_space *space;
    plan_network network;
    plan_node *groups; /* in the order of the space */
    size_t n_groups, group_capacity;
    plan_heap heap;
    fab_planned *known; /* evaluated; times of INFINITY: cannot be timed */
    size_t n_known, known_capacity;
    double *best_s; /* [shape]; INFINITY: nothing evaluated */
    size_t *best;   /* [shape]: of known */
    double *order;  /* scratch: [shape] */
    size_t n_shapes, n_best;
    double below_s;       /* of the request */
    bool is_floor_only;   /* bounds by NICs and scale-up links alone */
    double most_bytes;    /* of memory; a plan has no more */
    double limit_s;       /* sizes whose bound is not below have no place in the list */
    fab_job_memory least; /* of all plans that were looked at, with the next */
    fab_job_plan leanest;
    fab_plans *found;
    plan_node *later; /* what a short search leaves out */
    size_t n_later, later_capacity;
    plan_node *open;                      /* that have phases of which only a simulation of many paths tells the time */
    size_t n_open, n_left, open_capacity; /* n_left: that were left out */
    double drawn_s;                       /* under the first seed, what means may make the best; 0: not known */
    bool is_front;
    bool is_short; /* so far, though nobody limits it */
} plan_search;

/** Plans of a group, each given to `visit`. */
typedef fab_status plan_visit(plan_search *s, const plan_node *group, const fab_job_plan *plan, fab_error *err);
FAB_STATUS plan_each(plan_search *s, const plan_node *group, plan_visit *visit, fab_error *err);

/** The groups of a search before, or for the next one. */
FAB_STATUS plan_share_groups(plan_search *s, fab_plan_kept *kept, fab_error *err);
