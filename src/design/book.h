/**
 * Price books, catalogs, GPUs and published figures: XML files, built in or the user's own. A kind of file is a table
 * of elements, whose attributes are fields; one reader and one schema for all.
 */
#pragma once

#include "fab/builtin.h"
#include "fab/xml_reader.h"
#include "field.h"

/** Whether an attribute has to be given, or a text inside. No price and no power is guessed: of those of an element one
 * at least is given. */
typedef enum book_need { BOOK_REQUIRED, BOOK_OPTIONAL, BOOK_PRICE, BOOK_POWER, BOOK_N_NEEDS } book_need;

typedef struct book_field {
    book_need need;
    field field; /**< offset from the start of the row */
} book_field;

/** What a file is read into; begins with the values, zero at first. Passed on to `finish`. */
typedef struct book_element {
    const char *name, *inside; /**< inside NULL: the root, which stands first */
    const char *summary;       /**< for the schema; NULL: nothing */
    const book_field *fields;  /**< ended by one without key; NULL: none */
    bool is_text;              /**< the only field is the text inside */
    bool may_miss;             /**< need not be there */
    size_t max;                /**< how often it may stand inside its parent */
    size_t offset, stride;     /**< of its rows in what is read; stride 0: every time the same place */
    size_t count_offset;       /**< of the number of rows, where there is a stride */
    /** Takes what was read of the element and of those inside it. NULL: nothing to do. */
    fab_status (*finish)(void *book, const char *file, const fab_xml_element *at, fab_error *err);
} book_element;

typedef struct book_kind {
    const char *noun;          /**< "price book" */
    const char *about;         /**< documentation of the schema */
    const char *prefix;        /**< before the name of a built-in one, in messages: "prices:" */
    const char *unknown;       /**< "unknown price profile" */
    fab_status unknown_status; /**< of a name that is none */
    const fab_builtin *builtins;
    const book_element *elements; /**< the root first */
    size_t n_elements;            /**< at most BOOK_MAX_ELEMENTS */
} book_kind;

#define BOOK_MAX_ELEMENTS 16

/* clang-format off */
#define BOOK_PLACE(type, member) offsetof(type, member), sizeof(((type *)0)->member)
#define BOOK_TEXT(need, key, kind, type, member, initial, summary) \
    {need, {SCOPE_BOOK, key, kind, FAB_UNIT_COUNT, BOOK_PLACE(type, member), 0, 0, false, initial, NULL, NULL, summary}}
#define BOOK_CHOICE(need, key, type, member, choices, summary) \
    {need, {SCOPE_BOOK, key, FIELD_CHOICE, FAB_UNIT_COUNT, BOOK_PLACE(type, member), 0, 0, false, NULL, choices, NULL, summary}}
/** A count, a quantity or a plain number. */
#define BOOK_NUMBER(need, key, kind, unit, type, member, min, max, initial, summary) \
    {need, {SCOPE_BOOK, key, kind, unit, BOOK_PLACE(type, member), min, max, false, initial, NULL, NULL, summary}}
#define BOOK_END {BOOK_OPTIONAL, {.key = NULL}}
/* clang-format on */

/** Whether a text names a file: it contains '/' or ends in .xml. */
bool book_is_file(const char *text);

/**
 * Reads a built-in file by name, or a file.
 * @param[in]     where  Place of `text`, for an unknown name; may be NULL.
 * @param[in,out] book   What the offsets count from.
 * @retval FAB_EINPUT  err->where is file:line:column
 * @retval kind->unknown_status  there is no such name; the message offers near ones
 */
FAB_STATUS book_read(const book_kind *kind, const char *text, const char *where, void *book, fab_error *err);

/** Appends the XML Schema of such files. */
void book_schema(const book_kind *kind, fab_str *out);
