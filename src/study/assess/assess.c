/* The job on the whole fabric, ready to be hurt. */
#include "assess_internal.h"

#include "fab/iterate.h"
#include "fab/job_sharing.h"
#include "fab/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLLIDED   (1 + 1e-9)          /* above this a link is asked for more than it has */
#define SAME_BYTES 1e-9                /* of flows: those of a phase are rounded */
#define MOST_PATHS (UINT64_C(1) << 24) /* of all phases under all engines */

bool damage_is_collided(const fab_damage *d, fab_link_id link, double load, double left) {
    return left > 0 && load * d->per_bps[link] > left * COLLIDED;
}

/* --- phases ------------------------------------------------------------------------------------------------------- */

static bool same_array(const void *a, const void *b, size_t bytes) {
    return a == b || (a != NULL && b != NULL && memcmp(a, b, bytes) == 0);
}

/* The same flows at the same offered rates: then routes and loads are the same, under any engine. With bytes in
 * proportion they stay so wherever ranks go. */
static bool are_twins(const fab_damage *d, size_t a, size_t b) {
    const fab_phase *x = &d->traffic.phases[a];
    const fab_phase *y = &d->traffic.phases[b];
    size_t n = (size_t)x->n_flows;
    if (x->n_flows != y->n_flows || x->all.n > 0 || y->all.n > 0) {
        return false;
    }
    bool same = same_array(x->src, y->src, n * sizeof *x->src) && same_array(x->dst, y->dst, n * sizeof *x->dst) &&
                same_array(x->ordinal, y->ordinal, n * sizeof *x->ordinal) &&
                same_array(d->offers[a].rate, d->offers[b].rate, n * sizeof *d->offers[a].rate);
    double ratio = (double)y->total_bytes / (double)x->total_bytes;
    for (size_t i = 0; i < n && same; i++) {
        same = fabs((double)x->bytes[i] * ratio - (double)y->bytes[i]) <= (double)y->bytes[i] * SAME_BYTES;
    }
    return same;
}

/* Phases are kept with all their paths. `router`: NULL before there is one, when flows alone are counted. */
static fab_status check_phase(const fab_damage *d, size_t p, const fab_router *router, uint64_t *n_paths,
                              fab_error *err) {
    const fab_phase *phase = &d->traffic.phases[p];
    bool has_paths = router != NULL && !fab_router_splits(router) && d->in_network[p];
    uint64_t per_flow = has_paths ? fab_paths_per_flow(router) : 1;
    if (phase->n_flows > (MOST_PATHS - *n_paths) / per_flow) {
        return fab_fail(err, FAB_EUNSUPPORTED, NULL,
                        "phase %s has %" PRIu64 " flows of %" PRIu64
                        " paths%s%s: with what was before it more than the "
                        "%" PRIu64 " paths that failure studies keep; give one phase (--traffic job:NAME), fewer "
                        "engines or fewer queue pairs",
                        phase->name, phase->n_flows, per_flow, router != NULL ? " under " : "",
                        router != NULL ? fab_router_label(router) : "", MOST_PATHS);
    }
    *n_paths += phase->n_flows * per_flow;
    return FAB_OK;
}

static fab_status offer_phases(fab_damage *d, fab_error *err) {
    fab_status status = FAB_OK;
    FAB_TRY(FAB_NEW(d->offers, d->n_phases, err));
    FAB_TRY(FAB_NEW(d->twin, d->n_phases, err));
    FAB_TRY(FAB_NEW(d->in_network, d->n_phases, err));
    for (size_t p = 0; p < d->n_phases; p++) {
        const fab_phase *phase = &d->traffic.phases[p];
        uint64_t n_flows = 0;
        FAB_TRY(check_phase(d, p, NULL, &n_flows, err)); /* before they are looked at */
        FAB_TRY(fab_offer_init(d->request.fabric, &d->ports, phase, &d->offers[p], err));
        for (uint64_t i = 0; i < phase->n_flows; i++) {
            double bps = fab_offer_rate(&d->offers[p], phase, i);
            d->offered_bps += bps;
            d->in_network[p] = d->in_network[p] || bps > 0;
        }
        while (d->twin[p] < p && !are_twins(d, d->twin[p], p)) {
            d->twin[p]++;
        }
    }
done:
    return status;
}

/* Which phases' times count, and whether they make an iteration. */
static fab_status choose_times(fab_damage *d, fab_error *err) {
    static const fab_job_times NO_TIMES = {.tp = {.transfer_s = 0}};
    fab_status status = FAB_OK;
    fab_iteration iteration;
    FAB_TRY(FAB_NEW(d->is_timed, d->n_phases, err));
    if (d->request.times && fab_is_whole_training(&d->traffic, d->request.traffic)) {
        status = fab_iterate_times(&d->traffic, &NO_TIMES, NULL, 0, &iteration, NULL);
        if (status != FAB_OK && status != FAB_EUNSUPPORTED && status != FAB_ENOSOLUTION) {
            FAB_FAIL(err, status, NULL, "the time of an iteration cannot be found");
        }
        d->iterates = status == FAB_OK; /* as a run reports a job that cannot be timed: by its phases */
        status = FAB_OK;
    }
    for (size_t p = 0; p < d->n_phases && d->request.times; p++) {
        fab_job_times times = {.tp = {.transfer_s = 0}};
        const fab_phase *phase = &d->traffic.phases[p];
        if (phase->alternative) {
            FAB_FAIL(err, FAB_EUNSUPPORTED, NULL,
                     "the phases of %s are ways to do the same, side by side; failures want one of them",
                     d->request.traffic);
        }
        d->is_timed[p] = !d->iterates || fab_iterate_add(phase->name, 0, 0, d->in_network[p], &times);
    }
done:
    return status;
}

/* --- engines ------------------------------------------------------------------------------------------------------ */

static fab_status keep_part(const fab_damage *d, size_t engine, size_t phase, fab_error *err) {
    fab_status status = FAB_OK;
    uint32_t n_links = d->request.fabric->n_links;
    damage_part *part = &d->parts[damage_at(d, engine, phase)];
    const fab_router *router = d->routers[engine];
    const fab_baseline_request request = {
        .router = router,
        .phase = &d->traffic.phases[phase],
        .offer = &d->offers[phase],
        .seed = fab_router_seed(router, d->request.seed),
    };
    if (d->twin[phase] == phase) {
        FAB_TRY(fab_baseline_new(&request, &part->baseline, err));
        FAB_TRY(FAB_NEW(part->collided, ((size_t)n_links + 63) / 64, err));
        const double *load = fab_baseline_load(part->baseline);
        for (uint32_t l = 0; l < n_links; l++) {
            if (damage_is_collided(d, l, load[l], 1)) {
                part->collided[l / 64] |= UINT64_C(1) << l % 64;
                part->n_collided++;
            }
        }
    }
    if (d->is_timed[phase] && !fab_router_splits(router)) {
        const fab_clock_request clock = {
            .fabric = d->request.fabric,
            .router = router,
            .phase = request.phase,
            .offer = request.offer,
            .routes = fab_baseline_routes(d->parts[damage_at(d, engine, d->twin[phase])].baseline),
        };
        FAB_TRY(fab_clock_new(&clock, &part->clock, err));
    }
done:
    return status;
}

static fab_status keep_engines(fab_damage *d, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_damage_request *q = &d->request;
    uint64_t n_paths = 0;
    FAB_TRY(FAB_NEW(d->routers, q->n_engines, err));
    FAB_TRY(FAB_NEW(d->parts, q->n_engines * d->n_phases, err));
    for (size_t e = 0; e < q->n_engines; e++) {
        FAB_TRY(fab_router_new(&q->engines[e], q->fabric, d->next_hops, &d->routers[e], err));
        for (size_t p = 0; p < d->n_phases; p++) {
            FAB_TRY(d->twin[p] == p ? check_phase(d, p, d->routers[e], &n_paths, err) : FAB_OK);
        }
    }
    FAB_TRY(damage_check_memory(d, err));
    for (size_t e = 0; e < q->n_engines; e++) {
        for (size_t p = 0; p < d->n_phases; p++) {
            FAB_TRY(keep_part(d, e, p, err));
        }
    }
done:
    return status;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static fab_status find_whole(fab_damage *d, fab_error *err) {
    fab_status status = FAB_OK;
    fab_assessor *assessor = NULL;
    fab_scenario nothing = {.n_components = 0};
    FAB_TRY(FAB_NEW(d->whole, fab_damage_variants(d), err));
    FAB_TRY(fab_assessor_new(d, &assessor, err));
    FAB_TRY(fab_assess(assessor, 0, &nothing, 0, d->whole, err));
    d->has_whole = true;
done:
    fab_assessor_free(assessor);
    return status;
}

static fab_status check_policies(fab_damage *d, fab_error *err) {
    const fab_damage_request *q = &d->request;
    for (size_t i = 0; i < q->n_policies; i++) {
        if (q->policies[i] == FAB_POLICY_SAME_RACK && (q->racks == NULL || q->racks->n_racks == 0)) {
            return fab_fail(err, FAB_EUNSUPPORTED, NULL, "policy same-rack: racks are not known without a floor plan");
        }
    }
    return FAB_OK;
}

fab_status fab_damage_new(const fab_damage_request *request, fab_damage **out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_damage *d = NULL;
    const fab_fabric *f = request->fabric;
    FAB_TRY(FAB_NEW(d, 1, err));
    d->request = *request;
    FAB_TRY(fab_next_hops_new(f, NULL, &d->next_hops, err));
    FAB_TRY(fab_ports_init(f, &d->ports, err));
    FAB_TRY(fab_traffic_make(request->traffic, request->design, f, request->seed, &d->traffic, err));
    d->n_phases = d->traffic.n_phases;
    FAB_TRY(check_policies(d, err));
    if (d->traffic.has_job) {
        FAB_TRY(FAB_NEW(d->taken, f->n_servers, err));
        FAB_TRY(fab_jobs_taken(request->design, f, d->taken, err));
    }
    FAB_TRY(offer_phases(d, err));
    FAB_TRY(choose_times(d, err));
    FAB_TRY(FAB_NEW(d->per_bps, f->n_links, err));
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_link_class *c = fab_class_of(f, l);
        d->per_bps[l] = c->kind == FAB_LINK_ACCESS || c->kind == FAB_LINK_FABRIC ? 1 / c->capacity_bps : 0;
    }
    FAB_TRY(keep_engines(d, err));
    FAB_TRY(find_whole(d, err));
    *out = d;
    d = NULL;
done:
    fab_damage_free(d);
    return status;
}

void fab_damage_free(fab_damage *d) {
    if (d == NULL) {
        return;
    }
    for (size_t i = 0; d->parts != NULL && i < d->request.n_engines * d->n_phases; i++) {
        fab_baseline_free(d->parts[i].baseline);
        fab_clock_free(d->parts[i].clock);
        free(d->parts[i].collided);
    }
    for (size_t e = 0; d->routers != NULL && e < d->request.n_engines; e++) {
        fab_router_free(d->routers[e]);
    }
    for (size_t p = 0; d->offers != NULL && p < d->n_phases; p++) {
        fab_offer_release(&d->offers[p]);
    }
    free(d->parts);
    free(d->routers);
    free(d->offers);
    free(d->twin);
    free(d->in_network);
    free(d->taken);
    free(d->is_timed);
    free(d->per_bps);
    free(d->whole);
    fab_traffic_release(&d->traffic);
    fab_ports_release(&d->ports);
    fab_next_hops_free(d->next_hops);
    free(d);
}

size_t fab_damage_variants(const fab_damage *damage) {
    return damage->request.n_engines * damage->request.n_policies;
}

const char *fab_damage_engine(const fab_damage *damage, size_t engine) {
    return fab_router_label(damage->routers[engine]);
}

fab_outcome fab_damage_whole(const fab_damage *damage, uint32_t variant) {
    return damage->whole[variant];
}

bool fab_damage_iterates(const fab_damage *damage) {
    return damage->iterates;
}
