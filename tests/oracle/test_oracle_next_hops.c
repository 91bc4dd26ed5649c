/* Next hops against breadth-first search leaf by leaf: random and chosen fabrics, whole and with dead links. */
#include "engines/router.h"
#include "fab/design.h"
#include "fab/next_hops.h"
#include "fab/rng.h"
#include "fab/topologies.h"
#include "oracle_network.h"
#include "random_design.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

typedef struct tally {
    uint64_t fabrics, routes, unreachable, groups;
    uint32_t widest, most_leaves; /* links of a group; leaves of a fabric */
} tally;

/* Links of the network that are dead: `both` directions of a cable together, or each for itself. */
static uint8_t *kill(const fab_fabric *f, fab_rng *rng, uint32_t per_mille, bool both, uint64_t **out_bits) {
    uint8_t *dead = calloc(f->n_links, 1);
    uint64_t *bits = calloc((size_t)f->n_links / 64 + 1, sizeof *bits);
    for (uint32_t l = 0; l < f->n_links; l += both ? 2 : 1) {
        if (fab_class_of(f, l)->kind == FAB_LINK_FABRIC && fab_rng_below(rng, 1000) < per_mille) {
            dead[l] = 1;
            dead[l ^ 1] = both || dead[l ^ 1];
        }
    }
    for (uint32_t l = 0; l < f->n_links; l++) {
        bits[l / 64] |= (uint64_t)dead[l] << (l % 64);
    }
    *out_bits = bits;
    return dead;
}

static bool is_same(const fab_next_hop_list *list, const fab_link_id *links, uint32_t n) {
    bool same = list->count == n;
    for (uint32_t i = 0; same && i < n; i++) {
        same = fab_next_hop(list, i) == links[i];
    }
    return same;
}

/* One switch towards all leaves: the links, and that groups are distinct and numbered by their first leaf. */
static void check_switch(const fab_fabric *f, const fab_next_hops *t, const uint8_t *dead, int **distance, uint32_t v,
                         const char *what, tally *sum) {
    fab_node_id node = f->first[FAB_NODE_SWITCH] + v;
    uint32_t n_groups = 0;
    uint32_t *first_leaf = calloc((size_t)t->n_leaves + 1, sizeof *first_leaf); /* of every group */
    for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
        fab_link_id slow[4096];
        uint32_t n_slow = distance[leaf][v] > 0 ? oracle_next_hops_alive(f, dead, distance[leaf], node, slow) : 0;
        fab_next_hop_list fast = fab_next_hops_get(t, v, leaf);
        uint32_t group = fab_next_hops_group(t, v, leaf);
        cr_assert_eq(fast.count, n_slow, "%s: switch %u to leaf %u: %u, not %u", what, v, leaf, fast.count, n_slow);
        cr_assert_eq(group == 0, n_slow == 0, "%s: switch %u to leaf %u", what, v, leaf);
        for (uint32_t i = 0; i < n_slow; i++) {
            cr_assert_eq(fab_next_hop(&fast, i), slow[i], "%s: switch %u to leaf %u", what, v, leaf);
        }
        cr_assert_leq(group, n_groups + 1, "%s: switch %u, leaf %u has group %u", what, v, leaf, group);
        for (uint32_t g = 1; g <= n_groups && group > n_groups; g++) {
            fab_next_hop_list other = fab_next_hops_get(t, v, first_leaf[g]);
            cr_assert_not(is_same(&other, slow, n_slow), "%s: switch %u has group %u twice", what, v, g);
        }
        if (group > n_groups) {
            first_leaf[++n_groups] = leaf;
        }
        sum->routes += n_slow;
        sum->widest = n_slow > sum->widest ? n_slow : sum->widest;
        sum->unreachable += distance[leaf][v] < 0;
    }
    cr_assert_eq(t->group_first[v + 1] - t->group_first[v], n_groups, "%s: switch %u", what, v);
    sum->groups += n_groups;
    free(first_leaf);
}

static void check_fabric(const fab_fabric *f, const char *what, fab_rng *rng, uint32_t per_mille, bool both,
                         tally *sum) {
    fab_error err = {0};
    fab_next_hops *t = NULL;
    uint64_t *bits = NULL;
    uint8_t *dead = kill(f, rng, per_mille, both, &bits);
    uint32_t n_switches = fab_n_switches(f);
    cr_assert_eq(fab_next_hops_new(f, per_mille > 0 ? bits : NULL, &t, &err), FAB_OK, "%s: %s", what, err.text);
    int **distance = calloc((size_t)t->n_leaves + 1, sizeof *distance);
    for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
        cr_assert_eq(t->leaf_index[t->leaf_node[leaf] - f->first[FAB_NODE_SWITCH]], leaf);
        cr_assert(leaf == 0 || t->leaf_node[leaf] > t->leaf_node[leaf - 1]);
        distance[leaf] = oracle_distances_alive(f, dead, t->leaf_node[leaf]);
    }
    /* The oracle looks at every link for every switch and leaf: of large fabrics some switches must do. */
    uint64_t work = (uint64_t)n_switches * t->n_leaves * f->n_links;
    uint32_t stride = 1 + (uint32_t)(work / 20000000);
    for (uint32_t v = (uint32_t)fab_rng_below(rng, stride); v < n_switches; v += stride) {
        check_switch(f, t, dead, distance, v, what, sum);
    }
    for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
        free(distance[leaf]);
    }
    free(distance);
    free(dead);
    free(bits);
    sum->most_leaves = t->n_leaves > sum->most_leaves ? t->n_leaves : sum->most_leaves;
    sum->fabrics++;
    fab_next_hops_free(t);
}

/* Returns whether the design can be built. */
static bool check_design(const char *text, fab_rng *rng, tally *sum) {
    static const struct {
        uint32_t per_mille;
        bool both;
    } DEAD[] = {{0, true}, {10, true}, {150, true}, {400, true}, {60, false}};
    fab_design design;
    fab_fabric *fabric = NULL;
    fab_error err = {0};
    if (fab_design_read(text, NULL, 0, &design, &err) != FAB_OK ||
        fab_topology_build(&design.fabric, &fabric, NULL, &err) != FAB_OK) {
        return false;
    }
    for (size_t i = 0; i < sizeof DEAD / sizeof DEAD[0]; i++) {
        check_fabric(fabric, text, rng, DEAD[i].per_mille, DEAD[i].both, sum);
    }
    fab_fabric_free(fabric);
    return true;
}

Test(oracle_next_hops, random_fabrics) {
    fab_rng rng = fab_rng_make(11, 0);
    tally sum = {0};
    for (int i = 0; i < 150; i++) {
        random_design d = random_design_next(&rng, 24);
        (void)check_design(d.text, &rng, &sum);
    }
    cr_assert_gt(sum.fabrics, 400);
    cr_assert_gt(sum.routes, 100000);
    cr_assert_gt(sum.unreachable, 1000);
    cr_assert_gt(sum.groups, 10000);
}

Test(oracle_next_hops, chosen_fabrics) {
    static const char *const DESIGNS[] = {
        "torus:gpus=700,gpus-per-server=1,torus=10,10,7,radix=8",           /* more leaves than a block */
        "torus:gpus=130,gpus-per-server=1,torus=130,radix=9",               /* long, with trunks */
        "dragonfly:dragonfly=1,12,6,gpus-per-server=1,radix=18",            /* more than a block, no tree */
        "dragonfly:gpus=36,gpus-per-server=4,dragonfly=2,5,3,4,2,radix=16", /* parallel cables */
        "clos:gpus=2048,gpus-per-server=8,radix=256,tiers=2",               /* lists of more than 64 ports */
        "clos:gpus=1024,gpus-per-server=8,radix=144,tiers=2",               /* wide trunks */
        "rail-spine:gpus=256,gpus-per-server=8,radix=8,planes=4",           /* planes that share no switch */
        "rail-spine:gpus=1024,gpus-per-server=8,radix=16,tiers=3",          /* pods */
        "rail-only:gpus=512,gpus-per-server=8,radix=8,domain=16",
    };
    fab_rng rng = fab_rng_make(12, 0);
    uint32_t widest = 0;
    uint32_t most_leaves = 0;
    for (size_t i = 0; i < sizeof DESIGNS / sizeof DESIGNS[0]; i++) {
        tally sum = {0};
        cr_assert(check_design(DESIGNS[i], &rng, &sum), "%s cannot be built", DESIGNS[i]);
        cr_assert_gt(sum.routes, 1000, "%s", DESIGNS[i]);
        widest = sum.widest > widest ? sum.widest : widest;
        most_leaves = sum.most_leaves > most_leaves ? sum.most_leaves : most_leaves;
    }
    cr_assert_gt(widest, 64);
    cr_assert_gt(most_leaves, 512);
}
