/* Failure scenarios to outcomes. */
#include "fab/assess.h"
#include "fab/degraded.h"
#include "fab/iterate.h"
#include "fab/rng.h"
#include "fabric_fixture.h"
#include "random_design.h"

#include <math.h>
#include <string.h>

static const fab_policy NOBODY_MOVES = FAB_POLICY_NONE;

typedef struct scene {
    char what[448];
    fab_design design;
    fab_fabric *f;
    fab_engine_spec engine;
    fab_assessment *assessment;
    fab_assessor *assessor;
    fab_context *context;
    fab_scenario scenario;
} scene;

/* False where the design cannot be built, or the engine is not for it. */
static bool scene_init(scene *s, const char *design, const char *traffic, const char *engine, bool times) {
    fab_error err = {0};
    memset(s, 0, sizeof *s);
    (void)snprintf(s->what, sizeof s->what, "%s, %s, %s", design, traffic, engine);
    s->engine = fixture_spec(engine);
    if (fab_design_read(design, NULL, 0, &s->design, NULL) != FAB_OK ||
        fab_topology_build(&s->design.fabric, &s->f, NULL, NULL) != FAB_OK) {
        return false;
    }
    const fab_context_request asked = {
        .design = &s->design, .fabric = s->f, .traffic = traffic, .engines = &s->engine, .n_engines = 1, .seed = 3};
    s->context = fixture_context(&asked);
    const fab_assessment_request request = {.context = s->context,
                                            .policies = &NOBODY_MOVES,
                                            .n_policies = 1,
                                            .times = times,
                                            .rates = fab_failure_rates_default()};
    fab_status status = fab_assessment_new(&request, &s->assessment, &err);
    if (status != FAB_OK) {
        cr_assert(status == FAB_EUNSUPPORTED || status == FAB_EINPUT, "%s: %s", s->what, err.text);
        return false;
    }
    cr_assert_eq(fab_assessor_new(s->assessment, &s->assessor, &err), FAB_OK, "%s: %s", s->what, err.text);
    return true;
}

static void scene_release(scene *s) {
    fab_scenario_release(&s->scenario);
    fab_assessor_free(s->assessor);
    fab_assessment_free(s->assessment);
    fab_context_free(s->context);
    fab_fabric_free(s->f);
}

/* Mostly links between switches, some of anything, some of it slow. */
static void draw(scene *s, fab_rng *rng, uint64_t most) {
    size_t n = 1 + fab_rng_below(rng, most);
    free(s->scenario.component);
    s->scenario = (fab_scenario){.component = calloc(n, sizeof *s->scenario.component), .component_capacity = n};
    for (uint32_t tries = 0; s->scenario.n_components < n && tries < 1000; tries++) {
        fab_component c = {.kind = FAB_COMPONENT_LINK, .fraction = fab_rng_below(rng, 4) == 0 ? 0.5 : 0};
        if (fab_rng_below(rng, 6) == 0) {
            c.kind = (fab_component_kind)fab_rng_below(rng, FAB_COMPONENT_RACK);
        }
        uint32_t count = fab_component_count(s->f, NULL, c.kind);
        c.id = (uint32_t)fab_rng_below(rng, c.kind <= FAB_COMPONENT_PORT ? s->f->n_links : count);
        if (fab_component_check(s->f, NULL, &c, NULL) == FAB_OK) {
            s->scenario.component[s->scenario.n_components++] = c;
        }
    }
}

/* --- loads -------------------------------------------------------------------------------------------------------- */

static fab_outcome expected_loads(const scene *s, const char *traffic) {
    fab_next_hops *healthy = fixture_next_hops(s->f);
    fab_router router = fixture_router(s->engine.text, s->f, healthy);
    fab_traffic phases = fixture_traffic(traffic, &s->design, s->f, 3);
    fab_outcome out = {.worst_link = UINT32_MAX};
    fab_mask mask;
    double offered = 0;
    double lost = 0;
    cr_assert_eq(fab_mask_init(s->f, NULL, &mask, NULL), FAB_OK);
    cr_assert_eq(fab_mask_set(&mask, s->scenario.component, s->scenario.n_components, NULL), FAB_OK);
    for (size_t p = 0; p < phases.n_phases; p++) {
        fab_offer offer;
        fab_baseline *base = NULL;
        fab_reroute *reroute = NULL;
        fab_rerouted r;
        cr_assert_eq(fab_offer_init(s->f, &router.ports, &phases.phases[p], &offer, NULL), FAB_OK);
        const fab_baseline_request request = {
            .router = &router, .phase = &phases.phases[p], .offer = &offer, .seed = 3};
        cr_assert_eq(fab_baseline_new(&request, &base, NULL), FAB_OK);
        cr_assert_eq(fab_reroute_new(base, &reroute, NULL), FAB_OK);
        cr_assert_eq(fab_reroute_apply(reroute, &mask, FAB_WHEN_CONVERGED, &r, NULL), FAB_OK);
        for (uint64_t i = 0; i < phases.phases[p].n_flows; i++) {
            offered += fab_offer_rate(&offer, &phases.phases[p], i);
        }
        lost += r.lost_bps;
        out.n_disconnected += r.n_disconnected;
        for (uint32_t l = 0; l < s->f->n_links; l++) {
            const fab_link_class *c = fab_class_of(s->f, l);
            if ((c->kind == FAB_LINK_ACCESS || c->kind == FAB_LINK_FABRIC) && mask.residual[l] > 0) {
                double ratio = r.load[l] / (c->capacity_bps * mask.residual[l]);
                out.n_collisions += ratio > 1 + 1e-9;
                if (ratio > out.worst_ratio * (1 + 1e-9)) {
                    out.worst_ratio = ratio;
                    out.worst_link = l;
                }
            }
        }
        fab_reroute_free(reroute);
        fab_baseline_free(base);
        fab_offer_release(&offer);
    }
    out.lost_ratio = offered > 0 ? lost / offered : 0;
    fab_mask_release(&mask);
    fab_traffic_release(&phases);
    fab_router_release(&router);
    fab_next_hops_free(healthy);
    return out;
}

Test(assess, counts_what_every_link_is_asked_for) {
    static const char *const ENGINES[] = {
        "ecmp,qp=2", "ecmp,member-loss=resilient", "dmodk", "pinned", "updn", "adaptive", "spray"};
    static const char *const TRAFFIC[] = {"job", "pattern:permutation", "pattern:all-to-all", "pattern:incast"};
    uint32_t n_scenes = 0;
    uint32_t n_stopped = 0;
    uint32_t n_ran = 0;
    uint32_t n_collided = 0;
    fab_rng rng = fab_rng_make(11, 0);
    for (uint32_t round = 0; round < 160; round++) {
        random_design design = random_design_next(&rng, 8);
        const char *traffic = random_word(&rng, TRAFFIC, 4);
        scene s;
        if (scene_init(&s, design.text, traffic, random_word(&rng, ENGINES, 7), false)) {
            for (uint32_t i = 0; i < 4; i++) {
                fab_outcome got;
                fab_error err = {0};
                draw(&s, &rng, i < 2 ? 3 : 20);
                fab_status status = fab_assess(s.assessor, 7, &s.scenario, 0, &got, &err);
                cr_assert_eq(status, FAB_OK, "%s: %s", s.what, err.text);
                fab_outcome want = expected_loads(&s, traffic);
                cr_assert_eq(got.scenario, 7);
                cr_assert_eq(got.n_disconnected, want.n_disconnected, "%s", s.what);
                cr_assert_eq(got.n_collisions, want.n_collisions, "%s: %u, not %u", s.what, got.n_collisions,
                             want.n_collisions);
                cr_assert(fabs(got.lost_ratio - want.lost_ratio) <= 1e-9, "%s", s.what);
                cr_assert(fabs(got.worst_ratio - want.worst_ratio) <= 1e-9 * want.worst_ratio, "%s", s.what);
                cr_assert(isnan(got.time_s) && isnan(got.slowdown) && isnan(got.goodput));
                cr_assert(want.n_disconnected == 0 || got.state == FAB_OUTCOME_STOPPED, "%s", s.what);
                n_stopped += got.state == FAB_OUTCOME_STOPPED;
                n_ran += got.state == FAB_OUTCOME_RUNS;
                n_collided += got.n_collisions > 0;
            }
            n_scenes++;
        }
        scene_release(&s);
    }
    cr_expect_gt(n_scenes, 60, "%u", n_scenes);
    cr_expect_gt(n_stopped, 30, "%u", n_stopped);
    cr_expect_gt(n_ran, 60, "%u", n_ran);
    cr_expect_gt(n_collided, 40, "%u", n_collided);
}

/* A GPU of two NICs loses one: its flows take the other, which then carries twice as much. It loses both: it is cut
 * off. */
Test(assess, a_flow_is_cut_when_it_loses_every_path) {
    static const char *const DESIGN = "rail-spine:gpus=32,gpus-per-server=4,nics-per-server=8,radix=32,taper=0.5";
    fab_outcome one;
    fab_outcome both;
    fab_component nic[2] = {{.kind = FAB_COMPONENT_NIC, .id = 0}, {.kind = FAB_COMPONENT_NIC, .id = 1}};
    fab_scenario scenario = {.component = nic, .component_capacity = 2};
    scene s;
    cr_assert(scene_init(&s, DESIGN, "pattern:shift,by=4", "ecmp,hash=ideal", true));
    scenario.n_components = 1;
    cr_assert_eq(fab_assess(s.assessor, 1, &scenario, 0, &one, NULL), FAB_OK);
    scenario.n_components = 2;
    cr_assert_eq(fab_assess(s.assessor, 2, &scenario, 0, &both, NULL), FAB_OK);
    cr_expect_eq(one.state, FAB_OUTCOME_RUNS);
    cr_expect_eq(one.n_disconnected, 0);
    cr_expect_eq(one.lost_ratio, 0);
    cr_expect_float_eq(one.worst_ratio, 2, 1e-9);
    cr_expect_gt(one.slowdown, 1.9);
    cr_expect_eq(both.state, FAB_OUTCOME_STOPPED);
    cr_expect_eq(both.n_disconnected, 2); /* what GPU 0 sends, and what it receives */
    scenario.component = NULL;
    scene_release(&s);
}

/* --- times -------------------------------------------------------------------------------------------------------- */

/* The slow way for parts that are slower and not dead: everything replayed on a copy of the fabric. */
static double degraded_s(const scene *s, const char *traffic, const char *part, double *out_healthy_s) {
    fab_result before = {.n_fabrics = 1};
    fab_error err = {0};
    fab_weak_part weak;
    fab_degradation *d = NULL;
    const fab_context_request what_of_replay = {
        .design = &s->design, .fabric = s->f, .traffic = traffic, .engines = &s->engine, .n_engines = 1, .seed = 3};
    fab_context *context = fixture_context(&what_of_replay);
    const fab_replay replay = {.context = context, .n_seeds = 1, .n_threads = 1, .rates = true};
    before.fabrics = calloc(1, sizeof *before.fabrics);
    cr_assert_eq(fab_replay_run(&replay, &before, &err), FAB_OK, "%s: %s", s->what, err.text);
    cr_assert_eq(fab_weak_part_parse(part, &weak, &err), FAB_OK, "%s: %s", part, err.text);
    cr_assert_eq(fab_degraded_run(&replay, &before, &weak, 1, &d, &err), FAB_OK, "%s, %s: %s", s->what, part, err.text);
    double after_s = 0;
    *out_healthy_s = 0;
    for (size_t p = 0; p < d->n_phases; p++) {
        *out_healthy_s += d->phases[p].before_s.mean;
        after_s += d->phases[p].after_s.mean;
    }
    if (d->n_iterations > 0) {
        *out_healthy_s = d->iterations[0].before_s;
        after_s = d->iterations[0].after_s;
    }
    fab_degradation_free(d);
    fab_result_release(&before);
    fab_context_free(context);
    return after_s;
}

/* Engines that do not look at capacities: failure studies do not tell them. */
Test(assess, slower_parts_take_as_long_as_in_a_replay_of_everything) {
    static const char *const ENGINES[] = {"ecmp,qp=2", "dmodk", "pinned", "spray"};
    static const char *const TRAFFIC[] = {"job", "job", "pattern:permutation"};
    static const fab_component_kind KINDS[] = {FAB_COMPONENT_LINK, FAB_COMPONENT_SWITCH, FAB_COMPONENT_NIC,
                                               FAB_COMPONENT_GPU, FAB_COMPONENT_SERVER};
    fab_rng rng = fab_rng_make(12, 0);
    uint32_t n_slower = 0;
    uint32_t n_iterations = 0;
    for (uint32_t round = 0; round < 60; round++) {
        random_design design = random_design_next(&rng, 6);
        const char *traffic = random_word(&rng, TRAFFIC, 3);
        scene s;
        if (scene_init(&s, design.text, traffic, random_word(&rng, ENGINES, 4), true)) {
            for (uint32_t i = 0; i < 3; i++) {
                fab_component c = {.kind = KINDS[fab_rng_below(&rng, 5)]};
                uint32_t count = fab_component_count(s.f, NULL, c.kind);
                c.id = (uint32_t)fab_rng_below(&rng, c.kind == FAB_COMPONENT_LINK ? s.f->n_links : count);
                c.fraction = 0.125 * (double)(1 + fab_rng_below(&rng, 7));
                if (fab_component_check(s.f, NULL, &c, NULL) != FAB_OK) {
                    continue;
                }
                char name[FAB_COMPONENT_NAME_SIZE];
                char part[FAB_COMPONENT_NAME_SIZE + 16];
                double fraction = c.fraction;
                c.fraction = 0; /* not in the name */
                (void)snprintf(part, sizeof part, "%s=%g", fab_component_name(s.f, &c, name), fraction);
                c.fraction = fraction;
                fab_scenario one = {.n_components = 1, .component = &c};
                fab_outcome got;
                fab_error err = {0};
                double healthy_s = 0;
                cr_assert_eq(fab_assess(s.assessor, 1, &one, 0, &got, &err), FAB_OK, "%s: %s", s.what, err.text);
                double want_s = degraded_s(&s, traffic, part, &healthy_s);
                cr_assert_eq(got.state, FAB_OUTCOME_RUNS);
                cr_assert(fabs(got.time_s - want_s) <= 1e-9 * want_s, "%s, %s: %.17g s, not %.17g", s.what, part,
                          got.time_s, want_s);
                cr_assert(fabs(fab_assessment_healthy(s.assessment, 0).time_s - healthy_s) <= 1e-9 * healthy_s, "%s",
                          s.what);
                cr_assert(fabs(got.slowdown - (healthy_s > 0 ? want_s / healthy_s : 1)) <= 1e-8, "%s, %s", s.what,
                          part);
                n_slower += got.slowdown > 1;
                n_iterations += fab_assessment_iterates(s.assessment);
            }
        }
        scene_release(&s);
    }
    cr_expect_gt(n_slower, 30, "%u", n_slower);
    cr_expect_gt(n_iterations, 20, "%u", n_iterations);
}

/* --- what is refused ---------------------------------------------------------------------------------------------- */

static void refused(const char *design_text, const char *traffic, const char *engine, fab_policy policy,
                    const char *message) {
    fab_design design;
    fab_fabric *f = fixture_build(design_text, &design, NULL);
    const fab_engine_spec spec = fixture_spec(engine);
    fab_assessment *assessment = NULL;
    fab_error err = {0};
    const fab_context_request asked = {
        .design = &design, .fabric = f, .traffic = traffic, .engines = &spec, .n_engines = 1};
    fab_context *context = fixture_context(&asked);
    const fab_assessment_request request = {.context = context, .policies = &policy, .n_policies = 1, .times = true};
    cr_expect_eq(fab_assessment_new(&request, &assessment, &err), FAB_EUNSUPPORTED, "%s, %s", design_text, traffic);
    cr_expect(strstr(err.text, message) != NULL, "%s", err.text);
    cr_expect_null(assessment);
    fab_context_free(context);
    fab_fabric_free(f);
}

Test(assess, says_what_it_cannot_do) {
    refused(
        "rail-spine:gpus=16384,radix=64", "pattern:all-to-all", "ecmp", FAB_POLICY_NONE,
        "268419072 flows of 1 paths: with what was before it more than the 16777216 paths that failure studies keep");
    refused("rail-spine:gpus=2048,radix=64", "pattern:all-to-all", "ecmp,qp=16", FAB_POLICY_NONE,
            "4192256 flows of 16 paths under ecmp");
    refused("fat-tree:k=4", "pattern:permutation", "ecmp", FAB_POLICY_SAME_RACK, "without a floor plan");
    refused("fat-tree:k=4", "pattern:permutation", "ecmp,qp=2,spread=round-robin", FAB_POLICY_NONE,
            "queue pairs that take turns have no times under failures");
    refused("fat-tree:k=4", "pattern:all-reduce,algorithm=all", "ecmp", FAB_POLICY_NONE, "ways to do the same");
}
