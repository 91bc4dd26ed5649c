/* The XML writer, and the UTF-8 reader beneath it. */
#include "fab/utf8.h"
#include "fab/xml_writer.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *memory;
static size_t size;
static FILE *out;
static fab_xml_writer writer;

static void set_up(void) {
    out = open_memstream(&memory, &size);
    cr_assert_not_null(out);
    cr_assert_eq(fab_xml_writer_init(&writer, out, NULL), FAB_OK);
}

static void tear_down(void) {
    fab_xml_writer_release(&writer);
    (void)fclose(out);
    free(memory);
}

TestSuite(xml_writer, .init = set_up, .fini = tear_down);

#define HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"

Test(xml_writer, nests_and_indents) {
    fab_xml_write_start(&writer, "a");
    fab_xml_write_attribute(&writer, "x", "1 < 2 & \"3\"\t\n");
    fab_xml_write_start(&writer, "empty");
    fab_xml_write_end(&writer);
    fab_xml_write_start(&writer, "text");
    fab_xml_write_text(&writer, "]]> \x02");
    fab_xml_write_end(&writer);
    fab_xml_write_end(&writer);
    cr_assert_eq(fab_xml_writer_finish(&writer, NULL), FAB_OK);
    cr_assert_str_eq(memory, HEAD "<a x=\"1 &lt; 2 &amp; &quot;3&quot;&#9;&#10;\">\n"
                                  "  <empty/>\n"
                                  "  <text>]]&gt; \xEF\xBF\xBD</text>\n"
                                  "</a>\n");
}

Test(xml_writer, raw_markup_and_integers) {
    fab_xml_write_start(&writer, "a");
    fab_xml_write_raw(&writer, "\n  <b>", 6);
    fab_xml_write_integer(&writer, 0);
    fab_xml_write_raw(&writer, " ", 1);
    fab_xml_write_integer(&writer, UINT64_MAX);
    fab_xml_write_raw(&writer, "</b>", 4);
    fab_xml_write_end(&writer);
    cr_assert_eq(fab_xml_writer_finish(&writer, NULL), FAB_OK);
    cr_assert_str_eq(memory, HEAD "<a>\n  <b>0 18446744073709551615</b>\n</a>\n");
}

Test(xml_writer, more_than_its_buffer) {
    size_t n = ((size_t)5 << 19) + 7;
    char *text = malloc(n + 1);
    cr_assert_not_null(text);
    memset(text, 'x', n);
    text[n] = '\0';
    fab_xml_write_start(&writer, "a");
    fab_xml_write_text(&writer, text);
    fab_xml_write_end(&writer);
    cr_assert_eq(fab_xml_writer_finish(&writer, NULL), FAB_OK);
    cr_assert_eq(size, strlen(HEAD "<a></a>\n") + n);
    cr_assert_eq(strncmp(memory + strlen(HEAD "<a>"), text, n), 0);
    free(text);
}

Test(xml_writer, misuse_is_an_internal_error) {
    fab_xml_write_start(&writer, "a");
    cr_assert_eq(fab_xml_writer_finish(&writer, NULL), FAB_EINTERNAL);
    fab_xml_write_end(&writer);
    cr_assert_eq(fab_xml_writer_finish(&writer, NULL), FAB_OK);
    fab_xml_write_end(&writer);
    cr_assert_eq(fab_xml_writer_finish(&writer, NULL), FAB_EINTERNAL);
}

Test(xml_writer, too_deep_is_an_internal_error) {
    for (int i = 0; i <= FAB_XML_DEPTH; i++) {
        fab_xml_write_start(&writer, "a");
    }
    for (int i = 0; i < FAB_XML_DEPTH; i++) {
        fab_xml_write_end(&writer);
    }
    cr_assert_eq(fab_xml_writer_finish(&writer, NULL), FAB_EINTERNAL);
}

Test(xml_writer, utf8_is_decoded_strictly) {
    static const struct {
        const char *text;
        uint32_t code;
        size_t length;
    } CASES[] = {
        {"a", 'a', 1},
        {"\x7f", 0x7F, 1},
        {"\xc3\xa9", 0xE9, 2},
        {"\xe2\x82\xac", 0x20AC, 3},
        {"\xf0\x9f\x98\x80", 0x1F600, 4},
        {"\xf4\x8f\xbf\xbf", 0x10FFFF, 4},
        {"\xf4\x90\x80\x80", FAB_UTF8_REPLACEMENT, 1}, /* above U+10FFFF */
        {"\xc0\x80", FAB_UTF8_REPLACEMENT, 1},         /* overlong */
        {"\xe0\x80\x80", FAB_UTF8_REPLACEMENT, 1},
        {"\xf0\x80\x80\x80", FAB_UTF8_REPLACEMENT, 1},
        {"\xed\xa0\x80", FAB_UTF8_REPLACEMENT, 1}, /* surrogate */
        {"\x80", FAB_UTF8_REPLACEMENT, 1},
        {"\xff", FAB_UTF8_REPLACEMENT, 1},
        {"\xe2\x82", FAB_UTF8_REPLACEMENT, 1}, /* cut short */
        {"\xc3", FAB_UTF8_REPLACEMENT, 1},
        {"\xc3z", FAB_UTF8_REPLACEMENT, 1},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        uint32_t code = 0;
        cr_assert_eq(fab_utf8_decode(CASES[i].text, &code), CASES[i].length, "case %zu", i);
        cr_assert_eq(code, CASES[i].code, "case %zu: %x", i, code);
    }
}
