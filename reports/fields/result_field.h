/**
 * The table of result fields: what a field is called, where it stands in the structs, its unit, what it means and when
 * it is there. The walk over a result (data/result_walk.h), both schemas and `fabriscope explain` read nothing else.
 * Rows are written with the macros of field_rows.h; reports/fields/README.md says how to add one.
 */
#pragma once

#include "fab/result.h"

/** How a member is stored, or what a function gives. */
typedef enum fab_field_type {
    FAB_FIELD_NONE,
    FAB_FIELD_BOOL,
    FAB_FIELD_U32,
    FAB_FIELD_COUNT, /**< uint64_t or size_t */
    FAB_FIELD_REAL,
    FAB_FIELD_TEXT,   /**< a pointer; NULL is "" */
    FAB_FIELD_CHARS,  /**< an array */
    FAB_FIELD_NAME,   /**< an enum, shown by its name */
    FAB_FIELD_STAT,   /**< fab_stat: a number, over several seeds an object */
    FAB_FIELD_OBJECT, /**< another struct */
    FAB_FIELD_LIST,   /**< of structs, or of scalars where there is no table */
    FAB_FIELD_GROUP   /**< rows of another table that stand among those of this one */
} fab_field_type;

typedef enum fab_field_when {
    FAB_ALWAYS,
    FAB_FILLED, /**< a text or list that is not empty, a number above 0, a pointer that is not NULL */
    FAB_KNOWN   /**< a number that is no NAN */
} fab_field_when;

/** What the walk is at: a struct, and those around it. */
typedef struct fab_at {
    const void *row;
    size_t index;            /**< among the elements of its list */
    const struct fab_at *up; /**< NULL: this is the fab_result */
} fab_at;

#define FAB_FIELD_ROOM FAB_LINK_NAME_SIZE /**< of a text that is made */

/** What a field holds in one place. Texts are borrowed. */
typedef struct fab_value {
    fab_field_type type; /**< BOOL, COUNT, REAL, TEXT or STAT */
    bool truth;
    uint64_t count;
    double real;
    const char *text;
    fab_stat stat;
    char room[FAB_FIELD_ROOM];
} fab_value;

typedef struct fab_field {
    const char *key; /**< as JSON calls it; NULL: of a group, or of what a list of scalars holds */
    fab_field_type type;
    fab_field_type item_type; /**< of a list of scalars */
    size_t at;                /**< offset of the member */
    size_t stride;            /**< of elements: a list of scalars, or a column of parallel arrays */
    const char *unit;         /**< NULL: a count, a ratio, no number; FAB_UNIT_AROUND: that of the object around */
    const char *definition;   /**< sentences */
    const char *formula, *source, *labels; /**< labels: words that reports print for it, separated by "|" */
    union {
        bool (*truth)(const fab_at *at);
        uint64_t (*count)(const fab_at *at);
        double (*real)(const fab_at *at);
        const char *(*text)(const fab_at *at);
        const void *(*rows)(const fab_at *at);         /**< an object, or the first element; NULL: not there */
    } get;                                             /**< instead of the member */
    const char *(*make)(const fab_at *at, char *room); /**< of a text that needs FAB_FIELD_ROOM bytes */
    /* Conditions; all hold. */
    fab_field_when when;
    fab_field_type if_type; /**< NONE: none; the member at if_at is true, or above 0 */
    size_t if_at;
    bool (*only)(const fab_at *at);
    /* Of objects, lists and groups. */
    const struct fab_fields *table, *other; /**< other: of elements where `is_other` says so */
    bool (*is_other)(const fab_at *at);
    const char *item; /**< what XML calls an element */
    bool is_pointer;  /**< the member points at the struct, or at the first element */
    size_t n_at;
    fab_field_type n_type; /**< NONE: by the function, else exactly `high` */
    size_t (*n)(const fab_at *at);
    /* Of values. */
    const char *const *names; /**< all that are allowed, or those of the enum's values */
    size_t n_names;
    bool is_signed;   /**< may be below 0 */
    bool is_index;    /**< a count from 0, which is shown from 1 */
    double scale;     /**< 0: as it is stored */
    double low, high; /**< least and most, of lists the number of elements; high 0: none */
} fab_field;

#define FAB_UNIT_AROUND ""

typedef struct fab_fields {
    const char *name; /**< as the schemas call it */
    const fab_field *rows;
    size_t n;
    size_t size;            /**< of the struct; 0: elements stand for the struct around them, told apart by index */
    const char *definition; /**< NULL: what the field says that shows it */
    const char *source;     /**< of fields that name none */
    bool is_small;          /**< one line, wherever it stands */
    bool (*is_left_out)(const fab_at *at); /**< an element of a list that is not shown; NULL: all are */
    bool (*many)(const fab_at *at);        /**< FAB_FIELD_STAT fields are of several seeds */
} fab_fields;

extern const fab_fields fab_result_fields, fab_stat_fields;

/** The fab_result. */
static inline const fab_result *fab_at_result(const fab_at *at) {
    while (at->up != NULL) {
        at = at->up;
    }
    return at->row;
}

/** Whether the schemas must have it. */
bool fab_field_is_required(const fab_field *field);

/** A value and nothing around it, as an XML attribute is: no list, object or distribution. */
static inline bool fab_field_is_scalar(const fab_field *field) {
    return field->type >= FAB_FIELD_BOOL && field->type <= FAB_FIELD_NAME;
}

static inline bool fab_field_is_text(fab_field_type type) {
    return type >= FAB_FIELD_TEXT && type <= FAB_FIELD_NAME;
}

/** Places of all tables but groups, in the order of a report; recursion stops at what was seen. */
typedef struct fab_fields_place {
    const fab_fields *table;
    char path[96]; /**< "phases.engines", of the first place; "" of the report */
} fab_fields_place;
#define FAB_FIELDS_MOST 192
size_t fab_fields_list(fab_fields_place out[FAB_FIELDS_MOST]);

/** "run", and what it is about: a design, or a file; NULL where there is none. */
const char *fab_result_command(const fab_result *result);
const char *fab_result_design(const fab_result *result);
