/* Studies from plan to rows: what is stored is what an assessment of scenario i says, and what failed in it. */
#include "fab/str.h"
#include "fab/design.h"
#include "fab/assess.h"
#include "fab/scenarios.h"
#include "fabric_fixture.h"
#include "store_fixture.h"

static fab_design *read_design(const char *text, const char *engine) {
    fab_design *d = calloc(1, sizeof *d);
    fab_error err = {0};
    must(fab_design_read(text, NULL, 0, d, &err), &err);
    d->n_engines = 1;
    d->engines[0] = fixture_spec(engine);
    return d;
}

static fab_study_planned plan_study(const fab_design *d, const char *traffic, const char *scenarios, bool times,
                                    const char *folder) {
    static const fab_policy POLICIES[] = {FAB_POLICY_NONE};
    const fab_study_request request = {.design = d,
                                       .program = "7.0",
                                       .traffic = traffic,
                                       .scenarios = scenarios,
                                       .policies = POLICIES,
                                       .n_policies = 1,
                                       .seed = 5,
                                       .figures = times ? FAB_FIGURES_TIMES : FAB_FIGURES_LOADS};
    fab_study_planned planned;
    fab_error err = {0};
    must(fab_study_plan(&request, folder, &planned, &err), &err);
    return planned;
}

static fab_status run_study(const char *folder, const char *program, fab_study_tally *tally, fab_error *err) {
    const fab_study_job job = {.folder = folder, .program = program, .n_shards = 1, .n_threads = 2};
    return fab_study_run(&job, tally, err);
}

static bool same(double a, double b) {
    return isnan(a) ? isnan(b) : a == b;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of what fails in a scenario of the store, sorted and joined. */
static void stored_names(const fab_store *store, uint64_t scenario, char *out, size_t size) {
    fab_query *q = NULL;
    fab_error err = {0};
    bool row = true;
    out[0] = '\0';
    must(fab_query_new(store,
                       "SELECT name FROM failed JOIN component USING (component) WHERE scenario = ? ORDER BY name",
                       (int64_t[]){(int64_t)scenario}, 1, &q, &err),
         &err);
    for (;;) {
        must(fab_query_next(q, &row, &err), &err);
        if (!row) {
            break;
        }
        size_t n = strlen(out);
        (void)snprintf(out + n, size - n, "%s;", fab_query_text(q, 0));
    }
    fab_query_free(q);
}

static void names(const fab_fabric *f, const fab_scenario *s, char *out, size_t size) {
    char text[FAB_SCENARIO_COMPONENTS][FAB_COMPONENT_NAME_SIZE];
    const char *sorted[FAB_SCENARIO_COMPONENTS];
    out[0] = '\0';
    for (size_t i = 0; i < s->n_components; i++) {
        sorted[i] = fab_component_name(f, &s->component[i], text[i]);
    }
    qsort(sorted, s->n_components, sizeof *sorted, by_text);
    for (size_t i = 0; i < s->n_components; i++) {
        size_t n = strlen(out);
        (void)snprintf(out + n, size - n, "%s;", sorted[i]);
    }
}

typedef struct scene { /* made here, not by the study */
    fab_fabric *f;
    fab_scenarios *scenarios;
    fab_assessment *assessment;
    fab_assessor *assessor;
    fab_context *context;
} scene;

static scene make_scene(const fab_design *d, const char *traffic, const char *scenarios, bool times) {
    static const fab_policy POLICY = FAB_POLICY_NONE;
    scene s = {.f = NULL};
    fab_error err = {0};
    fab_fabric_spec spec = d->fabric;
    must(fab_topology_build(&spec, &s.f, NULL, &err), &err);
    must(fab_scenarios_new(scenarios, s.f, NULL, NULL, 5, &s.scenarios, &err), &err);
    const fab_context_request asked = {
        .design = d, .fabric = s.f, .traffic = traffic, .engines = d->engines, .n_engines = 1, .seed = 5};
    s.context = fixture_context(&asked);
    const fab_assessment_request request = {.context = s.context,
                                            .policies = &POLICY,
                                            .n_policies = 1,
                                            .times = times,
                                            .rates = fab_failure_rates_default()};
    must(fab_assessment_new(&request, &s.assessment, &err), &err);
    must(fab_assessor_new(s.assessment, &s.assessor, &err), &err);
    return s;
}

static void scene_release(scene *s) {
    fab_assessor_free(s->assessor);
    fab_assessment_free(s->assessment);
    fab_context_free(s->context);
    fab_scenarios_free(s->scenarios);
    fab_fabric_free(s->f);
}

static void check_rows(const char *folder, scene *s, uint64_t n) {
    fab_error err = {0};
    fab_store *store = NULL;
    fab_query *q = NULL;
    fab_scenario scenario = {.n_components = 0};
    bool row = false;
    char stored[1024];
    char wanted[1024];
    must(fab_store_open(folder, &store, &err), &err);
    must(fab_query_new(store, "SELECT n_done FROM gathered", NULL, 0, &q, &err), &err);
    must(fab_query_next(q, &row, &err), &err);
    cr_assert_eq((uint64_t)fab_query_integer(q, 0), n);
    fab_query_free(q);
    must(
        fab_query_new(store,
                      "SELECT scenario, state, n_disconnected, n_collisions, lost_ratio, worst_ratio, time_s, slowdown "
                      "FROM outcome ORDER BY scenario",
                      NULL, 0, &q, &err),
        &err);
    for (uint64_t i = 0; i < n; i++) {
        fab_outcome o;
        must(fab_scenarios_get(s->scenarios, i, &scenario, &err), &err);
        names(s->f, &scenario, wanted, sizeof wanted);
        stored_names(store, i, stored, sizeof stored);
        cr_assert_str_eq(stored, wanted, "scenario %llu", (unsigned long long)i);
        must(fab_assess(s->assessor, i, &scenario, 0, &o, &err), &err);
        must(fab_query_next(q, &row, &err), &err);
        cr_assert(row && (uint64_t)fab_query_integer(q, 0) == i);
        cr_assert_eq((uint32_t)fab_query_integer(q, 1), o.state);
        cr_assert_eq((uint32_t)fab_query_integer(q, 2), o.n_disconnected);
        cr_assert_eq((uint32_t)fab_query_integer(q, 3), o.n_collisions);
        cr_assert(same(fab_query_real(q, 4), o.lost_ratio));
        cr_assert(same(fab_query_real(q, 5), o.worst_ratio));
        cr_assert(same(fab_query_real(q, 6), o.time_s));
        cr_assert(same(fab_query_real(q, 7), o.slowdown));
    }
    fab_query_free(q);
    fab_store_close(store);
    fab_scenario_release(&scenario);
}

Test(study, rows_are_those_of_the_scenarios) {
    static const struct {
        const char *design, *engine, *traffic, *scenarios;
        bool times;
    } CASES[] = {
        {"rail-spine:gpus=64,gpus-per-server=4,radix=16", "ecmp,qp=2", "pattern:permutation", "links:3@700", false},
        {"clos:gpus=64,gpus-per-server=4,radix=16", "spray", "pattern:permutation", "switches:2", false},
        {"fat-tree:k=4", "dmodk", "pattern:shift,by=1", "nics:2@60", true},
        {"clos:gpus=32,gpus-per-server=4,radix=16", "ecmp", "pattern:permutation", "servers:1", true},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char folder[64];
        fab_error err = {0};
        fab_study_tally tally;
        fab_gathered gathered;
        fab_design *d = read_design(CASES[i].design, CASES[i].engine);
        (void)fixture_folder(folder);
        fab_study_planned planned = plan_study(d, CASES[i].traffic, CASES[i].scenarios, CASES[i].times, folder);
        must(run_study(folder, "7.0", &tally, &err), &err);
        cr_assert_eq(tally.n_run, planned.plan.n_scenarios);
        gather(folder, &planned.plan, false, &gathered);
        scene s = make_scene(d, CASES[i].traffic, CASES[i].scenarios, CASES[i].times);
        check_rows(folder, &s, planned.plan.n_scenarios);
        cr_assert(
            same(planned.plan.variants[0].healthy.worst_ratio, fab_assessment_healthy(s.assessment, 0).worst_ratio));
        cr_assert_str_eq(planned.plan.variants[0].label, fab_assessment_engine(s.assessment, 0));
        scene_release(&s);
        fab_plan_release(&planned.plan);
        fixture_remove(folder);
        free(d);
    }
}

/* A few scenarios of a large class do not drag the names of all of it along. */
Test(study, components_are_those_that_can_fail) {
    char folder[64];
    fab_design *d = read_design("rail-spine:gpus=256,gpus-per-server=4,radix=32", "dmodk");
    (void)fixture_folder(folder);
    fab_study_planned planned = plan_study(d, "pattern:shift,by=4", "links:2@20", false, folder);
    cr_assert_leq(planned.plan.n_components, 40);
    cr_assert_geq(planned.plan.n_components, 30);
    fab_plan_release(&planned.plan);
    fixture_remove(folder);
    planned = plan_study(d, "pattern:shift,by=4", "switches:1", false, fixture_folder(folder));
    cr_assert_eq(planned.plan.n_components, planned.plan.n_scenarios);
    cr_assert_str_eq(planned.plan.components[0].name, "leaf-0");
    fab_plan_release(&planned.plan);
    fixture_remove(folder);
    free(d);
}

/* Plans that look right, but of which this program would make others. */
Test(study, plans_of_others_are_refused) {
    char folder[64];
    char other[64];
    fab_error err = {0};
    fab_study_tally tally;
    bool was_there = false;
    fab_design *d = read_design("rail-spine:gpus=64,gpus-per-server=4,radix=16", "ecmp");
    (void)fixture_folder(folder);
    fab_study_planned planned = plan_study(d, "pattern:permutation", "links:1", false, folder);
    cr_assert_eq(run_study(folder, "7.1", &tally, &err), FAB_EINPUT);
    cr_assert_not_null(strstr(err.text, "planned by fabriscope 7.0; this is 7.1"), "%s", err.text);
    err = (fab_error){0};
    planned.plan.variants[0].healthy.worst_ratio += 1e-9;
    fab_plan_seal(&planned.plan);
    must(fab_plan_write(fixture_folder(other), &planned.plan, &was_there, &err), &err);
    cr_assert_eq(run_study(other, "7.0", &tally, &err), FAB_EINPUT);
    cr_assert_not_null(strstr(err.text, "this program computes otherwise"), "%s", err.text);
    err = (fab_error){0};
    fixture_remove(other);
    planned.plan.design[0] = 'x'; /* no such field */
    fab_plan_seal(&planned.plan);
    must(fab_plan_write(other, &planned.plan, &was_there, &err), &err);
    cr_assert_eq(run_study(other, "7.0", &tally, &err), FAB_EINPUT);
    cr_assert_not_null(strstr(err.text, "unknown path 'xame'"), "%s", err.text);
    fab_plan_release(&planned.plan);
    fixture_remove(folder);
    fixture_remove(other);
    free(d);
}

/* Version 0.1 wrote defaults into its plans as well: such plans run, and keep their digests. */
Test(study, plans_that_name_defaults_run) {
    char folder[64];
    fab_error err = {0};
    fab_study_tally tally;
    bool was_there = false;
    fab_design *d = read_design("rail-spine:gpus=64,gpus-per-server=4,radix=16", "ecmp");
    fab_study_planned planned = plan_study(d, "pattern:permutation", "links:1", false, fixture_folder(folder));
    fixture_remove(folder);
    fab_str text = FAB_STR_INIT;
    fab_str_printf(&text, "fabric.k=auto\nfabric.xgft=\nfabric.reduction=none\n%s", planned.plan.design);
    free(planned.plan.design);
    planned.plan.design = text.data;
    fab_design_text_digest(text.data, planned.plan.digest);
    fab_plan_seal(&planned.plan);
    must(fab_plan_write(folder, &planned.plan, &was_there, &err), &err);
    must(run_study(folder, "7.0", &tally, &err), &err);
    planned.plan.digest[0] ^= 1;
    fab_plan_seal(&planned.plan);
    fixture_remove(folder);
    must(fab_plan_write(folder, &planned.plan, &was_there, &err), &err);
    cr_assert_eq(run_study(folder, "7.0", &tally, &err), FAB_EINPUT);
    cr_assert_not_null(strstr(err.text, "the plan is damaged: its design has digest"), "%s", err.text);
    fab_plan_release(&planned.plan);
    fixture_remove(folder);
    free(d);
}

/* Whatever option of an engine names a file: a study takes the file along. */
Test(study, files_of_engines_are_known) {
    size_t n_files = 0;
    for (size_t e = 0; fab_engines[e] != NULL; e++) {
        for (const fab_engine_option *o = fab_engines[e]->options; o->key != NULL; o++) {
            char text[128];
            size_t at = 0;
            size_t n = 0;
            (void)snprintf(text, sizeof text, "%s,seed=3,%s=some/path.txt,qp=2", fab_engines[e]->name, o->key);
            bool is_file = strstr(o->summary, "file") != NULL;
            cr_assert_eq(fab_engine_path(text, &at, &n), is_file, "%s", text);
            if (is_file) {
                cr_assert(n == 13 && strncmp(text + at, "some/path.txt", n) == 0, "%s", text);
                n_files++;
            }
        }
    }
    cr_assert_geq(n_files, 2);
}
