/* Text report: what jobs on one fabric do to each other. */
#include "fab/contention.h"
#include "fab/units.h"
#include "text_sections.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_jobs(fab_page *page, const fab_contention *c) {
    char gpus[32];
    char servers[32];
    char time[32];
    for (size_t i = 0; i < c->n_jobs; i++) {
        const fab_contending_job *j = &c->jobs[i];
        char text[FAB_TEXT_PARAGRAPH];
        size_t n = (size_t)snprintf(text, sizeof text, "%s on %s GPUs in %s servers; alone", j->id,
                                    fab_format_count(gpus, j->n_gpus), fab_format_count(servers, j->n_servers));
        for (size_t p = 0; p < j->n_phases && n < sizeof text; p++) {
            const fab_phase_alone *alone = &j->alone[p * c->n_engines];
            n += (size_t)snprintf(text + n, sizeof text - n, "%s %s %s", p > 0 ? "," : "", j->phases[p],
                                  alone->has_time ? fab_quantity_format(time, alone->time_s, FAB_UNIT_TIME) : "-");
        }
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 4, text);
    }
}

/* A time that may be a mean over seeds. */
static void set_time(fab_table *table, size_t column, const fab_stat *stat) {
    char time[32];
    fab_table_set(table, column, FAB_INK_PLAIN, "%s", fab_quantity_format(time, stat->mean, FAB_UNIT_TIME));
}

static void put_meetings(fab_page *page, const fab_contention *c, const fab_contention_engine *e) {
    static const char *const TITLES[] = {"job", "phase", "alone", "together", "slowdown", "links shared"};
    fab_table table;
    char count[32];
    fab_table_begin(&table, TITLES, sizeof TITLES / sizeof TITLES[0]);
    for (size_t i = 0; i < c->n_jobs; i++) {
        const fab_meeting *m = &e->jobs[i];
        fab_table_row(&table);
        fab_table_set(&table, 0, FAB_INK_PLAIN, "%.24s", c->jobs[i].id);
        if (c->jobs[i].phase[0] == '\0') {
            fab_table_set(&table, 1, FAB_INK_DIM, "none");
            continue;
        }
        bool slower = m->slowdown.mean > FAB_FULL_LOAD;
        fab_table_set(&table, 1, FAB_INK_PLAIN, "%.24s", c->jobs[i].phase);
        set_time(&table, 2, &m->alone_s);
        set_time(&table, 3, &m->together_s);
        fab_table_set(&table, 4, slower ? FAB_INK_BAD : FAB_INK_GOOD, "x%.3f", m->slowdown.mean);
        fab_table_set(&table, 5, FAB_INK_PLAIN, "%s", fab_format_count(count, m->shared_links));
    }
    fab_table_print(&table, page, 2, NULL, NULL);
    fab_table_release(&table);
}

static void put_spread(fab_page *page, const fab_contention *c, const fab_contention_engine *e) {
    for (size_t i = 0; e->n_seeds > 1 && i < c->n_jobs; i++) {
        const fab_stat *s = &e->jobs[i].slowdown;
        if (c->jobs[i].phase[0] != '\0' && s->max > s->min) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "%s over %" PRIu64 " seeds: x%.3f to x%.3f, mean x%.3f +- %.3f",
                           c->jobs[i].id, e->n_seeds, s->min, s->max, s->mean, s->ci95);
        }
    }
}

static void put_iterations(fab_page *page, const fab_contention *c, const fab_contention_engine *e) {
    char alone[32];
    char together[32];
    for (size_t i = 0; i < c->n_jobs; i++) {
        const fab_meeting *m = &e->jobs[i];
        if (m->has_iteration) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4,
                           "An iteration of %s in which they meet takes %s, alone %s: x%.3f.", c->jobs[i].id,
                           fab_quantity_format(together, m->iteration_together_s, FAB_UNIT_TIME),
                           fab_quantity_format(alone, m->iteration_alone_s, FAB_UNIT_TIME),
                           m->iteration_together_s / m->iteration_alone_s);
        }
    }
}

static void put_links(fab_page *page, const fab_contention *c, const fab_contention_engine *e) {
    char a[32];
    char b[32];
    char text[FAB_TEXT_PARAGRAPH];
    size_t n = (size_t)snprintf(text, sizeof text, "Links that carry several jobs:");
    if (e->n_shared == 0) {
        fab_page_wrap(page, FAB_INK_GOOD, 2, 4, "No network link carries two jobs.");
        return;
    }
    bool first = true;
    for (size_t i = 0; i < e->n_tiers && n < sizeof text; i++) {
        const fab_shared_tier *t = &e->tiers[i];
        if (t->shared > 0) {
            n += (size_t)snprintf(text + n, sizeof text - n, "%s %s %s %s of %s used", first ? "" : ",",
                                  fab_boundary_name(c->wiring, t->tier), fab_direction_name(c->wiring, t->tier, t->up),
                                  fab_format_count(a, t->shared), fab_format_count(b, t->used));
            first = false;
        }
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "%s.", text);
    fab_page_line(page, FAB_INK_DIM, "  the busiest of them, and the time that each job's bytes take there");
    for (size_t i = 0; i < e->n_worst; i++) {
        const fab_shared_link *l = &e->worst[i];
        n = (size_t)snprintf(text, sizeof text, "%s %s:", l->name, fab_quantity_format(a, l->busy_s, FAB_UNIT_TIME));
        for (uint32_t k = 0; k < l->n_parts && n < sizeof text; k++) {
            n += (size_t)snprintf(text + n, sizeof text - n, "%s %s %s", k > 0 ? "," : "", c->jobs[l->parts[k].job].id,
                                  fab_quantity_format(a, l->parts[k].busy_s, FAB_UNIT_TIME));
        }
        fab_page_wrap(page, FAB_INK_PLAIN, 4, 6, text);
    }
}

static void put_interference(fab_page *page, const fab_contention *c, const fab_interference *t) {
    const fab_contending_job *job = &c->jobs[t->job];
    const fab_contending_job *other = &c->jobs[t->other];
    size_t n_columns = t->n_columns + 1 < FAB_TEXT_MAX_COLUMNS ? t->n_columns : FAB_TEXT_MAX_COLUMNS - 1;
    fab_table table;
    if (t->n_rows == 0 || t->n_columns == 0) {
        return;
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4,
                   "%s (rows) slowed by %s (columns): worst x%.3f, %s while the other does %s; mean over the time both "
                   "send x%.3f",
                   job->id, other->id, t->worst, job->phases[t->phase[t->worst_row]],
                   other->phases[t->other_phase[t->worst_column]], t->mean);
    fab_table_init(&table, n_columns + 1);
    fab_table_row(&table);
    fab_table_set(&table, 0, FAB_INK_DIM, "phase");
    for (size_t k = 0; k < n_columns; k++) {
        fab_table_set(&table, k + 1, FAB_INK_DIM, "%.24s", other->phases[t->other_phase[k]]);
    }
    for (size_t r = 0; r < t->n_rows; r++) {
        fab_table_row(&table);
        fab_table_set(&table, 0, FAB_INK_PLAIN, "%.24s", job->phases[t->phase[r]]);
        for (size_t k = 0; k < n_columns; k++) {
            double value = t->slowdown[r * t->n_columns + k];
            fab_table_set(&table, k + 1, value > FAB_FULL_LOAD ? FAB_INK_BAD : FAB_INK_PLAIN, "x%.3f", value);
        }
    }
    fab_table_print(&table, page, 4, NULL, NULL);
    fab_table_release(&table);
    if (n_columns < t->n_columns) {
        fab_page_line(page, FAB_INK_DIM, "    %zu more columns in the JSON", t->n_columns - n_columns);
    }
}

void fab_text_contention(fab_page *page, const fab_contention *c) {
    fab_text_heading(page, "SEVERAL JOBS", NULL);
    put_jobs(page, c);
    for (size_t e = 0; e < c->n_engines; e++) {
        fab_page_end_line(page);
        fab_page_wrap(page, FAB_INK_BOLD, 2, 4, c->engines[e].label);
        put_meetings(page, c, &c->engines[e]);
        put_spread(page, c, &c->engines[e]);
        put_iterations(page, c, &c->engines[e]);
        put_links(page, c, &c->engines[e]);
        for (size_t i = 0; i < c->n_interference; i++) {
            if (c->interference[i].engine == e) {
                put_interference(page, c, &c->interference[i]);
            }
        }
    }
    fab_page_wrap(
        page, FAB_INK_DIM, 2, 2,
        "together: all phases named start at once and share links max-min fairly, flow by flow, until each has "
        "sent its bytes of one iteration; slowdown: together over alone");
}
