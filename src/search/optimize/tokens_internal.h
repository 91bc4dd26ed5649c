/** The search by tokens: its designs, and which of them is replayed next. */
#pragma once

#include "optimize_internal.h"

#include "fab/order.h"
#include "fab/plan_run.h"

#define ROUNDING 1e-9 /**< by which two ways to the same figure may differ */
#define N_ORDERS 2    /**< of ranks, as fab_plan_choose() */

/* Of all designs with these NICs and domains. */
typedef struct token_floor {
    const char *family;
    uint64_t planes, domain;
    double nic_bps;
    double iteration_s, tokens_per_iteration, share;
    bool is_refused;
    char sold_unlike[FAB_SOLD_SIZE]; /**< of fab_plans */
    fab_plan_kept kept[N_ORDERS];
} token_floor;

typedef struct ranked {
    structure *structure;
    candidate *candidate;
    token_floor *floor;
    fab_optimum_point *point; /* of a replay; NULL: none, or no better than the list */
    fab_job_plan plan;        /* of that replay */
    fab_policy policy;        /* of its goodput */
    double open_usd; /* what other plans might bring it to, where time ran out before all were looked at; else 0 */
    size_t order;    /* of the search */
    uint64_t n;      /* designs whose tapers round to this fabric */
    bool is_tried;
} ranked;

typedef struct token_search {
    search *s;
    fab_optimum *out;
    fab_design *design; /* scratch */
    token_floor *floors;
    size_t n_floors, floor_capacity;
    ranked *all;
    size_t n, capacity;
    ranked *best[FAB_RUNNERS_UP + 1]; /* replayed, cheapest tokens first */
    size_t n_best;
    uint64_t n_tried; /* for progress: replayed so far, and at most */
    size_t most;
    double look_until_s; /* of the deadline, for the design that is replayed */
} token_search;

/** Cheaper tokens, or their bound, first; of equals the first of the search. */
FAB_ORDER_KEYS(tokens_by_price, ranked, FAB_ORDER(a->candidate->token_usd, b->candidate->token_usd),
               FAB_ORDER(a->order, b->order));

/** What a design must be below to enter the list. */
double tokens_worst_listed(const token_search *t);

/** The cheapest network that can be replayed. */
ranked *tokens_cheapest_network(token_search *t);

/** The cheapest network, the cheapest design of each family, its plain one and the cheapest within each taper: what the
 * bound knows nothing of. Then by bound. NULL: none might enter the list. */
ranked *tokens_next(token_search *t, size_t *step);

/** Until when it may be replayed: until the families have had theirs, none takes more of the time than its part. */
double tokens_look_until(const token_search *t);

/** What the cheapest tokens of a family cost at least: by bounds where designs were not replayed to the end. */
double tokens_least_of_family(const token_search *t, const char *family);

/** Families of which not even a plain design was looked at that might be better than the winner. */
void tokens_name_unseen(token_search *t);
