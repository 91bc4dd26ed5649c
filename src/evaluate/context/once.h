/**
 * @file once.h
 * Something that is built once, by whoever asks first.
 */
#pragma once

#include "fab/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct fab_once {
    pthread_mutex_t lock;
    atomic_bool is_done;
    fab_status status;
    fab_error *error; /* NULL: none, or no memory for it */
    size_t n_builds;  /* 1, or 0 before */
} fab_once;

typedef fab_status fab_once_build(void *context, size_t index, fab_error *err);

/** n of them. Zeroed memory is not enough: call this before anybody asks. */
void fab_once_init(fab_once *once, size_t n);
void fab_once_release(fab_once *once, size_t n);

/**
 * Calls `build` unless somebody did; who comes meanwhile waits. Returns what it returned, to everybody. What builds may
 * ask for other things, in an order without circles.
 */
fab_status fab_once_run(fab_once *once, fab_once_build *build, void *context, size_t index,
                        fab_error *err) FAB_MUST_USE;
