/**
 * @file order.h
 * Orders for qsort(): of numbers and texts, and of structures key by key.
 */
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

/** qsort() of an array that may be empty, or NULL where it is. */
#define FAB_SORT(array, n, order) fab_sort((void *)(array), (n), sizeof *(array), order)
void fab_sort(void *array, size_t n, size_t size, int (*order)(const void *, const void *));

/** Ascending, of elements that are, or begin with, a number of this kind or a text. */
int fab_order_u32(const void *a, const void *b);
int fab_order_u64(const void *a, const void *b);
int fab_order_double(const void *a, const void *b);
int fab_order_text(const void *a, const void *b);
