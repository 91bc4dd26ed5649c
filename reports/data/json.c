/* The whole result as one JSON object: the form that other programs read. Schema: fields/schema_json.c. */
#include "fab/utf8.h"
#include "json_text.h"
#include "report_formats.h"
#include "result_walk.h"

#define DEPTH 16

typedef struct json {
    fab_str out;
    int depth;
    char close[DEPTH]; /* bracket that ends the container at each depth */
    bool is_empty;     /* nothing written yet in the innermost container */
    bool one_line;     /* the innermost container stands on one line */
} json;

static void json_put(json *j, const char *text) {
    fab_str_add(&j->out, text);
}

void fab_json_string(fab_str *out, const char *text) {
    fab_str_add(out, "\"");
    while (*text != '\0') {
        uint32_t code = 0;
        size_t n = fab_utf8_decode(text, &code);
        if (code == '"' || code == '\\') {
            fab_str_printf(out, "\\%c", (int)code);
        } else if (fab_utf8_is_hidden(code)) {
            fab_str_printf(out, "\\u%04x", (unsigned)code);
        } else if (code == FAB_UTF8_REPLACEMENT) {
            fab_str_add(out, FAB_UTF8_REPLACEMENT_TEXT);
        } else {
            fab_str_append(out, text, n);
        }
        text += n;
    }
    fab_str_add(out, "\"");
}

void fab_json_number(fab_str *out, double value) {
    fab_str_add(out, fab_format_double(FAB_ROOM, value));
}

/* Comma, line and key of the next member. */
static void json_next(json *j, const char *key) {
    json_put(j, j->is_empty ? "" : ",");
    if (j->one_line) {
        json_put(j, " ");
    } else if (j->depth > 0) {
        fab_str_printf(&j->out, "\n%*s", 2 * j->depth, "");
    }
    j->is_empty = false;
    if (key != NULL) {
        fab_json_string(&j->out, key);
        json_put(j, ": ");
    }
}

static void json_begin(json *j, const char *key, const char *brackets, bool one_line) {
    json_next(j, key);
    fab_str_append(&j->out, brackets, 1);
    j->close[j->depth++] = brackets[1]; /* the walk nests to 8 */
    j->is_empty = true;
    j->one_line = one_line;
}

static const char *key_of(const fab_field *field) {
    return field != NULL ? field->key : NULL;
}

static void json_begin_object(void *self, const fab_field *field, bool one_line) {
    json_begin(self, key_of(field), "{}", one_line);
}

static void json_begin_list(void *self, const fab_field *field) {
    json_begin(self, key_of(field), "[]", false);
}

static void json_end(void *self) {
    json *j = self;
    j->depth--;
    if (j->one_line) {
        json_put(j, " ");
    } else if (!j->is_empty) {
        fab_str_printf(&j->out, "\n%*s", 2 * j->depth, "");
    }
    fab_str_append(&j->out, &j->close[j->depth], 1);
    j->is_empty = false;
    j->one_line = false;
}

static void put_value(json *j, const fab_value *value) {
    char room[32];
    if (value->type == FAB_FIELD_TEXT) {
        fab_json_string(&j->out, value->text);
    } else {
        json_put(j, fab_value_text(value, room));
    }
}

static void put_member(void *self, const fab_field *field, const fab_value *value) {
    json_next(self, key_of(field));
    put_value(self, value);
}

/* Numbers on one line, texts on one each. */
static void json_put_values(void *self, const fab_values *values) {
    json *j = self;
    bool is_text = fab_field_is_text(values->field->item_type);
    json_begin(j, values->field->key, "[]", false);
    for (size_t i = 0; i < values->n; i++) {
        fab_value value = fab_values_at(values, i);
        if (is_text) {
            json_next(j, NULL);
        } else {
            json_put(j, i > 0 ? ", " : "");
        }
        put_value(j, &value);
    }
    json_end(j);
}

static const fab_emitter EMITTER = {
    .begin_object = json_begin_object,
    .begin_list = json_begin_list,
    .end = json_end,
    .value = put_member,
    .values = json_put_values,
};

void fab_json_result(fab_str *out, const fab_result *result) {
    json j = {.out = *out, .is_empty = true};
    fab_result_walk(result, &EMITTER, &j);
    *out = j.out;
}

static fab_status make_json(const fab_result *result, const fab_report_style *style, fab_str *out, fab_error *err) {
    (void)style;
    (void)err;
    fab_json_result(out, result);
    fab_str_add(out, "\n");
    return FAB_OK;
}

const fab_report_format fab_report_json = {
    .name = "json",
    .file_name = "report.json",
    .suffix = ".json",
    .summary = "the whole result as one JSON object",
    .make = make_json,
};
