/* The result as one HTML file that needs nothing else: the built asset (web/), and in it a block of data. */
#include "fab/builtin.h"
#include "fab/difference.h"
#include "fab/save.h"
#include "fab/sweep.h"
#include "fab/utf8.h"
#include "html_data.h"
#include "data/json_text.h"
#include "graph/svg.h"
#include "report_formats.h"

#define MARK "@FABRISCOPE_" /* TITLE@, CORE@, DATA@ */

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

static void put_asked(const fab_asked *asked, fab_str *out) {
    fab_str_add(out, ",\"asked\":{\"words\":[");
    for (size_t i = 0; i < asked->n_words; i++) {
        bool is_file = asked->file != NULL && strcmp(asked->words[i], asked->file) == 0;
        fab_str_add(out, i > 0 ? "," : "");
        fab_json_string(out, is_file ? asked->base : asked->words[i]);
    }
    fab_str_add(out, "],\"files\":{");
    if (asked->file != NULL) {
        fab_json_string(out, asked->base);
        fab_str_add(out, ":");
        fab_json_string(out, asked->text);
    }
    fab_str_add(out, "}}");
}

/* The drawing of an audit: the page shows the same. */
static fab_status put_audit(const fab_result *result, fab_str *out, fab_error *err) {
    FAB_OWNED char *drawing = NULL;
    size_t size = 0;
    FAB_OWNS(fab_file_close) FILE *stream = open_memstream(&drawing, &size);
    FAB_REFUSE_IF(stream == NULL, err, FAB_ENOMEM, NULL, "cannot allocate the drawing of an audit");
    FAB_PASS(fab_svg_audit(result, stream, err));
    FAB_REFUSE_IF(fflush(stream) != 0, err, FAB_ENOMEM, NULL, "cannot allocate the drawing of an audit");
    fab_str_add(out, ",\"audit_picture\":");
    fab_json_string(out, drawing);
    return FAB_OK;
}

/* --- how full links are where the loads of each are not kept: of the points of a sweep, and of two states ----------
 */

#define MOST_HEATS 4096 /* rows of heat: some 200 kB */

typedef struct heat_rows {
    size_t n, n_left; /* rows, and of how many figures there are none */
} heat_rows;

static void put_heat(const fab_heat *heat, size_t point, size_t phase, size_t engine, heat_rows *rows, fab_str *out) {
    if (heat->n > 0 && (rows->n_left > 0 || rows->n + heat->n > MOST_HEATS)) { /* all of a figure or nothing */
        rows->n_left++;
        return;
    }
    for (uint32_t b = 0; b < heat->n; b++, rows->n++) {
        fab_str_printf(out, "%s[%zu,%zu,%zu,\"%s\"", rows->n > 0 ? "," : "", point, phase, engine,
                       fab_boundary_name(heat->wiring, b + 1));
        for (size_t bin = 0; bin < FAB_HISTOGRAM; bin++) {
            fab_str_printf(out, ",%" PRIu32, heat->links[b][bin]);
        }
        fab_str_add(out, "]");
    }
}

static void put_sweep(const fab_sweep *s, heat_rows *rows, fab_str *out) {
    for (size_t i = 0; i < s->n_points; i++) {
        const fab_sweep_point *point = &s->points[i];
        for (size_t p = 0; p < point->n_phases; p++) {
            for (size_t e = 0; e < point->n_engines; e++) {
                put_heat(&point->phases[p].times[e].heat, i, p, e, rows, out);
            }
        }
    }
}

static void put_difference(const fab_difference *d, heat_rows *rows, fab_str *out) {
    for (size_t e = 0; e < d->n_engines; e++) {
        for (size_t p = 0; p < d->engines[e].n_phases; p++) {
            put_heat(&d->engines[e].phases[p].before_heat, 0, p, e, rows, out);
            put_heat(&d->engines[e].phases[p].after_heat, 1, p, e, rows, out);
        }
    }
}

/* `"heat"`: of compared designs, points of a sweep, or two states: links of every boundary by utilisation, as
 * [point, phase, engine, boundary, links of each bin], MOST_HEATS at most; `"heat_left_out"`: of how many points,
 * phases and engines there are none for that. */
static fab_status put_heats(const fab_result *result, fab_str *out, fab_error *err) {
    heat_rows rows = {0};
    if (result->sweep == NULL && result->difference == NULL) {
        return FAB_OK;
    }
    fab_str_add(out, ",\"heat\":[");
    if (result->sweep != NULL) {
        put_sweep(result->sweep, &rows, out);
    } else {
        put_difference(result->difference, &rows, out);
    }
    fab_str_printf(out, "],\"heat_left_out\":%zu", rows.n_left);
    return fab_str_status(out, err);
}

/* --- the page ----------------------------------------------------------------------------------------------------- */

static fab_status make_data(const fab_result *result, fab_str *out, fab_error *err) {
    fab_str_add(out, "{\"report\":");
    fab_json_result(out, result);
    if (result->iteration_note[0] != '\0') {
        fab_str_add(out, ",\"iteration_note\":");
        fab_json_string(out, result->iteration_note);
    }
    if (result->asked != NULL) {
        put_asked(result->asked, out);
        if (result->asked->has_rest) {
            fab_str_add(out, ",\"rest\":\"as before\"}");
            return fab_str_status(out, err);
        }
    }
    FAB_PASS(result->audit != NULL ? put_audit(result, out, err) : FAB_OK);
    FAB_PASS(fab_html_graph(result, out, err));
    FAB_PASS(fab_html_views(result, out, err));
    FAB_PASS(fab_html_loads(result, out, err));
    FAB_PASS(fab_html_criticality(result, out, err));
    FAB_PASS(fab_html_blocks(result, out, err));
    FAB_PASS(put_heats(result, out, err));
    FAB_PASS(fab_html_schedules(result, out, err));
    FAB_PASS(fab_html_ranks(result, out, err));
    fab_str_add(out, "}");
    return fab_str_status(out, err);
}

static const char *title_of(const fab_result *result) {
    return result->n_fabrics > 0     ? result->fabrics[0].name
           : result->sweep != NULL   ? result->sweep->design
           : result->optimum != NULL ? "optimize"
                                     : "report";
}

/* The asset with everything in its places; `result` NULL: the data are those of no report. */
static fab_status fill_page(const char *name, const fab_result *result, fab_str *page, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str json = FAB_STR_INIT;
    const fab_builtin *asset = fab_builtin_find(fab_builtin_web, name);
    const fab_builtin *core = fab_builtin_find(fab_builtin_web, "core.b64");
    const char *at = asset != NULL ? asset->data : "";
    if (result != NULL) {
        FAB_PASS(make_data(result, &json, err));
    } else {
        fab_str_add(&json, "null");
    }
    for (const char *mark = strstr(at, MARK); mark != NULL; mark = strstr(at, MARK)) {
        fab_str_append(page, at, (size_t)(mark - at));
        at = mark + strlen(MARK);
        if (strncmp(at, "TITLE@", 6) == 0) {
            put_title(page, result != NULL ? title_of(result) : "explore");
        } else if (strncmp(at, "CORE@", 5) == 0 && core != NULL) {
            fab_str_append(page, core->data, core->size);
        } else if (strncmp(at, "DATA@", 5) == 0) {
            put_data(page, &json);
        } else {
            return fab_fail(err, FAB_EINTERNAL, name, "has a place for what there is not: %.20s", mark);
        }
        at += strcspn(at, "@") + 1;
    }
    fab_str_add(page, at);
    FAB_REFUSE_IF(asset == NULL || asset->size < 10, err, FAB_EINTERNAL, name, "is not in this program");
    return FAB_OK;
}

fab_status fab_report_explore_empty(FILE *out, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str page = FAB_STR_INIT;
    FAB_PASS(fill_page("explore.html", NULL, &page, err));
    FAB_PASS(fab_str_status(&page, err));
    (void)fwrite(page.data, 1, page.length, out);
    return FAB_OK;
}

/* The report format of a page: the callback has no context of its own. */
#define PAGE_FORMAT(id, asset, ...)                                                                                    \
    static fab_status make_##id(const fab_result *result, FAB_UNUSED const fab_report_style *style, fab_str *page,     \
                                fab_error *err) {                                                                      \
        return fill_page(asset, result, page, err);                                                                    \
    }                                                                                                                  \
    const fab_report_format fab_report_##id = {                                                                        \
        .name = #id, .make = make_##id, .shows_loads = true, .cable_bytes = 130, .is_for_files = true, __VA_ARGS__}

PAGE_FORMAT(html, "report.html", .file_name = "report.html", .suffix = ".html",
            .summary = "one self-contained page: pictures and tables, for a browser");
PAGE_FORMAT(explore, "explore.html", .suffix = ".explore.html",
            .summary = "the page, and in it the program itself: knobs that can be turned in a browser");
