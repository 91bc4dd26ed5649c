#include "fab/str.h"

#include "fab/source.h"
#include "fab/utf8.h"
#include "fab/units.h"

#include <stdarg.h>
#include <sys/resource.h>

#define SMALL_FILE (1 << 20) /* bytes that every run may take */

void fab_str_release(fab_str *str) {
    free(str->data);
    *str = (fab_str)FAB_STR_INIT;
}

void fab_str_append(fab_str *str, const char *bytes, size_t n) {
    if (str->failed || fab_grow(&str->data, &str->capacity, str->length + n + 1, 1, NULL) != FAB_OK) {
        str->failed = true;
        return;
    }
    memcpy(str->data + str->length, bytes, n);
    str->length += n;
    str->data[str->length] = '\0';
}

void fab_str_add(fab_str *str, const char *text) {
    fab_str_append(str, text, strlen(text));
}

void fab_str_vprintf(fab_str *str, const char *fmt, va_list args) {
    char small[256];
    va_list again;
    va_copy(again, args);
    const int n = vsnprintf(small, sizeof small, fmt, args);
    if (n >= 0 && (size_t)n < sizeof small) {
        fab_str_append(str, small, (size_t)n);
    } else if (n < 0 || str->failed ||
               fab_grow(&str->data, &str->capacity, str->length + (size_t)n + 1, 1, NULL) != FAB_OK) {
        str->failed = true;
    } else {
        (void)vsnprintf(str->data + str->length, (size_t)n + 1, fmt, again);
        str->length += (size_t)n;
    }
    va_end(again);
}

void fab_str_printf(fab_str *str, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    fab_str_vprintf(str, fmt, args);
    va_end(args);
}

void fab_append(char *out, size_t size, const char *fmt, ...) {
    va_list arguments;
    size_t used = strlen(out);
    va_start(arguments, fmt);
    (void)vsnprintf(out + used, size - used, fmt, arguments);
    va_end(arguments);
}

fab_status fab_str_status(const fab_str *str, fab_error *err) {
    return str->failed ? fab_fail(err, FAB_ENOMEM, NULL, "cannot allocate a text of %zu bytes", str->length) : FAB_OK;
}

bool fab_is_formula(const char *text) {
    const char *at = text + strspn(text, "'");
    char *end = NULL;
    if (*at == '\0' || strchr("=+-@\t\r", *at) == NULL || at[1] == '\0') {
        return false;
    }
    (void)strtod(at, &end);
    return *end != '\0' || at > text;
}

void fab_str_add_shell(fab_str *str, const char *text) {
    size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:,=@%+-");
    if (n > 0 && text[n] == '\0') {
        fab_str_add(str, text);
        return;
    }
    fab_str_add(str, "'");
    for (const char *c = text; *c != '\0'; c++) {
        fab_str_append(str, *c == '\'' ? "'\\''" : c, *c == '\'' ? 4 : 1);
    }
    fab_str_add(str, "'");
}

void fab_str_add_csv(fab_str *str, const char *text) {
    const char *quote = text[strcspn(text, ",\"\r\n")] != '\0' || text[0] == '#' ? "\"" : "";
    size_t length = 1;
    fab_str_add(str, quote);
    fab_str_add(str, fab_is_formula(text) ? "'" : "");
    for (const char *c = text; *c != '\0'; c += length) {
        uint32_t code = 0;
        length = strspn(c, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _./:,=@%+-");
        if (length > 0) {
            fab_str_append(str, c, length);
            continue;
        }
        length = fab_utf8_decode(c, &code);
        bool shown = !fab_utf8_is_hidden(code) || code == '\t' || code == '\n' || code == '\r';
        bool well_formed = code != FAB_UTF8_REPLACEMENT && shown;
        fab_str_append(str, well_formed ? c : FAB_UTF8_REPLACEMENT_TEXT, well_formed ? length : 3);
        fab_str_add(str, *c == '"' ? "\"" : "");
    }
    fab_str_add(str, quote);
}

const char *fab_format_double(char *out, double value) {
    bool is_same = false;
    for (int digits = 15; digits <= 17 && !is_same; digits++) {
        (void)snprintf(out, 32, "%.*g", digits, value);
        is_same = strtod(out, NULL) == value;
    }
    return out;
}

const char *fab_format_count(char *out, uint64_t value) {
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, value);
    char *to = out;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) {
            *to++ = ',';
        }
        *to++ = digits[i];
    }
    *to = '\0';
    return out;
}

/* `size` bytes are known to come. The system does not enforce RLIMIT_RSS; it says what the process is to take. */
static fab_status check_file_size(const char *path, uint64_t size, size_t limit, fab_error *err) {
    struct rlimit most;
    FAB_REFUSE_IF(size > limit, err, FAB_EINPUT, path, "file is larger than the limit of %zu bytes", limit);
    if (size < SMALL_FILE || getrlimit(RLIMIT_RSS, &most) != 0 || most.rlim_cur == RLIM_INFINITY) {
        return FAB_OK;
    }
    fab_error inner = {0};
    return fab_memory_check("its text", fab_grown((double)size + 1), most.rlim_cur, &inner) == FAB_OK
               ? FAB_OK
               : fab_fail(err, inner.code, path, "%s", inner.text);
}

/* What is packed and wrong is so behind the text that came: the line is known. */
static fab_status fail_within(const fab_str *text, const char *path, const fab_error *inner, fab_error *err) {
    char where[sizeof err->where];
    size_t line = 1;
    for (size_t i = 0; i < text->length; i++) {
        line += text->data[i] == '\n';
    }
    FAB_FORMAT(where, "%.150s:%zu:1", path, line);
    return fab_fail(err, inner->code, inner->code == FAB_EINPUT ? where : inner->where, "%s", inner->text);
}

fab_status fab_read_file(const char *path, size_t limit, fab_str *out, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    char block[16384];
    FAB_OWNS(fab_source_close_owned) fab_source *source = NULL;
    size_t n = sizeof block;
    FAB_PASS(fab_source_open(path, &source, err));
    FAB_PASS(fab_source_size(source) != SIZE_MAX ? check_file_size(path, fab_source_size(source), limit, err) : FAB_OK);
    while (n == sizeof block && !text.failed) {
        fab_error inner = {0};
        FAB_RETURN_IF(fab_source_read(source, block, sizeof block, &n, &inner) != FAB_OK,
                      fail_within(&text, path, &inner, err));
        if (text.length + n >= text.capacity) { /* before it grows */
            FAB_PASS(check_file_size(path, text.length + n, limit, err));
        }
        fab_str_append(&text, block, n);
    }
    FAB_REFUSE_IF(text.length > limit, err, FAB_EINPUT, path, "file is larger than the limit of %zu bytes", limit);
    fab_str_append(&text, "", 0);
    FAB_PASS(fab_str_status(&text, err));
    *out = text;
    text = (fab_str)FAB_STR_INIT;
    return FAB_OK;
}

size_t fab_write_ranges(char *out, size_t size, const uint32_t *list, size_t n, char by) {
    size_t used = 0;
    size_t run = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n; i += run) {
        char piece[32];
        for (run = 1; i + run < n && list[i + run] == list[i] + run;) {
            run++;
        }
        FAB_FORMAT(piece, "%.*s%" PRIu32, i > 0, &by, list[i]);
        if (run > 1) {
            fab_append(piece, sizeof piece, "-%" PRIu32, list[i + run - 1]);
        }
        if (used + strlen(piece) >= size) {
            return i;
        }
        memcpy(out + used, piece, strlen(piece) + 1);
        used += strlen(piece);
    }
    return n;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

int fab_compare_names(const char *a, const char *b) {
    while (*a != '\0' && *b != '\0') {
        if (is_digit(*a) && is_digit(*b)) {
            char *end_a = NULL;
            char *end_b = NULL;
            unsigned long long x = strtoull(a, &end_a, 10);
            unsigned long long y = strtoull(b, &end_b, 10);
            FAB_ORDER_BY(x, y);
            a = end_a;
            b = end_b;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
    return (*a != '\0') - (*b != '\0');
}
