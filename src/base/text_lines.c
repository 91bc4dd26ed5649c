#include "fab/text.h"

#include "fab/source.h"

#include <stdarg.h>

#define MAX_BYTES ((size_t)1 << 31)
#define MAX_LINE  ((size_t)1 << 26)
#define WINDOW    ((size_t)1 << 18)
#define NO_TEXT   "a zero byte: this is no text file"

struct fab_text_stream {
    fab_source *in;
    bool at_end, has_zero;
    fab_status status;
    fab_error error;
};

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
    return fab_text_refuse(text, (fab_token){.column = (size_t)(nul - start) + 1}, err, NO_TEXT);
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
    if (text->stream != NULL) {
        fab_source_close(text->stream->in);
    }
    free(text->stream);
    text->stream = NULL;
}

void fab_text_rewind(fab_text *text) {
    text->next_line = text->line_start = text->at = text->behind = text->file.data;
    text->line = 0;
}

/* --- streams ------------------------------------------------------------------------------------------------------ */

/* Reads more behind what is left of the window. False at the end of the file, or where something is wrong. */
static bool refill(fab_text *text) {
    struct fab_text_stream *s = text->stream;
    size_t left = (size_t)(text->file.data + text->file.length - text->next_line);
    if (s->at_end || s->status != FAB_OK) {
        return false;
    }
    if (left >= MAX_LINE) {
        text->line++;
        s->status = fab_text_fail(text, &s->error, "a line of more than 64 MiB");
        return false;
    }
    memmove(text->file.data, text->next_line, left);
    text->file.length = left;
    if (text->file.capacity < left + WINDOW + 1) { /* a line that is longer: twice the room */
        size_t capacity = (2 * left < MAX_LINE ? 2 * left : MAX_LINE) + WINDOW + 1;
        char *wider = realloc(text->file.data, capacity);
        if (wider == NULL) {
            text->next_line = text->file.data;
            s->status = fab_fail(&s->error, FAB_ENOMEM, text->path, "cannot allocate %zu bytes for a line", capacity);
            return false;
        }
        text->file.data = wider;
        text->next_line = wider;
        text->file.capacity = capacity;
    }
    text->next_line = text->file.data; /* which may have moved */
    char *to = text->file.data + left;
    size_t wanted = text->file.capacity - 1 - left;
    size_t n = 0;
    fab_error inner = {0};
    *to = '\0';
    s->status = fab_source_read(s->in, to, wanted, &n, &inner);
    if (s->status == FAB_EINPUT) {
        text->line += 1; /* within the line that is left */
        s->status = fab_text_refuse(text, (fab_token){.column = left + 1}, &s->error, "%s", inner.text);
    } else if (s->status != FAB_OK) {
        s->status = fab_fail(&s->error, s->status, inner.where, "%s", inner.text);
    }
    to[n] = '\0';
    text->file.length += n;
    s->has_zero = s->has_zero || memchr(to, '\0', n) != NULL;
    s->at_end = n < wanted;
    return n > 0;
}

/* Whether there is a line at next_line; *out_stop is its line feed, NULL where the file ends without one. */
static bool find_line(fab_text *text, const char **out_stop) {
    size_t seen = 0;
    for (;;) {
        size_t left = (size_t)(text->file.data + text->file.length - text->next_line);
        const char *stop = left > seen ? memchr(text->next_line + seen, '\n', left - seen) : NULL;
        *out_stop = stop;
        if (stop != NULL || text->stream == NULL) {
            return left > 0;
        }
        seen = left;
        if (!refill(text)) {
            return text->stream->status == FAB_OK && left > 0;
        }
    }
}

static bool refuse_zero_in_line(fab_text *text) {
    const char *zero = memchr(text->line_start, '\0', (size_t)(text->behind - text->line_start));
    if (zero != NULL) {
        fab_token at = {.column = (size_t)(zero - text->line_start) + 1};
        text->stream->status = fab_text_refuse(text, at, &text->stream->error, NO_TEXT);
    }
    return zero != NULL;
}

fab_status fab_text_stream_open(const char *path, fab_text *out, fab_error *err) {
    fab_status status = FAB_OK;
    *out = (fab_text){.path = path};
    FAB_TRY(FAB_NEW(out->stream, 1, err));
    FAB_TRY(fab_allocate(1, WINDOW + 1, &out->file.data, err));
    out->file.capacity = WINDOW + 1;
    FAB_TRY(fab_source_open(path, &out->stream->in, err));
    out->n_bytes = fab_source_size(out->stream->in);
    fab_text_rewind(out);
    (void)refill(out);
    FAB_TRY(fab_text_end(out, err));
    const char *head = out->file.data;
    if (strncmp(head, "\xff\xfe", 2) == 0 || strncmp(head, "\xfe\xff", 2) == 0) {
        out->line = 1;
        FAB_TRY(fab_text_fail(out, err,
                              "begins with the byte order mark of UTF-16; expected UTF-8 (iconv -f UTF-16 -t UTF-8)"));
    }
    out->next_line += strncmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
done:
    if (status != FAB_OK) {
        fab_text_release(out);
    }
    return status;
}

fab_status fab_text_end(const fab_text *text, fab_error *err) {
    const struct fab_text_stream *s = text->stream;
    return s == NULL || s->status == FAB_OK ? FAB_OK : fab_fail(err, s->status, s->error.where, "%s", s->error.text);
}

/* --- lines and words ---------------------------------------------------------------------------------------------- */

static void lines_skip_blanks(fab_text *text) {
    while (text->at < text->behind && (*text->at == ' ' || *text->at == '\t')) {
        text->at++;
    }
}

bool fab_text_next(fab_text *text) {
    const char *stop = NULL;
    while (find_line(text, &stop)) {
        const char *end = text->file.data + text->file.length;
        text->line++;
        text->line_start = text->next_line;
        text->behind = stop != NULL ? stop : end;
        text->next_line = stop != NULL ? stop + 1 : end;
        if (text->stream != NULL && text->stream->has_zero && refuse_zero_in_line(text)) {
            break;
        }
        if (text->behind > text->line_start && text->behind[-1] == '\r') {
            text->behind--;
        }
        text->at = text->line_start;
        lines_skip_blanks(text);
        if (text->at < text->behind && *text->at != '#') {
            return true;
        }
    }
    text->at = text->behind = text->file.data + text->file.length;
    return false;
}

fab_token fab_text_token(fab_text *text) {
    lines_skip_blanks(text);
    fab_token t = {.text = text->at, .column = (size_t)(text->at - text->line_start) + 1};
    while (text->at < text->behind && *text->at != ' ' && *text->at != '\t') {
        text->at++;
    }
    t.length = (size_t)(text->at - t.text);
    return t;
}

bool fab_text_take(fab_text *text, const char *word) {
    size_t n = strlen(word);
    lines_skip_blanks(text);
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

fab_status fab_text_wrong(const fab_text *text, fab_token t, fab_status code, fab_error *err, const char *fmt, ...) {
    va_list arguments;
    char what[sizeof err->text];
    char where[sizeof err->where];
    char shown[48] = "";
    va_start(arguments, fmt);
    (void)vsnprintf(what, sizeof what, fmt, arguments);
    va_end(arguments);
    FAB_FORMAT(where, "%.150s:%zu:%zu", text->path, text->line, t.column > 0 ? t.column : 1);
    for (size_t i = 0; i < t.length && i < sizeof shown - 1; i++) {
        shown[i] = t.text[i] >= ' ' && t.text[i] < 127 ? t.text[i] : '?';
    }
    return t.length > 0 ? fab_fail(err, code, where, "'%s' %s", shown, what) : fab_fail(err, code, where, "%s", what);
}

fab_status fab_text_expected(const fab_text *text, const char *what, fab_error *err) {
    fab_token rest = fab_text_rest(text);
    return fab_text_refuse(text, rest, err, rest.length > 0 ? "where %s was expected" : "expected %s", what);
}

fab_status fab_text_expect_end(fab_text *text, fab_error *err) {
    fab_token more = fab_text_token(text);
    return more.length == 0 ? FAB_OK
                            : fab_text_refuse(text, more, err, "stands where the end of the line was expected");
}

bool fab_token_hexadecimal(fab_token t, uint64_t *out) {
    uint64_t n = 0;
    for (size_t i = 0; i < t.length; i++) {
        char c = t.text[i];
        bool is_digit = c >= '0' && c <= '9';
        char letter = (char)(c | 0x20);
        if (i > 15 || (!is_digit && (letter < 'a' || letter > 'f'))) {
            return false;
        }
        n = n << 4 | (uint64_t)(is_digit ? c - '0' : letter - 'a' + 10);
    }
    *out = n;
    return t.length > 0;
}

bool fab_token_guid(fab_token t, uint64_t *out) {
    return t.length > 2 && t.text[0] == '0' && t.text[1] == 'x' &&
           fab_token_hexadecimal((fab_token){.text = t.text + 2, .length = t.length - 2}, out);
}

fab_token fab_token_trim(fab_token t, const char *set) {
    while (t.length > 0 && strchr(set, *t.text) != NULL) {
        t.text++;
        t.column++;
        t.length--;
    }
    while (t.length > 0 && strchr(set, t.text[t.length - 1]) != NULL) {
        t.length--;
    }
    return t;
}

bool fab_token_begins(fab_token t, const char *word) {
    return t.length >= strlen(word) && memcmp(t.text, word, strlen(word)) == 0;
}

fab_token fab_token_range(const char *from, const char *behind) {
    return (fab_token){.text = from, .length = (size_t)(behind - from)};
}

fab_token fab_token_split(fab_token *t, char stop) {
    fab_token before = *t;
    const char *at = t->length > 0 ? memchr(t->text, stop, t->length) : NULL;
    before.length = at != NULL ? (size_t)(at - t->text) : t->length;
    *t = at != NULL ? (fab_token){at + 1, t->length - before.length - 1, t->column + before.length + 1}
                    : (fab_token){.text = NULL};
    return before;
}

const char *fab_token_last(fab_token t, char c) {
    while (t.length > 0 && t.text[t.length - 1] != c) {
        t.length--;
    }
    return t.length > 0 ? t.text + t.length - 1 : NULL;
}

const char *fab_token_find(fab_token t, const char *word) {
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= t.length; i++) {
        if (t.text[i] == word[0] && memcmp(t.text + i, word, n) == 0) {
            return t.text + i;
        }
    }
    return NULL;
}

bool fab_token_is(fab_token t, const char *word) {
    return t.length == strlen(word) && memcmp(t.text, word, t.length) == 0;
}
