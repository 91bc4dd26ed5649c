/* The search for placements against all permutations of up to 8 servers. The oracle knows no routing: flows of equal
 * bytes that are shared over all uplinks end when the leaf with most of them, out or in, is through. */
#include "fab/design.h"
#include "fab/place_run.h"
#include "fab/prices.h"
#include "fab/topologies.h"
#include "fab/traffic.h"
#include "fabric_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define MOST_SERVERS 8
#define MOST_FLOWS   64
#define BYTES        1e9 /* so that latencies are nothing beside it */

typedef struct small {
    const char *design, *engine;
    fab_fabric *fabric;
    uint32_t n_flows, src[MOST_FLOWS], dst[MOST_FLOWS];
    uint32_t leaf_of_gpu[256];
    double up_bps[64], nic_bps;
} small;

static fab_status read_small(const void *context, const char *const *overrides, size_t n, fab_design *out,
                             fab_error *err) {
    const small *s = context;
    fab_status status = fab_design_read(s->design, overrides, n, out, err);
    out->engines[0] = fixture_spec(s->engine);
    out->n_engines = 1;
    (void)snprintf(out->prices, sizeof out->prices, "%s", FAB_DEFAULT_PRICES);
    return status;
}

/* Leaves by number, and what goes up from each. */
static void look_at(small *s) {
    const fab_fabric *f = s->fabric;
    uint32_t first = f->first[FAB_NODE_SWITCH];
    cr_assert(fab_n_gpus(f) <= 256 && fab_n_switches(f) <= 64);
    memset(s->up_bps, 0, sizeof s->up_bps);
    for (fab_link_id l = 0; l < f->n_links; l++) {
        const fab_link_class *class = fab_class_of(f, l);
        if (class->kind == FAB_LINK_ACCESS && fab_kind_of(f, fab_tail(f, l)) == FAB_NODE_NIC) {
            s->leaf_of_gpu[fab_tail(f, l) - f->first[FAB_NODE_NIC]] = fab_head(f, l) - first; /* a NIC per GPU */
            s->nic_bps = class->capacity_bps;
        } else if (class->tier == 2 && fab_tail(f, l) < f->first_of_tier[2]) {
            s->up_bps[fab_tail(f, l) - first] += class->capacity_bps;
        }
    }
}

static double slow_time(const small *s, const uint32_t *servers) {
    uint32_t out[64] = {0};
    uint32_t in[64] = {0};
    uint32_t n = s->fabric->gpus_per_server;
    double most = 0;
    for (uint32_t i = 0; i < s->n_flows; i++) {
        uint32_t from = servers[s->src[i] / n] * n + s->src[i] % n;
        uint32_t to = servers[s->dst[i] / n] * n + s->dst[i] % n;
        if (from / n != to / n) {
            most = fmax(most, 1 / s->nic_bps);
        }
        if (from / n != to / n && s->leaf_of_gpu[from] != s->leaf_of_gpu[to]) {
            out[s->leaf_of_gpu[from]]++;
            in[s->leaf_of_gpu[to]]++;
        }
    }
    for (uint32_t leaf = 0; leaf < 64; leaf++) {
        most = s->up_bps[leaf] > 0 ? fmax(most, (out[leaf] > in[leaf] ? out[leaf] : in[leaf]) / s->up_bps[leaf]) : most;
    }
    return 8 * BYTES * most;
}

/* All arrangements of `left` more servers. */
static void try_all(const small *s, uint32_t *servers, uint32_t n, uint32_t n_job, uint32_t at, double *least,
                    double *most) {
    if (at == n_job) {
        double time = slow_time(s, servers);
        *least = fmin(*least, time);
        *most = fmax(*most, time);
        return;
    }
    for (uint32_t i = at; i < n; i++) {
        uint32_t server = servers[i];
        servers[i] = servers[at];
        servers[at] = server;
        try_all(s, servers, n, n_job, at + 1, least, most);
        servers[at] = servers[i];
        servers[i] = server;
    }
}

static uint32_t read_list(const char *text, uint32_t *out) {
    uint32_t n = 0;
    for (const char *at = text; *at != '\0';) {
        char *end = NULL;
        uint32_t first = (uint32_t)strtoul(at, &end, 10);
        uint32_t last = *end == '-' ? (uint32_t)strtoul(end + 1, &end, 10) : first;
        for (uint32_t server = first; server <= last; server++) {
            out[n++] = server;
        }
        at = *end == '\0' ? end : end + 1;
    }
    return n;
}

static void search_small(const small *s, const char *traffic, uint64_t seed, uint64_t budget, size_t n_threads,
                         fab_sweep *out) {
    fab_error err = {0};
    const fab_sweep_request request = {
        .read = read_small, .read_context = s, .traffic = traffic, .seed = seed, .n_seeds = 1, .n_threads = n_threads};
    cr_assert_eq(fab_place_run(&request, budget, out, &err), FAB_OK, "%s: %s: %s", s->design, traffic, err.text);
    cr_assert_eq(out->n_searches, 1);
}

static void release_searches(fab_sweep *sweep) {
    for (size_t i = 0; i < sweep->n_searches; i++) {
        free(sweep->searches[i].listed.servers);
        free(sweep->searches[i].best.servers);
        free(sweep->searches[i].worst.servers);
    }
    free(sweep->searches);
}

#define EXPECT_NEAR(x, y) cr_expect(fabs((x) - (y)) < 1e-3 * (y), "%s %s: %g, oracle %g", s.design, traffic, x, y)

static const struct {
    const char *design, *pattern;
    bool is_random;
} CASES[] = {
    {"clos:gpus=16,gpus-per-server=2,radix=8,taper=3", "pattern:permutation,bytes=1GB", true},
    {"clos:gpus=16,gpus-per-server=2,radix=8,taper=3", "pattern:shift,by=2,bytes=1GB", false},
    {"clos:gpus=16,gpus-per-server=2,radix=8,taper=3", "pattern:shift,by=6,bytes=1GB", false},
    {"clos:gpus=16,gpus-per-server=2,radix=8,taper=3", "pattern:bisection,bytes=1GB,gpus=0-7", true},
    {"clos:gpus=12,gpus-per-server=2,radix=8,taper=1", "pattern:permutation,bytes=1GB", true},
    {"rail-spine:gpus=16,gpus-per-server=2,radix=6,taper=2", "pattern:permutation,bytes=1GB", true},
    {"rail-spine:gpus=16,gpus-per-server=2,radix=6,taper=2", "pattern:shift,by=4,bytes=1GB,gpus=0-9", false},
};

/* Proven: what all permutations give. Not proven: within it. The lists that are named take the times that are. */
Test(oracle_place, all_permutations) {
    for (size_t c = 0; c < sizeof CASES / sizeof CASES[0]; c++) {
        for (uint64_t seed = 1; seed <= (CASES[c].is_random ? 3U : 1U); seed++) {
            const char *traffic = CASES[c].pattern;
            small s = {.design = CASES[c].design, .engine = "spray"};
            fab_design *design = calloc(1, sizeof *design);
            fab_traffic made = {.n_phases = 0};
            fab_error err = {0};
            cr_assert_eq(fab_design_read(s.design, NULL, 0, design, &err), FAB_OK, "%s", err.text);
            cr_assert_eq(fab_topology_build(&design->fabric, &s.fabric, NULL, &err), FAB_OK, "%s", err.text);
            cr_assert_eq(fab_traffic_make(traffic, NULL, s.fabric, seed, &made, &err), FAB_OK, "%s", err.text);
            look_at(&s);
            s.n_flows = (uint32_t)made.phases[0].n_flows;
            cr_assert_leq(s.n_flows, MOST_FLOWS);
            memcpy(s.src, made.phases[0].src, s.n_flows * sizeof *s.src);
            memcpy(s.dst, made.phases[0].dst, s.n_flows * sizeof *s.dst);
            uint32_t servers[MOST_SERVERS];
            uint32_t n = s.fabric->n_servers;
            cr_assert_leq(n, MOST_SERVERS);
            for (uint32_t i = 0; i < n; i++) {
                servers[i] = i;
            }
            fab_sweep proven = {.n_searches = 0};
            fab_sweep few = {.n_searches = 0};
            search_small(&s, traffic, seed, 3000, 1, &proven);
            search_small(&s, traffic, seed, 20, 2, &few);
            const fab_place_search *p = proven.searches;
            cr_assert(p->is_searched && p->is_proven, "%s: %s", traffic, p->note);
            double least = INFINITY;
            double most = 0;
            try_all(&s, servers, n, p->n_servers, 0, &least, &most);
            EXPECT_NEAR(p->best.time_s, least);
            EXPECT_NEAR(p->worst.time_s, most);
            EXPECT_NEAR(p->listed.time_s, slow_time(&s, servers));
            cr_expect_leq(p->least_s, p->best.time_s);
            cr_expect_eq(p->n_tried, p->n_distinct);
            cr_expect_eq(read_list(p->best.servers, servers), p->n_servers);
            EXPECT_NEAR(slow_time(&s, servers), least);
            cr_expect_eq(read_list(p->worst.servers, servers), p->n_servers);
            EXPECT_NEAR(slow_time(&s, servers), most);
            const fab_place_search *q = few.searches;
            cr_expect(q->is_searched && q->n_tried <= 20 && q->listed.time_s == p->listed.time_s);
            cr_expect(q->best.time_s >= p->best.time_s * (1 - 1e-9) && q->best.time_s <= q->listed.time_s);
            cr_expect(q->worst.time_s <= p->worst.time_s * (1 + 1e-9) && q->worst.time_s >= q->listed.time_s);
            release_searches(&proven);
            release_searches(&few);
            fab_traffic_release(&made);
            fab_fabric_free(s.fabric);
            free(design);
        }
    }
}

/* Two leaves of four: of 8! orders C(8, 4) / 2 differ where only links count, and all where a hash does. */
Test(oracle_place, symmetry) {
    small s = {.design = "clos:gpus=16,gpus-per-server=2,radix=12,taper=2", .engine = "spray"};
    fab_sweep sweep = {.n_searches = 0};
    search_small(&s, "pattern:ring,bytes=1GB", 1, 100, 1, &sweep);
    cr_expect(sweep.searches[0].is_proven);
    cr_expect_eq(sweep.searches[0].n_distinct, 35);
    release_searches(&sweep);
    s.design = "clos:gpus=8,gpus-per-server=2,radix=6,taper=2";
    s.engine = "ecmp";
    sweep = (fab_sweep){.n_searches = 0};
    search_small(&s, "pattern:ring,bytes=1GB", 1, 100, 1, &sweep);
    cr_expect(sweep.searches[0].is_proven);
    cr_expect_eq(sweep.searches[0].n_distinct, 24);
    cr_expect_gt(sweep.searches[0].check_seeds, 0);
    release_searches(&sweep);
}

Test(oracle_place, placements_that_cannot_differ) {
    small s = {.design = "clos:gpus=16,gpus-per-server=2,radix=32", .engine = "spray"}; /* one leaf */
    fab_sweep sweep = {.n_searches = 0};
    search_small(&s, "pattern:ring,bytes=1GB", 1, 100, 1, &sweep);
    cr_expect_eq(sweep.searches[0].n_distinct, 1);
    cr_expect_not_null(strstr(sweep.searches[0].note, "there is one"));
    release_searches(&sweep);
    sweep = (fab_sweep){.n_searches = 0};
    search_small(&s, "pattern:all-reduce,groups=8,groups-by=block", 1, 100, 1, &sweep);
    cr_expect_not(sweep.searches[0].is_searched);
    cr_expect_not_null(strstr(sweep.searches[0].note, "stays inside"));
    release_searches(&sweep);
}

/* Everyone sends two servers on, of which a leaf has two: all of it goes up, over half as many uplinks. Dealt out by
 * twos half of it stays in the leaf, and the uplinks have what they carry. No exchange of two servers gains anything.
 */
Test(oracle_place, other_orders_of_ranks) {
    small s = {.design = "clos:gpus=64,gpus-per-server=2,radix=6/64,taper=2", .engine = "spray"};
    fab_sweep sweep = {.n_searches = 0};
    search_small(&s, "pattern:shift,by=4,bytes=1GB", 1, 16, 2, &sweep);
    const fab_place_search *p = sweep.searches;
    cr_expect(p->is_searched && !p->is_proven && p->n_tried <= 16);
    cr_expect_float_eq(p->listed.time_s / p->least_s, 2, 1e-3);
    cr_expect_float_eq(p->best.time_s / p->least_s, 1, 1e-3);
    release_searches(&sweep);
}
