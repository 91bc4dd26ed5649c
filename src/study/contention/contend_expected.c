/* What jobs cost each other where their clocks are their own: every pair of phases started at once, by how often it
 * meets. See src/doc/adr/0121-phases-that-meet-by-chance.md. */
#include "contend_internal.h"

#include "fab/design.h"
#include "fab/parallel.h"
#include "fab/verdict.h"

#define SAME 1e-9 /* factors this close to 1 are 1 */

/* Of a job's iteration, started at once with the other's phase: what it loses to each of these, by how often. */
static fab_status lose(void *context, size_t index, FAB_UNUSED size_t worker, fab_error *err) {
    const contender *c = context;
    fab_interference *t = &c->out->interference[index];
    const fab_contention_engine *e = &c->out->engines[t->engine];
    if (!e->has_expected || !e->jobs[t->job].has_iteration || !e->jobs[t->other].has_iteration) {
        return FAB_OK;
    }
    for (size_t row = 0; row < t->n_rows; row++) {
        const double own_s = contend_alone(c, t->job, t->phase[row], t->engine)->time_s;
        for (size_t column = 0; column < t->n_columns; column++) {
            const double its_s = contend_alone(c, t->other, t->other_phase[column], t->engine)->time_s;
            const double factor = t->slowdown[row * t->n_columns + column];
            double found_s = e->jobs[t->job].iteration_alone_s;
            if (fabs(factor - 1) > SAME) {
                FAB_PASS(contend_iterate_at(c, t->job, t->phase[row], t->engine, factor * own_s, &found_s, err));
            }
            t->lost_s += (found_s - e->jobs[t->job].iteration_alone_s) * fmax(own_s, its_s) /
                         fab_compute_default.nic_ratio / e->jobs[t->other].iteration_alone_s;
        }
    }
    return FAB_OK;
}

/* Whether several jobs that contend have an iteration in which phases recur, and their network phases times. */
static bool has_clocks(const contender *c, size_t engine) {
    bool has = c->out->engines[engine].n_iterating > 1;
    for (size_t job = 0; job < c->out->n_jobs && has; job++) {
        const fab_contending_job *j = &c->out->jobs[job];
        for (size_t p = 0; p < j->n_phases && has && c->out->engines[engine].jobs[job].has_iteration; p++) {
            has = j->network_flows[p] == 0 || contend_alone(c, job, p, engine)->has_time;
        }
    }
    return has;
}

bool contend_can_expect(contender *c) {
    const size_t n = c->out->n_jobs;
    uint64_t flows = 0; /* of all pairs of phases: each goes with every one of all other jobs */
    uint64_t phases = 0;
    for (size_t job = 0; job < n; job++) {
        for (size_t p = 0; p < c->out->jobs[job].n_phases; p++) {
            flows += c->out->jobs[job].network_flows[p] > 0 ? c->traffic[job].phases[p].n_flows : 0;
            phases += c->out->jobs[job].network_flows[p] > 0;
        }
    }
    bool can = c->what->design->fabric.transport.kind == FAB_TRANSPORT_FLUID && n <= FAB_INTERFERENCE_JOBS;
    FAB_SUM(uint64_t, seeds, e, c->out->n_engines, c->n_seeds[e]);
    const uint64_t rounds = (seeds + FAB_VERDICT_SEEDS - 1) / FAB_VERDICT_SEEDS;
    can = can && phases > 0 && flows <= FAB_RIVAL_FLOWS / phases / (rounds > 0 ? rounds : 1);
    for (size_t e = 0; e < c->out->n_engines; e++) {
        c->out->engines[e].has_expected = can && has_clocks(c, e);
    }
    FAB_ANY(any, e, c->out->n_engines, c->out->engines[e].has_expected);
    return any;
}

/* Of a job whose loss by chance is known: to whom most of it goes, and what it takes without that one. */
static void find_rival_by_chance(const contender *c, size_t engine, size_t job) {
    fab_contended_phase *out = &c->out->engines[engine].jobs[job];
    const size_t n = c->out->n_jobs - 1;
    const fab_interference *to = &c->out->interference[(engine * c->out->n_jobs + job) * n]; /* by other job */
    const double little_s = FAB_VERDICT_LITTLE * out->expected_s;
    const fab_interference *most = to;
    FAB_EACH(const fab_interference, t, to, n) {
        out->n_tried += c->out->engines[engine].jobs[t->other].has_iteration;
        most = t->lost_s > most->lost_s ? t : most;
    }
    out->has_rival = most->lost_s > little_s;
    out->rival = most->other;
    out->without_s = out->expected_s - most->lost_s;
    FAB_EACH(const fab_interference, t, to, n) {
        out->n_rivals_even += out->has_rival && t != most && most->lost_s - t->lost_s <= little_s;
    }
}

fab_status contend_expect(contender *c, fab_error *err) {
    FAB_PASS(fab_parallel_for(c->out->n_interference, c->base->n_threads, lose, c, err));
    for (size_t e = 0; e < c->out->n_engines; e++) {
        fab_contention_engine *engine = &c->out->engines[e];
        double gpus = 0;
        for (size_t job = 0; job < c->out->n_jobs; job++) {
            const fab_contended_phase *j = &engine->jobs[job];
            engine->jobs[job].expected_s = engine->has_expected && j->has_iteration ? j->iteration_alone_s : 0;
        }
        FAB_EACH(const fab_interference, t, c->out->interference, c->out->n_interference) {
            engine->jobs[t->job].expected_s += t->engine == e ? t->lost_s : 0;
        }
        FAB_EACH(const fab_interference, t, c->out->interference, c->out->n_interference) {
            const double expected_s = engine->jobs[t->job].expected_s;
            engine->jobs[t->other].costs_gpus +=
                t->engine == e && expected_s > 0 ? c->out->jobs[t->job].n_gpus * t->lost_s / expected_s : 0;
        }
        for (size_t job = 0; job < c->out->n_jobs; job++) {
            if (engine->jobs[job].expected_s > 0) {
                find_rival_by_chance(c, e, job);
            }
            gpus += fab_contended_counts(engine, job) ? c->out->jobs[job].n_gpus : 0;
            engine->expected_lost_ratio += engine->jobs[job].costs_gpus;
        }
        engine->expected_lost_ratio /= gpus > 0 ? gpus : 1;
    }
    return FAB_OK;
}
