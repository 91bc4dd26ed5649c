/**
 * How rows of the table of result fields are written. Every file defines T, the struct whose members they name. What a
 * row has beyond its definition follows it: `FIELD(rounds, "Sentence.", IF(has_rounds), .labels = "turns")`.
 */
#pragma once

#include "result_field.h"

#define MEMBER(member) ((T *)0)->member
#define AT(member)     .at = offsetof(T, member)
/* clang-format off */
#define TYPE_OF(expression)                                                                                            \
    _Generic(&(expression), bool *: FAB_FIELD_BOOL, const bool *: FAB_FIELD_BOOL, uint32_t *: FAB_FIELD_U32,           \
             const uint32_t *: FAB_FIELD_U32, uint64_t *: FAB_FIELD_COUNT, const uint64_t *: FAB_FIELD_COUNT,          \
             double *: FAB_FIELD_REAL, const double *: FAB_FIELD_REAL, fab_stat *: FAB_FIELD_STAT,                     \
             char **: FAB_FIELD_TEXT, const char **: FAB_FIELD_TEXT, default: SIZE_OR_CHARS(expression))
/* A size_t that is neither of the types of fixed size, as on WebAssembly. */
#if SIZE_MAX == UINT32_MAX
#define SIZE_TYPE FAB_FIELD_U32
#else
#define SIZE_TYPE FAB_FIELD_COUNT
#endif
#define SIZE_OR_CHARS(expression)                                                                                      \
    _Generic(&(expression), size_t *: SIZE_TYPE, const size_t *: SIZE_TYPE, default: FAB_FIELD_CHARS)

/* A count, a ratio, a truth, a text; a figure with a unit. Of a member of the same name, or of another. */
#define FIELD(key_, ...)                   FIELD_OF(key_, key_, __VA_ARGS__)
#define FIGURE(key_, unit_, ...)           FIGURE_OF(key_, key_, unit_, __VA_ARGS__)
#define FIELD_OF(key_, member, ...)                                                                                    \
    {.key = #key_, .type = TYPE_OF(MEMBER(member)), AT(member), .definition = __VA_ARGS__}
#define FIGURE_OF(key_, member, unit_, ...)                                                                            \
    {.key = #key_, .type = TYPE_OF(MEMBER(member)), AT(member), .unit = unit_, .definition = __VA_ARGS__}
/* The index of an element, shown from 1. */
#define PLACE(key_, member, ...)                                                                                       \
    {.key = #key_, .type = TYPE_OF(MEMBER(member)), AT(member), .is_index = true, .definition = __VA_ARGS__}
/* An enum, shown by its names; all that a text may be. */
#define NAMED(key_, member, names_, ...)                                                                               \
    {.key = #key_, .type = FAB_FIELD_NAME, AT(member), ONE_OF(names_), .definition = __VA_ARGS__}
#define NAMED_OF(key_, member, names_, n_, ...)                                                                        \
    {.key = #key_, .type = FAB_FIELD_NAME, AT(member), .names = names_, .n_names = n_, .definition = __VA_ARGS__}
#define ONE_OF(names_)                     .names = names_, .n_names = sizeof(names_) / sizeof *(names_)
/* What a function gives. */
#define COUNT_BY(key_, function, ...)                                                                                  \
    {.key = #key_, .type = FAB_FIELD_COUNT, .get.count = function, .definition = __VA_ARGS__}
#define TEXT_BY(key_, function, ...)                                                                                   \
    {.key = #key_, .type = FAB_FIELD_TEXT, .get.text = function, .definition = __VA_ARGS__}
/* A text that the function makes in the room it gets. */
#define TEXT_MADE(key_, function, ...)                                                                               \
    {.key = #key_, .type = FAB_FIELD_TEXT, .make = function, .definition = __VA_ARGS__}
#define TRUTH_BY(key_, function, ...)                                                                                  \
    {.key = #key_, .type = FAB_FIELD_BOOL, .get.truth = function, .definition = __VA_ARGS__}
#define REAL_BY(key_, function, unit_, ...)                                                                            \
    {.key = #key_, .type = FAB_FIELD_REAL, .get.real = function, .unit = unit_, .definition = __VA_ARGS__}
/* Element `at->index` of one of several parallel arrays; `first` is [0], or [2].member. */
#define COLUMN(key_, array, first, unit_, ...)                                                                         \
    {.key = #key_, .type = TYPE_OF(MEMBER(array first)), AT(array first), .stride = sizeof(MEMBER(array)[0]),          \
     .unit = unit_, .definition = __VA_ARGS__}

/* Structs: a member, one that a pointer leads to (not there where it is NULL), the same struct seen once more, or what
 * a function finds. */
#define OBJECT(key_, member, table_, ...)                                                                              \
    {.key = #key_, .type = FAB_FIELD_OBJECT, AT(member), .table = table_, .definition = __VA_ARGS__}
#define SAME_ROW(key_, table_, ...)                                                                                    \
    {.key = #key_, .type = FAB_FIELD_OBJECT, .table = table_, .definition = __VA_ARGS__}
#define POINTED(key_, member, table_, ...)                                                                             \
    {.key = #key_, .type = FAB_FIELD_OBJECT, AT(member), .is_pointer = true, .when = FAB_FILLED, .table = table_,      \
     .definition = __VA_ARGS__}
#define OBJECT_BY(key_, function, table_, ...)                                                                         \
    {.key = #key_, .type = FAB_FIELD_OBJECT, .get.rows = function, .when = FAB_FILLED, .table = table_,                \
     .definition = __VA_ARGS__}
/* Rows of another table among these: of a member, of this struct, or of one that a function finds. */
#define GROUP(member, ...)                 {.type = FAB_FIELD_GROUP, AT(member), .table = __VA_ARGS__}
#define GROUP_HERE(...)                    {.type = FAB_FIELD_GROUP, .table = __VA_ARGS__}
#define GROUP_BY(function, ...)            {.type = FAB_FIELD_GROUP, .get.rows = function, .table = __VA_ARGS__}

/* Lists of structs: behind a pointer, within the struct, or what functions find. */
#define COUNTED(count)                     .n_type = TYPE_OF(MEMBER(count)), .n_at = offsetof(T, count)
#define LIST(key_, item_, member, count, table_, ...)                                                                  \
    {.key = #key_, .type = FAB_FIELD_LIST, .item = item_, AT(member), .is_pointer = true, COUNTED(count),              \
     .table = table_, .definition = __VA_ARGS__}
#define LIST_OF(key_, item_, member, n_, table_, ...)                                                                  \
    {.key = #key_, .type = FAB_FIELD_LIST, .item = item_, AT(member), .is_pointer = true, .n = n_, .table = table_,    \
     .definition = __VA_ARGS__}
#define ARRAY(key_, item_, member, count, table_, ...)                                                                 \
    {.key = #key_, .type = FAB_FIELD_LIST, .item = item_, AT(member), COUNTED(count), .table = table_,                 \
     .definition = __VA_ARGS__}
#define LIST_BY(key_, item_, rows_, n_, table_, ...)                                                                   \
    {.key = #key_, .type = FAB_FIELD_LIST, .item = item_, .get.rows = rows_, .n = n_, .table = table_,                 \
     .definition = __VA_ARGS__}
/* Lists of scalars, within the struct or found by a function: COUNTED(member), `.n`, else `.high` says how many. */
#define SCALARS(key_, item_, member, ...)                                                                              \
    {.key = #key_, .type = FAB_FIELD_LIST, .item = item_, .item_type = TYPE_OF(MEMBER(member)[0]), AT(member),         \
     .stride = sizeof(MEMBER(member)[0]), .definition = __VA_ARGS__}
#define SCALARS_BY(key_, item_, type_, rows_, ...)                                                                     \
    {.key = #key_, .type = FAB_FIELD_LIST, .item = item_, .item_type = TYPE_OF(*(type_ *)0), .stride = sizeof(type_),  \
     .get.rows = rows_, .definition = __VA_ARGS__}

#define FILLED     .when = FAB_FILLED
#define KNOWN      .when = FAB_KNOWN
#define SIGNED     .is_signed = true
#define IF(member) .if_type = TYPE_OF(MEMBER(member)), .if_at = offsetof(T, member)
#define EXACTLY(n) .low = (n), .high = (n)

/* A table of rows of struct T; a view has elements that stand for the struct around them, told apart by index. */
#define TABLE(name_, rows_, ...)                                                                                       \
    {.name = name_, .rows = rows_, .n = sizeof(rows_) / sizeof *(rows_), .size = sizeof(T), .source = __VA_ARGS__}
#define VIEW(name_, rows_, ...)                                                                                        \
    {.name = name_, .rows = rows_, .n = sizeof(rows_) / sizeof *(rows_), .source = __VA_ARGS__}

/* A function of a row: `here` is the struct, `at` where it stands. */
#define GIVES(type_, name_, expression)                                                                                \
    static type_ name_(const fab_at *at) {                                                                             \
        const T *here = at->row;                                                                                       \
        (void)here;                                                                                                    \
        return expression;                                                                                             \
    }                                                                                                                  \
    struct fab_at
/* clang-format on */
