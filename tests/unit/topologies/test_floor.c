/* Floor plan: positions and lengths by hand, and what must hold for every plan. */
#include "fab/analysis.h"
#include "fab/prices.h"
#include "fab/design.h"
#include "fab/floor_plan.h"
#include "fab/patch.h"
#include "fab/rng.h"
#include "fab/topologies.h"

#include "random_design.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct built {
    fab_design design;
    fab_fabric *fabric;
    fab_floor *floor;
    fab_counts counts;
} built;

static fab_status try_build(const char *text, built *out, fab_error *err) {
    memset(out, 0, sizeof *out);
    fab_status status = fab_design_read(text, NULL, 0, &out->design, err);
    if (status == FAB_OK) {
        status = fab_topology_build(&out->design.fabric, &out->fabric, &out->counts, err);
    }
    if (status == FAB_OK && out->design.fabric.floor.given) {
        status = fab_floor_make(&out->design.fabric, out->fabric, &out->floor, err);
    }
    return status;
}

static built *build(const char *text) {
    built *b = malloc(sizeof *b);
    fab_error err = {0};
    cr_assert_eq(try_build(text, b, &err), FAB_OK, "%s: %s: %s", text, err.where, err.text);
    return b;
}

static void drop(built *b) {
    fab_floor_free(b->floor);
    fab_fabric_free(b->fabric);
    free(b);
}

static bool is_network(const fab_link_class *k) {
    return k->kind == FAB_LINK_ACCESS || k->kind == FAB_LINK_FABRIC;
}

static const fab_rack *rack_of(const built *b, fab_node_id v) {
    return &b->floor->rack[fab_floor_rack_of(b->floor, b->fabric, v)];
}

static void expect_rack(const built *b, fab_node_id v, const char *expect) {
    char name[32];
    char rack[48];
    cr_expect_str_eq(fab_rack_name(rack_of(b, v), rack), expect, "%s stands in %s, not in %s",
                     fab_node_name(b->fabric, v, name), rack, expect);
}

static uint64_t cables_of(const built *b, uint32_t tier, double length_m) {
    for (size_t i = 0; i < b->counts.n_kinds; i++) {
        if (b->counts.kinds[i].tier == tier && b->counts.kinds[i].length_m == length_m) {
            return b->counts.kinds[i].count;
        }
    }
    return 0;
}

/* 8 servers, two to a rack, two racks to a row: two rows of servers with the row of the spines between them. Radix 32:
 * 4 leaves of 16 + 16, 2 spines. */
#define SMALL "clos:gpus=64,radix=32,floor.rack-power=20.4kW,floor.racks-per-row=2"

Test(floor, positions_by_hand) {
    built *b = build(SMALL);
    fab_node_id nic = b->fabric->first[FAB_NODE_NIC];
    fab_node_id leaf = b->fabric->first_of_tier[1];
    fab_node_id spine = b->fabric->first_of_tier[2];
    cr_assert_eq(b->design.fabric.floor.servers_per_rack, 2);
    cr_assert_eq(b->counts.switches_by_tier[0], 4);
    cr_assert_eq(b->counts.switches_by_tier[1], 2);
    static const char *const RACKS[] = {"hall-0/row-0/rack-0", "hall-0/row-0/rack-1", "hall-0/row-2/rack-0",
                                        "hall-0/row-2/rack-1"};
    for (uint32_t server = 0; server < 8; server++) {
        expect_rack(b, nic + 8 * server + 7, RACKS[server / 2]);
        expect_rack(b, 8 * server, RACKS[server / 2]);
    }
    for (uint32_t i = 0; i < 4; i++) {
        expect_rack(b, leaf + i, RACKS[i]);
    }
    expect_rack(b, spine, "hall-0/row-1/rack-0");
    expect_rack(b, spine + 1, "hall-0/row-1/rack-0");
    cr_expect_eq(fab_floor_rack_of(b->floor, b->fabric, b->fabric->first[FAB_NODE_DOMAIN]), FAB_NONE);
    const fab_floor_counts *c = &b->counts.floor;
    cr_expect(c->given);
    cr_expect_eq(c->halls, 1);
    cr_expect_eq(c->rows, 3);
    cr_expect_eq(c->server_racks, 4);
    cr_expect_eq(c->network_racks, 1);
    cr_expect_eq(c->racks, 5);
    drop(b);
}

Test(floor, lengths_by_hand) {
    built *b = build(SMALL);
    /* Within a rack 0 m + 2 m slack. To the spines 3 m + 4 m = 7 m, and from the second rack of a row 0.6 m more. */
    cr_expect_eq(b->counts.n_kinds, 3);
    cr_expect_eq(cables_of(b, 1, 2), 64);
    cr_expect_eq(cables_of(b, 2, 7), 32);
    cr_expect_eq(cables_of(b, 2, 10), 32);
    const fab_floor_counts *c = &b->counts.floor;
    cr_expect_eq(c->boundary[0].cables, 64);
    cr_expect_eq(c->boundary[1].min_m, 7);
    cr_expect_eq(c->boundary[1].max_m, 10);
    cr_expect_float_eq(c->boundary[1].mean_m, 8.5, 1e-12);
    cr_expect_float_eq(c->cable_m, 64 * 2 + 32 * 7 + 32 * 10, 1e-9);
    cr_expect_float_eq(c->boundary[0].mean_latency_s, 300e-9 + 2 * 4.9e-9, 1e-18);
    cr_expect_float_eq(c->boundary[1].mean_latency_s, 600e-9 + 8.5 * 4.9e-9, 1e-18);
    for (uint32_t l = 0; l < b->fabric->n_links; l++) {
        const fab_link_class *k = fab_class_of(b->fabric, l);
        double inside = k->kind == FAB_LINK_SCALEUP ? 0.5e-6 : 0;
        double switches_s = k->kind == FAB_LINK_ACCESS ? 300e-9 : 600e-9; /* half of those at its ends */
        double expect = is_network(k) ? switches_s + k->length_m * 4.9e-9 : inside;
        cr_assert_eq(k->latency_s, expect, "link %u: %g, not %g", l, k->latency_s, expect);
    }
    drop(b);
}

/* Rails: the 8 leaves of a group stand in the middle of the row of its servers, and push the second half aside. */
Test(floor, rail_leaves_in_the_middle_of_the_row) {
    built *b = build("rail-spine:gpus=256,radix=64,floor.racks-per-row=8,floor.switches-per-rack=6");
    fab_node_id leaf = b->fabric->first_of_tier[1];
    fab_node_id nic = b->fabric->first[FAB_NODE_NIC];
    cr_assert_eq(b->counts.switches_by_tier[0], 8);
    cr_assert_eq(b->counts.switches_by_tier[1], 4);
    cr_assert_eq(b->floor->n_server_racks, 8);
    expect_rack(b, nic, "hall-0/row-0/rack-0");
    expect_rack(b, nic + 8 * 15, "hall-0/row-0/rack-3");
    expect_rack(b, leaf, "hall-0/row-0/rack-4");
    expect_rack(b, leaf + 5, "hall-0/row-0/rack-4");
    expect_rack(b, leaf + 6, "hall-0/row-0/rack-5");
    expect_rack(b, nic + 8 * 16, "hall-0/row-0/rack-6");
    expect_rack(b, nic + 8 * 31, "hall-0/row-0/rack-9");
    expect_rack(b, b->fabric->first_of_tier[2], "hall-0/row-0/rack-5"); /* in a hall of one row with the leaves */
    drop(b);
    b = build("rail-spine:gpus=256,radix=64,floor.leaf-at=row,floor.racks-per-row=3");
    expect_rack(b, b->fabric->first_of_tier[1] + 7, "hall-0/row-1/rack-2"); /* rack 3 of 8: row 1 of 3, behind 2 of 3 */
    expect_rack(b, b->fabric->first_of_tier[2], "hall-0/row-2/rack-1");
    expect_rack(b, nic + 8 * 31, "hall-0/row-3/rack-1");
    drop(b);
    b = build("rail-spine:gpus=256,radix=64,floor.leaf-at=hall");
    expect_rack(b, b->fabric->first_of_tier[1] + 7, "hall-0/row-0/rack-4");
    expect_rack(b, b->fabric->first_of_tier[2], "hall-0/row-0/rack-4");
    drop(b);
    b = build("rail-spine:gpus=256,radix=64,floor.leaf-at=rack");
    expect_rack(b, b->fabric->first_of_tier[1] + 7, "hall-0/row-0/rack-3");
    drop(b);
}

/* Two pods in two halls: spines with their pod, cores in the middle, cables from hall to hall as long as that takes. */
Test(floor, halls) {
    built *b = build("clos:gpus=128,radix=16,gpus-per-server=4,pod=64,tiers=3,floor.server-power=5kW,"
                     "floor.hall-power=80kW,floor.hall-distance=200m,floor.racks-per-row=2");
    cr_assert_eq(b->counts.pods, 2);
    cr_assert_eq(b->counts.floor.halls, 2);
    uint32_t n_spines = (uint32_t)b->counts.switches_by_tier[1];
    for (uint32_t i = 0; i < n_spines; i++) {
        const fab_rack *rack = rack_of(b, b->fabric->first_of_tier[2] + i);
        cr_expect_eq(rack->hall, i / (n_spines / 2), "spine %u in hall %u", i, rack->hall);
    }
    cr_expect_eq(rack_of(b, b->fabric->first_of_tier[3])->hall, 0);
    cr_expect_eq(b->counts.floor.boundary[1].max_m, 10, "%g m", b->counts.floor.boundary[1].max_m);
    cr_expect_eq(b->counts.floor.boundary[2].min_m, 2);
    cr_expect_eq(b->counts.floor.boundary[2].max_m, 300);
    drop(b);
}

Test(floor, standard_lengths) {
    static const double CASES[][2] = {{0, 1},     {1, 1},       {1.01, 2},    {2.1, 3},       {3.5, 5},
                                      {7, 7},     {7.1, 10},    {10.1, 15},   {30.5, 50},     {50.1, 100},
                                      {151, 200}, {2001, 3000}, {3001, 5000}, {100e3, 100e3}, {100001, 0}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        cr_expect_eq(fab_standard_length_m(CASES[i][0]), CASES[i][1], "%g m", CASES[i][0]);
    }
    cr_expect_eq(fab_standard_length_m(3 * 0.1 + 0.7), 1, "the last bit of a sum");
}

static const char *const DESIGNS[] = {
    "clos:gpus=1024,radix=32",
    "clos:gpus=4096,radix=64,taper=3",
    "rail-spine:gpus=2048,radix=64,planes=2",
    "rail-only:gpus=1024,radix=16,domain=64",
    "fat-tree:k=16",
    "clos:gpus=96,radix=40,gpus-per-server=4,nics-per-server=2,spares=3",
};
#define N_DESIGNS (sizeof DESIGNS / sizeof DESIGNS[0])

static const char *const FLOORS[] = {"floor.slack=2m", "floor.rack-power=11kW,floor.racks-per-row=5",
                                     "floor.hall-power=200kW,floor.leaf-at=row",
                                     "floor.leaf-at=hall,floor.rack-pitch=0.75m,floor.switches-per-rack=3"};

Test(floor, cables_reach_and_are_standard) {
    for (size_t i = 0; i < N_DESIGNS * 4; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "%s,%s", DESIGNS[i / 4], FLOORS[i % 4]);
        built *b = build(text);
        double sum_m = 0;
        for (uint32_t cable = 0; cable < b->fabric->n_cables; cable++) {
            const fab_link_class *k = fab_class_of(b->fabric, 2 * cable);
            if (!is_network(k)) {
                cr_assert_eq(k->length_m, 0);
                continue;
            }
            double way_m = fab_floor_distance_m(&b->design.fabric.floor, rack_of(b, fab_tail(b->fabric, 2 * cable)),
                                                rack_of(b, fab_head(b->fabric, 2 * cable)));
            cr_assert_geq(k->length_m, way_m - 1e-6, "%s: cable %u", text, cable);
            cr_assert_eq(k->length_m, fab_standard_length_m(k->length_m), "%s: %g m", text, k->length_m);
            sum_m += k->length_m;
        }
        cr_expect_float_eq(sum_m, b->counts.floor.cable_m, 1e-6 * sum_m, "%s", text);
        uint64_t n_cables = 0;
        for (size_t k = 0; k < b->counts.n_kinds; k++) {
            n_cables += b->counts.kinds[k].count;
        }
        cr_expect_eq(n_cables, b->counts.cables, "%s", text);
        drop(b);
    }
}

/* No two racks on one place, and no rack with more servers or switches than it takes. */
Test(floor, racks_do_not_overlap) {
    for (size_t i = 0; i < N_DESIGNS * 4; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "%s,%s", DESIGNS[i / 4], FLOORS[i % 4]);
        built *b = build(text);
        uint32_t n = b->floor->n_server_racks + b->floor->n_network_racks;
        uint32_t *switches = calloc(n, sizeof *switches);
        cr_assert_eq(b->floor->n_server_racks,
                     (b->counts.servers + b->floor->servers_per_rack - 1) / b->floor->servers_per_rack, "%s", text);
        for (uint32_t s = 0; s < b->floor->n_switches; s++) {
            switches[b->floor->switch_rack[s]]++;
        }
        for (uint32_t r = 0; r < n; r++) {
            const fab_rack *rack = &b->floor->rack[r];
            cr_assert_lt(rack->hall, b->floor->n_halls, "%s", text);
            if (r >= b->floor->n_server_racks) {
                cr_assert(switches[r] > 0 && switches[r] <= b->design.fabric.floor.switches_per_rack, "%s: %u switches",
                          text, switches[r]);
            }
            for (uint32_t other = 0; other < r; other++) {
                cr_assert_neq(memcmp(rack, &b->floor->rack[other], sizeof *rack), 0, "%s: racks %u and %u", text, r,
                              other);
            }
        }
        free(switches);
        drop(b);
    }
}

static double total_latency_s(const built *b) {
    double sum_s = 0;
    for (size_t t = 0; t < FAB_MAX_TIERS; t++) {
        sum_s += b->counts.floor.boundary[t].mean_latency_s * (double)b->counts.floor.boundary[t].cables;
    }
    return sum_s;
}

/* The same GPUs under less and less power: more racks or halls, no metre less of cable, no quicker. */
static void sweep(const char *design, const char *key, const double *kw, size_t n) {
    double last_m = 0;
    double last_s = 0;
    uint64_t first_racks = 0;
    uint64_t last_racks = 0;
    double first_m = 0;
    for (size_t i = 0; i < n; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "%s,floor.%s=%gkW", design, key, kw[i]);
        built *b = build(text);
        double length_m = b->counts.floor.cable_m;
        double latency_s = total_latency_s(b);
        uint64_t racks = b->counts.floor.server_racks + b->counts.floor.halls;
        cr_expect_geq(racks, last_racks, "%s", text);
        cr_expect_geq(length_m, last_m * (1 - 1e-12), "%s: %g m after %g m", text, length_m, last_m);
        cr_expect_geq(latency_s, last_s * (1 - 1e-12), "%s: %g s after %g s", text, latency_s, last_s);
        first_racks = i == 0 ? racks : first_racks;
        first_m = i == 0 ? length_m : first_m;
        last_racks = racks;
        last_m = length_m;
        last_s = latency_s;
        drop(b);
    }
    cr_expect_gt(last_racks, first_racks, "%s: no more racks", design);
    cr_expect_gt(last_m, first_m, "%s: no more cable", design);
}

Test(floor, tighter_power_spreads_further) {
    static const double RACK_KW[] = {41, 31, 21, 11};
    static const double HALL_KW[] = {1e5, 700, 400, 200, 100, 50};
    static const char *const SWEPT[] = {"clos:gpus=1024,radix=32,floor.leaf-at=hall",
                                        "clos:gpus=4096,radix=64,floor.leaf-at=hall", "rail-spine:gpus=2048,radix=64",
                                        "fat-tree:gpus=1024,radix=16"};
    for (size_t i = 0; i < sizeof SWEPT / sizeof SWEPT[0]; i++) {
        sweep(SWEPT[i], "rack-power", RACK_KW, 4);
        sweep(SWEPT[i], "hall-power", HALL_KW, 6);
    }
}

Test(floor, given_lengths_count) {
    built *b = build("clos:gpus=256,radix=32,length=4m/33m");
    cr_expect(b->design.fabric.floor.is_assumed);
    cr_expect_eq(b->counts.n_kinds, 2);
    cr_expect_eq(cables_of(b, 1, 4), 256);
    cr_expect_eq(cables_of(b, 2, 33), 256);
    drop(b);
}

static char *plan_of(const built *b, size_t *size) {
    char *text = NULL;
    fab_prices prices = {0};
    FILE *out = open_memstream(&text, size);
    fab_patch patch = {.spec = &b->design.fabric, .fabric = b->fabric, .floor = b->floor, .prices = &prices};
    cr_assert_eq(fab_patch_write(&patch, out, NULL), FAB_OK);
    (void)fclose(out);
    return text;
}

Test(floor, same_design_same_plan) {
    built *a = build("rail-spine:gpus=512,radix=64,floor.rack-power=31kW");
    built *b = build("rail-spine:gpus=512,radix=64,floor.rack-power=31kW");
    size_t n_a = 0;
    size_t n_b = 0;
    char *plan_a = plan_of(a, &n_a);
    char *plan_b = plan_of(b, &n_b);
    cr_assert_gt(n_a, 1000);
    cr_assert_eq(n_a, n_b);
    cr_assert_eq(memcmp(plan_a, plan_b, n_a), 0);
    cr_assert_eq(
        memcmp(a->floor->switch_rack, b->floor->switch_rack, a->floor->n_switches * sizeof *a->floor->switch_rack), 0);
    free(plan_a);
    free(plan_b);
    drop(a);
    drop(b);
}

Test(floor, power_of_a_server) {
    built *b = build("clos:gpus=64,gpus-per-server=4,nics-per-server=4,floor.rack-power=auto");
    cr_expect_float_eq(b->design.fabric.floor.server_w, 5100, 1e-9);
    cr_expect_eq(b->design.fabric.floor.servers_per_rack, 4);
    drop(b);
    b = build("clos:gpus=64,floor.rack-power=30.6kW"); /* exactly three */
    cr_expect_eq(b->design.fabric.floor.servers_per_rack, 3);
    drop(b);
    b = build("clos:gpus=64,floor.servers-per-rack=8");
    cr_expect_eq(b->floor->n_server_racks, 1);
    drop(b);
}

/* By hand: a GPU's power, and 575 W beside it, times the GPUs of a server; 40.8 kW a rack and at most 4. A rack of
 * 18 x 7.1 kW stands for a GB200 NVL72, whose racks draw 120 kW and more. */
Test(floor, power_follows_the_gpu) {
    static const struct {
        const char *design, *gpu;
        double server_w;
        uint64_t per_rack;
    } ROWS[] = {
        {"clos:gpus=64", NULL, 10200, 4},
        {"clos:gpus=64", "h100-80gb", 10200, 4},
        {"clos:gpus=64", "a40-48gb", 7000, 4},
        {"clos:gpus=64", "t4-16gb", 5160, 4},
        {"clos:gpus=64", "mi300x-192gb", 10600, 3},
        {"clos:gpus=64", "mi355x-288gb", 15800, 2},
        {"clos:gpus=64", "tpu-v5p-95gb", 10200, 4}, /* not published */
        {"clos:gpus=64,gpus-per-server=4", "a100-80gb", 3900, 4},
        {"clos:gpus=144,gpus-per-server=4,domain=72", "gb200-186gb", 7100, 18},
        {"clos:gpus=144,gpus-per-server=4,domain=36", "gb200-186gb", 7100, 9},
        {"clos:gpus=144,gpus-per-server=4,domain=144", "gb200-186gb", 7100, 18},
        {"clos:gpus=144,gpus-per-server=4,domain=72,floor.rack-power=29kW", "gb200-186gb", 7100, 4},
        {"clos:gpus=64,floor.rack-power=15kW", "a40-48gb", 7000, 2},
        {"clos:gpus=64,floor.hall-power=8kW", "a40-48gb", 7000, 1}, /* an H100's would not fit */
        {"clos:gpus=64,floor.server-power=9kW", "mi355x-288gb", 9000, 4},
        {"clos:gpus=64,floor.servers-per-rack=3", "mi355x-288gb", 15800, 3},
        {"clos:gpus=64,floor.racks=8", "a40-48gb", 7000, 1},
    };
    static fab_design d;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        fab_error err = {0};
        const fab_floor_spec *f = &d.fabric.floor;
        cr_assert_eq(fab_design_read(ROWS[i].design, NULL, 0, &d, &err), FAB_OK, "%s", err.text);
        cr_assert(ROWS[i].gpu == NULL || fab_design_set_job(&d, 0, "gpu", ROWS[i].gpu, "test", &err) == FAB_OK);
        cr_expect_float_eq(f->server_w, ROWS[i].server_w, 1e-9, "row %zu: %g W", i, f->server_w);
        cr_expect_eq(f->servers_per_rack, ROWS[i].per_rack, "row %zu: %" PRIu64, i, f->servers_per_rack);
        cr_expect_eq(f->is_power_assumed, ROWS[i].gpu != NULL && strncmp(ROWS[i].gpu, "tpu", 3) == 0);
        cr_expect_eq(fab_floor_check(f, &err), FAB_OK, "row %zu: %s", i, err.text);
    }
    fab_error err = {0};
    cr_assert_eq(fab_design_read("clos:gpus=64,floor.rack-power=11kW", NULL, 0, &d, &err), FAB_OK);
    cr_expect_eq(fab_floor_check(&d.fabric.floor, &err), FAB_OK);
    cr_assert_eq(fab_design_set_job(&d, 0, "gpu", "b200-180gb", "test", &err), FAB_OK);
    cr_expect_eq(fab_floor_check(&d.fabric.floor, &err), FAB_EINPUT);
    cr_expect_str_eq(err.where, "clos:gpus=64,floor.rack-power=11kW:1:31");
    cr_expect_str_eq(err.text, "rack-power: a server draws 12.6 kW, more than the limit of 11 kW");
}

/* All servers of a fabric are alike: those of the first job's GPU, beside which another is told. */
Test(floor, names_a_gpu_of_other_servers) {
    static const char *const ROWS[][3] = {
        {"clos:gpus=64", "h100-80gb", ""},
        {"clos:gpus=64", "b200-180gb", "b200-180gb"},
        {"clos:gpus=64,floor.server-power=12kW", "b200-180gb", "b200-180gb"}, /* of another scale-up rate */
        {"clos:gpus=64,floor.server-power=12kW,domain-rate=900GB/s", "b200-180gb", ""},
    };
    static fab_design d;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        fab_error err = {0};
        cr_assert_eq(fab_design_read(ROWS[i][0], NULL, 0, &d, &err), FAB_OK, "%s", err.text);
        cr_assert_eq(fab_design_set_job(&d, 0, "gpu", "h100-80gb", "test", &err), FAB_OK);
        cr_assert_eq(fab_design_set_job(&d, 1, "gpu", ROWS[i][1], "test", &err), FAB_OK, "%s", err.text);
        cr_expect_str_eq(d.fabric.host.other_gpu, ROWS[i][2], "row %zu", i);
    }
}

Test(floor, errors_name_both_values) {
    static const char *const CASES[][3] = {
        {"clos:gpus=64,floor.rack-power=8kW", "10.2 kW", "8 kW"},
        {"clos:gpus=64,floor.hall-power=9kW", "10.2 kW", "9 kW"},
        {"clos:gpus=64,floor.rack-power=40kW,floor.servers-per-rack=4", "4 of 10.2 kW", "40 kW"},
        {"clos:gpus=64,floor.leaf-at=roof", "roof", "rack, row, hall"},
        {"clos:gpus=64,floor.rack-pitch=5", "rack-pitch", "5"},
        {"clos:gpus=64,floor.power=5kW", "floor key", "rack-power"},
        {"clos:gpus=64,floor=5kW", "floor.KEY", ""},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        fab_error err = {0};
        built b;
        cr_expect_eq(try_build(CASES[i][0], &b, &err), FAB_EINPUT, "%s", CASES[i][0]);
        cr_expect(strstr(err.text, CASES[i][1]) != NULL && strstr(err.text, CASES[i][2]) != NULL, "%s: %s: %s",
                  CASES[i][0], err.where, err.text);
        fab_floor_free(b.floor);
        fab_fabric_free(b.fabric);
    }
}

/* Dollars of all network cables and their optics, cable by cable: its racks are looked up in the plan, its length is
 * that of the way between them, and its price that of the book. */
static double cables_one_by_one(const built *b, const fab_prices *prices) {
    double usd = 0;
    for (uint32_t cable = 0; cable < b->fabric->n_cables; cable++) {
        const fab_link_class *k = fab_class_of(b->fabric, 2 * cable);
        fab_link_price link = {0};
        if (!is_network(k)) {
            continue;
        }
        double length_m = fab_floor_cable_m(&b->design.fabric.floor, rack_of(b, b->fabric->end[2 * (size_t)cable]),
                                            rack_of(b, b->fabric->end[2 * (size_t)cable + 1]));
        cr_assert_eq(fab_prices_link(prices, k->capacity_bps, length_m, &link, NULL), FAB_OK);
        usd += link.cable.usd + (link.module != NULL ? 2 * link.module_price.usd : 0);
    }
    return usd;
}

/* What optimize and the price of spares rest on. */
Test(floor, closed_forms_cost_what_graphs_cost) {
    static fab_prices prices;
    static fab_cost predicted;
    static fab_cost measured;
    fab_rng rng = fab_rng_make(82, 0);
    size_t n = 0;
    size_t n_spares = 0;
    cr_assert_eq(fab_prices_read(FAB_DEFAULT_PRICES, &prices, NULL), FAB_OK);
    for (int i = 0; i < 1500; i++) {
        random_design d = random_design_next(&rng, 40);
        char text[400];
        fab_error err = {0};
        fab_counts counts = {0};
        static built b;
        (void)snprintf(text, sizeof text, "%s%s", d.text,
                       i % 3 == 0   ? ",floor.racks-per-row=3,floor.servers-per-rack=2"
                       : i % 3 == 1 ? ",floor.leaf-at=hall,floor.switches-per-rack=3"
                                    : "");
        fab_status status = try_build(text, &b, &err);
        cr_assert_neq(status, FAB_EINTERNAL, "%s: %s: %s", text, err.where, err.text);
        if (status == FAB_OK && d.family <= RANDOM_RAIL_ONLY) {
            fab_fabric_spec spec = b.design.fabric;
            cr_assert_eq(fab_topology_predict(&spec, &counts, &err), FAB_OK, "%s: %s", text, err.text);
            cr_assert(counts.knows_lengths, "%s", text);
            if (fab_cost_of(&spec, &b.counts, &prices, &measured, NULL) == FAB_OK) {
                cr_assert_eq(fab_cost_of(&spec, &counts, &prices, &predicted, NULL), FAB_OK, "%s", text);
                cr_assert_eq(predicted.total_usd, measured.total_usd, "%s: %.17g, not %.17g", text, predicted.total_usd,
                             measured.total_usd);
                double usd = cables_one_by_one(&b, &prices);
                cr_assert_float_eq(measured.cable_usd + measured.transceiver_usd, usd, 1e-9 * usd, "%s", text);
                n++;
                n_spares += b.design.fabric.spares > 0;
            }
        }
        fab_floor_free(b.floor);
        fab_fabric_free(b.fabric);
    }
    cr_expect_gt(n, 200, "%zu", n);
    cr_expect_gt(n_spares, 20, "%zu", n_spares);
}
