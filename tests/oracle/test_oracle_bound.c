/* The bound against slow checkers: every certificate by Bellman-Ford, small optima by a program over listed paths, on
 * random fabrics of every family with dead links; and no routing that is better than it may be. */
#include "fabric_fixture.h"
#include "route_load.h"
#include "bound_fixture.h"
#include "random_design.h"
#include "fab/analysis.h"
#include "fab/routing.h"
#include "oracle_bound.h"
#include "draws.h"

#define MOST_PATHS 4000

static const char *const TRAFFIC[] = {"pattern:permutation", "pattern:ring",       "pattern:incast",
                                      "pattern:hotspot",     "pattern:all-to-all", "pattern:bisection",
                                      "pattern:shift,by=3"};
#define N_TRAFFIC (sizeof TRAFFIC / sizeof TRAFFIC[0])

static oracle_pair *pairs_of(const network *n) {
    oracle_pair *pairs = calloc(n->demand.n_pairs + 1, sizeof *pairs);
    for (uint32_t d = 0; d < n->demand.n_leaves; d++) {
        for (uint32_t i = n->demand.first[d]; i < n->demand.first[d + 1]; i++) {
            pairs[i] =
                (oracle_pair){n->next_hops->leaf_node[n->demand.src[i]], n->next_hops->leaf_node[d], n->demand.rate[i]};
        }
    }
    return pairs;
}

/* What it says of itself holds. */
static void check(const network *n, const fab_bound *b, const oracle_pair *pairs) {
    cr_assert_leq(b->lower, b->upper, "%s", n->text);
    if (b->method == FAB_BOUND_TRIVIAL) {
        cr_assert_eq(b->upper, 0);
        return;
    }
    double gap = b->method == FAB_BOUND_WEIGHTS ? FAB_BOUND_GAP : FAB_BOUND_EXACT;
    double proved = oracle_bound_proved(n->fabric, n->dead, pairs, n->demand.n_pairs, b->length);
    cr_assert_leq(b->upper, b->lower * (1 + gap), "%s: %g to %g", n->text, b->lower, b->upper);
    cr_assert_lt(fabs(proved / b->lower - 1), 1e-9, "%s: %.17g is proved, not %.17g", n->text, proved, b->lower);
    cr_assert_lt(fabs(network_most(n, b->split) / b->upper - 1), 1e-12, "%s", n->text);
    for (uint32_t l = 0; l < n->fabric->n_links; l++) {
        bool between = fab_class_of(n->fabric, l)->kind == FAB_LINK_FABRIC;
        cr_assert(b->length[l] >= 0 && (between || b->length[l] == 0), "%s: link %u", n->text, l);
    }
}

static void check_engine(const network *n, const char *name, double lower) {
    fab_routes routes = {0};
    fab_error err = {0};
    const fab_phase *phase = &n->traffic.phases[0];
    fab_phase listed = *phase;
    if (phase->all.n > 0) {
        return; /* not listed */
    }
    fab_router router = fixture_router(name, n->fabric, n->next_hops);
    cr_assert_eq(fab_route_flows(&router, &listed, 0, (uint32_t)listed.n_flows, n->offer.rate, 5, &routes, &err),
                 FAB_OK, "%s: %s", n->text, err.text);
    double *load = calloc(n->fabric->n_links, sizeof *load);
    double most = 0;
    route_load(n->fabric, &routes, n->offer.rate, load);
    for (uint32_t l = 0; l < n->fabric->n_links; l++) {
        const fab_link_class *c = fab_class_of(n->fabric, l);
        most = c->kind == FAB_LINK_FABRIC ? fmax(most, load[l] / c->capacity_bps) : most;
    }
    cr_assert_geq(most, lower * (1 - 1e-9), "%s: %s reaches %g, below %g", n->text, name, most, lower);
    free(load);
    fab_routes_release(&routes);
    fab_router_release(&router);
}

typedef struct counts {
    uint32_t checked, exact, programs, approximated, many_rounds, told, explained;
} counts;

/* What is told without a search is below every splitting, in rates and in bytes, and in trees the optimum mostly. */
static void check_cuts(const network *n, double optimum, counts *c) {
    const fab_split even = {.rule = FAB_SPLIT_EQUAL};
    fab_cut_bounds cuts;
    fab_error err = {0};
    double told = 0;
    double fullest_s = 0;
    double *use = calloc(n->fabric->n_links, sizeof *use);
    double *bytes = calloc(n->fabric->n_links, sizeof *bytes);
    cr_assert_eq(fab_split_load(n->dag, &even, &n->demand, n->demand.rate, use, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_split_load(n->dag, &even, &n->demand, n->demand.bytes, bytes, &err), FAB_OK, "%s", err.text);
    for (uint32_t l = 0; l < n->fabric->n_links; l++) {
        fullest_s = fmax(fullest_s, bytes[l] * 8 / fab_class_of(n->fabric, l)->capacity_bps);
        use[l] /= fab_class_of(n->fabric, l)->capacity_bps;
    }
    cr_assert_eq(fab_bound_cuts(n->fabric, n->dag, n->next_hops, &n->demand, use, &cuts, &err), FAB_OK, "%s", err.text);
    for (uint32_t t = 0; t < sizeof cuts.by_tier / sizeof cuts.by_tier[0]; t++) {
        told = fmax(told, cuts.by_tier[t]);
    }
    cr_assert_leq(told, optimum * (1 + 1e-7), "%s: cuts tell %g, the optimum is %g", n->text, told, optimum);
    cr_assert_leq(cuts.least_s, fullest_s * (1 + 1e-9), "%s: %g s", n->text, cuts.least_s);
    cr_assert_eq(told > 0, fab_is_tree(n->fabric) && optimum > 0, "%s: %g", n->text, told);
    c->told += told > 0;
    c->explained += told > 0 && told >= optimum * (1 - 1e-7);
    free(use);
    free(bytes);
}

static void check_network(const network *n, counts *c) {
    fab_bound lp;
    fab_bound weights;
    fab_bound both;
    fab_error err;
    oracle_pair *pairs = pairs_of(n);
    if (network_bound(n, FAB_BOUND_WEIGHTS, &weights, &err) == FAB_EUNREACHABLE) {
        free(pairs);
        return;
    }
    cr_assert_eq(err.code, FAB_OK, "%s: %s", n->text, err.text);
    cr_assert_eq(network_bound(n, FAB_BOUND_TRIVIAL, &both, &err), FAB_OK, "%s: %s", n->text, err.text);
    check(n, &weights, pairs);
    check(n, &both, pairs);
    cr_assert_leq(weights.lower, both.upper * (1 + 1e-9), "%s", n->text);
    cr_assert_leq(both.lower, weights.upper * (1 + 1e-9), "%s", n->text);
    double optimum = oracle_bound_optimum(n->fabric, n->dead, pairs, n->demand.n_pairs, MOST_PATHS);
    if (!isnan(optimum)) {
        cr_assert_eq(network_bound(n, FAB_BOUND_LP, &lp, &err), FAB_OK, "%s: %s", n->text, err.text);
        check(n, &lp, pairs);
        cr_assert_lt(fabs(lp.upper - optimum), 1e-7 * (1 + optimum), "%s: %g, all paths give %g", n->text, lp.upper,
                     optimum);
        cr_assert_leq(weights.lower, optimum * (1 + 1e-7), "%s", n->text);
        cr_assert_leq(optimum, weights.upper * (1 + 1e-7) + 1e-7, "%s", n->text);
        if (both.method == FAB_BOUND_SPRAY) { /* splitting evenly needed no program */
            cr_assert_lt(fabs(both.upper / optimum - 1), 1e-7, "%s", n->text);
        }
        check_cuts(n, optimum, c);
        c->programs++;
        fab_bound_release(&lp);
    }
    cr_assert_geq(network_most(n, &(fab_split){.rule = FAB_SPLIT_EQUAL}), both.lower * (1 - 1e-9), "%s", n->text);
    check_engine(n, "ecmp", both.lower);
    check_engine(n, "ecmp,hash=ideal,qp=8", both.lower);
    c->checked++;
    c->exact += both.method == FAB_BOUND_SPRAY;
    c->approximated += weights.rounds > 1;
    c->many_rounds += weights.rounds > 30;
    fab_bound_release(&both);
    fab_bound_release(&weights);
    free(pairs);
}

Test(oracle_bound, random_fabrics) {
    fab_rng rng = fab_rng_make(61, 1);
    counts c = {0};
    for (uint32_t i = 0; i < DRAWS(500); i++) {
        network n;
        random_design d = random_design_next(&rng, 24);
        uint64_t dead = fab_rng_below(&rng, 3) * 50;
        if (network_make(d.text, TRAFFIC[fab_rng_below(&rng, N_TRAFFIC)], dead, NULL, i, &n)) {
            check_network(&n, &c);
            network_discard(&n);
        }
    }
    cr_assert_gt(c.checked, DRAWS(200), "%u", c.checked);
    cr_assert_gt(c.programs, DRAWS(100), "%u", c.programs);
    cr_assert_gt(c.exact, DRAWS(30), "%u", c.exact);
    cr_assert_gt(c.approximated, DRAWS(30), "%u", c.approximated);
    cr_assert(c.told > DRAWS(50) && c.explained * 2 > c.told, "%u of %u", c.explained, c.told);
}

/* Where splitting evenly is far from the optimum. */
Test(oracle_bound, hard_fabrics) {
    static const char *const DESIGNS[] = {
        "clos:gpus=64,gpus-per-server=4,radix=16,tiers=2",
        "clos:gpus=96,gpus-per-server=2,radix=8",
        "fat-tree:k=4,gpus-per-server=1",
        "fat-tree:k=6,gpus-per-server=1",
        "fat-tree:gpus=100,gpus-per-server=1,radix=8,taper=1.5",
        "fat-tree:xgft=3;4,4,4;1,2,2,gpus-per-server=1",
        "rail-spine:gpus=128,gpus-per-server=4,radix=8,tiers=3,taper=2",
        "rail-spine:gpus=128,planes=2,gpus-per-server=8,radix=16,taper=2/3",
        "dragonfly:dragonfly=2,4,2,gpus-per-server=4,radix=7",
        "dragonfly:gpus=36,gpus-per-server=4,dragonfly=2,5,3,4,2,radix=16",
        "torus:gpus=64,gpus-per-server=4,torus=4,4,2,radix=8",
        "torus:gpus=60,gpus-per-server=4,torus=3,5,down=4,radix=9",
        "torus:gpus=144,gpus-per-server=4,torus=6,6,down=4,radix=16",
    };
    static const uint64_t DEAD[] = {0, 30, 100};
    counts c = {0};
    for (uint32_t i = 0; i < sizeof DESIGNS / sizeof DESIGNS[0]; i++) {
        for (uint32_t k = 0; k < 3 * N_TRAFFIC; k++) {
            network n;
            if (network_make(DESIGNS[i], TRAFFIC[k % N_TRAFFIC], DEAD[k / N_TRAFFIC], NULL, i + k, &n)) {
                check_network(&n, &c);
                network_discard(&n);
            }
        }
    }
    cr_assert_gt(c.checked, 200, "%u", c.checked);
    cr_assert_gt(c.programs, 100, "%u", c.programs);
    cr_assert_gt(c.many_rounds, 20, "%u", c.many_rounds);
}
