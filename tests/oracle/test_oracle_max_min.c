/* Rates and finishing times of random instances, against the definition and the slow way. */
#include "oracle_max_min.h"
#include "sharing_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define N_INSTANCES 6000
#define CLOSE       1e-10

static fab_max_min *solver_new(void) {
    fab_error err = {0};
    fab_max_min *solver = NULL;
    cr_assert_eq(fab_max_min_new(&solver, &err), FAB_OK, "%s", err.text);
    return solver;
}

static void check_bottlenecks(const fab_sharing *s, const double *rate, const uint32_t *bottleneck, uint64_t seed) {
    for (uint32_t f = 0; f < s->n_flows; f++) {
        uint32_t lowest = FAB_NO_BOTTLENECK;
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            uint32_t l = s->link[e];
            if (isfinite(s->capacity[l]) && l < lowest && oracle_holds(s, rate, f, l, 1e-11)) {
                lowest = l;
            }
        }
        if (lowest != FAB_NO_BOTTLENECK) {
            cr_assert_eq(bottleneck[f], lowest, "seed %d: flow %u names %u, not %u", (int)seed, f, bottleneck[f],
                         lowest);
        } else if (bottleneck[f] != FAB_NO_BOTTLENECK) {
            cr_assert(oracle_holds(s, rate, f, bottleneck[f], 1e-9), "seed %d: flow %u", (int)seed, f);
        } else {
            cr_assert(rate[f] == INFINITY || rate[f] == s->limit[f], "seed %d: nothing holds flow %u", (int)seed, f);
        }
    }
}

Test(oracle_max_min, rates) {
    fab_max_min *solver = solver_new();
    for (uint64_t seed = 0; seed < N_INSTANCES; seed++) {
        random_sharing r;
        fab_error err = {0};
        double expected[60];
        double rate[60];
        double again[60];
        uint32_t bottleneck[60];
        sharing_make(seed, seed % 4 == 0 ? 60 : 12, seed % 3 == 0 ? 20 : 5, &r);
        cr_assert_eq(fab_max_min_solve(solver, &r.sharing, rate, bottleneck, &err), FAB_OK, "seed %d: %s", (int)seed,
                     err.text);
        oracle_fill(&r.sharing, NULL, expected);
        for (uint32_t f = 0; f < r.sharing.n_flows; f++) {
            cr_assert(sharing_close(rate[f], expected[f], CLOSE), "seed %d: flow %u has %.17g, not %.17g", (int)seed, f,
                      rate[f], expected[f]);
        }
        const char *unfair = oracle_unfair(&r.sharing, NULL, rate, 1e-10);
        cr_assert_null(unfair, "seed %d: %s", (int)seed, unfair);
        check_bottlenecks(&r.sharing, rate, bottleneck, seed);
        cr_assert_eq(fab_max_min_solve(solver, &r.sharing, again, NULL, &err), FAB_OK);
        cr_assert_arr_eq(rate, again, r.sharing.n_flows * sizeof *rate);
        sharing_discard(&r);
    }
    fab_max_min_free(solver);
}

/* Puts two links before and two after each path, those of hosts, with the numbers before or after the others: of equal
 * or unequal width, in either order, and sometimes shared with a flow that takes one of them alone. */
static void add_host_links(random_sharing *r, uint64_t seed) {
    fab_rng rng = fab_rng_make(seed, 7);
    uint32_t n_hosts = 1 + (uint32_t)fab_rng_below(&rng, 8);
    uint32_t n_old = r->sharing.n_links;
    uint32_t n_links = n_old + 4 * n_hosts;
    bool is_before = fab_rng_below(&rng, 2) == 0;
    uint32_t base = is_before ? 0 : n_old;
    uint32_t shift = is_before ? 4 * n_hosts : 0;
    uint64_t n = 0;
    double *capacity = calloc(n_links, sizeof *capacity);
    uint32_t *link = calloc(r->first[r->sharing.n_flows] + 4 * (uint64_t)r->sharing.n_flows + 1, sizeof *link);
    memcpy(capacity + shift, r->capacity, n_old * sizeof *capacity);
    for (uint32_t k = 0; k < 4 * n_hosts; k++) {
        bool is_equal = k % 2 == 1 && fab_rng_below(&rng, 2) == 0;
        capacity[base + k] = is_equal ? capacity[base + k - 1] : sharing_number(&rng, true);
    }
    for (uint32_t f = 0; f < r->sharing.n_flows; f++) {
        uint32_t in = base + 4 * (uint32_t)fab_rng_below(&rng, n_hosts);
        uint32_t out = base + 4 * (uint32_t)fab_rng_below(&rng, n_hosts) + 2;
        uint64_t begin = r->first[f];
        bool turned = (in - base) % 8 == 4;
        r->first[f] = n;
        link[n++] = in + turned;
        if (fab_rng_below(&rng, 20) > 0) {
            link[n++] = in + 1 - turned;
        }
        for (uint64_t e = begin; e < r->first[f + 1]; e++) {
            link[n++] = r->link[e] + shift;
        }
        link[n++] = out;
        link[n++] = out + 1;
    }
    r->first[r->sharing.n_flows] = n;
    free(r->capacity);
    free(r->link);
    r->capacity = capacity;
    r->link = link;
    r->sharing.n_links = n_links;
    r->sharing.capacity = capacity;
    r->sharing.link = link;
    r->sharing.share = NULL;
}

/* Links that can hold nobody beside others: the rates and the lowest link that holds are those of the definition. */
Test(oracle_max_min, links_beside_narrower_ones) {
    fab_max_min *solver = solver_new();
    for (uint64_t seed = 0; seed < N_INSTANCES / 2; seed++) {
        random_sharing r;
        fab_error err = {0};
        double expected[40];
        double rate[40];
        uint32_t bottleneck[40];
        sharing_make(seed, seed % 4 == 0 ? 40 : 10, 12, &r);
        add_host_links(&r, seed);
        cr_assert_eq(fab_max_min_solve(solver, &r.sharing, rate, bottleneck, &err), FAB_OK, "seed %d: %s", (int)seed,
                     err.text);
        oracle_fill(&r.sharing, NULL, expected);
        for (uint32_t f = 0; f < r.sharing.n_flows; f++) {
            cr_assert(sharing_close(rate[f], expected[f], CLOSE), "seed %d: flow %u has %.17g, not %.17g", (int)seed, f,
                      rate[f], expected[f]);
        }
        check_bottlenecks(&r.sharing, rate, bottleneck, seed);
        if (seed % 4 == 0) {
            double *finish = calloc((size_t)r.sharing.n_flows + 1, sizeof *finish);
            oracle_finish(&r.sharing, r.bits, expected);
            cr_assert_eq(fab_fluid_finish(&r.sharing, r.bits, NULL, finish, &err), FAB_OK, "seed %d: %s", (int)seed,
                         err.text);
            for (uint32_t f = 0; f < r.sharing.n_flows; f++) {
                cr_assert(sharing_close(finish[f], expected[f], CLOSE), "seed %d: flow %u ends at %.17g, not %.17g",
                          (int)seed, f, finish[f], expected[f]);
            }
            free(finish);
        }
        sharing_discard(&r);
    }
    fab_max_min_free(solver);
}

/* All capacities and limits times a power of two: the same bytes, times it. Other numbers of flows: the same rates. */
Test(oracle_max_min, scale_and_order_change_nothing) {
    fab_max_min *solver = solver_new();
    for (uint64_t seed = 0; seed < N_INSTANCES / 4; seed++) {
        random_sharing r;
        random_sharing p;
        fab_error err = {0};
        fab_rng rng = fab_rng_make(seed, 6);
        double rate[40];
        double other[40];
        uint32_t order[40];
        sharing_make(seed, 40, 12, &r);
        sharing_make(seed, 40, 12, &p);
        uint32_t n = r.sharing.n_flows;
        uint64_t entry = 0;
        cr_assert_eq(fab_max_min_solve(solver, &r.sharing, rate, NULL, &err), FAB_OK, "%s", err.text);
        for (uint32_t l = 0; l < r.sharing.n_links; l++) {
            p.capacity[l] *= 1024;
        }
        for (uint32_t f = 0; f < n; f++) {
            p.limit[f] *= 1024;
            order[f] = f;
        }
        cr_assert_eq(fab_max_min_solve(solver, &p.sharing, other, NULL, &err), FAB_OK, "%s", err.text);
        for (uint32_t f = 0; f < n; f++) {
            cr_assert_eq(other[f], 1024 * rate[f], "seed %d: flow %u", (int)seed, f);
        }
        fab_rng_shuffle(&rng, order, n);
        for (uint32_t f = 0; f < n; f++) {
            p.first[f] = entry;
            p.weight[f] = r.weight[order[f]];
            p.limit[f] = 1024 * r.limit[order[f]];
            for (uint64_t e = r.first[order[f]]; e < r.first[order[f] + 1]; e++, entry++) {
                p.link[entry] = r.link[e];
                p.share[entry] = r.share[e];
            }
        }
        cr_assert_eq(fab_max_min_solve(solver, &p.sharing, other, NULL, &err), FAB_OK, "%s", err.text);
        for (uint32_t f = 0; f < n; f++) {
            cr_assert(sharing_close(other[f], 1024 * rate[order[f]], CLOSE), "seed %d: flow %u", (int)seed, f);
        }
        sharing_discard(&r);
        sharing_discard(&p);
    }
    fab_max_min_free(solver);
}

static void check_finish(const random_sharing *r, uint64_t seed) {
    fab_error err = {0};
    double *expected = calloc(r->sharing.n_flows, sizeof *expected);
    double *finish = calloc(r->sharing.n_flows, sizeof *finish);
    double *again = calloc(r->sharing.n_flows, sizeof *again);
    oracle_finish(&r->sharing, r->bits, expected);
    cr_assert_eq(fab_fluid_finish(&r->sharing, r->bits, NULL, finish, &err), FAB_OK, "seed %d: %s", (int)seed,
                 err.text);
    cr_assert_eq(fab_fluid_finish(&r->sharing, r->bits, NULL, again, &err), FAB_OK);
    for (uint32_t f = 0; f < r->sharing.n_flows; f++) {
        cr_assert(sharing_close(finish[f], expected[f], CLOSE), "seed %d: flow %u ends at %.17g, not %.17g", (int)seed,
                  f, finish[f], expected[f]);
        cr_assert_eq(finish[f], again[f]);
    }
    free(expected);
    free(finish);
    free(again);
}

/* The last end of a simulation, where bounds tell it: when it is, and nobody's end with what comes after is later. */
static bool check_last(const random_sharing *r, uint64_t seed) {
    fab_error err = {0};
    const uint32_t n = r->sharing.n_flows;
    fab_rng rng = fab_rng_make(seed, 8);
    fab_last_end last = {.is_known = false};
    double *finish = calloc(n, sizeof *finish);
    double *after = calloc(2 * (size_t)n, sizeof *after); /* and rates */
    fab_max_min *solver = NULL;
    double last_s = 0;
    cr_assert_eq(fab_fluid_finish(&r->sharing, r->bits, NULL, finish, &err), FAB_OK, "seed %d: %s", (int)seed,
                 err.text);
    for (uint32_t f = 0; f < n; f++) {
        last_s = fmax(last_s, finish[f]);
    }
    for (uint32_t f = 0; f < n; f++) {
        after[f] = last_s * 1e-3 * (double)fab_rng_below(&rng, 20);
    }
    cr_assert_eq(fab_max_min_new(&solver, &err), FAB_OK);
    cr_assert_eq(fab_max_min_solve(solver, &r->sharing, after + n, NULL, &err), FAB_OK, "seed %d: %s", (int)seed,
                 err.text);
    cr_assert_eq(fab_fluid_last(solver, &r->sharing, r->bits, seed % 2 == 0 ? after : NULL, &last, &err), FAB_OK);
    fab_max_min_free(solver);
    for (uint32_t f = 0; last.is_known && f < n; f++) {
        const double more = seed % 2 == 0 ? after[f] - after[last.flow] : 0;
        cr_assert(sharing_close(last.last_s, last_s, CLOSE), "seed %d: %.17g, not %.17g", (int)seed, last.last_s,
                  last_s);
        cr_assert(sharing_close(last.flow_s, finish[last.flow], CLOSE), "seed %d: flow %u ends at %.17g, not %.17g",
                  (int)seed, last.flow, last.flow_s, finish[last.flow]);
        cr_assert_leq(finish[f] + more, last.flow_s * (1 + CLOSE), "seed %d: flow %u is later", (int)seed, f);
    }
    free(finish);
    free(after);
    return last.is_known;
}

Test(oracle_max_min, last_ends) {
    uint32_t n_known[2] = {0}; /* without and with what comes after */
    const uint32_t n = N_INSTANCES / 2;
    for (uint64_t seed = 0; seed < n; seed++) {
        random_sharing r;
        sharing_make(seed, 40, seed % 3 == 0 ? 20 : 5, &r);
        n_known[seed % 2 == 0] += check_last(&r, seed);
        sharing_discard(&r);
    }
    cr_assert_gt(n_known[0], n / 20, "bounds tell %u of %u", n_known[0], n);
    cr_assert_gt(n_known[1], n / 20, "bounds tell %u of %u", n_known[1], n);
}

/* Links of up to 64 equal flows whose sizes are a bit apart, and one that all cross: no last end is before the fullest
 * link is done. */
Test(oracle_max_min, last_ends_of_sizes_a_bit_apart) {
    uint32_t n_known = 0;
    for (uint64_t seed = 0; seed < N_INSTANCES / 2; seed++) {
        enum { N_LINKS = 4, MOST = 64 };
        fab_rng rng = fab_rng_make(seed, 9);
        uint64_t first[N_LINKS * MOST + 1] = {0};
        uint32_t link[2 * N_LINKS * MOST];
        double bits[N_LINKS * MOST], rate[N_LINKS * MOST], finish[N_LINKS * MOST], after[N_LINKS * MOST];
        double capacity[N_LINKS + 1] = {0};
        uint32_t n = 0;
        double last_s = 0;
        fab_last_end last = {.is_known = false};
        fab_error err = {0};
        fab_max_min *solver = NULL;
        for (uint32_t l = 0; l < N_LINKS; l++) {
            const uint32_t n_mine = MOST - (uint32_t)fab_rng_below(&rng, MOST / 4);
            const double after_s = 1e3 * (double)fab_rng_below(&rng, 3);
            const double size = 1e9 * (1 - 1e-9 * (double)fab_rng_below(&rng, 1000));
            capacity[l] = n_mine;
            capacity[N_LINKS] += seed % 4 == 0 ? n_mine : 2 * n_mine;
            for (uint32_t i = 0; i < n_mine; i++, n++) {
                link[2 * n] = l;
                link[2 * n + 1] = N_LINKS;
                bits[n] = size - (double)fab_rng_below(&rng, 2);
                after[n] = after_s;
                first[n + 1] = 2 * (n + (uint64_t)1);
            }
        }
        const fab_sharing s = {
            .n_flows = n, .n_links = N_LINKS + 1, .capacity = capacity, .first = first, .link = link};
        cr_assert_eq(fab_max_min_new(&solver, &err), FAB_OK);
        cr_assert_eq(fab_max_min_solve(solver, &s, rate, NULL, &err), FAB_OK, "seed %d: %s", (int)seed, err.text);
        cr_assert_eq(fab_fluid_last(solver, &s, bits, after, &last, &err), FAB_OK);
        cr_assert_eq(fab_fluid_finish(&s, bits, NULL, finish, &err), FAB_OK, "seed %d: %s", (int)seed, err.text);
        fab_max_min_free(solver);
        for (uint32_t f = 0; f < n; f++) {
            last_s = fmax(last_s, finish[f]);
        }
        n_known += last.is_known;
        cr_assert(!last.is_known || sharing_close(last.last_s, last_s, 1e-10), "seed %d: %.17g, not %.17g", (int)seed,
                  last.last_s, last_s);
    }
    cr_assert_gt(n_known, N_INSTANCES / 40, "bounds tell %u", n_known);
}

Test(oracle_max_min, finishing_times) {
    for (uint64_t seed = 0; seed < N_INSTANCES / 2; seed++) {
        random_sharing r;
        sharing_make(seed, 20, seed % 3 == 0 ? 20 : 5, &r);
        check_finish(&r, seed);
        sharing_discard(&r);
    }
}

/* Large enough that few flows are solved beside many that stay. */
Test(oracle_max_min, finishing_times_of_many) {
    for (uint64_t seed = 0; seed < 12; seed++) {
        random_sharing r;
        sharing_make(seed, 1, 1, &r);
        sharing_discard(&r);
        for (uint64_t next = 1000 * seed;; next++) {
            sharing_make(next, 400, 400, &r);
            if (r.sharing.n_flows > 150 && r.sharing.n_links > 150) {
                break;
            }
            sharing_discard(&r);
        }
        check_finish(&r, seed);
        sharing_discard(&r);
    }
}

enum { N_LEAVES = 4, PER_LEAF = 4, N_UP = 3, N_HOSTS = N_LEAVES * PER_LEAF, TREE_FLOWS = 160 };

/* Flows of hosts below leaves, several queue pairs each, that share NICs and uplinks: up NIC, uplink, downlink, down
 * NIC. Sizes that tie, are equal but for one flow, or are drawn; some are 0; hot spots; weights, or none. */
static void tree_make(uint64_t seed, random_sharing *r) {
    fab_rng rng = fab_rng_make(seed, 10);
    const uint32_t kind = (uint32_t)fab_rng_below(&rng, 8);
    const uint32_t n_qps = 1 + (uint32_t)fab_rng_below(&rng, 4);
    const uint32_t n_hot = seed % 3 == 0 ? 2 : N_HOSTS;
    uint64_t n = 0;
    *r = (random_sharing){.sharing = {.n_flows = TREE_FLOWS, .n_links = 2 * (N_HOSTS + N_LEAVES * N_UP)}};
    r->capacity = calloc(r->sharing.n_links, sizeof *r->capacity);
    r->first = calloc(TREE_FLOWS + 1, sizeof *r->first);
    r->link = calloc(4 * (size_t)TREE_FLOWS, sizeof *r->link);
    r->weight = calloc(TREE_FLOWS, sizeof *r->weight);
    r->bits = calloc(TREE_FLOWS, sizeof *r->bits);
    for (uint32_t l = 0; l < r->sharing.n_links; l++) {
        r->capacity[l] = l < 2 * N_HOSTS || seed % 2 == 0 ? 4 : 1 + (double)fab_rng_below(&rng, 3);
    }
    for (uint32_t f = 0; f < TREE_FLOWS; f++) {
        const bool is_next = f % n_qps > 0;
        const uint32_t src = is_next ? r->link[r->first[f - 1]] : (uint32_t)fab_rng_below(&rng, N_HOSTS);
        const uint32_t dst = is_next ? r->link[n - 1] - N_HOSTS : (uint32_t)fab_rng_below(&rng, n_hot);
        const uint32_t up = 2 * N_HOSTS + src / PER_LEAF * N_UP + (uint32_t)fab_rng_below(&rng, N_UP);
        const uint32_t down = 2 * N_HOSTS + (N_LEAVES + dst / PER_LEAF) * N_UP + (uint32_t)fab_rng_below(&rng, N_UP);
        const double drawn = (kind & 1) != 0 ? 1 + (double)fab_rng_below(&rng, 3) : 1e6 * sharing_uniform(&rng);
        r->first[f] = n;
        r->link[n++] = src;
        if (src / PER_LEAF != dst / PER_LEAF) {
            r->link[n++] = up;
            r->link[n++] = down;
        }
        r->link[n++] = N_HOSTS + dst;
        r->weight[f] = is_next ? r->weight[f - 1] : sharing_number(&rng, (kind & 2) != 0);
        r->bits[f] = seed % 4 == 3 ? (f == 7 ? 2 : 1) : is_next ? r->bits[f - 1] : drawn;
        r->bits[f] *= fab_rng_below(&rng, 15) == 0 ? 0 : 1;
    }
    r->first[TREE_FLOWS] = n;
    r->sharing.capacity = r->capacity;
    r->sharing.first = r->first;
    r->sharing.link = r->link;
    r->sharing.weight = (kind & 4) != 0 ? r->weight : NULL;
}

Test(oracle_max_min, finishing_times_on_trees) {
    for (uint64_t seed = 0; seed < 96; seed++) {
        random_sharing r;
        tree_make(seed, &r);
        check_finish(&r, seed);
        sharing_discard(&r);
    }
}

/* Sizes in proportion to the weights take the shortcut; the slow way knows none. */
Test(oracle_max_min, equal_sizes_are_one_solution) {
    for (uint64_t seed = 0; seed < N_INSTANCES / 4; seed++) {
        random_sharing r;
        sharing_make(seed, 25, 8, &r);
        for (uint32_t f = 0; f < r.sharing.n_flows; f++) {
            r.bits[f] = r.sharing.weight != NULL ? 3 * r.weight[f] : 3;
        }
        check_finish(&r, seed);
        sharing_discard(&r);
    }
}
