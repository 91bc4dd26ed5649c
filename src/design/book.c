#include "book.h"
#include "field_schema.h"

typedef struct book_reader {
    const book_kind *kind;
    const char *file;
    void *book;
    size_t n_seen[BOOK_MAX_ELEMENTS];
} book_reader;

static bool book_stands_in(const book_element *e, const book_element *outer) {
    return e->inside != NULL && strcmp(e->inside, outer->name) == 0;
}

static fab_status fail_element(const book_reader *r, const fab_xml_element *at, const char *before, const char *behind,
                               const char *what, fab_error *err) {
    char text[128];
    FAB_FORMAT(text, "%s %s%s", before, r->kind->noun, behind);
    return fab_xml_fail_at(r->file, at, err, text, what);
}

/* --- attributes --------------------------------------------------------------------------------------------------- */

static fab_status set_attribute(const book_reader *r, const book_element *e, const fab_xml_attribute *given, void *row,
                                fab_error *err) {
    char where[FAB_XML_PLACE_SIZE];
    (void)fab_xml_place(where, r->file, given->line, given->column);
    const book_field *fields = e->is_text ? NULL : e->fields;
    for (const book_field *f = fields; f != NULL && f->field.key != NULL; f++) {
        if (strcmp(f->field.key, given->name) == 0) {
            return field_set(&f->field, row, given->value, where, err);
        }
    }
    fab_choices near = fab_choices_of(given->name);
    for (const book_field *f = fields; f != NULL && f->field.key != NULL; f++) {
        fab_choices_offer(&near, f->field.key);
    }
    return fab_fail(err, FAB_EINPUT, where, "unknown attribute of %.40s '%.40s'%s", e->name, given->name,
                    fab_choices_list(&near, "allowed:"));
}

/* What is left out has its default, or must not be left out. */
static fab_status check_needs(const book_reader *r, const book_element *e, const fab_xml_element *at, void *row,
                              fab_error *err) {
    bool has[BOOK_N_NEEDS] = {false};
    const char *first[BOOK_N_NEEDS] = {NULL};
    char text[64];
    for (const book_field *f = e->fields; f != NULL && f->field.key != NULL; f++) {
        bool given = fab_xml_find(at, f->field.key) != NULL;
        if (!given && f->need == BOOK_REQUIRED) {
            FAB_FORMAT(text, "%.40s needs the attribute ", e->name);
            return fab_xml_fail_at(r->file, at, err, text, f->field.key);
        }
        if (!given && f->field.initial != NULL) {
            FAB_PASS(field_set(&f->field, row, f->field.initial, "default", err));
        }
        has[f->need] |= given;
        first[f->need] = first[f->need] == NULL ? f->field.key : first[f->need];
    }
    for (size_t i = BOOK_PRICE; i <= BOOK_POWER; i++) {
        if (first[i] != NULL && !has[i]) {
            FAB_FORMAT(text, " does not give %s, per port or per Gb/s, of this ", first[i]);
            return fail_element(r, at, "the", text, e->name, err);
        }
    }
    return FAB_OK;
}

static fab_status book_take_text(const book_reader *r, const book_element *e, const fab_xml_element *at, void *row,
                                 fab_error *err) {
    char where[FAB_XML_PLACE_SIZE];
    FAB_RETURN_IF(e->fields[0].need == BOOK_REQUIRED && at->text[0] == '\0',
                  fail_element(r, at, "the", " lacks the text of the element ", e->name, err));
    (void)fab_xml_place(where, r->file, at->line, at->column);
    return field_set(&e->fields[0].field, row, at->text, where, err);
}

/* --- elements ----------------------------------------------------------------------------------------------------- */

/* Where the next row of an element goes. */
static fab_status book_add_row(book_reader *r, const book_element *e, const fab_xml_element *at, void **out,
                               fab_error *err) {
    size_t *n = &r->n_seen[e - r->kind->elements];
    if (*n == e->max) {
        char often[64] = " has this element once: ";
        if (e->max > 1) {
            FAB_FORMAT(often, " has this element at most %zu times: ", e->max);
        }
        return fail_element(r, at, "a", often, e->name, err);
    }
    *out = (char *)r->book + e->offset + (*n)++ * e->stride;
    if (e->stride > 0) {
        memcpy((char *)r->book + e->count_offset, n, sizeof *n);
    }
    return FAB_OK;
}

static fab_status book_read_element(book_reader *r, const book_element *e, const fab_xml_element *at, fab_error *err);

static fab_status book_read_children(book_reader *r, const book_element *outer, const fab_xml_element *at,
                                     fab_error *err) {
    const book_element *end = r->kind->elements + r->kind->n_elements;
    bool has_inner = false;
    for (const book_element *e = r->kind->elements; e < end; e++) {
        has_inner = has_inner || book_stands_in(e, outer);
        r->n_seen[e - r->kind->elements] = book_stands_in(e, outer) ? 0 : r->n_seen[e - r->kind->elements];
    }
    for (const fab_xml_element *child = at->first_child; child != NULL; child = child->next) {
        const book_element *e = r->kind->elements;
        while (e < end && (!book_stands_in(e, outer) || strcmp(e->name, child->name) != 0)) {
            e++;
        }
        FAB_RETURN_IF(!has_inner, fab_xml_fail_at(r->file, child, err, "no element may stand inside ", outer->name));
        FAB_RETURN_IF(e == end || child->uri != NULL,
                      fail_element(r, child, "unknown element of a", ": ", child->name, err));
        FAB_PASS(book_read_element(r, e, child, err)); /* NOLINT(misc-no-recursion): as deep as the table */
    }
    for (const book_element *e = r->kind->elements; e < end; e++) {
        FAB_RETURN_IF(book_stands_in(e, outer) && !e->may_miss && r->n_seen[e - r->kind->elements] == 0,
                      fail_element(r, at, "the", " has no element ", e->name, err));
    }
    return FAB_OK;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the table */
static fab_status book_read_element(book_reader *r, const book_element *e, const fab_xml_element *at, fab_error *err) {
    void *row = NULL;
    FAB_RETURN_IF(!e->is_text && at->text[0] != '\0',
                  fab_xml_fail_at(r->file, at, err, "unexpected text inside ", at->name));
    FAB_PASS(book_add_row(r, e, at, &row, err));
    for (size_t i = 0; i < at->n_attributes; i++) {
        FAB_PASS(set_attribute(r, e, &at->attributes[i], row, err));
    }
    FAB_PASS(e->is_text ? book_take_text(r, e, at, row, err) : check_needs(r, e, at, row, err));
    FAB_PASS(book_read_children(r, e, at, err));
    return e->finish != NULL ? e->finish(r->book, r->file, at, err) : FAB_OK;
}

static fab_status book_parse(const book_kind *kind, const char *data, size_t size, const char *file, void *book,
                             fab_error *err) {
    FAB_OWNS(fab_xml_free_owned) fab_xml *xml = NULL;
    const fab_xml_element *root = NULL;
    book_reader r = {.kind = kind, .file = file, .book = book};
    char begins[64];
    FAB_FORMAT(begins, "a %s begins with <%s>", kind->noun, kind->elements[0].name);
    FAB_PASS(fab_xml_parse(data, size, file, &xml, err));
    FAB_PASS(fab_xml_root_called(xml, file, kind->elements[0].name, begins, &root, err));
    return book_read_element(&r, &kind->elements[0], root, err);
}

bool book_is_file(const char *text) {
    size_t length = strlen(text);
    return strchr(text, '/') != NULL || (length > 4 && strcmp(text + length - 4, ".xml") == 0);
}

fab_status book_read(const book_kind *kind, const char *text, const char *where, void *book, fab_error *err) {
    if (book_is_file(text)) {
        FAB_OWNS(fab_str_release) fab_str data = FAB_STR_INIT;
        FAB_PASS(fab_read_file(text, FAB_XML_MAX_BYTES, &data, err));
        return book_parse(kind, data.data, data.length, text, book, err);
    }
    const fab_builtin *builtin = text[0] != '\0' ? fab_builtin_find(kind->builtins, text) : NULL;
    if (builtin == NULL) {
        fab_choices near = fab_choices_of(text);
        fab_builtin_offer(kind->builtins, &near);
        return fab_fail(err, kind->unknown_status, where, "%s '%.60s'%s (or a file: with '/' or ending in .xml)",
                        kind->unknown, text, fab_choices_list(&near, "known:"));
    }
    char file[FAB_XML_PLACE_SIZE];
    FAB_FORMAT(file, "%s%.60s", kind->prefix, text);
    return book_parse(kind, builtin->data, builtin->size, file, book, err);
}

/* --- schema ------------------------------------------------------------------------------------------------------- */

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the table */
static void add_element(const book_kind *kind, const book_element *outer, int indent, fab_str *out) {
    bool has_inner = false;
    if (outer->is_text) {
        schema_text_element(out, indent, outer->name, &outer->fields[0].field, true);
        return;
    }
    fab_str_printf(out, "%*s<xs:element name=\"%s\">\n", indent, "", outer->name);
    if (outer->summary != NULL) {
        schema_documentation(out, indent + 2, outer->summary);
    }
    fab_str_printf(out, "%*s<xs:complexType>\n", indent + 2, "");
    for (const book_element *e = kind->elements; e < kind->elements + kind->n_elements; e++) {
        if (book_stands_in(e, outer)) {
            if (!has_inner) {
                fab_str_printf(out, "%*s<xs:choice minOccurs=\"0\" maxOccurs=\"unbounded\">\n", indent + 4, "");
            }
            has_inner = true;
            add_element(kind, e, indent + 6, out);
        }
    }
    if (has_inner) {
        fab_str_printf(out, "%*s</xs:choice>\n", indent + 4, "");
    }
    for (const book_field *f = outer->fields; f != NULL && f->field.key != NULL; f++) {
        schema_attribute(out, indent + 4, &f->field, false, f->need == BOOK_REQUIRED);
    }
    fab_str_printf(out, "%*s</xs:complexType>\n%*s</xs:element>\n", indent + 2, "", indent, "");
}

void book_schema(const book_kind *kind, fab_str *out) {
    schema_begin(out, kind->about);
    add_element(kind, kind->elements, 2, out);
    schema_end(out);
}
