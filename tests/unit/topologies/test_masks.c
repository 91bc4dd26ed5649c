/* Components by name, masks, and next hops under a mask against those that are built again without the dead links. */
#include "fab/mask.h"
#include "next_hops/masked.h"
#include "fab/rng.h"
#include "fabric_fixture.h"
#include "fab/floor_plan.h"
#include "random_design.h"

#include <string.h>

/* Some component of some kind. */
static fab_component draw(const fab_fabric *f, const fab_racks *racks, fab_rng *rng) {
    fab_component c = {.fraction = fab_rng_below(rng, 4) == 0 ? 0.25 * (double)(1 + fab_rng_below(rng, 3)) : 0};
    do {
        c.kind = (fab_component_kind)fab_rng_below(rng, FAB_COMPONENT_N_KINDS);
        if (c.kind > FAB_COMPONENT_PORT) {
            uint32_t n = fab_component_count(f, racks, c.kind);
            c.id = n > 0 ? (uint32_t)fab_rng_below(rng, n) : 0;
        } else {
            c.id = (uint32_t)fab_rng_below(rng, f->n_links);
        }
    } while (fab_component_check(f, racks, &c, NULL) != FAB_OK);
    return c;
}

Test(masks, names_read_back) {
    fab_design design;
    fab_floor *floor = NULL;
    fab_rng rng = fab_rng_make(1, 1);
    uint32_t seen[FAB_COMPONENT_N_KINDS] = {0};
    fab_error err = {0};
    fab_fabric *f = NULL;
    static const char *const FLOOR[] = {"floor.rack-pitch=1m"};
    cr_assert_eq(fab_design_read("rail-spine:gpus=64,gpus-per-server=4,radix=8,planes=2", FLOOR, 1, &design, &err),
                 FAB_OK, "%s", err.text);
    cr_assert_eq(fab_topology_build(&design.fabric, &f, NULL, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_floor_make(&design.fabric, f, &floor, &err), FAB_OK, "%s", err.text);
    const fab_racks racks = fab_floor_racks(floor);
    for (uint32_t i = 0; i < 2000; i++) {
        fab_component c = draw(f, &racks, &rng);
        fab_component reverse = {0};
        char name[FAB_COMPONENT_NAME_SIZE];
        fab_component_name(f, &c, name);
        cr_assert_eq(fab_component_parse(f, &racks, name, &reverse, &err), FAB_OK, "%s: %s", name, err.text);
        cr_assert_eq(reverse.kind, c.kind, "%s", name);
        cr_assert_eq(reverse.id, c.id, "%s", name);
        cr_assert_eq(reverse.fraction, c.fraction, "%s", name);
        seen[c.kind]++;
    }
    for (uint32_t kind = 0; kind < FAB_COMPONENT_N_KINDS; kind++) {
        cr_expect_gt(seen[kind], 50, "%s", fab_component_kinds[kind]);
    }
    fab_floor_free(floor);
    fab_fabric_free(f);
}

Test(masks, what_is_not_there) {
    static const struct {
        const char *text, *message;
        fab_status status;
    } CASES[] = {
        {"leaf-99", "there is no leaf-99: they are numbered 0 to 7", FAB_EINPUT},
        {"server-16", "there is no server-16: they are numbered 0 to 15", FAB_EINPUT},
        {"plane-1", "there is no plane-1: they are numbered 0 to 0", FAB_EINPUT},
        {"rack-0", "there is no rack-0: " FAB_NO_FLOOR, FAB_EINPUT},
        {"router-1", "names no node", FAB_EINPUT},
        {"domain-3", "does not fail as one", FAB_EUNSUPPORTED},
        {"gpu-0 > domain-0", "inside a server", FAB_EINPUT},
        {"leaf-0:77", "no link is 'leaf-0:77'", FAB_EINPUT},
        {"leaf-0*1", "'1' is not what may be left", FAB_EINPUT},
        {"leaf-0*nan", "'nan' is not what may be left", FAB_EINPUT},
        {"leaf-0*-0.5", "is not what may be left", FAB_EINPUT},
        {"", "names no component", FAB_EINPUT},
    };
    fab_fabric *f = fixture_build("clos:gpus=32,gpus-per-server=2,radix=8", NULL, NULL);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        fab_component c;
        fab_error err = {0};
        cr_expect_eq(fab_component_parse(f, NULL, CASES[i].text, &c, &err), CASES[i].status, "%s", CASES[i].text);
        cr_expect(strstr(err.text, CASES[i].message) != NULL, "%s: %s", CASES[i].text, err.text);
    }
    fab_fabric_free(f);
}

/* Links of a dead server and a slow switch, and nothing of them once another mask is set. */
Test(masks, sets_and_clears) {
    fab_fabric *f = fixture_build("clos:gpus=32,gpus-per-server=2,radix=8", NULL, NULL);
    fab_mask mask = {0};
    fab_component both[2];
    cr_assert_eq(fab_mask_init(f, NULL, &mask, NULL), FAB_OK);
    cr_assert_eq(fab_component_parse(f, NULL, "server-3", &both[0], NULL), FAB_OK);
    cr_assert_eq(fab_component_parse(f, NULL, "leaf-0*0.5", &both[1], NULL), FAB_OK);
    cr_assert_eq(fab_mask_set(&mask, both, 2, NULL), FAB_OK);
    cr_expect_eq(mask.n_nodes, 4); /* two GPUs, two NICs */
    cr_expect_eq(mask.n_servers, 1);
    cr_expect_eq(mask.server[0], 3);
    fab_node_id leaf = f->first_of_tier[1];
    for (uint32_t l = 0; l < f->n_links; l++) {
        fab_node_id ends[2] = {fab_tail(f, l), fab_head(f, l)};
        double residual = 1;
        for (uint32_t i = 0; i < 2; i++) {
            bool dead = (fab_kind_of(f, ends[i]) == FAB_NODE_GPU && ends[i] / 2 == 3) ||
                        (fab_kind_of(f, ends[i]) == FAB_NODE_NIC && (ends[i] - f->first[FAB_NODE_NIC]) / 2 == 3);
            residual = dead ? 0 : ends[i] == leaf && residual > 0 ? 0.5 : residual;
        }
        cr_expect_eq(mask.residual[l], residual, "link %u: %g, not %g", l, mask.residual[l], residual);
        cr_expect_eq(fab_mask_link_is_dead(&mask, l), residual == 0);
    }
    cr_assert_eq(fab_mask_set(&mask, NULL, 0, NULL), FAB_OK);
    for (uint32_t l = 0; l < f->n_links; l++) {
        cr_expect(mask.residual[l] == 1 && !fab_mask_link_is_dead(&mask, l));
    }
    const fab_component bad = {.kind = FAB_COMPONENT_SWITCH, .id = 1000};
    cr_expect_eq(fab_mask_set(&mask, &bad, 1, NULL), FAB_EINPUT);
    cr_expect_eq(mask.n_links, 0);
    fab_mask_release(&mask);
    fab_fabric_free(f);
}

typedef struct tally {
    uint32_t masks, lists, shorter, detours, unreachable;
} tally;

static void compare(const fab_next_hops *whole, const fab_next_hops *slow, fab_masked_hops *fast, const char *what,
                    tally *sum) {
    for (uint32_t v = 0; v < whole->n_switches; v++) {
        for (uint32_t leaf = 0; leaf < whole->n_leaves; leaf++) {
            fab_next_hop_list a = fab_next_hops_get(slow, v, leaf);
            fab_next_hop_list b = fab_masked_hops_get(fast, v, leaf);
            fab_next_hop_list before = fab_next_hops_get(whole, v, leaf);
            cr_assert_eq(a.count, b.count, "%s: switch %u to leaf %u: %u, not %u", what, v, leaf, b.count, a.count);
            bool all_new = a.count > 0 && before.count > 0;
            for (uint32_t i = 0; i < a.count; i++) {
                cr_assert_eq(fab_next_hop(&a, i), fab_next_hop(&b, i), "%s: switch %u to leaf %u", what, v, leaf);
                for (uint32_t k = 0; k < before.count; k++) {
                    all_new = all_new && fab_next_hop(&before, k) != fab_next_hop(&a, i);
                }
            }
            sum->lists += a.count > 0;
            sum->shorter += a.count < before.count && a.count > 0;
            sum->detours += all_new;
            sum->unreachable += a.count == 0 && before.count > 0;
        }
    }
}

/* The first ones have more leaves than a word has bits. */
Test(masks, next_hops_are_those_built_again) {
    static const char *const LARGE[] = {
        "fat-tree:k=12", "rail-spine:gpus=256,gpus-per-server=8,radix=8,planes=4,taper=2",
        "torus:gpus=150,gpus-per-server=1,torus=5,6,5,radix=8", "dragonfly:gpus=228,gpus-per-server=1,dragonfly=2,6,3"};
    const uint32_t n_large = sizeof LARGE / sizeof LARGE[0];
    fab_rng rng = fab_rng_make(2, 1);
    tally sum = {0};
    for (uint32_t round = 0; round < 150 + n_large; round++) {
        random_design d = random_design_next(&rng, 24);
        if (round < n_large) {
            (void)snprintf(d.text, sizeof d.text, "%s", LARGE[round]);
        }
        fab_design design;
        fab_fabric *f = NULL;
        fab_mask mask = {0};
        fab_hops_index index = {0};
        fab_masked_hops *fast = NULL;
        if (fab_design_read(d.text, NULL, 0, &design, NULL) != FAB_OK ||
            fab_topology_build(&design.fabric, &f, NULL, NULL) != FAB_OK) {
            continue;
        }
        fab_next_hops *whole = fixture_next_hops(f);
        cr_assert_eq(fab_hops_index_init(f, whole, &index, NULL), FAB_OK);
        cr_assert_eq(fab_masked_hops_new(&index, &fast, NULL), FAB_OK);
        cr_assert_eq(fab_mask_init(f, NULL, &mask, NULL), FAB_OK);
        for (uint32_t i = 0; i < 6; i++) {
            fab_component c[40];
            fab_next_hops *slow = NULL;
            size_t n = 1 + fab_rng_below(&rng, i < 3 ? 4 : 40);
            for (size_t k = 0; k < n; k++) {
                c[k] = draw(f, NULL, &rng);
                if (c[k].kind > FAB_COMPONENT_PORT && (fab_rng_below(&rng, 4) > 0 || c[k].kind > FAB_COMPONENT_NIC)) {
                    k--; /* mostly links */
                }
            }
            cr_assert_eq(fab_mask_set(&mask, c, n, NULL), FAB_OK);
            cr_assert_eq(fab_masked_hops_find(fast, &mask, false, NULL, NULL), FAB_OK);
            cr_assert_eq(fab_next_hops_new(f, mask.dead_link, &slow, NULL), FAB_OK);
            compare(whole, slow, fast, d.text, &sum);
            sum.masks++;
            fab_next_hops_free(slow);
        }
        fab_masked_hops_free(fast);
        fab_hops_index_release(&index);
        fab_mask_release(&mask);
        fab_next_hops_free(whole);
        fab_fabric_free(f);
    }
    cr_expect_gt(sum.masks, 300, "%u", sum.masks);
    cr_expect_gt(sum.shorter, 1000, "%u", sum.shorter);
    cr_expect_gt(sum.detours, 100, "%u", sum.detours);
    cr_expect_gt(sum.unreachable, 100, "%u", sum.unreachable);
}
