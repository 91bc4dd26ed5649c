/* YAML 1.1 by libyaml, as the values that JSON would have. Aliases are followed, so that a short text may stand for
 * much: the values are limited. Merge keys (<<) are members like others. */
#include "fab/json_read.h"

#include <yaml.h>

#define DEPTH      64
#define MOST       (1U << 24) /* values */
#define PER_BYTE   64         /* and so many of each byte */
#define PLACE_SIZE 192

typedef struct yaml_list {
    fab_json json;
    size_t capacity;
    uint32_t most;
    yaml_document_t *document;
    const char *where;
} yaml_list;

static fab_status yaml_add(yaml_list *list, const char *key, yaml_node_t *node, size_t depth, uint32_t *last,
                           fab_error *err);

static const char *scalar_text(yaml_node_t *node) {
    return node != NULL && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

static fab_status yaml_place(const yaml_list *list, const yaml_node_t *node, const char *what, fab_error *err) {
    char place[PLACE_SIZE];
    FAB_FORMAT(place, "%.150s:%zu:%zu", list->where, node->start_mark.line + 1, node->start_mark.column + 1);
    return fab_fail(err, FAB_EINPUT, place, "%s", what);
}

static fab_status yaml_add_parts(yaml_list *list, uint32_t owner, yaml_node_t *node, size_t depth, fab_error *err) {
    uint32_t last = FAB_JSON_NONE;
    (void)owner;
    if (node->type == YAML_SEQUENCE_NODE) {
        for (yaml_node_item_t *i = node->data.sequence.items.start; i < node->data.sequence.items.top; i++) {
            uint32_t before = last;
            FAB_PASS(yaml_add(list, NULL, yaml_document_get_node(list->document, *i), depth + 1, &last, err));
            *(before == FAB_JSON_NONE ? &list->json.values[owner].first : &list->json.values[before].next) = last;
        }
        return FAB_OK;
    }
    for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top; p++) {
        uint32_t before = last;
        const char *key = scalar_text(yaml_document_get_node(list->document, p->key));
        FAB_RETURN_IF(key == NULL, yaml_place(list, node, "a key that is no text", err));
        FAB_PASS(yaml_add(list, key, yaml_document_get_node(list->document, p->value), depth + 1, &last, err));
        *(before == FAB_JSON_NONE ? &list->json.values[owner].first : &list->json.values[before].next) = last;
    }
    return FAB_OK;
}

static bool is_null(const yaml_node_t *node) {
    const char *text = (const char *)node->data.scalar.value;
    bool is_plain = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    return is_plain && (text[0] == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0);
}

static fab_status yaml_add(yaml_list *list, const char *key, yaml_node_t *node, size_t depth, uint32_t *last,
                           fab_error *err) {
    bool is_scalar = node->type == YAML_SCALAR_NODE;
    FAB_RETURN_IF(!is_scalar && depth >= DEPTH, yaml_place(list, node, "lists within lists: at most 64 levels", err));
    FAB_RETURN_IF(list->json.n >= list->most,
                  yaml_place(list, node, "aliases stand for more values than a file of its size may have", err));
    FAB_PASS(FAB_GROW(list->json.values, list->capacity, (size_t)list->json.n + 1, err));
    uint32_t index = list->json.n++;
    list->json.values[index] = (fab_json_value){.kind = !is_scalar && node->type == YAML_SEQUENCE_NODE ? FAB_JSON_ARRAY
                                                        : !is_scalar                                   ? FAB_JSON_OBJECT
                                                        : is_null(node)                                ? FAB_JSON_NULL
                                                                        : FAB_JSON_STRING,
                                                .key = key,
                                                .text = scalar_text(node),
                                                .first = FAB_JSON_NONE,
                                                .next = FAB_JSON_NONE};
    *last = index;
    return is_scalar ? FAB_OK : yaml_add_parts(list, index, node, depth, err);
}

/* Why libyaml has no document. */
static fab_status yaml_wrong(const yaml_parser_t *parser, const char *where, fab_error *err) {
    char place[PLACE_SIZE];
    /* the loader does not say so itself */
    FAB_REFUSE_IF(parser->error == YAML_MEMORY_ERROR || parser->problem == NULL, err, FAB_ENOMEM, where,
                  "out of memory");
    FAB_FORMAT(place, "%.150s:%zu:%zu", where, parser->problem_mark.line + 1, parser->problem_mark.column + 1);
    return fab_fail(err, FAB_EINPUT, place, "%s", parser->problem);
}

fab_status fab_yaml_parse(const char *text, const char *where, fab_json *out, fab_error *err) {
    fab_status status = FAB_OK;
    yaml_parser_t parser;
    yaml_document_t *document = NULL;
    bool loaded = false;
    size_t n = strlen(text);
    yaml_list list = {.where = where, .most = n < MOST / PER_BYTE ? (uint32_t)n * PER_BYTE + PER_BYTE : MOST};
    uint32_t last = FAB_JSON_NONE;
    FAB_REFUSE_IF(yaml_parser_initialize(&parser) == 0, err, FAB_ENOMEM, where, "out of memory");
    FAB_TRY(FAB_NEW(document, 1, err));
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
    loaded = yaml_parser_load(&parser, document) != 0;
    if (!loaded) {
        status = yaml_wrong(&parser, where, err);
        goto done;
    }
    list.document = document;
    yaml_node_t *root = yaml_document_get_root_node(document);
    if (root == NULL) {
        char place[PLACE_SIZE];
        FAB_FORMAT(place, "%.150s:1:1", where);
        FAB_FAIL(err, FAB_EINPUT, place, "is empty");
    }
    FAB_TRY(yaml_add(&list, NULL, root, 0, &last, err));
    list.json.document = document;
    *out = list.json;
    list.json = (fab_json){.n = 0};
    document = NULL;
done:
    free(list.json.values);
    if (document != NULL && loaded) {
        yaml_document_delete(document);
    }
    free(document);
    yaml_parser_delete(&parser);
    return status;
}

void fab_yaml_release(void *document) {
    if (document != NULL) {
        yaml_document_delete(document);
        free(document);
    }
}
