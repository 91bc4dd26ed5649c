/* The solver behind its own interface: known optima, and everything that GLPK would abort on. */
#include "fab/rng.h"
#include "fab/solve.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof(array)[0])

static fab_status solve(const fab_program *p, const fab_solve_limits *limits, double *x, fab_solution *s,
                        fab_error *err) {
    *err = (fab_error){0};
    *s = (fab_solution){0};
    return fab_solve(p, limits, x, NULL, s, err);
}

/* Chvatal, Linear Programming, chapter 1: max 5a + 4b + 3c = 13 at (2, 0, 1). */
Test(solve, linear) {
    const fab_column columns[] = {{0, INFINITY, 5, false}, {0, INFINITY, 4, false}, {0, INFINITY, 3, false}};
    const fab_row rows[] = {{-INFINITY, 5}, {-INFINITY, 11}, {-INFINITY, 8}};
    const fab_entry entries[] = {{0, 0, 2}, {0, 1, 3}, {0, 2, 1}, {1, 0, 4}, {1, 1, 1},
                                 {1, 2, 2}, {2, 0, 3}, {2, 1, 4}, {2, 2, 2}};
    const fab_program p = {true, columns, 3, rows, 3, entries, N(entries)};
    double x[3] = {0};
    fab_solution s;
    fab_error err;
    cr_assert_eq(solve(&p, NULL, x, &s, &err), FAB_OK, "%s", err.text);
    cr_expect_eq(s.outcome, FAB_SOLVE_OPTIMAL);
    cr_expect(s.has_point && fabs(s.objective - 13) < 1e-9 && fabs(s.bound - 13) < 1e-9);
    cr_expect(fabs(x[0] - 2) < 1e-9 && fabs(x[1]) < 1e-9 && fabs(x[2] - 1) < 1e-9);
}

/* Its prices: the first and the third row are worth 1 each, the second is not full. */
Test(solve, duals) {
    const fab_column columns[] = {{0, INFINITY, 5, false}, {0, INFINITY, 4, false}, {0, INFINITY, 3, true}};
    const fab_row rows[] = {{-INFINITY, 5}, {-INFINITY, 11}, {-INFINITY, 8}};
    const fab_entry entries[] = {{0, 0, 2}, {0, 1, 3}, {0, 2, 1}, {1, 0, 4}, {1, 1, 1},
                                 {1, 2, 2}, {2, 0, 3}, {2, 1, 4}, {2, 2, 2}};
    fab_program p = {true, columns, 3, rows, 3, entries, N(entries)};
    double x[3] = {0};
    double dual[3] = {7, 7, 7};
    fab_solution s;
    fab_error err = {0};
    cr_expect_eq(fab_solve(&p, NULL, x, dual, &s, &err), FAB_EINPUT, "integer columns have no prices");
    cr_expect_eq(dual[0], 7);
    const fab_column free_columns[] = {{0, INFINITY, 5, false}, {0, INFINITY, 4, false}, {0, INFINITY, 3, false}};
    p.columns = free_columns;
    cr_assert_eq(fab_solve(&p, NULL, x, dual, &s, NULL), FAB_OK);
    cr_expect_float_eq(dual[0], 1, 1e-9);
    cr_expect_float_eq(dual[1], 0, 1e-9);
    cr_expect_float_eq(dual[2], 1, 1e-9);
    const fab_solve_limits one_step = {.steps = 1};
    cr_assert_eq(fab_solve(&p, &one_step, x, dual, &s, NULL), FAB_OK);
    cr_expect_eq(s.outcome, FAB_SOLVE_TIME_LIMIT);
}

/* Random knapsacks against all subsets. */
Test(solve, integer_equals_enumeration) {
    fab_rng rng = fab_rng_make(7, 0);
    for (int round = 0; round < 100; round++) {
        enum { ITEMS = 9 };
        fab_column columns[ITEMS];
        fab_entry entries[ITEMS];
        double x[ITEMS];
        fab_row row = {-INFINITY, (double)fab_rng_below(&rng, 120)};
        for (uint32_t i = 0; i < ITEMS; i++) {
            columns[i] = (fab_column){0, 1, (double)(1 + fab_rng_below(&rng, 50)), true};
            entries[i] = (fab_entry){0, i, (double)(1 + fab_rng_below(&rng, 40))};
        }
        double best = 0;
        for (unsigned set = 0; set < 1U << ITEMS; set++) {
            double value = 0;
            double weight = 0;
            for (unsigned i = 0; i < ITEMS; i++) {
                value += (set >> i & 1U) != 0 ? columns[i].cost : 0;
                weight += (set >> i & 1U) != 0 ? entries[i].value : 0;
            }
            best = weight <= row.upper && value > best ? value : best;
        }
        const fab_program p = {true, columns, ITEMS, &row, 1, entries, ITEMS};
        fab_solution s;
        fab_error err;
        cr_assert_eq(solve(&p, NULL, x, &s, &err), FAB_OK, "%s", err.text);
        cr_assert(s.outcome == FAB_SOLVE_OPTIMAL && s.objective == best, "round %d: %g, not %g", round, s.objective,
                  best);
        for (unsigned i = 0; i < ITEMS; i++) {
            cr_assert(x[i] == 0 || x[i] == 1, "round %d: x[%u] = %g", round, i, x[i]);
        }
    }
}

/* General integers, an equation, a negative lower bound and a free column. */
Test(solve, mixed) {
    const fab_column columns[] = {
        {-5, 5, 1, true}, {0.5, 7.5, 1, true}, {-INFINITY, INFINITY, 0, false}, {2, 2, 1, false}};
    const fab_row rows[] = {{3.5, 3.5}, {-INFINITY, INFINITY}};
    const fab_entry entries[] = {{0, 0, 1}, {0, 2, 1}, {1, 1, 0}};
    const fab_program p = {false, columns, 4, rows, 2, entries, N(entries)};
    double x[4] = {0};
    fab_solution s;
    fab_error err;
    cr_assert_eq(solve(&p, NULL, x, &s, &err), FAB_OK, "%s", err.text);
    cr_expect_eq(s.outcome, FAB_SOLVE_OPTIMAL);
    cr_expect(x[0] == -5 && x[1] == 1 && fabs(x[2] - 8.5) < 1e-9 && x[3] == 2, "%g %g %g %g", x[0], x[1], x[2], x[3]);
}

Test(solve, infeasible_and_unbounded) {
    const fab_column columns[] = {{0, INFINITY, 1, false}, {0, 10, 0, true}};
    const fab_row contradiction[] = {{3, INFINITY}, {-INFINITY, 2}};
    const fab_entry entries[] = {{0, 0, 1}, {1, 0, 1}};
    const fab_program infeasible = {false, columns, 2, contradiction, 2, entries, 2};
    const fab_program unbounded = {true, columns, 2, contradiction, 1, entries, 1};
    const fab_row parity = {3, 3};
    const fab_entry twice = {0, 1, 2};
    const fab_program no_integer = {false, columns, 2, &parity, 1, &twice, 1}; /* 2 x = 3 */
    const fab_column gap = {0.2, 0.8, 1, true};
    const fab_program no_room = {false, &gap, 1, NULL, 0, NULL, 0};
    double x[2] = {-1, -1};
    fab_solution s;
    fab_error err;
    cr_assert_eq(solve(&infeasible, NULL, x, &s, &err), FAB_OK);
    cr_expect(s.outcome == FAB_SOLVE_INFEASIBLE && !s.has_point);
    cr_assert_eq(solve(&unbounded, NULL, x, &s, &err), FAB_OK);
    cr_expect(s.outcome == FAB_SOLVE_UNBOUNDED && !s.has_point);
    cr_assert_eq(solve(&no_integer, NULL, x, &s, &err), FAB_OK);
    cr_expect(s.outcome == FAB_SOLVE_INFEASIBLE && !s.has_point);
    cr_assert_eq(solve(&no_room, NULL, x, &s, &err), FAB_OK);
    cr_expect(s.outcome == FAB_SOLVE_INFEASIBLE && !s.has_point);
    cr_expect(x[0] == -1 && x[1] == -1, "written without a point");
}

Test(solve, nonsense_is_an_error) {
    const fab_column good = {0, 1, 1, false};
    const fab_column crossed = {1, 0, 1, false};
    const fab_row row = {0, 1};
    const fab_entry bad_entries[][2] = {{{1, 0, 1}, {0, 0, 1}}, {{0, 1, 1}, {0, 0, 1}}, {{0, 0, 1}, {0, 0, 2}}};
    const fab_program empty = {false, NULL, 0, NULL, 0, NULL, 0};
    const fab_program narrow = {false, &crossed, 1, &row, 1, NULL, 0};
    double x[1];
    fab_solution s;
    fab_error err;
    for (size_t i = 0; i < N(bad_entries); i++) {
        const fab_program p = {false, &good, 1, &row, 1, bad_entries[i], 2};
        cr_expect_eq(solve(&p, NULL, x, &s, &err), FAB_EINTERNAL, "entry %zu", i);
    }
    cr_expect_eq(solve(&narrow, NULL, x, &s, &err), FAB_EINTERNAL, "bounds that cross");
    cr_expect_eq(solve(&empty, NULL, x, &s, &err), FAB_EINPUT);
}

/* A market split: equations with a few solutions among 2^n, hopeless for branch and bound. */
static void market_split(size_t n, size_t m, fab_column *columns, fab_row *rows, fab_entry *entries) {
    fab_rng rng = fab_rng_make(11, n);
    for (size_t i = 0; i < n; i++) {
        columns[i] = (fab_column){0, 1, 0, true};
    }
    for (size_t r = 0; r < m; r++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            double value = (double)fab_rng_below(&rng, 100);
            entries[r * n + i] = (fab_entry){(uint32_t)r, (uint32_t)i, value};
            sum += value;
        }
        rows[r] = (fab_row){floor(sum / 2), floor(sum / 2)};
    }
}

Test(solve, limits) {
    enum { COLUMNS = 40, ROWS = 5 };
    fab_column columns[COLUMNS];
    fab_row rows[ROWS];
    fab_entry entries[COLUMNS * ROWS];
    double x[COLUMNS];
    fab_solution s;
    fab_error err;
    market_split(COLUMNS, ROWS, columns, rows, entries);
    const fab_program p = {false, columns, COLUMNS, rows, ROWS, entries, COLUMNS * ROWS};
    const fab_solve_limits time = {.time_s = 0.2};
    cr_assert_eq(solve(&p, &time, x, &s, &err), FAB_OK, "%s", err.text);
    cr_expect_eq(s.outcome, FAB_SOLVE_TIME_LIMIT);
    cr_expect(s.bound <= 0);
}

/* A parity that no relaxation sees: all leaves of the tree would have to be looked at. */
Test(solve, nodes) {
    fab_column columns[24];
    fab_entry entries[24];
    const fab_row rows[] = {{23, 23}};
    double x[24];
    fab_solution s;
    fab_error err;
    for (uint32_t i = 0; i < 24; i++) {
        columns[i] = (fab_column){0, 1, i % 3, true};
        entries[i] = (fab_entry){0, i, 2};
    }
    const fab_program p = {
        .columns = columns, .n_columns = 24, .rows = rows, .n_rows = 1, .entries = entries, .n_entries = 24};
    const fab_solve_limits few = {.nodes = 50};
    cr_assert_eq(solve(&p, &few, x, &s, &err), FAB_OK, "%s", err.text);
    cr_expect_eq(s.outcome, FAB_SOLVE_TIME_LIMIT);
    cr_expect_not(s.has_point);
    columns[0].upper = 0; /* a program that needs no branches is not stopped */
    const fab_row even[] = {{22, 22}};
    const fab_program easy = {
        .columns = columns, .n_columns = 24, .rows = even, .n_rows = 1, .entries = entries, .n_entries = 24};
    cr_assert_eq(solve(&easy, &few, x, &s, &err), FAB_OK, "%s", err.text);
    cr_expect_eq(s.outcome, FAB_SOLVE_OPTIMAL);
}

/* Out of memory is what GLPK calls a fatal error: the hook must bring it back, and the next call must work. */
Test(solve, fatal_errors_come_back) {
    enum { COLUMNS = 60000 };
    fab_column *columns = calloc(COLUMNS, sizeof *columns);
    double *x = calloc(COLUMNS, sizeof *x);
    for (size_t i = 0; i < COLUMNS; i++) {
        columns[i] = (fab_column){0, 1, 1, true};
    }
    const fab_program big = {false, columns, COLUMNS, NULL, 0, NULL, 0};
    const fab_program small = {true, columns, 3, NULL, 0, NULL, 0};
    const fab_solve_limits tight = {.memory_mb = 1};
    for (int round = 0; round < 3; round++) {
        fab_solution s;
        fab_error err;
        cr_assert_eq(solve(&big, &tight, x, &s, &err), FAB_ENOMEM, "%s", err.text);
        cr_expect(strstr(err.text, "memory") != NULL, "%s", err.text);
        cr_expect(strstr(err.text, ".c") == NULL, "%s", err.text);
        cr_assert_eq(solve(&small, NULL, x, &s, &err), FAB_OK, "%s", err.text);
        cr_expect_eq(s.objective, 3);
    }
    free(columns);
    free(x);
}
