/** Replays the algorithms of a collective over the network of a fabric, and says what nccl-tests should print. */
#pragma once

#include "fab/busbw.h"
#include "fab/context.h"

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
FAB_STATUS fab_nccl_tests_read(const char *path, fab_nccl_tests *out, fab_error *err);
void fab_nccl_tests_release(fab_nccl_tests *tests);

typedef struct fab_busbw_request {
    const fab_context *context; /**< design, fabric, engines and seed; its traffic is not used. Borrowed */
    fab_operation operation;
    fab_nccl_choice choice;
    fab_nccl_algorithm only;        /**< FAB_NCCL_N_ALGORITHMS: any */
    uint64_t ranks;                 /**< GPUs of the communicator, the first ones; 0: those of `measured`, or all */
    const fab_nccl_tests *measured; /**< NULL: none. Its sizes are taken. Borrowed */
    double tolerance;               /**< 0: what the model is good for: 5 % from 1 GiB, 15 % from 1 MiB, 30 % below */
    double bytes;                   /**< the only size; 0: all. Not beside `measured` */
    size_t n_threads;
    uint64_t n_seeds; /**< draws of engines that hash: times are of the mean; 0: 1 */
} fab_busbw_request;

#define FAB_BUSBW_FIRST 32768.0       /**< sizes without a file: 32 KiB ... */
#define FAB_BUSBW_LAST  17179869184.0 /**< ... to 16 GiB, each twice the one before */

/**
 * One replay of what leaves the scale-up domains for each algorithm that is possible: rates of a fluid are linear in
 * the size, so that it holds for all sizes.
 * @param[out] out  Written on success only; free with fab_busbw_free().
 * @retval FAB_EINPUT        the ranks do not fill the domains equally; the file is of other ranks or another collective
 * @retval FAB_EUNSUPPORTED  nothing is known of the GPU's library; packets are counted; the algorithm is not possible
 * Complexity: a replay of each algorithm under each engine. The same for any number of threads.
 */
FAB_STATUS fab_busbw_run(const fab_busbw_request *request, fab_busbw **out, fab_error *err);

void fab_busbw_free(fab_busbw *busbw);
FAB_OWNER(fab_busbw, fab_busbw_free)
