/* One figure of a result by its place. */
#include "fabric_fixture.h"
#include "fab/reports.h"

#include <criterion/criterion.h>

static void expect(const fab_result *result, const char *path, double value, const char *unit) {
    fab_error err = {.code = FAB_OK};
    double found = -1;
    const char *found_unit = "?";
    cr_assert_eq(fab_result_figure(result, path, &found, &found_unit, &err), FAB_OK, "%s: %s", path, err.text);
    cr_expect_eq(found, value, "%s: %g, not %g", path, found, value);
    if (unit == NULL) {
        cr_expect_null(found_unit, "%s", path);
    } else {
        cr_expect_str_eq(found_unit, unit, "%s", path);
    }
}

static void expect_none(const fab_result *result, const char *path) {
    fab_error err = {.code = FAB_OK};
    double found = 7;
    const char *unit = NULL;
    cr_expect_eq(fab_result_figure(result, path, &found, &unit, &err), FAB_EINPUT, "%s", path);
    cr_expect_eq(found, 7, "written on success only");
    cr_expect_not_null(strstr(err.text, path), "%s", err.text);
}

Test(figure, by_its_place) {
    fab_result r = fixture_replay("clos:gpus=64,gpus-per-server=4,radix=16,tiers=2", "pattern:bisection", "ecmp", 1, 5);
    const fab_engine_result *e = &r.phases[0].engines[0];
    expect(&r, "phases.flows", (double)r.phases[0].flows, NULL);
    expect(&r, "phases.1.engines.1.max_collision_factor", e->max_collision_factor.mean, NULL); /* of five seeds */
    expect(&r, "phases.engines.busiest_link_s", e->busiest_link_s.mean, "s");
    expect(&r, "phases.engines.busiest_link_s.max", e->busiest_link_s.max, "s");
    expect(&r, "meta.seeds", 5, NULL);
    expect(&r, "meta.histogram_edges.2", 0.5, NULL);
    expect(&r, "meta.histogram_edges", 0.25, NULL);
    static const char *const NONE[] = {"",
                                       "phases",
                                       "phases.2.flows",
                                       "phases.0.flows",
                                       "phases.flow",
                                       "flows",
                                       "phases.flows.",
                                       "meta.version",
                                       "phases.1",
                                       "phases.01x.flows",
                                       "meta.histogram_edges.9",
                                       "phases.engines.busiest_link_s.most"};
    for (size_t i = 0; i < sizeof NONE / sizeof NONE[0]; i++) {
        expect_none(&r, NONE[i]);
    }
    fab_result_release(&r);
}
