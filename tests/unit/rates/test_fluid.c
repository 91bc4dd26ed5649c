/* Transfers and schedules whose times are known by hand, and what is refused. */
#include "fab/fluid.h"
#include "fab/rng.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two flows share link 0 of 10 bit/s; flow 1 also crosses link 1 of 4; flow 2 has no link, flow 3 only a limit. */
static const double CAPACITY[] = {10, 4};
static const uint64_t FIRST[] = {0, 1, 3, 3, 3};
static const uint32_t LINK[] = {0, 0, 1};
static const double LIMIT[] = {INFINITY, INFINITY, INFINITY, 2};
static const fab_sharing SHARING = {
    .n_flows = 4, .n_links = 2, .capacity = CAPACITY, .first = FIRST, .link = LINK, .limit = LIMIT};

typedef struct log_entry {
    uint32_t flow;
    double at;
} log_entry;

typedef struct run_log {
    log_entry entries[64];
    int n;
    int repeats; /* transfers of flow 1 that follow on its first */
} run_log;

static fab_status note(void *context, fab_fluid *fluid, uint32_t flow, double now_s, fab_error *err) {
    run_log *log = context;
    log->entries[log->n++] = (log_entry){flow, now_s};
    return flow == 1 && log->repeats-- > 0 ? fab_fluid_start(fluid, 1, 8, err) : FAB_OK;
}

static fab_fluid *fluid_of(const fab_sharing *sharing) {
    fab_error err = {0};
    fab_fluid *fluid = NULL;
    cr_assert_eq(fab_fluid_new(sharing, &fluid, &err), FAB_OK, "%s", err.text);
    return fluid;
}

static void start(fab_fluid *fluid, uint32_t flow, double bits) {
    fab_error err = {0};
    cr_assert_eq(fab_fluid_start(fluid, flow, bits, &err), FAB_OK, "%s", err.text);
}

static double run(fab_fluid *fluid, double until_s, run_log *log) {
    fab_error err = {0};
    double now_s = -1;
    cr_assert_eq(fab_fluid_run(fluid, until_s, note, log, &now_s, &err), FAB_OK, "%s", err.text);
    return now_s;
}

/* Flow 1 has 4 bit/s, flow 0 the other 6 until flow 1 is done, then 10. */
Test(fluid, what_ends_leaves_its_part) {
    fab_fluid *fluid = fluid_of(&SHARING);
    run_log log = {0};
    start(fluid, 0, 32);
    start(fluid, 1, 8);
    start(fluid, 3, 10);
    cr_assert_eq(run(fluid, INFINITY, &log), 5);
    cr_assert_eq(log.n, 3);
    cr_assert_eq(log.entries[0].flow, 1);
    cr_assert_eq(log.entries[0].at, 2);
    cr_assert_eq(log.entries[1].flow, 0);
    cr_assert_eq(log.entries[1].at, 4);
    cr_assert_eq(log.entries[2].at, 5);
    cr_assert_eq(fab_fluid_count(fluid).completions, 3);
    fab_fluid_free(fluid);
}

/* A route that carries on changes nobody's rate, so that nothing is solved. */
Test(fluid, a_route_that_carries_on_keeps_its_rate) {
    fab_fluid *fluid = fluid_of(&SHARING);
    run_log log = {.repeats = 3};
    start(fluid, 0, 48);
    start(fluid, 1, 8);
    cr_assert_eq(run(fluid, INFINITY, &log), 8);
    cr_assert_eq(log.n, 5);
    cr_assert_eq(log.entries[3].flow, 0, "ends of one instant come in the order of the routes");
    cr_assert_eq(log.entries[4].flow, 1);
    cr_assert_eq(fab_fluid_count(fluid).whole_solves + fab_fluid_count(fluid).partial_solves, 1);
    fab_fluid_free(fluid);
}

Test(fluid, nothing_to_send_and_nothing_in_the_way_take_no_time) {
    fab_fluid *fluid = fluid_of(&SHARING);
    run_log log = {0};
    start(fluid, 0, 0);
    start(fluid, 2, 1e30);
    cr_assert_eq(run(fluid, INFINITY, &log), 0);
    cr_assert_eq(log.n, 2);
    start(fluid, 0, 0); /* idle again */
    cr_assert_eq(run(fluid, 3, &log), 3, "the clock goes on to where it was sent");
    cr_assert_eq(log.entries[2].at, 0);
    fab_fluid_free(fluid);
}

Test(fluid, in_pieces_as_in_one) {
    fab_fluid *fluid = fluid_of(&SHARING);
    run_log log = {0};
    start(fluid, 0, 32);
    cr_assert_eq(run(fluid, 1, &log), 1);
    start(fluid, 1, 8); /* 22 bits are left to flow 0: 12 of them by 3 s */
    cr_assert_eq(run(fluid, 2.5, &log), 2.5);
    cr_assert_eq(log.n, 0);
    cr_assert_eq(run(fluid, INFINITY, &log), 4);
    cr_assert_eq(log.entries[0].at, 3);
    fab_fluid_free(fluid);
}

Test(fluid, refuses) {
    fab_fluid *fluid = fluid_of(&SHARING);
    fab_error err = {0};
    double now_s = -1;
    cr_assert_eq(fab_fluid_start(fluid, 4, 1, &err), FAB_EINPUT);
    cr_assert_str_eq(err.text, "there is no flow 4; there are 4");
    err = (fab_error){0};
    cr_assert_eq(fab_fluid_start(fluid, 0, -1, &err), FAB_EINPUT);
    cr_assert_str_eq(err.text, "flow 0 has -1 bits; they must be finite and not below 0");
    start(fluid, 0, 1);
    err = (fab_error){0};
    cr_assert_eq(fab_fluid_start(fluid, 0, 1, &err), FAB_EINPUT);
    cr_assert_str_eq(err.text, "flow 0 is under way; it carries one transfer at a time");
    err = (fab_error){0};
    cr_assert_eq(fab_fluid_run(fluid, 1, NULL, NULL, &now_s, &err), FAB_OK);
    cr_assert_eq(fab_fluid_run(fluid, 0.5, NULL, NULL, &now_s, &err), FAB_EINPUT);
    cr_assert_str_eq(err.text, "the simulation stands at 1 s; it cannot run to 0.5 s");
    fab_fluid_free(fluid);
    static const uint32_t twice[] = {0, 1, 1};
    fab_sharing s = SHARING;
    s.link = twice;
    err = (fab_error){0};
    cr_assert_eq(fab_fluid_new(&s, &fluid, &err), FAB_EINPUT);
    cr_assert_str_eq(err.text, "flow 1 names link 1 twice; once is enough");
}

static fab_status stop_here(void *context, fab_fluid *fluid, uint32_t flow, double now_s, fab_error *err) {
    (void)context, (void)fluid, (void)now_s;
    return fab_fail(err, FAB_EUNSUPPORTED, NULL, "enough after flow %u", flow);
}

Test(fluid, an_error_of_the_caller_comes_back) {
    fab_fluid *fluid = fluid_of(&SHARING);
    fab_error err = {0};
    double now_s = -1;
    start(fluid, 0, 1);
    cr_assert_eq(fab_fluid_run(fluid, INFINITY, stop_here, NULL, &now_s, &err), FAB_EUNSUPPORTED);
    cr_assert_str_eq(err.text, "enough after flow 0");
    cr_assert_eq(now_s, -1);
    fab_fluid_free(fluid);
}
