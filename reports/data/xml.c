/* The whole result as XML: scalars and lists are attributes, distributions, objects and arrays elements. Schema:
 * fields/schema_xml.c. */
#include "fab/xml_writer.h"
#include "report_formats.h"
#include "result_walk.h"

#define DEPTH 16

typedef struct xml {
    fab_xml_writer writer;
    fab_str list;            /* scratch */
    const char *item[DEPTH]; /* name of an element of the array at each depth */
    int depth;
} xml;

static void xml_start(xml *x, const char *key, const char *item) {
    fab_xml_write_start(&x->writer, key != NULL ? key : x->depth > 0 ? x->item[x->depth - 1] : "report");
    x->item[x->depth++] = item; /* the walk nests to 8 */
}

static void xml_begin_object(void *self, const fab_field *field, bool one_line) {
    (void)one_line;
    xml_start(self, field != NULL ? field->key : NULL, NULL);
}

static void xml_begin_list(void *self, const fab_field *field) {
    xml_start(self, field->key, field->item);
}

static void xml_end(void *self) {
    xml *x = self;
    fab_xml_write_end(&x->writer);
    x->depth--;
}

static void put_attribute(void *self, const fab_field *field, const fab_value *value) {
    xml *x = self;
    char room[32];
    fab_xml_write_attribute(&x->writer, field->key, fab_value_text(value, room));
}

/* Numbers are one attribute, texts elements. */
static void xml_put_values(void *self, const fab_values *values) {
    xml *x = self;
    const fab_field *field = values->field;
    bool is_text = fab_field_is_text(field->item_type);
    if (is_text) {
        xml_start(x, field->key, field->item);
    }
    x->list.length = 0;
    for (size_t i = 0; i < values->n; i++) {
        char room[32];
        fab_value value = fab_values_at(values, i);
        if (is_text) {
            xml_start(x, NULL, NULL);
            fab_xml_write_text(&x->writer, value.text);
            xml_end(x);
        } else {
            fab_str_printf(&x->list, "%s%s", i > 0 ? " " : "", fab_value_text(&value, room));
        }
    }
    if (is_text) {
        xml_end(x);
    } else {
        fab_xml_write_attribute(&x->writer, field->key, x->list.length > 0 ? x->list.data : "");
    }
}

/* Distributions are always elements, so that a reader finds the mean in one place for one seed and for many. */
static const fab_emitter EMITTER = {
    .begin_object = xml_begin_object,
    .begin_list = xml_begin_list,
    .end = xml_end,
    .value = put_attribute,
    .values = xml_put_values,
    .shows_means = true,
};

static fab_status print_xml(const fab_result *result, const fab_report_style *style, FILE *out, fab_error *err) {
    (void)style;
    fab_status status = FAB_OK;
    xml x = {.list = FAB_STR_INIT};
    FAB_TRY(fab_xml_writer_init(&x.writer, out, err));
    fab_result_walk(result, &EMITTER, &x);
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
    .print = print_xml,
};
