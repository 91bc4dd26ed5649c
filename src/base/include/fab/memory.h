/**
 * @file memory.h
 * Checked allocation. Products of sizes never overflow silently; failure is FAB_ENOMEM, never an abort.
 */
#pragma once

#include "fab/status.h"

#include <stddef.h>
#include <stdint.h>

/**
 * Allocates `n * size` zeroed bytes (at least 1).
 * @param[out] out  Receives the block, to be released with free(). Written on success only.
 * @retval FAB_ENOMEM  n * size overflows, or memory ran out; the message names the amount.
 */
fab_status fab_allocate(size_t n, size_t size, void *out, fab_error *err) FAB_MUST_USE;

/** `FAB_NEW(pointer, n, err)`: allocates an array of n zeroed elements of the pointer's type. */
#define FAB_NEW(pointer, n, err) fab_allocate((n), sizeof *(pointer), &(pointer), (err))

/**
 * Grows an array so that it holds at least `need` elements; doubles, so that appending is amortised O(1).
 * New elements are not initialised.
 * @param[in,out] array     Address of the array pointer (NULL when empty).
 * @param[in,out] capacity  Elements allocated.
 */
fab_status fab_grow(void *array, size_t *capacity, size_t need, size_t size, fab_error *err) FAB_MUST_USE;

/** `FAB_GROW(pointer, capacity, need, err)` for a typed pointer and a size_t capacity. */
#define FAB_GROW(pointer, capacity, need, err) fab_grow(&(pointer), &(capacity), (need), sizeof *(pointer), (err))

/** Frees n blocks; NULL among them is fine. */
void fab_free_each(void *const *blocks, size_t n);

/** `FAB_FREE_ALL(a, b, c)`: frees every pointer. */
#define FAB_FREE_ALL(...)                                                                                              \
    fab_free_each((void *const[]){__VA_ARGS__}, sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))

/** Gives back what an array of `n` elements does not need of what it was grown to. */
void fab_shrink(void *array, size_t n, size_t size);

/** `FAB_SHRINK(pointer, n)` for a typed pointer; its capacity is n from now on. */
#define FAB_SHRINK(pointer, n) fab_shrink(&(pointer), (n), sizeof *(pointer))

/** What the program and its libraries take before they do anything. */
#define FAB_PROGRAM_BYTES 16e6

/** Elements that an array of n has room for after fab_grow(). */
double fab_grown(double n);

/**
 * Refuses what would not fit, before anything of it is allocated.
 * @param[in] what   What takes it: "the graph of 4,096 GPUs".
 * @param[in] bytes  An estimate; FAB_PROGRAM_BYTES come on top.
 * @param[in] limit  0: none.
 * @retval FAB_EUNSUPPORTED  more than the limit; the message names both
 */
fab_status fab_memory_check(const char *what, double bytes, uint64_t limit, fab_error *err) FAB_MUST_USE;

/** Copy of a string, or NULL with FAB_ENOMEM recorded. */
char *fab_strdup(const char *text, fab_error *err) FAB_MUST_USE;
