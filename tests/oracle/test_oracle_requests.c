/* p99 of requests under failures against the definition: every flow routed anew and solved the slow way, requests by
 * who waits for what, sorted. */
#include "draws.h"
#include "fab/assess.h"
#include "fab/failures_run.h"
#include "fabric_fixture.h"
#include "oracle_estimator.h"

#include <math.h>
#include <string.h>

#define SEED 3

typedef struct scene {
    char what[512];
    fab_design design;
    fab_fabric *f;
    fab_engine_spec engine;
    fab_context *context;
    const fab_traffic *traffic;
} scene;

static scene scene_of(const char *text, const char *const *set, size_t n_set, const char *traffic, const char *engine) {
    scene s = {.engine = fixture_spec(engine)};
    fab_error err = {0};
    (void)snprintf(s.what, sizeof s.what, "%s, %s, %s", text, traffic, engine);
    cr_assert_eq(fab_design_read(text, set, n_set, &s.design, &err), FAB_OK, "%s: %s", s.what, err.text);
    cr_assert_eq(fab_topology_build(&s.design.fabric, &s.f, NULL, &err), FAB_OK, "%s: %s", s.what, err.text);
    return s;
}

static void scene_open(scene *s, const char *traffic) {
    fab_error err = {0};
    const fab_context_request request = {
        .design = &s->design, .fabric = s->f, .traffic = traffic, .engines = &s->engine, .n_engines = 1, .seed = SEED};
    s->context = fixture_context(&request);
    cr_assert_eq(fab_context_traffic(s->context, &s->traffic, &err), FAB_OK, "%s: %s", s->what, err.text);
}

static void scene_close(scene *s) {
    fab_context_free(s->context);
    fab_fabric_free(s->f);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The smallest time that so many of 100 do not exceed. */
static double percentile(const double *sorted, size_t n, size_t percent) {
    for (size_t i = 0; i < n; i++) {
        if ((i + 1) * 100 >= percent * n) {
            return sorted[i];
        }
    }
    return NAN;
}

static fab_request_times expected(const scene *s, const fab_phase *phase, const fab_mask *mask) {
    fab_next_hops *healthy = fixture_next_hops(s->f);
    fab_next_hops *t = NULL;
    fab_offer offer;
    fab_router router;
    fab_phase_seconds seconds;
    fab_error err = {0};
    double *ends_s = calloc((size_t)phase->n_flows + 1, sizeof *ends_s);
    double *request_s = calloc((size_t)phase->n_flows + 1, sizeof *request_s);
    bool *is_done = calloc((size_t)phase->n_flows + 1, sizeof *is_done);
    fab_request_times out = {.n = 0};
    cr_assert_eq(fab_next_hops_new(s->f, mask->dead_link, &t, NULL), FAB_OK);
    cr_assert_eq(fab_router_init(&s->engine, s->f, t, &router, NULL), FAB_OK);
    router.healthy = healthy; /* what resilient hashing remembers */
    cr_assert_eq(fab_offer_init(s->f, &router.ports, phase, &offer, NULL), FAB_OK);
    if (router.facts.splits) {
        seconds = oracle_ends_of_split(s->f, &router, mask, phase, &offer, ends_s);
    } else {
        fab_routes routes = {0};
        cr_assert_eq(fab_route_flows(&router, phase, 0, (uint32_t)phase->n_flows, NULL, SEED, &routes, &err), FAB_OK,
                     "%s", err.text);
        seconds = oracle_ends_of_routes(s->f, &router, mask, phase, &routes, ends_s);
        fab_routes_release(&routes);
    }
    for (uint64_t i = 0; i < phase->n_flows; i++) {
        const fab_flow a = fab_phase_flow(phase, i);
        double last_s = 0;
        for (uint64_t k = 0; k < phase->n_flows && !is_done[i]; k++) {
            const fab_flow b = fab_phase_flow(phase, k);
            bool same = phase->steps > 1 ? a.comm == b.comm : a.dst == b.dst;
            if (same) {
                is_done[k] = k != i || is_done[k];
                last_s = fmax(last_s, ends_s[k]);
            }
        }
        if (!is_done[i]) {
            request_s[out.n++] = (last_s + seconds.latency_s) / (double)(phase->executions > 0 ? phase->executions : 1);
        }
    }
    qsort(request_s, out.n, sizeof *request_s, by_size);
    out.p50_s = percentile(request_s, out.n, 50);
    out.p99_s = percentile(request_s, out.n, 99);
    out.max_s = percentile(request_s, out.n, 100);
    free(ends_s);
    free(request_s);
    free(is_done);
    fab_offer_release(&offer);
    fab_router_release(&router);
    fab_next_hops_free(t);
    fab_next_hops_free(healthy);
    return out;
}

static bool is_near(double a, double b) {
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static uint32_t compare(const scene *s, const fab_failed_state *state, const fab_failures *f, const fab_mask *mask) {
    uint32_t n = 0;
    for (size_t p = 0; p < f->n_phases; p++) {
        const fab_request_times *is = &state->phases[p].requests;
        if (is->n > 0) {
            const fab_phase *phase = &s->traffic->phases[p];
            cr_assert_str_eq(f->phases[p], phase->name);
            const fab_request_times should = expected(s, phase, mask);
            cr_assert_eq(is->n, should.n, "%s, %s: %u requests, not %u", s->what, phase->name, (unsigned)is->n,
                         (unsigned)should.n);
            cr_assert(is_near(is->p50_s, should.p50_s) && is_near(is->p99_s, should.p99_s) &&
                          is_near(is->max_s, should.max_s),
                      "%s, %s: %.12g %.12g %.12g, not %.12g %.12g %.12g", s->what, phase->name, is->p50_s, is->p99_s,
                      is->max_s, should.p50_s, should.p99_s, should.max_s);
            n++;
        }
    }
    return n;
}

/* Every phase that somebody waits for, before and after. Returns how many there were. */
static uint32_t check(const char *text, const char *const *set, size_t n_set, const char *traffic, const char *engine,
                      const char *failed, double *out_slower) {
    static const fab_policy NOBODY = FAB_POLICY_NONE;
    scene s = scene_of(text, set, n_set, traffic, engine);
    fab_failures *f = NULL;
    fab_error err = {0};
    fab_mask mask;
    fab_component c;
    scene_open(&s, traffic);
    const fab_failures_request request = {
        .context = s.context, .failed = &failed, .n_failed = 1, .policies = &NOBODY, .n_policies = 1};
    cr_assert_eq(fab_failures_run(&request, &f, &err), FAB_OK, "%s: %s", s.what, err.text);
    cr_assert_eq(f->engines[0].note[0], 0, "%s: %s", s.what, f->engines[0].note);
    cr_assert_eq(fab_mask_init(s.f, NULL, &mask, NULL), FAB_OK);
    uint32_t n = compare(&s, &f->engines[0].healthy, f, &mask);
    cr_assert_eq(fab_component_parse(s.f, NULL, failed, &c, NULL), FAB_OK);
    cr_assert_eq(fab_mask_set(&mask, &c, 1, NULL), FAB_OK);
    cr_assert_eq(compare(&s, &f->engines[0].policies[0].state, f, &mask), n, "%s", s.what);
    for (size_t p = 0; p < f->n_phases && n > 0; p++) {
        const fab_request_times *before = &f->engines[0].healthy.phases[p].requests;
        const fab_request_times *after = &f->engines[0].policies[0].state.phases[p].requests;
        *out_slower = before->n > 0 ? fmax(*out_slower, after->p99_s / before->p99_s) : *out_slower;
    }
    fab_mask_release(&mask);
    fab_failures_free(f);
    scene_close(&s);
    return n;
}

static const char FABRIC[] = "rail-spine:gpus=32,gpus-per-server=4,radix=8";
static const char *const ENGINES[] = {"ecmp,qp=2", "dmodk", "ecmp,member-loss=resilient", "spray"};

/* A study of the same: slowdowns are those of the p99, executions and all. */
Test(oracle_requests, of_a_study) {
    static const char *const FAILED = "leaf-0:5 > spine-0:1";
    static const fab_policy NOBODY = FAB_POLICY_NONE;
    for (size_t e = 0; e < sizeof ENGINES / sizeof ENGINES[0]; e++) {
        scene s = scene_of(FABRIC, NULL, 0, "pattern:all-to-all,gpus=0-15", ENGINES[e]);
        fab_assessment *assessment = NULL;
        fab_assessor *assessor = NULL;
        fab_component c;
        fab_scenario one = {.component = &c, .n_components = 1, .component_capacity = 1};
        fab_outcome out;
        fab_mask mask;
        fab_error err = {0};
        scene_open(&s, "pattern:all-to-all,gpus=0-15");
        const fab_assessment_request request = {.context = s.context,
                                                .policies = &NOBODY,
                                                .n_policies = 1,
                                                .times = true,
                                                .p99 = true,
                                                .rates = fab_failure_rates_default()};
        cr_assert_eq(fab_assessment_new(&request, &assessment, &err), FAB_OK, "%s: %s", s.what, err.text);
        cr_assert_eq(fab_assessor_new(assessment, &assessor, &err), FAB_OK);
        cr_assert_eq(fab_component_parse(s.f, NULL, FAILED, &c, NULL), FAB_OK);
        cr_assert_eq(fab_assess(assessor, 0, &one, 0, &out, &err), FAB_OK, "%s: %s", s.what, err.text);
        cr_assert_eq(fab_mask_init(s.f, NULL, &mask, NULL), FAB_OK);
        const fab_request_times before = expected(&s, &s.traffic->phases[0], &mask);
        cr_assert_eq(fab_mask_set(&mask, &c, 1, NULL), FAB_OK);
        const fab_request_times after = expected(&s, &s.traffic->phases[0], &mask);
        cr_expect(is_near(out.slowdown, after.p99_s / before.p99_s), "%s: x%.12g, not x%.12g", s.what, out.slowdown,
                  after.p99_s / before.p99_s);
        fab_mask_release(&mask);
        fab_assessor_free(assessor);
        fab_assessment_free(assessment);
        scene_close(&s);
    }
}

Test(oracle_requests, all_to_all) {
    double slower = 0;
    for (size_t e = 0; e < sizeof ENGINES / sizeof ENGINES[0]; e++) {
        uint32_t n =
            check(FABRIC, NULL, 0, "pattern:all-to-all,gpus=0-15", ENGINES[e], "leaf-0:5 > spine-0:1", &slower);
        cr_expect_eq(n, 1, "%s: %u", ENGINES[e], n);
    }
    cr_expect_gt(slower, 1.2, "%g", slower);
}

Test(oracle_requests, serving_and_ranking) {
    static const char *const SERVING[] = {"job.kind=serving", "job.model=llama3-8b", "job.tp=8", "job.pp=2",
                                          "job.batch=16"};
    static const char *const RANKING[] = {"job.kind=ranking", "job.model=dlrm-dcnv2", "job.memory-check=off"};
    double slower = 0;
    for (size_t e = 0; e < sizeof ENGINES / sizeof ENGINES[0]; e++) {
        uint32_t n = check("clos:gpus=32,gpus-per-server=4,radix=8", SERVING, 5, "job", ENGINES[e],
                           "leaf-0:5 > spine-0:1", &slower);
        cr_expect_geq(n, 2, "%s: %u of serving", ENGINES[e], n);
        n = check("rail-spine:gpus=16,gpus-per-server=4,radix=8", RANKING, 3, "job", ENGINES[e], "leaf-0:5 > spine-0:1",
                  &slower);
        cr_expect_geq(n, 1, "%s: %u of ranking", ENGINES[e], n);
    }
    cr_expect_gt(slower, 1.05, "%g", slower);
}
