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
    for (uint64_t i = 0; i < DRAWS(80); i++) {
        check_rings(DESIGNS[i % 2], ENGINES[i / 2 % 5], 1 + i / 10 % 2, i);
    }
}

/* --- serving ------------------------------------------------------------------------------------------------------ */

#define SERVED_SPAN_S 86400.0
#define MOST_SERVERS  16

/* Servers that are down one after the other or together, each once. */
typedef struct outages {
    double from_s[MOST_SERVERS], until_s[MOST_SERVERS]; /* equal: never */
    fab_event event[2 * MOST_SERVERS];
    size_t n;
} outages;

static void draw_outages(uint32_t n_servers, uint64_t seed, outages *o) {
    fab_rng rng = fab_rng_make(seed, 118);
    *o = (outages){.n = 0};
    for (uint32_t server = 0; server < n_servers; server++) {
        if (server % 3 == 1 || fab_rng_below(&rng, 2) == 0) { /* of every pool somebody is left */
            continue;
        }
        o->from_s[server] = (double)fab_rng_below(&rng, 80000);
        o->until_s[server] = o->from_s[server] + 1 + (double)fab_rng_below(&rng, 30000);
    }
    for (uint32_t second = 0; second < 110001; second++) { /* whole ones: in the order of time */
        for (uint32_t server = 0; server < n_servers; server++) {
            const bool is_repair = o->until_s[server] == second;
            if (o->until_s[server] > 0 && (is_repair || o->from_s[server] == second)) {
                o->event[o->n++] = (fab_event){.time_s = second,
                                               .is_repair = is_repair,
                                               .failure = FAB_FAILURE_SERVER,
                                               .component = {.kind = FAB_COMPONENT_SERVER, .id = server},
                                               .away_s = o->until_s[server] - o->from_s[server]};
            }
        }
    }
}

/* Whether all GPUs of replica r are up, where each has so many that follow each other. */
static bool is_up(const outages *o, uint32_t r, uint32_t n_each, uint32_t per_server, double second) {
    bool up = true;
    for (uint32_t gpu = r * n_each; gpu < (r + 1) * n_each; gpu++) {
        const uint32_t server = gpu / per_server;
        up = up && !(o->from_s[server] <= second && second < o->until_s[server]);
    }
    return up;
}

/* Second by second: the part of the pool that has lost most, less those that start again. */
static double served(const outages *o, const fab_job_spec *job, uint32_t per_server, double restart_s) {
    const uint32_t dp = (uint32_t)job->dp;
    const uint32_t readers = (uint32_t)job->prefill_replicas;
    double sum_s = 0;
    for (uint32_t second = 0; second < (uint32_t)SERVED_SPAN_S; second++) {
        uint32_t up[2] = {0, 0};
        for (uint32_t r = 0; r < dp; r++) {
            const bool is = is_up(o, r, (uint32_t)job->tp, per_server, second);
            up[r >= readers] += is;
            sum_s -= second > 0 && is && !is_up(o, r, (uint32_t)job->tp, per_server, second - 1.0) ? restart_s / dp : 0;
        }
        const double part = (double)up[1] / (dp - readers);
        sum_s += readers > 0 ? fmin(part, (double)up[0] / readers) : part;
    }
    return sum_s / SERVED_SPAN_S;
}

static void check_served(const char *tp, const char *readers, uint32_t per_server, uint64_t seed) {
    char fabric[96];
    char reading[32];
    fab_error err = {0};
    fab_assessor *a = NULL;
    fab_outcome got[N_OF_ALL];
    plant p;
    outages o;
    const char *const JOB[] = {"kind=serving", "model=gpt-18.4b",  tp,      "batch=240",
                               "tokens=4",     "memory-check=off", reading, NULL};
    (void)snprintf(fabric, sizeof fabric, "rail-spine:gpus=64,gpus-per-server=%u,radix=64", per_server);
    (void)snprintf(reading, sizeof reading, "prefill-replicas=%s", readers);
    set_up(&p, fabric, "spray", JOB);
    p.rates.throttle = 0;
    open_plant(&p, "time:1d@1", &p.scenarios);
    draw_outages(p.f->n_servers, seed, &o);
    fab_scenario h = {.event = o.event, .n_events = o.n};
    const double want = served(&o, &p.assessment->traffic->job, per_server, p.rates.restart_s);
    cr_assert_eq(fab_assessor_new(p.assessment, &a, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_assess(a, 0, &h, SERVED_SPAN_S, got, &err), FAB_OK, "%s", err.text);
    for (size_t v = 0; v < N_OF_ALL; v++) {
        cr_expect_float_eq(got[v].goodput, want, 1e-9, "%s, %s readers, seed %u, policy %zu: %.12g, not %.12g", tp,
                           readers, (unsigned)seed, v, got[v].goodput, want);
        cr_expect(got[v].n_stops == 0 && got[v].wait_ratio == 0 && got[v].redo_ratio == 0);
    }
    fab_assessor_free(a);
    tear_down(&p);
}

Test(assess_shrink, replicas_that_serve_go_on_without_each_other) {
    for (uint64_t seed = 0; seed < DRAWS(4); seed++) {
        check_served("tp=8", "0", 8, seed);
        check_served("tp=8", "3", 8, seed);
        check_served("tp=16", "0", 8, seed);
        check_served("tp=4", "0", 8, seed); /* two replicas in a server */
        check_served("tp=4", "6", 4, seed);
    }
}

/* By hand: server 3 of 8 is away for 8,000 s of 100,000, and its replica restarts in 600 s; in a set it leaves 7/8. */
Test(assess_shrink, one_of_eight_replicas_away_costs_an_eighth) {
    static const char *const JOB[] = {"kind=serving", "model=gpt-1.7b",   "tp=8", "batch=64",
                                      "tokens=4",     "memory-check=off", NULL};
    fab_error err = {0};
    fab_assessor *a = NULL;
    fab_outcome got[N_OF_ALL];
    plant p;
    fab_component three = {.kind = FAB_COMPONENT_SERVER, .id = 3};
    fab_event event[2] = {{.time_s = 1000, .failure = FAB_FAILURE_SERVER, .component = three, .away_s = 8000},
                          {.time_s = 9000, .failure = FAB_FAILURE_SERVER, .component = three, .is_repair = true}};
    fab_scenario h = {.event = event, .n_events = 2, .component = &three, .n_components = 1};
    set_up(&p, "rail-spine:gpus=64", "spray", JOB);
    p.rates.throttle = 0;
    open_plant(&p, "time:1d@1", &p.scenarios);
    cr_assert_eq(fab_assessor_new(p.assessment, &a, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_assess(a, 0, &h, 100000, got, &err), FAB_OK, "%s", err.text);
    cr_expect_float_eq(got[0].goodput, 1 - 0.01 - 0.00075, 1e-9, "%.12g", got[0].goodput);
    cr_expect_float_eq(got[0].restart_ratio, 0.00075, 1e-12);
    cr_assert_eq(fab_assess(a, 0, &h, 0, got, &err), FAB_OK, "%s", err.text);
    cr_expect_eq(got[0].state, FAB_OUTCOME_RUNS);
    cr_expect_float_eq(got[0].slowdown, 8.0 / 7, 1e-9, "%.12g", got[0].slowdown);
    fab_assessor_free(a);
    tear_down(&p);
}

/* Sets under several engines against each of them alone; asked twice, as the second answer is from what is kept. */
Test(assess_shrink, replicas_are_lost_under_every_engine) {
    static const char *const JOB[] = {"kind=serving",       "model=gpt-18.4b",  "tp=16", "batch=240", "tokens=4",
                                      "prefill-replicas=1", "memory-check=off", NULL};
    static const char *const NAMES[] = {"ecmp", "adaptive", "spray"};
    enum { N = sizeof NAMES / sizeof *NAMES };
    fab_component broken[] = {{.kind = FAB_COMPONENT_SERVER, .id = 7}, {.kind = FAB_COMPONENT_SWITCH, .id = 8}};
    fab_error err = {0};
    fab_engine_spec engines[N];
    fab_outcome alone[N][4]; /* a server, and a switch as well; each asked twice */
    fab_outcome got[N];
    fab_assessor *a = NULL;
    plant p;
    set_up(&p, "clos:gpus=64,radix=16", "spray", JOB);
    for (size_t e = 0; e <= N; e++) { /* each, then all */
        for (size_t i = 0; i < N; i++) {
            engines[i] = fixture_spec(NAMES[e < N ? e : i]);
        }
        const fab_context_request asked = {.design = &p.design,
                                           .fabric = p.f,
                                           .traffic = "job",
                                           .engines = engines,
                                           .n_engines = e < N ? 1 : N,
                                           .seed = 3};
        fab_context_free(p.context);
        p.context = fixture_context(&asked);
        const fab_assessment_request request = {
            .context = p.context, .policies = OF_ALL, .n_policies = 1, .times = true, .rates = p.rates};
        cr_assert_eq(fab_assessment_new(&request, &p.assessment, &err), FAB_OK, "%s", err.text);
        cr_assert_eq(fab_assessor_new(p.assessment, &a, &err), FAB_OK, "%s", err.text);
        for (size_t i = 0; i < 4; i++) {
            fab_scenario set = {.component = broken, .n_components = 1 + i % 2};
            cr_assert_eq(fab_assess(a, 0, &set, 0, e < N ? &alone[e][i] : got, &err), FAB_OK, "%s", err.text);
            for (size_t k = 0; e == N && k < N; k++) {
                const fab_outcome *want = &alone[k][i];
                cr_expect(got[k].time_s == want->time_s && got[k].state == want->state, "%s, set %zu: %g s, not %g",
                          NAMES[k], i, got[k].time_s, want->time_s);
                cr_expect(got[k].n_disconnected == want->n_disconnected && got[k].lost_ratio == want->lost_ratio &&
                          got[k].worst_ratio == want->worst_ratio && got[k].n_collisions == want->n_collisions);
                cr_expect(want->state == FAB_OUTCOME_RUNS && want->lost_ratio > 0 && want->slowdown > 1);
            }
        }
        fab_assessor_free(a);
        fab_assessment_free(p.assessment);
        p.assessment = NULL;
    }
    tear_down(&p);
}
