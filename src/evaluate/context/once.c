#include "once.h"

#include "fab/memory.h"

#include <stdlib.h>

void fab_once_init(fab_once *once, size_t n) {
    for (size_t i = 0; i < n; i++) {
        once[i] = (fab_once){.status = FAB_OK};
        atomic_init(&once[i].is_done, false);
        (void)pthread_mutex_init(&once[i].lock, NULL); /* without attributes it does not fail */
    }
}

void fab_once_release(fab_once *once, size_t n) {
    for (size_t i = 0; i < n; i++) {
        (void)pthread_mutex_destroy(&once[i].lock);
        free(once[i].error);
        once[i].error = NULL;
    }
}

static void build_once(fab_once *once, fab_once_build *build, void *context, size_t index) {
    fab_error error = {.code = FAB_OK};
    once->status = build(context, index, &error);
    once->n_builds++;
    if (once->status != FAB_OK && FAB_NEW(once->error, 1, NULL) == FAB_OK) {
        *once->error = error;
    }
    atomic_store_explicit(&once->is_done, true, memory_order_release);
}

fab_status fab_once_run(fab_once *once, fab_once_build *build, void *context, size_t index, fab_error *err) {
    if (!atomic_load_explicit(&once->is_done, memory_order_acquire)) {
        (void)pthread_mutex_lock(&once->lock);
        if (!atomic_load_explicit(&once->is_done, memory_order_relaxed)) {
            build_once(once, build, context, index);
        }
        (void)pthread_mutex_unlock(&once->lock);
    }
    if (once->status == FAB_OK) {
        return FAB_OK;
    }
    return once->error != NULL ? fab_fail(err, once->status, once->error->where, "%s", once->error->text)
                               : fab_fail(err, once->status, NULL, "out of memory");
}
