/** Orders for qsort(): of numbers and texts, and of structures key by key. */
#pragma once

#include <stddef.h>

/** Below 0, 0, above 0: a comes before b, beside it, behind it. */
#define FAB_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/** Returns the order of two keys where they differ. Descending: FAB_ORDER_BY(b, a). */
#define FAB_ORDER_BY(a, b)                                                                                             \
    do {                                                                                                               \
        if ((a) != (b)) {                                                                                              \
            return (a) < (b) ? -1 : 1;                                                                                 \
        }                                                                                                              \
    } while (0)

/**
 * Defines an order of structures, ascending by members: FAB_ORDER_TWO(by_leaf, plug, leaf, port); is by_leaf() for
 * qsort() of plugs.
 */
#define FAB_ORDER_TWO(name, type, first, second)                                                                       \
    static int name(const void *x, const void *y) {                                                                    \
        const type *a = x;                                                                                             \
        const type *b = y;                                                                                             \
        FAB_ORDER_BY(a->first, b->first);                                                                              \
        return FAB_ORDER(a->second, b->second);                                                                        \
    }                                                                                                                  \
    struct fab_order
#define FAB_ORDER_THREE(name, type, first, second, third)                                                              \
    static int name(const void *x, const void *y) {                                                                    \
        const type *a = x;                                                                                             \
        const type *b = y;                                                                                             \
        FAB_ORDER_BY(a->first, b->first);                                                                              \
        FAB_ORDER_BY(a->second, b->second);                                                                            \
        return FAB_ORDER(a->third, b->third);                                                                          \
    }                                                                                                                  \
    struct fab_order

/**
 * The same of one to five keys of structures a and b, each an order that counts where those before it say nothing:
 * FAB_ORDER_KEYS(by_host, plug, strcmp(a->host, b->host), FAB_ORDER(a->port, b->port)).
 */
#define FAB_ORDER_KEYS(name, type, ...)                                                                                \
    static int name(const void *x, const void *y) {                                                                    \
        const type *a = x;                                                                                             \
        const type *b = y;                                                                                             \
        int fab_key = 0;                                                                                               \
        return FAB_ORDER_PICK(__VA_ARGS__, FAB_ORDER_5, FAB_ORDER_4, FAB_ORDER_3, FAB_ORDER_2, FAB_ORDER_1,            \
                              0)(__VA_ARGS__);                                                                         \
    }                                                                                                                  \
    struct fab_order
#define FAB_ORDER_PICK(a, b, c, d, e, pick, ...) pick
#define FAB_ORDER_1(k)                           (fab_key = (k))
#define FAB_ORDER_2(k, l)                        (fab_key = (k)) != 0 ? fab_key : (l)
#define FAB_ORDER_3(k, l, m)                     (fab_key = (k)) != 0 ? fab_key : FAB_ORDER_2(l, m)
#define FAB_ORDER_4(k, l, m, n)                  (fab_key = (k)) != 0 ? fab_key : FAB_ORDER_3(l, m, n)
#define FAB_ORDER_5(k, l, m, n, o)               (fab_key = (k)) != 0 ? fab_key : FAB_ORDER_4(l, m, n, o)

/** Sorts an array that may be empty, or NULL where it is; equal elements stay in order, but where memory runs out. The
 * qsort() of the C library in pages takes thrice as long. Complexity: O(n log n), of a sorted array O(n). */
#define FAB_SORT(array, n, order) fab_sort((void *)(array), (n), sizeof *(array), order)
void fab_sort(void *array, size_t n, size_t size, int (*order)(const void *, const void *));

/** Ascending, of elements that are, or begin with, a number of this kind or a text. */
int fab_order_u32(const void *a, const void *b);
int fab_order_u64(const void *a, const void *b);
int fab_order_double(const void *a, const void *b);
int fab_order_text(const void *a, const void *b);
