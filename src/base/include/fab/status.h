/**
 * Status codes, the error record that every failing call fills (src/doc/adr/0002-errors.md), and statements that every
 * file uses.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define FAB_MUST_USE          __attribute__((warn_unused_result))
#define FAB_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define FAB_UNUSED            __attribute__((unused)) /* a parameter that a callback has and this one does not need */

/** `FAB_OWNS(fab_str_release) fab_str s = {0};`: what is called with &s wherever the scope of s is left. The variable
 * has a value from its declaration on: what is released when it is empty changes nothing. */
#define FAB_OWNS(release) __attribute__((cleanup(release)))
/** What FAB_OWNS needs of a pointer: `free_owned`, which calls `free` with it. */
#define FAB_OWNER(type, free)                                                                                          \
    static inline void free##_owned(type **owned) {                                                                    \
        free(*owned);                                                                                                  \
    }

typedef enum fab_status {
    FAB_OK = 0,
    FAB_EUSAGE,       /**< the command line is wrong */
    FAB_EINPUT,       /**< a design, file or value is wrong */
    FAB_EUNSUPPORTED, /**< valid, but this version cannot do it */
    FAB_ELIMIT,       /**< it needs more memory than the run may take: nothing else follows from it */
    FAB_ETHRESHOLD,   /**< the result stands, but it is beyond what was asked for */
    FAB_EINCOMPLETE,  /**< the result stands, but candidates of a search were left out */
    FAB_ETIME,        /**< the result stands, but time was up before a search had looked at all */
    FAB_EUNREACHABLE, /**< a flow has no route */
    FAB_ENOSOLUTION,  /**< no design or placement satisfies the constraints */
    FAB_EIO,          /**< reading or writing failed */
    FAB_ENOMEM,       /**< memory ran out */
    FAB_EINTERNAL,    /**< a bug: an invariant does not hold */
} fab_status;

/** What a function returns whose status the caller must look at. */
#define FAB_STATUS FAB_MUST_USE fab_status

typedef struct fab_error {
    fab_status code;
    char where[192]; /**< "design.xml:14:9", "leaf 7", or empty */
    char text[448];  /**< one sentence: what, the offending value, the limit */
} fab_error;

/**
 * Records an error unless one is recorded already (the first one is kept), and returns `code`.
 * @param[out] err    May be NULL.
 * @param[in]  where  Place of the error, or NULL.
 */
fab_status fab_fail(fab_error *err, fab_status code, const char *where, const char *fmt, ...) FAB_PRINTF(4, 5);

/** The error of a call that had one of its own becomes that of this one. FAB_OK where `status` is. */
fab_status fab_fail_as(fab_error *err, fab_status status, const fab_error *why);

/** fab_fail() with FAB_EINPUT at a place of a file; line and column from 1, column 0: the line. */
fab_status fab_fail_in_file(fab_error *err, const char *path, size_t line, size_t column, const char *fmt, ...)
    FAB_PRINTF(5, 6);

/** Short name of a status ("input error"). Never NULL. */
const char *fab_status_name(fab_status status);

/** `return FAB_GIVE(*out, made);`: the caller owns it from now on; what gave it is empty, so nothing is released. */
#define FAB_GIVE(to, made) ((to) = (made), (made) = (__typeof__(made)){0}, FAB_OK)

/** Room for a number or a quantity as text, as the functions that make one need it: until the block around it ends. */
#define FAB_ROOM ((char[40]){""})

/** The number of elements of an array, none of a pointer. */
#define FAB_N_OF(array) (sizeof(array) / sizeof *(array))

/** `FAB_EACH(const fab_node, node, nodes, n) {`: a loop over the elements of an array, which stays where it is. */
#define FAB_EACH(type, each, list, n)                                                                                  \
    for (type *each = (list), *const each##_end = (n) > 0 ? each + (n) : each; each != each##_end; each++)

/** `FAB_EACH_RUN(uint32_t, i, next, n, list[next].key == list[i].key) {`: a loop over the runs [i, next) of elements of
 * a sorted array that belong together. */
#define FAB_EACH_RUN(type, i, next, n, ...)                                                                            \
    for (type i = 0, next = 1, i##_in = 0; i##_in == 0 && i < (n);)                                                    \
        if (next < (n) && (__VA_ARGS__)) {                                                                             \
            next++;                                                                                                    \
        } else                                                                                                         \
            for (i##_in = 1; i##_in != 0; i##_in = 0, i = next, next = i + 1)

/** `FAB_FIRST(i, n, list[i].key == key);` declares i: the first below n for which that holds, or n. `_IN`: of those
 * from `from` on; so are the next. */
#define FAB_FIRST(i, n, ...) FAB_FIRST_IN(i, 0, n, __VA_ARGS__)
#define FAB_FIRST_IN(i, from, n, ...)                                                                                  \
    __typeof__((n) + 0) i = (from);                                                                                    \
    while (i < (n) && !(__VA_ARGS__)) {                                                                                \
        i++;                                                                                                           \
    }

/** `FAB_ANY(has_key, i, n, list[i].key == key);` declares has_key: whether that holds for an i below n. FAB_ALL: for
 * every one. */
#define FAB_ANY(any, i, n, ...) FAB_ANY_IN(any, i, 0, n, __VA_ARGS__)
#define FAB_ANY_IN(any, i, from, n, ...)                                                                               \
    bool any = false;                                                                                                  \
    for (__typeof__((n) + 0) i = (from); !any && i < (n); i++) {                                                       \
        any = (__VA_ARGS__);                                                                                           \
    }
#define FAB_ALL(all, i, n, ...) FAB_ALL_IN(all, i, 0, n, __VA_ARGS__)
#define FAB_ALL_IN(all, i, from, n, ...)                                                                               \
    bool all = true;                                                                                                   \
    for (__typeof__((n) + 0) i = (from); all && i < (n); i++) {                                                        \
        all = (__VA_ARGS__);                                                                                           \
    }

/** `FAB_SUM(double, sum_s, i, n, list[i].time_s);` declares sum_s: the sum of that of every i below n. */
#define FAB_SUM(type, sum, i, n, ...) FAB_SUM_IN(type, sum, i, 0, n, __VA_ARGS__)
#define FAB_SUM_IN(type, sum, i, from, n, ...)                                                                         \
    type sum = 0;                                                                                                      \
    for (__typeof__((n) + 0) i = (from); i < (n); i++) {                                                               \
        sum += (__VA_ARGS__);                                                                                          \
    }

/** `FAB_MOST(double, most_s, i, n, list[i].time_s);` declares most_s: the largest of that, at least 0. */
#define FAB_MOST(type, most, i, n, ...)                                                                                \
    type most = 0;                                                                                                     \
    for (__typeof__((n) + 0) i = 0; i < (n); i++) {                                                                    \
        type most##_one = (__VA_ARGS__);                                                                               \
        most = most##_one > most ? most##_one : most;                                                                  \
    }

/** `FAB_BEST(worst, i, n, time_s[i] > time_s[worst]);` declares worst: the first below n that no other one beats. */
#define FAB_BEST(best, i, n, ...)                                                                                      \
    __typeof__((n) + 0) best = 0;                                                                                      \
    for (__typeof__((n) + 0) i = 1; i < (n); i++) {                                                                    \
        best = (__VA_ARGS__) ? i : best;                                                                               \
    }

/** `FAB_FORMAT(out->name, "leaf-%u", number);`: what printf makes of it, cut where the array of characters ends. */
#define FAB_FORMAT(array, ...) (void)snprintf((array), sizeof(array), __VA_ARGS__)

/** Leaves the function through its `done:` label when `call` fails: where what is released is no variable of its own.
 * Needs a `fab_status status` in scope. */
#define FAB_TRY(call)                                                                                                  \
    do {                                                                                                               \
        status = (call);                                                                                               \
        if (status != FAB_OK) {                                                                                        \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)

/** Returns from a function when `call` fails; what it owns is released (FAB_OWNS). */
#define FAB_PASS(call)                                                                                                 \
    do {                                                                                                               \
        fab_status fab_passed = (call);                                                                                \
        if (fab_passed != FAB_OK) {                                                                                    \
            return fab_passed;                                                                                         \
        }                                                                                                              \
    } while (0)

/** A check: where `condition` holds, returns fab_fail() of what follows; nothing is there to release. */
#define FAB_REFUSE_IF(condition, ...)                                                                                  \
    do {                                                                                                               \
        if (condition) {                                                                                               \
            return fab_fail(__VA_ARGS__);                                                                              \
        }                                                                                                              \
    } while (0)

/** A check like FAB_REFUSE_IF() whose refusal is told by a call that knows the place: a file's line, a table's row. */
#define FAB_RETURN_IF(condition, call)                                                                                 \
    do {                                                                                                               \
        if (condition) {                                                                                               \
            return (call);                                                                                             \
        }                                                                                                              \
    } while (0)

/** Like FAB_TRY, for an error that is found here. */
#define FAB_FAIL(...)                                                                                                  \
    do {                                                                                                               \
        status = fab_fail(__VA_ARGS__);                                                                                \
        goto done;                                                                                                     \
    } while (0)

/** A check like FAB_REFUSE_IF() in a function that leaves through `done:`. */
#define FAB_FAIL_IF(condition, ...)                                                                                    \
    do {                                                                                                               \
        if (condition) {                                                                                               \
            FAB_FAIL(__VA_ARGS__);                                                                                     \
        }                                                                                                              \
    } while (0)
