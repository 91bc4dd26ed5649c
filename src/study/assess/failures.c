/* One set of failures under all policies: where ranks go, and what the phases then offer to the network. Held open, one
 * set after the other. */
#include "fab/design.h"
#include "fab/what_if.h"

#include "assess_internal.h"

#define MOST_PATHS (UINT64_C(1) << 23) /* of all phases that are looked at together */
#define COLLIDED   (1 + 1e-9)

/* A context of its own, so that what it keeps goes with it. */
typedef struct opened_engine {
    fab_context *context;
    fab_assessment *assessment;
    fab_assessor *assessor;
    fab_failed_state *whole; /* nothing failed; NULL: not found yet */
} opened_engine;

struct fab_what_if {
    const fab_context *context;
    const fab_context_request *what;
    const fab_fabric *f;
    fab_floor *floor;
    fab_racks racks;
    const fab_traffic *traffic;
    fab_traffic kept; /* the phases that are looked at, where others are left out; borrows */
    char (*left_out)[FAB_NAME_SIZE];
    size_t n_left_out;
    fab_policy policies[FAB_POLICY_N];
    size_t n_policies, engine;
    double *capacity; /* shape [n_links]: bit/s of network links, 0 of others */

    opened_engine *engines, *at; /* shape [n_engines]: held open, or the one that is asked; which is, or was last */
    opened_engine left;          /* `at` for the replicas that the last policy leaves; closed: for the whole job */
    fab_traffic left_traffic;    /* of it; borrows from that of `at` */
    uint8_t *is_out;             /* shape [dp]: replicas that are not in it; NULL: it is closed */
    bool has_times;              /* all that were asked for are known */

    /* Of the set that was asked for last. */
    fab_failures *out;
    fab_component *components; /* shape [n_failed] */
    size_t n_failed;
    fab_relocation place; /* of the last policy */
};

/* --- what has failed ---------------------------------------------------------------------------------------------- */

static fab_status read_failed(fab_what_if *x, const char *const *failed, size_t n_failed, fab_error *err) {
    FAB_OWNED fab_component *components = NULL;
    FAB_PASS(FAB_NEW_ALL(n_failed, err, components, x->out->failed));
    for (size_t i = 0; i < n_failed; i++) {
        fab_error inner = {0};
        const fab_status status = fab_component_parse(x->f, &x->racks, failed[i], &components[i], &inner);
        FAB_REFUSE_IF(status != FAB_OK, err, status, "--fail", "%s", inner.text);
        (void)fab_component_name(x->f, &components[i], x->out->failed[i]);
    }
    free(x->components);
    x->components = components;
    x->n_failed = x->out->n_failed = n_failed;
    components = NULL;
    return FAB_OK;
}

/* Exports of the graph show it. */
static fab_status fill_overlay(fab_what_if *x, fab_error *err) {
    fab_failures *out = x->out;
    FAB_OWNS(fab_mask_release) fab_mask mask = {.fabric = NULL};
    const size_t n_words = ((size_t)x->f->n_nodes + 63) / 64;
    FAB_PASS(FAB_NEW(out->residual, x->f->n_links, err));
    FAB_PASS(FAB_NEW(out->dead_node, n_words, err));
    FAB_PASS(fab_mask_init(x->f, &x->racks, &mask, err));
    FAB_PASS(fab_mask_set(&mask, x->components, out->n_failed, err));
    memcpy(out->residual, mask.residual, x->f->n_links * sizeof *out->residual);
    memcpy(out->dead_node, mask.dead_node, n_words * sizeof *out->dead_node);
    out->overlay = (fab_overlay){.residual = out->residual, .dead_node = out->dead_node};
    return FAB_OK;
}

/* Each once, in the order given; else all that there can be. */
static fab_status choose_policies(fab_what_if *x, const fab_failures_request *q, fab_error *err) {
    bool is_chosen[FAB_POLICY_N] = {false};
    x->n_policies = 0;
    for (size_t i = 0; i < q->n_policies; i++) {
        FAB_REFUSE_IF(q->policies[i] == FAB_POLICY_SAME_RACK && x->floor == NULL, err, FAB_EUNSUPPORTED, "--policy",
                      "%s: " FAB_NO_FLOOR, fab_policies[q->policies[i]]);
        FAB_REFUSE_IF(q->policies[i] == FAB_POLICY_SHRINK, err, FAB_EUNSUPPORTED, "--policy",
                      "shrink is what a job does in time: study histories (study --scenarios time:90d@100)");
        if (!is_chosen[q->policies[i]]) {
            x->policies[x->n_policies++] = q->policies[i];
            is_chosen[q->policies[i]] = true;
        }
    }
    for (int i = 0; i < FAB_POLICY_N && q->n_policies == 0; i++) {
        if (i != FAB_POLICY_SHRINK && (i != FAB_POLICY_SAME_RACK || x->floor != NULL)) {
            x->policies[x->n_policies++] = (fab_policy)i;
        }
    }
    return FAB_OK;
}

/* Phases that are small enough to be kept under the engine that has most paths. */
static fab_status choose_phases(fab_what_if *x, fab_error *err) {
    const size_t n = x->traffic->n_phases;
    uint64_t per_flow = 1;
    uint64_t n_paths = 0;
    for (size_t e = 0; e < x->what->n_engines; e++) {
        const fab_router *router = NULL;
        FAB_PASS(fab_context_router(x->context, e, &router, err));
        per_flow = fab_router_facts_of(router)->paths_per_flow > per_flow ? fab_router_facts_of(router)->paths_per_flow
                                                                          : per_flow;
    }
    FAB_PASS(FAB_NEW(x->left_out, n, err));
    x->kept = *x->traffic;
    x->kept.phases = NULL;
    x->kept.n_phases = 0;
    FAB_PASS(FAB_NEW(x->kept.phases, n, err));
    FAB_EACH(const fab_phase, phase, x->traffic->phases, n) {
        if (phase->n_flows <= MOST_PATHS && n_paths + phase->n_flows * per_flow <= MOST_PATHS) {
            n_paths += phase->n_flows * per_flow;
            x->kept.phases[x->kept.n_phases++] = *phase;
        } else {
            (void)snprintf(x->left_out[x->n_left_out++], sizeof x->left_out[0], "%s", phase->name);
        }
    }
    return FAB_OK;
}

static fab_status what_if_prepare(fab_what_if *x, fab_error *err) {
    const fab_next_hops *next_hops = NULL;
    const fab_fabric_spec *spec = &x->what->design->fabric;
    if (fab_floor_is_said(spec)) {
        FAB_PASS(fab_floor_make(spec, x->f, &x->floor, err));
        x->racks = fab_floor_racks(x->floor);
    }
    FAB_PASS(fab_context_next_hops(x->context, &next_hops, err));
    FAB_PASS(fab_context_traffic(x->context, &x->traffic, err));
    FAB_PASS(choose_phases(x, err));
    FAB_PASS(FAB_NEW(x->engines, x->what->n_engines, err));
    FAB_PASS(FAB_NEW(x->capacity, x->f->n_links, err));
    for (fab_link_id link = 0; link < x->f->n_links; link++) {
        const fab_link_class *about = fab_class_of(x->f, link);
        bool counts = about->kind == FAB_LINK_ACCESS || about->kind == FAB_LINK_FABRIC;
        x->capacity[link] = counts ? about->capacity_bps : 0;
    }
    return FAB_OK;
}

/* What is the same under all engines. */
static fab_status begin_answer(fab_what_if *x, const char *const *failed, size_t n_failed, size_t n_engines,
                               fab_error *err) {
    FAB_PASS(FAB_NEW(x->out, 1, err));
    fab_failures *out = x->out;
    FAB_PASS(read_failed(x, failed, n_failed, err));
    FAB_PASS(fill_overlay(x, err));
    FAB_PASS(FAB_NEW(out->phases, x->kept.n_phases, err));
    for (; out->n_phases < x->kept.n_phases; out->n_phases++) {
        (void)snprintf(out->phases[out->n_phases], sizeof out->phases[0], "%s", x->kept.phases[out->n_phases].name);
    }
    FAB_PASS(FAB_NEW(out->left_out, x->n_left_out, err));
    for (; out->n_left_out < x->n_left_out; out->n_left_out++) {
        memcpy(out->left_out[out->n_left_out], x->left_out[out->n_left_out], sizeof out->left_out[0]);
    }
    FAB_PASS(FAB_NEW(out->engines, n_engines, err));
    out->n_engines = n_engines;
    out->n_policies = x->n_policies;
    out->seed = x->what->seed;
    out->n_seeds = 1;
    return FAB_OK;
}

/* --- loads -------------------------------------------------------------------------------------------------------- */

/* A link that collides in several phases counts once in `sum`, as in a difference of two states. */
static void count_links(const fab_what_if *x, const double *load, const double *residual, bool *has_collided,
                        fab_failed_phase *out, fab_failed_phase *sum) {
    fab_link_id worst = FAB_NONE;
    for (fab_link_id link = 0; link < x->f->n_links; link++) {
        double rest = residual[link] * x->capacity[link];
        double ratio = rest > 0 ? load[link] / rest : 0;
        out->n_collisions += ratio > COLLIDED;
        sum->n_collisions += ratio > COLLIDED && !has_collided[link];
        has_collided[link] = has_collided[link] || ratio > COLLIDED;
        if (ratio > out->worst_ratio) {
            out->worst_ratio = ratio;
            worst = link;
        }
    }
    if (worst != FAB_NONE) {
        (void)fab_link_name(x->f, worst, out->worst_link);
    }
}

/* Under the assessor's mask, ranks where `to` says. Times are all or nothing: what has none, as a job that has stopped,
 * is NAN. */
static fab_status find_state(fab_what_if *x, const fab_relocation *to, size_t n_failed, bool is_running,
                             fab_failed_state *out, fab_error *err) {
    fab_error inner = {0};
    fab_assessor *a = x->at->assessor;
    out->time_s = NAN;
    FAB_PASS(FAB_NEW(out->phases, x->kept.n_phases, err));
    for (size_t p = 0; p < x->kept.n_phases; p++) {
        out->phases[p].time_s = NAN;
    }
    FAB_OWNED_NEW(bool, has_collided, x->f->n_links, err);
    FAB_PASS(assess_reroute(a, 0, to, err));
    for (size_t p = 0; p < x->kept.n_phases; p++) {
        out->phases[p].n_disconnected = a->now[p]->n_disconnected;
        count_links(x, a->now[p]->load, a->mask.residual, has_collided, &out->phases[p], &out->sum);
        failures_add_phase(&out->phases[p], &out->sum);
    }
    if (!x->has_times || !is_running || out->sum.n_disconnected > 0) {
        return FAB_OK;
    }
    assess_put(a, to);
    fab_status status = assess_time(a, 0, to, assess_compute_ratio(a, x->components, n_failed), &out->time_s, &inner);
    for (size_t p = 0; p < x->kept.n_phases && status == FAB_OK; p++) {
        out->phases[p].time_s = x->at->assessment->is_timed[p] ? a->phase_s[p] : (double)NAN;
        if (assess_has_requests(x->at->assessment, p)) {
            status = assess_requests(a, 0, p, to, &out->phases[p].requests, &inner);
        }
        if (status == FAB_EUNSUPPORTED) { /* when the last flow ends is known, when each does is not */
            out->phases[p].requests = (fab_request_times){.n = 0};
            status = FAB_OK;
        }
    }
    assess_put_back(a, to);
    x->has_times = status != FAB_EUNSUPPORTED;
    FAB_REFUSE_IF(status != FAB_OK && x->has_times, err, status, inner.where, "%s", inner.text);
    return FAB_OK;
}

/* --- an engine ---------------------------------------------------------------------------------------------------- */

static void close_engine(opened_engine *engine) {
    fab_assessor_free(engine->assessor);
    fab_assessment_free(engine->assessment);
    fab_context_free(engine->context);
    free(engine->whole != NULL ? engine->whole->phases : NULL);
    free(engine->whole);
    *engine = (opened_engine){.context = NULL};
}

/* With times, where phases are such that there are any. */
static fab_status open_assessment(fab_what_if *x, fab_error *err) {
    fab_error inner = {0};
    fab_assessment_request request = {.context = x->at->context,
                                      .racks = x->floor != NULL ? &x->racks : NULL,
                                      .policies = x->policies,
                                      .n_policies = x->n_policies,
                                      .times = x->n_left_out == 0,
                                      .rates = fab_failure_rates_default()};
    fab_status status = assessment_open(&request, &x->at->assessment, &inner);
    if (status == FAB_EUNSUPPORTED && request.times) {
        request.times = false;
        inner = (fab_error){0};
        status = assessment_open(&request, &x->at->assessment, &inner);
    }
    return fab_fail_as(err, status, &inner);
}

static void turn_to(fab_what_if *x, size_t engine) {
    x->engine = engine;
    x->at = &x->engines[engine];
}

/* `given`: the phases, where they are not all that there are. */
static fab_status open_engine(fab_what_if *x, const fab_traffic *given, fab_error *err) {
    const fab_context_request request = {.base = x->context,
                                         .draw = x->what->draw,
                                         .engines = &x->what->engines[x->engine],
                                         .n_engines = 1,
                                         .traffic = given != NULL ? x->what->traffic : NULL,
                                         .given = given};
    FAB_PASS(fab_context_new(&request, &x->at->context, err));
    FAB_PASS(open_assessment(x, err));
    return fab_assessor_new(x->at->assessment, &x->at->assessor, err);
}

/* --- who is lost -------------------------------------------------------------------------------------------------- */

static fab_status list_lost(fab_what_if *x, fab_error *err) {
    fab_relocation found;
    FAB_PASS(fab_relocate(x->at->assessor->relocators[0], &x->at->assessor->mask, FAB_POLICY_NONE, &found, err));
    FAB_PASS(FAB_NEW(x->out->lost, found.n_lost, err));
    for (size_t i = 0; i < found.n_lost; i++) {
        FAB_PASS(failures_name_ranks(x->f, x->traffic, found.lost[i], &x->out->lost[i], err));
    }
    x->out->n_lost = found.n_lost;
    x->out->n_spares = found.n_spares;
    return FAB_OK;
}

/* --- policies ----------------------------------------------------------------------------------------------------- */

static void drop_left(fab_what_if *x) {
    close_engine(&x->left);
    assess_serving_release(&x->left_traffic);
    free(x->is_out);
    x->left_traffic = (fab_traffic){.n_phases = 0};
    x->is_out = NULL;
}

/* What the last answer is of. */
static const opened_engine *shown_of(const fab_what_if *x) {
    return x->left.assessor != NULL ? &x->left : x->at;
}

/* The replicas that are left, by themselves: held open until other ones are. Takes over `is_out`. */
static fab_status open_left(fab_what_if *x, uint8_t *is_out, uint64_t generators, fab_error *err) {
    if (x->is_out != NULL && memcmp(x->is_out, is_out, x->traffic->job.dp) == 0) {
        free(is_out);
        return FAB_OK;
    }
    drop_left(x);
    x->is_out = is_out;
    FAB_PASS(assess_serving_leave(x->at->assessment->traffic, is_out, generators, &x->left_traffic, err));
    opened_engine *whole = x->at;
    x->at = &x->left;
    fab_status status = open_engine(x, &x->left_traffic, err);
    x->at = whole;
    return status;
}

static fab_status find_left(fab_what_if *x, uint8_t *is_out, uint64_t generators, fab_failed_state *out,
                            fab_error *err) {
    fab_status status = open_left(x, is_out, generators, err);
    opened_engine *whole = x->at;
    x->at = &x->left;
    if (status == FAB_OK) {
        x->has_times = x->has_times && x->left.assessment->request.times;
        status = fab_mask_set(&x->left.assessor->mask, x->components, x->n_failed, err);
    }
    status = status == FAB_OK ? find_state(x, &x->place, x->n_failed, true, out, err) : status;
    x->at = whole;
    if (status != FAB_OK) {
        drop_left(x);
    }
    return status;
}

/* Replicas that have lost a rank for which there is no place are out; all, where none is out alone. */
static fab_status find_serving(fab_what_if *x, fab_failed_policy *out, fab_error *err) {
    uint8_t *is_out = NULL;
    assess_serving left;
    FAB_PASS(FAB_NEW(is_out, x->traffic->job.dp, err));
    assess_serving_find(x->at->assessor, &x->place, is_out, &left);
    if (left.n_out > 0 && !x->at->assessment->serves) {
        left = (assess_serving){.n_out = out->serving.n};
    }
    out->serving.n_left = out->serving.n - left.n_out;
    out->serving.n_reading = x->traffic->job.prefill_replicas > 0 ? left.readers : 0;
    const bool serves = left.readers > 0 && left.generators > 0;
    if (left.n_out > 0 && serves) {
        return find_left(x, is_out, left.generators, &out->state, err);
    }
    free(is_out);
    drop_left(x);
    return find_state(x, &x->place, x->n_failed, serves, &out->state, err);
}

static fab_status copy_state(const fab_what_if *x, const fab_failed_state *from, fab_failed_state *out,
                             fab_error *err) {
    fab_failed_phase *phases = NULL;
    FAB_PASS(FAB_NEW(phases, x->kept.n_phases, err));
    memcpy(phases, from->phases, x->kept.n_phases * sizeof *phases);
    *out = *from;
    out->phases = phases;
    return FAB_OK;
}

/* `before`: of the policy that was looked at last; NULL: none was. */
static fab_status find_policy(fab_what_if *x, fab_policy policy, const fab_failed_policy *before,
                              fab_failed_policy *out, fab_error *err) {
    fab_relocation *found = &x->place;
    FAB_FORMAT(out->policy, "%s", fab_policies[policy]);
    FAB_PASS(fab_relocate(x->at->assessor->relocators[0], &x->at->assessor->mask, policy, found, err));
    out->is_possible = found->is_possible;
    out->n_tried = found->n_tried;
    out->is_optimal = found->is_optimal;
    FAB_PASS(failures_copy_moves(found, out, err));
    out->serving = (fab_failed_serving){.most_requests_per_s = NAN, .first_token_s = {NAN, NAN}};
    out->serving.n = assess_is_serving(x->traffic) ? x->traffic->job.dp : 0;
    if (out->serving.n > 0) {
        return find_serving(x, out, err);
    }
    if (before != NULL && failures_move_alike(before, out)) {
        return copy_state(x, &before->state, &out->state, err);
    }
    bool is_running = found->n_lost == 0 || (policy != FAB_POLICY_NONE && found->is_possible && found->n_moves > 0);
    return find_state(x, found, x->n_failed, is_running, &out->state, err);
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

static void forget_times(fab_what_if *x, fab_failed_engine *out) {
    fab_failed_state *states = &out->healthy;
    for (size_t i = 0; i <= x->n_policies; i++) {
        states->time_s = NAN;
        for (size_t p = 0; p < x->kept.n_phases && states->phases != NULL; p++) {
            states->phases[p].time_s = NAN;
        }
        states = i < x->n_policies ? &out->policies[i].state : states;
    }
}

/* The healthy fabric, found once, as the row of an answer. */
static fab_status take_whole(fab_what_if *x, fab_failed_engine *out, fab_error *err) {
    const fab_relocation nobody = {.is_possible = true};
    if (x->at->whole == NULL) {
        FAB_PASS(FAB_NEW(x->at->whole, 1, err));
        x->has_times = x->at->assessment->request.times;
        FAB_PASS(fab_mask_set(&x->at->assessor->mask, NULL, 0, err));
        FAB_PASS(find_state(x, &nobody, 0, true, x->at->whole, err));
    }
    x->has_times = isfinite(x->at->whole->time_s);
    return copy_state(x, x->at->whole, &out->healthy, err);
}

static fab_status answer_engine(fab_what_if *x, fab_error *err) {
    fab_failed_engine *out = &x->out->engines[x->engine];
    fab_error inner = {0};
    FAB_FORMAT(out->label, "%s", fab_assessment_engine(x->at->assessment, 0));
    if (x->what->n_engines > 1) {
        drop_left(x); /* of another engine */
    }
    FAB_PASS(take_whole(x, out, err));
    FAB_PASS(fab_mask_set(&x->at->assessor->mask, x->components, x->n_failed, err));
    FAB_PASS(x->engine == 0 ? list_lost(x, err) : FAB_OK);
    FAB_PASS(FAB_NEW(out->policies, x->n_policies, err));
    fab_status status = FAB_OK;
    for (size_t i = 0; i < x->n_policies && status == FAB_OK; i++) {
        const fab_failed_policy *before = i > 0 ? &out->policies[i - 1] : NULL;
        status = find_policy(x, x->policies[i], before, &out->policies[i], &inner);
    }
    if (status == FAB_EUNSUPPORTED) {
        FAB_FORMAT(out->note, "%s", inner.text);
        x->has_times = false;
    } else if (status != FAB_OK) {
        return fab_fail(err, status, inner.where, "%s", inner.text);
    } else {
        failures_find_saving(x->out, x->policies, out);
    }
    if (x->has_times) {
        x->out->iterates = fab_assessment_iterates(x->at->assessment);
    } else {
        forget_times(x, out);
    }
    return FAB_OK;
}

/* --- a run -------------------------------------------------------------------------------------------------------- */

static void what_if_release(fab_what_if *x) {
    drop_left(x);
    for (size_t e = 0; x->engines != NULL && e < x->what->n_engines; e++) {
        close_engine(&x->engines[e]);
    }
    fab_floor_free(x->floor);
    FAB_FREE_ALL(x->components, x->kept.phases, x->left_out, x->capacity, x->engines);
    fab_failures_free(x->out);
}

fab_status failures_run_draw(const fab_failures_request *request, const fab_context *context, fab_failures **out,
                             fab_error *err) {
    const fab_context_request *what = fab_context_what(context);
    FAB_OWNS(what_if_release) fab_what_if x = {.context = context, .what = what, .f = what->fabric};
    FAB_PASS(what_if_prepare(&x, err));
    FAB_PASS(choose_policies(&x, request, err));
    FAB_PASS(begin_answer(&x, request->failed, request->n_failed, what->n_engines, err));
    for (size_t e = 0; e < what->n_engines; e++) {
        turn_to(&x, e);
        FAB_PASS(open_engine(&x, x.n_left_out > 0 ? &x.kept : NULL, err));
        FAB_PASS(answer_engine(&x, err));
        drop_left(&x);
        close_engine(x.at);
    }
    return FAB_GIVE(*out, x.out);
}

/* --- held open ---------------------------------------------------------------------------------------------------- */

fab_status fab_what_if_open(const fab_context *context, fab_what_if **out, fab_error *err) {
    FAB_OWNS_NEW(fab_what_if_close_owned, fab_what_if, x, 1, err);
    x->context = context;
    x->what = fab_context_what(context);
    x->f = x->what->fabric;
    x->n_policies = 1;
    FAB_PASS(what_if_prepare(x, err));
    for (size_t e = 0; e < x->what->n_engines; e++) {
        turn_to(x, e);
        FAB_PASS(open_engine(x, x->n_left_out > 0 ? &x->kept : NULL, err));
    }
    return FAB_GIVE(*out, x);
}

FAB_FREES_AFTER(fab_what_if_close, fab_what_if, x) {
    what_if_release(x);
}

fab_status fab_what_if_ask(fab_what_if *x, const fab_failures_request *request, const fab_failures **out,
                           fab_error *err) {
    fab_failures *before = x->out;
    x->out = NULL;
    fab_status status = choose_policies(x, request, err);
    status = status == FAB_OK ? begin_answer(x, request->failed, request->n_failed, x->what->n_engines, err) : status;
    for (size_t e = 0; e < x->what->n_engines && status == FAB_OK; e++) {
        turn_to(x, e);
        status = answer_engine(x, err);
    }
    if (status != FAB_OK) {
        fab_failures_free(x->out);
        x->out = before;
        return status;
    }
    fab_failures_free(before);
    *out = x->out;
    return FAB_OK;
}

fab_status fab_what_if_serve(fab_what_if *x, const fab_result *result, fab_error *err) {
    return fab_failures_serve(x->traffic, result, x->out, err);
}

const fab_fabric *fab_what_if_fabric(const fab_what_if *x) {
    return x->f;
}

const fab_racks *fab_what_if_racks(const fab_what_if *x) {
    return &x->racks;
}

const fab_traffic *fab_what_if_traffic(const fab_what_if *x) {
    return shown_of(x)->assessment->traffic;
}

void fab_what_if_loads(const fab_what_if *x, size_t phase, fab_what_if_links *out) {
    const fab_assessor *shown = shown_of(x)->assessor;
    *out = (fab_what_if_links){.capacity_bps = x->capacity,
                               .residual = shown->mask.residual,
                               .load_bps = shown->now[phase]->load,
                               .healthy_bps = fab_baseline_load(x->at->assessor->phases[phase])};
}

fab_status fab_what_if_flows(fab_what_if *x, size_t phase, fab_state_flows *out, fab_error *err) {
    const fab_assessor *shown = shown_of(x)->assessor;
    const fab_state state = assess_state_of(shown, &x->place);
    const fab_case at = {.phase = phase, .state = &state};
    return fab_evaluate_flows(shown->workspace, &at, out, err);
}
