/* Which servers a job takes, and in which order, on built fabrics with pods. */
#include "fab/design.h"
#include "fab/topologies.h"
#include "traffic_fixture.h"

#include "fab/rng.h"

#define N_SERVERS 48
#define PER_POD   16 /* 3 pods */

typedef struct network {
    fab_design design;
    fab_fabric *fabric;
} network;

static network *make_network(void) {
    network *n = calloc(1, sizeof *n);
    fab_error err = {0};
    cr_assert_not_null(n);
    cr_assert_eq(fab_design_read("clos:gpus=192,gpus-per-server=4,radix=16,pod=64,tiers=3", NULL, 0, &n->design, &err),
                 FAB_OK, "%s", err.text);
    cr_assert_eq(fab_topology_build(&n->design.fabric, &n->fabric, NULL, &err), FAB_OK, "%s", err.text);
    cr_assert(n->fabric->n_servers == N_SERVERS && n->fabric->n_pods == 3);
    n->design.n_jobs = 1;
    n->design.jobs[0].tp = 1;
    n->design.jobs[0].microbatch = 1;
    return n;
}

static void discard(network *n) {
    fab_fabric_free(n->fabric);
    free(n);
}

/* Servers in the order of their ranks; checks that each is there once, and whole. */
static uint32_t servers_of(const network *n, uint32_t *out) {
    fab_traffic traffic = traffic_made("job", &n->design, n->fabric, 1);
    bool seen[N_SERVERS] = {false};
    uint32_t count = traffic.n_ranks / 4;
    for (uint32_t i = 0; i < count; i++) {
        out[i] = traffic.gpu_of_rank[4 * i] / 4;
        for (uint32_t r = 0; r < 4; r++) {
            cr_assert_eq(traffic.gpu_of_rank[4 * i + r], 4 * out[i] + r);
        }
        cr_assert_not(seen[out[i]]);
        seen[out[i]] = true;
    }
    fab_traffic_release(&traffic);
    return count;
}

static void count_by_pod(const uint32_t *servers, uint32_t n, uint32_t out[3]) {
    memset(out, 0, 3 * sizeof *out);
    for (uint32_t i = 0; i < n; i++) {
        out[servers[i] / PER_POD]++;
    }
}

static void choose(network *n, fab_placement placement, uint64_t wanted) {
    n->design.jobs[0].placement = placement;
    n->design.jobs[0].n_servers = wanted;
}

Test(placement, packed_takes_the_fewest_pods) {
    network *n = make_network();
    uint32_t servers[N_SERVERS];
    for (uint32_t wanted = 1; wanted <= N_SERVERS; wanted++) {
        uint32_t pods[3];
        choose(n, FAB_PLACEMENT_PACKED, wanted);
        cr_assert_eq(servers_of(n, servers), wanted);
        count_by_pod(servers, wanted, pods);
        cr_expect_eq((pods[0] > 0) + (pods[1] > 0) + (pods[2] > 0), (int)((wanted + PER_POD - 1) / PER_POD));
        for (uint32_t i = 1; i < wanted; i++) { /* one pod after the other */
            cr_expect(servers[i] / PER_POD == servers[i - 1] / PER_POD || i % PER_POD == 0);
        }
    }
    /* what is left of the pods: 2, 16 and 5 servers; 5 fill the last, 18 the second and then the first */
    cr_assert_eq(fab_design_set_job(&n->design, 0, "servers", "14-36", "--job", NULL), FAB_OK);
    choose(n, FAB_PLACEMENT_PACKED, 5);
    servers_of(n, servers);
    cr_expect_eq(servers[0], 32);
    choose(n, FAB_PLACEMENT_PACKED, 18);
    servers_of(n, servers);
    cr_expect(servers[0] == 16 && servers[15] == 31 && servers[16] == 14 && servers[17] == 15);
    discard(n);
}

Test(placement, scattered_takes_pods_in_turn) {
    network *n = make_network();
    uint32_t servers[N_SERVERS];
    for (uint32_t wanted = 1; wanted <= N_SERVERS; wanted++) {
        choose(n, FAB_PLACEMENT_SCATTERED, wanted);
        cr_assert_eq(servers_of(n, servers), wanted);
        for (uint32_t i = 0; i < wanted; i++) {
            cr_expect_eq(servers[i], i % 3 * PER_POD + i / 3);
        }
    }
    discard(n);
}

Test(placement, random_depends_on_its_seed_alone) {
    network *n = make_network();
    uint32_t a[N_SERVERS];
    uint32_t b[N_SERVERS];
    uint32_t first[N_SERVERS] = {0};
    choose(n, FAB_PLACEMENT_RANDOM, 20);
    for (uint64_t seed = 0; seed < 200; seed++) {
        n->design.jobs[0].placement_seed = seed;
        cr_assert(servers_of(n, a) == 20 && servers_of(n, b) == 20);
        cr_expect_eq(memcmp(a, b, 20 * sizeof *a), 0);
        first[a[0]]++;
        n->design.jobs[0].placement_seed = seed + 1;
        (void)servers_of(n, b);
        cr_expect_neq(memcmp(a, b, 20 * sizeof *a), 0);
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < N_SERVERS; i++) {
        used += first[i] > 0;
        cr_expect_lt(first[i], 20); /* mean 4.2 */
    }
    cr_expect_gt(used, 40);
    discard(n);
}

/* Strides and long lists; numbers of servers and of GPUs mean the same. */
Test(placement, lists) {
    network *n = make_network();
    fab_job_spec *job = &n->design.jobs[0];
    uint32_t servers[N_SERVERS];
    choose(n, FAB_PLACEMENT_ORDER, 0);
    cr_assert_eq(fab_design_set_job(&n->design, 0, "servers", "40-47:3,0-8:4,5", "--job", NULL), FAB_OK);
    static const uint32_t EXPECTED[] = {40, 43, 46, 0, 4, 8, 5};
    cr_assert_eq(servers_of(n, servers), 7);
    cr_expect_eq(memcmp(servers, EXPECTED, sizeof EXPECTED), 0);
    job->gpus = 12;
    cr_assert_eq(servers_of(n, servers), 3);
    cr_expect_eq(memcmp(servers, EXPECTED, 3 * sizeof *EXPECTED), 0);
    job->n_servers = 3;
    cr_assert_eq(servers_of(n, servers), 3);
    job->gpus = 0;
    job->n_servers = 0;
    cr_assert_eq(fab_design_set_job(&n->design, 0, "servers", "", "--job", NULL), FAB_OK);
    cr_assert_eq(fab_design_set_job(&n->design, 0, "storage-servers", "1,3-47", "--job", NULL), FAB_OK);
    cr_assert_eq(servers_of(n, servers), 2);
    cr_expect(servers[0] == 0 && servers[1] == 2);
    discard(n);
}

Test(placement, long_lists_are_read) {
    char text[FAB_SERVERS_SIZE] = "";
    size_t used = 0;
    for (unsigned i = 0; i < 1500; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", i > 0 ? "," : "", 2 * i);
    }
    cr_assert_gt(used, 1023);
    fab_design *design = traffic_design();
    fab_fabric fabric = traffic_fabric(3000 * 8, 8, 8);
    fab_error err = {0};
    cr_assert_eq(fab_design_set_job(design, 0, "servers", text, "--job", &err), FAB_OK, "%s", err.text);
    design->jobs[0].tp = 8;
    fab_traffic traffic = traffic_made("job:tp", design, &fabric, 1);
    cr_expect_eq(traffic.n_ranks, 1500 * 8);
    cr_expect_eq(traffic.gpu_of_rank[1499 * 8], 2998 * 8);
    fab_traffic_release(&traffic);
    free(design);
}

Test(placement, is_named_in_the_summary) {
    network *n = make_network();
    choose(n, FAB_PLACEMENT_RANDOM, 8);
    n->design.jobs[0].placement_seed = 7;
    fab_traffic traffic = traffic_made("job", &n->design, n->fabric, 1);
    cr_expect_not_null(strstr(traffic.summary, " on 32 GPUs"), "%s", traffic.summary);
    cr_expect_not_null(strstr(traffic.summary, "; random placement (seed 7)"), "%s", traffic.summary);
    fab_traffic_release(&traffic);
    discard(n);
}
