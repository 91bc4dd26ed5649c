/**
 * Independent items over threads. Each item writes only its own result, so the outcome is the same for any number of
 * threads.
 */
#pragma once

#include "fab/base.h"

/**
 * One item of work.
 * @param[in] item    0 ... n_items - 1.
 * @param[in] worker  0 ... n_threads - 1: index of the scratch memory this call may use.
 */
typedef fab_status fab_work(void *context, size_t item, size_t worker, fab_error *err);

/**
 * Runs `work` for every item. When items fail, the error of the lowest failing item is returned, whatever the schedule.
 * @param[in] n_threads  At least 1; the calling thread is one of them.
 */
FAB_STATUS fab_parallel_for(size_t n_items, size_t n_threads, fab_work *work, void *context, fab_error *err);

/** Processors this process may use (at least 1). */
size_t fab_n_processors(void);
