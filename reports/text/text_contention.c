/* Text report: what jobs on one fabric do to each other. */
#include "fab/contention.h"
#include "text_sections.h"

#include <inttypes.h>

static void contention_put_jobs(fab_page *page, const fab_contention *c) {
    for (size_t i = 0; i < c->n_jobs; i++) {
        const fab_contending_job *j = &c->jobs[i];
        fab_page_say(page, "%s on %s GPUs in %s servers; alone", j->id, fab_show_count(page, j->n_gpus),
                     fab_show_count(page, j->n_servers));
        for (size_t p = 0; p < j->n_phases; p++) {
            const fab_phase_alone *alone = &j->alone[p * c->n_engines];
            fab_page_say(page, "%s %s %s", p > 0 ? "," : "", j->phases[p],
                         alone->has_time ? fab_show_time(page, alone->time_s) : "-");
        }
        fab_page_paragraph(page, FAB_INK_PLAIN, 2, 4);
    }
}

static void contention_put_meetings(fab_page *page, const fab_contention *c, const fab_contention_engine *e) {
    static const fab_column COLUMNS[] = {COLUMN("job", text),
                                         COLUMN("phase", text),
                                         COLUMN("alone", time),
                                         COLUMN("together", time),
                                         MARKED("slowdown", fab_show_factor, FAB_INK_BAD, FAB_FULL_LOAD),
                                         COLUMN("links shared", whole)};
    fab_table table;
    fab_table_begin(&table, page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < c->n_jobs; i++) {
        const fab_contended_phase *m = &e->jobs[i];
        const double figures[] = {NAN, m->alone_s.mean, m->together_s.mean, m->slowdown.mean, (double)m->shared_links};
        bool has_phase = c->jobs[i].phase[0] != '\0';
        fab_table_row(&table, FAB_INK_PLAIN, fab_show(page, "%.24s", c->jobs[i].id), has_phase ? figures : NULL);
        fab_table_set(&table, 1, has_phase ? FAB_INK_PLAIN : FAB_INK_DIM, "%.24s",
                      has_phase ? c->jobs[i].phase : "none");
        if (has_phase && m->slowdown.mean <= FAB_FULL_LOAD) {
            fab_table_set(&table, 4, FAB_INK_GOOD, "x%.3f", m->slowdown.mean);
        }
    }
    fab_table_end(&table, 2, NULL, NULL);
}

static void contention_put_spread(fab_page *page, const fab_contention *c, const fab_contention_engine *e) {
    for (size_t i = 0; e->n_seeds > 1 && i < c->n_jobs; i++) {
        const fab_stat *s = &e->jobs[i].slowdown;
        if (c->jobs[i].phase[0] != '\0' && s->max > s->min) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "%s over %" PRIu64 " seeds: x%.3f to x%.3f, mean x%.3f +- %.3f",
                           c->jobs[i].id, e->n_seeds, s->min, s->max, s->mean, s->ci95);
        }
    }
}

static void contention_put_iterations(fab_page *page, const fab_contention *c, const fab_contention_engine *e) {
    for (size_t i = 0; i < c->n_jobs; i++) {
        const fab_contended_phase *m = &e->jobs[i];
        if (m->has_iteration) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4,
                           "An iteration of %s in which they contend takes %s, alone %s: x%.3f.", c->jobs[i].id,
                           fab_show_time(page, m->iteration_together_s), fab_show_time(page, m->iteration_alone_s),
                           m->iteration_together_s / m->iteration_alone_s);
        }
    }
}

static void contention_put_links(fab_page *page, const fab_contention *c, const fab_contention_engine *e) {
    if (e->n_shared == 0) {
        fab_page_wrap(page, FAB_INK_GOOD, 2, 4, "No network link carries two jobs.");
        return;
    }
    bool first = true;
    fab_page_say(page, "Links that carry several jobs:");
    for (size_t i = 0; i < e->n_tiers; i++) {
        const fab_shared_tier *t = &e->tiers[i];
        if (t->shared > 0) {
            fab_page_say(page, "%s %s %s %s of %s used", first ? "" : ",", fab_boundary_name(c->wiring, t->tier),
                         fab_direction_name(c->wiring, t->tier, t->up), fab_show_count(page, t->shared),
                         fab_show_count(page, t->used));
            first = false;
        }
    }
    fab_page_say(page, ".");
    fab_page_paragraph(page, FAB_INK_PLAIN, 2, 4);
    fab_page_line(page, FAB_INK_DIM, "  the busiest of them, and the time that each job's bytes take there");
    for (size_t i = 0; i < e->n_worst; i++) {
        const fab_shared_link *l = &e->worst[i];
        fab_page_say(page, "%s %s:", l->name, fab_show_time(page, l->busy_s));
        for (uint32_t k = 0; k < l->n_parts; k++) {
            fab_page_say(page, "%s %s %s", k > 0 ? "," : "", c->jobs[l->parts[k].job].id,
                         fab_show_time(page, l->parts[k].busy_s));
        }
        fab_page_paragraph(page, FAB_INK_PLAIN, 4, 6);
    }
}

static void contention_put_interference(fab_page *page, const fab_contention *c, const fab_interference *t) {
    const fab_contending_job *job = &c->jobs[t->job];
    const fab_contending_job *other = &c->jobs[t->other];
    size_t n_columns = t->n_columns + 1 < FAB_TABLE_COLUMNS ? t->n_columns : FAB_TABLE_COLUMNS - 1;
    fab_column columns[FAB_TABLE_COLUMNS] = {COLUMN("phase", text)};
    fab_table table;
    if (t->n_rows == 0 || t->n_columns == 0) {
        return;
    }
    fab_page_wrapf(
        page, FAB_INK_PLAIN, 2, 4,
        "%s (rows) slowed by %s (columns): worst x%.3f, %s while the other does %s; mean over the time both send x%.3f",
        job->id, other->id, t->worst, job->phases[t->phase[t->worst_row]],
        other->phases[t->other_phase[t->worst_column]], t->mean);
    for (size_t k = 0; k < n_columns; k++) {
        const char *heading = fab_show(page, "%.24s", other->phases[t->other_phase[k]]);
        columns[k + 1] = (fab_column)MARKED(heading, fab_show_factor, FAB_INK_BAD, FAB_FULL_LOAD);
    }
    fab_table_begin(&table, page, columns, n_columns + 1);
    for (size_t r = 0; r < t->n_rows; r++) {
        fab_table_row(&table, FAB_INK_PLAIN, fab_show(page, "%.24s", job->phases[t->phase[r]]),
                      &t->slowdown[r * t->n_columns]);
    }
    fab_table_end(&table, 4, NULL, NULL);
    if (n_columns < t->n_columns) {
        fab_page_line(page, FAB_INK_DIM, "    %zu more columns in the JSON", t->n_columns - n_columns);
    }
}

void fab_text_contention(fab_page *page, const fab_contention *c) {
    fab_text_heading(page, "SEVERAL JOBS", NULL);
    contention_put_jobs(page, c);
    for (size_t e = 0; e < c->n_engines; e++) {
        fab_page_end_line(page);
        fab_page_wrap(page, FAB_INK_BOLD, 2, 4, c->engines[e].label);
        contention_put_meetings(page, c, &c->engines[e]);
        contention_put_spread(page, c, &c->engines[e]);
        contention_put_iterations(page, c, &c->engines[e]);
        contention_put_links(page, c, &c->engines[e]);
        for (size_t i = 0; i < c->n_interference; i++) {
            if (c->interference[i].engine == e) {
                contention_put_interference(page, c, &c->interference[i]);
            }
        }
    }
    fab_text_note(page, "together: all phases named start at once and share links max-min fairly, flow by flow, until "
                        "each has sent its bytes of one iteration; slowdown: together over alone");
}
