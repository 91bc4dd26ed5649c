/* Sets that are alike: those that permutations make of each other, by union and find. */
#include "scenarios_internal.h"

#define MOST_SETS (UINT64_C(1) << 28) /* 1 GiB of roots */

/* Sets as they are joined; the root of a class is the lowest. */
typedef struct classes {
    uint32_t *root; /* shape [n] */
} classes;

static uint32_t classes_root(classes *c, uint32_t at) {
    while (c->root[at] != at) {
        c->root[at] = c->root[c->root[at]];
        at = c->root[at];
    }
    return at;
}

static void classes_join(classes *c, uint32_t a, uint32_t b) {
    a = classes_root(c, a);
    b = classes_root(c, b);
    c->root[a > b ? a : b] = a < b ? a : b;
}

static fab_status classes_init(classes *c, uint64_t n, fab_error *err) {
    FAB_PASS(FAB_NEW(c->root, n, err));
    FAB_FILL(c->root, n, (uint32_t)fab_at);
    return FAB_OK;
}

/* Number of the set {a, b} in lexicographic order. */
static uint32_t number_of(uint64_t n, uint64_t a, uint64_t b) {
    const uint64_t low = a < b ? a : b;
    const uint64_t high = a < b ? b : a;
    return (uint32_t)(low * (2 * n - low - 1) / 2 + high - low - 1);
}

/* Sets with a component that a permutation moves; `to`: by component, where it goes. */
static void join_pairs(classes *c, uint32_t n, const fab_permutations *alike, size_t p, const uint32_t *to) {
    for (size_t k = alike->first[p]; k < alike->first[p + 1]; k++) {
        const uint32_t a = alike->moved[k];
        for (uint32_t b = 0; b < n; b++) {
            if (a != b && (b > a || to[b] == b)) { /* those of two that are moved once */
                classes_join(c, number_of(n, a, b), number_of(n, to[a], to[b]));
            }
        }
    }
}

static fab_status join_sets(const fab_scenarios *s, const fab_permutations *alike, classes *sets, classes *single,
                            fab_error *err) {
    FAB_OWNED_NEW(uint32_t, to, s->n, err);
    FAB_FILL(to, s->n, (uint32_t)fab_at);
    for (size_t p = 0; p < alike->n; p++) {
        for (size_t k = alike->first[p]; k < alike->first[p + 1]; k++) {
            to[alike->moved[k]] = alike->to[k];
            classes_join(single, alike->moved[k], alike->to[k]);
        }
        if (s->k == 2) {
            join_pairs(sets, s->n, alike, p, to);
        }
        for (size_t k = alike->first[p]; k < alike->first[p + 1]; k++) {
            to[alike->moved[k]] = alike->moved[k];
        }
    }
    return FAB_OK;
}

/* Classes by their lowest set. */
static fab_status count_classes(fab_scenarios *s, uint64_t n_sets, classes *sets, fab_error *err) {
    uint64_t n = 0;
    FAB_OWNED_NEW(uint32_t, place, n_sets, err); /* by root */
    for (uint64_t i = 0; i < n_sets; i++) {
        if (sets->root[i] == i) {
            place[i] = (uint32_t)n++;
        }
    }
    FAB_PASS(FAB_NEW_ALL(n, err, s->set, s->n_equal));
    for (uint64_t i = 0; i < n_sets; i++) {
        const uint32_t root = classes_root(sets, (uint32_t)i);
        s->set[place[root]] = root;
        s->n_equal[place[root]]++;
    }
    s->count = n;
    return FAB_OK;
}

fab_status scenario_fold(fab_scenarios *s, const fab_permutations *alike, fab_error *err) {
    classes sets = {.root = NULL};
    classes single = {.root = NULL};
    FAB_OWNS_MEMBERS(sets.root, single.root);
    const uint64_t n_sets = scenario_n_sets(s->n, s->k);
    FAB_REFUSE_IF(n_sets > MOST_SETS, err, FAB_EUNSUPPORTED, "--scenarios",
                  "%" PRIu64 " sets of %" PRIu32 ", the limit is %" PRIu64, n_sets, s->k, MOST_SETS);
    FAB_PASS(classes_init(&single, s->n, err));
    FAB_PASS(classes_init(&sets, n_sets, err));
    FAB_PASS(join_sets(s, alike, &sets, &single, err));
    FAB_PASS(FAB_NEW(s->equal, s->n, err));
    FAB_FILL(s->equal, s->n, classes_root(&single, (uint32_t)fab_at));
    return count_classes(s, n_sets, s->k == 2 ? &sets : &single, err);
}
