/**
 * @file reroute_fixture.h
 * A phase on a random fabric under a mask, and what routing everything anew over next hops without the dead links says
 * about it.
 */
#pragma once

#include "fab/reroute.h"
#include "fab/rng.h"
#include "fabric_fixture.h"
#include "route_load.h"
#include "random_design.h"
#include "split/split_rule.h"

#include <math.h>
#include <string.h>

typedef struct scene {
    char what[768];
    fab_fabric *f;
    fab_design design;
    fab_next_hops *healthy;
    fab_traffic traffic;
    fab_router router;
    fab_offer offer;
    fab_baseline *base;
    fab_reroute *reroute;
    fab_mask mask;
    const fab_phase *phase; /* as it is to be routed: the first of the traffic, or what moves made of it */
    const fab_offer *phase_offer;
} scene;

typedef struct tally {
    uint32_t scenes, masks, paths, untouched, moved, lost, planes, nics, partly;
} tally;

/* False where the design cannot be built, the engine is not for it, or there are too many flows. */
static inline bool scene_init(scene *s, const char *design, const char *traffic, const char *engine,
                              uint64_t most_flows, uint64_t seed) {
    const fab_engine_spec spec = fixture_spec(engine);
    fab_error err = {0};
    memset(s, 0, sizeof *s);
    (void)snprintf(s->what, sizeof s->what, "%s, %s, %s", design, traffic, engine);
    if (fab_design_read(design, NULL, 0, &s->design, NULL) != FAB_OK ||
        fab_topology_build(&s->design.fabric, &s->f, NULL, NULL) != FAB_OK) {
        return false;
    }
    s->healthy = fixture_next_hops(s->f);
    if (fab_n_gpus(s->f) < 2 || fab_router_init(&spec, s->f, s->healthy, &s->router, &err) != FAB_OK) {
        cr_assert(fab_n_gpus(s->f) < 2 || err.code == FAB_EUNSUPPORTED, "%s: %s", s->what, err.text);
        return false;
    }
    if (fab_traffic_make(traffic, &s->design, s->f, seed, &s->traffic, &err) != FAB_OK ||
        s->traffic.phases[0].n_flows > most_flows) {
        return false;
    }
    cr_assert_eq(fab_offer_init(s->f, &s->router.ports, &s->traffic.phases[0], &s->offer, &err), FAB_OK, "%s",
                 err.text);
    const fab_baseline_request request = {
        .router = &s->router, .phase = &s->traffic.phases[0], .offer = &s->offer, .seed = seed};
    cr_assert_eq(fab_baseline_new(&request, &s->base, &err), FAB_OK, "%s: %s", s->what, err.text);
    cr_assert_eq(fab_reroute_new(s->base, &s->reroute, &err), FAB_OK, "%s: %s", s->what, err.text);
    cr_assert_eq(fab_mask_init(s->f, NULL, &s->mask, &err), FAB_OK);
    s->phase = &s->traffic.phases[0];
    s->phase_offer = &s->offer;
    return true;
}

static inline void scene_release(scene *s) {
    fab_mask_release(&s->mask);
    fab_reroute_free(s->reroute);
    fab_baseline_free(s->base);
    if (s->offer.fabric != NULL) {
        fab_offer_release(&s->offer);
    }
    fab_traffic_release(&s->traffic);
    fab_router_release(&s->router);
    fab_next_hops_free(s->healthy);
    fab_fabric_free(s->f);
}

/* Mostly links between switches, some of anything, some of it slow. */
static inline void draw_mask(scene *s, fab_rng *rng, uint32_t most) {
    fab_component c[64];
    size_t n = 1 + fab_rng_below(rng, most);
    for (size_t i = 0; i < n;) {
        c[i].kind = fab_rng_below(rng, 6) == 0 ? (fab_component_kind)fab_rng_below(rng, FAB_COMPONENT_RACK)
                                               : FAB_COMPONENT_LINK;
        uint32_t count = fab_component_count(s->f, NULL, c[i].kind);
        c[i].id = (uint32_t)fab_rng_below(rng, c[i].kind <= FAB_COMPONENT_PORT ? s->f->n_links : count);
        c[i].fraction = fab_rng_below(rng, 8) == 0 ? 0.5 : 0;
        bool inside = c[i].kind == FAB_COMPONENT_LINK && fab_class_of(s->f, c[i].id)->kind != FAB_LINK_FABRIC;
        i += fab_component_check(s->f, NULL, &c[i], NULL) == FAB_OK && (!inside || fab_rng_below(rng, 8) == 0);
        n -= i == 0 && fab_n_switches(s->f) == 1 && n > 1;
    }
    cr_assert_eq(fab_mask_set(&s->mask, c, n, NULL), FAB_OK);
}

static inline uint32_t index_of(const scene *s, fab_node_id v) {
    return v - s->f->first[FAB_NODE_SWITCH];
}

/* Whether there is a way over one of the flow's NICs in one plane. `out`: its legs. */
static inline bool has_way(const scene *s, const fab_next_hops *t, const fab_flow *flow, uint32_t nic, uint32_t plane) {
    fab_link_id segment[FAB_FLOW_SEGMENT_LINKS];
    uint32_t n = fab_flow_segments(s->f, &s->router.ports, flow->src, flow->dst,
                                   nic + s->router.ports.nics_per_gpu * plane, segment);
    fab_node_id src = FAB_NONE;
    fab_node_id dst = FAB_NONE;
    for (uint32_t i = 0; i < n; i++) {
        if (fab_mask_link_is_dead(&s->mask, segment[i])) {
            return false;
        }
        if (fab_class_of(s->f, segment[i])->kind == FAB_LINK_ACCESS) {
            src = fab_is_up(segment[i]) ? fab_head(s->f, segment[i]) : src;
            dst = fab_is_up(segment[i]) ? dst : fab_tail(s->f, segment[i]);
        }
    }
    return n > 0 && (src == dst || fab_next_hops_get(t, index_of(s, src), t->leaf_index[index_of(s, dst)]).count > 0);
}

/* A path that is not the first choice still holds together, over minimal next hops. */
static inline void check_path(const scene *s, const fab_next_hops *t, const fab_link_id *link, size_t n,
                              const fab_flow *flow) {
    cr_assert_eq(fab_tail(s->f, link[0]), flow->src, "%s", s->what);
    cr_assert_eq(fab_head(s->f, link[n - 1]), flow->dst, "%s", s->what);
    size_t last = n;
    while (last > 0 && fab_class_of(s->f, link[last - 1])->kind != FAB_LINK_ACCESS) {
        last--;
    }
    uint32_t leaf = last > 0 ? t->leaf_index[index_of(s, fab_tail(s->f, link[last - 1]))] : 0;
    for (size_t i = 0; i < n; i++) {
        cr_assert(!fab_mask_link_is_dead(&s->mask, link[i]), "%s", s->what);
        cr_assert(i == 0 || fab_head(s->f, link[i - 1]) == fab_tail(s->f, link[i]), "%s", s->what);
        if (fab_class_of(s->f, link[i])->kind == FAB_LINK_FABRIC && s->router.engine->next == NULL) {
            fab_next_hop_list list = fab_next_hops_get(t, index_of(s, fab_tail(s->f, link[i])), leaf);
            bool found = false;
            for (uint32_t k = 0; k < list.count; k++) {
                found = found || fab_next_hop(&list, k) == link[i];
            }
            cr_assert(found, "%s: not a next hop", s->what);
        }
    }
}

static inline bool crosses_dead(const scene *s, const fab_link_id *link, size_t n) {
    bool dead = false;
    for (size_t i = 0; i < n; i++) {
        dead = dead || fab_mask_link_is_dead(&s->mask, link[i]);
    }
    return dead;
}

/* What the call says about a path. */
typedef struct route {
    const fab_link_id *link;
    size_t n;
    bool touched;
} route;

static inline route *routes_of(const scene *s, const fab_rerouted *out, uint32_t n_paths) {
    const fab_routes *before = out->routes != NULL ? out->routes : fab_baseline_routes(s->base);
    route *r = calloc((size_t)n_paths + 1, sizeof *r);
    for (uint32_t p = 0; p < n_paths; p++) {
        r[p] = (route){before->link + before->path_first[p], before->path_first[p + 1] - before->path_first[p], false};
    }
    for (uint32_t i = 0; i < out->n_touched; i++) {
        cr_assert(!r[out->path[i]].touched, "%s: path %u twice", s->what, out->path[i]);
        r[out->path[i]] = (route){out->link + out->path_first[i], out->path_first[i + 1] - out->path_first[i], true};
    }
    return r;
}

/* Loads are those expected, changes are listed, and the fullest link is the lowest that has the largest ratio. */
static inline void check_loads(const scene *s, const fab_rerouted *out, const double *expected) {
    const double *before = fab_baseline_load(s->base);
    bool *changed = calloc((size_t)s->f->n_links + 1, sizeof *changed);
    double most = 0;
    double worst = -1;
    fab_link_id link = FAB_NONE;
    for (uint32_t l = 0; l < s->f->n_links; l++) {
        most = fmax(most, expected[l]);
    }
    for (size_t i = 0; i < out->n_changed; i++) {
        changed[out->changed[i]] = true;
    }
    for (uint32_t l = 0; l < s->f->n_links; l++) {
        fab_link_kind kind = fab_class_of(s->f, l)->kind;
        double residual = s->mask.residual[l];
        cr_assert(fabs(out->load[l] - expected[l]) <= 1e-9 * most, "%s: link %u carries %.17g, not %.17g", s->what, l,
                  out->load[l], expected[l]);
        cr_assert(out->in_full || changed[l] || out->load[l] == before[l], "%s: link %u changed", s->what, l);
        if (kind == FAB_LINK_ACCESS || kind == FAB_LINK_FABRIC) {
            double ratio = residual > 0 ? out->load[l] * (1 / fab_class_of(s->f, l)->capacity_bps) / residual : 0;
            link = ratio > worst ? l : link;
            worst = fmax(worst, ratio);
        }
    }
    cr_assert_eq(out->worst_ratio, worst, "%s: worst %.17g, not %.17g", s->what, out->worst_ratio, worst);
    cr_assert_eq(out->worst_link, link, "%s: worst is link %u, not %u", s->what, out->worst_link, link);
    free(changed);
}

/* Flow by flow over tables that know nothing of the whole fabric. */
static inline void check_flows(scene *s, const char *engine, uint64_t seed, const fab_rerouted *out, tally *sum) {
    const fab_phase *phase = s->phase;
    const fab_routes *before = out->routes != NULL ? out->routes : fab_baseline_routes(s->base);
    const fab_engine_spec spec = fixture_spec(engine);
    fab_next_hops *t = NULL;
    fab_router fresh;
    fab_routes alone = {0};
    double *expected = calloc((size_t)s->f->n_links + 1, sizeof *expected);
    uint8_t *lost = calloc((size_t)phase->n_flows + 1, 1);
    uint32_t n_lost = 0;
    uint32_t n_moved = 0;
    double lost_bps = 0;
    route *now = routes_of(s, out, before->flow_first[phase->n_flows]);
    cr_assert_eq(fab_next_hops_new(s->f, s->mask.dead_link, &t, NULL), FAB_OK);
    cr_assert_eq(fab_router_init(&spec, s->f, t, &fresh, NULL), FAB_OK);
    fresh.healthy = s->healthy;
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        fab_status status = fab_route_flows(&fresh, phase, i, 1, NULL, seed, &alone, NULL);
        uint32_t n_paths = before->flow_first[i + 1] - before->flow_first[i];
        double part = fab_offer_rate(s->phase_offer, phase, i) / n_paths;
        uint32_t n_gone = 0;
        for (uint32_t k = 0; k < n_paths; k++) {
            const route *r = &now[before->flow_first[i] + k];
            const fab_link_id *slow = status == FAB_OK ? alone.link + alone.path_first[k] : NULL;
            size_t n = status == FAB_OK ? alone.path_first[k + 1] - alone.path_first[k] : 0;
            sum->paths++;
            sum->untouched += !r->touched;
            if (status == FAB_OK && !crosses_dead(s, slow, n)) {
                cr_assert_eq(r->n, n, "%s: flow %u path %u: %zu links, not %zu", s->what, i, k, r->n, n);
                cr_assert(memcmp(r->link, slow, n * sizeof *slow) == 0, "%s: flow %u path %u", s->what, i, k);
            } else if (r->n > 0) {
                check_path(s, t, r->link, r->n, &flow);
                const uint32_t n_nics = s->router.ports.nics_per_gpu;
                const fab_link_id *own = before->link + before->path_first[before->flow_first[i] + k];
                bool same_nic = fab_head(s->f, own[0]) == fab_head(s->f, r->link[0]);
                sum->planes += s->f->n_planes > 1 && same_nic;
                sum->nics += n_nics > 1 && !same_nic;
            } else {
                uint32_t ways = 0;
                for (uint32_t plane = 0; plane < s->f->n_planes; plane++) {
                    for (uint32_t nic = 0; nic < s->router.ports.nics_per_gpu; nic++) {
                        ways += has_way(s, t, &flow, nic, plane);
                    }
                }
                cr_assert(ways == 0 || s->router.engine->next != NULL, "%s: flow %u path %u is lost", s->what, i, k);
                n_gone++;
                lost_bps += part;
            }
            size_t old = before->flow_first[i] + k;
            size_t n_old = before->path_first[old + 1] - before->path_first[old];
            n_moved += r->n > 0 && (r->n != n_old || memcmp(r->link, before->link + before->path_first[old],
                                                            r->n * sizeof *r->link) != 0);
            sum->moved += r->touched && r->n > 0;
            for (size_t j = 0; j < r->n; j++) {
                expected[r->link[j]] += part;
            }
        }
        lost[i] = n_gone > 0;
        n_lost += n_gone > 0;
        sum->lost += n_gone > 0;
        sum->partly += n_gone > 0 && n_gone < n_paths;
    }
    cr_assert(out->routes != NULL || out->n_moved == n_moved, /* renumbered paths have no route of before */
              "%s: %u paths moved, not %u", s->what, out->n_moved, n_moved);
    cr_assert_eq(out->n_disconnected, n_lost, "%s: %u flows lost, not %u", s->what, out->n_disconnected, n_lost);
    for (uint32_t i = 0; i < out->n_disconnected; i++) {
        cr_assert_eq(lost[out->disconnected[i]], 1, "%s", s->what);
        lost[out->disconnected[i]] = 0;
    }
    cr_assert(fabs(out->lost_bps - lost_bps) <= 1e-9 * fmax(lost_bps, 1), "%s", s->what);
    check_loads(s, out, expected);
    fab_routes_release(&alone);
    fab_router_release(&fresh);
    fab_next_hops_free(t);
    free(now);
    free(lost);
    free(expected);
}

/* What is asked of switches that split, part by part: those of a flow that have a way left carry all of it. */
static inline fab_demand demand_of_parts(const scene *s, const fab_next_hops *t, const fab_phase *rest,
                                         const double *rate, tally *sum) {
    const uint32_t n_nics = s->router.ports.nics_per_gpu;
    const uint32_t n_parts = n_nics * s->f->n_planes;
    const size_t n = t->n_leaves;
    fab_demand d = {.n_leaves = t->n_leaves, .n_parts = n_parts};
    double *asked = calloc(n * n + 1, sizeof *asked); /* [destination][source] */
    d.first = calloc(n + 1, sizeof *d.first);
    d.src = calloc(n * n + 1, sizeof *d.src);
    d.rate = calloc(n * n + 1, sizeof *d.rate);
    d.bytes = calloc(n * n + 1, sizeof *d.bytes);
    d.parts = calloc(n * n + 1, sizeof *d.parts);
    d.segment_rate = calloc((size_t)s->f->n_links + 1, sizeof *d.segment_rate);
    for (uint64_t i = 0; i < rest->n_flows; i++) {
        const fab_flow flow = fab_phase_flow(rest, i);
        uint32_t n_left = 0;
        for (uint32_t part = 0; part < n_parts; part++) {
            n_left += has_way(s, t, &flow, part % n_nics, part / n_nics);
        }
        sum->partly += n_left < n_parts;
        bool inside = false;
        for (uint32_t part = 0; part < n_parts && !inside; part++) {
            fab_link_id segment[FAB_FLOW_SEGMENT_LINKS];
            const uint32_t n_segments = fab_flow_segments(s->f, &s->router.ports, flow.src, flow.dst, part, segment);
            fab_node_id src = FAB_NONE;
            fab_node_id dst = FAB_NONE;
            if (!has_way(s, t, &flow, part % n_nics, part / n_nics)) {
                continue;
            }
            for (uint32_t k = 0; k < n_segments; k++) {
                if (fab_class_of(s->f, segment[k])->kind == FAB_LINK_ACCESS) {
                    src = fab_is_up(segment[k]) ? fab_head(s->f, segment[k]) : src;
                    dst = fab_is_up(segment[k]) ? dst : fab_tail(s->f, segment[k]);
                }
            }
            inside = src == FAB_NONE; /* its scale-up links carry it as a whole */
            for (uint32_t k = 0; k < n_segments; k++) {
                d.segment_rate[segment[k]] += rate[i] / (inside ? 1 : n_left);
            }
            if (src != dst) {
                const uint32_t from = t->leaf_index[index_of(s, src)];
                const uint32_t to = t->leaf_index[index_of(s, dst)];
                asked[to * n + from] += rate[i] / n_left;
            }
        }
    }
    for (size_t at = 0; at < n * n; at++) {
        if (asked[at] > 0) {
            d.src[d.n_pairs] = (uint32_t)(at % n);
            d.parts[d.n_pairs] = 1;
            d.rate[d.n_pairs++] = asked[at];
        }
        d.first[at / n + 1] = d.n_pairs;
    }
    free(asked);
    return d;
}

/* Engines that look at all of the traffic: the flows that are left, on their own. */
static inline void check_whole(scene *s, const char *engine, uint64_t seed, const fab_rerouted *out, tally *sum) {
    const fab_engine_spec spec = fixture_spec(engine);
    const fab_phase *phase = s->phase;
    const fab_routes *before = out->routes != NULL ? out->routes : fab_baseline_routes(s->base);
    fab_next_hops *t = NULL;
    fab_router fresh;
    fab_phase rest = fixture_list(phase);
    double *rate = calloc((size_t)phase->n_flows + 1, sizeof *rate);
    double *load = calloc((size_t)s->f->n_links + 1, sizeof *load);
    uint32_t *flow_of = calloc((size_t)phase->n_flows + 1, sizeof *flow_of);
    uint32_t n = 0;
    fab_error err = {0};
    cr_assert_eq(fab_next_hops_new(s->f, s->mask.dead_link, &t, NULL), FAB_OK);
    cr_assert_eq(fab_router_init(&spec, s->f, t, &fresh, NULL), FAB_OK);
    fresh.dead_link = s->mask.dead_link;
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        bool has_any = false;
        for (uint32_t nic = 0; nic < s->router.ports.nics_per_gpu; nic++) {
            for (uint32_t plane = 0; plane < s->f->n_planes; plane++) {
                has_any = has_any || has_way(s, t, &flow, nic, plane);
            }
        }
        if (!has_any) {
            sum->lost++;
            continue;
        }
        rest.src[n] = flow.src;
        rest.dst[n] = flow.dst;
        rest.bytes[n] = flow.bytes;
        rate[n] = fab_offer_rate(s->phase_offer, phase, i);
        flow_of[n++] = i;
    }
    cr_assert_eq(out->n_disconnected, phase->n_flows - n, "%s", s->what);
    rest.n_flows = n;
    if (fresh.facts.splits) {
        fab_demand demand = demand_of_parts(s, t, &rest, rate, sum);
        fab_split split = {0};
        fab_dag *dag = NULL;
        cr_assert_eq(fab_dag_new(s->f, t, &dag, &err), FAB_OK);
        cr_assert_eq(fresh.engine->split(&fresh, dag, &demand, NULL, &split, &err), FAB_OK, "%s", err.text);
        memcpy(load, demand.segment_rate, s->f->n_links * sizeof *load);
        cr_assert_eq(fab_split_load(dag, &split, &demand, demand.rate, load, &err), FAB_OK, "%s", err.text);
        fab_split_release(&split);
        fab_dag_free(dag);
        fab_demand_release(&demand);
    } else {
        fab_routes routes = {0};
        route *now = routes_of(s, out, before->flow_first[phase->n_flows]);
        cr_assert_eq(fab_route_flows(&fresh, &rest, 0, n, rate, seed, &routes, &err), FAB_OK, "%s", err.text);
        route_load(s->f, &routes, rate, load);
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t p = routes.flow_first[i]; p < routes.flow_first[i + 1]; p++) {
                const route *r = &now[before->flow_first[flow_of[i]] + p - routes.flow_first[i]];
                cr_assert_eq(r->n, routes.path_first[p + 1] - routes.path_first[p], "%s", s->what);
                cr_assert(memcmp(r->link, routes.link + routes.path_first[p], r->n * sizeof *r->link) == 0, "%s",
                          s->what);
                cr_assert(!crosses_dead(s, r->link, r->n), "%s: path %u", s->what, p);
                sum->paths++;
                sum->moved += r->touched;
            }
        }
        fab_routes_release(&routes);
        free(now);
    }
    check_loads(s, out, load);
    fab_router_release(&fresh);
    fab_next_hops_free(t);
    fixture_list_release(&rest);
    free(rate);
    free(load);
    free(flow_of);
}
