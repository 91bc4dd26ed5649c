/* Text report: what jobs on one fabric do to each other. */
#include "fab/contention.h"
#include "fab/verdict.h"
#include "text_sections.h"

#define MOST_ROWS        32 /* more jobs or pairs than that: those that lose most */
#define MOST_WITH_PHASES 4  /* more jobs than that: pairs have a row each, not a table */
#define MOST_PARTS       4  /* jobs that are named at a link */

/* A name in a column: of a long one both ends, since names of jobs often differ in the last letters. */
static const char *name_in_column(fab_page *page, const char *name) {
    const size_t n = strlen(name);
    return n <= 24 ? name : fab_show(page, "%.11s..%s", name, name + n - 11);
}

/* Whether jobs are alike in all that their table has. */
static bool is_like(const fab_contending_job *a, const fab_contending_job *b) {
    return a->n_gpus == b->n_gpus && a->n_servers == b->n_servers && strcmp(a->model, b->model) == 0 &&
           strcmp(a->plan, b->plan) == 0 && strcmp(a->plan_keys, b->plan_keys) == 0;
}

/* Jobs that are like this one, itself included; 0: one before it is. */
static size_t count_like(const fab_contending_job *jobs, size_t n_jobs, size_t job) {
    FAB_FIRST(first, n_jobs, is_like(&jobs[first], &jobs[job]));
    FAB_SUM(size_t, n, k, n_jobs, first == job && is_like(&jobs[k], &jobs[job]));
    return n;
}

/* "j0 and 4 more" */
static const char *name_of_like(fab_page *page, const fab_contending_job *job, size_t n_like) {
    const char *name = name_in_column(page, job->id);
    return n_like > 1 ? fab_show(page, "%s and %zu more", name, n_like - 1) : name;
}

/* Jobs that are alike in one row. */
static void contention_put_jobs(fab_page *page, const fab_contending_job *jobs, size_t n_jobs) {
    static const fab_column COLUMNS[] = {COLUMN("job", text), COLUMN("GPUs", whole), COLUMN("servers", whole),
                                         COLUMN("model", text), COLUMN("plan", text)};
    size_t n_rows = 0;
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < n_jobs && n_rows <= MOST_ROWS; i++) {
        const fab_contending_job *j = &jobs[i];
        const double figures[] = {j->n_gpus, j->n_servers, NAN, NAN};
        const size_t n_like = count_like(jobs, n_jobs, i);
        if (n_like > 0 && ++n_rows <= MOST_ROWS) {
            fab_table_row(&table, FAB_INK_PLAIN, name_of_like(page, j, n_like), figures);
            fab_table_set(&table, 3, FAB_INK_PLAIN, "%.24s", j->model[0] != '\0' ? j->model : "-");
            fab_table_set(&table, 4, FAB_INK_PLAIN, "%s", j->plan);
        }
    }
    fab_table_end(&table, 2, NULL, NULL);
    if (n_rows > MOST_ROWS) {
        fab_page_line(page, FAB_INK_DIM, "  all in --json");
    }
}

static void contention_put_meeting(fab_table *table, fab_page *page, const fab_contention *c, size_t job,
                                   const fab_contending_job *j, const fab_contended_phase *m, bool by_chance) {
    const double factor = fab_contended_factor(m);
    const double figures[] = {
        j->n_gpus, fab_contended_s(m, false), fab_contended_s(m, true), factor, NAN, m->slowdown.mean, NAN, NAN, NAN};
    const size_t remedy = fab_contention_remedy(c, job);
    fab_table_row(table, FAB_INK_PLAIN, name_in_column(page, j->id), j->phase[0] != '\0' ? figures : NULL);
    fab_table_set(table, 5, j->phase[0] != '\0' ? FAB_INK_PLAIN : FAB_INK_DIM, "%.24s",
                  j->phase[0] != '\0' ? j->phase : "none");
    if (j->phase[0] == '\0') {
        return;
    }
    if (factor <= FAB_FULL_LOAD) {
        fab_table_set(table, 4, FAB_INK_GOOD, "x%.3f", factor);
    }
    if (m->expected_s > 0) {
        const double longer = fab_contended_longer(m);
        fab_table_set(table, 7, longer > FAB_FULL_LOAD ? FAB_INK_BAD : FAB_INK_GOOD, "x%.3f", longer);
    } else if (!by_chance) {
        fab_table_set(table, 7, FAB_INK_PLAIN, "%.3f-%.3f", m->slowdown.min, m->slowdown.max);
    }
    if (m->has_rival) {
        fab_table_set(table, 8, FAB_INK_PLAIN, m->n_rivals_even > 0 ? "%s +%" PRIu32 : "%s",
                      name_in_column(page, c->jobs[m->rival].id), m->n_rivals_even);
    } else if (fab_contended_longer(m) > FAB_FULL_LOAD) {
        fab_table_set(table, 8, FAB_INK_DIM, m->n_tried > 0 ? "none" : "-");
    }
    if (remedy < c->n_remedies) {
        fab_table_set(table, 9, FAB_INK_PLAIN, "%.24s -%.2g %%", c->remedies[remedy].what,
                      100 * c->remedies[remedy].saved[job]);
    }
}

/* Jobs of which it is known by chance come first. */
static bool is_slower(const fab_contended_phase *a, const fab_contended_phase *b) {
    const bool known = a->expected_s > 0;
    return known != (b->expected_s > 0) ? known
                                        : fab_contended_longer(a) > fab_contended_longer(b) + FAB_VERDICT_LITTLE;
}

/* The job that others slow down most after those that are `shown`; of those that lose hardly less the first. */
static size_t next_slowed(const fab_contention_engine *e, const bool *shown, size_t n) {
    size_t worst = n;
    for (size_t j = 0; j < n; j++) {
        if (!shown[j] && (worst == n || is_slower(&e->jobs[j], &e->jobs[worst]))) {
            worst = j;
        }
    }
    return worst;
}

static void contention_put_meetings(fab_page *page, const fab_contention *c, size_t engine) {
    const fab_contention_engine *e = &c->engines[engine];
    fab_column columns[] = {COLUMN("job", text),
                            COLUMN("GPUs", whole),
                            COLUMN("alone", time),
                            COLUMN("shared", time),
                            MARKED("slower", fab_show_factor, FAB_INK_BAD, FAB_FULL_LOAD),
                            COLUMN("phase", text),
                            COLUMN("of it", factor),
                            COLUMN("of seeds", text),
                            COLUMN("loses to", text),
                            COLUMN("to do", text)};
    bool shown[FAB_MAX_JOBS] = {false};
    columns[6].heading = e->has_expected ? NULL : columns[6].heading;
    columns[7].heading = e->has_expected ? "chance" : e->n_seeds > 1 ? columns[7].heading : NULL;
    columns[9].heading = engine == c->remedied && c->n_remedies > 0 ? columns[9].heading : NULL;
    fab_table table = fab_table_of(page, FAB_COLUMNS(columns));
    for (size_t row = 0; row < c->n_jobs && row < MOST_ROWS; row++) {
        const size_t job = next_slowed(e, shown, c->n_jobs);
        shown[job] = true;
        contention_put_meeting(&table, page, c, job, fab_contending(c, engine, job), &e->jobs[job], e->has_expected);
    }
    fab_table_end(&table, 2, NULL, NULL);
    if (c->n_jobs > MOST_ROWS) {
        fab_page_line(page, FAB_INK_DIM, "  and %zu more, slowed by x%.3f at most: --json has all",
                      c->n_jobs - MOST_ROWS, fab_contended_longer(&e->jobs[next_slowed(e, shown, c->n_jobs)]));
    }
}

static void contention_put_links(fab_page *page, const fab_contention *c, const fab_contention_engine *e) {
    if (e->n_shared == 0) {
        fab_page_wrap(page, FAB_INK_GOOD, 2, 4, "No network link carries two jobs.");
        return;
    }
    bool first = true;
    fab_page_say(page, "Links that carry several jobs:");
    FAB_EACH(const fab_shared_tier, t, e->tiers, e->n_tiers) {
        if (t->shared > 0) {
            fab_page_say(page, "%s %s %s of %s used", first ? "" : ",", fab_text_links(page, c->wiring, t->tier, t->up),
                         fab_show_count(page, t->shared), fab_show_count(page, t->used));
            first = false;
        }
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, ".");
    fab_page_line(page, FAB_INK_DIM, "  the busiest of them, and the time that each job's bytes take there");
    FAB_EACH(const fab_shared_link, l, e->worst, e->n_worst) {
        fab_page_say(page, "%s %s:", l->name, fab_show_time(page, l->busy_s));
        for (uint32_t k = 0; k < l->n_parts && k < MOST_PARTS; k++) {
            fab_page_say(page, "%s %s %s", k > 0 ? "," : "", c->jobs[l->parts[k].job].id,
                         fab_show_time(page, l->parts[k].busy_s));
        }
        if (l->n_parts > MOST_PARTS) {
            fab_page_say(page, ", and %" PRIu32 " more jobs", l->n_parts - MOST_PARTS);
        }
        fab_page_paragraph(page, FAB_INK_PLAIN, 4, 6);
    }
}

static void contention_put_interference(fab_page *page, const fab_contention *c, const fab_interference *t) {
    const fab_contending_job *job = fab_contending(c, t->engine, t->job);
    const fab_contending_job *other = fab_contending(c, t->engine, t->other);
    size_t n_columns = t->n_columns + 1 < FAB_TABLE_COLUMNS ? t->n_columns : FAB_TABLE_COLUMNS - 1;
    fab_column columns[FAB_TABLE_COLUMNS] = {COLUMN("phase", text)};
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
    fab_table table = fab_table_of(page, columns, n_columns + 1);
    for (size_t r = 0; r < t->n_rows; r++) {
        fab_table_row(&table, FAB_INK_PLAIN, fab_show(page, "%.24s", job->phases[t->phase[r]]),
                      &t->slowdown[r * t->n_columns]);
    }
    fab_table_end(&table, 4, NULL, NULL);
    if (n_columns < t->n_columns) {
        fab_page_line(page, FAB_INK_DIM, "    %zu more columns in the JSON", t->n_columns - n_columns);
    }
}

/* Of many jobs the pairs that cost most, one a row. */
static void contention_put_pairs(fab_page *page, const fab_contention *c, size_t engine) {
    static const fab_column COLUMNS[] = {COLUMN("job", text),
                                         COLUMN("phase", text),
                                         COLUMN("other", text),
                                         COLUMN("does", text),
                                         MARKED("worst", fab_show_factor, FAB_INK_BAD, FAB_FULL_LOAD),
                                         MARKED("mean", fab_show_factor, FAB_INK_BAD, FAB_FULL_LOAD)};
    const size_t n = c->n_interference / c->n_engines; /* by engine */
    const fab_interference *pairs = c->n_interference > 0 ? &c->interference[engine * n] : NULL;
    double limit = INFINITY; /* of the row before, and its place */
    size_t last = 0;
    if (pairs == NULL) {
        return;
    }
    fab_page_wrap(page, FAB_INK_DIM, 2, 4,
                  "pairs of jobs: what the first loses worst, while the other does that; mean over the time both send");
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    for (size_t row = 0; row < MOST_ROWS; row++) {
        size_t best = n;
        for (size_t i = 0; i < n; i++) {
            bool is_left = pairs[i].worst < limit || (pairs[i].worst <= limit && i > last);
            bool is_better = best == n || pairs[i].worst > pairs[best].worst;
            best = pairs[i].n_rows > 0 && pairs[i].n_columns > 0 && is_left && is_better ? i : best;
        }
        if (best == n || (row > 0 && !(pairs[best].worst > FAB_FULL_LOAD))) {
            break;
        }
        const fab_interference *t = &pairs[best];
        const double figures[] = {NAN, NAN, NAN, t->worst, t->mean};
        limit = t->worst;
        last = best;
        const fab_contending_job *job = fab_contending(c, engine, t->job);
        const fab_contending_job *other = fab_contending(c, engine, t->other);
        fab_table_row(&table, FAB_INK_PLAIN, name_in_column(page, job->id), figures);
        fab_table_set(&table, 1, FAB_INK_PLAIN, "%.24s", job->phases[t->phase[t->worst_row]]);
        fab_table_put(&table, 2, FAB_INK_PLAIN, name_in_column(page, other->id));
        fab_table_set(&table, 3, FAB_INK_PLAIN, "%.24s", other->phases[t->other_phase[t->worst_column]]);
    }
    fab_table_end(&table, 4, NULL, NULL);
}

/* Keys of plans that were searched under an engine, those of jobs that are alike once. */
static void contention_put_plans(fab_page *page, const fab_contention *c, size_t engine) {
    size_t n_rows = 0;
    for (size_t i = 0; i < c->n_jobs; i++) {
        const fab_contending_job *j = fab_contending(c, engine, i);
        const size_t n_like = j->plan_keys[0] != '\0' ? count_like(j - i, c->n_jobs, i) : 0;
        if (n_like == 0 || ++n_rows > MOST_ROWS) {
            continue;
        }
        if (n_rows == 1) {
            fab_page_end_line(page);
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4,
                           "Plans of jobs that do not say theirs: the fastest that a search of two orders of ranks "
                           "finds for each alone on its servers under %s; together others may be faster.",
                           c->engines[engine].label);
        }
        fab_page_wrapf(page, FAB_INK_PLAIN, 4, 6, "%s: %s", name_of_like(page, j, n_like), j->plan_keys);
    }
    if (n_rows > MOST_ROWS) {
        fab_page_line(page, FAB_INK_DIM, "    all in --json");
    }
}

static void contention_put_engine(fab_page *page, const fab_contention *c, size_t engine) {
    fab_page_end_line(page);
    fab_page_wrap(page, FAB_INK_BOLD, 2, 4, c->engines[engine].label);
    contention_put_meetings(page, c, engine);
    contention_put_links(page, c, &c->engines[engine]);
    if (c->n_jobs > MOST_WITH_PHASES) {
        contention_put_pairs(page, c, engine);
        return;
    }
    for (size_t i = 0; i < c->n_interference; i++) {
        if (c->interference[i].engine == engine) {
            contention_put_interference(page, c, &c->interference[i]);
        }
    }
}

/* Engines that run all jobs by the same plans follow each other, behind these. */
void fab_text_contention(fab_page *page, const fab_contention *c) {
    fab_text_heading(page, "SEVERAL JOBS", NULL);
    for (size_t plan = 0; plan < c->n_plans; plan++) {
        FAB_FIRST(first, c->n_engines, c->engines[first].first_job == plan * c->n_jobs);
        if (plan > 0) {
            fab_page_end_line(page);
        }
        contention_put_jobs(page, fab_contending(c, first, 0), c->n_jobs);
        contention_put_plans(page, c, first);
        for (size_t e = first; e < c->n_engines; e++) {
            if (c->engines[e].first_job == c->engines[first].first_job) {
                contention_put_engine(page, c, e);
            }
        }
    }
    FAB_ANY(by_chance, e, c->n_engines, c->engines[e].has_expected);
    fab_page_say(page, "alone, shared: an iteration, of jobs without one the phase; shared: all phases named start at "
                       "once and share links max-min fairly until each has sent its bytes of one iteration; ");
    fab_page_say(page, by_chance ? "chance: how much longer an iteration is where clocks are the jobs' own, by how "
                                   "often every two network phases meet; "
                                 : "of it: how much longer the phase takes; ");
    fab_page_wrapf(page, FAB_INK_DIM, 2, 2,
                   "loses to%s: without which job, the others staying, it takes least, and without how many as little; "
                   "none: as long without any one; -: not tried; to do: the easiest that helps it most%s, done for all",
                   by_chance ? ", by chance where that is known" : "",
                   c->n_remedies > 0 && c->remedies[0].by_chance ? " where phases meet by chance" : "");
}
