/* Splitting against the slow oracle: all rules and folds, random fabrics of every family, random capacities, dead links
 * and demands. */
#include "engines/router.h"
#include "fab/design.h"
#include "fab/split_pairs.h"
#include "fab/topologies.h"
#include "oracle_split.h"
#include "random_design.h"
#include "split/split_rule.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* More than 64 leaves each. */
static const char *const LARGE[] = {
    "fat-tree:k=12,gpus-per-server=1",
    "clos:gpus=280,gpus-per-server=2,radix=8",
    "rail-spine:gpus=432,gpus-per-server=4,radix=12,tiers=3",
    "dragonfly:dragonfly=1,6,3,gpus-per-server=1,radix=16",
    "torus:gpus=140,gpus-per-server=1,torus=7,5,4,radix=16",
    "clos:gpus=160,gpus-per-server=2,radix=8,planes=2",
};
#define N_LARGE (sizeof LARGE / sizeof LARGE[0])

typedef struct setup {
    char text[400];
    fab_fabric *fabric;
    fab_next_hops *next_hops;
    fab_dag *dag;
    uint64_t *dead;
    oracle_paths **paths; /* [leaf] */
    fab_demand demand;
    double *amount;
    double *weight, *x;
    double *share; /* [leaf][link] */
} setup;

static double draw(fab_rng *rng) {
    return (double)(fab_rng_next(rng) >> 11) / 9007199254740992.0;
}

/* Every cable between switches gets its old capacity or a part of it. */
static void vary_capacities(fab_fabric *f, fab_rng *rng) {
    static const double PART[] = {1, 0.5, 0.25, 0.4};
    uint16_t n = f->n_classes;
    fab_link_class *classes = malloc(4 * n * sizeof *classes);
    for (uint32_t i = 0; i < 4U * n; i++) {
        classes[i] = f->classes[i % n];
        classes[i].capacity_bps *= PART[i / n];
    }
    for (uint32_t c = 0; c < f->n_cables; c++) {
        if (classes[f->cable_class[c]].kind == FAB_LINK_FABRIC) {
            f->cable_class[c] = (uint16_t)(f->cable_class[c] + n * fab_rng_below(rng, 4));
        }
    }
    free(f->classes);
    f->classes = classes;
    f->n_classes = (uint16_t)(4 * n);
}

static bool make(const char *text, fab_rng *rng, setup *s) {
    fab_error err = {0};
    fab_design design;
    *s = (setup){0};
    (void)snprintf(s->text, sizeof s->text, "%s", text);
    if (fab_design_read(text, NULL, 0, &design, &err) != FAB_OK ||
        fab_topology_build(&design.fabric, &s->fabric, NULL, &err) != FAB_OK) {
        cr_assert_eq(err.code, FAB_EINPUT, "%s: %s", text, err.text);
        return false;
    }
    fab_fabric *f = s->fabric;
    if (fab_rng_below(rng, 2) == 0) {
        vary_capacities(f, rng);
    }
    uint64_t rate = fab_rng_below(rng, 3) * 40; /* dead links of 1000 */
    s->dead = calloc(f->n_links / 64 + 1, sizeof *s->dead);
    for (uint32_t c = 0; c < f->n_cables; c++) {
        if (fab_rng_below(rng, 1000) < rate) { /* mostly both directions */
            uint64_t directions = fab_rng_below(rng, 8) == 0 ? 1 + fab_rng_below(rng, 2) : 3;
            s->dead[c / 32] |= directions << (2 * c % 64);
        }
    }
    cr_assert_eq(fab_next_hops_new(f, s->dead, &s->next_hops, &err), FAB_OK, "%s: %s", text, err.text);
    cr_assert_eq(fab_dag_new(f, s->next_hops, &s->dag, &err), FAB_OK, "%s: %s", text, err.text);
    uint32_t n_leaves = s->next_hops->n_leaves;
    s->paths = calloc(n_leaves, sizeof *s->paths);
    for (uint32_t d = 0; d < n_leaves; d++) {
        s->paths[d] = oracle_paths_new(f, s->dead, s->next_hops->leaf_node[d]);
    }
    s->weight = calloc(f->n_links, sizeof *s->weight);
    s->x = calloc(f->n_links, sizeof *s->x);
    s->share = calloc((size_t)n_leaves * f->n_links, sizeof *s->share);
    double decades = draw(rng) * 12;
    for (uint32_t l = 0; l < f->n_links; l++) {
        s->weight[l] = pow(10, decades * (draw(rng) - 0.5));
        s->x[l] = fab_rng_below(rng, 4) == 0 ? 0 : draw(rng);
    }
    if (fab_rng_below(rng, 2) == 0) { /* so that links may be alike in these, too */
        for (uint32_t l = 0; l < f->n_links; l++) {
            s->weight[l] = 1 + f->cable_class[l >> 1] + 0.5 * (l & 1U);
            s->x[l] = 0.1 * f->cable_class[l >> 1] + 0.01 * (l & 1U);
        }
    }
    return true;
}

static bool reaches(const setup *s, uint32_t src, uint32_t dst) {
    return oracle_paths_length(s->paths[dst], s->next_hops->leaf_node[src]) >= 0;
}

static void make_demand(setup *s, fab_rng *rng) {
    fab_demand *d = &s->demand;
    uint32_t n = s->next_hops->n_leaves;
    uint64_t density = fab_rng_below(rng, 3) == 0 ? 1000 : 1 + fab_rng_below(rng, 400);
    d->n_leaves = n;
    d->first = calloc(n + 1, sizeof *d->first);
    d->src = calloc((size_t)n * n, sizeof *d->src);
    s->amount = calloc((size_t)n * n, sizeof *s->amount);
    for (uint32_t dst = 0; dst < n; dst++) {
        for (uint32_t src = 0; src < n; src++) {
            if (src != dst && fab_rng_below(rng, 1000) < density && reaches(s, src, dst)) {
                s->amount[d->n_pairs] = fab_rng_below(rng, 9) == 0 ? 0 : 1 + 100 * draw(rng);
                d->src[d->n_pairs++] = src;
            }
        }
        d->first[dst + 1] = d->n_pairs;
    }
}

/* Shares of every switch towards every leaf; some next hops get none. */
static void make_shares(setup *s, fab_rng *rng) {
    const fab_next_hops *t = s->next_hops;
    for (uint32_t dst = 0; dst < t->n_leaves; dst++) {
        double *share = s->share + (size_t)dst * s->fabric->n_links;
        for (uint32_t v = 0; v < fab_n_switches(s->fabric); v++) {
            fab_next_hop_list next = fab_next_hops_get(t, v, dst);
            uint32_t kept = next.count > 0 ? (uint32_t)fab_rng_below(rng, next.count) : 0;
            double sum = 0;
            for (uint32_t i = 0; i < next.count; i++) {
                share[fab_next_hop(&next, i)] = i == kept || fab_rng_below(rng, 3) > 0 ? draw(rng) + 0.01 : 0;
                sum += share[fab_next_hop(&next, i)];
            }
            for (uint32_t i = 0; i < next.count; i++) {
                share[fab_next_hop(&next, i)] /= sum;
            }
        }
    }
}

static void discard(setup *s) {
    for (uint32_t d = 0; d < s->next_hops->n_leaves; d++) {
        oracle_paths_free(s->paths[d]);
    }
    free(s->paths);
    free(s->dead);
    free(s->weight);
    free(s->x);
    free(s->share);
    free(s->amount);
    free(s->demand.first);
    free(s->demand.src);
    fab_dag_free(s->dag);
    fab_next_hops_free(s->next_hops);
    fab_fabric_free(s->fabric);
}

/* --- checks ------------------------------------------------------------------------------------------------------- */

static void near(const setup *s, double fast, double slow, double scale, const char *what, fab_split_rule rule,
                 uint32_t i) {
    cr_assert_leq(fabs(fast - slow), 1e-9 * scale, "%s: rule %d, %s %u: %.17g, not %.17g", s->text, (int)rule, what, i,
                  fast, slow);
}

/* What comes in and is sent from here goes out or stays. */
static void check_conservation(const setup *s, const double *load, fab_split_rule rule) {
    const fab_fabric *f = s->fabric;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    double *excess = calloc(fab_n_switches(f), sizeof *excess);
    double total = 1;
    for (uint32_t dst = 0; dst < s->demand.n_leaves; dst++) {
        for (uint32_t pair = s->demand.first[dst]; pair < s->demand.first[dst + 1]; pair++) {
            excess[s->next_hops->leaf_node[s->demand.src[pair]] - base] += s->amount[pair];
            excess[s->next_hops->leaf_node[dst] - base] -= s->amount[pair];
            total += s->amount[pair];
        }
    }
    for (uint32_t l = 0; l < f->n_links; l++) {
        if (fab_class_of(f, l)->kind == FAB_LINK_FABRIC) {
            excess[fab_tail(f, l) - base] -= load[l];
            excess[fab_head(f, l) - base] += load[l];
        }
    }
    for (uint32_t v = 0; v < fab_n_switches(f); v++) {
        near(s, excess[v], 0, total, "excess of switch", rule, v);
    }
    free(excess);
}

static uint32_t n_by_class; /* checks that there was something for */

/* Links that are alike carry the same, and together what the walk by class says. */
static void check_classes(const setup *s, const fab_split *split, const double *load) {
    const fab_switch_classes *classes = fab_dag_classes(s->dag);
    if (classes == NULL || (split->rule != FAB_SPLIT_EQUAL && split->rule != FAB_SPLIT_CAPACITY)) {
        return;
    }
    double *sum = calloc(s->fabric->n_links, sizeof *sum);
    fab_pair_walk *walk = NULL;
    fab_error err = {0};
    cr_assert_eq(fab_pair_walk_new(s->fabric, s->next_hops, split, &walk, &err), FAB_OK, "%s: %s", s->text, err.text);
    fab_pair_walk_by_class(walk, classes);
    for (uint32_t dst = 0; dst < s->demand.n_leaves; dst++) {
        for (uint32_t pair = s->demand.first[dst]; pair < s->demand.first[dst + 1]; pair++) {
            fab_pair_links links;
            cr_assert_eq(fab_pair_walk_get(walk, s->demand.src[pair], dst, &links, &err), FAB_OK, "%s: %s", s->text,
                         err.text);
            for (uint32_t i = 0; i < links.n; i++) {
                cr_assert_eq(classes->link_first[links.link[i]], links.link[i], "%s", s->text);
                sum[links.link[i]] += s->amount[pair] * links.share[i];
            }
        }
    }
    for (uint32_t l = 0; l < s->fabric->n_links; l++) {
        uint32_t first = classes->link_first[l];
        near(s, sum[first] / classes->link_count[first], load[l], 1e-3 + load[l], "share of class of link", split->rule,
             l);
    }
    n_by_class++;
    fab_pair_walk_free(walk);
    free(sum);
}

/* Pair by pair the same loads, and nothing but shares that the pair's paths explain. */
static void check_pairs(const setup *s, const fab_split *split, const double *load) {
    const fab_fabric *f = s->fabric;
    double *sum = calloc(f->n_links, sizeof *sum);
    fab_pair_walk *walk = NULL;
    fab_error err = {0};
    cr_assert_eq(fab_pair_walk_new(f, s->next_hops, split, &walk, &err), FAB_OK, "%s: %s", s->text, err.text);
    for (uint32_t dst = 0; dst < s->demand.n_leaves; dst++) {
        for (uint32_t pair = s->demand.first[dst]; pair < s->demand.first[dst + 1]; pair++) {
            fab_pair_links links;
            double arrives = 0;
            cr_assert_eq(fab_pair_walk_get(walk, s->demand.src[pair], dst, &links, &err), FAB_OK, "%s: %s", s->text,
                         err.text);
            for (uint32_t i = 0; i < links.n; i++) {
                cr_assert_gt(links.share[i], 0, "%s", s->text);
                sum[links.link[i]] += s->amount[pair] * links.share[i];
                arrives += fab_head(f, links.link[i]) == s->next_hops->leaf_node[dst] ? links.share[i] : 0;
            }
            near(s, arrives, 1, 1, "what arrives of pair", split->rule, pair);
        }
    }
    for (uint32_t l = 0; l < f->n_links; l++) {
        near(s, sum[l], load[l], 1e-3 + load[l], "sum over pairs of link", split->rule, l);
    }
    fab_pair_walk_free(walk);
    free(sum);
}

static void check_rule(const setup *s, fab_split_rule rule) {
    const fab_fabric *f = s->fabric;
    const fab_split split = {.rule = rule, .weight = s->weight, .share = s->share};
    double *fast = calloc(f->n_links, sizeof *fast);
    double *slow = calloc(f->n_links, sizeof *slow);
    double *folded = calloc(s->demand.n_pairs + 1, sizeof *folded);
    fab_error err = {0};
    for (uint32_t l = 0; l < f->n_links; l++) { /* it adds */
        fast[l] = slow[l] = 7;
    }
    cr_assert_eq(fab_split_load(s->dag, &split, &s->demand, s->amount, fast, &err), FAB_OK, "%s: %s", s->text,
                 err.text);
    for (uint32_t dst = 0; dst < s->demand.n_leaves; dst++) {
        const double *share = s->share + (size_t)dst * f->n_links;
        for (uint32_t pair = s->demand.first[dst]; pair < s->demand.first[dst + 1]; pair++) {
            oracle_split_load(s->paths[dst], &split, share, s->next_hops->leaf_node[s->demand.src[pair]],
                              s->amount[pair], slow);
        }
    }
    for (uint32_t l = 0; l < f->n_links; l++) {
        near(s, fast[l], slow[l], slow[l], "link", rule, l);
        fast[l] -= 7;
    }
    check_conservation(s, fast, rule);
    check_pairs(s, &split, fast);
    check_classes(s, &split, fast);
    for (int fold = FAB_FOLD_MAX; fold <= FAB_FOLD_EXPECTED; fold++) {
        cr_assert_eq(fab_split_fold(s->dag, &split, (fab_fold)fold, s->x, &s->demand, folded, &err), FAB_OK, "%s: %s",
                     s->text, err.text);
        for (uint32_t dst = 0; dst < s->demand.n_leaves; dst++) {
            const double *share = s->share + (size_t)dst * f->n_links;
            for (uint32_t pair = s->demand.first[dst]; pair < s->demand.first[dst + 1]; pair++) {
                double expected = oracle_split_fold(s->paths[dst], &split, share, (fab_fold)fold, s->x,
                                                    s->next_hops->leaf_node[s->demand.src[pair]]);
                near(s, folded[pair], expected, 1 + expected, fold == FAB_FOLD_EXPECTED ? "mean of pair" : "pair", rule,
                     pair);
            }
        }
    }
    for (uint32_t d = 0; d < s->demand.n_leaves; d++) { /* W and Z belong to the rule */
        oracle_paths_free(s->paths[d]);
        s->paths[d] = oracle_paths_new(f, s->dead, s->next_hops->leaf_node[d]);
    }
    free(fast);
    free(slow);
    free(folded);
}

static void check_all_rules(setup *s, fab_rng *rng) {
    make_demand(s, rng);
    make_shares(s, rng);
    check_rule(s, FAB_SPLIT_EQUAL);
    check_rule(s, FAB_SPLIT_CAPACITY);
    check_rule(s, FAB_SPLIT_WEIGHT);
    check_rule(s, FAB_SPLIT_SHARE);
}

Test(oracle_split, random_fabrics) {
    fab_rng rng = fab_rng_make(31, 1);
    uint32_t n_checked = 0;
    uint32_t n_pairs = 0;
    for (uint32_t i = 0; i < 400; i++) {
        setup s;
        random_design d = random_design_next(&rng, 30);
        if (make(d.text, &rng, &s)) {
            check_all_rules(&s, &rng);
            n_checked++;
            n_pairs += s.demand.n_pairs;
            discard(&s);
        }
    }
    cr_assert_gt(n_checked, 200, "%u", n_checked);
    cr_assert_gt(n_pairs, 10000, "%u", n_pairs);
    cr_assert_gt(n_by_class, 20, "%u", n_by_class);
}

Test(oracle_split, several_blocks) {
    fab_rng rng = fab_rng_make(37, 1);
    for (uint32_t i = 0; i < 3 * N_LARGE; i++) {
        setup s;
        cr_assert(make(LARGE[i % N_LARGE], &rng, &s), "%s", LARGE[i % N_LARGE]);
        cr_assert_gt(s.next_hops->n_leaves, 64, "%s", s.text);
        check_all_rules(&s, &rng);
        discard(&s);
    }
}

/* Weights times exp(height of head - height of tail) give every path the same share, and Z far from 1. */
Test(oracle_split, potentials_change_nothing) {
    fab_rng rng = fab_rng_make(47, 1);
    for (uint32_t i = 0; i < 2 * N_LARGE; i++) {
        setup s;
        cr_assert(make(LARGE[i % N_LARGE], &rng, &s), "%s", LARGE[i % N_LARGE]);
        const fab_fabric *f = s.fabric;
        uint32_t base = f->first[FAB_NODE_SWITCH];
        double *height = calloc(fab_n_switches(f), sizeof *height);
        double *steep = calloc(f->n_links, sizeof *steep);
        make_demand(&s, &rng);
        for (uint32_t v = 0; v < fab_n_switches(f); v++) {
            int steps = oracle_paths_length(s.paths[0], base + v); /* beyond the range of a double in the second half */
            height[v] = i < N_LARGE ? 250 * draw(&rng) : 20 * draw(&rng) + 200 * steps;
        }
        double most = 250;
        for (uint32_t l = 0; l < f->n_links; l++) {
            bool between = fab_class_of(f, l)->kind == FAB_LINK_FABRIC;
            most = between ? fmax(most, fabs(height[fab_head(f, l) - base] - height[fab_tail(f, l) - base])) : most;
        }
        for (uint32_t v = 0; v < fab_n_switches(f); v++) { /* a single weight has to fit */
            height[v] *= 250 / most;
        }
        for (uint32_t l = 0; l < f->n_links; l++) {
            bool between = fab_class_of(f, l)->kind == FAB_LINK_FABRIC;
            steep[l] = s.weight[l] * (between ? exp(height[fab_head(f, l) - base] - height[fab_tail(f, l) - base]) : 1);
        }
        double *load[2];
        double *mean[2];
        for (int k = 0; k < 2; k++) {
            const fab_split split = {.rule = FAB_SPLIT_WEIGHT, .weight = k == 0 ? s.weight : steep};
            fab_error err = {0};
            load[k] = calloc(f->n_links, sizeof *load[k]);
            mean[k] = calloc(s.demand.n_pairs + 1, sizeof *mean[k]);
            cr_assert_eq(fab_split_load(s.dag, &split, &s.demand, s.amount, load[k], &err), FAB_OK, "%s: %s", s.text,
                         err.text);
            cr_assert_eq(fab_split_fold(s.dag, &split, FAB_FOLD_EXPECTED, s.x, &s.demand, mean[k], &err), FAB_OK,
                         "%s: %s", s.text, err.text);
        }
        for (uint32_t l = 0; l < f->n_links; l++) {
            near(&s, load[1][l], load[0][l], load[0][l], "link", FAB_SPLIT_WEIGHT, l);
        }
        for (uint32_t pair = 0; pair < s.demand.n_pairs; pair++) {
            near(&s, mean[1][pair], mean[0][pair], 1 + mean[0][pair], "pair", FAB_SPLIT_WEIGHT, pair);
        }
        for (int k = 0; k < 2; k++) {
            free(load[k]);
            free(mean[k]);
        }
        free(height);
        free(steep);
        discard(&s);
    }
}

/* --- a cable that is missing --- */

/* Two leaves and two spines with two cables each, one of them dead: 4 of a leaf's traffic cross three cables of the
 * other one, 4/3 on each, and a spine with one cable left gets half of what the other gets. Evenly it is 2 and 1. */
Test(oracle_split, capacity_counts_missing_cables) {
    fab_error err = {0};
    fab_design design;
    fab_fabric *f = NULL;
    fab_next_hops *next = NULL;
    fab_dag *dag = NULL;
    fab_pair_walk *walk = NULL;
    fab_pair_links links;
    const fab_split split = {.rule = FAB_SPLIT_CAPACITY};
    cr_assert_eq(fab_design_read("clos:gpus=8,gpus-per-server=1,radix=8/4,tiers=2", NULL, 0, &design, &err), FAB_OK);
    cr_assert_eq(fab_topology_build(&design.fabric, &f, NULL, &err), FAB_OK, "%s", err.text);
    uint64_t *dead = calloc(f->n_links / 64 + 1, sizeof *dead);
    double *load[2] = {calloc(f->n_links, sizeof **load), calloc(f->n_links, sizeof **load)};
    uint32_t gone = 0;
    while (fab_class_of(f, gone)->kind != FAB_LINK_FABRIC) {
        gone += 2;
    }
    dead[gone / 64] |= UINT64_C(3) << (gone % 64);
    cr_assert_eq(fab_next_hops_new(f, dead, &next, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_dag_new(f, next, &dag, &err), FAB_OK, "%s", err.text);
    uint32_t first[] = {0, 1, 2};
    uint32_t src[] = {1, 0};
    const double amount[] = {4, 4};
    const fab_demand demand = {.n_leaves = 2, .n_pairs = 2, .first = first, .src = src};
    cr_assert_eq(fab_split_load(dag, &split, &demand, amount, load[0], &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_pair_walk_new(f, next, &split, &walk, &err), FAB_OK, "%s", err.text);
    for (uint32_t dst = 0; dst < 2; dst++) {
        cr_assert_eq(fab_pair_walk_get(walk, 1 - dst, dst, &links, &err), FAB_OK, "%s", err.text);
        for (uint32_t i = 0; i < links.n; i++) {
            load[1][links.link[i]] += 4 * links.share[i];
        }
    }
    const fab_node_id lost[2] = {fab_tail(f, gone), fab_head(f, gone)}; /* leaf, spine */
    cr_assert_eq(next->n_leaves, 2);
    cr_assert_eq(f->n_cables, 24, "8 to GPUs, 8 to NICs' leaves, 8 between switches");
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_node_id ends[2] = {fab_tail(f, l), fab_head(f, l)};
        const bool at_leaf = ends[0] == lost[0] || ends[1] == lost[0];
        const bool at_spine = ends[0] == lost[1] || ends[1] == lost[1];
        const double expected = (l | 1U) == (gone | 1U) ? 0 : at_leaf || !at_spine ? 4.0 / 3 : 2.0 / 3;
        for (int k = 0; fab_class_of(f, l)->kind == FAB_LINK_FABRIC && k < 2; k++) {
            cr_expect_float_eq(load[k][l], expected, 1e-12, "%s of link %u: %g", k == 0 ? "load" : "walk", l,
                               load[k][l]);
        }
    }
    fab_pair_walk_free(walk);
    fab_dag_free(dag);
    fab_next_hops_free(next);
    fab_fabric_free(f);
    free(dead);
    free(load[0]);
    free(load[1]);
}

/* --- refusals ----------------------------------------------------------------------------------------------------- */

Test(oracle_split, unreachable_pairs_are_named) {
    fab_rng rng = fab_rng_make(41, 1);
    uint32_t n_refused = 0;
    for (uint32_t i = 0; i < 600; i++) {
        setup s;
        random_design d = random_design_next(&rng, 20);
        if (!make(d.text, &rng, &s)) {
            continue;
        }
        uint32_t n = s.next_hops->n_leaves;
        for (uint32_t k = 0; k < (uint32_t)n * n; k++) {
            uint32_t src = k % n;
            uint32_t dst = k / n;
            if (src == dst || reaches(&s, src, dst)) {
                continue;
            }
            uint32_t *first = calloc(n + 1, sizeof *first);
            for (uint32_t leaf = dst; leaf < n; leaf++) {
                first[leaf + 1] = 1;
            }
            const fab_demand one = {.n_leaves = n, .n_pairs = 1, .first = first, .src = &src};
            const fab_split split = {.rule = FAB_SPLIT_EQUAL};
            double amount = 1;
            double out = 77;
            double *load = calloc(s.fabric->n_links, sizeof *load);
            char expected[384];
            char a[32];
            char b[32];
            fab_error err = {0};
            (void)snprintf(expected, sizeof expected, "no route from %s to %s" FAB_NO_WAY,
                           fab_node_name(s.fabric, s.next_hops->leaf_node[src], a),
                           fab_node_name(s.fabric, s.next_hops->leaf_node[dst], b));
            cr_assert_eq(fab_split_load(s.dag, &split, &one, &amount, load, &err), FAB_EUNREACHABLE);
            cr_assert_str_eq(err.text, expected);
            err = (fab_error){0};
            cr_assert_eq(fab_split_fold(s.dag, &split, FAB_FOLD_MAX, s.x, &one, &out, &err), FAB_EUNREACHABLE);
            cr_assert_str_eq(err.text, expected);
            amount = 0; /* what asks for nothing needs no route */
            cr_assert_eq(fab_split_load(s.dag, &split, &one, &amount, load, &err), FAB_OK);
            for (uint32_t l = 0; l < s.fabric->n_links; l++) {
                cr_assert_eq(load[l], 0);
            }
            free(load);
            free(first);
            n_refused++;
            break;
        }
        discard(&s);
    }
    cr_assert_gt(n_refused, 20, "%u", n_refused);
}

Test(oracle_split, weights_and_shares_out_of_range) {
    fab_rng rng = fab_rng_make(43, 1);
    setup s;
    cr_assert(make("fat-tree:k=4,gpus-per-server=1", &rng, &s));
    while (s.dead[0] != 0) { /* alive and connected */
        discard(&s);
        cr_assert(make("fat-tree:k=4,gpus-per-server=1", &rng, &s));
    }
    make_demand(&s, &rng);
    double *load = calloc(s.fabric->n_links, sizeof *load);
    double *share = calloc((size_t)s.demand.n_leaves * s.fabric->n_links, sizeof *share);
    fab_split split = {.rule = FAB_SPLIT_WEIGHT, .weight = s.weight, .share = share};
    static const double BAD[] = {0, -1, NAN, INFINITY, 1e-260, 1e260};
    uint32_t link = 0;
    while (fab_class_of(s.fabric, link)->kind != FAB_LINK_FABRIC) {
        link++;
    }
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        fab_error err = {0};
        s.weight[link] = BAD[i];
        cr_assert_eq(fab_split_load(s.dag, &split, &s.demand, s.amount, load, &err), FAB_EINPUT, "%g", BAD[i]);
        cr_assert_not_null(strstr(err.text, "the weight of "), "%s", err.text);
    }
    fab_error err = {0};
    split.rule = FAB_SPLIT_SHARE;
    cr_assert_eq(fab_split_load(s.dag, &split, &s.demand, s.amount, load, &err), FAB_EINPUT);
    cr_assert_not_null(strstr(err.text, "add up to 0, not 1"), "%s", err.text);
    free(load);
    free(share);
    discard(&s);
}
