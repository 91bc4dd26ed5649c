/* The search over structural choices: those whose bound cannot win are not solved. The bound of a choice is its
 * cheapest design when power and budget are forgotten, which the tree of patterns gives without a program. */
#include "optimize_internal.h"

#include "fab/str.h"
#include "fab/memory.h"
#include "fab/order.h"
#include "fab/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRONT_STEP 1e-7 /* points of a front differ by more than this share */

/* No design of the choice under the limits has a smaller value; INFINITY where none keeps even one limit by itself. */
static double bound_of(const structure *x, const fab_limits *limits, goal_kind goal) {
    double bound = INFINITY;
    double least_w = INFINITY;
    double least_usd = INFINITY;
    fab_limits by_path = *limits;
    by_path.has_power = by_path.has_budget = false;
    for (size_t i = 0; i < x->n_patterns; i++) {
        const pattern *p = &x->patterns[i];
        if (p->tier + 1 == x->n_tiers && optimize_keeps(p, &by_path)) {
            bound = fmin(bound, optimize_value(p, goal));
            least_w = fmin(least_w, p->path_w);
            least_usd = fmin(least_usd, p->path_usd);
        }
    }
    pattern best = {.path_w = least_w, .path_usd = least_usd};
    fab_limits sums = {.has_power = limits->has_power,
                       .has_budget = limits->has_budget,
                       .max_power_w = limits->max_power_w,
                       .budget_usd = limits->budget_usd};
    return optimize_keeps(&best, &sums) ? bound : INFINITY;
}

/* Indexes by value, the lower index first among equals: insertion into runs, as qsort has no context. */
typedef struct keyed {
    double value;
    uint32_t index;
} keyed;

static int optimize_by_value(const void *a, const void *b) {
    const keyed *x = a;
    const keyed *y = b;
    FAB_ORDER_BY(x->value, y->value);
    return FAB_ORDER(x->index, y->index);
}

/* search->order: choices by bound. */
static fab_status sort_by_bound(search *s, const fab_limits *limits, goal_kind goal, fab_error *err) {
    fab_status status = FAB_OK;
    keyed *keys = NULL;
    FAB_TRY(FAB_NEW(keys, s->n_structures, err));
    for (uint32_t i = 0; i < s->n_structures; i++) {
        s->bound[i] = bound_of(&s->structures[i], limits, goal);
        keys[i] = (keyed){s->bound[i], i};
    }
    qsort(keys, s->n_structures, sizeof *keys, optimize_by_value);
    for (size_t i = 0; i < s->n_structures; i++) {
        s->order[i] = keys[i].index;
    }
done:
    free(keys);
    return status;
}

fab_status optimize_best(search *s, const fab_limits *limits, goal_kind goal, found *out, fab_error *err) {
    found best = {0, NO_PATTERN};
    double value = INFINITY;
    FAB_PASS(sort_by_bound(s, limits, goal, err));
    for (size_t i = 0; i < s->n_structures && !s->timed_out; i++) {
        uint32_t index = s->order[i];
        uint32_t top = NO_PATTERN;
        if (s->bound[index] >= value) { /* also where both are infinite */
            break;
        }
        FAB_PASS(optimize_solve(s, &s->structures[index], limits, goal, &top, err));
        if (top != NO_PATTERN && optimize_value(&s->structures[index].patterns[top], goal) < value) {
            best = (found){index, top};
            value = optimize_value(&s->structures[index].patterns[top], goal);
        }
    }
    *out = best;
    return FAB_OK;
}

/* --- ranking ------------------------------------------------------------------------------------------------------ */

/* The n-th smallest of the solved costs so far, INFINITY while there are fewer. `costs` stays sorted. */
static double insert_cost(double *costs, size_t *n_costs, size_t n, double cost) {
    size_t i = *n_costs < n ? (*n_costs)++ : n;
    for (; i > 0 && costs[i - 1] > cost; i--) {
        if (i < n) {
            costs[i] = costs[i - 1];
        }
    }
    if (i < n) {
        costs[i] = cost;
    }
    return *n_costs == n ? costs[n - 1] : INFINITY;
}

/* Best values of a choice when each limit stands alone. */
typedef struct reach {
    double usd, power_w, bisection_ratio, taper;
} reach;

static reach reach_of(const structure *x) {
    reach r = {INFINITY, INFINITY, -INFINITY, INFINITY};
    for (size_t i = 0; i < x->n_patterns; i++) {
        const pattern *p = &x->patterns[i];
        if (p->tier + 1 == x->n_tiers) {
            r.usd = fmin(r.usd, p->path_usd);
            r.power_w = fmin(r.power_w, p->path_w);
            r.bisection_ratio = fmax(r.bisection_ratio, p->bisection_ratio);
            r.taper = fmin(r.taper, p->path_taper);
        }
    }
    return r;
}

static void explain_limit(structure *x, const fab_limits *l) {
    reach r = reach_of(x);
    char a[32];
    char b[32];
    pattern best = {
        .path_usd = r.usd, .path_w = r.power_w, .bisection_ratio = r.bisection_ratio, .path_taper = r.taper};
    fab_limits one = {.has_taper = l->has_taper, .max_taper = l->max_taper};
    char *out = x->reason;
    size_t size = sizeof x->reason;
    if (!optimize_keeps(&best, &one)) {
        (void)snprintf(out, size, "taper at least %.4g:1, limit %.4g:1", r.taper, l->max_taper);
        return;
    }
    one = (fab_limits){.has_bisection = l->has_bisection, .min_bisection_ratio = l->min_bisection_ratio};
    if (!optimize_keeps(&best, &one)) {
        (void)snprintf(out, size, "bisection at most %.4g of full, limit %.4g", r.bisection_ratio,
                       l->min_bisection_ratio);
        return;
    }
    one = (fab_limits){.has_power = l->has_power, .max_power_w = l->max_power_w};
    if (!optimize_keeps(&best, &one)) {
        (void)snprintf(out, size, "power at least %s, limit %s (%+.1f %%)",
                       fab_quantity_format(a, r.power_w, FAB_UNIT_POWER),
                       fab_quantity_format(b, l->max_power_w, FAB_UNIT_POWER), 100 * (r.power_w / l->max_power_w - 1));
        return;
    }
    one = (fab_limits){.has_budget = l->has_budget, .budget_usd = l->budget_usd};
    if (!optimize_keeps(&best, &one)) {
        (void)snprintf(out, size, "costs at least %s, budget %s (%+.1f %%)", fab_money_format(a, r.usd),
                       fab_money_format(b, l->budget_usd), 100 * (r.usd / l->budget_usd - 1));
        return;
    }
    (void)snprintf(out, size, "keeps each limit, but not all together");
}

fab_status optimize_rank(search *s, size_t n, fab_error *err) {
    fab_status status = FAB_OK;
    double *costs = NULL;
    size_t n_costs = 0;
    double worst = INFINITY;
    FAB_TRY(FAB_NEW(costs, n, err));
    FAB_TRY(sort_by_bound(s, &s->limits, GOAL_COST, err));
    for (size_t i = 0; i < s->n_structures; i++) {
        uint32_t index = s->order[i];
        structure *x = &s->structures[index];
        x->bound_usd = s->bound[index];
        if (x->verdict != VERDICT_OPEN || x->bound_usd > worst || s->timed_out) {
            if (x->verdict == VERDICT_OPEN && isinf(x->bound_usd)) {
                x->verdict = VERDICT_LIMIT;
                explain_limit(x, &s->limits);
            }
            continue;
        }
        uint32_t top = NO_PATTERN;
        if (isfinite(x->bound_usd)) {
            FAB_TRY(optimize_solve(s, x, &s->limits, GOAL_COST, &top, err));
        }
        if (top != NO_PATTERN) {
            x->verdict = VERDICT_SOLVED;
            x->best = top;
            worst = insert_cost(costs, &n_costs, n, x->patterns[top].path_usd);
        } else if (!s->timed_out) {
            x->verdict = VERDICT_LIMIT;
            explain_limit(x, &s->limits);
        }
    }
done:
    free(costs);
    return status;
}

/* --- nothing keeps the limits ------------------------------------------------------------------------------------- */

typedef struct limit_kind {
    goal_kind goal;
    bool given;
    double limit;
} limit_kind;

static fab_limits without(fab_limits l, goal_kind goal) {
    l.has_budget = l.has_budget && goal != GOAL_COST;
    l.has_power = l.has_power && goal != GOAL_POWER;
    l.has_bisection = l.has_bisection && goal != GOAL_BISECTION;
    l.has_taper = l.has_taper && goal != GOAL_TAPER;
    return l;
}

/* "budget $10M: the cheapest is $23.1M (+131 %)" */
static void add_shortfall(fab_str *text, const limit_kind *k, double best, bool alone) {
    char a[32];
    char b[32];
    const char *with = alone ? "" : " with the other limits";
    if (text->length > 0) {
        fab_str_add(text, "; ");
    }
    switch (k->goal) {
    case GOAL_COST:
        fab_str_printf(text, "budget %s: the cheapest%s is %s (%+.1f %%)", fab_money_format(a, k->limit), with,
                       fab_money_format(b, best), 100 * (best / k->limit - 1));
        break;
    case GOAL_POWER:
        fab_str_printf(text, "power %s: the least%s is %s (%+.1f %%)", fab_quantity_format(a, k->limit, FAB_UNIT_POWER),
                       with, fab_quantity_format(b, best, FAB_UNIT_POWER), 100 * (best / k->limit - 1));
        break;
    case GOAL_BISECTION:
        fab_str_printf(text, "bisection %.4g of full: the most%s is %.4g", k->limit, with, -best);
        break;
    case GOAL_TAPER: fab_str_printf(text, "taper %.4g:1: the least%s is %.4g:1", k->limit, with, best); break;
    }
}

static bool falls_short(const limit_kind *k, double best) {
    double limit = k->goal == GOAL_BISECTION ? -k->limit : k->limit;
    return best > limit + 1e-9 * fabs(limit);
}

/* Best values alone (limits that nothing can keep), or, when each can be kept, with the other limits. */
static fab_status shortfalls(search *s, const limit_kind *kinds, size_t n, bool alone, fab_str *text, fab_error *err) {
    for (size_t i = 0; i < n; i++) {
        found best = {0, NO_PATTERN};
        if (!kinds[i].given) {
            continue;
        }
        const fab_limits none = {0};
        fab_limits others = alone ? none : without(s->limits, kinds[i].goal);
        FAB_PASS(optimize_best(s, &others, kinds[i].goal, &best, err));
        if (best.top != NO_PATTERN) {
            double value = optimize_value(optimize_pattern(s, best), kinds[i].goal);
            if (falls_short(&kinds[i], value)) {
                add_shortfall(text, &kinds[i], value, alone);
            }
        }
    }
    return FAB_OK;
}

fab_status optimize_explain_infeasible(search *s, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_limits *l = &s->limits;
    fab_str text = FAB_STR_INIT;
    const structure *last = &s->structures[s->n_structures - 1];
    bool any = false;
    limit_kind kinds[] = {{GOAL_COST, l->has_budget, l->budget_usd},
                          {GOAL_POWER, l->has_power, l->max_power_w},
                          {GOAL_BISECTION, l->has_bisection, l->min_bisection_ratio},
                          {GOAL_TAPER, l->has_taper, l->max_taper}};
    for (size_t i = 0; i < s->n_structures; i++) {
        any = any || s->structures[i].n_patterns > 0;
        s->timed_out = s->timed_out || s->structures[i].verdict == VERDICT_UNSEEN;
    }
    if (s->timed_out) {
        FAB_FAIL(err, FAB_ENOSOLUTION, "optimize", "the time limit struck before a design was found");
    }
    if (!any) {
        FAB_FAIL(err, FAB_ENOSOLUTION, "optimize", "the catalog has no fabric for that many GPUs: %s", last->reason);
    }
    FAB_TRY(shortfalls(s, kinds, sizeof kinds / sizeof kinds[0], true, &text, err));
    if (text.length == 0) {
        FAB_TRY(shortfalls(s, kinds, sizeof kinds / sizeof kinds[0], false, &text, err));
    }
    FAB_TRY(fab_str_status(&text, err));
    FAB_FAIL(err, FAB_ENOSOLUTION, "optimize", "no fabric of the catalog keeps the limits: %s",
             text.data != NULL ? text.data : "the time limit struck before it was known by how much");
done:
    fab_str_release(&text);
    return status;
}

/* --- fronts ------------------------------------------------------------------------------------------------------- */

/* Limits of the next point: the same, and a little better in the other aim. */
static fab_limits next_limits(fab_limits l, goal_kind other, const pattern *last) {
    if (other == GOAL_BISECTION) {
        l.has_bisection = true;
        l.min_bisection_ratio = last->bisection_ratio * (1 + FRONT_STEP) + FRONT_STEP;
    } else {
        l.has_power = true;
        l.max_power_w = last->path_w * (1 - FRONT_STEP);
    }
    return l;
}

/* Epsilon constraint: the cheapest design, then the cheapest that is better in the other aim, and so on. */
fab_status optimize_front(search *s, goal_kind other, found **out, size_t *out_n, fab_error *err) {
    fab_status status = FAB_OK;
    found *front = NULL;
    size_t n = 0;
    fab_limits limits = without(without(s->limits, GOAL_COST), other);
    FAB_TRY(FAB_NEW(front, MAX_FRONT, err));
    while (n < MAX_FRONT && !s->timed_out) {
        found next = {0, NO_PATTERN};
        FAB_TRY(optimize_best(s, &limits, GOAL_COST, &next, err));
        if (next.top == NO_PATTERN) {
            break;
        }
        double usd = optimize_pattern(s, next)->path_usd;
        if (n > 0 && usd <= optimize_pattern(s, front[n - 1])->path_usd * (1 + 1e-12)) {
            n--; /* as cheap and better: the last point was none */
        }
        front[n++] = next;
        limits = next_limits(limits, other, optimize_pattern(s, next));
    }
    *out = front;
    *out_n = n;
    front = NULL;
done:
    free(front);
    return status;
}
