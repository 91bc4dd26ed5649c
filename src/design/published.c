/* Published figures from XML files. */
#include "fab/published.h"
#include "fab/builtin.h"
#include "fab/memory.h"
#include "field_schema.h"
#include "field_xml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct published_file {
    fab_published_source source;
    fab_published_row row; /* of the <run> and the <figure> at hand */
    char value[32];
    double tolerance_percent;
    const char *name; /* of the file, for messages */
} published_file;

/* clang-format off */
#define ROW(element, key, kind, member, max, initial, summary) \
    {element, {SCOPE_BOOK, key, kind, FAB_UNIT_COUNT, offsetof(published_file, member), sizeof(((published_file *)0)->member), 0, max, false, initial, NULL, NULL, summary}}

static const field_row ROWS[] = {
    ROW("published", "title", FIELD_TEXT, source.title, 0, NULL, "the source in one line"),
    ROW("run", "command", FIELD_TEXT, row.command, 0, NULL, "arguments of the program, whose result has ours"),
    ROW("figure", "what", FIELD_TEXT, row.what, 0, NULL, "the figure in the words of the source"),
    ROW("figure", "value", FIELD_TEXT, value, 0, NULL, "the published figure: a number in the unit of the field, or with a unit (892GB/s, 55.1s)"),
    ROW("figure", "tolerance", FIELD_DECIMAL, tolerance_percent, 1000, "0", "percent within which ours is to be; 0: exactly"),
    ROW("figure", "field", FIELD_TEXT, row.field, 0, "", "where the result has ours; left out: nowhere"),
    ROW("figure", "fitted", FIELD_FLAG, row.is_fitted, 0, "no", "whether a number of the program was fitted to it among others"),
    ROW("figure", "note", FIELD_TEXT, row.note, 0, "", "why ours is missed, or is not there"),
};
static const field ABOUT = {SCOPE_BOOK, "source", FIELD_TEXT, FAB_UNIT_COUNT, offsetof(published_file, source.about), sizeof(((published_file *)0)->source.about), 0, 0, false, NULL, NULL, NULL,
                            "where the figures stand, and what is assumed"};
/* clang-format on */
#define N_ROWS (sizeof ROWS / sizeof ROWS[0])

/* A bare number is in the unit of the field. */
static fab_status read_figure_value(published_file *f, fab_error *err) {
    static const struct {
        fab_unit unit;
        const char *name;
    } UNITS[] = {{FAB_UNIT_RATIO, NULL}, {FAB_UNIT_RATE, "bit/s"}, {FAB_UNIT_BYTES, "byte"},
                 {FAB_UNIT_TIME, "s"},   {FAB_UNIT_LENGTH, "m"},   {FAB_UNIT_POWER, "W"}};
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        if (fab_quantity_parse(f->value, UNITS[i].unit, &f->row.published, NULL) == FAB_OK && f->row.published > 0) {
            f->row.given_unit = UNITS[i].name;
            return FAB_OK;
        }
    }
    return fab_fail(err, FAB_EINPUT, f->row.where, "value: '%s' is no figure above 0 (such as 430, 892GB/s, 55.1s)",
                    f->value);
}

static fab_status read_figure(published_file *f, const fab_xml_element *at, fab_published *out, fab_error *err) {
    if (strcmp(at->name, "figure") != 0 || at->uri != NULL || at->first_child != NULL || at->text[0] != '\0') {
        return fab_xml_fail_at(f->name, at, err, "a run has empty elements <figure> alone: ", at->name);
    }
    FAB_PASS(field_read_attributes(ROWS, N_ROWS, at, f->name, f, err));
    (void)fab_xml_place(f->row.where, f->name, at->line, at->column);
    FAB_PASS(read_figure_value(f, err));
    if (f->row.field[0] == '\0' && f->row.note[0] == '\0') {
        return fab_xml_fail_at(f->name, at, err, "a figure without a field needs a note that says why", "");
    }
    f->row.tolerance_ratio = f->tolerance_percent / 100;
    f->row.predicted = NAN;
    f->row.source = out->n_sources;
    FAB_PASS(FAB_GROW(out->rows, out->row_capacity, out->n_rows + 1, err));
    out->rows[out->n_rows++] = f->row;
    return FAB_OK;
}

static fab_status read_published_child(published_file *f, const fab_xml_element *at, fab_published *out,
                                       fab_error *err) {
    char where[FAB_XML_PLACE_SIZE];
    if (strcmp(at->name, ABOUT.key) == 0 && at->uri == NULL && at->first_child == NULL) {
        FAB_PASS(field_read_attributes(ROWS, N_ROWS, at, f->name, f, err));
        return field_set(&ABOUT, f, at->text, fab_xml_place(where, f->name, at->line, at->column), err);
    }
    if (strcmp(at->name, "run") != 0 || at->uri != NULL || at->text[0] != '\0' || at->first_child == NULL) {
        return fab_xml_fail_at(f->name, at, err,
                               "only <source> with a text and <run> with figures stand here: ", at->name);
    }
    FAB_PASS(field_read_attributes(ROWS, N_ROWS, at, f->name, f, err));
    for (const fab_xml_element *figure = at->first_child; figure != NULL; figure = figure->next) {
        FAB_PASS(read_figure(f, figure, out, err));
    }
    return FAB_OK;
}

static fab_status read_published_file(const char *data, size_t size, const char *name, const char *stem,
                                      fab_published *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_xml *xml = NULL;
    published_file *f = NULL;
    const fab_xml_element *root = NULL;
    size_t first = out->n_rows;
    FAB_TRY(FAB_NEW(f, 1, err));
    f->name = name;
    FAB_TRY(fab_xml_parse(data, size, name, &xml, err));
    FAB_TRY(fab_xml_root_called(xml, name, "published", "published figures begin with <published>", &root, err));
    FAB_TRY(field_read_attributes(ROWS, N_ROWS, root, name, f, err));
    for (const fab_xml_element *child = root->first_child; child != NULL; child = child->next) {
        FAB_TRY(read_published_child(f, child, out, err));
    }
    if (f->source.about[0] == '\0' || out->n_rows == first) {
        FAB_TRY(
            fab_xml_fail_at(name, root, err, "the file lacks the element ", out->n_rows == first ? "run" : ABOUT.key));
    }
    (void)snprintf(f->source.name, sizeof f->source.name, "%.*s", (int)strcspn(stem, "."), stem);
    f->source.first = first;
    f->source.n = out->n_rows - first;
    FAB_TRY(FAB_GROW(out->sources, out->source_capacity, out->n_sources + 1, err));
    out->sources[out->n_sources++] = f->source;
done:
    fab_xml_free(xml);
    free(f);
    return status;
}

static fab_status read_published_path(const char *path, fab_published *out, fab_error *err) {
    const char *slash = strrchr(path, '/');
    fab_str data = FAB_STR_INIT;
    fab_status status = fab_read_file(path, FAB_XML_MAX_BYTES, &data, err);
    if (status == FAB_OK) {
        status = read_published_file(data.data, data.length, path, slash != NULL ? slash + 1 : path, out, err);
    }
    fab_str_release(&data);
    return status;
}

static fab_status read_published_builtin(const char *source, fab_published *out, fab_error *err) {
    char hint[FAB_CHOICES_TEXT];
    fab_choices near;
    fab_choices_init(&near, source != NULL ? source : "");
    for (const fab_builtin *b = fab_builtin_published; b->name != NULL; b++) {
        char name[FAB_NAME_SIZE];
        char file[FAB_NAME_SIZE + 16];
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(b->name, "."), b->name);
        (void)snprintf(file, sizeof file, "published/%s", b->name);
        fab_choices_offer(&near, name);
        if (source == NULL || strcmp(source, name) == 0) {
            FAB_PASS(read_published_file(b->data, b->size, file, b->name, out, err));
        }
    }
    if (out->n_sources == 0) {
        return fab_fail(err, FAB_EUSAGE, NULL, "there is no source '%.60s'%s (or a file: with '/' or ending in .xml)",
                        source, fab_choices_list(&near, "known:", hint));
    }
    return FAB_OK;
}

fab_status fab_published_read(const char *source, fab_published *out, fab_error *err) {
    fab_published found = {.n_rows = 0};
    size_t length = source != NULL ? strlen(source) : 0;
    bool is_path =
        length > 0 && (strchr(source, '/') != NULL || (length > 4 && strcmp(source + length - 4, ".xml") == 0));
    fab_status status =
        is_path ? read_published_path(source, &found, err) : read_published_builtin(source, &found, err);
    if (status != FAB_OK) {
        fab_published_release(&found);
        return status;
    }
    *out = found;
    return FAB_OK;
}

void fab_published_release(fab_published *published) {
    FAB_FREE_ALL(published->rows, published->sources);
    *published = (fab_published){.n_rows = 0};
}

static void add_attributes(fab_str *out, int indent, const char *element) {
    for (const field_row *row = ROWS; row < ROWS + N_ROWS; row++) {
        if (strcmp(row->element, element) == 0) {
            schema_attribute(out, indent, &row->field, false, row->field.initial == NULL);
        }
    }
}

void fab_published_schema(fab_str *out) {
    schema_begin(out, "Published figures, and the commands whose results have ours.");
    fab_str_add(out, "  <xs:element name=\"published\">\n    <xs:complexType>\n      <xs:sequence>\n");
    schema_text_element(out, 8, ABOUT.key, &ABOUT, true);
    fab_str_add(out, "        <xs:element name=\"run\" maxOccurs=\"unbounded\">\n          <xs:complexType>\n"
                     "            <xs:sequence>\n              <xs:element name=\"figure\" maxOccurs=\"unbounded\">\n"
                     "                <xs:complexType>\n");
    add_attributes(out, 18, "figure");
    fab_str_add(out, "                </xs:complexType>\n              </xs:element>\n            </xs:sequence>\n");
    add_attributes(out, 12, "run");
    fab_str_add(out, "          </xs:complexType>\n        </xs:element>\n      </xs:sequence>\n");
    add_attributes(out, 6, "published");
    fab_str_add(out, "    </xs:complexType>\n  </xs:element>\n");
    schema_end(out);
}

double fab_published_deviation(const fab_published_row *row) {
    return row->predicted / row->published - 1;
}

bool fab_published_is_met(const fab_published_row *row) {
    return fabs(fab_published_deviation(row)) <= row->tolerance_ratio + 1e-9; /* false of NAN */
}

fab_published_counts fab_published_count(const fab_published_row *first, size_t n) {
    fab_published_counts counts = {0};
    for (const fab_published_row *row = first; row < first + n; row++) {
        bool is_met = fab_published_is_met(row);
        counts.met += is_met;
        counts.fitted += is_met && row->is_fitted;
        counts.unknown += isnan(row->predicted) != 0;
        counts.missed += !is_met && !isnan(row->predicted);
    }
    return counts;
}
