/* Published figures from XML files. */
#include "fab/published.h"
#include "book.h"

typedef struct published_file {
    fab_published_source source;
    fab_published_row row; /* of the <run> and the <figure> at hand */
    char value[32];
    double tolerance_percent;
    fab_published *out; /* rows are added to it */
} published_file;

/* clang-format off */
#define TEXT(need, key, kind, member, initial, summary) BOOK_TEXT(need, key, kind, published_file, member, initial, summary)
static const book_field ROOT[] = {TEXT(BOOK_REQUIRED, "title", FIELD_TEXT, source.title, NULL, "the source in one line"), BOOK_END};
static const book_field ABOUT[] = {TEXT(BOOK_REQUIRED, "source", FIELD_TEXT, source.about, NULL, "where the figures stand, and what is assumed"), BOOK_END};
static const book_field RUN[] = {TEXT(BOOK_REQUIRED, "command", FIELD_TEXT, row.command, NULL, "arguments of the program, whose result has ours"), BOOK_END};
static const book_field FIGURE[] = {
    TEXT(BOOK_REQUIRED, "what", FIELD_TEXT, row.what, NULL, "the figure in the words of the source"),
    TEXT(BOOK_REQUIRED, "value", FIELD_TEXT, value, NULL, "the published figure: a number in the unit of the field, or with a unit (892GB/s, 55.1s)"),
    BOOK_NUMBER(BOOK_OPTIONAL, "tolerance", FIELD_DECIMAL, FAB_UNIT_COUNT, published_file, tolerance_percent, 0, 1000, "0", "percent within which ours is to be; 0: exactly"),
    TEXT(BOOK_OPTIONAL, "field", FIELD_TEXT, row.field, "", "where the result has ours; left out: nowhere"),
    TEXT(BOOK_OPTIONAL, "fitted", FIELD_FLAG, row.is_fitted, "no", "whether a number of the program was fitted to it among others"),
    TEXT(BOOK_OPTIONAL, "note", FIELD_TEXT, row.note, "", "why ours is missed, or is not there"),
    BOOK_END,
};
/* clang-format on */

/* A bare number is in the unit of the field. */
static fab_status read_figure_value(published_file *f, fab_error *err) {
    static const struct {
        fab_unit unit;
        const char *name;
    } UNITS[] = {{FAB_UNIT_RATIO, NULL}, {FAB_UNIT_RATE, "bit/s"}, {FAB_UNIT_BYTES, "byte"},
                 {FAB_UNIT_TIME, "s"},   {FAB_UNIT_LENGTH, "m"},   {FAB_UNIT_POWER, "W"}};
    for (size_t i = 0; i < FAB_N_OF(UNITS); i++) {
        if (fab_quantity_parse(f->value, UNITS[i].unit, &f->row.published, NULL) == FAB_OK && f->row.published > 0) {
            f->row.given_unit = UNITS[i].name;
            return FAB_OK;
        }
    }
    return fab_fail(err, FAB_EINPUT, f->row.where, "value: '%s' is no figure above 0 (such as 430, 892GB/s, 55.1s)",
                    f->value);
}

static fab_status finish_figure(void *book, const char *file, const fab_xml_element *at, fab_error *err) {
    published_file *f = book;
    fab_published *out = f->out;
    (void)fab_xml_place(f->row.where, file, at->line, at->column);
    FAB_PASS(read_figure_value(f, err));
    FAB_RETURN_IF(f->row.field[0] == '\0' && f->row.note[0] == '\0',
                  fab_xml_fail_at(file, at, err, "a figure without a field needs a note that says why", ""));
    f->row.tolerance_ratio = f->tolerance_percent / 100;
    f->row.predicted = NAN;
    f->row.source = out->n_sources;
    return FAB_APPEND(out->rows, out->n_rows, out->row_capacity, err, f->row);
}

static const book_element ELEMENTS[] = {
    {.name = "published", .fields = ROOT, .max = 1},
    {.name = "source", .inside = "published", .fields = ABOUT, .is_text = true, .max = 1},
    {.name = "run", .inside = "published", .fields = RUN, .max = SIZE_MAX},
    {.name = "figure", .inside = "run", .fields = FIGURE, .max = SIZE_MAX, .finish = finish_figure},
};
static const book_kind PUBLISHED = {"file of published figures",
                                    "Published figures, and the commands whose results have ours.",
                                    "published/",
                                    "there is no source",
                                    FAB_EUSAGE,
                                    fab_builtin_published,
                                    ELEMENTS,
                                    FAB_N_OF(ELEMENTS)};

static fab_status read_source(const char *text, fab_published *out, fab_error *err) {
    const char *slash = strrchr(text, '/');
    const char *name = slash != NULL ? slash + 1 : text;
    size_t first = out->n_rows;
    FAB_OWNED_NEW(published_file, f, 1, err);
    f->out = out;
    FAB_PASS(book_read(&PUBLISHED, text, NULL, f, err));
    FAB_FORMAT(f->source.name, "%.*s", (int)strcspn(name, "."), name);
    f->source.first = first;
    f->source.n = out->n_rows - first;
    return FAB_APPEND(out->sources, out->n_sources, out->source_capacity, err, f->source);
}

fab_status fab_published_read(const char *source, fab_published *out, fab_error *err) {
    FAB_OWNS(fab_published_release) fab_published found = {.n_rows = 0};
    FAB_PASS(source != NULL ? read_source(source, &found, err) : FAB_OK);
    for (const fab_builtin *b = fab_builtin_published; source == NULL && b->name != NULL; b++) {
        char name[FAB_NAME_SIZE];
        FAB_FORMAT(name, "%.*s", (int)strcspn(b->name, "."), b->name);
        FAB_PASS(read_source(name, &found, err));
    }
    return FAB_GIVE(*out, found);
}

FAB_RELEASES(fab_published_release, fab_published, rows, sources);

void fab_published_schema(fab_str *out) {
    book_schema(&PUBLISHED, out);
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
