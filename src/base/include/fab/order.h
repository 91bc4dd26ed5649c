/**
 * @file order.h
 * Orders for qsort(): of numbers and texts, and of structures key by key.
 */
#pragma once

/** Below 0, 0, above 0: a comes before b, beside it, behind it. */
#define FAB_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/** Returns the order of two keys where they differ. Descending: FAB_ORDER_BY(b, a). */
#define FAB_ORDER_BY(a, b)                                                                                             \
    do {                                                                                                               \
        if ((a) != (b)) {                                                                                              \
            return (a) < (b) ? -1 : 1;                                                                                 \
        }                                                                                                              \
    } while (0)

/** Ascending, of elements that are, or begin with, a number of this kind or a text. */
int fab_order_u32(const void *a, const void *b);
int fab_order_u64(const void *a, const void *b);
int fab_order_double(const void *a, const void *b);
int fab_order_text(const void *a, const void *b);
