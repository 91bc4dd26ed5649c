/* The bound: optima known in closed form, what its parts promise and engine optimal. */
#include "context_builds.h"
#include "fabric_fixture.h"
#include "bound_fixture.h"
#include "fab/analysis.h"
#include "fab/bound.h"
#include "fab/memory.h"
#include "fab/routing.h"
#include "split/split_rule.h"

#include <sys/wait.h>
#include <unistd.h>

static const fab_bound_method METHODS[] = {FAB_BOUND_TRIVIAL, FAB_BOUND_LP, FAB_BOUND_WEIGHTS};

/* All methods agree that the optimum is `expected`. */
static void expect(const network *n, double expected) {
    for (size_t i = 0; i < 3; i++) {
        fab_bound b;
        fab_error err;
        cr_assert_eq(network_bound(n, METHODS[i], &b, &err), FAB_OK, "%s: %s", n->text, err.text);
        double gap = b.method == FAB_BOUND_WEIGHTS ? FAB_BOUND_GAP : FAB_BOUND_EXACT;
        cr_expect_leq(b.lower, expected * (1 + FAB_BOUND_EXACT), "%s: method %zu", n->text, i);
        cr_expect_geq(b.upper, expected * (1 - FAB_BOUND_EXACT), "%s: method %zu", n->text, i);
        cr_expect_leq(b.upper, expected * (1 + gap), "%s: method %zu: %.12g", n->text, i, b.upper);
        fab_bound_release(&b);
    }
}

/* Cables between `leaf` and switches above, as far as `out` holds. */
static uint32_t uplinks(const fab_fabric *f, uint32_t leaf, uint32_t *out, uint32_t room) {
    uint32_t n = 0;
    fab_node_id v = f->first_of_tier[1] + leaf;
    for (uint32_t k = f->out_first[v]; k < f->out_first[v + 1]; k++) {
        if (fab_class_of(f, f->out_link[k])->kind == FAB_LINK_FABRIC && n < room) {
            out[n++] = f->out_link[k] / 2;
        }
    }
    return n;
}

/* The network again with the first `n` uplinks of leaf 0 dead. */
static void make_with_dead_uplinks(const char *design, const char *traffic, uint32_t n, network *out) {
    uint32_t cable[64];
    cr_assert(network_make(design, traffic, 0, NULL, 1, out));
    cr_assert_gt(uplinks(out->fabric, 0, cable, 64), n);
    uint64_t *dead = calloc(out->fabric->n_links / 64 + 1, sizeof *dead);
    for (uint32_t i = 0; i < n; i++) {
        network_kill(dead, cable[i]);
    }
    network_discard(out);
    cr_assert(network_make(design, traffic, 0, dead, 1, out));
}

Test(bound, full_fat_trees_carry_permutations) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        network n;
        fab_bound b;
        fab_error err;
        cr_assert(network_make("fat-tree:k=4,gpus-per-server=1", "pattern:permutation", 0, NULL, seed, &n));
        cr_assert_eq(network_bound(&n, FAB_BOUND_TRIVIAL, &b, &err), FAB_OK, "%s", err.text);
        cr_expect_eq(b.method, FAB_BOUND_SPRAY);
        cr_expect_leq(b.upper, 1 + 1e-12);
        cr_expect_geq(b.lower, 0.5); /* some leaf sends something away */
        cr_expect_eq(b.segment, 1);
        fab_bound_release(&b);
        network_discard(&n);
    }
}

Test(bound, a_taper_costs_itself) {
    network n;
    cr_assert(network_make("clos:gpus=128,gpus-per-server=1,radix=20,tiers=2,taper=4", "pattern:shift,by=64", 0, NULL,
                           1, &n));
    expect(&n, 4);
    network_discard(&n);
}

Test(bound, dead_uplinks_cost_their_share) {
    network n;
    make_with_dead_uplinks("clos:gpus=8,gpus-per-server=1,radix=8,tiers=2", "pattern:shift,by=4", 1, &n);
    cr_assert_eq(n.next_hops->n_leaves, 2);
    expect(&n, 4.0 / 3);
    network_discard(&n);
    /* 32 leaves, 16 spines: 16 / 13 with 3 dead, over minimal paths (other paths, through a third leaf, would do
     * better: 1.143 where PEERS measured it) */
    make_with_dead_uplinks("clos:gpus=512,gpus-per-server=1,radix=32,tiers=2", "pattern:shift,by=16", 3, &n);
    cr_assert_eq(n.next_hops->n_leaves, 32);
    expect(&n, 16.0 / 13);
    network_discard(&n);
}

/* Where splitting evenly meets its certificate, the program finds nothing better. */
Test(bound, symmetric_demands_need_no_program) {
    static const char *const DESIGNS[] = {
        "clos:gpus=64,gpus-per-server=4,radix=16,tiers=2", "rail-spine:gpus=128,gpus-per-server=4,radix=16,taper=2",
        "fat-tree:k=6,gpus-per-server=1", "torus:gpus=64,gpus-per-server=4,torus=4,4,down=4,radix=16"};
    for (size_t i = 0; i < 4; i++) {
        network n;
        fab_bound reduced;
        fab_bound full;
        fab_error err;
        cr_assert(network_make(DESIGNS[i], "pattern:all-to-all", 0, NULL, 1, &n));
        cr_assert_eq(network_bound(&n, FAB_BOUND_TRIVIAL, &reduced, &err), FAB_OK, "%s: %s", n.text, err.text);
        cr_assert_eq(network_bound(&n, FAB_BOUND_LP, &full, &err), FAB_OK, "%s: %s", n.text, err.text);
        cr_expect_eq(reduced.method, FAB_BOUND_SPRAY, "%s", n.text);
        cr_expect_eq(reduced.columns, 0);
        cr_expect_eq(full.method, FAB_BOUND_LP);
        cr_expect_gt(full.columns, 1, "%s", n.text);
        cr_expect_float_eq(reduced.upper / full.upper, 1, 1e-9, "%s", n.text);
        fab_bound_release(&reduced);
        fab_bound_release(&full);
        network_discard(&n);
    }
}

Test(bound, no_demand_no_bound) {
    network n;
    fab_bound b;
    fab_error err;
    cr_assert(network_make("clos:gpus=16,gpus-per-server=4,radix=16", "pattern:ring", 0, NULL, 1, &n));
    n.demand.n_pairs = 0;
    memset(n.demand.first, 0, (n.demand.n_leaves + 1) * sizeof *n.demand.first);
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(network_bound(&n, METHODS[i], &b, &err), FAB_OK, "%s", err.text);
        cr_expect(b.method == FAB_BOUND_TRIVIAL && b.upper == 0 && b.lower == 0);
        cr_expect_not_null(b.length);
        fab_bound_release(&b);
    }
    cr_expect_eq(network_bound(&n, FAB_BOUND_SPRAY, &b, &err), FAB_EINPUT);
    network_discard(&n);
}

Test(bound, unreachable_pairs_are_named) {
    network n;
    fab_error err;
    uint32_t cable[64];
    cr_assert(network_make("clos:gpus=8,gpus-per-server=1,radix=8,tiers=2", "pattern:shift,by=4", 0, NULL, 1, &n));
    uint32_t all = uplinks(n.fabric, 0, cable, 64);
    uint64_t *dead = calloc(n.fabric->n_links / 64 + 1, sizeof *dead);
    for (uint32_t i = 0; i < all; i++) {
        network_kill(dead, cable[i]);
    }
    network_discard(&n);
    cr_assert(network_make("clos:gpus=8,gpus-per-server=1,radix=8,tiers=2", "pattern:shift,by=4", 0, dead, 1, &n));
    for (size_t i = 0; i < 3; i++) {
        fab_bound b;
        cr_expect_eq(network_bound(&n, METHODS[i], &b, &err), FAB_EUNREACHABLE);
        cr_expect_not_null(strstr(err.text, "no route from leaf-"), "%s", err.text);
        cr_expect_null(b.length, "output written by a failed call");
    }
    network_discard(&n);
}

Test(bound, the_same_bytes_twice) {
    network n;
    fab_bound b[2];
    fab_error err;
    cr_assert(network_make("rail-spine:gpus=256,radix=16,taper=2/1.5", "pattern:permutation", 30, NULL, 3, &n));
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(network_bound(&n, FAB_BOUND_WEIGHTS, &b[i], &err), FAB_OK, "%s", err.text);
        cr_assert_eq(b[i].split->rule, FAB_SPLIT_WEIGHT);
    }
    cr_expect_gt(b[0].rounds, 1);
    cr_expect(b[0].upper == b[1].upper && b[0].lower == b[1].lower && b[0].rounds == b[1].rounds);
    cr_expect_arr_eq(b[0].length, b[1].length, n.fabric->n_links * sizeof *b[0].length);
    cr_expect_arr_eq(b[0].split->weight, b[1].split->weight, n.fabric->n_links * sizeof *b[0].split->weight);
    fab_bound_release(&b[0]);
    fab_bound_release(&b[1]);
    network_discard(&n);
}

/* Above the limit of columns the approximation is used by itself, and says so. */
Test(bound, large_programs_are_not_made) {
    network n;
    fab_bound b;
    fab_error err;
    cr_assert(network_make("clos:gpus=512,gpus-per-server=4,radix=32,tiers=2", "pattern:all-to-all", 30, NULL, 3, &n));
    cr_assert_eq(network_bound(&n, FAB_BOUND_TRIVIAL, &b, &err), FAB_OK, "%s", err.text);
    cr_expect_eq(b.method, FAB_BOUND_WEIGHTS);
    cr_expect(b.columns == 0 && b.rows == 0);
    fab_bound_release(&b);
    network_discard(&n);
}

/* --- engine optimal ----------------------------------------------------------------------------------------------- */

static fab_status make_router(const network *n, const char *text, fab_router *out, fab_error *err) {
    const fab_engine_spec spec = fixture_spec(text);
    *err = (fab_error){0};
    return fab_router_init(&spec, n->fabric, n->next_hops, out, err);
}

Test(bound, engine_hands_out_the_split) {
    static const struct {
        const char *text;
        fab_split_rule rule;
    } ENGINES[] = {{"optimal", FAB_SPLIT_SHARE},
                   {"optimal,method=lp", FAB_SPLIT_SHARE},
                   {"optimal,method=weights,window=64KiB,queueing=1us", FAB_SPLIT_WEIGHT}};
    network n;
    fab_error err;
    fab_router router;
    cr_assert(
        network_make("dragonfly:dragonfly=2,4,2,gpus-per-server=4,radix=7", "pattern:permutation", 0, NULL, 1, &n));
    for (size_t i = 0; i < 3; i++) {
        fab_split split = {0};
        cr_assert_eq(make_router(&n, ENGINES[i].text, &router, &err), FAB_OK, "%s", err.text);
        cr_expect(router.facts.reorders && router.facts.splits && router.engine->by_demand);
        cr_assert_eq(router.engine->split(&router, n.dag, &n.demand, NULL, &split, &err), FAB_OK, "%s", err.text);
        cr_expect_eq(split.rule, ENGINES[i].rule);
        cr_expect_float_eq(network_most(&n, &split), 2, 0.02); /* oracle_bound has it from all paths */
        fab_split_release(&split);
        fab_router_release(&router);
    }
    cr_expect_eq(make_router(&n, "optimal,method=best", &router, &err), FAB_EINPUT);
    cr_expect_not_null(strstr(err.text, "'best' is not one of auto, lp, weights"), "%s", err.text);
    cr_expect_eq(make_router(&n, "optimal,window=0B", &router, &err), FAB_EINPUT);
    network_discard(&n);
}

/* A bound that is known is not looked for again, but by an engine that insists on a method. One that cannot be right
 * tells whether it was used. */
Test(bound, known_bound_is_used) {
    network n;
    fab_error err;
    fab_router router;
    cr_assert(
        network_make("dragonfly:dragonfly=2,4,2,gpus-per-server=4,radix=7", "pattern:permutation", 0, NULL, 1, &n));
    double *weight = malloc(n.fabric->n_links * sizeof *weight);
    for (uint32_t l = 0; l < n.fabric->n_links; l++) {
        weight[l] = 1 + l;
    }
    const fab_bound known = {.method = FAB_BOUND_WEIGHTS,
                             .upper = 5,
                             .lower = 1.5,
                             .rounds = 77,
                             .split = &(fab_split){.rule = FAB_SPLIT_WEIGHT, .weight = weight}};
    for (int insists = 0; insists < 2; insists++) {
        fab_split split = {0};
        cr_assert_eq(make_router(&n, insists ? "optimal,method=lp" : "optimal", &router, &err), FAB_OK, "%s", err.text);
        cr_assert_eq(router.engine->split(&router, n.dag, &n.demand, &known, &split, &err), FAB_OK, "%s", err.text);
        cr_expect_eq(split.rule, insists ? FAB_SPLIT_SHARE : FAB_SPLIT_WEIGHT);
        cr_expect(insists || memcmp(split.weight, weight, n.fabric->n_links * sizeof *weight) == 0);
        fab_split_release(&split);
        fab_router_release(&router);
    }
    const fab_engine_spec engine = {.text = "optimal", .where = "test"};
    const fab_context_request asked = {.design = &n.design,
                                       .fabric = n.fabric,
                                       .traffic = "pattern:permutation",
                                       .engines = &engine,
                                       .n_engines = 1,
                                       .seed = 1};
    fab_context *context = fixture_context(&asked);
    const fab_bound *found = NULL;
    cr_assert_eq(fab_context_bound(context, 0, &found, &err), FAB_OK, "%s", err.text);
    for (uint64_t n_seeds = 1; n_seeds < 4; n_seeds += 2) { /* that of the first seed serves all replays */
        const fab_replay replay = {.context = context, .n_seeds = n_seeds, .n_threads = 2, .bound = true};
        fab_result result = {0};
        cr_assert_eq(fab_replay_run(&replay, &result, &err), FAB_OK, "%s", err.text);
        cr_expect(result.phases[0].has_bound && result.phases[0].bound_rounds == found->rounds);
        cr_expect_eq(fab_context_count(context).bounds, 1);
        fab_result_release(&result);
    }
    fab_context_free(context);
    free(weight);
    network_discard(&n);
}
