/** Many items by a value each, in linear time. */
#pragma once

#include "fab/status.h"

#include <stdint.h>

typedef struct fab_ranked {
    double value; /**< >= 0, no NAN */
    uint32_t item;
} fab_ranked;

/**
 * The largest value first; items of equal value stay in their order.
 * Complexity: O(n) time, 8 passes at most, fewer where values have bytes in common; n more entries of memory.
 */
FAB_STATUS fab_ranked_sort(fab_ranked *list, size_t n, fab_error *err);
