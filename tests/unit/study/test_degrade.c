/* Parts at a fraction of their speed. */
#include "fab/design.h"
#include "fab/degraded.h"
#include "fab/fabric_parse.h"
#include "fab/offer.h"
#include "fab/rng.h"
#include "fab/trace.h"

#include "fabric_fixture.h"

#include <math.h>
#include <string.h>

static void refused(const char *text, const char *message) {
    fab_weak_part part = {.ratio = 7};
    fab_error err = {0};
    cr_expect_eq(fab_weak_part_parse(text, &part, &err), FAB_EINPUT, "%s", text);
    cr_expect_str_eq(err.text, message);
    cr_expect_str_eq(err.where, "--degrade");
    cr_expect_eq(part.ratio, 7, "output written by a failed call");
}

static fab_weak_part part_of(const char *text) {
    fab_weak_part part = {.ratio = 0};
    fab_error err = {0};
    cr_assert_eq(fab_weak_part_parse(text, &part, &err), FAB_OK, "%s: %s", text, err.text);
    return part;
}

static fab_weak_fabric weak_fabric(const fab_fabric *fabric, const char *text) {
    fab_weak_fabric weak = {.fabric = NULL};
    fab_weak_part part = part_of(text);
    fab_error err = {0};
    cr_assert_eq(fab_fabric_degrade(fabric, &part, 1, &weak, &err), FAB_OK, "%s: %s", text, err.text);
    return weak;
}

Test(degrade, reads_names_and_fractions) {
    cr_expect_str_eq(part_of("leaf-0:17 > spine-0:1 = 0.25").name, "leaf-0:17 > spine-0:1");
    cr_expect_float_eq(part_of("nic-3=1:2").ratio, 0.5, 0);
    cr_expect_float_eq(part_of("nic-3=1").ratio, 1, 0);
    cr_expect_float_eq(part_of("nic-3=0.001").ratio, 0.001, 0);
    refused("nic-3", "'nic-3' is not NAME=FRACTION (such as nic-3=0.5)");
    refused("=0.5", "'=0.5' is not NAME=FRACTION (such as nic-3=0.5)");
    refused("nic-3=1.5", "nic-3: 1.5 is not a fraction from 0.001 to 1, in steps of 0.001");
    refused("nic-3=0.0005", "nic-3: 0.0005 is not a fraction from 0.001 to 1, in steps of 0.001");
    refused("nic-3=fast", "nic-3: 'fast' is not a fraction from 0.001 to 1, such as 0.5 for half");
    refused("nic-3=0", "nic-3: a part at 0 of its speed has failed, and is not degraded: flows would have to go around "
                       "it; give a fraction above 0");
}

/* Which cables are slower, and by how much; everything else is as it was. */
static void check_cables(const fab_fabric *whole, const char *text, double ratio, uint32_t n_cables, double gpus) {
    fab_weak_fabric weak = weak_fabric(whole, text);
    uint32_t n = 0;
    double computing = 0;
    cr_expect_eq(weak.n_cables, n_cables, "%s: %u", text, weak.n_cables);
    cr_expect_eq(weak.fabric->n_links, whole->n_links);
    cr_expect_eq(memcmp(weak.fabric->end, whole->end, whole->n_links * sizeof *whole->end), 0);
    cr_expect_eq(fab_nic_rate(weak.fabric), fab_nic_rate(whole), "offers are those of whole NICs");
    for (uint32_t l = 0; l < whole->n_links; l++) {
        const fab_link_class *a = fab_class_of(whole, l);
        const fab_link_class *b = fab_class_of(weak.fabric, l);
        double factor = weak.link[l] != 0 ? ratio : 1;
        n += weak.link[l];
        cr_expect_eq(weak.link[l], weak.link[l ^ 1U]);
        cr_expect_float_eq(b->capacity_bps, a->capacity_bps * factor, 1e-3, "%s: link %u", text, l);
        cr_expect(a->kind == b->kind && a->tier == b->tier && a->latency_s == b->latency_s);
    }
    for (uint32_t g = 0; g < fab_n_gpus(whole); g++) {
        computing += weak.gpu_ratio[g];
    }
    cr_expect_eq(n, 2 * n_cables);
    cr_expect_float_eq(fab_n_gpus(whole) - computing, gpus * (1 - ratio), 1e-9);
    fab_weak_fabric_release(&weak);
}

Test(degrade, reaches_the_cables_of_a_part) {
    fab_fabric *whole = fixture_build("clos:gpus=64,radix=16", NULL, NULL);
    char name[80];
    char text[96];
    check_cables(whole, "nic-3=0.5", 0.5, 2, 0);
    check_cables(whole, "gpu-7=0.25", 0.25, 0, 1);
    check_cables(whole, "server-2=0.5", 0.5, 2 * 8, 8);
    check_cables(whole, "leaf-5=0.999", 0.999, 16, 0);
    check_cables(whole, "domain-1=0.1", 0.1, 8, 0);
    check_cables(whole, "leaf-5=1", 1, 0, 0);
    fab_link_id up = whole->n_links - 2; /* the last cable lies below a spine */
    (void)snprintf(text, sizeof text, "%s=0.5", fab_link_name(whole, up, name));
    check_cables(whole, text, 0.5, 1, 0);
    fab_fabric_free(whole);
}

Test(degrade, takes_the_least_of_several_and_refuses_what_is_not_there) {
    fab_fabric *whole = fixture_build("clos:gpus=64,radix=16", NULL, NULL);
    fab_weak_part parts[] = {part_of("gpu-3=0.5"), part_of("nic-3=0.25"), part_of("nic-3=0.5")};
    fab_weak_fabric weak = {.fabric = NULL};
    fab_error err = {0};
    cr_assert_eq(fab_fabric_degrade(whole, parts, 2, &weak, &err), FAB_OK);
    cr_expect_eq(weak.n_cables, 2);
    double least = 1;
    for (uint32_t l = 0; l < whole->n_links; l++) {
        least = fmin(least, fab_class_of(weak.fabric, l)->capacity_bps / fab_class_of(whole, l)->capacity_bps);
    }
    cr_expect_float_eq(least, 0.25, 1e-12);
    fab_weak_fabric_release(&weak);
    cr_expect_eq(fab_fabric_degrade(whole, parts, 3, &weak, &err), FAB_EINPUT);
    cr_expect_str_eq(err.text, "nic-3 is given twice");
    static const char *const NAMES[] = {"nic-64=0.5",    "server-8=0.5", "rack-1=0.5",
                                        "leaf-0:17=0.5", "99999=0.5",    "server-=0.5"};
    static const char *const MESSAGES[] = {
        "there is no nic-64: they are numbered 0 to 63",      "there is no server-8: servers are numbered 0 to 7",
        "'rack-1' names no node; names are such as spine-3",  "no link is 'leaf-0:17'; leaf-0 has 16 of them",
        "there is no link 99999: they are numbered 0 to 511", "there is no server-: servers are numbered 0 to 7"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        fab_error other = {0};
        fab_weak_part part = part_of(NAMES[i]);
        cr_expect_eq(fab_fabric_degrade(whole, &part, 1, &weak, &other), FAB_EINPUT);
        cr_expect_str_eq(other.text, MESSAGES[i]);
        cr_expect_null(weak.fabric);
    }
    fab_fabric_free(whole);
}

/* --- what it does to phases --------------------------------------------------------------------------------------- */

typedef struct outcome {
    fab_design *design;
    fab_fabric *fabric;
    fab_result before;
    fab_degradation *d;
} outcome;

static outcome degraded(const char *design, const char *job, const char *traffic, const char *engine,
                        const char *part_text) {
    outcome out = {.design = calloc(1, sizeof *out.design)};
    fab_fabric_result cost = {.name = "test"};
    fab_error err = {0};
    const fab_engine_spec spec = fixture_spec(engine);
    fab_weak_part part = part_of(part_text);
    out.fabric = fixture_build(design, out.design, NULL);
    fixture_set_keys(out.design, 0, job);
    const fab_context_request what_of_replay = {
        .design = out.design, .fabric = out.fabric, .traffic = traffic, .engines = &spec, .n_engines = 1, .seed = 1};
    fab_context *context = fixture_context(&what_of_replay);
    const fab_replay replay = {.context = context, .n_seeds = 1, .n_threads = 2, .rates = true};
    out.before = (fab_result){.fabrics = &cost, .n_fabrics = 1};
    cr_assert_eq(fab_replay_run(&replay, &out.before, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_degraded_run(&replay, &out.before, &part, 1, &out.d, &err), FAB_OK, "%s: %s", part_text, err.text);
    out.before.fabrics = NULL;
    fab_context_free(context);
    return out;
}

static void release(outcome *out) {
    fab_degradation_free(out->d);
    fab_result_release(&out->before);
    fab_fabric_free(out->fabric);
    free(out->design);
}

#define RING "fat-tree:k=4,gpus-per-server=1,domain=1"

/* A ring is as fast as its slowest edge. */
Test(degrade, a_nic_at_half_speed_doubles_a_ring) {
    outcome out = degraded(RING, "tp=1 dp=16 memory-check=off", "job", "dmodk", "nic-3=0.5");
    cr_assert_eq(out.d->n_phases, 1);
    const fab_degraded_phase *dp = &out.d->phases[0];
    double latency_s = out.before.phases[0].engines[0].latency_s;
    cr_expect_float_eq(dp->after_s.mean - latency_s, 2 * (dp->before_s.mean - latency_s), 1e-9 * dp->before_s.mean);
    cr_expect_eq(dp->hit_flows, 2, "one comes, one leaves");
    cr_expect_eq(dp->hit_comms, 1);
    cr_expect_str_eq(dp->comms[0], "dp group tp=0 pp=0");
    cr_expect_eq(out.d->compute_ratio, 1);
    cr_assert_eq(out.d->n_iterations, 1);
    cr_expect_gt(out.d->iterations[0].after_s, out.d->iterations[0].before_s);
    release(&out);
}

Test(degrade, healthy_parts_change_nothing) {
    static const char *const ENGINES[] = {"ecmp,qp=4", "adaptive", "spray", "pinned"};
    for (size_t i = 0; i < 4; i++) {
        outcome out = degraded(RING, "tp=1 dp=4 pp=4 memory-check=off", "job", ENGINES[i], "leaf-1=1");
        for (size_t p = 0; p < out.d->n_phases; p++) {
            const fab_degraded_phase *phase = &out.d->phases[p];
            cr_expect_eq(phase->factor, 1);
            cr_expect_eq(phase->hit_flows, 0);
            cr_expect_eq(phase->before_s.max, phase->after_s.max);
        }
        cr_expect_eq(out.d->iterations[0].after_s, out.d->iterations[0].before_s);
        release(&out);
    }
}

/* Everything a slow GPU computes takes longer, and what is not computation does not. */
Test(degrade, a_slow_gpu_holds_up_the_iteration) {
    outcome out = degraded("clos:gpus=64,radix=16", "tp=8 dp=8 memory-check=off", "job", "spray", "gpu-9=0.5");
    const fab_iteration *before = &out.before.iterations[0];
    double computed_s = before->compute_s + before->bubble_s + before->optimizer_s;
    double longer_s = out.d->iterations[0].after_s - before->time_s;
    cr_expect_eq(out.d->compute_ratio, 0.5);
    cr_expect_geq(longer_s, computed_s * (1 - 1e-9), "%g of %g", longer_s, computed_s);
    cr_expect_leq(out.d->iterations[0].after_s, 2 * before->time_s * (1 + 1e-9));
    cr_expect_eq(out.d->n_cables, 0);
    for (size_t p = 0; p < out.d->n_phases; p++) {
        cr_expect_eq(out.d->phases[p].factor, 1, "%s: links are those of a healthy GPU", out.d->names[p]);
    }
    release(&out);
    out = degraded("clos:gpus=64,radix=16", "tp=8 dp=4 servers=0-3 memory-check=off", "job", "spray", "gpu-60=0.5");
    cr_expect_eq(out.d->compute_ratio, 1, "not of the job");
    cr_expect_eq(out.d->iterations[0].after_s, out.before.iterations[0].time_s);
    release(&out);
}

/* Under static routes the flows that are hit are those whose paths hold the cable; no phase gets faster by more than
 * rounding while its flows are alone on their links. */
Test(degrade, a_cable_hits_the_flows_that_cross_it) {
    static const char *const TRAFFIC = "pattern:permutation";
    fab_rng rng = fab_rng_make(3, 0);
    fab_design design;
    fab_fabric *fabric = fixture_build("fat-tree:k=8,gpus-per-server=1,domain=1", &design, NULL);
    fab_next_hops *next_hops = fixture_next_hops(fabric);
    fab_traffic traffic = fixture_traffic(TRAFFIC, &design, fabric, 1);
    const fab_phase *phase = &traffic.phases[0];
    static const char *const ENGINES[] = {"ecmp", "ecmp,qp=4", "dmodk", "pinned"};
    for (size_t i = 0; i < 4; i++) {
        fab_router router = fixture_router(ENGINES[i], fabric, next_hops);
        fab_routes routes = {0};
        fab_error err = {0};
        cr_assert_eq(fab_route_phase(&router, phase, 1, &routes, &err), FAB_OK, "%s", err.text);
        for (int round = 0; round < 10; round++) {
            fab_link_id link = (uint32_t)fab_rng_below(&rng, fabric->n_links);
            char text[96];
            char name[80];
            uint64_t n = 0;
            for (uint32_t flow = 0; flow < routes.n_flows; flow++) {
                bool crosses = false;
                for (size_t k = routes.path_first[routes.flow_first[flow]];
                     k < routes.path_first[routes.flow_first[flow + 1]]; k++) {
                    crosses = crosses || routes.link[k] >> 1 == link >> 1;
                }
                n += crosses;
            }
            (void)snprintf(text, sizeof text, "%s=0.5", fab_link_name(fabric, link, name));
            outcome out = degraded("fat-tree:k=8,gpus-per-server=1,domain=1", "", TRAFFIC, ENGINES[i], text);
            cr_expect_eq(out.d->phases[0].hit_flows, n, "%s, %s", ENGINES[i], text);
            cr_expect_geq(out.d->phases[0].factor, 1 - 1e-9);
            if (n == 0) {
                cr_expect_eq(out.d->phases[0].factor, 1);
            }
            release(&out);
        }
        fab_routes_release(&routes);
        fab_router_release(&router);
    }
    fab_traffic_release(&traffic);
    fab_next_hops_free(next_hops);
    fab_fabric_free(fabric);
}
