/* Collectives against the published formulas [Thakur, Rabenseifner, Gropp, 2005; nccl-tests], choices and refusals. */
#include "fab/design.h"
#include "oracle_messages.h"
#include "fab/topologies.h"
#include "traffic_fixture.h"
#include "fabric_fixture.h"

#include <math.h>

/* Servers of one GPU: nothing is shared. */
static void check_formula(const fab_fabric *fabric, fab_operation operation, const char *name, uint32_t r, double steps,
                          double sent) {
    uint32_t members[64];
    for (uint32_t i = 0; i < r; i++) {
        members[i] = i;
    }
    const fab_algorithm *a = fab_algorithm_find(operation, name);
    fab_communicator c = {.members = members, .n = r, .bytes = 1e9};
    oracle_collective_cost cost;
    fab_error err = {.code = FAB_OK};
    cr_assert_not_null(a, "%s by %s", fab_operation_name(operation), name);
    fab_status status = oracle_collective_formula(a, fabric, &c, &cost, &err);
    bool exchanges = strstr(name, "ing") != NULL && strcmp(name, "ring") != 0;
    if (exchanges && (r & (r - 1)) != 0) {
        cr_assert_eq(status, FAB_EINPUT);
        cr_assert_not_null(strstr(err.text, "choose algorithm=ring"), "%s", err.text);
        return;
    }
    cr_assert_eq(status, FAB_OK, "%s", err.text);
    cr_assert_eq((double)cost.steps, steps, "%s by %s, r=%u: %g steps", fab_operation_name(operation), name, r, steps);
    cr_assert_float_eq(cost.sent_bytes, sent * 1e9, 1, "%s by %s, r=%u: %.17g bytes", fab_operation_name(operation),
                       name, r, cost.sent_bytes);
}

Test(collective, steps_and_volume_are_those_of_the_literature) {
    fab_fabric *fabric = fixture_build("clos:gpus=64,gpus-per-server=1,radix=16,reduction=switch", NULL, NULL);
    for (uint32_t n = 2; n <= 64; n++) {
        double r = n;
        double log = ceil(log2(r));
        double most = (r - 1) / r;
        check_formula(fabric, FAB_ALL_REDUCE, "ring", n, 2 * (r - 1), 2 * most);
        check_formula(fabric, FAB_ALL_REDUCE, "doubling", n, log, log);
        check_formula(fabric, FAB_ALL_REDUCE, "halving-doubling", n, 2 * log, 2 * most);
        check_formula(fabric, FAB_ALL_REDUCE, "tree", n, 2 * log, 2 * most);
        check_formula(fabric, FAB_ALL_REDUCE, "mesh", n, 2, 2 * most);
        check_formula(fabric, FAB_ALL_REDUCE, "in-network", n, 2, 1);
        check_formula(fabric, FAB_ALL_GATHER, "ring", n, r - 1, most);
        check_formula(fabric, FAB_ALL_GATHER, "doubling", n, log, most);
        check_formula(fabric, FAB_ALL_GATHER, "mesh", n, 1, most);
        check_formula(fabric, FAB_REDUCE_SCATTER, "ring", n, r - 1, most);
        check_formula(fabric, FAB_REDUCE_SCATTER, "halving", n, log, most);
        check_formula(fabric, FAB_REDUCE_SCATTER, "mesh", n, 1, most);
        check_formula(fabric, FAB_ALL_TO_ALL, "mesh", n, 1, most);
        check_formula(fabric, FAB_ALL_TO_ALL, "shifted", n, r - 1, most);
        check_formula(fabric, FAB_BROADCAST, "ring", n, r - 1, most);
        check_formula(fabric, FAB_BROADCAST, "tree", n, log, most);
        check_formula(fabric, FAB_BROADCAST, "binomial", n, log, most);
        check_formula(fabric, FAB_REDUCE, "binomial", n, log, most);
        cr_assert_float_eq(fab_bus_factor(FAB_ALL_REDUCE, n), 2 * most, 1e-15);
        cr_assert_float_eq(fab_bus_factor(FAB_ALL_TO_ALL, n), most, 1e-15);
        cr_assert_float_eq(fab_bus_factor(FAB_REDUCE_SCATTER, n), most, 1e-15);
        cr_assert_eq(fab_bus_factor(FAB_BROADCAST, n), 1);
        cr_assert_eq(fab_bus_factor(FAB_REDUCE, n), 1);
    }
    fab_fabric_free(fabric);
}

/* 64 nodes of 8 H100, 400 Gb/s NICs, 1 GB: 2 (7/8) S / 450 GB/s + 2 (63/64) (S/8) / 50 GB/s = 8.81 ms. */
Test(collective, hierarchical_takes_its_three_stages) {
    fab_fabric *fabric = fixture_build("rail-spine:gpus=512", NULL, NULL);
    fab_traffic t = traffic_made("pattern:all-reduce,algorithm=hierarchical,bytes=1024MB", NULL, fabric, 1);
    cr_assert_eq(t.n_phases, 3);
    double rates[] = {450e9, 50e9, 450e9}; /* bytes per second */
    double sum = 0;
    double s = 1024e6;
    for (size_t i = 0; i < 3; i++) {
        double most = 0;
        for (uint64_t f = 0; f < t.phases[i].n_flows; f++) {
            fab_flow flow = fab_phase_flow(&t.phases[i], f);
            bool same_rail = flow.src % 8 == flow.dst % 8;
            bool same_server = flow.src / 8 == flow.dst / 8;
            cr_assert(i == 1 ? same_rail && !same_server : same_server);
            most = (double)flow.bytes > most ? (double)flow.bytes : most;
        }
        cr_assert_eq(t.phases[i].n_flows, 512); /* each rank sends once */
        cr_assert_float_eq(most, i == 1 ? 2 * 63.0 / 64 * s / 8 : 7.0 / 8 * s, 1);
        sum += most / rates[i];
    }
    cr_assert_float_eq(sum / 1.024, 8.81e-3, 0.005e-3);
    double modelled = 0;
    fab_error err = {.code = FAB_OK};
    cr_assert_eq(fab_collective_time(fabric, t.phases, 3, &modelled, &err), FAB_OK);
    double latency = 14 * FAB_STEP_DOMAIN_S + 126 * FAB_STEP_NETWORK_S;
    cr_assert_float_eq(modelled, sum + latency, 1e-9);
    fab_traffic_release(&t);
    fab_fabric_free(fabric);
}

/* A reduction tree: S/k up and down at every NIC, and once for every leaf that is not alone. */
Test(collective, in_network_loads_the_links_of_a_tree) {
    fab_fabric *fabric =
        fixture_build("clos:gpus=64,gpus-per-server=1,radix=16,reduction=switch", NULL, NULL); /* 8 per leaf */
    fab_traffic t = traffic_made("pattern:all-reduce,algorithm=in-network,bytes=64MB,gpus=0-47", NULL, fabric, 1);
    cr_assert_eq(t.n_phases, 1);
    uint64_t out[8] = {0};
    uint64_t in[8] = {0};
    uint32_t sends[64] = {0};
    for (uint64_t f = 0; f < t.phases[0].n_flows; f++) {
        fab_flow flow = fab_phase_flow(&t.phases[0], f);
        cr_assert(flow.bytes >= 63999960 && flow.bytes <= 64000000);
        sends[flow.src]++;
        if (flow.src / 8 != flow.dst / 8) {
            out[flow.src / 8]++;
            in[flow.dst / 8]++;
        }
    }
    for (uint32_t i = 0; i < 48; i++) {
        cr_assert_eq(sends[i], 1);
    }
    for (uint32_t leaf = 0; leaf < 6; leaf++) {
        cr_assert(out[leaf] == 1 && in[leaf] == 1);
    }
    fab_traffic_release(&t);
    fab_fabric_free(fabric);
    fabric = fixture_build("clos:gpus=64,gpus-per-server=1,radix=16", NULL, NULL);
    traffic_refused("pattern:all-reduce,algorithm=in-network", NULL, fabric, FAB_EUNSUPPORTED, NULL,
                    "the switches of this fabric do not reduce; set reduction=switch where they do, or choose "
                    "algorithm=ring");
    fab_fabric_free(fabric);
}

/* Bytes out of and into every GPU, as the switch of a domain sees them: S + S/k; trees of domains put 2 (M-1) S/k on
 * each rail besides, no more than 2 S/k at a NIC and direction. */
Test(collective, reducing_switches_of_domains_see_each_part_once) {
    static const struct {
        const char *design;
        uint32_t k, m;
    } ROWS[] = {{"clos:gpus=8", 8, 1}, {"rail-spine:gpus=48", 8, 6}, {"clos:gpus=28,gpus-per-server=4,radix=16", 4, 7}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const double s = 840e6;
        const uint32_t k = ROWS[i].k;
        const uint32_t r = k * ROWS[i].m;
        fab_fabric *fabric = fixture_build(ROWS[i].design, NULL, NULL);
        char text[96];
        (void)snprintf(text, sizeof text, "pattern:all-reduce,algorithm=%s,bytes=840MB",
                       ROWS[i].m > 1 ? "nvls-tree" : "nvls");
        fab_traffic t = traffic_made(text, NULL, fabric, 1);
        double port[2][48] = {{0}};
        double nic[2][48] = {{0}};
        double rail[8] = {0};
        cr_assert_eq(t.n_phases, 1);
        cr_assert_eq(t.phases[0].steps, 2 + 2 * (uint64_t)ceil(log2(ROWS[i].m)));
        for (uint64_t f = 0; f < t.phases[0].n_flows; f++) {
            fab_flow flow = fab_phase_flow(&t.phases[0], f);
            bool inside = flow.src / k == flow.dst / k;
            (inside ? port : nic)[0][flow.src] += (double)flow.bytes;
            (inside ? port : nic)[1][flow.dst] += (double)flow.bytes;
            cr_assert(inside || flow.src % k == flow.dst % k);
            rail[flow.src % k] += inside ? 0 : (double)flow.bytes;
        }
        for (uint32_t gpu = 0; gpu < r; gpu++) {
            for (int way = 0; way < 2; way++) {
                cr_assert_float_eq(port[way][gpu], s * (1 + 1.0 / k), 1);
                cr_assert_leq(nic[way][gpu], 2 * s / k + 8);
            }
        }
        for (uint32_t j = 0; j < k; j++) {
            cr_assert_float_eq(rail[j], 2 * (ROWS[i].m - 1.0) * s / k, 64);
        }
        fab_traffic_release(&t);
        fab_fabric_free(fabric);
    }
}

/* What NCCL takes is what busbw says, with its thresholds: rings of 4 GPUs, switches from 5 of Hopper and 6 of
 * Blackwell on, small sizes by rings and trees; all-gathers by rings, all-to-alls over the rails. */
Test(collective, nccl_takes_what_was_seen) {
    static const struct {
        const char *gpu, *pattern, *takes;
    } ROWS[] = {
        {"h200-141gb", "pattern:all-reduce,gpus=0-3,bytes=1GB", "ring"},
        {"h200-141gb", "pattern:all-reduce,gpus=0-4,bytes=1GB", "nvls"},
        {"h200-141gb", "pattern:all-reduce,gpus=0-7,bytes=512kB", "ring"},
        {"h200-141gb", "pattern:all-reduce,gpus=0-7,bytes=4MB", "nvls"},
        {"a100-80gb", "pattern:all-reduce,gpus=0-7,bytes=1GB", "ring"},
        {"b200-180gb", "pattern:all-reduce,gpus=0-4,bytes=16GB", "ring"},
        {"b200-180gb", "pattern:all-reduce,gpus=0-5,bytes=16GB", "nvls"},
        {"h100-80gb", "pattern:all-reduce,bytes=100kB", "tree"},
        {"h100-80gb", "pattern:all-reduce,bytes=4GB", "nvls-tree"},
        {"h100-80gb", "pattern:all-gather,bytes=1GB", "ring"},
        {"h100-80gb", "pattern:reduce-scatter,bytes=1GB", "ring"},
        {"h100-80gb", "pattern:all-to-all,bytes=1MB", "pxn"},
        {"h100-80gb", "pattern:all-to-all,gpus=0-7,bytes=1MB", "mesh"},
    };
    fab_fabric *fabric = fixture_build("rail-spine:gpus=64", NULL, NULL);
    fab_design *design = traffic_design();
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        char text[96];
        (void)snprintf(text, sizeof text, "%s,algorithm=nccl", ROWS[i].pattern);
        cr_assert_eq(fab_design_set_job(design, 0, "gpu", ROWS[i].gpu, "test", NULL), FAB_OK);
        fab_traffic t = traffic_made(text, design, fabric, 1);
        cr_assert_str_eq(t.phases[0].algorithm, ROWS[i].takes, "%s of %s: %s", text, ROWS[i].gpu, t.summary);
        (void)snprintf(text, sizeof text, "nccl takes %s", ROWS[i].takes);
        cr_assert_not_null(strstr(t.summary, text), "%s", t.summary);
        fab_traffic_release(&t);
    }
    cr_assert_eq(fab_design_set_job(design, 0, "gpu", "v100-32gb", "test", NULL), FAB_OK);
    traffic_refused("pattern:all-reduce,algorithm=nvls,gpus=0-7", design, fabric, FAB_EUNSUPPORTED, NULL,
                    "nvls needs scale-up switches that reduce, and those of these GPUs are not known to; choose "
                    "algorithm=ring, or the GPU of the job");
    free(design);
    fab_fabric_free(fabric);
}

/* auto is the least of all by the model, and says so. */
Test(collective, auto_takes_the_least_time) {
    static const char *const OPERATIONS[] = {"all-reduce", "all-gather", "reduce-scatter",
                                             "all-to-all", "broadcast",  "reduce"};
    static const char *const SIZES[] = {"10kB", "1MB", "1GB"};
    fab_fabric *fabric = fixture_build("rail-spine:gpus=48,reduction=switch", NULL, NULL);
    fab_error err = {.code = FAB_OK};
    for (size_t i = 0; i < 18; i++) {
        char text[128];
        (void)snprintf(text, sizeof text, "pattern:%s,algorithm=all,bytes=%s", OPERATIONS[i / 3], SIZES[i % 3]);
        fab_traffic all = traffic_made(text, NULL, fabric, 1);
        double least = INFINITY;
        const char *best = NULL;
        for (size_t p = 0, n = 0; p < all.n_phases; p += n) {
            double time = 0;
            for (n = 1; p + n < all.n_phases && all.phases[p + n].run == all.phases[p].run; n++) {
                cr_assert_str_eq(all.phases[p + n].algorithm, all.phases[p].algorithm);
            }
            cr_assert(all.phases[p].alternative);
            cr_assert_eq(fab_collective_time(fabric, all.phases + p, n, &time, &err), FAB_OK);
            best = time < least ? all.phases[p].algorithm : best;
            least = time < least ? time : least;
        }
        (void)snprintf(text, sizeof text, "pattern:%s,algorithm=auto,bytes=%s", OPERATIONS[i / 3], SIZES[i % 3]);
        fab_traffic one = traffic_made(text, NULL, fabric, 1);
        double time = 0;
        cr_assert_eq(fab_collective_time(fabric, one.phases, one.n_phases, &time, &err), FAB_OK);
        cr_assert_eq(time, least);
        cr_assert_str_eq(one.phases[0].algorithm, best);
        cr_assert(one.phases[0].run == 0 && !one.phases[0].alternative);
        (void)snprintf(text, sizeof text, "auto takes %s", best);
        cr_assert_not_null(strstr(one.summary, text), "%s", one.summary);
        fab_traffic_release(&all);
        fab_traffic_release(&one);
    }
    fab_fabric_free(fabric);
}

Test(collective, the_model_of_an_all_to_all_needs_no_list) {
    fab_fabric *fabric = fixture_build("rail-spine:gpus=64", NULL, NULL);
    fab_error err = {.code = FAB_OK};
    double counted = 0;
    double listed = 0;
    fab_traffic t = traffic_made("pattern:all-to-all,gpus=5-50", NULL, fabric, 1);
    cr_assert_eq(fab_collective_time(fabric, t.phases, 1, &counted, &err), FAB_OK);
    fab_phase copy = {.steps = 1, .executions = 1, .n_flows = t.phases[0].n_flows};
    copy.src = calloc(copy.n_flows, sizeof *copy.src);
    copy.dst = calloc(copy.n_flows, sizeof *copy.dst);
    copy.bytes = calloc(copy.n_flows, sizeof *copy.bytes);
    for (uint64_t i = 0; i < copy.n_flows; i++) {
        fab_flow flow = fab_phase_flow(&t.phases[0], i);
        copy.src[i] = flow.src;
        copy.dst[i] = flow.dst;
        copy.bytes[i] = flow.bytes;
    }
    cr_assert_eq(fab_collective_time(fabric, &copy, 1, &listed, &err), FAB_OK);
    cr_assert_float_eq(counted, listed, 1e-15);
    cr_assert_float_eq(counted, 43 * 1e6 / 50e9 + FAB_STEP_NETWORK_S, 1e-12); /* gpu 5 has 2 neighbours, 43 others */
    free(copy.src);
    free(copy.dst);
    free(copy.bytes);
    fab_traffic_release(&t);
    fab_fabric_free(fabric);
}

Test(collective, candidates) {
    fab_fabric *fabric = fixture_build("rail-spine:gpus=64,reduction=switch", NULL, NULL);
    uint32_t members[16];
    const fab_algorithm *list[FAB_MAX_ALGORITHMS];
    size_t n = 0;
    fab_error err = {.code = FAB_OK};
    for (uint32_t i = 0; i < 16; i++) {
        members[i] = i;
    }
    fab_communicator c = {.members = members, .n = 16, .bytes = 1e6};
    cr_assert_eq(oracle_collective_candidates(FAB_ALL_REDUCE, fabric, &c, list, &n, &err), FAB_OK);
    cr_assert_eq(n, 8); /* all but nvls */
    c.n = 12;           /* no power of two, domains of 8 and 4 */
    cr_assert_eq(oracle_collective_candidates(FAB_ALL_REDUCE, fabric, &c, list, &n, &err), FAB_OK);
    cr_assert_eq(n, 3);
    cr_assert_str_eq(list[0]->name, "ring");
    cr_assert_str_eq(list[1]->name, "tree");
    cr_assert_str_eq(list[2]->name, "mesh");
    fab_fabric_free(fabric);
}

Test(collective, schedules_that_are_too_large_are_refused) {
    fab_fabric fabric = traffic_fabric(16384, 8, 8);
    uint32_t *members = calloc(16384, sizeof *members);
    oracle_message_list list = {.n_messages = 7};
    fab_error err = {.code = FAB_OK};
    for (uint32_t i = 0; i < 16384; i++) {
        members[i] = i;
    }
    fab_communicator c = {.members = members, .n = 16384, .bytes = 1e9, .channels = 1};
    const fab_algorithm *ring = fab_algorithm_find(FAB_ALL_REDUCE, "ring");
    cr_assert_eq(oracle_collective_messages(ring, &fabric, &c, 1, &list, &err), FAB_EUNSUPPORTED);
    cr_assert_str_eq(err.text,
                     "all-reduce by ring over 16384 ranks has 536838144 messages, above the limit of 67108864");
    cr_assert_eq(list.n_messages, 7);
    free(members);
}

/* A job by another algorithm carries what the formula says, in one run; by rings it is what it was. */
Test(collective, jobs) {
    static const struct {
        const char *dp;
        bool sharded;
        size_t n_phases;
        const char *first, *algorithm;
    } ROWS[] = {
        {"ring", false, 1, "dp", "ring"},
        {"hierarchical", false, 3, "dp-1", "hierarchical"},
        {"tree", false, 1, "dp", "tree"},
        {"halving-doubling", false, 10, "dp-1", "halving-doubling"},
        {"halving-doubling", true, 10, "dp-rs-1", "halving"},
        {"hierarchical", true, 4, "dp-rs-1", "hierarchical"},
        {"auto", false, 1, "dp", "ring"},
    };
    fab_fabric *fabric = fixture_build("rail-spine:gpus=64,gpus-per-server=8", NULL, NULL);
    fab_design *design = traffic_design();
    design->jobs[0].tp = 2;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        cr_assert_eq(fab_design_set_job(design, 0, "dp-collective", ROWS[i].dp, "test", NULL), FAB_OK);
        design->jobs[0].sharded = ROWS[i].sharded;
        fab_traffic t = traffic_made("job", design, fabric, 1);
        cr_assert_eq(t.n_phases, 1 + ROWS[i].n_phases, "%s: %zu phases", ROWS[i].dp, t.n_phases);
        cr_assert_str_eq(t.phases[1].name, ROWS[i].first);
        cr_assert_str_eq(t.phases[1].algorithm, ROWS[i].algorithm);
        cr_assert(t.phases[0].run == 0 && t.phases[1].run == 1);
        cr_assert_eq(t.phases[t.n_phases - 1].run, ROWS[i].sharded ? 2 : 1);
        double width = ROWS[i].sharded ? 0 : (double)t.job.gradient_bytes;
        for (size_t p = 1; p < t.n_phases; p++) {
            traffic_check_phase(&t.phases[p], fabric);
            cr_assert_eq(t.phases[p].ranks, 32);
            cr_assert_not(t.phases[p].alternative);
            if (width > 0) {
                cr_assert_float_eq(t.phases[p].result_bytes, t.parameters / 2 * width, 1e-6 * t.parameters);
            }
        }
        char name[64];
        cr_assert_str_eq(fab_comm_name(&t, &t.phases[t.n_phases - 1], 1, name), "dp group tp=1 pp=0");
        fab_traffic_release(&t);
    }
    fab_traffic one = traffic_made("job:tp", design, fabric, 1); /* S = b s h a */
    cr_assert_float_eq(one.phases[0].result_bytes, (double)one.job.seq * (double)one.job.hidden * 2, 1);
    cr_assert_eq(one.phases[0].ranks, 2);
    fab_traffic_release(&one);
    cr_assert_eq(fab_design_set_job(design, 0, "dp-collective", "tree", "test", NULL), FAB_OK);
    design->jobs[0].sharded = true;
    traffic_refused("job:dp-rs", design, fabric, FAB_EINPUT, "job",
                    "phase 'dp-rs': there is no reduce-scatter by tree; choose ring or hierarchical");
    free(design);
    fab_fabric_free(fabric);
}

/* What is sent on for others in a fabric without links between rails, by counting flows: GPU i is on rail i % 8. */
static double counted_copies(const fab_phase *p, bool at_destination) {
    double copied[256] = {0};
    double most = 0;
    for (uint64_t i = 0; i < p->n_flows; i++) {
        const fab_flow flow = fab_phase_flow(p, i);
        if (flow.src / 8 != flow.dst / 8 && flow.src % 8 != flow.dst % 8) {
            copied[at_destination ? flow.dst / 8 * 8 + flow.src % 8 : flow.src / 8 * 8 + flow.dst % 8] +=
                (double)flow.bytes;
        }
    }
    for (size_t i = 0; i < 256; i++) {
        most = copied[i] > most ? copied[i] : most;
    }
    return most;
}

Test(collective, relays_between_rails_copy_what_they_send_on) {
    static const struct {
        const char *traffic, *group, *placement;
    } ROWS[] = {{"pattern:all-to-all,bytes=1MB", NULL, NULL},
                {"pattern:all-to-all,bytes=1MB,gpus=3-38", NULL, NULL},
                {"pattern:permutation,bytes=1MB", NULL, NULL},
                {"job", "16", "order"},
                {"job", "4", "order"},
                {"job", "32", "random"}};
    for (size_t i = 0; i < 2 * sizeof ROWS / sizeof ROWS[0]; i++) {
        const char *const traffic = ROWS[i / 2].traffic;
        fab_design *design = calloc(1, sizeof *design);
        fab_fabric *fabric = fixture_build("rail-only:gpus=64,radix=8", design, NULL);
        fabric->forwards_at_destination = i % 2 == 1;
        if (ROWS[i / 2].group != NULL) {
            cr_assert_eq(fab_design_set_job(design, 0, "kind", "ranking", "test", NULL), FAB_OK);
            cr_assert_eq(fab_design_set_job(design, 0, "memory-check", "off", "test", NULL), FAB_OK);
            cr_assert_eq(fab_design_set_job(design, 0, "table-sharding", "tables", "test", NULL), FAB_OK);
            cr_assert_eq(fab_design_set_job(design, 0, "table-group", ROWS[i / 2].group, "test", NULL), FAB_OK);
            cr_assert_eq(fab_design_set_job(design, 0, "placement", ROWS[i / 2].placement, "test", NULL), FAB_OK);
        }
        fab_traffic t = traffic_made(traffic, design, fabric, 1);
        for (size_t p = 0; p < t.n_phases; p++) {
            const double counted = counted_copies(&t.phases[p], i % 2 == 1);
            cr_assert_float_eq(t.phases[p].copied_bytes, counted, 1e-9 * counted, "%zu %s: %.17g, not %.17g", i,
                               t.phases[p].name, t.phases[p].copied_bytes, counted);
        }
        if (i < 2) { /* the others of its domain, to each of its rail elsewhere; by half the 3,350 GB/s of an H100 */
            cr_assert(t.phases[0].copied_bytes == 7 * 7 * 1e6);
            cr_assert_float_eq(fab_phase_copy_s(fabric, &t.phases[0]), 49e6 * 2 / 3350e9, 1e-12);
        }
        fab_traffic_release(&t);
        fab_fabric_free(fabric);
        free(design);
    }
}

Test(collective, rail_aligned_moves_everything_once_over_its_rail) {
    fab_fabric *fabric = fixture_build("rail-spine:gpus=32", NULL, NULL);
    fab_traffic t = traffic_made("pattern:all-to-all,algorithm=rail-aligned,bytes=1MB", NULL, fabric, 1);
    cr_assert_eq(t.n_phases, 2);
    for (uint64_t i = 0; i < t.phases[0].n_flows; i++) {
        fab_flow flow = fab_phase_flow(&t.phases[0], i);
        cr_assert(flow.src / 8 == flow.dst / 8 && flow.bytes == 4000000); /* 4 domains */
    }
    for (uint64_t i = 0; i < t.phases[1].n_flows; i++) {
        fab_flow flow = fab_phase_flow(&t.phases[1], i);
        cr_assert(flow.src % 8 == flow.dst % 8 && flow.src / 8 != flow.dst / 8 && flow.bytes == 8000000);
    }
    cr_assert_eq(t.phases[0].n_flows, 32 * 7);
    cr_assert_eq(t.phases[1].n_flows, 32 * 3);
    /* A GPU sends 24 MB on, 3 MB of them its own; half the 3,350 GB/s of an H100 copy the rest, or what copy-rate says.
     */
    cr_assert(t.phases[0].copied_bytes == 0 && t.phases[1].copied_bytes == 24e6 - 3e6);
    cr_assert_float_eq(fab_phase_copy_s(fabric, &t.phases[1]), 21e6 * 2 / 3350e9, 1e-12);
    fab_fabric slower = *fabric;
    slower.host.copy_bps = 8e9;
    cr_assert_float_eq(fab_phase_host_s(&slower, &t.phases[1]) - fab_phase_host_s(fabric, &t.phases[0]), 21e-3, 1e-12);
    fab_traffic_release(&t);
    fab_fabric_free(fabric);
}

Test(collective, refusals) {
    static const struct {
        const char *text, *message;
    } ROWS[] = {
        {"pattern:all-reduce,algorithm=halving",
         "algorithm: 'halving' is none of ring, doubling, halving-doubling, "
         "tree, mesh, hierarchical, nvls, nvls-tree, in-network, auto, nccl, best, all"},
        {"pattern:all-reduce,algorithm=halving-doubling",
         "recursive halving-doubling needs a power of two of ranks in a group, not 48; choose algorithm=ring or "
         "algorithm=tree"},
        {"pattern:all-reduce,algorithm=hierarchical,gpus=0-7",
         "hierarchical needs members in several scale-up domains, and all 8 are in one; choose algorithm=ring"},
        {"pattern:all-reduce,algorithm=hierarchical,gpus=0-11",
         "hierarchical needs equally many members in each scale-up domain, and 2 domains hold 12 differently; choose "
         "algorithm=ring"},
        {"pattern:all-to-all,algorithm=rail-aligned,gpus=4-11",
         "rail-aligned needs members at the same places (rails) of every scale-up domain; choose algorithm=mesh"},
        {"pattern:all-reduce,channels=9",
         "channels=9 is above 8: one per member of a communicator that a server or scale-up domain holds, where it "
         "has equally many in each of several"},
        {"pattern:all-reduce,algorithm=tree,channels=2",
         "a tree has one channel, or one for each of the 8 members that a server or scale-up domain holds, not 2"},
        {"pattern:all-reduce,channels=0", "channels: '0' is outside 1 to 48"},
        {"pattern:all-to-all,algorithm=ring",
         "algorithm: 'ring' is none of mesh, shifted, rail-aligned, pxn, auto, nccl, best, all"},
    };
    fab_fabric *fabric = fixture_build("rail-spine:gpus=48", NULL, NULL);
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        traffic_refused(ROWS[i].text, NULL, fabric, FAB_EINPUT, ROWS[i].text, ROWS[i].message);
    }
    fab_fabric_free(fabric);
}
