/* Fabric, scenarios and the job on the healthy fabric; scenarios by their number. */
#include "study_scene.h"
#include "scenarios/scenarios_internal.h"
#include "symmetry/symmetry.h"

#include "fab/design.h"
#include "fab/analysis.h"

#define USUAL_THREADS 8 /* for which there is memory, or a study that is not told its seeds has one */

/* --- components --------------------------------------------------------------------------------------------------- */

/* A cable has two links: one name is enough. */
static fab_component normal(fab_component c) {
    c.id = c.kind == FAB_COMPONENT_LINK ? c.id & ~1U : c.id;
    return c;
}

FAB_ORDER_THREE(by_component, fab_component, kind, id, fraction);

static size_t sort_unique(fab_component *c, size_t n) {
    size_t kept = 0;
    FAB_SORT(c, n, by_component);
    FAB_KEEP(c, kept, i, n, i == 0 || by_component(&c[i], &c[kept - 1]) != 0, c[i]);
    return kept;
}

static fab_status collect_class(study_scene *scene, fab_error *err) {
    const fab_scenarios *s = scene->scenarios;
    FAB_PASS(FAB_NEW(scene->component, s->n, err));
    FAB_FILL(scene->component, s->n, normal(scenario_component(s, s->kind, (uint32_t)fab_at)));
    scene->n_components = sort_unique(scene->component, s->n);
    return FAB_OK;
}

static fab_status collect_used(study_scene *scene, fab_error *err) {
    FAB_OWNS(fab_scenario_release) fab_scenario scenario = {.n_components = 0};
    FAB_OWNED fab_component *c = NULL;
    size_t n = 0;
    size_t capacity = 0;
    for (uint64_t i = 0; i < fab_scenarios_count(scene->scenarios); i++) {
        FAB_PASS(fab_scenarios_get(scene->scenarios, i, &scenario, err));
        FAB_PASS(FAB_GROW(c, capacity, n + scenario.n_components + 1, err));
        for (size_t k = 0; k < scenario.n_components; k++) {
            c[n++] = normal(scenario.component[k]);
        }
    }
    scene->n_components = sort_unique(c, n);
    return FAB_GIVE(scene->component, c);
}

/* Of a class all, unless scenarios are so few that they leave most of it alone. */
static fab_status collect_components(study_scene *scene, fab_error *err) {
    const fab_scenarios *s = scene->scenarios;
    if (s->source == SOURCE_HISTORIES) {
        return FAB_OK;
    }
    bool class = s->source == SOURCE_CLASSES || (s->source != SOURCE_LIST && s->n <= s->count * s->k);
    return class ? collect_class(scene, err) : collect_used(scene, err);
}

fab_status study_find_classes(const fab_context *context, const fab_policy *policies, size_t n_policies, bool times,
                              fab_scenarios *s, fab_error *err) {
    FAB_OWNS(fab_permutations_release) fab_permutations alike = {.n = 0};
    if (s->source != SOURCE_CLASSES) {
        return FAB_OK;
    }
    FAB_OWNED_NEW(fab_component, part, s->n, err);
    FAB_FILL(part, s->n, scenario_component(s, s->kind, (uint32_t)fab_at));
    const symmetry_request request = {.context = context,
                                      .policies = policies,
                                      .n_policies = n_policies,
                                      .part = part,
                                      .n = s->n,
                                      .k = s->k,
                                      .times = times};
    FAB_PASS(symmetry_find(&request, &alike, err));
    return scenario_fold(s, &alike, err);
}

/* --- halls -------------------------------------------------------------------------------------------------------- */

/* Servers of halls `first` to `last`. */
static fab_status heat_halls(study_scene *s, uint64_t first, uint64_t last, fab_error *err) {
    FAB_REFUSE_IF(first > last || last >= s->floor->n_halls, err, FAB_EINPUT, "failures.throttle-halls",
                  "halls %" PRIu64 " to %" PRIu64 ": the floor plan has %" PRIu32 ", from 0", first, last,
                  s->floor->n_halls);
    for (uint32_t server = 0; server < s->fabric->n_servers; server++) {
        const uint32_t hall = s->floor->rack[fab_racks_of_server(&s->racks, server)].hall;
        s->is_hot[server] |= hall >= first && hall <= last;
    }
    return FAB_OK;
}

/* Where GPUs are throttled: "0,2-3"; empty: everywhere. */
static fab_status find_hot(const char *halls, study_scene *s, fab_error *err) {
    const char *at = halls;
    if (halls[0] == '\0') {
        return FAB_OK;
    }
    FAB_REFUSE_IF(s->floor == NULL, err, FAB_EINPUT, "failures.throttle-halls", "halls %.60s: " FAB_NO_FLOOR, halls);
    FAB_PASS(FAB_NEW(s->is_hot, s->fabric->n_servers, err));
    do {
        char *end = NULL;
        const uint64_t first = strtoull(at, &end, 10);
        uint64_t last = first;
        bool is_number = end != at;
        if (is_number && *end == '-') {
            at = end + 1;
            last = strtoull(at, &end, 10);
            is_number = end != at;
        }
        FAB_REFUSE_IF(!is_number || (*end != '\0' && *end != ','), err, FAB_EINPUT, "failures.throttle-halls",
                      "'%.60s' is no list of halls, such as 0,2-3", halls);
        FAB_PASS(heat_halls(s, first, last, err));
        at = *end == ',' ? end + 1 : end;
    } while (*at != '\0');
    return FAB_OK;
}

/* --- scene -------------------------------------------------------------------------------------------------------- */

/* Those that were asked for, else those that fit: sets of which one stands for others, and updates, which are planned,
 * leave ranks where they are. */
static fab_status choose_policies(study_scene *s, const char *scenarios, fab_error *err) {
    const bool stays = s->scenarios->source == SOURCE_CLASSES || strncmp(scenarios, "update:", strlen("update:")) == 0;
    fab_assessment_request *q = &s->request;
    if (q->n_policies > 0) {
        return FAB_OK;
    }
    FAB_PASS(
        fab_assess_policies(s->context, fab_scenarios_span_s(s->scenarios) > 0, &q->policies, &q->n_policies, err));
    q->n_policies = stays ? 1 : q->n_policies;
    return FAB_OK;
}

static void close_draws(study_scene *s) {
    for (size_t k = 0; k < s->n_draws; k++) {
        fab_assessment_free(s->assessments != NULL ? s->assessments[k] : NULL);
        fab_context_free(s->contexts != NULL && k > 0 ? s->contexts[k] : NULL); /* the first is their base */
    }
    FAB_FREE_ALL(s->assessments, s->contexts);
    s->assessments = NULL;
    s->contexts = NULL;
    s->assessment = NULL;
}

static fab_status open_so_many(study_scene *s, uint64_t n_draws, fab_error *err) {
    s->n_draws = s->request.n_draws = n_draws;
    FAB_PASS(fab_allocate(n_draws, sizeof(fab_context *), &s->contexts, err));
    FAB_PASS(fab_allocate(n_draws, sizeof(fab_assessment *), &s->assessments, err));
    for (size_t k = 0; k < n_draws; k++) {
        const fab_context_request drawn = {.base = s->context, .draw = k};
        s->contexts[k] = k == 0 ? s->context : NULL;
        FAB_PASS(k > 0 ? fab_context_new(&drawn, &s->contexts[k], err) : FAB_OK);
        s->request.context = s->contexts[k];
        FAB_PASS(fab_assessment_new(&s->request, &s->assessments[k], err));
    }
    s->assessment = s->assessments[0];
    s->request.context = s->context;
    return fab_assessment_pool(s->assessments, n_draws, err);
}

/* Of equal sets one is looked at, which are equal under one seed. */
static fab_status open_draws(study_scene *s, fab_error *err) {
    const uint64_t asked = s->scenarios->source == SOURCE_CLASSES ? 1 : s->request.n_draws;
    uint64_t n = 0;
    fab_error why = {.code = FAB_OK};
    FAB_PASS(fab_assess_draws(s->context, asked, fab_scenarios_count(s->scenarios), s->request.histories, &n,
                              &s->is_drawn, err));
    const size_t n_threads = s->request.n_threads;
    const bool is_free = asked == 0 && n > 1;
    s->request.n_threads = is_free && n_threads < USUAL_THREADS ? USUAL_THREADS : n_threads;
    fab_status status = open_so_many(s, n, &why);
    if (status == FAB_ELIMIT && is_free) { /* they take more memory than may be taken */
        close_draws(s);
        s->request.n_threads = n_threads;
        return open_so_many(s, 1, err);
    }
    return fab_fail_as(err, status, &why);
}

fab_status study_scene_init(const fab_context_request *what, const fab_assessment_request *request,
                            const char *scenarios, uint64_t seed, study_scene *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_context_request placed = *what;
    study_scene s = {.request = *request, .spec = what->design->fabric};
    FAB_TRY(fab_topology_build(&s.spec, &s.fabric, NULL, err));
    FAB_TRY(fab_floor_is_said(&s.spec) ? fab_floor_make(&s.spec, s.fabric, &s.floor, err) : FAB_OK);
    FAB_TRY(fab_scenarios_new(scenarios, s.fabric, s.floor, &request->rates, seed, &s.scenarios, err));
    s.racks = s.scenarios->racks;
    FAB_TRY(find_hot(what->design->failures.throttle_halls, &s, err));
    placed.fabric = s.fabric;
    FAB_TRY(fab_context_new(&placed, &s.context, err));
    FAB_TRY(choose_policies(&s, scenarios, err));
    FAB_TRY(study_find_classes(s.context, s.request.policies, s.request.n_policies, request->times, s.scenarios, err));
    *out = s;
    s = (study_scene){.fabric = NULL};
    out->request.histories = fab_scenarios_span_s(out->scenarios) > 0;
    out->request.is_hot = out->is_hot;
    out->request.racks = out->floor != NULL ? &out->racks : NULL;
    status = open_draws(out, err);
    status = status == FAB_OK ? collect_components(out, err) : status;
    if (status != FAB_OK) {
        study_scene_release(out);
    }
done:
    study_scene_release(&s);
    return fab_blame_design(what->design, status, err);
}

FAB_FREES_WHOLE(study_restored_free, study_restored, design, traffic, scenarios, engines, policies);

void study_scene_release(study_scene *scene) {
    free(scene->component);
    close_draws(scene);
    fab_context_free(scene->context);
    fab_scenarios_free(scene->scenarios);
    fab_floor_free(scene->floor);
    free(scene->is_hot);
    fab_fabric_free(scene->fabric);
    study_restored_free(scene->restored);
    *scene = (study_scene){.fabric = NULL};
}

fab_status study_scene_settle(study_scene *scene, fab_error *err) {
    FAB_PASS(
        fab_assessment_settle(scene->assessment, fab_scenarios_span_s(scene->scenarios), &scene->request.rates, err));
    return fab_assessment_pool(scene->assessments, scene->n_draws, err);
}

static fab_status describe_components(const study_scene *scene, fab_plan *plan, fab_error *err) {
    FAB_PASS(FAB_NEW(plan->components, scene->n_components, err));
    plan->n_components = scene->n_components;
    for (size_t i = 0; i < scene->n_components; i++) {
        fab_store_component *to = &plan->components[i];
        fab_component c = scene->component[i];
        to->residual = c.fraction;
        c.fraction = 0; /* its name alone */
        FAB_PASS(FAB_STRDUP(to->kind, fab_component_kinds[c.kind], err));
        FAB_PASS(FAB_STRDUP(to->name, FAB_SAY_COMPONENT(scene->fabric, &c), err));
    }
    return FAB_OK;
}

static fab_status describe_scenarios(const study_scene *scene, fab_plan *plan, fab_error *err) {
    FAB_OWNS(fab_scenario_release) fab_scenario scenario = {.n_components = 0};
    if (scene->scenarios->source != SOURCE_LIST) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW(plan->scenario_names, (size_t)plan->n_scenarios, err));
    for (uint64_t i = 0; i < plan->n_scenarios; i++) {
        FAB_PASS(fab_scenarios_get(scene->scenarios, i, &scenario, err));
        FAB_PASS(FAB_STRDUP(plan->scenario_names[i], scenario.name, err));
    }
    return FAB_OK;
}

static fab_status describe_healthy(const study_scene *scene, fab_plan *plan, fab_error *err) {
    const size_t n = plan->n_variants;
    FAB_OWNED_NEW(fab_outcome, rows, (scene->n_draws + 1) * n, err);
    FAB_FILL(rows, scene->n_draws * n, fab_assessment_healthy(scene->assessments[fab_at / n], (uint32_t)(fab_at % n)));
    fab_assessment_mean(scene->assessments, rows, scene->n_draws, 1, &rows[scene->n_draws * n]);
    for (size_t v = 0; v < n; v++) {
        plan->variants[v].healthy = rows[scene->n_draws * n + v];
    }
    return FAB_OK;
}

fab_status study_scene_describe(const study_scene *scene, fab_plan *plan, fab_error *err) {
    plan->n_scenarios = fab_scenarios_count(scene->scenarios);
    plan->block = fab_plan_block(plan->n_scenarios);
    plan->span_s = fab_scenarios_span_s(scene->scenarios);
    FAB_PASS(describe_healthy(scene, plan, err));
    FAB_PASS(describe_components(scene, plan, err));
    return describe_scenarios(scene, plan, err);
}

study_rate_row study_rate_row_of(fab_failure_rates *r, size_t i) {
    const study_rate_row rows[] = {{"rma", &r->rma_part, &r->rma_s},
                                   {"infant mortality", &r->infant_factor, &r->infant_s},
                                   {"checkpoint pause", NULL, &r->pause_s},
                                   {"checkpoint lag", NULL, &r->lag_s},
                                   {"spare join", &r->stops_per_s, &r->join_s},
                                   {"shrink", &r->regrow, &r->reform_s},
                                   {"shrink, batch", &r->shrunk_batch, &r->reform_s},
                                   {"slow gpus, speed", &r->slow_speed, &r->detect_s},
                                   {"slow links, speed", &r->flap_speed, &r->detect_s},
                                   {"throttle", &r->throttle, &r->detect_s},
                                   {"slow gpus, noticed", &r->detect_loss, &r->detect_s}};
    _Static_assert(FAB_FAILURE_N + FAB_N_OF(rows) == STUDY_RATE_ROWS, "a row for each");
    return i < FAB_FAILURE_N ? (study_rate_row){fab_failure_classes[i], &r->per_s[i], &r->repair_s[i]}
                             : rows[i - FAB_FAILURE_N];
}

fab_failure_rates study_rates_of(const fab_plan *plan) {
    fab_failure_rates rates = {.checkpoint_s = plan->checkpoint_s, .restart_s = plan->restart_s};
    for (size_t i = 0; i < plan->n_rates; i++) {
        for (size_t k = 0; k < STUDY_RATE_ROWS; k++) {
            const study_rate_row row = study_rate_row_of(&rates, k);
            if (strcmp(plan->rates[i].name, row.name) == 0) {
                *row.repair_s = plan->rates[i].repair_s;
                if (row.per_s != NULL) {
                    *row.per_s = plan->rates[i].per_s;
                }
            }
        }
    }
    return rates;
}

bool study_seeds_of(const fab_plan *plan, uint64_t *out) {
    double n = 1;
    for (size_t i = 0; i < plan->n_rates; i++) {
        n = strcmp(plan->rates[i].name, STUDY_SEEDS) == 0 ? plan->rates[i].per_s : n;
    }
    *out = n >= 0 && n <= FAB_ASSESS_DRAWS ? (uint64_t)n : 0;
    return n >= 0 && n <= FAB_ASSESS_DRAWS;
}

/* --- one scenario ------------------------------------------------------------------------------------------------- */

fab_status study_worker_init(const study_scene *scene, study_worker *out, fab_error *err) {
    fab_status status = FAB_OK;
    *out = (study_worker){.scene = scene};
    FAB_TRY(fab_allocate(scene->n_draws, sizeof(fab_assessor *), &out->assessors, err));
    FAB_TRY(FAB_NEW(out->of_draw, scene->n_draws * fab_assessment_variants(scene->assessment), err));
    FAB_TRY(fab_assessor_new(scene->assessment, &out->assessors[0], err));
    out->assessor = out->assessors[0];
done:
    if (status != FAB_OK) {
        study_worker_release(out);
    }
    return status;
}

void study_worker_release(study_worker *worker) {
    FAB_FREE_EACH(fab_assessor_free, worker->assessors, worker->scene->n_draws);
    fab_scenario_release(&worker->scenario);
    FAB_FREE_ALL(worker->assessors, worker->of_draw, worker->component);
    *worker = (study_worker){.scene = NULL};
}

/* Components of a list may repeat. */
static fab_status find_components(study_worker *w, size_t *out_n, fab_error *err) {
    const study_scene *scene = w->scene;
    size_t n = scene->scenarios->source == SOURCE_HISTORIES ? 0 : w->scenario.n_components;
    size_t kept = 0;
    FAB_PASS(FAB_GROW(w->component, w->capacity, n + 1, err));
    for (size_t i = 0; i < n; i++) {
        const fab_component c = normal(w->scenario.component[i]);
        const fab_component *found = bsearch(&c, scene->component, scene->n_components, sizeof c, by_component);
        FAB_REFUSE_IF(found == NULL, err, FAB_EINTERNAL, NULL, "a component that is not in the plan");
        w->component[i] = (uint32_t)(found - scene->component);
    }
    FAB_SORT(w->component, n, fab_order_u32);
    FAB_KEEP(w->component, kept, i, n, i == 0 || w->component[i] != w->component[kept - 1], w->component[i]);
    *out_n = kept;
    return FAB_OK;
}

/* Histories are dealt to the seeds in turn; a set is looked at under all of them. */
static fab_status assess_drawn(study_worker *w, uint64_t number, fab_outcome *out, fab_error *err) {
    const study_scene *scene = w->scene;
    const double span_s = fab_scenarios_span_s(scene->scenarios);
    const size_t n_variants = fab_assessment_variants(scene->assessment);
    const bool all = !(span_s > 0) && scene->n_draws > 1;
    for (size_t k = all ? 0 : number % scene->n_draws, i = 0; i < (all ? scene->n_draws : 1); i++, k++) {
        FAB_PASS(w->assessors[k] == NULL ? fab_assessor_new(scene->assessments[k], &w->assessors[k], err) : FAB_OK);
        FAB_PASS(
            fab_assess(w->assessors[k], number, &w->scenario, span_s, all ? w->of_draw + k * n_variants : out, err));
    }
    if (all) {
        fab_assessment_mean(scene->assessments, w->of_draw, scene->n_draws, fab_scenarios_count(scene->scenarios), out);
    }
    return FAB_OK;
}

fab_status study_worker_assess(study_worker *worker, uint64_t scenario, fab_outcome *out,
                               const uint32_t **out_component, size_t *out_n, fab_error *err) {
    fab_status status = FAB_OK;
    fab_error inner = {.code = FAB_OK};
    const study_scene *scene = worker->scene;
    FAB_TRY(fab_scenarios_get(scene->scenarios, scenario, &worker->scenario, &inner));
    FAB_TRY(find_components(worker, out_n, &inner)); /* before an assessment makes them others */
    FAB_TRY(assess_drawn(worker, scenario, out, &inner));
    *out_component = worker->component;
done:
    if (status != FAB_OK) {
        status = fab_fail(err, status, inner.where, "scenario %" PRIu64 ": %s", scenario, inner.text);
    }
    return status;
}

/* --- files of the store ------------------------------------------------------------------------------------------- */

fab_status study_copy_of(const char *folder, const fab_plan *plan, const char *given, size_t length, fab_str *out,
                         fab_error *err) {
    FAB_EACH(const fab_store_file, file, plan->files, plan->n_files) {
        if (strlen(file->given) == length && memcmp(file->given, given, length) == 0) {
            fab_str_printf(out, "%s/%s/%s", folder, FAB_STORE_FILES, file->name);
            return FAB_OK;
        }
    }
    return fab_fail(err, FAB_EINPUT, folder, "is damaged: the plan has no copy of '%.*s'", (int)length, given);
}

fab_status study_restore_design(const char *folder, const fab_plan *plan, fab_design *out, fab_error *err) {
    static const char KEY[] = "\nfabric.file=";
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    const char *line = strstr(plan->design, KEY);
    if (line == NULL) {
        return fab_design_restore(plan->design, out, err);
    }
    const char *given = line + strlen(KEY);
    size_t n = strcspn(given, "\n");
    fab_str_append(&text, plan->design, (size_t)(given - plan->design));
    FAB_PASS(study_copy_of(folder, plan, given, n, &text, err));
    fab_str_add(&text, given + n);
    FAB_PASS(fab_str_status(&text, err));
    return fab_design_restore(text.data, out, err);
}
