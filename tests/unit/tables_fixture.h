/**
 * @file tables_fixture.h
 * Forwarding tables of an engine, written to a file of its own and read back.
 */
#pragma once

#include "fabric_fixture.h"
#include "fab/rng.h"
#include "fab/routing.h"
#include "split/split_rule.h"
#include "fab/tables.h"
#include "fab/topologies.h"
#include "fab/traffic.h"
#include "random_design.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct setup {
    fab_design design;
    fab_fabric *fabric;
    fab_next_hops *next_hops;
    char path[64];
} setup;

static inline setup make(const char *text) {
    setup s = {.path = "/tmp/fabriscope-tables-XXXXXX"};
    s.fabric = fixture_build(text, &s.design, NULL);
    s.next_hops = fixture_next_hops(s.fabric);
    int fd = mkstemp(s.path);
    cr_assert_geq(fd, 0);
    close(fd);
    return s;
}

static inline void discard(setup *s) {
    unlink(s->path);
    fab_next_hops_free(s->next_hops);
    fab_fabric_free(s->fabric);
}

static inline fab_status start(const setup *s, const char *engine, fab_router *router, fab_error *err) {
    const fab_engine_spec spec = fixture_spec(engine);
    return fab_router_init(&spec, s->fabric, s->next_hops, router, err);
}

/* The tables of an engine as text, malloc'd. `split`: shares to write; NULL: none. */
static inline char *dump_split(const fab_router *router, const fab_split *split) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fab_error err = {0};
    cr_assert_eq(fab_tables_write(router, split, out, &err), FAB_OK, "%s", err.text);
    fclose(out);
    char *copy = strdup(text); /* gcc takes the address that the stream has kept for one that may be used */
    free(text);
    return copy;
}

static inline char *dump_router(const fab_router *router) {
    return dump_split(router, NULL);
}

static inline char *dump(const setup *s, const char *engine) {
    fab_router router;
    fab_error err = {0};
    cr_assert_eq(start(s, engine, &router, &err), FAB_OK, "%s", err.text);
    char *text = dump_router(&router);
    fab_router_release(&router);
    return text;
}

static inline void put_file(const setup *s, const char *text, size_t n) {
    FILE *file = fopen(s->path, "wb");
    cr_assert_eq(fwrite(text, 1, n, file), n);
    fclose(file);
}

/* Engine `file` on a text. */
static inline fab_status read_back(const setup *s, const char *text, size_t n, fab_router *router, fab_error *err) {
    char engine[96];
    put_file(s, text, n);
    (void)snprintf(engine, sizeof engine, "file,path=%s", s->path);
    return start(s, engine, router, err);
}

/* An engine with the groups of a text. */
static inline fab_status read_groups(const setup *s, const char *engine, const char *text, fab_router *router,
                                     fab_error *err) {
    char longer[192];
    put_file(s, text, strlen(text));
    (void)snprintf(longer, sizeof longer, "%s,tables=%s", engine, s->path);
    return start(s, longer, router, err);
}

/* Two routers send the flows of a random permutation over the same links. */
static inline void check_same_routes_of(const setup *s, const fab_router *one, const fab_router *two) {
    fab_traffic traffic = {0};
    fab_routes a = {0};
    fab_routes b = {0};
    fab_error err = {0};
    cr_assert_eq(fab_traffic_make("pattern:permutation", &s->design, s->fabric, 3, &traffic, &err), FAB_OK);
    for (size_t i = 0; i < traffic.n_phases; i++) {
        fab_status status = fab_route_phase(one, &traffic.phases[i], 1, &a, &err);
        cr_assert_eq(fab_route_phase(two, &traffic.phases[i], 1, &b, &err), status, "%s", err.text);
        if (status != FAB_OK) { /* no link between rails */
            cr_assert_eq(status, FAB_EUNREACHABLE, "%s", err.text);
            continue;
        }
        size_t n_paths = a.flow_first[a.n_flows];
        cr_assert_eq(n_paths, b.flow_first[b.n_flows]);
        cr_assert_eq(a.path_first[n_paths], b.path_first[n_paths]);
        size_t n_links = a.path_first[n_paths];
        cr_assert(n_links == 0 || memcmp(a.link, b.link, n_links * sizeof *a.link) == 0, "%s: %s, %s", s->design.origin,
                  one->facts.label, two->facts.label);
    }
    fab_routes_release(&a);
    fab_routes_release(&b);
    fab_traffic_release(&traffic);
}

/* The engine, and engine `file` on its tables. */
static inline void check_same_routes(const setup *s, const char *engine, const char *text) {
    fab_router one;
    fab_router two;
    fab_error err = {0};
    cr_assert_eq(start(s, engine, &one, &err), FAB_OK);
    cr_assert_eq(read_back(s, text, strlen(text), &two, &err), FAB_OK, "%s: %s", err.where, err.text);
    check_same_routes_of(s, &one, &two);
    fab_router_release(&one);
    fab_router_release(&two);
}

/* `text` with the first `old` replaced; malloc'd. */
static inline char *edit(const char *text, const char *old, const char *new) {
    const char *at = strstr(text, old);
    cr_assert_not_null(at, "'%s' is not in the tables", old);
    size_t size = strlen(text) + strlen(new) + 1;
    char *out = malloc(size);
    (void)snprintf(out, size, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    return out;
}

/* An edit that makes tables wrong, and what is said of it. */
typedef struct wrong {
    const char *engine, *old, *new, *place, *message;
    fab_status status;
} wrong;

/* `place` is behind the file's name. */
static inline void check_wrong(const setup *s, const char *text, const wrong *w) {
    char place[128];
    fab_router router;
    fab_error err = {0};
    char *broken = edit(text, w->old, w->new);
    fab_status status = strcmp(w->engine, "file") == 0 ? read_back(s, broken, strlen(broken), &router, &err)
                                                       : read_groups(s, w->engine, broken, &router, &err);
    cr_expect_eq(status, w->status, "%s", w->new);
    (void)snprintf(place, sizeof place, "%s%s", s->path, w->place);
    cr_expect_str_eq(err.where, place, "%s: %s", w->new, err.text);
    cr_expect_not_null(strstr(err.text, w->message), "%s: %s", w->new, err.text);
    free(broken);
}

/* leaf-0 of fat-tree:k=4,gpus-per-server=1 has no route to leaf-1: an error only for a flow that needs it. */
static inline void check_unreachable(const setup *s, const fab_router *router) {
    fab_routes routes = {0};
    fab_error err = {0};
    fab_traffic traffic = fixture_traffic("pattern:shift,by=2", &s->design, s->fabric, 1);
    cr_expect_eq(fab_route_phase(router, &traffic.phases[0], 1, &routes, &err), FAB_EUNREACHABLE);
    cr_expect_not_null(strstr(err.text, "no route from nic-0 on leaf-0 to nic-2 on leaf-1"), "%s", err.text);
    fab_routes_release(&routes);
    fab_traffic_release(&traffic);
}

/* Fabric cables get up to three rates, so that capacities differ within groups. */
static inline void make_uneven(fab_fabric *f, fab_rng *rng) {
    uint16_t n = f->n_classes;
    f->classes = realloc(f->classes, 3U * n * sizeof *f->classes);
    for (uint16_t i = 0; i < 2 * n; i++) {
        f->classes[n + i] = f->classes[i % n];
        f->classes[n + i].capacity_bps *= i < n ? 2 : 3;
    }
    f->n_classes = (uint16_t)(3 * n);
    for (uint32_t c = 0; c < f->n_cables; c++) {
        if (f->classes[f->cable_class[c]].kind == FAB_LINK_FABRIC) {
            f->cable_class[c] = (uint16_t)(f->cable_class[c] + n * fab_rng_below(rng, 3));
        }
    }
}

/* The next random design with more than one switch. */
static inline setup next_setup(fab_rng *rng, bool uneven) {
    for (;;) {
        random_design d = random_design_next(rng, 30);
        setup s = {.path = "/tmp/fabriscope-tables-XXXXXX"};
        fab_error err = {0};
        if (fab_design_read(d.text, NULL, 0, &s.design, &err) != FAB_OK ||
            fab_topology_build(&s.design.fabric, &s.fabric, NULL, &err) != FAB_OK) {
            continue;
        }
        if (fab_n_switches(s.fabric) < 2) {
            fab_fabric_free(s.fabric);
            continue;
        }
        if (uneven) {
            make_uneven(s.fabric, rng);
        }
        s.next_hops = fixture_next_hops(s.fabric);
        int fd = mkstemp(s.path);
        cr_assert_geq(fd, 0);
        close(fd);
        return s;
    }
}

/* Shares of the next hops, shape [n_leaves][n_links]. */
static inline double *shares_of(const fab_router *router) {
    const fab_next_hops *t = router->next_hops;
    size_t n_links = router->fabric->n_links;
    fab_split split = {0};
    fab_error err = {0};
    cr_assert(router->facts.splits);
    cr_assert_eq(router->engine->split(router, NULL, NULL, NULL, &split, &err), FAB_OK, "%s", err.text);
    if (split.rule == FAB_SPLIT_SHARE) {
        return split.share;
    }
    cr_assert_eq(split.rule, FAB_SPLIT_EQUAL);
    double *share = calloc(t->n_leaves * n_links, sizeof *share);
    for (uint32_t v = 0; v < fab_n_switches(router->fabric); v++) {
        for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
            fab_next_hop_list next = fab_next_hops_get(t, v, leaf);
            for (uint32_t i = 0; i < next.count; i++) {
                share[leaf * n_links + fab_next_hop(&next, i)] = 1.0 / next.count;
            }
        }
    }
    return share;
}
