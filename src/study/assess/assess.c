/* The job on the healthy fabric, ready to be hurt. */
#include "assess_internal.h"

#include "fab/design.h"
#include "fab/iterate.h"
#include "fab/job_sharing.h"

#define COLLIDED   (1 + 1e-9)          /* above this a link is offered more than it has */
#define MOST_PATHS (UINT64_C(1) << 24) /* of all phases under all engines */

bool assessment_is_collided(const fab_assessment *d, fab_link_id link, double load, double residual) {
    return residual > 0 && load * d->per_bps[link] > residual * COLLIDED;
}

/* --- phases ------------------------------------------------------------------------------------------------------- */

/* Phases are kept with all their paths. `router`: NULL before there is one, when flows alone are counted. */
static fab_status check_phase(const fab_assessment *d, size_t p, const fab_router *router, uint64_t *n_paths,
                              fab_error *err) {
    const fab_phase *phase = &d->traffic->phases[p];
    bool has_paths = router != NULL && !fab_router_facts_of(router)->splits && d->in_network[p];
    uint64_t per_flow = has_paths ? fab_router_facts_of(router)->paths_per_flow : 1;
    FAB_REFUSE_IF(phase->n_flows > (MOST_PATHS - *n_paths) / per_flow, err, FAB_EUNSUPPORTED, NULL,
                  "phase %s has %" PRIu64 " flows of %" PRIu64 " paths%s%s: with what was before it more than the "
                  "%" PRIu64 " paths that failure studies keep; give one phase (--traffic job:NAME), fewer "
                  "engines or fewer queue pairs",
                  phase->name, phase->n_flows, per_flow, router != NULL ? " under " : "",
                  router != NULL ? fab_router_facts_of(router)->label : "", MOST_PATHS);
    *n_paths += phase->n_flows * per_flow;
    return FAB_OK;
}

static fab_status offer_phases(fab_assessment *d, fab_error *err) {
    FAB_PASS(FAB_NEW_ALL(d->n_phases, err, d->duplicate, d->in_network));
    for (size_t p = 0; p < d->n_phases; p++) {
        const fab_phase *phase = &d->traffic->phases[p];
        const fab_offer *offer = NULL;
        uint64_t n_flows = 0;
        FAB_PASS(check_phase(d, p, NULL, &n_flows, err)); /* before they are looked at */
        FAB_PASS(fab_context_offer(d->request.context, p, &offer, err));
        for (uint64_t i = 0; i < phase->n_flows; i++) {
            double bps = fab_offer_rate(offer, phase, i);
            d->offered_bps += bps;
            d->in_network[p] = d->in_network[p] || bps > 0;
        }
        FAB_PASS(fab_context_duplicate(d->request.context, p, &d->duplicate[p], err));
    }
    return FAB_OK;
}

/* Which phases' times count, and whether they make an iteration. */
static fab_status choose_times(fab_assessment *d, fab_error *err) {
    static const fab_job_times NO_TIMES = {.tp = {.transfer_s = 0}};
    fab_iteration iteration;
    fab_error why = {0};
    bool any = false;
    FAB_PASS(FAB_NEW(d->is_timed, d->n_phases, err));
    if (d->request.times && !d->request.p99 && fab_is_whole_training(d->traffic, d->what->traffic)) {
        const fab_status status =
            fab_iterate_times(d->traffic, &NO_TIMES, NULL, NULL, d->what->design->fabric.max_bytes, &iteration, &why);
        FAB_REFUSE_IF(status != FAB_OK && status != FAB_EUNSUPPORTED && status != FAB_ENOSOLUTION, err, status,
                      why.where, "%s", why.text);
        d->iterates = status == FAB_OK; /* as a run reports a job that cannot be timed: by its phases */
    }
    d->times_are_all = d->request.times && !d->request.p99;
    for (size_t p = 0; p < d->n_phases && d->request.times; p++) {
        fab_job_times times = {.tp = {.transfer_s = 0}};
        const fab_phase *phase = &d->traffic->phases[p];
        FAB_REFUSE_IF(phase->alternative, err, FAB_EUNSUPPORTED, NULL,
                      "the phases of %s are ways to do the same, side by side; failures want one of them",
                      d->what->traffic);
        d->is_timed[p] = d->request.p99 ? assess_has_requests(d, p)
                                        : !d->iterates || fab_iterate_add(phase->name, 0, 0, d->in_network[p], &times);
        any = any || d->is_timed[p];
        d->times_are_all = d->times_are_all && d->is_timed[p];
    }
    FAB_REFUSE_IF(d->request.p99 && !any, err, FAB_EUNSUPPORTED, "--figures",
                  "p99: nobody waits for a phase of %s in the network; serving and all-to-alls (ranking, experts) have "
                  "requests",
                  d->what->traffic);
    return FAB_OK;
}

/* --- engines ------------------------------------------------------------------------------------------------------ */

static fab_status keep_part(const fab_assessment *d, size_t engine, size_t phase, fab_error *err) {
    const uint32_t n_links = d->fabric->n_links;
    const fab_baseline *baseline = NULL;
    assessment_part *part = &d->parts[assessment_at(d, engine, phase)];
    if (d->duplicate[phase] != phase) {
        return FAB_OK;
    }
    FAB_PASS(fab_context_baseline(d->request.context, engine, phase, &baseline, err));
    FAB_PASS(FAB_NEW(part->collided, ((size_t)n_links + 63) / 64, err));
    const double *load = fab_baseline_load(baseline);
    for (uint32_t l = 0; l < n_links; l++) {
        if (assessment_is_collided(d, l, load[l], 1)) {
            part->collided[l / 64] |= UINT64_C(1) << l % 64;
            part->n_collided++;
        }
    }
    return FAB_OK;
}

static fab_status keep_engines(fab_assessment *d, fab_error *err) {
    uint64_t n_paths = 0;
    FAB_PASS(fab_allocate(d->what->n_engines, sizeof(const fab_router *), &d->routers, err));
    FAB_PASS(FAB_NEW(d->parts, d->what->n_engines * d->n_phases, err));
    for (size_t e = 0; e < d->what->n_engines; e++) {
        FAB_PASS(fab_context_router(d->request.context, e, &d->routers[e], err));
        for (size_t p = 0; p < d->n_phases; p++) {
            FAB_PASS(d->duplicate[p] == p ? check_phase(d, p, d->routers[e], &n_paths, err) : FAB_OK);
        }
    }
    FAB_PASS(assessment_check_memory(d, err));
    for (size_t e = 0; e < d->what->n_engines; e++) {
        for (size_t p = 0; p < d->n_phases; p++) {
            FAB_PASS(keep_part(d, e, p, err));
        }
    }
    return FAB_OK;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static fab_status find_healthy(fab_assessment *d, fab_error *err) {
    FAB_OWNS(fab_assessor_free_owned) fab_assessor *assessor = NULL;
    fab_scenario nothing = {.n_components = 0};
    FAB_PASS(FAB_NEW(d->healthy, fab_assessment_variants(d), err));
    FAB_PASS(fab_assessor_new(d, &assessor, err));
    FAB_PASS(fab_assess(assessor, 0, &nothing, 0, d->healthy, err));
    d->has_healthy = true;
    return FAB_OK;
}

static fab_status check_policies(const fab_assessment *d, fab_error *err) {
    const fab_assessment_request *q = &d->request;
    for (size_t i = 0; i < q->n_policies; i++) {
        FAB_REFUSE_IF(q->policies[i] == FAB_POLICY_SAME_RACK && (q->racks == NULL || q->racks->n_racks == 0), err,
                      FAB_EUNSUPPORTED, NULL, "policy same-rack: " FAB_NO_FLOOR);
        FAB_PASS(q->policies[i] == FAB_POLICY_SHRINK ? assess_shrink_check(d->traffic, d->fabric, err) : FAB_OK);
    }
    return FAB_OK;
}

fab_status fab_assess_policies(const fab_context *context, bool histories, const fab_policy **out, size_t *out_n,
                               fab_error *err) {
    static const fab_policy WITH_SPARES[] = {FAB_POLICY_NONE, FAB_POLICY_FIRST_SPARE, FAB_POLICY_SHRINK};
    static const fab_policy WITHOUT[] = {FAB_POLICY_NONE, FAB_POLICY_SHRINK};
    const fab_context_request *what = fab_context_what(context);
    const fab_traffic *t = NULL;
    FAB_OWNED uint8_t *taken = NULL;
    bool has_spares = false;
    FAB_PASS(fab_context_traffic(context, &t, err));
    if (t->has_job) {
        FAB_PASS(FAB_NEW(taken, what->fabric->n_servers, err));
        FAB_PASS(fab_jobs_taken(what->design, what->fabric, taken, err));
        has_spares = memchr(taken, 0, fab_n_complete_servers(what->fabric)) != NULL;
    }
    const bool shrinks = histories && t->has_job && t->job.dp > 1 && !fab_assess_serves(t, what->fabric) &&
                         assess_shrink_check(t, what->fabric, NULL) == FAB_OK;
    *out = has_spares ? WITH_SPARES : WITHOUT;
    *out_n = 1 + (size_t)has_spares + (size_t)shrinks;
    return FAB_OK;
}

fab_status assessment_open(const fab_assessment_request *request, fab_assessment **out, fab_error *err) {
    FAB_OWNS_NEW(fab_assessment_free_owned, fab_assessment, d, 1, err);
    d->request = *request;
    d->what = fab_context_what(request->context);
    d->fabric = d->what->fabric;
    FAB_PASS(fab_context_traffic(request->context, &d->traffic, err));
    d->n_phases = d->traffic->n_phases;
    FAB_PASS(check_policies(d, err));
    d->serves = fab_assess_serves(d->traffic, d->fabric);
    if (d->traffic->has_job) {
        FAB_PASS(FAB_NEW(d->taken, d->fabric->n_servers, err));
        FAB_PASS(fab_jobs_taken(d->what->design, d->fabric, d->taken, err));
    }
    FAB_PASS(offer_phases(d, err));
    FAB_PASS(choose_times(d, err));
    FAB_PASS(FAB_NEW(d->per_bps, d->fabric->n_links, err));
    for (uint32_t l = 0; l < d->fabric->n_links; l++) {
        const fab_link_class *c = fab_class_of(d->fabric, l);
        d->per_bps[l] = c->kind == FAB_LINK_ACCESS || c->kind == FAB_LINK_FABRIC ? 1 / c->capacity_bps : 0;
    }
    FAB_PASS(keep_engines(d, err));
    FAB_PASS(assess_memo_new(sizeof(assess_state), ASSESS_STATE_BYTES, &d->states, err));
    FAB_PASS(assess_memo_new(sizeof(double), ASSESS_TIMES_BYTES, &d->times, err));
    assess_shrink_rings(d);
    FAB_PASS(assess_share(d, err));
    FAB_PASS(assess_choose(d, err));
    return FAB_GIVE(*out, d);
}

fab_status fab_assessment_new(const fab_assessment_request *request, fab_assessment **out, fab_error *err) {
    FAB_OWNS(fab_assessment_free_owned) fab_assessment *d = NULL;
    FAB_PASS(assessment_open(request, &d, err));
    FAB_PASS(find_healthy(d, err));
    return FAB_GIVE(*out, d);
}

FAB_FREES_AFTER(fab_assessment_free, fab_assessment, d) {
    FAB_FREE_EACH_OF(free, d->parts, d->what->n_engines * d->n_phases, .collided);
    assess_memo_free(d->states);
    assess_memo_free(d->times);
    FAB_FREE_ALL(d->parts, d->routers, d->duplicate, d->in_network, d->taken, d->is_timed, d->per_bps, d->paces,
                 d->chosen, d->healthy, d->pace);
}

size_t fab_assessment_variants(const fab_assessment *assessment) {
    return assessment->what->n_engines * assessment->request.n_policies;
}

const char *fab_assessment_engine(const fab_assessment *assessment, size_t engine) {
    return fab_router_facts_of(assessment->routers[engine])->label;
}

fab_outcome fab_assessment_healthy(const fab_assessment *assessment, uint32_t variant) {
    return assessment->healthy[variant];
}

bool fab_assessment_iterates(const fab_assessment *assessment) {
    return assessment->iterates;
}
