/* What a study keeps, estimated as a replay is: arrays by link, path and hop of every engine and phase, and again by
 * thread. */
#include "assess_internal.h"
#include "fab/design.h"
#include "fab/iterate.h"
#include "fab/replay_memory.h"
#include "fab/units.h"

#define BASELINE_LINK  48.0  /* loads, flows by link, links by load */
#define BASELINE_PATH  120.0 /* record, key, ends, place among those to a leaf */
#define BASELINE_HOP   12.0  /* route, flows by link */
#define ESTIMATOR_LINK 36.0
#define ESTIMATOR_PATH 44.0
#define ESTIMATOR_HOP  4.0
#define MASK_LINK      16.0
#define REROUTE_LINK   12.0 /* by engine and phase: loads, changes */
#define REROUTE_PATH   16.0
#define TIMES_LINK     14.0  /* of the phase at hand; here by phase */
#define MOVING_LINK    109.0 /* of a history, while ranks move: loads twice, and those of three reroutes */
#define MOVING_PATH    100.0
#define MOVING_BLOCKS  (double)((size_t)32 << 20) /* paths of servers in their places, at most */
#define PACKETS_PATH   40.0                       /* beside what packets take: shares, bits, limits, ends */
#define LISTED_FLOW    56.0                       /* of a phase, with its offer */

/* Where a server may be: at home, or on a spare. */
static double places_of(const fab_assessment *d) {
    double places = 1;
    for (uint32_t i = 0; d->taken != NULL && i < d->fabric->n_servers; i++) {
        places += d->taken[i] == 0;
    }
    return places;
}

static void add_part(const fab_assessment *d, double n_links, const fab_router *router, size_t phase, double *kept,
                     double *scratch) {
    const double places = places_of(d);
    bool timed = d->is_timed[phase];
    double paths = (double)d->traffic->phases[phase].n_flows * fab_router_facts_of(router)->paths_per_flow;
    double hops = paths * fab_path_links(d->what->design, d->fabric);
    if (d->duplicate[phase] == phase) {
        *kept += n_links * BASELINE_LINK + paths * BASELINE_PATH + hops * BASELINE_HOP;
        *scratch += n_links * REROUTE_LINK + paths * REROUTE_PATH;
    }
    *kept += timed ? n_links * ESTIMATOR_LINK + paths * ESTIMATOR_PATH + hops * ESTIMATOR_HOP : 0;
    *scratch += timed ? n_links * TIMES_LINK : 0;
    if (timed && d->request.histories) {
        *scratch += n_links * MOVING_LINK + paths * MOVING_PATH;
        *scratch += d->duplicate[phase] == phase ? fmin(MOVING_BLOCKS, 2 * sizeof(fab_link_id) * hops * places) : 0;
    }
}

/* What assess_share() looks at, one phase after the other; what was prepared for them stays. */
static double shared_bytes(const fab_assessment *d, const fab_replay_sizes *sizes, double *kept) {
    const fab_replay replay = {.context = d->request.context, .n_seeds = 1, .n_threads = 1, .rates = true};
    double most = 0;
    for (size_t p = 0; p < d->n_phases && d->iterates && fab_iterate_shares(d->traffic); p++) {
        fab_draw_bytes draw = {0};
        for (size_t e = 0; e < d->what->n_engines && fab_iterate_is_shared(d->traffic->phases[p].name); e++) {
            draw = fab_replay_draw_bytes(&replay, sizes, &d->traffic->phases[p], d->routers[e]);
            most = fmax(most, draw.run);
        }
        *kept += draw.prepared + sizes->n_links * sizeof(double);
    }
    return most;
}

/* Followed packet by packet: a phase at a time on every thread. */
static double packets_bytes(const fab_assessment *d, double n_links) {
    double most = 0;
    for (size_t p = 0; p < d->n_phases && d->what->design->fabric.transport.kind != FAB_TRANSPORT_FLUID; p++) {
        for (size_t e = 0; e < d->what->n_engines; e++) {
            double flows = (double)d->traffic->phases[p].n_flows;
            double paths = flows * fab_router_facts_of(d->routers[e])->paths_per_flow;
            double hops = paths * fab_path_links(d->what->design, d->fabric);
            double senders = fmin(paths, flows * d->fabric->n_planes);
            most = fmax(most, fab_packets_bytes(&d->what->design->fabric.transport, paths, senders, n_links, hops) +
                                  paths * PACKETS_PATH + hops * ESTIMATOR_HOP);
        }
    }
    return most;
}

fab_status assessment_check_memory(const fab_assessment *d, fab_error *err) {
    const fab_assessment_request *q = &d->request;
    char what[128];
    fab_replay_sizes sizes;
    double n_threads = q->n_threads > 0 ? (double)q->n_threads : 1;
    fab_replay_sizes_of(d->fabric, &sizes);
    double kept = fab_graph_bytes(&sizes) + fab_next_hops_bytes(&sizes);
    kept += q->histories ? (double)(ASSESS_STATE_BYTES + ASSESS_TIMES_BYTES) : 0;
    double scratch = sizes.n_links * MASK_LINK + packets_bytes(d, sizes.n_links);
    for (size_t p = 0; p < d->n_phases; p++) {
        kept += (double)d->traffic->phases[p].n_flows * LISTED_FLOW;
        for (size_t e = 0; e < d->what->n_engines; e++) {
            add_part(d, sizes.n_links, d->routers[e], p, &kept, &scratch);
        }
    }
    FAB_FORMAT(what, "a study of failures of %s GPUs on %.0f threads", FAB_SAY_COUNT(fab_n_gpus(d->fabric)), n_threads);
    double shared = shared_bytes(d, &sizes, &kept);
    const double n_draws = q->n_draws > 0 ? (double)q->n_draws : 1;
    return fab_memory_check(what, n_draws * (kept + fmax(n_threads * scratch, shared)),
                            d->what->design->fabric.max_bytes, err);
}
