/* A set of failures: who is lost, what is left of the loads, and what that means for the time. */
#include "assess_internal.h"

#include "fab/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- one thread --------------------------------------------------------------------------------------------------- */

fab_status fab_assessor_new(const fab_damage *d, fab_assessor **out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_assessor *a = NULL;
    size_t n = d->request.n_engines * d->n_phases;
    FAB_TRY(FAB_NEW(a, 1, err));
    a->damage = d;
    FAB_TRY(fab_mask_init(d->request.fabric, d->request.racks, &a->mask, err));
    FAB_TRY(FAB_NEW(a->seen, d->request.fabric->n_links, err));
    FAB_TRY(FAB_NEW(a->now, d->n_phases, err));
    FAB_TRY(FAB_NEW(a->reroutes, n, err));
    FAB_TRY(FAB_NEW(a->readers, n, err));
    for (size_t i = 0; i < n; i++) {
        if (d->parts[i].baseline != NULL) {
            FAB_TRY(fab_reroute_new(d->parts[i].baseline, &a->reroutes[i], err));
        }
        if (d->parts[i].clock != NULL) {
            FAB_TRY(fab_clock_reader_new(d->parts[i].clock, &a->readers[i], err));
        }
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
    size_t n = a->damage->request.n_engines * a->damage->n_phases;
    for (size_t i = 0; a->reroutes != NULL && i < n; i++) {
        fab_reroute_free(a->reroutes[i]);
    }
    for (size_t i = 0; a->readers != NULL && i < n; i++) {
        fab_clock_reader_free(a->readers[i]);
    }
    fab_mask_release(&a->mask);
    free(a->reroutes);
    free(a->readers);
    free(a->now);
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
    return (int)damage_is_collided(a->damage, link, load[link], a->mask.left[link]) - before;
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

damage_loads assess_loads(fab_assessor *a, size_t engine) {
    const fab_damage *d = a->damage;
    damage_loads sum = {.worst_link = FAB_NONE};
    for (size_t p = 0; p < d->n_phases; p++) {
        const fab_rerouted *r = &a->now[p];
        uint32_t n = 0;
        for (size_t k = p; k < d->n_phases && d->twin[p] == p; k++) { /* twins are counted once, each for itself */
            n += d->twin[k] == p;
        }
        if (n == 0) {
            continue;
        }
        sum.n_disconnected += n * r->n_disconnected;
        sum.lost_bps += n * r->lost_bps;
        sum.n_collisions += n * count_collisions(a, &d->parts[damage_at(d, engine, p)], r);
        bool is_worse = r->worst_ratio > sum.worst_ratio;
        if (is_worse || (r->worst_ratio == sum.worst_ratio && r->worst_ratio > 0 && r->worst_link < sum.worst_link)) {
            sum.worst_ratio = r->worst_ratio;
            sum.worst_link = r->worst_link;
        }
    }
    return sum;
}

static fab_status reroute(fab_assessor *a, size_t engine, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_damage *d = a->damage;
    for (size_t p = 0; p < d->n_phases; p++) {
        if (d->twin[p] == p) {
            fab_reroute *scratch = a->reroutes[damage_at(d, engine, p)];
            FAB_TRY(fab_reroute_apply(scratch, &a->mask, FAB_WHEN_CONVERGED, &a->now[p], err));
        } else {
            a->now[p] = a->now[d->twin[p]];
        }
    }
done:
    return status;
}

/* --- who is lost -------------------------------------------------------------------------------------------------- */

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

static double least_ratio(const fab_assessor *a, uint32_t first_server, uint64_t n_servers, double ratio) {
    const fab_damage *d = a->damage;
    const fab_fabric *f = d->request.fabric;
    for (uint64_t s = first_server; s < first_server + n_servers && s < f->n_servers; s++) {
        for (uint32_t i = 0; i < f->gpus_per_server; i++) {
            uint64_t gpu = s * f->gpus_per_server + i;
            bool works = d->traffic.rank_of_gpu == NULL || d->traffic.rank_of_gpu[gpu] != FAB_NONE;
            if (works) {
                return ratio;
            }
        }
    }
    return 1;
}

/* Everybody waits for the slowest GPU at work. */
static double compute_ratio(const fab_assessor *a, const fab_component *component, size_t n) {
    const fab_damage *d = a->damage;
    double least = 1;
    for (size_t i = 0; i < n; i++) {
        const fab_component *c = &component[i];
        double ratio = 1;
        if (c->fraction == 0 || c->fraction >= least) {
            continue;
        }
        if (c->kind == FAB_COMPONENT_GPU) {
            bool works = d->traffic.rank_of_gpu == NULL || d->traffic.rank_of_gpu[c->id] != FAB_NONE;
            ratio = works ? c->fraction : 1;
        } else if (c->kind == FAB_COMPONENT_SERVER) {
            ratio = least_ratio(a, c->id, 1, c->fraction);
        } else if (c->kind == FAB_COMPONENT_RACK) {
            uint32_t per_rack = a->mask.racks.servers_per_rack;
            ratio = least_ratio(a, c->id * per_rack, per_rack, c->fraction);
        }
        least = fmin(least, ratio);
    }
    return least;
}

/* --- a scenario --------------------------------------------------------------------------------------------------- */

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

static double slowdown_of(const fab_damage *d, size_t variant, double time_s) {
    double whole_s = d->has_whole ? d->whole[variant].time_s : time_s;
    return isnan(time_s) ? (double)NAN : whole_s > 0 ? time_s / whole_s : 1; /* a job of one GPU has no phase */
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
    double ratio = compute_ratio(a, scenario->component, scenario->n_components);
    for (size_t e = 0; e < d->request.n_engines; e++) {
        FAB_TRY(reroute(a, e, err));
        damage_loads loads = assess_loads(a, e);
        fab_outcome found = outcome_of(a, &loads);
        if (d->request.times && found.state == FAB_OUTCOME_RUNS) {
            FAB_TRY(assess_time(a, e, ratio, &found.time_s, err));
        }
        for (size_t p = 0; p < n_policies; p++) {
            size_t variant = e * n_policies + p;
            out[variant] = found;
            out[variant].scenario = number;
            out[variant].variant = (uint32_t)variant;
            out[variant].slowdown = slowdown_of(d, variant, found.time_s);
        }
    }
done:
    return status;
}
