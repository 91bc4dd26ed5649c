/* What a study is made of, found out and written down. */
#include "study_scene.h"

#include "fab/design.h"
#include "fab/analysis.h"
#include "fab/study.h"

#include <time.h>

/* Bytes of rows in the store, measured: tests/bench/bench_store.c. */
#define OUTCOME_BYTES   70
#define HISTORY_BYTES   60
#define COMPONENT_BYTES 13

/* Copy of a text; the first failure sticks. */
static char *plan_keep(const char *text, fab_status *status, fab_error *err) {
    char *copy = *status == FAB_OK ? fab_strdup(text, err) : NULL;
    *status = *status == FAB_OK && copy == NULL ? FAB_ENOMEM : *status;
    return copy;
}

/* --- files -------------------------------------------------------------------------------------------------------- */

/* Copies are numbered: files of two folders may have the same name. */
static fab_status add_file(fab_plan *plan, const char *path, size_t length, fab_error *err) {
    fab_store_file file = {.given = NULL};
    FAB_OWNS_MEMBERS(file.given, file.name);
    fab_store_file *files = NULL;
    char name[32];
    FAB_PASS(FAB_NEW(file.given, length + 1, err));
    memcpy(file.given, path, length);
    for (size_t i = 0; i < plan->n_files; i++) {
        if (strcmp(plan->files[i].given, file.given) == 0) {
            return FAB_OK; /* two engines may read the same tables */
        }
    }
    FAB_FORMAT(name, "file-%zu", plan->n_files + 1);
    fab_status status = FAB_OK;
    file.name = plan_keep(name, &status, err);
    FAB_PASS(status);
    FAB_PASS(fab_store_file_digest(file.given, file.digest, err));
    FAB_PASS(FAB_NEW(files, plan->n_files + 1, err));
    FAB_COPY(files, plan->files, plan->n_files);
    free(plan->files);
    plan->files = files;
    plan->files[plan->n_files++] = file;
    file = (fab_store_file){.given = NULL};
    return FAB_OK;
}

static fab_status add_files(const fab_study_request *r, fab_plan *plan, fab_error *err) {
    size_t at = 0;
    size_t n = 0;
    if (strncmp(r->traffic, "file:", 5) == 0) {
        FAB_PASS(add_file(plan, r->traffic + 5, fab_traffic_path_length(r->traffic + 5), err));
    }
    if (strncmp(r->scenarios, "file:", 5) == 0) {
        FAB_PASS(add_file(plan, r->scenarios + 5, strlen(r->scenarios + 5), err));
    }
    if (r->design->fabric.file[0] != '\0') {
        FAB_PASS(add_file(plan, r->design->fabric.file, strlen(r->design->fabric.file), err));
    }
    for (size_t e = 0; e < r->design->n_engines; e++) {
        if (fab_engine_path(r->design->engines[e].text, &at, &n)) {
            FAB_PASS(add_file(plan, r->design->engines[e].text + at, n, err));
        }
    }
    return FAB_OK;
}

/* --- facts -------------------------------------------------------------------------------------------------------- */

static fab_status describe_variants(const fab_study_request *r, const study_scene *scene, fab_plan *plan,
                                    fab_error *err) {
    const size_t n_policies = scene->request.n_policies;
    FAB_PASS(FAB_NEW(plan->variants, r->design->n_engines * n_policies, err));
    plan->n_variants = r->design->n_engines * n_policies;
    fab_status status = FAB_OK;
    for (size_t v = 0; v < plan->n_variants; v++) {
        size_t engine = v / n_policies;
        plan->variants[v].engine = plan_keep(r->design->engines[engine].text, &status, err);
        plan->variants[v].label = plan_keep(fab_assessment_engine(scene->assessment, engine), &status, err);
        plan->variants[v].policy = plan_keep(fab_policies[scene->request.policies[v % n_policies]], &status, err);
    }
    return status;
}

static fab_status describe_rates(const fab_failure_rates *rates, bool is_drawn, uint64_t n_draws, fab_plan *plan,
                                 fab_error *err) {
    FAB_PASS(FAB_NEW(plan->rates, STUDY_RATE_ROWS + 1, err));
    fab_status status = FAB_OK;
    for (size_t i = 0; i < STUDY_RATE_ROWS; i++) {
        const study_rate_row row = study_rate_row_of((fab_failure_rates *)rates, i);
        plan->rates[i].name = plan_keep(row.name, &status, err);
        plan->rates[i].per_s = row.per_s != NULL ? *row.per_s : 0;
        plan->rates[i].repair_s = *row.repair_s;
    }
    plan->rates[STUDY_RATE_ROWS].name = plan_keep(STUDY_SEEDS, &status, err);
    plan->rates[STUDY_RATE_ROWS].per_s = is_drawn ? (double)n_draws : 0;
    plan->n_rates = STUDY_RATE_ROWS + 1;
    plan->checkpoint_s = rates->checkpoint_s;
    plan->restart_s = rates->restart_s;
    return status;
}

static fab_status plan_describe(const fab_study_request *r, const study_scene *scene, fab_plan *plan, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str design = FAB_STR_INIT;
    FAB_OWNED_NEW(fab_fabric_result, named, 1, err);
    FAB_PASS(fab_fabric_name(r->design, named, err));
    fab_design_describe(r->design, &design);
    FAB_PASS(fab_str_status(&design, err));
    FAB_PASS(fab_design_digest(r->design, plan->digest, err));
    fab_status status = FAB_OK;
    plan->program = plan_keep(r->program, &status, err);
    plan->name = plan_keep(named->name, &status, err);
    plan->origin = plan_keep(r->design->origin, &status, err);
    plan->design = plan_keep(design.data, &status, err);
    plan->traffic = plan_keep(r->traffic, &status, err);
    plan->scenarios = plan_keep(r->scenarios, &status, err);
    plan->seed = r->seed;
    plan->figures = r->figures;
    FAB_PASS(status);
    FAB_PASS(describe_variants(r, scene, plan, err));
    FAB_PASS(describe_rates(&scene->request.rates, scene->is_drawn, scene->n_draws, plan, err));
    FAB_PASS(study_scene_describe(scene, plan, err));
    FAB_PASS(add_files(r, plan, err));
    fab_plan_seal(plan);
    return FAB_OK;
}

/* --- sample ------------------------------------------------------------------------------------------------------- */

/* Scenarios from all over the source, for as long as was asked. */
static fab_status try_scenarios(const study_scene *scene, double sample_s, fab_study_planned *out, fab_error *err) {
    FAB_OWNS(study_worker_release) study_worker worker = {.scene = NULL};
    const fab_plan *plan = &out->plan;
    uint64_t n = 0;
    uint64_t n_components = 0;
    double spent_s = 0;
    FAB_PASS(study_worker_init(scene, &worker, err));
    FAB_OWNED_NEW(fab_outcome, outcome, plan->n_variants, err);
    clock_t begin = clock();
    do {
        const uint32_t *component = NULL;
        size_t n_failed = 0;
        double place = fmod((double)n * 0.6180339887498949, 1); /* spreads evenly, whatever n will be */
        uint64_t i = (uint64_t)(place * (double)plan->n_scenarios);
        FAB_PASS(study_worker_assess(&worker, i < plan->n_scenarios ? i : 0, outcome, &component, &n_failed, err));
        n++;
        n_components += n_failed;
        spent_s = (double)(clock() - begin) / CLOCKS_PER_SEC;
    } while (n < plan->n_scenarios && spent_s < sample_s);
    out->scenario_s = spent_s / (double)n;
    out->scenario_bytes = (double)plan->n_variants * (OUTCOME_BYTES + (plan->span_s > 0 ? HISTORY_BYTES : 0)) +
                          COMPONENT_BYTES * (double)n_components / (double)n;
    return FAB_OK;
}

static fab_status plan_check_request(const fab_study_request *r, fab_error *err) {
    static const char FRONT_END[] = "front-end";
    FAB_REFUSE_IF(strncmp(r->traffic, FRONT_END, sizeof FRONT_END - 1) == 0, err, FAB_EUNSUPPORTED, "--traffic",
                  "failures of the front-end are not studied");
    return FAB_OK;
}

fab_status fab_study_plan(const fab_study_request *request, const char *folder, fab_study_planned *out,
                          fab_error *err) {
    fab_status status = FAB_OK;
    study_scene scene = {.fabric = NULL};
    fab_study_planned planned = {.was_there = false};
    FAB_TRY(plan_check_request(request, err));
    const fab_context_request what = fab_context_of(request->design, NULL, request->traffic, request->seed);
    const fab_assessment_request assessment = {.policies = request->policies,
                                               .n_policies = request->n_policies,
                                               .n_draws = request->n_seeds,
                                               .times = request->figures != FAB_FIGURES_LOADS,
                                               .p99 = request->figures == FAB_FIGURES_P99,
                                               .rates = fab_failure_rates_of(&request->design->failures)};
    FAB_TRY(study_scene_init(&what, &assessment, request->scenarios, what.seed, &scene, err));
    for (size_t i = 0; i < request->n_policies && !(fab_scenarios_span_s(scene.scenarios) > 0); i++) {
        FAB_FAIL_IF(request->policies[i] == FAB_POLICY_SHRINK, err, FAB_EUNSUPPORTED, "--policy",
                    "shrink is what a job does in time: --scenarios %.60s has none; give histories (time:90d@100)",
                    request->scenarios);
    }
    FAB_FAIL_IF(fab_scenarios_span_s(scene.scenarios) > 0 && request->figures == FAB_FIGURES_P99, err, FAB_EINPUT,
                "--figures", "p99 is of sets of failures; histories have times");
    FAB_TRY(fab_scenarios_span_s(scene.scenarios) > 0 ? study_scene_settle(&scene, err) : FAB_OK);
    FAB_TRY(plan_describe(request, &scene, &planned.plan, err));
    FAB_TRY(try_scenarios(&scene, request->sample_s, &planned, err));
    FAB_TRY(fab_plan_write(folder, &planned.plan, &planned.was_there, err));
    *out = planned;
    planned = (fab_study_planned){.was_there = false};
done:
    fab_plan_release(&planned.plan);
    study_scene_release(&scene);
    return status;
}
