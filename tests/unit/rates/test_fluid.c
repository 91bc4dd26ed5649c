/* Transfers whose times are known by hand, and what is refused. Random ones: tests/oracle/test_oracle_max_min.c. */
#include "fab/fluid.h"

#include <criterion/criterion.h>
#include <math.h>

/* Two flows share link 0 of 10 bit/s; flow 1 also crosses link 1 of 4; flow 2 has no link, flow 3 only a limit. */
static const double CAPACITY[] = {10, 4};
static const uint64_t FIRST[] = {0, 1, 3, 3, 3};
static const uint32_t LINK[] = {0, 0, 1};
static const double LIMIT[] = {INFINITY, INFINITY, INFINITY, 2};
static const fab_sharing SHARING = {
    .n_flows = 4, .n_links = 2, .capacity = CAPACITY, .first = FIRST, .link = LINK, .limit = LIMIT};

static void check(const double *bits, const double *expected) {
    double finish[4] = {-1, -1, -1, -1};
    fab_error err = {0};
    cr_assert_eq(fab_fluid_finish(&SHARING, bits, NULL, finish, &err), FAB_OK, "%s", err.text);
    for (int f = 0; f < 4; f++) {
        cr_assert_eq(finish[f], expected[f], "flow %d: %.17g, not %.17g", f, finish[f], expected[f]);
    }
}

/* Flow 1 has 4 bit/s, flow 0 the other 6 until flow 1 is done, then 10. */
Test(fluid, what_ends_leaves_its_part) {
    check((const double[]){32, 8, 0, 10}, (const double[]){4, 2, 0, 5});
    check((const double[]){6, 8, 0, 2}, (const double[]){1, 2, 0, 1});
}

/* Three flows on link 0 of 6 bit/s, the last also on link 1 of 3 with a fourth that has nothing to send: link 0 is full
 * until 18 bits are gone, and its two longest flows end then. Of these the one with more after it is the last. */
Test(fluid, the_last_end_without_rates) {
    static const double capacity[] = {6, 3};
    static const uint64_t first[] = {0, 1, 2, 4, 5};
    static const uint32_t link[] = {0, 0, 0, 1, 1};
    static const double after[] = {9, 1, 2, 1};
    const fab_sharing s = {.n_flows = 4, .n_links = 2, .capacity = capacity, .first = first, .link = link};
    const double bits[] = {2, 8, 8, 0};
    fab_last_end last = {.is_known = false};
    fab_error err = {0};
    fab_max_min *solver = NULL;
    double rate[4];
    cr_assert_eq(fab_max_min_new(&solver, &err), FAB_OK);
    cr_assert_eq(fab_max_min_solve(solver, &s, rate, NULL, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_fluid_last(solver, &s, bits, NULL, &last, &err), FAB_OK, "%s", err.text);
    cr_assert(last.is_known);
    cr_assert_float_eq(last.last_s, 3, 1e-12);
    cr_assert_eq(last.flow, 1);
    cr_assert_eq(fab_fluid_last(solver, &s, bits, after, &last, &err), FAB_OK, "%s", err.text);
    cr_assert(last.is_known);
    cr_assert_float_eq(last.last_s, 3, 1e-12);
    cr_assert_eq(last.flow, 0); /* it ends at 1, and 9 come after */
    cr_assert_float_eq(last.flow_s, 1, 1e-12);
    fab_max_min_free(solver);
}

/* 56 flows of 1e9 bits on link 0 of 1 bit/s, one of a bit less, and one alone on link 1, which is done a little before,
 * and has more after it: the bit is between two tolerances of the bounds, and link 0 is done last all the same. */
Test(fluid, the_last_end_of_sizes_that_are_a_bit_apart) {
    static const double capacity[] = {1, 1};
    uint64_t first[58];
    uint32_t link[57];
    double bits[57];
    double after[57] = {0};
    double rate[57];
    fab_last_end last = {.is_known = false};
    fab_error err = {0};
    fab_max_min *solver = NULL;
    for (uint32_t f = 0; f < 57; f++) {
        first[f] = f;
        link[f] = f == 56;
        bits[f] = f == 0 ? 1e9 - 1 : f < 56 ? 1e9 : 56e9 * (1 - 4.5e-7);
    }
    first[57] = 57;
    after[56] = 56e3;
    const fab_sharing s = {.n_flows = 57, .n_links = 2, .capacity = capacity, .first = first, .link = link};
    cr_assert_eq(fab_max_min_new(&solver, &err), FAB_OK);
    cr_assert_eq(fab_max_min_solve(solver, &s, rate, NULL, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_fluid_last(solver, &s, bits, after, &last, &err), FAB_OK, "%s", err.text);
    cr_assert(last.is_known);
    cr_assert_float_eq(last.last_s, 56e9 - 1, 0.1, "%.17g", last.last_s);
    cr_assert_eq(last.flow, 56);
    cr_assert_eq(last.flow_s, bits[56]);
    fab_max_min_free(solver);
}

Test(fluid, nothing_to_send_and_nothing_in_the_way_take_no_time) {
    check((const double[]){0, 0, 1e30, 0}, (const double[]){0, 0, 0, 0});
    check((const double[]){10, 0, 1e30, 1}, (const double[]){1, 0, 0, 0.5});
}

Test(fluid, refuses) {
    static const uint32_t twice[] = {0, 1, 1};
    double finish[4];
    fab_error err = {0};
    fab_sharing s = SHARING;
    s.link = twice;
    cr_assert_eq(fab_fluid_finish(&s, (const double[]){1, 2, 3, 4}, NULL, finish, &err), FAB_EINPUT);
    cr_assert_str_eq(err.text, "flow 1 names link 1 twice; once is enough");
}
