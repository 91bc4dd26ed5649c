#include "fab/str.h"
#include "fab/xml_reader.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fab_xml *parse(const char *text) {
    fab_xml *xml = NULL;
    fab_error err = {0};
    cr_assert_eq(fab_xml_parse(text, strlen(text), "t.xml", &xml, &err), FAB_OK, "%s: %s", err.where, err.text);
    return xml;
}

static void check_bad(const char *data, size_t size, const char *where, const char *what) {
    fab_xml *xml = NULL;
    fab_error err = {0};
    cr_assert_eq(fab_xml_parse(data, size, "t.xml", &xml, &err), FAB_EINPUT);
    cr_assert_null(xml, "output written on failure");
    cr_assert_str_eq(err.where, where, "%s, expected %s: %s", err.where, where, err.text);
    cr_assert_not_null(strstr(err.text, what), "'%s' does not say '%s'", err.text, what);
}

static void check_bad_text(const char *text, const char *where, const char *what) {
    check_bad(text, strlen(text), where, what);
}

static void check_place(const fab_xml_element *element, const char *name, const char *value, unsigned line,
                        unsigned column) {
    const fab_xml_attribute *attribute = fab_xml_find(element, name);
    cr_assert_not_null(attribute, "%s", name);
    cr_assert_str_eq(attribute->value, value);
    cr_assert(attribute->line == line && attribute->column == column, "%s is at %u:%u, not %u:%u", name,
              (unsigned)attribute->line, (unsigned)attribute->column, line, column);
}

Test(xml, tree) {
    fab_xml *xml = parse("<a x='1'>\n  hello <b/>\n  <c><d>in</d></c> world \n</a>\n");
    const fab_xml_element *a = fab_xml_root(xml);
    cr_assert_str_eq(a->name, "a");
    cr_assert_str_eq(a->text, "hello \n   world");
    cr_assert_null(a->parent);
    const fab_xml_element *b = a->first_child;
    cr_assert_str_eq(b->name, "b");
    cr_assert_str_eq(b->text, "");
    cr_assert_eq(b->parent, a);
    cr_assert(b->line == 2 && b->column == 9);
    const fab_xml_element *c = b->next;
    cr_assert_null(c->next);
    cr_assert_str_eq(c->first_child->text, "in");
    cr_assert(c->first_child->line == 3 && c->first_child->column == 6);
    fab_xml_free(xml);
}

Test(xml, places_of_values) {
    fab_xml *xml = parse("<?xml version=\"1.0\"?>\n<!-- <x y=\"1\"> -->\n"
                         "<a one = \"1\"\n   two='x > \"y\" / z'\tthree=\"&lt;&#10;&quot;\"\n\n  four\n =\n 'last'>\n"
                         "  <!-- c --><b five=\"5\"/><b\n six='6'></b>\n</a>");
    const fab_xml_element *a = fab_xml_root(xml);
    check_place(a, "one", "1", 3, 11);
    check_place(a, "two", "x > \"y\" / z", 4, 9);
    check_place(a, "three", "<\n\"", 4, 29);
    check_place(a, "four", "last", 8, 3);
    check_place(a->first_child, "five", "5", 9, 22);
    check_place(a->first_child->next, "six", "6", 10, 7);
    cr_assert(a->line == 3 && a->column == 1);
    fab_xml_free(xml);
}

Test(xml, columns_count_characters) {
    fab_xml *xml = parse("<a x=\"\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80\" y=\"2\"/>");
    check_place(fab_xml_root(xml), "y", "2", 1, 15);
    fab_xml_free(xml);
}

Test(xml, byte_order_mark) {
    fab_xml *xml = parse("\xEF\xBB\xBF<a x=\"1\"/>");
    check_place(fab_xml_root(xml), "x", "1", 1, 7);
    fab_xml_free(xml);
    check_bad_text("\xEF\xBB\xBF", "t.xml:1:1", "empty");
}

Test(xml, line_ends_of_windows) {
    fab_xml *xml = parse("<a>\r\n<b x=\"1\"/>\r\ntext\r\n</a>\r\n");
    check_place(fab_xml_root(xml)->first_child, "x", "1", 2, 7);
    fab_xml_free(xml);
}

Test(xml, cdata_and_references) {
    fab_xml *xml = parse("<a>1 &lt; 2 <![CDATA[<&>]]> &#x41;&amp;</a>");
    cr_assert_str_eq(fab_xml_root(xml)->text, "1 < 2 <&> A&");
    fab_xml_free(xml);
}

Test(xml, namespaces) {
    fab_xml *xml =
        parse("<a xmlns='urn:x' xmlns:n='urn:n' n:p='1' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' "
              "xsi:schemaLocation='u v' q='2'><n:b/></a>");
    const fab_xml_element *a = fab_xml_root(xml);
    cr_assert_str_eq(a->uri, "urn:x");
    cr_assert_eq(a->n_attributes, 2, "declarations and xsi: do not count");
    check_place(a, "n:p", "1", 1, 39);
    check_place(a, "q", "2", 1, 124);
    cr_assert_str_eq(a->first_child->name, "n:b");
    fab_xml_free(xml);
    check_bad_text("<a><n:b/></a>", "t.xml:1:8", "Namespace prefix n");
}

Test(xml, refuses_doctype) {
    check_bad_text("<!DOCTYPE a>\n<a/>", "t.xml:1:1", "DOCTYPE");
    check_bad_text("<?xml version='1.0'?>\n\n  <!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "t.xml:3:3", "DOCTYPE");
    check_bad_text("<!DOCTYPE a SYSTEM \"http://localhost/x.dtd\"><a/>", "t.xml:1:1", "DOCTYPE");
    check_bad_text("<!DOCTYPE a SYSTEM \"file:///etc/passwd\" [<!ENTITY % x SYSTEM \"file:///etc/passwd\"> %x;]><a/>",
                   "t.xml:1:1", "DOCTYPE");
}

Test(xml, syntax_errors) {
    check_bad_text("", "t.xml:1:1", "empty");
    check_bad_text("<a>\n <b>\n</a>", "t.xml:3:5", "mismatch");
    check_bad_text("<a x=1/>", "t.xml:1:6", "AttValue");
    check_bad_text("<a x='1' x='2'/>", "t.xml:1:15", "redefined");
    check_bad_text("<a/><b/>", "t.xml:1:5", "Extra content");
    check_bad_text("<a>&nope;</a>", "t.xml:1:10", "nope");
    check_bad_text("text", "t.xml:1:1", "Start tag expected");
    check_bad_text("<a>\x01</a>", "t.xml:1:4", "not well-formed");
}

Test(xml, refuses_other_encodings) {
    static const char UTF16LE[] = "\xFF\xFE<\0a\0/\0>\0";
    static const char UTF16BE[] = "\xFE\xFF\0<\0a\0/\0>";
    static const char NO_MARK[] = "<\0a\0/\0>\0";
    check_bad(UTF16LE, sizeof UTF16LE - 1, "t.xml:1:1", "UTF-16");
    check_bad(UTF16BE, sizeof UTF16BE - 1, "t.xml:1:1", "UTF-16");
    check_bad(NO_MARK, sizeof NO_MARK - 1, "t.xml:1:1", "UTF-16");
    check_bad("<a>\n\0</a>", 9, "t.xml:2:1", "NUL");
    check_bad_text("<a>\xFC</a>", "t.xml:1:4", "UTF-8");
    check_bad_text("<a>\xC0\xBC</a>", "t.xml:1:4", "UTF-8");
    check_bad_text("<a>\xED\xA0\x80</a>", "t.xml:1:4", "UTF-8");
    check_bad_text("<a>\xF5\x80\x80\x80</a>", "t.xml:1:4", "UTF-8");
    check_bad_text("<a>\xE2\x82", "t.xml:1:4", "UTF-8");
    check_bad_text("<?xml version='1.0' encoding='latin1'?><a/>", "t.xml:1:31", "encoding");
    fab_xml_free(parse("<?xml version='1.0' encoding=\"utf-8\"?><a/>"));
}

static char *repeated(const char *head, const char *item, size_t n, const char *tail, size_t *out_size) {
    fab_str text = FAB_STR_INIT;
    fab_str_add(&text, head);
    for (size_t i = 0; i < n; i++) {
        fab_str_printf(&text, item, (unsigned)i);
    }
    fab_str_add(&text, tail);
    *out_size = text.length;
    return text.data;
}

static void check_repeated(const char *head, const char *item, size_t n, const char *tail, const char *what) {
    size_t size = 0;
    char *text = repeated(head, item, n, tail, &size);
    fab_xml *xml = NULL;
    fab_error err = {0};
    fab_status status = fab_xml_parse(text, size, "t.xml", &xml, &err);
    if (what == NULL) {
        cr_assert_eq(status, FAB_OK, "%s", err.text);
    } else {
        cr_assert_eq(status, FAB_EINPUT);
        cr_assert_not_null(strstr(err.text, what), "%s", err.text);
    }
    fab_xml_free(xml);
    free(text);
}

Test(xml, limits) {
    check_repeated("<a>", "<b/>", FAB_XML_MAX_ELEMENTS - 1, "</a>", NULL);
    check_repeated("<a>", "<b/>", FAB_XML_MAX_ELEMENTS, "</a>", "too many elements");
    check_repeated("<a", " x%u='1'", FAB_XML_MAX_ATTRIBUTES, "/>", NULL);
    check_repeated("<a", " x%u='1'", FAB_XML_MAX_ATTRIBUTES + 1, "/>", "attributes");
    check_repeated("<a", " xmlns:x%u='u'", 20, "/>", "namespaces");
    check_repeated("", "<a>", 10000, "", "too deep");
    check_repeated("<a>", "0123456789abcdef", (16 << 20) / 16, "</a>", "limit");
    check_repeated("<a x='", "0123456789abcdef", 1000000, "'/>", "not well-formed");
}

Test(xml, file_beyond_the_limit_is_not_read_whole) {
    fab_xml *xml = NULL;
    fab_error err = {0};
    cr_assert_eq(fab_xml_read("/dev/zero", &xml, &err), FAB_EINPUT, "an endless file");
    cr_assert_str_eq(err.where, "/dev/zero");
    cr_assert_not_null(strstr(err.text, "limit"));
}

Test(xml, missing_file) {
    fab_xml *xml = NULL;
    fab_error err = {0};
    cr_assert_eq(fab_xml_read("/nonexistent/x.xml", &xml, &err), FAB_EIO);
    cr_assert_eq(fab_xml_read("/", &xml, NULL), FAB_EIO, "a folder; err may be NULL");
}

Test(xml, long_file_names_keep_the_place) {
    char file[400];
    char place[FAB_XML_PLACE_SIZE];
    memset(file, 'x', sizeof file - 1);
    file[sizeof file - 1] = '\0';
    (void)fab_xml_place(place, file, 12, 34);
    cr_assert_eq(strlen(place), FAB_XML_PLACE_SIZE - 1);
    cr_assert_str_eq(place + strlen(place) - 7, "x:12:34");
}

/* Whatever the bytes, the reader answers, and says nothing on its own. */
Test(xml, survives_damage, .init = cr_redirect_stderr) {
    static const char TEXT[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- c -->\n<design name=\"\xC3\xBC\">\n"
        "  <source>a &amp; b <![CDATA[x]]></source>\n  <fabric gpus='8'><tier level=\"1\"/></fabric>\n"
        "  <?pi data?>\n</design>\n";
    static const char DAMAGE[] = "<>&\"'=/!?-[] \n\t\x01\x80\xFF:xa;";
    char copy[sizeof TEXT];
    unsigned state = 1;
    for (size_t size = 0; size < sizeof TEXT; size++) {
        fab_xml *xml = NULL;
        char *exact = malloc(size + 1); /* so that a sanitizer sees reads beyond the end */
        memcpy(exact, TEXT, size);
        exact = realloc(exact, size > 0 ? size : 1);
        (void)!fab_xml_parse(exact, size, "t.xml", &xml, NULL);
        fab_xml_free(xml);
        free(exact);
    }
    for (int round = 0; round < 20000; round++) {
        fab_xml *xml = NULL;
        memcpy(copy, TEXT, sizeof TEXT);
        for (int i = 0; i < 3; i++) {
            state = state * 1103515245U + 12345U;
            copy[(state >> 8) % (sizeof TEXT - 1)] = DAMAGE[(state >> 20) % (sizeof DAMAGE - 1)];
        }
        (void)!fab_xml_parse(copy, sizeof TEXT - 1, "t.xml", &xml, NULL);
        fab_xml_free(xml);
    }
    (void)fflush(stderr);
    cr_assert_stderr_eq_str("");
}
