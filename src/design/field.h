/**
 * A field is a row of a table: key, kind, place in a struct, limits, default, summary. Reading, writing, describing,
 * the XML Schema and the help all work from these rows; nothing else in this folder knows a key by name without need.
 */
#pragma once

#include "fab/str.h"
#include "fab/units.h"

/** What a value looks like and what type it has in the struct. */
typedef enum field_kind {
    FIELD_TEXT,     /**< char[size]: any printable text, blanks collapsed */
    FIELD_WORD,     /**< char[size]: letters, digits and . _ - only */
    FIELD_LIST,     /**< char[size]: digits and , ; : - only */
    FIELD_SERVERS,  /**< fab_list_ref: such a list, whose text the design has */
    FIELD_SHAPE,    /**< a struct that `shape` reads from such a list; all zero where it is empty */
    FIELD_CHOICE,   /**< an enum: index of one of `choices` */
    FIELD_COUNT,    /**< uint64_t */
    FIELD_QUANTITY, /**< double, with `unit` */
    FIELD_DECIMAL,  /**< double, a plain number */
    FIELD_FLAG,     /**< bool: yes or no */
} field_kind;

/** Which struct the offset counts from. */
typedef enum field_scope {
    SCOPE_DESIGN,    /**< fab_design */
    SCOPE_FABRIC,    /**< fab_fabric_spec */
    SCOPE_FRONT_END, /**< fab_fabric_spec, of the front-end alone */
    SCOPE_TIER,      /**< fab_tier_spec, one per tier */
    SCOPE_JOB,       /**< fab_job_spec */
    SCOPE_ENGINE,    /**< fab_engine_spec */
    SCOPE_PRICES,    /**< fab_design: attribute of its <prices> */
    SCOPE_FLOOR,     /**< fab_floor_spec */
    SCOPE_FAILURES,  /**< fab_failure_spec */
    SCOPE_BOOK,      /**< fab_prices: see prices.c */
} field_scope;

/** How a struct is read from digits and , ; : -, and written so that it reads back. */
typedef struct field_shape {
    fab_status (*parse)(const char *text, void *out, fab_error *err);
    void (*format)(const void *shape, fab_str *out); /**< nothing where it is not given */
} field_shape;

typedef struct field {
    field_scope scope;
    const char *key;
    field_kind kind;
    fab_unit unit;              /**< of FIELD_QUANTITY */
    size_t offset, size;        /**< place in the struct; size of a char array */
    double min, max;            /**< inclusive */
    bool automatic;             /**< "auto" is accepted and stored as 0 */
    const char *initial;        /**< default as text; a list for tiers; NULL: zero or empty */
    const char *const *choices; /**< of FIELD_CHOICE, by value, ended by NULL; an empty one cannot be said */
    const field_shape *shape;   /**< of FIELD_SHAPE */
    const char *summary;
} field;

/**
 * Reads `text` into the struct at `base`.
 * @retval FAB_EINPUT  with `where`; the message starts with the key and names the value and what is allowed.
 */
FAB_STATUS field_set(const field *f, void *base, const char *text, const char *where, fab_error *err);

/** Whether `text` is digits and , ; : - only: what may be in a list. */
FAB_STATUS field_check_list(const field *f, const char *text, const char *where, fab_error *err);

/** Appends the value as text that field_set reads back. */
void field_format(const field *f, const void *base, fab_str *out);

/** Whether the value is what `initial` says: such a field is no part of the canonical text. */
bool field_is_default(const field *f, const void *base);

/** Most characters of a text, a word, a list or a shape. */
size_t field_most_characters(const field *f);

/** What a value looks like: "400Gb/s or 50GB/s", "full, selective, none", "1 to 64 or auto". `out`: 128 bytes.
 */
const char *field_example(const field *f, char *out);

/** Of fab_convention, ended by NULL; the first is empty. */
extern const char *const convention_names[];

/** True when `text` is made of letters, digits and . _ - and begins with a letter, digit or _. */
bool field_is_word(const char *text);

/** End of the item of a list at `text`: a slash, but not that of "b/s", or the NUL. */
const char *field_item_end(const char *text);
