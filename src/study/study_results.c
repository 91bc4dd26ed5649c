/* A store, the fabric that it is about, and the summary of its rows. */
#include "study_results_internal.h"
#include "scenarios/scenarios_internal.h"
#include "study_scene.h"

#include "fab/iterate.h"
#include "fab/job_space.h"
#include "fab/summarise.h"

/* --- opening ------------------------------------------------------------------------------------------------------ */

static fab_status find_components(fab_study_results *r, fab_error *err) {
    const fab_plan *plan = fab_store_plan(r->store);
    fab_racks racks = fab_floor_racks(r->floor);
    FAB_PASS(FAB_NEW(r->component, plan->n_components, err));
    for (size_t i = 0; i < plan->n_components; i++) {
        const fab_store_component *from = &plan->components[i];
        FAB_PASS(fab_component_parse(r->fabric, &racks, from->name, &r->component[i], err));
        r->component[i].fraction = from->residual;
        FAB_PASS(fab_component_check(r->fabric, &racks, &r->component[i], err));
    }
    return FAB_OK;
}

static fab_status open_histories(fab_study_results *r, fab_error *err) {
    const fab_plan *plan = fab_store_plan(r->store);
    fab_failure_rates rates = study_rates_of(plan);
    if (strncmp(plan->traffic, "job", 3) == 0) {
        fab_traffic traffic = {.n_phases = 0};
        FAB_PASS(fab_traffic_make(plan->traffic, &r->design, r->fabric, plan->seed, &traffic, err));
        r->serves = fab_assess_serves(&traffic, r->fabric);
        r->shrinks = !r->serves && traffic.job.dp > 1 && fab_assess_shrinks(&traffic, r->fabric);
        r->rank_of_gpu = traffic.rank_of_gpu;
        traffic.rank_of_gpu = NULL;
        r->gpus = traffic.n_ranks;
        r->gpu_hour_usd = traffic.job.gpu_hour_usd;
        r->iteration_tokens = fab_is_whole_training(&traffic, plan->traffic) && traffic.model.layers > 0
                                  ? (double)traffic.job.batch * (double)traffic.job.seq
                                  : 0;
        if (traffic.job.kind == FAB_JOB_TRAINING) {
            fab_job_plan run = fab_job_plan_of(&traffic.job);
            run.interleave = traffic.job.interleave_auto ? 0 : run.interleave; /* chosen when it is replayed */
            run.microbatch = traffic.job.microbatch_auto ? 0 : run.microbatch;
            (void)fab_job_plan_text(&run, r->plan_keys);
        }
        fab_traffic_release(&traffic);
    }
    FAB_PASS(fab_scenarios_new(plan->scenarios, r->fabric, r->floor, &rates, plan->seed, &r->histories, err));
    FAB_REFUSE_IF(fab_scenarios_count(r->histories) != plan->n_scenarios ||
                      fab_scenarios_span_s(r->histories) != plan->span_s,
                  err, FAB_EINPUT, NULL, "the store is damaged: '%.60s' are not %" PRIu64 " histories of %g s",
                  plan->scenarios, plan->n_scenarios, plan->span_s);
    return FAB_OK;
}

/* How many sets each scenario stands for follows from the design, as when it was planned. */
static fab_status open_classes(const char *folder, fab_study_results *r, fab_error *err) {
    const fab_plan *plan = fab_store_plan(r->store);
    FAB_OWNS(fab_context_free_owned) fab_context *context = NULL;
    if (strstr(plan->scenarios, "@classes") == NULL || strncmp(plan->scenarios, "file:", 5) == 0) {
        return FAB_OK;
    }
    FAB_OWNS_NEW(study_restored_free_owned, study_restored, restored, 1, err);
    FAB_PASS(study_restore(folder, plan, restored, err));
    fab_context_request what = fab_context_of(restored->design, r->fabric, restored->traffic, plan->seed);
    what.engines = restored->engines;
    FAB_PASS(fab_context_new(&what, &context, err));
    FAB_PASS(fab_scenarios_new(plan->scenarios, r->fabric, r->floor, NULL, plan->seed, &r->classes, err));
    FAB_PASS(study_find_classes(context, restored->policies, restored->n_policies, plan->figures != FAB_FIGURES_LOADS,
                                r->classes, err));
    FAB_REFUSE_IF(r->classes->count != plan->n_scenarios || r->classes->n != plan->n_components, err, FAB_EINPUT, NULL,
                  "the store is damaged, or was planned by another program: %" PRIu64 " classes of %" PRIu32
                  " parts, not %" PRIu64 " of %zu",
                  r->classes->count, r->classes->n, plan->n_scenarios, plan->n_components);
    return FAB_OK;
}

/* Which way of an update a scenario is a step of follows from the text. */
static fab_status open_updates(fab_study_results *r, fab_error *err) {
    const fab_plan *plan = fab_store_plan(r->store);
    if (strncmp(plan->scenarios, "update:", strlen("update:")) != 0) {
        return FAB_OK;
    }
    FAB_PASS(fab_scenarios_new(plan->scenarios, r->fabric, r->floor, NULL, plan->seed, &r->updates, err));
    return r->updates->count == plan->n_scenarios
               ? FAB_OK
               : fab_fail(err, FAB_EINPUT, NULL, "the store is damaged: '%.60s' are not %" PRIu64 " scenarios",
                          plan->scenarios, plan->n_scenarios);
}

fab_status fab_study_results_open(const char *folder, fab_study_results **out, fab_error *err) {
    FAB_OWNS_NEW(fab_study_results_close_owned, fab_study_results, r, 1, err);
    FAB_PASS(fab_store_open(folder, &r->store, err));
    const fab_plan *plan = fab_store_plan(r->store);
    FAB_PASS(study_restore_design(folder, plan, &r->design, err));
    FAB_FORMAT(r->design.origin, "%s", plan->origin);
    FAB_PASS(fab_topology_build(&r->design.fabric, &r->fabric, NULL, err));
    if (fab_floor_is_said(&r->design.fabric)) {
        FAB_PASS(fab_floor_make(&r->design.fabric, r->fabric, &r->floor, err));
    }
    FAB_PASS(plan->span_s > 0 ? open_histories(r, err) : find_components(r, err));
    FAB_PASS(open_classes(folder, r, err));
    FAB_PASS(open_updates(r, err));
    return FAB_GIVE(*out, r);
}

FAB_FREES_AFTER(fab_study_results_close, fab_study_results, r) {
    FAB_FREE_ALL(r->component, r->rank_of_gpu);
    fab_scenarios_free(r->histories);
    fab_scenarios_free(r->classes);
    fab_scenarios_free(r->updates);
    fab_floor_free(r->floor);
    fab_fabric_free(r->fabric);
    fab_store_close(r->store);
}

const fab_plan *fab_study_results_plan(const fab_study_results *r) {
    return fab_store_plan(r->store);
}

const fab_design *fab_study_results_design(const fab_study_results *r) {
    return &r->design;
}

/* --- summing up --------------------------------------------------------------------------------------------------- */

/* What fails in one scenario. */
typedef struct look_up {
    const fab_store *store;
    uint32_t *component;
    size_t capacity;
} look_up;

static fab_status find_failed(void *context, uint64_t scenario, const uint32_t **out, size_t *out_n, fab_error *err) {
    static const char FAILED[] = "SELECT component FROM failed WHERE scenario = ? ORDER BY component";
    look_up *l = context;
    FAB_OWNS(fab_query_free_owned) fab_query *query = NULL;
    int64_t value = (int64_t)scenario;
    size_t n = 0;
    bool more = false;
    FAB_PASS(fab_query_new(l->store, FAILED, &value, 1, &query, err));
    FAB_PASS(fab_query_next(query, &more, err));
    while (more) {
        FAB_PASS(FAB_APPEND(l->component, n, l->capacity, err, (uint32_t)fab_query_integer(query, 0)));
        FAB_PASS(fab_query_next(query, &more, err));
    }
    *out = l->component;
    *out_n = n;
    return FAB_OK;
}

/* Engines and policies of the variants, which are every one with every other. */
static fab_status split_variants(const fab_plan *plan, const char **labels, const char **policies,
                                 fab_summary_request *out, fab_error *err) {
    size_t n = plan->n_variants;
    size_t n_policies = 0;
    while (n_policies < n && strcmp(plan->variants[n_policies].label, plan->variants[0].label) == 0 &&
           (n_policies == 0 || strcmp(plan->variants[n_policies].policy, policies[0]) != 0)) {
        policies[n_policies] = plan->variants[n_policies].policy;
        n_policies++;
    }
    bool healthy = n > 0 && n % n_policies == 0;
    for (size_t i = 0; healthy && i < n; i++) {
        labels[i / n_policies] = plan->variants[i - i % n_policies].label;
        healthy = strcmp(plan->variants[i].label, labels[i / n_policies]) == 0 &&
                  strcmp(plan->variants[i].policy, policies[i % n_policies]) == 0;
    }
    FAB_REFUSE_IF(!healthy, err, FAB_EINPUT, NULL, "the store is damaged: %zu variants are not engines by policies", n);
    out->engines = labels;
    out->n_engines = n / n_policies;
    out->policies = policies;
    out->n_policies = n_policies;
    return FAB_OK;
}

static fab_status results_sum_up(const fab_study_results *r, const fab_summary_request *request,
                                 fab_study_summary **out, fab_error *err) {
    FAB_OWNS(fab_summariser_free_owned) fab_summariser *s = NULL;
    FAB_OWNS(study_rows_release) study_rows rows = {.results = NULL};
    bool more = false;
    FAB_PASS(fab_summariser_new(request, &s, err));
    FAB_PASS(study_rows_init(&rows, r, err));
    FAB_PASS(study_rows_next(&rows, &more, err));
    while (more) {
        FAB_PASS(fab_summariser_add(s, rows.row, rows.component, rows.n_components, err));
        FAB_PASS(study_rows_next(&rows, &more, err));
    }
    return fab_summariser_finish(s, out, err);
}

static void tell_model(const fab_study_results *r, fab_failure_model *out) {
    const fab_plan *plan = fab_store_plan(r->store);
    const fab_failure_spec *spec = &r->design.failures;
    const fab_failure_rates rates = study_rates_of(plan);
    if (plan->span_s <= 0) {
        return;
    }
    FAB_FORMAT(out->source, "%s", fab_failure_source(spec->set));
    for (size_t c = 0; c < FAB_FAILURE_N; c++) {
        out->row[out->n_rows++] = (fab_failure_row){fab_failure_classes[c], 1 / rates.per_s[c], rates.repair_s[c]};
    }
    out->rates = rates;
    memcpy(out->throttle_halls, spec->throttle_halls, sizeof out->throttle_halls);
    for (size_t v = 0; v < plan->n_variants; v++) {
        out->shrinks = out->shrinks || strcmp(plan->variants[v].policy, fab_policies[FAB_POLICY_SHRINK]) == 0;
    }
    out->serves = r->serves;
    out->keeps_batch = rates.shrunk_batch == 0;
    out->is_auto = spec->rates.checkpoint_s == 0;
}

/* Classes of equal sets and updates leave ranks where they are; without a job nobody can move. */
static void tell_untried(const fab_study_results *r, fab_study_summary *out) {
    const fab_plan *plan = fab_store_plan(r->store);
    fab_str text = FAB_STR_INIT;
    for (size_t p = 0; p < FAB_POLICY_N && r->classes == NULL && r->updates == NULL; p++) {
        FAB_ANY(is_tried, v, plan->n_variants, strcmp(plan->variants[v].policy, fab_policies[p]) == 0);
        is_tried = is_tried || (p == FAB_POLICY_SHRINK && !r->shrinks) ||
                   (p == FAB_POLICY_SAME_RACK && r->floor == NULL) || strncmp(plan->traffic, "job", 3) != 0;
        fab_str_printf(&text, "%s%s", is_tried || text.length == 0 ? "" : ", ", is_tried ? "" : fab_policies[p]);
    }
    const char *found = text.failed || text.length == 0 ? "" : text.data;
    const char *wants = strstr(found, "first-spare") == NULL ? ""
                        : strstr(found, "shrink") == NULL    ? "; they take idle servers (spares=N)"
                                                             : "; all but shrink take idle servers (spares=N)";
    FAB_FORMAT(out->untried, "%s%s", found, wants);
    fab_str_release(&text);
}

static void tell_origin(const fab_plan *plan, const fab_design *design, fab_study_summary *out) {
    bool is_named = plan->name[0] != '\0';
    FAB_FORMAT(out->design, "%s", is_named ? plan->name : plan->origin);
    FAB_FORMAT(out->digest, "%s", plan->digest);
    if (fab_design_other_jobs(design, plan->traffic) > 0) { /* a study is of the first one */
        FAB_FORMAT(out->traffic, "%s (%s; the other %s left out)", plan->traffic, design->jobs[0].id,
                   design->n_jobs == 2 ? "job of the design is" : "jobs of the design are");
    } else {
        FAB_FORMAT(out->traffic, "%s", plan->traffic);
    }
    FAB_FORMAT(out->scenarios, "%s", plan->scenarios);
    out->seed = plan->seed;
    (void)study_seeds_of(plan, &out->n_seeds);
}

fab_status fab_study_summarise(const fab_study_results *r, size_t top, bool keep_impact, fab_study_summary **out,
                               fab_error *err) {
    const fab_plan *plan = fab_store_plan(r->store);
    uint64_t n_draws = 0;
    (void)study_seeds_of(plan, &n_draws);
    look_up failed = {.store = r->store};
    FAB_OWNS_MEMBERS(failed.component);
    fab_summary_request request = {.fabric = r->fabric,
                                   .n_racks = fab_floor_racks(r->floor).n_racks,
                                   .is_p99 = plan->figures == FAB_FIGURES_P99,
                                   .n_scenarios = plan->n_scenarios,
                                   .span_s = plan->span_s,
                                   .n_draws = (size_t)n_draws,
                                   .components = r->component,
                                   .n_components = r->component != NULL ? plan->n_components : 0,
                                   .is_enumerated = plan->scenario_names == NULL &&
                                                    (r->classes != NULL || strchr(plan->scenarios, '@') == NULL),
                                   .names = (const char *const *)plan->scenario_names,
                                   .failed = find_failed,
                                   .failed_context = &failed,
                                   .histories = r->histories,
                                   .n_equal = r->classes != NULL ? r->classes->n_equal : NULL,
                                   .equal = r->classes != NULL ? r->classes->equal : NULL,
                                   .rank_of_gpu = r->rank_of_gpu,
                                   .top = top,
                                   .keep_impact = keep_impact};
    if (r->updates != NULL) {
        request.ways = r->updates->way;
        request.n_ways = r->updates->n_ways;
        request.way_of = r->updates->way_of;
    }
    FAB_OWNED_NEW(const char *, labels, plan->n_variants, err);
    FAB_OWNED_NEW(const char *, policies, plan->n_variants, err);
    FAB_OWNED_NEW(fab_outcome, healthy, plan->n_variants, err);
    FAB_PASS(split_variants(plan, labels, policies, &request, err));
    FAB_FILL(healthy, plan->n_variants, plan->variants[fab_at].healthy);
    request.healthy = healthy;
    FAB_PASS(results_sum_up(r, &request, out, err));
    tell_origin(plan, &r->design, *out);
    FAB_EACH(fab_study_variant, x, (*out)->variants, plan->n_variants) {
        bool is_known = x->healthy_time_s > 0 && x->goodput.n > 0;
        x->tokens_per_s = is_known ? r->iteration_tokens / x->healthy_time_s * x->goodput.mean : 0;
        const double quarter_usd = is_known ? r->gpus * r->gpu_hour_usd * FAB_SECONDS_PER_YEAR / 4 / 3600 : 0;
        x->quarterly_lost_usd = is_known ? (1 - x->goodput.mean) * quarter_usd : 0;
        x->quarterly_lost_ci95_usd =
            is_known ? fab_parts_ci95(&x->kept, (*out)->n_seeds) * x->goodput.mean * quarter_usd : 0;
    }
    (*out)->gpu_hour_usd = r->gpu_hour_usd;
    FAB_FORMAT((*out)->plan_keys, "%s", r->plan_keys);
    (*out)->has_spares = r->design.fabric.spares > 0;
    tell_model(r, &(*out)->model);
    tell_untried(r, *out);
    return FAB_OK;
}
