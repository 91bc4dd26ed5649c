#include "fab/text.h"

#include <stdio.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 31)

fab_status fab_text_check(fab_text *text, fab_error *err) {
    const char *nul = memchr(text->file.data, '\0', text->file.length);
    const char *start = text->file.data;
    if (nul == NULL) {
        return FAB_OK;
    }
    text->line = 1;
    for (const char *c = start; c < nul; c++) {
        start = *c == '\n' ? c + 1 : start;
        text->line += *c == '\n';
    }
    return fab_text_wrong(text, (size_t)(nul - start) + 1, FAB_EINPUT, "a zero byte: this is no text file",
                          (fab_token){0}, err);
}

fab_status fab_text_open(const char *path, fab_text *out, fab_error *err) {
    *out = (fab_text){.path = path};
    fab_status status = fab_read_file(path, MAX_BYTES, &out->file, err);
    if (status == FAB_OK) {
        status = fab_text_check(out, err);
        fab_text_rewind(out);
    }
    if (status != FAB_OK) {
        fab_text_release(out);
    }
    return status;
}

void fab_text_release(fab_text *text) {
    fab_str_release(&text->file);
}

void fab_text_rewind(fab_text *text) {
    text->next_line = text->line_start = text->at = text->behind = text->file.data;
    text->line = 0;
}

static void skip_blanks(fab_text *text) {
    while (text->at < text->behind && (*text->at == ' ' || *text->at == '\t')) {
        text->at++;
    }
}

bool fab_text_next(fab_text *text) {
    const char *end = text->file.data + text->file.length;
    while (text->next_line < end) {
        text->line++;
        text->line_start = text->next_line;
        const char *stop = memchr(text->line_start, '\n', (size_t)(end - text->line_start));
        text->behind = stop != NULL ? stop : end;
        text->next_line = stop != NULL ? stop + 1 : end;
        if (text->behind > text->line_start && text->behind[-1] == '\r') {
            text->behind--;
        }
        text->at = text->line_start;
        skip_blanks(text);
        if (text->at < text->behind && *text->at != '#') {
            return true;
        }
    }
    text->at = text->behind = end;
    return false;
}

fab_token fab_text_token(fab_text *text) {
    skip_blanks(text);
    fab_token t = {.text = text->at, .column = (size_t)(text->at - text->line_start) + 1};
    while (text->at < text->behind && *text->at != ' ' && *text->at != '\t') {
        text->at++;
    }
    t.length = (size_t)(text->at - t.text);
    return t;
}

bool fab_text_take(fab_text *text, const char *word) {
    size_t n = strlen(word);
    skip_blanks(text);
    if ((size_t)(text->behind - text->at) < n || memcmp(text->at, word, n) != 0) {
        return false;
    }
    text->at += n;
    return true;
}

fab_token fab_text_rest(const fab_text *text) {
    return (fab_token){.text = text->at,
                       .length = (size_t)(text->behind - text->at),
                       .column = (size_t)(text->at - text->line_start) + 1};
}

bool fab_token_number(fab_token t, uint64_t *out) {
    uint64_t n = 0;
    for (size_t i = 0; i < t.length; i++) {
        if (t.text[i] < '0' || t.text[i] > '9' || i > 17) {
            return false;
        }
        n = n * 10 + (uint64_t)(t.text[i] - '0');
    }
    *out = n;
    return t.length > 0;
}

fab_status fab_text_wrong(const fab_text *text, size_t column, fab_status code, const char *what, fab_token t,
                          fab_error *err) {
    char where[sizeof err->where];
    (void)snprintf(where, sizeof where, "%.150s:%zu:%zu", text->path, text->line, column);
    char shown[48] = "";
    for (size_t i = 0; i < t.length && i < sizeof shown - 1; i++) {
        shown[i] = t.text[i] >= ' ' && t.text[i] < 127 ? t.text[i] : '?';
    }
    return t.length > 0 ? fab_fail(err, code, where, "'%s' %s", shown, what) : fab_fail(err, code, where, "%s", what);
}
