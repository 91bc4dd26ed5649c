/* A phase that is exported and read back takes the same paths: what a hash draws depends on the pair of GPUs and on
 * which of its flows it is, not on where it stands in the list. */
#include "fabric_fixture.h"
#include "fab/design.h"
#include "fab/routing.h"
#include "fab/topologies.h"
#include "fab/traffic.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct network {
    fab_design design;
    fab_fabric *fabric;
    fab_next_hops *next_hops;
} network;

static network make_network(const char *text) {
    network n = {.fabric = NULL};
    n.fabric = fixture_build(text, &n.design, NULL);
    n.next_hops = fixture_next_hops(n.fabric);
    return n;
}

static void discard_network(network *n) {
    fab_next_hops_free(n->next_hops);
    fab_fabric_free(n->fabric);
}

static fab_traffic make_traffic(const network *n, const char *text) {
    fab_traffic traffic = {0};
    fab_error err = {0};
    cr_assert_eq(fab_traffic_make(text, &n->design, n->fabric, 1, &traffic, &err), FAB_OK, "%s: %s", text, err.text);
    cr_assert_eq(traffic.n_phases, 1);
    return traffic;
}

/* Written as a matrix and read again. */
static fab_traffic exported(const network *n, const fab_phase *phase, fab_matrix_format format) {
    char path[] = "/tmp/fab-paths-XXXXXX";
    char text[80];
    fab_error err = {0};
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    FILE *file = fdopen(fd, "w");
    cr_assert_not_null(file);
    cr_assert_eq(fab_matrix_write(phase, fab_n_gpus(n->fabric), format, file, &err), FAB_OK, "%s", err.text);
    (void)fclose(file);
    (void)snprintf(text, sizeof text, "file:%s", path);
    fab_traffic traffic = make_traffic(n, text);
    (void)unlink(path);
    return traffic;
}

static fab_routes routes_of(const network *n, const fab_phase *phase, const char *engine) {
    fab_routes routes = {0};
    fab_error err = {0};
    fab_router router = fixture_router(engine, n->fabric, n->next_hops);
    cr_assert_eq(fab_route_phase(&router, phase, 5, &routes, &err), FAB_OK, "%s", err.text);
    fab_router_release(&router);
    return routes;
}

/* Flow i of one phase and flow k of the other have the same paths. */
static bool same_paths(const fab_routes *a, uint32_t i, const fab_routes *b, uint32_t k) {
    uint32_t n_paths = a->flow_first[i + 1] - a->flow_first[i];
    if (b->flow_first[k + 1] - b->flow_first[k] != n_paths) {
        return false;
    }
    for (uint32_t p = 0; p < n_paths; p++) {
        size_t at = a->path_first[a->flow_first[i] + p];
        size_t n = a->path_first[a->flow_first[i] + p + 1] - at;
        size_t to = b->path_first[b->flow_first[k] + p];
        if (b->path_first[b->flow_first[k] + p + 1] - to != n ||
            memcmp(a->link + at, b->link + to, n * sizeof *a->link) != 0) {
            return false;
        }
    }
    return true;
}

/* Every flow takes the paths that the flow of its pair takes in the matrix. Returns how many stand elsewhere in it. */
static uint32_t check_paths(const network *n, const fab_phase *phase, const fab_phase *matrix, const char *engine) {
    fab_routes a = routes_of(n, phase, engine);
    fab_routes b = routes_of(n, matrix, engine);
    uint32_t n_moved = 0;
    cr_assert_eq(phase->n_flows, matrix->n_flows);
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        uint32_t k = 0;
        while (fab_phase_flow(matrix, k).src != flow.src || fab_phase_flow(matrix, k).dst != flow.dst) {
            k++;
        }
        n_moved += k != i;
        cr_assert(same_paths(&a, i, &b, k), "%s: flow %u from %u to %u", engine, i, flow.src, flow.dst);
    }
    fab_routes_release(&a);
    fab_routes_release(&b);
    return n_moved;
}

static const char *const ENGINES[] = {"ecmp", "ecmp,hash=ideal,qp=4", "ecmp,hash=crc16,qp=2,fields=5tuple+dqp"};

Test(paths, exported_phases_draw_the_same) {
    static const char *const DESIGNS[] = {"clos:gpus=256,gpus-per-server=4,radix=16,tiers=3",
                                          "rail-spine:gpus=256,radix=16,planes=2,port=200Gb/s"};
    static const char *const PHASES[] = {"job:dp", "job:pp", "job:dp,comm=3",
                                         "pattern:all-gather,algorithm=ring,groups=4,groups-by=block"};
    for (size_t d = 0; d < 2; d++) {
        network n = make_network(DESIGNS[d]);
        uint32_t n_moved = 0;
        fab_error err = {0};
        cr_assert_eq(fab_design_set_job(&n.design, 0, "pp", "4", "test", &err), FAB_OK, "%s", err.text);
        for (size_t p = 0; p < sizeof PHASES / sizeof PHASES[0]; p++) {
            fab_traffic traffic = make_traffic(&n, PHASES[p]);
            cr_assert_null(traffic.phases[0].ordinal, "%s repeats pairs", PHASES[p]);
            for (size_t e = 0; e < 3; e++) {
                fab_traffic matrix = exported(&n, &traffic.phases[0], e == 0 ? FAB_MATRIX_MARKET : FAB_MATRIX_CSV);
                n_moved += check_paths(&n, &traffic.phases[0], &matrix.phases[0], ENGINES[e]);
                fab_traffic_release(&matrix);
            }
            fab_traffic_release(&traffic);
        }
        cr_expect_gt(n_moved, 0, "every phase stands in the order of its matrix");
        discard_network(&n);
    }
}

/* An all-to-all reads flow i from i; its matrix lists the same flows in the same order. */
Test(paths, an_all_to_all_draws_as_its_list) {
    network n = make_network("clos:gpus=64,gpus-per-server=4,radix=8");
    fab_traffic all = make_traffic(&n, "pattern:all-to-all,gpus=3-60");
    fab_traffic matrix = exported(&n, &all.phases[0], FAB_MATRIX_CSV);
    cr_assert(all.phases[0].all.n > 0 && matrix.phases[0].all.n == 0);
    for (size_t e = 0; e < 3; e++) {
        fab_routes a = routes_of(&n, &all.phases[0], ENGINES[e]);
        fab_routes b = routes_of(&n, &matrix.phases[0], ENGINES[e]);
        cr_assert_eq(a.n_flows, b.n_flows);
        for (uint32_t i = 0; i < a.n_flows; i++) {
            cr_assert(same_paths(&a, i, &b, i), "%s: flow %u", ENGINES[e], i);
        }
        fab_routes_release(&a);
        fab_routes_release(&b);
    }
    fab_traffic_release(&all);
    fab_traffic_release(&matrix);
    discard_network(&n);
}

/* Interleaved stages of p = 2 send over both ends of the same pair: the export adds them up. */
Test(paths, repeated_pairs_draw_each_for_itself) {
    network n = make_network("clos:gpus=256,gpus-per-server=4,radix=16,tiers=3");
    fab_error err = {0};
    cr_assert_eq(fab_design_set_job(&n.design, 0, "pp", "2", "test", &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_design_set_job(&n.design, 0, "order", "tp-cp-dp-pp", "test", &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_design_set_job(&n.design, 0, "interleave", "2", "test", &err), FAB_OK, "%s", err.text);
    fab_traffic traffic = make_traffic(&n, "job:pp");
    const fab_phase *phase = &traffic.phases[0];
    cr_assert_not_null(phase->ordinal);
    fab_traffic matrix = exported(&n, phase, FAB_MATRIX_CSV);
    cr_expect_eq(2 * matrix.phases[0].n_flows, phase->n_flows);
    cr_expect_eq(matrix.phases[0].total_bytes, phase->total_bytes);
    fab_routes routes = routes_of(&n, phase, "ecmp");
    uint32_t n_same = 0;
    uint32_t n_repeated = 0;
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        for (uint32_t k = i + 1; k < phase->n_flows; k++) {
            if (phase->src[i] == phase->src[k] && phase->dst[i] == phase->dst[k]) {
                cr_expect(phase->ordinal[i] == 0 && phase->ordinal[k] == 1);
                n_same += same_paths(&routes, i, &routes, k);
                n_repeated++;
            }
        }
    }
    cr_expect_eq(n_repeated, phase->n_flows / 2);
    cr_expect_lt(n_same, n_repeated / 2, "%u of %u", n_same, n_repeated);
    fab_routes_release(&routes);
    fab_traffic_release(&matrix);
    fab_traffic_release(&traffic);
    discard_network(&n);
}
