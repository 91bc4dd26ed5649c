/* The result as one HTML file that needs nothing else: the built asset (web/), and in it a block of data. */
#include "fab/builtin.h"
#include "fab/sweep.h"
#include "fab/utf8.h"
#include "html_data.h"
#include "data/json_text.h"
#include "report_formats.h"

#include <string.h>

#define DATA_MARK  "@FABRISCOPE_DATA@"
#define TITLE_MARK "@FABRISCOPE_TITLE@"

/* Inside <script>, '<' could end the element; JSON has it in strings only. */
static void put_data(fab_str *out, const fab_str *json) {
    const char *at = json->data;
    const char *end = json->data + json->length;
    while (at < end) {
        const char *less = memchr(at, '<', (size_t)(end - at));
        size_t n = (size_t)((less != NULL ? less : end) - at);
        fab_str_append(out, at, n);
        at += n;
        if (less != NULL) {
            fab_str_add(out, "\\u003c");
            at++;
        }
    }
}

static void put_title(fab_str *out, const char *text) {
    while (*text != '\0') {
        uint32_t code = 0;
        size_t n = fab_utf8_decode(text, &code);
        if (code == '<' || code == '&') {
            fab_str_printf(out, "&#%u;", (unsigned)code);
        } else if (code < ' ' || code == FAB_UTF8_REPLACEMENT) {
            fab_str_add(out, "?");
        } else {
            fab_str_append(out, text, n);
        }
        text += n;
    }
}

static fab_status make_data(const fab_result *result, fab_str *out, fab_error *err) {
    fab_str_add(out, "{\"report\":");
    fab_json_result(out, result);
    if (result->iteration_note[0] != '\0') {
        fab_str_add(out, ",\"iteration_note\":");
        fab_json_string(out, result->iteration_note);
    }
    FAB_PASS(fab_html_graph(result, out, err));
    FAB_PASS(fab_html_views(result, out, err));
    FAB_PASS(fab_html_loads(result, out, err));
    FAB_PASS(fab_html_criticality(result, out, err));
    FAB_PASS(fab_html_blocks(result, out, err));
    fab_str_add(out, "}");
    return fab_str_status(out, err);
}

static const char *title_of(const fab_result *result) {
    return result->n_fabrics > 0     ? result->fabrics[0].name
           : result->sweep != NULL   ? result->sweep->design
           : result->optimum != NULL ? "optimize"
                                     : "report";
}

static fab_status make_html(const fab_result *result, const fab_report_style *style, fab_str *page, fab_error *err) {
    (void)style;
    fab_status status = FAB_OK;
    fab_str json = FAB_STR_INIT;
    const fab_builtin *asset = fab_builtin_find(fab_builtin_web, "report.html");
    const char *title = asset != NULL ? strstr(asset->data, TITLE_MARK) : NULL;
    const char *data = title != NULL ? strstr(title, DATA_MARK) : NULL;
    if (data == NULL) {
        FAB_FAIL(err, FAB_EINTERNAL, "web/dist/report.html", "has no place for a title and data");
    }
    FAB_TRY(make_data(result, &json, err));
    fab_str_append(page, asset->data, (size_t)(title - asset->data));
    put_title(page, title_of(result));
    title += strlen(TITLE_MARK);
    fab_str_append(page, title, (size_t)(data - title));
    put_data(page, &json);
    fab_str_add(page, data + strlen(DATA_MARK));
done:
    fab_str_release(&json);
    return status;
}

const fab_report_format fab_report_html = {
    .name = "html",
    .file_name = "report.html",
    .suffix = ".html",
    .summary = "one self-contained page: pictures and tables, for a browser",
    .make = make_html,
    .shows_loads = true,
    .cable_bytes = 130,
};
