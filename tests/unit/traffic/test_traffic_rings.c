/*
 * Ring collectives, compared with the channels written out one by one. The data-parallel phase of a job with tp = 1 and
 * pp = 1 is one ring over all its GPUs.
 */
#include "fab/design.h"
#include "traffic_fixture.h"

/* Local index at which channel c enters and leaves unit u of m units with k members. */
static void gates(uint32_t m, uint32_t k, uint32_t u, uint32_t c, uint32_t *enter, uint32_t *leave) {
    uint32_t a = c;
    uint32_t b = (c + 1) % k;
    *enter = u % 2 == 0 ? a : b;
    *leave = u % 2 == 0 ? b : a;
    if (m % 2 == 1 && k >= 3) {
        *enter = u == 0 ? (c + 2) % k : *enter;
        *leave = u == m - 1 ? (c + 2) % k : *leave;
    }
}

/* Members of a unit in the order in which a channel visits them. */
static void visit(uint32_t m, uint32_t k, uint32_t u, uint32_t c, uint32_t *order) {
    uint32_t enter = 0;
    uint32_t leave = 0;
    gates(m, k, u, c, &enter, &leave);
    cr_assert_neq(enter, leave);
    bool turn = m % 2 == 1 && k >= 3 && u == m - 1;
    bool up = u % 2 == 1 || (m % 2 == 1 && k >= 3 && u == 0);
    uint32_t at = enter;
    for (uint32_t i = 0; i < k; i++) {
        order[i] = at;
        if (turn) {
            at = i == 0 ? (enter + 1) % k : i == 1 ? (enter + k - 1) % k : (at + k - 1) % k;
        } else {
            at = up ? (at + 1) % k : (at + k - 1) % k;
        }
    }
    cr_assert_eq(order[k - 1], leave);
}

/* Adds every edge of every channel to the n x n matrix; checks that each channel is one cycle through all members. */
static void add_channels(uint32_t m, uint32_t k, uint64_t bytes, uint64_t *matrix) {
    uint32_t n = m * k;
    uint32_t *cycle = calloc(n, sizeof *cycle);
    bool *seen = calloc(n, sizeof *seen);
    cr_assert(cycle != NULL && seen != NULL);
    for (uint32_t c = 0; c < k; c++) {
        uint64_t share = bytes / k + (c < bytes % k);
        memset(seen, 0, n * sizeof *seen);
        for (uint32_t u = 0; u < m; u++) {
            visit(m, k, u, c, cycle + u * k);
            for (uint32_t i = 0; i < k; i++) {
                cycle[u * k + i] += u * k;
                cr_assert_not(seen[cycle[u * k + i]]);
                seen[cycle[u * k + i]] = true;
            }
        }
        for (uint32_t i = 0; i < n; i++) {
            matrix[cycle[i] * n + cycle[(i + 1) % n]] += share;
        }
    }
    free(cycle);
    free(seen);
}

/* A job of m units of k GPUs: one ring. */
static fab_traffic ring_job(const fab_fabric *fabric, fab_design *design, const char *servers) {
    (void)snprintf(design->jobs[0].model, FAB_NAME_SIZE, "gpt-1.7b");
    cr_assert_eq(fab_design_set_job(design, 0, "servers", servers, "--job", NULL), FAB_OK);
    design->jobs[0].tp = 1;
    fab_traffic traffic = traffic_made("job:dp", design, fabric, 1);
    cr_assert_eq(traffic.n_phases, 1);
    cr_assert_eq(traffic.phases[0].n_comms, 1);
    traffic_check_phase(&traffic.phases[0], fabric);
    return traffic;
}

/* Crossings between units: every member's NIC is left once and entered once, on its own rail. */
static void check_crossings(const fab_phase *phase, uint32_t m, uint32_t k, uint64_t bytes) {
    uint32_t out[256] = {0};
    uint32_t in[256] = {0};
    uint32_t unaligned = 0;
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        uint32_t src = phase->src[i];
        uint32_t dst = phase->dst[i];
        if (src / k == dst / k) {
            continue;
        }
        out[src]++;
        in[dst]++;
        unaligned += src % k != dst % k;
        cr_expect_eq(dst / k, (src / k + 1) % m);
        cr_expect(phase->bytes[i] == bytes / k || phase->bytes[i] == bytes / k + 1);
    }
    for (uint32_t g = 0; g < m * k; g++) {
        cr_expect(out[g] == 1 && in[g] == 1, "m %u k %u gpu %u: %u out, %u in", m, k, g, out[g], in[g]);
    }
    cr_expect_eq(unaligned, k == 2 && m % 2 == 1 ? 2 : 0, "m %u k %u: %u", m, k, unaligned);
}

static void check_ring(uint32_t m, uint32_t k) {
    fab_fabric fabric = traffic_fabric(m * k, k, k);
    fab_design *design = traffic_design();
    fab_traffic traffic = ring_job(&fabric, design, "");
    const fab_phase *phase = &traffic.phases[0];
    uint32_t n = m * k;
    uint64_t *expected = calloc((size_t)n * n, sizeof *expected);
    uint64_t *found = calloc((size_t)n * n, sizeof *found);
    cr_assert(expected != NULL && found != NULL);
    uint64_t bytes = (uint64_t)(2.0 * (n - 1) / n * traffic.parameters * (double)traffic.job.gradient_bytes + 0.5);
    add_channels(m, k, bytes, expected);
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        found[phase->src[i] * n + phase->dst[i]] += phase->bytes[i];
    }
    cr_expect_arr_eq(found, expected, (size_t)n * n * sizeof *found, "m %u k %u", m, k);
    cr_expect_eq(phase->total_bytes, bytes * n);
    cr_expect_leq(phase->n_flows, 2 * n + 2 * k);
    check_crossings(phase, m, k, bytes);
    free(expected);
    free(found);
    fab_traffic_release(&traffic);
    free(design);
}

Test(rings, channels_of_even_and_odd_rings) {
    for (uint32_t m = 2; m <= 9; m++) {
        for (uint32_t k = 2; k <= 9; k++) {
            check_ring(m, k);
        }
    }
}

/* One channel in rank order: every flow goes to the next rank and carries everything. */
static void check_single(const fab_traffic *traffic) {
    const fab_phase *phase = &traffic->phases[0];
    cr_assert_eq(phase->n_flows, traffic->n_ranks);
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        cr_expect_eq(phase->src[i], traffic->gpu_of_rank[i]);
        cr_expect_eq(phase->dst[i], traffic->gpu_of_rank[(i + 1) % traffic->n_ranks]);
        cr_expect_eq(phase->bytes[i], phase->bytes[0]);
    }
}

Test(rings, one_channel_inside_a_domain_with_one_member_or_uneven_servers) {
    static const struct {
        uint32_t gpus, per_server, per_domain;
        const char *servers;
    } ROWS[] = {{8, 8, 8, ""}, {16, 4, 16, ""}, {8, 8, 4, ""}, {6, 1, 1, "3,0,5"}, {20, 8, 8, ""}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        fab_fabric fabric = traffic_fabric(ROWS[i].gpus, ROWS[i].per_server, ROWS[i].per_domain);
        fab_design *design = traffic_design();
        fab_traffic traffic = ring_job(&fabric, design, ROWS[i].servers);
        check_single(&traffic);
        fab_traffic_release(&traffic);
        free(design);
    }
}

/* Where the scale-up domain is larger than a server, its NICs are the rails: channels cross between domains. */
Test(rings, channels_cross_between_domains) {
    fab_fabric fabric = traffic_fabric(4 * 16, 4, 16);
    fab_design *design = traffic_design();
    fab_traffic traffic = ring_job(&fabric, design, "");
    const fab_phase *phase = &traffic.phases[0];
    uint32_t crossing = 0;
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        if (phase->src[i] / 16 != phase->dst[i] / 16) {
            crossing++;
            cr_expect_eq(phase->src[i] % 16, phase->dst[i] % 16);
        }
    }
    cr_expect_eq(crossing, 64);
    fab_traffic_release(&traffic);
    free(design);
}

/* Servers listed out of order are visited in that order. */
Test(rings, servers_in_list_order) {
    fab_fabric fabric = traffic_fabric(32, 4, 4);
    fab_design *design = traffic_design();
    fab_traffic traffic = ring_job(&fabric, design, "6,1,4,3");
    static const uint32_t NEXT[8] = {[6] = 1, [1] = 4, [4] = 3, [3] = 6};
    const fab_phase *phase = &traffic.phases[0];
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        uint32_t from = phase->src[i] / 4;
        cr_expect(phase->dst[i] / 4 == from || phase->dst[i] / 4 == NEXT[from]);
    }
    fab_traffic_release(&traffic);
    free(design);
}

/* With tp = 8 in servers of 8, data-parallel rings stay on their rail. */
Test(rings, data_parallel_groups_stay_on_their_rail) {
    fab_fabric fabric = traffic_fabric(24576, 8, 8);
    fab_design *design = traffic_design();
    design->jobs[0].pp = 16;
    fab_traffic traffic = traffic_made("job", design, &fabric, 1);
    const fab_phase *dp = traffic_phase(&traffic, "dp");
    cr_assert_not_null(dp);
    cr_assert_eq(dp->n_flows, 24576);
    for (uint32_t i = 0; i < dp->n_flows; i++) {
        cr_assert_eq(dp->src[i] % 8, dp->dst[i] % 8);
    }
    fab_traffic_release(&traffic);
    free(design);
}
