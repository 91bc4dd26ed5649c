/** The search by tokens: its designs, and which of them is replayed next. */
#pragma once

#include "optimize_internal.h"

#include "fab/goodput_run.h"
#include "fab/plan_run.h"

#define ROUNDING 1e-9 /**< by which two ways to the same figure may differ */
#define N_ORDERS 2    /**< of ranks, as fab_plan_choose() */

/* Of all designs with these NICs and domains, and rails that meet in a network. */
typedef struct token_floor {
    const char *family;
    uint64_t planes, domain, rails_per_switch;
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
    fab_plan_list tried;      /* its own, and those of others */
    size_t n_shared;          /* plans of others that it has looked at */
    bool is_leading;          /* the best of its family: more of its own plans are tried with failures */
    fab_policy policy;        /* of its goodput */
    double open_usd; /* what other plans might bring it to, where time ran out before all were looked at; else 0 */
    size_t order;    /* of the search */
    uint64_t n;      /* designs whose tapers round to this fabric */
    bool is_tried;
} ranked;

typedef struct token_search {
    search *s;
    fab_optimum *out;
    fab_design *design, *planned; /* scratch: with its job open, and under a plan */
    fab_plan_list shared;         /* with failures: plans that replayed designs run */
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

/** A plan of a design, and what failures leave of it. */
typedef struct token_judged {
    fab_planned planned;
    fab_goodput goodput; /* 1 where nobody asked */
    double usd;          /* of 1e9 tokens; with the failures */
    uint64_t n;          /* plans that it is the best of; 0: none */
    fab_error why;       /* one has none */
} token_judged;

/** What a user gets who types the printed line with the job and the engine. */
FAB_STATUS tokens_open(token_search *t, const ranked *r, fab_optimum_point *point, fab_fabric **out, fab_error *err);
fab_plan_request tokens_plan_request(token_search *t, const fab_fabric *fabric, fab_plan_kept *kept);

/** Of 1e9 tokens; of an iteration of the floor. */
double tokens_price(const token_search *t, const ranked *r, double share, double tokens_per_s);
double tokens_price_of(const token_search *t, const ranked *r, double iteration_s);

/** Whether the time for the design that is replayed is over. `context`: the search. */
bool tokens_is_late(const void *context);

/** A design that was replayed enters the list, if it is among the best. */
void tokens_enter(token_search *t, ranked *r);

/** Iterations of plans that are looked for, where tokens are to cost less; 0: all. */
double tokens_seconds_below(const token_search *t, const ranked *r, double usd);

/** The cheapest of the plans that the design's own search lists (`own`, or NULL) and of those that others run, as far
 * as they are new to it. */
FAB_STATUS tokens_judge(token_search *t, ranked *r, const fab_fabric *fabric, const fab_plans *own, token_judged *best,
                        fab_error *err);

void tokens_keep_replay(const token_search *t, ranked *r, const token_judged *best, fab_optimum_point *point);

/** Once all are replayed: what failures leave hangs on the plan, so that none may lose by a plan that another has. */
FAB_STATUS tokens_try_shared(token_search *t, fab_error *err);

/** Cheaper tokens, or their bound, first; of equals the first of the search. */
FAB_ORDER_KEYS(tokens_by_price, ranked, FAB_ORDER(a->candidate->token_usd, b->candidate->token_usd),
               FAB_ORDER(a->order, b->order));

/** What a design must be below to enter the list. */
double tokens_worst_listed(const token_search *t);

/** The cheapest network that can be replayed. */
ranked *tokens_cheapest_network(token_search *t);

/** The cheapest network, the plain design of each family (or its cheapest), the other tapers of the best so far and of
 * the best of each family, and the cheapest within each taper: what the bound knows nothing of. Then by bound. Whatever
 * becomes the best has its other tapers looked at next. NULL: none might enter the list. */
ranked *tokens_next(token_search *t, size_t *step);

/** Until when it may be replayed: until the families have had theirs, none takes more of the time than its part. */
double tokens_look_until(const token_search *t);

/** What the cheapest tokens of a family cost at least: by bounds where designs were not replayed to the end. */
double tokens_least_of_family(const token_search *t, const char *family);

/** Families of which not even a plain design was looked at, and other tapers of the winner, that might be better. */
void tokens_name_unseen(token_search *t);
