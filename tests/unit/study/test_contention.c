/* Jobs that share a fabric: what one does to the other. */
#include "fab/advise.h"
#include "fab/contend.h"
#include "fab/design.h"
#include "fab/job_sharing.h"
#include "fab/rng.h"
#include "fab/trace.h"

#include "fab/fluid.h"
#include "fabric_fixture.h"
#include "sharing_fixture.h"

#include <math.h>
#include <string.h>

#define FABRIC "clos:gpus=64,radix=24/16,gpus-per-server=8,taper=2"

/* Room for a design of several jobs, which is too large for a stack. */
static fab_design *new_design(const char *text, fab_fabric **fabric) {
    fab_design *design = calloc(1, sizeof *design);
    cr_assert_not_null(design);
    *fabric = fixture_build(text, design, NULL);
    return design;
}

typedef struct outcome {
    fab_contention *c;
    fab_result first;
} outcome;

static fab_status contend(const fab_design *design, const fab_fabric *fabric, const char *engine, bool pairs,
                          uint64_t n_seeds, size_t n_threads, outcome *out, fab_error *err) {
    const fab_engine_spec spec = fixture_spec(engine);
    const fab_context_request what_of_replay = {
        .design = design, .fabric = fabric, .traffic = "job", .engines = &spec, .n_engines = 1, .seed = 1};
    fab_context *context = fixture_context(&what_of_replay);
    const fab_replay replay = {.context = context, .n_seeds = n_seeds, .n_threads = n_threads, .rates = true};
    memset(out, 0, sizeof *out);
    fab_status status = fab_replay_run(&replay, &out->first, err);
    status = status == FAB_OK ? fab_contend(&replay, &out->first, FAB_CONTEND_RIVALS | (pairs ? FAB_CONTEND_PAIRS : 0U),
                                            &out->c, err)
                              : status;
    fab_context_free(context);
    return status;
}

static outcome contended(const fab_design *design, const fab_fabric *fabric, const char *engine) {
    outcome out;
    fab_error err = {0};
    cr_assert_eq(contend(design, fabric, engine, true, 1, 1, &out, &err), FAB_OK, "%s: %s", err.where, err.text);
    return out;
}

static void release(outcome *out) {
    fab_contention_free(out->c);
    fab_result_release(&out->first);
}

static const char *const ENGINES[] = {"ecmp", "ecmp,qp=4", "dmodk", "pinned", "spray"};

/* Jobs whose flows stay under leaves of their own share nothing: the same to the last bit. */
Test(contention, jobs_apart_take_as_long_as_alone) {
    fab_fabric *fabric;
    fab_design *design = new_design(FABRIC, &fabric);
    fixture_set_keys(design, 0, "tp=8 dp=4 servers=0-3 memory-check=off");
    fixture_set_keys(design, 1, "tp=8 dp=4 servers=4-7 memory-check=off");
    for (size_t i = 0; i < 5; i++) {
        outcome out = contended(design, fabric, ENGINES[i]);
        for (size_t job = 0; job < 2; job++) {
            const fab_contended_phase *m = &out.c->engines[0].jobs[job];
            cr_expect_str_eq(out.c->jobs[job].phase, "dp");
            cr_expect_eq(m->together_s.mean, m->alone_s.mean, "%s: %.17g and %.17g", ENGINES[i], m->together_s.mean,
                         m->alone_s.mean);
            cr_expect_eq(m->slowdown.mean, 1);
            cr_expect_gt(m->alone_s.mean, 0);
        }
        cr_expect_eq(out.c->engines[0].n_shared, 0);
        /* alone is what the replay of the job says */
        const fab_phase_result *dp = &out.first.phases[out.c->jobs[0].phase_index];
        cr_expect_float_eq(out.c->engines[0].jobs[0].alone_s.mean, dp->engines[0].time_s.mean,
                           1e-12 * dp->engines[0].time_s.mean);
        release(&out);
    }
    free(design);
    fab_fabric_free(fabric);
}

/* Two rings through the same cable: one server of either job on each of two leaves, which one cable joins by way of the
 * only spine. */
Test(contention, the_same_job_twice_on_the_same_links_takes_twice_as_long) {
    fab_fabric *fabric;
    fab_design *design = new_design("fat-tree:xgft=2;2,2;1,1,gpus-per-server=1,domain=1", &fabric);
    fixture_set_keys(design, 0, "tp=1 dp=2 servers=0,2 memory-check=off");
    fixture_set_keys(design, 1, "tp=1 dp=2 servers=1,3 memory-check=off");
    outcome out = contended(design, fabric, "dmodk");
    const fab_contention_engine *e = &out.c->engines[0];
    for (size_t job = 0; job < 2; job++) {
        double latency_s = out.c->jobs[job].alone[out.c->jobs[job].phase_index].latency_s;
        double alone_s = e->jobs[job].alone_s.mean - latency_s;
        double together_s = e->jobs[job].together_s.mean - latency_s;
        cr_expect_float_eq(together_s, 2 * alone_s, 1e-9 * alone_s, "%g and %g", together_s, alone_s);
        cr_expect_eq(e->jobs[job].shared_links, 4, "up and down at either leaf");
    }
    cr_expect_eq(e->n_shared, 4);
    cr_assert_eq(e->n_worst, 4);
    cr_expect_eq(e->worst[0].n_parts, 2);
    cr_expect_float_eq(e->worst[0].busy_s, 2 * e->worst[0].parts[0].busy_s, 1e-12);
    release(&out);
    free(design);
    fab_fabric_free(fabric);
}

/* A fabric of two leaves and a cable between them, and jobs that all send over it: sizes of models decide who sends how
 * much. `left_out`: a job that is not there. */
static fab_design *jobs_of_a_cable(const char *const *models, size_t n, size_t left_out, fab_fabric **fabric) {
    fab_design *design = new_design("fat-tree:xgft=2;4,2;1,1,gpus-per-server=1,domain=1", fabric);
    for (size_t i = 0, job = 0; i < n; i++) {
        if (i != left_out) {
            char text[128];
            (void)snprintf(text, sizeof text, "id=%c tp=1 dp=2 servers=%zu,%zu memory-check=off model=%s contends=dp",
                           (char)('a' + i), i, i + 4, models[i]);
            fixture_set_keys(design, job++, text);
        }
    }
    return design;
}

/* Every job, under one and several seeds: without its rival it takes what a design without that job says, and without
 * any other at least as much. */
static void check_rivals(const char *const *models, size_t n, const char *engine, uint64_t n_seeds) {
    fab_fabric *fabric;
    fab_error err = {0};
    outcome all;
    double least_s[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    fab_design *design = jobs_of_a_cable(models, n, n, &fabric);
    cr_assert_eq(contend(design, fabric, engine, false, n_seeds, 2, &all, &err), FAB_OK, "%s", err.text);
    for (size_t left_out = 0; left_out < n; left_out++) {
        outcome then;
        fab_fabric *same;
        fab_design *fewer = jobs_of_a_cable(models, n, left_out, &same);
        if (n > 2) {
            cr_assert_eq(contend(fewer, same, engine, false, n_seeds, 1, &then, &err), FAB_OK, "%s", err.text);
        }
        for (size_t i = 0; i < n; i++) {
            const fab_contended_phase *m = &all.c->engines[0].jobs[i];
            if (i == left_out) {
                continue;
            }
            const size_t row = i - (i > left_out);
            const double then_s =
                n == 2 ? fab_contended_s(m, false) : fab_contended_now_s(&then.c->engines[0].jobs[row]);
            least_s[i] = fmin(least_s[i], then_s);
            cr_expect_eq(m->n_tried, n - 1);
            if (m->has_rival && m->rival == left_out) {
                cr_expect_float_eq(m->without_s, then_s, 1e-9 * then_s, "%s, job %zu without %zu", engine, i, left_out);
                cr_expect_lt(m->without_s, fab_contended_now_s(m) * (1 - 1e-3));
                cr_expect_neq(m->rival_link[0], '\0');
            }
        }
        if (n > 2) {
            release(&then);
        }
        free(fewer);
        fab_fabric_free(same);
    }
    for (size_t i = 0; i < n; i++) {
        const fab_contended_phase *m = &all.c->engines[0].jobs[i];
        cr_expect(m->has_rival, "%s: job %zu", engine, i);
        cr_expect_float_eq(m->without_s, least_s[i], 1e-9 * least_s[i], "%s: job %zu has a worse rival", engine, i);
    }
    release(&all);
    free(design);
    fab_fabric_free(fabric);
}

Test(contention, without_the_rival_a_job_takes_what_is_said) {
    static const char *const MODELS[] = {"gpt-7.5b", "gpt-7.5b", "gpt-1.7b", "gpt-3.6b"};
    for (size_t n = 2; n <= 4; n++) {
        check_rivals(MODELS, n, "dmodk", 1);
        check_rivals(MODELS, n, "ecmp", 3);
        check_rivals(MODELS, n, "spray", 1);
    }
}

/* Of three that send as much, either of the others gives back as much: a third. */
Test(contention, equal_rivals_are_counted) {
    static const char *const MODELS[] = {"gpt-1.7b", "gpt-1.7b", "gpt-1.7b"};
    fab_fabric *fabric;
    fab_design *design = jobs_of_a_cable(MODELS, 3, 3, &fabric);
    outcome out = contended(design, fabric, "dmodk");
    const fab_contended_phase *m = &out.c->engines[0].jobs[0];
    cr_expect(m->has_rival);
    cr_expect_eq(m->rival, 1);
    cr_expect_eq(m->n_rivals_even, 1);
    double lost = 0;
    for (size_t job = 0; job < 3; job++) { /* GPUs are as many for each */
        const fab_contended_phase *each = &out.c->engines[0].jobs[job];
        lost += 1 - fab_contended_s(each, false) / fab_contended_s(each, true);
    }
    cr_expect_float_eq(out.c->engines[0].lost_ratio, lost / 3, 1e-12);
    release(&out);
    free(design);
    fab_fabric_free(fabric);
}

static double saved_by(const fab_contention *before, const fab_contention *after) {
    double saved = 0;
    double gpus = 0;
    for (size_t job = 0; job < before->n_jobs; job++) {
        const fab_contended_phase *m = &before->engines[0].jobs[job];
        saved +=
            before->jobs[job].n_gpus * (1 - fab_contended_now_s(&after->engines[0].jobs[job]) / fab_contended_now_s(m));
        gpus += before->jobs[job].n_gpus;
    }
    return saved / gpus;
}

/* Each remedy is what the jobs take when they are run so. */
Test(contention, remedies_are_runs_of_all_jobs) {
    fab_fabric *fabric;
    fab_design *design = new_design(FABRIC, &fabric);
    fab_error err = {0};
    const fab_engine_spec spec = fixture_spec("ecmp");
    fixture_set_keys(design, 0, "tp=8 dp=4 servers=0,2,4,6 memory-check=off");
    fixture_set_keys(design, 1, "tp=8 pp=2 dp=2 memory-check=off");
    const fab_context_request what = {
        .design = design, .fabric = fabric, .traffic = "job", .engines = &spec, .n_engines = 1, .seed = 1};
    fab_context *context = fixture_context(&what);
    const fab_replay replay = {.context = context, .n_seeds = 1, .n_threads = 2, .rates = true};
    outcome now = contended(design, fabric, "ecmp");
    cr_assert_eq(fab_job_remedies_try(&replay, &now.first, 0, 0, now.c, &err), FAB_OK, "%s", err.text);
    static const char *const WHAT[] = {"ecmp,qp=16", "spray", "in order"}; /* what moves no job first */
    cr_assert_eq(now.c->n_remedies, 3);
    for (size_t i = 0; i < 3; i++) {
        const fab_job_remedy *remedy = &now.c->remedies[i];
        cr_expect_str_eq(remedy->what, WHAT[i]);
        fixture_set_keys(design, 0, remedy->is_engine ? "servers=0,2,4,6" : "servers=0-3");
        outcome then = contended(design, fabric, remedy->is_engine ? WHAT[i] : "ecmp");
        for (size_t job = 0; job < 2; job++) {
            const double now_s = fab_contended_now_s(&now.c->engines[0].jobs[job]);
            const double then_s = fab_contended_now_s(&then.c->engines[0].jobs[job]);
            cr_expect_eq(remedy->saved[job], 1 - then_s / now_s, "%s", WHAT[i]);
        }
        cr_expect_float_eq(remedy->saved_ratio, saved_by(now.c, then.c), 1e-12);
        cr_expect(!remedy->by_chance, "these jobs have no iteration");
        cr_expect_eq(remedy->n_faster + remedy->n_slower, 2);
        release(&then);
    }
    cr_expect_eq(fab_contention_remedy(now.c, 0), 1, "spray saves clearly more than the others");
    now.c->remedies[0].saved[0] = now.c->remedies[1].saved[0] - 1e-5;
    cr_expect_eq(fab_contention_remedy(now.c, 0), 0, "of equals the easiest");
    release(&now);
    fab_context_free(context);
    free(design);
    fab_fabric_free(fabric);
}

/* The table of pairs has the contention of two jobs, from both sides. */
Test(contention, interference_agrees_with_contention) {
    fab_fabric *fabric;
    fab_design *design = new_design(FABRIC, &fabric);
    fixture_set_keys(design, 0, "tp=8 dp=4 servers=0,2,4,6 memory-check=off");
    fixture_set_keys(design, 1, "tp=8 dp=2 pp=2 memory-check=off");
    outcome out = contended(design, fabric, "ecmp");
    cr_assert_eq(out.c->n_interference, 2);
    for (size_t i = 0; i < 2; i++) {
        const fab_interference *t = &out.c->interference[i];
        const fab_contending_job *job = &out.c->jobs[t->job];
        const fab_contending_job *other = &out.c->jobs[t->other];
        double sum = 0;
        double weights = 0;
        bool found = false;
        cr_assert_gt(t->n_rows * t->n_columns, 0);
        for (size_t k = 0; k < t->n_rows * t->n_columns; k++) {
            uint32_t row = t->phase[k / t->n_columns];
            uint32_t column = t->other_phase[k % t->n_columns];
            double weight = job->alone[row].time_s * other->alone[column].time_s;
            sum += weight * t->slowdown[k];
            weights += weight;
            cr_expect_leq(t->slowdown[k], t->worst);
            if (row == job->phase_index && column == other->phase_index) {
                found = true;
                cr_expect_float_eq(t->slowdown[k], out.c->engines[0].jobs[t->job].slowdown.mean, 1e-9);
            }
        }
        cr_expect(found);
        cr_expect_float_eq(t->mean, sum / weights, 1e-12);
    }
    release(&out);
    free(design);
    fab_fabric_free(fabric);
}

Test(contention, every_thread_count_and_some_seeds_give_the_same) {
    fab_fabric *fabric;
    fab_design *design = new_design(FABRIC, &fabric);
    fixture_set_keys(design, 0, "tp=8 dp=4 servers=0,2,4,6 memory-check=off");
    fixture_set_keys(design, 1, "tp=8 pp=4 memory-check=off");
    fab_stat one = {0};
    for (size_t n_threads = 1; n_threads <= 3; n_threads++) {
        outcome out;
        fab_error err = {0};
        cr_assert_eq(contend(design, fabric, "ecmp", true, 5, n_threads, &out, &err), FAB_OK, "%s", err.text);
        fab_stat got = out.c->engines[0].jobs[1].slowdown;
        cr_expect_eq(out.c->engines[0].n_seeds, 5);
        cr_expect_gt(got.max, got.min);
        if (n_threads == 1) {
            one = got;
        }
        cr_expect_eq(memcmp(&one, &got, sizeof one), 0);
        release(&out);
    }
    free(design);
    fab_fabric_free(fabric);
}

Test(contention, an_iteration_is_longer_by_what_is_exposed) {
    fab_fabric *fabric;
    fab_design *design = new_design(FABRIC, &fabric);
    fab_fabric_result cost = {.name = "test"};
    fixture_set_keys(design, 0, "tp=8 dp=4 servers=0,2,4,6 memory-check=off");
    fixture_set_keys(design, 1, "tp=8 dp=4 memory-check=off");
    const fab_engine_spec spec = fixture_spec("spray");
    const fab_context_request what_of_replay = {
        .design = design, .fabric = fabric, .traffic = "job", .engines = &spec, .n_engines = 1, .seed = 1};
    fab_context *context = fixture_context(&what_of_replay);
    const fab_replay replay = {.context = context, .n_seeds = 1, .n_threads = 1, .rates = true};
    fab_result first = {.fabrics = &cost, .n_fabrics = 1};
    fab_contention *c = NULL;
    fab_error err = {0};
    cr_assert_eq(fab_replay_run(&replay, &first, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_contend(&replay, &first, 0, &c, &err), FAB_OK, "%s", err.text);
    cr_expect_eq(c->n_interference, 0);
    for (size_t job = 0; job < 2; job++) {
        const fab_contended_phase *m = &c->engines[0].jobs[job];
        cr_assert(m->has_iteration);
        double longer_s = m->iteration_together_s - m->iteration_alone_s;
        double phase_s = m->together_s.mean - m->alone_s.mean;
        cr_expect_gt(m->slowdown.mean, 1.5);
        cr_expect_geq(longer_s, phase_s * (1 - 1e-9), "nothing of it is hidden by default: %g, %g", longer_s, phase_s);
    }
    fab_contention_free(c);
    fab_context_free(context);
    first.fabrics = NULL;
    fab_result_release(&first);
    free(design);
    fab_fabric_free(fabric);
}

static void refused(const fab_design *design, const fab_fabric *fabric, const char *message) {
    outcome out;
    fab_error err = {0};
    fab_status status = contend(design, fabric, "dmodk", true, 1, 1, &out, &err);
    cr_expect_eq(status, FAB_EINPUT, "%s", message);
    cr_expect_str_eq(err.text, message);
    release(&out);
}

Test(contention, names_of_phases) {
    fab_fabric *fabric;
    fab_design *design = new_design(FABRIC, &fabric);
    fixture_set_keys(design, 0, "tp=8 dp=4 servers=0,2,4,6 memory-check=off contends=pp");
    fixture_set_keys(design, 1, "tp=8 dp=4 memory-check=off contends=none");
    refused(design, fabric, "contends: job 'job' has no phase 'pp'; it has tp, dp, or none");
    fixture_set_keys(design, 0, "contends=tp");
    outcome out = contended(design, fabric, "dmodk");
    cr_expect_str_eq(out.c->jobs[0].phase, "tp");
    cr_expect_str_eq(out.c->jobs[1].phase, "");
    cr_expect_eq(out.c->engines[0].jobs[0].slowdown.mean, 1);
    cr_expect_eq(out.c->engines[0].jobs[1].alone_s.mean, 0);
    release(&out);
    fixture_set_keys(design, 0, "contends=none");
    out = contended(design, fabric, "dmodk");
    cr_expect_eq(out.c->engines[0].n_tiers, 0);
    release(&out);
    free(design);
    fab_fabric_free(fabric);
}

/* --- servers ------------------------------------------------------------------------------------------------------ */

static void placed(const fab_design *design, const fab_fabric *fabric, size_t n, const char *const *servers) {
    fab_design *out = calloc(1, sizeof *out);
    fab_error err = {0};
    cr_assert_eq(fab_jobs_place(design, fabric, out, &err), FAB_OK, "%s", err.text);
    for (size_t i = 0; i < n; i++) {
        cr_expect_str_eq(fab_design_list(out, out->jobs[i].servers), servers[i]);
    }
    free(out);
}

static void not_placed(const fab_design *design, const fab_fabric *fabric, const char *message) {
    fab_design *out = calloc(1, sizeof *out);
    fab_error err = {0};
    cr_expect_eq(fab_jobs_place(design, fabric, out, &err), FAB_EINPUT, "%s", message);
    cr_expect_str_eq(err.text, message);
    cr_expect_eq(out->n_jobs, 0, "output written by a failed call");
    free(out);
}

Test(job_sharing, open_jobs_take_what_is_left_in_order) {
    fab_fabric *fabric;
    fab_design *design = new_design(FABRIC, &fabric);
    fixture_set_keys(design, 0, "tp=8 dp=2");
    fixture_set_keys(design, 1, "servers=0,5");
    fixture_set_keys(design, 2, "n-servers=1");
    fixture_set_keys(design, 3, "id=rest");
    placed(design, fabric, 4, (const char *const[]){"1-4", "0,5", "3-4", "4,6-7"});
    fixture_set_keys(design, 2, "storage-servers=7");
    placed(design, fabric, 4, (const char *const[]){"1-4", "0,5", "3-4", "4,6"});
    free(design);
    fab_fabric_free(fabric);
}

Test(job_sharing, refuses_what_does_not_fit) {
    fab_fabric *fabric;
    fab_design *design = new_design(FABRIC, &fabric);
    fixture_set_keys(design, 0, "id=one servers=0-3");
    fixture_set_keys(design, 1, "id=two servers=3-5");
    not_placed(design, fabric, "jobs 'one' and 'two' both have server 3");
    fixture_set_keys(design, 1, "servers= gpus=40");
    not_placed(design, fabric, "job 'two' needs 5 servers, and the other jobs leave 4 of 8");
    fixture_set_keys(design, 0, "servers= tp=8");
    not_placed(
        design, fabric,
        "job 'one' leaves open how many servers it takes, and others follow; give it servers (not given, or an empty "
        "list), n-servers, gpus, or tp and dp");
    fixture_set_keys(design, 0, "servers=0-3 storage-servers=7");
    fixture_set_keys(design, 1, "gpus=auto servers=6,7");
    not_placed(design, fabric, "jobs 'one' and 'two' both have server 7");
    fixture_set_keys(design, 0, "servers=0-7 storage-servers=");
    fixture_set_keys(design, 1, "servers=");
    not_placed(design, fabric, "job 'two' needs 1 server, and the other jobs leave 0 of 8");
    free(design);
    fab_fabric_free(fabric);
}

/* As many jobs as there may be, each with a server on either leaf, through one cable: what there is of it is shared by
 * all, to the last bit of arithmetic. */
Test(contention, as_many_jobs_as_there_may_be_share_one_cable) {
    fab_fabric *fabric;
    fab_design *design = new_design("fat-tree:xgft=2;256,2;1,1,radix=512,gpus-per-server=1,domain=1", &fabric);
    for (size_t job = 0; job < FAB_MAX_JOBS; job++) {
        char text[96];
        (void)snprintf(text, sizeof text, "tp=1 dp=2 servers=%zu,%zu memory-check=off contends=dp", job, job + 256);
        fixture_set_keys(design, job, text);
    }
    outcome out;
    fab_error err = {0};
    cr_assert_eq(contend(design, fabric, "dmodk", false, 1, 2, &out, &err), FAB_OK, "%s: %s", err.where, err.text);
    const fab_contention_engine *e = &out.c->engines[0];
    cr_assert_eq(out.c->n_jobs, FAB_MAX_JOBS);
    for (size_t job = 0; job < FAB_MAX_JOBS; job++) {
        double latency_s = out.c->jobs[job].alone[out.c->jobs[job].phase_index].latency_s;
        double alone_s = e->jobs[job].alone_s.mean - latency_s;
        cr_assert_float_eq(e->jobs[job].together_s.mean - latency_s, 256 * alone_s, 1e-9 * 256 * alone_s);
    }
    cr_expect_eq(e->n_shared, 4);
    cr_expect_eq(e->worst[0].n_parts, FAB_MAX_JOBS);
    cr_expect_eq(e->jobs[0].n_tried, FAB_MAX_JOBS - 1);
    cr_expect_eq(e->jobs[0].n_rivals_even, e->jobs[0].has_rival ? FAB_MAX_JOBS - 2 : 0, "one is as good as another");
    release(&out);
    free(design);
    fab_fabric_free(fabric);
}

/* Random jobs: no GPU has two of them, and a job alone is where it is among the others. */
Test(job_sharing, random_jobs_never_share_a_gpu) {
    fab_rng rng = fab_rng_make(7, 0);
    fab_fabric *fabric;
    fab_design *design = new_design("clos:gpus=128,radix=32", &fabric);
    fab_design *out = calloc(1, sizeof *out);
    fab_design *alone = calloc(1, sizeof *alone);
    for (int round = 0; round < 60; round++) {
        fab_error err = {0};
        uint8_t used[128] = {0};
        design->n_jobs = 0;
        size_t n = 2 + fab_rng_below(&rng, 3);
        for (size_t job = 0; job < n; job++) {
            static const char *const PLACEMENTS[] = {"order", "random", "packed", "scattered"};
            char text[128];
            (void)snprintf(text, sizeof text, "tp=8 dp=%d placement=%s memory-check=off batch=64",
                           1 << fab_rng_below(&rng, 3), PLACEMENTS[fab_rng_below(&rng, 4)]);
            fixture_set_keys(design, job, text);
        }
        fab_status status = fab_jobs_place(design, fabric, out, &err);
        cr_assert_eq(status, FAB_OK, "%s", err.text);
        for (size_t job = 0; job < n; job++) {
            fab_design_copy_alone(out, job, alone);
            fab_traffic traffic = fixture_traffic("job", alone, fabric, 1);
            for (uint32_t i = 0; i < traffic.n_ranks; i++) {
                cr_expect_eq(used[traffic.gpu_of_rank[i]]++, 0, "GPU %u", traffic.gpu_of_rank[i]);
            }
            fab_traffic_release(&traffic);
        }
    }
    free(design);
    free(out);
    free(alone);
    fab_fabric_free(fabric);
}

/* --- what max-min fairness promises ------------------------------------------------------------------------------- */

/* Flows of a random instance that belong to the first job, ending alone and among the others. */
static double last_of_half(const random_sharing *r, uint32_t n_own, bool alone) {
    fab_sharing p = r->sharing;
    double *finish_s = calloc(p.n_flows, sizeof *finish_s);
    double last = 0;
    fab_error err = {0};
    p.n_flows = alone ? n_own : p.n_flows;
    cr_assert_eq(fab_fluid_finish(&p, r->bits, NULL, finish_s, &err), FAB_OK, "%s", err.text);
    for (uint32_t i = 0; i < n_own; i++) {
        last = fmax(last, finish_s[i]);
    }
    free(finish_s);
    return last;
}

/* Flows that come in may slow one flow of a job so that another, the last one, gets more and the job ends sooner: fair
 * sharing is not monotone. On random instances it is rare and small, and it does happen. */
Test(contention, a_job_may_end_sooner_among_others) {
    uint32_t slower = 0;
    uint32_t faster = 0;
    double least = 1;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        random_sharing r;
        sharing_make(seed, 16, 8, &r);
        uint32_t n_own = (r.sharing.n_flows + 1) / 2;
        double alone = last_of_half(&r, n_own, true);
        double together = last_of_half(&r, n_own, false);
        if (isfinite(alone) && isfinite(together) && alone > 0) {
            slower += together > alone * (1 + 1e-9);
            faster += together < alone * (1 - 1e-9);
            least = fmin(least, together / alone);
        }
        sharing_discard(&r);
    }
    cr_expect_gt(slower, 1000);
    cr_expect(faster > 0 && faster < slower / 100, "%u of %u", faster, slower);
    cr_expect_gt(least, 0.8);
}
