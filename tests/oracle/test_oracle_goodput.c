/* Goodput of histories against a Monte Carlo of its own: clocks of its own that tick part by part, its own random
 * numbers, and a job that knows nothing but which servers are healthy. The same rates must give the same goodput and
 * stops, within the interval of both, for a job that fills the fabric and for one on a part of it. */
#include "fab/assess.h"
#include "fab/design.h"
#include "context_fixture.h"
#include "fabric_fixture.h"

#include <criterion/criterion.h>
#include <math.h>

#define DAY     86400.0
#define SPAN    (60 * DAY)
#define N       600
#define PER     8 /* GPUs, NICs and cables of a server */
#define MOST    64
#define STAGES  2 /* servers of a replica */
#define NOWHERE UINT32_MAX
#define NEVER   1e300
#define ERRORS  4.5

typedef struct plant {
    uint32_t n_servers, n_job, per_leaf;
    bool takes_spares, shrinks;
    fab_failure_rates r;
} plant;

/* Splitmix, to be unlike the program's. */
static double uniform(uint64_t *s) {
    uint64_t z = (*s += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return ((double)((z ^ (z >> 31)) >> 12) + 0.5) * 0x1p-52;
}

/* Kinds of clocks. A server has a clock for each of its parts; a leaf has one. */
enum { GPU, NIC, CABLE, BOX, LEAF, SOFTWARE, PLANNED, KINDS };
static const fab_failure_class CLASS_OF[KINDS] = {FAB_FAILURE_GPU,        FAB_FAILURE_NIC,    FAB_FAILURE_LINK,
                                                  FAB_FAILURE_SERVER,     FAB_FAILURE_SWITCH, FAB_FAILURE_SOFTWARE,
                                                  FAB_FAILURE_MAINTENANCE};

typedef struct world {
    const plant *p;
    uint64_t seed;
    double now;
    double next[KINDS][MOST * PER]; /* a part fails, or is back */
    bool dead[KINDS][MOST * PER];
    uint32_t at[MOST]; /* server of rank group i */
    bool out[MOST];    /* its replica does without it */
    uint32_t n_out;    /* replicas */
    bool runs;
    double up_at;               /* restarts until then */
    double work, due;           /* since the last checkpoint; when the next begins */
    double stand_until, in_air; /* of the checkpoint under way */
    double useful;
    uint32_t n_stops;
} world;

static uint32_t parts_of(const plant *p, int kind) {
    return kind == BOX ? p->n_servers : kind == LEAF ? p->n_servers / p->per_leaf : p->n_servers * PER;
}

static double draw_next(world *w, int kind) {
    double rate = w->p->r.per_s[CLASS_OF[kind]];
    return rate > 0 ? w->now - log(uniform(&w->seed)) / rate : NEVER;
}

static bool healthy(const world *w, uint32_t server) {
    bool well = !w->dead[BOX][server] && !w->dead[LEAF][server / w->p->per_leaf];
    for (uint32_t i = server * PER; i < (server + 1) * PER; i++) {
        well = well && !w->dead[GPU][i] && !w->dead[NIC][i] && !w->dead[CABLE][i];
    }
    return well;
}

static bool is_at(const world *w, uint32_t server) {
    bool found = false;
    for (uint32_t i = 0; i < w->p->n_job; i++) {
        found = found || (w->at[i] == server && !w->out[i]);
    }
    return found;
}

/* Everybody at home whose home is well; the others on the lowest healthy spares, while there are. */
static bool find_places(const world *w, uint32_t *to, bool *out, uint32_t *n_out) {
    uint32_t spare = w->p->n_job;
    bool all = true;
    for (uint32_t i = 0; i < w->p->n_job; i++) {
        to[i] = i;
        out[i] = false;
        if (!healthy(w, i)) {
            while (w->p->takes_spares && spare < w->p->n_servers && !healthy(w, spare)) {
                spare++;
            }
            to[i] = w->p->takes_spares && spare < w->p->n_servers ? spare++ : NOWHERE;
            all = all && to[i] != NOWHERE;
        }
    }
    *n_out = 0;
    for (uint32_t i = 0; i < w->p->n_job && w->p->shrinks; i++) {
        uint32_t first = i / STAGES * STAGES;
        for (uint32_t k = first; k < first + STAGES; k++) {
            out[i] = out[i] || to[k] == NOWHERE;
        }
        *n_out += out[i] && i == first;
    }
    return w->p->shrinks ? *n_out < w->p->n_job / STAGES : all;
}

static double speed_of(const world *w) {
    return w->p->shrinks ? 1 - (double)w->n_out * STAGES / w->p->n_job : 1;
}

/* The job lives from `from` to `to` without a failure. */
static void live(world *w, double to) {
    const fab_failure_rates *r = &w->p->r;
    double t = w->now;
    if (!w->runs) {
        return;
    }
    t = fmax(t, w->up_at);
    while (t < to) {
        if (w->in_air > 0) { /* stands, synchronously */
            double end = fmin(to, w->stand_until);
            if (end == w->stand_until) {
                w->useful += w->in_air;
                w->in_air = 0;
            }
            t = end;
        } else {
            double end = fmin(to, t + (r->checkpoint_s - w->work) / speed_of(w));
            w->work += (end - t) * speed_of(w);
            if (end < to) {
                w->in_air = r->checkpoint_s;
                w->work = 0;
                w->stand_until = end + r->pause_s;
            }
            t = end;
        }
    }
}

static void restart(world *w, double after_s) {
    uint32_t to[MOST];
    bool out[MOST];
    uint32_t n_out = 0;
    bool reforms = false;
    w->work = 0;
    w->in_air = 0;
    w->runs = find_places(w, to, out, &n_out);
    for (uint32_t i = 0; i < w->p->n_job && w->runs; i++) {
        reforms = reforms || out[i] != w->out[i];
        w->at[i] = to[i];
        w->out[i] = out[i];
    }
    w->n_out = w->runs ? n_out : w->n_out;
    w->up_at = w->now + after_s + (reforms ? w->p->r.reform_s : w->p->r.restart_s);
}

/* So many replicas can be had again that the job stops for them. */
static bool grows(const world *w) {
    uint32_t to[MOST];
    bool out[MOST];
    uint32_t n_out = 0;
    return w->runs && w->n_out > 0 && find_places(w, to, out, &n_out) && n_out < w->n_out &&
           (double)(w->n_out - n_out) * STAGES / w->p->n_job >= w->p->r.regrow;
}

static void happens(world *w, int kind, uint32_t part) {
    const fab_failure_rates *r = &w->p->r;
    bool breaks = kind != SOFTWARE && kind != PLANNED;
    bool was_dead = w->dead[kind][part];
    if (!breaks) {
        w->next[kind][part] = draw_next(w, kind);
        if (w->runs && is_at(w, part / PER)) {
            w->n_stops += kind == SOFTWARE;
            w->useful += kind == PLANNED ? w->work + w->in_air : 0;
            restart(w, kind == PLANNED ? r->lag_s + r->repair_s[FAB_FAILURE_MAINTENANCE] : 0);
        }
        return;
    }
    w->dead[kind][part] = !was_dead;
    w->next[kind][part] = was_dead ? draw_next(w, kind) : w->now + r->repair_s[CLASS_OF[kind]];
    bool hurts = false;
    for (uint32_t i = 0; i < w->p->n_job && w->runs; i++) {
        hurts = hurts || (!w->out[i] && !healthy(w, w->at[i]));
    }
    if (hurts) {
        w->n_stops++;
        restart(w, 0);
    } else if (!w->runs && was_dead) {
        restart(w, 0);
    } else if (was_dead && grows(w)) {
        w->useful += w->work + w->in_air;
        restart(w, r->lag_s);
    }
}

static double one_history(const plant *p, uint64_t seed, uint32_t *stops) {
    static world w;
    memset(&w, 0, sizeof w);
    w = (world){.p = p, .seed = seed, .runs = true};
    for (uint32_t i = 0; i < p->n_job; i++) {
        w.at[i] = i;
    }
    for (int k = 0; k < KINDS; k++) {
        for (uint32_t i = 0; i < parts_of(p, k); i++) {
            w.next[k][i] = draw_next(&w, k);
        }
    }
    for (;;) {
        int kind = 0;
        uint32_t part = 0;
        for (int k = 0; k < KINDS; k++) {
            for (uint32_t i = 0; i < parts_of(p, k); i++) {
                if (w.next[k][i] < w.next[kind][part]) {
                    kind = k;
                    part = i;
                }
            }
        }
        double until = fmin(w.next[kind][part], SPAN);
        live(&w, until);
        w.now = until;
        if (until >= SPAN) {
            break;
        }
        happens(&w, kind, part);
    }
    *stops = w.n_stops;
    return (w.useful + w.work + w.in_air) / SPAN;
}

typedef struct sample {
    double sum, squares;
} sample;

static void note(sample *s, double x) {
    s->sum += x;
    s->squares += x * x;
}

static double variance_of_mean(const sample *s) {
    double mean = s->sum / N;
    return (s->squares / N - mean * mean) / (N - 1);
}

static void expect_same(const sample *a, const sample *b, const char *what) {
    double error = sqrt(variance_of_mean(a) + variance_of_mean(b));
    cr_expect(fabs(a->sum - b->sum) / N <= ERRORS * error, "%s: %.6f and %.6f, +- %.6f", what, a->sum / N, b->sum / N,
              error);
}

static fab_failure_rates rates_of_test(void) {
    fab_failure_rates r = {
        .checkpoint_s = 7000, .pause_s = 120, .lag_s = 120, .restart_s = 900, .reform_s = 1500, .regrow = 0.3};
    const double every_d[FAB_FAILURE_N] = {4000, 900, 5000, 700, 300, 2500, 3000, 1e12, 1e12};
    for (int c = 0; c < FAB_FAILURE_N; c++) {
        r.per_s[c] = 1 / (every_d[c] * DAY);
        r.repair_s[c] = c == FAB_FAILURE_SOFTWARE ? 0 : (0.3 + 0.2 * c) * DAY;
    }
    return r;
}

static void compare(const char *design, uint32_t n_servers, uint32_t n_job) {
    static const fab_policy POLICIES[] = {FAB_POLICY_NONE, FAB_POLICY_FIRST_SPARE, FAB_POLICY_SHRINK};
    char servers[32];
    fab_design d;
    fab_error err = {0};
    fab_assessment *assessment = NULL;
    fab_assessor *assessor = NULL;
    fab_scenarios *scenarios = NULL;
    fab_scenario h = {.n_events = 0};
    fab_engine_spec engine = fixture_spec("ecmp");
    sample good[3] = {{0}};
    sample stops[3] = {{0}};
    fab_fabric *f = fixture_build(design, &d, NULL);
    cr_assert_eq(f->n_servers, n_servers);
    (void)snprintf(servers, sizeof servers, "0-%u", n_job - 1);
    cr_assert_eq(fab_design_set_job(&d, 0, "servers", servers, "test", &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_design_set_job(&d, 0, "memory-check", "off", "test", &err), FAB_OK, "%s", err.text);
    char dp[16];
    (void)snprintf(dp, sizeof dp, "%u", n_job / STAGES);
    const char *const keys[][2] = {{"tp", "8"}, {"pp", "2"}, {"dp", dp}, {"batch", "24"}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        cr_assert_eq(fab_design_set_job(&d, 0, keys[i][0], keys[i][1], "test", &err), FAB_OK, "%s", err.text);
    }
    const fab_context_request asked = {
        .design = &d, .fabric = f, .traffic = "job", .engines = &engine, .n_engines = 1, .seed = 3};
    fab_context *context = fixture_context(&asked);
    const fab_assessment_request request = {
        .context = context, .policies = POLICIES, .n_policies = 3, .rates = rates_of_test()};
    cr_assert_eq(fab_assessment_new(&request, &assessment, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_assessor_new(assessment, &assessor, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_scenarios_new("time:60d@600", f, NULL, &request.rates, 11, &scenarios, &err), FAB_OK);
    for (uint64_t i = 0; i < N; i++) {
        fab_outcome got[3];
        cr_assert_eq(fab_scenarios_get(scenarios, i, &h, &err), FAB_OK);
        cr_assert_eq(fab_assess(assessor, i, &h, SPAN, got, &err), FAB_OK, "%s", err.text);
        for (int p = 0; p < 3; p++) {
            note(&good[p], got[p].goodput);
            note(&stops[p], got[p].n_stops);
        }
    }
    for (int policy = 0; policy < 3; policy++) {
        const plant plant = {n_servers, n_job, 2, policy > 0, policy == 2, rates_of_test()};
        sample ours = {0};
        sample our_stops = {0};
        for (uint64_t i = 0; i < N; i++) {
            uint32_t n = 0;
            note(&ours, one_history(&plant, i * 7919 + (uint64_t)policy, &n));
            note(&our_stops, n);
        }
        char what[128];
        (void)snprintf(what, sizeof what, "%s, %s, goodput", design, fab_policies[POLICIES[policy]]);
        expect_same(&ours, &good[policy], what);
        cr_expect_lt(ours.sum / N, 0.99, "%s", what);
        (void)snprintf(what, sizeof what, "%s, %s, stops", design, fab_policies[POLICIES[policy]]);
        expect_same(&our_stops, &stops[policy], what);
        cr_expect_gt(our_stops.sum / N, 0.5, "%s", what);
    }
    fab_scenario_release(&h);
    fab_scenarios_free(scenarios);
    fab_assessor_free(assessor);
    fab_assessment_free(assessment);
    fab_context_free(context);
    fab_fabric_free(f);
}

/* A leaf of radix 32 has two servers of eight GPUs. */
Test(oracle_goodput, a_job_that_fills_the_fabric) {
    compare("clos:gpus=64,radix=32,tiers=2", 8, 8);
}

Test(oracle_goodput, a_job_on_a_part_of_it) {
    compare("clos:gpus=128,radix=32,tiers=2", 16, 4);
}

Test(oracle_goodput, a_job_with_a_spare) {
    compare("clos:gpus=48,spares=2,radix=32,tiers=2", 8, 6);
}
