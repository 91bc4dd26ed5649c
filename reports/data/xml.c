/* The whole result as XML: scalars and lists are attributes, distributions, objects and arrays elements. Schema:
 * schemas/report.xsd. */
#include "fab/str.h"
#include "fab/xml_writer.h"
#include "report_formats.h"
#include "result_walk.h"

#include <inttypes.h>

#define DEPTH 16

typedef struct xml {
    fab_xml_writer writer;
    fab_str list;            /* scratch */
    const char *item[DEPTH]; /* name of an element of the array at each depth */
    int depth;
} xml;

static void start(xml *x, const char *key, const char *item) {
    fab_xml_write_start(&x->writer, key != NULL ? key : x->depth > 0 ? x->item[x->depth - 1] : "report");
    x->item[x->depth++] = item; /* the walk nests to 8 */
}

static void begin_object(void *self, const char *key, bool one_line) {
    (void)one_line;
    start(self, key, NULL);
}

static void begin_array(void *self, const char *key, const char *item) {
    start(self, key, item);
}

static void end(void *self) {
    xml *x = self;
    fab_xml_write_end(&x->writer);
    x->depth--;
}

static void string(void *self, const char *key, const char *value) {
    xml *x = self;
    fab_xml_write_attribute(&x->writer, key, value);
}

static void integer(void *self, const char *key, uint64_t value) {
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    string(self, key, text);
}

static void number(void *self, const char *key, double value) {
    char text[32];
    fab_format_double(text, value);
    string(self, key, text);
}

static void boolean(void *self, const char *key, bool value) {
    string(self, key, value ? "true" : "false");
}

static void add_item(xml *x, const char *text) {
    fab_str_add(&x->list, x->list.length > 0 ? " " : "");
    fab_str_add(&x->list, text);
}

static void write_list(xml *x, const char *key) {
    string(x, key, x->list.length > 0 ? x->list.data : "");
    x->list.length = 0;
}

static void integers(void *self, const char *key, const uint64_t *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char text[24];
        (void)snprintf(text, sizeof text, "%" PRIu64, values[i]);
        add_item(self, text);
    }
    write_list(self, key);
}

static void numbers(void *self, const char *key, const double *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char text[32];
        fab_format_double(text, values[i]);
        add_item(self, text);
    }
    write_list(self, key);
}

/* Always an element, so that a reader finds the mean in one place for one seed and for many. */
static void stat(void *self, const char *key, const fab_stat *stat, bool distribution) {
    start(self, key, NULL);
    number(self, "mean", stat->mean);
    if (distribution) {
        number(self, "ci95", stat->ci95);
        number(self, "p50", stat->p50);
        number(self, "p99", stat->p99);
        number(self, "min", stat->min);
        number(self, "max", stat->max);
    }
    end(self);
}

static void strings(void *self, const char *key, const char *item, const char *const *values, size_t n) {
    xml *x = self;
    start(x, key, item);
    for (size_t i = 0; i < n; i++) {
        start(x, NULL, NULL);
        fab_xml_write_text(&x->writer, values[i]);
        end(x);
    }
    end(x);
}

static const fab_emitter EMITTER = {
    .begin_object = begin_object,
    .begin_array = begin_array,
    .end = end,
    .integer = integer,
    .number = number,
    .boolean = boolean,
    .string = string,
    .integers = integers,
    .numbers = numbers,
    .stat = stat,
    .strings = strings,
};

static fab_status write_xml(const fab_result *result, const fab_report_style *style, FILE *out, fab_error *err) {
    (void)style;
    fab_status status = FAB_OK;
    xml x = {.list = FAB_STR_INIT};
    FAB_TRY(fab_result_walk(result, NULL, NULL, err)); /* before the first byte is written */
    FAB_TRY(fab_xml_writer_init(&x.writer, out, err));
    FAB_TRY(fab_result_walk(result, &EMITTER, &x, err));
    FAB_TRY(fab_str_status(&x.list, err));
    FAB_TRY(fab_xml_writer_finish(&x.writer, err));
done:
    fab_str_release(&x.list);
    fab_xml_writer_release(&x.writer);
    return status;
}

const fab_report_format fab_report_xml = {
    .name = "xml",
    .file_name = "report.xml",
    .suffix = ".xml",
    .summary = "the whole result as XML, with an XML Schema",
    .write = write_xml,
};
