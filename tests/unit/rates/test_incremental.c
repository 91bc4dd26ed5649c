/* Rates after changes of a small network known by hand, and what is refused. */
#include "fab/incremental.h"

#include <criterion/criterion.h>
#include <math.h>

/* Flows 0 and 1 share link 0 (10 bit/s), flows 2 and 3 link 1 (6); link 2 (30) is free. */
static const uint64_t FIRST[] = {0, 1, 2, 3, 4};
static const uint32_t LINK[] = {0, 0, 1, 1};
static const double CAPACITY[] = {10, 6, 30};
static const fab_sharing SHARING = {.n_flows = 4, .n_links = 3, .capacity = CAPACITY, .first = FIRST, .link = LINK};

typedef struct scene {
    fab_rates_base *base;
    fab_incremental *incremental;
} scene;

static scene scene_make(const fab_sharing *sharing) {
    scene s = {0};
    fab_error err = {0};
    cr_assert_eq(fab_rates_base_new(sharing, &s.base, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_incremental_new(s.base, &s.incremental, &err), FAB_OK, "%s", err.text);
    return s;
}

static void scene_release(scene *s) {
    fab_incremental_free(s->incremental);
    fab_rates_base_free(s->base);
}

static double rate_of(const scene *s, const fab_incremental_rates *x, uint32_t flow) {
    for (uint32_t i = 0; i < x->n_changed; i++) {
        if (x->flow[i] == flow) {
            return x->rate[i];
        }
    }
    return fab_rates_base_rate(s->base)[flow];
}

static fab_incremental_rates apply(const scene *s, const fab_rate_changes *changes) {
    fab_incremental_rates x;
    fab_error err = {0};
    cr_assert_eq(fab_incremental_apply(s->incremental, changes, &x, &err), FAB_OK, "%s", err.text);
    return x;
}

Test(incremental, a_flow_takes_another_link) {
    static const uint32_t flow[] = {1};
    static const size_t first[] = {0, 1};
    static const uint32_t link[] = {1};
    scene s = scene_make(&SHARING);
    cr_assert_eq(fab_rates_base_rate(s.base)[0], 5);
    cr_assert_eq(fab_rates_base_bottleneck(s.base)[3], 1);
    fab_incremental_rates x =
        apply(&s, &(const fab_rate_changes){.n_flows = 1, .flow = flow, .first = first, .link = link});
    cr_assert(!x.in_full);
    cr_assert_eq(x.n_changed, 4);
    cr_assert_eq(rate_of(&s, &x, 0), 10);
    cr_assert_eq(rate_of(&s, &x, 1), 2);
    cr_assert_eq(rate_of(&s, &x, 3), 2);
    cr_assert_eq(x.slowest_bps, 2);
    cr_assert_eq(x.slowest_flow, 1);
    cr_assert_eq(x.sum_bps, 16);
    scene_release(&s);
}

Test(incremental, a_dead_link_and_a_lost_flow) {
    static const uint32_t flow[] = {0};
    static const size_t first[] = {0, 0};
    static const uint32_t link[] = {1};
    static const double capacity[] = {0};
    scene s = scene_make(&SHARING);
    const fab_rate_changes lost = {.n_flows = 1, .flow = flow, .first = first, .link = link};
    fab_incremental_rates x = apply(&s, &lost);
    cr_assert_eq(x.n_lost, 1);
    cr_assert_eq(rate_of(&s, &x, 0), 0);
    cr_assert_eq(rate_of(&s, &x, 1), 10);
    x = apply(&s, &(const fab_rate_changes){.n_capacities = 1, .wider_or_narrower = link, .capacity = capacity});
    cr_assert_eq(x.n_lost, 2);
    cr_assert_eq(x.n_changed, 2);
    cr_assert_eq(rate_of(&s, &x, 2), 0);
    cr_assert_eq(rate_of(&s, &x, 0), 5);
    cr_assert_eq(x.slowest_bps, 5);
    cr_assert_eq(x.sum_bps, 10);
    scene_release(&s);
}

Test(incremental, capacities_and_weights) {
    static const uint32_t link[] = {0, 1};
    static const double capacity[] = {4, 60};
    static const double weight[] = {1, 3, 1, 1};
    static const double limit[] = {INFINITY, INFINITY, INFINITY, 5};
    fab_sharing sharing = SHARING;
    sharing.weight = weight;
    sharing.limit = limit;
    scene s = scene_make(&sharing);
    fab_incremental_rates x =
        apply(&s, &(const fab_rate_changes){.n_capacities = 2, .wider_or_narrower = link, .capacity = capacity});
    cr_assert_eq(rate_of(&s, &x, 0), 1);
    cr_assert_eq(rate_of(&s, &x, 1), 3);
    cr_assert_eq(rate_of(&s, &x, 2), 55);
    cr_assert_eq(rate_of(&s, &x, 3), 5);
    scene_release(&s);
}

Test(incremental, nobody_is_left) {
    static const uint32_t link[] = {0, 1};
    static const double capacity[] = {0, 0};
    scene s = scene_make(&SHARING);
    fab_incremental_rates x =
        apply(&s, &(const fab_rate_changes){.n_capacities = 2, .wider_or_narrower = link, .capacity = capacity});
    cr_assert_eq(x.n_lost, 4);
    cr_assert_eq(x.slowest_bps, INFINITY);
    cr_assert_eq(x.slowest_flow, 4);
    cr_assert_eq(x.sum_bps, 0);
    scene_release(&s);
}

static void refuse(fab_rate_changes c, const char *text) {
    scene s = scene_make(&SHARING);
    fab_incremental_rates x;
    fab_error err = {0};
    cr_assert_eq(fab_incremental_apply(s.incremental, &c, &x, &err), FAB_EINPUT, "%s", text);
    cr_assert_str_eq(err.text, text);
    x = apply(&s, &(const fab_rate_changes){0});
    cr_assert_eq(x.n_changed, 0);
    cr_assert_eq(x.sum_bps, 16);
    scene_release(&s);
}

Test(incremental, refuses) {
    static const uint32_t flow[] = {1, 1};
    static const uint32_t no_flow[] = {4};
    static const size_t first[] = {0, 1, 2};
    static const size_t both[] = {0, 2};
    static const uint32_t link[] = {2, 1};
    static const uint32_t twice[] = {2, 2};
    static const uint32_t no_link[] = {3, 3};
    static const double capacity[] = {1, 1};
    static const double below[] = {-1};
    static const double share[] = {1, 1};
    refuse((fab_rate_changes){.n_flows = 2, .flow = flow, .first = first, .link = link},
           "flow 1 changes its links twice; once is enough");
    refuse((fab_rate_changes){.n_flows = 1, .flow = no_flow, .first = first, .link = link},
           "flow 4 changes its links; there are 4");
    refuse((fab_rate_changes){.n_flows = 1, .flow = flow, .first = first, .link = no_link},
           "flow 1 goes over link 3; there are 3");
    refuse((fab_rate_changes){.n_flows = 1, .flow = flow, .first = both, .link = twice},
           "flow 1 names link 2 twice; once is enough");
    refuse((fab_rate_changes){.n_flows = 1, .flow = flow, .first = first, .link = link, .share = share},
           "the base has no shares");
    refuse((fab_rate_changes){.n_capacities = 1, .wider_or_narrower = no_link, .capacity = capacity},
           "link 3 changes its capacity; there are 3");
    refuse((fab_rate_changes){.n_capacities = 2, .wider_or_narrower = twice, .capacity = capacity},
           "link 2 changes its capacity twice; once is enough");
    refuse((fab_rate_changes){.n_capacities = 1, .wider_or_narrower = link, .capacity = below},
           "link 2 changes its capacity to -1; it must not be below 0");
    static const uint32_t six[] = {0, 1, 2, 3, 0, 1};
    refuse((fab_rate_changes){.n_flows = 6, .flow = six, .first = first, .link = link},
           "6 flows change their links; there are 4");
}
