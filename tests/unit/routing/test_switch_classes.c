/* Switches that are alike: what makes a partition equitable, counted anew, and how many classes regular fabrics have.
 */
#include "fab/rng.h"
#include "fab/next_hops.h"
#include "fabric_fixture.h"
#include "random_design.h"

#include <criterion/criterion.h>
#include <stdlib.h>

typedef struct setup {
    fab_fabric *f;
    fab_next_hops *next_hops;
    fab_switch_classes *classes;
} setup;

static bool make(const char *text, const uint64_t *dead, setup *s) {
    fab_error err = {0};
    s->f = fixture_build(text, NULL, NULL);
    cr_assert_eq(fab_next_hops_new(s->f, dead, &s->next_hops, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_switch_classes_find(s->f, s->next_hops, &s->classes, &err), FAB_OK, "%s", err.text);
    return s->classes != NULL;
}

static void discard(setup *s) {
    fab_switch_classes_free(s->classes);
    fab_next_hops_free(s->next_hops);
    fab_fabric_free(s->f);
}

static bool lives(const setup *s, fab_link_id l) {
    const uint64_t *dead = s->next_hops->dead_link;
    return dead == NULL || (dead[l >> 6] >> (l & 63) & 1) == 0;
}

/* Live links of switch v that are like `link`: of its link class, to switches of the class of its head, live or dead on
 * the way back. */
static uint32_t count_links(const setup *s, uint32_t v, fab_link_id link) {
    uint32_t base = s->f->first[FAB_NODE_SWITCH];
    uint32_t head = s->classes->first[fab_head(s->f, link) - base];
    uint32_t n = 0;
    for (uint32_t k = s->f->out_first[base + v]; k < s->f->out_first[base + v + 1]; k++) {
        fab_link_id l = s->f->out_link[k];
        n += fab_class_of(s->f, l)->kind == FAB_LINK_FABRIC && lives(s, l) && lives(s, l ^ 1U) == lives(s, link ^ 1U) &&
             s->f->cable_class[l / 2] == s->f->cable_class[link / 2] &&
             s->classes->first[fab_head(s->f, l) - base] == head;
    }
    return n;
}

static void check(const setup *s, const char *text) {
    const fab_fabric *f = s->f;
    const fab_switch_classes *t = s->classes;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t n_classes = 0;
    for (uint32_t v = 0; v < fab_n_switches(f); v++) {
        uint32_t first = t->first[v];
        n_classes += first == v;
        cr_assert(first <= v && t->first[first] == first && t->size[v] == t->size[first], "%s", text);
        cr_assert(s->next_hops->leaf_index[v] == FAB_NONE || t->size[v] == 1, "%s: a leaf has others in its class",
                  text);
        for (uint32_t k = f->out_first[base + v]; k < f->out_first[base + v + 1]; k++) {
            fab_link_id l = f->out_link[k];
            if (fab_class_of(f, l)->kind == FAB_LINK_FABRIC && lives(s, l)) {
                uint32_t head = fab_head(f, l) - base;
                uint32_t own = count_links(s, v, l);
                cr_assert_eq(own, count_links(s, first, l), "%s: switch %u", text, v);
                uint32_t lowest = t->link_first[l];
                cr_assert(lowest <= l && t->link_first[lowest] == lowest, "%s", text);
                cr_assert_eq(t->first[fab_tail(f, lowest) - base], first, "%s", text);
                cr_assert_eq(t->first[head], t->first[fab_head(f, lowest) - base], "%s", text);
                cr_assert_eq(t->link_count[lowest], own * t->size[v], "%s", text);
            }
        }
    }
    cr_assert_eq(n_classes, t->n_classes, "%s", text);
    uint64_t n_links = 0;
    for (uint32_t l = 0; l < f->n_links; l++) {
        n_links += t->link_count[l];
        cr_assert_eq(t->link_count[l] > 0, t->link_first[l] == l, "%s", text);
    }
    cr_assert_eq(n_links, f->n_links, "%s", text);
}

Test(classes, regular_fabrics) {
    static const struct {
        const char *text;
        uint32_t n_classes;
    } KNOWN[] = {
        {"fat-tree:k=8,gpus-per-server=1", 32 + 8 + 1},            /* leaves, spines of a pod, cores */
        {"clos:gpus=256,radix=32,tiers=2", 16 + 1},                /* leaves, spines */
        {"rail-only:gpus=256,gpus-per-server=4,radix=16", 32 + 4}, /* leaves, spines of a rail */
    };
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        setup s;
        cr_assert(make(KNOWN[i].text, NULL, &s), "%s", KNOWN[i].text);
        check(&s, KNOWN[i].text);
        cr_expect_eq(s.classes->n_classes, KNOWN[i].n_classes, "%s: %u", KNOWN[i].text, s.classes->n_classes);
        discard(&s);
    }
    setup torus;
    cr_assert_not(make("torus:gpus=64,gpus-per-server=4,torus=4,4,2,radix=8", NULL, &torus));
    discard(&torus);
}

/* One cable of pod 0: its spine is alone, and so are the core switches above that spine. */
Test(classes, a_dead_cable_tells_apart) {
    setup s;
    cr_assert(make("fat-tree:k=8,gpus-per-server=1", NULL, &s));
    uint32_t cable = 0;
    while (fab_class_of(s.f, 2 * cable)->kind != FAB_LINK_FABRIC) {
        cable++;
    }
    uint64_t *dead = calloc(s.f->n_links / 64 + 1, sizeof *dead);
    for (uint64_t directions = 1; directions <= 3; directions++) {
        setup lame;
        dead[cable / 32] = directions << (2 * cable % 64);
        cr_assert(make("fat-tree:k=8,gpus-per-server=1", dead, &lame));
        check(&lame, "a dead cable");
        /* the spine, its cores, and in every other pod the spines below these cores */
        cr_expect_eq(lame.classes->n_classes, s.classes->n_classes + 1 + 1 + 7, "%u", lame.classes->n_classes);
        discard(&lame);
    }
    free(dead);
    discard(&s);
}

Test(classes, random_fabrics) {
    fab_rng rng = fab_rng_make(53, 1);
    uint32_t n_found = 0;
    for (uint32_t i = 0; i < 300; i++) {
        random_design d = random_design_next(&rng, 60);
        fab_design design;
        fab_fabric *f = NULL;
        setup s;
        fab_error err = {0};
        if (fab_design_read(d.text, NULL, 0, &design, &err) != FAB_OK ||
            fab_topology_build(&design.fabric, &f, NULL, &err) != FAB_OK) {
            continue;
        }
        uint64_t *dead = calloc(f->n_links / 64 + 1, sizeof *dead);
        for (uint32_t c = 0; c < f->n_cables && i % 2 == 1; c++) {
            if (fab_rng_below(&rng, 20) == 0) {
                dead[c / 32] |= (1 + fab_rng_below(&rng, 3)) << (2 * c % 64);
            }
        }
        if (make(d.text, dead, &s)) {
            check(&s, d.text);
            n_found++;
        }
        discard(&s);
        free(dead);
        fab_fabric_free(f);
    }
    cr_assert_gt(n_found, 30, "%u", n_found);
}
