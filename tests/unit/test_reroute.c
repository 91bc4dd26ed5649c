/* Routing again what a mask touches, against routing everything anew over next hops without the dead links. */
#include "fab/reroute.h"
#include "fab/rng.h"
#include "fabric_fixture.h"
#include "random_design.h"

#include <math.h>
#include <string.h>

typedef struct scene {
    char what[448];
    fab_fabric *f;
    fab_design design;
    fab_next_hops *whole;
    fab_traffic traffic;
    fab_router router;
    fab_offer offer;
    fab_baseline *base;
    fab_reroute *reroute;
    fab_mask mask;
} scene;

typedef struct tally {
    uint32_t scenes, masks, paths, untouched, moved, lost, planes, partly;
} tally;

/* False where the design cannot be built, the engine is not for it, or there are too many flows. */
static bool scene_init(scene *s, const char *design, const char *traffic, const char *engine, uint64_t most_flows,
                       uint64_t seed) {
    const fab_engine_spec spec = fixture_spec(engine);
    fab_error err = {0};
    memset(s, 0, sizeof *s);
    (void)snprintf(s->what, sizeof s->what, "%s, %s, %s", design, traffic, engine);
    if (fab_design_read(design, NULL, 0, &s->design, NULL) != FAB_OK ||
        fab_topology_build(&s->design.fabric, &s->f, NULL, NULL) != FAB_OK) {
        return false;
    }
    s->whole = fixture_next_hops(s->f);
    if (fab_n_gpus(s->f) < 2 || fab_router_init(&spec, s->f, s->whole, &s->router, &err) != FAB_OK) {
        cr_assert(fab_n_gpus(s->f) < 2 || err.code == FAB_EUNSUPPORTED, "%s: %s", s->what, err.text);
        return false;
    }
    if (fab_traffic_make(traffic, &s->design, s->f, seed, &s->traffic, &err) != FAB_OK ||
        s->traffic.phases[0].n_flows > most_flows) {
        return false;
    }
    cr_assert_eq(fab_offer_init(s->f, &s->router.ports, &s->traffic.phases[0], &s->offer, &err), FAB_OK, "%s",
                 err.text);
    const fab_baseline_request request = {&s->router, &s->traffic.phases[0], &s->offer, seed};
    cr_assert_eq(fab_baseline_new(&request, &s->base, &err), FAB_OK, "%s: %s", s->what, err.text);
    cr_assert_eq(fab_reroute_new(s->base, &s->reroute, &err), FAB_OK, "%s: %s", s->what, err.text);
    cr_assert_eq(fab_mask_init(s->f, NULL, &s->mask, &err), FAB_OK);
    return true;
}

static void scene_release(scene *s) {
    fab_mask_release(&s->mask);
    fab_reroute_free(s->reroute);
    fab_baseline_free(s->base);
    if (s->offer.fabric != NULL) {
        fab_offer_release(&s->offer);
    }
    fab_traffic_release(&s->traffic);
    fab_router_release(&s->router);
    fab_next_hops_free(s->whole);
    fab_fabric_free(s->f);
}

/* Mostly links between switches, some of anything, some of it slow. */
static void draw_mask(scene *s, fab_rng *rng, uint32_t most) {
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

/* Nearly all links of a switch. */
static void draw_switch(scene *s, fab_rng *rng) {
    fab_component c[200];
    size_t n = 0;
    fab_node_id v = s->f->first[FAB_NODE_SWITCH] + (uint32_t)fab_rng_below(rng, fab_n_switches(s->f));
    for (uint32_t k = s->f->out_first[v]; k < s->f->out_first[v + 1]; k++) {
        if (fab_class_of(s->f, s->f->out_link[k])->kind == FAB_LINK_FABRIC && n < 200 && fab_rng_below(rng, 16) > 0) {
            c[n++] = (fab_component){
                .kind = FAB_COMPONENT_LINK, .id = s->f->out_link[k], .fraction = fab_rng_below(rng, 8) == 0 ? 0.25 : 0};
        }
    }
    cr_assert_eq(fab_mask_set(&s->mask, c, n, NULL), FAB_OK);
}

static uint32_t index_of(const scene *s, fab_node_id v) {
    return v - s->f->first[FAB_NODE_SWITCH];
}

/* Whether there is a way over one of the flow's NICs in one plane. `out`: its legs. */
static bool has_way(const scene *s, const fab_next_hops *t, const fab_flow *flow, uint32_t nic, uint32_t plane) {
    fab_link_id leg[FAB_FLOW_LEG_LINKS];
    uint32_t n =
        fab_flow_legs(s->f, &s->router.ports, flow->src, flow->dst, nic + s->router.ports.nics_per_gpu * plane, leg);
    fab_node_id src = FAB_NONE;
    fab_node_id dst = FAB_NONE;
    for (uint32_t i = 0; i < n; i++) {
        if (fab_mask_link_is_dead(&s->mask, leg[i])) {
            return false;
        }
        if (fab_class_of(s->f, leg[i])->kind == FAB_LINK_ACCESS) {
            src = fab_is_up(leg[i]) ? fab_head(s->f, leg[i]) : src;
            dst = fab_is_up(leg[i]) ? dst : fab_tail(s->f, leg[i]);
        }
    }
    return n > 0 && (src == dst || fab_next_hops_get(t, index_of(s, src), t->leaf_index[index_of(s, dst)]).count > 0);
}

/* A path that is not the first choice still holds together, over minimal next hops. */
static void check_path(const scene *s, const fab_next_hops *t, const fab_link_id *link, size_t n,
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

static bool crosses_dead(const scene *s, const fab_link_id *link, size_t n) {
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

static route *routes_of(const scene *s, const fab_rerouted *out, uint32_t n_paths) {
    const fab_routes *before = fab_baseline_routes(s->base);
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
static void check_loads(const scene *s, const fab_rerouted *out, const double *expected) {
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
        double left = s->mask.left[l];
        cr_assert(fabs(out->load[l] - expected[l]) <= 1e-9 * most, "%s: link %u carries %.17g, not %.17g", s->what, l,
                  out->load[l], expected[l]);
        cr_assert(out->in_full || changed[l] || out->load[l] == before[l], "%s: link %u changed", s->what, l);
        if (kind == FAB_LINK_ACCESS || kind == FAB_LINK_FABRIC) {
            double ratio = left > 0 ? out->load[l] * (1 / fab_class_of(s->f, l)->capacity_bps) / left : 0;
            link = ratio > worst ? l : link;
            worst = fmax(worst, ratio);
        }
    }
    cr_assert_eq(out->worst_ratio, worst, "%s: worst %.17g, not %.17g", s->what, out->worst_ratio, worst);
    cr_assert_eq(out->worst_link, link, "%s: worst is link %u, not %u", s->what, out->worst_link, link);
    free(changed);
}

/* Flow by flow over tables that know nothing of the whole fabric. */
static void check_flows(scene *s, const char *engine, uint64_t seed, const fab_rerouted *out, tally *sum) {
    const fab_phase *phase = &s->traffic.phases[0];
    const fab_routes *before = fab_baseline_routes(s->base);
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
    fresh.healthy = s->whole;
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        fab_status status = fab_route_flows(&fresh, phase, i, 1, NULL, seed, &alone, NULL);
        uint32_t n_paths = before->flow_first[i + 1] - before->flow_first[i];
        double part = fab_offer_rate(&s->offer, phase, i) / n_paths;
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
                sum->planes += s->f->n_planes > 1;
            } else {
                uint32_t ways = 0;
                for (uint32_t plane = 0; plane < s->f->n_planes; plane++) {
                    ways += has_way(s, t, &flow, k % s->router.ports.nics_per_gpu, plane);
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
    cr_assert_eq(out->n_moved, n_moved, "%s: %u paths moved, not %u", s->what, out->n_moved, n_moved);
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

/* Engines that look at all of the traffic: the flows that are left, on their own. */
static void check_whole(scene *s, const char *engine, uint64_t seed, const fab_rerouted *out, tally *sum) {
    const fab_engine_spec spec = fixture_spec(engine);
    const fab_phase *phase = &s->traffic.phases[0];
    const fab_routes *before = fab_baseline_routes(s->base);
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
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        bool gone = false;
        for (uint32_t nic = 0; nic < s->router.ports.nics_per_gpu; nic++) {
            gone = gone || !has_way(s, t, &flow, nic, 0);
        }
        if (gone) {
            sum->lost++;
            continue;
        }
        rest.src[n] = flow.src;
        rest.dst[n] = flow.dst;
        rest.bytes[n] = flow.bytes;
        rate[n] = fab_offer_rate(&s->offer, phase, i);
        flow_of[n++] = i;
    }
    cr_assert_eq(out->n_disconnected, phase->n_flows - n, "%s", s->what);
    rest.n_flows = n;
    if (fresh.splits) {
        fab_offer offer = s->offer;
        fab_demand demand = {0};
        fab_split split = {0};
        fab_dag *dag = NULL;
        offer.rate = rate;
        cr_assert_eq(fab_demand_init(s->f, &fresh.ports, t, &rest, &offer, &demand, &err), FAB_OK, "%s", err.text);
        cr_assert_eq(fab_dag_new(s->f, t, &dag, &err), FAB_OK);
        cr_assert_eq(fresh.engine->split(&fresh, dag, &demand, NULL, &split, &err), FAB_OK, "%s", err.text);
        memcpy(load, demand.leg_rate, s->f->n_links * sizeof *load);
        cr_assert_eq(fab_split_load(dag, &split, &demand, demand.rate, load, &err), FAB_OK, "%s", err.text);
        fab_split_release(&split);
        fab_dag_free(dag);
        fab_demand_release(&demand);
    } else {
        fab_routes routes = {0};
        route *now = routes_of(s, out, before->flow_first[phase->n_flows]);
        cr_assert_eq(fab_route_flows(&fresh, &rest, 0, n, rate, seed, &routes, &err), FAB_OK, "%s", err.text);
        fab_route_load(s->f, &routes, rate, load);
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t p = routes.flow_first[i]; p < routes.flow_first[i + 1]; p++) {
                const route *r = &now[before->flow_first[flow_of[i]] + p - routes.flow_first[i]];
                cr_assert_eq(r->n, routes.path_first[p + 1] - routes.path_first[p], "%s", s->what);
                cr_assert(memcmp(r->link, routes.link + routes.path_first[p], r->n * sizeof *r->link) == 0, "%s",
                          s->what);
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

/* What crosses a dead link is lost, and nothing else changes. */
static void check_failed(scene *s, tally *sum) {
    const fab_phase *phase = &s->traffic.phases[0];
    const fab_routes *before = fab_baseline_routes(s->base);
    fab_rerouted out;
    cr_assert_eq(fab_reroute_apply(s->reroute, &s->mask, FAB_WHEN_FAILED, &out, NULL), FAB_OK);
    double *expected = calloc((size_t)s->f->n_links + 1, sizeof *expected);
    uint32_t n_lost = 0;
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        uint32_t first = before->flow_first[i];
        uint32_t n_gone = 0;
        double part = fab_offer_rate(&s->offer, phase, i) / (before->flow_first[i + 1] - first);
        for (uint32_t p = first; p < before->flow_first[i + 1]; p++) {
            const fab_link_id *link = before->link + before->path_first[p];
            size_t n = before->path_first[p + 1] - before->path_first[p];
            bool gone = crosses_dead(s, link, n);
            n_gone += gone;
            for (size_t k = 0; k < n && !gone; k++) {
                expected[link[k]] += part;
            }
        }
        n_lost += n_gone > 0;
    }
    cr_assert_eq(out.n_disconnected, n_lost, "%s", s->what);
    cr_assert_eq(out.on_loss, FAB_LOSS_NONE);
    check_loads(s, &out, expected);
    sum->lost += n_lost;
    free(expected);
}

static void check_masks(scene *s, const char *engine, uint32_t n_masks, uint64_t seed, fab_rng *rng, tally *sum) {
    static const uint32_t MOST[] = {4, 16, 4, 40};
    const bool whole = s->router.splits || s->router.engine->route != NULL;
    double *first = calloc((size_t)s->f->n_links + 1, sizeof *first);
    sum->scenes++;
    for (uint32_t i = 0; i < n_masks; i++) {
        fab_rerouted out;
        fab_error err = {0};
        if (i % 6 == 5) {
            draw_switch(s, rng);
        } else {
            draw_mask(s, rng, MOST[i % 4]);
        }
        fab_status status = fab_reroute_apply(s->reroute, &s->mask, FAB_WHEN_CONVERGED, &out, &err);
        if (status == FAB_EUNSUPPORTED && whole && s->f->n_planes > 1) {
            continue;
        }
        cr_assert_eq(status, FAB_OK, "%s: %s", s->what, err.text);
        sum->masks++;
        if (whole && out.in_full) {
            check_whole(s, engine, seed, &out, sum);
        } else if (!whole) {
            check_flows(s, engine, seed, &out, sum);
        }
        memcpy(first, out.load, s->f->n_links * sizeof *first);
        if (!s->router.splits) {
            check_failed(s, sum);
        }
        cr_assert_eq(fab_reroute_apply(s->reroute, &s->mask, FAB_WHEN_CONVERGED, &out, &err), FAB_OK);
        cr_assert(memcmp(first, out.load, s->f->n_links * sizeof *first) == 0, "%s: not the same again", s->what);
    }
    free(first);
}

static void check_engine(const char *engine, uint32_t n_rounds, uint64_t most_flows, uint64_t seed, tally *sum) {
    fab_rng rng = fab_rng_make(seed, 7);
    fab_rng masks = fab_rng_make(seed, 8);
    static const char *const TRAFFIC[] = {"pattern:permutation", "pattern:all-to-all", "pattern:shift,by=3",
                                          "pattern:incast"};
    for (uint32_t round = 0; round < n_rounds; round++) {
        random_design d = random_design_next(&rng, 12);
        scene s;
        if (scene_init(&s, d.text, random_word(&rng, TRAFFIC, 4), engine, most_flows, round)) {
            check_masks(&s, engine, 6, round, &masks, sum);
        }
        scene_release(&s);
    }
    cr_expect_gt(sum->masks, n_rounds, "%s: %u masks", engine, sum->masks);
    cr_expect_gt(sum->lost, 20, "%s: %u lost", engine, sum->lost);
}

/* Several words of leaves, four planes, more members of a group than are listed, routes longer than a byte counts, and
 * links of several rates. */
Test(reroute, large) {
    static const char *const DESIGNS[] = {"fat-tree:k=12",
                                          "rail-spine:gpus=256,gpus-per-server=8,radix=8,planes=4,taper=2",
                                          "fat-tree:gpus=144,gpus-per-server=1,radix=144,taper=0.5",
                                          "torus:gpus=300,gpus-per-server=1,torus=300,radix=8",
                                          "torus:gpus=150,gpus-per-server=1,torus=5,6,5,radix=8",
                                          "dragonfly:gpus=228,gpus-per-server=1,dragonfly=2,6,3",
                                          "clos:gpus=96,gpus-per-server=1,radix=8,taper=3:2"};
    static const char *const ENGINES[] = {"ecmp,qp=2", "ecmp,qp=3,member-loss=resilient", "dmodk",
                                          "ecmp,member-loss=resilient,hash=xor/crc32c/crc16", "pinned"};
    tally sum = {0};
    uint32_t n_scenes = 0;
    for (size_t d = 0; d < sizeof DESIGNS / sizeof DESIGNS[0]; d++) {
        for (size_t e = 0; e < sizeof ENGINES / sizeof ENGINES[0]; e++) {
            fab_rng rng = fab_rng_make(d, e);
            scene s;
            if (scene_init(&s, DESIGNS[d], "pattern:permutation", ENGINES[e], 20000, e)) {
                check_masks(&s, ENGINES[e], 6, e, &rng, &sum);
                n_scenes++;
            }
            scene_release(&s);
        }
    }
    cr_expect_eq(n_scenes, 4 * 5 + 3 * 3, "%u scenes", n_scenes); /* dmodk and pinned need a tree */
    cr_expect_gt(sum.moved, 5000, "%u moved", sum.moved);
    cr_expect_gt(sum.lost, 100, "%u lost", sum.lost);
    cr_expect_gt(sum.planes, 100, "%u over another plane", sum.planes);
}

Test(reroute, modulo) {
    static const char *const ENGINES[] = {"ecmp",
                                          "ecmp,qp=3,hash=crc32c,offset=0",
                                          "ecmp,hash=ideal,qp=2",
                                          "ecmp,weights=capacity,qp=2",
                                          "ecmp,hash=crc16/xor,spread=round-robin,qp=2",
                                          "dmodk",
                                          "pinned",
                                          "pinned,slices=3"};
    for (size_t i = 0; i < sizeof ENGINES / sizeof ENGINES[0]; i++) {
        tally sum = {0};
        check_engine(ENGINES[i], 60, 20000, i, &sum);
        cr_expect_gt(sum.moved, 200, "%s: %u moved", ENGINES[i], sum.moved);
        cr_expect_gt(sum.untouched, sum.paths / 20, "%s: %u of %u untouched", ENGINES[i], sum.untouched, sum.paths);
        cr_expect_gt(sum.planes, 10, "%s: %u over another plane", ENGINES[i], sum.planes);
    }
}

Test(reroute, resilient) {
    static const char *const ENGINES[] = {"ecmp,member-loss=resilient", "ecmp,member-loss=resilient,hash=ideal,qp=2",
                                          "ecmp,member-loss=resilient,weights=capacity"};
    for (size_t i = 0; i < sizeof ENGINES / sizeof ENGINES[0]; i++) {
        tally sum = {0};
        check_engine(ENGINES[i], 60, 20000, i, &sum);
        cr_expect_gt(sum.moved, 200, "%s: %u moved", ENGINES[i], sum.moved);
        cr_expect_gt(sum.untouched, sum.paths / 4, "%s: %u of %u untouched", ENGINES[i], sum.untouched, sum.paths);
    }
}

Test(reroute, reconverges) {
    static const char *const ENGINES[] = {"updn",
                                          "adaptive",
                                          "adaptive,view=downstream,qp=2",
                                          "spray",
                                          "spray,weights=capacity",
                                          "optimal,method=weights"};
    for (size_t i = 0; i < sizeof ENGINES / sizeof ENGINES[0]; i++) {
        tally sum = {0};
        check_engine(ENGINES[i], strncmp(ENGINES[i], "optimal", 7) == 0 ? 20 : 50, 2000, i, &sum);
    }
}
