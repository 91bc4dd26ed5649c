/**
 * @file least.h
 * What phases need at least, each found once however many jobs have it: for searches.
 */
#pragma once

#include "fab/context.h"

/** What a phase needs, without what it waits for. */
typedef struct fab_least {
    double least_s; /**< its bytes under any routing: those of the fullest NIC or scale-up link, or over all links out
                       of or into a leaf, without latency */
    double links_s; /**< under the first engine: that of its fullest link */
    double path_s;  /**< latency of its slowest path; below 0: none leaves its scale-up domain */
} fab_least;

/** Zero-initialised; release with fab_least_memo_release(). */
typedef struct fab_least_memo {
    struct fab_least_known {
        uint64_t hash[2]; /**< of a phase: equal ones are of the same flows */
        fab_least found;
    } * known;
    size_t n, capacity;
    struct fab_least_ends *ends; /**< shape [n_ends]: scratch of threads */
    size_t n_ends;
} fab_least_memo;

void fab_least_memo_release(fab_least_memo *memo);

/**
 * What each phase needs at least.
 * @param[in]  context      All contexts of a memo have the same fabric, engine and seed.
 * @param[in]  n_threads    The same in all calls with a memo.
 * @param[in]  wants_links  Also links_s and path_s, of an engine whose paths depend on no other flow; else they are 0.
 * @param[out] out          Shape [phases of the traffic]; 0 of those that fab_iterate_is_shared() says are in no
 * iteration. Errors of fab_evaluate(). Complexity: O(flows + links).
 */
FAB_STATUS fab_least_times(fab_least_memo *memo, const fab_context *context, size_t n_threads, bool wants_links,
                           fab_least *out, fab_error *err);
