/* Phases that are routed a chunk at a time, or in bundles, give what they give when routed at once. */
#include "fabric_fixture.h"
#include "random_design.h"

#include "fab/analysis.h"
#include "fab/topologies.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static bool times_only; /* of the replays that follow, as is: */
static const fab_traffic *given;

static fab_result replayed_all(const char *text, const char *traffic, const char *const *engines, size_t n_engines,
                               uint64_t kept_paths, uint64_t n_seeds) {
    static fab_design design;
    fab_result result = {0};
    fab_error err = {0};
    fab_engine_spec specs[8] = {{.where = "test"}};
    for (size_t i = 0; i < n_engines; i++) {
        (void)snprintf(specs[i].text, sizeof specs[i].text, "%s", engines[i]);
    }
    fab_fabric *fabric = fixture_build(text, &design, NULL);
    const fab_context_request what_of_replay = {.design = &design,
                                                .fabric = fabric,
                                                .traffic = traffic,
                                                .given = given,
                                                .engines = specs,
                                                .n_engines = n_engines,
                                                .seed = 7};
    fab_context *context = fixture_context(&what_of_replay);
    const fab_replay replay = {.context = context,
                               .n_seeds = n_seeds,
                               .n_threads = n_engines > 1 ? 1 : 2, /* one: engines share their memory */
                               .keep_loads = true,
                               .rates = times_only,
                               .times_only = times_only && kept_paths > 0,
                               .kept_paths = kept_paths};
    cr_assert_eq(fab_replay_run(&replay, &result, &err), FAB_OK, "%s, %s: %s", text, engines[0], err.text);
    fab_context_free(context);
    fab_fabric_free(fabric);
    return result;
}

static fab_result replayed(const char *text, const char *traffic, const char *engine, uint64_t kept_paths,
                           uint64_t n_seeds) {
    return replayed_all(text, traffic, &engine, 1, kept_paths, n_seeds);
}

static void same(double a, double b, const char *what, const char *text) {
    cr_expect_lt(fabs(a - b), 1e-9 * fmax(1, fabs(a)), "%s: %s %.17g, in chunks %.17g", text, what, a, b);
}

static void compare_engine(const char *text, const char *engine, const fab_engine_result *a,
                           const fab_engine_result *b) {
    same(a->max_collision_factor.mean, b->max_collision_factor.mean, "max factor", text);
    same(a->mean_collision_factor.mean, b->mean_collision_factor.mean, "mean factor", text);
    same(a->collided_flows.mean, b->collided_flows.mean, "collided flows", text);
    same(a->collided_links.mean, b->collided_links.mean, "collided links", text);
    same(a->max_utilisation.mean, b->max_utilisation.mean, "utilisation", text);
    same(a->busiest_link_s.mean, b->busiest_link_s.mean, "busiest link", text);
    same(a->effective_bisection.mean, b->effective_bisection.mean, "effective bisection", text);
    cr_assert_eq(a->n_hot, b->n_hot);
    for (size_t i = 0; i < a->n_hot; i++) {
        cr_expect_eq(a->hot[i].link, b->hot[i].link, "%s, %s: hot link %zu", text, engine, i);
        cr_expect_eq(a->hot[i].n_flows, b->hot[i].n_flows, "%s, %s: %lu and %lu flows", text, engine,
                     (unsigned long)a->hot[i].n_flows, (unsigned long)b->hot[i].n_flows);
        cr_expect_eq(a->hot[i].n_listed, b->hot[i].n_listed);
        for (size_t k = 0; k < a->hot[i].n_listed; k++) {
            const fab_flow_ref *x = &a->hot[i].flows[k];
            const fab_flow_ref *y = &b->hot[i].flows[k];
            cr_expect(x->flow == y->flow && x->src_gpu == y->src_gpu && x->dst_gpu == y->dst_gpu,
                      "%s, %s: hot link %zu lists gpu-%u to gpu-%u, in chunks gpu-%u to gpu-%u", text, engine, i,
                      x->src_gpu, x->dst_gpu, y->src_gpu, y->dst_gpu);
        }
    }
    for (size_t t = 0; t < a->n_tiers; t++) {
        same(a->tiers[t].bytes, b->tiers[t].bytes, "bytes", text);
        cr_expect_eq(a->tiers[t].used, b->tiers[t].used);
        cr_expect_arr_eq(a->tiers[t].histogram, b->tiers[t].histogram, sizeof a->tiers[t].histogram,
                         "%s, %s: histogram of tier %zu", text, engine, t / 2 + 1);
        cr_expect_eq(a->tiers[t].full_choices, b->tiers[t].full_choices);
        cr_expect_eq(a->tiers[t].later_used, b->tiers[t].later_used);
        same(a->tiers[t].later_expected, b->tiers[t].later_expected, "expected next hops", text);
        cr_expect_eq(a->tiers[t].polarized, b->tiers[t].polarized);
    }
}

static void compare(const char *text, const char *traffic, const char *engine) {
    fab_result whole = replayed(text, traffic, engine, 0, 2);
    fab_result chunks = replayed(text, traffic, engine, 1, 2);
    compare_engine(text, engine, &whole.phases[0].engines[0], &chunks.phases[0].engines[0]);
    fab_result_release(&whole);
    fab_result_release(&chunks);
}

Test(streams, chunks_of_flows_give_what_all_at_once_give) {
    compare("fat-tree:k=8", "pattern:permutation", "ecmp,qp=4");
    compare("clos:gpus=256,radix=16,taper=2", "pattern:bisection", "ecmp");
    compare("rail-spine:gpus=512,radix=16,planes=2", "pattern:shift,by=40", "ecmp,hash=ideal,qp=2");
    compare("fat-tree:k=8", "pattern:all-to-all", "ecmp");
    compare("rail-only:gpus=256,radix=16", "pattern:all-to-all,gpus=0-127", "ecmp");
}

/* Chunks that are routed once, for times alone: those of links are what they are with everything. */
Test(streams, chunks_for_times_alone_give_the_same_links_and_times) {
    static const char *const ROWS[][3] = {{"fat-tree:k=8", "pattern:all-to-all", "ecmp,qp=4"},
                                          {"clos:gpus=256,radix=16,taper=2", "pattern:all-to-all", "ecmp,qp=2"},
                                          {"rail-spine:gpus=504,radix=16,taper=2", "pattern:all-to-all", "dmodk"},
                                          {"clos:gpus=256,radix=16,taper=2", "pattern:bisection", "ecmp"}};
    times_only = true;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const char *text = ROWS[i][0];
        fab_result whole = replayed(text, ROWS[i][1], ROWS[i][2], 0, 2);
        fab_result chunks = replayed(text, ROWS[i][1], ROWS[i][2], 1, 2);
        const fab_engine_result *a = &whole.phases[0].engines[0];
        const fab_engine_result *b = &chunks.phases[0].engines[0];
        same(a->max_collision_factor.mean, b->max_collision_factor.mean, "max factor", text);
        same(a->max_utilisation.mean, b->max_utilisation.mean, "utilisation", text);
        same(a->effective_bisection.mean, b->effective_bisection.mean, "effective bisection", text);
        same(a->busiest_link_s.mean, b->busiest_link_s.mean, "busiest link", text);
        same(a->latency_s, b->latency_s, "latency", text);
        cr_expect(b->has_time || strcmp(ROWS[i][1], "pattern:bisection") == 0, "%s", text);
        for (size_t t = 0; t < a->n_tiers; t++) {
            same(a->tiers[t].bytes, b->tiers[t].bytes, "bytes", text);
        }
        fab_result_release(&whole);
        fab_result_release(&chunks);
    }
}

Test(streams, bundles_give_what_single_flows_give) {
    compare("fat-tree:k=8", "pattern:all-to-all", "dmodk");
    compare("rail-spine:gpus=504,radix=16,taper=2", "pattern:all-to-all", "dmodk");
    compare("clos:gpus=200,radix=16,nics-per-server=4", "pattern:all-to-all,gpus=3-177", "pinned");
    compare("dragonfly:dragonfly=2,4,2,gpus-per-server=4,radix=7", "pattern:all-to-all", "updn");
    compare("clos:gpus=56,gpus-per-server=8,nics-per-server=2,radix=8,taper=3/2", "pattern:all-to-all,bytes=1B",
            "dmodk");
    compare("fat-tree:gpus=64,gpus-per-server=4,nics-per-server=2,radix=8", "pattern:all-to-all,gpus=17-27", "updn");
}

/* In chunks, and whole, where routes of the same flows are kept for who asks for them again. */
Test(streams, engines_that_share_memory_give_what_each_gives_alone) {
    static const char *const ENGINES[] = {"ecmp",          "adaptive", "dmodk", "ecmp",
                                          "adaptive,qp=2", "updn",     "spray", "ecmp,qp=2"};
    static const char *const TRAFFIC[] = {"pattern:shift,by=9", "pattern:all-to-all"};
    const size_t n = sizeof ENGINES / sizeof ENGINES[0];
    const char *text = "fat-tree:gpus=64,gpus-per-server=4,radix=8"; /* of dmodk in bundles, beside merged paths */
    for (uint64_t kept_paths = 0; kept_paths < 2; kept_paths++) {
        fab_result together = replayed_all(text, TRAFFIC[kept_paths], ENGINES, n, kept_paths, 1);
        for (size_t i = 0; i < n; i++) {
            fab_result alone = replayed(text, TRAFFIC[kept_paths], ENGINES[i], kept_paths, 1);
            compare_engine(text, ENGINES[i], &alone.phases[0].engines[0], &together.phases[0].engines[i]);
            fab_result_release(&alone);
        }
        fab_result_release(&together);
    }
}

enum { N_GPUS = 64, N_FLOWS = 2 * N_GPUS };

/* Two flows of every GPU. The second phase is the first again; the third has other rates, the fourth other ordinals,
 * the last another destination. */
Test(streams, routes_are_kept_for_the_same_flows_alone) {
    static const char *const ENGINES[] = {"ecmp", "adaptive", "adaptive,view=downstream,parts=5"};
    static uint32_t src[N_FLOWS], dst[2][N_FLOWS], comm[N_FLOWS], ordinal[N_FLOWS];
    static uint64_t bytes[2][N_FLOWS];
    fab_phase phases[5];
    for (uint32_t i = 0; i < N_FLOWS; i++) {
        src[i] = i % N_GPUS;
        dst[0][i] = dst[1][i] = (i + (i < N_GPUS ? 9 : 26)) % N_GPUS;
        bytes[0][i] = 1000000;
        bytes[1][i] = i % 3 == 0 ? 5000000 : 1000000;
        ordinal[i] = 1;
    }
    dst[1][4] = dst[0][40];
    dst[1][40] = dst[0][4];
    for (size_t p = 0; p < 5; p++) {
        phases[p] = (fab_phase){.n_flows = N_FLOWS,
                                .src = src,
                                .dst = dst[p > 1],
                                .bytes = bytes[p == 4],
                                .comm = comm,
                                .ordinal = p > 2 ? ordinal : NULL,
                                .n_comms = 1,
                                .steps = 1,
                                .executions = 1};
        (void)snprintf(phases[p].name, sizeof phases[p].name, "part-%zu", p);
    }
    const char *text = "clos:gpus=64,gpus-per-server=4,radix=8,taper=2";
    fab_traffic all = {.phases = phases, .n_phases = 5};
    for (size_t e = 0; e < 3; e++) {
        given = &all;
        fab_result together = replayed_all(text, NULL, (const char *const[]){ENGINES[e], "spray"}, 2, 0, 1);
        double first = together.phases[0].engines[0].mean_collision_factor.mean;
        for (size_t p = 0; p < 5; p++) {
            const fab_traffic one = {.phases = &phases[p], .n_phases = 1};
            given = &one;
            fab_result alone = replayed(text, NULL, ENGINES[e], 0, 1);
            compare_engine(text, ENGINES[e], &alone.phases[0].engines[0], &together.phases[p].engines[0]);
            cr_expect_eq(alone.phases[0].engines[0].dependencies, together.phases[p].engines[0].dependencies);
            fab_result_release(&alone);
        }
        cr_expect_eq(together.phases[1].engines[0].mean_collision_factor.mean, first);
        cr_expect_neq(together.phases[4].engines[0].mean_collision_factor.mean, first);
        fab_result_release(&together);
    }
}

Test(streams, classes_of_an_all_to_all_give_what_its_flows_give) {
    static const char *const DESIGNS[] = {"fat-tree:k=4", "rail-spine:gpus=96,radix=8,planes=2",
                                          "clos:gpus=64,radix=8,nics-per-server=2", "rail-only:gpus=256,radix=8"};
    for (size_t i = 0; i < sizeof DESIGNS / sizeof DESIGNS[0]; i++) {
        fab_result result = replayed(DESIGNS[i], "pattern:all-to-all", "ecmp", 0, 1);
        uint64_t n = result.phases[0].flows;
        cr_expect_leq(result.phases[0].fabric_flows, result.phases[0].network_flows);
        cr_expect_leq(result.phases[0].network_flows, n);
        cr_expect_gt(result.phases[0].fabric_flows, 0, "%s", DESIGNS[i]);
        fab_result_release(&result);
    }
}

/* Next hops that an ideal hash would use, however it weighs them: between none and all. */
Test(streams, weighted_next_hops_are_expected_in_use_like_equal_ones) {
    const char *text = "rail-spine:gpus=32,gpus-per-server=4,nics-per-server=8,radix=8";
    fab_result equal = replayed(text, "pattern:ring", "ecmp,qp=4", 0, 1);
    fab_result weighted = replayed(text, "pattern:ring", "ecmp,qp=4,weights=capacity", 0, 1);
    const fab_engine_result *a = &equal.phases[0].engines[0];
    const fab_engine_result *b = &weighted.phases[0].engines[0];
    uint64_t n = 0;
    for (size_t t = 0; t < a->n_tiers; t++) { /* cables are all alike */
        same(a->tiers[t].later_expected, b->tiers[t].later_expected, "expected next hops", text);
        same(a->tiers[t].chance, b->tiers[t].chance, "chance", text);
        cr_expect_eq(a->tiers[t].full_choices, b->tiers[t].full_choices);
        n += b->tiers[t].later_next_hops;
    }
    cr_expect_gt(n, 0);
    fab_result_release(&equal);
    fab_result_release(&weighted);
}

/* Progress never goes back, advances within a phase that is cut into chunks, and ends with all items. */
typedef struct told {
    double last;
    size_t total, n_within;
} told;

static void keep_progress(void *context, double done, size_t total) {
    told *t = context;
    cr_assert(done >= t->last && done <= (double)total, "%g after %g of %zu", done, t->last, total);
    t->n_within += done != floor(done);
    t->last = done;
    t->total = total;
}

Test(streams, progress) {
    static const fab_engine_spec ENGINES[] = {
        {.text = "ecmp"}, {.text = "dmodk"}, {.text = "ecmp,qp=3,spread=round-robin"}};
    for (size_t n_threads = 1; n_threads <= 4; n_threads += 3) {
        for (int chunks = 0; chunks < 2; chunks++) {
            fab_design design;
            fab_result result = {0};
            fab_error err = {0};
            told t = {.last = 0};
            fab_fabric *fabric = fixture_build("fat-tree:k=12", &design, NULL);
            const fab_context_request what_of_replay = {.design = &design,
                                                        .fabric = fabric,
                                                        .traffic = "pattern:all-to-all",
                                                        .engines = ENGINES,
                                                        .n_engines = 3,
                                                        .seed = 1};
            fab_context *context = fixture_context(&what_of_replay);
            const fab_replay replay = {.context = context,
                                       .n_seeds = 2,
                                       .n_threads = n_threads,
                                       .kept_paths = chunks ? 1 : 0,
                                       .progress = keep_progress,
                                       .progress_context = &t};
            cr_assert_eq(fab_replay_run(&replay, &result, &err), FAB_OK, "%s", err.text);
            fab_context_free(context);
            cr_expect_eq(t.total, 5); /* dmodk draws nothing */
            cr_expect(n_threads > 1 || t.last == 5, "%g", t.last);
            cr_expect_eq(chunks != 0, t.n_within > 0);
            fab_result_release(&result);
            fab_fabric_free(fabric);
        }
    }
}
