/* Ranks on spares that go home where that pays: it pays, over random fabrics and rates, and a planned stop, which takes
 * everybody home, is no way to gain. Whether they go exactly when they should: test_assess_history. */
#include "../../../src/study/assess/assess_internal.h" /* an assessment that does not know how often its job stops */
#include "assess_fixture.h"
#include "draws.h"

#include "fab/rng.h"

#define DAY    86400.0
#define SPAN   (40 * DAY)
#define N      60  /* histories */
#define ERRORS 4.5 /* standard errors of a mean of differences */

static const fab_policy TRIED[] = {FAB_POLICY_FIRST_SPARE, FAB_POLICY_COLLISION_AWARE, FAB_POLICY_SHRINK};
#define N_TRIED (sizeof TRIED / sizeof TRIED[0])

typedef struct goodputs {
    double of[N][N_TRIED];
} goodputs;

static void note_goodputs(const plant *p, goodputs *out) {
    fab_error err = {0};
    fab_assessor *a = NULL;
    fab_scenario h = {.n_events = 0};
    cr_assert_eq(fab_assessor_new(p->assessment, &a, &err), FAB_OK, "%s", err.text);
    for (uint64_t i = 0; i < N; i++) {
        fab_outcome got[N_TRIED];
        cr_assert_eq(fab_scenarios_get(p->scenarios, i, &h, &err), FAB_OK);
        cr_assert_eq(fab_assess(a, i, &h, SPAN, got, &err), FAB_OK, "%s", err.text);
        for (size_t v = 0; v < N_TRIED; v++) {
            out->of[i][v] = got[v].goodput;
        }
    }
    fab_scenario_release(&h);
    fab_assessor_free(a);
}

/* Of the means under a policy, a less b, in standard errors of it; `out_mean`: it. */
static double excess(const goodputs *a, const goodputs *b, size_t v, double *out_mean) {
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < N; i++) {
        const double x = a->of[i][v] - b->of[i][v];
        sum += x;
        squares += x * x;
    }
    *out_mean = sum / N;
    const double variance = (squares / N - *out_mean * *out_mean) / (N - 1);
    return variance > 1e-24 ? *out_mean / sqrt(variance) : 0;
}

/* The same histories with so many planned stops; the job as it is, and one that knows nothing of its stops. */
static void run_plant(plant *p, double maintenance_per_s, goodputs *goes, goodputs *stays) {
    fab_error err = {0};
    fab_failure_rates settled;
    p->rates.per_s[FAB_FAILURE_MAINTENANCE] = maintenance_per_s;
    p->rates.repair_s[FAB_FAILURE_MAINTENANCE] = 0;
    const fab_assessment_request request = {
        .context = p->context, .policies = TRIED, .n_policies = N_TRIED, .times = true, .rates = p->rates};
    cr_assert_eq(fab_assessment_new(&request, &p->assessment, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_scenarios_new("time:40d@60", p->f, NULL, &p->rates, 5, &p->scenarios, &err), FAB_OK, "%s",
                 err.text);
    cr_assert_eq(fab_assessment_settle(p->assessment, SPAN, &settled, &err), FAB_OK, "%s", err.text);
    cr_assert_gt(settled.stops_per_s, 0);
    note_goodputs(p, goes);
    p->assessment->request.rates.stops_per_s = 0;
    note_goodputs(p, stays);
    fab_scenarios_free(p->scenarios);
    fab_assessment_free(p->assessment);
    p->scenarios = NULL;
    p->assessment = NULL;
}

Test(assess_home, going_home_pays_and_planned_stops_do_not) {
    static const char *const JOB[] = {"tp=4", "pp=2", "dp=4", "batch=24", "servers=0-7", "memory-check=off", NULL};
    static const char *const DESIGNS[] = {
        "clos:gpus=40,gpus-per-server=4,radix=12,taper=2", "clos:gpus=48,gpus-per-server=4,radix=8",
        "clos:gpus=36,gpus-per-server=4,radix=12", "rail-spine:gpus=40,gpus-per-server=4,radix=8",
        "rail-only:gpus=40,gpus-per-server=4,domain=4,radix=16"};
    static const char *const ENGINES[] = {"ecmp", "ecmp,qp=2", "ecmp,hash=ideal", "dmodk", "pinned,slices=2"};
    fab_rng rng = fab_rng_make(8, 0);
    double gain = 0;
    double planned_gain = 0; /* most that planned stops give a job that stays, in standard errors */
    for (size_t i = 0; i < DRAWS(40); i++) {
        const char *design = DESIGNS[fab_rng_below(&rng, FAB_N_OF(DESIGNS))];
        const char *engine = ENGINES[fab_rng_below(&rng, FAB_N_OF(ENGINES))];
        const double every_d = 50 * exp2((double)fab_rng_below(&rng, 6));
        static goodputs goes, stays, goes_planned, stays_planned;
        plant p;
        set_up(&p, design, engine, JOB);
        for (int c = 0; c < FAB_FAILURE_N; c++) {
            p.rates.per_s[c] = c == FAB_FAILURE_GPU || c == FAB_FAILURE_SERVER ? 1 / (every_d * DAY) : 0.001 / DAY;
            p.rates.repair_s[c] = c == FAB_FAILURE_SOFTWARE ? 0 : 3 * 3600.0 * (double)(1 + fab_rng_below(&rng, 8));
        }
        p.rates.per_s[FAB_FAILURE_SOFTWARE] = 0;
        p.rates.restart_s = 60 * (double)(1 + fab_rng_below(&rng, 20));
        p.rates.regrow = 0;
        run_plant(&p, 0, &goes, &stays);
        run_plant(&p, 0.01 / DAY, &goes_planned, &stays_planned);
        for (size_t v = 0; v < N_TRIED; v++) {
            double more = 0;
            double errors = excess(&goes, &stays, v, &more);
            cr_expect_gt(errors, -ERRORS, "%s, %s, %s: %.6f by going home, %.1f errors", design, engine,
                         fab_policies[TRIED[v]], more, errors);
            gain += more;
            errors = excess(&goes_planned, &stays_planned, v, &more);
            cr_expect_gt(errors, -ERRORS, "%s, %s, %s: %.6f by going home, %.1f errors", design, engine,
                         fab_policies[TRIED[v]], more, errors);
            errors = excess(&goes_planned, &goes, v, &more);
            cr_expect_lt(errors, ERRORS, "%s, %s, %s: %.6f by planned stops, %.1f errors", design, engine,
                         fab_policies[TRIED[v]], more, errors);
            planned_gain = fmax(planned_gain, excess(&stays_planned, &stays, v, &more));
        }
        tear_down(&p);
    }
    cr_expect_gt(gain, 0, "%g", gain);
    cr_expect_gt(planned_gain, ERRORS, "%.1f errors: nothing that had to be mended", planned_gain);
}
