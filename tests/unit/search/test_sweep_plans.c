/* Sweeps of jobs whose plans are searched: each point tries what the others run. */
#include "draws.h"
#include "fab/design.h"
#include "fab/memory.h"
#include "fab/plan_run.h"
#include "fab/prices.h"
#include "fab/rng.h"
#include "fab/sweep_run.h"
#include "fab/topologies.h"
#include "fab/verdict.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct told {
    double most;
    bool went_back;
} told;

static void tell(void *context, double done, size_t total) {
    told *t = context;
    t->went_back = t->went_back || done < t->most || done > (double)total;
    t->most = fmax(t->most, done);
}

/* A job that is drawn, and an engine. */
typedef struct drawn_job {
    char keys[8][2][24];
    char engine[24];
} drawn_job;

static fab_status read_drawn(const void *context, const char *const *overrides, size_t n, fab_design *out,
                             fab_error *err) {
    const drawn_job *job = context;
    cr_assert_eq(n, 1);
    FAB_PASS(fab_design_read(strchr(overrides[0], '=') + 1, NULL, 0, out, err));
    for (size_t i = 0; i < 8; i++) {
        FAB_PASS(fab_design_set_job(out, 0, job->keys[i][0], job->keys[i][1], "test", err));
    }
    (void)snprintf(out->prices, sizeof out->prices, "%s", FAB_DEFAULT_PRICES);
    (void)snprintf(out->engines[0].text, sizeof out->engines[0].text, "%s", job->engine);
    out->n_engines = 1;
    return FAB_OK;
}

static drawn_job draw_job(fab_rng *rng) {
    static const char *const ENGINES[] = {"spray", "dmodk", "ecmp"};
    const struct {
        const char *key;
        uint64_t value;
    } KEYS[8] = {{"layers", 4 + 4 * fab_rng_below(rng, 3)},
                 {"hidden", 1024U << fab_rng_below(rng, 3)},
                 {"heads", 8},
                 {"seq", 1024U << fab_rng_below(rng, 3)},
                 {"vocab", 32000},
                 {"batch", 32U << fab_rng_below(rng, 3)},
                 {"experts", fab_rng_below(rng, 2) == 0 ? 1 : 8},
                 {"top-k", 1}};
    drawn_job job;
    for (size_t i = 0; i < 8; i++) {
        (void)snprintf(job.keys[i][0], sizeof job.keys[i][0], "%s", KEYS[i].key);
        (void)snprintf(job.keys[i][1], sizeof job.keys[i][1], "%" PRIu64, KEYS[i].value);
    }
    (void)snprintf(job.engine, sizeof job.engine, "%s", ENGINES[fab_rng_below(rng, 3)]);
    return job;
}

/* Seconds of an iteration of a design under a plan that is typed; INFINITY: it cannot have it. */
static double time_under(const fab_sweep_request *request, const char *text, const fab_job_plan *plan) {
    fab_design *design = malloc(sizeof *design);
    fab_design *planned = malloc(sizeof *planned);
    fab_fabric *fabric = NULL;
    fab_sweep_point point = {.n_phases = 0};
    char override[160];
    bool fits = false;
    double time_s = INFINITY;
    (void)snprintf(override, sizeof override, "design=%s", text);
    cr_assert_eq(request->read(request->read_context, (const char *const[]){override}, 1, design, NULL), FAB_OK);
    cr_assert_eq(fab_topology_build(&design->fabric, &fabric, NULL, NULL), FAB_OK);
    if (plan == NULL || (fab_plan_set(design, fabric, plan, "", planned, &fits, NULL) == FAB_OK && fits)) {
        cr_assert_eq(fab_sweep_evaluate(request, plan == NULL ? design : planned, &point, NULL), FAB_OK);
        time_s = point.engines[0].has_time ? point.engines[0].time_s : INFINITY;
    }
    fab_sweep_point_release(&point);
    fab_fabric_free(fabric);
    free(planned);
    free(design);
    return time_s;
}

/* Searches end long before their proof: then a design has the best of what was found for any of them, and is never
 * slower than alone. Of drawn paths plans that the first seed has far behind are not looked at. */
Test(sweep, no_design_is_slower_than_under_the_plan_of_another, .timeout = 300) {
    static const char *const DESIGNS[] = {
        "clos:gpus=32,gpus-per-server=4,radix=16", "clos:gpus=32,gpus-per-server=4,radix=8,taper=3,nic=100Gb/s",
        "rail-only:gpus=32,gpus-per-server=4,radix=16,nic=50Gb/s",
        "rail-spine:gpus=32,gpus-per-server=8,radix=8,taper=2", "torus:gpus=32,gpus-per-server=4,torus=2,4,radix=16"};
    const uint64_t n = DRAWS(24);
    size_t n_short = 0;
    size_t n_faster = 0;
    for (uint64_t seed = 1; seed <= n; seed++) {
        fab_rng rng = fab_rng_make(seed, 77);
        const drawn_job job = draw_job(&rng);
        const size_t first = fab_rng_below(&rng, 3);
        fab_sweep *sweep = NULL;
        fab_error err = {0};
        fab_sweep_request request = {.n_paths = 1,
                                     .path = {"design"},
                                     .values = {DESIGNS + first},
                                     .n_values = {3},
                                     .read = read_drawn,
                                     .read_context = &job,
                                     .traffic = "job",
                                     .seed = 1,
                                     .n_threads = 1,
                                     .most_routed = 32U << fab_rng_below(&rng, 4)};
        const fab_status status = fab_sweep_run(&request, &sweep, &err);
        cr_assert(status == FAB_OK, "seed %" PRIu64 ": %s: %s", seed, err.where, err.text);
        for (size_t i = 0; i < 3; i++) {
            const fab_sweep_engine *mine = sweep->points[i].engines;
            const bool is_short = sweep->points[i].is_built && mine->has_plan && !mine->plan_is_proven;
            const double alone_s = is_short ? time_under(&request, DESIGNS[first + i], NULL) : 0;
            n_short += is_short;
            n_faster += is_short && mine->time_s < alone_s * (1 - 1e-9);
            cr_expect(!is_short || mine->time_s <= alone_s * (1 + 1e-9), "seed %" PRIu64 ": slower than alone", seed);
            for (size_t k = 0; k < 3 && is_short; k++) {
                const double its_s = time_under(&request, DESIGNS[first + i], &sweep->points[k].engines[0].plan);
                cr_expect(its_s >= mine->time_s * (mine->is_drawn ? 1 - FAB_VERDICT_PLAN : 1 - 1e-9),
                          "seed %" PRIu64 " %s: %s takes %g s, and %g s under the plan of %s", seed, job.engine,
                          DESIGNS[first + i], mine->time_s, its_s, DESIGNS[first + k]);
            }
        }
        fab_sweep_free(sweep);
    }
    cr_assert(n_short > n / 2 && n_faster > 0, "%zu plans of short searches, %zu of others", n_short, n_faster);
}

/* Tries of others' plans go on where the points ended; what they have no time for is counted. */
static fab_status start_points_alone(void *context, size_t point, fab_error *err) {
    (void)context;
    return point == SIZE_MAX ? fab_fail(err, FAB_EUNSUPPORTED, NULL, "late") : FAB_OK;
}

Test(sweep, tries_of_plans_count_once_and_end_with_the_time) {
    static const char *const DESIGNS[] = {"rail-only:gpus=64", "clos:gpus=64,taper=4,nic=100Gb/s"};
    const drawn_job job = {.keys = {{"model", "llama3-8b"},
                                    {"batch", "64"},
                                    {"memory-headroom", "0.1"},
                                    {"seq", "4096"},
                                    {"gpus", "64"},
                                    {"dp-overlap", "1"},
                                    {"tp-overlap", "0"},
                                    {"pp-overlap", "0"}},
                           .engine = "spray"};
    size_t untried[2];
    for (size_t late = 0; late < 2; late++) {
        told t = {.most = 0};
        fab_sweep *sweep = NULL;
        fab_error err = {0};
        const fab_sweep_request request = {.n_paths = 1,
                                           .path = {"design"},
                                           .values = {DESIGNS},
                                           .n_values = {2},
                                           .read = read_drawn,
                                           .read_context = &job,
                                           .traffic = "job",
                                           .seed = 1,
                                           .n_threads = 1,
                                           .scenarios = "time:30d@4",
                                           .start = late == 1 ? start_points_alone : NULL,
                                           .progress = tell,
                                           .progress_context = &t};
        cr_assert_eq(fab_sweep_run(&request, &sweep, &err), FAB_OK, "%s: %s", err.where, err.text);
        cr_expect(!t.went_back && fabs(t.most - 2) < 1e-9, "told %g of 2", t.most);
        cr_expect_eq(sweep->n_built, 2);
        untried[late] = sweep->n_untried;
        fab_sweep_free(sweep);
    }
    cr_expect_eq(untried[0], 0);
    cr_expect(untried[1] > 0, "the designs run the same plan, and none is left to be tried");
}
