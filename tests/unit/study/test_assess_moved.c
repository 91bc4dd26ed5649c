/* Ranks that move to spares: a job whose servers are lost takes as long as one that has the new servers from the
 * beginning, on a whole fabric. */
#include "fab/design.h"
#include "fab/assess.h"
#include "fab/iterate.h"
#include "fab/rng.h"
#include "relocate_fixture.h"

#include "context_fixture.h"

typedef struct setting {
    const char *design;
    const char *job[6]; /* key=value, ended by NULL */
    uint32_t n_servers; /* of the job: the first ones */
} setting;

static const setting SETTINGS[] = {
    {"preset:llama3-talk-racks", {"model=gpt-1.7b", "memory-check=off"}, 4},
    {"rail-spine:gpus=48,gpus-per-server=4,radix=8", {"tp=4", "pp=2", "dp=4", "memory-check=off"}, 8},
    {"clos:gpus=64,gpus-per-server=4,radix=16,taper=2,nics-per-server=2",
     {"tp=2", "pp=3", "dp=8", "memory-check=off"},
     12},
    {"fat-tree:k=8,gpus-per-server=2,domain=2", {"tp=1", "pp=7", "dp=12", "sharded=yes", "memory-check=off"}, 42},
};
#define N_SETTINGS (sizeof SETTINGS / sizeof SETTINGS[0])

static void set_job(fab_design *design, const char *text) {
    char key[64];
    fab_error err = {0};
    const char *equals = strchr(text, '=');
    (void)snprintf(key, sizeof key, "%.*s", (int)(equals - text), text);
    cr_assert_eq(fab_design_set_job(design, 0, key, equals + 1, "test", &err), FAB_OK, "%s: %s", text, err.text);
}

static void set_servers(fab_design *design, const uint32_t *server, uint32_t n) {
    char text[512] = "servers=";
    size_t at = strlen(text);
    for (uint32_t i = 0; i < n; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%u", i > 0 ? "," : "", server[i]);
    }
    set_job(design, text);
}

/* `pace`: how much phases slow each other down, in place of what they do here; NULL: that. Receives it. */
static double iteration_s(const fab_design *design, const fab_fabric *f, const fab_engine_spec *engine,
                          const fab_paces *pace, fab_paces *out) {
    fab_result result = {.n_fabrics = 1};
    fab_error err = {0};
    const fab_context_request what_of_replay = {
        .design = design, .fabric = f, .traffic = "job", .engines = engine, .n_engines = 1, .seed = 3};
    fab_context *context = fixture_context(&what_of_replay);
    const fab_replay replay = {.context = context, .n_seeds = 1, .n_threads = 1, .rates = true};
    result.fabrics = calloc(1, sizeof *result.fabrics);
    cr_assert_eq(fab_replay_run(&replay, &result, &err), FAB_OK, "%s", err.text);
    fab_context_free(context);
    cr_assert_eq(result.n_iterations, 1, "%s", result.iteration_note);
    if (pace != NULL && result.paces != NULL) {
        fab_traffic traffic = fixture_traffic("job", design, f, 3);
        result.paces[0] = *pace;
        cr_assert_eq(fab_iterate(&traffic, &result, 0, &result.iterations[0], &err), FAB_OK, "%s", err.text);
        fab_traffic_release(&traffic);
    }
    double s = result.iterations[0].time_s;
    *out = result.paces != NULL ? result.paces[0] : (fab_paces){{{0}}};
    fab_result_release(&result);
    return s;
}

/* Everything that the relocator of the assessor knows, once more. */
static fab_relocator *relocator_of(const fab_design *design, const fab_fabric *f, const fab_engine_spec *engine,
                                   scene *s) {
    fab_error err = {0};
    memset(s, 0, sizeof *s);
    s->f = (fab_fabric *)f;
    s->healthy = fixture_next_hops(f);
    s->traffic = fixture_traffic("job", design, f, 3);
    s->router = fixture_router(engine->text, f, s->healthy);
    s->taken = calloc(f->n_servers, 1);
    cr_assert_eq(fab_jobs_taken(design, f, s->taken, &err), FAB_OK, "%s", err.text);
    for (size_t p = 0; p < s->traffic.n_phases; p++) {
        fab_baseline *base = NULL;
        cr_assert_eq(fab_offer_init(f, &s->router.ports, &s->traffic.phases[p], &s->offer[p], &err), FAB_OK);
        const fab_baseline_request request = {
            .router = &s->router, .phase = &s->traffic.phases[p], .offer = &s->offer[p], .seed = 3};
        cr_assert_eq(fab_baseline_new(&request, &base, &err), FAB_OK, "%s", err.text);
        s->base[p] = base;
    }
    const fab_relocator_request request = {.fabric = f,
                                           .ports = &s->router.ports,
                                           .traffic = &s->traffic,
                                           .taken = s->taken,
                                           .phases = s->base,
                                           .n_phases = s->traffic.n_phases};
    cr_assert_eq(fab_relocator_new(&request, &s->relocator, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_mask_init(f, NULL, &s->mask, &err), FAB_OK);
    return s->relocator;
}

static void relocator_release(scene *s) {
    fab_relocator_free(s->relocator);
    fab_mask_release(&s->mask);
    for (size_t p = 0; p < s->traffic.n_phases; p++) {
        fab_baseline_free((fab_baseline *)s->base[p]);
        fab_offer_release(&s->offer[p]);
    }
    free(s->taken);
    fab_router_release(&s->router);
    fab_traffic_release(&s->traffic);
    fab_next_hops_free(s->healthy);
}

typedef struct tally {
    uint32_t ran, stopped, slower, moved;
} tally;

static void check(const setting *x, const char *engine, fab_rng *rng, tally *sum) {
    static const fab_policy POLICIES[] = {FAB_POLICY_NONE, FAB_POLICY_FIRST_SPARE, FAB_POLICY_SAME_POD,
                                          FAB_POLICY_SAME_SLICE, FAB_POLICY_COLLISION_AWARE};
    const fab_engine_spec spec = fixture_spec(engine);
    fab_design design;
    fab_fabric *f = fixture_build(x->design, &design, NULL);
    fab_assessment *assessment = NULL;
    fab_assessor *assessor = NULL;
    fab_error err = {0};
    scene s;
    uint32_t server[64];
    for (uint32_t i = 0; i < x->n_servers; i++) {
        server[i] = i;
    }
    for (size_t i = 0; x->job[i] != NULL; i++) {
        set_job(&design, x->job[i]);
    }
    set_servers(&design, server, x->n_servers);
    const fab_context_request asked = {
        .design = &design, .fabric = f, .traffic = "job", .engines = &spec, .n_engines = 1, .seed = 3};
    fab_context *context = fixture_context(&asked);
    const fab_assessment_request request = {.context = context, .policies = POLICIES, .n_policies = 5, .times = true};
    cr_assert_eq(fab_assessment_new(&request, &assessment, &err), FAB_OK, "%s: %s", x->design, err.text);
    cr_assert_eq(fab_assessor_new(assessment, &assessor, &err), FAB_OK, "%s", err.text);
    fab_relocator *relocator = relocator_of(&design, f, &spec, &s);
    fab_paces pace;
    fab_paces moved_pace;
    double healthy_s = iteration_s(&design, f, &spec, NULL, &pace);
    for (uint32_t round = 0; round < 4; round++) {
        static const fab_component_kind KINDS[] = {FAB_COMPONENT_SERVER, FAB_COMPONENT_GPU, FAB_COMPONENT_NIC};
        fab_component dead[3];
        size_t n = 1 + fab_rng_below(rng, round + 1 < 3 ? round + 1 : 3);
        for (size_t i = 0; i < n; i++) {
            dead[i] = (fab_component){.kind = KINDS[fab_rng_below(rng, 3)]};
            dead[i].id = (uint32_t)fab_rng_below(rng, fab_component_count(f, NULL, dead[i].kind));
        }
        fab_scenario scenario = {.component = dead, .n_components = n};
        fab_outcome got[5];
        cr_assert_eq(fab_assess(assessor, round, &scenario, 0, got, &err), FAB_OK, "%s: %s", x->design, err.text);
        cr_assert_eq(fab_mask_set(&s.mask, dead, n, NULL), FAB_OK);
        for (size_t p = 0; p < 5; p++) {
            fab_relocation to;
            cr_assert_eq(fab_relocate(relocator, &s.mask, POLICIES[p], &to, &err), FAB_OK, "%s", err.text);
            cr_assert_eq(got[p].variant, p);
            if (got[p].state == FAB_OUTCOME_STOPPED) {
                cr_assert(isnan(got[p].time_s) && got[p].n_moved == 0);
                cr_assert(!to.is_possible || got[p].n_disconnected > 0, "%s, %s", x->design, engine);
                sum->stopped++;
                continue;
            }
            cr_assert(to.is_possible);
            cr_assert_eq(got[p].n_moved, to.n_moves, "%s, %s: %u, not %zu", x->design, engine, got[p].n_moved,
                         to.n_moves);
            fab_design after = design;
            uint32_t now[64];
            memcpy(now, server, sizeof now);
            for (size_t i = 0; i < to.n_moves; i++) {
                now[to.moves[i].from] = to.moves[i].to;
            }
            set_servers(&after, now, x->n_servers);
            double want_s = iteration_s(&after, f, &spec, &pace, &moved_pace);
            cr_assert(fabs(got[p].time_s - want_s) <= 1e-9 * want_s, "%s, %s, %s: %.17g s, not %.17g", x->design,
                      engine, fab_policies[POLICIES[p]], got[p].time_s, want_s);
            cr_assert(fabs(got[p].slowdown - want_s / healthy_s) <= 1e-8, "%s", x->design);
            sum->ran++;
            sum->slower += got[p].slowdown > 1 + 1e-9;
            sum->moved += got[p].n_moved > 0;
        }
    }
    relocator_release(&s);
    fab_assessor_free(assessor);
    fab_assessment_free(assessment);
    fab_context_free(context);
    fab_fabric_free(f);
}

Test(assess_migrated, as_if_the_job_had_been_there_from_the_beginning) {
    static const char *const ENGINES[] = {"ecmp,qp=2", "pinned,slices=2", "dmodk", "spray", "adaptive"};
    tally sum = {0};
    fab_rng rng = fab_rng_make(31, 0);
    for (size_t i = 0; i < N_SETTINGS; i++) {
        for (size_t e = 0; e < sizeof ENGINES / sizeof ENGINES[0]; e++) {
            check(&SETTINGS[i], ENGINES[e], &rng, &sum);
        }
    }
    cr_expect_gt(sum.ran, 100, "%u", sum.ran);
    cr_expect_gt(sum.moved, 60, "%u", sum.moved);
    cr_expect_gt(sum.stopped, 20, "%u", sum.stopped);
    cr_expect_gt(sum.slower, 10, "%u", sum.slower);
}
