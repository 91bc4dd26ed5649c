/**
 * Small linear and integer programs. GLPK stands behind this and nowhere else: none of its types, messages or aborts
 * get out. A call makes the program, solves it, copies the answer out and frees everything, on the calling thread.
 */
#pragma once

#include "fab/base.h"

/** A variable: lower <= x <= upper. -INFINITY and INFINITY mean no bound. */
typedef struct fab_column {
    double lower, upper;
    double cost; /**< coefficient in the objective */
    bool is_integer;
} fab_column;

/** A constraint: lower <= sum of entries <= upper. Equal bounds make an equation. */
typedef struct fab_row {
    double lower, upper;
} fab_row;

/** A coefficient; at most one per row and column, those left out are 0. */
typedef struct fab_entry {
    uint32_t row, column;
    double value;
} fab_entry;

/** The program. All arrays are borrowed. */
typedef struct fab_program {
    bool maximise;
    const fab_column *columns;
    size_t n_columns;
    const fab_row *rows;
    size_t n_rows;
    const fab_entry *entries;
    size_t n_entries;
} fab_program;

typedef struct fab_solve_limits {
    double time_s;    /**< 0 = none */
    size_t memory_mb; /**< of the solver itself; 0 = none */
    uint32_t steps;   /**< of the simplex method, before branches; 0 = none. Strikes at the same point on every machine,
                         as the next */
    uint32_t nodes;   /**< of branch and bound that are looked at; 0 = none */
} fab_solve_limits;

typedef enum fab_solve_outcome {
    FAB_SOLVE_OPTIMAL,
    FAB_SOLVE_INFEASIBLE,
    FAB_SOLVE_UNBOUNDED,
    FAB_SOLVE_TIME_LIMIT, /**< stopped by time, steps or nodes; has_point tells whether a feasible point was found on
                           * the way
                           */
} fab_solve_outcome;

typedef struct fab_solution {
    fab_solve_outcome outcome;
    bool has_point;   /**< `x` was written */
    double objective; /**< of that point; 0 without one */
    double bound;     /**< no point can be better than this; infinite when nothing is known */
} fab_solution;

/**
 * Solves by the simplex method, then branch and bound where there are integer columns. The same program gives the same
 * answer unless the time limit strikes.
 * @param[in]  limits  NULL: none.
 * @param[out] x       Shape [n_columns]. Integer columns hold whole numbers. Written when out->has_point.
 * @param[out] row_dual  Prices of the rows, shape [n_rows]: what the objective gains per unit by which the binding
 * bound of the row grows. Written with `x`. NULL: not wanted, as it must be with integer columns.
 * @retval FAB_EINPUT     no columns, or more than GLPK can number
 * @retval FAB_ENOMEM     memory ran out, or limits->memory_mb did
 * @retval FAB_EINTERNAL  the solver gave up, as where an entry is outside or given twice; err->text has its own words
 * Threads: a thread at a time has its own solver environment; concurrent calls on several threads are safe with a GLPK
 * that was built reentrant, as Debian's is (tests/plain/test_solve_threads.c).
 */
FAB_STATUS fab_solve(const fab_program *program, const fab_solve_limits *limits, double *x, double *row_dual,
                     fab_solution *out, fab_error *err);
