/** JSON [RFC 8259] as a flat array of values, read by Jansson. Strict: one value, no comments, no key twice. */
#pragma once

#include "fab/base.h"

#define FAB_JSON_NONE UINT32_MAX

typedef enum fab_json_kind {
    FAB_JSON_NULL,
    FAB_JSON_BOOL,
    FAB_JSON_NUMBER,
    FAB_JSON_STRING,
    FAB_JSON_ARRAY,
    FAB_JSON_OBJECT
} fab_json_kind;

typedef struct fab_json_value {
    fab_json_kind kind;
    const char *key;      /**< of a member, else NULL */
    const char *text;     /**< of a string */
    double number;        /**< of a number; of a truth 0 or 1 */
    uint32_t first, next; /**< its first element or member, and the one behind it; FAB_JSON_NONE */
} fab_json_value;

typedef struct fab_json {
    fab_json_value *values; /**< [0]: the whole */
    uint32_t n;
    void *root;     /**< Jansson's, what keys and strings point into */
    void *document; /**< libyaml's, likewise */
} fab_json;

/**
 * @param[in]  where  Name of the file, for messages.
 * @param[out] out    Release with fab_json_release(). Written on success only.
 * @retval FAB_EINPUT  where:line:column, what is wrong; or more than 64 levels
 * Complexity: O(bytes).
 */
FAB_STATUS fab_json_parse(const char *text, const char *where, fab_json *out, fab_error *err);
void fab_json_release(fab_json *json);

/**
 * The same of YAML 1.1, read by libyaml: its first document. Every scalar is a text, but for null; a value that an
 * alias stands for is there as often as it is named.
 * @retval FAB_EINPUT  where:line:column, what is wrong; more than 64 levels; or aliases that stand for too much
 * Complexity: O(bytes + values).
 */
FAB_STATUS fab_yaml_parse(const char *text, const char *where, fab_json *out, fab_error *err);
/** Of fab_json_release(). */
void fab_yaml_release(void *document);

/** Member of an object; FAB_JSON_NONE: it has none of this name, or `object` is no object. O(members). */
uint32_t fab_json_member(const fab_json *json, uint32_t object, const char *key);

/** The first of them; FAB_JSON_NONE: there is none, or no list. */
static inline uint32_t fab_json_first(const fab_json *json, uint32_t list) {
    return list < json->n ? json->values[list].first : FAB_JSON_NONE;
}

/** Loops over the elements of a list, or the members of an object: FAB_JSON_EACH(json, i, list) { ... } */
#define FAB_JSON_EACH(json, i, list)                                                                                   \
    for (uint32_t i = fab_json_first(json, list); i != FAB_JSON_NONE; i = (json)->values[i].next)

/** Elements of a list, members of an object. O(elements). */
size_t fab_json_count(const fab_json *json, uint32_t list);

/** A member that is a number, a truth or a text; `missing` where it is none. */
double fab_json_number_of(const fab_json *json, uint32_t object, const char *key, double missing);
const char *fab_json_text_of(const fab_json *json, uint32_t object, const char *key, const char *missing);
