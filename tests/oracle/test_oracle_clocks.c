/* What jobs lose where phases meet by chance, against jobs that run: one link, thousands of iterations, and clocks that
 * drift. The oracle knows neither pairs of phases nor how often they meet. */
#include "fab/contend.h"
#include "fab/design.h"
#include "fab/rng.h"
#include "fabric_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define MOST_JOBS  3
#define ITERATIONS 40000

typedef struct clock {
    double compute_s, send_s; /**< of an iteration alone */
    double left_s;            /**< of what it does now */
    bool sends;
    uint64_t n;             /**< iterations that are over */
    double since_s, late_s; /**< when it began to send; in all, how much longer than alone that took */
} clock;

/* From 0 to 1. */
static double drawn(fab_rng *rng) {
    return (double)(fab_rng_next(rng) >> 11) * 0x1p-53;
}

/* Jobs compute, half to one and a half times as long as they do in the mean, and send over the link that they share. */
static void run_clocks(clock *jobs, size_t n, uint64_t seed) {
    fab_rng rng = fab_rng_make(seed, 7);
    double now_s = 0;
    for (size_t i = 0; i < n; i++) {
        jobs[i].left_s = drawn(&rng) * jobs[i].compute_s;
    }
    while (jobs[0].n < ITERATIONS) {
        size_t n_sending = 0;
        size_t next = 0;
        double step_s = INFINITY;
        for (size_t i = 0; i < n; i++) {
            n_sending += jobs[i].sends;
        }
        for (size_t i = 0; i < n; i++) {
            const double needs_s = jobs[i].left_s * (jobs[i].sends ? (double)n_sending : 1);
            next = needs_s < step_s ? i : next;
            step_s = fmin(step_s, needs_s);
        }
        for (size_t i = 0; i < n; i++) {
            jobs[i].left_s -= step_s / (jobs[i].sends ? (double)n_sending : 1);
        }
        now_s += step_s;
        clock *at = &jobs[next];
        at->n += at->sends;
        at->late_s += at->sends ? now_s - at->since_s - at->send_s : 0;
        at->since_s = now_s;
        at->sends = !at->sends;
        at->left_s = at->sends ? at->send_s : at->compute_s * (0.5 + drawn(&rng));
    }
}

typedef struct sharing {
    const char *fabric;
    size_t n;
    const char *jobs[MOST_JOBS];
    double most_error; /**< of the loss, relative */
} sharing;

static void check(const sharing *s) {
    fab_design *design = calloc(1, sizeof *design);
    fab_fabric *fabric = fixture_build(s->fabric, design, NULL);
    for (size_t i = 0; i < s->n; i++) {
        fixture_set_keys(design, i, s->jobs[i]);
    }
    const fab_engine_spec engine = fixture_spec("dmodk");
    const fab_context_request request = {
        .design = design, .fabric = fabric, .traffic = "job", .engines = &engine, .n_engines = 1, .seed = 1};
    fab_context *context = fixture_context(&request);
    const fab_replay replay = {.context = context, .n_seeds = 1, .n_threads = 1, .rates = true};
    fab_fabric_result cost = {.name = "test"};
    fab_result first = {.fabrics = &cost, .n_fabrics = 1};
    fab_contention *c = NULL;
    fab_error err = {0};
    cr_assert_eq(fab_replay_run(&replay, &first, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_contend(&replay, &first, FAB_CONTEND_RIVALS, &c, &err), FAB_OK, "%s", err.text);
    const fab_contention_engine *e = &c->engines[0];

    cr_assert(e->has_expected);
    cr_expect_eq(c->n_interference, 0, "pairs that nobody asked for are not shown");
    clock jobs[MOST_JOBS] = {0};
    double costs_gpus = 0;
    double lost_gpus = 0;
    for (size_t i = 0; i < s->n; i++) {
        const fab_contended_phase *m = &e->jobs[i];
        const double stretch =
            (m->iteration_together_s - m->iteration_alone_s) / (m->together_s.mean - m->alone_s.mean);
        const double send_s = stretch * m->alone_s.mean; /* in an iteration, nothing of it hidden */
        jobs[i] = (clock){.send_s = send_s, .compute_s = m->iteration_alone_s - send_s};
        cr_assert_gt(jobs[i].compute_s, 0, "%s: %g of %g", s->jobs[i], m->alone_s.mean, m->iteration_alone_s);
        costs_gpus += m->costs_gpus;
        lost_gpus += c->jobs[i].n_gpus * (1 - m->iteration_alone_s / m->expected_s);
    }
    cr_expect_float_eq(costs_gpus, lost_gpus, 1e-9 * lost_gpus, "%g and %g", costs_gpus, lost_gpus);
    run_clocks(jobs, s->n, 1 + s->n);
    for (size_t i = 0; i < s->n; i++) {
        const fab_contended_phase *m = &e->jobs[i];
        const double ran_s = jobs[i].late_s / (double)jobs[i].n;
        const double said_s = m->expected_s - m->iteration_alone_s;
        cr_expect_lt(fabs(said_s / ran_s - 1), s->most_error,
                     "job %zu of %zu, which sends %.3g of its time: %g, ran %g", i, s->n,
                     jobs[i].send_s / m->iteration_alone_s, said_s, ran_s);
    }
    fab_contention_free(c);
    first.fabrics = NULL;
    fab_result_release(&first);
    fab_context_free(context);
    fab_fabric_free(fabric);
    free(design);
}

#define TWO   "fat-tree:xgft=2;2,2;1,1,gpus-per-server=1,domain=1"
#define THREE "fat-tree:xgft=2;3,2;1,1,gpus-per-server=1,domain=1"
#define JOB   "tp=1 pp=1 dp=2 memory-check=off dp-overlap=0 "

Test(clocks, losses_by_chance_are_those_of_jobs_that_run) {
    static const sharing CASES[] = {
        {TWO, 2, {JOB "model=gpt-1.7b batch=64 servers=0,2", JOB "model=gpt-1.7b batch=64 servers=1,3"}, 0.05},
        {TWO, 2, {JOB "model=gpt-1.7b batch=32 servers=0,2", JOB "model=gpt-3.6b batch=64 servers=1,3"}, 0.05},
        {TWO, 2, {JOB "model=gpt-1.7b batch=8 servers=0,2", JOB "model=gpt-7.5b batch=32 servers=1,3"}, 0.05},
        {THREE,
         3,
         {JOB "model=gpt-1.7b batch=64 servers=0,3", JOB "model=gpt-3.6b batch=64 servers=1,4",
          JOB "model=gpt-1.7b batch=32 servers=2,5"},
         0.1},
        {THREE,
         3,
         {JOB "model=gpt-1.7b batch=16 servers=0,3", JOB "model=gpt-3.6b batch=16 servers=1,4",
          JOB "model=gpt-1.7b batch=16 servers=2,5"},
         0.2},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        check(&CASES[i]);
    }
}
