/** Checked allocation. Products of sizes never overflow silently; failure is FAB_ENOMEM, never an abort. */
#pragma once

#include "fab/status.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/**
 * Allocates `n * size` zeroed bytes (at least 1).
 * @param[out] out  Receives the block, to be released with free(). Written on success only.
 * @retval FAB_ENOMEM  n * size overflows, or memory ran out; the message names the amount.
 */
FAB_STATUS fab_allocate(size_t n, size_t size, void *out, fab_error *err);

/** `FAB_NEW(pointer, n, err)`: allocates an array of n zeroed elements of the pointer's type. */
#define FAB_NEW(pointer, n, err) fab_allocate((n), sizeof *(pointer), &(pointer), (err))

/** One array of fab_allocate_each(): where its block goes, and the bytes of an element. */
typedef struct fab_new_array {
    void *out;
    size_t size;
} fab_new_array;

/** fab_allocate() of n elements for every array, in order; those after a failure are not written. */
FAB_STATUS fab_allocate_each(size_t n, const fab_new_array *arrays, size_t n_arrays, fab_error *err);

/** `FAB_NEW_ALL(n, err, a, b, c)`: FAB_NEW for 1 to 8 pointers, none of them reached through another. */
#define FAB_NEW_ALL(n, err, ...)                                                                                       \
    fab_allocate_each((n), (const fab_new_array[]){FAB_NEW_ARRAYS(__VA_ARGS__)},                                       \
                      sizeof((const fab_new_array[]){FAB_NEW_ARRAYS(__VA_ARGS__)}) / sizeof(fab_new_array), (err))
#define FAB_NEW_ARRAYS(...)                                                                                            \
    FAB_NEW_PICK(__VA_ARGS__, FAB_NEW_8, FAB_NEW_7, FAB_NEW_6, FAB_NEW_5, FAB_NEW_4, FAB_NEW_3, FAB_NEW_2, FAB_NEW_1,  \
                 0)                                                                                                    \
    (__VA_ARGS__)
#define FAB_NEW_PICK(a, b, c, d, e, f, g, h, pick, ...) pick
#define FAB_NEW_1(a)                                                                                                   \
    { &(a), sizeof *(a) }
#define FAB_NEW_2(a, b)   FAB_NEW_1(a), FAB_NEW_1(b)
#define FAB_NEW_3(a, ...) FAB_NEW_1(a), FAB_NEW_2(__VA_ARGS__)
#define FAB_NEW_4(a, ...) FAB_NEW_1(a), FAB_NEW_3(__VA_ARGS__)
#define FAB_NEW_5(a, ...) FAB_NEW_1(a), FAB_NEW_4(__VA_ARGS__)
#define FAB_NEW_6(a, ...) FAB_NEW_1(a), FAB_NEW_5(__VA_ARGS__)
#define FAB_NEW_7(a, ...) FAB_NEW_1(a), FAB_NEW_6(__VA_ARGS__)
#define FAB_NEW_8(a, ...) FAB_NEW_1(a), FAB_NEW_7(__VA_ARGS__)

/**
 * Grows an array so that it holds at least `need` elements; doubles, so that appending is amortised O(1).
 * New elements are not initialised.
 * @param[in,out] array     Address of the array pointer (NULL when empty).
 * @param[in,out] capacity  Elements allocated.
 */
FAB_STATUS fab_grow(void *array, size_t *capacity, size_t need, size_t size, fab_error *err);

/** `FAB_GROW(pointer, capacity, need, err)` for a typed pointer and a size_t capacity. */
#define FAB_GROW(pointer, capacity, need, err) fab_grow(&(pointer), &(capacity), (need), sizeof *(pointer), (err))

/** `FAB_APPEND(list, n, capacity, err, value)`: grows the array where it is full, then list[n++] = value. */
#define FAB_APPEND(pointer, n, capacity, err, ...)                                                                     \
    (FAB_GROW(pointer, capacity, (size_t)(n) + 1, err) == FAB_OK ? ((pointer)[(n)++] = __VA_ARGS__, FAB_OK)            \
                                                                 : FAB_ENOMEM)

/** `FAB_FILL(array, n, value)`: every one of n elements is `value`, in which `fab_at` is its place. */
#define FAB_FILL(array, n, ...)                                                                                        \
    do {                                                                                                               \
        for (size_t fab_at = 0; fab_at < (n); fab_at++) {                                                              \
            (array)[fab_at] = __VA_ARGS__;                                                                             \
        }                                                                                                              \
    } while (0)

/** `FAB_ADD_UP(first, n)`: counts in first[1] ... first[n] become sums of all up to them. */
#define FAB_ADD_UP(array, n)                                                                                           \
    do {                                                                                                               \
        for (size_t fab_at = 0; fab_at < (n); fab_at++) {                                                              \
            (array)[fab_at + 1] += (array)[fab_at];                                                                    \
        }                                                                                                              \
    } while (0)

/** `FAB_KEEP(gaps, n, i, n_links, isfinite(gap[i]), gap[i])`: gaps[n++] is the value of every i below n_links for which
 * that holds. `_IN`: of those from `from` on. */
#define FAB_KEEP(to, n, i, n_all, condition, ...) FAB_KEEP_IN(to, n, i, 0, n_all, condition, __VA_ARGS__)
#define FAB_KEEP_IN(to, n, i, from, n_all, condition, ...)                                                             \
    do {                                                                                                               \
        for (__typeof__((n_all) + 0) i = (from); i < (n_all); i++) {                                                   \
            if (condition) {                                                                                           \
                (to)[(n)++] = __VA_ARGS__;                                                                             \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

/** `FAB_COPY(to, from, n)`: n elements; of none, no array need be there. */
#define FAB_COPY(to, from, n) fab_copy((to), (from), (n), sizeof *(to))
static inline void fab_copy(void *to, const void *from, size_t n, size_t size) {
    if (n > 0) {
        memcpy(to, from, n * size);
    }
}

/** Frees n blocks; NULL among them is fine. */
void fab_free_each(void *const *blocks, size_t n);

/** `FAB_FREE_ALL(a, b, c)`: frees every pointer. */
#define FAB_FREE_ALL(...)                                                                                              \
    fab_free_each((void *const[]){__VA_ARGS__}, sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))

/** `FAB_FREE_EACH(free, names, n)`, `FAB_FREE_EACH_OF(free, boxes, n, .name)`, `FAB_RELEASE_EACH(fab_str_release,
 * texts, n)`: releases what elements, a member of elements, or elements themselves are; nothing where there is no
 * array. */
#define FAB_FREE_EACH(release, list, n)            FAB_FREE_EACH_OF(release, list, n, )
#define FAB_RELEASE_EACH(release, list, n)         FAB_CALL_EACH(release, list, n, &, )
#define FAB_FREE_EACH_OF(release, list, n, member) FAB_CALL_EACH(release, list, n, , member)
#define FAB_CALL_EACH(release, list, n, of, member)                                                                    \
    do {                                                                                                               \
        for (size_t fab_at = 0; (list) != NULL && fab_at < (n); fab_at++) {                                            \
            release(of(list)[fab_at] member);                                                                          \
        }                                                                                                              \
    } while (0)

/** `FAB_OWNED double *x = NULL;`: free(x) wherever the scope of x is left; x = NULL where it has been given away. */
#define FAB_OWNED FAB_OWNS(fab_free_owned)
typedef void *fab_any_block __attribute__((may_alias)); /* a pointer of any type */
static inline void fab_free_owned(void *owned) {
    free(*(fab_any_block *)owned);
}

/** `FAB_OWNED_NEW(double, load, n, err);`: declares `double *load`, n zeroed elements that its scope owns; returns
 * FAB_ENOMEM where memory runs out. `FAB_OWNS_NEW(fab_split_free_owned, fab_split, split, 1, err);`: likewise, what is
 * called with its address frees it. */
#define FAB_OWNED_NEW(type, pointer, n, err) FAB_OWNS_NEW(fab_free_owned, type, pointer, n, err)
#define FAB_OWNS_NEW(release, type, pointer, n, err)                                                                   \
    FAB_OWNS(release) type *pointer = NULL;                                                                            \
    FAB_PASS(FAB_NEW(pointer, n, err))

/** `FAB_OWNED_COPY(fab_design, other, design, err);`: declares `fab_design *other`, a copy that its scope owns. */
#define FAB_OWNED_COPY(type, pointer, from, err)                                                                       \
    FAB_OWNED_NEW(type, pointer, 1, err);                                                                              \
    *(pointer) = *(from)

/** Defines what FAB_OWNS needs of a struct whose arrays are freed: FAB_FREES(reader_release, reader, rows, blocks); is
 * reader_release() that frees both, of 1 to 16 members. */
#define FAB_FREES(release, type, ...)                                                                                  \
    static void release(type *of) {                                                                                    \
        FAB_FREE_ALL(FAB_OF(__VA_ARGS__));                                                                             \
    }                                                                                                                  \
    struct fab_error
/** Likewise of a header: FAB_RELEASES(fab_offer_release, fab_offer, sent, rate); leaves nothing in the struct. */
#define FAB_RELEASES(release, type, ...)                                                                               \
    void release(type *of) {                                                                                           \
        FAB_FREE_ALL(FAB_OF(__VA_ARGS__));                                                                             \
        *of = (type){0};                                                                                               \
    }                                                                                                                  \
    struct fab_error
/** Likewise: FAB_FREES_WHOLE(fab_floor_free, fab_floor, rack); frees the struct too, where there is one. */
#define FAB_FREES_WHOLE(free_it, type, ...)                                                                            \
    void free_it(type *of) {                                                                                           \
        if (of != NULL) {                                                                                              \
            FAB_FREE_ALL(FAB_OF(__VA_ARGS__), of);                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    struct fab_error
/** Likewise, of what needs more: FAB_FREES_AFTER(fab_study_close, fab_study, study) { what is behind it is released }
 * frees the struct then. */
#define FAB_FREES_AFTER(free_it, type, of)                                                                             \
    static void free_it##_rest(type *of);                                                                              \
    void free_it(type *of) {                                                                                           \
        if (of != NULL) {                                                                                              \
            free_it##_rest(of);                                                                                        \
        }                                                                                                              \
        free(of);                                                                                                      \
    }                                                                                                                  \
    static void free_it##_rest(type *of)
#define FAB_OF(...)                                                                                                    \
    FAB_OF_PICK(__VA_ARGS__, FAB_OF_16, FAB_OF_15, FAB_OF_14, FAB_OF_13, FAB_OF_12, FAB_OF_11, FAB_OF_10, FAB_OF_9,    \
                FAB_OF_8, FAB_OF_7, FAB_OF_6, FAB_OF_5, FAB_OF_4, FAB_OF_3, FAB_OF_2, FAB_OF_1, 0)                     \
    (__VA_ARGS__)
#define FAB_OF_PICK(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, pick, ...) pick
#define FAB_OF_1(a)                                                            of->a
#define FAB_OF_2(a, ...)                                                       of->a, FAB_OF_1(__VA_ARGS__)
#define FAB_OF_3(a, ...)                                                       of->a, FAB_OF_2(__VA_ARGS__)
#define FAB_OF_4(a, ...)                                                       of->a, FAB_OF_3(__VA_ARGS__)
#define FAB_OF_5(a, ...)                                                       of->a, FAB_OF_4(__VA_ARGS__)
#define FAB_OF_6(a, ...)                                                       of->a, FAB_OF_5(__VA_ARGS__)
#define FAB_OF_7(a, ...)                                                       of->a, FAB_OF_6(__VA_ARGS__)
#define FAB_OF_8(a, ...)                                                       of->a, FAB_OF_7(__VA_ARGS__)
#define FAB_OF_9(a, ...)                                                       of->a, FAB_OF_8(__VA_ARGS__)
#define FAB_OF_10(a, ...)                                                      of->a, FAB_OF_9(__VA_ARGS__)
#define FAB_OF_11(a, ...)                                                      of->a, FAB_OF_10(__VA_ARGS__)
#define FAB_OF_12(a, ...)                                                      of->a, FAB_OF_11(__VA_ARGS__)
#define FAB_OF_13(a, ...)                                                      of->a, FAB_OF_12(__VA_ARGS__)
#define FAB_OF_14(a, ...)                                                      of->a, FAB_OF_13(__VA_ARGS__)
#define FAB_OF_15(a, ...)                                                      of->a, FAB_OF_14(__VA_ARGS__)
#define FAB_OF_16(a, ...)                                                      of->a, FAB_OF_15(__VA_ARGS__)

/**
 * `FAB_OWNS_MEMBERS(s.rank, s.order);`: likewise of 1 to 8 members of structs that are declared above it; each is NULL
 * or a block when the scope is left.
 */
#define FAB_OWNS_MEMBERS(...)      FAB_OWNS_BLOCKS(__LINE__, FAB_NEW_ARRAYS(__VA_ARGS__))
#define FAB_OWNS_BLOCKS(line, ...) FAB_OWNS_BLOCKS_IN(line, __VA_ARGS__)
#define FAB_OWNS_BLOCKS_IN(line, ...)                                                                                  \
    FAB_OWNS(fab_free_members) __attribute__((unused)) const fab_new_array fab_owned_##line[] = {__VA_ARGS__, {NULL, 0}}
static inline void fab_free_members(const void *arrays) {
    for (const fab_new_array *member = arrays; member->out != NULL; member++) {
        free(*(fab_any_block *)member->out);
    }
}

/** Gives back what an array of `n` elements does not need of what it was grown to. */
void fab_shrink(void *array, size_t n, size_t size);

/** `FAB_SHRINK(pointer, n)` for a typed pointer; its capacity is n from now on. */
#define FAB_SHRINK(pointer, n) fab_shrink(&(pointer), (n), sizeof *(pointer))

/** What the program and its libraries take before they do anything. */
#define FAB_PROGRAM_BYTES 18e6

/** Elements that an array of n has room for after fab_grow(). */
double fab_grown(double n);

/** Copy of a string, or NULL with FAB_ENOMEM recorded. */
char *fab_strdup(const char *text, fab_error *err) FAB_MUST_USE;
/** `FAB_STRDUP(to, text, err)`: puts it there, and is the status. */
#define FAB_STRDUP(to, text, err) (((to) = fab_strdup((text), (err))) != NULL ? FAB_OK : FAB_ENOMEM)
