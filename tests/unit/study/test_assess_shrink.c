/* Jobs that have lost replicas, against jobs that are set up on the servers that are left. */
#include "../../../src/study/assess/assess_internal.h" /* times of phases are nobody else's */
#include "assess_fixture.h"
#include "draws.h"

#include "fab/rng.h"

/* A job that has lost a replica against one that is set up without it. */
Test(assess_history, a_replica_fewer_takes_as_long_as_a_job_without_it) {
    static const char *const ALL[] = {
        "tp=4", "pp=2", "dp=4", "batch=240", "microbatch=1", "servers=0-7", "memory-check=off", NULL};
    static const char *const LEFT[] = {
        "tp=4", "pp=2", "dp=3", "batch=240", "microbatch=1", "servers=0-5", "memory-check=off", NULL};
    fab_error err = {0};
    fab_assessor *a = NULL;
    fab_outcome got[N_OF_ALL];
    fab_event dies = {.time_s = 1000,
                      .failure = FAB_FAILURE_SERVER,
                      .component = {.kind = FAB_COMPONENT_SERVER, .id = 7},
                      .away_s = 1e9};
    fab_scenario h = {.event = &dies, .n_events = 1};
    plant all;
    plant left;
    set_up(&all, "clos:gpus=32,gpus-per-server=4,radix=12", "ecmp", ALL);
    set_up(&left, "clos:gpus=32,gpus-per-server=4,radix=12", "ecmp", LEFT);
    open_plant(&all, "time:1d@1", &all.scenarios);
    open_plant(&left, "time:1d@1", &left.scenarios);
    cr_assert_eq(fab_assessor_new(all.assessment, &a, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_assess(a, 0, &h, 86400, got, &err), FAB_OK, "%s", err.text);
    const double want_s = fab_assessment_healthy(left.assessment, 0).time_s;
    const double whole_s = fab_assessment_healthy(all.assessment, 0).time_s;
    cr_expect_float_eq(got[3].time_s / want_s, 1, 0.02, "%.6g s, not %.6g; with all %.6g", got[3].time_s, want_s,
                       whole_s);
    cr_expect_gt(want_s, 1.1 * whole_s, "%.6g, %.6g", want_s, whole_s);
    cr_expect_eq(got[0].state, FAB_OUTCOME_STOPPED);
    cr_expect_eq(got[3].state, FAB_OUTCOME_RUNS);
    cr_expect_lt(got[3].wait_ratio, 1e-12);
    fab_assessor_free(a);
    tear_down(&left);
    tear_down(&all);
}

/* Ranks from a replica to the next: what a data-parallel ring says of it. */
static uint64_t stride_of(const fab_traffic *t) {
    uint64_t least = UINT64_MAX;
    for (size_t p = 0; p < t->n_phases; p++) {
        for (uint64_t i = 0; strncmp(t->phases[p].name, "dp", 2) == 0 && i < t->phases[p].n_flows; i++) {
            const fab_flow flow = fab_phase_flow(&t->phases[p], i);
            const uint64_t from = t->rank_of_gpu[flow.src];
            const uint64_t to = t->rank_of_gpu[flow.dst];
            least = to > from && to - from < least ? to - from : least;
        }
    }
    return least;
}

/* Servers that hold a replica which is not out, in the order of its ranks, as text. */
static void list_left(const fab_traffic *t, const fab_fabric *f, const uint8_t *is_down, char *out, size_t size) {
    uint32_t last = FAB_NONE;
    size_t n = 0;
    *out = '\0';
    for (uint64_t rank = 0; rank < t->n_ranks; rank++) {
        const uint32_t server = t->gpu_of_rank[rank] / f->gpus_per_server;
        if (server != last && is_down[server] == 0) {
            n += (size_t)snprintf(out + n, size - n, "%s%u", n > 0 ? "," : "", server);
        }
        last = server;
    }
}

#define MOST_DEAD 4

/* Servers that die one after the other; theirs, and those of the same replicas, are down. */
typedef struct deaths {
    fab_event event[MOST_DEAD];
    size_t n;
    uint64_t n_out;
    uint8_t is_out[64], is_down[64];
} deaths;

static void draw_deaths(const plant *p, uint64_t seed, deaths *d) {
    const fab_traffic *t = p->assessment->traffic;
    const uint64_t stride = stride_of(t);
    fab_rng rng = fab_rng_make(seed, 97);
    const size_t n = 1 + fab_rng_below(&rng, MOST_DEAD);
    *d = (deaths){.n = 0};
    for (; d->n < n; d->n++) {
        const uint64_t rank = fab_rng_below(&rng, t->n_ranks);
        const uint64_t replica = rank / stride % t->job.dp;
        d->n_out += d->is_out[replica] == 0;
        d->is_out[replica] = 1;
        d->event[d->n] =
            (fab_event){.time_s = 1000 * (double)(d->n + 1),
                        .failure = FAB_FAILURE_SERVER,
                        .component = {.kind = FAB_COMPONENT_SERVER, .id = t->gpu_of_rank[rank] / p->f->gpus_per_server},
                        .away_s = 1e9};
    }
    for (uint64_t rank = 0; rank < t->n_ranks; rank++) {
        d->is_down[t->gpu_of_rank[rank] / p->f->gpus_per_server] |= d->is_out[rank / stride % t->job.dp];
    }
}

/* What both took the phases to last: those of a smaller job have other bytes and steps. */
static void compare_phases(const fab_assessor *a, const fab_assessor *b, double n, double m, const char *what) {
    const fab_assessment *d = a->assessment;
    for (size_t p = 0, at = 0; p < d->n_phases; p++) {
        const char *name = d->traffic->phases[p].name;
        const bool is_ring = strncmp(name, "dp", 2) == 0;
        const double ring = is_ring ? (1 - 1 / m) / (1 - 1 / n) : n / m;
        const double steps = is_ring ? (m - 1) / (n - 1) : n / m;
        double mine[2];
        double its[2];
        memcpy(mine, &a->times_key.word[at], sizeof mine);
        memcpy(its, &b->times_key.word[at], sizeof its);
        at += d->is_timed[p] ? 2 : 0;
        cr_expect_float_eq(mine[0] * ring / its[0], 1, 1e-9, "%s, %g of %g left: %s takes %.12g, not %.12g s", what, m,
                           n, name, mine[0] * ring, its[0]);
        cr_expect(mine[1] < 0 || fabs(mine[1] * steps - its[1]) <= 1e-9 * its[1], "%s: %s waits %.12g, not %.12g s",
                  what, name, mine[1] * steps, its[1]);
    }
}

static void check_rings(const char *design, const char *engine, uint32_t pp, uint64_t seed) {
    char what[160];
    char texts[4][280] = {"servers=0-13", "batch=120120"}; /* 14 x 13 x 12 x 11 x 5 */
    fab_error err = {0};
    fab_scenario nothing = {.n_events = 0};
    fab_outcome got[N_OF_ALL];
    fab_assessor *a = NULL;
    fab_assessor *b = NULL;
    plant all;
    plant left;
    deaths d;
    const char *const JOB[] = {"model=gpt-1.7b", "tp=4",   "microbatch=1", "interleave=1", "memory-check=off",
                               texts[0],         texts[1], texts[2],       texts[3],       NULL};
    (void)snprintf(what, sizeof what, "%s %s pp=%u", design, engine, pp);
    (void)snprintf(texts[2], sizeof texts[2], "pp=%u", pp);
    (void)snprintf(texts[3], sizeof texts[3], "dp=%u", 14 / pp);
    set_up(&all, design, engine, JOB);
    open_plant(&all, "time:1d@1", &all.scenarios);
    cr_assert(all.assessment->rings_close, "%s", what);
    draw_deaths(&all, seed, &d);
    (void)snprintf(texts[3], sizeof texts[3], "dp=%u", 14 / pp - (unsigned)d.n_out);
    const size_t n = (size_t)snprintf(texts[0], sizeof texts[0], "servers=");
    list_left(all.assessment->traffic, all.f, d.is_down, texts[0] + n, sizeof texts[0] - n);
    set_up(&left, design, engine, JOB);
    open_plant(&left, "time:1d@1", &left.scenarios);
    fab_scenario h = {.event = d.event, .n_events = d.n};
    cr_assert_eq(fab_assessor_new(all.assessment, &a, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_assessor_new(left.assessment, &b, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_assess(a, 0, &h, 86400, got, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_assess(b, 0, &nothing, 0, got, &err), FAB_OK, "%s", err.text);
    compare_phases(a, b, 14 / pp, 14 / pp - (double)d.n_out, what);
    fab_assessor_free(a);
    fab_assessor_free(b);
    tear_down(&left);
    tear_down(&all);
}

Test(assess_shrink, rings_close_as_those_of_a_smaller_job) {
    static const char *const ENGINES[] = {"ecmp", "ecmp,qp=2", "dmodk", "pinned", "spray"};
    static const char *const DESIGNS[] = {"clos:gpus=56,gpus-per-server=4,radix=8,taper=2",
                                          "rail-spine:gpus=56,gpus-per-server=4,radix=8"};
    for (uint64_t i = 0; i < 60; i++) {
        check_rings(DESIGNS[i % 2], ENGINES[i / 2 % 5], 1 + i / 10 % 2, i);
    }
}
