/* A phase for its time alone: routed, added up, bounded; nothing of single flows. */
#include "fab/phase_transfer.h"

#include "estimator_internal.h"
#include "fab/design.h"
#include "measure/measure_rates.h"
#include "measure/stream.h"

#define BITS 8.0

void fab_transfer_scratch_release(fab_transfer_scratch *scratch) {
    fab_routes_release(&scratch->kept[0].routes);
    fab_routes_release(&scratch->kept[1].routes);
    FAB_FREE_ALL(scratch->rate);
    *scratch = (fab_transfer_scratch){.rate = NULL};
}

fab_status fab_transfer_is_known(const fab_context *context, size_t engine, bool *out, fab_error *err) {
    const fab_context_request *what = fab_context_what(context);
    const fab_router *router = NULL;
    const fab_traffic *traffic = NULL;
    FAB_PASS(fab_context_router(context, engine, &router, err));
    FAB_PASS(fab_context_traffic(context, &traffic, err));
    const fab_router_facts *facts = fab_router_facts_of(router);
    const fab_phase *p = traffic->phases;
    FAB_ALL(is_kept, i, traffic->n_phases,
            p[i].n_flows <= FAB_KEPT_PATHS / facts->paths_per_flow && !fab_is_estimated(router, &p[i]));
    *out = is_kept && what->gpus == NULL && what->design->fabric.transport.kind == FAB_TRANSPORT_FLUID &&
           !facts->splits && facts->n_rounds == 1;
    return FAB_OK;
}

/* `offer` NULL: the paths of the router do not depend on it. */
static fab_status route_phase(const fab_context *context, const fab_router *router, const fab_phase *phase,
                              const fab_offer *offer, fab_transfer_scratch *s, fab_error *err) {
    const uint32_t n = (uint32_t)phase->n_flows;
    const double *rate = offer != NULL ? offer->rate : NULL;
    if (offer != NULL && rate == NULL) {
        FAB_PASS(FAB_GROW(s->rate, s->rate_capacity, n, err));
        fab_offer_chunk(offer, phase, 0, n, s->rate);
        rate = s->rate;
    }
    const fab_routed oldest = s->kept[1];
    s->kept[1] = s->kept[0];
    s->kept[0] = (fab_routed){.routes = oldest.routes};
    fab_routed *kept = &s->kept[0];
    kept->routes.between_switches = false;
    kept->routes.wants_groups = false;
    kept->routes.merges = true;
    const uint64_t seed = fab_context_seed(context, router);
    FAB_PASS(fab_route_flows(router, phase, 0, n, rate, seed, &kept->routes, err));
    fab_hash_routing(router, phase, seed, rate, true, kept->hash);
    return FAB_OK;
}

fab_status fab_transfer_go_on(const fab_context *context, size_t engine, fab_transfer_scratch *scratch,
                              fab_error *err) {
    const fab_router *router = NULL;
    const fab_traffic *traffic = NULL;
    FAB_PASS(fab_context_router(context, engine, &router, err));
    FAB_PASS(fab_context_traffic(context, &traffic, err));
    const uint64_t seed = fab_context_seed(context, router);
    for (size_t i = 0; i < 2 * traffic->n_phases && !fab_router_facts_of(router)->takes_phases; i++) {
        const fab_phase *phase = &traffic->phases[i / 2];
        fab_routed *kept = &scratch->kept[i % 2];
        fab_phase head = *phase;
        uint64_t hash[2];
        head.n_flows = kept->routes.n_flows;
        if (phase->n_flows <= head.n_flows || phase->n_flows > FAB_KEPT_PATHS) {
            continue;
        }
        fab_hash_routing(router, &head, seed, NULL, true, hash);
        if (hash[1] != 0 && memcmp(hash, kept->hash, sizeof hash) == 0) {
            kept->routes.n_known = kept->routes.n_flows;
            memset(kept->hash, 0, sizeof kept->hash); /* until they are others */
            FAB_PASS(fab_route_flows(router, phase, 0, (uint32_t)phase->n_flows, NULL, seed, &kept->routes, err));
            fab_hash_routing(router, phase, seed, NULL, true, kept->hash);
        }
    }
    return FAB_OK;
}

/* Bytes over links, and the latency of the slowest path. */
static double add_paths(const fab_fabric *fabric, const fab_phase *phase, const fab_routes *r, double *bytes) {
    double path_s = -1;
    memset(bytes, 0, fabric->n_links * sizeof *bytes);
    for (uint32_t flow = 0; flow < r->n_flows; flow++) {
        const uint32_t n_paths = r->flow_first[flow + 1] - r->flow_first[flow];
        const double all = (double)fab_phase_flow(phase, flow).bytes;
        for (uint32_t path = r->flow_first[flow]; path < r->flow_first[flow + 1]; path++) {
            const double part = r->part != NULL ? all * r->part[path] : all / n_paths;
            const size_t n = r->path_first[path + 1] - r->path_first[path];
            const fab_link_id *link = r->link + r->path_first[path];
            for (size_t i = 0; i < n; i++) {
                bytes[link[i]] += part;
            }
            path_s = fmax(path_s, estimator_latency(fabric, link, n));
        }
    }
    return path_s;
}

/* With its time. What an estimator has added up is the same in eighths. */
static fab_status estimate(const fab_estimator_request *request, double *bytes, fab_transfer *out, fab_error *err) {
    static const size_t NO_LINKS = 0;
    const fab_rerouted as_it_is = {.path_first = &NO_LINKS, .worst_ratio = NAN};
    FAB_OWNS(fab_mask_release) fab_mask nothing = {.n_links = 0};
    FAB_OWNS(fab_estimator_free_owned) fab_estimator *estimator = NULL;
    FAB_OWNS(fab_estimator_reader_free_owned) fab_estimator_reader *reader = NULL;
    fab_phase_seconds found;
    FAB_PASS(fab_mask_init(request->fabric, NULL, &nothing, err));
    FAB_PASS(fab_estimator_new(request, &estimator, err));
    FAB_PASS(fab_estimator_reader_new(estimator, &reader, err));
    FAB_PASS(fab_estimator_read(reader, &nothing, &as_it_is, true, &found, err)); /* by its bits, not by their ratio */
    out->transfer_s = found.transfer_s;
    out->path_s = estimator_longest_latency(&estimator->latencies);
    FAB_FILL(bytes, request->fabric->n_links,
             (estimator->load[fab_at].bits + (estimator->relayed != NULL ? estimator->relayed[fab_at] : 0)) / BITS);
    return FAB_OK;
}

fab_status fab_phase_transfer(const fab_context *context, size_t engine, size_t phase, bool wants_time,
                              fab_transfer_scratch *scratch, double *bytes, fab_transfer *out, fab_error *err) {
    const fab_traffic *traffic = NULL;
    fab_estimator_request request = {
        .fabric = fab_context_what(context)->fabric, .once = true, .most_simulated = scratch->most_simulated};
    fab_transfer found = {.fullest_s = 0};
    FAB_PASS(fab_context_traffic(context, &traffic, err));
    FAB_PASS(fab_context_router(context, engine, &request.router, err));
    if (wants_time || fab_router_facts_of(request.router)->takes_phases) {
        FAB_PASS(fab_context_offer(context, phase, &request.offer, err));
    }
    request.phase = &traffic->phases[phase];
    FAB_PASS(route_phase(context, request.router, request.phase, request.offer, scratch, err));
    request.routes = &scratch->kept[0].routes;
    if (wants_time) {
        FAB_PASS(estimate(&request, bytes, &found, err));
    } else {
        found.path_s = add_paths(request.fabric, request.phase, request.routes, bytes);
    }
    for (uint32_t l = 0; l < request.fabric->n_links; l++) {
        const double s = bytes[l] > 0 ? bytes[l] * BITS / fab_class_of(request.fabric, l)->usable_bps : 0;
        found.fullest_s = s > found.fullest_s ? s : found.fullest_s;
    }
    *out = found;
    return FAB_OK;
}
