/* The best of all candidates under limits: each is priced already, so that it is looked for among all. */
#include "optimize_internal.h"

#include "fab/units.h"

#define SLACK      1e-9 /* a limit counts as kept within this share of it */
#define FRONT_STEP 1e-7 /* points of a front differ by more than this share */

static bool keeps_limit(const limits *l, goal g, double value) {
    return !l->given[g] || value <= l->most[g] + SLACK * fabs(l->most[g]);
}

static bool keeps_all(const limits *l, const candidate *c) {
    FAB_ALL(keeps, g, (size_t)N_GOALS, keeps_limit(l, (goal)g, c->value[g]));
    return keeps;
}

bool optimize_keeps_limits(const search *s, const candidate *c) {
    return keeps_all(&s->limits, c);
}

/* The first of equals; NULL: none keeps the limits. */
static const candidate *best_of(const structure *x, const limits *l, goal g) {
    const candidate *best = NULL;
    FAB_EACH(const candidate, c, x->candidates, x->n_candidates) {
        if (keeps_all(l, c) && (best == NULL || c->value[g] < best->value[g])) {
            best = c;
        }
    }
    return best;
}

static found best_of_all(const search *s, const limits *l, goal g) {
    found best = {NULL, NULL};
    for (size_t i = 0; i < s->n_structures; i++) {
        const candidate *c = best_of(&s->structures[i], l, g);
        if (c != NULL && (best.candidate == NULL || c->value[g] < best.candidate->value[g])) {
            best = (found){&s->structures[i], c};
        }
    }
    return best;
}

/* --- ranking ------------------------------------------------------------------------------------------------------ */

/* "power at least 12 kW, limit 10 kW (+20.0 %)": the first limit that nothing of the choice keeps even alone. */
static void explain_limit(structure *x, const limits *l) {
    static const limits NONE = {{false}, {0}};
    char a[32];
    char b[32];
    goal g = 0;
    double best = 0;
    for (; g < N_GOALS; g++) {
        best = best_of(x, &NONE, g)->value[g];
        if (!keeps_limit(l, g, best)) {
            break;
        }
    }
    const double most = l->most[g < N_GOALS ? g : 0];
    const double beyond = 100 * (best / most - 1);
    switch (g) {
    case GOAL_TAPER: FAB_FORMAT(x->reason, "taper at least %.4g:1, limit %.4g:1", best, most); break;
    case GOAL_BISECTION: FAB_FORMAT(x->reason, "bisection at most %.4g of full, limit %.4g", -best, -most); break;
    case GOAL_POWER:
        FAB_FORMAT(x->reason, "power at least %s, limit %s (%+.1f %%)", fab_quantity_format(a, best, FAB_UNIT_POWER),
                   fab_quantity_format(b, most, FAB_UNIT_POWER), beyond);
        break;
    case GOAL_COST:
        FAB_FORMAT(x->reason, "costs at least %s, budget %s (%+.1f %%)", fab_money_format(a, best),
                   fab_money_format(b, most), beyond);
        break;
    default: FAB_FORMAT(x->reason, "keeps each limit, but not all together"); break;
    }
}

void optimize_rank(search *s) {
    FAB_EACH(structure, x, s->structures, s->n_structures) {
        x->best = best_of(x, &s->limits, GOAL_COST);
        if (x->best == NULL && x->n_candidates > 0) {
            x->loss = FAB_LOSS_LIMIT;
            explain_limit(x, &s->limits);
        }
    }
}

/* --- nothing keeps the limits ------------------------------------------------------------------------------------- */

static limits without(limits l, goal g) {
    l.given[g] = false;
    return l;
}

/* "budget $10M: the cheapest is $23.1M (+131 %)" */
static void add_shortfall(fab_str *text, goal g, double most, double best, const char *with) {
    char a[32];
    char b[32];
    const double beyond = 100 * (best / most - 1);
    fab_str_add(text, text->length > 0 ? "; " : "");
    switch (g) {
    case GOAL_COST:
        fab_str_printf(text, "budget %s: the cheapest%s is %s (%+.1f %%)", fab_money_format(a, most), with,
                       fab_money_format(b, best), beyond);
        break;
    case GOAL_POWER:
        fab_str_printf(text, "power %s: the least%s is %s (%+.1f %%)", fab_quantity_format(a, most, FAB_UNIT_POWER),
                       with, fab_quantity_format(b, best, FAB_UNIT_POWER), beyond);
        break;
    case GOAL_BISECTION: fab_str_printf(text, "bisection %.4g of full: the most%s is %.4g", -most, with, -best); break;
    default: fab_str_printf(text, "taper %.4g:1: the least%s is %.4g:1", most, with, best); break;
    }
}

/* Best values alone (limits that nothing can keep) and with the other limits; where each can be kept, only these. */
static void add_shortfalls(const search *s, bool alone, fab_str *text) {
    static const limits NONE = {{false}, {0}};
    for (goal g = N_GOALS; g-- > 0;) {
        limits others = alone ? NONE : without(s->limits, g);
        const candidate *best = best_of_all(s, &others, g).candidate;
        if (best == NULL || keeps_limit(&s->limits, g, best->value[g])) {
            continue;
        }
        add_shortfall(text, g, s->limits.most[g], best->value[g], alone ? "" : " with the other limits");
        others = without(s->limits, g);
        const candidate *within = alone ? best_of_all(s, &others, g).candidate : NULL;
        if (within != NULL && within->value[g] > best->value[g]) {
            add_shortfall(text, g, s->limits.most[g], within->value[g], " with the other limits");
        }
    }
}

fab_status optimize_explain_infeasible(search *s, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    FAB_ANY(any, i, s->n_structures, s->structures[i].n_candidates > 0);
    FAB_REFUSE_IF(s->timed_out, err, FAB_ENOSOLUTION, "optimize", "the time limit struck before a design was found");
    FAB_REFUSE_IF(!any, err, FAB_ENOSOLUTION, "optimize", "the catalog has no fabric for that many GPUs: %s",
                  s->structures[s->n_structures - 1].reason);
    add_shortfalls(s, true, &text);
    if (text.length == 0) {
        add_shortfalls(s, false, &text);
    }
    FAB_PASS(fab_str_status(&text, err));
    return fab_fail(err, FAB_ENOSOLUTION, "optimize", "no fabric of the catalog keeps the limits: %s", text.data);
}

/* --- fronts ------------------------------------------------------------------------------------------------------- */

/* Epsilon constraint: the cheapest design, then the cheapest that is better in the other aim, and so on. */
size_t optimize_front(const search *s, goal other, found *out) {
    size_t n = 0;
    limits l = without(without(s->limits, GOAL_COST), other);
    while (n < MAX_FRONT) {
        const found next = best_of_all(s, &l, GOAL_COST);
        if (next.candidate == NULL || (n > 0 && next.candidate == out[n - 1].candidate)) {
            break; /* none, or the aim cannot become smaller: it is 0 */
        }
        if (n > 0 && next.candidate->value[GOAL_COST] <= out[n - 1].candidate->value[GOAL_COST] * (1 + 1e-12)) {
            n--; /* as cheap and better: the last point was none */
        }
        out[n++] = next;
        double last = next.candidate->value[other];
        l.given[other] = true;
        l.most[other] = last - FRONT_STEP * fabs(last) - (other == GOAL_BISECTION ? FRONT_STEP : 0);
    }
    return n;
}
