/* Text report: one collective by several algorithms, side by side. */
#include "text_sections.h"

#include <ctype.h>
#include <stdio.h>

#define MAX_ALGORITHMS 8

/* Phases of one run. */
typedef struct algorithm {
    const char *name;
    size_t first, n; /* phases */
} algorithm;

/* None where the runs are not alternatives. */
static size_t list_algorithms(const fab_result *result, algorithm *out) {
    size_t n = 0;
    for (size_t i = 0; i < result->n_phases; i++) {
        const fab_phase_result *p = &result->phases[i];
        bool is_next = i > 0 && p->run == result->phases[i - 1].run;
        if (!p->alternative || (!is_next && n == MAX_ALGORITHMS)) {
            return 0;
        }
        if (!is_next) {
            out[n++] = (algorithm){.name = p->algorithm, .first = i};
        }
        out[n - 1].n++;
    }
    return n;
}

static bool are_timed(const fab_result *result) {
    for (size_t i = 0; i < result->n_phases; i++) {
        for (size_t e = 0; e < result->phases[i].n_engines; e++) {
            if (!result->phases[i].engines[e].has_time) {
                return false;
            }
        }
    }
    return true;
}

/* Sum over the phases; of what the fullest link of each takes where there are no times of all. */
static double time_of(const fab_result *result, const algorithm *a, size_t engine) {
    double sum = 0;
    bool timed = are_timed(result);
    for (size_t i = a->first; i < a->first + a->n; i++) {
        const fab_engine_result *e = &result->phases[i].engines[engine];
        sum += timed ? e->time_s.mean : e->busiest_link_s.mean;
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
    fab_column columns[FAB_TABLE_COLUMNS] = {COLUMN("algorithm", text)};
    size_t n = list_algorithms(result, list);
    if (n < 2) {
        return;
    }
    char title[2 * FAB_NAME_SIZE];
    fab_table table;
    (void)snprintf(title, sizeof title, "%s BY ALGORITHM", result->phases[0].collective);
    for (char *c = title; *c != '\0'; c++) {
        *c = (char)toupper((unsigned char)*c);
    }
    fab_text_heading(page, title, NULL);
    size_t n_engines = result->phases[0].n_engines;
    n_engines = n_engines < FAB_TABLE_COLUMNS ? n_engines : FAB_TABLE_COLUMNS - 1;
    for (size_t e = 0; e < n_engines; e++) {
        columns[e + 1].heading = fab_show(page, "[%zu] %.20s", e + 1, result->phases[0].engines[e].engine);
    }
    fab_table_begin(&table, page, columns, n_engines + 1);
    for (size_t i = 0; i < n; i++) {
        fab_table_row(&table, FAB_INK_BOLD, list[i].name, NULL);
        for (size_t e = 0; e < n_engines; e++) {
            double least = least_time(result, list, n, e);
            double t = time_of(result, &list[i], e);
            bool is_least = t <= least * (1 + 1e-9);
            fab_table_set(&table, e + 1, is_least ? FAB_INK_GOOD : FAB_INK_PLAIN, "%s x%.2f", fab_show_time(page, t),
                          least > 0 ? t / least : 1);
        }
    }
    fab_table_end(&table, 2, NULL, NULL);
    fab_text_note(
        page,
        are_timed(result)
            ? "time of the phases, steps and their latency included, added up; x: against the fastest of the column"
            : "time that the fullest network link needs, steps with their own peers added up; x: against the fastest "
              "of the column. Latency of steps and time inside scale-up domains are left out.");
}
