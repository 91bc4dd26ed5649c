/**
 * States of a job that were evaluated before: histories come to the same ones again and again. A value is a pure
 * function of its key, and keys are compared in full, so that what is found is what would be computed, bit for bit.
 */
#pragma once

#include "fab/base.h"

/** Words of 8 bytes. Zero-initialised is fine. */
typedef struct assess_key {
    uint64_t *word;
    size_t n, capacity;
} assess_key;

FAB_STATUS assess_key_add(assess_key *key, uint64_t word, fab_error *err);
FAB_STATUS assess_key_add_double(assess_key *key, double value, fab_error *err);

/** Threads may share one. */
typedef struct assess_memo assess_memo;

/** Values have one size. `most_bytes`: beyond it the memo is emptied. */
FAB_STATUS assess_memo_new(size_t value_size, size_t most_bytes, assess_memo **out, fab_error *err);

/** NULL is fine; so are calls of the others with a NULL memo, which keeps nothing. */
void assess_memo_free(assess_memo *memo);
FAB_OWNER(assess_memo, assess_memo_free)

/** False: not there. */
bool assess_memo_get(assess_memo *memo, const assess_key *key, void *out);

/** Nothing where the key is there already: another thread was first, with the same value. */
FAB_STATUS assess_memo_put(assess_memo *memo, const assess_key *key, const void *value, fab_error *err);
