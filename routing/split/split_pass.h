/** Inside of split.c: passes over the runs of a block, and the rows of leaves that they work on. */
#pragma once

#include "dag.h"
#include "split_rule.h"

#define FAB_ROW  72 /* doubles between rows: 64 would put many of them into few sets of a cache */
#define FAB_STEP 4  /* rows that are summed at a time; lists of them are filled up */
#define FAB_SLOT 32 /* entries whose loads are found at a time */

/** A call's memory. A row has a double per destination of the block; what the masks do not name is left from before,
 * but finite. */
typedef struct fab_pass {
    const fab_dag *dag;
    const fab_split *split;
    uint32_t block;
    double *held;        /* [switch] row: amounts, or what they are folded into */
    double *part;        /* [switch] row: W or Z */
    const double *share; /* [leaf][link]: of the block, where shares are given or stand for weights */
    double *wide_share;  /* space for the latter; NULL until needed */
    double *scale;       /* [level] row: what Z at this distance was multiplied by; 1 for W */
    uint64_t *active;    /* [switch]: leaves in use */
    uint8_t *even;       /* [run of the block]: all next hops have the same share (capacity) */
    double *weight;      /* [link]: weights, scaled */
    const double *x;     /* [link]: values to fold */
    double *group_load;  /* [group]: on each of its next hops */
    double *link_load;   /* [link]: besides */
    double *scratch;     /* rows: sum, next, zero, then next hops [widest + FAB_STEP], then entries [FAB_SLOT] */
    const double **row;  /* [widest + FAB_STEP] */
    double *factor;      /* [widest + FAB_STEP] */
} fab_pass;

/** Marks what is passed on, from the switches in use to their destinations. Not for FAB_SPLIT_SHARE. */
void fab_pass_mark(fab_pass *p);

/** W or Z of the leaves in use. False: Z leaves the range of a double. */
bool fab_pass_prepare(fab_pass *p);

/** Shares of the leaves in use that the weights stand for, whatever their range: p->share. */
FAB_STATUS fab_pass_share_wide(fab_pass *p, fab_error *err);

/** What `held` puts on every link. `active`: leaves that hold something; grows. */
void fab_pass_load(fab_pass *p);

/** Fills `held` of the leaves in use with the fold of x. */
void fab_pass_fold(fab_pass *p, fab_fold fold);

/** The same by p->share, marking included. */
FAB_STATUS fab_pass_load_shares(fab_pass *p, fab_error *err);
FAB_STATUS fab_pass_fold_shares(fab_pass *p, fab_fold fold, fab_error *err);

/** First destination of the block. */
static inline size_t fab_first_leaf(const fab_pass *p) {
    return (size_t)p->block * FAB_BLOCK_LEAVES;
}

static inline bool fab_few(uint64_t leaves) {
    return __builtin_popcountll(leaves) <= 6;
}

/** `FAB_EACH_LEAF(k, leaves)`: a loop over the set bits. */
#define FAB_EACH_LEAF(k, leaves)                                                                                       \
    for (uint64_t k##_rest = (leaves), k = 0; k##_rest != 0 && ((k = (uint64_t)__builtin_ctzll(k##_rest)), true);      \
         k##_rest &= k##_rest - 1)
