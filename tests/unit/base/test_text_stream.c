/* A text file line by line through a window: the lines are those of the file read whole. */
#include "fab/rng.h"
#include "fab/text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char g_path[] = "/tmp/fab-text-XXXXXX";

static void make_path(void) {
    int file = mkstemp(g_path);
    cr_assert(file >= 0);
    (void)close(file);
}

static void drop_path(void) {
    (void)remove(g_path);
}

TestSuite(text_stream, .init = make_path, .fini = drop_path, .timeout = 60);

static void save(const fab_str *text) {
    FILE *out = fopen(g_path, "wb");
    cr_assert(out != NULL && !text->failed && fwrite(text->data, 1, text->length, out) == text->length &&
              fclose(out) == 0);
}

/* Lines of a few bytes, some of many windows; LF or CRLF, blanks, comments, maybe no line feed at the end. */
static fab_str draw(fab_rng *rng) {
    fab_str text = FAB_STR_INIT;
    fab_str_add(&text, "");
    for (uint64_t n = fab_rng_below(rng, 3000); n-- > 0;) {
        uint64_t kind = fab_rng_below(rng, 200);
        uint64_t length = kind == 0 ? fab_rng_below(rng, 900000) : kind < 20 ? 0 : fab_rng_below(rng, 300);
        fab_str_add(&text, kind > 180 ? "  # " : kind > 160 ? " \t" : "");
        for (; length > 0; length--) {
            char c = (char)('a' + fab_rng_below(rng, 26));
            fab_str_append(&text, &c, 1);
        }
        fab_str_add(&text, n == 0 && kind % 2 == 0 ? "" : kind % 5 == 0 ? "\r\n" : "\n");
    }
    return text;
}

Test(text_stream, gives_the_lines_of_the_whole) {
    fab_rng rng = fab_rng_make(3, 0);
    for (size_t i = 0; i < 12; i++) {
        fab_error err = {0};
        fab_text whole;
        fab_text stream;
        size_t n = 0;
        fab_str text = draw(&rng);
        save(&text);
        cr_assert_eq(fab_text_open(g_path, &whole, &err), FAB_OK);
        cr_assert_eq(fab_text_stream_open(g_path, &stream, &err), FAB_OK);
        while (fab_text_next(&whole)) {
            cr_assert(fab_text_next(&stream), "line %zu is missing", whole.line);
            fab_token a = fab_text_rest(&whole);
            fab_token b = fab_text_rest(&stream);
            cr_assert(a.length == b.length && memcmp(a.text, b.text, a.length) == 0 && a.column == b.column &&
                      whole.line == stream.line);
            n++;
        }
        cr_assert(!fab_text_next(&stream) && fab_text_end(&stream, &err) == FAB_OK);
        cr_assert(text.length < 1000 || n > 0);
        fab_text_release(&whole);
        fab_text_release(&stream);
        fab_str_release(&text);
    }
}

/* The line and column of a zero byte, far behind the first window; what stands before it is read. */
Test(text_stream, tells_where_a_zero_byte_is) {
    fab_error err = {0};
    fab_text in;
    size_t n = 0;
    fab_str text = FAB_STR_INIT;
    for (size_t i = 0; i < 100000; i++) {
        fab_str_add(&text, "a line\n");
    }
    fab_str_append(&text, "abc\0d\nmore\n", 11);
    save(&text);
    cr_assert_eq(fab_text_stream_open(g_path, &in, &err), FAB_OK);
    while (fab_text_next(&in)) {
        n++;
    }
    cr_assert_eq(n, 100000);
    cr_assert_eq(fab_text_end(&in, &err), FAB_EINPUT);
    cr_assert(strstr(err.where, ":100001:4") != NULL && strstr(err.text, "zero byte") != NULL, "%s", err.where);
    fab_text_release(&in);
    fab_str_release(&text);
}

Test(text_stream, refuses_a_line_without_end) {
    fab_error err = {0};
    fab_text in;
    fab_str block = FAB_STR_INIT;
    for (size_t i = 0; i < (size_t)1 << 20; i++) {
        fab_str_append(&block, "x", 1);
    }
    FILE *out = fopen(g_path, "wb");
    cr_assert(out != NULL && fputs("first\n", out) >= 0);
    for (size_t i = 0; i < 66; i++) {
        cr_assert_eq(fwrite(block.data, 1, block.length, out), block.length);
    }
    cr_assert_eq(fclose(out), 0);
    cr_assert_eq(fab_text_stream_open(g_path, &in, &err), FAB_OK);
    cr_assert(fab_text_next(&in) && !fab_text_next(&in));
    cr_assert_eq(fab_text_end(&in, &err), FAB_EINPUT);
    cr_assert(strstr(err.where, ":2:1") != NULL && strstr(err.text, "64 MiB") != NULL, "%s: %s", err.where, err.text);
    fab_text_release(&in);
    fab_str_release(&block);
    cr_assert_eq(fab_text_stream_open("/nonexistent/file", &in, &err), FAB_EIO);
}
