/* Sorts by digits and by merging: the order is that of a sort by comparison. */
#include "fab/order.h"
#include "fab/ranked.h"
#include "fab/rng.h"

#include <criterion/criterion.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b) {
    const fab_ranked *x = a;
    const fab_ranked *y = b;
    if (x->value != y->value) {
        return x->value > y->value ? -1 : 1;
    }
    return (x->item > y->item) - (x->item < y->item);
}

Test(ranked, as_a_sort_by_comparison) {
    static const double ODD[] = {0, -0.0, DBL_MIN, DBL_MAX, 1, 1 + DBL_EPSILON, 5e-324, 0.1};
    fab_rng rng = fab_rng_make(1, 0);
    for (uint32_t round = 0; round < 200; round++) {
        fab_ranked list[300];
        fab_ranked want[300];
        uint32_t n = (uint32_t)fab_rng_below(&rng, 301);
        memset(list, 0, sizeof list);
        for (uint32_t i = 0; i < n; i++) {
            uint64_t draw = fab_rng_below(&rng, 4);
            list[i].value = draw == 0 ? ODD[fab_rng_below(&rng, 8)]
                                      : (double)fab_rng_below(&rng, draw == 1 ? 5 : UINT64_C(1) << 40) / 7;
            list[i].item = i;
        }
        memcpy(want, list, sizeof list);
        qsort(want, n, sizeof *want, by_value);
        cr_assert_eq(fab_ranked_sort(list, n, NULL), 0);
        for (uint32_t i = 0; i < n; i++) {
            cr_assert(list[i].item == want[i].item && list[i].value == want[i].value, "round %u, place %u", round, i);
        }
    }
}

typedef struct item {
    uint32_t key, at;
    char rest[5];
} item;

static int by_key(const void *a, const void *b) {
    return FAB_ORDER(((const item *)a)->key, ((const item *)b)->key);
}

/* Equal elements stay in order; sizes from none to more than a stack has room for. */
Test(order, sort_is_stable) {
    fab_rng rng = fab_rng_make(2, 0);
    for (uint32_t round = 0; round < 200; round++) {
        item list[300];
        uint64_t n_keys = 1 + fab_rng_below(&rng, 40);
        uint64_t sum = 0;
        uint32_t n = (uint32_t)fab_rng_below(&rng, round < 100 ? 20 : 301);
        memset(list, 0, sizeof list);
        for (uint32_t i = 0; i < n; i++) {
            list[i] = (item){.key = (uint32_t)fab_rng_below(&rng, n_keys), .at = i};
            memset(list[i].rest, (int)(i & 127), sizeof list[i].rest);
            sum += list[i].key;
        }
        FAB_SORT(list, n, by_key);
        for (uint32_t i = 0; i < n; i++) {
            sum -= list[i].key;
            cr_assert(list[i].rest[0] == (char)(list[i].at & 127) && list[i].rest[4] == list[i].rest[0]);
            cr_assert(i == 0 || list[i - 1].key < list[i].key ||
                          (list[i - 1].key == list[i].key && list[i - 1].at < list[i].at),
                      "round %u, place %u", round, i);
        }
        cr_assert_eq(sum, 0);
    }
}

/* Of one key in the order that they came in; what has no key is left out. */
Test(ranked, numbers_by_key) {
    fab_rng rng = fab_rng_make(2, 0);
    for (uint32_t round = 0; round < 200; round++) {
        enum { MOST = 100 };
        uint32_t key[MOST];
        uint32_t order[MOST];
        uint32_t first[MOST + 2];
        uint32_t out[MOST];
        const uint32_t n = (uint32_t)fab_rng_below(&rng, MOST + 1);
        const uint32_t n_keys = 1 + (uint32_t)fab_rng_below(&rng, MOST);
        uint32_t at = 0;
        for (uint32_t i = 0; i < n; i++) {
            key[i] = fab_rng_below(&rng, 5) == 0 ? UINT32_MAX : (uint32_t)fab_rng_below(&rng, n_keys);
            order[i] = n - 1 - i;
        }
        const uint32_t *numbers = round % 2 == 0 ? NULL : order;
        fab_sort_by_key(key, numbers, n, n_keys, first, out);
        for (uint32_t k = 0; k < n_keys; k++) {
            cr_assert_eq(first[k], at, "round %u, key %u", round, k);
            for (uint32_t i = 0; i < n; i++) {
                const uint32_t number = numbers != NULL ? numbers[i] : i;
                cr_assert(key[number] != k || out[at++] == number, "round %u, key %u", round, k);
            }
            cr_assert_eq(first[k + 1], at, "round %u, key %u", round, k);
        }
    }
}
