/* Every network phase of a job against every one of another: one simulation tells both what it costs them. */
#include "contend_internal.h"

#include "fab/memory.h"
#include "fab/parallel.h"

#include <stdlib.h>

/* A cell of two tables, that of a job against another and that of the other against it. */
typedef struct cell {
    fab_interference *one, *other;
    size_t row, column; /* of one */
} cell;

typedef struct pairs {
    contender *c;
    cell *cells;
    size_t n, capacity;
} pairs;

static bool is_shown(const contender *c, size_t job, size_t phase, size_t engine) {
    return c->out->jobs[job].network_flows[phase] > 0 && contend_alone(c, job, phase, engine)->has_time;
}

static fab_status list_phases(const contender *c, size_t job, size_t engine, uint32_t **out, size_t *out_n,
                              fab_error *err) {
    FAB_PASS(FAB_NEW(*out, c->out->jobs[job].n_phases, err));
    for (size_t p = 0; p < c->out->jobs[job].n_phases; p++) {
        if (is_shown(c, job, p, engine)) {
            (*out)[(*out_n)++] = (uint32_t)p;
        }
    }
    return FAB_OK;
}

static fab_status open_table(const contender *c, fab_interference *t, fab_error *err) {
    FAB_PASS(list_phases(c, t->job, t->engine, &t->phase, &t->n_rows, err));
    FAB_PASS(list_phases(c, t->other, t->engine, &t->other_phase, &t->n_columns, err));
    return FAB_NEW(t->slowdown, t->n_rows * t->n_columns, err);
}

/* Where the table of (engine, job, other) stands. */
static fab_interference *table_of(const contender *c, size_t engine, size_t job, size_t other) {
    size_t n = c->out->n_jobs;
    return &c->out->interference[(engine * n + job) * (n - 1) + other - (other > job)];
}

static fab_status run_cell(void *context, size_t index, size_t worker, fab_error *err) {
    const pairs *p = context;
    const contender *c = p->c;
    const cell *at = &p->cells[index];
    uint32_t row = at->one->phase[at->row];
    uint32_t column = at->one->other_phase[at->column];
    size_t engine = at->one->engine;
    const fab_phase *phases[2] = {&c->traffic[at->one->job].phases[row], &c->traffic[at->one->other].phases[column]};
    const fab_phase_alone *alone[2] = {contend_alone(c, at->one->job, row, engine),
                                       contend_alone(c, at->one->other, column, engine)};
    uint64_t n = c->n_seeds[engine];
    double sum_s[2] = {0, 0};
    double last_s[2];
    FAB_OWNS(contend_union_release) contend_union all = {.n = 0};
    (void)worker;
    FAB_PASS(contend_union_init(c, phases, 2, &all, err));
    for (uint64_t draw = 0; draw < n; draw++) {
        const fab_trace trace = {.group = all.group, .n_groups = 2, .last_s = last_s};
        FAB_PASS(contend_trace(&all, engine, draw, &trace, err));
        sum_s[0] += last_s[0];
        sum_s[1] += last_s[1];
    }
    double factor[2];
    for (int i = 0; i < 2; i++) {
        factor[i] = alone[i]->time_s > 0 ? (sum_s[i] / (double)n + alone[i]->latency_s) / alone[i]->time_s : 1;
    }
    at->one->slowdown[at->row * at->one->n_columns + at->column] = factor[0];
    at->other->slowdown[at->column * at->other->n_columns + at->row] = factor[1];
    return FAB_OK;
}

static void pairs_sum_up(const contender *c, fab_interference *t) {
    double sum = 0;
    double weights = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        for (size_t column = 0; column < t->n_columns; column++) {
            double value = t->slowdown[row * t->n_columns + column];
            double weight = contend_alone(c, t->job, t->phase[row], t->engine)->time_s *
                            contend_alone(c, t->other, t->other_phase[column], t->engine)->time_s;
            sum += weight * value;
            weights += weight;
            if (value > t->worst) {
                t->worst = value;
                t->worst_row = row;
                t->worst_column = column;
            }
        }
    }
    t->mean = weights > 0 ? sum / weights : 1;
}

static fab_status list_cells(pairs *p, size_t engine, size_t job, size_t other, fab_error *err) {
    fab_interference *one = table_of(p->c, engine, job, other);
    for (size_t row = 0; row < one->n_rows; row++) {
        FAB_PASS(FAB_GROW(p->cells, p->capacity, p->n + one->n_columns, err));
        for (size_t column = 0; column < one->n_columns; column++) {
            p->cells[p->n++] = (cell){one, table_of(p->c, engine, other, job), row, column};
        }
    }
    return FAB_OK;
}

fab_status contend_interfere(contender *c, fab_error *err) {
    fab_status status = FAB_OK;
    fab_contention *out = c->out;
    pairs p = {.c = c};
    size_t n = out->n_engines * out->n_jobs * (out->n_jobs - 1);
    FAB_TRY(FAB_NEW(out->interference, n, err));
    out->n_interference = n;
    for (uint32_t engine = 0; engine < out->n_engines; engine++) {
        for (uint32_t job = 0; job < out->n_jobs; job++) {
            for (uint32_t other = 0; other < out->n_jobs; other++) {
                if (job != other) {
                    fab_interference *t = table_of(c, engine, job, other);
                    *t = (fab_interference){.engine = engine, .job = job, .other = other};
                    FAB_TRY(open_table(c, t, err));
                }
            }
        }
        for (uint32_t job = 0; job < out->n_jobs; job++) {
            for (uint32_t other = job + 1; other < out->n_jobs; other++) {
                FAB_TRY(list_cells(&p, engine, job, other, err));
            }
        }
    }
    FAB_TRY(fab_parallel_for(p.n, c->base->n_threads, run_cell, &p, err));
    for (size_t i = 0; i < n; i++) {
        pairs_sum_up(c, &out->interference[i]);
    }
done:
    free(p.cells);
    return status;
}
