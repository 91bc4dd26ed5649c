/* The job on the whole fabric, and a set of failures over it: only what failures touch is routed again. */
#include "assess_internal.h"

#include "fab/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLLIDED (1 + 1e-9) /* above this a link is asked for more than it has */

/* --- the whole fabric --------------------------------------------------------------------------------------------- */

static bool is_collided(const fab_damage *d, fab_link_id link, double load, double left) {
    return left > 0 && load * d->per_bps[link] > left * COLLIDED;
}

static fab_status keep_part(const fab_damage *d, size_t engine, size_t phase, damage_part *out, fab_error *err) {
    fab_status status = FAB_OK;
    uint32_t n_links = d->request.fabric->n_links;
    const fab_baseline_request request = {
        .router = &d->routers[engine],
        .phase = &d->traffic.phases[phase],
        .offer = &d->offers[phase],
        .seed = fab_router_seed(&d->routers[engine], d->request.seed),
    };
    FAB_TRY(fab_baseline_new(&request, &out->baseline, err));
    FAB_TRY(FAB_NEW(out->collided, ((size_t)n_links + 63) / 64, err));
    const double *load = fab_baseline_load(out->baseline);
    for (uint32_t l = 0; l < n_links; l++) {
        if (is_collided(d, l, load[l], 1)) {
            out->collided[l / 64] |= UINT64_C(1) << l % 64;
            out->n_collided++;
        }
    }
done:
    return status;
}

static fab_status check_request(const fab_damage_request *q, fab_error *err) {
    for (size_t i = 0; i < q->n_policies; i++) {
        if (q->policies[i] != FAB_POLICY_NONE) {
            return fab_fail(err, FAB_EUNSUPPORTED, NULL, "ranks do not move yet");
        }
    }
    return FAB_OK;
}

static fab_status offer_phases(fab_damage *d, fab_error *err) {
    fab_status status = FAB_OK;
    FAB_TRY(FAB_NEW(d->offers, damage_n_phases(d), err));
    for (size_t p = 0; p < damage_n_phases(d); p++) {
        const fab_phase *phase = &d->traffic.phases[p];
        FAB_TRY(fab_offer_init(d->request.fabric, &d->ports, phase, &d->offers[p], err));
        for (uint64_t i = 0; i < phase->n_flows; i++) {
            d->offered_bps += fab_offer_rate(&d->offers[p], phase, i);
        }
    }
done:
    return status;
}

static fab_status find_whole(fab_damage *d, fab_error *err) {
    fab_status status = FAB_OK;
    fab_assessor *assessor = NULL;
    fab_scenario nothing = {.n_components = 0};
    FAB_TRY(FAB_NEW(d->whole, fab_damage_variants(d), err));
    FAB_TRY(fab_assessor_new(d, &assessor, err));
    FAB_TRY(fab_assess(assessor, 0, &nothing, 0, d->whole, err));
done:
    fab_assessor_free(assessor);
    return status;
}

fab_status fab_damage_new(const fab_damage_request *request, fab_damage **out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_damage *d = NULL;
    const fab_fabric *f = request->fabric;
    FAB_TRY(check_request(request, err));
    FAB_TRY(FAB_NEW(d, 1, err));
    d->request = *request;
    FAB_TRY(fab_next_hops_new(f, NULL, &d->next_hops, err));
    FAB_TRY(fab_ports_init(f, &d->ports, err));
    FAB_TRY(fab_traffic_make(request->traffic, request->design, f, request->seed, &d->traffic, err));
    FAB_TRY(offer_phases(d, err));
    FAB_TRY(FAB_NEW(d->per_bps, f->n_links, err));
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_link_class *c = fab_class_of(f, l);
        d->per_bps[l] = c->kind == FAB_LINK_ACCESS || c->kind == FAB_LINK_FABRIC ? 1 / c->capacity_bps : 0;
    }
    FAB_TRY(FAB_NEW(d->routers, request->n_engines, err));
    FAB_TRY(FAB_NEW(d->parts, request->n_engines * damage_n_phases(d), err));
    for (size_t e = 0; e < request->n_engines; e++) {
        FAB_TRY(fab_router_init(&request->engines[e], f, d->next_hops, &d->routers[e], err));
        for (size_t p = 0; p < damage_n_phases(d); p++) {
            FAB_TRY(keep_part(d, e, p, &d->parts[e * damage_n_phases(d) + p], err));
        }
    }
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
    for (size_t i = 0; d->parts != NULL && i < d->request.n_engines * damage_n_phases(d); i++) {
        fab_baseline_free(d->parts[i].baseline);
        free(d->parts[i].collided);
    }
    for (size_t e = 0; d->routers != NULL && e < d->request.n_engines; e++) {
        fab_router_release(&d->routers[e]);
    }
    for (size_t p = 0; d->offers != NULL && p < damage_n_phases(d); p++) {
        fab_offer_release(&d->offers[p]);
    }
    free(d->parts);
    free(d->routers);
    free(d->offers);
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
    return damage->routers[engine].label;
}

fab_outcome fab_damage_whole(const fab_damage *damage, uint32_t variant) {
    return damage->whole[variant];
}

/* --- one thread --------------------------------------------------------------------------------------------------- */

fab_status fab_assessor_new(const fab_damage *d, fab_assessor **out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_assessor *a = NULL;
    size_t n = d->request.n_engines * damage_n_phases(d);
    FAB_TRY(FAB_NEW(a, 1, err));
    a->damage = d;
    FAB_TRY(fab_mask_init(d->request.fabric, d->request.racks, &a->mask, err));
    FAB_TRY(FAB_NEW(a->seen, d->request.fabric->n_links, err));
    FAB_TRY(FAB_NEW(a->reroutes, n, err));
    for (size_t i = 0; i < n; i++) {
        FAB_TRY(fab_reroute_new(d->parts[i].baseline, &a->reroutes[i], err));
    }
    *out = a;
    a = NULL;
done:
    fab_assessor_free(a);
    return status;
}

void fab_assessor_free(fab_assessor *a) {
    if (a == NULL) {
        return;
    }
    for (size_t i = 0; a->reroutes != NULL && i < a->damage->request.n_engines * damage_n_phases(a->damage); i++) {
        fab_reroute_free(a->reroutes[i]);
    }
    fab_mask_release(&a->mask);
    free(a->reroutes);
    free(a->seen);
    free(a);
}

/* --- loads -------------------------------------------------------------------------------------------------------- */

/* Whether a link is collided now, less whether it was. */
static int change_of(fab_assessor *a, const damage_part *part, const double *load, fab_link_id link) {
    if (a->seen[link] == a->stamp) {
        return 0;
    }
    a->seen[link] = a->stamp;
    int before = (int)(part->collided[link / 64] >> link % 64 & 1);
    return (int)is_collided(a->damage, link, load[link], a->mask.left[link]) - before;
}

static uint32_t count_collisions(fab_assessor *a, const damage_part *part, const fab_rerouted *r) {
    int64_t n = part->n_collided;
    const uint32_t n_links = a->damage->request.fabric->n_links;
    if (++a->stamp == 0) { /* after 2^32 counts */
        memset(a->seen, 0, n_links * sizeof *a->seen);
        a->stamp = 1;
    }
    for (uint32_t l = 0; r->in_full && l < n_links; l++) {
        n += change_of(a, part, r->load, l);
    }
    for (size_t i = 0; i < r->n_changed; i++) {
        n += change_of(a, part, r->load, r->changed[i]);
    }
    for (uint32_t i = 0; i < a->mask.n_links; i++) {
        n += change_of(a, part, r->load, a->mask.link[i]);
    }
    return (uint32_t)n;
}

/* All phases under one engine. */
static fab_status find_loads(fab_assessor *a, size_t engine, damage_loads *out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_damage *d = a->damage;
    damage_loads sum = {.worst_link = FAB_NONE};
    for (size_t p = 0; p < damage_n_phases(d); p++) {
        fab_rerouted r;
        size_t at = engine * damage_n_phases(d) + p;
        FAB_TRY(fab_reroute_apply(a->reroutes[at], &a->mask, FAB_WHEN_CONVERGED, &r, err));
        sum.n_disconnected += r.n_disconnected;
        sum.lost_bps += r.lost_bps;
        sum.n_collisions += count_collisions(a, &d->parts[at], &r);
        bool is_worse = r.worst_ratio > sum.worst_ratio;
        if (is_worse || (r.worst_ratio == sum.worst_ratio && r.worst_ratio > 0 && r.worst_link < sum.worst_link)) {
            sum.worst_ratio = r.worst_ratio;
            sum.worst_link = r.worst_link;
        }
    }
    *out = sum;
done:
    return status;
}

/* --- a scenario --------------------------------------------------------------------------------------------------- */

/* Whether a GPU with a rank is dead; one that sends or receives has lost these flows. */
static bool lost_ranks(const fab_assessor *a) {
    const fab_damage *d = a->damage;
    for (uint32_t i = 0; i < a->mask.n_nodes && d->traffic.rank_of_gpu != NULL; i++) {
        fab_node_id v = a->mask.node[i];
        if (fab_kind_of(d->request.fabric, v) == FAB_NODE_GPU && d->traffic.rank_of_gpu[v] != FAB_NONE) {
            return true;
        }
    }
    return false;
}

static fab_outcome outcome_of(const fab_assessor *a, const damage_loads *loads) {
    const fab_damage *d = a->damage;
    bool stops = loads->n_disconnected > 0 || lost_ranks(a);
    return (fab_outcome){
        .state = stops ? FAB_OUTCOME_STOPPED : FAB_OUTCOME_RUNS,
        .n_disconnected = loads->n_disconnected,
        .n_collisions = loads->n_collisions,
        .worst_link = loads->worst_link,
        .lost_ratio = d->offered_bps > 0 ? loads->lost_bps / d->offered_bps : 0,
        .worst_ratio = loads->worst_ratio,
        .time_s = NAN,
        .slowdown = NAN,
        .goodput = NAN,
        .restart_ratio = NAN,
        .redo_ratio = NAN,
        .slow_ratio = NAN,
        .wait_ratio = NAN,
    };
}

fab_status fab_assess(fab_assessor *a, uint64_t number, fab_scenario *scenario, double span_s, fab_outcome *out,
                      fab_error *err) {
    fab_status status = FAB_OK;
    const fab_damage *d = a->damage;
    size_t n_policies = d->request.n_policies;
    if (span_s > 0) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "histories are not assessed yet");
    }
    FAB_TRY(fab_mask_set(&a->mask, scenario->component, scenario->n_components, err));
    for (size_t e = 0; e < d->request.n_engines; e++) {
        damage_loads loads;
        FAB_TRY(find_loads(a, e, &loads, err));
        for (size_t p = 0; p < n_policies; p++) {
            size_t variant = e * n_policies + p;
            out[variant] = outcome_of(a, &loads);
            out[variant].scenario = number;
            out[variant].variant = (uint32_t)variant;
        }
    }
done:
    return status;
}
