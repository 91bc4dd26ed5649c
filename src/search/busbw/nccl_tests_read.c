/*
 * Rows of nccl-tests among whatever else a job prints.
 *
 * A row is printed in two parts: its size, count, type, operation and root before the test runs, its times after it.
 * What NCCL_DEBUG prints meanwhile begins on the first line, and the second part then stands on a line of its own.
 */
#include "fab/busbw_run.h"

#include "fab/text.h"

#include <ctype.h>

#define MOST_WORDS 16
#define GB         1e9

typedef struct reader {
    fab_text text;
    fab_nccl_tests *out;
    bool waits; /* the first part of a row is read, its times are not */
    double bytes;
    bool has_root; /* what the heading says; true before it */
    fab_error *err;
} reader;

static bool is_number(fab_token t, double *out) {
    char room[40];
    char *end = NULL;
    if (t.length == 0 || t.length >= sizeof room || (!isdigit((unsigned char)t.text[0]) && t.text[0] != '.')) {
        return false;
    }
    memcpy(room, t.text, t.length);
    room[t.length] = '\0';
    *out = strtod(room, &end);
    return *end == '\0' && isfinite(*out);
}

static bool is_missing(fab_token t) {
    return fab_token_is(t, "N/A");
}

static bool is_word(fab_token t) {
    return t.length > 0 && isalpha((unsigned char)t.text[0]) && !is_missing(t);
}

/* Time, algbw and busbw of a group of columns. */
static bool take_group(const fab_token *t, size_t n, double out[3]) {
    FAB_ALL(are_numbers, i, 3, (size_t)i < n && is_number(t[i], &out[i]));
    return are_numbers;
}

/* Out of place if it was run, else in place: behind #wrong, which old versions call error. */
static bool take_times(const fab_token *t, size_t n, double out[3]) {
    return take_group(t, n, out) || (n > 4 && take_group(t + 4, n - 4, out));
}

static fab_status add_row(reader *r, const double times[3]) {
    fab_nccl_tests *out = r->out;
    if (r->bytes <= 0) { /* sizes that are too small for all ranks are tested as 0 */
        return FAB_OK;
    }
    FAB_PASS(FAB_GROW(out->rows, out->capacity, out->n_rows + 1, r->err));
    out->rows[out->n_rows++] = (fab_nccl_tests_row){.bytes = r->bytes,
                                                    .time_s = times[0] * 1e-6,
                                                    .algbw = times[1] * GB,
                                                    .busbw = times[2] * GB,
                                                    .line = r->text.line};
    return FAB_OK;
}

/* "-1" of the root, or what follows it at once: "-1host-0:17:17 [0] NCCL INFO ...". */
static bool is_root(fab_token t) {
    size_t sign = t.length > 0 && t.text[0] == '-' ? 1 : 0;
    return t.length > sign && isdigit((unsigned char)t.text[sign]);
}

/* A line that begins with a size. */
static fab_status take_row(reader *r, const fab_token *t, size_t n) {
    double times[3];
    double count = 0;
    size_t at = 1;
    if (n > 2 && is_number(t[1], &count) && is_word(t[2])) {
        at = n > 3 && is_word(t[3]) ? 4 : 3;
        at += r->has_root && at < n && is_root(t[at]);
    }
    r->waits = at > 2 && !take_times(t + at, n - at, times);
    if (r->waits) {
        return FAB_OK;
    }
    if (at <= 2 && (n < 4 || !take_times(t + 1, n - 1, times))) { /* some line with a number in front */
        return FAB_OK;
    }
    return add_row(r, times);
}

static fab_status take_words(reader *r, const fab_token *t, size_t n) {
    double first = 0;
    double times[3];
    if (n == 0 || !(is_number(t[0], &first) || (r->waits && is_missing(t[0])))) {
        return FAB_OK;
    }
    bool has_type = n > 2 && is_word(t[2]);
    if (r->waits && !has_type && take_times(t, n, times)) {
        r->waits = false;
        return add_row(r, times);
    }
    if (floor(first) < first) {
        return FAB_OK;
    }
    r->bytes = first;
    return take_row(r, t, n);
}

/* "#  Rank  3 Group  0 Pid 17 on host-0 device  3 [0x67] NVIDIA H100", "# Collective test starting: all_reduce_perf",
 * "#       size         count      type   redop    root     time   algbw   busbw #wrong". */
static void take_heading(reader *r, const fab_token *t, size_t n) {
    uint64_t rank = 0;
    if (n > 2 && fab_token_is(t[1], "Rank") && fab_token_number(t[2], &rank) && rank < UINT32_MAX) {
        r->out->ranks = rank + 1 > r->out->ranks ? rank + 1 : r->out->ranks;
    }
    if (n > 4 && fab_token_is(t[1], "Collective") && fab_token_is(t[3], "starting:")) {
        FAB_FORMAT(r->out->test, "%.*s", (int)(t[4].length < 60 ? t[4].length : 60), t[4].text);
    }
    if (n > 4 && fab_token_is(t[1], "size")) {
        r->has_root = false;
        for (size_t i = 2; i < n; i++) {
            r->has_root = r->has_root || fab_token_is(t[i], "root");
        }
    }
}

/* Behind "12: " or "[1,12]<stdout>:", which launchers print before every line of a rank. */
static size_t words_of_launcher(const fab_token *t, size_t n) {
    if (n == 0) {
        return 0;
    }
    FAB_FIRST(digits, t[0].length, !isdigit((unsigned char)t[0].text[digits]));
    bool is_rank = digits > 0 && digits + 1 == t[0].length && t[0].text[digits] == ':';
    bool is_tag = t[0].text[0] == '[' && memchr(t[0].text, '<', t[0].length) != NULL;
    return is_rank || is_tag ? 1 : 0;
}

/* The words of a line, of which "#" may be one with what follows it. */
static size_t split_line(const char *at, const char *end, fab_token words[MOST_WORDS]) {
    size_t n = 0;
    const char *start = at;
    while (at < end && n < MOST_WORDS) {
        while (at < end && isspace((unsigned char)*at)) {
            at++;
        }
        const char *from = at;
        const bool is_mark = at < end && *at == '#' && n == 0;
        do { /* a mark is a word of its own */
            at += at < end ? 1 : 0;
        } while (at < end && !is_mark && !isspace((unsigned char)*at));
        if (at > from && !isspace((unsigned char)*from)) {
            words[n++] = (fab_token){from, (size_t)(at - from), (size_t)(from - start) + 1};
        }
    }
    return n;
}

static fab_status take_line(reader *r, const char *at, const char *end) {
    fab_token words[MOST_WORDS];
    size_t n = split_line(at, end, words);
    size_t skip = words_of_launcher(words, n);
    const fab_token *t = words + skip;
    n -= skip;
    if (n > 0 && t[0].text[0] == '#') {
        take_heading(r, t, n);
        return FAB_OK;
    }
    return take_words(r, t, n);
}

fab_status fab_nccl_tests_read(const char *path, fab_nccl_tests *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_nccl_tests read = {.path = path};
    reader r = {.out = &read, .has_root = true, .err = err};
    FAB_TRY(fab_text_open(path, &r.text, err));
    const char *end = r.text.file.data + r.text.file.length;
    for (const char *at = r.text.file.data; at < end;) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        line_end = line_end != NULL ? line_end : end;
        r.text.line++;
        FAB_TRY(take_line(&r, at, line_end));
        at = line_end + 1;
    }
    FAB_FAIL_IF(read.n_rows == 0, err, FAB_EINPUT, path, "no row of nccl-tests: size, time, algbw and busbw of a test");
    *out = read;
    read = (fab_nccl_tests){.path = NULL};
done:
    fab_nccl_tests_release(&read);
    fab_text_release(&r.text);
    return status;
}

FAB_RELEASES(fab_nccl_tests_release, fab_nccl_tests, rows);
