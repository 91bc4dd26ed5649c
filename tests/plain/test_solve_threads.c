/* Solving on several threads at once, with fatal errors in between. Own main: Criterion does not run under TSan. */
#include "fab/parallel.h"
#include "fab/solve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static fab_status work(void *context, size_t item, size_t worker, fab_error *err) {
    (void)worker;
    double *objective = context;
    const fab_column columns[] = {{0, 10, 3, true}, {0, 10, 2, true}};
    const fab_row row = {-INFINITY, (double)item + 0.5};
    const fab_entry entries[] = {{0, 0, 2}, {0, 1, 1}};
    const fab_program p = {true, columns, 2, &row, 1, entries, 2};
    const fab_solve_limits none = {.memory_mb = 1};
    double x[2];
    fab_solution s;
    if (item % 3 == 0) { /* more than a megabyte of columns */
        enum { MANY = 60000 };
        fab_column *many = calloc(MANY, sizeof *many);
        double *y = calloc(MANY, sizeof *y);
        const fab_program big = {false, many, MANY, NULL, 0, NULL, 0};
        fab_status status = many != NULL && y != NULL ? fab_solve(&big, &none, y, NULL, &s, NULL) : FAB_EINTERNAL;
        free(many);
        free(y);
        if (status != FAB_ENOMEM) {
            return fab_fail(err, FAB_EINTERNAL, NULL, "item %zu: status %d", item, (int)status);
        }
    }
    fab_status status = fab_solve(&p, NULL, x, NULL, &s, err);
    if (status == FAB_OK) {
        objective[item] = s.objective;
    }
    return status;
}

int main(void) {
    enum { ITEMS = 60 };
    double one[ITEMS] = {0};
    double many[ITEMS] = {0};
    fab_error err = {0};
    if (fab_parallel_for(ITEMS, 1, work, one, &err) != FAB_OK ||
        fab_parallel_for(ITEMS, 4, work, many, &err) != FAB_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (size_t i = 0; i < ITEMS; i++) {
        double best = 0;
        for (int a = 0; a <= 10; a++) {
            for (int b = 0; b <= 10; b++) {
                best = 2 * a + b <= (int)i ? fmax(best, 3 * a + 2 * b) : best;
            }
        }
        if (one[i] != best || many[i] != best) {
            (void)fprintf(stderr, "item %zu: %g with one thread, %g with four, best %g\n", i, one[i], many[i], best);
            return 1;
        }
    }
    return 0;
}
