/**
 * @file nccl_tests.h
 * What nccl-tests printed, with lines of other programs between.
 */
#pragma once

#include "fab/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct fab_nccl_tests_row {
    double bytes, time_s;
    double algbw, busbw; /**< B/s */
    size_t line;
} fab_nccl_tests_row;

typedef struct fab_nccl_tests {
    const char *path; /**< borrowed */
    char test[64];    /**< "all_reduce_perf"; empty: not said */
    uint64_t ranks;   /**< that the heading lists; 0: none */
    fab_nccl_tests_row *rows;
    size_t n_rows, capacity;
} fab_nccl_tests;

/**
 * Reads the rows out of place; where only the columns in place are filled, these. A row is
 *
 *     size [count type [redop [root]]] time algbw busbw [#wrong] [time algbw busbw [#wrong]]
 *
 * It may have "0: " or "[1,0]<stdout>:" before it, as launchers put it, and may be broken by lines of NCCL_DEBUG: its
 * figures then stand on a line of their own. All other lines are passed over.
 * @retval FAB_EINPUT  no row; a size or a figure that is none: file:line:column
 */
fab_status fab_nccl_tests_read(const char *path, fab_nccl_tests *out, fab_error *err) FAB_MUST_USE;
void fab_nccl_tests_release(fab_nccl_tests *tests);
