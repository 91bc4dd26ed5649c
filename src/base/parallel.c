#include "fab/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

typedef struct pool {
    fab_work *work;
    void *context;
    size_t n_items;
    atomic_size_t next;
    atomic_size_t first_failure; /* items above it need not start */
} pool;

typedef struct worker {
    pool *shared;
    size_t index;
    size_t failed_item;
    fab_status status;
    fab_error error;
} worker;

static void *run_worker(void *argument) {
    worker *self = argument;
    pool *shared = self->shared;
    for (;;) {
        size_t item = atomic_fetch_add(&shared->next, 1);
        if (item >= shared->n_items || item > atomic_load(&shared->first_failure)) {
            return NULL;
        }
        self->status = shared->work(shared->context, item, self->index, &self->error);
        if (self->status != FAB_OK) {
            self->failed_item = item;
            size_t seen = atomic_load(&shared->first_failure);
            while (item < seen && !atomic_compare_exchange_weak(&shared->first_failure, &seen, item)) {
            }
            return NULL;
        }
    }
}

fab_status fab_parallel_for(size_t n_items, size_t n_threads, fab_work *work, void *context, fab_error *err) {
    pool shared = {.work = work, .context = context, .n_items = n_items};
    atomic_init(&shared.next, 0);
    atomic_init(&shared.first_failure, n_items);
    if (n_threads > n_items) {
        n_threads = n_items;
    }
    if (n_threads < 1) {
        n_threads = 1;
    }
    FAB_OWNED worker *workers = NULL;
    FAB_OWNED pthread_t *threads = NULL;
    size_t n_started = 0;
    FAB_PASS(FAB_NEW_ALL(n_threads, err, workers, threads));
    for (size_t i = 0; i < n_threads; i++) {
        workers[i] = (worker){.shared = &shared, .index = i, .status = FAB_OK};
    }
    for (size_t i = 1; i < n_threads; i++) { /* fewer threads than asked for is slower, not wrong */
        if (pthread_create(&threads[i], NULL, run_worker, &workers[i]) != 0) {
            break;
        }
        n_started = i;
    }
    (void)run_worker(&workers[0]);
    for (size_t i = 1; i <= n_started; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    const worker *first = NULL;
    for (size_t i = 0; i < n_threads; i++) {
        if (workers[i].status != FAB_OK && (first == NULL || workers[i].failed_item < first->failed_item)) {
            first = &workers[i];
        }
    }
    FAB_REFUSE_IF(first != NULL, err, first->status, first->error.where, "%s", first->error.text);
    return FAB_OK;
}

size_t fab_n_processors(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (size_t)n : 1;
}
