/**
 * @file least.h
 * What phases need at least, each found once however many jobs have it: for searches.
 */
#pragma once

#include "fab/context.h"

/** Zero-initialised; release with fab_least_memo_release(). */
typedef struct fab_least_memo {
    struct fab_least_known {
        uint64_t hash[2]; /**< of a phase: equal ones are of the same flows */
        double least_s;
    } * known;
    size_t n, capacity;
    struct fab_least_ends *ends; /**< shape [n_ends]: scratch of threads */
    size_t n_ends;
} fab_least_memo;

void fab_least_memo_release(fab_least_memo *memo);

/**
 * Seconds that the bytes of each phase need at least under any routing: those of the fullest NIC or scale-up link, or
 * over all links out of or into a leaf, without latency.
 * @param[in]  context    All contexts of a memo have the same fabric.
 * @param[in]  n_threads  The same in all calls with a memo.
 * @param[out] out        Shape [phases of the traffic]; 0 of those that fab_iterate_is_shared() says are in no
 * iteration. Complexity: O(flows + links).
 */
fab_status fab_least_times(fab_least_memo *memo, const fab_context *context, size_t n_threads, double *out,
                           fab_error *err) FAB_MUST_USE;
