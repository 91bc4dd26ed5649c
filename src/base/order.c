#include "fab/order.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int fab_order_u32(const void *a, const void *b) {
    return FAB_ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}

int fab_order_u64(const void *a, const void *b) {
    return FAB_ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}

int fab_order_double(const void *a, const void *b) {
    return FAB_ORDER(*(const double *)a, *(const double *)b);
}

int fab_order_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void fab_sort(void *array, size_t n, size_t size, int (*order)(const void *, const void *)) {
    if (n > 1) {
        qsort(array, n, size, order);
    }
}
