/**
 * @file solver_memory.h
 * Arrays that are kept from call to call and whose contents need not survive growing.
 */
#ifndef SOLVER_MEMORY_H
#define SOLVER_MEMORY_H

#include "fab/status.h"

#include <stddef.h>

/** As fab_grow(), but what the array held is lost, and large ones lie in huge pages where the system has them. */
fab_status solver_grow(void *array, size_t *capacity, size_t need, size_t size, fab_error *err) FAB_MUST_USE;

#define SOLVER_GROW(pointer, capacity, need, err) solver_grow(&(pointer), &(capacity), (need), sizeof *(pointer), (err))

#endif
