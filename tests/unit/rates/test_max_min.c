/* Max-min fair rates of small networks known by hand, and what is refused. */
#include "fab/max_min.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static fab_status solve(const fab_sharing *s, double *rate, uint32_t *bottleneck, fab_error *err) {
    fab_max_min *solver = NULL;
    fab_status status = fab_max_min_new(&solver, err);
    if (status == FAB_OK) {
        status = fab_max_min_solve(solver, s, rate, bottleneck, err);
    }
    fab_max_min_free(solver);
    return status;
}

/* Bertsekas and Gallager, Data Networks, example of section 6.5.2, in our numbers: link 1 holds three flows at 1/3 of
 * it, the fourth gets what is left of link 2. */
static const uint64_t FIRST[] = {0, 1, 3, 4, 5};
static const uint32_t LINK[] = {0, 0, 1, 1, 1};

Test(max_min, fills_link_by_link) {
    static const double capacity[] = {10, 3};
    fab_error err = {0};
    double rate[4];
    uint32_t bottleneck[4];
    fab_sharing s = {.n_flows = 4, .n_links = 2, .capacity = capacity, .first = FIRST, .link = LINK};
    cr_assert_eq(solve(&s, rate, bottleneck, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(rate[0], 9);
    cr_assert_eq(bottleneck[0], 0);
    for (int f = 1; f < 4; f++) {
        cr_assert_eq(rate[f], 1);
        cr_assert_eq(bottleneck[f], 1);
    }
}

Test(max_min, weights_limits_and_shares) {
    static const double capacity[] = {10, 12};
    static const double weight[] = {1, 2, 1, 4};
    static const double limit[] = {INFINITY, INFINITY, 0.5, INFINITY};
    static const double share[] = {1, 0.5, 1, 1, 1};
    fab_error err = {0};
    double rate[4];
    uint32_t bottleneck[4];
    fab_sharing s = {4, 2, capacity, FIRST, LINK, share, weight, limit};
    cr_assert_eq(solve(&s, rate, bottleneck, &err), FAB_OK, "%s", err.text);
    /* link 1: 2 t + 0.5 + 4 t = 12; link 0: x + t = 10 */
    double t = 11.5 / 6;
    cr_assert_float_eq(rate[1], 2 * t, 1e-12);
    cr_assert_eq(rate[2], 0.5);
    cr_assert_eq(bottleneck[2], FAB_NO_BOTTLENECK);
    cr_assert_float_eq(rate[3], 4 * t, 1e-12);
    cr_assert_float_eq(rate[0], 10 - t, 1e-12);
}

Test(max_min, what_nothing_holds_is_infinite) {
    static const double capacity[] = {INFINITY, INFINITY};
    static const uint64_t first[] = {0, 0, 1, 2};
    static const uint32_t link[] = {0, 1};
    static const double limit[] = {INFINITY, 7, INFINITY};
    fab_error err = {0};
    double rate[3];
    uint32_t bottleneck[3];
    fab_sharing s = {.n_flows = 3, .n_links = 2, .capacity = capacity, .first = first, .link = link, .limit = limit};
    cr_assert_eq(solve(&s, rate, bottleneck, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(rate[0], INFINITY);
    cr_assert_eq(rate[1], 7);
    cr_assert_eq(rate[2], INFINITY);
    for (int f = 0; f < 3; f++) {
        cr_assert_eq(bottleneck[f], FAB_NO_BOTTLENECK);
    }
}

Test(max_min, the_lowest_of_several_bottlenecks_is_named) {
    static const double capacity[] = {5, 1, 1};
    static const uint64_t first[] = {0, 3};
    static const uint32_t link[] = {2, 0, 1};
    fab_error err = {0};
    double rate = 0;
    uint32_t bottleneck = 0;
    fab_sharing s = {.n_flows = 1, .n_links = 3, .capacity = capacity, .first = first, .link = link};
    cr_assert_eq(solve(&s, &rate, &bottleneck, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(rate, 1);
    cr_assert_eq(bottleneck, 1);
}

/* One flow takes nearly all, in weights twelve orders apart: what is left must not drown in rounding. */
Test(max_min, weights_far_apart) {
    static const double capacity[] = {1, 1000};
    static const uint64_t first[] = {0, 2, 3, 4};
    static const uint32_t link[] = {0, 1, 1, 1};
    static const double weight[] = {1e12, 0.1, 0.3};
    fab_error err = {0};
    double rate[3];
    uint32_t bottleneck[3];
    fab_sharing s = {3, 2, capacity, first, link, NULL, weight, NULL};
    cr_assert_eq(solve(&s, rate, bottleneck, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(rate[0], 1);
    cr_assert_float_eq(rate[1], 999 * 0.25, 1e-10);
    cr_assert_float_eq(rate[2], 999 * 0.75, 1e-10);
}

/* So many equal rates add up to less than the link has by more than what counts as full at first. */
Test(max_min, many_flows_of_one_link) {
    enum { N = 3000000 };
    static const double capacity[] = {1 / 3.0 + 6};
    fab_error err = {0};
    double *rate = calloc(N, sizeof *rate);
    uint32_t *bottleneck = calloc(N, sizeof *bottleneck);
    uint32_t *link = calloc(N, sizeof *link);
    uint64_t *first = calloc(N + 1, sizeof *first);
    cr_assert(rate != NULL && bottleneck != NULL && link != NULL && first != NULL);
    for (uint32_t f = 0; f < N; f++) {
        first[f + 1] = f + 1;
        bottleneck[f] = 7;
    }
    fab_sharing s = {.n_flows = N, .n_links = 1, .capacity = capacity, .first = first, .link = link};
    cr_assert_eq(solve(&s, rate, bottleneck, &err), FAB_OK, "%s", err.text);
    for (uint32_t f = 0; f < N; f++) {
        cr_assert(fabs(rate[f] - capacity[0] / N) <= 1e-9 * rate[f] && bottleneck[f] == 0);
    }
    free(rate);
    free(bottleneck);
    free(link);
    free(first);
}

static void refuse(fab_sharing s, const char *text) {
    fab_error err = {0};
    double rate[4];
    cr_assert_eq(solve(&s, rate, NULL, &err), FAB_EINPUT, "%s", text);
    cr_assert_str_eq(err.text, text);
}

Test(max_min, refuses) {
    static const double capacity[] = {10, 3};
    static const uint32_t twice[] = {0, 1, 1, 1, 1};
    fab_sharing good = {.n_flows = 4, .n_links = 2, .capacity = capacity, .first = FIRST, .link = LINK};
    fab_sharing s = good;
    s.link = twice;
    refuse(s, "flow 1 names link 1 twice; once is enough");
}
