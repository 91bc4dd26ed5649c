/** Many items by a value or a key each, in linear time. */
#pragma once

#include "fab/base.h"

typedef struct fab_ranked {
    double value; /**< >= 0, no NAN */
    uint32_t item;
} fab_ranked;

/**
 * The largest value first; items of equal value stay in their order.
 * Complexity: O(n) time, 8 passes at most, fewer where values have bytes in common; n more entries of memory.
 */
FAB_STATUS fab_ranked_sort(fab_ranked *list, size_t n, fab_error *err);

/**
 * Numbers by keys: a counting sort, in which those of one key stay in their order.
 * @param[in]  key      By number, below n_keys; UINT32_MAX: it is left out.
 * @param[in]  numbers  Shape [n], the order that they come in; NULL: 0 ... n - 1.
 * @param[out] first    Shape [n_keys + 2]: those of key k are out[first[k]] ... out[first[k + 1] - 1].
 * @param[out] out      Shape [n], or as many as have a key; another array than `numbers`.
 */
void fab_sort_by_key(const uint32_t *key, const uint32_t *numbers, uint32_t n, uint32_t n_keys, uint32_t *first,
                     uint32_t *out);
