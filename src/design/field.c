#include "field.h"

#include "fab/sizes.h"

#define AUTO "auto"

static const char *member(const field *f, const void *base) {
    return (const char *)base + f->offset;
}

bool field_is_word(const char *text) {
    static const char FIRST[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    static const char REST[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return text[0] != '\0' && strchr(FIRST, text[0]) != NULL && strspn(text, REST) == strlen(text);
}

const char *field_item_end(const char *text) {
    for (; *text != '\0'; text++) {
        if (text[0] == '/' && !(text[1] == 's' && (text[2] == '\0' || text[2] == '/'))) {
            break;
        }
    }
    return text;
}

size_t field_most_characters(const field *f) {
    return (f->kind == FIELD_SHAPE ? FAB_NAME_SIZE : f->kind == FIELD_SERVERS ? FAB_SERVERS_SIZE : f->size) - 1;
}

const char *field_example(const field *f, char *out) {
    const char *or_auto = f->automatic ? " or " AUTO : "";
    switch (f->kind) {
    case FIELD_TEXT: (void)snprintf(out, 128, "text"); break;
    case FIELD_WORD: (void)snprintf(out, 128, "a word of letters, digits and . _ -"); break;
    case FIELD_LIST:
    case FIELD_SERVERS:
    case FIELD_SHAPE: (void)snprintf(out, 128, "digits and , ; : - (such as 4,4,8)"); break;
    case FIELD_FLAG: (void)snprintf(out, 128, "yes or no"); break;
    case FIELD_QUANTITY: (void)snprintf(out, 128, "%s%s", fab_unit_example(f->unit), or_auto); break;
    case FIELD_COUNT:
        (void)snprintf(out, 128, "%s to %s%s", FAB_SAY_COUNT((uint64_t)f->min), FAB_SAY_COUNT((uint64_t)f->max),
                       or_auto);
        break;
    case FIELD_DECIMAL:
        (void)snprintf(out, 128, "%s to %s%s", fab_format_double(FAB_ROOM, f->min), fab_format_double(FAB_ROOM, f->max),
                       or_auto);
        break;
    case FIELD_CHOICE:
        out[0] = '\0';
        for (size_t i = 0, n = 0; f->choices[i] != NULL && n < 128; i++) {
            n += (size_t)snprintf(out + n, 128 - n, "%s%s", n > 0 ? ", " : "", f->choices[i]);
        }
        break;
    }
    return out;
}

static fab_status bad_value(const field *f, const char *text, const char *where, fab_error *err) {
    char example[128];
    return fab_fail(err, FAB_EINPUT, where, "%s: '%.60s' is not %s%s", f->key, text,
                    f->kind == FIELD_CHOICE ? "one of " : "", field_example(f, example));
}

static fab_status fail_length(const field *f, size_t length, const char *where, fab_error *err) {
    return fab_fail(err, FAB_EINPUT, where, "%s: %zu bytes are more than the limit of %zu", f->key, length,
                    field_most_characters(f));
}

/* Blanks and line breaks become one blank, so that a value is one line of the canonical text. */
static fab_status set_text(const field *f, char *to, const char *text, const char *where, fab_error *err) {
    size_t n = 0;
    size_t needed = 0;
    bool blank = false;
    for (; *text != '\0'; text++) {
        bool is_blank = (unsigned char)*text <= ' ' || *text == 0x7F;
        if (!is_blank) {
            needed += (blank && needed > 0 ? 1U : 0U) + 1U;
            if (needed < f->size) {
                if (blank && n > 0) {
                    to[n++] = ' ';
                }
                to[n++] = *text;
            }
        }
        blank = is_blank;
    }
    to[n] = '\0';
    return needed >= f->size ? fail_length(f, needed, where, err) : FAB_OK;
}

static bool is_list(const char *text) {
    return strspn(text, "0123456789,;:-") == strlen(text);
}

fab_status field_check_list(const field *f, const char *text, const char *where, fab_error *err) {
    return is_list(text) ? FAB_OK : bad_value(f, text, where, err);
}

static fab_status set_string(const field *f, char *to, const char *text, const char *where, fab_error *err) {
    bool good = f->kind == FIELD_WORD   ? text[0] == '\0' || field_is_word(text)
                : f->kind == FIELD_LIST ? is_list(text)
                                        : true;
    /* it would come back as the default */
    FAB_REFUSE_IF(text[0] == '\0' && f->initial != NULL && f->initial[0] != '\0', err, FAB_EINPUT, where,
                  "%s is empty; without the key it is %s", f->key, f->initial);
    return good ? set_text(f, to, text, where, err) : bad_value(f, text, where, err);
}

static fab_status set_shape(const field *f, void *to, const char *text, const char *where, fab_error *err) {
    fab_error inner = {0};
    FAB_RETURN_IF(!is_list(text), bad_value(f, text, where, err));
    FAB_RETURN_IF(strlen(text) > field_most_characters(f), fail_length(f, strlen(text), where, err));
    FAB_REFUSE_IF(text[0] != '\0' && f->shape->parse(text, to, &inner) != FAB_OK, err, FAB_EINPUT, where, "%s",
                  inner.text);
    if (text[0] == '\0') {
        memset(to, 0, f->size);
    }
    return FAB_OK;
}

static fab_status set_choice(const field *f, void *to, const char *text, const char *where, fab_error *err) {
    unsigned i = 0;
    while (f->choices[i] != NULL && (text[0] == '\0' || strcmp(f->choices[i], text) != 0)) {
        i++;
    }
    FAB_RETURN_IF(f->choices[i] == NULL, bad_value(f, text, where, err));
    memcpy(to, &i, sizeof i);
    return FAB_OK;
}

/* A plain number has no unit: give it one for the parser. */
static fab_status parse_decimal(const field *f, const char *text, double *out, const char *where, fab_error *err) {
    char with_unit[72];
    size_t length = strlen(text);
    FAB_RETURN_IF(length == 0 || length > 60 || strspn(text, "0123456789.eE+-") != length,
                  bad_value(f, text, where, err));
    bool negative = f->min < 0 && text[0] == '-';
    FAB_FORMAT(with_unit, "%sW", text + (negative ? 1 : 0));
    FAB_RETURN_IF(fab_quantity_parse(with_unit, FAB_UNIT_POWER, out, NULL) != FAB_OK, bad_value(f, text, where, err));
    *out = negative ? -*out : *out;
    return FAB_OK;
}

static fab_status set_double(const field *f, void *to, const char *text, const char *where, fab_error *err) {
    double value = 0;
    fab_error inner = {0};
    if (f->kind == FIELD_DECIMAL) {
        FAB_PASS(parse_decimal(f, text, &value, where, err));
    } else if (fab_quantity_parse(text, f->unit, &value, &inner) != FAB_OK) {
        return fab_fail(err, FAB_EINPUT, where, "%s: %s", f->key, inner.text);
    }
    if (value < f->min || value > f->max) {
        return fab_fail(err, FAB_EINPUT, where, "%s: '%.60s' is outside %s to %s", f->key, text,
                        fab_quantity_exact(FAB_ROOM, f->min, f->unit), fab_quantity_exact(FAB_ROOM, f->max, f->unit));
    }
    memcpy(to, &value, sizeof value);
    return FAB_OK;
}

static fab_status set_count(const field *f, void *to, const char *text, const char *where, fab_error *err) {
    uint64_t count = 0;
    fab_error inner = {0};
    FAB_REFUSE_IF(fab_count_parse(text, (uint64_t)f->min, (uint64_t)f->max, &count, &inner) != FAB_OK, err, FAB_EINPUT,
                  where, "%s: %s%s", f->key, inner.text, f->automatic ? ", or auto" : "");
    memcpy(to, &count, sizeof count);
    return FAB_OK;
}

static fab_status set_flag(const field *f, void *to, const char *text, const char *where, fab_error *err) {
    bool yes = strcmp(text, "yes") == 0 || strcmp(text, "true") == 0;
    FAB_RETURN_IF(!yes && strcmp(text, "no") != 0 && strcmp(text, "false") != 0, bad_value(f, text, where, err));
    memcpy(to, &yes, sizeof yes);
    return FAB_OK;
}

fab_status field_set(const field *f, void *base, const char *text, const char *where, fab_error *err) {
    char *to = (char *)base + f->offset;
    if (f->automatic && strcmp(text, AUTO) == 0) {
        memset(to, 0, f->size);
        return FAB_OK;
    }
    switch (f->kind) {
    case FIELD_TEXT:
    case FIELD_WORD:
    case FIELD_LIST: return set_string(f, to, text, where, err);
    case FIELD_SHAPE: return set_shape(f, to, text, where, err);
    case FIELD_CHOICE: return set_choice(f, to, text, where, err);
    case FIELD_COUNT: return set_count(f, to, text, where, err);
    case FIELD_QUANTITY:
    case FIELD_DECIMAL: return set_double(f, to, text, where, err);
    case FIELD_FLAG: return set_flag(f, to, text, where, err);
    case FIELD_SERVERS: break; /* needs the design: design_set_job_field() */
    }
    return fab_fail(err, FAB_EINTERNAL, where, "field %s has no kind", f->key);
}

bool field_is_default(const field *f, const void *base) {
    const char *initial = f->initial != NULL ? f->initial : "";
    fab_str text = FAB_STR_INIT;
    unsigned char value[8] = {0};
    field number = *f;
    number.offset = 0;
    switch (f->kind) {
    case FIELD_TEXT:
    case FIELD_WORD:
    case FIELD_LIST: return strcmp(member(f, base), initial) == 0;
    case FIELD_SERVERS: return ((const fab_list_ref *)(const void *)member(f, base))->length == 0;
    case FIELD_SHAPE: {
        field_format(f, base, &text);
        bool is_empty = text.length == 0 && !text.failed;
        fab_str_release(&text);
        return is_empty;
    }
    default: break;
    }
    return (initial[0] == '\0' || field_set(&number, value, initial, "default", NULL) == FAB_OK) &&
           memcmp(value, member(f, base), f->size) == 0;
}

void field_format(const field *f, const void *base, fab_str *out) {
    const char *from = member(f, base);
    uint64_t count = 0;
    double value = 0;
    unsigned choice = 0;
    bool yes = false;
    switch (f->kind) {
    case FIELD_TEXT:
    case FIELD_WORD:
    case FIELD_LIST: fab_str_add(out, from); return;
    case FIELD_SHAPE: f->shape->format(from, out); return;
    case FIELD_SERVERS: return; /* its text is the design's */
    case FIELD_CHOICE:
        memcpy(&choice, from, sizeof choice);
        fab_str_add(out, f->choices[choice]);
        return;
    case FIELD_FLAG:
        memcpy(&yes, from, sizeof yes);
        fab_str_add(out, yes ? "yes" : "no");
        return;
    case FIELD_COUNT:
        memcpy(&count, from, sizeof count);
        if (count == 0 && f->automatic) {
            fab_str_add(out, AUTO);
        } else {
            fab_str_printf(out, "%" PRIu64, count);
        }
        return;
    case FIELD_QUANTITY:
        memcpy(&value, from, sizeof value);
        fab_str_add(out, value == 0 && f->automatic ? AUTO : fab_quantity_exact(FAB_ROOM, value, f->unit));
        return;
    case FIELD_DECIMAL:
        memcpy(&value, from, sizeof value);
        fab_str_add(out, fab_format_double(FAB_ROOM, value));
        return;
    }
}
