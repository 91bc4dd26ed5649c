/** Structural choices and, inside each, the candidates: what its tapers make of it. */
#pragma once

#include "fab/catalog.h"
#include "fab/optimize.h"
#include "fab/topologies.h"

#define MAX_FRONT 256 /* points of a front; one that long is called incomplete */

/** Switch of one tier. */
typedef struct tier_option {
    const fab_catalog_switch *model;
    uint64_t breakout;    /**< below */
    uint64_t breakout_up; /**< above: chosen to fit the tier above */
} tier_option;

/** What limits and fronts are about. */
typedef enum goal { GOAL_TAPER, GOAL_BISECTION, GOAL_POWER, GOAL_COST, N_GOALS } goal;

/** A choice with a taper at every boundary: one fabric. */
typedef struct candidate {
    double asked[FAB_MAX_TIERS], built[FAB_MAX_TIERS]; /**< tapers; 1 and 0 from the top tier on */
    uint64_t n_switches, n_cables;
    uint64_t n_leaves, n_leaf_cables; /**< upwards */
    double value[N_GOALS];            /**< smaller is better: the bisection is negated. bit/s over bit/s, W, USD */
    double owned_usd;                 /**< by tokens: cost of ownership */
    double token_usd; /**< by tokens: lower bound of what 1e9 of them cost, or that; INFINITY: refused */
    bool is_replayed; /**< it is that */
} candidate;

/** What choices with the same servers and NICs begin with, or why there is none. */
typedef struct spec_base {
    fab_fabric_spec spec;
    fab_status status;
    fab_error why;
} spec_base;

/** A structural choice. */
typedef struct structure {
    const spec_base *base;
    const char *family;
    uint32_t n_tiers;
    uint64_t planes, domain, rails_per_switch; /**< of the last 0: the family's own */
    double nic_bps;
    tier_option tier[FAB_MAX_TIERS];
    candidate *candidates;
    size_t n_candidates, capacity;
    fab_loss loss;         /**< why it loses, if it does */
    const candidate *best; /**< the cheapest that keeps the limits; NULL: none does */
    char reason[224];      /**< of no best */
} structure;

/** The most that a value may be, by goal. */
typedef struct limits {
    bool given[N_GOALS];
    double most[N_GOALS];
} limits;

/** The whole search. */
typedef struct search {
    const fab_optimize_request *request;
    limits limits;
    fab_gpu gpu; /**< by tokens: of the job, as the next */
    double years;
    spec_base *bases; /**< by NIC rate and domain */
    structure *structures;
    const structure *winner; /**< by tokens */
    size_t n_structures, capacity;
    double deadline_s; /**< of the monotonic clock; INFINITY = none */
    bool timed_out;
} search;

/* --- optimize_structures.c ---------------------------------------------------------------------------------------- */

/** A one-line design as a command reads it: by tokens with the job, whose GPU has its own scale-up rate. */
FAB_STATUS optimize_read(const search *search, const char *text, fab_design *out, fab_error *err);

/** The monotonic clock. */
double optimize_now_s(void);

/** Of all choices and candidates that a request has, at most. */
double optimize_bytes(const fab_optimize_request *request);

/** Fills search->structures with all choices and their candidates. */
FAB_STATUS optimize_enumerate(search *s, fab_error *err);

/** The specification of a choice, every taper 1. FAB_EINPUT where GPUs, servers and domains do not fit. */
FAB_STATUS optimize_base_spec(const structure *structure, fab_fabric_spec *out, fab_error *err);

/** A candidate for the reports, and as a design to be read. `winner_usd`: price of the network that it is compared to.
 */
FAB_STATUS optimize_describe(const search *s, const structure *x, const candidate *c, double winner_usd,
                             fab_optimum_point *out, fab_error *err);

/** "64x800G*2 / 64x800G". */
void optimize_switch_text(const structure *structure, char *out, size_t size);

/* --- optimize_search.c -------------------------------------------------------------------------------------------- */

typedef struct found {
    const structure *structure;
    const candidate *candidate; /**< NULL: nothing */
} found;

/** Finds the best of every choice by cost, or says why there is none. */
void optimize_rank(search *s);

bool optimize_keeps_limits(const search *s, const candidate *candidate);

/** FAB_ENOSOLUTION with what can be reached. */
FAB_STATUS optimize_explain_infeasible(search *s, fab_error *err);

/**
 * Designs none of which is beaten in cost and in the other aim (GOAL_POWER or GOAL_BISECTION). Cheapest first.
 * @param[out] out  Shape [MAX_FRONT].
 * @return how many.
 */
size_t optimize_front(const search *s, goal other, found *out);

/* --- optimize_tokens.c -------------------------------------------------------------------------------------------- */

/** Replays candidates until the cheapest tokens are known, as far as the request allows, and fills winner, runners-up
 * and what was proven. */
FAB_STATUS optimize_by_tokens(search *s, fab_optimum *out, fab_error *err);
