/* Flows of several groups followed through an engine, against routes and a fluid of their own. */
#include "fab/fluid.h"
#include "fab/memory.h"
#include "fab/rng.h"
#include "fab/trace.h"

#include "fabric_fixture.h"
#include "route_load.h"

#include <math.h>
#include <string.h>

#define N_GROUPS 3

/* Random flows, each in a random group, their ordinals as the program counts them: none of the pairs repeats. */
static fab_phase random_phase(fab_rng *rng, uint32_t n_gpus, uint32_t n_flows, uint32_t *group) {
    fab_phase p = {.n_flows = n_flows, .n_comms = 1, .steps = 1, .executions = 1, .name = "random"};
    uint8_t *seen = calloc((size_t)n_gpus * n_gpus, 1);
    p.src = calloc(n_flows, sizeof *p.src);
    p.dst = calloc(n_flows, sizeof *p.dst);
    p.bytes = calloc(n_flows, sizeof *p.bytes);
    p.comm = calloc(n_flows, sizeof *p.comm);
    for (uint32_t i = 0; i < n_flows;) {
        uint32_t src = (uint32_t)fab_rng_below(rng, n_gpus);
        uint32_t dst = (uint32_t)fab_rng_below(rng, n_gpus);
        if (src != dst && seen[src * n_gpus + dst]++ == 0) {
            p.src[i] = src;
            p.dst[i] = dst;
            p.bytes[i] = 1000 * (1 + fab_rng_below(rng, 50));
            p.total_bytes += p.bytes[i];
            group[i++] = (uint32_t)fab_rng_below(rng, N_GROUPS);
        }
    }
    free(seen);
    return p;
}

/* The flows of one group, as a phase. */
static fab_phase part_of(const fab_phase *all, const uint32_t *group, uint32_t wanted) {
    fab_phase p = fixture_list(all);
    p.n_flows = 0;
    p.total_bytes = 0;
    for (uint64_t i = 0; i < all->n_flows; i++) {
        if (group[i] == wanted) {
            p.src[p.n_flows] = all->src[i];
            p.dst[p.n_flows] = all->dst[i];
            p.bytes[p.n_flows] = all->bytes[i];
            p.total_bytes += all->bytes[i];
            p.n_flows++;
        }
    }
    return p;
}

/* When every flow ends: paths found by the router, shared by a fluid over the capacities of the links. */
static void finish_of(const fab_fabric *f, const fab_phase *phase, const fab_routes *r, double *out_s) {
    uint32_t n_paths = r->flow_first[r->n_flows];
    double *capacity = calloc(f->n_links, sizeof *capacity);
    double *weight = calloc(n_paths, sizeof *weight);
    double *bits = calloc(n_paths, sizeof *bits);
    double *end_s = calloc(n_paths, sizeof *end_s);
    uint64_t *first = calloc((size_t)n_paths + 1, sizeof *first);
    fab_error err = {0};
    for (uint32_t l = 0; l < f->n_links; l++) {
        capacity[l] = fab_class_of(f, l)->capacity_bps;
    }
    for (uint32_t i = 0; i <= n_paths; i++) {
        first[i] = r->path_first[i];
    }
    for (uint32_t flow = 0; flow < r->n_flows; flow++) {
        for (uint32_t i = r->flow_first[flow]; i < r->flow_first[flow + 1]; i++) {
            weight[i] = 1.0 / (r->flow_first[flow + 1] - r->flow_first[flow]);
            bits[i] = 8.0 * (double)phase->bytes[flow] * weight[i];
        }
    }
    const fab_sharing p = {.n_flows = n_paths,
                           .n_links = f->n_links,
                           .capacity = capacity,
                           .first = first,
                           .link = r->link,
                           .weight = weight};
    cr_assert_eq(fab_fluid_finish(&p, bits, NULL, end_s, &err), FAB_OK, "%s", err.text);
    for (uint32_t flow = 0; flow < r->n_flows; flow++) {
        out_s[flow] = 0;
        for (uint32_t i = r->flow_first[flow]; i < r->flow_first[flow + 1]; i++) {
            out_s[flow] = fmax(out_s[flow], end_s[i]);
        }
    }
    free(capacity);
    free(weight);
    free(bits);
    free(end_s);
    free(first);
}

typedef struct traced {
    double last_s[N_GROUPS];
    double *finish_s, *bytes;
    uint8_t *crosses, *marked;
} traced;

static traced trace_of(const fab_fabric *f, const char *engine, const fab_phase *phase, const uint32_t *group,
                       fab_rng *rng) {
    traced t = {.finish_s = calloc(phase->n_flows, sizeof(double)),
                .bytes = calloc((size_t)N_GROUPS * f->n_links, sizeof(double)),
                .crosses = calloc(phase->n_flows, 1),
                .marked = calloc(f->n_links, 1)};
    const fab_engine_spec spec = fixture_spec(engine);
    fab_phase phases[1] = {*phase};
    const fab_traffic traffic = {.phases = phases, .n_phases = 1};
    const fab_context_request asked = {.fabric = f, .given = &traffic, .engines = &spec, .n_engines = 1, .seed = 1};
    fab_context *context = fixture_context(&asked);
    fab_workspace *workspace = NULL;
    fab_evaluated found;
    fab_error err = {0};
    for (uint32_t l = 0; l < f->n_links; l++) {
        t.marked[l] = fab_rng_below(rng, 20) == 0;
        t.bytes[l] = 77; /* overwritten */
    }
    const fab_trace trace = {.group = group,
                             .n_groups = N_GROUPS,
                             .marked = t.marked,
                             .last_s = t.last_s,
                             .finish_s = t.finish_s,
                             .bytes = t.bytes,
                             .crosses = t.crosses};
    const fab_case at = {.phase = 0};
    const fab_needs needs = {.what = FAB_NEED_FIGURES | FAB_NEED_RATES, .trace = &trace};
    cr_assert_eq(fab_workspace_new(context, &workspace, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_evaluate(workspace, &at, &needs, &found, &err), FAB_OK, "%s: %s", engine, err.text);
    fab_workspace_free(workspace);
    fab_context_free(context);
    return t;
}

static void release(traced *t) {
    free(t->finish_s);
    free(t->bytes);
    free(t->crosses);
    free(t->marked);
}

/* What holds for every engine: groups end with their last flow. */
static void check_groups(const fab_phase *phase, const uint32_t *group, const traced *t) {
    double last_s[N_GROUPS] = {0};
    for (uint64_t i = 0; i < phase->n_flows; i++) {
        last_s[group[i]] = fmax(last_s[group[i]], t->finish_s[i]);
        cr_expect_gt(t->finish_s[i], 0);
    }
    for (int g = 0; g < N_GROUPS; g++) {
        cr_expect_eq(last_s[g], t->last_s[g]);
    }
}

Test(trace, static_engines_route_every_group_as_alone) {
    static const char *const ENGINES[] = {"ecmp", "ecmp,qp=4", "dmodk", "pinned"};
    static const char *const DESIGNS[] = {"fat-tree:k=4,gpus-per-server=1,domain=1",
                                          "clos:gpus=64,radix=24/16,gpus-per-server=8,taper=2",
                                          "rail-spine:gpus=64,radix=16,taper=2"};
    fab_rng rng = fab_rng_make(11, 0);
    for (int round = 0; round < 24; round++) {
        fab_fabric *f = fixture_build(DESIGNS[round % 3], NULL, NULL);
        fab_next_hops *next_hops = fixture_next_hops(f);
        const char *engine = ENGINES[round / 3 % 4];
        fab_router router = fixture_router(engine, f, next_hops);
        uint32_t n_flows = 4 + (uint32_t)fab_rng_below(&rng, 60);
        uint32_t *group = calloc(n_flows, sizeof *group);
        double *expected_s = calloc(n_flows, sizeof *expected_s);
        double *load = calloc(f->n_links, sizeof *load);
        double *amount = calloc(n_flows, sizeof *amount);
        fab_phase phase = random_phase(&rng, fab_n_gpus(f), n_flows, group);
        traced t = trace_of(f, engine, &phase, group, &rng);
        fab_routes routes = {0};
        fab_error err = {0};
        cr_assert_eq(fab_route_phase(&router, &phase, 1, &routes, &err), FAB_OK, "%s", err.text);
        finish_of(f, &phase, &routes, expected_s);
        for (uint32_t i = 0; i < n_flows; i++) {
            bool crosses = false;
            for (size_t k = routes.path_first[routes.flow_first[i]]; k < routes.path_first[routes.flow_first[i + 1]];
                 k++) {
                crosses = crosses || t.marked[routes.link[k]] != 0;
            }
            cr_expect_float_eq(t.finish_s[i], expected_s[i], 1e-9 * expected_s[i], "%s, flow %u", engine, i);
            cr_expect_eq(t.crosses[i], crosses);
        }
        check_groups(&phase, group, &t);
        for (uint32_t g = 0; g < N_GROUPS; g++) { /* routed alone, it loads what it loads among the others */
            fab_phase own = part_of(&phase, group, g);
            for (uint64_t i = 0; i < own.n_flows; i++) {
                amount[i] = (double)own.bytes[i];
            }
            cr_assert_eq(fab_route_phase(&router, &own, 1, &routes, &err), FAB_OK, "%s", err.text);
            route_load(f, &routes, amount, load);
            for (uint32_t l = 0; l < f->n_links; l++) {
                cr_expect_float_eq(t.bytes[(size_t)g * f->n_links + l], load[l], 1e-6, "%s, group %u, link %u", engine,
                                   g, l);
            }
            fixture_list_release(&own);
        }
        release(&t);
        fab_routes_release(&routes);
        fixture_list_release(&phase);
        free(group);
        free(expected_s);
        free(load);
        free(amount);
        fab_router_release(&router);
        fab_next_hops_free(next_hops);
        fab_fabric_free(f);
    }
}

Test(trace, a_split_divides_the_load_among_the_groups) {
    fab_rng rng = fab_rng_make(12, 0);
    for (int round = 0; round < 12; round++) {
        fab_fabric *f = fixture_build(round % 2 == 0 ? "fat-tree:k=4,gpus-per-server=1,domain=1"
                                                     : "clos:gpus=64,radix=24/16,gpus-per-server=8,taper=2",
                                      NULL, NULL);
        uint32_t n_flows = 4 + (uint32_t)fab_rng_below(&rng, 60);
        uint32_t *group = calloc(n_flows, sizeof *group);
        double *load = calloc(f->n_links, sizeof *load);
        double *amount = calloc(n_flows, sizeof *amount);
        fab_phase phase = random_phase(&rng, fab_n_gpus(f), n_flows, group);
        traced t = trace_of(f, "spray", &phase, group, &rng);
        check_groups(&phase, group, &t);
        for (uint32_t g = 0; g < N_GROUPS; g++) {
            fab_phase own = part_of(&phase, group, g);
            for (uint64_t i = 0; i < own.n_flows; i++) {
                amount[i] = (double)own.bytes[i];
            }
            fixture_spray_load(f, &own, amount, load);
            for (uint32_t l = 0; l < f->n_links; l++) {
                if (fab_class_of(f, l)->tier > 0) {
                    cr_expect_float_eq(t.bytes[(size_t)g * f->n_links + l], load[l], 1e-6, "group %u, link %u", g, l);
                }
            }
            fixture_list_release(&own);
        }
        for (uint32_t i = 0; i < n_flows; i++) { /* alone: what it loads is what it crosses */
            fab_phase own = part_of(&phase, group, N_GROUPS);
            bool crosses = false;
            own.src[0] = phase.src[i];
            own.dst[0] = phase.dst[i];
            own.bytes[0] = 1;
            own.n_flows = 1;
            amount[0] = 1;
            fixture_spray_load(f, &own, amount, load);
            for (uint32_t l = 0; l < f->n_links; l++) {
                crosses = crosses || (t.marked[l] != 0 && load[l] > 0);
            }
            cr_expect_eq(t.crosses[i], crosses, "flow %u", i);
            fixture_list_release(&own);
        }
        release(&t);
        fixture_list_release(&phase);
        free(group);
        free(load);
        free(amount);
        fab_fabric_free(f);
    }
}

/* Queue pairs in turn: the mean over the rounds, and all bytes once. */
Test(trace, rounds_carry_the_bytes_once) {
    fab_rng rng = fab_rng_make(13, 0);
    fab_fabric *f = fixture_build("fat-tree:k=4,gpus-per-server=1,domain=1", NULL, NULL);
    uint32_t group[30];
    fab_phase phase = random_phase(&rng, fab_n_gpus(f), 30, group);
    traced turns = trace_of(f, "ecmp,qp=4,spread=round-robin", &phase, group, &rng);
    traced split = trace_of(f, "ecmp,qp=4", &phase, group, &rng);
    for (uint32_t l = 0; l < N_GROUPS * f->n_links; l++) {
        cr_expect_float_eq(turns.bytes[l], split.bytes[l], 1e-6);
    }
    for (int g = 0; g < N_GROUPS; g++) {
        cr_expect_gt(turns.last_s[g], 0);
    }
    release(&turns);
    release(&split);
    fixture_list_release(&phase);
    fab_fabric_free(f);
}
