/* Rates under masks of a fabric: what rerouting hands over, found again from the base, against a whole solution of the
 * same paths. */
#include "fab/incremental.h"
#include "fab/reroute.h"
#include "fab/rng.h"
#include "fabric_fixture.h"
#include "oracle_max_min.h"

#include <math.h>
#include <string.h>

#define CLOSE 1e-9

typedef struct scene {
    const char *what;
    fab_design design;
    fab_fabric *f;
    fab_next_hops *healthy;
    fab_traffic traffic;
    fab_router router;
    fab_offer offer;
    fab_baseline *baseline;
    fab_reroute *reroute;
    fab_mask mask;
    uint64_t *first;
    double *capacity, *weight, *resized;
    fab_sharing sharing;
    fab_rates_base *base;
    fab_incremental *incremental;
    fab_max_min *solver;
} scene;

/* The baseline keeps pointers into it. */
static void scene_init(scene *s, const char *design, const char *engine) {
    memset(s, 0, sizeof *s);
    s->what = design;
    fab_error err = {0};
    s->f = fixture_build(design, &s->design, NULL);
    s->healthy = fixture_next_hops(s->f);
    s->traffic = fixture_traffic("pattern:permutation", &s->design, s->f, 3);
    s->router = fixture_router(engine, s->f, s->healthy);
    cr_assert_eq(fab_offer_init(s->f, &s->router.ports, &s->traffic.phases[0], &s->offer, &err), FAB_OK, "%s",
                 err.text);
    const fab_baseline_request request = {
        .router = &s->router, .phase = &s->traffic.phases[0], .offer = &s->offer, .seed = 5};
    cr_assert_eq(fab_baseline_new(&request, &s->baseline, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_reroute_new(s->baseline, &s->reroute, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_mask_init(s->f, NULL, &s->mask, &err), FAB_OK);
    const fab_routes *r = fab_baseline_routes(s->baseline);
    uint32_t n = r->flow_first[r->n_flows];
    s->first = calloc((size_t)n + 1, sizeof *s->first);
    s->weight = calloc(n, sizeof *s->weight);
    s->capacity = calloc(s->f->n_links, sizeof *s->capacity);
    s->resized = calloc(s->f->n_links, sizeof *s->resized);
    for (uint32_t f = 0; f < r->n_flows; f++) {
        for (uint32_t p = r->flow_first[f]; p < r->flow_first[f + 1]; p++) {
            s->weight[p] = 1.0 / (r->flow_first[f + 1] - r->flow_first[f]);
            s->first[p + 1] = r->path_first[p + 1];
        }
    }
    for (uint32_t l = 0; l < s->f->n_links; l++) {
        s->capacity[l] = fab_class_of(s->f, l)->capacity_bps;
    }
    s->sharing = (fab_sharing){.n_flows = n,
                               .n_links = s->f->n_links,
                               .capacity = s->capacity,
                               .first = s->first,
                               .link = r->link,
                               .weight = n > r->n_flows ? s->weight : NULL};
    cr_assert_eq(fab_rates_base_new(&s->sharing, &s->base, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_incremental_new(s->base, &s->incremental, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_max_min_new(&s->solver, &err), FAB_OK);
}

static void scene_release(scene *s) {
    fab_max_min_free(s->solver);
    fab_incremental_free(s->incremental);
    fab_rates_base_free(s->base);
    free(s->first);
    free(s->weight);
    free(s->capacity);
    free(s->resized);
    fab_mask_release(&s->mask);
    fab_reroute_free(s->reroute);
    fab_baseline_free(s->baseline);
    fab_offer_release(&s->offer);
    fab_traffic_release(&s->traffic);
    fab_router_release(&s->router);
    fab_next_hops_free(s->healthy);
    fab_fabric_free(s->f);
}

/* Mostly cables between switches, some of them slow, now and then a switch. */
static void draw_mask(scene *s, fab_rng *rng) {
    fab_component c[6];
    size_t n = 1 + fab_rng_below(rng, 6);
    for (size_t i = 0; i < n; i++) {
        bool is_switch = fab_rng_below(rng, 10) == 0;
        c[i] = (fab_component){.kind = is_switch ? FAB_COMPONENT_SWITCH : FAB_COMPONENT_LINK};
        do {
            c[i].id = (uint32_t)fab_rng_below(rng, is_switch ? fab_n_switches(s->f) : s->f->n_links);
        } while (!is_switch && fab_class_of(s->f, c[i].id)->kind != FAB_LINK_FABRIC);
        c[i].fraction = fab_rng_below(rng, 3) == 0 ? 0.25 * (double)(1 + fab_rng_below(rng, 3)) : 0;
    }
    cr_assert_eq(fab_mask_set(&s->mask, c, n, NULL), FAB_OK);
}

/* The rates of all paths under the mask, solved as a whole; 0 where lost. */
static void solve_whole(scene *s, const fab_rerouted *r, double *out) {
    const fab_sharing *healthy = &s->sharing;
    fab_error err = {0};
    fab_sharing residual = *healthy;
    uint64_t *first = calloc((size_t)healthy->n_flows + 1, sizeof *first);
    uint32_t *link = calloc(healthy->first[healthy->n_flows] * 4 + 1, sizeof *link);
    uint32_t *path = calloc(healthy->n_flows, sizeof *path);
    double *weight = calloc(healthy->n_flows, sizeof *weight);
    double *rate = calloc(healthy->n_flows, sizeof *rate);
    double *capacity = calloc(healthy->n_links, sizeof *capacity);
    uint32_t *change = calloc(healthy->n_flows, sizeof *change);
    for (uint32_t i = 0; i < r->n_touched; i++) {
        change[r->path[i]] = i + 1;
    }
    residual.n_flows = 0;
    for (uint32_t p = 0; p < healthy->n_flows; p++) {
        uint32_t i = change[p] - 1;
        uint64_t begin = change[p] > 0 ? r->path_first[i] : healthy->first[p];
        uint64_t end = change[p] > 0 ? r->path_first[i + 1] : healthy->first[p + 1];
        uint64_t entry = first[residual.n_flows];
        for (uint64_t e = begin; e < end; e++) {
            link[entry++] = change[p] > 0 ? r->link[e] : healthy->link[e];
        }
        out[p] = 0;
        if (begin < end) {
            path[residual.n_flows] = p;
            weight[residual.n_flows] = s->weight[p];
            first[++residual.n_flows] = entry;
        }
    }
    for (uint32_t l = 0; l < healthy->n_links; l++) {
        capacity[l] = s->mask.residual[l] > 0 ? s->capacity[l] * s->mask.residual[l] : INFINITY;
    }
    residual.first = first;
    residual.link = link;
    residual.capacity = capacity;
    residual.weight = healthy->weight != NULL ? weight : NULL;
    cr_assert_eq(fab_max_min_solve(s->solver, &residual, rate, NULL, &err), FAB_OK, "%s: %s", s->what, err.text);
    for (uint32_t i = 0; i < residual.n_flows; i++) {
        out[path[i]] = rate[i];
    }
    free(first);
    free(link);
    free(path);
    free(weight);
    free(rate);
    free(capacity);
    free(change);
}

/* @return whether it was not solved in full. */
static bool try_mask(scene *s, double *expected, double *rate) {
    fab_error err = {0};
    fab_rerouted r;
    fab_incremental_rates x;
    uint32_t n = s->sharing.n_flows;
    cr_assert_eq(fab_reroute_apply(s->reroute, &s->mask, FAB_WHEN_CONVERGED, &r, &err), FAB_OK, "%s: %s", s->what,
                 err.text);
    for (uint32_t i = 0; i < s->mask.n_links; i++) {
        s->resized[i] = s->capacity[s->mask.link[i]] * s->mask.residual[s->mask.link[i]];
    }
    const fab_rate_changes changes = {.n_flows = r.n_touched,
                                      .flow = r.path,
                                      .first = r.path_first,
                                      .link = r.link,
                                      .n_capacities = s->mask.n_links,
                                      .wider_or_narrower = s->mask.link,
                                      .capacity = s->resized};
    cr_assert_eq(fab_incremental_apply(s->incremental, &changes, &x, &err), FAB_OK, "%s: %s", s->what, err.text);
    solve_whole(s, &r, expected);
    memcpy(rate, fab_rates_base_rate(s->base), n * sizeof *rate);
    for (uint32_t i = 0; i < x.n_changed; i++) {
        rate[x.flow[i]] = x.rate[i];
    }
    double least = INFINITY;
    for (uint32_t p = 0; p < n; p++) {
        cr_assert(fabs(rate[p] - expected[p]) <= CLOSE * expected[p], "%s: path %u has %.17g, not %.17g", s->what, p,
                  rate[p], expected[p]);
        least = rate[p] > 0 && rate[p] < least ? rate[p] : least;
    }
    cr_assert_eq(x.slowest_bps, least);
    return !x.in_full;
}

/* @return how many of the masks were not solved in full. */
static uint32_t try_scene(const char *design, const char *engine, uint32_t n_masks) {
    scene s;
    scene_init(&s, design, engine);
    fab_rng rng = fab_rng_make(17, s.sharing.n_flows);
    uint32_t n_partial = 0;
    double *expected = calloc(s.sharing.n_flows, sizeof *expected);
    double *rate = calloc(s.sharing.n_flows, sizeof *rate);
    for (uint32_t i = 0; i < n_masks; i++) {
        draw_mask(&s, &rng);
        n_partial += try_mask(&s, expected, rate);
    }
    free(expected);
    free(rate);
    scene_release(&s);
    return n_partial;
}

Test(oracle_incremental_masks, trees) {
    static const char *const ENGINE[] = {"ecmp", "ecmp,member-loss=resilient", "dmodk", "ecmp,qp=4"};
    uint32_t n_partial = 0;
    for (size_t i = 0; i < sizeof ENGINE / sizeof *ENGINE; i++) {
        n_partial += try_scene("rail-spine:gpus=1024,radix=32", ENGINE[i], 150);
        n_partial += try_scene("fat-tree:gpus=256,gpus-per-server=4,radix=16", ENGINE[i], 150);
        n_partial += try_scene("clos:gpus=128,gpus-per-server=8,radix=32,taper=2", ENGINE[i], 150);
    }
    cr_assert(n_partial > 900 && n_partial < 1800, "%u", n_partial);
}
