/* Read in one pass without recursion; strings are decoded where they stand. */
#include "fab/json_read.h"

#include "fab/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 64

typedef struct json_reader {
    fab_json json;
    size_t capacity;
    char *at;
    const char *where;
    uint32_t open[DEPTH]; /* containers around this place */
    uint32_t last[DEPTH]; /* the last value in each; FAB_JSON_NONE */
    size_t depth;
} json_reader;

static fab_status json_wrong(const json_reader *r, const char *expected, fab_error *err) {
    char where[192];
    size_t line = 1;
    const char *begin = r->json.text;
    for (const char *c = r->json.text; c < r->at; c++) {
        line += *c == '\n';
        begin = *c == '\n' ? c + 1 : begin;
    }
    (void)snprintf(where, sizeof where, "%.150s:%zu:%zu", r->where, line, (size_t)(r->at - begin) + 1);
    return fab_fail(err, FAB_EINPUT, where, "expected %s", expected);
}

static void skip_blanks(json_reader *r) {
    r->at += strspn(r->at, " \t\r\n");
}

static char *put_utf8(char *to, uint32_t code) {
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    int n = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    *to++ = (char)((0xff00 >> (n + 1) & 0xff) | code >> 6 * n);
    while (n-- > 0) {
        *to++ = (char)(0x80 | (code >> 6 * n & 0x3f));
    }
    return to;
}

static bool read_hex(const char *from, uint32_t *out) {
    *out = 0;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *digit = from[i] != '\0' ? strchr(digits, from[i]) : NULL;
        if (digit == NULL) {
            return false;
        }
        *out = *out << 4 | ((uint32_t)(digit - digits) & 15U);
    }
    return true;
}

/* \uXXXX, of characters beyond the basic plane a pair of them. */
static bool read_code(json_reader *r, uint32_t *out) {
    uint32_t low = 0;
    if (!read_hex(r->at + 2, out)) {
        return false;
    }
    r->at += 6;
    if (*out >= 0xd800 && *out < 0xdc00 && r->at[0] == '\\' && r->at[1] == 'u' && read_hex(r->at + 2, &low) &&
        low >= 0xdc00 && low < 0xe000) {
        *out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
        r->at += 6;
    }
    return *out != 0 && (*out < 0xd800 || *out >= 0xe000);
}

static fab_status read_string(json_reader *r, const char **out, fab_error *err) {
    static const char FROM[] = "\"\\/bfnrt";
    static const char TO[] = "\"\\/\b\f\n\r\t";
    char *to = r->at + 1;
    *out = to;
    for (r->at++; *r->at != '"';) {
        const char *escape = r->at[0] == '\\' && r->at[1] != '\0' ? strchr(FROM, r->at[1]) : NULL;
        uint32_t code = 0;
        if ((unsigned char)*r->at < 0x20) {
            return json_wrong(r, "the end of a string", err);
        }
        if (escape != NULL) {
            *to++ = TO[escape - FROM];
            r->at += 2;
        } else if (r->at[0] == '\\' && (r->at[1] != 'u' || !read_code(r, &code))) {
            return json_wrong(r, "an escape such as \\n or \\u00e4", err);
        } else if (code != 0) {
            to = put_utf8(to, code);
        } else {
            *to++ = *r->at++;
        }
    }
    *to = '\0';
    r->at++;
    return FAB_OK;
}

static fab_status add_value(json_reader *r, const fab_json_value *value, fab_error *err) {
    FAB_PASS(FAB_GROW(r->json.values, r->capacity, (size_t)r->json.n + 1, err));
    uint32_t index = r->json.n++;
    r->json.values[index] = *value;
    if (r->depth > 0) {
        uint32_t *last = &r->last[r->depth - 1];
        fab_json_value *values = r->json.values;
        *(*last == FAB_JSON_NONE ? &values[r->open[r->depth - 1]].first : &values[*last].next) = index;
        *last = index;
    }
    return FAB_OK;
}

static fab_status read_scalar(json_reader *r, fab_json_value *value, fab_error *err) {
    static const char *const WORDS[] = {"null", "false", "true"};
    if (*r->at == '"') {
        value->kind = FAB_JSON_STRING;
        return read_string(r, &value->text, err);
    }
    for (size_t i = 0; i < 3; i++) {
        if (strncmp(r->at, WORDS[i], strlen(WORDS[i])) == 0) {
            value->kind = i == 0 ? FAB_JSON_NULL : FAB_JSON_BOOL;
            value->number = i == 2;
            r->at += strlen(WORDS[i]);
            return FAB_OK;
        }
    }
    char *end = r->at;
    size_t n = strspn(r->at, "+-.0123456789eE");
    bool begins = *r->at == '-' || (*r->at >= '0' && *r->at <= '9');
    value->kind = FAB_JSON_NUMBER;
    value->number = begins ? strtod(r->at, &end) : 0;
    if (!begins || end != r->at + n || !isfinite(value->number)) {
        return json_wrong(r, "a value", err);
    }
    r->at = end;
    return FAB_OK;
}

/* Behind a value: closes what ends there, and moves to the next value. *out_ends: that was the last. */
static fab_status read_behind(json_reader *r, bool *out_ends, fab_error *err) {
    for (;;) {
        skip_blanks(r);
        if (r->depth == 0) {
            *out_ends = true;
            return *r->at == '\0' ? FAB_OK : json_wrong(r, "nothing behind the value", err);
        }
        bool is_object = r->json.values[r->open[r->depth - 1]].kind == FAB_JSON_OBJECT;
        bool is_empty = r->last[r->depth - 1] == FAB_JSON_NONE;
        if (*r->at == (is_object ? '}' : ']')) {
            r->at++;
            r->depth--;
            continue;
        }
        if (!is_empty && *r->at != ',') {
            return json_wrong(r, is_object ? "',' or '}'" : "',' or ']'", err);
        }
        r->at += !is_empty;
        skip_blanks(r);
        return FAB_OK;
    }
}

static fab_status read_value(json_reader *r, fab_error *err) {
    fab_json_value value = {.first = FAB_JSON_NONE, .next = FAB_JSON_NONE};
    if (r->depth > 0 && r->json.values[r->open[r->depth - 1]].kind == FAB_JSON_OBJECT) {
        if (*r->at != '"') {
            return json_wrong(r, "a key in quotes", err);
        }
        FAB_PASS(read_string(r, &value.key, err));
        skip_blanks(r);
        if (*r->at != ':') {
            return json_wrong(r, "':'", err);
        }
        r->at++;
        skip_blanks(r);
    }
    bool opens = *r->at == '{' || *r->at == '[';
    if (!opens) {
        FAB_PASS(read_scalar(r, &value, err));
        return add_value(r, &value, err);
    }
    if (r->depth == DEPTH) {
        return json_wrong(r, "at most 64 levels", err);
    }
    value.kind = *r->at++ == '{' ? FAB_JSON_OBJECT : FAB_JSON_ARRAY;
    FAB_PASS(add_value(r, &value, err));
    r->open[r->depth] = r->json.n - 1;
    r->last[r->depth++] = FAB_JSON_NONE;
    return FAB_OK;
}

fab_status fab_json_parse(const char *text, const char *where, fab_json *out, fab_error *err) {
    fab_status status = FAB_OK;
    json_reader r = {.where = where};
    bool ends = false;
    FAB_TRY((r.json.text = fab_strdup(text, err)) != NULL ? FAB_OK : FAB_ENOMEM);
    r.at = r.json.text;
    skip_blanks(&r);
    while (!ends) {
        FAB_TRY(read_value(&r, err));
        FAB_TRY(read_behind(&r, &ends, err));
    }
    *out = r.json;
    r.json = (fab_json){.n = 0};
done:
    fab_json_release(&r.json);
    return status;
}

void fab_json_release(fab_json *json) {
    FAB_FREE_ALL(json->values, json->text);
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
    for (uint32_t i = list < json->n ? json->values[list].first : FAB_JSON_NONE; i != FAB_JSON_NONE;
         i = json->values[i].next) {
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
