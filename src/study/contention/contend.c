/* Several jobs on one fabric: each alone first, then what contends together. See
 * src/doc/adr/0030-several-jobs-and-degraded-parts.md. */
#include "contend_internal.h"

#include "fab/design.h"
#include "fab/iterate.h"
#include "fab/job_sharing.h"
#include "fab/job_space.h"
#include "fab/parallel.h"

/* Every network phase of a job against every one of another: one simulation tells both what it costs them. */

/* A cell of two tables, that of a job against another and that of the other against it. */
typedef struct cell {
    fab_interference *one, *other;
    size_t row, column; /* of one */
} cell;

typedef struct pairs {
    contender *c;
    contend_reach reach; /* where that is looked at */
    cell *cells;
    size_t n, capacity;
} pairs;

static bool is_shown(const contender *c, size_t job, size_t phase, size_t engine) {
    return c->out->jobs[job].network_flows[phase] > 0 && contend_alone(c, job, phase, engine)->has_time;
}

static fab_status list_phases(const contender *c, size_t job, size_t engine, uint32_t **out, size_t *out_n,
                              fab_error *err) {
    FAB_PASS(FAB_NEW(*out, c->out->jobs[job].n_phases, err));
    FAB_KEEP(*out, *out_n, p, c->out->jobs[job].n_phases, is_shown(c, job, p, engine), (uint32_t)p);
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

static fab_status run_cell(void *context, size_t index, FAB_UNUSED size_t worker, fab_error *err) {
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
    FAB_PASS(contend_union_init(c, phases, 2, &all, err));
    for (uint64_t draw = 0; draw < n; draw++) {
        const fab_trace trace = {.group = all.group, .n_groups = 2, .last_s = last_s};
        FAB_PASS(contend_trace(&all, engine, draw, &trace, err));
        sum_s[0] += last_s[0];
        sum_s[1] += last_s[1];
    }
    double factor[2];
    FAB_FILL(factor, 2,
             alone[fab_at]->time_s > 0 ? (sum_s[fab_at] / (double)n + alone[fab_at]->latency_s) / alone[fab_at]->time_s
                                       : 1);
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
            const cell at = {one, table_of(p->c, engine, other, job), row, column};
            if (p->reach.bits == NULL || contend_reach_meets(&p->reach, engine, (size_t[]){job, other},
                                                             (size_t[]){one->phase[row], one->other_phase[column]})) {
                p->cells[p->n++] = at;
            } else {
                at.one->slowdown[row * one->n_columns + column] = 1;
                at.other->slowdown[column * at.other->n_columns + row] = 1;
            }
        }
    }
    return FAB_OK;
}

/** Every phase against every other: fills out->interference. `skips`: without those that share no link, whose factors
 * are 1 but for rounding. */
static fab_status contend_interfere(contender *c, bool skips, fab_error *err) {
    fab_contention *out = c->out;
    pairs p = {.c = c};
    FAB_OWNS_MEMBERS(p.cells, p.reach.bits);
    FAB_PASS(skips ? contend_reach_find(c, &p.reach, err) : FAB_OK);
    size_t n = out->n_engines * out->n_jobs * (out->n_jobs - 1);
    FAB_PASS(FAB_NEW(out->interference, n, err));
    out->n_interference = n;
    for (uint32_t engine = 0; engine < out->n_engines; engine++) {
        for (uint32_t job = 0; job < out->n_jobs; job++) {
            for (uint32_t other = 0; other < out->n_jobs; other++) {
                if (job != other) {
                    fab_interference *t = table_of(c, engine, job, other);
                    *t = (fab_interference){.engine = engine, .job = job, .other = other};
                    FAB_PASS(open_table(c, t, err));
                }
            }
        }
        for (uint32_t job = 0; job < out->n_jobs; job++) {
            for (uint32_t other = job + 1; other < out->n_jobs; other++) {
                FAB_PASS(list_cells(&p, engine, job, other, err));
            }
        }
    }
    FAB_PASS(fab_parallel_for(p.n, c->base->n_threads, run_cell, &p, err));
    for (size_t i = 0; i < n; i++) {
        pairs_sum_up(c, &out->interference[i]);
    }
    return FAB_OK;
}

#define NO_PHASE "none"

/* --- a job alone -------------------------------------------------------------------------------------------------- */

static fab_status keep_phases(const fab_result *result, size_t n_engines, fab_contending_job *out, fab_error *err) {
    FAB_PASS(FAB_NEW_ALL(result->n_phases, err, out->phases, out->network_flows));
    FAB_PASS(FAB_NEW(out->alone, result->n_phases * n_engines, err));
    out->n_phases = result->n_phases;
    out->n_alone = result->n_phases * n_engines;
    for (size_t p = 0; p < result->n_phases; p++) {
        const fab_phase_result *phase = &result->phases[p];
        FAB_FORMAT(out->phases[p], "%s", phase->name);
        out->network_flows[p] = phase->network_flows;
        for (size_t e = 0; e < n_engines; e++) {
            const fab_engine_result *r = &phase->engines[e];
            out->alone[p * n_engines + e] = (fab_phase_alone){.phase = (uint32_t)p,
                                                              .engine = (uint32_t)e,
                                                              .has_time = r->has_time,
                                                              .time_s = r->has_time ? r->time_s.mean : 0,
                                                              .latency_s = r->has_time ? r->latency_s : 0};
        }
    }
    return FAB_OK;
}

static uint32_t count_servers(const fab_fabric *f, const fab_traffic *traffic) {
    uint32_t n = 0;
    uint32_t last = FAB_NONE;
    for (uint32_t gpu = 0; gpu < fab_n_gpus(f); gpu++) { /* ascending: a server's GPUs stand together */
        if (traffic->rank_of_gpu[gpu] != FAB_NONE && fab_server_of(f, gpu) != last) {
            last = fab_server_of(f, gpu);
            n++;
        }
    }
    return n;
}

/* "tp 8 pp 2 dp 4", and what else is more than one. */
static void write_plan(const fab_job_spec *job, char out[64]) {
    const uint64_t sizes[] = {job->tp, job->cp, job->pp, job->dp, job->ep};
    static const char *const NAMES[] = {"tp", "cp", "pp", "dp", "ep"};
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < FAB_N_OF(sizes) && used < 64; i++) {
        bool always = i == 0 || i == 2 || i == 3;
        if (always || sizes[i] > 1) {
            used += (size_t)snprintf(out + used, 64 - used, "%s%s %" PRIu64, used > 0 ? " " : "", NAMES[i], sizes[i]);
        }
    }
}

/* Replays job `job` by itself over the tables of the base; the first was. */
static fab_status replay_job(contender *c, const fab_design *alone, size_t job, const fab_result *first,
                             fab_error *err) {
    fab_result *result = &c->alone[job];
    FAB_OWNS(fab_context_free_owned) fab_context *context = NULL;
    if (job == 0) {
        *result = *first;
        return FAB_OK;
    }
    *result = (fab_result){.command = first->command, .fabrics = first->fabrics, .n_fabrics = first->n_fabrics};
    const fab_context_request request = {.base = c->base->context, .design = alone, .traffic = "job"};
    FAB_PASS(fab_context_new(&request, &context, err));
    fab_replay replay = fab_replay_for_times(c->base);
    replay.context = context;
    return fab_replay_run(&replay, result, err);
}

/* `alone`: room for its design. */
static fab_status take_job(contender *c, const fab_design *placed, size_t job, fab_design *alone,
                           const fab_result *first, fab_error *err) {
    fab_contending_job *out = &c->out->jobs[job];
    fab_design_copy_alone(placed, job, alone);
    FAB_FORMAT(out->id, "%s", placed->jobs[job].id);
    FAB_PASS(fab_traffic_make("job", alone, c->what->fabric, c->what->seed, &c->traffic[job], err));
    FAB_FORMAT(out->traffic, "%s", c->traffic[job].summary);
    FAB_FORMAT(out->model, "%s",
               c->traffic[job].model.name != NULL ? c->traffic[job].model.name : c->traffic[job].job.model);
    write_plan(&c->traffic[job].job, out->plan);
    if (c->traffic[job].job.plan_chosen) {
        const fab_job_plan chosen = fab_job_plan_of(&c->traffic[job].job);
        (void)fab_job_plan_text(&chosen, out->plan_keys);
    }
    out->n_gpus = c->traffic[job].n_ranks;
    out->n_servers = count_servers(c->what->fabric, &c->traffic[job]);
    FAB_PASS(replay_job(c, alone, job, first, err));
    return keep_phases(&c->alone[job], c->what->n_engines, out, err);
}

/* --- iterations --------------------------------------------------------------------------------------------------- */

fab_status contend_iterate_at(const contender *c, size_t job, size_t phase, size_t engine, double phase_s,
                              double *out_s, fab_error *err) {
    const fab_result *alone = &c->alone[job];
    fab_iteration changed;
    if (alone->n_iterations <= engine) {
        *out_s = phase_s;
        return FAB_OK;
    }
    FAB_OWNED_NEW(double, transfer_s, alone->n_phases, err);
    FAB_FILL(transfer_s, alone->n_phases, alone->phases[fab_at].engines[engine].transfer_s.mean);
    transfer_s[phase] = phase_s - alone->phases[phase].engines[engine].latency_s;
    FAB_PASS(
        fab_iterate_with(&c->traffic[job], alone, engine, transfer_s, NULL, &alone->iterations[engine], &changed, err));
    *out_s = changed.time_s;
    return FAB_OK;
}

/* One job under one engine: the phase takes as long as together with the others. */
static fab_status iterate_job(contender *c, size_t job, size_t engine, fab_error *err) {
    fab_contended_phase *m = &c->out->engines[engine].jobs[job];
    const bool has = c->alone[job].n_iterations > engine;
    m->has_iteration = has && c->out->jobs[job].phase[0] != '\0';
    m->iteration_alone_s = has ? c->alone[job].iterations[engine].at_means_s : 0;
    return m->has_iteration ? contend_iterate_at(c, job, c->out->jobs[job].phase_index, engine, m->together_s.mean,
                                                 &m->iteration_together_s, err)
                            : FAB_OK;
}

/** What contention makes of an iteration of the jobs that have one. */
static fab_status contend_iterate(contender *c, fab_error *err) {
    for (size_t e = 0; e < c->out->n_engines; e++) {
        fab_contention_engine *engine = &c->out->engines[e];
        double gpus = 0;
        double counted = 0;
        for (size_t job = 0; job < c->out->n_jobs; job++) {
            FAB_PASS(iterate_job(c, job, e, err));
            if (c->out->jobs[job].phase[0] != '\0') {
                engine->n_contending++;
                engine->n_iterating += engine->jobs[job].has_iteration;
                gpus += c->out->jobs[job].n_gpus;
                engine->all_jobs_s += c->out->jobs[job].n_gpus * fab_contended_s(&engine->jobs[job], true);
            }
        }
        for (size_t job = 0; job < c->out->n_jobs; job++) {
            if (fab_contended_counts(engine, job)) {
                counted += c->out->jobs[job].n_gpus;
                engine->lost_ratio += c->out->jobs[job].n_gpus * (1 - 1 / fab_contended_factor(&engine->jobs[job]));
            }
        }
        engine->lost_ratio /= counted > 0 ? counted : 1;
        engine->all_jobs_s /= gpus > 0 ? gpus : 1;
    }
    return FAB_OK;
}

/* --- which phase contends ----------------------------------------------------------------------------------------- */

static fab_status refuse_phase(const fab_contending_job *j, const fab_job_spec *spec, fab_error *err) {
    char names[256] = "";
    for (size_t p = 0; p < j->n_phases; p++) {
        fab_append(names, sizeof names, "%s%s", p > 0 ? ", " : "", j->phases[p]);
    }
    return fab_fail(err, FAB_EINPUT, spec->where, "contends: job '%s' has no phase '%s'; it has %s, or none", j->id,
                    spec->contends, names);
}

/* The longest under the first engine among those that leave their domains. */
static fab_status choose_longest(const contender *c, fab_contending_job *j, const fab_job_spec *spec, fab_error *err) {
    bool unknown = false;
    double most_s = -1;
    for (size_t p = 0; p < j->n_phases; p++) {
        const fab_phase_alone *alone = &j->alone[p * c->out->n_engines];
        unknown = unknown || (j->network_flows[p] > 0 && !alone->has_time);
        if (j->network_flows[p] > 0 && alone->has_time && alone->time_s > most_s) {
            most_s = alone->time_s;
            j->phase_index = p;
        }
    }
    FAB_REFUSE_IF(unknown, err, FAB_EUNSUPPORTED, spec->where,
                  "job '%s' has phases that are too large to be timed: say which one contends", j->id);
    if (most_s >= 0) {
        FAB_FORMAT(j->phase, "%s", j->phases[j->phase_index]);
    }
    return FAB_OK;
}

static fab_status choose_phase(const contender *c, fab_contending_job *j, const fab_job_spec *spec, fab_error *err) {
    if (strcmp(spec->contends, NO_PHASE) == 0) {
        return FAB_OK;
    }
    if (spec->contends[0] == '\0') {
        return choose_longest(c, j, spec, err);
    }
    for (size_t p = 0; p < j->n_phases; p++) {
        if (strcmp(j->phases[p], spec->contends) == 0) {
            j->phase_index = p;
            FAB_FORMAT(j->phase, "%s", j->phases[p]);
            return FAB_OK;
        }
    }
    return refuse_phase(j, spec, err);
}

/* --- all together ------------------------------------------------------------------------------------------------- */

static void release_pairs(fab_contention *c) {
    for (size_t i = 0; c->interference != NULL && i < c->n_interference; i++) {
        FAB_FREE_ALL(c->interference[i].phase, c->interference[i].other_phase, c->interference[i].slowdown);
    }
    free(c->interference);
    c->interference = NULL;
    c->n_interference = 0;
}

FAB_FREES_AFTER(fab_contention_free, fab_contention, c) {
    for (size_t i = 0; c->jobs != NULL && i < c->n_plans * c->n_jobs; i++) {
        FAB_FREE_ALL(c->jobs[i].phases, c->jobs[i].network_flows, c->jobs[i].alone);
    }
    FAB_FREE_EACH_OF(free, c->engines, c->n_engines, .jobs);
    release_pairs(c);
    FAB_FREE_EACH_OF(free, c->remedies, c->n_remedies, .saved);
    FAB_FREE_ALL(c->jobs, c->engines);
}

static fab_status open_contention(contender *c, size_t n_jobs, fab_error *err) {
    const size_t n_engines = c->what->n_engines;
    FAB_PASS(FAB_NEW_ALL(n_jobs, err, c->traffic, c->alone));
    FAB_PASS(FAB_NEW(c->n_seeds, n_engines, err));
    FAB_PASS(FAB_NEW(c->out, 1, err));
    c->out->wiring = c->what->fabric->wiring;
    FAB_PASS(FAB_NEW(c->out->jobs, n_jobs, err));
    c->out->n_jobs = n_jobs;
    c->out->n_plans = 1;
    FAB_PASS(FAB_NEW(c->out->engines, n_engines, err));
    c->out->n_engines = n_engines;
    for (size_t e = 0; e < n_engines; e++) {
        const fab_router *router = NULL;
        fab_contention_engine *engine = &c->out->engines[e];
        FAB_PASS(fab_context_router(c->base->context, e, &router, err));
        c->n_seeds[e] = fab_router_facts_of(router)->is_seeded ? c->base->n_seeds : 1;
        FAB_FORMAT(engine->label, "%s", fab_router_facts_of(router)->label);
        FAB_PASS(FAB_NEW(engine->jobs, n_jobs, err));
    }
    return FAB_OK;
}

static void close_contention(contender *c, size_t n_jobs) {
    for (size_t job = 1; c->alone != NULL && job < n_jobs; job++) {
        c->alone[job].fabrics = NULL; /* the first job's */
        fab_result_release(&c->alone[job]);
    }
    FAB_RELEASE_EACH(fab_traffic_release, c->traffic, n_jobs);
    FAB_FREE_ALL(c->alone, c->traffic, c->n_seeds);
    fab_contention_free(c->out);
}

fab_status fab_contend(const fab_replay *base, const fab_result *first, unsigned further, fab_contention **out,
                       fab_error *err) {
    fab_status status = FAB_OK;
    FAB_OWNED fab_design *placed = NULL;
    FAB_OWNED fab_design *alone = NULL;
    contender c = {.base = base, .what = fab_context_what(base->context)};
    contended m = {.c = &c};
    size_t n_jobs = c.what->design->n_jobs;
    FAB_FAIL_IF(n_jobs < 2, err, FAB_EINPUT, c.what->design->fabric.where,
                "the design has no second job to contend with");
    FAB_TRY(FAB_NEW_ALL(1, err, placed, alone));
    FAB_TRY(fab_jobs_place(c.what->design, c.what->fabric, placed, err));
    FAB_TRY(open_contention(&c, n_jobs, err));
    for (size_t job = 0; job < n_jobs; job++) {
        FAB_TRY(take_job(&c, placed, job, alone, first, err));
        FAB_TRY(choose_phase(&c, &c.out->jobs[job], &placed->jobs[job], err));
    }
    FAB_TRY(contend_phases(&m, err));
    FAB_TRY(contend_iterate(&c, err));
    const bool expects = (further & (FAB_CONTEND_CHANCE | FAB_CONTEND_RIVALS)) && contend_can_expect(&c);
    const bool shows = (further & FAB_CONTEND_PAIRS) != 0;
    FAB_TRY(expects || shows ? contend_interfere(&c, !shows, err) : FAB_OK);
    FAB_TRY(expects ? contend_expect(&c, err) : FAB_OK);
    FAB_TRY(further & FAB_CONTEND_RIVALS ? contend_rivals(&m, err) : FAB_OK);
    if (!shows) {
        release_pairs(c.out);
    }
    *out = c.out;
    c.out = NULL;
done:
    contended_release(&m);
    close_contention(&c, n_jobs);
    return status;
}

/* --- engines with plans of their own ------------------------------------------------------------------------------ */

/* `found` is of the engines with these places among all. It is emptied. */
static void join_found(fab_contention *found, const size_t *engine, fab_contention *all) {
    const size_t n_pairs = found->n_interference / found->n_engines;
    const size_t first = all->n_plans++ * all->n_jobs;
    char of[sizeof found->jobs->engines] = "";
    for (size_t k = 0; k < found->n_engines; k++) {
        fab_append(of, sizeof of, "%s%zu", k > 0 ? ", " : "", engine[k] + 1);
        found->engines[k].first_job = first;
        all->engines[engine[k]] = found->engines[k];
        for (size_t i = 0; i < n_pairs; i++) {
            fab_interference *pair = &all->interference[engine[k] * n_pairs + i];
            *pair = found->interference[k * n_pairs + i];
            pair->engine = (uint32_t)engine[k];
        }
    }
    for (size_t job = 0; job < all->n_jobs; job++) {
        fab_contending_job *j = &all->jobs[first + job];
        *j = found->jobs[job];
        FAB_FORMAT(j->engines, "%s", of);
        for (size_t i = 0; i < j->n_alone; i++) {
            j->alone[i].engine = (uint32_t)engine[j->alone[i].engine];
        }
    }
    FAB_FREE_ALL(found->jobs, found->engines, found->interference);
    *found = (fab_contention){.n_jobs = 0};
}

fab_status fab_contention_join(fab_contention *const *parts, const size_t *const *engine, size_t n_parts,
                               fab_contention **out, fab_error *err) {
    FAB_OWNS_NEW(fab_contention_free_owned, fab_contention, all, 1, err);
    FAB_SUM(size_t, n_engines, i, n_parts, parts[i]->n_engines);
    FAB_SUM(size_t, n_pairs, i, n_parts, parts[i]->n_interference);
    all->wiring = parts[0]->wiring;
    all->n_jobs = parts[0]->n_jobs;
    FAB_PASS(FAB_NEW(all->jobs, n_parts * all->n_jobs, err));
    FAB_PASS(FAB_NEW(all->engines, n_engines, err));
    FAB_PASS(FAB_NEW(all->interference, n_pairs, err));
    all->n_engines = n_engines;
    all->n_interference = n_pairs;
    for (size_t i = 0; i < n_parts; i++) {
        join_found(parts[i], engine[i], all);
    }
    return FAB_GIVE(*out, all);
}
