#include "engines/router.h"
#include "oracle_estimator.h"
#include "oracle_max_min.h"

#include "fab/fluid.h"
#include "fab/path_figures.h"
#include "fab/traffic.h"
#include "split/split_rule.h"
#include "fab/split_pairs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(fab_status status, const fab_error *err) {
    if (status != FAB_OK) {
        (void)fprintf(stderr, "oracle: %s\n", err->text);
        abort();
    }
}

/* Flows of a solver, one after the other. */
typedef struct problem {
    const fab_fabric *f;
    const fab_mask *mask;
    double *capacity, *weight, *limit, *bits, *share, *relayed;
    uint64_t *first;
    uint32_t *link, *flow_of;
    uint32_t n;
    size_t n_links;
    double latency_s;
    double copy_s; /* of relays */
} problem;

static problem open_problem(const fab_fabric *f, const fab_mask *mask, size_t n_flows, size_t n_links) {
    problem p = {.f = f, .mask = mask};
    double line_bps = fab_nic_rate(f);
    p.capacity = calloc((size_t)f->n_links + 1, sizeof(double));
    p.relayed = calloc((size_t)f->n_links + 1, sizeof(double));
    p.weight = calloc(n_flows + 1, sizeof(double));
    p.limit = calloc(n_flows + 1, sizeof(double));
    p.bits = calloc(n_flows + 1, sizeof(double));
    p.first = calloc(n_flows + 1, sizeof *p.first);
    p.link = calloc(n_links + 1, sizeof *p.link);
    p.flow_of = calloc(n_flows + 1, sizeof *p.flow_of);
    p.share = calloc(n_links + 1, sizeof(double));
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_link_class *c = fab_class_of(f, l);
        p.capacity[l] = c->capacity_bps * mask->residual[l];
        if (mask->residual[l] == 0 || (c->kind == FAB_LINK_PCIE && p.capacity[l] >= line_bps * (1 - 1e-12))) {
            p.capacity[l] = INFINITY;
        }
    }
    for (uint32_t k = 0; k < f->n_classes; k++) { /* where nothing leaves a domain */
        p.latency_s =
            f->classes[k].kind == FAB_LINK_SCALEUP ? fmax(p.latency_s, 2 * f->classes[k].latency_s) : p.latency_s;
    }
    return p;
}

/* A link of the flow at hand. */
static void put(problem *p, fab_link_id link, double share) {
    for (size_t i = p->first[p->n]; i < p->n_links; i++) {
        if (p->link[i] == link) {
            p->share[i] += share;
            return;
        }
    }
    p->link[p->n_links] = link;
    p->share[p->n_links++] = share;
}

static void end_flow(problem *p, uint32_t flow, double weight, double bits, double limit) {
    p->flow_of[p->n] = flow;
    p->weight[p->n] = weight;
    p->bits[p->n] = bits;
    p->limit[p->n] = limit;
    p->first[++p->n] = p->n_links;
}

static bool is_scaleup(const fab_fabric *f, fab_link_id link) {
    return fab_class_of(f, link)->kind == FAB_LINK_SCALEUP;
}

static fab_phase_seconds finish(problem *p, const fab_phase *phase, double *ends_s) {
    fab_error err = {0};
    double *finish_s = calloc((size_t)p->n + 1, sizeof *finish_s);
    fab_phase_seconds out = {0};
    const fab_sharing sharing = {.n_flows = p->n,
                                 .n_links = p->f->n_links,
                                 .capacity = p->capacity,
                                 .first = p->first,
                                 .link = p->link,
                                 .share = p->share,
                                 .weight = p->weight,
                                 .limit = p->limit};
    if (ends_s != NULL) {
        oracle_finish(&sharing, p->bits, finish_s);
    } else {
        must(fab_fluid_finish(&sharing, p->bits, NULL, finish_s, &err), &err);
    }
    for (uint32_t i = 0; i < p->n; i++) {
        out.transfer_s = fmax(out.transfer_s, finish_s[i]);
    }
    double relay_s = 0;
    for (uint32_t l = 0; l < p->f->n_links; l++) {
        if (p->relayed[l] > 0) {
            relay_s = fmax(relay_s, p->relayed[l] / (fab_class_of(p->f, l)->capacity_bps * p->mask->residual[l]));
        }
    }
    out.transfer_s += relay_s;
    for (uint64_t i = 0; ends_s != NULL && i < phase->n_flows; i++) {
        ends_s[i] = 0;
    }
    for (uint32_t i = 0; ends_s != NULL && i < p->n; i++) {
        ends_s[p->flow_of[i]] = fmax(ends_s[p->flow_of[i]], finish_s[i] + relay_s);
    }
    out.latency_s =
        phase->n_flows > 0 ? (double)phase->steps * (double)phase->executions * p->latency_s + p->copy_s : 0;
    free(finish_s);
    free(p->capacity);
    free(p->relayed);
    free(p->weight);
    free(p->limit);
    free(p->bits);
    free(p->first);
    free(p->link);
    free(p->flow_of);
    free(p->share);
    return out;
}

/* 8 x window / (round trip of the flow's longest path + queueing) */
static double window_bps(const fab_router *router, double longest_s, bool leaves) {
    return router->facts.reorders && leaves
               ? 8 * router->facts.window_bytes / (2 * longest_s + router->facts.queueing_s)
               : (double)INFINITY;
}

fab_phase_seconds oracle_ends_of_routes(const fab_fabric *f, const fab_router *router, const fab_mask *mask,
                                        const fab_phase *phase, const fab_routes *routes, double *ends_s) {
    uint32_t n_paths = routes->flow_first[routes->n_flows];
    problem p = open_problem(f, mask, n_paths, routes->path_first[n_paths]);
    double slowest_s = -1;
    for (uint32_t flow = 0; flow < routes->n_flows; flow++) {
        uint32_t first = routes->flow_first[flow];
        uint32_t n = routes->flow_first[flow + 1] - first;
        double bits = 8.0 * (double)fab_phase_flow(phase, flow).bytes / n;
        double longest_s = 0;
        bool leaves = false;
        for (int pass = 0; pass < 2; pass++) { /* the flow's window follows from all of its paths */
            for (uint32_t path = first; path < first + n; path++) {
                double latency_s = 0;
                bool out = false;
                for (size_t i = routes->path_first[path]; i < routes->path_first[path + 1]; i++) {
                    latency_s += fab_class_of(f, routes->link[i])->latency_s;
                    out = out || fab_class_of(f, routes->link[i])->kind == FAB_LINK_ACCESS;
                }
                longest_s = fmax(longest_s, latency_s);
                leaves = leaves || out;
                for (size_t i = routes->path_first[path]; pass == 1 && i < routes->path_first[path + 1]; i++) {
                    if (f->stores_and_forwards && out && is_scaleup(f, routes->link[i])) {
                        p.relayed[routes->link[i]] += bits;
                    } else {
                        put(&p, routes->link[i], 1);
                    }
                }
                if (pass == 1) {
                    end_flow(&p, flow, 1.0 / n, bits, window_bps(router, longest_s, leaves) / n);
                }
            }
        }
        slowest_s = leaves ? fmax(slowest_s, longest_s) : slowest_s;
    }
    p.latency_s = slowest_s >= 0 ? slowest_s : p.latency_s;
    p.copy_s = slowest_s >= 0 ? fab_phase_copy_s(f, phase) : 0;
    return finish(&p, phase, ends_s);
}

/* Whether a part of a flow has a way left. */
static bool has_way(const fab_fabric *f, const fab_router *router, const fab_mask *mask, const fab_link_id *segment,
                    uint32_t n) {
    const fab_next_hops *t = router->next_hops;
    const uint32_t base = f->first[FAB_NODE_SWITCH];
    fab_node_id src = FAB_NONE;
    fab_node_id dst = FAB_NONE;
    for (uint32_t i = 0; i < n; i++) {
        if (mask->residual[segment[i]] == 0) {
            return false;
        }
        if (fab_class_of(f, segment[i])->kind == FAB_LINK_ACCESS) {
            src = fab_is_up(segment[i]) ? fab_head(f, segment[i]) : src;
            dst = fab_is_up(segment[i]) ? dst : fab_tail(f, segment[i]);
        }
    }
    return src == dst || fab_next_hops_get(t, src - base, t->leaf_index[dst - base]).count > 0;
}

fab_phase_seconds oracle_ends_of_split(const fab_fabric *f, const fab_router *router, const fab_mask *mask,
                                       const fab_phase *phase, const fab_offer *offer, double *ends_s) {
    fab_error err = {0};
    fab_demand demand = {0};
    fab_dag *dag = NULL;
    fab_split split = {0};
    fab_pair_walk *walk = NULL;
    double slowest_s = -1;
    must(fab_demand_init_left(f, &router->ports, router->next_hops, phase, offer, mask->dead_link, &demand, &err),
         &err);
    must(fab_dag_new(f, router->next_hops, &dag, &err), &err);
    must(router->engine->split(router, dag, &demand, NULL, &split, &err), &err);
    must(fab_pair_walk_new(f, router->next_hops, &split, &walk, &err), &err);
    size_t most = (size_t)f->n_links;
    problem p = open_problem(f, mask, phase->n_flows, phase->n_flows * most);
    double *longest = calloc((size_t)demand.n_pairs + 1, sizeof *longest);
    double *latency = calloc((size_t)f->n_links + 1, sizeof *latency);
    for (uint32_t l = 0; l < f->n_links; l++) {
        latency[l] = fab_class_of(f, l)->latency_s;
    }
    must(fab_split_fold(dag, &split, FAB_FOLD_LONGEST, latency, &demand, longest, &err), &err);
    for (uint64_t flow = 0; flow < phase->n_flows; flow++) {
        fab_flow about = fab_phase_flow(phase, flow);
        double bits = 8.0 * (double)about.bytes;
        double longest_s = 0;
        bool leaves = false;
        uint32_t n_left = 0;
        fab_link_id segments[FAB_FLOW_SEGMENT_LINKS];
        for (uint32_t part = 0; part < demand.n_parts; part++) {
            uint32_t n = fab_flow_segments(f, &router->ports, about.src, about.dst, part, segments);
            n_left += has_way(f, router, mask, segments, n);
        }
        for (uint32_t part = 0; part < demand.n_parts; part++) {
            uint32_t n = fab_flow_segments(f, &router->ports, about.src, about.dst, part, segments);
            if (!has_way(f, router, mask, segments, n)) {
                continue;
            }
            bool out = false;
            double latency_s = 0;
            for (uint32_t i = 0; i < n; i++) {
                out = out || fab_class_of(f, segments[i])->kind == FAB_LINK_ACCESS;
                latency_s += fab_class_of(f, segments[i])->latency_s;
            }
            for (uint32_t i = 0; i < n; i++) {
                if (f->stores_and_forwards && out && is_scaleup(f, segments[i])) {
                    p.relayed[segments[i]] += bits / n_left;
                } else {
                    put(&p, segments[i], 1.0 / n_left);
                }
            }
            uint32_t pair = fab_demand_pair(&demand, f, &router->ports, router->next_hops, phase, flow, part);
            if (pair != FAB_NONE) {
                fab_pair_links links;
                uint32_t dst = 0;
                while (demand.first[dst + 1] <= pair) {
                    dst++;
                }
                must(fab_pair_walk_get(walk, demand.src[pair], dst, &links, &err), &err);
                for (uint32_t i = 0; i < links.n; i++) {
                    put(&p, links.link[i], links.share[i] / n_left);
                }
                latency_s += longest[pair];
            }
            longest_s = fmax(longest_s, latency_s);
            leaves = leaves || out;
        }
        end_flow(&p, (uint32_t)flow, 1, bits, window_bps(router, longest_s, leaves));
        slowest_s = leaves ? fmax(slowest_s, longest_s) : slowest_s;
    }
    p.latency_s = slowest_s >= 0 ? slowest_s : p.latency_s;
    p.copy_s = slowest_s >= 0 ? fab_phase_copy_s(f, phase) : 0;
    free(longest);
    free(latency);
    fab_pair_walk_free(walk);
    fab_split_release(&split);
    fab_dag_free(dag);
    fab_demand_release(&demand);
    return finish(&p, phase, ends_s);
}
