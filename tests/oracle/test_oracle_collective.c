/*
 * Every algorithm over random communicators: its messages spread what the operation must spread, add up to its phases,
 * and take the steps and bytes of the closed form, and no receiver gets less than information theory asks for.
 */
#include "fab/rng.h"
#include "fab/topologies.h"
#include "oracle_collective.h"
#include "traffic_fixture.h"
#include "fabric_fixture.h"
#include "draws.h"

#include <math.h>

typedef struct situation {
    fab_fabric *fabric;
    uint32_t members[ORACLE_MAX_RANKS];
    uint32_t r;
} situation;

static bool is(const fab_algorithm *a, const char *name) {
    return strcmp(a->name, name) == 0;
}

/* Sums are made in switches: cycles of flows stand for the way there and back. */
static bool in_switches(const fab_algorithm *a) {
    return is(a, "in-network") || is(a, "nvls") || is(a, "nvls-tree");
}

static uint64_t everyone(uint32_t r) {
    return r == 64 ? UINT64_MAX : (UINT64_C(1) << r) - 1;
}

static void check_knowledge(const fab_algorithm *a, const situation *s, const oracle_outcome *o) {
    if (in_switches(a)) {
        return;
    }
    for (uint32_t i = 0; i < s->r; i++) {
        uint64_t needs = a->operation == FAB_BROADCAST ? 1 : everyone(s->r);
        if (a->operation != FAB_REDUCE || i == 0) {
            cr_assert_eq(o->knows[i] & needs, needs, "%s by %s, r=%u: rank %u lacks %llx",
                         fab_operation_name(a->operation), a->name, s->r, i,
                         (unsigned long long)(needs & ~o->knows[i]));
        }
    }
}

/* What nobody can do without. */
static void check_least_bytes(const fab_algorithm *a, const situation *s, const oracle_outcome *o, double bytes) {
    double part = bytes / s->r * (s->r - 1);
    for (uint32_t i = 0; i < s->r; i++) {
        bool root = i == 0;
        double least = 0;
        switch (a->operation) {
        case FAB_BROADCAST: least = root ? 0 : bytes; break;
        case FAB_REDUCE: least = root ? bytes : 0; break;
        default: least = a->operation == FAB_ALL_GATHER || a->operation == FAB_ALL_TO_ALL ? part : bytes / s->r;
        }
        if (in_switches(a)) {
            least = 0;
        }
        cr_assert_geq(o->received[i], least * (1 - 1e-12), "%s by %s: rank %u of %u", fab_operation_name(a->operation),
                      a->name, i, s->r);
    }
}

/* Bytes of every pair in every phase, from the messages and from the flows. */
static void check_phases(const fab_algorithm *a, const situation *s, const oracle_message_list *list,
                         const fab_phase *phases, size_t n_phases) {
    uint32_t n = fab_n_gpus(s->fabric);
    double *sum = calloc((size_t)n * n, sizeof *sum);
    cr_assert_not_null(sum);
    for (size_t p = 0; p < n_phases; p++) {
        memset(sum, 0, (size_t)n * n * sizeof *sum);
        for (uint64_t i = 0; i < list->n_messages; i++) {
            if (list->phase[i] == p) {
                sum[list->src[i] * n + list->dst[i]] += list->bytes[i];
            }
        }
        for (uint64_t i = 0; i < phases[p].n_flows; i++) {
            fab_flow flow = fab_phase_flow(&phases[p], i);
            sum[flow.src * n + flow.dst] -= (double)flow.bytes;
        }
        for (uint32_t i = 0; i < n * n; i++) {
            cr_assert(fabs(sum[i]) <= 8, "%s by %s, r=%u, phase %s, %u -> %u: off by %g",
                      fab_operation_name(a->operation), a->name, s->r, phases[p].name, i / n, i % n, sum[i]);
        }
    }
    free(sum);
}

/* One group of GPUs of a pattern is the communicator: the phases come from there. */
static void check_one(const fab_algorithm *a, const situation *s, const char *pattern, double bytes,
                      uint32_t channels) {
    fab_communicator c = {.members = s->members, .n = s->r, .bytes = bytes, .channels = channels};
    oracle_message_list list;
    oracle_collective_cost cost;
    oracle_outcome o;
    fab_error err = {.code = FAB_OK};
    for (uint32_t chunks = 1; chunks <= 3; chunks += 2) {
        cr_assert_eq(oracle_collective_formula(a, s->fabric, &c, &cost, &err), FAB_OK, "%s", err.text);
        cr_assert_eq(oracle_collective_messages(a, s->fabric, &c, chunks, &list, &err), FAB_OK, "%s", err.text);
        oracle_run_collective(&list, s->members, s->r, &o);
        cr_assert_not(o.circular);
        cr_assert_not(o.foreign, "%s: a message waits for one that never reaches its source", a->name);
        check_knowledge(a, s, &o);
        check_least_bytes(a, s, &o, bytes);
        double total = 0;
        for (uint32_t i = 0; i < s->r; i++) {
            total += o.sent[i];
        }
        cr_assert_float_eq(total, cost.total_bytes, 1e-9 * total, "%s by %s, r=%u: %.17g, closed form %.17g",
                           fab_operation_name(a->operation), a->name, s->r, total, cost.total_bytes);
        cr_assert_float_eq(cost.sent_bytes * s->r, cost.total_bytes, 1e-9 * total);
        if (is(a, "binomial")) { /* the sends of a rank follow each other by their steps, not by what they wait for */
            cr_assert(o.longest <= cost.steps && 2 * o.longest >= cost.steps);
        } else if (chunks == 1 && !in_switches(a)) {
            cr_assert_eq(o.longest, cost.steps, "%s by %s, r=%u: %llu steps, closed form %llu",
                         fab_operation_name(a->operation), a->name, s->r, (unsigned long long)o.longest,
                         (unsigned long long)cost.steps);
        }
        if (pattern != NULL) {
            fab_traffic traffic = traffic_made(pattern, NULL, s->fabric, 1);
            cr_assert_eq(traffic.n_phases, cost.n_phases, "%s", pattern);
            check_phases(a, s, &list, traffic.phases, traffic.n_phases);
            uint64_t steps = 0;
            for (size_t p = 0; p < traffic.n_phases; p++) {
                traffic_check_phase(&traffic.phases[p], s->fabric);
                cr_assert_eq(traffic.phases[p].run, 0);
                cr_assert_eq(traffic.phases[p].ranks, s->r);
                cr_assert_float_eq(traffic.phases[p].result_bytes, bytes, 1e-9 * bytes);
                cr_assert_str_eq(traffic.phases[p].algorithm, a->name);
                steps += traffic.phases[p].steps;
            }
            cr_assert_eq(steps, cost.steps);
            fab_traffic_release(&traffic);
        }
        oracle_message_list_release(&list);
    }
}

/* Blocks and strides of GPUs in a row; all algorithms that are defined there. */
static uint64_t check_pattern(const char *design, uint32_t first, uint32_t r, uint32_t n_groups, bool by_block,
                              uint32_t channels) {
    situation s = {.fabric = fixture_build(design, NULL, NULL), .r = r};
    uint64_t done = 0;
    char text[160];
    char with[32] = "";
    for (uint32_t i = 0; i < r; i++) {
        s.members[i] = first + (by_block ? (n_groups - 1) * r + i : i * n_groups + n_groups - 1);
    }
    for (const fab_algorithm *a = fab_algorithms; a->name != NULL; a++) {
        double unit = 720720;
        double bytes = unit * r;
        bool has_channels = is(a, "ring") || is(a, "tree");
        fab_communicator c = {.members = s.members, .n = r, .bytes = bytes, .channels = has_channels ? channels : 0};
        fab_error err = {.code = FAB_OK};
        if (oracle_algorithm_check(a, s.fabric, &c, &err) != FAB_OK) {
            cr_assert(err.code == FAB_EINPUT || err.code == FAB_EUNSUPPORTED);
            cr_assert(strstr(err.text, "choose") != NULL || strstr(err.text, "channel") != NULL, "%s", err.text);
            continue;
        }
        (void)snprintf(with, sizeof with, ",channels=%u", channels);
        (void)snprintf(text, sizeof text, "pattern:%s,algorithm=%s,gpus=%u-%u,groups=%u,comm=%u,bytes=%.0fB%s%s",
                       fab_operation_name(a->operation), a->name, first, first + r * n_groups - 1, n_groups,
                       n_groups - 1, a->operation == FAB_ALL_TO_ALL ? unit : bytes, by_block ? ",groups-by=block" : "",
                       has_channels && channels > 0 ? with : "");
        check_one(a, &s, text, bytes, c.channels);
        done++;
    }
    fab_fabric_free(s.fabric);
    return done;
}

Test(oracle_collective, patterns_of_every_size) {
    uint64_t done = 0;
    for (uint32_t r = 2; r <= 64; r++) {
        done += check_pattern("rail-spine:gpus=128,radix=16,reduction=switch", 0, r, 1, true, 0);
        if (r <= 30) {
            done += check_pattern("rail-spine:gpus=128,gpus-per-server=4,radix=16", r % 5, r, 4, false, r % 3 == 0);
        }
    }
    cr_assert_gt(done, 900); /* most are defined */
}

Test(oracle_collective, servers_shared_and_not) {
    static const uint32_t SIZES[][4] = {/* gpus per server, members per server, servers, channels */
                                        {8, 8, 2, 0}, {8, 8, 3, 0}, {8, 4, 4, 0}, {4, 4, 5, 2}, {8, 8, 8, 3},
                                        {2, 2, 3, 0}, {2, 2, 7, 1}, {4, 2, 9, 2}, {1, 1, 9, 0}, {8, 1, 6, 0}};
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        char design[96];
        uint32_t per_server = SIZES[i][0];
        uint32_t k = SIZES[i][1];
        (void)snprintf(design, sizeof design, "clos:gpus=%u,gpus-per-server=%u,radix=32,reduction=switch",
                       16 * per_server, per_server);
        cr_assert_gt(check_pattern(design, 0, k * SIZES[i][2], per_server / k, false, SIZES[i][3]), 10);
    }
}

/* Any set of GPUs in any order. */
Test(oracle_collective, random_members) {
    static const char *const DESIGNS[] = {"rail-spine:gpus=64,radix=16,reduction=switch",
                                          "clos:gpus=48,gpus-per-server=2,radix=16,reduction=switch",
                                          "rail-only:gpus=64,domain=16,radix=8,reduction=switch"};
    uint64_t seen[FAB_N_OPERATIONS] = {0};
    for (size_t d = 0; d < 3; d++) {
        situation s = {.fabric = fixture_build(DESIGNS[d], NULL, NULL)};
        uint32_t n = fab_n_gpus(s.fabric);
        for (uint64_t run = 0; run < DRAWS(40); run++) {
            uint32_t order[64];
            fab_rng rng = fab_rng_make(run, d);
            for (uint32_t i = 0; i < n; i++) {
                order[i] = i;
            }
            fab_rng_shuffle(&rng, order, n);
            s.r = 2 + (uint32_t)(fab_mix64(run * 7 + d) % (n - 1));
            if (run % 4 == 0) { /* whole domains, shuffled */
                s.r = n;
            }
            memcpy(s.members, order, s.r * sizeof *order);
            for (const fab_algorithm *a = fab_algorithms; a->name != NULL; a++) {
                fab_communicator c = {.members = s.members, .n = s.r, .bytes = 1e6};
                fab_error err = {.code = FAB_OK};
                if (oracle_algorithm_check(a, s.fabric, &c, &err) == FAB_OK) {
                    check_one(a, &s, NULL, 1e6, 0);
                    seen[a->operation]++;
                }
            }
        }
        fab_fabric_free(s.fabric);
    }
    for (uint32_t i = 0; i < FAB_N_OPERATIONS; i++) {
        cr_assert_geq(seen[i], DRAWS(240), "%s", fab_operation_name((fab_operation)i));
    }
}
