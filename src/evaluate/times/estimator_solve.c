/* A phase flow by flow, where its bounds do not agree. */
#include "estimator_internal.h"

#include "measure/measure_rates.h"
#include "relay.h"

fab_status estimator_assemble(fab_estimator_reader *t, const fab_rerouted *r, fab_error *err) {
    const fab_estimator *c = t->estimator;
    const fab_routes *before = c->request.routes;
    fab_routes *out = &t->routes;
    size_t n = 0;
    FAB_OWNED_NEW(uint32_t, place, c->n_paths, err); /* [path]: among those touched, + 1 */
    for (uint32_t i = 0; i < r->n_touched; i++) {
        place[r->path[i]] = i + 1;
    }
    FAB_PASS(FAB_GROW(out->flow_first, out->flow_capacity, (size_t)before->n_flows + 1, err));
    FAB_PASS(FAB_GROW(out->path_first, out->path_capacity, (size_t)c->n_paths + 1, err));
    memcpy(out->flow_first, before->flow_first, ((size_t)before->n_flows + 1) * sizeof *out->flow_first);
    out->n_flows = before->n_flows;
    for (uint32_t path = 0; path < c->n_paths; path++) {
        uint32_t i = place[path];
        const fab_link_id *link = i > 0 ? r->link + r->path_first[i - 1] : before->link + before->path_first[path];
        size_t n_links =
            i > 0 ? r->path_first[i] - r->path_first[i - 1] : before->path_first[path + 1] - before->path_first[path];
        FAB_PASS(FAB_GROW(out->link, out->link_capacity, n + n_links, err));
        out->path_first[path] = n;
        memcpy(out->link + n, link, n_links * sizeof *link);
        n += n_links;
    }
    out->path_first[c->n_paths] = n;
    return FAB_OK;
}

static fab_status open_arrays(fab_estimator_reader *t, fab_error *err) {
    const fab_estimator *c = t->estimator;
    if (t->path_first != NULL) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW(t->capacity, c->request.fabric->n_links, err));
    FAB_PASS(FAB_NEW_ALL(c->n_paths, err, t->part, t->path_bits, t->finish_s));
    FAB_PASS(c->limit_bps != NULL ? FAB_NEW(t->limit, c->n_paths, err) : FAB_OK);
    return FAB_NEW(t->path_first, (size_t)c->n_paths + 1, err);
}

/* As the solver wants them: without what is relayed before, in place. */
static void estimator_prepare(fab_estimator_reader *t, const fab_mask *mask) {
    const fab_estimator *c = t->estimator;
    const fab_fabric *f = c->request.fabric;
    fab_routes *r = &t->routes;
    uint64_t to = 0;
    for (uint32_t path = 0; path < c->n_paths; path++) {
        uint32_t n = (uint32_t)(r->path_first[path + 1] - r->path_first[path]);
        uint32_t flow = c->flow_of[path];
        memmove(r->link + to, r->link + r->path_first[path], n * sizeof *r->link);
        t->path_first[path] = to;
        to += fab_relay_drop(f, r->link + to, n);
        t->part[path] = fab_path_part(c->request.routes, flow, path);
        t->path_bits[path] = c->bits[flow] * t->part[path];
        if (t->limit != NULL) {
            t->limit[path] = estimator_limits(t)[flow] * t->part[path];
        }
    }
    t->path_first[c->n_paths] = to;
    for (uint32_t l = 0; l < f->n_links; l++) {
        double capacity = estimator_capacity(c, mask, l);
        t->capacity[l] = capacity > 0 ? capacity : 1; /* dead: nobody crosses it */
    }
}

/* Packets in place of the fluid. */
static fab_status simulate_packets(fab_estimator_reader *t, double least_s, fab_error *err) {
    const fab_estimator *c = t->estimator;
    const fab_lossless_phase phase = {.n_flows = c->n_paths,
                                      .n_links = c->request.fabric->n_links,
                                      .capacity = t->capacity,
                                      .first = t->path_first,
                                      .link = t->routes.link,
                                      .bits = t->path_bits,
                                      .seed = c->request.seed,
                                      .n_sprayed = t->routes.n_flows,
                                      .sprayed = t->routes.flow_first};
    bool is_sprayed = c->request.transport->kind == FAB_TRANSPORT_SPRAY_ACK; /* links do not carry what paths say */
    bool reorders = fab_router_facts_of(c->request.router)->reorders;
    const fab_flow_groups groups = {c->request.phase, NULL, reorders};
    fab_lossless_result r = {.finish_s = t->finish_s};
    FAB_OWNED_NEW(double, fluid_s, c->n_paths, err);
    memcpy(fluid_s, t->finish_s, c->n_paths * sizeof *fluid_s);
    FAB_PASS(fab_finish_lossless(c->request.fabric, c->request.transport, &groups, &phase, fluid_s,
                                 reorders || is_sprayed ? 0 : least_s, &r, err));
    if (r.n_deadlock > 0) {
        return fab_fail(
            err, FAB_EUNSUPPORTED, "transport",
            "phase %s ends in a deadlock after this change: %u links stop each other for ever, among them %s",
            c->request.phase->name, (unsigned)r.n_deadlock, FAB_SAY_LINK(c->request.fabric, r.deadlock[0]));
    }
    return FAB_OK;
}

static fab_sharing estimator_sharing(const fab_estimator_reader *t) {
    return (fab_sharing){.n_flows = t->estimator->n_paths,
                         .n_links = t->estimator->request.fabric->n_links,
                         .capacity = t->capacity,
                         .first = t->path_first,
                         .link = t->routes.link,
                         .weight = t->part,
                         .limit = t->limit};
}

fab_status estimator_simulate(fab_estimator_reader *t, const fab_mask *mask, double least_s, double *out_s,
                              fab_error *err) {
    const fab_estimator *c = t->estimator;
    double last_s = 0;
    FAB_PASS(open_arrays(t, err));
    estimator_prepare(t, mask);
    const fab_sharing sharing = estimator_sharing(t);
    FAB_PASS(fab_fluid_finish(&sharing, t->path_bits, NULL, t->finish_s, err));
    FAB_PASS(fab_is_lossless(c->request.transport) ? simulate_packets(t, least_s, err) : FAB_OK);
    for (uint32_t path = 0; path < c->n_paths; path++) {
        last_s = fmax(last_s, t->finish_s[path]);
    }
    *out_s = last_s;
    return FAB_OK;
}

/* --- flows of a state --------------------------------------------------------------------------------------------- */

FAB_RELEASES(fab_state_flows_release, fab_state_flows, flow_first, path_first, link, rate_bps, bottleneck);

/* Paths as the solver has them, and of every flow what they get together. */
static fab_status take_flows(const fab_estimator_reader *t, const double *rate, const uint32_t *bottleneck,
                             fab_state_flows *out, fab_error *err) {
    const uint32_t n_paths = t->estimator->n_paths;
    const uint32_t n_flows = t->routes.n_flows;
    const uint64_t n_links = t->path_first[n_paths];
    FAB_PASS(FAB_NEW(out->flow_first, (size_t)n_flows + 1, err));
    FAB_PASS(FAB_NEW(out->path_first, (size_t)n_paths + 1, err));
    FAB_PASS(FAB_NEW(out->link, n_links, err));
    FAB_PASS(FAB_NEW_ALL(n_flows, err, out->rate_bps, out->bottleneck));
    memcpy(out->flow_first, t->routes.flow_first, ((size_t)n_flows + 1) * sizeof *out->flow_first);
    memcpy(out->path_first, t->path_first, ((size_t)n_paths + 1) * sizeof *out->path_first);
    memcpy(out->link, t->routes.link, n_links * sizeof *out->link);
    out->n_flows = n_flows;
    for (uint32_t flow = 0; flow < n_flows; flow++) {
        double least = INFINITY;
        out->bottleneck[flow] = FAB_NONE;
        for (uint32_t path = out->flow_first[flow]; path < out->flow_first[flow + 1]; path++) {
            const bool is_lost = out->path_first[path] == out->path_first[path + 1];
            out->rate_bps[flow] += is_lost ? 0 : rate[path];
            if (!is_lost && rate[path] < least) {
                least = rate[path];
                out->bottleneck[flow] = bottleneck[path] != FAB_NO_BOTTLENECK ? bottleneck[path] : FAB_NONE;
            }
        }
    }
    return FAB_OK;
}

fab_status fab_estimator_flows(fab_estimator_reader *t, const fab_mask *mask, const fab_rerouted *r,
                               fab_state_flows *out, fab_error *err) {
    const fab_estimator *c = t->estimator;
    FAB_OWNS(fab_max_min_free_owned) fab_max_min *solver = NULL;
    FAB_OWNS(fab_state_flows_release) fab_state_flows found = {.n_flows = 0};
    if (r->routes != NULL) {
        return estimator_read_routes(c, mask, r->routes, NULL, out, NULL, err);
    }
    FAB_PASS(estimator_assemble(t, r, err));
    FAB_PASS(open_arrays(t, err));
    FAB_PASS(c->limit_bps != NULL ? estimator_renew_limits(t, err) : FAB_OK);
    estimator_prepare(t, mask);
    FAB_OWNED_NEW(double, rate, c->n_paths, err);
    FAB_OWNED_NEW(uint32_t, bottleneck, c->n_paths, err);
    FAB_PASS(fab_max_min_new(&solver, err));
    const fab_sharing sharing = estimator_sharing(t);
    FAB_PASS(fab_max_min_solve(solver, &sharing, rate, bottleneck, err));
    FAB_PASS(take_flows(t, rate, bottleneck, &found, err));
    return FAB_GIVE(*out, found);
}
