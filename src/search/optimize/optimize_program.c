/* The integer program of one structural choice.
 *
 * Columns: y[a] = 1 when pattern a is used; S[t] switches of tier t, C[t] cables below it; z the largest built taper.
 * Rows:    one pattern of the leaf tier; below a used pattern of tier t exactly one of tier t + 1 that fits on it;
 *          S[t] and C[t] are what the used patterns need; the uplinks of tier t - 1 are the C[t] downlinks of tier t;
 *          z is at least every taper; power and cost keep their limits.
 * Patterns that break the taper limit, and designs that break the bisection limit, are fixed at 0. */
#include "optimize_internal.h"

#include "fab/memory.h"
#include "fab/solve.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define SLACK 1e-9 /* a limit counts as kept within this share of it */

typedef struct program {
    fab_column *columns;
    fab_row *rows;
    fab_entry *entries;
    size_t n_columns, n_rows, n_entries, room;
} program;

static bool is_top(const structure *x, const pattern *p) {
    return p->tier + 1 == x->n_tiers;
}

bool optimize_keeps(const pattern *top, const fab_limits *l) {
    return (!l->has_taper || top->path_taper <= l->max_taper * (1 + SLACK)) &&
           (!l->has_bisection || top->bisection_ratio >= l->min_bisection_ratio * (1 - SLACK)) &&
           (!l->has_power || top->path_w <= l->max_power_w * (1 + SLACK)) &&
           (!l->has_budget || top->path_usd <= l->budget_usd * (1 + SLACK));
}

double optimize_value(const pattern *top, goal_kind goal) {
    switch (goal) {
    case GOAL_COST: return top->path_usd;
    case GOAL_POWER: return top->path_w;
    case GOAL_BISECTION: return -top->bisection_ratio;
    case GOAL_TAPER: return top->path_taper;
    }
    return 0;
}

/* What one pattern adds to the aim; the taper is the column z. */
static double program_share(const pattern *p, goal_kind goal) {
    switch (goal) {
    case GOAL_COST: return p->usd;
    case GOAL_POWER: return p->power_w;
    case GOAL_BISECTION: return -p->bisection_ratio; /* 0 below the top tier */
    case GOAL_TAPER: break;
    }
    return 0;
}

static size_t switches_column(const structure *x, uint32_t t) {
    return x->n_patterns + t;
}

static size_t cables_column(const structure *x, uint32_t t) {
    return x->n_patterns + x->n_tiers + t;
}

static size_t taper_column(const structure *x) {
    return x->n_patterns + 2 * (size_t)x->n_tiers;
}

static void program_put(program *p, size_t row, size_t column, double value) {
    p->entries[p->n_entries++] = (fab_entry){(uint32_t)row, (uint32_t)column, value};
}

static size_t program_add_row(program *p, double lower, double upper) {
    p->rows[p->n_rows] = (fab_row){lower, upper};
    return p->n_rows++;
}

static void add_columns(program *p, const structure *x, const fab_limits *limits, goal_kind goal, const bool *barred,
                        double scale) {
    fab_limits by_pattern = *limits;
    by_pattern.has_power = by_pattern.has_budget = false; /* those are rows */
    for (size_t i = 0; i < x->n_patterns; i++) {
        const pattern *a = &x->patterns[i];
        bool allowed =
            !barred[i] && (is_top(x, a) ? optimize_keeps(a, &by_pattern)
                                        : !limits->has_taper || a->path_taper <= limits->max_taper * (1 + SLACK));
        p->columns[i] = (fab_column){0, allowed ? 1 : 0, program_share(a, goal) / scale, true};
    }
    for (uint32_t t = 0; t < x->n_tiers; t++) {
        p->columns[switches_column(x, t)] = (fab_column){0, INFINITY, 0, true};
        p->columns[cables_column(x, t)] = (fab_column){0, INFINITY, 0, true};
    }
    p->columns[taper_column(x)] = (fab_column){0, INFINITY, goal == GOAL_TAPER ? 1 : 0, false};
    p->n_columns = taper_column(x) + 1;
}

/* One pattern of the leaf tier, and exactly one on top of every pattern used. */
static void add_choice_rows(program *p, const structure *x) {
    size_t first = program_add_row(p, 1, 1);
    size_t base = p->n_rows; /* row of the patterns on top of pattern a: base + a */
    for (size_t i = 0; i < x->n_patterns; i++) {
        (void)program_add_row(p, 0,
                              is_top(x, &x->patterns[i]) ? INFINITY : 0); /* nothing is on top of the top: no entries */
    }
    for (size_t i = 0; i < x->n_patterns; i++) {
        const pattern *a = &x->patterns[i];
        program_put(p, a->parent == NO_PATTERN ? first : base + a->parent, i, 1);
        if (!is_top(x, a)) {
            program_put(p, base + i, i, -1);
        }
    }
}

static void add_count_rows(program *p, const structure *x) {
    for (uint32_t t = 0; t < x->n_tiers; t++) {
        size_t switches = program_add_row(p, 0, 0);
        size_t below = program_add_row(p, 0, 0);
        program_put(p, switches, switches_column(x, t), -1);
        program_put(p, below, cables_column(x, t), -1);
        size_t balance = t > 0 ? program_add_row(p, 0, 0) : 0;
        size_t taper = program_add_row(p, -INFINITY, 0);
        program_put(p, taper, taper_column(x), -1);
        if (t > 0) {
            program_put(p, balance, cables_column(x, t), -1);
        }
        for (size_t i = 0; i < x->n_patterns; i++) {
            const pattern *a = &x->patterns[i];
            if (a->tier == t) {
                program_put(p, switches, i, (double)a->switches);
                program_put(p, below, i, (double)a->cables_below);
                program_put(p, taper, i, a->built_taper);
            } else if (t > 0 && a->tier == t - 1) {
                program_put(p, balance, i, (double)a->cables_above);
            }
        }
    }
}

/* Limits of sums, as shares of the limit so that the solver's tolerance is one of the limit, not of a dollar. */
static void add_limit_row(program *p, const structure *x, bool given, double limit, goal_kind of) {
    if (!given) {
        return;
    }
    double unit = fmax(limit, 1);
    size_t row = program_add_row(p, -INFINITY, limit / unit);
    for (size_t i = 0; i < x->n_patterns; i++) {
        program_put(p, row, i, program_share(&x->patterns[i], of) / unit);
    }
}

static void program_make(program *p, const structure *x, const fab_limits *limits, goal_kind goal, const bool *barred,
                         double scale) {
    p->n_rows = p->n_entries = 0;
    add_columns(p, x, limits, goal, barred, scale);
    add_choice_rows(p, x);
    add_count_rows(p, x);
    add_limit_row(p, x, limits->has_power, limits->max_power_w, GOAL_POWER);
    add_limit_row(p, x, limits->has_budget, limits->budget_usd, GOAL_COST);
}

double optimize_now_s(void) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The path that the program chose; its counts must be those of its patterns. */
static fab_status read_path(const structure *x, const double *y, uint32_t *out, fab_error *err) {
    uint32_t top = NO_PATTERN;
    for (uint32_t i = 0; i < x->n_patterns; i++) {
        top = y[i] > 0.5 && is_top(x, &x->patterns[i]) ? i : top;
    }
    for (uint32_t a = top; a != NO_PATTERN; a = x->patterns[a].parent) {
        const pattern *p = &x->patterns[a];
        if (y[a] < 0.5 || y[switches_column(x, p->tier)] != (double)p->switches ||
            y[cables_column(x, p->tier)] != (double)p->cables_below) {
            return fab_fail(err, FAB_EINTERNAL, NULL, "the program counts %.0f switches at tier %u, its pattern %.0f",
                            y[switches_column(x, p->tier)], p->tier + 1, (double)p->switches);
        }
    }
    if (top == NO_PATTERN) {
        return fab_fail(err, FAB_EINTERNAL, NULL, "the program chose no design");
    }
    *out = top;
    return FAB_OK;
}

fab_status optimize_solve(search *s, const structure *x, const fab_limits *limits, goal_kind goal, uint32_t *out_top,
                          fab_error *err) {
    fab_status status = FAB_OK;
    program p = {0};
    double *y = NULL;
    bool *barred = NULL;
    double scale = goal == GOAL_COST || goal == GOAL_POWER ? 0 : 1;
    size_t n_columns = taper_column(x) + 1;
    *out_top = NO_PATTERN;
    for (size_t i = 0; i < x->n_patterns; i++) {
        scale = fmax(scale, fabs(program_share(&x->patterns[i], goal)));
    }
    scale = scale > 0 ? scale : 1;
    FAB_TRY(FAB_NEW(p.columns, n_columns, err));
    FAB_TRY(FAB_NEW(p.rows, x->n_patterns + 4 * (size_t)x->n_tiers + 3, err));
    FAB_TRY(FAB_NEW(p.entries, 8 * x->n_patterns + 4 * (size_t)x->n_tiers, err));
    FAB_TRY(FAB_NEW(y, n_columns, err));
    FAB_TRY(FAB_NEW(barred, x->n_patterns, err));
    for (uint32_t top = 0; top != NO_PATTERN;) {
        fab_solution solution;
        double left_s = s->deadline_s - optimize_now_s();
        if (left_s <= 0) {
            s->timed_out = true;
            break;
        }
        fab_solve_limits solve_limits = {.time_s = isfinite(left_s) ? left_s : 0};
        program_make(&p, x, limits, goal, barred, scale);
        fab_program built = {.columns = p.columns,
                             .n_columns = p.n_columns,
                             .rows = p.rows,
                             .n_rows = p.n_rows,
                             .entries = p.entries,
                             .n_entries = p.n_entries};
        FAB_TRY(fab_solve(&built, &solve_limits, y, &solution, err));
        s->n_programs++;
        s->timed_out = s->timed_out || solution.outcome == FAB_SOLVE_TIME_LIMIT;
        top = NO_PATTERN;
        if (solution.has_point) {
            FAB_TRY(read_path(x, y, &top, err));
            if (optimize_keeps(&x->patterns[top], limits)) {
                *out_top = top;
                break;
            }
            barred[top] = true; /* within the solver's tolerance of a limit, but beyond it */
        }
    }
done:
    FAB_FREE_ALL(p.columns, p.rows, p.entries, y, barred);
    return status;
}
