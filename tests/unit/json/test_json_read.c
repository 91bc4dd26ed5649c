#include "fab/json_read.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

Test(json_read, values) {
    fab_json json = {.n = 0};
    fab_error err = {0};
    const char *text = " {\"a\": [1, -2.5e3, true, null], \"b\": {\"c\": \"x\\u00e4\\n\\ud83d\\ude00\"}, \"d\": [] }\n";
    cr_assert_eq(fab_json_parse(text, "t", &json, &err), FAB_OK, "%s", err.text);
    uint32_t a = fab_json_member(&json, 0, "a");
    uint32_t b = fab_json_member(&json, 0, "b");
    cr_assert_eq(json.n, 9);
    cr_assert_eq(fab_json_count(&json, a), 4);
    cr_assert_eq(fab_json_count(&json, fab_json_member(&json, 0, "d")), 0);
    cr_assert_eq(json.values[json.values[json.values[a].first].next].number, -2500);
    cr_assert_str_eq(fab_json_text_of(&json, b, "c", ""), "x\xc3\xa4\n\xf0\x9f\x98\x80");
    cr_assert_str_eq(fab_json_text_of(&json, b, "e", "none"), "none");
    cr_assert(isnan(fab_json_number_of(&json, b, "c", NAN)), "a text is no number");
    cr_assert_eq(fab_json_member(&json, a, "b"), FAB_JSON_NONE, "a list has no members");
    cr_assert_eq(fab_json_member(&json, FAB_JSON_NONE, "b"), FAB_JSON_NONE);
    fab_json_release(&json);
}

Test(json_read, wrong) {
    static const struct {
        const char *text, *where, *expected;
    } WRONG[] = {
        {"", "t:1:0", "end of file"},
        {"[1,\n 2", "t:2:2", "']' expected"},
        {"{\"a\" 1}", "t:1:6", "':' expected"},
        {"{a: 1}", "t:1:2", "string or '}' expected"},
        {"[1,]", "t:1:4", "unexpected token"},
        {"[1] 2", "t:1:5", "end of file expected"},
        {"[1e999]", "t:1:6", "overflow"},
        {"[+1]", "t:1:2", "invalid token"},
        {"[nan]", "t:1:4", "invalid token"},
        {"{\"a\": 1, \"a\": 2}", "t:1:12", "duplicate object key"},
        {"\"a\nb\"", "t:1:2", "unexpected newline"},
        {"\"\\x\"", "t:1:3", "invalid escape"},
        {"\"\\ud800\"", "t:1:8", "invalid Unicode"},
        {"\"\\u0000\"", "t:1:8", "u0000"},
        {"\"\xff\"", "t:1:1", "unable to decode"},
        {"\"open", "t:1:5", "premature end"},
    };
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        fab_json json = {.n = 7};
        fab_error err = {0};
        cr_assert_eq(fab_json_parse(WRONG[i].text, "t", &json, &err), FAB_EINPUT, "'%s' is read", WRONG[i].text);
        cr_assert_str_eq(err.where, WRONG[i].where, "'%s': %s", WRONG[i].text, err.where);
        cr_assert(strstr(err.text, WRONG[i].expected) != NULL, "'%s': %s", WRONG[i].text, err.text);
        cr_assert_eq(json.n, 7, "a failed call writes");
    }
}

Test(json_read, depth) {
    for (int n = 63; n <= 66; n++) {
        char text[200] = "";
        fab_json json = {.n = 0};
        fab_error err = {0};
        memset(text, '[', (size_t)n);
        memset(text + n, ']', (size_t)n);
        cr_assert_eq(fab_json_parse(text, "t", &json, &err), n <= 64 ? FAB_OK : FAB_EINPUT, "%d levels", n);
        fab_json_release(&json);
    }
}
