/* Jansson reads; what it holds is listed in one array in the order of the text, so that no type of its leaves this
 * file. */
#include "fab/json_read.h"

#include <jansson.h>

#define DEPTH 64

/* Jansson calls a text wrong where memory fails within a token: what failed is noted here. */
static _Thread_local bool json_starved;

static void *json_allocate(size_t size) {
    void *block = malloc(size);
    json_starved = json_starved || block == NULL;
    return block;
}

typedef struct json_list {
    fab_json json;
    size_t capacity;
    const char *where;
} json_list;

static fab_status json_list_add(json_list *list, const char *key, const json_t *value, size_t depth, fab_error *err);

static fab_status json_list_parts(json_list *list, uint32_t owner, const json_t *value, size_t depth, fab_error *err) {
    uint32_t last = FAB_JSON_NONE;
    size_t n = json_is_array(value) ? json_array_size(value) : json_object_size(value);
    void *member = json_object_iter((json_t *)value); /* NULL of an array; members come as they stand in the text */
    for (size_t i = 0; i < n; i++) {
        uint32_t part = list->json.n;
        bool named = member != NULL;
        FAB_PASS(json_list_add(list, named ? json_object_iter_key(member) : NULL,
                               named ? json_object_iter_value(member) : json_array_get(value, i), depth + 1, err));
        *(last == FAB_JSON_NONE ? &list->json.values[owner].first : &list->json.values[last].next) = part;
        last = part;
        member = named ? json_object_iter_next((json_t *)value, member) : NULL;
    }
    return FAB_OK;
}

static fab_status json_list_add(json_list *list, const char *key, const json_t *value, size_t depth, fab_error *err) {
    static const fab_json_kind KINDS[] = {
        [JSON_OBJECT] = FAB_JSON_OBJECT,  [JSON_ARRAY] = FAB_JSON_ARRAY, [JSON_STRING] = FAB_JSON_STRING,
        [JSON_INTEGER] = FAB_JSON_NUMBER, [JSON_REAL] = FAB_JSON_NUMBER, [JSON_TRUE] = FAB_JSON_BOOL,
        [JSON_FALSE] = FAB_JSON_BOOL,     [JSON_NULL] = FAB_JSON_NULL,
    };
    bool holds = json_is_array(value) || json_is_object(value);
    FAB_REFUSE_IF(holds && depth >= DEPTH, err, FAB_EINPUT, list->where, "lists within lists: at most %d levels",
                  DEPTH);
    FAB_PASS(FAB_GROW(list->json.values, list->capacity, (size_t)list->json.n + 1, err));
    uint32_t index = list->json.n++;
    list->json.values[index] = (fab_json_value){.kind = KINDS[json_typeof(value)],
                                                .key = key,
                                                .text = json_string_value(value),
                                                .number = json_is_true(value) ? 1 : json_number_value(value),
                                                .first = FAB_JSON_NONE,
                                                .next = FAB_JSON_NONE};
    return holds ? json_list_parts(list, index, value, depth, err) : FAB_OK;
}

fab_status fab_json_parse(const char *text, const char *where, fab_json *out, fab_error *err) {
    fab_status status = FAB_OK;
    json_list list = {.where = where};
    json_error_t wrong = {.line = 0};
    json_starved = false;
    json_set_alloc_funcs(json_allocate, free);
    json_t *root = json_loads(text, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES, &wrong);
    FAB_REFUSE_IF(root == NULL && json_starved, err, FAB_ENOMEM, where, "out of memory");
    if (root == NULL) {
        char place[192];
        FAB_FORMAT(place, "%.150s:%d:%d", where, wrong.line, wrong.column);
        bool is_cut = json_error_code(&wrong) == json_error_premature_end_of_input;
        return fab_fail(err, FAB_EINPUT, place, "%s%s", is_cut ? "the file is truncated: " : "", wrong.text);
    }
    list.json.root = root;
    FAB_TRY(json_list_add(&list, NULL, root, 0, err));
    *out = list.json;
    list.json = (fab_json){.n = 0};
done:
    fab_json_release(&list.json);
    return status;
}

void fab_json_release(fab_json *json) {
    FAB_FREE_ALL(json->values);
    json_decref(json->root);
    fab_yaml_release(json->document);
    *json = (fab_json){.n = 0};
}

uint32_t fab_json_member(const fab_json *json, uint32_t object, const char *key) {
    if (object >= json->n || json->values[object].kind != FAB_JSON_OBJECT) {
        return FAB_JSON_NONE;
    }
    uint32_t i = json->values[object].first;
    while (i != FAB_JSON_NONE && strcmp(json->values[i].key, key) != 0) {
        i = json->values[i].next;
    }
    return i;
}

size_t fab_json_count(const fab_json *json, uint32_t list) {
    size_t n = 0;
    FAB_JSON_EACH(json, i, list) {
        n++;
    }
    return n;
}

double fab_json_number_of(const fab_json *json, uint32_t object, const char *key, double missing) {
    uint32_t i = fab_json_member(json, object, key);
    bool is_it =
        i != FAB_JSON_NONE && (json->values[i].kind == FAB_JSON_NUMBER || json->values[i].kind == FAB_JSON_BOOL);
    return is_it ? json->values[i].number : missing;
}

const char *fab_json_text_of(const fab_json *json, uint32_t object, const char *key, const char *missing) {
    uint32_t i = fab_json_member(json, object, key);
    return i != FAB_JSON_NONE && json->values[i].kind == FAB_JSON_STRING ? json->values[i].text : missing;
}
