/**
 * @file optimize_internal.h
 * Structural choices, the switch patterns inside each, and the integer program over them.
 *
 * A pattern is one way to use the switches of one tier, given the pattern of the tier below: so many cables down, so
 * many up, so many switches. Patterns form a tree: those of the leaf tier are its roots, and a path down to a pattern
 * of the top tier is a design.
 */
#ifndef OPTIMIZE_INTERNAL_H
#define OPTIMIZE_INTERNAL_H

#include "fab/catalog.h"
#include "fab/optimize.h"
#include "fab/topologies.h"

#define NO_PATTERN UINT32_MAX

#define MAX_FRONT 256 /* points of a front; one that long is called incomplete */

/** Switch of one tier. */
typedef struct tier_option {
    const fab_catalog_switch *model;
    uint64_t breakout;    /**< below */
    uint64_t breakout_up; /**< above: chosen to fit the tier above */
} tier_option;

typedef struct pattern {
    uint32_t tier;   /**< from 0 = leaf */
    uint32_t parent; /**< pattern of the tier below, NO_PATTERN for the leaf tier */
    double taper;    /**< asked; 1 in the top tier */
    double built_taper;
    fab_tree_tier shape;
    uint64_t switches, cables_below, cables_above;
    double usd, power_w; /**< what this tier adds; the top tier adds the NICs, and what is not a sum over tiers */
    /* of the path from the leaf tier to here */
    double path_usd, path_w, path_taper;
    double bisection_ratio; /**< top tier only */
} pattern;

typedef enum verdict {
    VERDICT_OPEN,        /**< not solved: its bound did not matter */
    VERDICT_SOLVED,      /**< best design found */
    VERDICT_LIMIT,       /**< cannot keep the limits */
    VERDICT_UNBUILDABLE, /**< no patterns */
    VERDICT_UNSEEN,      /**< the time limit struck before its patterns were made */
} verdict;

/** A structural choice. */
typedef struct structure {
    const char *family;
    uint32_t n_tiers;
    uint64_t planes, domain;
    double nic_bps;
    tier_option tier[FAB_MAX_TIERS];
    pattern *patterns;
    size_t n_patterns, capacity;
    verdict verdict;
    uint32_t best; /**< top pattern, where solved */
    double bound_usd;
    char reason[224];
} structure;

/** The whole search. */
typedef struct search {
    const fab_optimize_request *request;
    fab_limits limits;
    structure *structures;
    size_t n_structures, capacity;
    uint32_t *order; /**< scratch: structures by bound */
    double *bound;   /**< scratch: by structure */
    uint64_t n_programs;
    double deadline_s;             /**< of the monotonic clock; INFINITY = none */
    double enumeration_deadline_s; /**< leaves time to solve what was enumerated until then */
    bool timed_out;
} search;

/* --- optimize_structures.c ---------------------------------------------------------------------------------------- */

/** Fills search->structures with all choices and their patterns. */
fab_status optimize_enumerate(search *s, fab_error *err) FAB_MUST_USE;

/** The specification of a choice, every taper 1. FAB_EINPUT where GPUs, servers and domains do not fit. */
fab_status optimize_base_spec(const search *s, const structure *structure, fab_fabric_spec *out,
                              fab_error *err) FAB_MUST_USE;

/** Tapers of the path that ends in `top`. Shape [FAB_MAX_TIERS]. */
void optimize_path_tapers(const structure *structure, uint32_t top, double *asked, double *built);

/** "64x800G*2 / 64x800G". */
void optimize_switch_text(const structure *structure, char *out, size_t size);

/** "64x400G holds 2,048 GPUs in 2 tiers; needs 3 tiers", into structure->reason. */
fab_status optimize_explain_unbuildable(const search *s, structure *structure, const fab_error *why,
                                        fab_error *err) FAB_MUST_USE;

/* --- optimize_program.c ------------------------------------------------------------------------------------------- */

typedef enum goal_kind { GOAL_COST, GOAL_POWER, GOAL_BISECTION, GOAL_TAPER } goal_kind;

/** True when the path that ends in `top` keeps the limits. */
bool optimize_keeps(const pattern *top, const fab_limits *limits);

/** The monotonic clock. */
double optimize_now_s(void);

/** What the goal is about, of the path that ends in `top`; smaller is better (bisection: negated). */
double optimize_value(const pattern *top, goal_kind goal);

/**
 * Best path of a choice under the limits, by an integer program.
 * @param[out] out_top  NO_PATTERN when there is none.
 */
fab_status optimize_solve(search *s, const structure *structure, const fab_limits *limits, goal_kind goal,
                          uint32_t *out_top, fab_error *err) FAB_MUST_USE;

/* --- optimize_search.c -------------------------------------------------------------------------------------------- */

typedef struct found {
    uint32_t structure, top; /**< NO_PATTERN: nothing */
} found;

/** Best design of all choices. Stops early once no bound can beat it. */
fab_status optimize_best(search *s, const fab_limits *limits, goal_kind goal, found *out, fab_error *err) FAB_MUST_USE;

/** Solves every choice that may be among the best `n` by cost; sets verdicts and reasons. */
fab_status optimize_rank(search *s, size_t n, fab_error *err) FAB_MUST_USE;

/** FAB_ENOSOLUTION with what can be reached. */
fab_status optimize_explain_infeasible(search *s, fab_error *err) FAB_MUST_USE;

/** Designs none of which is beaten in cost and in the other aim (GOAL_POWER or GOAL_BISECTION). Cheapest first. */
fab_status optimize_front(search *s, goal_kind other, found **out, size_t *out_n, fab_error *err) FAB_MUST_USE;

static inline const pattern *optimize_pattern(const search *s, found f) {
    return &s->structures[f.structure].patterns[f.top];
}

#endif
