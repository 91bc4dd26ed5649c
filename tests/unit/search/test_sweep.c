/* Sweeps: points, fronts, errors, and forwarding as a whole. */
#include "fab/prices.h"
#include "fab/design.h"
#include "fab/memory.h"
#include "fab/mix_run.h"
#include "fab/rng.h"
#include "fab/sweep_run.h"
#include "fabric_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- fronts: by their definition ---------------------------------------------------------------------------------- */

#define FRONT_POINTS 40

/* Strictly cheaper and not slower, or strictly faster and not dearer. Figures are small whole numbers. */
static bool beaten(const fab_sweep_point *points, size_t n, size_t i) {
    for (size_t k = 0; k < n; k++) {
        const fab_sweep_engine *a = &points[k].engines[0];
        const fab_sweep_engine *b = &points[i].engines[0];
        if (!points[k].is_built || !a->has_time) {
            continue;
        }
        if ((points[k].total_usd < points[i].total_usd && a->time_s <= b->time_s) ||
            (points[k].total_usd <= points[i].total_usd && a->time_s < b->time_s)) {
            return true;
        }
    }
    return false;
}

Test(sweep, front_holds_what_nothing_beats) {
    fab_rng rng = fab_rng_make(7, 0);
    for (int round = 0; round < 300; round++) {
        static fab_sweep_engine engines[FRONT_POINTS];
        static fab_sweep_point points[FRONT_POINTS];
        size_t n = 1 + fab_rng_below(&rng, FRONT_POINTS);
        double least_s = INFINITY;
        for (size_t i = 0; i < n; i++) {
            engines[i] = (fab_sweep_engine){.has_time = fab_rng_below(&rng, 8) > 0,
                                            .time_s = 1 + (double)fab_rng_below(&rng, 6)};
            points[i] = (fab_sweep_point){.is_built = fab_rng_below(&rng, 8) > 0,
                                          .total_usd = 1 + (double)fab_rng_below(&rng, 6),
                                          .engines = &engines[i],
                                          .n_engines = 1};
            least_s = points[i].is_built && engines[i].has_time ? fmin(least_s, engines[i].time_s) : least_s;
        }
        fab_sweep sweep = {.points = points, .n_points = n};
        fab_sweep_rank(&sweep);
        for (size_t i = 0; i < n; i++) {
            bool takes_part = points[i].is_built && engines[i].has_time;
            cr_assert_eq(engines[i].is_on_front, takes_part && !beaten(points, n, i), "round %d point %zu", round, i);
            cr_assert_eq(engines[i].slowdown, takes_part ? engines[i].time_s / least_s : 0);
        }
    }
}

Test(sweep, rounding_decides_nothing) {
    fab_sweep_engine engines[2] = {{.has_time = true, .time_s = 1}, {.has_time = true, .time_s = 1 + 1e-13}};
    fab_sweep_point points[2] = {{.is_built = true, .total_usd = 5, .engines = &engines[0], .n_engines = 1},
                                 {.is_built = true, .total_usd = 5, .engines = &engines[1], .n_engines = 1}};
    fab_sweep sweep = {.points = points, .n_points = 2};
    fab_sweep_rank(&sweep);
    cr_assert(engines[0].is_on_front && engines[1].is_on_front);
}

/* Equal without failures; with them the cheapest is slow, and histories do not tell the others apart. */
Test(sweep, the_front_goes_by_times_with_failures) {
    const double goodput[4] = {0.90, 0.99, 0.992, 0.996};
    const double ci95[4] = {0.005, 0.003, 0.003, 0.001};
    fab_sweep_engine engines[4];
    fab_sweep_point points[4];
    for (size_t i = 0; i < 4; i++) {
        engines[i] = (fab_sweep_engine){.has_time = true,
                                        .time_s = 1,
                                        .has_goodput = true,
                                        .goodput = {.mean = goodput[i], .ci95 = ci95[i]},
                                        .kept = {.ci95_ratio = ci95[i] / goodput[i]}};
        points[i] =
            (fab_sweep_point){.is_built = true, .total_usd = 5 + (double)i, .engines = &engines[i], .n_engines = 1};
    }
    fab_sweep sweep = {.points = points, .n_points = 4};
    fab_sweep_rank(&sweep);
    cr_assert(engines[0].is_on_front && engines[1].is_on_front && !engines[2].is_on_front);
    cr_assert(engines[3].is_on_front, "its interval of the ratio, 0.32 %%, is less than the 0.6 %% that it gains");
    points[0].total_usd = 9; /* slow and dear */
    fab_sweep_rank(&sweep);
    cr_assert(!engines[0].is_on_front && engines[1].is_on_front);
}

/* Half of the time for a fourth of the tokens is slower, not faster. */
Test(sweep, iterations_of_unlike_batches_are_compared_by_tokens) {
    fab_sweep_engine engines[2] = {{.has_time = true, .has_iteration = true, .time_s = 4},
                                   {.has_time = true, .has_iteration = true, .time_s = 2}};
    fab_sweep_point points[2] = {
        {.is_built = true, .total_usd = 5, .tokens = 4096, .work = 4096, .engines = &engines[0], .n_engines = 1},
        {.is_built = true, .total_usd = 5, .tokens = 1024, .work = 1024, .engines = &engines[1], .n_engines = 1}};
    fab_sweep sweep = {.points = points, .n_points = 2};
    fab_sweep_rank(&sweep);
    cr_assert_eq(engines[0].compared_s, 4);
    cr_assert_eq(engines[1].compared_s, 8);
    cr_assert_eq(engines[0].slowdown, 1);
    cr_assert_eq(engines[1].slowdown, 2);
    cr_assert(engines[0].is_on_front && !engines[1].is_on_front);
}

/* --- designs compared: GPU hours and network of the job per second, over tokens per second ------------------------ */

#define YEAR_S (365.0 * 24 * 3600)

static double usd_per_1e9_tokens(double gpus_usd, double network_usd, double tokens_per_s) { /* both per year */
    return (gpus_usd + network_usd) / YEAR_S / tokens_per_s * 1e9;
}

static fab_sweep_point compared_point(fab_sweep_engine *engine, double gpus_usd, double network_usd,
                                      double tokens_per_s, double share, const char *settings) {
    *engine = (fab_sweep_engine){.has_time = true, .has_iteration = true, .time_s = 1e6 / tokens_per_s};
    engine->iteration.tokens_per_s = tokens_per_s;
    engine->iteration.network_share_ratio = share;
    engine->iteration.usd_per_1e9_tokens = usd_per_1e9_tokens(gpus_usd, share * network_usd, tokens_per_s);
    return (fab_sweep_point){.is_built = true,
                             .total_usd = 5 * network_usd,
                             .capital_usd_per_year = 0.75 * network_usd,
                             .energy_usd_per_year = 0.25 * network_usd,
                             .tokens = 1e6,
                             .engines = engine,
                             .n_engines = 1,
                             .settings = fab_strdup(settings, NULL)};
}

/* A network cheaper by the turning ratio makes the next design cost what the best does; any draw, by the definition. */
Test(compare, the_turning_ratio_makes_the_next_design_equal) {
    fab_rng rng = fab_rng_make(11, 0);
    for (int round = 0; round < 300; round++) {
        fab_sweep_engine engines[3];
        fab_sweep_point points[3];
        double gpus_usd[3], network_usd[3], speed[3], usd[3];
        double share = 1.0 / (double)(1 + fab_rng_below(&rng, 4));
        for (size_t i = 0; i < 3; i++) {
            gpus_usd[i] = 1e6 * (double)(1 + fab_rng_below(&rng, 50));
            network_usd[i] = 1e5 * (double)(1 + fab_rng_below(&rng, 90));
            speed[i] = 1e5 * (double)(1 + fab_rng_below(&rng, 9));
            points[i] = compared_point(&engines[i], gpus_usd[i], network_usd[i], speed[i], share, "a=1\n");
            usd[i] = engines[i].iteration.usd_per_1e9_tokens;
        }
        fab_sweep sweep = {.points = points, .n_points = 3};
        fab_sweep_rank(&sweep);
        cr_assert_eq(fab_sweep_compare(&sweep, NULL), FAB_OK);
        const fab_verdict *v = &sweep.verdicts[0];
        cr_assert(sweep.n_verdicts == 1 && v->is_known && v->by_price && v->next != v->best);
        for (size_t i = 0; i < 3; i++) {
            cr_assert(usd[i] >= usd[v->best] && (i == v->best || usd[i] >= usd[v->next]), "round %d", round);
            cr_assert(speed[i] <= speed[v->fastest] && network_usd[i] >= network_usd[v->cheapest]);
        }
        cr_assert_float_eq(v->margin_ratio, usd[v->next] / usd[v->best] - 1, 1e-9);
        double cheaper = share * network_usd[v->next] * (1 - v->turning_ratio);
        cr_assert_float_eq(usd_per_1e9_tokens(gpus_usd[v->next], cheaper, speed[v->next]) / usd[v->best], 1, 1e-9,
                           "round %d", round);
        for (size_t i = 0; i < 3; i++) {
            free(points[i].settings);
        }
    }
}

/* Of every list of these in either order: the first place has the least figure, and who is even with it is said by the
 * two alone. The third stands between two that their spread makes even; the last two are even with each other, and one
 * of them only with the first. */
Test(compare, designs_are_even_whoever_is_listed) {
    enum { DESIGNS = 5 };
    static const double TIME_S[DESIGNS] = {1, 1.03, 1.015, 1.0095, 1.011};
    static const double CI95[DESIGNS] = {0, 0.04, 0.001, 0, 0};
    for (unsigned list = 1; list < 2U << DESIGNS;
         list += 1 + (list + 1 == 1U << DESIGNS)) { /* the highest bit: backwards */
        fab_sweep_engine engines[DESIGNS];
        fab_sweep_point points[DESIGNS];
        fab_sweep sweep = {.points = points, .compares_designs = true};
        size_t least = 0;
        size_t n_even = 0;
        double behind_s = INFINITY;
        for (size_t i = 0; i < DESIGNS; i++) {
            const size_t k = list >> DESIGNS == 0 ? i : DESIGNS - 1 - i;
            if ((list >> k & 1) != 0) {
                engines[sweep.n_points] = (fab_sweep_engine){
                    .has_time = true, .time_s = TIME_S[k], .compared_s = TIME_S[k], .seeds.ci95_ratio = CI95[k]};
                points[sweep.n_points] =
                    (fab_sweep_point){.is_built = true, .engines = &engines[sweep.n_points], .n_engines = 1};
                least = engines[sweep.n_points].time_s < engines[least].time_s ? sweep.n_points : least;
                sweep.n_points++;
            }
        }
        cr_assert_eq(fab_sweep_compare(&sweep, NULL), FAB_OK);
        const fab_verdict *v = &sweep.verdicts[0];
        for (size_t i = 0; i < sweep.n_points; i++) {
            const double more = engines[i].time_s / engines[least].time_s - 1;
            const bool is_even =
                more < 0.01 || more <= hypot(engines[i].seeds.ci95_ratio, engines[least].seeds.ci95_ratio);
            n_even += is_even;
            behind_s = is_even ? behind_s : fmin(behind_s, engines[i].time_s);
            cr_expect_eq(fab_verdict_is_even(v, &engines[i], &engines[least]), is_even);
            cr_expect_eq(fab_verdict_is_even(v, &engines[least], &engines[i]), is_even);
        }
        cr_expect_eq(v->best, least, "list %u", list);
        cr_expect_eq(v->n_even, n_even, "list %u", list);
        cr_expect_eq(v->behind == v->best ? INFINITY : engines[v->behind].time_s, behind_s, "list %u", list);
    }
}

Test(compare, settings_that_all_have_are_left_out) {
    fab_sweep_engine engines[3];
    fab_sweep_point points[3] = {compared_point(&engines[0], 1e6, 1e5, 1e5, 1, "name=a\ngpus=8\ntaper=2\n"),
                                 compared_point(&engines[1], 1e6, 1e5, 1e5, 1, "name=b\ngpus=8\ntaper=20\n"),
                                 {.is_built = false}};
    fab_sweep sweep = {.points = points, .n_points = 3};
    engines[1].iteration.usd_per_1e9_tokens = 0; /* no price for all: by time */
    fab_sweep_rank(&sweep);
    cr_assert_eq(fab_sweep_compare(&sweep, NULL), FAB_OK);
    cr_assert_str_eq(points[0].settings, "taper=2");
    cr_assert_str_eq(points[1].settings, "taper=20");
    cr_assert_null(points[2].settings);
    cr_assert(!sweep.verdicts[0].by_price && sweep.verdicts[0].turning_ratio == 0);
    free(points[0].settings);
    free(points[1].settings);
}

/* --- points ------------------------------------------------------------------------------------------------------- */

static fab_status read_design(const void *context, const char *const *overrides, size_t n, fab_design *out,
                              fab_error *err) {
    fab_status status = fab_design_read(context, overrides, n, out, err);
    if (status == FAB_OK) {
        out->engines[0] = fixture_spec("ecmp");
        out->engines[1] = fixture_spec("spray");
        out->n_engines = 2;
        (void)snprintf(out->prices, sizeof out->prices, "%s", FAB_DEFAULT_PRICES);
    }
    return status;
}

static fab_sweep_request request_of(const char *design, const char *traffic) {
    return (fab_sweep_request){
        .read = read_design, .read_context = design, .traffic = traffic, .seed = 3, .n_seeds = 2, .n_threads = 2};
}

Test(sweep, a_point_is_a_run_of_its_own) {
    static const char *const TAPERS[] = {"1", "2", "nonsense", "4"};
    static const char *const NICS[] = {"200Gb/s", "400Gb/s"};
    static const char DESIGN[] = "rail-spine:gpus=128,gpus-per-server=4,radix=16";
    fab_sweep_request request = request_of(DESIGN, "pattern:permutation");
    fab_sweep *sweep = NULL;
    fab_error err = {0};
    request.n_paths = 2;
    request.path[0] = "taper.1";
    request.values[0] = TAPERS;
    request.n_values[0] = 4;
    request.path[1] = "nic";
    request.values[1] = NICS;
    request.n_values[1] = 2;
    cr_assert_eq(fab_sweep_run(&request, &sweep, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(sweep->n_points, 8);
    cr_assert_eq(sweep->n_built, 6);
    for (size_t i = 0; i < sweep->n_points; i++) {
        const fab_sweep_point *p = &sweep->points[i];
        char text[160];
        cr_assert_str_eq(p->value[0], TAPERS[i / 2]);
        cr_assert_str_eq(p->value[1], NICS[i % 2]);
        cr_assert_eq(p->is_built, i / 2 != 2);
        if (!p->is_built) {
            cr_assert_not_null(strstr(p->error, "nonsense"), "%s", p->error);
            continue;
        }
        (void)snprintf(text, sizeof text, "%s,taper=%s,nic=%s", DESIGN, TAPERS[i / 2], NICS[i % 2]);
        for (size_t e = 0; e < 2; e++) {
            fab_result alone = fixture_replay(text, "pattern:permutation", e == 0 ? "ecmp" : "spray", 3, 2);
            const fab_sweep_time *time = &p->phases[0].times[e];
            cr_assert_eq(time->max_collision_factor.mean, alone.phases[0].engines[0].max_collision_factor.mean);
            cr_assert_eq(p->phases[0].crossing_flows[2], alone.phases[0].crossing_flows[2]);
            cr_assert(time->has_time && time->time_s.mean > 0);
            cr_assert_eq(p->engines[e].phases_s, time->time_s.mean);
            fab_result_release(&alone);
        }
        cr_assert_gt(p->total_usd, 0);
    }
    fab_sweep_free(sweep);
}

/* --- progress ----------------------------------------------------------------------------------------------------- */

static fab_status read_compared(const void *context, const char *const *overrides, size_t n, fab_design *out,
                                fab_error *err) {
    (void)overrides;
    (void)n;
    fab_status status = read_design(context, NULL, 0, out, err);
    out->n_engines = 1;
    return status;
}

typedef struct told {
    double most;
    bool went_back;
} told;

static void tell(void *context, double done, size_t total) {
    told *t = context;
    t->went_back = t->went_back || done < t->most || done > (double)total;
    t->most = fmax(t->most, done);
}

/* Of compared designs each point is replayed once more, sprayed. */
Test(sweep, progress_goes_forward) {
    static const char *const DESIGNS[] = {"first", "second"};
    told t = {.most = 0};
    fab_sweep *sweep = NULL;
    fab_sweep_request request = request_of("clos:gpus=64,radix=16", "pattern:permutation");
    request.read = read_compared;
    request.n_paths = 1;
    request.path[0] = "design";
    request.values[0] = DESIGNS;
    request.n_values[0] = 2;
    request.compares_designs = true;
    request.progress = tell;
    request.progress_context = &t;
    request.n_threads = 1;
    cr_assert_eq(fab_sweep_run(&request, &sweep, NULL), FAB_OK);
    cr_expect(sweep->points[0].is_sprayed || sweep->n_verdicts > 0);
    cr_expect(t.most > 1 && !t.went_back);
    fab_sweep_free(sweep);
}

Test(sweep, nothing_built_is_the_error_of_the_first) {
    static const char *const VALUES[] = {"0x", "1x"};
    fab_sweep_request request = request_of("clos:gpus=64", "pattern:ring");
    fab_sweep *sweep = NULL;
    fab_error err = {0};
    request.n_paths = 1;
    request.path[0] = "taper.1";
    request.values[0] = VALUES;
    request.n_values[0] = 2;
    cr_assert_eq(fab_sweep_run(&request, &sweep, &err), FAB_EINPUT);
    cr_assert_null(sweep);
    cr_assert_not_null(strstr(err.text, "0x"), "%s", err.text);
}

Test(sweep, too_many_points_are_refused) {
    static const char *values[65];
    fab_sweep_request request = request_of("clos:gpus=64", "pattern:ring");
    fab_sweep *sweep = NULL;
    request.n_paths = 2;
    for (size_t k = 0; k < 2; k++) {
        request.path[k] = "taper.1";
        request.values[k] = values;
        request.n_values[k] = 65;
    }
    cr_assert_eq(fab_sweep_run(&request, &sweep, NULL), FAB_EUSAGE);
}

/* --- forwarding as a whole ---------------------------------------------------------------------------------------- */

static fab_sweep_point replay_rail_only(uint64_t gpus, uint64_t domain, const char *forwarding, const char *traffic) {
    char text[160] = "";
    fab_design *design = calloc(1, sizeof *design);
    fab_sweep_request request = request_of(text, traffic);
    fab_sweep_point point = {.n_phases = 0};
    fab_error err = {0};
    (void)snprintf(text, sizeof text, "rail-only:gpus=%d,gpus-per-server=%d,domain=%d,forwarding=%s", (int)gpus,
                   (int)domain, (int)domain, forwarding);
    request.n_seeds = 1;
    cr_assert_eq(read_design(text, NULL, 0, design, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_sweep_evaluate(&request, design, &point, &err), FAB_OK, "%s: %s", text, err.text);
    free(design);
    return point;
}

/* What the busiest GPU sends or takes when it relays inside the source's domain, in bytes: from the rule alone. */
static double busiest_relay(uint64_t gpus, uint64_t domain, uint64_t seed) {
    char text[160];
    fab_design *design = calloc(1, sizeof *design);
    (void)snprintf(text, sizeof text, "rail-only:gpus=%d,gpus-per-server=%d,domain=%d", (int)gpus, (int)domain,
                   (int)domain);
    fab_fabric *fabric = fixture_build(text, design, NULL);
    fab_traffic traffic = fixture_traffic("pattern:permutation,bytes=1MB", design, fabric, seed);
    double *out = calloc(gpus, sizeof *out);
    double *in = calloc(gpus, sizeof *in);
    double most = 0;
    for (uint64_t i = 0; i < traffic.phases[0].n_flows; i++) {
        fab_flow flow = fab_phase_flow(&traffic.phases[0], i);
        if (flow.src / domain != flow.dst / domain && flow.src % domain != flow.dst % domain) {
            out[flow.src] += (double)flow.bytes;
            in[flow.src / domain * domain + flow.dst % domain] += (double)flow.bytes;
        }
    }
    for (uint64_t i = 0; i < gpus; i++) {
        most = fmax(most, fmax(out[i], in[i]));
    }
    free(out);
    free(in);
    fab_traffic_release(&traffic);
    fab_fabric_free(fabric);
    free(design);
    return most;
}

Test(sweep, sequential_forwarding_adds_the_relay) {
    static const uint64_t SHAPES[][2] = {{32, 4}, {64, 8}, {48, 16}};
    for (size_t i = 0; i < sizeof SHAPES / sizeof SHAPES[0]; i++) {
        const char *traffic = "pattern:permutation,bytes=1MB";
        double wanted_s = busiest_relay(SHAPES[i][0], SHAPES[i][1], 3) / 450e9;
        fab_sweep_point whole = replay_rail_only(SHAPES[i][0], SHAPES[i][1], "sequential", traffic);
        fab_sweep_point flowing = replay_rail_only(SHAPES[i][0], SHAPES[i][1], "pipelined", traffic);
        for (size_t e = 0; e < 2; e++) {
            double extra_s = whole.engines[e].time_s - flowing.engines[e].time_s;
            cr_assert_gt(wanted_s, 0);
            cr_assert_float_eq(extra_s, wanted_s, 1e-9 * whole.engines[e].time_s, "engine %zu: %g, not %g", e, extra_s,
                               wanted_s);
        }
        fab_sweep_point_release(&whole);
        fab_sweep_point_release(&flowing);
    }
}

/* Where no flow changes rails there is nothing to relay. */
Test(sweep, forwarding_does_not_matter_on_one_rail) {
    const char *traffic = "pattern:shift,by=8,bytes=1MB";
    fab_sweep_point whole = replay_rail_only(64, 8, "sequential", traffic);
    fab_sweep_point flowing = replay_rail_only(64, 8, "pipelined", traffic);
    cr_assert_eq(whole.engines[0].time_s, flowing.engines[0].time_s);
    fab_sweep_point_release(&whole);
    fab_sweep_point_release(&flowing);
}

/* --- two jobs ----------------------------------------------------------------------------------------------------- */

static const char *const MIX[] = {"rail-spine:gpus=64,radix=16", "rail-spine:gpus=64,radix=16,taper=3",
                                  "clos:gpus=64,radix=16", "clos:gpus=63"};

static const fab_job_kind MIX_KINDS[] = {FAB_JOB_TRAINING, FAB_JOB_RANKING};

static fab_status read_mix(const void *context, size_t i, fab_job_kind kind, fab_design *out, fab_error *err) {
    fab_status status = read_design(MIX[i], NULL, 0, out, err);
    (void)context;
    return status == FAB_OK && kind == FAB_JOB_RANKING ? fab_design_set_job(out, 0, "kind", "ranking", "test", err)
                                                       : status;
}

Test(mix, speed_is_the_weighted_mean_of_both_jobs) {
    static const double SHARES[] = {0.1, 0.5, 0.9};
    for (size_t k = 0; k < 3; k++) {
        fab_mix_request request = {.names = MIX,
                                   .n_designs = 4,
                                   .kinds = MIX_KINDS,
                                   .n_jobs = 2,
                                   .share = SHARES[k],
                                   .read = read_mix,
                                   .seed = 1,
                                   .n_seeds = 1,
                                   .n_threads = 2};
        fab_mix *mix = NULL;
        fab_error err = {0};
        cr_assert_eq(fab_mix_run(&request, &mix, &err), FAB_OK, "%s", err.text);
        cr_assert_eq(mix->n_compared, 3);
        cr_assert(mix->by_ownership);
        cr_assert_str_neq(mix->designs[3].job[0].error, "");
        for (size_t e = 0; e < 2; e++) {
            double best = 0;
            size_t n_best = 0;
            double value[3];
            for (size_t i = 0; i < 3; i++) {
                double speed[2];
                for (size_t j = 0; j < 2; j++) {
                    double least_s = INFINITY;
                    for (size_t o = 0; o < 3; o++) {
                        least_s = fmin(least_s, mix->designs[o].job[j].engines[e].time_s);
                    }
                    speed[j] = least_s / mix->designs[i].job[j].engines[e].time_s;
                }
                double mean = exp(SHARES[k] * log(speed[0]) + (1 - SHARES[k]) * log(speed[1]));
                cr_assert_float_eq(mix->designs[i].engines[e].speed, mean, 1e-12);
                value[i] = mean / mix->designs[i].job[0].ownership.total_usd;
                best = fmax(best, value[i]);
                n_best += mix->designs[i].engines[e].is_best;
            }
            cr_assert_geq(n_best, 1);
            for (size_t i = 0; i < 3; i++) {
                cr_assert_float_eq(mix->designs[i].engines[e].speed_per_usd, value[i] / best, 1e-12);
            }
        }
        fab_mix_free(mix);
    }
}

static const char *const UNLIKE[] = {"clos:gpus=64,radix=16", "clos:gpus=128,radix=16"};

static fab_status read_unlike(const void *context, size_t i, fab_job_kind kind, fab_design *out, fab_error *err) {
    (void)context;
    (void)kind;
    return read_design(UNLIKE[i], NULL, 0, out, err);
}

Test(mix, other_jobs_do_not_compare) {
    fab_mix_request request = {.names = UNLIKE,
                               .n_designs = 2,
                               .kinds = MIX_KINDS,
                               .n_jobs = 2,
                               .share = 0.5,
                               .read = read_unlike,
                               .seed = 1,
                               .n_seeds = 1,
                               .n_threads = 1};
    fab_mix *mix = NULL;
    fab_error err = {0};
    cr_assert_eq(fab_mix_run(&request, &mix, &err), FAB_EINPUT);
    cr_assert_not_null(strstr(err.text, "64 GPUs"), "%s", err.text);
    cr_assert_null(mix);
}
