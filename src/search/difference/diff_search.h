/** Inside of diff_cause.c and diff_words.c: the search for changes that make the difference. */
#pragma once

#include "diff_internal.h"

#define NEAR 0.1 /* part of the difference that may be left where the time is said to be back */

/* Changes are tested one by one; those behind the first are one more, all at once. */
#define MOST_UNITS (FAB_DIFF_TRIED + 1)
#define MOST_TESTS ((size_t)5 * MOST_UNITS)

/* A time that was found: of the second state without a set of changes. */
typedef struct diff_known {
    uint32_t set;
    double time_s;
    fab_parts parts; /* seed by seed */
} diff_known;

/* The search for what makes the difference by itself, and is gone without. Sets are bits of units. */
typedef struct search {
    diff *d;
    bool *undone; /* [changes], of one test */
    size_t n;     /* units */
    size_t n_known;
    diff_known known[MOST_TESTS];
    uint32_t alone; /* each makes the difference from the first state */
    uint32_t cause;
    uint32_t equals;    /* what does as much in place of one of them */
    uint32_t hidden;    /* what is part of it once the cause is undone */
    uint32_t uncertain; /* what of all these no pairs of seeds tell apart */
    bool is_whole;      /* the second state with all undone can be evaluated */
    bool returns;       /* and is as fast as the first */
    double whole_s;     /* its time */
    bool is_found;      /* without the cause it is the time of before */
    double back_s;      /* time without the cause */
    double last_s;      /* and without what it hides */
} search;

static inline const fab_diff_engine *engine_of(const diff *d) {
    return &d->out->engines[d->out->worst];
}

static inline bool has(uint32_t set, size_t change) {
    return (set >> (change < FAB_DIFF_TRIED ? change : FAB_DIFF_TRIED) & 1) != 0;
}

/** Writes the cause in words. */
fab_status diff_say_cause(const search *s, fab_error *err);
