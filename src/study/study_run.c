/* A worker: everything is made anew from the folder, and is what was planned. */
#include "study_loop.h"
#include "study_scene.h"

#include "fab/design.h"

/* --- files -------------------------------------------------------------------------------------------------------- */

/* "file:PATH" with the copy's path; other texts as they are. */
static fab_status restore_text(const char *folder, const fab_plan *plan, const char *text, char **out, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str copy = FAB_STR_INIT;
    if (strncmp(text, "file:", 5) == 0) {
        fab_str_add(&copy, "file:");
        const size_t length = fab_traffic_path_length(text + 5);
        FAB_PASS(study_copy_of(folder, plan, text + 5, length, &copy, err));
        fab_str_add(&copy, text + 5 + length);
    } else {
        fab_str_add(&copy, text);
    }
    FAB_PASS(fab_str_status(&copy, err));
    return FAB_STRDUP(*out, copy.data != NULL ? copy.data : "", err);
}

static fab_status restore_engine(const char *folder, const fab_plan *plan, fab_engine_spec *engine, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    size_t at = 0;
    size_t n = 0;
    if (!fab_engine_path(engine->text, &at, &n)) {
        return FAB_OK;
    }
    FAB_REFUSE_IF(strchr(folder, ',') != NULL, err, FAB_EINPUT, folder,
                  "has a comma in its name, which the path in an engine's option cannot have");
    fab_str_append(&text, engine->text, at);
    FAB_PASS(study_copy_of(folder, plan, engine->text + at, n, &text, err));
    fab_str_add(&text, engine->text + at + n);
    FAB_PASS(fab_str_status(&text, err));
    FAB_REFUSE_IF(text.length >= sizeof engine->text, err, FAB_EINPUT, folder,
                  "is too long a name: engine '%.40s...' has room for %zu characters", text.data,
                  sizeof engine->text - 1);
    memcpy(engine->text, text.data, text.length + 1);
    return FAB_OK;
}

/* --- from the plan ------------------------------------------------------------------------------------------------ */

/* The digest is that of the text, which the program that planned the study may have written by other rules. */
static fab_status restore_design(const char *folder, const fab_plan *plan, fab_design *out, fab_error *err) {
    char digest[17];
    fab_design_text_digest(plan->design, digest);
    FAB_PASS(study_restore_design(folder, plan, out, err));
    FAB_REFUSE_IF(strcmp(digest, plan->digest) != 0, err, FAB_EINPUT, NULL,
                  "the plan is damaged: its design has digest %s, not %s", digest, plan->digest);
    FAB_FORMAT(out->origin, "%s", plan->origin);
    return FAB_OK;
}

static fab_status restore_policies(const fab_plan *plan, study_restored *out, fab_error *err) {
    size_t n_engines = out->design->n_engines;
    size_t n = n_engines > 0 ? plan->n_variants / n_engines : 0;
    FAB_REFUSE_IF(n == 0 || n * n_engines != plan->n_variants, err, FAB_EINPUT, NULL,
                  "the plan is damaged: %zu variants of %zu engines", plan->n_variants, n_engines);
    FAB_PASS(FAB_NEW(out->policies, n, err));
    out->n_policies = n;
    for (size_t i = 0; i < n; i++) {
        FAB_PASS(fab_policy_parse(plan->variants[i].policy, &out->policies[i], err));
    }
    return FAB_OK;
}

fab_status study_restore(const char *folder, const fab_plan *plan, study_restored *out, fab_error *err) {
    FAB_PASS(FAB_NEW(out->design, 1, err));
    FAB_PASS(restore_design(folder, plan, out->design, err));
    FAB_PASS(restore_policies(plan, out, err));
    FAB_PASS(fab_plan_check_files(folder, plan, err));
    FAB_PASS(restore_text(folder, plan, plan->traffic, &out->traffic, err));
    FAB_PASS(restore_text(folder, plan, plan->scenarios, &out->scenarios, err));
    FAB_PASS(FAB_NEW(out->engines, out->design->n_engines, err));
    for (size_t e = 0; e < out->design->n_engines; e++) {
        out->engines[e] = out->design->engines[e];
        FAB_PASS(restore_engine(folder, plan, &out->engines[e], err));
    }
    return FAB_OK;
}

/* All that follows from the plan is found again, and makes the same plan: else rows would go together that do not. */
static fab_status check_same(const study_scene *scene, const fab_plan *plan, fab_error *err) {
    fab_status status = FAB_OK;
    fab_plan again = *plan;
    again.components = NULL;
    again.scenario_names = NULL;
    again.n_components = 0;
    again.variants = NULL;
    FAB_TRY(FAB_NEW(again.variants, plan->n_variants, err));
    memcpy(again.variants, plan->variants, plan->n_variants * sizeof *again.variants);
    FAB_TRY(study_scene_describe(scene, &again, err));
    if (!fab_plan_is_sealed(&again)) {
        fab_plan_seal(&again);
        FAB_FAIL(err, FAB_EINPUT, NULL,
                 "the plan is %s, but what it says makes %s here: it was changed, or this program computes otherwise",
                 plan->id, again.id);
    }
done:
    free(again.variants); /* the texts belong to the plan */
    {
        fab_plan own = {.components = again.components,
                        .n_components = again.n_components,
                        .scenario_names = again.scenario_names,
                        .n_scenarios = again.n_scenarios};
        fab_plan_release(&own);
    }
    return status;
}

/* --- run ---------------------------------------------------------------------------------------------------------- */

static fab_status assess(void *context, size_t worker, uint64_t scenario, fab_outcome *out,
                         const uint32_t **out_component, size_t *out_n, fab_error *err) {
    study_worker *workers = context;
    return study_worker_assess(&workers[worker], scenario, out, out_component, out_n, err);
}

static fab_status run_scene(const fab_study_job *job, const fab_plan *plan, const study_scene *scene,
                            fab_study_tally *out, fab_error *err) {
    fab_status status = FAB_OK;
    FAB_OWNS(fab_shard_close_owned) fab_shard *shard = NULL;
    FAB_OWNED study_worker *workers = NULL;
    size_t n = 0;
    FAB_TRY(fab_shard_open(job->folder, plan, job->shard, job->n_shards, &shard, err));
    FAB_TRY(FAB_NEW(workers, job->n_threads, err));
    for (; n < job->n_threads; n++) {
        FAB_TRY(study_worker_init(scene, &workers[n], err));
    }
    FAB_TRY(study_loop_run(job, plan, shard, assess, workers, out, err));
done:
    FAB_RELEASE_EACH(study_worker_release, workers, n);
    return status;
}

fab_status study_scene_restore(const char *folder, const fab_plan *plan, const char *program, uint64_t max_bytes,
                               size_t n_threads, study_scene *out, fab_error *err) {
    fab_status status = FAB_OK;
    FAB_OWNS(study_restored_free_owned) study_restored *made = NULL;
    uint64_t n_draws = 1;
    *out = (study_scene){.fabric = NULL};
    FAB_FAIL_IF(strcmp(plan->program, program) != 0, err, FAB_EINPUT, folder,
                "was planned by fabriscope %.30s; this is %.30s, whose rows might differ: run that version, or plan "
                "again",
                plan->program, program);
    FAB_FAIL_IF(!study_seeds_of(plan, &n_draws), err, FAB_EINPUT, folder,
                "the plan is damaged: it has no number of seeds up to %d", FAB_ASSESS_DRAWS);
    FAB_TRY(FAB_NEW(made, 1, err));
    FAB_TRY(study_restore(folder, plan, made, err));
    made->design->fabric.max_bytes = max_bytes;
    fab_context_request what = fab_context_of(made->design, NULL, made->traffic, plan->seed);
    what.engines = made->engines;
    const fab_assessment_request assessment = {.policies = made->policies,
                                               .n_policies = made->n_policies,
                                               .n_threads = n_threads,
                                               .n_draws = n_draws > 0 ? n_draws : 1,
                                               .times = plan->figures != FAB_FIGURES_LOADS,
                                               .p99 = plan->figures == FAB_FIGURES_P99,
                                               .rates = study_rates_of(plan)};
    FAB_TRY(
        study_scene_init(&what, &assessment, made->scenarios, what.seed, out, err)); /* what it makes points into it */
    out->restored = made;
    made = NULL;
    FAB_TRY(check_same(out, plan, err));
done:
    if (status != FAB_OK) {
        study_scene_release(out);
    }
    return status;
}

fab_status fab_study_run(const fab_study_job *job, fab_study_tally *out, fab_error *err) {
    FAB_OWNS(fab_plan_release) fab_plan plan = {.program = NULL};
    FAB_OWNS(study_scene_release) study_scene scene = {.fabric = NULL};
    *out = (fab_study_tally){.n_scenarios = 0};
    FAB_PASS(fab_plan_read(job->folder, &plan, err));
    FAB_PASS(study_scene_restore(job->folder, &plan, job->program, job->max_bytes, job->n_threads, &scene, err));
    return run_scene(job, &plan, &scene, out, err);
}
