/* Text report: one collective by several algorithms, side by side. */
#include "fab/units.h"
#include "text_sections.h"

#include <stdio.h>
#include <string.h>

#define MAX_ALGORITHMS 8

/* Phases "doubling-1", "doubling-2", ... are steps of one algorithm. */
typedef struct algorithm {
    char name[FAB_NAME_SIZE];
    size_t first, n; /* phases */
} algorithm;

static size_t list_algorithms(const fab_result *result, algorithm *out) {
    size_t n = 0;
    for (size_t i = 0; i < result->n_phases; i++) {
        const fab_phase_result *p = &result->phases[i];
        size_t length = strcspn(p->name, "-");
        bool is_next = n > 0 && strlen(out[n - 1].name) == length && strncmp(out[n - 1].name, p->name, length) == 0;
        if (strcmp(p->collective, result->phases[0].collective) != 0 || (!is_next && n == MAX_ALGORITHMS)) {
            return 0;
        }
        if (!is_next) {
            out[n] = (algorithm){.first = i};
            (void)snprintf(out[n++].name, sizeof out->name, "%.*s", (int)length, p->name);
        }
        out[n - 1].n++;
    }
    return n;
}

/* Sum over the phases of what the fullest link of each takes. */
static double time_of(const fab_result *result, const algorithm *a, size_t engine) {
    double sum = 0;
    for (size_t i = a->first; i < a->first + a->n; i++) {
        sum += result->phases[i].engines[engine].busiest_link_s.mean;
    }
    return sum;
}

static double least_time(const fab_result *result, const algorithm *list, size_t n, size_t engine) {
    double least = time_of(result, &list[0], engine);
    for (size_t i = 1; i < n; i++) {
        double t = time_of(result, &list[i], engine);
        least = t < least ? t : least;
    }
    return least;
}

void fab_text_collectives(fab_page *page, const fab_result *result) {
    algorithm list[MAX_ALGORITHMS];
    if (result->n_phases < 2 || strcmp(result->phases[0].collective, "all-gather") != 0) {
        return;
    }
    size_t n = list_algorithms(result, list);
    if (n < 2) {
        return;
    }
    char a[40];
    char title[2 * FAB_NAME_SIZE];
    fab_table table;
    (void)snprintf(title, sizeof title, "%s BY ALGORITHM", "ALL-GATHER");
    fab_text_heading(page, title, NULL);
    fab_table_init(&table, n + 1);
    fab_table_row(&table);
    fab_table_set(&table, 0, FAB_INK_DIM, "engine");
    for (size_t i = 0; i < n; i++) {
        fab_table_set(&table, i + 1, FAB_INK_DIM, "%s", list[i].name);
    }
    for (size_t e = 0; e < result->phases[0].n_engines; e++) {
        double least = least_time(result, list, n, e);
        fab_table_row(&table);
        fab_table_set(&table, 0, FAB_INK_BOLD, "[%zu] %.20s", e + 1, result->phases[0].engines[e].engine);
        for (size_t i = 0; i < n; i++) {
            double t = time_of(result, &list[i], e);
            bool is_least = t <= least * (1 + 1e-9);
            fab_table_set(&table, i + 1, is_least ? FAB_INK_GOOD : FAB_INK_PLAIN, "%s x%.2f",
                          fab_quantity_format(a, t, FAB_UNIT_TIME), least > 0 ? t / least : 1);
        }
    }
    fab_table_print(&table, page, 2, NULL, NULL);
    fab_table_release(&table);
    fab_page_wrap(page, FAB_INK_DIM, 2, 2,
                  "time that the fullest network link needs, steps with their own peers added up; x: against the "
                  "fastest of the row. Latency of steps is left out.");
}
