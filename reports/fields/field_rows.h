/**
 * @file field_rows.h
 * How rows of the table of result fields are written. Every file defines T, the struct whose members they name. What a
 * row has beyond its definition follows it: `FIELD(rounds, n_rounds, "Sentence.", IF(has_rounds), .labels = "turns")`.
 */
#ifndef FAB_FIELD_ROWS_H
#define FAB_FIELD_ROWS_H

#include "result_field.h"

#include <stddef.h>

#define FIELD_TYPE_OF(expression)                                                                                      \
    _Generic(&(expression),                                                                                            \
        bool *: FAB_FIELD_BOOL,                                                                                        \
        const bool *: FAB_FIELD_BOOL,                                                                                  \
        uint32_t *: FAB_FIELD_U32,                                                                                     \
        const uint32_t *: FAB_FIELD_U32,                                                                               \
        uint64_t *: FAB_FIELD_COUNT,                                                                                   \
        const uint64_t *: FAB_FIELD_COUNT,                                                                             \
        double *: FAB_FIELD_REAL,                                                                                      \
        const double *: FAB_FIELD_REAL,                                                                                \
        fab_stat *: FAB_FIELD_STAT,                                                                                    \
        char **: FAB_FIELD_TEXT,                                                                                       \
        const char **: FAB_FIELD_TEXT,                                                                                 \
        default: FAB_FIELD_CHARS)
#define MEMBER(member) ((T *)0)->member
#define WHERE(member)  .type = FIELD_TYPE_OF(MEMBER(member)), .at = offsetof(T, member)

/* A count, a ratio, a truth, a text; a figure with a unit. */
#define FIELD(key_, member, ...)                                                                                       \
    { .key = #key_, WHERE(member), .definition = __VA_ARGS__ }
#define FIGURE(key_, member, unit_, ...)                                                                               \
    { .key = #key_, WHERE(member), .unit = unit_, .definition = __VA_ARGS__ }
/* An enum, or a text of which there are few; `names_` an array of texts. */
#define NAMED(key_, member, names_, ...)                                                                               \
    {                                                                                                                  \
        .key = #key_, .type = FAB_FIELD_NAME, .at = offsetof(T, member), .names = names_,                              \
        .n_names = sizeof(names_) / sizeof *(names_), .definition = __VA_ARGS__                                        \
    }
#define ONE_OF(names_) .names = names_, .n_names = sizeof(names_) / sizeof *(names_)
/* What a function gives. */
#define COUNT_BY(key_, function, ...)                                                                                  \
    { .key = #key_, .type = FAB_FIELD_COUNT, .get.count = function, .definition = __VA_ARGS__ }
#define TEXT_BY(key_, function, ...)                                                                                   \
    { .key = #key_, .type = FAB_FIELD_TEXT, .get.text = function, .definition = __VA_ARGS__ }
#define TRUTH_BY(key_, function, ...)                                                                                  \
    { .key = #key_, .type = FAB_FIELD_BOOL, .get.truth = function, .definition = __VA_ARGS__ }
#define REAL_BY(key_, function, unit_, ...)                                                                            \
    { .key = #key_, .type = FAB_FIELD_REAL, .get.real = function, .unit = unit_, .definition = __VA_ARGS__ }
/* Element `at->index` of one of several parallel arrays; `first` is [0], or [2].member. */
#define COLUMN(key_, array, first, unit_, ...)                                                                         \
    { .key = #key_, WHERE(array first), .stride = sizeof(MEMBER(array)[0]), .unit = unit_, .definition = __VA_ARGS__ }

/* Structs: a member, one that a pointer leads to (not there where it is NULL), the same struct seen once more, or what
 * a function finds. */
#define OBJECT(key_, member, table_, ...)                                                                              \
    { .key = #key_, .type = FAB_FIELD_OBJECT, .at = offsetof(T, member), .table = table_, .definition = __VA_ARGS__ }
#define POINTED(key_, member, table_, ...)                                                                             \
    {                                                                                                                  \
        .key = #key_, .type = FAB_FIELD_OBJECT, .at = offsetof(T, member), .is_pointer = true, .when = FAB_FILLED,     \
        .table = table_, .definition = __VA_ARGS__                                                                     \
    }
#define SAME_ROW(key_, table_, ...)                                                                                    \
    { .key = #key_, .type = FAB_FIELD_OBJECT, .table = table_, .definition = __VA_ARGS__ }
#define OBJECT_BY(key_, function, table_, ...)                                                                         \
    {                                                                                                                  \
        .key = #key_, .type = FAB_FIELD_OBJECT, .get.rows = function, .when = FAB_FILLED, .table = table_,             \
        .definition = __VA_ARGS__                                                                                      \
    }
#define GROUP(member, ...)                                                                                             \
    { .type = FAB_FIELD_GROUP, .at = offsetof(T, member), .table = __VA_ARGS__ }
#define GROUP_HERE(...)                                                                                                \
    { .type = FAB_FIELD_GROUP, .table = __VA_ARGS__ }

/* Lists of structs: behind a pointer, within the struct, or what functions find. */
#define LIST(key_, item_, member, count, table_, ...)                                                                  \
    {                                                                                                                  \
        .key = #key_, .type = FAB_FIELD_LIST, .item = item_, .at = offsetof(T, member), .is_pointer = true,            \
        .n_type = FIELD_TYPE_OF(MEMBER(count)), .n_at = offsetof(T, count), .table = table_, .definition = __VA_ARGS__ \
    }
#define ARRAY(key_, item_, member, count, table_, ...)                                                                 \
    {                                                                                                                  \
        .key = #key_, .type = FAB_FIELD_LIST, .item = item_, .at = offsetof(T, member),                                \
        .n_type = FIELD_TYPE_OF(MEMBER(count)), .n_at = offsetof(T, count), .table = table_, .definition = __VA_ARGS__ \
    }
#define LIST_BY(key_, item_, rows_, n_, table_, ...)                                                                   \
    {                                                                                                                  \
        .key = #key_, .type = FAB_FIELD_LIST, .item = item_, .get.rows = rows_, .n = n_, .table = table_,              \
        .definition = __VA_ARGS__                                                                                      \
    }
/* Lists of scalars, within the struct or found by functions; `n_` NULL: `.low` and `.high` say how many. */
#define SCALARS(key_, item_, member, n_, ...)                                                                          \
    {                                                                                                                  \
        .key = #key_, .type = FAB_FIELD_LIST, .item = item_, .item_type = FIELD_TYPE_OF(MEMBER(member)[0]),            \
        .at = offsetof(T, member), .stride = sizeof(MEMBER(member)[0]), .n = n_, .definition = __VA_ARGS__             \
    }
#define SCALARS_BY(key_, item_, type_, rows_, n_, ...)                                                                 \
    {                                                                                                                  \
        .key = #key_, .type = FAB_FIELD_LIST, .item = item_, .item_type = FIELD_TYPE_OF(*(type_ *)0),                  \
        .stride = sizeof(type_), .get.rows = rows_, .n = n_, .definition = __VA_ARGS__                                 \
    }

#define IF(member) .if_type = FIELD_TYPE_OF(MEMBER(member)), .if_at = offsetof(T, member)
#define EXACTLY(n) .low = (n), .high = (n)

#define END_OF_FIELDS                                                                                                  \
    { .key = NULL }

#endif
