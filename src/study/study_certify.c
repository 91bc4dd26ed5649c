/* A study as a certificate: every row, what they say together, and the paths of the scenarios that the report names. */
#include "study_results_internal.h"
#include "study_scene.h"

#include "fab/certificate.h"

#define ROWS_MOST   (UINT64_C(1) << 20) /* of all variants: more are not listed */
#define STATES_MOST 64                  /* scenarios whose paths are listed */

typedef struct certifier {
    const fab_study_results *results;
    const fab_study_summary *summary;
    const fab_plan *plan;
    FILE *out;
    uint64_t *named; /* [n_named]: scenarios that the report names, each once */
    size_t n_named, capacity;
} certifier;

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* A figure, "-" where it is not known. */
static void put_known(double value, FILE *out) {
    (void)(isnan(value) ? fputs(" -", out) : fprintf(out, " %.17g", value));
}

static void put_row(const fab_outcome *o, const study_rows *rows, FILE *out) {
    const double figures[] = {o->slowdown,   o->time_s,  o->worst_ratio, o->n_collisions,
                              o->lost_ratio, o->n_moved, o->goodput};
    (void)fprintf(out, "row %" PRIu64 " %s %" PRIu32, o->scenario, fab_outcome_states[o->state], o->n_disconnected);
    for (size_t i = 0; i < FAB_N_OF(figures); i++) {
        put_known(figures[i], out);
    }
    for (size_t i = 0; i < rows->n_components; i++) {
        (void)fprintf(out, " %" PRIu32, rows->component[i]);
    }
    (void)fputc('\n', out);
}

static fab_status name_scenario(certifier *c, uint64_t scenario, fab_error *err) {
    FAB_FIRST(i, c->n_named, c->named[i] == scenario);
    return i < c->n_named ? FAB_OK : FAB_APPEND(c->named, c->n_named, c->capacity, err, scenario);
}

/* The rows of a variant, with what fails. The first scenario that has the median is named. */
static fab_status put_rows(certifier *c, size_t variant, double median, fab_error *err) {
    FAB_OWNS(study_rows_release) study_rows rows = {.results = NULL};
    bool more = false;
    FAB_PASS(study_rows_init(&rows, c->results, err));
    FAB_PASS(study_rows_next(&rows, &more, err));
    while (more) {
        const fab_outcome *row = &rows.row[variant];
        double figure = c->summary->has_times ? row->slowdown : row->worst_ratio;
        put_row(row, &rows, c->out);
        if (row->state == FAB_OUTCOME_RUNS && figure <= median && figure >= median) {
            FAB_PASS(name_scenario(c, row->scenario, err));
            median = NAN;
        }
        FAB_PASS(study_rows_next(&rows, &more, err));
    }
    return FAB_OK;
}

/* --- what they say together --------------------------------------------------------------------------------------- */

static void put_spread(const char *name, const fab_spread *s, FILE *out) {
    const struct {
        const char *name;
        double value;
    } figures[] = {{"n", (double)s->n}, {"mean", s->mean}, {"p50", s->p50},
                   {"p90", s->p90},     {"p99", s->p99},   {"worst", s->worst}};
    for (size_t i = 0; i < FAB_N_OF(figures) && s->n > 0; i++) {
        (void)fprintf(out, "claim %s_%s %.17g\n", name, figures[i].name, figures[i].value);
    }
}

/* The number of a component in the plan, by its name and what is left of it: as rankings write both. */
static fab_status find_part(const certifier *c, const char *name, size_t *out, fab_error *err) {
    for (size_t i = 0; i < c->plan->n_components; i++) {
        if (strcmp(FAB_SAY_COMPONENT(c->results->fabric, &c->results->component[i]), name) == 0) {
            *out = i;
            return FAB_OK;
        }
    }
    return fab_fail(err, FAB_EINTERNAL, NULL, "the study has no part %s", name);
}

static fab_status put_critical(certifier *c, const fab_study_variant *v, bool is_shown, fab_error *err) {
    for (size_t i = 0; i < v->critical.n && c->plan->span_s <= 0; i++) {
        const fab_critical *part = &v->critical.list[i];
        size_t number = 0;
        FAB_PASS(find_part(c, part->name, &number, err));
        (void)fprintf(c->out, "critical %zu\n", number);
        FAB_PASS(is_shown ? name_scenario(c, part->worst_scenario, err) : FAB_OK);
    }
    for (size_t i = 0; i < v->critical.n && c->plan->span_s <= 0; i++) {
        const fab_critical *part = &v->critical.list[i];
        (void)fprintf(c->out,
                      "claim scenarios_%zu %" PRIu64 "\nclaim stopped_%zu %" PRIu64 "\nclaim impact_%zu %.17g\n", i,
                      part->n_scenarios, i, part->n_stopped, i, part->impact);
    }
    return FAB_OK;
}

static fab_status name_spread(certifier *c, const fab_spread *s, fab_error *err) {
    return s->n > 0 ? name_scenario(c, s->worst_scenario, err) : FAB_OK;
}

/* Scenarios that the details of a variant name: the worst, those that stop, extremes. */
static fab_status name_details(certifier *c, const fab_study_variant *v, fab_error *err) {
    for (size_t i = 0; i < v->n_worst; i++) {
        FAB_PASS(name_scenario(c, v->worst[i].scenario, err));
    }
    FAB_PASS(name_spread(c, &v->slowdown, err));
    FAB_PASS(name_spread(c, &v->worst_ratio, err));
    FAB_PASS(name_spread(c, &v->collisions, err));
    FAB_PASS(name_spread(c, &v->lost_ratio, err));
    FAB_PASS(name_spread(c, &v->moved, err));
    for (size_t i = 0; i < v->n_stopped_shown; i++) {
        FAB_PASS(name_scenario(c, v->stopped[i].scenario, err));
    }
    return FAB_OK;
}

static fab_status put_variant(certifier *c, size_t variant, fab_error *err) {
    const fab_study_variant *v = &c->summary->variants[variant];
    const bool is_shown = variant == c->summary->shown;
    FILE *out = c->out;
    (void)fprintf(out, "variant %zu %zu %d", variant, c->summary->n_policies, c->plan->span_s > 0);
    put_known(c->summary->n_seeds > 1 ? (double)NAN : v->healthy_time_s, out); /* a history's is that of its seed */
    put_known(v->healthy_ratio, out);
    (void)fprintf(out, " %" PRIu64 " %s %s\n", v->healthy_collisions, v->policy, v->engine);
    for (size_t i = 0; i < c->plan->n_components; i++) {
        (void)fprintf(out, "part %.17g %s\n", c->plan->components[i].residual, c->plan->components[i].name);
    }
    const double median = c->summary->has_times ? v->slowdown.p50 : v->worst_ratio.p50;
    FAB_PASS(put_rows(c, variant, is_shown ? median : NAN, err));
    FAB_PASS(put_critical(c, v, is_shown, err));
    fab_certificate_claim(out, "scenarios", (double)v->n_done);
    fab_certificate_claim(out, "stopped", (double)v->n_stopped);
    fab_certificate_claim(out, "disconnected_scenarios", (double)v->n_disconnected);
    fab_certificate_claim(out, "moved_scenarios", (double)v->n_moved);
    if (!isnan(v->impact)) {
        fab_certificate_claim(out, "impact", v->impact);
    }
    put_spread("slowdown", &v->slowdown, out);
    put_spread("time_s", &v->time_s, out);
    put_spread("worst_ratio", &v->worst_ratio, out);
    put_spread("collisions", &v->collisions, out);
    put_spread("lost_ratio", &v->lost_ratio, out);
    put_spread("moved", &v->moved, out);
    put_spread("goodput", &v->goodput, out);
    return is_shown ? name_details(c, v, err) : FAB_OK;
}

static fab_status put_summary(certifier *c, fab_error *err) {
    const fab_plan *plan = c->plan;
    if (c->results->classes != NULL) {
        fab_certificate_omit(c->out, "the rows and all that follows from them: each stands for many, by symmetry");
        return FAB_OK;
    }
    if (c->summary->n_seeds > 1 && plan->span_s <= 0) {
        fab_certificate_omit(c->out, "the rows and all that follows from them: means over several seeds");
        return FAB_OK;
    }
    if (c->summary->n_done * plan->n_variants > ROWS_MOST) {
        fab_certificate_omit(c->out, "the rows and all that follows from them: %" PRIu64 " are too many to be listed",
                             c->summary->n_done * plan->n_variants);
        return FAB_OK;
    }
    (void)fprintf(c->out, "study %s\n", plan->id);
    for (size_t v = 0; v < c->summary->n_variants; v++) {
        FAB_PASS(put_variant(c, v, err));
    }
    return FAB_OK;
}

/* --- paths of what is named --------------------------------------------------------------------------------------- */

/* The healthy fabric, and the scenarios that the report names, under the variant that it shows. */
static fab_status put_states(const certifier *c, const study_scene *scene, fab_error *err) {
    FAB_OWNS(study_worker_release) study_worker worker = {.scene = NULL};
    const uint32_t shown = (uint32_t)c->summary->shown;
    const fab_study_variant *v = &c->summary->variants[shown];
    const size_t n = c->n_named < STATES_MOST ? c->n_named : STATES_MOST;
    size_t n_states = 0;
    if (!fab_assess_has_proof(scene->assessment, shown)) {
        fab_certificate_omit(c->out, "loads after failures under %s, which splits flows", v->engine);
        return FAB_OK;
    }
    if (scene->n_draws > 1) {
        fab_certificate_omit(c->out, "impact of parts, and loads after failures, which are means over %zu seeds",
                             (size_t)scene->n_draws);
        return FAB_OK;
    }
    FAB_PASS(study_worker_init(scene, &worker, err));
    for (size_t i = 0; i < n; i++) {
        FAB_PASS(fab_scenarios_get(scene->scenarios, c->named[i], &worker.scenario, err));
        FAB_PASS(fab_assess_prove(worker.assessor, c->named[i], &worker.scenario, shown, c->out, &n_states, err));
    }
    (void)fprintf(c->out, "states %zu\n", n_states);
    if (c->n_named > n) {
        fab_certificate_omit(c->out, "loads of %zu more scenarios that the report names", c->n_named - n);
    }
    fab_certificate_omit(c->out, "loads of scenarios that are not named, and under other variants than %s, %s",
                         v->engine, v->policy);
    return FAB_OK;
}

static void omit_rest(const certifier *c, FILE *out) {
    if (c->plan->span_s > 0) {
        fab_certificate_omit(out, "what happens within histories, what their failures cost by class, and what parts "
                                  "have the highest impact");
    } else {
        fab_certificate_omit(out, "which components fail in which scenario; that other placements were worse");
    }
    if (c->summary->has_times) {
        fab_certificate_omit(out, "how long phases and iterations take after failures");
    }
    fab_certificate_omit(out, "classes of parts, intervals, homing, and policies against each other");
    fab_certificate_omit(out, "cost, power, counts and bisection of the fabric");
}

fab_status fab_study_certify(const char *folder, const fab_study_results *results, const fab_study_summary *summary,
                             const char *program, uint64_t max_bytes, FILE *out, fab_error *err) {
    FAB_OWNS(study_scene_release) study_scene scene = {.fabric = NULL};
    certifier c = {.results = results, .summary = summary, .plan = fab_study_results_plan(results), .out = out};
    FAB_OWNS_MEMBERS(c.named);
    FAB_PASS(study_scene_restore(folder, c.plan, program, max_bytes, 1, &scene, err));
    fab_certificate_begin("study", c.plan->digest, c.plan->seed, scene.fabric, out);
    FAB_PASS(fab_certificate_phases(scene.context, false, out, err));
    FAB_PASS(put_summary(&c, err));
    FAB_PASS(c.n_named > 0 && c.plan->span_s <= 0 ? put_states(&c, &scene, err) : FAB_OK);
    omit_rest(&c, out);
    return fab_certificate_end(out, err);
}
