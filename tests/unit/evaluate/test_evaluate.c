/* An evaluation is a function of the context, the case and the needs: whatever was evaluated before, whatever is
 * shared, it is what routing everything anew gives. */
#include "fab/evaluate.h"

#include "context_builds.h"
#include "reroute_fixture.h"

#define WANTED (FAB_NEED_LOADS | FAB_NEED_TIME)

static const char *const TRAFFIC[] = {"pattern:permutation", "pattern:all-to-all", "pattern:shift,by=3",
                                      "pattern:incast"};

static fab_context *context_of(const scene *s, const fab_engine_spec *spec, uint64_t seed) {
    const fab_context_request asked = {
        .design = &s->design, .fabric = s->f, .given = &s->traffic, .engines = spec, .n_engines = 1, .seed = seed};
    return fixture_context(&asked);
}

/* The same bytes from a context and a workspace that know of nothing else. */
static void check_alone(const scene *s, const fab_engine_spec *spec, uint64_t seed, const fab_case *at, unsigned what,
                        fab_status status, const fab_evaluated *found) {
    fab_context *context = context_of(s, spec, seed);
    fab_workspace *workspace = NULL;
    fab_evaluated alone;
    const fab_needs needs = {.what = what};
    cr_assert_eq(fab_workspace_new(context, &workspace, NULL), FAB_OK);
    cr_assert_eq(fab_evaluate(workspace, at, &needs, &alone, NULL), status, "%s", s->what);
    if (status == FAB_OK && (what & FAB_NEED_LOADS) != 0) {
        cr_assert(memcmp(found->loads->load, alone.loads->load, s->f->n_links * sizeof(double)) == 0, "%s", s->what);
        cr_assert_eq(found->loads->n_disconnected, alone.loads->n_disconnected, "%s", s->what);
        cr_assert_eq(found->loads->lost_bps, alone.loads->lost_bps, "%s", s->what);
        cr_assert_eq(found->loads->worst_ratio, alone.loads->worst_ratio, "%s", s->what);
        cr_assert_eq(found->loads->worst_link, alone.loads->worst_link, "%s", s->what);
    }
    if (status == FAB_OK) {
        cr_assert_eq(found->time.transfer_s, alone.time.transfer_s, "%s", s->what);
        cr_assert_eq(found->time.latency_s, alone.time.latency_s, "%s", s->what);
        cr_assert(memcmp(&found->figures, &alone.figures, sizeof alone.figures) == 0, "%s", s->what);
    }
    fab_workspace_free(workspace);
    fab_context_free(context);
}

/* Random states one after the other: all that is asked for at once, or the time alone, or figures in between. */
static void check_states(scene *s, const char *engine, uint64_t seed, fab_rng *rng, tally *sum) {
    const fab_engine_spec spec = fixture_spec(engine);
    const bool whole =
        s->router.engine->next == NULL && fab_router_facts_of(&s->router)->on_loss == FAB_LOSS_RECONVERGE;
    fab_context *context = context_of(s, &spec, seed);
    fab_workspace *workspace = NULL;
    cr_assert_eq(fab_workspace_new(context, &workspace, NULL), FAB_OK);
    for (uint32_t i = 0; i < 5; i++) {
        fab_evaluated found;
        fab_error err = {0};
        draw_mask(s, rng, 6);
        const fab_state state = {.mask = &s->mask};
        const fab_case at = {.state = &state};
        const fab_case healthy = {.draw = fab_rng_below(rng, 3)};
        const fab_needs figures = {.what = FAB_NEED_FIGURES | (i % 2 == 0 ? FAB_NEED_RATES : 0U)};
        fab_needs needs = {.what = FAB_NEED_LOADS};
        fab_status status = fab_evaluate(workspace, &at, &needs, &found, &err);
        cr_assert_eq(status, FAB_OK, "%s: %s", s->what, err.text);
        check_alone(s, &spec, seed, &at, needs.what, status, &found);
        if (status == FAB_OK && !whole) {
            check_flows(s, engine, seed, found.loads, sum);
        } else if (status == FAB_OK && found.loads->in_full) {
            check_whole(s, engine, seed, found.loads, sum);
        }
        if (status == FAB_OK && found.loads->n_disconnected == 0) {
            needs.what = fab_rng_below(rng, 2) == 0 ? (unsigned)WANTED : (unsigned)FAB_NEED_TIME;
            status = fab_evaluate(workspace, &at, &needs, &found, NULL);
            check_alone(s, &spec, seed, &at, needs.what, status, &found);
            sum->masks += status == FAB_OK;
        }
        status = fab_evaluate(workspace, &healthy, &figures, &found, &err);
        cr_assert_eq(status, FAB_OK, "%s: %s", s->what, err.text);
        check_alone(s, &spec, seed, &healthy, figures.what, status, &found);
    }
    fab_context_builds built = fab_context_count(context);
    cr_expect(built.next_hops == 1 && built.ports == 1 && built.routers == 1 && built.offers == 1 &&
                  built.demands == 1 && built.baselines <= 1 && built.estimators <= 1,
              "%s: %zu %zu %zu %zu %zu %zu %zu", s->what, built.next_hops, built.ports, built.routers, built.offers,
              built.demands, built.baselines, built.estimators);
    fab_workspace_free(workspace);
    fab_context_free(context);
}

Test(evaluate, full_and_incremental_give_the_same_bytes) {
    static const char *const ENGINES[] = {
        "ecmp", "ecmp,qp=3,member-loss=resilient", "dmodk", "pinned", "updn", "spray", "adaptive,qp=2"};
    for (size_t e = 0; e < sizeof ENGINES / sizeof ENGINES[0]; e++) {
        fab_rng rng = fab_rng_make(e, 52);
        fab_rng masks = fab_rng_make(e, 53);
        tally sum = {0};
        for (uint32_t round = 0; round < 30; round++) {
            random_design d = random_design_next(&rng, 8);
            scene s;
            if (scene_init(&s, d.text, random_word(&rng, TRAFFIC, 4), ENGINES[e], 2000, round)) {
                check_states(&s, ENGINES[e], round, &masks, &sum);
            }
            scene_release(&s);
        }
        cr_expect_gt(sum.masks, 10, "%s: %u times", ENGINES[e], sum.masks);
    }
}

/* Where ranks are. */
typedef struct places {
    uint32_t *new_gpu, *moved;
    size_t n;
} places;

/* Two servers change places; or now and then two GPUs, where servers need not move as a whole. */
static void change_places(const scene *s, fab_rng *rng, bool whole, places *at) {
    const uint32_t n_gpus = fab_n_gpus(s->f);
    const uint32_t n_each = whole || fab_rng_below(rng, 6) > 0 ? s->f->gpus_per_server : 1;
    const uint32_t a = (uint32_t)fab_rng_below(rng, n_gpus / n_each) * n_each;
    const uint32_t b = (uint32_t)fab_rng_below(rng, n_gpus / n_each) * n_each;
    for (uint32_t g = 0; g < n_each; g++) {
        const uint32_t kept = at->new_gpu[a + g];
        at->new_gpu[a + g] = at->new_gpu[b + g];
        at->new_gpu[b + g] = kept;
    }
    at->n = 0;
    for (uint32_t g = 0; g < n_gpus; g++) {
        at->moved[at->n] = g;
        at->n += at->new_gpu[g] != g;
    }
}

/* One state after the other, against a workspace that routes what differs from the healthy fabric. */
static void check_incremental(scene *s, const char *engine, uint64_t seed, fab_rng *rng, uint32_t counts[3]) {
    const fab_engine_spec spec = fixture_spec(engine);
    fab_context *context = context_of(s, &spec, seed);
    fab_workspace *workspace[2] = {NULL, NULL};
    places at_now = {calloc(fab_n_gpus(s->f), sizeof(uint32_t)), calloc(fab_n_gpus(s->f) + 1, sizeof(uint32_t)), 0};
    for (uint32_t g = 0; g < fab_n_gpus(s->f); g++) {
        at_now.new_gpu[g] = g;
    }
    cr_assert_eq(fab_workspace_new(context, &workspace[0], NULL), FAB_OK);
    cr_assert_eq(fab_workspace_new(context, &workspace[1], NULL), FAB_OK);
    for (uint32_t i = 0; i < 30; i++) {
        if (fab_rng_below(rng, 3) == 0) {
            draw_mask(s, rng, 4);
        }
        change_places(s, rng, seed % 3 > 0, &at_now);
        const fab_state state = {
            .mask = &s->mask, .moved = at_now.moved, .n_moved = at_now.n, .new_gpu = at_now.new_gpu};
        const fab_case at = {.state = &state};
        const fab_needs loads = {.what = FAB_NEED_LOADS};
        const fab_needs time = {.what = FAB_NEED_TIME};
        fab_evaluated found;
        fab_phase_seconds seconds = {0};
        fab_known answer = FAB_KNOWN_NOTHING;
        fab_status status = fab_evaluate_incremental(workspace[0], &at, &seconds, &answer, NULL);
        if (status != FAB_OK || answer == FAB_KNOWN_NOTHING) {
            counts[FAB_KNOWN_NOTHING]++;
            continue;
        }
        cr_assert_eq(fab_evaluate(workspace[1], &at, &loads, &found, NULL), FAB_OK, "%s", s->what);
        cr_assert_eq(answer == FAB_KNOWN_LOST, found.loads->n_disconnected > 0, "%s: state %u", s->what, i);
        counts[answer]++;
        if (answer == FAB_KNOWN_TIME) {
            cr_assert_eq(fab_evaluate(workspace[1], &at, &time, &found, NULL), FAB_OK, "%s", s->what);
            cr_assert_eq(seconds.transfer_s, found.time.transfer_s, "%s: state %u, %.17g s, not %.17g s", s->what, i,
                         seconds.transfer_s, found.time.transfer_s);
            cr_assert_eq(seconds.latency_s, found.time.latency_s, "%s: state %u", s->what, i);
            cr_assert_eq(seconds.in_network, found.time.in_network, "%s", s->what);
        }
    }
    free(at_now.new_gpu);
    free(at_now.moved);
    fab_workspace_free(workspace[0]);
    fab_workspace_free(workspace[1]);
    fab_context_free(context);
}

Test(evaluate, times_of_ranks_that_move_follow_from_the_state_before) {
    static const char *const ENGINES[] = {"ecmp", "ecmp,qp=4,member-loss=resilient", "dmodk", "ecmp,qp=3", "spray"};
    for (size_t e = 0; e < sizeof ENGINES / sizeof ENGINES[0]; e++) {
        fab_rng rng = fab_rng_make(e, 97);
        fab_rng draws = fab_rng_make(e, 98);
        uint32_t counts[3] = {0};
        for (uint32_t round = 0; round < 40; round++) {
            random_design d = random_design_next(&rng, 8);
            scene s;
            if (scene_init(&s, d.text, random_word(&rng, TRAFFIC, 4), ENGINES[e], 2000, round)) {
                check_incremental(&s, ENGINES[e], round, &draws, counts);
            }
            scene_release(&s);
        }
        if (e < 3) {
            cr_expect_gt(counts[FAB_KNOWN_TIME], 100, "%s: %u", ENGINES[e], counts[FAB_KNOWN_TIME]);
            cr_expect_gt(counts[FAB_KNOWN_LOST], 20, "%s: %u", ENGINES[e], counts[FAB_KNOWN_LOST]);
        }
        cr_expect_gt(counts[FAB_KNOWN_NOTHING], 0, "%s", ENGINES[e]);
        cr_expect(strcmp(ENGINES[e], "spray") != 0 || counts[FAB_KNOWN_TIME] == 0);
    }
}

/* A context on another shares what is the same, and nothing else. */
Test(evaluate, contexts_share_what_is_the_same) {
    fab_design design;
    fab_fabric *f = fixture_build("rail-spine:gpus=64,radix=16,taper=2", &design, NULL);
    const fab_engine_spec specs[] = {fixture_spec("ecmp"), fixture_spec("dmodk")};
    const fab_context_request asked = {
        .design = &design, .fabric = f, .traffic = "pattern:permutation", .engines = specs, .n_engines = 2, .seed = 1};
    fab_context *base = fixture_context(&asked);
    const fab_context_request other = {.base = base, .engines = &specs[1], .n_engines = 1};
    const fab_context_request drawn = {.base = base, .draw = 1};
    fab_context *alike = fixture_context(&other);
    fab_context *next = fixture_context(&drawn);
    const fab_demand *demand[3];
    const fab_router *router[2];
    const fab_baseline *baseline[2];
    cr_assert_eq(fab_context_demand(alike, 0, &demand[0], NULL), FAB_OK);
    cr_assert_eq(fab_context_demand(base, 0, &demand[1], NULL), FAB_OK);
    cr_assert_eq(fab_context_demand(next, 0, &demand[2], NULL), FAB_OK);
    cr_expect_eq(demand[0], demand[1]);
    cr_expect_neq(demand[0], demand[2], "another draw has other flows");
    cr_assert_eq(fab_context_router(alike, 0, &router[0], NULL), FAB_OK);
    cr_assert_eq(fab_context_router(next, 1, &router[1], NULL), FAB_OK);
    cr_expect_eq(router[0], router[1]);
    cr_assert_eq(fab_context_baseline(alike, 0, 0, &baseline[0], NULL), FAB_OK);
    cr_assert_eq(fab_context_baseline(base, 1, 0, &baseline[1], NULL), FAB_OK);
    cr_expect_neq(baseline[0], baseline[1], "it goes with the context");
    cr_expect(memcmp(fab_baseline_load(baseline[0]), fab_baseline_load(baseline[1]), f->n_links * sizeof(double)) == 0);
    cr_expect_eq(fab_context_count(base).next_hops, 1);
    cr_expect_eq(fab_context_count(base).routers, 1, "nobody asked for the first");
    cr_expect_eq(fab_context_count(alike).routers, 0);
    cr_expect_eq(fab_context_count(next).traffics, 1);
    fab_context_free(next);
    fab_context_free(alike);
    fab_context_free(base);
    fab_fabric_free(f);
}

/* A part that cannot be built says so to everybody, and the others are there. */
Test(evaluate, errors_are_those_of_the_part) {
    fab_design design;
    fab_fabric *f = fixture_build("torus:gpus=64,torus=4,4,4,radix=16,gpus-per-server=1", &design, NULL);
    const fab_engine_spec spec = fixture_spec("pinned");
    const fab_context_request asked = {
        .design = &design, .fabric = f, .traffic = "pattern:permutation", .engines = &spec, .n_engines = 1, .seed = 1};
    fab_context *context = fixture_context(&asked);
    const fab_router *router = NULL;
    const fab_dag *dag = NULL;
    for (int i = 0; i < 2; i++) {
        fab_error err = {0};
        cr_expect_eq(fab_context_router(context, 0, &router, &err), FAB_EUNSUPPORTED);
        cr_expect(strstr(err.text, "engine pinned chooses among the uplinks of a tree") != NULL, "%s", err.text);
        cr_expect_str_eq(err.where, "test");
    }
    cr_expect_eq(fab_context_count(context).routers, 1, "it was tried once");
    cr_expect_eq(fab_context_dag(context, &dag, NULL), FAB_OK);
    fab_context_free(context);
    fab_fabric_free(f);
}
