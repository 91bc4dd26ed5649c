/* Engine spray: its options, and what it refuses. */
#include "fabric_fixture.h"
#include "fab/routing.h"
#include "split/split_rule.h"
#include "fab/topologies.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static fab_fabric *fabric;
static fab_next_hops *next_hops;

static void build(const char *text) {
    fab_design design;
    fabric = fixture_build(text, &design, NULL);
    next_hops = fixture_next_hops(fabric);
}

static void discard(void) {
    fab_next_hops_free(next_hops);
    fab_fabric_free(fabric);
}

static fab_status make(const char *text, fab_router *out, fab_error *err) {
    const fab_engine_spec spec = fixture_spec(text);
    *err = (fab_error){0};
    return fab_router_init(&spec, fabric, next_hops, out, err);
}

Test(spray, options) {
    build("torus:gpus=60,gpus-per-server=4,torus=3,5,down=4,radix=9"); /* needs no tiers */
    fab_router router;
    fab_split split = {.rule = FAB_SPLIT_SHARE};
    fab_error err;
    cr_assert_eq(make("spray", &router, &err), FAB_OK, "%s", err.text);
    cr_expect(router.facts.reorders && router.facts.splits);
    cr_expect_eq(router.facts.window_bytes, 1048576);
    cr_expect_float_eq(router.facts.queueing_s, 5e-6, 1e-15);
    cr_expect_str_eq(router.facts.label, "spray,weights=equal");
    cr_assert_eq(router.engine->split(&router, NULL, NULL, NULL, &split, &err), FAB_OK);
    cr_expect_eq(split.rule, FAB_SPLIT_EQUAL);
    fab_router_release(&router);
    cr_assert_eq(make("spray,weights=capacity,window=64KiB,queueing=0us", &router, &err), FAB_OK, "%s", err.text);
    cr_expect_eq(router.facts.window_bytes, 65536);
    cr_expect_eq(router.facts.queueing_s, 0);
    cr_expect_str_eq(router.facts.label, "spray,weights=capacity,window=64KiB,queueing=0us");
    cr_assert_eq(router.engine->split(&router, NULL, NULL, NULL, &split, &err), FAB_OK);
    cr_expect_eq(split.rule, FAB_SPLIT_CAPACITY);
    fab_router_release(&router);
    discard();
}

Test(spray, refusals) {
    static const struct {
        const char *text, *part;
    } ROWS[] = {
        {"spray,weights=link", "'link' is not one of equal, capacity"},
        {"spray,window=0B", "a receiver without a window gets nothing"},
        {"spray,window=5", "option window"},
        {"spray,queueing=-1us", "option queueing"},
        {"spray,qp=4", "engine spray has no option 'qp'; it has: weights, window, queueing"},
    };
    build("fat-tree:k=4,gpus-per-server=1");
    fab_router router;
    fab_error err;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        cr_expect_eq(make(ROWS[i].text, &router, &err), FAB_EINPUT, "%s", ROWS[i].text);
        cr_expect_not_null(strstr(err.text, ROWS[i].part), "%s: %s", ROWS[i].text, err.text);
    }
    discard();
}

/* Who asks for the routes of a flow would be told one of many. */
Test(spray, has_no_routes) {
    build("fat-tree:k=4,gpus-per-server=1");
    fab_router router;
    fab_routes routes = {0};
    fab_error err;
    uint32_t src = 0;
    uint32_t dst = 9;
    uint32_t comm = 0;
    uint64_t bytes = 1;
    const fab_phase phase = {.n_flows = 1, .src = &src, .dst = &dst, .comm = &comm, .bytes = &bytes};
    cr_assert_eq(make("spray", &router, &err), FAB_OK);
    cr_expect_eq(fab_route_phase(&router, &phase, 1, &routes, &err), FAB_EUNSUPPORTED);
    cr_expect_str_eq(err.text, "engine spray splits flows at every switch: a flow has no routes of its own");
    fab_routes_release(&routes);
    fab_router_release(&router);
    discard();
}
