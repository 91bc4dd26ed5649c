/* What fails together: events take what belongs to them, all of it, and each part once. */
#include "fab/floor_plan.h"
#include "fab/scenarios.h"
#include "fabric_fixture.h"

#include <string.h>

typedef struct scene {
    fab_design design;
    fab_fabric *f;
    fab_floor *floor;
    fab_scenarios *s;
    fab_mask mask;
} scene;

static scene scene_of(const char *text, uint64_t servers_per_rack, const char *source) {
    scene s = {.s = NULL};
    fab_error err = {0};
    fab_racks racks;
    s.f = fixture_build(text, &s.design, NULL);
    if (servers_per_rack > 0) {
        char value[32];
        (void)snprintf(value, sizeof value, "floor.servers-per-rack=%u", (unsigned)servers_per_rack);
        const char *set[] = {value};
        fab_fabric_free(s.f);
        cr_assert_eq(fab_design_read(text, set, 1, &s.design, &err), FAB_OK, "%s", err.text);
        cr_assert_eq(fab_topology_build(&s.design.fabric, &s.f, NULL, &err), FAB_OK, "%s", err.text);
        cr_assert_eq(fab_floor_make(&s.design.fabric, s.f, &s.floor, &err), FAB_OK, "%s", err.text);
    }
    cr_assert_eq(fab_scenarios_new(source, s.f, s.floor, NULL, 1, &s.s, &err), FAB_OK, "%s: %s", source, err.text);
    racks = fab_floor_racks(s.floor);
    cr_assert_eq(fab_mask_init(s.f, s.floor != NULL ? &racks : NULL, &s.mask, NULL), FAB_OK);
    return s;
}

static void scene_free(scene *s) {
    fab_mask_release(&s->mask);
    fab_scenarios_free(s->s);
    fab_floor_free(s->floor);
    fab_fabric_free(s->f);
}

/* Number before a noun in a name, 0 where it is not said. */
static uint32_t said(const char *name, const char *noun) {
    const char *at = strstr(name, noun);
    uint32_t n = 0;
    uint32_t place = 1;
    for (at = at != NULL ? at - 2 : name - 1; at >= name && *at >= '0' && *at <= '9'; at--, place *= 10) {
        n += (uint32_t)(*at - '0') * place;
    }
    return n;
}

/* How often each cable is dead, and each server and switch, over the scenarios of a source. */
typedef struct dead_count {
    uint32_t *cable, *node;
    uint64_t n;
} dead_count;

static dead_count count_dead(scene *s) {
    dead_count c = {.n = fab_scenarios_count(s->s)};
    fab_scenario one = {0};
    c.cable = calloc(s->f->n_cables + 1, sizeof *c.cable);
    c.node = calloc(s->f->n_nodes + 1, sizeof *c.node);
    for (uint64_t i = 0; i < c.n; i++) {
        uint32_t n_switches = 0;
        uint32_t n_cables = 0;
        cr_assert_eq(fab_scenarios_get(s->s, i, &one, NULL), FAB_OK);
        cr_assert_eq(fab_mask_set(&s->mask, one.component, one.n_components, NULL), FAB_OK);
        for (uint32_t k = 0; k < s->f->n_cables; k++) {
            c.cable[k] += fab_mask_link_is_dead(&s->mask, 2 * k);
            n_cables += fab_mask_link_is_dead(&s->mask, 2 * k);
        }
        for (uint32_t v = 0; v < s->f->n_nodes; v++) {
            c.node[v] += fab_mask_node_is_dead(&s->mask, v);
            n_switches += fab_kind_of(s->f, v) == FAB_NODE_SWITCH && fab_mask_node_is_dead(&s->mask, v);
        }
        const char *name = one.name;
        cr_assert_eq(said(name, "server"), s->mask.n_servers, "%s: %u servers", name, s->mask.n_servers);
        cr_assert_eq(said(name, "leaf") + said(name, "leaves") + said(name, "spine") + said(name, "core"), n_switches,
                     "%s: %u switches", name, n_switches);
        cr_assert(said(name, "cable") == (n_switches + s->mask.n_servers > 0 ? 0 : n_cables), "%s: %u cables", name,
                  n_cables);
    }
    fab_scenario_release(&one);
    return c;
}

static void free_count(dead_count *c) {
    free(c->cable);
    free(c->node);
}

/* Racks, rows and halls have everything in them once. */
Test(events, power_and_cooling_take_all_that_stands_there) {
    static const char *const SOURCES[] = {"power:rack", "cooling:row", "cooling:hall"};
    for (size_t i = 0; i < sizeof SOURCES / sizeof SOURCES[0]; i++) {
        scene s = scene_of("clos:gpus=256,gpus-per-server=4,radix=16", 3, SOURCES[i]);
        dead_count c = count_dead(&s);
        for (uint32_t v = 0; v < s.f->n_nodes; v++) {
            const bool counts = fab_kind_of(s.f, v) != FAB_NODE_DOMAIN;
            cr_assert(!counts || c.node[v] == 1, "%s: node %u is taken %u times", SOURCES[i], v, c.node[v]);
        }
        cr_expect_eq(c.n,
                     i == 0   ? (uint64_t)s.floor->n_server_racks + s.floor->n_network_racks
                     : i == 1 ? (uint64_t)s.floor->n_rows
                              : (uint64_t)s.floor->n_halls,
                     "%s: %u", SOURCES[i], (unsigned)c.n);
        free_count(&c);
        scene_free(&s);
    }
}

Test(events, a_pod_goes_down_as_one) {
    scene s = scene_of("clos:gpus=512,gpus-per-server=8,radix=16", 0, "cooling:pod");
    dead_count c = count_dead(&s);
    cr_expect_eq(c.n, s.f->n_pods);
    cr_expect_gt(c.n, 1);
    for (uint32_t v = 0; v < s.f->n_nodes; v++) {
        const fab_node_kind kind = fab_kind_of(s.f, v);
        const bool is_above = kind == FAB_NODE_SWITCH && s.f->switch_pod[v - s.f->first[FAB_NODE_SWITCH]] == FAB_NONE;
        cr_assert(kind == FAB_NODE_DOMAIN || c.node[v] == !is_above, "node %u is taken %u times", v, c.node[v]);
    }
    free_count(&c);
    scene_free(&s);
}

/* A cable has two ends: two line cards take it. */
Test(events, line_cards_have_every_port_once) {
    scene s = scene_of("rail-spine:gpus=64,gpus-per-server=4,radix=16", 0, "line-card:3");
    dead_count c = count_dead(&s);
    for (uint32_t k = 0; k < s.f->n_cables; k++) {
        const fab_link_kind kind = fab_class_of(s.f, 2 * k)->kind;
        const uint32_t ends = kind == FAB_LINK_FABRIC ? 2 : kind == FAB_LINK_ACCESS ? 1 : 0;
        cr_assert_eq(c.cable[k], ends, "cable %u is taken %u times", k, c.cable[k]);
    }
    free_count(&c);
    scene_free(&s);
}

Test(events, bundles_have_every_cable_between_two_places) {
    for (uint32_t by_rack = 0; by_rack < 2; by_rack++) {
        scene s = scene_of("clos:gpus=128,gpus-per-server=4,radix=16", 4, by_rack ? "bundle:racks" : "bundle:switches");
        dead_count c = count_dead(&s);
        for (uint32_t k = 0; k < s.f->n_cables; k++) {
            const fab_node_id a = fab_tail(s.f, 2 * k);
            const fab_node_id b = fab_head(s.f, 2 * k);
            const fab_link_kind kind = fab_class_of(s.f, 2 * k)->kind;
            const bool is_network = kind == FAB_LINK_FABRIC || kind == FAB_LINK_ACCESS;
            const bool counts =
                by_rack ? is_network && fab_floor_rack_of(s.floor, s.f, a) != fab_floor_rack_of(s.floor, s.f, b)
                        : kind == FAB_LINK_FABRIC;
            cr_assert_eq(c.cable[k], counts, "cable %u is taken %u times", k, c.cable[k]);
        }
        free_count(&c);
        scene_free(&s);
    }
}

/* Of 6 spines 1, 2, 4 and 6 at a time, those of 2 and 4 in two ways: six ways, each of which takes every spine once. */
Test(events, updates_take_every_switch_of_the_tier_once) {
    scene s = scene_of("clos:gpus=96,gpus-per-server=4,radix=24,taper=2", 0, "update:spine");
    dead_count c = count_dead(&s);
    const uint32_t n = s.f->first_of_tier[3] - s.f->first_of_tier[2];
    uint32_t n_ways = 0;
    for (uint32_t k = 1; k < n; k *= 2) {
        n_ways += k == 1 ? 1 : 2;
    }
    n_ways += 1;
    for (uint32_t v = s.f->first[FAB_NODE_SWITCH]; v < s.f->n_nodes; v++) {
        const bool is_spine = v >= s.f->first_of_tier[2] && v < s.f->first_of_tier[3];
        cr_assert_eq(c.node[v], is_spine ? n_ways : 0, "switch %u is taken %u times of %u", v, c.node[v], n_ways);
    }
    free_count(&c);
    scene_free(&s);
}

Test(events, refuses) {
    static const struct {
        const char *text, *message;
    } CASES[] = {{"power:rack", "servers-per-rack=4"},
                 {"power:hall", "power:hall is no event; as power:rack"},
                 {"cooling", "as cooling:row"},
                 {"cooling:pod", "nothing that fails like that"},
                 {"line-card", "ports of a line card"},
                 {"line-card:0", "ports of a line card"},
                 {"bundle:racks", "servers-per-rack=4"},
                 {"bundle:rows", "bundle:racks or bundle:switches"},
                 {"update:core", "the fabric has no such tier; it has leaf to spine"},
                 {"update:spine,99", "switches that are updated at a time"}};
    fab_fabric *f = fixture_build("clos:gpus=32,gpus-per-server=2,radix=8", NULL, NULL);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        fab_scenarios *s = NULL;
        fab_error err = {0};
        cr_expect_eq(fab_scenarios_new(CASES[i].text, f, NULL, NULL, 1, &s, &err), FAB_EINPUT, "%s", CASES[i].text);
        cr_expect_not_null(strstr(err.text, CASES[i].message), "%s: %s", CASES[i].text, err.text);
    }
    fab_fabric_free(f);
}
